//! Data objects: maps each address to the object that it belongs to.
//!
//! An object is an allocation site: memory of one kind allocated by one call path (Snoopie, §4.5),
//! however many blocks that path allocates. Variables that are not allocated dynamically are
//! objects by their address in a module, or by the function whose stack frame holds them.

use crate::HOST;
use commsan_callsite::{Place as Here, StackId, Stacks};
use commsan_rundir::traffic::{Memory, Place};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of objects; memory that comes later belongs to no object.
const MAX_OBJECTS: usize = 1 << 16;

/// The identity of an object: blocks that agree in all of this are one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The kind of memory.
    pub memory: Memory,
    /// Where the memory is: a rank, a device or a file.
    pub place: Place,
    /// The call path of the allocation.
    pub stack: StackId,
    /// The allocating call, if any.
    pub call: Option<&'static str>,
    /// The name given by the program, as the number of a string.
    pub name: Option<u32>,
}

/// A data object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its identity.
    pub identity: Identity,
    /// Size of the largest block, in bytes.
    pub bytes: u64,
    /// Number of blocks allocated so far.
    pub count: u64,
    /// Address of the first block.
    pub address: u64,
    /// Whether any transfer read or wrote it.
    pub is_transferred: bool,
}

/// A block of memory that is allocated now.
#[derive(Clone, Copy, Debug)]
struct Block {
    end: usize,
    object: u32,
}

/// The objects and blocks of a process.
#[derive(Debug, Default)]
pub struct Objects {
    all: Vec<Object>,
    known: FxHashMap<Identity, u32>,
    blocks: BTreeMap<usize, Block>,
    /// The block found last, a one-entry cache.
    recent: Cell<Option<(usize, Block)>>,
}

impl Objects {
    /// Every object, by number.
    pub fn all(&self) -> &[Object] {
        &self.all
    }

    /// Whether the table is half full, so that unimportant objects should not be added.
    pub fn are_many(&self) -> bool {
        self.all.len() > MAX_OBJECTS / 2
    }

    /// Whether a transfer read or wrote an object with this identity.
    pub fn is_transferred(&self, identity: &Identity) -> bool {
        self.known.get(identity).is_some_and(|number| self.all[*number as usize].is_transferred)
    }

    /// Marks an object as read or written by a transfer.
    pub fn mark_transferred(&mut self, object: u32) {
        self.all[object as usize].is_transferred = true;
    }

    /// Adds an allocated block. Blocks that it overlaps are removed: their release was not
    /// observed.
    pub fn allocated(&mut self, bytes: Range<usize>, identity: Identity) {
        if bytes.is_empty() {
            return;
        }
        self.clear(&bytes);
        let Some(number) = self.exposed(&bytes, identity) else { return };
        self.blocks.insert(bytes.start, Block { end: bytes.end, object: number });
    }

    /// Makes memory an object as other processes see it, a window for instance, whatever it is
    /// locally.
    pub fn exposed(&mut self, bytes: &Range<usize>, identity: Identity) -> Option<u32> {
        let number = self.number(identity)?;
        let object = &mut self.all[number as usize];
        object.bytes = object.bytes.max(bytes.len() as u64);
        object.count += 1;
        if object.address == 0 {
            object.address = bytes.start as u64;
        }
        Some(number)
    }

    /// Adds a block of an existing object.
    pub fn map_to(&mut self, bytes: Range<usize>, object: u32) {
        if !bytes.is_empty() {
            self.clear(&bytes);
            self.blocks.insert(bytes.start, Block { end: bytes.end, object });
        }
    }

    /// Removes the block at an address, which was freed.
    pub fn freed(&mut self, address: usize) {
        if self.blocks.remove(&address).is_some() {
            self.recent.set(None);
        }
    }

    /// Names the block that holds an address; if there is none, the address itself becomes a named
    /// object.
    pub fn named(&mut self, address: usize, name: u32) {
        let Some((start, block)) = self.find(address) else { return };
        let identity = Identity { name: Some(name), ..self.all[block.object as usize].identity };
        self.allocated(start..block.end, identity);
    }

    /// The object at an address, and the first address of its block.
    #[inline]
    pub fn at(&self, address: usize) -> Option<(u32, usize)> {
        self.find(address).map(|(start, block)| (block.object, start))
    }

