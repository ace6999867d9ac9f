//! The symmetric heap of a PE, of OpenSHMEM or NVSHMEM: its blocks, and what is wrong with an
//! address in it.
//!
//! **Soundness.** A block is exactly what was asked for (OpenSHMEM 1.4 §9.3.1), so that a range
//! which leaves it is certainly wrong. An address outside of all blocks may be one that calls have
//! returned which nobody has seen: who knows the library asks it before something is reported.

use commsan_callsite::{Site, StackId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Blocks that are remembered after they were freed.
const MAX_FREED: usize = 256;

/// How far behind a block an access still counts as one that has left it.
const NEAR: usize = 1 << 16;

/// Blocks of one place that are left at the end, from which on that is a leak, if the program frees
/// others: it may leave its blocks to the library, which frees them.
const LEAK: usize = 2;

/// Memory that a call has allocated on all PEs.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its bytes.
    pub size: usize,
    /// Equal on all PEs, counted from 1.
    pub number: u32,
    /// Where it was allocated.
    pub site: Site,
}

/// The blocks of a PE.
#[derive(Debug, Default)]
pub struct Heap {
    /// Blocks by address.
    blocks: BTreeMap<usize, Block>,
    /// The latest blocks that were freed.
    freed: VecDeque<(Range<usize>, Site)>,
    /// Whether the program frees some.
    frees: bool,
    /// Number of blocks that were allocated.
    made: u32,
}

/// What is wrong with an address, or with a range.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is a null pointer.
    Null,
    /// The range leaves the block that it begins in: the problem in words, and where the block was
    /// allocated.
    Beyond(String, Site),
    /// The block there was freed.
    Freed(Site),
    /// Nothing is known of it.
    Unknown,
}

/// What is wrong with an address that is to be freed.
#[derive(Clone, Debug)]
pub enum NoBlock {
    /// It lies within a block: the problem in words, and where the block was allocated.
    Inside(String, Site),
    /// It was freed before.
    Freed(Site),
    /// Nothing is known of it.
    Unknown,
}

impl Heap {
    /// The block that begins at an address.
    pub fn block_at(&self, at: usize) -> Option<&Block> {
        self.blocks.get(&at)
    }

    /// The block that an address belongs to, and where it begins.
    pub fn block(&self, at: usize) -> Option<(usize, &Block)> {
        let (start, block) = self.blocks.range(..=at).next_back()?;
        (at < start + block.size).then_some((*start, block))
    }

    /// The block that ends at an address or not far before it, if none is there: closer than 64
    /// KiB, or than its own size.
    pub fn beside(&self, at: usize) -> Option<(usize, &Block)> {
        let (start, block) = self.blocks.range(..=at).next_back()?;
        let behind = at.checked_sub(start + block.size)?;
        (behind < block.size.max(NEAR)).then_some((*start, block))
    }

    /// Where memory at an address was freed, if nothing has it now.
    pub fn freed_at(&self, at: usize) -> Option<Site> {
        let freed = self.freed.iter().rev().find(|(bytes, _)| bytes.contains(&at))?;
        self.block(at).is_none().then_some(freed.1)
    }

    /// A block has been allocated.
    pub fn made(&mut self, at: usize, size: usize, site: Site) {
        self.made += 1;
        let number = self.made;
        self.freed.retain(|(bytes, _)| bytes.end <= at || at + size <= bytes.start);
        self.blocks.insert(at, Block { size, number, site });
    }

    /// The program is about to free a block.
    pub fn frees(&mut self) {
        self.frees = true;
    }

    /// A block is no more.
    pub fn freed(&mut self, at: usize, site: Site) {
        let Some(block) = self.blocks.remove(&at) else { return };
        self.freed.truncate(MAX_FREED - 1);
        self.freed.push_front((at..at + block.size, site));
    }

