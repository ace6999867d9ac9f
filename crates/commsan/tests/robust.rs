//! Programs that end badly, behave strangely, or run where something is missing: commsan reports
//! what it has found, says what it could not do, and changes nothing.

#[path = "support/built.rs"]
mod built;
#[path = "robust/missing.rs"]
mod missing;

use built::{Installed, MPIS, Mpi, Run, Work};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const WRITE: &[&str] = &["CS-BUF-01 mistake"];
const KILLED: &str = "ended without MPI_Finalize, MPI_Abort or exit: was it killed?";

/// `endings.c`, compiled by commsan once for each MPI.
fn endings(mpi: Mpi) -> (Work, PathBuf) {
    let work = Work::new("endings", mpi);
    let program = work.compile("robust/endings.c", &["-g"]);
    (work, program)
}

fn has_note(run: &Run, rank: u32, text: &str) -> bool {
    let concerns = |note: &String| {
        let (ranks, words) = note.split_once("] ").unwrap_or(("", note));
        ranks.trim_start_matches('[').split(',').any(|r| r == rank.to_string())
            && words.contains(text)
    };
    run.notes().iter().any(concerns)
}

/// Findings survive whatever ends a rank, a note reports the end, and the exit code is kept.
fn ends(mpi: Mpi) {
    let (work, program) = endings(mpi);
    // mpirun of Open MPI ends like a shell; MPICH's passes the number of the signal on.
    let signal = |n| if mpi == Mpi::OpenMpi { 128 + n } else { n };
    for (way, own, note) in [
        ("kill", signal(9), KILLED),
        ("abort", 5, "called MPI_Abort"),
        ("exit", 7, "exited without MPI_Finalize"),
        ("_exit", 7, KILLED),
        // By a handler, within an MPI call, which is none of that call's errors.
        ("alarm", 7, "exited without MPI_Finalize"),
    ] {
        let mut run = work.run(&[], 2, &program, &[way, "mistaken"]);
        if mpi == Mpi::Mpich && run.report()["run"]["exit"] != own {
            // Of several hundred jobs, also without commsan, MPICH's mpirun ends one like the rank
            // that it has killed over the other.
            run = work.run(&[], 2, &program, &[way, "mistaken"]);
        }
        run.ends_with(66).finds(WRITE);
        assert_eq!(run.report()["run"]["exit"], own, "{}", run.text());
        assert!(has_note(&run, 1, note), "{way}: {}", run.text());
    }
    // By the program itself, outside of MPI calls.
    for (way, function) in [("crash", "crash"), ("sent", "main")] {
        let run = work.run(&[], 2, &program, &[way]);
        run.ends_with(66).finds(&[&format!("CS-ERR-04 {function}")]);
        run.is_silent_about("panick").is_silent_about("commsan failed");
        run.is_silent_about("libcommsan");
        assert_eq!(run.report()["run"]["exit"], signal(11), "{way}: {}", run.text());
        assert!(!has_note(&run, 1, KILLED), "{way}: {}", run.text());
        assert!(has_note(&run, 0, "as rank 1 crashed"), "{way}: {}", run.text());
    }
    // Within an MPI call that has called the program, or that a handler has interrupted.
    for way in ["handler", "reduction"] {
        let run = work.run(&[], 2, &program, &[way]);
        run.ends_with(signal(11))
            .finds(&[])
            .is_silent_about("panick")
            .is_silent_about("commsan failed");
        assert!(has_note(&run, 1, KILLED), "{way}: {}", run.text());
    }
}

#[test]
fn findings_survive_every_end_openmpi() {
    ends(Mpi::OpenMpi);
}

#[test]
fn findings_survive_every_end_mpich() {
    ends(Mpi::Mpich);
}

#[test]
fn signal_handlers_children_and_deep_stacks_are_the_programs_own() {
    for mpi in MPIS {
        let (work, program) = endings(mpi);
        for way in ["recover", "fork", "recurse"] {
            let run = work.run(&[], 2, &program, &[way]);
            run.ends_with(0).finds(&[]).says("rank 0 is fine").says("rank 1 is fine");
            assert!(run.notes().is_empty(), "{way}: {}", run.text());
            // Nobody else writes to the rank's log.
            for rank in 0..2 {
                let log = run.log(rank);
                assert_eq!(log[0]["t"], "start");
                assert_eq!(log[log.len() - 1]["how"], "finalized");
                assert_eq!(log.iter().filter(|record| record["t"] == "end").count(), 1);
            }
            // And checking goes on afterwards.
            work.run(&[], 2, &program, &[way, "mistaken"]).ends_with(66).finds(WRITE);
        }
    }
}

