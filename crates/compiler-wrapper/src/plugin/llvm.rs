//! The pass plugin of LLVM's compilers: `libcommsan_pass.so`, the same for all versions, and a shim
//! for a version of LLVM, `libcommsan_pass-VERSION.so`, which the compiler loads, and which loads
//! the former.
//!
//! A shim fits all compilers made of that LLVM as published. For vendors' compilers, one is
//! compiled with their own headers if they are installed; either is used if it works when tried.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Lack, Recipe, ask, cache, package, sources};
use crate::family::Compiler;

const OPTIONS: &[&str] =
    &["-std=c++17", "-O2", "-fPIC", "-fno-rtti", "-fno-exceptions", "-fvisibility=hidden"];

/// The part that does not depend on LLVM's version.
pub const CORE: &str = "libcommsan_pass.so";

/// A header without which the shim cannot be compiled.
const HEADER: &str = "llvm/Passes/PassBuilder.h";

/// The versions whose headers the shim can be compiled with.
const VERSIONS: std::ops::RangeInclusive<u32> = 14..=21;

/// Where the shim of a version is installed.
pub fn installed(library: &Path, major: u32) -> PathBuf {
    library.join(format!("libcommsan_pass-{major}.so"))
}

/// The name in the cache: the shim names the library directory.
pub fn entry_name(compiler: &[OsString], known: Compiler, library: &Path) -> Option<String> {
    let major = known.llvm?;
    let resources = resources(compiler)?;
    let identity = format!("{} {}", resources.display(), library.display());
    Some(cache::name(&format!("llvm-{major}"), &identity))
}

/// The directory of the compiler's own headers, which exists once for each installation.
fn resources(compiler: &[OsString]) -> Option<PathBuf> {
    ask(compiler, &["-print-resource-dir"]).filter(|path| path.is_absolute())
}

/// How the shim for this compiler is compiled.
pub fn recipe(compiler: &[OsString], known: Compiler, library: &Path) -> Result<Recipe, Lack> {
    let major = known.llvm.unwrap_or_default();
    if !VERSIONS.contains(&major) {
        let (first, last) = (VERSIONS.start(), VERSIONS.end());
        let why = format!("commsan has no plugin for LLVM {major}");
        return Err(Lack::new(why, format!("use a compiler of LLVM {first} to {last}")));
    }
    let core = library.join(CORE);
    if !core.is_file() {
        let why = format!("commsan's plugin for LLVM, {}, is not installed", core.display());
        return Err(Lack::new(why, "install commsan with it: `make install`"));
    }
    // PREFIX/lib/clang/VERSION
    let own = resources(compiler).and_then(|path| Some(path.ancestors().nth(3)?.join("include")));
    let of_debian = PathBuf::from(format!("/usr/lib/llvm-{major}/include"));
    let mut candidates = own.into_iter().chain([of_debian]);
    let Some(headers) = candidates.find(|include| is_of(include, major)) else {
        let why = format!("LLVM {major}'s headers are missing");
        return Err(Lack::new(why, package(format!("llvm-{major}-dev"), "llvm-devel")));
    };
    Ok(compiled_with(major, &headers, library, library.as_os_str(), Some(compiler)))
}

/// Whether these are the headers of that version.
fn is_of(include: &Path, major: u32) -> bool {
    let define = format!("#define LLVM_VERSION_MAJOR {major}");
    let config = std::fs::read_to_string(include.join("llvm/Config/llvm-config.h"));
    include.join(HEADER).is_file() && config.is_ok_and(|text| text.contains(&define))
}

fn compiled_with(
    major: u32,
    headers: &Path,
    library: &Path,
    rpath: &OsStr,
    compiler: Option<&[OsString]>,
) -> Recipe {
    let mut options: Vec<OsString> = OPTIONS.iter().map(OsString::from).collect();
    options.extend(["-isystem".into(), headers.into()]);
    let with = |option: &str, value: &OsStr| {
        let mut both = OsString::from(option);
        both.push(value);
        both
    };
    let link = vec![
        with("-Wl,-rpath,", rpath),
        with("-L", library.as_os_str()),
        "-Wl,--no-as-needed".into(),
        with("-l:", OsStr::new(CORE)),
    ];
    let known = ["g++", "c++", "clang++"].map(|name| vec![OsString::from(name)]);
    let mut compilers: Vec<_> = known.into_iter().collect();
    compilers.retain(|command| crate::invocation::is_executable(&command[0]));
    compilers.extend(compiler.map(<[OsString]>::to_vec));
    let label = format!("LLVM {major}");
    Recipe { label, sources: sources::LLVM, options, link, compilers }
}

/// What an `llvm-config` tells.
pub struct Configured {
    pub major: u32,
    headers: PathBuf,
}

impl Configured {
    /// `None` if the command is no `llvm-config`.
    pub fn ask(command: &[OsString]) -> Option<Configured> {
        let name = Path::new(command.last()?).file_name()?.to_str()?;
        if !name.starts_with("llvm-config") {
            return None;
        }
        let version = ask(command, &["--version"])?;
        let major = version.to_str()?.split('.').next()?.parse().ok()?;
        Some(Configured { major, headers: ask(command, &["--includedir"])? })
    }

    /// What the shim was compiled with.
    pub fn identity(&self) -> String {
        self.headers.display().to_string()
    }

    /// How the shim is compiled.
    pub fn recipe(&self, library: &Path, rpath: &OsStr) -> Recipe {
        compiled_with(self.major, &self.headers, library, rpath, None)
    }
}
