//! Generates module `mpi_f08`, and interfaces for `mpi`, for flang, which cannot read a library's
//! own module that another compiler has compiled.
//!
//! Handles are derived types. Predefined ones have MPICH's numbers, whatever the library: analyses
//! recognise those anywhere, while Open MPI's numbers are small and differ in meaning for each kind
//! of handle. Procedures are those of `mpif.h`: they accept arguments of any type, rank and kind by
//! address, with names for keywords, and `ierror` is optional. This suffices to analyse a program,
//! not to run it: the library requires `ierror`.

use commsan_mpi_calls::abi::handles::HANDLES as PREDEFINED;
use commsan_mpi_calls::{CALLS, Role};
use std::fmt::Write;

/// Arguments of all procedures.
const PROCEDURES: &str = include_str!("mpi_f08/procedures.txt");

/// Interfaces of callback functions that programs define (MPI 4.1 §A.4).
const CALLBACKS: &str = include_str!("mpi_f08/callbacks.f90");

/// Types of handles, with prefixes or suffixes of the names of their constants. All other constants
/// of handles are datatypes.
const HANDLES: [(&str, &[&str]); 11] = [
    ("Comm", &["comm_world", "comm_self", "comm_null"]),
    ("Datatype", &["datatype_null"]),
    ("Errhandler", &["errhandler_null", "errors_are_fatal", "errors_return", "errors_abort"]),
    ("File", &["file_null"]),
    ("Group", &["group_null", "group_empty"]),
    ("Info", &["info_null", "info_env"]),
    ("Message", &["message_null", "message_no_proc"]),
    ("Op", &OPS),
    ("Request", &["request_null"]),
    ("Session", &["session_null"]),
    ("Win", &["win_null"]),
];

const OPS: [&str; 15] = [
    "op_null", "max", "min", "sum", "prod", "maxloc", "minloc", "band", "bor", "bxor", "land",
    "lor", "lxor", "replace", "no_op",
];

/// Datatypes of Fortran and C whose name is a single word, and first words of the others.
const DATATYPES: [&str; 29] = [
    "aint",
    "byte",
    "char",
    "character",
    "complex",
    "count",
    "double",
    "float",
    "int",
    "integer",
    "lb",
    "logical",
    "long",
    "offset",
    "packed",
    "real",
    "short",
    "ub",
    "unsigned",
    "wchar",
    "2complex",
    "2double",
    "2int",
    "2integer",
    "2real",
    "cxx",
    "c",
    "signed",
    "uint",
];

/// Functions that some `mpif.h` lack, with their types.
const FUNCTIONS: [(&str, &str); 4] = [
    ("mpi_wtime", "real(8)"),
    ("mpi_wtick", "real(8)"),
    ("mpi_aint_add", "integer(8)"),
    ("mpi_aint_diff", "integer(8)"),
];

/// The module's source. `mpi` is flang's module file of `mpif.h`, from which the constants are
/// taken.
pub fn source(mpi: &str) -> String {
    let mut text = "module mpi_f08\n".to_owned();
    // Declarations after the first interface belong to interfaces.
    let declarations = mpi.lines().take_while(|line| *line != "interface");
    let declarations: Vec<_> = declarations.filter_map(|line| line.split_once("::mpi_")).collect();
    let names = declarations.iter().filter(|(kind, _)| !kind.ends_with("parameter"));
    let names: Vec<_> =
        names.map(|(_, rest)| rest.split(['(', '=']).next().unwrap_or(rest)).collect();
    // MPI's sentinels are recognised by address, and predefined callbacks by name.
    for name in &names {
        let _ = writeln!(text, "use mpi, only: mpi_{name}");
    }
    text += "implicit none\n";
    for (name, _) in HANDLES {
        let _ = write!(text, "type, bind(c) :: MPI_{name}\ninteger :: MPI_VAL\nend type\n");
    }
    let constants = declarations.iter().filter(|(kind, _)| kind.ends_with("parameter"));
    let constants: Vec<_> =
        constants.filter_map(|(kind, rest)| Some((*kind, rest.split_once('=')?))).collect();
    status(&mut text, &constants);
    for (kind, (name, value)) in &constants {
        let Some(handle) = handle(name) else {
            let _ = writeln!(text, "{kind}::mpi_{name}={value}");
            continue;
        };
        let mut known = PREDEFINED.iter().filter(|h| h.bare_name().eq_ignore_ascii_case(name));
        // A handle that MPICH lacks has the library's number. Fortran integers are signed.
        let number = known
            .find_map(|handle| handle.mpich)
            .map_or_else(|| (*value).to_owned(), |n| n.cast_signed().to_string());
        let _ =
            writeln!(text, "type(MPI_{handle}), parameter :: mpi_{name} = MPI_{handle}({number})");
    }
    for (name, kind) in FUNCTIONS {
        if !names.contains(&name.trim_start_matches("mpi_")) {
            let _ = writeln!(text, "procedure({kind}) :: {name}");
        }
    }
    text += CALLBACKS;
    for (name, arguments) in procedures() {
        overloaded(&mut text, name, &arguments);
    }
    comparisons(&mut text);
    text
}

