//! One-sided operations of this process: their local buffers, and their announcement.

use super::OneSided;
use super::afar::{CALL, FAR};
use super::onesided::target;
use super::{Operation, Tracker};
use crate::buffers::{Accesses, Args};
use crate::requests::{Request, State};
use crate::rma::accumulate::{Atomic, Combine};
use crate::rma::cells::Cells;
use crate::rma::drafts::{Draft, Next, Step};
use crate::rma::notice::{AccessEpoch, Announced, Notice, Which};
use crate::rma::windows::{Fetch, Pending, Window, Young};
use commsan_callsite::{Findings, Place, Report, Side, Site, Stacks};
use commsan_findings::record::Record;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Footprint, Mode, OpId, Pattern, Runs};
use std::ops::Range;

/// Operations on a window that are young at most: each access that meets one looks at all.
const MOST_YOUNG: usize = 32;

/// What an operation does at its target.
#[derive(Clone, Debug)]
pub struct Transfer {
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
    /// Set for accumulates.
    pub atomic: Option<Atomic>,
}

/// A put or a get of one run of bytes at each end.
#[derive(Clone, Debug)]
pub struct Simple {
    /// See [`Transfer::window`].
    pub window: usize,
    /// See [`Transfer::target`].
    pub target: i32,
    /// See [`Transfer::displacement`].
    pub displacement: i64,
    /// Bytes at the target.
    pub size: u64,
    /// What it does to the local buffer; at the target it does the other.
    pub mode: Mode,
    /// The local buffer.
    pub bytes: Range<usize>,
}

impl Transfer {
    /// Whether it returns something that was read atomically.
    fn fetches(&self, args: &Args) -> bool {
        self.atomic.is_some() && args.call.accesses.iter().any(|rule| rule.mode == Mode::Write)
    }

    /// Whether others may see it done, and act on that, before the call returns: it must be
    /// announced earlier.
    fn writes_atomically(&self) -> bool {
        self.atomic.is_some() && self.mode == Mode::Write
    }

    /// Where the displacement lies from the target's base, in bytes.
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
    /// An operation touches what is not the target's window.
    fn report_outside(
        &mut self,
        stacks: &mut Stacks,
        args: &Args,
        transfer: &Transfer,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.windows.get(transfer.window) else { return };
        let (number, made, span) = (window.number, window.site, transfer.span(window));
        let part = window.part(transfer.target).filter(|_| !window.made.dynamic);
        let size = part.map_or(0, |part| part.size as usize);
        let Some(call) = made.call.and_then(commsan_mpi_calls::named) else { return };
        let site = place.site(Some(&args.call.name), stacks);
        if out.again(Code::OutsideWindow, site.pc, made.pc) {
            return;
        }
        let operation = Operation {
            window: Some(number),
            peer: Some(transfer.target),
            ..Operation::at(call, made)
        };
        let bytes = span.start as usize..span.end as usize;
        let report = Report {
            code: Code::OutsideWindow,
            access: Some(Side { by: &args.call.name, mode: transfer.mode, bytes }),
            operation: operation.party(),
            concerned: Some((Mode::Write, 0..size, size)),
            sites: &[(Role::Access, site)],
            threads: false,
            about: None,
        };
        out.report(&report, stacks);
    }
}

