//! Windows whose memory several ranks load from and store to (`MPI_Win_allocate_shared`, MPI 4.1 §12.2.3).
//!
//! What this process does to any rank's part is noted where accesses to its own window memory are
//! ([`Shadow`](commsan_shadow::Shadow)), by hooks, without a lock. When it ends a segment, before anybody can
//! learn of it, what it has done since is told to the others ([`PublishedShadow`]), and compared with what they have
//! told; of pages that nobody else has touched so far, only that it has touched them. Who comes to a page
//! says so before he looks who was there, so that at least one of two knows of both.
//!
//! **Soundness.** Reported are two accesses to a common byte by different ranks, one a write and neither
//! atomic, such that no chain of synchronisation that commsan sees leads from one to the other. What orders beside
//! MPI's calls: atomic operations and locks in the shared memory, writes to volatile variables there, fences. More
//! order than there is comes of
//! - relaxed atomics, which are taken for acquiring and releasing ones, and fences, for all of memory;
//! - a write to a volatile variable, after which whatever happened before is known to all;
//! - `MPI_Win_sync` after loads of at most 8 bytes, or accesses to many pages: some may have been of a flag that
//!   was set after an `MPI_Win_sync` of its writer, which makes them and what was before it ordered;
//! - granules of 8 bytes of which a part is used atomically: they are not compared at all.
//!
//! One-sided operations on another rank's part count as accesses of their origin when they are started, and again when
//! they are complete; what the owner does is compared with them as in any window, what a third rank does here.
//!
//! Not seen are accesses by code that was not compiled by commsan, and older accesses of a rank to a byte
//! than its last read and write; in windows of more than 64 pages, what a rank has done to a page before another one
//! first came there may be lost if it accesses the same bytes again at once. Synchronisation by inline assembly, or
//! through memory outside the window that ranks share in another way, is not seen either: what it orders is reported.

use crate::ids::mixed;
use commsan_job_shm::shm_segments::{SegmentName, ShmSegments};
use commsan_shadow::{
    Access, Epoch, Exposed, Footprint, Mode, PAGE_SHIFT, Past, Pattern, PublishedShadow, When,
};
use std::ops::{ControlFlow, Range};

const PAGE: usize = 1 << PAGE_SHIFT;
/// Bytes that a flag has at most.
const FLAG: usize = 8;
/// Who touches more pages between two synchronisations may have waited for a flag among them.
const MAX_POLLED_PAGES: usize = 16;
/// Where there are no more pages, all are told of from the beginning.
const MAX_PUBLISHED_FROM_START: usize = 64;

/// One window's shared memory.
pub struct Shared {
    /// The name of the window.
    window: u64,
    /// Each member's part: where this process sees it.
    views: Vec<Range<usize>>,
    /// And where it lies among all parts, each of which begins a page.
    offsets: Vec<usize>,
    bytes: usize,
    mine: PublishedShadow,
    pub name: SegmentName,
    /// Of the other members, as far as they were found.
    others: Vec<Option<PublishedShadow>>,
    /// How many pages each of them had touched when this process looked last.
    seen: Vec<u64>,
    /// A bit for each page that any of them has touched.
    foreign: Vec<u64>,
    /// Up to which segment this process's accesses to each page are told.
    published: Vec<u32>,
    /// In the segment that was told last, this process may have waited for a flag.
    polls: bool,
    /// All pages are to be told.
    reveals: bool,
    /// One-sided operations on others' parts that are not complete there.
    remote: Vec<RemoteOp>,
}

/// A one-sided operation on the part of a member, as this process sees that.
struct RemoteOp {
    member: usize,
    access: Access,
    pc: usize,
    /// What the shadow knows it by.
    by: usize,
}

impl RemoteOp {
    /// It accesses the memory now.
    fn note(&self, exposed: &Exposed, stamp: Epoch) {
        let footprint = &self.access.footprint;
        let when = When { segment: exposed.shadow().segment(), stamp };
        let _ = footprint.visit::<()>(&footprint.span(), &mut |run| {
            exposed.shadow().record(when, run, self.access.mode, self.pc, self.by);
            ControlFlow::Continue(())
        });
    }
}

/// Operations that are kept until they are complete.
const MAX_REMOTE: usize = 1024;

