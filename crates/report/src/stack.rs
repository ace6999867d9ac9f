//! Which frames of a call stack are the user's.

use commsan_findings::Frame;
use std::path::{Path, PathBuf};

/// How our own libraries begin. Bodies of parallel regions are called through them.
const OWN: &str = "libcommsan_";

/// Libraries of MPI and of its transports, and our own: a finding is about their caller.
const MPI_LIBRARIES: &[&str] = &[
    OWN,
    "libmpi.so",
    "libmpi_",
    "libmpi++",
    "libmpicxx",
    "libmpich",
    "libmpifort",
    "libpmpi",
    "libopen-pal",
    "libopen-rte",
    "libpmix",
    "mca_",
    "libucp.",
    "libuct.",
    "libucs.",
    "libucm.",
    "libfabric",
];

/// Libraries of the language and the system, which act on their caller's behalf.
const SYSTEM_LIBRARIES: &[&str] = &[
    "libc.so",
    "libc-",
    "ld-linux",
    "libpthread",
    "libm.so",
    "libgfortran",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libgomp",
    "libomp",
    "libiomp",
    "libtsan",
    "linux-vdso",
    "[vdso]",
];

/// Headers of CUDA with functions that call the library on their caller's behalf.
const CUDA_HEADERS: &[&str] =
    &["/cuda_runtime.h", "/crt/host_runtime.h", "/crt/device_functions.h"];

/// Directories of code that comes with the system, compilers and packages: headers and libraries. A
/// finding in them is about their caller.
const PACKAGED: &[&str] = &[
    "/usr/include/",
    "/usr/lib/",
    "/usr/lib32/",
    "/usr/lib64/",
    "/usr/libexec/",
    "/usr/local/include/",
    "/usr/local/cuda",
    "/lib/",
    "/lib64/",
];

/// Parts of paths of what is installed for a language, Python's own library included, or by a
/// package manager.
const INSTALLED: &[&str] = &[
    "/site-packages/",
    "/lib/python3.",
    "/lib64/python3.",
    "/include/c++/",
    "/spack/opt/",
    "/conda/envs/",
];

/// Functions of ours that are linked into the program itself.
const HOOKS: &[&str] = &["__tsan_", "commsan_", "__commsan_"];

/// How functions of ours begin that stand in front of the C library's. The linker's option by which
/// they do that is open to programs, too.
const WRAPPER: &str = "__wrap_";

/// Libraries by which scripts call MPI: what they do is the script's doing.
const BINDINGS: &[&str] = &["/mpi4py/"];

/// The user's frames where a script calls code, whose lines are known beforehand. They come first,
/// unless the code has lines of its own: then it is a library of the user's.
pub(crate) fn with_lines(lines: Vec<Frame>, code: Vec<Frame>) -> Vec<Frame> {
    if lines.is_empty() {
        return users(code);
    }
    let called = code.into_iter().take_while(|frame| !is_interpreter(&frame.module));
    let mut called: Vec<_> = called.skip_while(is_infrastructure).collect();
    let is_binding = |frame: &Frame| BINDINGS.iter().any(|part| frame.module.contains(part));
    if called.first().is_none_or(|frame| frame.line.is_none() || is_binding(frame)) {
        return lines;
    }
    called.extend(lines);
    called
}

/// Whether a module is Python's interpreter.
pub fn is_interpreter(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or_default();
    name.starts_with("python") || name.starts_with("libpython")
}