    #[inline]
    fn find(&self, address: usize) -> Option<(usize, Block)> {
        if let Some((start, block)) = self.recent.get()
            && address >= start
            && address < block.end
        {
            return Some((start, block));
        }
        let (&start, &block) = self.blocks.range(..=address).next_back()?;
        (address < block.end).then(|| {
            self.recent.set(Some((start, block)));
            (start, block)
        })
    }

    /// The block that holds an address: its range and its object.
    pub fn block(&self, address: usize) -> Option<(Range<usize>, u32)> {
        self.find(address).map(|(start, block)| (start..block.end, block.object))
    }

    /// A variable in the stack frame of a function. It has no block, since the frame is
    /// short-lived.
    pub fn on_stack(
        &mut self,
        here: &dyn Here,
        address: usize,
        stacks: &mut Stacks,
    ) -> Option<u32> {
        let mut frames = [0; commsan_callsite::DEPTH];
        let index = here.frame_index(address)?;
        let depth = here.frames(&mut frames);
        let stack = stacks.intern(frames.get(index..depth).unwrap_or_default());
        let identity =
            Identity { memory: Memory::Stack, place: HOST, stack, call: None, name: None };
        self.number(identity)
    }

    /// The number of the object with this identity, added if new; `None` if the table is full.
    pub fn number(&mut self, identity: Identity) -> Option<u32> {
        if let Some(number) = self.known.get(&identity) {
            return Some(*number);
        }
        let number = self.all.len() as u32;
        (self.all.len() < MAX_OBJECTS).then(|| {
            self.all.push(Object {
                identity,
                bytes: 0,
                count: 0,
                address: 0,
                is_transferred: false,
            });
            self.known.insert(identity, number);
            number
        })
    }

    /// Removes the blocks that overlap a range.
    fn clear(&mut self, bytes: &Range<usize>) {
        self.recent.set(None);
        while let Some((&start, block)) = self.blocks.range(..bytes.end).next_back()
            && block.end > bytes.start
        {
            self.blocks.remove(&start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(call: &'static str) -> Identity {
        let memory = Memory::Heap;
        Identity {
            memory,
            place: Place::Rank(0),
            stack: Stacks::EMPTY,
            call: Some(call),
            name: None,
        }
    }

    #[test]
    fn blocks_of_one_site_are_one_object() {
        let mut objects = Objects::default();
        objects.allocated(0x1000..0x1100, identity("malloc"));
        objects.allocated(0x2000..0x2400, identity("malloc"));
        objects.allocated(0x3000..0x3010, identity("calloc"));
        assert_eq!(objects.at(0x10ff), Some((0, 0x1000)));
        assert_eq!(objects.at(0x2000), Some((0, 0x2000)));
        assert_eq!(objects.at(0x300f), Some((1, 0x3000)));
        assert_eq!(objects.at(0x3010), None);
        assert_eq!((objects.all()[0].bytes, objects.all()[0].count), (0x400, 2));
    }

    #[test]
    fn what_is_exposed_stays_what_it_was() {
        let mut objects = Objects::default();
        objects.allocated(0x1000..0x1100, identity("malloc"));
        let window = objects.exposed(&(0x1000..0x1080), identity("MPI_Win_create")).unwrap();
        assert_eq!(objects.at(0x1010), Some((0, 0x1000)));
        let window = &objects.all()[window as usize];
        assert_eq!((window.bytes, window.count, window.address), (0x80, 1, 0x1000));
    }

    #[test]
    fn memory_that_was_given_back_or_used_again_is_no_longer_what_it_was() {
        let mut objects = Objects::default();
        objects.allocated(0x1000..0x1100, identity("malloc"));
        assert!(objects.at(0x1080).is_some());
        objects.freed(0x1000);
        assert_eq!(objects.at(0x1080), None);
        objects.allocated(0x1000..0x1100, identity("malloc"));
        // The release was not observed by commsan.
        objects.allocated(0x1040..0x1050, identity("calloc"));
        assert_eq!(objects.at(0x1040), Some((1, 0x1040)));
        assert_eq!(objects.at(0x1000), None);
    }

    #[test]
    fn names_make_objects_of_their_own() {
        let mut objects = Objects::default();
        objects.allocated(0x1000..0x1100, identity("malloc"));
        objects.allocated(0x2000..0x2100, identity("malloc"));
        objects.named(0x2010, 7);
        let (object, start) = objects.at(0x2050).unwrap();
        assert_eq!((start, objects.all()[object as usize].identity.name), (0x2000, Some(7)));
        assert_ne!(objects.at(0x1050).unwrap().0, object);
    }
}
