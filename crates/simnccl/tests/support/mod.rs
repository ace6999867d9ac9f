//! The library under test, and programs that use it.

#![allow(dead_code, reason = "every test binary uses another part")]

use crate::simulation::{Library, Toolkit, run};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The library that cargo has built beside the tests.
pub fn library() -> Result<PathBuf, String> {
    let tests = std::env::current_exe().map_err(|error| error.to_string())?;
    let library = tests.with_file_name("libcommsan_simnccl.so");
    if library.exists() { Ok(library) } else { Err(format!("no {}", library.display())) }
}

/// Directories with the simulated NCCL and CUDA runtime, in the format of `LD_LIBRARY_PATH`.
pub fn libraries() -> Result<String, String> {
    static OWN: OnceLock<Result<tempfile::TempDir, String>> = OnceLock::new();
    let own = OWN.get_or_init(|| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        for name in ["libnccl.so.2", "libnccl.so"] {
            symlink(library()?, directory.path().join(name)).map_err(|error| error.to_string())?;
        }
        Ok(directory)
    });
    let own = own.as_ref().map_err(Clone::clone)?;
    Ok(format!("{}:{}", own.path().display(), Library::get()?.directory().display()))
}

/// The programs.
pub fn sources() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let files = std::fs::read_dir(directory).expect("a directory of programs");
    let files = files.map(|entry| entry.expect("a readable directory").path());
    let mut sources: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|e| e != "h")).collect();
    sources.sort();
    sources
}

/// Compiles a program and links it with the library.
pub fn compile(toolkit: &Toolkit, source: &Path, to: &Path) -> Result<(), String> {
    let common = Path::new(env!("CARGO_MANIFEST_DIR")).join("../simgpu/tests/programs");
    let nccl = libraries()?;
    let nccl = nccl.split(':').next().unwrap_or_default();
    let flags = [
        format!("-I{}", common.display()),
        format!("-L{nccl}"),
        "-lnccl".to_owned(),
        "-std=c++17".to_owned(),
    ];
    if source.extension().is_some_and(|extension| extension == "cu") {
        let mut all = vec!["-arch=sm_90".to_owned(), "-lineinfo".to_owned()];
        all.extend(flags);
        return toolkit.compile(source, to, &all);
    }
    let headers = toolkit.headers();
    headers.first().ok_or("no headers")?.compile(source, to, &flags)
}

/// Assembles PTX with the toolkit's `ptxas`.
pub fn assemble(toolkit: &Toolkit, ptx: &Path) -> Result<(), String> {
    let assembler = toolkit.tool("ptxas");
    run(Command::new(assembler).args(["-arch=sm_90", "-o", "/dev/null"]).arg(ptx)).map(drop)
}
