//! Footprints: the bytes that an affine expression covers under linear constraints.

use super::Access;
use super::affine_expr::{AffineExpr, Bounds, Var};
use super::values::{Division, Values};

/// Equal runs of bytes at regular distances, in several dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The first byte.
    pub start: u64,
    /// Length of each run, in bytes.
    pub run: u64,
    /// Stride in bytes and number of the runs in each dimension, the smallest stride first; runs do
    /// not overlap within the first dimension.
    pub repeats: Vec<(u64, u64)>,
}

impl Footprint {
    /// The address after the last byte.
    pub fn end(&self) -> u64 {
        let last = self.repeats.iter().map(|(distance, count)| distance * (count - 1));
        self.start + last.sum::<u64>() + self.run
    }

    /// All runs, as ranges of addresses.
    pub fn runs(&self) -> impl Iterator<Item = std::ops::Range<u64>> + '_ {
        let count: u64 = self.repeats.iter().map(|(_, count)| count).product();
        (0..count).map(|mut n| {
            let mut start = self.start;
            for (distance, count) in &self.repeats {
                start += distance * (n % count);
                n /= count;
            }
            start..start + self.run
        })
    }
}

/// Maximum number of dimensions of a footprint; one with more becomes one range.
const MAX_REPEATS: usize = 3;

/// A linear constraint: an affine expression that is at most 0.
pub(super) struct Constraint {
    pub(super) expr: AffineExpr,
    /// The loop whose iterations it limits.
    pub(super) of: Option<u32>,
}

impl Constraint {
    /// A constraint that does not limit a loop.
    pub(super) fn of(expr: AffineExpr) -> Constraint {
        Constraint { expr, of: None }
    }
}

/// The bytes of an access, as far as they are known.
pub(super) struct Shape {
    pub(super) bytes: Option<Footprint>,
    pub(super) certain: bool,
}

/// The integers from `least` to `greatest`, times a coefficient.
struct Dimension {
    coefficient: i64,
    bounds: Bounds,
    /// Whether all of these integers occur, independently of other dimensions.
    dense: bool,
}

/// The bytes of an access with an address; `None` if it is never executed.
pub(super) fn footprint(
    values: &mut Values<'_>,
    address: &AffineExpr,
    constraints: Vec<Constraint>,
    access: &Access,
) -> Option<Shape> {
    let mut space = Space::new(values, access, constraints);
    let address = &space.split(address)?;
    let dimensions = space.dimensions(address)?;
    let certain = dimensions.iter().all(|d| d.dense) && space.used.iter().all(|u| *u);
    let precise = lay_out(address.constant, &dimensions, access.size);
    if certain || access.size == 0 {
        return Some(Shape { certain: certain && precise.is_some(), bytes: precise });
    }
    // Constraints that limit no single dimension may still bound the whole.
    let least = space.greatest(&address.times(-1)?).map(|n| -n);
    let whole = Bounds { least, greatest: space.greatest(address) };
    let range = range(&whole, access.size);
    let size = |f: &Footprint| f.end() - f.start;
    let tighter = match (&precise, &range) {
        (Some(precise), Some(range)) => size(range) < size(precise),
        (precise, _) => precise.is_none(),
    };
    Some(Shape { bytes: if tighter { range } else { precise }, certain: false })
}

/// The iteration space of an access, split into independent dimensions.
struct Space<'s, 'g> {
    values: &'s mut Values<'g>,
    access: &'s Access,
    constraints: Vec<Constraint>,
    /// Constraints that a dimension takes into account.
    used: Vec<bool>,
    /// Variables that belong to a dimension.
    taken: Vec<Var>,
    /// Quotients and remainders with their bounds, and whether they take all values independently.
    parts: Vec<(Var, Bounds, bool)>,
}

