//! From calls to the steps for which other ranks may wait; see [`crate::steps`].

use super::{Got, OneSided, Tracker};
use crate::buffers::{Args, Library};
use crate::ids::{On, Token};
use crate::ledger::Repeated;
use crate::steps::{Begun, Comm, Steps, sends};
use commsan_callsite::{Findings, Place, Stacks};
use commsan_findings::record::Record;
use commsan_findings::{Message, Step, Wanted};
use commsan_mpi_calls::{Call, Effect, Flow};
use std::borrow::Cow;

impl OneSided {
    pub(super) fn place_of(
        &mut self,
        stacks: &mut Stacks,
        call: &'static Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> u32 {
        let site = place.site(Some(&call.name), stacks);
        self.number_of(stacks, &site, call, out)
    }
}

impl Steps {
    /// Writes the steps to the log.
    pub(super) fn write(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        let Some((steps, comms)) = self.known() else { return };
        for comm in comms {
            let (on, members) = (Cow::Borrowed(&*comm.on), Cow::Borrowed(&*comm.members));
            out.emit(Record::Communicator { name: comm.name, on, members }, stacks);
        }
        out.emit(Record::Steps { steps: Cow::Borrowed(steps) }, stacks);
        if let Some((sure, ordered)) = self.timing() {
            out.emit(Record::Timing { sure, ordered }, stacks);
        }
    }
}

impl Tracker {
    /// A call has succeeded, and started an operation with a request, if any; else it has got a
    /// message, if it is known which.
    pub fn step<L: Library>(
        &mut self,
        args: &Args,
        request: Option<usize>,
        got: Option<Got>,
        place: &impl Place,
        library: &L,
        out: &mut dyn Findings,
    ) {
        let comm = args.call.at.comm.map(|index| args.words[index]);
        let message = got.as_ref().and_then(|got| self.sent_by(comm?, got));
        match self.begun(args, message, (place, library), out) {
            // A request is recorded even if its steps are empty: another one may have its handle.
            Some(begun) => self.steps.begin(&begun, request, message),
            None => self.steps.end(),
        }
        self.watch_status(got.filter(|_| args.call.probes() && message.is_some()));
    }

    /// Requests are complete, of which some have got messages.
    pub fn steps_done(
        &mut self,
        call: &'static Call,
        done: &[Token],
        got: &dyn Fn(usize) -> Option<Got>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.steps.have_open_wildcards() {
            for (nth, token) in done.iter().enumerate() {
                self.steps.got(token.key, got(nth).map(|got| (got.source, got.tag)));
            }
        }
        let number = self.rma.place_of(&mut self.reporter.stacks, call, place, out);
        self.steps.finish(done.iter().map(|token| token.key), number);
    }

    /// A probe for messages of any rank has found none.
    pub fn step_missed<L: Library>(
        &mut self,
        args: &Args,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let at = &args.call.at;
        let (Some(comm), Some(source), Some(tag)) = (at.comm, at.source, at.received_tag) else {
            return;
        };
        if args.int(source) >= 0 || args.int(source) == L::PROC_NULL {
            return;
        }
        let Some(comm) = self.step_comm(args.words[comm]) else { return self.steps.end() };
        let place = self.rma.place_of(&mut self.reporter.stacks, args.call, place, out);
        let tag = Some(args.int(tag)).filter(|tag| *tag >= 0);
        self.steps.note(Step::Missed(Wanted { comm, tag, place, bytes: None }));
    }

    /// The sender of a message on a communicator, as rank in the job, and its tag.
    fn sent_by(&self, comm: usize, got: &Got) -> Option<(u32, i32)> {
        let known = self.together.on.find(On::Comm(comm)).filter(|known| known.name != 0)?;
        Some((*known.members.get(usize::try_from(got.source).ok()?)?, got.tag))
    }

    /// From now on it matters whether the program looks at the status of the probe that has found
    /// this.
    fn watch_status(&mut self, found: Option<Got>) {
        let is_found = matches!(self.steps.last(), Some(Step::Found { .. }));
        let status = found.and_then(|got| got.status).filter(|_| is_found);
        self.accounts.races.watch_status(status);
    }

    /// The program, or a call, has looked at the status of the last probe.
    #[cold]
    pub fn looked(
        &mut self,
        call: Option<&'static str>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let site = place.site(call, &mut self.reporter.stacks);
        let place = self.rma.number_of_access(&self.reporter.stacks, &site, out);
        self.steps.note(Step::Looked { place });
    }

