//! What has happened before: for each stream, up to which of its work.

use smallvec::SmallVec;

/// A piece of work: the n-th of what has ever had this place among the streams, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// The stream's place.
    pub lane: u32,
    /// Which of its work.
    pub number: u32,
}

/// Up to which work of each stream everything has happened before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(SmallVec<[u32; 16]>);

impl Clock {
    /// Whether a piece of work has happened before.
    #[inline]
    pub fn has_seen(&self, moment: Moment) -> bool {
        self.0.get(moment.lane as usize).is_some_and(|seen| *seen >= moment.number)
    }

    /// Up to which work of a place everything has happened before.
    pub fn number(&self, lane: u32) -> u32 {
        self.0.get(lane as usize).copied().unwrap_or(0)
    }

    /// The latest such work of each place that has any.
    pub fn moments(&self) -> impl Iterator<Item = Moment> {
        let lanes = (0..).zip(self.0.iter().copied());
        lanes.filter(|(_, number)| *number != 0).map(|(lane, number)| Moment { lane, number })
    }

    /// Whether all that another clock knows has happened before.
    pub fn covers(&self, other: &Clock) -> bool {
        let mine = self.0.iter().copied().chain(std::iter::repeat(0));
        other.0.iter().zip(mine).all(|(theirs, mine)| *theirs <= mine)
    }

    /// Takes over what another clock knows.
    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// A piece of work, and so all before it in its stream, has happened before from now on.
    pub fn see(&mut self, moment: Moment) {
        let lane = moment.lane as usize;
        if self.0.len() <= lane {
            self.0.resize(lane + 1, 0);
        }
        self.0[lane] = self.0[lane].max(moment.number);
    }
}
