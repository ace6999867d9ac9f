//! Whether our plugin fits a gcc: it can be loaded only into the very build of gcc that it was
//! compiled for.
//!
//! Beside `commsan_gcc-VERSION.so` lies `commsan_gcc-VERSION.id`, which tells where that gcc has its
//! compiler proper, and size and time of that file. All languages' are installed together.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The plugin in `library` that this compiler can load.
pub fn fitting(compiler: &[OsString], library: &Path) -> Option<PathBuf> {
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

/// As the plugin's Makefile writes it.
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

    #[test]
    fn a_plugin_fits_one_compiler_only() {
        let library = std::env::temp_dir().join("commsan-plugin-tests");
        fs::create_dir_all(&library).unwrap();
        let compiler = [OsString::from("gcc")];
        let write = |id: &str| fs::write(library.join("commsan_gcc-1.2.3.id"), id).unwrap();
        let plugin = library.join("commsan_gcc-1.2.3.so");
        fs::write(&plugin, "").unwrap();
        let identity = identity(&compiler).unwrap();
        write(&format!("{identity}\n"));
        assert_eq!(fitting(&compiler, &library), Some(plugin.clone()));
        write(&format!("{identity}1\n"));
        assert_eq!(fitting(&compiler, &library), None);
        write(&identity);
        fs::remove_file(plugin).unwrap();
        assert_eq!(fitting(&compiler, &library), None);
        assert_eq!(fitting(&["no-such-compiler".into()], &library), None);
    }
}
