//! The state of this process, as the entry points of CUDA need it.

use super::{Phase, State};
use crate::traffic::counter;
use commsan_callsite::Findings;
use commsan_checker::Host;
use commsan_counters::Traffic;
use commsan_cuda::StreamChecker;
use commsan_cuda_shim::Process;
use commsan_process::thread::Thread;

impl Process for State {
    fn active(&self) -> bool {
        self.phase() != Phase::Over && self.pages.is_ok()
    }

    fn checks(&self) -> bool {
        self.options.check
    }

    fn counts(&self) -> bool {
        counter().is_some()
    }

    fn counted(&self, thread: &Thread) {
        State::counted(self, thread);
    }

    fn count(&self, thread: &Thread, f: &mut dyn FnMut(&mut Traffic, u32)) {
        self.begin_with_devices(thread);
        if let Some(counter) = counter() {
            counter.with(thread, f);
        }
    }

    fn with(&self, thread: &Thread, f: &mut dyn FnMut(&mut dyn StreamChecker, &mut dyn Findings)) {
        self.begin_with_devices(thread);
        if self.options.check {
            self.with_state(thread, |checker, out| {
                checker.with_streams(|streams| f(streams, out));
            });
        }
    }

    #[cfg(not(feature = "serial"))]
    fn waits(&self, thread: &Thread, wait: &mut dyn FnMut()) {
        commsan_mpi_shim::during_work(thread, wait);
    }
}
