//! Loop guards: one check of an address range replaces the checks of many iterations.
//!
//! An innermost loop of a single block walks through memory in constant steps. A guard in front of
//! it tests all bytes that the next iterations can access, up to [`MAX_CHUNK_ITERATIONS`] of them.
//! If none concerns a pending operation, these iterations run in a copy of the loop without these
//! checks, otherwise in the checked loop. Then the guard tests again:
//!
//! ```text
//!   before ──▶ guard ──clear──────────▶ fast ⟲ ──▶ after ──▶ exit
//!                │ ▲                     │
//!                │ └── count iterations ─┤
//!                ▼                       │
//!             careful ──pending──▶ slow ⟲┘
//! ```
//!
//! For most loops, a lower bound of the number of iterations is known (`count.rs`). Accesses of
//! these iterations to memory that others may access are then recorded on the edge from `careful`
//! to `fast` (`sweep.rs`), as are all accesses if several threads may run concurrently with MPI
//! (`threads.rs`). For other loops the number is a guess: if it is too small, the guard runs once
//! more; if it is too large, the checked loop runs needlessly.
//!
//! Only another thread can start an operation in between. The loop misses it for the rest of the
//! chunk. For the accesses to be ordered before that operation, the threads would have to
//! synchronise, which such a loop does not do. So what is missed is a race, in the observed order.

use crate::access::{Access, Lanes, Part};
use crate::builder::Builder;
use crate::check::{concern, filter_byte};
use crate::count::Test;
use crate::hooks::RANGE_CLEAR;
use crate::ir::{Block, Module, Opcode, TypeKind, Value, replace_phi_block};
use crate::place::Place;
use crate::survey::may_start_operation;
use crate::sweep::{self, Sweep};
use crate::threads::commsan_parallel;
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// Maximum number of iterations between two evaluations of the guard.
const MAX_CHUNK_ITERATIONS: u64 = 4096;
/// Iterations between two evaluations of the guard where the trip count is unknown.
const UNKNOWN_TRIP_CHUNK_ITERATIONS: u64 = 64;
/// Maximum stride in bytes; beyond it, testing one filter byte per access is cheaper.
const MAX_STRIDE_BYTES: u64 = 512;
/// Maximum number of different ranges; beyond it, the guard costs more than the checks of a short
/// loop.
const MAX_RANGES: usize = 12;
/// Maximum gap in bytes between accesses that are tested as one range.
const MAX_GAP_BYTES: i64 = 4096;

unsafe extern "C" {
    safe static commsan_note: u64;
    safe static commsan_share: u64;
}

/// Flag of a range query: the loop can record its accesses. Flag of the answer: it must.
fn note() -> u64 {
    commsan_note
}

/// A loop whose body is a single block.
struct Loop {
    body: Block,
    before: Block,
    exit: Block,
    phis: Vec<Phi>,
    /// The branch back to the body or out of the loop.
    end: Value,
}

/// A value carried from one iteration to the next.
#[derive(Clone, Copy)]
struct Phi {
    value: Value,
    first: Value,
    next: Value,
}

/// Bytes accessed in one iteration, around a sum of invariants and inductions.
struct Range {
    terms: Vec<(Value, i64)>,
    low: i64,
    high: i64,
    step: i64,
    write: bool,
    /// Whether sweeps describe all its accesses.
    swept: bool,
}

/// Accesses that need no check in the copy.
#[derive(Default)]
struct Hoisted {
    ranges: Vec<Range>,
    sweeps: Vec<Sweep>,
}

/// Whether a block is a loop of which [`guard_loops`] will free all of these accesses.
pub fn has_known_addresses(module: Module, block: Block, accesses: &[Access]) -> bool {
    let Some(found) = Loop::of(block) else { return false };
    let mut hoisted = Hoisted::default();
    accesses.iter().all(|access| found.hoist(module, access, &mut hoisted))
        && hoisted.ranges.len() <= MAX_RANGES
}

