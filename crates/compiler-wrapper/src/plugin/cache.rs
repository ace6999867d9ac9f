//! The user's cache of plugins: `$XDG_CACHE_HOME/commsan/VERSION`, else `~/.cache/commsan/VERSION`.
//!
//! Entries appear by `rename`, complete. Of several compilers that need the same entry, a lock lets
//! one compile it while the others wait. Where the file system has no locks, each compiles its own,
//! and the last remains: they are equal.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Lack, sources};

/// The directory of this version's entries.
pub struct Cache {
    directory: PathBuf,
}

/// The name of an entry for what `identity` tells apart.
pub fn name(kind: &str, identity: &str) -> String {
    let mut hasher = DefaultHasher::new();
    identity.hash(&mut hasher);
    format!("{kind}-{:016x}", hasher.finish())
}

impl Cache {
    /// That of the environment; `None` if it names no directory.
    pub fn of_user() -> Option<Cache> {
        let absolute = |name| {
            let path = PathBuf::from(std::env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
        Some(Cache::in_directory(base.join("commsan").join(sources::digest())))
    }

    pub(super) fn in_directory(directory: PathBuf) -> Cache {
        Cache { directory }
    }

    /// Where everything of this version is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The plugin of this name, if there is one; by its own path, for it finds libraries beside it.
    pub fn entry(&self, name: &str) -> Option<PathBuf> {
        self.file(name, "so").canonicalize().ok().filter(|path| path.is_file())
    }

    fn file(&self, name: &str, suffix: &str) -> PathBuf {
        self.directory.join(name).with_extension(suffix)
    }

    fn failure(&self, name: &str) -> PathBuf {
        self.file(name, "failed")
    }

    /// Why a plugin could not be compiled, unless that was too long ago.
    pub fn recent_failure(&self, name: &str, most: Duration) -> Option<Lack> {
        let file = self.failure(name);
        let age = file.metadata().and_then(|m| m.modified()).ok()?.elapsed().unwrap_or_default();
        let text = fs::read_to_string(&file).ok().filter(|_| age < most)?;
        let why = text.lines().next().unwrap_or_default();
        Some(Lack::new(why, failed_cure(&file)))
    }

    /// Lets the plugin be compiled again.
    pub fn forget_failure(&self, name: &str) {
        let _ = fs::remove_file(self.failure(name));
    }

    /// The entry of this name. If there is none, `make` makes it in a directory of its own. What
    /// went wrong is remembered.
    ///
    /// # Errors
    /// What `make` lacks, or that the cache cannot be written.
    pub fn obtain(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<PathBuf, Lack>,
    ) -> Result<PathBuf, Lack> {
        let unwritable = |error: std::io::Error| {
            let why = format!("{} cannot be written: {error}", self.directory.display());
            Lack::new(why, "set XDG_CACHE_HOME to a directory that can")
        };
        fs::create_dir_all(&self.directory).map_err(unwritable)?;
        let lock = File::create(self.file(name, "lock")).map_err(unwritable)?;
        // SAFETY: the descriptor is open. Without locks, the build directory still is one's own.
        unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX) };
        if let Some(entry) = self.entry(name) {
            return Ok(entry);
        }
        if let Some(lack) = self.recent_failure(name, Duration::MAX) {
            return Err(lack); // of the compiler that had the lock before
        }
        let build = self.directory.join(format!("{name}.build-{}", std::process::id()));
        let _ = fs::remove_dir_all(&build);
        fs::create_dir(&build).map_err(unwritable)?;
        let made = make(&build).and_then(|made| {
            fs::rename(made, self.file(name, "so")).map_err(unwritable)?;
            self.entry(name).ok_or_else(|| unwritable(std::io::ErrorKind::NotFound.into()))
        });
        let _ = fs::remove_dir_all(&build);
        made.map_err(|Lack { why, cure }| {
            let file = self.failure(name);
            let first = why.lines().next().unwrap_or_default().to_owned();
            match fs::write(&file, why) {
                Ok(()) if cure.is_empty() => Lack::new(first, failed_cure(&file)),
                _ => Lack::new(first, cure),
            }
        })
    }
}

fn failed_cure(log: &Path) -> String {
    format!("{} has the messages; when that is mended: `commsan setup compiler`", log.display())
}
