//! Compiles sources to bitcode if the build has stored none: clang or flang compiles each file, up
//! to the start of optimization.

use super::{database, fortran};
use crate::exit_code;
use crate::failure::{Failure, warn};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Compilers of the LLVM version whose bitcode commsan reads.
const CLANG: &str = "clang-19";
const CLANGXX: &str = "clang++-19";
const FLANG: &str = "flang-new-19";

/// The input of the analysis.
pub struct Sources {
    /// Files that already contain bitcode.
    binaries: Vec<PathBuf>,
    units: Vec<Unit>,
}

/// The bitcode files of a program; dropping this removes temporary files.
pub struct Compiled {
    /// Files that the user has named.
    pub named: Vec<PathBuf>,
    /// Bitcode compiled from sources.
    pub made: Vec<PathBuf>,
    _directory: Option<Directory>,
}

/// A source file, and how to compile it.
pub struct Unit {
    pub directory: PathBuf,
    pub source: PathBuf,
    /// Compiler and options of the build, without output; only the compiler's name if there is no
    /// build.
    pub command: Vec<OsString>,
}

struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The language of a source file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    pub fn of(path: &Path) -> Option<Language> {
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

    /// The MPI compiler wrapper of the language.
    pub fn wrapper(self) -> &'static str {
        match self {
            Language::C => "mpicc",
            Language::Cxx => "mpicxx",
            Language::Fortran => "mpifort",
        }
    }
}

impl Sources {
    /// Collects files named on the command line and sources of a build directory.
    pub fn of(build: Option<&Path>, files: &[PathBuf]) -> Result<Sources, Failure> {
        let mut units = build.map(database::read).transpose()?.unwrap_or_default();
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

    /// Compiles the sources. Leaves out those that do not compile, with a warning.
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
        let mut f08 = None;
        let mut made = Vec::new();
        let mut open: Vec<_> = (0..self.units.len()).collect();
        while !open.is_empty() {
            let results = self.round(&open, options, &fortran.options, &directory.0);
            let mut done = results.iter().any(|(_, result)| result.is_ok());
            let mut failed = results.iter().filter_map(|(_, result)| result.as_ref().err());
            if f08.is_none() && failed.any(|why| fortran::waits_for_f08(why)) {
                let module = fortran.make_f08(FLANG);
                done |= module.is_some();
                f08 = Some(module);
            }
            // A source that uses modules of others may compile once these are there.
            let (later, now): (Vec<_>, Vec<_>) = results.into_iter().partition(|(_, result)| {
                done && result.as_ref().is_err_and(|why| fortran::waits(why))
            });
            made.extend(now);
            open = later.into_iter().map(|(number, _)| number).collect();
        }
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
        files.extend(f08.flatten());
        Ok(Compiled { named: self.binaries, made: files, _directory: Some(directory) })
    }
}

impl Sources {
    /// Compiles some of the units, as many at a time as there are processors.
    fn round(
        &self,
        numbers: &[usize],
        options: &[String],
        fortran: &[OsString],
        directory: &Path,
    ) -> Vec<(usize, Result<PathBuf, String>)> {
        let next = AtomicUsize::new(0);
        let made = Mutex::new(Vec::new());
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..workers.min(numbers.len()) {
                scope.spawn(|| {
                    while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let output = directory.join(format!("{number}.bc"));
                        let result = self.units[*number].compile(options, fortran, &output);
                        if let Ok(mut made) = made.lock() {
                            made.push((*number, result.map(|()| output)));
                        }
                    }
                });
            }
        });
        made.into_inner().unwrap_or_default()
    }

    /// The options and modules that flang needs for MPI; empty if there is no Fortran.
    fn fortran(&self, directory: &Path) -> fortran::Mpi {
        let is_fortran = |unit: &&Unit| Language::of(&unit.source) == Some(Language::Fortran);
        let units = || self.units.iter().filter(is_fortran);
        if units().next().is_none() {
            return fortran::Mpi::default();
        }
        let with_wrapper = units().find(|unit| unit.has_mpi_wrapper());
        let wrapper = with_wrapper.and_then(|unit| unit.command.first());
        // CMake calls the compiler without the wrapper.
        let options =
            units().flat_map(|unit| unit.command.iter().map(|word| (&*unit.directory, word)));
        fortran::Mpi::of(FLANG, wrapper.map(|wrapper| &**wrapper), options, directory)
    }
}

impl Unit {
    fn has_mpi_wrapper(&self) -> bool {
        self.command.first().is_some_and(|compiler| {
            let name = Path::new(compiler).file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("mpi") && in_path(compiler)
        })
    }