/// clang's `-fsanitize=undefined` looks up functions of its own there.
#[test]
fn programs_may_look_up_functions_before_anything_has_run() {
    for mpi in MPIS {
        let work = Work::new("early", mpi);
        let library = work.path("libearly.so");
        work.compile_plain(&library, "robust/early.c", &["-DLIBRARY", "-shared", "-fPIC"]);
        let linked = ["-g", "-Wl,--no-as-needed", library.to_str().unwrap()];
        let program = work.compile("robust/early.c", &linked);
        work.run(&[], 1, &program, &[]).ends_with(0).finds(&[]).says("123456789");
    }
}

/// The user of a library can do nothing about what it leaks: it is counted, and listed if asked
/// for.
#[test]
fn what_a_library_leaks_is_counted() {
    for mpi in MPIS {
        let work = Work::new("leaky", mpi);
        let packaged = work.path("packaged");
        fs::create_dir(&packaged).unwrap();
        let library = packaged.join("libleaky.so");
        work.compile_plain(&library, "robust/leaky.c", &["-g", "-DLIBRARY", "-shared", "-fPIC"]);
        let linked = ["-g", "-Wl,--no-as-needed", library.to_str().unwrap()];
        let program = work.compile("robust/leaky.c", &linked);
        let run = |options: &[&str], arguments: &[&str]| {
            let own = ["--libraries", packaged.to_str().unwrap(), "--fail-on", "warning"];
            work.run(&[&own[..], options].concat(), 2, &program, arguments)
        };
        let counted = run(&[], &[]);
        counted.ends_with(0).finds(&[]);
        let note = "2 MPI objects were made in libraries and never freed, counted over all ranks: libleaky.so (2)";
        assert!(counted.notes().iter().any(|it| it.contains(note)), "{}", counted.text());
        run(&[], &["own"]).ends_with(66).finds(&["CS-OBJ-01 main"]);
        let listed = run(&["--leaks=all"], &[]);
        // The library has no frame pointers, so that its caller is not known.
        listed.ends_with(66).finds(&["CS-OBJ-01 solve"]).is_silent_about("made in libraries");
    }
}

/// A handler that never comes back may have interrupted commsan itself.
#[test]
fn leaving_a_signal_handler_sideways_hangs_nothing() {
    for mpi in MPIS {
        let work = Work::new("signals", mpi);
        let program = work.compile("robust/signals.c", &["-g"]);
        work.run(&[], 1, &program, &["jump"]).ends_with(0).finds(&[]).says("fine");
        work.run(&[], 1, &program, &["exit"]).ends_with(4).finds(&[]);
    }
}

#[test]
fn no_signal_is_blocked_for_the_command_and_its_ranks() {
    let ask = ["grep", "SigBlk", "/proc/self/status"];
    for mpi in MPIS {
        let work = Work::new("mask", mpi);
        let launcher = mpi.tool("mpirun");
        let launched = [&[&launcher, "-n", "1"][..], &ask].concat();
        let alone = work.finish(&mut work.command(ask[0], &ask[1..]));
        for job in [&ask[..], &launched] {
            // Launchers may lose what a program without MPI writes if it ends at once.
            let mut runs = (0..3).map(|_| work.run_job(&[], job).ends_with(0).out.clone());
            assert_eq!(runs.find(|out| !out.is_empty()), Some(alone.out.clone()));
        }
    }
    let work = Work::new("term", Mpi::Mpich);
    let output = work.path("run");
    let sleep = ["run", "--output", output.to_str().unwrap(), "--", "sleep", "20"];
    let mut child = work.commsan(&sleep).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let start = std::time::Instant::now();
    // SAFETY: the child has not been waited for.
    unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) };
    assert_eq!(child.wait().unwrap().code(), Some(128 + libc::SIGTERM));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn programs_one_after_another_share_a_run() {
    for mpi in MPIS {
        let (work, program) = endings(mpi);
        let (launcher, program) = (mpi.tool("mpirun"), program.to_str().unwrap());
        let one = |ranks, way| format!("{launcher} -n {ranks} {program} {way}");
        let script = format!("{}; {}", one(2, "return mistaken"), one(1, "leak"));
        let run = work.run_job(&[], &["sh", "-c", &script]);
        run.ends_with(66).finds(&["CS-BUF-01 mistake", "CS-REQ-01 main"]);
        assert_eq!(run.out.matches("is fine").count(), 3, "{}", run.text());
    }
}

