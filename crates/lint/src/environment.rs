//! What the whole program tells about each of its functions; looked up once.

use crate::{Calls, memory};
use commsan_ir::{GlobalId, Program, Value};

/// Of a program.
#[derive(Debug)]
pub struct Environment {
    /// Whether it is for Open MPI.
    pub open_mpi: bool,
    /// Whether it is for MPICH, or another library with its handles. Neither where nothing tells.
    pub mpich: bool,
    /// Whether all of it is known.
    pub whole: bool,
    /// Whether functions run at the same time.
    pub threads: bool,
    /// Whether it has errors returned that end programs otherwise.
    pub handles_errors: bool,
    /// Open MPI's `MPI_REQUEST_NULL`.
    pub null_request: Option<GlobalId>,
}

impl Environment {
    pub fn of(program: &Program, calls: &Calls) -> Environment {
        let global = |like: fn(&str) -> bool| {
            let found = program.globals.iter().position(|global| like(&global.name));
            found.map(|number| GlobalId(number as u32))
        };
        let function =
            |like: fn(&str) -> bool| program.functions.iter().any(|function| like(&function.name));
        let main = program.function("main");
        let open_mpi = global(is_open_mpi).is_some();
        Environment {
            open_mpi,
            mpich: !open_mpi && has_handles(program, calls),
            whole: main.is_some_and(|main| program[main].body.is_some()),
            threads: function(starts_threads),
            handles_errors: function(|name| name.ends_with("_set_errhandler")),
            null_request: global(|name| name == "ompi_request_null"),
        }
    }
}

fn is_open_mpi(name: &str) -> bool {
    let begins = ["ompi_mpi_", "ompi_request_", "mpi_fortran_"];
    begins.iter().any(|begin| name.starts_with(begin))
}

/// Whether some call of MPI is given a predefined handle of MPICH, by value or, in Fortran, as a constant.
fn has_handles(program: &Program, calls: &Calls) -> bool {
    let is_handle =
        |value: &Value| match *value {
            Value::Int(number) => memory::is_handle(number),
            Value::Global(id, 0) => program[id].constant
                && program[id].initial.iter().any(
                    |(_, value)| matches!(value, Value::Int(number) if memory::is_handle(*number)),
                ),
            _ => false,
        };
    program.defined().any(|(_, _, body)| {
        let mut code = body.code.iter().filter(|inst| calls.at(inst).is_some());
        code.any(|inst| inst.args.iter().any(is_handle))
    })
}

/// Whether a function of a library runs functions of the program at the same time.
fn starts_threads(name: &str) -> bool {
    let begins = ["pthread_create", "thrd_create", "_ZNSt6thread", "__kmpc_fork"];
    begins.iter().any(|begin| name.starts_with(begin))
}
