//! Communicator divergence: ranks call one collective on different communicators.
//!
//! Communicators of which a condition chooses one: `comm = rank == 0 ? MPI_COMM_WORLD : copy`.
//!
//! One call then enters a collective of one communicator on some ranks, and of another one on
//! others. What is chosen is a value that joins two ways, or what a variable holds of whose address
//! nothing is made but arguments of MPI: where two ways meet that a branch has opened, each of
//! which has left one communicator there.

use super::Check;
use super::comm::{Comm, Comms};
use super::fork::Fork;
use super::terms::Term;
use crate::places;
use commsan_findings::{Code, Finding, Role};
use commsan_ir::graph::{Flow, dominators};
use commsan_ir::{BlockId, Body, FunctionId, Inst, InstId, Op, Value};
use commsan_points_to::Object;
use rustc_hash::{FxHashMap, FxHashSet};

/// One of two communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The block whose branch decides.
    pub by: BlockId,
    /// By way out of the branch.
    pub ways: [Comm; 2],
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    One(Comm),
    Either(Chosen),
    Unknown,
}

/// Maximum number of blocks that are searched for one call.
const MAX_BLOCKS: usize = 200;

/// The ways of a function.
pub struct Ways<'c, 'p> {
    comms: &'c Comms<'p>,
    function: FunctionId,
    body: &'p Body,
    flow: Flow,
    dominators: Vec<Option<BlockId>>,
    /// By instruction.
    blocks: FxHashMap<InstId, BlockId>,
    /// Variables that only loads, stores and calls of MPI use.
    variables: FxHashSet<InstId>,
}

impl<'c, 'p> Ways<'c, 'p> {
    pub fn of(comms: &'c Comms<'p>, function: FunctionId, body: &'p Body) -> Ways<'c, 'p> {
        let mut blocks = FxHashMap::default();
        let mut variables = FxHashSet::default();
        let mut dropped = FxHashSet::default();
        for block in body.block_ids() {
            for (id, inst) in body.instructions(block) {
                blocks.insert(id, block);
                if matches!(inst.op, Op::Alloca(_)) {
                    variables.insert(id);
                }
                for (place, arg) in inst.args.iter().enumerate() {
                    let Value::Inst(used) = arg else { continue };
                    let plain = match inst.op {
                        Op::Load(_) => true,
                        Op::Store(_) => place == 1,
                        Op::Call(_) => comms.calls.at(inst).is_some(),
                        _ => false,
                    };
                    if !plain {
                        dropped.insert(*used);
                    }
                }
            }
        }
        variables.retain(|variable| !dropped.contains(variable));
        let (flow, dominators) = (Flow::of(body), dominators(body));
        Ways { comms, function, body, flow, dominators, blocks, variables }
    }

