//! The call that a thread is in, for others to find: another thread that asks where it waits, or
//! this one when the library ends the process.
//!
//! **Soundness.** A process that exits within an MPI call does so because of an error of that call,
//! unless the library has called the program back, or a signal has come, and its handler exits.
//! Then the program's code is among the callers between the exit and the call, or the return
//! address that the kernel leaves for a handler lies on the stack: nothing is reported, nor if the
//! callers are not known. Missed are errors on which a launcher acts first. For those that a
//! library answers by a signal see [`crate::crash`].
//!
//! Handlers may have interrupted anything, so until it is known that there is none, nothing is
//! allocated or locked.

use crate::rank::{mode, rank};
use crate::refused;
use crate::waiting;
use commsan_mpi::Args;
use commsan_mpi_calls::Effect;
use commsan_process::next::Next;
use commsan_process::thread::{self, Thread};
use commsan_process::transfers;
use commsan_process::unwind;
use commsan_process::{faults, modules};
use commsan_threads::Here;
use std::cell::Cell;
use std::ffi::c_int;
use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

/// The library's function with the program's arguments: called once. An indirect call costs a
/// nanosecond; what is done around it, compiled anew for each of some hundred functions, would be
/// most of the runtime.
pub(crate) type Real<'a> = &'a dyn Fn() -> c_int;

/// A call that has not returned, on the stack of the calling thread.
pub(crate) struct Calling {
    args: *const Args<'static>,
    here: *const Here<'static>,
    /// Where it is shown to threads that inspect this process, if it is.
    pub shown: Cell<Option<NonZero<usize>>>,
    /// Everything wrong with the call was reported: if the library ends the program now, nothing is
    /// added.
    pub is_reported: Cell<bool>,
}

/// The process that is this rank.
static OWNER: OnceLock<u32> = OnceLock::new();

/// The program's code.
static TEXT: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// This process is a rank.
pub(crate) fn begin() {
    let _ = OWNER.set(std::process::id());
    let _ = TEXT.set(modules::program_text());
}

/// Everything wrong with the call that the thread is in was reported: if the library ends the
/// program because of it, nothing is added.
pub(crate) fn reported(thread: &Thread) {
    let calling = thread.calling.get() as *const Calling;
    // SAFETY: on the stack of the thread, which is in the call.
    if let Some(calling) = unsafe { calling.as_ref() } {
        calling.is_reported.set(true);
    }
}

/// Whether everything wrong with the call that the thread is in was reported.
pub(crate) fn is_reported(thread: &Thread) -> bool {
    let calling = thread.calling.get() as *const Calling;
    // SAFETY: on the stack of the thread; the call has not returned to the program.
    unsafe { calling.as_ref() }.is_none_or(|calling| calling.is_reported.get())
}

/// Whether some process is a rank.
pub(crate) fn has_owner() -> bool {
    OWNER.get().is_some()
}

/// Whether this process is the rank, not one that was forked from it.
pub(crate) fn is_owner() -> bool {
    OWNER.get() == Some(&std::process::id())
}

impl Calling {
    #[inline]
    pub(crate) fn new(args: &Args, here: &Here) -> Calling {
        let (args, here) = (std::ptr::from_ref(args).cast(), std::ptr::from_ref(here).cast());
        Calling { args, here, shown: Cell::new(None), is_reported: Cell::new(false) }
    }

    /// The call that a thread is in whose stack is in use down to `top`, unless everything wrong
    /// with it was reported.
    pub(crate) fn of(thread: &Thread, top: usize) -> Option<*const Calling> {
        let (calling, stack) = (thread.calling.get(), thread.stack_bounds());
        let is_below = stack.contains(&top) && stack.contains(&calling) && top < calling;
        let calling = (thread.is_inside() && is_below).then_some(calling as *const Calling)?;
        // SAFETY: on the stack that is in use.
        (!unsafe { (*calling).is_reported.get() }).then_some(calling)
    }

    /// The arguments of the call, and where it was made.
    ///
    /// # Safety
    ///
    /// The call has not returned.
    pub(crate) unsafe fn parts<'c>(&self) -> (&'c Args<'c>, &'c Here<'c>) {
        // SAFETY: by the caller; both lie below the call on its stack.
        unsafe { (&*self.args.cast(), &*self.here.cast()) }
    }
}

