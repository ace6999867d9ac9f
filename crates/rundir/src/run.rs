//! The directory of one run: its name, its files, and what the launcher knows.

use crate::reader::RankLog;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Version of `run.json`.
pub const RUN_SCHEMA: u32 = 1;

/// How many numbered names are tried before giving up.
const MAX_NUMBERED: u32 = 100_000;

/// A directory that belongs to one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Creates `PROGRAM.commsan` in `parent`, or `PROGRAM.commsan-2`, `-3`, … when taken.
    ///
    /// # Errors
    /// When the directory cannot be made, e.g. for lack of permission.
    pub fn create(parent: &Path, program: &Path) -> Result<RunDirectory, RunError> {
        let name = program.file_name().unwrap_or(program.as_os_str());
        let name = name.to_string_lossy();
        for number in 1..=MAX_NUMBERED {
            let numbered = match number {
                1 => format!("{name}.commsan"),
                _ => format!("{name}.commsan-{number}"),
            };
            let path = parent.join(numbered);
            match make(&path) {
                // Making it is the test whether it is free, so that two runs started at once
                // never share one.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(RunError::new(path, Action::Create, error)),
                Ok(path) => return Ok(RunDirectory { path }),
            }
        }
        let path = parent.join(format!("{name}.commsan"));
        Err(RunError::new(path, Action::Create, io::ErrorKind::AlreadyExists.into()))
    }

    /// The directory of the latest run below `parent`; `None` if there is none.
    pub fn latest(parent: &Path) -> Option<PathBuf> {
        RunDirectory::below(parent).max().map(|(_, path)| path)
    }

    /// The directories of the runs below `parent` that have not ended, the latest first.
    pub fn running(parent: &Path) -> Vec<PathBuf> {
        let mut runs: Vec<_> = RunDirectory::below(parent).collect();
        runs.sort_unstable_by(|a, b| b.cmp(a));
        runs.retain(|(_, path)| {
            let info = RunDirectory { path: path.clone() }.read_info();
            info.is_ok_and(|info| info.ended.is_none())
        });
        runs.into_iter().map(|(_, path)| path).collect()
    }

    /// The run directories in a directory, and when their `run.json` was written.
    fn below(parent: &Path) -> impl Iterator<Item = (std::time::SystemTime, PathBuf)> {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = entry.file_name();
            let info = entry.path().join("run.json");
            let is_run = name.to_string_lossy().contains(".commsan");
            let written = is_run.then(|| info.metadata().and_then(|info| info.modified()))?.ok()?;
            Some((written, entry.path()))
        })
    }

    /// Creates the directory `path`, which must not exist yet; its parents may be missing.
    ///
    /// # Errors
    /// When it exists already or cannot be made.
    pub fn create_at(path: &Path) -> Result<RunDirectory, RunError> {
        let made = (|| {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            make(path)
        })();
        match made {
            Ok(path) => Ok(RunDirectory { path }),
            Err(error) => Err(RunError::new(path.to_owned(), Action::Create, error)),
        }
    }

    /// Opens the directory of an earlier run.
    ///
    /// # Errors
    /// When `path` is no directory or no run directory.
    pub fn open(path: &Path) -> Result<RunDirectory, RunError> {
        let entries = fs::read_dir(path)
            .map_err(|error| RunError::new(path.to_owned(), Action::Open, error))?;
        drop(entries);
        let directory = RunDirectory { path: path.to_owned() };
        let is_run = directory.run_json().exists()
            || directory.logs().is_ok_and(|logs| !logs.is_empty())
            || directory.traffic().is_ok_and(|traffic| !traffic.is_empty());
        if is_run {
            Ok(directory)
        } else {
            let error = io::Error::new(
                io::ErrorKind::InvalidInput,
                "it has no `run.json`, `rank-N.jsonl` or `rank-N.traffic`",
            );
            Err(RunError::new(path.to_owned(), Action::Open, error))
        }
    }

    /// Where it is: absolute if this process created it, else as given to [`open`](Self::open).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name alone, e.g. `app.commsan`.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Path of the log of `rank`, in the first job that has it.
    pub fn rank_log(&self, rank: u32) -> PathBuf {
        self.path.join(rank_log(rank, 1))
    }

    /// Path of what `rank` has moved, in the first job that has it.
    pub fn rank_traffic(&self, rank: u32) -> PathBuf {
        self.path.join(rank_traffic(rank, 1))
    }

    /// Path of the merged report.
    pub fn report_json(&self) -> PathBuf {
        self.path.join("report.json")
    }

    /// Path of what the launcher knows about the run.
    pub fn run_json(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// The logs that exist, as (rank, path), ascending; of a rank that several jobs have, in the
    /// order in which these began.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn logs(&self) -> Result<Vec<(u32, PathBuf)>, RunError> {
        self.of_ranks(".jsonl")
    }

    /// What ranks have moved, as (rank, path), ascending; of a rank that several jobs have, in the
    /// order in which these began.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn traffic(&self) -> Result<Vec<(u32, PathBuf)>, RunError> {
        self.of_ranks(".traffic")
    }

    /// What ranks did when, as (rank, path), in the order of [`Self::traffic`].
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn events(&self) -> Result<Vec<(u32, PathBuf)>, RunError> {
        self.of_ranks(".events")
    }

    fn of_ranks(&self, suffix: &str) -> Result<Vec<(u32, PathBuf)>, RunError> {
        let mut found = Vec::new();
        for (name, path) in self.files()? {
            let Some(numbers) =
                name.strip_prefix("rank-").and_then(|rest| rest.strip_suffix(suffix))
            else {
                continue;
            };
            let (rank, job) = numbers.split_once('.').unwrap_or((numbers, "1"));
            if let (Ok(rank), Ok(job)) = (rank.parse::<u32>(), job.parse::<u32>()) {
                found.push((rank, job, path));
            }
        }
        found.sort();
        Ok(found.into_iter().map(|(rank, _, path)| (rank, path)).collect())
    }

    /// Reads the logs of each job, in the order in which the jobs began; each ascending by rank,
    /// with the places that lie in other ranks.
    ///
    /// # Errors
    /// When the directory cannot be listed; unreadable logs are problems of their own.
    pub fn read_jobs(&self) -> Result<Vec<Vec<RankLog>>, RunError> {
        let logs = self.logs()?.into_iter();
        let logs = logs.map(|(rank, path)| RankLog::open(&path, rank)).collect();
        let mut jobs = crate::jobs::by_job(logs);
        jobs.iter_mut().for_each(|logs| crate::resolve(logs));
        Ok(jobs)
    }

    /// What processes of the job left in `notice-PID.txt`, each text once.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn notices(&self) -> Result<Vec<String>, RunError> {
        let mut notices = Vec::new();
        for (name, path) in self.files()? {
            if name.starts_with("notice-") && name.ends_with(".txt") {
                let bytes = fs::read(&path)
                    .map_err(|error| RunError::new(path.clone(), Action::Read, error))?;
                let text = String::from_utf8_lossy(&bytes);
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                notices.extend(lines.map(str::to_owned));
            }
        }
        notices.sort();
        notices.dedup();
        Ok(notices)
    }

    /// Reads `run.json`.
    ///
    /// # Errors
    /// When it is missing or not what this commsan writes.
    pub fn read_info(&self) -> Result<RunInfo, RunError> {
        let path = self.run_json();
        fs::read(&path)
            .and_then(|bytes| Ok(serde_json::from_slice(&bytes)?))
            .map_err(|error| RunError::new(path, Action::Read, error))
    }

    /// Writes `run.json`; a reader sees the old or the new one, never a part.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_info(&self, info: &RunInfo) -> Result<(), RunError> {
        let mut text = serde_json::to_string_pretty(info)
            .map_err(|error| RunError::new(self.run_json(), Action::Write, error.into()))?;
        text.push('\n');
        self.write("run.json", &text)
    }

    /// Reads `deadlocks.json`: the jobs of the run in which every rank waited forever. There are
    /// none if there is no such file.
    ///
    /// # Errors
    /// When it cannot be read, or is not what this commsan writes.
    pub fn deadlocks(&self) -> Result<Vec<Deadlock>, RunError> {
        self.read_list(DEADLOCKS)
    }

    /// Writes `deadlocks.json`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_deadlocks(&self, deadlocks: &[Deadlock]) -> Result<(), RunError> {
        self.write_list(DEADLOCKS, deadlocks)
    }

    /// Reads `last-seen.json`: where ranks were when the command ended, as far as somebody has
    /// looked.
    ///
    /// # Errors
    /// When the file cannot be read, or is not what this commsan writes.
    pub fn last_seen(&self) -> Result<Vec<Stuck>, RunError> {
        self.read_list(LAST_SEEN)
    }

    /// Writes `last-seen.json`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_last_seen(&self, ranks: &[Stuck]) -> Result<(), RunError> {
        self.write_list(LAST_SEEN, ranks)
    }

    fn read_list<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, RunError> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read
                .and_then(|bytes| Ok(serde_json::from_slice(&bytes)?))
                .map_err(|error| RunError::new(path, Action::Read, error)),
        }
    }

    fn write_list<T: Serialize>(&self, name: &str, list: &[T]) -> Result<(), RunError> {
        let text = serde_json::to_string(list)
            .map_err(|error| RunError::new(self.path.join(name), Action::Write, error.into()))?;
        self.write(name, &text)
    }

    /// Writes a file of the run directory; a reader sees the old or the new one, never a part.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), RunError> {
        let path = self.path.join(name);
        let new = self.path.join(format!(".{name}.{}", std::process::id()));
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(|error| {
            // A part of it is of no use to anyone.
            let _ = fs::remove_file(&new);
            RunError::new(path, Action::Write, error)
        })
    }

    fn files(&self) -> Result<Vec<(String, PathBuf)>, RunError> {
        let list = || -> io::Result<Vec<_>> {
            let mut files = Vec::new();
            for entry in fs::read_dir(&self.path)? {
                let entry = entry?;
                // Names with other bytes are none of ours.
                if let Ok(name) = entry.file_name().into_string() {
                    files.push((name, entry.path()));
                }
            }
            files.sort();
            Ok(files)
        };
        list().map_err(|error| RunError::new(self.path.clone(), Action::Read, error))
    }
}

