//! Threads of other processes, stopped for a moment to copy their registers and stacks.
//!
//! **The job goes on undisturbed.** `PTRACE_SEIZE` and `PTRACE_INTERRUPT` send no signal. A thread
//! is let go as soon as its registers and its stack are copied; what is made of them comes later.
//! One that is blocked in a system call which would fail by that (`epoll_wait`, sockets with a time
//! limit) is not stopped at all: of it the kernel shows the call and the stack pointer. All is done
//! on a thread of its own: whenever that ends, also by a signal that ends commsan, the kernel lets
//! go of all it has stopped.

use crate::memory;
use crate::unwind::Registers;
use commsan_findings::{Doing, SystemCall};
use std::fs;
use std::io::Read;
use std::time::{Duration, Instant};

/// Bytes of a stack that are copied while its thread stands still.
const COPY: u64 = 256 << 10;
/// For how long threads are waited for that get no processor.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Threads that are stopped at the same time.
const AT_ONCE: usize = 64;
/// Threads of a process that are looked at, at most.
const MAX_THREADS: usize = 64;

/// `PTRACE_EVENT_STOP` of `linux/ptrace.h`.
const EVENT_STOP: i32 = 128;
/// `NT_PRSTATUS` of `elf.h`: the general registers.
const NT_PRSTATUS: usize = 1;

/// A thread of a process.
#[derive(Debug)]
pub struct Thread {
    /// Its process, and its own number, which is the process's for the first one.
    pub process: libc::pid_t,
    /// See `process`.
    pub id: libc::pid_t,
    /// What it does.
    pub doing: Doing,
    /// The file that it reads, writes or locks.
    pub file: Option<String>,
    /// Its registers, if they are known.
    pub registers: Option<Registers>,
    /// Whether the instruction is not known to be the one behind a call.
    pub is_interrupted: bool,
    /// Its stack as it was, and where.
    pub stack: (u64, Vec<u8>),
    /// Why it could not be stopped: an error of the system.
    pub refused: Option<i32>,
    /// Whether its process knows another kind of registers: one of 32 bits.
    pub is_narrow: bool,
}

impl Thread {
    /// Looks at a thread without stopping it, and says whether it may be stopped.
    fn of(process: libc::pid_t, id: libc::pid_t, is_narrow: bool) -> Option<(Thread, bool)> {
        let stat = fs::read_to_string(format!("/proc/{process}/task/{id}/stat")).ok()?;
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        if matches!(state, 'Z' | 'X') {
            return None;
        }
        let shown = fs::read_to_string(format!("/proc/{process}/task/{id}/syscall"));
        // Programs of 32 bits have other numbers of calls.
        let call = SystemCall::parse(&shown.unwrap_or_default()).filter(|_| !is_narrow);
        let mut thread = Thread {
            process,
            id,
            doing: Doing::of_state(state),
            file: None,
            registers: None,
            is_interrupted: false,
            stack: (0, vec![]),
            refused: None,
            is_narrow,
        };
        let mut may_stop = state != 'D' && state != 't' && !is_narrow;
        if let Some(call) = call {
            let (mut doing, file) = call.meaning();
            if call.number == libc::SYS_restart_syscall {
                doing = restarted(process, call.pc).unwrap_or(doing);
            }
            if matches!(state, 'S' | 'R') {
                thread.doing = doing;
            }
            let link = file.and_then(|file| {
                let path = fs::read_link(format!("/proc/{process}/fd/{file}")).ok()?;
                Some(path.to_string_lossy().into_owned())
            });
            may_stop &= state != 'S' || call.restarts(link.as_deref());
            thread.file = link;
            thread.registers = Some(Registers::blocked(call.pc, call.sp));
        }
        Some((thread, may_stop))
    }
}

/// What a thread does whose system call was begun again, as it is after it was stopped for a
/// moment: the kernel does not show which call it was, the code before `pc` does.
#[cfg(target_arch = "x86_64")]
fn restarted(process: libc::pid_t, pc: u64) -> Option<Doing> {
    // Those that have something left to do: for so long, with so much time.
    const CALLS: [(libc::c_long, Doing); 4] = [
        (libc::SYS_nanosleep, Doing::Sleeps),
        (libc::SYS_clock_nanosleep, Doing::Sleeps),
        (libc::SYS_futex, Doing::Locks),
        (libc::SYS_poll, Doing::Polls),
    ];
    let mut code = [0; 96];
    let start = pc.checked_sub(code.len() as u64)?;
    if memory::read(process, start, &mut code) != code.len() {
        return None;
    }
    // mov $number, %eax
    let numbers = code.windows(5).rev().filter(|bytes| bytes[0] == 0xb8);
    let mut numbers =
        numbers.filter_map(|bytes| Some(u32::from_le_bytes(*bytes.last_chunk::<4>()?)));
    numbers.find_map(|number| {
        let known = CALLS.iter().find(|(call, _)| *call == libc::c_long::from(number));
        known.map(|(_, doing)| *doing)
    })
}

/// Other processors' code is not read.
#[cfg(not(target_arch = "x86_64"))]
fn restarted(_: libc::pid_t, _: u64) -> Option<Doing> {
    None
}

/// Looks at the threads of processes, the first one of each process first.
pub fn look(processes: &[libc::pid_t]) -> Vec<Thread> {
    let work = || {
        let all = processes.iter().flat_map(|process| {
            let is_narrow = is_narrow(*process);
            ids(*process).into_iter().filter_map(move |id| Thread::of(*process, id, is_narrow))
        });
        let mut all: Vec<(Thread, bool)> = all.collect();
        let mut stopped: Vec<&mut Thread> =
            all.iter_mut().filter(|(_, may_stop)| *may_stop).map(|(thread, _)| thread).collect();
        stopped.chunks_mut(AT_ONCE).for_each(stop);
        all.into_iter().map(|(thread, _)| thread).collect()
    };
    // The kernel lets go of all when this thread ends.
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_default()
}

