//! Messages that receives and probes from any rank may have taken instead of those that they took,
//! where the program is not made for it. The steps of all ranks are matched as in this run
//! ([`matching`]) and ordered by happens-before ([`order`]), so that the same is found whichever
//! message came first.
//!
//! A message may have been taken if a receive or probe from any rank wanted it, no receive posted
//! before took it or may take it, and sending it need not follow that receive or probe (as in
//! DAMPI: Vo and others, SC 2010). That alone is no mistake: a master takes results of any worker.
//! It is one where
//!
//! - the receive has no room for it ([`Harm::TooLong`]);
//! - a probe for any tag took one message, at a place that takes none of the other one's tag in any
//!   rank, the other one was received by a receive that names its source and tag, and the program
//!   has looked at the status only to pass source and tag to the receive that follows
//!   ([`Harm::OtherTag`]);
//! - it belongs to the next round of a nonblocking consensus (Hoefler and others, PPoPP 2010): it
//!   was sent synchronously after the sender had completed a nonblocking collective, before which a
//!   rank had completed synchronous sends of this tag; and a probe from any rank wants it while its
//!   rank still waits for that collective ([`Harm::NextRound`]).
//!
//! **Soundness.** What is not known counts as ordered. The first is certain. Of the others the
//! program may tell messages apart by what is in them, which is not seen: so these are warnings. A
//! program looks at a status only to pass it on if all reads of it, until that receive, are in the
//! line of the receive itself, and none of them is by a call; where no read is seen, as in Fortran,
//! which passes addresses, nothing is said. Missed is what comes after a rank's first 2,048 steps;
//! messages of a derived type with gaps, whose size is not known; persistent receives; matched
//! probes; races of programs with windows, or several threads that call MPI.

mod matching;
mod order;

use crate::facts::at;
use crate::merge;
use crate::messages::{Counts, jobs, joined};
use crate::symbols::Symbols;
use commsan_findings::{Code, Finding, Frame, Message, Role, Site, Step, Wanted};
use commsan_rundir::record::RawSite;
use commsan_rundir::{Job, RankLog, Steps};
use matching::{Matching, Meets, Sent, fits};
use order::Order;

/// A receive or probe from any rank that may take another message.
pub(crate) struct WildcardRace<'r> {
    job: Job,
    receiver: (u32, &'r RankLog),
    sender: (u32, &'r RankLog),
    /// Numbers of places: of the receive or probe, and of the other message's send and receive.
    wildcard: u32,
    send: u32,
    receive: Option<u32>,
    /// The other message.
    message: Message,
    harm: Harm,
    on: &'r str,
}

/// Why the program is not made for that message.
enum Harm {
    /// The receive has room for so many bytes.
    TooLong(u64),
    /// The probe has found a message of this tag, which this receive takes; places where the
    /// program has looked at the status in between.
    OtherTag { tag: i32, next: u32, room: Option<u64>, looked: Vec<u32> },
    /// The probe's rank still waits for the collective that it has entered there.
    NextRound(u32),
}

/// All that one job's ranks have done.
struct Ranks<'r> {
    job: Job,
    logs: Vec<Option<(&'r RankLog, &'r Steps)>>,
    matching: Matching,
    order: Order,
}

/// A receive or probe from any rank.
struct Wildcard {
    rank: u32,
    /// Positions of the step that posts it, and of that which says what it took.
    posted: u32,
    done: u32,
    wanted: Wanted,
    /// Sender and tag of what it took.
    took: Option<(u32, i32)>,
}

/// The races of all jobs.
pub(crate) fn races(logs: &[RankLog]) -> Vec<WildcardRace<'_>> {
    jobs(logs)
        .filter_map(|(job, counts)| Ranks::new(job, &counts))
        .flat_map(|r| r.races())
        .collect()
}

impl<'r> Ranks<'r> {
    /// `None` if there is nothing to be found.
    fn new(job: Job, counts: &Counts<'r>) -> Option<Ranks<'r>> {
        let size = counts.last_key_value().map_or(0, |(rank, _)| *rank as usize + 1);
        let mut logs = vec![None; size];
        for (rank, (log, messages)) in counts {
            // Of a log with gaps the steps do not follow each other.
            logs[*rank as usize] =
                Some((*log, &messages.steps)).filter(|_| log.problems.is_empty());
        }
        let steps: Vec<Option<&Steps>> = logs.iter().map(|log| Some(log.as_ref()?.1)).collect();
        let ordered: Vec<&[Step]> =
            steps.iter().map(|steps| steps.map_or(&[][..], Steps::ordered)).collect();
        ordered.iter().copied().flatten().find(|step| is_wildcard(step))?;
        let matching = Matching::new(&steps);
        let order = Order::new(&ordered, &matching)?;
        Some(Ranks { job, logs, matching, order })
    }

    fn steps(&self, rank: u32) -> &'r [Step] {
        self.logs[rank as usize].map_or(&[], |(_, steps)| steps.ordered())
    }

