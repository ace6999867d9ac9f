//! The toolkit that compiles programs, and the library that they run on.

#![allow(dead_code, reason = "every test binary uses another part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A CUDA toolkit.
#[derive(Clone)]
pub struct Toolkit {
    nvcc: PathBuf,
}

impl Toolkit {
    /// The one in `target/cuda`, or that of `NVCC`.
    pub fn find() -> Option<Toolkit> {
        let installed = target().join("cuda/bin/nvcc");
        let named = std::env::var_os("NVCC").map(PathBuf::from);
        [Some(installed), named].into_iter().flatten().find(|nvcc| nvcc.exists()).map(|nvcc| Toolkit { nvcc })
    }

    /// Its headers.
    pub fn include(&self) -> PathBuf {
        self.directory("include")
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.nvcc.ancestors().nth(2).unwrap_or(Path::new("/")).join(name)
    }

    /// Compiles a program that loads the library.
    pub fn compile(
        &self,
        source: &Path,
        to: &Path,
        flags: &[String],
        library: &Library,
    ) -> Result<(), String> {
        let mut command = if source.extension().is_some_and(|extension| extension == "cu") {
            let mut nvcc = Command::new(&self.nvcc);
            nvcc.args(["-ccbin", "g++", "-cudart", "shared", "-O1", "-L"]);
            nvcc.arg(self.directory("lib"));
            nvcc
        } else {
            let mut host = Command::new("g++");
            host.args(["-O1", "-g", "-Wall", "-pthread", "-I"]).arg(self.include());
            host.arg("-Wl,--allow-shlib-undefined");
            host
        };
        command.arg(source).args(flags).arg("-o").arg(to);
        if source.extension().is_none_or(|extension| extension != "cu") {
            command.arg(library.directory().join("libcudart.so.13"));
        }
        run(&mut command).map(drop)
    }
}

/// The libraries, made of the archive that these tests were built with.
pub struct Library {
    directory: PathBuf,
}

impl Library {
    /// Links them, once a run.
    pub fn get() -> Result<&'static Library, String> {
        static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
        LIBRARY.get_or_init(Library::link).as_ref().map_err(Clone::clone)
    }

    /// Where they are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn link() -> Result<Library, String> {
        let tests = std::env::current_exe().map_err(|error| error.to_string())?;
        let archive = newest_archive(&tests).ok_or("no archive beside the tests")?;
        let directory = target().join("cudart");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("link.sh");
        run(Command::new(script).arg(archive).arg(&directory))?;
        Ok(Library { directory })
    }
}

/// The archive that cargo has put beside the tests, together with which it was built last.
fn newest_archive(tests: &Path) -> Option<PathBuf> {
    let is_archive = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libcommsan_simgpu-") && name.ends_with(".a")
    };
    let files = std::fs::read_dir(tests.parent()?).ok()?;
    let archives = files.filter_map(|file| Some(file.ok()?.path())).filter(is_archive);
    archives.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// Runs a command; gives what it prints, or all that is known of its failure.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    Err(format!("{command:?}: {}\n{out}{err}", output.status))
}