impl Tracker {
    /// A put or a get is about to be started: does it do the same as the one before, from the same place, to other
    /// bytes? Then it is part of that, and there is nothing else to say. Loops spend their time here.
    #[inline]
    pub fn goes_on(
        &mut self,
        args: &Args,
        next: &Simple,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        self.take_notices(place, out);
        let Some(clock) = self.rma.clock.as_ref().filter(|clock| !clock.drafts.is_empty()) else {
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
        let Some((at, step)) = clock.drafts.find(to, &another) else { return false };
        let target = next.target;
        if !self.use_young(args.call, handle, target, next.mode, &next.bytes, site, place) {
            return false;
        }
        if let Some(clock) = &mut self.rma.clock {
            clock.drafts.add(at, step, &another);
        }
        if let Some(window) = self.rma.windows.get_mut(handle).filter(|_| step == Step::Again) {
            let there = if next.mode == Mode::Read { Mode::Write } else { Mode::Read };
            window.must_flush(target, there);
        }
        true
    }

    /// A one-sided operation is about to be started: is it where it may be? If it is, and no request
    /// tells of it, it is pending from now on. Returns whether it is.
    pub fn before_transfer(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        transfer: &Transfer,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        self.take_notices(place, out);
        let Some(window) = self.rma.windows.get(transfer.window) else { return false };
        let Some(world) = window.world(transfer.target) else { return false };
        let unattached = window.made.dynamic
            && self.rma.clock.is_some()
            && !self.rma.incomplete
            && !window.has_attached(world, &transfer.pattern, transfer.offset(window));
        let beyond = unattached || window.is_beyond(transfer.target, &transfer.span(window));
        let (number, outside) = (window.number, window.epoch(transfer.target) == AccessEpoch::None);
        // Those with a request need a lock (MPI 4.1 §12.3.5).
        let requested = args.call.at.request.is_some();
        let active = window.active(transfer.target).filter(|_| requested);
        if outside {
            self.reporter.window_misuse(Code::OutsideEpoch, args, number, None, place, out);
        }
        if active.is_some() {
            self.reporter.window_misuse(Code::OutsideEpoch, args, number, active, place, out);
        }
        if beyond {
            self.rma.report_outside(&mut self.reporter.stacks, args, transfer, place, out);
        }
        let site = self.reporter.site(args.call, place);
        if outside || beyond || requested {
            if transfer.writes_atomically() {
                self.announce(args, transfer, site, None, out);
            }
            return false;
        }
        self.use_buffers(args, accesses, transfer, site, place, out);
        self.announce(args, transfer, site, None, out);
        if self.rma.clock.as_ref().is_some_and(|clock| clock.me() == world) {
            self.drain(place, out); // what this process does next is no past access
        }
        true
    }

    /// A one-sided operation has started that was not pending before.
    pub fn transfer(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        transfer: &Transfer,
        request: Option<(usize, usize)>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.check(args, accesses, place, out);
        let site = self.reporter.site(args.call, place);
        self.meets_other_threads(args, transfer, site, out);
        // Nothing would tell when an operation on an unknown window is complete.
        if self.rma.windows.get(transfer.window).is_none() {
            return;
        }
        let id = self.keep_buffers(args, accesses, transfer, site, place);
        if let Some((key, variable)) = request {
            self.settle();
            let mut request = Request::new(key, variable, args.call, State::Active(id));
            request.began = Some(Box::new(site));
            self.requests.insert(request);
        }
        if !transfer.writes_atomically() {
            self.announce(args, transfer, site, request.map(|_| id), out);
        }
        self.drain(place, out);
    }

    /// A one-sided operation uses its local buffers from now on.
    fn use_buffers(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        transfer: &Transfer,
        site: Site,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let young = match accesses {
            [Some(Access { mode, footprint: Footprint::Dense(bytes) }), None, None] => {
                let (handle, target) = (transfer.window, transfer.target);
                self.use_young(args.call, handle, target, *mode, bytes, site, place)
            }
            _ => false,
        };
        if !young {
            self.check(args, accesses, place, out);
            self.meets_other_threads(args, transfer, site, out);
            self.keep_buffers(args, accesses, transfer, site, place);
        }
    }

    /// The same for one run of memory, not on a stack, that nothing pending conflicts with: the
    /// usual case.
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
        if window.young.len() >= MOST_YOUNG
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
        transfer: &Transfer,
        site: Site,
        place: &impl Place,
    ) -> OpId {
        let number = self.rma.windows.get(transfer.window).map(|window| window.number);
        let (peer, since, there) = (target(args), self.threads.stamp(), self.there(transfer));
        let operation =
            Operation { window: number, peer, since, there, ..Operation::at(args.call, site) };
        let id = self.operations.begin(accesses, operation, place);
        if let Some(window) = self.rma.windows.get_mut(transfer.window) {
            window.pending.push(Pending { target: transfer.target, id });
            window.used = true;
        }
        id
    }

    /// Moves young operations on windows to the full structures.
    pub(super) fn settle_transfers(&mut self) {
        for window in self.rma.windows.iter_mut() {
            for Young { target, call, site, mode, bytes, each } in window.young.drain(..) {
                for at in bytes.clone().step_by(each) {
                    let (number, peer) = (Some(window.number), Some(target));
                    let operation = Operation { window: number, peer, ..Operation::at(call, site) };
                    let access = Access { mode, footprint: Footprint::Dense(at..at + each) };
                    let id = self.operations.live.begin(&mut [Some(access)], operation);
                    window.pending.push(Pending { target, id });
                }
                // The engine has marked them again.
                self.pages.unmark(bytes, mode);
            }
        }
    }

