//! `/api/matrix`: sources × targets, in as many blocks as can be drawn.
//!
//! Patterns of groups are never taken apart into their pairs: of each group it is summed up once
//! what its members send in all, and from how many members a block's share is.

use super::Sums;
use crate::Profile;
use crate::api::{
    Amount, Block, DEFAULT_BLOCKS, Error, Filter, Level, Matrix, MatrixQuery, Node, PlaceKind,
};
use crate::group::Group;
use crate::model::{End, Model, Pattern, Row};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Blocks in one direction, whatever is asked for.
pub(super) const MAX_BLOCKS: usize = 4096;

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// What lies along a side of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// All places.
    Places,
    /// Ranks alone.
    Ranks,
}

impl Axis {
    /// First and last place of a node on it: ranks come before what else a node has.
    fn of(self, model: &Model, node: &Node) -> Option<(usize, usize)> {
        let [first, last] = node.places;
        if self == Axis::Places {
            return Some((first, last));
        }
        let places = model.places[first..=last].iter();
        let ranks = places.take_while(|place| place.kind == PlaceKind::Rank).count();
        ranks.checked_sub(1).map(|more| (first, first + more))
    }
}

impl Profile {
    /// Sources × targets.
    ///
    /// # Errors
    /// When the question names what is not there.
    pub fn matrix(&self, query: &MatrixQuery) -> Result<Matrix, Error> {
        let most = query.max.unwrap_or(DEFAULT_BLOCKS).clamp(1, MAX_BLOCKS);
        let all = self.places_of(&query.filter);
        let rows = self.blocks(Axis::Places, query.rows.or(all), query.level, most)?;
        let cols = self.blocks(Axis::Places, query.cols.or(all), query.level, most)?;
        let mut cells = Cells {
            sources: self.block_of(&rows),
            targets: self.block_of(&cols),
            cells: FxHashMap::default(),
        };
        let mut groups: BTreeMap<Whole, Vec<(u32, Amount)>> = BTreeMap::new();
        for row in self.rows_of(&query.filter)? {
            let amount = self.amount_in(row, &query.filter);
            let kind = self.kind(row.kind);
            match (row.source, row.target) {
                (End::At(source), End::At(target)) => cells.add(source, target, kind, amount),
                _ => {
                    if let Some((whole, place)) = Whole::of(row, kind) {
                        groups.entry(whole).or_default().push((place, amount));
                    }
                }
            }
        }
        for (whole, sent) in groups {
            cells.add_group(&self.model.groups[whole.group as usize], whole, sent);
        }
        let mut cells: Vec<_> = (cells.cells.into_iter())
            .map(|((row, col), sums)| (row as usize, col as usize, sums.by_kind()))
            .filter(|(_, _, by_kind)| !by_kind.is_empty())
            .collect();
        cells.sort_unstable_by_key(|(row, col, _)| (*row, *col));
        let times = self.times_between(&query.filter, &rows, &cols);
        Ok(Matrix { rows, cols, cells, times })
    }

    /// Time in calls that name one other rank: from the block of the caller to that of the other.
    fn times_between(
        &self,
        filter: &Filter,
        rows: &[Block],
        cols: &[Block],
    ) -> Option<Vec<(usize, usize, f64)>> {
        if filter.object.is_some() || filter.region.is_some() {
            return None;
        }
        let (sources, targets) = (self.block_of(rows), self.block_of(cols));
        let mut times: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for calls in self.calls_of(filter) {
            let Some(peer) = calls.peer else { continue };
            let cell = (sources[calls.place as usize], targets[peer as usize]);
            if cell.0 != NONE && cell.1 != NONE {
                *times.entry(cell).or_default() += self.spent_in(calls, filter).1;
            }
        }
        let times = times.into_iter().filter(|(_, time)| *time > 0);
        Some(
            times
                .map(|((row, col), time)| (row as usize, col as usize, time as f64 / 1e9))
                .collect(),
        )
    }

    /// The places of a whole matrix, first and last. What a receive from any source has not
    /// recorded is for the receiving end alone: where nothing that counts comes from the unknown
    /// place, totals need no row for it.
    fn places_of(&self, filter: &Filter) -> Option<(usize, usize)> {
        let last = self.model.places.len().checked_sub(1)?;
        let is_idle = |place: usize| {
            self.model.places[place].kind == PlaceKind::Unknown
                && self.index.at_place.get(place).is_empty()
        };
        let totals = filter.object.is_none() && filter.file.is_none();
        Some((0, if totals && last > 0 && is_idle(last) { last - 1 } else { last }))
    }

