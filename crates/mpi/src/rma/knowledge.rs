//! What happens before something, of all ranks and, where a rank has several threads, of which.
//!
//! A clock of segments says what of each rank happens before at most. It holds for all threads of
//! a rank with one thread, and of a rank whose threads had all been joined. What one of several
//! threads has released is less: of the rank's segments since then, only what happened before that
//! thread's release. So a clock is *limited* for such ranks: all is known up to one segment, and up
//! to another one what the rank's own agents did in epochs that a clock of these covers.
//!
//! **Soundness.** Without a limit, everything up to the clock's segment counts as known; a limit
//! that is lost, or has no room ([`MAX_WORDS`]), only adds to what is known. A limit itself is the
//! join of what threads knew when they released, so whatever it leaves out was done by a thread
//! that did not synchronise with them before, neither directly nor by way of other ranks, as far as
//! both kinds of synchronisation are observed.

use crate::rma::clock::RankClock;
use commsan_shadow::{Epoch, VectorClock};
use smallvec::SmallVec;

/// Something that a rank did: when, by the rank's segments and by the agents of its process. The
/// stamp of all zeros is that of a process with one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub rank: u32,
    pub segment: u32,
    pub stamp: Epoch,
}

/// The call by which one of several threads has synchronised with other ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByCall {
    /// Its row in the table.
    pub call: u32,
    /// Its number in the log of the rank.
    pub site: u32,
}

/// What is known of a rank with several threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    rank: u32,
    /// All segments up to this one.
    all: u32,
    /// Segments up to this one, as far as `agents` covers them.
    some: u32,
    agents: VectorClock<SmallVec<[u32; 8]>>,
    /// The release of the last of these segments.
    by: Option<ByCall>,
}

/// What happens before something.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// For each rank, the last segment of which something may be known.
    pub row: RankClock,
    /// By rank, those of which less is known.
    limits: Vec<Limit>,
}

/// Words of limits that are published with a segment at most. Ranks that have no room count as
/// known altogether.
const MAX_WORDS: usize = 2048;

impl Limit {
    /// What a thread of this rank knows of the rank's threads: all segments up to `all`, and what
    /// its own clock covers of those up to `some`.
    pub fn own(rank: u32, all: u32, some: u32, agents: &[u32], by: Option<ByCall>) -> Limit {
        let used = agents.iter().rposition(|time| *time != 0).map_or(0, |last| last + 1);
        let agents = VectorClock::new(SmallVec::from_slice(&agents[..used]));
        Limit { rank, all, some, agents, by }
    }

    fn unlimited(rank: u32, segment: u32) -> Limit {
        Limit { rank, all: segment, some: segment, ..Limit::default() }
    }

    fn covers(&self, segment: u32, stamp: Epoch) -> bool {
        segment <= self.all || segment <= self.some && stamp.happens_before(&self.agents)
    }

    fn join(&mut self, other: &Limit) {
        if other.some > self.some || self.by.is_none() {
            self.by = other.by.or(self.by);
        }
        self.all = self.all.max(other.all);
        self.some = self.some.max(other.some);
        self.agents.join(&other.agents);
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let times = self.agents.components();
        let by = self.by.map_or(0, |by| pair(by.call + 1, by.site));
        let count = times.len() as u32;
        let head = [pair(self.rank, count), pair(self.all, self.some), by];
        let times = times.chunks(2).map(move |two| pair(two.get(1).copied().unwrap_or(0), two[0]));
        head.into_iter().chain(times)
    }

    /// Takes the words of a limit from the front; `None` if they are none.
    fn take(words: &mut &[u64]) -> Option<Limit> {
        let halves = |word: u64| ((word >> 32) as u32, word as u32);
        let [head, segments, by, rest @ ..] = *words else { return None };
        let ((rank, count), (all, some)) = (halves(*head), halves(*segments));
        let times = rest.get(..(count as usize).div_ceil(2))?;
        *words = &rest[times.len()..];
        let times = times.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]);
        let agents = VectorClock::new(times.take(count as usize).collect());
        let (call, site) = halves(*by);
        let by = call.checked_sub(1).map(|call| ByCall { call, site });
        Some(Limit { rank, all, some, agents, by })
    }
}

impl Knowledge {
    /// What a clock of segments covers, of all threads.
    pub fn new(row: RankClock) -> Knowledge {
        Knowledge { row, limits: Vec::new() }
    }

    /// Nothing of so many ranks is known from now on.
    pub fn reset(&mut self, ranks: usize) {
        self.row.reset(ranks);
        self.limits.clear();
    }

