//! The state of one process, from calls to live ranges and from accesses to findings: the request
//! table, pending operations, windows, communicators and threads.
//!
//! **Soundness.** An operation is live from the call that started it to the call that completed it;
//! an access in between to a byte that it uses, one of them a write, violates MPI 4.1 §3.7.2 (send:
//! "should not modify", receive: "should not access") or §6.12 for collectives, however the library
//! timed it. Reading what a pending operation only reads is legal and never reported.
//! - A send whose active request was freed is complete when this process communicates next
//!   (`requests/detached.rs`): that misses findings, and makes no false ones.
//! - An operation that a finding ended, since its memory was freed, is not reported again.
//! - Whether another copy of an overwritten request exists cannot be seen; only a request that is
//!   never completed by `MPI_Finalize` is reported.

mod accounts;
mod arguments;
mod arrays;
mod assertions;
mod attached;
mod attached_buffer;
mod bounds;
mod checks;
mod collectives;
mod concurrent;
mod conflicts;
mod group_creation;
mod guarded;
mod handles;
mod levels;
mod matched;
mod memory;
mod messages;
mod objects;
mod on_stack;
mod onesided;
mod operation;
mod operations;
mod order;
mod other_work;
mod pairwise_volumes;
mod persistent;
mod races;
mod refused;
mod remote_ops;
mod reporter;
mod rma_operations;
mod separate;
mod shared;
mod steps;
mod streams;
mod symmetric;
mod synchronise;
mod targets;
mod user_operations;
mod waiting;
mod young;

pub use arguments::Wrong;
pub use bounds::{Purpose, Used};
pub use collectives::Entering;
pub use handles::Sought;
pub use levels::ThreadLevel;
pub use onesided::Synchronisation;
pub use operation::Operation;
pub use order::{Acquisition, Template};
pub use other_work::{MetOperation, MetRemote};
pub use pairwise_volumes::Passed;
pub use races::{Got, Standing};
pub use refused::Failure;
pub use rma_operations::{Simple, TargetAccess, combine};
pub use separate::MemoryModel;
pub use shared::Atomic as AtomicUse;
pub use streams::{Enqueued, Step};
pub use symmetric::{Doubt, Moved, moved as moved_by_shmem};
pub use user_operations::Overstep;
pub use waiting::{Asked, Facts, Outside};

use crate::buffers::{Accesses, Args};
use crate::ids::Token;
use crate::nursery::Nursery;
use crate::other_work::Others;
use crate::requests::{Freed, Request, Requests, State};
use crate::steps::Steps;
use crate::threads::Threads;
use accounts::Accounts;
pub use attached_buffer::BufferOwner;
use attached_buffer::LibraryMemory;
use collectives::Together;
use commsan_callsite::{Findings, Place, Report, Site};
use commsan_findings::record::Record;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::Effect;
use commsan_shadow::{Access, Footprint, OpId, Pages};
use levels::ThreadCalls;
use objects::Objects;
use operation::envelope;
use operations::Operations;
use refused::Refused;
use remote_ops::OneSided;
use reporter::Reporter;
use symmetric::Symmetric;

/// Everything that is known of one process: its requests and pending operations, and the state of
/// each kind of check.
pub struct Tracker {
    pages: Pages,
    operations: Operations,
    requests: Requests,
    /// Operations that are not in `operations` and `requests` yet.
    nursery: Nursery,
    /// Memory that passes between the program and the library.
    pub library_memory: LibraryMemory,
    /// One-sided communication, and the order of ranks.
    pub rma: OneSided,
    /// Communicators and the collectives on them.
    pub together: Together,
    threads: Threads,
    /// Calls of several threads.
    pub thread_calls: ThreadCalls,
    others: Others,
    /// What is compared with other ranks when the job is over.
    pub accounts: Accounts,
    /// What others may wait for.
    pub steps: Steps,
    objects: Objects,
    /// Symmetric memory of OpenSHMEM.
    pub symmetric: Symmetric,
    /// Errors that the program has not asked about.
    refused: Refused,
    /// Parts of memory that operations of the program must not access now.
    guarded: usize,
    /// Call stacks, and the findings that need nothing else.
    pub reporter: Reporter,
}

impl Tracker {
    /// Nothing pending.
    pub fn new(pages: Pages) -> Tracker {
        Tracker {
            pages,
            operations: Operations::new(pages),
            requests: Requests::new(pages),
            nursery: Nursery::new(),
            library_memory: LibraryMemory::default(),
            rma: OneSided::new(pages),
            together: Together::default(),
            threads: Threads::default(),
            thread_calls: ThreadCalls::default(),
            others: Others::default(),
            accounts: Accounts::new(pages),
            steps: Steps::default(),
            objects: Objects::default(),
            symmetric: Symmetric::default(),
            refused: Refused::default(),
            guarded: 0,
            reporter: Reporter::default(),
        }
    }

