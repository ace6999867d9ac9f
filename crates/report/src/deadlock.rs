//! Deadlocks that the launcher has detected: which rank waits for which.
//!
//! That all ranks wait for each other's calls, and none has made one for long, is certain before
//! anything comes here. If some are in a collective that all have come to, or wait for one-sided
//! operations that no lock or epoch of another rank holds up, these may take their time, and that
//! is no deadlock; otherwise no rank can go on, and what ranks say they wait for explains it: a
//! cycle of ranks each of which waits for the next, or a rank that waits for one that has ended.
//! Operations of requests may be complete without their rank knowing: those that meet their
//! counterpart explain nothing, and are left out where anything else does.

use crate::facts::at;
use crate::merge;
use crate::ranks;
use crate::symbols::Symbols;
use crate::wait_for_graph::{self, WaitForGraph, envelope};
use commsan_findings::{Code, Finding, Frame, Held, Moment, NeedKind, Site};
use commsan_rundir::record::{RawNeed, RawWaiting};
use commsan_rundir::{Deadlock, RankLog};
use std::collections::BTreeMap;

/// Maximum number of places of a cycle that a finding shows.
const MAX_SHOWN: usize = 8;

/// A finding for each deadlock.
pub(crate) fn findings(
    deadlocks: &[Deadlock],
    logs: &[RankLog],
    symbols: &Symbols,
) -> Vec<Finding> {
    deadlocks.iter().filter_map(|deadlock| Job::new(deadlock, logs, symbols).finding()).collect()
}

/// What terminated ranks were waiting for, or where they were.
pub(crate) fn last_seen(
    seen: &[commsan_rundir::Stuck],
    logs: &[RankLog],
    symbols: &Symbols,
) -> Vec<(u32, String)> {
    let ended = logs.iter().filter(|log| log.start.is_some() && log.end.is_none());
    let notes = ended.filter_map(|log| {
        let process = log.start.as_ref()?.pid;
        let is_it =
            |rank: &&commsan_rundir::Stuck| (rank.rank, rank.process) == (log.rank, process);
        let stuck = Stuck::of(seen.iter().find(is_it)?, logs);
        let Some((log, waiting)) = stuck.calls.first().copied() else {
            return Some((log.rank, "was not waiting for others when the job ended".to_owned()));
        };
        let stack = symbols.stack(log, &waiting.site);
        let call = called(waiting);
        if waiting.moves.is_multiple_of(2) {
            let doing = match waiting.again {
                true => format!("was calling {call}{} again and again", at(&stack)),
                false => {
                    format!("was not waiting for others, but at work after {call}{}", at(&stack))
                }
            };
            let open = waiting.pending.first().filter(|_| waiting.again);
            let open = open.map_or_else(String::new, |need| {
                format!(", with an operation open that needs {}", what(need, None))
            });
            return Some((log.rank, format!("{doing} when the job ended{open}")));
        }
        let what = waiting
            .needs
            .first()
            .map_or_else(String::new, |need| format!(" for {}", what(need, None)));
        Some((log.rank, format!("was waiting in {call}{}{what} when the job ended", at(&stack))))
    });
    notes.collect()
}

/// A job of which no rank can go on.
struct Job<'r> {
    ranks: Vec<Stuck<'r>>,
    seconds: u64,
    symbols: &'r Symbols,
}

/// One rank of a job.
struct Stuck<'r> {
    /// The calls in which its threads wait; none if it has ended.
    calls: Vec<(&'r RankLog, &'r RawWaiting<'static>)>,
    /// When the launcher saw it there first, in nanoseconds since 1970.
    since: Option<u64>,
}

impl<'r> Stuck<'r> {
    fn of(rank: &commsan_rundir::Stuck, logs: &'r [RankLog]) -> Stuck<'r> {
        let waits = logs.iter().flat_map(|log| log.waits.iter().map(move |waits| (log, waits)));
        let here = waits.filter(|(log, (process, waiting))| {
            (log.rank, *process) == (rank.rank, rank.process) && Some(waiting.moves) == rank.moves
        });
        // Who was asked twice has answered twice.
        let by_thread: BTreeMap<u32, _> =
            here.map(|(log, (_, waiting))| (waiting.site.thread, (log, waiting))).collect();
        Stuck { calls: by_thread.into_values().collect(), since: rank.since }
    }

    /// The operations for which the rank waits, and the others that it has started.
    fn operations(&self) -> impl Iterator<Item = &'r RawNeed<'static>> {
        self.calls.iter().flat_map(|(_, waiting)| waiting.needs.iter().chain(&*waiting.pending))
    }
}

/// What a call of a rank waits for, and which ranks have not done their part.
#[derive(Clone)]
struct Needed<'r> {
    log: &'r RankLog,
    waiting: &'r RawWaiting<'static>,
    need: &'r RawNeed<'static>,
    missing: Vec<u32>,
}

