//! Abstract interpretation of a value graph for one launch: the values of its nodes, as affine
//! expressions.
//!
//! An affine expression stands for the bits of a register: they agree modulo 2 to the power of its
//! width. Sums need no more than that. Where the number itself matters, as in comparisons and
//! conversions, the expression must be shown to lie within the type ([`Values::interpret`]).

mod conditions;
mod delinearize;
mod effects;
mod loops;
mod operations;

use super::affine_expr::{AffineExpr, Bounds, Reading, Var};
use super::graph::{Graph, Node, NodeId, Place, Way};
use super::{Launch, Origin};
use crate::instruction::Modifiers;
use crate::opcodes::Op;
use crate::words::{Mode, Special, Type};
pub(super) use delinearize::Division;
use loops::Last;
use rustc_hash::FxHashMap;

/// The abstract value of a register: its bits, and the pointers it may be derived from.
#[derive(Clone, Debug)]
struct Value {
    expr: AffineExpr,
    origins: Vec<Origin>,
}

/// The threads that values are computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threads {
    /// All threads.
    All,
    /// The first thread of each block.
    FirstOfBlock,
}

/// The values of a graph's nodes in a launch.
pub(super) struct Values<'g> {
    graph: &'g Graph,
    launch: &'g Launch<'g>,
    threads: Threads,
    known: FxHashMap<NodeId, Option<Value>>,
    opaque: FxHashMap<(NodeId, Reading), Bounds>,
    divisions: Vec<Division>,
    last: Vec<Last>,
    /// Number of loops whose trip count is being computed under the assumption that numbers fit
    /// their types. The assumption is verified afterwards.
    assuming: u32,
    /// Loops whose trip count was found under that assumption for another loop.
    provisional: Vec<u32>,
}

