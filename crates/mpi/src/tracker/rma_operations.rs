//! One-sided operations of this process: their local buffers, and their announcement to the target.

use super::OneSided;
use super::onesided::target;
use super::remote_ops::{CALL, REMOTE};
use super::{Operation, Tracker};
use crate::buffers::{Accesses, Args};
use crate::ids::notifications;
use crate::requests::{Request, State};
use crate::rma::accumulate::{Atomic, Combine};
use crate::rma::cells::Cells;
use crate::rma::message::{AccessEpoch, Announced, Which};
use crate::rma::outbox::{Next, Step, Unsent};
use crate::rma::windows::{Fetch, Pending, Window, Young};
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_findings::record::RawAccess;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Footprint, Mode, OpId, Pattern, Runs};
use std::ops::Range;

/// Young operations of a window at most: each access that meets one looks at all.
const MAX_YOUNG: usize = 32;

/// What an operation does at its target.
#[derive(Clone, Debug)]
pub struct TargetAccess {
    /// The window's handle.
    pub window: usize,
    /// Rank in the window's group.
    pub target: i32,
    /// In units of the target's part.
    pub displacement: i64,
    /// The bytes, relative to the displacement.
    pub pattern: Pattern,
    /// Read or write.
    pub mode: Mode,
    /// Set for accumulates, which are atomic for each element.
    pub atomic: Option<Atomic>,
}

/// A put or a get of one contiguous run of bytes at each end.
#[derive(Clone, Debug)]
pub struct Simple {
    /// The window's handle.
    pub window: usize,
    /// Rank in the window's group.
    pub target: i32,
    /// In units of the target's part.
    pub displacement: i64,
    /// Bytes at the target.
    pub size: u64,
    /// What the operation does to the local buffer; at the target it does the opposite.
    pub mode: Mode,
    /// The local buffer.
    pub bytes: Range<usize>,
}

impl TargetAccess {
    /// Whether it returns something that it read atomically.
    fn fetches(&self, args: &Args) -> bool {
        self.atomic.is_some() && args.call.accesses.iter().any(|rule| rule.mode == Mode::Write)
    }

    /// Whether other ranks may see its effect, and act on that, before the call returns: then it
    /// must be announced before the call.
    fn writes_atomically(&self) -> bool {
        self.atomic.is_some() && self.mode == Mode::Write
    }

    /// Offset of the displacement from the target's base, in bytes.
    pub(super) fn offset(&self, window: &Window) -> i64 {
        let part = window.part(self.target);
        self.displacement.wrapping_mul(part.map_or(1, |part| part.unit as i64))
    }

    fn span(&self, window: &Window) -> Range<i64> {
        let (at, span) = (self.offset(window), self.pattern.span());
        at + span.start as i64..at + span.end as i64
    }
}

impl OneSided {
    /// Reports an operation that accesses bytes outside the target's window.
    fn report_outside(
        &mut self,
        stacks: &mut Stacks,
        args: &Args,
        at_target: &TargetAccess,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.windows.get(at_target.window) else { return };
        let (number, made, span) = (window.number, window.site, at_target.span(window));
        let part = window.part(at_target.target).filter(|_| !window.made.dynamic);
        let size = part.map_or(0, |part| part.size as usize);
        let Some(call) = made.call.and_then(commsan_mpi_calls::named) else { return };
        let site = place.site(Some(&args.call.name), stacks);
        if out.again(Code::OutsideWindow, 0, site.pc) {
            return;
        }
        let operation = Operation {
            window: Some(number),
            peer: Some(at_target.target),
            ..Operation::at(call, made)
        };
        let bytes = span.start as usize..span.end as usize;
        let operation = operation.described().with_access(true, &(0..size), size);
        let access = RawAccess::new(&args.call.name, at_target.mode.is_write(), &bytes);
        let report = Report {
            access: Some(access),
            ..Report::new(Code::OutsideWindow, operation, [(Role::Access, site)])
        };
        out.report(report, site.pc, stacks);
    }
}

