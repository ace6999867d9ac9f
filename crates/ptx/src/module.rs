//! The syntax tree of a PTX module, with names resolved: what a PTX text declares and defines.

use crate::instruction::{Base, Class, Instruction, Operand, Reg};
use crate::words::{Space, Type};
use std::ops::Range;

/// A PTX module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Major and minor number of `.version`.
    pub version: (u16, u16),
    /// The words of `.target`: architecture (`sm_90`) and options (`debug`).
    pub target: Vec<String>,
    /// `.address_size`, in bits.
    pub address_size: u32,
    /// Source files; [`Location::file`] is an index into these.
    pub files: Vec<File>,
    /// Names of functions that were inlined, mangled; [`Inlined::function`] is an index into these.
    pub names: Vec<String>,
    /// Variables outside functions.
    pub variables: Vec<Variable>,
    /// Functions, defined or only declared here.
    pub functions: Vec<Function>,
}

impl Module {
    /// The function with that name, and its index.
    pub fn function(&self, name: &str) -> Option<(u32, &Function)> {
        let at = self.functions.iter().position(|f| f.name == name)?;
        Some((at as u32, &self.functions[at]))
    }

    /// The variable with that name, and its index.
    pub fn variable(&self, name: &str) -> Option<(u32, &Variable)> {
        let at = self.variables.iter().position(|v| v.name == name)?;
        Some((at as u32, &self.variables[at]))
    }

    /// The architecture that it was compiled for, such as 90 for `sm_90` and `sm_90a`.
    pub fn architecture(&self) -> Option<u32> {
        let number = self.target.iter().find_map(|target| target.strip_prefix("sm_"))?;
        number.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
    }

    /// The kernels that it defines.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.entry && f.body.is_some())
    }
}

/// A `.file` directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The number by which `.loc` refers to it.
    pub number: u32,
    /// The path that the compiler was given.
    pub path: String,
}

/// Linkage: which modules see a symbol (PTX ISA §11.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// This module only.
    #[default]
    Internal,
    /// All modules.
    Visible,
    /// Defined in another module.
    Extern,
    /// All modules, and one of several definitions is taken.
    Weak,
    /// All modules, and the largest of several definitions is taken.
    Common,
}

/// A variable or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The mangled name.
    pub name: String,
    /// Its linkage.
    pub linkage: Linkage,
    /// Its state space.
    pub space: Space,
    /// The type of an element.
    pub ty: Type,
    /// Extents of an array; 0 stands for an unsized one (`extern .shared … dyn[]`).
    pub extents: Vec<u64>,
    /// Elements of each vector; 1 for scalars.
    pub vector: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Size in bytes.
    pub size: u64,
    /// Offset in bytes: for parameters, in the argument buffer; for a function's variables, in its
    /// frame of their state space ([`Body::frame`]); 0 for a module's variables.
    pub offset: u64,
    /// Whether it is managed memory, `.attribute(.managed)`.
    pub managed: bool,
    /// The initial contents; zero if `None`.
    pub initial: Option<Initial>,
}

/// A variable's initial contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    /// The first bytes; the rest is zero.
    pub bytes: Vec<u8>,
    /// Addresses to be stored into these bytes.
    pub relocations: Vec<Relocation>,
}

/// The address of a symbol within initial contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset of the address in the contents, in bytes.
    pub at: u64,
    /// Number of bytes of the address that are stored.
    pub width: u64,
    /// First byte of the address that is stored: not 0 for `0xFF00(symbol)`.
    pub byte: u64,
    /// The symbol: [`Base::Variable`] or [`Base::Function`].
    pub symbol: Base,
    /// A constant added to the address.
    pub addend: i64,
    /// Whether the address is a generic one, not one of the symbol's state space.
    pub generic: bool,
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The mangled name.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    /// Its linkage.
    pub linkage: Linkage,
    /// Parameters, with offsets; for a kernel, in the launch's argument buffer.
    pub parameters: Vec<Variable>,
    /// Returned values.
    pub returns: Vec<Variable>,
    /// Directives such as `.maxntid 256, 1, 1`.
    pub directives: Vec<Directive>,
    /// The instructions; `None` if it is only declared.
    pub body: Option<Body>,
}

