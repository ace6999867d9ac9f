//! GCC's OpenMP runtime, libgomp: interceptors of the functions that compiled code calls.
//!
//! Code that other threads run is wrapped, so that each task is followed from its beginning to its
//! end. In a process that is not checked every call is passed on unchanged.

use crate::activity::{self, over, wait};
use crate::agents::{acquire_release_all, by_thread, expect, worksharing};
use crate::depend::{DependenceType, Dependences};
use crate::tasks::{ATOMIC, CRITICAL, ORDERED, lock, nothing, unlock};
use crate::{concerns, observer, tasks};
use commsan_process::caller;
use std::ffi::{c_int, c_long, c_uint, c_void};

type Work = unsafe extern "C" fn(*mut c_void);
type CopyData = unsafe extern "C" fn(*mut c_void, *mut c_void);

struct Start {
    work: Work,
    data: *mut c_void,
    region: u64,
    /// The thread that opened the region.
    leader: usize,
    /// Whether the region is a construct whose pieces the runtime distributes.
    distributes: bool,
}

/// An identifier of this thread, unique while the thread lives.
fn me() -> usize {
    commsan_process::thread::with(|thread| std::ptr::from_ref(thread) as usize)
}

/// What every member of a team runs.
unsafe extern "C" fn member(start: *mut c_void) {
    // SAFETY: the structure below, which outlives the region.
    let start = unsafe { &*start.cast::<Start>() };
    // The OpenMP runtime of this region calls here; a process may have several runtimes.
    let runtime = caller!().pc;
    let before = match start.leader == me() {
        true => tasks::lead(start.region, team_size(runtime), std::ptr::from_ref(start) as usize),
        false => tasks::follow(start.region),
    };
    if start.distributes {
        tasks::distribute();
    }
    // SAFETY: the program's function, with its argument.
    unsafe { (start.work)(start.data) };
    tasks::leave();
    tasks::restore(before);
}

fn team_size(runtime: usize) -> u32 {
    let ask = next!(omp_get_num_threads, runtime, fn() -> c_int);
    // SAFETY: no arguments, no effects.
    unsafe { ask() }.max(1) as u32
}

macro_rules! parallel {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?, $distributes:expr;)*) => { $(
        /// Interposes the libgomp function of this name.
        ///
        /// # Safety
        /// The contract of the libgomp function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name(
            work: Work,
            data: *mut c_void,
            threads: c_uint,
            $($arg: $ty),*
        ) $(-> $result)? {
            let next = next!($name, fn(Work, *mut c_void, c_uint, $($ty),*) $(-> $result)?);
            if observer().is_none() {
                // SAFETY: the program's arguments.
                return unsafe { next(work, data, threads, $($arg),*) };
            }
            let (region, leader, distributes) = (tasks::open(), me(), $distributes);
            let mut start = Start { work, data, region, leader, distributes };
            // SAFETY: the program's arguments, and what to run instead.
            let result = unsafe { next(member, (&raw mut start).cast(), threads, $($arg),*) };
            tasks::close(start.region);
            result
        }
    )* };
}

parallel! {
    GOMP_parallel(flags: c_uint), false;
    GOMP_parallel_reductions(flags: c_uint) -> c_uint, false;
    GOMP_parallel_sections(count: c_uint, flags: c_uint), true;
    GOMP_parallel_loop_static(
        from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint), false;
    GOMP_parallel_loop_dynamic(
        from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint), true;
    GOMP_parallel_loop_guided(
        from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint), true;
    GOMP_parallel_loop_nonmonotonic_dynamic(
        from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint), true;
    GOMP_parallel_loop_nonmonotonic_guided(
        from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint), true;
    GOMP_parallel_loop_runtime(
        from: c_long, to: c_long, by: c_long, flags: c_uint), is_dynamic(caller!().pc);
    GOMP_parallel_loop_nonmonotonic_runtime(
        from: c_long, to: c_long, by: c_long, flags: c_uint), is_dynamic(caller!().pc);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(
        from: c_long, to: c_long, by: c_long, flags: c_uint), is_dynamic(caller!().pc);
}

/// Defines interceptors of the functions by which a thread takes pieces of a construct, sections or
/// chunks of a loop: the first, where the condition holds, or another one. They return 0 when there
/// are none left. Loops with `ordered` have functions of their own, and keep their order.
macro_rules! pieces {
    ($($name:ident($($arg:ident),*) -> $result:ty $(, first if $begins:expr)?;)*) => { $(
        /// Interposes the libgomp function of this name.
        ///
        /// # Safety
        /// The contract of the libgomp function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name($($arg: usize),*) -> $result {
            let next = next!($name, fn($(pieces!(@word $arg)),*) -> $result);
            // SAFETY: the program's arguments.
            let taken = unsafe { next($($arg),*) };
            if concerns() {
                $(if $begins {
                    tasks::distribute();
                })?
                match taken {
                    0 => worksharing::close(),
                    _ => worksharing::take(),
                }
            }
            taken
        }
    )* };
    (@word $arg:ident) => { usize };
}

