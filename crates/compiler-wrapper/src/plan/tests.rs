//! Tests of complete command lines: input and expected output.

use super::*;

const PLUGIN: &str = "/lib/plugin.so";

/// A library directory that contains the archive, shared by all tests.
fn library() -> std::path::PathBuf {
    let directory = std::env::temp_dir().join("commsan-plan-tests");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("libcommsan_hooks.a"), "").unwrap();
    directory
}

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

/// The complete new command line, with the library directory written as LIB.
fn result(family: Family, text: &str) -> String {
    with_plugin(None, family, text)
}

fn with_plugin(plugin: Option<&str>, family: Family, text: &str) -> String {
    let args = words(text);
    let plugin = plugin.map(Path::new);
    let plan = plan(&CommandLine::parse(&args), family, &library(), plugin).unwrap();
    let all = assemble(plan.front, args, plan.back).join(" ".as_ref()).into_string().unwrap();
    all.replace(library().to_str().unwrap(), "LIB")
}

#[track_caller]
fn has(family: Family, text: &str, parts: &[&str]) {
    let result = result(family, text);
    for part in parts {
        assert!(result.contains(part), "{text}: no {part} in {result}");
    }
}

#[track_caller]
fn lacks(family: Family, text: &str, parts: &[&str]) {
    let result = result(family, text);
    for part in parts {
        assert!(!result.contains(part), "{text}: {part} in {result}");
    }
}

const EVERY: [Family; 3] = [Family::Gcc, Family::Gfortran, Family::Clang];

#[test]
fn kernels_that_clang_compiles_get_no_hooks() {
    for text in ["-c a.cu", "-x cuda a.c -o a -lcudart"] {
        let result = with_plugin(Some(PLUGIN), Family::Clang, text);
        for part in ["-Xarch_host -fsanitize=thread", "-Xarch_host -fpass-plugin=/lib/plugin.so"] {
            assert!(result.contains(part), "{text}: no {part} in {result}");
        }
        assert!(!result.contains("-Xclang -fsanitize=thread"), "{result}");
        assert_eq!(result.contains("-fno-sanitize-link-runtime"), text.contains("-o"), "{result}");
    }
    for (plugin, family) in [(None, Family::Clang), (Some(PLUGIN), Family::Gcc)] {
        assert_eq!(with_plugin(plugin, family, "-c a.cu"), "-c a.cu");
    }
}

#[test]
fn compiling_adds_hooks_and_nothing_of_the_link() {
    for family in EVERY {
        let source = if family == Family::Gfortran { "-c a.f90" } else { "-c a.c" };
        has(family, source, &["-g ", "-fsanitize=thread", "-fno-omit-frame-pointer"]);
        has(family, source, &["-fno-optimize-sibling-calls"]);
        lacks(family, source, &["LIB", "-Wl,"]);
    }
}

#[test]
fn each_family_in_its_dialect() {
    has(Family::Gcc, "-c a.c", &["-fno-builtin-memcpy", "-Wno-tsan", "-U__SANITIZE_THREAD__"]);
    lacks(Family::Gcc, "-c a.c", &["-mmemcpy-strategy"]);
    has(Family::Gfortran, "-c a.f90", &["-mmemcpy-strategy=libcall:-1:noalign"]);
    lacks(Family::Gfortran, "-c a.f90", &["-fno-builtin", "-Wno-tsan"]);
    has(Family::Clang, "-c a.c", &["-Xclang -fsanitize=thread", "-mprefer-vector-width=128"]);
    lacks(Family::Clang, "-c a.c", &["-fno-vectorize", "-fno-builtin"]);
    has(Family::Clang, "-c a.c -march=native", &["-fno-vectorize", "-fno-slp-vectorize"]);
}

#[test]
fn a_pass_plugin_replaces_the_passes_of_llvm() {
    let clang = with_plugin(Some(PLUGIN), Family::Clang, "-c a.c -march=native");
    for part in
        ["-fpass-plugin=/lib/plugin.so", "-Xclang -fsanitize=thread", "atomics=0", "-tail-merge=0"]
    {
        assert!(clang.contains(part), "{clang}");
    }
    for part in ["-coverage", "vector"] {
        assert!(!clang.contains(part), "{clang}");
    }
    let flang = with_plugin(Some(PLUGIN), Family::Flang, "-c a.f90");
    assert_eq!(flang, "-g -c a.f90 -fpass-plugin=/lib/plugin.so");
    assert!(!with_plugin(Some(PLUGIN), Family::Clang, "a.o").contains("plugin"));
}

