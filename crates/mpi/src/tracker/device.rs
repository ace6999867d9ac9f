//! Work of CUDA streams beside MPI's operations.
//!
//! **Soundness.** Work is compared with operations that are pending when it is put into its stream, and
//! operations with work that the host has not waited for when they start: MPI orders nothing that a
//! stream does, and a stream nothing that MPI does. While a function of the host is in some stream, which may
//! complete operations there, work is not compared with pending operations; nor is work that may wait until
//! the host stores a flag.

use super::Together;
use super::Tracker;
use crate::rma::message::Announced;
use crate::rma::remote::{Meeting, Remote};
use commsan_callsite::{About, Findings, Place, Report, Side};
use commsan_cuda::{
    Copy, Gpu, Set, SharedEvent, SharedMemory, StreamName, Ticket, Time, Touch, Work,
};
use commsan_findings::{Code, Role};
use commsan_job_shm::ENTRY;
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, OpId, Past, When};
use rustc_hash::FxHasher;
use std::ffi::CStr;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

/// What the board knows a handle by, of an event or of memory.
fn key_of(kind: &str, handle: &[u8; 64]) -> u64 {
    let mut hasher = FxHasher::default();
    (kind, handle).hash(&mut hasher);
    hasher.finish() | 1
}

/// What the shadow knows work by that is over.
const WORK: &CStr = c"stream work";

impl Together {
    /// What is found on the board under a handle.
    fn found(&self, key: u64) -> Option<(u64, u64)> {
        let (rendezvous, _) = self.rendezvous?;
        rendezvous.find(key).map(|entry| (entry[0], entry[1]))
    }

    /// Tells others of the node what a handle stands for. Those who do not find it, since the board is busy or has
    /// forgotten it, report less.
    fn post_handle(&self, key: u64, words: [u64; 2]) {
        if let Some((rendezvous, _)) = self.rendezvous {
            let mut entry = [0; ENTRY];
            entry[..2].copy_from_slice(&words);
            rendezvous.post_here(key, &entry);
        }
    }
}

impl Tracker {
    /// What is known about CUDA.
    pub fn gpu(&mut self) -> &mut Gpu {
        if self.gpu.shares_memory() {
            self.tell_time(None);
        }
        &mut self.gpu
    }

    /// The time among ranks, for memory of devices that several of them use; of what a call has done, if there
    /// is one.
    #[cold]
    pub(super) fn tell_time(&mut self, call: Option<&Call>) {
        let clock = self.rma.clock.as_ref().filter(|clock| !clock.shm().is_off());
        self.gpu.set_time(clock.map(|clock| {
            |time: &mut Time| {
                // Whoever is told something by the call has been told in the segment before.
                let tells = call.is_some_and(|call| call.enters || call.at.dest.is_some());
                (time.rank, time.segment) = (clock.me(), clock.segment() - u32::from(tells));
                time.learns = call.is_some_and(|call| call.enters || call.at.status.is_some());
                time.known.clear();
                time.known.extend_from_slice(clock.row().components());
            }
        }));
    }

    /// An operation has started that may use device memory which other ranks have open.
    pub(super) fn starts_for_others(
        &mut self,
        id: OpId,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.gpu.shares_memory() {
            self.tell_time(None);
            if let Some(operation) = self.operations.live.get(id) {
                let accesses = self.operations.live.accesses(id);
                self.gpu.operation_starts(id, accesses, &operation.call.name, place, out);
            }
        }
    }

    /// It is over.
    pub(super) fn ends_for_others(&mut self, id: OpId) {
        if self.gpu.shares_memory() {
            self.tell_time(None);
            if let Some(operation) = self.operations.live.get(id) {
                self.gpu.operation_ends(
                    id,
                    self.operations.live.accesses(id),
                    &operation.call.name,
                );
            }
        }
    }

    /// Other processes may open an event by a handle.
    pub fn event_exported(&mut self, event: usize, handle: &[u8; 64]) {
        if let Some(SharedEvent { sheet, number }) = self.gpu.event_exported(event) {
            self.together.post_handle(key_of("event", handle), [sheet, number]);
        }
    }

