//! Lowered code of functions: one [`Code`] per step, operands resolved to rows of registers.

use crate::compute::{Args, Compute};
use crate::rows::{Mask, Slot};
use crate::texture::Outside;

/// One step. A PTX instruction is one or a few of them, if values must be widened or packed.
pub struct Code {
    /// Executed in the lanes where this predicate…
    pub guard: Slot,
    /// …differs from this.
    pub flip: Mask,
    /// Rows of an [`Action::Compute`].
    pub args: Args,
    /// The action.
    pub action: Action,
    /// The PTX instruction that the step belongs to: its index in the function's body.
    pub origin: u32,
    /// Whether the step counts as an instruction: the last step of each does.
    pub counted: bool,
}

/// The action of a step.
pub enum Action {
    /// Computes rows from rows.
    Compute(Compute),
    /// Branches to a step.
    Branch(u32),
    /// Branches to an entry of a table.
    Switch(Box<Switch>),
    /// Reads memory.
    Load(Box<Transfer>),
    /// Writes memory.
    Store(Box<Transfer>),
    /// Updates memory atomically.
    Atomic(Box<Atomic>),
    /// Copies from global to shared memory; completes at once, so waiting for it is a no-op.
    CopyAsync(Box<CopyAsync>),
    /// Copies any number of bytes from global to shared memory; completes at once.
    CopyBulk(Box<CopyBulk>),
    /// Operates on a barrier object in shared memory.
    Mbarrier(Box<Mbarrier>),
    /// Reads a texture.
    Sample(Box<Sample>),
    /// Reads or writes a surface.
    Surface(Box<SurfaceAccess>),
    /// Calls a function.
    Call(Box<Call>),
    /// Returns to the caller; ends the threads of a kernel.
    Return,
    /// Ends threads.
    Exit,
    /// Waits at, or arrives at, a barrier of the block.
    Barrier(Box<Barrier>),
    /// Exchanges values between the lanes of a warp.
    Collective(Box<Collective>),
    /// Sleeps for that many nanoseconds of virtual time.
    Sleep(Slot),
    /// Reads a varying special register, or a frame's address, into a row of 64-bit values.
    Read(Dynamic, Slot),
    /// Orders memory accesses.
    Fence,
    /// Puts asynchronous copies into a group, or waits for groups: a no-op, since copies complete
    /// at once, but observers are told.
    Copies(Copies),
    /// Allocates local memory: d = address of that many bytes, with that alignment.
    Alloca(Slot, Slot, u64),
    /// Frees local memory allocated since the stack was saved.
    StackRestore(Slot),
    /// Ends the grid with a fault.
    Trap,
    /// A no-op in the simulation.
    Nothing,
    /// Cannot be executed, for this reason.
    Unsupported(String),
}

/// `brx.idx`.
pub struct Switch {
    /// Row of 32-bit indices.
    pub index: Slot,
    /// The steps they lead to.
    pub targets: Vec<u32>,
}

/// A value that is read when an instruction is executed, not before.
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

/// The memory that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// A generic address: its window says which memory.
    Generic,
    /// Global and constant memory: the host's.
    Global,
    /// Shared memory of the block.
    Shared,
    /// Local memory of the thread.
    Local,
    /// Local memory, relative to the function's frame.
    Frame,
    /// The kernel's arguments.
    Arguments,
}

/// A memory operand.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// The memory.
    pub place: Where,
    /// The row with the base address, if any.
    pub base: Option<Base>,
    /// Added to the base.
    pub offset: i64,
}

/// The row with the base of an address.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    /// Of 32-bit values.
    Narrow(Slot),
    /// Of 64-bit values.
    Wide(Slot),
}

/// A load or store.
pub struct Transfer {
    /// The address.
    pub address: Address,
    /// Rows that are written or read, of elements of `width` bytes.
    pub values: Vec<Slot>,
    /// Size of an element, in bytes: 1, 2, 4, 8 or 16.
    pub width: u64,
    /// Whether the access may poll for another thread: `volatile`, `relaxed`, `acquire`.
    pub ordered: bool,
}

/// The new contents of memory from the old ones and two operands, all in the low bits.
pub type Update = Box<dyn Fn(u64, u64, u64) -> u64 + Send + Sync>;

/// `atom` or `red`.
pub struct Atomic {
    /// The address.
    pub address: Address,
    /// Old value, first and second operand of each element.
    pub rows: Vec<[Slot; 3]>,
    /// Size of an element, in bytes: 2, 4 or 8.
    pub width: u64,
    /// The operation.
    pub update: Update,
    /// Whether it may poll, as a lock acquisition does: `cas` or `exch`.
    pub polls: bool,
}

