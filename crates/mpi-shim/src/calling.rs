//! The call that a thread is in, for who finds the thread there: another thread that asks where it waits, or
//! this one when the library ends the process.
//!
//! **Soundness.** A process that exits within an MPI call does so over an error of that call, unless the library
//! has called the program back, or a signal has, and the program exits. Then a return address of the
//! program lies on the stack between the call and the exit: if any word there looks like one, nothing is
//! reported. Missed are errors that a library answers by a signal, and those of a launcher that is quicker.

use crate::rank::rank;
use commsan_mpi::{Args, Effect};
use commsan_place::Place;
use commsan_sense::modules;
use commsan_sense::next::Next;
use commsan_sense::thread;
use commsan_threads::Here;
use std::ffi::c_int;
#[cfg(feature = "mpich")]
use std::ffi::c_void;
use std::sync::OnceLock;

/// A call that has not returned, on the stack of the thread that has called.
pub(crate) struct Calling {
    args: *const Args<'static>,
    here: *const Here<'static>,
}

/// The process that is this rank.
static OWNER: OnceLock<u32> = OnceLock::new();

/// This process is a rank.
pub(crate) fn begin() {
    let _ = OWNER.set(std::process::id());
}

/// Whether this is that process, not one that was forked.
pub(crate) fn is_owner() -> bool {
    OWNER.get() == Some(&std::process::id())
}

impl Calling {
    #[inline]
    pub(crate) fn new(args: &Args, here: &Here) -> Calling {
        Calling { args: std::ptr::from_ref(args).cast(), here: std::ptr::from_ref(here).cast() }
    }

    /// The arguments of the call, and where it was made.
    ///
    /// # Safety
    /// The call has not returned.
    pub(crate) unsafe fn parts<'c>(&self) -> (&'c Args<'c>, &'c Here<'c>) {
        // SAFETY: by the caller; both lie below the call on its stack.
        unsafe { (&*self.args.cast(), &*self.here.cast()) }
    }
}

/// The process exits: tells the error, if it is the library that ends it. Returns whether it is.
pub fn ended() -> bool {
    let Some(rank) = rank().filter(|rank| is_owner() && rank.active()) else { return false };
    thread::with(|thread| {
        let (calling, marker) = (thread.calling.get(), 0u8);
        let (top, stack) = (&raw const marker as usize, thread.stack_bounds());
        let is_below = stack.contains(&top) && stack.contains(&calling) && top < calling;
        if !thread.is_inside() || !is_below {
            return false;
        }
        // SAFETY: the thread is inside of the call that has left this here.
        let (args, here) = unsafe { (*(calling as *const Calling)).parts() };
        let ends = matches!(args.call.effect, Effect::Finalize | Effect::Abort);
        if ends || calls_back(top..calling, here.pc()) {
            return false;
        }
        rank.look(thread, &mut |tracker, out| tracker.failed(args, here, out));
        true
    })
}

/// Whether the program may have been called from within the call at `pc`.
fn calls_back(stack: std::ops::Range<usize>, pc: usize) -> bool {
    let text = modules::program_text();
    let mut words = stack.step_by(size_of::<usize>()).map(|address| {
        // SAFETY: in use, and this thread's own.
        unsafe { *((address & !(size_of::<usize>() - 1)) as *const usize) }
    });
    words.any(|word| word != pc && text.iter().any(|code| code.contains(&word)))
}

/// Interposes `_exit`, by which Open MPI ends the process.
///
/// # Safety
/// As for that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: c_int) -> ! {
    static NEXT: Next = Next::new(c"_exit");
    if thread::with(|thread| thread.is_inside())
        && ended()
        && let Some(rank) = rank()
    {
        rank.exited();
    }
    // SAFETY: the C library's own.
    let next: unsafe extern "C" fn(c_int) -> ! = unsafe { std::mem::transmute(NEXT.required()) };
    // SAFETY: the caller's argument.
    unsafe { next(status) }
}

/// Interposes `write`, by which MPICH asks its launcher to end the job, which it may do before the library
/// comes to `exit`.
///
/// # Safety
/// As for that.
#[cfg(feature = "mpich")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(file: c_int, data: *const c_void, size: usize) -> isize {
    const ABORT: &[u8] = b"cmd=abort";
    if size >= ABORT.len()
        && thread::with(|thread| thread.is_inside())
        // SAFETY: as long as the caller says.
        && unsafe { std::slice::from_raw_parts(data.cast::<u8>(), ABORT.len()) } == ABORT
        && ended()
        && let Some(rank) = rank()
    {
        rank.exited();
    }
    // SAFETY: the C library's own.
    let next: unsafe extern "C" fn(c_int, *const c_void, usize) -> isize =
        unsafe { std::mem::transmute(WRITE.required()) };
    // SAFETY: the caller's arguments.
    unsafe { next(file, data, size) }
}

#[cfg(feature = "mpich")]
static WRITE: Next = Next::new(c"write");

/// Signal handlers may write, in which the next definition could not be looked up.
pub fn prepare() {
    #[cfg(feature = "mpich")]
    WRITE.get();
}
