//! Memory that comes and goes, and what the page filter has of it.
//!
//! Memory of a device is marked as long as it is one's own: the host must not touch it at all, and
//! what MPI does with it is looked at. Memory that the host may touch is marked when work uses it,
//! block by block, and stays so until the host touches it and nothing is in flight there: a kernel
//! costs no more for a large range than for a small one.

use super::{Gpu, Knowledge, NodeKind, Ticket};
use crate::clock::{Clock, Epoch};
use crate::memory::{Block, Freed};
use crate::work::{Allocation, MemoryKind, Release};
use commsan_callsite::{Findings, Place, Site};
use commsan_shadow::{Mode, OpId};
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};

impl Gpu {
    /// Memory has been allocated or registered.
    pub fn allocated(&mut self, allocation: Allocation, call: &'static str, place: &dyn Place) {
        let Allocation { kind, device, bytes, stream } = allocation;
        if bytes.is_empty() {
            return;
        }
        // What a graph allocates is there when it is launched.
        let captured = stream.filter(|stream| self.makes_graph(*stream));
        let stream = stream.filter(|_| captured.is_none());
        let born = stream.map(|stream| {
            let slot = self.slot(stream);
            let (epoch, _) = self.order.enqueue(slot, self.actor.as_ref());
            epoch
        });
        let marked = kind == MemoryKind::Device;
        let site = place.site(Some(call), &mut self.stacks);
        self.unmark_freed(&bytes);
        let block = Block { bytes: bytes.clone(), kind, device, site, born, marked, shared: None };
        let replaced = self.memory.insert(block);
        replaced.iter().for_each(|block| self.unmark_block(block));
        if marked {
            self.set_mark(bytes.clone());
        }
        if let Some(stream) = captured {
            let act = self.allocation(bytes.start);
            self.capture(stream, act);
        }
    }

    /// A launch of a graph allocates memory, at the address that it always has.
    pub(super) fn allocated_in_graph(&mut self, block: &Block, epoch: Epoch) {
        self.unmark_freed(&block.bytes);
        if let Some(known) = self.memory.around_mut(block.bytes.start) {
            known.born = Some(epoch);
            return;
        }
        if block.marked {
            self.set_mark(block.bytes.clone());
        }
        self.memory.insert(Block { born: Some(epoch), shared: None, ..block.clone() });
    }

