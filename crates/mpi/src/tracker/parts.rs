//! Collectives of which each pair of ranks has amounts of its own: `MPI_Gatherv`, `MPI_Scatterv`, `MPI_Alltoallv`;
//! `report/parts.rs` compares what both of a pair say.
//!
//! **Soundness.** Amounts are added when a call has succeeded, where all ranks of the communicator are known to be
//! those of this job. They must be equal on both sides (MPI 4.1 §6.5-6.8). Not looked at are
//! intercommunicators, `MPI_Alltoallw`, neighbourhood and persistent collectives, and what a root keeps for itself.

use super::Tracker;
use crate::buffers::{Args, Library, takes_place};
use crate::calls::{Extent, Rule};
use crate::collective::communicators::On;
use crate::collective::signature::Signature;
use crate::parts::{Amounts, Entry, Sort};
use commsan_engine::Mode;
use commsan_place::{Findings, Parted, Place};
use smallvec::SmallVec;
use std::ops::Range;

/// What a process passes to each rank in a collective, or gets from each.
pub struct Passed<'a> {
    args: &'a Args<'a>,
    /// Where the counts are.
    rule: &'a Rule,
    sends: bool,
    /// Ranks of the communicator, and how many it has.
    with: Range<usize>,
    ranks: usize,
    /// A root keeps its own part.
    but: Option<usize>,
    datatype: Signature,
}

impl Tracker {
    /// A collective has been called in which each pair of ranks has amounts of its own.
    pub fn pass_parts(&mut self, passed: &[Passed], place: &impl Place, library: &impl Library) {
        for passed in passed {
            let call = passed.args.call;
            let Some(on) = call.at.comm.map(|index| On::Comm(passed.args.words[index])) else {
                return;
            };
            let known = self.together.on.find(on).filter(|known| known.name != 0);
            let Some(known) = known.filter(|known| known.members.len() == passed.ranks) else {
                return;
            };
            let (name, number, members) = (known.name, known.entered, known.members.clone());
            let sort = Sort { name, kind: call.kind, sends: passed.sends, pc: place.pc() };
            if !self.parts.knows(&sort) {
                let site = place.site(Some(&call.name), &mut self.stacks);
                let on = self.words_for(on);
                self.parts.begin(Entry::new(sort, &call.name, on, site, members));
            }
            if let Some(entry) = self.parts.entry(&sort) {
                let amounts = Amounts { number, datatype: passed.datatype };
                entry.add(&amounts, passed.counts(library));
            }
        }
    }

    /// Tells what was added up.
    pub(super) fn tell_parts(&self, out: &mut dyn Findings) {
        for entry in self.parts.entries() {
            let parts = entry.members.iter().zip(&entry.parts);
            let parts = parts.filter(|(_, part)| part.bytes > 0).map(|(rank, part)| (*rank, *part));
            let parted = Parted {
                name: entry.sort.name,
                on: &entry.on,
                kind: entry.sort.kind,
                call: entry.call,
                sends: entry.sort.sends,
                calls: entry.calls,
                element: entry.element.and_then(Signature::elements),
                site: entry.site,
                parts: parts.collect(),
            };
            out.parted(&parted, &self.stacks);
        }
    }
}

impl<'a> Passed<'a> {
    /// What a call says of that. Asks the library.
    pub fn of<L: Library>(args: &'a Args<'a>, library: &L) -> SmallVec<[Passed<'a>; 2]> {
        let comm = args.call.at.comm.map(|index| args.words[index]);
        match comm.filter(|comm| args.call.parts && !library.is_inter(*comm)) {
            Some(comm) => {
                let rules = args.call.accesses.iter();
                let rules = rules.filter(|rule| takes_place(args, rule, library));
                rules.filter_map(|rule| Passed::new(args, rule, comm, library)).collect()
            }
            None => SmallVec::new(),
        }
    }

    /// `None` if a rule says nothing here.
    fn new<L: Library>(
        args: &'a Args<'a>,
        rule: &'a Rule,
        comm: usize,
        library: &L,
    ) -> Option<Passed<'a>> {
        let (call, sends) = (args.call, rule.mode == Mode::Read);
        let mut rule = rule;
        if args.words[rule.buffer] == L::IN_PLACE {
            // A root's own part; otherwise what is passed lies where its counterpart will.
            if call.at.root.is_some() {
                return None;
            }
            rule = call.accesses.iter().find(|other| other.mode == Mode::Write)?;
        }
        let (root, ranks) = (call.at.root.map(|index| args.int(index)), library.size(comm));
        let with = match (rule.extent, root) {
            (Extent::Placed { .. }, _) => 0..ranks,
            (Extent::Blocks { .. }, Some(root)) => {
                let root = usize::try_from(root).ok()?;
                root..root + 1
            }
            _ => return None,
        };
        let but = root.and_then(|_| usize::try_from(library.rank(comm)).ok());
        let datatype = Signature::EMPTY;
        let passed = Passed { args, rule, sends, with, ranks, but, datatype };
        // The type of nothing need not be one.
        let any = passed.counts(library).any(|(_, count)| count > 0);
        let handle = args.words[rule.datatype];
        let datatype = if any { library.signature(handle) } else { Signature::EMPTY };
        Some(Passed { datatype, ..passed })
    }

    /// For each rank how many elements.
    fn counts<L: Library>(&self, library: &L) -> impl Iterator<Item = (usize, u64)> {
        let Passed { args, rule, .. } = *self;
        let count = move |rank: usize| match rule.extent {
            Extent::Placed { counts, .. } => {
                library.int_at(args.words[counts], rank, args.call.large)
            }
            Extent::Blocks { count, .. } => args.count(count) as i64,
            _ => 0,
        };
        let ranks = self.with.clone().filter(|rank| Some(*rank) != self.but);
        ranks.map(move |rank| (rank, count(rank).max(0) as u64))
    }
}
