//! Pending MPI operations: their buffers and completion calls.

use super::effects::{Called, Touch, View, completes, synchronises};
use super::linear::{Known, Linear};
use super::uses;
use commsan_findings::Why;
use commsan_ir::{Callee, InstId, Op, Value};
use commsan_mpi_calls::{Call, Effect};
use commsan_points_to::Object;

/// An operation that a call starts.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The call that starts it.
    pub start: InstId,
    /// The call that says what it does: the same, or the one that made a persistent request.
    pub described: InstId,
    /// Whether it is one-sided.
    pub one_sided: bool,
    /// Whether its request is also kept elsewhere than in its variable.
    pub copied: bool,
    /// Its buffers.
    pub buffers: Vec<Touch>,
}

/// Where an operation's things are, in terms of values of now; none if that is not known any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    /// By buffer.
    pub buffers: Vec<Option<Linear>>,
    /// The variable of the request, if it has one.
    pub request: Option<Linear>,
    /// Whether it ever had one.
    pub has_request: bool,
    /// The window.
    pub window: Option<Linear>,
    /// The target.
    pub target: Option<Linear>,
    /// Whether a loop has gone round.
    pub round: bool,
}

impl Places {
    /// All that is followed.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Option<Linear>> {
        let others = [&mut self.request, &mut self.window, &mut self.target];
        self.buffers.iter_mut().chain(others)
    }

    /// What is the same on both ways. Says whether this has changed.
    pub fn join(&mut self, other: &Places) -> bool {
        let before = self.clone();
        let mut other = other.clone();
        self.round |= other.round;
        for (one, another) in self.each().zip(other.each()) {
            if one != another {
                *one = None;
            }
        }
        *self != before
    }
}

/// What a call does to an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Nothing.
    None,
    /// It is complete, or may be.
    Complete,
    /// It is complete if the value is not zero.
    CompleteIf(Option<Value>),
    /// Nobody knows.
    Unknown,
}