/// The finding that ends a job is complete, though its other side is in the log of a rank that ends
/// without a word.
#[test]
fn a_job_can_end_at_its_first_finding() {
    for mpi in MPIS {
        let work = Work::new("halt", mpi);
        let program = work.compile("cases/fail/rma/probe_then_load.c", &["-g"]);
        let run = work.run(&["--halt-on-error"], 2, &program, &[]);
        run.ends_with(66).finds(&["CS-RMA-03 main"]).is_silent_about("was it killed");
        run.says("rank 0: MPI_Put writes 4 bytes").says("rank 1: 4-byte read");
        assert!(has_note(&run, 1, "ended the job at its first finding"), "{}", run.text());
    }
}

#[test]
fn threads_that_do_everything_at_once_are_right() {
    for mpi in MPIS {
        let work = Work::new("threads", mpi);
        let program = work.compile("robust/threads.c", &["-g", "-pthread"]);
        // Threads that wait keep a core from those they wait for, so that each round takes long.
        let run = work.run(&[], 2, &program, &["200"]);
        run.ends_with(0).finds(&[]).says("rank 0: 0 wrong").says("rank 1: 0 wrong");
        assert!(run.notes().is_empty(), "{}", run.text());
    }
}

#[test]
fn thousands_of_pending_operations_take_no_ages() {
    for mpi in MPIS {
        let work = Work::new("pending", mpi);
        let program = work.compile("robust/pending.c", &["-g"]);
        let run = work.run(&[], 1, &program, &[]);
        run.ends_with(0).finds(&[]).says("0 wrong");
    }
}

#[test]
fn callbacks_run_as_ever() {
    for mpi in MPIS {
        let work = Work::new("callbacks", mpi);
        let program = work.compile("robust/callbacks.c", &["-g", "-pthread"]);
        let run = work.run(&[], 2, &program, &[]);
        // It asks for two errors to see its handler called.
        run.ends_with(66).finds(&["CS-ARG-01 errors"; 2]);
        run.says("rank 0: 0 wrong").says("rank 1: 0 wrong");
    }
}

#[test]
fn accesses_in_a_plugin_are_seen() {
    for mpi in MPIS {
        let work = Work::new("plugin", mpi);
        let program = work.compile("robust/plugin.c", &["-g"]);
        let plugin = work.path("libplugin.so");
        work.compile_as(&plugin, "robust/plugin.c", &["-g", "-DPLUGIN", "-shared", "-fPIC"]);
        let run = work.run(&[], 1, &program, &[plugin.to_str().unwrap()]);
        run.ends_with(66).finds(&["CS-BUF-01 work"]);
        assert_eq!(run.report()["findings"][0]["count"], 3, "{}", run.text());
    }
}

#[test]
fn what_a_module_needs_may_be_for_itself_alone() {
    for mpi in MPIS {
        let work = Work::new("modules", mpi);
        let program = work.compile("robust/modules.c", &["-g"]);
        let modules = ["checked.so", "plain.so"].map(|name| work.path(name));
        let options = ["-shared", "-fPIC", "-fopenmp", "-Wl,--no-as-needed", "-lstdc++"];
        work.compile_as(&modules[0], "robust/module.cpp", &options);
        work.compile_plain(&modules[1], "robust/module.cpp", &options);
        let modules = modules.each_ref().map(|path| path.to_str().unwrap());
        let run = work.run(&[], 2, &program, &modules);
        run.ends_with(0).finds(&[]);
        assert_eq!(run.out.matches("sum 499503").count(), 4, "{}", run.text());
    }
}

