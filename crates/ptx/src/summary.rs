//! Static access summaries: the bytes that a kernel reads and writes, as affine expressions of
//! arguments, thread indices and iterations (as in polyhedral analysis).
//!
//! [`Summary::of`] finds each access to global memory and how its address is computed from
//! arguments, thread indices and iterations; [`Summary::effects`] substitutes a launch's arguments
//! and grid, which gives bytes.
//!
//! **Soundness.** There are two guarantees, one in each direction:
//! - *All effects together are a superset.* A byte of global memory that the kernel touches is in
//!   one of them. An effect without [`Effect::bytes`] may be any byte that its origins reach. Code
//!   that is not understood, an unknown instruction or a call of a function that is not in the
//!   module, is an effect of unknown origin: any byte at all. As compilers do, this assumes that
//!   addresses do not overflow, and that a pointer into one allocation is not used to reach
//!   another.
//! - *A [certain](Effect::certain) effect is exact.* Each of its bytes is touched by some thread if
//!   the kernel runs to its end. A definite race may be reported only on these; on others a race is
//!   merely possible, and must be reported as that. An effect is certain if all conditions on the
//!   path to the access are linear in thread indices and iterations and cut whole ranges out of
//!   these, no other edges lead there or away, and loops have no other exit. Accesses of which
//!   every path from some point meets one, at the same address, count as one there. An effect is
//!   also certain if the first thread of each block alone performs all of it, as when one thread of
//!   each warp adds to a sum.
//!
//! 32-bit integers are distinguished from their residues modulo 2³² wherever that matters: an
//! affine expression counts as a number only if it is shown to stay within its type for this
//! launch.
//!
//! The analysis loses precision, never bytes, where pointers or indices go through memory (spilled
//! registers of `nvcc -G` among them), where conditions are not comparisons of affine expressions,
//! and for indices that are products or bits of thread indices, of which only bounds are known.
//! Quotients and remainders are known better where the dividend takes all values of whole rows, as
//! a linear index of a grid does.
//!
//! A guard such as `i < n` bounds the addresses behind it: for each address *A* and condition *c ≤
//! 0*, *A ≤ max(A − αc)* for any *α ≥ 0* (weak duality of linear programs), where *α* is chosen so
//! that a variable disappears.

mod affine_expr;
mod graph;
mod shape;
mod values;
mod walk;

pub use shape::Footprint;

use crate::module::Module;
use graph::{Graph, NodeId};
use std::ops::Range;
use values::{Threads, Values};

/// All accesses of a kernel to global memory.
#[derive(Clone, Debug)]
pub struct Summary {
    graph: Graph,
    accesses: Vec<Access>,
}

/// An instruction that accesses global memory, in one of its calling contexts.
#[derive(Clone, Debug)]
pub struct Access {
    /// Read, write or atomic.
    pub kind: AccessKind,
    /// Bytes per thread; 0 if unknown.
    pub size: u64,
    /// The instruction.
    pub site: Site,
    /// Equivalent instructions on other paths; each thread executes one of them all.
    pub also: Vec<Site>,
    /// The calls that lead there, outermost first.
    pub calls: Vec<Site>,
    /// The address; `None` if it may be any.
    address: Option<NodeId>,
    /// Conditions that are true (false) whenever it is executed.
    guards: Vec<(NodeId, bool)>,
    /// The enclosing loops, by number in the graph.
    loops: Vec<u32>,
    /// Whether it is executed whenever the guards allow it.
    certain: bool,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write, or a possible write.
    Write,
    /// An atomic read and write.
    Atomic,
}

/// An instruction of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// Index of the function.
    pub function: u32,
    /// Index of the instruction in its body.
    pub instruction: u32,
}

/// The parts of a launch, besides its grid, that a kernel's effects depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Ranges of the argument buffer, in bytes, ascending.
    pub arguments: Vec<Range<u64>>,
    /// Variables of the module, ascending.
    pub variables: Vec<u32>,
}

/// A kernel launch.
pub struct Launch<'a> {
    /// Number of blocks in each dimension.
    pub grid: [u32; 3],
    /// Number of threads of a block in each dimension.
    pub block: [u32; 3],
    /// The argument buffer, laid out by the parameters' offsets.
    pub arguments: &'a [u8],
    /// Returns the address of a variable of the module, if it is known.
    pub variable: &'a dyn Fn(u32) -> Option<u64>,
}

/// The origin of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The pointer argument at that offset: the address lies in the allocation that it points to.
    Argument(u64),
    /// A variable of the module.
    Variable(u32),
    /// A pointer read from memory that the argument at that offset leads to, perhaps indirectly.
    ThroughArgument(u64),
    /// A pointer read from memory that a variable leads to.
    ThroughVariable(u32),
    /// Private memory: the thread's, the block's, or the workspace of the grid that `%envreg1` and
    /// `%envreg2` name.
    Own,
    /// Unknown.
    Unknown,
}

/// The effect of an access on memory in a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Index of the access in [`Summary::accesses`].
    pub access: usize,
    /// Where its address comes from.
    pub origins: Vec<Origin>,
    /// The bytes that it may touch; `None` if unknown.
    pub bytes: Option<Footprint>,
    /// Whether all these bytes are certainly touched.
    pub certain: bool,
}

impl Summary {
    /// Summarises a kernel of a module, with the functions that it calls.
    pub fn of(module: &Module, function: u32) -> Summary {
        let walk::Findings { graph, accesses, .. } = walk::kernel(module, function);
        Summary { graph, accesses }
    }

    /// The accesses, in no particular order.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The parts of a launch that its effects depend on: launches that agree in these have equal
    /// effects.
    pub fn inputs(&self) -> Inputs {
        self.graph.inputs()
    }

    /// The effects of the kernel in a launch. An access that no thread executes has none.
    pub fn effects(&self, launch: &Launch<'_>) -> Vec<Effect> {
        let mut all = Values::new(&self.graph, launch, Threads::All);
        let mut first = None;
        let accesses = self.accesses.iter().enumerate();
        let effects = accesses.filter_map(|(at, access)| {
            let mut effect = all.effect(at, access)?;
            if !effect.certain && access.certain && effect.bytes.is_some() {
                let first = first
                    .get_or_insert_with(|| Values::new(&self.graph, launch, Threads::FirstOfBlock));
                let alone = first.effect(at, access);
                effect.certain = alone.is_some_and(|e| e.certain && e.bytes == effect.bytes);
            }
            Some(effect)
        });
        effects.collect()
    }
}
