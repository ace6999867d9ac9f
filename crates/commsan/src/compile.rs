//! Compiler wrappers: `commsan cc`, `cxx`, `fc` and `nvcc`, and the aliases `commsan-cc`, ….
//!
//! Build systems derive the names of a compiler's tools from its own name: for `commsan-cc`, CMake
//! runs `commsan-gcc-ar`, and without it disables link-time optimization of archives. This module
//! therefore also implements aliases of those tools.

use crate::child;
use crate::exit_code;
use crate::failure::Failure;
use commsan_compiler_wrapper::Language;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiler tools for which there are aliases.
const TOOLS: [&str; 6] = ["gcc-ar", "gcc-nm", "gcc-ranlib", "llvm-ar", "llvm-nm", "llvm-ranlib"];

/// The tool that an alias stands for, or the first argument if the aliases are scripts (as in
/// wheels), and its arguments; `None` if this is no alias.
pub fn tool(arguments: &[OsString]) -> Option<(&'static str, &[OsString])> {
    let (program, rest) = arguments.split_first()?;
    let alias = Path::new(program).file_name()?.to_str()?.strip_prefix("commsan-");
    let (name, rest) = match alias {
        Some(alias) => (alias, rest),
        None => rest.split_first().and_then(|(word, rest)| Some((word.to_str()?, rest)))?,
    };
    TOOLS.into_iter().find(|tool| *tool == name).map(|tool| (tool, rest))
}

/// Replaces this process by a tool; returns only if that fails.
pub fn become_tool(tool: &str, arguments: &[OsString]) -> Failure {
    let Some(path) = find(tool) else {
        let what = format!("`{tool}` is not in PATH, nor with a version behind its name");
        return Failure::new(exit_code::NOT_FOUND, what).help(
            "install the tools of the compiler, or name them by CMAKE_C_COMPILER_AR and the like",
        );
    };
    let error = Command::new(&path).args(arguments).exec();
    Failure::new(exit_code::NOT_EXECUTABLE, format!("cannot start `{}`: {error}", path.display()))
}

/// The path of the tool, or of its newest version, which can read what older compilers write.
fn find(tool: &str) -> Option<PathBuf> {
    let versions = (10..=30).rev().map(|version| format!("{tool}-{version}"));
    let mut names = std::iter::once(tool.to_owned()).chain(versions);
    names.find_map(|name| child::search(OsStr::new(&name)))
}

/// Recognises a call of a compiler wrapper; its arguments are passed to the compiler unchanged.
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

    #[test]
    fn tools_of_compilers_have_aliases() {
        let words = ["/usr/bin/commsan-gcc-ar", "qc", "a.a"].map(OsString::from);
        assert_eq!(tool(&words), Some(("gcc-ar", &words[1..])));
        let words = ["commsan", "llvm-nm", "a.a"].map(OsString::from);
        assert_eq!(tool(&words), Some(("llvm-nm", &words[2..])));
        assert_eq!(tool(&["commsan-cc".into(), "gcc-ar".into()]), None);
        assert_eq!(tool(&["commsan-cc".into()]), None);
        assert_eq!(tool(&["gcc-ar".into()]), None);
    }
}