/// Whether a process executes a program of 32 bits (`EI_CLASS` of `elf.h`).
fn is_narrow(process: libc::pid_t) -> bool {
    let mut start = [0; 5];
    let file = fs::File::open(format!("/proc/{process}/exe"));
    file.and_then(|mut file| file.read_exact(&mut start)).is_ok() && start[4] == 1
}

/// Threads of a process, the first one first.
fn ids(process: libc::pid_t) -> Vec<libc::pid_t> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut ids: Vec<libc::pid_t> =
        tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect();
    ids.sort_unstable_by_key(|id| (*id != process, *id));
    ids.truncate(MAX_THREADS);
    ids
}

/// Asks the kernel for something about a thread; `None` with the error in `errno`.
fn request(request: libc::c_uint, id: libc::pid_t, address: usize, data: usize) -> bool {
    let (address, data) = (address as *mut libc::c_void, data as *mut libc::c_void);
    // SAFETY: memory that `data` stands for is the caller's.
    unsafe { libc::ptrace(request, id, address, data) != -1 }
}

fn error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Stops threads, copies what they have, and lets them go.
fn stop(threads: &mut [&mut Thread]) {
    let mut open = Vec::new();
    for (at, thread) in threads.iter_mut().enumerate() {
        if request(libc::PTRACE_SEIZE, thread.id, 0, 0)
            && request(libc::PTRACE_INTERRUPT, thread.id, 0, 0)
        {
            open.push(at);
        } else if error() != libc::ESRCH {
            thread.refused = Some(error());
        }
    }
    let end = Instant::now() + TIMEOUT;
    while !open.is_empty() && Instant::now() < end {
        let before = open.len();
        open.retain(|at| !copied(threads[*at]));
        if open.len() == before {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Copies what a thread has if it stands still by now, and lets it go; whether it is done with.
fn copied(thread: &mut Thread) -> bool {
    let mut status = 0;
    // SAFETY: the kernel writes the status.
    let found = unsafe { libc::waitpid(thread.id, &mut status, libc::__WALL | libc::WNOHANG) };
    if found == 0 {
        return false;
    }
    if found != thread.id || !libc::WIFSTOPPED(status) {
        return true; // it has ended
    }
    // A signal may have come first: it gets it.
    let signal = if status >> 16 == EVENT_STOP { 0 } else { libc::WSTOPSIG(status) };
    let blocked = thread.registers;
    match registers(thread.id) {
        Some(registers) => {
            let end = (registers.sp / 4096 * 4096).saturating_add(COPY);
            let mut bytes = vec![0; usize::try_from(end - registers.sp).unwrap_or(0)];
            let read = memory::read(thread.process, registers.sp, &mut bytes);
            bytes.truncate(read);
            thread.stack = (registers.sp, bytes);
            // Behind a system call is behind a call for our purposes; what the kernel said when it
            // was looked for, may be over.
            let is_blocked =
                blocked.is_some_and(|known| (known.pc, known.sp) == (registers.pc, registers.sp));
            thread.is_interrupted = !is_blocked;
            if blocked.is_some() && !is_blocked && thread.doing != Doing::Stopped {
                (thread.doing, thread.file) = (Doing::Computes, None);
            }
            thread.registers = Some(registers);
        }
        None => thread.is_narrow = true,
    }
    request(libc::PTRACE_DETACH, thread.id, 0, signal as usize);
    true
}

/// The general registers of a thread that stands still, if they are those of 64 bits.
#[cfg(target_arch = "x86_64")]
fn registers(id: libc::pid_t) -> Option<Registers> {
    let mut all = [0_u64; 27]; // `user_regs_struct`
    let mut vector = libc::iovec { iov_base: all.as_mut_ptr().cast(), iov_len: size_of_val(&all) };
    let done = request(libc::PTRACE_GETREGSET, id, NT_PRSTATUS, (&raw mut vector) as usize);
    if !done || vector.iov_len != size_of_val(&all) {
        return None;
    }
    let mut registers = Registers::blocked(all[16], all[19]);
    // Where DWARF's numbers 0 to 15 are in that structure (System V ABI, figure 3.36).
    const AT: [usize; 16] = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0];
    for (register, at) in registers.others.iter_mut().zip(AT) {
        *register = Some(all[at]);
    }
    Some(registers)
}

/// The general registers of a thread that stands still, if they are those of 64 bits.
#[cfg(target_arch = "aarch64")]
fn registers(id: libc::pid_t) -> Option<Registers> {
    let mut all = [0_u64; 34]; // `user_pt_regs`
    let mut vector = libc::iovec { iov_base: all.as_mut_ptr().cast(), iov_len: size_of_val(&all) };
    let done = request(libc::PTRACE_GETREGSET, id, NT_PRSTATUS, (&raw mut vector) as usize);
    if !done || vector.iov_len != size_of_val(&all) {
        return None;
    }
    let mut registers = Registers::blocked(all[32], all[31]);
    for (register, value) in registers.others.iter_mut().zip(&all[..31]) {
        *register = Some(*value);
    }
    Some(registers)
}

/// Registers of other processors are not known.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn registers(_: libc::pid_t) -> Option<Registers> {
    None
}

/// Whether a process may be looked at: the error if not.
pub fn may_look(process: libc::pid_t) -> Result<(), i32> {
    let mut refused = None;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Seized only: nothing is stopped, and this thread's end lets go of it.
            if !request(libc::PTRACE_SEIZE, process, 0, 0) {
                refused = Some(error());
            }
        });
    });
    refused.map_or(Ok(()), Err)
}
