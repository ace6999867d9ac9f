//! Parallel regions and tasks, as both OpenMP runtimes have them.

use crate::agents::{self, Cell, Kind, Suspended, acquire, begin, cell, end, expect, release};
use crate::depend::Dependences;
use crate::work::{self, Doing, Wait};
use commsan_process::abi;
use std::cell::{Cell as Local, RefCell};
use std::ops::Range;
use std::sync::OnceLock;

/// A parallel region that this thread has opened or works in.
#[derive(Clone, Copy, Default)]
pub struct Team {
    pub region: u64,
    /// Threads that work in it, if this one has opened it.
    members: u32,
    /// Barriers that this thread has passed.
    barriers: u64,
    /// What this thread was before, if it is not the one that opened the region.
    worker: Option<Suspended>,
}

/// A task that this thread runs.
#[derive(Clone, Copy, Default)]
pub struct Task {
    pub id: u64,
    pub parent: u64,
    /// The innermost group that it was made in.
    pub group: u64,
    pub depends: Dependences,
    /// The one that made it waits for it.
    pub undeferred: bool,
}

thread_local! {
    static TEAM: Local<Team> = const {
        Local::new(Team { region: 0, members: 0, barriers: 0, worker: None })
    };
    static TASK: Local<u64> = const { Local::new(0) };
    /// Groups that are open, outermost first, and those of tasks that this thread is in the middle of.
    static GROUPS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    static STACK: RefCell<Vec<Begun>> = const { RefCell::new(Vec::new()) };
}

/// A task that this thread has begun, and what it was before.
struct Begun {
    task: Task,
    suspended: Suspended,
    before: u64,
    doing: Doing,
    /// How many groups were open: its own are above.
    groups: usize,
}

/// More threads than a team can have: how many it will be, its first member tells.
const MANY: i64 = 1 << 32;

/// This thread opens a parallel region.
pub fn open() -> u64 {
    let region = agents::new_id();
    agents::spread();
    expect(MANY);
    release(cell(Kind::Begin, region));
    region
}

/// The thread that has opened the region is its first member, of so many.
pub fn lead(region: u64, members: u32) -> Team {
    expect(i64::from(members) - 1 - MANY);
    work::announce(i64::from(members) - 1);
    TEAM.replace(Team { region, members, ..Team::default() })
}

/// A thread becomes another member. What it did for another team before is none of this one's.
pub fn follow(region: u64) -> Team {
    work::begin();
    let worker = Some(begin(cell(Kind::Begin, region)));
    crate::popped();
    TEAM.replace(Team { region, worker, ..Team::default() })
}

/// A member of a team is done, and waits for the others if it is the first; nothing happens if it has been done
/// before.
pub fn leave() {
    let team = TEAM.get();
    match team.worker {
        Some(suspended) => {
            TEAM.set(Team { worker: None, ..team });
            work::end();
            end(&[cell(Kind::End, team.region)], suspended);
        }
        None => _ = work::pause(),
    }
}

/// The thread is in the team that it was in before.
pub fn restore(team: Team) {
    TEAM.set(team);
}

/// All members of a region are done.
pub fn close(region: u64) {
    work::resume();
    acquire(cell(Kind::End, region));
    acquire(cell(Kind::Tasks, region));
    agents::gather();
}

/// The region this thread works in; 0 outside.
pub fn region() -> u64 {
    TEAM.get().region
}

/// The threads that work in a region that this one has opened; 0 elsewhere.
pub fn members() -> u32 {
    TEAM.get().members
}

/// The number of the task this thread runs.
pub fn task() -> u64 {
    TASK.get()
}

/// This thread has come to a barrier.
pub fn arrive() -> Wait {
    release(barrier(TEAM.get()));
    work::wait()
}

/// All have.
pub fn depart() {
    let team = TEAM.get();
    acquire(barrier(team));
    acquire(cell(Kind::Tasks, team.region));
    TEAM.set(Team { barriers: team.barriers + 1, ..team });
}

/// Two cells are enough: nobody comes to the next but one before all have left this.
fn barrier(team: Team) -> Cell {
    cell(Kind::Barrier, team.region << 1 | team.barriers & 1)
}

/// Children of this thread's task have ended, those before.
pub fn wait_for_children() {
    acquire(cell(Kind::Children, task()));
}

/// This thread opens a group of tasks.
pub fn open_group() {
    GROUPS.with_borrow_mut(|groups| groups.push(agents::new_id()));
}

/// All tasks of the innermost group have ended. One that was opened on another thread, by a task that has moved since, is
/// not known here: then all tasks of the region that have ended count.
pub fn close_group() {
    let own = STACK.with_borrow(|stack| stack.last().map_or(0, |begun| begun.groups));
    match GROUPS.with_borrow_mut(|groups| if groups.len() > own { groups.pop() } else { None }) {
        Some(group) => acquire(cell(Kind::Group, group)),
        None => acquire(cell(Kind::Tasks, region())),
    }
}

