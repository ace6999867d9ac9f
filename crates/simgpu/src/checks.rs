//! Kernel checks: report to a checker what threads of one kernel do wrong.
//!
//! Set `COMMSAN_KERNEL_CHECKS=1`, kernels are followed by `commsan-kernel-checks`. A launch carries
//! its tag as described in [`crate::watch`], which also describes when callbacks run and under
//! which locks. Without a checker, mistakes are lines on standard error.

use crate::grid::Launch;
use crate::watch::kept;
use commsan_cuda_abi::observe::{
    KernelMistake, Mistaken, RACE, SAME_VALUE, SYNCHRONISATION, UNINITIALISED,
};
use commsan_kernel_checks::{Detector, Mistake, Where};
use commsan_ptx::Module;
use std::ffi::{CString, c_char};

/// Reports the mistakes of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct MistakeReporter {
    tag: u64,
    mistaken: Option<Mistaken>,
}

impl MistakeReporter {
    /// The reporter of a launch, if a checker wants to know, or if there is none.
    pub fn of(launch: &Launch, mistaken: Option<Mistaken>) -> Option<MistakeReporter> {
        let reporter = MistakeReporter { tag: launch.tag, mistaken };
        (mistaken.is_none() || launch.tag != 0).then_some(reporter)
    }
}

/// Follows the accesses of one kernel.
pub struct Following {
    /// The detector.
    pub detector: Detector,
    reporter: MistakeReporter,
}

impl Following {
    /// Follows a kernel that has not started.
    pub fn new(detector: Detector, reporter: MistakeReporter) -> Following {
        Following { detector, reporter }
    }

    /// Reports what was found; `done` says that there will be no more.
    pub fn flush(&mut self, module: &Module, done: bool) {
        for mistake in self.detector.take(done) {
            match self.reporter.mistaken {
                Some(mistaken) => self.report(mistaken, &mistake, module),
                None => {
                    let kind = match kind_of(&mistake) {
                        SYNCHRONISATION => "synchronisation",
                        UNINITIALISED => "uninitialised memory",
                        _ => "data race",
                    };
                    let (what, why) = (mistake.problem(), mistake.why(module));
                    eprintln!("commsan: simulated GPU: {kind}: {what}: {why}");
                }
            }
        }
    }

    fn report(&self, mistaken: Mistaken, mistake: &Mistake, module: &Module) {
        let text = |text: String| CString::new(text).unwrap_or_default();
        let (what, why) = (text(mistake.problem()), text(mistake.why(module)));
        let shared = mistake.memory().and_then(Where::shared).map(text);
        let (address, size) = match mistake.memory() {
            Some(Where::Global(address, size)) => (*address, *size),
            _ => (0, 0),
        };
        let sides = mistake.sides();
        let file = |line: &Option<(String, u32)>| {
            line.as_ref().map_or(std::ptr::null::<c_char>(), |(file, _)| kept(file))
        };
        mistaken(&KernelMistake {
            tag: self.reporter.tag,
            kind: kind_of(mistake),
            what: what.as_ptr(),
            shared: shared.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
            why: why.as_ptr(),
            write: mistake.writes(),
            files: sides.map(|side| file(&side.line)),
            lines: sides.map(|side| match &side.line {
                Some((_, line)) => *line,
                None => side.place.instruction,
            }),
            address,
            size,
        });
    }
}

fn kind_of(mistake: &Mistake) -> u32 {
    match mistake {
        Mistake::Race(race) if race.same => SAME_VALUE,
        Mistake::Race(_) => RACE,
        Mistake::Synchronisation { .. } => SYNCHRONISATION,
        Mistake::Uninitialised { .. } => UNINITIALISED,
    }
}