/// Inserts guards for the loops of a function; returns the accesses that still need checks.
/// `shares`: whether accesses by several threads are recorded.
pub fn guard_loops(
    module: Module,
    function: Value,
    mut accesses: Vec<Access>,
    shares: bool,
) -> Vec<Access> {
    if function.has_attribute("optsize") || function.has_attribute("minsize") {
        return accesses;
    }
    let blocks: Vec<_> = function.blocks().collect();
    for found in blocks.into_iter().filter_map(Loop::of) {
        let mut hoisted = Hoisted::default();
        let (here, mut rest): (Vec<_>, Vec<_>) =
            accesses.into_iter().partition(|access| access.at.parent() == Some(found.body));
        let unhoisted: Vec<_> = here
            .iter()
            .filter(|access| !found.hoist(module, access, &mut hoisted))
            .cloned()
            .collect();
        if !hoisted.ranges.is_empty() && hoisted.ranges.len() <= MAX_RANGES {
            let Versions { copy, after } = found.version(module, hoisted, shares);
            rest = rest.into_iter().map(|access| renamed(access, &after)).collect();
            rest.extend(unhoisted.into_iter().map(|access| renamed(access, &copy)));
        }
        rest.extend(here);
        accesses = rest;
    }
    accesses
}

/// Replacements of a loop's values.
struct Versions {
    /// Values in the copy.
    copy: HashMap<Value, Value>,
    /// Values behind both loops, for those used there.
    after: HashMap<Value, Value>,
}

/// An access with its values replaced.
fn renamed(access: Access, by: &HashMap<Value, Value>) -> Access {
    let of = |value: Value| by.get(&value).copied().unwrap_or(value);
    let part = match access.part {
        Part::Lanes(element, Lanes::Set(mask)) => Part::Lanes(element, Lanes::Set(of(mask))),
        Part::Lanes(element, Lanes::Packed(mask)) => Part::Lanes(element, Lanes::Packed(of(mask))),
        Part::Lanes(element, Lanes::Negative(mask)) => {
            Part::Lanes(element, Lanes::Negative(of(mask)))
        }
        Part::Scattered(element, mask) => Part::Scattered(element, of(mask)),
        same @ (Part::All | Part::Lanes(_, Lanes::Known(_))) => same,
    };
    Access { at: of(access.at), address: of(access.address), part, ..access }
}

impl Loop {
    fn of(body: Block) -> Option<Loop> {
        let end = body.terminator()?;
        let [a, b] = <[Block; 2]>::try_from(body.successors().collect::<Vec<_>>()).ok()?;
        let exit = match (a == body, b == body) {
            (true, false) => b,
            (false, true) => a,
            _ => return None,
        };
        let simple = end.opcode() == Some(Opcode::LLVMBr)
            && !body.has_address_taken()
            && !body
                .instructions()
                .any(|i| may_start_operation(i) || i.opcode() == Some(Opcode::LLVMAlloca));
        let mut phis = Vec::new();
        let mut before = None;
        for phi in body.instructions().take_while(|i| i.opcode() == Some(Opcode::LLVMPHI)) {
            let [(one, from_one), (other, from_other)] = phi.incoming()?;
            let (first, next, from) =
                if from_other == body { (one, other, from_one) } else { (other, one, from_other) };
            phis.push(Phi { value: phi, first, next });
            before = Some(from);
        }
        let before = before.filter(|_| simple)?;
        let plain = before.terminator().is_some_and(|end| end.opcode() == Some(Opcode::LLVMBr));
        let edges = before.successors().filter(|successor| *successor == body).count();
        (plain && edges == 1).then_some(Loop { body, before, exit, phis, end })
    }

    /// Adds an access to the ranges if its address moves in constant steps.
    fn hoist(&self, module: Module, access: &Access, hoisted: &mut Hoisted) -> bool {
        if matches!(access.part, Part::Scattered(..)) {
            return false;
        }
        let place = Place::of(module, access.address);
        // A narrow induction may wrap before it is widened.
        let narrow = |(value, _): &(Value, i64)| {
            value.parent() == Some(self.body)
                && value.ty().kind() == TypeKind::LLVMIntegerTypeKind
                && value.ty().bits() != 64
        };
        let Some(step) = self.step(module, &place) else { return false };
        if place.terms.iter().any(narrow) {
            return false;
        }
        if step.unsigned_abs() > MAX_STRIDE_BYTES || access.size > MAX_GAP_BYTES as u64 {
            return false;
        }
        let sweeps = Sweep::of(access, &place, step);
        let swept = sweeps.is_some();
        for sweep in sweeps.into_iter().flatten() {
            sweep.add_to(&mut hoisted.sweeps);
        }
        let (low, high) = (place.distance, place.distance + access.size as i64);
        let near = |range: &&mut Range| {
            range.terms == place.terms
                && range.write == access.write
                && low < range.high + MAX_GAP_BYTES
                && range.low < high + MAX_GAP_BYTES
        };
        match hoisted.ranges.iter_mut().find(near) {
            Some(range) => {
                range.low = range.low.min(low);
                range.high = range.high.max(high);
                range.swept &= swept;
            }
            None => {
                let (terms, write) = (place.terms, access.write);
                hoisted.ranges.push(Range { terms, low, high, step, write, swept });
            }
        }
        true
    }