/// The group that what is made now belongs to.
fn group() -> u64 {
    let own = STACK.with_borrow(|stack| stack.last().map(|begun| (begun.groups, begun.task.group)));
    let (own, outer) = own.unwrap_or((0, 0));
    GROUPS
        .with_borrow(|groups| groups.get(own..).and_then(|open| open.last().copied()))
        .unwrap_or(outer)
}

/// Locks without a name, by what they are for.
pub const CRITICAL: u64 = 1;
pub const ATOMIC: u64 = 2;
pub const ORDERED: u64 = 3;

/// Memory whose locks order nothing that concerns the program.
static FOREIGN: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// Locks in this memory are of libraries that the program does not synchronise its threads by: UCX takes one
/// whenever memory is mapped.
pub fn ignore_locks_in(memory: Vec<Range<usize>>) {
    let _ = FOREIGN.set(memory);
}

fn is_foreign(key: u64) -> bool {
    let memory = FOREIGN.get().map_or(&[][..], Vec::as_slice);
    memory.iter().any(|range| range.contains(&(key as usize)))
}

/// This thread has a lock.
pub fn lock(key: u64) {
    if !is_foreign(key) {
        acquire(cell(Kind::Lock, key));
        tell(key, true);
    }
}

/// Tells of a lock that other processes may have had.
fn tell(key: u64, takes: bool) {
    if abi::shares_windows()
        && let Some(observer) = crate::observer()
    {
        (observer.lock)(key as usize, takes);
    }
}

/// This thread is about to give it up.
pub fn unlock(key: u64) {
    if !is_foreign(key) {
        tell(key, false);
        release(cell(Kind::Lock, key));
    }
}

/// What there is to do before a lock is taken, and after it has been given up.
pub fn nothing() {}

/// This thread has a lock for itself alone that others might share.
pub fn lock_alone(key: u64) {
    lock(key);
    if !is_foreign(key) {
        acquire(cell(Kind::Readers, key));
    }
}

/// This thread is about to give up its share: those that share the lock do not wait for it.
pub fn unlock_shared(key: u64) {
    if !is_foreign(key) {
        tell(key, false);
        release(cell(Kind::Readers, key));
    }
}

/// A new task.
pub fn create(depends: Dependences, undeferred: bool) -> Task {
    let (id, parent, group) = (agents::new_id(), task(), group());
    let task = Task { id, parent, group, depends, undeferred };
    expect(1);
    release(cell(Kind::Begin, task.id));
    task
}

/// This thread begins to run a task.
pub fn run(task: Task) {
    let suspended = begin(cell(Kind::Begin, task.id));
    task.depends.wait(task.parent);
    let (before, doing) = (TASK.replace(task.id), work::resume());
    let groups = GROUPS.with_borrow(Vec::len);
    STACK.with_borrow_mut(|stack| stack.push(Begun { task, suspended, before, doing, groups }));
}

/// The task that this thread runs now was begun by another one.
pub fn resume(task: Task) {
    expect(1);
    run(task);
    acquire(cell(Kind::Resume, task.id));
}

/// The task that this thread runs may go on elsewhere.
pub fn interrupt(task: Task) {
    release(cell(Kind::Resume, task.id));
}

/// The task this thread has begun last.
pub fn innermost() -> Option<u64> {
    STACK.with_borrow(|stack| stack.last().map(|begun| begun.task.id))
}

/// Whether this thread has begun a task, or taken it over, and has not ended it.
pub fn has_begun_here(id: u64) -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|begun| begun.task.id == id))
}

/// This thread leaves the task it has begun last, which is not done.
pub fn suspend() {
    let Some(Begun { task, suspended, before, doing, groups }) = STACK.with_borrow_mut(Vec::pop)
    else {
        return;
    };
    GROUPS.with_borrow_mut(|open| open.truncate(groups));
    end(&[cell(Kind::Resume, task.id)], suspended);
    TASK.set(before);
    work::restore(doing);
}

/// That task has ended.
pub fn finish() {
    let Some(Begun { task, suspended, before, doing, groups }) = STACK.with_borrow_mut(Vec::pop)
    else {
        return;
    };
    GROUPS.with_borrow_mut(|open| open.truncate(groups));
    task.depends.tell(task.parent);
    let ends = [(Kind::Children, task.parent), (Kind::Tasks, region()), (Kind::Group, task.group)];
    end(&ends.map(|(kind, key)| cell(kind, key)), suspended);
    TASK.set(before);
    work::restore(doing);
    crate::popped();
    if task.undeferred {
        wait_for_children();
    }
}
