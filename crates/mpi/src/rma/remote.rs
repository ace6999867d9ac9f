//! Operations of other ranks on this process's windows that may still be concurrent with something.

use crate::rma::accumulate::Atomic;
use crate::rma::clock::Clock;
use crate::rma::knowledge::{ByCall, Event, Knowledge};
use crate::rma::message::{AccessEpoch, Announced, Symmetric, Which};
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Actor, Epoch, Footprint, Live, Mode, OpId, Pages};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::ops::Range;

/// An announced operation at its target.
#[derive(Clone, Debug)]
pub struct Remote {
    pub window: u64,
    pub call: &'static Call,
    pub origin: u32,
    /// Number of the site in the origin's log.
    pub site: u32,
    pub atomic: Option<Atomic>,
    pub epoch: AccessEpoch,
    pub number: u32,
    /// The segment of the origin in which it began.
    pub segment: u32,
    /// See [`Announced::each`].
    pub each: Option<NonZeroU32>,
    /// The events with which the operation is complete, once that is known: each of several threads
    /// may complete it.
    pub complete: SmallVec<[Event; 1]>,
    /// See [`Announced::stored`].
    pub stored: u64,
    /// This process has read its effect.
    pub seen: bool,
    /// Set in the separate memory model.
    pub separate: Option<Separate>,
}

/// State of an operation in the separate memory model.
#[derive(Clone, Copy, Debug)]
pub struct Separate {
    /// Stores of the owner up to this segment are visible to it.
    pub public: u32,
    /// It happens before what the owner does now, but the owner's private copy does not include it
    /// yet.
    pub over: bool,
}

impl Remote {
    /// The state of an operation when it is announced.
    pub fn new(announced: &Announced, call: &'static Call) -> Remote {
        let Announced {
            window, origin, segment, site, atomic, epoch, number, each, stored, ..
        } = *announced;
        Remote {
            window,
            call,
            origin,
            site,
            atomic,
            epoch,
            number,
            segment,
            each,
            complete: announced
                .complete
                .then_some(Event { rank: origin, segment, stamp: Epoch::default() })
                .into_iter()
                .collect(),
            stored,
            seen: false,
            separate: None,
        }
    }

    /// Whether the operation happens before what knows this.
    fn is_before(&self, known: &Knowledge) -> bool {
        self.complete.iter().any(|last| known.covers(*last))
    }

    /// Whether it is complete, but not before an operation of another thread of its origin: the
    /// origin compares these.
    fn is_of_other_thread(&self, op: &Announced) -> bool {
        self.origin == op.origin && !self.complete.is_empty()
    }

    /// Whether an atomic operation that knows this is of a rank that may have read what this one
    /// wrote: its clock covers the segment that ended with this operation, and no later one.
    fn may_have_been_read(&self, by: &Announced, known: &Knowledge) -> bool {
        let both = self.atomic.is_some() && by.atomic.is_some();
        let last = known.row.time(self.origin);
        both && self.origin != by.origin && last.wrapping_add(1) == self.segment
    }

    /// Whether every access that conflicts with an access of this operation from now on also
    /// conflicts with a later one, so that only the later one must be remembered. The later
    /// operation happens after this one, and accesses all of its bytes in the same mode or writes
    /// them.
    fn is_covered_by(
        &self,
        access: &Access,
        op: &Announced,
        known: &Knowledge,
        later: &Access,
    ) -> bool {
        let Footprint::Dense(all) = &later.footprint else { return false };
        let span = access.footprint.span();
        (self.is_before(known) || self.is_repeated_by(op))
            && all.start <= span.start
            && span.end <= all.end
            && (access.mode == op.mode || op.mode == Mode::Write)
            && (self.window, self.atomic) == (op.window, op.atomic)
            && std::mem::discriminant(&self.epoch) == std::mem::discriminant(&op.epoch)
    }

