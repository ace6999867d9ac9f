//! `/api/happened`: events one by one, with all that is known of them.

use crate::Profile;
use crate::api::{Error, Event, EventsQuery, Happened, MessageEnd};
use crate::events::{Interval, Known, What};
use crate::lanes::amount;
use crate::merge::Rank;
use crate::waits::{Link, Wait};
use commsan_rundir::events::Part;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cmp::Reverse;
use std::ops::Range;

/// Events that are listed.
const MAX_EVENTS: usize = 1000;

/// Calls that are looked through at most.
const MAX_LOOKED: u64 = 1 << 21;

/// Messages of an event that are listed.
const MAX_MESSAGES: usize = 16;

/// An event that may be listed.
struct Found {
    lane: usize,
    interval: Interval,
    class: usize,
    parts: Vec<Part>,
}

impl Profile {
    /// Events that touch part of the time: the longest of them.
    ///
    /// # Errors
    /// When the question names what is not there, or so many events that it would take long.
    pub fn happened(&self, query: &EventsQuery) -> Result<Happened, Error> {
        let index = self.by_lane();
        let (lanes, from, to) = self.part(query.lanes, query.from, query.to)?;
        let is_within = |begin: u64, end: u64| begin < to && (end > from || begin >= from);
        let blocks = index.lanes[lanes.clone()].iter().flat_map(|lane| &lane.blocks);
        let touched = blocks.filter(|block| is_within(block.begin, block.end));
        let number: u64 = touched.map(|block| block.count).sum();
        if number > MAX_LOOKED {
            return Err(Error::Bad(format!(
                "there are {number} events here: select less of the time, or fewer lanes"
            )));
        }
        let (mut found, mut count): (Vec<Found>, u64) = (vec![], 0);
        for lane in lanes.clone() {
            let wanted = |block: &crate::lanes::Block| is_within(block.begin, block.end);
            index.visit(self, &index.lanes[lane], wanted, |interval, parts| {
                if !is_within(interval.begin, interval.end) {
                    return;
                }
                count += 1;
                let class = index.class(interval).map_or(0, usize::from);
                found.push(Found { lane, interval: *interval, class, parts: parts.to_vec() });
                if found.len() >= 2 * MAX_EVENTS {
                    keep_longest(&mut found);
                }
            });
        }
        keep_longest(&mut found);
        found.sort_by_key(|of| (of.interval.begin, of.lane, of.interval.end));
        let ends = self.ends(&found, lanes);
        let mut stacks: IndexSet<u32, FxBuildHasher> = IndexSet::default();
        let events: Vec<Event> =
            found.iter().map(|of| self.event(of, &ends, &mut stacks)).collect();
        let stacks = stacks.into_iter().map(|stack| self.model.stacks[stack as usize].clone());
        let more = count - events.len() as u64;
        Ok(Happened { events, more, stacks: stacks.collect() })
    }

    /// Messages by the rank, thread and moment at which a send begins, or a receive is complete.
    fn ends(&self, found: &[Found], lanes: Range<usize>) -> FxHashMap<(usize, u64), Vec<&Link>> {
        let index = self.by_lane();
        let mut ends: FxHashMap<(usize, u64), Vec<&Link>> = FxHashMap::default();
        for of in found {
            ends.insert((of.lane, of.interval.begin), vec![]);
            ends.insert((of.lane, of.interval.end), vec![]);
        }
        for link in self.waits.links.iter().filter(|link| link.meeting.is_none()) {
            let sides =
                [(link.from, link.threads.0, link.span.0), (link.to, link.threads.1, link.span.1)];
            for (rank, thread, time) in sides {
                let lane = index.lane(rank, thread).filter(|lane| lanes.contains(lane));
                if let Some(known) = lane.and_then(|lane| ends.get_mut(&(lane, time))) {
                    known.push(link);
                }
            }
        }
        ends
    }

