//! From calls to the steps that others may wait for; see [`crate::steps`].

use super::OneSided;
use super::Tracker;
use crate::buffers::{Args, Library};
use crate::ids::{On, Token};
use crate::ledger::Repeated;
use crate::steps::{Begun, Comm, Steps, sends};
use commsan_callsite::{Findings, Place, Stacks};
use commsan_findings::record::Record;
use commsan_findings::{Message, Step};
use commsan_mpi_calls::{Call, Effect, Flow};
use std::borrow::Cow;

/// What a call that has succeeded may mean to those who wait for this process.
#[derive(Clone, Copy, Debug)]
pub enum Did<'a> {
    /// It has waited for what it is about.
    Block,
    /// It has started something that this request stands for.
    Start(usize),
    /// It has waited for these requests.
    Wait(&'a [Token]),
}

impl OneSided {
    fn place_of(
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
    }
}

impl Tracker {
    /// A call has succeeded.
    pub fn step<L: Library>(
        &mut self,
        args: &Args,
        did: Did,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if let Did::Wait(tokens) = did {
            let number = self.rma.place_of(&mut self.reporter.stacks, args.call, place, out);
            return self.steps.finish(tokens.iter().map(|token| token.key), number);
        }
        let request = match did {
            Did::Start(request) => Some(request),
            _ => None,
        };
        match self.begun::<L>(args, place, out) {
            // A request counts whatever it stands for: another one may have its handle.
            Some(begun) => self.steps.begin(&begun, request),
            None => self.steps.end(),
        }
    }

    /// What a call has begun; `None` if that is not known.
    fn begun<L: Library>(
        &mut self,
        args: &Args,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> Option<Begun> {
        let (call, at) = (args.call, &args.call.at);
        let mut begun = Begun::new();
        let is_somebody = |peer: &usize| args.int(*peer) != L::PROC_NULL;
        let (dest, source) = (at.dest.filter(is_somebody), at.source.filter(is_somebody));
        if !call.enters && dest.is_none() && source.is_none() {
            return Some(begun);
        }
        // Communicators are freed without waiting; what is called on a file is left out, by all.
        if call.effect == Effect::CommFree || call.enters && at.comm.is_none() {
            return Some(begun);
        }
        let handle = args.words[at.comm?];
        if call.enters {
            let me = self.together.me;
            let known = self.together.on.find(On::Comm(handle))?;
            // Of an intercommunicator the members are the others: its collectives are left out, by all.
            // Those of neighbours need not wait for others.
            let all = call.flow != Flow::Neighbours && known.size > 1;
            if all && known.members.contains(&me) {
                let comm = self.step_comm(handle).filter(|_| call.effect != Effect::Init)?;
                let place = self.rma.place_of(&mut self.reporter.stacks, call, place, out);
                begun.push(Step::Enter { comm, place });
            }
            return Some(begun);
        }
        let comm = self.step_comm(handle)?;
        if call.effect == Effect::Init {
            return Some(begun); // begun when it is started
        }
        let number = self.rma.place_of(&mut self.reporter.stacks, call, place, out);
        let message = |peer: usize, tag: Option<usize>| {
            let known = self.together.on.find(On::Comm(handle))?;
            let peer = *known.members.get(usize::try_from(args.int(peer)).ok()?)?;
            let tag = tag.map(|index| args.int(index)).filter(|tag| *tag >= 0);
            Some(Message { comm, peer, tag, place: number })
        };
        if let Some(dest) = dest {
            begun.push(sends(&call.name, message(dest, at.tag)?));
        }
        if let Some(source) = source {
            let message = message(source, at.received_tag)?;
            begun.push(if call.probes() { Step::Probe(message) } else { Step::Receive(message) });
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
            let message = Message { comm, peer, tag: *tag, place: number };
            begun.push(if sort.sends {
                sends(&call.name, message)
            } else {
                Step::Receive(message)
            });
        }
        if begun.is_empty() {
            return; // of MPI_PROC_NULL, or of what has no name: then the request is not followed
        }
        self.steps.begin(&begun, Some(request));
    }

    /// A communicator among those that steps name; `None` if it has no name.
    fn step_comm(&mut self, handle: usize) -> Option<u32> {
        let known = self.together.on.find(On::Comm(handle)).filter(|known| known.name != 0)?;
        let (name, members) = (known.name, known.members.clone());
        let on = || self.together.words_for(On::Comm(handle));
        let on = (!self.steps.names(name)).then(on).unwrap_or_default();
        Some(self.steps.comm(name, || Comm { name, on, members }))
    }
}
