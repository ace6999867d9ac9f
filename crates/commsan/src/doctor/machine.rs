//! Checks of the machine and of the installation.

use super::Check;
use crate::child::search;
use crate::cuda::has_device;
use crate::elf;
use crate::install::{INJECTOR, SIMULATED, library_directory};
use crate::unreached;
use commsan_compiler_wrapper::{family::Compiler, nvcc, plugin};
use commsan_mpi_calls::abi::MpiFamily;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Address of the page filter; see `instrument/hooks/commsan_abi.h`.
const RESERVED: usize = 0x1000_0000_0000 - 4096;
const RESERVED_SIZE: usize = (64 << 20) + 4096;

const MIB: u64 = 1 << 20;

/// All checks of the machine.
pub fn checks() -> Vec<Check> {
    let mut checks = libraries();
    checks.extend(mpi());
    checks.extend(exports());
    checks.extend(compilers());
    checks.extend(cuda());
    checks.push(guards());
    checks.push(address_space());
    checks.push(memory_limit());
    checks.push(overcommit());
    checks.push(randomisation());
    checks.push(core_files());
    checks.push(disk());
    checks
}

/// Checks that the injector, the runtimes and the hooks are installed.
fn libraries() -> Vec<Check> {
    let directory = library_directory();
    let install = "install commsan with `make install`, or set COMMSAN_LIB to its `lib/commsan`";
    let injector = directory.join(INJECTOR);
    let mut checks = vec![if injector.is_file() {
        Check::ok("injector", injector.display().to_string())
    } else {
        Check::fail("injector", format!("{} is missing", injector.display()), install)
    }];
    let mut usable = 0;
    for mpi in MpiFamily::ALL {
        let file = mpi.runtime();
        let what = format!("runtime for {mpi}");
        let path = directory.join(file);
        checks.push(if !path.is_file() {
            Check::warn(&what, format!("{} is missing", path.display()), install)
        } else {
            match elf::libraries(&path) {
                Ok(libraries) if libraries.missing.is_empty() => {
                    usable += 1;
                    Check::ok(&what, path.display().to_string())
                }
                Ok(libraries) => {
                    let missing = libraries.missing.join(", ");
                    Check::warn(&what, format!("cannot be loaded: {missing} not found"), install)
                }
                Err(error) => Check::warn(&what, format!("cannot be loaded: {error}"), install),
            }
        });
    }
    if usable == 0 {
        checks.push(Check::fail("runtimes", "none is usable", install));
    }
    let archives = std::fs::read_dir(&directory).into_iter().flatten().flatten();
    let archive =
        archives.map(|entry| entry.path()).find(|p| p.extension() == Some(OsStr::new("a")));
    checks.push(match archive {
        Some(path) => Check::ok("hooks for commsan cc", path.display().to_string()),
        None => {
            let found = format!("no archive in {}", directory.display());
            Check::warn("hooks for commsan cc", found, install)
        }
    });
    checks
}

/// Checks for launchers and compilers of MPI.
fn mpi() -> Vec<Check> {
    let mut checks = Vec::new();
    let launcher = library_of("mpirun", "--version");
    let compiler = library_of("mpicc", "-show");
    let apt = "`apt install openmpi-bin libopenmpi-dev` or `apt install mpich libmpich-dev`; on \
               clusters `module load` one";
    checks.push(match &launcher {
        Some((path, mpi)) => Check::ok("mpirun", format!("{mpi}: {}", path.display())),
        None if search(OsStr::new("srun")).is_some() => Check::ok("mpirun", "none, but srun"),
        None => Check::fail("mpirun", "not in PATH", apt),
    });
    checks.push(match (&compiler, &launcher) {
        (Some((path, mpi)), Some((_, of_launcher))) if mpi != of_launcher => {
            let found = format!("{mpi}: {}, but mpirun is {of_launcher}'s", path.display());
            let mend = "a program runs with the mpirun of the MPI it was built with: use \
                        mpirun.openmpi or mpirun.mpich, or change PATH";
            Check::warn("mpicc", found, mend)
        }
        (Some((path, mpi)), _) => Check::ok("mpicc", format!("{mpi}: {}", path.display())),
        (None, _) => Check::warn("mpicc", "not in PATH", apt),
    });
    let others = ["mpirun.openmpi", "mpirun.mpich"].map(|name| search(OsStr::new(name)));
    let others: Vec<_> = others.into_iter().flatten().map(|p| p.display().to_string()).collect();
    if others.len() > 1 {
        checks.push(Check::ok("both MPIs", others.join(", ")));
    }
    if launcher.is_some_and(|(_, mpi)| mpi == MpiFamily::OpenMpi.name()) || !others.is_empty() {
        checks.extend(open_mpi());
    }
    checks
}

