//! The state of a process without MPI.

pub use commsan_checker::alone::Alone as Checker;
use commsan_process::thread::Thread;
use commsan_rundir::record::Ending;
use commsan_shadow::Mode;
use std::ops::Range;

/// What it means that the process exits.
pub(super) const AT_EXIT: Ending = Ending::Finalized;

/// Nothing is read without the lock.
#[derive(Default)]
pub(super) struct Published;

impl Published {
    pub fn publish(&self, _: &Checker) {}

    pub fn set_mode(&self, _active: bool, _counts: bool) {}
}

/// There are no others.
pub(super) fn disconnect(_: &mut Checker) {}

/// There are no windows that could expose anything.
pub fn may_be_exposed(_: &Range<usize>) -> bool {
    false
}

/// There is no window memory to note what is done to.
pub fn note(_: Range<usize>, _: Mode, _pc: usize, _by: usize) {}

/// Nothing starts that would be compared with what threads have done.
pub fn share(_: &Thread, _: &Range<usize>) {}

/// There is one thread again.
pub fn on_sequential() {}

/// Nothing is remembered of memory in which nothing is pending.
pub fn remembers() -> bool {
    false
}

/// Nothing is remembered that could be forgotten.
pub fn forget(_: &Range<usize>) {}