    /// It is limited from now on as these words say, which [`encode`](Self::encode) has made.
    pub fn limit_to(&mut self, mut words: &[u64]) {
        self.limits.clear();
        while let Some(limit) = Limit::take(&mut words) {
            self.limits.push(limit);
        }
        let ranks = self.row.components().len();
        self.limits.retain(|limit| (limit.rank as usize) < ranks);
        self.limits.sort_unstable_by_key(|limit| limit.rank);
    }

    /// Appends what its limits are to `words`, with `own` as that of the rank `me`. The clock of
    /// segments with which they will be read again may cover more than this one.
    pub fn encode(&self, me: u32, own: Option<&Limit>, row: &RankClock, words: &mut Vec<u64>) {
        let begin = words.len();
        words.extend(own.into_iter().flat_map(Limit::words));
        let mut add = |limit: &Limit| {
            let before = words.len();
            words.extend(limit.words());
            if words.len() - begin > MAX_WORDS {
                words.truncate(before);
            }
        };
        let mut limits = self.limits.iter().peekable();
        for (rank, (segment, known)) in
            (0..).zip(row.components().iter().zip(self.row.components()))
        {
            let limit = limits.next_if(|limit| limit.rank == rank);
            match limit {
                _ if rank == me => {}
                Some(limit) => add(limit),
                None if known < segment => add(&Limit::unlimited(rank, *known)),
                None => {}
            }
        }
    }

    /// Whether nothing is limited.
    #[inline]
    pub fn is_unlimited(&self) -> bool {
        self.limits.is_empty()
    }

    /// Whether less is known of a rank than its clock of segments says.
    pub fn is_limited(&self, rank: u32) -> bool {
        self.limit(rank).is_some()
    }

    fn limit(&self, rank: u32) -> Option<&Limit> {
        let at = self.limits.binary_search_by_key(&rank, |limit| limit.rank).ok()?;
        Some(&self.limits[at])
    }

    /// Whether an event is known.
    #[inline]
    pub fn covers(&self, event: Event) -> bool {
        self.row.time(event.rank) >= event.segment
            && (self.limits.is_empty() || self.covers_thread(event))
    }

    fn covers_thread(&self, Event { rank, segment, stamp }: Event) -> bool {
        self.limit(rank).is_none_or(|limit| limit.covers(segment, stamp))
    }

    /// Whether all that a clock of segments covers is known, of all threads.
    pub fn covers_all(&self, row: &[u32]) -> bool {
        let mut known: SmallVec<[u32; 64]> = SmallVec::from_slice(self.row.components());
        self.limits.iter().for_each(|limit| known[limit.rank as usize] = limit.all);
        row.iter().zip(&known).all(|(segment, known)| segment <= known)
    }

    /// If an event is not known only because it is another thread's: the last call by which this
    /// rank has released something that is known.
    pub fn missed_by(&self, event: Event) -> Option<ByCall> {
        let is_other = self.row.time(event.rank) >= event.segment && !self.covers(event);
        let limit = self.limit(event.rank).filter(|limit| is_other && limit.some >= event.segment);
        limit.and_then(|limit| limit.by)
    }

    /// All of a rank's segments up to one are known from now on.
    pub fn acquire(&mut self, rank: u32, segment: u32) {
        self.row.acquire(Epoch { agent: rank, time: segment });
        if let Ok(at) = self.limits.binary_search_by_key(&rank, |limit| limit.rank) {
            let limit = &mut self.limits[at];
            limit.join(&Limit::unlimited(rank, segment));
            if limit.all >= self.row.time(rank) {
                self.limits.remove(at);
            }
        }
    }

    /// Whatever is known by another one is known by this one from now on.
    pub fn join(&mut self, other: &Knowledge) {
        if !self.limits.is_empty() || !other.limits.is_empty() {
            self.join_limits(other);
        }
        self.row.join(&other.row);
    }

    fn join_limits(&mut self, other: &Knowledge) {
        let mut ranks: SmallVec<[u32; 16]> =
            self.limits.iter().chain(&other.limits).map(|limit| limit.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let of = |all: &Knowledge, rank| {
            let known = all.limit(rank).cloned();
            known.unwrap_or_else(|| Limit::unlimited(rank, all.row.time(rank)))
        };
        let joined = ranks.into_iter().filter_map(|rank| {
            let mut limit = of(self, rank);
            limit.join(&of(other, rank));
            let most = self.row.time(rank).max(other.row.time(rank));
            (limit.all < most).then_some(limit)
        });
        self.limits = joined.collect();
    }
}
