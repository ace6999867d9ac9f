//! Errors that end a command: what happened, what to do, which exit code.

use crate::output::err;

/// Why a command gave up.
#[derive(Debug)]
pub struct Failure {
    /// From [`exit_code`](crate::exit_code).
    pub code: u8,
    what: String,
    help: Vec<String>,
}

impl Failure {
    /// An error that `what` describes, without a full stop.
    pub fn new(code: u8, what: impl Into<String>) -> Failure {
        Failure { code, what: what.into(), help: Vec::new() }
    }

    /// Adds what the user can do.
    pub fn help(mut self, help: impl Into<String>) -> Failure {
        self.help.push(help.into());
        self
    }

    /// Prints it on standard error.
    pub fn print(&self) {
        err(&format!("{} {}\n", label("error:", "1;31"), self.what));
        for help in &self.help {
            err(&format!("  {} {help}\n", label("help:", "1;36")));
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Failure {}

/// Prints something that the user should know but that stops nothing.
pub fn warn(what: &str, help: &[String]) {
    err(&format!("{} {what}\n", label("warning:", "1;33")));
    for help in help {
        err(&format!("  {} {help}\n", label("help:", "1;36")));
    }
}

/// Prints where something is to be found.
pub fn note(what: &str) {
    err(&format!("{} {what}\n", label("commsan:", "1")));
}

/// `text` in a style; anstream removes it where it does not belong.
fn label(text: &str, style: &str) -> String {
    format!("\x1b[{style}m{text}\x1b[0m")
}
