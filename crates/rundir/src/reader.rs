//! Reads a rank's log, whatever state the run left it in.
//!
//! A rank may be killed at any byte, a disk may fill, and two programs may have written to one
//! log in turn. Nothing of that makes the rest unreadable: what was understood is kept, what was
//! not becomes a [`Problem`] that says what to do.

mod older;

use crate::record::{
    self, End, Guarded, RawFinding, RawMessages, RawParts, RawProgress, RawRace, RawSite,
    RawThread, RawUse, RawWaiting, Record, Start,
};
use commsan_findings::Step;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Longest line taken for a record. Real ones are a few KiB; without a limit, a log of zeroes,
/// as some file systems leave after a crash, would be read into memory as one line.
const MAX_LINE: usize = 1 << 20;

/// An executable or library, or a function of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub path: PathBuf,
    /// The function, if it is a script: frames have lines for offsets.
    pub function: Option<String>,
}

impl From<&str> for Origin {
    fn from(path: &str) -> Origin {
        Origin { path: PathBuf::from(path), function: None }
    }
}

/// Everything one rank wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankLog {
    /// Rank in `MPI_COMM_WORLD`, by the log's `start`, else by the file name.
    pub rank: u32,
    /// Who wrote the log; absent when the rank never got through `MPI_Init`.
    pub start: Option<Start<'static>>,
    /// Where code is; frames index it.
    pub modules: Vec<Origin>,
    /// Findings in the order of their first observation.
    pub findings: Vec<Observed>,
    /// RMA calls that findings of other ranks refer to, by number.
    pub sites: HashMap<(Job, u32), RawSite<'static>>,
    /// Uses of variables by calls. Their places hold indices of [`RankLog::modules`].
    pub uses: Vec<RawUse<'static>>,
    /// The messages that it has sent and received in each program that has come to its end.
    pub messages: HashMap<Job, Messages>,
    /// Where it waited when it was asked, and as which process, in this order.
    pub waits: Vec<(u32, RawWaiting<'static>)>,
    /// Its further answers to roll calls, likewise: what its threads did, and how far it had come
    /// on communicators.
    pub threads: Vec<(u32, RawThread<'static>)>,
    /// See [`RankLog::threads`].
    pub progress: Vec<(u32, RawProgress<'static>)>,
    /// What it had counted when it last wrote that, by key; absent if it was not asked to.
    pub stats: Option<BTreeMap<String, u64>>,
    /// What guards have watched; absent if there were none.
    pub guarded: Option<Guarded>,
    /// What the rank wanted the user to know.
    pub notes: Vec<String>,
    /// Why the rank was not checked, if so.
    pub unchecked: Option<String>,
    /// How the rank ended; absent when it was killed.
    pub end: Option<End>,
    /// What could not be read, and why.
    pub problems: Vec<Problem>,
}

/// A finding with what later records said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The first observation. Its frames hold indices of [`RankLog::modules`].
    pub finding: RawFinding<'static>,
    /// Observations in this rank.
    pub count: u64,
    /// Where the pending operation was completed, if it was.
    pub completed: Option<RawSite<'static>>,
    /// The program that the rank was running.
    pub job: Job,
}

/// The messages of one rank in one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Names of communicators whose messages were counted.
    pub names: HashSet<u64>,
    /// Names of communicators of which some messages were not counted.
    pub unbalanced: HashSet<u64>,
    /// The messages. Frames hold indices of [`RankLog::modules`].
    pub counted: Vec<RawMessages<'static>>,
    /// Receives that may wait forever. Frames hold indices of [`RankLog::modules`].
    pub races: Vec<RawRace<RawSite<'static>>>,
    /// Parts of collectives. Frames hold indices of [`RankLog::modules`].
    pub parts: Vec<RawParts<'static>>,
    /// The rank's communication steps, for which others may wait.
    pub steps: Steps,
}

/// What a rank has done first that others may wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Communicators that steps name.
    pub comms: Vec<Comm>,
    /// In order, at places in [`RankLog::sites`].
    pub all: Vec<Step>,
    /// How many of them come before the first that timing may decide, and before something that may
    /// order ranks and is no step; `None` for all.
    pub timing: Option<(u32, u32)>,
}

impl Steps {
    /// Those that are the same in any run with the same input.
    pub fn sure(&self) -> &[Step] {
        self.first(self.timing.map(|(sure, _)| sure))
    }

    /// Those before which nothing but steps has ordered this rank with others.
    pub fn ordered(&self) -> &[Step] {
        self.first(self.timing.map(|(_, ordered)| ordered))
    }

