//! Thread levels: which threads may call MPI, and which calls may overlap (MPI 4.1 §11.6.2).
//!
//! **Soundness.** What counts is the level that MPI provides, not the requested one. Reported are:
//! - `MPI_THREAD_SINGLE`, `MPI_THREAD_FUNNELED`: a thread other than the one that initialised MPI
//!   calls.
//! - `MPI_THREAD_SINGLE`: the main thread calls in a parallel region of several threads.
//! - `MPI_Finalize`: a thread other than the one that initialised MPI calls it (§11.6.1).
//! - `MPI_THREAD_SERIALIZED`: two threads are in MPI at once, or nothing orders the later call
//!   after the earlier one, so that only the schedule kept them apart.
//! - Collectives of one communicator: two threads call them, and neither the program's
//!   synchronisation nor a message by way of another rank orders the second call after the start of
//!   the first.
//! - Completion of one request: a thread waits for a request variable that another thread is
//!   waiting for, or finds it null since another thread, after which it is not ordered, has
//!   completed it.
//!
//! What only the schedule kept apart is reported for programs compiled by commsan, in which it sees
//! atomics, too; for others, only calls that did overlap. Calls of threads that commsan does not
//! know count as ordered.
//!
//! Missed are threads that only compute under `MPI_THREAD_SINGLE`, which no thread level allows,
//! and under `MPI_THREAD_SERIALIZED` all but the last call before each call.

use super::handles::ObjectUses;
use super::{Reporter, Tracker};
use crate::ids::{On, Token};
use crate::threads::{Calling, Threads};
use commsan_callsite::{Findings, Place, Report, Site};
use commsan_findings::record::{RawCollective, RawLevel, RawOperation};
use commsan_findings::{Code, Role};
use commsan_mpi_calls::{Call, Effect};
use commsan_shadow::Epoch;
use std::collections::VecDeque;
use std::ops::Range;

/// The levels of thread support, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// Only one thread exists.
    Single,
    /// Only the main thread calls MPI.
    Funneled,
    /// Threads call MPI one at a time.
    Serialized,
    /// Any thread calls MPI at any time.
    Multiple,
}

impl ThreadCalls {
    /// Some call of a thread is remembered from now on.
    pub fn remember(&mut self) {
        self.remembers = true;
    }
}

impl ThreadLevel {
    /// The level's name in MPI.
    pub fn name(self) -> &'static str {
        match self {
            ThreadLevel::Single => "MPI_THREAD_SINGLE",
            ThreadLevel::Funneled => "MPI_THREAD_FUNNELED",
            ThreadLevel::Serialized => "MPI_THREAD_SERIALIZED",
            ThreadLevel::Multiple => "MPI_THREAD_MULTIPLE",
        }
    }
}

/// Completions that are remembered.
const MAX_COMPLETIONS: usize = 64;

/// Calls of MPI by several threads, as far as the rules for them need.
#[derive(Default)]
pub struct ThreadCalls {
    /// Calls of threads are not checked.
    pub(super) ignored: bool,
    /// The call that has initialised MPI.
    pub(super) began: Option<(&'static Call, Site)>,
    initialised: Option<Initialised>,
    /// The last call, while there are several threads and they must not call at once.
    last: Option<Calling>,
    /// Whether the program's atomics are seen, and so all that orders its threads.
    pub(super) sees_all: bool,
    completions: VecDeque<Completion>,
    /// Whether anything is remembered of threads.
    remembers: bool,
    /// What threads have done with objects and messages.
    pub(super) objects: ObjectUses,
}

#[derive(Clone, Copy)]
struct Initialised {
    required: ThreadLevel,
    provided: ThreadLevel,
    site: Site,
}

/// A thread waits for a request, or has completed it.
struct Completion {
    variable: usize,
    /// Whether the call has not returned yet.
    waits: bool,
    stamp: Epoch,
    site: Site,
}

impl ThreadCalls {
    /// Whether any call of a thread is remembered.
    pub fn are_remembered(&self) -> bool {
        self.remembers
    }

    /// Whether a call of another thread has not returned, or the acting thread is not ordered after
    /// it.
    pub(super) fn is_concurrent(&self, before: &Calling, threads: &Threads) -> bool {
        let possible = before.lasts || self.sees_all;
        let is_other = before.stamp.agent != threads.stamp().agent;
        possible && is_other && !threads.comes_after(before.stamp)
    }

