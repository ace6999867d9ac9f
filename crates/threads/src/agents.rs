//! The agents of this process and their vector clocks (Mattern 1989, Fidge 1988): the
//! happens-before order that releases and acquires give.

pub mod by_thread;
pub mod ownership;
pub mod worksharing;

use commsan_process::{abi, heap, machine, thread};
use commsan_shadow::{AGENTS, Actor, Clock, Epoch};
use std::cell::Cell as Local;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize};

type Row = [AtomicU32; AGENTS];

/// The vector clock of each agent, in atomics, since others read it at any time. Only the agent
/// itself and [`acquire_release_all`] write it.
static CLOCKS: [Row; AGENTS] = [const { [const { AtomicU32::new(0) }; AGENTS] }; AGENTS];
static CELLS: [Row; CELL_COUNT] = [const { [const { AtomicU32::new(0) }; AGENTS] }; CELL_COUNT];
/// What was released to all agents, also to those that begin later.
static RELEASED_TO_ALL: Row = [const { AtomicU32::new(0) }; AGENTS];
/// The running agents; the first always runs.
static RUNNING: AgentSet = AgentSet::of_first();
/// The agents' numbers in use.
static ALLOCATED: AgentSet = AgentSet::of_first();
/// The thread that each agent runs on.
static THREADS: Row = [const { AtomicU32::new(0) }; AGENTS];
/// Agents from this number on have never run.
static USED: AtomicUsize = AtomicUsize::new(1);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

const CELL_COUNT: usize = 1024;
const NONE: usize = usize::MAX;

/// A set of agents, a bit for each, which any thread may change.
struct AgentSet([AtomicU64; AGENTS / 64]);

impl AgentSet {
    const fn empty() -> AgentSet {
        AgentSet([const { AtomicU64::new(0) }; AGENTS / 64])
    }

    /// The set of the first agent alone.
    const fn of_first() -> AgentSet {
        let AgentSet(mut words) = AgentSet::empty();
        words[0] = AtomicU64::new(1);
        AgentSet(words)
    }

    fn contains(&self, agent: usize) -> bool {
        self.0[agent / 64].load(Acquire) >> (agent % 64) & 1 != 0
    }

    /// Whether the agent was not in the set before.
    fn insert(&self, agent: usize) -> bool {
        let bit = 1 << (agent % 64);
        self.0[agent / 64].fetch_or(bit, AcqRel) & bit == 0
    }

    fn remove(&self, agent: usize) {
        self.0[agent / 64].fetch_and(!(1 << (agent % 64)), AcqRel);
    }
}

struct This {
    /// The agent and epoch that hooks record accesses with.
    stamp: Local<u64>,
    agent: Local<usize>,
    is_resolved: Local<bool>,
    /// Whether the thread has taken a piece of work that is not an agent yet.
    takes_piece: Local<bool>,
}

thread_local! {
    static THIS: This = const {
        This {
            stamp: Local::new(0),
            agent: Local::new(NONE),
            is_resolved: Local::new(false),
            takes_piece: Local::new(false),
        }
    };
}

/// The synchronisation object that a cell belongs to.
#[derive(Clone, Copy)]
pub enum Kind {
    /// The creation of a thread, region or task.
    Begin = 1,
    /// The end of a thread or region.
    End,
    /// A barrier of a region.
    Barrier,
    /// The ends of all tasks of a region.
    Tasks,
    /// The ends of a task's children.
    Children,
    /// The point at which an interrupted task resumes.
    Resume,
    /// The ends of the tasks of a group.
    Group,
    /// The ends of tasks with dependences.
    Depend,
    /// The ends of tasks that every sibling depends on.
    DependAll,
    /// The ends of tasks that depend on a variable as `in`.
    DependIn,
    /// The ends of tasks that depend on a variable as `inoutset`.
    DependSet,
    /// The ends of tasks that depend on a variable as `out`, `inout` or `mutexinoutset`.
    DependOut,
    /// A lock, or an object used like one.
    Lock,
    /// Releases of a lock that was held in shared mode.
    Readers,
    /// An atomic variable; key 0 stands for all fences.
    Atomic,
    /// Synchronisation with other ranks.
    Ranks,
}

