//! Matches that depend on timing: receives from anybody that may take another one's message, and
//! ready sends whose receive nobody can know to be posted.
//!
//! **Soundness.** The rank that receives has found out about the former (`commsan_mpi::races`), as
//! far as it can know. Here it is left out where some message to this rank is sent synchronously,
//! so that one sender may be ordered after another one's receive, and where messages are left over.
//! A ready send (MPI 4.1 §3.4) needs a receive that has been posted before; that of `MPI_Recv` is
//! posted by the call that completes it, of which nobody can know. So if there are more ready sends
//! to a rank than receives of other calls that may take them, one is wrong for certain. Missed is
//! one that meets another call's receive too early.
//!
//! What is used though another rank's message might be there is found while the program runs, and
//! reported in any case but the same one: where some message is sent synchronously. It is a
//! warning, since any message may do.

use super::{Exchange, Traffic};
use crate::facts::at;
use crate::merge;
use commsan_findings::{Code, Finding, Role, Site};
use commsan_rundir::RankLog;
use commsan_rundir::record::{RawMessages, RawRace, RawSite};
use std::collections::BTreeSet;

impl<'r> Exchange<'r> {
    /// Receives that may wait forever in another order of arrival.
    pub(super) fn races(&self, traffic: &Traffic<'r>, name: u64) -> Vec<Finding> {
        if self.may_know(traffic.receiver) {
            return Vec::new();
        }
        let races = self.ranks.get(&traffic.receiver).map(|(_, messages)| messages.races.iter());
        let races = races.into_iter().flatten();
        let races = races.filter(|race| race.name == name && race.used.is_none());
        races.filter_map(|race| self.race(traffic, race)).collect()
    }

    fn race(&self, traffic: &Traffic<'r>, race: &RawRace<RawSite<'static>>) -> Option<Finding> {
        let (receiver, sender) = (traffic.receiver, race.sender);
        let (log, _) = self.ranks.get(&receiver)?;
        let (left, taker) = (race.left.call.as_deref()?, race.taker.call.as_deref()?);
        let stacks = [self.symbols.stack(log, &race.left), self.symbols.stack(log, &race.taker)];
        let (here, there) = (at(&stacks[0]), at(&stacks[1]));
        let (_, sent) = traffic.sent.iter().find(|(rank, _)| *rank == sender)?;
        let receive = merge::site(
            receiver,
            &race.left,
            &stacks[0],
            format!("{left} waits for a message of rank {sender}"),
        );
        let any = merge::site(
            receiver,
            &race.taker,
            &stacks[1],
            format!("{taker} takes a message of any rank"),
        );
        let send = self.site(
            sender,
            sent,
            format!("{} sends to rank {receiver}{}", sent.call, super::tag(sent)),
        );
        Some(Finding {
            job: None,
            moments: vec![],
            code: Code::MessageRace,
            title: Code::MessageRace.title().to_owned(),
            message: format!(
                "rank {receiver}'s {taker} from any rank may take the message of rank {sender} that its {left} \
                 waits for"
            ),
            count: 1,
            ranks: vec![receiver],
            possible: false,
            sites: vec![receive, any, send],
            why: format!(
                "{taker}{there} has got a message of rank {}, but that of rank {sender} on {} may as well be \
                 there first; then {left}{here} waits for another one of rank {sender}, which sends none",
                race.instead_of, sent.on
            ),
            help: "let the two receives differ in tag or communicator, and the messages with them; or name the \
                   source in both; or receive both from MPI_ANY_SOURCE and look at the status"
                .to_owned(),
        })
    }

    /// What is used, whosever message it is.
    pub(super) fn chances(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for (&receiver, (log, messages)) in &self.ranks {
            if !self.may_know(receiver) {
                let races = messages.races.iter();
                found.extend(races.filter_map(|race| self.chance(receiver, log, race)));
            }
        }
        found
    }

    /// Whether some rank may know how far this one has got with its receives, on any communicator.
    fn may_know(&self, receiver: u32) -> bool {
        let mut counted = self.ranks.values().flat_map(|(_, messages)| &messages.counted);
        counted.any(|m| m.sends && m.peer == Some(receiver) && is_synchronous(&m.call))
    }

