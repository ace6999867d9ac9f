//! Determines which of commsan's plugins a compiler can load.
//!
//! `libcommsan_pass-VERSION.so` fits all compilers made of that LLVM as published.
//! `commsan_gcc-VERSION.so` fits only the build of gcc for which it was compiled.
//! `commsan_gcc-VERSION.id` beside it contains the path of that gcc's compiler proper, and the size
//! and time of that file. The compilers of all languages are installed together.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::family::Compiler;

/// The plugin in `library` that this compiler can load.
pub fn fitting(compiler: &[OsString], known: Compiler, library: &Path) -> Option<PathBuf> {
    if known.family.is_gnu() {
        return of_gcc(compiler, library);
    }
    let plugin = library.join(format!("libcommsan_pass-{}.so", known.llvm?));
    plugin.is_file().then_some(plugin)
}

fn of_gcc(compiler: &[OsString], library: &Path) -> Option<PathBuf> {
    let mut ids = ids(library).peekable();
    ids.peek()?;
    let found = identity(compiler)?;
    let fits = |id: &PathBuf| fs::read_to_string(id).is_ok_and(|text| text.trim_end() == found);
    ids.find(fits).map(|id| id.with_extension("so")).filter(|plugin| plugin.is_file())
}

fn ids(library: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(library).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().as_bytes();
        name.starts_with(b"commsan_gcc-") && path.extension() == Some(OsStr::new("id"))
    })
}

/// The identity of gcc's compiler proper, in the format of the plugin's Makefile.
fn identity(compiler: &[OsString]) -> Option<String> {
    let asked = Command::new(&compiler[0])
        .args(&compiler[1..])
        .arg("-print-prog-name=cc1")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let path = Path::new(OsStr::from_bytes(asked.stdout.trim_ascii_end())).canonicalize().ok()?;
    let file = path.metadata().ok()?;
    Some(format!("{} {} {}", path.display(), file.size(), file.mtime()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Family;

    #[test]
    fn a_plugin_of_gcc_fits_one_build_of_it() {
        let library = std::env::temp_dir().join("commsan-plugin-tests");
        fs::create_dir_all(&library).unwrap();
        let compiler = [OsString::from("gcc")];
        let write = |id: &str| fs::write(library.join("commsan_gcc-1.2.3.id"), id).unwrap();
        let plugin = library.join("commsan_gcc-1.2.3.so");
        fs::write(&plugin, "").unwrap();
        let identity = identity(&compiler).unwrap();
        write(&format!("{identity}\n"));
        assert_eq!(of_gcc(&compiler, &library), Some(plugin.clone()));
        write(&format!("{identity}1\n"));
        assert_eq!(of_gcc(&compiler, &library), None);
        write(&identity);
        fs::remove_file(plugin).unwrap();
        assert_eq!(of_gcc(&compiler, &library), None);
        assert_eq!(of_gcc(&["no-such-compiler".into()], &library), None);
    }

    #[test]
    fn a_pass_plugin_fits_a_version() {
        let library = std::env::temp_dir().join("commsan-pass-plugin-tests");
        fs::create_dir_all(&library).unwrap();
        let plugin = library.join("libcommsan_pass-19.so");
        fs::write(&plugin, "").unwrap();
        let found = |llvm| fitting(&[], Compiler { family: Family::Clang, llvm }, &library);
        assert_eq!(found(Some(19)), Some(plugin));
        assert_eq!(found(Some(20)), None);
        assert_eq!(found(None), None);
    }
}
