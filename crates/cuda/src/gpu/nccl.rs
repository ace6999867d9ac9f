//! NCCL's calls, and what work in flight needs of other ranks.

use super::{Gpu, Ticket};
use crate::nccl::waiting::{HostWait, Meeting};
use crate::nccl::{Act, Job, Making, Origin, Ranks};
use commsan_callsite::{Findings, Need, Place, Site, Stacks};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

impl Gpu {
    /// A communicator of NCCL is about to be made; its rank and size, if the program passes them.
    pub fn nccl_making(
        &mut self,
        origin: Origin<'_>,
        known: [Option<u32>; 2],
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Making {
        let site = place.site(Some(call), &mut self.stacks);
        self.nccl.making(origin, known, site, &self.stacks, out)
    }

    /// A call of NCCL, and where ranks of the job meet. Returns what it needs of other ranks, as
    /// far as it is compared with their calls.
    pub fn nccl(
        &mut self,
        act: Act,
        job: Job,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Option<Meeting> {
        if let Act::Calls(handle, _, stream, _) = act
            && self.makes_graph(stream)
        {
            // It happens when the graph is launched.
            self.nccl.distrust(handle);
        }
        self.nccl.act(act, place, &mut self.stacks, job, out)
    }

    /// No thread ends a group of NCCL any more; with `is_exit`, none destroys a communicator.
    pub fn nccl_ends(&mut self, is_exit: bool, out: &mut dyn Findings) {
        self.nccl.ends(is_exit, &self.stacks, out);
    }

    /// Work in a stream needs other ranks.
    pub fn nccl_in_stream(&mut self, ticket: Ticket, meeting: Meeting) {
        let live = OnceCell::new();
        let all = || self.live.iter().map(|(_, flight)| flight.ticket).collect::<FxHashSet<_>>();
        self.nccl.in_stream(ticket, meeting, |ticket| live.get_or_init(all).contains(&ticket));
    }

    /// The host is about to wait for work; whether some of it needs other ranks, so that this rank
    /// waits for them.
    pub fn host_waits(&mut self, wait: HostWait, call: &'static str, place: &dyn Place) -> bool {
        if !self.nccl.has_work() {
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
        self.nccl.host_waits(site, ahead.into_iter())
    }

    /// The host does not wait any more.
    pub fn host_goes_on(&mut self) {
        self.nccl.host_goes_on();
    }

    /// Where the host waits for work, and what other ranks must call for this to end, with sites in
    /// `stacks`; `None` if it does not wait, or that is not known.
    pub fn needs_of_host(&self, job: Ranks, stacks: &mut Stacks) -> Option<(Site, Vec<Need>)> {
        self.nccl.needs(job, &self.stacks, stacks)
    }

    /// What this rank has called of NCCL that others may need; `None` if that is not known, or this
    /// rank may do more while its threads wait, by functions of the host or operations of MPI that
    /// are in streams.
    pub fn nccl_entered(&self) -> Option<Vec<(u64, u32)>> {
        let is_all = self.host_functions.is_empty() && !self.has_operations();
        self.nccl.entered().filter(|_| is_all)
    }
}
