//! Happens-before between ranks by messages and collectives.

use crate::ids::{Group, mixed};
use commsan_mpi_calls::Flow;
use commsan_shadow::{Actor, Epoch};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// From whom a receive takes a message.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The communicator.
    pub group: Group,
    /// Rank in the group, negative for any.
    pub source: i32,
    /// The tag, negative for any.
    pub tag: i32,
}

impl Envelope {
    /// The channel of a message with this source and tag.
    pub fn channel(&self, status: Option<(i32, i32)>) -> Option<Channel> {
        let (source, tag) = status?;
        let source = self.group.member(source)?;
        Some(Channel { source, tag, comm: self.group.name })
    }

    fn is_wildcard(&self) -> bool {
        self.tag < 0 || self.group.member(self.source).is_none()
    }
}

/// The message that a receive will match, as far as is known when it is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The n-th of a channel: messages do not overtake each other (MPI 4.1 §3.5).
    Nth(Channel, u64),
    /// Any message of any source.
    Any,
    /// A message that another receive, of any source or tag, may match instead.
    Doubtful,
}

/// Messages of one source with one tag in one communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    pub source: u32,
    pub tag: i32,
    pub comm: u64,
}

/// Messages on their way to this rank.
#[derive(Default)]
pub struct Messages {
    channels: FxHashMap<Channel, Queue>,
    /// Receives of any source or tag that are not complete.
    wildcards: usize,
    /// The threads that have sent or posted last.
    by_threads: ByThreads,
    /// Several threads have posted receives at once, one of them of any source or tag: which has
    /// got which message is not known any more.
    doubtful: bool,
}

/// The epochs in which one of several threads has sent or posted a receive last, by channel: what
/// others do on it at the same time may overtake that.
#[derive(Default)]
struct ByThreads {
    sent: FxHashMap<Channel, Epoch>,
    posted: FxHashMap<Channel, Epoch>,
    posted_any: Option<Epoch>,
    posted_last: Option<Epoch>,
}

#[derive(Default)]
struct Queue {
    /// The segments in which messages were sent.
    sent: VecDeque<u32>,
    /// The sender's handle of the communicator.
    comm: Option<u32>,
    /// The sender has used several communicators with these members, or several threads have sent
    /// or received at once.
    several: bool,
    /// Number of the first message in `sent`.
    first: u64,
    /// Receives posted so far.
    posted: u64,
}

impl Messages {
    /// A message was sent.
    pub fn sent(&mut self, channel: Channel, comm: u32, segment: u32) {
        let queue = self.channels.entry(channel).or_default();
        queue.sent.push_back(segment);
        queue.several |= *queue.comm.get_or_insert(comm) != comm;
    }

    /// One of several threads sends a message on a channel, where `source` stands for the
    /// destination. Returns whether another thread's message may overtake it, or the other way
    /// round.
    pub fn sends(&mut self, channel: Channel, actor: &Actor) -> bool {
        let before = self.by_threads.sent.insert(channel, actor.stamp);
        before.is_some_and(|stamp| !stamp.happens_before(&actor.clock))
    }

    /// One of several threads is about to post a receive: where another one's is not ordered with
    /// it, either may get the other's message (MPI 4.1 §3.5).
    pub fn posts(&mut self, envelope: &Envelope, actor: &Actor) {
        let all = &mut self.by_threads;
        let is_unordered =
            |stamp: Option<Epoch>| stamp.is_some_and(|stamp| !stamp.happens_before(&actor.clock));
        let last = all.posted_last.replace(actor.stamp);
        let source = envelope.group.member(envelope.source).filter(|_| envelope.tag >= 0);
        let Some(source) = source else {
            self.doubtful |= is_unordered(last);
            all.posted_any = Some(actor.stamp);
            return;
        };
        let channel = Channel { source, tag: envelope.tag, comm: envelope.group.name };
        let before = all.posted.insert(channel, actor.stamp);
        self.doubtful |= is_unordered(all.posted_any);
        if is_unordered(before) {
            self.channels.entry(channel).or_default().several = true;
        }
    }

