//! LLVM's OpenMP runtime, and those that are like it, through the tools interface of OpenMP 5.2
//! (chapter 19). Of locks it tells too late, when another thread may have them already: see [`kmp`].
//!
//! [`kmp`]: crate::kmp

use crate::agents::{Kind, cell, meet, meet_all};
use crate::tasks::{self, Task, Team};
use crate::{concerns, observer, work};
use commsan_sense::next::Next;
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// What the runtime keeps for a region or task.
type Data = *mut u64;

#[repr(C)]
struct StartTool {
    initialize: unsafe extern "C" fn(Lookup, c_int, Data) -> c_int,
    finalize: unsafe extern "C" fn(Data),
    data: u64,
}

type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// The runtime asks for a tool. A tool that was there before us is left alone: then tasks of this
/// runtime are threads that nobody knows.
///
/// # Safety
/// As OpenMP 5.2, §19.2.1 says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompt_start_tool(version: c_uint, name: *const c_char) -> *mut c_void {
    type Start = unsafe extern "C" fn(c_uint, *const c_char) -> *mut c_void;
    static NEXT: Next = Next::new(c"ompt_start_tool");
    let next = NEXT.get();
    if !next.is_null() {
        // SAFETY: another tool's function, asked as we were.
        let other = unsafe { std::mem::transmute::<*mut c_void, Start>(next)(version, name) };
        if !other.is_null() {
            return other;
        }
    }
    static TOOL: StartTool = StartTool { initialize, finalize, data: 0 };
    match observer() {
        Some(_) => (&raw const TOOL).cast_mut().cast(),
        None => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: Data) -> c_int {
    type Set = unsafe extern "C" fn(c_int, *const c_void) -> c_int;
    // SAFETY: the runtime's own function, of this type.
    let set = unsafe { lookup(c"ompt_set_callback".as_ptr()) };
    if set.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let set = unsafe { std::mem::transmute::<*const c_void, Set>(set) };
    for (event, callback) in [
        (3, parallel_begin as *const c_void),
        (4, parallel_end as *const c_void),
        (5, task_create as *const c_void),
        (6, task_schedule as *const c_void),
        (7, implicit_task as *const c_void),
        (18, dependences as *const c_void),
        (23, sync_region as *const c_void),
        (29, flush as *const c_void),
    ] {
        // SAFETY: a callback of the type that this event has.
        unsafe { set(event, callback) };
    }
    1
}

unsafe extern "C" fn finalize(_data: Data) {}

thread_local! {
    /// Regions that this thread has opened, and the teams it was in.
    static OPENED: RefCell<Vec<(u64, Option<Team>)>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn parallel_begin(
    _task: Data,
    _frame: *const c_void,
    parallel: Data,
    _requested: c_uint,
    _flags: c_int,
    _code: *const c_void,
) {
    let region = tasks::open();
    // SAFETY: the runtime's word for us.
    unsafe { *parallel = region };
    OPENED.with_borrow_mut(|opened| opened.push((region, None)));
}

unsafe extern "C" fn parallel_end(
    _parallel: Data,
    _task: Data,
    _flags: c_int,
    _code: *const c_void,
) {
    let Some((region, before)) = OPENED.with_borrow_mut(Vec::pop) else { return };
    match before {
        Some(team) => tasks::restore(team),
        None => tasks::restore(tasks::lead(region, 1)), // nobody has worked in it
    }
    tasks::close(region);
}

const BEGIN: c_int = 1;
const END: c_int = 2;

unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: Data,
    _task: Data,
    members: c_uint,
    _index: c_uint,
    flags: c_int,
) {
    const INITIAL: c_int = 1;
    if flags & INITIAL != 0 {
        return;
    }
    if endpoint == END {
        return tasks::leave();
    }
    // SAFETY: the runtime's word for us, set when the region began.
    let region = unsafe { *parallel };
    let opened = OPENED.with_borrow(|opened| opened.last().is_some_and(|(id, _)| *id == region));
    if opened {
        let team = tasks::lead(region, members);
        OPENED.with_borrow_mut(|opened| {
            if let Some((_, before)) = opened.last_mut() {
                *before = Some(team);
            }
        });
    } else {
        let _ = tasks::follow(region);
    }
}

unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    _parallel: Data,
    _task: Data,
    _code: *const c_void,
) {
    const TASKWAIT: c_int = 5;
    const TASKGROUP: c_int = 6;
    const REDUCTION: c_int = 7;
    const END_OF_REGION: c_int = 9;
    match (kind, endpoint) {
        (REDUCTION, _) => {}
        (TASKWAIT | TASKGROUP, BEGIN) => work::wait().lasts(),
        (TASKWAIT, _) => {
            work::resume();
            tasks::wait_for_children();
        }
        (TASKGROUP, _) => {
            work::resume();
            tasks::wait_for_group();
        }
        // Those that did not open the region stay in this barrier until the next one.
        (END_OF_REGION, BEGIN) => tasks::leave(),
        (END_OF_REGION, _) => {}
        (_, BEGIN) => tasks::arrive().lasts(),
        _ => {
            work::resume();
            tasks::depart();
        }
    }
}

/// How a task is written into the runtime's word for us.
mod word {
    use crate::tasks::Task;

    const EXPLICIT: u64 = 1 << 63;
    const DEPENDS: u64 = 1 << 62;
    const UNDEFERRED: u64 = 1 << 61;
    const BITS: u32 = 30;
    const MASK: u64 = (1 << BITS) - 1;

    pub fn of(task: Task) -> u64 {
        let flag = |bit, set| if set { bit } else { 0 };
        EXPLICIT
            | flag(DEPENDS, task.depends)
            | flag(UNDEFERRED, task.undeferred)
            | (task.parent & MASK) << BITS
            | task.id & MASK
    }

    /// `None` for implicit tasks.
    pub fn task(word: u64) -> Option<Task> {
        (word & EXPLICIT != 0).then_some(Task {
            id: word & MASK,
            parent: word >> BITS & MASK,
            depends: word & DEPENDS != 0,
            undeferred: word & UNDEFERRED != 0,
        })
    }
}

unsafe extern "C" fn task_create(
    _task: Data,
    _frame: *const c_void,
    created: Data,
    flags: c_int,
    depends: c_int,
    _code: *const c_void,
) {
    const EXPLICIT: c_int = 4;
    const UNDEFERRED: c_int = 0x0800_0000;
    if flags & EXPLICIT != 0 {
        let task = tasks::create(depends != 0, flags & UNDEFERRED != 0);
        // SAFETY: the runtime's word for us.
        unsafe { *created = word::of(task) };
    }
}

unsafe extern "C" fn task_schedule(prior: Data, status: c_int, next: Data) {
    const YIELD: c_int = 2;
    const SWITCH: c_int = 7;
    const DETACHED: c_int = 4;
    const FULFILLED: [c_int; 2] = [5, 6];
    const TASKWAIT: c_int = 8;
    if status == DETACHED {
        work::doubt();
    }
    if FULFILLED.contains(&status) {
        return;
    }
    // A `taskwait` with dependences is a task that ends, but does not begin.
    if status == TASKWAIT {
        return tasks::wait_for_children();
    }
    // SAFETY: the runtime's words for us.
    let word = |data: Data| unsafe { data.as_ref() }.copied().and_then(word::task);
    let following = word(next).filter(|task| !tasks::has_begun_here(task.id));
    if let Some(prior) = word(prior).filter(|task| tasks::innermost() == Some(task.id)) {
        match (status, following) {
            // Another task comes on top of it, or what is under it goes on: it may be elsewhere.
            (YIELD | SWITCH, Some(_)) => tasks::interrupt(prior),
            (YIELD | SWITCH, None) => tasks::suspend(),
            _ => tasks::finish(),
        }
    }
    if let Some(task) = following {
        begin_or_resume(task, next);
    }
}

fn begin_or_resume(task: Task, word: Data) {
    const BEGUN: u64 = 1 << 60;
    // SAFETY: the runtime's word for us.
    let word = unsafe { &mut *word };
    match *word & BEGUN {
        0 => tasks::run(task),
        _ => tasks::resume(task),
    }
    *word |= BEGUN;
}

#[repr(C)]
struct Dependence {
    variable: u64,
    kind: c_int,
}

/// An iteration of an ordered loop is done: who waits for it is not told apart.
unsafe extern "C" fn dependences(_task: Data, list: *const Dependence, count: c_int) {
    const SOURCE: c_int = 5;
    // SAFETY: the runtime passes as many as it says.
    let source = count > 0 && unsafe { (*list).kind } == SOURCE;
    if source && concerns() {
        meet_all();
    }
}

unsafe extern "C" fn flush(_thread: Data, _code: *const c_void) {
    if concerns() {
        meet(cell(Kind::Atomic, 0));
    }
}