/// Maximum number of jobs of a run that have files of their own; later ones share the last.
pub const MAX_JOBS: u32 = 4096;

/// Name of the file for what `rank` has moved, in the `job`-th job of a run that has such a rank.
pub fn rank_traffic(rank: u32, job: u32) -> String {
    of_rank(rank, job, "traffic")
}

/// Name of the log of `rank`, in the `job`-th job of a run that has such a rank.
pub fn rank_log(rank: u32, job: u32) -> String {
    of_rank(rank, job, "jsonl")
}

fn of_rank(rank: u32, job: u32, suffix: &str) -> String {
    match job {
        0 | 1 => format!("rank-{rank}.{suffix}"),
        _ => format!("rank-{rank}.{job}.{suffix}"),
    }
}

const DEADLOCKS: &str = "deadlocks.json";
const LAST_SEEN: &str = "last-seen.json";

/// A deadlocked job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// Its ranks, in order.
    pub ranks: Vec<Stuck>,
    /// For how many seconds none had moved when that was certain.
    pub seconds: u64,
}

/// Where a rank was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// Its number.
    pub rank: u32,
    /// Its process.
    pub process: u32,
    /// Its [`moves`](crate::record::RawWaiting::moves) then; absent if it had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<u64>,
    /// When it was first seen there, in nanoseconds since 1970 by the launcher's clock; older files
    /// do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// Makes a directory that did not exist and gives its absolute path, which stays right when the
