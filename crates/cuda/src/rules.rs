//! For what the host has waited when a copy or a set returns, by where the memory is.
//!
//! "API synchronization behavior" of the CUDA Runtime API. Where it leaves open whether the host
//! waits, asynchronous calls count as not waiting, since a program must not rely on it, and others
//! as waiting, since programs do: a copy from pageable memory is taken as complete, though its last
//! step may still be under way, and so are copies and sets of managed memory.

use crate::work::{MemoryKind, Wait};

/// Where memory is; `None` is pageable.
pub type Where = Option<MemoryKind>;

/// What the host waits for in a copy.
pub fn copy(from: Where, to: Where, asynchronous: bool) -> Wait {
    use MemoryKind::{Device, Pinned};
    let on_host = |place| matches!(place, None | Some(Pinned));
    match (asynchronous, from, to) {
        (true, from, to) if on_host(from) && on_host(to) => Wait::Work,
        (true, ..) | (false, Some(Device), Some(Device)) => Wait::Nothing,
        (false, ..) => Wait::Work,
    }
}

/// What the host waits for when bytes are set.
pub fn set(to: Where, asynchronous: bool) -> Wait {
    match (asynchronous, to) {
        (true, _) | (false, Some(MemoryKind::Device)) => Wait::Nothing,
        (false, _) => Wait::Work,
    }
}
