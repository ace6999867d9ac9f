//! Compiler wrappers: `commsan cc mpicc -O2 -c a.c` runs `mpicc` with the options needed to check
//! every load and store.
//!
//! A wrapper adds options and replaces its process by the compiler. Exit status, signals and output
//! are therefore the compiler's own, and a command line that compiles nothing (`--version`, `-E`,
//! `-show`) reaches the compiler unchanged. All that wrappers write is the user's cache of plugins,
//! which takes parallel builds into account.
//!
//! Read in this order: [`invocation`] finds the compiler among the arguments, [`command_line`]
//! parses its options, [`family`] determines their dialect, [`plugin`] whether the compiler can
//! load commsan's plugin, and [`plan`] what to add. [`warning`] tells once a build what is lacking,
//! [`setup`] is `commsan setup compiler`. [`nvcc`] uses such a wrapper as NVIDIA's host compiler.

pub mod command_line;
pub mod family;
pub mod invocation;
pub mod nvcc;
pub mod plan;
pub mod plugin;
pub mod setup;
mod warning;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use command_line::CommandLine;
use family::{Compiler, Family};
use invocation::Invocation;
use plan::Plan;

/// The language of a wrapper, which determines the compiler if the user names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `commsan cc`
    C,
    /// `commsan cxx`
    Cxx,
    /// `commsan fc`
    Fortran,
    /// `commsan nvcc`
    Cuda,
}

impl Language {
    /// The language of `commsan-cc`, `commsan-cxx`, …, or of the bare `cc`, `cxx`, `fc`, `nvcc`.
    pub fn from_name(name: &str) -> Option<Language> {
        match name.strip_prefix("commsan-").unwrap_or(name) {
            "cc" => Some(Language::C),
            "cxx" => Some(Language::Cxx),
            "fc" => Some(Language::Fortran),
            "nvcc" => Some(Language::Cuda),
            _ => None,
        }
    }

    fn default_compiler(self) -> OsString {
        let (variable, wrapper) = match self {
            Language::C => ("COMMSAN_CC", "mpicc"),
            Language::Cxx => ("COMMSAN_CXX", "mpicxx"),
            Language::Fortran => ("COMMSAN_FC", "mpifort"),
            Language::Cuda => return nvcc::default_nvcc(),
        };
        std::env::var_os(variable).filter(|v| !v.is_empty()).unwrap_or_else(|| wrapper.into())
    }

    /// What an MPI wrapper calls if nothing else is said.
    fn plain_compiler(self) -> OsString {
        match self {
            Language::C => "cc".into(),
            Language::Cxx => "c++".into(),
            Language::Fortran => "gfortran".into(),
            Language::Cuda => nvcc::default_nvcc(),
        }
    }
}

/// What to do, where the environment says so.
const WRAPPER: &str = "COMMSAN_WRAPPER";
/// The compiler runs unchanged.
const OFF: &str = "off";
/// The compiler runs unchanged, since one of our wrappers has started this process by way of an MPI
/// wrapper (`OMPI_CC=commsan-cc mpicc`, `mpicc -cc=commsan-cc`): to call that MPI wrapper again
/// would not end.
const WITHIN: &str = "within";

/// Replaces this process by the compiler that `args` name, or by the language's default one.
/// Returns only if that fails or the command line is not supported.
pub fn run(language: Language, args: Vec<OsString>) -> ExitCode {
    if language == Language::Cuda {
        return nvcc::run(args);
    }
    if let Some(name) = invocation::missing(&args, invocation::is_executable) {
        let name = name.to_string_lossy();
        eprintln!(
            "commsan: error: there is no compiler `{name}` in PATH, nor a file of that name to compile"
        );
        return ExitCode::from(127);
    }
    let is_set = |value: &str| std::env::var_os(WRAPPER).is_some_and(|set| set == value);
    let default = match is_set(WITHIN) {
        true => language.plain_compiler(),
        false => language.default_compiler(),
    };
    let Invocation { compiler, args } = invocation::split(args, default, invocation::is_executable);
    let within = [(WRAPPER, Some(OsString::from(WITHIN)))];
    if is_set(OFF) || is_set(WITHIN) {
        return replace_process(&compiler, &args, &within);
    }
    let line = CommandLine::parse(&args);
    if !line.builds() {
        return replace_process(&compiler, &args, &within);
    }
    let asked = family::to_ask(&compiler, &args);
    let (known, library) = (Compiler::of(&asked), library_directory());
    let plugin = plugin::obtain(&asked, known, &library);
    // A vendor's compiler that can load it is as good as clang.
    let family = match known.family {
        Family::Other if plugin.is_ok() => Family::Clang,
        family => family,
    };
    match plan::plan(&line, family, &library, plugin.as_deref().ok()) {
        Ok(Plan { front, back, warning, lacks_plugin }) => {
            let is_lacking = lacks_plugin || (warning.is_some() && !plugin::has_hooks(family));
            match (&plugin, warning) {
                (Err(lack), _) if is_lacking => warning::lack(&asked, family, lack),
                (_, Some(warning)) => eprintln!("commsan: warning: {warning}"),
                (_, None) => (),
            }
            replace_process(&compiler, &plan::assemble(front, args, back), &within)
        }
        Err(reason) => {
            eprintln!("commsan: error: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// The directory of the hooks archive, relative to the command with symbolic links resolved.
pub fn library_directory() -> PathBuf {
    if let Some(set) = std::env::var_os("COMMSAN_LIB").filter(|v| !v.is_empty()) {
        return std::path::absolute(&set).unwrap_or(set.into());
    }
    let here = std::env::current_exe().and_then(|p| p.canonicalize()).unwrap_or_default();
    let prefix = here.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    prefix.join("lib/commsan")
}

/// Replaces this process by a compiler, with environment variables set or removed.
fn replace_process(
    compiler: &[OsString],
    args: &[OsString],
    variables: &[(&str, Option<OsString>)],
) -> ExitCode {
    let mut command = Command::new(&compiler[0]);
    command.args(&compiler[1..]).args(args);
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let error = command.exec();
    eprintln!("commsan: error: cannot run {}: {error}", compiler[0].to_string_lossy());
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}
