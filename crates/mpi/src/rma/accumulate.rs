//! Accumulates that may overlap at their target (MPI 4.1 §12.7.1, §12.7.2).

use commsan_shadow::Footprint;
use std::ops::ControlFlow;

/// How an operation may combine with others at its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// The predefined datatype, by its Fortran handle; 0 if it is not known, or there are several.
    pub datatype: i32,
    /// Bytes of an element of it, at most [`MAX_ELEMENT`]; 0 if that is not known.
    pub size: u8,
    /// The reduction.
    pub op: Combine,
    /// What the window's info promised when it started.
    pub rules: Rules,
}

/// Largest element in bytes: the largest predefined datatypes are pairs of `long double`s.
pub const MAX_ELEMENT: u8 = 63;
/// Runs of bytes whose position is looked at.
const RUNS: usize = 32;

/// The reduction of an accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// `MPI_NO_OP`: an atomic read.
    Nothing,
    /// `MPI_Compare_and_swap`.
    Swap,
    /// Any other reduction, by its Fortran handle.
    Op(i32),
}

/// What info keys say about a window's accumulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// `accumulate_ops` is `same_op`: not even `MPI_NO_OP` meets another operation.
    pub same_op: bool,
    /// `accumulate_ordering` has `raw`: reads of one origin come after its earlier writes.
    pub read_after_write: bool,
    /// `accumulate_ordering` has `war`: writes of one origin come after its earlier reads.
    pub write_after_read: bool,
    /// `accumulate_ordering` has `waw`: writes of one origin come after its earlier writes.
    pub write_after_write: bool,
}

impl Default for Rules {
    /// The rules of a window without info (MPI 4.1 §12.2.1).
    fn default() -> Rules {
        Rules {
            same_op: false,
            read_after_write: true,
            write_after_read: true,
            write_after_write: true,
        }
    }
}

impl Rules {
    /// Takes an info key; others and values that the standard does not know change nothing.
    pub fn set(&mut self, key: &str, value: &str) {
        match (key, value.trim()) {
            ("accumulate_ops", "same_op") => self.same_op = true,
            ("accumulate_ops", "same_op_no_op") => self.same_op = false,
            ("accumulate_ordering", orders) => {
                let orders: Vec<&str> = orders.split(',').map(str::trim).collect();
                let known = |order| ["rar", "raw", "war", "waw"].contains(order);
                // MPICH 4.0 cuts a list at its first comma when it reads it, so that a single order
                // may originally have been a list.
                if orders == ["none"] || orders.len() > 1 && orders.iter().all(known) {
                    self.read_after_write = orders.contains(&"raw");
                    self.write_after_read = orders.contains(&"war");
                    self.write_after_write = orders.contains(&"waw");
                }
            }
            _ => {}
        }
    }

    /// The rules as a number, 0 for the default.
    pub fn bits(self) -> u8 {
        let Rules { same_op, read_after_write, write_after_read, write_after_write } = self;
        [same_op, !read_after_write, !write_after_read, !write_after_write]
            .iter()
            .rev()
            .fold(0, |bits, rule| bits << 1 | u8::from(*rule))
    }

    /// The rules that [`bits`](Self::bits) turned into this number.
    pub fn from_bits(bits: u8) -> Rules {
        Rules {
            same_op: bits & 1 != 0,
            read_after_write: bits & 2 == 0,
            write_after_read: bits & 4 == 0,
            write_after_write: bits & 8 == 0,
        }
    }
}

/// Where the elements of a footprint are, modulo their size: the same for all runs; `None` if that
/// differs, or the size is not known.
fn phase(footprint: &Footprint, size: usize) -> Option<usize> {
    let (mut phase, mut runs) = (None, 0);
    let all = footprint.visit(&footprint.span(), &mut |run| {
        let own = run.start % size;
        runs += 1;
        match *phase.get_or_insert(own) == own {
            true if runs < RUNS => ControlFlow::Continue(()),
            same => ControlFlow::Break(same),
        }
    });
    phase.filter(|_| all != ControlFlow::Break(false))
}

impl Atomic {
    /// Whether elements of two accumulates that meet overlap in part: each is atomic for its own
    /// elements alone (MPI 4.1 §12.7.1).
    pub fn splits(self, own: &Footprint, other: Atomic, others: &Footprint) -> bool {
        let size = usize::from(self.size);
        let is_known = size > 1 && self.size == other.size && self.datatype == other.datatype;
        let differ = || phase(own, size).zip(phase(others, size)).is_some_and(|(a, b)| a != b);
        is_known && differ()
    }

    /// Whether both have the same predefined type, as far as is known.
    fn is_of_type(self, other: Atomic) -> bool {
        self.datatype == other.datatype || self.datatype == 0 || other.datatype == 0
    }

    /// Whether two accumulates may overlap: same predefined type, and same operation but for
    /// `MPI_NO_OP`, unless the window's info rules that out. (Of `MPI_Compare_and_swap`, the
    /// standard does not say.)
    pub fn combines_with(self, other: Atomic) -> bool {
        self.is_of_type(other)
            && match (self.op, other.op) {
                (Combine::Op(a), Combine::Op(b)) => a == b,
                (Combine::Nothing, Combine::Op(_)) | (Combine::Op(_), Combine::Nothing) => {
                    !(self.rules.same_op && other.rules.same_op)
                }
                _ => true,
            }
    }

