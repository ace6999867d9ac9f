//! What `commsan lint` is given: every kind of file that it reads, and every kind that it cannot
//! read, which it says, with advice, and without a crash; and what options make of its findings.
//!
//! The compilers, plugin included, are those that `make build` has installed.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{Outcome, Place, outcome};

/// A program with one finding, at line 9.
const PROGRAM: &str = "#include <mpi.h>
static int value;
void send(void);
int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
#pragma omp single
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  send();
  MPI_Finalize();
  return 0;
}
";
const OTHER: &str = "void send(void) {}\n";
const FINDING: &str = "CS-THR-01";

fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("a.c"), PROGRAM).unwrap();
    fs::write(place.path("b.c"), OTHER).unwrap();
    place
}

/// Runs a shell command that has to succeed; `$CC` compiles for lint, `$PLAIN` is the compiler
/// alone.
fn shell(place: &Place, script: &str) {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dist");
    let commsan = built.join("bin/commsan");
    let output = Command::new("sh")
        .args(["-ec", script])
        .current_dir(&place.directory)
        .env("CC", format!("{} cc mpicc.mpich -fopenmp -g", commsan.display()))
        .env("PLAIN", "mpicc.mpich -fopenmp -g")
        .env("MPICH_CC", "clang-19")
        .env("COMMSAN_LIB", built.join("lib/commsan"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{told}\n`make build` comes first");
}

fn lint(place: &Place, arguments: &[&str]) -> Outcome {
    outcome(place.commsan(&[&["lint"], arguments].concat()).env("NO_COLOR", "1"))
}

#[track_caller]
fn finds(outcome: &Outcome) {
    outcome.ends_with(66);
    assert!(outcome.out.contains(FINDING) && outcome.out.contains("a.c:9"), "{}", outcome.out);
}

#[test]
fn objects_programs_libraries_and_archives_are_read() {
    let place = place();
    shell(
        &place,
        "$CC -c a.c && $CC -c b.c && $CC a.o b.o -o program && strip -o stripped program
         $CC -fPIC -shared a.c b.c -o library.so
         ar rc archive.a a.o b.o && ar rcT thin.a a.o b.o",
    );
    for files in [
        &["a.o", "b.o"][..],
        &["program"],
        &["stripped"],
        &["library.so"],
        &["archive.a"],
        &["thin.a"],
    ] {
        finds(&lint(&place, files));
    }
}

#[test]
fn libraries_of_the_program_that_nobody_has_named_are_told() {
    let place = place();
    shell(&place, "$CC -fPIC -shared b.c -o libb.so && $CC a.c ./libb.so -o program");
    let told = "functions of `./libb.so`: name the libraries";
    assert!(lint(&place, &["program"]).out.contains(told));
    assert!(!lint(&place, &["program", "libb.so"]).out.contains(told));
}

#[test]
fn all_programs_of_a_build_are_analysed() {
    let place = place();
    fs::write(place.path("c.c"), PROGRAM.replace("  send();\n", "")).unwrap();
    shell(&place, "$CC -c a.c && $CC -c b.c && $CC -c c.c");
    let both = lint(&place, &["a.o", "b.o", "c.o"]);
    finds(&both);
    assert!(both.out.contains("c.c:9"), "{}", both.out);
    let told = "2 programs were analysed, each with the files that its `main` needs: `a.c`, `c.c`";
    assert!(both.out.contains(told), "{}", both.out);
    let ends = both.out.contains("2 findings (2 errors)") && both.out.contains("of 3 files");
    assert!(ends, "{}", both.out);
    assert!(!lint(&place, &["a.o", "b.o"]).out.contains("programs were"));
}

#[test]
fn what_was_followed_is_counted_in_all_formats() {
    const PROGRAM: &str = "#include <mpi.h>
void hand_over(MPI_Request *request);
static int out[8], in[8];
int main(int argc, char **argv) {
  MPI_Request one, other;
  MPI_Init(&argc, &argv);
  MPI_Irecv(in, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &one);
  MPI_Wait(&one, MPI_STATUS_IGNORE);
  MPI_Isend(out, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &other);
  hand_over(&other);
  MPI_Finalize();
  return 0;
}
";
    let place = place();
    fs::write(place.path("a.c"), PROGRAM).unwrap();
    shell(&place, "$CC -c a.c");
    let result = lint(&place, &["a.o", "--json", "report.json", "--sarif", "report.sarif"]);
    let told = [
        "followed 1 of 2 operations and 1 of 2 requests from start to completion",
        "not followed: `MPI_Isend` at a.c:9, as a call that is not analysed may complete it",
    ];
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(place.path(name)).unwrap()).unwrap()
    };
    let (json, sarif) = (read("report.json"), read("report.sarif"));
    let invocation = &sarif["runs"][0]["invocations"][0];
    for text in told {
        assert!(result.out.contains(text), "{}", result.out);
        assert!(json["run"]["notes"].to_string().contains(text), "{json}");
        assert!(invocation["toolExecutionNotifications"].to_string().contains(text), "{sarif}");
    }
    let followed = &json["run"]["analysed"]["followed"];
    let counts =
        ["started", "operations", "requests", "requests_followed"].map(|key| &followed[key]);
    assert_eq!(counts, [2, 1, 2, 1].map(serde_json::Value::from).each_ref(), "{followed}");
    assert_eq!(followed["not_followed"][0]["why"], "unknown-call");
    assert_eq!(&invocation["properties"]["analysed"]["followed"], followed);
}

