//! Executing a rank's program again, and restoring its environment afterwards.
//!
//! On the first start `LD_PRELOAD` names the injector, on the second the injector and the runtime;
//! with simulated devices also the simulated CUDA runtime, which so takes precedence over the real
//! one wherever the program would find that. The former value travels in [`RESTORE`] as a complete
//! `LD_PRELOAD=…` entry, so that restoring it is a change of pointers.

use crate::environment;
use crate::libraries::{self, base_name};
use crate::notice;
use commsan_mpi_abi::MpiFamily;
use std::ffi::{CStr, CString, c_char};

/// Set across the restart only: the rank's former `LD_PRELOAD=…` entry.
pub const RESTORE: &CStr = c"COMMSAN_PRELOAD_RESTORE";
/// Process number of the nearest process, this one or an ancestor, that was restarted.
pub const RANK: &CStr = c"COMMSAN_RANK_PID";

const PRELOAD: &CStr = c"LD_PRELOAD";
const INJECTOR: &[u8] = b"libcommsan_inject.so";

/// Runtime for programs without MPI.
const SERIAL: &str = "libcommsan_serial.so";

/// Restarts this process with the runtime for `mpi`, or for none; returns only if that is
/// impossible. Runtimes need no MPI library themselves.
pub fn under_runtime(run_dir: &CStr, argv: *const *const c_char, mpi: Option<MpiFamily>) {
    let directory = environment::get(c"COMMSAN_LIB").map_or(&b""[..], CStr::to_bytes);
    let runtime = [directory, b"/", mpi.map_or(SERIAL, MpiFamily::runtime).as_bytes()].concat();
    let Ok(path) = CString::new(runtime.clone()) else { return };
    // SAFETY: `path` is a C string.
    if unsafe { libc::access(path.as_ptr(), libc::R_OK) } != 0 {
        let uses = mpi.map_or("no MPI", MpiFamily::name).as_bytes();
        let parts: [&[u8]; 6] = [
            b"was not checked: it uses ",
            uses,
            b", and this installation of commsan has no runtime for that: ",
            &runtime,
            b" is missing. ",
            b"Install commsan again, with that runtime.",
        ];
        notice::write(run_dir, &parts);
        return;
    }

    let former = environment::get(PRELOAD).map_or(&b""[..], CStr::to_bytes);
    let mut added = vec![runtime];
    added.extend(simulated_cuda(directory));
    let mut changed = vec![
        entry(PRELOAD, &with_runtimes(former, &added)),
        entry(RESTORE, &[PRELOAD.to_bytes(), b"=", former].concat()),
    ];
    // Without MPI, processes that this one starts may be ranks as well as it.
    if mpi.is_some() {
        // SAFETY: getpid has no preconditions.
        let process = unsafe { libc::getpid() };
        changed.push(entry(RANK, process.to_string().as_bytes()));
    }
    execute(run_dir, argv, &[PRELOAD, RESTORE, RANK], &changed);
}

/// After a restart: gives the program, and whatever it starts, its own `LD_PRELOAD` back.
pub fn restore() {
    let former = environment::get(RESTORE);
    environment::rewrite(|entry| {
        if environment::value_of(entry, RESTORE).is_some() {
            None
        } else if environment::value_of(entry, PRELOAD).is_some() {
            former
        } else {
            Some(entry)
        }
    });
}

/// `LD_PRELOAD`'s libraries; ld.so accepts colons and spaces between them.
fn tokens(preload: &[u8]) -> impl Iterator<Item = &[u8]> {
    preload.split(|byte| matches!(byte, b':' | b' ')).filter(|token| !token.is_empty())
}

/// The library of simulated devices, if the job asks for them and this program for a CUDA runtime.
fn simulated_cuda(directory: &[u8]) -> Option<Vec<u8>> {
    environment::get(c"COMMSAN_GPU").filter(|gpu| gpu.to_bytes().starts_with(b"sim"))?;
    let name = libraries::loaded().cudart?.soname();
    Some([directory, b"/simgpu/", name.as_bytes()].concat())
}