pieces! {
    GOMP_sections_start(count) -> c_uint, first if true;
    GOMP_sections_next() -> c_uint;
    GOMP_loop_dynamic_start(from, to, by, chunk, first, last) -> u8, first if true;
    GOMP_loop_dynamic_next(first, last) -> u8;
    GOMP_loop_guided_start(from, to, by, chunk, first, last) -> u8, first if true;
    GOMP_loop_guided_next(first, last) -> u8;
    GOMP_loop_nonmonotonic_dynamic_start(from, to, by, chunk, first, last) -> u8, first if true;
    GOMP_loop_nonmonotonic_dynamic_next(first, last) -> u8;
    GOMP_loop_nonmonotonic_guided_start(from, to, by, chunk, first, last) -> u8, first if true;
    GOMP_loop_nonmonotonic_guided_next(first, last) -> u8;
    GOMP_loop_runtime_start(from, to, by, first, last) -> u8, first if is_dynamic(caller!().pc);
    GOMP_loop_runtime_next(first, last) -> u8;
    GOMP_loop_nonmonotonic_runtime_start(from, to, by, first, last) -> u8,
        first if is_dynamic(caller!().pc);
    GOMP_loop_nonmonotonic_runtime_next(first, last) -> u8;
    GOMP_loop_maybe_nonmonotonic_runtime_start(from, to, by, first, last) -> u8,
        first if is_dynamic(caller!().pc);
    GOMP_loop_maybe_nonmonotonic_runtime_next(first, last) -> u8;
    GOMP_loop_ull_dynamic_start(up, from, to, by, chunk, first, last) -> u8, first if true;
    GOMP_loop_ull_dynamic_next(first, last) -> u8;
    GOMP_loop_ull_guided_start(up, from, to, by, chunk, first, last) -> u8, first if true;
    GOMP_loop_ull_guided_next(first, last) -> u8;
    GOMP_loop_ull_nonmonotonic_dynamic_start(up, from, to, by, chunk, first, last) -> u8,
        first if true;
    GOMP_loop_ull_nonmonotonic_dynamic_next(first, last) -> u8;
    GOMP_loop_ull_nonmonotonic_guided_start(up, from, to, by, chunk, first, last) -> u8,
        first if true;
    GOMP_loop_ull_nonmonotonic_guided_next(first, last) -> u8;
    GOMP_loop_ull_runtime_start(up, from, to, by, first, last) -> u8,
        first if is_dynamic(caller!().pc);
    GOMP_loop_ull_runtime_next(first, last) -> u8;
    GOMP_loop_ull_nonmonotonic_runtime_start(up, from, to, by, first, last) -> u8,
        first if is_dynamic(caller!().pc);
    GOMP_loop_ull_nonmonotonic_runtime_next(first, last) -> u8;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start(up, from, to, by, first, last) -> u8,
        first if is_dynamic(caller!().pc);
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next(first, last) -> u8;
}

/// Whether the schedule `runtime` is one that does not say which thread executes what; asked of the
/// runtime that the code at `caller` uses.
pub(crate) fn is_dynamic(caller: usize) -> bool {
    const DYNAMIC: c_int = 2;
    const GUIDED: c_int = 3;
    const MODIFIERS: c_int = c_int::MIN;
    let ask = next!(omp_get_schedule, caller, fn(*mut c_int, *mut c_int));
    let (mut kind, mut chunk) = (0, 0);
    // SAFETY: room for the answers.
    unsafe { ask(&raw mut kind, &raw mut chunk) };
    matches!(kind & !MODIFIERS, DYNAMIC | GUIDED)
}

/// Defines interceptors of functions whose answer may differ between the threads of a team.
macro_rules! identities {
    ($($name:ident($($arg:ident),*) -> $result:ty, $identifies:expr;)*) => { $(
        /// Interposes the function of this name.
        ///
        /// # Safety
        /// The contract of the interposed function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name($($arg: usize),*) -> $result {
            let next = next!($name, fn($(identities!(@word $arg)),*) -> $result);
            $identifies;
            // SAFETY: the program's arguments.
            unsafe { next($($arg),*) }
        }
    )* };
    (@word $arg:ident) => { usize };
}

