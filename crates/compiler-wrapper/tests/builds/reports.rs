//! What the hooks report, exactly.

use crate::setup::{Place, has, has_plugin, installed};
use commsan_test_cases::sample;

const LEVELS: &[&str] =
    &["-O0", "-Og", "-O1", "-O2", "-Os", "-O3", "-O3 -march=x86-64-v3", "-Ofast -g0", "-O2 -flto"];

/// Builds with a wrapper and runs against the harness, which checks and says "passed".
#[track_caller]
fn passes(build: &str) {
    let place = Place::new();
    place.ok(&format!("{build} LIB/harness.o -o program"));
    assert_eq!(place.ok("./program"), "passed\n", "{build}");
}

/// Builds and runs one of many programs that are alike, as [`passes`] does: in CI's limited time,
/// only in every other turn.
#[track_caller]
fn passes_in_turn(build: &str) {
    if sample::runs(build) {
        passes(build);
    }
}

#[test]
fn every_entry_point_of_the_abi() {
    passes("@cc gcc -pthread LIB/abi.o");
}

#[test]
fn accesses_of_c_whatever_the_compiler_makes_of_them() {
    for compiler in installed(&["gcc", "clang-19"]) {
        for options in ["-O0", "-O2", "-O3 -march=haswell", "-Os", "-O2 -flto"] {
            passes_in_turn(&format!("@cc {compiler} {options} -w SRC/language.c"));
        }
    }
}

#[test]
fn every_shape_of_access_by_the_gcc_plugin() {
    if !has_plugin() {
        return;
    }
    for options in LEVELS {
        passes_in_turn(&format!("@cc gcc {options} -w SRC/shapes.c"));
        passes_in_turn(&format!("@cxx g++ {options} -w SRC/shapes.cc"));
        if has("gfortran") {
            passes_in_turn(&format!("@fc gfortran {options} -cpp -w SRC/shapes.f90 LIB/fortran.o"));
        }
    }
}

/// Loops with a copy that has no checks.
fn loops(compiler: &str, options: &[&str], defined: &str) {
    if has(compiler) {
        for options in options {
            passes_in_turn(&format!("@cc {compiler} {options} -w {defined} SRC/loops.c"));
        }
    }
}

#[test]
fn loops_of_gcc() {
    loops("gcc", LEVELS, "");
}

#[test]
fn loops_of_gcc_are_free_of_checks() {
    if has_plugin() {
        let options = ["-O1", "-O2", "-O3 -march=x86-64-v3", "-O2 -flto"];
        loops("gcc", &options, "-DFREE_OF_CHECKS -DNOTED_AT_ONCE");
    }
}

#[test]
fn loops_of_clang() {
    loops("clang-19", LEVELS, "");
}

#[test]
fn loops_of_clang_are_noted_at_once() {
    loops("clang-19", &["-O1", "-O2", "-O2 -flto"], "-DNOTED_AT_ONCE");
}

/// Functions and loops that start nothing.
#[test]
fn what_starts_nothing_is_free_of_checks_while_nothing_is_live() {
    let compilers = ["gcc", "clang-19"].into_iter().filter(|c| has(c));
    for compiler in compilers.filter(|c| *c != "gcc" || has_plugin()) {
        for options in LEVELS {
            // For speed, where that is wanted.
            let is_free = !["-O0", "-Og", "-Os"].contains(options);
            let defined = if is_free { "-DFREE_OF_CHECKS" } else { "" };
            passes_in_turn(&format!("@cc {compiler} {options} -w {defined} SRC/calm.c"));
        }
    }
}

/// Loops of which it is known what they may access, with something pending elsewhere.
#[test]
fn what_cannot_reach_anything_pending_is_free_of_checks() {
    let compilers = ["gcc", "clang-19"].into_iter().filter(|c| has(c));
    for compiler in compilers.filter(|c| *c != "gcc" || has_plugin()) {
        let levels = [("-O1", 1), ("-O2", 2), ("-O3 -march=x86-64-v3", 2), ("-O2 -flto", 2)];
        for (options, free) in levels {
            passes_in_turn(&format!(
                "@cc {compiler} {options} -w -DFREE_OF_CHECKS={free} SRC/reach.c"
            ));
        }
    }
}

