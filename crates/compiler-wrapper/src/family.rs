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
    /// The major version of its LLVM.
    pub llvm: Option<u32>,
    /// Whether that is LLVM as published, not as modified by a vendor.
    pub published: bool,
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

/// Compilers made of LLVM by vendors, as the first line of `--version` names them, and whether
/// hooks can take the place of the plugin there. That line's version is not always LLVM's.
const VENDORS: &[(&str, Family)] = &[
    (" clang version ", Family::Clang), // AMD's (AOCC, ROCm), Cray's
    ("Intel(R) oneAPI DPC++/C++ Compiler", Family::Other),
    ("Arm C/C++/Fortran Compiler", Family::Other),
];

impl Compiler {
    /// One that commsan knows nothing of.
    pub const OTHER: Compiler = Compiler { family: Family::Other, llvm: None, published: false };

    fn gnu(family: Family) -> Compiler {
        Compiler { family, ..Compiler::OTHER }
    }

    fn of_llvm(family: Family, major: u32) -> Compiler {
        Compiler { family, llvm: Some(major), published: true }
    }

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
            "gcc" | "g++" => return Some(Compiler::gnu(Family::Gcc)),
            "gfortran" => return Some(Compiler::gnu(Family::Gfortran)),
            "clang" | "clang++" => Family::Clang,
            "flang" => Family::Flang,
            _ => return None,
        };
        llvm.map(|version| Compiler::of_llvm(family, version))
    }

    fn by_asking(compiler: &[OsString]) -> Compiler {
        let said = answer(compiler, &["--version"]);
        let first = said.lines().next().unwrap_or_default();
        Compiler::by_version(&said).unwrap_or_else(|| {
            let vendor = VENDORS.iter().find(|(name, _)| first.contains(name));
            vendor.map_or(Compiler::OTHER, |(_, family)| {
                let macros = answer(compiler, &["-dM", "-E", "-x", "c", "/dev/null"]);
                Compiler { family: *family, llvm: llvm_by_macros(&macros), published: false }
            })
        })
    }

    /// What `--version` proves; nothing about vendors' compilers.
    fn by_version(answer: &str) -> Option<Compiler> {
        let first = answer.lines().next()?;
        let named = |name: &str| first.split_once(&format!("{name} version "));
        // Vendors modify LLVM, and may count their own versions; distributions do neither.
        let of_llvm = |family, (maker, version): (&str, &str)| {
            let major = version.split('.').next()?.parse().ok()?;
            let published = ["", "Debian ", "Ubuntu "].contains(&maker);
            published.then(|| Compiler::of_llvm(family, major))
        };
        if let Some(parts) = named("clang") {
            of_llvm(Family::Clang, parts)
        } else if let Some(parts) = named("flang").or_else(|| named("flang-new")) {
            let unknown = Compiler { family: Family::Flang, ..Compiler::OTHER };
            of_llvm(Family::Flang, parts).or(Some(unknown))
        } else if first.contains("GNU Fortran") {
            Some(Compiler::gnu(Family::Gfortran))
        } else if answer.contains("Free Software Foundation") {
            Some(Compiler::gnu(Family::Gcc))
        } else {
            None
        }
    }
}

/// What a compiler prints when asked; empty if it cannot be run.
fn answer(compiler: &[OsString], question: &[&str]) -> String {
    let asked = Command::new(&compiler[0])
        .args(&compiler[1..])
        .args(question)
        .env(crate::WRAPPER, crate::WITHIN)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    String::from_utf8_lossy(&asked.map(|answer| answer.stdout).unwrap_or_default()).into_owned()
}

/// The version of LLVM by clang's predefined macros.
fn llvm_by_macros(macros: &str) -> Option<u32> {
    let value = |line: &str| line.strip_prefix("#define __clang_major__ ")?.trim().parse().ok();
    macros.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn named(name: &str, family: Family, llvm: Option<u32>) {
        let expected = Compiler { family, llvm, published: llvm.is_some() };
        assert_eq!(Compiler::by_name(OsStr::new(name)), Some(expected), "{name}");
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
        let expected = Compiler { family, llvm, published: llvm.is_some() };
        assert_eq!(Compiler::by_version(answer), Some(expected), "{answer}");
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
        told("Debian flang-new version 19.1.7\nTarget: x86_64\n", Family::Flang, Some(19));
        told("flang version 20.1.0\n", Family::Flang, Some(20));
        for unproven in [
            "AMD clang version 17.0.6 (CLANG: AOCC)\n",
            "Intel(R) oneAPI DPC++/C++ Compiler 2024.1.0 (2024.1.0.20240308)\n",
            "\nnvfortran 24.3-0 64-bit target on x86-64 Linux\n",
            "",
        ] {
            assert_eq!(Compiler::by_version(unproven), None, "{unproven}");
        }
    }

    /// A compiler that answers as a vendor's does, since none can be installed here.
    #[test]
    fn vendors_compilers_tell_their_llvm_by_macros() {
        for (first, family) in [
            ("AMD clang version 17.0.6 (CLANG: AOCC)", Family::Clang),
            ("Intel(R) oneAPI DPC++/C++ Compiler 2024.1.0", Family::Other),
        ] {
            let script = format!(
                "case $1 in --version) echo '{first}';; -dM) echo '#define __clang_major__ 17';; esac"
            );
            let compiler = ["sh", "-c", &script, "sh"].map(OsString::from);
            let expected = Compiler { family, llvm: Some(17), published: false };
            assert_eq!(Compiler::by_asking(&compiler), expected);
        }
        let other = ["sh", "-c", "echo nvfortran 24.3-0", "sh"].map(OsString::from);
        assert_eq!(Compiler::by_asking(&other), Compiler::OTHER);
    }
}
