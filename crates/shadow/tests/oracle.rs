//! Live ranges and the page filter against a brute-force oracle: byte by byte, all pairs, full
//! vector clocks.
//!
//! The oracle does not know live ranges. It gives the program and every operation a vector clock,
//! lets an operation start after what the program did before and the program continue after what it
//! completed, and calls two accesses a conflict when they share a byte, one writes, and neither
//! happens before the other. Both must name the same operations for every access of random
//! programs, with page tables so small that pages alias.
//! programs, with page tables so small that pages alias.

use commsan_shadow::{Access, Footprint, GRANULE_WORDS, Live, Mode, OpId, Pages, Pattern};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU8, AtomicU64};

#[derive(Clone, Debug)]
enum Event {
    /// Starts an operation with these accesses.
    Begin(Vec<(Mode, usize, Shape)>),
    /// Completes the n-th of the operations that are still pending.
    End(usize),
    /// Withdraws the accesses of pending operations to these bytes.
    Withdraw(usize, usize),
    /// The program itself accesses memory.
    Touch(Mode, usize, Shape),
}

/// `count` blocks of `len` bytes, `stride` bytes apart.
type Shape = (usize, usize, isize);

fn pattern((count, len, stride): Shape) -> Pattern {
    Pattern::dense(0, len as isize).repeat(count, stride)
}

fn bytes(base: usize, (count, len, stride): Shape) -> BTreeSet<usize> {
    let block = |i: usize| base.wrapping_add_signed(i as isize * stride);
    (0..count).flat_map(|i| block(i)..block(i) + len).collect()
}

/// Vector clocks, one component for each agent: 0 is the program, n + 1 the n-th operation.
type Clock = BTreeMap<usize, u64>;

#[derive(Default)]
struct Oracle {
    program: Clock,
    /// Every access of every operation ever started: agent, time, bytes and mode.
    past: Vec<(usize, u64, Mode, BTreeSet<usize>)>,
    operations: usize,
}

impl Oracle {
    fn conflicts(&self, mode: Mode, touched: &BTreeSet<usize>) -> BTreeSet<usize> {
        let unordered = |agent: &usize, time: &u64| self.program.get(agent).unwrap_or(&0) < time;
        let racing = self.past.iter().filter(|(agent, time, other, set)| {
            unordered(agent, time)
                && (mode == Mode::Write || *other == Mode::Write)
                && !set.is_disjoint(touched)
        });
        racing.map(|(agent, ..)| agent - 1).collect()
    }

    fn begin(&mut self, accesses: &[(Mode, usize, Shape)]) -> usize {
        self.operations += 1;
        *self.program.entry(0).or_default() += 1;
        for (mode, base, shape) in accesses {
            self.past.push((self.operations, 1, *mode, bytes(*base, *shape)));
        }
        self.operations - 1
    }

    fn end(&mut self, operation: usize) {
        self.program.insert(operation + 1, 1);
    }

    /// Returns the operations that have no access left.
    fn withdraw(&mut self, range: &std::ops::Range<usize>) -> BTreeSet<usize> {
        let pending = |agent: &usize| !self.program.contains_key(agent);
        let there = |(agent, _, _, set): &(usize, u64, Mode, BTreeSet<usize>)| {
            pending(agent) && set.range(range.clone()).next().is_some()
        };
        let concerned: BTreeSet<usize> =
            self.past.iter().filter(|a| there(a)).map(|a| a.0).collect();
        let left = |agent: &usize| {
            self.past
                .iter()
                .any(|access| access.0 == *agent && !access.3.is_empty() && !there(access))
        };
        let ended = concerned.iter().filter(|agent| !left(agent)).map(|agent| agent - 1).collect();
        let keep: Vec<bool> = self.past.iter().map(|access| !there(access)).collect();
        let mut keep = keep.into_iter();
        self.past.retain(|_| keep.next().unwrap_or(true));
        ended
    }
}

