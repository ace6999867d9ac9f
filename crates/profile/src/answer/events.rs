//! `/api/lanes`, `/api/events`: what threads did in part of the time, as a figure of so many bins
//! and rows. Its size depends on these, whatever was recorded.

use super::sums::known;
use crate::Profile;
use crate::api::{
    Coarse, Error, EventMessage, EventRow, Events, EventsQuery, LaneOf, Lanes, LongWait, Meeting,
    Slice,
};
use crate::events::{Interval, What};
use crate::lanes::{Block, CLASSES, Lane, Times, amount};
use crate::waits::{Link, Meets, Wait, WaitKind};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::ops::Range;

/// Bins, unless the query says otherwise, and at most.
const BINS: u32 = 1024;
const MAX_BINS: u32 = 4096;
/// Rows, unless the query says otherwise, and at most.
const ROWS: u32 = 128;
const MAX_ROWS: u32 = 1024;
/// Bins of all rows at most: there are fewer bins where there are many rows.
const MAX_CELLS: u32 = 1 << 16;
/// Of each of these at most.
const MAX_MESSAGES: usize = 500;
const MAX_MEETINGS: usize = 500;
const MAX_WAITS: usize = 8;

/// Part of the time, in bins.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: u64,
    to: u64,
    bins: u32,
}

impl Window {
    /// Nanoseconds of a bin, rounded up.
    fn bin(&self) -> u64 {
        (self.to - self.from).div_ceil(self.bins.into()).max(1)
    }

    fn touches(&self, begin: u64, end: u64) -> bool {
        begin < self.to && end >= self.from
    }

    /// When a bin begins.
    fn at(&self, bin: u32) -> u64 {
        let length = u128::from(self.to - self.from);
        self.from + (length * u128::from(bin) / u128::from(self.bins)) as u64
    }

    fn bin_of(&self, time: u64) -> u32 {
        let since = u128::from(time.saturating_sub(self.from)) * u128::from(self.bins);
        let bin = since / u128::from((self.to - self.from).max(1));
        u32::try_from(bin).unwrap_or(u32::MAX).min(self.bins - 1)
    }

    /// Divides `amount`, which is spread evenly from `begin` to `end`, among bins.
    fn spread(&self, begin: u64, end: u64, amount: u64, mut add: impl FnMut(u32, f64)) {
        let (first, last) = (self.bin_of(begin.max(self.from)), self.bin_of(end.min(self.to)));
        if first == last && begin >= self.from && end <= self.to {
            return add(first, amount as f64);
        }
        let length = (end - begin).max(1) as f64;
        for bin in first..=last {
            let (from, to) = (self.at(bin).max(begin), self.at(bin + 1).min(end));
            add(bin, amount as f64 * to.saturating_sub(from) as f64 / length);
        }
    }
}

/// What happens in a bin of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    times: [f64; CLASSES.len()],
    /// For messages, in collectives.
    waits: [f64; 2],
    count: f64,
    folded: f64,
}

/// Names that an answer refers to.
type Names = IndexSet<String, FxBuildHasher>;

impl Profile {
    /// Threads that have recorded events.
    pub fn lanes(&self) -> Lanes {
        let index = self.by_lane();
        let log = &self.model.log;
        let lane = |lane: &Lane| LaneOf {
            place: log.ranks[lane.rank].place as usize,
            thread: (index.of_rank[lane.rank].len() > 1).then_some(lane.thread),
        };
        let mut notes = log.notes();
        if self.waits.is_cut {
            notes.push(format!(
                "of all waits, the {} longest are known one by one",
                self.waits.all.len()
            ));
        }
        if self.waits.links_are_cut {
            notes.push(format!(
                "the first {} messages and collectives are shown, others are not",
                self.waits.links.len()
            ));
        }
        Lanes {
            lanes: index.lanes.iter().map(lane).collect(),
            classes: CLASSES.map(str::to_owned).to_vec(),
            until: self.since(index.span.1),
            events: index.count,
            notes,
        }
    }

