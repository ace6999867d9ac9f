//! What the threads of this process do, for a roll call: where they are, and whether they compute,
//! sleep, or wait for a lock, a file or a child.
//!
//! **No thread is disturbed.** A thread that is blocked in a system call is only looked at: the
//! kernel shows the call, and where the stack is. To one that executes code, a signal goes, but one
//! of a timer of the thread's own processor time, which the kernel only raises while the thread
//! executes: no system call is interrupted by it. The signal is SIGURG, which programs ignore if
//! they have no handler for it; if they have one, or block it, such a thread has no stack here.

use crate::foreign_stack::{Memory, Registers, return_addresses};
use crate::machine;
use commsan_findings::{Doing, SystemCall};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::time::{Duration, Instant};

/// Threads that are looked at, at most, and those of them that execute code.
const MAX_THREADS: usize = 64;
const MAX_RUNNING: usize = 16;
/// Bytes of a running thread's stack that are copied while it stands still.
const COPY: usize = 32 << 10;
/// For how long a thread may be without a processor before it is left without a stack: where there
/// are many more threads than processors, some come late.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(2);
/// Time after which it is looked whether threads have been blocked since.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Name of threads of commsan's own.
const OWN: &str = "commsan";

/// A thread of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The kernel's number; that of the first thread is the process's.
    pub id: i32,
    /// What it does.
    pub doing: Doing,
    /// The file that it reads, writes or locks.
    pub file: Option<String>,
    /// Return addresses, innermost first; empty if they are not known.
    pub stack: Vec<usize>,
}

/// Looks at all threads of this process but the calling one and others of commsan's, the first
/// thread first. Stacks have at most `depth` frames.
pub fn look(depth: usize) -> Vec<Task> {
    let Ok(memory) = File::open("/proc/self/mem") else { return Vec::new() };
    let mut tasks: Vec<Task> =
        ids().take(MAX_THREADS).filter_map(|id| blocked_or_running(id, &memory, depth)).collect();
    let running: Vec<&mut Task> =
        tasks.iter_mut().filter(|task| task.doing == Doing::Computes).take(MAX_RUNNING).collect();
    if !running.is_empty() {
        sample(running, &memory, depth);
    }
    tasks
}

/// Threads of this process, the first one first.
fn ids() -> impl Iterator<Item = i32> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let mut ids: Vec<i32> =
        tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    ids.into_iter().filter(|id| of(*id, "comm").is_some_and(|name| name.trim() != OWN))
}

/// What the kernel shows of a thread.
fn of(id: i32, what: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/self/task/{id}/{what}")).ok()
}

fn blocked_or_running(id: i32, memory: &File, depth: usize) -> Option<Task> {
    let stat = of(id, "stat")?;
    let state = stat.rsplit_once(") ")?.1.chars().next()?;
    let shown = of(id, "syscall").unwrap_or_default();
    let mut task = Task { id, doing: Doing::of_state(state), file: None, stack: Vec::new() };
    let Some(call) = SystemCall::parse(&shown) else {
        // The kernel may not show calls: then it is only known that the thread is blocked.
        return Some(task);
    };
    let (doing, file) = call.meaning();
    if state == 'S' || state == 'R' {
        task.doing = doing;
    }
    task.file = file.and_then(named);
    let registers = Registers::blocked(call.pc, call.sp);
    let stack = return_addresses(registers, false, &Memory::new(memory, (0, &[])), depth);
    if of(id, "syscall").as_ref() == Some(&shown) {
        task.stack = stack;
    }
    Some(task)
}

/// The file of a number.
fn named(file: u64) -> Option<String> {
    let path = fs::read_link(format!("/proc/self/fd/{file}")).ok()?;
    Some(path.to_string_lossy().into_owned())
}

/// What a running thread leaves in its signal handler.
struct Slot {
    state: AtomicU32,
    sample: UnsafeCell<Sample>,
}

struct Sample {
    pc: u64,
    sp: u64,
    registers: [u64; 16],
    copied: usize,
    stack: [u8; COPY],
}

// SAFETY: who moves the state from ARMED on has the sample for itself until the next state.
unsafe impl Sync for Slot {}

/// States of a slot: free, waiting for its thread, being filled, filled.
const FREE: u32 = 0;
const ARMED: u32 = 1;
const FILLING: u32 = 2;
const FILLED: u32 = 3;

static SLOTS: [Slot; MAX_RUNNING] = [const {
    let stack = [0; COPY];
    let sample = Sample { pc: 0, sp: 0, registers: [0; 16], copied: 0, stack };
    Slot { state: AtomicU32::new(FREE), sample: UnsafeCell::new(sample) }
}; MAX_RUNNING];

/// The memory of this process, as a file, while threads are sampled.
static MEMORY: AtomicI32 = AtomicI32::new(-1);

