//! From sources to bitcode, where the build has kept none: each file is compiled once more, by clang or
//! flang, up to where optimization would begin.

use super::fortran;
use crate::exit_code;
use crate::failure::{Failure, warn};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Compilers of the LLVM that commsan reads.
const CLANG: &str = "clang-19";
const CLANGXX: &str = "clang++-19";
const FLANG: &str = "flang-new-19";

/// What to analyse.
pub struct Sources {
    /// Files that contain bitcode already.
    binaries: Vec<PathBuf>,
    units: Vec<Unit>,
}

/// What a program is read from; temporary files disappear with it.
pub struct Compiled {
    /// Files that the user has named.
    pub named: Vec<PathBuf>,
    /// What sources have been compiled to.
    pub made: Vec<PathBuf>,
    _directory: Option<Directory>,
}

/// One source file and how it is compiled.
struct Unit {
    directory: PathBuf,
    source: PathBuf,
    /// Compiler and options of the build, without output; just the compiler's name if there is no build.
    command: Vec<OsString>,
}

struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    fn of(path: &Path) -> Option<Language> {
        let extension = path.extension()?.to_str()?;
        match extension {
            "c" => Some(Language::C),
            "C" | "cc" | "cpp" | "cxx" | "c++" | "CPP" => Some(Language::Cxx),
            _ => match &*extension.to_ascii_lowercase() {
                "f" | "for" | "f77" | "f90" | "f95" | "f03" | "f08" => Some(Language::Fortran),
                _ => None,
            },
        }
    }

    fn compiler(self) -> &'static str {
        match self {
            Language::C => CLANG,
            Language::Cxx => CLANGXX,
            Language::Fortran => FLANG,
        }
    }

    fn wrapper(self) -> &'static str {
        match self {
            Language::C => "mpicc",
            Language::Cxx => "mpicxx",
            Language::Fortran => "mpifort",
        }
    }
}

impl Sources {
    /// Of files named on the command line and of a build directory.
    pub fn of(build: Option<&Path>, files: &[PathBuf]) -> Result<Sources, Failure> {
        let mut units = build.map(database).transpose()?.unwrap_or_default();
        let mut binaries = Vec::new();
        for file in files {
            match Language::of(file) {
                Some(language) => units.push(Unit {
                    directory: PathBuf::from("."),
                    source: file.clone(),
                    command: vec![language.wrapper().into()],
                }),
                None => binaries.push(file.clone()),
            }
        }
        if units.is_empty() && binaries.is_empty() {
            let nothing = Failure::new(exit_code::USAGE, "nothing to analyse");
            return Err(nothing.help("name a program, objects or sources, or a build by `-p DIR`"));
        }
        Ok(Sources { binaries, units })
    }

    /// Compiles what is not compiled yet. What does not compile is left out, with a warning.
    pub fn compile(self, options: &[String]) -> Result<Compiled, Failure> {
        if self.units.is_empty() {
            return Ok(Compiled { named: self.binaries, made: Vec::new(), _directory: None });
        }
        let directory = std::env::temp_dir().join(format!("commsan-lint-{}", std::process::id()));
        std::fs::create_dir_all(&directory).map_err(|error| {
            let what = format!("cannot create `{}`: {error}", directory.display());
            Failure::new(exit_code::SETUP, what).help("set TMPDIR to a directory with space")
        })?;
        let directory = Directory(directory);
        let fortran = self.fortran(&directory.0);
        let next = AtomicUsize::new(0);
        let made = Mutex::new(Vec::new());
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..workers.min(self.units.len()) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(unit) = self.units.get(number) else { break };
                        let output = directory.0.join(format!("{number}.bc"));
                        let result = unit.compile(options, &fortran, &output).map(|()| output);
                        if let Ok(mut made) = made.lock() {
                            made.push((number, result));
                        }
                    }
                });
            }
        });
        let mut made = made.into_inner().unwrap_or_default();
        made.sort_by_key(|(number, _)| *number);
        let mut files = Vec::new();
        for (number, result) in made {
            match result {
                Ok(file) => files.push(file),
                Err(why) => {
                    warn(&format!("`{}` left out", self.units[number].source.display()), &[why])
                }
            }
        }
        if files.is_empty() && self.binaries.is_empty() {
            let failure = Failure::new(exit_code::REPORT, "no source could be compiled");
            return Err(failure.help("commsan lint compiles with clang-19 and flang-new-19"));
        }
        Ok(Compiled { named: self.binaries, made: files, _directory: Some(directory) })
    }
}