    /// An event was opened by the handle of another process.
    pub fn event_opened(&mut self, event: usize, handle: &[u8; 64]) {
        let entry = self.together.found(key_of("event", handle));
        self.gpu.event_opened(event, entry.map(|(sheet, number)| SharedEvent { sheet, number }));
    }

    /// Other processes may open memory by a handle.
    pub fn memory_exported(&mut self, address: usize, handle: &[u8; 64]) {
        let key = key_of("memory", handle);
        let known = self.together.found(key).map(|(sheet, number)| SharedMemory { sheet, number });
        if let Some(SharedMemory { sheet, number }) = self.gpu.memory_exported(address, known) {
            self.together.post_handle(key, [sheet, number]);
        }
    }

    /// Memory was opened by the handle of another process.
    pub fn memory_opened(
        &mut self,
        address: usize,
        handle: &[u8; 64],
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let found = self.together.found(key_of("memory", handle));
        let shared = found.map(|(sheet, number)| SharedMemory { sheet, number });
        self.tell_time(None);
        self.gpu.memory_opened(address, shared, call, place, out);
    }

    /// Work has been put into a stream.
    pub fn enqueue(&mut self, work: &Work, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        self.accounts.inform_others(); // NCCL, and kernels with memory of others, may tell other ranks
        self.meets_operations(work, place, out);
        let ticket = self.gpu().enqueue(work, place, out);
        self.suspect_operations(work, (work.stream, ticket), place);
        ticket
    }

    /// A copy has been put into a stream.
    pub fn copy(&mut self, copy: &Copy, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        let work = self.gpu.work_of_copy(copy);
        if copy.serialises.is_empty() {
            return self.enqueue(&work, place, out);
        }
        self.gpu.serialise(copy.stream, &copy.serialises);
        let ticket = self.enqueue(&work, place, out);
        self.gpu.serialise(copy.stream, &copy.serialises);
        ticket
    }

    /// Bytes are set in a stream.
    pub fn set(&mut self, set: &Set, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        let work = self.gpu.work_of_set(set);
        self.enqueue(&work, place, out)
    }

    /// A graph has been launched.
    pub fn graph_launched(
        &mut self,
        exec: usize,
        stream: StreamName,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.gpu.makes_graph(stream) {
            return self.gpu().graph_launched(exec, stream, place, out);
        }
        self.accounts.inform_others();
        let all = self.gpu.work_of_graph(exec);
        for (work, _) in &all {
            self.meets_operations(work, place, out);
        }
        self.gpu().graph_launched(exec, stream, place, out);
        for (work, ticket) in &all {
            self.suspect_operations(work, (stream, *ticket), place);
        }
    }

    /// Work against MPI's pending operations.
    fn meets_operations(&mut self, work: &Work, place: &impl Place, out: &mut dyn Findings) {
        if self.is_quiet() || self.gpu.may_wait_for_host(work) || self.gpu.makes_graph(work.stream)
        {
            return;
        }
        for (touch, footprint) in Touch::certain(&work.touches) {
            let access = Access { mode: touch.mode, footprint: footprint.clone() };
            self.meets_operation(work, touch, &access, place, out);
            self.meets_remote(work, touch, &access, place, out);
        }
    }

    /// Work in flight against an operation of another rank.
    pub(super) fn meets_own_work(
        &mut self,
        op: &Announced,
        call: &'static Call,
        access: &Access,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.named(op.window) else { return };
        if self.gpu.is_idle() || window.is_locked(op.epoch, op.origin) {
            return;
        }
        for met in self.gpu.met_by(access, &mut self.reporter.stacks) {
            let side = Side { by: &met.by, mode: met.mode, bytes: met.bytes.clone() };
            let first = Remote::new(op, call);
            let meeting = Meeting { first, access: access.clone(), bytes: met.bytes };
            let about = About::Work { access: Some(met.doing), operation: None };
            let code = Code::WorkMeetsRemote;
            self.rma.report_meeting(
                &self.reporter.stacks,
                code,
                side,
                met.site,
                (&meeting, Some(about)),
                out,
            );
        }
    }

