//! The records of a rank's log, for the semantics, the writer and the reader alike.
//!
//! Records are generic over what a place is. In a rank that is a site of its own call stacks, with
//! the part it plays; in the log, and for readers, it is a [`RawSite`]. [`Record::map_sites`] leads
//! from the one to the other.
//!
//! Every type borrows where it can, so that a rank serialises from its own state into a
//! fixed buffer without allocating.

mod build;
mod map;

use crate::{Code, Doing, NeedKind, Problem, Role, Step};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Version of the record format; readers refuse newer ones.
pub const VERSION: u32 = 1;

/// One line of a rank's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub enum Record<'a, S: Clone = RawSite<'a>> {
    /// First line: who writes this log.
    Start(Start<'a>),
    /// An executable or library that later records refer to by `id`.
    Module(Module<'a>),
    /// First observation of a finding.
    Finding(RawFinding<'a, S>),
    /// The total number of observations so far of finding `id`.
    Again {
        /// The finding.
        id: u32,
        /// Observations in this rank, the first included.
        count: u64,
    },
    /// The pending operation of finding `id` was completed here.
    Completed {
        /// The finding.
        id: u32,
        /// The completing call.
        site: S,
    },
    /// The place of an RMA call that findings of other ranks refer to.
    Site {
        /// Number of the place within the rank, from 0.
        id: u32,
        /// The call, with [`Role::Operation`].
        site: S,
    },
    /// A call uses memory of a variable: a finding if it has less than that, or of another type.
    Use(RawUse<'a, S>),
    /// Messages of these communicators were counted, except for those that are unbalanced.
    Balance {
        /// Names, the same in all ranks.
        names: Cow<'a, [u64]>,
        /// Names of communicators on which some messages were not counted.
        #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
        unbalanced: Cow<'a, [u64]>,
    },
    /// Messages of one sort.
    Messages(RawMessages<'a, S>),
    /// A receive from anybody that may take another one's message.
    Race(RawRace<S>),
    /// Whose message has been used is known to the program: the use with this number is not to be
    /// reported.
    Known {
        /// The use.
        used: u32,
    },
    /// A communicator that [`Record::Steps`] name, by its position among these; large ones take
    /// several records.
    Communicator {
        /// Its name.
        name: u64,
        /// In words.
        on: Cow<'a, str>,
        /// Ranks in `MPI_COMM_WORLD`.
        members: Cow<'a, [u32]>,
    },
    /// What the rank has done first that others may wait for; many take several records.
    Steps {
        /// In order, at places of [`Record::Site`]s.
        steps: Cow<'a, [Step]>,
    },
    /// A finding is taken back, as the program has shown since that it expects what was found.
    Withdrawn {
        /// The finding's number.
        id: u32,
    },
    /// What is known of the [`Record::Steps`], if not all of all of them.
    Timing {
        /// How many there are before the first that timing may decide.
        sure: u32,
        /// How many there are before something that may order ranks and is no step.
        ordered: u32,
    },
    /// Parts of collectives.
    Parts(RawParts<'a, S>),
    /// The rank has been asked what it waits for.
    Waiting(RawWaiting<'a, S>),
    /// Part of the answer to a roll call: what a thread does outside of MPI.
    Thread(RawThread<'a, S>),
    /// Part of the answer to a roll call: how far the rank has come on a communicator.
    Progress(RawProgress<'a, S>),
    /// What was counted until now, by key ([`crate::stats`]): instead of what earlier records have
    /// under the same keys. Many take several records.
    Stats {
        /// Keys and numbers; what is not there is 0.
        counts: Cow<'a, [(Cow<'a, str>, u64)]>,
    },
    /// What guards have watched in this rank until now.
    Guarded(Guarded),
    /// Something the user should know about this rank that is not a finding.
    Note {
        /// What to know and what to do about it.
        text: Cow<'a, str>,
    },
    /// Nothing in this rank is checked.
    Unchecked {
        /// Why, and what to do about it.
        why: Cow<'a, str>,
    },
    /// Last line; missing when the rank was killed.
    End(End),
}

/// What guards have watched of the buffers of started operations, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarded {
    /// Operations that were watched, at least in part.
    pub operations: u64,
    /// In pages that were closed to the program.
    pub closed: u64,
    /// Of which checksums were compared.
    #[serde(default)]
    pub summed: u64,
    /// In pages that hold other data, too.
    pub shared: u64,
    /// In memory that is not guarded: stacks, mappings of the program's own.
    pub elsewhere: u64,
    /// In pages that could not be closed, or not any more.
    #[serde(default)]
    pub unclosable: u64,
    /// Left out to stay within the budget, or since there were too many.
    pub over_budget: u64,
    /// Of window memory, in each epoch in which it was exposed: in pages that were closed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exposed: u64,
    /// Of window memory, in each epoch in which it was exposed: what was not watched.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_exposed: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Who writes a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start<'a> {
    /// [`VERSION`] of the writer.
    pub version: u32,
    /// Rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Size of `MPI_COMM_WORLD`.
    pub size: u32,
    /// Process identifier on `host`.
    pub pid: u32,
    /// Host name.
    pub host: Cow<'a, str>,
    /// MPI library: `Open MPI 4.1.4`, `MPICH 4.0.2`.
    pub mpi: Cow<'a, str>,
    /// Path of the executable.
    pub program: Cow<'a, str>,
    /// Whether any module of the program was compiled by `commsan cc`, so that its loads and
    /// stores are seen.
    pub instrumented: bool,
    /// What the processes of one job have in common, and no others; empty if nothing is known.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub job: Cow<'a, str>,
    /// Of rank 0: the first arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Cow<'a, str>>,
    /// Of rank 0: what the environment calls the job, see `docs/run-directory.md`; empty if
    /// nothing.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub name: Cow<'a, str>,
}

/// An executable or library mapped into the rank, or a function of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module<'a> {
    /// Number that frames use.
    pub id: u32,
    /// Path of the file.
    pub path: Cow<'a, str>,
    /// Of a script, a function of it: frames have lines for offsets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Cow<'a, str>>,
}

/// A finding as a rank sees it: addresses instead of lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawFinding<'a, S: Clone = RawSite<'a>> {
    /// Number of the finding within the rank, from 0.
    pub id: u32,
    /// What kind of finding.
    pub code: Code,
    /// The offending access; absent for findings about the operation alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<RawAccess<'a>>,
    /// The pending operation.
    pub operation: RawOperation<'a>,
    /// Each side's place, the offending one first.
    pub sites: Cow<'a, [S]>,
    /// Whether the two were apart in time, but in threads that do not synchronise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub threads: bool,
    /// The collective that the sites are calls of, or should have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collective: Option<RawCollective<'a>>,
    /// The thread level that the finding is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<RawLevel<'a>>,
    /// The argument of the call that the finding is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<RawArgument<'a>>,
    /// What streams do on either side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<RawWork<'a>>,
    /// When it was found, in nanoseconds since 1970 by the system's clock; older logs lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawArgument<'a> {
    /// The parameter, as the standard calls it.
    pub parameter: Cow<'a, str>,
    /// What is wrong with it: `is 5, but the communicator's ranks are 0 to 3`.
    pub problem: Cow<'a, str>,
    /// Which kind of mistake that is; absent where the code implies it. Older logs lack it
    /// ([`crate::reader`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Problem>,
}

/// A call that uses memory of a variable, or of a block whose allocation says what it is for.
/// Addresses are those of the process within it, and in its log module and offset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>, A: Deserialize<'de>"))]
pub struct RawUse<'a, S: Clone = RawSite<'a>, A = (u32, u64)> {
    /// Where the memory lies.
    pub variable: RawVariable<A>,
    /// What the elements are by the call's datatype; only in logs that lack `datatype`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<RawElements<'a>>,
    /// The datatype of the elements that the call uses; absent if nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datatype: Option<RawDatatype<'a>>,
    /// What is found if the variable is too short. Its number means nothing.
    pub finding: RawFinding<'a, S>,
}

/// Memory of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RawVariable<A = (u32, u64)> {
    /// Of a function's frame.
    Local {
        /// A place in the function.
        at: A,
        /// Distance from the frame pointer in bytes.
        offset: i64,
    },
    /// In a module.
    Static {
        /// Where.
        at: A,
    },
    /// In a block that was allocated.
    Block {
        /// The call that allocated it.
        at: A,
        /// Bytes from the block's beginning to what is used.
        offset: u64,
        /// Bytes of the block.
        size: u64,
        /// Which argument of the MPI call points there, from 0.
        argument: u32,
    },
}

/// The datatype of elements: its typemap (MPI 4.1 §5.1), as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawDatatype<'a> {
    /// How many elements the call uses.
    pub count: u64,
    /// Bytes from one element to the next.
    pub extent: i64,
    /// Whether the program has made it from others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub derived: bool,
    /// The basic types of an element. What is of any type, as `MPI_BYTE`, is left out.
    pub basics: Cow<'a, [RawBasics<'a>]>,
}