fn pages(granular: bool) -> Pages {
    const SLOTS: usize = 4;
    let filter = Vec::leak((0..SLOTS).map(|_| AtomicU8::new(0)).collect());
    let counts = Vec::leak((0..SLOTS).map(|_| AtomicU64::new(0)).collect());
    let plane = || [const { AtomicU64::new(0) }; GRANULE_WORDS];
    let granules = &*Vec::leak((0..SLOTS).map(|_| plane()).collect());
    Pages::new(filter, counts, granular.then_some(granules))
}

fn named(live: &Live<usize>, mode: Mode, footprint: &Footprint) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let touched = footprint.clone();
    let _ = live.conflicts::<()>(mode, footprint, |id, access, common| {
        assert!(!common.is_empty());
        for byte in common {
            assert!(touched.within(&(byte..byte + 1)).is_some(), "the access leaves it alone");
            assert!(access.footprint.within(&(byte..byte + 1)).is_some(), "so does the operation");
        }
        all.insert(*live.get(id).expect("a conflicting operation is live"));
        ControlFlow::Continue(())
    });
    all
}

fn access() -> impl Strategy<Value = (Mode, usize, Shape)> {
    let mode = prop_oneof![Just(Mode::Read), Just(Mode::Write)];
    // Small strided shapes near page boundaries, and occasionally whole pages.
    let small = (0usize..5, 0usize..24, -40isize..40);
    let large = (1usize..3, 4000usize..9000, 9000isize..9001);
    (mode, 0x10_0000usize..0x10_5000, prop_oneof![4 => small, 1 => large])
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => prop::collection::vec(access(), 0..3).prop_map(Event::Begin),
        2 => (0usize..8).prop_map(Event::End),
        1 => (0x10_0000usize..0x10_5000, 1usize..3000).prop_map(|(at, len)| Event::Withdraw(at, len)),
        5 => access().prop_map(|(mode, base, shape)| Event::Touch(mode, base, shape)),
    ];
    prop::collection::vec(event, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn engine_and_oracle_agree(events in events(), granular: bool) {
        let mut oracle = Oracle::default();
        let mut live = Live::new(pages(granular));
        let mut pending: Vec<(usize, OpId)> = Vec::new();
        for event in events {
            match event {
                Event::Begin(list) => {
                    for (mode, base, shape) in &list {
                        let footprint = Footprint::new(*base, pattern(*shape));
                        prop_assert_eq!(
                            named(&live, *mode, &footprint),
                            oracle.conflicts(*mode, &bytes(*base, *shape))
                        );
                    }
                    let number = oracle.begin(&list);
                    let access = |(mode, base, shape)| {
                        Some(Access { mode, footprint: Footprint::new(base, pattern(shape)) })
                    };
                    let mut accesses: Vec<_> = list.into_iter().map(access).collect();
                    pending.push((number, live.begin(&mut accesses, number)));
                }
                Event::End(nth) if nth < pending.len() => {
                    let (number, id) = pending.remove(nth);
                    prop_assert_eq!(live.end(id), Some(number));
                    prop_assert_eq!(live.end(id), None);
                    oracle.end(number);
                }
                Event::End(_) => {}
                Event::Withdraw(start, len) => {
                    let range = start..start + len;
                    live.withdraw(&range, |_, accesses, at| {
                        assert!(accesses[at].footprint.within(&range).is_some());
                        true
                    });
                    let ended = oracle.withdraw(&range);
                    let known = |(number, id): &(usize, OpId)| {
                        assert_eq!(live.get(*id).is_none(), ended.contains(number));
                        !ended.contains(number)
                    };
                    pending.retain(known);
                    ended.into_iter().for_each(|operation| oracle.end(operation));
                }
                Event::Touch(mode, base, shape) => {
                    let footprint = Footprint::new(base, pattern(shape));
                    prop_assert_eq!(
                        named(&live, mode, &footprint),
                        oracle.conflicts(mode, &bytes(base, shape))
                    );
                }
            }
        }
        for (_, id) in pending {
            live.end(id);
        }
        prop_assert_eq!(live.ranges(), 0);
    }

    #[test]
    fn an_idle_engine_leaves_the_filter_clean(list in prop::collection::vec(access(), 0..12)) {
        let pages = pages(true);
        let mut live = Live::new(pages);
        let ids: Vec<_> = list
            .into_iter()
            .map(|(mode, base, shape)| {
                let footprint = Footprint::new(base, pattern(shape));
                live.begin(&mut [Some(Access { mode, footprint })], ())
            })
            .collect();
        for id in ids {
            live.end(id);
        }
        prop_assert!(!pages.may_conflict(&(0..0x20_0000), Mode::Write));
    }
}

