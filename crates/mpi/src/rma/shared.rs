//! Windows whose memory several ranks load from and store to (`MPI_Win_allocate_shared`, MPI 4.1 §12.2.3).
//!
//! What this process does to any rank's part is noted where accesses to its own window memory are
//! ([`Shadow`]), by hooks, without a lock. When it ends a segment, before anybody can learn of it, what it has
//! done since is told to the others ([`Bulletin`]), and compared with what they have told.
//!
//! **Soundness.** Reported are two accesses to a common byte by different ranks, one a write and neither
//! atomic, such that no chain of synchronisation that commsan sees leads from one to the other. What orders beside
//! MPI's calls: atomic operations and locks in the shared memory, writes to volatile variables there, fences. More
//! order than there is comes of
//! - relaxed atomics, which are taken for acquiring and releasing ones, and fences, for all of memory;
//! - a write to a volatile variable, after which whatever happened before is known to all;
//! - `MPI_Win_sync` after loads of at most 8 bytes: these may have been of a flag that was set after an
//!   `MPI_Win_sync` of its writer, which makes them and what was before it ordered;
//! - granules of 8 bytes of which a part is used atomically: they are not compared at all.
//!
//! Not seen are accesses by code that was not compiled by commsan, and older accesses of a rank to a byte
//! than its last read and write. Synchronisation by inline assembly, or through memory outside the window that
//! ranks share in another way, is not seen either: what it orders is reported.

use crate::rma::windows::mixed;
use commsan_engine::{Bulletin, Exposed, Mode, PAGE_SHIFT, Past};
use commsan_fabric::sheets::{Name, Sheets};
use std::ops::Range;

const PAGE: usize = 1 << PAGE_SHIFT;
/// Bytes that a flag has at most.
const FLAG: usize = 8;

/// One window's shared memory.
pub struct Shared {
    /// Each member's part: where this process sees it.
    views: Vec<Range<usize>>,
    /// And where it lies among all parts, each of which begins a page.
    offsets: Vec<usize>,
    bytes: usize,
    mine: Bulletin,
    pub name: Name,
    /// Of the other members, as far as they were found.
    others: Vec<Option<Bulletin>>,
    /// Up to which segment this process's accesses are told.
    told: u32,
    /// What was told last includes loads of as much as a flag.
    polls: bool,
}

/// An access that was told just now, its bytes as offsets.
pub struct Told {
    pub past: Past,
    pub bytes: Range<usize>,
}

/// What it meets of another member.
pub struct Met {
    pub member: usize,
    pub past: Past,
    pub bytes: Range<usize>,
}

impl Shared {
    /// A window with these parts.
    pub fn new(views: Vec<Range<usize>>, told: u32, sheets: &mut Sheets) -> Option<Shared> {
        let mut bytes = 0;
        let offset = |view: &Range<usize>| {
            let start = bytes;
            bytes += view.len().next_multiple_of(PAGE);
            start
        };
        let offsets = views.iter().map(offset).collect();
        let (name, words) = sheets.take(Bulletin::words(bytes)).ok()?;
        let mine = Bulletin::new(words, bytes);
        let others = vec![None; views.len()];
        Some(Shared { views, offsets, bytes, mine, name, others, told, polls: false })
    }

    /// The words of each member's bulletin.
    pub fn words(&self) -> usize {
        Bulletin::words(self.bytes)
    }

    /// What of this process's memory is shared.
    pub fn views(&self) -> &[Range<usize>] {
        &self.views
    }

