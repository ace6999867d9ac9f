//! Runs the CUDA toolkit. If it is not installed, tests fail and say what to do.

#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Where `scripts/cuda.sh` has installed the toolkit.
static TOOLKIT: LazyLock<PathBuf> = LazyLock::new(|| {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/cuda.sh");
    let done = Command::new(&script).output().expect("scripts/cuda.sh runs");
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "these tests need NVIDIA's compiler:\n{complaint}");
    PathBuf::from(String::from_utf8(done.stdout).expect("a path").trim())
});

/// The path of a source in `tests/sources`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources").join(name)
}

fn run(command: &mut Command) -> Vec<u8> {
    let done = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}\n{complaint}");
    done.stdout
}

/// The output of `nvcc` for a source, with some arguments.
pub fn nvcc(name: &str, arguments: &[&str]) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let output = directory.path().join("output");
    let mut nvcc = Command::new(TOOLKIT.join("bin/nvcc"));
    nvcc.args(["-ccbin", "g++", "-std=c++17", "-w", "-cudart", "shared"]).args(arguments);
    run(nvcc.arg(source(name)).arg("-o").arg(&output));
    std::fs::read(output).expect("nvcc has written its output")
}

/// The PTX that `nvcc` makes of a source.
pub fn ptx(name: &str, arguments: &[&str]) -> String {
    let text = nvcc(name, &[&["-ptx"], arguments].concat());
    String::from_utf8(text).expect("PTX is text")
}

/// The PTX that clang makes of a source, without CUDA's headers.
pub fn clang(name: &str, arguments: &[&str]) -> String {
    let mut clang = Command::new("clang-19");
    clang.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-S", "-w"]);
    let text = run(clang.args(arguments).arg(source(name)).args(["-o", "-"]));
    String::from_utf8(text).expect("PTX is text")
}

/// The PTX texts that `cuobjdump` finds in a file.
pub fn cuobjdump(file: &[u8]) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let path = directory.path().join("input.fatbin");
    std::fs::write(&path, file).expect("a temporary file");
    let text = run(Command::new(TOOLKIT.join("bin/cuobjdump")).arg("--dump-ptx").arg(&path));
    let text = String::from_utf8(text).expect("cuobjdump prints text");
    let images = text.split("Fatbin ptx code:").skip(1);
    images.filter_map(|i| i.find(".version").map(|at| i[at..].to_owned())).collect()
}

/// The cubin that `ptxas` makes of a PTX text.
pub fn ptxas(text: &str, arch: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let [input, output] = ["input.ptx", "output"].map(|name| directory.path().join(name));
    std::fs::write(&input, text).expect("a temporary file");
    run(Command::new(TOOLKIT.join("bin/ptxas")).args([arch, "-o"]).arg(&output).arg(&input));
    std::fs::read(output).expect("ptxas has written its output")
}
