//! Where something is missing, damaged or of another kind: debug information, disk space, a
//! library, what a container does not hold.

use super::built::{Installed, MPIS, Mpi, Work};
use super::{WRITE, endings};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn without_debug_information_findings_name_functions_or_addresses() {
    for mpi in MPIS {
        let work = Work::new("lines", mpi);
        let program = work.compile("robust/endings.c", &["-g0"]);
        let run = work.run(&[], 1, &program, &["return", "mistaken"]);
        run.ends_with(66)
            .finds(WRITE)
            .says("has no debug information")
            .says("compile it with `-g`");
        let stripped = work.finish(&mut work.command("strip", &[program.to_str().unwrap()]));
        stripped.ends_with(0);
        let run = work.run(&[], 1, &program, &["return", "mistaken"]);
        run.ends_with(66).finds(&["CS-BUF-01 ?"]).says("has no debug information");
        run.says("code at endings+0x");
    }
}

#[test]
fn lines_of_a_source_that_has_changed_are_doubted() {
    let work = Work::new("changed", Mpi::Mpich);
    let endings = include_str!("../../../../tests/robust/endings.c");
    let source = work.path("endings.c");
    fs::write(&source, endings).unwrap();
    let program = work.compile(source.to_str().unwrap(), &["-g"]);
    let run = || work.run(&[], 1, &program, &["return", "mistaken"]);
    run().ends_with(66).finds(WRITE).is_silent_about("has changed since");
    fs::write(&source, format!("// one more line\n{endings}")).unwrap();
    run().ends_with(66).finds(WRITE).says("endings.c` has changed since `endings` was built");
}

/// Cross-rank checks need every rank; what the others do alone is still checked, and correct.
#[test]
fn where_one_rank_is_not_checked_the_others_are() {
    for mpi in MPIS {
        let work = Work::new("partly", mpi);
        let program = work.compile("cases/pass/rma/pscw_target_get.c", &["-g"]);
        let script =
            "[ \"${PMI_RANK-$OMPI_COMM_WORLD_RANK}\" = 0 ] && unset LD_PRELOAD; exec \"$0\"";
        let launcher = mpi.tool("mpirun");
        let program = program.to_str().unwrap();
        let run = work.run_job(&[], &[&launcher, "-n", "2", "sh", "-c", script, program]);
        run.ends_with(0)
            .finds(&[])
            .says("rank 0 is on another node, or does not run under commsan");
    }
}

#[test]
fn hooks_of_another_version_are_a_warning() {
    for mpi in MPIS {
        let work = Work::new("outdated", mpi);
        let program = work.path("outdated");
        work.compile_plain(&program, "robust/outdated.c", &["-g"]);
        let run = work.run(&[], 2, &program, &[]);
        run.ends_with(0).says("rank 0 is fine").says("rank 1 is fine");
        run.says("warning: ranks 0, 1: not checked: the program carries hooks of another version");
        run.says("no findings in 2 ranks, 2 of them not checked");
        run.is_silent_about("was it killed");
        assert_eq!(run.report()["run"]["unchecked"], 2);
        let directory = run.directory.to_str().unwrap();
        let junit = ["report", "--format", "junit", directory];
        work.finish(&mut work.commsan(&junit)).says("no rank was checked").says("tests=\"1\"");
    }
}

/// They run unchecked, as they would without commsan, ranks and other programs. With Debian's MPICH
/// they do not run at all, over UCX.
#[test]
fn programs_with_a_sanitizer_run_as_ever() {
    let work = Work::new("sanitized", Mpi::OpenMpi);
    for (option, name) in [
        ("-fsanitize=address", "AddressSanitizer"),
        ("-fsanitize=address -static-libasan", "AddressSanitizer"),
        ("-fsanitize=thread", "ThreadSanitizer"),
    ] {
        let program = work.path("sanitized");
        work.compile_plain(&program, "robust/empty.c", &option.split(' ').collect::<Vec<_>>());
        let program = program.to_str().unwrap();
        let options = ["-x", "ASAN_OPTIONS=detect_leaks=0"];
        let job = [&["mpirun.openmpi"], &options[..], &["-n", "2", program]].concat();
        let run = work.run_job(&[], &job);
        run.ends_with(0).says("not checked");
        // Nothing else sees what is linked statically.
        if !option.contains("static") {
            run.says(&format!("was not checked: it is built with {name}"));
        }
        let doctor = work.finish(&mut work.commsan(&["doctor", program]));
        doctor.says(&format!("{name}'s runtime is in the program"));
    }
    let work = Work::new("helper", Mpi::OpenMpi);
    fs::write(work.path("helper.c"), "int main(void) { return 3; }").unwrap();
    let compiler = ["-fsanitize=address", "helper.c", "-o", "helper"];
    work.finish(&mut work.command("gcc", &compiler)).ends_with(0);
    work.run_job(&[], &["./helper"]).ends_with(3);
}

