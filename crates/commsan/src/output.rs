//! Standard output and standard error.
//!
//! A reader that goes away, as `head` does, must neither end commsan before the report is on
//! disk nor change its exit code, so failures to print are ignored.

use std::io::Write;

/// Prints `text` on standard output; escape codes vanish where they do not belong.
pub fn out(text: &str) {
    let _ = anstream::stdout().lock().write_all(text.as_bytes());
}

/// Prints `text` on standard error.
pub fn err(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
