//! Thread blocks: warps that share memory and synchronise at barriers.

use crate::access::Region;
use crate::barrier::Barriers;
use crate::execute::{Context, Place as Step, run};
use crate::fault::Cause;
use crate::observe::Observer;
use crate::program::Kernel;
use crate::rows::{Storage, clear, storage};
use crate::special::Place;
use crate::warp::{Outcome, Warp, trap};

/// Maximum number of steps of a warp before the next warp runs.
const MAX_STEPS_PER_TURN: u32 = 2048;

/// A resident block.
pub struct Block {
    warps: Vec<Warp>,
    shared: Storage,
    shared_size: u64,
    /// The block's barriers; not part of a context, which borrows them.
    pub barriers: Barriers,
    /// The index of the warp that runs next.
    turn: usize,
}

impl Block {
    /// A new block, which reuses the memory of one that is done.
    pub fn start(old: Option<Block>, kernel: &Kernel, place: Place) -> Block {
        let threads: u32 = place.block.iter().product();
        let shared_size = [place.reserved_shared, place.static_shared, place.dynamic_shared];
        let shared_size = shared_size.map(u64::from).iter().sum();
        let (old, mut shared) = match old {
            Some(old) => (old.warps, old.shared),
            None => (Vec::new(), storage(shared_size as u32)),
        };
        // The barriers of tiles start out zero: no thread waits there.
        clear(&mut shared, place.reserved_shared);
        let mut old = old.into_iter();
        let warp = |warp| Warp::start(old.next(), kernel, Place { warp, ..place });
        let warps = (0..threads.div_ceil(32)).map(warp).collect();
        Block { warps, shared, shared_size, barriers: Barriers::new(threads), turn: 0 }
    }

    /// The block's number in the grid.
    pub fn number(&self) -> u64 {
        self.warps.first().map_or(0, |warp| warp.place.number)
    }

    /// The block's shared memory.
    pub fn shared(&mut self) -> Region {
        Region { base: self.shared.as_mut_ptr().cast(), stride: 0, size: self.shared_size }
    }

    /// Executes about `budget` thread instructions, or until all of its warps wait.
    pub fn run<O: Observer>(
        &mut self,
        context: &mut Context<'_, '_, O>,
        budget: u64,
    ) -> Result<Outcome, Box<(Step, Place)>> {
        let end = context.executed.saturating_add(budget);
        loop {
            let mut all = Outcome::Done;
            for _ in 0..self.warps.len() {
                let warp = &mut self.warps[self.turn];
                let outcome = match warp.live {
                    0 => Outcome::Done,
                    _ => run(warp, context, MAX_STEPS_PER_TURN)
                        .map_err(|step| Box::new((step, warp.place)))?,
                };
                all = together(all, outcome);
                self.turn = (self.turn + 1) % self.warps.len();
                if context.executed >= end {
                    return Ok(together(all, Outcome::Running));
                }
            }
            if all != Outcome::Running {
                return Ok(self.checked(all, context));
            }
        }
    }

    /// Whether a warp that waited was woken by one that ran after it.
    fn checked<O>(&self, outcome: Outcome, context: &Context<'_, '_, O>) -> Outcome {
        let woken = |warp: &Warp| {
            warp.groups.iter().any(|group| match group.state {
                crate::warp::State::Barrier { id, generation } => {
                    context.barriers.passed(id, generation)
                }
                _ => false,
            })
        };
        match self.warps.iter().any(woken) {
            true => Outcome::Running,
            false => outcome,
        }
    }

    /// The fault of a block whose warps wait at barriers forever.
    pub fn deadlock(&self, kernel: &Kernel) -> Option<(Step, Place)> {
        let warp = self.warps.iter().find(|warp| warp.live != 0)?;
        let group = warp.groups.first()?;
        let routine = warp.frames.get(group.frame).routine;
        let trap = trap(Cause::Deadlock, group.mask);
        let origin = kernel.routine(routine)?.codes[group.pc as usize].origin;
        Some((Step { trap, routine, origin }, warp.place))
    }
}

/// The combined outcome of two warps or blocks.
pub fn together(a: Outcome, b: Outcome) -> Outcome {
    use Outcome::*;
    match (a, b) {
        (Running, _) | (_, Running) => Running,
        (Spinning, Sleeping(_)) | (Sleeping(_), Spinning) => Spinning,
        (Spinning, _) | (_, Spinning) => Spinning,
        (Sleeping(a), Sleeping(b)) => Sleeping(a.min(b)),
        (Sleeping(until), _) | (_, Sleeping(until)) => Sleeping(until),
        (Waiting, _) | (_, Waiting) => Waiting,
        (Done, Done) => Done,
    }
}
