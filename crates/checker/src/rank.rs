//! MPI's operations and work of CUDA streams in one process.
//!
//! **Soundness.** Work is compared with operations that are pending when it is put into its stream,
//! and operations with work that the host has not waited for when they start: MPI orders nothing
//! that a stream does, and a stream nothing that MPI does. While a function of the host is in some
//! stream, which may complete operations there, work is not compared with pending operations; nor
//! is work that may wait until the host stores a flag.

mod enqueued;
mod streams;

use crate::{Host, Load};
use commsan_callsite::{Findings, Place, Report};
use commsan_cuda::nccl::Act;
use commsan_cuda::nvshmem;
use commsan_cuda::waiting::Meeting;
use commsan_cuda::{
    Gpu, KernelAccess, Release, SharedEvent, SharedMemory, StreamChecker, StreamName, Ticket, Work,
};
use commsan_findings::record::{RawAccess, RawWork};
use commsan_findings::{Code, Role};
use commsan_mpi::Tracker;
use commsan_shadow::{Access, Actor, Conflict, Mode, Pages};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use streams::Streams;

/// What is known of a rank: MPI's operations, and beside them the work of its streams.
pub struct Checker {
    /// MPI's operations. The work of streams is the [`OtherWork`](commsan_mpi::OtherWork) that they
    /// meet.
    pub tracker: Tracker,
}

/// What the rendezvous of a node knows a handle by, of an event or of memory.
fn key_of(kind: &str, handle: &[u8; 64]) -> u64 {
    let mut hasher = FxHasher::default();
    (kind, handle).hash(&mut hasher);
    hasher.finish() | 1
}

impl Checker {
    /// What is known of devices, without news of the time among ranks.
    fn devices(&mut self) -> &mut Gpu {
        &mut Streams::of(self.tracker.other_work()).gpu
    }

    /// Work against MPI's pending operations.
    fn meets_operations(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) {
        if self.tracker.is_quiet()
            || self.devices().may_wait_for_host(work)
            || self.devices().makes_graph(work.stream)
        {
            return;
        }
        for (kernel_access, footprint) in KernelAccess::certain(&work.accesses) {
            let access = Access { mode: kernel_access.mode, footprint: footprint.clone() };
            self.meets_operation(work, kernel_access, &access, place, out);
            self.meets_remote(work, kernel_access, &access, place, out);
        }
    }

    fn meets_operation(
        &mut self,
        work: &Work,
        kernel_access: &KernelAccess,
        access: &Access,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let met: Vec<_> = self.tracker.operations_met_by(access).collect();
        for met in met {
            let code = Code::CallMeetsWork;
            if out.again(code, place.pc(), met.site.pc) {
                continue;
            }
            let doing = self.devices().doing(work, kernel_access);
            let (_, stacks) = self.tracker.other_work_and_stacks();
            let site = place.site(Some(work.call), stacks);
            let Conflict { mode, bytes, span, touched, .. } = &met.conflict;
            let operation = met.operation.clone().with_access(mode.is_write(), span, *touched);
            let made = met.made.map(|made| (Role::Cause, made));
            let sites = [(Role::Access, site), (Role::Operation, met.site)].into_iter().chain(made);
            let sites: Vec<_> = sites.collect();
            let report = Report {
                access: Some(RawAccess::new(work.by(), kernel_access.mode.is_write(), bytes)),
                work: Some(RawWork::new(Some(&doing), None)),
                ..Report::new(code, operation, sites)
            };
            let number = out.report(report, met.site.pc, stacks);
            self.tracker.subscribe_to(&met, number);
        }
    }

    /// Work against operations of other ranks on this one's windows.
    fn meets_remote(
        &mut self,
        work: &Work,
        kernel_access: &KernelAccess,
        access: &Access,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        for met in self.tracker.remotes_met_by(access, &place, out) {
            let side = RawAccess::new(work.by(), access.mode.is_write(), &met.bytes());
            let doing = self.devices().doing(work, kernel_access);
            let site = place.site(Some(work.call), self.tracker.other_work_and_stacks().1);
            self.tracker.report_work_meets_remote(&met, (side, site, &doing), out);
        }
    }

    /// What work may access against MPI's pending operations.
    fn suspect_operations(&mut self, work: &Work, put: (StreamName, Ticket), place: &dyn Place) {
        let doubtful = work.accesses.iter().any(|kernel_access| !kernel_access.certain);
        if !doubtful || self.tracker.is_quiet() || self.devices().may_wait_for_host(work) {
            return;
        }
        for (access, now) in self.devices().open_suspects(work, put, place) {
            for before in self.tracker.accesses_met_by(&access) {
                let (streams, stacks) = self.tracker.other_work_and_stacks();
                Streams::of(streams).gpu.suspect_operation(now.clone(), before, stacks);
            }
        }
    }
}

impl StreamChecker for Checker {
    fn gpu(&mut self) -> &mut Gpu {
        self.tracker.publish_time_if_shared();
        self.devices()
    }

