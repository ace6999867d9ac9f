//! While the command runs: collectives that do not match are told at once, for the job may hang; and if
//! it does, it is ended.
//!
//! **Soundness.** A job is ended only if all its ranks wait within MPI calls and none of them has moved for
//! as long as `stuck_after` says, and either some of its collectives do not match, or each rank, asked,
//! says that only calls of other ranks can end its wait. Then nobody is left who could make one: a slow
//! program is none of this, for somebody in it computes. Two things could still move, and get time
//! for it. A message that has been sent already may be under way: its bytes count as slowly as no machine
//! moves them within a node. And a rank may be held up, stopped by a debugger or waiting for a disk: only
//! the time when it is not counts. Wrongly ended would be a job in which MPI calls back a function
//! of the program's that takes longer than that (of an attribute or an error handler: user-defined
//! reductions are known, and leave a job alone).
//!
//! Missed are deadlocks while some rank runs outside of MPI for ever, asks again and again (`MPI_Test`), or
//! has several threads at work; and those of jobs on several nodes.

use crate::child;
use crate::failure::{note, warn};
use crate::options::Options;
use crate::report;
use commsan_fabric::{Answer, Board, Job, jobs};
use commsan_model::Finding;
use commsan_report::{Options as Preparation, Report};
use commsan_trace::{Deadlock, RunDirectory};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(250);
/// From asking a job to end to making it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes that any node moves in a second, whatever else it does.
const SLOWEST: u64 = 50_000_000;

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
    deadlocks: Vec<Deadlock>,
    told: Vec<String>,
}

struct Watched {
    job: Job,
    mismatches: u64,
    /// Since all ranks have been waiting where they are.
    stuck: Option<Stuck>,
    /// When it was asked to end.
    ended: Option<Instant>,
}

/// All ranks wait.
struct Stuck {
    moves: Vec<u64>,
    /// For each rank, how often it has been seen at it, while nothing kept it from going on.
    seen: Vec<u32>,
    /// Nanoseconds for which it had had a processor.
    ran: Vec<u64>,
    asked: bool,
}

/// What is known of a job of which all ranks wait.
enum Verdict {
    /// They have not waited for long enough.
    Open,
    /// Some of their collectives do not match.
    Mismatch,
    /// They wait for each other.
    Deadlock(Deadlock),
}

impl Watcher {
    fn new(directory: &Path, options: &Options) -> Watcher {
        Watcher {
            directory: directory.to_owned(),
            options: options.clone(),
            jobs: Vec::new(),
            deadlocks: Vec::new(),
            told: Vec::new(),
        }
    }

    fn look(&mut self) {
        for job in jobs(&self.directory, |name| self.jobs.iter().any(|j| j.job.name() == name)) {
            self.jobs.push(Watched { job, mismatches: 0, stuck: None, ended: None });
        }
        let news = self.jobs.iter_mut().any(Watched::has_news);
        if news {
            self.tell();
        }
        let limit = self.options.stuck_after.0.into();
        for index in 0..self.jobs.len() {
            match self.jobs[index].judge(limit) {
                Verdict::Open => {}
                Verdict::Mismatch if self.told.is_empty() => {}
                Verdict::Mismatch => {
                    self.jobs[index].end("all ranks wait in collectives that do not match");
                }
                Verdict::Deadlock(deadlock) => {
                    self.deadlocks.push(deadlock);
                    self.tell_deadlocks();
                    self.jobs[index].end("no rank can go on");
                }
            }
        }
    }