/// Python's frames are known of CPython 3.11, Debian 12's.
#[test]
fn findings_name_lines_of_scripts() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/robust/script.py");
    let script = script.canonicalize().unwrap();
    let text = fs::read_to_string(&script).unwrap();
    let at = |mark: &str| text.lines().position(|line| line.ends_with(mark)).unwrap() as u64 + 1;
    for mpi in MPIS {
        let work = Work::new("script", mpi);
        let run = |options: &[&str], mistake: &str| {
            let script = script.to_str().unwrap();
            let python = ["python3", script, mistake, mpi.library()];
            work.run_job(options, &[&[&*mpi.tool("mpirun"), "-n", "2"][..], &python].concat())
        };
        let lines = |run: &Run, finding: usize| {
            let site = |site: &Value| {
                assert!(site["file"].as_str().unwrap().ends_with("script.py"), "{}", run.text());
                site["line"].as_u64().unwrap()
            };
            let report = run.report();
            let sites = report["findings"][finding]["sites"].as_array().unwrap();
            sites.iter().map(site).collect::<Vec<_>>()
        };
        // What differs in the script's line alone is another finding.
        let overlaps = run(&[], "overlap");
        overlaps.ends_with(66).finds(&["CS-BUF-04 overlap"; 2]);
        let mut both = [lines(&overlaps, 0), lines(&overlaps, 1)];
        both.sort();
        let expected = [["# first", "# second"], ["# third", "# fourth"]];
        for (found, expected) in both.iter_mut().zip(expected.map(|marks| marks.map(at))) {
            found.sort_unstable();
            assert_eq!(found.first_chunk(), Some(&expected), "{}", overlaps.text());
        }
        // Another thread reports the wait.
        let waits = run(&["--stuck-after", "1"], "wait");
        waits.finds(&["CS-DLK-01 wait"]);
        assert_eq!(lines(&waits, 0), [at("# waits"); 2], "{}", waits.text());
        let stack = waits.report()["findings"][0]["sites"][0]["stack"].to_string();
        assert!(stack.contains("<module>"), "{stack}");
    }
}

#[test]
fn slips_on_the_command_line_are_understood() {
    let work = Work::new("slips", Mpi::Mpich);
    let run = |words: &[&str]| work.finish(&mut work.commsan(words));
    run(&["run", "-n", "2", "./a"]).ends_with(2).says("commsan run -- mpirun -n 2 ./app");
    run(&["cc", "nosuchcompiler", "a.c"]).ends_with(127).says("no compiler `nosuchcompiler`");
}

/// A rank that does not look at its notices costs findings at most, and hears of it.
#[test]
fn more_operations_than_can_be_remembered() {
    for mpi in MPIS {
        let work = Work::new("absent", mpi);
        let program = work.compile("robust/absent.c", &["-g"]);
        let run = work.run(&[], 2, &program, &[]);
        run.ends_with(0).finds(&[]).says("rank 1 has 100000");
        assert!(has_note(&run, 1, "could not be followed"), "{}", run.text());
        let killed = work.run(&[], 2, &program, &["kill"]);
        killed.finds(&[]).is_silent_about("panick");
        assert!(has_note(&killed, 0, KILLED), "{}", killed.text());
    }
}

#[test]
fn checks_can_be_limited_to_what_lint_has_flagged() {
    // clang, whose objects lint can read.
    let work = Work::new("flagged", Mpi::Mpich);
    let program = work.compile("robust/flagged.c", &["-g"]);
    work.run(&[], 2, &program, &[]).ends_with(66).finds(&["CS-COL-02 main", "CS-COL-04 main"]);
    let file = work.path("checks.toml");
    let checks = file.to_str().unwrap();
    let linted = [Path::new("lint"), &program, Path::new("--emit-checks"), &file];
    work.finish(&mut work.commsan(&linted)).ends_with(66);
    let limited = ["--checks", checks];
    work.run(&limited, 2, &program, &[]).ends_with(66).finds(&["CS-COL-02 main"]);
    fs::write(&file, "schema = 1\nthreads = []\ncollectives = []\n").unwrap();
    work.run(&limited, 2, &program, &[]).ends_with(0).finds(&[]);
    fs::write(&file, "[[suppress]]\n").unwrap();
    work.run(&limited, 2, &program, &[]).ends_with(2).says("--emit-checks");
}

#[test]
fn checks_of_threads_can_be_left_out() {
    let work = Work::new("threads-left-out", Mpi::OpenMpi);
    let program = work.compile("cases/fail/threads/levels/region.c", &["-g", "-fopenmp"]);
    work.run(&[], 2, &program, &[]).ends_with(66).finds(&["CS-THR-01 main (OpenMP region)"]);
    work.run(&["--thread-checks=false"], 2, &program, &[]).ends_with(0).finds(&[]);
}

