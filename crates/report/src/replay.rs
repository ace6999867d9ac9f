//! Replay of a run from the communication steps of its ranks, with sends that wait for their
//! receives, or collectives that wait for all ranks, as MPI permits.
//!
//! **Soundness.** Ranks do the same steps, in the same order: those in which time decides nothing,
//! as `commsan_mpi::steps` has it. Which receive takes which message is the same in all runs then,
//! each receive taking the first message that fits. What ranks do after their steps is not known:
//! who waits for that may go on. A cycle of ranks that wait for steps behind each other's is one in
//! any run with the same input in which MPI waits where it may. Of steps that do not fit together
//! even if MPI waits nowhere, as some were made by `PMPI_` functions, nothing is said.

use crate::wait_for_graph::WaitForGraph;
use commsan_findings::{Message, Step};
use commsan_rundir::{Comm, Steps};
use std::collections::HashMap;

/// Maximum number of cycles that are searched for, one after the other.
const MAX_CYCLES: usize = 32;

/// Which calls wait although MPI permits them to return early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// A send waits until it is received.
    pub sends: bool,
    /// A collective waits until all have entered it.
    pub collectives: bool,
}

/// A rank that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub rank: u32,
    /// The position of the step that waits, and of that which has begun what it waits for.
    pub step: u32,
    pub begun: u32,
    /// For which rank, and which step of that, which comes later.
    pub next: u32,
    pub meets: u32,
}

/// What the end of something needs.
#[derive(Clone, Copy, Debug)]
enum Need {
    /// Nothing, or something that is not known, which may be there.
    Nothing,
    /// A step of a rank has been begun.
    Step(u32, u32),
    /// All have entered this.
    All(u32),
}

/// A collective.
#[derive(Debug, Default)]
struct Collective {
    /// Where each member enters it; fewer than members if that is not known of all.
    entered: Vec<(u32, u32)>,
    members: usize,
}

/// The ranks of a job and how their steps belong together.
pub(crate) struct Replay<'s> {
    ranks: Vec<&'s [Step]>,
    /// By rank and step: what the end of what that begins needs.
    needs: Vec<Vec<Need>>,
    collectives: Vec<Collective>,
}

/// Messages from a rank to another one on a communicator: positions and tags, and whether they are
/// received.
type Channel = Vec<(u32, Option<i32>, bool)>;

