//! Building and running a program: commsan, compilers, MPI launchers.

#[path = "../support/launchers.rs"]
mod launchers;
#[path = "../support/wrappers.rs"]
mod wrappers;

use commsan_mpi_calls::abi::MpiFamily;
use commsan_test_cases::{Case, limited};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// No program computes for more than a moment.
const LIMIT: Duration = Duration::from_secs(60);

/// What a program is linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    /// The distribution's library of a family.
    Family(MpiFamily),
    /// Another library.
    Other(&'static Installation),
    /// The OpenSHMEM of the distribution's Open MPI.
    Shmem,
    /// The program uses devices without MPI.
    None,
}

/// A library that `scripts/mpis.sh` has installed.
#[derive(Debug, PartialEq, Eq)]
pub struct Installation {
    pub name: String,
    pub family: MpiFamily,
    /// With `bin`, `include` and `lib`.
    pub prefix: PathBuf,
    /// Modules of Fortran that this machine's gfortran reads.
    modules: Option<PathBuf>,
}

impl Installation {
    /// All libraries below a directory, for as long as the tests run.
    pub fn all(directory: &Path) -> Vec<&'static Installation> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let prefix = entry.path();
            let family = std::fs::read_to_string(prefix.join(".family")).unwrap_or_default();
            let Some(family) = MpiFamily::from_key(family.trim().as_bytes()) else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            // That of the standard ABI has none of its own.
            let modules = match family {
                MpiFamily::Standard => None,
                _ => modules(&prefix.join("include/mpi/gfortran")),
            };
            found.push(&*Box::leak(Box::new(Installation { name, family, prefix, modules })));
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        found
    }

    /// Whether the library defines all of these calls.
    fn has(&self, calls: &[String]) -> bool {
        let name = match self.family {
            MpiFamily::Standard => "libmpi_abi.so.1",
            MpiFamily::Mpich => "libmpi.so.12",
            MpiFamily::OpenMpi => "libmpi.so.40",
        };
        let mut command = Command::new("nm");
        command.args(["-D", "--defined-only"]).arg(self.prefix.join("lib").join(name));
        let symbols = command.output().map(|output| output.stdout).unwrap_or_default();
        let symbols = String::from_utf8_lossy(&symbols);
        let names: HashSet<_> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
        calls.iter().all(|call| names.contains(&**call))
    }

    /// What its compiler wrapper would tell the compiler. Those of wheels are not all of use.
    fn options(&self, language: Language) -> (Vec<String>, Vec<String>) {
        let place = |directory: &str| self.prefix.join(directory).display().to_string();
        let mut options = vec![format!("-I{}", place("include"))];
        let lib = place("lib");
        let library = match self.family {
            MpiFamily::Standard => {
                options.push("-DMPI_ABI".to_owned());
                "-lmpi_abi"
            }
            _ => "-lmpi",
        };
        let mut libraries = vec![format!("-L{lib}"), format!("-Wl,-rpath,{lib}")];
        if language == Language::Fortran {
            options.extend(self.modules.iter().map(|modules| format!("-I{}", modules.display())));
            // As Debian's wrapper has it: calls of several types.
            options.push("-fallow-argument-mismatch".to_owned());
            // It needs the library itself, and has no path to that.
            libraries.extend(["-Wl,--disable-new-dtags", "-lmpifort"].map(str::to_owned));
        }
        libraries.push(library.to_owned());
        (options, libraries)
    }
}

/// Where an installation has modules for this gfortran: there is a directory for each version from
/// which on others are needed. Only wheels of Intel's have any.
fn modules(directory: &Path) -> Option<PathBuf> {
    let output = Command::new("gfortran").arg("-dumpfullversion").output().ok()?;
    let number = |version: &str| -> Vec<u32> {
        version.trim().split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let own = number(&String::from_utf8_lossy(&output.stdout));
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    let versions =
        entries.map(|entry| (number(&entry.file_name().to_string_lossy()), entry.path()));
    versions.filter(|(version, _)| *version <= own).max().map(|(_, path)| path)
}

/// A program's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
    Cuda,
}

