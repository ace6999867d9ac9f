//! Families of compilers, which differ in the options for the same purpose.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

/// Compilers that share their options and code generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// gcc and g++, also behind an MPI wrapper.
    Gcc,
    /// gfortran.
    Gfortran,
    /// clang and clang++.
    Clang,
    /// flang.
    Flang,
    /// Any other compiler; commsan cannot instrument its code.
    Other,
}

impl Family {
    /// Whether the compiler is part of the GNU Compiler Collection.
    pub fn is_gnu(self) -> bool {
        matches!(self, Family::Gcc | Family::Gfortran)
    }
}

/// The properties of a compiler that determine its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The family, which determines the dialect of options.
    pub family: Family,
    /// The major version of its LLVM, if that is LLVM as published.
    pub llvm: Option<u32>,
}

/// The command that queries a compiler: with the arguments that make MPICH's wrappers use another
/// compiler than the default.
pub fn to_ask(compiler: &[OsString], arguments: &[OsString]) -> Vec<OsString> {
    const CHOICES: [&str; 6] = ["-cc=", "-cxx=", "-CC=", "-fc=", "-f77=", "-f90="];
    let chooses = |argument: &&OsString| {
        let argument = argument.as_encoded_bytes();
        CHOICES.iter().any(|choice| argument.starts_with(choice.as_bytes()))
    };
    compiler.iter().chain(arguments.iter().filter(chooses)).cloned().collect()
}

impl Compiler {
    /// Determines the family by name if the name is unambiguous. Otherwise queries the compiler,
    /// which is the only way for an MPI wrapper.
    pub fn of(compiler: &[OsString]) -> Compiler {
        let by_name = compiler.last().and_then(|program| Compiler::by_name(program));
        by_name.unwrap_or_else(|| Compiler::by_asking(compiler))
    }

    fn by_name(program: &OsStr) -> Option<Compiler> {
        let name = Path::new(program).file_name()?.to_str()?;
        // "x86_64-linux-gnu-gcc-12", "clang++-19" and "flang-new-19" without version and target.
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let bare = bare.strip_suffix("-new").unwrap_or(bare);
        let llvm = name.rsplit('-').next()?.parse().ok();
        let family = match bare.rsplit('-').next()? {
            "gcc" | "g++" => return Some(Compiler { family: Family::Gcc, llvm: None }),
            "gfortran" => return Some(Compiler { family: Family::Gfortran, llvm: None }),
            "clang" | "clang++" => Family::Clang,
            "flang" => Family::Flang,
            _ => return None,
        };
        llvm.map(|version| Compiler { family, llvm: Some(version) })
    }

    fn by_asking(compiler: &[OsString]) -> Compiler {
        let asked = Command::new(&compiler[0])
            .args(&compiler[1..])
            .arg("--version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let answer = asked.map(|answer| answer.stdout).unwrap_or_default();
        Compiler::by_version(&String::from_utf8_lossy(&answer))
    }

    fn by_version(answer: &str) -> Compiler {
        let first = answer.lines().next().unwrap_or_default();
        let named = |name: &str| first.split_once(&format!("{name} version "));
        let (family, parts) = if let Some(parts) = named("clang") {
            (Family::Clang, Some(parts))
        } else if let Some(parts) = named("flang").or_else(|| named("flang-new")) {
            (Family::Flang, Some(parts))
        } else if first.contains("GNU Fortran") {
            (Family::Gfortran, None)
        } else if answer.contains("Free Software Foundation") {
            (Family::Gcc, None)
        } else {
            (Family::Other, None)
        };
        // Vendors modify LLVM and keep its version; distributions do not modify it.
        let published = parts.filter(|(vendor, _)| ["", "Debian ", "Ubuntu "].contains(vendor));
        let llvm = published.and_then(|(_, version)| version.split('.').next()?.parse().ok());
        Compiler { family, llvm }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn named(name: &str, family: Family, llvm: Option<u32>) {
        assert_eq!(Compiler::by_name(OsStr::new(name)), Some(Compiler { family, llvm }), "{name}");
    }

    #[test]
    fn names_that_prove_the_family() {
        named("/usr/bin/gcc-12", Family::Gcc, None);
        named("x86_64-linux-gnu-g++-13.2", Family::Gcc, None);
        named("gfortran", Family::Gfortran, None);
        named("clang++-19", Family::Clang, Some(19));
        named("flang-new-19", Family::Flang, Some(19));
        for unknown in ["cc", "c++", "mpicc", "mpicc.openmpi", "clang", "flang-new", "nvfortran"] {
            assert_eq!(Compiler::by_name(OsStr::new(unknown)), None, "{unknown}");
        }
    }

    #[track_caller]
    fn told(answer: &str, family: Family, llvm: Option<u32>) {
        assert_eq!(Compiler::by_version(answer), Compiler { family, llvm }, "{answer}");
    }

    #[test]
    fn wrappers_are_asked_about_the_compiler_that_they_will_use() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let asked = to_ask(&words("mpicc.mpich"), &words("-O2 -cc=gcc-12 -c a.c -ccbin x"));
        assert_eq!(asked, words("mpicc.mpich -cc=gcc-12"));
        assert_eq!(to_ask(&words("gcc"), &words("-g a.c")), words("gcc"));
    }

    #[test]
    fn versions_that_tell_the_family() {
        const FSF: &str = "Copyright (C) 2022 Free Software Foundation, Inc.\n";
        told(&format!("cc (Debian 12.2.0-14) 12.2.0\n{FSF}"), Family::Gcc, None);
        told(&format!("GNU Fortran (Debian) 12.2.0\n{FSF}"), Family::Gfortran, None);
        told("Debian clang version 19.1.7\nTarget: x86_64\n", Family::Clang, Some(19));
        told("clang version 20.1.0\n", Family::Clang, Some(20));
        told("AMD clang version 17.0.6 (CLANG: AOCC)\n", Family::Clang, None);
        told("Debian flang-new version 19.1.7\nTarget: x86_64\n", Family::Flang, Some(19));
        told("flang version 20.1.0\n", Family::Flang, Some(20));
        told("\nnvfortran 24.3-0 64-bit target on x86-64 Linux\n", Family::Other, None);
        told("", Family::Other, None);
    }
}
