//! Transfers of OpenSHMEM: what this PE writes to and reads from symmetric memory of others. All
//! are counted where they start, since the other PE makes no call; what collectives move is not.

use super::counting::{self, Counting, Parts};
use super::{Described, InOrder, Window};
use crate::library::world;
use crate::rank::{Rank, mode};
use commsan_callsite::StackId;
use commsan_counters::{HOST, Identity, ticks};
use commsan_mpi::rma::Group;
use commsan_mpi::transfers::{Peers, Transfer, TransferKind};
use commsan_mpi::{Args, moved_by_shmem};
use commsan_mpi_calls::shmem::Kind;
use commsan_rundir::traffic::{Memory, Place};
use commsan_shadow::Footprint;
use commsan_threads::Here;
use smallvec::smallvec;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Blocks by address: their ends, and the calls that have allocated them.
static BLOCKS: Mutex<BTreeMap<usize, (usize, &'static str, StackId)>> = Mutex::new(BTreeMap::new());

/// A call is about to be made: when it begins, if it is counted.
pub(crate) fn before(rank: &dyn Rank, kind: Kind, here: &Here) -> Option<u64> {
    let is_counted = kind.is_remote() || kind.is_of_memory();
    (is_counted && mode().counts()).then(|| rank.keep(here.thread, ticks()))
}

/// A call that began at this time has returned.
pub(crate) fn after(
    rank: &dyn Rank,
    kind: Kind,
    args: &Args,
    here: &Here,
    begin: u64,
    result: usize,
) {
    let times = (begin, ticks());
    match kind.is_of_memory() {
        true => block_changed(rank, args, here, result),
        false => moved(rank, args, here, times),
    }
}

/// A block has been allocated or freed.
fn block_changed(rank: &dyn Rank, args: &Args, here: &Here, result: usize) {
    let word = |name| args.call.named(name).map(|at| args.words[at]);
    let size = word("size").unwrap_or(0).saturating_mul(word("count").unwrap_or(1));
    let call: &'static str = &args.call.name;
    rank.count(here.thread, &mut |traffic, _| {
        let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = word("block") {
            blocks.remove(&old);
            traffic.objects.freed(old);
        }
        if result != 0 {
            let stack = traffic.path(here);
            let end = result.saturating_add(size);
            blocks.insert(result, (end, call, stack));
            let memory = Memory::Window;
            let identity = Identity { memory, place: HOST, stack, call: Some(call), name: None };
            traffic.objects.allocated(result..end, identity);
        }
    });
}

/// The block that an address belongs to, and the distance from its beginning.
fn block(at: usize, group: &Group) -> Option<(Window, usize)> {
    let blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let (start, (end, call, stack)) = blocks.range(..=at).next_back()?;
    let window = || Window { group: group.clone(), call, stack: *stack, unit: 1 };
    (at < *end).then(|| (window(), at - start))
}

fn moved(rank: &dyn Rank, args: &Args, here: &Here, times: (u64, u64)) {
    let Some(moved) = moved_by_shmem(args) else { return };
    let pes = Group::new((0..world().size).collect());
    let window = block(moved.there.start, &pes)
        .map(|(window, offset)| (window, Footprint::Dense(offset..offset + moved.there.len())));
    let transfer = Transfer {
        sends: moved.sends,
        peers: Peers::One(moved.pe),
        bytes: moved.bytes,
        tag: None,
        footprint: moved.here,
    };
    let mut described = Described {
        kind: TransferKind::OneSided,
        handle: None,
        group: None,
        order: InOrder::Apart,
        file: None,
        transfers: smallvec![transfer],
        begun: None,
        window,
    };
    rank.count(here.thread, &mut |traffic, me| {
        let members = || pes.members.iter().map(|rank| Place::Rank(*rank)).collect();
        described.group = Some(traffic.group(pes.name, members));
        let stack = traffic.path(here);
        let call = traffic.strings.fixed(&args.call.name);
        let all = std::slice::from_ref(&described);
        let partner = counting::partner(traffic, all);
        let calls = traffic.record_call(call, stack, partner, times);
        let (time, steps, parts) = (times.0, None, Parts::new());
        let mut counting = Counting { traffic, here, me, call, stack, time, steps, parts };
        counting.add(&described);
        let parts = counting.parts;
        if traffic.has_events()
            && let Some(of) = traffic.event_of(calls, here.thread.number(), false, None)
        {
            traffic.record_event(of, times, &parts);
        }
    });
}
