//! Sequencing of communicator splits by tickets: they happen in the order in which they were
//! requested, whichever threads perform them.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A sequence of turns.
#[derive(Debug, Default)]
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The next turn to hand out.
    next: u64,
    /// The turn that may proceed.
    current: u64,
    /// Later turns that were dropped unused.
    over: BTreeSet<u64>,
}

/// A turn. It ends when this is dropped, used or not.
#[derive(Debug)]
pub struct Turn {
    turns: Arc<Turns>,
    number: u64,
}

impl Turns {
    /// The turn after all that were handed out.
    pub fn take(self: &Arc<Turns>) -> Turn {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        Turn { turns: Arc::clone(self), number }
    }
}

impl Turn {
    /// Waits until all earlier turns have ended; returns its number.
    pub fn wait(&self) -> u64 {
        let mut state = self.turns.state.lock();
        self.turns.changed.wait_while(&mut state, |state| state.current != self.number);
        self.number
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state.lock();
        state.over.insert(self.number);
        while state.over.first() == Some(&state.current) {
            state.over.pop_first();
            state.current += 1;
        }
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn turns_are_in_the_order_in_which_they_were_taken() {
        let turns = Arc::new(Turns::default());
        let taken: Vec<Turn> = (0..8).map(|_| turns.take()).collect();
        let done = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for turn in taken.into_iter().rev() {
                let done = &done;
                scope.spawn(move || {
                    // Some turns are not used.
                    if turn.number % 3 != 1 {
                        let number = turn.wait();
                        done.lock().push(number);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), [0, 2, 3, 5, 6]);
    }
}
