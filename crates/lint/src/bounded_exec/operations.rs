//! Reductions of the program's own that do not ask how many elements they are given (CS-BUF-09).
//!
//! **Soundness.** A library calls such a function for as many elements of a message as it likes
//! (MPI 4.1 §6.9.5). One that never uses its length, but a vector, reads or writes others than it
//! was given whenever that is not the number it assumes, or leaves some out: only for a single
//! element there is no choice. **Missed**: a length that is used, but not to bound what is
//! accessed; counts that the execution does not know; operations of Fortran's `mpi_f08`.

use super::Job;
use super::asked::Asked;
use super::store::{Datum, Kind};
use commsan_findings::{Code, Role};
use commsan_ir::{FunctionId, Value};

/// Parameters of `MPI_User_function`.
const VECTORS: [u32; 2] = [0, 1];
const LENGTH: u32 = 2;

impl<'p> Job<'_, 'p> {
    /// `MPI_Op_create`: the operation is that of a function.
    pub fn make_operation(&mut self, asked: &Asked) {
        let made = match asked.raw(self, "user_fn") {
            Datum::Function(function) => Datum::Handle(Kind::Operation, function.0),
            _ => Datum::Unknown,
        };
        self.answer(asked, "op_out", made);
    }

    /// Looks at the operation of a reduction.
    pub fn check_operation(&mut self, asked: &Asked<'p>) {
        if !asked.has("op") || !asked.has("count") {
            return;
        }
        let Datum::Handle(Kind::Operation, function) = asked.datum(self, "op") else { return };
        let Some(count) = asked.number(self, "count").filter(|count| *count > 1) else { return };
        let function = &self.text.program[FunctionId(function)];
        let Some(body) = &function.body else { return };
        let uses = |param: u32| {
            let all = body.block_ids().flat_map(|block| body.instructions(block));
            all.into_iter().any(|(_, inst)| inst.args.contains(&Value::Param(param)))
        };
        if uses(LENGTH) || !VECTORS.into_iter().any(uses) {
            return;
        }
        let name = &asked.mpi.name;
        let spot = format!("{name} calls `{}` for some of {count} elements", function.name);
        let spots = vec![(asked.rank, asked.place, Role::Operation, spot)];
        let message = format!("`{}` does not ask how many elements {name} gives it", function.name);
        let why = format!(
            "libraries call an operation for parts of a message, of as many elements as they like; this one is \
             called with {count} elements in all {}",
            self.with()
        );
        let help = "loop over `*len` elements; for an operation on whole arrays make a datatype of the array, and \
                    reduce one element of it";
        self.add(Code::OperationOversteps, spots, message, why, help);
    }
}