// gcc's own code for static schedules and `master` asks, too.
identities! {
    omp_get_thread_num() -> c_int, asks_number();
    omp_get_thread_num_() -> c_int, asks_number();
    GOMP_single_start() -> u8, worksharing::tell_apart();
}

fn asks_number() {
    worksharing::tell_apart();
    if concerns() {
        by_thread::ask();
    }
}

around! {
    GOMP_barrier(), tasks::arrive(), tasks::depart();
    GOMP_barrier_cancel() -> u8, tasks::arrive(), tasks::depart();
    GOMP_loop_end_nowait(), worksharing::close(), nothing();
    GOMP_sections_end_nowait(), worksharing::close(), nothing();
    GOMP_loop_end(), tasks::arrive(), tasks::depart();
    GOMP_loop_end_cancel() -> u8, tasks::arrive(), tasks::depart();
    GOMP_sections_end(), tasks::arrive(), tasks::depart();
    GOMP_sections_end_cancel() -> u8, tasks::arrive(), tasks::depart();
    GOMP_workshare_task_reduction_unregister(cancelled), tasks::arrive(), tasks::depart();
    GOMP_critical_start(), wait(), lock(CRITICAL);
    GOMP_critical_end(), unlock(CRITICAL), nothing();
    GOMP_critical_name_start(name), wait(), lock(name as u64);
    GOMP_critical_name_end(name), unlock(name as u64), nothing();
    GOMP_atomic_start(), nothing(), lock(ATOMIC);
    GOMP_atomic_end(), unlock(ATOMIC), nothing();
    GOMP_ordered_start(), wait(), lock(ORDERED);
    GOMP_ordered_end(), unlock(ORDERED), nothing();
    GOMP_taskwait(), wait(), tasks::wait_for_children();
    GOMP_taskwait_depend(list), wait(), wait_for(list);
    GOMP_taskgroup_start(), nothing(), tasks::open_group();
    GOMP_taskgroup_end(), wait(), tasks::close_group();
    omp_set_lock(lock_at), wait(), lock(lock_at as u64);
    omp_unset_lock(lock_at), unlock(lock_at as u64), nothing();
    omp_set_nest_lock(lock_at), wait(), lock(lock_at as u64);
    omp_unset_nest_lock(lock_at), unlock(lock_at as u64), nothing();
    omp_test_lock(lock_at) -> c_int, nothing(), lock(lock_at as u64);
    omp_test_nest_lock(lock_at) -> c_int, nothing(), lock(lock_at as u64);
    omp_set_lock_(lock_at), wait(), lock(lock_at as u64);
    omp_unset_lock_(lock_at), unlock(lock_at as u64), nothing();
    omp_set_nest_lock_(lock_at), wait(), lock(lock_at as u64);
    omp_unset_nest_lock_(lock_at), unlock(lock_at as u64), nothing();
    omp_test_lock_(lock_at) -> c_int, nothing(), lock(lock_at as u64);
    omp_test_nest_lock_(lock_at) -> c_int, nothing(), lock(lock_at as u64);
    // Of either runtime. A task that waits for a detached task waits for this event; whose event it
    // is is unknown.
    omp_fulfill_event(event), acquire_release_all(), nothing();
    omp_fulfill_event_(event), acquire_release_all(), nothing();
    GOMP_single_copy_end(data), tasks::arrive(), tasks::depart();
    // A wait for another iteration has any number of arguments, so a post releases to all agents.
    GOMP_doacross_post(counts), acquire_release_all(), nothing();
    GOMP_doacross_ull_post(counts), acquire_release_all(), nothing();
}

/// Interposes the libgomp function: other threads wait until the first one, which gets null, calls
/// `GOMP_single_copy_end`.
///
/// # Safety
/// The contract of the libgomp function.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn GOMP_single_copy_start() -> *mut c_void {
    let next = next!(GOMP_single_copy_start, fn() -> *mut c_void);
    if !concerns() {
        // SAFETY: no arguments.
        return unsafe { next() };
    }
    let waits = tasks::arrive();
    // SAFETY: no arguments.
    let copied = unsafe { next() };
    over(waits);
    worksharing::learn();
    if !copied.is_null() {
        tasks::depart();
    }
    copied
}