/// A finding says how the rank has ended; nothing else guesses.
#[test]
fn who_ends_without_mpi_is_told_once() {
    for mpi in MPIS {
        let work = Work::new("init", mpi);
        for (source, what) in [("before", "CS-INI-01 main"), ("never", "CS-INI-02 main")] {
            let program = work.compile(&format!("cases/fail/init/{source}.c"), &["-g", "-O0"]);
            let run = work.run(&[], 1, &program, &[]);
            run.ends_with(66).finds(&[what]);
            assert_eq!(run.notes(), Vec::<String>::new(), "{source}");
        }
    }
}

/// What a user sees first; the script itself fails when a finding is missing or one too many.
#[test]
fn the_demo_finds_its_mistake_and_passes_its_correction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let demo = Command::new(root.join("scripts/demo.sh"))
        .env_remove("OMPI_ALLOW_RUN_AS_ROOT")
        .env_remove("OMPI_MCA_rmaps_base_oversubscribe")
        .stdin(Stdio::null())
        .output()
        .expect("the script can be started");
    let [shown, errors] = [&demo.stdout, &demo.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(demo.status.success(), "{shown}\n{errors}");
    for words in
        ["write to the buffer of a pending send", "exchange_buggy.c:28", "commsan: no findings"]
    {
        assert!(shown.contains(words), "`{words}` is not in\n{shown}\n{errors}");
    }
}

/// What CMake takes the compiler's archiver to be is there.
#[test]
fn cmake_optimizes_archives_at_link_time() {
    let work = Work::new("ipo", Mpi::OpenMpi);
    fs::write(work.path("flagged.c"), include_str!("../../../tests/robust/flagged.c")).unwrap();
    fs::write(work.path("other.c"), "int other(void) { return 1; }\n").unwrap();
    let project = "cmake_minimum_required(VERSION 3.21)\nproject(flagged C)\n\
                   set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\n\
                   add_library(other STATIC other.c)\nadd_executable(flagged flagged.c)\n\
                   target_link_libraries(flagged other)\n";
    fs::write(work.path("CMakeLists.txt"), project).unwrap();
    let commsan = work.commsan::<&str>(&[]);
    let wrapper = Path::new(commsan.get_program()).with_file_name("commsan-cc");
    let compiler = format!("-DCMAKE_C_COMPILER={}", wrapper.display());
    let mut configure = work.command("cmake", &["-S", ".", "-B", "build", &compiler]);
    work.finish(configure.env("COMMSAN_CC", work.mpi.tool("mpicc"))).ends_with(0);
    let mut build = work.command("cmake", &["--build", "build"]);
    work.finish(build.env("COMMSAN_CC", work.mpi.tool("mpicc"))).ends_with(0);
    let program = work.path("build/flagged");
    work.run(&[], 2, &program, &[]).ends_with(66).finds(&["CS-COL-02 main", "CS-COL-04 main"]);
}

#[test]
fn cmake_compiles_and_links_by_launchers() {
    for mpi in MPIS {
        let work = Work::new("cmake", mpi);
        let source = include_str!("../../../tests/robust/flagged.c");
        fs::write(work.path("flagged.c"), source).unwrap();
        let project = "cmake_minimum_required(VERSION 3.21)\nproject(flagged C)\n\
                       add_executable(flagged flagged.c)\n";
        fs::write(work.path("CMakeLists.txt"), project).unwrap();
        let commsan = work.commsan::<&str>(&[]);
        let wrapper = Path::new(commsan.get_program()).with_file_name("commsan-cc");
        let compiler = format!("-DCMAKE_C_COMPILER={}", mpi.tool("mpicc"));
        let launchers = ["COMPILER", "LINKER"]
            .map(|what| format!("-DCMAKE_C_{what}_LAUNCHER={}", wrapper.display()));
        let configure = ["-S", ".", "-B", "build", &compiler, &launchers[0], &launchers[1]];
        work.finish(&mut work.command("cmake", &configure)).ends_with(0);
        work.finish(&mut work.command("cmake", &["--build", "build"])).ends_with(0);
        let program = work.path("build/flagged");
        work.run(&[], 2, &program, &[]).ends_with(66).finds(&["CS-COL-02 main", "CS-COL-04 main"]);
    }
}
