//! Operations of NCCL as the ranks of a communicator must agree on them, and how two differ.
//!
//! **Soundness.** What is compared must be equal by NCCL's user guide ("Collective Operations":
//! the same count and datatype on all ranks; "Point-to-point communication": the sizes of both
//! sides). Calls that only move data are compared by their bytes where one side passes
//! `ncclInt8` or `ncclUint8`. Operators that the program has made are not compared, since their
//! scalars may differ between ranks.

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `ncclAllReduce`
    AllReduce,
    /// `ncclReduce`
    Reduce,
    /// `ncclReduceScatter`
    ReduceScatter,
    /// `ncclBroadcast`, `ncclBcast`
    Broadcast,
    /// `ncclAllGather`
    AllGather,
    /// `ncclAlltoAll`
    AlltoAll,
    /// `ncclGather`
    Gather,
    /// `ncclScatter`
    Scatter,
    /// `ncclSend`
    Send,
    /// `ncclRecv`
    Receive,
    /// `ncclCommDestroy` or `ncclCommFinalize`: this rank calls nothing else.
    Destroy,
}

const KINDS: [(Kind, &str); 11] = [
    (Kind::AllReduce, "ncclAllReduce"),
    (Kind::Reduce, "ncclReduce"),
    (Kind::ReduceScatter, "ncclReduceScatter"),
    (Kind::Broadcast, "ncclBroadcast"),
    (Kind::AllGather, "ncclAllGather"),
    (Kind::AlltoAll, "ncclAlltoAll"),
    (Kind::Gather, "ncclGather"),
    (Kind::Scatter, "ncclScatter"),
    (Kind::Send, "ncclSend"),
    (Kind::Receive, "ncclRecv"),
    (Kind::Destroy, "ncclCommDestroy"),
];

impl Kind {
    /// The name of the call.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// What other ranks call.
    pub(super) fn counterpart(self) -> Kind {
        match self {
            Kind::Send => Kind::Receive,
            Kind::Receive => Kind::Send,
            other => other,
        }
    }

    fn of(number: u8) -> Option<Kind> {
        KINDS.get(usize::from(number)).map(|(kind, _)| *kind)
    }

    fn reduces(self) -> bool {
        matches!(self, Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter)
    }

    fn gives_to_root(self) -> bool {
        matches!(self, Kind::Reduce | Kind::Gather | Kind::Send)
    }
}

/// `ncclDataType_t`: names and sizes, in its order.
const DATATYPES: [(&str, usize); 12] = [
    ("ncclInt8", 1),
    ("ncclUint8", 1),
    ("ncclInt32", 4),
    ("ncclUint32", 4),
    ("ncclInt64", 8),
    ("ncclUint64", 8),
    ("ncclFloat16", 2),
    ("ncclFloat32", 4),
    ("ncclFloat64", 8),
    ("ncclBfloat16", 2),
    ("ncclFloat8e4m3", 1),
    ("ncclFloat8e5m2", 1),
];

/// Datatypes that stand for bytes: `ncclInt8`, `ncclUint8`.
const BYTES: [i32; 2] = [0, 1];

/// `ncclRedOp_t`, in its order; what comes behind, the program has made.
const REDUCTIONS: [&str; 5] = ["ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"];

/// Bytes of an `ncclDataType_t`; what is not known counts as a byte.
pub fn size_of(datatype: i32) -> usize {
    datatype_row(datatype).map_or(1, |(_, size)| size)
}

fn datatype_row(datatype: i32) -> Option<(&'static str, usize)> {
    usize::try_from(datatype).ok().and_then(|index| DATATYPES.get(index)).copied()
}

/// What one rank passes to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The call.
    pub kind: Kind,
    /// Elements, as the call counts them.
    pub count: u64,
    /// `ncclDataType_t`
    pub datatype: i32,
    /// `ncclRedOp_t` of a reduction.
    pub reduction: Option<i32>,
    /// The root, or the other side of a message.
    pub peer: Option<i32>,
}

/// Absent, as a word of an entry.
const ABSENT: u32 = u32::MAX;

impl Operation {
    /// A call with neither root nor reduction.
    pub fn new(kind: Kind, count: usize, datatype: i32) -> Operation {
        Operation { kind, count: count as u64, datatype, reduction: None, peer: None }
    }

    /// The call with this root, or this other side.
    #[must_use]
    pub fn with(self, peer: i32) -> Operation {
        Operation { peer: Some(peer), ..self }
    }

    /// The call with this reduction.
    #[must_use]
    pub fn by(self, reduction: i32) -> Operation {
        Operation { reduction: Some(reduction), ..self }
    }

    /// Whether this is one side of a message.
    pub fn is_message(&self) -> bool {
        matches!(self.kind, Kind::Send | Kind::Receive)
    }

    fn bytes(&self) -> u64 {
        self.count.wrapping_mul(size_of(self.datatype) as u64)
    }

