//! Resolved instructions: names are bound, and modifiers are values.

use crate::module::LocationId;
use crate::opcodes::Op;
use crate::words::*;

/// One instruction.
///
/// Its operands are in [`crate::Body::operands`]; get them with [`crate::Body::operands_of`]. The
/// opcode's row ([`Op::row`]) says what each position means, and which are written. Positions are
/// fixed: if an optional operand before others is missing, [`Operand::Sink`] takes its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    /// The opcode.
    pub op: Op,
    /// The modifiers.
    pub modifiers: Modifiers,
    /// The predicate under which it is executed; always if `None`.
    pub guard: Option<Guard>,
    /// Index of the first operand in the body's list.
    pub first: u32,
    /// Number of operands.
    pub len: u8,
    /// The source location.
    pub location: Option<LocationId>,
}

/// The modifiers of an instruction: the words after its opcode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Types in the order written: most instructions have one, conversions the result's and then
    /// the operand's.
    pub types: [Option<Type>; 3],
    /// State space; `None` for generic addresses.
    pub space: Option<Space>,
    /// Number of elements of a vector access.
    pub vector: Option<Vector>,
    /// Rounding mode.
    pub rounding: Option<Rounding>,
    /// Comparison operator.
    pub compare: Option<Compare>,
    /// Operation of an atomic, a reduction, or a combination of predicates.
    pub combine: Option<Combine>,
    /// Geometry of a texture or surface.
    pub geometry: Option<Geometry>,
    /// A word that only this opcode has, such as `.wide` or `.bfly`.
    pub mode: Option<Mode>,
    /// Memory ordering.
    pub order: Option<Order>,
    /// Memory scope.
    pub scope: Option<Scope>,
    /// Cache operator.
    pub caching: Option<Caching>,
    /// All other modifiers.
    pub flags: Flags,
}

impl Modifiers {
    /// The first type of an instruction.
    ///
    /// # Panics
    /// If the opcode takes no type, according to its row in the table.
    pub fn ty(&self) -> Type {
        self.types[0].expect("the table of opcodes asks for a type")
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.has(flag)
    }

    /// Number of bytes that a load, store or atomic accesses.
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

    /// Adds a flag; false if it was set already.
    pub fn insert(&mut self, flag: Flag) -> bool {
        let new = !self.has(flag);
        self.0 |= 1 << flag as u8;
        new
    }

    /// The flags of the set, in the order of the enumeration.
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.iter().copied().filter(move |f| self.has(*f))
    }
}

/// The predicate that guards an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A register of class [`Class::Pred`].
    pub register: Reg,
    /// Whether the instruction is executed if the predicate is false.
    pub negated: bool,
}

/// Register classes: the width of a register. Declared types mean nothing beyond that, since
/// instructions have types.
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

    /// The class of registers declared with type `ty`.
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

/// A register of a function: registers of each class are numbered from 0 without gaps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u32);

impl Reg {
    const INDEX_BITS: u32 = 28;

    /// The register of a class with a number below 2²⁸.
    pub fn new(class: Class, index: u32) -> Reg {
        debug_assert!(index >> Self::INDEX_BITS == 0);
        Reg((class as u32) << Self::INDEX_BITS | index)
    }

    /// The register's class.
    pub fn class(self) -> Class {
        Class::ALL[(self.0 >> Self::INDEX_BITS) as usize]
    }

    /// The register's number within its class.
    pub fn index(self) -> u32 {
        self.0 & ((1 << Self::INDEX_BITS) - 1)
    }
}

impl std::fmt::Debug for Reg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}#{}", self.class(), self.index())
    }
}

/// An operand of an instruction.
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
    /// Memory at `[base+offset]`.
    Memory(Base, i64),
    /// The address of a symbol as a value, `base+offset`; in calls an argument in parameter space.
    Address(Base, i64),
    /// A list `{…}`: `len` of [`crate::Body::elements`], from index `first` on.
    List {
        /// Index of the first element.
        first: u32,
        /// Number of elements.
        len: u32,
    },
    /// A branch target: the index of an instruction, or one past the last.
    Target(u32),
    /// The index of an entry of [`crate::Body::tables`]: targets of an indirect branch or call.
    Table(u32),
    /// `_`, or an optional operand that is missing.
    Sink,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// No base: the offset is the address.
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
