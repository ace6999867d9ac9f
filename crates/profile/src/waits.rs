//! Wait states: who waits for whom, found by comparing both ends of messages and collectives
//! (Wolf and Mohr, Automatic performance analysis of hybrid MPI/OpenMP applications, 2003).
//!
//! All that is compared was recorded: intervals of calls, and which message or collective each is
//! part of. A call *waits* from its beginning until the other end begins, as far as it lasts that
//! long; of several ends that it waits for the last counts.
//!
//! A send that the library buffers does not wait; if its receive happens to begin while it is being
//! made, that part of it counts nevertheless.
//!
//! **What it can miss.** Messages whose order is not known, or one end of which is folded. Late
//! receivers of a call that both sends and receives: how long its send has waited is not known.
//! Ends that are millions of calls apart. Partitioned communication, scans, collectives over
//! neighbours or between groups, one-sided synchronisation, files.

mod meetings;
mod messages;

use crate::events::{Interval, Known, Log, What};
use commsan_rundir::events::Part;
use meetings::Meetings;
use messages::Messages;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Waits that are kept one by one: the longest.
const MAX_WAITS: usize = 1 << 19;

/// Messages and collectives that are kept for figures.
const MAX_LINKS: usize = 1 << 21;

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitKind {
    /// A receive waits for a send that begins later.
    LateSender,
    /// A send waits for a receive that begins later.
    LateReceiver,
    /// A receive waits for a message although the same sender's earlier one is there, which is
    /// received later.
    WrongOrder,
    /// Ranks wait at a barrier for the last.
    Barrier,
    /// Ranks wait in a collective of all with all for the last.
    AllToAll,
    /// Ranks wait for the root's data.
    LateBroadcast,
    /// The root waits for the last rank's data.
    EarlyReduce,
}

impl WaitKind {
    /// All of them, in the order in which they are told.
    pub const ALL: [WaitKind; 7] = [
        WaitKind::LateSender,
        WaitKind::LateReceiver,
        WaitKind::WrongOrder,
        WaitKind::Barrier,
        WaitKind::AllToAll,
        WaitKind::LateBroadcast,
        WaitKind::EarlyReduce,
    ];

    /// The name in tables, which stays.
    pub fn name(self) -> &'static str {
        match self {
            WaitKind::LateSender => "late sender",
            WaitKind::LateReceiver => "late receiver",
            WaitKind::WrongOrder => "wrong order",
            WaitKind::Barrier => "wait at barrier",
            WaitKind::AllToAll => "wait at NxN",
            WaitKind::LateBroadcast => "late broadcast",
            WaitKind::EarlyReduce => "early reduce",
        }
    }
}

/// A call of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// Position in [`Log::ranks`].
    pub rank: usize,
    /// The site.
    pub site: u32,
}

/// A call that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What for.
    pub kind: WaitKind,
    /// Who waits, and the thread.
    pub at: At,
    /// Number of the thread.
    pub thread: u32,
    /// From when until when, in nanoseconds since 1970.
    pub span: (u64, u64),
    /// Who is late.
    pub by: At,
    /// Rank and thread of the call that ends it: its beginning, if everything is in time. Whoever
    /// receives in the wrong order is late itself, but waits for what is sent.
    pub source: (usize, u32),
}

/// Waits with everything in common but time, at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// What for.
    pub kind: WaitKind,
    /// Who waits.
    pub at: At,
    /// Who is late.
    pub by: At,
}

/// How many, and how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub count: u64,
    /// Nanoseconds in all of them.
    pub time: u64,
    /// Nanoseconds of the longest.
    pub longest: u64,
    /// When that began.
    pub when: u64,
}

impl Sum {
    /// Takes others with it.
    pub fn join(&mut self, other: Sum) {
        self.count += other.count;
        self.time = self.time.saturating_add(other.time);
        if other.longest > self.longest {
            (self.longest, self.when) = (other.longest, other.when);
        }
    }
}

/// A message, or a collective, for figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Who sends; of collectives, who came last.
    pub from: usize,
    /// Who receives; of collectives, who came first.
    pub to: usize,
    /// Numbers of the threads that send and receive a message.
    pub threads: (u32, u32),
    /// When the send, or the first call, begins and the receive, or the last, ends.
    pub span: (u64, u64),
    /// Bytes of the message.
    pub bytes: u64,
    /// Of collectives: who takes part, and when the last entered.
    pub meeting: Option<Meets>,
}

/// What a collective is for figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meets {
    /// Position in [`Log::communicators`].
    pub communicator: u32,
    /// When the last member entered.
    pub met: u64,
}

/// All that is known of waiting.
#[derive(Debug, Default)]
pub struct Waits {
    /// Sums.
    pub sums: FxHashMap<Key, Sum>,
    /// One by one, by their beginnings.
    pub all: Vec<Wait>,
    /// Whether the shorter ones are missing there.
    pub is_cut: bool,
    /// Messages and collectives, by their beginnings.
    pub links: Vec<Link>,
    /// Whether some are missing there.
    pub links_are_cut: bool,
    /// Messages and collectives both ends of which were compared.
    pub compared: u64,
    /// Calls of each rank of the log, by their shapes.
    pub made: Vec<Vec<Made>>,
    /// Where messages were sent that nobody has received, and the first of each: when, and the
    /// number of the thread. Nothing where some of what ranks did is missing.
    pub unreceived: FxHashMap<At, (u64, u32)>,
}

/// Calls of a rank that have all in common that shapes have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// How many.
    pub count: u64,
    /// When the first begins.
    pub first: u64,
}

