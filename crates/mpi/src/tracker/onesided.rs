//! The windows of this process: created and freed, synchronised, and the epochs of each.

use super::{OneSided, Operation, Reporter, Tracker};
use crate::buffers::Args;
use crate::ids::Group;
use crate::rma::clock::Clock;
use crate::rma::message::{RmaMessage, Which};
use crate::rma::windows::{Active, Fetch, Lock, Made, Part, Released, Window, Young};
use commsan_callsite::{Findings, Place, Placed, Report, Site, Stacks};
use commsan_findings::record::RawAccess;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::Effect;
use commsan_shadow::OpId;
use smallvec::SmallVec;
use std::ops::Range;

/// What a call on a window specifies besides its target.
#[derive(Clone, Debug, Default)]
pub struct Synchronisation {
    /// Ranks in the job of the group that the call names.
    pub ranks: Box<[u32]>,
    /// Whether the lock is exclusive.
    pub exclusive: bool,
    /// Whether no operations precede the fence.
    pub first: bool,
    /// Whether no operations follow the fence.
    pub last: bool,
    /// Whether the call asserts that this process has not written to its part since it last
    /// synchronised the window.
    pub no_store: bool,
    /// Whether the call asserts that no rank puts or accumulates into this part until the epoch
    /// ends.
    pub no_put: bool,
    /// Keys and values of the info that affect checks.
    pub info: Vec<(&'static str, String)>,
}

/// The target that a call names.
pub(super) fn target(args: &Args) -> Option<i32> {
    args.call.at.peer.map(|index| args.int(index))
}

impl OneSided {
    /// Sets info keys and values of a window.
    pub fn set_window_info(&mut self, handle: usize, info: &[(&str, String)]) {
        let Some(window) = self.windows.get_mut(handle) else { return };
        info.iter().for_each(|(key, value)| window.made.rules.set(key, value));
    }

    /// Memory is attached to a dynamic window.
    pub fn attach(&mut self, window: usize, bytes: Range<usize>) {
        self.send_attached(window, &bytes, true);
        let Some(window) = self.windows.get_mut(window) else { return };
        window.memory.push(bytes.clone());
        if let Some(exposed) = &mut self.exposed {
            self.incomplete |= !exposed.add(&bytes);
        }
    }

    /// The memory that begins at an address is detached.
    pub fn detach(&mut self, handle: usize, base: usize) {
        let Some(window) = self.windows.get_mut(handle) else { return };
        let Some(at) = window.memory.iter().position(|bytes| bytes.start == base) else { return };
        let bytes = window.memory.swap_remove(at);
        window.released = None;
        self.send_attached(handle, &bytes, false);
        if let Some(exposed) = &mut self.exposed {
            exposed.remove(&bytes);
        }
    }

    /// Sends to all members that memory was attached or detached.
    fn send_attached(&mut self, handle: usize, bytes: &Range<usize>, attached: bool) {
        let (Some(window), Some(clock)) = (self.windows.get(handle), &mut self.clock) else {
            return;
        };
        let (window, members) = (window.name, window.made.group.members.clone());
        for rank in members.iter() {
            let (owner, bytes) = (clock.me(), bytes.clone());
            let message = RmaMessage::Attached { window, owner, bytes, attached };
            clock.send(*rank, &message);
        }
    }
}

impl OneSided {
    /// Memory that windows may expose is about to be freed.
    pub(super) fn window_memory_released(
        &mut self,
        stacks: &mut Stacks,
        by: &str,
        call: Option<&'static str>,
        bytes: &Range<usize>,
        place: &impl Place,
    ) {
        for window in self.windows.iter_mut() {
            let overlap = |memory: &Range<usize>| {
                let both = memory.start.max(bytes.start)..memory.end.min(bytes.end);
                (!both.is_empty()).then_some(both)
            };
            if let Some(bytes) = window.memory.iter().find_map(overlap) {
                let site = place.site(call, stacks);
                window.released.get_or_insert_with(|| Released { by: by.into(), bytes, site });
            }
        }
    }

