//! `/api/waits`: who waits for whom, as a matrix of ranks, by pairs of ranks, and by lines.

use super::matrix::{Axis, MAX_BLOCKS, NONE};
use crate::Profile;
use crate::api::{
    DEFAULT_BLOCKS, Error, LongestWait, OfState, WaitLine, WaitLines, WaitMatrix, WaitState,
    WaitsQuery,
};
use crate::waits::{At, Key, Sum, WaitKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const NANOSECONDS: f64 = 1e9;

/// Lines that are listed.
const MAX_LINES: usize = 500;

/// What a rank waits for another.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Who waits: place.
    pub place: u32,
    /// For whom: place.
    pub late: u32,
    /// What for.
    pub kind: WaitKind,
    /// How often, and how long.
    pub sum: Sum,
    /// The site that is late for most of that time.
    pub site: u32,
}

impl Profile {
    /// Wait states that occur, in the order of [`WaitKind::ALL`].
    fn occurring(&self) -> Vec<WaitKind> {
        let kinds: FxHashSet<WaitKind> = self.waits.sums.keys().map(|key| key.kind).collect();
        WaitKind::ALL.into_iter().filter(|kind| kinds.contains(kind)).collect()
    }

    /// Wait states that occur, and what they cost.
    pub(crate) fn states(&self) -> Vec<WaitState> {
        let state = |kind: WaitKind| {
            let mut all = Sum::default();
            let of = self.waits.sums.iter().filter(|(key, _)| key.kind == kind);
            of.for_each(|(_, sum)| all.join(*sum));
            let seconds = all.time as f64 / NANOSECONDS;
            WaitState { name: kind.name().to_owned(), count: all.count, seconds }
        };
        self.occurring().into_iter().map(state).collect()
    }

    /// The place of the rank that a site is of.
    fn place_at(&self, at: At) -> u32 {
        self.model.log.ranks[at.rank].place
    }

    /// Who waits × for whom.
    ///
    /// # Errors
    /// When the question names what is not there.
    pub fn wait_matrix(&self, query: &WaitsQuery) -> Result<WaitMatrix, Error> {
        let most = query.max.unwrap_or(DEFAULT_BLOCKS).clamp(1, MAX_BLOCKS);
        let rows = self.blocks(Axis::Ranks, query.rows, query.level, most)?;
        let cols = self.blocks(Axis::Ranks, query.cols, query.level, most)?;
        let (waiting, late) = (self.block_of(&rows), self.block_of(&cols));
        let mut cells: BTreeMap<(u32, u32), BTreeMap<WaitKind, Sum>> = BTreeMap::new();
        for (key, sum) in &self.waits.sums {
            let [at, by] = [key.at, key.by].map(|at| self.place_at(at) as usize);
            let cell = (waiting[at], late[by]);
            if cell.0 != NONE && cell.1 != NONE {
                cells.entry(cell).or_default().entry(key.kind).or_default().join(*sum);
            }
        }
        let states = self.occurring();
        let of_state = |(kind, sum): (WaitKind, Sum)| -> Option<OfState> {
            let state = states.iter().position(|of| *of == kind)?;
            Some((state, sum.count, sum.time as f64 / NANOSECONDS))
        };
        let cells = cells.into_iter().map(|((row, col), sums)| {
            (row as usize, col as usize, sums.into_iter().filter_map(of_state).collect())
        });
        Ok(WaitMatrix { cells: cells.collect(), rows, cols })
    }

    /// Pairs of ranks by state, those first that cost most.
    pub(crate) fn wait_pairs(&self) -> Vec<Pair> {
        #[derive(Default)]
        struct Found {
            sum: Sum,
            by_site: FxHashMap<u32, u64>,
        }
        let mut all: FxHashMap<(u32, u32, WaitKind), Found> = FxHashMap::default();
        for (key, sum) in &self.waits.sums {
            let pair = (self.place_at(key.at), self.place_at(key.by), key.kind);
            let found = all.entry(pair).or_default();
            found.sum.join(*sum);
            *found.by_site.entry(key.by.site).or_default() += sum.time;
        }
        let pair = |((place, late, kind), found): ((u32, u32, WaitKind), Found)| {
            let most = found.by_site.iter().max_by_key(|(site, time)| (**time, Reverse(**site)));
            let site = most.map(|(site, _)| *site)?;
            Some(Pair { place, late, kind, sum: found.sum, site })
        };
        let mut pairs: Vec<Pair> = all.into_iter().filter_map(pair).collect();
        pairs.sort_by_key(|of| (Reverse(of.sum.time), of.place, of.late, of.kind));
        pairs
    }

