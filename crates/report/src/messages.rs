//! Message matching after the run: the messages that all ranks have sent against those that they
//! have received.
//!
//! **Soundness.** Messages of a communicator are compared where both ranks have counted them and
//! have come to `MPI_Finalize`, and none of the two says that some went uncounted. Each message is
//! received once. So messages are lost for certain if more were sent than receives were called that
//! may have got them; and some were received as another type if those of one type that were sent
//! outnumber the receives that may fit. What was exchanged within such numbers is not seen: two
//! messages whose types are interchanged, for one. Types are basic ones, distinguished by class and
//! size; messages of several types, of `MPI_BYTE` and `MPI_PACKED`, and empty ones fit any. Wrongly
//! taken for lost would be what is received by `PMPI_` functions, or within `MPI_Finalize` by a
//! function that it calls back: both pass uncounted.

mod order;

use crate::facts::at;
use crate::merge;
use crate::symbols::Symbols;
use commsan_findings::{Code, Finding, Role, Site};
use commsan_rundir::record::RawMessages;
use commsan_rundir::{Job, Messages, RankLog};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of places of one side that a finding shows.
const MAX_SHOWN: usize = 3;

/// Ranks of a job, with what each has counted.
pub(crate) type Counts<'r> = BTreeMap<u32, (&'r RankLog, &'r Messages)>;

/// Findings that the counts of both sides make certain.
pub(crate) fn findings<'r>(logs: &'r [RankLog], symbols: &'r Symbols) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, ranks) in jobs(logs) {
        let job = Exchange { ranks, symbols };
        found.extend(job.receivers().flat_map(|(rank, name)| job.compare(rank, name)));
        found.extend(job.chances());
    }
    joined(found)
}

/// The ranks of each job, with what each has counted.
pub(crate) fn jobs(logs: &[RankLog]) -> impl Iterator<Item = (Job, Counts<'_>)> {
    let jobs: BTreeSet<Job> = logs.iter().flat_map(|log| log.messages.keys().copied()).collect();
    jobs.into_iter().map(move |job| {
        let counted =
            logs.iter().filter_map(|log| Some((log.rank, (log, log.messages.get(&job)?))));
        (job, counted.collect())
    })
}

/// Merges findings with the same places in several ranks into one.
pub(crate) fn joined(found: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    let places = |finding: &Finding| -> Vec<_> {
        finding.sites.iter().map(|site| (site.role, site.file.clone(), site.line)).collect()
    };
    for finding in found {
        let same = merged.iter_mut().find(|other| {
            other.code == finding.code
                && places(other) == places(&finding)
                && finding.sites.iter().all(|site| site.file.is_some())
        });
        match same {
            Some(other) => other.add(finding),
            None => merged.push(finding),
        }
    }
    merged
}

/// All that one program's ranks have counted.
struct Exchange<'r> {
    ranks: Counts<'r>,
    symbols: &'r Symbols,
}

/// Messages to one rank, on one communicator.
struct Traffic<'r> {
    receiver: u32,
    /// Messages sent to the rank, each with its sender.
    sent: Vec<(u32, &'r RawMessages<'static>)>,
    received: Vec<&'r RawMessages<'static>>,
}

impl<'r> Exchange<'r> {
    /// Ranks and the communicators on which they may have received something.
    fn receivers(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.ranks.iter().flat_map(|(rank, (_, messages))| {
            let names: BTreeSet<u64> = messages.names.iter().copied().collect();
            names.into_iter().map(|name| (*rank, name))
        })
    }

