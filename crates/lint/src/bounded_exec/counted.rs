//! Filters defects of all executions: which are reported as findings, and as certain or possible.

use super::Outcome;
use super::defects::Defect;
use crate::{Analysis, places};
use commsan_findings::{Code, Finding};
use commsan_ir::Program;
use rustc_hash::FxHashSet;

/// Upper bound of plausible ranks.
const MAX_RANKS: i64 = 1 << 20;

/// Findings of what is defect with each number of ranks that comes to the place.
pub fn findings(program: &Program, outcomes: &[Outcome]) -> Vec<Finding> {
    let mut reported = FxHashSet::default();
    let mut found = Vec::new();
    for (index, outcome) in outcomes.iter().enumerate() {
        for defect in &outcome.defects {
            let (_, place, ..) = defect.spots[0];
            // Once is enough.
            if counts(outcomes, index, defect) && reported.insert((defect.code, place)) {
                found.push(finding(program, defect));
            }
        }
    }
    found
}

/// Whether it is defect wherever it can be.
fn counts(outcomes: &[Outcome], index: usize, defect: &Defect) -> bool {
    let outcome = &outcomes[index];
    let (_, place, ..) = defect.spots[0];
    let has = |other: &Outcome| {
        other
            .defects
            .iter()
            .any(|w| w.code == defect.code && w.spots.iter().any(|spot| spot.1 == place))
    };
    // Collectives of one rank always fit, and it may have nobody to send to.
    let of_messages = defect.no_such_rank.is_some()
        || matches!(defect.code, Code::Deadlock | Code::SendMayWait | Code::MessageLost);
    let comparable = || {
        let same = outcomes.iter().filter(|other| other.strict == outcome.strict);
        same.filter(|other| other.ranks > 1 || of_messages)
    };
    if defect.code == Code::InvalidArgument {
        let same = |other: &Outcome| {
            other.defects.iter().any(|known| known.no_such_rank == defect.no_such_rank)
        };
        // The program may only want more ranks.
        let is_small =
            defect.no_such_rank.as_ref().is_some_and(|wrong| (0..MAX_RANKS).contains(&wrong.rank));
        let constant = is_small && comparable().filter(|other| same(other)).count() > 1;
        let works = |other: &Outcome| other.complete && other.seen.contains(&place);
        let larger = comparable().filter(|other| other.ranks > 1);
        return !outcome.strict
            && !constant
            && larger.into_iter().all(has)
            && !comparable().any(works);
    }
    let hides = matches!(defect.code, Code::SendMayWait | Code::CollectiveMayWait);
    if outcome.strict != hides {
        return false;
    }
    // A deadlock is reported anyway.
    let plain = outcomes.get(index.wrapping_sub(1));
    if hides && plain.is_some_and(|plain| !plain.complete || !plain.defects.is_empty()) {
        return false;
    }
    // Of one rank alone nobody knows whether it is enough.
    let at_all = comparable().any(|other| other.ranks > 1 && has(other));
    let everywhere =
        comparable().all(|other| other.unfit || has(other) || !other.seen.contains(&place));
    !outcome.unfit && at_all && everywhere
}

fn finding(program: &Program, defect: &Defect) -> Finding {
    let sites = defect.spots.iter().map(|(rank, (function, id), role, label)| {
        let at = program[*function].body.as_ref().map(|body| body[*id].at).unwrap_or_default();
        let mut site = places::at(program, *function, at, *role, label.clone());
        site.rank = *rank as u32;
        site
    });
    let (message, why, help) = (defect.message.clone(), defect.why.clone(), defect.help.clone());
    let finding = places::finding(defect.code, message, sites.collect(), why, help);
    Finding { possible: defect.possible, ..finding }
}

/// Adds those findings that no other analysis has reported.
pub fn add(found: Vec<Finding>, analysis: &mut Analysis) {
    for finding in found {
        if !analysis.findings.iter().any(|known| is_reported(known, &finding)) {
            analysis.findings.push(finding);
        }
    }
}

/// Whether another analysis has reported this: a finding of the same kind at one of the places.
fn is_reported(known: &Finding, new: &Finding) -> bool {
    let kind = |code: Code| code.id().rsplit_once('-').map(|(kind, _)| kind.to_owned());
    let place = |site: &commsan_findings::Site| (site.file.clone(), site.line);
    let meet = |sites: &[commsan_findings::Site]| {
        sites.iter().any(|site| new.sites.iter().any(|other| place(site) == place(other)))
    };
    let collective = [Code::Deadlock, Code::CollectiveNotEntered, Code::CollectiveMayWait];
    let follows = collective.contains(&new.code) && kind(known.code).as_deref() == Some("CS-COL");
    (kind(known.code) == kind(new.code) || follows) && meet(&known.sites)
}