    /// The operation that was begun last has failed.
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
            clock.drafts.clear();
        }
    }

    /// Tells the target.
    fn announce(
        &mut self,
        args: &Args,
        transfer: &Transfer,
        site: Site,
        requested: Option<OpId>,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get(transfer.window) else { return };
        let Some(world) = window.world(transfer.target).filter(|_| self.rma.clock.is_some()) else {
            return;
        };
        if window.part(transfer.target).is_none()
            || window.is_beyond(transfer.target, &transfer.span(window))
        {
            return; // what that touches is nobody's window
        }
        let cells = || Cells::of(window.name, transfer.offset(window), &transfer.pattern);
        let cells = transfer.atomic.map(|_| cells());
        if let Some(cells) = cells.as_ref().filter(|_| transfer.writes_atomically()) {
            self.release_cells(world, cells);
        }
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(transfer.window) else { return };
        let Some(clock) = &mut rma.clock else { return };
        let offset = transfer.offset(window);
        if let Some(shared) = &mut window.shared
            && let Some(exposed) = &rma.exposed
            && Some(transfer.target as usize) != window.made.own
        {
            let lasts = requested.is_none() || transfer.mode == Mode::Write;
            let stamp = self.threads.stamp();
            let by = (CALL + FAR + args.call.row as usize, site.pc);
            let (at, access) =
                ((transfer.target as usize, offset), (transfer.mode, &transfer.pattern));
            rma.incomplete |= !shared.reach(exposed, at, access, by, stamp, lasts);
        }
        let new = rma.sites.len() as u32;
        let number = *rma.sites.entry((site.stack, args.call.row)).or_insert_with(|| {
            out.emit(
                Record::Site { id: new, site: (Role::Operation, site) },
                &self.reporter.stacks,
            );
            new
        });
        let operation = Announced {
            window: window.name,
            origin: clock.me(),
            segment: clock.segment(),
            call: args.call.row,
            site: number,
            number: rma.announced,
            mode: transfer.mode,
            atomic: transfer.atomic.map(|atomic| Atomic { rules: window.made.rules, ..atomic }),
            epoch: window.epoch(transfer.target),
            each: None,
            complete: false,
            runs: Runs::of(&transfer.pattern, offset),
        };
        rma.announced = rma.announced.wrapping_add(1);
        if let Some(id) = requested.filter(|_| transfer.mode == Mode::Read) {
            rma.reads.insert(id, (world, window.name, operation.number));
        }
        if let Some(cells) = cells.filter(|_| transfer.fetches(args)) {
            let (target, number) = (transfer.target, operation.number);
            let span = transfer.span(window);
            window.fetches.push(Fetch { target, span, cells, number, requested });
            rma.fetching.extend(requested.map(|id| (id, transfer.window)));
        }
        window.must_flush(transfer.target, transfer.mode);
        // Others may see the effect of an atomic operation soon; a request tells of one number only,
        // and threads synchronise without a word.
        let threads = self.threads.actor.is_some();
        if !operation.is_simple() || requested.is_some() || threads {
            return clock.announce_now(world, operation);
        }
        let (handle, stack) = (transfer.window, site.stack);
        clock.announce(Draft { to: world, handle, stack, operation, again: 0 });
    }

    /// Others who read atomically what is written there from now on come after all that was done before.
    fn release_cells(&mut self, world: u32, cells: &Cells) {
        self.note_ended_work();
        self.rma.tell_shared(&mut self.reporter.stacks);
        if let Some(clock) = &mut self.rma.clock {
            cells.released().for_each(|cell| clock.add(world, cell));
        }
        self.end_segment();
    }

    /// The operation of an R-version is complete locally. If it reads, it has done so.
    pub(super) fn read_from_afar(&mut self, id: OpId, place: &impl Place, out: &mut dyn Findings) {
        if let Some(handle) = self.rma.fetching.remove(&id) {
            self.learn_from_fetches(handle, |fetch| fetch.requested == Some(id), place, out);
        }
        let Some((rank, window, number)) = self.rma.reads.remove(&id) else { return };
        let rma = &mut self.rma;
        let Some(clock) = &mut rma.clock else { return };
        let (origin, segment, which) = (clock.me(), clock.segment(), Which::One(number));
        clock.tell(rank, &Notice::Complete { window, origin, segment, which });
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
