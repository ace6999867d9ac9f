//! Findings of a running job, each as one line when it is found. Jobs of a few seconds have them in
//! the report alone.

use crate::failure::{help, label, note};
use crate::output::err;
use commsan_findings::{Code, Finding, Role, Severity, Site};
use commsan_report::Report;
use std::collections::HashMap;
use std::fs::File;
use std::io::{IsTerminal, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Age of a job from which on its findings are printed while it runs.
const FROM: Duration = Duration::from_secs(3);
/// Time between two looks at the logs.
const PERIOD: Duration = Duration::from_secs(2);
/// Age of a job at which a terminal shows that it is watched.
const SIGN_OF_LIFE: Duration = Duration::from_secs(60);
/// Lines that are printed at most; the report has all findings.
const MAX_LINES: usize = 20;
/// How a finding begins in a log.
const FINDING: &[u8] = b"{\"t\":\"finding\"";

/// What was printed of a running job.
pub struct Live {
    begun: Instant,
    next: Instant,
    /// Bytes that were looked at, by log.
    read: HashMap<PathBuf, u64>,
    told: Vec<String>,
    /// Whether one of these is between ranks.
    has_mismatch: bool,
    /// Whether it was said that the job is watched, or need not be.
    has_shown_life: bool,
    quiet: bool,
}

impl Live {
    /// Of a job that begins now.
    pub fn new(quiet: bool) -> Live {
        let begun = Instant::now();
        let (next, read, told) = (begun + FROM, HashMap::new(), Vec::new());
        Live { begun, next, read, told, has_mismatch: false, has_shown_life: quiet, quiet }
    }

    /// Whether a finding was printed that may have made the job hang.
    pub fn has_mismatch(&self) -> bool {
        self.has_mismatch
    }

    /// Whether the logs in a run directory have new findings, if it is time to look.
    pub fn has_news(&mut self, run: &Path) -> bool {
        let now = Instant::now();
        if now < self.next || self.told.len() >= MAX_LINES {
            return false;
        }
        self.next = now + PERIOD;
        let logs = std::fs::read_dir(run).into_iter().flatten().flatten().map(|entry| entry.path());
        let logs = logs.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
        // All are looked at, so that none is news later.
        let found = logs.filter(|log| self.grows(log)).count();
        if !self.has_shown_life && now > self.begun + SIGN_OF_LIFE {
            self.has_shown_life = true;
            if found == 0 && self.told.is_empty() && std::io::stderr().is_terminal() {
                note("the job is watched; nothing was found so far");
            }
        }
        found > 0
    }

    /// Whether a log has findings behind what was looked at.
    fn grows(&mut self, log: &Path) -> bool {
        let seen = self.read.entry(log.to_owned()).or_default();
        let mut text = Vec::new();
        let read = File::open(log).and_then(|mut file| {
            file.seek(SeekFrom::Start(*seen))?;
            file.read_to_end(&mut text)
        });
        if read.is_err() {
            return false;
        }
        // A line may be half written, and space behind the last one is reserved.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        *seen += whole as u64;
        text[..whole].split(|byte| *byte == b'\n').any(|line| line.starts_with(FINDING))
    }

    /// Whether all findings are printed, not only what may have made the job hang.
    fn is_due(&self) -> bool {
        !self.quiet && self.begun.elapsed() >= FROM
    }

    /// Prints those of a running job's findings that were not printed. What may have made the job
    /// hang is printed whatever its age.
    pub fn tell(&mut self, report: &Report) {
        let is_due = self.is_due();
        for finding in &report.findings {
            // It is taken back if the program asks what the error means.
            if finding.code == Code::ErrorIgnored {
                continue;
            }
            let is_mismatch = finding.code.is_between_ranks();
            // What is the only job of the run now may be one of several later.
            let job = finding.job.unwrap_or(1);
            let what = format!("{job} {} {}", finding.code, finding.message);
            let is_wanted = is_mismatch || is_due && self.told.len() < MAX_LINES;
            if !is_wanted || self.told.contains(&what) {
                continue;
            }
            self.told.push(what);
            self.has_mismatch |= is_mismatch;
            err(&line(report, finding));
            if is_mismatch {
                help(&places(finding));
            }
            if is_mismatch && finding.code != Code::Deadlock {
                help("the job may hang; the report follows when it ends, by Ctrl-C if need be");
            }
            if self.told.len() == MAX_LINES && is_due {
                note("further findings are in the report, which follows when the job ends");
            }
        }
    }
}

/// `error[CS-BUF-01]: rank 0, heat.c:52: …`
fn line(report: &Report, finding: &Finding) -> String {
    let (name, style) = match finding.severity() {
        Severity::Error => ("error", "1;31"),
        Severity::Warning => ("warning", "1;33"),
    };
    let level = label(&format!("{name}[{}]:", finding.code), style);
    match finding.sites.first().filter(|_| !finding.code.is_between_ranks()) {
        Some(site) => format!("{level} {}: {}\n", place(site), report.message(finding)),
        None => format!("{level} {}\n", report.message(finding)),
    }
}

fn place(site: &Site) -> String {
    let file = site.file.as_deref().unwrap_or("an unknown place");
    match site.line {
        Some(line) => format!("rank {} at {file}:{line}", site.rank),
        None => format!("rank {} at {file}", site.rank),
    }
}

fn places(finding: &Finding) -> String {
    let waits = |site: &&Site| finding.code != Code::Deadlock || site.role == Role::Wait;
    finding.sites.iter().filter(waits).map(place).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn old_jobs_are_told_of_like_young_ones() {
        let directory = tempfile::tempdir().unwrap();
        let mut live = Live::new(false);
        assert!(!live.is_due());
        live.begun -= 2 * SIGN_OF_LIFE;
        live.next = Instant::now();
        assert!(!live.has_news(directory.path()) && live.has_shown_life);
        assert!(live.is_due());
        assert!(!Live { quiet: true, ..live }.is_due());
    }

    #[test]
    fn logs_are_read_once_and_by_whole_lines() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("rank-0.jsonl");
        let mut file = File::create(&log).unwrap();
        let mut live = Live::new(true);
        let mut news = |text: &str| {
            file.write_all(text.as_bytes()).unwrap();
            live.next = Instant::now();
            live.has_news(directory.path())
        };
        assert!(!news("{\"t\":\"start\"}\n{\"t\":\"find"));
        assert!(!news("ing\",\"id\":0}"));
        assert!(news("\n"));
        assert!(!news("{\"t\":\"again\"}\n"));
        assert!(news("{\"t\":\"finding\"}\n{\"t\":\"end\"}\n"));
    }
}
