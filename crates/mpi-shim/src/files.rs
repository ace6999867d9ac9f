//! Names of files; and reads of them that are complete later: what has come is told by the status of the call that completes them.
//!
//! **What it can miss.** Where the program leaves out an array of statuses in Fortran, or has more than
//! [`OWN_STATUSES`](crate::races::OWN_STATUSES) requests in it, a read counts as whole. One that is never completed does not
//! count.

use crate::handles::{file_from_fortran, handle_at};
use crate::library::{is_wanted, read_bytes};
use crate::outcome::{request_at, tokens};
use crate::sys;
use crate::traffic::Described;
use commsan_mpi::transfers::Transfers;
use commsan_mpi::{Args, Token};
use commsan_mpi_calls::Effect;
use commsan_shadow::Mode;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Reads that have begun, by request, or by file where that stands for them.
static BEGUN: LazyLock<Mutex<HashMap<usize, Described>>> = LazyLock::new(Mutex::default);

/// Files that are open, by their handles.
static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(Mutex::default);

/// Files that are told apart at most.
const MAX_NAMES: usize = 64;

#[derive(Default)]
struct Names {
    open: HashMap<usize, Arc<str>>,
    all: Vec<Arc<str>>,
}

/// The call has opened a file.
pub(crate) fn opened(args: &Args) {
    let (Some(name), Some(file)) = (args.call.named("name_text"), args.call.named("fh_out")) else {
        return;
    };
    // SAFETY: the call has succeeded, with this name, and stored a handle there.
    let (name, file) = unsafe {
        let name = CStr::from_ptr(args.words[name] as *const c_char).to_string_lossy();
        (name, handle_at::<sys::MPI_File>(args.words[file], args.fortran, file_from_fortran))
    };
    let mut names = names();
    let known = names.all.iter().find(|known| ***known == *name).cloned();
    let name = known.or_else(|| {
        let room = names.all.len() < MAX_NAMES;
        room.then(|| names.all.push(name.into())).and_then(|()| names.all.last().cloned())
    });
    match name {
        Some(name) => names.open.insert(file, name),
        None => names.open.remove(&file),
    };
}

/// The file with this handle is closed.
pub(crate) fn closed(file: usize) {
    names().open.remove(&file);
}

/// The name of an open file, if it is known.
pub(crate) fn name(file: usize) -> Option<Arc<str>> {
    names().open.get(&file).cloned()
}

fn names() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many there are.
static PENDING: AtomicUsize = AtomicUsize::new(0);

/// Reads that a call may complete: which of its requests they are.
pub(crate) type Reads = SmallVec<[(usize, Token); 1]>;

/// Whether there is a read whose status must be asked for.
#[inline]
pub(crate) fn are_read() -> bool {
    PENDING.load(Relaxed) != 0
}

/// Whether the call begins to read a file.
pub(crate) fn begins_read(args: &Args) -> bool {
    matches!(args.call.effect, Effect::Start | Effect::SplitBegin)
        && args.call.at.file.is_some()
        && args.call.accesses.iter().any(|rule| rule.mode == Mode::Write)
}

/// The call has begun what `described` says.
pub(crate) fn begun(args: &Args, described: Described) {
    let at = &args.call.at;
    let key = match (at.request, at.file) {
        // SAFETY: the call has stored a request there.
        (Some(request), _) => unsafe { request_at(args.words[request], args.fortran) },
        (None, Some(file)) => args.words[file],
        (None, None) => return,
    };
    let mut begun = lock();
    begun.insert(key, described);
    PENDING.store(begun.len(), Relaxed);
}

/// The reads that the call may complete, before it is made.
pub(crate) fn that_may_end(args: &Args) -> Reads {
    use Effect::*;
    if !are_read() {
        return Reads::new();
    }
    match args.call.effect {
        Wait | Test | WaitAll | TestAll | WaitAny | TestAny | Some | SplitEnd => {
            let begun = lock();
            let all = tokens(args, 0).into_iter().enumerate();
            all.filter(|(_, token)| begun.contains_key(&token.key)).collect()
        }
        _ => Reads::new(),
    }
}

/// Those of them that it has completed, with what has come.
pub(crate) fn ended(args: &Args, reads: &Reads) -> Vec<Described> {
    if reads.is_empty() {
        return Vec::new();
    }
    let mut begun = lock();
    let done = reads.iter().filter(|(_, token)| is_done(args, token));
    let ended = done.filter_map(|(nth, token)| {
        let mut described = begun.remove(&token.key)?;
        shorten(&mut described.transfers, status(args, *nth));
        Some(described)
    });
    let ended = ended.collect();
    PENDING.store(begun.len(), Relaxed);
    ended
}

/// Completion makes a request null.
fn is_done(args: &Args, token: &Token) -> bool {
    // SAFETY: the call's own requests.
    args.call.effect == Effect::SplitEnd
        || unsafe { request_at(token.variable, args.fortran) } != token.key
}

/// The status of the nth request; 0 if there is none.
fn status(args: &Args, nth: usize) -> usize {
    if let Some(one) = args.call.at.status {
        return args.words[one];
    }
    let Some(all) = args.call.named("statuses").filter(|_| !args.fortran) else { return 0 };
    let at = match args.call.at.indices {
        Some(indices) => nth_in(args, indices, nth),
        None => Some(nth),
    };
    let place = |at| args.words[all] + at * size_of::<crate::sys::MPI_Status>();
    at.filter(|_| is_wanted(args.words[all])).map_or(0, place)
}

/// Where `nth` is among the indices of those that are complete.
fn nth_in(args: &Args, indices: usize, nth: usize) -> Option<usize> {
    let count = args.call.named("outcount").map(|index| args.words[index] as *const c_int)?;
    let indices = args.words[indices] as *const c_int;
    // SAFETY: the call has stored a count there, and that many indices.
    unsafe {
        let count = usize::try_from(*count).ok()?;
        (0..count).find(|at| usize::try_from(*indices.add(*at)) == Ok(nth))
    }
}

/// A read has got what its status says.
pub(crate) fn shorten(transfers: &mut Transfers, status: usize) {
    if !is_wanted(status) {
        return;
    }
    // SAFETY: the library has filled it.
    let Some(bytes) = (unsafe { read_bytes(status) }) else { return };
    for read in transfers.iter_mut().filter(|transfer| !transfer.sends) {
        read.shorten(bytes);
    }
}

fn lock() -> MutexGuard<'static, HashMap<usize, Described>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}
