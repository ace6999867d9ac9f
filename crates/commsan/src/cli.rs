//! The command line: subcommands, and flags generated from the table of options.

use crate::failure::Failure;
#[cfg(not(feature = "lint"))]
use crate::left_out as lint;
#[cfg(not(feature = "viewer"))]
use crate::left_out as view;
#[cfg(feature = "lint")]
use crate::lint;
use crate::options::{Color, TABLE};
use crate::settings::Settings;
#[cfg(feature = "viewer")]
use crate::view;
use crate::{
    attach, compile, config, doctor, exec, exit_code, explain, manual, profile, report, run, setup,
    status,
};
use clap::builder::styling;
use clap::error::{ContextKind, ErrorKind};
use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Typical use:
  commsan run -- mpirun -n 4 ./app          check a program as it is
  commsan cc mpicc -g -O2 -c halo.c         compile so that every load and store is seen, too
  commsan lint ./app                        find mistakes without running it
  commsan profile -- mpirun -n 4 ./app      what is moved where, by which lines
  commsan view app.commsan                  what moved where, in the browser
  commsan status                            which rank of the running job is where
  commsan attach PID                        the same, of a job that was started without commsan
  commsan explain CS-BUF-01                 what a finding means and how to fix it
  commsan doctor ./app                      why something does not work

Options can also be set in COMMSAN_OPTIONS=key=value:key=value and in commsan.toml.
Exit codes: docs/exit-codes.md; 66 means findings.";

#[derive(Parser)]
#[command(name = "commsan", version, about = "Correctness checker and profiler for MPI programs")]
#[command(after_help = AFTER_HELP, arg_required_else_help = true, styles = styles())]
struct Cli {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Run a command, check every MPI program it starts, and report findings
    Run(Run),
    /// Run a command and count the data that MPI programs move; --check also checks them
    Profile(Run),
    /// Export a profile for other tools
    Export(profile::Arguments),
    /// Run one rank of a job that another program launches: srun -n 4 commsan exec -- ./app
    Exec(Run),
    /// Compile or link C so that every load and store is checked: commsan cc mpicc ARGS
    #[command(disable_help_flag = true)]
    Cc(Compile),
    /// Compile or link C++ so that every load and store is checked: commsan cxx mpicxx ARGS
    #[command(disable_help_flag = true)]
    Cxx(Compile),
    /// Compile or link Fortran so that every load and store is checked: commsan fc mpifort ARGS
    #[command(disable_help_flag = true)]
    Fc(Compile),
    /// Compile or link CUDA, host code checked and GPU work visible: commsan nvcc ARGS
    #[command(disable_help_flag = true)]
    Nvcc(Compile),
    /// Analyse a program without running it: commsan lint ./app
    Lint(lint::Arguments),
    /// Explain a finding code; without one, list all codes
    Explain {
        /// Such as CS-BUF-01
        code: Option<String>,
    },
    /// Diagnose this machine or a program, and show how to fix problems
    Doctor {
        /// Program to diagnose
        app: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Prepare compilers, so that their checks are inline: commsan setup compiler gcc-11
    Setup(setup::Arguments),
    /// Show which rank of a running job is where, and for whom it waits
    Status(status::Arguments),
    /// Show which rank is where in a job that was started without commsan
    Attach(attach::Arguments),
    /// Print the report of an earlier run again
    Report(report::Arguments),
    /// Show the profile of a run in the browser, or compare it with that of another run
    View(view::Arguments),
    /// Show the options in effect
    Config {
        /// Show the meaning and the origin of each option
        #[arg(long)]
        explain: bool,
        #[command(flatten)]
        flags: Flags,
    },
    /// Print what makes a shell complete commsan's command line
    Completions { shell: manual::Shell },
    /// Write the manual pages; what `make install` calls
    #[command(hide = true)]
    ManualPages {
        /// Directory to write them to
        directory: PathBuf,
    },
}

#[derive(Args)]
struct Run {
    #[command(flatten)]
    flags: Flags,
    /// The command, preferably after `--`
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Args)]
struct Compile {
    /// Compiler and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The flags on the command line, as (option, value) pairs in the order of the table.
#[derive(Clone, Debug, Default)]
pub struct Flags(pub Vec<(String, String)>);

impl Args for Flags {
    fn augment_args(mut command: Command) -> Command {
        for spec in TABLE {
            let mut help = spec.help.to_owned();
            if !spec.default.is_empty() && !spec.switch {
                help.push_str(&format!(" [default: {}]", spec.default));
            }
            let mut arg = Arg::new(spec.name)
                .long(spec.flag())
                .value_name(spec.value)
                .help(help)
                .action(if spec.repeats { ArgAction::Append } else { ArgAction::Set });
            if spec.switch {
                // A value needs `=`, so that a switch never consumes the command.
                arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
            }
            command = command.arg(arg);
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Flags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for spec in TABLE {
            let values = matches.get_many::<String>(spec.name).into_iter().flatten();
            self.0.extend(values.map(|value| (spec.name.to_owned(), value.clone())));
        }
        Ok(())
    }
}

/// Runs `commsan` with these arguments and returns its exit code.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    if let Some((language, arguments)) = compile::invocation(&arguments) {
        return commsan_compiler_wrapper::run(language, arguments);
    }
    if let Some((tool, rest)) = compile::tool(&arguments) {
        let failure = compile::become_tool(tool, rest);
        failure.print();
        return ExitCode::from(failure.code);
    }
    let cli = Cli::try_parse_from(&arguments).unwrap_or_else(|error| {
        if let Some(failure) = launchers_option(&error, &arguments) {
            failure.print();
            std::process::exit(i32::from(failure.code));
        }
        error.exit()
    });
    match dispatch(cli.command) {
        Ok(code) => code,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code)
        }
    }
}

