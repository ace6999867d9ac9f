//! Static analysis of CUDA device code: reads fatbins, parses PTX, and summarises kernels' memory
//! accesses as affine expressions, without executing anything.
//!
//! - [`fatbin`]: the containers in which nvcc embeds device code.
//! - [`Summary`]: which bytes a kernel touches in a launch, from its code alone.
//! - [`Program`]: several modules linked into one, for `nvcc -rdc=true`.
//! - [`Module`] and below: PTX with names resolved and words turned into values, for execution or
//!   analysis. Opcodes are data, in [`opcodes`]; an instruction that the table lacks stays as text
//!   ([`Op::Unknown`]), which is an error only if it must be executed.

pub mod fatbin;
mod flow;
mod instruction;
mod link;
mod module;
pub mod opcodes;
mod parse;
mod print;
mod source;
mod summary;
pub mod words;

pub use instruction::{Base, Class, Flags, Guard, Instruction, Modifiers, Operand, Reg};
pub use link::{Id, LinkError, Program};
pub use module::{
    Body, Directive, File, Function, Initial, Inlined, Linkage, Location, LocationId, Module,
    Registers, Relocation, Table, Targets, Variable,
};
pub use opcodes::Op;
pub use parse::ParseError;
pub use source::Strength;
pub use summary::{Access, AccessKind, Effect, Footprint, Inputs, Launch, Origin, Site, Summary};
