//! The happens-before order between ranks that messages and collectives create.

use super::OneSided;
use super::Tracker;
use crate::ids::{Group, Token, notifications};
use crate::rma::message::RmaMessage;
use crate::rma::order::{Channel, Collective, Envelope, Expected};
use crate::rma::windows::Window;
use commsan_callsite::{Findings, Place};
use commsan_mpi_calls::Flow;
use rustc_hash::FxHashMap;

/// What a call, or each start of a request, releases or acquires.
#[derive(Clone, Debug)]
pub enum Template {
    /// Sends a message.
    Send {
        /// The communicator.
        group: Group,
        /// The communicator's handle.
        comm: usize,
        /// Rank in the communicator.
        dest: i32,
        /// The message's tag.
        tag: i32,
        /// Whether the send waits for the receive.
        synchronous: bool,
    },
    /// Receives a message.
    Receive(Envelope),
    /// Receives partitions of a message, each when it is ready.
    Partitions {
        /// The communicator.
        group: Group,
        /// Rank in the communicator.
        source: i32,
    },
    /// Takes part in a collective.
    Collective {
        /// The communicator.
        group: Group,
        /// The communicator's handle.
        comm: usize,
        /// Between which ranks data flows.
        flow: Flow,
        /// Rank in the communicator.
        root: i32,
        /// Ranks in the communicator, for neighbourhood collectives.
        sources: Vec<i32>,
        /// Whether the call returns only when the collective is complete.
        blocks: bool,
    },
}

/// What the completion of a call or request acquires from other ranks.
#[derive(Clone, Debug)]
pub enum Acquisition {
    /// From the sender of a message that was received.
    Message(Envelope, Expected),
    /// From the sender of a message that was probed, and whether only `MPI_Mrecv` can receive it
    /// now.
    Probe(Envelope, bool),
    /// From another rank, as far as it has got: the receiver of a synchronous send, which is at its
    /// receive, or the sender of partitions.
    Newest(u32),
    /// From all other ranks, as far as they have got.
    All,
    /// From the origins of notified operations on this rank's part of a window.
    Notified {
        /// The window's handle.
        window: usize,
        /// Which of its counters.
        counter: i32,
    },
    /// From members of a collective.
    Collective(Collective),
}

impl OneSided {
    /// A receive is about to be posted.
    fn expect(&mut self, envelope: Envelope) -> Acquisition {
        let expected = self.messages.expect(&envelope);
        Acquisition::Message(envelope, expected)
    }

    /// Each start of a persistent request will do this.
    pub fn init_order(&mut self, key: usize, templates: &[Template]) {
        if !templates.is_empty() {
            self.templates.insert(key, templates.to_vec());
        }
    }

    /// A persistent request has got another handle.
    pub(super) fn rename_order(&mut self, old: usize, new: usize) {
        if let Some(templates) = self.templates.remove(&old) {
            self.templates.insert(new, templates);
        }
        if let Some(acquisitions) = self.expected.remove(&old) {
            self.expected.insert(new, acquisitions);
        }
    }

    /// The request is gone, and its operation no longer matters. Where several requests share a
    /// handle, it is not known whose acquisition that is: nothing is forgotten.
    pub(super) fn forget_request(&mut self, key: usize) {
        if self.expected.get(&key).is_some_and(|waiting| waiting.len() == 1) {
            self.expected.remove(&key);
        }
        self.templates.remove(&key);
    }

    /// The completion of this request will acquire something.
    pub fn acquire_at(&mut self, key: usize, acquisition: Acquisition) {
        self.expected.entry(key).or_default().push(acquisition);
    }

    /// A communicator is gone.
    pub fn comm_freed(&mut self, comm: usize) {
        self.collectives.forget(comm);
    }