/// program changes its working directory.
fn make(path: &Path) -> io::Result<PathBuf> {
    fs::create_dir(path)?;
    path.canonicalize()
}

/// What the launcher knows about a run: the content of `run.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`RUN_SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of commsan.
    pub commsan: String,
    /// The command line after `commsan run --`.
    pub command: Vec<String>,
    /// Working directory of the launcher; relative source paths are looked up there, too.
    #[serde(default)]
    pub directory: PathBuf,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// End of the run; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Exit code of the command; 128 + signal number if a signal ended it; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Facts about the machine that explain results, e.g. `("aslr", "2")`.
    #[serde(default)]
    pub facts: std::collections::BTreeMap<String, String>,
    /// Names of tests, by what ranks of the jobs that these have started call their jobs.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub tests: std::collections::BTreeMap<String, String>,
}

impl RunInfo {
    /// A run of `command` that starts now, in the current directory.
    pub fn new(command: Vec<String>) -> RunInfo {
        RunInfo {
            schema: RUN_SCHEMA,
            commsan: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            directory: std::env::current_dir().unwrap_or_default(),
            started: crate::time::now(),
            ..RunInfo::default()
        }
    }

    /// Notes that the command ended now with `exit`.
    pub fn end(&mut self, exit: i32) {
        self.ended = Some(crate::time::now());
        self.exit = Some(exit);
    }
}

/// What failed with a run directory. `Display` says what to do.
#[derive(Debug)]
pub struct RunError {
    path: PathBuf,
    action: Action,
    error: io::Error,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Create,
    Open,
    Read,
    Write,
}

