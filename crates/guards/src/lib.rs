//! Guards: pages that lie wholly inside buffers of pending operations are closed to the program, so
//! that code which nobody has recompiled faults where it uses a buffer too early.
//!
//! A page is closed by giving it a protection key of memory ([`keys`]): what a thread may do with
//! it is then a register of that thread's. Calls of MPI open it for the calling thread by one
//! instruction, and close it when they return. Threads of the library's own are created within its
//! calls, and inherit that it is open. What other processes do to this one's memory (CMA,
//! debuggers) the kernel does not measure by keys, nor does an adapter that moves registered
//! memory. So the library is not disturbed in anything, and there is nothing to take back before it
//! works.
//! [`Table`] knows which pages are closed for whom, [`Budget`] what that may cost. What is started
//! at one place again and again loses its guards first: the first [`ALWAYS`] operations of each
//! call site are watched in any case.
//!
//! Where memory has no keys, the pages of what operations read are protected from writing
//! ([`protection`]): nobody may do that while they are pending, not even the library.
//!
//! Where pages do not watch what an operation sends, checksums do ([`Prints`]): taken when it
//! starts, compared when it is complete.
//!
//! **Soundness.** A guard only points out an access: whether it is a mistake is decided by the
//! bytes of the pending operations, as for accesses that hooks report. A checksum that differs
//! shows that the buffer has changed, which nobody may do before the call that has completed the
//! operation returns (MPI 4.1 §3.7.2). Missed is what pages and checksums do not show:
//! - loads, and all use of receive buffers, in pages that the buffer shares with other data, so in
//!   all of most small buffers; and in memory that is neither allocated nor a variable of a
//!   module: on stacks, in memory that the program has mapped itself or shares with other
//!   processes;
//! - there, too, stores that change nothing, or what is changed back before the operation is
//!   complete;
//! - of window memory, in which accesses are recorded for what other ranks may do there, what a
//!   page does not show after an instruction has accessed it [`REPETITIONS`] times in one epoch;
//! - of an operation with more than [`MAX_RUNS`] separate runs of pages, those that follow; of more
//!   than [`MAX_ENTRIES`] runs at a time, those of later operations;
//! - accesses to a page after the same instruction has accessed it [`REPETITIONS`] times while the
//!   operation is pending, which opens it;
//! - what functions do that the library calls back, and any code that has left a call by `longjmp`;
//! - operations that are not watched for the sake of the budget.

mod budget;
pub mod instruction;
pub mod keys;
mod prints;
pub mod protection;
mod sites;
mod table;

pub use budget::Budget;
pub use prints::{Memory, Prints, Read};
pub use sites::ALWAYS;
pub use table::{MAX_ENTRIES, MAX_RUNS, Rights, Table};

use sites::Sites;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

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
    /// Of which checksums were compared.
    pub summed: u64,
    /// In pages that hold other data, too.
    pub shared: u64,
    /// In memory that is not guarded: stacks, mappings of the program's own.
    pub elsewhere: u64,
    /// In pages that cannot be closed here, or not any more.
    pub unclosable: u64,
    /// Left out to stay within the budget, or since there were too many.
    pub over_budget: u64,
    /// Of exposed memory: in pages that were closed, each time that it was exposed.
    pub exposed: u64,
    /// Of exposed memory: what was not watched.
    pub not_exposed: u64,
}

/// The guards of one process. `O` identifies operations, and what else pages are closed for.
pub struct Guards<O> {
    table: Table<O>,
    prints: Prints<O>,
    budget: Budget,
    sites: Sites,
    watched: Watched,
    /// How often pages had been opened to threads when that was last charged.
    opened: u64,
    closes: Closes,
    lie: Lie,
    /// Which instructions have come to closed pages, and how often; others may have taken their
    /// places.
    met: [Met; MET],
}

/// Which pages may be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closes {
    /// None: there is no means, or the program protects pages of its own.
    Nothing,
    /// Those of what operations read, by write protection.
    Sends,
    /// Those of all buffers, by keys.
    All,
}

