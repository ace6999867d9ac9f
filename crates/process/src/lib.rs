//! Sensors of the process they run in: memory accesses, releases, stacks, loaded modules.
//!
//! The compiled-in half of the hooks is C, in `hooks/`; this is the half that lives in the
//! preloaded runtime. `unsafe` is at home here: each block says why it may.

pub mod abi;
pub mod allocate;
pub mod fence;
pub mod heap;
pub mod inside;
pub mod memory;
pub mod modules;
pub mod next;
pub mod python;
pub mod release;
pub mod stack;
pub mod thread;
