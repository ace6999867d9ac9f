//! What ends a grid, reported like a compiler error: by kernel, thread and source line.

use crate::memory::{Kind, Wrong};
use commsan_ptx::{Instruction, Module, Site};
use std::fmt;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An access that is not allowed.
    Access {
        /// Why not.
        wrong: Wrong,
        /// What it would have done.
        kind: Kind,
        /// In which memory: `global`, `shared`, `local`, `parameter`, `surface`.
        memory: &'static str,
        /// Where.
        address: u64,
        /// Bytes.
        size: u64,
    },
    /// `trap`, or what the compiler has found that cannot be reached.
    Trap,
    /// A failed `assert`: what it said.
    Assertion(String),
    /// An instruction that cannot be executed, and why.
    Unsupported(String),
    /// Threads wait at barriers that never complete.
    Deadlock,
    /// More local memory than a thread may have.
    StackOverflow,
    /// A call through a pointer that is no function's.
    NoFunction(u64),
    /// A read by a handle that stands for no texture.
    NoTexture(u64),
    /// An access by a handle that stands for no surface.
    NoSurface(u64),
    /// A value for a condition of graphs that there is not.
    NoCondition(u64),
    /// A barrier's number or count that no block has.
    Barrier(u32),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Access { wrong, kind, memory, address, size } => {
                let kind = match kind {
                    Kind::Load => "load",
                    Kind::Store => "store",
                    Kind::Atomic => "atomic",
                };
                write!(f, "{wrong} {memory} {kind} of {size} bytes at {address:#x}")
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

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// As the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// A fault of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub cause: Cause,
    /// The kernel's name, mangled.
    pub kernel: String,
    /// The function's, if it is another one.
    pub function: String,
    /// The instruction's index in that function's body, and its name.
    pub instruction: (u32, String),
    /// Where in the source, if the module says so.
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

/// What an instruction is called, with its type and memory.
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

/// Where an instruction comes from: in the program's own files, if what is there was inlined there.
pub(crate) fn line_of(module: &Module, function: u32, index: u32) -> Option<SourceLine> {
    let site = Site { function, instruction: index };
    let (file, line) = module.own_line(&[site])?;
    Some(SourceLine { file: file.to_owned(), line })
}
