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
        list(Code::ALL.iter().copied());
        return Ok(ExitCode::from(exit_code::OK));
    };
    let about = about(text);
    if !about.is_empty() {
        list(about.into_iter());
        return Ok(ExitCode::from(exit_code::OK));
    }
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

fn list(codes: impl Iterator<Item = Code>) {
    for code in codes {
        out(&format!("\x1b[1m{code}\x1b[0m  {}\n", code.title()));
    }
}

/// Codes about a word: those that have it in their titles, else in their explanations. A code and
/// its parts are no words.
fn about(word: &str) -> Vec<Code> {
    const SHORTEST: usize = 3;
    let word = word.to_lowercase();
    let is_of_code = Code::ALL.iter().any(|code| code.id().to_lowercase().contains(&word));
    if word.len() < SHORTEST || is_of_code {
        return Vec::new();
    }
    let having = |text: fn(Code) -> &'static str| {
        let all = Code::ALL.iter().copied();
        all.filter(|code| text(*code).to_lowercase().contains(&word)).collect::<Vec<_>>()
    };
    let titles = having(Code::title);
    if titles.is_empty() { having(Code::explanation) } else { titles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_to_codes() {
        assert!(
            about("race").contains(&Code::TargetRace) && !about("race").contains(&Code::Deadlock)
        );
        assert!(about("Deadlock").contains(&Code::Deadlock));
        // Of explanations alone.
        assert!(about("valgrind").contains(&Code::CallCrashed));
        assert_eq!(about("buf"), []);
        assert_eq!(about("gibberish"), []);
    }

    #[test]
    fn codes_are_suggested_by_their_parts() {
        let help = |text| main(Some(text)).unwrap_err().to_string();
        assert!(help("buf-01").contains("CS-BUF-01"));
        assert!(help("BUF").contains("CS-BUF-01, CS-BUF-02"));
        assert!(help("CS-BUF-1").contains("did you mean `CS-BUF-"));
        assert!(help("gibberish").contains("lists all"));
    }
}
