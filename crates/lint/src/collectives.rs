//! Collective verification (after PARCOACH: Saillard, Carribault, Barthou, IJHPCA 2014; Huchant et
//! al. 2019; MPI 4.1 §6.14): collectives that not all ranks call, or not in the same order.
//!
//! Two questions. Which conditions diverge between ranks ([`rank_divergence`])? And do the paths
//! from such a condition to its post-dominator call the same collectives on the same communicators,
//! in the same order ([`terms`])? If not, some ranks wait for others that never come.
//!
//! Where they call the same collective, do they name the same root and reduction, as far as these
//! are constants?
//!
//! **Certain** where the condition compares the result of `MPI_Comm_rank` with a constant, and
//! nothing else decides what is called then and how often, nor which ranks come to it. Everything
//! else is possible: a condition may evaluate alike on all ranks after all, a path may never be
//! taken, another condition on the rank may compensate, and so may the number of threads that make
//! a call.
//!
//! **What it can miss.** Loops over the same collective with different trip counts on two sides of
//! a condition; collectives on unknown communicators, or under conditions on ranks of other
//! communicators; paths that end in `MPI_Abort` or in `exit` with a failure; exception handlers.
//!
//! **What it never misreports.** Conditions on data that a broadcast or an all-to-all reduction has
//! made uniform; on the number of ranks; on command lines and files that all ranks read;
//! collectives of a part of the ranks under a condition on ranks of the whole; two conditions on
//! opposite answers to one question, which together call the same on all ranks; ranks that execute
//! commands of another one ([`commands`]); what one rank decides alone ([`alone`]).

mod absent;
mod alone;
mod assigned;
mod chosen;
mod comm;
mod commands;
mod extent;
mod fork;
mod given;
mod mod_ref;
mod rank_divergence;
mod reach;
mod signature;
mod sources;
mod stored;
mod terms;
mod unverified;

use crate::callgraph::{self, CallGraph};
use crate::environment::{Environment, predefined};
use crate::openmp::{Runtime, runtime};
use crate::{Analysis, Calls, levels, places};
use comm::{Comm, Comms, Labels, OTHER};
use commsan_findings::{Code, Finding, Role, Site};
use commsan_ir::{Body, FunctionId, Inst, InstId, Op, Program, Value, copies};
use commsan_mpi_calls::{Call, Effect};
use commsan_points_to::mpi::Mpi;
use commsan_points_to::{Object, PointsTo};
use fork::Fork;
use rank_divergence::Divergent;
use rustc_hash::FxHashSet;
use terms::{Choice, Event, Only, Question, Term, TermId, Terms, View};
use unverified::Unverified;

/// Finds collectives that do not match. Where it can only suspect something, it looks again, with
/// what functions do for one caller distinguished from what they do for others ([`copies`]):
/// objects of one class share no values then.
pub fn check(
    program: &mut Program,
    calls: &Calls,
    points_to: &PointsTo,
    environment: &Environment,
    analysis: &mut Analysis,
) {
    let found = find(program, calls, points_to, environment);
    if !found.iter().any(|finding| finding.possible) {
        return analysis.findings.extend(found);
    }
    let (callers, wanted) = to_copy(&Comms::new(program, calls, points_to, environment));
    copies::of_callees(program, &callers, &wanted);
    let calls = Calls::of(program);
    let points_to = PointsTo::of(program, &calls);
    analysis.findings.extend(find(program, &calls, &points_to, environment));
}

/// Functions that call MPI other than to end the program, or those that do, and functions in which
/// something may differ between ranks, or that make objects in which it may.
fn to_copy(comms: &Comms) -> (FxHashSet<FunctionId>, FxHashSet<FunctionId>) {
    let ends = |mpi: &Mpi| mpi.call.is_some_and(|call| call.effect == Effect::Abort);
    let goes_on = |inst: &Inst| comms.calls.at(inst).is_some_and(|mpi| !ends(mpi));
    let calls_mpi = |_, body: &Body| body.code.iter().any(goes_on);
    let callers = comms.graph.reaching(callgraph::with(comms.program, calls_mpi));
    let found = reach::look(comms);
    let makers = found.objects.iter().filter_map(|object| match object {
        Object::Made(function, ..) => Some(*function),
        _ => None,
    });
    let mut wanted = comms.graph.reaching(makers);
    wanted.extend(found.functions);
    (callers, wanted)
}

