//! Fortran with MPI for flang, which can read neither gfortran's module files nor all options of
//! MPI's wrappers. The headers are found by asking the wrappers; module `mpi` is generated from
//! `mpif.h`, and `mpi_f08` when a source needs it ([`mpi_f08`]).
//!
//! Modules that sources define are written beside the bitcode, never into the build directory: they
//! would overwrite the build's modules of the same name, which the next build could then not read.
//! The build's modules are not read either. flang searches the current directory for modules first,
//! so it runs in the directory of the new ones.
//!
//! MPI's modules take flang longer than most programs, so the user's cache keeps them
//! ([`modules`]).

mod modules;

use super::mpi_f08;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Source of a module with the contents of `mpif.h` and `more`.
fn mpi_module(more: &str) -> String {
    format!("module mpi\n  include 'mpif.h'\n{more}end module mpi\n")
}

/// The options and modules that flang needs to compile Fortran with MPI.
#[derive(Default)]
pub struct Mpi {
    /// Options by which flang finds `mpif.h` and the modules.
    pub options: Vec<OsString>,
    /// The directory of modules `mpi` and `mpi_f08`.
    modules: PathBuf,
    /// Those of earlier runs.
    kept: Option<modules::Kept>,
}

impl Mpi {
    /// For the library of the wrappers, or else for one whose headers an option names. Writes
    /// module `mpi` below `directory`.
    pub fn of<'a>(
        flang: &str,
        wrapper: Option<&OsStr>,
        mut options: impl Iterator<Item = (&'a Path, &'a OsString)>,
        directory: &Path,
    ) -> Mpi {
        let headers = wrapper.and_then(headers).or_else(|| {
            options.find_map(|(directory, option)| {
                let path = directory.join(option.to_str()?.strip_prefix("-I")?);
                has_header(&path).then_some(path)
            })
        });
        let Some(headers) = headers else { return Mpi::default() };
        let option = |directory: &Path| {
            let mut option = OsString::from("-I");
            option.push(directory);
            option
        };
        let mut mpi = Mpi {
            options: vec![option(&headers)],
            modules: directory.join("modules"),
            kept: modules::Kept::of(flang, &headers),
        };
        if mpi.provide("mpi", || mpi.make_mpi(flang)).is_some() {
            // In front of the other directories, which may contain gfortran's module of that name.
            mpi.options.insert(0, option(&mpi.modules));
        }
        mpi
    }

    /// Provides module `mpi_f08`, and returns the path of its bitcode.
    pub fn make_f08(&self, flang: &str) -> Option<PathBuf> {
        self.provide("mpi_f08", || {
            let mpi = std::fs::read_to_string(self.modules.join("mpi.mod")).ok()?;
            self.make(flang, "mpi_f08", &mpi_f08::source(&mpi), &["-g", "-emit-llvm"])
        })
    }

    /// The bitcode of a module that an earlier run has kept, or else that `make` makes.
    fn provide(&self, name: &str, make: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
        let kept = self.kept.as_ref();
        if let Some(bitcode) = kept.and_then(|kept| kept.fetch(name, &self.modules)) {
            return Some(bitcode);
        }
        let bitcode = make()?;
        if let Some(kept) = kept {
            kept.keep(name, &self.modules);
        }
        Some(bitcode)
    }

    fn make_mpi(&self, flang: &str) -> Option<PathBuf> {
        let made = self.make(flang, "mpi", &mpi_module(""), &[])?;
        // Keywords, and `asynchronous` arguments, need interfaces, except those that the header
        // has.
        let bare = std::fs::read_to_string(self.modules.join("mpi.mod")).unwrap_or_default();
        let full = self.make(flang, "mpi", &mpi_module(&mpi_f08::interfaces(&bare)), &[]);
        if full.is_none() {
            let _ = std::fs::write(self.modules.join("mpi.mod"), bare);
        }
        Some(made)
    }

    fn make(&self, flang: &str, name: &str, text: &str, options: &[&str]) -> Option<PathBuf> {
        let source = self.modules.join(name).with_extension("f90");
        let output = source.with_extension("bc");
        std::fs::create_dir_all(&self.modules).ok()?;
        std::fs::write(&source, text).ok()?;
        let mut command = Command::new(flang);
        command.arg("-c").args(&self.options).args(options).arg(&source).arg("-o").arg(&output);
        let made = command.arg("-J").arg(&self.modules).stdin(Stdio::null()).output().ok()?;
        made.status.success().then_some(output)
    }
}

