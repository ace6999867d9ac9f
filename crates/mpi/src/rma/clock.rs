//! The vector clock of this process, and how it learns from others.
//!
//! Time is counted in segments: whatever this process tells others ends one, and so does whatever
//! it learns. An event of rank r in segment s happens before another if that one's clock has at
//! least s for r.

use commsan_fabric::Fabric;

/// This process's clock.
pub struct Clock {
    row: Vec<u32>,
    fabric: Fabric,
}

impl Clock {
    /// The first segment.
    pub fn new(fabric: Fabric) -> Clock {
        let mut row = vec![0; fabric.ranks()];
        row[fabric.me()] = 1;
        fabric.publish(&row);
        Clock { row, fabric }
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
        self.fabric.release(rank as usize, cell, &self.row);
        self.end_segment();
    }

    /// Learns what was added to a cell.
    pub fn acquire(&mut self, rank: u32, cell: u64) -> bool {
        self.fabric.acquire(rank as usize, cell, &mut self.row)
    }
}
