//! A roll call of a running job: which ranks are where, since when, and for whom they wait.
//!
//! Ranks at the same place share a row. Where there would be too many rows, rows are joined that
//! differ in less and less: first in the callers, then in the line, then in the place, so that a
//! thousand ranks fit on a screen.

mod rows;
mod seen;
mod table;

pub use seen::{Outside, SeenRank, SeenThread, Together, Within};

use crate::stack::{is_infrastructure, is_interpreter, is_of_mpi};
use crate::symbols::{Symbols, module_path};
use commsan_findings::{Doing, Frame, NeedKind};
use commsan_rundir::RankLog;
use commsan_rundir::record::{RawNeed, RawProgress, RawSite, RawThread, RawWaiting};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// Maximum number of rows of each part of a table.
const MAX_ROWS: usize = 20;

/// A rank that was called, as its node sees it from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Its number.
    pub rank: u32,
    /// Its process; 0 if it has not initialised MPI.
    pub process: u32,
    /// The number of the roll call that it has answered, if it has.
    pub answered: Option<u64>,
    /// The kernel's letter for the state of its process; `None` if it has ended.
    pub state: Option<char>,
    /// For how many seconds it has neither begun nor ended to wait, if somebody has watched.
    pub seconds: Option<u64>,
}

/// Who is where in a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollCall {
    /// The program, as its first rank knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Number of ranks.
    pub ranks: u32,
    /// How many have answered.
    pub answered: u32,
    /// The ranks, by place.
    pub rows: Vec<Row>,
    /// Ranks that others wait for, and that wait for nobody within MPI.
    pub awaited: Vec<u32>,
    /// How far ranks have come on communicators, windows and files.
    pub collectives: Vec<Progress>,
    /// The oldest operation of each rank that is open and that it does not wait for.
    pub open: Vec<Open>,
    /// Of ranks that were not asked, but looked at: what else there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
}

/// What a rank, or a thread of it, is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits within a call, for other ranks.
    Waits,
    /// It calls again and again, and waits in none of the calls.
    Polls,
    /// It is outside of MPI, or in a call that does not wait.
    Outside,
    /// It has not answered.
    Silent,
    /// It has not initialised MPI.
    Absent,
    /// It has ended.
    Ended,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The function, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The file, relative to the working directory where it lies below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Ranks at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The ranks, ascending.
    pub ranks: Vec<u32>,
    /// What they do.
    pub state: State,
    /// What they do outside of MPI, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<Doing>,
    /// Threads besides each rank's first one: then the row is about those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub threads: u32,
    /// The file that they read, write or lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The call of MPI that they are in; of those outside of MPI, the last that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Which collective of its communicator it is, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// The communicator, window or file, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Where they are; absent if it is not known, or they are at different places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The callers of that, innermost first, as far as they agree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Place>,
    /// Of those outside of MPI: where they made the last call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Place>,
    /// For how many seconds the first of them has neither begun nor ended to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// What they need, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
}

impl Row {
    /// Of no rank yet.
    fn of(state: State) -> Row {
        Row {
            ranks: Vec::new(),
            state,
            doing: None,
            threads: 0,
            file: None,
            call: None,
            number: None,
            on: None,
            place: None,
            callers: Vec::new(),
            after: None,
            seconds: None,
            need: None,
        }
    }
}

/// What ranks need of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// In what way the others take part.
    pub kind: NeedKind,
    /// The others, ascending; of a collective those that have not come.
    pub ranks: Vec<u32>,
    /// If each needs another one: by how much the number of that is higher, or lower, around the
    /// ring of all ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Whether any of the ranks is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any: bool,
    /// The tag of a message; absent for any, or where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<i32>,
    /// The call whose operation it is: `MPI_Irecv`.
    pub call: String,
    /// How many further operations there are at most, besides this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
}

/// How far ranks have come on a communicator, window or file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// It in words.
    pub on: String,
    /// The ranks by the number of collectives that they have entered, those ahead first.
    pub entered: Vec<Entered>,
}

/// Ranks that have entered as many collectives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered {
    /// How many.
    pub number: u32,
    /// The last of them, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The ranks, ascending.
    pub ranks: Vec<u32>,
}

/// Operations that ranks have started, and do not wait for now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The ranks, ascending.
    pub ranks: Vec<u32>,
    /// Where the operations were started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What they need.
    pub need: Need,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Where paths are relative to, and whose code is not the user's.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Working directory of the run.
    pub directory: PathBuf,
    /// Directories of code that is not the user's.
    pub libraries: Vec<PathBuf>,
}

