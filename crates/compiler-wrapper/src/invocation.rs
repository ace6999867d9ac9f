//! Finds the compiler among the arguments.
//!
//! `commsan-cc` serves both as a compiler (`CC=commsan-cc`) and in front of one, as in CMake's
//! `CMAKE_C_COMPILER_LAUNCHER` or `CC="commsan-cc mpicc"`. The first argument counts as a compiler
//! if it is no option and no file to compile, and is executable.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::command_line::Input;

/// Programs that run the compiler named by their next argument.
const LAUNCHERS: &[&str] = &["ccache", "sccache", "distcc", "icecc", "buildcache"];

/// A command split into the compiler, with launchers before it, and its arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program and, behind a launcher, the compiler.
    pub compiler: Vec<OsString>,
    /// The arguments of the compiler.
    pub args: Vec<OsString>,
}

/// Finds the compiler at the front of `args`. Otherwise it is `default`, which may have several
/// words, as in `ccache mpicc`.
pub fn split(
    mut args: Vec<OsString>,
    default: OsString,
    is_executable: impl Fn(&OsStr) -> bool,
) -> Invocation {
    let could_be_compiler = |arg: &OsString| {
        let text = arg.to_string_lossy();
        !text.starts_with(['-', '@']) && Input::by_suffix(&text).is_none() && is_executable(arg)
    };
    let mut words = 0;
    while args.get(words).is_some_and(could_be_compiler) {
        words += 1;
        if !is_launcher(&args[words - 1]) {
            let rest = args.split_off(words);
            return Invocation { compiler: args, args: rest };
        }
    }
    let launchers = args.drain(..words);
    let default = default.to_string_lossy().into_owned();
    let words = default.split_whitespace().map(OsString::from);
    Invocation { compiler: launchers.chain(words).collect(), args }
}

/// The first of `args` if it can only be meant as a compiler, but does not exist.
pub fn missing(args: &[OsString], is_executable: impl Fn(&OsStr) -> bool) -> Option<&OsStr> {
    let first = args.first()?;
    let text = first.to_string_lossy();
    let is_other = text.starts_with(['-', '@']) || Input::by_suffix(&text).is_some();
    (!is_other && !is_executable(first) && !Path::new(first).exists()).then_some(first)
}

fn is_launcher(program: &OsStr) -> bool {
    Path::new(program).file_name().is_some_and(|name| LAUNCHERS.iter().any(|l| name == *l))
}

/// Whether `execvp` would run `program`.
pub fn is_executable(program: &OsStr) -> bool {
    let runs = |path: &Path| {
        path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if program.as_encoded_bytes().contains(&b'/') {
        return runs(Path::new(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| runs(&directory.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_word_that_is_neither_compiler_nor_file_is_missing() {
        let is_missing = |args: &str| missing(&words(args), |p| p == "mpicc").is_some();
        assert!(is_missing("nosuchcompiler a.c"));
        for args in ["mpicc a.c", "-c a.c", "a.c", "@file", "/etc/passwd", ""] {
            assert!(!is_missing(args), "{args}");
        }
    }

    #[track_caller]
    fn check(args: &str, compiler: &str, rest: &str) {
        let known = ["mpicc", "gcc-12", "/usr/bin/cc", "ccache", "/opt/bin/sccache", "main", "a.o"];
        let executable = |p: &OsStr| known.iter().any(|k| p == *k);
        let expected = Invocation { compiler: words(compiler), args: words(rest) };
        assert_eq!(split(words(args), "the default".into(), executable), expected);
    }

    #[test]
    fn a_compiler_in_front_is_used() {
        check("mpicc -O2 -c a.c", "mpicc", "-O2 -c a.c");
        check("/usr/bin/cc -c a.c -o a.o", "/usr/bin/cc", "-c a.c -o a.o");
        check("gcc-12", "gcc-12", "");
    }

    #[test]
    fn otherwise_the_default_is() {
        check("-c a.c", "the default", "-c a.c");
        check("a.c mpicc", "the default", "a.c mpicc");
        check("a.o -o main", "the default", "a.o -o main");
        check("@args", "the default", "@args");
        check("", "the default", "");
    }

    #[test]
    fn launchers_belong_to_the_compiler() {
        check("ccache mpicc -c a.c", "ccache mpicc", "-c a.c");
        check("/opt/bin/sccache ccache gcc-12 a.c", "/opt/bin/sccache ccache gcc-12", "a.c");
        check("ccache -c a.c", "ccache the default", "-c a.c");
    }
}
