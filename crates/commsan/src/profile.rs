//! Profiles: `commsan profile` after a run, and `commsan export` later.

use crate::exit_code;
use crate::failure::{Failure, note, warn};
use crate::options::Options;
use crate::output::err;
use crate::report::{self, Summary};
use commsan_profile::export::{Format, chrome_trace, write_tables};
use commsan_profile::{Profile, Progress, Stage, summary};
use commsan_rundir::RunDirectory;
use indicatif::{ProgressBar, ProgressStyle};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `commsan export`.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("format").required(true)))]
pub struct Arguments {
    /// All tables as Parquet, into the directory OUT: docs/profile-tables.md
    #[arg(long, group = "format")]
    parquet: bool,
    /// All tables as CSV, into the directory OUT
    #[arg(long, group = "format")]
    csv: bool,
    /// Transfers over time, for Perfetto and Chrome's about:tracing, into the file OUT
    #[arg(long, group = "format")]
    chrome_trace: bool,
    /// The viewer with the profile, as the single HTML file OUT
    #[arg(long, group = "format")]
    html: bool,
    /// File or directory to write
    out: PathBuf,
    /// Run directory
    run: PathBuf,
}

impl Arguments {
    /// Where to write, and the run directory, in whatever order they were given:
    /// `commsan export RUN --csv OUT` is natural, too.
    fn out_and_run(&self) -> (&Path, &Path) {
        let is_run = |path: &Path| path.join("run.json").is_file();
        match is_run(&self.out) && !is_run(&self.run) {
            true => (&self.run, &self.out),
            false => (&self.out, &self.run),
        }
    }
}

/// Prints the notices of a run without checks, and returns its summary.
///
/// # Errors
/// When the run directory cannot be read.
pub fn unchecked(run: &RunDirectory, options: &Options) -> Result<Summary, Failure> {
    for (path, form) in report::files(options) {
        let help = "`commsan profile --check` also checks for errors, and writes it".to_owned();
        let what = format!("there is no report as {form} to write to `{}`", path.display());
        warn(&format!("{what}: nothing was checked"), &[help]);
    }
    let unreadable = |error: commsan_rundir::RunError| {
        Failure::new(exit_code::REPORT, format!("no profile: {error}"))
    };
    let ranks = run.traffic().map_err(unreadable)?.len();
    let notices = run.notices().map_err(unreadable)?;
    notices.iter().for_each(|notice| warn(notice, &[]));
    Ok(Summary { ranks, fails: false, notices: notices.len(), incomplete: false })
}

/// Merges what the ranks have counted, stores it as tables in the run directory, and prints a
/// summary. Prints errors, and returns whether there were none.
pub fn finish(run: &RunDirectory, options: &Options) -> bool {
    let profile = match read(run, options.quiet) {
        Ok(profile) => profile,
        Err(failure) => {
            failure.print();
            return false;
        }
    };
    let mut well = true;
    if let Err(error) = write_tables(&profile, run.path(), Format::Parquet) {
        let help = "the profile can still be viewed; free some space for its tables";
        warn(&format!("cannot write the profile's tables: {error}"), &[help.to_owned()]);
        well = false;
    }
    if !options.quiet {
        match summary::render(&profile) {
            Ok(text) => err(&format!("\n{text}\n")),
            Err(error) => warn(&error.to_string(), &[]),
        }
        let shown = run.name();
        note(&format!("`commsan view {shown}` shows it; tables for other tools are in `{shown}`"));
    }
    well
}

/// Exports the profile of an earlier run.
pub fn main(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (out, run) = arguments.out_and_run();
    let profile = of_directory(run)?;
    let written = match arguments {
        Arguments { parquet: true, .. } => write_tables(&profile, out, Format::Parquet),
        Arguments { csv: true, .. } => write_tables(&profile, out, Format::Csv),
        Arguments { html: true, .. } => write_html(profile, out),
        _ => chrome_trace(&profile)
            .map_err(io::Error::other)
            .and_then(|text| std::fs::write(out, text)),
    };
    written.map_err(|error| {
        let what = format!("cannot write `{}`: {error}", out.display());
        Failure::new(exit_code::REPORT, what).help("check the path, permissions and free space")
    })?;
    note(&format!("wrote {}", out.display()));
    Ok(ExitCode::from(exit_code::OK))
}

#[cfg(not(feature = "viewer"))]
fn write_html(_: Profile, _: &Path) -> io::Result<()> {
    Err(io::Error::other("this build of commsan has no viewer"))
}

#[cfg(feature = "viewer")]
fn write_html(profile: Profile, out: &Path) -> io::Result<()> {
    use commsan_viewer_server::{Limits, Runs, export_html};
    use std::fs::File;
    use std::io::{BufWriter, Write};
    let mut file = BufWriter::new(File::create(out)?);
    export_html(&Runs::new(profile, None), Limits::default(), &mut file)?;
    file.flush()
}

/// The profile of an earlier run; prints warnings about missing data.
///
/// # Errors
/// When it is no run directory, or contains no traffic.
pub fn of_directory(path: &Path) -> Result<Profile, Failure> {
    let run = RunDirectory::open(path)
        .map_err(|error| Failure::new(exit_code::REPORT, error.to_string()))?;
    let profile = read(&run, false)?;
    err(&summary::notes(&profile));
    Ok(profile)
}

/// Reads a profile; shows a progress bar on terminals.
fn read(run: &RunDirectory, quiet: bool) -> Result<Profile, Failure> {
    // indicatif draws nothing if standard error is no terminal.
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
    if let Ok(style) = ProgressStyle::with_template("{msg:<28} {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    let profile = Profile::read(run, &mut |progress: Progress| {
        bar.set_message(match progress.stage {
            Stage::Reading => "reading what ranks moved",
            Stage::Naming => "looking up lines and names",
            Stage::Pairing => "bringing both ends together",
        });
        bar.set_length(progress.of as u64);
        bar.set_position(progress.done as u64);
    });
    bar.finish_and_clear();
    profile.map_err(|error| Failure::new(exit_code::REPORT, error.to_string()))
}
