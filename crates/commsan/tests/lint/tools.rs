//! Compiling a program and running lint on it.

#[path = "../support/wrappers.rs"]
mod wrappers;

use crate::Program;
use commsan_test_cases::{Case, sample};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How lint gets to see a program.
pub struct Way {
    pub mpi: &'static str,
    /// The option with which objects are compiled; none for sources.
    optimization: Option<&'static str>,
}

const fn way(mpi: &'static str, optimization: Option<&'static str>) -> Way {
    Way { mpi, optimization }
}

/// All ways.
const WAYS: [Way; 6] = [
    way("openmpi", Some("-O0")),
    way("openmpi", Some("-O2")),
    way("openmpi", None),
    way("mpich", Some("-O0")),
    way("mpich", Some("-O2")),
    way("mpich", None),
];

/// How a program is seen: all ways of the only library that it is for, or those of sources; else
/// with one library without optimization, with the other with it, and its source with one of them,
/// which are others for half of the programs. `COMMSAN_WAYS=all` in the environment: all ways. In
/// CI's limited time sources are seen with one library, and only in every other turn (`sample`).
pub fn ways(program: &str, mpi: Option<&str>, sources: bool) -> Vec<&'static Way> {
    let all = std::env::var_os("COMMSAN_WAYS").is_some_and(|ways| ways == "all");
    let (half, of_commit) = (sample::half(program), sample::way(0));
    let is_left_out = |way: &&Way| {
        let other = if half == 0 { "mpich" } else { "openmpi" };
        sample::in_ci() && way.is_source() && (!sources && of_commit == 1 || way.mpi == other)
    };
    let chosen = |way: &&Way| match mpi {
        None if is_left_out(way) => false,
        Some(mpi) => way.mpi == mpi && (way.is_source() || !sources),
        None if sources => way.is_source(),
        None if all => true,
        None => (half == 0) == ((way.optimization == Some("-O2")) == (way.mpi == "mpich")),
    };
    WAYS.iter().filter(chosen).collect()
}

/// How programs in C are seen with the MPI standard's ABI, of which the tests have a header of
/// their own.
pub const STANDARD: Way = way("mpiabi", Some("-O0"));

/// How programs are seen of which nothing is to be said.
pub const SILENT: Way = way("openmpi", None);

impl Way {
    pub fn is_source(&self) -> bool {
        self.optimization.is_none()
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.mpi, self.optimization.unwrap_or("source"))
    }
}

/// A program's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    /// The language of a file, if it is a program.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "c" => Some(Language::C),
            "cpp" => Some(Language::Cxx),
            "f90" => Some(Language::Fortran),
            _ => None,
        }
    }

    /// Whether it includes headers of C.
    pub fn is_c(self) -> bool {
        self != Language::Fortran
    }
}

/// Where everything is.
pub struct Tools {
    commsan: PathBuf,
    /// Of each library.
    includes: Vec<(&'static str, Vec<String>)>,
    /// Objects and reports, one directory for each trial.
    work: PathBuf,
}

/// What lint said.
pub struct Run {
    pub command: String,
    pub exit: Option<i32>,
    pub output: String,
    pub report: PathBuf,
}

impl Tools {
    /// Looks for everything; the error names what is missing.
    pub fn find(repository: &Path) -> Result<Tools, String> {
        let built = repository.join("target/dist/bin/commsan");
        let commsan = std::env::var_os("COMMSAN").map_or(built, PathBuf::from);
        if !commsan.is_file() {
            return Err(format!("missing: {}; run `make build`", commsan.display()));
        }
        let work = repository.join("target/lint");
        let mut includes = Vec::new();
        for mpi in ["openmpi", "mpich"] {
            wrappers(&work.join(mpi), mpi)
                .map_err(|error| format!("{}: {error}", work.display()))?;
            includes.push((mpi, include_options(mpi)?));
        }
        let own = repository.join("tests/lint/mpi_abi");
        includes.push((STANDARD.mpi, vec![format!("-I{}", own.display())]));
        Ok(Tools { commsan, includes, work })
    }

    fn includes(&self, mpi: &str) -> &[String] {
        self.includes.iter().find(|(name, _)| *name == mpi).map_or(&[], |(_, options)| options)
    }

