//! `/api/critical`: the critical path, and what it consists of.

use crate::Profile;
use crate::api::{CallOnPath, CriticalPath, PathPart, PlaceOnPath};
use crate::critical::{Share, Stretch};
use crate::events::What;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

const NANOSECONDS: f64 = 1e9;

/// Calls and lines that are listed.
const MAX_CALLS: usize = 500;

/// Parts that are listed.
const MAX_PARTS: usize = 1000;

impl Profile {
    /// The critical path.
    pub fn critical(&self) -> CriticalPath {
        let path = self.critical_path();
        let stretches = &path.stretches;
        let (Some(first), Some(last)) = (stretches.first(), stretches.last()) else {
            return CriticalPath::default();
        };
        let seconds = |time: u64| time as f64 / NANOSECONDS;
        let mut by_place: Vec<(u32, (u64, u64))> =
            path.by_place.iter().map(|(place, times)| (*place, *times)).collect();
        by_place.sort_by_key(|(place, (calls, own))| (Reverse(calls + own), *place));
        let place = |(place, (calls, own)): (u32, (u64, u64))| PlaceOnPath {
            place: place as usize,
            calls: seconds(calls),
            own: seconds(own),
        };
        let by_call = self.calls_on_path();
        let more_calls = by_call.len().saturating_sub(MAX_CALLS);
        let mut parts: Vec<&Stretch> = stretches.iter().collect();
        parts.sort_by_key(|of| Reverse(of.to - of.from));
        parts.truncate(MAX_PARTS);
        parts.sort_by_key(|of| of.from);
        let part = |of: &Stretch| {
            let (begin, end) = (self.since(of.from), self.since(of.to));
            PathPart { lane: of.lane, begin, end }
        };
        let mut notes = self.model.log.notes();
        if self.waits.is_cut {
            let number = self.waits.all.len();
            notes.push(format!("the path follows the {number} longest waits, no others"));
        }
        CriticalPath {
            begin: self.since(first.from),
            end: self.since(last.to),
            changes: stretches.windows(2).filter(|pair| pair[0].lane != pair[1].lane).count(),
            by_place: by_place.into_iter().map(place).collect(),
            by_call: by_call.into_iter().take(MAX_CALLS).collect(),
            more_calls,
            more_parts: stretches.len() - parts.len(),
            parts: parts.into_iter().map(part).collect(),
            notes,
        }
    }

    /// Sites of one call and line together, those first that have most of the path.
    fn calls_on_path(&self) -> Vec<CallOnPath> {
        let model = &self.model;
        let mut sums: FxHashMap<(Option<&str>, Option<u32>), Share> = FxHashMap::default();
        for ((_, what), share) in &self.critical_path().by_what {
            let key = match what {
                Some(What::Call(site)) => {
                    (Some(model.call_of_site(*site)), model.line_of_site(*site))
                }
                Some(_) => (Some("commsan"), None),
                None => (None, None),
            };
            let sum = sums.entry(key).or_default();
            (sum.inside, sum.before) = (sum.inside + share.inside, sum.before + share.before);
        }
        let mut all: Vec<_> =
            sums.into_iter().filter(|(_, of)| of.inside + of.before > 0).collect();
        all.sort_by_key(|(key, of)| (Reverse(of.inside + of.before), *key));
        let call = |((call, line), of): ((Option<&str>, Option<u32>), Share)| {
            let line = line.map(|line| model.lines[line as usize]);
            CallOnPath {
                call: call.map(str::to_owned),
                file: line.map(|line| line.file as usize),
                line: line.map(|line| line.line),
                inside: of.inside as f64 / NANOSECONDS,
                before: of.before as f64 / NANOSECONDS,
            }
        };
        all.into_iter().map(call).collect()
    }
}
