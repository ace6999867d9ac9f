//! A whole program as the compiler saw it: functions, control flow, values, calls.
//!
//! Compilers run by commsan keep what they made of each source file, before any optimization, in
//! its object file; linkers carry it on. [`input`] finds it again in programs, libraries, objects
//! and archives, [`Program::load`] turns it into plain Rust data, one program of all modules, and
//! [`promote`] puts local variables whose address nobody needs into values (SSA), so that
//! analyses need not care at which level the program was compiled.
//!
//! ```text
//! file ─ input ─▶ bitcode ─ read (LLVM) ─▶ Program ─ promote ─▶ Program ─ graph ─▶ dominators, …
//! ```
//!
//! Exceptions: a call that may throw goes on to its normal destination only; where it would be
//! caught is [`Block::unwind`]. What is reached by throwing alone is not reached.

mod constants;
pub mod copies;
mod decided;
pub mod graph;
pub mod input;
mod jumps;
mod print;
mod programs;
pub mod promote;
mod read;
pub mod saved;
mod trial;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The function that flang makes of a Fortran program.
pub const FORTRAN_PROGRAM: &str = "_QQmain";

/// A function of a [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(pub u32);

/// A global variable of a [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GlobalId(pub u32);

/// A source file of a [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// An instruction of a [`Body`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstId(pub u32);

/// A basic block of a [`Body`]; 0 is the entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BlockId(pub u32);

/// All modules of a program, linked by name.
#[derive(Debug, Default)]
pub struct Program {
    /// Those defined and those only called.
    pub functions: Vec<Function>,
    /// Those defined and those only used.
    pub globals: Vec<Global>,
    /// Paths as the compiler recorded them, absolute where it knew the directory.
    pub files: Vec<String>,
    /// Names of the source files that modules were compiled from.
    pub modules: Vec<String>,
    /// Other names of functions and variables, by which other modules may call them: constructors
    /// have some. They are not followed.
    pub aliases: FxHashSet<String>,
    /// Names of the source files that have a `main`, which is that of the first one.
    pub mains: Vec<String>,
    /// Whether any module has line numbers.
    pub has_lines: bool,
}

/// One function.
#[derive(Debug, Clone)]
pub struct Function {
    /// As the linker knows it.
    pub name: String,
    /// As the source calls it; that of the surrounding function for outlined OpenMP regions.
    pub shown: String,
    /// Index into [`Program::modules`] of its definition, or of its first use.
    pub module: u32,
    /// Where it begins.
    pub at: Place,
    /// How many parameters it has.
    pub params: u32,
    /// Names of parameters, where the debug information has them.
    pub param_names: FxHashMap<u32, Box<str>>,
    /// What it does; absent for those of libraries.
    pub body: Option<Body>,
    /// Whether its address is used for more than calling it.
    pub address_taken: bool,
}

/// What a function does.
#[derive(Debug, Default, Clone)]
pub struct Body {
    /// The entry first.
    pub blocks: Vec<Block>,
    /// By [`InstId`]; the blocks say in which order they run.
    pub code: Vec<Inst>,
    /// Names of local variables, by their [`Op::Alloca`].
    pub names: FxHashMap<InstId, Box<str>>,
}

/// A basic block: instructions, the last one a terminator.
#[derive(Debug, Default, Clone)]
pub struct Block {
    /// In order.
    pub code: Vec<InstId>,
    /// Where its end leads to, in the order of the terminator.
    pub next: SmallVec<[BlockId; 2]>,
    /// Where an exception thrown by its last call leads to.
    pub unwind: Option<BlockId>,
}

/// One instruction.
#[derive(Debug, Clone)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// With what, see [`Op`].
    pub args: SmallVec<[Value; 2]>,
    /// Line and column.
    pub at: Place,
}

/// What an instruction does. In brackets its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Nothing any more.
    Nop,
    /// Memory that lives until the function returns; bytes, unless the size varies.
    Alloca(Option<u64>),
    /// \[address\]: so many bytes.
    Load(u32),
    /// \[value, address\]: so many bytes.
    Store(u32),
    /// \[address, value…\]: reads so many bytes, and writes them if there are values, in one step;
    /// also volatile loads.
    Atomic(u32),
    /// \[base, index…\]: the base, plus bytes, plus each index times its scale in bytes.
    Offset(i64, Box<[i64]>),
    /// \[arguments…\] of a call.
    Call(Callee),
    /// \[to, from, length\]: copies memory.
    Copy,
    /// \[to, byte, length\]: fills memory.
    Fill,
    /// \[values…\], one for each of these blocks it may come from.
    Phi(Box<[BlockId]>),
    /// \[condition, if true, if not\].
    Select,
    /// \[left, right\].
    Binary(Binary),
    /// \[left, right\].
    Compare(Compare),
    /// \[value\]: the same, in another type.
    Cast,
    /// \[values…\]: something made of these.
    Mix,
    /// Goes on, terminator.
    Goto,
    /// \[condition\]: to the first block if true, else to the second; terminator.
    Branch,
    /// \[value\]: to the first block unless one of these constants leads to a later one;
    /// terminator.
    Switch(Box<[i64]>),
    /// \[value\] or nothing; terminator.
    Return,
    /// Never reached: the call before it does not return; terminator.
    Unreachable,
}

