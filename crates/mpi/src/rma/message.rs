//! Messages about RMA that ranks exchange through shared memory, and their encoding in words.

use crate::rma::accumulate::{Atomic, Combine, MAX_ELEMENT, Rules};
use crate::rma::knowledge::Event;
use commsan_shadow::{Comb, Epoch, Footprint, Mode, Runs};
use smallvec::SmallVec;
use std::num::NonZeroU32;
use std::ops::Range;

/// The access epoch in which an operation was started (MPI 4.1 §12.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessEpoch {
    /// After the n-th fence of the window.
    Fence(u32),
    /// After the n-th start that names this target.
    Start(u32),
    /// Under a shared lock.
    Shared,
    /// Under an exclusive lock.
    Exclusive,
    /// None is needed: an operation of OpenSHMEM on the context of this number.
    Symmetric(u32),
    /// No epoch: an error of its own.
    None,
}

/// A one-sided operation as it is announced to its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Announced {
    /// The window, by its name in the job.
    pub window: u64,
    /// The rank that started it.
    pub origin: u32,
    /// The segment of the origin.
    pub segment: u32,
    /// Row of the call in the table.
    pub call: u32,
    /// Number of the site in the origin's log.
    pub site: u32,
    /// Number of the operation among those of the origin.
    pub number: u32,
    pub mode: Mode,
    pub atomic: Option<Atomic>,
    pub epoch: AccessEpoch,
    /// If it stands for several operations that do not overlap: the size of each in bytes. They
    /// follow each other without gaps within a run.
    pub each: Option<NonZeroU32>,
    /// Whether it was completed in the same segment.
    pub complete: bool,
    /// What it stores, as a number, if it is not atomic; 0 if that is not known.
    pub stored: u64,
    /// The bytes, relative to the target's base address.
    pub runs: Runs,
}

/// A message between ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum RmaMessage {
    /// An operation has started.
    Operation(Announced),
    /// Earlier operations of the origin on this window are complete, as of an event of it.
    Complete {
        /// The window's name.
        window: u64,
        /// The completion, by one of the origin's threads.
        event: Event,
        /// Which operations.
        which: Which,
    },
    /// A point-to-point message was sent in this segment.
    MessageSent {
        /// Rank in the job.
        origin: u32,
        /// The message's tag.
        tag: i32,
        /// Name of the communicator's group.
        comm: u64,
        /// The sender's handle of the communicator, truncated to 32 bits.
        handle: u32,
        /// A segment of the origin.
        segment: u32,
    },
    /// A rank has attached memory to a dynamic window, or detached it.
    Attached {
        /// The window's name.
        window: u64,
        /// Rank in the job.
        owner: u32,
        /// Addresses in the owner's address space.
        bytes: Range<usize>,
        /// False if it was detached.
        attached: bool,
    },
    /// The target has exposed its window to this rank, in this segment.
    Exposed {
        /// The window's name.
        window: u64,
        /// Rank in the job.
        target: u32,
        /// A segment of the target.
        segment: u32,
    },
}

/// Which operations are complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All operations.
    All,
    /// Gets: they are complete at the target as soon as they are at the origin.
    Reads,
    /// Gets now, and all others when the target has waited for the end of the epoch.
    Epoch,
    /// The operation of this number.
    One(u32),
    /// Operations of OpenSHMEM.
    Symmetric(Symmetric),
}

/// Operations of OpenSHMEM that are complete, or that precede what follows at the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symmetric {
    /// The number of their context.
    pub ctx: u32,
    /// They have lower numbers than this one.
    pub before: u32,
    /// Whether nonblocking gets are meant, too, which a fence does not order.
    pub reads: bool,
}

impl Symmetric {
    /// Whether an operation in this epoch and of this number is meant.
    pub fn covers(self, epoch: AccessEpoch, number: u32) -> bool {
        epoch == AccessEpoch::Symmetric(self.ctx) && (number.wrapping_sub(self.before) as i32) < 0
    }

    fn bits(self) -> u32 {
        4 | u32::from(self.reads) << 3 | self.ctx << 4
    }
}

