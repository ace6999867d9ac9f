//! Fortran with MPI for flang, which can read neither gfortran's module files nor all options of
//! MPI's wrappers. The headers are found by asking the wrappers; module `mpi` is made of `mpif.h`,
//! and `mpi_f08` where a source waits for it ([`mpi_f08`]).
//!
//! Modules that sources define are written beside the bitcode, never where the build has its own:
//! those of the same name would be lost, and the next build would not understand what is there. Nor
//! are the build's modules read. Since flang looks for modules in the current directory first, it
//! runs where the new ones are.

use super::mpi_f08;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A module that has what `mpif.h` has, and more.
fn mpi_module(more: &str) -> String {
    format!("module mpi\n  include 'mpif.h'\n{more}end module mpi\n")
}

/// What flang needs to read Fortran with MPI.
#[derive(Default)]
pub struct Mpi {
    /// Options with which it finds `mpif.h` and the modules.
    pub options: Vec<OsString>,
    /// Where modules `mpi` and `mpi_f08` are made.
    modules: PathBuf,
}

impl Mpi {
    /// Of the library that wrappers are for, or else of a library whose headers some option names.
    /// Module `mpi` is written below `directory`.
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
        let mut mpi = Mpi { options: vec![option(&headers)], modules: directory.join("modules") };
        if mpi.make(flang, "mpi", &mpi_module(""), &[]).is_some() {
            // Keywords, and arguments that are `asynchronous`, need interfaces; but not those that
            // the header has.
            let bare = std::fs::read_to_string(mpi.modules.join("mpi.mod")).unwrap_or_default();
            let full = mpi.make(flang, "mpi", &mpi_module(&mpi_f08::interfaces(&bare)), &[]);
            if full.is_none() {
                let _ = std::fs::write(mpi.modules.join("mpi.mod"), bare);
            }
            // Before the other directories: they may have a gfortran module of that name.
            mpi.options.insert(0, option(&mpi.modules));
        }
        mpi
    }

    /// Makes module `mpi_f08`, and says where its bitcode is.
    pub fn make_f08(&self, flang: &str) -> Option<PathBuf> {
        let mpi = std::fs::read_to_string(self.modules.join("mpi.mod")).ok()?;
        self.make(flang, "mpi_f08", &mpi_f08::source(&mpi), &["-g", "-emit-llvm"])
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

/// Where the headers of a wrapper's library are.
fn headers(wrapper: &OsStr) -> Option<PathBuf> {
    let name = wrapper.to_string_lossy();
    // The C wrapper knows where headers are, where the other knows gfortran's modules only.
    let for_c = ["mpifort", "mpif90", "mpif77"].iter().find_map(|fortran| {
        let (before, after) = name.rsplit_once(fortran)?;
        Some(format!("{before}mpicc{after}"))
    });
    let wrappers = for_c.into_iter().chain([name.into_owned()]);
    wrappers.flat_map(|wrapper| shown(&wrapper)).find(|path| has_header(path))
}

/// Compiles a source of a directory where modules are written beside the output, and are found
/// there.
pub fn keep_modules(command: &mut Command, directory: &Path, source: &Path, output: &Path) {
    let modules = output.parent().unwrap_or(output);
    // What the source includes may lie beside it, or in its directory.
    command.current_dir(modules).arg("-I").arg(absolute(directory, OsStr::new(".")));
    command.arg(absolute(directory, source.as_os_str()));
}

/// Options of a build, or of the user, that hold in another directory, too; none that says where
/// modules are.
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

/// Whether flang has said that a module is not there yet.
pub fn waits(said: &str) -> bool {
    said.contains("Cannot read module file")
}

/// Whether it is that of MPI.
pub fn waits_for_f08(said: &str) -> bool {
    said.contains("Cannot read module file for module 'mpi_f08'")
}

/// Where a wrapper looks for headers.
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
