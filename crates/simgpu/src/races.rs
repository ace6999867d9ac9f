//! Race callbacks: report to a checker that threads of one kernel race with each other.
//!
//! Set `COMMSAN_KERNEL_CHECKS=1`, kernels are followed by `commsan-kernel-races`. A launch carries
//! its tag as described in [`crate::watch`], which also describes when callbacks run and under
//! which locks. Without a checker, races are lines on standard error.

use crate::grid::Launch;
use crate::watch::kept;
use commsan_cuda_abi::observe::{KernelRace, Raced};
use commsan_kernel_races::{Detector, Race, Where};
use commsan_ptx::Module;
use std::ffi::{CString, c_char};

/// Reports the races of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct RaceReporter {
    tag: u64,
    raced: Option<Raced>,
}

impl RaceReporter {
    /// The reporter of a launch, if a checker wants to know, or if there is none.
    pub fn of(launch: &Launch, raced: Option<Raced>) -> Option<RaceReporter> {
        let reporter = RaceReporter { tag: launch.tag, raced };
        (raced.is_none() || launch.tag != 0).then_some(reporter)
    }
}

/// Follows the accesses of one kernel.
pub struct Following {
    /// The detector.
    pub detector: Detector,
    reporter: RaceReporter,
}

impl Following {
    /// Follows a kernel that has not started.
    pub fn new(detector: Detector, reporter: RaceReporter) -> Following {
        Following { detector, reporter }
    }

    /// Reports what was found; `done` says that there will be no more.
    pub fn flush(&mut self, module: &Module, done: bool) {
        for race in self.detector.take(done) {
            match self.reporter.raced {
                Some(raced) => self.report(raced, &race, module),
                None => {
                    let (what, why) = (race.problem(), race.why(module));
                    eprintln!("commsan: simulated GPU: data race: {what}: {why}");
                }
            }
        }
    }

    fn report(&self, raced: Raced, race: &Race, module: &Module) {
        let text = |text: String| CString::new(text).unwrap_or_default();
        let (what, why) = (text(race.problem()), text(race.why(module)));
        let shared = race.shared().map(text);
        let (address, size) = match race.memory {
            Where::Global(address, size) => (address, size),
            Where::Shared(..) => (0, 0),
        };
        let sides = [&race.second, &race.first];
        let file = |line: &Option<(String, u32)>| {
            line.as_ref().map_or(std::ptr::null::<c_char>(), |(file, _)| kept(file))
        };
        raced(&KernelRace {
            tag: self.reporter.tag,
            what: what.as_ptr(),
            shared: shared.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
            why: why.as_ptr(),
            same: race.same,
            write: race.second.info.writes,
            files: sides.map(|side| file(&side.line)),
            lines: sides.map(|side| match &side.line {
                Some((_, line)) => *line,
                None => side.info.place.instruction,
            }),
            address,
            size,
        });
    }
}
