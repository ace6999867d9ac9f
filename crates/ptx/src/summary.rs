//! Static access summaries: the bytes that a kernel reads and writes, as affine functions of
//! arguments, thread numbers and iterations.
//!
//! [`Summary::of`] finds each access to global memory and how its address comes about from arguments,
//! thread numbers and iterations; [`Summary::effects`] puts a launch's arguments and grid into that
//! and gets bytes.
//!
//! **Soundness.** There are two promises, one to each side:
//! - *All effects together are a superset.* A byte of global memory that the kernel touches is in
//!   one of them. An effect without [`Effect::bytes`] may be anything that its origins reach, and
//!   what is not understood, an unknown instruction or a call of what is not in the module, is an
//!   effect of unknown origin: anything at all. This supposes what compilers suppose, too: that
//!   addresses do not overflow, and that a pointer into one allocation is not used to reach
//!   another.
//! - *A [certain](Effect::certain) effect is exact.* Each of its bytes is touched by some thread if
//!   the kernel runs to its end. A race may be reported only on these; on others it is no more than
//!   possible, and must be called that. An effect is certain where all conditions on the way to the
//!   access are linear in thread numbers and iterations and cut whole ranges out of these, nothing
//!   else leads there or away, and loops have no other way out. Accesses of which each way from a
//!   place on meets one, at the same address, count as one there. An effect is certain, too, if the
//!   first thread of each block alone does all of it, as where one thread of each warp adds to a
//!   sum.
//!
//! Numbers of 32 bits are told from what they are modulo 2³² wherever that matters: an affine
//! expression counts as a number only if it is shown to stay within its type for this launch.
//!
//! It misses precision, never bytes, where pointers or indices go through memory (spilled registers
//! of `nvcc -G` among them), where conditions are no comparisons of affine expressions, and for
//! indices that are products or bits of thread numbers, of which only bounds are known. Of
//! quotients and remainders more is known where what is divided takes all values of whole rows, as
//! an index of all points of a grid does.
//!
//! What follows from a guard such as `i < n` bounds the addresses behind it: for each address *A*
//! and condition *c ≤ 0*, *A ≤ max(A − αc)* for any *α ≥ 0* (weak duality of linear programs),
//! where *α* is chosen so that a variable disappears.

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

/// An instruction that accesses global memory, in one of the contexts it is called in.
#[derive(Clone, Debug)]
pub struct Access {
    /// What it does.
    pub kind: AccessKind,
    /// Bytes for each thread; 0 if unknown.
    pub size: u64,
    /// Which instruction it is.
    pub site: Site,
    /// Instructions that do the same on other ways; each thread executes one of them all.
    pub also: Vec<Site>,
    /// The calls that lead there, outermost first.
    pub calls: Vec<Site>,
    /// None: it may access anything.
    address: Option<NodeId>,
    /// Conditions that hold where it is executed, or do not.
    guards: Vec<(NodeId, bool)>,
    /// Loops it is in, by number in the graph.
    loops: Vec<u32>,
    /// Executed whenever the guards allow it.
    certain: bool,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes, or may write.
    Write,
    /// Reads and writes atomically.
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

/// What of a launch a kernel's effects depend on, besides its grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Bytes of the arguments, in order.
    pub arguments: Vec<Range<u64>>,
    /// Variables of the module, in order.
    pub variables: Vec<u32>,
}

/// How a kernel is launched.
pub struct Launch<'a> {
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
    /// The arguments as the parameters' offsets lay them out.
    pub arguments: &'a [u8],
    /// Address of a variable of the module, if it is known.
    pub variable: &'a dyn Fn(u32) -> Option<u64>,
}

/// Where an address may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The argument at that offset: it lies in the allocation that this points to.
    Argument(u64),
    /// A variable of the module.
    Variable(u32),
    /// Read from memory that the argument at that offset leads to, directly or through more memory.
    ThroughArgument(u64),
    /// Read from memory that a variable leads to.
    ThroughVariable(u32),
    /// Memory that is nobody else's: the thread's, the block's, or the workspace of the grid that
    /// `%envreg1` and `%envreg2` name.
    Own,
    /// Not known.
    Unknown,
}

/// What an access does to memory in a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Index of the access in [`Summary::accesses`].
    pub access: usize,
    /// Where its address comes from.
    pub origins: Vec<Origin>,
    /// Bytes it may touch; none if that is not known.
    pub bytes: Option<Footprint>,
    /// Whether all these bytes are touched.
    pub certain: bool,
}

impl Summary {
    /// Looks through a kernel of a module and the functions it calls.
    pub fn of(module: &Module, function: u32) -> Summary {
        let walk::Findings { graph, accesses, .. } = walk::kernel(module, function);
        Summary { graph, accesses }
    }

    /// The accesses, in no particular order.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// What of a launch its effects depend on: launches that agree in this have the same effects.
    pub fn inputs(&self) -> Inputs {
        self.graph.inputs()
    }

    /// What the kernel touches in a launch. Accesses that no thread executes have no effect.
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
