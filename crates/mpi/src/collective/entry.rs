//! What one rank enters, and in what it differs from what another one does.

use super::alike;
use super::signature::Signature;
use commsan_job_shm::ENTRY;
use commsan_mpi_calls::{CALLS, Call};

/// Communicators of which an entry tells how far its rank has come.
pub const MAX_PROGRESS: usize = 3;
/// Where the arguments are in an entry that all must pass alike.
const ALIKE: usize = ENTRY - alike::MAX_VALUES;
/// The first word of a signature that is not there.
const ABSENT: u64 = u64::MAX;

/// One rank's call of a collective, as others need it to compare with theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Rank in the job.
    pub rank: u32,
    /// Number of the place within the rank.
    pub site: u32,
    /// Row of the call, of the small one of twins.
    pub kind: u32,
    /// Whether the rank had several threads.
    pub threads: bool,
    /// The root, as rank in the job.
    pub root: Option<u32>,
    /// Number of the predefined reduction, or [`OTHER`](commsan_mpi_calls::reduction::OTHER).
    pub op: u32,
    /// What each rank must send or receive alike.
    pub data: Option<Signature>,
    /// What a fence asserts that all must.
    pub asserted: Asserted,
    /// Arguments that all must pass alike.
    pub alike: alike::Values,
    /// How far the rank has come elsewhere.
    pub progress: [Progress; MAX_PROGRESS],
}

/// Assertions that all ranks must give to a fence, or none (MPI 4.1 §12.5.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asserted {
    /// `MPI_MODE_NOPRECEDE`.
    pub none_precede: bool,
    /// `MPI_MODE_NOSUCCEED`.
    pub none_succeed: bool,
}

impl Asserted {
    /// In words.
    pub fn describe(self) -> &'static str {
        match (self.none_precede, self.none_succeed) {
            (false, false) => "neither MPI_MODE_NOPRECEDE nor MPI_MODE_NOSUCCEED",
            (true, false) => "MPI_MODE_NOPRECEDE",
            (false, true) => "MPI_MODE_NOSUCCEED",
            (true, true) => "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED",
        }
    }
}

/// How far a rank has come on a communicator; the name 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The communicator's name.
    pub name: u64,
    /// Collectives entered.
    pub entered: u32,
    /// Number of the last of them that was blocking, 0 for none.
    pub blocking: u32,
}

/// In what two entries that belong together differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One of them is `MPI_Finalize`, which this other one is not.
    Finalized,
    /// They are different calls.
    Kind,
    /// The roots.
    Root,
    /// The reductions.
    Op,
    /// The data.
    Data,
    /// What a fence asserts.
    Assertions,
    /// An argument that all must pass alike: which of them.
    Argument(usize),
}