    /// What is asked for, as lanes and nanoseconds since 1970.
    pub(crate) fn part(
        &self,
        lanes: Option<(usize, usize)>,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<(Range<usize>, u64, u64), Error> {
        let index = self.by_lane();
        let last = index.lanes.len().saturating_sub(1);
        let (first, last) = lanes.unwrap_or((0, last));
        if !index.lanes.is_empty() {
            known("lane", last, index.lanes.len())?;
        }
        if first > last {
            return Err(Error::Bad("the first lane is behind the last one".to_owned()));
        }
        let (start, end) = index.span;
        let from = start.saturating_add(from.unwrap_or(0));
        let to = to.map_or(end, |to| start.saturating_add(to));
        if from > to {
            return Err(Error::Bad("`from` is later than `to`".to_owned()));
        }
        Ok((first..(last + 1).min(index.lanes.len()), from, to.max(from + 1)))
    }

    /// What threads did in part of the time.
    ///
    /// # Errors
    /// When the question names lanes that are not there, or time that runs backwards.
    pub fn events(&self, query: &EventsQuery) -> Result<Events, Error> {
        let (lanes, from, to) = self.part(query.lanes, query.from, query.to)?;
        let most = query.rows.unwrap_or(ROWS).clamp(1, MAX_ROWS) as usize;
        let of_row = lanes.len().div_ceil(most).max(1);
        let number_of_rows = lanes.len().div_ceil(of_row).max(1);
        let bins = query.width.unwrap_or(BINS).clamp(1, MAX_BINS);
        let bins = bins.min(MAX_CELLS / number_of_rows as u32).max(1);
        let window = Window { from, to, bins };
        let mut names = Names::default();
        let first = lanes.start;
        let rows = lanes.clone().step_by(of_row).map(|lane| {
            let row = lane..(lane + of_row).min(lanes.end);
            match row.len() {
                1 => self.row_of_one(lane, &window, &mut names),
                _ => self.row_of_many(row, &window),
            }
        });
        let rows: Vec<EventRow> = rows.collect();
        let row_of = |lane: usize| lanes.contains(&lane).then(|| (lane - first) / of_row);
        let (messages, more_messages) = self.messages(&window, row_of);
        let (meetings, more_meetings) = self.meetings(&window, row_of);
        Ok(Events {
            from: self.since(from),
            to: self.since(to),
            bins,
            names: names.into_iter().collect(),
            rows,
            messages,
            more_messages,
            meetings,
            more_meetings,
            waits: self.longest_waits(lanes.clone(), &window),
            path: self.path_in(&window, row_of),
        })
    }

    /// A thread: calls of at least a bin's length one by one, others by bin.
    fn row_of_one(&self, number: usize, window: &Window, names: &mut Names) -> EventRow {
        let index = self.by_lane();
        let lane = &index.lanes[number];
        let waits = || lane.waits.iter().map(|wait| &self.waits.all[*wait as usize]);
        let seen = waits().filter(|wait| window.touches(wait.span.0, wait.span.1));
        let by_begin: FxHashMap<u64, &Wait> = seen.map(|wait| (wait.span.0, wait)).collect();
        let (mut cells, bin) = (vec![Cell::default(); window.bins as usize], window.bin());
        let (mut slices, mut shown): (Vec<Slice>, FxHashSet<u64>) = Default::default();
        let most = 4 * window.bins as usize;
        let mut add_call = |of: &Interval, cells: &mut [Cell]| {
            if !window.touches(of.begin, of.end) {
                return;
            }
            let class = index.class(of).map_or(0, usize::from);
            if of.folded.is_some() || of.end - of.begin < bin || slices.len() >= most {
                return add_to(cells, window, of, class);
            }
            let name = self.name_of(of);
            let name =
                names.get_index_of(name).unwrap_or_else(|| names.insert_full(name.to_owned()).0);
            let wait = by_begin.get(&of.begin).filter(|wait| wait.span.1 <= of.end);
            shown.insert(of.begin);
            let (waits, whom) = wait.map_or((0, 0), |wait| {
                (wait.span.1 - wait.span.0, 1 + u8::from(is_collective(wait.kind)))
            });
            slices.push((self.since(of.begin), self.since(of.end), class, name, waits, whom));
        };
        let read =
            |block: &Block| window.touches(block.begin, block.end) && block.end - block.begin > bin;
        index.visit(self, lane, read, |of, _| add_call(of, &mut cells));
        let blocks = lane.blocks.iter().filter(|block| !read(block));
        add_blocks(&mut cells, window, blocks);
        for wait in by_begin.values().filter(|wait| !shown.contains(&wait.span.0)) {
            add_wait(&mut cells, window, wait);
        }
        slices.sort_unstable();
        let regions = self.regions_of(lane, window, names);
        let coarse = runs(&cells, window, 1);
        EventRow { lanes: [number, number], slices, coarse, regions }
    }

    /// Threads that share a row: all by bin.
    fn row_of_many(&self, row: Range<usize>, window: &Window) -> EventRow {
        let index = self.by_lane();
        let mut cells = vec![Cell::default(); window.bins as usize];
        let lanes = [row.start, row.end - 1];
        let number = row.len();
        // All is by bin here: which of two it is in hardly shows.
        let read = |block: &Block| {
            window.touches(block.begin, block.end) && block.end - block.begin > 2 * window.bin()
        };
        for lane in &index.lanes[row] {
            index.visit(self, lane, read, |of, _| {
                if window.touches(of.begin, of.end) {
                    add_to(&mut cells, window, of, index.class(of).map_or(0, usize::from));
                }
            });
            add_blocks(&mut cells, window, lane.blocks.iter().filter(|block| !read(block)));
            for wait in lane.waits.iter().map(|wait| &self.waits.all[*wait as usize]) {
                add_wait(&mut cells, window, wait);
            }
        }
        let (slices, regions) = Default::default();
        EventRow { lanes, slices, coarse: runs(&cells, window, number), regions }
    }

    /// The call's or region's name.
    pub(crate) fn name_of(&self, of: &Interval) -> &str {
        match self.model.log.shape(of).what {
            What::Call(site) => self.model.call_of_site(site),
            What::Region(name) => &self.model.log.regions[name as usize],
            What::Own => "commsan",
        }
    }

    /// Regions of a thread, without those that share a bin with the one before.
    fn regions_of(
        &self,
        lane: &Lane,
        window: &Window,
        names: &mut Names,
    ) -> Vec<(u64, u64, usize)> {
        let (mut regions, mut last) = (vec![], None);
        for (begin, end, name) in &lane.regions {
            if !window.touches(*begin, *end) {
                continue;
            }
            let bins = (window.bin_of((*begin).max(window.from)), window.bin_of(*end));
            if last == Some(bins) {
                continue;
            }
            last = Some(bins);
            let name = names.insert_full(self.model.log.regions[*name as usize].clone()).0;
            regions.push((self.since(*begin), self.since(*end), name));
        }
        regions
    }

    /// The longest messages between rows, and how many others there are.
    fn messages(
        &self,
        window: &Window,
        row_of: impl Fn(usize) -> Option<usize>,
    ) -> (Vec<EventMessage>, u64) {
        let index = self.by_lane();
        let message = |link: &Link| {
            if link.meeting.is_some() || !window.touches(link.span.0, link.span.1) {
                return None;
            }
            let source = row_of(index.lane(link.from, link.threads.0)?)?;
            let target = row_of(index.lane(link.to, link.threads.1)?)?;
            let (begin, end) = (self.since(link.span.0), self.since(link.span.1));
            (source != target).then_some(EventMessage {
                source,
                target,
                begin,
                end,
                bytes: link.bytes,
            })
        };
        longest(self.links_until(window.to).iter().filter_map(message), MAX_MESSAGES, |of| {
            of.end - of.begin
        })
    }

    /// Messages and collectives that begin before.
    fn links_until(&self, until: u64) -> &[Link] {
        let links = &self.waits.links;
        &links[..links.partition_point(|link| link.span.0 < until)]
    }

    /// The longest collectives, and how many others there are.
    fn meetings(
        &self,
        window: &Window,
        row_of: impl Fn(usize) -> Option<usize>,
    ) -> (Vec<Meeting>, u64) {
        let index = self.by_lane();
        let model = &self.model;
        let of_window = self.links_until(window.to).iter().filter_map(|link| {
            let of = link.meeting.filter(|_| window.touches(link.span.0, link.span.1))?;
            Some((link, of))
        });
        let (kept, more) = longest(of_window, MAX_MEETINGS, |(link, _): &(&Link, Meets)| {
            link.span.1 - link.span.0
        });
        let by_place: FxHashMap<u32, usize> =
            (model.log.ranks.iter().zip(0..)).map(|(of, rank)| (of.place, rank)).collect();
        let mut rows_of: FxHashMap<u32, Vec<[usize; 2]>> = FxHashMap::default();
        let meeting = |(link, of): (&Link, Meets)| {
            let rows = rows_of.entry(of.communicator).or_insert_with(|| {
                let group = model.log.groups[of.communicator as usize];
                let places = model.groups[group as usize].places().iter();
                let ranks = places.filter_map(|place| by_place.get(place));
                let lanes = ranks.filter_map(|rank| index.of_rank[*rank].clone().next());
                joined(lanes.filter_map(&row_of).collect())
            });
            Meeting {
                rows: rows.clone(),
                begin: self.since(link.span.0),
                met: self.since(of.met),
                end: self.since(link.span.1),
                members: model.log.sizes[of.communicator as usize],
                last: model.log.ranks[link.from].place as usize,
            }
        };
        let meetings = kept.into_iter().map(meeting);
        (meetings.filter(|meeting| !meeting.rows.is_empty()).collect(), more)
    }

    /// The critical path in rows, without gaps and parts that are too short to be seen.
    fn path_in(
        &self,
        window: &Window,
        row_of: impl Fn(usize) -> Option<usize>,
    ) -> Vec<(usize, u64, u64)> {
        let stretches = &self.critical_path().stretches;
        let from = stretches.partition_point(|of| of.to <= window.from);
        let of_window = stretches[from..].iter().take_while(|of| of.from < window.to);
        let (mut path, bin): (Vec<(usize, u64, u64)>, u64) = (vec![], window.bin());
        let mut last: FxHashMap<usize, usize> = FxHashMap::default();
        for of in of_window {
            let Some(row) = row_of(of.lane) else { continue };
            let (begin, end) = (self.since(of.from), self.since(of.to));
            match last.get(&row) {
                Some(at) if begin < path[*at].2 + bin => path[*at].2 = end,
                _ => {
                    last.insert(row, path.len());
                    path.push((row, begin, end));
                }
            }
        }
        path
    }

    fn longest_waits(&self, lanes: Range<usize>, window: &Window) -> Vec<LongWait> {
        let index = self.by_lane();
        let waits = lanes.flat_map(|lane| index.lanes[lane].waits.iter().map(move |w| (lane, *w)));
        let waits = waits.map(|(lane, wait)| (lane, &self.waits.all[wait as usize]));
        let waits = waits.filter(|(_, wait)| window.touches(wait.span.0, wait.span.1));
        let (mut kept, _) = longest(waits, MAX_WAITS, |(_, wait)| wait.span.1 - wait.span.0);
        kept.sort_by_key(|(lane, wait)| (Reverse(wait.span.1 - wait.span.0), *lane, wait.span));
        kept.into_iter().map(|(lane, wait)| self.long_wait(lane, wait)).collect()
    }

    /// A wait, for the user.
    pub(crate) fn long_wait(&self, lane: usize, wait: &Wait) -> LongWait {
        let model = &self.model;
        let line = model.line_of_site(wait.by.site).map(|line| model.lines[line as usize]);
        LongWait {
            lane,
            begin: self.since(wait.span.0),
            end: self.since(wait.span.1),
            kind: wait.kind.name().to_owned(),
            place: model.log.ranks[wait.by.rank].place as usize,
            call: model.call_of_site(wait.by.site).to_owned(),
            file: line.map(|line| line.file as usize),
            line: line.map(|line| line.line),
        }
    }
}

fn is_collective(kind: WaitKind) -> bool {
    !matches!(kind, WaitKind::LateSender | WaitKind::LateReceiver | WaitKind::WrongOrder)
}

/// The `most` with the largest `length`, in the order given, and how many others there are.
fn longest<T>(
    all: impl Iterator<Item = T>,
    most: usize,
    length: impl Fn(&T) -> u64,
) -> (Vec<T>, u64) {
    let mut kept: Vec<(usize, T)> = vec![];
    let mut count = 0;
    for (number, of) in all.enumerate() {
        count += 1;
        kept.push((number, of));
        if kept.len() >= 2 * most {
            kept.sort_unstable_by_key(|(number, of)| (Reverse(length(of)), *number));
            kept.truncate(most);
        }
    }
    kept.sort_unstable_by_key(|(number, of)| (Reverse(length(of)), *number));
    kept.truncate(most);
    kept.sort_unstable_by_key(|(number, _)| *number);
    let more = count - kept.len() as u64;
    (kept.into_iter().map(|(_, of)| of).collect(), more)
}

/// Runs of rows that follow each other.
fn joined(mut rows: Vec<usize>) -> Vec<[usize; 2]> {
    rows.sort_unstable();
    rows.dedup();
    let runs = rows.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| [run[0], run[run.len() - 1]]).collect()
}