#[test]
fn the_mistake_of_the_demo_is_found_and_its_fix_is_clean() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/heat2d");
    let place = Place::new();
    let compile = |exchange: &str| {
        let script = format!(
            "for file in main grid input output solver {exchange}; do
               $CC -c {}/$file.c -o $file.o
             done",
            demo.canonicalize().unwrap().display()
        );
        shell(&place, &script);
    };
    let common = ["main.o", "grid.o", "input.o", "output.o", "solver.o"];
    compile("exchange_buggy");
    let result = lint(&place, &[&common[..], &["exchange_buggy.o"]].concat());
    result.ends_with(66);
    assert!(result.out.contains("CS-BUF-01"), "{}", result.out);
    assert!(result.out.contains("exchange_buggy.c:28"), "{}", result.out);
    compile("exchange");
    let result = lint(&place, &[&common[..], &["exchange.o"]].concat());
    result.ends_with(0);
    assert!(result.out.contains("no findings"), "{}", result.out);
}

#[test]
fn what_waits_for_optimization_at_link_time_is_read() {
    let place = place();
    for option in ["-flto", "-flto=thin", "-flto -ffat-lto-objects"] {
        shell(&place, &format!("$CC -O2 {option} -c a.c -o lto.o"));
        finds(&lint(&place, &["lto.o"]));
    }
}

#[test]
fn bitcode_and_its_text_are_read() {
    let place = place();
    shell(
        &place,
        "$PLAIN -c -emit-llvm a.c -o a.bc && $PLAIN -S -emit-llvm a.c -o a.ll
         $PLAIN -c -fembed-bitcode a.c -o embedded.o && $CC -c -fembed-bitcode a.c -o both.o",
    );
    for file in ["a.bc", "a.ll", "embedded.o", "both.o"] {
        finds(&lint(&place, &[file]));
    }
}

#[test]
fn code_without_bitcode_is_told_apart() {
    let place = place();
    shell(
        &place,
        "MPICH_CC=gcc $PLAIN -c a.c -o gcc.o && ar rc gcc.a gcc.o
         $CC a.c b.c -o program && objcopy -R .llvmcmd program
         : > empty && echo text > text.txt && printf '!<arch>\\n' > empty.a",
    );
    for file in ["gcc.o", "gcc.a", "program", "empty.a"] {
        let result = lint(&place, &[file]);
        result.ends_with(74).says(&format!("`{file}` contains no bitcode"));
        result.says("commsan cc").says("-p BUILD");
    }
    for file in ["empty", "text.txt"] {
        lint(&place, &[file]).ends_with(74).says(&format!("`{file}` is no program"));
    }
    lint(&place, &["nosuch.o"]).ends_with(74).says("cannot read `nosuch.o`");
    lint(&place, &["."]).ends_with(74).says("cannot read `.`");
    lint(&place, &[]).ends_with(2).says("nothing to analyse");
}

