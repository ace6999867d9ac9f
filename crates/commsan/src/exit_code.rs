//! All exit codes of commsan; `docs/exit-codes.md` documents them for users.
//!
//! `commsan run` returns the program's own exit code unless it has something to report, so these
//! codes can also come from the program. `run.json` stores the program's code separately.

/// Everything asked for was done, and nothing was found.
pub const OK: u8 = 0;

/// `doctor` found something that keeps commsan from working.
pub const UNUSABLE: u8 = 1;

/// The command line, `COMMSAN_OPTIONS` or `commsan.toml` is wrong. Nothing was started.
pub const USAGE: u8 = 2;

/// Errors that no suppression covers, as ThreadSanitizer does; `--exit-code` changes the number,
/// `--fail-on` which findings count.
pub const FINDINGS: u8 = 66;

/// The run directory cannot be created, or a part of the installation is missing. Nothing was
/// started.
pub const SETUP: u8 = 70;

/// The program ran, but its logs or the report could not be read or written. A failure of the
/// program, or findings, take precedence.
pub const REPORT: u8 = 74;

/// The command exists but cannot be executed, as in shells.
pub const NOT_EXECUTABLE: u8 = 126;

/// There is no such command, as in shells.
pub const NOT_FOUND: u8 = 127;

/// Added to the number of the signal that ended the program, as in shells.
pub const SIGNAL: u8 = 128;

/// The code that findings give.
pub fn of_findings(options: &crate::options::Options) -> u8 {
    u8::try_from(options.exit_code.0).unwrap_or(FINDINGS)
}