impl Entry {
    /// The call.
    pub fn call(&self) -> Option<&'static Call> {
        CALLS.get(self.kind as usize)
    }

    fn is_finalize(&self) -> bool {
        self.call().is_some_and(Call::ends)
    }

    /// Whether it may wait for other ranks.
    pub fn blocks(&self) -> bool {
        self.call().is_some_and(Call::blocks)
    }

    /// In what this one differs from another one of the same collective.
    pub fn differs(&self, other: &Entry) -> Option<Difference> {
        let roots = self.root.is_some() && other.root.is_some();
        let data = self.data.zip(other.data);
        if self.is_finalize() != other.is_finalize() {
            Some(Difference::Finalized)
        } else if self.kind != other.kind {
            Some(Difference::Kind)
        } else if roots && self.root != other.root {
            Some(Difference::Root)
        } else if self.op != other.op && self.op != 0 && other.op != 0 {
            Some(Difference::Op)
        } else if data.is_some_and(|(own, others)| !own.matches(others)) {
            Some(Difference::Data)
        } else if self.asserted != other.asserted {
            Some(Difference::Assertions)
        } else {
            alike::differs(&self.alike, &other.alike).map(Difference::Argument)
        }
    }

    /// How far the rank has come on a communicator, if it says so.
    pub fn progress_on(&self, name: u64) -> Option<Progress> {
        self.progress.iter().copied().find(|progress| progress.name == name)
    }

    /// The entry as others read it.
    pub fn to_words(&self) -> [u64; ENTRY] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [a, b, c] = self.data.map_or([ABSENT, 0, 0], Signature::to_words);
        let mut words = [0; ENTRY];
        words[0] = pair(self.rank, self.site);
        let Asserted { none_precede, none_succeed } = self.asserted;
        let flags = [self.threads, none_precede, none_succeed];
        let flags = (0..).zip(flags).map(|(bit, is)| u32::from(is) << bit).sum();
        words[1] = pair(self.kind, flags);
        words[2] = pair(self.root.map_or(0, |root| root + 1), self.op);
        words[3..6].copy_from_slice(&[a, b, c]);
        for (to, progress) in words[6..ALIKE].chunks_exact_mut(2).zip(&self.progress) {
            to.copy_from_slice(&[progress.name, pair(progress.entered, progress.blocking)]);
        }
        words[ALIKE..].copy_from_slice(&self.alike);
        words
    }

    /// What another rank wrote.
    pub fn from_words(words: &[u64; ENTRY]) -> Entry {
        let low = |word: u64| word as u32;
        let high = |word: u64| (word >> 32) as u32;
        let progress = |index: usize| Progress {
            name: words[6 + 2 * index],
            entered: low(words[7 + 2 * index]),
            blocking: high(words[7 + 2 * index]),
        };
        Entry {
            rank: low(words[0]),
            site: high(words[0]),
            kind: low(words[1]),
            threads: high(words[1]) & 1 != 0,
            root: low(words[2]).checked_sub(1),
            op: high(words[2]),
            data: (words[3] != ABSENT)
                .then(|| Signature::from_words([words[3], words[4], words[5]])),
            asserted: Asserted {
                none_precede: high(words[1]) & 2 != 0,
                none_succeed: high(words[1]) & 4 != 0,
            },
            alike: std::array::from_fn(|index| words[ALIKE + index]),
            progress: std::array::from_fn(progress),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_mpi_calls::named;
    use proptest::prelude::*;

    fn kind(name: &str) -> u32 {
        named(name).unwrap().kind
    }

    fn entries() -> impl Strategy<Value = Entry> {
        let kinds =
            prop::sample::select(vec!["MPI_Bcast", "MPI_Ibcast", "MPI_Win_fence", "MPI_Finalize"]);
        let sizes = prop::option::of((0..3_u64, any::<bool>()));
        let progress = (0..3_u64, 0..4_u32, 0..4_u32);
        (kinds, any::<[u16; 2]>(), prop::option::of(0..2_u32), 0..3_u32, sizes, progress).prop_map(
            |(name, [rank, site], root, op, size, (at, entered, blocking))| Entry {
                rank: rank.into(),
                site: site.into(),
                kind: kind(name),
                threads: rank % 2 == 0,
                root,
                op,
                data: size.map(|(count, is_byte)| {
                    let name = if is_byte { "MPI_BYTE" } else { "MPI_INT8_T" };
                    Signature::predefined(name, 1).repeat(count)
                }),
                asserted: Asserted { none_precede: rank % 3 == 0, none_succeed: rank % 5 == 0 },
                alike: [op.into(), u64::MAX * u64::from(rank % 2), at],
                progress: [Progress { name: at, entered, blocking }; MAX_PROGRESS],
            },
        )
    }

    proptest! {
        #[test]
        fn entries_survive_the_way_to_others(entry in entries()) {
            prop_assert_eq!(Entry::from_words(&entry.to_words()), entry);
        }

        #[test]
        fn differences_are_seen_from_both_sides(one in entries(), other in entries()) {
            prop_assert_eq!(one.differs(&other), other.differs(&one));
            prop_assert_eq!(one.differs(&one), None);
        }
    }

    #[test]
    fn only_what_both_say_can_differ() {
        let entry = Entry {
            rank: 0,
            site: 0,
            kind: kind("MPI_Reduce"),
            threads: false,
            root: Some(1),
            op: 3,
            data: Some(Signature::predefined("MPI_INT", 4)),
            asserted: Asserted::default(),
            alike: [7, 0, 0],
            progress: Default::default(),
        };
        let large = Entry { kind: named("MPI_Reduce_c").unwrap().kind, ..entry };
        assert_eq!(entry.differs(&large), None);
        let unknown = Entry { root: None, op: 0, data: None, ..entry };
        assert_eq!(entry.differs(&unknown), None);
        for (other, difference) in [
            (Entry { root: Some(0), op: 4, ..entry }, Difference::Root),
            (Entry { op: 4, ..entry }, Difference::Op),
            (Entry { data: Some(Signature::EMPTY), ..entry }, Difference::Data),
            (
                Entry { asserted: Asserted { none_precede: false, none_succeed: true }, ..entry },
                Difference::Assertions,
            ),
            (Entry { alike: [7, 1, 0], ..entry }, Difference::Argument(1)),
            (Entry { kind: kind("MPI_Ireduce"), root: Some(0), ..entry }, Difference::Kind),
            (Entry { kind: kind("MPI_Finalize"), ..unknown }, Difference::Finalized),
        ] {
            assert_eq!(entry.differs(&other), Some(difference));
        }
    }
}
