//! Buffer bounds: whether the memory that a call is given has as many bytes as the call uses.

use super::Reporter;
use crate::buffers::Args;
use commsan_callsite::{Findings, Place, Report, Use, Variable};
use commsan_findings::record::{RawArgument, RawDatatype};
use commsan_findings::{Code, Problem, Role};
use commsan_mpi_calls::Param;
use commsan_shadow::Mode;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Memory that a call uses.
#[derive(Clone, Debug)]
pub struct Used {
    /// The parameter that points to it.
    pub parameter: &'static str,
    /// What it is for.
    pub purpose: Purpose,
    /// Whether it is written.
    pub mode: Mode,
    /// From the first byte to one past the last.
    pub bytes: Range<usize>,
}

/// What memory is for that a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Data.
    Buffer,
    /// Statuses, requests, integers.
    Result,
    /// A string, which may be shorter in this run than the memory that it needs.
    Text,
}

impl Purpose {
    /// What is found if the memory is too short.
    fn code(self) -> Code {
        match self {
            Purpose::Buffer | Purpose::Result => Code::BufferTooShort,
            Purpose::Text => Code::StringTooShort,
        }
    }
}

/// Uses of variables by calls at a place that were already reported.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    reported: FxHashMap<(usize, &'static str, Variable), Reported>,
}

#[derive(Debug, Default)]
struct Reported {
    times: u8,
    size: usize,
    datatype: Option<RawDatatype<'static>>,
}

/// Uses that are reported at most.
const MAX_USES: usize = 10_000;
/// How often a use that grows is reported.
const MAX_REPEATS: u8 = 16;

impl Bounds {
    /// Whether a use says more than earlier ones.
    fn is_new(
        &mut self,
        pc: usize,
        used: &Used,
        variable: Variable,
        datatype: Option<&RawDatatype<'static>>,
    ) -> bool {
        let count = self.reported.len();
        // Blocks of one allocation site are one, and longer ones say no more.
        let (variable, size) = match variable {
            Variable::Block { at, argument, .. } => {
                (Variable::Block { at, offset: 0, size: 0, argument }, 1)
            }
            variable => (variable, used.bytes.len()),
        };
        let reported = self.reported.entry((pc, used.parameter, variable)).or_default();
        let says_more = size > reported.size || differs(datatype, reported.datatype.as_ref());
        let is_new = says_more && reported.times < MAX_REPEATS && count < MAX_USES;
        if is_new {
            reported.times += 1;
            reported.size = reported.size.max(size);
            reported.datatype = datatype.cloned();
        }
        is_new
    }
}

/// Whether a datatype is another, and not just more elements of the same.
fn differs<'d>(one: Option<&RawDatatype<'d>>, other: Option<&RawDatatype<'d>>) -> bool {
    let is_several = |datatype: &RawDatatype| datatype.count > 1;
    match (one, other) {
        (Some(one), Some(other)) => {
            (one.extent, &one.basics, is_several(one))
                != (other.extent, &other.basics, is_several(other))
        }
        (one, other) => one.is_some() != other.is_some(),
    }
}

impl Reporter {
    /// Reports that a call is about to use more than `block`, which the program has allocated, has
    /// from there on.
    pub fn overruns(
        &mut self,
        args: &Args,
        used: &Used,
        block: &Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        // A call may have several such buffers: addresses of code leave the highest bits free.
        let is_it = |parameter: &Param| *parameter.name == *used.parameter;
        let buffer = args.call.params.iter().position(is_it).unwrap_or_default();
        let operation = place.pc() | buffer << 48;
        if out.again(used.purpose.code(), 0, operation) {
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
        let finding = self.too_short(args, used, problem, place);
        out.report(finding, operation, &self.stacks);
    }

    /// Records that a call is about to use memory of a variable, whose size and type are judged
    /// after the run, or of a block, whose type is.
    pub fn uses(
        &mut self,
        args: &Args,
        used: &Used,
        (variable, datatype): (Variable, Option<RawDatatype<'static>>),
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.bounds.is_new(place.pc(), used, variable, datatype.as_ref()) {
            let finding = self.too_short(args, used, String::new(), place);
            out.uses(Use { variable, elements: None, datatype, finding }, &self.stacks);
        }
    }

    fn too_short(
        &mut self,
        args: &Args,
        used: &Used,
        problem: String,
        place: &impl Place,
    ) -> Report<'static> {
        let operation = self.operation(args, place);
        let Used { parameter, purpose, mode, bytes } = used;
        let kind = (*purpose == Purpose::Result).then_some(Problem::SmallResult);
        let described = operation.described().with_access(mode.is_write(), bytes, bytes.len());
        Report {
            argument: Some(RawArgument::new(parameter, problem, kind)),
            ..Report::new(purpose.code(), described, [(Role::Operation, operation.site)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_told_again_only_when_they_grow() {
        let mut uses = Bounds::default();
        let mut reported = |pc: usize, offset: i64, size: usize| {
            let used = Used {
                parameter: "buf",
                purpose: Purpose::Buffer,
                mode: Mode::Read,
                bytes: 64..64 + size,
            };
            uses.is_new(pc, &used, Variable::Local { at: pc, offset }, None)
        };
        assert!(reported(1, -8, 40));
        assert!(!reported(1, -8, 40) && !reported(1, -8, 8));
        assert!(reported(1, -8, 41));
        assert!(reported(1, -16, 40) && reported(2, -8, 40));
        let grown = (42..100).filter(|size| reported(1, -8, *size)).count();
        assert_eq!(grown, usize::from(MAX_REPEATS) - 2);
    }

    #[test]
    fn their_number_is_limited() {
        let mut uses = Bounds::default();
        let mut reported = |pc: usize| {
            let used = Used {
                parameter: "buf",
                purpose: Purpose::Buffer,
                mode: Mode::Read,
                bytes: 64..72,
            };
            uses.is_new(pc, &used, Variable::Static { at: 64 }, None)
        };
        assert_eq!((0..2 * MAX_USES).filter(|pc| reported(*pc)).count(), MAX_USES);
    }
}