    /// Whether an atomic operation repeats this one in the same epoch. Both end together, and
    /// whatever came between them was announced before the later one.
    fn is_repeated_by(&self, op: &Announced) -> bool {
        let open = self.complete.is_empty() && self.atomic.is_some();
        open && (self.origin, self.site, self.epoch) == (op.origin, op.site, op.epoch)
    }

    /// Whether epochs or atomicity order two operations on a window, with the footprints of both.
    fn tolerates(&self, own: &Footprint, other: &Announced, others: &Footprint) -> bool {
        if self.window != other.window {
            return false;
        }
        if let (AccessEpoch::Symmetric(_), AccessEpoch::Symmetric(_)) = (self.epoch, other.epoch) {
            return self.tolerates_symmetric(own, other, others);
        }
        let apart = match (self.epoch, other.epoch) {
            (AccessEpoch::Fence(a), AccessEpoch::Fence(b)) => a != b,
            (AccessEpoch::Exclusive, AccessEpoch::Shared | AccessEpoch::Exclusive)
            | (AccessEpoch::Shared, AccessEpoch::Exclusive) => self.origin != other.origin,
            _ => false,
        };
        // Accumulates of one origin are performed in its order (MPI 4.1 §12.7.2).
        let same = self.origin == other.origin;
        let combine = self.atomic.zip(other.atomic).is_some_and(|(a, b)| {
            (a.combines_with(b) || same && a.precedes(b)) && !a.splits(own, b, others)
        });
        apart || combine
    }

    /// Of two operations of OpenSHMEM, with the footprints of both: whether they are atomic for the
    /// same elements, or repetitions of one call, of which each writes what the next one replaces,
    /// or puts of the same value.
    fn tolerates_symmetric(&self, own: &Footprint, other: &Announced, others: &Footprint) -> bool {
        match (self.atomic, other.atomic) {
            (Some(a), Some(b)) => a.size == b.size && !a.splits(own, b, others),
            (None, None) if self.stored != 0 && self.stored == other.stored => {
                own.span() == others.span()
            }
            (None, None) => (self.origin, self.site) == (other.origin, other.site),
            _ => false,
        }
    }
}

/// Two conflicting operations.
pub struct Meeting {
    pub first: Remote,
    pub access: Access,
    pub bytes: Range<usize>,
    /// If only another thread has synchronised: of which rank, and by which call.
    pub missed_by: Option<(u32, ByCall)>,
}

/// Operations of an origin on a window that are not complete.
#[derive(Default)]
struct Open {
    /// Operations that only read, by number.
    reads: VecDeque<(u32, OpId)>,
    rest: Vec<OpId>,
}

impl Open {
    fn ids(&self) -> impl Iterator<Item = &OpId> {
        self.reads.iter().map(|(_, id)| id).chain(&self.rest)
    }

    fn add(&mut self, number: u32, id: OpId, mode: Mode, is_there: impl Fn(OpId) -> bool) {
        if mode == Mode::Read {
            return self.reads.push_back((number, id));
        }
        // Operations that later ones cover are still in the list.
        if self.rest.len() == self.rest.capacity() {
            self.rest.retain(|id| is_there(*id));
            self.rest.reserve(self.rest.len() + 1);
        }
        self.rest.push(id);
    }

    /// Removes operations that have ended, and calls `f` with each.
    fn end(&mut self, which: Which, f: impl FnMut(OpId)) {
        match which {
            Which::One(number) => {
                let at = self.reads.iter().position(|(read, _)| *read == number);
                at.and_then(|at| self.reads.remove(at)).map(|(_, id)| id).into_iter().for_each(f);
            }
            Which::Reads | Which::Epoch => self.reads.drain(..).map(|(_, id)| id).for_each(f),
            Which::All => {
                self.reads.drain(..).map(|(_, id)| id).chain(self.rest.drain(..)).for_each(f)
            }
            Which::Symmetric(_) => {}
        }
    }

