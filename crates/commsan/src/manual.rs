//! Manual pages and completions of shells, from the definition of the command line.

use crate::exit_code;
use crate::failure::Failure;
use clap::Command;
use std::path::Path;
use std::process::ExitCode;

/// Shells for which there are completions.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Shell {
    /// Bash
    Bash,
    /// Fish
    Fish,
    /// Zsh
    Zsh,
}

/// Prints the completions for a shell.
pub fn completions(shell: Shell, mut command: Command) -> ExitCode {
    use clap_complete::Shell as Known;
    let known = match shell {
        Shell::Bash => Known::Bash,
        Shell::Fish => Known::Fish,
        Shell::Zsh => Known::Zsh,
    };
    clap_complete::generate(known, &mut command, "commsan", &mut std::io::stdout());
    ExitCode::SUCCESS
}

/// Writes a page for the command and one for each subcommand.
pub fn pages(command: Command, directory: &Path) -> Result<ExitCode, Failure> {
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory));
    written.map(|()| ExitCode::SUCCESS).map_err(|error| {
        let what = format!("cannot write manual pages to `{}`: {error}", directory.display());
        Failure::new(exit_code::UNUSABLE, what).help("name a directory that can be written")
    })
}