    fn races(&self) -> Vec<WildcardRace<'r>> {
        let mut found: Vec<WildcardRace> = Vec::new();
        for rank in 0..self.logs.len() as u32 {
            for wildcard in self.wildcards(rank) {
                let is_known = |race: &WildcardRace| {
                    (race.receiver.0, race.wildcard) == (rank, wildcard.wanted.place)
                };
                if !found.iter().any(is_known) {
                    found.extend(self.race_of(&wildcard));
                }
            }
        }
        found
    }

    /// The receives and probes from any rank of this one, in order.
    fn wildcards(&self, rank: u32) -> Vec<Wildcard> {
        let steps = self.steps(rank);
        let wildcard = |(step, at): (&Step, u32)| match *step {
            Step::Got { begun, peer, tag } => match steps.get(begun as usize) {
                Some(Step::Any(wanted)) => {
                    let took = Some((peer, tag));
                    Some(Wildcard { rank, posted: begun, done: at, wanted: *wanted, took })
                }
                _ => None,
            },
            Step::Found { wanted, peer, got } => {
                Some(Wildcard { rank, posted: at, done: at, wanted, took: Some((peer, got)) })
            }
            Step::Missed(wanted) => {
                Some(Wildcard { rank, posted: at, done: at, wanted, took: None })
            }
            _ => None,
        };
        steps.iter().zip(0..).filter_map(wildcard).collect()
    }

    /// The first message that a receive or probe may take and should not.
    fn race_of(&self, wildcard: &Wildcard) -> Option<WildcardRace<'r>> {
        let (log, steps) = self.logs[wildcard.rank as usize]?;
        let comm = steps.comms.get(wildcard.wanted.comm as usize)?;
        comm.members.iter().find_map(|&sender| {
            let sent = self.may_take(wildcard, comm.name, sender)?;
            let harm = self.harm(wildcard, comm.name, (sender, sent))?;
            let receive = sent.receive.and_then(|at| self.steps(wildcard.rank).get(at as usize));
            Some(WildcardRace {
                job: self.job,
                receiver: (wildcard.rank, log),
                sender: (sender, self.logs.get(sender as usize).copied().flatten()?.0),
                wildcard: wildcard.wanted.place,
                send: sent.message.place,
                receive: receive.and_then(Step::place),
                message: sent.message,
                harm,
                on: &comm.on,
            })
        })
    }

    /// The message of a sender that a receive or probe may have taken, or has.
    fn may_take(&self, wildcard: &Wildcard, name: u64, sender: u32) -> Option<&Sent> {
        let Wildcard { rank, posted, done, wanted, took } = *wildcard;
        let is_there = |sent: &&Sent| {
            fits(wanted.tag, &sent.message) && sent.receive.is_none_or(|receive| receive >= posted)
        };
        let sent = self.matching.sent(name, sender, rank).iter().find(is_there)?;
        if took.is_some_and(|(from, _)| from == sender) {
            return Some(sent);
        }
        let is_after = self.order.may_precede((rank, done), (sender, sent.step));
        // Its sender knows that it was taken if it was sent synchronously.
        let is_after_send = || {
            let (from, step) = self.matching.partner(rank, posted)?;
            let (Step::Send(message) | Step::Kept(message)) =
                self.steps(from).get(step as usize)?
            else {
                return None;
            };
            let finish = self.finish(from, step).filter(|_| message.synchronous)?;
            Some(self.order.may_precede((from, finish), (sender, sent.step)))
        };
        let is_free = !is_after
            && !is_after_send().unwrap_or(false)
            && !self.is_taken_before(wildcard, sender, &sent.message);
        is_free.then_some(sent)
    }

    /// Whether a receive that was posted before, and is not complete, may take a message.
    fn is_taken_before(&self, wildcard: &Wildcard, sender: u32, message: &Message) -> bool {
        let steps = self.steps(wildcard.rank);
        let mut earlier = steps[..wildcard.posted as usize].iter().zip(0..);
        earlier.any(|(step, at)| {
            let wants = match *step {
                Step::Any(Wanted { comm, tag, .. }) => {
                    comm == wildcard.wanted.comm && fits(tag, message)
                }
                Step::Receive(Message { comm, peer, tag, .. }) => {
                    comm == wildcard.wanted.comm && peer == sender && fits(tag, message)
                }
                _ => false,
            };
            wants && self.finish(wildcard.rank, at).is_none_or(|finish| finish > wildcard.posted)
        })
    }

    /// The step that waits for what another one has begun.
    fn finish(&self, rank: u32, step: u32) -> Option<u32> {
        let later = self.steps(rank).iter().zip(0..).skip(step as usize);
        later
            .filter(|(other, _)| matches!(other, Step::Finish { begun, .. } if *begun == step))
            .map(|(_, at)| at)
            .next()
    }

    fn harm(&self, wildcard: &Wildcard, name: u64, (sender, sent): (u32, &Sent)) -> Option<Harm> {
        let is_other = wildcard.took.is_some_and(|(from, _)| from != sender);
        match self.steps(wildcard.rank).get(wildcard.posted as usize)? {
            Step::Any(Wanted { bytes, .. }) if is_other => {
                let room = (*bytes)?;
                (sent.message.bytes? > room).then_some(Harm::TooLong(room))
            }
            Step::Any(_) => None,
            Step::Found { .. } if is_other && wildcard.wanted.tag.is_none() => self
                .other_tag(wildcard, sent)
                .or_else(|| self.next_round(wildcard, name, (sender, sent))),
            _ => self.next_round(wildcard, name, (sender, sent)),
        }
    }

    /// Whether the program passes what the probe has found to the next receive, without a look.
    fn other_tag(&self, wildcard: &Wildcard, sent: &Sent) -> Option<Harm> {
        let (from, tag) = wildcard.took?;
        let steps = self.steps(wildcard.rank);
        let other = sent.message.tag?;
        let named = steps.get(sent.receive? as usize)?;
        let is_named = matches!(named, Step::Receive(Message { tag: Some(_), .. }));
        if tag == other || !is_named {
            return None;
        }
        let mut looked = Vec::new();
        let next =
            steps[wildcard.posted as usize + 1..].iter().find_map(|step| match *step {
                Step::Looked { place } => {
                    looked.push(place);
                    None
                }
                Step::Receive(message) => Some(Some(message)),
                Step::Any(_) | Step::Found { .. } | Step::Missed(_) | Step::Probe(_) => Some(None),
                _ => None,
            })??;
        let takes_it = next.peer == from && next.comm == wildcard.wanted.comm;
        let passes_it = takes_it && next.tag == Some(tag) && !looked.is_empty();
        // Elsewhere the same receive takes what a probe has found, of that tag.
        let is_same_receive = |step: &Step| step.place() == Some(next.place);
        let is_handled = is_same_receive(named) || self.takes(wildcard, other);
        (passes_it && !is_handled).then_some(Harm::OtherTag {
            tag,
            next: next.place,
            room: next.bytes,
            looked,
        })
    }

    /// Whether a probe at this one's place finds a message of this tag in any rank.
    fn takes(&self, wildcard: &Wildcard, tag: i32) -> bool {
        let place = |rank: u32, place: u32| {
            let log = self.logs[rank as usize]?.0;
            log.sites.get(&(self.job, place)).map(|site| site.frames.iter().next().cloned())
        };
        let here = place(wildcard.rank, wildcard.wanted.place);
        (0..self.logs.len() as u32).any(|rank| {
            self.steps(rank).iter().any(|step| match *step {
                Step::Found { wanted, got, .. } => got == tag && place(rank, wanted.place) == here,
                _ => false,
            })
        })
    }

    /// Whether the message belongs to the next round of a nonblocking consensus.
    fn next_round(
        &self,
        wildcard: &Wildcard,
        name: u64,
        (sender, sent): (u32, &Sent),
    ) -> Option<Harm> {
        if !sent.message.synchronous || sender == wildcard.rank {
            return None;
        }
        let steps = self.steps(wildcard.rank);
        let entered = |(step, at): (&Step, u32)| match *step {
            Step::Enter { comm, place } if comm == wildcard.wanted.comm => {
                let waits = self.finish(wildcard.rank, at)? > wildcard.posted;
                waits.then_some((at, place))
            }
            _ => None,
        };
        let (enter, place) =
            steps[..wildcard.posted as usize].iter().zip(0..).filter_map(entered).last()?;
        let Meets::All(all) = self.matching.meets(wildcard.rank, enter) else { return None };
        let (_, theirs) = all.iter().find(|(rank, _)| *rank == sender)?;
        let has_left = self.finish(sender, *theirs)? < sent.step;
        let counts = all
            .iter()
            .any(|(rank, enter)| self.has_completed_sends(*rank, *enter, name, sent.message.tag));
        (has_left && counts).then_some(Harm::NextRound(place))
    }

    /// Whether a rank has completed a synchronous send of this tag before a step.
    fn has_completed_sends(&self, rank: u32, before: u32, name: u64, tag: Option<i32>) -> bool {
        let Some((_, known)) = self.logs[rank as usize] else { return false };
        let steps = &self.steps(rank)[..before as usize];
        steps.iter().zip(0..).any(|(step, at)| match *step {
            Step::Send(message) => {
                let comm = known.comms.get(message.comm as usize);
                let is_same = comm.is_some_and(|comm| comm.name == name) && message.tag == tag;
                is_same && message.synchronous && self.finish(rank, at).is_some_and(|f| f < before)
            }
            _ => false,
        })
    }
}

