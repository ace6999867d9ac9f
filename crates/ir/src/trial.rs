//! Validation of untrusted bitcode in a child process.
//!
//! Reading what nobody vouches for: LLVM does not survive all that can be in a damaged file of
//! bitcode, so another process tries first.

use std::fmt;
use std::io::Error;

/// How the other process ended.
#[derive(Debug)]
pub enum Ending {
    /// By this signal.
    Signal(i32),
    /// With this exit code.
    Code(i32),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Signal(number) => write!(f, "signal {number}"),
            Ending::Code(code) => write!(f, "exit code {code}"),
        }
    }
}

/// Does something in a copy of this process, which must have one thread; what it prints goes
/// nowhere.
///
/// # Errors
/// How the copy ended, if not by finishing what it was to do.
pub fn survives(attempt: impl FnOnce()) -> Result<(), Ending> {
    // SAFETY: there is one thread, so the copy finds no lock held by others.
    let child = unsafe { libc::fork() };
    match child {
        // Without another process there is no trial.
        -1 => Ok(()),
        0 => {
            be_silent();
            attempt();
            // SAFETY: nothing of the parent's is to be ended or flushed by the copy.
            unsafe { libc::_exit(0) }
        }
        _ => ending(child),
    }
}

fn be_silent() {
    // SAFETY: plain system calls; the path is a C string.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        for output in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            libc::dup2(nowhere, output);
        }
        // A crash that is expected leaves no core.
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
    }
}

fn ending(child: libc::pid_t) -> Result<(), Ending> {
    let mut status = 0;
    // SAFETY: the child is ours and has not been waited for; the status is ours, too.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {
        if Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return Ok(());
        }
    }
    if libc::WIFSIGNALED(status) {
        return Err(Ending::Signal(libc::WTERMSIG(status)));
    }
    match libc::WEXITSTATUS(status) {
        0 => Ok(()),
        code => Err(Ending::Code(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_told_and_survived() {
        assert!(survives(|| ()).is_ok());
        let ended = survives(|| std::process::abort());
        assert!(matches!(ended, Err(Ending::Signal(libc::SIGABRT))));
        let ended = survives(|| std::process::exit(3));
        assert!(matches!(ended, Err(Ending::Code(3))));
    }
}
