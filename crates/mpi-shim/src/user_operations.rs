//! Reductions of the program's own (`MPI_Op_create`): whether they access memory behind the
//! elements that they are given.
//!
//! The library gets a function of commsan's own instead of the program's, which calls that one.
//! While it runs, memory right behind the two vectors is guarded: accesses to it are seen by the
//! hooks of the program's code. Libraries call an operation for parts of a message (MPI 4.1
//! §6.9.5): what lies behind a part is another one, or memory of the library.
//!
//! **Soundness.** Guarded is what the operation has no business with: of the call's receive buffer
//! what lies behind the part, which the program must not access during the call (§6.1); a block of
//! the heap that no buffer of the call lies in, which is the library's, for the library has just
//! passed part of it; and the eight bytes behind a block, where they belong to no other. Only
//! blocking collectives and `MPI_Reduce_local` are looked at: of others it is not known here which
//! memory is the program's. Missed is what is further than [`REACH`] behind the part or before it,
//! what lies in memory of the library that is no block of the heap, reads of the send buffer, which
//! the standard allows, and operations of code that was not compiled with `commsan cc`.

use crate::calling::Calling;
use crate::handles::datatype_from_fortran;
use crate::library::Mpi;
use crate::rank::{Rank, mode, rank};
use crate::sys;
use crate::word::Word;
use commsan_callsite::{DEPTH, Place};
use commsan_mpi::buffers::resolve;
use commsan_mpi::{Args, Library, Overstep};
use commsan_mpi_calls::Effect;
use commsan_process::stack::Caller;
use commsan_process::thread::{self, Thread};
use commsan_process::{heap, modules};
use commsan_shadow::{Epoch, Mode};
use commsan_threads::Here;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Bytes behind a vector that are guarded at most.
const REACH: usize = 1 << 16;
/// Bytes behind a block that the allocator keeps for itself.
const BEHIND: usize = 8;
/// Functions of the program that are looked at, at most.
const FUNCTIONS: usize = 32;

/// `MPI_User_function`, in C and Fortran; the length is an `int`, or an `MPI_Count`.
type Function = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void);

/// A function of the program.
struct Slot {
    function: AtomicUsize,
    /// Whether its length is an `MPI_Count`.
    is_large: AtomicBool,
    /// Whether its datatype is Fortran's.
    is_fortran: AtomicBool,
}

static SLOTS: [Slot; FUNCTIONS] = [const {
    Slot {
        function: AtomicUsize::new(0),
        is_large: AtomicBool::new(false),
        is_fortran: AtomicBool::new(false),
    }
}; FUNCTIONS];

/// The function that the library gets instead of this one of the program.
#[cold]
pub(crate) fn instead_of(function: usize, is_large: bool, is_fortran: bool) -> usize {
    if function == 0 || rank().is_none() || !mode().is_active() {
        return function;
    }
    for (slot, run) in SLOTS.iter().zip(RUN) {
        let known = slot.function.compare_exchange(0, function, AcqRel, Acquire);
        if known.is_ok() {
            slot.is_large.store(is_large, Release);
            slot.is_fortran.store(is_fortran, Release);
        }
        let kind = (slot.is_large.load(Acquire), slot.is_fortran.load(Acquire));
        if known.is_ok() || known == Err(function) && kind == (is_large, is_fortran) {
            return run as usize;
        }
    }
    function
}

/// One function for each slot, as the library passes nothing by which to tell them apart.
static RUN: [Function; FUNCTIONS] = runs();

