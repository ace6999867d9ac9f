//! Notices: why a process was not checked, in words, for the report.

use crate::environment;
use std::ffi::CStr;

/// Appends `PROGRAM text…` to `notice-PID.txt` of the run directory.
///
/// The text must not name the process, so that equal notices of many ranks can be merged.
pub fn write(run_dir: &CStr, text: &[&[u8]]) {
    let mut message = Vec::with_capacity(512);
    message.extend_from_slice(&executable());
    message.push(b' ');
    for part in text {
        message.extend_from_slice(part);
    }
    message.push(b'\n');

    let mut path = run_dir.to_bytes().to_vec();
    // SAFETY: getpid has no preconditions.
    let process = unsafe { libc::getpid() };
    path.extend_from_slice(format!("/notice-{process}.txt\0").as_bytes());
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_CLOEXEC;
    // SAFETY: `path` ends with a zero byte; `message` is readable for its length; a negative
    // descriptor only makes the calls fail.
    unsafe {
        let file = libc::open(path.as_ptr().cast(), flags, 0o644);
        libc::write(file, message.as_ptr().cast(), message.len());
        if file >= 0 {
            libc::close(file);
        }
    }
}

/// Path of this process's executable file.
pub fn executable() -> Vec<u8> {
    let mut buffer = vec![0; libc::PATH_MAX as usize];
    // SAFETY: the buffer is writable for the length given.
    let length = unsafe {
        libc::readlink(c"/proc/self/exe".as_ptr(), buffer.as_mut_ptr().cast(), buffer.len())
    };
    match usize::try_from(length) {
        Ok(length) if length < buffer.len() => buffer.truncate(length),
        _ => {
            let name = environment::get(c"_").map_or(&b"a program"[..], CStr::to_bytes);
            buffer = name.to_vec();
        }
    }
    buffer
}