    /// The change of a sum in each iteration, if it is constant.
    fn step(&self, module: Module, sum: &Place) -> Option<i64> {
        let mut step = 0i64;
        for (value, factor) in &sum.terms {
            if value.parent() == Some(self.body) {
                let phi = self.phis.iter().find(|phi| phi.value == *value)?;
                let next = Place::of_any(module, phi.next);
                let moves = next.terms == [(*value, 1)];
                let by = moves.then_some(next.distance)?;
                step = step.wrapping_add(factor.wrapping_mul(by));
            }
        }
        Some(step)
    }

    /// Creates the guard and the copy.
    fn version(&self, module: Module, mut hoisted: Hoisted, shares: bool) -> Versions {
        let [guard, careful, settled, sweeping, fast, fast_latch, slow_latch, after] =
            [(); 8].map(|()| self.body.new_block_before(module));
        let end = self.end;
        let outside = self.outside_users();
        let test = self.test(module);

        // The edges of the old loop.
        self.before.retarget(self.body, guard);
        self.body.retarget(self.exit, after);
        self.body.retarget(self.body, slow_latch);
        replace_phi_block(self.exit, self.body, after);
        replace_phi_block(self.body, self.body, slow_latch);
        replace_phi_block(self.body, self.before, careful);

        // The copy.
        let in_guard = Builder::at_end(module, guard, end);
        let in_fast = Builder::at_end(module, fast, end);
        let mut at_guard = HashMap::new();
        let mut copy = HashMap::new();
        for phi in &self.phis {
            at_guard.insert(phi.value, in_guard.phi(phi.value.ty()));
            copy.insert(phi.value, in_fast.phi(phi.value.ty()));
        }
        let fast_count = in_fast.phi(in_fast.integer(64));
        for instruction in self.body.instructions().skip(self.phis.len()).filter(|i| *i != end) {
            copy.insert(instruction, in_fast.clone_of(instruction, &copy));
        }
        let of = |value: Value| copy.get(&value).copied().unwrap_or(value);
        let before_fast = [guard, settled, sweeping];
        for phi in &self.phis {
            let carried = at_guard[&phi.value];
            let next = of(phi.next);
            carried.add_incoming(&[
                (phi.first, self.before),
                (phi.next, slow_latch),
                (next, fast_latch),
            ]);
            of(phi.value).add_incoming(&before_fast.map(|block| (carried, block)));
            of(phi.value).add_incoming(&[(next, fast_latch)]);
            phi.value.set_incoming(careful, carried);
        }
        let again = end.operand(0);
        if self.body.successors().next() == Some(slow_latch) {
            in_fast.branch(of(again), fast_latch, after);
        } else {
            in_fast.branch(of(again), after, fast_latch);
        }

        // The guard.
        let known =
            test.and_then(|test| test.iterations(&in_guard, &at_guard, MAX_CHUNK_ITERATIONS));
        if known.is_none() || hoisted.sweeps.len() > sweep::MAX_CALLS {
            hoisted.keep_notes();
        }
        let count = known.unwrap_or_else(|| in_guard.constant(UNKNOWN_TRIP_CHUNK_ITERATIONS));
        let Hoisted { ranges, sweeps } = hoisted;
        let bounds: Vec<_> =
            ranges.iter().map(|range| range.bounds(&in_guard, &at_guard, count)).collect();
        let concerned = bounds
            .iter()
            .map(|bounds| bounds.test(&in_guard))
            .chain(shares.then(|| in_guard.load(64, commsan_parallel, None)))
            .reduce(|a, b| in_guard.or(a, b))
            .unwrap_or(count);
        in_guard.branch(in_guard.is_not_zero(concerned), careful, fast);
        let in_careful = Builder::at_end(module, careful, end);
        let answers: Vec<_> = bounds.iter().map(|bounds| bounds.ask(&in_careful, shares)).collect();
        let any = |operation| {
            let fold = |a, b| in_careful.binary(operation, a, b);
            answers.iter().copied().reduce(fold).unwrap_or(count)
        };
        let (all, some) = (any(LLVMOpcode::LLVMAnd), any(LLVMOpcode::LLVMOr));
        let clear = in_careful.is_not_zero(in_careful.and(all, 1));
        in_careful.branch(clear, settled, self.body);
        let in_settled = Builder::at_end(module, settled, end);
        let exposed = in_settled.is_not_zero(in_settled.and(some, note()));
        in_settled.branch(exposed, sweeping, fast);
        for sweep in &sweeps {
            sweep.note(module, sweeping, &at_guard, count);
        }
        Builder::at_end(module, sweeping, end).jump(fast);

        // Both loops return to the guard after this number of iterations.
        let in_slow = Builder::before(module, self.phis[0].value);
        let slow_count = in_slow.phi(in_slow.integer(64));
        for (latch, block, left, sources) in [
            (fast_latch, fast, fast_count, &before_fast[..]),
            (slow_latch, self.body, slow_count, &[careful][..]),
        ] {
            let in_latch = Builder::at_end(module, latch, end);
            let fewer = in_latch.sub(left, 1);
            in_latch.branch(in_latch.is_not_zero(fewer), block, guard);
            left.add_incoming(&[(fewer, latch)]);
            for source in sources {
                left.add_incoming(&[(count, *source)]);
            }
        }

        // Values used behind the loop come from either of the loops.
        let in_after = Builder::at_end(module, after, end);
        let mut from_either = HashMap::new();
        for (value, users) in outside {
            let either = in_after.phi(value.ty());
            either.add_incoming(&[(value, self.body), (of(value), fast)]);
            from_either.insert(value, either);
            for user in users {
                user.replace_operand(value, either);
            }
        }
        in_after.jump(self.exit);
        Versions { copy, after: from_either }
    }

