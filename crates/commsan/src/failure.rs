//! Errors that end a command: what happened, what to do about it, and the exit code.

use crate::output::err;

/// An error that ends a command.
#[derive(Debug)]
pub struct Failure {
    /// Exit code from [`exit_code`](crate::exit_code).
    pub code: u8,
    what: String,
    help: Vec<String>,
}

impl Failure {
    /// An error described by `what`, without a full stop.
    pub fn new(code: u8, what: impl Into<String>) -> Failure {
        Failure { code, what: what.into(), help: Vec::new() }
    }

    /// Adds advice for the user.
    pub fn help(mut self, help: impl Into<String>) -> Failure {
        self.help.push(help.into());
        self
    }

    /// Prints the error and its advice on standard error.
    pub fn print(&self) {
        err(&format!("{} {}\n", label("error:", "1;31"), self.what));
        for text in &self.help {
            help(text);
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

/// Prints a warning with advice on standard error; the command continues.
pub fn warn(what: &str, help: &[String]) {
    err(&format!("{} {what}\n", label("warning:", "1;33")));
    for text in help {
        self::help(text);
    }
}

/// Prints advice on standard error.
pub fn help(text: &str) {
    err(&format!("  {} {text}\n", label("help:", "1;36")));
}

/// Prints a note on standard error.
pub fn note(what: &str) {
    err(&format!("{} {what}\n", label("commsan:", "1")));
}

/// `text` in a style; anstream removes the escape codes if the stream is no terminal.
pub fn label(text: &str, style: &str) -> String {
    format!("\x1b[{style}m{text}\x1b[0m")
}