/// Adds a call to the bins that it takes.
fn add_to(cells: &mut [Cell], window: &Window, of: &Interval, class: usize) {
    let (count, time) = amount(of);
    window.spread(of.begin, of.end, time, |bin, time| cells[bin as usize].times[class] += time);
    if of.folded.is_none() {
        cells[window.bin_of(of.begin.max(window.from)) as usize].count += 1.0;
        return;
    }
    // Where each of them was is not known.
    window.spread(of.begin, of.end, count, |bin, count| {
        let cell = &mut cells[bin as usize];
        (cell.count, cell.folded) = (cell.count + count, cell.folded + count);
    });
}

/// Adds what is known of blocks, none of which is longer than a bin.
fn add_blocks<'b>(cells: &mut [Cell], window: &Window, blocks: impl Iterator<Item = &'b Block>) {
    for block in blocks.filter(|block| window.touches(block.begin, block.end)) {
        let times: &Times = &block.times;
        for (class, time) in times.iter().enumerate().filter(|(_, time)| **time > 0) {
            window.spread(block.begin, block.end, *time, |bin, time| {
                cells[bin as usize].times[class] += time;
            });
        }
        window.spread(block.begin, block.end, block.count, |bin, count| {
            cells[bin as usize].count += count;
        });
    }
}

