//! Faults that end a grid, reported like compiler errors: by kernel, thread and source line.

use crate::memory::{NoPeer, Wrong};
use crate::observe::Kind;
use commsan_ptx::{Instruction, Module, Site};
use std::fmt;

/// The cause of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An invalid memory access.
    Access {
        /// Why it is invalid.
        wrong: Wrong,
        /// The kind of access.
        kind: Kind,
        /// The memory: `global`, `shared`, `local`, `parameter`, `surface`.
        memory: &'static str,
        /// The address.
        address: u64,
        /// The size, in bytes.
        size: u64,
    },
    /// An access to memory of another processing element (PE) that is not there.
    Peer {
        /// Why it is not; `None` if the access leaves the symmetric memory that it begins in.
        why: Option<NoPeer>,
        /// The kind of access.
        kind: Kind,
        /// The PE.
        pe: i32,
        /// The address, by which PEs know the memory.
        address: u64,
        /// The size, in bytes.
        size: u64,
    },
    /// `trap`, or code that the compiler considers unreachable.
    Trap,
    /// A failed `assert`, with its message.
    Assertion(String),
    /// An instruction that cannot be executed, with the reason.
    Unsupported(String),
    /// Threads wait at barriers that never complete.
    Deadlock,
    /// A thread uses more local memory than allowed.
    StackOverflow,
    /// A call through a pointer that is not a function's address.
    NoFunction(u64),
    /// A read through a handle that is not a texture's.
    NoTexture(u64),
    /// An access through a handle that is not a surface's.
    NoSurface(u64),
    /// A value set for a handle that is not a condition of a graph.
    NoCondition(u64),
    /// A barrier number or thread count that is invalid in any block.
    Barrier(u32),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Atomic => "atomic",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Access { wrong, kind, memory, address, size } => {
                write!(f, "{wrong} {memory} {kind} of {size} bytes at {address:#x}")
            }
            Cause::Peer { why, kind, pe, address, size } => {
                write!(f, "{kind} of {size} bytes at {address:#x} of PE {pe}, ")?;
                f.write_str(match why {
                    Some(NoPeer::Pe) => "which does not exist",
                    Some(NoPeer::Memory) => "where it has no symmetric memory",
                    None => "which leaves the symmetric allocation there",
                })
            }
            Cause::Trap => f.write_str("trap"),
            Cause::Assertion(text) => f.write_str(text),
            Cause::Unsupported(what) => f.write_str(what),
            Cause::Deadlock => f.write_str("waits for threads that never come"),
            Cause::StackOverflow => f.write_str("stack overflow"),
            Cause::NoFunction(address) => write!(f, "call of {address:#x}, which is no function"),
            Cause::NoTexture(handle) => {
                write!(f, "read of {handle:#x}, which is no texture object")
            }
            Cause::NoSurface(handle) => {
                write!(f, "access by {handle:#x}, which is no surface object")
            }
            Cause::NoCondition(handle) => {
                write!(f, "value for {handle:#x}, which is no condition of a graph")
            }
            Cause::Barrier(number) => write!(f, "no block has a barrier like this: {number}"),
        }
    }
}

/// A source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The path that the compiler was given.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A fault of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The cause.
    pub cause: Cause,
    /// The kernel's mangled name.
    pub kernel: String,
    /// The function's mangled name, if it is not the kernel.
    pub function: String,
    /// The instruction's index in that function's body, and its name.
    pub instruction: (u32, String),
    /// The source line, if the module has line information.
    pub line: Option<SourceLine>,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        let (index, name) = &self.instruction;
        write!(
            f,
            "{}: {} in block ({bx},{by},{bz}), thread ({tx},{ty},{tz})",
            self.kernel, self.cause
        )?;
        match &self.line {
            Some(SourceLine { file, line }) => write!(f, ", {file}:{line}")?,
            None => f.write_str(", built without -lineinfo")?,
        }
        f.write_str(" (")?;
        if !name.is_empty() {
            write!(f, "`{name}`, ")?; // unless it is one that nobody has a name for
        }
        write!(f, "instruction {index} of {})", self.function)
    }
}

/// The name of an instruction, with its type and state space.
pub fn name_of(instruction: &Instruction) -> String {
    let modifiers = &instruction.modifiers;
    let mut name = instruction.op.row().names.first().copied().unwrap_or_default().to_owned();
    let space = modifiers.space.map(|s| s.word());
    let combine = modifiers.combine.map(|c| c.word());
    let vector = modifiers.vector.map(|v| v.word());
    let types = modifiers.types.iter().flatten().map(|t| t.word());
    for word in space.into_iter().chain(combine).chain(vector).chain(types) {
        name.push('.');
        name.push_str(word);
    }
    name
}

/// The source line of an instruction: the innermost one in the program's own files, outside of
/// inlined library code.
pub(crate) fn line_of(module: &Module, function: u32, index: u32) -> Option<SourceLine> {
    let site = Site { function, instruction: index };
    let (file, line) = module.own_line(&[site])?;
    Some(SourceLine { file: file.to_owned(), line })
}
