//! Budget of the path exploration, in visits of blocks.

use commsan_ir::Program;
use std::cell::Cell;

/// What following operations takes, in the whole program: at most as much as the program is large,
/// so that the time is, too. In a program of many entangled ways the last operations are not
/// followed.
#[derive(Debug)]
pub struct Effort {
    /// Visits of blocks that are left.
    left: Cell<usize>,
}

/// Visits of blocks that every program may take, however small.
const MIN_BUDGET_VISITS: usize = 20_000;

impl Effort {
    /// For a program.
    pub fn of(program: &Program) -> Effort {
        let size: usize = program.defined().map(|(_, _, body)| body.code.len()).sum();
        Effort { left: Cell::new(MIN_BUDGET_VISITS + size) }
    }

    /// Takes a visit, if one is left.
    pub fn take(&self) -> bool {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}
