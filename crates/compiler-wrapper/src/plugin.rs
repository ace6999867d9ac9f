//! Determines which of commsan's plugins a compiler can load, and compiles what is missing.
//!
//! A plugin of gcc fits only the build of gcc whose headers it was compiled with, one of LLVM's
//! compilers only the version. Those for common compilers are installed; others are compiled from
//! the sources in this program, once, into the user's cache ([`cache`]). [`gcc`] and [`llvm`] know
//! what identifies a compiler, and how its plugin is compiled; [`build`] compiles and tries it.
//!
//! Nothing here may break a build: without a plugin there are slower hooks, or code without checks,
//! and [`Lack`] tells the user why.

mod build;
mod cache;
mod gcc;
mod llvm;
mod sources;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::family::{Compiler, Family};
pub use cache::{Cache, name as marker};

/// Why a compiler has no plugin, and how it gets one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// As a clause: "gcc 11.3.0's plugin headers are missing".
    pub why: String,
    /// As an instruction: "`apt install gcc-11-plugin-dev`".
    pub cure: String,
}

impl Lack {
    fn new(why: impl Into<String>, cure: impl Into<String>) -> Lack {
        Lack { why: why.into(), cure: cure.into() }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}; {}", self.why, self.cure)
    }
}

/// A plugin that can be compiled for one installation of a compiler.
struct Recipe {
    /// What the plugin is for, such as "gcc 11.3.0".
    label: String,
    sources: &'static [sources::Source],
    /// Options in front of a source: the dialect and the compiler's headers.
    options: Vec<OsString>,
    /// Options after the objects when they are linked.
    link: Vec<OsString>,
    /// Commands of C++ compilers, the best first.
    compilers: Vec<Vec<OsString>>,
}

/// Where a plugin comes from that is not in the cache yet.
enum Source {
    Recipe(Recipe),
    /// A shim for LLVM as published, which a vendor's compiler may be able to load.
    Installed(PathBuf),
}

/// A plugin that a compiler can load.
enum Found {
    /// It is there.
    Ready(PathBuf),
    /// It can be made, as the cache's entry of this name.
    Possible(Cache, String, Source),
}

/// Looks for the plugin of a compiler, compiling nothing.
///
/// # Errors
/// When there is none, and it cannot be compiled, or could not be lately.
fn find(compiler: &[OsString], known: Compiler, library: &Path) -> Result<Found, Lack> {
    if let Some(plugin) = installed(compiler, known, library) {
        return Ok(Found::Ready(plugin));
    }
    let name = entry_name(compiler, known, library)?;
    let cache = Cache::of_user().ok_or_else(no_cache)?;
    if let Some(entry) = cache.entry(&name) {
        return Ok(Found::Ready(entry));
    }
    if let Some(lack) = cache.recent_failure(&name, AGE_OF_FAILURES) {
        return Err(lack);
    }
    let source = source(compiler, known, library)?;
    Ok(Found::Possible(cache, name, source))
}

/// The plugin that this compiler can load, if it is there already; `None` if it would be compiled.
///
/// # Errors
/// When there is none, and it could not be compiled.
pub fn prospect(
    compiler: &[OsString],
    known: Compiler,
    library: &Path,
) -> Result<Option<PathBuf>, Lack> {
    Ok(match find(compiler, known, library)? {
        Found::Ready(plugin) => Some(plugin),
        Found::Possible(..) => None,
    })
}

/// The plugin that this compiler can load; compiles it if need be.
///
/// # Errors
/// When there is none, and it cannot be compiled.
pub fn obtain(compiler: &[OsString], known: Compiler, library: &Path) -> Result<PathBuf, Lack> {
    let (cache, name, source) = match find(compiler, known, library)? {
        Found::Ready(plugin) => return Ok(plugin),
        Found::Possible(cache, name, source) => (cache, name, source),
    };
    cache.obtain(&name, |directory| {
        let plugin = match source {
            Source::Recipe(recipe) => {
                build::announce(&recipe.label);
                build::compile(&recipe, directory)?
            }
            Source::Installed(shim) => build::link_to(&shim, directory)?,
        };
        build::try_out(compiler, known, &plugin, directory)?;
        Ok(plugin)
    })
}

/// A failed compilation is repeated after this time, or by `commsan setup compiler`.
const AGE_OF_FAILURES: Duration = Duration::from_secs(24 * 60 * 60);

/// Forgets a failure to compile the plugin.
pub fn forget_failure(compiler: &[OsString], known: Compiler, library: &Path) {
    if let (Some(cache), Ok(name)) = (Cache::of_user(), entry_name(compiler, known, library)) {
        cache.forget_failure(&name);
    }
}

