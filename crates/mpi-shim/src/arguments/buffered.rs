//! Buffered sends and the buffer space that they need (MPI 4.1 §3.6): Open MPI needs none for small
//! messages.
//!
//! **Soundness.** A message needs its own size and `MPI_BSEND_OVERHEAD` bytes of the buffer that is
//! attached to its communicator, or else to the process (MPI 4.1 §3.6), whatever else is in it.
//! While a buffer is attached to a session, whose communicators are not known, nothing is reported.
//! Missed is what several messages need together.

use crate::datatypes;
use crate::library;
use crate::sys;
use commsan_mpi::{Args, BufferOwner};
use commsan_mpi_calls::{Effect, Extent};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One more than the bytes that are attached to the process, 0 without.
static OF_PROCESS: AtomicUsize = AtomicUsize::new(0);

/// What is attached to communicators and sessions, and how many bytes.
static OTHERS: Mutex<Vec<(BufferOwner, usize)>> = Mutex::new(Vec::new());

/// Something ever was: without that, sends take no lock.
static HAS_OTHERS: AtomicBool = AtomicBool::new(false);

fn others() -> MutexGuard<'static, Vec<(BufferOwner, usize)>> {
    OTHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bytes_of(owner: BufferOwner) -> Option<usize> {
    match owner {
        BufferOwner::Process => OF_PROCESS.load(Relaxed).checked_sub(1),
        _ if !HAS_OTHERS.load(Relaxed) => None,
        _ => others().iter().find(|(known, _)| *known == owner).map(|(_, bytes)| *bytes),
    }
}

fn is_any_of_sessions() -> bool {
    let is_sessions = |(owner, _): &(BufferOwner, usize)| matches!(owner, BufferOwner::Session(_));
    HAS_OTHERS.load(Relaxed) && others().iter().any(is_sessions)
}

/// What a call attaches a buffer to, or detaches it from.
pub(crate) fn owner(args: &Args) -> BufferOwner {
    match (args.call.at.comm, args.call.named("session")) {
        (Some(comm), _) => BufferOwner::Comm(args.words[comm]),
        (None, Some(session)) => BufferOwner::Session(args.words[session]),
        (None, None) => BufferOwner::Process,
    }
}

/// The memory that a call attaches; `None` if the library is to take its own
/// (`MPI_BUFFER_AUTOMATIC`).
pub(crate) fn given(args: &Args) -> Option<Range<usize>> {
    let word = |name| args.call.named(name).map_or(0, |index| args.words[index]);
    let (start, bytes) = (word("buffer"), (word("bsize") as isize).max(0) as usize);
    (start != sys::MPI_BUFFER_AUTOMATIC as isize as usize)
        .then(|| start..start.saturating_add(bytes))
}

/// The program has attached memory, or has the library take its own.
pub(crate) fn attached(owner: BufferOwner, memory: Option<Range<usize>>) {
    let bytes = memory.map_or(usize::MAX - 1, |memory| memory.len());
    if owner == BufferOwner::Process {
        OF_PROCESS.store(bytes.saturating_add(1), Relaxed);
        return;
    }
    HAS_OTHERS.store(true, Relaxed);
    let mut others = others();
    others.retain(|(known, _)| *known != owner);
    others.push((owner, bytes));
}

/// The program has detached a buffer, or freed what it was attached to. Returns whether there was
/// one.
pub(crate) fn detached(owner: BufferOwner) -> bool {
    if owner == BufferOwner::Process {
        return OF_PROCESS.swap(0, Relaxed) != 0;
    }
    if !HAS_OTHERS.load(Relaxed) {
        return false;
    }
    let mut others = others();
    let before = others.len();
    others.retain(|(known, _)| *known != owner);
    others.len() < before
}

/// What a message lacks that is to be buffered.
pub(super) fn room_problem(args: &Args) -> Option<String> {
    let rule = args.call.accesses.first()?;
    let Extent::Blocks { count, .. } = rule.extent else { return None };
    let count = args.count(count);
    if args.call.effect == Effect::Init || count == 0 || !super::has_peer(args) {
        return None;
    }
    let bytes = datatypes::signature(args.words[rule.datatype]).bytes as usize * count;
    let needed = bytes.checked_add(library::bsend_overhead()).filter(|_| bytes > 0)?;
    if is_any_of_sessions() {
        return None;
    }
    let comm = args.call.at.comm.map(|index| BufferOwner::Comm(args.words[index]));
    match comm.and_then(bytes_of).or_else(|| bytes_of(BufferOwner::Process)) {
        None => Some("is to be buffered, but no memory is attached for that".to_owned()),
        Some(attached) => (attached < needed).then(|| {
            format!("needs {needed} bytes of attached memory, but {attached} are attached")
        }),
    }
}

/// What is wrong with memory that comes besides other memory.
pub(super) fn attached_problem(args: &Args) -> Option<&'static str> {
    bytes_of(owner(args)).map(|_| "comes besides memory that is attached already")
}
