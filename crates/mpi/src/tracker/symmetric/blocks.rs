//! Blocks of the symmetric heap: allocated and freed by all PEs together.

use super::call::Call;
use super::{Block, Pending, Symmetric};
use crate::tracker::Tracker;
use commsan_callsite::{Findings, Place, Site, StackId};
use commsan_findings::Code;
use commsan_mpi_calls::shmem::Kind;
use rustc_hash::FxHashMap;

/// Blocks that are remembered after they were freed.
const MAX_FREED: usize = 256;

/// Blocks of one place that are left at the end, from which on that is a leak, if the program frees
/// others: it may leave its blocks to `shmem_finalize`, which frees them.
const LEAK: usize = 2;

impl Symmetric {
    /// The block that an address belongs to.
    pub(super) fn block(&self, at: usize) -> Option<(usize, &Block)> {
        let (start, block) = self.blocks.range(..=at).next_back()?;
        (at < start + block.size).then_some((*start, block))
    }

    /// Where memory at an address was freed, if nothing has it now.
    pub(super) fn freed_at(&self, at: usize) -> Option<Site> {
        let freed = self.freed.iter().rev().find(|(bytes, _)| bytes.contains(&at))?;
        self.block(at).is_none().then_some(freed.1)
    }

    /// A block has been allocated.
    pub(super) fn made(&mut self, at: usize, size: usize, site: Site) {
        self.made += 1;
        let number = self.made;
        self.freed.retain(|(bytes, _)| bytes.end <= at || at + size <= bytes.start);
        self.blocks.insert(at, Block { size, number, site });
    }

    pub(super) fn freed(&mut self, at: usize, site: Site) {
        let Some(block) = self.blocks.remove(&at) else { return };
        self.freed.truncate(MAX_FREED - 1);
        self.freed.push_front((at..at + block.size, site));
    }

    /// Blocks that are left, of places that have left several, by a program that frees others: how
    /// many, and where one was made.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, Site)> {
        let mut places: FxHashMap<StackId, (usize, Site)> = FxHashMap::default();
        for block in self.blocks.values().filter(|_| self.frees) {
            places.entry(block.site.stack).or_insert((0, block.site)).0 += 1;
        }
        let mut left: Vec<_> = places.into_values().filter(|(count, _)| *count >= LEAK).collect();
        left.sort_by_key(|(_, site)| site.pc);
        left.into_iter()
    }
}

impl Tracker {
    /// A block is about to be freed.
    pub(super) fn shmem_frees(&mut self, call: &Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(at) = call.word("block") else { return };
        let Some(block) = self.symmetric.blocks.get(&at) else { return };
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
            self.symmetric.frees = true;
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
        self.symmetric.made(at, size, site);
        self.follow_block(at..at.saturating_add(size), site);
    }

    /// The block at an address is no more.
    pub(super) fn shmem_freed(&mut self, at: usize, site: Site) {
        if let Some(block) = self.symmetric.blocks.get(&at) {
            let bytes = at..at + block.size;
            self.unfollow_block(&bytes);
        }
        self.symmetric.freed(at, site);
    }
}