/// The process exits, with this status if it is known: reports the error, if it is the library that
/// ends it. Returns whether it is.
pub fn ended(status: Option<c_int>) -> bool {
    let Some(rank) = rank().filter(|_| is_owner() && mode().is_active()) else { return false };
    thread::with(|thread| {
        let marker = 0u8;
        let top = &raw const marker as usize;
        let Some(calling) = Calling::of(thread, top) else { return false };
        // SAFETY: the thread is inside of the call that has left this here.
        let (args, here) = unsafe { (*calling).parts() };
        let calling = calling as usize;
        let ends = args.call.ends() || args.call.effect == Effect::Abort;
        // Collectives that do not match were already reported.
        if ends
            || waiting::has_mismatch()
            || handles_signal(top..calling)
            || walk(calling) != Frames::Librarys
        {
            return false;
        }
        refused::ends(rank, args, here, status);
        true
    })
}

/// Whether a handler of a signal may be running, as the words of this stack say.
pub(crate) fn handles_signal(stack: Range<usize>) -> bool {
    let restorers: [usize; SIGNALS] = std::array::from_fn(|index| restorer(index as c_int + 1));
    let mut words = stack.step_by(size_of::<usize>()).map(|address| {
        // SAFETY: in use, and this thread's own.
        unsafe { *((address & !(size_of::<usize>() - 1)) as *const usize) }
    });
    words.any(|word| word != 0 && restorers.contains(&word))
}

/// The owners of the functions among the callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Only the library.
    Librarys,
    /// The program, too.
    Programs,
    /// None of the program's, as far as they are known.
    Unknown,
}

/// Looks at the callers up to the frame at `end` of this thread's stack.
pub(crate) fn walk(end: usize) -> Frames {
    let (stack, mut frames) = (thread::with(Thread::stack_bounds), Frames::Unknown);
    unwind::walk(|frame| {
        // A handler's may be on a stack of their own.
        if frame.cfa > end && stack.contains(&frame.cfa) {
            frames = Frames::Librarys;
            return ControlFlow::Break(());
        }
        if TEXT.get().is_none_or(|text| text.iter().any(|code| code.contains(&frame.pc))) {
            frames = Frames::Programs;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    frames
}

const SIGNALS: usize = 64;

/// The return address of handlers of a signal, which lies on the stack above them; 0 if it has
/// none.
fn restorer(signal: c_int) -> usize {
    /// As the kernel has it.
    #[repr(C)]
    #[derive(Default)]
    struct Action {
        handler: usize,
        flags: u64,
        restorer: usize,
        mask: u64,
    }
    let (mut action, nothing) = (Action::default(), std::ptr::null::<Action>());
    // SAFETY: asks only.
    unsafe {
        let size = size_of_val(&action.mask);
        libc::syscall(libc::SYS_rt_sigaction, signal, nothing, &raw mut action, size);
    }
    if action.handler == libc::SIG_DFL { 0 } else { action.restorer }
}

/// Interposes `_exit`, by which Open MPI ends the process.
///
/// # Safety
///
/// As of `_exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: c_int) -> ! {
    static NEXT: Next = Next::new(c"_exit");
    if thread::with(|thread| thread.is_inside())
        && ended(Some(status))
        && let Some(rank) = rank()
    {
        rank.exited();
    }
    // SAFETY: the C library's own.
    let next: unsafe extern "C" fn(c_int) -> ! = unsafe { std::mem::transmute(NEXT.required()) };
    // SAFETY: the caller's argument.
    unsafe { next(status) }
}

/// Looks at what is written: MPICH so asks its launcher to end the job, which may happen before the
/// library comes to `exit`.
#[cfg(any(feature = "mpich", feature = "mpiabi"))]
unsafe fn asks_to_abort(data: *const std::ffi::c_void, size: usize) {
    const ABORT: &[u8] = b"cmd=abort";
    if size >= ABORT.len()
        && thread::with(|thread| thread.is_inside())
        // SAFETY: as long as the caller says.
        && unsafe { std::slice::from_raw_parts(data.cast::<u8>(), ABORT.len()) } == ABORT
        // SAFETY: as above.
        && ended(exit_code(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }))
        && let Some(rank) = rank()
    {
        rank.exited();
    }
}

/// The exit code that MPICH asks its launcher for: its code of the error.
#[cfg(any(feature = "mpich", feature = "mpiabi"))]
fn exit_code(request: &[u8]) -> Option<c_int> {
    let request = std::str::from_utf8(request).ok()?;
    let (_, code) = request.split_once("exitcode=")?;
    let end = code.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(code.len());
    code[..end].parse().ok()
}

/// What must be there before the program runs.
pub fn prepare() {
    transfers::prepare();
    faults::prepare();
    #[cfg(any(feature = "mpich", feature = "mpiabi"))]
    transfers::read_along(asks_to_abort);
}
