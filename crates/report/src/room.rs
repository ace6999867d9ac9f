//! Calls that use more of a variable than there is, or as another type: what ranks have noted, and debug
//! information decides.
//!
//! Types are told apart by class and size, as those of messages are (`messages.rs`): an unsigned integer may be sent
//! as a signed one of the same size. Structures, characters and what pointers lead to fit any type.

use crate::Observation;
use crate::facts::bytes;
use crate::symbols::{self, Symbols};
use crate::variables::{Lookup, Variable, Variables};
use commsan_model::Code;
use commsan_trace::RankLog;
use commsan_trace::record::{RawArgument, RawFinding, RawUse, RawVariable};
use std::collections::BTreeMap;
use std::path::Path;

/// What was found, as if the ranks had seen it.
pub(crate) fn observations(logs: &[RankLog], symbols: &Symbols) -> Vec<Observation> {
    let uses = || logs.iter().flat_map(|log| log.uses.iter().map(move |used| (log, used)));
    let paths = uses().map(|(log, used)| module(log, used));
    let opened: BTreeMap<&Path, Variables> =
        paths.filter_map(|path| Some((path, Variables::open(path)?))).collect();
    let lookups: BTreeMap<&Path, Lookup<'_>> =
        opened.iter().map(|(path, variables)| (*path, variables.lookup())).collect();
    let mut found = Vec::new();
    for (log, used) in uses() {
        let Some(lookup) = lookups.get(module(log, used)) else { continue };
        let variable = match used.variable {
            RawVariable::Local { at: (_, address), offset } => lookup.local(address, offset),
            RawVariable::Static { at: (_, address) } => lookup.fixed(address),
        };
        if let Some((code, problem)) = variable.and_then(|variable| judge(used, &variable)) {
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
    let argument =
        RawArgument { parameter: parameter.unwrap_or_default(), problem: problem.into() };
    RawFinding { argument: Some(argument), ..finding.clone() }
}

/// What is wrong with the use of a variable.
fn judge(used: &RawUse<'_>, variable: &Variable) -> Option<(Code, String)> {
    let name = match &variable.name {
        Some(name) => format!("the variable `{name}`"),
        None => "a variable".to_owned(),
    };
    if used.finding.operation.size > variable.room {
        let problem = match variable.size - variable.room {
            0 => format!("is {name} of {}", bytes(variable.size)),
            _ => format!(
                "has {} to the end of {name} of {}",
                bytes(variable.room),
                bytes(variable.size)
            ),
        };
        return Some((Code::BufferTooShort, problem));
    }
    let (class, size) = variable.elements?;
    let elements = used.elements.as_ref()?;
    let is_other =
        elements.bytes > 1 && size > 1 && (&*elements.class, elements.bytes) != (class, size);
    let known = ["integer", "real"].contains(&&*elements.class);
    (is_other && known).then(|| {
        let problem = format!(
            "as {}s of {}, but it is {name} of {class}s of {}",
            elements.class,
            bytes(elements.bytes),
            bytes(size)
        );
        (Code::BufferOfOtherType, problem)
    })
}