    /// Lines at which ranks of some places wait for ranks of others; all if not said.
    ///
    /// # Errors
    /// When the question names what is not there.
    pub fn wait_lines(
        &self,
        rows: Option<(usize, usize)>,
        cols: Option<(usize, usize)>,
    ) -> Result<WaitLines, Error> {
        for range in [rows, cols].into_iter().flatten() {
            self.check_places(range)?;
        }
        let is_in = |range: Option<(usize, usize)>, at: At| {
            let place = self.place_at(at) as usize;
            range.is_none_or(|(first, last)| (first..=last).contains(&place))
        };
        // Call paths that end at one line count as one.
        let end = |site: u32| (self.model.sites[site as usize].call, self.model.line_of_site(site));
        let mut all: FxHashMap<_, OfLine> = FxHashMap::default();
        for (key, sum) in &self.waits.sums {
            if !is_in(rows, key.at) || !is_in(cols, key.by) {
                continue;
            }
            let lines = (key.kind, end(key.at.site), end(key.by.site));
            let found = all.entry(lines).or_insert_with(|| OfLine::of(*key, *sum));
            found.add(*key, *sum);
        }
        let mut all: Vec<OfLine> = all.into_values().collect();
        all.sort_by_key(|of| (Reverse(of.sum.time), of.worst.0));
        let more = all.len().saturating_sub(MAX_LINES);
        let states = self.occurring();
        let lines = all.iter().take(MAX_LINES).filter_map(|of| self.wait_line(of, &states));
        Ok(WaitLines { lines: lines.collect(), more })
    }

    fn wait_line(&self, of: &OfLine, states: &[WaitKind]) -> Option<WaitLine> {
        let model = &self.model;
        let (key, worst) = of.worst;
        let line = |site: u32| {
            let line = model.line_of_site(site).map(|line| model.lines[line as usize]);
            (line.map(|line| line.file as usize), line.map(|line| line.line))
        };
        let ((file, at), (late_file, late_line)) = (line(key.at.site), line(key.by.site));
        Some(WaitLine {
            state: states.iter().position(|state| *state == key.kind)?,
            call: model.call_of_site(key.at.site).to_owned(),
            file,
            line: at,
            late_call: model.call_of_site(key.by.site).to_owned(),
            late_file,
            late_line,
            pairs: of.pairs.len(),
            count: of.sum.count,
            seconds: of.sum.time as f64 / NANOSECONDS,
            longest: LongestWait {
                place: self.place_at(key.at) as usize,
                late: self.place_at(key.by) as usize,
                begin: self.since(worst.when),
                end: self.since(worst.when) + worst.longest,
                lane: self.lane_of(key, worst),
            },
        })
    }

    /// The lane of the longest wait of a sum.
    fn lane_of(&self, key: Key, sum: Sum) -> Option<usize> {
        let all = &self.waits.all;
        let first = all.partition_point(|wait| wait.span.0 < sum.when);
        let wait = all[first..].iter().take_while(|wait| wait.span.0 == sum.when).find(|wait| {
            let of = Key { kind: wait.kind, at: wait.at, by: wait.by };
            of == key && wait.span.1 - wait.span.0 == sum.longest
        });
        wait.and_then(|wait| self.by_lane().lane(wait.at.rank, wait.thread))
    }
}

/// Waits of one state at one line, for one line.
struct OfLine {
    sum: Sum,
    /// Those with the longest of them.
    worst: (Key, Sum),
    /// Ranks that wait, and that they wait for.
    pairs: FxHashSet<(usize, usize)>,
}

impl OfLine {
    /// None yet, of which these will be the first.
    fn of(key: Key, sum: Sum) -> OfLine {
        OfLine { sum: Sum::default(), worst: (key, sum), pairs: FxHashSet::default() }
    }

    fn add(&mut self, key: Key, sum: Sum) {
        // Sums come in any order: of equally long ones the first in the order of keys counts.
        let rank = |(key, sum): (Key, Sum)| (Reverse(sum.longest), key);
        if rank((key, sum)) < rank(self.worst) {
            self.worst = (key, sum);
        }
        self.sum.join(sum);
        self.pairs.insert((key.at.rank, key.by.rank));
    }
}
