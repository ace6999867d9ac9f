//! Fortran with MPI for flang, which can read neither gfortran's module files nor all options of MPI's
//! wrappers: the headers are found by asking the wrappers, and module `mpi` is made of `mpif.h`.

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
        .args([source.as_os_str(), OsStr::new("-o"), OsStr::new("/dev/null"), OsStr::new("-J")])
        .arg(&modules)
        .stdin(Stdio::null())
        .output();
    match made {
        // Before the other directories: they may have a gfortran module of that name.
        Ok(made) if made.status.success() => vec![option(&modules), headers],
        _ => vec![headers],
    }
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
