//! System calls that threads are blocked in, as `/proc/PID/syscall` shows them: what they mean for
//! what a thread does.

use crate::Doing;
use std::ffi::c_long;

/// A system call that a thread is blocked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// Negative if it is blocked without a call.
    pub number: i64,
    arguments: [u64; 6],
    /// The stack pointer.
    pub sp: u64,
    /// The instruction behind the call.
    pub pc: u64,
}

impl SystemCall {
    /// What `/proc/PID/syscall` says; `None` for a thread that runs.
    pub fn parse(shown: &str) -> Option<SystemCall> {
        let mut words = shown.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let values: Vec<u64> = words
            .map(|word| u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok())
            .collect::<Option<_>>()?;
        let (arguments, [sp, pc]) = values.split_last_chunk()?;
        let mut all = [0; 6];
        all.iter_mut().zip(arguments).for_each(|(to, from)| *to = *from);
        Some(SystemCall { number, arguments: all, sp: *sp, pc: *pc })
    }

    /// What the thread does, and with which file, by the number that the process knows it by.
    pub fn meaning(&self) -> (Doing, Option<u64>) {
        let number = c_long::try_from(self.number).unwrap_or(-1);
        let file = Some(self.arguments[0]);
        const LOCKS: [u64; 2] = [libc::F_SETLKW as u64, libc::F_OFD_SETLKW as u64];
        match number {
            libc::SYS_nanosleep | libc::SYS_clock_nanosleep => (Doing::Sleeps, None),
            libc::SYS_futex | SYS_FUTEX_WAITV => (Doing::Locks, None),
            libc::SYS_read
            | libc::SYS_readv
            | libc::SYS_pread64
            | libc::SYS_preadv
            | libc::SYS_preadv2
            | libc::SYS_recvfrom
            | libc::SYS_recvmsg
            | libc::SYS_recvmmsg
            | libc::SYS_accept
            | libc::SYS_accept4 => (Doing::Reads, file),
            libc::SYS_write
            | libc::SYS_writev
            | libc::SYS_pwrite64
            | libc::SYS_pwritev
            | libc::SYS_pwritev2
            | libc::SYS_sendto
            | libc::SYS_sendmsg
            | libc::SYS_sendmmsg
            | libc::SYS_connect
            | libc::SYS_fsync
            | libc::SYS_fdatasync => (Doing::Writes, file),
            libc::SYS_openat | libc::SYS_openat2 => (Doing::Opens, None),
            libc::SYS_flock => (Doing::LocksFile, file),
            libc::SYS_fcntl if LOCKS.contains(&self.arguments[1]) => (Doing::LocksFile, file),
            libc::SYS_ppoll | libc::SYS_pselect6 | libc::SYS_epoll_pwait | SYS_EPOLL_PWAIT2 => {
                (Doing::Polls, None)
            }
            libc::SYS_wait4 | libc::SYS_waitid => (Doing::WaitsForChild, None),
            libc::SYS_rt_sigsuspend | libc::SYS_rt_sigtimedwait => (Doing::WaitsForSignal, None),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open | libc::SYS_creat => (Doing::Opens, None),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll | libc::SYS_select | libc::SYS_epoll_wait => (Doing::Polls, None),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_pause => (Doing::WaitsForSignal, None),
            // Preempted, or a page of it is being read.
            -1 => (Doing::Computes, None),
            _ => (Doing::Calls, None),
        }
    }

    /// Whether the kernel makes the call again, unnoticed, if it has interrupted it without a
    /// signal: to stop the thread for a moment (signal(7), "Interruption of system calls"). `file`
    /// is what the call is about, as `/proc/PID/fd` names it.
    pub fn restarts(&self, file: Option<&str>) -> bool {
        let number = c_long::try_from(self.number).unwrap_or(-1);
        // Calls on sockets fail if there is a time limit for them, and file systems of user space
        // decide themselves.
        let is_simple = |start: &str| file.is_some_and(|file| file.starts_with(start));
        match number {
            libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_futex
            | libc::SYS_ppoll
            | libc::SYS_pselect6
            | libc::SYS_wait4
            | libc::SYS_waitid
            | libc::SYS_rt_sigsuspend
            | libc::SYS_restart_syscall
            | libc::SYS_flock
            | libc::SYS_openat
            | libc::SYS_sched_yield
            | -1 => true,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll | libc::SYS_select | libc::SYS_pause | libc::SYS_open => true,
            libc::SYS_read | libc::SYS_readv | libc::SYS_write | libc::SYS_writev => {
                ["pipe:", "/dev/pts/", "/dev/tty", "anon_inode:[event"].into_iter().any(is_simple)
            }
            _ => false,
        }
    }
}

/// Numbers of calls that are the same on all processors.
const SYS_EPOLL_PWAIT2: c_long = 441;
const SYS_FUTEX_WAITV: c_long = 449;

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: c_long) -> SystemCall {
        SystemCall { number, arguments: [3; 6], sp: 0, pc: 0 }
    }

    #[test]
    fn calls_that_fail_when_they_are_interrupted_are_known() {
        assert!(call(libc::SYS_futex).restarts(None) && call(libc::SYS_wait4).restarts(None));
        assert!(call(libc::SYS_read).restarts(Some("pipe:[7]")));
        assert!(!call(libc::SYS_read).restarts(Some("socket:[7]")));
        assert!(!call(libc::SYS_read).restarts(None));
        for number in [libc::SYS_epoll_pwait, libc::SYS_rt_sigtimedwait, libc::SYS_semtimedop] {
            assert!(!call(number).restarts(None), "{number}");
        }
    }

    #[test]
    fn calls_are_read_as_the_kernel_shows_them() {
        let shown = "0 0x3 0x7f0a 0x20000 0x1 0xffffffff 0x0 0x7ffe03efd4d8 0x7f0adbb032ad\n";
        let call = SystemCall::parse(shown).unwrap();
        assert_eq!((call.number, call.arguments[0], call.arguments[2]), (0, 3, 0x20000));
        assert_eq!((call.sp, call.pc), (0x7ffe_03ef_d4d8, 0x7f0a_dbb0_32ad));
        let blocked = SystemCall::parse("-1 0x7ffe03efd4d8 0x7f0adbb032ad").unwrap();
        assert_eq!((blocked.number, blocked.sp), (-1, 0x7ffe_03ef_d4d8));
        assert_eq!(SystemCall::parse("running\n"), None);
        assert_eq!(SystemCall::parse(""), None);
    }
}
