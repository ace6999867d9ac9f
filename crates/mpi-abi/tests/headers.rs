//! The tables against the `mpi.h` of the installed MPI libraries, as their `mpicc` compiles it.

use commsan_mpi_abi::MpiFamily;
use commsan_mpi_abi::handles::HANDLES;
use std::collections::HashMap;
use std::fmt::Write;
use std::process::Command;

/// Values of C expressions, as the family's compiler wrapper and library have them. Those with a
/// macro are left out where it is not defined.
fn values(family: MpiFamily, expressions: &[(Option<&str>, &str)]) -> HashMap<String, i64> {
    let directory = tempfile::tempdir().unwrap();
    let (source, program) = (directory.path().join("print.c"), directory.path().join("print"));
    let mut text =
        "#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for (defined, expression) in expressions {
        let print = format!("printf(\"%ld=%s\\n\", (long)({expression}), \"{expression}\");");
        let _ = match defined {
            Some(defined) => writeln!(text, "#ifdef {defined}\n{print}\n#endif"),
            None => writeln!(text, "{print}"),
        };
    }
    text += "return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let wrapper = format!("mpicc.{}", family.key());
    let compiled = Command::new(&wrapper).arg("-w").arg(&source).arg("-o").arg(&program).output();
    let compiled = compiled.unwrap_or_else(|e| panic!("{wrapper}: {e}"));
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = Command::new(&program).output().unwrap();
    let lines = String::from_utf8(printed.stdout).unwrap();
    lines
        .lines()
        .map(|line| {
            let (value, expression) = line.split_once('=').unwrap();
            (expression.to_owned(), value.parse().unwrap())
        })
        .collect()
}

#[test]
fn constants_are_those_of_the_headers() {
    for family in MpiFamily::ALL {
        let claims: Vec<_> = family.claims().collect();
        let expressions: Vec<_> =
            claims.iter().map(|(expression, _)| (None, *expression)).collect();
        let values = values(family, &expressions);
        for (expression, value) in claims {
            assert_eq!(values[expression], value, "{family}: {expression}");
        }
    }
}

#[test]
fn mpich_handles_are_those_of_the_header() {
    let handles: Vec<_> = MpiFamily::Mpich.numbered_handles().collect();
    let names: Vec<_> = handles.iter().map(|(handle, _)| (None, handle.name)).collect();
    let values = values(MpiFamily::Mpich, &names);
    for (handle, number) in handles {
        assert_eq!(values[handle.name], i64::from(number.cast_signed()), "{}", handle.name);
    }
}

#[test]
fn open_mpi_handles_are_addresses_of_these_variables() {
    // The header of Open MPI 4 refuses what MPI 3.0 has removed; it may lack types of Fortran.
    let handles = HANDLES.iter().filter(|handle| !["LB", "UB"].contains(&handle.bare_name()));
    let handles = handles.filter_map(|handle| Some((handle.name, handle.open_mpi?)));
    let expressions: Vec<_> = handles
        .map(|(name, variable)| (name, format!("(char *){name} == (char *)&{variable}")))
        .collect();
    let expressions: Vec<_> =
        expressions.iter().map(|(name, text)| (Some(*name), &**text)).collect();
    let values = values(MpiFamily::OpenMpi, &expressions);
    assert!(values.len() > 90, "{}", values.len());
    for (expression, holds) in values {
        assert_eq!(holds, 1, "{expression}");
    }
}

#[test]
fn open_mpi_fortran_numbers_are_those_of_the_header() {
    let shown = Command::new("mpicc.openmpi").arg("--showme:incdirs").output().unwrap();
    let directories = String::from_utf8(shown.stdout).unwrap();
    let read = |name: &str| {
        let paths = directories.split_whitespace().map(|place| format!("{place}/{name}"));
        paths.filter_map(|path| std::fs::read_to_string(path).ok()).next().unwrap()
    };
    let header = read("mpif-handles.h") + &read("mpif-io-handles.h");
    let parameter = |line: &str| {
        let (name, value) =
            line.trim().strip_prefix("parameter (")?.strip_suffix(')')?.split_once('=')?;
        Some((name.to_owned(), value.parse::<i32>().ok()?))
    };
    let mut numbers: HashMap<_, _> = header.lines().filter_map(parameter).collect();
    assert!(numbers.len() > 100);
    for handle in &HANDLES {
        assert_eq!(handle.open_mpi_fortran, numbers.remove(handle.name), "{}", handle.name);
    }
    // Obsolete in every library.
    numbers.retain(|name, _| name != "MPI_REAL2");
    assert!(numbers.is_empty(), "missing in the table: {numbers:?}");
}