impl Context {
    fn place(&self, frame: &Frame) -> Place {
        let run = crate::Run { working_directory: self.directory.clone(), ..crate::Run::default() };
        let Frame { function, file, line, .. } = frame;
        let file = file.as_deref().map(|file| run.named(file).into_owned());
        Place { function: function.clone(), file, line: *line }
    }
}

/// A rank's answer.
struct Answer<'l> {
    log: &'l RankLog,
    waits: Vec<&'l RawWaiting<'static>>,
    threads: Vec<&'l RawThread<'static>>,
    progress: Vec<&'l RawProgress<'static>>,
}

impl<'l> Answer<'l> {
    fn of(called: &Called, logs: &'l [RankLog]) -> Option<Answer<'l>> {
        let roll_call = called.answered?;
        let of_rank = logs.iter().filter(|log| log.rank == called.rank);
        let answers = of_rank.map(|log| {
            let process = called.process;
            let is_it = |of: u32, answers: u64| (of, answers) == (process, roll_call);
            let waits = log.waits.iter().filter(|(of, waiting)| is_it(*of, waiting.roll_call));
            let threads = log.threads.iter().filter(|(of, thread)| is_it(*of, thread.roll_call));
            let progress = log.progress.iter().filter(|(of, made)| is_it(*of, made.roll_call));
            Answer {
                log,
                waits: waits.map(|(_, waiting)| waiting).collect(),
                threads: threads.map(|(_, thread)| thread).collect(),
                progress: progress.map(|(_, progress)| progress).collect(),
            }
        });
        let is_some = |answer: &Answer| {
            !(answer.waits.is_empty() && answer.threads.is_empty() && answer.progress.is_empty())
        };
        answers.into_iter().find(is_some)
    }

    fn sites(&self) -> impl Iterator<Item = (&'l RankLog, &'l RawSite<'static>)> + '_ {
        let threads = self.threads.iter().filter_map(|thread| thread.site.as_ref());
        let progress = self.progress.iter().filter_map(|progress| progress.site.as_ref());
        threads.chain(progress).map(|site| (self.log, site))
    }

    /// How many collectives it has entered, by the name of what they are called on.
    fn entered(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let progress = self.progress.iter().map(|progress| (progress.name, progress.entered));
        progress.chain(self.waits.iter().flat_map(|waiting| waiting.entered.iter().copied()))
    }
}

/// The answers of a job.
struct Answers<'l> {
    by_rank: BTreeMap<u32, Answer<'l>>,
    /// How many collectives each rank has entered, by the name of what they are called on.
    entered: HashMap<u64, HashMap<u32, u32>>,
    /// Number of ranks of the job.
    ranks: u32,
}

impl<'l> Answers<'l> {
    fn of(called: &[Called], logs: &'l [RankLog]) -> Answers<'l> {
        let answers = called.iter().filter_map(|one| Some((one.rank, Answer::of(one, logs)?)));
        let by_rank: BTreeMap<u32, Answer> = answers.collect();
        let mut entered: HashMap<u64, HashMap<u32, u32>> = HashMap::new();
        for (rank, answer) in &by_rank {
            for (name, number) in answer.entered() {
                let known = entered.entry(name).or_default().entry(*rank).or_default();
                *known = number.max(*known);
            }
        }
        Answers { by_rank, entered, ranks: called.len() as u32 }
    }

    /// The ranks that have not come to the collective that this is about, ascending.
    fn missing(&self, need: &RawNeed) -> Vec<u32> {
        let come = self.entered.get(&need.name);
        let number = |rank: u32| come.and_then(|come| come.get(&rank)).copied().unwrap_or(0);
        // A record has room for some ranks only.
        let mut ranks: Vec<u32> = match &*need.on {
            "MPI_COMM_WORLD" | "all ranks" => (0..self.ranks).collect(),
            _ => need
                .ranks
                .iter()
                .copied()
                .chain(come.into_iter().flat_map(HashMap::keys).copied())
                .collect(),
        };
        ranks.retain(|rank| number(*rank) < need.number);
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }
}

impl RollCall {
    /// What these ranks of a job have answered in their logs.
    pub fn of(called: &[Called], logs: &[RankLog], context: &Context) -> RollCall {
        let answers = Answers::of(called, logs);
        let sites = answers.by_rank.values().flat_map(Answer::sites);
        let symbols = Symbols::of(logs, sites).with_libraries(&context.libraries);
        let places = Places { symbols: &symbols, context };
        let ranks = called.len() as u32;
        let all: Vec<Row> =
            called.iter().flat_map(|called| places.rows_of(called, &answers)).collect();
        let waiting: BTreeSet<u32> = all
            .iter()
            .filter(|row| row.state == State::Waits)
            .flat_map(|row| row.ranks.iter().copied())
            .collect();
        // Who polls for others is not one that they wait for without reason, but may be next.
        let needed: BTreeSet<u32> = all
            .iter()
            .filter(|row| row.state == State::Waits)
            .filter_map(|row| row.need.as_ref())
            .filter(|need| !need.any)
            .flat_map(|need| need.ranks.iter().copied())
            .collect();
        let program = answers
            .by_rank
            .values()
            .find_map(|answer| Some(answer.log.start.as_ref()?.program.to_string()));
        RollCall {
            program,
            ranks,
            answered: answers.by_rank.len() as u32,
            rows: rows::grouped(all, ranks),
            awaited: needed.difference(&waiting).copied().collect(),
            collectives: collectives(&answers.by_rank),
            open: rows::grouped_open(places.open(&answers.by_rank), ranks),
            outside: None,
        }
    }
}

impl RollCall {
    /// Whether some rank waits for others.
    pub fn waits(&self) -> bool {
        self.rows.iter().any(|row| row.state == State::Waits)
    }
}

/// What turns sites into places.
struct Places<'s> {
    symbols: &'s Symbols,
    context: &'s Context,
}

impl Places<'_> {
    fn stack(&self, log: &RankLog, site: &RawSite) -> Vec<Place> {
        let stack = self.symbols.stack(log, site);
        // What an interpreter does itself is of no interest, and the script's frames are not known
        // while it runs.
        let users = stack.iter().filter(|frame| !is_interpreter(&frame.module));
        let places = users.map(|frame| self.context.place(frame));
        places.filter(|place| *place != Place::default()).collect()
    }

