//! A SIMT interpreter of PTX: executes kernels in host memory, warp by warp, with divergence and
//! reconvergence of lanes.
//!
//! It knows grids, blocks, warps, threads and memory spaces, and no API: the caller decides when a
//! grid advances ([`Grid::advance`]) and what memory it may access ([`Reach`]), and can observe its
//! accesses ([`Observer`]).
//!
//! - A [`Program`] is a module; its kernels are lowered once, from named operands to rows of
//!   registers (`lower`), in which each step (`code`) is one loop over the lanes of a warp
//!   (`compute`, `rows`).
//! - A [`Grid`] is a launch. Its blocks (`block`) advance in turn; their warps (`warp`) advance as
//!   groups of converged lanes (`execute`).
//! - Memory is checked before it is accessed (`access`, `memory`); an invalid access is a
//!   [`Fault`].
//!
//! Global memory is the host's, at the host's addresses. A use after free, by the kernel that frees
//! memory or another one, is detected only until the address is allocated again.

mod access;
mod barrier;
mod block;
mod code;
mod compute;
mod condition;
mod exchange;
mod execute;
mod fault;
mod float;
mod grid;
mod image;
mod lower;
mod mbarrier;
mod memory;
mod observe;
mod printf;
mod program;
mod provided;
mod rows;
mod special;
mod stack;
mod texture;
mod warp;

pub use condition::Conditions;
pub use fault::{Cause, Fault, SourceLine, name_of};
pub use grid::{Grid, Launch, Progress, Refused};
pub use memory::{Mapped, NoPeer, PEERS, Reach, Wrong};
pub use observe::{Access, At, Event, Kind, Mbarrier, Observer};
pub use program::{Kernel, Program, Symbols};
pub use provided::Services;
pub use texture::{Channel, Outside, Surface, Texels, Texture};