    /// The two communicators of which a value is one.
    pub fn chosen(&self, value: Value) -> Option<Chosen> {
        let Value::Inst(id) = value else { return None };
        let inst = &self.body[id];
        let block = *self.blocks.get(&id)?;
        match (&inst.op, &*inst.args) {
            (Op::Phi(from), [one, other]) => {
                let comm = |value| self.comms.resolve(self.function, value, false);
                self.joined(block, [(from[0], comm(*one)), (from[1], comm(*other))])
            }
            (Op::Load(_), [Value::Inst(variable)]) if self.variables.contains(variable) => {
                let at = self.body[block].code.iter().position(|other| *other == id)?;
                let mut known = FxHashMap::default();
                match self.before(*variable, block, at, &mut known) {
                    Some(Content::Either(chosen)) => Some(chosen),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What is chosen where two ways meet, if a branch has opened them.
    fn joined(&self, meet: BlockId, from: [(BlockId, Comm); 2]) -> Option<Chosen> {
        let by = self.dominators[meet.0 as usize]?;
        let next = &self.body[by].next;
        if !self.body.end(by).is_some_and(|end| end.op == Op::Branch) || next[0] == next[1] {
            return None;
        }
        let way = |from: BlockId| match from == by {
            true => next.iter().position(|next| *next == meet),
            false => next.iter().position(|next| *next != meet && self.dominates(*next, from)),
        };
        let [(one, first), (other, second)] = from;
        let unknown = [first, second].iter().any(|comm| matches!(comm, Comm::Unknown));
        if unknown || first == second {
            return None;
        }
        match (way(one)?, way(other)?) {
            (0, 1) => Some(Chosen { by, ways: [first, second] }),
            (1, 0) => Some(Chosen { by, ways: [second, first] }),
            _ => None,
        }
    }

    fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        let up = |block: &BlockId| self.dominators[block.0 as usize];
        std::iter::successors(Some(below), up).any(|block| block == above)
    }

    /// What a variable holds in a block, before an instruction, if that is not too far away. None
    /// where that is asked already: a loop adds nothing then.
    fn before(
        &self,
        variable: InstId,
        block: BlockId,
        end: usize,
        known: &mut FxHashMap<BlockId, Option<Content>>,
    ) -> Option<Content> {
        let code = self.body[block].code[..end].iter().rev();
        let mut left = code.filter_map(|id| self.left(variable, *id, &self.body[*id]));
        if let Some(content) = left.next() {
            return Some(content);
        }
        if known.len() > MAX_BLOCKS {
            return Some(Content::Unknown);
        }
        let previous = &self.flow.previous[block.0 as usize];
        let mut contents = Vec::new();
        for from in previous {
            let content = match known.get(from) {
                Some(content) => *content,
                None => {
                    known.insert(*from, None);
                    let content = self.before(variable, *from, self.body[*from].code.len(), known);
                    known.insert(*from, content);
                    content
                }
            };
            contents.extend(content.map(|content| (*from, content)));
        }
        let (_, first) = *contents.first()?;
        if contents.iter().all(|(_, content)| *content == first) {
            return Some(first);
        }
        let chosen = match *contents {
            [(one, Content::One(first)), (other, Content::One(second))] => {
                self.joined(block, [(one, first), (other, second)])
            }
            _ => None,
        };
        Some(chosen.map_or(Content::Unknown, Content::Either))
    }

    /// What an instruction leaves in a variable; none if it leaves it alone.
    fn left(&self, variable: InstId, id: InstId, inst: &Inst) -> Option<Content> {
        let at = Value::Inst(variable);
        match inst.op {
            Op::Alloca(_) if id == variable => Some(Content::Unknown),
            Op::Store(_) if inst.args.get(1) == Some(&at) => {
                let comm = self.comms.resolve(self.function, inst.args[0], false);
                Some(if comm == Comm::Unknown { Content::Unknown } else { Content::One(comm) })
            }
            Op::Call(_) if inst.args.contains(&at) => {
                let targets = self.comms.points_to.targets(self.function, at);
                let content = targets.iter().flat_map(|at| self.comms.points_to.content(*at));
                let made = |object: &Object| match object {
                    Object::Made(function, by, _) => *function == self.function && *by == id,
                    _ => false,
                };
                let mut objects: Vec<_> = content.map(|at| at.object).filter(made).collect();
                objects.dedup();
                Some(match *objects {
                    [one] => Content::One(Comm::Made(one)),
                    _ => Content::Unknown,
                })
            }
            _ => None,
        }
    }
}

impl Check<'_, '_> {
    /// One call on different communicators, if that is what the ways of a choice are.
    pub(super) fn on_different(&self, fork: &Fork) -> Option<Finding> {
        let choice = fork.choice;
        let mut events = choice.ways.iter().map(|way| match self.terms.get((*way)?) {
            Term::Event(event) => Some(event),
            _ => None,
        });
        let (one, other) = (events.next()??, events.next()??);
        if one.inst != other.inst || one.comm == other.comm {
            return None;
        }
        let name = one.name;
        let label = format!("`{name}` on one communicator by some ranks, on another by others");
        let branch = &self.program[choice.function].body.as_ref()?[choice.inst];
        let decides = "which communicator it is depends on this condition".to_owned();
        let sites = vec![
            self.site(one, Role::Access, label),
            places::at(self.program, choice.function, branch.at, Role::Cause, decides),
        ];
        let what = match self.variable(choice.function, branch) {
            Some(name) => format!("`{name}`"),
            None => "the condition".to_owned(),
        };
        let why = format!(
            "{what} differs between ranks, and each rank waits for all ranks of the communicator that it names"
        );
        let finding = places::finding(
            Code::CollectivesDiffer,
            format!("ranks call `{name}` on different communicators"),
            sites,
            why,
            "name the same communicator on all ranks".to_owned(),
        );
        Some(Finding { possible: !self.is_certain(choice) || fork.is_undecided(), ..finding })
    }
}
