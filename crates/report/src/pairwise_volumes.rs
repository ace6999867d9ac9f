//! Pairwise volumes of collectives such as `MPI_Alltoallv`, in which each pair of ranks has its own
//! amount: what one rank sends against what the other receives.
//!
//! **Soundness.** Compared are ranks that have both come to `MPI_Finalize`, on communicators of
//! which both have logged all calls. The sums of both sides are equal if each collective's amount
//! and type were, but for a rare chance of 2^-64; so a difference is one in at least one of the
//! calls. Where a type is not known, bytes alone are compared, and what balances over several calls
//! is missed.

use crate::facts::at;
use crate::merge;
use crate::messages::{Counts, jobs, joined};
use crate::symbols::Symbols;
use commsan_findings::{Code, Finding, Role, Site};
use commsan_rundir::RankLog;
use commsan_rundir::record::RawParts;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of differing pairs that are reported; more nearly always have the same places.
const MAX_PAIRS: usize = 1000;

/// A communicator's name, the kind of collective, who passes, and who gets.
type Pair = (u64, u32, u32, u32);

/// The amounts that one side of a pair has logged.
#[derive(Default)]
struct Said<'r> {
    bytes: u64,
    mark: u64,
    vague: bool,
    /// The amounts at each place of the program.
    entries: Vec<Entry<'r>>,
}

#[derive(Clone, Copy)]
struct Entry<'r> {
    rank: u32,
    log: &'r RankLog,
    parts: &'r RawParts<'static>,
    bytes: u64,
    mark: u64,
}

/// A finding for each two places whose amounts differ.
pub(crate) fn findings(logs: &[RankLog], symbols: &Symbols) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, ranks) in jobs(logs) {
        let tells = |rank: u32, name: u64| {
            let told = ranks.get(&rank).map(|(_, messages)| messages);
            told.is_some_and(|told| told.names.contains(&name) && !told.unbalanced.contains(&name))
        };
        let differs = |((name, _, from, to), [sent, got]): &(Pair, [Said; 2])| {
            let known = !sent.vague && !got.vague;
            let same = sent.bytes == got.bytes && (!known || sent.mark == got.mark);
            !same && tells(*from, *name) && tells(*to, *name)
        };
        let pairs = pairs(&ranks).into_iter().filter(differs).take(MAX_PAIRS);
        found.extend(pairs.filter_map(|(pair, said)| finding(pair, &said, &ranks, symbols)));
    }
    joined(found)
}

/// Leaves out those that follow from different roots, which have been found.
pub(crate) fn without_roots(mut parts: Vec<Finding>, found: &[Finding]) -> Vec<Finding> {
    let roots: Vec<&Site> = found
        .iter()
        .filter(|finding| finding.code == Code::RootsDiffer)
        .flat_map(|finding| &finding.sites)
        .collect();
    let is_there = |site: &Site| {
        roots.iter().any(|other| (&other.file, other.line) == (&site.file, site.line))
    };
    parts.retain(|finding| !finding.sites.iter().all(is_there));
    parts
}

/// The amounts of both sides of each pair, the sender's first.
fn pairs<'r>(ranks: &Counts<'r>) -> BTreeMap<Pair, [Said<'r>; 2]> {
    let mut pairs: BTreeMap<Pair, [Said; 2]> = BTreeMap::new();
    for (&rank, (log, messages)) in ranks {
        for parts in &messages.parts {
            for &(peer, bytes, mark, vague) in &*parts.parts {
                let (from, to) = if parts.sends { (rank, peer) } else { (peer, rank) };
                let said = pairs.entry((parts.name, parts.kind, from, to)).or_default();
                let said = &mut said[usize::from(!parts.sends)];
                said.bytes = said.bytes.wrapping_add(bytes);
                said.mark = said.mark.wrapping_add(mark);
                said.vague |= vague;
                said.entries.push(Entry { rank, log, parts, bytes, mark });
            }
        }
    }
    pairs
}