    /// Removes the operation of a number that writes, if it is there.
    fn end_write(&mut self, number: u32, present: &Live<Remote>) -> SmallVec<[OpId; 8]> {
        let is_it =
            |id: &OpId| present.get(*id).is_some_and(|remote: &Remote| remote.number == number);
        let at = self.rest.iter().position(is_it);
        at.map(|at| self.rest.swap_remove(at)).into_iter().collect()
    }

    /// Removes operations of OpenSHMEM that have ended, and those that are not there any more.
    fn end_symmetric(&mut self, which: Symmetric, present: &Live<Remote>) -> SmallVec<[OpId; 8]> {
        let mut ended = SmallVec::new();
        let is_over = |id: OpId| {
            present.get(id).is_none_or(|remote| which.covers(remote.epoch, remote.number))
        };
        if which.reads {
            self.reads.retain(|(_, id)| {
                let is_over = is_over(*id);
                ended.extend(is_over.then_some(*id));
                !is_over
            });
        }
        self.rest.retain(|id| {
            let is_over = is_over(*id);
            ended.extend(is_over.then_some(*id));
            !is_over
        });
        ended
    }
}

/// The bytes of the one operation that accesses `at`, where an announcement stands for several.
pub fn single(each: Option<NonZeroU32>, all: &Footprint, at: usize) -> Range<usize> {
    let span = all.span();
    let Some(each) = each.map(|each| each.get() as usize) else { return span };
    let start = span.start + at.saturating_sub(span.start) / each * each;
    start..start + each
}

/// Operations of others that something may still be concurrent with.
pub struct Remotes {
    /// Operations that do not happen before what this process does; their bytes are marked in the
    /// page filter.
    present: Live<Remote>,
    /// Operations with which only other ranks' operations may be concurrent, oldest first.
    past: Live<Remote>,
    order: VecDeque<OpId>,
    /// Operations in `present` that are not complete, by window and origin.
    open: FxHashMap<(u64, u32), Open>,
    /// Operations in `present` that are complete, by the rank whose segment completed them, in the
    /// order of segments.
    complete: FxHashMap<u32, VecDeque<(u32, OpId)>>,
    /// Operations in `present` that one of several threads has completed, oldest first.
    by_threads: VecDeque<OpId>,
    /// Updates in `present` that happen before what this process does, by window in the separate
    /// memory model: they stay until the owner synchronises its private copy.
    over: FxHashMap<u64, Vec<OpId>>,
    /// Operations that were forgotten too early, for lack of memory.
    pub dropped: u64,
}

/// Complete operations of each origin, and past operations, that are remembered.
const MAX_COMPLETE: usize = 1 << 16;
/// Conflicts of one operation that are reported at most.
const MAX_MEETINGS: usize = 8;

impl Remotes {
    pub fn new(pages: Pages) -> Remotes {
        Remotes {
            present: Live::new(pages),
            past: Live::unmarked(),
            order: VecDeque::new(),
            open: FxHashMap::default(),
            complete: FxHashMap::default(),
            by_threads: VecDeque::new(),
            over: FxHashMap::default(),
            dropped: 0,
        }
    }

    /// Live ranges that concern this process's accesses.
    pub fn ranges(&self) -> usize {
        self.present.ranges()
    }