    /// A tracker with every operation in the full structures at once; for tests.
    pub fn without_nursery(pages: Pages) -> Tracker {
        Tracker { nursery: Nursery::closed(), ..Tracker::new(pages) }
    }

    /// The number of the next request, for [`Token::before`].
    pub fn now(&self) -> u64 {
        self.requests.next()
    }

    /// Live ranges, and operations with a buffer on some stack; the hooks skip checks while these
    /// are 0.
    pub fn load(&self) -> (usize, usize) {
        let (ranges, on_stack) = self.nursery.load();
        let remote = self.rma.remotes.ranges() + self.rma.windows.len();
        let shared = self.rma.exposed.as_ref().map_or(0, |exposed| exposed.shared());
        let others = self.others.status();
        let marked =
            others.marked + self.accounts.races.ranges() + self.requests.watched() + self.guarded;
        let on_stack = self.operations.on_stack.len() + on_stack + others.on_stack;
        (self.operations.live.ranges() + ranges + remote + shared + marked, on_stack)
    }

    /// An operation has started; `key` is its request, stored at `variable`. Takes the accesses.
    pub fn start(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        (key, variable): (usize, usize),
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let contiguous = match &*accesses {
            [None, None, None] => Some(0..0),
            [Some(Access { footprint: Footprint::Dense(bytes), .. }), None, None] => {
                Some(bytes.clone())
            }
            _ => None,
        };
        if let Some(bytes) = contiguous
            && self.start_young(args, &bytes, (key, variable), place)
        {
            return;
        }
        self.settle();
        self.check(args, accesses, place, out);
        let of = self.together.of(args);
        let operation = Operation { of, ..self.reporter.operation(args, place) };
        let site = operation.site;
        let id = self.operations.begin(accesses, operation, place);
        self.starts_for_others(id, place, out);
        if matches!(args.call.effect, Effect::Start | Effect::SplitBegin) {
            self.operations.close(id);
        }
        let request = Request::new(key, variable, args.call, State::Active(id));
        if let Some(lost) = self.requests.insert(request)
            && lost.is_active()
        {
            lost.overwritten = Some(Box::new(site));
        }
    }

    /// Whether the handle is a request that is known.
    pub fn knows(&self, token: Token) -> bool {
        self.nursery.knows(token) || self.requests.meant(token) != crate::requests::Meant::Unknown
    }

    /// The operation of a request is complete, and so is the request.
    pub fn complete(
        &mut self,
        token: Token,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.communicated();
        self.settle_if_altered(token);
        if let Some((call, pc, mode, bytes)) = self.nursery.take(token) {
            self.end_young(call, pc, mode, bytes);
            return;
        }
        let (mut done, certain) = self.requests.complete(token);
        for id in done.drain(..) {
            self.request_complete(id, place, out);
            self.look_for_changes(id, out);
            if !certain {
                self.operations.doubt(id, place);
            }
            self.finish(id, Some(call), place, out);
        }
        self.requests.reuse(done);
    }

    /// A call has completed these requests. Libraries give several operations one handle: all short
    /// sends, of which they have copied the bytes. Hooks show where the program stores it, so which
    /// operation is meant. Without them, the others of that handle may be those that were
    /// completed, and what is done with their buffers from now on is no mistake that is certain.
    pub fn doubt_others_of(&mut self, done: &[Token], out: &mut dyn Findings) {
        if self.requests.stores_are_seen() || self.requests.is_empty() {
            return;
        }
        for token in done {
            for id in self.requests.active_with_handle(*token) {
                self.look_for_changes(id, out);
                self.operations.may_be_complete(id);
            }
        }
    }

    /// `MPI_Request_get_status` has returned true: the buffer is free, the request stays.
    pub fn status_true(
        &mut self,
        token: Token,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.settle();
        // A shared handle says nothing about which operation is meant: free them all.
        let mut done = Vec::new();
        self.requests.each(token, |request| {
            match &request.state {
                State::Active(id) => done.push(*id),
                State::Partitions(ids) => done.extend(ids.iter().flatten()),
                State::Inactive | State::Complete => return false,
            }
            request.state = State::Complete;
            false
        });
        for id in done {
            self.operations.doubt(id, place);
            self.finish(id, Some(call), place, out);
        }
    }