fn find(
    program: &Program,
    calls: &Calls,
    points_to: &PointsTo,
    environment: &Environment,
) -> Vec<Finding> {
    let mut comms = Comms::new(program, calls, points_to, environment);
    let roots = levels::roots(program, points_to);
    let divergent = rank_divergence::divergent(&mut comms, &roots);
    if divergent.conditions.is_empty() && divergent.given.is_empty() && divergent.absent.is_empty()
    {
        return Vec::new();
    }
    let mut terms = Terms::new(&comms);
    for (function, ..) in program.defined() {
        terms.of(function);
    }
    let callees = |id, _: &Body, inst: &Inst| points_to.callees(id, inst).unwrap_or_default();
    let calls = CallGraph::of(program, callees);
    let (settled, found) = Default::default();
    let mut check = Check {
        program,
        comms: &comms,
        terms: &terms,
        divergent: &divergent,
        calls,
        teams: teams(program, points_to),
        settled,
        unverified: Unverified::new(&comms),
        found,
    };
    let alone = alone::conditions(&comms, &divergent, |function, value| {
        check.is_rank(function, value, MAX_RANK_CALLER_DEPTH)
    });
    check.settled.extend(alone);
    for (function, term) in terms.functions() {
        check.term(term, levels::MAINS.contains(&&*program[function].name));
    }
    check.given();
    check.absent();
    check.found
}

/// Maximum number of levels of callers through which the rank may be passed.
const MAX_RANK_CALLER_DEPTH: usize = 4;

struct Check<'c, 'p> {
    program: &'p Program,
    comms: &'c Comms<'p>,
    terms: &'c Terms<'c, 'p>,
    divergent: &'c Divergent,
    calls: CallGraph,
    /// Functions that several threads may run.
    teams: FxHashSet<FunctionId>,
    /// Branches that need no look: their question was asked before, with the whole coming out the
    /// same, or one rank alone comes to them.
    settled: FxHashSet<(FunctionId, InstId)>,
    unverified: Unverified<'c, 'p>,
    found: Vec<Finding>,
}

impl Check<'_, '_> {
    /// Looks at all choices in a term, each with what follows it.
    fn term(&mut self, term: TermId, whole: bool) {
        let terms = self.terms;
        let mut sequence = Vec::new();
        terms.flatten(term, &mut sequence);
        for (place, term) in sequence.iter().enumerate() {
            match terms.get(*term) {
                Term::Choice(choice) => {
                    self.choice(choice, &sequence[place + 1..], whole);
                    for way in choice.ways.iter().flatten() {
                        self.term(*way, false);
                    }
                }
                Term::Loop(round) => self.term(*round, false),
                _ => {}
            }
        }
    }

    fn choice(&mut self, choice: &Choice, after: &[TermId], whole: bool) {
        let place = (choice.function, choice.inst);
        let Some(labels) = self.divergent.conditions.get(&place).copied() else { return };
        if self.settled.contains(&place) {
            return;
        }
        // The end of `main` may come early; elsewhere callers go on.
        let rest = if whole { after } else { self.correlated(choice, after) };
        let fork = Fork { terms: self.terms, choice, labels, rest, whole };
        if fork.is_even(false, Only::Any) {
            self.settle(choice, rest);
            self.arguments(&fork);
        } else if !fork.is_even_alone()
            && !self.is_chain(choice, after, labels)
            && !commands::agree(self.comms, &fork)
        {
            if fork.difference().is_none() {
                return self.settle(choice, rest);
            }
            let finding = self.on_different(&fork).or_else(|| self.mismatch(&fork, after));
            self.found.extend(finding);
        }
    }

    /// Branches that ask the same once more have been looked at, but for what their calls are
    /// given.
    fn settle(&mut self, choice: &Choice, rest: &[TermId]) {
        let terms = self.terms;
        for term in rest {
            if let Term::Choice(later) = terms.get(*term)
                && asks_the_same(choice, later)
            {
                let place = (later.function, later.inst);
                let labels = self.divergent.conditions.get(&place).copied();
                if let Some(labels) = labels.filter(|_| self.settled.insert(place)) {
                    let (choice, rest, whole) = (later, &[], false);
                    self.arguments(&Fork { terms, choice, labels, rest, whole });
                }
            }
        }
    }