    /// Checks that the memory of a window that is still used was not freed.
    fn must_have_memory(&mut self, stacks: &Stacks, handle: usize, out: &mut dyn Findings) {
        let Some(window) = self.windows.get_mut(handle) else { return };
        let Some(Released { by, bytes, site }) = window.released.take() else { return };
        let (number, base, made) = (window.number, window.made.base, window.site);
        let code = Code::WindowMemoryFreed;
        let Some(maker) = made.call.and_then(commsan_mpi_calls::named) else { return };
        if out.again(code, site.pc, made.pc) {
            return;
        }
        let (window, base) = (Some(number), Some(base));
        let operation = Operation { window, base, ..Operation::at(maker, made) };
        let operation = operation.described().with_access(true, &bytes, bytes.len());
        let sites = [(Role::Release, site), (Role::Operation, made)];
        let report = Report {
            access: Some(RawAccess::new(&by, true, &bytes)),
            ..Report::new(code, operation, sites)
        };
        out.report(report, made.pc, stacks);
    }
}

impl Tracker {
    /// A group is about to create a window: publishes this process's part.
    pub fn before_window_made(&mut self, group: &Group, part: Part) {
        let name = self.rma.windows.next_name(group);
        let segment = self.end_segment();
        if let Some(clock) = &self.rma.clock {
            clock.shm().publish_part(name, part.size, part.unit);
            clock.shm().enter(name, segment);
        }
    }

    /// A window has been created.
    pub fn window_made(
        &mut self,
        args: &Args,
        mut made: Made,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.rma.clock.as_ref().is_some_and(|clock| !clock.shm().is_complete()) {
            self.rma.disconnect();
        }
        if let Some(clock) = &self.rma.clock {
            let name = self.rma.windows.next_name(&made.group);
            let parts = clock.shm().parts(&made.group.members, name).into_iter();
            made.parts = parts.map(|part| part.map(|(size, unit)| Part { size, unit })).collect();
        }
        made.separate = self.rma.memory_model.is_separate(made.separate);
        let site = self.reporter.site(args.call, place);
        let memory = made.own_memory();
        if let Some(exposed) = &mut self.rma.exposed {
            self.rma.incomplete |= !memory.iter().all(|bytes| exposed.add(bytes));
        }
        let (handle, since) = (made.handle, self.end_segment());
        let views = std::mem::take(&mut made.views);
        self.rma.windows.add(made, memory, site, since);
        if views.len() > 1 {
            self.rma.share_window(handle, views);
        }
        if let Some(window) = self.rma.windows.get_mut(handle) {
            window.publish(since);
        }
        self.met_at_window(handle, place, out);
    }

    /// No rank has a new window before every rank has entered the call: libraries synchronise it.
    fn met_at_window(&mut self, handle: usize, place: &impl Place, out: &mut dyn Findings) {
        let Some(window) = self.rma.windows.get(handle) else { return };
        let (key, group) = (window.name, window.made.group.clone());
        let me = self.rma.clock.as_ref().map_or(0, Clock::me);
        self.acquire_from_collective(key, &group, &group.others(me), true, place, out);
    }