/// Equal basic types, one behind the other, in a typemap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawBasics<'a> {
    /// Where the first lies in the first element, from the first byte that the call uses.
    pub at: i64,
    /// Their class: `integer`, `unsigned integer`, `real`, `logical`.
    pub class: Cow<'a, str>,
    /// Size of each in bytes.
    pub bytes: u64,
    /// How many.
    pub count: u64,
}

/// Elements of one basic type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawElements<'a> {
    /// The class: `integer`, `real`, `logical`.
    pub class: Cow<'a, str>,
    /// Size in bytes.
    pub bytes: u64,
}

/// Work of CUDA streams that takes part in a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawWork<'a> {
    /// The offending side, if that is work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<RawDoing<Cow<'a, str>>>,
    /// The operation, if that is work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<RawDoing<Cow<'a, str>>>,
}

/// What a stream does. The semantics share its texts among all that the stream does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub struct RawDoing<T = Cow<'static, str>> {
    /// The kernel, demangled; absent for copies and sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<T>,
    /// The stream in words: `stream 1 of device 0`.
    pub stream: T,
    /// The source file of the access inside the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<T>,
    /// Its line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A collective that calls of two ranks should have been.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawCollective<'a> {
    /// What it was called on: `MPI_COMM_WORLD`, `a communicator of 4 ranks`.
    pub on: Cow<'a, str>,
    /// Which collective of that, counted from 1; 0 where it is none in particular.
    pub number: u32,
    /// What the first site and the operation's have passed that differs: `rank 1`, `MPI_SUM`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<[Cow<'a, str>; 2]>,
    /// Whether it is on an intercommunicator, between two groups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub between_groups: bool,
}