/// What may be done with the buffers of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The call that has started it: the address that it returns to.
    pub site: usize,
    /// Whether checksums of what it reads tell a mistake.
    pub sums: bool,
    /// Whether what it writes may be closed: only threads that call the library, or that it has
    /// created in its calls by `pthread_create`, write it.
    pub closes_written: bool,
}

/// Where the bytes of a buffer lie, and where what lies behind them begins: at their end, or
/// further on if the buffer ends with an allocated block that has pages of its own.
pub type Lie = fn(&Range<usize>) -> (Memory, usize);

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
    /// Guards that take up `percent` of the time the process runs from now on; 100 for any. `lie`
    /// says where the bytes of a buffer of a pending operation lie, `read` reads those that may be
    /// gone.
    ///
    /// For [`Closes::All`], [`keys::acquire`] must have succeeded, for [`Closes::Sends`]
    /// [`protection::begin`] have been called.
    pub fn new(percent: u32, closes: Closes, lie: Lie, read: Read) -> Guards<O> {
        Guards {
            table: Table::default(),
            prints: Prints::new(read),
            budget: Budget::new(percent, Instant::now()),
            sites: Sites::new(),
            watched: Watched::default(),
            opened: keys::times_opened(),
            closes,
            lie,
            met: [Met::default(); MET],
        }
    }

    /// Whether an operation of a call site that uses this run of bytes alone is passed to
    /// [`begin`](Self::begin), since it holds whole pages that the budget allows to watch; else to
    /// [`begin_small`](Self::begin_small).
    pub fn want(&self, run: &Range<usize>, writes: bool, site: usize) -> bool {
        match self.closes {
            // Only what overlaps a closed buffer, which is a mistake.
            Closes::Sends if writes => !self.table.is_empty(),
            _ => !self.pages(run).is_empty() && self.may_spend(Instant::now(), site),
        }
    }

    /// Whether an operation of this call site may be watched.
    fn may_spend(&self, now: Instant, site: usize) -> bool {
        self.sites.is_new(site) || self.budget.allows(now)
    }

    /// The pages that hold nothing but bytes of a buffer.
    fn pages(&self, run: &Range<usize>) -> Range<usize> {
        // Only then there may be such a page, by whatever lies behind.
        match run.start.next_multiple_of(PAGE) < run.end {
            true => inside(&(run.start..(self.lie)(run).1)),
            false => 0..0,
        }
    }

    /// An operation has started that uses this run of bytes alone, which
    /// [`want`](Self::want) does not want. Returns its checksum, if the operation only reads it,
    /// to be passed to [`is_changed`](Self::is_changed) or [`keep`](Self::keep).
    pub fn begin_small(&mut self, run: &Range<usize>, writes: bool) -> Option<u64> {
        let pages = self.pages(run).len() as u64;
        let pages = pages.min(run.len() as u64);
        if pages == 0 && !writes && !run.is_empty() {
            let memory = (self.lie)(run).0;
            if self.allows_sum(run.len(), memory)
                && let Some(sum) = self.prints.sum(run, memory)
            {
                self.budget.spend_sum(run.len(), memory);
                self.watched.summed += run.len() as u64;
                return Some(sum);
            }
        }
        *match self.closes == Closes::Sends && writes {
            true => &mut self.watched.unclosable,
            false => &mut self.watched.over_budget,
        } += pages;
        self.watched.shared += run.len() as u64 - pages;
        None
    }

    /// Whether a checksum of so many bytes may be taken. Of few it costs less than the clock.
    fn allows_sum(&self, bytes: usize, memory: Memory) -> bool {
        bytes <= FEW && memory != Memory::Elsewhere || self.budget.allows(Instant::now())
    }

    /// Whether a buffer has changed since [`begin_small`](Self::begin_small).
    pub fn is_changed(&mut self, run: &Range<usize>, sum: u64) -> bool {
        let memory = (self.lie)(run).0;
        self.budget.spend_sum(run.len(), memory);
        self.prints.sum(run, memory).is_some_and(|now| now != sum)
    }

    /// What [`begin_small`](Self::begin_small) has returned belongs to an operation, as if it had
    /// been passed to [`begin`](Self::begin).
    pub fn keep(&mut self, operation: O, run: Range<usize>, sum: u64) {
        self.prints.keep(operation, run, sum);
    }

    /// An operation has started that uses these runs of bytes, each as long as it goes on: whether
    /// it writes them. Closes the pages that lie inside, and takes checksums of the rest of what it
    /// reads, as far as these are allowed.
    pub fn begin(&mut self, operation: O, runs: &[(Range<usize>, bool)], allowed: Allowed) {
        let begun = Instant::now();
        self.charge_opened();
        let may_spend = self.may_spend(begun, allowed.site);
        let (before, mut taken) = (self.watched.closed, 0);
        for (run, writes) in runs.iter().cloned() {
            let (memory, end) = (self.lie)(&run);
            let pages = inside(&(run.start..end));
            if writes && self.closes == Closes::Sends {
                // The library writes there, or the system for it, which would fail.
                self.table.open(&around(&run), &mut set);
            }
            let mut rest = [run.clone(), 0..0];
            let mut reason = Reason::Shared;
            if memory != Memory::Own {
                reason = Reason::Elsewhere;
            } else if !self.may_close(&pages, writes, runs, allowed) && !pages.is_empty() {
                reason = Reason::Unclosable;
            } else if !pages.is_empty() {
                let is_full = taken == MAX_RUNS || self.table.is_full() || !may_spend;
                let rights = if writes { Rights::None } else { Rights::Read };
                if !is_full && self.table.add(operation, pages.clone(), rights, &mut set) {
                    taken += 1;
                    let closed = pages.start..pages.end.min(run.end);
                    self.watched.closed += closed.len() as u64;
                    rest = [run.start..closed.start, closed.end..run.end];
                } else {
                    reason = if is_full { Reason::OverBudget } else { Reason::Elsewhere };
                }
            }
            let bytes = rest.iter().map(|part| part.len() as u64).sum::<u64>();
            let mut summed = 0;
            if allowed.sums && !writes && may_spend {
                let sums = rest.iter().map(|part| self.prints.add(operation, part, memory) as u64);
                summed = sums.sum();
            }
            self.watched.summed += summed;
            *match reason {
                _ if !may_spend => &mut self.watched.over_budget,
                Reason::Shared => &mut self.watched.shared,
                Reason::Elsewhere => &mut self.watched.elsewhere,
                Reason::Unclosable => &mut self.watched.unclosable,
                Reason::OverBudget => &mut self.watched.over_budget,
            } += bytes - summed;
        }
        if self.watched.closed > before {
            self.watched.operations += 1;
            self.sites.watched(allowed.site);
        }
        self.changed(begun);
    }

    /// Whether pages of what an operation reads, or writes, may be closed, which has all these
    /// runs.
    fn may_close(
        &self,
        pages: &Range<usize>,
        writes: bool,
        runs: &[(Range<usize>, bool)],
        allowed: Allowed,
    ) -> bool {
        let meets = |run: &Range<usize>| run.start < pages.end && pages.start < run.end;
        match self.closes {
            Closes::Nothing => false,
            Closes::Sends => !writes && !runs.iter().any(|(run, writes)| *writes && meets(run)),
            Closes::All => !writes || allowed.closes_written,
        }
    }

    /// Memory is exposed to others from now on, and its accesses are of interest, right or wrong:
    /// closes its whole pages to loads and stores. Of memory that the library has not allocated
    /// itself, only what is known to be readable and writable.
    pub fn expose(&mut self, holder: O, memory: &Range<usize>, is_librarys: bool) {
        let begun = Instant::now();
        self.charge_opened();
        let pages = inside(memory);
        let is_closed = self.closes == Closes::All
            && !pages.is_empty()
            && !self.table.is_full()
            && self.budget.allows(begun)
            && (is_librarys || (self.lie)(memory).0 == Memory::Own)
            && self.table.add(holder, pages.clone(), Rights::None, &mut set);
        let closed = if is_closed { pages.len() } else { 0 };
        self.watched.exposed += closed as u64;
        self.watched.not_exposed += (memory.len() - closed) as u64;
        self.changed(begun);
    }

    /// An access that was no mistake has come to a closed page, in a handler that began to run at
    /// this time: opens all pages if that costs too much.
    pub fn met(&mut self, begun: Instant) {
        self.budget.spend(begun.elapsed() + SIGNALS);
        self.review();
    }

    /// Takes note of how often pages were opened to threads.
    fn charge_opened(&mut self) {
        let opened = keys::times_opened();
        self.budget.spend_opened(opened.saturating_sub(self.opened));
        self.opened = opened;
    }

    /// Many calls were made: opens all pages if that has cost more than it may. They stay open
    /// until other operations begin.
    pub fn review(&mut self) {
        let begun = Instant::now();
        self.charge_opened();
        if !self.budget.allows(begun) {
            self.table.clear(&mut set);
            self.changed(begun);
        }
    }

    /// Which part of what an operation has sent is not as it was when it started.
    pub fn altered(&mut self, operation: O) -> Option<Range<usize>> {
        if self.prints.is_empty() {
            return None;
        }
        let lie = |bytes: &Range<usize>| (self.lie)(bytes).0;
        self.prints.changed(operation, lie, |bytes, memory| self.budget.spend_sum(bytes, memory))
    }

    /// An operation is over: opens its pages, but for those that another one uses.
    pub fn end(&mut self, operation: O) {
        self.prints.remove(operation);
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

    /// The instruction at `pc` accesses the closed page that holds an address: whether it has done
    /// so often enough.
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

    /// The library may write to these bytes, although a pending operation uses them: opens their
    /// pages if it could not.
    pub fn give_way(&mut self, bytes: &Range<usize>) {
        if self.closes == Closes::Sends && !self.table.is_empty() {
            self.open(bytes);
        }
    }

    /// Opens all pages for good: none is closed from now on.
    pub fn open_all(&mut self) {
        self.table.clear(&mut set);
        self.closes = Closes::Nothing;
        self.changed(Instant::now());
    }

    /// Whether pages may be closed: there is a means, and they were not opened for good.
    pub fn closes(&self) -> bool {
        self.closes != Closes::Nothing
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

/// Why pages do not watch a part of a buffer.
enum Reason {
    Shared,
    Elsewhere,
    Unclosable,
    OverBudget,
}

/// What the system takes to deliver the signals of an access, the thread's step included.
const SIGNALS: Duration = Duration::from_micros(3);

/// Bytes of which a checksum is taken within a few nanoseconds.
const FEW: usize = 512;

/// The pages that lie wholly inside a range.
fn inside(bytes: &Range<usize>) -> Range<usize> {
    let (start, end) = (bytes.start.next_multiple_of(PAGE), bytes.end & !(PAGE - 1));
    start..end.max(start)
}

/// The pages that hold some of these bytes.
fn around(bytes: &Range<usize>) -> Range<usize> {
    bytes.start & !(PAGE - 1)..bytes.end.next_multiple_of(PAGE)
}

/// Leaves the program no more than these rights to pages. Returns whether the system has done it.
fn set(pages: Range<usize>, rights: Rights) -> bool {
    match protection::is_on() {
        true => protection::give(pages, rights),
        false => keys::give(pages, rights),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Allowed = Allowed { site: 1, sums: true, closes_written: true };

    #[test]
    fn only_whole_pages_are_inside() {
        assert!(inside(&(1..2 * PAGE - 1)).is_empty());
        assert_eq!(inside(&(1..2 * PAGE)), PAGE..2 * PAGE);
        assert_eq!(inside(&(0..PAGE)), 0..PAGE);
        assert!(inside(&(8..16)).is_empty());
        assert_eq!(around(&(PAGE + 7..PAGE + 8)), PAGE..2 * PAGE);
        assert_eq!(around(&(PAGE..2 * PAGE + 1)), PAGE..3 * PAGE);
    }

    /// Without keys: what is sent has checksums, wherever it lies, and the rest a reason.
    #[test]
    fn each_byte_is_counted_once() {
        let bytes = vec![1u8; 3 * PAGE];
        let all = bytes.as_ptr_range();
        let all = all.start as usize..all.end as usize;
        let own = |run: &Range<usize>| (Memory::Own, run.end);
        let unknown = |run: &Range<usize>| (Memory::Unknown, run.end);
        let (small, length) = (all.start..all.start + 16, all.len() as u64);
        let whole = |guards: &Guards<u32>| {
            let Watched { closed, summed, shared, elsewhere, unclosable, over_budget, .. } =
                guards.watched();
            assert_eq!(closed, 0);
            [summed, shared, elsewhere, unclosable, over_budget]
        };
        let mut guards = Guards::new(100, Closes::Nothing, own, |_, _| 0);
        guards.begin(1, &[(all.clone(), false)], ALL);
        assert_eq!(whole(&guards), [length, 0, 0, 0, 0]);
        assert_eq!(guards.altered(1), None);
        guards.begin(2, &[(all.clone(), true), (small.clone(), true)], ALL);
        assert_eq!(whole(&guards), [length, 16, 0, length, 0]);
        guards.begin(3, &[(all.clone(), false)], Allowed { sums: false, ..ALL });
        assert_eq!(whole(&guards), [length, 16, 0, 2 * length, 0]);
        let sum = guards.begin_small(&small, false).unwrap();
        assert_eq!(whole(&guards), [length + 16, 16, 0, 2 * length, 0]);
        assert!(!guards.is_changed(&small, sum) && guards.is_changed(&small, !sum));
        assert_eq!(guards.begin_small(&small, true), None);
        assert_eq!(whole(&guards), [length + 16, 32, 0, 2 * length, 0]);
        guards.keep(4, small.clone(), !sum);
        assert_eq!(guards.altered(4), Some(small));
        guards.end(4);
        assert_eq!(guards.altered(4), None);

        let mut guards = Guards::new(100, Closes::Nothing, unknown, |_, _| 0);
        guards.begin(1, &[(all, false)], ALL);
        assert_eq!(whole(&guards), [0, 0, length, 0, 0]);
    }

    /// A page of memory of its own.
    fn page() -> Range<usize> {
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
        // SAFETY: a new mapping.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), PAGE, rights, flags | libc::MAP_ANONYMOUS, -1, 0)
        };
        start as usize..start as usize + PAGE
    }

    /// What is started at one place again and again loses its guards to what is new.
    #[test]
    fn the_first_operations_of_each_site_are_watched() {
        if !keys::acquired() {
            return;
        }
        let memory = page();
        let mut guards = Guards::<u32>::new(1, Closes::All, |run| (Memory::Own, run.end), |_, _| 0);
        // All that may be spent for a long time.
        guards.budget.spend(Duration::from_secs(1000));
        let mut watched = |site, times: u32| {
            let before = guards.watched().operations;
            for operation in 0..times {
                let is_wanted = guards.want(&memory, true, site);
                if is_wanted {
                    guards.begin(operation, &[(memory.clone(), true)], Allowed { site, ..ALL });
                    guards.end(operation);
                }
            }
            guards.watched().operations - before
        };
        assert_eq!(watched(0x1000, 10), 10);
        assert_eq!(watched(0x1000, 100), u64::from(ALWAYS) - 10);
        assert_eq!(watched(0x2000, 100), u64::from(ALWAYS));
        assert_eq!(watched(0x1000, 10), 0);
    }

    /// While an operation is pending for long, calls open and close its pages again and again.
    #[test]
    fn polling_that_costs_too_much_ends_guards() {
        if !keys::acquired() {
            return;
        }
        let page = page();
        let mut guards = Guards::new(1, Closes::All, |run| (Memory::Own, run.end), |_, _| 0);
        guards.begin(1, &[(page.clone(), true)], ALL);
        assert_eq!(guards.watched().closed, PAGE as u64);
        guards.review();
        assert_eq!(guards.table.rights_at(page.start), Rights::None);
        for _ in 0..1_000_000 {
            drop(keys::Open::new());
        }
        guards.review();
        assert_eq!(guards.table.rights_at(page.start), Rights::All);
        assert!(guards.closes(), "they may close others when time has passed");
    }

    #[test]
    fn an_instruction_meets_a_page_often_when_it_comes_again() {
        let mut guards =
            Guards::<u32>::new(100, Closes::Nothing, |run| (Memory::Own, run.end), |_, _| 0);
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