/// Debian has the library of MPICH as an archive.
#[test]
fn programs_with_mpi_linked_in_run_as_ever() {
    let work = Work::new("linked_in", Mpi::Mpich);
    let program = work.path("linked_in");
    let link = "-l:libmpich.a -Wl,--push-state,--as-needed -lhwloc -lucp -lucs -lpthread -lm";
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/robust/pending.c");
    let compile = |output: &Path, options: &str| {
        let mut command = work.command("gcc", &["-g", "-I/usr/include/x86_64-linux-gnu/mpich"]);
        command.arg(&source).arg("-o").arg(output).args(options.split(' '));
        work.finish(&mut command).ends_with(0);
    };
    compile(&program, link);
    let words = program.to_str().unwrap();
    let job = format!("mpirun.mpich -n 2 {words}");
    let why = "was not checked: an MPI library is linked into it";
    for job in [vec!["mpirun.mpich", "-n", "2", words], vec!["sh", "-c", &job]] {
        let run = work.run_job(&[], &job);
        run.ends_with(0).says("no MPI program was checked").says(why);
    }
    let doctor =
        |program: &Path| work.finish(&mut work.commsan(&["doctor", program.to_str().unwrap()]));
    doctor(&program).ends_with(1).says("linked into the program, and nothing");
    let bare = work.path("bare");
    let strip = ["-o", bare.to_str().unwrap(), words];
    work.finish(&mut work.command("strip", &strip)).ends_with(0);
    doctor(&bare).says("linked into the program, as it seems");
    work.run_job(&[], &["mpirun.mpich", "-n", "2", bare.to_str().unwrap()])
        .ends_with(0)
        .says("seems to have MPI linked in");
    // For the look alone: not all of what MPICH needs is there as archives.
    let alone = work.path("static");
    compile(&alone, "-static -l:libmpich.a -lpthread -Wl,--unresolved-symbols=ignore-all");
    doctor(&alone).ends_with(1).says("is linked statically").says("linked into the program");
    // One that MPI's shared library is linked with, and helpers of ranks, are not meant.
    let shared = work.path("shared");
    work.compile_plain(&shared, "robust/empty.c", &[]);
    doctor(&shared).is_silent_about("linked into");
    work.run_job(&[], &["mpirun.mpich", "-n", "2", "true"]).ends_with(0).is_silent_about(why);
}

/// Linked with an MPI library that is not there any more, as without the module of that MPI.
#[test]
fn a_library_of_mpi_that_is_not_found_is_named() {
    let work = Work::new("lost", Mpi::Mpich);
    fs::write(work.path("mpi.c"), "int MPI_Init(int *c, char ***v) { return !c || !v; }").unwrap();
    fs::write(work.path("app.c"), "int MPI_Init(); int main() { return MPI_Init(0, 0); }").unwrap();
    let library = ["-shared", "-Wl,-soname,libmpi.so.12", "mpi.c", "-o", "libmpi.so.12"];
    work.finish(&mut work.command("gcc", &library)).ends_with(0);
    let program = ["app.c", "-o", "app", "./libmpi.so.12"];
    work.finish(&mut work.command("gcc", &program)).ends_with(0);
    fs::remove_file(work.path("libmpi.so.12")).unwrap();
    let lost = "needs libmpi.so.12, which is not found: set LD_LIBRARY_PATH";
    work.run_job(&[], &["./app"]).ends_with(127).says(lost);
    let doctor = work.finish(&mut work.commsan(&["doctor", "./app"]));
    doctor.ends_with(1).says("not found: libmpi.so.12").is_silent_about("link it with mpicc");
}