impl Tracker {
    /// Whether a put or a get that is about to start does the same as the one before, from the same
    /// place, to other bytes. Then it becomes part of that one, and nothing else is to be done.
    /// Loops spend their time here.
    #[inline]
    pub fn goes_on(
        &mut self,
        args: &Args,
        next: &Simple,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        self.take_messages(place, out);
        let Some(clock) = self.rma.clock.as_ref().filter(|clock| !clock.outbox.is_empty()) else {
            return false;
        };
        let Some(window) = self.rma.windows.get(next.window) else { return false };
        let (Some(part), Some(to)) = (window.part(next.target), window.world(next.target)) else {
            return false;
        };
        let start = next.displacement.wrapping_mul(part.unit as i64);
        let is_shared = window.shared.is_some();
        if window.made.dynamic || is_shared || (start as u64).saturating_add(next.size) > part.size
        {
            return false;
        }
        let site = self.reporter.site(args.call, place);
        let (handle, call, stack, size) = (next.window, args.call.row, site.stack, next.size);
        let another = Next { handle, call, stack, start, size };
        let Some((at, step)) = clock.outbox.find(to, &another) else { return false };
        let target = next.target;
        if !self.use_young(args.call, handle, target, next.mode, &next.bytes, site, place) {
            return false;
        }
        if let Some(clock) = &mut self.rma.clock {
            clock.outbox.add(at, step, &another);
        }
        if let Some(window) = self.rma.windows.get_mut(handle).filter(|_| step == Step::Again) {
            let there = if next.mode == Mode::Read { Mode::Write } else { Mode::Read };
            window.must_flush(target, there);
        }
        true
    }

    /// Checks a one-sided operation that is about to start. If it is valid and has no request, it
    /// is pending from now on. Returns whether it is.
    pub fn before_rma(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        at_target: &TargetAccess,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        self.take_messages(place, out);
        let Some(window) = self.rma.windows.get(at_target.window) else { return false };
        let Some(world) = window.world(at_target.target) else { return false };
        let unattached = window.made.dynamic
            && self.rma.clock.is_some()
            && !self.rma.incomplete
            && !window.has_attached(world, &at_target.pattern, at_target.offset(window));
        let beyond = unattached || window.is_beyond(at_target.target, &at_target.span(window));
        let (number, outside) =
            (window.number, window.epoch(at_target.target) == AccessEpoch::None);
        // Operations with requests need a lock (MPI 4.1 §12.3.5).
        let requested = args.call.at.request.is_some();
        let active = window.active(at_target.target).filter(|_| requested);
        if outside {
            self.reporter.window_misuse(Code::OutsideEpoch, args, number, None, place, out);
        }
        if active.is_some() {
            self.reporter.window_misuse(Code::OutsideEpoch, args, number, active, place, out);
        }
        if beyond {
            self.rma.report_outside(&mut self.reporter.stacks, args, at_target, place, out);
        }
        let site = self.reporter.site(args.call, place);
        if outside || beyond || requested {
            if at_target.writes_atomically() {
                self.announce(args, at_target, site, None, out);
            }
            return false;
        }
        self.use_buffers(args, accesses, at_target, site, place, out);
        self.announce(args, at_target, site, None, out);
        if self.rma.clock.as_ref().is_some_and(|clock| clock.me() == world) {
            self.drain(place, out); // what this process does next is no past access
        }
        true
    }

    /// A one-sided operation has started that is not pending yet.
    pub fn rma_started(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        at_target: &TargetAccess,
        request: Option<(usize, usize)>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.check(args, accesses, place, out);
        let site = self.reporter.site(args.call, place);
        self.meets_other_threads(args, at_target, site, out);
        // Nothing would show when an operation on an unknown window is complete.
        if self.rma.windows.get(at_target.window).is_none() {
            return;
        }
        let id = self.keep_buffers(args, accesses, at_target, site, place);
        if let Some((key, variable)) = request {
            self.settle();
            let mut request = Request::new(key, variable, args.call, State::Active(id));
            request.began = Some(Box::new(site));
            self.requests.insert(request);
        }
        if !at_target.writes_atomically() {
            self.announce(args, at_target, site, request.map(|_| id), out);
        }
        self.drain(place, out);
    }

    /// A one-sided operation uses its local buffers from now on.
    fn use_buffers(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        at_target: &TargetAccess,
        site: Site,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let young = match accesses {
            [Some(Access { mode, footprint: Footprint::Dense(bytes) }), None, None] => {
                let (handle, target) = (at_target.window, at_target.target);
                self.use_young(args.call, handle, target, *mode, bytes, site, place)
            }
            _ => false,
        };
        if !young {
            self.check(args, accesses, place, out);
            self.meets_other_threads(args, at_target, site, out);
            self.keep_buffers(args, accesses, at_target, site, place);
        }
    }

