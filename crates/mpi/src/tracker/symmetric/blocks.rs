//! Blocks of the symmetric heap: allocated and freed by all PEs together.

use super::Pending;
use super::call::Call;
use crate::tracker::Tracker;
use commsan_callsite::{Findings, Place, Site};
use commsan_findings::Code;
use commsan_mpi_calls::shmem::Kind;

impl Tracker {
    /// A block is about to be freed.
    pub(super) fn shmem_frees(&mut self, call: &Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(at) = call.word("block") else { return };
        let Some(block) = self.symmetric.heap.block_at(at) else { return };
        let bytes = at..at + block.size;
        let name: &'static str = &call.args.call.name;
        let reaches =
            |pending: &&Pending| pending.there.start < bytes.end && bytes.start < pending.there.end;
        let reached: Vec<_> =
            self.symmetric.pending.iter().filter(reaches).map(|pending| pending.id).collect();
        for id in reached {
            let code = Code::SymmetricFreedPending;
            self.operations.misuse(code, id, (name, place), &mut self.reporter, out);
        }
        self.released(name, Some(name), bytes, place, out);
        if call.kind == Kind::Free {
            self.symmetric.heap.frees();
            let site = self.reporter.site(call.args.call, place);
            self.shmem_freed(at, site);
        }
    }

    /// A call has allocated memory at this address.
    pub(super) fn shmem_allocates(&mut self, call: &Call, at: usize, place: &impl Place) {
        let size = call.word("size").unwrap_or(0);
        let size = size.saturating_mul(call.word("count").unwrap_or(1));
        let site = self.reporter.site(call.args.call, place);
        if call.kind == Kind::Realloc
            && let Some(old) = call.word("block")
        {
            self.shmem_freed(old, site);
        }
        self.symmetric.heap.made(at, size, site);
        self.follow_block(at..at.saturating_add(size), site);
    }

    /// The block at an address is no more.
    pub(super) fn shmem_freed(&mut self, at: usize, site: Site) {
        if let Some(block) = self.symmetric.heap.block_at(at) {
            let bytes = at..at + block.size;
            self.unfollow_block(&bytes);
        }
        self.symmetric.heap.freed(at, site);
    }
}