    fn first(&self, count: Option<u32>) -> &[Step] {
        &self.all[..count.map_or(self.all.len(), |count| self.all.len().min(count as usize))]
    }
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comm {
    /// Identifier of the communicator, equal in all ranks.
    pub name: u64,
    /// In words.
    pub on: String,
    /// Ranks in `MPI_COMM_WORLD`.
    pub members: Vec<u32>,
}

impl Messages {
    /// All places.
    pub fn sites(&self) -> impl Iterator<Item = &RawSite<'static>> {
        let races = self.races.iter().flat_map(|race| {
            let used = race.used.as_ref().map(|(_, used)| used);
            [&race.taker, &race.left].into_iter().chain(used)
        });
        let counted = self.counted.iter().map(|counted| &counted.site);
        counted.chain(self.parts.iter().map(|parts| &parts.site)).chain(races)
    }
}

/// Identifies a program of a job script, alike in all of its ranks: the size of
/// `MPI_COMM_WORLD`, and how many programs of this size ran before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Job {
    size: u32,
    earlier: u32,
}

impl RankLog {
    /// Reads the log at `path`, of rank `rank` by its name.
    pub fn open(path: &Path, rank: u32) -> RankLog {
        match File::open(path) {
            Ok(file) => RankLog::read(BufReader::new(file), rank),
            Err(error) => RankLog {
                rank,
                problems: vec![Problem::Unreadable(error.to_string())],
                ..RankLog::default()
            },
        }
    }

    /// Reads of a log only who has written it, and the answer of a process to a roll call: much
    /// less than all, while many ranks run.
    pub fn open_answers(path: &Path, rank: u32, process: u32, roll_call: u64) -> RankLog {
        let mut log = RankLog { rank, ..RankLog::default() };
        let Ok(file) = File::open(path) else { return log };
        let mut records = Records::new(BufReader::new(file));
        records.only = Some(&ANSWERS);
        let mut ids = Ids::default();
        records.flatten().for_each(|record| log.take(record, &mut ids));
        let is_it = |of: u32, answers: u64| (of, answers) == (process, roll_call);
        log.waits.retain(|(of, waiting)| is_it(*of, waiting.roll_call));
        log.threads.retain(|(of, thread)| is_it(*of, thread.roll_call));
        log.progress.retain(|(of, progress)| is_it(*of, progress.roll_call));
        log
    }

    /// Reads a log from `input`; `rank` is used until the log's `start` record gives its own.
    pub fn read(input: impl BufRead, rank: u32) -> RankLog {
        let mut log = RankLog { rank, ..RankLog::default() };
        let mut ids = Ids::default();
        for record in Records::new(input) {
            match record {
                Ok(record) => log.take(record, &mut ids),
                Err(problem) => log.problem(problem),
            }
        }
        if log.start.is_none() && log.problems.is_empty() {
            log.problems.push(Problem::NoStart);
        }
        log
    }

