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
use std::ops::Range;

impl Tracker {
    /// A collective has been called in which each rank has a part of its own.
    pub fn pass_parts<L: Library>(&mut self, args: &Args, place: &impl Place, library: &L) {
        let call = args.call;
        let Some(comm) = call.at.comm.map(|index| args.words[index]).filter(|_| call.parts) else {
            return;
        };
        let on = On::Comm(comm);
        let Some(known) = self.together.on.find(on) else { return };
        if known.name == 0 || known.members.is_empty() || library.is_inter(comm) {
            return;
        }
        let (name, number, members) = (known.name, known.entered, known.members.clone());
        for rule in call.accesses.iter().filter(|rule| takes_place(args, rule, library)) {
            let (sends, pc) = (rule.mode == Mode::Read, place.pc());
            let Some(said) = Said::new(args, rule, members.len(), library) else { continue };
            let sort = Sort { name, kind: call.kind, sends, pc };
            if !self.parts.knows(&sort) {
                let site = place.site(Some(&call.name), &mut self.stacks);
                let on = self.words_for(on);
                self.parts.begin(Entry::new(sort, &call.name, on, site, members.clone()));
            }
            if let Some(entry) = self.parts.entry(&sort) {
                let datatype = said.datatype(library);
                entry.add(&Amounts { number, datatype }, said.counts(library));
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

/// What one rule of a call says.
struct Said<'a> {
    args: &'a Args<'a>,
    rule: &'a Rule,
    /// Ranks of the communicator.
    with: Range<usize>,
    /// A root keeps its own part.
    but: Option<usize>,
}

impl<'a> Said<'a> {
    /// `None` if it says nothing here.
    fn new<L: Library>(
        args: &'a Args<'a>,
        rule: &'a Rule,
        ranks: usize,
        library: &L,
    ) -> Option<Said<'a>> {
        let call = args.call;
        let mut rule = rule;
        if args.words[rule.buffer] == L::IN_PLACE {
            // A root's own part; otherwise what is passed lies where its counterpart will.
            if call.at.root.is_some() {
                return None;
            }
            rule = call.accesses.iter().find(|other| other.mode == Mode::Write)?;
        }
        let root = call.at.root.map(|index| args.int(index));
        let with = match (rule.extent, root) {
            (Extent::Placed { .. }, _) => 0..ranks,
            (Extent::Blocks { .. }, Some(root)) => {
                let root = usize::try_from(root).ok()?;
                root..root + 1
            }
            _ => return None,
        };
        let me = library.rank(args.words[call.at.comm?]);
        let but = root.and_then(|_| usize::try_from(me).ok());
        Some(Said { args, rule, with, but })
    }

    /// For each rank how many elements.
    fn counts<L: Library>(&self, library: &L) -> impl Iterator<Item = (usize, u64)> {
        let Said { args, rule, .. } = *self;
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

    /// The type of the elements; that of none need not be one.
    fn datatype<L: Library>(&self, library: &L) -> Signature {
        match self.counts(library).any(|(_, count)| count > 0) {
            true => library.signature(self.args.words[self.rule.datatype]),
            false => Signature::EMPTY,
        }
    }
}
