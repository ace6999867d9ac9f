//! The warning that a compiler has no plugin: once a build, not once a file.
//!
//! A build is what the user typed or a script runs: the ancestor of this process that is a child of
//! its session's leader, which is a shell, a terminal's or a CI job's. Build tools may give each
//! compiler a process group of its own (ninja does), but stay in the session. The first compiler of
//! a build leaves a file in the cache that names this ancestor by number and start.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::Duration;

use crate::family::Family;
use crate::plugin::{self, Cache, Lack};

/// Warns that a compiler has no plugin, and what that means, unless this build already has.
pub fn lack(compiler: &[OsString], family: Family, lack: &Lack) {
    let name = compiler.join(OsStr::new(" "));
    if !is_first(Cache::of_user().as_ref(), &format!("{} {}", name.display(), lack.why)) {
        return;
    }
    let effect = if plugin::has_hooks(family) {
        "the code calls a function at each load and store, instead of checking inline, which makes \
         loops 2 to 100 times slower"
    } else {
        "the code is compiled unchanged, so that no load or store is checked"
    };
    eprintln!("commsan: warning: {}: {effect}", lack.why);
    eprintln!("  help: {}, and compile again", lack.cure);
}

/// Markers of builds older than this are removed.
const AGE_OF_BUILDS: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Whether no other compiler of this build has said this. If in doubt, none has.
fn is_first(cache: Option<&Cache>, what: &str) -> bool {
    let Some((cache, build)) = cache.zip(build(std::process::id())) else { return true };
    let directory = cache.directory().join("warned");
    if fs::create_dir_all(&directory).is_err() {
        return true;
    }
    let name = plugin::marker("build", &format!("{build} {what}"));
    let marked = OpenOptions::new().write(true).create_new(true).open(directory.join(name));
    match marked {
        Ok(_) => {
            forget_old(&directory);
            true
        }
        Err(error) => error.kind() != std::io::ErrorKind::AlreadyExists,
    }
}

fn forget_old(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|data| data.modified());
        let age = modified.ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        if age > AGE_OF_BUILDS {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// What Linux tells about a process in `/proc/PID/stat` (proc(5)).
struct Process {
    parent: u32,
    session: u32,
    start: u64,
}

impl Process {
    fn of(id: u32) -> Option<Process> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The program's name, in parentheses, may contain anything.
        let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Process {
            parent: field(4)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            start: field(22)?.parse().ok()?,
        })
    }
}

/// The build that a process belongs to, by number and start of the process at its top.
fn build(mut id: u32) -> Option<String> {
    let mut process = Process::of(id)?;
    while process.parent != process.session {
        let parent = Process::of(process.parent).filter(|p| p.session == process.session);
        let Some(parent) = parent else { break };
        id = process.parent;
        process = parent;
    }
    Some(format!("{id} {}", process.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_build_is_the_command_of_the_sessions_leader() {
        let id = std::process::id();
        let build_of_test = build(id).unwrap();
        // Of a child in another process group it is the same, as with ninja.
        let mut child =
            std::os::unix::process::CommandExt::process_group(Command::new("sleep").arg("60"), 0)
                .spawn()
                .unwrap();
        let build_of_child = build(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(build_of_child, Some(build_of_test));
        assert_eq!(build(0), None);
    }
}
