//! `commsan cc`, `cxx` and `fc`, and the aliases `commsan-cc`, …: compiler wrappers.

use std::ffi::OsString;
use std::process::ExitCode;

/// Recognises a compiler call, whose arguments belong to the compiler as they are.
pub fn invocation(_arguments: &[OsString]) -> Option<((), Vec<OsString>)> {
    None
}

/// Compiles or links.
pub fn main(_language: (), _arguments: Vec<OsString>) -> ExitCode {
    ExitCode::from(crate::exit_code::SETUP)
}