    /// Whether a later accumulate of the same origin is performed after this one, whatever they do.
    pub fn precedes(self, later: Atomic) -> bool {
        let promised = |rules: Rules| match (self.op, later.op) {
            (Combine::Nothing, Combine::Nothing) => true,
            (Combine::Nothing, _) => rules.write_after_read,
            (_, Combine::Nothing) => rules.read_after_write,
            _ => rules.write_after_write,
        };
        self.is_of_type(later) && (promised(self.rules) || promised(later.rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_shadow::Pattern;

    const SUM: Combine = Combine::Op(3);
    const MAX: Combine = Combine::Op(4);

    fn atomic(op: Combine, rules: Rules) -> Atomic {
        Atomic { datatype: 7, size: 8, op, rules }
    }

    #[test]
    fn elements_that_overlap_in_part_are_split() {
        let sum = atomic(SUM, Rules::default());
        let dense = |start: usize| Footprint::Dense(start..start + 32);
        assert!(!sum.splits(&dense(64), sum, &dense(72)));
        assert!(sum.splits(&dense(64), sum, &dense(68)));
        // Elements of another or an unknown type have other rules.
        let unknown = Atomic { size: 0, ..sum };
        assert!(!sum.splits(&dense(64), unknown, &dense(68)));
        assert!(!unknown.splits(&dense(64), unknown, &dense(68)));
        let every_other = |start: usize| {
            let pattern = Pattern::dense(0, 8).repeat(4, 16);
            Footprint::new(start, pattern)
        };
        assert!(!sum.splits(&every_other(64), sum, &dense(80)));
        assert!(sum.splits(&every_other(64), sum, &dense(82)));
        let uneven = Footprint::new(
            64,
            Pattern::parts([(0, Pattern::dense(0, 8)), (12, Pattern::dense(0, 8))]),
        );
        assert!(!sum.splits(&uneven, sum, &dense(68)));
    }

    fn rules(pairs: &[(&str, &str)]) -> Rules {
        let mut rules = Rules::default();
        pairs.iter().for_each(|(key, value)| rules.set(key, value));
        rules
    }

    #[test]
    fn info_is_read_as_the_standard_spells_it() {
        assert_eq!(rules(&[("accumulate_ordering", "rar,raw,war,waw")]), Rules::default());
        assert_eq!(rules(&[("accumulate_ordering", "strict"), ("no_locks", "true")]).bits(), 0);
        let none = rules(&[("accumulate_ordering", "none")]);
        assert!(!none.read_after_write && !none.write_after_read && !none.write_after_write);
        let some = rules(&[("accumulate_ordering", " raw , waw"), ("accumulate_ops", "same_op")]);
        assert!(some.read_after_write && !some.write_after_read && some.write_after_write);
        assert!(some.same_op);
        assert_eq!(rules(&[("accumulate_ordering", "rar")]).bits(), 0);
        assert_eq!(
            rules(&[("accumulate_ops", "same_op"), ("accumulate_ops", "same_op_no_op")]).bits(),
            0
        );
        (0..16).for_each(|bits| assert_eq!(Rules::from_bits(bits).bits(), bits));
    }

    #[test]
    fn reads_combine_with_all_unless_info_rules_it_out() {
        let usual = Rules::default();
        let strict = rules(&[("accumulate_ops", "same_op")]);
        for (a, b, combine) in [
            (atomic(SUM, usual), atomic(SUM, usual), true),
            (atomic(SUM, usual), atomic(MAX, usual), false),
            (atomic(SUM, usual), atomic(Combine::Nothing, usual), true),
            (atomic(SUM, strict), atomic(Combine::Nothing, strict), false),
            (atomic(SUM, strict), atomic(Combine::Nothing, usual), true),
            (atomic(SUM, strict), atomic(Combine::Swap, strict), true),
            (atomic(SUM, strict), atomic(SUM, strict), true),
            (atomic(SUM, usual), Atomic { datatype: 8, ..atomic(SUM, usual) }, false),
            (atomic(SUM, usual), Atomic { datatype: 0, ..atomic(SUM, usual) }, true),
        ] {
            assert_eq!(a.combines_with(b), combine, "{a:?} {b:?}");
            assert_eq!(b.combines_with(a), combine, "{b:?} {a:?}");
        }
    }

    #[test]
    fn accumulates_of_one_origin_are_ordered_as_info_says() {
        for (ordering, waw, raw, war) in [
            ("none", false, false, false),
            ("rar,waw", true, false, false),
            ("raw,war", false, true, true),
            ("rar,raw,war,waw", true, true, true),
        ] {
            let rules = rules(&[("accumulate_ordering", ordering)]);
            let of = |op| atomic(op, rules);
            assert_eq!(of(SUM).precedes(of(MAX)), waw, "{ordering}");
            assert_eq!(of(SUM).precedes(of(Combine::Nothing)), raw, "{ordering}");
            assert_eq!(of(Combine::Nothing).precedes(of(SUM)), war, "{ordering}");
            assert!(of(Combine::Nothing).precedes(of(Combine::Nothing)));
            assert!(of(SUM).precedes(atomic(MAX, Rules::default())));
        }
    }
}
