//! Which threads may call MPI, and what they may do at once (MPI 4.1 §11.6.2).
//!
//! **Soundness.** What counts is the level that MPI provides, not the one that was asked for.
//! - `MPI_THREAD_SINGLE`, `_FUNNELED`: another thread has called than the one that initialised MPI.
//! - `MPI_THREAD_SINGLE`: that one has called in a parallel region in which there are others.
//! - `MPI_Finalize`: another thread has called it than the one that initialised MPI (§11.6.1).
//! - `MPI_THREAD_SERIALIZED`: two threads were in MPI at once, or nothing that the later one has done orders
//!   it after the other's call, so that the schedule alone kept them apart.
//! - Collectives of one communicator: two threads call them, and neither the program's
//!   synchronisation nor a message by way of another rank orders the second after the first's start.
//! - Completion of one request: a thread waits for a request variable that another one is just waiting for;
//!   or finds it null since another one, after which it is not ordered, has completed it.
//!
//! What the schedule kept apart is reported only of programs compiled by commsan, in which it sees
//! atomics, too; of others, what really overlapped. Calls of threads that commsan does not know count as
//! ordered.
//!
//! Missed are threads that only compute with `MPI_THREAD_SINGLE`, which no level would allow to exist, and
//! of calls with `MPI_THREAD_SERIALIZED` all but the last before each.

use super::handles::ObjectUses;
use super::{Operation, Reporter, Tracker};
use crate::ids::{On, Token};
use crate::threads::{Calling, Threads};
use commsan_callsite::{About, Findings, Place, Report, Site};
use commsan_findings::{Code, Role};
use commsan_mpi_calls::{Call, Effect};
use commsan_shadow::Epoch;
use std::collections::VecDeque;
use std::ops::Range;

/// What threads may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// There is one thread.
    Single,
    /// The main thread calls.
    Funneled,
    /// One thread at a time calls.
    Serialized,
    /// Any thread calls at any time.
    Multiple,
}

impl ThreadCalls {
    /// Something is remembered of threads.
    pub fn remember(&mut self) {
        self.remembers = true;
    }
}

impl ThreadLevel {
    /// Its name.
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
    /// Nothing is looked at.
    pub(super) ignored: bool,
    /// The call that has initialised MPI.
    pub(super) began: Option<(&'static Call, Site)>,
    initialised: Option<Initialised>,
    /// The last call, while there are several threads and they must not call at once.
    last: Option<Calling>,
    /// Whether all that orders threads is seen.
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
    /// Whether the call has not returned.
    waits: bool,
    stamp: Epoch,
    site: Site,
}

impl ThreadCalls {
    /// Whether any call of a thread is remembered.
    pub fn are_remembered(&self) -> bool {
        self.remembers
    }

    /// Whether a call of another thread has not returned, or the acting thread is not ordered after it.
    pub(super) fn is_concurrent(&self, before: &Calling, threads: &Threads) -> bool {
        let possible = before.lasts || self.sees_all;
        let is_other = before.stamp.agent != threads.stamp().agent;
        possible && is_other && !threads.comes_after(before.stamp)
    }

    /// Memory that may have held requests has been given back.
    pub(super) fn forget_completions(&mut self, bytes: &Range<usize>) {
        self.completions.retain(|completion| !bytes.contains(&completion.variable));
    }
}

impl Tracker {
    /// What calls of several threads are looked at for, and whether collectives are compared between ranks.
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

    /// This call has begun what is followed.
    pub fn began(&mut self, call: &'static Call, place: &impl Place) -> Site {
        let site = self.reporter.site(call, place);
        self.thread_calls.began = Some((call, site));
        site
    }

    /// Another thread calls than the one that may.
    pub fn excluded(&mut self, call: &'static Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(initialised) = self.thread_calls.initialised else { return };
        let code = match initialised.required >= ThreadLevel::Serialized {
            true => Code::LevelNotProvided,
            false => Code::ThreadExcluded,
        };
        if !out.again(code, place.pc(), initialised.site.pc) {
            let site = self.reporter.site(call, place);
            self.reporter.report_calls(code, site, initialised.site, initialised.about(), out);
        }
    }

    /// The main thread calls in a parallel region of several, which there must not be.
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
            self.reporter.report_calls(code, site, initialised.site, initialised.about(), out);
        }
    }

    /// Another thread than the main thread ends MPI.
    pub fn finalized_elsewhere(
        &mut self,
        call: &'static Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(initialised) = self.thread_calls.initialised else { return };
        let site = self.reporter.site(call, place);
        if site.thread != initialised.site.thread {
            let (code, about) = (Code::FinalizedElsewhere, initialised.about());
            self.reporter.report_calls(code, site, initialised.site, about, out);
        }
    }

    /// One of several threads calls, where one at a time may.
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
            self.reporter.report_calls(code, site, other, initialised.about(), out);
        }
    }

    /// A collective is called; whether another thread's is not ordered before it. What that thread has
    /// done before it entered may have come here by way of another rank.
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
        let told = Epoch { time: now.time.saturating_sub(1), ..now };
        let calling = Calling { stamp: told, site, lasts: true };
        self.together.on.get(on).by_thread = Some(calling);
        self.thread_calls.remembers = true;
        let Some(before) =
            before.filter(|before| self.thread_calls.is_concurrent(before, &self.threads))
        else {
            return false;
        };
        let (code, other) = (Code::CollectivesConcurrent, before.site);
        if !out.again(code, site.pc, other.pc) {
            let on = self.together.words_for(on);
            let about = About::Collective { on, number: 0, passed: None };
            self.reporter.report_calls(code, site, other, about, out);
        }
        true
    }

    /// A call by one of several threads has returned, of a collective on this.
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
                let on = "the request".to_owned();
                let about = About::Collective { on, number: 0, passed: None };
                self.reporter.report_calls(Code::RequestShared, site, other, about, out);
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

    /// The call has returned. What it has not completed is as it was.
    pub fn has_completed(&mut self, tokens: &[Token]) {
        let mut known = std::mem::take(&mut self.thread_calls.completions);
        known.retain_mut(|completion| {
            let token = tokens.iter().find(|token| token.variable == completion.variable);
            completion.waits &= token.is_none();
            token.is_none_or(|token| !self.knows(*token))
        });
        self.thread_calls.completions = known;
    }

    /// There is one thread again: what others have called is over.
    pub fn forget_calls(&mut self) {
        self.thread_calls.last = None;
        self.thread_calls.completions.clear();
        self.thread_calls.remembers = false;
        self.thread_calls.objects.forget();
        self.together.on.forget_threads();
    }
}

impl Reporter {
    /// Reports two calls that do not go together; whether there was something to tell.
    pub(super) fn report_calls(
        &mut self,
        code: Code,
        site: Site,
        other: Site,
        about: About,
        out: &mut dyn Findings,
    ) -> bool {
        let Some(call) = other.call.and_then(commsan_mpi_calls::named) else { return false };
        let report = Report {
            code,
            access: None,
            operation: Operation::at(call, other).party(),
            concerned: None,
            sites: &[(Role::Access, site), (Role::Operation, other)],
            threads: false,
            about: Some(about),
        };
        self.report(&report, out);
        true
    }
}

impl Initialised {
    fn about(&self) -> About {
        About::Level { required: self.required.name(), provided: self.provided.name() }
    }
}
