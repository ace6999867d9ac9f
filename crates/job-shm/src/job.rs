//! A job as its launcher sees it: on this node through the memory of its ranks, on several nodes
//! through their relays.

use crate::bootstrap::read;
use crate::connection::Connection;
use crate::process::{AT_ONCE, Process, Seen, Status, ancestors, launcher};
use crate::wire::{self, Question};
use crate::{Launcher, Memory, Rendezvous, launchers, nodes};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Bytes per second that any node transfers internally, whatever else it does, and that any network
/// transfers between nodes.
const SLOWEST: u64 = 50_000_000;
const SLOWEST_BETWEEN_NODES: u64 = 2_000_000;

/// A job of a run, as its launcher sees it.
pub struct Job {
    name: OsString,
    rendezvous: Rendezvous,
    ranks: Ranks,
    /// The launcher and the ranks, once they were asked to end.
    asked: Vec<Process>,
}

enum Ranks {
    /// On this node: the process that created the memory, the first rank.
    Here(libc::pid_t),
    /// On several nodes.
    OnNodes(NodeRanks),
}

/// The ranks of several nodes; the rendezvous here is a copy of theirs.
struct NodeRanks {
    directory: PathBuf,
    job: String,
    known: Vec<String>,
    nodes: Vec<Connection>,
    seen: Vec<Option<Seen>>,
    /// Ranks whose processes are on this machine.
    here: Vec<usize>,
    /// A node has not answered: what is known of it is outdated.
    is_blind: bool,
}

/// The jobs of a run that are not known yet: on this node, or on several.
pub fn jobs(directory: &Path, mut known: impl FnMut(&OsStr) -> bool) -> Vec<Job> {
    let mut found: Vec<Job> = Vec::new();
    for file in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (place, name) = (file.path(), file.file_name());
        let is_draft = place.extension().is_some();
        let text = name.to_string_lossy();
        let node_job = nodes::job_of(&text).map(|job| OsString::from(nodes::prefix(job)));
        let name = node_job.clone().unwrap_or_else(|| name.clone());
        let is_known = known(&name) || found.iter().any(|job| job.name == name);
        if is_draft || is_known || node_job.is_none() && !text.starts_with("job-") {
            continue;
        }
        found.extend(match nodes::job_of(&text) {
            Some(job) => Job::open_on_nodes(&place, job, name),
            None => Job::open(&place, name),
        });
    }
    found
}

impl Job {
    fn open(place: &Path, name: OsString) -> Option<Job> {
        let (path, ranks) = read(place)?;
        let process = path.strip_prefix("/proc/")?.split_once('/')?.0.parse().ok()?;
        // The memory of a process that has ended is gone; its ranks show as not attached.
        let memory = match Status::of(process).filter(|status| !status.has_ended()) {
            Some(_) => Memory::open(&path, ranks).ok()?,
            None => Memory::create(ranks).ok()?.0,
        };
        Some(Job {
            name,
            rendezvous: memory.rendezvous(),
            ranks: Ranks::Here(process),
            asked: Vec::new(),
        })
    }

    fn open_on_nodes(place: &Path, job: &str, name: OsString) -> Option<Job> {
        let ranks = nodes::ranks(place)?;
        let nodes = NodeRanks {
            directory: place.parent()?.to_owned(),
            job: job.to_owned(),
            known: Vec::new(),
            nodes: Vec::new(),
            seen: vec![None; ranks],
            here: Vec::new(),
            is_blind: false,
        };
        let rendezvous = Memory::create(ranks).ok()?.0.rendezvous();
        Some(Job { name, rendezvous, ranks: Ranks::OnNodes(nodes), asked: Vec::new() })
    }

    /// The name of the job's file, or the common prefix of its nodes' files.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// The state of its ranks as of the last [look](Self::look).
    pub fn rendezvous(&self) -> Rendezvous {
        self.rendezvous
    }

