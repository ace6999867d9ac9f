//! Teams: the PEs that take part in a collective.

use super::World;
use crate::abi::UniqueId;
use crate::error::{Failure, Result};
use crate::rendezvous::{Rendezvous, message};
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::Arc;

/// `NVSHMEM_TEAM_INVALID`.
pub const INVALID: c_int = -1;
/// The first number of a team that the program creates.
const FIRST: usize = 6;

/// A team, as seen by one of its PEs.
pub struct Team {
    /// Its PEs, by their numbers in the job.
    pub members: Vec<usize>,
    /// This PE's number in the team.
    pub me: usize,
    id: UniqueId,
    rendezvous: Mutex<Meeting>,
}

struct Meeting {
    rendezvous: Rendezvous,
    /// Number of teams that were split off.
    splits: u64,
}

impl Team {
    /// Joins a team, together with its other PEs.
    pub fn join(id: UniqueId, members: Vec<usize>, pe: usize) -> Result<Team> {
        let me = members.iter().position(|&member| member == pe).unwrap_or(0);
        let rendezvous = Rendezvous::join(&id, me, members.len())?;
        Ok(Team { members, me, id, rendezvous: Mutex::new(Meeting { rendezvous, splits: 0 }) })
    }

    /// Waits until all PEs have arrived here (a barrier).
    pub fn meet(&self) -> Result {
        self.rendezvous.lock().rendezvous.exchange(&message(&[])).map(drop)
    }

    /// Runs a closure between two barriers of the team.
    pub fn together<T>(&self, what: impl FnOnce() -> Result<T>) -> Result<T> {
        let meeting = self.rendezvous.lock();
        meeting.rendezvous.exchange(&message(&[]))?;
        let done = what();
        meeting.rendezvous.exchange(&message(&[]))?;
        done
    }

    /// The identifier of the next team split off this one, equal at all of its PEs.
    fn next_id(&self) -> Result<UniqueId> {
        let mut meeting = self.rendezvous.lock();
        meeting.splits += 1;
        meeting.rendezvous.exchange(&message(&[]))?;
        Ok(self.id.child(("team", meeting.splits)))
    }
}

/// The teams of a process, by number.
#[derive(Default)]
pub struct Teams(Vec<Option<Arc<Team>>>);

impl Teams {
    /// The predefined teams: on one node, with a device each, the PEs share everything but their
    /// place on the node and their device.
    pub fn new(id: UniqueId, pe: usize, pes: usize) -> Result<Teams> {
        let all = Arc::new(Team::join(id.child("all"), (0..pes).collect(), pe)?);
        let own = Arc::new(Team::join(id.child(("own", pe)), vec![pe], pe)?);
        let of = |team: &Arc<Team>| Some(Arc::clone(team));
        Ok(Teams(vec![of(&all), of(&all), of(&all), of(&own), of(&own), of(&all)]))
    }

    /// The team with a number.
    pub fn get(&self, number: c_int) -> Result<Arc<Team>> {
        let known = usize::try_from(number).ok().and_then(|at| self.0.get(at)?.clone());
        known.ok_or_else(|| Failure::argument(format!("there is no team {number}")))
    }

    fn add(&mut self, team: Team) -> c_int {
        let free = (FIRST..self.0.len()).find(|&at| self.0[at].is_none());
        let at = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[at] = Some(Arc::new(team));
        at as c_int
    }

    /// Removes a team of the program.
    pub fn remove(&mut self, number: c_int) {
        let at = usize::try_from(number).ok().filter(|at| (FIRST..self.0.len()).contains(at));
        if let Some(at) = at {
            self.0[at] = None;
        }
    }
}

impl World {
    /// Splits some PEs off a team, collectively; returns the new team's number to them.
    pub fn split(&self, of: c_int, members: &[usize]) -> Result<c_int> {
        let parent = self.team(of)?;
        let outside = || Failure::argument("a new team's PEs must be in the old one");
        let chosen = members.iter().map(|&at| parent.members.get(at).copied());
        let chosen: Vec<usize> = chosen.collect::<Option<_>>().ok_or_else(outside)?;
        // Several parts may be split off at once.
        let id = parent.next_id()?.child(&chosen);
        if !chosen.contains(&self.pe) {
            return Ok(INVALID);
        }
        let team = Team::join(id, chosen, self.pe)?;
        Ok(self.teams.lock().add(team))
    }
}