    /// Members whose bulletins have not been found yet.
    pub fn unknown(&self, own: usize) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.others.len())
            .filter(move |member| *member != own && self.others[*member].is_none())
    }

    /// Finds a member's bulletin.
    pub fn found(&mut self, member: usize, name: Name, sheets: &mut Sheets) {
        let words = sheets.read(name, self.words()).ok();
        self.others[member] = words.map(|words| Bulletin::of_another(words, self.bytes));
    }

    /// Whether any page has changed since this was asked last; all are asked.
    pub fn changed(&self, exposed: &Exposed, pages: &mut Vec<usize>) {
        for view in self.views.iter().filter(|view| !view.is_empty()) {
            let numbers = view.start >> PAGE_SHIFT..((view.end - 1) >> PAGE_SHIFT) + 1;
            pages.extend(numbers.filter(|page| exposed.shadow().has_changed(*page)));
        }
    }

    /// Tells what this process has done to pages that have changed.
    pub fn tell(&mut self, exposed: &Exposed, pages: &[usize], segment: u32) -> Vec<Told> {
        let mut told = Vec::new();
        for (view, offset) in self.views.iter().zip(&self.offsets) {
            for page in pages {
                let (from, to) = (page << PAGE_SHIFT, (page + 1) << PAGE_SHIFT);
                let bytes = view.start.max(from)..view.end.min(to);
                if bytes.is_empty() {
                    continue;
                }
                exposed.shadow().since(&bytes, self.told, |past, bytes| {
                    let bytes = bytes.start.max(view.start)..bytes.end.min(view.end);
                    let bytes = bytes.start - view.start + offset..bytes.end - view.start + offset;
                    told.push(Told { past, bytes });
                });
            }
        }
        self.polls = told.iter().any(|told| is_load_of_flag(&told.past, &told.bytes));
        self.told = segment;
        told
    }

    /// Puts an access on the bulletin, told of as another place.
    pub fn publish(&self, told: &Told, pc: usize, by: usize) {
        self.mine.tell(&Past { pc, by, ..told.past }, told.bytes.clone());
    }

    /// All is told; now others' accesses can be looked at.
    pub fn settle(&self) {
        self.mine.settle();
    }

    /// What an access that was told meets, as far as others have told, until `f` returns false.
    pub fn meet(&self, told: &Told, mut f: impl FnMut(Met) -> bool) {
        for (member, other) in self.others.iter().enumerate() {
            let Some(other) = other else { continue };
            let mut go_on = true;
            other.conflicts(&told.bytes, told.past.mode, |past, bytes| {
                let bytes = bytes.start.max(told.bytes.start)..bytes.end.min(told.bytes.end);
                let is_atomic = self.mine.is_atomic(&bytes)
                    || self.others.iter().flatten().any(|one| one.is_atomic(&bytes));
                go_on = is_atomic || f(Met { member, past, bytes });
                go_on
            });
            if !go_on {
                return;
            }
        }
    }

    /// Whether a load and a store are of a flag that is set after a barrier, and whose reader, who is coming to
    /// one, goes on after it: from now on that is an atomic variable.
    pub fn is_flag(&self, told: &Told, met: &Met, own: usize) -> bool {
        if met.bytes.len() > FLAG || told.bytes.len() > FLAG {
            return false;
        }
        let (reader, writer) = match told.past.mode {
            Mode::Read => ((own, &told.past), (met.member, &met.past)),
            Mode::Write => ((met.member, &met.past), (own, &told.past)),
        };
        if (reader.1.mode, writer.1.mode) != (Mode::Read, Mode::Write) {
            return false;
        }
        let begins = |member: usize, segment: u32| match member == own {
            true => self.mine.begins_at_barrier(segment),
            false => self.others[member].is_some_and(|other| other.begins_at_barrier(segment)),
        };
        let is_flag =
            begins(writer.0, writer.1.when.segment) && begins(reader.0, reader.1.when.segment + 1);
        if is_flag {
            self.mine.mark_atomic(&met.bytes);
        }
        is_flag
    }

    /// Whether `MPI_Win_sync` may tell this process what others have done before theirs.
    pub fn polls(&self) -> bool {
        self.polls
    }

    /// A segment begins at a memory barrier.
    pub fn note_barrier(&self, begins: u32) {
        self.mine.note_barrier(begins);
    }

    /// The member whose part an address is of, and the offset there.
    pub fn find(&self, address: usize) -> Option<(usize, usize)> {
        let member = self.views.iter().position(|view| view.contains(&address))?;
        Some((member, address - self.views[member].start))
    }

    /// This process uses memory of a member atomically.
    pub fn mark_atomic(&self, member: usize, at: usize) {
        let at = self.offsets[member] + at;
        self.mine.mark_atomic(&(at..at + 1));
    }

    /// The member whose part bytes are of, and where this process sees them.
    pub fn place(&self, bytes: &Range<usize>) -> (usize, Range<usize>) {
        let member = self.offsets.partition_point(|offset| *offset <= bytes.start);
        // Empty parts begin where the next does, and come before it.
        let member = member.saturating_sub(1);
        let at = self.views[member].start + bytes.start - self.offsets[member];
        (member, at..at + bytes.len())
    }
}

fn is_load_of_flag(past: &Past, bytes: &Range<usize>) -> bool {
    past.mode == Mode::Read && bytes.len() <= FLAG
}

/// The cells that order what is done through shared memory: of a variable, of all volatile ones, of
/// `MPI_Win_sync`. That of fences is of all windows.
pub fn variable_key(window: u64, member: usize, at: usize) -> u64 {
    mixed(mixed(window, member as u64 + 1), (at / FLAG) as u64)
}

pub fn volatile_key(window: u64) -> u64 {
    mixed(window, u64::MAX - 2)
}

pub fn barrier_key(window: u64) -> u64 {
    mixed(window, u64::MAX - 3)
}

pub const FENCES: u64 = 0xfe2ce5;

/// What bulletins are known by: the window's name, differently.
pub fn sheet_key(window: u64) -> u64 {
    mixed(window, u64::MAX - 4)
}
