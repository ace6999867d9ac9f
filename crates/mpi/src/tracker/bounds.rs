//! Whether there is as much memory as calls use.

use super::Reporter;
use crate::buffers::Args;
use commsan_callsite::{About, Findings, Place, Report, Stacks, Use, Variable};
use commsan_findings::{Code, Role};
use commsan_shadow::Mode;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Memory that a call uses.
#[derive(Clone, Debug)]
pub struct Used {
    /// The parameter that points to it.
    pub parameter: &'static str,
    /// Whether it is written.
    pub mode: Mode,
    /// From the first byte to past the last.
    pub bytes: Range<usize>,
}

/// Uses of variables by calls at a place, as far as they have been told.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    told: FxHashMap<(usize, &'static str, Variable), Told>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    times: u8,
    size: usize,
    elements: Option<(&'static str, u64)>,
}

/// Uses that are told at most.
const MAX_USES: usize = 10_000;
/// How often one is told that grows.
const MAX_REPEATS: u8 = 16;

impl Bounds {
    /// Whether a use tells more than those before.
    fn is_new(&mut self, pc: usize, used: &Used, by: &Use) -> bool {
        let count = self.told.len();
        let told = self.told.entry((pc, used.parameter, by.variable)).or_default();
        let (size, elements) = (used.bytes.len(), by.elements);
        let is_new = (size > told.size || elements != told.elements) && told.times < MAX_REPEATS;
        if is_new && count < MAX_USES {
            *told = Told { times: told.times + 1, size: told.size.max(size), elements };
        }
        is_new && count < MAX_USES
    }
}

impl Reporter {
    /// A call is about to use more than what `block`, which the program has allocated, has from there on.
    pub fn overruns(
        &mut self,
        args: &Args,
        used: &Used,
        block: &Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if out.again(Code::BufferTooShort, 0, place.pc()) {
            return;
        }
        let problem = match used.bytes.start - block.start {
            0 => format!("is a block of {} bytes", block.len()),
            _ => format!(
                "has {} bytes to the end of the block of {} that was allocated",
                block.end - used.bytes.start,
                block.len()
            ),
        };
        self.report_use(args, used, problem, place, &mut |report, stacks| {
            out.report(report, stacks);
        });
    }

    /// A call is about to use memory of a variable.
    pub fn uses(
        &mut self,
        args: &Args,
        used: &Used,
        by: &Use,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.bounds.is_new(place.pc(), used, by) {
            self.report_use(args, used, String::new(), place, &mut |report, stacks| {
                out.uses(by, report, stacks);
            });
        }
    }

    fn report_use(
        &mut self,
        args: &Args,
        used: &Used,
        problem: String,
        place: &impl Place,
        emit: &mut dyn FnMut(&Report, &Stacks),
    ) {
        let operation = self.operation(args, place);
        let report = Report {
            code: Code::BufferTooShort,
            access: None,
            operation: operation.party(),
            concerned: Some((used.mode, used.bytes.clone(), used.bytes.len())),
            sites: &[(Role::Operation, operation.site)],
            threads: false,
            about: Some(About::Argument { parameter: used.parameter, problem, kind: None }),
        };
        emit(&report, &self.stacks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_told_again_only_when_they_grow() {
        let mut uses = Bounds::default();
        let mut told = |pc: usize, offset: isize, size: usize| {
            let used = Used { parameter: "buf", mode: Mode::Read, bytes: 64..64 + size };
            uses.is_new(
                pc,
                &used,
                &Use { variable: Variable::Local { pc, offset }, elements: None },
            )
        };
        assert!(told(1, -8, 40));
        assert!(!told(1, -8, 40) && !told(1, -8, 8));
        assert!(told(1, -8, 41));
        assert!(told(1, -16, 40) && told(2, -8, 40));
        let grown = (42..100).filter(|size| told(1, -8, *size)).count();
        assert_eq!(grown, usize::from(MAX_REPEATS) - 2);
    }

    #[test]
    fn their_number_is_limited() {
        let mut uses = Bounds::default();
        let mut told = |pc: usize| {
            let used = Used { parameter: "buf", mode: Mode::Read, bytes: 64..72 };
            let variable = Variable::Static { address: 64 };
            uses.is_new(pc, &used, &Use { variable, elements: None })
        };
        assert_eq!((0..2 * MAX_USES).filter(|pc| told(*pc)).count(), MAX_USES);
    }
}
