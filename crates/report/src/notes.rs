//! What the user should know besides findings: what was not seen, what was not read, what to do.

use crate::Suppressed;
use crate::facts::file_name;
use crate::names::runs_scripts;
use crate::stats;
use crate::symbols::Symbols;
use commsan_findings::stats::Unit;
use commsan_findings::{Code, Finding};
use commsan_rundir::RankLog;
use commsan_rundir::record::{Ending, Guarded};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One thing to know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Note {
    /// How much it matters.
    pub level: Level,
    /// What it is and what to do.
    pub text: String,
    /// The ranks it concerns, ascending; empty if it concerns the run, or several of its jobs.
    pub ranks: Vec<u32>,
    /// The jobs it concerns, counted from 1, if the run had several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<u32>,
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Findings may be missing that a user would expect: something was not checked or not read.
    Warning,
    /// Good to know.
    Note,
}

impl Level {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// The job, where there are several, and the rank that a note is about, if it is about one.
type Whose = (Option<u32>, Option<u32>);

/// Notes being collected; equal ones of several ranks and jobs become one.
#[derive(Default)]
pub(crate) struct Notes {
    /// Texts, with the job and the rank of each.
    texts: BTreeMap<(Level, String), BTreeSet<Whose>>,
    /// The job that notes are about.
    job: Option<u32>,
    /// That ranks have not come to an end needs no explanation.
    pub(crate) are_ending: bool,
}

impl Notes {
    pub(crate) fn add(&mut self, text: String, rank: Option<u32>) {
        self.texts.entry((Level::Note, text)).or_default().insert((self.job, rank));
    }

    pub(crate) fn warn(&mut self, text: String, rank: Option<u32>) {
        self.texts.entry((Level::Warning, text)).or_default().insert((self.job, rank));
    }

    /// Further notes are about this job, or about a run that has only one.
    pub(crate) fn of_job(&mut self, job: Option<u32>) {
        self.job = job;
    }

    /// What the logs say about the ranks, and what they should say and do not.
    /// Where commsan has ended the job, as `stopped` says, it has said so.
    pub(crate) fn add_logs(&mut self, logs: &[RankLog], stopped: bool) {
        if logs.is_empty() {
            self.warn(
                "no rank was checked: the command started no MPI program that commsan could \
                 enter; `commsan doctor` tells what works on this machine"
                    .to_owned(),
                None,
            );
        }
        let stopped = stopped || self.are_ending;
        let halted =
            stopped || logs.iter().any(|log| log.end.is_some_and(|end| end.how == Ending::Halted));
        let cause = cause_of_end(logs);
        self.add_guarded(logs);
        for log in logs {
            let rank = Some(log.rank);
            for text in &log.notes {
                self.add(text.clone(), rank);
            }
            for problem in &log.problems {
                self.warn(problem.to_string(), rank);
            }
            if let Some(why) = &log.unchecked {
                self.warn(format!("not checked: {why}"), rank);
            } else if let Some(start) = log.start.as_ref().filter(|start| !start.instrumented) {
                let program = file_name(&start.program);
                let is_guarded = log.guarded.is_some_and(|guarded| guarded != Guarded::default());
                let what = if is_guarded { "calls and what guards show" } else { "calls" };
                let text = match runs_scripts(program) {
                    true => format!(
                        "`{program}` runs scripts, of which {what} were checked; a library that they load is checked to \
                         every load and store if it is compiled by `commsan cc`"
                    ),
                    false => format!(
                        "`{program}` was not compiled by `commsan cc`, so only {what} were checked; compile \
                         it by `commsan cc` to check every load and store"
                    ),
                };
                self.add(text, rank);
            }
            if log.unchecked.is_none() {
                let is_ended = is_ended_by_abort(log, logs);
                self.add_ending(log, halted, is_ended, cause.as_deref());
            }
        }
        let logged: BTreeSet<u32> = logs.iter().map(|log| log.rank).collect();
        let size = logs.iter().filter_map(|log| log.start.as_ref()).map(|start| start.size).max();
        for rank in (0..size.unwrap_or(0)).filter(|rank| !logged.contains(rank)) {
            self.warn(
                "left no log and was not checked: had it come through MPI_Init when the job ended, and does \
                 its node see the run directory?"
                    .to_owned(),
                Some(rank),
            );
        }
    }

