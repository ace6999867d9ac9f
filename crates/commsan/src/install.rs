//! Locations of commsan's installed files, and the environment that loads them into a job.

use crate::exit_code;
use crate::failure::Failure;
use crate::options::{Gpu, LateMpi, Options};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// File name of the injector.
pub const INJECTOR: &str = "libcommsan_inject.so";

/// Variable with options for AddressSanitizer.
pub const ASAN_OPTIONS: &str = "ASAN_OPTIONS";

/// Subdirectory of the library directory with the CUDA runtimes for simulated devices.
pub const SIMULATED: &str = "simgpu";

/// Directory of the libraries: `$COMMSAN_LIB`, else `../lib/commsan` beside the executable.
pub fn library_directory() -> PathBuf {
    if let Some(directory) = std::env::var_os("COMMSAN_LIB").filter(|value| !value.is_empty()) {
        let directory = PathBuf::from(directory);
        return std::path::absolute(&directory).unwrap_or(directory);
    }
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let program = program.unwrap_or_else(|_| PathBuf::from("/usr/local/bin/commsan"));
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    prefix.join("lib/commsan")
}

/// The environment variables with which the ranks of a job are checked.
pub struct JobEnvironment {
    /// Variables to set.
    pub set: Vec<(&'static str, OsString)>,
    /// Variables to remove.
    pub remove: Vec<&'static str>,
}

/// The environment for a job that writes to `run_dir`.
///
/// # Errors
/// When the injector is missing or cannot be named in `LD_PRELOAD`.
pub fn job_environment(run_dir: &Path, options: &Options) -> Result<JobEnvironment, Failure> {
    let library = library_directory();
    let injector = library.join(INJECTOR);
    if !injector.is_file() {
        let what = format!("commsan's library `{}` is missing", injector.display());
        return Err(Failure::new(exit_code::SETUP, what)
            .help("install commsan with `make install`, or set COMMSAN_LIB to its `lib/commsan`"));
    }
    if library.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        let what = format!("`{}` has a space or colon in it", library.display());
        return Err(Failure::new(exit_code::SETUP, what)
            .help("ld.so cannot preload from there: set COMMSAN_LIB to a symbolic link to it"));
    }
    let mut set = vec![
        ("COMMSAN_RUN_DIR", run_dir.as_os_str().to_owned()),
        ("COMMSAN_OPTIONS", options.for_ranks().into()),
        ("COMMSAN_LIB", library.clone().into_os_string()),
        // The command itself, if no launcher starts it, is known by its parent.
        ("COMMSAN_PARENT", std::process::id().to_string().into()),
        ("LD_PRELOAD", preload(injector.as_os_str(), std::env::var_os("LD_PRELOAD"))),
        (ASAN_OPTIONS, behind_injector(std::env::var_os(ASAN_OPTIONS))),
    ];
    let mut remove = vec!["COMMSAN_RANK_PID"];
    match options.mpi {
        LateMpi::Auto => remove.push("COMMSAN_MPI"),
        chosen => set.push(("COMMSAN_MPI", chosen.text().into())),
    }
    match devices(options) {
        Gpu::Simulated(number) => set.extend(simulated(number, options, &library)?),
        _ => remove.extend(["COMMSAN_GPU", "COMMSAN_GPU_SEED"]),
    }
    Ok(JobEnvironment { set, remove })
}

/// The devices of the job: real or simulated.
pub fn devices(options: &Options) -> Gpu {
    options.gpu.in_environment(std::env::var("COMMSAN_GPU").ok().as_deref())
}

/// The variables that make programs find simulated devices. The injector preloads the libraries
/// into ranks, but the program must start first, which fails if ld.so finds no CUDA runtime.
fn simulated(
    number: u32,
    options: &Options,
    library: &Path,
) -> Result<Vec<(&'static str, OsString)>, Failure> {
    let directory = library.join(SIMULATED);
    if !directory.is_dir() {
        let what = format!("commsan's simulated devices are missing: `{}`", directory.display());
        return Err(Failure::new(exit_code::SETUP, what)
            .help("install commsan with `make install`, or set COMMSAN_LIB to its `lib/commsan`"));
    }
    let inherited = std::env::var_os("LD_LIBRARY_PATH");
    let inherited: Vec<PathBuf> = inherited
        .iter()
        .flat_map(std::env::split_paths)
        .filter(|path| *path != directory)
        .collect();
    let path = std::env::join_paths(std::iter::once(directory).chain(inherited));
    let mut set = vec![
        ("COMMSAN_GPU", format!("sim:{number}").into()),
        // The path of the libraries has no colon, and the other parts were split at colons.
        ("LD_LIBRARY_PATH", path.unwrap_or_default()),
    ];
    // A seed in the environment applies only if the devices are chosen there, too.
    if options.gpu != Gpu::Auto || options.gpu_seed.0 != 0 {
        set.push(("COMMSAN_GPU_SEED", options.gpu_seed.0.to_string().into()));
    }
    if options.kernel_checks {
        set.push(("COMMSAN_KERNEL_CHECKS", "1".into()));
    }
    Ok(set)
}

/// `inherited` with the injector in front, without duplicates.
pub fn preload(injector: &OsStr, inherited: Option<OsString>) -> OsString {
    let inherited = inherited.unwrap_or_default();
    let libraries = inherited.as_bytes().split(|byte| matches!(byte, b':' | b' '));
    let others = libraries.filter(|library| {
        let name = library.rsplit(|byte| *byte == b'/').next();
        !library.is_empty() && name != Some(INJECTOR.as_bytes())
    });
    let all: Vec<&[u8]> = std::iter::once(injector.as_bytes()).chain(others).collect();
    OsString::from_vec(all.join(&b':'))
}

/// `inherited` options of AddressSanitizer, extended so that its shared library does not insist on
/// being loaded first. It insists in order to protect the functions it interposes; the injector
/// defines none of these.
pub fn behind_injector(inherited: Option<OsString>) -> OsString {
    const ANY_ORDER: &str = "verify_asan_link_order=0";
    let mut options = inherited.unwrap_or_default();
    if !options.as_bytes().ends_with(ANY_ORDER.as_bytes()) {
        if !options.is_empty() {
            options.push(":");
        }
        options.push(ANY_ORDER);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_address_sanitizer_are_added_to() {
        let any_order = "verify_asan_link_order=0";
        assert_eq!(behind_injector(None), any_order);
        let both = behind_injector(Some("detect_leaks=0".into()));
        assert_eq!(both, format!("detect_leaks=0:{any_order}").as_str());
        assert_eq!(behind_injector(Some(both.clone())), both);
    }

    #[test]
    fn what_was_preloaded_stays_behind_the_injector() {
        let ours = OsStr::new("/c/libcommsan_inject.so");
        assert_eq!(preload(ours, None), ours);
        let inherited = OsString::from("/old/libcommsan_inject.so:a.so b.so:");
        assert_eq!(preload(ours, Some(inherited)), "/c/libcommsan_inject.so:a.so:b.so");
    }
}
