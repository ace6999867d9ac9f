//! Facts about a program that depend on all of it; computed once.

use crate::Calls;
use commsan_ir::{GlobalId, Program, Value, absolute_address};
use commsan_mpi_calls::abi::handles::{self, Handle, HandleKind};
use commsan_mpi_calls::abi::{Constants, MpiFamily};
use commsan_points_to::mpi::stored;

/// Of a program.
#[derive(Debug)]
pub struct Environment {
    /// The family of libraries that it is for, if handles show it.
    family: Option<MpiFamily>,
    /// The families whose numbers its handles may have, the likeliest first.
    numberings: &'static [MpiFamily],
    /// Whether all of it is known.
    pub whole: bool,
    /// Whether functions run at the same time.
    pub threads: bool,
    /// Whether it has errors returned that end programs otherwise.
    pub handles_errors: bool,
    /// `MPI_REQUEST_NULL`, where that is an address.
    pub null_request: Option<GlobalId>,
}

impl Environment {
    pub fn of(program: &Program, calls: &Calls) -> Environment {
        let function =
            |like: fn(&str) -> bool| program.functions.iter().any(|function| like(&function.name));
        let main = program.function("main");
        let (family, numberings) = family(program, calls);
        Environment {
            family,
            numberings,
            whole: main.is_some_and(|main| program[main].body.is_some()),
            threads: function(starts_threads),
            handles_errors: function(|name| name.ends_with("_set_errhandler")),
            null_request: variable(program, handles::named("MPI_REQUEST_NULL")),
        }
    }

    /// The families of libraries that the program may be for.
    pub fn families(&self) -> &'static [MpiFamily] {
        match self.family {
            Some(MpiFamily::OpenMpi) => &[MpiFamily::OpenMpi],
            Some(MpiFamily::Mpich) => &[MpiFamily::Mpich],
            Some(MpiFamily::Standard) => &[MpiFamily::Standard],
            None => &MpiFamily::ALL,
        }
    }

    /// The family that the program is for: MPICH's where nothing shows it.
    fn assumed(&self) -> MpiFamily {
        self.family.unwrap_or(MpiFamily::Mpich)
    }

    /// The constants of the library that the program is for.
    pub fn constants(&self) -> &'static Constants {
        self.assumed().constants()
    }

    /// Bytes of a handle in memory.
    pub fn handle_bytes(&self, in_fortran: bool) -> i64 {
        const IN_FORTRAN: i64 = 4;
        if in_fortran { IN_FORTRAN } else { self.assumed().handle_bytes() }
    }

    /// The predefined handle of a kind with this number.
    pub fn handle(&self, kind: HandleKind, number: i64) -> Option<&'static Handle> {
        self.numberings.iter().find_map(|family| family.handle(kind, number))
    }

    /// The predefined handle of a kind with this number, except for the numbers of Fortran with
    /// Open MPI, which are so small that variables may hold them before they hold a handle.
    pub fn certain_handle(&self, kind: HandleKind, number: i64) -> Option<&'static Handle> {
        let numberings = self.numberings.iter().filter(|family| **family != MpiFamily::OpenMpi);
        numberings.into_iter().find_map(|family| family.handle(kind, number))
    }

    /// The predefined handle of a kind that a value of C is: an address or a number.
    pub fn handle_of(
        &self,
        program: &Program,
        kind: HandleKind,
        value: Value,
    ) -> Option<&'static Handle> {
        match value {
            Value::Global(id, 0) => {
                predefined(&program[id].name).filter(|handle| handle.kind == kind)
            }
            Value::Int(number) => self.certain_handle(kind, number),
            _ => None,
        }
    }

    /// The number that a predefined handle is, unless it is an address.
    pub fn number(&self, handle: &Handle, in_fortran: bool) -> Option<i64> {
        self.numberings.first()?.number(handle, in_fortran)
    }
}

/// The predefined handle that is the address of a global variable of this name: one of Open MPI's,
/// or a constant of the standard ABI, which no variable is at.
pub fn predefined(name: &str) -> Option<&'static Handle> {
    let of_standard = || handles::of_standard_address(absolute_address(name)?);
    handles::of_variable(name).or_else(of_standard)
}

/// The global variable whose address a predefined handle is.
pub fn variable(program: &Program, handle: &Handle) -> Option<GlobalId> {
    let is_it = |name: &str| predefined(name).is_some_and(|known| known == handle);
    let found = program.globals.iter().position(|global| is_it(&global.name))?;
    Some(GlobalId(found as u32))
}

/// The family of libraries that a program is for, and those whose numbers it has: commsan's
/// `mpi_f08` has MPICH's, with Open MPI, too. Where no handle is seen, a number that is one of
/// MPICH's can hardly be anything else.
fn family(program: &Program, calls: &Calls) -> (Option<MpiFamily>, &'static [MpiFamily]) {
    use MpiFamily::{Mpich, OpenMpi, Standard};
    let is_open_mpi = |name: &str| MpiFamily::of_variable(name) == Some(OpenMpi);
    let open_mpi = program.globals.iter().any(|global| is_open_mpi(&global.name));
    let shown = shown_by_calls(program, calls);
    match (open_mpi, shown) {
        (true, Some(Mpich)) => (Some(OpenMpi), &[Mpich, OpenMpi]),
        (true, _) => (Some(OpenMpi), &[OpenMpi]),
        (false, Some(Standard)) => (shown, &[Standard]),
        (false, _) => (shown, &[Mpich]),
    }
}

