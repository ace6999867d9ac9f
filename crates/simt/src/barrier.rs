//! The barriers of a block (PTX ISA §9.7.13.1).

use crate::code::Combined;

/// A number beyond those of programs, for the barrier of the cluster that a block is.
pub const CLUSTER: u32 = 16;

/// One barrier.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Threads that have arrived.
    arrived: u32,
    /// Of how many, if not of all that live.
    expected: Option<u32>,
    /// How often it was completed.
    generation: u32,
    /// Threads whose predicate held.
    held: u32,
    /// Threads that gave a predicate.
    asked: u32,
    /// `held` and `asked` of the last completed generation.
    last: (u32, u32),
}

/// All barriers of a block.
#[derive(Clone, Debug)]
pub struct Barriers {
    states: [State; CLUSTER as usize + 1],
    /// Threads that have not exited.
    live: u32,
}

/// Who arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// How many threads.
    pub threads: u32,
    /// How many take part, if not all.
    pub expected: Option<u32>,
    /// For how many of these threads the predicate holds, if there is one.
    pub held: Option<u32>,
}

impl Barriers {
    /// Of a block of that many threads.
    pub fn new(threads: u32) -> Barriers {
        Barriers { states: Default::default(), live: threads }
    }

    /// Threads arrive at a barrier. The generation they are part of; none if there is no such
    /// barrier.
    pub fn arrive(&mut self, id: u32, arrival: Arrival) -> Option<u32> {
        let state = self.states.get_mut(id as usize)?;
        state.expected = arrival.expected;
        state.arrived += arrival.threads;
        if let Some(held) = arrival.held {
            state.held += held;
            state.asked += arrival.threads;
        }
        let generation = state.generation;
        state.complete(self.live);
        Some(generation)
    }

    /// Threads exit: nobody waits for them any more.
    pub fn exit(&mut self, threads: u32) {
        self.live -= threads;
        self.states.iter_mut().for_each(|state| state.complete(self.live));
    }

    /// Whether a generation is complete.
    pub fn passed(&self, id: u32, generation: u32) -> bool {
        self.states[id as usize].generation != generation
    }

    /// What the last completed generation's predicates make.
    pub fn reduced(&self, id: u32, op: Combined) -> u32 {
        let (held, asked) = self.states[id as usize].last;
        match op {
            Combined::Popc => held,
            Combined::And => (held == asked).into(),
            Combined::Or => (held > 0).into(),
        }
    }
}

impl State {
    fn complete(&mut self, live: u32) {
        let needed = self.expected.unwrap_or(live);
        if self.arrived > 0 && self.arrived >= needed {
            let (generation, last) = (self.generation.wrapping_add(1), (self.held, self.asked));
            *self = State { generation, last, ..State::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(threads: u32) -> Arrival {
        Arrival { threads, expected: None, held: None }
    }

    #[test]
    fn complete_when_all_that_live_are_there() {
        let mut barriers = Barriers::new(64);
        let first = barriers.arrive(0, threads(32)).unwrap();
        assert!(!barriers.passed(0, first));
        barriers.exit(16);
        assert!(!barriers.passed(0, first));
        barriers.arrive(0, threads(16)).unwrap();
        assert!(barriers.passed(0, first));
        assert_eq!(barriers.arrive(17, threads(1)), None);
    }

    #[test]
    fn exits_complete_what_others_wait_at() {
        let mut barriers = Barriers::new(64);
        let first = barriers.arrive(3, threads(32)).unwrap();
        barriers.exit(32);
        assert!(barriers.passed(3, first));
    }

    #[test]
    fn predicates_are_combined() {
        let mut barriers = Barriers::new(64);
        for held in [Some(32), Some(31)] {
            barriers.arrive(1, Arrival { threads: 32, expected: Some(64), held }).unwrap();
        }
        assert_eq!(barriers.reduced(1, Combined::Popc), 63);
        assert_eq!(barriers.reduced(1, Combined::And), 0);
        assert_eq!(barriers.reduced(1, Combined::Or), 1);
    }
}
