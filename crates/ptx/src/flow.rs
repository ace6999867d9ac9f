//! Control-flow graph of a function: basic blocks, dominators, post-dominators, natural loops.

use crate::instruction::{Instruction, Operand};
use crate::module::{Body, Targets};
use crate::opcodes::Op;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;
use std::ops::Range;

/// The control-flow graph of a body. Block 0 is the entry.
pub(crate) struct Flow {
    pub(crate) blocks: Vec<Block>,
    /// The block of each instruction.
    pub(crate) block_of: Vec<usize>,
    /// Natural loops, one for each header.
    pub(crate) loops: Vec<Loop>,
    /// The loops that contain each block, by index.
    around: Vec<Vec<usize>>,
    dominators: Dominators<NodeIndex>,
    above: Ancestry,
    below: Ancestry,
}

/// Who is above whom in a tree of dominators, by when a walk through the tree enters and leaves
/// each node. Kernels of libraries have thousands of blocks.
struct Ancestry(Vec<Range<u32>>);

impl Ancestry {
    /// Of nodes that are numbered from 0.
    fn of(dominators: &Dominators<NodeIndex>, nodes: usize) -> Ancestry {
        let mut children = vec![Vec::new(); nodes];
        for node in 0..nodes {
            if let Some(parent) = dominators.immediate_dominator(NodeIndex::new(node)) {
                children[parent.index()].push(node);
            }
        }
        let mut spans = vec![0..0; nodes];
        let mut time = 0;
        // Each node twice: a second time once all below it have been there.
        let mut open = vec![(dominators.root().index(), true)];
        while let Some((node, enters)) = open.pop() {
            time += 1;
            if enters {
                spans[node].start = time;
                open.push((node, false));
                open.extend(children[node].iter().map(|child| (*child, true)));
            } else {
                spans[node].end = time;
            }
        }
        Ancestry(spans)
    }

    /// Whether a node is above another one, or the same; nodes that are not in the tree never are.
    fn holds(&self, above: usize, node: usize) -> bool {
        let (above, node) = (&self.0[above], &self.0[node]);
        node.start > 0 && above.start <= node.start && node.end <= above.end
    }
}

/// A basic block: instructions that are executed one after the other.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) instructions: Range<usize>,
    pub(crate) successors: Vec<Edge>,
    pub(crate) predecessors: Vec<usize>,
}

/// An edge out of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The successor; `None` ends the thread or returns.
    pub(crate) to: Option<usize>,
    /// Taken if the guard of the block's last instruction is true (false); always if `None`.
    pub(crate) when: Option<bool>,
}

/// A natural loop.
pub(crate) struct Loop {
    pub(crate) header: usize,
    /// Blocks with an edge back to the header.
    pub(crate) latches: Vec<usize>,
    /// Blocks of the loop.
    pub(crate) members: Vec<usize>,
}

impl Flow {
    pub(crate) fn of(body: &Body) -> Flow {
        let (mut blocks, block_of) = split(body);
        for at in 0..blocks.len() {
            let successors = successors(body, &blocks[at].instructions, &block_of);
            for to in successors.iter().filter_map(|e| e.to) {
                if !blocks[to].predecessors.contains(&at) {
                    blocks[to].predecessors.push(at);
                }
            }
            blocks[at].successors = successors;
        }
        // One more node for the end, to which all exits lead.
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (0..=blocks.len()).map(|_| graph.add_node(())).collect();
        for (at, block) in blocks.iter().enumerate() {
            for edge in &block.successors {
                graph.add_edge(nodes[at], nodes[edge.to.unwrap_or(blocks.len())], ());
            }
        }
        let dominators = simple_fast(&graph, nodes[0]);
        let post_dominators = simple_fast(Reversed(&graph), nodes[blocks.len()]);
        let above = Ancestry::of(&dominators, nodes.len());
        let below = Ancestry::of(&post_dominators, nodes.len());
        let around = vec![Vec::new(); blocks.len()];
        let loops = Vec::new();
        let mut flow = Flow { blocks, block_of, loops, around, dominators, above, below };
        flow.find_loops();
        flow
    }

    /// Whether a block is reachable from the entry.
    pub(crate) fn is_reachable(&self, block: usize) -> bool {
        block == 0 || self.dominator(block).is_some()
    }

    /// The immediate dominator of a block.
    pub(crate) fn dominator(&self, block: usize) -> Option<usize> {
        self.dominators.immediate_dominator(NodeIndex::new(block)).map(NodeIndex::index)
    }

