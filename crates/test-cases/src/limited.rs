//! Commands with a time limit, after which they and all they have started are ended.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a process group has to end after `SIGTERM`, and again after `SIGKILL`.
const GRACE: Duration = Duration::from_secs(5);

/// How a command ended, and what it printed.
pub struct Ended {
    /// `None` if it was still running at the limit.
    pub status: Option<ExitStatus>,
    /// Standard output and standard error, mixed as they came.
    pub output: String,
    /// How long it ran.
    pub time: Duration,
}

/// Runs a command in a process group of its own, to its end or to the limit. Its output is kept in
/// the file `log`.
///
/// # Errors
///
/// The command cannot be started, or the file cannot be written; the text names both.
pub fn run(command: &mut Command, log: &Path, limit: Duration) -> Result<Ended, String> {
    let failed = |error: std::io::Error| {
        format!("{} (log {}): {error}", command.get_program().to_string_lossy(), log.display())
    };
    let file = File::create(log).map_err(failed)?;
    let copy = file.try_clone().map_err(failed)?;
    command.stdin(Stdio::null()).stdout(file).stderr(copy).process_group(0);
    let start = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    let status = wait(&mut child, start + limit);
    let time = start.elapsed();
    if status.is_none() {
        end(&mut child);
    }
    let output = std::fs::read(log).unwrap_or_default();
    Ok(Ended { status, output: String::from_utf8_lossy(&output).into_owned(), time })
}

fn wait(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            _ => return None,
        }
    }
}

/// Ends a process group: a launcher gets a moment to end its ranks, which have groups of their own.
fn end(child: &mut Child) {
    let group = -(child.id() as libc::pid_t);
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        // SAFETY: `kill` takes no memory; the group is the child's, which has not been reaped.
        unsafe { libc::kill(group, signal) };
        if wait(child, Instant::now() + GRACE).is_some() {
            break;
        }
    }
}
