//! Links the parts of LLVM that read bitcode, statically: the command starts quickly and needs no
//! LLVM where it runs. For machines with an older C library than this one (`make dist`), the C++
//! library is linked in, too, and what both ask of a newer C library.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    let tool = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-19".into());
    println!("cargo::rustc-link-search=native={}", ask(&tool, &["--libdir"]).trim());
    for library in names(&ask(&tool, &["--link-static", "--libs", "irreader", "target"])) {
        println!("cargo::rustc-link-lib=static={library}");
    }
    let system = ask(&tool, &["--link-static", "--system-libs"]);
    // The others serve parts of LLVM that are not linked.
    let needed = ["m", "dl", "rt", "z", "zstd", "tinfo", "pthread"];
    for library in names(&system).filter(|name| needed.contains(name)) {
        println!("cargo::rustc-link-lib={library}");
    }
    println!("cargo::rerun-if-env-changed=COMMSAN_PORTABLE");
    println!("cargo::rerun-if-changed=src/older_glibc.c");
    if std::env::var_os("COMMSAN_PORTABLE").is_none() {
        println!("cargo::rustc-link-lib=stdc++");
        return;
    }
    let archive = ask("g++", &["-print-file-name=libstdc++.a"]);
    let directory = Path::new(archive.trim()).parent().expect("g++ tells a path");
    println!("cargo::rustc-link-search=native={}", directory.display());
    println!("cargo::rustc-link-lib=static:-bundle=stdc++");
    cc::Build::new().file("src/older_glibc.c").compile("commsan_older_glibc");
}

fn names(libraries: &str) -> impl Iterator<Item = &str> {
    libraries.split_whitespace().filter_map(|word| word.strip_prefix("-l"))
}

fn ask(tool: &str, arguments: &[&str]) -> String {
    let answer = Command::new(tool).args(arguments).output().ok().filter(|a| a.status.success());
    let text = answer.and_then(|answer| String::from_utf8(answer.stdout).ok());
    text.unwrap_or_else(|| panic!("{tool} does not run: LLVM 19 is needed (Debian: llvm-19-dev)"))
}