    /// The members of a group come after what each had done when it entered a collective. `of_all`:
    /// so does whatever any thread of them does from now on, and after what any thread had done.
    /// Where that does not hold, what the collective has not ordered is forgotten only if too much
    /// is remembered.
    fn synchronised(&mut self, group: &Group, entered: &FxHashMap<u32, u32>, of_all: bool) {
        let everyone = |window: &Window| {
            window.made.group.members.iter().all(|rank| group.members.contains(rank))
        };
        let windows = &self.windows;
        if of_all || self.remotes.are_many() {
            self.remotes.forget(|remote| {
                let complete = remote.complete.iter().any(|last| {
                    entered.get(&last.rank).is_some_and(|entered| last.segment <= *entered)
                });
                complete && windows.named(remote.window).is_none_or(everyone)
            });
        }
        if self.windows.iter().all(everyone)
            && let (Some(exposed), Some(clock)) = (&mut self.exposed, &self.clock)
            && let Some(own) = entered.get(&clock.me())
            && (of_all || exposed.shadow().is_crowded())
        {
            exposed.past_is_ordered(*own);
        }
    }
}

impl Tracker {
    /// A message is about to be sent.
    fn sending(&mut self, group: &Group, comm: usize, dest: i32, tag: i32) {
        let Some(rank) = group.member(dest) else { return };
        let segment = self.end_segment();
        let rma = &mut self.rma;
        let Some(clock) = &mut rma.clock else { return };
        let (origin, mut handle) = (clock.me(), comm as u32);
        if let Some(actor) = self.threads.between_ranks() {
            let channel = Channel { source: rank, tag, comm: group.name };
            // Two communicators would not tell the receiver more.
            handle ^= u32::from(rma.messages.sends(channel, actor));
        }
        let message = RmaMessage::MessageSent { origin, tag, comm: group.name, handle, segment };
        // If there is no room, the receiver acquires this rank's newest clock instead.
        clock.send_if_room(rank, &message);
    }

    /// A call begins that sends, receives or is a collective; returns what its end acquires.
    pub fn begin_order(&mut self, template: &Template) -> Option<Acquisition> {
        match template {
            Template::Send { group, comm, dest, tag, synchronous } => {
                self.sending(group, *comm, *dest, *tag);
                let rank = group.member(*dest).filter(|_| *synchronous);
                rank.map(Acquisition::Newest)
            }
            Template::Partitions { group, source } => {
                group.member(*source).map(Acquisition::Newest)
            }
            Template::Receive(envelope) => {
                if let Some(actor) = self.threads.between_ranks() {
                    self.rma.messages.posts(envelope, actor);
                }
                Some(self.rma.expect(envelope.clone()))
            }
            Template::Collective { group, comm, flow, root, sources, blocks } => {
                let key = self.rma.collectives.next(group, *comm);
                let segment = self.end_segment();
                if let Some(clock) = &self.rma.clock {
                    clock.shm().enter(key, segment);
                }
                let sources = sources.iter().filter_map(|rank| group.member(*rank)).collect();
                Some(Acquisition::Collective(Collective {
                    key,
                    group: group.clone(),
                    flow: *flow,
                    root: group.member(*root),
                    sources,
                    blocks: *blocks,
                }))
            }
        }
    }

    /// A persistent request is about to be started.
    pub fn go_order(&mut self, token: Token) {
        for template in self.rma.templates.get(&token.key).cloned().unwrap_or_default() {
            if let Some(acquisition) = self.begin_order(&template) {
                self.rma.acquire_at(token.key, acquisition);
            }
        }
    }

    /// Partitions are about to be sent: a rank that waits for one may acquire all that happened
    /// before.
    pub fn release_by_partitions(&mut self) {
        self.end_segment();
    }

    /// A partition has arrived.
    pub fn acquire_from_partition(
        &mut self,
        token: Token,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        for template in self.rma.templates.get(&token.key).cloned().unwrap_or_default() {
            if let Template::Partitions { group, source } = template
                && let Some(rank) = group.member(source)
            {
                self.acquire(&Acquisition::Newest(rank), None, place, out);
            }
        }
    }