    /// Whether later branches ask for other ranks, and call the same for them: `if (rank == 0) …`,
    /// `if (rank == 1) …`. Together they may be all.
    fn is_chain(&mut self, choice: &Choice, after: &[TermId], labels: Labels) -> bool {
        let view = View { labels: Some(labels), ..View::default() };
        let Some(mine) = self.answered_yes(choice, &view) else { return false };
        let terms = self.terms;
        let more: Vec<_> = after
            .iter()
            .filter_map(|term| match terms.get(*term) {
                Term::Choice(later) if choice.question?.asks_for_others(later.question?) => {
                    let same = self.answered_yes(later, &view) == Some(mine);
                    same.then_some((later.function, later.inst))
                }
                _ => None,
            })
            .collect();
        let chain = !more.is_empty();
        self.settled.extend(more);
        chain
    }

    /// Whether a later branch that ranks take different ways out of, on a question of its own,
    /// leads to the same call: with as many ranks as the program is for, the two may come out even.
    fn is_made_up_for(&self, call: (&Event, Comm), after: &[TermId], labels: Labels) -> bool {
        let view = View { labels: Some(labels), ..View::default() };
        after.iter().any(|term| match self.terms.get(*term) {
            Term::Choice(later)
                if self.divergent.conditions.contains_key(&(later.function, later.inst)) =>
            {
                let mut events = Vec::new();
                self.terms.events(*term, &view, &mut events);
                events.into_iter().any(|event| is_same(event, call))
            }
            _ => false,
        })
    }

    /// Whether threads make a call on one way which another way has, too: how often depends on how
    /// many there are.
    fn depends_on_threads(&self, fork: &Fork, call: (&Event, Comm)) -> bool {
        let ways = fork.called(&[]);
        let alike = ways.iter().map(|way| way.iter().filter(|event| is_same(**event, call)));
        let by_threads = |event: &(&Event, Comm)| self.teams.contains(&event.0.function);
        let (by_teams, in_all) = alike.fold((false, true), |(teams, all), mut way| {
            let has_one = way.clone().next().is_some();
            (teams || way.any(by_threads), all && has_one)
        });
        by_teams && in_all
    }

    /// What is called where the answer is yes, if nothing is called where it is no.
    fn answered_yes(&self, choice: &Choice, view: &View) -> Option<u64> {
        let yes = choice.question?.way_for_yes();
        let [one, other] = *choice.ways else { return None };
        let (yes, no) = if yes == 0 { (one, other) } else { (other, one) };
        let hash = |way: Option<TermId>| way.map_or(0, |way| self.terms.hash(way, view));
        (hash(no) == 0).then(|| hash(yes))
    }