/// The type of handle that a constant has; `None` if it is no handle.
fn handle(name: &str) -> Option<&'static str> {
    let found = HANDLES.iter().find(|(_, names)| names.contains(&name));
    let first =
        name.split('_').next().unwrap_or(name).trim_end_matches(|c: char| c.is_ascii_digit());
    let is_datatype = DATATYPES.contains(&first) && !name.ends_with("_kind");
    found.map(|(handle, _)| *handle).or_else(|| is_datatype.then_some("Datatype"))
}

/// Writes the type of statuses, with the fields at the library's offsets.
fn status(text: &mut String, constants: &[(&str, (&str, &str))]) {
    let number = |wanted: &str| {
        let (_, (_, value)) = constants.iter().find(|(_, (name, _))| *name == wanted)?;
        value.split('_').next()?.parse::<usize>().ok()
    };
    *text += "type, bind(c) :: MPI_Status\n";
    for place in 1..=number("status_size").unwrap_or(6) {
        let part = ["source", "tag", "error"].iter().find(|part| number(part) == Some(place));
        let _ = match part {
            Some(part) => writeln!(text, "integer :: MPI_{part}"),
            None => writeln!(text, "integer :: other_{place}"),
        };
    }
    *text += "end type\n";
}

/// All procedures with the names of their arguments.
fn procedures() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    PROCEDURES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (name, arguments) = line.strip_suffix(')')?.split_once('(')?;
        Some((name, arguments.split(", ").filter(|argument| !argument.is_empty()).collect()))
    })
}

/// Interfaces for module `mpi` of the procedures that it lacks.
pub fn interfaces(mpi: &str) -> String {
    let mut text = "interface\n".to_owned();
    for (name, arguments) in procedures() {
        let lower = format!("mpi_{}", name.to_lowercase());
        let is_there = |line: &str| {
            ["::", "interface ", "subroutine "].iter().any(|before| {
                let mut parts = line.split(before).skip(1);
                parts.any(|rest| rest.split('(').next() == Some(&*lower))
            })
        };
        if !mpi.lines().any(is_there) {
            let arguments: Vec<_> =
                arguments.into_iter().map(|argument| (argument, None)).collect();
            procedure(&mut text, name, &arguments);
        }
    }
    text + "end interface\n"
}