    fn take(&mut self, record: Record<'static>, ids: &mut Ids) {
        match record {
            Record::Start(start) => {
                // Another program of the same job script: its numbers start anew.
                ids.start(start.size);
                self.end = None;
                self.stats = None;
                if start.version > record::VERSION {
                    self.problem(Problem::Newer { version: start.version });
                }
                self.rank = start.rank;
                self.start = Some(start);
            }
            Record::Module(module) => {
                let function = module.function.map(Cow::into_owned);
                let origin = Origin { function, ..Origin::from(&*module.path) };
                ids.modules.insert(module.id, self.add_module(origin));
            }
            Record::Finding(mut finding) => {
                older::complete(&mut finding);
                for site in finding.sites.to_mut() {
                    self.resolve_modules(site, ids);
                }
                ids.findings.insert(finding.id, self.findings.len());
                self.findings.push(Observed { finding, count: 1, completed: None, job: ids.job });
            }
            Record::Use(mut used) => {
                for site in used.finding.sites.to_mut() {
                    self.resolve_modules(site, ids);
                }
                older::describe(&mut used);
                let locate = |(module, offset)| Some((self.resolve_module(module, ids), offset));
                if let Some(variable) = used.variable.locate(locate) {
                    self.uses.push(RawUse { variable, ..used });
                }
            }
            Record::Again { id, count } => {
                if let Some(&index) = ids.findings.get(&id) {
                    let observed = &mut self.findings[index];
                    observed.count = observed.count.max(count);
                }
            }
            Record::Completed { id, mut site } => {
                if let Some(&index) = ids.findings.get(&id) {
                    self.resolve_modules(&mut site, ids);
                    self.findings[index].completed.get_or_insert(site);
                }
            }
            Record::Site { id, mut site } => {
                self.resolve_modules(&mut site, ids);
                self.sites.insert((ids.job, id), site);
            }
            Record::Balance { names, unbalanced } => {
                let messages = self.messages.entry(ids.job).or_default();
                messages.names.extend(names.iter());
                messages.unbalanced.extend(unbalanced.iter());
            }
            Record::Messages(mut counted) => {
                self.resolve_modules(&mut counted.site, ids);
                self.messages.entry(ids.job).or_default().counted.push(counted);
            }
            Record::Race(mut race) => {
                self.resolve_modules(&mut race.taker, ids);
                self.resolve_modules(&mut race.left, ids);
                if let Some((_, used)) = &mut race.used {
                    self.resolve_modules(used, ids);
                }
                self.messages.entry(ids.job).or_default().races.push(race);
            }
            Record::Known { used } => {
                let races = &mut self.messages.entry(ids.job).or_default().races;
                races.retain(|race| race.used.as_ref().is_none_or(|(number, _)| *number != used));
            }
            Record::Communicator { name, on, members } => {
                let comms = &mut self.messages.entry(ids.job).or_default().steps.comms;
                match comms.last_mut().filter(|comm| comm.name == name) {
                    Some(known) => known.members.extend(&*members),
                    None => comms.push(Comm {
                        name,
                        on: on.into_owned(),
                        members: members.into_owned(),
                    }),
                }
            }
            Record::Steps { steps } => {
                self.messages.entry(ids.job).or_default().steps.all.extend(&*steps);
            }
            Record::Withdrawn { id } => {
                // What repeats it is no finding either.
                if let Some(index) = ids.findings.remove(&id) {
                    self.findings[index].count = 0;
                }
            }
            Record::Timing { sure, ordered } => {
                let steps = &mut self.messages.entry(ids.job).or_default().steps;
                steps.timing = Some((sure, ordered));
            }
            Record::Parts(mut parts) => {
                self.resolve_modules(&mut parts.site, ids);
                self.messages.entry(ids.job).or_default().parts.push(parts);
            }
            Record::Waiting(mut waiting) => {
                self.resolve_modules(&mut waiting.site, ids);
                let operations = waiting.needs.to_mut().iter_mut();
                for need in operations.chain(waiting.pending.to_mut()) {
                    if let Some(site) = &mut need.site {
                        self.resolve_modules(site, ids);
                    }
                }
                self.waits.push((self.process(), waiting));
            }
            Record::Thread(mut thread) => {
                if let Some(site) = &mut thread.site {
                    self.resolve_modules(site, ids);
                }
                self.threads.push((self.process(), thread));
            }
            Record::Progress(mut progress) => {
                if let Some(site) = &mut progress.site {
                    self.resolve_modules(site, ids);
                }
                self.progress.push((self.process(), progress));
            }
            Record::Stats { counts } => {
                let counts = counts.iter().map(|(key, count)| (key.to_string(), *count));
                self.stats.get_or_insert_default().extend(counts);
            }
            Record::Guarded(guarded) => self.guarded = Some(guarded),
            Record::Note { text } => self.notes.push(text.into_owned()),
            Record::Unchecked { why } => self.unchecked = Some(why.into_owned()),
            Record::End(end) => self.end = Some(end),
        }
    }

    /// The process that writes.
    fn process(&self) -> u32 {
        self.start.as_ref().map_or(0, |start| start.pid)
    }

    fn add_module(&mut self, origin: Origin) -> u32 {
        self.modules.push(origin);
        // One entry a record of at least ten bytes: a log of 2^32 modules has over 40 GiB.
        u32::try_from(self.modules.len() - 1).unwrap_or(u32::MAX)
    }

    /// The index of this module.
    pub(crate) fn module(&mut self, origin: Origin) -> u32 {
        match self.modules.iter().position(|module| *module == origin) {
            Some(index) => index as u32,
            None => self.add_module(origin),
        }
    }

    fn resolve_modules(&mut self, site: &mut RawSite<'static>, ids: &mut Ids) {
        for (module, _) in site.frames.to_mut() {
            *module = self.resolve_module(*module, ids);
        }
    }

    fn resolve_module(&mut self, module: u32, ids: &mut Ids) -> u32 {
        ids.modules.get(&module).copied().unwrap_or_else(|| {
            let index = self.add_module(Origin::from(&*format!("unknown-module-{module}")));
            ids.modules.insert(module, index);
            index
        })
    }

