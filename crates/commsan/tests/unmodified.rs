//! Programs that commsan has not compiled, or whose debug information is elsewhere: what calls,
//! guards and the files that are there show of them, and that they run as without commsan.

#[path = "support/built.rs"]
mod built;

use built::{MPIS, Mpi, Work};
use object::Object;
use std::fs;

const WRITE: &[&str] = &["CS-BUF-01 mistake"];

#[test]
fn without_recompiling_calls_are_checked() {
    for mpi in MPIS {
        let work = Work::new("plain", mpi);
        let program = work.path("plain");
        work.compile_plain(&program, "robust/endings.c", &["-g"]);
        for (way, code) in [("leak", "CS-REQ-01"), ("overlap", "CS-BUF-04"), ("free", "CS-BUF-05")]
        {
            let run = work.run(&[], 1, &program, &[way]);
            run.ends_with(66).finds(&[&format!("{code} main")]).says("is fine");
            run.says("was not compiled by `commsan cc`");
        }
        work.run(&[], 1, &program, &["return"]).ends_with(0).finds(&[]);
    }
}

/// What is interposed calls them with all their arguments, some of them on the stack.
#[test]
fn libraries_may_have_functions_with_names_of_the_c_library() {
    let work = Work::new("names", Mpi::OpenMpi);
    let (library, program) = (work.path("libnames.so"), work.path("names"));
    work.compile_plain(
        &library,
        "robust/names.c",
        &["-DLIBRARY", "-shared", "-fPIC", "-fno-builtin"],
    );
    let path = format!("-L{0} -Wl,-rpath,{0}", library.parent().unwrap().display());
    let path: Vec<&str> = path.split(' ').chain(["-Wl,--no-as-needed", "-lnames"]).collect();
    work.compile_plain(&program, "robust/names.c", &path);
    for guards in ["--guards", "--guards=false"] {
        work.run(&[guards], 1, &program, &[]).ends_with(0).finds(&[]);
    }
}

#[test]
fn guards_leave_pages_as_the_program_protects_them() {
    if !commsan_machine::has_protection_keys() {
        eprintln!("skipped: guards need protection keys");
        return;
    }
    let work = Work::new("protects", Mpi::OpenMpi);
    let program = work.path("protects");
    work.compile_plain(&program, "robust/protects.c", &[]);
    let run = work.run(&["--guards"], 1, &program, &[]);
    run.ends_with(0).finds(&[]).says("the program protects pages of its own");
    let log = fs::read_to_string(run.directory.join("rank-0.jsonl")).unwrap();
    assert_eq!(log.matches("protects pages of its own").count(), 1, "{log}");
}

/// What a recompiled program does is seen by hooks, what its libraries do by guards, if these are
/// asked for; nothing is seen twice.
#[test]
fn libraries_of_recompiled_programs_are_guarded() {
    if !commsan_machine::has_protection_keys() {
        eprintln!("skipped: guards need protection keys");
        return;
    }
    for mpi in MPIS {
        let work = Work::new("mixed", mpi);
        let (library, program) = (work.path("libmixed.so"), work.path("mixed"));
        let options = ["-DLIBRARY", "-shared", "-fPIC", "-g", "-O1"];
        work.compile_plain(&library, "robust/mixed.c", &options);
        let path = format!("-L{0} -Wl,-rpath,{0}", library.parent().unwrap().display());
        let path: Vec<&str> =
            path.split(' ').chain(["-g", "-Wl,--no-as-needed", "-lmixed"]).collect();
        work.compile_as(&program, "robust/mixed.c", &path);
        work.run(&["--guards"], 2, &program, &[]).ends_with(0).finds(&[]);
        let own = "CS-BUF-01 main";
        work.run(&[], 2, &program, &["early"]).ends_with(66).finds(&[own]);
        let all = ["CS-BUF-01 scale", own, "CS-BUF-02 total"];
        work.run(&["--guards"], 2, &program, &["early"]).ends_with(66).finds(&all);
    }
}

/// Their threads are not followed, so another one may enter what one has not.
#[test]
fn without_recompiling_threads_may_have_communicators_of_their_own() {
    for mpi in MPIS {
        let work = Work::new("communicators", mpi);
        let program = work.path("communicators");
        work.compile_plain(&program, "robust/communicators.c", &["-g", "-pthread"]);
        for way in ["both", "main"] {
            work.run(&[], 2, &program, &[way]).ends_with(0).finds(&[]);
        }
        work.run(&[], 2, &program, &["crossing"]).ends_with(66).finds(&["CS-COL-05 main"]);
    }
}

#[test]
fn debug_information_may_be_kept_apart() {
    let tool = |arguments: &[&std::ffi::OsStr]| {
        let done = std::process::Command::new("objcopy").args(arguments).status().unwrap();
        assert!(done.success(), "objcopy {arguments:?}");
    };
    let work = Work::new("apart", Mpi::OpenMpi);
    let (program, stripped) = (work.path("whole"), work.path("bare"));
    let apart = work.path("apart");
    work.compile_as(&program, "robust/endings.c", &["-g", "-Wl,--build-id"]);
    tool(&["--only-keep-debug".as_ref(), program.as_ref(), apart.as_ref()]);
    tool(&["--strip-debug".as_ref(), program.as_ref(), stripped.as_ref()]);
    let run = work.run(&[], 1, &stripped, &["return", "mistaken"]);
    run.ends_with(66).finds(WRITE).says("has no debug information");
    let data = fs::read(&stripped).unwrap();
    let id = object::File::parse(&*data).unwrap().build_id().unwrap().unwrap().to_vec();
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let cached = work.path("cache").join(id).join("debuginfo");
    fs::create_dir_all(cached.parent().unwrap()).unwrap();
    fs::rename(&apart, cached).unwrap();
    let job = ["mpirun.openmpi", "-n", "1", stripped.to_str().unwrap(), "return", "mistaken"];
    let directory = work.fresh("run");
    let options = ["run", "--output", directory.to_str().unwrap(), "--"];
    let mut command = work.commsan(&[&options[..], &job].concat());
    let run = work.finish(command.env("DEBUGINFOD_CACHE_PATH", work.path("cache")));
    run.ends_with(66).says("endings.c:").is_silent_about("has no debug information");
}
