//! Fortran with MPI for flang, which can read neither gfortran's module files nor all options of MPI's
//! wrappers: the headers are found by asking the wrappers, and module `mpi` is made of `mpif.h`.
//!
//! Modules that sources define are written beside the bitcode, never where the build has its own: those of the same
//! name would be lost, and the next build would not understand what is there. Nor are the build's read. Since flang
//! looks for modules in the current directory first, that is where it runs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The whole of a module that has what `mpif.h` has.
const MODULE: &str = "module mpi\n  include 'mpif.h'\nend module mpi\n";

/// Options with which flang finds `mpif.h`, and module `mpi`, which is written below `directory`.
pub fn includes(flang: &str, wrapper: &OsStr, directory: &Path) -> Vec<OsString> {
    let name = wrapper.to_string_lossy();
    // The C wrapper knows where headers are, where the other knows gfortran's modules only.
    let for_c = ["mpifort", "mpif90", "mpif77"].iter().find_map(|fortran| {
        let (before, after) = name.rsplit_once(fortran)?;
        Some(format!("{before}mpicc{after}"))
    });
    let wrappers = for_c.into_iter().chain([name.into_owned()]);
    let Some(headers) = wrappers.flat_map(|wrapper| shown(&wrapper)).find(|path| has_header(path))
    else {
        return Vec::new();
    };
    let option = |directory: &Path| {
        let mut option = OsString::from("-I");
        option.push(directory);
        option
    };
    let headers = option(&headers);
    let modules = directory.join("modules");
    let source = modules.join("mpi.f90");
    let written = std::fs::create_dir_all(&modules).and_then(|()| std::fs::write(&source, MODULE));
    if written.is_err() {
        return vec![headers];
    }
    let made = Command::new(flang)
        .arg("-c")
        .arg(&headers)
        .arg(&source)
        .arg("-o")
        .arg(modules.join("mpi.o"))
        .arg("-J")
        .arg(&modules)
        .stdin(Stdio::null())
        .output();
    match made {
        // Before the other directories: they may have a gfortran module of that name.
        Ok(made) if made.status.success() => vec![option(&modules), headers],
        _ => vec![headers],
    }
}

/// Compiles a source of a directory where modules are written beside the output, and are found there.
pub fn keep_modules(command: &mut Command, directory: &Path, source: &Path, output: &Path) {
    let modules = output.parent().unwrap_or(output);
    // What the source includes may lie beside it, or in its directory.
    command.current_dir(modules).arg("-I").arg(absolute(directory, OsStr::new(".")));
    command.arg(absolute(directory, source.as_os_str()));
}

/// Options of a build, or of the user, that hold in another directory, too; none that says where modules are.
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
