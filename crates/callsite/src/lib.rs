//! Call sites and call stacks, and [`Findings`], through which the semantics report. Reports are
//! the records of [`commsan_findings::record`], with a [`Placed`] for each site.

pub mod testing;

use commsan_findings::record::{RawDoing, RawFinding, RawNeed, RawUse, RawVariable, Record};
use commsan_findings::{Code, Role};
use commsan_shadow::{Epoch, Mode};
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

/// Frames kept of a call stack at most.
pub const DEPTH: usize = 16;

/// A call site: a place in the program's execution.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The MPI call made there, if one was.
    pub call: Option<&'static str>,
    /// Thread within the process, 0 for the one that initialised MPI.
    pub thread: u32,
    /// The call stack.
    pub stack: StackId,
    /// The innermost return address.
    pub pc: usize,
    /// The rank whose log has the site, and its number there; `stack` is empty then.
    pub remote: Option<(u32, u32)>,
}

impl Site {
    /// A site that is in another rank's log.
    pub fn remote(call: &'static str, rank: u32, number: u32) -> Site {
        let pc = 1 << 63 | (rank as usize) << 32 | number as usize;
        Site { call: Some(call), thread: 0, stack: Stacks::EMPTY, pc, remote: Some((rank, number)) }
    }
}

/// A call stack in a [`Stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackId(u32);

impl StackId {
    /// The identifier as a number.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// The identifier that [`to_bits`](Self::to_bits) turned into this number.
    pub fn from_bits(bits: u32) -> StackId {
        StackId(bits)
    }
}

/// Call stacks, each kept once. Programs start operations at few places, so that recording one is a
/// look-up, not a copy.
#[derive(Debug)]
pub struct Stacks {
    /// For each stack its length, then its frames; the first is the empty one.
    arena: Vec<usize>,
    /// Hash table of positions in the arena, 0 for free; a power of two long.
    table: Vec<u32>,
    used: usize,
    /// The last stack for each hash of an innermost frame: nearly always the one that is looked up.
    recent: [StackId; RECENT],
}

const RECENT: usize = 256;

impl Stacks {
    /// The stack without frames.
    pub const EMPTY: StackId = StackId(0);

    /// An empty table.
    pub fn new() -> Stacks {
        Stacks { arena: vec![0], table: vec![0; 1024], used: 0, recent: [StackId(0); RECENT] }
    }

    /// Enters a stack with these frames, innermost first.
    #[inline]
    pub fn intern(&mut self, frames: &[usize]) -> StackId {
        let home = frames.first().map_or(0, |pc| (pc ^ pc >> 8) % RECENT);
        let recent = self.recent[home];
        let known = self.frames(recent);
        if known.len() == frames.len() && known.iter().zip(frames).all(|(a, b)| a == b) {
            return recent;
        }
        let id = self.find_or_add(frames);
        self.recent[home] = id;
        id
    }

