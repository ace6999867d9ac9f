//! While the command runs: collectives that do not match are told at once, for the job may hang; and if
//! it does, it is ended.
//!
//! A job is ended only if some of its collectives do not match, which is certain, and all its ranks wait
//! within collectives and have not moved for as long as `stuck_after` says. A slow program, or one
//! that waits in anything else, is left alone.

use crate::child;
use crate::failure::{note, warn};
use crate::options::Options;
use crate::report;
use commsan_fabric::{Job, jobs};
use commsan_model::Finding;
use commsan_report::{Options as Preparation, Report};
use commsan_trace::RunDirectory;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(250);
/// From asking a job to end to making it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Watches the run until it is dropped.
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch the jobs of a run.
    pub fn start(run: &RunDirectory, options: &Options) -> Watch {
        let (stop, stopped) = channel();
        let mut watcher = Watcher::new(run.path(), options);
        let watch = move || {
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                watcher.look();
            }
        };
        let thread = child::without_signals(|| std::thread::spawn(watch));
        Watch { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        // If it has failed, there was nothing to tell.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Watcher {
    directory: PathBuf,
    options: Options,
    jobs: Vec<Watched>,
    told: Vec<String>,
}

struct Watched {
    job: Job,
    mismatches: u64,
    /// Since when all ranks have been waiting where they are.
    stuck: Option<(Vec<u64>, Instant)>,
    /// When it was asked to end.
    ended: Option<Instant>,
}

impl Watcher {
    fn new(directory: &Path, options: &Options) -> Watcher {
        let (jobs, told) = (Vec::new(), Vec::new());
        Watcher { directory: directory.to_owned(), options: options.clone(), jobs, told }
    }

    fn look(&mut self) {
        for job in jobs(&self.directory, |name| self.jobs.iter().any(|j| j.job.name() == name)) {
            self.jobs.push(Watched { job, mismatches: 0, stuck: None, ended: None });
        }
        let news = self.jobs.iter_mut().any(Watched::has_news);
        if news {
            self.tell();
        }
        let limit = Duration::from_secs(self.options.stuck_after.0.into());
        if limit > Duration::ZERO && !self.told.is_empty() {
            self.jobs.iter_mut().for_each(|job| job.end_if_stuck(limit));
        }
    }

    /// Says what does not match, each once.
    fn tell(&mut self) {
        let Ok(run) = RunDirectory::open(&self.directory) else { return };
        let Ok(suppressions) = report::suppressions(&self.options) else { return };
        let report = Report::from_run(&run, &Preparation { suppressions });
        for finding in report.findings.iter().filter(|finding| finding.code.is_between_ranks()) {
            let what = format!("{}: {}", finding.code, finding.message);
            if !self.told.contains(&what) {
                let places = places(finding);
                let help =
                    "the job may hang; the report follows when it ends, by Ctrl-C if need be";
                warn(&what, &[places, help.to_owned()]);
                self.told.push(what);
            }
        }
    }
}

fn places(finding: &Finding) -> String {
    let place = |site: &commsan_model::Site| {
        let file = site.file.as_deref().unwrap_or("an unknown place");
        match site.line {
            Some(line) => format!("rank {} at {file}:{line}", site.rank),
            None => format!("rank {} at {file}", site.rank),
        }
    };
    finding.sites.iter().map(place).collect::<Vec<_>>().join(", ")
}

impl Watched {
    /// Whether something more does not match.
    fn has_news(&mut self) -> bool {
        let before = std::mem::replace(&mut self.mismatches, self.job.board().mismatches());
        self.mismatches > before
    }

    fn end_if_stuck(&mut self, limit: Duration) {
        if self.mismatches == 0 || self.ended.is_some_and(|when| when.elapsed() < PATIENCE) {
            return;
        }
        let moves: Vec<u64> = self.job.board().moves().collect();
        let waits = moves.iter().all(|count| count % 2 == 1);
        match &self.stuck {
            Some((before, since)) if waits && *before == moves => {
                if since.elapsed() >= limit {
                    self.end();
                }
            }
            _ => self.stuck = waits.then(|| (moves, Instant::now())),
        }
    }

    fn end(&mut self) {
        if self.ended.is_none() {
            note("all ranks wait in collectives that do not match: the job is ended");
        }
        self.job.end(self.ended.is_some());
        self.ended = Some(Instant::now());
    }
}