    fn rows_of(&self, called: &Called, answers: &Answers) -> Vec<Row> {
        let row =
            |state| Row { ranks: vec![called.rank], seconds: called.seconds, ..Row::of(state) };
        if called.process == 0 {
            return vec![row(State::Absent)];
        }
        let Some(answer) = answers.by_rank.get(&called.rank) else {
            let doing = match called.state {
                Some('T') => Some(Doing::Stopped),
                Some('t') => Some(Doing::Debugged),
                Some('D') => Some(Doing::WaitsForDisk),
                _ => None,
            };
            let ended = matches!(called.state, None | Some('Z' | 'X'));
            let state = if ended { State::Ended } else { State::Silent };
            return vec![Row { doing, ..row(state) }];
        };
        let log = answer.log;
        let at = |row: Row, site: Option<&RawSite<'static>>| {
            let mut stack = site.map_or_else(Vec::new, |site| self.stack(log, site)).into_iter();
            Row { place: stack.next(), callers: stack.collect(), ..row }
        };
        let mut rows = Vec::new();
        let is_waiting =
            |waiting: &&&RawWaiting| waiting.moves % 2 == 1 || !waiting.needs.is_empty();
        for waiting in answer.waits.iter().filter(is_waiting) {
            let row = at(row(State::Waits), Some(&waiting.site));
            let need = self.need(waiting, answers);
            let (number, on) = waiting
                .needs
                .iter()
                .find(|need| need.kind == NeedKind::Collective && need.number > 0)
                .map(|need| (need.number, need.on.to_string()))
                .unzip();
            let call = Some(called_by(waiting));
            rows.push(Row { call, number, on, need, ..row });
        }
        let is_in_mpi = |site: &RawSite| {
            site.frames
                .iter()
                .any(|(module, _)| is_of_mpi(&module_path(log, *module).to_string_lossy()))
        };
        let first = |thread: &&&RawThread| u32::try_from(thread.id) == Ok(called.process);
        let last = answer.waits.iter().find(|waiting| !is_waiting(waiting));
        if rows.is_empty() {
            let main = answer.threads.iter().find(first);
            let polls = last.filter(|last| last.again);
            let site = main.and_then(|main| main.site.as_ref());
            let mut row =
                at(row(if polls.is_some() { State::Polls } else { State::Outside }), site);
            row.doing = main.map(|main| main.doing);
            row.file = main.and_then(|main| main.file.as_ref()).map(ToString::to_string);
            row.call = last.map(|last| called_by(last));
            if let Some(last) = last {
                let place = self.stack(log, &last.site).into_iter().next();
                row.need = last.pending.first().map(|need| self.need_of(need, last.pending.len()));
                match polls {
                    Some(_) if row.place.is_none() || place != row.place => {
                        // The first thread may be elsewhere than where the calls are made.
                        let is_there = row.callers.iter().position(|at| Some(at) == place.as_ref());
                        row.callers = is_there.map_or(vec![], |at| row.callers[at + 1..].to_vec());
                        row.place = place;
                    }
                    Some(_) => {}
                    None => row.after = place,
                }
            }
            if row.state == State::Outside {
                row.need = None;
            }
            rows.push(row);
        }
        let others = answer.threads.iter().filter(|thread| {
            let is_main = first(thread);
            let is_users = thread.site.as_ref().is_some_and(|site| {
                let stack = self.symbols.stack(log, site);
                !is_in_mpi(site) && stack.first().is_some_and(|frame| !is_infrastructure(frame))
            });
            // If the first thread waits, the rank has no other row than that of its call.
            is_users && (!is_main || rows[0].state == State::Waits)
        });
        let others: Vec<Row> = others
            .map(|thread| {
                let file = thread.file.as_ref().map(ToString::to_string);
                let row = Row { threads: 1, seconds: None, file, ..row(State::Outside) };
                at(Row { doing: Some(thread.doing), ..row }, thread.site.as_ref())
            })
            .collect();
        rows.extend(others);
        rows
    }

    /// What a call waits for: the first operation of which some rank has not done its part.
    fn need(&self, waiting: &RawWaiting, answers: &Answers) -> Option<Need> {
        let mut needs: Vec<Need> = waiting
            .needs
            .iter()
            .map(|need| {
                let mut found = self.need_of(need, 1);
                if need.kind == NeedKind::Collective && need.name != 0 {
                    found.ranks = answers.missing(need);
                }
                found
            })
            .collect();
        let more = needs.len().saturating_sub(1) as u32;
        let at = needs.iter().position(|need| !need.ranks.is_empty()).unwrap_or(0);
        (!needs.is_empty()).then(|| Need { more, ..needs.swap_remove(at) })
    }

    fn need_of(&self, need: &RawNeed, of: usize) -> Need {
        let mut ranks = need.ranks.to_vec();
        ranks.sort_unstable();
        Need {
            kind: need.kind,
            offset: None,
            any: need.kind == NeedKind::Receive && ranks.len() > 1,
            ranks,
            tag: need.tag,
            call: need.call.to_string(),
            more: of.saturating_sub(1) as u32,
        }
    }

    fn open(&self, answers: &BTreeMap<u32, Answer>) -> Vec<Open> {
        let of_rank = answers.iter().filter_map(|(rank, answer)| {
            let waiting = answer.waits.iter().find(|waiting| !waiting.pending.is_empty())?;
            let need = waiting.pending.first()?;
            let site = need.site.as_ref();
            let place = site.and_then(|site| self.stack(answer.log, site).into_iter().next());
            let need = self.need_of(need, waiting.pending.len());
            Some(Open { ranks: vec![*rank], place, need })
        });
        of_rank.collect()
    }
}

