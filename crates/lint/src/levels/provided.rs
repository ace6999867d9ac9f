//! The level that MPI has provided, where the program looks at it: a program that asks for a low
//! level and finds a higher one may use it.

use super::Level;
use crate::Calls;
use crate::openmp::{Runtime, runtime};
use commsan_ir::{Body, Callee, Compare, FunctionId, Inst, InstId, Op, Program, Value};
use commsan_mpi_calls::abi::Constants;
use rustc_hash::FxHashSet;

/// A value in a function; global variables belong to none.
type Known = (Option<FunctionId>, Value);

/// The highest level that the program makes sure of, on some way, by comparing what MPI has
/// provided.
pub fn compared(program: &Program, mpi: &Calls, constants: &Constants) -> Option<Level> {
    let mut search =
        Search { program, addresses: seeds(program, mpi), values: FxHashSet::default() };
    while search.pass() {}
    let mut highest = None;
    for (function, _, body) in program.defined() {
        let levels = body.code.iter().filter_map(|inst| search.level(function, inst, constants));
        highest = highest.max(levels.max());
    }
    highest
}

/// Where MPI writes the level.
fn seeds(program: &Program, mpi: &Calls) -> FxHashSet<Known> {
    let mut found = FxHashSet::default();
    for (function, _, body) in program.defined() {
        for inst in &body.code {
            let Some(called) = mpi.at(inst) else { continue };
            let place = match &*called.name {
                "MPI_Init_thread" if called.by_reference => 1,
                "MPI_Init_thread" => 3,
                "MPI_Query_thread" => 0,
                _ => continue,
            };
            found.extend(inst.args.get(place).map(|address| known(function, *address)));
        }
    }
    found
}

fn known(function: FunctionId, value: Value) -> Known {
    let everywhere = matches!(value, Value::Global(..));
    ((!everywhere).then_some(function), value)
}

/// Follows the level through variables and calls.
struct Search<'p> {
    program: &'p Program,
    addresses: FxHashSet<Known>,
    values: FxHashSet<Known>,
}

impl Search<'_> {
    /// Looks through the program; says whether there was anything new.
    fn pass(&mut self) -> bool {
        let before = self.addresses.len() + self.values.len();
        for (function, _, body) in self.program.defined() {
            for index in 0..body.code.len() {
                self.follow(function, body, InstId(index as u32));
            }
        }
        before < self.addresses.len() + self.values.len()
    }

    fn follow(&mut self, function: FunctionId, body: &Body, id: InstId) {
        let inst = &body[id];
        let is = |set: &FxHashSet<Known>, value: Value| set.contains(&known(function, value));
        match (&inst.op, &*inst.args) {
            (Op::Load(_) | Op::Atomic(_), [address, ..]) if is(&self.addresses, *address) => {
                self.values.insert((Some(function), Value::Inst(id)));
            }
            (Op::Store(_), [value, address]) if is(&self.values, *value) => {
                self.addresses.insert(known(function, *address));
            }
            (Op::Cast | Op::Phi(_), args) if args.iter().any(|arg| is(&self.values, *arg)) => {
                self.values.insert((Some(function), Value::Inst(id)));
            }
            (Op::Call(Callee::Direct(callee)), args) => {
                // A team's function gets two numbers first.
                let (callee, args, first) = match runtime(self.program, inst) {
                    Some(Runtime::Fork(Some(entry))) => (entry, args.get(3..), 2),
                    _ => (*callee, Some(args), 0),
                };
                for (arg, number) in args.into_iter().flatten().zip(first..) {
                    let param = (Some(callee), Value::Param(number));
                    if is(&self.values, *arg) {
                        self.values.insert(param);
                    }
                    if is(&self.addresses, *arg) {
                        self.addresses.insert(param);
                    }
                }
            }
            _ => {}
        }
    }

    /// The level that a comparison makes sure of.
    fn level(&self, function: FunctionId, inst: &Inst, constants: &Constants) -> Option<Level> {
        let Op::Compare(how) = inst.op else { return None };
        let level = match *inst.args {
            [value, Value::Int(level)] if self.values.contains(&known(function, value)) => level,
            _ => return None,
        };
        let level = Level::from_constant(constants, level)?;
        match how {
            Compare::Greater | Compare::LessOrEqual => level.next(),
            _ => Some(level),
        }
    }
}
