//! Which calls of two devices of one process are found to differ.

use super::operation::{Kind, Operation};
use super::{Act, Nccl, Origin};
use crate::work::StreamName;
use commsan_callsite::testing::At;
use commsan_callsite::{Findings, Place, Placed, Report, Stacks, Use};
use commsan_findings::Code;
use commsan_findings::record::Record;

const FLOAT: i32 = 7;
const STREAM: StreamName = StreamName::Legacy { device: 0 };

/// Code and places of findings.
#[derive(Default)]
struct Found(Vec<(Code, usize, usize)>);

impl Findings for Found {
    fn again(&mut self, code: Code, offender: usize, operation: usize) -> bool {
        self.0.contains(&(code, offender, operation))
    }
    fn report(&mut self, report: Report<'_>, operation: usize, _: &Stacks) -> u32 {
        let offender = if report.sites.len() > 1 { report.sites[0].1.pc } else { 0 };
        self.0.push((report.code, offender, operation));
        self.0.len() as u32 - 1
    }
    fn emit(&mut self, _: Record<'_, Placed>, _: &Stacks) {}
    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

/// A process that drives devices; calls are at places by number.
#[derive(Default)]
struct Devices {
    nccl: Nccl,
    stacks: Stacks,
    found: Found,
}

impl Devices {
    /// With communicators 1 and 2 of two devices.
    fn two() -> Devices {
        let mut devices = Devices::default();
        for (handle, rank) in [(1, 0), (2, 1)] {
            devices.make(handle, Origin::Id(b"clique"), [Some(rank), Some(2)], handle);
        }
        devices
    }

    fn make(&mut self, handle: usize, origin: Origin<'_>, known: [Option<u32>; 2], at: usize) {
        let site = At(at).site(Some("ncclCommInitRank"), &mut self.stacks);
        let making = self.nccl.making(origin, known, site, &self.stacks, &mut self.found);
        self.act(Act::Made(handle, making), at);
    }

    fn act(&mut self, act: Act, at: usize) {
        self.nccl.act(act, &At(at), &mut self.stacks, None, &mut self.found);
    }

    fn call(&mut self, handle: usize, operation: Operation, at: usize) {
        self.act(Act::Calls(handle, operation, STREAM, operation.kind.name()), at);
    }
}

fn sum(count: usize) -> Operation {
    Operation::new(Kind::AllReduce, count, FLOAT).by(0)
}

fn message(kind: Kind, count: usize, peer: i32) -> Operation {
    Operation::new(kind, count, FLOAT).with(peer)
}

#[test]
fn the_nth_calls_are_compared_whoever_is_ahead() {
    let mut devices = Devices::two();
    for (at, count) in [(10, 4), (11, 5), (12, 6)] {
        devices.call(1, sum(count), at);
    }
    devices.call(2, sum(4), 20);
    devices.call(2, sum(0), 21);
    devices.call(2, sum(7), 22);
    devices.call(2, sum(6), 23);
    assert_eq!(devices.found.0, [(Code::NcclCollectivesDiffer, 22, 11)]);
}

#[test]
fn after_other_calls_nothing_is_compared() {
    let mut devices = Devices::two();
    devices.call(1, sum(4), 10);
    devices.call(1, sum(5), 11);
    devices.call(2, Operation::new(Kind::AllGather, 4, FLOAT), 20);
    devices.call(2, sum(4), 21);
    assert_eq!(devices.found.0, [(Code::NcclCollectivesDiffer, 20, 10)]);
}

#[test]
fn who_destroys_calls_nothing_more() {
    let mut devices = Devices::two();
    devices.call(1, sum(4), 10);
    devices.act(Act::Destroys(2, "ncclCommDestroy"), 20);
    devices.call(2, sum(4), 21);
    let differ = (Code::NcclCollectivesDiffer, 20, 10);
    assert_eq!(devices.found.0, [differ, (Code::NcclDestroyedUsed, 21, 20)]);
    devices.make(2, Origin::Id(b"again"), [Some(0), Some(1)], 22);
    devices.call(2, sum(4), 23);
    assert_eq!(devices.found.0.len(), 2, "the handle stands for another one");
}

#[test]
fn who_finalizes_may_destroy() {
    let mut devices = Devices::two();
    for handle in [1, 2] {
        devices.act(Act::Destroys(handle, "ncclCommFinalize"), 10);
        devices.act(Act::Destroys(handle, "ncclCommDestroy"), 11);
    }
    devices.nccl.ends(true, &devices.stacks, &mut devices.found);
    assert_eq!(devices.found.0, []);
}

#[test]
fn messages_are_matched_by_pairs() {
    let mut devices = Devices::two();
    devices.call(1, message(Kind::Send, 4, 1), 10);
    devices.call(1, message(Kind::Receive, 3, 1), 11);
    devices.call(2, message(Kind::Send, 3, 0), 20);
    devices.call(2, message(Kind::Receive, 4, 0), 21);
    devices.call(2, message(Kind::Receive, 5, 0), 22);
    devices.call(1, message(Kind::Send, 4, 1), 12);
    assert_eq!(devices.found.0, [(Code::NcclMessagesDiffer, 12, 22)]);
}

#[test]
fn splits_have_names_by_turn_and_color() {
    let mut devices = Devices::two();
    for (parent, color) in [(1, 0), (2, 1)] {
        devices.make(parent + 2, Origin::Split(parent, color), [Some(0), Some(2)], 30);
        devices.make(parent + 4, Origin::Split(parent, 7), [None, None], 31);
    }
    devices.call(3, sum(4), 10);
    devices.call(4, sum(5), 11);
    assert_eq!(devices.found.0, [], "of different colors");
    devices.call(5, sum(4), 12);
    devices.call(6, sum(5), 13);
    assert_eq!(devices.found.0, [(Code::NcclCollectivesDiffer, 13, 12)]);
}

#[test]
fn what_is_not_known_is_not_compared() {
    let mut devices = Devices::two();
    devices.act(Act::Failed(2), 20);
    devices.make(3, Origin::Unknown, [None; 2], 30);
    for handle in [1, 2, 3, 4] {
        devices.call(handle, sum(handle), 10 + handle);
    }
    assert_eq!(devices.found.0, []);
}

#[test]
fn an_identifier_makes_each_rank_once() {
    let mut devices = Devices::two();
    devices.make(3, Origin::Id(b"clique"), [Some(1), Some(2)], 30);
    assert_eq!(devices.found.0, [(Code::NcclIdReused, 30, 2)]);
    devices.call(1, sum(4), 10);
    devices.call(3, sum(5), 11);
    assert_eq!(devices.found.0.len(), 1, "of another communicator");
}

#[test]
fn groups_and_communicators_end() {
    let mut devices = Devices::two();
    for at in [10, 11] {
        devices.act(Act::GroupBegins("ncclGroupStart"), at);
    }
    devices.act(Act::GroupEnds("ncclGroupEnd"), 12);
    devices.act(Act::Aborts(1, "ncclCommAbort"), 13);
    devices.nccl.ends(true, &devices.stacks, &mut devices.found);
    devices.act(Act::GroupEnds("ncclGroupEnd"), 14);
    let unbalanced = |at| (Code::NcclGroupUnbalanced, 0, at);
    assert_eq!(devices.found.0, [unbalanced(10), (Code::NcclNotDestroyed, 0, 2), unbalanced(14)]);
}
