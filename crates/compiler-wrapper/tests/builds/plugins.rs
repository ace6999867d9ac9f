//! Plugins that are compiled when they are needed, and what happens where none can be.

use crate::setup::{Place, has, has_plugin};

/// The cache of a place.
const CACHE: &str = "export XDG_CACHE_HOME=$PWD/cache COMMSAN_LIB=BARE";

/// A compiler that is another one but for some answers, by cases of the shell.
fn pretending(place: &Place, name: &str, real: &str, cases: &str) {
    let script = format!("#!/bin/sh\\ncase \"$*\" in {cases} *) exec {real} \"$@\";; esac\\n");
    place.ok(&format!("printf '%b' '{script}' > {name} && chmod +x {name}"));
}

#[test]
fn many_compilers_at_once_compile_gccs_plugin_once() {
    if !has_plugin() {
        return;
    }
    let place = Place::new();
    let said = place.ok(&format!(
        "{CACHE}
        for n in 1 2 3 4 5 6 7 8; do @cc gcc -O2 -w -DFREE_OF_CHECKS -c SRC/loops.c -o $n.o & done
        wait
        @cc gcc 8.o LIB/harness.o -o program && ./program
        ls cache/commsan/*/ | grep -vc lock"
    ));
    assert_eq!(said, "passed\n1\n");
}

#[test]
fn a_vendors_compiler_gets_the_plugin_of_its_llvm() {
    if !has("clang-19") {
        return;
    }
    let place = Place::new();
    let version = "--version) echo AMD clang version 19.0.0 \\(CLANG: AOCC\\);;";
    pretending(&place, "amdclang", "clang-19", version);
    let said = place.ok(&format!(
        "{CACHE}
        @cc ./amdclang -O2 -w SRC/vectors.c LIB/harness.o -o program && ./program
        nm program | grep -o ' __commsan_write$'"
    ));
    assert_eq!(said, "passed\n __commsan_write\n");
}

/// Builds three files with a compiler that gets no plugin; returns what was said.
fn build(place: &Place, compiler: &str) -> String {
    place.ok(&format!(
        "{CACHE}
        for n in 1 2 3; do @cc {compiler} -O2 -w -c SRC/language.c -o $n.o || exit; done
        @cc {compiler} 3.o LIB/harness.o -o program && ./program"
    ))
}

#[track_caller]
fn warned_once(said: &str, why: &str, cure: &str) {
    assert_eq!(said.matches("warning").count(), 1, "{said}");
    assert!(said.contains(why) && said.contains("times slower"), "{said}");
    assert!(said.contains(cure) && said.contains("passed"), "{said}");
}

#[test]
fn without_headers_gcc_calls_hooks_and_one_warning_says_so() {
    let place = Place::new();
    pretending(&place, "gcc", "gcc", "-print-file-name=plugin) echo plugin;;");
    warned_once(&build(&place, "./gcc"), "'s plugin headers are missing", "-plugin-dev");
}

#[test]
fn without_headers_clang_calls_hooks_and_one_warning_says_so() {
    if !has("clang-19") {
        return;
    }
    let place = Place::new();
    let cases = "--version) echo clang version 18.1.0;; -print-resource-dir) echo /none;;";
    pretending(&place, "clang", "clang-19", cases);
    warned_once(&build(&place, "./clang"), "LLVM 18's headers are missing", "llvm-18-dev");
}

#[test]
fn a_plugin_that_cannot_be_compiled_breaks_no_build() {
    if !has_plugin() {
        return;
    }
    let place = Place::new();
    // Headers that are none: every compiler refuses them.
    place.ok("mkdir -p plugin/include && echo '#error none' > plugin/include/gcc-plugin.h");
    pretending(
        &place,
        "gcc",
        "gcc",
        &format!("-print-file-name=plugin) echo {}/plugin;;", place.0.display()),
    );
    warned_once(&build(&place, "./gcc"), "cannot compile the plugin for gcc", ".failed");
    place.ok("grep -q 'error.*none' cache/commsan/*/gcc-*.failed");
}