    /// A receive is posted.
    pub fn expect(&mut self, envelope: &Envelope) -> Expected {
        let source = envelope.group.member(envelope.source).filter(|_| envelope.tag >= 0);
        let alone = self.wildcards == 0;
        let Some(source) = source else {
            self.wildcards += 1;
            return if alone { Expected::Any } else { Expected::Doubtful };
        };
        let channel = Channel { source, tag: envelope.tag, comm: envelope.group.name };
        let number = self.next(channel);
        if alone { Expected::Nth(channel, number) } else { Expected::Doubtful }
    }

    /// A receive is complete.
    pub fn received(&mut self, envelope: &Envelope) {
        self.wildcards -= usize::from(envelope.is_wildcard() && self.wildcards > 0);
    }

    /// The number of the next message of a channel.
    pub fn next(&mut self, channel: Channel) -> u64 {
        let queue = self.channels.entry(channel).or_default();
        queue.posted += 1;
        queue.posted - 1
    }

    /// The segment in which the next message to be received was sent, if known. A matched probe
    /// receives it.
    pub fn found(&mut self, channel: Channel, matched: bool) -> Option<u32> {
        let alone = self.wildcards == 0;
        let queue = self.channels.entry(channel).or_default();
        let number = queue.posted;
        queue.posted += u64::from(matched);
        if matched {
            return self.take(channel, number).filter(|_| alone);
        }
        let index = usize::try_from(number.checked_sub(queue.first)?).ok()?;
        let known = alone && !queue.several && !self.doubtful;
        queue.sent.get(index).copied().filter(|_| known)
    }

    /// A message has arrived, but it is not known which.
    pub fn skip(&mut self, envelope: &Envelope, channel: Channel) {
        if envelope.is_wildcard() {
            self.next(channel);
        }
        let queue = self.channels.entry(channel).or_default();
        queue.first += u64::from(queue.sent.pop_front().is_some());
    }

    /// The segment in which a message that has arrived was sent; `None` if not known.
    pub fn take(&mut self, channel: Channel, number: u64) -> Option<u32> {
        let queue = self.channels.get_mut(&channel)?;
        let index = usize::try_from(number.checked_sub(queue.first)?).ok()?;
        let segment = *queue.sent.get(index)?;
        if index == 0 {
            queue.sent.pop_front();
            queue.first += 1;
        }
        (!queue.several && !self.doubtful).then_some(segment)
    }
}

/// A collective in progress.
#[derive(Clone, Debug)]
pub struct Collective {
    /// Its name, equal in all ranks.
    pub key: u64,
    /// The communicator.
    pub group: Group,
    /// Between which ranks data flows.
    pub flow: Flow,
    /// Rank in the job.
    pub root: Option<u32>,
    /// Sources in the job, of neighbourhood collectives.
    pub sources: Vec<u32>,
    /// Whether a rank that has entered it does nothing else before it is complete there.
    pub blocks: bool,
}

/// Counts the collectives of each communicator, by its handle.
#[derive(Default)]
pub struct Collectives {
    counts: FxHashMap<usize, u64>,
}

impl Collectives {
    /// The name of the next collective of a communicator. Communicators with the same members share
    /// names: a rank that looks for the last entry of a name finds the right one or a later one,
    /// which claims more order than there is, in whatever order ranks come to the two
    /// communicators.
    pub fn next(&mut self, group: &Group, comm: usize) -> u64 {
        let count = self.counts.entry(comm).or_default();
        *count += 1;
        mixed(group.name ^ 0x0c01, *count)
    }

    /// The communicator is gone, and its handle may come to mean another.
    pub fn forget(&mut self, comm: usize) {
        self.counts.remove(&comm);
    }
}

