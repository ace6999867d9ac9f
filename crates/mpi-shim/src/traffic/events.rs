//! Events of calls: their messages and collectives, and what requests stand for.

use super::counting::Parts;
use super::{Described, Done};
use crate::library::is_complete;
use crate::outcome::{each_request, flag_of, request_at};
use commsan_counters::{EventOf, Meeting, Traffic};
use commsan_mpi::Args;
use commsan_mpi_calls::{self as calls, Effect};
use commsan_rundir::events::Flow;
use smallvec::SmallVec;
use std::iter::repeat;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Requests that a call may complete, and the addresses of their variables; as many as most calls
/// have at most.
pub(super) type Pending = SmallVec<[(usize, usize); 16]>;

/// Requests that a call has begun, or completed or freed.
pub(super) type Requests = SmallVec<[usize; 16]>;

static ARE_RECORDED: AtomicBool = AtomicBool::new(false);

/// Whether events are recorded, from MPI's initialisation on.
#[inline]
pub(super) fn are_recorded() -> bool {
    ARE_RECORDED.load(Relaxed)
}

/// MPI is initialised.
pub(super) fn begin(traffic: &Traffic) {
    ARE_RECORDED.store(traffic.has_events(), Relaxed);
}

/// The requests that the call may complete, before it is made.
#[inline]
pub(super) fn pending(args: &Args) -> Pending {
    use Effect::*;
    let mut pending = Pending::new();
    if are_recorded()
        && matches!(
            args.call.effect,
            Wait | Test | WaitAll | TestAll | WaitAny | TestAny | Some | Free
        )
    {
        each_request(args, |key, variable| pending.push((key, variable)));
    }
    pending
}

/// Those that the call has completed.
#[inline]
pub(super) fn completed(args: &Args, pending: &Pending) -> Requests {
    if pending.is_empty() {
        return Requests::new();
    }
    let all = pending.iter();
    match args.call.effect {
        Effect::Wait | Effect::WaitAll | Effect::Free => all.map(|(key, _)| *key).collect(),
        Effect::Test | Effect::TestAll if flag_of(args) => all.map(|(key, _)| *key).collect(),
        // Completion makes a request null, unless it is persistent.
        _ => {
            // SAFETY: the call's own requests.
            let is_new = |key, variable| unsafe { request_at(variable, args.fortran) } != key;
            let done = all.filter(|(key, variable)| *variable != 0 && is_new(*key, *variable));
            done.map(|(key, _)| *key).collect()
        }
    }
}

/// The requests that stand for what the call has begun, but for a send that is complete at once:
/// then nobody waits for it, and others have the same request.
#[inline]
pub(super) fn begun(args: &Args) -> Requests {
    let mut begun = Requests::new();
    match args.call.effect {
        Effect::Start => {
            let variable = args.call.at.request.map_or(0, |index| args.words[index]);
            if variable == 0 {
                return begun;
            }
            // SAFETY: the call has succeeded and stored a request there.
            let request = unsafe { request_at(variable, args.fortran) };
            if args.call.at.dest.is_none() || !is_complete(request) {
                begun.push(request);
            }
        }
        Effect::Go | Effect::GoAll => each_request(args, |key, _| begun.push(key)),
        _ => {}
    }
    begun
}

impl Done<'_> {
    /// Records the call, which has moved `all`. Returns what its events are.
    pub(super) fn record_event(
        &self,
        traffic: &mut Traffic,
        calls: u32,
        all: &[Described],
        mut parts: Parts,
    ) -> Option<EventOf> {
        if !traffic.has_events() {
            return None;
        }
        let meeting = self.meeting(traffic, all);
        let begins = matches!(self.args.call.effect, Effect::Start | Effect::Go | Effect::GoAll);
        let of = traffic.event_of(calls, self.here.thread.number(), begins, meeting)?;
        parts.extend(self.completed.iter().filter_map(|request| traffic.completed(*request)));
        traffic.record_event(of, self.times, &parts);
        // Of several, each stands for one message.
        let each = if self.begun.len() > 1 { 1 } else { parts.len().max(1) };
        for (request, part) in self.begun.iter().zip(parts.chunks(each).chain(repeat(&[][..]))) {
            traffic.begun(of, *request, part);
        }
        Some(of)
    }

    /// The collective that the call is.
    fn meeting(&self, traffic: &Traffic, all: &[Described]) -> Option<Meeting> {
        let [Described { handle: Some(communicator), .. }] = all else { return None };
        let call = self.args.call;
        if !call.collective || call.at.comm.is_none() {
            return None;
        }
        let flow = match call.flow {
            calls::Flow::None => return None,
            calls::Flow::All => Flow::All,
            calls::Flow::FromRoot => Flow::FromRoot,
            calls::Flow::ToRoot => Flow::ToRoot,
            calls::Flow::Upwards | calls::Flow::Neighbours => Flow::Some,
        };
        let root = call.at.root.and_then(|index| u32::try_from(self.args.int(index)).ok());
        let group = traffic.group_of(*communicator)?;
        Some(Meeting { communicator: *communicator, group, flow, root })
    }
}