impl<'s> Replay<'s> {
    /// Of a job's ranks; `None` stands for those of which nothing is known.
    pub fn new(ranks: &[Option<&'s Steps>]) -> Replay<'s> {
        let all = |rank: &Option<&'s Steps>| rank.map_or(&[][..], |steps| steps.sure());
        let mut replay = Replay {
            ranks: ranks.iter().map(all).collect(),
            needs: ranks.iter().map(|rank| vec![Need::Nothing; all(rank).len()]).collect(),
            collectives: Vec::new(),
        };
        replay.join_messages(ranks);
        replay.join_collectives(ranks);
        replay
    }

    fn join_messages(&mut self, ranks: &[Option<&'s Steps>]) {
        let name = |rank: usize, comm: u32| Some(ranks[rank]?.comms.get(comm as usize)?.name);
        let mut channels: HashMap<(u64, u32, u32), Channel> = HashMap::new();
        for (rank, steps) in self.ranks.iter().enumerate() {
            for (at, step) in (0..).zip(*steps) {
                if let Step::Send(Message { comm, peer, tag, .. })
                | Step::Kept(Message { comm, peer, tag, .. }) = *step
                    && let Some(name) = name(rank, comm)
                {
                    let channel = channels.entry((name, rank as u32, peer)).or_default();
                    channel.push((at, tag, false));
                }
            }
        }
        for (rank, steps) in self.ranks.iter().enumerate() {
            for (at, step) in (0..).zip(*steps) {
                let (Step::Receive(wanted) | Step::Probe(wanted)) = *step else { continue };
                let channel = name(rank, wanted.comm)
                    .and_then(|name| channels.get_mut(&(name, wanted.peer, rank as u32)));
                let fits = |(_, tag, is_received): &&mut (u32, Option<i32>, bool)| {
                    !is_received && (wanted.tag.is_none() || *tag == wanted.tag)
                };
                let sent = channel.and_then(|channel| channel.iter_mut().find(fits));
                let Some((sent, _, is_received)) = sent else { continue };
                self.needs[rank][at as usize] = Need::Step(wanted.peer, *sent);
                if let Step::Receive(_) = step {
                    *is_received = true;
                    self.needs[wanted.peer as usize][*sent as usize] = Need::Step(rank as u32, at);
                }
            }
        }
    }

    /// The n-th that each member has entered is the same.
    fn join_collectives(&mut self, ranks: &[Option<&'s Steps>]) {
        let mut numbers: HashMap<(u64, u32), u32> = HashMap::new();
        for (rank, of) in ranks.iter().enumerate() {
            let Some(of) = of else { continue };
            let mut entered: HashMap<u64, u32> = HashMap::new();
            for (at, step) in (0..).zip(of.sure()) {
                let Step::Enter { comm, .. } = step else { continue };
                let Some(Comm { name, members, .. }) = of.comms.get(*comm as usize) else {
                    continue;
                };
                let nth = entered.entry(*name).and_modify(|nth| *nth += 1).or_default();
                let number = *numbers.entry((*name, *nth)).or_insert_with(|| {
                    let new = Collective { entered: Vec::new(), members: members.len() };
                    self.collectives.push(new);
                    self.collectives.len() as u32 - 1
                });
                self.collectives[number as usize].entered.push((rank as u32, at));
                self.needs[rank][at as usize] = Need::All(number);
            }
        }
    }

    /// Ranks that wait for each other, if MPI waits where these rules say.
    pub fn cycles(&self, rules: Rules) -> Vec<Vec<Link>> {
        let loose = Rules { sends: false, collectives: false };
        if !Run::new(self, loose).go().is_empty() {
            return Vec::new();
        }
        let mut run = Run::new(self, rules);
        let mut found = Vec::new();
        while found.len() < MAX_CYCLES {
            let stuck = run.go();
            let Some(cycle) = run.cycle(&stuck) else { break };
            cycle.iter().for_each(|link| run.pass(link.rank as usize));
            found.push(cycle);
        }
        found
    }
}

/// How far ranks have come.
struct Run<'r> {
    replay: &'r Replay<'r>,
    rules: Rules,
    /// Each rank's first step that is not done, which may be begun.
    at: Vec<u32>,
    is_begun: Vec<bool>,
    /// How many have entered each collective.
    entered: Vec<usize>,
    /// Who waits for a step, and for a collective.
    for_step: HashMap<(u32, u32), Vec<u32>>,
    for_all: Vec<Vec<u32>>,
    /// Ranks that may go on.
    ready: Vec<u32>,
}

impl<'r> Run<'r> {
    fn new(replay: &'r Replay<'r>, rules: Rules) -> Run<'r> {
        let ranks = replay.ranks.len();
        Run {
            replay,
            rules,
            at: vec![0; ranks],
            is_begun: vec![false; ranks],
            entered: vec![0; replay.collectives.len()],
            for_step: HashMap::new(),
            for_all: vec![Vec::new(); replay.collectives.len()],
            ready: (0..ranks as u32).collect(),
        }
    }

    /// Lets all go on as far as they can; returns those that wait.
    fn go(&mut self) -> Vec<u32> {
        while let Some(rank) = self.ready.pop() {
            self.advance(rank as usize);
        }
        let waits = |rank: &u32| self.step(*rank as usize).is_some();
        (0..self.at.len() as u32).filter(waits).collect()
    }

    fn step(&self, rank: usize) -> Option<Step> {
        self.replay.ranks[rank].get(self.at[rank] as usize).copied()
    }

    fn advance(&mut self, rank: usize) {
        while let Some(step) = self.step(rank) {
            self.begin(rank);
            match self.need(rank, step) {
                Need::Nothing => self.pass(rank),
                Need::Step(other, step) => {
                    if self.has_begun(other, step) {
                        self.pass(rank);
                    } else {
                        return self.for_step.entry((other, step)).or_default().push(rank as u32);
                    }
                }
                Need::All(number) => {
                    if self.entered[number as usize] == self.collective(number).members {
                        self.pass(rank);
                    } else {
                        return self.for_all[number as usize].push(rank as u32);
                    }
                }
            }
        }
    }

    fn has_begun(&self, rank: u32, step: u32) -> bool {
        let at = self.at[rank as usize];
        step < at || step == at && self.is_begun[rank as usize]
    }

    /// What a step waits for.
    fn need(&self, rank: usize, step: Step) -> Need {
        let needs = &self.replay.needs[rank];
        match step {
            Step::Probe(_) => needs[self.at[rank] as usize],
            Step::Finish { begun, .. } => {
                let need = needs.get(begun as usize).copied().unwrap_or(Need::Nothing);
                let waits = match (self.replay.ranks[rank].get(begun as usize), need) {
                    (Some(Step::Send(_)), _) => self.rules.sends,
                    (Some(Step::Receive(_)), _) => true,
                    (_, Need::All(number)) => {
                        self.rules.collectives && self.collective(number).is_known()
                    }
                    _ => false,
                };
                if waits { need } else { Need::Nothing }
            }
            _ => Need::Nothing,
        }
    }

    fn collective(&self, number: u32) -> &'r Collective {
        &self.replay.collectives[number as usize]
    }

    /// A rank has come to its next step.
    fn begin(&mut self, rank: usize) {
        if std::mem::replace(&mut self.is_begun[rank], true) {
            return;
        }
        let at = self.at[rank];
        self.ready.extend(self.for_step.remove(&(rank as u32, at)).into_iter().flatten());
        if let Some(Step::Enter { .. }) = self.step(rank)
            && let Need::All(number) = self.replay.needs[rank][at as usize]
        {
            self.entered[number as usize] += 1;
            if self.entered[number as usize] == self.collective(number).members {
                self.ready.append(&mut self.for_all[number as usize]);
            }
        }
    }

    /// Its step is done.
    fn pass(&mut self, rank: usize) {
        self.at[rank] += 1;
        self.is_begun[rank] = false;
    }
}

impl Collective {
    /// Whether it is known where all enter it.
    fn is_known(&self) -> bool {
        self.entered.len() == self.members
    }
}

impl Run<'_> {
    /// What keeps a rank that waits: ranks, and the steps of theirs that it waits for.
    fn kept_by(&self, rank: u32) -> Vec<(u32, u32)> {
        let Some(step) = self.step(rank as usize) else { return Vec::new() };
        match self.need(rank as usize, step) {
            Need::Step(other, step) => vec![(other, step)],
            Need::All(number) => {
                let is_missing = |(other, step): &&(u32, u32)| !self.has_begun(*other, *step);
                self.collective(number).entered.iter().filter(is_missing).copied().collect()
            }
            Need::Nothing => Vec::new(),
        }
    }

