//! Time in calls: of which call, at which line. It counts when the call returns.

use crate::Profile;
use crate::api::{CallTime, Filter, PlaceTime};
use crate::model::CallRow;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Ranks of a communicator that are told one by one.
const MAX_NAMED: usize = 1024;

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

    /// Calls at the filter's line, or in its file.
    pub(crate) fn calls_of(&self, filter: &Filter) -> impl Iterator<Item = &CallRow> {
        let model = &self.model;
        model.calls.iter().filter(move |calls| {
            let Some(file) = filter.file else { return true };
            let line = model.line_of_site(calls.site).map(|line| model.lines[line as usize]);
            line.is_some_and(|at| {
                at.file as usize == file && filter.line.is_none_or(|line| line == at.line)
            })
        })
    }

    /// Nanoseconds in calls by line.
    pub(crate) fn time_by_line(&self) -> FxHashMap<u32, u64> {
        let mut times: FxHashMap<u32, u64> = FxHashMap::default();
        for calls in &self.model.calls {
            if let Some(line) = self.model.line_of_site(calls.site) {
                let time = times.entry(line).or_default();
                *time = time.saturating_add(calls.time);
            }
        }
        times
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

    /// The ranks of a communicator's group, in words.
    pub(crate) fn communicator(&self, group: u32) -> String {
        let model = &self.model;
        let places = model.groups[group as usize].places();
        let rank = |place: &u32| model.ranks.iter().find(|of| of.place == *place).map(|of| of.rank);
        // A large one is the world, or next to it.
        let ranks = places.iter().take(MAX_NAMED).map(rank).collect::<Option<Vec<_>>>();
        match ranks.filter(|_| places.len() <= MAX_NAMED) {
            Some(ranks) if ranks.iter().all(|rank| rank.job == 0) => {
                let mut ranks: Vec<u32> = ranks.iter().map(|rank| rank.rank).collect();
                ranks.sort_unstable();
                commsan_report::ranks::named(&ranks)
            }
            _ => format!("{} ranks", places.len()),
        }
    }

    /// Time in the calls of a rank, by what they name.
    pub(crate) fn times_of_place(&self, place: u32) -> Vec<PlaceTime> {
        let own = self.model.calls.iter().filter(|calls| calls.place == place && calls.count > 0);
        let mut own: Vec<&CallRow> = own.collect();
        own.sort_by_key(|calls| Reverse((calls.time, calls.count)));
        let time = |calls: &&CallRow| {
            let line = self.model.line_of_site(calls.site);
            let line = line.map(|line| self.model.lines[line as usize]);
            PlaceTime {
                call: self.model.call_of_site(calls.site).to_owned(),
                file: line.map(|line| line.file as usize),
                line: line.map(|line| line.line),
                peer: calls.peer.map(|peer| peer as usize),
                communicator: calls.group.map(|group| self.communicator(group)),
                count: calls.count,
                seconds: calls.time as f64 / 1e9,
                longest_seconds: calls.longest as f64 / 1e9,
            }
        };
        own.iter().map(time).collect()
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