impl Sources {
    /// What flang needs for MPI, if there is Fortran with MPI.
    fn fortran(&self, directory: &Path) -> Vec<OsString> {
        let fortran = self.units.iter().find(|unit| {
            Language::of(&unit.source) == Some(Language::Fortran) && unit.has_mpi_wrapper()
        });
        let wrapper = fortran.and_then(|unit| unit.command.first());
        wrapper.map_or_else(Vec::new, |wrapper| fortran::includes(FLANG, wrapper, directory))
    }
}

impl Unit {
    fn has_mpi_wrapper(&self) -> bool {
        self.command.first().is_some_and(|compiler| {
            let name = Path::new(compiler).file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("mpi") && in_path(compiler)
        })
    }

    fn compile(
        &self,
        options: &[String],
        fortran: &[OsString],
        output: &Path,
    ) -> Result<(), String> {
        let language = Language::of(&self.source).unwrap_or(Language::C);
        let Some((compiler, build)) = self.command.split_first() else {
            return Err("the compile command is empty".to_owned());
        };
        if !self.directory.is_dir() {
            return Err(format!("there is no directory `{}`", self.directory.display()));
        }
        let wrapper = language != Language::Fortran && self.has_mpi_wrapper();
        let compiler = if wrapper { compiler.as_os_str() } else { OsStr::new(language.compiler()) };
        let mut command = Command::new(compiler);
        if wrapper {
            // Of Open MPI, MPICH, and what descends from it.
            for (variable, compiler) in [("CC", CLANG), ("CXX", CLANGXX)] {
                for library in ["OMPI", "MPICH", "I_MPI"] {
                    command.env(format!("{library}_{variable}"), compiler);
                }
            }
        }
        if language == Language::Fortran {
            command.args(fortran);
        }
        command.current_dir(&self.directory).args(build).args(options);
        if language != Language::Fortran {
            // Options that only the build's own compiler knows do no harm.
            command.args(["-Xclang", "-disable-llvm-passes", "-w", "-Qunused-arguments"]);
            command.args(["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"]);
        } else {
            command.arg("-O0");
        }
        command.args(["-g", "-c", "-emit-llvm", "-o"]).arg(output).arg(&self.source);
        let ran = command.stdin(Stdio::null()).output();
        let ran = ran.map_err(|error| {
            let program = command.get_program().to_string_lossy();
            format!("`{program}` does not run ({error}): install clang-19 and flang-19")
        })?;
        if ran.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&ran.stderr);
        // With a place, if there is one.
        let with = |part: &str| text.lines().find(|line| line.contains(part));
        let error = with(": error: ").or_else(|| with("error")).unwrap_or("no message");
        Err(format!("{error}; options for the compiler can follow after `--`"))
    }
}

fn in_path(program: &OsString) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Path::new(program).is_absolute()
        || std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// The entries of compile_commands.json (Clang's "JSON Compilation Database Format Specification").
fn database(build: &Path) -> Result<Vec<Unit>, Failure> {
    #[derive(serde::Deserialize)]
    struct Entry {
        directory: PathBuf,
        file: PathBuf,
        arguments: Option<Vec<String>>,
        command: Option<String>,
    }
    let path = build.join("compile_commands.json");
    let unusable = |what: String| {
        Failure::new(exit_code::REPORT, format!("cannot use `{}`: {what}", path.display())).help(
            "have it written by `cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, `meson`, or `bear -- make`",
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|error| unusable(error.to_string()))?;
    let entries: Vec<Entry> =
        serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
    let units = entries.into_iter().filter(|entry| Language::of(&entry.file).is_some());
    let units = units.map(|entry| {
        let words = entry.arguments.or_else(|| shlex::split(entry.command.as_deref()?));
        let command = plain(&words.unwrap_or_default(), &entry.file);
        Unit { directory: entry.directory, source: entry.file, command }
    });
    Ok(units.collect())
}

/// A command without what says which file to make of which, and without options that only other
/// compilers know.
fn plain(words: &[String], source: &Path) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let own = ["-c", "-S", "-E", "-MD", "-MMD", "-MP"].contains(&word.as_str());
        let with_value = ["-o", "-MF", "-MT", "-MQ"].contains(&word.as_str());
        if with_value {
            words.next();
        }
        let is_source = Path::new(word) == source
            || source.is_absolute()
                && source.ends_with(word)
                && Language::of(Path::new(word)).is_some();
        let optimizes = word.starts_with("-O") || word.starts_with("-flto");
        if !(own || with_value || is_source || optimizes) {
            kept.push(word.into());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_the_build_keeps_what_the_source_needs() {
        let words = "mpicc -DX=1 -I../include -O3 -MD -MF a.d -o a.o -c ../src/a.c";
        let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
        let kept = plain(&words, Path::new("/home/u/build/../src/a.c"));
        assert_eq!(kept, ["mpicc", "-DX=1", "-I../include"].map(OsString::from));
    }
}
