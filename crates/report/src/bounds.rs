//! Bounds and type checks of variables that serve as buffers: ranks record the uses, and debug
//! information decides.
//!
//! Types are distinguished by class and size, as those of messages are (`messages.rs`): an unsigned
//! integer may be sent as a signed one of the same size. Structures, characters and what pointers
//! lead to fit any type.

use crate::Observation;
use crate::facts::bytes;
use crate::symbols::{self, Symbols};
use crate::variables::{Lookup, Variable, Variables};
use commsan_findings::Code;
use commsan_rundir::RankLog;
use commsan_rundir::record::{RawArgument, RawFinding, RawUse, RawVariable};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The findings, as observations of the ranks that recorded the uses.
pub(crate) fn observations(logs: &[RankLog], symbols: &Symbols) -> Vec<Observation> {
    let uses = || logs.iter().flat_map(|log| log.uses.iter().map(move |used| (log, used)));
    // Each file is read once, however many uses there are.
    let paths: BTreeSet<&Path> = uses().map(|(log, used)| module(log, used)).collect();
    let opened: BTreeMap<&Path, Variables> =
        paths.into_iter().filter_map(|path| Some((path, Variables::open(path)?))).collect();
    let lookups: BTreeMap<&Path, Lookup<'_>> =
        opened.iter().map(|(path, variables)| (*path, variables.lookup())).collect();
    let mut found = Vec::new();
    for (log, used) in uses() {
        let Some(lookup) = lookups.get(module(log, used)) else { continue };
        let variables = match used.variable {
            RawVariable::Local { at: (_, address), offset } => {
                let frames = symbols.frames(module(log, used), address).iter().rev();
                let lines: Vec<u32> = frames.map(|frame| frame.line.unwrap_or(0)).collect();
                lookup.local(address, offset, &lines)
            }
            RawVariable::Static { at: (_, address) } => lookup.fixed(address),
        };
        if let Some((code, problem)) = judge(used, &variables) {
            let finding = RawFinding { code, ..with_problem(&used.finding, problem) };
            found.push(Observation {
                rank: log.rank,
                // After what the rank has found itself.
                sequence: log.findings.len() + found.len(),
                count: 1,
                stacks: finding.sites.iter().map(|site| symbols.stack(log, site)).collect(),
                finding,
                completed: None,
            });
        }
    }
    found
}

fn module<'r>(log: &'r RankLog, used: &RawUse<'_>) -> &'r Path {
    let (RawVariable::Local { at, .. } | RawVariable::Static { at }) = used.variable;
    symbols::module_path(log, at.0)
}

