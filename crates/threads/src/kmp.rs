//! LLVM's OpenMP runtime, libomp: interceptors of the functions for locks, and for loops that the
//! runtime distributes, that compiled code calls.

use crate::activity::wait;
use crate::agents::worksharing;
use crate::gomp::is_dynamic;
use crate::tasks::{ATOMIC, ORDERED, lock, nothing, unlock};
use crate::{concerns, tasks};
use commsan_process::caller;
use std::ffi::c_int;

around! {
    __kmpc_critical(place, thread, name), wait(), lock(name as u64);
    __kmpc_critical_with_hint(place, thread, name, hint), wait(), lock(name as u64);
    __kmpc_end_critical(place, thread, name), unlock(name as u64), nothing();
    __kmpc_ordered(place, thread), wait(), lock(ORDERED);
    __kmpc_end_ordered(place, thread), unlock(ORDERED), nothing();
    __kmpc_atomic_start(), nothing(), lock(ATOMIC);
    __kmpc_atomic_end(), unlock(ATOMIC), nothing();
    // What distinguishes the threads of a team, as their numbers do.
    __kmpc_single(place, thread) -> c_int, worksharing::tell_apart(), nothing();
    __kmpc_master(place, thread) -> c_int, worksharing::tell_apart(), nothing();
    __kmpc_masked(place, thread, filter) -> c_int, worksharing::tell_apart(), nothing();
    __kmpc_for_static_init_4(place, thread, schedule, last, from, to, stride, by, chunk),
        assign(place), nothing();
    __kmpc_for_static_init_4u(place, thread, schedule, last, from, to, stride, by, chunk),
        assign(place), nothing();
    __kmpc_for_static_init_8(place, thread, schedule, last, from, to, stride, by, chunk),
        assign(place), nothing();
    __kmpc_for_static_init_8u(place, thread, schedule, last, from, to, stride, by, chunk),
        assign(place), nothing();
}

/// A thread gets its part of a loop with a static schedule. Sections are such loops, too, but only
/// by this runtime's choice; `place` describes the construct.
fn assign(place: usize) {
    const OF_SECTIONS: u32 = 0x400;
    // SAFETY: the compiler's description: a reserved word, then flags.
    let flags = unsafe { *(place as *const [u32; 2]) }[1];
    if flags & OF_SECTIONS == 0 {
        worksharing::tell_apart();
    }
}

/// Whether a schedule of the runtime's does not say which thread executes what. Those of loops with
/// `ordered` have other numbers.
fn distributes(schedule: usize, caller: usize) -> bool {
    const DYNAMIC: u32 = 35;
    const GUIDED: u32 = 36;
    const RUNTIME: u32 = 37;
    const MODIFIERS: u32 = 3 << 29;
    match schedule as u32 & !MODIFIERS {
        DYNAMIC | GUIDED => true,
        RUNTIME => is_dynamic(caller),
        _ => false,
    }
}

/// Defines interceptors for one type of iteration variables, by whose size and sign the functions
/// are named.
macro_rules! loops {
    ($($init:ident, $next:ident: $number:ty;)*) => { $(
        /// Interposes the libomp function by which a thread begins a loop.
        ///
        /// # Safety
        /// The contract of the libomp function.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $init(
            place: usize,
            thread: usize,
            schedule: usize,
            from: $number,
            to: $number,
            by: $number,
            chunk: $number,
        ) {
            let next = next!($init, fn(usize, usize, usize, $number, $number, $number, $number));
            if concerns() && distributes(schedule, caller!().pc) {
                tasks::distribute();
            }
            // SAFETY: the program's arguments.
            unsafe { next(place, thread, schedule, from, to, by, chunk) }
        }

        /// Interposes the libomp function by which a thread takes another chunk of a loop.
        ///
        /// # Safety
        /// The contract of the libomp function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $next(
            place: usize,
            thread: usize,
            last: usize,
            from: usize,
            to: usize,
            by: usize,
        ) -> c_int {
            let next = next!($next, fn(usize, usize, usize, usize, usize, usize) -> c_int);
            // SAFETY: the program's arguments.
            let taken = unsafe { next(place, thread, last, from, to, by) };
            if concerns() {
                match taken {
                    0 => worksharing::close(),
                    _ => worksharing::take(),
                }
            }
            taken
        }
    )* };
}

loops! {
    __kmpc_dispatch_init_4, __kmpc_dispatch_next_4: i32;
    __kmpc_dispatch_init_4u, __kmpc_dispatch_next_4u: u32;
    __kmpc_dispatch_init_8, __kmpc_dispatch_next_8: i64;
    __kmpc_dispatch_init_8u, __kmpc_dispatch_next_8u: u64;
}