/// The vector clock of a synchronisation object: releases join the agent's clock into it.
#[derive(Clone, Copy)]
pub struct Cell(&'static Row);

/// The cell of an object, by a hash; unrelated objects may share one, which adds order.
pub fn cell(kind: Kind, key: u64) -> Cell {
    let mixed = (key ^ (kind as u64).wrapping_mul(0xff51_afd7_ed55_8ccd))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Cell(&CELLS[(mixed >> 32) as usize % CELL_COUNT])
}

/// A key that no other object has.
pub fn new_id() -> u64 {
    NEXT_ID.fetch_add(1, Relaxed)
}

/// Publishes to the hooks where each thread keeps its stamp.
pub fn publish_stamp() {
    let thread_pointer = machine::thread_pointer();
    let stamp = THIS.with(|this| &raw const this.stamp as usize);
    // A library loaded with the program has its thread-local variables at the same offset in each
    // thread.
    abi::abi().stamp.store(stamp.wrapping_sub(thread_pointer) as u64, Relaxed);
}

/// Whether more than one agent may be running. Also called before anything is set up: by
/// constructors of libraries, and in processes that cannot be checked.
#[inline]
pub fn is_parallel() -> bool {
    crate::observer().is_some() && abi::abi().parallel.load(Relaxed) as u32 != 0
}

/// A thread or region begins that may run in parallel with the current agent.
pub fn enter_parallel() {
    abi::abi().parallel.fetch_add(1, Relaxed);
    heap::add_threads(1);
}

/// A thread or region entered by [`enter_parallel`] is over.
pub fn leave_parallel() {
    heap::add_threads(-1);
    if abi::abi().parallel.fetch_sub(1, Relaxed) as u32 == 1
        && let Some(observer) = crate::observer()
    {
        (observer.sequential)();
    }
}

/// The agent that this thread is; `None` for threads whose creation was not observed.
pub fn current() -> Option<usize> {
    THIS.with(|this| {
        if this.agent.get() == NONE && !this.is_resolved.replace(true) && is_main() {
            this.agent.set(0);
        }
        if this.takes_piece.get() {
            worksharing::begin_piece(this);
        }
        Some(this.agent.get()).filter(|agent| *agent != NONE)
    })
}

fn is_main() -> bool {
    // SAFETY: neither call has side effects.
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

/// Release: joins the current agent's clock into the cell, and begins its next epoch. For a thread
/// that is no agent, it is unknown what happened before: the clocks of all running agents are
/// joined.
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

/// Begins the current agent's next epoch: what it has done so far is told apart from what it does
/// next.
pub fn advance() {
    if let Some(me) = current() {
        CLOCKS[me][me].fetch_add(1, Relaxed);
        set(me);
    }
}

/// Acquire: joins the cell's clock into that of the current agent.
pub fn acquire(cell: Cell) {
    if let Some(me) = current() {
        add(&CLOCKS[me], cell.0);
        worksharing::acquires(me, cell.0);
    }
}

/// Acquires and then releases a cell.
pub fn acquire_release(cell: Cell) {
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

/// Orders everything that any agent has done so far, including its present epoch, before everything
/// that any agent does from now on.
pub fn acquire_release_all() {
    let Some(me) = current() else { return };
    running().for_each(|other| add(&CLOCKS[me], &CLOCKS[other]));
    running().for_each(|other| {
        add(&CLOCKS[other], &CLOCKS[me]);
        worksharing::acquires(other, &CLOCKS[me]);
    });
    add(&RELEASED_TO_ALL, &CLOCKS[me]);
    CLOCKS[me][me].fetch_add(1, Relaxed);
    set(me);
}

fn running() -> impl Iterator<Item = usize> {
    (0..USED.load(Relaxed)).filter(|agent| RUNNING.contains(*agent))
}

/// Agents that are announced and have not begun.
static EXPECTED: AtomicI64 = AtomicI64::new(0);

/// Announces agents that will begin after the present point; negative to withdraw an announcement.
pub fn expect(agents: i64) {
    EXPECTED.fetch_add(agents, AcqRel);
}

/// The agent that a thread was before it became another.
#[must_use]
#[derive(Clone, Copy)]
pub struct Suspended(usize);

/// This thread becomes a new agent, one that was announced with [`expect`]; the agent starts with
/// the clock of cell `after`.
pub fn begin(after: Cell) -> Suspended {
    current();
    let before = THIS.with(|this| this.agent.get());
    by_thread::leaves(before);
    let agent = allocate().unwrap_or(NONE);
    if let Some(row) = CLOCKS.get(agent) {
        // Epochs continue where those of the last agent with this number ended.
        let own = row[agent].load(Relaxed) + 1;
        THREADS[agent].store(thread::with(thread::Thread::number), Relaxed);
        for (mine, from) in row.iter().zip(after.0) {
            mine.store(from.load(Relaxed), Relaxed);
        }
        add(row, &RELEASED_TO_ALL);
        row[agent].store(own, Relaxed);
        worksharing::begins(agent, own);
        by_thread::begins(agent);
        RUNNING.insert(agent);
    }
    expect(-1);
    set(agent);
    Suspended(before)
}

/// Ends the current agent after a release to each of the cells; the thread becomes the suspended
/// agent again.
pub fn end(release_to: &[Cell], suspended: Suspended) {
    if let Some(me) = current()
        && me != 0
    {
        release_to.iter().for_each(|cell| release(*cell));
        by_thread::leaves(me);
        free(me);
    }
    set(suspended.0);
}

/// An agent's work is over; its number will be another one's.
fn free(agent: usize) {
    RUNNING.remove(agent);
    ALLOCATED.remove(agent);
}

/// A free agent number, preferably one that has been free for long: a new agent with a reused
/// number seems ordered after the old one.
fn allocate() -> Option<usize> {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let last = LAST.load(Relaxed);
    let number = (last + 1..AGENTS).chain(0..=last).find(|number| ALLOCATED.insert(*number))?;
    LAST.store(number, Relaxed);
    USED.fetch_max(number + 1, Relaxed);
    Some(number)
}

/// The current agent with its clock; `None` if it is unknown, or if there is no other agent.
pub fn actor() -> Option<Actor> {
    if !is_parallel() {
        return None;
    }
    let me = current()?;
    let clock = Clock::new(std::array::from_fn(|agent| CLOCKS[me][agent].load(Relaxed)));
    Some(Actor {
        stamp: stamp(),
        clock,
        known_to_all,
        is_by_mapping: ownership::is_by_mapping,
        is_by_thread: ownership::is_by_thread,
    })
}

/// The number of the thread on which an agent runs or last ran.
pub fn thread_of(stamp: Epoch) -> u32 {
    THREADS[stamp.agent as usize % AGENTS].load(Relaxed)
}

/// The agent and epoch that this thread's accesses are recorded with.
pub fn stamp() -> Epoch {
    current();
    THIS.with(|this| Epoch::from_bits(this.stamp.get()))
}

/// Whether an epoch happened before the present point of every agent that runs or may begin.
fn known_to_all(stamp: Epoch) -> bool {
    let own = stamp.agent as usize;
    let knows = |agent: usize| match agent == own {
        true => CLOCKS[own][own].load(Relaxed) >= stamp.time,
        false => worksharing::known_by(agent)[own].load(Relaxed) >= stamp.time,
    };
    EXPECTED.load(Acquire) == 0 && running().all(knows)
}