    fn enqueue(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
        // A call may put several pieces of work into streams: operations of other ranks meet the
        // earlier ones.
        self.tracker.other_work_changed();
        // NCCL, and kernels with memory of others, may release to other ranks.
        self.tracker.accounts.inform_others();
        self.meets_operations(work, place, out);
        let ticket = self.gpu().enqueue(work, place, out);
        self.suspect_operations(work, (work.stream, ticket), place);
        self.tracker.acquire_from_streams(&place, out);
        ticket
    }

    fn stream_synchronized(
        &mut self,
        stream: StreamName,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.gpu().stream_synchronized(stream, call, place, out);
        self.tracker.acquire_from_streams(&place, out);
    }

    fn device_synchronized(
        &mut self,
        device: u32,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.gpu().device_synchronized(device, call, place, out);
        self.tracker.acquire_from_streams(&place, out);
    }

    fn event_synchronized(
        &mut self,
        event: usize,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.gpu().event_synchronized(event, call, place, out);
        self.tracker.acquire_from_streams(&place, out);
    }

    fn graph_launched(
        &mut self,
        exec: usize,
        stream: StreamName,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.tracker.other_work_changed();
        if self.devices().makes_graph(stream) {
            return self.gpu().graph_launched(exec, stream, place, out);
        }
        self.tracker.accounts.inform_others();
        let all = self.devices().work_of_graph(exec);
        for (work, _) in &all {
            self.meets_operations(work, place, out);
        }
        self.gpu().graph_launched(exec, stream, place, out);
        for (work, ticket) in &all {
            self.suspect_operations(work, (stream, *ticket), place);
        }
    }

    fn freed(
        &mut self,
        address: usize,
        how: Release,
        call: &'static str,
        device: u32,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        if self.gpu().captures_free(address, how, call, place) {
            return;
        }
        if how != Release::Unregister
            && let Some(bytes) = self.devices().block_at(address)
        {
            self.tracker.device_memory_freed(bytes, call, &place, out);
        }
        self.gpu().freed(address, how, call, device, place, out);
        self.tracker.acquire_from_streams(&place, out);
    }

    fn event_exported(&mut self, event: usize, handle: &[u8; 64]) {
        if let Some(SharedEvent { segment, number }) = self.devices().event_exported(event) {
            self.tracker.together.post_handle(key_of("event", handle), [segment, number]);
        }
    }

    fn event_opened(&mut self, event: usize, handle: &[u8; 64]) {
        let entry = self.tracker.together.find_handle(key_of("event", handle));
        let shared = entry.map(|(segment, number)| SharedEvent { segment, number });
        self.devices().event_opened(event, shared);
    }

    fn memory_exported(&mut self, address: usize, handle: &[u8; 64]) {
        let key = key_of("memory", handle);
        let known = self.tracker.together.find_handle(key);
        let known = known.map(|(segment, number)| SharedMemory { segment, number });
        if let Some(shared) = self.devices().memory_exported(address, known) {
            self.tracker.together.post_handle(key, [shared.segment, shared.number]);
        }
    }

    fn memory_opened(
        &mut self,
        address: usize,
        handle: &[u8; 64],
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let found = self.tracker.together.find_handle(key_of("memory", handle));
        let shared = found.map(|(segment, number)| SharedMemory { segment, number });
        self.tracker.publish_time(None);
        self.devices().memory_opened(address, shared, call, place, out);
    }

    fn nccl(&mut self, act: Act, place: &dyn Place, out: &mut dyn Findings) -> Option<Meeting> {
        let job = self.tracker.together.compared();
        self.devices().nccl(act, job, place, out)
    }

    fn nvshmem(
        &mut self,
        act: nvshmem::Act<'_>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Option<Meeting> {
        if !matches!(act, nvshmem::Act::Wrong(..) | nvshmem::Act::Returned) {
            self.tracker.is_ordered_elsewhere();
        }
        let job = self.tracker.together.compared();
        let meeting = self.devices().nvshmem(act, job, place, out);
        self.tracker.acquire_from_streams(&place, out);
        meeting
    }
}

impl Host for Checker {
    fn new(pages: Pages) -> Checker {
        Checker { tracker: Tracker::new(pages).beside(Box::new(Streams::new(pages))) }
    }

    fn load(&self) -> Load {
        let (ranges, on_stack) = self.tracker.load();
        Load { ranges, on_stack }
    }

    fn knows_threads(&self) -> bool {
        self.tracker.knows_threads()
    }

    fn act_as(&mut self, actor: Option<Actor>, alone: bool) {
        self.tracker.act_as(actor, alone);
    }

    fn access(
        &mut self,
        by: &str,
        mode: Mode,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.tracker.access(by, mode, bytes, place, out);
    }

    fn released(
        &mut self,
        by: &str,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.tracker.released(by, None, bytes, place, out);
    }

    fn leave(&mut self, frame: usize, place: &impl Place, out: &mut dyn Findings) {
        self.tracker.leave(frame, place, out);
    }

    fn ends(&mut self, _: bool, out: &mut dyn Findings) {
        // After MPI_Finalize nothing is followed: communicators may be destroyed then.
        self.devices().nccl_ends(false, out);
    }

    fn with_streams(&mut self, f: impl FnOnce(&mut dyn StreamChecker)) {
        f(self);
        self.tracker.other_work_changed();
    }
}