#[test]
fn a_plugin_of_gcc_replaces_the_thread_pass() {
    let with_plugin = |text| with_plugin(Some(PLUGIN), Family::Gcc, text);
    assert_eq!(
        with_plugin("-c a.c"),
        "-g -c a.c -fplugin=/lib/plugin.so -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
         -fno-optimize-sibling-calls -fno-tree-tail-merge -fno-crossjumping"
    );
    assert_eq!(
        with_plugin("a.o -o a"),
        "-Wl,LIB/preinit.o a.o -o a -fplugin=/lib/plugin.so -Wl,LIB/libcommsan_hooks.a \
         -Wl,@LIB/wraps.ld-options"
    );
    assert_eq!(with_plugin("a.c -o a").matches("-fplugin").count(), 1);
    assert!(with_plugin("-static a.c -o a").contains("-fplugin"));
    assert!(!with_plugin("-fno-sanitize=thread -c a.c").contains("-fplugin"));
    let asked_for = with_plugin("-fsanitize=thread -c a.c");
    assert!(!asked_for.contains("-fplugin") && asked_for.contains("-fno-builtin-memcpy"));
}

#[test]
fn a_chosen_debug_level_stays() {
    lacks(Family::Gcc, "-g1 -c a.c", &["-g "]);
    lacks(Family::Clang, "-g0 -c a.c", &["-g "]);
}

#[test]
fn linking_puts_the_archive_last() {
    assert_eq!(
        result(Family::Gcc, "a.o -lm -o a"),
        "-BLIB/gcc -LLIB/gcc -Wl,LIB/preinit.o a.o -lm -o a -fsanitize=thread \
         -Wl,LIB/libcommsan_hooks.a -Wl,@LIB/wraps.ld-options"
    );
    assert_eq!(
        result(Family::Clang, "a.o -o a"),
        "-Wl,LIB/preinit.o a.o -o a -Wl,LIB/libcommsan_hooks.a -Wl,@LIB/wraps.ld-options"
    );
    has(Family::Gcc, "a.c -o a", &["-fsanitize=thread", "-Wl,LIB/libcommsan_hooks.a"]);
}

#[test]
fn kinds_of_output() {
    for family in EVERY {
        lacks(family, "-shared a.o -o liba.so", &["preinit"]);
        has(family, "-shared a.o -o liba.so", &["libcommsan_hooks.a"]);
        assert_eq!(result(family, "-r a.o b.o -o c.o"), "-r a.o b.o -o c.o");
        lacks(family, "-static a.o -o a", &["wraps", "-fsanitize"]);
        has(family, "-static a.o -o a", &["libcommsan_hooks.a"]);
        has(family, "-nostdlib -shared a.o", &["-lc"]);
    }
}

#[test]
fn assembly_and_declined_files_are_left_alone() {
    for family in EVERY {
        assert_eq!(result(family, "-c start.S -o start.o"), "-c start.S -o start.o");
    }
    assert_eq!(result(Family::Clang, "-c a.c -fno-sanitize=all"), "-c a.c -fno-sanitize=all");
    has(Family::Gcc, "a.c -fno-sanitize=thread", &["libcommsan_hooks.a"]);
}

#[test]
fn what_cannot_be_instrumented_is_passed_on_with_a_warning() {
    for (family, text, reason) in [
        (Family::Other, "-c a.c", "none that commsan"),
        (Family::Flang, "-c a.f90", "none that commsan"),
        (Family::Gcc, "-fsanitize=address -c a.c", "-fsanitize=address"),
        (Family::Clang, "-m32 -c a.c", "64-bit"),
        (Family::Gcc, "-static a.c", "static"),
        (Family::Clang, "-nostdlib -static a.c", "C library"),
    ] {
        assert_eq!(result(family, text), text);
        let plan = plan(&CommandLine::parse(&words(text)), family, &library(), None).unwrap();
        assert!(plan.warning.unwrap().contains(reason), "{text}");
    }
    let link = plan(&CommandLine::parse(&words("a.o")), Family::Other, &library(), None).unwrap();
    assert_eq!(link, Plan::default(), "one warning for each compilation is enough");
}

#[test]
fn thread_sanitizer_of_the_user_is_replaced() {
    has(Family::Clang, "-fsanitize=thread a.o", &["-fno-sanitize-link-runtime"]);
    lacks(Family::Clang, "-fsanitize=undefined a.o", &["-fno-sanitize-link-runtime"]);
    has(Family::Gcc, "-fsanitize=thread a.o", &["-BLIB/gcc"]);
}

#[test]
fn options_go_before_a_double_dash() {
    assert!(result(Family::Clang, "-c -- a.c").ends_with("-- a.c"));
}

#[test]
fn a_missing_archive_is_an_error_of_links_only() {
    let nowhere = Path::new("/nonexistent");
    let line = |text| CommandLine::parse(&words(text));
    let error = plan(&line("a.o"), Family::Gcc, nowhere, None).unwrap_err();
    assert!(error.contains("/nonexistent/libcommsan_hooks.a") && error.contains("COMMSAN_LIB"));
    assert!(plan(&line("-c a.c"), Family::Gcc, nowhere, None).is_ok());
}
