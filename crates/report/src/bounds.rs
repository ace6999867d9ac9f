//! Bounds and type checks of variables that serve as buffers: ranks record the uses, and debug
//! information decides.
//!
//! Types are compared element by element ([`crate::shape`]); those of blocks by what allocates and
//! what passes them ([`crate::blocks`]). Where memory may be several variables, all must disagree.

use crate::Observation;
use crate::blocks::Blocks;
use crate::facts::bytes;
use crate::shape::{Mismatch, Shape, compare};
use crate::symbols::{self, Symbols};
use crate::variables::{Lookup, Variable, Variables};
use commsan_findings::{Code, Frame, Problem as Kind};
use commsan_rundir::RankLog;
use commsan_rundir::record::{RawArgument, RawDatatype, RawFinding, RawUse, RawVariable};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The findings, as observations of the ranks that recorded the uses.
pub(crate) fn observations(logs: &[RankLog], symbols: &Symbols) -> Vec<Observation> {
    let uses = || logs.iter().flat_map(|log| log.uses.iter().map(move |used| (log, used)));
    // Each file is read once, however many uses there are.
    let calls = uses().filter_map(|(log, used)| call_of(log, used, symbols));
    let calls: BTreeSet<_> = calls.map(|frame| PathBuf::from(frame.module)).collect();
    let paths: BTreeSet<&Path> = uses()
        .map(|(log, used)| module(log, used))
        .chain(calls.iter().map(|path| &**path))
        .collect();
    let opened: BTreeMap<&Path, Variables> =
        paths.into_iter().filter_map(|path| Some((path, Variables::open(path)?))).collect();
    let lookups: BTreeMap<&Path, Lookup<'_>> =
        opened.iter().map(|(path, variables)| (*path, variables.lookup())).collect();
    let mut blocks = Blocks::default();
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
            RawVariable::Block { .. } => {
                block(&mut blocks, log, used, symbols, &lookups).into_iter().collect()
            }
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
    symbols::module_path(log, used.variable.at().0)
}

/// Where the program calls MPI with a block.
fn call_of(log: &RankLog, used: &RawUse<'static>, symbols: &Symbols) -> Option<Frame> {
    let RawVariable::Block { .. } = used.variable else { return None };
    symbols.stack(log, used.finding.sites.first()?).into_iter().next()
}

/// A block as an array of what it is of, if that is certain.
fn block(
    blocks: &mut Blocks,
    log: &RankLog,
    used: &RawUse<'static>,
    symbols: &Symbols,
    lookups: &BTreeMap<&Path, Lookup<'_>>,
) -> Option<Variable> {
    let RawVariable::Block { at: (_, address), offset, size, argument } = used.variable else {
        return None;
    };
    let path = module(log, used);
    let frames = symbols.frames(path, address);
    let allocation = blocks.allocated(path, lookups.get(path)?, address, frames)?;
    let call = call_of(log, used, symbols)?;
    let (path, argument) = (Path::new(&call.module), argument.try_into().ok()?);
    let name = (&*used.finding.operation.call, argument);
    let passed = blocks.passed(path, lookups.get(path)?, &call, name)?;
    let count = size.checked_div(passed.bytes())?;
    let is_certain = passed == allocation.shape && size % passed.bytes() == 0 && !passed.may_grow();
    let shape = Some(Shape::Array { of: Arc::new(passed), count });
    let place = frames.first().and_then(|frame| Some((frame.file.as_deref()?, frame.line?)));
    let place = place.filter(|_| allocation.name.is_some());
    let by = place.map(|(file, line)| {
        let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        format!("{file}:{line}")
    });
    let name = match (by, allocation.name) {
        (Some(by), Some(name)) => Some(format!("the memory that {by} allocates for `{name}`")),
        _ => None,
    };
    is_certain.then_some(Variable { name, available: size.checked_sub(offset)?, size, shape })
}