fn called_by(waiting: &RawWaiting) -> String {
    waiting.site.call.as_deref().unwrap_or("a call").to_owned()
}

/// The communicators, windows and files on which collectives were entered: those on which ranks
/// differ first.
fn collectives(answers: &BTreeMap<u32, Answer>) -> Vec<Progress> {
    type ByNumber = BTreeMap<std::cmp::Reverse<u32>, (Option<String>, Vec<u32>)>;
    let mut all: BTreeMap<u64, (String, ByNumber)> = BTreeMap::new();
    for (rank, answer) in answers {
        for progress in &answer.progress {
            let (_, numbers) = all
                .entry(progress.name)
                .or_insert_with(|| (progress.on.to_string(), ByNumber::new()));
            let (call, ranks) = numbers.entry(std::cmp::Reverse(progress.entered)).or_default();
            let own = progress.site.as_ref().and_then(|site| site.call.as_deref());
            *call = call.take().or_else(|| own.map(str::to_owned));
            ranks.push(*rank);
        }
    }
    let used = all.into_values().filter(|(_, numbers)| numbers.keys().any(|number| number.0 > 0));
    let mut found: Vec<Progress> = used
        .map(|(on, numbers)| {
            let entered = numbers.into_iter().map(|(number, (call, ranks))| Entered {
                number: number.0,
                call,
                ranks,
            });
            Progress { on, entered: entered.collect() }
        })
        .collect();
    found.sort_by_key(|progress| (progress.entered.len() == 1, progress.on != "MPI_COMM_WORLD"));
    found
}

#[cfg(test)]
mod tests;
