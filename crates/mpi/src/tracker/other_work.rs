//! Asynchronous work of this process that is not MPI's, beside MPI's operations: what each side
//! asks the other.

use super::{Together, Tracker};
use crate::other_work::{OtherWork, Others};
use crate::rma::message::Announced;
use crate::rma::remote::{Meeting, Remote};
use commsan_callsite::{Doing, Findings, MetWork, Place, Site, Stacks};
use commsan_findings::Code;
use commsan_findings::record::{RawAccess, RawOperation, RawWork};
use commsan_job_shm::{ENTRY, RankTime, Rendezvous};
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Conflict, OpId, Past, When};
use std::ffi::CStr;
use std::ops::{ControlFlow, Range};

/// What the shadow knows work by that is over.
const WORK: &CStr = c"stream work";

/// A pending operation that other work conflicts with.
#[derive(Clone, Debug)]
pub struct MetOperation {
    /// The operation as findings describe it.
    pub operation: RawOperation<'static>,
    /// Where it was started, in the tracker's stacks.
    pub site: Site,
    /// Where its persistent request was made, if it is one of such a request.
    pub made: Option<Site>,
    /// Where and how both use memory.
    pub conflict: Conflict,
}

/// A pending operation of another rank on a window of this one that other work conflicts with.
pub struct MetRemote(Meeting);

impl MetRemote {
    /// Common bytes.
    pub fn bytes(&self) -> Range<usize> {
        self.0.bytes.clone()
    }
}

impl Together {
    /// Where ranks compare what they call together, and this rank, if they do.
    pub fn compared(&self) -> Option<(Rendezvous, u32)> {
        self.rendezvous.filter(|_| !self.ignored)
    }

    /// What was published for a handle by which processes share something.
    pub fn find_handle(&self, key: u64) -> Option<(u64, u64)> {
        let (rendezvous, _) = self.rendezvous?;
        rendezvous.find(key).map(|entry| (entry[0], entry[1]))
    }

    /// Publishes on this node what a handle stands for. Processes that do not find it, since the
    /// rendezvous is busy or has forgotten it, report less.
    pub fn post_handle(&self, key: u64, words: [u64; 2]) {
        if let Some((rendezvous, _)) = self.rendezvous {
            let mut entry = [0; ENTRY];
            entry[..2].copy_from_slice(&words);
            rendezvous.post_here(key, &entry);
        }
    }
}

/// For who knows the other work.
impl Tracker {
    /// This tracker beside other work of the process.
    pub fn beside(self, work: Box<dyn OtherWork>) -> Tracker {
        Tracker { others: Others::new(work), ..self }
    }

    /// The other work, which is used from now on. [`other_work_changed`](Self::other_work_changed)
    /// follows where that changes its [status](crate::Status).
    pub fn other_work(&mut self) -> &mut dyn OtherWork {
        self.others.use_by(self.threads.actor.as_ref())
    }

    /// The other work, and the call stacks that sites of this tracker lie in.
    pub fn other_work_and_stacks(&mut self) -> (&mut dyn OtherWork, &mut Stacks) {
        (self.others.use_by(self.threads.actor.as_ref()), &mut self.reporter.stacks)
    }

    /// Other work may have another [status](crate::Status) now.
    pub fn other_work_changed(&mut self) {
        self.others.refresh();
    }

    /// The block of device memory that an address lies in.
    pub fn device_block(&self, address: usize) -> Option<Range<usize>> {
        self.others.block_around(address)
    }

    /// Publishes the time among ranks to other work that shares memory with other processes.
    #[inline]
    pub fn publish_time_if_shared(&mut self) {
        if self.others.status().shares_memory {
            self.publish_time(None);
        }
    }

    /// Publishes the time among ranks to other work; of what a call has done, if there is one.
    #[cold]
    pub fn publish_time(&mut self, call: Option<&Call>) {
        let clock = self.rma.clock.as_ref().filter(|clock| !clock.shm().is_off());
        self.others.work().set_time(clock.map(|clock| {
            // Whoever acquires this rank's clock by the call acquires that of the segment before.
            let releases = call.is_some_and(|call| call.enters || call.at.dest.is_some());
            // A receive has acquired the sender's clock when its buffer is checked.
            let acquires =
                |call: &Call| (call.enters || call.at.status.is_some()) && !call.only_receives();
            RankTime {
                rank: clock.me(),
                segment: clock.segment() - u32::from(releases),
                known: clock.row().components(),
                acquires: call.is_some_and(acquires),
            }
        }));
    }

    /// Whether no operation is pending.
    pub fn is_quiet(&self) -> bool {
        self.nursery.is_empty() && self.operations.live.ranges() == 0 && self.rma.windows.len() == 0
    }

