//! LLVM's OpenMP runtime and compatible ones, through OMPT, the tools interface (OpenMP 5.2,
//! chapter 19). It reports the release of a lock too late, when another thread may have acquired
//! it: see [`kmp`].
//!
//! [`kmp`]: crate::kmp

use crate::agents::{Kind, acquire_release, acquire_release_all, cell};
use crate::depend::{DependenceType, Dependences};
use crate::tasks::{self, Task, Team};
use crate::{activity, concerns, observer};
use commsan_process::next::Next;
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The word that the runtime stores for the tool with each region or task.
type Data = *mut u64;

#[repr(C)]
struct StartTool {
    initialize: unsafe extern "C" fn(Lookup, c_int, Data) -> c_int,
    finalize: unsafe extern "C" fn(Data),
    data: u64,
}

type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// Called by the runtime to find a tool. A tool that was there first is left in charge: tasks of
/// this runtime are then threads whose creation is not observed.
///
/// # Safety
/// As specified in OpenMP 5.2, §19.2.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompt_start_tool(version: c_uint, name: *const c_char) -> *mut c_void {
    type Start = unsafe extern "C" fn(c_uint, *const c_char) -> *mut c_void;
    static NEXT: Next = Next::new(c"ompt_start_tool");
    let next = NEXT.get();
    if !next.is_null() {
        // SAFETY: another tool's function, called with our arguments.
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
    // SAFETY: the runtime's own function, of this type.
    let set = unsafe { std::mem::transmute::<*const c_void, Set>(set) };
    for (event, callback) in [
        (3, parallel_begin as *const c_void),
        (4, parallel_end as *const c_void),
        (5, task_create as *const c_void),
        (6, task_schedule as *const c_void),
        (7, implicit_task as *const c_void),
        (18, dependences as *const c_void),
        (23, sync_region as *const c_void),
        (24, sync_region_wait as *const c_void),
        (29, flush as *const c_void),
    ] {
        // SAFETY: a callback of the type that this event requires.
        unsafe { set(event, callback) };
    }
    1
}

unsafe extern "C" fn finalize(_data: Data) {}

thread_local! {
    static OPENED: RefCell<Vec<Opened>> = const { RefCell::new(Vec::new()) };
}

/// A region that this thread has opened.
struct Opened {
    region: u64,
    /// An address of the stack above which no frame belongs to the region.
    outside: usize,
    /// The team that the thread was in, once it works in the region.
    before: Option<Team>,
}

/// `ompt_frame_t`, as far as it is used.
#[repr(C)]
struct Frame {
    exit: usize,
    /// The frame by which the program has entered the runtime.
    enter: usize,
}

unsafe extern "C" fn parallel_begin(
    _task: Data,
    frame: *const Frame,
    parallel: Data,
    _requested: c_uint,
    _flags: c_int,
    _code: *const c_void,
) {
    let region = tasks::open();
    // SAFETY: the runtime's word for the tool.
    unsafe { *parallel = region };
    // SAFETY: null, or the runtime's description of the frame.
    let enter = unsafe { frame.as_ref() }.map_or(0, |frame| frame.enter);
    let outside = if enter == 0 { usize::MAX } else { enter };
    OPENED.with_borrow_mut(|opened| opened.push(Opened { region, outside, before: None }));
}