impl<'s, 'g> Space<'s, 'g> {
    fn new(
        values: &'s mut Values<'g>,
        access: &'s Access,
        constraints: Vec<Constraint>,
    ) -> Space<'s, 'g> {
        let used = vec![false; constraints.len()];
        Space { values, access, constraints, used, taken: Vec::new(), parts: Vec::new() }
    }

    /// Rewrites an address with quotients and remainders instead of dividends; `None` if no thread
    /// is left. If the dividend takes all values of whole rows, each quotient occurs with each
    /// remainder.
    fn split(&mut self, address: &AffineExpr) -> Option<AffineExpr> {
        let exprs = self.constraints.iter().map(|c| &c.expr).chain([address]);
        let mut done = Vec::new();
        let mut address = address.clone();
        for number in self.values.divisions_in(exprs) {
            let Division { by, .. } = *self.values.division_of(number);
            let dividend = self.values.as_seen(number, &done);
            let split = |space: &Self, expr: &AffineExpr| {
                space.values.division_of(number).split(number, &dividend, expr)
            };
            let (line, factor) = normalised(&dividend);
            let is_free = line.terms.iter().all(|(var, _)| !self.taken.contains(var));
            let Some(parts) = split(self, &address).filter(|_| is_free) else { break };
            address = parts;
            let (bounds, dense) = self.limited(&line);
            if bounds.least.zip(bounds.greatest).is_some_and(|(l, g)| l > g) {
                return None;
            }
            self.taken.extend(line.terms.iter().map(|(var, _)| *var));
            for at in (0..self.used.len()).filter(|at| !self.used[*at]).collect::<Vec<_>>() {
                if let Some(expr) = split(self, &self.constraints[at].expr) {
                    self.constraints[at].expr = expr;
                }
            }
            let constant = AffineExpr::constant(dividend.constant).bounds(|_| Bounds::ANY);
            let dense = dense && factor.abs() == 1;
            self.add_parts(number, by, bounds.times(factor).plus(&constant), dense);
            done.push(number);
        }
        Some(address)
    }

    /// Adds quotient and remainder of a dividend with these bounds, which is `dense` if it takes
    /// all values in them.
    fn add_parts(&mut self, number: u32, by: i64, dividend: Bounds, dense: bool) {
        let (quotient, remainder) = (Var::Quotient(number), Var::Remainder(number));
        let by = i128::from(by);
        let least = dividend.least.map_or(0, |n| n.max(0));
        let Some(greatest) = dividend.greatest.filter(|g| *g >= least) else {
            let bounds = Bounds { least: Some(least / by), greatest: None };
            self.parts.push((quotient, bounds, false));
            return self.parts.push((remainder, Bounds::new(0, by - 1), false));
        };
        let whole_rows = least % by == 0 && (greatest + 1) % by == 0;
        let one_row = least / by == greatest / by;
        let of_row = if one_row { (least % by, greatest % by) } else { (0, by - 1) };
        let dense = dense && dividend.least == Some(least) && (whole_rows || one_row);
        self.parts.push((quotient, Bounds::new(least / by, greatest / by), dense));
        self.parts.push((remainder, Bounds::new(of_row.0, of_row.1), dense));
    }

    /// The interval of a variable.
    fn range(&mut self, var: Var) -> Bounds {
        let part = self.parts.iter().find(|(part, ..)| *part == var);
        part.map_or_else(|| self.values.range(var), |(_, bounds, _)| *bounds)
    }

    /// The interval of an affine expression.
    fn bounds(&mut self, expr: &AffineExpr) -> Bounds {
        let known = self.values.bounds(expr);
        known.both(&expr.bounds(|var| self.range(var)))
    }

