//! Control-flow graph of a function: reverse postorder, dominators, post-dominators.

use crate::{BlockId, Body, Op};
use petgraph::algo::dominators::simple_fast;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Blocks that a function's entry reaches, and how.
#[derive(Debug)]
pub struct Flow {
    /// Reachable blocks, each before those it leads to but for loops (reverse postorder).
    pub order: Vec<BlockId>,
    /// By block: where it is reached from.
    pub previous: Vec<SmallVec<[BlockId; 2]>>,
}

impl Flow {
    /// Of a function.
    pub fn of(body: &Body) -> Flow {
        let mut previous = vec![SmallVec::new(); body.blocks.len()];
        let mut seen = vec![false; body.blocks.len()];
        let mut order = Vec::new();
        // Blocks entered, each with how many of its successors were gone to.
        let mut path = Vec::new();
        if !body.blocks.is_empty() {
            seen[0] = true;
            path.push((BlockId(0), 0));
        }
        while let Some((block, gone)) = path.last_mut() {
            let (from, next) = (*block, body[*block].next.get(*gone).copied());
            *gone += 1;
            let Some(next) = next else {
                order.push(from);
                path.pop();
                continue;
            };
            previous[next.0 as usize].push(from);
            if !std::mem::replace(&mut seen[next.0 as usize], true) {
                path.push((next, 0));
            }
        }
        order.reverse();
        Flow { order, previous }
    }

    /// Where the first loop begins.
    fn first_loop(&self) -> Option<BlockId> {
        let ranks = self.ranks();
        let rank = |block: &BlockId| ranks[block.0 as usize];
        let again = |block: &&BlockId| {
            self.previous[block.0 as usize].iter().any(|from| rank(from) >= rank(block))
        };
        self.order.iter().find(again).copied()
    }

    /// By block: its place in [`order`](Self::order); none if it is not reached.
    pub fn ranks(&self) -> Vec<Option<u32>> {
        let mut ranks = vec![None; self.previous.len()];
        for (rank, block) in self.order.iter().enumerate() {
            ranks[block.0 as usize] = Some(rank as u32);
        }
        ranks
    }
}

/// By number, of so many: whether edges (from, to) lead back to it.
pub fn on_circles(count: usize, edges: &[(u32, u32)]) -> Vec<bool> {
    let mut graph = DiGraph::<(), ()>::from_edges(edges);
    while graph.node_count() < count {
        graph.add_node(());
    }
    let mut on_circles = vec![false; graph.node_count()];
    for (from, _) in edges.iter().filter(|(from, to)| from == to) {
        on_circles[*from as usize] = true;
    }
    // Its depth of recursion does not grow with the graph.
    for circle in kosaraju_scc(&graph).iter().filter(|circle| circle.len() > 1) {
        circle.iter().for_each(|node| on_circles[node.index()] = true);
    }
    on_circles
}

/// By block: the block that every way to it goes through last. None of the entry, and of blocks
/// that are not reached.
pub fn dominators(body: &Body) -> Vec<Option<BlockId>> {
    let mut graph = nodes(body);
    for block in body.block_ids() {
        for next in &body[block].next {
            graph.add_edge(node(block), node(*next), ());
        }
    }
    let found = simple_fast(&graph, node(BlockId(0)));
    body.block_ids().map(|block| found.immediate_dominator(node(block)).map(block_of)).collect()
}