/// Writes the interface of one procedure, or of two if there is a large-count variant.
fn overloaded(text: &mut String, name: &str, arguments: &[&'static str]) {
    let call = |suffix: &str| {
        let name = format!("MPI_{name}{suffix}");
        CALLS.iter().find(|call| call.name == name)
    };
    let params = call("").iter().flat_map(|call| &call.params).collect::<Vec<_>>();
    let counts = params.iter().filter(|param| param.in_fortran()).map(|param| {
        matches!(param.role, Role::Count | Role::Counts | Role::Displs) || param.name == "disp_unit"
    });
    let counts: Vec<_> = counts.collect();
    // The kinds of counts distinguish the two.
    let has_twin = call("_c").is_some() && counts.contains(&true);
    let _ = writeln!(text, "interface MPI_{name}");
    for (suffix, kind) in [("", 4), ("_c", 8)] {
        if suffix == "_c" && !has_twin {
            continue;
        }
        let kinds = counts.iter().map(|is_count| (*is_count && has_twin).then_some(kind));
        let kinds = kinds.chain(std::iter::repeat(None));
        let arguments: Vec<_> = arguments.iter().copied().zip(kinds).collect();
        procedure(text, &format!("{name}{suffix}"), &arguments);
    }
    *text += "end interface\n";
}

/// Writes the interface of one procedure; some arguments require integers of certain kinds.
fn procedure(text: &mut String, name: &str, arguments: &[(&'static str, Option<u32>)]) {
    let plain = |argument: &'static str| argument.trim_end_matches(['$', '&']);
    let names: Vec<_> = arguments.iter().map(|(argument, _)| plain(argument)).collect();
    let list: String = names.iter().map(|name| format!("{name}, &\n")).collect();
    let _ = writeln!(text, "subroutine MPI_{name}( &\n{list}ierror)");
    for ((argument, kind), name) in arguments.iter().zip(&names) {
        // The letters of `ignore_tkr` are the properties that may differ.
        let (letters, declaration) = match (argument.chars().last(), kind) {
            (Some('&'), _) => ("", format!("external :: {name}")),
            (Some('$'), _) => ("", format!("character(*) :: {name}")),
            (_, Some(kind)) => ("(r)", format!("integer({kind}) :: {name}")),
            _ => ("(tkr)", format!("type(*) :: {name}(*)")),
        };
        let _ = writeln!(text, "{declaration}");
        if !letters.is_empty() {
            let _ = writeln!(text, "!dir$ ignore_tkr {letters} {name}");
        }
    }
    *text += "integer, optional :: ierror\n!dir$ ignore_tkr (tkr) ierror\nend subroutine\n";
}

/// Writes comparison operators of handles.
fn comparisons(text: &mut String) {
    const OPERATORS: [(&str, &str); 2] = [("eq", "=="), ("ne", "/=")];
    for (name, operator) in OPERATORS {
        let _ = writeln!(text, "interface operator({operator})");
        for (handle, _) in HANDLES {
            let _ = writeln!(text, "module procedure {handle}_{name}");
        }
        *text += "end interface\n";
    }
    // The sentinel shows for which library the module is.
    *text += "contains\ninteger function sentinel()\nsentinel = MPI_BOTTOM\nend function\n";
    for (handle, _) in HANDLES {
        for (name, operator) in OPERATORS {
            let _ = writeln!(
                text,
                "elemental logical function {handle}_{name}(a, b)\n\
                 type(MPI_{handle}), intent(in) :: a, b\n\
                 {handle}_{name} = a%MPI_VAL {operator} b%MPI_VAL\n\
                 end function"
            );
        }
    }
    *text += "end module\n";
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_mpi_calls::Effect;

    #[test]
    fn constants_have_the_types_of_their_handles() {
        for (name, expected) in [
            ("comm_world", Some("Comm")),
            ("sum", Some("Op")),
            ("request_null", Some("Request")),
            ("double_precision", Some("Datatype")),
            ("real8", Some("Datatype")),
            ("uint64_t", Some("Datatype")),
            ("2integer", Some("Datatype")),
            ("c_bool", Some("Datatype")),
            ("count", Some("Datatype")),
            ("integer_kind", None),
            ("comm_type_shared", None),
            ("count_kind", None),
            ("offset_kind", None),
            ("any_source", None),
            ("win_base", None),
            ("max_object_name", None),
        ] {
            assert_eq!(handle(name), expected, "{name}");
        }
    }

    #[test]
    fn arguments_are_those_of_the_table_of_calls() {
        for (name, arguments) in procedures() {
            let name = format!("MPI_{name}");
            let Some(call) = CALLS.iter().find(|call| call.name == name) else { continue };
            if call.effect == Effect::Bare {
                continue;
            }
            let params: Vec<_> = call.params.iter().filter(|param| param.in_fortran()).collect();
            assert_eq!(arguments.len(), params.len(), "{name}");
            for (argument, param) in arguments.iter().zip(&params) {
                let is_text = !argument.ends_with('$') || param.role == Role::Text;
                assert!(is_text, "{name}: {argument}");
            }
        }
    }
}
