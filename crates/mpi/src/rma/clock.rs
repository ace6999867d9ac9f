//! The vector clock of this process among the ranks, and how it acquires from others.
//!
//! Time is counted in segments: whatever this process releases to others ends one, and so does
//! whatever it acquires. An event of rank r in segment s happens before another if the latter's
//! clock has at least s for r.
//!
//! While several threads call, a segment belongs to the thread that began it: another one begins
//! one of its own before it releases or announces anything. What the clock of a segment covers is
//! then limited to what this thread knows ([`Knowledge`]): of its own process what happens before
//! by the threads' own synchronisation ([`Actor`]), of others what it, or a thread that it comes
//! after, has acquired.
//!
//! **Soundness.** More counts as known, never less: by all threads what the last
//! [`MAX_ACQUISITIONS`] acquisitions are not; of all threads of a rank what was acquired by a lock
//! or an atomic, from another node, or from a rank of which only the newest clock was at hand; and
//! all by a thread whose creation was not observed.

use crate::rma::knowledge::{ByCall, Event, Knowledge, Limit};
use crate::rma::message::{Announced, RmaMessage, Which};
use crate::rma::outbox::{Outbox, Unsent};
use commsan_job_shm::{JobShm, LONGEST};
use commsan_shadow::{Actor, Clock as AgentClock, Epoch, VectorClock};

/// A vector clock with a component for each rank of the job: its segments.
pub type RankClock = VectorClock<Vec<u32>>;

/// Acquisitions by single threads that are remembered.
const MAX_ACQUISITIONS: usize = 32;

/// The clock of this process, and what it sends to other ranks.
pub struct Clock {
    /// What any thread of this process has acquired.
    any: Knowledge,
    /// Set while only some threads have acquired some of it.
    some: Option<Box<ByThreads>>,
    /// Set while the present segment belongs to one of several threads.
    owner: Option<Box<Owner>>,
    shm: JobShm,
    /// Announcements that are sent before other ranks can acquire anything.
    pub outbox: Outbox,
    /// Targets and windows with announced operations that were not reported as complete.
    open: Vec<(u32, u64)>,
    /// Those whose operations one of several threads has reported as complete: another one may
    /// complete them, too.
    completed: Vec<(u32, u64)>,
    /// Whether some message was lost.
    pub has_lost_messages: bool,
    /// The call in progress of the acting thread, if there are several.
    acquires_by: Option<ByCall>,
    /// Words of limits, for their capacity.
    words: Vec<u64>,
}

/// What only some threads of this process have acquired.
struct ByThreads {
    /// What all have.
    all: Knowledge,
    /// What an agent has acquired in an epoch, oldest first.
    acquired: Vec<Acquired>,
}

struct Acquired {
    when: Epoch,
    by: Option<ByCall>,
    what: Knowledge,
}

/// The thread that a segment belongs to.
struct Owner {
    /// What happened before, by the order of threads.
    clock: AgentClock,
    /// The call by which it is released.
    by: Option<ByCall>,
    /// The last segment that ended before there were several threads.
    alone: u32,
}

impl Clock {
    /// The clock in the first segment; publishes it.
    pub fn new(shm: JobShm) -> Clock {
        let mut row = vec![0; shm.ranks()];
        row[shm.me()] = 1;
        shm.publish(&row);
        Clock {
            any: Knowledge::new(RankClock::new(row)),
            some: None,
            owner: None,
            shm,
            outbox: Outbox::default(),
            open: Vec::new(),
            completed: Vec::new(),
            has_lost_messages: false,
            acquires_by: None,
            words: Vec::new(),
        }
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
        self.any.row.time(self.me())
    }

    /// What happened before the present segment in any thread.
    pub fn row(&self) -> &RankClock {
        &self.any.row
    }

    /// How many ranks the job has.
    pub fn ranks(&self) -> usize {
        self.any.row.components().len()
    }

    /// Whether a segment of another rank happened before the present one, at least in part and for
    /// some thread.
    pub fn comes_after(&self, rank: u32, segment: u32) -> bool {
        Epoch { agent: rank, time: segment }.happens_before(&self.any.row)
    }

    /// Whether an event happens before what the acting thread does next; whether before what all
    /// threads do is `known_to_all`, with the events of this process that are.
    #[inline]
    pub fn knows(&self, event: Event, actor: Option<&Actor>) -> bool {
        if event.rank == self.me() {
            return actor.is_none_or(|actor| event.stamp.happens_before(&actor.clock));
        }
        match &self.some {
            None => self.any.covers(event),
            Some(some) => some.of(actor).any(|what| what.covers(event)),
        }
    }

