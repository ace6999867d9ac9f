//! The sources of the plugins, as parts of this program.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::OnceLock;

/// A file's path, relative to the directory of all of them, and its text.
pub type Source = (&'static str, &'static str);

macro_rules! sources {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../instrument/", $path)))),*]
    };
}

/// The plugin of gcc.
pub const GCC: &[Source] = sources![
    "gcc-plugin/access.cc",
    "gcc-plugin/calls.cc",
    "gcc-plugin/calm.cc",
    "gcc-plugin/check.cc",
    "gcc-plugin/frames.cc",
    "gcc-plugin/hooks.cc",
    "gcc-plugin/ierror.cc",
    "gcc-plugin/interval.cc",
    "gcc-plugin/interval.h",
    "gcc-plugin/lanes.cc",
    "gcc-plugin/lines.cc",
    "gcc-plugin/loops.cc",
    "gcc-plugin/plugin.cc",
    "gcc-plugin/plugin.h",
    "gcc-plugin/reach.cc",
    "gcc-plugin/threads.cc",
    "hooks/commsan_abi.h",
    "hooks/fortran_calls.h",
    "hooks/harmless.h",
];

/// The part of the pass plugin that depends on LLVM's version.
pub const LLVM: &[Source] = sources![
    "llvm-plugin/ierror.cc",
    "llvm-plugin/reach.cc",
    "llvm-plugin/reach.h",
    "llvm-plugin/regions.cc",
    "llvm-plugin/shim.cc",
    "hooks/commsan_abi.h",
    "hooks/fortran_calls.h",
    "hooks/harmless.h",
];

/// Whether a file is compiled by itself.
pub fn is_unit(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|suffix| suffix == "cc")
}

/// Changes with the sources and with commsan's version.
pub fn digest() -> &'static str {
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        (GCC, LLVM).hash(&mut hasher);
        format!("{}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish())
    })
}
