//! Compiles the shim against LLVM's headers.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/shim.cpp");
    println!("cargo::rerun-if-changed=../../instrument/hooks/commsan_abi.h");
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    let tool = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-19".into());
    let answer = Command::new(&tool).arg("--includedir").output();
    let Ok(answer) = answer
        .map_err(|e| e.to_string())
        .and_then(|a| String::from_utf8(a.stdout).map_err(|e| e.to_string()))
    else {
        panic!("{tool} does not run: LLVM 19's headers are needed (Debian: llvm-19-dev)");
    };
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("src/shim.cpp")
        .include("../../instrument/hooks")
        // As system headers, so that their warnings are suppressed.
        .flag("-isystem")
        .flag(answer.trim())
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag("-fvisibility=hidden")
        .compile("commsan_pass_shim");
}
