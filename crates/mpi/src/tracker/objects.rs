//! Objects of MPI that a program makes and never frees: files (MPI 4.1 §14.2.1), communicators, datatypes, reductions and
//! persistent requests, and for those who ask (`--leaks`) groups.
//!
//! **Soundness.** Reported is what the program itself made by a call and has not freed when the last callback of
//! `MPI_COMM_SELF`'s attributes has run. `MPI_Finalize` frees nothing of it (MPI 4.1 §11.2.2). But for files, that is no
//! error: it costs memory, and a program that goes on making such objects runs out of them. Missed are objects of calls
//! that commsan does not look at (what `MPI_Type_get_contents` hands out, keys, error handlers and infos), and, where a library hands out one handle for several objects,
//! which of them is left. Windows are another matter (CS-WIN-05).
//!
//! Files that are closed while operations on them are pending are an error of their own (§14.2.2), told of operations
//! whose requests have neither been completed nor freed.

use super::Tracker;
use crate::ids::On;
use crate::requests::State;
use commsan_callsite::{Findings, Party, Place, Report, Site, Stacks};
use commsan_findings::{Code, Role};
use commsan_mpi_calls::{Call, Object};
use commsan_shadow::OpId;
use rustc_hash::FxHashMap;

/// What the program has made and not freed.
#[derive(Default)]
pub(super) struct Objects {
    /// Where, and as the how many-th: one handle may stand for several objects, and be freed for each.
    made: FxHashMap<(Object, usize), Vec<(u64, Site)>>,
    count: u64,
}

impl Objects {
    /// A persistent request has got another handle.
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
    /// Reports those that are left, in the order in which they were made.
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
            let report = Report {
                code,
                access: None,
                operation: Party::at(site.call.unwrap_or_default(), site),
                concerned: None,
                sites: &[(Role::Operation, site)],
                threads: false,
                about: None,
            };
            out.report(&report, stacks);
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

    /// A call has freed one.
    pub fn object_freed(&mut self, object: Object, handle: usize) {
        let made = &mut self.objects.made;
        if let Some(sites) = made.get_mut(&(object, handle)) {
            sites.pop();
            if sites.is_empty() {
                made.remove(&(object, handle));
            }
        }
    }

    /// A file is about to be closed, or a communicator disconnected: its operations must be complete (MPI 4.1 §14.2.2,
    /// §11.10.4).
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

    /// Reports the requests of one-sided operations that the end of their epoch has completed, and nobody freed.
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
            if out.again(Code::RequestNeverCompleted, 0, site.pc) {
                continue;
            }
            let report = Report {
                code: Code::RequestNeverCompleted,
                access: None,
                operation: Party::at(&call.name, site),
                concerned: None,
                sites: &[(Role::Operation, site)],
                threads: false,
                about: None,
            };
            self.reporter.report(&report, out);
        }
    }
}