/// By block: the block that every way from it to the function's end goes through first. None where
/// that is the end itself, and of blocks that are not reached.
///
/// Ways that end in a call that does not return, as `MPI_Abort`, are looked at only from blocks
/// from which all ways do. A function that loops for ever is taken to end where its first loop
/// begins.
pub fn post_dominators(body: &Body) -> Vec<Option<BlockId>> {
    let flow = Flow::of(body);
    let ends = |wanted: fn(&Op) -> bool| {
        let end = move |block: &&BlockId| body.end(**block).is_some_and(|end| wanted(&end.op));
        flow.order.iter().filter(end).copied().collect::<Vec<_>>()
    };
    let returns = ends(|op| *op == Op::Return);
    let returning = reaching(&flow, &returns);
    let mut found = towards(body, &flow, &returns, &returning);
    if flow.order.iter().all(|block| returning[block.0 as usize]) {
        return found;
    }
    let mut last = ends(|op| matches!(op, Op::Return | Op::Unreachable));
    let mut ending = reaching(&flow, &last);
    if !flow.order.is_empty() && !ending[0] {
        last.extend(flow.first_loop());
        ending = reaching(&flow, &last);
    }
    let others = towards(body, &flow, &last, &ending);
    for block in flow.order.iter().map(|block| block.0 as usize) {
        if !returning[block] {
            found[block] = others[block];
        }
    }
    found
}

/// Post-dominators for a function that ends after these blocks, and has no others than the marked
/// ones.
fn towards(body: &Body, flow: &Flow, last: &[BlockId], kept: &[bool]) -> Vec<Option<BlockId>> {
    let mut graph = nodes(body);
    let exit = graph.add_node(());
    for block in last {
        graph.add_edge(node(*block), exit, ());
    }
    for block in flow.order.iter().filter(|block| kept[block.0 as usize]) {
        for next in body[*block].next.iter().filter(|next| kept[next.0 as usize]) {
            graph.add_edge(node(*block), node(*next), ());
        }
    }
    let found = simple_fast(Reversed(&graph), exit);
    let of = |block| found.immediate_dominator(node(block)).filter(|found| *found != exit);
    body.block_ids().map(|block| of(block).map(block_of)).collect()
}

/// By block: whether one of `last` can be reached from it.
fn reaching(flow: &Flow, last: &[BlockId]) -> Vec<bool> {
    let mut reaching = vec![false; flow.previous.len()];
    let mut open = last.to_vec();
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut reaching[block.0 as usize], true) {
            open.extend(&flow.previous[block.0 as usize]);
        }
    }
    reaching
}

/// Loops with one entry: the blocks of each, by the block that it begins with.
pub fn loops(body: &Body, flow: &Flow) -> FxHashMap<BlockId, FxHashSet<BlockId>> {
    let ranks = flow.ranks();
    let rank = |block: BlockId| ranks[block.0 as usize];
    let again = |header: BlockId| {
        let from = flow.previous[header.0 as usize].iter().copied();
        from.filter(move |from| rank(*from) >= rank(header))
    };
    let mut found = FxHashMap::default();
    if flow.order.iter().all(|block| again(*block).next().is_none()) {
        return found;
    }
    let dominators = dominators(body);
    let dominates = |header: BlockId, block: BlockId| {
        let mut above = std::iter::successors(Some(block), |at| dominators[at.0 as usize]);
        above.any(|at| at == header)
    };
    for header in &flow.order {
        let mut open: Vec<_> = again(*header).filter(|from| dominates(*header, *from)).collect();
        if open.is_empty() {
            continue;
        }
        let mut blocks = FxHashSet::from_iter([*header]);
        while let Some(block) = open.pop() {
            if blocks.insert(block) {
                open.extend(&flow.previous[block.0 as usize]);
            }
        }
        found.insert(*header, blocks);
    }
    found
}

/// By block: where its dominance ends, for a tree of immediate dominators (Cytron et al. 1991).
pub fn frontiers(flow: &Flow, dominators: &[Option<BlockId>]) -> Vec<Vec<BlockId>> {
    let mut frontiers = vec![Vec::new(); dominators.len()];
    for block in flow.order.iter().filter(|block| flow.previous[block.0 as usize].len() > 1) {
        for from in &flow.previous[block.0 as usize] {
            let mut at = Some(*from);
            while let Some(runner) = at.filter(|at| Some(*at) != dominators[block.0 as usize]) {
                let frontier: &mut Vec<BlockId> = &mut frontiers[runner.0 as usize];
                if !frontier.contains(block) {
                    frontier.push(*block);
                }
                at = dominators[runner.0 as usize];
            }
        }
    }
    frontiers
}