/// A rank of the cycle, and what it needs of the next.
struct Link<'r> {
    rank: usize,
    next: usize,
    log: &'r RankLog,
    waiting: &'r RawWaiting<'static>,
    need: &'r RawNeed<'static>,
    stack: Vec<Frame>,
}

impl<'r> Job<'r> {
    fn new(deadlock: &Deadlock, logs: &'r [RankLog], symbols: &'r Symbols) -> Job<'r> {
        let ranks = deadlock.ranks.iter().map(|rank| Stuck::of(rank, logs)).collect();
        Job { ranks, seconds: deadlock.seconds, symbols }
    }

    /// A rank that has not ended.
    fn stuck(&self, rank: usize) -> Option<&Stuck<'r>> {
        self.ranks.get(rank).filter(|stuck| !stuck.calls.is_empty())
    }

    /// The ranks of a need that have not done their part, as far as their records show.
    fn missing(&self, rank: usize, need: &RawNeed) -> Vec<u32> {
        let others = need.ranks.iter().copied();
        let is_missing = |other: u32| {
            // What a rank had called of NCCL when it ended is not known.
            let of_nccl = need.call.starts_with("nccl");
            let Some(stuck) = self.stuck(other as usize) else { return !of_nccl };
            let mut entered = stuck.calls.iter().flat_map(|(_, waiting)| &*waiting.entered);
            match need.kind {
                NeedKind::Collective => {
                    let has_come =
                        |(name, number): &(u64, u32)| *name == need.name && *number >= need.number;
                    need.name == 0 || !entered.any(has_come)
                }
                NeedKind::Send | NeedKind::Receive => {
                    !stuck.operations().any(|theirs| meets(rank, need, theirs))
                }
                NeedKind::Lock => entered.any(|(name, number)| {
                    *name == need.name && Held::of(*number).excludes(Held::of(need.number))
                }),
                NeedKind::Exposure => !entered.any(|(name, _)| *name == need.name),
                NeedKind::Window | NeedKind::Other => true,
            }
        };
        others.filter(|other| is_missing(*other)).collect()
    }

    /// What a rank needs.
    fn needs(&self, rank: usize) -> Vec<Needed<'r>> {
        let calls = self.ranks[rank].calls.iter();
        let mut all: Vec<_> = calls
            .flat_map(|(log, waiting)| waiting.needs.iter().map(move |need| (*log, *waiting, need)))
            .map(|(log, waiting, need)| Needed {
                log,
                waiting,
                need,
                missing: self.missing(rank, need),
            })
            .collect();
        match all.iter().all(|needed| needed.missing.is_empty()) {
            true => all.iter_mut().for_each(|needed| needed.missing = needed.need.ranks.to_vec()),
            false => all.retain(|needed| !needed.missing.is_empty()),
        }
        all
    }

    /// Each rank of a cycle with its need; or a rank that waits for one that has ended.
    fn links(&self) -> Vec<Link<'r>> {
        let needs: Vec<_> = (0..self.ranks.len()).map(|rank| self.needs(rank)).collect();
        let of = |rank: usize| needs[rank].iter().flat_map(|needed| needed.missing.iter().copied());
        let waits = WaitForGraph::new(self.ranks.len(), of);
        let link = |rank: usize, next: usize| {
            let is_by = |needed: &&Needed| needed.missing.contains(&(next as u32));
            let Needed { log, waiting, need, .. } = *needs[rank].iter().find(is_by)?;
            let stack = self.symbols.stack(log, &waiting.site);
            Some(Link { rank, next, log, waiting, need, stack })
        };
        if let Some(cycle) = waits.shortest_cycle() {
            let nexts = cycle.iter().cycle().skip(1);
            return cycle.iter().zip(nexts).filter_map(|(a, b)| link(*a, *b)).collect();
        }
        let to_ended = (0..self.ranks.len()).find_map(|rank| {
            let ended = of(rank).find(|other| self.stuck(*other as usize).is_none())?;
            link(rank, ended as usize)
        });
        to_ended.into_iter().collect()
    }

    /// Whether some call waits for nothing but collectives that all have come to, and one-sided
    /// operations whose targets let them go on: these take their time.
    fn may_go_on(&self) -> bool {
        let all = self.ranks.iter().enumerate();
        let mut calls =
            all.flat_map(|(rank, stuck)| stuck.calls.iter().map(move |call| (rank, call)));
        calls.any(|(rank, (_, waiting))| {
            let is_complete = |need: &RawNeed| {
                let may =
                    matches!(need.kind, NeedKind::Collective | NeedKind::Lock | NeedKind::Exposure);
                may && self.missing(rank, need).is_empty()
            };
            !waiting.needs.is_empty() && waiting.needs.iter().all(is_complete)
        })
    }

    fn finding(&self) -> Option<Finding> {
        if self.may_go_on() {
            return None;
        }
        let links = self.links();
        if links.is_empty() {
            return None;
        }
        let mut members: Vec<u32> = links.iter().map(|link| link.rank as u32).collect();
        members.sort_unstable();
        Some(Finding {
            job: None,
            moments: self.moments(&links),
            code: Code::Deadlock,
            title: Code::Deadlock.title().to_owned(),
            message: self.message(&links),
            count: 1,
            possible: false,
            ranks: members,
            sites: self.sites(&links),
            why: self.why(&links),
            help: self.help(&links),
        })
    }

    /// Since when its ranks have stood still.
    fn moments(&self, links: &[Link]) -> Vec<Moment> {
        let moment = |link: &Link| {
            let time = self.ranks.get(link.rank)?.since?;
            Some(Moment { time, rank: link.rank as u32, thread: link.waiting.site.thread })
        };
        let mut moments: Vec<Moment> = links.iter().filter_map(moment).collect();
        moments.sort_unstable();
        moments
    }

    /// Whether some host waits for work of a device.
    fn waits_for_work(&self) -> bool {
        let mut calls = self.ranks.iter().flat_map(|stuck| &stuck.calls);
        calls.any(|(_, waiting)| called(waiting).starts_with("cuda"))
    }

    fn message(&self, links: &[Link]) -> String {
        if let [Link { rank, next, .. }] = links
            && next != rank
        {
            let call = links[0].call();
            return format!("rank {rank} waits in {call} for rank {next}, which has ended");
        }
        let waiting: Vec<_> = links.iter().map(|link| (link.rank as u32, link.call())).collect();
        wait_for_graph::in_words(&waiting)
    }

    fn sites(&self, links: &[Link]) -> Vec<Site> {
        let mut sites: Vec<Site> = Vec::new();
        for (index, link) in links.iter().enumerate() {
            let rank = link.rank as u32;
            let site = merge::site(rank, &link.waiting.site, &link.stack, link.label());
            let place = |site: &Site| (site.file.clone(), site.line, site.column);
            let is_new = sites.iter().all(|other| place(other) != place(&site));
            // Ranks of a ring are at the same place: two are enough to show that.
            if index < 2 || is_new {
                sites.push(site);
            }
            if let Some(started) = &link.need.site {
                let stack = self.symbols.stack(link.log, started);
                let label = format!("{} is started here", link.need.call);
                let site = merge::site(rank, started, &stack, label);
                let is_new = sites.iter().all(|other| place(other) != place(&site));
                if index < 2 || is_new {
                    sites.push(site);
                }
            }
        }
        sites.truncate(MAX_SHOWN);
        sites
    }

    fn why(&self, links: &[Link]) -> String {
        let shown = links.iter().take(MAX_SHOWN).map(|link| {
            let beside = match link.waiting.beside {
                0 => String::new(),
                1 => ", and its other thread for threads of the rank".to_owned(),
                others => format!(", and its {others} other threads for threads of the rank"),
            };
            format!(
                "rank {} waits in {}{} for {}{beside}",
                link.rank,
                link.call(),
                at(&link.stack),
                link.what()
            )
        });
        let mut parts: Vec<String> = shown.collect();
        if links.len() > MAX_SHOWN {
            parts.push(format!("and so on, {} ranks in all", links.len()));
        }
        let others = self.others(links);
        if !others.is_empty() {
            parts.push(format!("of the others, {}", others.join(", ")));
        }
        let time = match self.seconds {
            1 => "1 second".to_owned(),
            seconds => format!("{seconds} seconds"),
        };
        parts.push(format!(
            "no rank can make progress: all are inside MPI{}, and none has moved for {time}",
            if self.waits_for_work() { " or wait for a device" } else { "" }
        ));
        parts.join("; ")
    }

    /// Where the ranks are that have no part in it.
    fn others(&self, links: &[Link]) -> Vec<String> {
        let mut places: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for rank in (0..self.ranks.len()).filter(|rank| links.iter().all(|l| l.rank != *rank)) {
            let place = |(log, waiting): &(&'r RankLog, &'r RawWaiting<'static>)| {
                format!("in {}{}", called(waiting), at(&self.symbols.stack(log, &waiting.site)))
            };
            let mut calls: Vec<_> = self.ranks[rank].calls.iter().map(place).collect();
            calls.dedup();
            let text = if calls.is_empty() { "ended".to_owned() } else { calls.join(" and ") };
            places.entry(text).or_default().push(rank as u32);
        }
        let texts = places.into_iter().map(|(text, all)| match (&*text, all.len()) {
            ("ended", 1) => format!("{} has ended", ranks::named(&all)),
            ("ended", _) => format!("{} have ended", ranks::named(&all)),
            (_, 1) => format!("{} is {text}", ranks::named(&all)),
            _ => format!("{} are {text}", ranks::named(&all)),
        });
        texts.take(MAX_SHOWN).collect()
    }

    fn help(&self, links: &[Link]) -> String {
        if let Some(help) = links.iter().find_map(|link| self.near_miss(link)) {
            return help;
        }
        if links.iter().any(|link| link.waiting.beside > 0) {
            return "let no thread wait for one that is in MPI, at a barrier, for a lock or for its end, before it has \
                    made the call that another rank waits for"
                .to_owned();
        }
        let to_itself = matches!(links, [only] if only.next == only.rank);
        let all = links.len();
        if !to_itself && (links.iter().any(|link| link.call() == "MPI_Finalize") || all == 1) {
            let waits = links.iter().find(|link| link.call() != "MPI_Finalize");
            if let Some(Link { rank, next, need, .. }) = waits {
                let part = match need.kind {
                    NeedKind::Receive => {
                        return format!(
                            "let rank {next} send the message before it ends, or rank {rank} not wait \
                             for that; if rank {next} has sent one, compare destination, tag and \
                             communicator"
                        );
                    }
                    NeedKind::Send => format!("let rank {next} receive the message"),
                    NeedKind::Collective => format!("let rank {next} call {}, too", need.call),
                    NeedKind::Lock => format!("let rank {next} unlock the window"),
                    NeedKind::Exposure => format!("let rank {next} call MPI_Win_post, too"),
                    NeedKind::Window | NeedKind::Other => format!("let rank {next} do its part"),
                };
                return format!("{part} before it ends, or rank {rank} not wait for that");
            }
        }
        let needs: Vec<_> = links.iter().map(|link| (link.need.kind, link.need.name)).collect();
        advice(&needs, to_itself).to_owned()
    }

    /// A message to the rank that is just another one than it waits for.
    fn near_miss(&self, link: &Link) -> Option<String> {
        let Link { rank, next, need, .. } = link;
        if !matches!(need.kind, NeedKind::Send | NeedKind::Receive) {
            return None;
        }
        let (mine, theirs) = (self.stuck(*rank)?, self.stuck(*next)?);
        let is_near = |other: &RawNeed| {
            let is_met = || mine.operations().any(|own| meets(*next, other, own));
            opposite(need.kind, other.kind) && other.ranks.contains(&(*rank as u32)) && !is_met()
        };
        let (log, theirs, counterpart) = theirs.calls.iter().find_map(|(log, waiting)| {
            let mut all = waiting.needs.iter().chain(&*waiting.pending);
            Some((log, waiting, all.find(|other| is_near(other))?))
        })?;
        let site = counterpart.site.as_ref().unwrap_or(&theirs.site);
        let place = at(&self.symbols.stack(log, site));
        let call = &counterpart.call;
        if need.name != counterpart.name {
            let (on, other) = (&need.on, &counterpart.on);
            return Some(format!(
                "rank {next}'s {call}{place} is on {other}, and rank {rank}'s on {on}: let both name \
                 the same communicator"
            ));
        }
        let (tag, other) = (need.tag?, counterpart.tag?);
        (tag != other).then(|| {
            format!(
                "rank {next}'s {call}{place} has tag {other}, and rank {rank}'s tag {tag}: let both \
                 name the same tag"
            )
        })
    }
}

