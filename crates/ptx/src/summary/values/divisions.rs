//! Quotients and remainders, as those that make indices of one number: `k % nx` and `k / nx`.
//!
//! A dividend that is not negative is its divisor times the quotient plus the remainder. Where a form has
//! both the dividend and the quotient, writing it with quotient and remainder instead keeps what they have
//! to do with each other.

use super::Values;
use crate::summary::form::{Bounds, Form, Var};

/// A division of what is not negative by what is positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::summary) struct Division {
    pub(in crate::summary) dividend: Form,
    pub(in crate::summary) by: i64,
}

impl Division {
    /// A form with quotient and remainder for the dividend, which `as_seen` is after such a step for earlier
    /// divisions; none if it is not in there as a whole.
    pub(in crate::summary) fn split(
        &self,
        number: u32,
        as_seen: &Form,
        form: &Form,
    ) -> Option<Form> {
        let factor = form.factor(&as_seen.linear())?;
        let quotient = Form::var(Var::Quotient(number)).times(self.by)?;
        let parts = quotient.plus(&Form::var(Var::Remainder(number)), 1)?;
        form.plus(as_seen, -factor)?.plus(&parts, factor)
    }
}

impl Values<'_> {
    /// A division, by number.
    pub(in crate::summary) fn division_of(&self, number: u32) -> &Division {
        &self.divisions[number as usize]
    }

    /// The quotient of what is not negative and what is positive. `k / (a * b)` is `k / a / b`, if `k / a` is
    /// known.
    pub(super) fn quotient(&mut self, dividend: &Form, by: i64) -> Form {
        let is_part = |d: &Division| d.dividend == *dividend && by % d.by == 0 && by > d.by;
        if let Some(part) = self.divisions.iter().position(is_part) {
            let (quotient, by) = (Var::Quotient(part as u32), by / self.divisions[part].by);
            return self.quotient(&Form::var(quotient), by);
        }
        let division = Division { dividend: dividend.clone(), by };
        let known = self.divisions.iter().position(|known| *known == division);
        let number = known.unwrap_or_else(|| {
            self.divisions.push(division);
            self.divisions.len() - 1
        });
        Form::var(Var::Quotient(number as u32))
    }

    /// The divisions that a form depends on, earlier ones first.
    pub(in crate::summary) fn divisions_in<'f>(
        &self,
        forms: impl IntoIterator<Item = &'f Form>,
    ) -> Vec<u32> {
        let mut open: Vec<u32> = forms.into_iter().flat_map(quotients).collect();
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

    /// Whether a form depends on a variable through a quotient.
    pub(super) fn is_divided(&self, form: &Form, var: Var) -> bool {
        let numbers = self.divisions_in([form]).into_iter();
        numbers.map(|number| &self.division_of(number).dividend).any(|d| d.coefficient(var) != 0)
    }

    /// A form with quotients and remainders for what is divided, as far as it goes.
    pub(super) fn split(&self, form: &Form) -> Form {
        let numbers = self.divisions_in([form]);
        let mut form = form.clone();
        for (at, &number) in numbers.iter().enumerate() {
            let seen = self.as_seen(number, &numbers[..at]);
            let split = self.division_of(number).split(number, &seen, &form);
            form = split.unwrap_or(form);
        }
        form
    }

    /// A dividend after earlier divisions were split, as far as that goes.
    pub(in crate::summary) fn as_seen(&self, number: u32, split: &[u32]) -> Form {
        let mut seen = self.division_of(number).dividend.clone();
        for (at, &earlier) in split.iter().enumerate() {
            let dividend = self.as_seen(earlier, &split[..at]);
            seen = self.division_of(earlier).split(earlier, &dividend, &seen).unwrap_or(seen);
        }
        seen
    }

    /// The least and the greatest quotient.
    pub(super) fn range_of_quotient(&mut self, number: u32) -> Bounds {
        let Division { dividend, by } = self.division_of(number).clone();
        let Bounds { least, greatest } = self.bounds(&dividend);
        let by = i128::from(by);
        Bounds {
            least: Some(least.map_or(0, |n| n.max(0) / by)),
            greatest: greatest.map(|n| n.max(0) / by),
        }
    }

    /// The same of the remainder.
    pub(super) fn range_of_remainder(&self, number: u32) -> Bounds {
        Bounds::new(0, i128::from(self.division_of(number).by) - 1)
    }
}

fn quotients(form: &Form) -> impl Iterator<Item = u32> + '_ {
    form.terms.iter().filter_map(|(var, _)| match var {
        Var::Quotient(number) => Some(*number),
        _ => None,
    })
}