    /// A smallest cycle of those that wait.
    fn cycle(&mut self, stuck: &[u32]) -> Option<Vec<Link>> {
        if stuck.is_empty() {
            return None;
        }
        let of = |rank: usize| self.kept_by(rank as u32).into_iter().map(|(other, _)| other);
        let cycle = WaitForGraph::new(self.at.len(), of).shortest_cycle()?;
        let nexts = cycle.iter().cycle().skip(1);
        let link = |(rank, next): (&usize, &usize)| {
            let (rank, next) = (*rank as u32, *next as u32);
            let (_, meets) = self.kept_by(rank).into_iter().find(|(other, _)| *other == next)?;
            let step = self.at[rank as usize];
            let begun = match self.step(rank as usize)? {
                Step::Finish { begun, .. } => begun,
                _ => step,
            };
            Some(Link { rank, step, begun, next, meets })
        };
        let links: Option<Vec<Link>> = cycle.iter().zip(nexts).map(link).collect();
        // They go on now, and are not woken again for what they have waited for.
        for link in links.iter().flatten() {
            self.ready.push(link.rank);
            self.for_step
                .values_mut()
                .for_each(|waiting| waiting.retain(|rank| *rank != link.rank));
            self.for_all.iter_mut().for_each(|waiting| waiting.retain(|rank| *rank != link.rank));
        }
        links
    }
}

#[cfg(test)]
mod tests;
