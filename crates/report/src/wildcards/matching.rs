//! Which step of a rank belongs to which of another: messages to their receives, as they matched in
//! this run, and collectives.
//!
//! **Soundness.** Of the messages that a rank sends another one on a communicator, a receive takes
//! the first that fits and that no receive posted before has taken (MPI 4.1 §3.5). A receive from
//! any rank does so too, of the sender that it has got a message of. So matching is exact for the
//! steps of a rank up to its first unknown one; what has no other side among the steps is unknown.

use commsan_findings::{Message, Step, Wanted};
use commsan_rundir::{Comm, Steps};
use std::collections::HashMap;

/// A message that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Position of the sender's step.
    pub step: u32,
    pub message: Message,
    /// Position of the receiver's step that posts its receive.
    pub receive: Option<u32>,
}

/// A communicator's name, the sender, and the receiver.
type Channel = (u64, u32, u32);

/// Who enters a collective, and where.
pub(crate) enum Meets<'m> {
    /// Not all are known.
    Nobody,
    /// All members, each with its step.
    All(&'m [(u32, u32)]),
}

#[derive(Default)]
struct Collective {
    entered: Vec<(u32, u32)>,
    members: usize,
}

/// The steps of all ranks that belong together.
#[derive(Default)]
pub(crate) struct Matching {
    channels: HashMap<Channel, Vec<Sent>>,
    /// By rank and step: of a send its receive, of a receive or probe its send.
    partners: HashMap<(u32, u32), (u32, u32)>,
    /// By rank and step.
    numbers: HashMap<(u32, u32), usize>,
    collectives: Vec<Collective>,
}

impl Matching {
    pub fn new(ranks: &[Option<&Steps>]) -> Matching {
        let mut matching = Matching::default();
        for (rank, steps) in known(ranks) {
            for (step, at) in steps.ordered().iter().zip(0..) {
                if let Step::Send(message) | Step::Kept(message) = *step
                    && let Some(comm) = steps.comms.get(message.comm as usize)
                {
                    let channel = (comm.name, rank, message.peer);
                    let sent = Sent { step: at, message, receive: None };
                    matching.channels.entry(channel).or_default().push(sent);
                }
            }
        }
        for (rank, steps) in known(ranks) {
            matching.receives(rank, steps);
        }
        let mut numbers = HashMap::new();
        for (rank, steps) in known(ranks) {
            matching.collectives(rank, steps, &mut numbers);
        }
        matching
    }

    fn receives(&mut self, rank: u32, steps: &Steps) {
        let all = steps.ordered();
        let got: HashMap<u32, (u32, i32)> = all
            .iter()
            .filter_map(|step| match *step {
                Step::Got { begun, peer, tag } => Some((begun, (peer, tag))),
                _ => None,
            })
            .collect();
        for (step, at) in all.iter().zip(0..) {
            let (comm, peer, tag) = match *step {
                Step::Receive(Message { comm, peer, tag, .. })
                | Step::Probe(Message { comm, peer, tag, .. }) => (comm, peer, tag),
                Step::Any(Wanted { comm, .. }) => match got.get(&at) {
                    Some((peer, tag)) => (comm, *peer, Some(*tag)),
                    None => continue,
                },
                Step::Found { wanted: Wanted { comm, .. }, peer, got } => (comm, peer, Some(got)),
                _ => continue,
            };
            let Some(Comm { name, .. }) = steps.comms.get(comm as usize) else { continue };
            let Some(channel) = self.channels.get_mut(&(*name, peer, rank)) else { continue };
            let fits = |sent: &&mut Sent| sent.receive.is_none() && fits(tag, &sent.message);
            let Some(sent) = channel.iter_mut().find(fits) else { continue };
            self.partners.insert((rank, at), (peer, sent.step));
            if let Step::Receive(_) | Step::Any(_) = step {
                sent.receive = Some(at);
                self.partners.insert((peer, sent.step), (rank, at));
            }
        }
    }

    /// The n-th that each member has entered is the same.
    fn collectives(&mut self, rank: u32, steps: &Steps, numbers: &mut HashMap<(u64, u32), usize>) {
        let mut entered: HashMap<u64, u32> = HashMap::new();
        for (step, at) in steps.ordered().iter().zip(0..) {
            let Step::Enter { comm, .. } = step else { continue };
            let Some(Comm { name, members, .. }) = steps.comms.get(*comm as usize) else {
                continue;
            };
            let nth = entered.entry(*name).and_modify(|nth| *nth += 1).or_default();
            let number = *numbers.entry((*name, *nth)).or_insert_with(|| {
                let members = members.len();
                self.collectives.push(Collective { entered: Vec::new(), members });
                self.collectives.len() - 1
            });
            self.collectives[number].entered.push((rank, at));
            self.numbers.insert((rank, at), number);
        }
    }

    /// The other side of a message.
    pub fn partner(&self, rank: u32, step: u32) -> Option<(u32, u32)> {
        self.partners.get(&(rank, step)).copied()
    }

    /// Who enters the collective that a rank enters by this step.
    pub fn meets(&self, rank: u32, step: u32) -> Meets<'_> {
        let number = self.numbers.get(&(rank, step));
        let collective = number.and_then(|number| self.collectives.get(*number));
        match collective {
            Some(of) if of.entered.len() == of.members => Meets::All(&of.entered),
            _ => Meets::Nobody,
        }
    }

    /// The messages of a rank to another one on a communicator, in order.
    pub fn sent(&self, name: u64, from: u32, to: u32) -> &[Sent] {
        self.channels.get(&(name, from, to)).map_or(&[], Vec::as_slice)
    }
}

/// Ranks of which steps are known.
fn known<'s>(ranks: &[Option<&'s Steps>]) -> impl Iterator<Item = (u32, &'s Steps)> {
    let known = ranks.iter().zip(0..).filter_map(|(steps, rank)| Some((rank, (*steps)?)));
    known.collect::<Vec<_>>().into_iter()
}

/// Whether a receive of messages with this tag may take a message.
pub(crate) fn fits(tag: Option<i32>, message: &Message) -> bool {
    tag.is_none() || tag == message.tag
}