    /// Blocks that are left, of places that have left several, by a program that frees others: how
    /// many, and where one was made.
    pub fn left(&self) -> impl Iterator<Item = (usize, Site)> {
        let mut places: FxHashMap<StackId, (usize, Site)> = FxHashMap::default();
        for block in self.blocks.values().filter(|_| self.frees) {
            places.entry(block.site.stack).or_insert((0, block.site)).0 += 1;
        }
        let mut left: Vec<_> = places.into_values().filter(|(count, _)| *count >= LEAK).collect();
        left.sort_by_key(|(_, site)| site.pc);
        left.into_iter()
    }

    /// What is wrong with an address, and with the range there, which may be empty.
    pub fn fault(&self, at: usize, span: Option<Range<usize>>) -> Option<Fault> {
        if at == 0 {
            return Some(Fault::Null);
        }
        if let Some((start, block)) = self.block(at) {
            let span = span.filter(|span| span.end > start + block.size)?;
            let problem = format!(
                "leaves its allocation of {} bytes: the call accesses bytes {} to {}",
                block.size,
                span.start - start,
                span.end - start - 1
            );
            return Some(Fault::Beyond(problem, block.site));
        }
        Some(self.freed_at(at).map_or(Fault::Unknown, Fault::Freed))
    }

    /// What is wrong with an address that is to be freed.
    pub fn no_block(&self, at: usize) -> Option<NoBlock> {
        if at == 0 || self.blocks.contains_key(&at) {
            return None;
        }
        if let Some((start, block)) = self.block(at) {
            let problem = format!("points to byte {} of an allocation", at - start);
            return Some(NoBlock::Inside(problem, block.site));
        }
        Some(self.freed_at(at).map_or(NoBlock::Unknown, NoBlock::Freed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(pc: usize) -> Site {
        Site { call: None, thread: 0, stack: StackId::from_bits(pc as u32), pc, remote: None }
    }

    #[test]
    fn what_leaves_a_block_is_wrong_and_nothing_else() {
        let mut heap = Heap::default();
        heap.made(4096, 96, site(1));
        assert!(heap.fault(4096, Some(4096..4192)).is_none() && heap.fault(4100, None).is_none());
        assert!(matches!(heap.fault(4096, Some(4096..4193)), Some(Fault::Beyond(..))));
        assert!(matches!(heap.fault(4192, None), Some(Fault::Unknown)));
        assert!(matches!(heap.fault(0, None), Some(Fault::Null)));
        assert!(heap.beside(4191).is_none() && heap.beside(4095).is_none());
        assert!(heap.beside(4192).is_some_and(|(start, block)| (start, block.size) == (4096, 96)));
        assert!(heap.beside(4192 + NEAR).is_none());
        heap.freed(4096, site(2));
        assert!(matches!(heap.fault(4100, None), Some(Fault::Freed(by)) if by.pc == 2));
        heap.made(4000, 100, site(3));
        assert!(matches!(heap.fault(4100, None), Some(Fault::Unknown)), "the memory is another's");
    }

    #[test]
    fn a_block_is_freed_once_and_from_its_beginning() {
        let mut heap = Heap::default();
        heap.made(4096, 96, site(1));
        assert!(heap.no_block(4096).is_none() && heap.no_block(0).is_none());
        assert!(
            matches!(heap.no_block(4100), Some(NoBlock::Inside(problem, _)) if problem.contains("byte 4"))
        );
        heap.freed(4096, site(2));
        assert!(matches!(heap.no_block(4096), Some(NoBlock::Freed(_))));
        assert!(matches!(heap.no_block(64), Some(NoBlock::Unknown)));
        heap.made(4096, 32, site(1));
        assert_eq!(heap.block_at(4096).map(|block| block.number), Some(2));
    }

    #[test]
    fn a_leak_takes_several_blocks_of_one_place() {
        let mut heap = Heap::default();
        for (at, pc) in [(4096, 1), (8192, 1), (12288, 7)] {
            heap.made(at, 64, site(pc));
        }
        assert_eq!(heap.left().count(), 0, "the program leaves all to the library");
        heap.made(16384, 64, site(8));
        heap.frees();
        heap.freed(16384, site(9));
        let left: Vec<_> = heap.left().map(|(count, site)| (count, site.pc)).collect();
        assert_eq!(left, [(2, 1)]);
    }
}
