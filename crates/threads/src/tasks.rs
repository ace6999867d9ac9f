//! Parallel regions and tasks of OpenMP, for both runtimes.

use crate::activity::{self, Activity, Wait};
use crate::agents::worksharing::{self, Work};
use crate::agents::{self, Cell, Kind, Suspended, acquire, begin, cell, end, expect, release};
use crate::depend::Dependences;
use commsan_findings::stats::Counter;
use commsan_process::{abi, stats};
use std::cell::{Cell as Local, RefCell};
use std::ops::Range;
use std::sync::OnceLock;

/// A parallel region that this thread has opened or works in.
#[derive(Clone, Copy, Default)]
pub struct Team {
    pub region: u64,
    /// Number of threads that work in it, if this one opened it.
    members: u32,
    /// Number of barriers that this thread has passed.
    barriers: u64,
    /// The agent that this thread was before, if another thread opened the region.
    worker: Option<Suspended>,
    /// What this thread works on outside of the region.
    outer: Work,
}

impl Team {
    /// Whether several threads work in it, this one among them.
    fn has_several(self) -> bool {
        self.members > 1 || self.worker.is_some()
    }
}

/// How many parallel regions this thread works in that each have several threads; 2 for more.
pub fn depth() -> u32 {
    let team = TEAM.get();
    u32::from(team.has_several()) + u32::from(team.region & NESTED != 0)
}

/// An explicit task.
#[derive(Clone, Copy, Default)]
pub struct Task {
    pub id: u64,
    pub parent: u64,
    /// The innermost task group that it was created in.
    pub group: u64,
    pub depends: Dependences,
    /// Whether the task that created it waits for it.
    pub undeferred: bool,
}

thread_local! {
    static TEAM: Local<Team> = const {
        Local::new(Team {
            region: 0,
            members: 0,
            barriers: 0,
            worker: None,
            outer: worksharing::NOTHING,
        })
    };
    static TASK: Local<u64> = const { Local::new(0) };
    /// Open task groups, outermost first, also those of tasks that are suspended on this thread.
    static GROUPS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    static STACK: RefCell<Vec<BegunTask>> = const { RefCell::new(Vec::new()) };
}

/// A task that this thread has begun, and the state to restore when it ends.
struct BegunTask {
    task: Task,
    suspended: Suspended,
    before: u64,
    doing: Activity,
    /// Number of groups that were open before; later ones are the task's own.
    groups: usize,
}

/// Announced until the first member reports the size of the team; larger than any team.
const TEAM_SIZE_UNKNOWN: i64 = 1 << 32;

/// A bit in the numbers of regions that lie in others.
const NESTED: u64 = 1 << 62;

/// Opens a parallel region.
pub fn open() -> u64 {
    let nested = if TEAM.get().has_several() { NESTED } else { 0 };
    let region = agents::new_id() | nested;
    stats::count(Counter::Regions);
    agents::enter_parallel();
    expect(TEAM_SIZE_UNKNOWN);
    release(cell(Kind::Begin, region));
    region
}

/// The thread that opened the region becomes the first of its `members`; `outside` is an address
/// of its stack above which no frame belongs to the region.
pub fn lead(region: u64, members: u32, outside: usize) -> Team {
    expect(i64::from(members) - 1 - TEAM_SIZE_UNKNOWN);
    activity::announce(i64::from(members) - 1);
    let outer = worksharing::enter(outside);
    TEAM.replace(Team { region, members, outer, ..Team::default() })
}

/// Another thread becomes a member. Its work for an earlier team is unrelated to this one.
pub fn follow(region: u64) -> Team {
    activity::begin();
    let worker = Some(begin(cell(Kind::Begin, region)));
    crate::popped();
    let outer = worksharing::join();
    TEAM.replace(Team { region, worker, outer, ..Team::default() })
}

