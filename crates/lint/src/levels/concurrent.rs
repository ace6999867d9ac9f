//! May-happen-in-parallel analysis of MPI calls.
//!
//! Which calls of MPI may run at once: those in regions of one team that no barrier separates
//! (Algorithm 2 of the paper, between functions, too).
//!
//! All threads of a team pass its constructs in the same order. So of two calls that different
//! threads may make, both are under way at once if a way leads from the end of the one's region to
//! the other without a barrier. Calls and returns are matched: a way leads up to callers of the
//! function that it starts in, and down into functions from which it comes back only where it went
//! in. From a call in a task or thread it leads on from where that is made.

use super::instances::{Entered, Event, Instances, Number};
use super::shape::State;
use super::word::{Letter, Spot, Who, region, who};
use crate::openmp::{Runtime, runtime};
use commsan_ir::{BlockId, Inst, InstId, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// Two calls of MPI by different threads, not ordered. They may be the same call.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Numbers of [`Instances::events`].
    pub events: [usize; 2],
    /// The construct after which nobody waits.
    pub cause: Letter,
}

/// All pairs of a program, each once.
pub fn pairs(instances: &Instances) -> Vec<Pair> {
    let mut by_spot: FxHashMap<(Number, InstId), usize> = FxHashMap::default();
    for (index, event) in instances.events.iter().enumerate() {
        by_spot.insert((event.instance, event.spot.inst), index);
    }
    let through = through(instances);
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for (index, event) in instances.events.iter().enumerate() {
        let Some((team, end)) = region(&event.word) else { continue };
        let alone = team == 0 && !event.word.iter().any(|letter| letter.is_spawned());
        let many = who(&event.word) == Who::Many;
        if alone || many || instances.mpi_of(event).is_free_of_levels() {
            continue;
        }
        let cause = spawned(event, team).unwrap_or(event.word[end - 1]);
        let mut search = Search::new(instances, &through, event, team, end);
        search.run();
        for other in search.reached.iter().filter_map(|place| by_spot.get(place)) {
            let pair = [index.min(*other), index.max(*other)];
            let places = pair.map(|event| instances.events[event].spot);
            if may_overlap(instances, event, &instances.events[*other]) && seen.insert(places) {
                found.push(Pair { events: pair, cause });
            }
        }
    }
    found
}

/// The innermost construct of a team around an event that runs beside its maker.
fn spawned(event: &Event, team: usize) -> Option<Letter> {
    event.word[team..].iter().rev().copied().find(|letter| letter.is_spawned())
}

/// Whether nothing in their words keeps two calls apart.
fn may_overlap(instances: &Instances, one: &Event, other: &Event) -> bool {
    if instances.mpi_of(other).is_free_of_levels() || who(&other.word) == Who::Many {
        return false;
    }
    let (Some((team, _)), first) = (region(&one.word), &one.word) else { return false };
    let spawned = first[team..].iter().chain(&other.word).any(|letter| letter.is_spawned());
    // Of another team there is nothing to say, unless it runs beside this one.
    if !spawned && other.word.get(..team) != Some(&first[..team]) {
        return false;
    }
    let (mine, others) = (&first[team..], other.word.get(team..).unwrap_or_default());
    if may_be_one_of_several(instances, one, other) {
        return false;
    }
    let unknown = |letter: &Letter| match letter {
        Letter::Guard(_) => true,
        Letter::Thread(spot, _) => instances.thread_may_wait(*spot),
        _ => false,
    };
    let guarded = mine.iter().chain(others).any(unknown);
    let locked = mine.iter().filter_map(|l| l.lock()).any(|a| {
        // Locks that cannot be distinguished may be the same.
        others.iter().filter_map(|l| l.lock()).any(|b| a == b || a == UNKNOWN || b == UNKNOWN)
    });
    // Each section is run once for each time that the threads come to all of them.
    let same_section = match (mine.iter().find(is_section), others.iter().find(is_section)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    };
    let depends = |word: &[Letter]| word.iter().any(|l| matches!(l, Letter::Task(_, true)));
    let same_thread = !spawned && are_one_thread(mine, others);
    !(same_thread || guarded || locked || same_section || depends(mine) && depends(others))
}

/// Whether two calls are made by threads that are started in one place to run several functions,
/// the same one in both: it may be run once.
fn may_be_one_of_several(instances: &Instances, one: &Event, other: &Event) -> bool {
    let thread = |event: &Event| {
        let letters = event.word.iter().rev();
        letters.copied().find(|letter| matches!(letter, Letter::Thread(..)))
    };
    let (Some(Letter::Thread(spot, mine)), Some(Letter::Thread(at, its))) =
        (thread(one), thread(other))
    else {
        return false;
    };
    let is_sure = |event: &Event| instances.all[event.instance].sure;
    spot == at && mine == its && !(is_sure(one) && is_sure(other))
}

