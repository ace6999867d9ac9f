//! Debug information that is kept apart from an executable or library: in the directory of the
//! system's debug packages, in the cache of `debuginfod-find` and debuggers, or where a debug link
//! points. Nothing is fetched from the network.

use object::read::ReadCache;
use object::{Object, ObjectSection};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Where packages of debug information are installed (GDB manual, "Debugging Information in
/// Separate Files").
const SYSTEM: &str = "/usr/lib/debug";

/// The file with the debug information of `module`, if that has none itself and another file does.
pub(crate) fn of(module: &Path) -> Option<PathBuf> {
    find(module, Path::new(SYSTEM), &cache())
}

/// Where `debuginfod-find` keeps what it has fetched (debuginfod-find(1)); an empty path if that is
/// not known.
fn cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("DEBUGINFOD_CACHE_PATH")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("debuginfod_client")))
        .or_else(|| Some(set("HOME")?.join(".cache/debuginfod_client")))
        .unwrap_or_default()
}

fn find(module: &Path, system: &Path, cache: &Path) -> Option<PathBuf> {
    let data = ReadCache::new(File::open(module).ok()?);
    let file = object::File::parse(&data).ok()?;
    if file.section_by_name(".debug_info").is_some_and(|section| section.size() > 0) {
        return None;
    }
    let id = file.build_id().ok()?;
    let text: Option<String> = id.map(|id| id.iter().map(|b| format!("{b:02x}")).collect());
    let by_id = text.iter().filter(|id| id.len() > 2).flat_map(|id| {
        [
            system.join(".build-id").join(&id[..2]).join(format!("{}.debug", &id[2..])),
            cache.join(id).join("debuginfo"),
        ]
    });
    let link = file.gnu_debuglink().ok()?.map(|(name, _)| {
        let name = Path::new(std::str::from_utf8(name).unwrap_or_default());
        let here = module.parent().unwrap_or(Path::new(""));
        let below = here.strip_prefix("/").unwrap_or(here);
        [here.join(name), here.join(".debug").join(name), system.join(below).join(name)]
    });
    by_id.chain(link.into_iter().flatten()).find(|path| path != module && is_of(path, id))
}

/// Whether a file holds debug information, of the build with this identifier as far as that is
/// known.
fn is_of(path: &Path, id: Option<&[u8]>) -> bool {
    let Ok(data) = File::open(path).map(ReadCache::new) else { return false };
    let Ok(file) = object::File::parse(&data) else { return false };
    let has_some = file.section_by_name(".debug_info").is_some_and(|section| section.size() > 0);
    has_some && file.build_id().ok().flatten().zip(id).is_none_or(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn run(directory: &Path, program: &str, arguments: &[&str]) {
        let done = Command::new(program).args(arguments).current_dir(directory).status().unwrap();
        assert!(done.success(), "{program} {arguments:?}");
    }

    fn build_id(module: &Path) -> String {
        let data = std::fs::read(module).unwrap();
        let file = object::File::parse(&*data).unwrap();
        file.build_id().unwrap().unwrap().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn debug_information_is_found_where_packages_caches_and_links_have_it() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        std::fs::write(here.join("a.c"), "int main(void) { return 0; }\n").unwrap();
        run(here, "gcc", &["-g", "-Wl,--build-id", "-o", "whole", "a.c"]);
        run(here, "objcopy", &["--only-keep-debug", "whole", "apart"]);
        run(here, "objcopy", &["--strip-debug", "whole", "bare"]);
        let (bare, apart) = (here.join("bare"), here.join("apart"));
        let id = build_id(&bare);
        let (system, cache) = (here.join("system"), here.join("cache"));
        let looked_up = |module: &str| find(&here.join(module), &system, &cache);
        assert_eq!((looked_up("whole"), looked_up("bare")), (None, None));
        assert_eq!((looked_up("a.c"), looked_up("missing")), (None, None));

        let cached = cache.join(&id).join("debuginfo");
        std::fs::create_dir_all(cached.parent().unwrap()).unwrap();
        std::fs::copy(&apart, &cached).unwrap();
        assert_eq!(looked_up("bare"), Some(cached.clone()));
        let packaged = system.join(".build-id").join(&id[..2]).join(format!("{}.debug", &id[2..]));
        std::fs::create_dir_all(packaged.parent().unwrap()).unwrap();
        std::fs::copy(&apart, &packaged).unwrap();
        assert_eq!(looked_up("bare"), Some(packaged.clone()));

        // One of another build is none of this.
        std::fs::write(here.join("a.c"), "int main(void) { return 1; }\n").unwrap();
        run(here, "gcc", &["-g", "-Wl,--build-id", "-o", "other", "a.c"]);
        for path in [&cached, &packaged] {
            std::fs::copy(here.join("other"), path).unwrap();
        }
        assert_eq!(looked_up("bare"), None);

        run(here, "objcopy", &["--add-gnu-debuglink=apart", "bare", "linked"]);
        assert_eq!(looked_up("linked"), Some(apart.clone()));
        let hidden = here.join(".debug/apart");
        std::fs::create_dir(hidden.parent().unwrap()).unwrap();
        std::fs::rename(&apart, &hidden).unwrap();
        assert_eq!(looked_up("linked"), Some(hidden));
        std::fs::write(&bare, "no executable").unwrap();
        assert_eq!(looked_up("bare"), None);
    }
}