#[test]
fn gcc_without_the_plugin() {
    passes("COMMSAN_LIB=BARE @cc gcc -O2 -w SRC/language.c");
    passes("COMMSAN_LIB=BARE @cc gcc -O2 -w SRC/own.c SRC/own_functions.c");
    if has("gfortran") {
        passes("COMMSAN_LIB=BARE @fc gfortran -O2 -cpp SRC/fortran.f90 LIB/fortran.o");
    }
}

/// Whether this processor has the instructions that a program is compiled to.
fn runs_here(options: &str) -> bool {
    let needs_avx512 = options.contains("-march=skylake-avx512");
    !needs_avx512
        || is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
}

#[test]
fn every_shape_of_access_by_the_pass_plugin() {
    if has("clang-19") {
        for options in [
            "-O0",
            "-O1",
            "-O2",
            "-Os",
            "-O3 -march=x86-64-v3",
            "-O3 -march=skylake-avx512 -mprefer-vector-width=512 -DWIDE",
            "-O0 -march=skylake-avx512 -DWIDE",
            "-O2 -flto",
            "-O2 -flto=thin",
            "-O2 -flto -ffat-lto-objects",
        ] {
            if runs_here(options) {
                passes_in_turn(&format!("@cc clang-19 {options} -w SRC/vectors.c"));
            }
        }
    }
}

#[test]
fn clang_without_the_plugin() {
    if has("clang-19") {
        for options in ["-O0", "-O2", "-O3 -march=skylake-avx512", "-O3 -march=x86-64-v3"] {
            if runs_here(options) {
                passes_in_turn(&format!(
                    "COMMSAN_LIB=BARE @cc clang-19 {options} -w SRC/language.c"
                ));
            }
        }
    }
}

#[test]
fn fortran_of_flang() {
    if has("flang-new-19") {
        for options in ["-O0", "-O1", "-O2", "-O3 -march=x86-64-v3"] {
            passes(&format!("@fc flang-new-19 {options} -cpp SRC/flang.f90 LIB/fortran.o"));
        }
    }
}

#[test]
fn libc_functions_touch_what_they_touch() {
    for compiler in installed(&["gcc", "clang-19", "mpicc.mpich"]) {
        for options in ["-O0 -fno-builtin", "-O2 -D_FORTIFY_SOURCE=2 -fno-builtin"] {
            passes(&format!("@cc {compiler} {options} -w SRC/libc.c"));
        }
    }
}

#[test]
fn functions_of_the_program_that_have_names_of_libc() {
    for compiler in installed(&["gcc", "clang-19"]) {
        passes(&format!("@cc {compiler} -w SRC/own.c SRC/own_functions.c"));
    }
}

#[test]
fn fortran_statements_and_assignments() {
    for compiler in installed(&["gfortran", "mpifort.openmpi"]) {
        for options in ["-O0", "-O2"] {
            passes(&format!("@fc {compiler} {options} -cpp SRC/fortran.f90 LIB/fortran.o"));
        }
    }
}

/// They are reported, and the library gets a variable for the code.
#[test]
fn fortran_calls_without_the_error_code() {
    let plugin = has_plugin().then_some("gfortran");
    let flang = has("flang-new-19").then_some("flang-new-19");
    for compiler in plugin.into_iter().chain(flang) {
        for options in ["-O0", "-O2", "-O2 -flto"] {
            let place = Place::new();
            place.ok("gcc -O1 -w -c SRC/ierror.c -o library.o");
            place.ok(&format!("@fc {compiler} {options} SRC/ierror.f90 library.o -o program"));
            assert_eq!(place.ok("./program"), "passed\n", "{compiler} {options}");
        }
    }
}

#[test]
fn the_fast_path_is_a_handful_of_instructions() {
    let place = Place::new();
    let listing = place.ok("objdump -d --no-show-raw-insn LIB/obj/access.o LIB/obj/frames.o");
    for (hook, most) in [("__tsan_read8", 7), ("__tsan_write8", 7), ("__tsan_func_exit", 5)] {
        let body = listing.split_once(&format!("<{hook}>:\n")).unwrap().1;
        let path: Vec<_> = body.lines().take_while(|l| !l.ends_with("ret")).collect();
        assert!(path.len() < most, "{hook}: {path:#?}");
        assert!(!path.iter().any(|l| l.contains("push") || l.contains("(%rsp)")), "{path:#?}");
    }
}
