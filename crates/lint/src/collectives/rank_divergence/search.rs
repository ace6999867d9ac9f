//! Searches for the least or largest of what all ranks have given, that begin with the rank's own:
//! what is found is among what all have the same of, so that it matters no more what the search
//! began with.
//!
//! ```c
//! all[rank] = mine;
//! MPI_Allreduce(MPI_IN_PLACE, all, size, MPI_INT, MPI_MAX, comm);
//! int least = mine;
//! for (int i = 0; i < size; i++)
//!   if (all[i] < least) least = all[i];
//! ```
//!
//! What it begins with follows from a value that the function stores somewhere else, too, or passes
//! to a call of MPI: multiples of it and sums with constants count as well.

use crate::Calls;
use commsan_ir::graph::{Flow, loops};
use commsan_ir::{Binary, BlockId, Body, Compare, Inst, InstId, Op, Value};
use rustc_hash::FxHashSet;

/// Maximum depth to which expressions are compared.
const MAX_EXPR_DEPTH: usize = 8;

/// Stores and phis by which a search begins, and the argument that it begins with.
pub fn begins(calls: &Calls, body: &Body, flow: &Flow) -> FxHashSet<(InstId, usize)> {
    let mut found = FxHashSet::default();
    let collects = |inst: &Inst| {
        let call = calls.at(inst).and_then(|mpi| mpi.call);
        call.is_some_and(|call| call.collective)
    };
    if !body.code.iter().any(collects) {
        return found;
    }
    let search = Search { calls, body };
    for (header, blocks) in loops(body, flow) {
        for block in &blocks {
            for won in search.won(*block) {
                search.begin(header, &blocks, won, &mut found);
            }
        }
    }
    found
}

/// Where the best so far is kept.
#[derive(Clone, Copy, Debug)]
enum Best {
    /// At this address.
    At(Value),
    /// In this phi, where the loop begins.
    Phi(InstId),
}

struct Search<'b> {
    calls: &'b Calls,
    body: &'b Body,
}

impl Search<'_> {
    /// Where a block compares something with the best so far, and keeps it if it is better: there.
    fn won(&self, block: BlockId) -> Vec<Best> {
        let body = self.body;
        let Some(Value::Inst(condition)) = body
            .end(block)
            .filter(|end| end.op == Op::Branch)
            .and_then(|end| end.args.first())
            .copied()
        else {
            return Vec::new();
        };
        let (Op::Compare(how), [one, other]) = (&body[condition].op, &*body[condition].args) else {
            return Vec::new();
        };
        if matches!(how, Compare::Equal | Compare::NotEqual) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (new, best) in [(*one, *other), (*other, *one)] {
            let Value::Inst(id) = best else { continue };
            match (&body[id].op, &*body[id].args) {
                (Op::Load(_), [at]) => {
                    let keeps = |inst: &Inst| match (&inst.op, &*inst.args) {
                        (Op::Store(_), [value, to]) => {
                            *to == *at && self.same(*value, new, MAX_EXPR_DEPTH)
                        }
                        _ => false,
                    };
                    let mut ways = body[block].next.iter();
                    if ways.any(|way| body.instructions(*way).any(|(_, inst)| keeps(inst))) {
                        found.push(Best::At(*at));
                    }
                }
                (Op::Phi(_), _) => {
                    let joins = |inst: &Inst| match (&inst.op, &*inst.args) {
                        (Op::Phi(_), [one, other]) => {
                            *one == best && self.same(*other, new, MAX_EXPR_DEPTH)
                                || *other == best && self.same(*one, new, MAX_EXPR_DEPTH)
                        }
                        _ => false,
                    };
                    if body[id]
                        .args
                        .iter()
                        .any(|arg| matches!(arg, Value::Inst(kept) if joins(&body[*kept])))
                    {
                        found.push(Best::Phi(id));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// What begins a search in a loop, if the rank has given it to others.
    fn begin(
        &self,
        header: BlockId,
        blocks: &FxHashSet<BlockId>,
        best: Best,
        found: &mut FxHashSet<(InstId, usize)>,
    ) {
        let body = self.body;
        match best {
            Best::At(at) => {
                for block in body.block_ids().filter(|block| !blocks.contains(block)) {
                    let stores = body.instructions(block).filter(|(_, inst)| {
                        matches!(inst.op, Op::Store(_)) && inst.args.get(1) == Some(&at)
                    });
                    let own = stores.filter(|(_, inst)| self.is_given(inst.args[0], Some(at)));
                    found.extend(own.map(|(id, _)| (id, 0)));
                }
            }
            Best::Phi(id) => {
                let begins_there = body[header].code.contains(&id);
                let Op::Phi(from) = &body[id].op else { return };
                for (place, (from, arg)) in from.iter().zip(&body[id].args).enumerate() {
                    if begins_there && !blocks.contains(from) && self.is_given(*arg, None) {
                        found.insert((id, place));
                    }
                }
            }
        }
    }

    /// Whether what a value follows from is stored elsewhere, too, or is in a variable that MPI is
    /// given.
    fn is_given(&self, value: Value, best: Option<Value>) -> bool {
        let own = self.root(value);
        let given = |inst: &Inst| match (&inst.op, &*inst.args) {
            (Op::Store(_), [stored, to]) => {
                Some(*to) != best && self.same(self.root(*stored), own, MAX_EXPR_DEPTH)
            }
            (Op::Call(_), args) => match own {
                Value::Inst(id) if matches!(self.body[id].op, Op::Load(_)) => {
                    self.calls
                        .at(inst)
                        .is_some_and(|mpi| mpi.call.is_some_and(|call| call.collective))
                        && args.contains(&self.body[id].args[0])
                }
                _ => false,
            },
            _ => false,
        };
        matches!(own, Value::Inst(_) | Value::Param(_)) && self.body.code.iter().any(given)
    }

    /// A value without casts, factors and summands that are constants.
    fn root(&self, value: Value) -> Value {
        let Value::Inst(id) = value else { return value };
        match (&self.body[id].op, &*self.body[id].args) {
            (Op::Cast, [of]) => self.root(*of),
            (
                Op::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::ShiftLeft),
                [of, Value::Int(_)] | [Value::Int(_), of],
            ) => self.root(*of),
            _ => value,
        }
    }

    /// Whether two values are computed in the same way.
    fn same(&self, one: Value, other: Value, depth: usize) -> bool {
        if one == other {
            return true;
        }
        let (Value::Inst(one), Value::Inst(other), Some(depth)) =
            (one, other, depth.checked_sub(1))
        else {
            return false;
        };
        let (one, other) = (&self.body[one], &self.body[other]);
        let computed =
            matches!(one.op, Op::Load(_) | Op::Offset(..) | Op::Cast | Op::Binary(_) | Op::Call(_));
        computed
            && one.op == other.op
            && one.args.len() == other.args.len()
            && one.args.iter().zip(&other.args).all(|(one, other)| self.same(*one, *other, depth))
    }
}