    /// Checks a synchronisation call that is about to be made against the window's epochs, and
    /// releases what it orders.
    pub fn before_sync(
        &mut self,
        args: &Args,
        sync: &Synchronisation,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let handle = args.call.at.win.map_or(0, |index| args.words[index]);
        if args.call.effect != Effect::WindowFree {
            self.rma.must_have_memory(&self.reporter.stacks, handle, out);
        }
        let Some(window) = self.rma.windows.get(handle) else { return };
        let (number, left_open) = (window.number, left_open(window, args, sync));
        if let Some(opened) = misfit(window, args) {
            self.reporter.window_misuse(Code::EpochMismatch, args, number, opened, place, out);
            let opens = [Effect::Lock, Effect::EpochBegin, Effect::ExposureBegin];
            if opens.contains(&args.call.effect) {
                return; // the library refuses it, or goes on as before
            }
        }
        if left_open.is_some() {
            self.reporter.window_misuse(Code::EpochMismatch, args, number, left_open, place, out);
        }
        let site = self.reporter.site(args.call, place);
        if sync.no_store && matches!(args.call.effect, Effect::Fence | Effect::ExposureBegin) {
            self.check_no_store(handle, args, site, place, out);
        }
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
                self.send_complete(handle, None, Which::Epoch);
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
                self.unguard_window(handle);
            }
            Effect::Unlock => {
                self.send_complete(handle, target(args), Which::All);
                self.rma.pass_locks(handle, target(args), &self.threads);
            }
            Effect::Flush => self.send_complete(handle, target(args), Which::All),
            Effect::WindowSync => {
                self.publish(handle);
                self.synchronise_shared(handle, place, out);
            }
            _ => {}
        }
        self.rma.note_synchronised(handle, args, sync.no_put.then_some(site));
        match args.call.effect {
            // Operations that a flush completes concern only this rank: nothing is released.
            Effect::Flush => self.take_messages(place, out),
            _ => self.drain(place, out),
        }
    }

    /// A synchronisation call has succeeded.
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
                let site = place.site(Some(call), &mut self.reporter.stacks);
                let fence = (!sync.last).then_some(site);
                self.leave_fence(handle, fence, place, out);
                self.update_view(handle, place, out);
            }
            Effect::EpochBegin => self.join_exposures(handle, place, out),
            Effect::EpochEnd => {
                self.complete_locally(handle, None, call, place, out);
                self.join_exposures(handle, place, out);
                if let Some(window) = self.rma.windows.get_mut(handle) {
                    window.access = None;
                }
            }
            Effect::ExposureEnd => {
                self.close_exposure(handle, place, out);
                self.update_view(handle, place, out);
            }
            Effect::Lock => {
                self.take_locks(handle, target, place, out);
                self.update_view(handle, place, out);
            }
            Effect::WindowSync => self.update_view(handle, place, out),
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
                self.send_complete(handle, target, Which::Reads);
            }
            _ => {}
        }
    }

    /// Operations on a target, or on all targets, no longer use local buffers.
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
        self.complete_again(handle, target);
        let returned = |fetch: &Fetch| target.is_none_or(|target| fetch.target == target);
        self.acquire_from_fetches(handle, returned, place, out);
    }

    /// Operations on a target, or on all targets, will be complete there when the call returns;
    /// sends that, and the end of the epoch to all its targets.
    pub(super) fn send_complete(&mut self, handle: usize, target: Option<i32>, which: Which) {
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(handle) else { return };
        let Some(clock) = &mut rma.clock else { return };
        let concerned = |to: &i32| target.is_none_or(|target| *to == target);
        if let Some(shared) = &mut window.shared
            && let Some(exposed) = &rma.exposed
        {
            shared.complete(exposed, target, which == Which::Reads, self.threads.stamp());
        }
        let only_reads = which == Which::Reads;
        let to = window.unflushed.iter().filter(|to| concerned(&to.target));
        let to = to.filter(|to| to.reads || !only_reads);
        let mut receivers: SmallVec<[u32; 8]> =
            to.filter_map(|to| window.world(to.target)).collect();
        window.unflushed.retain_mut(|to| {
            to.reads &= !concerned(&to.target);
            only_reads || !concerned(&to.target)
        });
        if let Some(access) = window.access.as_ref().filter(|_| which == Which::Epoch) {
            for rank in &access.ranks {
                if !receivers.contains(rank) {
                    receivers.push(*rank);
                }
            }
        }
        let actor = self.threads.between_ranks();
        if actor.is_some() && !only_reads {
            // What another thread has completed, this one completes, too.
            let members = &window.made.group.members;
            let concerns =
                |to: &u32| target.is_none_or(|target| members.get(target as usize) == Some(to));
            let again: Vec<u32> = clock
                .completed(window.name)
                .filter(|to| concerns(to) && !receivers.contains(to))
                .collect();
            receivers.extend(again);
        }
        for rank in receivers {
            match which {
                Which::All => clock.complete(rank, window.name, actor),
                _ => clock.send_complete(rank, window.name, which, actor),
            }
        }
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
            self.reporter.window_misuse(
                Code::EpochNotClosed,
                args,
                number,
                Some(opened),
                place,
                out,
            );
        }
        self.complete_locally(handle, None, &args.call.name, place, out);
        self.enter_fence(handle);
    }

    /// The window has been freed.
    pub fn window_freed(&mut self, handle: usize, place: &impl Place, out: &mut dyn Findings) {
        self.leave_fence(handle, None, place, out);
        // By now all ranks have published their accesses to the window.
        self.rma.publish_shared(&mut self.reporter.stacks);
        self.report_shared(place, out);
        self.update_view(handle, place, out);
        self.settle_rma();
        let Some(mut window) = self.rma.windows.remove(handle) else { return };
        if let Some(exposed) = &mut self.rma.exposed {
            window.memory.iter().for_each(|bytes| exposed.remove(bytes));
        }
        if let Some(shared) = window.shared.take() {
            self.rma.unshare_window(shared);
        }
        self.rma.remotes.close(window.name);
        self.rma.stashed.retain(|op| op.window != window.name);
    }

    /// `MPI_Finalize`: reports windows that were not freed.
    pub(super) fn finalize_windows(&mut self, place: &impl Place, out: &mut dyn Findings) {
        self.rma.reveal_shared(&mut self.reporter.stacks);
        self.drain(place, out);
        let left: Vec<_> = self
            .rma
            .windows
            .iter()
            .map(|window| (window.number, window.site, open_epochs(window)))
            .collect();
        let last = self.thread_calls.last_call().map(|call| &*call.name);
        let here = place.site(last, &mut self.reporter.stacks);
        for (number, made, opened) in left {
            for opened in opened {
                let sites = vec![(Role::Access, here), (Role::Operation, opened)];
                self.reporter.report_window(Code::EpochNotClosed, number, opened, sites, out);
            }
            let sites = vec![(Role::Operation, made)];
            self.reporter.report_window(Code::WindowNotFreed, number, made, sites, out);
        }
    }
}