fn nodes(body: &Body) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(body.blocks.len() + 1, 2 * body.blocks.len());
    for _ in &body.blocks {
        graph.add_node(());
    }
    graph
}

fn node(block: BlockId) -> NodeIndex {
    NodeIndex::new(block.0 as usize)
}

fn block_of(node: NodeIndex) -> BlockId {
    BlockId(node.index() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Inst, InstId, Place};
    use proptest::prelude::*;

    /// A function of these edges; blocks without any return.
    fn body(edges: &[&[u32]]) -> Body {
        let mut body = Body::default();
        for next in edges {
            let op = match next.len() {
                0 => Op::Return,
                1 => Op::Goto,
                _ => Op::Branch,
            };
            let id = InstId(body.code.len() as u32);
            body.code.push(Inst { op, args: SmallVec::new(), at: Place::default() });
            let next = next.iter().map(|next| BlockId(*next)).collect();
            body.blocks.push(Block { code: vec![id], next, unwind: None });
        }
        body
    }

    #[test]
    fn what_leads_back_to_itself_is_on_a_circle() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (4, 4)];
        assert_eq!(on_circles(6, &edges), [false, true, true, false, true, false]);
    }

    #[test]
    fn a_call_that_does_not_return_is_no_way_to_the_end() {
        let mut body = body(&[&[1, 2], &[], &[3], &[]]);
        body[InstId(1)].op = Op::Unreachable;
        let found = post_dominators(&body);
        assert_eq!(found[0], Some(BlockId(2)));
        body[InstId(1)].op = Op::Return;
        assert_eq!(post_dominators(&body)[0], None);
    }

    #[test]
    fn a_loop_without_end_has_post_dominators() {
        let body = body(&[&[1], &[2, 3], &[1], &[1]]);
        assert_eq!(post_dominators(&body)[2], Some(BlockId(1)));
    }

    #[test]
    fn loops_are_found_within_each_other() {
        // 0 → 1 → 2 ⇄ 3, 2 → 1, 1 → 4
        let body = body(&[&[1], &[2, 4], &[3, 1], &[2], &[]]);
        let found = loops(&body, &Flow::of(&body));
        let set = |blocks: &[u32]| blocks.iter().copied().map(BlockId).collect::<FxHashSet<_>>();
        assert_eq!(found.len(), 2);
        assert_eq!(found[&BlockId(1)], set(&[1, 2, 3]));
        assert_eq!(found[&BlockId(2)], set(&[2, 3]));
    }

    /// Whether `to` is reached from `from` without `avoided`.
    fn reaches(body: &Body, from: BlockId, to: BlockId, avoided: BlockId) -> bool {
        let mut open = vec![from];
        let mut seen = Vec::new();
        while let Some(block) = open.pop() {
            if block == avoided || seen.contains(&block) {
                continue;
            }
            if block == to {
                return true;
            }
            seen.push(block);
            open.extend(&body[block].next);
        }
        false
    }

    proptest! {
        #[test]
        fn dominators_are_on_every_way(
            edges in prop::collection::vec(prop::collection::vec(0..8u32, 0..3), 8)
        ) {
            let edges: Vec<&[u32]> = edges.iter().map(|e| &**e).collect();
            let body = body(&edges);
            let flow = Flow::of(&body);
            let found = dominators(&body);
            for block in flow.order.iter().skip(1) {
                let dominator = found[block.0 as usize].expect("the entry dominates all");
                prop_assert!(!reaches(&body, BlockId(0), *block, dominator));
                // The nearest one: others dominate it.
                for other in &flow.order {
                    let dominates = other != block && !reaches(&body, BlockId(0), *block, *other);
                    let above = *other == dominator
                        || !reaches(&body, BlockId(0), dominator, *other);
                    prop_assert!(!dominates || above);
                }
            }
        }
    }
}
