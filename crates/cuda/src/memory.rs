//! Memory that the program has from CUDA, and what it has given back.

use crate::clock::Epoch;
use crate::gpu::Ticket;
use crate::ipc::SharedMemory;
use crate::work::MemoryKind;
use commsan_callsite::Site;
use std::collections::BTreeMap;
use std::ops::{Bound, Range};

/// Released memory that is remembered.
const FREED: usize = 4096;

/// Memory in use.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Its kind.
    pub kind: MemoryKind,
    /// The device that was current.
    pub device: u32,
    /// Where it was allocated, with the call.
    pub site: Site,
    /// The work in whose order it came into being, for memory of a pool.
    pub born: Option<Epoch>,
    /// Whether the page filter has it.
    pub marked: bool,
    /// Set if other processes may use it, too.
    pub shared: Option<SharedMemory>,
}

/// Memory that was given back.
#[derive(Clone, Debug)]
pub struct Freed {
    /// The last work that was put into a stream before.
    pub after: Ticket,
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Where, with the call.
    pub site: Site,
}

/// All of it, by address.
#[derive(Default)]
pub struct Memory {
    blocks: BTreeMap<usize, Block>,
    freed: BTreeMap<usize, Freed>,
}

impl Memory {
    /// Adds memory; what was there before is gone.
    pub fn insert(&mut self, block: Block) -> Vec<Block> {
        let replaced = self.take(&block.bytes);
        self.blocks.insert(block.bytes.start, block);
        replaced
    }

    /// All memory in use.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.values()
    }

    /// What begins at an address.
    pub fn at(&self, address: usize) -> Option<&Block> {
        self.blocks.get(&address)
    }

    /// What an address lies in.
    pub fn around(&self, address: usize) -> Option<&Block> {
        let (_, block) = self.blocks.range(..=address).next_back()?;
        block.bytes.contains(&address).then_some(block)
    }

    /// What begins at an address or before, and what begins behind it.
    pub fn neighbours(&self, address: usize) -> (Option<&Block>, Option<&Block>) {
        let before = self.blocks.range(..=address).next_back();
        let behind = self.blocks.range((Bound::Excluded(address), Bound::Unbounded)).next();
        (before.map(|(_, block)| block), behind.map(|(_, block)| block))
    }

    /// The block that an address lies in, to be changed.
    pub fn around_mut(&mut self, address: usize) -> Option<&mut Block> {
        let (_, block) = self.blocks.range_mut(..=address).next_back()?;
        block.bytes.contains(&address).then_some(block)
    }

    /// Whether some memory in use shares bytes with a range.
    pub fn touches(&self, bytes: &Range<usize>) -> bool {
        let last = self.blocks.range(..bytes.end).next_back();
        last.is_some_and(|(_, block)| block.bytes.end > bytes.start)
    }

    /// Removes what begins at an address.
    pub fn remove(&mut self, address: usize) -> Option<Block> {
        self.blocks.remove(&address)
    }

    /// Removes what shares bytes with a range.
    fn take(&mut self, bytes: &Range<usize>) -> Vec<Block> {
        let before = self.blocks.range(..bytes.end).rev();
        let starts = before.take_while(|(_, block)| block.bytes.end > bytes.start);
        let starts: Vec<usize> = starts.map(|(start, _)| *start).collect();
        starts.into_iter().filter_map(|start| self.blocks.remove(&start)).collect()
    }

    /// Removes all that belongs to a device.
    pub fn take_device(&mut self, device: u32) -> Vec<Block> {
        let (gone, kept) = std::mem::take(&mut self.blocks)
            .into_iter()
            .partition(|(_, block)| block.device == device);
        self.blocks = kept;
        BTreeMap::into_values(gone).collect()
    }

    /// Remembers what was given back; gives what is forgotten for it.
    pub fn release(&mut self, freed: Freed) -> Vec<Freed> {
        let mut forgotten = self.forget_freed(&freed.bytes);
        if self.freed.len() == FREED {
            forgotten.extend(self.freed.pop_first().map(|(_, freed)| freed));
        }
        self.freed.insert(freed.bytes.start, freed);
        forgotten
    }

    /// What was given back and lies around an address, unless there is memory again.
    pub fn freed(&self, address: usize) -> Option<&Freed> {
        let (_, freed) = self.freed.range(..=address).next_back()?;
        freed.bytes.contains(&address).then_some(freed)
    }

    /// Forgets what was given back where there is memory again.
    pub fn forget_freed(&mut self, bytes: &Range<usize>) -> Vec<Freed> {
        let before = self.freed.range(..bytes.end).rev();
        let starts = before.take_while(|(_, freed)| freed.bytes.end > bytes.start);
        let starts: Vec<usize> = starts.map(|(start, _)| *start).collect();
        starts.into_iter().filter_map(|start| self.freed.remove(&start)).collect()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.freed.is_empty()
    }
}