/// The family whose predefined handles some call of MPI is given as constants: numbers of MPICH's,
/// or in the place of a handle one of the standard ABI's.
fn shown_by_calls(program: &Program, calls: &Calls) -> Option<MpiFamily> {
    let mut mpich = false;
    for (_, _, body) in program.defined() {
        for inst in &body.code {
            let Some(mpi) = calls.at(inst) else { continue };
            let number = |value: Value| match value {
                Value::Int(number) => Some(number),
                value if mpi.by_reference => stored(program, body, value),
                _ => None,
            };
            let params = mpi.call.iter().flat_map(|call| &call.params);
            let params = params.filter(|param| !mpi.by_reference || param.in_fortran());
            let handles =
                params.zip(&inst.args).filter_map(|(p, arg)| Some((p.role.handle()?, *arg)));
            for (kind, argument) in handles {
                let handle = match argument {
                    Value::Global(id, 0) if !mpi.by_reference => {
                        absolute_address(&program[id].name)
                    }
                    argument => number(argument).filter(|_| mpi.by_reference),
                };
                if handle.is_some_and(|number| MpiFamily::Standard.handle(kind, number).is_some()) {
                    return Some(MpiFamily::Standard);
                }
            }
            let mut numbers = inst.args.iter().filter_map(|arg| number(*arg));
            mpich = mpich || numbers.any(commsan_points_to::is_handle);
        }
    }
    mpich.then_some(MpiFamily::Mpich)
}

/// Whether a function of a library runs functions of the program at the same time.
fn starts_threads(name: &str) -> bool {
    let begins = ["pthread_create", "thrd_create", "_ZNSt6thread", "__kmpc_fork"];
    begins.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use MpiFamily::{Mpich, OpenMpi, Standard};

    /// The environment of a module with this code.
    fn environment(name: &str, code: &str) -> Environment {
        let file = std::env::temp_dir().join(format!("commsan-{}-{name}.ll", std::process::id()));
        std::fs::write(&file, code).expect("is written");
        let program = Program::load(std::slice::from_ref(&file), &[]);
        std::fs::remove_file(&file).expect("was written");
        let program = program.expect("is well formed");
        Environment::of(&program, &Calls::of(&program))
    }

    /// Of a program that sends a message, where handles are pointers.
    fn families(name: &str, arguments: &str) -> &'static [MpiFamily] {
        let code = format!(
            "define i32 @main(ptr %any) {{
               %1 = call i32 @MPI_Send({arguments})
               ret i32 0
             }}
             declare i32 @MPI_Send(ptr, i32, ptr, i32, i32, ptr)"
        );
        environment(name, &code).families()
    }

    #[test]
    fn handles_show_the_family() {
        let send = "ptr %any, i32 257, ptr inttoptr (i64 521 to ptr), i32 1, i32 0, ptr %any";
        assert_eq!(families("standard", send), [Standard]);
        let variable =
            "@ompi_mpi_comm_world = external global i8\n@comm = global ptr @ompi_mpi_comm_world";
        assert_eq!(environment("open_mpi", variable).families(), [OpenMpi]);
    }

    #[test]
    fn small_numbers_are_no_handles() {
        let send = "ptr inttoptr (i64 257 to ptr), i32 257, ptr %any, i32 521, i32 256, ptr %any";
        assert_eq!(families("unknown", send), MpiFamily::ALL);
        // A datatype in place of the communicator.
        let send = "ptr %any, i32 257, ptr %any, i32 1, i32 0, ptr inttoptr (i64 521 to ptr)";
        assert_eq!(families("kind", send), MpiFamily::ALL);
    }

    #[test]
    fn mpich_has_numbers() {
        let code = "define i32 @main(ptr %any) {
              %1 = call i32 @MPI_Send(ptr %any, i32 257, i32 1275069445, i32 1, i32 0, i32 257)
              ret i32 0
            }
            declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)";
        let environment = environment("mpich", code);
        assert_eq!(environment.families(), [Mpich]);
        let name = |kind, number| environment.handle(kind, number).map(|handle| handle.name);
        assert_eq!(name(HandleKind::Datatype, 1_275_069_445), Some("MPI_INT"));
        assert_eq!(name(HandleKind::Comm, 257), None);
        assert_eq!(environment.handle_bytes(false), 4);
    }

    #[test]
    fn fortran_has_numbers_of_the_standard() {
        let code = "@world = internal constant i32 257
            define void @steps_(ptr %error) {
              call void @mpi_barrier_(ptr @world, ptr %error)
              ret void
            }
            declare void @mpi_barrier_(ptr, ptr)";
        let environment = environment("fortran", code);
        assert_eq!(environment.families(), [Standard]);
        let name = |kind, number| environment.handle(kind, number).map(|handle| handle.name);
        assert_eq!(name(HandleKind::Comm, 257), Some("MPI_COMM_WORLD"));
        assert_eq!(name(HandleKind::Datatype, 257), None);
        let null = handles::named("MPI_COMM_NULL");
        assert_eq!(environment.number(null, true), Some(256));
        assert_eq!(environment.number(null, false), None);
        assert_eq!((environment.handle_bytes(true), environment.handle_bytes(false)), (4, 8));
    }
}
