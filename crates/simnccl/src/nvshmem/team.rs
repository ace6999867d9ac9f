//! Teams: the PEs that take part in a collective.

use super::World;
use super::device::SLOTS;
use crate::abi::UniqueId;
use crate::error::{Failure, Result};
use crate::rendezvous::{Rendezvous, message, word};
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
    /// Where members find what barriers of kernels use, the same for all; [`SLOTS`] if all slots
    /// are taken.
    pub slot: usize,
    id: UniqueId,
    rendezvous: Mutex<Meeting>,
}

struct Meeting {
    rendezvous: Rendezvous,
    /// Number of teams that were split off.
    splits: u64,
}

impl Team {
    /// Joins a team, together with its other PEs. Its slot is the first that none of them has
    /// taken: each bit of `taken` is a slot.
    pub fn join(id: UniqueId, members: Vec<usize>, pe: usize, taken: u64) -> Result<Team> {
        let me = members.iter().position(|&member| member == pe).unwrap_or(0);
        let rendezvous = Rendezvous::join(&id, me, members.len())?;
        let all = rendezvous.exchange(&message(&[taken]))?;
        let taken = all.iter().fold(0, |all, message| all | word(message, 0));
        let slot = (taken.trailing_ones() as usize).min(SLOTS);
        let rendezvous = Mutex::new(Meeting { rendezvous, splits: 0 });
        Ok(Team { members, me, slot, id, rendezvous })
    }

    /// Waits until all PEs have arrived here (a barrier).
    pub fn meet(&self) -> Result {
        self.rendezvous.lock().rendezvous.exchange(&message(&[])).map(drop)
    }

    /// The highest of the numbers that the PEs have.
    pub fn highest(&self, number: u64) -> Result<u64> {
        let all = self.rendezvous.lock().rendezvous.exchange(&message(&[number]))?;
        Ok(all.iter().map(|message| word(message, 0)).fold(number, u64::max))
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
        let all = Arc::new(Team::join(id.child("all"), (0..pes).collect(), pe, 0)?);
        let own = Arc::new(Team::join(id.child(("own", pe)), vec![pe], pe, 1)?);
        let of = |team: &Arc<Team>| Some(Arc::clone(team));
        Ok(Teams(vec![of(&all), of(&all), of(&all), of(&own), of(&own), of(&all)]))
    }

    /// The team with a number.
    pub fn get(&self, number: c_int) -> Result<Arc<Team>> {
        let known = usize::try_from(number).ok().and_then(|at| self.0.get(at)?.clone());
        known.ok_or_else(|| Failure::argument(format!("there is no team {number}")))
    }

    fn add(&mut self, team: &Arc<Team>) -> c_int {
        let free = (FIRST..self.0.len()).find(|&at| self.0[at].is_none());
        let at = free.unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[at] = Some(Arc::clone(team));
        at as c_int
    }

    /// All teams, with their numbers.
    pub fn all(&self) -> Vec<(c_int, Arc<Team>)> {
        let numbered = (0..).zip(&self.0);
        numbered.filter_map(|(number, team)| Some((number, Arc::clone(team.as_ref()?)))).collect()
    }

    /// Slots that are taken, each a bit.
    fn taken(&self) -> u64 {
        self.0.iter().flatten().fold(0, |taken, team| taken | 1 << team.slot)
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
        let taken = self.teams.lock().taken();
        let team = Arc::new(Team::join(id, chosen, self.pe, taken)?);
        self.prepare_on_device(&team)?;
        let number = self.teams.lock().add(&team);
        self.number_on_device(number, &team)?;
        team.meet()?;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_agree_on_a_slot_and_on_the_highest_number() {
        let id = UniqueId::new().expect("an identifier");
        let join = |pe: usize, taken: u64| {
            let team = Team::join(id, vec![1, 4], pe, taken).expect("a team");
            let highest = team.highest(10 * pe as u64).expect("a number");
            (team.me, team.slot, highest)
        };
        std::thread::scope(|scope| {
            let [one, four] =
                [(1, 0b0011), (4, 0b0101)].map(|(pe, taken)| scope.spawn(move || join(pe, taken)));
            assert_eq!(one.join().expect("a member"), (0, 3, 40));
            assert_eq!(four.join().expect("a member"), (1, 3, 40));
        });
        let full = Team::join(UniqueId::new().expect("an identifier"), vec![0], 0, u64::MAX);
        assert_eq!(full.expect("a team").slot, SLOTS);
    }
}