    /// Where the report finds them.
    fn tell_deadlocks(&mut self) {
        let written = RunDirectory::open(&self.directory)
            .and_then(|run| run.write_deadlocks(&self.deadlocks));
        match written {
            Ok(()) => self.tell(),
            Err(error) => warn(&format!("the job has a deadlock, but {error}"), &[]),
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

    /// Whether the job hangs. A limit of 0 is for one that may.
    fn judge(&mut self, limit: u64) -> Verdict {
        if limit == 0 || self.ended.is_some_and(|when| when.elapsed() < PATIENCE) {
            return Verdict::Open;
        }
        let board = self.job.board();
        let moves: Vec<u64> = board.moves().collect();
        if moves.iter().any(|count| count % 2 == 0) {
            self.stuck = None;
            return Verdict::Open;
        }
        let before = self.stuck.take().filter(|stuck| stuck.moves == moves);
        let stuck = self.stuck.insert(before.unwrap_or_else(|| Stuck::at(moves)));
        let processes: Vec<u32> = board.processes().collect();
        let states = stuck.look_at(&processes);
        let seconds = looks_to_seconds(stuck.seen.iter().copied().min().unwrap_or(0));
        if seconds < limit {
            return Verdict::Open;
        }
        if self.mismatches > 0 {
            return Verdict::Mismatch;
        }
        if !stuck.asked {
            stuck.asked = true;
            board.ask();
            return Verdict::Open;
        }
        match stuck.bytes_on_their_way(&board, &states) {
            Some(bytes) if seconds >= limit + bytes / SLOWEST => {
                let ranks = processes.iter().zip(&stuck.moves).zip(&states);
                let ranks = ranks.map(|((process, moves), state)| commsan_trace::Stuck {
                    process: *process,
                    moves: (*state != State::Gone).then_some(*moves),
                });
                Verdict::Deadlock(Deadlock { ranks: ranks.collect(), seconds })
            }
            _ => Verdict::Open,
        }
    }

    fn end(&mut self, why: &str) {
        if self.ended.is_none() {
            note(&format!("{why}: the job is ended"));
        }
        self.job.end(self.ended.is_some());
        self.ended = Some(Instant::now());
    }
}

impl Stuck {
    fn at(moves: Vec<u64>) -> Stuck {
        Stuck { seen: vec![0; moves.len()], ran: vec![0; moves.len()], moves, asked: false }
    }

    /// What each rank does now, which counts unless something keeps it from going on.
    fn look_at(&mut self, processes: &[u32]) -> Vec<State> {
        let looks = processes.iter().zip(&mut self.ran).map(|(process, ran)| State::of(*process, ran));
        let states: Vec<_> = looks.collect();
        for (seen, state) in self.seen.iter_mut().zip(&states) {
            *seen += u32::from(*state != State::HeldUp);
        }
        states
    }

    /// How much may still be under way, if all ranks have answered that they wait for each other alone.
    fn bytes_on_their_way(&self, board: &Board, states: &[State]) -> Option<u64> {
        let mut bytes = 0_u64;
        let mut waits = false;
        let answers = board.answers().zip(&self.moves).zip(states);
        for (((answered, answer), moves), state) in answers {
            if *state == State::Gone {
                continue;
            }
            match answer {
                Answer::Others(more) if answered == *moves => {
                    (bytes, waits) = (bytes.saturating_add(more), true);
                }
                Answer::Others(_) | Answer::Unsure => return None,
            }
        }
        // If all have ended, so has the job.
        waits.then_some(bytes)
    }
}

/// What a process does, as the kernel sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It runs, or sleeps until something comes.
    Free,
    /// It is stopped, or waits for a disk or a processor.
    HeldUp,
    /// It has ended.
    Gone,
}

impl State {
    /// Of a process that had had a processor for `ran` nanoseconds, which is brought up to date.
    fn of(process: u32, ran: &mut u64) -> State {
        let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
            return State::Gone;
        };
        // The state comes after the name, which may hold anything.
        match text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()) {
            Some('S') => State::Free,
            Some('R') => {
                let before = std::mem::replace(ran, time_on_processor(process).unwrap_or(*ran + 1));
                if *ran > before { State::Free } else { State::HeldUp }
            }
            Some('Z' | 'X') => State::Gone,
            _ => State::HeldUp,
        }
    }
}

/// Nanoseconds; `None` where the kernel does not count them.
fn time_on_processor(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn looks_to_seconds(looks: u32) -> u64 {
    u64::from(looks) * PAUSE.as_millis() as u64 / 1000
}
