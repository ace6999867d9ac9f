//! Trip counts of loops.

use super::Values;
use crate::opcodes::Op;
use crate::summary::affine_expr::{AffineExpr, Var};
use crate::summary::graph::{Node, NodeId};
use crate::words::Compare;

/// The last iteration of a loop, over all threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Last {
    Unasked,
    /// Being computed; unbounded meanwhile.
    Asked,
    Known {
        last: Option<i128>,
        exact: bool,
    },
}

impl Values<'_> {
    /// The last iteration, if it is the same for all threads.
    pub(in crate::summary) fn exact_last(&mut self, number: u32) -> Option<i128> {
        match self.last(number) {
            Last::Known { last, exact: true } => last,
            _ => None,
        }
    }

    /// Whether a loop ends only by the test at its header.
    pub(in crate::summary) fn is_headed(&self, number: u32) -> bool {
        let iterations = &self.graph.loops[number as usize];
        iterations.continues.is_none() && iterations.entered.is_some()
    }

    pub(super) fn last(&mut self, number: u32) -> Last {
        if self.last[number as usize] == Last::Unasked {
            self.last[number as usize] = Last::Asked;
            self.assuming += 1;
            let found = self.find_last(number);
            self.assuming -= 1;
            self.forget();
            self.last[number as usize] = match found {
                Some((last, exact)) => Last::Known { last: Some(last), exact },
                None => Last::Known { last: None, exact: false },
            };
            if self.assuming > 0 {
                self.provisional.push(number);
                return self.last[number as usize];
            }
            // With this limit the same must follow without the assumption.
            for other in std::mem::take(&mut self.provisional) {
                self.last[other as usize] = Last::Unasked;
            }
            if self.find_last(number) != found {
                self.forget();
                self.last[number as usize] = Last::Known { last: None, exact: false };
            }
        }
        self.last[number as usize]
    }

    /// Discards results that were found while a loop was still unbounded.
    fn forget(&mut self) {
        self.known.clear();
        self.opaque.clear();
    }

    fn find_last(&mut self, number: u32) -> Option<(i128, bool)> {
        let iterations = &self.graph.loops[number as usize];
        let tests = [iterations.continues, iterations.entered].into_iter().flatten();
        let found: Vec<_> = tests.filter_map(|(c, h)| self.last_by(number, c, h)).collect();
        found.into_iter().min_by_key(|(last, exact)| (*last, !exact))
    }

    /// The last iteration by one condition: the one after the last for which it may be true.
    fn last_by(&mut self, number: u32, condition: NodeId, holds: bool) -> Option<(i128, bool)> {
        let var = Var::Loop(number);
        if let Some(expr) = self.unequal(condition, holds) {
            let (step, start) = (expr.coefficient(var), expr.constant);
            let alone = expr.terms.len() == 1 && step != 0;
            let ends = alone && start % step == 0 && start / step <= 0;
            return ends.then(|| (i128::from(-(start / step)), true));
        }
        let mut found = Vec::new();
        let complete = self.constraints(condition, holds, &mut found);
        let alone = |expr: &AffineExpr| expr.terms.iter().all(|(v, _)| *v == var);
        let exact = complete && found.iter().all(alone);
        let limit = |expr: &AffineExpr| {
            let step = expr.coefficient(var);
            let rest = expr.plus(&AffineExpr::var(var), -step).filter(|_| step > 0)?;
            let most = (-self.bounds(&rest).least?).div_euclid(step.into());
            Some((most + 1).max(0))
        };
        Some((found.iter().filter_map(limit).min()?, exact))
    }

    /// The difference that must not be 0, if the condition is an inequality (`!=`).
    fn unequal(&mut self, condition: NodeId, holds: bool) -> Option<AffineExpr> {
        let Node::Apply { op: Op::Setp, modifiers, args } = self.graph.get(condition) else {
            return None;
        };
        let wanted = if holds { Compare::Ne } else { Compare::Eq };
        if modifiers.compare != Some(wanted) || modifiers.combine.is_some() {
            return None;
        }
        self.difference(modifiers.ty(), args[0], args[1])
    }
}
