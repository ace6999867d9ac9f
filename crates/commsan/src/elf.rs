//! Properties of a program file: its MPI, how it is linked, how it was compiled.

use crate::cuda::Cuda;
use commsan_machine::LOADER;
use commsan_mpi_calls::abi::MpiFamily;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSymbol};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Properties of a program file.
#[derive(Debug, Default)]
pub struct Program {
    /// First line of a script; all other properties are then unset.
    pub script: Option<String>,
    /// Whether it is for this kind of processor.
    pub native: bool,
    /// Whether ld.so loads it, so that preloading works.
    pub dynamic: bool,
    /// Whether execution changes the user or group, so that ld.so ignores preloads.
    pub setuid: bool,
    /// MPI libraries that it loads, directly or through other libraries.
    pub mpi: Vec<(MpiFamily, PathBuf)>,
    /// Whether MPI itself is linked statically.
    pub static_mpi: bool,
    /// Whether that may be so: its symbols were removed, but it has the names of calls in its text,
    /// as libraries have for their messages.
    pub may_have_mpi: bool,
    /// The library of OpenSHMEM that it loads.
    pub shmem: Option<String>,
    /// Whether commsan's hooks are linked in.
    pub hooks: bool,
    /// The sanitizer, linked in or loaded, that excludes commsan's runtime.
    pub sanitizer: Option<&'static str>,
    /// Whether the program has line information.
    pub lines: bool,
    /// Libraries that ld.so cannot find.
    pub missing: Vec<String>,
    /// CUDA properties, if the program uses CUDA.
    pub cuda: Option<Cuda>,
}

/// Libraries of OpenSHMEM: Open MPI's, those of Cray and Sandia, OSHMPI's, MVAPICH2-X's.
const SHMEM: [&str; 4] = ["liboshmem.so", "libsma.so", "liboshmpi.so", "libopenshmem.so"];

impl Program {
    /// Why commsan could not observe any rank of this program, if a reason is known.
    pub fn reason_for_silence(&self, name: &str) -> Option<String> {
        if self.script.is_some() {
            return None;
        }
        if self.static_mpi {
            return Some(format!(
                "`{name}` has MPI linked in, so that commsan cannot come between the two: link it with the MPI's \
                 shared library, without `-static`"
            ));
        }
        if self.may_have_mpi {
            return Some(format!(
                "`{name}` seems to have MPI linked in, so that commsan cannot come between the two: link it with \
                 the MPI's shared library; if it loads that later, say which by `--mpi`"
            ));
        }
        if !self.dynamic {
            return Some(format!(
                "`{name}` is linked statically, so that nothing can be preloaded: link it without `-static`"
            ));
        }
        if self.setuid {
            return Some(format!(
                "`{name}` is setuid: ld.so does not preload commsan into it; copy the file"
            ));
        }
        if let Some(library) = &self.shmem {
            return Some(format!(
                "`{name}` uses OpenSHMEM ({library}), of which commsan checks nothing, and never called MPI_Init: \
                 only its calls of MPI can be checked"
            ));
        }
        if !self.mpi.is_empty() {
            return None;
        }
        let of_mpi = |name: &&String| MpiFamily::of_library(name.as_bytes()).is_some();
        if let Some(library) = self.missing.iter().find(of_mpi) {
            return Some(format!(
                "`{name}` needs {library}, which is not found: set LD_LIBRARY_PATH, or load the module of its MPI"
            ));
        }
        match &self.cuda {
            Some(cuda) if cuda.runtime.is_none() => cuda
                .obstacle(name)
                .map(|(what, help)| format!("{what}, and it is not linked with MPI: {help}")),
            Some(_) => None,
            None => Some(format!(
                "`{name}` is not linked with MPI, nor with a shared CUDA runtime; if it loads one later, \
                 say which by `--mpi`"
            )),
        }
    }
}

/// Reads the properties of the file `path`.
///
/// # Errors
/// When it cannot be read, or is neither script nor program.
pub fn read(path: &Path) -> io::Result<Program> {
    let mut file = File::open(path)?;
    let mode = file.metadata()?.mode();
    let mut program =
        Program { setuid: mode & (libc::S_ISUID | libc::S_ISGID) != 0, ..Program::default() };
    let mut start = [0; 256];
    let length = file.read(&mut start)?;
    if let Some(line) = start[..length].strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
        program.script = Some(String::from_utf8_lossy(line).trim().to_owned());
        return Ok(program);
    }
    program.script = interpreter(path).map(str::to_owned);
    if program.script.is_some() {
        return Ok(program);
    }
    let cache = ReadCache::new(file);
    let elf = object::File::parse(&cache).map_err(io::Error::other)?;
    program.native = is_native(&elf);
    program.dynamic =
        elf.section_by_name(".dynamic").is_some() && elf.section_by_name(".interp").is_some();
    program.hooks = elf.section_by_name(".note.commsan").is_some();
    program.lines = elf.sections().any(|s| matches!(s.name(), Ok(".debug_line" | ".zdebug_line")));
    for symbol in elf.symbols().chain(elf.dynamic_symbols()).filter(|s| s.is_definition()) {
        match symbol.name() {
            Ok("PMPI_Init" | "PMPI_Init_thread") => program.static_mpi = true,
            Ok(name) => program.sanitizer = program.sanitizer.or(sanitizer_defining(name)),
            Err(_) => {}
        }
    }
    if program.dynamic {
        let libraries = libraries(path)?;
        program.missing = libraries.missing;
        let mut names = program.missing.clone();
        for path in libraries.found {
            let name = crate::program::base_name(path.as_os_str());
            names.push(name.clone());
            program.sanitizer = program.sanitizer.or(sanitizer_in(&name));
            if SHMEM.iter().any(|known| name.starts_with(known)) {
                program.shmem = Some(name.clone());
            }
            if let Some(mpi) = MpiFamily::of_library(name.as_bytes()) {
                program.mpi.push((mpi, path));
            }
        }
        program.cuda = Cuda::read(&elf, &names);
    }
    program.may_have_mpi = !program.static_mpi && program.mpi.is_empty() && names_calls(&elf);
    Ok(program)
}