    fn compare(&self, receiver: u32, name: u64) -> Vec<Finding> {
        let is_unbalanced =
            |(_, messages): &(&RankLog, &Messages)| messages.unbalanced.contains(&name);
        if self.ranks.values().any(is_unbalanced) {
            return Vec::new();
        }
        let all = self.ranks.iter().flat_map(|(rank, (_, messages))| {
            messages.counted.iter().filter(|m| m.name == name).map(|m| (*rank, m))
        });
        let sent = all.clone().filter(|(_, m)| m.sends && m.peer == Some(receiver));
        let received = all.filter(|(rank, m)| !m.sends && *rank == receiver).map(|(_, m)| m);
        let traffic = Traffic { receiver, sent: sent.collect(), received: received.collect() };
        match traffic.lost() {
            lost if !lost.is_empty() => {
                lost.into_iter().filter_map(|sender| self.lost(&traffic, sender)).collect()
            }
            _ => {
                let misfits = traffic.misfits().into_iter();
                let mut found: Vec<_> =
                    misfits.filter_map(|misfit| self.misfit(&traffic, misfit)).collect();
                found.extend(self.races(&traffic, name));
                found.extend(self.early(&traffic));
                found
            }
        }
    }

    /// Some messages of this sender have not been received.
    fn lost(&self, traffic: &Traffic<'r>, sender: u32) -> Option<Finding> {
        let receiver = traffic.receiver;
        let sends: Vec<_> = traffic.sent.iter().filter(|(rank, _)| *rank == sender).collect();
        let (_, first) = sends.first()?;
        let sent: u64 = sends.iter().map(|(_, m)| m.count).sum();
        let received = traffic.receives_from(sender);
        let sites = sends.iter().take(MAX_SHOWN).map(|(rank, m)| {
            self.site(
                *rank,
                m,
                format!("{} sends {} to rank {receiver}{}", m.call, several(m.count), tag(m)),
            )
        });
        let anybody = traffic.receives_from_anybody();
        let receives = match (received, anybody) {
            (0, 0) => format!("rank {receiver} has called no receive for them"),
            (_, 0) => format!("rank {receiver} has called {received} receives for them"),
            _ => format!(
                "rank {receiver} has called {received} receives for them, and {anybody} for messages from \
                 anybody, which others have sent more of"
            ),
        };
        let whose = format!("rank {sender} has sent {} to rank {receiver}", several(sent));
        Some(Finding {
            job: None,
            moments: vec![],
            code: Code::MessageLost,
            title: Code::MessageLost.title().to_owned(),
            message: format!("rank {receiver} does not receive all that rank {sender} sends it on {}", first.on),
            count: sent.saturating_sub(received),
            ranks: vec![sender],
            possible: false,
            sites: sites.collect(),
            why: format!("by MPI_Finalize {whose} on {}, and {receives}", first.on),
            help: "receive each message, or do not send it; compare destination, tag and communicator of the \
                   two sides"
                .to_owned(),
        })
    }

    /// Messages of one type must have been received as another.
    fn misfit(&self, traffic: &Traffic<'r>, misfit: Misfit<'r>) -> Option<Finding> {
        let (receiver, (sender, sent), received) = (traffic.receiver, misfit.sent, misfit.received);
        let (what, other) = (sent.element.as_deref()?, received.element.as_deref()?);
        let receive = self.site(receiver, received, format!("{} receives {other}", received.call));
        let send = self.site(sender, sent, format!("{} sends {what}{}", sent.call, tag(sent)));
        let (here, there) = (at(&receive.stack), at(&send.stack));
        Some(Finding {
            job: None,
            moments: vec![],
            code: Code::MessageTypesDiffer,
            title: Code::MessageTypesDiffer.title().to_owned(),
            message: format!("rank {receiver} receives as {other} what rank {sender} sends as {what}"),
            count: misfit.count,
            ranks: vec![receiver],
            possible: false,
            why: format!(
                "{}{there} in rank {sender} sends {what} to rank {receiver} on {}, and among its receives \
                 there is none of this type left: {}{here} receives {other}",
                sent.call, sent.on, received.call
            ),
            sites: vec![Site { role: Role::Access, ..receive }, send],
            help: "name the same datatype on both sides, or MPI_BYTE on both; a type of several others matches \
                   the same sequence of basic types"
                .to_owned(),
        })
    }

    fn site(&self, rank: u32, messages: &RawMessages, label: String) -> Site {
        let stack = self
            .ranks
            .get(&rank)
            .map_or_else(Vec::new, |(log, _)| self.symbols.stack(log, &messages.site));
        merge::site(rank, &messages.site, &stack, label)
    }
}