    /// A launch of a graph gives memory back, after this.
    pub(super) fn freed_in_graph(
        &mut self,
        address: usize,
        (call, site): (&'static str, Site),
        clock: &Clock,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let Some(block) = self.memory.at(address).cloned() else { return };
        self.released_by_node(call, (&block.bytes, site), clock, out);
        self.memory.remove(address);
        self.end_within(&block.bytes, place, out);
        self.forget_block(block, site);
    }

    /// A block is gone; that is remembered.
    fn forget_block(&mut self, block: Block, site: Site) {
        if !block.marked {
            self.set_mark(block.bytes.clone());
        }
        let freed = Freed { after: Ticket(self.tickets), bytes: block.bytes, site };
        let forgotten = self.memory.release(freed);
        forgotten.into_iter().for_each(|freed| self.clear_mark(freed.bytes));
    }

    /// The memory that begins at an address.
    pub fn block_at(&self, address: usize) -> Option<Range<usize>> {
        Some(self.memory.at(address)?.bytes.clone())
    }

    /// What memory an address lies in, and the device that was current when it was allocated;
    /// `None` for memory that CUDA does not know.
    pub fn memory_at(&self, address: usize) -> Option<(MemoryKind, u32)> {
        self.memory.around(address).map(|block| (block.kind, block.device))
    }

    /// The memory of a device, or managed, that an address lies in. Registered memory is part of
    /// what the host has.
    pub fn block_around(&self, address: usize) -> Option<Range<usize>> {
        let block = self.memory.around(address)?;
        // Of another process's memory, no more than that may be known.
        let is_known = block.kind != MemoryKind::Pinned && block.bytes.len() > 1;
        is_known.then(|| block.bytes.clone())
    }

    /// Whether memory that is about to be given back is so by a graph that is captured, when that
    /// is launched.
    pub fn captures_free(
        &mut self,
        address: usize,
        how: Release,
        call: &'static str,
        place: &dyn Place,
    ) -> bool {
        match how {
            Release::Async(stream) => self.captured(stream, NodeKind::Free(address, call), place),
            Release::Device | Release::Host | Release::Unregister => false,
        }
    }

    /// Memory is about to be given back.
    pub fn freed(
        &mut self,
        address: usize,
        how: Release,
        call: &'static str,
        device: u32,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let Some(block) = self.memory.at(address).cloned() else { return };
        match how {
            Release::Async(stream) => {
                let slot = self.slot(stream);
                let (_, clock) = self.order.enqueue(slot, self.actor.as_ref());
                let knows = Knowledge { clock, within: None };
                self.released_by(call, (&block.bytes, &knows), place, out);
            }
            // Memory of a pool is not waited for ("Stream Ordered Memory Allocator").
            Release::Device if block.born.is_some() => {
                let knows = self.knowledge(place.thread());
                self.released_by(call, (&block.bytes, &knows), place, out);
            }
            // "May perform implicit synchronization": drivers do.
            Release::Device | Release::Host | Release::Unregister => {
                self.device_synchronized(device, call, place, out);
            }
        }
        self.unshare(&block.bytes, call, place, out);
        self.memory.remove(address);
        self.end_within(&block.bytes, place, out);
        self.released.insert(place.thread(), block.clone());
        if block.kind == MemoryKind::Device || how == Release::Device {
            let site = place.site(Some(call), &mut self.stacks);
            self.forget_block(block, site);
        } else {
            self.unmark_block(&block);
        }
    }

    /// The call that gives memory back has returned. If it has failed, the memory is there as
    /// before, unless others have it.
    pub fn free_ended(&mut self, address: usize, refused: bool, place: &dyn Place) {
        let block = self.released.remove(&place.thread());
        let is_it = |block: &Block| refused && block.bytes.start == address;
        if let Some(block) = block.filter(is_it)
            && !self.memory.touches(&block.bytes)
        {
            self.unmark_freed(&block.bytes);
            if block.marked {
                self.set_mark(block.bytes.clone());
            }
            self.memory.insert(Block { shared: None, ..block });
        }
    }

    /// All of a device is gone.
    pub fn device_reset(&mut self, device: u32, place: &dyn Place, out: &mut dyn Findings) {
        self.device_synchronized(device, "cudaDeviceReset", place, out);
        let shared = self.memory.blocks().filter(|b| b.device == device && b.shared.is_some());
        let shared: Vec<_> = shared.map(|block| block.bytes.clone()).collect();
        shared.iter().for_each(|bytes| self.unshare(bytes, "cudaDeviceReset", place, out));
        for block in self.memory.take_device(device) {
            self.unmark_block(&block);
        }
    }

    /// Work on memory that is no more has been reported, and is of no interest.
    fn end_within(&mut self, bytes: &Range<usize>, place: &dyn Place, out: &mut dyn Findings) {
        let mut inside: SmallVec<[OpId; 8]> = SmallVec::new();
        let _ = self.live.touching::<()>(bytes, |id, access, _| {
            let span = access.footprint.span();
            let all = self.live.accesses(id).iter().all(|access| {
                let span = access.footprint.span();
                bytes.start <= span.start && span.end <= bytes.end
            });
            if all && !span.is_empty() && !inside.contains(&id) {
                inside.push(id);
            }
            ControlFlow::Continue(())
        });
        inside.into_iter().for_each(|id| self.finish(id, None, place, out));
    }

    /// Marks what work uses, unless it is marked.
    pub(super) fn mark(&mut self, bytes: &Range<usize>, marks: &mut SmallVec<[Range<usize>; 1]>) {
        let Some(block) = self.memory.around_mut(bytes.start) else {
            // Memory of the host that CUDA has not allocated.
            marks.push(bytes.clone());
            return self.set_mark(bytes.clone());
        };
        if !std::mem::replace(&mut block.marked, true) {
            let bytes = block.bytes.clone();
            self.set_mark(bytes);
        }
    }

    /// Takes back the marks of work.
    pub(super) fn unmark(&mut self, marks: SmallVec<[Range<usize>; 1]>) {
        marks.into_iter().for_each(|bytes| self.clear_mark(bytes));
    }

    /// The host has touched a block: it may do so freely again if nothing is in flight there.
    pub(super) fn unmark_if_quiet(&mut self, address: usize) {
        let Some(block) = self.memory.around(address) else { return };
        if !block.marked || block.kind == MemoryKind::Device {
            return;
        }
        let bytes = block.bytes.clone();
        let busy = self.live.touching(&bytes, |_, _, _| ControlFlow::Break(())).is_break();
        if !busy && !self.possible.kernel_access(&bytes) {
            if let Some(block) = self.memory.around_mut(address) {
                block.marked = false;
            }
            self.clear_mark(bytes);
        }
    }

    fn unmark_block(&mut self, block: &Block) {
        if block.marked {
            self.clear_mark(block.bytes.clone());
        }
    }

    fn unmark_freed(&mut self, bytes: &Range<usize>) {
        for freed in self.memory.forget_freed(bytes) {
            self.clear_mark(freed.bytes);
        }
    }

    fn set_mark(&mut self, bytes: Range<usize>) {
        self.pages.mark(bytes, Mode::Write);
        self.marked += 1;
    }

    fn clear_mark(&mut self, bytes: Range<usize>) {
        self.pages.unmark(bytes, Mode::Write);
        self.marked -= 1;
    }
}
