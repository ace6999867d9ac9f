//! The CUDA toolkit that compiles programs, and the library that they run on.

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
    /// The toolkit that `scripts/cuda.sh` installs, or that of `NVCC`.
    pub fn find() -> Result<Toolkit, String> {
        if let Some(nvcc) = std::env::var_os("NVCC") {
            return Ok(Toolkit { nvcc: nvcc.into() });
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/cuda.sh");
        let directory = run(&mut Command::new(script))?;
        Ok(Toolkit { nvcc: Path::new(directory.trim()).join("bin/nvcc") })
    }

    /// Its headers, and those of CUDA 12 that `CUDA12_INCLUDE` names.
    pub fn headers(&self) -> Vec<Headers> {
        let own = self.directory("include");
        let mut found = vec![Headers { version: 13, directories: vec![own.clone()] }];
        if let Some(older) = std::env::var_os("CUDA12_INCLUDE") {
            // The wheel of CUDA 12's runtime lacks the compiler's own headers.
            let directories = vec![PathBuf::from(older), own];
            found.push(Headers { version: 12, directories });
        }
        found
    }

    /// The real runtime, if the toolkit has that version.
    pub fn real_library(&self, version: u32) -> Option<PathBuf> {
        let library = self.directory("lib").join(format!("libcudart.so.{version}"));
        library.exists().then_some(library)
    }

    /// The path of one of its programs.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.directory("bin").join(name)
    }

    /// The path of one of its headers.
    pub fn header(&self, name: &str) -> PathBuf {
        self.directory("include").join(name)
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.nvcc.ancestors().nth(2).unwrap_or(Path::new("/")).join(name)
    }

    /// Compiles a program that launches kernels. Flags may name other files, beside the program.
    pub fn compile(&self, source: &Path, to: &Path, flags: &[String]) -> Result<(), String> {
        let source = source.canonicalize().map_err(|error| error.to_string())?;
        let mut nvcc = Command::new(&self.nvcc);
        nvcc.args(["-ccbin", "g++", "-cudart", "shared", "-O1", "-L"]).arg(self.directory("lib"));
        nvcc.current_dir(source.parent().ok_or("a program lies somewhere")?);
        run(nvcc.arg(source).args(flags).arg("-o").arg(to)).map(drop)
    }
}

/// A version of the headers.
#[derive(Clone, Debug)]
pub struct Headers {
    pub version: u32,
    directories: Vec<PathBuf>,
}

impl Headers {
    /// Compiles a program that only calls the runtime, for the library of this version.
    pub fn compile(&self, source: &Path, to: &Path, flags: &[String]) -> Result<(), String> {
        let mut host = Command::new("g++");
        host.args(["-O1", "-g", "-Wall", "-Wno-deprecated-declarations", "-pthread"]);
        for directory in &self.directories {
            host.arg("-isystem").arg(directory);
        }
        host.arg(source).args(flags).arg("-o").arg(to);
        host.arg(Library::get()?.directory().join(format!("libcudart.so.{}", self.version)));
        run(&mut host).map(drop)
    }
}

/// The libraries, linked from the archive that these tests were built with.
pub struct Library {
    directory: PathBuf,
}

impl Library {
    /// Links them, once per run.
    pub fn get() -> Result<&'static Library, String> {
        static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
        LIBRARY.get_or_init(Library::link).as_ref().map_err(Clone::clone)
    }

    /// The directory that they are in.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn link() -> Result<Library, String> {
        let tests = std::env::current_exe().map_err(|error| error.to_string())?;
        let archive = newest_archive(&tests).ok_or("no archive beside the tests")?;
        let directory = target().join("cudart");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../simgpu/link.sh");
        run(Command::new(script).arg(archive).arg(&directory))?;
        Ok(Library { directory })
    }
}

/// The archive that cargo has built last beside the tests.
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

/// Runs a command; returns its output, or an error that describes the failure.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    Err(format!("{command:?}: {}\n{out}{err}", output.status))
}
