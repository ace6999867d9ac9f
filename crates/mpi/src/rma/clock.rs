//! The vector clock of this process, and how it learns from others.
//!
//! Time is counted in segments: whatever this process tells others ends one, and so does whatever
//! it learns. An event of rank r in segment s happens before another if that one's clock has at
//! least s for r.

use crate::place::StackId;
use crate::rma::notice::{Announced, Notice};
use commsan_fabric::{Fabric, LONGEST};

/// This process's clock, and what it tells others.
pub struct Clock {
    row: Vec<u32>,
    fabric: Fabric,
    /// An operation that its target is told of with those that continue it, or before anybody can
    /// learn of it in another way.
    draft: Option<Draft>,
    /// Whether somebody could not be told something.
    pub unheard: bool,
}

/// What is about to be told of an operation.
pub struct Draft {
    /// Rank in the job of its target.
    pub to: u32,
    /// Number of the window within this process.
    pub window: u32,
    /// Where it was started.
    pub stack: StackId,
    pub operation: Announced,
}

impl Clock {
    /// The first segment.
    pub fn new(fabric: Fabric) -> Clock {
        let mut row = vec![0; fabric.ranks()];
        row[fabric.me()] = 1;
        fabric.publish(&row);
        Clock { row, fabric, draft: None, unheard: false }
    }

    /// This process's rank in the job.
    pub fn me(&self) -> u32 {
        self.fabric.me() as u32
    }

    /// The memory shared with others.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The present segment.
    pub fn segment(&self) -> u32 {
        self.row[self.fabric.me()]
    }

    /// What has happened before the present segment: all segments of each rank up to these.
    pub fn row(&self) -> &[u32] {
        &self.row
    }

    /// Whether a segment of another rank has ended before the present began.
    pub fn has_seen(&self, rank: u32, segment: u32) -> bool {
        self.row[rank as usize] >= segment
    }

    /// Ends the segment and returns it: others are about to be told of all it contains.
    pub fn end_segment(&mut self) -> u32 {
        self.post();
        let ended = self.segment();
        self.row[self.fabric.me()] += 1;
        self.fabric.publish(&self.row);
        ended
    }

    /// A rank has told us of its segments up to this one.
    pub fn join(&mut self, rank: u32, segment: u32) {
        if !self.has_seen(rank, segment) {
            self.fabric.join(rank as usize, segment, &mut self.row);
        }
    }

    /// The same where it is not known how far that goes.
    pub fn join_newest(&mut self, rank: u32) {
        if rank != self.me() {
            self.fabric.join_newest(rank as usize, &mut self.row);
        }
    }

    /// Adds the present to a cell of a rank, as an unlock does.
    pub fn release(&mut self, rank: u32, cell: u64) {
        self.post();
        self.fabric.release(rank as usize, cell, &self.row);
        self.end_segment();
    }

    /// Tells of an operation, though not at once.
    pub fn announce(&mut self, draft: Draft) {
        self.post();
        self.draft = Some(draft);
    }

    /// What was announced last, if others do not know of it yet. Then nothing has been synchronised
    /// since.
    #[inline]
    pub fn draft(&mut self) -> Option<&mut Draft> {
        self.draft.as_mut()
    }

    /// What was announced last has failed.
    pub fn retract(&mut self) {
        self.draft = None;
    }

    /// Tells what was announced and not told yet.
    pub fn post(&mut self) {
        if let Some(Draft { to, operation, .. }) = self.draft.take() {
            self.unheard |= !self.send(to, &Notice::Operation(operation));
        }
    }

    /// Tells a rank something, after all that was announced.
    pub fn tell(&mut self, rank: u32, notice: &Notice) {
        self.post();
        self.unheard |= !self.send(rank, notice);
    }

    /// The same where it does no harm if the rank has no room for it.
    pub fn mention(&mut self, rank: u32, notice: &Notice) {
        self.post();
        self.send(rank, notice);
    }

    fn send(&self, rank: u32, notice: &Notice) -> bool {
        notice.encode(LONGEST, |words| self.fabric.post(rank as usize, words))
    }

    /// Learns what was added to a cell.
    pub fn acquire(&mut self, rank: u32, cell: u64) -> bool {
        self.fabric.acquire(rank as usize, cell, &mut self.row)
    }
}
