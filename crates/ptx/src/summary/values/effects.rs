//! Accesses with addresses and constraints, for one launch.

use super::{Value, Values};
use crate::summary::affine_expr::{AffineExpr, Var};
use crate::summary::shape::{self, Constraint};
use crate::summary::{Access, Effect, Origin};

impl Values<'_> {
    /// The effect of an access; `None` if it is never executed.
    pub(in crate::summary) fn effect(&mut self, at: usize, access: &Access) -> Option<Effect> {
        let Some(address) = access.address else {
            let origins = vec![Origin::Unknown];
            return Some(Effect { access: at, origins, bytes: None, certain: false });
        };
        let Value { expr, mut origins } = self.value(address);
        let expr = self.settled(expr, access);
        if !origins.is_empty() && origins.iter().all(|o| *o == Origin::Own) {
            return None;
        }
        let mut certain = access.certain;
        let mut constraints = Vec::new();
        for (condition, holds) in &access.guards {
            certain &= self.constraints(*condition, *holds, &mut constraints);
        }
        let mut constraints: Vec<Constraint> = constraints
            .into_iter()
            .map(|expr| self.settled(expr, access))
            .map(Constraint::of)
            .collect();
        for number in &access.loops {
            certain &= self.repeated(*number, &mut constraints);
        }
        if constraints.iter().any(|c| self.bounds(&c.expr).least.is_some_and(|l| l > 0)) {
            return None;
        }
        let shape = shape::footprint(self, &expr, constraints, access)?;
        let certain = certain && shape.certain;
        // The address is computed from values that are not pointers.
        if shape.bytes.is_none() && origins.is_empty() {
            origins.push(Origin::Unknown);
        }
        Some(Effect { access: at, origins, bytes: shape.bytes, certain })
    }

    /// An affine expression with the last iteration substituted for loops that have ended before
    /// the access.
    fn settled(&mut self, expr: AffineExpr, access: &Access) -> AffineExpr {
        let mut settled = expr.clone();
        for &(var, coefficient) in &expr.terms {
            let Var::Loop(number) = var else { continue };
            let ended =
                !access.loops.contains(&number) && self.graph.loops[number as usize].single_exit;
            let last = if ended { self.exact_last(number) } else { None };
            let last = last.and_then(|l| i64::try_from(l).ok()).map(AffineExpr::constant);
            let replaced = last.and_then(|last| {
                settled.plus(&AffineExpr::var(var), -coefficient)?.plus(&last, coefficient)
            });
            settled = replaced.unwrap_or(settled);
        }
        settled
    }

    /// Adds the constraints on the iterations of a loop around an access; true if they are exact.
    fn repeated(&mut self, number: u32, constraints: &mut Vec<Constraint>) -> bool {
        let iterations = &self.graph.loops[number as usize];
        if self.exact_last(number).is_some() {
            return true;
        }
        let Some((condition, holds)) = iterations.continues else {
            // If it is tested at its header, a guard ends it. Without any test it has an unknown
            // exit.
            return iterations.entered.is_some();
        };
        let mut found = Vec::new();
        let mut complete = self.constraints(condition, holds, &mut found);
        let var = Var::Loop(number);
        for expr in found {
            // The condition held in the previous iteration, if there was one. For the first
            // iteration, another guard must imply it.
            // must say the same.
            if self.is_divided(&expr, var) {
                complete = false;
                continue;
            }
            let step = expr.coefficient(var);
            let earlier = expr.plus(&AffineExpr::constant(step), -1);
            let first = earlier.as_ref().and_then(|f| f.plus(&AffineExpr::var(var), -step));
            let (Some(expr), Some(first)) = (earlier, first) else { return false };
            let is_known = constraints
                .iter()
                .any(|c| c.expr.linear() == first.linear() && c.expr.constant >= first.constant);
            if is_known || self.bounds(&first).greatest.is_some_and(|g| g <= 0) {
                complete &= step > 0;
                // Steps are not negative, so the constraint on the first iteration is implied.
                constraints.retain(|c| step < 0 || c.expr != first);
                constraints.push(Constraint { expr, of: Some(number) });
            } else {
                complete = false;
            }
        }
        complete
    }
}
