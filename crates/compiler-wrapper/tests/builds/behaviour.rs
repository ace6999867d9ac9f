//! Instrumented programs that run without commsan behave as if they were not instrumented.

use crate::setup::{Place, everything, has_plugin, installed};
use commsan_test_cases::sample;

const C: &[&str] = &["gcc", "clang-19", "mpicc.openmpi", "mpicc.mpich"];
const CXX: &[&str] = &["g++", "clang++-19"];
const FORTRAN: &[&str] = &["gfortran"];

/// A build with a wrapper gives the output of the build without, has hooks and no libtsan.
#[track_caller]
fn unchanged(wrapper: &str, compiler: &str, arguments: &str) {
    let place = Place::new();
    let command = format!("{compiler} {arguments}");
    place.ok(&format!("{compiler} {arguments} -o plain"));
    let said = place.ok(&format!("{wrapper} {compiler} {arguments} -o wrapped"));
    // Without a plugin, checks are calls, which is said.
    match wrapper.contains("BARE") {
        true => assert_eq!(said.matches("calls a function at each load").count(), 1, "{said}"),
        false => assert_eq!(said, "", "{command}"),
    }
    assert_eq!(place.ok("./wrapped"), place.ok("./plain"), "{command}");
    let symbols = place.ok("nm wrapped");
    let hooked = symbols.contains("commsan_report") && symbols.contains("__tsan_init");
    assert!(hooked && !symbols.contains(" U __tsan"), "{command}\n{symbols}");
    assert!(!place.ok("ldd wrapped; true").contains("tsan"), "{command}");
    assert!(!place.ok("nm -D wrapped; true").contains("__tsan"), "{command}");
}

/// Compares one of many builds that are alike, as [`unchanged`] does: in CI's limited time, only in
/// every other turn.
#[track_caller]
fn unchanged_in_turn(wrapper: &str, compiler: &str, arguments: &str) {
    if sample::runs(&format!("{compiler} {arguments}")) {
        unchanged(wrapper, compiler, arguments);
    }
}

#[test]
fn c_programs() {
    for compiler in installed(C) {
        for options in ["-O0", "-O2 -D_FORTIFY_SOURCE=2", "-O2 -no-pie", "-O3 -flto"] {
            unchanged_in_turn("@cc", compiler, &format!("-mcx16 {options} SRC/program.c"));
        }
    }
    unchanged("@cc", "gcc", "-O2 -fopenmp -mcx16 SRC/program.c");
    for compiler in installed(&["gcc", "clang-19"]) {
        unchanged("COMMSAN_LIB=BARE @cc", compiler, "-O2 -mcx16 SRC/program.c");
    }
}

#[test]
fn resolvers_run_before_anything_else() {
    for compiler in installed(&["gcc", "clang-19"]) {
        for options in ["-O2", "-O2 -no-pie -Wl,-z,now"] {
            unchanged_in_turn("@cc", compiler, &format!("{options} SRC/clones.c"));
        }
        unchanged("COMMSAN_LIB=BARE @cc", compiler, "-O2 SRC/clones.c");
    }
}

#[test]
fn cxx_programs() {
    for compiler in installed(CXX) {
        for options in ["-O0", "-O2 -flto -static-libstdc++ -static-libgcc"] {
            unchanged_in_turn("@cxx", compiler, &format!("{options} -pthread SRC/program.cc"));
        }
        unchanged("@cxx", compiler, "-O2 -fsanitize=undefined -pthread SRC/program.cc");
        unchanged("COMMSAN_LIB=BARE @cxx", compiler, "-O2 -pthread SRC/program.cc");
        unchanged_in_turn("@cxx", compiler, "-O3 -march=native -w SRC/algorithms.cc");
    }
}

#[test]
fn fortran_programs() {
    for compiler in installed(FORTRAN) {
        for options in ["-O0", "-O2", "-O3 -flto", "-O2 -static-libgfortran"] {
            unchanged_in_turn("@fc", compiler, &format!("{options} SRC/program.f90"));
        }
        unchanged("COMMSAN_LIB=BARE @fc", compiler, "-O2 SRC/program.f90");
    }
}

