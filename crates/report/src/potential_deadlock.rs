//! Potential deadlocks, which MPI hides as it buffers messages and lets collectives return early: a
//! replay of the run without either.
//!
//! **Soundness.** See [`crate::replay`]. A program that deadlocks once collectives wait for all
//! ranks is wrong (MPI 4.1 §6.14); one that needs its messages buffered is called unsafe (§3.5),
//! and hangs when they grow. Missed is what comes after a rank's first 2,048 steps, or after it has
//! asked for the first that comes, whatever it is.

use crate::deadlock::advice;
use crate::facts::at;
use crate::merge;
use crate::messages::{Counts, jobs, joined};
use crate::replay::{Link, Replay, Rules};
use crate::symbols::Symbols;
use crate::wait_for_graph::{self, envelope};
use commsan_findings::{Code, Finding, Frame, Message, NeedKind, Role, Site, Step};
use commsan_rundir::record::RawSite;
use commsan_rundir::{Job, RankLog, Steps};

/// Maximum number of ranks of a cycle that a finding shows.
const MAX_SHOWN: usize = 3;

/// A cycle of ranks that wait for each other wherever MPI may wait.
pub(crate) struct PotentialDeadlock<'r> {
    job: Job,
    code: Code,
    links: Vec<(Link, &'r RankLog, &'r RankLog)>,
}

/// The potential deadlocks of all jobs.
pub(crate) fn cycles(logs: &[RankLog]) -> Vec<PotentialDeadlock<'_>> {
    jobs(logs).flat_map(|(job, ranks)| cycles_of(job, &ranks)).collect()
}

fn cycles_of<'r>(job: Job, counts: &Counts<'r>) -> Vec<PotentialDeadlock<'r>> {
    let size = counts.last_key_value().map_or(0, |(rank, _)| *rank as usize + 1);
    let mut ranks: Vec<Option<&Steps>> = vec![None; size];
    for (rank, (log, messages)) in counts {
        // Of a log with gaps the steps do not follow each other.
        ranks[*rank as usize] = Some(&messages.steps).filter(|_| log.problems.is_empty());
    }
    let replay = Replay::new(&ranks);
    let mut found = Vec::new();
    let mut take = |code, rules, is_new: &dyn Fn(&[Link]) -> bool| {
        for cycle in replay.cycles(rules).into_iter().filter(|cycle| is_new(cycle)) {
            let log = |rank: u32| counts.get(&rank).map(|(log, _)| *log);
            let links =
                cycle.into_iter().map(|link| Some((link, log(link.rank)?, log(link.next)?)));
            if let Some(links) = links.collect() {
                found.push(PotentialDeadlock { job, code, links });
            }
        }
    };
    let begun = |link: &Link| ranks[link.rank as usize]?.sure().get(link.begun as usize);
    // Collectives alone are compared while the program runs (CS-COL-05).
    let has_message =
        |links: &[Link]| links.iter().any(|link| !matches!(begun(link), Some(Step::Enter { .. })));
    let has_send =
        |links: &[Link]| links.iter().any(|link| matches!(begun(link), Some(Step::Send(_))));
    take(Code::CollectiveMayWait, Rules { sends: false, collectives: true }, &has_message);
    take(Code::SendMayWait, Rules { sends: true, collectives: true }, &has_send);
    found
}

/// A rank of a cycle.
struct Waiting<'h> {
    link: &'h Link,
    /// Where it waits, and where it has begun what it waits for, if elsewhere.
    here: Place<'h>,
    begun: Option<Place<'h>>,
    /// Where the next one would do what is waited for.
    there: Place<'h>,
    step: Step,
    on: &'h str,
    name: u64,
}

struct Place<'h> {
    raw: &'h RawSite<'static>,
    stack: Vec<Frame>,
}

impl Place<'_> {
    fn call(&self) -> &str {
        self.raw.call.as_deref().unwrap_or("an MPI call")
    }

    fn is_at(&self, other: &Place) -> bool {
        self.raw == other.raw
    }
}

