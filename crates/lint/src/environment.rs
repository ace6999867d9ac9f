//! Facts about functions that depend on the whole program; computed once.

use crate::Calls;
use commsan_ir::{GlobalId, Program, Value};
use commsan_mpi_calls::abi::handles::{self, Handle, HandleKind};
use commsan_mpi_calls::abi::{Constants, MpiFamily};
use commsan_points_to::mpi::stored;

/// Of a program.
#[derive(Debug)]
pub struct Environment {
    /// Whether it is for Open MPI.
    pub open_mpi: bool,
    /// Whether it has MPICH's handles: those of MPICH, of libraries that share them, and of
    /// commsan's `mpi_f08`. Neither where nothing is known.
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
        let open_mpi =
            global(|name| MpiFamily::of_variable(name) == Some(MpiFamily::OpenMpi)).is_some();
        Environment {
            open_mpi,
            mpich: has_handles(program, calls),
            whole: main.is_some_and(|main| program[main].body.is_some()),
            threads: function(starts_threads),
            handles_errors: function(|name| name.ends_with("_set_errhandler")),
            null_request: global(|name| handles::named("MPI_REQUEST_NULL").open_mpi == Some(name)),
        }
    }

    /// The families of libraries that the program may be for.
    pub fn families(&self) -> &'static [MpiFamily] {
        match (self.open_mpi, self.mpich) {
            (true, _) => &[MpiFamily::OpenMpi],
            (_, true) => &[MpiFamily::Mpich],
            _ => &MpiFamily::ALL,
        }
    }

    /// The constants of the library that the program is for: of MPICH where none is known.
    pub fn constants(&self) -> &'static Constants {
        let family = if self.open_mpi { MpiFamily::OpenMpi } else { MpiFamily::Mpich };
        family.constants()
    }

    /// The predefined handle of a kind with this number: MPICH's, or Open MPI's in Fortran.
    pub fn handle(&self, kind: HandleKind, number: i64) -> Option<&'static Handle> {
        let of_mpich = || handles::of_mpich(kind, number as u32);
        let of_open_mpi = || handles::of_open_mpi_fortran(kind, number as i32);
        let known = self.mpich.then(of_mpich).flatten();
        known.or_else(|| self.open_mpi.then(of_open_mpi).flatten())
    }
}

/// Whether some call of MPI is given a predefined handle of MPICH, by value or, in Fortran, as a
/// constant.
fn has_handles(program: &Program, calls: &Calls) -> bool {
    program.defined().any(|(_, _, body)| {
        body.code.iter().any(|inst| {
            let Some(mpi) = calls.at(inst) else { return false };
            let number = |value: &Value| match *value {
                Value::Int(number) => Some(number),
                value if mpi.by_reference => stored(program, body, value),
                _ => None,
            };
            inst.args.iter().filter_map(number).any(commsan_points_to::is_handle)
        })
    })
}

/// Whether a function of a library runs functions of the program at the same time.
fn starts_threads(name: &str) -> bool {
    let begins = ["pthread_create", "thrd_create", "_ZNSt6thread", "__kmpc_fork"];
    begins.iter().any(|begin| name.starts_with(begin))
}
