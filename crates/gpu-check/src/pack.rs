//! Makes a kit: compiles programs, and runs them on simulated devices.

use crate::kit::{self, Case, Manifest, Program, Timing};
use crate::programs::{Job, Kit, at_once};
use commsan_test_cases::{Report, Seen};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Architectures whose machine code programs contain, beside PTX for others: a virtual one, and
/// those compiled for. The second is for what the first lacks.
const ARCHITECTURES: [(&str, &str); 2] =
    [("compute_80", "compute_80,sm_80,sm_90"), ("compute_90", "compute_90,sm_90")];

#[derive(clap::Args)]
pub struct Options {
    /// The repository.
    #[arg(long, default_value = ".")]
    repository: PathBuf,
    /// The CUDA toolkit.
    #[arg(long, default_value = "target/cuda")]
    toolkit: PathBuf,
    /// The kit's directory, with `commsan`, `mpi` and `cuda` in it.
    kit: PathBuf,
}

/// What compiles programs.
struct Compiler {
    root: PathBuf,
    nvcc: PathBuf,
    commsan: PathBuf,
    mpi: Vec<String>,
}

/// Makes a kit of the repository's programs.
///
/// # Errors
///
/// A file is missing, or a program does not compile; the text says which.
pub fn pack(options: &Options) -> Result<(), String> {
    let absolute =
        |path: &Path| path.canonicalize().map_err(|e| format!("{}: {e}", path.display()));
    let root = absolute(&options.repository)?;
    let kit = absolute(&options.kit)?;
    let shown = Command::new("mpicxx.openmpi").arg("-show").output();
    let shown = shown.map_err(|error| format!("mpicxx.openmpi: {error}"))?;
    let words = String::from_utf8_lossy(&shown.stdout).into_owned();
    let of_linker = |word: &&str| ["-I", "-L", "-l"].iter().any(|kind| word.starts_with(kind));
    let compiler = Compiler {
        nvcc: absolute(&options.toolkit)?.join("bin/nvcc"),
        commsan: root.join("target/dist/bin/commsan"),
        mpi: words.split_whitespace().filter(of_linker).map(str::to_owned).collect(),
        root: root.clone(),
    };
    let simulated = |opaque| Kit {
        root: kit.clone(),
        gpu: "sim:1".to_owned(),
        limit: Duration::from_secs(60),
        opaque,
    };
    let (told, opaque) = (simulated(false), simulated(true));
    let cases = each(sources(&root.join("tests/cases"), "cu"), |path| {
        let case = commsan_test_cases::Case::read(&root.join("tests/cases"), path)?;
        // Machines with GPUs rarely have NCCL beside the driver.
        // Machines with GPUs have an MPI of their own, if any.
        if case.library.is_some()
            || case
                .flags
                .iter()
                .any(|flag| flag.starts_with("-lnccl") || flag.starts_with("-lnvshmem"))
        {
            return Ok(None);
        }
        let directory = kit.join("cases").join(&case.name);
        compiler.compile(path, &directory.join("program"), &case.flags, true)?;
        let mut packed = Case {
            name: case.name.clone(),
            ranks: case.ranks,
            devices: case.devices,
            mpi: case.mpi.as_deref() != Some("none"),
            device_messages: !case.devices_only && case.mpi.as_deref() != Some("none"),
            args: case.args.clone(),
            options: case.options.clone(),
            file: commsan_test_cases::compare::base_name(&path.to_string_lossy()),
            expected: BTreeSet::new(),
            simulated: BTreeSet::new(),
        };
        packed.simulated = findings(&told, &packed)?;
        packed.expected = findings(&opaque, &packed)?;
        Ok(Some(packed))
    })?;
    let tests = root.join("crates/simgpu/tests/programs");
    let programs = [sources(&tests, "cu"), sources(&tests, "cc")].concat();
    let programs = each(programs, |path| {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let directive = |key: &str| {
            let prefix = format!("//# {key}: ");
            text.lines().find_map(|line| line.strip_prefix(&prefix).map(str::to_owned))
        };
        let Some(name) = path.file_stem().map(|name| name.to_string_lossy().into_owned()) else {
            return Ok(None);
        };
        // What asks the simulated device itself, or an MPI for its extensions.
        if ["commsan_simgpu", "MPIX_"].iter().any(|name| text.contains(name)) {
            return Ok(None);
        }
        let flags: Vec<_> =
            directive("nvcc").iter().flat_map(|f| f.split(' ')).map(str::to_owned).collect();
        compiler.compile(path, &kit.join("programs").join(&name), &flags, false)?;
        let devices = directive("devices").and_then(|n| n.parse().ok()).unwrap_or(1);
        Ok(Some(Program { name, devices }))
    })?;
    let launches = root.join("bench/programs/launches.cu");
    compiler.compile(&launches, &kit.join("timings/launches"), &["-O2".to_owned()], true)?;
    let jacobi = root.join("examples/jacobi_cuda/jacobi.cu");
    compiler.compile(&jacobi, &kit.join("timings/jacobi"), &["-O2".to_owned()], true)?;
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let timing = |name: &str, program: &str, ranks, device_messages, args: &str| Timing {
        name: name.to_owned(),
        program: program.to_owned(),
        ranks,
        device_messages,
        args: words(args),
    };
    let timings = vec![
        timing("a launch, 4 KiB", "launches", 1, false, "4096 1"),
        timing("a launch, 64 MiB", "launches", 1, false, "67108864 1"),
        timing("Jacobi, 2 ranks", "jacobi", 2, true, "2048 2048 200"),
    ];
    let commsan = env!("CARGO_PKG_VERSION").to_owned();
    kit::write(&kit.join(kit::MANIFEST), &Manifest { commsan, cases, programs, timings })
}