    /// Adds a problem; damaged lines are one problem however many they are.
    fn problem(&mut self, problem: Problem) {
        if let Problem::Damaged { .. } = problem {
            for known in &mut self.problems {
                if let Problem::Damaged { lines, .. } = known {
                    *lines += 1;
                    return;
                }
            }
        }
        self.problems.push(problem);
    }
}

/// What the numbers in a log mean at the current line.
#[derive(Default)]
struct Ids {
    modules: HashMap<u32, u32>,
    findings: HashMap<u32, usize>,
    job: Job,
    /// Programs of each size so far.
    started: HashMap<u32, u32>,
}

impl Ids {
    fn start(&mut self, size: u32) {
        let started = self.started.entry(size).or_default();
        self.job = Job { size, earlier: *started };
        *started += 1;
        self.modules.clear();
        self.findings.clear();
    }
}

/// How the lines begin that [`RankLog::open_answers`] reads.
const ANSWERS: [&[u8]; 5] = [
    b"{\"t\":\"start\"",
    b"{\"t\":\"module\"",
    b"{\"t\":\"waiting\"",
    b"{\"t\":\"thread\"",
    b"{\"t\":\"progress\"",
];

/// The records of a log, one at a time.
pub struct Records<R> {
    input: R,
    line: u64,
    done: bool,
    /// How lines begin that are read, if not all are.
    only: Option<&'static [&'static [u8]]>,
}

impl<R: BufRead> Records<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Records { input, line: 0, done: false, only: None }
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Result<Record<'static>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let mut bytes = Vec::new();
            self.line += 1;
            let ending = match read_line(&mut self.input, &mut bytes) {
                Ok(ending) => ending,
                Err(error) => {
                    self.done = true;
                    return Some(Err(Problem::Unreadable(error.to_string())));
                }
            };
            self.done = ending == Ending::File;
            if bytes.iter().all(u8::is_ascii_whitespace) && ending != Ending::Cut {
                continue;
            }
            let is_wanted = |only: &[&[u8]]| only.iter().any(|begin| bytes.starts_with(begin));
            if !self.only.is_none_or(is_wanted) {
                continue;
            }
            return Some(match serde_json::from_slice(&bytes) {
                Ok(record) => Ok(record),
                Err(_) if ending == Ending::File => Err(Problem::Truncated { line: self.line }),
                Err(error) => {
                    Err(Problem::Damaged { first: self.line, lines: 1, error: error.to_string() })
                }
            });
        }
        None
    }
}

#[derive(PartialEq)]
enum Ending {
    Newline,
    /// The line was too long; `bytes` has its beginning only.
    Cut,
    File,
}

/// Reads up to the next newline into `bytes`, keeping at most [`MAX_LINE`] bytes.
fn read_line(input: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<Ending> {
    let mut cut = false;
    loop {
        let available = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            available => available?,
        };
        let newline = available.iter().position(|&byte| byte == b'\n');
        let part = &available[..newline.unwrap_or(available.len())];
        let at_end = available.is_empty();
        let room = MAX_LINE - bytes.len();
        cut |= part.len() > room;
        bytes.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(newline.is_some());
        input.consume(used);
        if newline.is_some() {
            return Ok(if cut { Ending::Cut } else { Ending::Newline });
        }
        if at_end {
            return Ok(Ending::File);
        }
    }
}

