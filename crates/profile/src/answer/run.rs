//! `/api/run`: all that has a name, and totals.

use super::Sums;
use crate::Profile;
use crate::api::{
    self, Amount, Bins, Communication, Error, File, Filter, Finding, FindingSide, Object, RankTime,
    Run, Severity, Total,
};
use crate::index::{lines_of, objects};
use crate::merge::Rank;
use crate::model::{Model, SourceLine};
use crate::objects::memory_name;

const NANOSECONDS: f64 = 1e9;

/// Calls that are listed by their time.
const MAX_CALLS: usize = 500;

impl Profile {
    /// All that has a name in the run.
    pub fn run(&self) -> Run {
        let model = &self.model;
        let totals = self.totals();
        let (first, last) = model.span;
        Run {
            version: api::VERSION,
            name: self.name.clone(),
            command: self.command.clone(),
            began: first as f64 / NANOSECONDS,
            seconds: (last - first) as f64 / NANOSECONDS,
            places: model.places.clone(),
            nodes: model.nodes.clone(),
            kinds: self.kinds.iter().map(|kind| kind.name().to_owned()).collect(),
            totals: (totals.by_kind().into_iter())
                .map(|(kind, count, bytes)| Total { kind, count, bytes })
                .collect(),
            regions: model.regions.clone(),
            calls: self.communication(&Filter::default()),
            waiting: self.waiting(),
            unusual: self.unusual(),
            files: self.files(),
            objects: self.objects(api::MAX_OBJECTS),
            only: model.only.clone(),
            notes: self.notes.clone(),
            findings: self.findings.iter().map(|finding| self.finding(finding)).collect(),
            checked: self.checked,
            timeline: Bins {
                bins: model.bins,
                width_seconds: model.timeline.width as f64 / NANOSECONDS,
            },
            complete: model.complete,
        }
    }

    /// All transfers, by kind.
    pub fn totals(&self) -> Sums {
        let mut totals = Sums::default();
        for row in self.model.rows.iter().filter(|row| row.counted) {
            totals.add(self.kind(row.kind), self.model.total(row));
        }
        totals
    }

    /// Time in calls, within the filter's times.
    pub(crate) fn communication(&self, filter: &Filter) -> Communication {
        let model = &self.model;
        let mut times = vec![0_u64; model.places.len()];
        for calls in &model.calls {
            let time = &mut times[calls.place as usize];
            *time = time.saturating_add(self.spent_in(calls, filter).1);
        }
        let selected = filter.t0.or(filter.t1).map(|_| self.duration(filter));
        let present = || model.ranks.iter().filter(|rank| rank.present);
        let by_rank = present().map(|rank| {
            let time = times[rank.place as usize];
            let all = selected.map_or(rank.time, |selected| selected.min(rank.time));
            RankTime {
                place: rank.place as usize,
                seconds: time as f64 / NANOSECONDS,
                busy: all.saturating_sub(time) as f64 / NANOSECONDS,
            }
        });
        let by_rank: Vec<_> = by_rank.collect();
        let inside: f64 = by_rank.iter().map(|rank| rank.seconds).sum();
        let all = inside + by_rank.iter().map(|rank| rank.busy).sum::<f64>();
        let spent = self.spent(filter);
        let calls = spent.iter().take(MAX_CALLS).map(|of| self.call_time(of)).collect();
        let more = spent.len().saturating_sub(MAX_CALLS);
        let share_of_time = if all > 0.0 { inside / all } else { 0.0 };
        Communication { share_of_time, by_rank, calls, more }
    }

    /// Nanoseconds that the filter's times cover of the run.
    fn duration(&self, filter: &Filter) -> u64 {
        let Model { timeline, span, .. } = &self.model;
        let start = filter.t0.map_or(span.0, |bin| timeline.start(bin).max(span.0));
        let end = filter.t1.map_or(span.1, |bin| timeline.start(bin.saturating_add(1)).min(span.1));
        end.saturating_sub(start)
    }

    fn files(&self) -> Vec<File> {
        let model = &self.model;
        let file = |line: Option<u32>| line.map(|line| model.lines[line as usize].file as usize);
        let mut sums = vec![Sums::default(); model.files.len()];
        for row in &model.rows {
            let [own, other] = lines_of(model, row).map(file);
            let other = other.filter(|other| Some(*other) != own);
            for file in own.into_iter().chain(other) {
                sums[file].add(self.kind(row.kind), model.total(row));
            }
        }
        let mut times = vec![0_u64; model.files.len()];
        for (line, time) in self.time_by_line() {
            let time_of_file = &mut times[model.lines[line as usize].file as usize];
            *time_of_file = time_of_file.saturating_add(time);
        }
        let files = model.files.iter().zip(sums).zip(times).enumerate();
        let files = files.map(|(id, ((path, sums), time))| {
            let seconds = time as f64 / NANOSECONDS;
            let state = self.sources.state(path);
            let Amount { count, bytes } = sums.total();
            let by_kind = sums.by_kind();
            let (found, changed) = (state.found, state.changed);
            File { id, path: path.clone(), count, bytes, seconds, by_kind, found, changed }
        });
        files.collect()
    }

