//! Messages: late senders, late receivers, wrong order.

use super::{At, Awaited, Calls, Link, WaitKind, Waits};
use crate::events::Log;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Messages that wait for their other end at most; the older half is given up then.
const MAX_OPEN: usize = 1 << 18;

/// Messages of a pair of ranks that are sent and not received, at most.
const MAX_SENT: usize = 1 << 12;

/// One end of a message, or its completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    pub(super) at: At,
    /// Number of the thread.
    pub(super) thread: u32,
    pub(super) span: (u64, u64),
    /// Whether this is where the operation begins.
    pub(super) begins: bool,
    /// The call that waits for it, if this does.
    pub(super) blocked: Option<u32>,
}

/// What is known of an end.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// When, where and in which thread it begins.
    begun: Option<(u64, At, u32)>,
    blocked: Option<u32>,
    is_waited_for: bool,
    /// The thread that begins a send, or ends a receive.
    thread: u32,
    /// When the call that completes it ends.
    until: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Message {
    send: End,
    receive: End,
    bytes: u64,
    is_shown: bool,
}

/// When a message was sent, its channel and its number.
type Sent = (u64, (u32, u64));

/// Messages one end of which is known.
#[derive(Debug, Default)]
pub(super) struct Messages {
    open: FxHashMap<(u32, u64), Message>,
    /// Of each pair of ranks, when messages were sent whose receives have not begun.
    sent: FxHashMap<(usize, usize), BTreeSet<Sent>>,
    /// Positions of ranks in the log.
    positions: FxHashMap<crate::merge::Rank, usize>,
    /// Whether some were given up.
    is_cut: bool,
}

impl Messages {
    #[expect(clippy::too_many_arguments, reason = "what one end of a message consists of")]
    pub(super) fn add(
        &mut self,
        log: &Log,
        key: (u32, u64),
        sent: bool,
        half: Half,
        bytes: u64,
        calls: &mut Calls,
        waits: &mut Waits,
    ) {
        let message = self.open.entry(key).or_default();
        let end = if sent { &mut message.send } else { &mut message.receive };
        if half.begins {
            end.begun = Some((half.span.0, half.at, half.thread));
        }
        if half.blocked.is_some() {
            (end.blocked, end.is_waited_for) = (half.blocked, true);
        }
        if half.begins || !sent {
            end.thread = half.thread;
        }
        end.until = half.span.1;
        message.bytes = message.bytes.max(if sent { bytes } else { 0 });
        let mut message = *message;
        self.order(log, key, sent, half);
        self.settle(log, key, &mut message, calls, waits);
        let is_over = message.is_shown && message.receive.is_waited_for;
        match is_over && message.send.is_waited_for {
            true => drop(self.open.remove(&key)),
            false => drop(self.open.insert(key, message)),
        }
        if self.open.len() > MAX_OPEN {
            self.give_up(calls, waits);
        }
    }

    /// Keeps the messages that are sent and whose receives have not begun.
    fn order(&mut self, log: &Log, key: (u32, u64), sent: bool, half: Half) {
        if !half.begins {
            return;
        }
        let Some(pair) = self.pair(log, key.0) else { return };
        let message = &self.open[&key];
        let of = self.sent.entry(pair).or_default();
        match (sent, message.send.begun) {
            (true, _) if message.receive.begun.is_none() => {
                of.insert((half.span.0, key));
                if of.len() > MAX_SENT {
                    of.pop_first();
                }
            }
            (false, Some((time, ..))) => drop(of.remove(&(time, key))),
            _ => {}
        }
    }

    fn pair(&mut self, log: &Log, channel: u32) -> Option<(usize, usize)> {
        if self.positions.is_empty() {
            let ranks = log.ranks.iter().enumerate();
            self.positions.extend(ranks.map(|(position, log)| (log.rank, position)));
        }
        let channel = log.channels.get_index(channel as usize)?;
        Some((*self.positions.get(&channel.source)?, *self.positions.get(&channel.target)?))
    }

    /// Draws what conclusions are possible.
    fn settle(
        &mut self,
        log: &Log,
        key: (u32, u64),
        message: &mut Message,
        calls: &mut Calls,
        waits: &mut Waits,
    ) {
        let (Some((sent, sender, sends)), Some((posted, receiver, receives))) =
            (message.send.begun, message.receive.begun)
        else {
            return;
        };
        if let Some(number) = message.receive.blocked.take() {
            let call = calls.all[number as usize];
            let mut wait = None;
            if sent > call.span.0 {
                let (kind, by) = match self.is_out_of_order(log, key, (sent, call.span.0)) {
                    true => (WaitKind::WrongOrder, receiver),
                    false => (WaitKind::LateSender, sender),
                };
                let source = (sender.rank, sends);
                wait = Some(Awaited { until: sent, kind, by, source });
            }
            calls.know(number, wait, waits);
        }
        if let Some(number) = message.send.blocked.take() {
            let call = calls.all[number as usize];
            // A send that has ended before has not waited for its receive.
            let waited = posted > call.span.0 && call.span.1 >= posted && !call.is_mixed;
            let wait = waited.then_some(Awaited {
                until: posted,
                kind: WaitKind::LateReceiver,
                by: receiver,
                source: (receiver.rank, receives),
            });
            calls.know(number, wait, waits);
        }
        if !message.is_shown && message.receive.is_waited_for {
            message.is_shown = true;
            waits.compared += 1;
            let (from, to) = (sender.rank, receiver.rank);
            let span = (sent, message.receive.until);
            let threads = (message.send.thread, message.receive.thread);
            waits.link(Link { from, to, threads, span, bytes: message.bytes, meeting: None });
        }
    }

    /// Whether the sender has sent another message before, which was there when the receiver began
    /// to wait, and is received later.
    fn is_out_of_order(&mut self, log: &Log, key: (u32, u64), (sent, waits): (u64, u64)) -> bool {
        let Some(pair) = self.pair(log, key.0) else { return false };
        let first = self.sent.get(&pair).and_then(BTreeSet::first);
        first.is_some_and(|(time, other)| *time < sent.min(waits) && *other != key)
    }

    /// Where messages were sent that have no other end: when the first, and in which thread.
    pub(super) fn unreceived(&self) -> FxHashMap<At, (u64, u32)> {
        let mut found: FxHashMap<At, (u64, u32)> = FxHashMap::default();
        if self.is_cut {
            return found;
        }
        for message in self.open.values().filter(|of| of.receive.begun.is_none()) {
            if let Some((time, at, thread)) = message.send.begun {
                let first = found.entry(at).or_insert((time, thread));
                *first = (*first).min((time, thread));
            }
        }
        found
    }

    /// Gives up the older half of what has no other end.
    fn give_up(&mut self, calls: &mut Calls, waits: &mut Waits) {
        let mut times: Vec<u64> =
            self.open.values().map(|of| of.send.until.max(of.receive.until)).collect();
        let middle = times.len() / 2;
        let (_, middle, _) = times.select_nth_unstable(middle);
        let middle = *middle;
        self.is_cut = true;
        self.open.retain(|_, of| {
            let stays = of.send.until.max(of.receive.until) > middle;
            if !stays {
                for number in [of.send.blocked, of.receive.blocked].into_iter().flatten() {
                    calls.know(number, None, waits);
                }
            }
            stays
        });
    }
}
