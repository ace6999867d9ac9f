//! What `make install` and `make dist` lay out beside the programs: manual pages, completions,
//! modulefiles, the CMake package, the wheel.

#[path = "support/built.rs"]
mod built;

use built::{Installed, Mpi, Work};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}{errors}", output.status);
    text
}

/// Whether a command is there; says that its part of a test is skipped if not.
fn has(command: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {command}")]).output();
    let is_there = found.unwrap().status.success();
    if !is_there {
        eprintln!("skipped: {command} is not installed");
    }
    is_there
}

/// `scripts/install.sh` of the built tree elsewhere.
fn install(work: &Work) -> PathBuf {
    let prefix = work.path("prefix");
    let built = work.commsan::<&str>(&[]).get_program().to_owned();
    let tree = Path::new(&built).ancestors().nth(2).unwrap().to_owned();
    output(Command::new(root().join("scripts/install.sh")).arg(tree).arg(&prefix));
    prefix
}

#[test]
fn the_installed_tree_is_complete() {
    let work = Work::new("install", Mpi::OpenMpi);
    let prefix = install(&work);
    let commsan = prefix.join("bin/commsan");

    let help = output(Command::new(&commsan).arg("--help"));
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands = commands.lines().filter_map(|line| line.split_whitespace().next());
    let commands: BTreeSet<_> = commands.filter(|name| *name != "help").collect();
    assert!(commands.contains("run") && commands.contains("lint"), "{help}");
    for name in &commands {
        let page = fs::read_to_string(prefix.join(format!("share/man/man1/commsan-{name}.1")));
        let page = page.unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH DESCRIPTION"), "{page}");
    }
    let page = fs::read_to_string(prefix.join("share/man/man1/commsan-run.1")).unwrap();
    assert!(page.contains(r"\-\-max\-findings"), "{page}");

    // What bash itself makes of the completions.
    let completions = prefix.join("share/bash-completion/completions/commsan");
    let script = "source \"$1\"; COMP_WORDS=(commsan pro) COMP_CWORD=1; _commsan commsan pro commsan; \
                  echo \"${COMPREPLY[@]}\"";
    let offered = output(Command::new("bash").args(["-c", script, "bash"]).arg(&completions));
    assert_eq!(offered.trim(), "profile");
    for (shell, file) in [
        ("zsh", "share/zsh/site-functions/_commsan"),
        ("fish", "share/fish/vendor_completions.d/commsan.fish"),
    ] {
        let file = prefix.join(file);
        assert!(fs::read_to_string(&file).unwrap().contains("max-findings"));
        if has(shell) {
            output(Command::new(shell).arg("-n").arg(file));
        }
    }

    assert!(prefix.join("include/commsan.h").is_file());
    assert!(prefix.join("share/doc/commsan/docs/usage.md").is_file());
    let doctor = output(Command::new("sh").arg("-c").arg("\"$0\" doctor || :").arg(&commsan));
    assert!(doctor.contains("prefix/lib/commsan/libcommsan_inject.so"), "{doctor}");
}

/// Says Environment Modules.
#[test]
fn the_modulefile_finds_what_lies_around_it() {
    let version = env!("CARGO_PKG_VERSION");
    let work = Work::new("module", Mpi::OpenMpi);
    let modules = work.path("prefix/share/modulefiles/commsan");
    fs::create_dir_all(&modules).unwrap();
    let file = modules.join(version);
    fs::copy(root().join("packaging/modulefile.tcl"), &file).unwrap();
    if !has("modulecmd") {
        return;
    }
    let mut load = Command::new("modulecmd");
    load.args(["sh", "load", "commsan"]);
    load.env("MODULEPATH", work.path("prefix/share/modulefiles"));
    let load = output(&mut load);
    let prefix = work.path("prefix").display().to_string();
    assert!(load.contains(&format!("PATH={prefix}/bin:")), "{load}");
    assert!(load.contains(&format!("CMAKE_PREFIX_PATH={prefix}")), "{load}");
}

#[test]
fn the_preset_is_the_documented_one() {
    let documented = fs::read_to_string(root().join("docs/projects.md")).unwrap();
    let documented = documented.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(fs::read_to_string(root().join("packaging/CMakePresets.json")).unwrap(), documented);
}

