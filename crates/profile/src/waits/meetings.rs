//! Collectives: who comes last, and who waits for that.

use super::{At, Awaited, Calls, Link, Meets, WaitKind, Waits};
use crate::events::{Log, Shape};
use crate::merge::Rank;
use commsan_rundir::events::Flow;
use rustc_hash::FxHashMap;

/// Collectives that wait for members at most; beyond that, those that began first are given up.
const MAX_OPEN: usize = 1 << 16;

/// A call of a collective, or one that completes it.
pub(super) struct Call<'s> {
    pub(super) shape: &'s Shape,
    pub(super) rank: usize,
    /// When, where and in which thread it was entered, if this is where.
    pub(super) entered: Option<Entered>,
    /// The call that waits for it, if this does.
    pub(super) blocked: Option<u32>,
    pub(super) end: u64,
    pub(super) is_barrier: bool,
}

/// When a member entered, where, and the number of its thread.
type Entered = (u64, At, u32);

#[derive(Debug, Default)]
struct Meeting {
    /// What it is: all members must agree.
    what: Option<(Flow, Option<Rank>, bool)>,
    disagrees: bool,
    entered: Vec<Entered>,
    blocked: Vec<(usize, u32)>,
    left: u32,
    until: u64,
    /// When it was first heard of.
    since: u64,
}

/// Collectives that some have entered.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    open: FxHashMap<(u32, u64), Meeting>,
    ranks: Vec<Rank>,
}

impl Meetings {
    pub(super) fn of(log: &Log) -> Meetings {
        let ranks = log.ranks.iter().map(|log| log.rank).collect();
        Meetings { open: FxHashMap::default(), ranks }
    }

    pub(super) fn add(
        &mut self,
        log: &Log,
        key: (u32, u64),
        call: &Call,
        calls: &mut Calls,
        waits: &mut Waits,
    ) {
        let size = log.sizes[key.0 as usize];
        let meeting = self.open.entry(key).or_default();
        if let Some(entered) = call.entered {
            let what = call.shape.flow.map(|flow| (flow, call.shape.root, call.is_barrier));
            meeting.disagrees |= what.is_none() || meeting.what.is_some() && meeting.what != what;
            meeting.what = what;
            meeting.entered.push(entered);
            meeting.since = meeting.since.max(entered.0);
        }
        if let Some(number) = call.blocked {
            meeting.blocked.push((call.rank, number));
            meeting.left += 1;
        }
        meeting.until = meeting.until.max(call.end);
        if meeting.entered.len() == size as usize {
            settle(meeting, &self.ranks, key.0, size, calls, waits);
            if meeting.left == size {
                self.open.remove(&key);
            }
        }
        if self.open.len() > MAX_OPEN {
            self.give_up(calls, waits);
        }
    }

    fn give_up(&mut self, calls: &mut Calls, waits: &mut Waits) {
        let mut times: Vec<u64> = self.open.values().map(|of| of.since).collect();
        let middle = times.len() / 2;
        let (_, middle, _) = times.select_nth_unstable(middle);
        let middle = *middle;
        self.open.retain(|_, of| {
            let stays = of.since > middle;
            if !stays {
                of.blocked.drain(..).for_each(|(_, number)| calls.know(number, None, waits));
            }
            stays
        });
    }
}

/// All have entered: those that are blocked know whom they have waited for.
fn settle(
    meeting: &mut Meeting,
    ranks: &[Rank],
    communicator: u32,
    size: u32,
    calls: &mut Calls,
    waits: &mut Waits,
) {
    let what = meeting.what.filter(|_| !meeting.disagrees);
    let last = meeting.entered.iter().max().copied();
    for (rank, number) in std::mem::take(&mut meeting.blocked) {
        let is_root = |root: Option<Rank>, rank: usize| root == Some(ranks[rank]);
        let awaited = match what {
            Some((Flow::All, _, is_barrier)) => {
                let kind = if is_barrier { WaitKind::Barrier } else { WaitKind::AllToAll };
                last.map(|last| (last, kind))
            }
            Some((Flow::FromRoot, root, _)) if !is_root(root, rank) => {
                let root = meeting.entered.iter().find(|(_, at, _)| is_root(root, at.rank));
                root.map(|root| (*root, WaitKind::LateBroadcast))
            }
            Some((Flow::ToRoot, root, _)) if is_root(root, rank) => {
                last.map(|last| (last, WaitKind::EarlyReduce))
            }
            _ => None,
        };
        let begins = calls.all[number as usize].span.0;
        let awaited = awaited.filter(|((time, by, _), _)| *time > begins && by.rank != rank);
        let awaited = awaited.map(|((until, by, thread), kind)| {
            let source = (by.rank, thread);
            Awaited { until, kind, by, source }
        });
        calls.know(number, awaited, waits);
    }
    if meeting.left == size {
        waits.compared += 1;
        let first = meeting.entered.iter().min();
        if let (Some((since, first, _)), Some((met, last, _))) = (first, last) {
            let (from, to) = (last.rank, first.rank);
            let span = (*since, meeting.until);
            let meeting = Some(Meets { communicator, met });
            waits.link(Link { from, to, threads: (0, 0), span, bytes: 0, meeting });
        }
    }
}
