//! What work in flight, and the host's calls, need of other ranks.

use super::{Gpu, Ticket};
use crate::waiting::{HostWait, Meeting, Ranks};
use commsan_callsite::{Need, Place, Site, Stacks};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

impl Gpu {
    /// Work in a stream needs other ranks.
    pub fn meets_in_stream(&mut self, ticket: Ticket, meeting: Meeting) {
        let live = OnceCell::new();
        let all = || self.live.iter().map(|(_, flight)| flight.ticket).collect::<FxHashSet<_>>();
        self.meetings.in_stream(ticket, meeting, |ticket| live.get_or_init(all).contains(&ticket));
    }

    /// The host is about to wait for work; whether some of it needs other ranks, so that this rank
    /// waits for them.
    pub fn host_waits(&mut self, wait: HostWait, call: &'static str, place: &dyn Place) -> bool {
        if !self.meetings.has_work() {
            return false;
        }
        let clock = match wait {
            HostWait::Stream(stream) => {
                let slot = self.slot(stream);
                self.order.of_stream(slot)
            }
            HostWait::Device(device) => self.order.of_device(device),
            HostWait::Event(event) => self.event(event).unwrap_or_default(),
        };
        let ahead = self.live.iter().filter(|(_, flight)| flight.epoch.happens_before(&clock));
        let mut ahead: Vec<_> = ahead.map(|(_, flight)| (flight.ticket, flight.site)).collect();
        ahead.sort_by_key(|(ticket, _)| *ticket);
        let site = place.site(Some(call), &mut self.stacks);
        self.meetings.host_waits(site, ahead.into_iter())
    }

    /// The host is about to call what needs other ranks; which and how is not known if that is
    /// `None`.
    pub fn host_calls(&mut self, call: &'static str, meeting: Option<Meeting>, place: &dyn Place) {
        let site = place.site(Some(call), &mut self.stacks);
        self.meetings.host_calls(site, meeting);
    }

    /// The host does not wait any more.
    pub fn host_goes_on(&mut self) {
        self.meetings.host_goes_on();
    }

    /// Where the host waits for work, and what other ranks must call for this to end, with sites in
    /// `stacks`; `None` if it does not wait, or that is not known.
    pub fn needs_of_host(&self, job: Ranks, stacks: &mut Stacks) -> Option<(Site, Vec<Need>)> {
        self.meetings.needs(job, &self.stacks, stacks)
    }

    /// What this rank has called of NCCL and NVSHMEM that others may need; `None` if that is not
    /// known, or this rank may do more while its threads wait, by functions of the host or
    /// operations of MPI that are in streams.
    pub fn entered(&self) -> Option<Vec<(u64, u32)>> {
        if !self.host_functions.is_empty() || self.has_operations() {
            return None;
        }
        let mut all = self.nccl.entered()?;
        all.extend(self.nvshmem.entered()?);
        Some(all)
    }
}
