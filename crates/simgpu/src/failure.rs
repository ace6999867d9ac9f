//! Failure callbacks: report to a checker that a kernel has failed.
//!
//! A launch carries its tag as described in [`crate::watch`], which also describes when callbacks
//! run and under which locks. Only faults of the kernel itself are reported, not what the simulator
//! cannot execute.

use crate::grid::Launch;
use crate::watch::kept;
use commsan_cuda_abi::observe::{Failed, KernelFailure};
use commsan_simt::{Cause, Fault, Kind};

/// Reports the failure of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct FailureReporter {
    tag: u64,
    failed: Failed,
}

impl FailureReporter {
    /// The reporter of a launch, if it carries a tag.
    pub fn of(launch: &Launch, failed: Option<Failed>) -> Option<FailureReporter> {
        failed.filter(|_| launch.tag != 0).map(|failed| FailureReporter { tag: launch.tag, failed })
    }

    /// Reports a fault.
    pub fn report(&self, fault: &Fault) {
        let Some(what) = fault_of_kernel(&fault.cause) else { return };
        let line = fault.line.as_ref();
        let (write, address, size, pe) = match fault.cause {
            Cause::Access { kind, memory: "global", address, size, .. } => {
                (kind != Kind::Load, address, size, None)
            }
            Cause::Peer { kind, pe, address, size, .. } => {
                (kind != Kind::Load, address, size, Some(pe))
            }
            _ => (false, 0, 0, None),
        };
        (self.failed)(&KernelFailure {
            tag: self.tag,
            what: kept(&what),
            file: line.map_or(std::ptr::null(), |line| kept(&line.file)),
            line: line.map_or(0, |line| line.line),
            block: fault.block,
            thread: fault.thread,
            write,
            address,
            size,
            symmetric: pe.is_some(),
            pe: pe.unwrap_or_default(),
        });
    }
}

/// A description of the fault without an address; `None` if the simulator cannot continue.
fn fault_of_kernel(cause: &Cause) -> Option<String> {
    Some(match cause {
        Cause::Access { wrong, kind, memory, size, .. } => {
            format!("{wrong} {memory} {kind} of {size} bytes")
        }
        Cause::Peer { kind, size, pe, .. } => format!("{kind} of {size} bytes of PE {pe}"),
        Cause::Trap
        | Cause::Assertion(_)
        | Cause::NoFunction(_)
        | Cause::NoTexture(_)
        | Cause::NoSurface(_)
        | Cause::NoCondition(_)
        | Cause::Deadlock
        | Cause::Barrier(_) => cause.to_string(),
        Cause::Unsupported(_) | Cause::StackOverflow => {
            return None;
        }
    })
}