/// Checks whether Slurm is told to pass on less than all of the environment.
fn exports() -> Vec<Check> {
    let set = unreached::EXPORTS.iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
    let checks = set.filter(|(_, value)| !unreached::passes(value)).map(|(name, value)| {
        let found = format!("{name}={value}: ranks do not get LD_PRELOAD, and run unchecked");
        let mend = format!("`unset {name}`, or give srun and sbatch `--export=ALL`");
        Check::warn("Slurm's export", found, mend)
    });
    checks.collect()
}

/// Checks for what Open MPI's mpirun refuses on this machine.
fn open_mpi() -> Vec<Check> {
    let set = |name: &str| std::env::var_os(name).is_some();
    let mut checks = Vec::new();
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        let allowed = set("OMPI_ALLOW_RUN_AS_ROOT") && set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");
        checks.push(if allowed {
            Check::ok("Open MPI as root", "allowed by OMPI_ALLOW_RUN_AS_ROOT")
        } else {
            let mend = "run as a user, or export OMPI_ALLOW_RUN_AS_ROOT=1 \
                        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
            Check::warn("Open MPI as root", "its mpirun refuses", mend)
        });
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let oversubscribe =
        ["OMPI_MCA_rmaps_base_oversubscribe", "PRTE_MCA_rmaps_default_mapping_policy"];
    if cores < 4 && !oversubscribe.iter().any(|name| set(name)) {
        let found = format!("{cores} cores: its mpirun starts no more ranks than that");
        let mend = "mpirun --oversubscribe, or export OMPI_MCA_rmaps_base_oversubscribe=1";
        checks.push(Check::warn("Open MPI's slots", found, mend));
    }
    checks.push(match std::env::var("OMPI_MCA_memory") {
        Ok(value) => Check::ok("Open MPI's memory hooks", format!("OMPI_MCA_memory={value}")),
        Err(_) => Check::ok("Open MPI's memory hooks", "as built"),
    });
    checks
}

/// The path of `command`, and the MPI library that it belongs to according to its output.
fn library_of(command: &str, question: &str) -> Option<(PathBuf, &'static str)> {
    let path = search(OsStr::new(command))?;
    let output = Command::new(&path).arg(question).stdin(Stdio::null()).output();
    let mut answer = path.canonicalize().unwrap_or_default().display().to_string();
    if let Ok(output) = output {
        answer.push_str(&String::from_utf8_lossy(&output.stdout));
        answer.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    let answer = answer.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| answer.contains(word));
    let mpi = if has(&["open mpi", "openmpi", "open-mpi", "openrte", "-lopen-"]) && !has(&["i_mpi"])
    {
        MpiFamily::OpenMpi.name()
    } else if has(&["-lmpi_abi"]) {
        MpiFamily::Standard.name()
    } else if has(&["intel(r) mpi", "i_mpi"]) {
        "Intel MPI (MPICH ABI)"
    } else if has(&["hydra", "mpich"]) {
        MpiFamily::Mpich.name()
    } else if answer.contains("-lmpi") {
        MpiFamily::OpenMpi.name()
    } else {
        "an unknown MPI"
    };
    Some((path, mpi))
}

/// Checks for compilers that `commsan cc` supports, and how each instruments accesses.
fn compilers() -> Vec<Check> {
    let present = |name: &String| search(OsStr::new(name)).is_some();
    let newest = |name: &str| {
        let versions = (14..=30).rev().map(|version| format!("{name}-{version}"));
        std::iter::once(name.to_owned()).chain(versions).find(present)
    };
    let gcc = ["gcc", "g++", "gfortran"].map(str::to_owned).into_iter().filter(present);
    let of_llvm: Vec<_> = [newest("clang"), newest("flang").or_else(|| newest("flang-new"))]
        .into_iter()
        .flatten()
        .collect();
    let found: Vec<String> = gcc.chain(of_llvm.iter().cloned()).collect();
    let mut checks = vec![if found.is_empty() {
        let mend = "`apt install gcc g++ gfortran`; only checking without recompiling works now";
        Check::warn("compilers", "none of gcc, g++, gfortran, clang, flang", mend)
    } else {
        Check::ok("compilers", found.join(", "))
    }];
    let with_plugins = found.iter().filter(|name| !["g++", "gfortran"].contains(&name.as_str()));
    checks.extend(with_plugins.map(|compiler| plugin_for(compiler)));
    checks
}

/// Checks for the compiler and the devices of CUDA programs.
fn cuda() -> Vec<Check> {
    let nvcc = nvcc::default_nvcc();
    let nvcc = match crate::child::find(&nvcc) {
        Ok(path) => Check::ok("nvcc", path.display().to_string()),
        Err(_) => Check::ok("nvcc", "none in PATH or CUDA_HOME; only CUDA programs need it"),
    };
    let simulated = library_directory().join(SIMULATED);
    let devices = match (has_device(), simulated.is_dir()) {
        (true, _) => Check::ok("GPU", "real ones; and simulated ones with `--gpu sim:N`"),
        (false, true) => Check::ok("GPU", "none real; simulated ones with `--gpu sim:N`"),
        (false, false) => {
            let found = format!("none real, and {} is missing", simulated.display());
            Check::warn("GPU", found, "install commsan with `make install` to have simulated ones")
        }
    };
    vec![nvcc, devices]
}

