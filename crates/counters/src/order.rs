//! Message matching between profiles: which messages of a sender are which of a receiver.
//!
//! Messages from one rank to another with one tag on one communicator do not overtake each other:
//! receives match them in the order in which they were posted (MPI 4.1 §3.5). So the n-th message
//! counted by the sender is the n-th of the receiver. A row keeps a sum over the hashed ordinals of
//! its messages: rows at both ends with equal sums hold the same messages, however many, except
//! with probability 2⁻⁶⁴.
//!
//! Rows have no sum where the order is unknown: receives from any source that do not report the
//! sender, several threads, several requests started by one call, messages that `MPI_Mprobe` took
//! out of order, communicators with the same members.

use crate::rows::Key;
use commsan_rundir::events::Messages;
use commsan_rundir::traffic::{End, Place, Side};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of channels; messages of later ones have no ordinals.
const MAX_CHANNELS: usize = 1 << 14;

/// The messages with one tag, between this rank and another, on communicators of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Name {
    group: u32,
    side: Side,
    peer: Place,
    tag: Option<i32>,
}

impl Name {
    fn of(key: &Key) -> Option<Name> {
        let (Side::Source | Side::Target) = key.side else { return None };
        let far = if key.side == Side::Source { key.target } else { key.source };
        let End::At(peer @ Place::Rank(_)) = far else { return None };
        Some(Name { group: key.group?, side: key.side, peer, tag: key.tag })
    }
}

#[derive(Debug)]
struct Channel {
    name: Name,
    /// The hash seed, equal at both ends and different for every channel.
    seed: u64,
    next: u64,
    /// The communicator used last.
    comm: usize,
    thread: u32,
    /// Start of the call that used the channel last.
    time: u64,
    lost: bool,
}

/// The call that uses a channel.
#[derive(Clone, Copy, Debug)]
pub struct User {
    /// The communicator's handle.
    pub comm: usize,
    /// The number of the calling thread.
    pub thread: u32,
    /// The start of the call, in ticks.
    pub time: u64,
}

/// The messages of a row, as a sum of hashed ordinals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    sum: u64,
    of: u64,
}

impl Order {
    /// Adds a message by its number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.sum = self.sum.wrapping_add(number);
        self.of += 1;
    }
}

/// All channels of a rank.
#[derive(Debug, Default)]
pub struct Channels {
    all: Vec<Channel>,
    known: FxHashMap<Name, u32>,
    /// Communicators that are freed: messages on others with the same members come later.
    freed: FxHashSet<usize>,
    /// Groups whose receive order is unknown.
    lost: FxHashSet<u32>,
    all_lost: bool,
}

impl Channels {
    /// The channel of a message; `group` is the name of its group that all ranks agree on.
    pub fn of(&mut self, key: &Key, group: u64, user: User) -> Option<u32> {
        let name = Name::of(key)?;
        let next = self.all.len() as u32;
        if let Some(number) = self.known.get(&name) {
            return Some(*number);
        }
        if self.all.len() >= MAX_CHANNELS {
            return None;
        }
        let seed = mix(group ^ mix(u64::from(name.tag? as u32)));
        let User { comm, thread, .. } = user;
        self.all.push(Channel { name, seed, next: 0, comm, thread, time: 0, lost: false });
        self.known.insert(name, next);
        Some(next)
    }

    /// The hashed ordinal of the channel's next message.
    #[inline]
    pub fn next(&mut self, channel: u32, user: User) -> u64 {
        let channel = &mut self.all[channel as usize];
        if (channel.comm, channel.thread) != (user.comm, user.thread) || channel.time == user.time {
            channel.lost |= channel.thread != user.thread
                || channel.time == user.time
                || !self.freed.contains(&channel.comm);
            channel.comm = user.comm;
        }
        channel.time = user.time;
        channel.next += 1;
        mix(channel.seed.wrapping_add(channel.next))
    }

    /// How many messages of a channel were counted.
    #[inline]
    pub fn counted(&self, channel: u32) -> u64 {
        self.all[channel as usize].next
    }

    /// The channels, for the file of events: their group, side, other end and tag, and whether the
    /// order of their messages is known.
    pub fn list(&self) -> impl Iterator<Item = Messages> + '_ {
        self.all.iter().map(|channel| {
            let Name { group, side, peer, tag } = channel.name;
            let sent = side == Side::Source;
            let is_lost = channel.lost || self.all_lost || !sent && self.lost.contains(&group);
            Messages { sent, group, peer, tag: tag.unwrap_or(-1), ordered: !is_lost }
        })
    }

    /// Records that a communicator handle was freed, or is in use again.
    pub fn set_freed(&mut self, comm: usize, freed: bool) {
        match freed {
            true => self.freed.insert(comm),
            false => self.freed.remove(&comm),
        };
    }

    /// Marks the order of a channel's messages as unknown.
    pub fn lose(&mut self, channel: u32) {
        self.all[channel as usize].lost = true;
    }

    /// Marks the receive order on communicators of `group` as unknown; of all groups if `None`.
    pub fn lose_received(&mut self, group: Option<u32>) {
        match group {
            Some(group) => drop(self.lost.insert(group)),
            None => self.all_lost = true,
        }
    }

    /// The sums of all rows, to be called when counting is over.
    pub fn sums(&self) -> Sums<'_> {
        let lost = self.all.iter().filter(|channel| channel.lost).map(|channel| channel.name);
        // A row that merges many tags depends on every tag's channel.
        let lost = lost.flat_map(|name| [name, Name { tag: None, ..name }]).collect();
        Sums { channels: self, lost }
    }
}