#[test]
fn a_marked_range_grows() {
    let pages = pages(true);
    assert!(pages.claim(&(64..72), Mode::Write));
    assert!(pages.claim_more(&(64..72), 16, Mode::Write));
    assert!(!pages.claim_more(&(64..72), 8, Mode::Write));
    assert!(pages.may_conflict(&(80..88), Mode::Read));
    assert!(!pages.may_conflict(&(88..96), Mode::Write));
    pages.unmark(64..88, Mode::Write);
    assert!(!pages.may_conflict(&(0..4096), Mode::Write));
}

proptest! {
    /// A range grown in steps marks the same as one marked at once, and unmarks completely.
    #[test]
    fn a_range_that_has_grown_leaves_nothing(
        start in 0usize..5000, steps in prop::collection::vec(1usize..3000, 1..6), granular: bool,
    ) {
        let pages = pages(granular);
        // Marks of another mode in the same pages remain.
        pages.mark(0..4096, Mode::Read);
        let (first, rest) = (steps[0], &steps[1..]);
        let mut range = 0x4000 + start..0x4000 + start + first;
        prop_assert!(pages.claim(&range, Mode::Read));
        for more in rest {
            prop_assert!(pages.claim_more(&range, *more, Mode::Read));
            range.end += more;
            prop_assert!(pages.may_conflict(&(range.end - 1..range.end), Mode::Write));
        }
        pages.unmark(range.clone(), Mode::Read);
        prop_assert!(pages.may_conflict(&(0..8), Mode::Write));
        pages.unmark(0..4096, Mode::Read);
        prop_assert!(!pages.may_conflict(&(0..0x20_0000), Mode::Write));
    }
}

proptest! {
    /// Every byte of a marked range stays marked, whatever ends beside it; where no two ranges have
    /// shared a granule since the page was clean, nothing else is.
    #[test]
    fn marks_end_with_their_ranges(
        steps in prop::collection::vec((0usize..0x5000, 1usize..200, any::<bool>(), 0usize..8), 1..60),
        apart: bool,
    ) {
        let pages = pages(true);
        let mut live: Vec<(Range<usize>, Mode)> = vec![];
        for (start, len, writes, ended) in steps {
            let mode = if writes { Mode::Write } else { Mode::Read };
            let range = start..start + len;
            if ended < live.len() && ended % 2 == 0 {
                let (range, mode) = live.swap_remove(ended);
                pages.unmark(range, mode);
            }
            // In four slots, pages that are so far apart are one.
            let granules = |range: &Range<usize>| {
                (range.start / 8..=(range.end - 1) / 8).map(|granule| granule % 0x800)
            };
            let mut marked = [false; 0x800];
            live.iter().flat_map(|(range, _)| granules(range)).for_each(|at| marked[at] = true);
            if apart && granules(&range).any(|at| marked[at]) {
                continue;
            }
            granules(&range).for_each(|at| marked[at] = true);
            pages.mark(range.clone(), mode);
            live.push((range, mode));
            for (range, mode) in &live {
                for byte in range.clone() {
                    prop_assert!(pages.may_conflict(&(byte..byte + 1), Mode::Write));
                    prop_assert!(
                        *mode == Mode::Read || pages.may_conflict(&(byte..byte + 1), Mode::Read)
                    );
                }
            }
            for at in (0..0x800).filter(|_| apart) {
                let found = pages.may_conflict(&(at * 8..at * 8 + 8), Mode::Write);
                prop_assert_eq!(found, marked[at], "{}", at);
            }
        }
    }
}