#[test]
fn the_cmake_package_checks_single_targets() {
    let work = Work::new("package", Mpi::OpenMpi);
    let prefix = install(&work);
    fs::write(
        work.path("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.21)\n\
         project(use C)\n\
         find_package(MPI REQUIRED)\n\
         find_package(commsan 0.1 REQUIRED)\n\
         enable_testing()\n\
         foreach(program right wrong)\n\
           add_executable(${program} ${program}.c)\n\
           target_link_libraries(${program} MPI::MPI_C commsan::annotations)\n\
           commsan_check(${program})\n\
           commsan_add_test(NAME ${program} NP 2 COMMAND ${program})\n\
         endforeach()\n\
         add_executable(plain right.c)\n\
         target_link_libraries(plain MPI::MPI_C commsan::annotations)\n",
    )
    .unwrap();
    // The mistake is a store, which only compiled-in checks see.
    let source = |store: &str, after: &str| {
        format!(
            "#include <commsan.h>\n#include <mpi.h>\nint main(void) {{\n  int rank, data[4] = {{0}};\n  \
             MPI_Request request;\n  MPI_Init(NULL, NULL);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  \
             if (rank) MPI_Recv(data, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n  else {{\n    \
             MPI_Isend(data, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);\n    {store}\n    \
             MPI_Wait(&request, MPI_STATUS_IGNORE);\n    {after}\n  }}\n  MPI_Finalize();\n  return data[1] > 9;\n}}\n"
        )
    };
    fs::write(work.path("wrong.c"), source("data[1] = 7;", "")).unwrap();
    fs::write(work.path("right.c"), source("", "data[1] = 7;")).unwrap();
    let mut configure = work.command("cmake", &["-S", ".", "-B", "build"]);
    configure.args(["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_C_FLAGS=-O1 -g"]);
    configure.arg(format!("-DMPI_C_COMPILER={}", Mpi::OpenMpi.tool("mpicc")));
    configure.arg(format!("-DMPIEXEC_EXECUTABLE={}", Mpi::OpenMpi.tool("mpirun")));
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    work.finish(&mut configure).ends_with(0);
    work.finish(&mut work.command("cmake", &["--build", "build"])).ends_with(0);
    let tested = work.finish(&mut work.command("ctest", &["--test-dir", "build"]));
    let line = |name: &str| tested.out.lines().find(|line| line.contains(&format!(": {name} .")));
    assert!(line("right").unwrap().contains("Passed"), "{}", tested.text());
    assert!(line("wrong").unwrap().contains("Failed"), "{}", tested.text());
    let hooks = |program: &str| {
        let file = fs::read(work.path("build").join(program)).unwrap();
        file.windows(13).any(|window| window == b".note.commsan")
    };
    assert!(hooks("wrong") && !hooks("plain"));
}

/// With a tree of a few bytes: what matters is how it is packed, twice.
#[test]
fn the_wheel_is_the_tarball_and_the_same_each_time() {
    let work = Work::new("wheel", Mpi::OpenMpi);
    let tree = work.path("tree");
    for directory in ["bin", "lib/commsan", "share/man/man1"] {
        fs::create_dir_all(tree.join(directory)).unwrap();
    }
    let script = "#!/bin/sh\necho \"$@\"\n";
    fs::write(tree.join("bin/commsan"), script).unwrap();
    output(Command::new("chmod").arg("755").arg(tree.join("bin/commsan")));
    std::os::unix::fs::symlink("commsan", tree.join("bin/commsan-gcc-ar")).unwrap();
    fs::write(tree.join("lib/commsan/libx.so.2"), "x").unwrap();
    std::os::unix::fs::symlink("libx.so.2", tree.join("lib/commsan/libx.so")).unwrap();
    fs::write(tree.join("share/man/man1/commsan.1"), ".TH").unwrap();
    fs::create_dir(work.path("debug")).unwrap();
    let pack = |to: &str| {
        let mut pack = Command::new("python3");
        pack.arg(root().join("scripts/package.py")).arg(&tree).arg(work.path("debug"));
        output(pack.arg("1.2").arg(work.path(to)).env("SOURCE_DATE_EPOCH", "1700000000"));
        let files = fs::read_dir(work.path(to)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        files
            .into_iter()
            .map(|path| (path.file_name().unwrap().to_owned(), fs::read(path).unwrap()))
            .collect::<Vec<_>>()
    };
    let first = pack("first");
    output(Command::new("touch").arg(tree.join("share/man/man1/commsan.1")));
    assert!(first == pack("second"), "two packings differ");
    let recipe = fs::read_to_string(work.path("first/package.py")).unwrap();
    let packed = work.path("first/commsan-1.2-linux-x86_64.tar.xz");
    let digest = output(Command::new("sha256sum").arg(&packed));
    assert!(recipe.contains(digest.split_whitespace().next().unwrap()), "{recipe}");

    output(Command::new("tar").arg("-C").arg(work.directory.path()).arg("-xf").arg(&packed));
    let unpacked = work.path("commsan-1.2-linux-x86_64");
    let mut venv = Command::new("python3");
    let venv = venv.args(["-m", "venv"]).arg(work.path("env")).output();
    if !venv.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 makes no virtual environments (apt-get install python3-venv)");
        return;
    }
    let mut pip = Command::new(work.path("env/bin/pip"));
    pip.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    output(pip.arg(work.path("first/commsan-1.2-py3-none-manylinux_2_28_x86_64.whl")));
    output(
        Command::new("ln").arg("-s").arg(work.path("env/bin/commsan-gcc-ar")).arg(work.path("ar")),
    );
    for name in
        ["bin/commsan", "bin/commsan-gcc-ar", "lib/commsan/libx.so", "share/man/man1/commsan.1"]
    {
        let (of_wheel, of_tarball) = (work.path("env").join(name), unpacked.join(name));
        assert_eq!(fs::read(of_wheel).unwrap(), fs::read(of_tarball).unwrap(), "{name}");
    }
    for alias in [work.path("ar"), unpacked.join("bin/commsan-gcc-ar")] {
        assert_eq!(output(Command::new(alias).args(["qc", "a b"])), "gcc-ar qc a b\n");
    }
}

#[test]
fn what_needs_a_newer_glibc_is_told() {
    let script = root().join("scripts/glibc_needed.sh");
    let work = Work::new("glibc", Mpi::OpenMpi);
    fs::write(work.path("a.c"), "#include <stdio.h>\nint main(void) { return puts(\"\"); }\n")
        .unwrap();
    let (source, program) = (work.path("a.c"), work.path("a"));
    output(Command::new("gcc").arg(source).arg("-o").arg(&program));
    output(Command::new(&script).arg("9.9").arg(work.directory.path()));
    let told = Command::new(&script).arg("2.1").arg(work.directory.path()).output().unwrap();
    assert!(!told.status.success());
    assert!(String::from_utf8_lossy(&told.stderr).contains("needs GLIBC_"));
}
