//! Build systems see the compiler they asked for.

use crate::setup::{Place, driver, everything, has, installed, library};

/// Status, output and messages are the same with and without a wrapper.
#[track_caller]
fn same(place: &Place, wrapper: &str, command: &str) {
    let (plain, wrapped) = (place.sh(command), place.sh(&format!("{wrapper} {command}")));
    assert_eq!(plain.status.code(), wrapped.status.code(), "{command}");
    assert_eq!(everything(&plain), everything(&wrapped), "{command}");
}

#[test]
fn questions_get_the_compilers_answer() {
    let place = Place::new();
    let compilers = ["gcc", "clang-19", "cc", "mpicc.openmpi", "mpicc.mpich"];
    for compiler in installed(&compilers) {
        for question in [
            "--version",
            "-v",
            "-dumpversion",
            "-dumpmachine",
            "-print-search-dirs",
            "-E SRC/program.c",
            "-dM -E -x c /dev/null",
            "-MM SRC/program.c",
            "-### -S SRC/program.c",
            "-fsyntax-only SRC/program.c",
            "",
            "--no-such-option",
            "-E - < SRC/mpi.c",
        ] {
            same(&place, "@cc", &format!("{compiler} {question}"));
        }
    }
    for (compiler, question) in [
        ("mpicc.openmpi", "--showme:compile"),
        ("mpicc.openmpi", "-showme -c a.c"),
        ("mpicc.mpich", "-show -c a.c"),
        ("mpicc.mpich", "-compile_info"),
    ] {
        if has(compiler) {
            same(&place, "@cc", &format!("{compiler} {question}"));
        }
    }
}

#[test]
fn errors_and_warnings_are_the_compilers() {
    let place = Place::new();
    std::fs::write(place.0.join("wrong.c"), "int main(void) { retrun 0; }\n").unwrap();
    std::fs::write(place.0.join("unused.c"), "int f(void) { int a; return 0; }\n").unwrap();
    for compiler in installed(&["gcc", "clang-19", "mpicc.mpich"]) {
        same(&place, "@cc", &format!("{compiler} -c wrong.c"));
        same(&place, "@cc", &format!("{compiler} -Wall -c unused.c"));
        same(&place, "@cc", &format!("{compiler} -Wall -Werror -c unused.c"));
        same(&place, "@cc", &format!("{compiler} -c missing.c"));
        assert_eq!(place.ok(&format!("@cc {compiler} -Wall -Wextra -Werror -O2 -mcx16 -Wno-unknown-pragmas -c SRC/program.c")), "");
    }
    let output = place.sh("@cc ./no-such-compiler -c a.c");
    assert!(!output.status.success());
}

#[test]
fn the_compiler_is_found_like_a_launcher_finds_it() {
    let place = Place::new();
    place.ok("COMMSAN_CC=gcc @cc -mcx16 -c SRC/program.c -o a.o && nm a.o | grep -q 'U __.*san'");
    place.ok("@cc /usr/bin/gcc -mcx16 -c SRC/program.c -o b.o && nm b.o | grep -q 'U __.*san'");
    std::fs::write(place.0.join("ccache"), "#!/bin/sh\necho cached\nexec \"$@\"\n").unwrap();
    place.ok("chmod +x ccache");
    let said =
        place.ok("@cc ./ccache gcc -mcx16 -c SRC/program.c -o c.o && nm c.o | grep -q 'U __.*san'");
    assert_eq!(said, "cached\n");
}

#[test]
fn the_off_switch() {
    let place = Place::new();
    place.ok("COMMSAN_WRAPPER=off @cc gcc -mcx16 SRC/program.c -o plain");
    assert!(!place.ok("nm plain").contains("tsan"));
}

/// An MPI wrapper calls ours as its compiler, which calls that MPI wrapper by default.
#[test]
fn wrappers_that_call_each_other_end() {
    let place = Place::new();
    std::fs::write(place.0.join("mpicc"), "#!/bin/sh\nexec ${OMPI_CC:-gcc} -DMPI \"$@\"\n")
        .unwrap();
    place.ok("chmod +x mpicc; printf '#!/bin/sh\\nexec @cc \"$@\"\\n' > ours; chmod +x ours");
    let mpicc = "PATH=$PWD:$PATH OMPI_CC=./ours mpicc";
    place.ok(&format!("{mpicc} -mcx16 -c SRC/program.c -o a.o && nm a.o | grep -q 'U __.*san'"));
    let asked = place.ok(&format!("{mpicc} --version"));
    assert!(asked.contains("Free Software Foundation"), "{asked}");
    place.ok(&format!("COMMSAN_WRAPPER=off {mpicc} -mcx16 -c SRC/program.c -o b.o"));
    assert!(!place.ok("nm b.o").contains("tsan"));
}