/// The header directory of a wrapper's library.
fn headers(wrapper: &OsStr) -> Option<PathBuf> {
    let name = wrapper.to_string_lossy();
    // The C wrapper shows the header directory where the Fortran wrapper only shows that of
    // modules.
    let for_c = ["mpifort", "mpif90", "mpif77"].iter().find_map(|fortran| {
        let (before, after) = name.rsplit_once(fortran)?;
        Some(format!("{before}mpicc{after}"))
    });
    let wrappers = for_c.into_iter().chain([name.into_owned()]);
    wrappers.flat_map(|wrapper| shown(&wrapper)).find(|path| has_header(path))
}

/// Compiles a source in a directory where modules are written beside the output, and are found.
pub fn keep_modules(command: &mut Command, directory: &Path, source: &Path, output: &Path) {
    let modules = output.parent().unwrap_or(output);
    // Included files may lie beside the source, or in its directory.
    command.current_dir(modules).arg("-I").arg(absolute(directory, OsStr::new(".")));
    command.arg(absolute(directory, source.as_os_str()));
}

/// Options of a build, or of the user, with absolute paths; without those that set the module
/// directory.
pub fn options(
    options: impl Iterator<Item = OsString>,
    directory: &Path,
) -> impl Iterator<Item = OsString> {
    let mut skips = false;
    let mut is_directory = false;
    options.filter_map(move |option| {
        if std::mem::take(&mut skips) {
            return None;
        }
        if std::mem::take(&mut is_directory) {
            return Some(absolute(directory, &option).into_os_string());
        }
        let text = option.to_string_lossy();
        if matches!(&*text, "-J" | "-module-dir") {
            skips = true;
            return None;
        }
        if text.starts_with("-J") || text.starts_with("-module-dir=") {
            return None;
        }
        is_directory = text == "-I";
        match text.strip_prefix("-I").filter(|path| !path.is_empty()) {
            Some(path) => {
                let mut option = OsString::from("-I");
                option.push(absolute(directory, OsStr::new(path)));
                Some(option)
            }
            None => Some(option),
        }
    })
}

fn absolute(directory: &Path, path: &OsStr) -> PathBuf {
    let path = directory.join(path);
    std::path::absolute(&path).unwrap_or(path)
}

/// Whether flang has reported a missing module.
pub fn waits(said: &str) -> bool {
    said.contains("Cannot read module file")
}

/// Whether flang has reported that module `mpi_f08` is missing.
pub fn waits_for_f08(said: &str) -> bool {
    said.contains("Cannot read module file for module 'mpi_f08'")
}

/// The include directories of a wrapper.
fn shown(wrapper: &str) -> Vec<PathBuf> {
    let Ok(answer) = Command::new(wrapper).arg("-show").stdin(Stdio::null()).output() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    text.split_whitespace().filter_map(|word| word.strip_prefix("-I")).map(PathBuf::from).collect()
}

fn has_header(directory: &Path) -> bool {
    directory.join("mpif.h").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_hold_elsewhere_and_say_nothing_of_modules() {
        let given =
            ["-Iinclude", "-I", "more", "-J", "mods", "-Jmods", "-module-dir=m", "-DN=1", "-I/all"];
        let options = options(given.iter().map(OsString::from), Path::new("/src"));
        let expected = ["-I/src/include", "-I", "/src/more", "-DN=1", "-I/all"];
        assert!(options.eq(expected.iter().map(OsString::from)));
    }
}