    fn chance(
        &self,
        receiver: u32,
        log: &RankLog,
        race: &RawRace<RawSite<'static>>,
    ) -> Option<Finding> {
        let (_, used) = race.used.as_ref()?;
        let (first, last) = (race.taker.call.as_deref()?, race.left.call.as_deref()?);
        let (sender, instead) = (race.sender, race.instead_of);
        let stack = |site: &RawSite| self.symbols.stack(log, site);
        let site = |raw: &RawSite, label| merge::site(receiver, raw, &stack(raw), label);
        let by = used.call.as_deref().unwrap_or("the program");
        let used = site(used, format!("{by} uses what was received last"));
        let mut sites = vec![
            used,
            site(&race.left, format!("{last} takes a message of any rank, here of rank {sender}")),
        ];
        if (&race.taker.call, &race.taker.frames) != (&race.left.call, &race.left.frames) {
            sites.push(site(
                &race.taker,
                format!("{first} takes a message of any rank, here of rank {instead}"),
            ));
        }
        let (here, there) = (at(&stack(&race.left)), at(&stack(&race.taker)));
        Some(Finding {
            job: None,
            moments: vec![],
            code: Code::LastOfAny,
            title: Code::LastOfAny.title().to_owned(),
            message: format!(
                "rank {receiver} uses the message of rank {sender} that its {last} got, and might have got that of \
                 rank {instead}"
            ),
            count: 1,
            ranks: vec![receiver],
            possible: false,
            sites,
            why: format!(
                "{last}{here} takes a message of any rank and puts it where {first}{there} has put one of rank \
                 {instead}, which was not looked at; they differ, and which of them comes last is a matter of timing. \
                 The status, which tells whose it is, was not looked at, either"
            ),
            help: "receive from each rank into a place of its own, by naming the source or by the status's \
                   MPI_SOURCE; or name the rank whose message is wanted"
                .to_owned(),
        })
    }

    /// Ready sends that cannot have been started in time but by chance.
    pub(super) fn early(&self, traffic: &Traffic<'r>) -> Vec<Finding> {
        let senders: BTreeSet<u32> = traffic.ready().map(|(rank, _)| rank).collect();
        senders.into_iter().filter_map(|sender| self.early_of(traffic, sender)).collect()
    }

    fn early_of(&self, traffic: &Traffic<'r>, sender: u32) -> Option<Finding> {
        let receiver = traffic.receiver;
        let ready = || traffic.ready().filter(|(rank, _)| *rank == sender).map(|(_, sent)| sent);
        let receives = || {
            let may_take = |m: &&&RawMessages| m.peer.is_none_or(|peer| peer == sender);
            traffic.received.iter().filter(may_take).copied()
        };
        let started: u64 = ready().map(|sent| sent.count).sum();
        let posted: u64 = receives().filter(|m| !is_posted_late(&m.call)).map(|m| m.count).sum();
        let late = receives().find(|m| is_posted_late(&m.call))?;
        let sent = ready().next()?;
        if started <= posted {
            return None;
        }
        let site = |rank, of: &RawMessages, text| self.site(rank, of, text);
        let receive = site(receiver, late, format!("{} posts its receive itself", late.call));
        let send = site(
            sender,
            sent,
            format!("{} sends to rank {receiver}{}", sent.call, super::tag(sent)),
        );
        let there = at(&receive.stack);
        let others = match posted {
            0 => String::new(),
            1 => format!("; rank {receiver} posts 1 receive otherwise"),
            _ => format!("; rank {receiver} posts {posted} receives otherwise"),
        };
        Some(Finding {
            job: None,
            moments: vec![],
            code: Code::ReadyTooEarly,
            title: Code::ReadyTooEarly.title().to_owned(),
            message: format!(
                "rank {sender}'s {} to rank {receiver} need not find its receive posted",
                sent.call
            ),
            count: started - posted,
            ranks: vec![sender],
            possible: false,
            why: format!(
                "a ready send must not be started before its receive is posted, but {}{there} in rank {receiver} posts \
                 its receive and waits for the message in one: no other rank can know when it has. Rank {sender} \
                 starts {started} ready {} to it on {}{others}",
                late.call,
                if started == 1 { "send" } else { "sends" },
                sent.on
            ),
            sites: vec![Site { role: Role::Access, ..receive }, send],
            help: "post the receive by MPI_Irecv and let the sender know, by a message or a barrier, before it \
                   sends; or send by MPI_Send"
                .to_owned(),
        })
    }
}

impl<'r> Traffic<'r> {
    fn ready(&self) -> impl Iterator<Item = (u32, &'r RawMessages<'static>)> + '_ {
        self.sent.iter().copied().filter(|(_, sent)| is_ready(&sent.call))
    }
}

fn is_synchronous(call: &str) -> bool {
    ["MPI_Ssend", "MPI_Issend"].iter().any(|name| call.starts_with(name))
}

fn is_ready(call: &str) -> bool {
    ["MPI_Rsend", "MPI_Irsend"].iter().any(|name| call.starts_with(name))
}

/// Whether the receive is posted by the call that completes it, and does nothing before.
fn is_posted_late(call: &str) -> bool {
    matches!(call, "MPI_Recv" | "MPI_Recv_c")
}