/// Where everything is.
pub struct Tools {
    commsan: PathBuf,
    clang: PathBuf,
    clangxx: PathBuf,
    /// That of `NVCC`, or the one that `scripts/cuda.sh` installs.
    nvcc: PathBuf,
    wrappers: Vec<Wrapper>,
    /// Sources of libraries that programs are linked with.
    libraries: PathBuf,
    /// Executables and run directories, one directory for each trial.
    work: PathBuf,
}

/// The options that a library's compiler wrapper passes to the compiler.
struct Wrapper {
    mpi: Mpi,
    language: Language,
    /// Before those of the program.
    options: Vec<String>,
    /// Behind what is linked.
    libraries: Vec<String>,
}

/// A program that ran.
pub struct Run {
    pub command: String,
    pub exit: Option<i32>,
    pub output: String,
    pub directory: PathBuf,
}

/// The language of a file, if it is a program.
pub fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" => Some(Language::C),
        "cpp" => Some(Language::Cxx),
        "f90" => Some(Language::Fortran),
        "cu" => Some(Language::Cuda),
        _ => None,
    }
}

impl Mpi {
    /// The libraries.
    pub const DISTRIBUTED: [Mpi; 2] =
        [Mpi::Family(MpiFamily::OpenMpi), Mpi::Family(MpiFamily::Mpich)];

    pub fn name(self) -> &'static str {
        match self {
            Mpi::Family(family) => family.key(),
            Mpi::Other(installation) => &installation.name,
            Mpi::Shmem => "openshmem",
            Mpi::None => "none",
        }
    }

    fn family(self) -> Option<MpiFamily> {
        match self {
            Mpi::Family(family) => Some(family),
            Mpi::Other(installation) => Some(installation.family),
            Mpi::Shmem => Some(MpiFamily::OpenMpi),
            Mpi::None => None,
        }
    }

    /// Whether the library has these calls; the distribution's are older than those that programs
    /// may need.
    pub fn has(self, calls: &[String]) -> bool {
        calls.is_empty()
            || match self {
                Mpi::Other(installation) => installation.has(calls),
                _ => false,
            }
    }

    /// Whether programs in a language can be linked with it: of Fortran, those that do not use
    /// `mpi_f08`, of which no wheel has a module for gfortran.
    pub fn speaks(self, source: &Path) -> bool {
        match (self, language(source)) {
            (Mpi::Other(_), Some(Language::C)) => true,
            (Mpi::Other(installation), Some(Language::Fortran)) => {
                let text = std::fs::read_to_string(source).unwrap_or_default();
                installation.modules.is_some() && !text.to_lowercase().contains("mpi_f08")
            }
            (Mpi::Other(_), _) => false,
            _ => true,
        }
    }

    fn launcher(self) -> PathBuf {
        match self {
            Mpi::Other(installation) => installation.prefix.join("bin/mpirun"),
            Mpi::Shmem => "oshrun".into(),
            _ => format!("mpirun.{}", self.name()).into(),
        }
    }
}

impl Wrapper {
    fn ask(mpi: Mpi, language: Language) -> Result<Wrapper, String> {
        if let Mpi::Other(installation) = mpi {
            let (options, libraries) = installation.options(language);
            return Ok(Wrapper { mpi, language, options, libraries });
        }
        let name = match language {
            Language::Cxx if mpi == Mpi::Shmem => "oshc++",
            _ if mpi == Mpi::Shmem => "oshcc",
            Language::C => "mpicc",
            Language::Cxx | Language::Cuda => "mpicxx",
            Language::Fortran => "mpifort",
        };
        let name = match mpi {
            Mpi::Shmem => name.to_owned(),
            _ => format!("{name}.{}", mpi.name()),
        };
        let words = wrappers::options(&name)?.into_iter();
        // nvcc has options of its own for all others.
        let words =
            words.filter(|word| language != Language::Cuda || has(word, &["-I", "-L", "-l"]));
        let (libraries, options) = words.partition(|word| has(word, &["-L", "-l", "-Wl,"]));
        Ok(Wrapper { mpi, language, options, libraries })
    }
}

