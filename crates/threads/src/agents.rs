//! The agents of this process, and what passes between them.

use commsan_process::{abi, thread};
use commsan_shadow::{AGENTS, Actor, Clock, Epoch};
use std::cell::Cell as Local;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize};

type Row = [AtomicU32; AGENTS];

/// The vector clock of each agent, which it alone writes: atomics, since others read it at any time.
static CLOCKS: [Row; AGENTS] = [const { [const { AtomicU32::new(0) }; AGENTS] }; AGENTS];
static CELLS: [Row; MOST_CELLS] = [const { [const { AtomicU32::new(0) }; AGENTS] }; MOST_CELLS];
/// What agents have told all, also those that begin later.
static TOLD_TO_ALL: Row = [const { AtomicU32::new(0) }; AGENTS];
/// A bit for each agent that runs; the first always does.
static RUNNING: [AtomicU64; AGENTS / 64] = [AtomicU64::new(1), AtomicU64::new(0)];
/// A bit for each agent number in use.
static TAKEN: [AtomicU64; AGENTS / 64] = [AtomicU64::new(1), AtomicU64::new(0)];
/// The thread that each agent runs on.
static THREADS: Row = [const { AtomicU32::new(0) }; AGENTS];
/// Agents beyond this have never run.
static USED: AtomicUsize = AtomicUsize::new(1);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

const MOST_CELLS: usize = 1024;
const NONE: usize = usize::MAX;

struct This {
    /// What hooks note accesses with.
    stamp: Local<u64>,
    agent: Local<usize>,
    is_asked: Local<bool>,
}

thread_local! {
    static THIS: This = const {
        This { stamp: Local::new(0), agent: Local::new(NONE), is_asked: Local::new(false) }
    };
}

/// What a cell belongs to.
#[derive(Clone, Copy)]
pub enum Kind {
    /// The beginning of a thread, region or task.
    Begin = 1,
    /// The end of a thread or region.
    End,
    /// A barrier of a region.
    Barrier,
    /// The ends of all tasks of a region.
    Tasks,
    /// The ends of a task's children.
    Children,
    /// Where a task goes on that was interrupted.
    Resume,
    /// The ends of tasks of a group.
    Group,
    /// Tasks with dependences.
    Depend,
    /// Those that every sibling depends on.
    DependAll,
    /// Those that name a variable as `in`.
    DependIn,
    /// As `inoutset`.
    DependSet,
    /// As `out` and the like.
    DependOut,
    /// A lock or something like it.
    Lock,
    /// Those who have shared a lock.
    Readers,
    /// An atomic variable; 0 is all fences.
    Atomic,
    /// Other ranks.
    Ranks,
}

/// Where agents leave their clocks for each other.
#[derive(Clone, Copy)]
pub struct Cell(&'static Row);

/// The cell of something; others may have the same.
pub fn cell(kind: Kind, key: u64) -> Cell {
    let mixed = (key ^ (kind as u64).wrapping_mul(0xff51_afd7_ed55_8ccd))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Cell(&CELLS[(mixed >> 32) as usize % MOST_CELLS])
}

/// A number that nothing else has.
pub fn new_id() -> u64 {
    NEXT_ID.fetch_add(1, Relaxed)
}

/// Tells the hooks where each thread keeps its stamp.
pub fn publish_stamp() {
    let thread_pointer: usize;
    // SAFETY: on x86-64 the first word of the thread's control block is its own address.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) thread_pointer, options(nostack, preserves_flags));
    }
    let stamp = THIS.with(|this| &raw const this.stamp as usize);
    // A library that was loaded with the program has its variables at the same distance in each
    // thread.
    abi::abi().stamp.store(stamp.wrapping_sub(thread_pointer) as u64, Relaxed);
}

/// Whether more than one agent may be running. Also asked before there is anything to look at: by
/// constructors of libraries, and in processes that cannot be checked.
#[inline]
pub fn is_parallel() -> bool {
    crate::observer().is_some() && abi::abi().parallel.load(Relaxed) as u32 != 0
}

/// More agents may run from now on.
pub fn spread() {
    abi::abi().parallel.fetch_add(1, Relaxed);
}

/// The reverse.
pub fn gather() {
    if abi::abi().parallel.fetch_sub(1, Relaxed) as u32 == 1
        && let Some(observer) = crate::observer()
    {
        (observer.calm)();
    }
}

/// The agent this thread is; `None` for threads that nobody knows where they came from.
pub fn current() -> Option<usize> {
    THIS.with(|this| {
        if this.agent.get() == NONE && !this.is_asked.replace(true) && is_main() {
            this.agent.set(0);
        }
        Some(this.agent.get()).filter(|agent| *agent != NONE)
    })
}

fn is_main() -> bool {
    // SAFETY: neither call has an effect.
    unsafe { libc::gettid() == libc::getpid() }
}

fn set(agent: usize) {
    let time = CLOCKS.get(agent).map_or(0, |row| row[agent].load(Relaxed));
    let stamp = if agent == NONE { Epoch::default() } else { Epoch { agent: agent as u32, time } };
    THIS.with(|this| {
        this.agent.set(agent);
        this.stamp.set(stamp.to_bits());
    });
}

