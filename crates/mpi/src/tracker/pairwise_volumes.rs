//! Collectives of which each pair of ranks has amounts of its own: `MPI_Gatherv`, `MPI_Scatterv`, `MPI_Alltoallv`,
//! `MPI_Alltoallw` and those of neighbours; `report/parts.rs` compares what both of a pair say.
//!
//! **Soundness.** Amounts are added when a call has succeeded, where all ranks of the communicator are known to be
//! those of this job. They must be equal on both sides (MPI 4.1 §6.5-6.8, §8.6). Not looked at are
//! intercommunicators, persistent collectives, and what a root keeps for itself.

use super::{Accounts, Reporter, Together, Tracker};
use crate::buffers::{Args, Library, takes_place};
use crate::collective::signature::Signature;
use crate::ids::On;
use crate::pairwise_volumes::{Amount, Entry, PairwiseVolumes, Sort};
use commsan_callsite::{Findings, Place, Stacks};
use commsan_findings::record::{RawParts, Record};
use commsan_mpi_calls::{Extent, Flow, Role, Rule};
use commsan_shadow::Mode;
use smallvec::SmallVec;
use std::borrow::Cow;

/// What a process passes to each rank in a collective, or gets from each.
pub struct Passed<'a> {
    args: &'a Args<'a>,
    /// Where the counts are.
    rule: &'a Rule,
    sends: bool,
    with: With,
    /// A root keeps its own part.
    but: Option<usize>,
    /// How many ranks the communicator has.
    ranks: usize,
    /// What all elements are, if it is the same for all ranks.
    datatype: Option<Signature>,
}

/// With which ranks, in the order of the call's arrays.
enum With {
    /// A root.
    One(usize),
    /// All.
    All,
    /// Those, negative ones being none.
    Neighbours(Vec<i32>),
}

impl PairwiseVolumes {
    /// Writes what was added up to the log.
    pub(super) fn write(&self, stacks: &Stacks, out: &mut dyn Findings) {
        for entry in self.entries() {
            let parts = entry.members.iter().zip(&entry.volumes);
            let parts = parts.filter(|(_, part)| part.bytes > 0);
            let parts = parts.map(|(rank, part)| (*rank, part.bytes, part.mark, part.vague));
            let element = entry.element.flatten().and_then(Signature::elements);
            let parts = RawParts {
                name: entry.sort.name,
                on: Cow::Borrowed(&entry.on),
                kind: entry.sort.kind,
                call: Cow::Borrowed(entry.call),
                sends: entry.sort.sends,
                calls: entry.calls,
                element: element.map(|(class, size)| (Cow::Borrowed(class), size)),
                site: (commsan_findings::Role::Operation, entry.site),
                parts: parts.collect(),
            };
            out.emit(Record::Parts(parts), stacks);
        }
    }
}

impl Tracker {
    /// A collective has been called in which each pair of ranks has amounts of its own.
    pub fn pass_parts(&mut self, passed: &[Passed], place: &impl Place, library: &impl Library) {
        let (together, reporter) = (&self.together, &mut self.reporter);
        for passed in passed {
            self.accounts.pass(passed, place, library, together, reporter);
        }
    }
}

impl Accounts {
    fn pass(
        &mut self,
        passed: &Passed,
        place: &impl Place,
        library: &impl Library,
        together: &Together,
        reporter: &mut Reporter,
    ) {
        let call = passed.args.call;
        let Some(on) = call.at.comm.map(|index| On::Comm(passed.args.words[index])) else {
            return;
        };
        let known = together.on.find(on).filter(|known| known.name != 0);
        let Some(known) = known.filter(|known| known.members.len() == passed.ranks) else {
            return;
        };
        let (name, number, members) = (known.name, known.entered, known.members.clone());
        let sort = Sort { name, kind: call.kind, sends: passed.sends, pc: place.pc() };
        if !self.volumes.knows(&sort) {
            let (site, on) = (reporter.site(call, place), together.words_for(on));
            self.volumes.begin(Entry::new(sort, &call.name, on, site, members));
        }
        if let Some(entry) = self.volumes.entry(&sort) {
            entry.add(number, passed.amounts(library));
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
            _ if call.flow == Flow::Neighbours => {
                let (sources, destinations) = library.neighbours(comm);
                With::Neighbours(if sends { destinations } else { sources })
            }
            (Extent::Placed { .. }, _) => With::All,
            (Extent::Blocks { .. }, Some(root)) => With::One(usize::try_from(root).ok()?),
            _ => return None,
        };
        let but = root.and_then(|_| usize::try_from(library.rank(comm)).ok());
        let mut passed = Passed { args, rule, sends, with, ranks, but, datatype: None };
        if call.params[rule.datatype].role == Role::Datatype {
            // The type of nothing need not be one.
            let any = passed.counts(library).any(|(.., count)| count > 0);
            let one = any.then(|| library.signature(args.words[rule.datatype]));
            passed.datatype = Some(one.unwrap_or(Signature::EMPTY));
        }
        Some(passed)
    }

    /// What goes to or comes from each rank.
    fn amounts<L: Library>(&self, library: &L) -> impl Iterator<Item = Amount> {
        let types = self.args.words[self.rule.datatype];
        let of = move |index| library.signature(library.handle_at(types, index, self.args.fortran));
        let counts = self.counts(library).filter(|(.., count)| *count > 0);
        counts.map(move |(index, rank, count)| {
            let datatype = self.datatype.unwrap_or_else(|| of(index));
            Amount { rank, count, datatype }
        })
    }

    /// For each rank its place in the call's arrays, and how many elements.
    fn counts<L: Library>(&self, library: &L) -> impl Iterator<Item = (usize, usize, u64)> {
        let Passed { args, rule, .. } = *self;
        let count = move |index: usize| match rule.extent {
            Extent::Placed { counts, .. } => {
                library.int_at(args.words[counts], index, args.call.large)
            }
            Extent::Blocks { count, .. } => args.count(count) as i64,
            _ => 0,
        };
        let with = match &self.with {
            With::One(rank) => 0..usize::from(self.but != Some(*rank)),
            With::All => 0..self.ranks,
            With::Neighbours(ranks) => 0..ranks.len(),
        };
        let rank = |index: usize| match &self.with {
            With::One(rank) => Some(*rank),
            With::All => Some(index).filter(|rank| self.but != Some(*rank)),
            With::Neighbours(ranks) => usize::try_from(ranks[index]).ok(),
        };
        with.filter_map(move |index| Some((index, rank(index)?, count(index).max(0) as u64)))
    }
}
