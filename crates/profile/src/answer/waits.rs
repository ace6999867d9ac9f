//! Waiting: for whom, at which line, and what it costs.

use crate::Profile;
use crate::api::{LateCall, Waiting};
use crate::waits::{At, Sum, WaitKind};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

const NANOSECONDS: f64 = 1e9;

/// Late calls that are listed.
const MAX_LATE: usize = 500;

/// A line of a rank at which it is late, and who waits for that.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    /// What others wait for.
    pub kind: WaitKind,
    /// Who is late: place.
    pub place: u32,
    /// Where.
    pub site: u32,
    /// Where others wait, mostly.
    pub waiting: u32,
    /// How many ranks wait.
    pub ranks: usize,
    /// The one of them that waits longest: place.
    pub waiter: u32,
    /// How often, and how long.
    pub sum: Sum,
}

impl Profile {
    /// Calls that others wait for, by rank and line; those first that cost most.
    pub(crate) fn late(&self) -> Vec<Late> {
        let model = &self.model;
        #[derive(Default)]
        struct Found {
            sum: Sum,
            by_rank: FxHashMap<usize, u64>,
            by_site: FxHashMap<u32, u64>,
            site: u32,
        }
        // Call paths that end at one line count as one.
        let mut all: FxHashMap<(WaitKind, usize, u32, Option<u32>), Found> = FxHashMap::default();
        for (key, sum) in &self.waits.sums {
            let At { rank, site } = key.by;
            let (call, line) = (model.sites[site as usize].call, model.line_of_site(site));
            let found = all.entry((key.kind, rank, call, line)).or_default();
            found.site = site;
            found.sum.join(*sum);
            *found.by_rank.entry(key.at.rank).or_default() += sum.time;
            *found.by_site.entry(key.at.site).or_default() += sum.time;
        }
        let late = all.into_iter().map(|((kind, rank, ..), found)| {
            let most = found.by_site.iter().max_by_key(|(site, time)| (**time, Reverse(**site)));
            let place = |rank: usize| model.log.ranks[rank].place;
            let waiter = found.by_rank.iter().map(|(rank, time)| (*time, Reverse(place(*rank))));
            Late {
                kind,
                place: place(rank),
                site: found.site,
                waiting: most.map_or(found.site, |(site, _)| *site),
                ranks: found.by_rank.len(),
                waiter: waiter.max().map_or(place(rank), |(_, Reverse(place))| place),
                sum: found.sum,
            }
        });
        let mut late: Vec<Late> = late.collect();
        late.sort_by_key(|of| (Reverse(of.sum.time), of.place, of.kind, of.site));
        late
    }

    /// Nanoseconds that each place has waited.
    pub(crate) fn waited(&self) -> Vec<u64> {
        let mut waited = vec![0_u64; self.model.places.len()];
        for (key, sum) in &self.waits.sums {
            waited[self.model.log.ranks[key.at.rank].place as usize] += sum.time;
        }
        waited
    }

    /// What the viewer shows of waiting; nothing if no events were recorded.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        let model = &self.model;
        if model.log.ranks.is_empty() {
            return None;
        }
        let late = self.late();
        let waited = self.waited();
        let seconds = |time: u64| time as f64 / NANOSECONDS;
        let shown = late.iter().take(MAX_LATE).map(|of| {
            let line = |site| {
                let line = model.line_of_site(site).map(|line| model.lines[line as usize]);
                (line.map(|line| line.file as usize), line.map(|line| line.line))
            };
            let ((file, at), (waiting_file, waiting_line)) = (line(of.site), line(of.waiting));
            LateCall {
                kind: of.kind.name().to_owned(),
                place: of.place as usize,
                call: model.call_of_site(of.site).to_owned(),
                file,
                line: at,
                waiting_call: model.call_of_site(of.waiting).to_owned(),
                waiting_file,
                waiting_line,
                ranks: of.ranks,
                count: of.sum.count,
                seconds: seconds(of.sum.time),
                longest_seconds: seconds(of.sum.longest),
                longest_start: seconds(of.sum.when.saturating_sub(model.span.0)),
            }
        });
        Some(Waiting {
            seconds: seconds(waited.iter().sum()),
            states: self.states(),
            by_rank: model
                .log
                .ranks
                .iter()
                .map(|log| (log.place as usize, seconds(waited[log.place as usize])))
                .collect(),
            late: shown.collect(),
            more: late.len().saturating_sub(MAX_LATE),
            compared: self.waits.compared,
        })
    }
}
