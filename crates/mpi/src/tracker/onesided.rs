//! One-sided operations of this process: their local buffers, their epochs, their announcement.

use super::{Operation, Tracker};
use crate::buffers::{Accesses, Args};
use crate::calls::{Call, Effect};
use crate::place::{Findings, Place, Report, Side, Site};
use crate::requests::{Request, State};
use crate::rma::clock::Draft;
use crate::rma::notice::{Announced, Atomic, Combine, Epoch, Notice, Runs, Which};
use crate::rma::windows::{Active, Group, Lock, Made, Part, Pending, Window, Young, mixed};
use commsan_engine::{Access, Footprint, Mode, OpId, Pattern};
use commsan_model::{Code, Role};
use smallvec::SmallVec;
use std::ops::Range;

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
    fn offset(&self, window: &Window) -> i64 {
        let part = window.part(self.target);
        self.displacement.wrapping_mul(part.map_or(1, |part| part.unit as i64))
    }

    fn span(&self, window: &Window) -> Range<i64> {
        let (at, span) = (self.offset(window), self.pattern.span());
        at + span.start as i64..at + span.end as i64
    }
}

/// What a synchronisation call says beside its target.
#[derive(Clone, Debug, Default)]
pub struct Synchronisation {
    /// Ranks in the job of the group it names.
    pub ranks: Box<[u32]>,
    /// Whether the lock is exclusive.
    pub exclusive: bool,
    /// Whether no operations follow the fence.
    pub last: bool,
}

/// Operations on a window that are young at most: each access that meets one looks at all.
const MOST_YOUNG: usize = 32;

/// The target that a call names.
pub(super) fn target(args: &Args) -> Option<i32> {
    args.call.at.peer.map(|index| args.int(index))
}

impl Tracker {
    /// A window is about to be made by a group: tells the others this process's part.
    pub fn before_window_made(&mut self, group: &Group, part: Part) {
        let name = self.rma.windows.next_name(group);
        if let Some(clock) = &self.rma.clock {
            clock.fabric().publish_part(name, part.size, part.unit);
        }
    }

    /// A window has been made.
    pub fn window_made(&mut self, args: &Args, mut made: Made, place: &impl Place) {
        if self.rma.clock.as_ref().is_some_and(|clock| !clock.fabric().is_complete()) {
            self.disconnect();
        }
        if let Some(clock) = &self.rma.clock {
            let name = self.rma.windows.next_name(&made.group);
            let part = |rank: &u32| clock.fabric().part(*rank as usize, name);
            let parts = made.group.members.iter().map(part);
            made.parts = parts.map(|part| part.map(|(size, unit)| Part { size, unit })).collect();
        }
        let site = place.site(Some(&args.call.name), &mut self.stacks);
        let memory = made.own_memory();
        if let Some(exposed) = &mut self.rma.exposed {
            self.rma.incomplete |= !memory.iter().all(|bytes| exposed.add(bytes));
        }
        let since = self.end_segment();
        self.rma.windows.add(made, memory, site, since);
    }

    /// Memory is attached to a dynamic window.
    pub fn attach(&mut self, window: usize, bytes: Range<usize>) {
        self.tell_attached(window, &bytes, true);
        let Some(window) = self.rma.windows.get_mut(window) else { return };
        window.memory.push(bytes.clone());
        if let Some(exposed) = &mut self.rma.exposed {
            self.rma.incomplete |= !exposed.add(&bytes);
        }
    }

    /// The memory that begins at an address is detached.
    pub fn detach(&mut self, handle: usize, base: usize) {
        let Some(window) = self.rma.windows.get_mut(handle) else { return };
        let Some(at) = window.memory.iter().position(|bytes| bytes.start == base) else { return };
        let bytes = window.memory.swap_remove(at);
        self.tell_attached(handle, &bytes, false);
        if let Some(exposed) = &mut self.rma.exposed {
            exposed.remove(&bytes);
        }
    }

