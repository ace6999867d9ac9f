//! `commsan doctor`: diagnoses this machine or a program, and shows how to fix problems.

mod machine;
mod program;

use crate::exit_code;
use crate::failure::Failure;
use crate::output::out;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The checked part works.
    Ok,
    /// The checked part works with limitations.
    Warn,
    /// The problem keeps commsan from working.
    Fail,
}

/// One check and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The checked part.
    pub what: String,
    /// The result.
    pub result: Level,
    /// What the check found.
    pub found: String,
    /// How to fix the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Check {
    fn ok(what: &str, found: impl Into<String>) -> Check {
        Check { what: what.to_owned(), result: Level::Ok, found: found.into(), mend: None }
    }

    fn warn(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Check {
        let mend = Some(mend.into());
        Check { what: what.to_owned(), result: Level::Warn, found: found.into(), mend }
    }

    fn fail(what: &str, found: impl Into<String>, mend: impl Into<String>) -> Check {
        Check { result: Level::Fail, ..Check::warn(what, found, mend) }
    }
}

/// Checks the machine and, if given, the program; prints a table or JSON.
pub fn main(app: Option<&Path>, json: bool) -> Result<ExitCode, Failure> {
    let mut checks = machine::checks();
    if let Some(app) = app {
        // A script need not be executable, nor be found in `PATH`.
        let is_script = crate::elf::interpreter(app).is_some() && app.is_file();
        let path = if is_script { app.to_owned() } else { crate::child::find(app.as_os_str())? };
        checks.extend(program::checks(&path));
    }
    if json {
        let text = serde_json::to_string_pretty(&checks)
            .map_err(|error| Failure::new(exit_code::UNUSABLE, error.to_string()))?;
        out(&(text + "\n"));
    } else {
        print(&checks);
    }
    let usable = checks.iter().all(|check| check.result != Level::Fail);
    Ok(ExitCode::from(if usable { exit_code::OK } else { exit_code::UNUSABLE }))
}

fn print(checks: &[Check]) {
    let width = checks.iter().map(|check| check.what.len()).max().unwrap_or(0);
    for check in checks {
        let mark = match check.result {
            Level::Ok => "\x1b[32mok  \x1b[0m",
            Level::Warn => "\x1b[33mwarn\x1b[0m",
            Level::Fail => "\x1b[31mFAIL\x1b[0m",
        };
        out(&format!("{mark}  {:width$}  {}\n", check.what, check.found));
        if let Some(mend) = &check.mend {
            out(&format!("      {:width$}  \x1b[36mhelp:\x1b[0m {mend}\n", ""));
        }
    }
}
