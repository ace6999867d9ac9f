//! An entry of the rendezvous: one rank's call of a collective, and how two of them differ.

use super::alike;
use super::signature::Signature;
use commsan_job_shm::ENTRY;
use commsan_mpi_calls::{CALLS, Call};

/// Communicators in an entry, with how far its rank has come on each.
pub const MAX_PROGRESS: usize = 3;
/// Words of an entry before the arguments that all ranks must pass alike.
const ALIKE: usize = ENTRY - alike::MAX_VALUES;
/// The first word of a signature that is absent.
const ABSENT: u64 = u64::MAX;

/// One rank's call of a collective, as others need it to compare with theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Rank in the job.
    pub rank: u32,
    /// Number of the site within the rank.
    pub site: u32,
    /// Row of the call, for calls with large counts that of the call without.
    pub kind: u32,
    /// Whether the rank had several threads at work.
    pub threads: bool,
    /// The root.
    pub root: Root,
    /// Number of the predefined reduction, or [`OTHER`](commsan_mpi_calls::reduction::OTHER).
    pub op: u32,
    /// The signature that all ranks must match.
    pub data: Option<Signature>,
    /// Assertions of a fence that all ranks must make alike.
    pub asserted: Asserted,
    /// Arguments that all ranks must pass alike.
    pub alike: alike::Values,
    /// How far the rank has come on communicators that it used lately.
    pub progress: [Progress; MAX_PROGRESS],
}

/// Who is the root of a collective, as one rank has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// It has none, or nobody knows.
    Unknown,
    /// The rank itself, by `MPI_ROOT`.
    Itself,
    /// This rank of the job.
    Rank(u32),
    /// Another one of the rank's own group of an intercommunicator: `MPI_PROC_NULL`.
    AnotherOfOwnGroup,
}

impl Root {
    /// Who it is in words.
    pub fn describe(self) -> Option<String> {
        match self {
            Root::Unknown => None,
            Root::Itself => Some("itself".to_owned()),
            Root::Rank(root) => Some(format!("rank {root}")),
            Root::AnotherOfOwnGroup => Some("another rank of its group".to_owned()),
        }
    }

    fn number(self) -> u32 {
        match self {
            Root::Unknown => 0,
            Root::AnotherOfOwnGroup => 1,
            Root::Itself => 2,
            Root::Rank(rank) => rank + 3,
        }
    }

    fn from_number(number: u32) -> Root {
        match number {
            0 => Root::Unknown,
            1 => Root::AnotherOfOwnGroup,
            2 => Root::Itself,
            _ => Root::Rank(number - 3),
        }
    }
}

/// Assertions that either all ranks must give to a fence or none (MPI 4.1 §12.5.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asserted {
    /// `MPI_MODE_NOPRECEDE`.
    pub none_precede: bool,
    /// `MPI_MODE_NOSUCCEED`.
    pub none_succeed: bool,
}

impl Asserted {
    /// The assertions in words.
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
    /// Number of collectives entered.
    pub entered: u32,
    /// Number of the last of them that was blocking, 0 for none.
    pub blocking: u32,
}

/// How two entries of one collective differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One is `MPI_Finalize`, the other is not.
    Finalized,
    /// Different calls.
    Kind,
    /// Different roots.
    Root,
    /// Different reductions.
    Op,
    /// Signatures that do not match.
    Data,
    /// Different assertions of a fence.
    Assertions,
    /// The argument at this index, which all ranks must pass alike.
    Argument(usize),
}

impl Entry {
    /// The row of the call table.
    pub fn call(&self) -> Option<&'static Call> {
        CALLS.get(self.kind as usize)
    }

    fn is_finalize(&self) -> bool {
        self.call().is_some_and(Call::ends)
    }

    /// Whether the call may wait for other ranks.
    pub fn blocks(&self) -> bool {
        self.call().is_some_and(Call::blocks)
    }

    /// How this entry differs from another one of the same collective.
    pub fn differs(&self, other: &Entry) -> Option<Difference> {
        let root = |entry: &Entry| match entry.root {
            Root::Itself => Root::Rank(entry.rank),
            root => root,
        };
        let roots_differ = match (root(self), root(other)) {
            (Root::Rank(own), Root::Rank(theirs)) => own != theirs,
            // Who is named as root says that another one is.
            (Root::AnotherOfOwnGroup, Root::Rank(root)) => root == self.rank,
            (Root::Rank(root), Root::AnotherOfOwnGroup) => root == other.rank,
            _ => false,
        };
        let data = self.data.zip(other.data);
        if self.is_finalize() != other.is_finalize() {
            Some(Difference::Finalized)
        } else if self.kind != other.kind {
            Some(Difference::Kind)
        } else if roots_differ {
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

    /// How far the rank has come on a communicator, if the entry has it.
    pub fn progress_on(&self, name: u64) -> Option<Progress> {
        self.progress.iter().copied().find(|progress| progress.name == name)
    }

    /// The entry in the form in which other ranks read it.
    pub fn to_words(&self) -> [u64; ENTRY] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [a, b, c] = self.data.map_or([ABSENT, 0, 0], Signature::to_words);
        let mut words = [0; ENTRY];
        words[0] = pair(self.rank, self.site);
        let Asserted { none_precede, none_succeed } = self.asserted;
        let flags = [self.threads, none_precede, none_succeed];
        let flags = (0..).zip(flags).map(|(bit, is)| u32::from(is) << bit).sum();
        words[1] = pair(self.kind, flags);
        words[2] = pair(self.root.number(), self.op);
        words[3..6].copy_from_slice(&[a, b, c]);
        for (to, progress) in words[6..ALIKE].chunks_exact_mut(2).zip(&self.progress) {
            to.copy_from_slice(&[progress.name, pair(progress.entered, progress.blocking)]);
        }
        words[ALIKE..].copy_from_slice(&self.alike);
        words
    }

    /// The entry that another rank wrote.
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
            root: Root::from_number(low(words[2])),
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
        let roots = (0..5_u32).prop_map(Root::from_number);
        (kinds, any::<[u16; 2]>(), roots, 0..3_u32, sizes, progress).prop_map(
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
            root: Root::Rank(1),
            op: 3,
            data: Some(Signature::predefined("MPI_INT", 4)),
            asserted: Asserted::default(),
            alike: [7, 0, 0],
            progress: Default::default(),
        };
        let large = Entry { kind: named("MPI_Reduce_c").unwrap().kind, ..entry };
        assert_eq!(entry.differs(&large), None);
        let unknown = Entry { root: Root::Unknown, op: 0, data: None, ..entry };
        assert_eq!(entry.differs(&unknown), None);
        for (other, difference) in [
            (Entry { root: Root::Rank(2), op: 4, ..entry }, Difference::Root),
            (Entry { root: Root::AnotherOfOwnGroup, rank: 1, ..entry }, Difference::Root),
            (Entry { root: Root::Itself, rank: 2, ..entry }, Difference::Root),
            (Entry { op: 4, ..entry }, Difference::Op),
            (Entry { data: Some(Signature::EMPTY), ..entry }, Difference::Data),
            (
                Entry { asserted: Asserted { none_precede: false, none_succeed: true }, ..entry },
                Difference::Assertions,
            ),
            (Entry { alike: [7, 1, 0], ..entry }, Difference::Argument(1)),
            (Entry { kind: kind("MPI_Ireduce"), root: Root::Rank(2), ..entry }, Difference::Kind),
            (Entry { kind: kind("MPI_Finalize"), ..unknown }, Difference::Finalized),
        ] {
            assert_eq!(entry.differs(&other), Some(difference));
        }
    }
}
