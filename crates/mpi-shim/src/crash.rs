//! Signals that end the program within an MPI call: over a handle that was freed, a buffer that is not there.
//!
//! **Soundness.** A signal is told if it comes from this thread's own instructions while they are in a call, if none of
//! the program's functions and handlers is among the callers, and if nobody handles it but libraries of which it is
//! known that they tell it and end the process: whoever may go on keeps his handler, and none of commsan's
//! is set beside it, nor are signals told that the program handles from later on. Missed are crashes for which
//! there is no stack left, and those after which nothing can be written.
//!
//! The library may have been interrupted while it had allocated or locked anything, and memory may be damaged. So a child
//! tells what has happened, with a copy of everything; the process itself only waits for it, not for long.

use crate::calling::{Calling, Frames, handles_signal, is_owner, walk};
use crate::datatypes;
use crate::rank::{Rank, mode, rank};
use commsan_mpi::Args;
use commsan_mpi_calls::{Call, Extent, Times};
use commsan_process::modules;
use commsan_process::thread::{self, Thread};
use commsan_threads::Here;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "segmentation fault"),
    (libc::SIGBUS, "bus error"),
    (libc::SIGFPE, "arithmetic error"),
    (libc::SIGILL, "illegal instruction"),
    (libc::SIGABRT, "abort"),
];

/// Libraries whose handlers tell the signal and end the process.
const TELLERS: [&str; 5] = ["libopen-pal.", "libmpi", "libucs.", "libgfortran.", "libasan."];

/// Where the kernel knows no better, as it says.
const SI_KERNEL: c_int = 0x80;

/// What was done about each signal until commsan came.
static FORMER: [OnceLock<libc::sigaction>; SIGNALS.len()] =
    [const { OnceLock::new() }; SIGNALS.len()];

/// How long the process waits for who tells its end, in steps.
const STEP: Duration = Duration::from_millis(1);
const STEPS: u32 = 2000;

/// MPI has been initialised, and its libraries have set their handlers.
pub(crate) fn begin() {
    for ((signal, _), former) in SIGNALS.iter().zip(&FORMER) {
        let Some(action) = action(*signal).filter(ends_the_process) else { continue };
        let ours = libc::sigaction {
            sa_sigaction: come as *const () as usize,
            // Signals that the former handler lets come meanwhile come meanwhile.
            sa_flags: action.sa_flags & (libc::SA_NODEFER | libc::SA_RESTART)
                | libc::SA_SIGINFO
                | libc::SA_ONSTACK,
            ..action
        };
        let _ = former.set(action);
        // SAFETY: a handler for three arguments.
        unsafe { libc::sigaction(*signal, &ours, null_mut()) };
    }
}

/// What is done about a signal.
fn action(signal: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    // SAFETY: asks only, and fills the place if it succeeds.
    unsafe {
        (libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0)
            .then(|| action.assume_init())
    }
}

/// Whether the process ends by a signal about which this is done.
fn ends_the_process(action: &libc::sigaction) -> bool {
    match action.sa_sigaction {
        libc::SIG_DFL => true,
        libc::SIG_IGN => false,
        handler => modules::code_at(handler).is_some_and(|(path, _)| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            TELLERS.iter().any(|library| name.starts_with(library))
        }),
    }
}

/// A signal has come.
unsafe extern "C" fn come(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the C library's own variable; the kernel's descriptions.
    unsafe {
        let errno = *libc::__errno_location();
        if is_own(&*info) {
            thread::with(|thread| tell(thread, signal, &*info, stack_pointer(context)));
        }
        *libc::__errno_location() = errno;
        go_on(signal, info);
    }
}

/// Whether a signal is due to what this process does: a fault, or `abort`.
fn is_own(info: &libc::siginfo_t) -> bool {
    // SAFETY: such signals say who has sent them.
    info.si_code > 0
        || info.si_code == libc::SI_TKILL && unsafe { info.si_pid() } == std::process::id() as c_int
}

/// How far the thread's stack was in use.
///
/// # Safety
/// What the kernel gives to handlers.
unsafe fn stack_pointer(context: *mut c_void) -> usize {
    // SAFETY: by the caller.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return machine.gregs[libc::REG_RSP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    return machine.sp as usize;
}