    /// Memory that may have held requests was freed.
    pub(super) fn forget_completions(&mut self, bytes: &Range<usize>) {
        self.completions.retain(|completion| !bytes.contains(&completion.variable));
    }
}

impl Tracker {
    /// Sets whether calls of several threads are checked, and whether collectives are compared
    /// between ranks.
    pub fn limit(&mut self, threads: bool, collectives: bool) {
        self.thread_calls.ignored = !threads;
        self.together.ignored = !collectives;
    }

    /// MPI has been initialised.
    pub fn initialised(
        &mut self,
        call: &'static Call,
        required: ThreadLevel,
        provided: ThreadLevel,
        place: &impl Place,
    ) {
        let site = self.began(call, place);
        if self.thread_calls.ignored {
            return;
        }
        self.thread_calls.initialised = Some(Initialised { required, provided, site });
    }

    /// This call initialised MPI, or a session.
    pub fn began(&mut self, call: &'static Call, place: &impl Place) -> Site {
        let site = self.reporter.site(call, place);
        self.thread_calls.began = Some((call, site));
        site
    }

    /// Reports a call by a thread that may not call MPI.
    pub fn excluded(&mut self, call: &'static Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(initialised) = self.thread_calls.initialised else { return };
        let code = match initialised.required >= ThreadLevel::Serialized {
            true => Code::LevelNotProvided,
            false => Code::ThreadExcluded,
        };
        if !out.again(code, place.pc(), initialised.site.pc) {
            let site = self.reporter.site(call, place);
            self.reporter.report_level(code, site, initialised.site, &initialised, out);
        }
    }

    /// Reports a call of the main thread in a parallel region of several threads, which must not
    /// exist.
    pub fn called_in_region(
        &mut self,
        call: &'static Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(initialised) = self.thread_calls.initialised else { return };
        if initialised.provided > ThreadLevel::Single || call.effect == Effect::Abort {
            return;
        }
        let code = match initialised.required > ThreadLevel::Single {
            true => Code::LevelNotProvided,
            false => Code::ThreadExcluded,
        };
        if !out.again(code, place.pc(), initialised.site.pc) {
            let site = self.reporter.site(call, place);
            self.reporter.report_level(code, site, initialised.site, &initialised, out);
        }
    }

    /// Reports that a thread other than the main thread finalises MPI.
    pub fn finalized_elsewhere(
        &mut self,
        call: &'static Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(initialised) = self.thread_calls.initialised else { return };
        let site = self.reporter.site(call, place);
        if site.thread != initialised.site.thread {
            let code = Code::FinalizedElsewhere;
            self.reporter.report_level(code, site, initialised.site, &initialised, out);
        }
    }

    /// Checks a call by one of several threads, of which one at a time may call.
    pub fn serialised(&mut self, call: &'static Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(initialised) = self.thread_calls.initialised else { return };
        let stamp = self.threads.stamp();
        let known = self.threads.actor.is_some();
        let before = self.thread_calls.last.take().filter(|_| known);
        let site = self.reporter.site(call, place);
        self.thread_calls.last = known.then_some(Calling { stamp, site, lasts: true });
        self.thread_calls.remembers |= known;
        let Some(before) =
            before.filter(|before| self.thread_calls.is_concurrent(before, &self.threads))
        else {
            return;
        };
        let (code, other) = match initialised.required > initialised.provided {
            true => (Code::LevelNotProvided, initialised.site),
            false => (Code::CallsConcurrent, before.site),
        };
        if !out.again(code, site.pc, other.pc) {
            self.reporter.report_level(code, site, other, &initialised, out);
        }
    }

    /// Whether a collective that is about to be called is not ordered after another thread's. What
    /// that thread did before its call may have been acquired by way of another rank.
    pub(super) fn is_unordered(
        &mut self,
        on: On,
        call: &'static Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        if self.thread_calls.ignored {
            return false;
        }
        let now = self.threads.actor.as_ref().map(|actor| actor.stamp);
        let known = self.together.on.get(on);
        let before = known.by_thread.take();
        let Some(now) = now else { return false };
        let site = self.reporter.site(call, place);
        let released = Epoch { time: now.time.saturating_sub(1), ..now };
        let calling = Calling { stamp: released, site, lasts: true };
        self.together.on.get(on).by_thread = Some(calling);
        self.thread_calls.remembers = true;
        let Some(before) =
            before.filter(|before| self.thread_calls.is_concurrent(before, &self.threads))
        else {
            return false;
        };
        let (code, other) = (Code::CollectivesConcurrent, before.site);
        if !out.again(code, site.pc, other.pc) {
            let on = RawCollective::on(self.together.words_for(on));
            self.reporter.report_calls(code, site, other, on, out);
        }
        true
    }