/// `preload` with the runtimes right after the injector, or first.
fn with_runtimes(preload: &[u8], runtimes: &[Vec<u8>]) -> Vec<u8> {
    let mut list: Vec<&[u8]> = tokens(preload).collect();
    let place = list.iter().position(|token| base_name(token) == INJECTOR).map_or(0, |i| i + 1);
    list.splice(place..place, runtimes.iter().map(Vec::as_slice));
    list.join(&b':')
}

fn entry(name: &CStr, value: &[u8]) -> CString {
    // The parts come from C strings and numbers, so there is no zero byte to fail on.
    CString::new([name.to_bytes(), b"=", value].concat()).unwrap_or_default()
}

/// Executes this process's program with the entries `names` replaced by `changed`.
fn execute(run_dir: &CStr, argv: *const *const c_char, names: &[&CStr], changed: &[CString]) {
    let mut envp: Vec<*const c_char> = environment::entries()
        .filter(|entry| names.iter().all(|name| environment::value_of(entry, name).is_none()))
        .map(CStr::as_ptr)
        .chain(changed.iter().map(|entry| entry.as_ptr()))
        .collect();
    envp.push(std::ptr::null());

    let program = notice::executable();
    let arguments;
    let mut through_loader = Vec::new();
    let argv = if is_loader(base_name(&program)) {
        // `ld.so --library-path … ./app`: ld.so has removed its own arguments from `argv`.
        arguments = command_line();
        through_loader.extend(arguments.split_inclusive(|b| *b == 0).map(|a| a.as_ptr().cast()));
        through_loader.push(std::ptr::null());
        through_loader.as_ptr()
    } else {
        argv
    };
    let path = executed_path(program);
    // SAFETY: all three are what execve asks for: a C string and two arrays of C strings that
    // end with a null pointer, alive until it returns.
    let error = unsafe {
        libc::execve(path.as_ptr(), argv, envp.as_ptr());
        *libc::__errno_location()
    };
    let number = error.to_string();
    let parts: [&[u8]; 3] =
        [b"was not checked: executing it again failed with error ", number.as_bytes(), b"."];
    notice::write(run_dir, &parts);
}

/// The path to execute: the one it was started by if that still leads there, so that the process
/// keeps its name in `ps`; else the file itself.
fn executed_path(program: Vec<u8>) -> CString {
    // SAFETY: getauxval has no preconditions; AT_EXECFN is 0 or the address of a C string.
    let started = unsafe {
        let address = libc::getauxval(libc::AT_EXECFN) as *const c_char;
        if address.is_null() { c"" } else { CStr::from_ptr(address) }
    };
    if same_file(started, c"/proc/self/exe") {
        return started.to_owned();
    }
    match CString::new(program) {
        Ok(path) if same_file(&path, c"/proc/self/exe") => path,
        _ => c"/proc/self/exe".to_owned(),
    }
}

fn same_file(one: &CStr, other: &CStr) -> bool {
    let identity = |path: &CStr| {
        let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
        // SAFETY: `path` is a C string and `status` is writable; it is read only after success.
        unsafe {
            (libc::stat(path.as_ptr(), status.as_mut_ptr()) == 0).then(|| {
                let status = status.assume_init();
                (status.st_dev, status.st_ino)
            })
        }
    };
    identity(one).is_some_and(|id| identity(other) == Some(id))
}

fn is_loader(file: &[u8]) -> bool {
    file.starts_with(b"ld-linux") || file.starts_with(b"ld-2.") || file == b"ld.so"
}

/// `/proc/self/cmdline`: every argument with its zero byte.
fn command_line() -> Vec<u8> {
    std::fs::read("/proc/self/cmdline").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_come_right_after_the_injector() {
        let both = [b"/l/libcommsan_mpich.so".to_vec(), b"/l/simgpu/libcudart.so.13".to_vec()];
        let before = b"/l/libcommsan_inject.so:libuser.so /x/other.so";
        let expected = b"/l/libcommsan_inject.so:/l/libcommsan_mpich.so:/l/simgpu/libcudart.so.13:\
                         libuser.so:/x/other.so";
        assert_eq!(with_runtimes(before, &both), expected);
        assert_eq!(with_runtimes(b"", &both[..1]), b"/l/libcommsan_mpich.so");
        assert_eq!(with_runtimes(b"a.so", &both[..1]), b"/l/libcommsan_mpich.so:a.so");
    }
}