    /// A request is complete; `status` is the source and tag if they are known.
    pub fn acquire_from_request(
        &mut self,
        token: Token,
        status: Option<(i32, i32)>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(waiting) = self.rma.expected.get_mut(&token.key) else { return };
        let acquisition = waiting.remove(0);
        if waiting.is_empty() {
            self.rma.expected.remove(&token.key);
        }
        self.acquire(&acquisition, status, place, out);
    }

    /// Acquires what a call or request that is complete has ordered before this process.
    pub fn acquire(
        &mut self,
        acquisition: &Acquisition,
        status: Option<(i32, i32)>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if !matches!(acquisition, Acquisition::All) {
            self.acquire_from_streams(place, out);
        }
        self.drain(place, out);
        let actor = self.threads.between_ranks();
        let Some(clock) = &mut self.rma.clock else { return };
        match acquisition {
            Acquisition::Message(envelope, expected) => {
                let (actual, messages) = (envelope.channel(status), &mut self.rma.messages);
                messages.received(envelope);
                let message = match (*expected, actual) {
                    (Expected::Nth(channel, number), _) => Some((channel, Some(number))),
                    (Expected::Any, Some(channel)) => Some((channel, Some(messages.next(channel)))),
                    (Expected::Doubtful, Some(channel)) => {
                        messages.skip(envelope, channel);
                        Some((channel, None))
                    }
                    (Expected::Any | Expected::Doubtful, None) => None,
                };
                match message {
                    Some((channel, number)) => {
                        match number.and_then(|number| messages.take(channel, number)) {
                            Some(segment) => clock.join(channel.source, segment, actor),
                            None => clock.join_newest(channel.source, actor),
                        }
                    }
                    None => {
                        envelope.group.members.iter().for_each(|r| clock.join_newest(*r, actor))
                    }
                }
                self.acquired(place, out);
            }
            Acquisition::Probe(envelope, matched) => {
                let Some(channel) = envelope.channel(status) else { return };
                match self.rma.messages.found(channel, *matched) {
                    Some(segment) => clock.join(channel.source, segment, actor),
                    None => clock.join_newest(channel.source, actor),
                }
                self.acquired(place, out);
            }
            Acquisition::All => {
                (0..clock.ranks() as u32).for_each(|rank| clock.join_newest(rank, actor));
                self.acquired(place, out);
            }
            Acquisition::Newest(rank) => {
                clock.join_newest(*rank, actor);
                self.acquired(place, out);
            }
            Acquisition::Notified { window, counter } => {
                let Some(window) = self.rma.windows.get(*window) else { return };
                let me = clock.me();
                if clock.acquire(me, notifications(window.name, *counter), actor) {
                    self.acquired(place, out);
                }
            }
            Acquisition::Collective(collective) => {
                let (key, group) = (collective.key, collective.group.clone());
                let acquires_from = collective.acquires_from(clock.me());
                let everyone_waits = collective.flow == Flow::All && collective.blocks;
                self.acquire_from_collective(
                    key,
                    &group,
                    &acquires_from,
                    everyone_waits,
                    place,
                    out,
                );
            }
        }
    }

    /// A collective is complete here. `everyone_waits`: every member waits in it until all have
    /// entered it.
    pub(super) fn acquire_from_collective(
        &mut self,
        key: u64,
        group: &Group,
        acquires_from: &[u32],
        everyone_waits: bool,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(clock) = &mut self.rma.clock else { return };
        let mut entered = FxHashMap::default();
        let actor = self.threads.between_ranks();
        let mut alone = clock.gather(key, acquires_from, actor, |rank, segment| {
            entered.insert(rank, segment);
        });
        if let Some(own) = clock.shm().entered(clock.me() as usize, key) {
            entered.insert(clock.me(), own);
            alone &= clock.was_alone(clock.me(), own);
        }
        self.acquired(place, out);
        if everyone_waits {
            self.rma.synchronised(group, &entered, alone);
        }
    }
}
