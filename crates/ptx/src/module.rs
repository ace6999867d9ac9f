//! Modules: what a PTX text declares and defines.

use crate::instruction::{Base, Class, Instruction, Operand, Reg};
use crate::words::{Space, Type};
use std::ops::Range;

/// One PTX text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version`, major and minor.
    pub version: (u16, u16),
    /// `.target`: architecture (`sm_90`) and options (`debug`).
    pub target: Vec<String>,
    /// `.address_size`, in bits.
    pub address_size: u32,
    /// Source files; [`Location::file`] is an index into these.
    pub files: Vec<File>,
    /// Names of functions that were inlined, mangled; [`Inlined::function`] is an index into these.
    pub names: Vec<String>,
    /// Variables outside functions.
    pub variables: Vec<Variable>,
    /// Functions, defined here or elsewhere.
    pub functions: Vec<Function>,
}

impl Module {
    /// The function with that name.
    pub fn function(&self, name: &str) -> Option<(u32, &Function)> {
        let at = self.functions.iter().position(|f| f.name == name)?;
        Some((at as u32, &self.functions[at]))
    }

    /// The variable with that name.
    pub fn variable(&self, name: &str) -> Option<(u32, &Variable)> {
        let at = self.variables.iter().position(|v| v.name == name)?;
        Some((at as u32, &self.variables[at]))
    }

    /// The architecture that it was compiled for, such as 90 for `sm_90` and `sm_90a`.
    pub fn architecture(&self) -> Option<u32> {
        let number = self.target.iter().find_map(|target| target.strip_prefix("sm_"))?;
        number.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
    }

    /// Kernels defined here.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.entry && f.body.is_some())
    }
}

/// A `.file` directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The number that `.loc` names it by.
    pub number: u32,
    /// As the compiler was given it.
    pub path: String,
}

/// Who sees a symbol (PTX ISA §11.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// This module only.
    #[default]
    Internal,
    /// Other modules, too.
    Visible,
    /// Defined in another module.
    Extern,
    /// Visible, and one of several definitions is taken.
    Weak,
    /// Visible, and the largest of several definitions is taken.
    Common,
}

/// A variable, or a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name, mangled.
    pub name: String,
    /// Who sees it.
    pub linkage: Linkage,
    /// Where it lives.
    pub space: Space,
    /// Of its elements.
    pub ty: Type,
    /// Extents of an array; 0 stands for one without a size (`extern .shared … dyn[]`).
    pub extents: Vec<u64>,
    /// Elements of each vector, 1 for plain ones.
    pub vector: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Size in bytes.
    pub size: u64,
    /// Offset in bytes: of parameters as launches and calls lay them out, of a function's
    /// variables in its frame of their state space ([`Body::frame`]); 0 for a module's.
    pub offset: u64,
    /// `.attribute(.managed)`
    pub managed: bool,
    /// What it begins with; zero beyond that.
    pub initial: Option<Initial>,
}

/// A variable's initial contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    /// From the first byte on; the rest is zero.
    pub bytes: Vec<u8>,
    /// Where addresses are to be put into these bytes.
    pub relocations: Vec<Relocation>,
}

/// The address of a symbol within initial contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where to put it.
    pub at: u64,
    /// How many bytes of it.
    pub width: u64,
    /// From which byte of the address on: not 0 for `0xFF00(symbol)`.
    pub byte: u64,
    /// Whose address: [`Base::Variable`] or [`Base::Function`].
    pub symbol: Base,
    /// Added to it.
    pub addend: i64,
    /// As a generic address, not one of the symbol's state space.
    pub generic: bool,
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name, mangled.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    /// Who sees it.
    pub linkage: Linkage,
    /// Parameters, with offsets; those of kernels are the launch's argument buffer.
    pub parameters: Vec<Variable>,
    /// Values returned.
    pub returns: Vec<Variable>,
    /// Such as `.maxntid 256, 1, 1`.
    pub directives: Vec<Directive>,
    /// Instructions, unless it is defined elsewhere.
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
    /// Without its dot.
    pub name: String,
    /// Its numbers.
    pub values: Vec<u32>,
}

/// What a function does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Declarations of registers, which name them.
    pub registers: Vec<Registers>,
    /// How many registers of each class, in the order of [`Class::ALL`].
    pub register_count: [u32; Class::ALL.len()],
    /// Variables of the function: local, shared, and arguments of its calls (parameter space).
    pub variables: Vec<Variable>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// Operands of all instructions.
    pub operands: Vec<Operand>,
    /// Elements of all lists among these.
    pub elements: Vec<Operand>,
    /// Targets of indirect branches and calls.
    pub tables: Vec<Table>,
    /// Labels and the index of the instruction that follows each, in order.
    pub labels: Vec<(String, u32)>,
    /// Source locations.
    pub locations: Vec<Location>,
    /// Statements that could not be read, see [`crate::Op::Unknown`].
    pub unknown: Vec<String>,
}

impl Body {
    /// The operands of one of its instructions.
    pub fn operands_of(&self, instruction: &Instruction) -> &[Operand] {
        &self.operands[instruction.first as usize..][..instruction.len as usize]
    }

    /// What a value consists of: the elements of a list, else itself.
    pub fn elements_of<'a>(&'a self, operand: &'a Operand) -> &'a [Operand] {
        match operand {
            Operand::List { first, len } => &self.elements[*first as usize..][..*len as usize],
            single => std::slice::from_ref(single),
        }
    }

    /// Where an instruction comes from.
    pub fn location(&self, instruction: &Instruction) -> Option<&Location> {
        instruction.location.map(|id| &self.locations[id.index()])
    }

    /// Bytes that the function's variables of a state space take, and their alignment.
    pub fn frame(&self, space: Space) -> (u64, u64) {
        let own = self.variables.iter().filter(|v| v.space == space);
        own.fold((0, 1), |(size, align), v| (size.max(v.offset + v.size), align.max(v.align)))
    }
}

/// A declaration of registers: `.reg .b32 %r<7>;` or `.reg .b64 %SP;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Name, or what comes before the numbers.
    pub name: String,
    /// How many, if they are numbered.
    pub count: Option<u32>,
    /// Their declared type.
    pub ty: Type,
    /// The first of them.
    pub first: Reg,
}

impl Registers {
    /// The numbers of its registers in their class.
    pub fn range(&self) -> Range<u32> {
        self.first.index()..self.first.index() + self.count.unwrap_or(1)
    }
}

/// Where an indirect branch or call may lead.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its label.
    pub name: String,
    /// What stands there.
    pub targets: Targets,
}

/// The entries of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// `.branchtargets`: indices of instructions.
    Branch(Vec<u32>),
    /// `.calltargets`: functions of the module.
    Call(Vec<u32>),
    /// `.callprototype`: any function like this.
    Prototype {
        /// Values it returns.
        returns: Vec<Variable>,
        /// Its parameters.
        parameters: Vec<Variable>,
    },
}

/// Number of a [`Location`] within its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(std::num::NonZeroU32);

impl LocationId {
    /// The id of the location with that index.
    pub fn new(index: usize) -> LocationId {
        LocationId(std::num::NonZeroU32::new(index as u32 + 1).expect("fewer than 2³² locations"))
    }

    /// Its index in [`Body::locations`].
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A place in the source (`.loc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Index into [`Module::files`].
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// If the place is in a function that was inlined.
    pub inlined: Option<Inlined>,
}

/// Into what a place was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inlined {
    /// The function that the place is in: index into [`Module::names`]. None if the text lacks it.
    pub function: Option<u32>,
    /// Where it was called: another location of the body, which may be inlined in turn.
    pub at: LocationId,
}