impl Collective {
    /// Ranks in the job from which this one acquires.
    pub fn acquires_from(&self, me: u32) -> Vec<u32> {
        let members = self.group.members.iter().copied();
        let others = |rank: &u32| *rank != me;
        match self.flow {
            Flow::None => Vec::new(),
            Flow::All => members.filter(others).collect(),
            Flow::FromRoot => self.root.into_iter().filter(others).collect(),
            Flow::ToRoot if self.root == Some(me) => members.filter(others).collect(),
            Flow::ToRoot => Vec::new(),
            Flow::Upwards => members.take_while(others).collect(),
            Flow::Neighbours => self.sources.iter().copied().filter(others).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> Group {
        Group::new(vec![4, 2, 7])
    }

    #[test]
    fn messages_are_taken_as_posted_not_as_completed() {
        let mut messages = Messages::default();
        let envelope = Envelope { group: group(), source: 2, tag: 5 };
        let posted: Vec<_> = (0..3).map(|_| messages.expect(&envelope)).collect();
        let channel = Channel { source: 7, tag: 5, comm: group().name };
        assert_eq!(posted[2], Expected::Nth(channel, 2));
        [10, 20, 30].into_iter().for_each(|segment| messages.sent(channel, 1, segment));
        assert_eq!(messages.take(channel, 1), Some(20));
        assert_eq!(messages.take(channel, 0), Some(10));
        assert_eq!(messages.take(channel, 2), Some(30));
        assert_eq!(messages.take(channel, 3), None);
        let any = Envelope { source: -1, ..envelope.clone() };
        assert_eq!(messages.expect(&any), Expected::Any);
        assert_eq!(messages.expect(&envelope), Expected::Doubtful);
        messages.received(&any);
        assert_eq!(messages.expect(&envelope), Expected::Nth(channel, 4));
        messages.sent(channel, 2, 40);
        assert_eq!(messages.take(channel, 3), None);
    }

    #[test]
    fn a_message_is_found_before_it_is_taken() {
        let mut messages = Messages::default();
        let envelope = Envelope { group: group(), source: 2, tag: 5 };
        let channel = envelope.channel(Some((2, 5))).unwrap();
        assert_eq!(messages.found(channel, false), None);
        [10, 20, 30].into_iter().for_each(|segment| messages.sent(channel, 1, segment));
        assert_eq!(messages.found(channel, false), Some(10));
        let posted = messages.expect(&envelope);
        assert_eq!(messages.found(channel, false), Some(20));
        assert_eq!(messages.found(channel, true), Some(20));
        assert_eq!(messages.found(channel, false), Some(30));
        assert_eq!(posted, Expected::Nth(channel, 0));
        assert_eq!(messages.take(channel, 0), Some(10));
        messages.expect(&Envelope { source: -1, ..envelope });
        assert_eq!(messages.found(channel, false), None);
    }

    #[test]
    fn collectives_are_counted_by_communicator() {
        let (mut here, mut there) = (Collectives::default(), Collectives::default());
        let (first, second) = (here.next(&group(), 1), here.next(&group(), 2));
        assert_eq!([there.next(&group(), 20), there.next(&group(), 10)], [second, first]);
        assert_ne!(here.next(&group(), 1), first);
        here.forget(1);
        assert_eq!(here.next(&group(), 1), first);
    }

    #[test]
    fn collectives_teach_as_their_data_flows() {
        let mut collective = Collective {
            key: 1,
            group: group(),
            flow: Flow::All,
            root: Some(2),
            sources: vec![4],
            blocks: true,
        };
        assert_eq!(collective.acquires_from(2), [4, 7]);
        for (flow, me, acquires_from) in [
            (Flow::FromRoot, 7, &[2][..]),
            (Flow::FromRoot, 2, &[]),
            (Flow::ToRoot, 2, &[4, 7]),
            (Flow::ToRoot, 7, &[]),
            (Flow::Upwards, 7, &[4, 2]),
            (Flow::Upwards, 4, &[]),
            (Flow::Neighbours, 7, &[4]),
        ] {
            collective.flow = flow;
            assert_eq!(collective.acquires_from(me), acquires_from, "{flow:?} {me}");
        }
    }
}
