//! Reports: `commsan run` after a run, and `commsan report` later.

use crate::exit_code;
use crate::failure::{Failure, note, warn};
use crate::options::{FailOn, Leaks, Options};
use crate::output::{err, out};
use crate::settings::Settings;
use anstream::ColorChoice;
use commsan_findings::Severity;
use commsan_report::{
    Checks, Level, Report, Sources, Suppressions, codequality, github, html, json, junit, sarif,
    suppress,
};
use commsan_report::{Options as Preparation, terminal};
use commsan_rundir::RunDirectory;
use std::io::IsTerminal;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The results of a run.
#[derive(Debug)]
pub struct Summary {
    /// Ranks that wrote a log.
    pub ranks: usize,
    /// Whether findings that no suppression matches make the run fail.
    pub fails: bool,
    /// Messages about processes that were not checked.
    pub notices: usize,
    /// Whether a report could not be written.
    pub incomplete: bool,
}

/// Arguments of `commsan report`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run directory; by default that of the latest run here
    directory: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value = "terminal")]
    format: Format,
    /// Write the report to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File of suppressions for known findings; may be repeated
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<String>,
    /// File of calls to which checks of threads and collectives are restricted
    #[arg(long, value_name = "FILE")]
    checks: Option<String>,
    /// Directory of code that is not yours: findings in it are shown at its callers; may be
    /// repeated
    #[arg(long, value_name = "DIR")]
    libraries: Vec<String>,
    /// Which leaked objects are listed: all has those that libraries have made on their own
    #[arg(long, value_name = "WHICH")]
    leaks: Option<String>,
    /// Print suppressions that would cover the findings, instead of the report
    #[arg(long)]
    gen_suppressions: bool,
    /// Exit code when there are findings
    #[arg(long, value_name = "N")]
    exit_code: Option<String>,
    /// Which findings change the exit code: error, warning, never
    #[arg(long, value_name = "WHICH")]
    fail_on: Option<String>,
    /// Colours: auto, always, never
    #[arg(long, value_name = "WHEN")]
    color: Option<String>,
}

impl Arguments {
    /// The arguments that are options of the table, as (option, value) pairs.
    pub fn flags(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: &String| (name.to_owned(), value.clone());
        let suppressions = self.suppressions.iter().map(|value| pair("suppressions", value));
        let checks = self.checks.iter().map(|value| pair("checks", value));
        let exit_code = self.exit_code.iter().map(|value| pair("exit_code", value));
        let color = self.color.iter().map(|value| pair("color", value));
        let fail_on = self.fail_on.iter().map(|value| pair("fail_on", value));
        let leaks = self.leaks.iter().map(|value| pair("leaks", value));
        let libraries = self.libraries.iter().map(|value| pair("libraries", value));
        suppressions
            .chain(libraries)
            .chain(checks)
            .chain(exit_code)
            .chain(fail_on)
            .chain(leaks)
            .chain(color)
            .collect()
    }
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for people
    Terminal,
    /// commsan's JSON format, see docs/report-json.md
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML
    Junit,
    /// Annotations for GitHub Actions
    Github,
    /// Code Quality, for merge requests of GitLab
    Codequality,
    /// One HTML page
    Html,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Terminal => "text",
            Format::Json => "JSON",
            Format::Sarif => "SARIF",
            Format::Junit => "JUnit XML",
            Format::Github => "GitHub annotations",
            Format::Codequality => "Code Quality",
            Format::Html => "HTML",
        })
    }
}

/// How the report of a run is made.
///
/// # Errors
/// When a file that an option names cannot be read.
pub fn preparation(options: &Options) -> Result<Preparation, Failure> {
    Ok(Preparation {
        suppressions: suppressions(options)?,
        checks: checks(options)?,
        libraries: options.libraries.clone(),
        leaks_in_libraries: options.leaks == Leaks::All,
        is_ending: false,
    })
}

/// Reads the suppressions that the options name.
///
/// # Errors
/// When a file cannot be read or contains errors.
pub fn suppressions(options: &Options) -> Result<Suppressions, Failure> {
    let mut all = Suppressions::default();
    for file in &options.suppressions {
        let more = Suppressions::load(file)
            .map_err(|error| Failure::new(exit_code::USAGE, error.to_string()))?;
        all.extend(more);
    }
    Ok(all)
}

/// Reads the calls to which checks are restricted; `None` if they are not.
///
/// # Errors
/// When the file cannot be read or has another format.
pub fn checks(options: &Options) -> Result<Option<Checks>, Failure> {
    let Some(file) = &options.checks else { return Ok(None) };
    let checks = Checks::load(file).map_err(|error| {
        Failure::new(exit_code::USAGE, error.to_string())
            .help("let `commsan lint ./app --emit-checks FILE` write it")
    })?;
    Ok(Some(checks))
}

/// Reads the logs of `run`, prints the report, and writes the requested files.
///
/// # Errors
/// When the logs cannot be read at all.
pub fn finish(
    run: &RunDirectory,
    preparation: &Preparation,
    options: &Options,
) -> Result<Summary, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::new(exit_code::REPORT, format!("no report: {error}"))
    };
    let ranks = run.logs().map_err(|error| unreadable(&error))?.len();
    let notices = run.notices().map_err(|error| unreadable(&error))?;
    let report = Report::from_run(run, preparation);
    let sources = Sources::load(&report);
    if ranks == 0 {
        // Without logs there is no report; the notices may contain the reason.
        notices.iter().for_each(|notice| warn(notice, &[]));
    } else if !options.quiet || !report.findings.is_empty() {
        let style = style(&std::io::stderr());
        let shown = match options.quiet {
            true => &Report { stats: None, ..report.clone() },
            false => &report,
        };
        err(&terminal::render(shown, &sources, style));
    }
    if options.gen_suppressions && !report.findings.is_empty() {
        err(&suppress::gen_suppressions(&report.findings));
    }
    let incomplete = !write_files(run, &report, &sources, options);
    let fails = fails(&report, options);
    Ok(Summary { ranks, fails, notices: notices.len(), incomplete })
}