/// The dependences of a task, which the compiler passes as a list of words.
///
/// # Safety
/// `list` is a list in libgomp's format.
unsafe fn dependences(list: *const usize) -> Dependences {
    // SAFETY: `list` has as many words as its head says; this holds for all reads below.
    let word = |i: usize| unsafe { *list.add(i) };
    let mut found = Dependences::default();
    // The second format, which has more dependence types, has no total in front.
    let (total, outs, ins, first) = match word(0) {
        0 => (word(1), word(2) + word(3), word(4), 5),
        total => (total, word(1), total - word(1), 2),
    };
    for i in 0..total {
        match i {
            _ if i < outs => found.add(word(first + i), DependenceType::Out),
            _ if i < outs + ins => found.add(word(first + i), DependenceType::In),
            _ => {
                // SAFETY: an `omp_depend_t`: what it names, and how.
                let [variable, way] = unsafe { *(word(first + i) as *const [usize; 2]) };
                found.add(
                    variable,
                    [DependenceType::In, DependenceType::Out, DependenceType::Set]
                        [depend_kind(way)],
                );
            }
        }
    }
    found
}

/// Which of `in`, `out` and `inoutset` one of the compiler's dependence types counts as.
fn depend_kind(way: usize) -> usize {
    const IN: usize = 1;
    const IN_OUT_SET: usize = 5;
    match way {
        IN => 0,
        IN_OUT_SET => 2,
        _ => 1,
    }
}

/// The task has waited for those of its children that a sibling with these dependences would wait
/// for.
fn wait_for(list: usize) {
    // SAFETY: what the program has given to libgomp.
    unsafe { dependences(list as *const usize) }.acquire(tasks::task());
}

/// Whether tasks created now run immediately.
fn is_final() -> bool {
    let ask = next!(omp_in_final, fn() -> c_int);
    // SAFETY: no arguments, no effects.
    unsafe { ask() != 0 }
}

/// A header in front of a task's data.
#[derive(Clone, Copy)]
#[repr(C)]
struct Wrapped {
    /// Words that the runtime writes at the beginning of the task's data: the event of a detached
    /// task, or the bounds of a task of a loop. The third word points to a loop's reductions.
    head: [usize; 3],
    /// How many of these words go into the copy of the data: when it is made, and when the task
    /// begins.
    heads: [usize; 2],
    work: Work,
    copy: Option<CopyData>,
    task: tasks::Task,
    /// The program's data, until they are copied.
    data: *mut c_void,
    size: usize,
    /// Offset of the copy from this header, in bytes.
    offset: usize,
    align: usize,
}

/// Copies the first words of a task's head to the beginning of its data, which are aligned for
/// words only if they have some.
///
/// # Safety
/// There is room for as many.
unsafe fn copy_words(head: &[usize; 3], to: *mut c_void, count: usize) {
    if count > 0 {
        // SAFETY: by the caller.
        unsafe { std::ptr::copy_nonoverlapping(head.as_ptr(), to.cast(), count) };
    }
}

unsafe extern "C" fn copy(to: *mut c_void, from: *mut c_void) {
    // SAFETY: the runtime passes memory of the size that it was given, and the header, which lives
    // until the call that creates the task returns.
    unsafe {
        let wrapped = *from.cast::<Wrapped>();
        to.cast::<Wrapped>().write(wrapped);
        copy_words(&wrapped.head, wrapped.data, wrapped.heads[0]);
        if wrapped.heads[1] != 0 {
            expect(1);
        }
        let inner = to.byte_add(wrapped.offset);
        match wrapped.copy {
            Some(copy) => copy(inner, wrapped.data),
            None => {
                std::ptr::copy_nonoverlapping::<u8>(wrapped.data.cast(), inner.cast(), wrapped.size)
            }
        }
    }
}

unsafe extern "C" fn run(data: *mut c_void) {
    // SAFETY: `copy` has written it.
    let wrapped = unsafe { *data.cast::<Wrapped>() };
    // SAFETY: the copy of the program's data, which begins with this many words.
    let inner = unsafe {
        let inner = data.byte_add(wrapped.offset);
        copy_words(&wrapped.head, inner, wrapped.heads[1]);
        inner
    };
    tasks::run(wrapped.task);
    // SAFETY: the program's function, with the copy of its data.
    unsafe { (wrapped.work)(inner) };
    tasks::finish();
}