unsafe extern "C" fn parallel_end(
    _parallel: Data,
    _task: Data,
    _flags: c_int,
    _code: *const c_void,
) {
    let Some(Opened { region, before, .. }) = OPENED.with_borrow_mut(Vec::pop) else { return };
    match before {
        Some(team) => tasks::restore(team),
        None => tasks::restore(tasks::lead(region, 1, usize::MAX)), // no thread has worked in it
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
    // SAFETY: the runtime's word for the tool, set when the region began.
    let region = unsafe { *parallel };
    let led = OPENED.with_borrow(|opened| {
        opened.last().filter(|opened| opened.region == region).map(|opened| opened.outside)
    });
    if let Some(outside) = led {
        let team = tasks::lead(region, members, outside);
        OPENED.with_borrow_mut(|opened| {
            if let Some(opened) = opened.last_mut() {
                opened.before = Some(team);
            }
        });
    } else {
        let _ = tasks::follow(region);
    }
}

const TASKGROUP: c_int = 6;

/// Called around the wait inside a construct; for a task group only the end is a wait.
unsafe extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _parallel: Data,
    _task: Data,
    _code: *const c_void,
) {
    match (kind, endpoint) {
        (TASKGROUP, BEGIN) => activity::wait().keep(),
        (TASKGROUP, _) => _ = activity::resume(),
        _ => {}
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
    const REDUCTION: c_int = 7;
    const END_OF_REGION: c_int = 9;
    match (kind, endpoint) {
        (REDUCTION, _) => {}
        (TASKWAIT, BEGIN) => activity::wait().keep(),
        (TASKWAIT, _) => {
            activity::resume();
            tasks::wait_for_children();
        }
        (TASKGROUP, BEGIN) => tasks::open_group(),
        (TASKGROUP, _) => tasks::close_group(),
        // Threads that did not open the region stay in this barrier until the next region.
        (END_OF_REGION, BEGIN) => tasks::leave(),
        (END_OF_REGION, _) => {}
        (_, BEGIN) => tasks::arrive().keep(),
        _ => {
            activity::resume();
            tasks::depart();
        }
    }
}

/// An explicit task, or a `taskwait` with dependences; the runtime's word for the tool points to
/// it.
struct Known {
    task: Task,
    has_begun: bool,
}

/// The task of a word; `None` for implicit tasks, and those that have ended.
///
/// # Safety
/// The runtime passes null, or its word for the tool.
unsafe fn known<'w>(word: Data) -> Option<&'w mut Known> {
    // SAFETY: by the contract; a word other than 0 was stored by `remember`.
    unsafe { (*word.as_ref()? as *mut Known).as_mut() }
}

/// # Safety
/// `word` is the runtime's word for the tool.
unsafe fn remember(word: Data, task: Task) {
    // SAFETY: by this function's contract.
    unsafe { *word = Box::into_raw(Box::new(Known { task, has_begun: false })) as u64 };
}

/// # Safety
/// The runtime passes null, or its word for the tool.
unsafe fn forget(word: Data) {
    // SAFETY: by this function's contract.
    if let Some(known) = unsafe { known(word) } {
        // SAFETY: the word through which the task was found; nothing finds the task afterwards.
        unsafe { *word = 0 };
        // SAFETY: `remember` made the box.
        drop(unsafe { Box::from_raw(known) });
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
    const TASKWAIT: c_int = 0x10;
    // The runtime reports them next.
    let depends = if depends != 0 { Dependences::unknown() } else { Dependences::default() };
    let task = match flags {
        _ if flags & EXPLICIT != 0 => tasks::create(depends, flags & UNDEFERRED != 0),
        _ if flags & TASKWAIT != 0 => Task { parent: tasks::task(), depends, ..Task::default() },
        _ => return,
    };
    // SAFETY: the runtime's word for the tool.
    unsafe { remember(created, task) };
}

unsafe extern "C" fn task_schedule(prior: Data, status: c_int, next: Data) {
    const YIELD: c_int = 2;
    const SWITCH: c_int = 7;
    const DETACHED: c_int = 4;
    const FULFILLED: [c_int; 2] = [5, 6];
    const TASKWAIT: c_int = 8;
    if status == DETACHED {
        activity::assume_active();
    }
    if FULFILLED.contains(&status) {
        return;
    }
    // A `taskwait` with dependences is a task that ends but does not begin.
    if status == TASKWAIT {
        // SAFETY: the runtime's word for the tool.
        return unsafe { end_of_wait(prior) };
    }
    // SAFETY: the runtime's words for the tool.
    let task = |data: Data| unsafe { known(data) }.map(|known| known.task);
    let following = task(next).filter(|task| !tasks::has_begun_here(task.id));
    if let Some(task) = task(prior).filter(|task| tasks::innermost() == Some(task.id)) {
        match (status, following) {
            // Another task starts on top of it, or the one below resumes: it may resume on another
            // thread.
            (YIELD | SWITCH, Some(_)) => tasks::interrupt(task),
            (YIELD | SWITCH, None) => tasks::suspend(),
            _ => {
                tasks::finish();
                // SAFETY: the runtime's word for the tool.
                unsafe { forget(prior) };
            }
        }
    }
    // SAFETY: the runtime's word for the tool.
    if let (Some(_), Some(known)) = (following, unsafe { known(next) }) {
        begin_or_resume(known);
    }
}

/// # Safety
/// The runtime passes null, or its word for the tool.
unsafe fn end_of_wait(word: Data) {
    // SAFETY: by this function's contract.
    match unsafe { known(word) } {
        Some(known) => known.task.depends.acquire(known.task.parent),
        None => tasks::wait_for_children(),
    }
    // SAFETY: by this function's contract.
    unsafe { forget(word) };
}

fn begin_or_resume(known: &mut Known) {
    match std::mem::replace(&mut known.has_begun, true) {
        false => tasks::run(known.task),
        true => tasks::resume(known.task),
    }
}

#[repr(C)]
struct Dependence {
    variable: u64,
    kind: c_int,
}

impl Dependence {
    /// The variable, null for `omp_all_memory`, and its dependence type.
    fn named(&self) -> (usize, DependenceType) {
        const IN: c_int = 1;
        const IN_OUT_SET: c_int = 7;
        const ALL_MEMORY: [c_int; 2] = [34, 35];
        match self.kind {
            IN => (self.variable as usize, DependenceType::In),
            IN_OUT_SET => (self.variable as usize, DependenceType::Set),
            kind if ALL_MEMORY.contains(&kind) => (0, DependenceType::Out),
            _ => (self.variable as usize, DependenceType::Out),
        }
    }
}

/// Reports a task's dependences, or that an iteration of an ordered loop is done: which iterations
/// wait for it is not distinguished.
unsafe extern "C" fn dependences(task: Data, list: *const Dependence, count: c_int) {
    const SOURCE: c_int = 5;
    if count <= 0 {
        return;
    }
    // SAFETY: the runtime passes as many as it says.
    let list = unsafe { std::slice::from_raw_parts(list, count as usize) };
    // SAFETY: the runtime's word for the tool.
    match unsafe { known(task) } {
        _ if list[0].kind == SOURCE && concerns() => acquire_release_all(),
        _ if list[0].kind == SOURCE => {}
        Some(known) => {
            known.task.depends = Dependences::default();
            list.iter()
                .map(Dependence::named)
                .for_each(|(at, way)| known.task.depends.add(at, way));
        }
        None => {}
    }
}

unsafe extern "C" fn flush(_thread: Data, _code: *const c_void) {
    if concerns() {
        acquire_release(cell(Kind::Atomic, 0));
    }
}