const OPERATION: u64 = 1;
const COMPLETE: u64 = 2;
const MESSAGE: u64 = 3;
const EXPOSED: u64 = 4;
const ATTACHED: u64 = 5;
const HEAD: usize = 6;

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl RmaMessage {
    /// Calls `send` with the words of the message; several times, with a part of it each, where one
    /// message cannot hold all runs.
    pub fn encode(&self, longest: usize, mut send: impl FnMut(&[u64]) -> bool) -> bool {
        match self {
            RmaMessage::Operation(op) => {
                let mut all = true;
                for combs in op.runs.0.chunks((longest - HEAD) / 4) {
                    let mut words: SmallVec<[u64; HEAD + 4]> = SmallVec::from_slice(&op.head());
                    for comb in combs {
                        words.extend([
                            comb.start as u64,
                            comb.size,
                            comb.stride as u64,
                            comb.count,
                        ]);
                    }
                    all &= send(&words);
                }
                all
            }
            RmaMessage::Complete { window, event: Event { rank, segment, stamp }, which } => {
                let (kind, number) = match which {
                    Which::All => (0, 0),
                    Which::Reads => (1, 0),
                    Which::Epoch => (2, 0),
                    Which::One(number) => (3, *number),
                    Which::Symmetric(which) => (which.bits(), which.before),
                };
                let from = pair(*rank, *segment);
                let words = [COMPLETE, *window, from, pair(kind, number), stamp.to_bits()];
                send(if *stamp == Epoch::default() { &words[..4] } else { &words })
            }
            RmaMessage::MessageSent { origin, tag, comm, handle, segment } => {
                send(&[MESSAGE, *comm, pair(*origin, *segment), pair(*handle, *tag as u32)])
            }
            RmaMessage::Attached { window, owner, bytes, attached } => {
                let from = pair(*owner, u32::from(*attached));
                send(&[ATTACHED, *window, from, bytes.start as u64, bytes.end as u64])
            }
            RmaMessage::Exposed { window, target, segment } => {
                send(&[EXPOSED, *window, pair(*target, *segment)])
            }
        }
    }

    /// Decodes a message; `None` if the words are no message.
    pub fn decode(words: &[u64]) -> Option<RmaMessage> {
        let [kind, name, from, rest @ ..] = words else { return None };
        let (rank, segment) = halves(*from);
        Some(match (kind & 0xff, rest) {
            (OPERATION, _) => RmaMessage::Operation(Announced::decode(words)?),
            (COMPLETE, [what, stamp @ ..]) => {
                let which = match halves(*what) {
                    (0, _) => Which::All,
                    (1, _) => Which::Reads,
                    (2, _) => Which::Epoch,
                    (3, number) => Which::One(number),
                    (bits, before) => {
                        let (ctx, reads) = (bits >> 4, bits >> 3 & 1 == 1);
                        Which::Symmetric(Symmetric { ctx, before, reads })
                    }
                };
                let stamp = stamp.first().map_or(Epoch::default(), |bits| Epoch::from_bits(*bits));
                RmaMessage::Complete { window: *name, event: Event { rank, segment, stamp }, which }
            }
            (MESSAGE, [tag]) => {
                let (handle, tag) = halves(*tag);
                let tag = tag as i32;
                RmaMessage::MessageSent { origin: rank, tag, comm: *name, handle, segment }
            }
            (ATTACHED, [start, end]) => RmaMessage::Attached {
                window: *name,
                owner: rank,
                bytes: *start as usize..*end as usize,
                attached: segment != 0,
            },
            (EXPOSED, []) => RmaMessage::Exposed { window: *name, target: rank, segment },
            _ => return None,
        })
    }
}

