//! `commsan nvcc`: a drop-in replacement for NVIDIA's compiler.
//!
//! nvcc compiles device code itself and passes host code to another compiler, which it runs once to
//! preprocess for the device, once to preprocess and compile for the host, and once to link. The
//! wrapper `commsan-cxx` replaces the host compiler and handles each of these: preprocessing
//! reaches the real one unchanged, and device code never gets an option of commsan's.
//!
//! nvcc itself gets three options unless the user has decided otherwise: a shared runtime, so that
//! its calls can be intercepted and a simulated one can replace it; line information for device
//! code; and PTX. Programs that link with NCCL find the simulated library if there is no other.

mod command_line;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::invocation::{self, Invocation};
use command_line::CommandLine;

/// The wrapper's alias, installed beside the command.
const HOST_WRAPPER: &str = "commsan-cxx";

/// Subdirectory of the library directory with the libraries for simulated devices.
const SIMULATED: &str = "simgpu";

/// The changes of nvcc's command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    args: Vec<OsString>,
    /// The host compiler that the wrapper runs; `None` if that is already a wrapper.
    host: Option<OsString>,
    warning: Option<String>,
}

/// Replaces this process by nvcc. Returns only if that fails.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let Invocation { compiler, args } =
        invocation::split(args, default_nvcc(), invocation::is_executable);
    if std::env::var_os(crate::WRAPPER).is_some_and(|set| set == crate::OFF) {
        return crate::replace_process(&compiler, &args, &[]);
    }
    let line = CommandLine::read(&args, |name| std::env::var(name).ok());
    if line.is_query {
        return crate::replace_process(&compiler, &args, &[]);
    }
    let default_host = std::env::var_os("NVCC_CCBIN").filter(|value| !value.is_empty());
    let default_host = default_host.unwrap_or_else(|| "g++".into());
    let library = crate::library_directory();
    let planned = host_wrapper().and_then(|wrapper| plan(line, default_host, &wrapper, &library));
    match planned {
        Ok(Plan { args, host, warning }) => {
            if let Some(warning) = warning {
                eprintln!("commsan: warning: {warning}");
            }
            // The arguments now contain the options of these variables.
            let mut changes = command_line::VARIABLES.map(|name| (name, None)).to_vec();
            changes.extend(host.map(|host| ("COMMSAN_CXX", Some(host))));
            crate::replace_process(&compiler, &args, &changes)
        }
        Err(reason) => {
            eprintln!("commsan: error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn plan(
    line: CommandLine,
    default_host: OsString,
    wrapper: &Path,
    library: &Path,
) -> Result<Plan, String> {
    let mut plan = Plan { args: Vec::new(), ..Plan::default() };
    let mut add = |words: &[&str]| plan.args.extend(words.iter().map(OsString::from));
    if !line.has_line_info {
        add(&["-lineinfo"]);
    }
    match line.cudart.as_deref() {
        None => add(&["-cudart", "shared"]),
        Some("static") => {
            plan.warning = Some(
                "with -cudart static, commsan sees none of the program's CUDA calls, and --gpu sim \
                 does not reach it; link with -cudart shared"
                    .into(),
            );
        }
        Some(_) => {}
    }
    if let Some(architecture) = line.missing_ptx() {
        add(&["-gencode", &format!("arch={architecture},code={architecture}")]);
    }
    let host = line.host.map_or(default_host, in_directory);
    if is_ours(&host) {
        plan.args.extend(["-ccbin".into(), host]);
    } else if host.to_string_lossy().contains(char::is_whitespace) {
        return Err(format!("the host compiler's path has a space in it: {}", host.display()));
    } else {
        plan.args.extend(["-ccbin".into(), wrapper.into()]);
        plan.host = Some(host);
    }
    // The user's arguments come last, which keeps the order of nvcc's messages about them.
    plan.args.extend(line.args);
    if line.links_simulated {
        // If no earlier directory has NCCL or NVSHMEM, linking with the simulated one is
        // equivalent: the program needs `libnccl.so.2`, whichever library that is at run time.
        let mut option = OsString::from("-L");
        option.push(library.join(SIMULATED));
        plan.args.push(option);
    }
    Ok(plan)
}

/// nvcc interprets a directory as the one that contains g++.
fn in_directory(host: String) -> OsString {
    let path = PathBuf::from(host);
    if path.is_dir() { path.join("g++").into() } else { path.into() }
}

/// Whether a program is one of commsan's wrappers.
fn is_ours(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"commsan")
}

fn host_wrapper() -> Result<PathBuf, String> {
    let here = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let wrapper = here.with_file_name(HOST_WRAPPER);
    if invocation::is_executable(wrapper.as_os_str()) {
        return Ok(wrapper);
    }
    Err(format!("{} is missing; reinstall commsan", wrapper.display()))
}

/// The nvcc to run if the user names none: `COMMSAN_NVCC`, `NVCC`, that of `CUDA_HOME`, or else the
/// one in `PATH`.
pub fn default_nvcc() -> OsString {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    // A Makefile's NVCC may be this command itself.
    let named = ["COMMSAN_NVCC", "NVCC"].into_iter().filter_map(variable);
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    let of_toolkits = toolkits.map(|root| Path::new(&root).join("bin/nvcc").into_os_string());
    let installed = of_toolkits.filter(|nvcc| invocation::is_executable(nvcc));
    named.filter(|nvcc| !is_ours(nvcc)).chain(installed).next().unwrap_or_else(|| "nvcc".into())
}

#[cfg(test)]
mod tests;
