//! `commsan setup compiler`: compiles the plugins of compilers before they are needed, or tells why
//! they cannot be.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::family::Compiler;
use crate::plugin::{self, Lack};
use crate::{invocation, library_directory};

/// A compiler, and the plugin that it can load.
pub struct Outcome {
    /// As the user names it.
    pub compiler: String,
    /// The plugin, or why there is none.
    pub plugin: Result<PathBuf, Lack>,
}

/// The compilers of this machine that may have plugins.
pub fn compilers() -> Vec<String> {
    let versions = |name: &str, versions: std::ops::RangeInclusive<u32>| {
        let numbered = versions.map(|version| format!("{name}-{version}"));
        std::iter::once(name.to_owned()).chain(numbered).collect::<Vec<_>>()
    };
    // The compilers of all languages that come with gcc share a plugin.
    let mut all = versions("gcc", 9..=15);
    for name in ["clang", "flang", "flang-new"] {
        all.extend(versions(name, 14..=21));
    }
    all.extend(["icx", "amdclang", "craycc", "armclang"].map(str::to_owned));
    all.retain(|name| invocation::is_executable(name.as_ref()));
    all
}

/// The plugin of a compiler, which may be a command of several words such as `mpicc -cc=gcc-11`.
/// With `into`, it is installed in that directory instead of the user's cache.
pub fn compiler(compiler: &str, into: Option<&Path>) -> Outcome {
    let command: Vec<OsString> = compiler.split_whitespace().map(OsString::from).collect();
    let plugin = match (command.first(), into) {
        (Some(program), _) if !invocation::is_executable(program) => Err(Lack {
            why: format!("`{}` is not in PATH", program.display()),
            cure: "name a compiler that is".into(),
        }),
        (_, Some(directory)) => plugin::install(&command, directory),
        (_, None) => {
            let (known, library) = (Compiler::of(&command), library_directory());
            plugin::forget_failure(&command, known, &library);
            plugin::obtain(&command, known, &library)
        }
    };
    Outcome { compiler: compiler.to_owned(), plugin }
}