impl Announced {
    fn head(&self) -> [u64; HEAD] {
        let (kind, count) = match self.epoch {
            AccessEpoch::None => (0, 0),
            AccessEpoch::Fence(n) => (1, n),
            AccessEpoch::Start(n) => (2, n),
            AccessEpoch::Shared => (3, 0),
            AccessEpoch::Exclusive => (4, 0),
            AccessEpoch::Symmetric(ctx) => (5, ctx),
        };
        let (atomic, op) = match self.atomic.map(|atomic| atomic.op) {
            None => (0, 0),
            Some(Combine::Nothing) => (1, 0),
            Some(Combine::Swap) => (2, 0),
            Some(Combine::Op(op)) => (3, op),
        };
        let datatype = self.atomic.map_or(0, |atomic| atomic.datatype);
        let rules = self.atomic.map_or(0, |atomic| u64::from(atomic.rules.bits()));
        let write = u64::from(self.mode == Mode::Write);
        let complete = u64::from(self.complete);
        let each = u64::from(self.each.map_or(0, NonZeroU32::get));
        [
            OPERATION
                | write << 8
                | complete << 9
                | rules << 10
                | atomic << 16
                | u64::from(self.atomic.map_or(0, |atomic| atomic.size)) << 18
                | kind << 24
                | each << 32,
            self.window,
            pair(self.origin, self.segment),
            pair(self.call, self.site),
            if self.atomic.is_none() { self.stored } else { pair(datatype as u32, op as u32) },
            pair(self.number, count),
        ]
    }

    fn decode(words: &[u64]) -> Option<Announced> {
        let [kind, window, from, place, reduction, numbers, combs @ ..] = words else {
            return None;
        };
        let (origin, segment) = halves(*from);
        let (call, site) = halves(*place);
        let (datatype, op) = halves(*reduction);
        let (datatype, op) = (datatype as i32, op as i32);
        let (number, count) = halves(*numbers);
        let size = (kind >> 18 & u64::from(MAX_ELEMENT)) as u8;
        let op = match kind >> 16 & 3 {
            0 => None,
            1 => Some(Combine::Nothing),
            2 => Some(Combine::Swap),
            _ => Some(Combine::Op(op)),
        };
        let stored = if op.is_none() { *reduction } else { 0 };
        let rules = Rules::from_bits((kind >> 10 & 0xf) as u8);
        let atomic = op.map(|op| Atomic { datatype, size, op, rules });
        let epoch = match kind >> 24 & 0xff {
            1 => AccessEpoch::Fence(count),
            2 => AccessEpoch::Start(count),
            3 => AccessEpoch::Shared,
            4 => AccessEpoch::Exclusive,
            5 => AccessEpoch::Symmetric(count),
            _ => AccessEpoch::None,
        };
        let each = NonZeroU32::new((kind >> 32) as u32);
        let complete = kind >> 9 & 1 == 1;
        let mode = if kind >> 8 & 1 == 1 { Mode::Write } else { Mode::Read };
        let comb = |words: &[u64]| Comb {
            start: words[0] as i64,
            size: words[1],
            stride: words[2] as i64,
            count: words[3],
        };
        let runs = Runs(combs.chunks_exact(4).map(comb).collect());
        let window = *window;
        Some(Announced {
            window,
            origin,
            segment,
            call,
            site,
            number,
            mode,
            atomic,
            epoch,
            each,
            complete,
            stored,
            runs,
        })
    }

    /// The first run of bytes.
    #[inline]
    pub fn run(&self) -> Comb {
        self.runs.0[0]
    }

