//! Which operations and requests were followed to their completion, and why others were not: so
//! that no finding means something.
//!
//! Counted are calls that start operations. A call that is reached in several ways, as its function
//! is called from several places, counts as followed if it was in all of them.
//!
//! **Never misreported**: an operation counts as followed only if every way from it was walked to a
//! call that completes it, or to the end, and the bytes of its buffers were known meanwhile.
//! **Missed**: an address that changes beyond what can be compared in the middle of a way.

use super::effects::View;
use super::found::Found;
use super::operation::Operation;
use super::walk::Walker;
use crate::places;
use commsan_findings::{Followed, Unfollowed, Why};
use commsan_ir::{Callee, FunctionId, InstId, Op, Program};
use commsan_points_to::Calls;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A call that starts operations: the function that it is in, and its number there.
type Start = (FunctionId, InstId);

/// What became of one.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    /// Why its buffers were not compared all the way.
    buffers: Option<Why>,
    /// Why its request was not followed; none for one that has no request.
    request: Option<Result<(), Why>>,
}

/// What became of all.
#[derive(Debug, Default)]
pub struct Coverage {
    fates: FxHashMap<Start, Fate>,
}

impl Coverage {
    /// An operation that was walked, or given up where `found` is missing.
    pub fn walked(&mut self, walker: &Walker, operation: &Operation, found: Option<&Found>) {
        let view = walker.view;
        let lost = match found {
            None => Some(Why::TooManyPaths),
            Some(found) if found.lost => Some(Why::UnknownCall),
            Some(_) => None,
        };
        let places = view.places(&Default::default(), operation);
        let mut buffers = operation.buffers.iter().zip(&places.buffers);
        let unknown = buffers
            .any(|(buffer, at)| at.is_none() || !buffer.partial && buffer.length.certain() == 0);
        let request = places.has_request.then(|| match lost {
            Some(why) => Err(why),
            None if places.request.is_none() => Err(Why::Request),
            None => Ok(()),
        });
        let buffers = lost.or(unknown.then_some(Why::Buffer));
        self.add(view, operation.start, Fate { buffers, request });
    }

    /// A call whose operations are not known.
    pub fn skipped(&mut self, view: &View, start: InstId, why: Why) {
        let request = view
            .row(start)
            .is_some_and(|(_, call)| call.at.request.is_some() || call.at.requests.is_some());
        let request = request.then_some(Err(why));
        self.add(view, start, Fate { buffers: Some(why), request });
    }

    fn add(&mut self, view: &View, start: InstId, fate: Fate) {
        let Some((frame, id)) = view.flat.origin(start) else { return };
        let known = self.fates.entry((view.flat.frames[frame].function, id)).or_default();
        known.buffers = known.buffers.or(fate.buffers);
        known.request = match (known.request, fate.request) {
            (Some(Err(why)), _) | (_, Some(Err(why))) => Some(Err(why)),
            (known, new) => known.or(new),
        };
    }

    /// The counts, and the calls that were not followed, by their places.
    pub fn sum(self, program: &Program, calls: &Calls) -> Followed {
        // MPI's own headers, and those of libraries, have functions that nobody may call.
        let is_own = |function: FunctionId| !places::is_packaged(program, function);
        let fates = self.fates.into_iter().filter(|((function, _), _)| is_own(*function));
        let fates: BTreeMap<_, _> = fates.collect();
        let mut followed = Followed { started: fates.len(), ..Followed::default() };
        for ((function, id), fate) in fates {
            followed.operations += usize::from(fate.buffers.is_none());
            followed.requests += usize::from(fate.request.is_some());
            followed.requests_followed +=
                usize::from(fate.request.is_some_and(|fate| fate.is_ok()));
            let Some(why) = fate.buffers.or(fate.request.and_then(Result::err)) else { continue };
            let Some(inst) = program[function].body.as_ref().map(|body| &body[id]) else {
                continue;
            };
            let Op::Call(Callee::Direct(callee)) = inst.op else { continue };
            let name = calls.get(callee).map_or(&program[callee].name, |mpi| &mpi.name);
            let frame = places::frame(program, function, inst.at);
            followed.not_followed.push(Unfollowed {
                call: name.clone(),
                file: frame.file,
                line: frame.line,
                why,
            });
        }
        followed.not_followed.sort();
        followed
    }
}