    /// Whether an event happens before what any thread of this process does next.
    #[inline]
    pub fn all_know(&self, event: Event, actor: Option<&Actor>) -> bool {
        if event.rank == self.me() {
            return actor.is_none_or(|actor| (actor.known_to_all)(event.stamp));
        }
        self.some.as_ref().map_or(&self.any, |some| &some.all).covers(event)
    }

    /// If the acting thread does not know of an event only because of threads, here or in the
    /// event's
    /// rank: the rank and the call by which another thread has synchronised.
    pub fn missed_by(&self, event: Event, actor: Option<&Actor>) -> Option<(u32, ByCall)> {
        let there = |by| (event.rank, by);
        let Some(some) = &self.some else { return self.any.missed_by(event).map(there) };
        let known = some.acquired.iter().find(|one| one.what.covers(event));
        match known {
            Some(one) => one.by.map(|by| (self.me(), by)),
            None => some.of(actor).find_map(|what| what.missed_by(event)).map(there),
        }
    }

    /// Whether some thread knows what others do not.
    pub fn is_divided(&self) -> bool {
        self.some.is_some()
    }

    /// A thread acts, or the only one: what all threads have acquired is joined.
    pub fn act_as(&mut self, actor: Option<&Actor>, by: Option<ByCall>, alone: bool) {
        self.acquires_by = by;
        if alone {
            self.some = None;
        }
        let (Some(some), Some(actor)) = (&mut self.some, actor) else { return };
        let ByThreads { all, acquired } = &mut **some;
        acquired.retain(|one| {
            let keep = !(actor.known_to_all)(one.when);
            if !keep {
                all.join(&one.what);
            }
            keep
        });
        if acquired.is_empty() {
            self.some = None;
        }
    }

    /// Ends the segment and returns it: its contents are about to be released to other ranks, by
    /// this thread, in this call.
    #[inline]
    pub fn end_segment(&mut self, actor: Option<&Actor>, by: Option<ByCall>) -> u32 {
        self.flush();
        self.await_delivery();
        if self.is_limited(actor) {
            return self.end_own_segment(actor, by);
        }
        let ended = self.any.row.advance(self.me());
        self.shm.publish(self.any.row.components());
        ended.time
    }

    /// Whether the clock of a segment of this thread does not cover all.
    #[inline]
    fn is_limited(&self, actor: Option<&Actor>) -> bool {
        actor.is_some() || self.owner.is_some() || !self.any.is_unlimited()
    }

    #[cold]
    fn end_own_segment(&mut self, actor: Option<&Actor>, by: Option<ByCall>) -> u32 {
        if self.needs_own_segment(actor, by) {
            self.begin_segment(actor, by);
        }
        let ended = self.segment();
        self.begin_segment(actor, by);
        ended
    }

    /// Whether the present segment belongs to another thread than the acting one, or to this one
    /// before it came after others, or to another call.
    #[inline]
    pub fn needs_own_segment(&self, actor: Option<&Actor>, by: Option<ByCall>) -> bool {
        let owner = self.owner.as_ref().map(|owner| (&owner.clock, owner.by));
        (actor.is_some() || owner.is_some()) && owner != actor.map(|actor| (&actor.clock, by))
    }

    /// Begins a segment of the acting thread, which is to be released by this call.
    pub fn begin_segment(&mut self, actor: Option<&Actor>, by: Option<ByCall>) {
        let (me, ended) = (self.me(), self.any.row.advance(self.me()).time);
        self.owner = actor.map(|actor| {
            let alone = self.owner.as_ref().map_or(ended - 1, |owner| owner.alone);
            Box::new(Owner { clock: actor.clock.clone(), by, alone })
        });
        if actor.is_none() {
            self.completed.clear();
        }
        let own = self
            .owner
            .as_ref()
            .map(|owner| Limit::own(me, owner.alone, ended + 1, owner.clock.components(), by));
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        match &self.some {
            Some(some) => {
                let mut known = some.all.clone();
                some.of(actor).skip(1).for_each(|what| known.join(what));
                known.encode(me, own.as_ref(), &self.any.row, &mut words);
            }
            None => self.any.encode(me, own.as_ref(), &self.any.row, &mut words),
        }
        if !words.is_empty() {
            self.shm.publish_threads(ended + 1, &words);
        }
        self.words = words;
        self.shm.publish(self.any.row.components());
    }

