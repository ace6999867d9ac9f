//! mpi4py's wheel, numpy and pytest, as pip installs them (`scripts/python.sh`). mpi4py looks by
//! weak references whether newer calls exist, keeps arrays in memory of numpy's, and returns errors
//! as exceptions.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Mpi, Run, Work};
use std::fs;
use std::path::{Path, PathBuf};

/// Without the wheels nothing is tested, which the text says.
fn interpreter() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| root().join("target"));
    let python = target.join("python/bin/python");
    if !python.is_file() {
        eprintln!("skipped: no {} (scripts/python.sh)", python.display());
        return None;
    }
    Some(python)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn script(name: &str) -> PathBuf {
    root().join("tests/python").join(name)
}

/// Line of a script that ends with this mark.
fn line(name: &str, mark: &str) -> u64 {
    let text = fs::read_to_string(script(name)).unwrap();
    text.lines().position(|line| line.ends_with(mark)).unwrap() as u64 + 1
}

/// Runs a job under `commsan run` where the wheel finds this MPI library.
fn run(work: &Work, options: &[&str], job: &[&str]) -> Run {
    // The name by which wheels know MPICH's library, which Debian calls differently.
    let libraries = work.path("libraries");
    fs::create_dir_all(&libraries).unwrap();
    if work.mpi == Mpi::Mpich {
        let debian = Path::new("/usr/lib/x86_64-linux-gnu/libmpich.so.12");
        let link = libraries.join("libmpi.so.12");
        if !link.exists() {
            std::os::unix::fs::symlink(debian, link).unwrap();
        }
    }
    let directory = work.fresh("run");
    let run = ["run", "--output", directory.to_str().unwrap()];
    let mut command = work.commsan(&[&run[..], options, &["--"], job].concat());
    command.env("MPI4PY_MPIABI", work.mpi.key()).env("LD_LIBRARY_PATH", &libraries);
    command.env("LAUNCHER", work.mpi.tool("mpirun")).env("PYTHONDONTWRITEBYTECODE", "1");
    Run { directory, ..work.finish(&mut command) }
}

/// Lines of a finding's first sites.
fn lines(run: &Run, finding: usize, count: usize) -> Vec<u64> {
    let report = run.report();
    let sites = report["findings"][finding]["sites"].as_array().unwrap();
    let mut lines: Vec<_> =
        sites.iter().take(count).map(|site| site["line"].as_u64().unwrap()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn mpi4py_is_checked_as_it_comes() {
    let Some(python) = interpreter() else { return };
    for mpi in MPIS {
        let work = Work::new("mpi4py", mpi);
        let (launcher, halo) = (mpi.tool("mpirun"), script("halo.py"));
        let halo = |way: &str| {
            let program = [python.to_str().unwrap(), halo.to_str().unwrap(), way];
            run(&work, &["--stuck-after", "1"], &[&[&*launcher, "-n", "2"][..], &program].concat())
        };
        halo("right").ends_with(0).finds(&[]).says("total 262150.0");
        // Which of the two it is depends on what the machine's pages can do.
        let early = halo("early");
        early.ends_with(66).says("total 262150.0");
        let codes: Vec<_> =
            early.findings().into_iter().map(|found| found[..9].to_owned()).collect();
        assert!(codes == ["CS-BUF-01"] || codes == ["CS-BUF-10"], "{}", early.text());
        let at = |mark| line("halo.py", mark);
        let expected = match &*codes[0] {
            "CS-BUF-01" => vec![at("# sends"), at("# stores"), at("# completes")],
            _ => vec![at("# sends"), at("# completes")],
        };
        assert_eq!(lines(&early, 0, expected.len()), expected, "{}", early.text());
        let root = halo("root");
        root.ends_with(66).finds(&["CS-COL-02 root"]);
        assert_eq!(lines(&root, 0, 2), [at("# differs"); 2], "{}", root.text());
        let wait = halo("wait");
        wait.ends_with(66).finds(&["CS-DLK-01 wait"]);
        assert_eq!(lines(&wait, 0, 2), [at("# waits"); 2], "{}", wait.text());
    }
}

#[test]
fn jobs_of_pytest_have_the_names_of_its_tests() {
    let Some(python) = interpreter() else { return };
    let work = Work::new("pytest", Mpi::OpenMpi);
    let (python, tests) = (python.to_str().unwrap(), script("test_halo.py"));
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider"];
    let job = [&[python], &pytest[..], &[tests.to_str().unwrap()]].concat();
    let all = run(&work, &[], &job);
    all.ends_with(66)
        .says("2 passed")
        .says("test_halo.py::test_job[early] (job 2 of 2), 2 ranks:\nerror[CS-BUF-")
        .says("no findings in ")
        .says("test_halo.py::test_job[right] (job 1 of 2)");
}

#[test]
fn pytest_runs_in_ranks() {
    let Some(python) = interpreter() else { return };
    for mpi in MPIS {
        let work = Work::new("ranks", mpi);
        let (launcher, tests) = (mpi.tool("mpirun"), script("test_ranks.py"));
        let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", tests.to_str().unwrap()];
        let job = [&[&*launcher, "-n", "2", python.to_str().unwrap()][..], &pytest].concat();
        let ranks = run(&work, &[], &job);
        ranks.ends_with(66).says("2 passed").finds(&["CS-BUF-10 test_early"]);
        let expected = [line("test_ranks.py", "# sends"), line("test_ranks.py", "# completes")];
        assert_eq!(lines(&ranks, 0, 2), expected, "{}", ranks.text());
        // Callers within pytest say nothing about the mistake.
        ranks.is_silent_about("pluggy");
    }
}
