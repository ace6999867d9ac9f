//! Commands of parts that this build of commsan was made without (features `lint` and `viewer`).

use crate::exit_code;
use crate::failure::Failure;
use std::ffi::OsString;

/// Arguments of such a command, which nobody reads.
#[derive(clap::Args)]
pub struct Arguments {
    /// Not understood by this build
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

/// Why `commsan NAME` does nothing.
pub fn failure(name: &str) -> Failure {
    Failure::new(exit_code::UNUSABLE, format!("this build of commsan has no `{name}`"))
        .help("use a build with all parts: `make install`")
}