#[test]
fn mpi_programs() {
    for compiler in installed(&["mpicc.openmpi", "mpicc.mpich"]) {
        unchanged("OMPI_ALLOW_RUN_AS_ROOT=1 @cc", compiler, "SRC/mpi.c");
    }
}

#[test]
fn separate_compilation_and_relocatable_objects() {
    for compiler in installed(&["gcc", "clang-19"]) {
        let place = Place::new();
        place.ok(&format!("@cc {compiler} -O2 -mcx16 -c SRC/program.c -o a.o"));
        place.ok(&format!("@cc {compiler} -r a.o -o b.o"));
        place.ok(&format!("@cc {compiler} b.o -o wrapped"));
        place.ok(&format!("{compiler} -O2 -mcx16 SRC/program.c -o plain"));
        assert_eq!(place.ok("./wrapped"), place.ok("./plain"));
        place.ok("nm b.o | grep -q 'U __.*san' # hooks stay open");
        place.ok(&format!("ar rc all.a a.o && @cc {compiler} all.a -o archived"));
        assert_eq!(place.ok("./archived"), place.ok("./plain"));
    }
}

#[test]
fn static_programs_link_and_run() {
    let place = Place::new();
    place.ok("@cc gcc -O2 -mcx16 -c SRC/program.c -o a.o && @cc gcc -static a.o -o wrapped");
    place.ok("gcc -O2 -mcx16 SRC/program.c -o plain");
    assert_eq!(place.ok("./wrapped"), place.ok("./plain"));
    let in_one_step = installed(&["clang-19", "gcc"]);
    for compiler in in_one_step.into_iter().filter(|c| *c != "gcc" || has_plugin()) {
        place.ok(&format!("@cc {compiler} -O2 -mcx16 -static SRC/program.c -o wrapped"));
        assert_eq!(place.ok("./wrapped"), place.ok("./plain"));
    }
}

#[test]
fn libraries_carry_their_own_hooks() {
    for compiler in installed(&["gcc", "clang-19"]) {
        let place = Place::new();
        place.ok(&format!("@cc {compiler} -O2 -fPIC -shared SRC/library.c -o library.so"));
        place.ok(&format!("{compiler} -O2 -fPIC -c SRC/library.c -o plain.o"));
        place.ok(&format!("@cc {compiler} -shared plain.o -o uninstrumented.so"));
        place.ok("gcc SRC/loader.c -o plain && @cc gcc SRC/loader.c -o wrapped");
        for program in ["./plain", "./wrapped"] {
            for library in ["./library.so", "./uninstrumented.so"] {
                assert_eq!(place.ok(&format!("{program} {library}")), "early 2\n");
            }
        }
        assert!(!place.ok("nm -D library.so").contains("__tsan"), "hooks must not be exported");
    }
}

#[test]
fn exit_status_and_signals_are_the_programs() {
    let place = Place::new();
    place.ok("@cc gcc -mcx16 SRC/program.c -o wrapped");
    assert_eq!(place.sh("./wrapped 3").status.code(), Some(3));
    assert_eq!(place.sh("./wrapped abort").status.code(), Some(128 + 6));
}

#[test]
fn too_little_address_space_is_explained() {
    let place = Place::new();
    place.ok("@cc gcc -mcx16 SRC/program.c -o wrapped");
    let output = place.sh("ulimit -v 40000; ./wrapped");
    assert_eq!(output.status.code(), Some(1));
    let said = everything(&output);
    assert!(said.contains("commsan: cannot map 64 MiB") && said.contains("ulimit -v"), "{said}");
}

#[test]
fn hooks_of_another_version_stay_off() {
    let place = Place::new();
    place.ok("gcc -shared -fPIC -I SRC/../../instrument/hooks SRC/other_version.c -o other.so");
    place.ok("@cc gcc -O2 -fPIC -shared SRC/library.c -o library.so && gcc SRC/loader.c -o plain");
    let said = place.ok("LD_PRELOAD=./other.so ./plain ./library.so");
    assert!(said.contains("another commsan version"), "{said}");
    assert!(said.contains("early 2\n"), "{said}");
}