    /// Work against operations of other ranks on this one's windows.
    fn meets_remote(
        &mut self,
        work: &Work,
        touch: &Touch,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        for meeting in self.meetings_with_remotes(access, place, out) {
            let side = Side { by: work.by(), mode: access.mode, bytes: meeting.bytes.clone() };
            let site = place.site(Some(work.call), &mut self.reporter.stacks);
            let doing = self.gpu.doing(work, touch);
            let about = About::Work { access: Some(doing), operation: None };
            let code = Code::WorkMeetsRemote;
            self.rma.report_meeting(
                &self.reporter.stacks,
                code,
                side,
                site,
                (&meeting, Some(about)),
                out,
            );
        }
    }

    /// Notes what work that is over has done to window memory, as of now: the host has waited for it.
    pub(super) fn note_ended_work(&mut self) {
        let Some(exposed) = &self.rma.exposed else { return };
        let when = When { segment: exposed.shadow().segment(), stamp: self.threads.stamp() };
        for ended in self.gpu.take_ended() {
            for (touch, footprint) in Touch::certain(&ended.touches) {
                if !exposed.touches(&footprint.span()) {
                    continue;
                }
                let _ = footprint.visit::<()>(&footprint.span(), &mut |run| {
                    let by = WORK.as_ptr().addr();
                    exposed.shadow().record(when, run, touch.mode, ended.pc, by);
                    ControlFlow::Continue(())
                });
            }
        }
    }

    /// What work may touch against MPI's pending operations.
    fn suspect_operations(&mut self, work: &Work, put: (StreamName, Ticket), place: &impl Place) {
        let doubtful = work.touches.iter().any(|touch| !touch.certain);
        if !doubtful || self.is_quiet() || self.gpu.may_wait_for_host(work) {
            return;
        }
        let site = place.site(Some(work.call), &mut self.reporter.stacks);
        for (access, now) in self.gpu.open_suspects(work, put, &self.reporter.stacks, site) {
            self.settle_if_met(&access);
            let mut met = Vec::new();
            let _ = self.operations.live.meeting::<()>(
                access.mode,
                &access.footprint,
                |id, other, _| {
                    met.push((id, other.clone()));
                    ControlFlow::Continue(())
                },
            );
            for (id, other) in met {
                let Some(operation) = self
                    .operations
                    .live
                    .get(id)
                    .filter(|_| !self.operations.is_over(id, &self.threads))
                else {
                    continue;
                };
                let before = (operation.party(), other);
                self.gpu.suspect_operation(now.clone(), before, &self.reporter.stacks);
            }
        }
    }

    /// Whether nothing of MPI's is pending.
    fn is_quiet(&self) -> bool {
        self.nursery.is_empty() && self.operations.live.ranges() == 0 && self.rma.windows.len() == 0
    }

    fn meets_operation(
        &mut self,
        work: &Work,
        touch: &Touch,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let conflicts = self.met_by(access, false);
        for conflict in conflicts.into_iter().flatten() {
            let Some(operation) = self.operations.live.get(conflict.id) else { continue };
            let code = Code::CallMeetsWork;
            if out.again(code, place.pc(), operation.site.pc) {
                continue;
            }
            let party = operation.party();
            let site = place.site(Some(work.call), &mut self.reporter.stacks);
            let report = Report {
                code,
                access: Some(Side {
                    by: work.by(),
                    mode: touch.mode,
                    bytes: conflict.bytes.clone(),
                }),
                operation: party,
                concerned: Some((conflict.mode, conflict.span.clone(), conflict.touched)),
                sites: &[(Role::Access, site), (Role::Operation, party.site)],
                threads: false,
                about: Some(About::Work {
                    access: Some(self.gpu.doing(work, touch)),
                    operation: None,
                }),
            };
            let number = self.reporter.report(&report, out);
            self.operations.subscribe(conflict.id, number);
        }
    }
}

/// Whether what the shadow has noted is work of a stream.
pub(super) fn is_work(past: &Past) -> bool {
    past.by == WORK.as_ptr().addr()
}
