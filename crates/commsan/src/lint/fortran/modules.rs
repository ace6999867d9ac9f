//! MPI's modules for flang that earlier runs have compiled, in the user's cache.
//!
//! What the modules depend on is in the name of their directory: this program, the compiler, and
//! the library's headers. Files appear by `rename`, complete, the module after its bitcode.
//! Whatever fails here, the modules are compiled.

use commsan_compiler_wrapper::plugin::{Cache, marker};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A directory of modules.
pub struct Kept {
    directory: PathBuf,
}

impl Kept {
    /// The modules that `flang` has made of the headers in a directory; `None` if there is no
    /// cache, or something that they depend on is not found.
    pub fn of(flang: &str, headers: &Path) -> Option<Kept> {
        let mut identity = String::new();
        let mut add = |path: &Path| -> Option<()> {
            let file = path.metadata().ok()?;
            let changed = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            writeln!(identity, "{} {} {changed:?}", path.display(), file.len()).ok()
        };
        add(&std::env::current_exe().ok()?)?;
        add(&in_path(flang)?)?;
        let is_header = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mpif"))
        };
        let entries = headers.read_dir().ok()?.flatten();
        let mut all: Vec<_> = entries.map(|entry| entry.path()).filter(is_header).collect();
        all.sort();
        all.iter().try_for_each(|header| add(header))?;
        let cache = Cache::of_user()?;
        Some(Kept { directory: cache.directory().join(marker("mpi-modules", &identity)) })
    }

    /// Copies a module to a directory, and returns the path of its bitcode there.
    pub fn fetch(&self, name: &str, to: &Path) -> Option<PathBuf> {
        fs::create_dir_all(to).ok()?;
        for file in files(name) {
            fs::copy(self.directory.join(&file), to.join(&file)).ok()?;
        }
        Some(to.join(name).with_extension("bc"))
    }

    /// Keeps a module that was made in a directory.
    pub fn keep(&self, name: &str, made_in: &Path) {
        let keep = |file: &String| {
            let kept = self.directory.join(file);
            let part = self.directory.join(format!("{file}.{}", std::process::id()));
            let done = fs::copy(made_in.join(file), &part).and_then(|_| fs::rename(&part, kept));
            if done.is_err() {
                let _ = fs::remove_file(part);
            }
            done
        };
        let _ = fs::create_dir_all(&self.directory);
        let _ = files(name).iter().try_for_each(keep);
    }
}

/// What a module consists of, its bitcode first: where there is a module, all of it is there.
fn files(name: &str) -> [String; 2] {
    [format!("{name}.bc"), format!("{name}.mod")]
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let files = std::env::split_paths(&path).map(|directory| directory.join(program));
    files.filter_map(|file| file.canonicalize().ok()).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_fetched_whole_or_not_at_all() {
        let place = std::env::temp_dir().join(format!("commsan-kept-{}", std::process::id()));
        let (made, other) = (place.join("made"), place.join("other"));
        fs::create_dir_all(&made).unwrap();
        fs::write(made.join("mpi.mod"), "module").unwrap();
        let kept = Kept { directory: place.join("kept") };
        assert_eq!(kept.fetch("mpi", &other), None);
        // Without bitcode, nothing is kept.
        kept.keep("mpi", &made);
        assert_eq!(kept.fetch("mpi", &other), None);
        fs::write(made.join("mpi.bc"), "bitcode").unwrap();
        kept.keep("mpi", &made);
        assert_eq!(kept.fetch("mpi", &other), Some(other.join("mpi.bc")));
        assert_eq!(fs::read_to_string(other.join("mpi.mod")).unwrap(), "module");
        assert_eq!(fs::read_dir(kept.directory).unwrap().count(), 2);
        fs::remove_dir_all(place).unwrap();
    }
}
