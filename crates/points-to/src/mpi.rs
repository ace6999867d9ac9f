//! Recognizes MPI functions by their C and Fortran names.

use commsan_ir::{Body, FunctionId, Inst, Op, Program, Value};
use commsan_mpi_calls::{CALLS, Call, Effect};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// An MPI function of the program.
#[derive(Debug)]
pub struct Mpi {
    /// As the standard writes it for C: `MPI_Send`.
    pub name: String,
    /// Its row in the table of calls, if it has one.
    pub call: Option<&'static Call>,
    /// Whether all arguments are addresses, as in Fortran.
    pub by_reference: bool,
}

/// MPI's functions among those of a program.
#[derive(Debug)]
pub struct Calls {
    known: Vec<Option<Mpi>>,
}

/// Rows by lower-case name.
static ROWS: LazyLock<FxHashMap<String, &'static Call>> = LazyLock::new(|| {
    CALLS
        .iter()
        .filter(|call| call.effect != Effect::Bare)
        .map(|call| (call.name.to_lowercase(), call))
        .collect()
});

impl Calls {
    /// Looks at all names.
    pub fn of(program: &Program) -> Calls {
        // What the program defines itself is its own.
        let known = program.functions.iter().map(|f| Mpi::of(&f.name).filter(|_| f.body.is_none()));
        Calls { known: known.collect() }
    }

    /// The MPI function that an instruction calls.
    pub fn at(&self, inst: &Inst) -> Option<&Mpi> {
        match inst.op {
            Op::Call(commsan_ir::Callee::Direct(callee)) => self.get(callee),
            _ => None,
        }
    }

    /// The MPI function that a function is.
    pub fn get(&self, function: FunctionId) -> Option<&Mpi> {
        self.known[function.0 as usize].as_ref()
    }
}

impl Mpi {
    /// From a name as linkers know it.
    fn of(name: &str) -> Option<Mpi> {
        let profiled = name.strip_prefix('P').filter(|rest| rest.starts_with("MPI_"));
        if let Some(name) = profiled.or(Some(name)).filter(|name| name.starts_with("MPI_")) {
            let call = ROWS.get(&name.to_lowercase()).copied();
            return Some(Mpi { name: name.to_owned(), call, by_reference: false });
        }
        let lower = name.strip_prefix('p').filter(|rest| rest.starts_with("mpi_"));
        let lower = lower.unwrap_or(name);
        let lower = lower.strip_prefix("mpi_")?.strip_suffix('_')?.trim_end_matches('_');
        // As Open MPI and MPICH call those of their module `mpi_f08`.
        let specific = ["_f08", "_f08ts"].iter().find_map(|end| lower.strip_suffix(end));
        let large = ["_f08_large", "_f08ts_large"].iter().find_map(|end| lower.strip_suffix(end));
        let large = large.map(|name| format!("{name}_c"));
        let lower = large.as_deref().or(specific).unwrap_or(lower);
        let call = ROWS.get(&format!("mpi_{lower}")).copied();
        let first = lower.chars().next()?.to_ascii_uppercase();
        let name = call.map_or_else(|| format!("MPI_{first}{}", &lower[1..]), |c| c.name.clone());
        Some(Mpi { name, call, by_reference: true })
    }

    /// The integer that a call passes as argument `index`, if that is a constant.
    pub fn integer(
        &self,
        program: &Program,
        body: &Body,
        inst: &Inst,
        index: usize,
    ) -> Option<i64> {
        let argument = *inst.args.get(index)?;
        match argument {
            _ if self.by_reference => stored(program, body, argument),
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    /// Whether any thread may call it at any time, whatever the thread level (MPI 4.1 §11.6):
    /// asking how things are, reading the clock; and ending the program, for whatever it is worth
    /// then.
    pub fn is_free_of_levels(&self) -> bool {
        matches!(
            &*self.name,
            "MPI_Initialized"
                | "MPI_Finalized"
                | "MPI_Query_thread"
                | "MPI_Is_thread_main"
                | "MPI_Get_version"
                | "MPI_Get_library_version"
                | "MPI_Wtime"
                | "MPI_Wtick"
                | "MPI_Abort"
        )
    }
}

/// The constant at an address: of a variable that only this constant is ever stored to.
pub fn stored(program: &Program, body: &Body, address: Value) -> Option<i64> {
    match address {
        Value::Global(id, at) => {
            let global = &program[id];
            let initial = global.initial.iter().find(|(offset, _)| *offset as i64 == at)?;
            match initial.1 {
                Value::Int(number) if global.constant => Some(number),
                _ => None,
            }
        }
        Value::Inst(id) if matches!(body[id].op, Op::Alloca(_)) => {
            let stores = body.code.iter().filter(|inst| {
                matches!(inst.op, Op::Store(_)) && inst.args.get(1) == Some(&address)
            });
            let mut values = stores.map(|inst| inst.args[0]);
            match (values.next(), values.next()) {
                (Some(Value::Int(number)), None) => Some(number),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_languages_are_recognised() {
        for (name, expected) in [
            ("MPI_Send", "MPI_Send"),
            ("PMPI_Win_lock_all", "MPI_Win_lock_all"),
            ("mpi_isend_", "MPI_Isend"),
            ("pmpi_comm_rank_", "MPI_Comm_rank"),
            ("mpi_file_read_at_all_", "MPI_File_read_at_all"),
            ("mpi_send_f08_", "MPI_Send"),
            ("mpi_send_f08ts_", "MPI_Send"),
            ("pmpi_send_f08ts_large_", "MPI_Send_c"),
        ] {
            assert_eq!(Mpi::of(name).expect("is MPI's").name, expected);
        }
        for name in ["mpi_wrapper", "MPIX", "PMP", "send", "p"] {
            assert!(Mpi::of(name).is_none(), "{name}");
        }
    }
}