fn is_wildcard(step: &Step) -> bool {
    matches!(step, Step::Any(_) | Step::Found { .. } | Step::Missed(_))
}

/// A place with its call stack.
struct Place<'r> {
    raw: &'r RawSite<'static>,
    stack: Vec<Frame>,
}

impl Place<'_> {
    fn call(&self) -> &str {
        self.raw.call.as_deref().unwrap_or("the program")
    }

    /// Where it is in the program's own code.
    fn line(&self) -> Option<(&str, u32)> {
        let frame = self.stack.iter().find(|frame| frame.file.is_some())?;
        Some((frame.file.as_deref()?, frame.line?))
    }
}

impl<'r> WildcardRace<'r> {
    /// All places that the finding may need.
    pub fn sites(&self) -> impl Iterator<Item = (&'r RankLog, &'r RawSite<'static>)> {
        let (_, log) = self.receiver;
        let mut numbers = vec![(log, self.wildcard), (self.sender.1, self.send)];
        numbers.extend(self.receive.map(|receive| (log, receive)));
        match &self.harm {
            Harm::OtherTag { next, looked, .. } => {
                numbers.extend(looked.iter().chain([next]).map(|place| (log, *place)));
            }
            Harm::NextRound(place) => numbers.push((log, *place)),
            Harm::TooLong(_) => {}
        }
        let job = self.job;
        numbers
            .into_iter()
            .filter_map(move |(log, number)| Some((log, log.sites.get(&(job, number))?)))
    }