    /// The closest common dominator of some blocks.
    pub(crate) fn common_dominator(&self, blocks: &[usize]) -> Option<usize> {
        let (first, others) = blocks.split_first()?;
        let mut above = Some(*first);
        while let Some(block) = above.filter(|a| !others.iter().all(|o| self.dominates(*a, *o))) {
            above = self.dominator(block);
        }
        above
    }

    /// Whether all paths from a block reach one of `those` within the same iteration of the same
    /// loops.
    pub(crate) fn leads_to_one_of(&self, block: usize, those: &[usize]) -> bool {
        let loops = |block| self.loops_of(block).collect::<Vec<_>>();
        let around = loops(block);
        if those.iter().any(|that| loops(*that) != around) {
            return false;
        }
        let innermost = around.iter().map(|at| &self.loops[*at]).min_by_key(|l| l.members.len());
        let goes_on =
            |to: usize| innermost.is_none_or(|l| to != l.header && l.members.contains(&to));
        let (mut open, mut seen) = (vec![block], vec![block]);
        while let Some(block) = open.pop() {
            for edge in &self.blocks[block].successors {
                match edge.to {
                    Some(to) if those.contains(&to) || seen.contains(&to) => {}
                    Some(to) if goes_on(to) => {
                        seen.push(to);
                        open.push(to);
                    }
                    _ => return false,
                }
            }
        }
        true
    }

    /// Whether `above` dominates `block`.
    pub(crate) fn dominates(&self, above: usize, block: usize) -> bool {
        self.above.holds(above, block)
    }

    /// Whether `below` post-dominates `block`.
    pub(crate) fn post_dominates(&self, below: usize, block: usize) -> bool {
        self.below.holds(below, block)
    }

    /// The loops that contain a block, by index.
    pub(crate) fn loops_of(&self, block: usize) -> impl Iterator<Item = usize> {
        self.around[block].iter().copied()
    }

    fn find_loops(&mut self) {
        for header in 0..self.blocks.len() {
            let predecessors = self.blocks[header].predecessors.iter().copied();
            let is_back = |p: &usize| self.is_reachable(*p) && self.dominates(header, *p);
            let latches: Vec<_> = predecessors.filter(is_back).collect();
            if !latches.is_empty() {
                let members = self.members(header, &latches);
                members.iter().for_each(|member| self.around[*member].push(self.loops.len()));
                self.loops.push(Loop { header, latches, members });
            }
        }
    }

    /// Blocks that reach the latches without passing the header.
    fn members(&self, header: usize, latches: &[usize]) -> Vec<usize> {
        let mut members = vec![header];
        let mut is_member = vec![false; self.blocks.len()];
        is_member[header] = true;
        let mut open = latches.to_vec();
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut is_member[block], true) {
                members.push(block);
                open.extend(&self.blocks[block].predecessors);
            }
        }
        members
    }
}

/// Splits a body before each branch target and after each instruction that may branch.
fn split(body: &Body) -> (Vec<Block>, Vec<usize>) {
    let count = body.instructions.len();
    let mut starts = vec![false; count + 1];
    starts[0] = true;
    for (at, instruction) in body.instructions.iter().enumerate() {
        targets(body, instruction).for_each(|t| starts[(t as usize).min(count)] = true);
        starts[at + 1] |= is_end(instruction.op);
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_of = Vec::with_capacity(count);
    for (at, _) in starts[..count].iter().enumerate() {
        if starts[at] {
            blocks.push(Block { instructions: at..at, ..Block::default() });
        }
        let last = blocks.len() - 1;
        blocks[last].instructions.end = at + 1;
        block_of.push(last);
    }
    if blocks.is_empty() {
        blocks.push(Block::default());
    }
    (blocks, block_of)
}

/// Whether an instruction ends its block.
fn is_end(op: Op) -> bool {
    matches!(op, Op::Bra | Op::BrxIdx | Op::Ret | Op::Exit | Op::Trap)
}

/// The possible targets of a branch.
fn targets<'a>(body: &'a Body, branch: &Instruction) -> impl Iterator<Item = u32> + use<'a> {
    let operands = body.operands_of(branch);
    let is_branch = matches!(branch.op, Op::Bra | Op::BrxIdx);
    operands
        .iter()
        .filter(move |_| is_branch)
        .flat_map(|operand| match operand {
            Operand::Target(target) => std::slice::from_ref(target),
            Operand::Table(at) => match &body.tables[*at as usize].targets {
                Targets::Branch(targets) => &targets[..],
                _ => &[],
            },
            _ => &[],
        })
        .copied()
}

