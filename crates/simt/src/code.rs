//! Lowered code of functions: one [`Code`] per step, operands resolved to rows.

use crate::compute::{Args, Compute};
use crate::rows::{Mask, Slot};
use crate::texture::Outside;

/// One step. A PTX instruction is one of them, or a few where values must be widened or packed.
pub struct Code {
    /// Done in the lanes where this predicate…
    pub guard: Slot,
    /// …differs from this.
    pub flip: Mask,
    /// Rows of [`Action::Compute`].
    pub args: Args,
    /// What is done.
    pub action: Action,
    /// The PTX instruction that it belongs to: its index in the function's body.
    pub origin: u32,
    /// Whether it is counted as an instruction: the last step of each is.
    pub counted: bool,
}

/// What a step does.
pub enum Action {
    /// Computes rows from rows.
    Compute(Compute),
    /// Goes on elsewhere.
    Branch(u32),
    /// Goes on at an entry of a table.
    Switch(Box<Switch>),
    /// Reads memory.
    Load(Box<Transfer>),
    /// Writes memory.
    Store(Box<Transfer>),
    /// Updates memory atomically.
    Atomic(Box<Atomic>),
    /// Copies from global to shared memory; done at once, so that waiting for it is nothing.
    CopyAsync(Box<CopyAsync>),
    /// Copies any number of bytes from global to shared memory; completes at once.
    CopyBulk(Box<CopyBulk>),
    /// Works on a barrier object in shared memory.
    Mbarrier(Box<Mbarrier>),
    /// Reads a texture.
    Sample(Box<Sample>),
    /// Reads or writes a surface.
    Surface(Box<SurfaceAccess>),
    /// Calls a function.
    Call(Box<Call>),
    /// Returns to the caller; ends threads of a kernel.
    Return,
    /// Ends threads.
    Exit,
    /// Waits at, or arrives at, a barrier of the block.
    Barrier(Box<Barrier>),
    /// Exchanges values between the lanes of a warp.
    Collective(Box<Collective>),
    /// Does nothing for that many nanoseconds of virtual time.
    Sleep(Slot),
    /// Writes a special register that changes, or a frame's address, to a row of 64-bit values.
    Read(Dynamic, Slot),
    /// Orders memory accesses.
    Fence,
    /// Takes local memory: d = address of that many bytes.
    Alloca(Slot, Slot, u64),
    /// Gives back what was taken since the stack was there.
    StackRestore(Slot),
    /// Ends the grid with a fault.
    Trap,
    /// Nothing that a simulation would show.
    Nothing,
    /// Cannot be executed; says why.
    Unsupported(String),
}

/// `brx.idx`.
pub struct Switch {
    /// Row of 32-bit indices.
    pub index: Slot,
    /// Where they lead.
    pub targets: Vec<u32>,
}

/// What is read when an instruction is executed, not before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dynamic {
    /// `%clock64`.
    Clock,
    /// `%globaltimer`.
    Time,
    /// An address in the function's local frame, as an offset in local memory.
    Frame(u64),
    /// `stacksave`.
    Stack,
    /// `activemask`.
    ActiveMask,
}

/// Which memory an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// The address says it.
    Generic,
    /// Global and constant memory: the host's.
    Global,
    /// Shared memory of the block.
    Shared,
    /// Local memory of the thread.
    Local,
    /// Local memory, from the function's frame on.
    Frame,
    /// The kernel's arguments.
    Arguments,
}

/// A memory operand.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// Which memory.
    pub place: Where,
    /// The row it starts from, if any.
    pub base: Option<Base>,
    /// Added to that.
    pub offset: i64,
}

/// The row that an address starts from.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    /// Of 32-bit values.
    Narrow(Slot),
    /// Of 64-bit values.
    Wide(Slot),
}

/// A load or store.
pub struct Transfer {
    /// Where in memory.
    pub address: Address,
    /// Rows that are written or read, of elements of `width` bytes.
    pub values: Vec<Slot>,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub width: u64,
    /// Whether another thread may be waited for: `volatile`, `relaxed`, `acquire`.
    pub ordered: bool,
}

/// New contents of memory from the old ones and two operands, in the low bits.
pub type Update = Box<dyn Fn(u64, u64, u64) -> u64 + Send + Sync>;

/// `atom` or `red`.
pub struct Atomic {
    /// Where in memory.
    pub address: Address,
    /// Old value, first and second operand of each element.
    pub rows: Vec<[Slot; 3]>,
    /// Bytes of an element: 2, 4 or 8.
    pub width: u64,
    /// What happens.
    pub update: Update,
    /// Whether it tries to take a lock: `cas` or `exch`.
    pub polls: bool,
}

/// `cp.async`.
pub struct CopyAsync {
    /// In shared memory.
    pub to: Address,
    /// In global memory.
    pub from: Address,
    /// Bytes written.
    pub size: u64,
    /// Row of how many of them are read, if not all; the rest is zero.
    pub source_size: Option<Slot>,
}

/// `cp.async.bulk` from global to shared memory, without what it does to its barrier.
pub struct CopyBulk {
    /// In shared memory.
    pub to: Address,
    /// In global memory.
    pub from: Address,
    /// Row of how many bytes.
    pub size: Slot,
}