    /// Updates the state of the ranks; false if some of them cannot be seen.
    pub fn look(&mut self) -> bool {
        match &mut self.ranks {
            Ranks::Here(_) => {
                self.rendezvous.observe();
                true
            }
            Ranks::OnNodes(nodes) => {
                nodes.is_blind = nodes.is_blind || nodes.look(self.rendezvous).is_err();
                !nodes.is_blind
            }
        }
    }

    /// The state of a rank's process.
    pub fn seen(&self, rank: usize, process: u32) -> Option<Seen> {
        match &self.ranks {
            Ranks::Here(_) => Seen::of(process),
            Ranks::OnNodes(nodes) => nodes.seen.get(rank).copied().flatten(),
        }
    }

    /// Asks all ranks what they wait for.
    pub fn ask(&mut self) {
        match &mut self.ranks {
            Ranks::Here(_) => self.rendezvous.ask(),
            Ranks::OnNodes(nodes) => {
                let asked = nodes
                    .nodes
                    .iter_mut()
                    .try_for_each(|node| node.ask(Question::Ask, &[]).map(drop));
                nodes.is_blind |= asked.is_err();
            }
        }
    }

    /// Calls the roll; returns for each rank the number under which it answers, or `None` if it
    /// cannot be asked.
    pub fn call_roll(&mut self) -> Vec<Option<u64>> {
        match &mut self.ranks {
            Ranks::Here(_) => {
                let number = self.rendezvous.call_roll();
                let attached = self.rendezvous.processes().map(|process| process != 0);
                attached.map(|is_attached| is_attached.then_some(number)).collect()
            }
            Ranks::OnNodes(nodes) => {
                let called = nodes.call_roll();
                nodes.is_blind |= called.is_err();
                called.unwrap_or_else(|_| vec![None; nodes.seen.len()])
            }
        }
    }

    /// Bytes per second that are certainly transferred between its ranks.
    pub fn slowest(&self) -> u64 {
        if matches!(self.ranks, Ranks::Here(_)) { SLOWEST } else { SLOWEST_BETWEEN_NODES }
    }

    /// Asks the launcher to end the job, or if there is none to ask, the ranks on this machine.
    pub fn ask_to_end(&mut self) {
        let outermost =
            |rank| ancestors(rank).filter(|(number, status)| status.ends_jobs(*number)).last();
        let above = self.processes().find_map(outermost).map(|(number, _)| number);
        let launcher = above.or_else(launcher);
        // Scripts around it may go on when it has ended.
        let starts = |(number, status): &(libc::pid_t, Status)| {
            status.launches() && !status.is_service() && Some(*number) != launcher
        };
        let scripts: Vec<_> = self
            .processes()
            .next()
            .into_iter()
            .flat_map(|rank| ancestors(rank).filter(starts))
            .collect();
        let scripts = scripts.into_iter().map(|(number, _)| number);
        let all = launcher.into_iter().chain(self.processes()).chain(scripts);
        self.asked = all.filter_map(Process::of).collect();
        let told = if launcher.is_some() { 1 } else { self.processes().count() };
        for process in self.asked.iter().take(told) {
            process.signal(libc::SIGTERM);
        }
    }

    /// Asks the ranks below this process to end, whose launcher then ends the others.
    pub fn ask_own_to_end(&mut self) {
        let own = std::process::id().cast_signed();
        let is_below = |rank: &libc::pid_t| ancestors(*rank).any(|(number, _)| number == own);
        self.asked = self.processes().filter(is_below).filter_map(Process::of).collect();
        for process in &self.asked {
            process.signal(libc::SIGTERM);
        }
    }