/// What is known of the message order once everything is counted.
pub struct Sums<'c> {
    channels: &'c Channels,
    lost: FxHashSet<Name>,
}

impl Sums<'_> {
    /// The sum of a row of `count` messages, if the order of all of them is known.
    pub fn of(&self, key: &Key, order: Order, count: u64) -> Option<u64> {
        let name = Name::of(key)?;
        let Channels { lost, all_lost, .. } = self.channels;
        let is_lost = *all_lost
            || self.lost.contains(&name)
            || name.side == Side::Target && lost.contains(&name.group);
        (!is_lost && order.of == count).then_some(order.sum)
    }
}

/// Hashes a number to 64 bits (SplitMix64: Steele, Lea and Flood, Fast splittable pseudorandom
/// number generators, OOPSLA 2014).
#[inline]
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_callsite::Stacks;
    use commsan_rundir::traffic::Kind;

    const GROUP: u64 = 77;

    fn key(side: Side, tag: i32) -> Key {
        let (me, peer) = (End::At(Place::Unknown), End::At(Place::Rank(1)));
        let (source, target) = if side == Side::Source { (me, peer) } else { (peer, me) };
        let (kind, path) = (Kind::PointToPoint, Stacks::EMPTY.into());
        let key = Key::new(kind, 0, path, side, (source, target));
        Key { group: Some(0), tag: Some(tag), ..key }
    }

    /// Counts messages of one channel, one call each, into the two rows that the pattern selects.
    fn counted(channels: &mut Channels, key: &Key, user: User, rows: &[usize]) -> [Order; 2] {
        let mut orders = [Order::default(); 2];
        for (row, time) in rows.iter().zip(1..) {
            let user = User { time, ..user };
            let channel = channels.of(key, GROUP, user).unwrap();
            orders[*row].add(channels.next(channel, user));
        }
        orders
    }

    const USER: User = User { comm: 5, thread: 0, time: 0 };

    #[test]
    fn the_same_messages_have_the_same_sum_at_both_ends() {
        let (mut here, mut there) = (Channels::default(), Channels::default());
        let (sent, received) = (key(Side::Source, 3), key(Side::Target, 3));
        let sends = counted(&mut here, &sent, USER, &[0, 1, 0, 1]);
        let receives = counted(&mut there, &received, User { comm: 9, ..USER }, &[1, 0, 1, 0]);
        let sum = |channels: &Channels, key: &Key, order| channels.sums().of(key, order, 2);
        let sums = sends.map(|order| sum(&here, &sent, order).unwrap());
        assert_eq!(sum(&there, &received, receives[1]), Some(sums[0]));
        assert_eq!(sum(&there, &received, receives[0]), Some(sums[1]));
        assert_ne!(sums[0], sums[1]);
        // Messages of another tag are different messages.
        let other = key(Side::Source, 4);
        let sends = counted(&mut here, &other, USER, &[0, 1, 0, 1]);
        assert!(!sums.contains(&sum(&here, &other, sends[0]).unwrap()));
    }

    #[test]
    fn what_has_no_order_has_no_sum() {
        let sent = key(Side::Source, 3);
        let sum = |channels: &Channels| channels.sums().of(&sent, Order { sum: 0, of: 1 }, 1);
        let used = |user: User| {
            let mut channels = Channels::default();
            counted(&mut channels, &sent, USER, &[0, 0]);
            let channel = channels.of(&sent, GROUP, user).unwrap();
            (channels.next(channel, user), channels).1
        };
        assert!(sum(&used(User { time: 3, ..USER })).is_some());
        assert_eq!(sum(&used(User { time: 3, thread: 1, ..USER })), None);
        assert_eq!(sum(&used(User { time: 3, comm: 6, ..USER })), None);
        // A call that sends twice.
        assert_eq!(sum(&used(User { time: 2, ..USER })), None);
        // A second communicator with the same members, after the first was freed.
        let mut channels = Channels::default();
        counted(&mut channels, &sent, USER, &[0, 0]);
        channels.set_freed(USER.comm, true);
        let user = User { time: 3, comm: 6, ..USER };
        let channel = channels.of(&sent, GROUP, user).unwrap();
        channels.next(channel, user);
        assert!(sum(&channels).is_some());
        channels.lose(channel);
        assert_eq!(sum(&channels), None);
    }
}