    /// The blocks of an axis in a range of places, as many as allowed.
    pub(super) fn blocks(
        &self,
        axis: Axis,
        range: Option<(usize, usize)>,
        level: Level,
        most: usize,
    ) -> Result<Vec<Block>, Error> {
        let Some(end) = self.model.places.len().checked_sub(1) else { return Ok(vec![]) };
        let (first, last) = range.unwrap_or((0, end));
        self.check_places((first, last))?;
        let nodes = &self.model.nodes;
        let nodes = &nodes[self.model.places[first].node..=self.model.places[last].node];
        let clip = |node: &Node| {
            let (from, to) = axis.of(&self.model, node)?;
            let clipped = (from.max(first), to.min(last));
            (clipped.0 <= clipped.1).then_some(clipped)
        };
        let nodes: Vec<(usize, usize)> = nodes.iter().filter_map(clip).collect();
        let ranges = match level {
            Level::Place if nodes.len() <= most => within(&nodes, most),
            _ => together(&nodes, most),
        };
        let label = |(first, last)| Block { label: self.label(axis, first, last), first, last };
        Ok(ranges.into_iter().map(label).collect())
    }

    /// Whether there are places from the first to the last.
    pub(super) fn check_places(&self, (first, last): (usize, usize)) -> Result<(), Error> {
        let number = self.model.places.len();
        if first <= last && last < number {
            return Ok(());
        }
        let end = number.saturating_sub(1);
        Err(Error::Bad(format!("there are no places {first}-{last}: this run has 0-{end}")))
    }

    /// A name for neighbouring places of an axis.
    fn label(&self, axis: Axis, first: usize, last: usize) -> String {
        let (from, to) = (&self.model.places[first], &self.model.places[last]);
        let (node, end) = (&self.model.nodes[from.node], &self.model.nodes[to.node]);
        let begins = axis.of(&self.model, node).is_some_and(|of| of.0 == first);
        let ends = axis.of(&self.model, end).is_some_and(|of| of.1 == last);
        let whole = begins && ends;
        if first == last {
            return from.name.clone();
        }
        if whole && from.node == to.node {
            return node.name.clone();
        }
        if whole {
            return format!("{} – {}", node.name, end.name);
        }
        match (rank_and_job(&from.name), rank_and_job(&to.name)) {
            (Some((a, job)), Some((b, of))) if job == of => format!("ranks {a}-{b}{job}"),
            _ => format!("{} – {}", from.name, to.name),
        }
    }

    /// The block of each place; [`NONE`] where it is in none.
    pub(super) fn block_of(&self, blocks: &[Block]) -> Vec<u32> {
        let mut of = vec![NONE; self.model.places.len()];
        for (number, block) in blocks.iter().enumerate() {
            of[block.first..=block.last].fill(number as u32);
        }
        of
    }
}

/// As many blocks as allowed, none of which holds places of two nodes.
fn within(nodes: &[(usize, usize)], most: usize) -> Vec<(usize, usize)> {
    let length = |(first, last): &(usize, usize)| last - first + 1;
    let blocks =
        |size: usize| -> usize { nodes.iter().map(|node| length(node).div_ceil(size)).sum() };
    let longest = nodes.iter().map(length).max().unwrap_or(1);
    // Fewer with every size; the longest node gives one for each node, which fits.
    let (mut low, mut high) = (1, longest);
    while low < high {
        let middle = low.midpoint(high);
        if blocks(middle) <= most { high = middle } else { low = middle + 1 }
    }
    let blocks = nodes.iter().flat_map(|(first, last)| {
        (*first..=*last).step_by(low).map(move |start| (start, (start + low - 1).min(*last)))
    });
    blocks.collect()
}

/// Nodes, several together where there are too many.
fn together(nodes: &[(usize, usize)], most: usize) -> Vec<(usize, usize)> {
    let blocks = nodes.chunks(nodes.len().div_ceil(most).max(1));
    blocks.map(|nodes| (nodes[0].0, nodes[nodes.len() - 1].1)).collect()
}

/// Rows with the same pattern, which are added up before they meet the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Whole {
    group: u32,
    pattern: Pattern,
    kind: usize,
    /// Whether the pattern is the target.
    outwards: bool,
}

impl Whole {
    /// With the place at the other end.
    fn of(row: &Row, kind: usize) -> Option<(Whole, u32)> {
        match (row.source, row.target) {
            (End::At(place), End::Of(pattern, group)) => {
                Some((Whole { group, pattern, kind, outwards: true }, place))
            }
            (End::Of(pattern, group), End::At(place)) => {
                Some((Whole { group, pattern, kind, outwards: false }, place))
            }
            _ => None,
        }
    }
}

struct Cells {
    sources: Vec<u32>,
    targets: Vec<u32>,
    cells: FxHashMap<(u32, u32), Sums>,
}

impl Cells {
    fn add(&mut self, source: u32, target: u32, kind: usize, amount: Amount) {
        let cell = (self.sources[source as usize], self.targets[target as usize]);
        self.add_cell(cell, kind, amount);
    }