    /// Ends what is left of a job whose launcher does not when one of its ranks ends in an error:
    /// by the launcher's own command, which would end this process, too, if it did not ignore the
    /// request, and on this machine by asking the ranks; or by ending this process as the launcher
    /// expects it. Daemons of resource managers are left alone.
    pub fn end_others(&self) {
        let Some(launcher) = Launcher::of_this_rank() else { return };
        if launcher.ends_by_signal() && matches!(self.ranks, Ranks::OnNodes(_)) {
            // SAFETY: a disposition without a handler, and a signal to this process.
            unsafe {
                libc::signal(libc::SIGTERM, libc::SIG_DFL);
                libc::raise(libc::SIGTERM);
            }
        }
        let Some(command) = launcher.cancel() else { return };
        // SAFETY: a disposition without a handler.
        unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
        // Where it cannot be run, or does not reach its daemon, the ranks here end all the same.
        let _ = launchers::run(&command);
        for process in self.processes().filter_map(Process::of) {
            process.signal(libc::SIGTERM);
        }
    }

    /// The name of the launcher, if it sleeps though all ranks have ended and one of them waits for
    /// it to collect its exit code. It may do so for a moment. Launchers that first wait until no
    /// process can write any more prove nothing by it. For jobs on several nodes this is not known.
    pub fn sleeping_launcher(&self) -> Option<String> {
        let Ranks::Here(_) = self.ranks else { return None };
        let ranks: Vec<_> = self.processes().filter_map(Status::of).collect();
        if !ranks.iter().all(Status::has_ended) {
            return None;
        }
        let mut parents = ranks.iter().filter_map(|rank| Status::of(rank.parent));
        let sees = |parent: &Status| AT_ONCE.iter().any(|known| parent.name.starts_with(known));
        parents.find(|parent| parent.state == 'S' && sees(parent)).map(|parent| parent.name)
    }

    /// Processes of ranks on this machine.
    fn processes(&self) -> impl Iterator<Item = libc::pid_t> {
        let (first, here) = match &self.ranks {
            Ranks::Here(process) => (Some(*process), None),
            Ranks::OnNodes(nodes) => (None, Some(&nodes.here)),
        };
        // Ranks that are not attached have no process.
        let all = self.rendezvous.processes().map(u32::cast_signed).enumerate();
        let known = all.filter(move |(rank, process)| {
            *process > 0 && Some(*process) != first && here.is_none_or(|here| here.contains(rank))
        });
        first.into_iter().chain(known.map(|(_, process)| process))
    }

    /// Kills what is left of a job that was asked to end; returns whether anything was.
    pub fn kill(&self) -> bool {
        let killed = self.asked.iter().filter(|process| process.signal(libc::SIGKILL));
        killed.count() > 0
    }
}

impl NodeRanks {
    fn call_roll(&mut self) -> io::Result<Vec<Option<u64>>> {
        let mut numbers = vec![None; self.seen.len()];
        for node in &mut self.nodes {
            let number = node.ask(Question::RollCall, &[])?.first().copied();
            for rank in node.ask(Question::Members, &[])? {
                *numbers.get_mut(rank as usize).ok_or(ErrorKind::InvalidData)? = number;
            }
        }
        Ok(numbers)
    }

    fn look(&mut self, rendezvous: Rendezvous) -> io::Result<()> {
        if rendezvous.processes().any(|process| process == 0) {
            let new = nodes::look(&self.directory, &self.job, self.seen.len(), &mut self.known);
            self.nodes.extend(new);
        }
        let (home, mut mismatches) = (crate::process::pid_namespace(), 0);
        self.here.clear();
        for node in &mut self.nodes {
            let answer = node.ask(Question::Look, &[])?;
            let [of, more, rest @ ..] = &answer[..] else {
                return Err(ErrorKind::InvalidData.into());
            };
            mismatches += more;
            for [rank, words @ .., state, ran] in rest.as_chunks::<{ wire::LOOKED }>().0 {
                let place = usize::try_from(*rank).ok().filter(|rank| *rank < self.seen.len());
                let rank = place.ok_or(ErrorKind::InvalidData)?;
                rendezvous.copy(rank, words);
                let state = char::from_u32(*state as u32).filter(|state| *state != '\0');
                self.seen[rank] = state.map(|state| Seen { state, ran: ran.checked_sub(1) });
                if *of == home {
                    self.here.push(rank);
                }
            }
        }
        rendezvous.set_mismatches(mismatches);
        Ok(())
    }
}
