//! Algorithms of collectives (ring, tree) as steps of one rank.
//!
//! A step takes values from this rank's buffers, or from a peer, or combines the two; it puts them
//! into this rank's output, or sends them to a peer, or both. Steps of a phase are pipelined piece
//! by piece; a phase starts when the one before it has ended.
//!
//! With `p` ranks, `n` values, and parts of `n / p` of them, rounded up to whole 16 bytes, the
//! volumes between ranks are these (`next` is the following rank, the first one after the last):
//!
//! | | from, to | values |
//! |---|---|---|
//! | all-reduce, ring | rank, next | 2 `n` - part(rank) - part(next), mean 2 `n` (`p` - 1) / `p` |
//! | all-reduce, tree | rank, rank + 1, and back | `n` each way |
//! | reduce-scatter, ring | rank, next | (`p` - 1) times those of a rank |
//! | all-gather, ring | rank, next | (`p` - 1) times those of a rank |
//! | broadcast, ring | rank, next, but not to the root | `n` |
//! | reduce, ring | rank, next, but not from the root | `n` |
//!
//! Within a node, NCCL's tree is a chain (Snoopie, §5.3), as it is here: its ends send and receive
//! `n`, the others 2 `n`.

use std::ops::Range;

/// One step. Values received from a peer are combined with this rank's own, if it has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// This rank's own values.
    pub source: Option<Source>,
    /// Index in this rank's output of the first value to store.
    pub target: Option<usize>,
    /// Number of values.
    pub length: usize,
    /// The rank that sends to this one.
    pub from: Option<usize>,
    /// The rank to send to.
    pub to: Option<usize>,
    /// Whether the step completes a reduction.
    pub completes: bool,
}

/// The location of a rank's own values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In its input, from this index on.
    Input(usize),
    /// In its output, from this index on, where an earlier phase has put them.
    Output(usize),
}

/// Steps that are pipelined piece by piece.
pub type Phase = Vec<Step>;

/// A rank's position in a ring or chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// This rank.
    pub rank: usize,
    /// The number of ranks.
    pub ranks: usize,
}

impl Place {
    fn next(self) -> usize {
        (self.rank + 1) % self.ranks
    }

    fn previous(self) -> usize {
        self.before(1)
    }

    /// The rank at a distance before this one in the ring.
    fn before(self, distance: usize) -> usize {
        (self.rank + self.ranks - distance) % self.ranks
    }
}

/// Alignment of the parts of an all-reduce in bytes, so that kernels can process them in vectors.
const ALIGNMENT: usize = 16;

/// The part of `count` values of `size` bytes that rank `number` completes in a ring all-reduce.
pub fn part(count: usize, size: usize, ranks: usize, number: usize) -> Range<usize> {
    let each = count.div_ceil(ranks).next_multiple_of(ALIGNMENT / size);
    (each * number).min(count)..(each * (number + 1)).min(count)
}

fn step(length: usize) -> Step {
    Step { source: None, target: None, length, from: None, to: None, completes: false }
}

/// The schedule of every reduction with a single rank.
fn alone(count: usize) -> Vec<Phase> {
    vec![vec![Step {
        source: Some(Source::Input(0)),
        target: Some(0),
        completes: true,
        ..step(count)
    }]]
}

/// Ring all-reduce: each part is reduced around the ring, ending at the rank of its number, and
/// then goes around once more complete.
pub fn all_reduce_ring(place: Place, count: usize, size: usize) -> Vec<Phase> {
    let Place { rank, ranks } = place;
    if ranks == 1 {
        return alone(count);
    }
    let (from, to) = (Some(place.previous()), Some(place.next()));
    let of = |number: usize| part(count, size, ranks, number);
    let mut steps = Vec::new();
    for distance in 1..ranks {
        let part = of(place.before(distance));
        let from = from.filter(|_| distance > 1);
        steps.push(Step { source: Some(Source::Input(part.start)), from, to, ..step(part.len()) });
    }
    let own = of(rank);
    let (source, target) = (Some(Source::Input(own.start)), Some(own.start));
    steps.push(Step { source, target, from, to, completes: true, ..step(own.len()) });
    for distance in 1..ranks {
        let part = of(place.before(distance));
        let to = to.filter(|_| distance < ranks - 1);
        steps.push(Step { target: Some(part.start), from, to, ..step(part.len()) });
    }
    vec![steps]
}