impl<'g> Values<'g> {
    pub(super) fn new(graph: &'g Graph, launch: &'g Launch<'g>, threads: Threads) -> Values<'g> {
        let last = vec![Last::Unasked; graph.loops.len()];
        let (known, opaque, divisions, provisional) = Default::default();
        Values { graph, launch, threads, known, opaque, divisions, last, assuming: 0, provisional }
    }

    /// The interval of an affine expression over all threads and iterations.
    pub(super) fn bounds(&mut self, expr: &AffineExpr) -> Bounds {
        let whole = expr.bounds(|var| self.range(var));
        if !expr.terms.iter().any(|(var, _)| matches!(var, Var::Quotient(_))) {
            return whole;
        }
        let split = self.split(expr);
        whole.both(&split.bounds(|var| self.range(var)))
    }

    /// The interval of a variable.
    pub(super) fn range(&mut self, var: Var) -> Bounds {
        let below = |n: u32| Bounds::new(0, i128::from(n) - 1);
        match var {
            Var::Tid(d) => below(self.launch.block[d as usize]),
            Var::Ctaid(d) => below(self.launch.grid[d as usize]),
            Var::Quotient(number) => self.range_of_quotient(number),
            Var::Remainder(number) => self.range_of_remainder(number),
            Var::Opaque(id, reading) => {
                self.opaque.get(&(id, reading)).copied().unwrap_or(Bounds::ANY)
            }
            Var::Loop(number) => match self.last(number) {
                Last::Known { last, .. } => Bounds { least: Some(0), greatest: last },
                _ => Bounds { least: Some(0), greatest: None },
            },
        }
    }

    /// Interprets bits as a number of type `ty`, if one expression is right for all threads.
    fn interpret(&mut self, expr: &AffineExpr, ty: Type) -> Option<AffineExpr> {
        let bits = 8 * ty.size() as u32;
        if bits >= 64 && ty.is_signed() {
            return Some(expr.clone());
        }
        let wanted = Bounds::of_type(bits.min(64), ty.is_signed());
        let bounds = self.bounds(expr);
        if bits >= 64 {
            let known = bounds.least.map_or(self.assuming > 0, |least| least >= 0);
            return known.then(|| expr.clone());
        }
        let (Some(least), Some(_)) = (bounds.least, bounds.greatest) else {
            return (self.assuming > 0).then(|| expr.clone());
        };
        let turns = (least - wanted.least.unwrap_or(0)).div_euclid(1 << bits);
        let turned = expr.plus(&AffineExpr::constant((turns << bits).try_into().ok()?), -1)?;
        self.bounds(&turned).within(&wanted).then_some(turned)
    }

    /// A value as a number of this type, or an unknown number within the type's range.
    fn number(&mut self, id: NodeId, ty: Type) -> (AffineExpr, Bounds) {
        let expr = self.value(id).expr;
        let known = self.interpret(&expr, ty);
        let expr = known.unwrap_or_else(|| {
            let bits = 8 * ty.size() as u32;
            let bounds =
                if bits < 64 { Bounds::of_type(bits, ty.is_signed()) } else { Bounds::ANY };
            let reading = if ty.is_signed() { Reading::Signed } else { Reading::Unsigned };
            self.opaque_as(id, reading, bounds)
        });
        let bounds = self.bounds(&expr);
        (expr, bounds)
    }

    /// A value of which only the bounds are known.
    fn opaque(&mut self, id: NodeId, bounds: Bounds) -> AffineExpr {
        self.opaque_as(id, Reading::Bits, bounds)
    }

    fn opaque_as(&mut self, id: NodeId, reading: Reading, bounds: Bounds) -> AffineExpr {
        let id = self.graph.same(id);
        match (bounds.least, bounds.greatest.and_then(|g| i64::try_from(g).ok())) {
            (Some(least), Some(greatest)) if least == greatest.into() => {
                AffineExpr::constant(greatest)
            }
            _ => {
                let known = self.opaque.entry((id, reading)).or_insert(bounds);
                *known = known.hull(&bounds);
                AffineExpr::var(Var::Opaque(id, reading))
            }
        }
    }

    /// The value of a node.
    fn value(&mut self, id: NodeId) -> Value {
        let id = self.graph.same(id);
        match self.known.get(&id) {
            Some(Some(value)) => return value.clone(),
            // The node depends on itself.
            Some(None) => {
                let expr = self.opaque(id, Bounds::ANY);
                return Value { expr, origins: Vec::new() };
            }
            None => {}
        }
        self.known.insert(id, None);
        let value = self.compute(id);
        self.known.insert(id, Some(value.clone()));
        value
    }

    fn compute(&mut self, id: NodeId) -> Value {
        let plain = |expr| Value { expr, origins: Vec::new() };
        match self.graph.get(id) {
            Node::Const(bits) => plain(AffineExpr::constant(*bits as i64)),
            Node::Argument { offset, ty } => self.argument(id, *offset, *ty),
            Node::Special(Special::Envreg, _) => {
                Value { expr: self.opaque(id, Bounds::ANY), origins: vec![Origin::Own] }
            }
            Node::Special(special, d) => plain(self.special(id, *special, *d)),
            Node::Place(place) => self.place(id, *place),
            Node::Loaded { address, ty } => self.loaded(id, *address, *ty),
            Node::Merge(values) => self.merged(id, values),
            Node::Induction { of, init, step, bits } => {
                let Value { expr: init, origins } = self.value(*init);
                let step = self.value(*step).expr.as_constant();
                let sum = step.and_then(|s| init.plus(&AffineExpr::var(Var::Loop(*of)), s));
                let expr = match sum {
                    Some(sum) if *bits < 64 => sum.reduced(*bits),
                    Some(sum) => sum,
                    None => self.opaque(id, Bounds::ANY),
                };
                Value { expr, origins }
            }
            Node::Apply { op, modifiers, args } => {
                let expr = self.applied(id, *op, modifiers, args);
                Value { expr, origins: self.origins(*op, modifiers, args) }
            }
            Node::Unknown => {
                Value { expr: self.opaque(id, Bounds::ANY), origins: vec![Origin::Unknown] }
            }
        }
    }

    fn argument(&mut self, id: NodeId, offset: u64, ty: Type) -> Value {
        let size = ty.size().min(8) as usize;
        let bytes = self.launch.arguments.get(offset as usize..);
        let Some(bytes) = bytes.and_then(|b| b.get(..size)) else {
            return Value { expr: self.opaque(id, Bounds::ANY), origins: vec![Origin::Unknown] };
        };
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(bytes);
        let expr = AffineExpr::constant(i64::from_le_bytes(wide));
        let expr = if size < 8 { self.read_as(expr, ty) } else { expr };
        let origins = if size == 8 { vec![Origin::Argument(offset)] } else { Vec::new() };
        Value { expr, origins }
    }

    /// The bits that a load of type `ty` leaves in a register: sign-extended if it is signed.
    fn read_as(&self, expr: AffineExpr, ty: Type) -> AffineExpr {
        if ty.is_signed() { expr.reduced(8 * ty.size() as u32) } else { expr }
    }

    fn special(&mut self, id: NodeId, special: Special, d: u8) -> AffineExpr {
        let of = |sizes: &[u32; 3], var: Var| match sizes.get(d as usize) {
            Some(1) | None => AffineExpr::constant(0),
            Some(_) => AffineExpr::var(var),
        };
        let size = |sizes: &[u32; 3]| {
            AffineExpr::constant(sizes.get(d as usize).copied().unwrap_or(1).into())
        };
        match special {
            Special::Tid | Special::LaneId if self.threads == Threads::FirstOfBlock => {
                AffineExpr::constant(0)
            }
            Special::Tid => of(&self.launch.block, Var::Tid(d)),
            Special::CtaId => of(&self.launch.grid, Var::Ctaid(d)),
            Special::Ntid => size(&self.launch.block),
            Special::NctaId => size(&self.launch.grid),
            Special::LaneId => self.opaque(id, Bounds::new(0, 31)),
            _ => self.opaque(id, Bounds::ANY),
        }
    }

    fn place(&mut self, id: NodeId, place: Place) -> Value {
        let (address, origin) = match place {
            Place::Variable(at) => ((self.launch.variable)(at), Origin::Variable(at)),
            Place::Own | Place::Arguments(_) => (None, Origin::Own),
        };
        let expr = match address {
            Some(address) => AffineExpr::constant(address as i64),
            None => self.opaque(id, Bounds::ANY),
        };
        Value { expr, origins: vec![origin] }
    }

    fn loaded(&mut self, id: NodeId, address: NodeId, ty: Type) -> Value {
        if let Some(offset) = self.argument_at(address) {
            return self.argument(id, offset, ty);
        }
        let bits = 8 * ty.size() as u32;
        if bits < 64 {
            let expr = self.opaque(id, Bounds::of_type(bits, ty.is_signed()));
            return Value { expr, origins: Vec::new() };
        }
        let expr = self.opaque(id, Bounds::ANY);
        let through = |origin| match origin {
            Origin::Argument(at) | Origin::ThroughArgument(at) => Origin::ThroughArgument(at),
            Origin::Variable(at) | Origin::ThroughVariable(at) => Origin::ThroughVariable(at),
            Origin::Own | Origin::Unknown => Origin::Unknown,
        };
        let origins = self.value(address).origins.into_iter().map(through).collect();
        Value { expr, origins: union([origins]) }
    }

    /// The offset in the argument buffer that an address points to, if it points there.
    fn argument_at(&mut self, address: NodeId) -> Option<u64> {
        match self.graph.get(address) {
            Node::Place(Place::Arguments(offset)) => Some(*offset),
            Node::Apply { op: Op::Add, args, .. } => {
                let (start, more) = (self.argument_at(args[0])?, self.value(args[1]).expr);
                start.checked_add_signed(more.as_constant()?)
            }
            _ => None,
        }
    }

    fn merged(&mut self, id: NodeId, values: &[NodeId]) -> Value {
        let possible = self.graph.ways.get(&id).map(|ways| {
            let possible = |way: &&Way| {
                way.conditions.iter().all(|(c, holds)| self.decide(*c) != Some(!holds))
            };
            ways.iter().filter(possible).map(|way| way.value).collect::<Vec<_>>()
        });
        let values = possible.as_deref().filter(|p| !p.is_empty()).unwrap_or(values);
        let values: Vec<Value> = values.iter().map(|v| self.value(*v)).collect();
        let origins = union(values.iter().map(|v| v.origins.clone()));
        let expr = match &values[..] {
            [first, rest @ ..] if rest.iter().all(|v| v.expr == first.expr) => first.expr.clone(),
            _ => {
                let all: Vec<_> = values.iter().map(|v| self.bounds(&v.expr)).collect();
                let hull = all.into_iter().reduce(|a, b| a.hull(&b)).unwrap_or(Bounds::ANY);
                self.opaque(id, hull)
            }
        };
        Value { expr, origins }
    }

    /// The pointers that a result may be derived from.
    fn origins(&mut self, op: Op, modifiers: &Modifiers, args: &[NodeId]) -> Vec<Origin> {
        // The address of the grid's workspace comes in two registers.
        if matches!(op, Op::Cvt | Op::Shl | Op::Or | Op::Bfi) {
            let all = union(args.iter().map(|a| self.value(*a).origins));
            if all == [Origin::Own] {
                return all;
            }
        }
        let narrow = modifiers.types.iter().flatten().any(|t| t.size() < 8);
        let kept: &[usize] = match op {
            _ if narrow => &[],
            Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Min | Op::Max | Op::Selp => {
                &[0, 1]
            }
            Op::Mad => &[2],
            Op::Cvt | Op::Not | Op::Neg => &[0],
            _ => &[],
        };
        // `mad.wide.s32` adds to 64 bits.
        let wide = op == Op::Mad && modifiers.mode == Some(Mode::Wide);
        let kept = if wide { &[2][..] } else { kept };
        union(kept.iter().map(|n| self.value(args[*n]).origins))
    }
}

/// The signed integer of a type's width.
fn signed_twin(ty: Type) -> Option<Type> {
    match ty.size() {
        1 => Some(Type::S8),
        2 => Some(Type::S16),
        4 => Some(Type::S32),
        8 => Some(Type::S64),
        _ => None,
    }
}

fn union(all: impl IntoIterator<Item = Vec<Origin>>) -> Vec<Origin> {
    let mut union: Vec<Origin> = all.into_iter().flatten().collect();
    union.sort_unstable();
    union.dedup();
    union
}