    fn find_or_add(&mut self, frames: &[usize]) -> StackId {
        if frames.is_empty() {
            return StackId(0);
        }
        let mut slot = hash(frames) & (self.table.len() - 1);
        while self.table[slot] != 0 {
            let id = StackId(self.table[slot]);
            if self.frames(id) == frames {
                return id;
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
        let id = StackId(self.arena.len() as u32);
        self.arena.push(frames.len());
        self.arena.extend_from_slice(frames);
        self.table[slot] = id.0;
        self.used += 1;
        if self.used * 2 > self.table.len() {
            self.grow();
        }
        id
    }

    /// The return addresses of a stack, innermost first.
    pub fn frames(&self, id: StackId) -> &[usize] {
        let at = id.0 as usize;
        &self.arena[at + 1..at + 1 + self.arena[at]]
    }

    /// Moves a site to this table, from the table that holds its stack.
    pub fn adopt(&mut self, site: Site, from: &Stacks) -> Site {
        Site { stack: self.intern(from.frames(site.stack)), ..site }
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![0; mask + 1];
        for &position in self.table.iter().filter(|p| **p != 0) {
            let mut slot = hash(self.frames(StackId(position))) & mask;
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = position;
        }
        self.table = table;
    }
}

impl Default for Stacks {
    fn default() -> Stacks {
        Stacks::new()
    }
}

fn hash(frames: &[usize]) -> usize {
    let mix = |hash: usize, frame: &usize| {
        (hash ^ frame).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    frames.iter().fold(frames.len(), mix)
}

/// The present place of execution. Everything but the address takes time, so that it is asked for
/// only when there is something to report.
pub trait Place {
    /// The innermost return address in the program, or the line of a script: what distinguishes
    /// places.
    fn pc(&self) -> usize;
    /// Thread within the process.
    fn thread(&self) -> u32;
    /// Fills in return addresses, innermost first, and returns how many.
    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize;
    /// If `address` lies on the current thread's stack: the frame pointer of the function whose
    /// frame it is in, or 0 where that is not known.
    fn frame_of(&self, address: usize) -> Option<usize>;
    /// The index in [`frames`](Self::frames) of the function whose stack frame holds `address`;
    /// `None` if it lies on no stack, or that is not known.
    fn frame_index(&self, address: usize) -> Option<usize> {
        let _ = address;
        None
    }
    /// The thread on which an agent runs or last ran.
    fn thread_of(&self, stamp: Epoch) -> u32;
    /// The name at an address that hooks passed, a C string; `None` for 0.
    fn name_at(&self, address: usize) -> Option<&'static str>;
    /// Whether `address` lay on the current thread's stack, beyond the part in use now.
    fn is_popped(&self, address: usize) -> bool;

    /// The call stack.
    #[inline]
    fn stack(&self, stacks: &mut Stacks) -> StackId {
        let mut frames = [0; DEPTH];
        let depth = self.frames(&mut frames);
        stacks.intern(&frames[..depth])
    }

    /// The call stack, and [`frame_of`](Self::frame_of) an address.
    #[inline]
    fn stack_around(&self, address: usize, stacks: &mut Stacks) -> (StackId, Option<usize>) {
        (self.stack(stacks), self.frame_of(address))
    }

    /// The site of the place.
    fn site(&self, call: Option<&'static str>, stacks: &mut Stacks) -> Site {
        let stack = self.stack(stacks);
        Site { call, thread: self.thread(), stack, pc: self.pc(), remote: None }
    }
}

/// What takes any place also takes one behind a trait object.
impl<P: Place + ?Sized> Place for &P {
    fn pc(&self) -> usize {
        (**self).pc()
    }
    fn thread(&self) -> u32 {
        (**self).thread()
    }
    fn frames(&self, frames: &mut [usize; DEPTH]) -> usize {
        (**self).frames(frames)
    }
    fn frame_of(&self, address: usize) -> Option<usize> {
        (**self).frame_of(address)
    }
    fn frame_index(&self, address: usize) -> Option<usize> {
        (**self).frame_index(address)
    }
    fn thread_of(&self, stamp: Epoch) -> u32 {
        (**self).thread_of(stamp)
    }
    fn name_at(&self, address: usize) -> Option<&'static str> {
        (**self).name_at(address)
    }
    fn is_popped(&self, address: usize) -> bool {
        (**self).is_popped(address)
    }
    fn stack(&self, stacks: &mut Stacks) -> StackId {
        (**self).stack(stacks)
    }
    fn stack_around(&self, address: usize, stacks: &mut Stacks) -> (StackId, Option<usize>) {
        (**self).stack_around(address, stacks)
    }
    fn site(&self, call: Option<&'static str>, stacks: &mut Stacks) -> Site {
        (**self).site(call, stacks)
    }
}

/// A finding as the semantics report it.
pub type Report<'a> = RawFinding<'a, Placed>;

/// A call that uses memory of a variable, by addresses of the process.
pub type Use<'a> = RawUse<'a, Placed, usize>;

/// Memory of a variable: a local one by an address in the code of its function.
pub type Variable = RawVariable<usize>;

/// Work of a stream, as findings describe it.
pub type Doing = RawDoing<Arc<str>>;

/// Work in flight that an access meets.
#[derive(Clone, Debug)]
pub struct MetWork {
    /// The kernel, or the call.
    pub by: Arc<str>,
    /// Whether the work writes.
    pub mode: Mode,
    /// The bytes that both use.
    pub bytes: Range<usize>,
    /// Where the work was put into its stream.
    pub site: Site,
    /// The work as findings describe it.
    pub doing: Doing,
}

/// The findings that receive the site where an operation, or work, is completed: the first few.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscribers([Option<NonZeroU32>; 4]);

impl Subscribers {
    /// Adds a finding, by its number; without effect if there are four.
    pub fn subscribe(&mut self, finding: u32) {
        if let Some(cell) = self.0.iter_mut().find(|cell| cell.is_none()) {
            *cell = NonZeroU32::new(finding + 1);
        }
    }

    /// The numbers of the findings.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().flatten().map(|number| number.get() - 1)
    }
}

/// A site with the role that it plays: the place of a record within the rank that writes it.
pub type Placed = (Role, Site);

/// What other ranks must do for an operation to complete: edges of the wait-for graph.
pub type Need = RawNeed<'static, Placed>;

/// Receives findings and other records.
pub trait Findings {
    /// Counts a finding of this code between these two addresses if it was reported before; returns
    /// whether it was.
    fn again(&mut self, code: Code, offender: usize, operation: usize) -> bool;
    /// Reports a finding and returns its number. [`again`](Self::again) knows it by its first site
    /// if it has several, else by 0, and by `operation`.
    fn report(&mut self, report: Report<'_>, operation: usize, stacks: &Stacks) -> u32;
    /// Records that a call uses memory of a variable.
    fn uses(&mut self, used: Use<'_>, stacks: &Stacks);
    /// Writes any other record.
    fn emit(&mut self, record: Record<'_, Placed>, stacks: &Stacks);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_kept_once_and_found_again() {
        let mut stacks = Stacks::new();
        let all: Vec<Vec<usize>> =
            (0..5000).map(|n| (0..n % DEPTH).map(|f| 0x40_0000 + n * f).collect()).collect();
        let ids: Vec<StackId> = all.iter().map(|frames| stacks.intern(frames)).collect();
        let size = stacks.arena.len();
        for (frames, id) in all.iter().zip(&ids) {
            assert_eq!(stacks.frames(*id), frames);
            assert_eq!(stacks.intern(frames), *id);
        }
        assert_eq!(stacks.arena.len(), size);
    }
}