impl Compiler {
    fn compile(&self, source: &Path, to: &Path, flags: &[String], mpi: bool) -> Result<(), String> {
        let newer = |one: &Path, other: &Path| {
            let time = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
            time(one) > time(other)
        };
        if newer(to, source) && newer(to, &self.commsan) {
            return Ok(());
        }
        let directory = to.parent().ok_or("a program lies somewhere")?;
        std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
        let mut problem = String::new();
        for (virtual_one, codes) in ARCHITECTURES {
            let mut command = Command::new(&self.commsan);
            command
                .arg("nvcc")
                .arg(&self.nvcc)
                .args(["-ccbin", "g++", "-cudart", "shared", "-gencode"]);
            command.arg(format!("arch={virtual_one},code=[{codes}]"));
            if !flags.iter().any(|flag| flag == "-rdc=true") {
                command.arg("-nodlink");
            }
            command.args(["-O1", "-g", "-DOMPI_SKIP_MPICXX"]);
            let flags = flags.iter().filter(|flag| !flag.starts_with("-arch"));
            command.args(flags).arg(source).arg("-o").arg(to);
            if mpi {
                command
                    .args(&self.mpi)
                    .arg(format!("-I{}", self.root.join("bench/programs").display()));
            }
            command.current_dir(source.parent().unwrap_or(&self.root));
            let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
            if output.status.success() {
                return Ok(());
            }
            problem = format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(problem)
    }
}

/// What is found on simulated devices.
fn findings(kit: &Kit, case: &Case) -> Result<BTreeSet<Seen>, String> {
    let directory = std::env::temp_dir().join(format!("gpu-check-{}", std::process::id()));
    let directory = directory.join(&case.name);
    let program = kit.root.join("cases").join(&case.name).join("program");
    let job = Job::of(case, &program);
    let ended = kit.run(&job, Some(&case.options), &directory)?;
    let report = Report::read(&directory.join("run/report.json"))
        .map_err(|problem| format!("{}: {problem}\n{}", case.name, ended.output))?;
    let _ = std::fs::remove_dir_all(&directory);
    Ok(report.sites(&case.file).into_keys().collect())
}

/// Files with this extension below a directory.
fn sources(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("parts") {
            found.extend(sources(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Applies `work` to all paths, three at once for two cores, since launchers also sleep; the
/// results in order, without those that are `None`.
fn each<T: Send>(
    paths: Vec<PathBuf>,
    work: impl Fn(&Path) -> Result<Option<T>, String> + Sync,
) -> Result<Vec<T>, String> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let results = at_once(cores + cores / 2, &paths, |path| work(path))?;
    Ok(results.into_iter().flatten().collect())
}
