//! Vector clocks: the happens-before order of agents that run concurrently.
//!
//! An agent is whatever has an order of its own: a thread, a CUDA stream, a rank. Its time is
//! counted in epochs, from 1; a vector clock holds, for each agent, the last epoch that happened
//! before. When an agent acquires what another one released, its clock becomes the maximum of
//! both, component by component. An event happens before another exactly if its epoch is covered
//! by the other's clock.
//!
//! Happens-before is Lamport's (CACM 21(7), 1978), vector clocks are Mattern's and Fidge's (1988);
//! that one component, an [`Epoch`], stands for a whole clock where only the order after one event
//! is asked for, is from FastTrack (Flanagan and Freund, PLDI 2009, §3).

use smallvec::{Array, SmallVec};

/// One agent's time, `c@t` in FastTrack. The epoch of all zeros happens before everything.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Epoch {
    /// The agent's index in clocks.
    pub agent: u32,
    /// Counted from 1; 0 is before the agent's first epoch.
    pub time: u32,
}

impl Epoch {
    /// Both in one word, the agent in the lower half.
    pub fn to_bits(self) -> u64 {
        u64::from(self.agent) | u64::from(self.time) << 32
    }

    /// From the word that [`to_bits`](Self::to_bits) returned.
    pub fn from_bits(bits: u64) -> Epoch {
        Epoch { agent: bits as u32, time: (bits >> 32) as u32 }
    }

    /// Whether everything in this epoch so far happens before what has this clock.
    #[inline]
    pub fn happens_before<C: Components>(self, clock: &VectorClock<C>) -> bool {
        clock.time(self.agent) >= self.time
    }
}

/// Where a clock keeps its components: an array for a fixed number of agents, or a vector that
/// grows with them.
pub trait Components: AsRef<[u32]> + AsMut<[u32]> {
    /// Makes room for this many agents; components beyond those of a fixed array are dropped.
    fn reach(&mut self, agents: usize);
}

impl<const N: usize> Components for [u32; N] {
    fn reach(&mut self, _agents: usize) {}
}

impl Components for Vec<u32> {
    fn reach(&mut self, agents: usize) {
        if self.len() < agents {
            self.resize(agents, 0);
        }
    }
}

impl<A: Array<Item = u32>> Components for SmallVec<A> {
    fn reach(&mut self, agents: usize) {
        if self.len() < agents {
            self.resize(agents, 0);
        }
    }
}

/// For each agent, the last of its epochs that happened before; 0 for agents without a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorClock<C>(C);

impl<C: Components> VectorClock<C> {
    /// The clock with these components.
    pub fn new(components: C) -> VectorClock<C> {
        VectorClock(components)
    }

    /// The component of an agent.
    #[inline]
    pub fn time(&self, agent: u32) -> u32 {
        self.0.as_ref().get(agent as usize).copied().unwrap_or(0)
    }

    /// The components, by agent.
    #[inline]
    pub fn components(&self) -> &[u32] {
        self.0.as_ref()
    }

    /// The components, for clocks elsewhere to be joined into them.
    #[inline]
    pub fn components_mut(&mut self) -> &mut [u32] {
        self.0.as_mut()
    }

    /// Makes this the clock of this many agents after which nothing happened yet.
    pub fn reset(&mut self, agents: usize) {
        self.0.as_mut().fill(0);
        self.0.reach(agents);
    }

    /// The components that are not 0, as epochs.
    pub fn epochs(&self) -> impl Iterator<Item = Epoch> {
        let all = (0..).zip(self.components().iter().copied());
        all.filter(|(_, time)| *time != 0).map(|(agent, time)| Epoch { agent, time })
    }

    /// Whether everything that another clock covers happens before what has this one.
    pub fn covers<D: Components>(&self, other: &VectorClock<D>) -> bool {
        other.epochs().all(|epoch| epoch.happens_before(self))
    }