fn with_problem(finding: &RawFinding<'static>, problem: Problem) -> RawFinding<'static> {
    let parameter = finding.argument.as_ref().map(|argument| argument.parameter.clone());
    let argument = RawArgument {
        parameter: parameter.unwrap_or_default(),
        problem: problem.text.into(),
        kind: problem.kind.or(finding.argument.as_ref().and_then(|argument| argument.kind)),
    };
    RawFinding { argument: Some(argument), ..finding.clone() }
}

/// What is wrong, in words, and what advice that needs.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    text: String,
    kind: Option<Kind>,
}

/// What is wrong with the use of memory, whichever of these variables it is; the first reaches
/// furthest.
fn judge(used: &RawUse<'_>, variables: &[Variable]) -> Option<(Code, Problem)> {
    let longest = variables.first()?;
    if used.finding.operation.size > longest.available {
        let (name, size) = (named(used, longest), bytes(longest.size));
        let text = match longest.size - longest.available {
            0 => format!("is {name} of {size}"),
            _ => format!("has {} to the end of {name} of {size}", bytes(longest.available)),
        };
        return Some((used.finding.code, Problem { text, kind: None }));
    }
    let datatype = used.datatype.as_ref()?;
    let compared = |variable: &Variable| {
        let offset = variable.size - variable.available;
        compare(datatype, variable.shape.as_ref()?, offset)
    };
    let all: Vec<Mismatch> = variables.iter().map_while(compared).collect();
    let first = all.first().filter(|_| all.len() == variables.len())?;
    let code = match all.iter().any(|mismatch| mismatch.is_sign) {
        true => Code::BufferOfOtherSign,
        false => Code::BufferOfOtherType,
    };
    let shape = longest.shape.as_ref()?;
    let kind = first.extents.as_ref().map(|_| Kind::OtherExtent);
    Some((code, Problem { text: described(first, &named(used, longest), shape, datatype), kind }))
}

/// A mismatch in words, of memory that is called so.
fn described(mismatch: &Mismatch, name: &str, shape: &Shape, datatype: &RawDatatype<'_>) -> String {
    let of = |class: &str, size: u64| format!("{class}s of {}", bytes(size));
    let passed = of(&mismatch.passed.0, mismatch.passed.1);
    if let Some((structure, size)) = &mismatch.extents {
        let structure = structure.as_deref().map_or(String::new(), |name| format!(" `{name}`"));
        return format!(
            "with a datatype whose extent is {}, but {name} has elements{structure} of {}: from the \
             second on, {}",
            bytes(datatype.extent.unsigned_abs()),
            bytes(*size),
            there(mismatch, &passed)
        );
    }
    match shape.uniform() {
        Some((class, size)) => format!("as {passed}, but it is {name} of {}", of(class, size)),
        None => format!("although it is {name}: {}", there(mismatch, &passed)),
    }
}

/// What lies where a datatype has something else.
fn there(mismatch: &Mismatch, passed: &str) -> String {
    let found = format!("{} of {}", mismatch.found.class, bytes(mismatch.found.bytes));
    let article = if found.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    match &mismatch.found.member {
        Some((member, _)) => {
            format!("{passed} stand for the member `{member}`, which holds {article} {found}")
        }
        None => format!("{passed} stand for {article} {found}"),
    }
}