/// Something that kept a log from being read whole. `Display` says what was lost and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file cannot be opened or read on.
    Unreadable(String),
    /// The log does not say who wrote it.
    NoStart,
    /// The log comes from a newer commsan.
    Newer {
        /// Format version of the log.
        version: u32,
    },
    /// Lines that are not records.
    Damaged {
        /// Number of the first, from 1.
        first: u64,
        /// How many.
        lines: u64,
        /// What is wrong with the first.
        error: String,
    },
    /// The last line is not whole.
    Truncated {
        /// Its number, from 1.
        line: u64,
    },
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::Unreadable(error) => write!(
                f,
                "the log cannot be read ({error}); check the permissions of the run directory and \
                 that its file system is still mounted"
            ),
            Problem::NoStart => {
                write!(f, "the log is empty: the rank ended during MPI_Init or the disk is full")
            }
            Problem::Newer { version } => write!(
                f,
                "the log has format {version}, this commsan reads up to format {}: use the commsan \
                 that ran the program, or a newer one; what could be understood is shown",
                record::VERSION
            ),
            Problem::Damaged { first, lines: 1, error } => write!(
                f,
                "line {first} of the log is damaged and was skipped ({error}); findings may be \
                 missing, so run the program again"
            ),
            Problem::Damaged { first, lines, error } => write!(
                f,
                "{lines} lines of the log are damaged and were skipped, the first is line {first} \
                 ({error}); findings may be missing, so run the program again"
            ),
            Problem::Truncated { line } => write!(
                f,
                "the log breaks off in line {line}: the rank was killed or the disk is full; \
                 everything before is shown"
            ),
        }
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"{"t":"start","version":1,"rank":2,"size":4,"pid":1,"host":"h","mpi":"Open MPI 4.1.4","program":"/bin/app","instrumented":true}"#;
    const FINDING: &str = r#"{"t":"finding","id":0,"code":"CS-REQ-01","operation":{"call":"MPI_Isend","write":false,"addr":1,"size":8,"bytes":8},"sites":[{"role":"operation","call":"MPI_Isend","thread":0,"frames":[[7,4096]]}]}"#;
    const END: &str = r#"{"t":"end","how":"finalized","dropped":0}"#;

    fn read(lines: &[&str]) -> RankLog {
        RankLog::read(lines.join("\n").as_bytes(), 9)
    }

    #[test]
    fn records_about_a_finding_are_joined() {
        let module = r#"{"t":"module","id":7,"path":"/bin/app"}"#;
        let again = r#"{"t":"again","id":0,"count":64}"#;
        let done = r#"{"t":"completed","id":0,"site":{"role":"completion","call":"MPI_Wait","thread":1,"frames":[[7,8192]]}}"#;
        let log = read(&[START, module, FINDING, again, done, END, ""]);
        assert_eq!(log.problems, []);
        assert_eq!(log.rank, 2);
        assert_eq!(log.modules, [Origin::from("/bin/app")]);
        assert_eq!(log.findings[0].count, 64);
        assert_eq!(log.findings[0].finding.sites[0].frames, [(0, 4096)].as_slice());
        assert_eq!(log.findings[0].completed.as_ref().unwrap().frames, [(0, 8192)].as_slice());
        assert!(log.end.is_some());
    }

    #[test]
    fn damage_costs_the_damaged_lines_only() {
        let log = read(&[START, "\u{1}nonsense", FINDING, r#"{"t":"later"}"#, END, r#"{"t":"en"#]);
        assert_eq!(log.findings.len(), 1);
        assert!(log.end.is_some());
        assert!(matches!(log.problems[0], Problem::Damaged { first: 2, lines: 2, .. }));
        assert_eq!(log.problems[1], Problem::Truncated { line: 6 });
    }

    #[test]
    fn later_counts_replace_earlier_ones() {
        let before = r#"{"t":"stats","counts":[["a.b",1],["a.c",5]]}"#;
        let after = r#"{"t":"stats","counts":[["a.b",2],["later.than.this",3]]}"#;
        let log = read(&[START, before, after]);
        assert_eq!(log.problems, []);
        let counts = [("a.b", 2), ("a.c", 5), ("later.than.this", 3)];
        let counts = counts.map(|(key, count)| (key.to_owned(), count));
        assert_eq!(log.stats, Some(BTreeMap::from(counts)));
        assert_eq!(read(&[START, END]).stats, None);
    }

    #[test]
    fn an_empty_log_says_so() {
        assert_eq!(read(&[]).problems, [Problem::NoStart]);
        assert_eq!(read(&[]).rank, 9);
    }

    #[test]
    fn a_newer_log_is_read_as_far_as_it_is_understood() {
        let log = read(&[&START.replace("\"version\":1", "\"version\":99"), FINDING]);
        assert_eq!(log.problems, [Problem::Newer { version: 99 }]);
        assert_eq!(log.findings.len(), 1);
    }

    #[test]
    fn a_second_program_in_the_same_log_has_its_own_numbers() {
        let module = |path| format!(r#"{{"t":"module","id":7,"path":"{path}"}}"#);
        let (one, two) = (module("/one"), module("/two"));
        let log = read(&[START, &one, FINDING, END, START, &two, FINDING]);
        let places: Vec<_> = log.findings.iter().map(|f| f.finding.sites[0].frames[0].0).collect();
        assert_eq!(places, [0, 1]);
        assert_eq!(log.modules, [Origin::from("/one"), Origin::from("/two")]);
        assert_eq!(log.end, None);
    }

    #[test]
    fn an_endless_line_is_not_kept_in_memory() {
        let zeroes = io::BufReader::new(io::Read::take(io::repeat(0), 5 << 20));
        let log = RankLog::read(zeroes, 0);
        assert_eq!(log.problems, [Problem::Truncated { line: 1 }]);
    }
}
