//! Function names as the programmer wrote them.
//!
//! Names of C++ and Rust are demangled, what compilers add to C and Fortran names is taken off.

use std::borrow::Cow;

/// Suffixes that GCC and Clang give to copies and parts of a function.
const CLONE_SUFFIXES: &[&str] =
    &[".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm.", ".localalias"];

/// Suffixes of the function that holds the body of an OpenMP construct.
const OUTLINED_SUFFIXES: &[&str] = &["._omp_fn.", ".omp_outlined"];

/// The name a person would use for the symbol `symbol` defined in `file`.
pub fn readable(symbol: &str, file: Option<&str>) -> String {
    let outlined = OUTLINED_SUFFIXES.iter().find_map(|suffix| symbol.find(suffix));
    let name = &symbol[..outlined.unwrap_or(symbol.len())];
    let clone = CLONE_SUFFIXES.iter().filter_map(|suffix| name.find(suffix)).min();
    let name = &name[..clone.unwrap_or(name.len())];
    let name = if name == "MAIN__" {
        "main program".to_owned()
    } else if let Some((module, procedure)) =
        name.strip_prefix("__").and_then(|rest| rest.split_once("_MOD_"))
    {
        format!("{module}::{procedure}")
    } else if file.is_some_and(is_fortran) {
        fortran_procedure(name).to_owned()
    } else {
        name.to_owned()
    };
    match outlined {
        Some(_) if name.is_empty() => "OpenMP region".to_owned(),
        Some(_) => format!("{name} (OpenMP region)"),
        None => name,
    }
}

/// The name that a mangled symbol of C++ or Rust stands for. Others are left alone: `f` is a
/// function of C, though a demangler would take it for `float`.
pub fn demangled(symbol: &str) -> Cow<'_, str> {
    if !["_Z", "__Z", "_R"].iter().any(|begin| symbol.starts_with(begin)) {
        return Cow::Borrowed(symbol);
    }
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return Cow::Owned(format!("{name:#}"));
    }
    let name = cpp_demangle::Symbol::new(symbol).ok().and_then(|symbol| symbol.demangle().ok());
    name.map_or(Cow::Borrowed(symbol), Cow::Owned)
}

/// External procedures end in `_` (or `__` by f2c's rule), contained ones in `.N`.
fn fortran_procedure(name: &str) -> &str {
    let contained = name.rsplit_once('.').filter(|(_, number)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    contained.map_or_else(|| name.trim_end_matches('_'), |(procedure, _)| procedure)
}

/// Programs that run scripts.
const INTERPRETERS: [&str; 9] =
    ["python", "pypy", "julia", "Rscript", "R", "perl", "octave", "octave-cli", "ruby"];

/// Whether a program of this file name runs scripts; a version may follow: `python3.11`.
pub fn runs_scripts(program: &str) -> bool {
    INTERPRETERS.iter().any(|name| {
        let version = program.strip_prefix(*name);
        version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-'))
    })
}

/// Who runs a script of this file name.
pub fn interpreter(script: &str) -> Option<&'static str> {
    Some(match script.rsplit_once('.')?.1 {
        "py" => "python3",
        "jl" => "julia",
        "R" | "r" => "Rscript",
        "pl" => "perl",
        "rb" => "ruby",
        _ => return None,
    })
}

/// Whether the file's name is one of a Fortran source.
pub fn is_fortran(file: &str) -> bool {
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "f18", "f23", "cuf"]
        .iter()
        .any(|fortran| extension.eq_ignore_ascii_case(fortran))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_may_have_a_version() {
        assert!(runs_scripts("python3.11") && runs_scripts("R") && runs_scripts("julia-1.10"));
        assert!(!runs_scripts("pythonic") && !runs_scripts("solve.py"));
        assert_eq!(interpreter("solve.py"), Some("python3"));
        assert_eq!(interpreter("solve"), None);
    }

    #[test]
    fn only_mangled_names_are_demangled() {
        assert_eq!(
            demangled("_Z4packRKSt6vectorIdSaIdEE"),
            "pack(std::vector<double, std::allocator<double> > const&)"
        );
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        for name in ["f", "i", "rd", "St", "pack", "_start", "_Zz"] {
            assert_eq!(demangled(name), name);
        }
    }

    #[test]
    fn what_compilers_add_is_taken_off() {
        for (symbol, file, name) in [
            ("pack", "a.c", "pack"),
            ("pack_", "a.c", "pack_"),
            ("pack_", "a.F90", "pack"),
            ("pack.constprop.0.isra.0", "a.c", "pack"),
            ("pack.cold", "a.c", "pack"),
            ("MAIN__", "a.f90", "main program"),
            ("__halo_MOD_exchange", "a.f90", "halo::exchange"),
            ("inner.3984", "a.f90", "inner"),
            ("main._omp_fn.0", "a.c", "main (OpenMP region)"),
            (".omp_outlined..2", "a.c", "OpenMP region"),
            ("halo::exchange(int*)", "a.cc", "halo::exchange(int*)"),
        ] {
            assert_eq!(readable(symbol, Some(file)), name);
        }
        assert_eq!(readable("__halo_MOD_exchange", None), "halo::exchange");
    }
}
