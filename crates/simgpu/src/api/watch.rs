//! commsan's own functions, through which a checker or profiler observes the simulated device.

use crate::api::entry::call;
use crate::thread;
use crate::watch::Watcher;
use commsan_cuda_abi::observe::{Failed, Mistaken, Moved, Touched, Wants};
use std::time::Duration;

/// Sets the tag of the next kernel that this thread launches or adds to a graph; 0 means none. A
/// graph launch adds its tag to those of its kernels.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_tag(tag: u64) {
    thread::set_tag(tag);
}

/// Registers the checker's callbacks: `wants` is called when a kernel with a tag begins, `touched`
/// for its accesses if `wants` returned true, as [`crate::watch`] describes. `None` unregisters.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_watch(wants: Option<Wants>, touched: Option<Touched>) {
    call(|session| {
        session.watcher = wants.zip(touched).map(|(wants, touched)| Watcher { wants, touched });
        Ok(())
    });
}

/// Registers the callback for kernels with a tag that fail, as [`crate::failure`] describes. `None`
/// unregisters.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_failures(failed: Option<Failed>) {
    call(|session| {
        session.failures = failed;
        Ok(())
    });
}

/// Registers the callback for mistakes within kernels with a tag, as [`crate::checks`] describes.
/// `None` unregisters.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_mistakes(mistaken: Option<Mistaken>) {
    call(|session| {
        session.mistakes = mistaken;
        Ok(())
    });
}

/// Executes pending work for at most `milliseconds`: a checker also wants the accesses of kernels
/// that nothing waits for. Work that depends on functions of the program stays pending.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_execute(milliseconds: u32) {
    call(|session| {
        session.execute_for(Duration::from_millis(milliseconds.into()));
        Ok(())
    });
}

/// Sets the origin of kernels that this thread launches or adds to graphs from now on.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_origin(origin: u64) {
    thread::set_origin(origin);
}

/// Registers the profiler's callback for accesses outside the kernel's own device, as
/// [`crate::account`] describes. `None` unregisters.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_profile(moved: Option<Moved>) {
    call(|session| {
        session.profiler = moved;
        Ok(())
    });
}
