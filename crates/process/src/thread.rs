//! Per-thread state: a small number, the bounds of its stack, and the call it is in.
//!
//! All of it is one thread-local structure, since reaching thread-local storage from a shared
//! library costs a call; code that holds a reference passes it on.

use crate::stack::Caller;
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// The state of one thread.
pub struct Thread {
    number: Cell<u32>,
    stack: Cell<(usize, usize)>,
    /// Stack address of the frame that entered commsan or MPI; 0 outside.
    pub(crate) inside: Cell<usize>,
    /// Address of the description of the MPI call that the thread is in; 0 if there is none.
    pub calling: Cell<usize>,
    /// The thread's Python state, published for other threads while it waits; 0 if it is not in
    /// Python.
    pub python: Cell<usize>,
    /// Whether the current call may run callbacks that call MPI as the program does.
    pub calls_back: Cell<bool>,
    /// Address of the description of the program's reduction that the library is calling; 0 if
    /// there is none.
    pub user_operation: Cell<usize>,
    /// The Fortran caller, while the library's Fortran layer is on its way to the C entry point.
    pub outer: Cell<Option<Caller>>,
    /// Instructions that it executes with all pages open, and that have not been completed: one,
    /// and in signal handlers others.
    pub(crate) steps: Cell<u32>,
    /// The last fault that was none of a guard's, by a hash of address and instruction.
    pub(crate) repeated: Cell<usize>,
    /// Whether the thread is looking up a function that the lookup itself may call.
    pub(crate) looks_up: Cell<bool>,
}

thread_local! {
    static THIS: Thread = const {
        Thread {
            number: Cell::new(UNKNOWN),
            stack: Cell::new((0, 0)),
            inside: Cell::new(0),
            calling: Cell::new(0),
            python: Cell::new(0),
            calls_back: Cell::new(false),
            user_operation: Cell::new(0),
            outer: Cell::new(None),
            steps: Cell::new(0),
            repeated: Cell::new(0),
            looks_up: Cell::new(false),
        }
    };
}

const UNKNOWN: u32 = u32::MAX;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Runs `f` with the state of this thread, which needs no destructor and so is always there.
#[inline]
pub fn with<R>(f: impl FnOnce(&Thread) -> R) -> R {
    THIS.with(f)
}

impl Thread {
    /// Number of this thread, in the order in which threads first came here.
    #[inline]
    pub fn number(&self) -> u32 {
        match self.number.get() {
            UNKNOWN => self.take_number(),
            known => known,
        }
    }

    #[cold]
    fn take_number(&self) -> u32 {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.number.set(number);
        number
    }

    /// Whether the thread is inside MPI or commsan.
    pub fn is_inside(&self) -> bool {
        self.inside.get() != 0
    }

    /// This thread's stack; empty if the system does not report it.
    #[inline]
    pub fn stack_bounds(&self) -> Range<usize> {
        match self.stack.get() {
            (_, 0) => self.find_stack(),
            (low, high) => low..high,
        }
    }

    #[cold]
    fn find_stack(&self) -> Range<usize> {
        // The query frees memory while it holds a lock; the release it triggers must not query
        // again.
        self.stack.set((0, 1));
        let found = ask().unwrap_or(0..1);
        self.stack.set((found.start, found.end));
        found
    }
}

fn ask() -> Option<Range<usize>> {
    let mut attr = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut base, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attribute object is initialised by the first call before the others use it.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attr.as_mut_ptr()) != 0 {
            return None;
        }
        let failed = libc::pthread_attr_getstack(attr.as_ptr(), &mut base, &mut size);
        libc::pthread_attr_destroy(attr.as_mut_ptr());
        (failed == 0).then_some(base as usize..base as usize + size)
    }
}