/// Takes off what lies above the user's innermost frame and below `main`.
///
/// A stack that would lose every frame keeps its first, so that a site always has a place.
pub fn users(mut stack: Vec<Frame>) -> Vec<Frame> {
    let launch = stack.iter().position(is_stub).map(|stub| stub + 1);
    // nvcc calls its stub from a function that stands for the kernel, and has the kernel's name.
    let launch = launch.map(|next| next + usize::from(is_made_by_nvcc(&stack[next - 1])));
    let first = stack.iter().position(|frame| !is_infrastructure(frame));
    let first = launch.filter(|next| *next < stack.len()).or(first);
    match first {
        Some(first) => drop(stack.drain(..first)),
        None => {
            stack.truncate(1);
            return stack;
        }
    }
    // A function that a stream calls does so on whatever thread waits for the stream.
    if let Some(called) = stack.iter().position(is_of_streams) {
        stack.truncate(called);
    }
    if let Some(main) = stack.iter().position(|frame| named(frame, &["main", "main program"])) {
        stack.truncate(main + 1);
        // gfortran makes a C `main` that calls the main program and names the same file.
        if let [.., caller, main] = &*stack
            && named(main, &["main"])
            && main.file.as_deref().is_some_and(crate::names::is_fortran)
            && caller.file == main.file
        {
            stack.pop();
        }
    }
    while stack.len() > 1
        && stack.last().is_some_and(|frame| is_infrastructure(frame) || named(frame, &["_start"]))
    {
        stack.pop();
    }
    stack
}

/// Makes the user's innermost frame the first one; frames of libraries that it has called come
/// [`within`](Frame::within) it, and those that have called the user's outermost one (pytest's, a
/// thread pool's) are left out. `libraries` are directories whose code counts as a library's, too.
/// The stack stays as it is if no frame is the user's.
pub(crate) fn fold(mut stack: Vec<Frame>, libraries: &[PathBuf]) -> Vec<Frame> {
    let Some(first) = stack.iter().position(|frame| is_of_user(frame, libraries)) else {
        return stack;
    };
    let within = stack.drain(..first).collect();
    stack[0].within = within;
    let last = stack.iter().rposition(|frame| is_of_user(frame, libraries));
    stack.truncate(last.unwrap_or(0) + 1);
    stack
}

/// Whether a frame's code is the user's: its source, or else its module, lies in no directory of
/// libraries.
pub(crate) fn is_of_user(frame: &Frame, libraries: &[PathBuf]) -> bool {
    match &frame.file {
        // Relative names, as programs in scripts have them, are of what was compiled there.
        Some(file) if is_packaged(file, libraries) => false,
        _ => !is_packaged(&frame.module, libraries),
    }
}

/// The library that a stack ends in, by the file that is loaded. Code of headers belongs to what
/// it is compiled into.
pub(crate) fn library_of<'s>(stack: &'s [Frame], libraries: &[PathBuf]) -> Option<&'s str> {
    let first = stack.first()?;
    let innermost = first.within.first().unwrap_or(first);
    is_packaged(&innermost.module, libraries).then_some(&*innermost.module)
}

/// Whether a module is a library that comes with the system, compilers or packages.
pub fn is_of_library(module: &str) -> bool {
    acts_for_its_caller(module) || is_packaged(module, &[]) && !is_interpreter(module)
}

/// Whether a source file or module lies in a directory of libraries.
fn is_packaged(path: &str, libraries: &[PathBuf]) -> bool {
    PACKAGED.iter().any(|directory| path.starts_with(directory))
        || INSTALLED.iter().any(|part| path.contains(part))
        || libraries.iter().any(|directory| Path::new(path).starts_with(directory))
}

fn named(frame: &Frame, names: &[&str]) -> bool {
    frame.function.as_deref().is_some_and(|function| names.contains(&function))
}

fn is_of_streams(frame: &Frame) -> bool {
    let module = frame.module.rsplit('/').next().unwrap_or_default();
    module.starts_with("libcudart.so") || module.starts_with("libcommsan_")
}

/// Whether a frame is of what compilers make for `kernel<<<…>>>`.
fn is_stub(frame: &Frame) -> bool {
    frame.function.as_deref().is_some_and(|function| function.starts_with("__device_stub__"))
}

fn is_made_by_nvcc(stub: &Frame) -> bool {
    stub.file.as_deref().is_some_and(|file| file.ends_with(".stub.c"))
}

/// Whether a module is a library of MPI or of its transports.
pub fn is_of_mpi(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or_default();
    !name.starts_with(OWN) && MPI_LIBRARIES.iter().any(|library| name.starts_with(library))
}

