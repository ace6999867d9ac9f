//! Signals that end the program: within an MPI call, because of a freed handle, or an invalid
//! buffer, or anywhere else.
//!
//! **Soundness.** A signal is reported if it comes from this thread's own instructions, if in a
//! call none of the program's functions and handlers is among the callers, and if it is handled
//! only by libraries that are known to report it and end the process. A program that
//! might continue keeps its handler, and commsan sets none beside it, nor does it report signals
//! for which the program sets a handler later. Missed are crashes without any stack left, and those
//! after which nothing can be written.
//!
//! MPICH's layer for Fortran is no call. A store that faults there is the error code's, and its
//! argument missing, unless the call has other results that the layer stores.
//!
//! The library may have been interrupted while it had allocated or locked anything, and memory may
//! be damaged. So a child process reports what has happened, from a copy of everything; the process
//! itself only waits for it, for a limited time.

use crate::calling::{Calling, Frames, handles_signal, is_owner, walk};
use crate::datatypes;
use crate::rank::{Rank, mode, rank};
use commsan_mpi::Args;
use commsan_mpi_calls::{CALLS, Call, Extent, Role, Times};
use commsan_process::own_memory;
use commsan_process::thread::{self, Thread};
use commsan_process::{machine, modules};
use commsan_threads::{Here, Interrupted};
use std::ffi::{CStr, c_int, c_void};
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

/// Libraries whose handlers report the signal and end the process.
const REPORTING_LIBRARIES: [&str; 5] =
    ["libopen-pal.", "libmpi", "libucs.", "libgfortran.", "libasan."];

/// Where the kernel knows no better, as it says.
const SI_KERNEL: c_int = 0x80;

/// What was done about each signal until commsan came.
static FORMER: [OnceLock<libc::sigaction>; SIGNALS.len()] =
    [const { OnceLock::new() }; SIGNALS.len()];

/// How long the process waits for the child that reports its end, in steps.
const STEP: Duration = Duration::from_millis(1);
const STEPS: u32 = 2000;