    /// The dimensions of an address; `None` if no thread is left.
    fn dimensions(&mut self, address: &AffineExpr) -> Option<Vec<Dimension>> {
        let mut all = Vec::new();
        for at in 0..self.constraints.len() {
            let (line, _) = normalised(&self.constraints[at].expr);
            let is_free = line.terms.iter().all(|(var, _)| !self.taken.contains(var));
            let factor = address.factor(&line);
            if self.used[at] || line.terms.is_empty() {
                self.used[at] = true;
            } else if let (true, Some(coefficient)) = (is_free, factor) {
                let (bounds, dense) = self.limited(&line);
                if bounds.least.zip(bounds.greatest).is_some_and(|(l, g)| l > g) {
                    return None;
                }
                self.taken.extend(line.terms.iter().map(|(var, _)| *var));
                all.push(Dimension { coefficient, bounds, dense });
            }
        }
        let taken = std::mem::take(&mut self.taken);
        for &(var, coefficient) in address.terms.iter().filter(|(var, _)| !taken.contains(var)) {
            let dense = self.is_free(var);
            all.push(Dimension { coefficient, bounds: self.range(var), dense });
        }
        Some(all)
    }

    /// The interval of a linear form under all constraints on it, and whether all values occur.
    fn limited(&mut self, line: &AffineExpr) -> (Bounds, bool) {
        let mut bounds = self.bounds(line);
        let mut loops = Vec::new();
        for (constraint, used) in self.constraints.iter().zip(&mut self.used) {
            let (other, factor) = normalised(&constraint.expr);
            if other != *line {
                continue;
            }
            // The constraint is factor * line + constant <= 0.
            let constant = i128::from(constraint.expr.constant);
            let factor = i128::from(factor);
            if factor > 0 {
                let most = (-constant).div_euclid(factor);
                bounds.greatest = Some(bounds.greatest.map_or(most, |g| g.min(most)));
            } else {
                let least = -((-constant).div_euclid(-factor));
                let least = if factor == -1 { constant } else { least };
                bounds.least = Some(bounds.least.map_or(least, |l| l.max(least)));
            }
            loops.extend(constraint.of);
            *used = true;
        }
        let dense = self.is_dense(line, &loops);
        (bounds, dense)
    }

    /// Whether a linear form takes all integers between its bounds. Loops that the constraints end
    /// may run as long as needed.
    fn is_dense(&mut self, line: &AffineExpr, ended: &[u32]) -> bool {
        let mut terms = line.terms.clone();
        terms.sort_by_key(|(_, c)| c.unsigned_abs());
        let mut run = 1i128;
        for (at, (var, coefficient)) in terms.iter().enumerate() {
            let endless = matches!(var, Var::Loop(l) if ended.contains(l) || self.is_headed(*l));
            let step = i128::from(coefficient.unsigned_abs());
            if step > run || !(endless || self.is_free(*var)) {
                return false;
            }
            let Bounds { least, greatest } = self.range(*var);
            match greatest.zip(least) {
                Some((greatest, least)) if !endless => run += step * (greatest - least),
                _ if at + 1 == terms.len() => return true,
                _ => return false,
            }
        }
        true
    }

    /// Whether a loop encloses the access and is tested at its header only: a guard ends it.
    fn is_headed(&self, number: u32) -> bool {
        self.access.loops.contains(&number) && self.values.is_headed(number)
    }

    /// Whether a variable takes all values in its range, independently of others.
    fn is_free(&mut self, var: Var) -> bool {
        match var {
            Var::Tid(_) | Var::Ctaid(_) => true,
            Var::Loop(number) => {
                self.access.loops.contains(&number) && self.values.exact_last(number).is_some()
            }
            Var::Quotient(_) | Var::Remainder(_) => {
                self.parts.iter().any(|(part, _, dense)| *part == var && *dense)
            }
            Var::Opaque(..) => false,
        }
    }

