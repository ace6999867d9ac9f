//! `/api/file/ID`, `/api/line`: traffic beside the source.

use super::Sums;
use super::sums::known;
use crate::Profile;
use crate::api::{
    Amount, Error, FileDetail, FileLine, Filter, Frame, Line, LineTransfer, MAX_TRANSFERS,
};
use crate::model::{End, Row};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Call paths that an answer lists.
const MAX_STACKS: usize = 100;

/// Transfers that are listed as one; patterns stay patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    source: End,
    target: End,
    kind: usize,
    call: u32,
    object: Option<u32>,
    target_object: Option<u32>,
}

impl Profile {
    /// A file's lines with traffic.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn file(&self, id: usize) -> Result<FileDetail, Error> {
        known("file", id, self.model.files.len())?;
        let path = self.model.files[id].clone();
        let (text, why_missing) = match self.sources.text(&path) {
            Ok(text) => (Some(text), None),
            Err(why) => (None, Some(why)),
        };
        let mut lines: Vec<FileLine> =
            self.lines_of(id, None).into_iter().filter_map(|line| self.file_line(line)).collect();
        self.add_times(id, &mut lines);
        lines.sort_by_key(|line| line.line);
        Ok(FileDetail { path, text, why_missing, lines })
    }

    /// Adds the time in calls, and lines that have nothing else.
    fn add_times(&self, file: usize, lines: &mut Vec<FileLine>) {
        let model = &self.model;
        for (number, time) in self.time_by_line() {
            let at = model.lines[number as usize];
            if at.file as usize != file {
                continue;
            }
            let seconds = time as f64 / 1e9;
            if let Some(known) = lines.iter_mut().find(|known| known.line == at.line) {
                known.seconds += seconds;
                continue;
            }
            let of_line = |site: u32| model.line_of_site(site) == Some(number);
            let calls: BTreeSet<&str> = (model.calls.iter().filter(|calls| of_line(calls.site)))
                .map(|calls| model.call_of_site(calls.site))
                .collect();
            let (count, bytes, by_kind, objects) = Default::default();
            let calls = calls.into_iter().map(str::to_owned).collect();
            lines.push(FileLine { line: at.line, count, bytes, seconds, by_kind, objects, calls });
        }
    }

    /// A line's traffic, if it has any.
    pub(crate) fn file_line(&self, number: u32) -> Option<FileLine> {
        let model = &self.model;
        let mut sums = Sums::default();
        let (mut objects, mut calls) = (BTreeSet::new(), BTreeSet::new());
        let rows = self.index.of_line.get(number as usize);
        for row in rows.iter().map(|row| &model.rows[*row as usize]) {
            sums.add(self.kind(row.kind), model.total(row));
            let own = model.line_of_site(row.site) == Some(number);
            let site = if own { row.site } else { row.target_site.unwrap_or(row.site) };
            calls.insert(model.call_of_site(site));
            let written = row.target_object.filter(|_| !own || row.other.is_some());
            objects.extend(model.seen_object(row).filter(|_| own).into_iter().chain(written));
        }
        let Amount { count, bytes } = sums.total();
        (!rows.is_empty()).then(|| FileLine {
            line: model.lines[number as usize].line,
            count,
            bytes,
            seconds: 0.0,
            by_kind: sums.by_kind(),
            objects: objects.into_iter().map(|object| object as usize).collect(),
            calls: calls.into_iter().map(str::to_owned).collect(),
        })
    }

    /// What a line moves between which places.
    ///
    /// # Errors
    /// When there is no such file; a line without traffic has an empty answer.
    pub fn line(&self, file: usize, line: u32) -> Result<Line, Error> {
        let filter = Filter { file: Some(file), line: Some(line), ..Filter::default() };
        let rows = self.rows_of(&filter)?;
        let mut sums: IndexMap<Key, Amount, FxBuildHasher> = IndexMap::default();
        for row in &rows {
            sums.entry(self.key(row)).or_default().add(row.amount());
        }
        let mut largest: Vec<(Key, Amount)> = sums.into_iter().collect();
        largest.sort_by_key(|(_, amount)| (Reverse(amount.bytes), Reverse(amount.count)));
        let pairs = |key: &Key| self.model.pairs_of(key.source, key.target);
        let all: u64 = largest.iter().map(|(key, _)| pairs(key)).sum();
        let expanded = largest.iter().flat_map(|(key, amount)| {
            let pairs = self.model.expand(key.source, key.target);
            pairs.map(move |pair| self.line_transfer(key, pair, *amount))
        });
        let transfers: Vec<_> = expanded.take(MAX_TRANSFERS).collect();
        let more = usize::try_from(all).unwrap_or(usize::MAX).saturating_sub(transfers.len());
        Ok(Line { transfers, more, stacks: self.stacks_to(file, line, &rows) })
    }

    fn key(&self, row: &Row) -> Key {
        Key {
            source: row.source,
            target: row.target,
            kind: self.kind(row.kind),
            call: self.model.sites[row.site as usize].call,
            object: self.model.source_object(row),
            target_object: if row.counted {
                row.target_object
            } else {
                self.model.seen_object(row)
            },
        }
    }

    fn line_transfer(&self, key: &Key, pair: (u32, u32), amount: Amount) -> LineTransfer {
        LineTransfer {
            source: pair.0 as usize,
            target: pair.1 as usize,
            kind: key.kind,
            call: self.model.strings[key.call as usize].clone(),
            object: key.object.map(|object| object as usize),
            target_object: key.target_object.map(|object| object as usize),
            count: amount.count,
            bytes: amount.bytes,
        }
    }

    /// Call paths of `rows` that lead to the line.
    fn stacks_to(&self, file: usize, line: u32, rows: &[&Row]) -> Vec<Vec<Frame>> {
        let model = &self.model;
        let sites = rows.iter().flat_map(|row| Some(row.site).into_iter().chain(row.target_site));
        let stacks: BTreeSet<u32> = sites.map(|site| model.sites[site as usize].stack).collect();
        let leads = |stack: &u32| {
            let at = model.line_of_stack[*stack as usize].map(|at| model.lines[at as usize]);
            at.is_some_and(|at| at.file as usize == file && at.line == line)
        };
        let stacks = stacks.into_iter().filter(leads).take(MAX_STACKS);
        stacks.map(|stack| model.stacks[stack as usize].clone()).collect()
    }
}
