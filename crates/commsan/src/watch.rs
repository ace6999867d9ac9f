//! Deadlock detection while the command runs. Mismatched collectives are reported at once, since
//! the job may hang; if it does hang, it is terminated.
//!
//! **Soundness.** A job is terminated only if all its ranks wait within MPI calls, or for device
//! work that needs other ranks, and none of them has moved for `stuck_after` seconds. In addition,
//! either some of its collectives do not match, or each rank, when queried, has answered that only
//! calls of other ranks can end its wait. Then no rank is left that could make such a call. A slow
//! program does not qualify, since one of its ranks computes; only where collectives do not match
//! may the device that a rank waits for still be at work.
//!
//! Two things could still change the state, and get time for it. A sent message may be in transit:
//! its bytes are assumed to travel more slowly than within any node, and so is each of thousands of
//! messages. One-sided operations may take any time while no lock or epoch of another rank delays
//! them. A rank may also be held up, stopped by a debugger or waiting for a disk: only time in
//! which it is not held up counts.
//!
//! A job would be terminated wrongly if MPI calls a function of the program that runs longer than
//! that: an attribute callback, or an error handler. User-defined reductions are known, and suspend
//! the decision; `MPI_Finalize` waits only after its callbacks have run.
//!
//! A job that stands still without being deadlocked for certain is left alone: its ranks are asked
//! where they are, once for each standstill that is twice as long as the last one shown. Jobs of
//! which no rank waits stand still rightly: they compute.
//!
//! A launcher is also terminated if it sleeps for [`MAX_LAUNCHER_SLEEP`] after all its ranks have
//! ended and does not notice this: Open MPI's does after some of the jobs that end in an error.
//!
//! **Missed**: deadlocks while a thread of a rank runs outside MPI indefinitely, polls
//! (`MPI_Test`), or waits for others by means that are not followed (`threads/work.rs`); and those
//! of jobs on several nodes of which one can no longer be queried, since the rank that answered for
//! it has ended.

use crate::child;
use crate::failure::{note, warn};
use crate::live::Live;
use crate::options::Options;
use crate::output::err;
use crate::report;
use crate::status;
use commsan_findings::Code;
use commsan_job_shm::{Answer, Job, Seen, jobs};
use commsan_rundir::{Deadlock, RunDirectory, Stuck};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Time between asking a job to end and killing it, and between two queries of its ranks.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a launcher may take to notice that its ranks have ended, while its output is not
/// blocked.
const MAX_LAUNCHER_SLEEP: Duration = Duration::from_secs(10);

/// Watches the run until it is dropped.
pub struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Vec<Job>>>,
}

/// Reports what was found.
pub type Report = Box<dyn FnMut() + Send>;

/// Jobs that the watcher has ended as one of their ranks.
pub struct Ended(Vec<Job>);

impl Ended {
    /// Ends the other ranks of those whose launcher leaves them alone. This process may not live
    /// much longer then.
    pub fn end_others(&self) {
        self.0.iter().for_each(Job::end_others);
    }
}

impl Watch {
    /// Begins to watch the jobs of a run. If this process stands for one of the ranks, which the
    /// job's launcher has started, `report` is called before that one is ended, and only that one
    /// is: a launcher that ends the job also ends the watcher.
    pub fn start(run: &RunDirectory, options: &Options, report: Option<Report>) -> Watch {
        let (stop, stopped) = channel();
        let mut watcher = Watcher { report, ..Watcher::new(run.path(), options) };
        let watch = move || {
            while stopped.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                watcher.look();
            }
            watcher.leave()
        };
        let thread = child::without_signals(|| std::thread::spawn(watch));
        Watch { stop: Some(stop), thread: Some(thread) }
    }

    /// Ends the watch, as dropping it does.
    pub fn finish(mut self) -> Ended {
        Ended(self.stop())
    }

    fn stop(&mut self) -> Vec<Job> {
        drop(self.stop.take());
        // If the thread has panicked, there was nothing to report.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Watcher {
    directory: PathBuf,
    /// Set if this process stands for one of the ranks.
    report: Option<Report>,
    options: Options,
    jobs: Vec<Watched>,
    deadlocks: Vec<Deadlock>,
    /// Number of deadlocks for which the report already shows the wait-for graph.
    explained: usize,
    live: Live,
}