    /// Acquires what a rank has released up to this segment.
    #[inline]
    pub fn join(&mut self, rank: u32, segment: u32, actor: Option<&Actor>) {
        if self.is_simple(actor) {
            if !self.comes_after(rank, segment) {
                self.shm.join(rank as usize, segment, self.any.row.components_mut());
            }
            return;
        }
        let mut news = Knowledge::default();
        self.read(rank, segment, &mut news);
        self.take_in(&news, actor);
    }

    /// Reads what a rank knew in a segment.
    #[inline]
    pub fn read(&self, rank: u32, segment: u32, into: &mut Knowledge) {
        into.reset(self.ranks());
        self.shm.join(rank as usize, segment, into.row.components_mut());
        if self.shm.has_threads() {
            self.limit(rank, segment, into);
        }
    }

    #[cold]
    fn limit(&self, rank: u32, segment: u32, known: &mut Knowledge) {
        let mut words = Vec::new();
        self.shm.threads(rank as usize, segment, &mut words);
        known.limit_to(&words);
    }

    /// Whether all that is acquired is of all threads and for all.
    #[inline]
    fn is_simple(&self, actor: Option<&Actor>) -> bool {
        actor.is_none() && self.some.is_none() && !self.shm.has_threads()
    }

    /// The acting thread has acquired something.
    #[cold]
    fn take_in(&mut self, news: &Knowledge, actor: Option<&Actor>) {
        let alone = |actor: &&Actor| !(actor.known_to_all)(actor.stamp);
        if let Some(actor) = actor.filter(alone) {
            let some = self.some.get_or_insert_with(|| {
                Box::new(ByThreads { all: self.any.clone(), acquired: Vec::new() })
            });
            some.add(actor.stamp, self.acquires_by, news);
        } else if let Some(some) = &mut self.some {
            some.all.join(news);
        }
        self.any.join(news);
    }

    /// Acquires what a rank has released so far, where the segment is not known.
    pub fn join_newest(&mut self, rank: u32, actor: Option<&Actor>) {
        if rank != self.me() {
            let shm = |shm: &JobShm, row: &mut [u32]| shm.join_newest(rank as usize, row);
            self.join_by(actor, shm);
        }
    }

    /// Acquires a clock of segments that covers all threads.
    fn join_by<T>(
        &mut self,
        actor: Option<&Actor>,
        read: impl FnOnce(&JobShm, &mut [u32]) -> T,
    ) -> T {
        if self.is_simple(actor) {
            return read(&self.shm, self.any.row.components_mut());
        }
        let mut row = vec![0; self.ranks()];
        let read = read(&self.shm, &mut row);
        self.take_in(&Knowledge::new(RankClock::new(row)), actor);
        read
    }

    /// Acquires what each of these ranks had released when it entered a collective; calls `entered`
    /// with each rank and its segment then, where that is known. Returns whether each of them, as
    /// far as is known, [was alone](Self::was_alone) then.
    pub fn gather(
        &mut self,
        key: u64,
        members: &[u32],
        actor: Option<&Actor>,
        mut entered: impl FnMut(u32, u32),
    ) -> bool {
        if self.is_simple(actor) {
            self.shm.gather(key, members, self.any.row.components_mut(), entered);
            return true;
        }
        let mut alone = true;
        let mut all = Knowledge::new(RankClock::new(vec![0; self.ranks()]));
        let (here, there): (Vec<u32>, Vec<u32>) =
            members.iter().partition(|member| self.shm.is_here(**member as usize));
        self.shm.gather(key, &there, all.row.components_mut(), &mut entered);
        let mut one = Knowledge::default();
        for member in here {
            one.reset(self.ranks());
            let mut segment = 0;
            self.shm.gather(key, &[member], one.row.components_mut(), |_, at| segment = at);
            if segment != 0 {
                entered(member, segment);
                // Another one may be that of another thread.
                if self.shm.entered_once(member as usize, key) {
                    self.limit(member, segment, &mut one);
                }
            }
            alone &= segment != 0 && self.was_alone(member, segment);
            all.join(&one);
        }
        self.take_in(&all, actor);
        alone
    }