impl Link<'_> {
    fn call(&self) -> &str {
        called(self.waiting)
    }

    fn label(&self) -> String {
        format!("{} waits for {}", self.call(), self.what())
    }

    /// What the rank needs, of the next among others.
    fn what(&self) -> String {
        match self.waiting.needs.len() {
            several @ 2.. if self.waiting.any => {
                let one = what(self.need, Some(self.next));
                format!("any of {several} operations, among them {one}")
            }
            _ => what(self.need, Some(self.next)),
        }
    }
}

/// How to get out of a cycle of ranks that have such needs, on these communicators.
pub(crate) fn advice(needs: &[(NeedKind, u64)], to_itself: bool) -> &'static str {
    let all = |kind| needs.iter().all(|(other, _)| *other == kind);
    let any = |kind| needs.iter().any(|(other, _)| *other == kind);
    if to_itself {
        return "start the receive before the message is sent (MPI_Irecv), and wait for both then, or use \
                MPI_Sendrecv";
    }
    if all(NeedKind::Send) {
        return "a standard send may wait for its receive: use MPI_Sendrecv, start the receives first \
                (MPI_Irecv), or let one of the ranks receive before it sends";
    }
    if all(NeedKind::Receive) {
        return "let one of the ranks send before it waits for a message, or use MPI_Sendrecv";
    }
    if all(NeedKind::Collective) {
        return match needs.windows(2).any(|pair| pair[0].1 != pair[1].1) {
            true => {
                "the collectives are on different communicators: let all ranks enter those of both in the same \
                 order, or start both as nonblocking ones before they wait for either"
            }
            false => {
                "let all ranks enter their collectives in the same order, whatever they are called on"
            }
        };
    }
    if any(NeedKind::Collective) {
        return "call the collective and the message in the same order on all ranks, for a collective may \
                synchronise; do not wait for a message that is never sent";
    }
    "reorder the calls: what is waited for first must be done before anything \
     else is waited for"
}

