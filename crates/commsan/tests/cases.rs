//! Runs the programs under `tests/cases` through the built commsan, with both MPI libraries.
//!
//! A program says in comments what has to be found where, see `docs/test-cases.md`; nothing else
//! may be found. Each program and MPI is one trial: `fail/p2p/isend_write [openmpi]`.
//!
//! `cargo test -p commsan --test cases -- irecv` runs the trials whose names contain `irecv`.
//!
//! With `COMMSAN_TEST_MPIS=target/mpis`, where `scripts/mpis.sh` has installed other MPI libraries,
//! the C programs on one node, and those in Fortran where the library has modules, run with each of
//! these instead (`make matrix`). With `COMMSAN_TEST_EVERY=N` about every `N`th program runs, with
//! `COMMSAN_TEST_COMPILER=gcc-11` those in C and C++ are compiled by that compiler
//! (`make compilers`). Without all these, a few programs run with two of the other libraries, if
//! they are installed.

#[path = "cases/tools.rs"]
mod tools;

use commsan_test_cases::{Case, Kind, Report, differences, sample};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tools::{Installation, Mpi, Tools};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // A trial mostly waits for a compiler, then for the two or more ranks of its program, and for
    // its launcher, which sleeps.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    arguments.test_threads.get_or_insert(cores.div_ceil(2).max(3));

    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap_or(repository);
    let mut trials = Vec::new();
    let others = std::env::var_os("COMMSAN_TEST_MPIS").map(|directory| {
        let all = Installation::all(&repository.join(directory));
        all.into_iter().map(Mpi::Other).collect::<Vec<_>>()
    });
    if others.as_ref().is_some_and(Vec::is_empty) {
        let missing = "no MPI library is installed there: run `scripts/mpis.sh`";
        let trial = Trial::test("tools", move || Err(missing.into()));
        return libtest_mimic::run(&arguments, vec![trial]).exit_code();
    }
    let mpis = others.clone().unwrap_or(Mpi::DISTRIBUTED.to_vec());
    let newer = match others {
        Some(_) => Vec::new(),
        None => newer(&repository),
    };
    if others.is_none() && newer.len() < NEWER.len() {
        // Where they cannot be fetched, nothing else fails for it.
        let missing = format!("run `scripts/mpis.sh {}`", NEWER.join(" "));
        let trial = Trial::test("other libraries are installed", move || Err(missing.into()));
        trials.push(trial.with_ignored_flag(true));
    }
    let tools = match Tools::find(&repository, &[&mpis[..], &newer].concat()) {
        Ok(tools) => Arc::new(tools),
        Err(missing) => {
            let trial = Trial::test("tools", move || Err(missing.into()));
            return libtest_mimic::run(&arguments, vec![trial]).exit_code();
        }
    };
    let root = repository.join("tests/cases");
    let mut names = BTreeSet::new();
    for path in mixed(programs(&root)) {
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
        match Case::read(&root, &path) {
            Ok(case) => trials.extend(
                case.each_level()
                    .into_iter()
                    .flat_map(|case| trials_of(Arc::new(case), &tools, others.as_deref(), &newer)),
            ),
            Err(problem) => trials.push(Trial::test(name.clone(), move || Err(problem.into()))),
        }
        names.insert(name);
    }
    trials.push(Trial::test("every failing program has a corrected twin", move || twins(&names)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// All files below `root` that a compiler is responsible for.
fn programs(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if tools::language(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Programs of all areas in turn: some mostly compute, and others mostly wait.
fn mixed(programs: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut areas = BTreeMap::<_, Vec<_>>::new();
    for path in programs {
        areas.entry(path.parent().map(Path::to_owned)).or_default().push(path);
    }
    let place = |area: Vec<PathBuf>| {
        let all = area.len() as f64;
        (0..).zip(area).map(move |(number, path)| (f64::from(number) / all, path))
    };
    let mut placed: Vec<_> = areas.into_values().flat_map(place).collect();
    placed.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    placed.into_iter().map(|(_, path)| path).collect()
}

/// Whether the compiler of `COMMSAN_TEST_COMPILER` is not for a program: devices have another, and
/// only one version of LLVM's OpenMP can be installed.
fn is_left_out(case: &Case) -> bool {
    let Ok(chosen) = std::env::var("COMMSAN_TEST_COMPILER") else { return false };
    let needs_openmp = case.flags.iter().any(|flag| flag == "-fopenmp");
    case.name.contains("/cuda/") || (needs_openmp && chosen.starts_with("clang"))
}

/// Other libraries that some programs always run with: the newest Open MPI, and the ABI of which
/// the distribution has no library.
const NEWER: [&str; 2] = ["openmpi-5.0.11", "mpich-5.0.2-abi"];

/// One in so many programs does, and those that need calls which the distribution's libraries lack.
const NEWER_EVERY: usize = 32;

/// Those that are installed.
fn newer(repository: &Path) -> Vec<Mpi> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let directory = target.unwrap_or_else(|| repository.join("target")).join("mpis");
    let all = Installation::all(&directory).into_iter();
    all.filter(|it| NEWER.contains(&&*it.name)).map(Mpi::Other).collect()
}

fn trials_of(
    case: Arc<Case>,
    tools: &Arc<Tools>,
    others: Option<&[Mpi]>,
    newer: &[Mpi],
) -> Vec<Trial> {
    // What devices do does not depend on the MPI library: each is used for half of these programs.
    let sum = case.name.bytes().map(usize::from).sum::<usize>();
    let first = sum % Mpi::DISTRIBUTED.len();
    let (kind, pair) = case.name.split_once('/').unwrap_or_default();
    let every = std::env::var("COMMSAN_TEST_EVERY").ok().and_then(|n| n.parse().ok());
    if !sum.is_multiple_of(every.unwrap_or(1)) || is_left_out(&case) {
        return Vec::new();
    }
    let fits = case.mpi.is_none() && case.nodes < 2 && !HANG.contains(&&*case.name);
    let has_newer = fits && (sum.is_multiple_of(NEWER_EVERY) || !case.needs.is_empty());
    let libraries = match &case.mpi {
        _ if others.is_some() => others.filter(|_| fits).unwrap_or_default().to_vec(),
        // In CI's limited time every other pair runs, a failing program with one library, and its
        // corrected twin with the other. `make test` runs all.
        _ if !sample::runs(pair) => Vec::new(),
        Some(name) => {
            let every = [&Mpi::DISTRIBUTED[..], &[Mpi::Shmem, Mpi::None]].concat();
            every.into_iter().filter(|mpi| mpi.name() == name).collect()
        }
        None if case.devices_only => vec![Mpi::DISTRIBUTED[first]],
        None if sample::in_ci() => {
            vec![Mpi::DISTRIBUTED[sample::way(usize::from(kind == "pass"))]]
        }
        None => Mpi::DISTRIBUTED.to_vec(),
    };
    let newer = newer.iter().filter(|_| has_newer).copied();
    libraries
        .into_iter()
        .chain(newer)
        .filter(|mpi| {
            mpi.has(&case.needs)
                && mpi.speaks(&case.source)
                && !ABORT.contains(&(&*case.name, mpi.name()))
        })
        .map(|mpi| {
            let (case, tools) = (Arc::clone(&case), Arc::clone(tools));
            let name = format!("{} [{}]", case.name, mpi.name());
            let lacks_keys = !case.hooks && !commsan_machine::has_protection_keys();
            Trial::test(name, move || check(&case, &tools, mpi)).with_ignored_flag(lacks_keys)
        })
        .collect()
}

/// Programs that hang with newer libraries, without commsan, too: MPICH's `MPI_Comm_disconnect`
/// waits since 4.2 until the program has completed its requests.
const HANG: [&str; 1] = ["fail/request/disconnected"];

/// Programs that a library ends, without commsan, too: `MPIX_Stream_comm_create_multiplex` fails in
/// an assertion of MPICH 5.0.2's, and in 4.3.2 `MPI_Comm_free` of what it has made; in 5.0.2 a
/// broadcast whose counts differ loads from a null pointer, more often than not.
const ABORT: [(&str, &str); 6] = [
    ("fail/collectives/count", "mpich-5.0.2"),
    ("fail/collectives/count", "mpich-5.0.2-abi"),
    ("fail/p2p/stream_multiplex", "mpich-4.3.2"),
    ("pass/p2p/stream_multiplex", "mpich-4.3.2"),
    ("fail/p2p/stream_multiplex", "mpich-5.0.2"),
    ("pass/p2p/stream_multiplex", "mpich-5.0.2"),
];

fn check(case: &Case, tools: &Tools, mpi: Mpi) -> Result<(), Failed> {
    let program = tools.build(case, mpi)?;
    let run = tools.run(case, mpi, &program)?;
    let mut problems = Vec::new();
    match run.exit {
        Some(code) if code == case.exit() => {}
        Some(code) => problems.push(format!("exit code {code} instead of {}", case.exit())),
        None => problems.push("ended by a signal".to_owned()),
    }
    if let Some(text) = case.prints.as_ref().filter(|text| !run.output.contains(*text)) {
        problems.push(format!("the program does not print `{text}`"));
    }
    match Report::read(&run.directory.join("report.json")) {
        Ok(report) => problems.extend(differences(case, &report)),
        Err(problem) => problems.push(problem),
    }
    if problems.is_empty() {
        return Ok(());
    }
    let problems = problems.join("\n");
    Err(format!("{problems}\n\n$ {}\n{}", run.command, run.output).into())
}

fn twins(names: &BTreeSet<String>) -> Result<(), Failed> {
    let prefix = format!("{}/", Kind::Fail);
    let failing = names.iter().filter_map(|name| name.strip_prefix(&prefix));
    let alone: Vec<_> =
        failing.filter(|name| !names.contains(&format!("{}/{name}", Kind::Pass))).collect();
    if alone.is_empty() {
        return Ok(());
    }
    Err(format!("missing under tests/cases/pass: {}", alone.join(", ")).into())
}
