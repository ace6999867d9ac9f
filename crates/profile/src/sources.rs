//! Source files, as far as they are there.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A larger file is generated code or no source at all.
const LARGEST: u64 = 16 << 20;

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
        let written = self.path(file).metadata().ok().filter(|metadata| metadata.is_file());
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
        if !metadata.is_file() || metadata.len() > LARGEST {
            return Err(format!("`{shown}` is no source file: it has {} bytes", metadata.len()));
        }
        let bytes = std::fs::read(&path).map_err(|error| format!("`{shown}`: {error}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Relative names are those of the run's working directory.
    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(Path::new(file))
    }
}
