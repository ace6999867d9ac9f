//! Random programs with one-sided communication, on both MPI libraries, and of OpenSHMEM, against a
//! model.
//!
//! A trial runs some scripts, one after the other in one job. Every race that the model is certain
//! of has to be found, and nothing that it does not think possible. `docs/test-cases.md` says more.
//!
//! `COMMSAN_RMA_BATCHES=10-30 cargo test -p commsan --test rma` runs these batches of scripts.

#[path = "rma/generate.rs"]
mod generate;
#[path = "rma/hybrid.rs"]
mod hybrid;
#[path = "rma/model.rs"]
mod model;
#[path = "rma/program.rs"]
mod program;
#[path = "rma/script.rs"]
mod script;
#[path = "rma/symmetric.rs"]
mod symmetric;
#[path = "cases/tools.rs"]
#[allow(dead_code, reason = "only the distribution's libraries are used")]
mod tools;

use commsan_findings::{Finding, Role};
use commsan_mpi_calls::abi::MpiFamily;
use commsan_test_cases::{Case, sample};
use libtest_mimic::{Arguments, Failed, Trial};
use model::{Race, Verdict};
use program::Program;
use script::{Place, Script};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tools::{Mpi, Tools};

/// Scripts of a trial.
const BATCH: u64 = 25;
/// Jobs in which a race of ranks with threads, once missed, may show.
const RUNS_ALONE: usize = 3;
/// Jobs that making a script smaller may take.
const ATTEMPTS: usize = 60;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // More waiting ranks than necessary keep the others from their work.
    arguments.test_threads.get_or_insert(1);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap_or(repository);
    let tools = match Tools::find(&repository, &Mpi::DISTRIBUTED) {
        Ok(tools) => Arc::new(tools),
        Err(missing) => {
            let trial = Trial::test("tools", move || Err(missing.into()));
            return libtest_mimic::run(&arguments, vec![trial]).exit_code();
        }
    };
    let repository = Arc::new(repository);
    let mut trials = vec![Trial::test("some scripts race, some do not", proportions)];
    let all = batches().map(|batch| (batch, "batch"));
    let all = all.chain(shared_batches().map(|batch| (batch, "shared")));
    // Open MPI 4.1 does not end many of them on several nodes, without commsan, too.
    for (batch, kind) in all.chain(distant_batches().map(|batch| (batch, "nodes"))) {
        // In CI's limited time every other one on each; with three numbers of ranks, all pairs are
        // met.
        let is_hurried = sample::in_ci();
        let chosen = Mpi::DISTRIBUTED
            .into_iter()
            .enumerate()
            .filter(|(index, _)| !is_hurried || kind == "nodes" || batch % 2 == *index as u64)
            .filter(|(_, mpi)| kind != "nodes" || *mpi == Mpi::Family(MpiFamily::Mpich));
        for (_, mpi) in chosen {
            let (tools, repository) = (Arc::clone(&tools), Arc::clone(&repository));
            let ranks = 2 + (batch % 3) as usize;
            let name = format!("{kind} {batch} on {ranks} ranks [{}]", mpi.name());
            trials.push(Trial::test(name, move || {
                let seeds = batch * BATCH..(batch + 1) * BATCH;
                let scripts: Vec<Script> =
                    seeds.map(|seed| generate::script(seed, ranks, kind == "shared")).collect();
                let nodes = if kind == "nodes" { 2 } else { 1 };
                let job = Job { tools: &tools, repository: &repository, mpi, nodes };
                job.check(&scripts, &format!("rma/random/{kind}-{batch}"))
            }));
        }
    }
    let on_each = |batch| Mpi::DISTRIBUTED.into_iter().enumerate().map(move |mpi| (batch, mpi));
    for (batch, (index, mpi)) in batches().flat_map(on_each) {
        // Likewise, of those with two numbers of ranks two of each in turn.
        if sample::in_ci() && batch / 2 % 2 != index as u64 {
            continue;
        }
        let (tools, repository) = (Arc::clone(&tools), Arc::clone(&repository));
        let ranks = 2 + (batch % 2) as usize;
        let name = format!("threads {batch} on {ranks} ranks [{}]", mpi.name());
        trials.push(Trial::test(name, move || {
            let seeds = batch * BATCH..(batch + 1) * BATCH;
            let scripts: Vec<_> = seeds.map(|seed| hybrid::Script::new(seed, ranks)).collect();
            let job = Job { tools: &tools, repository: &repository, mpi, nodes: 1 };
            job.check_threads(&scripts, &format!("rma/random/threads-{batch}"))
        }));
    }
    for batch in symmetric_batches() {
        let (tools, repository) = (Arc::clone(&tools), Arc::clone(&repository));
        let ranks = 2 + (batch % 3) as usize;
        trials.push(Trial::test(format!("symmetric {batch} on {ranks} PEs"), move || {
            let seeds = batch * BATCH..(batch + 1) * BATCH;
            let scripts: Vec<_> = seeds.map(|seed| symmetric::Script::new(seed, ranks)).collect();
            let job = Job { tools: &tools, repository: &repository, mpi: Mpi::Shmem, nodes: 1 };
            job.check_symmetric(&scripts, &format!("rma/random/symmetric-{batch}"))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Neither kind of script is rare.
fn proportions() -> Result<(), Failed> {
    let script = |seed| generate::script(seed, 2 + (seed % 3) as usize, seed % 4 == 0);
    let all = (0..300).map(|seed| model::races(&script(seed)));
    let certain = |races: &BTreeMap<Race, Verdict>| {
        races.values().filter(|verdict| **verdict == Verdict::Certain).count()
    };
    let (free, racy): (Vec<_>, Vec<_>) = all.partition(BTreeMap::is_empty);
    let races: usize = racy.iter().map(certain).sum();
    println!("{} without races, {} with {races} certain races", free.len(), racy.len());
    if free.len() < 75 || racy.len() < 75 {
        return Err(format!("{} scripts race, {} do not", racy.len(), free.len()).into());
    }
    Ok(())
}

/// `COMMSAN_RMA_BATCHES`: one number or the first and the last.
fn batches() -> std::ops::RangeInclusive<u64> {
    let wanted = std::env::var("COMMSAN_RMA_BATCHES").unwrap_or_default();
    let (first, last) = wanted.split_once('-').unwrap_or((&wanted, &wanted));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) => first..=last,
        _ => 0..=5,
    }
}

/// Batches with windows of shared memory: half as many.
fn shared_batches() -> std::ops::RangeInclusive<u64> {
    let all = batches();
    let half = (all.end() - all.start()) / 2;
    *all.start()..=all.start() + half
}

/// Batches whose ranks are on two nodes: a third as many.
fn distant_batches() -> std::ops::RangeInclusive<u64> {
    let all = batches();
    let third = (all.end() - all.start()) / 3;
    *all.start()..=all.start() + third
}

/// Batches of programs of OpenSHMEM: half as many.
fn symmetric_batches() -> std::ops::RangeInclusive<u64> {
    shared_batches()
}

/// The script and step of each line of a program.
type Lines = BTreeMap<u32, (usize, Place)>;

/// How scripts are run.
struct Job<'a> {
    tools: &'a Tools,
    repository: &'a Path,
    mpi: Mpi,
    nodes: u32,
}

/// A script with what is wrong about its findings.
#[derive(Debug, Default)]
struct Difference {
    missing: BTreeSet<Race>,
    unexpected: BTreeSet<Race>,
    /// Findings that name no steps.
    strange: Vec<String>,
}

impl Difference {
    fn only_misses(&self) -> bool {
        self.unexpected.is_empty() && self.strange.is_empty()
    }
}

impl Job<'_> {
    fn check(&self, scripts: &[Script], name: &str) -> Result<(), Failed> {
        let differences = self.run(scripts, name)?;
        if differences.is_empty() {
            return Ok(());
        }
        let mut problems = Vec::new();
        for (number, difference) in differences {
            let script = &scripts[number];
            problems.push(format!("script {}: {}", script.seed, difference.shown()));
            let seed = script.seed;
            problems.push(match self.minimised(script, &difference) {
                Some((script, difference)) => shown(&script, &difference),
                // A rank that is interrupted while it writes a notice delays those behind it, and
                // what they would have shown: that happens now and then, to no script twice.
                None if difference.only_misses() => {
                    problems.pop();
                    println!("script {seed}: missed once {:?}", difference.missing);
                    continue;
                }
                None => format!(
                    "script {seed} alone shows no difference\n{}",
                    shown(script, &difference)
                ),
            });
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
    }

    /// Runs scripts in one job and returns which of them differ from the model.
    fn run(&self, scripts: &[Script], name: &str) -> Result<BTreeMap<usize, Difference>, String> {
        let header = self.repository.join("tests/rma/script.h");
        let program = Program::new(scripts, &header.to_string_lossy());
        // Vectorized, too, where the program is short: that takes four times as long to compile.
        let level = if scripts[0].steps.len() == 2 { "-O3" } else { "-O1" };
        let found = self.findings_of(&program.text, scripts[0].steps.len(), &[level], name)?;
        let races: Vec<_> = scripts.iter().map(model::races).collect();
        Ok(differences(&races, &program.lines, &found))
    }

    /// Runs scripts of ranks with threads, and compares what is found with the model.
    fn check_threads(&self, scripts: &[hybrid::Script], name: &str) -> Result<(), Failed> {
        let mut problems = Vec::new();
        for (number, mut difference) in self.run_threads(scripts, name)? {
            let script = &scripts[number];
            let seed = script.seed;
            // Whether such a race shows depends on how the threads meet; one run in some has to
            // show it.
            let alone = format!("rma/random/threads-script-{seed}");
            for _ in 0..RUNS_ALONE {
                if difference.is_empty() || !difference.only_misses() {
                    break;
                }
                println!("script {seed}: missed {:?}", difference.missing);
                let again = self.run_threads(std::slice::from_ref(script), &alone)?.remove(&0);
                let again = again.unwrap_or_default();
                difference.missing.retain(|race| again.missing.contains(race));
                difference.unexpected.extend(again.unexpected);
                difference.strange.extend(again.strange);
            }
            if difference.is_empty() {
                continue;
            }
            problems.push(format!("script {seed} ({number}): {}", difference.shown()));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
    }

    /// Runs scripts of ranks with threads in one job and returns which of them differ.
    fn run_threads(
        &self,
        scripts: &[hybrid::Script],
        name: &str,
    ) -> Result<BTreeMap<usize, Difference>, String> {
        let program = hybrid::Program::new(scripts);
        let flags = ["-O1", "-fopenmp"];
        let found = self.findings_of(&program.text, scripts[0].ranks, &flags, name)?;
        let races: Vec<_> = scripts.iter().map(hybrid::Script::races).collect();
        let certain = races.iter().flat_map(BTreeMap::values).filter(|v| **v == Verdict::Certain);
        println!("{} findings, {} certain races", found.len(), certain.count());
        Ok(differences(&races, &program.lines, &found))
    }

    /// Runs scripts of OpenSHMEM in one job, and compares what is found with the model; what was
    /// missed once must show when its script runs alone, or never be missed again.
    fn check_symmetric(&self, scripts: &[symmetric::Script], name: &str) -> Result<(), Failed> {
        let mut problems = Vec::new();
        for (number, mut difference) in self.run_symmetric(scripts, name)? {
            let script = &scripts[number];
            if difference.only_misses() {
                println!("script {}: missed {:?}", script.seed, difference.missing);
                let alone = format!("{name}-{}", script.seed);
                let again = self.run_symmetric(std::slice::from_ref(script), &alone)?.remove(&0);
                let again = again.unwrap_or_default();
                difference.missing.retain(|race| again.missing.contains(race));
                difference.unexpected.extend(again.unexpected);
                difference.strange.extend(again.strange);
            }
            if !difference.is_empty() {
                problems.push(format!("script {} ({number}): {}", script.seed, difference.shown()));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
    }

    /// Runs scripts of OpenSHMEM in one job and returns which of them differ.
    fn run_symmetric(
        &self,
        scripts: &[symmetric::Script],
        name: &str,
    ) -> Result<BTreeMap<usize, Difference>, String> {
        let program = symmetric::Program::new(scripts);
        let found = self.findings_of(&program.text, scripts[0].ranks, &["-O1"], name)?;
        let races: Vec<_> = scripts.iter().map(symmetric::Script::races).collect();
        let certain = races.iter().flat_map(BTreeMap::values).filter(|v| **v == Verdict::Certain);
        println!("{} findings, {} certain races", found.len(), certain.count());
        Ok(differences(&races, &program.lines, &found))
    }

    /// Runs a program with so many ranks, and returns what is found.
    fn findings_of(
        &self,
        text: &str,
        ranks: usize,
        flags: &[&str],
        name: &str,
    ) -> Result<Vec<Finding>, String> {
        let directory = self.repository.join("target/cases").join(name);
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let case = Case {
            nodes: self.nodes,
            name: name.to_owned(),
            source: directory.join(format!("{}.c", self.mpi.name())),
            ranks: ranks as u32,
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            levels: Vec::new(),
            args: Vec::new(),
            options: Vec::new(),
            needs: Vec::new(),
            library: None,
            mpi: None,
            devices_only: false,
            compiler: None,
            hooks: true,
            devices: 1,
            seed: 0,
            exit: None,
            prints: None,
            marks: Vec::new(),
        };
        std::fs::write(&case.source, text).map_err(|error| error.to_string())?;
        let built = self.tools.build(&case, self.mpi)?;
        let run = self.tools.run(&case, self.mpi, &built)?;
        if !matches!(run.exit, Some(0 | 66)) {
            return Err(format!("exit {:?}\n$ {}\n{}", run.exit, run.command, run.output));
        }
        findings(&run.directory.join("report.json"))
    }

    /// The script with as few steps as still show some of the difference.
    fn minimised(&self, script: &Script, whole: &Difference) -> Option<(Script, Difference)> {
        let run = |script: &Script| {
            let found =
                self.run(std::slice::from_ref(script), &format!("rma/random/{}", script.seed));
            found.ok()?.remove(&0).filter(|difference| difference.resembles(whole))
        };
        let (mut best, mut difference) = (script.clone(), run(script)?);
        let mut left: Vec<Place> = removable(&best);
        left.drain(..left.len().saturating_sub(ATTEMPTS));
        while let Some((rank, step)) = left.pop() {
            let mut smaller = best.clone();
            smaller.steps[rank].remove(step);
            if let Some(found) = run(&smaller) {
                (best, difference) = (smaller, found);
            }
        }
        Some((best, difference))
    }
}

/// Accesses: without one of them, a script still ends. From the first to the last.
fn removable(script: &Script) -> Vec<Place> {
    use script::{Step, Transfer};
    let mut places = Vec::new();
    for (rank, steps) in script.steps.iter().enumerate() {
        for (index, step) in steps.iter().enumerate() {
            match step {
                Step::Load(..) | Step::Store(..) => places.push((rank, index)),
                Step::Transfer(Transfer { request: None, .. }) => places.push((rank, index)),
                Step::Flush(..) => places.push((rank, index)),
                _ => {}
            }
        }
    }
    places
}

impl Difference {
    fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.unexpected.is_empty() && self.strange.is_empty()
    }

    /// Of the same kind as part of another.
    fn resembles(&self, whole: &Difference) -> bool {
        let like = |some: &BTreeSet<Race>, all: &BTreeSet<Race>| {
            some.iter().any(|race| all.iter().any(|other| other.code == race.code))
        };
        like(&self.missing, &whole.missing)
            || like(&self.unexpected, &whole.unexpected)
            || !self.strange.is_empty() && !whole.strange.is_empty()
    }

    fn shown(&self) -> String {
        let race = |race: &Race| {
            let Race { code, first, second } = race;
            let place = |(rank, step): Place| format!("rank {rank} step {step}");
            format!("{code} {} with {}", place(*first), place(*second))
        };
        let missing = self.missing.iter().map(|r| format!("missing {}", race(r)));
        let unexpected = self.unexpected.iter().map(|r| format!("unexpected {}", race(r)));
        missing.chain(unexpected).chain(self.strange.iter().cloned()).collect::<Vec<_>>().join("; ")
    }
}

fn shown(script: &Script, difference: &Difference) -> String {
    let program = Program::new(std::slice::from_ref(script), "script.h");
    let mut text = format!("{}\n", difference.shown());
    for (line, source) in (1..).zip(program.text.lines()) {
        let step = program.lines.get(&line).map(|(_, (rank, step))| format!("{rank}.{step}"));
        text += &format!("{:>6} {source}\n", step.unwrap_or_default());
    }
    text
}

/// All findings of a report.
fn findings(path: &Path) -> Result<Vec<Finding>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut json: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    serde_json::from_value(json["findings"].take()).map_err(|error| error.to_string())
}

/// Of each script, given its races, what is wrong about the findings at its lines.
fn differences(
    races: &[BTreeMap<Race, Verdict>],
    lines: &Lines,
    found: &[Finding],
) -> BTreeMap<usize, Difference> {
    let mut all: Vec<Difference> = races.iter().map(|_| Difference::default()).collect();
    let mut seen: Vec<BTreeSet<Race>> = races.iter().map(|_| BTreeSet::new()).collect();
    for finding in found {
        match race(finding, lines) {
            Ok((script, race)) => drop(seen[script].insert(race)),
            Err((script, problem)) => all[script].strange.push(problem),
        }
    }
    for ((races, seen), difference) in races.iter().zip(seen).zip(&mut all) {
        let certain = races.iter().filter(|(_, verdict)| **verdict == Verdict::Certain);
        difference.missing = certain.map(|(r, _)| *r).filter(|r| !seen.contains(r)).collect();
        difference.unexpected = seen.into_iter().filter(|r| !races.contains_key(r)).collect();
    }
    all.into_iter().enumerate().filter(|(_, difference)| !difference.is_empty()).collect()
}

/// The script and steps of a finding.
fn race(finding: &Finding, lines: &Lines) -> Result<(usize, Race), (usize, String)> {
    let step = |role| {
        let site = finding.sites.iter().find(|site| site.role == role)?;
        // A call may be in a function of the header.
        let numbers = site.stack.iter().filter_map(|frame| frame.line);
        numbers.filter_map(|line| lines.get(&line)).next_back().copied()
    };
    let places = (step(Role::Access), step(Role::Operation));
    let problem = |script| (script, format!("{}: {} {places:?}", finding.code, finding.message));
    match places {
        (Some((script, first)), Some((same, second))) if script == same => {
            Ok((script, Race::new(finding.code, first, second)))
        }
        (Some((script, _)), _) | (_, Some((script, _))) => Err(problem(script)),
        _ => Err(problem(0)),
    }
}