/// How a compiler instruments accesses; gcc's languages share one plugin.
fn plugin_for(compiler: &str) -> Check {
    let what = format!("checks by {compiler}");
    let command = [compiler.into()];
    let known = Compiler::of(&command);
    match plugin::prospect(&command, known, &library_directory()) {
        Ok(Some(path)) => Check::ok(&what, format!("inline, by {}", path.display())),
        Ok(None) => Check::ok(&what, "inline; the plugin is compiled when it is first needed"),
        Err(lack) => {
            let instead = if plugin::has_hooks(known.family) {
                "calls of hooks, which make loops 2 to 100 times slower"
            } else {
                "none"
            };
            Check::warn(&what, format!("{instead}: {}", lack.why), &lack.cure)
        }
    }
}

/// Checks whether the fixed addresses of hooks and runtime are free.
fn address_space() -> Check {
    let what = "address space";
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let wanted = RESERVED as *mut libc::c_void;
    // SAFETY: MAP_FIXED_NOREPLACE replaces no mapping; what it maps is unmapped at once.
    let mapped = unsafe {
        let address = libc::mmap(wanted, RESERVED_SIZE, libc::PROT_NONE, flags, -1, 0);
        if address != libc::MAP_FAILED {
            libc::munmap(address, RESERVED_SIZE);
        }
        address
    };
    if mapped == wanted {
        return Check::ok(what, format!("64 MiB at {RESERVED:#x} are free"));
    }
    let error = std::io::Error::last_os_error();
    let mend = "something occupies or limits the address space: compare `ulimit -v` and the \
                kernel's vm.overcommit_memory";
    Check::fail(what, format!("64 MiB at {RESERVED:#x} cannot be reserved: {error}"), mend)
}

/// How buffers of programs that were not recompiled are watched.
fn guards() -> Check {
    let found = if commsan_machine::has_protection_keys() {
        "by protection keys: each access to a pending buffer's pages is shown"
    } else if commsan_guards::protection::has_adapter() {
        "no protection keys (`ospke` in /proc/cpuinfo): checksums of sent buffers only"
    } else {
        "no protection keys (`ospke` in /proc/cpuinfo): stores to sent buffers only, by write protection"
    };
    Check::ok("guards", found)
}

fn limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is writable.
    let result = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

fn memory_limit() -> Check {
    match limit(libc::RLIMIT_AS) {
        None => Check::ok("ulimit -v", "unlimited"),
        Some(bytes) => {
            let found = format!("{} MiB of address space for each process", bytes / MIB);
            Check::warn("ulimit -v", found, "`ulimit -v unlimited`: commsan needs 64 MiB of it")
        }
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

fn overcommit() -> Check {
    match read("/proc/sys/vm/overcommit_memory").as_str() {
        "2" => Check::warn(
            "overcommit",
            "vm.overcommit_memory is 2: memory counts when it is reserved",
            "if ranks cannot start, `sysctl vm.overcommit_memory=0`",
        ),
        value => Check::ok("overcommit", format!("vm.overcommit_memory is {value}")),
    }
}

fn randomisation() -> Check {
    let bits = read("/proc/sys/vm/mmap_rnd_bits");
    let found = format!("level {}, {bits} bits", read("/proc/sys/kernel/randomize_va_space"));
    Check::ok("address randomisation", found)
}

fn core_files() -> Check {
    let found = match limit(libc::RLIMIT_CORE) {
        Some(0) => "off; `ulimit -c unlimited` keeps those of crashing ranks".to_owned(),
        Some(bytes) => format!("up to {} MiB", bytes / MIB),
        None => "unlimited".to_owned(),
    };
    Check::ok("core files", found)
}

/// Checks the free space for run directories in the current directory.
fn disk() -> Check {
    let what = "this directory";
    let path = c".";
    // SAFETY: all-zero is a valid statvfs, and both pointers are valid.
    let (result, status, writable) = unsafe {
        let mut status: libc::statvfs = std::mem::zeroed();
        let result = libc::statvfs(path.as_ptr(), &raw mut status);
        (result, status, libc::access(path.as_ptr(), libc::W_OK) == 0)
    };
    let free = status.f_bavail.saturating_mul(status.f_frsize) / MIB;
    let here = std::env::current_dir().unwrap_or_else(|_| Path::new(".").to_owned());
    let here = here.display();
    if !writable {
        let mend = "run commsan elsewhere, or name a run directory by `--output`";
        Check::fail(what, format!("{here} is not writable"), mend)
    } else if result == 0 && free < 100 {
        let mend = "free some space, or name a run directory elsewhere by `--output`";
        Check::warn(what, format!("{here}: {free} MiB free"), mend)
    } else {
        Check::ok(what, format!("{here}: {free} MiB free"))
    }
}