/// A member of the team is done; the first member waits for the others. A second call has no
/// effect.
pub fn leave() {
    worksharing::close();
    let team = TEAM.get();
    match team.worker {
        Some(suspended) => {
            TEAM.set(Team { worker: None, ..team });
            activity::end();
            end(&[cell(Kind::End, team.region)], suspended);
        }
        None => _ = activity::pause(),
    }
}

/// Returns the thread to the team that it was in before.
pub fn restore(team: Team) {
    worksharing::leave(TEAM.replace(team).outer);
}

/// This thread comes to a construct whose pieces the runtime distributes. With one thread, it is
/// the program that says who takes them.
pub fn distribute() {
    let team = TEAM.get();
    if team.worker.is_some() || team.members > 1 {
        worksharing::open();
    }
}

/// This thread comes to a section of a construct, perhaps its first.
pub fn take_section() {
    if !worksharing::is_open() {
        distribute();
    }
    worksharing::take();
}

/// Closes a region: all its members are done.
pub fn close(region: u64) {
    activity::resume();
    acquire(cell(Kind::End, region));
    acquire(cell(Kind::Tasks, region));
    agents::leave_parallel();
}

/// The region that this thread works in; 0 outside.
pub fn region() -> u64 {
    TEAM.get().region
}

/// Number of threads in the region that this one opened; 0 elsewhere.
pub fn members() -> u32 {
    TEAM.get().members
}

/// The number of the task that this thread runs.
pub fn task() -> u64 {
    TASK.get()
}

/// This thread arrives at a barrier.
pub fn arrive() -> Wait {
    worksharing::close();
    release(barrier(TEAM.get()));
    activity::wait()
}

/// This thread leaves the barrier: all members have arrived.
pub fn depart() {
    let team = TEAM.get();
    acquire(barrier(team));
    acquire(cell(Kind::Tasks, team.region));
    TEAM.set(Team { barriers: team.barriers + 1, ..team });
}

/// The cell of the current barrier. Two cells per region are enough: no thread arrives at the next
/// barrier but one before all have left this one.
fn barrier(team: Team) -> Cell {
    cell(Kind::Barrier, team.region << 1 | team.barriers & 1)
}

/// `taskwait`: the children of this thread's task have ended.
pub fn wait_for_children() {
    acquire(cell(Kind::Children, task()));
}

/// Opens a task group.
pub fn open_group() {
    GROUPS.with_borrow_mut(|groups| groups.push(agents::new_id()));
}

/// Closes the innermost task group, whose tasks have all ended. If a task that has moved to this
/// thread opened it on another one, it is unknown here: then all ended tasks of the region count.
pub fn close_group() {
    let own = STACK.with_borrow(|stack| stack.last().map_or(0, |begun| begun.groups));
    match GROUPS.with_borrow_mut(|groups| if groups.len() > own { groups.pop() } else { None }) {
        Some(group) => acquire(cell(Kind::Group, group)),
        None => acquire(cell(Kind::Tasks, region())),
    }
}

/// The group that a task created now belongs to.
fn group() -> u64 {
    let own = STACK.with_borrow(|stack| stack.last().map(|begun| (begun.groups, begun.task.group)));
    let (own, outer) = own.unwrap_or((0, 0));
    GROUPS
        .with_borrow(|groups| groups.get(own..).and_then(|open| open.last().copied()))
        .unwrap_or(outer)
}

/// Keys of unnamed locks, by construct.
pub const CRITICAL: u64 = 1;
pub const ATOMIC: u64 = 2;
pub const ORDERED: u64 = 3;

/// Memory whose locks do not synchronise the program's threads.
static IGNORED_LOCKS: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// Ignores the locks in this memory, which belong to libraries that the program does not
/// synchronise its threads by: UCX locks one whenever memory is mapped.
pub fn ignore_locks_in(memory: Vec<Range<usize>>) {
    let _ = IGNORED_LOCKS.set(memory);
}