impl Waits {
    fn add(&mut self, wait: Wait) {
        let (from, to) = wait.span;
        if to <= from {
            return;
        }
        let sum = self.sums.entry(Key { kind: wait.kind, at: wait.at, by: wait.by }).or_default();
        sum.count += 1;
        sum.time += to - from;
        if to - from > sum.longest {
            (sum.longest, sum.when) = (to - from, from);
        }
        self.all.push(wait);
        if self.all.len() >= 2 * MAX_WAITS {
            self.keep_longest();
        }
    }

    fn keep_longest(&mut self) {
        self.all.sort_unstable_by_key(|wait| Reverse(wait.span.1 - wait.span.0));
        self.all.truncate(MAX_WAITS);
        self.is_cut = true;
    }

    fn link(&mut self, link: Link) {
        match self.links.len() < MAX_LINKS {
            true => self.links.push(link),
            false => self.links_are_cut = true,
        }
    }
}

/// A call that may wait for several ends.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    at: At,
    thread: u32,
    span: (u64, u64),
    /// Ends that are not known yet.
    open: usize,
    /// What it waits for longest so far.
    worst: Option<Awaited>,
    /// Whether it sends and receives.
    is_mixed: bool,
}

/// The other end of what a call waits for.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// When it begins.
    until: u64,
    kind: WaitKind,
    by: At,
    source: (usize, u32),
}

/// Calls that may wait, until all their ends are known.
#[derive(Debug, Default)]
struct Calls {
    all: Vec<Blocked>,
    free: Vec<u32>,
}

impl Calls {
    fn enter(&mut self, blocked: Blocked) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.all[number as usize] = blocked;
                number
            }
            None => {
                self.all.push(blocked);
                self.all.len() as u32 - 1
            }
        }
    }

    /// One of a call's ends is known, which begins later than the call if that waits.
    fn know(&mut self, number: u32, waits: Option<Awaited>, to: &mut Waits) {
        let call = &mut self.all[number as usize];
        if let Some(waits) = waits
            && call.worst.is_none_or(|worst| worst.until < waits.until)
        {
            call.worst = Some(waits);
        }
        call.open -= 1;
        if call.open > 0 {
            return;
        }
        if let Some(Awaited { until, kind, by, source }) = call.worst {
            let Blocked { at, thread, span, .. } = *call;
            to.add(Wait { kind, at, thread, span: (span.0, until.min(span.1)), by, source });
        }
        self.free.push(number);
    }
}

/// Finds all waits; `is_barrier` says so of a site.
pub fn find(log: &Log, is_barrier: impl Fn(u32) -> bool) -> Waits {
    let (calls, messages) = Default::default();
    let made = log.ranks.iter().map(|of| vec![Made::default(); of.shapes.len()]).collect();
    let waits = Waits { made, ..Waits::default() };
    let meetings = Meetings::of(log);
    let mut finder = Finder { log, is_barrier, waits, calls, messages, meetings };
    log.in_order(|interval, parts| finder.add(&interval, parts));
    let Finder { mut waits, messages, .. } = finder;
    if log.ranks.iter().all(|of| of.tables.level == 0 && of.tables.lost.0 == 0) {
        waits.unreceived = messages.unreceived();
    }
    if waits.all.len() > MAX_WAITS {
        waits.keep_longest();
    }
    waits.all.sort_unstable_by_key(|wait| (wait.span, wait.at));
    waits.links.sort_unstable_by_key(|link| link.span);
    waits
}

struct Finder<'l, F> {
    log: &'l Log,
    is_barrier: F,
    waits: Waits,
    calls: Calls,
    messages: Messages,
    meetings: Meetings,
}

impl<F: Fn(u32) -> bool> Finder<'_, F> {
    fn add(&mut self, interval: &Interval, parts: &[Part]) {
        let shape = self.log.shape(interval);
        let What::Call(site) = shape.what else { return };
        let made = &mut self.waits.made[interval.rank][interval.shape as usize];
        made.first = if made.count == 0 { interval.begin } else { made.first.min(interval.begin) };
        made.count = made.count.saturating_add(interval.folded.map_or(1, |(count, _)| count));
        if interval.folded.is_some() {
            return;
        }
        let at = At { rank: interval.rank, site };
        let known = |part: &Part| Some((self.log.part(interval.rank, part)?, *part));
        let known: Vec<(Known, Part)> = parts.iter().filter_map(known).collect();
        let sends = |(known, _): &(Known, Part)| matches!(known, Known::Message { sent: true, .. });
        let receives =
            |(known, _): &(Known, Part)| matches!(known, Known::Message { sent: false, .. });
        let number = known.len();
        if number == 0 {
            return;
        }
        let is_mixed = known.iter().any(sends) && known.iter().any(receives);
        let span = (interval.begin, interval.end);
        let blocked = (!shape.begins).then(|| {
            let thread = shape.thread;
            self.calls.enter(Blocked { at, thread, span, open: number, worst: None, is_mixed })
        });
        for (known, part) in known {
            match known {
                Known::Message { channel, sent } => {
                    let key = (channel, part.number);
                    let (waits, calls) = (&mut self.waits, &mut self.calls);
                    let (thread, begins) = (shape.thread, !part.completes);
                    let half = messages::Half { at, thread, span, begins, blocked };
                    self.messages.add(self.log, key, sent, half, part.bytes, calls, waits);
                }
                Known::Collective(communicator) => {
                    let entered = (!part.completes).then_some((span.0, at, shape.thread));
                    let call = meetings::Call {
                        shape,
                        rank: interval.rank,
                        entered,
                        blocked,
                        end: span.1,
                        is_barrier: (self.is_barrier)(site),
                    };
                    let key = (communicator, part.number);
                    self.meetings.add(self.log, key, &call, &mut self.calls, &mut self.waits);
                }
            }
        }
    }
}