    fn event(
        &self,
        of: &Found,
        ends: &FxHashMap<(usize, u64), Vec<&Link>>,
        stacks: &mut IndexSet<u32, FxBuildHasher>,
    ) -> Event {
        let model = &self.model;
        let Found { lane, interval, class, parts } = of;
        let site = match model.log.shape(interval).what {
            What::Call(site) => Some(site),
            _ => None,
        };
        let line = site.and_then(|site| model.line_of_site(site));
        let line = line.map(|line| model.lines[line as usize]);
        let stack = site.map(|site| stacks.insert_full(model.sites[site as usize].stack).0);
        let mut messages = vec![];
        let mut members = None;
        for part in parts {
            match model.log.part(interval.rank, part) {
                Some(Known::Message { channel, sent }) => {
                    messages.extend(self.message(of, part, channel, sent, ends));
                }
                Some(Known::Collective(communicator)) => {
                    members = Some(model.log.sizes[communicator as usize]);
                }
                None => {}
            }
        }
        let more = messages.len().saturating_sub(MAX_MESSAGES);
        messages.truncate(MAX_MESSAGES);
        Event {
            lane: *lane,
            begin: self.since(interval.begin),
            end: self.since(interval.end),
            class: *class,
            call: self.name_of(interval).to_owned(),
            file: line.map(|line| line.file as usize),
            line: line.map(|line| line.line),
            stack,
            folded: interval.folded.map(|(count, _)| count),
            time: amount(interval).1,
            bytes: parts.iter().map(|part| part.bytes).fold(0, u64::saturating_add),
            messages,
            more,
            members,
            wait: self.wait_of(*lane, interval).map(|wait| self.long_wait(*lane, wait)),
        }
    }

    /// A message at this end; the other is known if both were compared.
    fn message(
        &self,
        of: &Found,
        part: &Part,
        channel: u32,
        sent: bool,
        ends: &FxHashMap<(usize, u64), Vec<&Link>>,
    ) -> Option<MessageEnd> {
        let log = &self.model.log;
        let channel = log.channels.get_index(channel as usize)?;
        let peer = if sent { channel.target } else { channel.source };
        let time = if sent { of.interval.begin } else { of.interval.end };
        let position = |rank: usize| log.ranks[rank].rank == peer;
        let link = ends.get(&(of.lane, time)).and_then(|links| {
            let mut between = links.iter().filter(|link| match sent {
                true => link.from == of.interval.rank && position(link.to),
                false => link.to == of.interval.rank && position(link.from),
            });
            // One of several with the same rank at the same moment is not told from the others.
            between.next().filter(|_| between.next().is_none())
        });
        let bytes = link.map(|link| link.bytes);
        Some(MessageEnd {
            peer: self.place_of(peer)?,
            sent,
            tag: channel.tag,
            bytes: bytes.or((!part.completes && sent).then_some(part.bytes)),
            completes: part.completes,
            other: link.map(|link| self.since(if sent { link.span.1 } else { link.span.0 })),
        })
    }

    fn place_of(&self, rank: Rank) -> Option<usize> {
        let ranks = &self.model.ranks;
        let at = ranks.binary_search_by_key(&rank, |known| known.rank).ok()?;
        Some(ranks[at].place as usize)
    }

    /// What a call waits for.
    fn wait_of(&self, lane: usize, interval: &Interval) -> Option<&Wait> {
        let waits = &self.by_lane().lanes[lane].waits;
        let begin = |wait: &u32| self.waits.all[*wait as usize].span.0;
        let from = waits.partition_point(|wait| begin(wait) < interval.begin);
        let wait = &self.waits.all[*waits.get(from)? as usize];
        let is_of = wait.span.0 == interval.begin && wait.span.1 <= interval.end;
        (is_of && interval.folded.is_none()).then_some(wait)
    }
}

fn keep_longest(found: &mut Vec<Found>) {
    let length = |of: &Found| of.interval.end - of.interval.begin;
    found.sort_by_key(|of| (Reverse(length(of)), of.interval.begin, of.lane));
    found.truncate(MAX_EVENTS);
}