    /// Whether a segment of a rank is not that of one of several threads: all that the rank had
    /// done before happens before its end, and this before all that the rank does next.
    pub fn was_alone(&self, rank: u32, segment: u32) -> bool {
        if !self.shm.has_threads() {
            return true;
        }
        let mut known = Knowledge::default();
        known.reset(self.ranks());
        self.limit(rank, segment, &mut known);
        !known.is_limited(rank)
    }

    /// Releases the present to a cell of a rank, as an unlock does, and ends the segment.
    pub fn release(&mut self, rank: u32, cell: u64, actor: Option<&Actor>, by: Option<ByCall>) {
        self.add(rank, cell);
        self.end_segment(actor, by);
    }

    /// Releases the present to a cell of a rank; the caller ends the segment after the last of
    /// several cells.
    pub fn add(&mut self, rank: u32, cell: u64) {
        self.flush();
        self.await_delivery();
        self.shm.release(rank as usize, cell, self.any.row.components());
    }

    /// Releases what happened before the present segment to a cell of a rank.
    pub fn release_past(&self, rank: u32, cell: u64) {
        let mut row = self.any.row.components().to_vec();
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

    /// Operations on a rank's part of a window will be complete when the acting thread's call
    /// returns.
    pub fn complete(&mut self, to: u32, window: u64, actor: Option<&Actor>) {
        if actor.is_some() {
            self.complete_of_thread(to, window, actor);
        } else if self.open.contains(&(to, window)) {
            self.send_complete(to, window, Which::All, None);
            self.open.retain(|open| *open != (to, window));
        } else if self.outbox.complete(to, window) {
            self.flush();
        }
    }

    /// As others may complete them again, and threads that come after those know of it only then.
    #[cold]
    fn complete_of_thread(&mut self, to: u32, window: u64, actor: Option<&Actor>) {
        self.flush();
        let place = (to, window);
        if !self.open.contains(&place) && !self.completed.contains(&place) {
            return;
        }
        self.send_complete(to, window, Which::All, actor);
        self.open.retain(|open| *open != place);
        if !self.completed.contains(&place) {
            self.completed.push(place);
        }
    }

    /// Ranks to which a thread has reported operations on a window as complete, and others may
    /// again.
    pub fn completed(&self, window: u64) -> impl Iterator<Item = u32> {
        self.completed.iter().filter(move |(_, of)| *of == window).map(|(to, _)| *to)
    }

    /// Sends that operations of this rank on another one's part of a window are complete.
    pub fn send_complete(&mut self, to: u32, window: u64, which: Which, actor: Option<&Actor>) {
        let stamp = actor.map_or(Epoch::default(), |actor| actor.stamp);
        let event = Event { rank: self.me(), segment: self.segment(), stamp };
        self.send(to, &RmaMessage::Complete { window, event, which });
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
    pub fn acquire(&mut self, rank: u32, cell: u64, actor: Option<&Actor>) -> bool {
        if self.is_simple(actor) {
            return self.shm.acquire(rank as usize, cell, self.any.row.components_mut());
        }
        let mut row = vec![0; self.ranks()];
        self.shm.acquire(rank as usize, cell, &mut row);
        let news = !self.some.as_ref().map_or(&self.any, |some| &some.all).covers_all(&row);
        if news {
            self.take_in(&Knowledge::new(RankClock::new(row)), actor);
        }
        news
    }
}

impl ByThreads {
    /// What the acting thread knows: what all do, then what it has acquired. Where it is not known
    /// which thread acts, it may know all.
    fn of(&self, actor: Option<&Actor>) -> impl Iterator<Item = &Knowledge> {
        let acquired = self
            .acquired
            .iter()
            .filter(move |one| actor.is_none_or(|actor| one.when.happens_before(&actor.clock)));
        std::iter::once(&self.all).chain(acquired.map(|one| &one.what))
    }

    fn add(&mut self, when: Epoch, by: Option<ByCall>, news: &Knowledge) {
        let last = self.acquired.last_mut();
        if let Some(last) = last.filter(|last| (last.when, last.by) == (when, by)) {
            return last.what.join(news);
        }
        if self.acquired.len() == MAX_ACQUISITIONS {
            let oldest = self.acquired.remove(0);
            self.all.join(&oldest.what);
        }
        self.acquired.push(Acquired { when, by, what: news.clone() });
    }
}

#[cfg(test)]
mod tests;