impl Reporter {
    fn report_window(
        &mut self,
        code: Code,
        window: u32,
        site: Site,
        sites: Vec<Placed>,
        out: &mut dyn Findings,
    ) {
        let Some(call) = site.call.and_then(commsan_mpi_calls::named) else { return };
        let offender = if sites.len() > 1 { sites[0].1.pc } else { 0 };
        if out.again(code, offender, site.pc) {
            return;
        }
        let operation = Operation { window: Some(window), ..Operation::at(call, site) };
        self.report(Report::new(code, operation.described(), sites), &site, out);
    }

    /// Reports a call that is not allowed in the window's present epoch, which `opened` began.
    pub(super) fn window_misuse(
        &mut self,
        code: Code,
        args: &Args,
        window: u32,
        opened: Option<Site>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let known = match opened {
            Some(opened) => out.again(code, place.pc(), opened.pc),
            None => out.again(code, 0, place.pc()),
        };
        if known {
            return;
        }
        let mut operation = self.operation(args, place);
        operation.window = Some(window);
        let mut sites = vec![(Role::Access, operation.site)];
        if let Some(opened) = opened {
            sites.push((Role::Operation, opened));
            operation.site = opened;
        }
        self.report(Report::new(code, operation.described(), sites), &operation.site, out);
    }
}

/// If a synchronisation call does not match the window's epochs: the call that opened the
/// conflicting epoch, if any.
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

/// The fence whose operations no fence completes, because this call begins another epoch, or
/// asserts that it completes none.
fn left_open(window: &Window, args: &Args, sync: &Synchronisation) -> Option<Site> {
    let leaves = match args.call.effect {
        Effect::Lock | Effect::EpochBegin | Effect::ExposureBegin => true,
        Effect::Fence => sync.first,
        _ => false,
    };
    window.fence.filter(|_| leaves && window.used)
}

/// The calls that opened the epochs which are still open; a fence only if its epoch was used.
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