    /// Compiles a source; drops options of the build that only its own compiler knows.
    fn compile(
        &self,
        options: &[String],
        fortran: &[OsString],
        output: &Path,
    ) -> Result<(), String> {
        let Some((compiler, build)) = self.command.split_first() else {
            return Err("the compile command is empty".to_owned());
        };
        if !self.directory.is_dir() {
            return Err(format!("there is no directory `{}`", self.directory.display()));
        }
        let mut build = build.to_vec();
        loop {
            let mut command = self.command(compiler, &build, options, fortran);
            command.args(["-g", "-c", "-emit-llvm", "-o"]).arg(output);
            if Language::of(&self.source) == Some(Language::Fortran) {
                fortran::keep_modules(&mut command, &self.directory, &self.source, output);
            } else {
                command.arg(&self.source);
            }
            let ran = command.stdin(Stdio::null()).output().map_err(|error| {
                let program = command.get_program().to_string_lossy();
                format!("`{program}` does not run ({error}): install clang-19 and flang-19")
            })?;
            if ran.status.success() && is_bitcode(output) {
                return Ok(());
            }
            if ran.status.success() {
                let what = "its options make clang or flang do something else than compile";
                return Err(what.to_owned());
            }
            let text = String::from_utf8_lossy(&ran.stderr);
            let before = build.len();
            build.retain(|option| !is_refused(&option.to_string_lossy(), &text));
            if build.len() < before {
                continue;
            }
            // Prefers a message with a source line.
            let with = |part: &str| text.lines().find(|line| line.contains(part));
            let error = with(": error: ").or_else(|| with("error")).unwrap_or("no message");
            return Err(format!("{error}; options for the compiler can follow after `--`"));
        }
    }

    /// The compiler command with the options of the build and of the user.
    fn command(
        &self,
        compiler: &OsStr,
        build: &[OsString],
        options: &[String],
        fortran: &[OsString],
    ) -> Command {
        let language = Language::of(&self.source).unwrap_or(Language::C);
        let wrapper = language != Language::Fortran && self.has_mpi_wrapper();
        let compiler = if wrapper { compiler } else { OsStr::new(language.compiler()) };
        let mut command = Command::new(compiler);
        if wrapper {
            // Variables of Open MPI, of MPICH, and of Intel MPI, which derives from it.
            for (variable, compiler) in [("CC", CLANG), ("CXX", CLANGXX)] {
                for library in ["OMPI", "MPICH", "I_MPI"] {
                    command.env(format!("{library}_{variable}"), compiler);
                }
            }
        }
        command.current_dir(&self.directory);
        if language != Language::Fortran {
            command.args(build).args(options);
            command.args(["-Xclang", "-disable-llvm-passes", "-w", "-Qunused-arguments"]);
            command.args(["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"]);
        } else {
            let options = build.iter().cloned().chain(options.iter().map(OsString::from));
            command.args(fortran).args(fortran::options(options, &self.directory)).arg("-O0");
        }
        command
    }
}

fn is_bitcode(path: &Path) -> bool {
    let mut begin = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *b"BC\xc0\xde"
}

/// Whether a compiler has rejected an option, or its value.
fn is_refused(option: &str, said: &str) -> bool {
    const REFUSALS: [&str; 5] = [
        "unknown argument",
        "unsupported option",
        "unsupported argument",
        "unknown target CPU",
        "invalid value",
    ];
    let refusals =
        said.lines().filter(|line| REFUSALS.iter().any(|refusal| line.contains(refusal)));
    let mut quoted = refusals.flat_map(|line| {
        // The suggested option comes last.
        let line = line.split("; did you mean").next().unwrap_or(line);
        line.split('\'').skip(1).step_by(2)
    });
    let standard = option.starts_with("-std=") && said.contains("Only -std=");
    let is_it = |quoted: &str| {
        option == quoted || option.strip_suffix(quoted).is_some_and(|name| name.ends_with('='))
    };
    standard || option.starts_with('-') && quoted.any(is_it)
}

fn in_path(program: &OsString) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Path::new(program).is_absolute()
        || std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_a_compiler_refuses_are_found_in_what_it_says() {
        const SAID: &str = "clang-19: error: unknown argument '-fno-tree-vrx'; did you mean '-fno-tree'?\n\
             error: unknown target CPU 'power11'\n\
             error: invalid value 'gnu99x' in '-std=gnu99x'\n\
             a.c:1:2: error: use of undeclared identifier 'x' in '-DN=1'\n";
        for option in ["-fno-tree-vrx", "-mcpu=power11", "-std=gnu99x"] {
            assert!(is_refused(option, SAID), "{option}");
        }
        for option in ["-fno-tree", "-DN=1", "power11", "-I."] {
            assert!(!is_refused(option, SAID), "{option}");
        }
        assert!(is_refused("-std=f2008", "error: Only -std=f2018 is allowed currently.\n"));
    }
}