    /// What guards have watched, and what they have not.
    fn add_guarded(&mut self, logs: &[RankLog]) {
        let all = logs.iter().filter_map(|log| log.guarded);
        let sum =
            |part: fn(&Guarded) -> u64| all.clone().map(|guarded| part(&guarded)).sum::<u64>();
        let (closed, summed) = (sum(|g| g.closed), sum(|g| g.summed));
        let reasons = [
            (sum(|g| g.shared), "in pages that hold other data, too"),
            (sum(|g| g.elsewhere), "on stacks or in mappings of the program's own"),
            (sum(|g| g.unclosable), "in pages that could not be closed"),
            (sum(|g| g.over_budget), "over the budget (--guard-budget)"),
        ];
        let bytes = |count| stats::number(count, Unit::Bytes);
        let (exposed, not_exposed) = (sum(|g| g.exposed), sum(|g| g.not_exposed));
        if exposed + not_exposed > 0 {
            let text = format!(
                "of {} of window memory in the epochs of fences and posts, guards watched {}",
                bytes(exposed + not_exposed),
                bytes(exposed)
            );
            self.add(text, None);
        }
        let total = closed + summed + reasons.iter().map(|(bytes, _)| bytes).sum::<u64>();
        if total == 0 {
            return;
        }
        let mut text = format!(
            "of {} in buffers of pending operations, guards watched {} by pages, which show each access, and {} \
             by checksums, which show that what is sent has changed",
            bytes(total),
            bytes(closed),
            bytes(summed)
        );
        let missed: Vec<_> = reasons
            .iter()
            .filter(|(missed, _)| *missed > 0)
            .map(|(missed, why)| format!("{} {why}", bytes(*missed)))
            .collect();
        if !missed.is_empty() {
            text += &format!("; not watched: {}", missed.join(", "));
        }
        self.add(text, None);
    }

    /// `halted`: some rank has ended the job; `is_ended`: another one has ended this one by
    /// MPI_Abort; `cause`: what else has ended the job, as far as logs say.
    fn add_ending(&mut self, log: &RankLog, halted: bool, is_ended: bool, cause: Option<&str>) {
        let says = |code| log.findings.iter().any(|seen| seen.finding.code == code);
        let text = match log.end.map(|end| end.how).filter(|_| !is_ended) {
            // A finding has said it, or that the library has ended the process.
            Some(Ending::Exited) if says(Code::NeverFinalized) => None,
            None if says(Code::OutsideMpi) => None,
            Some(Ending::Finalized | Ending::Crashed) => None,
            Some(Ending::Aborted) => Some("called MPI_Abort".to_owned()),
            Some(Ending::Exited) => Some("exited without MPI_Finalize".to_owned()),
            Some(Ending::Halted) => {
                Some("ended the job at its first finding, as --halt-on-error asks".to_owned())
            }
            // The finding says it.
            None if says(Code::CallFailed) && !is_ended => None,
            None if halted => None,
            // A rank without a start has said enough.
            None if log.start.is_none() => None,
            None => Some(match cause {
                Some(cause) => format!("was ended before MPI_Finalize, as {cause}"),
                None => "ended without MPI_Finalize, MPI_Abort or exit: was it killed?".to_owned(),
            }),
        };
        if let Some(text) = text {
            self.add(text, Some(log.rank));
        }
        if let Some(dropped) = log.end.map(|end| end.dropped).filter(|&dropped| dropped > 0) {
            self.warn(
                format!(
                    "{dropped} more findings were not recorded, since the rank's table was full: \
                     fix or suppress the shown ones and run again"
                ),
                Some(log.rank),
            );
        }
    }

    /// Why sites are shown without lines.
    pub(crate) fn add_missing_lines(&mut self, findings: &[Finding], symbols: &Symbols) {
        let sites = findings.iter().flat_map(|finding| &finding.sites);
        for site in sites.filter(|site| site.line.is_none()) {
            match (site.stack.first(), &site.file) {
                // It knows the function's file, but gives the place no line.
                (Some(frame), Some(file)) => {
                    let function = frame.function.as_deref().unwrap_or("a function");
                    let text = format!(
                        "a place in `{function}` ({file}) has no line, since the compiler has made one \
                         piece of code of several lines: `-O0` keeps them apart"
                    );
                    self.add(text, None);
                }
                (Some(frame), None) => self.add(symbols.advice(&frame.module), None),
                (None, _) => {}
            }
        }
    }

