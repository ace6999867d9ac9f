//! Linear expressions: a constant plus multiples of opaque values.

use commsan_ir::{Binary, Body, InstId, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// `constant + Σ factor · value`, with values ascending and no factor 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Linear {
    /// What does not depend on anything.
    pub constant: i64,
    /// Values and how often they count.
    pub terms: SmallVec<[(Value, i64); 2]>,
}

/// What is known of values besides how they are computed.
pub type Known = FxHashMap<InstId, Linear>;

/// Maximum depth to which an expression is followed.
const MAX_EXPR_DEPTH: usize = 64;

impl Linear {
    /// A number.
    pub fn constant(number: i64) -> Linear {
        Linear { constant: number, terms: SmallVec::new() }
    }

    /// A value by itself.
    pub fn value(value: Value) -> Linear {
        Linear { constant: 0, terms: [(value, 1)].into_iter().collect() }
    }

    /// What a value is a sum of. None where it is nothing that another value could equal.
    pub fn of(body: &Body, known: &Known, value: Value) -> Option<Linear> {
        Linear::at_depth(body, known, value, MAX_EXPR_DEPTH)
    }

    fn at_depth(body: &Body, known: &Known, value: Value, depth: usize) -> Option<Linear> {
        let id = match value {
            Value::Int(number) => return Some(Linear::constant(number)),
            Value::Global(id, at) => {
                return Some(Linear::value(Value::Global(id, 0)).plus(&Linear::constant(at), 1));
            }
            Value::Param(_) | Value::Function(_) => return Some(Linear::value(value)),
            Value::Opaque => return None,
            Value::Inst(id) => id,
        };
        if let Some(known) = known.get(&id) {
            return Some(known.clone());
        }
        let inst = &body[id];
        let own = Linear::value(value);
        if depth == 0 {
            return Some(own);
        }
        let of = |n: usize| Linear::at_depth(body, known, *inst.args.get(n)?, depth - 1);
        Some(match &inst.op {
            Op::Cast => of(0).unwrap_or(own),
            Op::Offset(bytes, scales) => {
                let mut sum = of(0)?.plus(&Linear::constant(*bytes), 1);
                for (n, scale) in scales.iter().enumerate() {
                    let index = of(n + 1);
                    let Some(index) = index else { return Some(own) };
                    sum = sum.plus(&index, *scale);
                }
                sum
            }
            Op::Binary(op @ (Binary::Add | Binary::Sub)) => match (of(0), of(1)) {
                (Some(left), Some(right)) => {
                    left.plus(&right, if *op == Binary::Add { 1 } else { -1 })
                }
                _ => own,
            },
            Op::Binary(Binary::Mul) => match (of(0), of(1)) {
                (Some(sum), Some(factor)) | (Some(factor), Some(sum))
                    if factor.terms.is_empty() =>
                {
                    Linear::default().plus(&sum, factor.constant)
                }
                _ => own,
            },
            Op::Binary(Binary::ShiftLeft) => match (of(0), of(1)) {
                (Some(sum), Some(by)) if by.terms.is_empty() && (0..32).contains(&by.constant) => {
                    Linear::default().plus(&sum, 1 << by.constant)
                }
                _ => own,
            },
            // One way in: the value it comes with.
            Op::Phi(from) if from.len() == 1 => of(0).unwrap_or(own),
            _ => own,
        })
    }

    /// This and a multiple of another.
    pub fn plus(mut self, other: &Linear, times: i64) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(times));
        for (value, factor) in &other.terms {
            let added = factor.wrapping_mul(times);
            match self.terms.binary_search_by(|(known, _)| known.cmp(value)) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(added),
                Err(at) => self.terms.insert(at, (*value, added)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        self
    }

    /// How far this lies behind another, if that is always the same.
    pub fn behind(&self, other: &Linear) -> Option<i64> {
        (self.terms == other.terms).then(|| self.constant.wrapping_sub(other.constant))
    }

    /// The number it is, if it is one.
    pub fn number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The local or global variable it is an address in.
    pub fn variable(&self, body: &Body) -> Option<Value> {
        let variable = |value: Value| match value {
            Value::Global(..) => true,
            Value::Inst(id) => matches!(body[id].op, Op::Alloca(_)),
            _ => false,
        };
        let found = self.terms.iter().find(|(value, factor)| *factor == 1 && variable(*value));
        found.map(|(value, _)| *value)
    }

    /// The only value it depends on, counted once.
    pub fn base(&self) -> Option<Value> {
        match &*self.terms {
            [(value, 1)] => Some(*value),
            _ => None,
        }
    }
}
