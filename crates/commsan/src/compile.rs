//! `commsan cc`, `cxx`, `fc` and `nvcc`, and the aliases `commsan-cc`, …: compiler wrappers.

use commsan_compile::Language;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Recognises a compiler call; its arguments belong to the compiler as they are.
pub fn invocation(arguments: &[OsString]) -> Option<(Language, Vec<OsString>)> {
    let (program, rest) = arguments.split_first()?;
    let name = Path::new(program).file_name().and_then(OsStr::to_str)?;
    if let Some(language) = name.starts_with("commsan-").then(|| Language::from_name(name)) {
        return Some((language?, rest.to_vec()));
    }
    let (word, rest) = rest.split_first()?;
    let word = word.to_str().filter(|word| !word.starts_with("commsan-"))?;
    Some((Language::from_name(word)?, rest.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_and_subcommands_reach_the_compiler_untouched() {
        let call =
            |line: &str| invocation(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let rest = vec![OsString::from("mpicc"), OsString::from("--help")];
        assert_eq!(call("/usr/bin/commsan-cc mpicc --help"), Some((Language::C, rest.clone())));
        assert_eq!(call("commsan fc mpicc --help"), Some((Language::Fortran, rest)));
        assert_eq!(call("commsan cxx"), Some((Language::Cxx, vec![])));
        assert_eq!(call("commsan run cc"), None);
        assert_eq!(call("commsan"), None);
    }
}