    /// The size of each operation that this stands for, in bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        self.each.map_or(self.run().size, |each| each.get().into())
    }

    /// The footprint at the target, one for each run if it stands for several operations.
    pub fn footprints(&self, base: usize) -> impl Iterator<Item = Footprint> {
        let all = self.each.is_none().then(|| Footprint::new(base, self.runs.pattern()));
        let runs = self.runs.0.iter().filter(|_| self.each.is_some());
        let dense = move |run: &Comb| {
            let start = base.wrapping_add(run.start as usize);
            Footprint::Dense(start..start + run.size as usize)
        };
        all.into_iter().chain(runs.map(dense))
    }

    /// Whether it accesses one contiguous run, and not atomically.
    pub fn is_simple(&self) -> bool {
        self.atomic.is_none() && matches!(*self.runs.0, [Comb { count: 1, .. }])
    }

    /// Whether an operation of this size, which differs only in its location, can be merged into
    /// this one.
    #[inline]
    pub fn is_like(&self, size: u64) -> bool {
        (1..=u64::from(u32::MAX)).contains(&size) && size == self.size()
    }

    /// Whether an operation that begins there continues this one.
    #[inline]
    pub fn ends_at(&self, start: i64) -> bool {
        self.runs.0.last().is_some_and(|run| run.start + run.size as i64 == start)
    }

    /// Merges an operation that begins where this one ends.
    #[inline]
    pub fn take_in(&mut self, size: u64) {
        self.each = NonZeroU32::new(size as u32);
        if let Some(run) = self.runs.0.last_mut() {
            run.size += size;
        }
    }

    /// Merges an operation at another location.
    pub fn take_in_at(&mut self, start: i64, size: u64) {
        self.each = NonZeroU32::new(size as u32);
        self.runs.0.push(Comb { start, size, stride: 0, count: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_shadow::Pattern;
    use proptest::prelude::*;

    fn epochs() -> impl Strategy<Value = AccessEpoch> {
        prop_oneof![
            any::<u32>().prop_map(AccessEpoch::Fence),
            any::<u32>().prop_map(AccessEpoch::Start),
            Just(AccessEpoch::Shared),
            Just(AccessEpoch::Exclusive),
            any::<u32>().prop_map(AccessEpoch::Symmetric),
            Just(AccessEpoch::None),
        ]
    }

    fn atomics() -> impl Strategy<Value = Option<Atomic>> {
        let op = prop_oneof![
            Just(Combine::Nothing),
            Just(Combine::Swap),
            any::<i32>().prop_map(Combine::Op)
        ];
        let rules = (0u8..16).prop_map(Rules::from_bits);
        let atomic = (any::<i32>(), 0..=MAX_ELEMENT, op, rules);
        prop::option::of(atomic.prop_map(|(datatype, size, op, rules)| Atomic {
            datatype,
            size,
            op,
            rules,
        }))
    }

    proptest! {
        #[test]
        fn operations_survive_the_journey(
            (window, origin, segment, call) in any::<(u64, u32, u32, u32)>(),
            (site, number, stored) in any::<(u32, u32, u64)>(),
            write: bool, atomic in atomics(), epoch in epochs(), each: u32, complete: bool,
            runs in prop::collection::vec((0i64..1000, 1u64..50, -90i64..90, 1u64..9), 1..9),
        ) {
            let mode = if write { Mode::Write } else { Mode::Read };
            let comb = |(start, size, stride, count)| Comb { start, size, stride, count };
            let runs = Runs(runs.into_iter().map(comb).collect());
            let each = NonZeroU32::new(each);
            let sent = Announced {
                window, origin, segment, call, site, number, mode, atomic, epoch, each, complete,
                stored: if atomic.is_none() { stored } else { 0 },
                runs,
            };
            let (mut got, mut combs) = (None, SmallVec::new());
            RmaMessage::Operation(sent.clone()).encode(16, |words| {
                let Some(RmaMessage::Operation(part)) = RmaMessage::decode(words) else { return false };
                combs.extend(part.runs.0.iter().copied());
                got = Some(part);
                true
            });
            prop_assert_eq!(Announced { runs: Runs(combs), ..got.unwrap() }, sent);
        }
    }

    #[test]
    fn operations_continue_each_other() {
        let put = |start, size| Announced {
            window: 1,
            origin: 2,
            segment: 3,
            call: 4,
            site: 5,
            number: 6,
            mode: Mode::Write,
            atomic: None,
            epoch: AccessEpoch::Shared,
            each: None,
            complete: false,
            stored: 0,
            runs: Runs::of(&Pattern::dense(0, size), start),
        };
        let mut first = put(16, 8);
        assert!(first.is_like(8) && !first.is_like(16) && !put(16, 0).is_like(0));
        assert!(first.ends_at(24) && !first.ends_at(20) && !first.ends_at(32));
        first.take_in(8);
        assert!(first.is_like(8) && !first.is_like(16) && first.ends_at(32));
        assert_eq!(first, Announced { each: NonZeroU32::new(8), ..put(16, 16) });
        first.take_in_at(100, 8);
        first.take_in(8);
        assert!(first.ends_at(116));
        let touched: Vec<_> = first.footprints(1000).map(|footprint| footprint.span()).collect();
        assert_eq!(touched, [1016..1032, 1100..1116]);
    }

    #[test]
    fn nonsense_is_no_notice() {
        for words in [&[][..], &[9, 0, 0], &[COMPLETE, 0, 0], &[OPERATION, 0, 0]] {
            assert_eq!(RmaMessage::decode(words), None);
        }
    }
}
