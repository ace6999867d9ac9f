//! Whose command line this is: gcc, gfortran and clang take different options for the same thing.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

/// Compilers that share command line and code generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// gcc and g++, also behind an MPI wrapper.
    Gcc,
    /// gfortran.
    Gfortran,
    /// clang and clang++.
    Clang,
    /// Anything else; it cannot instrument for us.
    Other,
}

impl Family {
    /// Decides by name where the name is proof enough, or else asks the compiler, which for an MPI
    /// wrapper is the only way to know.
    pub fn of(compiler: &[OsString]) -> Family {
        let by_name = compiler.last().and_then(|program| Family::by_name(program));
        by_name.unwrap_or_else(|| Family::by_asking(compiler))
    }

    fn by_name(program: &OsStr) -> Option<Family> {
        let name = Path::new(program).file_name()?.to_str()?;
        // "x86_64-linux-gnu-gcc-12" and "clang++-19" without version and target.
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        match bare.rsplit('-').next()? {
            "gcc" | "g++" => Some(Family::Gcc),
            "gfortran" => Some(Family::Gfortran),
            "clang" | "clang++" => Some(Family::Clang),
            _ => None,
        }
    }

    fn by_asking(compiler: &[OsString]) -> Family {
        let asked = Command::new(&compiler[0])
            .args(&compiler[1..])
            .arg("--version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        asked.map_or(Family::Other, |answer| {
            Family::by_version(&String::from_utf8_lossy(&answer.stdout))
        })
    }

    fn by_version(answer: &str) -> Family {
        let first = answer.lines().next().unwrap_or_default();
        if first.contains("clang version") {
            Family::Clang
        } else if first.contains("GNU Fortran") {
            Family::Gfortran
        } else if answer.contains("Free Software Foundation") {
            Family::Gcc
        } else {
            Family::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_prove_the_family() {
        let named = |name: &str| Family::by_name(OsStr::new(name));
        assert_eq!(named("/usr/bin/gcc-12"), Some(Family::Gcc));
        assert_eq!(named("x86_64-linux-gnu-g++-13.2"), Some(Family::Gcc));
        assert_eq!(named("gfortran"), Some(Family::Gfortran));
        assert_eq!(named("clang++-19"), Some(Family::Clang));
        for unknown in ["cc", "c++", "mpicc", "mpicc.openmpi", "flang-new-19", "nvfortran"] {
            assert_eq!(named(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn versions_that_tell_the_family() {
        const FSF: &str = "Copyright (C) 2022 Free Software Foundation, Inc.\n";
        let told = Family::by_version;
        assert_eq!(told(&format!("cc (Debian 12.2.0-14) 12.2.0\n{FSF}")), Family::Gcc);
        assert_eq!(told(&format!("GNU Fortran (Debian) 12.2.0\n{FSF}")), Family::Gfortran);
        assert_eq!(told("Debian clang version 19.1.7\nTarget: x86_64\n"), Family::Clang);
        assert_eq!(told("AMD clang version 17.0.6 (CLANG: AOCC)\n"), Family::Clang);
        assert_eq!(told("flang-new version 19.1.7\nTarget: x86_64\n"), Family::Other);
        assert_eq!(told("\nnvfortran 24.3-0 64-bit target on x86-64 Linux\n"), Family::Other);
        assert_eq!(told(""), Family::Other);
    }
}
