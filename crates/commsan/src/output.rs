//! Standard output and standard error.
//!
//! If the reader of a pipe exits early, as `head` does, commsan must still write the report to disk
//! and return its own exit code. Failures to print are therefore ignored.

use std::io::Write;

/// Prints `text` on standard output, without escape codes if that is no terminal.
pub fn out(text: &str) {
    let _ = anstream::stdout().lock().write_all(text.as_bytes());
}

/// Prints `text` on standard error, without escape codes if that is no terminal.
pub fn err(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
