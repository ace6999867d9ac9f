//! Places of real executables, from the rank's log to the finding.

use commsan_model::{Code, Finding, Frame, Role};
use commsan_report::{Options, Report};
use commsan_trace::record::{Module, RawAccess, RawFinding, RawOperation, RawSite, Start};
use commsan_trace::{Record, RunDirectory, writer};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `tests/data/<source>` into `directory`.
fn compile(directory: &Path, compiler: &str, source: &str, flags: &[&str]) -> PathBuf {
    let executable = directory.join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(source);
    let mut command = Command::new(compiler);
    let status =
        command.current_dir(directory).args(flags).arg(source).arg("-o").arg(&executable).status();
    assert!(status.expect("the compiler starts").success());
    executable
}

/// Link-time address of a symbol, from `nm`.
fn address(executable: &Path, symbol: &str) -> u64 {
    let output = Command::new("nm").arg(executable).output().expect("nm starts");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.split(' ').next_back() == Some(symbol));
    let line = line.unwrap_or_else(|| panic!("`{symbol}` is not in\n{text}"));
    u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
}

/// The report of a run of `executable` whose rank saw a finding at `places`, each a call stack.
fn report(directory: &Path, executable: &Path, places: &[&[u64]]) -> Report {
    let run = RunDirectory::create(directory, executable).unwrap();
    let program = executable.to_string_lossy();
    let sites: Vec<_> = places
        .iter()
        .zip([Role::Access, Role::Operation])
        .map(|(addresses, role)| RawSite {
            role,
            call: None,
            thread: 0,
            frames: addresses.iter().map(|&address| (3, address)).collect::<Vec<_>>().into(),
            rank: None,
            reference: None,
        })
        .collect();
    let mut log = std::fs::File::create(run.rank_log(0)).unwrap();
    for record in [
        Record::Start(Start {
            version: 1,
            rank: 0,
            size: 1,
            pid: 1,
            host: "node".into(),
            mpi: "MPICH 4.0.2".into(),
            program: program.clone(),
            instrumented: true,
        }),
        Record::Module(Module { id: 3, path: program }),
        Record::Finding(RawFinding {
            id: 0,
            code: Code::SendBufferWritten,
            access: Some(RawAccess {
                by: "store".into(),
                write: true,
                addr: 0,
                size: 4,
                peer: None,
            }),
            operation: RawOperation {
                call: "MPI_Isend".into(),
                write: false,
                addr: 0,
                size: 8,
                bytes: 8,
                peer: None,
                tag: None,
                window: None,
                base: None,
            },
            sites: Cow::Owned(sites),
        }),
    ] {
        writer::append(&mut log, &record, &mut [0; 4096]).unwrap();
    }
    Report::from_run(&run, &Options::default())
}

fn only(report: &Report) -> &Finding {
    assert_eq!(report.findings.len(), 1);
    &report.findings[0]
}

/// `function:line`, with `inline` where it is.
fn told(stack: &[Frame]) -> Vec<String> {
    let tell = |frame: &Frame| {
        let line = frame.line.map_or_else(|| "?".to_owned(), |line| line.to_string());
        let inlined = if frame.inlined { " inlined" } else { "" };
        format!("{}:{line}{inlined}", frame.function.as_deref().unwrap_or("?"))
    };
    stack.iter().map(tell).collect()
}

#[test]
fn lines_and_inlined_functions_of_executables() {
    for flags in [["-O1", "-g", "-pie", "-fPIE"], ["-O1", "-g", "-no-pie", "-fno-pie"]] {
        let directory = tempfile::tempdir().unwrap();
        let executable = compile(directory.path(), "gcc", "places.c", &flags);
        let [store, inlined, main] =
            ["at_store", "at_inlined", "at_main"].map(|symbol| address(&executable, symbol));
        let report = report(directory.path(), &executable, &[&[inlined, main], &[store, main]]);
        let finding = only(&report);
        let [access, operation] = &*finding.sites else { panic!("{finding:?}") };
        assert_eq!(told(&access.stack), ["fill:7 inlined", "pack:12", "main:18"], "{flags:?}");
        assert_eq!(told(&operation.stack), ["pack:11", "main:18"], "{flags:?}");
        assert!(access.file.as_deref().unwrap().ends_with("tests/data/places.c"));
        assert!(finding.why.contains("places.c:11"), "{}", finding.why);
    }
}

#[test]
fn functions_without_debug_information() {
    let directory = tempfile::tempdir().unwrap();
    let executable = compile(directory.path(), "gcc", "places.c", &["-O1", "-g0"]);
    let place = address(&executable, "pack") + 1;
    let report = report(directory.path(), &executable, &[&[place]]);
    let finding = only(&report);
    assert_eq!(told(&finding.sites[0].stack), ["pack:?"]);
    assert!(report.run.notes.iter().any(|note| note.text.contains("`-g`")), "{:?}", report.run);
}

#[test]
fn addresses_of_stripped_and_missing_files() {
    let directory = tempfile::tempdir().unwrap();
    let executable = compile(directory.path(), "gcc", "places.c", &["-O1", "-s"]);
    let stripped = report(directory.path(), &executable, &[&[0x1234]]);
    assert_eq!(told(&only(&stripped).sites[0].stack), ["?:?"]);
    assert!(only(&stripped).message.starts_with("code at program+0x1234 writes"));

    std::fs::remove_file(&executable).unwrap();
    let missing = report(directory.path(), &executable, &[&[0x1234]]);
    assert_eq!(told(&only(&missing).sites[0].stack), ["?:?"]);
    let notes = &missing.run.notes;
    assert!(notes.iter().any(|note| note.text.contains("cannot be read")), "{notes:?}");
}

#[test]
fn fortran_procedures_have_their_names() {
    if Command::new("gfortran").arg("--version").output().is_err() {
        eprintln!("skipped: no gfortran");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for debug in ["-g", "-g0"] {
        let executable = compile(directory.path(), "gfortran", "names.f90", &["-O0", debug]);
        let procedure = address(&executable, "__halo_MOD_exchange") + 1;
        let main = address(&executable, "MAIN__") + 1;
        let c_main = address(&executable, "main") + 1;
        let report = report(directory.path(), &executable, &[&[procedure, main, c_main]]);
        let functions: Vec<_> =
            only(&report).sites[0].stack.iter().filter_map(|f| f.function.as_deref()).collect();
        assert_eq!(functions.len(), 2, "{functions:?}");
        assert_eq!(functions[0], "halo::exchange");
    }
}
