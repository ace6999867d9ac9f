//! Resolved instructions: names are bound, and modifiers are values.

use crate::module::LocationId;
use crate::opcodes::Op;
use crate::words::*;

/// One instruction.
///
/// Its operands lie in [`crate::Body::operands`]; get them with [`crate::Body::operands_of`]. Which
/// positions mean what, and which are written, says the opcode's row ([`Op::row`]); positions are
/// fixed: where an optional operand is left out before others, [`Operand::Sink`] stands for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// How.
    pub modifiers: Modifiers,
    /// Executed only by threads for which this holds.
    pub guard: Option<Guard>,
    /// First operand in the body's list.
    pub first: u32,
    /// Number of operands.
    pub len: u8,
    /// Where in the source it comes from.
    pub location: Option<LocationId>,
}

/// The words after an opcode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Types in the order written: most instructions have one, conversions the result's and then
    /// the operand's.
    pub types: [Option<Type>; 3],
    /// State space; none for generic addresses.
    pub space: Option<Space>,
    /// Elements of a vector access.
    pub vector: Option<Vector>,
    /// Rounding.
    pub rounding: Option<Rounding>,
    /// Comparison.
    pub compare: Option<Compare>,
    /// Operation of an atomic, a reduction, or on predicates.
    pub combine: Option<Combine>,
    /// What a texture or surface is.
    pub geometry: Option<Geometry>,
    /// What only this opcode knows, such as `.wide` or `.bfly`.
    pub mode: Option<Mode>,
    /// Memory ordering.
    pub order: Option<Order>,
    /// Memory scope.
    pub scope: Option<Scope>,
    /// Cache operator.
    pub caching: Option<Caching>,
    /// The rest.
    pub flags: Flags,
}

impl Modifiers {
    /// The type of an instruction that has one.
    ///
    /// # Panics
    /// If the opcode takes no type: its row in the table says so.
    pub fn ty(&self) -> Type {
        self.types[0].expect("the table of opcodes asks for a type")
    }

    /// Whether a flag is there.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.has(flag)
    }

    /// How many bytes a load, store or atomic moves.
    pub fn access_size(&self) -> u64 {
        self.types[0].map_or(0, Type::size) * self.vector.map_or(1, Vector::len)
    }
}

/// A set of [`Flag`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u64);

impl Flags {
    /// Whether a flag is in the set.
    pub fn has(self, flag: Flag) -> bool {
        self.0 & (1 << flag as u8) != 0
    }

    /// Adds a flag; false if it was there.
    pub fn insert(&mut self, flag: Flag) -> bool {
        let new = !self.has(flag);
        self.0 |= 1 << flag as u8;
        new
    }

    /// Those in the set, in the order of the enumeration.
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.iter().copied().filter(move |f| self.has(*f))
    }
}

/// The predicate in front of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A register of class [`Class::Pred`].
    pub register: Reg,
    /// Whether it must be false.
    pub negated: bool,
}

/// How wide a register is. Types of registers mean nothing beyond that: instructions have types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Predicates.
    Pred,
    /// 8 bits.
    B8,
    /// 16 bits.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// 128 bits.
    B128,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; 6] =
        [Class::Pred, Class::B8, Class::B16, Class::B32, Class::B64, Class::B128];

    /// The class of registers declared with a type.
    pub fn of(ty: Type) -> Class {
        match ty {
            Type::Pred => Class::Pred,
            other => match other.size() {
                1 => Class::B8,
                2 => Class::B16,
                4 => Class::B32,
                8 => Class::B64,
                _ => Class::B128,
            },
        }
    }
}

/// A register of a function: within each class they are numbered from 0 without gaps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u32);

impl Reg {
    const INDEX_BITS: u32 = 28;

    /// The register of a class with a number below 2²⁸.
    pub fn new(class: Class, index: u32) -> Reg {
        debug_assert!(index >> Self::INDEX_BITS == 0);
        Reg((class as u32) << Self::INDEX_BITS | index)
    }

    /// Its class.
    pub fn class(self) -> Class {
        Class::ALL[(self.0 >> Self::INDEX_BITS) as usize]
    }

    /// Its number within the class.
    pub fn index(self) -> u32 {
        self.0 & ((1 << Self::INDEX_BITS) - 1)
    }
}

impl std::fmt::Debug for Reg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}#{}", self.class(), self.index())
    }
}

/// One operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// The complement of a predicate, `!%p1`.
    Not(Reg),
    /// A constant: the bits of a value of the operand's type, zero above its width.
    Imm(u64),
    /// A special register and its dimension (x, y, z, w as 0 to 3) or number.
    Special(Special, u8),
    /// Memory, `[base+offset]`.
    Memory(Base, i64),
    /// The address of a symbol as a value, `base+offset`; in calls an argument in parameter space.
    Address(Base, i64),
    /// `{…}`: that many of [`crate::Body::elements`], from that index on.
    List {
        /// Index of the first element.
        first: u32,
        /// Number of elements.
        len: u32,
    },
    /// The index of the instruction to go on with; may be one past the last.
    Target(u32),
    /// An entry of [`crate::Body::tables`]: where an indirect branch or call may lead.
    Table(u32),
    /// `_`, or an operand left out.
    Sink,
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// Nothing: the offset is the address.
    Absolute,
    /// A register's value.
    Reg(Reg),
    /// A parameter of this function.
    Param(u32),
    /// A value this function returns.
    Return(u32),
    /// A variable of this function: local, shared, or an argument of a call to come.
    Local(u32),
    /// A variable of the module.
    Variable(u32),
    /// A function of the module.
    Function(u32),
}
