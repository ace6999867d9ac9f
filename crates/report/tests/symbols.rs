//! Places of real executables, from the rank's log to the finding.

use commsan_findings::{Code, Finding, Frame, Role};
use commsan_report::{Options, Report};
use commsan_rundir::record::{Module, RawAccess, RawFinding, RawOperation, RawSite, Start};
use commsan_rundir::{Record, RunDirectory, writer};
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

/// A place of the only module.
fn site(role: Role, addresses: &[u64]) -> RawSite<'static> {
    RawSite {
        role,
        call: None,
        thread: 0,
        frames: addresses.iter().map(|&address| (3, address)).collect::<Vec<_>>().into(),
        rank: None,
        reference: None,
    }
}

fn finding(code: Code, sites: Vec<RawSite<'static>>) -> Record<'static> {
    Record::Finding(RawFinding {
        id: 0,
        code,
        access: Some(RawAccess { by: "store".into(), write: true, addr: 0, size: 4, peer: None }),
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
        threads: false,
        collective: None,
        level: None,
        argument: None,
        work: None,
        time: None,
    })
}

/// Writes the log of a rank that runs `executable`.
fn write_log(run: &RunDirectory, rank: u32, executable: &Path, record: &Record<'static>) {
    let program: Cow<'_, str> = Cow::Owned(executable.to_string_lossy().into_owned());
    let start = Record::Start(Start {
        version: 1,
        rank,
        size: 2,
        pid: 1,
        host: "node".into(),
        mpi: "MPICH 4.0.2".into(),
        program: program.clone(),
        instrumented: true,
        job: "".into(),
        arguments: vec![],
        name: "".into(),
    });
    let mut log = std::fs::File::create(run.rank_log(rank)).unwrap();
    for record in [&start, &Record::Module(Module { id: 3, path: program, function: None }), record]
    {
        writer::append(&mut log, record, &mut [0; 4096]).unwrap();
    }
}

/// The report of a run of `executable` whose rank saw a finding at `places`, each a call stack.
fn report(directory: &Path, executable: &Path, places: &[&[u64]]) -> Report {
    let run = RunDirectory::create(directory, executable).unwrap();
    let roles = [Role::Access, Role::Operation];
    let sites = places.iter().zip(roles).map(|(addresses, role)| site(role, addresses)).collect();
    write_log(&run, 0, executable, &finding(Code::SendBufferWritten, sites));
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
fn places_in_other_ranks_are_looked_up_in_their_programs() {
    let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [owner, origin] = [("-fPIE", "-pie"), ("-fno-pie", "-no-pie")];
    let program = |index: usize, (code, link)| {
        compile(directories[index].path(), "gcc", "places.c", &["-O1", "-g", code, link])
    };
    let (owner, origin) = (program(0, owner), program(1, origin));
    let run = RunDirectory::create(directories[0].path(), &owner).unwrap();
    let access = site(Role::Access, &[address(&owner, "at_inlined")]);
    let put = RawSite { rank: Some(1), reference: Some(7), ..site(Role::Operation, &[]) };
    write_log(&run, 0, &owner, &finding(Code::WindowAccessRace, vec![access, put]));
    let put = site(Role::Operation, &[address(&origin, "at_store")]);
    write_log(&run, 1, &origin, &Record::Site { id: 7, site: put });

    let report = Report::from_run(&run, &Options::default());
    let [access, operation] = &*only(&report).sites else { panic!("{report:?}") };
    assert_eq!((access.rank, told(&access.stack)[0].as_str()), (0, "fill:7 inlined"));
    assert_eq!((operation.rank, told(&operation.stack)[0].as_str()), (1, "pack:11"));
    assert_eq!(operation.stack[0].module, origin.to_string_lossy());
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
fn places_without_a_line_where_there_are_lines() {
    let directory = tempfile::tempdir().unwrap();
    let executable = compile(directory.path(), "clang-19", "merged.c", &["-O1", "-g"]);
    let place = address(&executable, "at_merged");
    let report = report(directory.path(), &executable, &[&[place], &[place]]);
    assert_eq!(told(&only(&report).sites[0].stack), ["merged:?"]);
    let notes: Vec<&str> = report.run.notes.iter().map(|note| &*note.text).collect();
    assert!(
        notes.iter().any(|note| note.contains("a place in `merged`")
            && note.contains("since the compiler has made one piece of code of several lines")),
        "{notes:?}"
    );
    assert!(notes.iter().all(|note| !note.contains("no debug information")), "{notes:?}");
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