/// Adds what the current agent has done to a cell. Of a thread that is no agent it is not known
/// what it comes after: it may be everything.
pub fn release(cell: Cell) {
    match current() {
        Some(me) => {
            add(cell.0, &CLOCKS[me]);
            CLOCKS[me][me].fetch_add(1, Relaxed);
            set(me);
        }
        None => running().for_each(|agent| add(cell.0, &CLOCKS[agent])),
    }
}

/// The current agent comes after what was released to a cell.
pub fn acquire(cell: Cell) {
    if let Some(me) = current() {
        add(&CLOCKS[me], cell.0);
    }
}

/// Both.
pub fn meet(cell: Cell) {
    acquire(cell);
    release(cell);
}

fn add(to: &Row, from: &Row) {
    for (to, from) in to.iter().zip(from).take(USED.load(Relaxed)) {
        let from = from.load(Relaxed);
        if to.load(Relaxed) < from {
            to.fetch_max(from, Relaxed);
        }
    }
}

/// Orders what all agents have done so far, and the present epoch of each, before what all do from
/// now on.
pub fn meet_all() {
    let Some(me) = current() else { return };
    running().for_each(|other| add(&CLOCKS[me], &CLOCKS[other]));
    running().for_each(|other| add(&CLOCKS[other], &CLOCKS[me]));
    add(&TOLD_TO_ALL, &CLOCKS[me]);
    CLOCKS[me][me].fetch_add(1, Relaxed);
    set(me);
}

fn running() -> impl Iterator<Item = usize> {
    let runs = |agent: &usize| RUNNING[agent / 64].load(Acquire) >> (agent % 64) & 1 != 0;
    (0..USED.load(Relaxed)).filter(runs)
}

/// Agents that have been announced and not begun.
static UNBORN: AtomicI64 = AtomicI64::new(0);

/// So many agents will begin that come after what happens now, or fewer than was said.
pub fn expect(agents: i64) {
    UNBORN.fetch_add(agents, AcqRel);
}

/// The agent that a thread was before it became another.
#[must_use]
#[derive(Clone, Copy)]
pub struct Suspended(usize);

/// This thread is a new agent from now on, one that was expected, and comes after what was released
/// to a cell.
pub fn begin(after: Cell) -> Suspended {
    let before = THIS.with(|this| this.agent.get());
    let agent = take().unwrap_or(NONE);
    if let Some(row) = CLOCKS.get(agent) {
        // Epochs go on where those of the last agent with this number ended.
        let own = row[agent].load(Relaxed) + 1;
        THREADS[agent].store(thread::with(thread::Thread::number), Relaxed);
        for (mine, from) in row.iter().zip(after.0) {
            mine.store(from.load(Relaxed), Relaxed);
        }
        add(row, &TOLD_TO_ALL);
        row[agent].store(own, Relaxed);
        RUNNING[agent / 64].fetch_or(1 << (agent % 64), Release);
    }
    expect(-1);
    set(agent);
    Suspended(before)
}

/// The current agent ends, having told some cells, and the thread is again what it was.
pub fn end(tell: &[Cell], suspended: Suspended) {
    if let Some(me) = current()
        && me != 0
    {
        tell.iter().for_each(|cell| release(*cell));
        RUNNING[me / 64].fetch_and(!(1 << (me % 64)), Release);
        TAKEN[me / 64].fetch_and(!(1 << (me % 64)), AcqRel);
    }
    set(suspended.0);
}

/// A number that is free, and has been for long: who has the number of another one seems to come
/// after it.
fn take() -> Option<usize> {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let last = LAST.load(Relaxed);
    let number = (last + 1..AGENTS).chain(0..=last).find(|number| {
        let bit = 1 << (number % 64);
        TAKEN[number / 64].fetch_or(bit, AcqRel) & bit == 0
    })?;
    LAST.store(number, Relaxed);
    USED.fetch_max(number + 1, Relaxed);
    Some(number)
}

/// The agent that acts, where that matters: there are others, and it is known.
pub fn actor() -> Option<Actor> {
    if !is_parallel() {
        return None;
    }
    let me = current()?;
    let clock = Clock::new(std::array::from_fn(|agent| CLOCKS[me][agent].load(Relaxed)));
    Some(Actor { stamp: stamp(), clock, known_to_all })
}

/// The thread on which an agent runs or ran last.
pub fn thread_of(stamp: Epoch) -> u32 {
    THREADS[stamp.agent as usize % AGENTS].load(Relaxed)
}

/// What this thread's accesses are noted with.
pub fn stamp() -> Epoch {
    THIS.with(|this| Epoch::from_bits(this.stamp.get()))
}

/// Whether all agents that run, or may begin to, come after an epoch.
fn known_to_all(stamp: Epoch) -> bool {
    let knows = |agent: usize| CLOCKS[agent][stamp.agent as usize].load(Relaxed) >= stamp.time;
    UNBORN.load(Acquire) == 0 && running().all(knows)
}
