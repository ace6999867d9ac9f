//! Arguments of calls about files. Errors there are returned by default (MPI 4.1 §14.7), so that
//! programs continue with files that are not open, or not written.

use super::is_of_something;
use crate::datatypes;
use crate::handles::handle;
use crate::sys;
use commsan_mpi::Args;
use commsan_shadow::Mode;
use std::ffi::c_int;

/// What is wrong with how a file is to be opened (MPI 4.1 §14.2.1).
pub(super) fn mode_problem(mode: c_int) -> Option<&'static str> {
    let has = |flag: c_int| mode & flag != 0;
    let accesses = [sys::MPI_MODE_RDONLY, sys::MPI_MODE_WRONLY, sys::MPI_MODE_RDWR];
    match accesses.into_iter().filter(|access| has(*access)).count() {
        0 => Some("has none of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR"),
        1 if has(sys::MPI_MODE_RDONLY) && has(sys::MPI_MODE_CREATE) => {
            Some("has MPI_MODE_CREATE, but a file that is only read cannot be created")
        }
        1 if has(sys::MPI_MODE_RDONLY) && has(sys::MPI_MODE_EXCL) => {
            Some("has MPI_MODE_EXCL, but a file that is only read cannot be created")
        }
        1 if has(sys::MPI_MODE_RDWR) && has(sys::MPI_MODE_SEQUENTIAL) => {
            Some("has MPI_MODE_SEQUENTIAL, which does not go together with MPI_MODE_RDWR")
        }
        1 => None,
        _ => Some("has more than one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR"),
    }
}

/// What a file is not open for that the call does with it.
pub(super) fn access_problem(args: &Args, index: usize) -> Option<&'static str> {
    let (file, mut mode) = (handle::<sys::MPI_File>(args.words[index]), 0);
    // SAFETY: a file that is open as far as is known, or what the call itself will refuse.
    if unsafe { sys::PMPI_File_get_amode(file, &mut mode) } != 0 {
        return None;
    }
    let access = args.call.accesses.first().filter(|rule| is_of_something(args, rule))?;
    let reads = access.mode == Mode::Write;
    match reads {
        true if mode & sys::MPI_MODE_WRONLY != 0 => Some("was opened with MPI_MODE_WRONLY"),
        false if mode & sys::MPI_MODE_RDONLY != 0 => Some("was opened with MPI_MODE_RDONLY"),
        _ => None,
    }
}

/// What is wrong with where an offset is counted from (MPI 4.1 §14.4.3).
pub(super) fn whence_problem(whence: c_int) -> Option<String> {
    let known = [sys::MPI_SEEK_SET, sys::MPI_SEEK_CUR, sys::MPI_SEEK_END];
    (!known.contains(&whence))
        .then(|| format!("is {whence}, and none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END"))
}

/// What is wrong with an offset that is sought (MPI 4.1 §14.4.3).
pub(super) fn sought_problem(args: &Args, index: usize) -> Option<String> {
    let (offset, whence) = (args.words[index] as isize, args.int(args.call.named("whence")?));
    (offset < 0 && whence == sys::MPI_SEEK_SET)
        .then(|| format!("is {offset}, which is before the file's beginning"))
}

/// What is wrong with how a view goes through a file (MPI 4.1 §14.1.1).
pub(super) fn filetype_problem(args: &Args, index: usize) -> Option<String> {
    let etype = args.words[args.call.named("etype")?];
    let [element, whole] = [etype, args.words[index]].map(|word| datatypes::signature(word).bytes);
    (element > 0 && whole % element != 0)
        .then(|| format!("has {whole} bytes, no whole number of an etype's {element}"))
}