/// Advice for a user who passes an option of the launcher to `commsan run`.
fn launchers_option(error: &clap::Error, arguments: &[OsString]) -> Option<Failure> {
    let option = error.get(ContextKind::InvalidArg)?.to_string();
    let runs = arguments.get(1).is_some_and(|word| word == "run" || word == "profile");
    let is_launchers =
        error.kind() == ErrorKind::UnknownArgument && ["-n", "-c"].contains(&&*option);
    (runs && is_launchers).then(|| {
        let command = arguments[1].to_string_lossy();
        Failure::new(
            exit_code::USAGE,
            format!("`commsan {command}` has no option `{option}`: it starts no ranks itself"),
        )
        .help(format!("give it the launcher: `commsan {command} -- mpirun {option} 2 ./app`"))
    })
}

fn dispatch(command: Subcommands) -> Result<ExitCode, Failure> {
    match command {
        Subcommands::Run(Run { flags, command }) => run::main(&load(&flags)?, &command),
        Subcommands::Profile(Run { flags, command }) => {
            run::main(&load(&flags)?.for_profile(), &command)
        }
        Subcommands::Export(arguments) => profile::main(&arguments),
        Subcommands::Exec(Run { flags, command }) => exec::main(&load(&flags)?, &command),
        // Only listed for help texts: `compile::invocation` has already handled these.
        Subcommands::Cc(_) | Subcommands::Cxx(_) | Subcommands::Fc(_) | Subcommands::Nvcc(_) => {
            Err(Failure::new(exit_code::USAGE, "the language comes first: `commsan cc mpicc …`"))
        }
        #[cfg(not(feature = "lint"))]
        Subcommands::Lint(_) => Err(lint::failure("lint")),
        #[cfg(feature = "lint")]
        Subcommands::Lint(arguments) => lint::main(&arguments, &load(&Flags(arguments.flags()))?),
        Subcommands::Explain { code } => explain::main(code.as_deref()),
        Subcommands::Doctor { app, json } => doctor::main(app.as_deref(), json),
        Subcommands::Setup(arguments) => setup::main(&arguments),
        Subcommands::Status(arguments) => status::main(&arguments, &load(&Flags::default())?),
        Subcommands::Attach(arguments) => attach::main(&arguments, &load(&Flags::default())?),
        Subcommands::Report(arguments) => {
            let settings = load(&Flags(arguments.flags()))?;
            report::main(&arguments, &settings)
        }
        #[cfg(not(feature = "viewer"))]
        Subcommands::View(_) => Err(view::failure("view")),
        #[cfg(feature = "viewer")]
        Subcommands::View(arguments) => view::main(&arguments),
        Subcommands::Config { explain, flags } => config::main(&load(&flags)?, explain),
        Subcommands::Completions { shell } => Ok(manual::completions(shell, Cli::command())),
        Subcommands::ManualPages { directory } => manual::pages(Cli::command(), &directory),
    }
}

/// Loads the effective settings and applies the choice of colours.
fn load(flags: &Flags) -> Result<Settings, Failure> {
    let settings = Settings::load(&flags.0)?;
    match settings.options.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    Ok(settings)
}

fn styles() -> styling::Styles {
    let bold = styling::Style::new().bold();
    styling::Styles::styled().header(bold).usage(bold).literal(bold)
}