const fn runs() -> [Function; FUNCTIONS] {
    macro_rules! each {
        ($($n:literal)*) => { [$(run::<$n>),*] };
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
}

unsafe extern "C" fn run<const N: usize>(
    given: *mut c_void,
    result: *mut c_void,
    length: *mut c_void,
    datatype: *mut c_void,
) {
    let slot = &SLOTS[N];
    // SAFETY: what the program has passed to `MPI_Op_create`.
    let function: Function = unsafe { std::mem::transmute(slot.function.load(Acquire)) };
    // SAFETY: the library's own arguments, passed on.
    let call = || unsafe { function(given, result, length, datatype) };
    thread::with(|thread| {
        // SAFETY: arguments of a function of this kind.
        let length = unsafe {
            match slot.is_large.load(Acquire) {
                true => *(length as *const sys::MPI_Count),
                false => i64::from(*(length as *const c_int)),
            }
        };
        // SAFETY: as above.
        let datatype = unsafe {
            match slot.is_fortran.load(Acquire) {
                true => datatype_from_fortran(*(datatype as *const c_int)),
                false => (*(datatype as *const sys::MPI_Datatype)).word(),
            }
        };
        let vectors = [given as usize, result as usize];
        match Running::of(thread, vectors, usize::try_from(length).unwrap_or(0), datatype) {
            Some((running, rank)) => running.during(rank, thread, call),
            None => call(),
        }
    });
}

/// An operation of the program that is running.
struct Running {
    calling: *const Calling,
    /// The vectors' names, the memory behind them, and their bytes.
    guards: [Option<(&'static str, Range<usize>)>; 2],
    elements: usize,
    bytes: usize,
    is_reported: Cell<bool>,
    /// A read that is reported unless a write follows.
    read: Cell<Option<Beyond>>,
}

impl Running {
    /// `None` if there is nothing to be guarded.
    fn of(
        thread: &Thread,
        [given, result]: [usize; 2],
        elements: usize,
        datatype: usize,
    ) -> Option<(Running, &'static dyn Rank)> {
        let rank = rank().filter(|rank| mode().is_active() && rank.checks())?;
        let calling = thread.calling.get() as *const Calling;
        if calling.is_null() || elements == 0 {
            return None;
        }
        // SAFETY: the call that the thread is in has left this on its stack.
        let (args, _) = unsafe { (*calling).parts() };
        let is_known = args.call.collective && args.call.effect == Effect::Block
            || args.call.name.starts_with("MPI_Reduce_local");
        if !is_known {
            return None;
        }
        let layout = Mpi.datatype(datatype);
        let span = layout.pattern.span();
        let last = layout.extent.checked_mul(elements as isize - 1)?;
        let vector = |start: usize| {
            start.wrapping_add_signed(span.start)..start.wrapping_add_signed(last + span.end)
        };
        let (given, result) = (vector(given), vector(result));
        let guards = [
            behind(args, &given, &result).map(|guard| ("invec", guard)),
            behind(args, &result, &given).map(|guard| ("inoutvec", guard)),
        ];
        if guards.iter().all(Option::is_none) {
            return None;
        }
        let (bytes, is_reported, read) = (result.len(), Cell::new(false), Cell::new(None));
        Some((Running { calling, guards, elements, bytes, is_reported, read }, rank))
    }

    fn during(&self, rank: &dyn Rank, thread: &Thread, call: impl FnOnce()) {
        rank.with(thread, &mut |tracker, _| {
            self.guards.iter().flatten().for_each(|(_, guard)| tracker.guard(guard));
        });
        let before = thread.user_operation.replace(std::ptr::from_ref(self) as usize);
        call();
        thread.user_operation.set(before);
        if let Some(read) = self.read.get() {
            self.report(thread, &read);
        }
        rank.with(thread, &mut |tracker, _| {
            self.guards.iter().flatten().for_each(|(_, guard)| tracker.unguard(guard));
        });
    }
}

/// The memory behind a vector that is not the operation's, up to the other vector.
fn behind(args: &Args, vector: &Range<usize>, other: &Range<usize>) -> Option<Range<usize>> {
    let block = heap::block_of(vector.start);
    let accesses = resolve(args, &Mpi);
    let buffers = || accesses.iter().flatten().map(|access| (access.mode, access.footprint.span()));
    let received = buffers().find(|(mode, buffer)| {
        *mode == Mode::Write && buffer.contains(&vector.start) && vector.end <= buffer.end
    });
    let end = match (received, &block) {
        (Some((_, buffer)), block) => match block {
            Some(block) if block.end == buffer.end => behind_block(block),
            _ => buffer.end,
        },
        (None, Some(block)) => {
            let meets = |(_, buffer): (Mode, Range<usize>)| {
                buffer.start < block.end && block.start < buffer.end
            };
            let is_librarys = vector.end <= block.end && !buffers().any(meets);
            if is_librarys { behind_block(block) } else { vector.end }
        }
        (None, None) => vector.end,
    };
    let mut end = end.min(vector.end + REACH);
    if other.start < end && other.end > vector.end {
        end = other.start;
    }
    (end > vector.end).then_some(vector.end..end)
}

/// The end of a block, or of what the allocator keeps for itself behind it.
fn behind_block(block: &Range<usize>) -> usize {
    let is_free = (0..BEHIND).all(|at| heap::block_of(block.end + at).is_none());
    if is_free { block.end + BEHIND } else { block.end }
}

/// A place in an operation, as it was when it was come by. Its callers are the library's, from
/// commsan's function on, and left out.
#[derive(Clone, Copy)]
struct InOperation {
    pc: usize,
    thread: u32,
    frames: [usize; DEPTH],
    depth: usize,
}

impl InOperation {
    fn of(here: &Here) -> InOperation {
        static OWN: OnceLock<Range<usize>> = OnceLock::new();
        let own = OWN.get_or_init(|| {
            modules::code_at(run::<0> as *const () as usize).map_or(0..0, |(_, code)| code)
        });
        let mut frames = [0; DEPTH];
        let depth = here.frames(&mut frames);
        let depth = frames[..depth].iter().position(|pc| own.contains(pc)).unwrap_or(depth);
        InOperation { pc: here.pc(), thread: Place::thread(here), frames, depth }
    }
}

impl Place for InOperation {
    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        *frames = self.frames;
        self.depth
    }
    fn pc(&self) -> usize {
        self.pc
    }
    fn thread(&self) -> u32 {
        self.thread
    }
    fn frame_of(&self, _: usize) -> Option<usize> {
        None
    }
    fn thread_of(&self, _: Epoch) -> u32 {
        self.thread
    }
    fn name_at(&self, _: usize) -> Option<&'static str> {
        None
    }
    fn is_popped(&self, _: usize) -> bool {
        false
    }
}

/// The program accesses memory while this thread is within a call: if that is an operation, and the
/// memory is none of its, a write is reported at once. A read is kept until the operation returns,
/// as a write mostly follows, which says more.
#[cold]
pub fn accessed(by: &'static str, mode: Mode, bytes: &Range<usize>, caller: Caller) {
    thread::with(|thread| {
        let (running, marker) = (thread.user_operation.get(), 0u8);
        // An operation may have been left by `longjmp`.
        let is_there =
            running > &raw const marker as usize && thread.stack_bounds().contains(&running);
        if !is_there {
            return;
        }
        // SAFETY: on the stack of this thread, within the call of the operation.
        let running = unsafe { &*(running as *const Running) };
        if !std::ptr::eq(running.calling, thread.calling.get() as *const Calling) {
            return;
        }
        let meets = |guard: &Range<usize>| guard.start < bytes.end && bytes.start < guard.end;
        let met = running.guards.iter().flatten().find(|(_, guard)| meets(guard));
        let Some((vector, guard)) = met.filter(|_| !running.is_reported.get()) else { return };
        if mode == Mode::Read && running.read.get().is_some() {
            return;
        }
        let first = bytes.start.max(guard.start);
        let access = Beyond {
            by,
            mode,
            first,
            size: bytes.end.min(guard.end) - first,
            vector,
            place: InOperation::of(&Here::new(caller, thread)),
        };
        match mode {
            Mode::Read => running.read.set(Some(access)),
            Mode::Write => running.report(thread, &access),
        }
    });
}

/// An access to memory that is none of the operation's.
#[derive(Clone, Copy)]
struct Beyond {
    by: &'static str,
    mode: Mode,
    first: usize,
    size: usize,
    vector: &'static str,
    place: InOperation,
}

impl Running {
    fn report(&self, thread: &Thread, access: &Beyond) {
        let Some(rank) = rank().filter(|_| !self.is_reported.replace(true)) else { return };
        let overstep = Overstep {
            by: access.by,
            mode: access.mode,
            bytes: access.first..access.first + access.size,
            vector: access.vector,
            elements: self.elements,
            size: self.bytes,
        };
        // SAFETY: the call that the thread is in has left this on its stack.
        let (args, outer) = unsafe { (*self.calling).parts() };
        rank.with(thread, &mut |tracker, out| {
            tracker.oversteps(args, &overstep, outer, &access.place, out);
        });
    }
}