    /// The request is about to be freed; returns whether that is an error.
    pub fn free(
        &mut self,
        token: Token,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        self.rma.forget_request(token.key);
        self.settle();
        self.unbalance_request(token, true);
        let Freed { faulty, complete, arrays } = self.requests.free(token);
        for id in complete {
            self.end(id);
        }
        for id in arrays {
            self.finish(id, Some(call), place, out);
        }
        let is_wrong = !faulty.is_empty();
        for ids in faulty {
            // Partitions are one operation.
            if let Some(first) = ids.first() {
                let (code, here) = (Code::ActiveRequestFreed, (call, place));
                self.operations.misuse(code, *first, here, &mut self.reporter, out);
            }
            ids.into_iter().for_each(|id| self.finish(id, None, place, out));
        }
        is_wrong
    }

    /// The operation is cancelled; it must still be completed.
    pub fn cancel(&mut self, token: Token) {
        self.settle();
        self.unbalance_request(token, false);
        self.requests.each(token, |request| {
            request.cancelled = true;
            false
        });
    }

    /// This process has received something from another one, or sent something.
    pub fn communicated(&mut self) {
        self.requests.communicated();
        while let Some(id) = self.requests.pop_detached() {
            self.end(id);
        }
    }

    /// `MPI_Finalize`: what is still pending will never be completed.
    pub fn finalize(&mut self, place: &impl Place, out: &mut dyn Findings) {
        self.accounts.races.write(&self.reporter.stacks, out);
        self.settle();
        let mut never: Vec<(OpId, Option<Site>)> = Vec::new();
        for request in self.requests.iter() {
            match &request.state {
                State::Active(id) => never.push((*id, request.overwritten.as_deref().copied())),
                State::Partitions(ids) => {
                    never.extend(ids.iter().flatten().take(1).map(|id| (*id, None)));
                }
                State::Inactive | State::Complete => {}
            }
        }
        for (id, overwritten) in never {
            let Some(op) = self.operations.live.get(id) else { continue };
            let (code, mut sites) = match overwritten {
                Some(site) => (Code::RequestOverwritten, vec![(Role::Overwrite, site)]),
                None => (Code::RequestNeverCompleted, Vec::new()),
            };
            sites.extend(op.places(None));
            // A finding is known by its first site if it has several.
            let first = if sites.len() > 1 { sites[0].1.pc } else { 0 };
            if out.again(code, first, op.site.pc) {
                continue;
            }
            let report = Report::new(code, self.operations.described(id, op), sites);
            self.reporter.report(report, &op.site, out);
        }
        self.report_lost_requests(out);
        self.finalize_windows(place, out);
        self.enter_finalize(place, out);
        let stacks = &self.reporter.stacks;
        self.accounts.write_messages(&self.together, &self.reporter, out);
        self.steps.write(stacks, out);
        self.accounts.volumes.write(stacks, out);
        self.objects.report_left(stacks, out);
        self.accounts.matched.report_left(stacks, out);
        let all: Vec<OpId> = self.operations.live.iter().map(|(id, _)| id).collect();
        all.into_iter().for_each(|id| self.finish(id, None, place, out));
        self.requests.unwatch();
        self.write_watched(out);
    }

    /// Ends an operation, and writes the site of its completion to the findings that wait for it.
    fn finish(
        &mut self,
        id: OpId,
        call: Option<&'static str>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.note_use(id);
        self.ends_for_others(id);
        self.operations.open(id);
        let Some(operation) = self.operations.live.get_mut(id) else { return };
        let findings = std::mem::take(&mut operation.findings);
        self.operations.forget_frame(id);
        if let Some(call) = call {
            for finding in findings.numbers() {
                let site = place.site(Some(call), &mut self.reporter.stacks);
                out.emit(
                    Record::Completed { id: finding, site: (Role::Completion, site) },
                    &self.reporter.stacks,
                );
            }
            if self.retire(id, call, place) {
                return;
            }
        }
        self.operations.live.end(id);
    }

    fn end(&mut self, id: OpId) {
        self.note_use(id);
        self.ends_for_others(id);
        self.operations.end(id);
    }

    /// Records what an operation that is about to end has done to window memory, unless another
    /// thread than this one may have completed it.
    fn note_use(&self, id: OpId) {
        if self.rma.exposed.is_some()
            && let Some(operation) = self.operations.live.get(id)
            && !operation.known_to_all
        {
            let (call, pc) = (operation.call, operation.site.pc);
            let when = self.rma.noted_as_of;
            self.operations
                .live
                .accesses(id)
                .iter()
                .for_each(|access| self.note(access, call, pc, when));
        }
    }
}
