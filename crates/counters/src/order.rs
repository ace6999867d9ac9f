//! Which messages of a sender are which of a receiver.
//!
//! Messages from one rank to another with one tag on one communicator do not overtake each other: receives get them in the
//! order in which they were posted (MPI 4.1 §3.5). So the nth that the sender counts is the nth of the receiver. A row keeps a
//! sum over the numbers of its messages, each mixed: rows at both ends whose sums are equal hold the same messages, whatever
//! number of them, but for one chance in 2⁶⁴.
//!
//! Where the order is not known — receives from any source that do not tell whose message they got, several threads, requests
//! that one call starts, messages that `MPI_Mprobe` has taken out of their order, communicators of the same members — rows have
//! no sum.

use crate::rows::Key;
use commsan_rundir::traffic::{End, Place, Side};
use rustc_hash::{FxHashMap, FxHashSet};

/// Channels at most; the messages of later ones have no numbers.
const MOST: usize = 1 << 14;

/// Messages with one tag, between this rank and another one, on communicators of one group.
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
    /// The same at both ends, and no other channel's.
    seed: u64,
    next: u64,
    /// The communicator that was used last.
    comm: usize,
    thread: u32,
    /// When the call began that has used it last.
    time: u64,
    lost: bool,
}

/// Who uses a channel.
#[derive(Clone, Copy, Debug)]
pub struct User {
    /// The communicator.
    pub comm: usize,
    /// The thread, by its number.
    pub thread: u32,
    /// When the call has begun.
    pub time: u64,
}

/// The messages of a row, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    sum: u64,
    of: u64,
}

impl Order {
    /// One more.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.sum = self.sum.wrapping_add(number);
        self.of += 1;
    }
}

/// All channels.
#[derive(Debug, Default)]
pub struct Channels {
    all: Vec<Channel>,
    known: FxHashMap<Name, u32>,
    /// Communicators that are gone: what others of the same members carry comes later.
    freed: FxHashSet<usize>,
    /// Groups of which the order of what is received is not known.
    lost: FxHashSet<u32>,
    all_lost: bool,
}

impl Channels {
    /// The channel of a message; `group` is the name of its group that all ranks know.
    pub fn of(&mut self, key: &Key, group: u64, user: User) -> Option<u32> {
        let name = Name::of(key)?;
        let next = self.all.len() as u32;
        if let Some(number) = self.known.get(&name) {
            return Some(*number);
        }
        if self.all.len() >= MOST {
            return None;
        }
        let seed = mixed(group ^ mixed(u64::from(name.tag? as u32)));
        let User { comm, thread, .. } = user;
        self.all.push(Channel { name, seed, next: 0, comm, thread, time: 0, lost: false });
        self.known.insert(name, next);
        Some(next)
    }

    /// A number for the next message of a channel.
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
        mixed(channel.seed.wrapping_add(channel.next))
    }

    /// A communicator's handle is one that is in use, or is not.
    pub fn set_freed(&mut self, comm: usize, freed: bool) {
        match freed {
            true => self.freed.insert(comm),
            false => self.freed.remove(&comm),
        };
    }

    /// The order of a channel's messages is not known.
    pub fn lose(&mut self, channel: u32) {
        self.all[channel as usize].lost = true;
    }

    /// It is not known of anything that is received on communicators of a group; of nothing at all, without one.
    pub fn lose_received(&mut self, group: Option<u32>) {
        match group {
            Some(group) => drop(self.lost.insert(group)),
            None => self.all_lost = true,
        }
    }

    /// Says of rows which messages they hold.
    pub fn sums(&self) -> Sums<'_> {
        let lost = self.all.iter().filter(|channel| channel.lost).map(|channel| channel.name);
        // Rows of many tags are of none.
        let lost = lost.flat_map(|name| [name, Name { tag: None, ..name }]).collect();
        Sums { channels: self, lost }
    }
}

/// What is known of the order once everything is counted.
pub struct Sums<'c> {
    channels: &'c Channels,
    lost: FxHashSet<Name>,
}

impl Sums<'_> {
    /// The sum for a row of so many messages, if it is known which they are.
    pub fn of(&self, key: &Key, order: Order, count: u64) -> Option<u64> {
        let name = Name::of(key)?;
        let Channels { lost, all_lost, .. } = self.channels;
        let is_lost = *all_lost
            || self.lost.contains(&name)
            || name.side == Side::Target && lost.contains(&name.group);
        (!is_lost && order.of == count).then_some(order.sum)
    }
}

/// Spreads a number over all bits (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[inline]
fn mixed(number: u64) -> u64 {
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
        Key {
            kind: Kind::PointToPoint,
            call: 0,
            stack: Stacks::EMPTY,
            line: None,
            side,
            source,
            target,
            group: Some(0),
            tag: Some(tag),
            object: None,
            other: None,
            region: None,
        }
    }

    /// Messages of one channel, each by a call of its own, into the row that the pattern says.
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
        // Another tag's are other messages.
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
        // Another one of the same members, when the first is gone.
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