/// A container as far as ranks can see: neither commsan's variables nor its files are there.
#[test]
fn containers_that_lack_something_are_told() {
    let work = Work::new("contained", Mpi::Mpich);
    let program = work.compile("robust/empty.c", &[]);
    let tool = work.path("apptainer");
    let script = "#!/bin/sh\nwhile [ $# -gt 0 -a x$1 != ximage.sif ]; do [ $1 = --bind ] && bound=1; shift; done\n\
                  shift; [ $bound ] || unset LD_PRELOAD COMMSAN_RUN_DIR; exec \"$@\"\n";
    fs::write(&tool, script).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let (tool, program) = (tool.to_str().unwrap(), program.to_str().unwrap());
    let run = |options: &[&str]| {
        let launch = ["mpirun.mpich", "-n", "2", tool, "exec"];
        work.run_job(&[], &[&launch[..], options, &["image.sif", program]].concat())
    };
    let lacking = run(&[]);
    lacking.ends_with(0).says("no MPI program was checked");
    assert_eq!(
        lacking.err.matches("in which LD_PRELOAD names a file").count(),
        2,
        "{}",
        lacking.text()
    );
    let help = lacking.err.split("add `").nth(1).unwrap().split('`').next().unwrap();
    // What the help says is what helps.
    let options: Vec<_> = help.split(' ').collect();
    run(&options).ends_with(0).says("no findings in 2 ranks").is_silent_about("LD_PRELOAD");
    run(&[&options[..], &["--cleanenv"]].concat()).says("leave out `--cleanenv`");
    work.finish(&mut work.commsan(&["doctor", tool])).says("starts the program in a container");
}

/// Also where the program itself touches no memory, and with its symbols removed.
#[test]
fn the_doctor_sees_whether_a_program_was_compiled_by_commsan() {
    let work = Work::new("doctor", Mpi::Mpich);
    let doctor =
        |program: &Path| work.finish(&mut work.commsan(&["doctor", program.to_str().unwrap()]));
    let compiled = work.compile("robust/empty.c", &["-g"]);
    let plain = work.path("plain");
    work.compile_plain(&plain, "robust/empty.c", &["-g"]);
    doctor(&plain).says("not compiled by commsan");
    doctor(&compiled).says("compiled by commsan: every one is checked");
    work.finish(&mut work.command("strip", &[compiled.to_str().unwrap()])).ends_with(0);
    doctor(&compiled).says("compiled by commsan: every one is checked");
    let run = work.run(&[], 2, &compiled, &[]);
    run.ends_with(0).finds(&[]).is_silent_about("not compiled");
    // The hooks' own lines are none of the program's.
    let bare = work.compile("robust/empty.c", &["-g0"]);
    doctor(&bare).says("none in the program");
    fs::write(work.path("solve.py"), "import mpi4py\n").unwrap();
    doctor(Path::new("solve.py")).says("is a script for `python3`").says("mpirun -n 2 python3");
}

#[test]
fn little_address_space_is_enough() {
    for mpi in MPIS {
        let (work, program) = endings(mpi);
        let script = format!("ulimit -v 2000000; {} return mistaken", program.display());
        let job = [&mpi.tool("mpirun"), "-n", "2", "sh", "-c", &script];
        let run = work.run_job(&[], &job);
        run.ends_with(66).finds(WRITE).says("rank 0 is fine").says("rank 1 is fine");
    }
}

#[test]
fn damaged_logs_are_read_as_far_as_they_go() {
    let (work, program) = endings(Mpi::Mpich);
    let run = work.run(&[], 2, &program, &["return", "mistaken"]);
    run.ends_with(66).finds(WRITE);
    let directory = run.directory.to_str().unwrap();
    let report = || work.finish(&mut work.commsan(&["report", directory]));
    let log = run.directory.join("rank-1.jsonl");
    let whole = fs::read(&log).unwrap();
    let finding = whole.windows(13).position(|w| w == b"\"t\":\"finding\"").unwrap();
    let line_end = finding + whole[finding..].iter().position(|b| *b == b'\n').unwrap();

    fs::write(&log, &whole[..line_end + 5]).unwrap();
    report().ends_with(66).says("CS-BUF-01").says("rank 1").is_silent_about("panick");
    let junit = ["report", "--format", "junit", directory];
    let junit = work.finish(&mut work.commsan(&junit));
    assert!(junit.err.contains("warning: rank 1: "), "{}", junit.text());
    fs::write(&log, &whole[..finding + 20]).unwrap();
    report().ends_with(0).says("rank 1").says("no findings").is_silent_about("panick");
    for garbage in [&b"{\"t\":\"finding\",\"id\":{}}\n"[..], b"\xff\xfe\0\n", b"[[[[\n", b""] {
        let text = [&whole[..line_end + 1], garbage, &whole[line_end + 1..]].concat();
        fs::write(&log, text).unwrap();
        report().ends_with(66).says("CS-BUF-01").is_silent_about("panick");
    }
    fs::write(&log, &whole).unwrap();
    fs::write(run.directory.join("run.json"), "{").unwrap();
    report().ends_with(66).says("CS-BUF-01").says("run.json").is_silent_about("panick");
}

