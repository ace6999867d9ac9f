//! Path conditions: what the outcome of a branch implies about the executing thread.

use super::thread_divergence::{Divergence, ThreadDivergence};
use crate::Calls;
use crate::openmp::{Runtime, Scope, runtime};
use commsan_ir::{Binary, BlockId, Body, Callee, Compare, FunctionId, InstId, Op, Program, Value};

/// Maximum depth to which the operands of a condition are followed.
const MAX_CONDITION_DEPTH: u32 = 16;

/// What is known of a thread that takes a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The runtime has let it into this region.
    Enters(Scope),
    /// It has got more iterations.
    Iterates,
    /// It has this number; which one, if that is known.
    Number(Option<i64>),
    /// Only one iteration of a worksharing loop takes it.
    Iteration,
    /// It has any number but this one.
    NotNumber(i64),
    /// It is the main thread.
    Main,
    /// It runs in a parallel region, or does not.
    InParallel(bool),
    /// It has taken a lock, or has not.
    Locks(Value, bool),
    /// It has seen what another thread has done.
    Sees,
    /// No thread takes this way.
    Never,
}

/// The function that a condition is in.
#[derive(Clone, Copy)]
pub struct Facts<'f> {
    pub program: &'f Program,
    pub mpi: &'f Calls,
    pub divergence: &'f ThreadDivergence,
    pub function: FunctionId,
    pub body: &'f Body,
}