/// Whether two places of a team are certain to be, or may be, reached by the same thread only.
fn are_one_thread(mine: &[Letter], others: &[Letter]) -> bool {
    // By its number in the team; some place's is not known.
    let number = |letter: &Letter| match letter {
        Letter::Master(_) => Some(Some(0)),
        Letter::Numbered(_, number) => Some(*number),
        Letter::MainThread(_) => Some(None),
        _ => None,
    };
    let of = |word: &[Letter]| word.iter().find_map(number);
    match (of(mine), of(others)) {
        (Some(Some(one)), Some(Some(other))) => one == other,
        (Some(_), Some(_)) => true,
        _ => false,
    }
}

fn is_section(letter: &&Letter) -> bool {
    matches!(letter, Letter::Section(..))
}

const UNKNOWN: commsan_ir::Value = commsan_ir::Value::Opaque;

/// By instance: whether a way leads from its entry to its end without a barrier.
fn through(instances: &Instances) -> Vec<bool> {
    let mut through = vec![false; instances.all.len()];
    loop {
        let mut changed = false;
        for number in 0..instances.all.len() {
            if !through[number] && passes(instances, number, &through) {
                through[number] = true;
                changed = true;
            }
        }
        if !changed {
            return through;
        }
    }
}

/// Whether whoever is called of these, a way to its end leads over a barrier.
fn are_barriers(callees: &[(Number, Entered)], through: &[bool]) -> bool {
    callees.iter().all(|(callee, how)| *how == Entered::Called && !through[*callee])
}

fn passes(instances: &Instances, number: Number, through: &[bool]) -> bool {
    let body = instances.body(number);
    let mut seen = FxHashSet::default();
    let mut open = vec![(BlockId(0), false)];
    while let Some((block, begun)) = open.pop() {
        if !seen.insert((block, begun)) {
            continue;
        }
        let stops = body.instructions(block).any(|(id, inst)| {
            let callees = instances.all[number].calls.get(&id);
            runtime(instances.program, inst) == Some(Runtime::Barrier)
                || callees.is_some_and(|callees| are_barriers(callees, through))
        });
        if stops {
            continue;
        }
        if body.end(block).is_some_and(|end| end.op == Op::Return) {
            return true;
        }
        open.extend(instances.shape(number).ways(body, block, begun));
    }
    false
}

/// A walk over all places that threads may be at while another is at an event.
struct Search<'s, 'p> {
    instances: &'s Instances<'p>,
    through: &'s [bool],
    /// The region of the event: up to here, its words are those of one thread.
    region: Vec<Letter>,
    open: Vec<Step>,
    seen: FxHashSet<Step>,
    /// Calls of MPI.
    reached: FxHashSet<(Number, InstId)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Ends {
    /// A barrier of the team.
    Barrier,
    /// Also where the tasks are waited for.
    Task,
    /// A task whose creator, a task too, has ended: `taskwait` waits only for child tasks, hence
    /// not for it.
    Descendant,
    /// Only where the thread is waited for, or may be.
    Thread,
}

/// The begin of a block.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Step {
    instance: Number,
    block: BlockId,
    /// The first instruction to look at.
    from: usize,
    /// Whether a loop begins here.
    begun: bool,
    /// Whether the way has gone into a function and has to come back where it went in.
    down: bool,
    /// Whether it has left the event's region. What is spawned from within begins after the event;
    /// what the event comes after is found from there.
    left: bool,
    /// What ends the way.
    ends: Ends,
}

impl<'s, 'p> Search<'s, 'p> {
    fn new(
        instances: &'s Instances<'p>,
        through: &'s [bool],
        event: &Event,
        team: usize,
        end: usize,
    ) -> Self {
        let spawned = spawned(event, team);
        let ends = match spawned {
            None => Ends::Barrier,
            Some(Letter::Thread(..)) => Ends::Thread,
            Some(_) => Ends::Task,
        };
        let region = event.word[..end].to_vec();
        let (open, seen, reached) = Default::default();
        let mut search = Search { instances, through, region, open, seen, reached };
        match spawned {
            // What runs beside its maker does so from where it is made.
            Some(letter) => search.start_at(letter.spot(), ends),
            None => {
                let step = (event.instance, event.block, event.spot.inst);
                search.push_after(step.0, step.1, step.2, false, ends);
            }
        }
        search
    }

