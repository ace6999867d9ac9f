//! gcc's plugin. It fits only the build of gcc whose headers it was compiled with.
//!
//! Installed: `commsan_gcc-VERSION.so`, and `commsan_gcc-VERSION.id`, whose first line identifies
//! that build: path, size and time of its compiler proper. The compilers of all languages are
//! installed together.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Lack, Recipe, ask, package, sources, unknown};

/// gcc's headers make use of literals that newer compilers take for user-defined ones.
const OPTIONS: &[&str] = &[
    "-std=gnu++14",
    "-O2",
    "-fPIC",
    "-fno-rtti",
    "-fno-exceptions",
    "-fvisibility=hidden",
    "-Wno-literal-suffix",
];

/// The installed plugin for this build of gcc.
pub fn installed(compiler: &[OsString], library: &Path) -> Option<PathBuf> {
    let mut ids = ids(library).peekable();
    ids.peek()?;
    let found = identity(compiler)?;
    let fits = |id: &PathBuf| {
        fs::read_to_string(id).is_ok_and(|text| text.lines().next() == Some(&*found))
    };
    ids.find(fits).map(|id| id.with_extension("so")).filter(|plugin| plugin.is_file())
}

fn ids(library: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(library).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().as_bytes();
        name.starts_with(b"commsan_gcc-") && path.extension() == Some(OsStr::new("id"))
    })
}

/// Where the plugin for this gcc is installed.
pub fn installed_name(compiler: &[OsString], library: &Path) -> Result<PathBuf, Lack> {
    let version = version(compiler).ok_or_else(|| unknown(compiler))?;
    Ok(library.join(format!("commsan_gcc-{version}.so")))
}

/// The identity of gcc's compiler proper.
pub fn identity(compiler: &[OsString]) -> Option<String> {
    let path = compiler_proper(compiler, "cc1")?;
    let file = path.metadata().ok()?;
    Some(format!("{} {} {}", path.display(), file.size(), file.mtime()))
}

/// The path of a compiler proper; gcc answers with the bare name if it has none.
fn compiler_proper(compiler: &[OsString], name: &str) -> Option<PathBuf> {
    ask(compiler, &[&format!("-print-prog-name={name}")])?.canonicalize().ok()
}

fn version(compiler: &[OsString]) -> Option<String> {
    let version = ask(compiler, &["-dumpfullversion"])?.into_os_string().into_string().ok()?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// How the plugin for this gcc is compiled.
pub fn recipe(compiler: &[OsString]) -> Result<Recipe, Lack> {
    let known = version(compiler).zip(ask(compiler, &["-print-file-name=plugin"]));
    let (version, plugins) = known.ok_or_else(|| unknown(compiler))?;
    let label = format!("gcc {version}");
    let headers = plugins.join("include");
    let major = version.split('.').next().unwrap_or_default();
    if !headers.join("gcc-plugin.h").is_file() {
        let debian = format!("gcc-{major}-plugin-dev");
        let why = format!("{label}'s plugin headers are missing");
        return Err(Lack::new(why, package(debian, "gcc-plugin-devel")));
    }
    let compilers = cxx_compilers(compiler, major);
    if compilers.is_empty() {
        let why = format!("there is no C++ compiler to compile {label}'s plugin with");
        return Err(Lack::new(why, package(format!("g++-{major}"), "gcc-c++")));
    }
    let mut options: Vec<OsString> = OPTIONS.iter().map(OsString::from).collect();
    options.extend(["-isystem".into(), headers.into()]);
    Ok(Recipe { label, sources: sources::GCC, options, link: Vec::new(), compilers })
}

/// C++ compilers: first those of the same installation, beside it or in PATH, then the compiler
/// itself, if it has C++, then any other, whose code also works.
fn cxx_compilers(compiler: &[OsString], major: &str) -> Vec<Vec<OsString>> {
    let proper = compiler_proper(compiler, "cc1");
    // PREFIX/libexec/gcc/TARGET/VERSION/cc1
    let prefix = proper.as_deref().and_then(|path| path.ancestors().nth(5));
    let names = [format!("g++-{major}"), "g++".into(), "c++".into()];
    let beside = names.iter().filter_map(|name| Some(prefix?.join("bin").join(name).into()));
    let everywhere = beside.chain(names.iter().map(OsString::from));
    let (mut same, mut others) = (Vec::new(), Vec::new());
    for candidate in everywhere.filter(|name| crate::invocation::is_executable(name)) {
        let command = vec![candidate];
        let is_same = compiler_proper(&command, "cc1").is_some_and(|path| Some(path) == proper);
        if is_same { &mut same } else { &mut others }.push(command);
    }
    if compiler_proper(compiler, "cc1plus").is_some() {
        same.push(compiler.to_vec());
    }
    same.append(&mut others);
    same
}
