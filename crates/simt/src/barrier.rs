//! The barriers of a thread block, `bar.sync` and its family (PTX ISA §9.7.13.1).

use crate::code::Combined;

/// The number of the cluster barrier, beyond those of programs; a block is its own cluster.
pub const CLUSTER: u32 = 16;

/// The state of one barrier.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Number of threads that have arrived.
    arrived: u32,
    /// Number of threads expected; all live threads if `None`.
    expected: Option<u32>,
    /// How often the barrier has completed.
    generation: u32,
    /// Number of arrived threads whose predicate was true.
    held: u32,
    /// Number of arrived threads that passed a predicate.
    asked: u32,
    /// `held` and `asked` of the last completed generation.
    last: (u32, u32),
}

/// The barriers of a block.
#[derive(Clone, Debug)]
pub struct Barriers {
    states: [State; CLUSTER as usize + 1],
    /// Number of threads that have not exited.
    live: u32,
}

/// An arrival of one or more threads.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Number of arriving threads.
    pub threads: u32,
    /// Number of participating threads; all live threads if `None`.
    pub expected: Option<u32>,
    /// For how many of the arriving threads the predicate is true, if there is one.
    pub held: Option<u32>,
}

impl Barriers {
    /// The barriers of a block of `threads` threads.
    pub fn new(threads: u32) -> Barriers {
        Barriers { states: Default::default(), live: threads }
    }

    /// Records an arrival; returns the generation that it belongs to, or `None` for an invalid
    /// barrier number.
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

    /// Threads exit: barriers no longer wait for them.
    pub fn exit(&mut self, threads: u32) {
        self.live -= threads;
        self.states.iter_mut().for_each(|state| state.complete(self.live));
    }

    /// Whether a generation is complete.
    pub fn passed(&self, id: u32, generation: u32) -> bool {
        self.states[id as usize].generation != generation
    }

    /// The combined predicates of the last completed generation.
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