    /// A call by one of several threads has returned; `on` is set for collectives.
    pub fn returned(&mut self, on: Option<On>) {
        let own = self.threads.stamp();
        let of_collective = on.and_then(|on| self.together.on.by_thread(on));
        for calling in self.thread_calls.last.as_mut().into_iter().chain(of_collective) {
            calling.lasts &= calling.stamp.agent != own.agent;
        }
        self.thread_calls.objects.returned(own.agent);
    }

    /// Whether the program's loads and stores are seen, atomics included.
    pub fn sees_accesses(&mut self, all: bool) {
        self.thread_calls.sees_all = all;
        self.threads.sees_all = all;
        self.requests.see_stores(all);
    }

    /// One of several threads is about to wait for requests, or to test them.
    pub fn completing(
        &mut self,
        call: &'static Call,
        tokens: &[Token],
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(now) = self.threads.actor.as_ref().map(|actor| actor.stamp) else { return };
        if self.thread_calls.ignored {
            return;
        }
        let site = self.reporter.site(call, place);
        for token in tokens.iter().filter(|token| token.variable != 0) {
            let active = self.knows(*token);
            let other = self.thread_calls.completions.iter().find(|other| {
                let same = other.variable == token.variable && other.site.thread != site.thread;
                let possible = other.waits || self.thread_calls.sees_all;
                same && possible && other.waits == active && !self.threads.comes_after(other.stamp)
            });
            if let Some(other) = other.map(|other| other.site)
                && !out.again(Code::RequestShared, site.pc, other.pc)
            {
                let on = RawCollective::on("the request");
                self.reporter.report_calls(Code::RequestShared, site, other, on, out);
            }
            if active {
                let variable = token.variable;
                self.thread_calls.completions.retain(|other| other.variable != variable);
                self.thread_calls.completions.truncate(MAX_COMPLETIONS - 1);
                let completion = Completion { variable, waits: true, stamp: now, site };
                self.thread_calls.completions.push_front(completion);
                self.thread_calls.remembers = true;
            }
        }
    }

    /// A call that completes requests has returned. Requests that it has not completed are as
    /// before.
    pub fn has_completed(&mut self, tokens: &[Token]) {
        let mut known = std::mem::take(&mut self.thread_calls.completions);
        known.retain_mut(|completion| {
            let token = tokens.iter().find(|token| token.variable == completion.variable);
            completion.waits &= token.is_none();
            token.is_none_or(|token| !self.knows(*token))
        });
        self.thread_calls.completions = known;
    }

    /// Only one thread exists again: calls of others are over.
    pub fn forget_calls(&mut self) {
        self.thread_calls.last = None;
        self.thread_calls.completions.clear();
        self.thread_calls.remembers = false;
        self.thread_calls.objects.forget();
        self.together.on.forget_threads();
    }
}

impl Reporter {
    /// Reports two calls that conflict in what they have in common; returns false if the other
    /// one's call is not known.
    pub(super) fn report_calls(
        &self,
        code: Code,
        site: Site,
        other: Site,
        common: RawCollective<'_>,
        out: &mut dyn Findings,
    ) -> bool {
        let Some(report) = between(code, site, other) else { return false };
        self.report(Report { collective: Some(common), ..report }, &other, out);
        true
    }

    /// Reports two calls that the thread level does not allow.
    fn report_level(
        &self,
        code: Code,
        site: Site,
        other: Site,
        initialised: &Initialised,
        out: &mut dyn Findings,
    ) {
        let Some(report) = between(code, site, other) else { return };
        let (required, provided) = (initialised.required.name(), initialised.provided.name());
        let level = RawLevel { required: required.into(), provided: provided.into() };
        self.report(Report { level: Some(level), ..report }, &other, out);
    }
}

/// A finding about two calls; `None` if the other one's is not known.
fn between(code: Code, site: Site, other: Site) -> Option<Report<'static>> {
    let call = other.call.and_then(commsan_mpi_calls::named)?;
    let sites = [(Role::Access, site), (Role::Operation, other)];
    Some(Report::new(code, RawOperation::of(&call.name), sites))
}