    /// Runs lint on a program.
    pub fn lint(&self, program: &Program, way: &Way) -> Result<Run, String> {
        let optimization = way.optimization.unwrap_or("source");
        let directory = self.work.join(&program.name).join(format!("{}{optimization}", way.mpi));
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let report = directory.join("report.json");
        let mut command = self.command(way, "lint", &directory);
        command.args(program.files.iter().flat_map(|file| &file.options));
        command.arg("--json").arg(&report);
        let flags = || program.files.iter().flat_map(|file| &file.flags);
        match way.optimization {
            Some(optimization) => {
                for file in &program.files {
                    command.arg(self.compile(file, way, optimization, &directory)?);
                }
            }
            None => {
                command.args(program.files.iter().map(|file| &file.source));
                command.args(["--", "-fopenmp"]).args(flags());
            }
        }
        let (exit, output) = finish(&mut command)?;
        // A source that does not compile is only warned of.
        if output.contains("left out") {
            return Err(format!("does not compile\n\n$ {}\n{output}", shown(&command)));
        }
        Ok(Run { command: shown(&command), exit, output, report })
    }

    fn compile(
        &self,
        file: &Case,
        way: &Way,
        optimization: &str,
        directory: &Path,
    ) -> Result<PathBuf, String> {
        let language = Language::of(&file.source).ok_or("no program")?;
        let object = directory.join(file.source.file_name().unwrap_or_default());
        let object = object.with_extension("o");
        let mut command = match language {
            Language::C => self.command(way, "cc", directory),
            Language::Cxx => self.command(way, "cxx", directory),
            Language::Fortran => self.command(way, "fc", directory),
        };
        // Not behind wrappers: that for Fortran passes options for gfortran, MPICH's run a command
        // for each option.
        command.arg(match language {
            Language::C => "clang-19",
            Language::Cxx => "clang++-19",
            Language::Fortran => "flang-new-19",
        });
        command
            .args(self.includes(way.mpi))
            .args([optimization, "-g", "-fopenmp", "-c"])
            .args(&file.flags);
        command.arg(&file.source).arg("-o").arg(&object);
        match finish(&mut command)? {
            (Some(0), _) => Ok(object),
            (_, output) => Err(format!("does not compile\n\n$ {}\n{output}", shown(&command))),
        }
    }

    /// A command of commsan's for which `mpicc` is the one of an MPI library, with clang.
    fn command(&self, way: &Way, subcommand: &str, directory: &Path) -> Command {
        let mut command = Command::new(&self.commsan);
        let mut path = self.work.join(way.mpi).into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.arg(subcommand).current_dir(directory).env("PATH", path).env("NO_COLOR", "1");
        command.env_remove("COMMSAN_OPTIONS");
        for library in ["OMPI", "MPICH"] {
            command.env(format!("{library}_CC"), "clang-19");
            command.env(format!("{library}_CXX"), "clang++-19");
        }
        command
    }
}

/// Links under which the compilers of one MPI library are found without suffix.
fn wrappers(directory: &Path, mpi: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for name in ["mpicc", "mpicxx", "mpifort"] {
        let Some(target) = in_path(&format!("{name}.{mpi}")) else { continue };
        match symlink(target, directory.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Where `mpi.h` and `mpif.h` are.
fn include_options(mpi: &str) -> Result<Vec<String>, String> {
    let wrapper = format!("mpicc.{mpi}");
    let mut options = wrappers::options(&wrapper)?;
    options.retain(|word| word.starts_with("-I"));
    let has_headers = |option: &String| Path::new(&option[2..]).join("mpif.h").is_file();
    match options.iter().any(has_headers) {
        true => Ok(options),
        false => Err(format!("`{wrapper} -show` names no directory with mpif.h")),
    }
}

fn finish(command: &mut Command) -> Result<(Option<i32>, String), String> {
    let ran = command.stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("{}: {error}", shown(command)))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((ran.status.code(), text(&ran.stdout) + &text(&ran.stderr)))
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

fn shown(command: &Command) -> String {
    let words =
        std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::display);
    words.map(|word| word.to_string()).collect::<Vec<_>>().join(" ")
}