    /// Whatever happens before the other clock happens before this one from now on.
    pub fn join<D: Components>(&mut self, other: &VectorClock<D>) {
        let theirs = other.components();
        self.0.reach(theirs.len());
        for (mine, theirs) in self.0.as_mut().iter_mut().zip(theirs) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// One epoch, and so all earlier ones of its agent, happen before this clock from now on.
    pub fn acquire(&mut self, epoch: Epoch) {
        self.0.reach(epoch.agent as usize + 1);
        if let Some(mine) = self.0.as_mut().get_mut(epoch.agent as usize) {
            *mine = (*mine).max(epoch.time);
        }
    }

    /// The agent's next epoch begins; returns the one that ends.
    pub fn advance(&mut self, agent: u32) -> Epoch {
        let ended = Epoch { agent, time: self.time(agent) };
        self.acquire(Epoch { agent, time: ended.time + 1 });
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AGENTS: usize = 4;
    const CELLS: usize = 3;

    /// What an agent does at one step of an execution.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Work,
        Release(usize),
        Acquire(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
        let step = prop_oneof![
            Just(Step::Work),
            (0..CELLS).prop_map(Step::Release),
            (0..CELLS).prop_map(Step::Acquire),
        ];
        prop::collection::vec((0..AGENTS, step), 0..60)
    }

    /// Runs the execution with clocks of this kind, and returns for each pair of steps whether the first happens
    /// before the second.
    fn by_clocks<C: Components + Clone>(none: C, steps: &[(usize, Step)]) -> Vec<Vec<bool>> {
        let mut clocks = vec![VectorClock::new(none.clone()); AGENTS];
        let mut cells = vec![VectorClock::new(none); CELLS];
        let mut seen: Vec<(Epoch, VectorClock<C>)> = Vec::new();
        for (agent, clock) in clocks.iter_mut().enumerate() {
            clock.advance(agent as u32);
        }
        for (agent, step) in steps {
            let clock = &mut clocks[*agent];
            if let Step::Acquire(cell) = step {
                clock.join(&cells[*cell]);
            }
            // An epoch of its own for each step, so that epochs tell steps apart.
            let now = Epoch { agent: *agent as u32, time: clock.time(*agent as u32) };
            seen.push((now, clock.clone()));
            if let Step::Release(cell) = step {
                cells[*cell].join(clock);
            }
            clock.advance(*agent as u32);
        }
        let before = |first: &(Epoch, _)| {
            seen.iter().map(|(_, clock)| first.0.happens_before(clock)).collect()
        };
        seen.iter().map(before).collect()
    }

    /// Happens-before by its definition: the transitive closure of program order, and of each release before each
    /// later acquire of the same cell.
    fn by_definition(steps: &[(usize, Step)]) -> Vec<Vec<bool>> {
        let count = steps.len();
        let mut before = vec![vec![false; count]; count];
        for (later, (agent, step)) in steps.iter().enumerate() {
            before[later][later] = true;
            for (earlier, (other, release)) in steps[..later].iter().enumerate() {
                let by_cell = match (release, step) {
                    (Step::Release(released), Step::Acquire(acquired)) => released == acquired,
                    _ => false,
                };
                before[earlier][later] = agent == other || by_cell;
            }
        }
        for middle in 0..count {
            for first in 0..count {
                for last in 0..count {
                    before[first][last] |= before[first][middle] && before[middle][last];
                }
            }
        }
        before
    }

    proptest! {
        #[test]
        fn clocks_are_the_transitive_order(steps in steps()) {
            let expected = by_definition(&steps);
            prop_assert_eq!(&by_clocks([0; AGENTS], &steps), &expected);
            prop_assert_eq!(&by_clocks(Vec::new(), &steps), &expected);
            prop_assert_eq!(&by_clocks(SmallVec::<[u32; 2]>::new(), &steps), &expected);
        }

        #[test]
        fn clocks_form_a_lattice(a: [u32; AGENTS], b: [u32; AGENTS]) {
            let (a, b) = (VectorClock::new(a), VectorClock::new(b.to_vec()));
            let mut joined = a.clone();
            joined.join(&b);
            prop_assert!(joined.covers(&a) && joined.covers(&b));
            prop_assert_eq!(a.covers(&b), joined == a);
            let mut again = VectorClock::new(Vec::new());
            joined.epochs().for_each(|epoch| again.acquire(epoch));
            prop_assert!(again.covers(&joined) && joined.covers(&again));
        }
    }

    #[test]
    fn epochs_are_words() {
        let epoch = Epoch { agent: 3, time: u32::MAX };
        assert_eq!(Epoch::from_bits(epoch.to_bits()), epoch);
        assert!(Epoch::default().happens_before(&VectorClock::new(Vec::new())));
        assert!(!epoch.happens_before(&VectorClock::new(vec![0, 0, 0, 7])));
    }
}
