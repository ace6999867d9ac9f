//! Delinearization: recovers several indices from one linear index, as in `k % nx` and `k / nx`.
//!
//! A nonnegative dividend is its divisor times the quotient plus the remainder. If an affine
//! expression contains both the dividend and the quotient, rewriting it with quotient and remainder
//! keeps their relation.

use super::Values;
use crate::summary::affine_expr::{AffineExpr, Bounds, Var};

/// A division of a nonnegative dividend by a positive divisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::summary) struct Division {
    pub(in crate::summary) dividend: AffineExpr,
    pub(in crate::summary) by: i64,
}

impl Division {
    /// Replaces the dividend in `expr` by quotient and remainder; `as_seen` is the dividend after
    /// this step for earlier divisions. `None` if the whole dividend is not part of the expression.
    pub(in crate::summary) fn split(
        &self,
        number: u32,
        as_seen: &AffineExpr,
        expr: &AffineExpr,
    ) -> Option<AffineExpr> {
        let factor = expr.factor(&as_seen.linear())?;
        let quotient = AffineExpr::var(Var::Quotient(number)).times(self.by)?;
        let parts = quotient.plus(&AffineExpr::var(Var::Remainder(number)), 1)?;
        expr.plus(as_seen, -factor)?.plus(&parts, factor)
    }
}

impl Values<'_> {
    /// The division with a number.
    pub(in crate::summary) fn division_of(&self, number: u32) -> &Division {
        &self.divisions[number as usize]
    }

    /// The quotient of a nonnegative dividend and a positive divisor. `k / (a * b)` is `k / a / b`,
    /// if `k / a` is known.
    pub(super) fn quotient(&mut self, dividend: &AffineExpr, by: i64) -> AffineExpr {
        let is_part = |d: &Division| d.dividend == *dividend && by % d.by == 0 && by > d.by;
        if let Some(part) = self.divisions.iter().position(is_part) {
            let (quotient, by) = (Var::Quotient(part as u32), by / self.divisions[part].by);
            return self.quotient(&AffineExpr::var(quotient), by);
        }
        let division = Division { dividend: dividend.clone(), by };
        let known = self.divisions.iter().position(|known| *known == division);
        let number = known.unwrap_or_else(|| {
            self.divisions.push(division);
            self.divisions.len() - 1
        });
        AffineExpr::var(Var::Quotient(number as u32))
    }

    /// The divisions that an affine expression depends on, earlier ones first.
    pub(in crate::summary) fn divisions_in<'f>(
        &self,
        exprs: impl IntoIterator<Item = &'f AffineExpr>,
    ) -> Vec<u32> {
        let mut open: Vec<u32> = exprs.into_iter().flat_map(quotients).collect();
        let mut found = Vec::new();
        while let Some(number) = open.pop() {
            if !found.contains(&number) {
                found.push(number);
                open.extend(quotients(&self.division_of(number).dividend));
            }
        }
        found.sort_unstable();
        found
    }

    /// Whether an affine expression depends on a variable through a quotient.
    pub(super) fn is_divided(&self, expr: &AffineExpr, var: Var) -> bool {
        let numbers = self.divisions_in([expr]).into_iter();
        numbers.map(|number| &self.division_of(number).dividend).any(|d| d.coefficient(var) != 0)
    }

    /// Rewrites an affine expression with quotients and remainders, where possible.
    pub(super) fn split(&self, expr: &AffineExpr) -> AffineExpr {
        let numbers = self.divisions_in([expr]);
        let mut expr = expr.clone();
        for (at, &number) in numbers.iter().enumerate() {
            let seen = self.as_seen(number, &numbers[..at]);
            let split = self.division_of(number).split(number, &seen, &expr);
            expr = split.unwrap_or(expr);
        }
        expr
    }

    /// A dividend after earlier divisions were split, where possible.
    pub(in crate::summary) fn as_seen(&self, number: u32, split: &[u32]) -> AffineExpr {
        let mut seen = self.division_of(number).dividend.clone();
        for (at, &earlier) in split.iter().enumerate() {
            let dividend = self.as_seen(earlier, &split[..at]);
            seen = self.division_of(earlier).split(earlier, &dividend, &seen).unwrap_or(seen);
        }
        seen
    }

    /// The interval of the quotient.
    pub(super) fn range_of_quotient(&mut self, number: u32) -> Bounds {
        let Division { dividend, by } = self.division_of(number).clone();
        let Bounds { least, greatest } = self.bounds(&dividend);
        let by = i128::from(by);
        Bounds {
            least: Some(least.map_or(0, |n| n.max(0) / by)),
            greatest: greatest.map(|n| n.max(0) / by),
        }
    }

    /// The interval of the remainder.
    pub(super) fn range_of_remainder(&self, number: u32) -> Bounds {
        Bounds::new(0, i128::from(self.division_of(number).by) - 1)
    }
}

fn quotients(expr: &AffineExpr) -> impl Iterator<Item = u32> + '_ {
    expr.terms.iter().filter_map(|(var, _)| match var {
        Var::Quotient(number) => Some(*number),
        _ => None,
    })
}