struct Watched {
    job: Job,
    /// Whether this process stands for one of the ranks.
    is_rank: bool,
    /// Whether all of its nodes answer.
    is_seen: bool,
    mismatches: u64,
    ranks: Vec<Rank>,
    /// The counters of moves at the last query, and when ranks may be queried again.
    asked: Vec<u64>,
    /// The counters of moves at which the ranks were found to be able to proceed.
    acquitted: Vec<u64>,
    next: Instant,
    /// How long to wait before the next query.
    patience: Duration,
    /// How often the launcher was seen sleeping after the end of its ranks.
    asleep: u32,
    /// Since when no rank has moved.
    still_since: Instant,
    /// The longest time without moves for which it was shown where ranks are.
    shown: Duration,
    end: End,
}

/// Progress of the termination of a job.
#[derive(Clone, Copy)]
enum End {
    Open,
    /// The job's launcher was asked to terminate it.
    Asked(Instant),
    /// The remaining processes of the job were killed.
    Made,
}

/// A rank, as observed from outside.
#[derive(Clone, Copy)]
struct Rank {
    process: u32,
    moves: u64,
    state: State,
    /// How often it was seen at the same place without being held up.
    seen: u32,
    /// When it was seen there first.
    since: SystemTime,
    /// Nanoseconds of processor time.
    ran: u64,
}

/// The state of a job whose ranks all wait.
enum Verdict {
    /// The ranks have not waited long enough.
    Open,
    /// Some of the job's collectives do not match.
    Mismatch,
    /// The ranks wait for each other.
    Deadlock(Deadlock),
}

impl Watcher {
    fn new(directory: &Path, options: &Options) -> Watcher {
        Watcher {
            directory: directory.to_owned(),
            report: None,
            options: options.clone(),
            jobs: Vec::new(),
            deadlocks: Vec::new(),
            explained: 0,
            live: Live::new(options.quiet),
        }
    }

    fn look(&mut self) {
        for job in jobs(&self.directory, |name| self.jobs.iter().any(|j| j.job.name() == name)) {
            self.jobs.push(Watched::new(job, self.report.is_some()));
        }
        self.jobs.iter_mut().for_each(Watched::look_afar);
        let mismatch = self.jobs.iter_mut().any(Watched::has_news);
        if self.live.has_news(&self.directory) || mismatch {
            self.tell();
        }
        let limit = self.options.stuck_after.0.into();
        self.jobs.iter_mut().for_each(Watched::look);
        self.show_status();
        for index in 0..self.jobs.len() {
            self.jobs[index].see_to_the_end();
            if limit > 0 {
                self.jobs[index].see_to_the_launcher();
            }
            match self.jobs[index].judge(limit) {
                Verdict::Open => {}
                Verdict::Mismatch if !self.live.has_mismatch() => {}
                Verdict::Mismatch => {
                    self.end(index, "all ranks wait in collectives that do not match");
                }
                Verdict::Deadlock(deadlock) => {
                    if self.is_explained(deadlock) {
                        self.end(index, "no rank can proceed");
                    } else {
                        self.jobs[index].acquit();
                    }
                }
            }
        }
    }

    /// Shows which ranks are where, if somebody asks for it, or a job stands still.
    fn show_status(&mut self) {
        let limit = Duration::from_secs(self.options.status_after.0.into());
        let limit = if self.options.quiet { Duration::ZERO } else { limit };
        let is_asked = child::wants_roll_call();
        let Ok(run) = RunDirectory::open(&self.directory) else { return };
        let mut shown = false;
        for watched in &mut self.jobs {
            let stands_still = watched.stands_still(limit);
            if !is_asked && !stands_still {
                continue;
            }
            let time = watched.still_since.elapsed().as_secs();
            let context = status::context(
                &run.read_info().unwrap_or_default(),
                self.options.libraries.clone(),
            );
            let Some(called) = status::call_roll(&mut watched.job, &run, &context) else {
                continue;
            };
            if !is_asked && !called.waits() {
                continue;
            }
            if !is_asked {
                note(&format!("no rank has moved for {time} seconds; the job goes on"));
            }
            err(&called.table());
            shown = true;
        }
        if is_asked && !shown {
            note("no rank can be asked where it is: none has initialised MPI, or all have ended");
        }
    }