/// Tree all-reduce: values are reduced along the chain to the first rank, then go back complete.
pub fn all_reduce_tree(place: Place, count: usize) -> Vec<Phase> {
    let Place { rank, ranks } = place;
    if ranks == 1 {
        return alone(count);
    }
    let up = rank.checked_sub(1);
    let down = Some(rank + 1).filter(|&down| down < ranks);
    let completes = up.is_none();
    let target = completes.then_some(0);
    let reduce = Step {
        source: Some(Source::Input(0)),
        target,
        from: down,
        to: up,
        completes,
        ..step(count)
    };
    let spread = match up {
        None => Step { source: Some(Source::Output(0)), to: down, ..step(count) },
        Some(_) => Step { target: Some(0), from: up, to: down, ..step(count) },
    };
    vec![vec![reduce], vec![spread]]
}

/// Ring reduce-scatter: each part is reduced around the ring, ending at the rank of its number.
/// `count` is the size of one part.
pub fn reduce_scatter(place: Place, count: usize) -> Vec<Phase> {
    let Place { rank, ranks } = place;
    if ranks == 1 {
        return alone(count);
    }
    let (from, to) = (Some(place.previous()), Some(place.next()));
    let mut steps: Phase = (1..ranks)
        .map(|distance| Step {
            source: Some(Source::Input(place.before(distance) * count)),
            from: from.filter(|_| distance > 1),
            to,
            ..step(count)
        })
        .collect();
    let (source, target) = (Some(Source::Input(rank * count)), Some(0));
    steps.push(Step { source, target, from, completes: true, ..step(count) });
    vec![steps]
}

/// Ring all-gather: each rank's values go around the ring. `count` is the number of one rank's
/// values.
pub fn all_gather(place: Place, count: usize) -> Vec<Phase> {
    let Place { rank, ranks } = place;
    let (from, to) = (Some(place.previous()), Some(place.next()).filter(|_| ranks > 1));
    let mut steps = vec![Step {
        source: Some(Source::Input(0)),
        target: Some(rank * count),
        to,
        ..step(count)
    }];
    steps.extend((1..ranks).map(|distance| Step {
        target: Some(place.before(distance) * count),
        from,
        to: to.filter(|_| distance < ranks - 1),
        ..step(count)
    }));
    vec![steps]
}

/// Ring broadcast: the root's values go around the ring, up to the rank before the root.
pub fn broadcast(place: Place, count: usize, root: usize) -> Vec<Phase> {
    let is_root = place.rank == root;
    let source = is_root.then_some(Source::Input(0));
    let from = (!is_root).then(|| place.previous());
    let to = Some(place.next()).filter(|&next| next != root);
    vec![vec![Step { source, target: Some(0), from, to, ..step(count) }]]
}

/// Ring reduce: values are reduced along the ring, from the rank after the root to the root.
pub fn reduce(place: Place, count: usize, root: usize) -> Vec<Phase> {
    let is_root = place.rank == root;
    let target = is_root.then_some(0);
    let from = Some(place.previous()).filter(|&previous| previous != root || is_root);
    let from = from.filter(|_| place.ranks > 1);
    let to = (!is_root).then(|| place.next());
    vec![vec![Step {
        source: Some(Source::Input(0)),
        target,
        from,
        to,
        completes: is_root,
        ..step(count)
    }]]
}

#[cfg(test)]
mod tests;