    /// Tells all who could access it.
    fn tell_attached(&mut self, handle: usize, bytes: &Range<usize>, attached: bool) {
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get(handle), &mut rma.clock) else { return };
        let (window, members) = (window.name, window.made.group.members.clone());
        for rank in members.iter() {
            let (owner, bytes) = (clock.me(), bytes.clone());
            let notice = Notice::Attached { window, owner, bytes, attached };
            clock.tell(*rank, &notice);
        }
    }

    /// A put or a get is about to be started: does it go on at both ends where the one before, from
    /// the same place, ended? Then it is part of that, and there is nothing else to say. Loops spend
    /// their time here.
    #[inline]
    pub fn goes_on(
        &mut self,
        call: &'static Call,
        next: &Simple,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        self.take_notices(place, out);
        let Some(clock) = &mut self.rma.clock else { return false };
        let Some(Draft { to, window, stack, operation }) = clock.draft() else { return false };
        let Some(window) = self.rma.windows.numbered(*window) else { return false };
        let Some(part) = window.part(next.target) else { return false };
        let start = next.displacement.wrapping_mul(part.unit as i64);
        let beyond = window.made.dynamic || (start as u64).saturating_add(next.size) > part.size;
        let each = next.bytes.len();
        if beyond || window.world(next.target) != Some(*to) {
            return false;
        }
        let Some(last) = window.young.last_mut() else { return false };
        if last.site.stack != *stack
            || (window.made.handle, last.target, last.each) != (next.window, next.target, each)
            || (last.call.row, operation.call) != (call.row, call.row)
            || last.bytes.end != next.bytes.start
            || !operation.goes_on(start, next.size)
            || (last.site.thread, last.site.stack)
                != (place.thread(), place.stack(&mut self.stacks))
            || !self.pages.claim_more(&last.bytes, each, last.mode)
        {
            return false;
        }
        last.bytes.end = next.bytes.end;
        operation.take_in(next.size);
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
        let outside = window.epoch(transfer.target) == Epoch::None;
        if outside {
            let number = window.number;
            self.window_misuse(Code::OutsideEpoch, args, number, None, place, out);
        }
        if beyond {
            self.report_outside(args, transfer, place, out);
        }
        let requested = args.call.at.request.is_some();
        let site = place.site(Some(&args.call.name), &mut self.stacks);
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

    /// An operation touches what is not the target's window.
    fn report_outside(
        &mut self,
        args: &Args,
        transfer: &Transfer,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get(transfer.window) else { return };
        let (number, made, span) = (window.number, window.site, transfer.span(window));
        let part = window.part(transfer.target).filter(|_| !window.made.dynamic);
        let size = part.map_or(0, |part| part.size as usize);
        let Some(call) = made.call.and_then(crate::calls::named) else { return };
        let site = place.site(Some(&args.call.name), &mut self.stacks);
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
            operation: &operation,
            concerned: Some((Mode::Write, 0..size, size)),
            sites: &[(Role::Access, site)],
            threads: false,
        };
        out.report(&report, &self.stacks);
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
        // Nothing would tell when an operation on an unknown window is complete.
        if self.rma.windows.get(transfer.window).is_none() {
            return;
        }
        let site = place.site(Some(&args.call.name), &mut self.stacks);
        let id = self.keep_buffers(args, accesses, transfer, site, place);
        if let Some((key, variable)) = request {
            self.settle();
            self.requests.insert(Request::new(key, variable, args.call, State::Active(id)));
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
        if !self.use_young(args, accesses, transfer, site, place) {
            self.check(args, accesses, place, out);
            self.keep_buffers(args, accesses, transfer, site, place);
        }
    }

    /// The same for one run of memory, not on a stack, that nothing pending conflicts with: the
    /// usual case.
    fn use_young(
        &mut self,
        args: &Args,
        accesses: &Accesses,
        transfer: &Transfer,
        site: Site,
        place: &impl Place,
    ) -> bool {
        let [Some(Access { mode, footprint: Footprint::Dense(bytes) }), None, None] = accesses
        else {
            return false;
        };
        let Some(window) = self.rma.windows.get_mut(transfer.window) else { return false };
        let (target, mode, each) = (transfer.target, *mode, bytes.len());
        if window.young.len() >= MOST_YOUNG
            || place.frame_of(bytes.start).is_some()
            || !self.pages.claim(bytes, mode)
        {
            return false;
        }
        let bytes = bytes.clone();
        window.young.push(Young { target, call: args.call, site, mode, bytes, each });
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
        let operation =
            Operation { window: number, peer: target(args), ..Operation::at(args.call, site) };
        let id = self.begin(accesses, operation, place);
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
                    let id = self.live.begin(&mut [Some(access)], operation);
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
            match young.bytes.len() == young.each {
                true => {
                    self.pages.unmark(young.bytes.clone(), young.mode);
                    window.young.pop();
                }
                false => young.bytes.end -= young.each,
            }
        } else if let Some(pending) = window.pending.pop() {
            self.live.end(pending.id);
            self.on_stack.retain(|id| *id != pending.id);
        }
        if let Some(clock) = &mut self.rma.clock {
            clock.retract();
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
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(transfer.window) else { return };
        let (Some(clock), Some(world)) = (&mut rma.clock, window.world(transfer.target)) else {
            return;
        };
        if window.part(transfer.target).is_none()
            || window.is_beyond(transfer.target, &transfer.span(window))
        {
            return; // what that touches is nobody's window
        }
        let offset = transfer.offset(window);
        if transfer.writes_atomically() {
            clock.release(world, mixed(window.name, offset as u64));
        }
        let new = rma.sites.len() as u32;
        let number = *rma.sites.entry((site.stack, args.call.row)).or_insert_with(|| {
            out.site(new, &site, &self.stacks);
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
            atomic: transfer.atomic,
            epoch: window.epoch(transfer.target),
            each: None,
            runs: Runs::of(&transfer.pattern, offset),
        };
        rma.announced = rma.announced.wrapping_add(1);
        if let Some(id) = requested.filter(|_| transfer.mode == Mode::Read) {
            rma.reads.insert(id, (world, window.name, operation.number));
        }
        if transfer.fetches(args) {
            window.fetches.push((transfer.target, offset));
        }
        if !window.unflushed.contains(&transfer.target) {
            window.unflushed.push(transfer.target);
        }
        let (window, stack) = (window.number, site.stack);
        clock.announce(Draft { to: world, window, stack, operation });
        if requested.is_some() || transfer.writes_atomically() {
            clock.post(); // others may see its effect soon, and its number tells of its end
        }
    }

    /// A synchronisation call is about to be made: does it fit, and what will others be told by it?
    pub fn before_sync(
        &mut self,
        args: &Args,
        sync: &Synchronisation,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let handle = args.call.at.win.map_or(0, |index| args.words[index]);
        let Some(window) = self.rma.windows.get(handle) else { return };
        if let Some(opened) = misfit(window, args) {
            let number = window.number;
            self.window_misuse(Code::EpochMismatch, args, number, opened, place, out);
            let opens = [Effect::Lock, Effect::EpochBegin, Effect::ExposureBegin];
            if opens.contains(&args.call.effect) {
                return; // the library refuses it, or goes on as before
            }
        }
        let site = place.site(Some(&args.call.name), &mut self.stacks);
        let active = Active { ranks: sync.ranks.clone(), site };
        match args.call.effect {
            Effect::Fence => self.enter_fence(handle),
            Effect::EpochBegin => {
                let Some(window) = self.rma.windows.get_mut(handle) else { return };
                for rank in &sync.ranks {
                    *window.starts.entry(*rank).or_default() += 1;
                }
                window.access = Some(active);
                window.fence = None;
            }
            Effect::ExposureBegin => self.expose(handle, active),
            Effect::EpochEnd => {
                self.tell_complete(handle, None, Which::Epoch);
                let ended = self.end_segment();
                if let Some(window) = self.rma.windows.get_mut(handle) {
                    window.ended = Some(ended);
                }
            }
            Effect::Lock => {
                self.end_segment();
                let segment = self.rma.clock.as_ref().map_or(0, |clock| clock.segment());
                let Some(window) = self.rma.windows.get_mut(handle) else { return };
                window.fence = None;
                let (target, exclusive) = (target(args), sync.exclusive);
                window.locks.push(Lock { target, exclusive, site });
                window.hold(target, exclusive, segment);
            }
            Effect::Unlock => {
                self.tell_complete(handle, target(args), Which::All);
                self.pass_locks(handle, target(args));
            }
            Effect::Flush => self.tell_complete(handle, target(args), Which::All),
            _ => {}
        }
        self.drain(place, out);
    }

    /// A synchronisation call has returned, and done what it is for.
    pub fn after_sync(
        &mut self,
        args: &Args,
        sync: &Synchronisation,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let handle = args.call.at.win.map_or(0, |index| args.words[index]);
        let call = &args.call.name;
        let target = target(args);
        match args.call.effect {
            Effect::Fence => {
                self.complete_locally(handle, None, call, place, out);
                let site = place.site(Some(call), &mut self.stacks);
                let fence = (!sync.last).then_some(site);
                self.leave_fence(handle, fence, place, out);
            }
            Effect::EpochBegin => self.join_exposures(handle, place, out),
            Effect::EpochEnd => {
                self.complete_locally(handle, None, call, place, out);
                self.join_exposures(handle, place, out);
                if let Some(window) = self.rma.windows.get_mut(handle) {
                    window.access = None;
                }
            }
            Effect::ExposureEnd => self.close_exposure(handle, place, out),
            Effect::Lock => self.take_locks(handle, target, place, out),
            Effect::Unlock => {
                self.complete_locally(handle, target, call, place, out);
                self.take_locks(handle, target, place, out);
                let segment = self.rma.clock.as_ref().map_or(0, |clock| clock.segment());
                if let Some(window) = self.rma.windows.get_mut(handle) {
                    let at = window.locks.iter().rposition(|lock| lock.target == target);
                    at.map(|at| window.locks.remove(at));
                    window.release(target, segment);
                }
                self.end_segment();
            }
            Effect::Flush => {
                self.complete_locally(handle, target, call, place, out);
                self.take_locks(handle, target, place, out);
            }
            Effect::FlushLocal => {
                self.complete_locally(handle, target, call, place, out);
                self.tell_complete(handle, target, Which::Reads);
            }
            _ => {}
        }
    }

    /// Operations on a target, or on all, do not use local buffers any more.
    fn complete_locally(
        &mut self,
        handle: usize,
        target: Option<i32>,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.popped(call, place, out);
        let Some(window) = self.rma.windows.get_mut(handle) else { return };
        let concerned = |to: i32| target.is_none_or(|target| to == target);
        let done: SmallVec<[OpId; 8]> =
            window.pending.extract_if(.., |p| concerned(p.target)).map(|p| p.id).collect();
        let mut young = std::mem::take(&mut window.young);
        self.rma.noted_as_of = window.ended.take();
        for id in done {
            self.rma.reads.remove(&id);
            self.finish(id, Some(call), place, out);
        }
        for Young { call, site, mode, bytes, .. } in young.extract_if(.., |y| concerned(y.target)) {
            self.end_young(call, site.pc, mode, bytes);
        }
        if let Some(window) = self.rma.windows.get_mut(handle) {
            window.young = young;
        }
        self.rma.noted_as_of = None;
        self.learn_from_fetches(handle, target, place, out);
    }

    /// Operations on a target, or on all, will be complete there when the call returns; everybody in
    /// the access epoch is told of its end.
    pub(super) fn tell_complete(&mut self, handle: usize, target: Option<i32>, which: Which) {
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(handle) else { return };
        let Some(clock) = &mut rma.clock else { return };
        let concerned = |to: &i32| target.is_none_or(|target| *to == target);
        let to = window.unflushed.iter().filter(|to| concerned(to));
        let mut told: SmallVec<[u32; 8]> = to.filter_map(|to| window.world(*to)).collect();
        if which != Which::Reads {
            window.unflushed.retain(|to| !concerned(to));
        }
        if let Some(access) = window.access.as_ref().filter(|_| which == Which::Epoch) {
            for rank in &access.ranks {
                if !told.contains(rank) {
                    told.push(*rank);
                }
            }
        }
        let (window, origin, segment) = (window.name, clock.me(), clock.segment());
        for rank in told {
            clock.tell(rank, &Notice::Complete { window, origin, segment, which });
        }
    }

    /// The operation of an R-version is complete locally. If it only reads, it has done so.
    pub(super) fn read_from_afar(&mut self, id: OpId) {
        let Some((rank, window, number)) = self.rma.reads.remove(&id) else { return };
        let rma = &mut self.rma;
        let Some(clock) = &mut rma.clock else { return };
        let (origin, segment, which) = (clock.me(), clock.segment(), Which::One(number));
        clock.tell(rank, &Notice::Complete { window, origin, segment, which });
    }

    /// The window is about to be freed.
    pub fn before_window_free(
        &mut self,
        args: &Args,
        handle: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get(handle) else { return };
        let (number, opened) = (window.number, open_epochs(window));
        for opened in opened {
            self.window_misuse(Code::EpochNotClosed, args, number, Some(opened), place, out);
        }
        self.complete_locally(handle, None, &args.call.name, place, out);
        self.enter_fence(handle);
    }

    /// The window has been freed.
    pub fn window_freed(&mut self, handle: usize, place: &impl Place, out: &mut dyn Findings) {
        self.leave_fence(handle, None, place, out);
        self.settle_transfers();
        let Some(window) = self.rma.windows.remove(handle) else { return };
        if let Some(exposed) = &mut self.rma.exposed {
            window.memory.iter().for_each(|bytes| exposed.remove(bytes));
        }
        self.rma.remotes.close(window.name);
        self.rma.stashed.retain(|op| op.window != window.name);
    }

    /// `MPI_Finalize`: windows that are still there.
    pub(super) fn finalize_windows(&mut self, place: &impl Place, out: &mut dyn Findings) {
        self.drain(place, out);
        let left: Vec<_> = self
            .rma
            .windows
            .iter()
            .map(|window| (window.number, window.site, open_epochs(window)))
            .collect();
        let here = place.site(Some("MPI_Finalize"), &mut self.stacks);
        for (number, made, opened) in left {
            for opened in opened {
                let sites = &[(Role::Access, here), (Role::Operation, opened)];
                self.report_window(Code::EpochNotClosed, number, opened, sites, out);
            }
            let sites = &[(Role::Operation, made)];
            self.report_window(Code::WindowNotFreed, number, made, sites, out);
        }
    }

    fn report_window(
        &mut self,
        code: Code,
        window: u32,
        site: Site,
        sites: &[(Role, Site)],
        out: &mut dyn Findings,
    ) {
        let Some(call) = site.call.and_then(crate::calls::named) else { return };
        if out.again(code, 0, site.pc) {
            return;
        }
        let operation = Operation { window: Some(window), ..Operation::at(call, site) };
        let report = Report {
            code,
            access: None,
            operation: &operation,
            concerned: None,
            sites,
            threads: false,
        };
        out.report(&report, &self.stacks);
    }

    /// A call that must not be made in the window's present epoch, which `opened` began.
    fn window_misuse(
        &mut self,
        code: Code,
        args: &Args,
        window: u32,
        opened: Option<Site>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let pc = opened.map_or(0, |site| site.pc);
        if out.again(code, place.pc(), pc) {
            return;
        }
        let mut operation = Operation::new(args, place, &mut self.stacks);
        operation.window = Some(window);
        let mut sites = vec![(Role::Access, operation.site)];
        if let Some(opened) = opened {
            sites.push((Role::Operation, opened));
            operation.site = opened;
        } else {
            operation.site.pc = 0;
        }
        let report = Report {
            code,
            access: None,
            operation: &operation,
            concerned: None,
            sites: &sites,
            threads: false,
        };
        out.report(&report, &self.stacks);
    }
}

/// If a synchronisation call does not fit: the call that opened the epoch it collides with, if one
/// did.
fn misfit(window: &Window, args: &Args) -> Option<Option<Site>> {
    let locked = window.locks.last().map(|lock| lock.site);
    let started = window.access.as_ref().map(|access| access.site);
    let exposed = window.exposure.as_ref().map(|exposure| exposure.site);
    let target = target(args);
    let same = |lock: &&Lock| match (lock.target, target) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    match args.call.effect {
        Effect::Fence => locked.or(started).or(exposed).map(Some),
        Effect::EpochBegin => started.or(locked).map(Some),
        Effect::EpochEnd if started.is_none() => Some(locked),
        Effect::ExposureBegin => exposed.map(Some),
        Effect::ExposureEnd if exposed.is_none() => Some(None),
        Effect::Lock => window.locks.iter().find(same).map(|lock| lock.site).or(started).map(Some),
        Effect::Unlock if !window.locks.iter().any(|lock| lock.target == target) => {
            Some(locked.filter(|_| target.is_none()))
        }
        Effect::Flush | Effect::FlushLocal => match target {
            Some(target) if window.lock_on(target).is_none() => Some(started),
            None if window.locks.is_empty() => Some(started),
            _ => None,
        },
        _ => None,
    }
}

/// What opened the epochs that are still open. That of a fence is if it was used.
fn open_epochs(window: &Window) -> Vec<Site> {
    let locked = window.locks.iter().map(|lock| lock.site);
    let active = [&window.access, &window.exposure].into_iter().flatten().map(|active| active.site);
    locked.chain(active).chain(window.fence.filter(|_| window.used)).collect()
}

impl Made {
    fn own_memory(&self) -> Vec<Range<usize>> {
        let bytes = (!self.dynamic).then(|| self.base..self.base + self.part.size as usize);
        bytes.into_iter().filter(|bytes| !bytes.is_empty()).collect()
    }
}

/// How an accumulate combines, from its call and reduction.
pub fn combine(call: &crate::calls::Call, no_op: bool, op: i32) -> Combine {
    match (call.at.compared.is_some(), no_op) {
        (true, _) => Combine::Swap,
        (false, true) => Combine::Nothing,
        (false, false) => Combine::Op(op),
    }
}