    fn end(&mut self, index: usize, why: &str) {
        note(&format!("{why}: terminating the job"));
        if let Some(report) = &mut self.report {
            report();
        }
        self.jobs[index].end();
    }

    /// The command has ended: records where ranks were seen last, in case the job was terminated
    /// from outside. Returns the jobs that were ended as one of their ranks.
    fn leave(mut self) -> Vec<Job> {
        let asked = self.jobs.iter().filter(|job| !job.asked.is_empty());
        let ranks: Vec<_> = asked.flat_map(Watched::places).collect();
        if let Ok(run) = RunDirectory::open(&self.directory)
            && !ranks.is_empty()
        {
            // If this fails, the report lacks a note.
            let _ = run.write_last_seen(&ranks);
        }
        // A launcher that was asked to end the job may have left ranks behind.
        for job in self.jobs.iter_mut().filter(|job| matches!(job.end, End::Asked(_))) {
            job.end = End::Made;
            job.job.kill();
        }
        let ended =
            self.jobs.into_iter().filter(|job| job.is_rank && !matches!(job.end, End::Open));
        ended.map(|job| job.job).collect()
    }

    /// Writes a deadlock to the run directory, and reports it if the ranks' answers confirm it.
    fn is_explained(&mut self, deadlock: Deadlock) -> bool {
        let Ok(run) = RunDirectory::open(&self.directory) else { return false };
        let before = self.explained;
        self.deadlocks.push(deadlock);
        if let Err(error) = run.write_deadlocks(&self.deadlocks) {
            warn(&format!("the job seems to hang, but {error}"), &[]);
        }
        self.tell();
        let is_new = self.explained > before;
        if !is_new {
            self.deadlocks.pop();
            // A remaining deadlock without an explanation is not shown.
            let _ = run.write_deadlocks(&self.deadlocks);
        }
        is_new
    }

    /// Prints findings that were not printed.
    fn tell(&mut self) {
        let Ok(run) = RunDirectory::open(&self.directory) else { return };
        let Ok(preparation) = report::preparation(&self.options) else { return };
        let report = commsan_report::Report::from_run(&run, &preparation);
        let deadlocks = report.findings.iter().filter(|finding| finding.code == Code::Deadlock);
        self.explained = deadlocks.count();
        self.live.tell(&report);
    }
}

impl Watched {
    fn new(job: Job, is_rank: bool) -> Watched {
        Watched {
            job,
            is_rank,
            is_seen: true,
            mismatches: 0,
            ranks: Vec::new(),
            asked: Vec::new(),
            acquitted: Vec::new(),
            next: Instant::now(),
            patience: RESPONSE_TIMEOUT,
            asleep: 0,
            still_since: Instant::now(),
            shown: Duration::ZERO,
            end: End::Open,
        }
    }

    /// Queries ranks of other nodes. If some no longer answer, the state of the job is unknown.
    fn look_afar(&mut self) {
        self.is_seen = self.job.look();
    }

    /// Whether there is a new mismatch.
    fn has_news(&mut self) -> bool {
        let before = std::mem::replace(&mut self.mismatches, self.job.rendezvous().mismatches());
        self.mismatches > before
    }

    /// Whether ranks wait, and no rank has moved for so long that it is to be shown where they are;
    /// that counts as done.
    fn stands_still(&mut self, limit: Duration) -> bool {
        let waits = |rank: &Rank| rank.moves % 2 == 1 && rank.state != State::Gone;
        let stands = self.is_seen && matches!(self.end, End::Open) && self.ranks.iter().any(waits);
        let time = self.still_since.elapsed();
        let is_due = stands && !limit.is_zero() && time >= limit && time >= self.shown * 2;
        if is_due {
            self.shown = time;
        }
        is_due
    }

    /// Updates the state of each rank.
    fn look(&mut self) {
        let rendezvous = self.job.rendezvous();
        if self.ranks.iter().map(|rank| rank.moves).ne(rendezvous.moves()) {
            self.still_since = Instant::now();
        }
        let now = rendezvous.processes().zip(rendezvous.moves()).enumerate();
        self.ranks.resize(rendezvous.moves().count(), Rank::NEW);
        for (rank, (number, (process, moves))) in self.ranks.iter_mut().zip(now) {
            rank.look(process, moves, || self.job.seen(number, process));
        }
    }