    /// Sources whose lines may be others than those that were compiled. Relative names are looked
    /// up in `directory`.
    pub(crate) fn add_newer_sources(&mut self, findings: &[Finding], directory: &Path) {
        let written = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
        for site in findings.iter().flat_map(|finding| &finding.sites) {
            let (Some(file), Some(frame)) = (&site.file, site.stack.first()) else { continue };
            let source = written(&directory.join(file));
            let compiled = written(Path::new(&frame.module));
            if source.zip(compiled).is_some_and(|(source, compiled)| source > compiled) {
                let text = format!(
                    "`{file}` has changed since `{}` was built: the lines that are shown may be others than \
                     those that ran; compile it again",
                    file_name(&frame.module)
                );
                self.add(text, None);
            }
        }
    }

    /// Suppressions that did nothing.
    pub(crate) fn add_unused(&mut self, suppressed: &[Suppressed]) {
        for entry in suppressed.iter().filter(|entry| entry.findings == 0) {
            self.add(
                format!(
                    "the suppression in {}:{} matched nothing; remove it if its finding is fixed",
                    entry.file, entry.line
                ),
                None,
            );
        }
    }

    /// Warnings first, of each level those about the run, then by job and rank.
    pub(crate) fn into_sorted(self) -> Vec<Note> {
        let notes = self.texts.into_iter();
        let notes = notes.map(|((level, text), about)| {
            let mut jobs: Vec<u32> = about.iter().filter_map(|(job, _)| *job).collect();
            jobs.dedup();
            let ranks = about.into_iter().filter_map(|(_, rank)| rank);
            let ranks = if jobs.len() > 1 { Vec::new() } else { ranks.collect() };
            Note { level, text, ranks, jobs }
        });
        let mut notes: Vec<_> = notes.collect();
        notes.sort_by(|a, b| {
            let key =
                |note: &Note| (note.level, note.jobs.first().copied(), note.ranks.first().copied());
            key(a).cmp(&key(b)).then_with(|| a.text.cmp(&b.text))
        });
        notes
    }
}

/// Whether a rank exited within a call because another one called MPI_Abort: MPICH sends the others
/// of the communicator a message, on which their library exits as it does on an error.
pub(crate) fn is_ended_by_abort(log: &RankLog, logs: &[RankLog]) -> bool {
    let how = |log: &RankLog| log.end.map(|end| end.how);
    how(log) == Some(Ending::Exited)
        && log.findings.iter().any(|seen| seen.finding.code == Code::CallFailed)
        && logs.iter().any(|other| other.rank != log.rank && how(other) == Some(Ending::Aborted))
}

/// What has ended the job: a rank, with which launchers end the others, or commsan.
fn cause_of_end(logs: &[RankLog]) -> Option<String> {
    let says = |log: &RankLog, code| log.findings.iter().any(|seen| seen.finding.code == code);
    let by_rank = logs.iter().find_map(|log| {
        let how = match log.end.map(|end| end.how) {
            Some(Ending::Aborted) => "called MPI_Abort",
            Some(Ending::Crashed) => "crashed",
            None if says(log, Code::CallFailed) => "was ended by an error of MPI",
            _ => return None,
        };
        Some(format!("rank {} {how}", log.rank))
    });
    const MISMATCHES: [Code; 4] = [
        Code::CollectivesDiffer,
        Code::RootsDiffer,
        Code::CollectivesCross,
        Code::CollectiveNotEntered,
    ];
    let waits = || MISMATCHES.iter().any(|code| logs.iter().any(|log| says(log, *code)));
    by_rank.or_else(|| {
        waits().then(|| "ranks were waiting in collectives that do not match".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_rundir::reader::Problem;
    use commsan_rundir::record::{End, Start};

    fn log(rank: u32, how: Option<Ending>) -> RankLog {
        let start = Start {
            version: 1,
            rank,
            size: 5,
            pid: 1,
            host: "node".into(),
            mpi: "MPICH 4.0.2".into(),
            program: "/bin/app".into(),
            instrumented: false,
            job: "".into(),
            arguments: vec![],
            name: "".into(),
        };
        let end = how.map(|how| End { how, dropped: 0 });
        RankLog { rank, start: Some(start), end, ..RankLog::default() }
    }

    #[test]
    fn equal_notes_name_all_their_ranks() {
        let mut notes = Notes::default();
        let broken = RankLog { rank: 4, problems: vec![Problem::NoStart], ..RankLog::default() };
        let finalized = Some(Ending::Finalized);
        notes.add_logs(&[log(0, finalized), log(1, finalized), log(3, None), broken], false);
        let notes = notes.into_sorted();
        let told: Vec<_> = notes.iter().map(|n| (n.text.split(' ').next(), &*n.ranks)).collect();
        assert_eq!(
            told,
            [
                (Some("left"), [2].as_slice()),
                (Some("the"), &[4]),
                (Some("`app`"), &[0, 1, 3]),
                (Some("ended"), &[3]),
            ]
        );
    }

    #[test]
    fn what_guards_have_not_watched_is_summed_up() {
        let mut notes = Notes::default();
        let guarded = |closed, elsewhere| {
            let (operations, summed, shared) = (3, 64, 512);
            Some(Guarded { operations, closed, summed, shared, elsewhere, ..Guarded::default() })
        };
        let finalized = Some(Ending::Finalized);
        let logs = [
            RankLog { guarded: guarded(1 << 20, 0), ..log(0, finalized) },
            RankLog { guarded: guarded(3 << 20, 1 << 20), ..log(1, finalized) },
        ];
        notes.add_logs(&logs, false);
        let notes = notes.into_sorted();
        let sums: Vec<_> = notes.iter().filter(|note| note.text.starts_with("of ")).collect();
        let [note] = *sums else { panic!("{notes:?}") };
        assert_eq!(
            note.text,
            "of 5121 KiB in buffers of pending operations, guards watched 4096 KiB by pages, which show each \
             access, and 128 B by checksums, which show that what is sent has changed; not watched: 1024 B in \
             pages that hold other data, too, 1024 KiB on stacks or in mappings of the program's own"
        );
        let mut notes = Notes::default();
        let all = Some(Guarded { operations: 1, closed: 4096, ..Guarded::default() });
        notes.add_logs(&[RankLog { guarded: all, ..log(0, finalized) }], false);
        let text = "of 4096 B in buffers of pending operations, guards watched 4096 B by pages, which show \
                    each access, and 0 B by checksums, which show that what is sent has changed";
        assert!(notes.into_sorted().iter().any(|note| note.text == text));
    }

    #[test]
    fn how_much_of_windows_guards_have_watched_is_said() {
        let mut notes = Notes::default();
        let guarded = Some(Guarded { exposed: 8192, not_exposed: 4096, ..Guarded::default() });
        let log = RankLog { guarded, ..log(0, Some(Ending::Finalized)) };
        notes.add_logs(&[log], false);
        let text =
            "of 12.0 KiB of window memory in the epochs of fences and posts, guards watched 8192 B";
        let notes = notes.into_sorted();
        assert!(notes.iter().any(|note| note.text == text), "{notes:?}");
    }

    #[test]
    fn who_has_ended_the_job_is_named() {
        let mut notes = Notes::default();
        let finalized = Some(Ending::Finalized);
        let crashed = Some(Ending::Crashed);
        notes.add_logs(&[log(0, None), log(1, crashed), log(2, None), log(3, finalized)], false);
        let notes = notes.into_sorted();
        let ended = notes.iter().find(|note| note.ranks == [0, 2]).unwrap();
        assert_eq!(ended.text, "was ended before MPI_Finalize, as rank 1 crashed");
    }

    #[test]
    fn what_several_jobs_have_in_common_is_one_note() {
        let mut notes = Notes::default();
        for job in [1, 2, 3] {
            notes.of_job(Some(job));
            notes.add("common".to_owned(), Some(0));
            if job == 2 {
                notes.add("its own".to_owned(), Some(1));
            }
        }
        let notes = notes.into_sorted();
        let told: Vec<_> = notes.iter().map(crate::terminal::note_text).collect();
        assert_eq!(told, ["jobs 1-3: common", "rank 1 of job 2: its own"]);
    }

    #[test]
    fn nobody_is_asked_to_compile_an_interpreter() {
        let mut notes = Notes::default();
        let mut python = log(0, Some(Ending::Finalized));
        if let Some(start) = &mut python.start {
            (start.program, start.size) = ("/usr/bin/python3.11".into(), 1);
        }
        notes.add_logs(&[python], false);
        let notes = notes.into_sorted();
        assert!(notes[0].text.starts_with("`python3.11` runs scripts"), "{notes:?}");
    }

    #[test]
    fn a_run_without_ranks_points_to_the_doctor() {
        let mut notes = Notes::default();
        notes.add_logs(&[], false);
        assert!(notes.into_sorted()[0].text.contains("commsan doctor"));
    }
}
