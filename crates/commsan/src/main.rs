//! The `commsan` command.

mod attach;
mod child;
mod cli;
mod command_line;
mod compile;
mod config;
mod ctest;
mod cuda;
mod doctor;
mod elf;
mod exec;
mod exit_code;
mod explain;
mod failure;
mod install;
#[cfg(not(all(feature = "lint", feature = "viewer")))]
mod left_out;
#[cfg(feature = "lint")]
mod lint;
mod live;
mod manual;
mod options;
mod output;
mod profile;
mod program;
mod report;
mod run;
mod settings;
mod setup;
mod status;
mod suggest;
mod unreached;
#[cfg(feature = "viewer")]
mod view;
mod watch;

fn main() -> std::process::ExitCode {
    cli::main(std::env::args_os().collect())
}