    /// The current or last place of each rank.
    fn places(&self) -> impl Iterator<Item = Stuck> {
        let place = |(number, rank): (u32, &Rank)| Stuck {
            rank: number,
            process: rank.process,
            moves: Some(rank.moves),
            since: nanoseconds(rank.since),
        };
        (0..).zip(&self.ranks).map(place)
    }

    /// Whether the job hangs. Queries the ranks if they may hang.
    fn judge(&mut self, limit: u64) -> Verdict {
        if limit == 0 || !self.is_seen || !matches!(self.end, End::Open) {
            return Verdict::Open;
        }
        let moves: Vec<u64> = self.ranks.iter().map(|rank| rank.moves).collect();
        let is_new = moves != self.asked;
        let seconds = self.ranks.iter().map(Rank::waits_since).min().flatten().unwrap_or(0);
        if seconds < limit {
            let some_do = self.ranks.iter().any(|rank| rank.same_since() >= limit);
            if some_do && is_new && self.next <= Instant::now() {
                // They may hang: if the job is terminated from outside, the report will show where
                // they were.
                self.patience *= 2;
                self.ask(moves);
            }
            return Verdict::Open;
        }
        if self.mismatches > 0 {
            return Verdict::Mismatch;
        }
        if is_new {
            self.ask(moves);
            return Verdict::Open;
        }
        match self.bytes_on_their_way().filter(|_| self.acquitted != moves) {
            Some(bytes) if seconds >= limit + bytes / self.job.slowest() => {
                let states = self.ranks.iter().map(|rank| rank.state);
                let place = |(place, state): (Stuck, State)| Stuck {
                    moves: place.moves.filter(|_| state != State::Gone),
                    ..place
                };
                Verdict::Deadlock(Deadlock {
                    ranks: self.places().zip(states).map(place).collect(),
                    seconds,
                })
            }
            _ => Verdict::Open,
        }
    }

    /// The present state is not a deadlock.
    fn acquit(&mut self) {
        self.acquitted.clone_from(&self.asked);
    }

    fn ask(&mut self, moves: Vec<u64>) {
        self.next = Instant::now() + self.patience;
        self.asked = moves;
        self.job.ask();
    }

    /// The number of bytes that may still be in transit, if all ranks have answered that they wait
    /// only for each other.
    fn bytes_on_their_way(&self) -> Option<u64> {
        let (mut bytes, mut waits) = (0_u64, false);
        for (rank, (answered, answer)) in self.ranks.iter().zip(self.job.rendezvous().answers()) {
            match answer {
                _ if rank.state == State::Gone => {}
                Answer::Others(more) if answered == rank.moves => {
                    (bytes, waits) = (bytes.saturating_add(more), true);
                }
                Answer::Others(_) | Answer::Unsure => return None,
            }
        }
        // If all ranks have ended, the job has ended.
        waits.then_some(bytes)
    }

    fn end(&mut self) {
        match self.is_rank {
            true => self.job.ask_own_to_end(),
            false => self.job.ask_to_end(),
        }
        self.end = End::Asked(Instant::now());
    }

    /// Terminates a launcher that does not notice that its ranks have ended.
    fn see_to_the_launcher(&mut self) {
        let End::Open = self.end else { return };
        let sleeping = (!self.is_rank).then(|| self.job.sleeping_launcher()).flatten();
        let Some(launcher) = sleeping.filter(|_| child::may_write()) else {
            self.asleep = 0;
            return;
        };
        self.asleep += 1;
        if POLL_INTERVAL * self.asleep >= MAX_LAUNCHER_SLEEP {
            let what = format!("all ranks have ended, but {launcher} has not noticed");
            note(&format!("{what}: terminating the job"));
            self.end();
        }
    }

    /// Kills a job that does not end when asked to: launchers may hang, too.
    fn see_to_the_end(&mut self) {
        if let End::Asked(when) = self.end
            && when.elapsed() > RESPONSE_TIMEOUT
        {
            self.end = End::Made;
            if self.job.kill() {
                note("the job has not ended: killing it");
            }
        }
    }
}

impl Rank {
    const NEW: Rank = Rank {
        process: 0,
        moves: 0,
        state: State::HeldUp,
        seen: 0,
        since: SystemTime::UNIX_EPOCH,
        ran: 0,
    };

