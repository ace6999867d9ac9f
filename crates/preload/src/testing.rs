//! Names jobs after the tests that start them.
//!
//! CTest tells a test's processes nothing of the test. But its log has the command and the
//! directory of each test, once that has ended; so what CTest has started hands both on in its
//! environment.

use crate::environment;
use std::ffi::{CStr, CString};

/// What the job is called, if `docs/run-directory.md` is asked.
const JOB: &CStr = c"COMMSAN_JOB";

/// Longer ones are not handed on: environments are limited.
const MAX_LENGTH: usize = 4096;

/// Names the job that this process will start, if CTest has started the process.
pub fn name_job() {
    // SAFETY: getppid has no preconditions.
    let parent = unsafe { libc::getppid() };
    if !is_ctest(parent) {
        return;
    }
    if environment::get(JOB).is_some_and(|name| is_kept(name.to_bytes(), parent)) {
        return;
    }
    if let Some(name) = described(parent).and_then(|name| CString::new(name).ok()) {
        environment::set(JOB, &name);
    }
}

/// Whether a name stays: the user's own, and that of the same CTest, whose process has executed
/// another program since. That of a test whose command is another CTest does not.
fn is_kept(name: &[u8], ctest: libc::pid_t) -> bool {
    let of_ctest = format!("{ctest} ");
    !name.contains(&b'\n') || name.starts_with(of_ctest.as_bytes())
}

/// Whether a process is CTest.
fn is_ctest(process: libc::pid_t) -> bool {
    let mut path = [0; 32];
    let mut content = [0; 16];
    // SAFETY: the buffers are as long as stated; a negative descriptor only makes the calls fail.
    let length = unsafe {
        libc::snprintf(path.as_mut_ptr(), path.len(), c"/proc/%d/comm".as_ptr(), process);
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let length = libc::read(file, content.as_mut_ptr().cast(), content.len());
        libc::close(file);
        length
    };
    let length = usize::try_from(length).unwrap_or(0);
    matches!(content.get(..length), Some(b"ctest\n" | b"ctest3\n"))
}

/// CTest's number and where it runs, this process's command as CTest's log has it, and where this
/// process runs.
fn described(ctest: libc::pid_t) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    let place = std::fs::read_link(format!("/proc/{ctest}/cwd")).ok()?;
    let own = std::fs::read_link("/proc/self/cwd").ok()?;
    let command = std::fs::read("/proc/self/cmdline").ok()?;
    let command = command.strip_suffix(b"\0")?;
    let quoted: Vec<_> =
        command.split(|byte| *byte == 0).map(|word| [b"\"", word, b"\""].concat()).collect();
    let quoted = quoted.join(&b' ');
    let place = [format!("{ctest} ").as_bytes(), place.as_os_str().as_bytes()].concat();
    let name = [&place[..], &quoted, own.as_os_str().as_bytes()].join(&b'\n');
    (name.len() <= MAX_LENGTH).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_users_and_of_the_same_ctest_are_kept() {
        assert!(is_kept(b"halo", 12));
        assert!(is_kept(b"12 /b\n\"sh\" \"x\"\n/b", 12));
        assert!(!is_kept(b"12 /b\n\"ctest\"\n/b", 123));
        assert!(!is_ctest(std::process::id().cast_signed()));
        let own = described(std::process::id().cast_signed()).unwrap();
        let parts: Vec<_> = own.split(|byte| *byte == b'\n').collect();
        assert!(parts.len() == 3 && parts[1].starts_with(b"\"") && parts[0].ends_with(parts[2]));
    }
}