/// A thread level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawLevel<'a> {
    /// What the program asked for.
    pub required: Cow<'a, str>,
    /// What MPI provides.
    pub provided: Cow<'a, str>,
}

/// Bytes that somebody touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawAccess<'a> {
    /// How the bytes are touched: `store`, `load`, `memcpy`, `free`, `MPI_Irecv`.
    pub by: Cow<'a, str>,
    /// Whether the access writes (or releases) the memory.
    pub write: bool,
    /// First byte.
    pub addr: u64,
    /// Number of bytes from the first to past the last.
    pub size: u64,
    /// Target of an RMA call, as rank in the window's group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<i32>,
}

/// The pending operation of a finding; for findings about a window's epoch, the call that opened
/// the epoch, and for those about a window, the call that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawOperation<'a> {
    /// The call that started it: `MPI_Isend`, or `MPI_Start` of an `MPI_Send_init`.
    pub call: Cow<'a, str>,
    /// Whether the operation writes the bytes in question.
    pub write: bool,
    /// First byte of the buffer.
    pub addr: u64,
    /// Bytes from the first to past the last.
    pub size: u64,
    /// Bytes the operation really touches; fewer than `size` for types with gaps.
    pub bytes: u64,
    /// The other rank in the operation's communicator, for RMA operations the target in the
    /// window's group; absent for collectives and wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<i32>,
    /// Message tag; absent for collectives and wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<i32>,
    /// Number of the window in the rank that wrote the log, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Where the window begins, if `addr` lies in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
}

/// One side of a raw finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawSite<'a> {
    /// What this side does.
    pub role: Role,
    /// The MPI or libc call made here, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Cow<'a, str>>,
    /// Thread within the rank, 0 for the one that initialised MPI.
    pub thread: u32,
    /// Call stack, innermost first, as (module, offset): `offset` lies inside the calling
    /// instruction, so that looking it up gives the call's line.
    pub frames: Cow<'a, [(u32, u64)]>,
    /// Rank in `MPI_COMM_WORLD` where the place is, unless the one that wrote the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Number of a [`Record::Site`] of `rank`, which knows call, thread and frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<u32>,
}

/// Messages that a rank has sent or received, counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawMessages<'a, S = RawSite<'a>> {
    /// The communicator's name.
    pub name: u64,
    /// The communicator in words.
    pub on: Cow<'a, str>,
    /// Whether they were sent, not received.
    pub sends: bool,
    /// The other side, as rank in `MPI_COMM_WORLD`; absent for receives from anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<u32>,
    /// What all their elements are: `reals of 8 bytes`; absent for several types, any, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Cow<'a, str>>,
    /// The call: `MPI_Isend`.
    pub call: Cow<'a, str>,
    /// The tag of the first, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<i32>,
    /// Where the first was sent, or where the call to receive it was, with [`Role::Operation`].
    pub site: S,
    /// How many.
    pub count: u64,
}

/// A receive from anybody that may take the message which a later receive has got: either that may
/// wait for ever, or what was received last is used, whosever it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawRace<S> {
    /// The communicator's name.
    pub name: u64,
    /// Where the receive from anybody was called, with [`Role::Operation`].
    pub taker: S,
    /// Rank in `MPI_COMM_WORLD` whose message that has got.
    pub instead_of: u32,
    /// Where the later one was called, with [`Role::Access`] or, if what it got is used,
    /// [`Role::Operation`].
    pub left: S,
    /// Where what was received last is used, with [`Role::Access`], and the number of the use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<(u32, S)>,
    /// Rank whose message that has got.
    pub sender: u32,
}

