//! The happens-before order that calls create between ranks: messages and collectives. Followed
//! only in jobs that use windows.

use crate::groups;
use crate::library::Mpi;
use crate::outcome::After;
use crate::rank::{Rank, mode};
use crate::streams;
use commsan_mpi::rma::Envelope;
use commsan_mpi::{Acquisition, Args, Library, Template};
use commsan_mpi_calls::{Call, Effect, Flow};
use commsan_threads::Here;

/// What a call acquires from other ranks when it returns, or when its request completes.
pub(crate) type Lessons = smallvec::SmallVec<[Acquisition; 2]>;

/// Before the call: releases what it orders before other ranks.
pub(crate) fn before(rank: &dyn Rank, args: &Args, here: &Here) -> Lessons {
    streams::called(rank, here);
    let mut acquisitions = Lessons::new();
    if !matches!(args.call.effect, Effect::Block | Effect::Start | Effect::Notified) {
        return acquisitions;
    }
    // How many notified operations have come does not tell whose.
    if let (Some(counter), Some(window)) = (args.call.at.notification, args.call.at.win) {
        let (window, counter) = (args.words[window], args.int(counter));
        acquisitions.push(Acquisition::Notified { window, counter });
    }
    acquisitions.extend(probe(args));
    for template in templates(args) {
        rank.with(here.thread, &mut |tracker, _| {
            acquisitions.extend(tracker.begin_order(&template));
        });
    }
    acquisitions
}

/// One of several threads is about to call: other ranks know by its call what it has done.
pub(crate) fn synchronises(rank: &dyn Rank, args: &Args, here: &Here) {
    if mode().is_ordered() && (releases(args.call) || acquires(args.call)) {
        rank.with(here.thread, &mut |tracker, out| tracker.synchronises(args.call, here, out));
    }
}

/// Whether other ranks may act upon what this call does.
pub(crate) fn releases(call: &Call) -> bool {
    use Effect::*;
    let sends = call.enters || call.at.dest.is_some();
    sends
        || !matches!(
            call.effect,
            Block | Wait | WaitAll | WaitAny | Some | Test | TestAll | TestAny
        ) && !call.is_alone()
}

/// Whether this rank may acquire something from another one by this call.
pub(crate) fn acquires(call: &Call) -> bool {
    use Effect::*;
    let receives = call.enters || call.at.status.is_some();
    match call.effect {
        Block => receives,
        Start | Go | GoAll | Init | InitPartitioned | Pready | PreadyRange | PreadyList => false,
        Rma | FlushLocal => false,
        _ => !call.is_alone(),
    }
}

impl After<'_> {
    /// A blocking call has returned: acquires what it ordered before this rank.
    pub(crate) fn order(&self, acquisitions: &[Acquisition]) {
        if acquisitions.is_empty() || !self.flag() {
            return;
        }
        let status = self.status();
        self.with(|tracker, out| {
            acquisitions
                .iter()
                .for_each(|acquisition| tracker.acquire(acquisition, status, self.here, out));
        });
    }
}

/// What a probe acquires that finds a message.
fn probe(args: &Args) -> Option<Acquisition> {
    let at = &args.call.at;
    let (comm, source, tag) = (at.comm?, at.source?, at.received_tag?);
    let (source, tag) = (args.int(source), args.int(tag));
    if !args.call.probes() || source == Mpi::PROC_NULL {
        return None;
    }
    let group = groups::of_comm(args.words[comm]);
    Some(Acquisition::Probe(Envelope { group, source, tag }, at.message.is_some()))
}

/// A nonblocking call has returned a request, whose completion acquires.
pub(crate) fn postpone(rank: &dyn Rank, request: usize, here: &Here, acquisitions: &[Acquisition]) {
    rank.with(here.thread, &mut |tracker, _| {
        acquisitions
            .iter()
            .for_each(|acquisition| tracker.rma.acquire_at(request, acquisition.clone()));
    });
}

/// The messages of a call, sent ones first, or its collective.
pub(crate) fn templates(args: &Args) -> smallvec::SmallVec<[Template; 2]> {
    let mut found = smallvec::SmallVec::new();
    let (call, at) = (args.call, &args.call.at);
    let Some(comm) = at.comm.map(|index| args.words[index]) else { return found };
    if call.collective {
        let sources = match call.flow {
            Flow::Neighbours => Mpi.neighbours(comm).0,
            _ => Vec::new(),
        };
        let root = at.root.map_or(-1, |index| args.int(index));
        found.push(Template::Collective {
            group: groups::of_comm(comm),
            comm,
            flow: call.flow,
            root,
            sources,
            blocks: call.effect == Effect::Block,
        });
        return found;
    }
    if call.effect == Effect::InitPartitioned {
        if let Some(source) = at.source.map(|index| args.int(index)) {
            found.push(Template::Partitions { group: groups::of_comm(comm), source });
        }
        return found;
    }
    let moves_data = !call.accesses.is_empty();
    if let (Some(dest), Some(tag), true) = (at.dest, at.tag, moves_data) {
        let synchronous = call.synchronous;
        let (dest, tag) = (args.int(dest), args.int(tag));
        let group = groups::of_comm(comm);
        found.push(Template::Send { group, comm, dest, tag, synchronous });
    }
    if let (Some(source), Some(tag), true) = (at.source, at.received_tag, moves_data)
        && args.int(source) != Mpi::PROC_NULL
    {
        let (source, tag) = (args.int(source), args.int(tag));
        found.push(Template::Receive(Envelope { group: groups::of_comm(comm), source, tag }));
    }
    found
}