fn successors(body: &Body, block: &Range<usize>, block_of: &[usize]) -> Vec<Edge> {
    let next = Edge { to: block_of.get(block.end).copied(), when: None };
    let Some(last) = body.instructions.get(block.clone()).and_then(<[_]>::last) else {
        return vec![next];
    };
    if !is_end(last.op) {
        return vec![next];
    }
    let when = last.guard.map(|_| true);
    let mut all: Vec<Edge> = match last.op {
        Op::Bra | Op::BrxIdx => targets(body, last)
            .map(|t| Edge { to: block_of.get(t as usize).copied(), when })
            .collect(),
        // A trap ends the kernel early, and summaries describe runs to the end.
        Op::Trap => Vec::new(),
        _ => vec![Edge { to: None, when }],
    };
    if when.is_some() {
        all.push(Edge { to: next.to, when: Some(false) });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;

    fn flow(text: &str) -> Flow {
        let text =
            format!(".version 9.0\n.target sm_90\n.entry k() {{ .reg .pred %p<3>; {text} }}");
        let module = Module::parse(&text).unwrap();
        Flow::of(module.functions[0].body.as_ref().unwrap())
    }

    #[test]
    fn branches_make_blocks() {
        let flow = flow("@%p1 bra A; trap; A: @!%p2 ret; ret;");
        let blocks: Vec<_> = flow.blocks.iter().map(|b| b.instructions.clone()).collect();
        assert_eq!(blocks, [0..1, 1..2, 2..3, 3..4]);
        assert!(
            flow.blocks[0].successors
                == [
                    Edge { to: Some(2), when: Some(true) },
                    Edge { to: Some(1), when: Some(false) },
                ]
        );
        assert!(flow.blocks[2].successors[0] == Edge { to: None, when: Some(true) });
        assert_eq!((flow.dominator(3), flow.dominator(2)), (Some(2), Some(0)));
        // A block that is never left is no path to the end.
        assert!(flow.post_dominates(2, 0) && !flow.post_dominates(3, 0));
        assert!(flow.loops.is_empty());
    }

    #[test]
    fn loops_have_headers_latches_and_members() {
        let flow = flow("A: @%p1 bra C; B: @%p2 bra B; bra A; C: ret;");
        let loops: Vec<_> = flow.loops.iter().map(|l| (l.header, &l.latches[..])).collect();
        assert_eq!(loops, [(0, &[2][..]), (1, &[1][..])]);
        assert_eq!(flow.loops_of(1).collect::<Vec<_>>(), [0, 1]);
        assert!(flow.post_dominates(3, 0));
    }

    #[test]
    fn who_is_above_whom_agrees_with_the_chains_of_dominators() {
        for text in [
            "A: @%p1 bra C; B: @%p2 bra B; bra A; C: ret;",
            "A: @%p1 bra C; B: bra D; C: bra D; D: @%p2 bra A; bra F; E: bra E; F: ret;",
            "@%p1 bra B; @%p2 bra B; A: bra C; B: bra C; C: exit; D: bra A;",
        ] {
            let flow = flow(text);
            let blocks = 0..flow.blocks.len();
            for (one, other) in blocks.clone().flat_map(|one| blocks.clone().map(move |o| (one, o)))
            {
                let chain = flow.dominators.dominators(NodeIndex::new(other));
                let is_above = chain.into_iter().flatten().any(|node| node.index() == one);
                assert_eq!(flow.dominates(one, other), is_above, "{text}: {one} above {other}");
            }
        }
    }

    #[test]
    fn all_ways_on_may_lead_to_one_of_some() {
        let flow = flow("@%p1 bra B; @%p2 bra B; A: bra C; B: bra C; C: ret;");
        assert_eq!(flow.common_dominator(&[2, 3]), Some(0));
        assert!(flow.leads_to_one_of(0, &[2, 3]) && !flow.leads_to_one_of(0, &[1, 2]));
        assert!(flow.leads_to_one_of(1, &[2, 3]) && flow.leads_to_one_of(0, &[1, 3]));
        let around = self::flow("A: @%p1 bra C; @%p2 bra D; B: bra A; C: bra A; D: ret;");
        assert!(!around.leads_to_one_of(0, &[2, 3]));
        let around = self::flow("A: @%p1 bra C; B: bra D; C: bra D; D: @%p2 bra A; ret;");
        assert!(around.leads_to_one_of(0, &[1, 2]) && !around.leads_to_one_of(0, &[1]));
    }

    #[test]
    fn empty_and_endless_bodies_are_no_trouble() {
        assert_eq!(flow("").blocks.len(), 1);
        let flow = flow("A: bra A; ret;");
        assert!(!flow.is_reachable(1) && flow.is_reachable(0));
    }
}