impl Function {
    /// The numbers of a directive such as `reqntid`.
    pub fn directive(&self, name: &str) -> Option<&[u32]> {
        self.directives.iter().find(|d| d.name == name).map(|d| &d.values[..])
    }

    /// Size in bytes of all parameters.
    pub fn parameter_size(&self) -> u64 {
        self.parameters.last().map_or(0, |p| p.offset + p.size)
    }
}

/// A directive on how to compile or launch a function (PTX ISA §11.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The name, without its dot.
    pub name: String,
    /// The numbers.
    pub values: Vec<u32>,
}

/// The body of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Register declarations, which name the registers.
    pub registers: Vec<Registers>,
    /// Number of registers of each class, in the order of [`Class::ALL`].
    pub register_count: [u32; Class::ALL.len()],
    /// Variables of the function: local, shared, and arguments of its calls (parameter space).
    pub variables: Vec<Variable>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// Operands of all instructions.
    pub operands: Vec<Operand>,
    /// Elements of all list operands.
    pub elements: Vec<Operand>,
    /// Targets of indirect branches and calls.
    pub tables: Vec<Table>,
    /// Labels, each with the index of the instruction after it, in order.
    pub labels: Vec<(String, u32)>,
    /// Source locations.
    pub locations: Vec<Location>,
    /// Statements that could not be parsed, see [`crate::Op::Unknown`].
    pub unknown: Vec<String>,
}

impl Body {
    /// The operands of an instruction of this body.
    pub fn operands_of(&self, instruction: &Instruction) -> &[Operand] {
        &self.operands[instruction.first as usize..][..instruction.len as usize]
    }

    /// The elements of a list operand; any other operand by itself.
    pub fn elements_of<'a>(&'a self, operand: &'a Operand) -> &'a [Operand] {
        match operand {
            Operand::List { first, len } => &self.elements[*first as usize..][..*len as usize],
            single => std::slice::from_ref(single),
        }
    }

    /// The source location of an instruction.
    pub fn location(&self, instruction: &Instruction) -> Option<&Location> {
        instruction.location.map(|id| &self.locations[id.index()])
    }

    /// Size in bytes and alignment of the function's variables in a state space.
    pub fn frame(&self, space: Space) -> (u64, u64) {
        let own = self.variables.iter().filter(|v| v.space == space);
        own.fold((0, 1), |(size, align), v| (size.max(v.offset + v.size), align.max(v.align)))
    }
}

/// A declaration of registers: `.reg .b32 %r<7>;` or `.reg .b64 %SP;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The name, or the prefix of numbered names.
    pub name: String,
    /// Number of registers, if they are numbered.
    pub count: Option<u32>,
    /// The declared type.
    pub ty: Type,
    /// The first register.
    pub first: Reg,
}

impl Registers {
    /// The numbers of these registers within their class.
    pub fn range(&self) -> Range<u32> {
        self.first.index()..self.first.index() + self.count.unwrap_or(1)
    }
}

/// A table of targets of an indirect branch or call.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its label.
    pub name: String,
    /// The targets.
    pub targets: Targets,
}

/// The entries of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// `.branchtargets`: indices of instructions.
    Branch(Vec<u32>),
    /// `.calltargets`: functions of the module.
    Call(Vec<u32>),
    /// `.callprototype`: any function of this type.
    Prototype {
        /// The returned values.
        returns: Vec<Variable>,
        /// The parameters.
        parameters: Vec<Variable>,
    },
}

/// The number of a [`Location`] within its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(std::num::NonZeroU32);

impl LocationId {
    /// The id of the location with that index in [`Body::locations`].
    pub fn new(index: usize) -> LocationId {
        LocationId(std::num::NonZeroU32::new(index as u32 + 1).expect("fewer than 2³² locations"))
    }

    /// The location's index in [`Body::locations`].
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A source location (`.loc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Index into [`Module::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The call site, if the location is in an inlined function.
    pub inlined: Option<Inlined>,
}

/// The call site of an inlined function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inlined {
    /// The inlined function, as an index into [`Module::names`]; `None` if the text lacks it.
    pub function: Option<u32>,
    /// The location of the call in the same body, which may itself be inlined.
    pub at: LocationId,
}