    fn look(&mut self, process: u32, moves: u64, seen: impl FnOnce() -> Option<Seen>) {
        self.process = process;
        let has_moved = std::mem::replace(&mut self.moves, moves) != moves;
        if has_moved || self.since == SystemTime::UNIX_EPOCH {
            self.since = SystemTime::now();
        }
        if has_moved {
            self.seen = 0;
        }
        // A rank that computes need not be inspected.
        if moves % 2 == 1 {
            self.state = State::of(seen(), &mut self.ran);
        }
        self.seen += u32::from(moves.is_multiple_of(2) || self.state != State::HeldUp);
    }

    /// Seconds for which it has waited in the same call; `None` if it does not wait.
    fn waits_since(&self) -> Option<u64> {
        (self.moves % 2 == 1).then_some(self.same_since())
    }

    /// Seconds since it last started or stopped waiting.
    fn same_since(&self) -> u64 {
        u64::from(self.seen) * POLL_INTERVAL.as_millis() as u64 / 1000
    }
}

/// Since 1970, as findings have them; none of a rank that nobody has looked at.
fn nanoseconds(time: SystemTime) -> Option<u64> {
    let passed = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(passed.as_nanos()).ok().filter(|time| *time > 0)
}

/// The state of a process, as the kernel sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The process runs, or sleeps until an event.
    Free,
    /// The process is stopped, or waits for a disk or a processor.
    HeldUp,
    /// The process has ended.
    Gone,
}

impl State {
    /// The state of a process. Updates `ran`, its processor time in nanoseconds at the last query.
    fn of(seen: Option<Seen>, ran: &mut u64) -> State {
        let Some(seen) = seen else { return State::Gone };
        match seen.state {
            'S' => State::Free,
            'R' => {
                let before = std::mem::replace(ran, seen.ran.unwrap_or(*ran + 1));
                if *ran > before { State::Free } else { State::HeldUp }
            }
            'Z' | 'X' => State::Gone,
            _ => State::HeldUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Waits until the kernel shows the expected state.
    fn becomes(process: u32, expected: State) {
        let begin = Instant::now();
        while State::of(Seen::of(process), &mut 0) != expected {
            assert!(begin.elapsed() < Duration::from_secs(10), "not {expected:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn who_is_stopped_is_held_up() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = child.id();
        becomes(process, State::Free);
        // SAFETY: the child has not been waited for.
        unsafe { libc::kill(process.cast_signed(), libc::SIGSTOP) };
        becomes(process, State::HeldUp);
        child.kill().unwrap();
        becomes(process, State::Gone);
        child.wait().unwrap();
        assert_eq!(State::of(Seen::of(process), &mut 0), State::Gone);
    }

    #[test]
    fn who_runs_counts_while_it_gets_a_processor() {
        let mut ran = 0;
        let own = std::process::id();
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        becomes(child.id(), State::Free);
        let seen = Seen::of(child.id());
        let later = seen.and_then(|seen| seen.ran).map(|time| time + 3_600_000_000_000);
        // As if it had already used an hour of processor time, and none since.
        assert_eq!(State::of(seen, &mut later.unwrap_or(0)), State::HeldUp);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_ne!(State::of(Seen::of(own), &mut ran), State::Gone);
    }

    #[test]
    fn a_rank_that_moves_is_seen_anew() {
        let (mut rank, own) = (Rank::NEW, std::process::id());
        let seen = || Seen::of(own);
        rank.look(own, 2, seen);
        assert_eq!((rank.waits_since(), rank.moves), (None, 2));
        let since = rank.since;
        assert!(nanoseconds(since).is_some() && nanoseconds(Rank::NEW.since).is_none());
        (0..4).for_each(|_| rank.look(own, 2, seen));
        assert_eq!(rank.since, since, "it has not moved");
        assert_eq!((rank.waits_since(), rank.same_since()), (None, 1));
        rank.seen = 7;
        rank.moves = 3;
        rank.state = State::Free;
        assert_eq!((rank.waits_since(), rank.moves), (Some(1), 3));
        rank.look(own, 5, seen);
        assert!(rank.seen <= 1 && rank.waits_since() == Some(0) && rank.since >= since);
    }
}
