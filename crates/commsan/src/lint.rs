//! `commsan lint`: static analysis of a program, without running it.

mod baseline;
mod compile;
mod database;
mod fortran;
mod mpi_f08;
mod unread;

use crate::exit_code;
use crate::failure::Failure;
use crate::output::out;
use crate::report::{self, Format};
use crate::settings::Settings;
use commsan_findings::{Followed, Severity};
use commsan_ir::{FunctionId, Program};
use commsan_lint::{Analysis, Level, levels};
use commsan_report::{Analysed, Checks, Options as Preparation, Report, Sources, suppress};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `commsan lint`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Programs, libraries and objects compiled by `commsan cc` with clang or flang, bitcode, or
    /// source files
    files: Vec<PathBuf>,
    /// Directory with compile_commands.json: analyses all sources named there
    #[arg(short = 'p', long = "build", value_name = "DIR")]
    build: Option<PathBuf>,
    /// Thread level that MPI is initialised with, if not the one that the program requests
    #[arg(long, value_enum, value_name = "LEVEL")]
    thread_level: Option<LevelName>,
    /// Threads that run functions which are not called within the program
    #[arg(long, value_enum, value_name = "WHERE", default_value = "main")]
    initial_context: ContextName,
    /// Also report communicators, datatypes, groups, reductions and persistent requests that no
    /// call frees
    #[arg(long)]
    leaks: bool,
    /// Numbers of ranks for bounded symbolic execution; 0 disables it
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,2,3,4",
          value_parser = clap::value_parser!(u8).range(0..=32))]
    ranks: Vec<u8>,
    /// Which findings set the exit code: all, or only certain ones
    #[arg(long, value_enum, value_name = "WHAT", default_value = "suspected")]
    deny: Deny,
    /// Baseline of known findings: JSON report of an earlier lint
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value = "terminal")]
    format: Format,
    /// Also write the report as JSON to FILE
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Also write the report as SARIF 2.1.0 to FILE
    #[arg(long, value_name = "FILE")]
    sarif: Option<String>,
    /// Also write the report as JUnit XML to FILE
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
    /// Also write the report as one HTML page to FILE
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// File of suppressions for known findings; may be repeated
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<String>,
    /// Write the flagged calls to FILE, for `commsan run --checks FILE`
    #[arg(long, value_name = "FILE")]
    emit_checks: Option<PathBuf>,
    /// Print suppressions that would cover the findings
    #[arg(long)]
    gen_suppressions: bool,
    /// Exit code when there are findings
    #[arg(long, value_name = "N")]
    exit_code: Option<String>,
    /// Colours: auto, always, never
    #[arg(long, value_name = "WHEN")]
    color: Option<String>,
    /// Print what was read instead of analysing it
    #[arg(long, hide = true)]
    print_ir: bool,
    /// Compiler options for source files
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

