//! What every entry point does: note who calls, call the library, tell the semantics.

use crate::effects::{After, Before};
use crate::rank::rank;
use commsan_mpi::{Args, CALLS, Call, DEPTH, Place};
use commsan_sense::inside::Inside;
use commsan_sense::stack::Caller;
use commsan_sense::thread;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Whose binding a call came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Fortran,
}

/// An argument as one machine word.
pub(crate) trait Word {
    fn word(self) -> usize;
}

impl<T> Word for *const T {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Word for *mut T {
    fn word(self) -> usize {
        self as usize
    }
}

impl Word for i32 {
    fn word(self) -> usize {
        self as isize as usize
    }
}

impl Word for isize {
    fn word(self) -> usize {
        self as usize
    }
}

impl Word for i64 {
    fn word(self) -> usize {
        self as usize
    }
}

thread_local! {
    /// The Fortran caller, while the library's Fortran layer is on its way to the C entry point.
    static OUTER: Cell<Option<Caller>> = const { Cell::new(None) };
}

/// Runs the library's function `call` with what commsan does around it. `row` is the call's row
/// in the table.
#[inline]
pub(crate) fn around(
    row: usize,
    words: &[usize],
    language: Language,
    caller: Caller,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some(rank) = rank() else { return call() };
    let Some(_inside) = Inside::enter() else { return call() };
    let here = Here(OUTER.get().unwrap_or(caller));
    let args = Args { call: &table()[row], words, fortran: language == Language::Fortran };
    let before = match rank.active() {
        true => Before::new(rank, &args, &here),
        false => None,
    };
    let code = call();
    After { rank, args, here, ok: code == 0 }.run(before);
    code
}

fn table() -> &'static [Call] {
    &CALLS
}

/// Whether the library's Fortran layer is calling.
pub(crate) fn from_fortran_layer() -> bool {
    OUTER.get().is_some()
}

/// Runs the library's Fortran function `call`, which will come back to a C entry point: that one
/// is then the work of `caller`.
#[cfg_attr(feature = "openmpi", allow(dead_code, reason = "Open MPI's Fortran layer does not"))]
pub(crate) fn calling(caller: Caller, call: impl FnOnce()) {
    let outer = OUTER.replace(Some(caller));
    call();
    OUTER.set(outer);
}

/// The program's place in a call.
#[derive(Clone, Copy)]
pub struct Here(pub Caller);

impl Place for Here {
    fn pc(&self) -> usize {
        self.0.pc
    }

    fn thread(&self) -> u32 {
        thread::number()
    }

    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        let walked = frames.iter_mut().zip(self.0.frames());
        walked.map(|(cell, (pc, _))| *cell = pc).count()
    }

    fn frame_of(&self, address: usize) -> Option<usize> {
        self.0.frame_of(address)
    }

    fn is_popped(&self, address: usize) -> bool {
        self.0.is_popped(address)
    }
}

/// The next definition of a symbol after ours.
pub(crate) struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Next {
        Next { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address. The program called the symbol, so some library defines it; where none does
    /// there is nothing to go on with.
    pub(crate) fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return found;
        }
        // SAFETY: lookups by name. A library opened with RTLD_LOCAL is found by the second.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            eprintln!("commsan: no MPI library in this process defines {:?}", self.name);
            std::process::abort();
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}