#[test]
fn what_another_compiler_has_made_of_a_program_is_named() {
    let place = place();
    shell(
        &place,
        "$CC -c a.c && MPICH_CC=gcc $PLAIN -c b.c && $CC a.o b.o -o mixed && $CC a.c b.c -o whole",
    );
    let note = ", which the program calls, was not read: gcc keeps nothing to read";
    let of = |program: &str| lint(&place, &[program]);
    assert!(of("mixed").out.contains(note), "{}", of("mixed").out);
    assert!(!of("whole").out.contains(note), "{}", of("whole").out);
}

#[test]
fn constructors_of_other_files_have_been_read() {
    let place = place();
    shell(
        &place,
        "echo 'struct Grid { Grid(); int size; };' > grid.h
         echo '#include \"grid.h\"\nGrid::Grid() : size(3) {}' > grid.cc
         echo '#include \"grid.h\"\nint main() { Grid grid; return grid.size; }' > main.cc
         export MPICH_CXX=clang++-19
         $(echo $CC | sed 's/ cc mpicc/ cxx mpicxx/') main.cc grid.cc -o app",
    );
    let outcome = lint(&place, &["app"]);
    outcome.ends_with(0);
    assert!(!outcome.out.contains("was not read"), "{}", outcome.out);
}

#[test]
fn damage_is_noticed() {
    let place = place();
    shell(
        &place,
        "$CC -c a.c && $PLAIN -c -emit-llvm a.c -o a.bc
         objcopy --dump-section .llvmcmd=saved a.o && head -c 2000 saved > cut
         objcopy --update-section .llvmcmd=cut a.o cut.o
         printf 'BC\\300\\336garbage that is no bitcode' > garbage.bc && head -c 3000 a.bc > cut.bc",
    );
    lint(&place, &["cut.o"]).ends_with(74).says("is cut off").says("compile and link it again");
    let mut saved = fs::read(place.path("saved")).unwrap();
    let middle = saved.len() / 2;
    saved[middle] ^= 0x55;
    fs::write(place.path("changed"), saved).unwrap();
    shell(&place, "objcopy --update-section .llvmcmd=changed a.o changed.o");
    lint(&place, &["changed.o"]).ends_with(74).says("is damaged");
    lint(&place, &["garbage.bc"]).ends_with(74).says("garbage.bc");
    lint(&place, &["cut.bc"]).ends_with(74).says("cut.bc");
}

/// Bare bitcode has no checksum, and LLVM's reader does not survive everything.
#[test]
fn no_change_of_bare_bitcode_is_a_silent_end() {
    let place = place();
    shell(&place, "$PLAIN -c -emit-llvm a.c -o a.bc");
    let whole = fs::read(place.path("a.bc")).unwrap();
    // Spread over the file, always the same.
    for step in 0..24 {
        let mut changed = whole.clone();
        let at = 16 + step * (whole.len() - 16) / 24;
        changed[at..].iter_mut().take(3).for_each(|byte| *byte ^= 0x29 + step as u8);
        fs::write(place.path("changed.bc"), changed).unwrap();
        let result = lint(&place, &["changed.bc"]);
        assert!(matches!(result.code, Some(0 | 66 | 74)), "byte {at}: {:?}", result.code);
        assert!(result.code != Some(74) || result.err.contains("changed.bc"), "{}", result.err);
    }
}

#[test]
fn without_line_numbers_functions_are_named() {
    let place = place();
    shell(&place, "$PLAIN -g0 -c -emit-llvm a.c -o a.bc");
    let result = lint(&place, &["a.bc"]);
    result.ends_with(66);
    assert!(result.out.contains("compile with `-g`"), "{}", result.out);
    assert!(result.out.contains("`main`"), "{}", result.out);
}

#[test]
fn sources_that_do_not_compile_are_left_out() {
    let place = place();
    fs::write(place.path("bad.c"), "int f( {\n").unwrap();
    let result = lint(&place, &["a.c", "bad.c", "--", "-fopenmp"]);
    finds(&result);
    result.says("`bad.c` left out").says("error: ");
    lint(&place, &["bad.c"]).ends_with(74).says("no source could be compiled");
    lint(&place, &["nosuch.c"]).ends_with(74).says("`nosuch.c` left out");
}

