//! Streams of MPICH (`MPIX_Stream_create`), and operations that streams of devices carry out
//! (`MPIX_Send_enqueue` and the like): which stream a call means.
//!
//! A stream of a device is known by the handle in the info object that MPI's stream was made with.
//! A communicator with one stream means that; of one with several, and of copies of communicators,
//! the stream is not known, and what is put there is not compared with anything.

use crate::library::{Mpi, info_value};
use crate::outcome::After;
use crate::rank::Rank;
use crate::sys;
use crate::word::Word;
use commsan_mpi::buffers::resolve;
use commsan_mpi::{Args, Enqueued, Step};
use commsan_shadow::{Access, Footprint, Mode};
use commsan_threads::Here;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Which streams of devices things stand for.
#[derive(Default)]
struct Known {
    /// MPI's streams.
    streams: HashMap<usize, usize>,
    /// Communicators.
    comms: HashMap<usize, usize>,
    /// Requests of operations that a stream has begun.
    requests: HashMap<usize, usize>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// A communicator with streams was made: they may order this process after others.
static ARE_USED: AtomicBool = AtomicBool::new(false);

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call of MPI begins, in a job in which order between ranks is followed.
#[inline]
pub(crate) fn called(rank: &dyn Rank, here: &Here) {
    if ARE_USED.load(Relaxed) {
        rank.with(here.thread, &mut |tracker, out| tracker.acquire_from_streams(here, out));
    }
}

/// MPI has made a stream.
pub(crate) fn made(args: &Args) {
    let (Some(info), Some(variable)) = (args.call.named("info"), args.call.named("stream_out"))
    else {
        return;
    };
    let info = args.words[info];
    let is_cuda = info_value(info, c"type").is_some_and(|kind| kind == "cudaStream_t");
    let value = info_value(info, c"value").filter(|_| is_cuda);
    // SAFETY: the call has stored a handle there.
    let stream = unsafe { (*(args.words[variable] as *const sys::MPIX_Stream)).word() };
    match value.and_then(|hex| handle_in(&hex)) {
        Some(device) => known().streams.insert(stream, device),
        // The handle may be that of a stream that was freed.
        None => known().streams.remove(&stream),
    };
}

/// The handle whose bytes, as they lie in memory, these hexadecimal digits are.
fn handle_in(hex: &str) -> Option<usize> {
    let mut bytes = [0; size_of::<usize>()];
    if hex.len() != 2 * bytes.len() || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(usize::from_ne_bytes(bytes))
}

/// A call has made a communicator: it may have a stream.
pub(crate) fn comm_made(rank: &dyn Rank, args: &Args, here: &Here, comm: usize) {
    let stream = match (args.call.named("stream"), args.call.named("streams")) {
        (Some(stream), _) => Some(args.words[stream]),
        (None, Some(array)) => {
            let count = args.call.named("n").map_or(0, |index| args.int(index));
            // SAFETY: the call's own array, with as many streams as it says.
            let first = || unsafe { (*(args.words[array] as *const sys::MPIX_Stream)).word() };
            (count == 1).then(first)
        }
        (None, None) => return,
    };
    ARE_USED.store(true, Relaxed);
    {
        let mut known = known();
        match stream.and_then(|stream| known.streams.get(&stream).copied()) {
            Some(device) => known.comms.insert(comm, device),
            None => known.comms.remove(&comm),
        };
    }
    rank.with(here.thread, &mut |tracker, _| tracker.has_streams(comm));
}

/// A communicator is gone.
pub(crate) fn comm_freed(comm: usize) {
    if ARE_USED.load(Relaxed) {
        known().comms.remove(&comm);
    }
}

/// The requests that a stream is to wait for, before the library changes them.
pub(crate) fn requests(args: &Args) -> Vec<usize> {
    let named = |name| args.call.named(name).map(|index| args.words[index]);
    let (first, count) = match (named("requests_later"), named("request_later")) {
        (Some(first), _) => (first, args.call.named("n").map_or(0, |index| args.int(index))),
        (None, Some(first)) if args.call.at.comm.is_none() => (first, 1),
        _ => return Vec::new(),
    };
    let each = (0..count.max(0) as usize).map(|at| first + at * size_of::<sys::MPI_Request>());
    // SAFETY: the call's own requests, as many as it says.
    each.map(|request| unsafe { (*(request as *const sys::MPI_Request)).word() }).collect()
}

/// Something is about to be put into a stream.
pub(crate) fn before(rank: &dyn Rank, args: &Args, here: &Here) {
    ARE_USED.store(true, Relaxed);
    rank.with(here.thread, &mut |tracker, _| tracker.enqueues(args));
}

impl After<'_> {
    /// Something was put into a stream; `requests` are those that the stream waits for.
    #[cold]
    pub(crate) fn enqueued(&self, requests: &[usize]) {
        let at = &self.args.call.at;
        let Some(comm) = at.comm.map(|index| self.args.words[index]) else {
            return self.ended(requests);
        };
        self.with(|tracker, out| tracker.messages(self.args, self.here, &Mpi, out));
        let Some(stream) = known().comms.get(&comm).copied() else { return };
        let mut accesses: Vec<_> = resolve(self.args, &Mpi).into_iter().flatten().collect();
        accesses.extend(self.status_later());
        let waits = at.dest.is_none();
        let step = match self.args.call.named("request_later") {
            Some(variable) => {
                let variable = self.args.words[variable] as *const sys::MPI_Request;
                // SAFETY: the call has stored a handle there.
                let request = unsafe { (*variable).word() };
                known().requests.insert(request, stream);
                Step::Begins { request, waits }
            }
            None => Step::Whole { waits },
        };
        let call = self.args.call.name.as_str();
        let enqueued = Enqueued { call, stream, comm: Some(comm), accesses, step };
        self.rank.enqueued(self.here, &enqueued);
    }

    fn ended(&self, requests: &[usize]) {
        let stream = {
            let mut known = known();
            requests.iter().filter_map(|request| known.requests.remove(request)).last()
        };
        let Some(stream) = stream else { return };
        let (call, step) = (self.args.call.name.as_str(), Step::Ends(requests));
        let enqueued = Enqueued { call, stream, comm: None, accesses: Vec::new(), step };
        self.rank.enqueued(self.here, &enqueued);
    }

    /// The status that the stream fills when it has received.
    fn status_later(&self) -> Option<Access> {
        let status = self.args.words[self.args.call.named("status_later")?];
        let bytes = status..status + size_of::<sys::MPI_Status>();
        let is_one = status != sys::MPI_STATUS_IGNORE as usize && status != 0;
        is_one.then_some(Access { mode: Mode::Write, footprint: Footprint::Dense(bytes) })
    }
}

#[cfg(test)]
mod tests {
    use super::handle_in;

    #[test]
    fn handles_are_read_from_their_bytes() {
        let hex = |handle: usize| -> String {
            handle.to_ne_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
        };
        for handle in [0, 1, 0x7f12_3456_89ab, usize::MAX] {
            assert_eq!(handle_in(&hex(handle)), Some(handle));
            assert_eq!(handle_in(&hex(handle).to_uppercase()), Some(handle));
        }
        assert_eq!(handle_in("12"), None);
        assert_eq!(handle_in("zz00000000000000"), None);
        assert_eq!(handle_in("éééééééé"), None);
    }
}
