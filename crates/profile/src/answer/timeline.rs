//! `/api/timeline`: what happened when.

use super::sums::known;
use crate::Profile;
use crate::api::{By, CallSeries, Error, Filter, MAX_SERIES, Series, Timeline, TimelineQuery};
use crate::model::{CallRow, End, Row};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

impl Profile {
    /// What happened when.
    ///
    /// # Errors
    /// When the question names what is not there.
    pub fn timeline(&self, query: &TimelineQuery) -> Result<Timeline, Error> {
        if let Some(place) = query.place {
            known("place", place, self.model.places.len())?;
        }
        let place = query.place.map(|place| place as u32);
        let labels = self.labels(query.by);
        let bins = self.model.bins as usize;
        let mut series: Vec<Option<Series>> = vec![None; labels.len()];
        for row in self.rows_of(&query.filter)? {
            let number =
                place.map_or_else(|| self.model.pairs(row), |place| self.share(row, place));
            if number == 0 {
                continue;
            }
            let sources: Vec<(usize, u64)> = match (query.by, row.source) {
                (By::Kind, _) => vec![(self.kind(row.kind), number)],
                (_, End::At(source)) => vec![(source as usize, number)],
                // Data of a pattern comes from many: each gets its part.
                _ => {
                    let pairs = self.model.expand(row.source, row.target);
                    let takes_part =
                        |(s, t): &(u32, u32)| place.is_none_or(|place| place == *s || place == *t);
                    pairs.filter(takes_part).map(|(source, _)| (source as usize, 1)).collect()
                }
            };
            for (source, number) in sources {
                let of = match query.by {
                    By::Kind | By::Place => source,
                    By::Node => self.model.places[source].node,
                };
                let label = || Series {
                    label: labels[of].clone(),
                    counts: vec![0; bins],
                    bytes: vec![0; bins],
                };
                self.add_bins(series[of].get_or_insert_with(label), row, number);
            }
        }
        let mut series: Vec<Series> = series.into_iter().flatten().collect();
        if query.by != By::Kind {
            series.sort_by_key(|series| Reverse(series.bytes.iter().sum::<u64>()));
        }
        let width_seconds = self.model.timeline.width as f64 / 1e9;
        let calls = self.call_series(query.by, place, &query.filter);
        let (series, waiting) = (first_few(series), self.in_calls(place));
        Ok(Timeline { width_seconds, series, waiting, calls })
    }

    /// Time in calls by call, place or node.
    fn call_series(&self, by: By, place: Option<u32>, filter: &Filter) -> Vec<CallSeries> {
        let model = &self.model;
        // It is not known of objects.
        if filter.object.is_some() || filter.region.is_some() {
            return vec![];
        }
        let labels = self.labels(by);
        let mut all: FxHashMap<&str, Vec<f64>> = FxHashMap::default();
        let of_place = |calls: &&CallRow| place.is_none_or(|place| place == calls.place);
        for calls in self.calls_of(filter).filter(of_place) {
            let label = match by {
                By::Kind => model.call_of_site(calls.site),
                By::Place => &labels[calls.place as usize],
                By::Node => &labels[model.places[calls.place as usize].node],
            };
            let seconds = all.entry(label).or_insert_with(|| vec![0.0; model.bins as usize]);
            for bin in model.bins_of(calls.clock, calls.bins) {
                seconds[bin.bin as usize] += bin.amount as f64 / 1e9;
            }
        }
        let sum = |series: &CallSeries| series.seconds.iter().sum::<f64>();
        let mut all: Vec<CallSeries> = (all.into_iter())
            .map(|(label, seconds)| CallSeries { label: label.to_owned(), seconds })
            .collect();
        all.sort_by(|a, b| sum(b).total_cmp(&sum(a)).then_with(|| a.label.cmp(&b.label)));
        if all.len() > MAX_SERIES {
            let rest = all.split_off(MAX_SERIES - 1);
            let mut seconds = vec![0.0; model.bins as usize];
            for of in &rest {
                seconds.iter_mut().zip(&of.seconds).for_each(|(sum, more)| *sum += more);
            }
            all.push(CallSeries { label: "others".to_owned(), seconds });
        }
        all
    }