    fn start_at(&mut self, spot: Spot, ends: Ends) {
        for number in self.instances.of_function(spot.function) {
            let Some(block) = self.block_of(*number, spot.inst) else { continue };
            let body = self.instances.body(*number);
            let asked = runtime(self.instances.program, &body[spot.inst]);
            // The tasks of a `taskloop` run beside each other, too.
            let own = self.instances.all[*number].calls.get(&spot.inst).map(|own| &**own);
            if let (Some(Runtime::TaskLoop(_)), Some([(instance, _)])) = (asked, own) {
                let (instance, block) = (*instance, BlockId(0));
                self.push(Step {
                    instance,
                    block,
                    from: 0,
                    begun: false,
                    down: true,
                    left: true,
                    ends,
                });
            }
            self.push_after(*number, block, spot.inst, true, ends);
        }
    }

    fn block_of(&self, number: Number, inst: InstId) -> Option<BlockId> {
        let body = self.instances.body(number);
        body.block_ids().find(|block| body[*block].code.contains(&inst))
    }

    /// Goes on after a call, on a way that need not come back.
    fn push_after(&mut self, instance: Number, block: BlockId, id: InstId, left: bool, ends: Ends) {
        let code = &self.instances.body(instance)[block].code;
        let from = code.iter().position(|at| *at == id).map_or(code.len(), |at| at + 1);
        self.push(Step { instance, block, from, begun: false, down: false, left, ends });
    }

    fn push(&mut self, step: Step) {
        if self.seen.insert(step.clone()) {
            self.open.push(step);
        }
    }

    fn run(&mut self) {
        while let Some(step) = self.open.pop() {
            self.walk(step);
        }
    }

    /// Goes through a block.
    fn walk(&mut self, step: Step) {
        let Step { instance, block, from, begun, down, mut left, ends } = step;
        let body = self.instances.body(instance);
        let known = &self.instances.all[instance];
        let Some(mut state) = self.instances.state(instance, block).cloned() else { return };
        left = left || self.has_left(instance, &state);
        for (index, (id, inst)) in body.instructions(block).enumerate() {
            if !matches!(inst.op, Op::Call(_)) {
                continue;
            }
            self.instances.step(instance, id, inst, &mut state);
            if index < from {
                continue;
            }
            left = left || self.has_left(instance, &state);
            if self.stops(instance, inst, ends) {
                return;
            }
            if left && self.instances.mpi.at(inst).is_some() {
                self.reached.insert((instance, id));
            }
            let Some(called) = known.calls.get(&id) else { continue };
            for (callee, how) in called.iter().copied() {
                // A team is waited for; what it does meanwhile is done by other teams.
                let enters = how != Entered::Forked || ends == Ends::Thread;
                if enters {
                    self.push(Step {
                        instance: callee,
                        block: BlockId(0),
                        from: 0,
                        begun: false,
                        down: true,
                        left,
                        ends,
                    });
                }
            }
            if are_barriers(called, self.through) && ends != Ends::Thread {
                return;
            }
        }
        if body.end(block).is_some_and(|end| end.op == Op::Return) && !down {
            self.ascend(instance, left, ends);
        }
        for (block, begun) in self.instances.shape(instance).ways(body, block, begun) {
            self.push(Step { instance, block, from: 0, begun, down, left, ends });
        }
    }

    fn ascend(&mut self, instance: Number, left: bool, ends: Ends) {
        for (caller, call) in &self.instances.all[instance].callers {
            let how = self.instances.entered(*caller, *call, instance);
            let made = || {
                let inst = &self.instances.body(*caller)[*call];
                matches!(runtime(self.instances.program, inst), Some(Runtime::Task { .. }))
            };
            let ends = match how {
                Some(Entered::Called) => ends,
                // What a task has made, and not waited for, may outlive it.
                Some(Entered::Spawned)
                    if matches!(ends, Ends::Task | Ends::Descendant) && made() =>
                {
                    Ends::Descendant
                }
                // The end of a team is a barrier, other tasks and threads go nowhere.
                _ => continue,
            };
            if let Some(block) = self.block_of(*caller, *call) {
                self.push_after(*caller, block, *call, left, ends);
            }
        }
    }

    fn stops(&self, instance: Number, inst: &Inst, ends: Ends) -> bool {
        let asked = runtime(self.instances.program, inst);
        match ends {
            Ends::Barrier => asked == Some(Runtime::Barrier),
            Ends::Task => {
                matches!(asked, Some(Runtime::Barrier | Runtime::TaskWait | Runtime::GroupWait))
            }
            Ends::Descendant => matches!(asked, Some(Runtime::Barrier | Runtime::GroupWait)),
            Ends::Thread => self.instances.waits_at(instance, inst),
        }
    }

    fn has_left(&self, instance: Number, state: &State) -> bool {
        let word = self.instances.word(instance, state);
        word.is_some_and(|word| !word.starts_with(&self.region))
    }
}
