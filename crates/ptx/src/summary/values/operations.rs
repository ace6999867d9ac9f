//! Transfer functions of operations on affine expressions.

use super::{Values, signed_twin};
use crate::instruction::Modifiers;
use crate::opcodes::Op;
use crate::summary::affine_expr::{AffineExpr, Bounds};
use crate::summary::graph::NodeId;
use crate::words::{Flag, Mode, Type};

impl Values<'_> {
    pub(super) fn applied(
        &mut self,
        id: NodeId,
        op: Op,
        modifiers: &Modifiers,
        args: &[NodeId],
    ) -> AffineExpr {
        let ty = modifiers.ty();
        let other = ty.is_float() || modifiers.has(Flag::Saturate) || modifiers.has(Flag::CarryOut);
        let wide = modifiers.mode == Some(Mode::Wide);
        let result = if wide { ty.widened() } else { ty };
        let bits = 8 * result.size() as u32;
        let expr = if other { None } else { self.operation(id, op, modifiers, args) };
        match expr {
            Some(expr) if bits < 64 => expr.reduced(bits),
            Some(expr) => expr,
            None if bits < 64 => self.opaque(id, Bounds::of_type(bits, true)),
            None => self.opaque(id, Bounds::ANY),
        }
    }

    fn operation(
        &mut self,
        id: NodeId,
        op: Op,
        modifiers: &Modifiers,
        args: &[NodeId],
    ) -> Option<AffineExpr> {
        let ty = modifiers.ty();
        let expr = |this: &mut Self, n: usize| this.value(args[n]).expr;
        match op {
            Op::Add => expr(self, 0).plus(&expr(self, 1), 1),
            Op::Sub => expr(self, 0).plus(&expr(self, 1), -1),
            Op::Neg => expr(self, 0).times(-1),
            Op::Not => expr(self, 0).times(-1)?.plus(&AffineExpr::constant(1), -1),
            Op::Mul => self.product(id, modifiers, args),
            Op::Mad => {
                let product = self.product(id, modifiers, args)?;
                product.plus(&expr(self, 2), 1)
            }
            Op::Shl => {
                let by = expr(self, 1).as_constant().filter(|n| (0..62).contains(n))?;
                expr(self, 0).times(1 << by)
            }
            Op::Shr => {
                let by = expr(self, 1).as_constant().filter(|n| (0..64).contains(n))?;
                let (_, bounds) = self.number(args[0], ty);
                self.monotone(id, bounds, |n| n >> by)
            }
            Op::And | Op::Or | Op::Xor => self.bitwise(id, op, ty, args),
            Op::Min | Op::Max => {
                let ((a, of_a), (b, of_b)) = (self.number(args[0], ty), self.number(args[1], ty));
                let choose = |x: i128, y: i128| if op == Op::Min { x.min(y) } else { x.max(y) };
                let below =
                    |x: Bounds, y: Bounds| x.greatest.zip(y.least).is_some_and(|(x, y)| x <= y);
                match (below(of_a, of_b), below(of_b, of_a)) {
                    (true, _) => Some(if op == Op::Min { a } else { b }),
                    (_, true) => Some(if op == Op::Min { b } else { a }),
                    _ => {
                        let least = of_a.least.zip(of_b.least).map(|(x, y)| choose(x, y));
                        let greatest = of_a.greatest.zip(of_b.greatest).map(|(x, y)| choose(x, y));
                        Some(self.opaque(id, Bounds { least, greatest }))
                    }
                }
            }
            Op::Div | Op::Rem => self.division(id, op, ty, args),
            Op::Selp => match self.decide(args[2]) {
                Some(first) => Some(expr(self, usize::from(!first))),
                None => Some(self.merged(id, &args[..2]).expr),
            },
            Op::Cvt => {
                let from = modifiers.types[1].filter(|t| !t.is_float())?;
                let narrows = ty.size() <= from.size() && !modifiers.has(Flag::Saturate);
                Some(if narrows { expr(self, 0) } else { self.number(args[0], from).0 })
            }
            Op::Bfe => {
                let len = expr(self, 2).as_constant().filter(|n| (0..32).contains(n))?;
                (!ty.is_signed()).then(|| self.opaque(id, Bounds::new(0, (1 << len) - 1)))
            }
            _ => None,
        }
    }

    /// `mul`, and the product of `mad`.
    fn product(
        &mut self,
        id: NodeId,
        modifiers: &Modifiers,
        args: &[NodeId],
    ) -> Option<AffineExpr> {
        let ty = modifiers.ty();
        let (a, b) = match modifiers.mode? {
            Mode::Lo => (self.value(args[0]).expr, self.value(args[1]).expr),
            Mode::Wide => (self.number(args[0], ty).0, self.number(args[1], ty).0),
            _ => return self.high_product(ty, args),
        };
        match (a.as_constant(), b.as_constant()) {
            (Some(factor), _) => b.times(factor),
            (_, Some(factor)) => a.times(factor),
            _ => {
                let signed = signed_twin(ty).unwrap_or(ty);
                let (a, b) = (self.interpret(&a, signed)?, self.interpret(&b, signed)?);
                let (a, b) = (self.bounds(&a), self.bounds(&b));
                let (a, b) = ([a.least?, a.greatest?], [b.least?, b.greatest?]);
                let all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
                let bounds = Bounds::new(*all.iter().min()?, *all.iter().max()?);
                Some(self.opaque(id, bounds))
            }
        }
    }

    /// `mul.hi` of numbers that are known; compilers divide by constants with it.
    fn high_product(&mut self, ty: Type, args: &[NodeId]) -> Option<AffineExpr> {
        let (a, b) = (self.number(args[0], ty).0, self.number(args[1], ty).0);
        let product = i128::from(a.as_constant()?) * i128::from(b.as_constant()?);
        let high = (ty.size() < 8).then_some(product >> (8 * ty.size()))?;
        Some(AffineExpr::constant(high.try_into().ok()?))
    }

    /// A nondecreasing function of one number.
    fn monotone(&mut self, id: NodeId, of: Bounds, f: impl Fn(i128) -> i128) -> Option<AffineExpr> {
        let bounds = Bounds { least: of.least.map(&f), greatest: of.greatest.map(&f) };
        Some(self.opaque(id, bounds))
    }

    fn bitwise(&mut self, id: NodeId, op: Op, ty: Type, args: &[NodeId]) -> Option<AffineExpr> {
        let (a, b) = (self.value(args[0]).expr, self.value(args[1]).expr);
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return Some(AffineExpr::constant(match op {
                Op::And => a & b,
                Op::Or => a | b,
                _ => a ^ b,
            }));
        }
        let signed = signed_twin(ty).unwrap_or(ty);
        let (expr, mask) = if a.terms.is_empty() { (b.clone(), &a) } else { (a.clone(), &b) };
        let mask = self.interpret(mask, signed).and_then(|m| m.as_constant());
        match (op, mask) {
            (Op::And, Some(mask)) if mask >= 0 => {
                let bounds = Bounds::new(0, mask.into());
                let known = self.interpret(&expr, signed);
                // The mask keeps all bits that may be set.
                let same =
                    known.filter(|f| self.bounds(f).within(&bounds) && (mask + 1) & mask == 0);
                Some(same.unwrap_or_else(|| self.opaque(id, bounds)))
            }
            // The mask clears low bits, which subtracts little.
            (Op::And, Some(mask)) if mask.unsigned_abs().is_power_of_two() => {
                let lost = self.opaque(id, Bounds::new(i128::from(mask) + 1, 0));
                expr.plus(&lost, 1)
            }
            (Op::Xor, Some(-1)) => expr.times(-1)?.plus(&AffineExpr::constant(1), -1),
            (Op::Or | Op::Xor, _) => self.disjoint(&a, &b).or_else(|| self.disjoint(&b, &a)),
            _ => None,
        }
    }

    /// `high | low` of values without common bits, which is their sum.
    fn disjoint(&mut self, high: &AffineExpr, low: &AffineExpr) -> Option<AffineExpr> {
        let Bounds { least, greatest } = self.bounds(low);
        let width = (greatest.filter(|_| least.is_some_and(|l| l >= 0))? + 1) as u128;
        let step = i64::try_from(width.checked_next_power_of_two()?).ok()?;
        let all = high.terms.iter().map(|(_, c)| *c).chain([high.constant]);
        all.into_iter().all(|n| n % step == 0).then(|| high.plus(low, 1))?
    }

    fn division(&mut self, id: NodeId, op: Op, ty: Type, args: &[NodeId]) -> Option<AffineExpr> {
        let ((a, of_a), (b, _)) = (self.number(args[0], ty), self.number(args[1], ty));
        let by = b.as_constant().filter(|n| *n > 0)?;
        if let Some(a) = a.as_constant() {
            return Some(AffineExpr::constant(if op == Op::Div { a / by } else { a % by }));
        }
        if of_a.within(&Bounds::new(0, i128::from(by) - 1)) {
            return Some(if op == Op::Div { AffineExpr::constant(0) } else { a });
        }
        if of_a.least.is_some_and(|least| least >= 0) {
            let quotient = self.quotient(&a, by);
            return if op == Op::Div { Some(quotient) } else { a.plus(&quotient, -by) };
        }
        let by = i128::from(by);
        match op {
            Op::Div => self.monotone(id, of_a, |n| n / by),
            _ => {
                let negative = of_a.least.is_none_or(|l| l < 0);
                let least = if negative { 1 - by } else { 0 };
                Some(self.opaque(id, Bounds::new(least, by - 1)))
            }
        }
    }
}
