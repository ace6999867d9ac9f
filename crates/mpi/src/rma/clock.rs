//! The vector clock of this process among the ranks, and how it acquires from others.
//!
//! Time is counted in segments: whatever this process releases to others ends one, and so does
//! whatever it acquires. An event of rank r in segment s happens before another if the latter's
//! clock has at least s for r.

use crate::rma::message::{Announced, RmaMessage, Which};
use crate::rma::outbox::{Outbox, Unsent};
use commsan_job_shm::{JobShm, LONGEST};
use commsan_shadow::{Epoch, VectorClock};

/// A vector clock with a component for each rank of the job: its segments.
pub type RankClock = VectorClock<Vec<u32>>;

/// The clock of this process, and what it sends to other ranks.
pub struct Clock {
    row: RankClock,
    shm: JobShm,
    /// Announcements that are sent before other ranks can acquire anything.
    pub outbox: Outbox,
    /// Targets and windows with announced operations that were not reported as complete.
    open: Vec<(u32, u64)>,
    /// Whether some message was lost.
    pub has_lost_messages: bool,
}

impl Clock {
    /// The clock in the first segment; publishes it.
    pub fn new(shm: JobShm) -> Clock {
        let mut row = vec![0; shm.ranks()];
        row[shm.me()] = 1;
        shm.publish(&row);
        let row = RankClock::new(row);
        Clock { row, shm, outbox: Outbox::default(), open: Vec::new(), has_lost_messages: false }
    }

    /// This process's rank in the job.
    pub fn me(&self) -> u32 {
        self.shm.me() as u32
    }

    /// The memory shared with others.
    pub fn shm(&self) -> &JobShm {
        &self.shm
    }

    /// The present segment.
    pub fn segment(&self) -> u32 {
        self.row.time(self.me())
    }

    /// The clock of the present segment: what happened before it.
    pub fn row(&self) -> &RankClock {
        &self.row
    }

    /// How many ranks the job has.
    pub fn ranks(&self) -> usize {
        self.row.components().len()
    }

    /// Whether a segment of another rank happened before the present one.
    pub fn comes_after(&self, rank: u32, segment: u32) -> bool {
        Epoch { agent: rank, time: segment }.happens_before(&self.row)
    }

    /// Ends the segment and returns it: its contents are about to be released to other ranks.
    pub fn end_segment(&mut self) -> u32 {
        self.flush();
        self.await_delivery();
        let ended = self.row.advance(self.me());
        self.shm.publish(self.row.components());
        ended.time
    }

    /// Acquires what a rank has released up to this segment.
    pub fn join(&mut self, rank: u32, segment: u32) {
        if !self.comes_after(rank, segment) {
            self.shm.join(rank as usize, segment, self.row.components_mut());
        }
    }

    /// Acquires what a rank has released so far, where the segment is not known.
    pub fn join_newest(&mut self, rank: u32) {
        if rank != self.me() {
            self.shm.join_newest(rank as usize, self.row.components_mut());
        }
    }

    /// Acquires what each of these ranks had released when it entered a collective; calls `entered`
    /// with each rank and its segment then, where that is known.
    pub fn gather(&mut self, key: u64, members: &[u32], entered: impl FnMut(u32, u32)) {
        self.shm.gather(key, members, self.row.components_mut(), entered);
    }

    /// Releases the present to a cell of a rank, as an unlock does, and ends the segment.
    pub fn release(&mut self, rank: u32, cell: u64) {
        self.add(rank, cell);
        self.end_segment();
    }

    /// Releases the present to a cell of a rank; the caller ends the segment after the last of
    /// several cells.
    pub fn add(&mut self, rank: u32, cell: u64) {
        self.flush();
        self.await_delivery();
        self.shm.release(rank as usize, cell, self.row.components());
    }

    /// Releases what happened before the present segment to a cell of a rank.
    pub fn release_past(&self, rank: u32, cell: u64) {
        let mut row = self.row.components().to_vec();
        row[self.shm.me()] -= 1;
        self.shm.release(rank as usize, cell, &row);
    }

    /// Announces an operation, at the latest before other ranks can acquire anything.
    pub fn announce(&mut self, unsent: Unsent) {
        if !self.outbox.has_room(&unsent) {
            self.flush();
        }
        self.outbox.push(unsent);
    }

    /// Announces an operation immediately: one that cannot wait, or has more than one run of bytes.
    pub fn announce_now(&mut self, to: u32, operation: Announced) {
        self.flush();
        self.send_operation(to, operation);
    }

    /// Operations on a rank's part of a window will be complete when the call in progress returns.
    pub fn complete(&mut self, to: u32, window: u64) {
        if self.open.contains(&(to, window)) {
            let (origin, segment) = (self.me(), self.segment());
            self.send(to, &RmaMessage::Complete { window, origin, segment, which: Which::All });
            self.open.retain(|open| *open != (to, window));
        } else if self.outbox.complete(to, window) {
            self.flush();
        }
    }

    /// Sends all announcements that wait in the outbox.
    pub fn flush(&mut self) {
        if self.outbox.is_empty() {
            return;
        }
        for (to, operation) in self.outbox.take() {
            self.send_operation(to, operation);
        }
    }

    fn send_operation(&mut self, to: u32, operation: Announced) {
        let place = (to, operation.window);
        if !operation.complete && !self.open.contains(&place) {
            self.open.push(place);
        }
        self.has_lost_messages |= !self.try_send(to, &RmaMessage::Operation(operation));
    }

    /// Sends a message to a rank, after all waiting announcements; without room for it, findings
    /// may be missed.
    pub fn send(&mut self, rank: u32, message: &RmaMessage) {
        self.flush();
        self.has_lost_messages |= !self.try_send(rank, message);
        self.await_delivery();
    }

    /// Sends a message to a rank, after all waiting announcements; without room for it, nothing is
    /// lost.
    pub fn send_if_room(&mut self, rank: u32, message: &RmaMessage) {
        self.flush();
        self.try_send(rank, message);
        self.await_delivery();
    }

    /// Waits until messages to other nodes have arrived.
    #[inline]
    fn await_delivery(&mut self) {
        self.has_lost_messages |= !self.shm.await_delivery();
    }

    fn try_send(&self, rank: u32, message: &RmaMessage) -> bool {
        message.encode(LONGEST, |words| self.shm.post(rank as usize, words))
    }

    /// Acquires what was released to a cell; returns whether that was anything new.
    pub fn acquire(&mut self, rank: u32, cell: u64) -> bool {
        self.shm.acquire(rank as usize, cell, self.row.components_mut())
    }
}