fn add_wait(cells: &mut [Cell], window: &Window, wait: &Wait) {
    let (begin, end) = wait.span;
    if window.touches(begin, end) {
        let whom = usize::from(is_collective(wait.kind));
        window.spread(begin, end, end - begin, |bin, time| cells[bin as usize].waits[whom] += time);
    }
}

/// Shares of a bin are told in so many steps where neighbours are joined.
const STEPS: f64 = 16.0;

/// Bins with something in them; neighbours that look alike are one.
fn runs(cells: &[Cell], window: &Window, lanes: usize) -> Vec<Coarse> {
    let mut all: Vec<(Coarse, [u8; 2])> = vec![];
    let length = (window.to - window.from) as f64 / f64::from(window.bins) * lanes as f64;
    for (bin, cell) in (0..).zip(cells) {
        let busy: f64 = cell.times.iter().sum();
        if busy <= 0.0 && cell.count <= 0.0 {
            continue;
        }
        let share = |time: f64| (time / length.max(1.0)).min(1.0);
        let waiting: f64 = cell.waits.iter().sum();
        let largest =
            |times: &[f64]| (0..times.len()).max_by(|a, b| times[*a].total_cmp(&times[*b]));
        let class = largest(&cell.times).unwrap_or(0);
        let whom = match largest(&cell.waits) {
            Some(whom) if waiting > 0.0 => 1 + whom as u8,
            _ => 0,
        };
        let steps = [busy, waiting].map(|time| (share(time) * STEPS).ceil() as u8);
        let thousandths = |time: f64| (share(time) * 1000.0).round() as u16;
        let (count, folded) = (cell.count.round() as u64, cell.folded.round() as u64);
        match all.last_mut() {
            Some((last, alike))
                if last.0 + last.1 == bin
                    && (last.2, last.5, *alike) == (class, whom, steps)
                    && (last.7 > 0) == (folded > 0) =>
            {
                let weigh = |a: u16, b: u16| {
                    let sum = f64::from(a) * f64::from(last.1) + f64::from(b);
                    (sum / f64::from(last.1 + 1)).round() as u16
                };
                (last.3, last.4) =
                    (weigh(last.3, thousandths(busy)), weigh(last.4, thousandths(waiting)));
                (last.1, last.6, last.7) = (last.1 + 1, last.6 + count, last.7 + folded);
            }
            _ => {
                let (busy, waiting) = (thousandths(busy), thousandths(waiting));
                all.push(((bin, 1, class, busy, waiting, whom, count, folded), steps));
            }
        }
    }
    all.into_iter().map(|(coarse, _)| coarse).collect()
}