impl RunError {
    fn new(path: PathBuf, action: Action, error: io::Error) -> RunError {
        RunError { path, action, error }
    }

    /// The kind of the underlying error.
    pub fn kind(&self) -> io::ErrorKind {
        self.error.kind()
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (verb, advice) = match (self.action, self.error.kind()) {
            (Action::Create, io::ErrorKind::AlreadyExists) => {
                ("create", "commsan never writes into an existing one: name another by `--output`")
            }
            (Action::Create, _) => ("create", "name a place that you may write to by `--output`"),
            (Action::Open, _) => ("open", "give the directory that `commsan run` wrote"),
            (Action::Read, _) => ("read", "it is written by `commsan run`"),
            (Action::Write, _) => ("write", "check permissions and free space"),
        };
        write!(f, "cannot {verb} `{}`: {}; {advice}", self.path.display(), self.error)
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_started_at_once_get_directories_of_their_own() {
        let parent = tempfile::tempdir().unwrap();
        let mut names: Vec<String> = std::thread::scope(|scope| {
            let start = || RunDirectory::create(parent.path(), Path::new("./bin/app")).unwrap();
            let runs: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            runs.into_iter().map(|run| run.join().unwrap().name()).collect()
        });
        names.sort();
        let expected = (2..=8).map(|number| format!("app.commsan-{number}"));
        assert!(names.iter().eq(&[vec!["app.commsan".to_owned()], expected.collect()].concat()));
    }

    #[test]
    fn an_existing_directory_is_never_taken_over() {
        let parent = tempfile::tempdir().unwrap();
        let error = RunDirectory::create_at(parent.path()).unwrap_err();
        assert!(error.to_string().contains("--output"), "{error}");
        let nested = RunDirectory::create_at(&parent.path().join("a/b")).unwrap();
        assert!(nested.path().is_absolute());
    }

    #[test]
    fn only_a_run_directory_opens() {
        let parent = tempfile::tempdir().unwrap();
        let error = RunDirectory::open(parent.path()).unwrap_err();
        assert!(error.to_string().contains("run.json"), "{error}");
        assert!(RunDirectory::open(&parent.path().join("absent")).is_err());
        fs::write(parent.path().join("rank-12.jsonl"), "").unwrap();
        fs::write(parent.path().join("rank-x.jsonl"), "").unwrap();
        let run = RunDirectory::open(parent.path()).unwrap();
        assert_eq!(run.logs().unwrap(), [(12, run.rank_log(12))]);
        let counted = tempfile::tempdir().unwrap();
        let files = [(0, 1), (0, 2), (0, 10), (1, 1)].map(|(rank, job)| rank_traffic(rank, job));
        assert_eq!(files[1], "rank-0.2.traffic");
        files.iter().for_each(|file| fs::write(counted.path().join(file), "").unwrap());
        fs::write(counted.path().join("rank-0.traffic.new"), "").unwrap();
        let found = RunDirectory::open(counted.path()).unwrap().traffic().unwrap();
        let paths = files.iter().map(|file| counted.path().join(file));
        assert!(found.into_iter().eq([0, 0, 0, 1].into_iter().zip(paths)));
    }

    #[test]
    fn what_the_launcher_writes_reads_back() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunDirectory::create(parent.path(), Path::new("app")).unwrap();
        assert!(run.read_info().is_err());
        let mut info = RunInfo::new(vec!["mpirun".into(), "./app".into()]);
        info.end(3);
        run.write_info(&info).unwrap();
        assert_eq!(run.read_info().unwrap(), info);
        assert_eq!(RunDirectory::running(parent.path()), [] as [PathBuf; 0]);
        let other = RunDirectory::create(parent.path(), Path::new("app")).unwrap();
        other.write_info(&RunInfo::new(vec![])).unwrap();
        assert_eq!(RunDirectory::running(parent.path()).len(), 1);
        assert_eq!(
            RunDirectory::latest(parent.path()).unwrap().file_name(),
            other.path().file_name()
        );
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1);
    }

    #[test]
    fn equal_notices_are_told_once() {
        let parent = tempfile::tempdir().unwrap();
        let run = RunDirectory::create(parent.path(), Path::new("app")).unwrap();
        fs::write(run.path().join("notice-1.txt"), "static MPI\n").unwrap();
        fs::write(run.path().join("notice-2.txt"), "static MPI\n\nother\n").unwrap();
        assert_eq!(run.notices().unwrap(), ["other", "static MPI"]);
    }
}