    /// Only what asks the same question again can make up for a difference.
    fn correlated<'r>(&self, choice: &Choice, rest: &'r [TermId]) -> &'r [TermId] {
        let last = rest.iter().rposition(|term| match self.terms.get(*term) {
            Term::Choice(later) => asks_the_same(choice, later),
            _ => false,
        });
        &rest[..last.map_or(0, |last| last + 1)]
    }

    fn mismatch(&self, fork: &Fork, after: &[TermId]) -> Option<Finding> {
        let (one, other) = fork.difference()?;
        let (choice, labels) = (fork.choice, fork.labels);
        let body = self.program[choice.function].body.as_ref()?;
        let branch = &body[choice.inst];
        let loops = matches!(branch.op, Op::Branch) && one.is_some() != other.is_some();
        let name = self.variable(choice.function, branch);
        let (event, _) = one.or(other)?;
        let mut sites =
            vec![self.site(event, Role::Access, format!("`{}` on some ranks", event.name))];
        let message = match (one, other) {
            (Some((one, _)), Some((other, _))) => {
                let role = Role::Operation;
                let label = format!("`{}` on others", other.name);
                sites.push(self.site(other, role, label));
                let here = self.inst(one)?.at;
                let line = places::line(self.program, self.inst(other)?.at, Some(here));
                format!("some ranks call `{}`, others `{}` ({line})", one.name, other.name)
            }
            _ => format!("`{}` is not called by all ranks, or not equally often", event.name),
        };
        let what = match &name {
            Some(name) => format!("`{name}`"),
            None => "this condition".to_owned(),
        };
        let why = match labels & !OTHER {
            0 => format!(
                "{what} may differ between ranks: it comes from a message, the clock or the host"
            ),
            _ => format!("{what} differs between ranks, as it follows from the rank"),
        };
        let label = match branch.op {
            Op::Call(_) => "which function this calls depends on the rank",
            _ if loops => "whether it is called, and how often, depends on this condition",
            _ => "which of them is called depends on this condition",
        };
        sites.push(places::at(
            self.program,
            choice.function,
            branch.at,
            Role::Cause,
            label.to_owned(),
        ));
        let help = match (one, other) {
            (Some(_), Some(_)) => "call the collectives in the same order on all ranks".to_owned(),
            _ => format!(
                "call `{}` on all ranks of the communicator, outside the condition; or let all ranks \
                 agree on the condition first (`MPI_Allreduce`, `MPI_Bcast`)",
                event.name
            ),
        };
        let doubt = self.doubt(fork, after, [one, other].into_iter().flatten());
        let why = match &doubt {
            Some(doubt) => format!("{why}; this is a suspicion, as {doubt}"),
            None => why,
        };
        let finding = places::finding(Code::CollectivesDiffer, message, sites, why, help);
        Some(Finding { possible: doubt.is_some(), ..finding })
    }

    /// Why calls that are missing on some way may be made all the same, or no rank take that way.
    fn doubt<'e>(
        &self,
        fork: &Fork,
        after: &[TermId],
        mut calls: impl Iterator<Item = (&'e Event, Comm)> + Clone,
    ) -> Option<String> {
        let lacks = |call: (&Event, Comm)| {
            let ways = fork.called(&[]).into_iter().zip(fork.numbers());
            let lacking = ways.filter(move |(way, _)| !way.iter().any(|it| is_same(*it, call)));
            lacking.map(|(_, number)| number).collect::<Vec<_>>()
        };
        let unknown =
            calls.clone().flat_map(lacks).find_map(|way| self.unverified.on_way(fork.choice, way));
        if let Some(unknown) = unknown {
            return Some(format!("{unknown} was not analysed, and may call it, too"));
        }
        let text = if !self.is_certain(fork.choice) {
            "the condition may have the same result on all ranks"
        } else if fork.is_undecided() {
            "other conditions decide, too"
        } else if calls.clone().any(|call| self.is_made_up_for(call, after, fork.labels)) {
            "another condition leads to the same call later"
        } else if calls.any(|call| self.depends_on_threads(fork, call)) {
            "the number of threads that make the call is not known"
        } else {
            return None;
        };
        Some(text.to_owned())
    }

    /// Compares what calls are given that both ways have in common: roots and reductions that are
    /// constants.
    fn arguments(&mut self, fork: &Fork) {
        for [(one, comm), (two, _)] in fork.common() {
            let same = (one.function, one.inst) == (two.function, two.inst);
            if same || !self.comms.differ(one.function, comm, fork.labels) {
                continue;
            }
            let code = match () {
                () if self.differ_in(one, two, |call| call.at.root) => Code::RootsDiffer,
                () if self.differ_in(one, two, |call| call.at.op) => Code::ReductionsDiffer,
                () if self.signatures_differ(one, two) => Code::SignaturesDiffer,
                () => continue,
            };
            let finding = self.different(fork.choice, code, one, two);
            self.found.extend(finding);
        }
    }

    /// Whether two calls pass different constants. Negative roots are those of intercommunicators.
    fn differ_in(&self, one: &Event, two: &Event, at: impl Fn(&Call) -> Option<usize>) -> bool {
        let passed = |event: &Event| {
            let body = self.program[event.function].body.as_ref()?;
            let inst = &body[event.inst];
            let mpi = self.comms.calls.at(inst)?;
            let index = at(mpi.call?)?;
            match inst.args.get(index)? {
                Value::Global(id, at) if !mpi.by_reference => Some(Value::Global(*id, *at)),
                _ => mpi.integer(self.program, body, inst, index).map(Value::Int),
            }
        };
        match (passed(one), passed(two)) {
            (Some(Value::Int(..0)), _) | (_, Some(Value::Int(..0))) => false,
            (Some(one), Some(two)) => one != two,
            _ => false,
        }
    }

    /// The finding for one collective that ranks call with different arguments.
    fn different(&self, choice: &Choice, code: Code, one: &Event, two: &Event) -> Option<Finding> {
        let name = one.name;
        let (what, why, help) = match code {
            Code::RootsDiffer => (
                "root",
                "all ranks must name the same root (MPI 4.1 §6.1)",
                "name the same root on both ways",
            ),
            Code::SignaturesDiffer => {
                ("amount", signature::RULE, "pass the same count and datatype on both ways")
            }
            _ => (
                "reduction",
                "all ranks must name the same reduction (MPI 4.1 §6.9.1)",
                "pass the same reduction on both ways",
            ),
        };
        let branch = self.program[choice.function].body.as_ref()?;
        let cause = places::at(
            self.program,
            choice.function,
            branch[choice.inst].at,
            Role::Cause,
            "which of them is called depends on this condition".to_owned(),
        );
        let sites = vec![
            self.site(one, Role::Access, format!("`{name}` on some ranks")),
            self.site(two, Role::Operation, format!("with another {what} on others")),
            cause,
        ];
        let message = match code {
            Code::SignaturesDiffer => {
                format!("`{name}` moves different amounts on different ranks")
            }
            _ => format!("`{name}` is called with different {what}s by different ranks"),
        };
        let finding = places::finding(code, message, sites, why.to_owned(), help.to_owned());
        Some(Finding { possible: !self.is_certain(choice), ..finding })
    }

    /// Whether both ways are certain to be taken: the rank is compared with a constant, by all
    /// ranks.
    fn is_certain(&self, choice: &Choice) -> bool {
        if self.divergent.guarded.contains(&(choice.function, choice.inst)) {
            return false;
        }
        let asked = choice.question.map(Question::of);
        asked.is_some_and(|value| self.is_rank(choice.function, value, MAX_RANK_CALLER_DEPTH))
    }

    /// Whether a value, or what is at an address, is the rank as `MPI_Comm_rank` has said it.
    fn is_rank(&self, function: FunctionId, value: Value, depth: usize) -> bool {
        let targets = self.comms.points_to.targets(function, value);
        if !targets.is_empty() {
            return targets.iter().all(|target| self.divergent.ranks.contains(target));
        }
        let (Value::Param(number), Some(depth)) = (value, depth.checked_sub(1)) else {
            return false;
        };
        let callers = self.calls.callers(function);
        !callers.is_empty()
            && callers.iter().all(|(caller, call)| {
                let Some(body) = &self.program[*caller].body else { return false };
                let passed = body[*call].args.get(number as usize);
                passed.is_some_and(|value| self.is_rank(*caller, terms::named(body, *value), depth))
            })
    }

    /// The name of a variable that a condition, or which function is called, depends on.
    fn variable(&self, function: FunctionId, branch: &Inst) -> Option<String> {
        let function = &self.program[function];
        let body = function.body.as_ref()?;
        let decides = match branch.op {
            Op::Call(_) => branch.args.last(),
            _ => branch.args.first(),
        };
        let is_call = matches!(branch.op, Op::Call(_));
        let mut open = vec![*decides?];
        let mut seen = FxHashSet::default();
        // What counts rounds is compared with something that says more.
        let mut counter = None;
        while let Some(value) = open.pop() {
            match value {
                Value::Global(id, _) if predefined(&self.program[id].name).is_some() => {}
                Value::Global(id, _) => {
                    return Some(places::shown(&self.program[id].name).to_owned());
                }
                Value::Param(number) => {
                    if let Some(name) = function.param_names.get(&number) {
                        return Some(name.to_string());
                    }
                }
                Value::Inst(id) if seen.insert(id) => {
                    match (&body[id].op, body.names.get(&id)) {
                        (Op::Phi(_), Some(name)) => counter = Some(name.to_string()),
                        (_, Some(name)) => return Some(name.to_string()),
                        _ => {}
                    }
                    match body[id].op {
                        Op::Call(_) => {}
                        // Of a table of functions, the index says more.
                        Op::Offset(..) if is_call => open.extend(&body[id].args),
                        _ => open.extend(body[id].args.iter().rev()),
                    }
                }
                _ => {}
            }
        }
        counter
    }

    /// Calls that all ranks make, on a communicator that some do not have.
    fn absent(&mut self) {
        for (function, id, place) in &self.divergent.absent {
            let Some(body) = &self.program[*function].body else { continue };
            let inst = &body[*id];
            let Some(mpi) = self.comms.calls.at(inst) else { continue };
            let Some(call) = mpi.call else { continue };
            let by_address = mpi.by_reference || call.params[*place].name.ends_with("_inout");
            let maker = absent::maker(self.comms, *function, inst.args[*place], by_address);
            let Some((makes, made)) = maker else { continue };
            let Some(split) = self.program[makes].body.as_ref().map(|body| &body[made]) else {
                continue;
            };
            if self.gives_up(*function) {
                continue;
            }
            let parameter = call.params[*place].shown();
            let label = format!("`{parameter}` is MPI_COMM_NULL on some ranks");
            let cause = "ranks whose color is MPI_UNDEFINED get MPI_COMM_NULL here".to_owned();
            let sites = vec![
                places::at(self.program, *function, inst.at, Role::Operation, label),
                places::at(self.program, makes, split.at, Role::Cause, cause),
            ];
            let message = format!("`{parameter}` of {} is MPI_COMM_NULL on some ranks", mpi.name);
            let why = "the color of some ranks is MPI_UNDEFINED, so that they are in no communicator (MPI 4.1 \
                       §7.4.2), and no condition keeps them from the call";
            let help = "make the call only where the communicator is not MPI_COMM_NULL";
            let finding = places::finding(
                Code::InvalidArgument,
                message,
                sites,
                why.to_owned(),
                help.to_owned(),
            );
            self.found.push(Finding { possible: true, ..finding });
        }
    }

    /// Whether a function ends the job where ranks differ: who has no communicator may not come
    /// further.
    fn gives_up(&self, function: FunctionId) -> bool {
        let Some(body) = &self.program[function].body else { return false };
        let aborts = |inst| self.comms.calls.at(inst).is_some_and(|mpi| mpi.name == "MPI_Abort");
        body.code.iter().any(aborts)
            && self.divergent.conditions.keys().any(|(branches, _)| *branches == function)
    }

    fn inst(&self, event: &Event) -> Option<&Inst> {
        Some(&self.program[event.function].body.as_ref()?[event.inst])
    }

    fn site(&self, event: &Event, role: Role, label: String) -> Site {
        let at = self.inst(event).map(|inst| inst.at).unwrap_or_default();
        places::at(self.program, event.function, at, role, label)
    }
}

/// Whether two calls are of one kind, on one communicator.
fn is_same((one, on): (&Event, Comm), (two, at): (&Event, Comm)) -> bool {
    one.name == two.name && on == at
}

/// The parallel regions of a program, and what they call.
fn teams(program: &Program, points_to: &PointsTo) -> FxHashSet<FunctionId> {
    let code = program.defined().flat_map(|(_, _, body)| &body.code);
    let mut open: Vec<_> = code
        .filter_map(|inst| match runtime(program, inst) {
            Some(Runtime::Fork(region)) => region,
            _ => None,
        })
        .collect();
    let mut found = FxHashSet::default();
    while let Some(function) = open.pop() {
        let Some(body) = program[function].body.as_ref().filter(|_| found.insert(function)) else {
            continue;
        };
        open.extend(
            body.code.iter().flat_map(|inst| points_to.callees(function, inst).unwrap_or_default()),
        );
    }
    found
}

fn asks_the_same(one: &Choice, other: &Choice) -> bool {
    match (one.question, other.question) {
        (Some(one), Some(other)) => one.is_about(other),
        _ => false,
    }
}
