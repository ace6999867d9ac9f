//! Trip counts: lower bounds of the number of iterations of a loop.
//!
//! A loop continues while a value that changes by a constant compares with an invariant one. No
//! value overflows until the comparison first fails, computed without overflow. So there are at
//! least this many iterations, and usually no more.

use crate::builder::Builder;
use crate::ir::{Predicate, TypeKind, Value};
use crate::place::Place;
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// The exit test: the loop continues while `moving` compares with `still`; `moving` grows by `step`
/// with each iteration.
pub struct Test {
    pub moving: Place,
    pub still: Place,
    pub step: i64,
    pub bits: u32,
    pub goes_on: Predicate,
}

/// How the two values are compared.
enum Way {
    Until,
    Below { or_equal: bool, signed: bool },
}

impl Test {
    /// `condition` is a comparison; `step` returns the change of a sum in each iteration. The loop
    /// continues if the comparison yields `wanted`.
    pub fn of(
        condition: Value,
        wanted: bool,
        sum: impl Fn(Value) -> Place,
        step: impl Fn(&Place) -> Option<i64>,
    ) -> Option<Test> {
        let predicate = condition.predicate()?;
        let ty = condition.operand(0).ty();
        if !ty.is_scalar_of_64_bits_at_most() {
            return None;
        }
        let bits = if ty.kind() == TypeKind::LLVMPointerTypeKind { 64 } else { ty.bits() };
        let goes_on = if wanted { predicate } else { inverse(predicate) };
        let [left, right] = [0, 1].map(|side| sum(condition.operand(side)));
        // The step modulo the width of the compared numbers.
        let own = |step: i64| step << (64 - bits) >> (64 - bits);
        match (own(step(&left)?), own(step(&right)?)) {
            (by, 0) if by != 0 => {
                Some(Test { moving: left, still: right, step: by, bits, goes_on })
            }
            (0, by) if by != 0 => {
                let goes_on = swapped(goes_on);
                Some(Test { moving: right, still: left, step: by, bits, goes_on })
            }
            _ => None,
        }
    }

    /// The number of iterations, from 1 to `most`, beginning with the one in which `now` gives the
    /// values of the loop; `None` if it is not known.
    pub fn iterations(
        &self,
        builder: &Builder,
        now: &HashMap<Value, Value>,
        most: u64,
    ) -> Option<Value> {
        let way = self.way()?;
        let signed = matches!(way, Way::Below { signed: true, .. });
        let value = |place: &Place| builder.narrowed(place.value(builder, now), self.bits, signed);
        let (moving, still) = (value(&self.moving), value(&self.still));
        let (from, to) = if self.step > 0 { (moving, still) } else { (still, moving) };
        let distance = builder.binary(LLVMOpcode::LLVMSub, to, from);
        let step = self.step.unsigned_abs();
        let further = match way {
            Way::Until => builder.divide(builder.narrowed(distance, self.bits, false), step),
            Way::Below { or_equal, signed } => {
                let steps = match or_equal {
                    true => builder.divide(distance, step),
                    false => builder.divide(builder.sub(distance, 1), step),
                };
                let below = builder.is_below(from, to, or_equal, signed);
                builder.select(below, builder.add(steps, 1), builder.constant(0))
            }
        };
        Some(builder.add(builder.at_most(further, most - 1), 1))
    }

    fn way(&self) -> Option<Way> {
        use Predicate::*;
        let up = self.step > 0;
        let below = |or_equal, signed| Some(Way::Below { or_equal, signed });
        match self.goes_on {
            LLVMIntNE => Some(Way::Until),
            LLVMIntSLT if up => below(false, true),
            LLVMIntSLE if up => below(true, true),
            LLVMIntULT if up => below(false, false),
            LLVMIntULE if up => below(true, false),
            LLVMIntSGT if !up => below(false, true),
            LLVMIntSGE if !up => below(true, true),
            LLVMIntUGT if !up => below(false, false),
            LLVMIntUGE if !up => below(true, false),
            _ => None,
        }
    }
}

/// The predicate that holds if and only if `predicate` does not.
fn inverse(predicate: Predicate) -> Predicate {
    use Predicate::*;
    match predicate {
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
        LLVMIntSLT => LLVMIntSGE,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntSLE => LLVMIntSGT,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntUGE => LLVMIntULT,
        LLVMIntUGT => LLVMIntULE,
        LLVMIntULE => LLVMIntUGT,
    }
}

/// The equivalent predicate for exchanged operands.
fn swapped(predicate: Predicate) -> Predicate {
    use Predicate::*;
    match predicate {
        LLVMIntSLT => LLVMIntSGT,
        LLVMIntSGT => LLVMIntSLT,
        LLVMIntSLE => LLVMIntSGE,
        LLVMIntSGE => LLVMIntSLE,
        LLVMIntULT => LLVMIntUGT,
        LLVMIntUGT => LLVMIntULT,
        LLVMIntULE => LLVMIntUGE,
        LLVMIntUGE => LLVMIntULE,
        LLVMIntEQ | LLVMIntNE => predicate,
    }
}
