//! Abstract state of a path: known values of phis, and intervals of linear expressions.

use super::linear::{Known, Linear};
use super::live::Live;
use commsan_ir::{Binary, BlockId, Body, Compare, InstId, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// From and to, both included; the ends of `i64` are no bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub from: i64,
    pub to: i64,
}

impl Range {
    const ALL: Range = Range { from: i64::MIN, to: i64::MAX };

    fn of(number: i64) -> Range {
        Range { from: number, to: number }
    }

    fn meet(self, other: Range) -> Range {
        Range { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    fn join(self, other: Range) -> Range {
        Range { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    fn times(self, factor: i64) -> Range {
        let end = |bound: i64| match bound {
            i64::MIN | i64::MAX if factor < 0 => {
                if bound == i64::MIN {
                    i64::MAX
                } else {
                    i64::MIN
                }
            }
            i64::MIN | i64::MAX => bound,
            _ => bound.saturating_mul(factor),
        };
        let (one, other) = (end(self.from), end(self.to));
        Range { from: one.min(other), to: one.max(other) }
    }

    fn plus(self, other: Range) -> Range {
        let from = match (self.from, other.from) {
            (i64::MIN, _) | (_, i64::MIN) => i64::MIN,
            (one, other) => one.saturating_add(other),
        };
        let to = match (self.to, other.to) {
            (i64::MAX, _) | (_, i64::MAX) => i64::MAX,
            (one, other) => one.saturating_add(other),
        };
        Range { from, to }
    }
}

/// Sums without their constants.
type Terms = SmallVec<[(Value, i64); 2]>;

/// What is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// What phis are on the way taken.
    pub known: Known,
    bounds: FxHashMap<Terms, Range>,
    /// Numbers that sums are not.
    unequal: Vec<(Terms, i64)>,
}

/// Maximum depth to which the operands of a condition are followed.
const MAX_CONDITION_DEPTH: u32 = 8;

impl State {
    /// Whether a value is not zero, if that is known.
    pub fn truth(&self, body: &Body, value: Value) -> Option<bool> {
        self.truth_at(body, value, MAX_CONDITION_DEPTH)
    }

    fn truth_at(&self, body: &Body, value: Value, depth: u32) -> Option<bool> {
        if let (Value::Inst(id), true) = (value, depth > 0) {
            let inst = &body[id];
            let of = |n: usize| self.truth_at(body, inst.args[n], depth - 1);
            match inst.op {
                Op::Cast => return of(0),
                Op::Binary(Binary::And) => match (of(0), of(1)) {
                    (Some(false), _) | (_, Some(false)) => return Some(false),
                    (Some(true), Some(true)) if is_logical(body, id) => return Some(true),
                    _ => {}
                },
                Op::Binary(Binary::Or) => match (of(0), of(1)) {
                    (Some(true), _) | (_, Some(true)) => return Some(true),
                    (Some(false), Some(false)) => return Some(false),
                    _ => {}
                },
                Op::Binary(Binary::Xor) if inst.args[1] == Value::Int(1) || negates(inst) => {
                    return of(0).map(|truth| !truth);
                }
                Op::Compare(how) => {
                    if let Some(inner) = compared_with_zero(body, inst, how) {
                        let truth = self.truth_at(body, inner, depth - 1)?;
                        return Some(truth == (how == Compare::NotEqual));
                    }
                    return self.comparison(body, how, inst.args[0], inst.args[1]);
                }
                _ => {}
            }
        }
        let sum = Linear::of(body, &self.known, value)?;
        self.compare(&sum, Compare::NotEqual)
    }

    fn comparison(&self, body: &Body, how: Compare, left: Value, right: Value) -> Option<bool> {
        let left = Linear::of(body, &self.known, left)?;
        let right = Linear::of(body, &self.known, right)?;
        self.compare(&left.plus(&right, -1), how)
    }

    /// How a sum compares with 0.
    fn compare(&self, sum: &Linear, how: Compare) -> Option<bool> {
        let range = self.range(sum);
        let is = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
        match how {
            Compare::Less => is(range.to < 0, range.from >= 0),
            Compare::LessOrEqual => is(range.to <= 0, range.from > 0),
            Compare::Greater => is(range.from > 0, range.to <= 0),
            Compare::GreaterOrEqual => is(range.from >= 0, range.to < 0),
            Compare::Equal => is(range == Range::of(0), self.differs(sum, range)),
            Compare::NotEqual => is(self.differs(sum, range), range == Range::of(0)),
            Compare::Other => None,
        }
    }

    /// Whether a sum is not 0.
    fn differs(&self, sum: &Linear, range: Range) -> bool {
        let opposite = Linear::default().plus(sum, -1);
        let unequal = |sum: &Linear| {
            let not = sum.constant.wrapping_neg();
            self.unequal.iter().any(|(terms, number)| *number == not && *terms == sum.terms)
        };
        range.from > 0 || range.to < 0 || unequal(sum) || unequal(&opposite)
    }

    /// Bounds of a sum.
    pub fn range(&self, sum: &Linear) -> Range {
        let mut range = Range::of(sum.constant);
        for (value, factor) in &sum.terms {
            let own: Terms = [(*value, 1)].into_iter().collect();
            let bounds = self.bounds.get(&own).copied().unwrap_or(Range::ALL);
            range = range.plus(bounds.times(*factor));
        }
        for (sign, terms) in [(1, sum.terms.clone()), (-1, negated(&sum.terms))] {
            if let Some(bounds) = self.bounds.get(&terms) {
                range = range.meet(bounds.times(sign).plus(Range::of(sum.constant)));
            }
        }
        range
    }

    /// Learns that a condition is true or false. Says whether that is possible.
    pub fn assume(&mut self, body: &Body, value: Value, truth: bool) -> bool {
        if let Some(known) = self.truth(body, value) {
            return known == truth;
        }
        self.learn(body, value, truth, MAX_CONDITION_DEPTH);
        true
    }

    fn learn(&mut self, body: &Body, value: Value, truth: bool, depth: u32) {
        if let (Value::Inst(id), true) = (value, depth > 0) {
            let inst = &body[id];
            match inst.op {
                Op::Cast => return self.learn(body, inst.args[0], truth, depth - 1),
                Op::Binary(Binary::And) if truth => {
                    self.learn(body, inst.args[0], true, depth - 1);
                    self.learn(body, inst.args[1], true, depth - 1);
                    // Numbers may have no bit in common.
                    if is_logical(body, id) {
                        return;
                    }
                }
                Op::Binary(Binary::Or) if !truth => {
                    self.learn(body, inst.args[0], false, depth - 1);
                    return self.learn(body, inst.args[1], false, depth - 1);
                }
                Op::Binary(Binary::Xor) if inst.args[1] == Value::Int(1) || negates(inst) => {
                    return self.learn(body, inst.args[0], !truth, depth - 1);
                }
                Op::Compare(how) => {
                    if let Some(inner) = compared_with_zero(body, inst, how) {
                        let truth = truth == (how == Compare::NotEqual);
                        return self.learn(body, inner, truth, depth - 1);
                    }
                    let left = Linear::of(body, &self.known, inst.args[0]);
                    let right = Linear::of(body, &self.known, inst.args[1]);
                    if let (Some(left), Some(right)) = (left, right) {
                        let how = if truth { how } else { how.negated() };
                        self.bound(&left.plus(&right, -1), how);
                    }
                    return;
                }
                _ => {}
            }
        }
        if let Some(sum) = Linear::of(body, &self.known, value) {
            self.bound(&sum, if truth { Compare::NotEqual } else { Compare::Equal });
        }
    }

    /// Learns how a sum compares with 0.
    pub fn bound(&mut self, sum: &Linear, how: Compare) {
        if sum.terms.is_empty() {
            return;
        }
        let number = sum.constant.wrapping_neg();
        let range = match how {
            Compare::Less => Range { to: number.saturating_sub(1), ..Range::ALL },
            Compare::LessOrEqual => Range { to: number, ..Range::ALL },
            Compare::Greater => Range { from: number.saturating_add(1), ..Range::ALL },
            Compare::GreaterOrEqual => Range { from: number, ..Range::ALL },
            Compare::Equal => Range::of(number),
            Compare::NotEqual => {
                let unequal = (sum.terms.clone(), number);
                if !self.unequal.contains(&unequal) {
                    self.unequal.push(unequal);
                }
                return;
            }
            Compare::Other => return,
        };
        let mut terms = sum.terms.clone();
        let mut range = range;
        if self.bounds.contains_key(&negated(&terms)) || terms[0].1 == -1 {
            terms = negated(&terms);
            range = range.times(-1);
        }
        let bounds = self.bounds.entry(terms).or_insert(Range::ALL);
        *bounds = bounds.meet(range);
    }

    /// Takes a phi for a value. Says whether that is possible.
    pub fn set(&mut self, phi: InstId, value: Linear) -> bool {
        self.known.insert(phi, value);
        for (terms, range) in std::mem::take(&mut self.bounds) {
            let sum = self.substituted(&Linear { constant: 0, terms });
            let range = range.plus(Range::of(sum.constant.wrapping_neg()));
            if !sum.terms.is_empty() {
                let bounds = self.bounds.entry(sum.terms).or_insert(Range::ALL);
                *bounds = bounds.meet(range);
            } else if range.from > 0 || range.to < 0 {
                return false;
            }
        }
        for (terms, number) in std::mem::take(&mut self.unequal) {
            let sum = self.substituted(&Linear { constant: number.wrapping_neg(), terms });
            if !sum.terms.is_empty() {
                self.unequal.push((sum.terms, sum.constant.wrapping_neg()));
            } else if sum.constant == 0 {
                return false;
            }
        }
        true
    }

    /// Goes over to a block in which these phis take these values, and in which everything is
    /// computed anew for which `anew` holds.
    pub fn enter(&mut self, phis: &[(InstId, Option<Linear>)], anew: impl Fn(Value) -> bool) {
        let ranges: Vec<_> =
            phis.iter().map(|(_, sum)| sum.as_ref().map(|sum| self.range(sum))).collect();
        let shifts = shifts(phis);
        let stale = |terms: &[(Value, i64)]| terms.iter().any(|(value, _)| anew(*value));
        let moved = |terms: &Terms| by_how_much(terms, &shifts, &anew);
        let before = std::mem::take(&mut self.bounds);
        for (terms, range) in before {
            if let Some(by) = moved(&terms) {
                self.bounds.insert(terms, range.plus(Range::of(by)));
            }
        }
        self.unequal.retain_mut(|(terms, number)| match moved(terms) {
            Some(by) => {
                *number = number.wrapping_add(by);
                true
            }
            None => false,
        });
        self.known.retain(|id, sum| !anew(Value::Inst(*id)) && !stale(&sum.terms));
        for ((phi, sum), range) in phis.iter().zip(ranges) {
            let own: Terms = [(Value::Inst(*phi), 1)].into_iter().collect();
            match sum {
                Some(sum) if !stale(&sum.terms) => {
                    self.known.insert(*phi, sum.clone());
                }
                _ => {
                    self.bounds.remove(&own);
                    if let Some(range) = range.filter(|range| *range != Range::ALL) {
                        self.bounds.insert(own, range);
                    }
                }
            }
        }
    }

    /// Drops what matters no more from this block on.
    pub fn forget(&mut self, live: &Live, block: BlockId) {
        self.known.retain(|phi, _| live.is_used(block, Value::Inst(*phi)));
        let asked = self.known.iter().filter(|(phi, _)| live.is_asked(block, Value::Inst(**phi)));
        let behind: FxHashSet<Value> =
            asked.flat_map(|(_, sum)| sum.terms.iter().map(|(value, _)| *value)).collect();
        let matters = |terms: &Terms| {
            terms.iter().all(|(value, _)| live.is_asked(block, *value) || behind.contains(value))
        };
        self.bounds.retain(|terms, _| matters(terms));
        self.unequal.retain(|(terms, _)| matters(terms));
    }

    /// What holds on both ways. Bounds that keep growing are given up if `widen`. Says whether this
    /// has changed.
    pub fn join(&mut self, other: &State, widen: bool) -> bool {
        let own = |id: InstId| -> Terms { [(Value::Inst(id), 1)].into_iter().collect() };
        // Most bounds are the same on both ways, and about values that are nothing else there.
        let plain = |terms: &Terms| {
            terms.iter().all(|(value, _)| match value {
                Value::Inst(id) => !self.known.contains_key(id) && !other.known.contains_key(id),
                _ => true,
            })
        };
        let mine = self
            .bounds
            .iter()
            .filter(|(terms, range)| other.bounds.get(*terms) != Some(*range) || !plain(terms));
        let others = other.bounds.keys().filter(|terms| !self.bounds.contains_key(*terms));
        let phis = self.known.keys().chain(other.known.keys()).map(|id| own(*id));
        let differing = mine.map(|(terms, _)| terms).chain(others).cloned().chain(phis);
        let differing: Vec<Terms> = differing.collect();
        let joined: Vec<Range> = differing
            .iter()
            .map(|terms| {
                let (one, another) = (self.seen(terms), other.seen(terms));
                let mut joined = one.join(another);
                if widen {
                    joined.from = if joined.from < one.from { i64::MIN } else { joined.from };
                    joined.to = if joined.to > one.to { i64::MAX } else { joined.to };
                }
                joined
            })
            .collect();
        let unequal = self.unequal_on_both(other);
        let before = self.known.len();
        self.known.retain(|id, sum| other.known.get(id) == Some(sum));
        let mut changed = false;
        for (terms, range) in differing.into_iter().zip(joined) {
            let known = match &*terms {
                [(Value::Inst(id), 1)] => self.known.contains_key(id),
                _ => false,
            };
            changed |= if known || range == Range::ALL {
                self.bounds.remove(&terms).is_some()
            } else {
                self.bounds.insert(terms, range) != Some(range)
            };
        }
        changed |= unequal != self.unequal;
        self.unequal = unequal;
        changed || before != self.known.len()
    }

    /// What is not equal on both ways, though one may know it in other words.
    fn unequal_on_both(&self, other: &State) -> Vec<(Terms, i64)> {
        let holds = |state: &State, (terms, number): &(Terms, i64)| {
            let sum = Linear { constant: number.wrapping_neg(), terms: terms.clone() };
            state.compare(&state.substituted(&sum), Compare::NotEqual) == Some(true)
        };
        let mine = self.unequal.iter().filter(|unequal| holds(other, unequal));
        let new = other.unequal.iter().filter(|unequal| !self.unequal.contains(unequal));
        mine.chain(new.filter(|unequal| holds(self, unequal))).cloned().collect()
    }

    /// Bounds of terms, with what phis are known to be.
    fn seen(&self, terms: &Terms) -> Range {
        let sum = Linear { constant: 0, terms: terms.clone() };
        self.range(&sum).meet(self.range(&self.substituted(&sum)))
    }

    /// A sum with what phis are known to be.
    fn substituted(&self, sum: &Linear) -> Linear {
        let mut result = Linear::constant(sum.constant);
        for (value, factor) in &sum.terms {
            let known = match value {
                Value::Inst(id) => self.known.get(id),
                _ => None,
            };
            result = match known {
                Some(known) => result.plus(known, *factor),
                None => result.plus(&Linear::value(*value), *factor),
            };
        }
        result
    }
}

/// Phis that are their own last value and so much more.
pub fn shifts(phis: &[(InstId, Option<Linear>)]) -> FxHashMap<Value, i64> {
    let shift = |(phi, sum): &(InstId, Option<Linear>)| {
        let sum = sum.as_ref()?;
        (sum.base() == Some(Value::Inst(*phi))).then_some((Value::Inst(*phi), sum.constant))
    };
    phis.iter().filter_map(shift).collect()
}

/// What is to be added to a sum of these terms, of which some are computed anew, to make it one of
/// the new values; none if that is not known.
pub fn by_how_much(
    terms: &[(Value, i64)],
    shifts: &FxHashMap<Value, i64>,
    anew: impl Fn(Value) -> bool,
) -> Option<i64> {
    let mut by = 0i64;
    for (value, factor) in terms {
        match shifts.get(value) {
            Some(shift) => by = by.wrapping_add(shift.wrapping_mul(*factor)),
            None if anew(*value) => return None,
            None => {}
        }
    }
    Some(by)
}

fn negated(terms: &Terms) -> Terms {
    terms.iter().map(|(value, factor)| (*value, factor.wrapping_neg())).collect()
}

/// A condition that is only tested for being true or false.
fn compared_with_zero(body: &Body, inst: &commsan_ir::Inst, how: Compare) -> Option<Value> {
    if inst.args[1] != Value::Int(0) || !matches!(how, Compare::Equal | Compare::NotEqual) {
        return None;
    }
    let mut value = inst.args[0];
    while let Value::Inst(id) = value {
        match body[id].op {
            Op::Cast => value = body[id].args[0],
            Op::Compare(_) => return Some(value),
            // Of numbers too: one side that is 0 decides, or both that are.
            Op::Binary(Binary::And | Binary::Or) => return Some(value),
            Op::Binary(Binary::Xor) if is_logical(body, id) => return Some(value),
            _ => return None,
        }
    }
    None
}

/// Whether both sides are 0 or 1.
fn is_logical(body: &Body, id: InstId) -> bool {
    let logical = |value: &Value| {
        let mut value = *value;
        while let Value::Inst(id) = value {
            match body[id].op {
                Op::Cast => value = body[id].args[0],
                Op::Compare(_) => return true,
                _ => return false,
            }
        }
        matches!(value, Value::Int(-1..=1))
    };
    body[id].args.iter().all(logical)
}

/// `x ^ true`, of one bit.
fn negates(inst: &commsan_ir::Inst) -> bool {
    inst.args[1] == Value::Int(-1)
}
