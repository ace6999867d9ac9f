//! Runs `commsan lint` on the programs under `tests/lint`, with both MPI libraries: as objects that
//! `commsan cc` has made, with and without optimization, and as sources (`tools::ways`).
//!
//! A program says in comments what has to be found where, as those under `tests/cases` do, see
//! `docs/test-cases.md`; nothing else may be found. A directory is one program of several files.
//!
//! `cargo test -p commsan --test lint -- levels` runs the trials whose names contain `levels`.

#[path = "lint/compare.rs"]
mod compare;
#[path = "lint/tools.rs"]
mod tools;

use commsan_test_cases::{Case, FINDINGS, Kind, sample};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tools::{Tools, Way};

/// One program, of one file or all those of a directory.
struct Program {
    /// `fail/levels/single.c`.
    name: String,
    files: Vec<Case>,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap_or(repository);
    let tools = match Tools::find(&repository) {
        Ok(tools) => Arc::new(tools),
        Err(missing) => {
            let trial = Trial::test("tools", move || Err(missing.into()));
            return libtest_mimic::run(&arguments, vec![trial]).exit_code();
        }
    };
    let root = repository.join("tests/lint");
    let mut trials = Vec::new();
    let mut names = BTreeSet::new();
    for path in programs(&root) {
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
        match Program::read(&root, &path, &name) {
            // In CI's time, every other pair.
            Ok(program) if !sample::runs(program.pair()) => {}
            Ok(program) => trials.extend(trials_of(Arc::new(program), &tools)),
            Err(problem) => trials.push(Trial::test(name.clone(), move || Err(problem.into()))),
        }
        names.insert(name);
    }
    for program in correct_programs(&repository.join("tests/cases")) {
        trials.push(silent(Arc::new(program), &tools));
    }
    trials.push(Trial::test("every failing program has a corrected twin", move || twins(&names)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Programs that are right when they run: nothing is to be said of them.
fn correct_programs(root: &Path) -> Vec<Program> {
    let all = programs(root);
    let paths = all.iter().filter(|path| {
        path.starts_with(root.join("pass")) && tools::Language::of(path).is_some() && {
            // Whose variables are `asynchronous`, which flang wants interfaces for.
            let text = std::fs::read_to_string(path).unwrap_or_default();
            !(text.contains("'mpif.h'") && text.contains("asynchronous"))
        }
    });
    let program = |path: &PathBuf| {
        let mut file = Case::read_part(root, path).ok()?;
        // Those of `commsan run`.
        file.options.clear();
        file.exit = Some(0);
        // Others' headers are not there.
        let fits = file.mpi.as_deref().is_none_or(|mpi| mpi == tools::SILENT.mpi)
            && file.needs.is_empty()
            && file.library.is_none();
        // In CI's time, every other one.
        (fits && sample::runs(&file.name))
            .then(|| Program { name: format!("cases/{}", file.name), files: vec![file] })
    };
    paths.filter_map(program).collect()
}

fn silent(program: Arc<Program>, tools: &Arc<Tools>) -> Trial {
    let tools = Arc::clone(tools);
    let name = format!("{} [{}]", program.name, tools::SILENT);
    Trial::test(name, move || check(&program, &tools, &tools::SILENT))
}

/// What is in `root/fail/AREA` and `root/pass/AREA`.
fn programs(root: &Path) -> Vec<PathBuf> {
    let kinds = [Kind::Fail, Kind::Pass].map(|kind| root.join(kind.to_string()));
    let areas = kinds.iter().flat_map(|kind| entries(kind));
    areas.flat_map(|area| entries(&area)).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<_> = read.map(|entry| entry.path()).collect();
    found.sort();
    found
}

impl Program {
    fn read(root: &Path, path: &Path, name: &str) -> Result<Program, String> {
        let sources = if path.is_dir() { entries(path) } else { vec![path.to_owned()] };
        let sources = sources.iter().filter(|path| tools::Language::of(path).is_some());
        let files: Result<Vec<_>, _> = sources.map(|path| Case::read_part(root, path)).collect();
        let mut files = files?;
        // Others do not come to an end.
        if !name.contains("/messages/")
            && let Some(file) = files.first_mut()
        {
            file.options.extend(["--ranks", "0"].map(str::to_owned));
        }
        let marked = files.iter().any(|file| !file.marks.is_empty());
        if marked != name.starts_with(&Kind::Fail.to_string()) {
            return Err("programs under fail have marks, others none".to_owned());
        }
        Ok(Program { name: name.to_owned(), files })
    }

    /// Whether flang compiles it with commsan's module only.
    fn uses_f08(&self) -> bool {
        self.files.iter().any(|file| {
            let text = std::fs::read_to_string(&file.source);
            text.is_ok_and(|text| text.contains("use mpi_f08"))
        })
    }

    /// Its name without whether it is right: that of its twin, too.
    fn pair(&self) -> &str {
        self.name.split_once('/').map_or("", |(_, name)| name)
    }

    /// Whether it is one of those that are seen with the standard's ABI: of C and C++, every second
    /// one and its twin.
    fn is_sample(&self) -> bool {
        sample::half(self.pair()) == 0
            && self.files.iter().all(|file| {
                tools::Language::of(&file.source).is_some_and(|language| language.is_c())
            })
    }

    /// Exit code of `commsan lint`, which warnings change, too.
    fn exit(&self) -> i32 {
        let other = self.files.iter().find_map(|file| file.exit);
        let is_marked = self.files.iter().any(|file| !file.marks.is_empty());
        other.unwrap_or(if is_marked { FINDINGS } else { 0 })
    }
}

fn trials_of(program: Arc<Program>, tools: &Arc<Tools>) -> Vec<Trial> {
    let mpi = program.files.iter().find_map(|file| file.mpi.as_deref());
    // The module of Fortran 2008 exists while sources are compiled for lint.
    let mut ways = tools::ways(&program.name, mpi, program.uses_f08());
    if mpi.is_none() && program.is_sample() {
        ways.push(&tools::STANDARD);
    }
    let trial = |way: &'static Way| {
        let (program, tools) = (Arc::clone(&program), Arc::clone(tools));
        Trial::test(format!("{} [{way}]", program.name), move || check(&program, &tools, way))
    };
    ways.into_iter().map(trial).collect()
}

fn check(program: &Program, tools: &Tools, way: &Way) -> Result<(), Failed> {
    let run = tools.lint(program, way)?;
    let mut problems = Vec::new();
    if run.exit != Some(program.exit()) {
        problems.push(format!("exit code {:?} instead of {}", run.exit, program.exit()));
    }
    match compare::differences(&program.files, &run.report) {
        Ok(differences) => problems.extend(differences),
        Err(problem) => problems.push(problem),
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n\n$ {}\n{}", problems.join("\n"), run.command, run.output).into())
}

fn twins(names: &BTreeSet<String>) -> Result<(), Failed> {
    let prefix = format!("{}/", Kind::Fail);
    let failing = names.iter().filter_map(|name| name.strip_prefix(&prefix));
    let alone: Vec<_> =
        failing.filter(|name| !names.contains(&format!("{}/{name}", Kind::Pass))).collect();
    if alone.is_empty() {
        return Ok(());
    }
    Err(format!("missing under tests/lint/pass: {}", alone.join(", ")).into())
}
