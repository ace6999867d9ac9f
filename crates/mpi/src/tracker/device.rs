//! Work of CUDA streams beside MPI's operations.

use super::Tracker;
use commsan_cuda::{Copy, Gpu, Set, StreamName, Ticket, Work};
use commsan_place::{Findings, Place};

impl Tracker {
    /// What is known about CUDA.
    pub fn gpu(&mut self) -> &mut Gpu {
        &mut self.gpu
    }

    /// Work has been put into a stream.
    pub fn enqueue(&mut self, work: &Work, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        self.gpu.enqueue(work, place, out)
    }

    /// A copy has been put into a stream.
    pub fn copy(&mut self, copy: &Copy, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        self.gpu.copy(copy, place, out)
    }

    /// Bytes are set in a stream.
    pub fn set(&mut self, set: &Set, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        self.gpu.set(set, place, out)
    }

    /// A graph has been launched.
    pub fn graph_launched(
        &mut self,
        exec: usize,
        stream: StreamName,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.gpu.graph_launched(exec, stream, place, out);
    }
}
