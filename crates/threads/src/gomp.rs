//! gcc's OpenMP runtime: the functions that its compilers call.
//!
//! What is run by other threads is wrapped, so that they can be followed from its beginning to its
//! end. Without a run that is checked everything is passed on as it is.

use crate::agents::meet_all;
use crate::tasks::{ATOMIC, CRITICAL, ORDERED, lock, nothing, unlock};
use crate::work::{self, over, wait};
use crate::{concerns, observer, tasks};
use std::ffi::{c_int, c_long, c_uint, c_void};

type Work = unsafe extern "C" fn(*mut c_void);
type CopyData = unsafe extern "C" fn(*mut c_void, *mut c_void);

struct Start {
    work: Work,
    data: *mut c_void,
    region: u64,
    /// The thread that has opened the region.
    leader: usize,
}

/// This thread, as long as it lives.
fn me() -> usize {
    commsan_sense::thread::with(|thread| std::ptr::from_ref(thread) as usize)
}

/// What every member of a team runs.
unsafe extern "C" fn member(start: *mut c_void) {
    // SAFETY: the structure below, which outlives the region.
    let start = unsafe { &*start.cast::<Start>() };
    // The runtime of this region calls: there may be several.
    let runtime = commsan_sense::caller!().pc;
    let before = match start.leader == me() {
        true => tasks::lead(start.region, team_size(runtime)),
        false => tasks::follow(start.region),
    };
    // SAFETY: what the program wants to be run, with its argument.
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
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => { $(
        /// Interposes the function of libgomp.
        ///
        /// # Safety
        /// As for that.
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
            let mut start = Start { work, data, region: tasks::open(), leader: me() };
            // SAFETY: the program's arguments, and what to run instead.
            let result = unsafe { next(member, (&raw mut start).cast(), threads, $($arg),*) };
            tasks::close(start.region);
            result
        }
    )* };
}

parallel! {
    GOMP_parallel(flags: c_uint);
    GOMP_parallel_reductions(flags: c_uint) -> c_uint;
    GOMP_parallel_sections(count: c_uint, flags: c_uint);
    GOMP_parallel_loop_static(from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_dynamic(from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_guided(from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_dynamic(
        from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_guided(
        from: c_long, to: c_long, by: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_runtime(from: c_long, to: c_long, by: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_runtime(from: c_long, to: c_long, by: c_long, flags: c_uint);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(
        from: c_long, to: c_long, by: c_long, flags: c_uint);
}

around! {
    GOMP_barrier(), tasks::arrive(), tasks::depart();
    GOMP_barrier_cancel() -> u8, tasks::arrive(), tasks::depart();
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
    GOMP_taskwait_depend(list), wait(), tasks::wait_for_children();
    GOMP_taskgroup_end(), wait(), tasks::wait_for_group();
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
    // Of either runtime. Who waits for a task that is detached waits for this; whose it is is not known.
    omp_fulfill_event(event), meet_all(), nothing();
    omp_fulfill_event_(event), meet_all(), nothing();
    GOMP_single_copy_end(data), tasks::arrive(), tasks::depart();
    // Waiting for another iteration has any number of arguments; who posts tells everybody.
    GOMP_doacross_post(counts), meet_all(), nothing();
    GOMP_doacross_ull_post(counts), meet_all(), nothing();
}

/// Interposes the function of libgomp: the others wait until the first thread, which gets null, calls
/// `GOMP_single_copy_end`.
///
/// # Safety
/// As for that.
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
    if !copied.is_null() {
        tasks::depart();
    }
    copied
}

/// What is put in front of a task's data.
#[derive(Clone, Copy)]
#[repr(C)]
struct Wrapped {
    /// The runtime writes the event of a task that is detached into the first word of the task's data.
    event: *mut c_void,
    is_detached: bool,
    work: Work,
    copy: Option<CopyData>,
    task: tasks::Task,
    /// The program's data, until they have been copied.
    data: *mut c_void,
    size: usize,
    /// From here to the copy of it.
    offset: usize,
}

unsafe extern "C" fn copy(to: *mut c_void, from: *mut c_void) {
    // SAFETY: the runtime passes memory as large as it was told, and what it was given, which is
    // alive until the call that makes the task returns.
    unsafe {
        let wrapped = *from.cast::<Wrapped>();
        to.cast::<Wrapped>().write(wrapped);
        if wrapped.is_detached {
            wrapped.data.cast::<*mut c_void>().write(wrapped.event);
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
    // SAFETY: what `copy` has made.
    let wrapped = unsafe { *data.cast::<Wrapped>() };
    tasks::run(wrapped.task);
    // SAFETY: what the program wants to be run, with the copy of its data.
    unsafe { (wrapped.work)(data.byte_add(wrapped.offset)) };
    tasks::finish();
}

/// Interposes the function of libgomp.
///
/// # Safety
/// As for that.
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
        // SAFETY: the program's arguments, or what stands for them.
        unsafe { next(work, data, copies, size, align, deferred, flags, depend, priority, detach) }
    };
    if !concerns() {
        return call(work, data, copies, size, align);
    }
    const DEPEND: c_uint = 1 << 3;
    const DETACH: c_uint = 1 << 13;
    let is_detached = flags & DETACH != 0;
    if is_detached {
        work::doubt();
    }
    let align = (align.max(1) as usize).max(align_of::<Wrapped>());
    let mut wrapped = Wrapped {
        event: std::ptr::null_mut(),
        is_detached: is_detached && !data.is_null(),
        work,
        copy: copies,
        task: tasks::create(flags & DEPEND != 0, !deferred),
        data,
        size: size as usize,
        offset: size_of::<Wrapped>().next_multiple_of(align),
    };
    let size = (wrapped.offset + wrapped.size) as c_long;
    call(run, (&raw mut wrapped).cast(), Some(copy), size, align as c_long);
}

macro_rules! taskloops {
    ($($name:ident: $number:ty;)*) => { $(
        /// Interposes the function of libgomp, which makes a copy of the data for each task and writes
        /// bounds into it: the tasks cannot be told apart.
        ///
        /// # Safety
        /// As for that.
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
            const NO_GROUP: c_uint = 1 << 11;
            if flags & NO_GROUP != 0 {
                crate::work::doubt();
            }
            if concerns() {
                meet_all();
            }
            // SAFETY: the program's arguments.
            unsafe { next(work, data, copies, size, align, flags, tasks, priority, from, to, by) };
            if concerns() {
                meet_all();
            }
        }
    )* };
}

taskloops! {
    GOMP_taskloop: c_long;
    GOMP_taskloop_ull: std::ffi::c_ulonglong;
}