fn has(word: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| word.starts_with(prefix))
}

impl Tools {
    /// Looks for everything; the error names all that is missing.
    pub fn find(repository: &Path, mpis: &[Mpi]) -> Result<Tools, String> {
        let built = repository.join("target/dist/bin/commsan");
        let commsan = std::env::var_os("COMMSAN").map_or(built, PathBuf::from);
        let mut missing = Vec::new();
        if !commsan.is_file() {
            missing.push(commsan.display().to_string());
        }
        let wrappers = ["mpicc", "mpicxx", "mpifort", "mpirun"];
        let of = |mpi: Mpi| wrappers.map(|wrapper| format!("{wrapper}.{}", mpi.name()));
        let compilers = ["gcc", "g++", "gfortran"].map(str::to_owned);
        let distributed = mpis.iter().copied().filter(|mpi| matches!(mpi, Mpi::Family(_)));
        let needed = distributed.flat_map(of).chain(compilers);
        missing.extend(needed.filter(|name| in_path(name).is_none()));
        let newest = |name: &str| {
            let versions = (14..=30).rev().map(|version| format!("{name}-{version}"));
            versions.chain([name.to_owned()]).find_map(|name| in_path(&name))
        };
        let (clang, clangxx) = (newest("clang"), newest("clang++"));
        if clang.is_none() || clangxx.is_none() {
            missing.push("clang".to_owned());
        }
        let (Some(clang), Some(clangxx), true) = (clang, clangxx, missing.is_empty()) else {
            return Err(format!("missing: {}; run `make build`", missing.join(", ")));
        };
        let commsan = commsan.canonicalize().unwrap_or(commsan);
        let installed = repository.join("target/cuda/bin/nvcc");
        let nvcc = std::env::var_os("NVCC").map_or(installed, PathBuf::from);
        let languages = [Language::C, Language::Cxx, Language::Fortran, Language::Cuda];
        let all = mpis.iter().flat_map(|&mpi| languages.map(|language| (mpi, language)));
        let wrappers = all.map(|(mpi, language)| Wrapper::ask(mpi, language));
        let mut wrappers = wrappers.collect::<Result<Vec<_>, _>>()?;
        if mpis.contains(&Mpi::Family(MpiFamily::OpenMpi)) && in_path("oshcc").is_some() {
            for language in [Language::C, Language::Cxx] {
                wrappers.push(Wrapper::ask(Mpi::Shmem, language)?);
            }
        }
        let (work, libraries) =
            (repository.join("target/cases"), repository.join("tests/libraries"));
        Ok(Tools { commsan, clang, clangxx, nvcc, wrappers, libraries, work })
    }