/// MPI has been initialised, and its libraries have set their handlers.
pub(crate) fn begin() {
    for ((signal, _), former) in SIGNALS.iter().zip(&FORMER) {
        let Some(action) = action(*signal).filter(ends_the_process) else { continue };
        let ours = libc::sigaction {
            sa_sigaction: come as *const () as usize,
            // Signals that the former handler admits while it runs are admitted.
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

/// Whether a signal with this action ends the process.
fn ends_the_process(action: &libc::sigaction) -> bool {
    match action.sa_sigaction {
        libc::SIG_DFL => true,
        libc::SIG_IGN => false,
        handler => modules::code_at(handler).is_some_and(|(path, _)| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            REPORTING_LIBRARIES.iter().any(|library| name.starts_with(library))
        }),
    }
}

/// A signal has come.
unsafe extern "C" fn come(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the C library's own variable; the kernel's descriptions.
    unsafe {
        let errno = *libc::__errno_location();
        if is_own(&*info) {
            thread::with(|thread| report(thread, signal, &*info, context));
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

/// Restores the action that was set before commsan's, and lets the signal come again.
///
/// # Safety
///
/// Only in the handler, with its arguments.
unsafe fn go_on(signal: c_int, info: *mut libc::siginfo_t) {
    let index = SIGNALS.iter().position(|(number, _)| *number == signal);
    let Some(former) = index.and_then(|index| FORMER[index].get()) else { return };
    // SAFETY: the former action. A fault recurs by itself; a signal that was sent is sent again
    // with the same information.
    unsafe {
        libc::sigaction(signal, former, null_mut());
        if (*info).si_code <= 0 {
            let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
            libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info);
        }
    }
}

/// Reports that the process ends.
///
/// # Safety
/// What the kernel gives to handlers.
unsafe fn report(thread: &Thread, signal: c_int, info: &libc::siginfo_t, context: *mut c_void) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    let Some(rank) = rank().filter(|_| is_owner() && mode().is_active()) else { return };
    // SAFETY: by the caller.
    let (top, pc, stores) = unsafe {
        let (top, pc) = (machine::stack_pointer(context), machine::instruction_pointer(context));
        (top, pc, machine::is_store_fault(context))
    };
    let calling = Calling::of(thread, top);
    // commsan's own code is none of the program's.
    if calling.is_none() && thread.is_inside() {
        return;
    }
    // Handlers that end the process may do so by the next signal.
    if REPORTED.swap(true, Relaxed) {
        return;
    }
    // SAFETY: a child that shares nothing but what has been opened, and ends by itself.
    let child = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
    match child {
        0 => {
            alone();
            match calling {
                Some(calling) => {
                    // SAFETY: the thread is inside of the call.
                    let (args, here) = unsafe { (*calling).parts() };
                    within_call(rank, thread, (signal, info), args, here, top..calling as usize);
                }
                None => outside(rank, thread, (signal, info), (pc, stores)),
            }
            // SAFETY: nothing is left to be done in the copy.
            unsafe { libc::syscall(libc::SYS_exit_group, 0) };
        }
        child if child > 0 => wait_for(child as c_int),
        _ => {}
    }
}

fn wait_for(child: c_int) {
    for _ in 0..STEPS {
        // SAFETY: this process's own child, which no other code knows.
        if unsafe { libc::waitpid(child, null_mut(), libc::WNOHANG | libc::__WALL) } != 0 {
            return;
        }
        std::thread::sleep(STEP);
    }
    // SAFETY: this process's own child.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, null_mut(), libc::__WALL);
    }
}

/// This is the child, which reports and ends.
fn alone() {
    own_memory::in_child();
    // A second signal ends the child, which leaves no core file of its own.
    for (signal, _) in SIGNALS {
        // SAFETY: this is the child's own.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: this is the child's own.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
}

/// Reports a signal that has come within a call.
fn within_call(
    rank: &dyn Rank,
    thread: &Thread,
    (signal, info): (c_int, &libc::siginfo_t),
    args: &Args,
    here: &Here,
    stack: Range<usize>,
) {
    if handles_signal(stack.clone()) || walk(stack.end) == Frames::Programs {
        return;
    }
    let (name, address) = (name(signal), address(signal, info));
    let at = buffer_at(args.call, args.words, address.unwrap_or(0));
    let (parameter, problem) = match at {
        Some((parameter, at, size)) => {
            (parameter, format!("{name} at byte {at} of the {size} bytes at `{parameter}`"))
        }
        None => ("", at_address(name, address)),
    };
    rank.crashed(thread, &mut |tracker, out| {
        tracker.reporter.crashed(args, parameter, &problem, here, out);
    });
}

/// Reports a signal that has come at an instruction outside of calls, which may have been a store.
fn outside(
    rank: &dyn Rank,
    thread: &Thread,
    (signal, info): (c_int, &libc::siginfo_t),
    (pc, stores): (usize, bool),
) {
    let mut at = Interrupted::at(thread, pc);
    let stores_error_code = |call: &&Call| stores && at.depth() > 1 && !has_converted_results(call);
    if let Some(call) = fortran_call(pc).filter(stores_error_code) {
        at.drop_innermost();
        let address = address(signal, info).unwrap_or(0);
        return rank.crashed(thread, &mut |tracker, out| {
            tracker.reporter.missing_error_code(call, Some(address), &at, out);
        });
    }
    let problem = at_address(name(signal), address(signal, info));
    rank.crashed(thread, &mut |tracker, out| {
        tracker.reporter.crashed_outside(&problem, &at, out);
    });
}

/// The call whose Fortran function holds `pc`, in a library that does nothing around the call but
/// convert arguments and store the error code.
fn fortran_call(pc: usize) -> Option<&'static Call> {
    const LAYERS: [&str; 2] = ["libmpichfort.", "libmpifort."];
    let (path, _) = modules::code_at(pc)?;
    let file = path.file_name()?.to_str()?;
    if !LAYERS.iter().any(|layer| file.starts_with(layer)) {
        return None;
    }
    let mut symbol = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: asks about an address; the name is a C string.
    let name = unsafe {
        libc::dladdr(pc as *const c_void, symbol.as_mut_ptr());
        let name = symbol.assume_init().dli_sname;
        if name.is_null() { return None } else { CStr::from_ptr(name) }
    };
    let name = name.to_str().ok()?.trim_end_matches('_');
    let name = name.strip_prefix(['p', 'P']).unwrap_or(name);
    CALLS.iter().find(|call| call.name.eq_ignore_ascii_case(name))
}

/// Whether a layer for Fortran stores results itself, as logicals and as indices that count from 1.
fn has_converted_results(call: &Call) -> bool {
    call.params.iter().any(|param| matches!(param.role, Role::Flag | Role::Ints))
}

fn name(signal: c_int) -> &'static str {
    SIGNALS.iter().find(|(number, _)| *number == signal).map_or("", |(_, name)| name)
}

/// The address that could not be accessed; `None` if the signal has none.
fn address(signal: c_int, info: &libc::siginfo_t) -> Option<usize> {
    // For non-canonical addresses the processor does not give the address.
    let has_one =
        matches!(signal, libc::SIGSEGV | libc::SIGBUS) && (1..SI_KERNEL).contains(&info.si_code);
    // SAFETY: such signals say where.
    has_one.then(|| unsafe { info.si_addr() as usize })
}

fn at_address(name: &str, address: Option<usize>) -> String {
    match address {
        Some(0..4096) => format!("{name}, by a null pointer or one near it"),
        Some(address) => format!("{name} at address {address:#x}"),
        None => name.to_owned(),
    }
}

/// The buffer that contains an address, by the arguments alone, without the library: which byte of
/// how many.
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