/// What a rank passes to others, or gets from them, in collectives of one kind called from one
/// place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawParts<'a, S = RawSite<'a>> {
    /// The communicator's name.
    pub name: u64,
    /// The communicator in words.
    pub on: Cow<'a, str>,
    /// The kind of collective, the same in all ranks.
    pub kind: u32,
    /// The call: `MPI_Alltoallv`.
    pub call: Cow<'a, str>,
    /// Whether it passes the parts, or else gets them.
    pub sends: bool,
    /// How often it was called.
    pub calls: u64,
    /// Class and size of the elements, if they are all alike: `integer`, 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<(Cow<'a, str>, u64)>,
    /// The first call, with [`Role::Operation`].
    pub site: S,
    /// For ranks in `MPI_COMM_WORLD`: bytes in all, a sum that depends on the sequence of amounts
    /// and types, and whether some types are not known.
    pub parts: Cow<'a, [(u32, u64, u64, bool)]>,
}

/// Where a rank waits, and what for; or where it was last, if it does not wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawWaiting<'a, S: Clone = RawSite<'a>> {
    /// How often the rank has begun or ended to wait, which distinguishes one wait from another:
    /// odd while it waits.
    pub moves: u64,
    /// The call, with [`Role::Wait`]; the latest one if it does not wait.
    pub site: S,
    /// Whether it does not wait, but calls again and again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Other threads of the rank, which wait for each other or for those that are in MPI.
    #[serde(default, skip_serializing_if = "is_none")]
    pub beside: u32,
    /// Whether one of the needs is enough: `MPI_Waitany`, `MPI_Waitsome`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any: bool,
    /// What it needs, as far as that fits.
    pub needs: Cow<'a, [RawNeed<'a, S>]>,
    /// Operations that it has started and does not wait for now, as far as they fit.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub pending: Cow<'a, [RawNeed<'a, S>]>,
    /// Collectives entered on each communicator or window, by its name. Also locks held, by their
    /// numbers ([`Held`](crate::Held)), and exposed parts, on windows by other names of theirs.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub entered: Cow<'a, [(u64, u32)]>,
    /// The roll call that it answers; 0 if it answers another question.
    #[serde(default, skip_serializing_if = "is_no_number")]
    pub roll_call: u64,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

fn is_no_number(number: &u64) -> bool {
    *number == 0
}

/// What a thread of a rank does outside of MPI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawThread<'a, S = RawSite<'a>> {
    /// The roll call that is answered.
    pub roll_call: u64,
    /// The kernel's number of the thread; that of the first thread is the process's.
    pub id: i32,
    /// What it does.
    pub doing: Doing,
    /// The file that it reads, writes or locks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Cow<'a, str>>,
    /// Where it is, with [`Role::Wait`], if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<S>,
}

/// How many collectives a rank has entered on a communicator, window or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawProgress<'a, S = RawSite<'a>> {
    /// The roll call that is answered.
    pub roll_call: u64,
    /// Its name, the same in all ranks.
    pub name: u64,
    /// In words.
    pub on: Cow<'a, str>,
    /// How many.
    pub entered: u32,
    /// The last of them, with [`Role::Operation`], if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<S>,
}

/// What others must do for an operation to complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub struct RawNeed<'a, S = RawSite<'a>> {
    /// In what way they take part.
    pub kind: NeedKind,
    /// The call whose operation it is: `MPI_Irecv`.
    pub call: Cow<'a, str>,
    /// Where that was started, with [`Role::Operation`], if not by the call that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<S>,
    /// The others, as ranks in `MPI_COMM_WORLD`; of a receive from anybody all that may send.
    pub ranks: Cow<'a, [u32]>,
    /// The tag of a message; absent for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<i32>,
    /// The communicator or window in words.
    pub on: Cow<'a, str>,
    /// Its name, the same in all ranks; 0 for none.
    #[serde(default)]
    pub name: u64,
    /// Which collective of that, counted from 1, or which lock; 0 for none.
    #[serde(default)]
    pub number: u32,
}

/// How a rank ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// In which way.
    pub how: Ending,
    /// Distinct findings that were not written because the rank's table was full.
    pub dropped: u64,
}

/// The ways a rank can end and still say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// `MPI_Finalize` was called; without MPI, the process has exited.
    Finalized,
    /// `MPI_Abort` was called.
    Aborted,
    /// The process exited without either.
    Exited,
    /// commsan ended the job at its first finding, as it had been asked to.
    Halted,
    /// A signal ended the process within an MPI call.
    Crashed,
}