fn with_problem(finding: &RawFinding<'static>, problem: String) -> RawFinding<'static> {
    let parameter = finding.argument.as_ref().map(|argument| argument.parameter.clone());
    let argument = RawArgument {
        parameter: parameter.unwrap_or_default(),
        problem: problem.into(),
        kind: finding.argument.as_ref().and_then(|argument| argument.kind),
    };
    RawFinding { argument: Some(argument), ..finding.clone() }
}

/// What is wrong with the use of a variable, whichever of these it is; the first reaches furthest.
fn judge(used: &RawUse<'_>, variables: &[Variable]) -> Option<(Code, String)> {
    let longest = variables.first()?;
    if used.finding.operation.size > longest.available {
        let (name, size) = (named(longest), bytes(longest.size));
        let problem = match longest.size - longest.available {
            0 => format!("is {name} of {size}"),
            _ => format!("has {} to the end of {name} of {size}", bytes(longest.available)),
        };
        return Some((Code::BufferTooShort, problem));
    }
    let elements = used.elements.as_ref()?;
    // With or without a sign: nothing is converted between the call and the memory.
    let passed = elements.class.strip_prefix("unsigned ").unwrap_or(&elements.class);
    let is_other = |variable: &Variable| {
        variable.elements.is_some_and(|(class, size)| {
            elements.bytes > 1 && size > 1 && (passed, elements.bytes) != (class, size)
        })
    };
    let (class, size) = longest.elements?;
    let is_known = ["integer", "real"].contains(&passed);
    (is_known && variables.iter().all(is_other)).then(|| {
        let problem = format!(
            "as {}s of {}, but it is {} of {class}s of {}",
            elements.class,
            bytes(elements.bytes),
            named(longest),
            bytes(size)
        );
        (Code::BufferOfOtherType, problem)
    })
}

fn named(variable: &Variable) -> String {
    match &variable.name {
        Some(name) => format!("the variable `{name}`"),
        None => "a variable".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::Elements;
    use commsan_rundir::record::{RawElements, RawOperation};

    fn used(size: u64, elements: Option<Elements>) -> RawUse<'static> {
        RawUse {
            variable: RawVariable::Static { at: (0, 64) },
            elements: elements.map(|(class, bytes)| RawElements { class: class.into(), bytes }),
            finding: RawFinding {
                id: 0,
                code: Code::BufferTooShort,
                access: None,
                operation: RawOperation {
                    call: "MPI_Send".into(),
                    write: false,
                    addr: 64,
                    size,
                    bytes: size,
                    peer: None,
                    tag: None,
                    window: None,
                    base: None,
                },
                sites: Vec::new().into(),
                threads: false,
                collective: None,
                level: None,
                argument: None,
                work: None,
            },
        }
    }

    fn judged(
        size: u64,
        elements: Option<Elements>,
        variable: (u64, u64, Option<Elements>),
    ) -> Option<(Code, String)> {
        let (size_of, available, of) = variable;
        let name = Some("line".to_owned());
        judge(&used(size, elements), &[Variable { name, available, size: size_of, elements: of }])
    }

    #[test]
    fn of_variables_that_share_memory_all_must_disagree() {
        let variable = |name: &str, available, elements| {
            let name = Some(name.to_owned());
            Variable { name, available, size: available, elements }
        };
        let (real, whole, half) = (Some(("real", 8)), Some(("integer", 8)), Some(("integer", 4)));
        let judged = |variables: &[Variable]| judge(&used(8, real), variables);
        let [first, fits] = [variable("first", 16, half), variable("fits", 8, real)];
        let [other, any] = [variable("other", 8, whole), variable("any", 8, None)];
        assert_eq!(judged(&[first.clone(), fits]), None);
        assert_eq!(judged(&[first.clone(), any]), None);
        let (code, problem) = judged(&[first, other.clone()]).unwrap();
        assert_eq!(code, Code::BufferOfOtherType);
        assert!(problem.contains("`first` of integers of 4 bytes"), "{problem}");
        // The longest is enough, whatever the others are.
        let long = variable("long", 8, None);
        assert_eq!(judged(&[long, variable("short", 4, whole)]), None);
        assert_eq!(judged(&[]), None);
    }

    #[test]
    fn what_does_not_fit_is_found() {
        let real = Some(("real", 8));
        assert_eq!(judged(80, real, (80, 80, real)), None);
        let (code, problem) = judged(88, real, (80, 80, real)).unwrap();
        assert_eq!(code, Code::BufferTooShort);
        assert_eq!(problem, "is the variable `line` of 80 bytes");
        let (_, problem) = judged(80, real, (80, 72, real)).unwrap();
        assert_eq!(problem, "has 72 bytes to the end of the variable `line` of 80 bytes");
    }

    #[test]
    fn other_types_are_found_unless_they_fit_any() {
        let (real, whole, half) = (Some(("real", 8)), Some(("integer", 8)), Some(("integer", 4)));
        for (elements, of, is_other) in [
            (real, whole, true),
            (whole, half, true),
            (real, real, false),
            (real, None, false),
            (None, real, false),
            (Some(("integer", 1)), real, false),
            (real, Some(("integer", 1)), false),
            (Some(("logical", 4)), half, false),
            (Some(("unsigned integer", 4)), half, false),
            (Some(("unsigned integer", 4)), real, true),
        ] {
            let judged = judged(8, elements, (8, 8, of));
            assert_eq!(judged.is_some(), is_other, "{elements:?} {of:?}: {judged:?}");
        }
        let (code, problem) = judged(8, real, (8, 8, half)).unwrap();
        assert_eq!(code, Code::BufferOfOtherType);
        let expected = "as reals of 8 bytes, but it is the variable `line` of integers of 4 bytes";
        assert_eq!(problem, expected);
    }
}
