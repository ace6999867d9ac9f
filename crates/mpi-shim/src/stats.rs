//! What MPI calls are counted for statistics: each by its name, the operations that they start, and
//! the windows and epochs that they begin.
//!
//! **Soundness.** A call counts when it is made, an operation once the call that starts it has
//! succeeded; with `MPI_PROC_NULL` on the other side there is none. Calls that the MPI library
//! makes itself are not counted, nor are those that Fortran's layer of MPICH makes for one. A
//! partitioned request counts at each start, with all of its partitions.

use crate::library::Mpi;
use crate::outcome::{request_at, tokens};
use crate::rank::Rank;
use crate::windows;
use crate::word::table;
use commsan_findings::stats::{Counter, MPI_CALLS};
use commsan_mpi::buffers::resolve;
use commsan_mpi::transfers::TransferKind;
use commsan_mpi::{Args, Library};
use commsan_mpi_calls::{CallGroup, Effect};
use commsan_process::stats;
use commsan_shadow::Mode;
use commsan_threads::{Here, agents, region_depth};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Calls so far, by their rows in the table.
static CALLS: LazyLock<Box<[AtomicU64]>> =
    LazyLock::new(|| table().iter().map(|_| AtomicU64::new(0)).collect());

/// What persistent requests start, by their handles.
static PERSISTENT: LazyLock<Mutex<HashMap<usize, Started>>> = LazyLock::new(Mutex::default);

/// The operations of one call; a combined send and receive starts two.
type Started = SmallVec<[Operation; 2]>;

/// An operation.
#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: Kind,
    /// Of the memory that it uses.
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Send,
    Receive,
    Collective,
    Put,
    Get,
    Accumulate,
    FileRead,
    FileWrite,
}

impl Kind {
    /// Its counters: of all, of those that are completed by another call, of bytes.
    fn counters(self) -> [Counter; 3] {
        use Counter::*;
        match self {
            Kind::Send => [Sends, SendsNonblocking, SendsBytes],
            Kind::Receive => [Receives, ReceivesNonblocking, ReceivesBytes],
            Kind::Collective => [Collectives, CollectivesNonblocking, CollectivesBytes],
            Kind::Put => [Puts, PutsNonblocking, PutsBytes],
            Kind::Get => [Gets, GetsNonblocking, GetsBytes],
            Kind::Accumulate => [Accumulates, AccumulatesNonblocking, AccumulatesBytes],
            Kind::FileRead => [FileReads, FileReadsNonblocking, FileReadsBytes],
            Kind::FileWrite => [FileWrites, FileWritesNonblocking, FileWritesBytes],
        }
    }
}

/// The program makes a call; `row` is the call's in the table.
#[cold]
pub(crate) fn called(rank: &dyn Rank, row: usize, here: &Here) {
    CALLS[row].fetch_add(1, Relaxed);
    let context = match region_depth() {
        0 if !agents::is_parallel() => Counter::CallsAlone,
        0 => Counter::CallsBeside,
        1 => Counter::CallsInRegions,
        _ => Counter::CallsInNested,
    };
    stats::add(context, 1);
    rank.counted(here.thread);
}

/// Calls so far: by group, name and number.
pub fn each_call(f: &mut dyn FnMut(String, u64)) {
    for (call, count) in table().iter().zip(&**CALLS) {
        match count.load(Relaxed) {
            0 => {}
            count => f(format!("{MPI_CALLS}.{}.{}", call.group().key(), call.name), count),
        }
    }
}

/// What must be known of a call before the library changes its arguments: the requests that it
/// starts or frees.
pub(crate) struct Ahead(SmallVec<[usize; 4]>);

impl Ahead {
    #[cold]
    pub(crate) fn of(args: &Args) -> Ahead {
        let at = args.call.at.requests.or(args.call.at.request);
        // A null pointer is a finding of the checks that follow.
        let is_given = at.is_some_and(|index| args.words[index] != 0);
        match args.call.effect {
            Effect::Go | Effect::GoAll | Effect::Free if is_given => {
                Ahead(tokens(args, 0).iter().map(|token| token.key).collect())
            }
            _ => Ahead(SmallVec::new()),
        }
    }
}

/// A call has returned.
#[cold]
pub(crate) fn returned(rank: &dyn Rank, args: &Args, here: &Here, ahead: &Ahead, ok: bool) {
    if ok {
        succeeded(args, ahead);
    }
    rank.counted(here.thread);
}

