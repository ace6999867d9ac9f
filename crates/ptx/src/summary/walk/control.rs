//! Control dependence: under which conditions, and how often, instructions are executed.

use super::{Context, Reached, Walker};
use crate::flow::Edge;
use crate::summary::graph::{Iterations, Node, NodeId, Way};

impl Walker<'_> {
    /// The conditions and loops of an instruction.
    pub(super) fn context_at(&mut self, at: usize) -> Context {
        let mut context = self.context_of(self.flow.block_of[at]);
        if let Some(guard) = self.body.instructions[at].guard {
            let node = self.register(at, guard.register);
            context.guards.push((node, !guard.negated));
        }
        context
    }

    /// The conditions and loops of a block.
    pub(super) fn context_of(&mut self, block: usize) -> Context {
        let mut context = self.context.clone();
        context.certain &= self.conditions(block, &mut context.guards);
        for at in self.flow.loops_of(block) {
            let number = self.loops[at];
            context.certain &= self.findings.graph.loops[number as usize].single_exit;
            context.loops.push(number);
        }
        context
    }

    /// Adds the necessary conditions of a block; true if they are sufficient.
    pub(super) fn conditions(&mut self, block: usize, guards: &mut Vec<(NodeId, bool)>) -> bool {
        let (mut certain, mut below) = (true, block);
        while let Some(above) = self.flow.dominator(below) {
            let reached = self.reached(above, below);
            guards.extend(reached.when);
            certain &= reached.certain;
            below = above;
        }
        certain
    }

    /// When a block is reached from its immediate dominator.
    fn reached(&mut self, above: usize, below: usize) -> Reached {
        if let Some(known) = self.reached.get(&below) {
            return *known;
        }
        let edges = self.flow.blocks[above].successors.iter();
        let to: Vec<_> = edges.filter(|e| e.to == Some(below)).copied().collect();
        // A post-dominator needs no condition, such as the code after a spin loop.
        let certain = self.flow.post_dominates(below, above);
        let reached = match (&to[..], &self.flow.blocks[below].predecessors[..]) {
            ([edge], [_]) if edge.when.is_some() && !certain => {
                let when = self.condition(above, edge.when == Some(true));
                Reached { when: Some(when), certain: true }
            }
            _ => Reached { when: None, certain },
        };
        self.reached.insert(below, reached);
        reached
    }

    /// The condition under which a block's last instruction is executed (or not).
    pub(super) fn condition(&mut self, block: usize, executed: bool) -> (NodeId, bool) {
        let last = self.flow.blocks[block].instructions.end - 1;
        match self.body.instructions[last].guard {
            Some(guard) => (self.register(last, guard.register), executed != guard.negated),
            None => (self.findings.graph.add(Node::Const(1)), executed),
        }
    }

    /// Finds the conditions of each merge's values.
    pub(super) fn ways(&mut self) {
        while let Some((id, block, values)) = self.merges.pop() {
            let ways = values.into_iter().map(|(from, value)| {
                let mut conditions = Vec::new();
                let certain = self.conditions(from, &mut conditions);
                let edges = self.flow.blocks[from].successors.iter();
                let mut edges = edges.filter(|e| e.to == Some(block));
                if let (Some(Edge { when: Some(when), .. }), None) = (edges.next(), edges.next()) {
                    conditions.push(self.condition(from, *when));
                }
                Way { value, conditions, certain }
            });
            let ways = ways.collect();
            self.findings.graph.ways.insert(id, ways);
        }
    }

    /// Finds the conditions of the iterations of this function's loops.
    pub(super) fn iterations(&mut self) {
        for at in 0..self.flow.loops.len() {
            let known = self.iterations_of(at);
            self.findings.graph.loops[self.loops[at] as usize] = known;
        }
    }

    fn iterations_of(&mut self, at: usize) -> Iterations {
        let (header, latches) = (self.flow.loops[at].header, self.flow.loops[at].latches.clone());
        let members = &self.flow.loops[at].members;
        let leaves = |to: Option<usize>| to.is_none_or(|to| !members.contains(&to));
        let exits: Vec<usize> = (members.iter())
            .flat_map(|m| self.flow.blocks[*m].successors.iter().map(move |e| (*m, e.to)))
            .filter(|(_, to)| leaves(*to))
            .map(|(from, _)| from)
            .collect();
        let back = match latches[..] {
            [latch] => {
                let mut edges = self.flow.blocks[latch].successors.iter();
                edges.find(|e| e.to == Some(header)).and_then(|e| e.when).map(|when| (latch, when))
            }
            _ => None,
        };
        let inward = (self.flow.blocks[header].successors.iter())
            .find(|e| !leaves(e.to))
            .filter(|_| exits.contains(&header))
            .and_then(|e| e.when);
        let continues = back.map(|(latch, when)| self.condition(latch, when));
        let entered = inward.map(|when| self.condition(header, when));
        let at_end = |from| from == header || [from] == latches[..];
        let single_exit = matches!(exits[..], [from] if at_end(from));
        Iterations { continues, entered, single_exit }
    }
}
