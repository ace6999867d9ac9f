//! Natural loops of a function, and a block order that visits a loop before its exits.

use commsan_ir::graph::{self, Flow, dominators, post_dominators};
use commsan_ir::{BlockId, Body};
use rustc_hash::FxHashSet;

/// A natural loop.
#[derive(Debug)]
pub struct Loop {
    /// Where it is entered.
    pub header: BlockId,
    /// Its blocks.
    pub blocks: FxHashSet<BlockId>,
}

/// How the blocks of a function follow each other.
#[derive(Debug)]
pub struct Ways {
    pub flow: Flow,
    pub dominators: Vec<Option<BlockId>>,
    pub post_dominators: Vec<Option<BlockId>>,
    pub loops: Vec<Loop>,
    /// By block: its place in an order that leaves loops last; none if it is not reached.
    pub ranks: Vec<Option<u32>>,
}

impl Ways {
    pub fn of(body: &Body) -> Ways {
        let flow = Flow::of(body);
        let dominators = dominators(body);
        let loops = loops(body, &flow);
        let ranks = ranks(body, &loops);
        Ways { post_dominators: post_dominators(body), flow, dominators, loops, ranks }
    }

    /// Blocks in that order.
    pub fn order(&self) -> Vec<BlockId> {
        let mut order = self.flow.order.clone();
        order.sort_by_key(|block| self.ranks[block.0 as usize]);
        order
    }

    /// Whether every way to `block` goes through `by`.
    pub fn dominates(&self, by: BlockId, block: BlockId) -> bool {
        reached(&self.dominators, block, by)
    }

    /// Whether every way from `block` to the end goes through `by`.
    pub fn post_dominates(&self, by: BlockId, block: BlockId) -> bool {
        reached(&self.post_dominators, block, by)
    }

    /// Whether an edge goes back to the header of a loop.
    pub fn is_back(&self, from: BlockId, to: BlockId) -> bool {
        self.dominates(to, from)
    }

    /// Loops that contain a block.
    pub fn around(&self, block: BlockId) -> impl Iterator<Item = &Loop> {
        self.loops.iter().filter(move |around| around.blocks.contains(&block))
    }
}

fn reached(tree: &[Option<BlockId>], from: BlockId, to: BlockId) -> bool {
    let mut at = Some(from);
    while let Some(block) = at {
        if block == to {
            return true;
        }
        at = tree[block.0 as usize];
    }
    false
}

/// The loops of a function, by where they begin.
fn loops(body: &Body, flow: &Flow) -> Vec<Loop> {
    let mut found = graph::loops(body, flow);
    let headers = flow.order.iter();
    headers.filter_map(|&header| Some(Loop { header, blocks: found.remove(&header)? })).collect()
}

fn ranks(body: &Body, loops: &[Loop]) -> Vec<Option<u32>> {
    let depth = |block: BlockId, within: BlockId| {
        loops.iter().filter(|l| l.blocks.contains(&block) && l.blocks.contains(&within)).count()
    };
    let mut seen = vec![false; body.blocks.len()];
    let mut order = Vec::new();
    // Blocks entered, with where they lead to: out of loops first, so that it comes last.
    let mut path: Vec<(BlockId, Vec<BlockId>)> = Vec::new();
    let enter = |block: BlockId| {
        let mut next = body[block].next.to_vec();
        next.sort_by_key(|next| std::cmp::Reverse(depth(*next, block)));
        (block, next)
    };
    if !body.blocks.is_empty() {
        seen[0] = true;
        path.push(enter(BlockId(0)));
    }
    while let Some((block, next)) = path.last_mut() {
        match next.pop() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next.0 as usize], true) {
                    path.push(enter(next));
                }
            }
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    let mut ranks = vec![None; body.blocks.len()];
    for (rank, block) in order.iter().rev().enumerate() {
        ranks[block.0 as usize] = Some(rank as u32);
    }
    ranks
}