    /// Compiles the program, unless it is up to date.
    pub fn build(&self, case: &Case, mpi: Mpi) -> Result<PathBuf, String> {
        let language = language(&case.source).ok_or("no program")?;
        let directory = self.directory(case, mpi);
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let program = directory.join("program");
        if self.is_current(&program, case) {
            return Ok(program);
        }
        let compiler = self.compiler(case, mpi, language);
        let mut command = match case.hooks {
            true => Command::new(&self.commsan),
            false => Command::new(&compiler),
        };
        if case.hooks {
            command.arg(match language {
                Language::C => "cc",
                Language::Cxx => "cxx",
                Language::Fortran => "fc",
                Language::Cuda => "nvcc",
            });
        }
        if language == Language::Cuda {
            if !self.nvcc.is_file() {
                return Err(format!("missing: {}; run `scripts/cuda.sh`", self.nvcc.display()));
            }
            // PTX alone, since simulated devices execute nothing else; there is nothing to link
            // then.
            let ptx = ["-gencode", "arch=compute_90,code=compute_90"];
            command.arg(&self.nvcc).arg("-ccbin").arg(compiler).args(ptx);
            if !case.flags.iter().any(|flag| flag == "-rdc=true") {
                command.arg("-nodlink");
            }
            // Headers of later standards take a third of the time. nvcc accepts one standard only.
            if !case.flags.iter().any(|flag| flag.starts_with("-std=")) {
                command.arg("-std=c++14");
            }
        } else if case.hooks {
            command.arg(compiler);
        }
        let of = |wrapper: &&Wrapper| wrapper.mpi == mpi && wrapper.language == language;
        let wrapper = self.wrappers.iter().find(of);
        if mpi == Mpi::Shmem && wrapper.is_none() {
            return Err("missing: oshcc, which Open MPI has for programs in C".to_owned());
        }
        command.args(wrapper.iter().flat_map(|wrapper| &wrapper.options)).args(["-O1", "-g"]);
        if matches!(language, Language::Cxx | Language::Cuda) {
            // The C++ bindings of old take half of the time to compile a kernel.
            command.args(["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]);
        }
        command.args(&case.flags).arg(&case.source).arg("-o").arg(&program);
        if let Some(name) = &case.library {
            // The loader looks where it was when the program was linked: it has no name of its own.
            let library = self.build_library(name, mpi, &directory)?;
            command.arg("-I").arg(&self.libraries).arg(&library);
        }
        command.args(wrapper.iter().flat_map(|wrapper| &wrapper.libraries));
        let (status, output) = finish(&mut command, &directory)?;
        match status {
            Some(status) if status.success() => Ok(program),
            _ => Err(format!("does not compile\n\n$ {}\n{output}", shown(&command))),
        }
    }

    /// Builds a library that the program is linked with, which commsan has nothing to do with.
    fn build_library(&self, name: &str, mpi: Mpi, directory: &Path) -> Result<PathBuf, String> {
        let library = directory.join(format!("lib{name}.so"));
        let of = |wrapper: &&Wrapper| wrapper.mpi == mpi && wrapper.language == Language::C;
        let options = self.wrappers.iter().find(of).map(|wrapper| &wrapper.options);
        let mut command = Command::new("gcc");
        command.args(options.into_iter().flatten()).args(["-shared", "-fPIC", "-O1"]);
        command.arg(self.libraries.join(format!("{name}.c"))).arg("-o").arg(&library);
        let (status, output) = finish(&mut command, directory)?;
        match status {
            Some(status) if status.success() => Ok(library),
            _ => Err(format!("does not compile\n\n$ {}\n{output}", shown(&command))),
        }
    }

    /// Runs the program under commsan; again if the launcher hung.
    pub fn run(&self, case: &Case, mpi: Mpi, program: &Path) -> Result<Run, String> {
        let run = self.run_once(case, mpi, program);
        match &run {
            Ok(run) if launchers::hung(&run.output) => self.run_once(case, mpi, program),
            _ => run,
        }
    }

    fn run_once(&self, case: &Case, mpi: Mpi, program: &Path) -> Result<Run, String> {
        let work = self.directory(case, mpi);
        let directory = work.join("run");
        if directory.exists() {
            std::fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
        }
        let mut command = Command::new(&self.commsan);
        command.arg("run").arg("--output").arg(&directory).args(&case.options);
        if language(&case.source) == Some(Language::Cuda) {
            command.arg("--gpu").arg(format!("sim:{}", case.devices));
            command.arg("--gpu-seed").arg(case.seed.to_string());
        }
        command.arg("--");
        if mpi != Mpi::None {
            let key = mpi.family().map_or("", MpiFamily::key);
            let nodes = launchers::nodes(key, case.nodes.min(case.ranks), case.ranks, &work);
            command.arg(mpi.launcher());
            command.args(nodes?).args(["-n", &case.ranks.to_string()]);
            if mpi == Mpi::Shmem {
                // Else Debian's Open MPI 4.1.4 crashes in shmem_finalize, see docs/openshmem.md.
                command.args(["--mca", "osc", "^rdma"]);
            }
        }
        command.arg(program).args(&case.args);
        if let Mpi::Other(installation) = mpi {
            // Intel's mpirun starts the `mpiexec.hydra` that it finds.
            let own = [installation.prefix.join("bin")].into_iter();
            let path = std::env::var_os("PATH").unwrap_or_default();
            let all = std::env::join_paths(own.chain(std::env::split_paths(&path)));
            command.env("PATH", all.map_err(|error| error.to_string())?);
        }
        let (status, output) = finish(&mut command, &work)?;
        let command = shown(&command);
        match status {
            Some(status) => Ok(Run { command, exit: status.code(), output, directory }),
            None => Err(format!("still running after {LIMIT:?}\n\n$ {command}\n{output}")),
        }
    }

    /// gcc with Open MPI, clang with MPICH, so that every program meets both; gfortran always. Or
    /// that of `COMMSAN_TEST_COMPILER`, such as `gcc-11`, unless the program needs another.
    fn compiler(&self, case: &Case, mpi: Mpi, language: Language) -> PathBuf {
        let chosen = std::env::var("COMMSAN_TEST_COMPILER").ok();
        let fits =
            |name: &String| case.compiler.as_ref().is_none_or(|needed| name.starts_with(needed));
        match (language, chosen.filter(fits)) {
            (Language::C, Some(name)) => return name.into(),
            (Language::Cxx, Some(name)) => {
                return name.replace("gcc", "g++").replace("clang", "clang++").into();
            }
            _ => (),
        }
        let clang = match &case.compiler {
            Some(compiler) => compiler == "clang",
            None => mpi.family() == Some(MpiFamily::Mpich),
        };
        match (language, clang) {
            (Language::C, true) => self.clang.clone(),
            (Language::Cxx | Language::Cuda, true) => self.clangxx.clone(),
            (Language::C, false) => "gcc".into(),
            (Language::Cxx | Language::Cuda, false) => "g++".into(),
            (Language::Fortran, _) => "gfortran".into(),
        }
    }

    fn directory(&self, case: &Case, mpi: Mpi) -> PathBuf {
        self.work.join(&case.name).join(mpi.name())
    }

    /// Newer than its source, this harness, commsan and what commsan links.
    fn is_current(&self, program: &Path, case: &Case) -> bool {
        let changed = |path: &Path| path.metadata().and_then(|data| data.modified());
        let Ok(built) = changed(program) else { return false };
        let library = self.commsan.parent().map(|bin| bin.join("../lib/commsan"));
        let parts = library.and_then(|lib| lib.read_dir().ok()).into_iter().flatten().flatten();
        let own = [case.source.clone(), self.commsan.clone()];
        let library = case
            .library
            .iter()
            .flat_map(|name| ["c", "h"].map(|kind| self.libraries.join(format!("{name}.{kind}"))));
        let needed = own
            .into_iter()
            .chain(library)
            .chain(std::env::current_exe())
            .chain(parts.map(|e| e.path()));
        needed.into_iter().all(|path| changed(&path).is_ok_and(|time| time < built))
    }
}

/// Runs a command to its end or the limit; `None` is the limit. Output of both kinds is mixed as
/// it came.
fn finish(command: &mut Command, directory: &Path) -> Result<(Option<ExitStatus>, String), String> {
    command.current_dir(directory);
    // Reports without colours, options from nowhere else; a rank for each process that is asked
    // for, not tied to cores that another trial uses, also for root in a container.
    command.env_remove("COMMSAN_OPTIONS").env("NO_COLOR", "1");
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
    command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    // What it chooses within a node anyway, a fifth of a second later.
    command.env("OMPI_MCA_pml", "ob1");
    // Open MPI 5's launcher is PRRTE's.
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command.env("PRTE_MCA_hwloc_default_binding_policy", "none");
    let ended = limited::run(command, &directory.join("output.txt"), LIMIT)?;
    Ok((ended.status, ended.output))
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

fn shown(command: &Command) -> String {
    let words =
        std::iter::once(command.get_program()).chain(command.get_args()).map(OsStr::display);
    words.map(|word| word.to_string()).collect::<Vec<_>>().join(" ")
}
