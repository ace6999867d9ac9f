//! `gpu-check`: does commsan find on hardware what it finds on simulated devices?
//!
//! `pack` compiles the CUDA programs of `tests/cases`, runs them on simulated devices that do not
//! report what kernels access (as hardware does not), and leaves a kit: commsan, programs, the CUDA
//! runtime, an MPI. `run` needs nothing but the kit and an NVIDIA driver. It runs each program
//! alone and under commsan, compares its findings with those on simulated devices, executes PTX
//! instructions and compares their results, and measures what commsan costs. It writes one JSON
//! file and prints a table. With `--gpu sim:N` it does all that on simulated devices.

mod cuda;
mod instructions;
mod kit;
mod pack;
mod programs;
mod run;
mod table;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "commsan-gpu-check", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes a kit of this repository's CUDA programs.
    Pack(pack::Options),
    /// Runs a kit.
    Run(run::Options),
    /// Prints the table of a result file.
    Table {
        /// What `run` has written.
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Pack(options) => pack::pack(&options).map(|()| ExitCode::SUCCESS),
        Command::Run(options) => run::run(&options),
        Command::Table { file } => table::of_file(&file),
    };
    done.unwrap_or_else(|problem| {
        eprintln!("error: {problem}");
        ExitCode::from(2)
    })
}