/// What is needed, of one rank if that is said.
fn what(need: &RawNeed, of: Option<usize>) -> String {
    let rank = match (of, &*need.ranks) {
        (Some(rank), _) => format!("rank {rank}"),
        (None, [rank]) => format!("rank {rank}"),
        (None, ranks) => format!("any of {} ranks", ranks.len()),
    };
    let others = || if of.is_some() { rank.clone() } else { "all other ranks".to_owned() };
    let several = need.ranks.len() > 1;
    let what = match need.kind {
        NeedKind::Send => format!("{rank} to receive its message{}", envelope(need.tag, &need.on)),
        NeedKind::Receive if several => {
            format!("a message from any rank{}", envelope(need.tag, &need.on))
        }
        NeedKind::Receive => format!("a message from {rank}{}", envelope(need.tag, &need.on)),
        NeedKind::Collective if matches!(&*need.call, "MPI_Finalize" | "shmem_finalize") => {
            return others();
        }
        NeedKind::Collective => {
            return format!("{} to enter the same {} on {}", others(), need.call, need.on);
        }
        NeedKind::Window => format!("{rank} to synchronise {}", need.on),
        NeedKind::Lock => format!("{rank} to release its lock of {}", need.on),
        NeedKind::Exposure => format!("{rank} to expose its part of {}", need.on),
        NeedKind::Other if need.call.starts_with("shmem_") => {
            let what =
                if need.call.contains("lock") { "release the lock" } else { "change the variable" };
            format!("{rank} to {what}")
        }
        NeedKind::Other => rank,
    };
    match &need.site {
        Some(_) => format!("{what}, for its {}", need.call),
        None => what,
    }
}

fn called<'w>(waiting: &'w RawWaiting) -> &'w str {
    waiting.site.call.as_deref().unwrap_or("an MPI call")
}

/// Whether an operation of another rank is the counterpart of a need of `rank`.
fn meets(rank: usize, need: &RawNeed, theirs: &RawNeed) -> bool {
    let same = |a: Option<i32>, b: Option<i32>| a.is_none() || b.is_none() || a == b;
    opposite(need.kind, theirs.kind)
        && theirs.ranks.contains(&(rank as u32))
        && need.name == theirs.name
        && same(need.tag, theirs.tag)
}

fn opposite(a: NeedKind, b: NeedKind) -> bool {
    matches!((a, b), (NeedKind::Send, NeedKind::Receive) | (NeedKind::Receive, NeedKind::Send))
}

#[cfg(test)]
mod tests;