/// A type that is sent more often than received.
struct Misfit<'r> {
    sent: (u32, &'r RawMessages<'static>),
    received: &'r RawMessages<'static>,
    count: u64,
}

impl<'r> Traffic<'r> {
    fn receives_from(&self, sender: u32) -> u64 {
        self.received.iter().filter(|m| m.peer == Some(sender)).map(|m| m.count).sum()
    }

    fn receives_from_anybody(&self) -> u64 {
        self.received.iter().filter(|m| m.peer.is_none()).map(|m| m.count).sum()
    }

    fn sent_by(&self, sender: u32) -> u64 {
        self.sent.iter().filter(|(rank, _)| *rank == sender).map(|(_, m)| m.count).sum()
    }

    fn senders(&self) -> BTreeSet<u32> {
        self.sent.iter().map(|(rank, _)| *rank).collect()
    }

    /// Whose messages cannot all have been received.
    fn lost(&self) -> Vec<u32> {
        let too_many = |sender: &u32| self.sent_by(*sender) > self.receives_from(*sender);
        let owing: Vec<u32> = self.senders().into_iter().filter(too_many).collect();
        let open: u64 = owing.iter().map(|s| self.sent_by(*s) - self.receives_from(*s)).sum();
        if open > self.receives_from_anybody() { owing } else { Vec::new() }
    }

    /// Messages that must have been received as another type. None has been lost.
    fn misfits(&self) -> Vec<Misfit<'r>> {
        let anybody = self.receives_from_anybody() > 0;
        if anybody {
            return self.misfit_among(&self.sent, &self.received).into_iter().collect();
        }
        let of = |sender: u32| {
            let sent: Vec<_> =
                self.sent.iter().filter(|(rank, _)| *rank == sender).copied().collect();
            let received = self.received.iter().filter(|m| m.peer == Some(sender)).copied();
            self.misfit_among(&sent, &received.collect::<Vec<_>>())
        };
        self.senders().into_iter().filter_map(of).collect()
    }

    fn misfit_among(
        &self,
        sent: &[(u32, &'r RawMessages<'static>)],
        received: &[&'r RawMessages<'static>],
    ) -> Option<Misfit<'r>> {
        let total = |all: &mut dyn Iterator<Item = &'r RawMessages<'static>>| {
            all.map(|m| m.count).sum::<u64>()
        };
        let sends = || sent.iter().map(|(_, m)| *m);
        // More receives than messages: which of them got one is not known.
        if total(&mut sends()) != total(&mut received.iter().copied()) {
            return None;
        }
        let as_element =
            |element: Option<&str>, all: &mut dyn Iterator<Item = &'r RawMessages<'static>>| {
                all.filter(|m| m.element.as_deref() == element).map(|m| m.count).sum::<u64>()
            };
        let elements: BTreeSet<&str> = sends().filter_map(|m| m.element.as_deref()).collect();
        let excess = elements.into_iter().map(|element| {
            let sent = as_element(Some(element), &mut sends());
            (element, sent.saturating_sub(as_element(Some(element), &mut received.iter().copied())))
        });
        let fit_any = as_element(None, &mut received.iter().copied());
        let excess: Vec<_> = excess.collect();
        let all: u64 = excess.iter().map(|(_, count)| count).sum();
        if all <= fit_any {
            return None;
        }
        let (element, _) = *excess.iter().find(|(_, count)| *count > 0)?;
        let sent = *sent.iter().find(|(_, m)| m.element.as_deref() == Some(element))?;
        // One that takes more of its type than there are.
        let received = received.iter().copied().find(|m| {
            let other = m.element.as_deref();
            let fits = other.is_some_and(|other| {
                as_element(Some(other), &mut sends())
                    < as_element(Some(other), &mut received.iter().copied())
            });
            fits && other != Some(element)
        })?;
        Some(Misfit { sent, received, count: all - fit_any })
    }
}

fn several(count: u64) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}

fn tag(messages: &RawMessages) -> String {
    messages.tag.map_or_else(String::new, |tag| format!(" (tag {tag})"))
}

#[cfg(test)]
mod tests;
