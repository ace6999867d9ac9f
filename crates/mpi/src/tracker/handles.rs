//! What several threads do with one object, or one message: free it while another uses it, receive what another
//! has probed (MPI 4.1 §11.6.2, §3.8.2).
//!
//! **Soundness.**
//! - Freed while used: a thread frees a communicator, datatype, window or group that another thread's call
//!   was given, and that call has not returned, or nothing that the thread has done orders it after that.
//!   Missed are uses that come after the object was freed: its handle may stand for another one then.
//! - Probed twice: a thread has probed a message and then received one of its source and tag, and nothing orders
//!   another thread's receive of such a message after the probe. If all such messages are alike and there are enough,
//!   no harm is done, which is why this is a warning.
//!
//! What the schedule kept apart is reported only where all that orders threads is seen, as in `levels.rs`.

use super::Tracker;
use crate::threads::Calling;
use commsan_callsite::{About, Findings, Place, Site};
use commsan_findings::Code;
use commsan_mpi_calls::{Call, Role as Kind};
use std::collections::VecDeque;

/// Uses, and probes, that are remembered.
const MAX_USES: usize = 64;

/// A source and tag on a communicator; either may be a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought {
    /// The communicator's handle.
    pub comm: usize,
    /// `None` for any.
    pub source: Option<i32>,
    /// `None` for any.
    pub tag: Option<i32>,
}

/// What threads have done lately.
#[derive(Default)]
pub(crate) struct ObjectUses {
    uses: VecDeque<Use>,
    probes: VecDeque<Probe>,
}

struct Use {
    object: (Kind, usize),
    calling: Calling,
}

struct Probe {
    found: Sought,
    calling: Calling,
    /// The thread has received such a message since.
    received: bool,
    /// Where another thread may have taken it in between.
    taken: Option<Site>,
}

impl Sought {
    /// Whether a message of the one fits the other.
    fn fits(&self, other: &Sought) -> bool {
        let fits = |a: Option<i32>, b: Option<i32>| a.is_none() || b.is_none() || a == b;
        self.comm == other.comm && fits(self.source, other.source) && fits(self.tag, other.tag)
    }
}

impl ObjectUses {
    /// The calls of this agent have returned.
    pub fn returned(&mut self, agent: u32) {
        let own = self.uses.iter_mut().filter(|used| used.calling.stamp.agent == agent);
        own.for_each(|used| used.calling.lasts = false);
    }

    pub fn forget(&mut self) {
        self.uses.clear();
        self.probes.clear();
    }
}

impl Tracker {
    /// One of several threads gives objects to a call.
    pub fn uses_objects(
        &mut self,
        call: &'static Call,
        objects: &[(Kind, usize)],
        place: &impl Place,
    ) {
        let Some(stamp) = self.threads.actor.as_ref().map(|actor| actor.stamp) else { return };
        if self.thread_calls.ignored {
            return;
        }
        let site = self.reporter.site(call, place);
        let calling = Calling { stamp, site, lasts: true };
        let uses = &mut self.thread_calls.objects.uses;
        for object in objects {
            uses.retain(|used| used.object != *object || used.calling.stamp.agent != stamp.agent);
            uses.truncate(MAX_USES - 1);
            uses.push_front(Use { object: *object, calling });
        }
        self.thread_calls.remember();
    }

    /// One of several threads is about to free an object, for good or, if it is not the last, only its own share of it.
    pub fn frees_object(
        &mut self,
        call: &'static Call,
        object: (Kind, usize),
        is_last: bool,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let mut uses = self.thread_calls.objects.uses.iter().filter(|used| used.object == object);
        let other = uses.find(|used| self.thread_calls.is_concurrent(&used.calling, &self.threads));
        let other = other.map(|used| used.calling.site);
        self.thread_calls.objects.uses.retain(|used| used.object != object);
        let Some(other) = other.filter(|_| is_last && !self.thread_calls.ignored) else { return };
        if out.again(Code::FreedWhileUsed, place.pc(), other.pc) {
            return;
        }
        let site = self.reporter.site(call, place);
        let what = match object.0 {
            Kind::Comm => "the communicator",
            Kind::Datatype => "the datatype",
            Kind::Win => "the window",
            _ => "the group",
        };
        self.reporter.report_calls(Code::FreedWhileUsed, site, other, about(what), out);
    }

    /// One of several threads has found a message, and not received it.
    pub fn probed(&mut self, call: &'static Call, found: Sought, place: &impl Place) {
        let Some(stamp) = self.threads.actor.as_ref().map(|actor| actor.stamp) else { return };
        if self.thread_calls.ignored {
            return;
        }
        let site = self.reporter.site(call, place);
        let calling = Calling { stamp, site, lasts: false };
        let probes = &mut self.thread_calls.objects.probes;
        let is_of = |probe: &Probe| probe.calling.stamp.agent == stamp.agent;
        probes.retain(|probe| !is_of(probe) || probe.received && probe.found != found);
        probes.truncate(MAX_USES - 1);
        probes.push_front(Probe { found, calling, received: false, taken: None });
        self.thread_calls.remember();
    }

    /// One of several threads is about to receive a message.
    pub fn receives(
        &mut self,
        call: &'static Call,
        wanted: Sought,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(stamp) = self.threads.actor.as_ref().map(|actor| actor.stamp) else { return };
        if self.thread_calls.objects.probes.is_empty() {
            return;
        }
        let here = self.reporter.site(call, place);
        let mut found: Option<(Site, Site)> = None;
        let mut probes = std::mem::take(&mut self.thread_calls.objects.probes);
        for probe in probes.iter_mut().filter(|probe| probe.found.fits(&wanted)) {
            if probe.calling.stamp.agent == stamp.agent {
                // What this thread receives otherwise is none of the probe's business.
                if !probe.received {
                    probe.received = true;
                    found = found.or(probe.taken.map(|taker| (taker, probe.calling.site)));
                }
            } else if !self.threads.comes_after(probe.calling.stamp) {
                match probe.received {
                    true if self.thread_calls.sees_all => {
                        found = found.or(Some((here, probe.calling.site)));
                    }
                    true => {}
                    false => probe.taken = Some(here),
                }
            }
        }
        self.thread_calls.objects.probes = probes;
        if let Some((taker, prober)) = found
            && !out.again(Code::ProbedTwice, taker.pc, prober.pc)
        {
            self.reporter.report_calls(Code::ProbedTwice, taker, prober, about("the message"), out);
        }
    }
}

fn about(what: &str) -> About {
    About::Collective { on: what.to_owned(), number: 0, passed: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_fit_any_message_of_their_communicator() {
        let sought = |comm, source, tag| Sought { comm, source, tag };
        let found = sought(1, Some(2), Some(3));
        for (wanted, fits) in [
            (sought(1, Some(2), Some(3)), true),
            (sought(1, None, Some(3)), true),
            (sought(1, Some(2), None), true),
            (sought(1, None, None), true),
            (sought(2, None, None), false),
            (sought(1, Some(1), None), false),
            (sought(1, None, Some(4)), false),
        ] {
            assert_eq!(found.fits(&wanted), fits, "{wanted:?}");
        }
    }
}