/// `cp.async`.
pub struct CopyAsync {
    /// The destination, in shared memory.
    pub to: Address,
    /// The source, in global memory.
    pub from: Address,
    /// Bytes written.
    pub size: u64,
    /// Row with the number of bytes that are read; the rest is zero. All are read if `None`.
    pub source_size: Option<Slot>,
}

/// What becomes of the asynchronous copies that a thread has issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// They make a group.
    Commit,
    /// The thread waits for all groups but that many; if `None`, for all copies.
    Wait(Option<u32>),
}

/// `cp.async.bulk` from global to shared memory, without its effect on a barrier.
pub struct CopyBulk {
    /// The destination, in shared memory.
    pub to: Address,
    /// The source, in global memory.
    pub from: Address,
    /// Row with the number of bytes.
    pub size: Slot,
}

/// `tex` and `tld4`.
pub struct Sample {
    /// Row of 64-bit texture handles.
    pub object: Slot,
    /// The coordinates.
    pub at: Coordinates,
    /// Whether coordinates are integers.
    pub whole: bool,
    /// For `tld4`: the channel that is read of the four surrounding texels.
    pub gathers: Option<usize>,
    /// Four rows of 32-bit results.
    pub values: Vec<Slot>,
    /// Predicate that says whether the texels are resident, which is always true.
    pub resident: Option<Slot>,
}

/// `suld` and `sust`.
pub struct SurfaceAccess {
    /// Row of 64-bit surface handles.
    pub object: Slot,
    /// The coordinates; x in bytes.
    pub at: Coordinates,
    /// Rows of elements of `width` bytes.
    pub values: Vec<Slot>,
    /// Size of an element, in bytes.
    pub width: u64,
    /// Whether it is a write.
    pub writes: bool,
    /// What an access outside of the surface does; it traps if `None`.
    pub outside: Option<Outside>,
}

/// Coordinates of a texture or surface.
pub struct Coordinates {
    /// A row of 32-bit numbers for each dimension.
    pub rows: Vec<Slot>,
    /// Row of 32-bit layer numbers, for layered objects.
    pub layer: Option<Slot>,
}

/// `mbarrier.*`.
pub struct Mbarrier {
    /// The address, in shared memory.
    pub address: Address,
    /// The operation.
    pub op: MbarrierOp,
    /// Row of 64-bit states, or predicate, that is written.
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
    /// The callee.
    pub callee: Callee,
    /// The arguments, in order of the parameters.
    pub arguments: Vec<Passed>,
    /// Where returned values go.
    pub returns: Vec<Passed>,
}

/// The callee of a call.
pub enum Callee {
    /// A function of the program, by index.
    Direct(u32),
    /// A row of 64-bit function addresses.
    Indirect(Slot),
    /// A function that the device provides.
    Provided(Provided),
}

/// A parameter or returned value.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// Offset in the caller's frame, in bytes.
    pub at: u64,
    /// Size in bytes.
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
    /// The function with this name.
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
    /// Row of 32-bit barrier numbers.
    pub id: Slot,
    /// Row with the number of participating threads; all of the block if `None`.
    pub count: Option<Slot>,
    /// Whether to wait.
    pub wait: bool,
    /// Whether all threads of a warp must execute it together.
    pub aligned: bool,
    /// How to combine the threads' predicates, for `bar.red`.
    pub reduction: Option<Reduction>,
}

/// `bar.red`.
pub struct Reduction {
    /// The combination.
    pub op: Combined,
    /// Row of 32-bit values, or predicate, that is written.
    pub d: Slot,
    /// The predicate of each thread.
    pub predicate: Slot,
}

/// Combinations of predicates at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as PTX calls them")]
pub enum Combined {
    And,
    Or,
    Popc,
}

/// A warp-level exchange between the lanes that `members` names.
pub struct Collective {
    /// The kind of exchange.
    pub op: CollectiveOp,
    /// Row of 32-bit member masks.
    pub members: Slot,
    /// The values contributed; a predicate for votes.
    pub a: Slot,
    /// Lane, delta or mask of a shuffle.
    pub b: Slot,
    /// Clamp and segment mask of a shuffle.
    pub c: Slot,
    /// The results.
    pub d: Slot,
    /// The predicate that is a second result.
    pub p: Slot,
}

/// Kinds of warp-level exchange (PTX ISA §9.7.9, §9.7.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as PTX calls them")]
pub enum CollectiveOp {
    /// `bar.warp.sync`.
    Barrier,
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    VoteBallot,
    /// `match.any` on values of that many bytes.
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

/// A lowered function.
pub struct Routine {
    /// Its steps; the last one returns.
    pub codes: Vec<Code>,
    /// Size of its registers, in bytes.
    pub registers: u32,
    /// Size of its local frame in bytes: parameters, returned values, variables.
    pub frame: u64,
    /// Its parameters, in that frame.
    pub parameters: Vec<Passed>,
    /// Its returned values, in that frame.
    pub returns: Vec<Passed>,
}