/// The signal: without a handler it is ignored.
const SIGNAL: c_int = libc::SIGURG;

/// Gives running threads their stacks.
fn sample(tasks: Vec<&mut Task>, memory: &File, depth: usize) {
    let Some(former) = take_signal() else { return };
    MEMORY.store(memory.as_raw_fd(), Release);
    let timers = tasks.iter().zip(&SLOTS).zip(0..).map(|((task, slot), number)| {
        // Left over from a thread that has not answered in time.
        let is_free = slot.state.compare_exchange(FREE, ARMED, AcqRel, Relaxed).is_ok();
        (is_free && !blocks_signal(task.id)).then(|| Timer::begin(task.id, number)).flatten()
    });
    let timers: Vec<Option<Timer>> = timers.collect();
    let begin = Instant::now();
    let is_open = |slot: &Slot| matches!(slot.state.load(Acquire), ARMED | FILLING);
    // What has been blocked since does not come soon.
    let runs = |task: &Task| {
        begin.elapsed() < LOOK_AGAIN
            || of(task.id, "syscall").is_some_and(|shown| SystemCall::parse(&shown).is_none())
    };
    let waits = || {
        let mut all = tasks.iter().zip(&timers).zip(&SLOTS);
        all.any(|((task, timer), slot)| timer.is_some() && is_open(slot) && runs(task))
    };
    while waits() && begin.elapsed() < SAMPLE_TIMEOUT {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(timers);
    for (task, slot) in tasks.into_iter().zip(&SLOTS) {
        // A thread that comes too late finds nothing to fill.
        let _ = slot.state.compare_exchange(ARMED, FREE, AcqRel, Relaxed);
        while slot.state.load(Acquire) == FILLING {
            std::thread::sleep(Duration::from_millis(1));
        }
        if slot.state.load(Acquire) == FILLED {
            // SAFETY: filled, and of this thread alone until it is free.
            let sample = unsafe { &*slot.sample.get() };
            let registers = Registers::interrupted(sample.pc, sample.sp, &sample.registers);
            let copied = (sample.sp, &sample.stack[..sample.copied]);
            task.stack = return_addresses(registers, true, &Memory::new(memory, copied), depth);
            slot.state.store(FREE, Release);
        }
    }
    MEMORY.store(-1, Release);
    give_signal_back(&former);
}

/// Whether a thread blocks the signal: it would stay pending.
fn blocks_signal(id: i32) -> bool {
    let status = of(id, "status").unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    blocked.is_none_or(|mask| mask >> (SIGNAL - 1) & 1 == 1)
}

/// Handles the signal from now on, unless the program does; returns what was done about it.
fn take_signal() -> Option<libc::sigaction> {
    // SAFETY: structures for which all-zero is valid, and a handler that is async-signal-safe.
    unsafe {
        let mut former: libc::sigaction = std::mem::zeroed();
        libc::sigaction(SIGNAL, std::ptr::null(), &raw mut former);
        if former.sa_sigaction != libc::SIG_DFL && former.sa_sigaction != libc::SIG_IGN {
            return None;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        (libc::sigaction(SIGNAL, &raw const action, std::ptr::null_mut()) == 0).then_some(former)
    }
}

/// Undoes [`take_signal`], unless the program has its own handler now.
fn give_signal_back(former: &libc::sigaction) {
    // SAFETY: what was there before.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(SIGNAL, std::ptr::null(), &raw mut now);
        if now.sa_sigaction == handler() {
            libc::sigaction(SIGNAL, former, std::ptr::null_mut());
        }
    }
}

fn handler() -> usize {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = leave_sample;
    handler as usize
}

/// Leaves what is known of the thread that the signal has interrupted.
extern "C" fn leave_sample(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes both; the slot's sample is this thread's while it
    // fills it, and the system call writes no more than there is room for.
    unsafe {
        let number = (*info).si_value().sival_ptr as usize;
        let Some(slot) = SLOTS.get(number).filter(|_| (*info).si_code == libc::SI_TIMER) else {
            return;
        };
        if slot.state.compare_exchange(ARMED, FILLING, AcqRel, Relaxed).is_err() {
            return;
        }
        let error = *libc::__errno_location();
        let sample = &mut *slot.sample.get();
        sample.pc = machine::instruction_pointer(context) as u64;
        sample.sp = machine::stack_pointer(context) as u64;
        sample.registers = machine::registers(context);
        let (memory, to) = (MEMORY.load(Relaxed), sample.stack.as_mut_ptr());
        let copied = libc::syscall(libc::SYS_pread64, memory, to, COPY, sample.sp);
        sample.copied = usize::try_from(copied).unwrap_or(0);
        *libc::__errno_location() = error;
        slot.state.store(FILLED, Release);
    }
}

/// A timer of a thread's processor time, which expires once, as soon as it executes.
struct Timer(c_int);

impl Timer {
    fn begin(id: i32, slot: usize) -> Option<Timer> {
        // As the kernel numbers the clocks of threads (include/linux/posix-timers_types.h).
        const PER_THREAD: i32 = 4;
        const SCHEDULED: i32 = 2;
        let clock = (!id) << 3 | PER_THREAD | SCHEDULED;
        // SAFETY: structures for which all-zero is valid, filled as timer_create(2) says.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = SIGNAL;
            event.sigev_value.sival_ptr = slot as *mut c_void;
            event.sigev_notify_thread_id = id;
            let mut timer: c_int = 0;
            // Older C libraries have the functions of these names in a library of their own.
            if libc::syscall(libc::SYS_timer_create, clock, &raw mut event, &raw mut timer) != 0 {
                return None;
            }
            let timer = Timer(timer);
            let mut soon: libc::itimerspec = std::mem::zeroed();
            soon.it_value.tv_nsec = 1;
            let nothing = std::ptr::null_mut::<libc::itimerspec>();
            let is_set =
                libc::syscall(libc::SYS_timer_settime, timer.0, 0, &raw const soon, nothing);
            (is_set == 0).then_some(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: created, and deleted once.
        unsafe { libc::syscall(libc::SYS_timer_delete, self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    /// Tests that sample threads share the signal.
    static ALONE: Mutex<()> = Mutex::new(());

    fn own_id() -> i32 {
        // SAFETY: takes nothing.
        unsafe { libc::syscall(libc::SYS_gettid) as i32 }
    }

    /// What the thread that runs `f` does once `is_so`, seen from this one.
    fn seen(f: impl FnOnce() + Send, is_so: impl Fn(&Task) -> bool, end: impl FnOnce()) -> Task {
        let id = AtomicI32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                id.store(own_id(), Release);
                f();
            });
            let begin = Instant::now();
            let found = loop {
                assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", look(16));
                let mut tasks = look(16).into_iter();
                let Some(task) = tasks.find(|task| task.id == id.load(Acquire)) else { continue };
                if is_so(&task) {
                    break task;
                }
            };
            end();
            found
        })
    }

    /// Whether a function is among the callers.
    fn is_in(task: &Task, function: usize, size: usize) -> bool {
        task.stack.iter().any(|pc| (function..function + size).contains(pc))
    }

    #[inline(never)]
    fn sleeps(until: &AtomicBool) {
        while !until.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    #[inline(never)]
    fn computes(until: &AtomicBool) -> u64 {
        let mut count = 0_u64;
        while !until.load(Relaxed) {
            count = std::hint::black_box(count.wrapping_add(1));
        }
        count
    }

    #[test]
    fn what_threads_do_is_told_apart() {
        let _alone = ALONE.lock();
        let stop = AtomicBool::new(false);
        let end = || stop.store(true, Relaxed);
        let found = seen(|| sleeps(&stop), |task| task.doing == Doing::Sleeps, end);
        assert!(!found.stack.is_empty(), "{found:x?}");
        if cfg!(target_arch = "x86_64") {
            assert!(is_in(&found, sleeps as *const () as usize, 200), "{found:x?}");
        }

        let stop = AtomicBool::new(false);
        let end = || stop.store(true, Relaxed);
        let work = || _ = std::hint::black_box(computes(&stop));
        let is_so = |task: &Task| {
            task.doing == Doing::Computes && is_in(task, computes as *const () as usize, 100)
        };
        seen(work, |task| cfg!(not(target_arch = "x86_64")) || is_so(task), end);

        let mutex = Mutex::new(());
        let held = mutex.lock().unwrap();
        let is_so = |task: &Task| task.doing == Doing::Locks;
        seen(|| drop(mutex.lock()), is_so, || drop(held));

        let (mut reader, writer) = std::io::pipe().unwrap();
        let is_so = |task: &Task| {
            task.doing == Doing::Reads && task.file.as_ref().is_some_and(|f| f.starts_with("pipe:"))
        };
        seen(|| _ = reader.read(&mut [0]), is_so, || drop(writer));
    }

    #[test]
    fn the_programs_own_handler_stays() {
        extern "C" fn own(_: c_int) {}
        let _alone = ALONE.lock();
        let action = |handler: usize| {
            // SAFETY: a handler that does nothing.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler;
                libc::sigaction(SIGNAL, &raw const action, std::ptr::null_mut());
            }
        };
        let now = || {
            // SAFETY: only asks.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(SIGNAL, std::ptr::null(), &raw mut action);
                action.sa_sigaction
            }
        };
        let own = own as *const () as usize;
        action(own);
        assert!(take_signal().is_none());
        assert_eq!(now(), own);
        action(libc::SIG_DFL);
        let former = take_signal().unwrap();
        assert_eq!(now(), handler());
        give_signal_back(&former);
        assert_eq!(now(), libc::SIG_DFL);
    }
}