pub(crate) fn is_infrastructure(frame: &Frame) -> bool {
    let is_cuda = |file: &str| CUDA_HEADERS.iter().any(|header| file.ends_with(header));
    if frame.file.as_deref().is_some_and(is_cuda) {
        return true;
    }
    let is_hook = |function: &str| {
        let is_wrapper = function.starts_with(WRAPPER) && frame.line.is_none();
        is_wrapper || HOOKS.iter().any(|hook| function.starts_with(hook))
    };
    acts_for_its_caller(&frame.module) || frame.function.as_deref().is_some_and(is_hook)
}

/// Whether a module is a library of MPI, the language or the system: what it does is its caller's
/// doing, and its own lines are of no use.
pub fn acts_for_its_caller(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or_default();
    let mut libraries = MPI_LIBRARIES.iter().chain(SYSTEM_LIBRARIES);
    libraries.any(|library| name.starts_with(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(frames: &[&str]) -> Vec<String> {
        let frames = frames.iter().map(|frame| {
            let (module, function) = frame.split_once('!').unwrap();
            Frame {
                function: Some(function.to_owned()),
                file: module.ends_with("f90").then(|| "a.f90".to_owned()),
                line: None,
                column: None,
                module: format!("/usr/lib/{module}"),
                offset: 0,
                inlined: false,
                within: Vec::new(),
            }
        });
        users(frames.collect()).into_iter().filter_map(|frame| frame.function).collect()
    }

    #[test]
    fn scripts_come_before_what_they_call_unless_that_has_lines() {
        let frame = |function: &str, module: &str, line: Option<u32>| Frame {
            function: Some(function.to_owned()),
            file: line.map(|_| "f".to_owned()),
            line,
            column: None,
            module: module.to_owned(),
            offset: 0,
            inlined: false,
            within: Vec::new(),
        };
        let told = |module: &str, line| {
            let code = vec![
                frame("PMPI_Send", "/lib/libmpi.so.40", None),
                frame("send", module, line),
                frame("_PyEval", "/usr/bin/python3.11", Some(7)),
                frame("main", "/usr/bin/python3.11", Some(9)),
            ];
            let found =
                with_lines(vec![frame("step", "", Some(3)), frame("<module>", "", Some(5))], code);
            found.iter().map(|frame| frame.function.clone().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told("/site-packages/mpi4py/MPI.so", Some(4)), "step <module>");
        assert_eq!(told("/lib/_ctypes.so", None), "step <module>");
        assert_eq!(told("/home/me/solver.so", Some(4)), "send step <module>");
        assert_eq!(with_lines(vec![], vec![frame("main", "/app", Some(1))]).len(), 1);
    }

    #[test]
    fn only_the_users_frames_stay() {
        let stack = [
            "libcommsan_openmpi.so!MPI_Isend",
            "libmpi_mpifh.so.40!mpi_isend_",
            "app!send",
            "libhdf5.so!callback",
            "app!main",
            "libc.so.6!__libc_start_call_main",
            "app!_start",
        ];
        assert_eq!(trimmed(&stack), ["send", "callback", "main"]);
        assert_eq!(trimmed(&["app!__tsan_write8", "app!pack", "app!_start"]), ["pack"]);
    }

    #[test]
    fn kernels_are_launched_where_the_program_says() {
        let frame = |function: &str, file: &str| Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            line: Some(1),
            column: None,
            module: "/bin/app".to_owned(),
            offset: 0,
            inlined: false,
            within: Vec::new(),
        };
        let by = |stack: &[Frame]| users(stack.to_vec()).remove(0).function.unwrap();
        let nvcc = [
            frame("__cudaLaunchKernel_helper", "/cuda/include/crt/device_functions.h"),
            frame("__device_stub__Z4fillPi(int*)", "/tmp/fill.cudafe1.stub.c"),
            frame("fill(int*)", "fill.cu"),
            frame("step", "fill.cu"),
        ];
        assert_eq!(by(&nvcc), "step");
        let clang = [frame("__device_stub__fill(int*)", "fill.cu"), frame("step", "fill.cu")];
        assert_eq!(by(&clang), "step");
        let explicit = [
            frame("cudaLaunchKernel<void>(void*)", "/cuda/include/cuda_runtime.h"),
            frame("step", "fill.cu"),
        ];
        assert_eq!(by(&explicit), "step");
    }

    #[test]
    fn functions_that_streams_call_have_no_caller() {
        let stack = [
            "app!prepare",
            "libcommsan_openmpi.so!run_function",
            "libcudart.so.13!call_functions",
            "app!main",
        ];
        assert_eq!(trimmed(&stack), ["prepare"]);
    }

    #[test]
    fn threads_end_in_the_users_code() {
        let stack = ["app!work", "libgomp.so.1!gomp_thread_start", "libc.so.6!start_thread"];
        assert_eq!(trimmed(&stack), ["work"]);
    }

    #[test]
    fn the_main_that_gfortran_makes_is_hidden() {
        assert_eq!(trimmed(&["f90!send", "f90!heat", "f90!main", "libc.so.6!x"]), ["send", "heat"]);
        assert_eq!(trimmed(&["f90!main program", "f90!main"]), ["main program"]);
    }

    #[test]
    fn frames_of_libraries_fold_into_the_users() {
        let frame = |function: &str, file: &str, module: &str| Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()).filter(|file| !file.is_empty()),
            line: Some(1),
            column: None,
            module: module.to_owned(),
            offset: 0,
            inlined: false,
            within: Vec::new(),
        };
        let folded = |stack: &[Frame], libraries: &[PathBuf]| {
            let mut stack = fold(stack.to_vec(), libraries);
            let within: Vec<_> =
                stack[0].within.iter().filter_map(|f| f.function.clone()).collect();
            (stack.remove(0).function.unwrap(), within)
        };
        let vector = [
            frame("deallocate", "/usr/include/c++/12/bits/new_allocator.h", "/home/me/app"),
            frame("~vector", "/usr/include/c++/12/bits/stl_vector.h", "/home/me/app"),
            frame("exchange", "/home/me/exchange.cpp", "/home/me/app"),
            frame("main", "/home/me/main.cpp", "/home/me/app"),
        ];
        let inner = ["deallocate", "~vector"].map(str::to_owned).to_vec();
        assert_eq!(folded(&vector, &[]), ("exchange".to_owned(), inner.clone()));
        let own = [PathBuf::from("/home/me/exchange.cpp")];
        let all = [inner, vec!["exchange".to_owned()]].concat();
        assert_eq!(folded(&vector, &own), ("main".to_owned(), all));
        // Without debug information the module decides; a program of a package stays as it is.
        let hdf5 =
            [frame("H5FD_write", "", "/usr/lib/libhdf5.so.103"), frame("save", "", "/home/me/app")];
        assert_eq!(folded(&hdf5, &[]), ("save".to_owned(), vec!["H5FD_write".to_owned()]));
        let packaged = [frame("run", "./src/run.cpp", "/usr/lib/lammps/lmp")];
        assert_eq!(folded(&packaged, &[]), ("run".to_owned(), vec![]));
        // Whoever calls the user's outermost frame is left out, a library between two is not.
        let tested = [
            frame("test_halo", "/home/me/test_halo.py", "/usr/bin/python3"),
            frame(
                "sorted",
                "/opt/v/lib/python3.11/site-packages/numpy/sort.py",
                "/usr/bin/python3",
            ),
            frame("helper", "/home/me/test_halo.py", "/usr/bin/python3"),
            frame(
                "_multicall",
                "/opt/v/lib/python3.11/site-packages/pluggy/c.py",
                "/usr/bin/python3",
            ),
            frame("run", "/home/me/.pyenv/lib/python3.11/unittest/case.py", "/usr/bin/python3"),
            frame("main", "/usr/lib/python3/pytest/__main__.py", "/usr/bin/python3"),
        ];
        let kept = fold(tested.to_vec(), &[]);
        let kept: Vec<_> = kept.iter().filter_map(|frame| frame.function.as_deref()).collect();
        assert_eq!(kept, ["test_halo", "sorted", "helper"]);
    }

    #[test]
    fn some_frame_always_stays() {
        assert_eq!(trimmed(&["libc.so.6!memcpy", "libmpi.so.40!x"]), ["memcpy"]);
        assert_eq!(trimmed(&[]), [""; 0]);
    }
}
