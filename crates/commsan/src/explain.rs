//! `commsan explain`: what a finding means.

use crate::exit_code;
use crate::failure::Failure;
use crate::output::out;
use crate::suggest::nearest;
use commsan_model::Code;
use std::process::ExitCode;

/// Prints the explanation of `code`, or the list of codes.
pub fn main(code: Option<&str>) -> Result<ExitCode, Failure> {
    let Some(text) = code else {
        for code in Code::ALL {
            out(&format!("\x1b[1m{code}\x1b[0m  {}\n", code.title()));
        }
        return Ok(ExitCode::from(exit_code::OK));
    };
    let code: Code = text.parse().map_err(|_| {
        let failure = Failure::new(exit_code::USAGE, format!("there is no finding code `{text}`"));
        match nearest(text, Code::ALL.iter().map(|code| code.id())) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help("`commsan explain` lists all of them"),
        }
    })?;
    out(&format!("{}\n", code.explanation().trim_end()));
    Ok(ExitCode::from(exit_code::OK))
}
