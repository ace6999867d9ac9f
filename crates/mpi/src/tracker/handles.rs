//! Conflicting uses of one object, or one message, by several threads: one frees it while another
//! uses it, or receives what another has probed (MPI 4.1 §11.6.2, §3.8.2).
//!
//! **Soundness.**
//! - Freed while used: a thread frees a communicator, datatype, window or group that another
//!   thread's call was given, and that call has not returned, or does not happen before the free.
//!   Missed are uses after the object was freed: its handle may stand for another object then.
//! - Probed twice: a thread has probed a message and then received one of its source and tag, and
//!   another thread's receive of such a message does not happen before or after both. If all such
//!   messages are alike and there are enough, no harm is done, which is why this is a warning.
//!
//! What only the schedule kept apart is reported only where everything that orders threads is seen,
//! as in `levels.rs`.

use super::Tracker;
use crate::threads::Calling;
use commsan_callsite::{Findings, Place, Site};
use commsan_findings::Code;
use commsan_findings::record::RawCollective;
use commsan_mpi_calls::{Call, Role as Kind};
use std::collections::VecDeque;

/// Uses, and probes, that are remembered at most.
const MAX_USES: usize = 64;

/// A source and tag on a communicator; either may be a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought {
    /// The communicator's handle.
    pub comm: usize,
    /// Rank in the communicator; `None` for any.
    pub source: Option<i32>,
    /// The message's tag; `None` for any.
    pub tag: Option<i32>,
}

/// Recent uses of objects, and probes, by threads.
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
    /// The probing thread has received such a message since.
    received: bool,
    /// Where another thread may have received the probed message in between.
    taken: Option<Site>,
}

impl Sought {
    /// Whether a message that one describes can match the other.
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
    /// One of several threads passes objects to a call.
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

    /// One of several threads is about to free an object; `is_last` is false if it only drops its
    /// own reference.
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
        let what = RawCollective::on(match object.0 {
            Kind::Comm => "the communicator",
            Kind::Datatype => "the datatype",
            Kind::Win => "the window",
            _ => "the group",
        });
        self.reporter.report_calls(Code::FreedWhileUsed, site, other, what, out);
    }

    /// One of several threads has probed a message, and not received it.
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
                // Later receives of this thread are unrelated to the probe.
                if !probe.received {
                    probe.received = true;
                    found = found.or(probe.taken.map(|taker| (taker, probe.calling.site)));
                }
            } else if !self.threads.calls_after(probe.calling.stamp) {
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
            let what = RawCollective::on("the message");
            self.reporter.report_calls(Code::ProbedTwice, taker, prober, what, out);
        }
    }
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
