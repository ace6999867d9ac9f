//! Guards: pages that lie wholly inside buffers of pending operations are closed to the program, so
//! that code which nobody has recompiled faults where it uses a buffer too early.
//!
//! A page is closed by giving it a protection key of memory ([`keys`]): what a thread may do with it
//! is then a register of that thread's. Calls of MPI open it for the calling thread by one
//! instruction, and close it when they return. Threads of the library's own are created within its
//! calls, and inherit that it is open. What other processes do to this one's memory (CMA, debuggers)
//! the kernel does not measure by keys, nor does an adapter that moves registered memory. So the
//! library is not disturbed in anything, and there is nothing to take back before it works.
//! [`Table`] knows which pages are closed for whom, [`Budget`] what that may cost.
//!
//! **Soundness.** A guard only points out an access: whether it is a mistake is decided by the bytes
//! of the pending operations, as for accesses that hooks report. Missed is what pages do not show:
//! - bytes in pages that the buffer shares with other data, so all of most small buffers;
//! - buffers elsewhere than in allocated memory or variables of modules: on stacks, in memory that
//!   the program has mapped itself or shares with other processes;
//! - of an operation with more than [`MAX_RUNS`] separate runs of pages, those that follow; of more
//!   than [`MAX_ENTRIES`] runs at a time, those of later operations;
//! - accesses to a page after the same instruction has accessed it [`REPETITIONS`] times while the
//!   operation is pending, which opens it;
//! - what functions do that the library calls back, and any code that has left a call by `longjmp`;
//! - operations without guards for the sake of the budget.

mod budget;
pub mod instruction;
pub mod keys;
mod table;

pub use budget::Budget;
pub use table::{MAX_ENTRIES, MAX_RUNS, Rights, Table};

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Size of a page, in bytes.
pub const PAGE: usize = 4096;

/// Whether any page is closed: what system calls, and functions of libc, have to look at.
pub static ANY: AtomicBool = AtomicBool::new(false);

/// Whether any page is closed.
#[inline]
pub fn are_any() -> bool {
    ANY.load(Relaxed)
}

/// What was watched, in bytes of buffers of started operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Operations of which at least one page was closed.
    pub operations: u64,
    /// In pages that were closed.
    pub closed: u64,
    /// In pages that hold other data, too.
    pub shared: u64,
    /// In memory that is not guarded: stacks, mappings of the program's own.
    pub elsewhere: u64,
    /// Left out to stay within the budget, or since there were too many.
    pub over_budget: u64,
}

/// The guards of one process. `O` identifies operations.
pub struct Guards<O> {
    table: Table<O>,
    budget: Budget,
    watched: Watched,
    /// Whether memory may be guarded.
    may_be: fn(&Range<usize>) -> bool,
    /// Which instructions have come to closed pages, and how often; others may have taken their
    /// places.
    met: [Met; MET],
}

/// An instruction that has accessed a closed page.
#[derive(Clone, Copy, Default)]
struct Met {
    pc: usize,
    page: usize,
    times: u8,
}

const MET: usize = 256;

/// Accesses of one instruction to a page, after which it is opened.
pub const REPETITIONS: u8 = 3;

impl<O: Copy + PartialEq> Guards<O> {
    /// Guards that take up `percent` of the time the process runs from now on; 100 for any. `may_be`
    /// says whether all bytes of a range can be read and written, and are the program's own; it is
    /// asked about buffers of pending operations.
    ///
    /// [`keys::acquire`] must have succeeded.
    pub fn new(percent: u32, may_be: fn(&Range<usize>) -> bool) -> Guards<O> {
        let budget = Budget::new(percent, Instant::now());
        let met = [Met::default(); MET];
        Guards { table: Table::default(), budget, watched: Watched::default(), may_be, met }
    }

    /// Whether pages inside of one run of bytes would be closed for an operation that uses it alone;
    /// it is passed to [`begin`](Self::begin) then, else to [`leave_out`](Self::leave_out).
    pub fn want(&self, run: &Range<usize>) -> bool {
        !inside(run).is_empty() && self.budget.allows(Instant::now())
    }

    /// An operation has started that uses this run of bytes, and is not watched.
    pub fn leave_out(&mut self, run: &Range<usize>) {
        let pages = inside(run).len() as u64;
        self.watched.over_budget += pages;
        self.watched.shared += run.len() as u64 - pages;
    }

