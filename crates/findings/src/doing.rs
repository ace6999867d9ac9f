//! What a thread does outside of MPI, as the kernel shows it.

use serde::{Deserialize, Serialize};

/// What a thread does: it executes code, or is blocked in a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It executes code, or could if it had a processor.
    Computes,
    /// It sleeps for a time: `sleep`, `nanosleep`.
    Sleeps,
    /// It waits for another thread: a mutex, a condition variable, a semaphore, the end of a
    /// thread.
    Locks,
    /// It reads from a file, pipe or socket.
    Reads,
    /// It writes to a file, pipe or socket.
    Writes,
    /// It opens a file: a FIFO that nobody has opened at the other end.
    Opens,
    /// It waits for a lock of a file.
    LocksFile,
    /// It waits until one of several files is ready: `poll`, `select`, `epoll_wait`.
    Polls,
    /// It waits for a child process.
    WaitsForChild,
    /// It waits for a signal: `pause`, `sigwait`.
    WaitsForSignal,
    /// It waits, uninterruptibly, for a disk or a file system.
    WaitsForDisk,
    /// It is stopped by a signal: Ctrl-Z, `kill -STOP`.
    Stopped,
    /// A debugger has stopped it.
    Debugged,
    /// It is in another system call.
    Calls,
}

impl Doing {
    /// What a thread does whose state has this letter in `/proc/PID/stat`, if its system call is
    /// not known.
    pub fn of_state(letter: char) -> Doing {
        match letter {
            'R' => Doing::Computes,
            'D' => Doing::WaitsForDisk,
            'T' => Doing::Stopped,
            't' => Doing::Debugged,
            _ => Doing::Calls,
        }
    }

    /// What it does, in words that follow the rank.
    pub fn words(self) -> &'static str {
        match self {
            Doing::Computes => "computes",
            Doing::Sleeps => "sleeps",
            Doing::Locks => "waits for another thread",
            Doing::Reads => "reads",
            Doing::Writes => "writes",
            Doing::Opens => "opens a file",
            Doing::LocksFile => "waits for a file's lock",
            Doing::Polls => "polls files",
            Doing::WaitsForChild => "waits for a child process",
            Doing::WaitsForSignal => "waits for a signal",
            Doing::WaitsForDisk => "waits for a disk",
            Doing::Stopped => "is stopped",
            Doing::Debugged => "is stopped by a debugger",
            Doing::Calls => "is in a system call",
        }
    }
}
