//! Branch conditions as linear constraints: affine expressions that are at most 0.

use super::{Values, signed_twin};
use crate::instruction::Modifiers;
use crate::opcodes::Op;
use crate::summary::affine_expr::{AffineExpr, Bounds};
use crate::summary::graph::{Node, NodeId, Way};
use crate::words::{Combine, Compare, Type};

impl Values<'_> {
    /// Adds the affine expressions that are at most 0 if a condition is true (false); returns
    /// whether they are equivalent to it.
    pub(super) fn constraints(
        &mut self,
        condition: NodeId,
        holds: bool,
        found: &mut Vec<AffineExpr>,
    ) -> bool {
        match self.graph.get(condition) {
            Node::Const(bits) => {
                if (*bits != 0) != holds {
                    found.push(AffineExpr::constant(1));
                }
                true
            }
            Node::Apply { op: Op::Not, args, .. } => self.constraints(args[0], !holds, found),
            Node::Apply { op: Op::Setp, modifiers, args } => {
                let this = self.comparison(modifiers, args[0], args[1], holds);
                let (mut exprs, complete) = this.map_or((Vec::new(), false), |f| (f, true));
                match (modifiers.combine, args.get(2)) {
                    (None, _) => {
                        found.append(&mut exprs);
                        complete
                    }
                    (Some(Combine::And), Some(other)) if holds => {
                        found.append(&mut exprs);
                        self.constraints(*other, true, found) && complete
                    }
                    (Some(Combine::Or), Some(other)) if !holds => {
                        found.append(&mut exprs);
                        self.constraints(*other, false, found) && complete
                    }
                    _ => false,
                }
            }
            Node::Apply { op: op @ (Op::And | Op::Or), args, .. } if holds == (*op == Op::And) => {
                let first = self.constraints(args[0], holds, found);
                self.constraints(args[1], holds, found) && first
            }
            Node::Merge(_) => self.merged_condition(condition, holds, found),
            _ => false,
        }
    }

    /// Adds the constraints of a condition that merges several paths, as `a && b` does: false
    /// unless `a` holds, and then `b`. If only one path can give the required value, that path was
    /// taken.
    fn merged_condition(
        &mut self,
        merge: NodeId,
        holds: bool,
        found: &mut Vec<AffineExpr>,
    ) -> bool {
        let graph = self.graph;
        let ways = graph.ways.get(&graph.same(merge)).map_or(&[][..], Vec::as_slice);
        let opposite = |way: &&Way| match graph.get(way.value) {
            Node::Const(bits) => (*bits != 0) != holds,
            _ => false,
        };
        let mut possible = ways.iter().filter(|way| !opposite(way));
        let (Some(way), None) = (possible.next(), possible.next()) else { return false };
        let conditions = way.conditions.iter().copied().chain([(way.value, holds)]);
        conditions.fold(way.certain, |complete, (condition, holds)| {
            self.constraints(condition, holds, found) && complete
        })
    }

    /// A comparison as affine expressions that are at most 0.
    fn comparison(
        &mut self,
        modifiers: &Modifiers,
        a: NodeId,
        b: NodeId,
        holds: bool,
    ) -> Option<Vec<AffineExpr>> {
        use Compare::*;
        let ty = modifiers.ty();
        let compare = modifiers.compare?;
        if ty.is_float() || ty == Type::Pred {
            return None;
        }
        // Normalised to `a < b` or `a <= b`, perhaps with the sides exchanged.
        let (swap, or_equal) = match (compare, holds) {
            (Lt | Lo, true) | (Ge | Hs, false) => (false, false),
            (Le | Ls, true) | (Gt | Hi, false) => (false, true),
            (Gt | Hi, true) | (Le | Ls, false) => (true, false),
            (Ge | Hs, true) | (Lt | Lo, false) => (true, true),
            (Eq, true) | (Ne, false) => {
                if let Some(parts) = self.all_zero(a, b) {
                    let each = parts.map(|part| self.comparison(modifiers, part, b, holds));
                    let [first, second] = each;
                    return Some([first?, second?].concat());
                }
                let difference = self.difference(ty, a, b)?;
                let opposite = difference.times(-1)?;
                return Some(vec![difference, opposite]);
            }
            (Ne, true) | (Eq, false) => {
                let difference = self.difference(ty, a, b)?;
                return self.apart(difference);
            }
            _ => return None,
        };
        let strict = AffineExpr::constant(i64::from(!or_equal));
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let (a, b) = (self.value(a).expr, self.value(b).expr);
        let (left, right) = (self.interpret(&a, ty), self.interpret(&b, ty));
        if let (Some(left), Some(right)) = (left, right) {
            return Some(vec![left.plus(&right, -1)?.plus(&strict, 1)?]);
        }
        // `(unsigned)i < n` implies that i is not negative.
        let signed = signed_twin(ty)?;
        let (left, right) = (self.interpret(&a, signed)?, self.interpret(&b, signed)?);
        let bounded = self.bounds(&right).least.is_some_and(|l| l >= 0);
        let below = left.plus(&right, -1)?.plus(&strict, 1)?;
        bounded.then_some(vec![below, left.times(-1)?])
    }

    /// `x | y == 0` means that both are 0.
    fn all_zero(&mut self, a: NodeId, b: NodeId) -> Option<[NodeId; 2]> {
        match self.graph.get(a) {
            Node::Apply { op: Op::Or, args, .. } => {
                let zero = self.value(b).expr.as_constant() == Some(0);
                zero.then(|| [args[0], args[1]])
            }
            _ => None,
        }
    }

    /// `a - b` as numbers of type `ty`.
    pub(super) fn difference(&mut self, ty: Type, a: NodeId, b: NodeId) -> Option<AffineExpr> {
        if ty.is_float() || ty == Type::Pred {
            return None;
        }
        let (a, b) = (self.value(a).expr, self.value(b).expr);
        let as_type =
            |this: &mut Self, ty| this.interpret(&a, ty)?.plus(&this.interpret(&b, ty)?, -1);
        let signed = signed_twin(ty).unwrap_or(ty);
        as_type(self, signed).or_else(|| as_type(self, ty))
    }

    /// The constraints of a difference that is not 0, if its sign is known.
    fn apart(&mut self, difference: AffineExpr) -> Option<Vec<AffineExpr>> {
        let Bounds { least, greatest } = self.bounds(&difference);
        let one = AffineExpr::constant(1);
        match difference.as_constant() {
            Some(0) => Some(vec![one]),
            Some(_) => Some(Vec::new()),
            None if least.is_some_and(|l| l >= 0) => Some(vec![one.plus(&difference, -1)?]),
            None if greatest.is_some_and(|g| g <= 0) => Some(vec![one.plus(&difference, 1)?]),
            None => None,
        }
    }

    /// Whether a condition has the same value for all threads, and which.
    pub(super) fn decide(&mut self, condition: NodeId) -> Option<bool> {
        [true, false].into_iter().find(|holds| {
            let mut against = Vec::new();
            self.constraints(condition, !holds, &mut against);
            against.iter().any(|f| self.bounds(f).least.is_some_and(|l| l > 0))
        })
    }
}