#[test]
fn modules_of_fortran_need_no_order_and_leave_those_of_the_build_alone() {
    let place = place();
    let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    fs::create_dir(place.path("include")).unwrap();
    write("include/size.inc", "integer, parameter :: n = 4\n");
    write("main.f90", "program p\n  use step\n  call go\nend program\n");
    write(
        "step.f90",
        "module step
contains
  subroutine go
    use mpi
    use data
    integer :: ierr, rank
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (rank == 0) call MPI_Bcast(x, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
  end subroutine
end module
",
    );
    write("z.f90", "module data\n  include 'size.inc'\n  integer :: x(n)\nend module\n");
    write("data.mod", "of gfortran");
    let sources = ["main.f90", "step.f90", "z.f90", "--", "-Iinclude", "-J", "include"];
    let result = lint(&place, &sources);
    result.ends_with(66);
    assert!(
        result.out.contains("CS-COL-01") && result.out.contains("of 3 files"),
        "{}",
        result.out
    );
    assert_eq!(fs::read_to_string(place.path("data.mod")).unwrap(), "of gfortran");
    assert!(!place.path("step.mod").exists() && !place.path("include/step.mod").exists());
}

#[test]
fn a_build_is_read_from_its_compile_commands() {
    let place = place();
    let project = "cmake_minimum_required(VERSION 3.16)
project(two LANGUAGES C)
find_package(MPI REQUIRED)
find_package(OpenMP REQUIRED)
add_executable(program a.c b.c)
target_compile_options(program PRIVATE -O3 -fno-tree-vectorize -Wall)
target_link_libraries(program PRIVATE MPI::MPI_C OpenMP::OpenMP_C)
";
    fs::write(place.path("CMakeLists.txt"), project).unwrap();
    shell(
        &place,
        "cmake -S . -B build -DCMAKE_C_COMPILER=gcc -DMPI_C_COMPILER=mpicc.mpich \\
           -DCMAKE_EXPORT_COMPILE_COMMANDS=ON > log && cmake --build build >> log",
    );
    let result = lint(&place, &["-p", "build"]);
    finds(&result);
    assert!(result.out.contains("of 2 files"), "{}", result.out);
    // The objects themselves are gcc's.
    lint(&place, &["build/program"]).ends_with(74).says("contains no bitcode");
}

#[test]
fn builds_that_cannot_be_read_say_what_is_needed() {
    let place = place();
    let advice = "CMAKE_EXPORT_COMPILE_COMMANDS";
    lint(&place, &["-p", "nosuch"]).ends_with(74).says("compile_commands.json").says(advice);
    let write = |text: &str| fs::write(place.path("compile_commands.json"), text).unwrap();
    for text in ["", "{", "{}", "[1]", "[{\"file\": \"a.c\"}]"] {
        write(text);
        lint(&place, &["-p", "."]).ends_with(74).says("compile_commands.json").says(advice);
    }
    write("[]");
    lint(&place, &["-p", "."]).ends_with(2).says("nothing to analyse");
    let entry = |directory: &str, rest: &str| {
        write(&format!("[{{\"directory\": \"{directory}\", \"file\": \"a.c\"{rest}}}]"));
        lint(&place, &["-p", "."])
    };
    let here: PathBuf = place.directory.path().canonicalize().unwrap();
    let here = here.to_string_lossy().into_owned();
    entry(&here, "").ends_with(74).says("the compile command is empty");
    entry("/nosuch", ", \"command\": \"cc -c a.c\"").ends_with(74).says("/nosuch");
    entry(&here, ", \"command\": \"mpicc 'unfinished\"").ends_with(74).says("left out");
    finds(&entry(&here, ", \"command\": \"mpicc.mpich -fopenmp -c a.c -o a.o\""));
    // Launchers, options of gcc alone, files left beside the object.
    let command = "ccache commsan cc mpicc.mpich -fopenmp -fno-tree-vrp -save-temps -c a.c -o a.o";
    finds(&entry(&here, &format!(", \"command\": \"{command}\"")));
    assert!(!place.path("a.i").exists());
}

/// A condition on the clock is suspected only, one on the rank is certain.
const SUSPECTED: &str = "#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (MPI_Wtime() > 100) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
";

#[test]
fn deny_says_which_findings_fail() {
    let place = place();
    fs::write(place.path("suspected.c"), SUSPECTED).unwrap();
    shell(&place, "$CC -c a.c -o certain.o && $CC -c suspected.c");
    for (file, deny, code) in [
        ("certain.o", "certain", 66),
        ("certain.o", "suspected", 66),
        ("suspected.o", "certain", 0),
        ("suspected.o", "suspected", 66),
    ] {
        let result = lint(&place, &[file, "--deny", deny]);
        result.ends_with(code);
        assert!(result.out.contains(if file == "certain.o" { "error[" } else { "warning[" }));
    }
    lint(&place, &["suspected.o"]).ends_with(66);
}

#[test]
fn what_the_baseline_has_is_not_news() {
    let place = place();
    shell(&place, "$CC -c a.c");
    lint(&place, &["a.o", "--json", "known.json"]).ends_with(66);
    // Lines that move are not news either; another finding is.
    let moved = format!("/* Moved. */\n\n{PROGRAM}");
    let with = |call: &str| {
        let more = format!("#pragma omp parallel\n#pragma omp single\n  {call};\n  send();");
        moved.replace("  send();", &more)
    };
    // So is one more of the same.
    let same = with("MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD)");
    let other = with("MPI_Barrier(MPI_COMM_WORLD)");
    for (program, code) in [(moved.clone(), 0), (other, 66), (same, 66)] {
        fs::write(place.path("a.c"), &program).unwrap();
        shell(&place, "$CC -c a.c");
        let result = lint(&place, &["a.o", "--baseline", "known.json"]);
        result.ends_with(code);
        assert!(!result.out.contains("--> a.c:11"), "{}", result.out);
        assert_eq!(result.out.contains("a.c:14"), code == 66, "{}", result.out);
    }
    lint(&place, &["a.o", "--baseline", "nosuch.json"]).ends_with(2).says("--json FILE");
    fs::write(place.path("known.json"), "{}").unwrap();
    lint(&place, &["a.o", "--baseline", "known.json"]).ends_with(2).says("cannot use the baseline");
}

#[test]
fn suppressions_need_a_reason_and_a_finding() {
    let place = place();
    shell(&place, "$CC -c a.c");
    let generated = lint(&place, &["a.o", "--gen-suppressions"]);
    generated.ends_with(66);
    let entry = generated.out[generated.out.find("[[suppress]]").unwrap()..].to_owned();
    assert!(entry.contains(FINDING), "{entry}");
    let write = |text: &str| fs::write(place.path("known.toml"), text).unwrap();
    write(&format!("[[suppress]]\ncode = \"{FINDING}\"\nreason = \"One thread calls it.\"\n"));
    let silent = lint(&place, &["a.o", "--suppressions", "known.toml"]);
    silent.ends_with(0);
    assert!(silent.out.contains("1 suppressed"), "{}", silent.out);
    write("[[suppress]]\ncode = \"CS-BUF-01\"\nreason = \"None such.\"\n");
    let unused = lint(&place, &["a.o", "--suppressions", "known.toml"]);
    finds(&unused);
    assert!(format!("{}{}", unused.out, unused.err).contains("known.toml"), "{}", unused.out);
    write(&format!("[[suppress]]\ncode = \"{FINDING}\"\n"));
    lint(&place, &["a.o", "--suppressions", "known.toml"]).ends_with(2).says("reason");
}

#[test]
fn libraries_are_called_where_the_user_says() {
    let place = place();
    fs::write(
        place.path("library.c"),
        "#include <mpi.h>\nvoid post(void) { MPI_Barrier(MPI_COMM_WORLD); }\n",
    )
    .unwrap();
    shell(&place, "$CC -c library.c");
    for (context, level) in [
        ("main", "MPI_THREAD_SINGLE"),
        ("master", "MPI_THREAD_FUNNELED"),
        ("single", "MPI_THREAD_SERIALIZED"),
        ("parallel", "MPI_THREAD_MULTIPLE"),
    ] {
        let result = lint(&place, &["library.o", "--initial-context", context]);
        assert!(result.out.contains(level), "{context}: {}\n{}", result.out, result.err);
    }
    let result =
        lint(&place, &["library.o", "--initial-context", "parallel", "--thread-level", "funneled"]);
    result.ends_with(66);
    assert!(result.out.contains(FINDING), "{}", result.out);
}
