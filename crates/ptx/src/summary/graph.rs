//! Value graph: the values of registers as operations on arguments and thread indices (SSA).

use super::Inputs;
use crate::instruction::Modifiers;
use crate::opcodes::Op;
use crate::words::{Flag, Special, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

/// The definition of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// The bits of a constant.
    Const(u64),
    /// Bytes of the launch's argument buffer.
    Argument { offset: u64, ty: Type },
    /// A special register.
    Special(Special, u8),
    /// The address of memory that is not an argument.
    Place(Place),
    /// A value read from memory.
    Loaded { address: NodeId, ty: Type },
    /// An operation.
    Apply { op: Op, modifiers: Modifiers, args: SmallVec<[NodeId; 4]> },
    /// A phi: one of these values, depending on the path; a single value is just that.
    Merge(Vec<NodeId>),
    /// An induction variable, `init + iteration * step`, in a register of that many bits.
    Induction { of: u32, init: NodeId, step: NodeId, bits: u32 },
    /// An unknown value.
    Unknown,
}

/// The memory that an address points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// A variable of the module.
    Variable(u32),
    /// Private memory of the thread or the block.
    Own,
    /// The kernel's argument buffer, from that offset on.
    Arguments(u64),
}

/// What is known of a loop's iterations.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterations {
    /// A condition that is true (false) in each iteration that is followed by another.
    pub(super) continues: Option<(NodeId, bool)>,
    /// A condition that all iterations but the last fulfil, tested at the loop's header.
    pub(super) entered: Option<(NodeId, bool)>,
    /// Whether the loop has no other exit.
    pub(super) single_exit: bool,
}

/// A value of a [`Node::Merge`] and the conditions under which it is taken, each true or false.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) value: NodeId,
    pub(super) conditions: Vec<(NodeId, bool)>,
    /// Whether the conditions are sufficient.
    pub(super) certain: bool,
}

/// The value graph of a kernel, with the functions that it calls, and its loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// When each value of a merge is taken; not for merges at loop headers.
    pub(super) ways: FxHashMap<NodeId, Vec<Way>>,
    pub(super) loops: Vec<Iterations>,
}

/// Maximum depth to which the steps of loops are followed.
const MAX_STEP_DEPTH: u32 = 6;

impl Graph {
    pub(super) fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(super) fn set(&mut self, id: NodeId, node: Node) {
        self.nodes[id.0 as usize] = node;
    }

    /// A node; aliases are followed.
    pub(super) fn get(&self, id: NodeId) -> &Node {
        &self.nodes[self.same(id).0 as usize]
    }

    /// The node that a node is an alias of.
    pub(super) fn same(&self, mut id: NodeId) -> NodeId {
        while let Node::Merge(values) = &self.nodes[id.0 as usize]
            && let [only] = values[..]
            && only != id
        {
            id = only;
        }
        id
    }

    /// The parts of a launch that its nodes depend on.
    pub(super) fn inputs(&self) -> Inputs {
        let (mut arguments, mut variables) = (Vec::new(), Vec::new());
        for node in &self.nodes {
            match node {
                Node::Argument { offset, ty } => arguments.push(*offset..*offset + ty.size()),
                // Code that has the address may read any argument.
                Node::Place(Place::Arguments(_)) => arguments.push(0..u64::MAX),
                Node::Place(Place::Variable(at)) => variables.push(*at),
                _ => {}
            }
        }
        arguments.sort_unstable_by_key(|range| (range.start, range.end));
        arguments.dedup_by(|next, before| {
            let joins = next.start <= before.end;
            if joins {
                before.end = before.end.max(next.end);
            }
            joins
        });
        variables.sort_unstable();
        variables.dedup();
        Inputs { arguments, variables }
    }

    /// Whether two values are equal whenever both are computed in the same iteration.
    pub(super) fn is_same(&self, a: NodeId, b: NodeId, depth: u32) -> bool {
        let (a, b) = (self.same(a), self.same(b));
        match (self.get(a), self.get(b)) {
            _ if a == b => true,
            (Node::Special(a, d), Node::Special(b, e)) => {
                use Special::{CtaId, NctaId, Ntid, Tid};
                (a, d) == (b, e) && [Tid, CtaId, Ntid, NctaId].contains(a)
            }
            (Node::Const(_) | Node::Argument { .. } | Node::Place(_), other) => {
                self.get(a) == other
            }
            (
                Node::Apply { op, modifiers, args },
                Node::Apply { op: other, modifiers: others, args: rest },
            ) if depth > 0 => {
                (op, modifiers, args.len()) == (other, others, rest.len())
                    && args.iter().zip(rest).all(|(a, b)| self.is_same(*a, *b, depth - 1))
            }
            _ => false,
        }
    }

    /// The increment of `value` over `start`, if only sums of loop-invariant values lead from one
    /// to the other.
    pub(super) fn step(&mut self, value: NodeId, start: NodeId, depth: u32) -> Option<NodeId> {
        let value = self.same(value);
        if value == start {
            return Some(self.add(Node::Const(0)));
        }
        let Node::Apply { op: op @ (Op::Add | Op::Sub), modifiers, args } = self.get(value) else {
            return None;
        };
        let (op, modifiers, a, b) = (*op, *modifiers, args[0], args[1]);
        if depth == 0 || modifiers.ty().is_float() {
            return None;
        }
        let before = match (
            self.is_invariant(b, MAX_STEP_DEPTH),
            op == Op::Add && self.is_invariant(a, MAX_STEP_DEPTH),
        ) {
            (true, _) => (self.step(a, start, depth - 1)?, b),
            (_, true) => (self.step(b, start, depth - 1)?, a),
            _ => return None,
        };
        let args = SmallVec::from_slice(&[before.0, before.1]);
        Some(self.add(Node::Apply { op, modifiers, args }))
    }

    /// The original value, if it was widened and then narrowed again.
    pub(super) fn narrowed_again(&self, id: NodeId) -> NodeId {
        let converted = |id: NodeId| match self.get(id) {
            Node::Apply { op: Op::Cvt, modifiers, args } => {
                let [Some(to), Some(from), _] = modifiers.types else { return None };
                let plain = !to.is_float() && !from.is_float() && !modifiers.has(Flag::Saturate);
                plain.then(|| (to.size(), from.size(), self.same(args[0])))
            }
            _ => None,
        };
        match converted(id).map(|(to, from, wide)| (to, from, converted(wide))) {
            Some((to, from, Some((wide, narrow, value))))
                if to == narrow && to <= from.min(wide) =>
            {
                value
            }
            _ => id,
        }
    }

    /// Whether a value follows from arguments and thread indices by operations alone.
    fn is_invariant(&self, id: NodeId, depth: u32) -> bool {
        match self.get(id) {
            Node::Const(_) | Node::Argument { .. } | Node::Special(..) | Node::Place(_) => true,
            Node::Apply { args, .. } if depth > 0 => {
                args.iter().all(|a| self.is_invariant(*a, depth - 1))
            }
            _ => false,
        }
    }
}
