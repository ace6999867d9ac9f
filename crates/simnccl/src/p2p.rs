//! Point-to-point messages: all sends and receives of a group progress together, as blocks of one
//! kernel.
//!
//! Each pair of sender and receiver has a block, which performs its operations one after the other.
//! If a group has more pairs than fit into a kernel, several kernels follow each other. Operations
//! are assigned to kernels by rounds, in which each rank sends to the rank at some distance after
//! it and receives from the rank at the same distance before it; the n-th send of a round and the
//! matching n-th receive stay together. So the earliest operation that any rank waits for is in
//! progress at both its ends.

use crate::communicator::Communicator;
use crate::error::{Failure, Result};
use crate::kernels::Kernel;
use crate::schedule::{Phase, Source, Step};
use crate::work::{Buffers, MAX_OPERATIONS, Scalar, Work};
use std::collections::BTreeMap;

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To the peer.
    Send,
    /// From the peer.
    Receive,
}

/// A send or receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its direction.
    pub way: Direction,
    /// The other rank.
    pub peer: usize,
    /// Address of the buffer.
    pub buffer: u64,
    /// Size in bytes.
    pub bytes: usize,
}

/// One operation of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Act {
    /// The round, and the number among operations of the same round and direction.
    turn: (usize, usize),
    /// The key of its block: peer and direction; a rank's copies to itself count as sends.
    pair: (usize, Direction),
    step: Step,
    input: u64,
    output: u64,
}

/// The kernels that perform a group's sends and receives.
pub fn launches(on: &Communicator, operations: &[Operation]) -> Result<Vec<(Kernel, Work)>> {
    let acts = acts(on.rank, on.ranks, operations)?;
    Ok(batches(&acts, MAX_OPERATIONS).map(|batch| (Kernel::SendRecv, work(on, batch))).collect())
}

/// The operations in the order of rounds.
fn acts(rank: usize, ranks: usize, operations: &[Operation]) -> Result<Vec<Act>> {
    let mut numbers: BTreeMap<(usize, Direction), usize> = BTreeMap::new();
    let mut own: [Vec<Operation>; 2] = Default::default();
    let mut acts = Vec::new();
    for operation in operations {
        let Operation { way, peer, buffer, bytes } = *operation;
        if peer == rank {
            own[way as usize].push(*operation);
            continue;
        }
        let number = numbers.entry((peer, way)).or_default();
        let (from, to) = if way == Direction::Send { (rank, peer) } else { (peer, rank) };
        let turn = ((to + ranks - from) % ranks, *number);
        *number += 1;
        let nothing = Step {
            source: None,
            target: None,
            length: bytes,
            from: None,
            to: None,
            completes: false,
        };
        let step = match way {
            Direction::Send => Step { source: Some(Source::Input(0)), to: Some(peer), ..nothing },
            Direction::Receive => Step { target: Some(0), from: Some(peer), ..nothing },
        };
        acts.push(Act { turn, pair: (peer, way), step, input: buffer, output: buffer });
    }
    acts.extend(copies(rank, &own)?);
    // An empty transfer needs no message to the peer.
    acts.retain(|act| act.step.length > 0);
    acts.sort_by_key(|act| (act.turn, act.pair.1));
    Ok(acts)
}

/// Copies within a rank: it receives in the same group what it sends to itself.
fn copies(rank: usize, [sends, receives]: &[Vec<Operation>; 2]) -> Result<Vec<Act>> {
    if sends.len() != receives.len() {
        let (sent, missing) =
            if sends.len() > receives.len() { ("send", "recv") } else { ("recv", "send") };
        return Err(Failure::usage(format!(
            "Trying to {sent} to self without a matching {missing}"
        )));
    }
    let copy = |(number, (send, receive)): (usize, (&Operation, &Operation))| {
        let length = send.bytes.min(receive.bytes);
        let step = Step {
            source: Some(Source::Input(0)),
            target: Some(0),
            length,
            from: None,
            to: None,
            completes: false,
        };
        let (input, output) = (send.buffer, receive.buffer);
        Act { turn: (0, number), pair: (rank, Direction::Send), step, input, output }
    };
    Ok(sends.iter().zip(receives).enumerate().map(copy).collect())
}

