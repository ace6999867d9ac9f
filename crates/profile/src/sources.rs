//! Source files, as far as they are there.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A larger file is generated code or no source at all.
const MAX_FILE: u64 = 16 << 20;

/// How names of sources end. A run directory may come from anybody, and what it calls a source is
/// shown and passed on: no other file is read.
const ENDINGS: &[&str] = &[
    "c", "cc", "cp", "cpp", "cxx", "c++", "cppm", "ixx", "cu", "cuh", "hip", "h", "hh", "hpp",
    "hxx", "h++", "inl", "ipp", "tpp", "tcc", "txx", "inc", "def", "cl", "f", "for", "ftn", "fpp",
    "f77", "f90", "f95", "f03", "f08", "f18", "cuf", "fi", "fh", "py", "pyx", "pxd", "pxi", "jl",
    "rs", "m", "mm", "s", "asm", "ptx", "y", "l", "yy", "ll", "pf", "fypp",
];

/// Whether this is the name of a source, and that of what it leads to.
fn is_all_source(path: &Path) -> bool {
    is_source(path) && path.canonicalize().is_ok_and(|real| is_source(&real))
}

/// Whether a file's name is that of a source. Headers of C++'s library have no ending.
fn is_source(path: &Path) -> bool {
    match path.extension() {
        Some(ending) => {
            let ending = ending.to_string_lossy().to_ascii_lowercase();
            ENDINGS.contains(&ending.as_str())
        }
        None => path.components().any(|part| part.as_os_str() == "c++"),
    }
}

/// Where sources are looked for, and since when they should not have changed.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Working directory of the run.
    pub directory: PathBuf,
    /// When the run began, in nanoseconds since 1970.
    pub began: u64,
}

/// What can be said of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether it is there.
    pub found: bool,
    /// Whether it was written after the run began.
    pub changed: bool,
}

impl Sources {
    /// Whether `file` is there, and what it was then.
    pub fn state(&self, file: &str) -> State {
        let path = self.path(file);
        let written = path.metadata().ok().filter(|found| found.is_file() && is_all_source(&path));
        let began: SystemTime = UNIX_EPOCH + Duration::from_nanos(self.began);
        let changed = written.as_ref().and_then(|metadata| metadata.modified().ok());
        State { found: written.is_some(), changed: changed.is_some_and(|time| time > began) }
    }

    /// The file's text.
    ///
    /// # Errors
    /// Says why there is none, and what to do.
    pub fn text(&self, file: &str) -> Result<String, String> {
        let path = self.path(file);
        let shown = path.display();
        let metadata = path.metadata().map_err(|error| {
            format!("`{shown}` cannot be read ({error}): view the run where the program was built")
        })?;
        if !metadata.is_file() || metadata.len() > MAX_FILE {
            return Err(format!("`{shown}` is no source file: it has {} bytes", metadata.len()));
        }
        if !is_all_source(&path) {
            return Err(format!("`{shown}` is no source file by its name, and is not read"));
        }
        let bytes = std::fs::read(&path).map_err(|error| format!("`{shown}`: {error}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Relative names are those of the run's working directory.
    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(Path::new(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let sources = Sources { directory: directory.path().to_owned(), began: u64::MAX };
        let write = |name: &str| std::fs::write(directory.path().join(name), "x").unwrap();
        ["solve.F90", "id_rsa", "secret.pem"].into_iter().for_each(write);
        std::os::unix::fs::symlink("id_rsa", directory.path().join("link.c")).unwrap();
        assert!(sources.state("solve.F90").found);
        assert_eq!(sources.text("solve.F90").as_deref(), Ok("x"));
        for other in ["id_rsa", "secret.pem", "link.c"] {
            assert!(!sources.state(other).found, "{other}");
            let why = sources.text(other).unwrap_err();
            assert!(why.contains("is no source file by its name"), "{why}");
        }
        assert!(is_source(Path::new("/usr/include/c++/12/vector")));
    }
}