    /// Values of the body that are used outside it, with their users.
    fn outside_users(&self) -> Vec<(Value, Vec<Value>)> {
        let elsewhere = |user: &Value| user.parent().is_some_and(|block| block != self.body);
        let values = self.body.instructions();
        let used = values.map(|value| (value, value.users().filter(elsewhere).collect::<Vec<_>>()));
        used.filter(|(_, users)| !users.is_empty()).collect()
    }

    /// The condition for another iteration.
    fn test(&self, module: Module) -> Option<Test> {
        let goes_on = self.body.successors().next() == Some(self.body);
        let sum = |value| Place::of_any(module, value);
        Test::of(self.end.operand(0), goes_on, sum, |place| self.step(module, place))
    }
}

impl Hoisted {
    /// Leaves ranges whose accesses must be recorded to the checks.
    fn keep_notes(&mut self) {
        self.sweeps.clear();
        self.ranges.iter_mut().for_each(|range| range.swept = false);
    }
}

/// Addresses of the first and the last byte that the next iterations can access.
struct Bounds {
    low: Value,
    last: Value,
    write: bool,
    swept: bool,
}

impl Range {
    fn bounds(&self, builder: &Builder, at_guard: &HashMap<Value, Value>, count: Value) -> Bounds {
        let place = Place { terms: self.terms.clone(), distance: self.low };
        // Disabled lanes may have no address.
        let start = builder.freeze(place.value(builder, at_guard));
        let way = builder.multiply(builder.sub(count, 1), self.step as u64);
        let moved = builder.binary(LLVMOpcode::LLVMAdd, start, way);
        let (low, high) = if self.step >= 0 { (start, moved) } else { (moved, start) };
        let last = builder.add(high, (self.high - self.low - 1) as u64);
        Bounds { low, last, write: self.write, swept: self.swept }
    }
}

impl Bounds {
    /// Non-zero if the bytes of two neighbouring pages are not sufficient to decide.
    fn test(&self, builder: &Builder) -> Value {
        let bytes = builder.or(filter_byte(builder, self.low), filter_byte(builder, self.last));
        let pending = builder.zero_extend(builder.and(bytes, concern(self.write)), 64);
        let span = builder.binary(LLVMOpcode::LLVMSub, self.last, self.low);
        builder.or(pending, builder.shift_right(span, 12))
    }

    /// Non-zero if the whole range is clear, by granules, or only remains to be recorded. With
    /// `shares`, all of it is to be recorded.
    fn ask(&self, builder: &Builder, shares: bool) -> Value {
        let swept = if self.swept { note() } else { 0 };
        let shared = if shares { commsan_share } else { 0 };
        let how = builder.constant(u64::from(self.write) | swept | shared);
        builder.call(&RANGE_CLEAR, &[self.low, self.last, how])
    }
}