/// Lets what would have been done without commsan be done, by who would have done it: the signal comes again.
///
/// # Safety
/// In the handler only, with what it was given.
unsafe fn go_on(signal: c_int, info: *mut libc::siginfo_t) {
    let index = SIGNALS.iter().position(|(number, _)| *number == signal);
    let Some(former) = index.and_then(|index| FORMER[index].get()) else { return };
    // SAFETY: what was set before. A fault comes again by itself; what was sent is sent again, as it was.
    unsafe {
        libc::sigaction(signal, former, null_mut());
        if (*info).si_code <= 0 {
            let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
            libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info);
        }
    }
}

/// Tells that the process ends, if a call is at fault.
fn tell(thread: &Thread, signal: c_int, info: &libc::siginfo_t, top: usize) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let Some(rank) = rank().filter(|_| is_owner() && mode().is_active()) else { return };
    let Some(calling) = Calling::of(thread, top) else { return };
    // Handlers that end the process may do so by the next signal.
    if TOLD.swap(true, Relaxed) {
        return;
    }
    // SAFETY: the thread is inside of the call.
    let (args, here) = unsafe { (*calling).parts() };
    let stack = top..calling as usize;
    // SAFETY: a child that shares nothing but what has been opened, and ends by itself.
    let child = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
    match child {
        0 => {
            tell_as_child(rank, thread, signal, info, args, here, stack);
            // SAFETY: nothing is left to be done by who is a copy.
            unsafe { libc::syscall(libc::SYS_exit_group, 0) };
        }
        child if child > 0 => wait_for(child as c_int),
        _ => {}
    }
}

fn wait_for(child: c_int) {
    for _ in 0..STEPS {
        // SAFETY: this process's own child, which nobody else knows.
        if unsafe { libc::waitpid(child, null_mut(), libc::WNOHANG | libc::__WALL) } != 0 {
            return;
        }
        std::thread::sleep(STEP);
    }
    // SAFETY: as above.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, null_mut(), libc::__WALL);
    }
}

fn tell_as_child(
    rank: &dyn Rank,
    thread: &Thread,
    signal: c_int,
    info: &libc::siginfo_t,
    args: &Args,
    here: &Here,
    stack: Range<usize>,
) {
    // Another signal ends the child, which leaves no memory image of its own.
    for (signal, _) in SIGNALS {
        // SAFETY: this is the child's own.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: as above.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
    if handles_signal(stack.clone()) || walk(stack.end) == Frames::Programs {
        return;
    }
    let (parameter, problem) = problem(args, signal, info);
    rank.crashed(thread, &mut |tracker, out| {
        tracker.reporter.crashed(args, parameter, &problem, here, out);
    });
}

/// What has happened, and in which buffer, if in one.
fn problem(args: &Args, signal: c_int, info: &libc::siginfo_t) -> (&'static str, String) {
    let name = SIGNALS.iter().find(|(number, _)| *number == signal).map_or("", |(_, name)| name);
    // Of some addresses that no memory can have, the processor does not say which.
    let addressed =
        matches!(signal, libc::SIGSEGV | libc::SIGBUS) && (1..SI_KERNEL).contains(&info.si_code);
    // SAFETY: such signals say where.
    let address = if addressed { unsafe { info.si_addr() as usize } } else { 0 };
    if let Some((parameter, at, size)) = buffer_at(args.call, args.words, address) {
        let problem = format!("{name} at byte {at} of the {size} bytes at `{parameter}`");
        return (parameter, problem);
    }
    match (addressed, address) {
        (true, 0..4096) => ("", format!("{name}, by a null pointer or one near it")),
        (true, _) => ("", format!("{name} at address {address:#x}")),
        (false, _) => ("", name.to_owned()),
    }
}

/// The buffer that an address is in, by what the arguments say without the library's help: which byte of how many.
fn buffer_at(
    call: &'static Call,
    words: &[usize],
    address: usize,
) -> Option<(&'static str, usize, usize)> {
    call.accesses.iter().find_map(|rule| {
        let Extent::Blocks { count, times: Times::Once } = rule.extent else { return None };
        let (start, size) = (words[rule.buffer], datatypes::dense(words[rule.datatype])?);
        let size = words[count].checked_mul(size)?;
        let at = address.checked_sub(start).filter(|at| *at < size && start != 0)?;
        Some((&*call.params[rule.buffer].name, at, size))
    })
}