/// Writes `report.json` and the requested files; prints errors, and returns whether there were
/// none.
fn write_files(run: &RunDirectory, report: &Report, sources: &Sources, options: &Options) -> bool {
    let mut well = true;
    if let Err(error) = run.write("report.json", &json::render(report)) {
        warn(&error.to_string(), &[]);
        well = false;
    }
    write_all(report, sources, options) && well
}

/// The files that the options request, with their formats.
pub fn files(options: &Options) -> impl Iterator<Item = (&Path, Format)> {
    let files = [
        (&options.json, Format::Json),
        (&options.sarif, Format::Sarif),
        (&options.junit, Format::Junit),
        (&options.html, Format::Html),
    ];
    files.into_iter().filter_map(|(path, format)| Some((path.as_deref()?, format)))
}

/// Writes the requested files; prints errors, and returns whether there were none.
pub fn write_all(report: &Report, sources: &Sources, options: &Options) -> bool {
    let mut well = true;
    for (path, format) in files(options) {
        match write(path, &render(report, sources, format)) {
            Ok(()) if options.quiet => {}
            Ok(()) => note(&format!("wrote {}", path.display())),
            Err(failure) => {
                failure.print();
                well = false;
            }
        }
    }
    well
}

fn render(report: &Report, sources: &Sources, format: Format) -> String {
    match format {
        Format::Terminal => terminal::render(report, sources, terminal::Style::default()),
        Format::Json => json::render(report),
        Format::Sarif => sarif::render(report),
        Format::Junit => junit::render(report),
        Format::Github => github::render(report),
        Format::Codequality => codequality::render(report),
        Format::Html => html::render(report, sources),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    written.and_then(|()| std::fs::write(path, text)).map_err(|error| {
        let what = format!("cannot write `{}`: {error}", path.display());
        Failure::new(exit_code::REPORT, what).help("check the path, permissions and free space")
    })
}

/// Prints a report on standard output.
pub fn print(report: &Report, sources: &Sources, format: Format) {
    out(&match format {
        Format::Terminal => terminal::render(report, sources, style(&std::io::stdout())),
        _ => render(report, sources, format),
    });
}

/// The run directory that was named, else that of the latest run in the working directory.
///
/// # Errors
/// When there is none.
pub fn directory(named: Option<&Path>) -> Result<PathBuf, Failure> {
    named.map(Path::to_owned).or_else(|| RunDirectory::latest(Path::new("."))).ok_or_else(|| {
        Failure::new(exit_code::REPORT, "there is no run directory here")
            .help("name one: `commsan report app.commsan`")
    })
}

/// Renders the report of an earlier run.
pub fn main(arguments: &Arguments, settings: &Settings) -> Result<ExitCode, Failure> {
    let run = RunDirectory::open(&directory(arguments.directory.as_deref())?)
        .map_err(|error| Failure::new(exit_code::REPORT, error.to_string()))?;
    let report = Report::from_run(&run, &preparation(&settings.options)?);
    let sources = Sources::load(&report);
    let text = |format| match arguments.gen_suppressions {
        true => suppress::gen_suppressions(&report.findings),
        false => render(&report, &sources, format),
    };
    let shows_notes = arguments.format == Format::Terminal && arguments.output.is_none();
    if !shows_notes || arguments.gen_suppressions {
        say_what_is_missing(&report);
    }
    match &arguments.output {
        Some(path) => write(path, &text(arguments.format))?,
        None if arguments.gen_suppressions => out(&text(arguments.format)),
        None => print(&report, &sources, arguments.format),
    }
    Ok(ExitCode::from(if fails(&report, &settings.options) {
        exit_code::of_findings(&settings.options)
    } else {
        exit_code::OK
    }))
}

/// Whether the findings change the exit code.
pub fn fails(report: &Report, options: &Options) -> bool {
    match options.fail_on {
        FailOn::Error => report.count(Severity::Error) > 0,
        FailOn::Warning => !report.findings.is_empty(),
        FailOn::Never => false,
    }
}

/// Prints the report's warnings on standard error, for formats that programs read.
fn say_what_is_missing(report: &Report) {
    let warnings = report.run.notes.iter().filter(|note| note.level == Level::Warning);
    warnings.for_each(|note| warn(&terminal::note_text(note), &[]));
}

/// The style for `stream`: colours and width.
fn style(stream: &(impl anstream::stream::RawStream + IsTerminal + AsRawFd)) -> terminal::Style {
    let colour = anstream::AutoStream::choice(stream) != ColorChoice::Never;
    let own = width(stream.as_raw_fd());
    terminal::Style { colour, width: own.unwrap_or(100), wraps: own.is_some() }
}

/// The number of columns of the terminal `descriptor`; `None` if it is no terminal.
fn width(descriptor: i32) -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes a winsize.
    let result = unsafe { libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
}