/// Splits operations into batches of at most `most`; operations of one turn stay together.
fn batches(acts: &[Act], most: usize) -> impl Iterator<Item = &[Act]> {
    let mut rest = acts;
    std::iter::from_fn(move || {
        let mut end = rest.len().min(most);
        while end < rest.len() && rest[end - 1].turn == rest[end].turn {
            end -= 1;
        }
        let (batch, later) = rest.split_at(end);
        rest = later;
        (!batch.is_empty()).then_some(batch)
    })
}

fn work(on: &Communicator, batch: &[Act]) -> Work {
    let mut work = on.work(1, Scalar::Value(0));
    let mut blocks: Vec<(usize, Direction)> = Vec::new();
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for act in batch {
        match blocks.iter().position(|pair| *pair == act.pair) {
            Some(block) => later.push((block, act)),
            None => {
                blocks.push(act.pair);
                first.push(act);
            }
        }
    }
    let phase = |act: &Act| -> Phase { vec![act.step] };
    let buffers = |act: &Act| Buffers { input: act.input, output: act.output, size: 1 };
    let phases: Vec<Phase> = first.iter().map(|act| phase(act)).collect();
    let places: Vec<Buffers> = first.iter().map(|act| buffers(act)).collect();
    work.add_blocks(&phases, &places);
    later.iter().for_each(|(block, act)| work.follow(*block, &phase(act), buffers(act)));
    work
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn operation(way: Direction, peer: usize, bytes: usize) -> Operation {
        Operation { way, peer, buffer: 0x1000, bytes }
    }

    /// Whether groups of random matching operations, in small batches, always complete however
    /// slowly each rank progresses: a send and its receive end together, as if queues had no
    /// capacity.
    fn ends(ranks: usize, pairs: &[(usize, usize)], most: usize) -> bool {
        let of = |rank: usize| {
            let mine = pairs.iter().flat_map(move |&(from, to)| {
                let send = (from == rank).then(|| operation(Direction::Send, to, 1));
                let receive = (to == rank).then(|| operation(Direction::Receive, from, 1));
                [send, receive].into_iter().flatten()
            });
            let acts = acts(rank, ranks, &mine.collect::<Vec<_>>()).expect("they match");
            batches(&acts, most).map(<[Act]>::to_vec).collect::<Vec<_>>()
        };
        let mut waiting: Vec<Vec<Vec<Act>>> = (0..ranks).map(of).collect();
        loop {
            waiting.iter_mut().for_each(|batches| {
                if batches.first().is_some_and(Vec::is_empty) {
                    batches.remove(0);
                }
            });
            // An operation can proceed when it is the first of its pair in the current batch, at
            // both ends.
            let current = |rank: usize, pair: (usize, Direction)| {
                waiting[rank].first()?.iter().position(|act| act.pair == pair)
            };
            let next = (0..ranks).find_map(|rank| {
                waiting[rank].first()?.iter().enumerate().find_map(|(at, act)| {
                    let (peer, way) = act.pair;
                    let same =
                        if way == Direction::Send { Direction::Receive } else { Direction::Send };
                    let other = if peer == rank { Some(at) } else { current(peer, (rank, same)) };
                    (current(rank, act.pair) == Some(at)).then_some(())?;
                    Some((rank, at, peer, other?))
                })
            });
            let Some((rank, at, peer, other)) = next else { break };
            waiting[rank][0].remove(at);
            if peer != rank {
                waiting[peer][0].remove(other);
            }
        }
        waiting.iter().all(Vec::is_empty)
    }

    proptest! {
        #[test]
        fn groups_in_several_kernels_come_to_an_end(
            ranks in 1..6_usize,
            pairs in prop::collection::vec((0..6_usize, 0..6_usize), 0..60),
            most in 2..12_usize,
        ) {
            let pairs: Vec<_> = pairs.iter().map(|(a, b)| (a % ranks, b % ranks)).collect();
            prop_assert!(ends(ranks, &pairs, most));
        }
    }

    #[test]
    fn what_is_sent_to_oneself_is_received() {
        let both = [operation(Direction::Send, 1, 8), operation(Direction::Receive, 1, 8)];
        let acts = acts(1, 2, &both).expect("they match");
        assert_eq!(acts.len(), 1);
        assert_eq!((acts[0].step.from, acts[0].step.to), (None, None));
        assert!(super::acts(1, 2, &both[..1]).is_err());
    }

    #[test]
    fn nothing_is_not_told() {
        assert!(acts(0, 2, &[operation(Direction::Send, 1, 0)]).expect("fine").is_empty());
    }
}