impl PotentialDeadlock<'_> {
    /// All places that the finding shows.
    pub fn sites(&self) -> impl Iterator<Item = (&RankLog, &RawSite<'static>)> {
        self.links.iter().flat_map(|(link, log, next)| {
            let places = [(*log, link.step), (*log, link.begun), (*next, link.meets)];
            places.into_iter().filter_map(|(log, step)| Some((log, self.site(log, step)?)))
        })
    }

    fn step(&self, log: &RankLog, step: u32) -> Option<Step> {
        log.messages.get(&self.job)?.steps.all.get(step as usize).copied()
    }

    fn site<'l>(&self, log: &'l RankLog, step: u32) -> Option<&'l RawSite<'static>> {
        log.sites.get(&(self.job, self.step(log, step)?.place()?))
    }

    fn place<'l>(&self, log: &'l RankLog, step: u32, symbols: &Symbols) -> Option<Place<'l>> {
        let raw = self.site(log, step)?;
        Some(Place { raw, stack: symbols.stack(log, raw) })
    }

    fn waiting<'h>(
        &'h self,
        (link, log, next): &'h (Link, &RankLog, &RankLog),
        symbols: &Symbols,
    ) -> Option<Waiting<'h>> {
        let here = self.place(log, link.step, symbols)?;
        let begun = self.place(log, link.begun, symbols)?;
        let step = self.step(log, link.begun)?;
        let comm = match step {
            Step::Send(message) | Step::Kept(message) | Step::Receive(message) => message.comm,
            Step::Probe(message) => message.comm,
            Step::Enter { comm, .. } => comm,
            _ => return None,
        };
        let comm = log.messages.get(&self.job)?.steps.comms.get(comm as usize)?;
        Some(Waiting {
            link,
            begun: (!begun.is_at(&here)).then_some(begun),
            here,
            there: self.place(next, link.meets, symbols)?,
            step,
            on: &comm.on,
            name: comm.name,
        })
    }

    fn finding(&self, symbols: &Symbols) -> Option<Finding> {
        let all: Option<Vec<Waiting>> =
            self.links.iter().map(|link| self.waiting(link, symbols)).collect();
        let all = all?;
        let mut members: Vec<u32> = all.iter().map(|waiting| waiting.link.rank).collect();
        members.sort_unstable();
        let to_itself = matches!(&*all, [only] if only.link.rank == only.link.next);
        let needs: Vec<_> = all.iter().map(|waiting| (waiting.kind(), waiting.name)).collect();
        Some(Finding {
            job: None,
            moments: vec![],
            code: self.code,
            title: self.code.title().to_owned(),
            message: self.message(&all),
            count: 1,
            ranks: members,
            possible: false,
            sites: sites(&all),
            why: self.why(&all),
            help: advice(&needs, to_itself).to_owned(),
        })
    }

    fn message(&self, all: &[Waiting]) -> String {
        let condition = match self.code {
            Code::CollectiveMayWait => {
                let mut entered =
                    all.iter().filter(|waiting| waiting.kind() == NeedKind::Collective);
                let call = entered.next().map_or("the collective", |waiting| waiting.call());
                format!("if {call} waits for all ranks")
            }
            _ => "unless MPI buffers the messages".to_owned(),
        };
        let waiting: Vec<_> =
            all.iter().map(|waiting| (waiting.link.rank, waiting.here.call())).collect();
        // The words of a longer cycle end with a phrase that a comma sets off.
        let comma = if waiting.len() > 2 { "," } else { "" };
        format!("{}{comma} {condition}", wait_for_graph::in_words(&waiting))
    }

    fn why(&self, all: &[Waiting]) -> String {
        let mut parts: Vec<String> = all.iter().take(MAX_SHOWN).map(Waiting::describe).collect();
        if all.len() > MAX_SHOWN {
            parts.push(format!("and so on, {} ranks in all", all.len()));
        }
        parts.push(match self.code {
            Code::CollectiveMayWait => {
                "this time the collective has not waited, but any collective may (MPI 4.1 §6.14)".to_owned()
            }
            _ => "this time MPI has buffered the messages, but it need not, and large ones it does not (MPI 4.1 §3.5)"
                .to_owned(),
        });
        parts.join("; ")
    }
}

impl Waiting<'_> {
    fn kind(&self) -> NeedKind {
        match self.step {
            Step::Send(_) | Step::Kept(_) => NeedKind::Send,
            Step::Enter { .. } => NeedKind::Collective,
            _ => NeedKind::Receive,
        }
    }

    /// The call that has begun what is waited for.
    fn call(&self) -> &str {
        self.begun.as_ref().unwrap_or(&self.here).call()
    }

    fn what(&self) -> String {
        let next = match self.link.next {
            next if next == self.link.rank => "itself".to_owned(),
            next => format!("rank {next}"),
        };
        let what = match self.step {
            Step::Send(Message { tag, .. }) | Step::Kept(Message { tag, .. }) => {
                format!("{next} to receive its message{}", envelope(tag, self.on))
            }
            Step::Enter { .. } => {
                format!("{next} to enter the same {} on {}", self.call(), self.on)
            }
            Step::Receive(Message { tag, .. }) | Step::Probe(Message { tag, .. }) => {
                format!("a message from {next}{}", envelope(tag, self.on))
            }
            _ => next,
        };
        match &self.begun {
            Some(begun) if self.kind() != NeedKind::Collective => {
                format!("{what}, for its {}{}", begun.call(), at(&begun.stack))
            }
            _ => what,
        }
    }

    fn describe(&self) -> String {
        let Waiting { link: Link { rank, next, .. }, here, there, .. } = self;
        let whose = if next == rank { "its own".to_owned() } else { format!("rank {next}'s") };
        format!(
            "rank {rank} waits in {}{} for {}, but {whose} {}{} comes later",
            here.call(),
            at(&here.stack),
            self.what(),
            there.call(),
            at(&there.stack)
        )
    }
}

/// Where ranks wait, and where they would do what others wait for.
fn sites(all: &[Waiting]) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    let mut add = |role: Role, rank: u32, place: &Place, label: String| {
        let site = Site { role, ..merge::site(rank, place.raw, &place.stack, label) };
        let line = |site: &Site| (site.role, site.file.clone(), site.line, site.column);
        if sites.iter().all(|other| line(other) != line(&site)) {
            sites.push(site);
        }
    };
    for waiting in all.iter().take(MAX_SHOWN) {
        let (rank, here) = (waiting.link.rank, &waiting.here);
        let label = format!("{} waits for {}", here.call(), waiting.what());
        add(Role::Wait, rank, here, label);
    }
    for Waiting { link, there, .. } in all.iter().take(MAX_SHOWN) {
        let label = format!("{} comes later", there.call());
        add(Role::Operation, link.next, there, label);
    }
    sites
}

/// A finding for each potential deadlock; those at the same places are one.
pub(crate) fn findings(potential: &[PotentialDeadlock], symbols: &Symbols) -> Vec<Finding> {
    joined(potential.iter().filter_map(|deadlock| deadlock.finding(symbols)).collect())
}
