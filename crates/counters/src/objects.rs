//! Which object an address belongs to.
//!
//! An object is an allocation site: memory of one kind, allocated by one call path (Snoopie, §4.5). How
//! much of it there is in a program does not matter then. Variables that nobody allocates are objects by
//! their address in a module, or by the function on whose stack they are.

use crate::HOST;
use commsan_callsite::{Place as Here, StackId, Stacks};
use commsan_rundir::traffic::{Memory, Place};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Objects at most; what comes later is of no object.
const MOST: usize = 1 << 16;

/// What makes an object one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// What kind of memory.
    pub memory: Memory,
    /// Where it lies.
    pub place: Place,
    /// How control came to the allocation.
    pub stack: StackId,
    /// The allocating call, if any.
    pub call: Option<&'static str>,
    /// The name that the program has given, as a number of a string.
    pub name: Option<u32>,
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is.
    pub identity: Identity,
    /// Size of the largest block.
    pub bytes: u64,
    /// How many blocks there were.
    pub count: u64,
    /// Address of the first.
    pub address: u64,
    /// Whether anything was moved from it, or to it.
    pub has_moved: bool,
}

/// A block of memory.
#[derive(Clone, Copy, Debug)]
struct Block {
    end: usize,
    object: u32,
}

/// All that is known of the memory of a process.
#[derive(Debug, Default)]
pub struct Objects {
    all: Vec<Object>,
    known: FxHashMap<Identity, u32>,
    blocks: BTreeMap<usize, Block>,
    /// The block that was found last.
    recent: Cell<Option<(usize, Block)>>,
}

impl Objects {
    /// Every object, by number.
    pub fn all(&self) -> &[Object] {
        &self.all
    }

    /// Whether there is no room for what matters little.
    pub fn are_many(&self) -> bool {
        self.all.len() > MOST / 2
    }

    /// Whether anything was moved from or to what is allocated like this.
    pub fn has_moved(&self, identity: &Identity) -> bool {
        self.known.get(identity).is_some_and(|number| self.all[*number as usize].has_moved)
    }

    /// Something is moved.
    pub fn moves(&mut self, object: u32) {
        self.all[object as usize].has_moved = true;
    }

    /// A block was allocated. What was there before is gone, even if nobody has said so.
    pub fn allocated(&mut self, bytes: Range<usize>, identity: Identity) {
        if bytes.is_empty() {
            return;
        }
        self.clear(&bytes);
        let Some(number) = self.exposed(&bytes, identity) else { return };
        self.blocks.insert(bytes.start, Block { end: bytes.end, object: number });
    }

    /// Memory is an object for others, as a window is, whatever it is here.
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

    /// An object that is known lies here, too.
    pub fn lies_at(&mut self, bytes: Range<usize>, object: u32) {
        if !bytes.is_empty() {
            self.clear(&bytes);
            self.blocks.insert(bytes.start, Block { end: bytes.end, object });
        }
    }

    /// The block at an address was given back.
    pub fn freed(&mut self, address: usize) {
        if self.blocks.remove(&address).is_some() {
            self.recent.set(None);
        }
    }

    /// The program has given the block that holds an address a name; the memory itself, where nothing is
    /// known of it.
    pub fn named(&mut self, address: usize, name: u32) {
        let Some((start, block)) = self.find(address) else { return };
        let identity = Identity { name: Some(name), ..self.all[block.object as usize].identity };
        self.allocated(start..block.end, identity);
    }

    /// The object at an address, and where its block begins.
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

    /// The block that holds an address: where it begins and ends, and its object.
    pub fn block(&self, address: usize) -> Option<(Range<usize>, u32)> {
        self.find(address).map(|(start, block)| (start..block.end, block.object))
    }

    /// A variable on the stack of a function. It has no block: the function will be gone.
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

    /// An object by what it is.
    pub fn number(&mut self, identity: Identity) -> Option<u32> {
        if let Some(number) = self.known.get(&identity) {
            return Some(*number);
        }
        let number = self.all.len() as u32;
        (self.all.len() < MOST).then(|| {
            self.all.push(Object { identity, bytes: 0, count: 0, address: 0, has_moved: false });
            self.known.insert(identity, number);
            number
        })
    }

    /// Blocks that overlap a range are gone.
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
        // Freed where commsan did not see it.
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