    fn same_data(&self, other: &Operation) -> bool {
        let of_bytes = [self, other].iter().any(|one| BYTES.contains(&one.datatype));
        if self.kind.reduces() || !of_bytes {
            return (self.count, self.datatype) == (other.count, other.datatype);
        }
        self.bytes() == other.bytes()
    }

    /// Whether two ranks' n-th collectives of a communicator are one.
    pub fn matches(&self, other: &Operation) -> bool {
        let built_in = |reduction: i32| (0..REDUCTIONS.len() as i32).contains(&reduction);
        let reductions = self.reduction.zip(other.reduction);
        let differ = reductions
            .is_some_and(|(own, others)| own != others && built_in(own) && built_in(others));
        self.kind == other.kind
            && (self.kind == Kind::Destroy
                || self.peer == other.peer && !differ && self.same_data(other))
    }

    /// Whether what one side of a message passes is what the other one has room for.
    pub fn carries(&self, other: &Operation) -> bool {
        self.same_data(other)
    }

    /// The call in words: `ncclReduce of 64 ncclFloat32 by ncclSum to rank 0`.
    pub fn describe(&self) -> String {
        let name = self.kind.name();
        if self.kind == Kind::Destroy {
            return format!("{name}, and no further call");
        }
        let count = self.count;
        let mut text = match datatype_row(self.datatype) {
            Some((datatype, _)) => format!("{name} of {count} {datatype}"),
            None => format!("{name} of {count} elements"),
        };
        if let Some(reduction) = self.reduction {
            let known = usize::try_from(reduction).ok().and_then(|index| REDUCTIONS.get(index));
            text += " by ";
            text += known.copied().unwrap_or("an operator of the program");
        }
        if let Some(peer) = self.peer {
            let preposition = if self.kind.gives_to_root() { "to" } else { "from" };
            text += &format!(" {preposition} rank {peer}");
        }
        text
    }

    /// The operation as words, for [`from_words`](Self::from_words).
    pub fn to_words(self) -> [u64; 3] {
        let word = |value: Option<i32>| value.map_or(ABSENT, |value| value as u32);
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            pair(self.kind as u32, self.datatype as u32),
            self.count,
            pair(word(self.reduction), word(self.peer)),
        ]
    }

    /// The operation that [`to_words`](Self::to_words) turned into these words.
    pub fn from_words([kind, count, rest]: [u64; 3]) -> Option<Operation> {
        let value = |word: u32| (word != ABSENT).then_some(word as i32);
        Some(Operation {
            kind: Kind::of(kind as u8)?,
            count,
            datatype: (kind >> 32) as i32,
            reduction: value(rest as u32),
            peer: value((rest >> 32) as u32),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT: i32 = 7;
    const INT: i32 = 2;

    #[test]
    fn kinds_are_in_their_order() {
        for (index, (kind, _)) in KINDS.iter().enumerate() {
            assert_eq!((*kind as usize, Kind::of(index as u8)), (index, Some(*kind)));
        }
    }

    #[test]
    fn all_that_ranks_must_pass_alike_is_compared() {
        let reduce = Operation::new(Kind::Reduce, 64, FLOAT).by(0).with(0);
        assert!(reduce.matches(&reduce));
        for other in [
            Operation { kind: Kind::AllReduce, ..reduce },
            Operation { count: 65, ..reduce },
            Operation { datatype: INT, ..reduce },
            reduce.by(2),
            reduce.with(1),
            Operation::new(Kind::Destroy, 0, 0),
        ] {
            assert!(!reduce.matches(&other) && !other.matches(&reduce), "{other:?}");
            assert_eq!(Operation::from_words(other.to_words()), Some(other));
        }
        assert!(reduce.matches(&reduce.by(5)), "scalars of own operators may differ");
    }

    #[test]
    fn moved_bytes_are_any_datatype_of_that_size() {
        let gather = Operation::new(Kind::AllGather, 4, FLOAT);
        assert!(gather.matches(&Operation::new(Kind::AllGather, 16, 0)));
        assert!(!gather.matches(&Operation::new(Kind::AllGather, 4, INT)));
        let sum = Operation::new(Kind::AllReduce, 4, FLOAT).by(0);
        assert!(!sum.matches(&Operation::new(Kind::AllReduce, 16, 0).by(0)));
        let send = Operation::new(Kind::Send, 4, FLOAT).with(1);
        assert!(send.carries(&Operation::new(Kind::Receive, 4, FLOAT).with(0)));
        assert!(!send.carries(&Operation::new(Kind::Receive, 5, FLOAT).with(0)));
    }

    #[test]
    fn operations_are_described_by_what_they_pass() {
        let reduce = Operation::new(Kind::Reduce, 64, FLOAT).by(0).with(2);
        assert_eq!(reduce.describe(), "ncclReduce of 64 ncclFloat32 by ncclSum to rank 2");
        let receive = Operation::new(Kind::Receive, 3, 99).with(1);
        assert_eq!(receive.describe(), "ncclRecv of 3 elements from rank 1");
    }
}
