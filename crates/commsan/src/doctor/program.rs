//! Checks of one program.

use super::Check;
use crate::cuda::Cuda;
use crate::elf::{self, Program};
use crate::install::library_directory;
use crate::unreached;
use commsan_mpi_calls::abi::MpiFamily;
use std::path::Path;

/// All checks of the program at `path`.
pub fn checks(path: &Path) -> Vec<Check> {
    let name = path.display().to_string();
    let run = Path::new("RUN_DIRECTORY");
    if let Some(seen) = unreached::container(path.as_os_str(), &library_directory(), run) {
        let mend = format!("{}, and ask the doctor in the container about the program", seen.mend);
        return vec![Check::warn("container", seen.found, mend)];
    }
    let program = match elf::read(path) {
        Ok(program) => program,
        Err(error) => {
            let mend = "give the program itself, as it is run";
            return vec![Check::fail("program", format!("{name}: {error}"), mend)];
        }
    };
    if let Some(interpreter) = &program.script {
        let found = format!("{name} is a script for `{interpreter}`");
        let mend = format!(
            "Python and other interpreters are checked under an MPI launcher: `commsan run -- mpirun -n 2 python3 {name}`; \
             for a shell script, ask about the program that it starts"
        );
        return vec![Check::warn("program", found, mend)];
    }
    let mut checks = vec![kind(&name, &program), mpi(&program)];
    checks.extend(program.shmem.as_deref().map(open_shmem));
    checks.extend(loads(path, &program));
    checks.extend(missing(&program));
    checks.push(compiled(&program));
    checks.push(if program.lines {
        Check::ok("line information", "present")
    } else {
        let mend = "compile with -g, so that reports name source lines";
        Check::warn("line information", "none in the program", mend)
    });
    checks.extend(program.cuda.as_ref().map(|cuda| simulable(&name, cuda)));
    checks
}

/// What is checked of a program that uses OpenSHMEM.
fn open_shmem(library: &str) -> Check {
    let found = format!("{library}: shmem_put, shmem_get, atomics and collectives are not checked");
    let mend = "calls of MPI in the same program are checked once it calls MPI_Init; with shmem_init alone it \
                runs unchecked";
    Check::warn("OpenSHMEM of the program", found, mend)
}

/// Checks whether simulated devices can run the program.
fn simulable(name: &str, cuda: &Cuda) -> Check {
    let what = "CUDA of the program";
    match (cuda.obstacle(name), &cuda.runtime) {
        (Some((found, mend)), _) => Check::warn(what, found, mend),
        (None, runtime) => {
            let runtime = runtime.as_deref().unwrap_or_default();
            let found = format!("{runtime}, and PTX: runs on simulated devices, too (--gpu sim:N)");
            Check::ok(what, found)
        }
    }
}

fn kind(name: &str, program: &Program) -> Check {
    if !program.native {
        let mend = "use a commsan that was built for that machine, on it";
        Check::fail("program", format!("{name} is for another kind of machine"), mend)
    } else if !program.dynamic {
        let mend = "link it without -static: commsan enters through ld.so";
        Check::fail("program", format!("{name} is linked statically"), mend)
    } else if program.setuid {
        let mend = "run a copy: ld.so preloads nothing into setuid programs";
        Check::fail("program", format!("{name} is setuid or setgid"), mend)
    } else {
        Check::ok("program", name)
    }
}

/// Checks for missing libraries; simulated devices bring the CUDA runtime.
fn missing(program: &Program) -> Option<Check> {
    let listed = program.missing.join(", ");
    let of_cuda = |name: &String| name.starts_with("libcudart.so");
    if program.missing.is_empty() {
        None
    } else if program.missing.iter().all(of_cuda) {
        let mend = "set LD_LIBRARY_PATH to the toolkit's lib64, or run it with `--gpu sim:N`";
        Some(Check::warn("libraries", format!("not found: {listed}"), mend))
    } else {
        let mend = "set LD_LIBRARY_PATH, or load the modules that the program was built with";
        Some(Check::fail("libraries", format!("not found: {listed}"), mend))
    }
}

fn mpi(program: &Program) -> Check {
    let what = "MPI of the program";
    let paths: Vec<_> = program.mpi.iter().map(|(_, path)| path.display().to_string()).collect();
    match &program.mpi[..] {
        _ if program.static_mpi => {
            let found = "linked into the program, and nothing can come between the two";
            Check::fail(what, found, "link it with the MPI's shared library, not with libmpi.a")
        }
        [] if program.may_have_mpi => {
            let found =
                "linked into the program, as it seems, and nothing can come between the two";
            let mend = "link it with the MPI's shared library; a program that loads that later is checked under \
                        an MPI launcher with `commsan run --mpi openmpi` (or mpich, mpiabi)";
            Check::warn(what, found, mend)
        }
        [] if program.cuda.as_ref().is_some_and(|cuda| cuda.runtime.is_some()) => {
            Check::ok(what, "none: its use of devices is checked")
        }
        [] if program
            .missing
            .iter()
            .any(|name| MpiFamily::of_library(name.as_bytes()).is_some()) =>
        {
            Check::fail(what, "not found", "see `libraries`")
        }
        [] => {
            let mend = "link it with mpicc; a program that loads MPI later is checked under an \
                        MPI launcher with `commsan run --mpi openmpi` (or mpich, mpiabi)";
            Check::warn(what, "none", mend)
        }
        [(mpi, path)] => Check::ok(what, format!("{mpi}: {}", path.display())),
        _ => {
            let mend = "build everything, libraries included, with the same mpicc";
            Check::fail(what, format!("more than one: {}", paths.join(", ")), mend)
        }
    }
}

/// Whether ld.so starts the program with the runtime that `commsan run` would give it.
fn loads(path: &Path, program: &Program) -> Option<Check> {
    const MAX_SHOWN: usize = 3;
    let what = "runtime with it";
    let [(mpi, _)] = &program.mpi[..] else { return None };
    if !program.missing.is_empty() || program.static_mpi || !program.dynamic {
        return None;
    }
    let runtime = library_directory().join(mpi.runtime());
    let install =
        "install commsan again, with all runtimes, or set COMMSAN_LIB to its `lib/commsan`";
    if !runtime.is_file() {
        return Some(Check::fail(what, format!("{} is missing", runtime.display()), install));
    }
    Some(match elf::obstacles(path, &runtime) {
        Ok(obstacles) if obstacles.is_empty() => Check::ok(what, runtime.display().to_string()),
        Ok(obstacles) => {
            let shown = obstacles[..obstacles.len().min(MAX_SHOWN)].join("; ");
            let mend = "run the program without commsan; if it starts, report this line";
            Check::fail(what, format!("{}: {shown}", runtime.display()), mend)
        }
        Err(error) => Check::warn(what, format!("ld.so: {error}"), install),
    })
}

fn compiled(program: &Program) -> Check {
    let what = "loads and stores";
    if let Some(sanitizer) = program.sanitizer {
        let mend = "build it without this -fsanitize=, by `commsan cc`: the two cannot be combined, and with it the \
                    program runs unchecked";
        Check::fail(what, format!("{sanitizer}'s runtime is in the program"), mend)
    } else if program.hooks {
        Check::ok(what, "compiled by commsan: every one is checked")
    } else {
        let mend = "compile with `commsan cc mpicc …` (cxx, fc) to have every one checked";
        Check::warn(what, "not compiled by commsan: its loads and stores are not seen", mend)
    }
}