#[test]
fn unsupported_compilers_are_passed_through_with_one_warning() {
    let place = Place::new();
    let other = "#!/bin/sh\ncase $1 in --version) echo 'other 1.0';; *) exec gcc \"$@\";; esac\n";
    std::fs::write(place.0.join("other"), other).unwrap();
    place.ok("chmod +x other");
    let said = place.ok("@cc ./other -c SRC/own.c -o a.o");
    assert_eq!(said.matches("commsan: warning").count(), 1, "{said}");
    assert!(!place.ok("nm a.o").contains("tsan"));
    assert_eq!(place.ok("@cc ./other --version"), "other 1.0\n");
}

#[test]
fn a_missing_archive_is_an_error_with_advice() {
    let place = Place::new();
    let output = place.sh("COMMSAN_LIB=/nonexistent @cc gcc -mcx16 SRC/program.c -o a");
    assert!(!output.status.success());
    let said = everything(&output);
    assert!(said.contains("/nonexistent/libcommsan_hooks.a") && said.contains("COMMSAN_LIB"));
}

#[test]
fn the_archive_is_found_beside_the_command() {
    let place = Place::new();
    let copy = format!("mkdir -p dist/bin dist/lib && cp {} dist/bin/commsan", driver().display());
    place.ok(&format!("{copy} && ln -s {} dist/lib/commsan", library().display()));
    place.ok("ln -s dist/bin/commsan link && unset COMMSAN_LIB && ./link cc gcc -mcx16 SRC/program.c -o a && ./a");
}

#[test]
fn standard_input_and_response_files() {
    let place = Place::new();
    place.ok("echo \"-O2 -mcx16 'SRC/program.c'\" > args && echo '-o wrapped' >> args");
    place.ok("@cc gcc @args && ./wrapped && nm wrapped | grep -q __tsan_init");
    place.ok("@cc gcc -mcx16 -o b -xc - < SRC/program.c && ./b && nm b | grep -q __tsan_init");
}

#[test]
fn assembly_is_untouched() {
    let place = Place::new();
    std::fs::write(place.0.join("a.s"), ".globl f\nf: ret\n").unwrap();
    place.ok("gcc -c a.s -o plain.o && @cc gcc -c a.s -o wrapped.o && cmp plain.o wrapped.o");
}

#[test]
fn cmake_with_a_compiler_launcher() {
    if !has("cmake") || !has("gfortran") {
        return;
    }
    let place = Place::new();
    let mut launchers = String::new();
    for (language, wrapper) in [("C", "cc"), ("CXX", "cxx")] {
        let launcher = place.0.join(format!("commsan-{wrapper}"));
        std::os::unix::fs::symlink(driver(), &launcher).unwrap();
        for step in ["COMPILER", "LINKER"] {
            let variable = format!("CMAKE_{language}_{step}_LAUNCHER");
            launchers += &format!(" -D{variable}={}", launcher.display());
        }
    }
    place.ok(&format!("cmake -S SRC -B build -DCMAKE_C_FLAGS=-mcx16 {launchers}"));
    place.ok("cmake --build build --target c cxx user");
    for program in ["c", "cxx", "user"] {
        place.ok(&format!("./build/{program} && nm build/{program} | grep -q '__tsan_init'"));
    }
    place.ok("nm build/libshared.so | grep -q __tsan_init");
}

/// As most projects are configured: the wrapper is the compiler, by its own name.
#[test]
fn cmake_with_the_wrapper_as_compiler() {
    if !has("cmake") || !has("gfortran") {
        return;
    }
    let place = Place::new();
    for name in ["cc", "cxx", "fc"] {
        let link = place.0.join(format!("commsan-{name}"));
        std::os::unix::fs::symlink(driver(), link).unwrap();
    }
    place.ok("export COMMSAN_CC=gcc COMMSAN_CXX=g++ COMMSAN_FC=gfortran && \
         CC=$PWD/commsan-cc CXX=$PWD/commsan-cxx FC=$PWD/commsan-fc \
         cmake -S SRC -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-mcx16 && \
         cmake --build build && ./build/c && ./build/cxx && ./build/fortran && \
         nm build/c | grep -q __tsan_init");
}

#[test]
fn precompiled_headers_and_dependencies() {
    let place = Place::new();
    std::fs::write(place.0.join("all.h"), "#include <stdio.h>\nextern int shared[];\n").unwrap();
    std::fs::write(
        place.0.join("use.c"),
        "#include \"all.h\"\nint f(int i) { return shared[i]; }\n",
    )
    .unwrap();
    for compiler in installed(&["gcc", "clang-19"]) {
        place.ok(&format!(
            "@cc {compiler} -O2 -Winvalid-pch -Werror -x c-header all.h -o all.h.gch"
        ));
        place.ok(&format!("@cc {compiler} -O2 -Winvalid-pch -Werror -MMD -include all.h -c use.c"));
        place.ok("nm use.o | grep -q 'U __.*san' && grep -q use.c use.d && rm all.h.gch");
    }
}