    /// The pending operations that an access conflicts with, whatever the page filter says.
    pub fn operations_met_by(&mut self, access: &Access) -> impl Iterator<Item = MetOperation> {
        let conflicts = self.met_by(access, false);
        conflicts.into_iter().flatten().filter_map(|conflict| {
            let operation = self.operations.live.get(conflict.id)?;
            let (site, made) = (operation.site, operation.made);
            Some(MetOperation { operation: operation.described(), site, made, conflict })
        })
    }

    /// The pending operations that an access conflicts with, and which of their accesses.
    pub fn accesses_met_by(
        &mut self,
        access: &Access,
    ) -> Vec<(RawOperation<'static>, Site, Access)> {
        self.settle_if_met(access);
        let mut met: Vec<(OpId, Access)> = Vec::new();
        let _ =
            self.operations.live.meeting::<()>(access.mode, &access.footprint, |id, other, _| {
                met.push((id, other.clone()));
                ControlFlow::Continue(())
            });
        let pending = met.into_iter().filter_map(|(id, access)| {
            let is_over = self.operations.is_over(id, &self.threads);
            let operation = self.operations.live.get(id).filter(|_| !is_over)?;
            Some((operation.described(), operation.site, access))
        });
        pending.collect()
    }

    /// A finding about an operation is completed by where that ends.
    pub fn subscribe_to(&mut self, met: &MetOperation, finding: u32) {
        self.operations.subscribe(met.conflict.id, finding);
    }

    /// Operations of other ranks on this one's windows that an access conflicts with.
    pub fn remotes_met_by(
        &mut self,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> Vec<MetRemote> {
        let meetings = self.meetings_with_remotes(access, place, out);
        meetings.into_iter().map(MetRemote).collect()
    }

    /// Reports that work at a site, which is one of this tracker's stacks, conflicts with an
    /// operation of another rank.
    pub fn report_work_meets_remote(
        &mut self,
        met: &MetRemote,
        (access, site, work): (RawAccess<'_>, Site, &Doing),
        out: &mut dyn Findings,
    ) {
        let (code, stacks) = (Code::WorkMeetsRemote, &self.reporter.stacks);
        let work = Some(RawWork::new(Some(work), None));
        self.rma.report_meeting(stacks, code, (access, site), (&met.0, work), out);
    }
}

impl Tracker {
    /// An operation has started that may use memory which other processes have open.
    #[inline]
    pub(super) fn starts_for_others(
        &mut self,
        id: OpId,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.others.status().shares_memory {
            self.publish_time(None);
            if let Some(operation) = self.operations.live.get(id) {
                let (accesses, name) = (self.operations.live.accesses(id), &*operation.call.name);
                self.others.work().operation_started(id, accesses, name, place, out);
            }
        }
    }

    /// An operation that may use memory which other processes have open is over.
    #[inline]
    pub(super) fn ends_for_others(&mut self, id: OpId) {
        if self.others.status().shares_memory {
            self.publish_time(None);
            if let Some(operation) = self.operations.live.get(id) {
                let (accesses, name) = (self.operations.live.accesses(id), &*operation.call.name);
                self.others.work().operation_ended(id, accesses, name);
            }
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
        if !self.others.status().is_busy || window.is_locked(op.epoch, op.origin) {
            return;
        }
        for met in self.others.work().met_by(access, &mut self.reporter.stacks) {
            let MetWork { by, mode, bytes, site, doing } = met;
            let side = RawAccess::new(&by, mode.is_write(), &bytes);
            let (first, access) = (Remote::new(op, call), access.clone());
            let meeting = Meeting { first, access, bytes, missed_by: None };
            self.report_work_meets_remote(&MetRemote(meeting), (side, site, &doing), out);
        }
        self.others.refresh();
    }

    /// Notes what work that is over has done to window memory, as of now: the host has waited for
    /// it.
    #[inline]
    pub(super) fn note_ended_work(&mut self) {
        if self.others.is_used() {
            self.note_work();
        }
    }

    fn note_work(&mut self) {
        let Some(exposed) = &self.rma.exposed else { return };
        let when = When { segment: exposed.shadow().segment(), stamp: self.threads.stamp() };
        self.others.work().take_ended(&mut |pc, mode, footprint| {
            if exposed.touches(&footprint.span()) {
                let _ = footprint.visit::<()>(&footprint.span(), &mut |run| {
                    exposed.shadow().record(when, run, mode, pc, WORK.as_ptr().addr());
                    ControlFlow::Continue(())
                });
            }
        });
    }
}

/// Whether what the shadow has noted is other work.
pub(super) fn is_work(past: &Past) -> bool {
    past.by == WORK.as_ptr().addr()
}
