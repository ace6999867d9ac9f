//! Objects of MPI that a program makes and never frees: files (MPI 4.1 §14.2.1), communicators,
//! datatypes, reductions and persistent requests, and groups with `--leaks`.
//!
//! **Soundness.** Reported is what the program itself made by a call and has not freed when the
//! last callback of `MPI_COMM_SELF`'s attributes has run. `MPI_Finalize` frees none of it (MPI 4.1
//! §11.2.2). Except for files, that is no error: it costs memory, and a program that keeps making
//! such objects runs out of it. Missed are objects of calls that commsan does not follow (what
//! `MPI_Type_get_contents` returns, keys, error handlers and infos), and, where a library uses one
//! handle for several objects, which of them is left. Windows have a finding of their own
//! (CS-WIN-05).
//!
//! Closing a file while operations on it are pending is an error of its own (§14.2.2), reported for
//! operations whose requests have neither been completed nor freed.

use super::Tracker;
use crate::ids::On;
use crate::requests::State;
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_findings::record::RawOperation;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::{Call, Object};
use commsan_shadow::OpId;
use rustc_hash::FxHashMap;

/// What the program has made and not freed.
#[derive(Default)]
pub(super) struct Objects {
    /// Where each object was made, with its number: one handle may stand for several objects, and
    /// be freed for each.
    made: FxHashMap<(Object, usize), Vec<(u64, Site)>>,
    count: u64,
}

impl Objects {
    /// Starting has given a persistent request another handle.
    pub fn rename(&mut self, old: usize, new: usize) {
        let Some(sites) = self.made.get_mut(&(Object::Request, old)) else { return };
        let moved = sites.pop();
        if sites.is_empty() {
            self.made.remove(&(Object::Request, old));
        }
        self.made.entry((Object::Request, new)).or_default().extend(moved);
    }
}

impl Objects {
    /// Where the objects of a kind that are not freed were made.
    pub(super) fn made_of(&self, kind: Object) -> impl Iterator<Item = &Site> {
        let made = self.made.iter().filter(move |((object, _), _)| *object == kind);
        made.flat_map(|(_, sites)| sites.iter().map(|(_, site)| site))
    }

    /// Reports the objects that are left, in the order in which they were made.
    pub(super) fn report_left(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        let made = self.made.drain();
        let mut left: Vec<_> = made
            .flat_map(|((object, _), sites)| sites.into_iter().map(move |site| (object, site)))
            .collect();
        left.sort_unstable_by_key(|(_, (count, _))| *count);
        for (object, (_, site)) in left {
            let code = match object {
                Object::File => Code::FileNotClosed,
                _ => Code::ObjectNotFreed,
            };
            if out.again(code, 0, site.pc) {
                continue;
            }
            let operation = RawOperation::of(site.call.unwrap_or_default());
            let report = Report::new(code, operation, [(Role::Operation, site)]);
            out.report(report, site.pc, stacks);
        }
    }
}

impl Tracker {
    /// A call has made an object.
    pub fn object_made(
        &mut self,
        call: &'static Call,
        (object, handle): (Object, usize),
        place: &impl Place,
    ) {
        let site = self.reporter.site(call, place);
        self.objects.count += 1;
        let made = self.objects.made.entry((object, handle)).or_default();
        made.push((self.objects.count, site));
    }

    /// A call has freed an object.
    pub fn object_freed(&mut self, object: Object, handle: usize) {
        let made = &mut self.objects.made;
        if let Some(sites) = made.get_mut(&(object, handle)) {
            sites.pop();
            if sites.is_empty() {
                made.remove(&(object, handle));
            }
        }
    }

    /// Checks that the operations of a file that is about to be closed, or of a communicator that
    /// is about to be disconnected, are complete (MPI 4.1 §14.2.2, §11.10.4).
    pub fn closes(
        &mut self,
        on: On,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.settle();
        let pending = self.requests.iter().filter_map(|request| match request.state {
            State::Active(id) => Some(id),
            _ => None,
        });
        let is_on = |id: &OpId| {
            self.operations.live.get(*id).is_some_and(|operation| operation.of.on == Some(on))
        };
        let pending: Vec<_> = pending.filter(is_on).collect();
        for id in pending {
            let (code, here) = (Code::FileClosedEarly, (call, place));
            self.operations.misuse(code, id, here, &mut self.reporter, out);
        }
    }

    /// Reports requests of one-sided operations that were completed by the end of their epoch, and
    /// never freed.
    pub(super) fn report_lost_requests(&mut self, out: &mut dyn Findings) {
        let lost: Vec<_> = self
            .requests
            .iter()
            .filter_map(|request| match (&request.state, &request.began) {
                (State::Active(id), Some(began)) if self.operations.live.get(*id).is_none() => {
                    Some((request.call, **began))
                }
                _ => None,
            })
            .collect();
        for (call, site) in lost {
            let code = Code::RequestNeverCompleted;
            if out.again(code, 0, site.pc) {
                continue;
            }
            let operation = RawOperation::of(&call.name);
            let report = Report::new(code, operation, [(Role::Operation, site)]);
            self.reporter.report(report, &site, out);
        }
    }
}