    fn add_cell(&mut self, cell: (u32, u32), kind: usize, amount: Amount) {
        if cell.0 != NONE && cell.1 != NONE {
            self.cells.entry(cell).or_default().add(kind, amount);
        }
    }

    fn add_group(&mut self, group: &Group, whole: Whole, mut sent: Vec<(u32, Amount)>) {
        sent.sort_unstable_by_key(|(place, _)| *place);
        let sent = sent.chunk_by(|a, b| a.0 == b.0).map(|of| {
            let mut sum = Amount::ZERO;
            of.iter().for_each(|(_, amount)| sum.add(*amount));
            (of[0].0, sum)
        });
        let (mut inside, outside): (Vec<_>, Vec<_>) =
            sent.partition(|(place, _)| group.rank(*place).is_some());
        if group.is_plain() && whole.pattern == Pattern::Others {
            self.add_others(group, whole, inside.into_iter().chain(outside));
        } else if group.is_plain() && whole.pattern != Pattern::All {
            inside.sort_unstable_by_key(|(place, _)| group.rank(*place));
            self.add_ordered(group, whole, inside);
        } else {
            // A place that occurs twice, or that sends to itself, fits no rule.
            for (place, amount) in inside.into_iter().chain(outside) {
                for member in group.members(whole.pattern, place) {
                    let (source, target) =
                        if whole.outwards { (place, member) } else { (member, place) };
                    self.add(source, target, whole.kind, amount);
                }
            }
        }
    }

    /// (blocks of the fixed ends, blocks of the pattern's members)
    fn sides(&self, whole: Whole) -> (&[u32], &[u32]) {
        if whole.outwards { (&self.sources, &self.targets) } else { (&self.targets, &self.sources) }
    }

    /// Each of `sent` goes to all members but itself: to as many as a block has, less itself.
    fn add_others(
        &mut self,
        group: &Group,
        whole: Whole,
        sent: impl Iterator<Item = (u32, Amount)>,
    ) {
        let (fixed, of_members) = self.sides(whole);
        let mut members: BTreeMap<u32, u64> = BTreeMap::new();
        for place in group.places() {
            *members.entry(of_members[*place as usize]).or_default() += 1;
        }
        let (mut by_block, mut to_itself): (FxHashMap<u32, Amount>, FxHashMap<(u32, u32), Amount>) =
            Default::default();
        for (place, amount) in sent.filter(|(place, _)| fixed[*place as usize] != NONE) {
            let block = fixed[place as usize];
            by_block.entry(block).or_default().add(amount);
            if group.rank(place).is_some() {
                let cell = (block, of_members[place as usize]);
                to_itself.entry(cell).or_default().add(amount);
            }
        }
        for (block, sum) in &by_block {
            for (other, number) in &members {
                let all = sum.times(*number);
                let own = to_itself.get(&(*block, *other)).copied().unwrap_or_default();
                let amount = all.less(own);
                let cell = if whole.outwards { (*block, *other) } else { (*other, *block) };
                self.add_cell(cell, whole.kind, amount);
            }
        }
    }

    /// Each of `sent`, ascending by rank in the group, goes to the members above, or below.
    fn add_ordered(&mut self, group: &Group, whole: Whole, sent: Vec<(u32, Amount)>) {
        let (fixed, of_members) = self.sides(whole);
        let (fixed, of_members) = (fixed.to_vec(), of_members.to_vec());
        let mut members: BTreeMap<u32, u64> = BTreeMap::new();
        let mut next = 0;
        let block_of = |rank: usize| of_members[group.places()[rank] as usize];
        if whole.pattern == Pattern::Above {
            (0..group.places().len()).for_each(|r| *members.entry(block_of(r)).or_default() += 1);
        }
        for (place, amount) in sent {
            // Members up to this one: no longer above, or now below the ones to come.
            let rank = group.rank(place).unwrap_or(0);
            let passed = if whole.pattern == Pattern::Above { rank + 1 } else { rank };
            for passed in next..passed {
                let number = members.entry(block_of(passed)).or_default();
                *number = if whole.pattern == Pattern::Above { *number - 1 } else { *number + 1 };
            }
            next = passed;
            for (other, number) in &members {
                let block = fixed[place as usize];
                let cell = if whole.outwards { (block, *other) } else { (*other, block) };
                self.add_cell(cell, whole.kind, amount.times(*number));
            }
        }
    }
}

/// `3` and ` of job 2` of a rank's name; nothing of a job if it is the first.
fn rank_and_job(name: &str) -> Option<(&str, &str)> {
    let rank = name.strip_prefix("rank ")?;
    Some(rank.split_at(rank.find(' ').unwrap_or(rank.len())))
}
