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

/// This process's clock, and what it tells others.
pub struct Clock {
    row: RankClock,
    shm: JobShm,
    /// Operations that are told of before anybody can learn of them in another way.
    pub outbox: Outbox,
    /// Targets and windows that were told of operations, and not that they are complete.
    open: Vec<(u32, u64)>,
    /// Whether somebody could not be told something.
    pub has_lost_messages: bool,
}

impl Clock {
    /// The first segment.
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

    /// What has happened before the present segment: all segments of each rank up to these.
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

    /// Ends the segment and returns it: others are about to be told of all it contains.
    pub fn end_segment(&mut self) -> u32 {
        self.flush();
        self.await_delivery();
        let ended = self.row.advance(self.me());
        self.shm.publish(self.row.components());
        ended.time
    }

    /// A rank has told us of its segments up to this one.
    pub fn join(&mut self, rank: u32, segment: u32) {
        if !self.comes_after(rank, segment) {
            self.shm.join(rank as usize, segment, self.row.components_mut());
        }
    }

    /// The same where it is not known how far that goes.
    pub fn join_newest(&mut self, rank: u32) {
        if rank != self.me() {
            self.shm.join_newest(rank as usize, self.row.components_mut());
        }
    }

    /// Members of a group have told us what each knew when it entered a collective; tells in which segment that was,
    /// where it is known.
    pub fn gather(&mut self, key: u64, members: &[u32], entered: impl FnMut(u32, u32)) {
        self.shm.gather(key, members, self.row.components_mut(), entered);
    }

    /// Adds the present to a cell of a rank, as an unlock does.
    pub fn release(&mut self, rank: u32, cell: u64) {
        self.add(rank, cell);
        self.end_segment();
    }

    /// The same, where others follow: the segment is to be ended then.
    pub fn add(&mut self, rank: u32, cell: u64) {
        self.flush();
        self.await_delivery();
        self.shm.release(rank as usize, cell, self.row.components());
    }

    /// Adds what has happened before the present segment to a cell of a rank.
    pub fn release_past(&self, rank: u32, cell: u64) {
        let mut row = self.row.components().to_vec();
        row[self.shm.me()] -= 1;
        self.shm.release(rank as usize, cell, &row);
    }

    /// Tells of an operation, though not at once.
    pub fn announce(&mut self, unsent: Unsent) {
        if !self.outbox.has_room(&unsent) {
            self.flush();
        }
        self.outbox.push(unsent);
    }

    /// Tells of an operation that cannot wait, or is more than one run of bytes.
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

    /// Tells what was announced and not told yet.
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

    /// Tells a rank something, after all that was announced.
    pub fn send(&mut self, rank: u32, message: &RmaMessage) {
        self.flush();
        self.has_lost_messages |= !self.try_send(rank, message);
        self.await_delivery();
    }

    /// The same where it does no harm if the rank has no room for it.
    pub fn send_if_room(&mut self, rank: u32, message: &RmaMessage) {
        self.flush();
        self.try_send(rank, message);
        self.await_delivery();
    }

    /// Waits until those on other nodes have what they were told.
    #[inline]
    fn await_delivery(&mut self) {
        self.has_lost_messages |= !self.shm.await_delivery();
    }

    fn try_send(&self, rank: u32, message: &RmaMessage) -> bool {
        message.encode(LONGEST, |words| self.shm.post(rank as usize, words))
    }

    /// Learns what was added to a cell.
    pub fn acquire(&mut self, rank: u32, cell: u64) -> bool {
        self.shm.acquire(rank as usize, cell, self.row.components_mut())
    }
}