    fn place(&self, log: &'r RankLog, number: u32, symbols: &Symbols) -> Option<Place<'r>> {
        let raw = log.sites.get(&(self.job, number))?;
        Some(Place { raw, stack: symbols.stack(log, raw) })
    }

    /// Whether all that the program finds out of the probe's status goes to the next receive.
    fn passes_status_on(&self, symbols: &Symbols) -> bool {
        let Harm::OtherTag { next, looked, .. } = &self.harm else { return true };
        let (_, log) = self.receiver;
        let Some(next) = self.place(log, *next, symbols) else { return false };
        looked.iter().all(|number| {
            let look = self.place(log, *number, symbols);
            look.is_some_and(|look| {
                look.raw.call.is_none() && look.line().is_some() && look.line() == next.line()
            })
        })
    }

    fn finding(&self, symbols: &Symbols) -> Option<Finding> {
        let ((rank, log), (sender, their_log)) = (self.receiver, self.sender);
        let wildcard = self.place(log, self.wildcard, symbols)?;
        let send = self.place(their_log, self.send, symbols)?;
        let receive = self.receive.and_then(|receive| self.place(log, receive, symbols));
        let next = match &self.harm {
            Harm::OtherTag { next, .. } => self.place(log, *next, symbols),
            Harm::NextRound(enter) => self.place(log, *enter, symbols),
            Harm::TooLong(_) => None,
        };
        let (any, there) = (wildcard.call(), at(&send.stack));
        let tag = self.message.tag.map_or_else(String::new, |tag| format!(" (tag {tag})"));
        let bytes =
            |count: u64| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
        let size =
            self.message.bytes.map_or_else(String::new, |count| format!(" of {}", bytes(count)));
        let message = match &self.harm {
            Harm::TooLong(room) => format!(
                "rank {rank}'s {any} from any rank has room for {}, and may match rank {sender}'s \
                 message{size}",
                bytes(*room)
            ),
            Harm::OtherTag { tag, .. } => format!(
                "rank {rank}'s {any} from any rank with any tag, meant for tag {tag}, may match rank \
                 {sender}'s message{size} with tag {}",
                self.message.tag.unwrap_or(0)
            ),
            Harm::NextRound(_) => format!(
                "rank {rank}'s {any} from any rank may match a message of rank {sender}'s next round"
            ),
        };
        let concurrent = format!(
            "nothing orders rank {sender}'s {}{there} after it, on {}",
            send.call(),
            self.on
        );
        let elsewhere = match (&self.harm, &receive) {
            (Harm::NextRound(_), _) | (_, None) => String::new(),
            (_, Some(receive)) => format!(
                "; in this run {}{} received that message",
                receive.call(),
                at(&receive.stack)
            ),
        };
        let why = match &self.harm {
            Harm::TooLong(_) => format!(
                "{any} takes whichever message comes first, and {concurrent}: if that message comes \
                 first, it is truncated, which is an error{elsewhere}"
            ),
            Harm::OtherTag { room, .. } => {
                let next = next.as_ref()?;
                let room = match (room, self.message.bytes) {
                    (Some(room), Some(size)) if size > *room => {
                        format!(", with room for {}", bytes(*room))
                    }
                    _ => String::new(),
                };
                format!(
                    "{any} finds whichever message comes first, and {concurrent}: if that message \
                     comes first, {}{} receives it{room}, as the program passes source and tag on \
                     without a look at them{elsewhere}",
                    next.call(),
                    at(&next.stack)
                )
            }
            Harm::NextRound(_) => {
                let enter = next.as_ref()?;
                format!(
                    "rank {rank} probes until {}{} is complete. Rank {sender} may know that earlier: \
                     its {}{there} has the same tag and communicator, and {any} cannot tell it from \
                     a message of this round",
                    enter.call(),
                    at(&enter.stack),
                    send.call()
                )
            }
        };
        let help = match &self.harm {
            Harm::TooLong(_) => {
                "give messages of different kinds different tags or communicators; or name the source; or \
                 make room for the longest message"
            }
            Harm::OtherTag { .. } => {
                "probe for the tag that the receive is meant for; or look at MPI_TAG in the status, and \
                 ask MPI_Get_count for the size, before the receive"
            }
            Harm::NextRound(_) => {
                "let two rounds in a row differ in tag or communicator (a communicator of its own, or two \
                 tags in turn); or call MPI_Barrier between rounds"
            }
        };
        let site =
            |rank, place: &Place, label: String| merge::site(rank, place.raw, &place.stack, label);
        let takes = if matches!(self.harm, Harm::TooLong(_)) { "takes" } else { "finds" };
        let mut sites = vec![
            Site {
                role: Role::Access,
                ..site(rank, &wildcard, format!("{any} {takes} a message of any rank"))
            },
            site(sender, &send, format!("{} sends to rank {rank}{tag}", send.call())),
        ];
        match (&self.harm, &next) {
            (Harm::OtherTag { .. }, Some(next)) => {
                let label = format!("{} receives what the probe has found", next.call());
                sites.push(site(rank, next, label));
            }
            (Harm::NextRound(_), Some(enter)) => {
                let label = format!("{} ends the round", enter.call());
                sites.push(site(rank, enter, label));
            }
            _ => {}
        }
        if let (Some(receive), false) = (&receive, matches!(self.harm, Harm::NextRound(_))) {
            let label = format!("{} received that message in this run", receive.call());
            sites.push(site(rank, receive, label));
        }
        Some(Finding {
            job: None,
            moments: vec![],
            code: Code::WildcardMatch,
            title: Code::WildcardMatch.title().to_owned(),
            message,
            count: 1,
            ranks: vec![rank],
            possible: false,
            sites,
            why,
            help: help.to_owned(),
        })
    }
}

/// A finding for each place of a receive or probe.
pub(crate) fn findings(races: &[WildcardRace], symbols: &Symbols) -> Vec<Finding> {
    let passing = races.iter().filter(|race| race.passes_status_on(symbols));
    let mut found: Vec<Finding> = Vec::new();
    for finding in joined(passing.filter_map(|race| race.finding(symbols)).collect()) {
        let place = |finding: &Finding| {
            finding.sites.first().map(|site| (site.file.clone(), site.line, site.column))
        };
        match found.iter_mut().find(|other| place(other) == place(&finding)) {
            Some(known) => known.add(finding),
            None => found.push(finding),
        }
    }
    found
}

#[cfg(test)]
mod tests;