    fn labels(&self, by: By) -> Vec<String> {
        match by {
            By::Kind => self.kinds.iter().map(|kind| kind.name().to_owned()).collect(),
            By::Place => self.model.places.iter().map(|place| place.name.clone()).collect(),
            By::Node => self.model.nodes.iter().map(|node| node.name.clone()).collect(),
        }
    }

    fn add_bins(&self, series: &mut Series, row: &Row, times: u64) {
        let bins = || self.model.bins_of(row.clock, row.bins);
        let mut all = (Part::new(row.count), Part::new(row.bytes));
        for bin in bins() {
            (all.0.of, all.1.of) =
                (all.0.of + u128::from(bin.count), all.1.of + u128::from(bin.amount));
        }
        for bin in bins() {
            let at = bin.bin as usize;
            let add = |to: &mut u64, more: u64| *to = to.saturating_add(more.saturating_mul(times));
            add(&mut series.counts[at], all.0.next(bin.count));
            add(&mut series.bytes[at], all.1.next(bin.amount));
        }
    }

    /// How many pairs of a row a place takes part in.
    fn share(&self, row: &Row, place: u32) -> u64 {
        match (row.source, row.target) {
            (End::At(source), End::At(target)) => u64::from(source == place || target == place),
            (End::At(fixed), End::Of(..)) | (End::Of(..), End::At(fixed)) if fixed == place => {
                self.model.pairs(row)
            }
            (End::At(fixed), End::Of(pattern, group))
            | (End::Of(pattern, group), End::At(fixed)) => {
                self.model.groups[group as usize].times(pattern, fixed, place)
            }
            (End::Of(..), End::Of(..)) => 0,
        }
    }

    /// Seconds in calls, of all ranks or of one.
    fn in_calls(&self, place: Option<u32>) -> Vec<f64> {
        let mut waiting = vec![0.0; self.model.bins as usize];
        let calls = self.model.calls.iter();
        for calls in calls.filter(|calls| place.is_none_or(|place| place == calls.place)) {
            for bin in self.model.bins_of(calls.clock, calls.bins) {
                waiting[bin.bin as usize] += bin.amount as f64 / 1e9;
            }
        }
        waiting
    }
}

/// Parts of what has moved: a receiver's bins hold the size of its buffer.
struct Part {
    /// How much has moved.
    moved: u128,
    /// The sum of the bins.
    of: u128,
    until: u128,
}

impl Part {
    fn new(moved: u64) -> Part {
        Part { moved: moved.into(), of: 0, until: 0 }
    }

    /// The next bin's part; all parts add up to what has moved.
    fn next(&mut self, part: u64) -> u64 {
        let upto = |until: u128| until.saturating_mul(self.moved).checked_div(self.of).unwrap_or(0);
        let before = upto(self.until);
        let after = upto(self.until + u128::from(part));
        self.until += u128::from(part);
        u64::try_from(after - before).unwrap_or(u64::MAX)
    }
}

/// As many series as a figure can distinguish; the rest as one.
fn first_few(mut series: Vec<Series>) -> Vec<Series> {
    if series.len() <= MAX_SERIES {
        return series;
    }
    let rest = series.split_off(MAX_SERIES - 1);
    let sum = |of: fn(&Series) -> &Vec<u64>| {
        let mut sum = vec![0_u64; of(&rest[0]).len()];
        for one in &rest {
            sum.iter_mut().zip(of(one)).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        sum
    };
    let (counts, bytes) = (sum(|series| &series.counts), sum(|series| &series.bytes));
    series.push(Series { label: "others".to_owned(), counts, bytes });
    series
}