fn finding(
    (name, kind, from, to): Pair,
    said: &[Said; 2],
    ranks: &Counts,
    symbols: &Symbols,
) -> Option<Finding> {
    // A side that has nothing for the other one has no entry of it, but has called.
    let called = |rank: u32, sends: bool| {
        let (log, messages) = ranks.get(&rank)?;
        let parts = messages.parts.iter();
        let parts = parts.filter(|p| p.name == name && p.kind == kind && p.sends == sends);
        let nothing = |parts| Entry { rank, log, parts, bytes: 0, mark: 0 };
        parts.map(nothing).next()
    };
    let stack = |entry: &Entry| symbols.stack(entry.log, &entry.parts.site);
    let line = |entry: &Entry| {
        let frame = stack(entry).into_iter().next();
        frame.map(|frame| (frame.file, frame.line, frame.function))
    };
    let [sent, got] = said;
    let (sent, got) = differing(&sent.entries, &got.entries, line);
    let sent = sent.or_else(|| called(from, true))?;
    let got = got.or_else(|| called(to, false))?;
    let (passes, gets) = (amount(&sent), amount(&got));
    let (call, calls) = (&sent.parts.call, sent.parts.calls);
    let site = |entry: Entry, text: String| -> Site {
        merge::site(entry.rank, &entry.parts.site, &stack(&entry), text)
    };
    let get = site(got, format!("{call} gets {gets} from rank {from}"));
    let send = site(sent, format!("{call} passes {passes} to rank {to}"));
    let in_all = if calls > 1 { format!(", in {calls} calls") } else { String::new() };
    Some(Finding {
        job: None,
        moments: vec![],
        code: Code::SignaturesDiffer,
        title: Code::SignaturesDiffer.title().to_owned(),
        message: format!("rank {from} passes {passes} to rank {to} in {call}, which gets {gets}"),
        count: 1,
        ranks: BTreeSet::from([from, to]).into_iter().collect(),
        possible: false,
        sites: vec![Site { role: Role::Access, ..get }, send],
        why: format!(
            "{call}{} on {} passes {passes} from rank {from} to rank {to}{in_all}; {call}{} in rank {to} is to \
             get {gets}; both must be equal in each collective",
            at(&stack(&sent)),
            sent.parts.on,
            at(&stack(&got))
        ),
        help: format!(
            "let what rank {to} expects of rank {from} be what that one sends: exchange the counts first \
             (MPI_Alltoall, MPI_Gather), or compute them alike on both sides"
        ),
    })
}

/// The entries of both sides that differ, as far as they can be determined: of one line if both
/// ranks call from the same lines.
fn differing<'r, L: std::hash::Hash + Eq>(
    sent: &[Entry<'r>],
    got: &[Entry<'r>],
    line: impl Fn(&Entry<'r>) -> L,
) -> (Option<Entry<'r>>, Option<Entry<'r>>) {
    let by_line: HashMap<L, &Entry> = got.iter().map(|entry| (line(entry), entry)).collect();
    let mut both = sent.iter().filter_map(|entry| Some((entry, *by_line.get(&line(entry))?)));
    if let Some((sent, got)) = both.find(|(sent, got)| sent.mark != got.mark) {
        return (Some(*sent), Some(*got));
    }
    let odd = |entries: &[Entry<'r>], others: &[Entry<'r>]| {
        let odd = |entry: &&Entry| others.iter().all(|other| other.mark != entry.mark);
        entries.iter().find(odd).or(entries.first()).copied()
    };
    (odd(sent, got), odd(got, sent))
}

/// How much: `12 integers of 4 bytes`.
fn amount(entry: &Entry) -> String {
    let plural = |count: u64, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    match &entry.parts.element {
        _ if entry.bytes == 0 => "nothing".to_owned(),
        Some((class, size)) if *size > 0 => {
            format!("{} of {}", plural(entry.bytes / size, class), plural(*size, "byte"))
        }
        _ => plural(entry.bytes, "byte"),
    }
}

#[cfg(test)]
mod tests;
