//! The tables against the `mpi.h` of the installed MPI libraries, as their `mpicc` compiles it.

use commsan_mpi_abi::MpiFamily;
use commsan_mpi_abi::handles::HANDLES;
use commsan_mpi_abi::prototypes;
use std::collections::HashMap;
use std::fmt::Write;
use std::process::Command;

/// The compiler wrapper of a family: `COMMSAN_MPIABI_CC` and the like, or Debian's.
fn wrapper(family: MpiFamily) -> String {
    let variable = format!("COMMSAN_{}_CC", family.key().to_uppercase());
    std::env::var(variable).unwrap_or_else(|_| format!("mpicc.{}", family.key()))
}

/// The families to test: of the standard ABI the distribution has no library.
fn installed() -> impl Iterator<Item = MpiFamily> {
    let is_there = |family: &MpiFamily| {
        *family != MpiFamily::Standard || std::env::var_os("COMMSAN_MPIABI_CC").is_some()
    };
    MpiFamily::ALL.into_iter().filter(is_there)
}

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
    let wrapper = wrapper(family);
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
    // Of MPI 4.1.
    const NEW: &str = "MPI_BUFFER_AUTOMATIC";
    for family in installed() {
        let claims: Vec<_> = family.claims().collect();
        let guarded =
            |expression: &'static str| (expression.contains(NEW).then_some(NEW), expression);
        let expressions: Vec<_> =
            claims.iter().map(|(expression, _)| guarded(expression)).collect();
        let values = values(family, &expressions);
        for (expression, value) in claims {
            let found = values.get(expression).copied();
            let is_lacking = found.is_none() && expression.contains(NEW);
            assert!(is_lacking || found == Some(value), "{family}: {expression}: {found:?}");
        }
    }
}

#[test]
fn numbers_of_handles_are_those_of_the_headers() {
    for family in installed() {
        let handles: Vec<_> = family.numbered_handles().collect();
        let names: Vec<_> = handles.iter().map(|(handle, _)| (None, handle.name)).collect();
        let values = values(family, &names);
        for (handle, number) in handles {
            assert_eq!(values[handle.name], i64::from(number.cast_signed()), "{}", handle.name);
        }
    }
}

/// Calls with arguments of the prototypes' types compile, and no call is missing.
#[test]
fn prototypes_are_those_of_the_headers() {
    for family in installed() {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("calls.c");
        let header = "#include <mpi.h>\n#ifdef OPEN_MPI\n#include <mpi-ext.h>\n#endif\n";
        std::fs::write(&source, header).unwrap();
        let compile = |options: &[&str]| {
            let mut command = Command::new(wrapper(family));
            // What the standard has removed is declared all the same.
            command.args(["-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-DOMPI_SKIP_MPICXX"]);
            command.args(options).arg(&source).output().unwrap()
        };
        let text = String::from_utf8(compile(&["-E", "-P"]).stdout).unwrap();
        let declared = |name: &str| {
            let found = text.match_indices(name).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
                is_whole && text[at + name.len()..].trim_start().starts_with('(')
            });
            // What it refuses to compile is declared by a message.
            let refused = text.contains(&format!("{name} was removed"));
            found && !refused
        };
        let all: Vec<_> =
            prototypes::prototypes().filter(|prototype| declared(prototype.name)).collect();
        assert!(all.len() > 350, "{family}: {}", all.len());
        let mut program = header.to_owned();
        for prototype in &all {
            let typed = |c: &str| match c {
                "fn" => "0".to_owned(),
                c => format!("*({c}*)p"),
            };
            let arguments: Vec<_> = prototype.parameters().map(typed).collect();
            let (name, arguments) = (prototype.name, arguments.join(", "));
            writeln!(program, "void call_{name}(void *p) {{ (void){name}({arguments}); }}")
                .unwrap();
        }
        std::fs::write(&source, program).unwrap();
        let errors =
            ["-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-Wconversion"];
        let options = ["-w", "-Wno-discarded-qualifiers", "-fsyntax-only"];
        let done = compile(&[&options[..], &errors].concat());
        let shown = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && !shown.contains("[-Wconversion]"), "{family}: {shown}");
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
