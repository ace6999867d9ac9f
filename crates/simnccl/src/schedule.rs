//! Algorithms of collectives (ring, tree) as steps of one rank.
//!
//! A step gets values from where this rank has them, or from a peer, or combines the two; puts them
//! to where this rank wants them, or sends them to a peer, or both. Steps of a phase follow each
//! other piece by piece, so that pieces are on their way around while others start; phases follow
//! each other as wholes.
//!
//! With `p` ranks, `n` values, and parts of `n / p` of them, rounded up to whole 16 bytes, the
//! values that go from rank to rank are these (`next` is the rank after, the first one after the
//! last):
//!
//! | | from, to | values |
//! |---|---|---|
//! | all-reduce, ring | rank, next | 2 `n` less part rank and part next: 2 `n` (`p` - 1) / `p` in the mean |
//! | all-reduce, tree | rank, rank + 1, and back | `n` each way |
//! | reduce-scatter, ring | rank, next | (`p` - 1) times those of a rank |
//! | all-gather, ring | rank, next | (`p` - 1) times those of a rank |
//! | broadcast, ring | rank, next, but not to the root | `n` |
//! | reduce, ring | rank, next, but not from the root | `n` |
//!
//! Within a node, NCCL's tree is a chain (Snoopie, §5.3), as it is here: its ends send and receive
//! `n`, the others 2 `n`.

use std::ops::Range;

/// One step. What it gets from a peer, it combines with what it has itself, if it has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What this rank has itself.
    pub source: Option<Source>,
    /// First value of this rank's output.
    pub target: Option<usize>,
    /// Values.
    pub length: usize,
    /// Rank that sends to this one.
    pub from: Option<usize>,
    /// Rank to send to.
    pub to: Option<usize>,
    /// Whether the result is complete with this step.
    pub completes: bool,
}

/// Where a rank has values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In its input, from this one on.
    Input(usize),
    /// In its output, where an earlier phase has put them.
    Output(usize),
}

/// Steps that follow each other piece by piece.
pub type Phase = Vec<Step>;

/// A rank among others in a ring or chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// This rank.
    pub rank: usize,
    /// How many there are.
    pub ranks: usize,
}

impl Place {
    fn next(self) -> usize {
        (self.rank + 1) % self.ranks
    }

    fn previous(self) -> usize {
        self.before(1)
    }

    /// The rank that many places before this one in the ring.
    fn before(self, distance: usize) -> usize {
        (self.rank + self.ranks - distance) % self.ranks
    }
}

/// Bytes that parts of an all-reduce are multiples of, so that kernels can go through them by
/// vectors.
const ALIGNMENT: usize = 16;

/// The part of `count` values of `size` bytes that a rank completes in an all-reduce by ring.
pub fn part(count: usize, size: usize, ranks: usize, number: usize) -> Range<usize> {
    let each = count.div_ceil(ranks).next_multiple_of(ALIGNMENT / size);
    (each * number).min(count)..(each * (number + 1)).min(count)
}

fn step(length: usize) -> Step {
    Step { source: None, target: None, length, from: None, to: None, completes: false }
}

/// With one rank, all reductions are this.
fn alone(count: usize) -> Vec<Phase> {
    vec![vec![Step {
        source: Some(Source::Input(0)),
        target: Some(0),
        completes: true,
        ..step(count)
    }]]
}

/// Each part goes around once to be reduced, ending at the rank of its number, and once more
/// complete.
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

/// Values are reduced along the chain to the first rank, then go back complete.
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

/// Each part is reduced around the ring, ending at the rank of its number. `count` is of one part.
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

/// Each rank's values go around the ring. `count` is of one rank.
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

/// The root's values go around the ring, up to the rank before the root.
pub fn broadcast(place: Place, count: usize, root: usize) -> Vec<Phase> {
    let is_root = place.rank == root;
    let source = is_root.then_some(Source::Input(0));
    let from = (!is_root).then(|| place.previous());
    let to = Some(place.next()).filter(|&next| next != root);
    vec![vec![Step { source, target: Some(0), from, to, ..step(count) }]]
}

/// Values are reduced along the ring, from the rank after the root to the root.
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
