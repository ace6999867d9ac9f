//! Time in calls: of which call, at which line. It counts when the call returns.

use crate::Profile;
use crate::api::{CallTime, Filter};
use crate::model::CallRow;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Calls of a line, of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// A string.
    pub call: u32,
    /// The line, if it is known.
    pub line: Option<u32>,
    /// How many.
    pub count: u64,
    /// Nanoseconds.
    pub time: u64,
}

impl Profile {
    /// Calls by line, those with most time first, within the filter's times.
    pub(crate) fn spent(&self, filter: &Filter) -> Vec<Spent> {
        let model = &self.model;
        let mut sums: FxHashMap<(u32, Option<u32>), (u64, u64)> = FxHashMap::default();
        for calls in &model.calls {
            let (count, time) = self.spent_in(calls, filter);
            let key = (model.sites[calls.site as usize].call, model.line_of_site(calls.site));
            let sum = sums.entry(key).or_default();
            *sum = (sum.0.saturating_add(count), sum.1.saturating_add(time));
        }
        let all = sums.into_iter();
        let mut all: Vec<Spent> =
            all.map(|((call, line), (count, time))| Spent { call, line, count, time }).collect();
        all.retain(|of| of.count > 0);
        all.sort_by_key(|of| (Reverse(of.time), Reverse(of.count), of.line, of.call));
        all
    }

    /// Calls within the filter's times, and the nanoseconds that they took.
    pub(crate) fn spent_in(&self, calls: &CallRow, filter: &Filter) -> (u64, u64) {
        if filter.t0.is_none() && filter.t1.is_none() {
            return (calls.count, calls.time);
        }
        let times = filter.t0.unwrap_or(0)..=filter.t1.unwrap_or(u32::MAX);
        let bins = self.model.bins_of(calls.clock, calls.bins);
        let within = bins.filter(|bin| times.contains(&bin.bin));
        within.fold((0, 0), |(count, time), bin| {
            (count.saturating_add(bin.count), time.saturating_add(bin.amount))
        })
    }

    /// What the viewer shows of it.
    pub(crate) fn call_time(&self, of: &Spent) -> CallTime {
        let line = of.line.map(|line| self.model.lines[line as usize]);
        CallTime {
            call: self.model.strings[of.call as usize].clone(),
            file: line.map(|line| line.file as usize),
            line: line.map(|line| line.line),
            count: of.count,
            seconds: of.time as f64 / 1e9,
        }
    }
}
