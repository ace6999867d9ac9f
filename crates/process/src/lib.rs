//! Interceptors and introspection of the process they run in: memory accesses, releases, call
//! stacks, loaded modules, as symbolization needs them.
//!
//! The compiled-in half of the hooks is C, in `instrument/hooks/`; this is the half in the
//! preloaded runtime. `unsafe` is at home here: each block states its safety argument.

pub use commsan_machine as machine;

pub mod abi;
pub mod allocate;
pub mod faults;
pub mod fence;
mod foreign_stack;
pub mod heap;
pub mod inside;
pub mod loaded;
pub mod memory;
pub mod modules;
pub mod next;
pub mod own_memory;
pub mod python;
pub mod release;
pub mod stack;
pub mod stats;
pub mod tasks;
pub mod thread;
pub mod transfers;
pub mod unwind;
