//! Failure callbacks.
//!
//! Telling that a kernel has failed, to who checks the program.
//!
//! A launch carries its tag as for [`crate::watch`]; when it is told, and under which locks, is as
//! there. Told is what the kernel itself has done wrong, not what the simulator cannot execute.

use crate::grid::Launch;
use crate::watch::kept;
use commsan_simt::{Cause, Fault, Kind};
use std::ffi::c_char;

/// A kernel that has failed. Names stay where they are; a null file is unknown.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// The launch's tag.
    pub tag: u64,
    /// What went wrong: `out of bounds global store of 4 bytes`.
    pub what: *const c_char,
    /// Source file of the instruction.
    pub file: *const c_char,
    /// Its line, from 1.
    pub line: u32,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
    /// Whether memory would have been written.
    pub write: bool,
    /// The address in global memory that the thread must not access in this way.
    pub address: u64,
    /// How many bytes it would have been; 0 if it is not about global memory.
    pub size: u64,
}

/// The callback.
pub type Failed = extern "C" fn(failure: &Failure);

/// The callback for one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Plaintiff {
    tag: u64,
    failed: Failed,
}

impl Plaintiff {
    /// For a launch that carries a tag.
    pub fn of(launch: &Launch, failed: Option<Failed>) -> Option<Plaintiff> {
        failed.filter(|_| launch.tag != 0).map(|failed| Plaintiff { tag: launch.tag, failed })
    }

    /// Tells of a fault.
    pub fn tell(&self, fault: &Fault) {
        let Some(what) = fault_of_kernel(&fault.cause) else { return };
        let line = fault.line.as_ref();
        let (write, address, size) = match fault.cause {
            Cause::Access { kind, memory: "global", address, size, .. } => {
                (kind != Kind::Load, address, size)
            }
            _ => (false, 0, 0),
        };
        (self.failed)(&Failure {
            tag: self.tag,
            what: kept(&what),
            file: line.map_or(std::ptr::null(), |line| kept(&line.file)),
            line: line.map_or(0, |line| line.line),
            block: fault.block,
            thread: fault.thread,
            write,
            address,
            size,
        });
    }
}

/// What a kernel has done wrong, without an address; `None` if the simulator is what cannot go on.
fn fault_of_kernel(cause: &Cause) -> Option<String> {
    Some(match cause {
        Cause::Access { wrong, kind, memory, size, .. } => {
            let kind = match kind {
                Kind::Load => "load",
                Kind::Store => "store",
                Kind::Atomic => "atomic",
            };
            format!("{wrong} {memory} {kind} of {size} bytes")
        }
        Cause::Trap
        | Cause::Assertion(_)
        | Cause::NoFunction(_)
        | Cause::NoTexture(_)
        | Cause::NoSurface(_)
        | Cause::NoCondition(_) => cause.to_string(),
        Cause::Unsupported(_) | Cause::Deadlock | Cause::StackOverflow | Cause::Barrier(_) => {
            return None;
        }
    })
}