/// Whether the program's constants have the names of calls that few programs call, let alone name.
fn names_calls<'data>(elf: &impl Object<'data>) -> bool {
    let Some(section) = elf.section_by_name(".rodata") else { return false };
    let Ok(text) = section.data() else { return false };
    [&b"MPI_Get_library_version"[..], b"MPI_Type_create_darray", b"MPI_Intercomm_merge"]
        .iter()
        .all(|name| text.windows(name.len()).any(|part| part == *name))
}

/// The name of the interpreter that runs the script of this name, if it is a script.
pub fn interpreter(path: &Path) -> Option<&'static str> {
    commsan_report::names::interpreter(&crate::program::base_name(path.as_os_str()))
}

/// The libraries that ld.so would load for a program or library.
#[derive(Debug, Default)]
pub struct Libraries {
    /// Paths of the libraries that ld.so finds.
    pub found: Vec<PathBuf>,
    /// Names of the libraries that ld.so does not find.
    pub missing: Vec<String>,
}

/// Whether a program is for the processor that commsan was built for.
fn is_native<'data>(elf: &impl Object<'data>) -> bool {
    let own = match std::env::consts::ARCH {
        "x86_64" => object::Architecture::X86_64,
        "aarch64" => object::Architecture::Aarch64,
        _ => return true,
    };
    elf.architecture() == own && elf.is_64()
}

/// ld.so, asked what it would load for a program or library; nothing of the file is executed.
fn loader(path: &Path) -> io::Result<Command> {
    let mut command = Command::new(LOADER);
    command.arg(std::path::absolute(path)?).stdin(Stdio::null());
    command.env("LD_TRACE_LOADED_OBJECTS", "1");
    Ok(command)
}

/// What keeps ld.so from starting a program with a library preloaded, in its own words: symbols
/// that nothing defines, and libraries that are not found.
///
/// # Errors
/// When ld.so cannot be run.
pub fn obstacles(path: &Path, preloaded: &Path) -> io::Result<Vec<String>> {
    let mut command = loader(path)?;
    command.env("LD_PRELOAD", preloaded).env("LD_WARN", "yes").env("LD_BIND_NOW", "yes");
    let output = command.output()?;
    let (found, errors) = (&output.stdout, &output.stderr);
    let lines = [found, errors].map(|text| String::from_utf8_lossy(text).into_owned());
    let is_obstacle = |line: &&str| {
        ["undefined symbol", "not found", "cannot be preloaded"].iter().any(|w| line.contains(w))
    };
    let mut obstacles = Vec::new();
    for line in lines.iter().flat_map(|text| text.lines()).map(str::trim).filter(is_obstacle) {
        obstacles.push(line.to_owned());
    }
    obstacles.dedup();
    Ok(obstacles)
}

/// Asks ld.so, as ldd does.
///
/// # Errors
/// When ld.so cannot be run.
pub fn libraries(path: &Path) -> io::Result<Libraries> {
    let output = loader(path)?.env_remove("LD_PRELOAD").output()?;
    let mut libraries = Libraries::default();
    let path = |place: &str| PathBuf::from(place.rsplit_once(" (").map_or(place, |(path, _)| path));
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let line = line.trim();
        match line.split_once(" => ") {
            Some((name, "not found")) => libraries.missing.push(name.to_owned()),
            Some((_, place)) => libraries.found.push(path(place)),
            // A library linked by its path. The loader itself is no library, nor is the vDSO.
            None if line.contains('/') && !line.starts_with(LOADER) => {
                libraries.found.push(path(line));
            }
            None => {}
        }
    }
    Ok(libraries)
}

/// The sanitizer whose runtime defines a function; the injector has a table like this one.
fn sanitizer_defining(function: &str) -> Option<&'static str> {
    Some(match function {
        "__asan_init" => "AddressSanitizer",
        "__hwasan_init" => "HWAddressSanitizer",
        "__tsan_get_report_data" => "ThreadSanitizer",
        "__msan_init" => "MemorySanitizer",
        "__lsan_init" => "LeakSanitizer",
        _ => return None,
    })
}

/// The sanitizer whose runtime a library is.
fn sanitizer_in(file: &str) -> Option<&'static str> {
    let is = |name: &str| {
        file.starts_with(&format!("lib{name}.so")) || file.contains(&format!("clang_rt.{name}"))
    };
    let known = [
        ("asan", "AddressSanitizer"),
        ("hwasan", "HWAddressSanitizer"),
        ("tsan", "ThreadSanitizer"),
        ("lsan", "LeakSanitizer"),
    ];
    known.into_iter().find(|(name, _)| is(name)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_program_is_described() {
        let facts = read(Path::new("/bin/sh")).unwrap();
        assert!(facts.dynamic && facts.native && facts.mpi.is_empty() && facts.script.is_none());
        assert!(facts.reason_for_silence("sh").unwrap().contains("not linked with MPI"));
        assert!(read(Path::new("/proc/self/maps")).is_err());
    }
}
