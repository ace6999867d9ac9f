//! The device code of CUDA programs: read from fatbins, parsed, summarised, never executed.
//!
//! - [`fatbin`]: the containers nvcc embeds it in.
//! - [`Summary`]: which bytes a kernel touches in a launch, from its code alone.
//! - [`Program`]: several modules as one, as `nvcc -rdc=true` needs it.
//! - [`Module`] and below: PTX with names resolved and words turned into values, for who executes
//!   or analyses it. Opcodes are data, in [`opcodes`]; what the table lacks stays as text
//!   ([`Op::Unknown`]), an error only for who must execute it.

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