fn named(used: &RawUse<'_>, variable: &Variable) -> String {
    let is_block = matches!(used.variable, RawVariable::Block { .. });
    match &variable.name {
        Some(name) if is_block => name.clone(),
        None if is_block => "allocated memory".to_owned(),
        Some(name) => format!("the variable `{name}`"),
        None => "a variable".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Member;
    use commsan_rundir::record::{RawBasics, RawOperation};

    type Elements = (&'static str, u64);

    fn used(size: u64, elements: Option<Elements>) -> RawUse<'static> {
        let datatype = |(class, bytes): Elements| RawDatatype {
            count: size / bytes,
            extent: bytes as i64,
            derived: false,
            basics: vec![RawBasics { at: 0, class: class.into(), bytes, count: 1 }].into(),
        };
        RawUse {
            variable: RawVariable::Static { at: (0, 64) },
            elements: None,
            datatype: elements.map(datatype),
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
                time: None,
            },
        }
    }

    fn variable(name: &str, size: u64, available: u64, of: Option<Elements>) -> Variable {
        let array = |(class, bytes): Elements| Shape::Array {
            of: Arc::new(Shape::Basic { class, bytes }),
            count: size / bytes,
        };
        Variable { name: Some(name.to_owned()), available, size, shape: of.map(array) }
    }

    fn judged(
        size: u64,
        elements: Option<Elements>,
        (size_of, available, of): (u64, u64, Option<Elements>),
    ) -> Option<(Code, String)> {
        judge(&used(size, elements), &[variable("line", size_of, available, of)])
            .map(|(code, problem)| (code, problem.text))
    }

    #[test]
    fn of_variables_that_share_memory_all_must_disagree() {
        let variable = |name: &str, size, elements| variable(name, size, size, elements);
        let (real, whole, half) = (Some(("real", 8)), Some(("integer", 8)), Some(("integer", 4)));
        let judged = |variables: &[Variable]| judge(&used(8, real), variables);
        let [first, fits] = [variable("first", 16, half), variable("fits", 8, real)];
        let [other, any] = [variable("other", 8, whole), variable("any", 8, None)];
        assert_eq!(judged(&[first.clone(), fits]), None);
        assert_eq!(judged(&[first.clone(), any]), None);
        let (code, problem) = judged(&[first, other.clone()]).unwrap();
        assert_eq!(code, Code::BufferOfOtherType);
        assert!(problem.text.contains("`first` of integers of 4 bytes"), "{problem:?}");
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
            (Some(("logical", 4)), half, false),
            (Some(("unsigned integer", 4)), half, true),
            (Some(("unsigned integer", 4)), real, true),
        ] {
            let judged = judged(8, elements, (8, 8, of));
            assert_eq!(judged.is_some(), is_other, "{elements:?} {of:?}: {judged:?}");
        }
        let (code, problem) = judged(8, real, (8, 8, half)).unwrap();
        assert_eq!(code, Code::BufferOfOtherType);
        let expected = "as reals of 8 bytes, but it is the variable `line` of integers of 4 bytes";
        assert_eq!(problem, expected);
        let (code, _) = judged(8, Some(("unsigned integer", 4)), (8, 8, half)).unwrap();
        assert_eq!(code, Code::BufferOfOtherSign);
    }

    #[test]
    fn an_extent_that_is_not_the_size_of_a_structure_is_said() {
        let member = |name: &str, at, class, bytes| Member {
            name: Some(name.to_owned()),
            at,
            shape: Some(Shape::Basic { class, bytes }),
        };
        let members = [member("x", 0, "real", 8), member("cell", 8, "integer", 8)];
        let name = Some("Particle".to_owned());
        let of = Arc::new(Shape::Struct { name, bytes: 16, members: members.into() });
        let shape = Some(Shape::Array { of, count: 4 });
        let mut used = used(32, Some(("real", 8)));
        if let Some(datatype) = used.datatype.as_mut() {
            datatype.derived = true;
        }
        let name = Some("p".to_owned());
        let all = [Variable { name, available: 64, size: 64, shape }];
        let (code, problem) = judge(&used, &all).unwrap();
        assert_eq!((code, problem.kind), (Code::BufferOfOtherType, Some(Kind::OtherExtent)));
        assert_eq!(
            problem.text,
            "with a datatype whose extent is 8 bytes, but the variable `p` has elements `Particle` of 16 \
             bytes: from the second on, reals of 8 bytes stand for the member `cell`, which holds an \
             integer of 8 bytes"
        );
        used.datatype.as_mut().unwrap().derived = false;
        let (_, problem) = judge(&used, &all).unwrap();
        assert_eq!(
            problem.text,
            "although it is the variable `p`: reals of 8 bytes stand for the member `cell`, which holds \
             an integer of 8 bytes"
        );
    }
}
