//! The C prototypes of the calls of all versions of the standard, and of extensions: what makes
//! entry points without any library's `mpi.h`.
//!
//! The types of the parameters are those of the standard's C bindings (MPI 5.0 annex A.3), which
//! all ABIs share; only the representation of handles and of `MPI_Status` differs.

/// The table, see its first lines.
static TABLE: &str = include_str!("prototypes.txt");

/// The prototype of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// The name: `MPI_Send`.
    pub name: &'static str,
    /// The type of the result, in C.
    pub result: &'static str,
    parameters: &'static str,
}

impl Prototype {
    /// The types of the parameters in C, `const void*` for example; `fn` is any function pointer.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty())
    }

    fn of_line(line: &'static str) -> Option<Prototype> {
        let (head, parameters) = line.strip_suffix(')')?.split_once('(')?;
        let (result, name) = head.rsplit_once(' ').unwrap_or(("int", head));
        Some(Prototype { name, result, parameters })
    }
}

/// All prototypes, in the order of the table.
pub fn prototypes() -> impl Iterator<Item = Prototype> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(Prototype::of_line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_line_is_a_prototype_and_no_name_comes_twice() {
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(prototypes().count(), lines.count());
        let names: HashSet<_> = prototypes().map(|prototype| prototype.name).collect();
        assert_eq!(names.len(), prototypes().count());
        assert!(names.len() > 600, "MPI 5.0 has more than 600 calls");
        for name in names {
            assert!(name.starts_with("MPI_") || name.starts_with("MPIX_"), "{name}");
        }
    }

    #[test]
    fn parts_are_found() {
        let of = |name| prototypes().find(|prototype| prototype.name == name).unwrap();
        let send = of("MPI_Send");
        assert_eq!(send.result, "int");
        let types: Vec<_> = send.parameters().collect();
        assert_eq!(types, ["const void*", "int", "MPI_Datatype", "int", "int", "MPI_Comm"]);
        assert_eq!(of("MPI_Finalize").parameters().count(), 0);
        assert_eq!(of("MPI_Comm_f2c").result, "MPI_Comm");
        assert_eq!(of("MPI_Wtime").result, "double");
    }

    #[test]
    fn twins_for_large_counts_have_as_many_parameters() {
        let mut twins = 0;
        for large in prototypes() {
            let Some(name) = large.name.strip_suffix("_c") else { continue };
            let Some(small) = prototypes().find(|small| small.name == name) else { continue };
            // Those about the contents of datatypes have one more kind of arguments.
            let more = match name.contains("_get_contents") || name.contains("_get_envelope") {
                true => 1..3,
                false => 0..1,
            };
            let difference = large.parameters().count() - small.parameters().count();
            assert!(more.contains(&difference), "{name}");
            twins += 1;
        }
        assert!(twins > 100, "{twins}");
    }
}