impl Facts<'_> {
    /// What a condition says that is true, or is not, and the instruction that asks.
    pub fn of(&self, condition: Value, holds: bool) -> Option<(Fact, InstId)> {
        self.fact(condition, holds, MAX_CONDITION_DEPTH)
    }

    /// What a value's being a certain number says.
    pub fn of_case(&self, value: Value, number: i64) -> Option<Fact> {
        match self.divergence.get(self.function, value) {
            Divergence::Same => None,
            Divergence::Iteration => Some(Fact::Iteration),
            Divergence::Number => Some(Fact::Number(Some(number))),
            Divergence::Different => Some(Fact::Number(None)),
        }
    }

    fn fact(&self, condition: Value, holds: bool, depth: u32) -> Option<(Fact, InstId)> {
        let depth = depth.checked_sub(1)?;
        let Value::Inst(id) = condition else { return None };
        let inst = &self.body[id];
        match (&inst.op, &*inst.args) {
            (Op::Cast, [value]) => self.fact(*value, holds, depth),
            (Op::Binary(Binary::Xor), [value, Value::Int(1 | -1)]) => {
                self.fact(*value, !holds, depth)
            }
            // Of several conditions the first that says something.
            (Op::Binary(Binary::And), [one, two]) if holds => {
                self.fact(*one, true, depth).or_else(|| self.fact(*two, true, depth))
            }
            (Op::Binary(Binary::Or), [one, two]) if !holds => {
                self.fact(*one, false, depth).or_else(|| self.fact(*two, false, depth))
            }
            // `&&` and `||` whose result is kept.
            (Op::Phi(from), values) => {
                let decides = |value: &Value| match value {
                    Value::Int(number) => (*number != 0) == holds,
                    _ => true,
                };
                let mut deciding = values.iter().zip(from).filter(|(value, _)| decides(value));
                match (deciding.next(), deciding.next()) {
                    (Some((only, from)), None) => {
                        let told = self.fact(*only, holds, depth);
                        told.or_else(|| self.way_to(*from, depth))
                    }
                    _ => None,
                }
            }
            (Op::Select, [condition, yes, Value::Int(0)]) if holds => {
                self.fact(*yes, true, depth).or_else(|| self.fact(*condition, true, depth))
            }
            (Op::Compare(how), [left, right]) => self.comparison(*how, *left, *right, holds, depth),
            _ => self.truth(condition, holds, depth),
        }
        .map(|(fact, at)| (fact, if at.0 == u32::MAX { id } else { at }))
    }

    /// What taking the only way to a block says.
    fn way_to(&self, block: BlockId, depth: u32) -> Option<(Fact, InstId)> {
        let leads = |from: &BlockId| self.body[*from].next.contains(&block);
        let mut from = self.body.block_ids().filter(leads);
        let (Some(only), None) = (from.next(), from.next()) else { return None };
        let end = self.body.end(only).filter(|end| end.op == Op::Branch)?;
        self.fact(end.args[0], self.body[only].next[0] == block, depth)
    }

    fn comparison(
        &self,
        how: Compare,
        left: Value,
        right: Value,
        holds: bool,
        depth: u32,
    ) -> Option<(Fact, InstId)> {
        let (how, left, right) = match (left, right) {
            (Value::Int(_), Value::Int(_)) => return None,
            (Value::Int(_), _) => (mirrored(how), right, left),
            _ => (how, left, right),
        };
        let how = if holds { how } else { how.negated() };
        if !holds && how == Compare::Other {
            return None;
        }
        let number = match right {
            Value::Int(number) => Some(number),
            _ => None,
        };
        if self.is_atomic(left, depth) || self.is_atomic(right, depth) {
            return Some((Fact::Sees, HERE));
        }
        if number == Some(0) && matches!(how, Compare::Equal | Compare::NotEqual) {
            let told = self.truth(left, how == Compare::NotEqual, depth);
            if told.is_some() {
                return told;
            }
        }
        let divergence = [left, right].map(|value| self.divergence.get(self.function, value));
        match (how, divergence, number) {
            (_, [Divergence::Number, _], Some(number)) => of_number(how, number).map(|f| (f, HERE)),
            (Compare::Equal, divergence, _) if divergence.contains(&Divergence::Iteration) => {
                Some((Fact::Iteration, HERE))
            }
            (Compare::Equal, divergence, _) if divergence != [Divergence::Same; 2] => {
                Some((Fact::Number(None), HERE))
            }
            // So many threads as somebody said.
            (Compare::Less | Compare::LessOrEqual, [Divergence::Number, _], None) => {
                Some((Fact::Number(None), HERE))
            }
            _ => self.of_runtime(how, left, number?),
        }
    }

    /// What a value says that is not zero, or is.
    fn truth(&self, value: Value, holds: bool, depth: u32) -> Option<(Fact, InstId)> {
        let value = self.without_casts(value);
        let Value::Inst(id) = value else {
            return self.of_flag(value, holds);
        };
        let inst = &self.body[id];
        match runtime(self.program, inst) {
            Some(Runtime::Enter(scope)) => return holds.then_some((Fact::Enters(scope), id)),
            Some(Runtime::Next) => return holds.then_some((Fact::Iterates, id)),
            Some(Runtime::InParallel) => return Some((Fact::InParallel(holds), id)),
            Some(Runtime::TryLock { lock, zero }) => {
                return Some((Fact::Locks(lock, holds != zero), id));
            }
            Some(Runtime::ThreadNumber) => return of_number(truth_of(holds), 0).map(|f| (f, id)),
            Some(_) => return None,
            None => {}
        }
        match &inst.op {
            Op::Compare(_) | Op::Binary(_) | Op::Phi(_) | Op::Select => {
                self.fact(value, holds, depth).or_else(|| self.of_flag(value, holds))
            }
            Op::Atomic(_) => Some((Fact::Sees, id)),
            Op::Load(_) if self.is_flag_of_main(inst.args[0]) => {
                Some((if holds { Fact::Main } else { Fact::NotNumber(0) }, id))
            }
            Op::Call(Callee::Direct(callee)) => match self.constant(*callee) {
                Some(number) if (number != 0) != holds => Some((Fact::Never, id)),
                _ => self.of_flag(value, holds),
            },
            _ => self.of_flag(value, holds),
        }
    }

    /// A thread's own flag may be set for one thread only.
    fn of_flag(&self, value: Value, holds: bool) -> Option<(Fact, InstId)> {
        match self.divergence.get(self.function, value) {
            Divergence::Number => of_number(truth_of(holds), 0).map(|fact| (fact, HERE)),
            Divergence::Different => Some((Fact::Number(None), HERE)),
            Divergence::Same | Divergence::Iteration => None,
        }
    }

    /// Comparisons of what the runtime says with a number.
    fn of_runtime(&self, how: Compare, left: Value, number: i64) -> Option<(Fact, InstId)> {
        let Value::Inst(id) = self.without_casts(left) else { return None };
        let asked = runtime(self.program, &self.body[id])?;
        let least = match how {
            Compare::Greater => Some(number + 1),
            Compare::GreaterOrEqual => Some(number),
            _ => None,
        };
        let most = match how {
            Compare::Less => Some(number - 1),
            Compare::LessOrEqual => Some(number),
            _ => None,
        };
        let is = |wanted| how == Compare::Equal && number == wanted;
        match asked {
            // The only thread is the first.
            Runtime::TeamSize if is(1) || most.is_some_and(|most| most <= 1) => {
                Some((Fact::Number(Some(0)), id))
            }
            Runtime::InParallel if is(0) || most == Some(0) => Some((Fact::InParallel(false), id)),
            Runtime::InParallel if is(1) || least == Some(1) => Some((Fact::InParallel(true), id)),
            // Some runtimes' answers are compared with 1.
            Runtime::Enter(scope) if is(1) => Some((Fact::Enters(scope), id)),
            Runtime::TryLock { lock, zero: false } if is(1) => Some((Fact::Locks(lock, true), id)),
            _ => None,
        }
    }

    fn without_casts(&self, mut value: Value) -> Value {
        while let Value::Inst(id) = value {
            match (&self.body[id].op, &*self.body[id].args) {
                (Op::Cast, [inner]) => value = *inner,
                _ => break,
            }
        }
        value
    }

    /// Whether a value comes from memory that threads share, read in a way that lets them agree.
    fn is_atomic(&self, value: Value, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Value::Inst(id) = value else { return false };
        let inst = &self.body[id];
        match inst.op {
            Op::Atomic(_) => true,
            Op::Cast | Op::Mix | Op::Binary(_) | Op::Compare(_) => {
                inst.args.iter().any(|arg| self.is_atomic(*arg, depth))
            }
            _ => false,
        }
    }

    /// Whether `MPI_Is_thread_main` has written there.
    fn is_flag_of_main(&self, address: Value) -> bool {
        let writes = |inst| self.mpi.at(inst).is_some_and(|mpi| mpi.name == "MPI_Is_thread_main");
        self.body.code.iter().any(|inst| writes(inst) && inst.args.first() == Some(&address))
    }

    /// What a function always returns.
    fn constant(&self, function: FunctionId) -> Option<i64> {
        let body = self.program[function].body.as_ref()?;
        let mut results = body.code.iter().filter(|inst| inst.op == Op::Return).map(|inst| {
            match inst.args.first() {
                Some(Value::Int(number)) => Some(*number),
                _ => None,
            }
        });
        let first = results.next()??;
        results.all(|other| other == Some(first)).then_some(first)
    }
}

/// Stands for the instruction that is looked at.
const HERE: InstId = InstId(u32::MAX);

/// `!= 0`, or not.
fn truth_of(holds: bool) -> Compare {
    if holds { Compare::NotEqual } else { Compare::Equal }
}

/// What a comparison of the thread's number, which is not negative, says.
fn of_number(how: Compare, number: i64) -> Option<Fact> {
    match how {
        Compare::Equal => Some(Fact::Number(Some(number))),
        Compare::NotEqual => Some(Fact::NotNumber(number)),
        Compare::Less if number == 1 => Some(Fact::Number(Some(0))),
        Compare::LessOrEqual if number == 0 => Some(Fact::Number(Some(0))),
        Compare::Greater if number == 0 => Some(Fact::NotNumber(0)),
        Compare::GreaterOrEqual if number == 1 => Some(Fact::NotNumber(0)),
        _ => None,
    }
}

/// With its operands exchanged.
fn mirrored(how: Compare) -> Compare {
    match how {
        Compare::Less => Compare::Greater,
        Compare::LessOrEqual => Compare::GreaterOrEqual,
        Compare::Greater => Compare::Less,
        Compare::GreaterOrEqual => Compare::LessOrEqual,
        same => same,
    }
}