    /// Uses one contiguous buffer, not on a stack, that conflicts with nothing pending: the usual
    /// case. Returns whether it did.
    #[expect(clippy::too_many_arguments, reason = "what there is to say of an operation")]
    #[inline]
    fn use_young(
        &mut self,
        call: &'static Call,
        window: usize,
        target: i32,
        mode: Mode,
        bytes: &Range<usize>,
        site: Site,
        place: &impl Place,
    ) -> bool {
        if self.threads.actor.is_some() {
            return false; // its end must be kept for the others
        }
        let guards = self.operations.guards.as_ref();
        if guards.is_some_and(|guards| guards.want(bytes, mode == Mode::Write, site.pc)) {
            return false;
        }
        let Some(window) = self.rma.windows.get_mut(window) else { return false };
        let each = bytes.len();
        if let Some(last) = window.young.last_mut()
            && last.bytes.end == bytes.start
            && (last.target, last.each, last.call.row) == (target, each, call.row)
            && (last.site.thread, last.site.stack) == (site.thread, site.stack)
            && self.pages.claim_more(&last.bytes, each, mode)
        {
            last.bytes.end = bytes.end;
            return true;
        }
        if window.young.len() >= MAX_YOUNG
            || place.frame_of(bytes.start).is_some()
            || !self.pages.claim(bytes, mode)
        {
            return false;
        }
        window.young.push(Young { target, call, site, mode, bytes: bytes.clone(), each });
        window.used = true;
        true
    }

    fn keep_buffers(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        at_target: &TargetAccess,
        site: Site,
        place: &impl Place,
    ) -> OpId {
        let number = self.rma.windows.get(at_target.window).map(|window| window.number);
        let (peer, since, there) = (target(args), self.threads.stamp(), self.there(at_target));
        let operation =
            Operation { window: number, peer, since, there, ..Operation::at(args.call, site) };
        let id = self.operations.begin(accesses, operation, place);
        self.operations.close(id);
        if let Some(window) = self.rma.windows.get_mut(at_target.window) {
            window.pending.push(Pending { target: at_target.target, id });
            window.used = true;
        }
        id
    }

    /// Moves young operations on windows to the full structures.
    pub(super) fn settle_rma(&mut self) {
        for window in self.rma.windows.iter_mut() {
            for Young { target, call, site, mode, bytes, each } in window.young.drain(..) {
                for at in bytes.clone().step_by(each) {
                    let (number, peer) = (Some(window.number), Some(target));
                    let operation = Operation { window: number, peer, ..Operation::at(call, site) };
                    let access = Access { mode, footprint: Footprint::Dense(at..at + each) };
                    let id = self.operations.live.begin(&mut [Some(access)], operation);
                    window.pending.push(Pending { target, id });
                }
                // `begin` has marked them again.
                self.pages.unmark(bytes, mode);
            }
        }
    }

    /// The call of the operation that was begun last has failed.
    pub fn retract(&mut self, handle: usize) {
        let Some(window) = self.rma.windows.get_mut(handle) else { return };
        if let Some(young) = window.young.last_mut() {
            self.pages.unmark(young.bytes.clone(), young.mode);
            young.bytes.end -= young.each;
            self.pages.mark(young.bytes.clone(), young.mode);
            if young.bytes.is_empty() {
                window.young.pop();
            }
        } else if let Some(pending) = window.pending.pop() {
            self.operations.end(pending.id);
        }
        if let Some(clock) = &mut self.rma.clock {
            clock.outbox.clear();
        }
    }