/// Compiles the plugin into `library`, where it is found first, unless it is there.
///
/// `compiler` is a compiler, or an `llvm-config` for all compilers of its LLVM.
///
/// # Errors
/// When it cannot be compiled, or written there.
pub fn install(compiler: &[OsString], library: &Path) -> Result<PathBuf, Lack> {
    let as_lack = |what: &Path| {
        let what = what.display().to_string();
        move |error: std::io::Error| Lack::new(format!("{what}: {error}"), "check the directory")
    };
    fs::create_dir_all(library).map_err(as_lack(library))?;
    let library = &library.canonicalize().map_err(as_lack(library))?;
    let configured = llvm::Configured::ask(compiler);
    let known = if configured.is_some() { Compiler::OTHER } else { Compiler::of(compiler) };
    let (plugin, id, recipe) = match (configured, known.family.is_gnu()) {
        (Some(llvm), _) => {
            let plugin = llvm::installed(library, llvm.major);
            let recipe = llvm.recipe(library, OsStr::new("$ORIGIN"));
            (plugin, llvm.identity(), recipe)
        }
        (None, true) => {
            let plugin = gcc::installed_name(compiler, library)?;
            let id = gcc::identity(compiler).ok_or_else(|| unknown(compiler))?;
            (plugin, id, gcc::recipe(compiler)?)
        }
        (None, false) => return Err(unknown(compiler)),
    };
    // The id is written last: a plugin of gcc is used only if it exists.
    let id_file = plugin.with_extension("id");
    let id = format!("{id}\n{}\n", sources::digest());
    if plugin.is_file() && fs::read_to_string(&id_file).is_ok_and(|text| text == id) {
        return Ok(plugin);
    }
    let directory = library.join(format!(".build-{}", std::process::id()));
    fs::create_dir_all(&directory).map_err(as_lack(&directory))?;
    let done = build::compile(&recipe, &directory).and_then(|built| {
        if known != Compiler::OTHER {
            build::try_out(compiler, known, &built, &directory)?;
        }
        fs::rename(&built, &plugin).map_err(as_lack(&plugin))?;
        fs::write(&id_file, id).map_err(as_lack(&id_file))
    });
    let _ = fs::remove_dir_all(&directory);
    done.map(|()| plugin)
}

fn installed(compiler: &[OsString], known: Compiler, library: &Path) -> Option<PathBuf> {
    if known.family.is_gnu() {
        return gcc::installed(compiler, library);
    }
    let plugin = llvm::installed(library, known.llvm.filter(|_| known.published)?);
    plugin.is_file().then_some(plugin)
}

fn entry_name(compiler: &[OsString], known: Compiler, library: &Path) -> Result<String, Lack> {
    if known.family.is_gnu() {
        let identity = gcc::identity(compiler).ok_or_else(|| unknown(compiler))?;
        return Ok(cache::name("gcc", &identity));
    }
    llvm::entry_name(compiler, known, library).ok_or_else(|| unknown(compiler))
}

fn source(compiler: &[OsString], known: Compiler, library: &Path) -> Result<Source, Lack> {
    if known.family.is_gnu() {
        return gcc::recipe(compiler).map(Source::Recipe);
    }
    llvm::recipe(compiler, known, library).map(Source::Recipe).or_else(|lack| {
        let shim = known.llvm.map(|major| llvm::installed(library, major));
        shim.filter(|shim| shim.is_file()).map(Source::Installed).ok_or(lack)
    })
}

fn no_cache() -> Lack {
    Lack::new("there is no directory to compile the plugin in", "set HOME or XDG_CACHE_HOME")
}

fn unknown(compiler: &[OsString]) -> Lack {
    let compiler = compiler.join(OsStr::new(" "));
    Lack::new(
        format!("`{}` is no compiler that commsan has a plugin for", compiler.display()),
        "use gcc 9 to 15, or clang or flang of LLVM 14 to 21",
    )
}

/// The last line that a compiler answers; `None` if it fails.
fn ask(compiler: &[OsString], question: &[&str]) -> Option<PathBuf> {
    let asked = Command::new(compiler.first()?)
        .args(&compiler[1..])
        .args(question)
        .env(crate::WRAPPER, crate::WITHIN)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    // A launcher before the compiler may print lines of its own.
    let mut lines = asked.stdout.split(|byte| *byte == b'\n').map(|line| line.trim_ascii());
    let answer = lines.rfind(|line| !line.is_empty())?;
    asked.status.success().then(|| OsStr::from_bytes(answer).into())
}

/// The package with a compiler's headers, by the machine's package manager.
fn package(of_debian: String, of_fedora: &str) -> String {
    let has = |manager: &str| crate::invocation::is_executable(manager.as_ref());
    if has("apt-get") {
        format!("`apt install {of_debian}`")
    } else if has("dnf") {
        format!("`dnf install {of_fedora}`")
    } else {
        format!("install them (Debian: {of_debian}, Fedora: {of_fedora}), or use another compiler")
    }
}

/// Whether hooks can take the place of a plugin.
pub fn has_hooks(family: Family) -> bool {
    family.is_gnu() || family == Family::Clang
}

#[cfg(test)]
mod tests;
