//! Persistent and partitioned requests: made once, started many times (MPI 4.1 §3.9, chapter 4).

use super::{Operation, Reporter, Tracker, Wrong, envelope};
use crate::buffers::{Accesses, Args, Library};
use crate::ids::Token;
use crate::partitioned::partitions;
use crate::requests::{Persistent, Request, State};
use commsan_callsite::{Findings, Place};
use commsan_findings::Code;
use commsan_mpi_calls::Effect;
use commsan_shadow::Mode;

impl Tracker {
    /// A persistent request has been made.
    pub fn init(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        library: &impl Library,
        (key, variable): (usize, usize),
        place: &impl Place,
    ) {
        let partitioned = args.call.effect == Effect::InitPartitioned;
        let accesses = match partitioned {
            true => partitions(args, library),
            false => accesses.iter_mut().filter_map(Option::take).collect(),
        };
        self.settle();
        let ((peer, tag), of) = (envelope(args), self.together.of(args));
        let messages = self.together.repeated(args, library);
        let mut request = Request::new(key, variable, args.call, State::Inactive);
        request.persistent = Some(Box::new(Persistent {
            accesses,
            partitioned,
            peer,
            tag,
            of,
            made: self.reporter.site(args.call, place),
            messages,
            arrays: None,
        }));
        self.requests.insert(request);
    }

    /// Starting has given a persistent request another handle. Some libraries leave the old handle
    /// to what they still send of the previous start, which they have already reported as complete
    /// (`MPI_Bsend_init`).
    pub fn renamed(&mut self, token: Token, key: usize) {
        self.settle();
        self.requests.rename(token, key);
        self.steps.rename(token.key, key);
        self.objects.rename(token.key, key);
        self.rma.rename_order(token.key, key);
    }

    /// A persistent request is about to be started.
    pub fn go(&mut self, args: &Args, token: Token, place: &impl Place, out: &mut dyn Findings) {
        self.settle();
        let Some(request) = self.requests.one(token) else { return };
        let Some(persistent) = &request.persistent else { return };
        let running = match &request.state {
            State::Active(id) => Some(*id),
            State::Partitions(ids) => ids.iter().flatten().next().copied(),
            State::Inactive | State::Complete => None,
        };
        if request.is_active() {
            // What the library does with a second start is undefined: the operation is no longer
            // followed.
            request.state = State::Inactive;
            let Some(id) = running else { return };
            let (code, here) = (Code::ActiveRequestStarted, (args.call.name.as_str(), place));
            self.operations.misuse(code, id, here, &mut self.reporter, out);
            self.finish(id, None, place, out);
            return;
        }
        let operation = Operation {
            call: request.call,
            peer: persistent.peer,
            tag: persistent.tag,
            of: persistent.of,
            made: Some(persistent.made),
            ..self.reporter.operation(args, place)
        };
        let (accesses, partitioned) = (persistent.accesses.clone(), persistent.partitioned);
        let (call, messages) = (request.call, persistent.messages.clone());
        self.accounts.count_repeated(&messages, call, place, &mut self.reporter);
        self.step_again(&messages, call, token.key, place, out);
        let sends = accesses.first().is_some_and(|a| a.mode == Mode::Read);
        let state = match (partitioned, sends) {
            (true, true) => State::Partitions(vec![None; accesses.len()].into()),
            (true, false) => {
                self.check_all(args, accesses.iter(), place, out);
                let begin = |access| {
                    Some(self.operations.begin(&mut [Some(access)], operation.copy(), place))
                };
                State::Partitions(accesses.into_iter().map(begin).collect())
            }
            (false, _) => {
                self.check_all(args, accesses.iter(), place, out);
                let mut accesses: Vec<_> = accesses.into_iter().map(Some).collect();
                let id = self.operations.begin(&mut accesses, operation, place);
                self.starts_for_others(id, place, out);
                self.operations.close(id);
                State::Active(id)
            }
        };
        if let Some(request) = self.requests.one(token) {
            request.state = state;
        }
    }

    /// The program completes a generalized request. Returns whether the request belongs to another
    /// operation, which is reported.
    pub fn completes_own(
        &mut self,
        args: &Args,
        token: Token,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        self.settle();
        let Some(request) = self.requests.one(token) else { return false };
        if request.call.name == "MPI_Grequest_start" {
            return false;
        }
        let problem = format!("is that of {}: MPI completes it", request.call.name);
        self.reporter.wrong_argument(args, &Wrong::value("request", problem), place, out);
        true
    }

    /// Partitions of a started send are marked as ready.
    pub fn ready(
        &mut self,
        args: &Args,
        token: Token,
        partitions: impl Iterator<Item = usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        for partition in partitions {
            let Some(request) = self.requests.one(token) else { return };
            if let Some(problem) = misfit(request) {
                let wrong = Wrong::value("request", problem.to_owned());
                return self.reporter.wrong_argument(args, &wrong, place, out);
            }
            let (State::Partitions(ids), Some(persistent)) = (&request.state, &request.persistent)
            else {
                return;
            };
            let (is_free, all) = (ids.get(partition).map(Option::is_none), ids.len());
            let access = persistent.accesses.get(partition).cloned();
            let (Some(true), Some(access)) = (is_free, access) else {
                self.reporter.not_ready(args, partition, is_free.is_some(), all, place, out);
                continue;
            };
            let operation = Operation {
                peer: persistent.peer,
                tag: persistent.tag,
                of: persistent.of,
                ..self.reporter.operation(args, place)
            };
            self.check_all(args, std::iter::once(&access), place, out);
            let id = self.operations.begin(&mut [Some(access)], operation, place);
            if let Some(Request { state: State::Partitions(ids), .. }) = self.requests.one(token) {
                ids[partition] = Some(id);
            }
        }
    }

    /// A partition of a started receive has arrived.
    pub fn arrived(
        &mut self,
        token: Token,
        partition: usize,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(Request { state: State::Partitions(ids), .. }) = self.requests.one(token) else {
            return;
        };
        if let Some(id) = ids.get_mut(partition).and_then(Option::take) {
            self.finish(id, Some(call), place, out);
        }
    }
}

/// Why no partition of a request can be marked as ready (MPI 4.1 §4.2.1); `None` if it can.
fn misfit(request: &Request) -> Option<&'static str> {
    let is_partitioned = request.persistent.as_ref().is_some_and(|known| known.partitioned);
    match &request.state {
        _ if !is_partitioned => Some("is of no partitioned operation"),
        _ if request.call.at.dest.is_none() => Some("is that of a receive"),
        State::Inactive => Some("has not been started"),
        _ => None,
    }
}

impl Reporter {
    /// Reports a partition that is already marked as ready, or does not exist (MPI 4.1 §4.2.1).
    fn not_ready(
        &mut self,
        args: &Args,
        partition: usize,
        exists: bool,
        all: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let problem = match exists {
            true => format!("is {partition}, which is marked as ready already"),
            false => format!(
                "is {}, but the partitions are 0 to {}",
                partition as isize,
                all.saturating_sub(1)
            ),
        };
        self.wrong_argument(args, &Wrong::value("partition", problem), place, out);
    }
}
