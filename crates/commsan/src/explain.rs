//! `commsan explain`: the meaning of a finding code.

use crate::exit_code;
use crate::failure::Failure;
use crate::output::out;
use crate::suggest::nearest;
use commsan_findings::Code;
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
        let ids = || Code::ALL.iter().map(|code| code.id());
        // The common prefix of all codes may be omitted.
        let wanted = text.to_ascii_uppercase().replace('_', "-");
        let holding: Vec<_> = ids().filter(|id| id.contains(&wanted)).collect();
        match nearest(text, ids()) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None if !wanted.is_empty() && !holding.is_empty() => {
                failure.help(format!("there is {}", holding.join(", ")))
            }
            None => failure.help("`commsan explain` lists all of them"),
        }
    })?;
    out(&format!("{}\n", code.explanation().trim_end()));
    Ok(ExitCode::from(exit_code::OK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_suggested_by_their_parts() {
        let help = |text| main(Some(text)).unwrap_err().to_string();
        assert!(help("buf-01").contains("CS-BUF-01"));
        assert!(help("BUF").contains("CS-BUF-01, CS-BUF-02"));
        assert!(help("CS-BUF-1").contains("did you mean `CS-BUF-"));
        assert!(help("nonsense").contains("lists all"));
    }
}
