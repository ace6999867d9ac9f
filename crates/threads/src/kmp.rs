//! LLVM's OpenMP runtime, libomp: interceptors of the lock functions that compiled code calls.

use crate::activity::wait;
use crate::tasks::{ATOMIC, ORDERED, lock, nothing, unlock};

around! {
    __kmpc_critical(place, thread, name), wait(), lock(name as u64);
    __kmpc_critical_with_hint(place, thread, name, hint), wait(), lock(name as u64);
    __kmpc_end_critical(place, thread, name), unlock(name as u64), nothing();
    __kmpc_ordered(place, thread), wait(), lock(ORDERED);
    __kmpc_end_ordered(place, thread), unlock(ORDERED), nothing();
    __kmpc_atomic_start(), nothing(), lock(ATOMIC);
    __kmpc_atomic_end(), unlock(ATOMIC), nothing();
}