/// Interposes the libgomp function that creates a task.
///
/// # Safety
/// The contract of the libgomp function.
#[unsafe(no_mangle)]
#[allow(non_snake_case, clippy::too_many_arguments)]
pub unsafe extern "C" fn GOMP_task(
    work: Work,
    data: *mut c_void,
    copies: Option<CopyData>,
    size: c_long,
    align: c_long,
    deferred: bool,
    flags: c_uint,
    depend: *mut c_void,
    priority: c_int,
    detach: *mut c_void,
) {
    type Rest = (c_uint, *mut c_void, c_int, *mut c_void);
    let rest: Rest = (flags, depend, priority, detach);
    let next = next!(
        GOMP_task,
        fn(
            Work,
            *mut c_void,
            Option<CopyData>,
            c_long,
            c_long,
            bool,
            c_uint,
            *mut c_void,
            c_int,
            *mut c_void,
        )
    );
    let call = |work, data, copies, size, align| {
        let (flags, depend, priority, detach) = rest;
        // SAFETY: the program's arguments, or those that replace them.
        unsafe { next(work, data, copies, size, align, deferred, flags, depend, priority, detach) }
    };
    if !concerns() {
        return call(work, data, copies, size, align);
    }
    const DEPEND: c_uint = 1 << 3;
    const DETACH: c_uint = 1 << 13;
    let is_detached = flags & DETACH != 0;
    if is_detached {
        activity::assume_active();
    }
    let depends = match flags & DEPEND != 0 {
        // SAFETY: the program's list.
        true => unsafe { dependences(depend.cast()) },
        false => Dependences::default(),
    };
    let task = tasks::create(depends, !deferred || is_final());
    let mut wrapped = Wrapped::new((work, data, copies), size, align, task);
    wrapped.heads[0] = usize::from(is_detached && !data.is_null());
    call(run, (&raw mut wrapped).cast(), Some(copy), wrapped.whole(), wrapped.align());
}

impl Wrapped {
    fn new(
        (work, data, copy): (Work, *mut c_void, Option<CopyData>),
        size: c_long,
        align: c_long,
        task: tasks::Task,
    ) -> Wrapped {
        let align = (align.max(1) as usize).max(align_of::<Wrapped>());
        let offset = size_of::<Wrapped>().next_multiple_of(align);
        let (head, heads, size) = ([0; 3], [0; 2], size as usize);
        Wrapped { head, heads, work, copy, task, data, size, offset, align }
    }

    /// Size of the header and the copy of the data, with padding, in bytes.
    fn whole(&self) -> c_long {
        (self.offset + self.size) as c_long
    }

    fn align(&self) -> c_long {
        self.align as c_long
    }
}

const NO_GROUP: c_uint = 1 << 11;

/// The header of each task of a `taskloop`.
///
/// # Safety
/// `work` and its data are what the program passed to libgomp with these flags.
unsafe fn iterations(
    work: (Work, *mut c_void, Option<CopyData>),
    size: c_long,
    align: c_long,
    flags: c_uint,
) -> Wrapped {
    const DEFERRED: c_uint = 1 << 10;
    const REDUCTION: c_uint = 1 << 12;
    if flags & NO_GROUP == 0 {
        tasks::open_group();
    }
    let task = tasks::create(Dependences::default(), flags & DEFERRED == 0 || is_final());
    expect(-1); // each copy of the data is one
    let mut wrapped = Wrapped::new(work, size, align, task);
    wrapped.heads[1] = 2;
    if flags & REDUCTION != 0 {
        // SAFETY: with this flag the data begin with three words or more.
        wrapped.head[2] = unsafe { *work.1.cast::<usize>().add(2) };
    }
    wrapped
}

macro_rules! taskloops {
    ($($name:ident: $number:ty;)*) => { $(
        /// Interposes the libgomp function, which copies the data for each task of the loop and
        /// writes the task's bounds into the copy.
        ///
        /// # Safety
        /// The contract of the libgomp function.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name(
            work: Work,
            data: *mut c_void,
            copies: Option<CopyData>,
            size: c_long,
            align: c_long,
            flags: c_uint,
            tasks: std::ffi::c_ulong,
            priority: c_int,
            from: $number,
            to: $number,
            by: $number,
        ) {
            let next = next!($name, fn(
                Work, *mut c_void, Option<CopyData>, c_long, c_long, c_uint, std::ffi::c_ulong, c_int,
                $number, $number, $number
            ));
            if flags & NO_GROUP != 0 {
                activity::assume_active();
            }
            let call = |work, data, copies, size, align| {
                // SAFETY: the program's arguments, or those that replace them.
                unsafe { next(work, data, copies, size, align, flags, tasks, priority, from, to, by) };
            };
            if !concerns() {
                return call(work, data, copies, size, align);
            }
            // SAFETY: the program's data.
            let mut wrapped = unsafe { iterations((work, data, copies), size, align, flags) };
            call(run, (&raw mut wrapped).cast(), Some(copy), wrapped.whole(), wrapped.align());
            if flags & NO_GROUP == 0 {
                tasks::close_group();
            }
        }
    )* };
}

taskloops! {
    GOMP_taskloop: c_long;
    GOMP_taskloop_ull: std::ffi::c_ulonglong;
}
