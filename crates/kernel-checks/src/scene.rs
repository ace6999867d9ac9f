//! An access beside what is remembered of the bytes that it accesses: whether something orders the
//! two.

use crate::order::{Block, Numbering};
use crate::shadow::Cell;
use crate::site::{Info, Scope, Sites};
use crate::stamp::{Level, MAX_CLOCK, Stamp};

/// The accessing lane.
#[derive(Clone, Copy)]
pub(crate) struct Me {
    pub thread: u32,
    pub clock: u32,
    /// Whether more lanes do the same to the same bytes.
    pub several: bool,
    pub site: u16,
    pub warp: u32,
    pub lane: usize,
}

/// What an access is compared with.
pub(crate) struct Scene<'a> {
    pub block: &'a Block,
    pub sites: &'a Sites,
    pub numbering: Numbering,
    pub is_shared: bool,
}

impl Scene<'_> {
    /// Compares an access with those to a granule, and remembers it. Returns one that it races
    /// with.
    #[inline(always)]
    pub fn touch(&self, cell: &mut Cell, me: &Me, info: &Info) -> Option<Stamp> {
        let level = match (info.copies, me.several) {
            (true, _) => Level::Copy,
            (false, true) => Level::Warp,
            (false, false) => Level::Thread,
        };
        let clock = if info.copies { MAX_CLOCK } else { me.clock };
        let stamp = Stamp::new(me.thread, level, me.site, clock);
        if !info.strong && level != Level::Copy {
            let first = cell.others[0];
            if !info.writes {
                let known = cell.write.is_none() || self.is_settled(cell.write, me);
                let kept = first.is_none() || self.is_settled(first, me);
                if known && kept && cell.others[1].is_none() && !self.is_strong(cell) {
                    cell.others[0] = stamp;
                    return None;
                }
            } else if (cell.write.is_none() || self.is_settled(cell.write, me))
                && (first.is_none() || self.is_settled(first, me))
                && cell.others[1].is_none()
            {
                *cell = Cell { write: stamp, others: [Stamp::NONE; 2] };
                return None;
            }
        }
        self.touch_slowly(cell, me, info, stamp)
    }

    /// Whether no thread of the block has written a granule of shared memory.
    #[inline(always)]
    pub fn is_unwritten(&self, cell: &Cell) -> bool {
        cell.write.is_none() || self.numbering.block(cell.write.thread()) != self.block.number
    }

    /// Whether an access was made by the same thread, or before the last barrier of its block.
    #[inline(always)]
    fn is_settled(&self, stamp: Stamp, me: &Me) -> bool {
        stamp.thread() == me.thread && stamp.level() == Level::Thread
            || self.numbering.block(stamp.thread()) == self.block.number
                && stamp.clock() < self.block.floor
    }

    /// Whether the last access is one among strong ones, which do not race with each other.
    #[inline(always)]
    fn is_strong(&self, cell: &Cell) -> bool {
        !cell.write.is_none() && self.sites.get(cell.write.site()).strong
    }

    fn touch_slowly(&self, cell: &mut Cell, me: &Me, info: &Info, stamp: Stamp) -> Option<Stamp> {
        if self.is_shared {
            // Another block has left this, whose memory it was.
            let is_own = |stamp: Stamp| self.numbering.block(stamp.thread()) == self.block.number;
            if !is_own(cell.write) {
                cell.write = Stamp::NONE;
            }
            cell.others.iter_mut().filter(|other| !is_own(**other)).for_each(|other| {
                *other = Stamp::NONE;
            });
        }
        let all = [cell.write, cell.others[0], cell.others[1]];
        let mut candidates = all.into_iter().filter(|other| !other.is_none());
        let race = candidates.find(|other| self.races(cell, *other, me, info));
        if !info.writes {
            self.keep(cell, stamp, me, info);
        } else if !info.strong {
            *cell = Cell { write: stamp, others: [Stamp::NONE; 2] };
        } else {
            let before = *cell;
            let old = std::mem::replace(&mut cell.write, stamp);
            for other in &mut cell.others {
                if !other.is_none() && self.is_represented(&before, *other, me, info) {
                    *other = Stamp::NONE;
                }
            }
            if !old.is_none() && !self.is_represented(&before, old, me, info) {
                self.keep(cell, old, me, self.sites.get(old.site()));
            }
        }
        race
    }

    /// Whether whatever races with an earlier access races with this strong write, too. Strong
    /// reads count as such even if they are concurrent with it, so that those that are remembered
    /// have come after it (`was_observed`).
    fn is_represented(&self, cell: &Cell, other: Stamp, me: &Me, info: &Info) -> bool {
        let theirs = self.sites.get(other.site());
        theirs.strong
            && (!theirs.writes
                || self.was_observed(cell, other, theirs, me)
                || self.is_ordered(other, me)
                    && theirs.width == info.width
                    && theirs.scope >= info.scope)
    }

    /// Remembers an access beside the last write.
    fn keep(&self, cell: &mut Cell, stamp: Stamp, me: &Me, info: &Info) {
        let is_mine = stamp.thread() == me.thread;
        for other in &mut cell.others {
            let is_like = other.is_none() || self.sites.get(other.site()).is_like(info);
            if !is_like {
                continue;
            }
            if other.is_none() || is_mine && self.is_ordered(*other, me) {
                *other = stamp;
                return;
            }
            let block = self.numbering.block(other.thread());
            if block == self.numbering.block(stamp.thread()) && other.level() != Level::Copy {
                let same_warp = other.thread() >> 5 == stamp.thread() >> 5;
                let level = if same_warp { Level::Warp } else { Level::Block };
                let level = level.max(other.level()).max(stamp.level());
                let last = if stamp.clock() >= other.clock() { stamp } else { *other };
                *other = Stamp::new(last.thread(), level, last.site(), last.clock());
                return;
            }
        }
        // Writes are kept longer: more races with them.
        let second = &mut cell.others[1];
        if info.writes || !self.sites.get(second.site()).writes {
            *second = stamp;
        }
    }

    /// Whether an access has certainly happened before what the lane does, or may have.
    fn is_ordered(&self, other: Stamp, me: &Me) -> bool {
        let Scene { block, numbering, .. } = *self;
        let (thread, clock) = (other.thread(), other.clock());
        let same_block = numbering.block(thread) == block.number;
        if same_block && clock < block.floor {
            return true;
        }
        let same_warp = thread >> 5 == me.thread >> 5;
        let in_warp = same_warp && clock < block.warp_floor(me.warp);
        let knows = || block.knows(me.warp, me.lane, other, numbering);
        // Of a part of a block something may be known that does not show in its latest access.
        let of_parts = || block.knows_parts(me.warp, me.lane, numbering.block(thread), numbering);
        match other.level() {
            Level::Thread => thread == me.thread || in_warp || knows(),
            Level::Copy => clock != MAX_CLOCK && (in_warp || knows()),
            Level::Warp if thread == me.thread => in_warp || of_parts(),
            Level::Warp => in_warp || knows(),
            Level::Block if thread == me.thread => of_parts(),
            Level::Block => in_warp && of_parts() || knows(),
        }
    }

    fn races(&self, cell: &Cell, other: Stamp, me: &Me, info: &Info) -> bool {
        let theirs = self.sites.get(other.site());
        if !(theirs.writes || info.writes) || self.is_ordered(other, me) {
            return false;
        }
        let both = theirs.strong && info.strong && theirs.width == info.width;
        if both && !self.too_narrow(other, theirs, info) {
            return false;
        }
        !(theirs.strong && theirs.writes && self.was_observed(cell, other, theirs, me))
    }

    /// Whether the scope of either of two strong operations leaves out the other.
    fn too_narrow(&self, other: Stamp, theirs: &Info, info: &Info) -> bool {
        self.numbering.block(other.thread()) != self.block.number
            && theirs.scope.min(info.scope) == Scope::Block
    }

    /// Whether a strong read that has happened before has read what a strong write has written, or
    /// what came of it by atomics: the observation order is part of the causality order (PTX ISA
    /// §8.9.5).
    fn was_observed(&self, cell: &Cell, write: Stamp, theirs: &Info, me: &Me) -> bool {
        let observes = |by: Stamp| {
            // What a thread of this block has read, this thread may have read before: its own read
            // is forgotten if the other comes after it.
            let is_mine = self.numbering.block(by.thread()) == self.block.number;
            if by.is_none() || by == write || !is_mine && !self.is_ordered(by, me) {
                return false;
            }
            let info = self.sites.get(by.site());
            let same = self.numbering.block(by.thread()) == self.numbering.block(write.thread());
            let wide = same || theirs.scope.min(info.scope) == Scope::Device;
            info.strong && info.reads && wide && info.width == theirs.width
        };
        // Only atomics pass on what was written before them.
        let passes = || self.sites.get(cell.write.site()).atomic;
        let reads = |other: &Stamp| {
            !other.is_none() && !self.sites.get(other.site()).writes && observes(*other)
        };
        // Of two writes beside the last one, an atomic may have come later.
        let atomics = |other: &Stamp| {
            !other.is_none() && self.sites.get(other.site()).atomic && observes(*other)
        };
        (write == cell.write || passes()) && cell.others.iter().any(reads)
            || write != cell.write
                && (passes() && observes(cell.write) || cell.others.iter().any(atomics))
    }
}
