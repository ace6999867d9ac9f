//! Teams: whom a collective is of.

use super::World;
use crate::abi::UniqueId;
use crate::board::{Board, message};
use crate::error::{Failure, Result};
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::Arc;

/// `NVSHMEM_TEAM_INVALID`
pub const INVALID: c_int = -1;
/// Teams of programs have numbers from this one on.
const FIRST: usize = 6;

/// A team, seen by one of its PEs.
pub struct Team {
    /// Its PEs, by their numbers among all.
    pub members: Vec<usize>,
    /// This one's number in the team.
    pub me: usize,
    id: UniqueId,
    board: Mutex<Meeting>,
}

struct Meeting {
    board: Board,
    /// Teams that were made of this one.
    splits: u64,
}

impl Team {
    /// All of its PEs come.
    pub fn join(id: UniqueId, members: Vec<usize>, pe: usize) -> Result<Team> {
        let me = members.iter().position(|&member| member == pe).unwrap_or(0);
        let board = Board::join(&id, me, members.len())?;
        Ok(Team { members, me, id, board: Mutex::new(Meeting { board, splits: 0 }) })
    }

    /// Waits until all have come here.
    pub fn meet(&self) -> Result {
        self.board.lock().board.exchange(&message(&[])).map(drop)
    }

    /// Does something after all have come, and leaves when all have done it.
    pub fn together<T>(&self, what: impl FnOnce() -> Result<T>) -> Result<T> {
        let meeting = self.board.lock();
        meeting.board.exchange(&message(&[]))?;
        let done = what();
        meeting.board.exchange(&message(&[]))?;
        done
    }

    /// The name of the next team that is made of this one, by all of its PEs alike.
    fn next_id(&self) -> Result<UniqueId> {
        let mut meeting = self.board.lock();
        meeting.splits += 1;
        meeting.board.exchange(&message(&[]))?;
        Ok(self.id.child(("team", meeting.splits)))
    }
}

/// The teams of a process by their numbers.
#[derive(Default)]
pub struct Teams(Vec<Option<Arc<Team>>>);

impl Teams {
    /// Those that are there from the beginning: on one node, with a device each, all PEs share
    /// everything but their place on a node and their device.
    pub fn new(id: UniqueId, pe: usize, pes: usize) -> Result<Teams> {
        let all = Arc::new(Team::join(id.child("all"), (0..pes).collect(), pe)?);
        let own = Arc::new(Team::join(id.child(("own", pe)), vec![pe], pe)?);
        let of = |team: &Arc<Team>| Some(Arc::clone(team));
        Ok(Teams(vec![of(&all), of(&all), of(&all), of(&own), of(&own), of(&all)]))
    }

    /// A team by its number.
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

    /// A team of the program is no more.
    pub fn remove(&mut self, number: c_int) {
        let at = usize::try_from(number).ok().filter(|at| (FIRST..self.0.len()).contains(at));
        if let Some(at) = at {
            self.0[at] = None;
        }
    }
}

impl World {
    /// All PEs of a team make one of some of them; gives its number to those.
    pub fn split(&self, of: c_int, members: &[usize]) -> Result<c_int> {
        let parent = self.team(of)?;
        let outside = || Failure::argument("a new team's PEs must be in the old one");
        let chosen = members.iter().map(|&at| parent.members.get(at).copied());
        let chosen: Vec<usize> = chosen.collect::<Option<_>>().ok_or_else(outside)?;
        // Parts of a team are made at once, too.
        let id = parent.next_id()?.child(&chosen);
        if !chosen.contains(&self.pe) {
            return Ok(INVALID);
        }
        let team = Team::join(id, chosen, self.pe)?;
        Ok(self.teams.lock().add(team))
    }
}