#[test]
fn an_unwritable_place_is_an_error_before_anything_starts() {
    let (work, program) = endings(Mpi::Mpich);
    let locked = work.path("locked");
    // Root may write anywhere but into a file.
    fs::write(&locked, "").unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o400)).unwrap();
    let output = locked.join("run");
    let arguments = ["run", "--output", output.to_str().unwrap(), "--", program.to_str().unwrap()];
    let run = work.finish(&mut work.commsan(&arguments));
    run.ends_with(70).says("cannot create").is_silent_about("is fine");
}

#[test]
fn on_a_full_disk_findings_go_to_the_terminal() {
    let (work, program) = endings(Mpi::OpenMpi);
    let disk = work.path("disk");
    fs::create_dir(&disk).unwrap();
    let Some(_mounted) = Mounted::new(&disk) else {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    };
    let output = disk.join("run");
    let launcher = Mpi::OpenMpi.tool("mpirun");
    let arguments = [
        &["run", "--output", output.to_str().unwrap(), "--"][..],
        &[&launcher, "-n", "2", program.to_str().unwrap(), "many", "mistaken"],
    ];
    let run = work.finish(&mut work.commsan(&arguments.concat()));
    run.says("rank 0 is fine").says("rank 1 is fine").says("CS-BUF-01");
    run.ends_with(66).is_silent_about("panick");
    let left = fs::read_dir(&output).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.filter(|name| name.as_encoded_bytes().starts_with(b".")).count(), 0);
    fs::remove_dir_all(&output).unwrap();

    fs::write(disk.join("fill"), vec![0; 16 * 1024]).unwrap();
    let run = work.finish(&mut work.commsan(&arguments.concat()));
    run.ends_with(70).says("cannot write").says("--output").is_silent_about("is fine");
    assert!(!output.exists());
}

/// A file system of four pages.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: &Path) -> Option<Mounted> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).arg(at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then(|| Mounted(at.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// The MPI library that a program is linked with.
fn library_of(program: &Path) -> String {
    let shown = Command::new("ldd").arg(program).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let line = shown.lines().find(|line| line.trim().starts_with("libmpi")).unwrap();
    line.split_whitespace().nth(2).unwrap().to_owned()
}

/// MPICH's handles and sentinels are numbers: such a program needs no library to be linked.
#[test]
fn functions_that_a_program_finds_in_the_library_itself_are_checked() {
    let work = Work::new("late", Mpi::Mpich);
    let linked = work.compile("robust/endings.c", &["-g"]);
    let library = library_of(&linked);
    let include = work.finish(&mut work.command("mpicc.mpich", &["-compile-info"])).out;
    let include =
        include.split_whitespace().find(|word| word.starts_with("-I")).unwrap().to_owned();
    let program = work.path("late");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/robust/late.c");
    let words = ["cc", "gcc", "-g", &include, tests.to_str().unwrap(), "-ldl", "-o"];
    let build = [&words[..], &[program.to_str().unwrap()]].concat();
    work.finish(&mut work.commsan(&build)).ends_with(0);
    let path = program.to_str().unwrap();
    let job = |more: &[&'static str]| {
        let words = ["mpirun.mpich", "-n", "2", path, &library];
        [&words[..], more].concat()
    };
    work.run_job(&["--mpi", "mpich"], &job(&["mistaken"])).ends_with(66).finds(&["CS-BUF-01 main"]);
    work.run_job(&["--mpi", "mpich"], &job(&[])).ends_with(0).finds(&[]).says("rank 1 got 1");
    // Without a launcher, too.
    let alone = [path, &library, "mistaken"];
    work.run_job(&["--mpi", "mpich"], &alone).ends_with(66).finds(&["CS-BUF-01 main"]);
    // With another family's runtime it runs as without commsan, which says why and what to do.
    let run = work.run_job(&["--mpi", "openmpi"], &job(&["mistaken"]));
    run.ends_with(0).says("rank 0 got").says("was not checked: it has loaded").says("--mpi mpich");
}

/// What the library lacks, the program does not find either.
#[test]
fn calls_that_the_library_lacks_are_absent() {
    for mpi in MPIS {
        let work = Work::new("lacking", mpi);
        let program = work.compile("robust/lacking.c", &["-g", "-ldl"]);
        let own = work.finish(&mut work.command(program.to_str().unwrap(), &[] as &[&str]));
        let checked = work.run(&[], 1, &program, &[]);
        checked.ends_with(0).finds(&[]);
        assert_eq!(checked.out, own.out);
        assert!(own.out.contains("MPI_Abi_get_version 0"), "{}", own.out);
    }
}