/// Who is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    /// This function.
    Direct(FunctionId),
    /// Whatever the last argument of the instruction points to.
    Indirect,
    /// Inline assembly.
    Assembly,
}

/// Integer operations that analyses distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    /// Of numbers with a floating point.
    Float,
}

/// Comparisons; signed and unsigned ones are not distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Other,
}

impl Compare {
    /// What holds where this does not.
    pub fn negated(self) -> Compare {
        match self {
            Compare::Equal => Compare::NotEqual,
            Compare::NotEqual => Compare::Equal,
            Compare::Less => Compare::GreaterOrEqual,
            Compare::LessOrEqual => Compare::Greater,
            Compare::Greater => Compare::LessOrEqual,
            Compare::GreaterOrEqual => Compare::Less,
            Compare::Other => Compare::Other,
        }
    }

    /// What it says of two numbers that have signs.
    pub fn of(self, left: i64, right: i64) -> Option<bool> {
        Some(match self {
            Compare::Equal => left == right,
            Compare::NotEqual => left != right,
            Compare::Less => left < right,
            Compare::LessOrEqual => left <= right,
            Compare::Greater => left > right,
            Compare::GreaterOrEqual => left >= right,
            Compare::Other => return None,
        })
    }
}

/// A value that an instruction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A constant of up to 64 bits, with its sign; null is 0.
    Int(i64),
    /// What an instruction results in.
    Inst(InstId),
    /// What the caller passes.
    Param(u32),
    /// So many bytes past the begin of a global variable.
    Global(GlobalId, i64),
    /// The address of a function.
    Function(FunctionId),
    /// Any other constant.
    Opaque,
}

/// A global variable.
#[derive(Debug)]
pub struct Global {
    /// As the linker knows it.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether it is defined in one of the modules.
    pub defined: bool,
    /// Integers and addresses in it at the start, by offset in bytes.
    pub initial: Vec<(u64, Value)>,
}

/// Addresses at which no object can be, of which libraries make handles: the MPI standard's ABI
/// (MPI 5.0 §20), which uses ten bits. Smaller ones mark special arguments.
///
/// A pointer constant of a program that is such a number is read as the address of a [`Global`],
/// which nothing defines, so that integers are never taken for handles.
pub const HANDLE_ADDRESSES: std::ops::Range<i64> = 0x20..0x400;

/// The name of the global variable that stands for one of [`HANDLE_ADDRESSES`]: no linker's.
pub fn absolute_name(address: i64) -> String {
    format!("{address:#x}")
}

/// The address that a global variable of this name stands for.
pub fn absolute_address(name: &str) -> Option<i64> {
    let digits = name.strip_prefix("0x")?;
    i64::from_str_radix(digits, 16).ok().filter(|address| HANDLE_ADDRESSES.contains(address))
}

/// Where in the source something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    /// None where the compiler recorded no line.
    pub file: Option<FileId>,
    /// Counted from 1; 0 if unknown.
    pub line: u32,
    /// Counted from 1; 0 if unknown.
    pub column: u32,
}

impl Program {
    /// Those with a body.
    pub fn defined(&self) -> impl Iterator<Item = (FunctionId, &Function, &Body)> {
        let numbered = self.functions.iter().enumerate();
        numbered.filter_map(|(n, f)| Some((FunctionId(n as u32), f, f.body.as_ref()?)))
    }

    /// The function of this name that everybody knows.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        let found = self.functions.iter().position(|f| f.name == name)?;
        Some(FunctionId(found as u32))
    }
}

impl std::ops::Index<FunctionId> for Program {
    type Output = Function;

    fn index(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }
}

impl std::ops::Index<GlobalId> for Program {
    type Output = Global;

    fn index(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }
}

impl std::ops::Index<FileId> for Program {
    type Output = String;

    fn index(&self, id: FileId) -> &String {
        &self.files[id.0 as usize]
    }
}

impl std::ops::Index<InstId> for Body {
    type Output = Inst;

    fn index(&self, id: InstId) -> &Inst {
        &self.code[id.0 as usize]
    }
}

impl std::ops::IndexMut<InstId> for Body {
    fn index_mut(&mut self, id: InstId) -> &mut Inst {
        &mut self.code[id.0 as usize]
    }
}

impl std::ops::Index<BlockId> for Body {
    type Output = Block;

    fn index(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }
}

impl Body {
    /// All blocks, the entry first.
    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// The terminator of a block.
    pub fn end(&self, block: BlockId) -> Option<&Inst> {
        self[block].code.last().map(|id| &self[*id])
    }

    /// Instructions of a block, in order.
    pub fn instructions(&self, block: BlockId) -> impl Iterator<Item = (InstId, &Inst)> {
        self[block].code.iter().map(|id| (*id, &self[*id]))
    }
}