impl View<'_> {
    /// Operations that calls of the function start, and calls whose operations are not known.
    pub fn operations(
        &self,
        order: &[commsan_ir::BlockId],
    ) -> (Vec<Operation>, Vec<(InstId, Why)>) {
        let body = &self.flat.body;
        let calls = order.iter().flat_map(|block| body[*block].code.iter().copied());
        let known = Known::default();
        let (mut found, mut skipped) = (Vec::new(), Vec::new());
        for start in calls {
            let Some((_, call)) = self.row(start) else { continue };
            let described = match call.effect {
                Effect::Start | Effect::Rma | Effect::SplitBegin => vec![start],
                Effect::Go | Effect::GoAll => self.made_for(start, call, order),
                _ => continue,
            };
            if described.is_empty() {
                skipped.push((start, Why::Persistent));
            }
            for described in described {
                let mut buffers = self.buffers(&known, described);
                buffers.extend(self.partial_buffers(&known, described));
                let one_sided = call.effect == Effect::Rma;
                let mut operation =
                    Operation { start, described, one_sided, copied: false, buffers };
                operation.copied = self.is_copied(&operation);
                match self.may_fail(start) {
                    true => skipped.push((start, Why::Errors)),
                    false => found.push(operation),
                }
            }
        }
        (found, skipped)
    }

    /// The call that made the persistent request that a call starts, if there is just one for its
    /// variable.
    fn made_for(&self, start: InstId, call: &Call, order: &[commsan_ir::BlockId]) -> Vec<InstId> {
        let body = &self.flat.body;
        let known = Known::default();
        let variable = self.request_at(&known, start, call);
        let Some(variable) = variable else { return Vec::new() };
        let all = order.iter().flat_map(|block| body[*block].code.iter().copied());
        let makers = all.filter_map(|id| {
            let (_, call) = self.row(id)?;
            let makes = call.effect == Effect::Init;
            Some((id, self.request_at(&known, id, call)?)).filter(|_| makes)
        });
        let makers: Vec<_> = makers.collect();
        let range = self.requests(&known, start, call);
        let hit = |at: &Linear| match &range {
            Some((first, bytes)) => at
                .behind(first)
                .is_some_and(|at| at >= 0 && bytes.is_none_or(|all| at < all as i64)),
            None => *at == variable,
        };
        // Made again elsewhere, it may be another operation.
        let once = |at: &Linear| makers.iter().filter(|(_, other)| other == at).count() == 1;
        let of = makers.iter().filter(|(_, at)| hit(at) && once(at));
        of.map(|(id, _)| *id).collect()
    }

    /// The address of the request that a call starts, completes or makes; of the first of them.
    pub fn request_at(&self, known: &Known, id: InstId, call: &Call) -> Option<Linear> {
        let at = call.at.request.or(call.at.requests)?;
        Linear::of(&self.flat.body, known, *self.flat.body[id].args.get(at)?)
    }

    /// An array of requests: its address and, if known, its bytes.
    fn requests(&self, known: &Known, id: InstId, call: &Call) -> Option<(Linear, Option<u64>)> {
        let at = call.at.requests?;
        let first = Linear::of(&self.flat.body, known, *self.flat.body[id].args.get(at)?)?;
        let (mpi, _) = self.row(id)?;
        let count = call.at.count.and_then(|at| self.argument(known, id, at)?.number());
        let bytes = count.map(|count| count.unsigned_abs() * self.handle(mpi.by_reference));
        Some((first, bytes))
    }

    /// Where an operation's things are when it starts.
    pub fn places(&self, known: &Known, operation: &Operation) -> Places {
        let body = &self.flat.body;
        let address = |touch: &Touch| Linear::of(body, known, touch.address);
        let row = self.row(operation.described);
        let argument = |at: Option<usize>| self.argument(known, operation.described, at?);
        let call = row.map(|(_, call)| call);
        let request = call.and_then(|call| self.request_at(known, operation.described, call));
        Places {
            buffers: operation.buffers.iter().map(address).collect(),
            has_request: call.is_some_and(|call| call.at.request.is_some()),
            request,
            window: argument(call.and_then(|call| call.at.win.filter(|_| operation.one_sided))),
            target: argument(call.and_then(|call| call.at.peer.filter(|_| operation.one_sided))),
            round: false,
        }
    }

    /// What a call does to an operation whose things are at these places.
    pub fn outcome(
        &self,
        known: &Known,
        id: InstId,
        operation: &Operation,
        places: &Places,
    ) -> Outcome {
        match self.called(id) {
            Some(Called::Unknown) if self.may_be_known_to(id, operation) => Outcome::Unknown,
            Some(Called::Mpi(mpi)) => match mpi.call {
                Some(call) if synchronises(call.effect) => {
                    self.synchronised(known, id, call, operation, places)
                }
                Some(call) if call.effect == Effect::SplitEnd => {
                    let begun = self.row(operation.described);
                    match begun.is_some_and(|(_, call)| call.effect == Effect::SplitBegin) {
                        true => Outcome::Complete,
                        false => Outcome::None,
                    }
                }
                Some(call) if completes(call.effect) || call.effect == Effect::Free => {
                    self.completed(known, id, call, operation, places)
                }
                Some(call) if call.effect == Effect::GetStatus && places.has_request => {
                    self.tested(known, id, call)
                }
                Some(_) => Outcome::None,
                // What this call does is not known here.
                None if mpi.name.starts_with("MPI_T_") => Outcome::None,
                None if UNKNOWN.contains(&&*mpi.name) => Outcome::Unknown,
                None => Outcome::None,
            },
            _ => Outcome::None,
        }
    }

    fn completed(
        &self,
        known: &Known,
        id: InstId,
        call: &Call,
        operation: &Operation,
        places: &Places,
    ) -> Outcome {
        if !places.has_request {
            return Outcome::None;
        }
        let meets = match call.at.requests {
            Some(_) => self.requests(known, id, call),
            None => {
                let at = self.request_at(known, id, call);
                let fortran = self.row(id).is_some_and(|(mpi, _)| mpi.by_reference);
                at.map(|at| (at, Some(self.handle(fortran))))
            }
        };
        let elsewhere = match (&meets, &places.request) {
            (Some((first, bytes)), Some(request)) => match request.behind(first) {
                Some(behind) => behind < 0 || bytes.is_some_and(|all| behind >= all as i64),
                None => {
                    let body = &self.flat.body;
                    let variables = (first.variable(body), request.variable(body));
                    matches!(variables, (Some(one), Some(other)) if one != other)
                }
            },
            _ => false,
        };
        if elsewhere && !operation.copied {
            return Outcome::None;
        }
        match call.effect {
            Effect::Test | Effect::TestAll => self.tested(known, id, call),
            _ => Outcome::Complete,
        }
    }

    /// What a call does that completes an operation if it writes a flag that is not zero.
    fn tested(&self, known: &Known, id: InstId, call: &Call) -> Outcome {
        let body = &self.flat.body;
        let address = call.at.flag.and_then(|at| body[id].args.get(at));
        let Some(address) = address.and_then(|address| Linear::of(body, known, *address)) else {
            return Outcome::Complete;
        };
        let own = address.variable(body).and_then(|variable| self.object(variable));
        let is_own = own.is_some_and(|object| !self.points_to.escapes(object));
        match self.after.get(&(id, address)) {
            Some(flag) => Outcome::CompleteIf(Some(*flag)),
            // Nobody looks at it.
            None if is_own => Outcome::CompleteIf(None),
            None => Outcome::Complete,
        }
    }

    fn synchronised(
        &self,
        known: &Known,
        id: InstId,
        call: &Call,
        operation: &Operation,
        places: &Places,
    ) -> Outcome {
        if !operation.one_sided || self.are_other_windows(id, operation.start) {
            return Outcome::None;
        }
        let rank = call.at.peer.and_then(|at| self.argument(known, id, at));
        if let (Some(rank), Some(target)) = (&rank, &places.target)
            && rank.behind(target).is_some_and(|behind| behind != 0)
        {
            return Outcome::None;
        }
        Outcome::Complete
    }

    /// Whether two calls are certain to name different windows.
    fn are_other_windows(&self, one: InstId, other: InstId) -> bool {
        let windows = |id: InstId| -> Option<Vec<Object>> {
            let (mpi, call) = self.row(id)?;
            let at = call.at.win.or_else(|| call.named("win_inout"))?;
            // As it was written: points-to knows no others.
            let (frame, original) = self.flat.origin(id)?;
            let function = self.flat.frames[frame].function;
            let value = *self.program[function].body.as_ref()?[original].args.get(at)?;
            let by_reference = call.at.win.is_none() || mpi.by_reference;
            let targets = self.points_to.targets(function, value);
            let handles = match by_reference {
                true => targets.iter().flat_map(|at| self.points_to.content(*at)).collect(),
                false => targets,
            };
            let made = |object: &Object| matches!(object, Object::Made(_, _, Some(_)));
            let objects: Vec<_> = handles.iter().map(|handle| handle.object).collect();
            (!objects.is_empty() && objects.iter().all(made)).then_some(objects)
        };
        match (windows(one), windows(other)) {
            (Some(one), Some(other)) => !one.iter().any(|window| other.contains(window)),
            _ => false,
        }
    }

    /// Whether a function that is not looked into may complete an operation.
    fn may_be_known_to(&self, id: InstId, operation: &Operation) -> bool {
        let Op::Call(Callee::Direct(callee)) = self.flat.body[id].op else { return true };
        if self.program[callee].body.is_some() || !self.environment.whole {
            return true;
        }
        // Threads that run the program's own functions complete what they like.
        let name = &*self.program[callee].name;
        if ["pthread_", "__kmpc_", "omp_", "_ZNSt6thread"].iter().any(|with| name.starts_with(with))
        {
            return true;
        }
        let Some((_, call)) = self.row(operation.described) else { return true };
        let handle = call.at.request.or(call.at.win).or(call.at.file);
        let Some(value) = handle.and_then(|at| self.flat.body[operation.described].args.get(at))
        else {
            return true;
        };
        self.objects(*value).is_none_or(|objects| self.points_to.any_escapes(objects))
    }

    /// Whether an operation's request is also kept elsewhere than in its variable, or is not the
    /// function's own.
    fn is_copied(&self, operation: &Operation) -> bool {
        let Some((mpi, call)) = self.row(operation.described) else { return true };
        let Some(at) = self.request_at(&Known::default(), operation.described, call) else {
            return true;
        };
        let handle = self.handle(mpi.by_reference) as i64;
        let body = &self.flat.body;
        let Some(variable) = uses::object(self, &at) else { return true };
        let reads = |touch: &Touch| {
            let sum = Linear::of(body, &Known::default(), touch.address);
            let Some(sum) = sum else { return false };
            let apart = sum.behind(&at).is_some_and(|behind| {
                behind >= handle || touch.length.most().is_some_and(|n| behind + n as i64 <= 0)
            });
            !touch.writes && !apart && uses::object(self, &sum) == Some(variable)
        };
        let copies = |id: InstId| {
            self.touches(&Known::default(), id).iter().any(reads)
                && (!matches!(body[id].op, Op::Load(..=8)) || self.is_kept(id))
        };
        self.uses.reads(variable).any(copies) || self.is_kept_value(operation, &at)
    }

    /// Whether the request in its variable after the start is stored or passed to somebody.
    fn is_kept_value(&self, operation: &Operation, at: &Linear) -> bool {
        let after = self.after.get(&(operation.described, at.clone()));
        let started = self.after.get(&(operation.start, at.clone()));
        after.into_iter().chain(started).any(|value| match value {
            Value::Inst(id) => self.is_kept(*id),
            _ => true,
        })
    }

    /// Whether a call may fail and the program goes on as if nothing had been started: errors are
    /// returned, and its result is more than a condition.
    fn may_fail(&self, id: InstId) -> bool {
        if !self.environment.handles_errors {
            return false;
        }
        let body = &self.flat.body;
        let mut compared =
            self.uses.of_value(id).filter(|user| matches!(body[*user].op, Op::Compare(_)));
        let counted = |user: InstId| !matches!(body[user].op, Op::Branch);
        compared.any(|compared| self.uses.of_value(compared).any(counted))
    }

    fn is_kept(&self, id: InstId) -> bool {
        let body = &self.flat.body;
        self.uses.of_value(id).any(|user| {
            let inst = &body[user];
            match inst.op {
                Op::Store(_) => inst.args.first() == Some(&Value::Inst(id)),
                Op::Compare(_) | Op::Load(_) => false,
                Op::Call(_) => self.row(user).is_none(),
                _ => true,
            }
        })
    }

    /// Whether an operation's request is kept where only this function can complete it: in its
    /// local variables, or in the program's if there are no threads.
    pub fn is_own_request(&self, operation: &Operation) -> bool {
        let Some((_, call)) = self.row(operation.described) else { return false };
        let at = self.request_at(&Known::default(), operation.described, call);
        let variable = at.and_then(|at| at.variable(&self.flat.body));
        let object = variable.and_then(|variable| self.object(variable));
        let own = match variable {
            Some(Value::Global(..)) => self.is_program() && !self.environment.threads,
            _ => true,
        };
        own && object.is_some_and(|object| !self.points_to.escapes(object))
    }

    /// Whether this is the whole program, from its begin to its end.
    pub fn is_program(&self) -> bool {
        self.program[self.flat.frames[0].function].name == "main"
    }
}

/// MPI calls that complete or keep requests and are not in the table.
const UNKNOWN: [&str; 3] = ["MPI_Comm_spawn", "MPI_Session_finalize", "MPI_Grequest_complete"];
