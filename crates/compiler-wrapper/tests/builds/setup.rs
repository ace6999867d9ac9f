//! A place to build in, the hooks archive, and the wrappers as commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory of one test, removed afterwards.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new() -> Place {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("place-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let path = shared().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    /// `sh -c` in this directory. In the command, `@cc`, `@cxx`, `@fc` and `@nvcc` are the
    /// wrappers, `SRC` is where the sources are, `LIB` the directory of the archive, `BARE` a copy
    /// of that without plugins.
    pub fn sh(&self, command: &str) -> Output {
        let driver = driver();
        let text = ["cc", "cxx", "fc", "nvcc"].iter().fold(command.to_owned(), |text, language| {
            text.replace(&format!("@{language} "), &format!("{} {language} ", driver.display()))
        });
        let text = text.replace("SRC", sources().to_str().unwrap());
        let text = text.replace("LIB/", &format!("{}/", library().display()));
        let text = text.replace("BARE", bare_library().to_str().unwrap());
        Command::new("sh")
            .args(["-c", &text])
            .current_dir(&self.0)
            .env("COMMSAN_LIB", library())
            // What the plugin makes of a module is verified; clang compiles what is not valid, too.
            .env("CCC_OVERRIDE_OPTIONS", "#+-fverify-intermediate-code")
            // Plugins are compiled into it only by tests of that, which set another. Even root can
            // make nothing there.
            .env("XDG_CACHE_HOME", "/dev/null")
            .env_remove("COMMSAN_WRAPPER")
            .output()
            .unwrap()
    }

    /// The command's output; it has to succeed.
    #[track_caller]
    pub fn ok(&self, command: &str) -> String {
        let output = self.sh(command);
        assert!(output.status.success(), "{command}\n{}", everything(&output));
        everything(&output)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn everything(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Whether a compiler can be tested here.
pub fn has(compiler: &str) -> bool {
    let found = commsan_compiler_wrapper::invocation::is_executable(compiler.as_ref());
    if !found {
        eprintln!("skipped: {compiler} is not installed");
    }
    found
}

/// Those of the compilers that are installed.
pub fn installed(compilers: &[&'static str]) -> Vec<&'static str> {
    compilers.iter().copied().filter(|compiler| has(compiler)).collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn sources() -> PathBuf {
    repository().join("tests/compile")
}

fn shared() -> &'static Path {
    static SHARED: OnceLock<PathBuf> = OnceLock::new();
    SHARED.get_or_init(|| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("builds");
        std::fs::create_dir_all(&path).unwrap();
        path
    })
}

/// The example of this crate, which cargo builds along with its tests.
pub fn driver() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let driver = tests.parent().unwrap().parent().unwrap().join("examples/driver");
    assert!(driver.exists(), "run `cargo build -p commsan-compiler-wrapper --examples` first");
    driver
}

/// The installed form of the hooks, and the harness as an object beside them.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let path = shared().join("lib");
        let hooks = repository().join("instrument/hooks");
        let mut make = Command::new("make");
        run(make.arg("-sC").arg(&hooks).arg(format!("OUT={}", path.display())));
        // Without gcc's plugin headers there is none; tests of it are skipped then.
        let _ = install_plugin("gcc", &path);
        for plugin in ["libcommsan_pass.so", "libcommsan_pass-19.so"] {
            let built = repository().join("target/dist/lib/commsan").join(plugin);
            std::fs::copy(&built, path.join(plugin))
                .unwrap_or_else(|error| panic!("{}: {error}; run `make build`", built.display()));
        }
        for source in ["harness.c", "abi.c", "fortran.c"] {
            let mut gcc = Command::new("gcc");
            gcc.args(["-O1", "-w", "-mcx16", "-fno-omit-frame-pointer", "-c", "-I"]).arg(&hooks);
            let object = path.join(source).with_extension("o");
            run(gcc.arg(sources().join(source)).arg("-o").arg(object));
        }
        path
    })
}

/// Installs the plugin of a compiler.
pub fn install_plugin(compiler: &str, directory: &Path) -> Result<PathBuf, String> {
    let outcome = commsan_compiler_wrapper::setup::compiler(compiler, Some(directory));
    outcome.plugin.map_err(|lack| lack.to_string())
}

/// For compilers that no plugin fits.
fn bare_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let path = shared().join("bare");
        let mut copy = Command::new("cp");
        run(copy.args(["-rT"]).arg(library()).arg(&path));
        run(Command::new("find").arg(&path).args([
            "-regex",
            ".*/\\(libcommsan_pass-\\|commsan_gcc-\\).*",
            "-delete",
        ]));
        path
    })
}

/// Whether the plugin could be built for the installed gcc.
pub fn has_plugin() -> bool {
    let id = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|e| e == "id");
    let found = std::fs::read_dir(library()).unwrap().flatten().any(id);
    if !found {
        eprintln!("skipped: gcc's plugin headers are not installed");
    }
    found
}

/// NVIDIA's compiler: that of `NVCC`, or the one that `scripts/cuda.sh` installs.
pub fn nvcc() -> &'static Path {
    static NVCC: OnceLock<PathBuf> = OnceLock::new();
    NVCC.get_or_init(|| {
        // Where nvcc's host compiler is looked for.
        let alias = driver().with_file_name("commsan-cxx");
        if !alias.exists() {
            std::os::unix::fs::symlink("driver", alias).unwrap();
        }
        if let Some(nvcc) = std::env::var_os("NVCC") {
            return nvcc.into();
        }
        let toolkit = run(&mut Command::new(repository().join("scripts/cuda.sh")));
        Path::new(toolkit.trim()).join("bin/nvcc")
    })
}

/// Where the CUDA runtimes with simulated devices are.
pub fn simulated() -> PathBuf {
    let directory = repository().join("target/dist/lib/commsan/simgpu");
    assert!(directory.exists(), "run `make build`");
    directory
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", everything(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