    /// Announces an operation to its target.
    fn announce(
        &mut self,
        args: &Args,
        at_target: &TargetAccess,
        site: Site,
        requested: Option<OpId>,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get(at_target.window) else { return };
        let Some(world) = window.world(at_target.target).filter(|_| self.rma.clock.is_some())
        else {
            return;
        };
        if window.part(at_target.target).is_none()
            || window.is_beyond(at_target.target, &at_target.span(window))
        {
            return; // what that touches is nobody's window
        }
        let cells = || Cells::of(window.name, at_target.offset(window), &at_target.pattern);
        let cells = at_target.atomic.map(|_| cells());
        if let Some(cells) = cells.as_ref().filter(|_| at_target.writes_atomically()) {
            self.release_cells(world, cells);
        }
        self.begin_own_segment();
        let number = self.rma.number_of(&self.reporter.stacks, &site, args.call, out);
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(at_target.window) else { return };
        let Some(clock) = &mut rma.clock else { return };
        let offset = at_target.offset(window);
        if let Some(shared) = &mut window.shared
            && let Some(exposed) = &rma.exposed
            && Some(at_target.target as usize) != window.made.own
        {
            let lasts = requested.is_none() || at_target.mode == Mode::Write;
            let stamp = self.threads.stamp();
            let by = (CALL + REMOTE + args.call.row as usize, site.pc);
            let (at, access) =
                ((at_target.target as usize, offset), (at_target.mode, &at_target.pattern));
            rma.incomplete |= !shared.reach(exposed, at, access, by, stamp, lasts);
        }
        let operation = Announced {
            window: window.name,
            origin: clock.me(),
            segment: clock.segment(),
            call: args.call.row,
            site: number,
            number: rma.announced,
            mode: at_target.mode,
            atomic: at_target.atomic.map(|atomic| Atomic { rules: window.made.rules, ..atomic }),
            epoch: window.epoch(at_target.target),
            each: None,
            complete: false,
            stored: 0,
            runs: Runs::of(&at_target.pattern, offset),
        };
        rma.announced = rma.announced.wrapping_add(1);
        if let Some(id) = requested.filter(|_| at_target.mode == Mode::Read) {
            rma.reads.insert(id, (world, window.name, operation.number));
        }
        if let Some(cells) = cells.filter(|_| at_target.fetches(args)) {
            let (target, number) = (at_target.target, operation.number);
            let span = at_target.span(window);
            window.fetches.push(Fetch { target, span, cells, number, requested });
            rma.fetching.extend(requested.map(|id| (id, at_target.window)));
        }
        window.must_flush(at_target.target, at_target.mode);
        // Other ranks may see the effect of an atomic operation soon; a request stands for one
        // number only; and threads synchronise without MPI.
        let threads = self.threads.actor.is_some();
        let notifies = args.call.at.notification.map(|index| args.int(index));
        if !operation.is_simple() || requested.is_some() || threads || notifies.is_some() {
            let (name, which) = (window.name, Which::One(operation.number));
            clock.announce_now(world, operation);
            if let Some(counter) = notifies {
                // Its target is told when it is complete there.
                clock.send_complete(world, name, which, self.threads.between_ranks());
                clock.add(world, notifications(name, counter));
                self.end_segment();
            }
            return;
        }
        let (handle, stack) = (at_target.window, site.stack);
        clock.announce(Unsent {
            to: world,
            handle,
            stack,
            operation,
            again: 0,
            returns_complete: false,
        });
    }

    /// Releases to ranks that atomically read what is written there from now on.
    fn release_cells(&mut self, world: u32, cells: &Cells) {
        // The operation is of the segment after the one that is released, and of no later one.
        self.begin_own_segment();
        self.note_ended_work();
        self.rma.publish_shared(&mut self.reporter.stacks);
        if let Some(clock) = &mut self.rma.clock {
            cells.released().for_each(|cell| clock.add(world, cell));
        }
        self.end_segment();
    }

    /// The operation of a request is complete locally. A get has then read its target.
    pub(super) fn request_complete(
        &mut self,
        id: OpId,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if let Some(handle) = self.rma.fetching.remove(&id) {
            self.acquire_from_fetches(handle, |fetch| fetch.requested == Some(id), place, out);
        }
        let Some((rank, window, number)) = self.rma.reads.remove(&id) else { return };
        let rma = &mut self.rma;
        let Some(clock) = &mut rma.clock else { return };
        clock.send_complete(rank, window, Which::One(number), self.threads.between_ranks());
    }
}

/// How an accumulate combines, from its call and reduction.
pub fn combine(call: &commsan_mpi_calls::Call, no_op: bool, op: i32) -> Combine {
    match (call.at.compared.is_some(), no_op) {
        (true, _) => Combine::Swap,
        (false, true) => Combine::Nothing,
        (false, false) => Combine::Op(op),
    }
}