    /// An upper bound of an affine expression: adds nonnegative multiples of the constraints, so
    /// that variables disappear.
    fn greatest(&mut self, expr: &AffineExpr) -> Option<i128> {
        let (mut expr, mut scale) = (expr.clone(), 1i64);
        let mut best = self.bounds(&expr).greatest;
        // Each step must be an improvement, and each constraint improves only a few times.
        for _ in 0..2 * self.constraints.len() {
            let candidates = self.constraints.iter().flat_map(|c| relaxed(&expr, scale, &c.expr));
            let candidates: Vec<_> = candidates.collect();
            let bound = |this: &mut Self, (expr, scale): &(AffineExpr, i64)| {
                Some(this.bounds(expr).greatest?.div_euclid(i128::from(*scale)))
            };
            let bounded = candidates.into_iter().filter_map(|c| Some((bound(self, &c)?, c)));
            let (next, candidate) = bounded.min_by_key(|(bound, _)| *bound)?;
            if best.is_some_and(|b| b <= next) {
                break;
            }
            best = Some(next);
            (expr, scale) = candidate;
        }
        best
    }
}

/// `expr / scale` minus multiples of a nonpositive expression that make a variable disappear.
fn relaxed(expr: &AffineExpr, scale: i64, constraint: &AffineExpr) -> Vec<(AffineExpr, i64)> {
    let without = |&(var, coefficient): &(Var, i64)| {
        let own = expr.coefficient(var);
        if own == 0 || (own < 0) != (coefficient < 0) {
            return None;
        }
        let divisor = gcd(own, coefficient);
        let (by, times) = (coefficient.abs() / divisor, own.abs() / divisor);
        Some((expr.times(by)?.plus(constraint, -times)?, scale.checked_mul(by)?))
    };
    constraint.terms.iter().filter_map(without).collect()
}

/// A constraint's linear form, divided by its common divisor and with a positive first coefficient,
/// and the factor taken out.
fn normalised(expr: &AffineExpr) -> (AffineExpr, i64) {
    let line = expr.linear();
    let divisor = line.terms.iter().fold(0, |d, (_, c)| gcd(d, *c));
    let Some((_, first)) = line.terms.first() else { return (line, 1) };
    let factor = divisor * first.signum();
    let terms = line.terms.iter().map(|(var, c)| (*var, c / factor)).collect();
    (AffineExpr { constant: 0, terms }, factor)
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.min(i64::MAX as u64) as i64
}

/// The bytes from the lowest address to the highest, with the bytes accessed there.
fn range(bounds: &Bounds, size: u64) -> Option<Footprint> {
    let start = u64::try_from(bounds.least?).ok()?;
    let end = u64::try_from(bounds.greatest?).ok()?.checked_add(size)?;
    Some(Footprint { start, run: end.checked_sub(start)?, repeats: Vec::new() })
}

/// The bytes of all combinations of the dimensions' values.
fn lay_out(constant: i64, dimensions: &[Dimension], size: u64) -> Option<Footprint> {
    let (mut start, mut spread) = (i128::from(constant), Vec::new());
    for Dimension { coefficient, bounds, .. } in dimensions.iter().filter(|d| d.coefficient != 0) {
        let (least, greatest) = (bounds.least?, bounds.greatest?);
        let low = if *coefficient < 0 { greatest } else { least };
        start = start.checked_add(low.checked_mul((*coefficient).into())?)?;
        let count = u64::try_from(greatest.checked_sub(least)?.checked_add(1)?).ok()?;
        spread.push((coefficient.unsigned_abs(), count));
    }
    spread.retain(|(_, count)| *count > 1);
    spread.sort_unstable();
    let mut whole = Footprint { start: u64::try_from(start).ok()?, run: size, repeats: Vec::new() };
    for (distance, count) in spread {
        let further = distance.checked_mul(count - 1)?;
        match whole.repeats.last_mut() {
            None if distance <= whole.run => whole.run = whole.run.checked_add(further)?,
            Some((step, n)) if distance == step.checked_mul(*n)? => *n = n.checked_mul(count)?,
            _ => whole.repeats.push((distance, count)),
        }
    }
    let mut end = whole.start.checked_add(whole.run)?;
    for (distance, count) in &whole.repeats {
        end = end.checked_add(distance.checked_mul(count - 1)?)?;
    }
    (whole.repeats.len() <= MAX_REPEATS).then_some(whole)
}