    /// An operation has started that uses these runs of bytes, each as long as it goes on: whether
    /// it writes them. Closes the pages that lie inside.
    pub fn begin(&mut self, operation: O, runs: impl Iterator<Item = (Range<usize>, bool)>) {
        let begun = Instant::now();
        let (before, mut taken) = (self.watched.closed, 0);
        for (run, writes) in runs {
            let pages = inside(&run);
            let bytes = run.len() as u64;
            if pages.is_empty() {
                self.watched.shared += bytes;
                continue;
            }
            if !(self.may_be)(&run) {
                self.watched.elsewhere += bytes;
                continue;
            }
            let edges = bytes - pages.len() as u64;
            self.watched.shared += edges;
            if taken == MAX_RUNS || self.table.is_full() || !self.budget.allows(begun) {
                self.watched.over_budget += bytes - edges;
                continue;
            }
            taken += 1;
            let rights = if writes { Rights::None } else { Rights::Read };
            match self.table.add(operation, pages, rights, &mut set) {
                true => self.watched.closed += bytes - edges,
                false => self.watched.elsewhere += bytes - edges,
            }
        }
        self.watched.operations += u64::from(self.watched.closed > before);
        self.changed(begun);
    }

    /// An operation is over: opens its pages, but for those that another one uses.
    pub fn end(&mut self, operation: O) {
        if self.table.is_empty() {
            return;
        }
        let begun = Instant::now();
        self.table.remove(operation, &mut set);
        self.changed(begun);
    }

    /// Opens the pages that hold these bytes, as far as they are closed. They are not closed again
    /// until an operation begins there.
    pub fn open(&mut self, bytes: &Range<usize>) {
        let begun = Instant::now();
        self.table.open(&around(bytes), &mut set);
        self.changed(begun);
    }

    /// The instruction at `pc` accesses the closed page that holds an address: whether it has done so
    /// often enough.
    pub fn is_often(&mut self, pc: usize, address: usize) -> bool {
        let page = address / PAGE;
        let known = &mut self.met[(pc ^ page) % MET];
        if (known.pc, known.page) != (pc, page) {
            *known = Met { pc, page, times: 0 };
        }
        known.times += 1;
        if known.times == REPETITIONS {
            known.times = 0;
            return true;
        }
        false
    }

    /// Opens all pages for good: nothing is guarded from now on.
    pub fn open_all(&mut self) {
        self.table.clear(&mut set);
        self.budget.exhaust();
        self.changed(Instant::now());
    }

    /// Whether pages may be closed at all: they were not opened for good.
    pub fn is_active(&self) -> bool {
        !self.budget.is_exhausted()
    }

    /// What was watched until now.
    pub fn watched(&self) -> Watched {
        self.watched
    }

    fn changed(&mut self, begun: Instant) {
        ANY.store(!self.table.is_empty(), Relaxed);
        self.budget.spend(begun.elapsed());
    }
}

/// The pages that lie wholly inside a range.
fn inside(bytes: &Range<usize>) -> Range<usize> {
    let (start, end) = (bytes.start.next_multiple_of(PAGE), bytes.end & !(PAGE - 1));
    start..end.max(start)
}

/// The pages that hold some of these bytes.
fn around(bytes: &Range<usize>) -> Range<usize> {
    bytes.start & !(PAGE - 1)..bytes.end.next_multiple_of(PAGE)
}

/// Gives pages the key for what the program may do with them. Returns whether the system has.
fn set(pages: Range<usize>, rights: Rights) -> bool {
    keys::give(pages, rights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pages_are_inside() {
        assert!(inside(&(1..2 * PAGE - 1)).is_empty());
        assert_eq!(inside(&(1..2 * PAGE)), PAGE..2 * PAGE);
        assert_eq!(inside(&(0..PAGE)), 0..PAGE);
        assert!(inside(&(8..16)).is_empty());
        assert_eq!(around(&(PAGE + 7..PAGE + 8)), PAGE..2 * PAGE);
        assert_eq!(around(&(PAGE..2 * PAGE + 1)), PAGE..3 * PAGE);
    }

    #[test]
    fn an_instruction_meets_a_page_often_when_it_comes_again() {
        let mut guards = Guards::<u32>::new(100, |_| true);
        for _ in 0..2 {
            for _ in 1..REPETITIONS {
                assert!(!guards.is_often(7, PAGE + 1));
                assert!(!guards.is_often(8, PAGE + 2));
            }
            assert!(guards.is_often(7, PAGE));
            assert!(guards.is_often(8, PAGE));
            assert!(!guards.is_often(7, 2 * PAGE));
        }
    }
}