    /// The operations that conflict with one before which this is known.
    pub fn meetings(
        &self,
        op: &Announced,
        known: &Knowledge,
        footprint: &Footprint,
    ) -> Vec<Meeting> {
        let mut found: Vec<Meeting> = Vec::new();
        for all in [&self.present, &self.past] {
            let _ = all.conflicts(op.mode, footprint, |id, access, bytes| {
                let Some(first) = all.get(id) else { return ControlFlow::Continue(()) };
                let same =
                    |m: &Meeting| (m.first.origin, m.first.site) == (first.origin, first.site);
                let read = access.mode == Mode::Write && first.may_have_been_read(op, known);
                let over = first.is_before(known) || first.is_of_other_thread(op) || read;
                if over
                    || first.tolerates(&access.footprint, op, footprint)
                    || found.iter().any(same)
                {
                    return ControlFlow::Continue(());
                }
                let missed_by = first
                    .complete
                    .iter()
                    .find_map(|last| known.missed_by(*last).map(|by| (last.rank, by)));
                let (first, access) = (first.clone(), access.clone());
                found.push(Meeting { first, access, bytes, missed_by });
                if found.len() < MAX_MEETINGS {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
        }
        found
    }

    /// The operations that conflict with an access of this process, by the acting thread.
    pub fn met_by(
        &self,
        access: &Access,
        clock: Option<&Clock>,
        actor: Option<&Actor>,
    ) -> Vec<Meeting> {
        let mut found = Vec::new();
        let _ = self.present.conflicts(access.mode, &access.footprint, |id, other, bytes| {
            let is_known = |event: &Event| clock.is_none_or(|clock| clock.knows(*event, actor));
            let over = |first: &Remote| {
                let is_over = first.separate.is_some_and(|separate| separate.over);
                first.seen || !is_over && first.complete.iter().any(is_known)
            };
            if let Some(first) = self.present.get(id).filter(|first| !over(first)) {
                let missed_by = first
                    .complete
                    .iter()
                    .find_map(|event| clock.and_then(|clock| clock.missed_by(*event, actor)));
                let (first, access) = (first.clone(), other.clone());
                found.push(Meeting { first, access, bytes, missed_by });
            }
            if found.len() < MAX_MEETINGS {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        found
    }

    /// Forgets accesses that are covered by an access of a new operation.
    fn forget_covered(&mut self, op: &Announced, known: &Knowledge, later: &Access) {
        for all in [&mut self.present, &mut self.past] {
            all.withdraw(&later.footprint.span(), |first, accesses, at| {
                first.is_covered_by(&accesses[at], op, known, later)
            });
        }
    }

    /// An operation before which this is known has been announced.
    pub fn begin(
        &mut self,
        op: &Announced,
        remote: Remote,
        known: &Knowledge,
        accesses: impl Iterator<Item = Access>,
    ) {
        self.forget_oldest();
        let mut accesses: SmallVec<[_; 1]> = accesses.map(Some).collect();
        for access in accesses.iter().flatten() {
            self.forget_covered(op, known, access);
        }
        let id = self.present.begin(&mut accesses, remote);
        if !op.complete {
            let (open, present) =
                (self.open.entry((op.window, op.origin)).or_default(), &self.present);
            return open.add(op.number, id, op.mode, |id| present.get(id).is_some());
        }
        // It may have been deferred while later operations arrived.
        let complete = self.complete.entry(op.origin).or_default();
        let at = complete.partition_point(|(segment, _)| *segment <= op.segment);
        complete.insert(at, (op.segment, id));
    }

    /// Forgets the oldest past operations if there are too many. What happens before everything is
    /// forgotten earlier, by [`forget`](Self::forget).
    fn forget_oldest(&mut self) {
        let (past, order) = (&mut self.past, &mut self.order);
        if order.len() <= 2 * MAX_COMPLETE {
            return;
        }
        order.retain(|id| past.get(*id).is_some());
        let excess = order.len().saturating_sub(MAX_COMPLETE);
        for id in order.drain(..excess) {
            past.end(id);
            self.dropped += 1;
        }
    }

    /// Operations of an origin on a window are complete, as of an event of some rank.
    pub fn complete(&mut self, window: u64, origin: u32, which: Which, when: Event) {
        let of_thread = when.stamp != Epoch::default();
        if of_thread && which == Which::All {
            self.complete_again(window, origin, when);
        }
        let Some(open) = self.open.get_mut(&(window, origin)) else { return };
        let (present, complete) = (&mut self.present, &mut self.complete);
        let by_threads = &mut self.by_threads;
        let chosen = match which {
            Which::Symmetric(which) => open.end_symmetric(which, present),
            Which::One(number) => open.end_write(number, present),
            _ => SmallVec::new(),
        };
        let mut end = |id| {
            let Some(remote) = present.get_mut(id) else { return };
            remote.complete.push(when);
            match of_thread {
                true => by_threads.push_back(id),
                false => complete.entry(when.rank).or_default().push_back((when.segment, id)),
            }
        };
        chosen.into_iter().for_each(&mut end);
        open.end(which, end);
    }

    /// This process has waited for what is stored in these bytes: the operations of OpenSHMEM that
    /// write there have reached it.
    pub fn reached(&mut self, bytes: &Range<usize>, when: Event) {
        let mut writes: SmallVec<[OpId; 8]> = SmallVec::new();
        let _ = self.present.conflicts(Mode::Read, &Footprint::Dense(bytes.clone()), |id, _, _| {
            writes.push(id);
            ControlFlow::<()>::Continue(())
        });
        for id in writes {
            if let Some(remote) = self.present.get_mut(id)
                && matches!(remote.epoch, AccessEpoch::Symmetric(_))
                && !remote.complete.iter().any(|event| event.rank == when.rank)
            {
                remote.complete.push(when);
            }
        }
    }

    /// A thread completes operations that others have completed before. Of its own completions the
    /// first is enough: it happens before the others.
    fn complete_again(&mut self, window: u64, origin: u32, when: Event) {
        for id in &self.by_threads {
            let Some(remote) = self.present.get_mut(*id) else { continue };
            let own = |event: &Event| event.stamp.agent == when.stamp.agent;
            if (remote.window, remote.origin) == (window, origin)
                && !remote.complete.iter().any(own)
            {
                remote.complete.push(when);
            }
        }
    }

    /// This process has read these bytes atomically: it has seen the atomic writes there of which
    /// it has read all bytes; of its own writes, which happen in order, those with a lower number.
    pub fn observed(&mut self, window: u64, bytes: Range<usize>, read: (u32, u32)) {
        let open = self.open.iter().filter(|((name, _), _)| *name == window);
        let complete = self.complete.values().flatten().map(|(_, id)| id);
        let complete = complete.chain(&self.by_threads);
        for id in open.flat_map(|(_, open)| open.ids()).chain(complete) {
            let mut accesses = self.present.accesses(*id).iter();
            let here = accesses.all(|access| {
                let span = access.footprint.span();
                bytes.start <= span.start && span.end <= bytes.end
            });
            if let Some(remote) = self.present.get_mut(*id) {
                let later = remote.number.wrapping_sub(read.1) as i32 >= 0;
                remote.seen |= here
                    && !(later && remote.origin == read.0)
                    && remote.window == window
                    && remote.atomic.is_some();
            }
        }
    }

    /// Moves the operations to the past whose completion all threads of this process have acquired.
    pub fn acquire(&mut self, clock: &Clock, actor: Option<&Actor>) {
        for (rank, complete) in &mut self.complete {
            let known = |segment| {
                clock.all_know(Event { rank: *rank, segment, stamp: Epoch::default() }, actor)
            };
            while let Some((segment, id)) = complete.front().copied()
                && (known(segment) || complete.len() > MAX_COMPLETE)
            {
                complete.pop_front();
                let is_lost = !known(segment) && self.present.get(id).is_some();
                self.dropped += u64::from(is_lost);
                let (present, over) = (&mut self.present, &mut self.over);
                leave(present, &mut self.past, &mut self.order, over, id);
            }
        }
        if !self.by_threads.is_empty() {
            self.acquire_from_threads(clock, actor);
        }
    }

    #[cold]
    fn acquire_from_threads(&mut self, clock: &Clock, actor: Option<&Actor>) {
        let mut excess = self.by_threads.len().saturating_sub(MAX_COMPLETE);
        let mut all = std::mem::take(&mut self.by_threads);
        all.retain(|id| {
            let Some(remote) = self.present.get(*id) else { return false };
            let known = remote.complete.iter().any(|event| clock.all_know(*event, actor));
            let keep = !known && excess == 0;
            if !keep {
                self.dropped += u64::from(!known);
                excess = excess.saturating_sub(1);
                // Other threads may complete it again: of the past that is not followed.
                if let Some(remote) = self.present.get_mut(*id) {
                    remote.complete.iter_mut().for_each(|event| event.stamp = Epoch::default());
                }
                let (present, over) = (&mut self.present, &mut self.over);
                leave(present, &mut self.past, &mut self.order, over, *id);
            }
            keep
        });
        self.by_threads = all;
    }

    /// This process's private copy of a window in the separate memory model was synchronised.
    /// Returns the updates that it includes from now on, one for each site.
    pub fn view_updated(&mut self, window: u64) -> Vec<(Remote, Access)> {
        let mut updates: Vec<(Remote, Access)> = Vec::new();
        for id in self.over.remove(&window).unwrap_or_default() {
            let update = self.present.accesses(id).iter().find(|a| a.footprint.bytes() > 0);
            if let (Some(remote), Some(access)) = (self.present.get(id), update)
                && !updates.iter().any(|(r, _)| (r.origin, r.site) == (remote.origin, remote.site))
            {
                updates.push((remote.clone(), access.clone()));
            }
            pass(&mut self.present, &mut self.past, &mut self.order, id);
        }
        updates
    }

    /// Whether so many past operations are remembered that some should be forgotten.
    pub fn are_many(&self) -> bool {
        self.order.len() > MAX_COMPLETE / 16
    }

    /// Forgets operations that happen before everything that could conflict with them:
    /// `synchronised` decides whether all members of the window come after an operation.
    pub fn forget(&mut self, synchronised: impl Fn(&Remote) -> bool) {
        let past = &mut self.past;
        self.order.retain(|id| {
            let keep = past.get(*id).is_some_and(|remote| !synchronised(remote));
            if !keep {
                past.end(*id);
            }
            keep
        });
    }

    /// The window is freed.
    pub fn close(&mut self, window: u64) {
        self.open.retain(|(name, _), _| *name != window);
        self.over.remove(&window);
        self.forget_all(|remote| remote.window == window);
    }

    /// A message of an origin was lost: nothing is certain about its operations.
    pub fn forget_origin(&mut self, origin: u32) {
        self.open.retain(|(_, rank), _| *rank != origin);
        self.forget_all(|remote| remote.origin == origin);
    }

    fn forget_all(&mut self, which: impl Fn(&Remote) -> bool) {
        let present: Vec<OpId> =
            self.present.iter().filter(|(_, remote)| which(remote)).map(|(id, _)| id).collect();
        for id in present {
            self.present.end(id);
        }
        let present = &self.present;
        for complete in self.complete.values_mut() {
            complete.retain(|(_, id)| present.get(*id).is_some());
        }
        self.by_threads.retain(|id| present.get(*id).is_some());
        self.forget(which);
    }
}

/// An operation happens before what this process does from now on: moves it to the past, unless it
/// has updated a private copy.
fn leave(
    present: &mut Live<Remote>,
    past: &mut Live<Remote>,
    order: &mut VecDeque<OpId>,
    over: &mut FxHashMap<u64, Vec<OpId>>,
    id: OpId,
) {
    let updates = present.accesses(id).iter().any(|access| access.mode == Mode::Write);
    match present.get_mut(id) {
        Some(Remote { window, separate: Some(separate), .. }) if updates => {
            separate.over = true;
            over.entry(*window).or_default().push(id);
        }
        _ => pass(present, past, order, id),
    }
}

/// Moves an operation from the present to the past.
fn pass(present: &mut Live<Remote>, past: &mut Live<Remote>, order: &mut VecDeque<OpId>, id: OpId) {
    let mut accesses: SmallVec<[_; 1]> = present.accesses(id).iter().cloned().map(Some).collect();
    if let Some(remote) = present.end(id) {
        order.push_back(past.begin(&mut accesses, remote));
    }
}
