//! `/api/compare`: this run beside an earlier one. What has the same name is the same.

use crate::Profile;
use crate::api::{
    Amount, Change, Comparison, Error, Filter, Level, MatrixQuery, OtherRun, PairChange, TimeChange,
};
use crate::index::{lines_of, objects, traffic};
use crate::model::{Model, Row};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// Lines and objects that are listed: the largest changes.
const MAX_ROWS: usize = 500;

/// Pairs of places that are listed: all of [`MAX_PLACES`], in a run with one kind.
const MAX_PAIRS: usize = MAX_PLACES * MAX_PLACES;

/// Runs with more places are compared node by node.
const MAX_PLACES: usize = 128;

/// Calls of a line, and seconds in them, by call and line.
type Times = FxHashMap<(String, String), (u64, f64)>;

type Amounts<K> = FxHashMap<K, Amount>;

impl Profile {
    /// Time in calls by call and line.
    fn named_calls(&self) -> Times {
        let mut times = Times::default();
        for spent in self.spent(&Filter::default()) {
            let line = spent.line.map(|line| self.model.lines[line as usize]);
            let line = line.map_or(String::new(), |line| {
                format!("{}:{}", self.model.files[line.file as usize], line.line)
            });
            let call = self.model.strings[spent.call as usize].clone();
            let sum = times.entry((call, line)).or_default();
            *sum = (sum.0 + spent.count, sum.1 + spent.time as f64 / 1e9);
        }
        times
    }

    fn changed_calls(&self, other: &Profile) -> Vec<TimeChange> {
        let (before, mut after) = (other.named_calls(), self.named_calls());
        let change = |((call, line), before, after)| TimeChange { call, line, before, after };
        let both = before.into_iter().map(|(key, before)| {
            let after = after.remove(&key).unwrap_or_default();
            change((key, before, after))
        });
        let mut all: Vec<TimeChange> = both.collect();
        all.extend(after.into_iter().map(|(key, after)| change((key, (0, 0.0), after))));
        all.retain(|of| of.before != of.after);
        let difference = |of: &TimeChange| (of.after.1 - of.before.1).abs();
        all.sort_by(|a, b| {
            let names = || (&a.call, &a.line).cmp(&(&b.call, &b.line));
            difference(b).total_cmp(&difference(a)).then_with(names)
        });
        all
    }

    /// What is different from `other`, an earlier run: largest changes first.
    ///
    /// # Errors
    /// Never for runs that were read.
    pub fn compare(&self, other: &Profile) -> Result<Comparison, Error> {
        let places = self.model.places.len().max(other.model.places.len());
        let level = if places > MAX_PLACES { Level::Node } else { Level::Place };
        let named = |(name, before, after)| Change { name, before, after };
        let pairs = changes(other.named_pairs(level)?, self.named_pairs(level)?);
        let lines = changes(other.named_lines(), self.named_lines());
        let objects = changes(other.named_objects(), self.named_objects());
        let calls = self.changed_calls(other);
        let more = [
            pairs.len().saturating_sub(MAX_PAIRS),
            lines.len().saturating_sub(MAX_ROWS),
            objects.len().saturating_sub(MAX_ROWS),
            calls.len().saturating_sub(MAX_ROWS),
        ];
        let pair = |((source, target, kind), before, after)| PairChange {
            source,
            target,
            kind,
            before,
            after,
        };
        let kinds = changes(other.named_kinds(), self.named_kinds()).into_iter().map(named);
        let (first, last) = other.model.span;
        Ok(Comparison {
            other: OtherRun {
                name: other.name.clone(),
                command: other.command.clone(),
                seconds: (last - first) as f64 / 1e9,
                ranks: other.model.ranks.len(),
            },
            kinds: kinds.collect(),
            pairs: pairs.into_iter().take(MAX_PAIRS).map(pair).collect(),
            lines: lines.into_iter().take(MAX_ROWS).map(named).collect(),
            objects: objects.into_iter().take(MAX_ROWS).map(named).collect(),
            calls: calls.into_iter().take(MAX_ROWS).collect(),
            more,
        })
    }

    fn named_kinds(&self) -> Amounts<String> {
        let kinds = self.totals().by_kind().into_iter();
        kinds
            .map(|(kind, count, bytes)| {
                (self.kinds[kind].name().to_owned(), Amount { count, bytes })
            })
            .collect()
    }

    fn named_pairs(&self, level: Level) -> Result<Amounts<(String, String, String)>, Error> {
        let max = Some(MAX_PLACES);
        let matrix = self.matrix(&MatrixQuery { level, max, ..MatrixQuery::default() })?;
        let mut pairs = Amounts::default();
        for (row, col, kinds) in &matrix.cells {
            for (kind, count, bytes) in kinds {
                let (source, target) = (&matrix.rows[*row].label, &matrix.cols[*col].label);
                let key = (source.clone(), target.clone(), self.kinds[*kind].name().to_owned());
                pairs.insert(key, Amount { count: *count, bytes: *bytes });
            }
        }
        Ok(pairs)
    }

    fn named_lines(&self) -> Amounts<String> {
        let model = &self.model;
        self.named(model.lines.len(), lines_of, |number| {
            let line = model.lines[number];
            format!("{}:{}", model.files[line.file as usize], line.line)
        })
    }

    fn named_objects(&self) -> Amounts<String> {
        let objects_of = &self.model.objects;
        self.named(objects_of.len(), objects, |number| objects_of[number].name.clone())
    }

    /// What things amount to, by name.
    fn named(
        &self,
        length: usize,
        of: impl Fn(&Model, &Row) -> [Option<u32>; 2],
        name: impl Fn(usize) -> String,
    ) -> Amounts<String> {
        let mut amounts = Amounts::default();
        for (number, amount) in traffic(&self.model, length, of).into_iter().enumerate() {
            if amount != Amount::ZERO {
                amounts.entry(name(number)).or_default().add(amount);
            }
        }
        amounts
    }
}

/// What differs, largest difference first.
fn changes<K: Hash + Ord + Clone>(
    before: Amounts<K>,
    mut after: Amounts<K>,
) -> Vec<(K, Amount, Amount)> {
    let mut changes: Vec<(K, Amount, Amount)> = (before.into_iter())
        .map(|(key, before)| {
            let after = after.remove(&key).unwrap_or_default();
            (key, before, after)
        })
        .collect();
    changes.extend(after.into_iter().map(|(key, after)| (key, Amount::ZERO, after)));
    changes.retain(|(_, before, after)| before != after);
    changes.sort_by_cached_key(|(key, before, after)| {
        let (bytes, count) =
            (before.bytes.abs_diff(after.bytes), before.count.abs_diff(after.count));
        (Reverse(bytes), Reverse(count), key.clone())
    });
    changes
}