    /// The steps that a call has begun; `None` if they are not known.
    fn begun<L: Library>(
        &mut self,
        args: &Args,
        got: Option<(u32, i32)>,
        (place, library): (&impl Place, &L),
        out: &mut dyn Findings,
    ) -> Option<Begun> {
        let (call, at) = (args.call, &args.call.at);
        let mut begun = Begun::new();
        let is_somebody = |peer: &usize| args.int(*peer) != L::PROC_NULL;
        let (dest, source) = (at.dest.filter(is_somebody), at.source.filter(is_somebody));
        if !call.enters && dest.is_none() && source.is_none() {
            return Some(begun);
        }
        // Freeing a communicator does not wait; collectives on files are left out by all ranks.
        if call.effect == Effect::CommFree || call.enters && at.comm.is_none() {
            if call.effect != Effect::CommFree {
                self.steps.lose_order();
            }
            return Some(begun);
        }
        let handle = args.words[at.comm?];
        if call.enters {
            let me = self.together.me;
            let known = self.together.on.find(On::Comm(handle))?;
            // The members of an intercommunicator are the remote ranks: all ranks leave out its
            // collectives. Neighbourhood collectives need not wait for other ranks.
            let all = call.flow != Flow::Neighbours && known.size > 1;
            if all && known.members.contains(&me) {
                let comm = self.step_comm(handle).filter(|_| call.effect != Effect::Init)?;
                let place = self.rma.place_of(&mut self.reporter.stacks, call, place, out);
                begun.push(Step::Enter { comm, place });
            } else if known.size > 1 {
                self.steps.lose_order();
            }
            return Some(begun);
        }
        let comm = self.step_comm(handle)?;
        if call.effect == Effect::Init {
            return Some(begun); // begun when it is started
        }
        let number = self.rma.place_of(&mut self.reporter.stacks, call, place, out);
        let tag = |index: Option<usize>| index.map(|at| args.int(at)).filter(|tag| *tag >= 0);
        let message = |peer: usize, tag: Option<i32>, bytes: Option<u64>| {
            let known = self.together.on.find(On::Comm(handle))?;
            let peer = *known.members.get(usize::try_from(args.int(peer)).ok()?)?;
            Some(Message { comm, peer, tag, place: number, bytes, synchronous: call.synchronous })
        };
        let bytes = |part: Option<commsan_mpi_calls::Message>| {
            let part = part?;
            match args.count(part.count) {
                0 => Some(0),
                count => Some(count as u64 * library.dense(args.words[part.datatype])? as u64),
            }
        };
        if let Some(dest) = dest {
            begun.push(sends(&call.name, message(dest, tag(at.tag), bytes(call.sent))?));
        }
        if let Some(source) = source {
            let (tag, bytes) = (tag(at.received_tag), bytes(call.received));
            let wanted = Wanted { comm, tag, place: number, bytes };
            begun.push(match (args.int(source) < 0, call.probes()) {
                (false, true) => Step::Probe(message(source, tag, bytes)?),
                (false, false) => Step::Receive(message(source, tag, bytes)?),
                (true, true) => {
                    let (peer, got) = got?;
                    Step::Found { wanted, peer, got }
                }
                (true, false) => Step::Any(wanted),
            });
            if args.int(source) < 0 {
                self.steps.time_decides();
            }
        }
        Some(begun)
    }

    /// A persistent request is about to be started.
    pub(super) fn step_again(
        &mut self,
        repeated: &Repeated,
        call: &'static Call,
        request: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if !self.steps.are_open() {
            return;
        }
        let number = self.rma.place_of(&mut self.reporter.stacks, call, place, out);
        let mut begun = Begun::new();
        for (sort, on, tag) in repeated {
            let Some(peer) = sort.peer else { return self.steps.end() };
            let known = self.together.on.named().find(|(_, known)| known.name == sort.name);
            let Some((_, known)) = known else { return self.steps.end() };
            let members = known.members.clone();
            let comm =
                self.steps.comm(sort.name, || Comm { name: sort.name, on: on.clone(), members });
            // Whether it is synchronous, and its size, the request no longer tells: it may be.
            let message =
                Message { comm, peer, tag: *tag, place: number, bytes: None, synchronous: true };
            begun.push(if sort.sends {
                sends(&call.name, message)
            } else {
                Step::Receive(message)
            });
        }
        if begun.is_empty() {
            return; // of MPI_PROC_NULL, or of what has no name: then the request is not followed
        }
        self.steps.begin(&begun, Some(request), None);
    }

    /// The index of a communicator among those that steps name; `None` if it has no name.
    fn step_comm(&mut self, handle: usize) -> Option<u32> {
        let known = self.together.on.find(On::Comm(handle)).filter(|known| known.name != 0)?;
        let (name, members) = (known.name, known.members.clone());
        let on = || self.together.words_for(On::Comm(handle));
        let on = (!self.steps.names(name)).then(on).unwrap_or_default();
        Some(self.steps.comm(name, || Comm { name, on, members }))
    }
}