fn succeeded(args: &Args, ahead: &Ahead) {
    use Effect::{
        Attach, Block, EpochBegin, ExposureBegin, Fence, Free, Go, GoAll, Init, InitPartitioned,
        Lock, Rma, SplitBegin, Start, Window,
    };
    match args.call.effect {
        Block | Rma => started(&operations(args), args.call.at.request.is_some()),
        Start | SplitBegin => started(&operations(args), true),
        Init | InitPartitioned => {
            let at = args.call.at.request.map_or(0, |index| args.words[index]);
            // SAFETY: the call has succeeded and stored a handle there.
            let request = unsafe { request_at(at, args.fortran) };
            persistent().insert(request, operations(args));
        }
        Go | GoAll => {
            let mut persistent = persistent();
            for (old, token) in ahead.0.iter().zip(tokens(args, 0)) {
                if let Some(operations) = persistent.remove(old) {
                    started(&operations, true);
                    // It may have another handle than before.
                    persistent.insert(token.key, operations);
                }
            }
        }
        Free => {
            let mut persistent = persistent();
            ahead.0.iter().for_each(|request| drop(persistent.remove(request)));
        }
        Window => {
            // SAFETY: the call has made a window.
            let made = unsafe { windows::new(args) };
            stats::add(Counter::Windows, 1);
            stats::add(Counter::WindowBytes, made.part.size);
        }
        Attach => {
            let size = args.call.named("size").map_or(0, |index| args.words[index]);
            stats::add(Counter::WindowBytes, size as u64);
        }
        Fence if windows::asserted(args).none_succeed => {}
        Fence => stats::add(Counter::FenceEpochs, 1),
        EpochBegin => stats::add(Counter::AccessEpochs, 1),
        ExposureBegin => stats::add(Counter::ExposureEpochs, 1),
        Lock if args.call.at.peer.is_some() => stats::add(Counter::LockEpochs, 1),
        Lock => stats::add(Counter::LockAllEpochs, 1),
        _ => {}
    }
}

fn persistent() -> MutexGuard<'static, HashMap<usize, Started>> {
    PERSISTENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn started(operations: &[Operation], by_request: bool) {
    for Operation { kind, bytes } in operations {
        let [all, nonblocking, of_bytes] = kind.counters();
        stats::add(all, 1);
        stats::add(nonblocking, u64::from(by_request));
        stats::add(of_bytes, *bytes);
    }
}

/// What the call starts, or will start as often as its request is.
fn operations(args: &Args) -> Started {
    let (call, at) = (args.call, &args.call.at);
    let accesses = resolve(args, &Mpi);
    let bytes = |mode: Option<Mode>| -> u64 {
        let used = accesses.iter().flatten();
        let used = used.filter(|access| mode.is_none_or(|mode| access.mode == mode));
        used.map(|access| access.footprint.bytes() as u64).sum()
    };
    let one = |kind| Started::from_iter([Operation { kind, bytes: bytes(None) }]);
    let is_there = |peer: Option<usize>| peer.is_some_and(|at| args.int(at) != Mpi::PROC_NULL);
    if call.group() == CallGroup::Collective && call.collective {
        return one(Kind::Collective);
    }
    match TransferKind::of(call) {
        Some(TransferKind::OneSided) if !is_there(at.peer) => Started::new(),
        Some(TransferKind::OneSided) if call.accesses.len() > 1 || at.op.is_some() => {
            one(Kind::Accumulate)
        }
        Some(kind @ (TransferKind::OneSided | TransferKind::File)) => {
            let reads_memory = call.accesses.iter().all(|rule| rule.mode == Mode::Read);
            one(match (kind, reads_memory) {
                (TransferKind::OneSided, true) => Kind::Put,
                (TransferKind::OneSided, false) => Kind::Get,
                (_, true) => Kind::FileWrite,
                (_, false) => Kind::FileRead,
            })
        }
        Some(TransferKind::PointToPoint) => {
            // Of a buffer that is replaced, the table may have the writing alone.
            let replaces = at.dest.is_some() && call.accesses.len() == 1;
            let sent = if replaces { bytes(None) } else { bytes(Some(Mode::Read)) };
            let send = is_there(at.dest).then_some(Operation { kind: Kind::Send, bytes: sent });
            let receives = is_there(at.source) || at.message.is_some();
            let received = bytes(Some(Mode::Write));
            let receive = receives.then_some(Operation { kind: Kind::Receive, bytes: received });
            send.into_iter().chain(receive).collect()
        }
        Some(TransferKind::Collective) | None => Started::new(),
    }
}