/// Which findings set the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Deny {
    /// Only certain findings
    Certain,
    /// All findings, including possible ones
    Suspected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LevelName {
    Single,
    Funneled,
    Serialized,
    Multiple,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ContextName {
    /// In the first thread, outside parallel regions
    Main,
    /// In all threads of a parallel region
    Parallel,
    /// In one thread of a parallel region, any of them
    Single,
    /// In the first thread of a parallel region
    Master,
}

impl Arguments {
    /// The arguments that are options of the table, as (option, value) pairs.
    pub fn flags(&self) -> Vec<(String, String)> {
        let named = [
            ("exit_code", &self.exit_code),
            ("color", &self.color),
            ("json", &self.json),
            ("sarif", &self.sarif),
            ("junit", &self.junit),
            ("html", &self.html),
        ];
        let pair = |name: &str, value: &String| (name.to_owned(), value.clone());
        let one = named.iter().filter_map(|(name, value)| Some(pair(name, value.as_ref()?)));
        let suppressions = self.suppressions.iter().map(|value| pair("suppressions", value));
        one.chain(suppressions).collect()
    }

    fn analysis(&self) -> commsan_lint::Options {
        commsan_lint::Options {
            level: self.thread_level.map(|level| match level {
                LevelName::Single => Level::Single,
                LevelName::Funneled => Level::Funneled,
                LevelName::Serialized => Level::Serialized,
                LevelName::Multiple => Level::Multiple,
            }),
            context: match self.initial_context {
                ContextName::Main => levels::Context::Main,
                ContextName::Parallel => levels::Context::Parallel,
                ContextName::Single => levels::Context::Single,
                ContextName::Master => levels::Context::Master,
            },
            leaks: self.leaks,
            ranks: self.ranks.iter().filter(|ranks| **ranks > 0).map(|n| usize::from(*n)).collect(),
        }
    }
}

/// Analyses the input and reports findings.
pub fn main(arguments: &Arguments, settings: &Settings) -> Result<ExitCode, Failure> {
    let suppressions = report::suppressions(&settings.options)?;
    let mut known =
        arguments.baseline.as_deref().map(baseline::read).transpose()?.unwrap_or_default();
    let sources = compile::Sources::of(arguments.build.as_deref(), &arguments.files)?;
    let compiled = sources.compile(&arguments.options)?;
    let mut programs = Program::load_each(&compiled.named, &compiled.made)
        .map_err(|error| Failure::new(exit_code::REPORT, error.to_string()).help(error.help()))?;
    if arguments.print_ir {
        programs.iter().for_each(|program| out(&program.to_string()));
        return Ok(ExitCode::from(exit_code::OK));
    }
    let mut analysis = Analysis::default();
    let are_several = programs.len() > 1;
    for program in &mut programs {
        let mut of_one = commsan_lint::analyse(program, &arguments.analysis());
        of_one.notes.extend(unread::note(program, &compiled.named));
        of_one.notes.extend(unread::libraries(program, &compiled.named));
        if !program.has_lines && program.defined().next().is_some() {
            of_one.notes.push(
                "the program was compiled without line numbers: compile with `-g` to see lines"
                    .to_owned(),
            );
        }
        analysis.add(of_one, unread::name(program).filter(|_| are_several).as_deref());
    }
    if are_several {
        analysis.notes.push(unread::programs(&programs));
    }
    if let Some(file) = &arguments.emit_checks {
        std::fs::write(file, Checks::of(&analysis.findings).to_toml()).map_err(|error| {
            Failure::new(exit_code::REPORT, format!("cannot write {}: {error}", file.display()))
        })?;
    }
    analysis.findings.retain(|finding| !known.takes(finding));
    let analysed = analysed(&programs, std::mem::take(&mut analysis.followed));
    let command = std::env::args().collect();
    let preparation = Preparation { suppressions, ..Preparation::default() };
    let (findings, notes) = (analysis.findings, analysis.notes);
    let report = Report::from_analysis(findings, notes, analysed, command, &preparation);
    show(&report, arguments, settings)
}

/// How much was looked at; what several programs share counts once.
fn analysed(programs: &[Program], followed: Followed) -> Analysed {
    let files = programs.iter().flat_map(|program| &program.modules);
    let functions = programs.iter().flat_map(|program| {
        let module = |function: FunctionId| &program.modules[program[function].module as usize];
        program.defined().map(move |(id, function, _)| (module(id), &function.name))
    });
    Analysed {
        files: match programs {
            [only] => only.modules.len(),
            _ => files.collect::<BTreeSet<_>>().len(),
        },
        functions: functions.collect::<BTreeSet<_>>().len(),
        followed,
    }
}

fn show(report: &Report, arguments: &Arguments, settings: &Settings) -> Result<ExitCode, Failure> {
    let sources = Sources::load(report);
    if arguments.gen_suppressions {
        out(&suppress::gen_suppressions(&report.findings));
    } else {
        report::print(report, &sources, arguments.format);
    }
    if !report::write_all(report, &sources, &settings.options) {
        return Ok(ExitCode::from(exit_code::REPORT));
    }
    let counts = match arguments.deny {
        Deny::Certain => report.count(Severity::Error),
        Deny::Suspected => report.findings.len(),
    };
    let code = if counts == 0 { exit_code::OK } else { exit_code::of_findings(&settings.options) };
    Ok(ExitCode::from(code))
}