/// `tex` and `tld4`.
pub struct Sample {
    /// Row of 64-bit handles.
    pub object: Slot,
    /// Where in the texture.
    pub at: Coordinates,
    /// Whether coordinates are integers.
    pub whole: bool,
    /// The channel that is read of the four texels around, if it is that.
    pub gathers: Option<usize>,
    /// Four rows of 32-bit results.
    pub values: Vec<Slot>,
    /// Predicate that says whether there was memory: always.
    pub resident: Option<Slot>,
}

/// `suld` and `sust`.
pub struct SurfaceAccess {
    /// Row of 64-bit handles.
    pub object: Slot,
    /// Where in the surface; x in bytes.
    pub at: Coordinates,
    /// Rows of elements of `width` bytes.
    pub values: Vec<Slot>,
    /// Bytes of an element.
    pub width: u64,
    /// Whether it writes.
    pub writes: bool,
    /// What happens outside of the surface; it traps without.
    pub outside: Option<Outside>,
}

/// Coordinates.
pub struct Coordinates {
    /// Row of 32-bit numbers for each dimension.
    pub rows: Vec<Slot>,
    /// Row of 32-bit numbers of layers, if there are layers.
    pub layer: Option<Slot>,
}

/// `mbarrier.*`.
pub struct Mbarrier {
    /// In shared memory.
    pub address: Address,
    /// What is done.
    pub op: MbarrierOp,
    /// Row of 64-bit states, or predicate.
    pub d: Slot,
    /// Row of 64-bit states to wait for.
    pub state: Slot,
    /// Row of 32-bit counts or parities.
    pub count: Slot,
}

/// Operations on barrier objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as PTX calls them")]
pub enum MbarrierOp {
    Init,
    Invalidate,
    ExpectTx,
    CompleteTx,
    Arrive { expect_tx: bool, drop: bool },
    ArriveCopies { counted: bool },
    TestWait,
    TestParity,
}

/// A call.
pub struct Call {
    /// Who is called.
    pub callee: Callee,
    /// What it gets, in order of its parameters.
    pub arguments: Vec<Passed>,
    /// Where what it returns goes.
    pub returns: Vec<Passed>,
}

/// Who is called.
pub enum Callee {
    /// A function of the program.
    Direct(u32),
    /// Functions whose addresses a row of 64-bit values holds.
    Indirect(Slot),
    /// A function that the device provides.
    Provided(Provided),
}

/// Bytes that are passed.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// Offset in the caller's frame.
    pub at: u64,
    /// How many.
    pub size: u64,
}

/// Functions that the device provides (CUDA C++ Programming Guide, "Formatted Output", "Assertion",
/// "Dynamic Global Memory Allocation", "Conditional Graph Nodes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as CUDA calls them")]
pub enum Provided {
    Vprintf,
    AssertFail,
    Malloc,
    Free,
    SetConditional,
}

impl Provided {
    /// The function of a name.
    pub fn named(name: &str) -> Option<Provided> {
        match name {
            "vprintf" => Some(Provided::Vprintf),
            "__assertfail" => Some(Provided::AssertFail),
            "malloc" => Some(Provided::Malloc),
            "free" => Some(Provided::Free),
            "cudaGraphSetConditional" => Some(Provided::SetConditional),
            _ => None,
        }
    }
}

/// `bar` and `barrier`.
pub struct Barrier {
    /// Row of 32-bit numbers.
    pub id: Slot,
    /// Row of how many threads take part; all of the block without it.
    pub count: Option<Slot>,
    /// Whether to wait.
    pub wait: bool,
    /// What to make of the threads' predicates.
    pub reduction: Option<Reduction>,
}

/// `bar.red`.
pub struct Reduction {
    /// How predicates are combined.
    pub op: Combined,
    /// Row of 32-bit values, or predicate.
    pub d: Slot,
    /// What each thread gives.
    pub predicate: Slot,
}

/// How a barrier combines predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as PTX calls them")]
pub enum Combined {
    And,
    Or,
    Popc,
}

/// An exchange between the lanes that `members` names.
pub struct Collective {
    /// What is exchanged.
    pub op: CollectiveOp,
    /// Row of 32-bit masks.
    pub members: Slot,
    /// Values given; a predicate for votes.
    pub a: Slot,
    /// Lane, delta or mask of a shuffle.
    pub b: Slot,
    /// Clamp and segment mask of a shuffle.
    pub c: Slot,
    /// Where results go.
    pub d: Slot,
    /// Where the predicate that is a second result goes.
    pub p: Slot,
}

/// Kinds of exchange (PTX ISA §9.7.9, §9.7.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as PTX calls them")]
pub enum CollectiveOp {
    /// `bar.warp.sync`
    Barrier,
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    VoteBallot,
    /// Of values with that many bytes.
    MatchAny(u64),
    MatchAll(u64),
    Reduce(ReduceOp),
    Elect,
}

/// Operations of `redux`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as PTX calls them")]
pub enum ReduceOp {
    And,
    Or,
    Xor,
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
}

/// A function in executable form.
pub struct Routine {
    /// Its steps; the last one returns.
    pub codes: Vec<Code>,
    /// Bytes of its registers.
    pub registers: u32,
    /// Bytes of its local frame: parameters, returned values, variables.
    pub frame: u64,
    /// Its parameters, in that frame.
    pub parameters: Vec<Passed>,
    /// What it returns, in that frame.
    pub returns: Vec<Passed>,
}