/// An access that was told just now, its bytes as offsets.
pub struct Published {
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
    pub fn new(
        window: u64,
        views: Vec<Range<usize>>,
        published: u32,
        segments: &mut ShmSegments,
    ) -> Option<Shared> {
        let mut bytes = 0;
        let offset = |view: &Range<usize>| {
            let start = bytes;
            bytes += view.len().next_multiple_of(PAGE);
            start
        };
        let offsets = views.iter().map(offset).collect();
        let (name, words) = segments.allocate(PublishedShadow::words(bytes)).ok()?;
        let mine = PublishedShadow::new(words, bytes, window);
        let (others, seen) = (vec![None; views.len()], vec![0; views.len()]);
        let pages = bytes / PAGE;
        let shared_from_start = if pages <= MAX_PUBLISHED_FROM_START { !0 } else { 0 };
        let (foreign, published) =
            (vec![shared_from_start; pages.div_ceil(64)], vec![published; pages]);
        let (polls, reveals) = (false, false);
        Some(Shared {
            window,
            views,
            offsets,
            bytes,
            mine,
            name,
            others,
            seen,
            foreign,
            published,
            polls,
            reveals,
            remote: Vec::new(),
        })
    }

    /// The words of each member's bulletin.
    pub fn words(&self) -> usize {
        PublishedShadow::words(self.bytes)
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
    pub fn found(&mut self, member: usize, name: SegmentName, segments: &mut ShmSegments) {
        let words = segments.open(name, self.words()).ok();
        self.others[member] = words.map(|words| PublishedShadow::of_another(words, self.bytes));
    }

    /// Takes what is to be told of what this process has done: to pages that have changed, which are given in
    /// ascending order, and to others that somebody else has come to, too. What only this process has touched
    /// is its own affair.
    pub fn take(&mut self, exposed: &Exposed, pages: &[usize], segment: u32) -> Vec<Published> {
        let mut due = self.changed(pages);
        let changed = due.len();
        self.mine.fence();
        self.look_for_changes(&mut due);
        let mut published = Vec::new();
        self.polls = changed > MAX_POLLED_PAGES;
        for (number, page) in due.into_iter().enumerate() {
            let is_shared = self.foreign[page / 64] >> (page % 64) & 1 != 0;
            let is_new = number < changed && !self.polls;
            if !is_shared && !is_new {
                continue;
            }
            let after = self.published[page];
            let (member, bytes) = self.place(&(page * PAGE..(page + 1) * PAGE));
            let (view, offset) = (&self.views[member], self.offsets[member]);
            let bytes = bytes.start..bytes.end.min(view.end);
            exposed.shadow().since(&bytes, after, |past, bytes| {
                let bytes = bytes.start - view.start + offset..bytes.end - view.start + offset;
                self.polls |= past.when.segment == segment && is_load_of_flag(&past, &bytes);
                if is_shared {
                    published.push(Published { past, bytes });
                }
            });
            if is_shared {
                self.published[page] = segment;
            }
        }
        published
    }

    /// Pages of the bulletin that have changed, each once.
    fn changed(&self, pages: &[usize]) -> Vec<usize> {
        let mut changed = Vec::new();
        for (view, offset) in self.views.iter().zip(&self.offsets) {
            let first = pages.partition_point(|page| *page < view.start >> PAGE_SHIFT);
            for page in &pages[first..] {
                let (from, to) = (page << PAGE_SHIFT, (page + 1) << PAGE_SHIFT);
                let bytes = view.start.max(from)..view.end.min(to);
                if bytes.is_empty() {
                    break;
                }
                let of = |at: usize| (at - view.start + offset) / PAGE;
                for page in of(bytes.start)..=of(bytes.end - 1) {
                    if changed.last() != Some(&page) {
                        changed.push(page);
                        self.mine.use_page(page);
                    }
                }
            }
        }
        changed
    }

    /// Nobody is waited for any more: all pages are told of, whoever has touched them.
    pub fn reveal(&mut self) {
        self.foreign.fill(!0);
        self.reveals = true;
    }

    /// The window is gone, and the bulletin is no longer its.
    pub fn retire(&self) {
        self.mine.retire();
    }

    /// Adds pages that this process has touched before, and others have since.
    fn look_for_changes(&mut self, due: &mut Vec<usize>) {
        if std::mem::take(&mut self.reveals) {
            return due.extend(0..self.published.len());
        }
        for (other, seen) in self.others.iter().zip(&mut self.seen) {
            let Some(other) = other else { continue };
            let changes = other.changes();
            if std::mem::replace(seen, changes) == changes {
                continue;
            }
            for (word, foreign) in self.foreign.iter_mut().enumerate() {
                let new = other.used(word) & !*foreign;
                *foreign |= new;
                let mut both = new & self.mine.used(word);
                while both != 0 {
                    let page = word * 64 + both.trailing_zeros() as usize;
                    both &= both - 1;
                    // Perhaps once more, for nothing.
                    due.push(page);
                }
            }
        }
    }

    /// A one-sided operation on another member's part starts, at bytes counted from an offset there; false if it
    /// cannot be kept.
    pub fn reach(
        &mut self,
        exposed: &Exposed,
        (member, offset): (usize, i64),
        access: (Mode, &Pattern),
        (by, pc): (usize, usize),
        stamp: Epoch,
        lasts: bool,
    ) -> bool {
        let (mode, pattern) = access;
        let Some(view) = self.views.get(member) else { return true };
        let start = view.start.wrapping_add_signed(offset as isize);
        let footprint = Footprint::new(start, pattern.clone());
        let op = RemoteOp { member, access: Access { mode, footprint }, pc, by };
        op.note(exposed, stamp);
        if !lasts {
            return true;
        }
        let fits = self.remote.len() < MAX_REMOTE;
        if fits {
            self.remote.push(op);
        }
        fits
    }

    /// Operations on a member, or on all, will be complete there when the call in progress returns, or at least
    /// those that only read.
    pub fn complete(&mut self, exposed: &Exposed, target: Option<i32>, reads: bool, stamp: Epoch) {
        let is_over = |op: &mut RemoteOp| {
            target.is_none_or(|target| target as usize == op.member)
                && (!reads || op.access.mode == Mode::Read)
        };
        self.remote.extract_if(.., is_over).for_each(|op| op.note(exposed, stamp));
    }

    /// Puts an access on the bulletin, told of as another place.
    pub fn publish(&self, published: &Published, pc: usize, by: usize) {
        self.mine.publish(&Past { pc, by, ..published.past }, published.bytes.clone());
    }

    /// All is told; now others' accesses can be looked at.
    pub fn fence(&self) {
        self.mine.fence();
    }

    /// What an access that was told meets, as far as others have told, until `f` returns false.
    pub fn meet(&self, published: &Published, mut f: impl FnMut(Met) -> bool) {
        for (member, other) in self.others.iter().enumerate() {
            let Some(other) = other else { continue };
            let mut go_on = true;
            other.conflicts(&published.bytes, published.past.mode, |past, bytes| {
                let bytes =
                    bytes.start.max(published.bytes.start)..bytes.end.min(published.bytes.end);
                let is_atomic = self.mine.is_atomic(&bytes)
                    || self.others.iter().flatten().any(|one| one.is_atomic(&bytes));
                // What was read is of this window if the bulletin is so still.
                if !is_atomic && other.is_of(self.window) {
                    go_on = f(Met { member, past, bytes });
                }
                go_on
            });
            if !go_on {
                return;
            }
        }
    }

    /// Whether a load and a store are of a flag that is set after a barrier, and whose reader, who is coming to
    /// one, goes on after it: from now on that is an atomic variable.
    pub fn is_flag(&self, published: &Published, met: &Met, own: usize) -> bool {
        if met.bytes.len() > FLAG || published.bytes.len() > FLAG {
            return false;
        }
        let (reader, writer) = match published.past.mode {
            Mode::Read => ((own, &published.past), (met.member, &met.past)),
            Mode::Write => ((met.member, &met.past), (own, &published.past)),
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

/// The cell that orders what is done through a variable in shared memory.
pub fn variable_key(window: u64, member: usize, at: usize) -> u64 {
    mixed(mixed(window, member as u64 + 1), (at / FLAG) as u64)
}

/// The one of fences, for all windows.
pub const FENCES: u64 = 0xfe2ce5;
