//! Functions of commsan's own, for who checks or profiles programs on the simulated device.

use crate::account::Moved;
use crate::api::entry::call;
use crate::failure::Failed;
use crate::thread;
use crate::watch::{Touched, Wants, Watcher};
use std::time::Duration;

/// The next kernel that this thread launches, or makes a node of a graph of, carries `tag`; 0 is
/// none. A graph's launch adds its tag to those of its kernels.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_tag(tag: u64) {
    thread::set_tag(tag);
}

/// From now on `wants` is asked whenever a kernel with a tag begins, and `touched` is told what it
/// accesses if so: [`crate::watch`] says how. Without functions nobody is told.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_watch(wants: Option<Wants>, touched: Option<Touched>) {
    call(|session| {
        session.watcher = wants.zip(touched).map(|(wants, touched)| Watcher { wants, touched });
        Ok(())
    });
}

/// From now on `failed` is told of kernels with a tag that fail: [`crate::failure`] says how.
/// Without a function nobody is told.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_failures(failed: Option<Failed>) {
    call(|session| {
        session.plaintiff = failed;
        Ok(())
    });
}

/// Executes what is pending, for as many milliseconds at most: who is told what kernels touch wants
/// to know of those, too, that nobody waits for. What depends on functions of the program stays
/// pending.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_execute(milliseconds: u32) {
    call(|session| {
        session.execute_for(Duration::from_millis(milliseconds.into()));
        Ok(())
    });
}

/// Kernels that this thread launches, or makes nodes of a graph of, have this origin from now on.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_origin(origin: u64) {
    thread::set_origin(origin);
}

/// From now on `moved` is told what kernels access outside their own device's memory:
/// [`crate::account`] says how. Without a function nobody is told.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_profile(moved: Option<Moved>) {
    call(|session| {
        session.profiler = moved;
        Ok(())
    });
}