    /// The objects with most traffic.
    pub(crate) fn objects(&self, most: usize) -> Vec<Object> {
        let number = self.model.objects.len().min(most);
        let mut sums = vec![Sums::default(); number];
        for row in &self.model.rows {
            let [first, second] = objects(&self.model, row);
            let second = second.filter(|_| first != second);
            for object in first.into_iter().chain(second).filter(|o| (*o as usize) < number) {
                sums[object as usize].add(self.kind(row.kind), self.model.total(row));
            }
        }
        sums.iter().enumerate().map(|(id, sums)| self.describe(id, sums)).collect()
    }

    /// What there is to say of an object with this traffic.
    pub(crate) fn describe(&self, id: usize, sums: &Sums) -> Object {
        let object = &self.model.objects[id];
        let stack = &self.model.stacks[object.stack as usize];
        Object {
            id,
            name: object.name.clone(),
            memory: memory_name(object.memory).to_owned(),
            place_count: object.places as usize,
            bytes: object.bytes,
            allocations: object.allocations,
            file: object.origin.map(|line| line.file as usize),
            line: object.origin.map(|line| line.line),
            by_kind: sums.by_kind(),
            stack: stack.clone(),
        }
    }

    /// An object's traffic.
    pub(crate) fn sums_of_object(&self, object: usize) -> Result<Sums, Error> {
        super::sums::known("object", object, self.model.objects.len())?;
        let mut sums = Sums::default();
        for row in self.index.of_object.get(object) {
            let row = &self.model.rows[*row as usize];
            sums.add(self.kind(row.kind), self.model.total(row));
        }
        Ok(sums)
    }

    fn finding(&self, finding: &commsan_findings::Finding) -> Finding {
        let ranks = &self.model.ranks;
        // Findings do not say which of several jobs their ranks are of.
        let is_only = ranks.iter().all(|of| of.rank.job == 0);
        let place = |rank: &u32| {
            let rank = Rank { job: 0, rank: *rank };
            let at = ranks.binary_search_by_key(&rank, |of| of.rank).ok().filter(|_| is_only)?;
            Some(ranks[at].place as usize)
        };
        let ranks = finding.ranks.iter().copied().chain(finding.sites.iter().map(|site| site.rank));
        let mut ranks: Vec<u32> = ranks.collect();
        ranks.sort_unstable();
        ranks.dedup();
        let lines: Vec<SourceLine> =
            finding.sites.iter().filter_map(|site| self.line_at(site)).collect();
        Finding {
            code: finding.code.to_string(),
            severity: match finding.severity() {
                commsan_findings::Severity::Warning => Severity::Warning,
                commsan_findings::Severity::Error => Severity::Error,
            },
            title: finding.title.clone(),
            message: finding.message.clone(),
            places: ranks.iter().filter_map(place).collect(),
            file: finding.sites.first().and_then(|site| self.file_id(site.file.as_deref()?)),
            line: finding.sites.first().and_then(|site| site.line),
            object: self.only_object(&lines),
            sides: finding.sites.iter().map(|site| self.side(site)).collect(),
            why: finding.why.clone(),
            help: finding.help.clone(),
            moments: self.moments(finding, |rank| place(&rank)),
        }
    }

    fn side(&self, site: &commsan_findings::Site) -> FindingSide {
        FindingSide {
            label: site.label.clone(),
            path: site.file.clone(),
            file: site.file.as_deref().and_then(|path| self.file_id(path)),
            line: site.line,
        }
    }

    fn file_id(&self, path: &str) -> Option<usize> {
        self.model.files.binary_search_by(|file| file.as_str().cmp(path)).ok()
    }

    pub(super) fn line_at(&self, site: &commsan_findings::Site) -> Option<SourceLine> {
        let file = self.file_id(site.file.as_deref()?)? as u32;
        Some(SourceLine { file, line: site.line? })
    }

    /// The object that is moved by these lines, if it is only one.
    fn only_object(&self, lines: &[SourceLine]) -> Option<usize> {
        let numbers = lines.iter().flat_map(|l| self.lines_of(l.file as usize, Some(l.line)));
        let rows = numbers.flat_map(|line| self.index.of_line.get(line as usize).to_vec());
        let mut objects: Vec<u32> = (rows)
            .filter_map(|row| self.model.seen_object(&self.model.rows[row as usize]))
            .collect();
        objects.sort_unstable();
        objects.dedup();
        match *objects {
            [object] => Some(object as usize),
            _ => None,
        }
    }
}
