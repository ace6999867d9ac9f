//! What the program itself does, beside its calls of MPI and CUDA.

use commsan_callsite::{Findings, Place};
use commsan_cuda::StreamChecker;
use commsan_shadow::{Actor, Mode, Pages};
use std::ops::Range;

/// What there is for hooks to look out for; they skip their checks while there is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Ranges of memory that something uses.
    pub ranges: usize,
    /// Those on stacks.
    pub on_stack: usize,
}

/// The state of a process, as its own accesses, memory and threads concern it.
pub trait Host: Sized {
    /// Nothing has happened yet.
    fn new(pages: Pages) -> Self;

    /// What there is to look out for.
    fn load(&self) -> Load;

    /// Whether it matters which thread acts.
    fn knows_threads(&self) -> bool;

    /// Sets the thread that acts from now on. `None` if there is only one (`alone`), or if it is
    /// not known which one acts.
    fn act_as(&mut self, actor: Option<Actor>, alone: bool);

    /// The program accesses memory, by a load, a store, or the library function of a name.
    fn access(
        &mut self,
        by: &str,
        mode: Mode,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    );

    /// The program is about to give memory back.
    fn released(
        &mut self,
        by: &str,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    );

    /// The function with this frame pointer is about to return.
    fn leave(&mut self, frame: usize, place: &impl Place, out: &mut dyn Findings);

    /// Nothing is followed any more, perhaps since the process exits.
    fn ends(&mut self, is_exit: bool, out: &mut dyn Findings);

    /// Runs `f` with what checks the work of streams.
    fn with_streams(&mut self, f: impl FnOnce(&mut dyn StreamChecker));
}