fn is_ignored(key: u64) -> bool {
    let memory = IGNORED_LOCKS.get().map_or(&[][..], Vec::as_slice);
    memory.iter().any(|range| range.contains(&(key as usize)))
}

/// This thread has acquired a lock.
pub fn lock(key: u64) {
    if !is_ignored(key) {
        worksharing::learn();
        acquire(cell(Kind::Lock, key));
        notify_lock(key, true);
    }
}

/// Reports a lock that other processes may hold as well.
fn notify_lock(key: u64, takes: bool) {
    if abi::shares_windows()
        && let Some(observer) = crate::observer()
    {
        (observer.lock)(key as usize, takes);
    }
}

/// This thread is about to release a lock.
pub fn unlock(key: u64) {
    if !is_ignored(key) {
        notify_lock(key, false);
        release(cell(Kind::Lock, key));
    }
}

/// The action of an interceptor that has nothing to do on one side of the call.
pub fn nothing() {}

/// This thread has acquired a read-write lock in exclusive mode.
pub fn lock_alone(key: u64) {
    lock(key);
    if !is_ignored(key) {
        acquire(cell(Kind::Readers, key));
    }
}

/// This thread is about to release a lock held in shared mode: other readers do not wait for it.
pub fn unlock_shared(key: u64) {
    if !is_ignored(key) {
        notify_lock(key, false);
        release(cell(Kind::Readers, key));
    }
}

/// Creates a task.
pub fn create(depends: Dependences, undeferred: bool) -> Task {
    stats::count(Counter::Tasks);
    let (id, parent, group) = (agents::new_id(), task(), group());
    let task = Task { id, parent, group, depends, undeferred };
    expect(1);
    release(cell(Kind::Begin, task.id));
    task
}

/// This thread begins to run a task.
pub fn run(task: Task) {
    let suspended = begin(cell(Kind::Begin, task.id));
    task.depends.acquire(task.parent);
    let (before, doing) = (TASK.replace(task.id), activity::resume());
    let groups = GROUPS.with_borrow(Vec::len);
    STACK.with_borrow_mut(|stack| stack.push(BegunTask { task, suspended, before, doing, groups }));
}

/// This thread resumes a task that another one began.
pub fn resume(task: Task) {
    expect(1);
    run(task);
    acquire(cell(Kind::Resume, task.id));
}

/// The task that this thread runs may resume on another thread.
pub fn interrupt(task: Task) {
    release(cell(Kind::Resume, task.id));
}

/// The task that this thread has begun last.
pub fn innermost() -> Option<u64> {
    STACK.with_borrow(|stack| stack.last().map(|begun| begun.task.id))
}

/// Whether this thread has begun or resumed a task, and has not ended it.
pub fn has_begun_here(id: u64) -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|begun| begun.task.id == id))
}

/// Suspends the task that this thread has begun last, before its end.
pub fn suspend() {
    let Some(BegunTask { task, suspended, before, doing, groups }) =
        STACK.with_borrow_mut(Vec::pop)
    else {
        return;
    };
    GROUPS.with_borrow_mut(|open| open.truncate(groups));
    end(&[cell(Kind::Resume, task.id)], suspended);
    TASK.set(before);
    activity::restore(doing);
}

/// Ends the task that this thread has begun last.
pub fn finish() {
    let Some(BegunTask { task, suspended, before, doing, groups }) =
        STACK.with_borrow_mut(Vec::pop)
    else {
        return;
    };
    GROUPS.with_borrow_mut(|open| open.truncate(groups));
    task.depends.release(task.parent);
    let ends = [(Kind::Children, task.parent), (Kind::Tasks, region()), (Kind::Group, task.group)];
    end(&ends.map(|(kind, key)| cell(kind, key)), suspended);
    TASK.set(before);
    activity::restore(doing);
    crate::popped();
    if task.undeferred {
        wait_for_children();
    }
}
