//! Runs a kit on this machine's devices.

use crate::cuda::Driver;
use crate::instructions;
use crate::kit::{
    self, Case, CaseResult, Instruction, Manifest, Program, ProgramResult, Results, Timing,
    TimingResult, Verdict,
};
use crate::programs::{Job, Kit, at_once, ended, tail};
use crate::table;
use commsan_findings::Code;
use commsan_test_cases::{Report, Seen};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Bytes of output that are kept of a run that went wrong.
const OUTPUT_KEPT: usize = 1500;
/// How often a timed program is run, alone and under commsan in turn.
const REPETITIONS: usize = 3;

#[derive(clap::Args)]
pub struct Options {
    /// `real`, or `sim:N` for simulated devices.
    #[arg(long, default_value = "real")]
    gpu: String,
    /// Seconds after which no further program is started.
    #[arg(long, default_value_t = 480)]
    budget: u64,
    /// Seconds that one program may take.
    #[arg(long, default_value_t = 40)]
    limit: u64,
    /// Programs that run at once; by default two for each five cores.
    #[arg(long)]
    jobs: Option<usize>,
    /// Only programs whose names contain one of these.
    #[arg(long)]
    only: Vec<String>,
    /// Where results go.
    #[arg(long, default_value = "gpu-check.json")]
    output: PathBuf,
    /// Where programs run; a new temporary directory if not given.
    #[arg(long)]
    work: Option<PathBuf>,
    /// The kit's directory.
    kit: PathBuf,
}

struct Session {
    kit: Kit,
    work: PathBuf,
    devices: u32,
    end: Instant,
}

/// Runs everything; the exit code is 0 if nothing differs that should not.
///
/// # Errors
///
/// The kit is incomplete, there is no device, or the results cannot be written.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let start = Instant::now();
    let root = options.kit.canonicalize().map_err(|e| format!("{}: {e}", options.kit.display()))?;
    let manifest: Manifest = kit::read(&root.join(kit::MANIFEST))?;
    let simulated = options.gpu.strip_prefix("sim:").map(|count| count.parse::<u32>());
    let (devices, driver) = match simulated {
        Some(count) => (count.map_err(|error| format!("--gpu {}: {error}", options.gpu))?, None),
        None => (Driver::devices(), Some(Driver::open()?)),
    };
    let machine = match &driver {
        Some(driver) => format!("{}, {devices} device(s)", driver.description()?),
        None => format!("{devices} simulated device(s)"),
    };
    let work = options
        .work
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("gpu-check-{}", std::process::id())));
    let session = Session {
        kit: Kit {
            root: root.clone(),
            gpu: options.gpu.clone(),
            limit: Duration::from_secs(options.limit),
            opaque: true,
        },
        work,
        devices,
        end: start + Duration::from_secs(options.budget),
    };
    let mut results = Results { gpu: options.gpu.clone(), machine, ..Results::default() };
    let wanted =
        |name: &str| options.only.is_empty() || options.only.iter().any(|part| name.contains(part));
    let keep = |results: &mut Results| {
        results.seconds = start.elapsed().as_secs_f64();
        kit::write(&options.output, results)
    };
    if let Some(driver) = &driver
        && let Ok(all) = kit::read::<Vec<Instruction>>(&root.join(kit::INSTRUCTIONS))
    {
        let all: Vec<_> = all.into_iter().filter(|one| wanted(&one.name)).collect();
        results.instructions = Some(instructions::compare(driver, &all));
        keep(&mut results)?;
    }
    // Times first, while nothing else runs.
    for timing in manifest.timings.iter().filter(|timing| wanted(&timing.program)) {
        results.timings.push(session.time(timing)?);
        keep(&mut results)?;
    }
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let jobs = options.jobs.unwrap_or((cores * 2 / 5).max(1));
    let programs: Vec<_> =
        manifest.programs.iter().filter(|program| wanted(&program.name)).collect();
    results.programs = at_once(jobs, &programs, |program| session.program(program))?;
    keep(&mut results)?;
    let cases: Vec<_> = manifest.cases.iter().filter(|case| wanted(&case.name)).collect();
    results.cases = at_once(jobs, &cases, |case| session.case(case))?;
    keep(&mut results)?;
    if options.work.is_none() {
        let _ = std::fs::remove_dir_all(&session.work);
    }
    Ok(table::print(&results))
}

impl Session {
    fn is_late(&self) -> bool {
        Instant::now() >= self.end
    }

    fn case(&self, case: &Case) -> Result<CaseResult, String> {
        let mut result = CaseResult {
            name: case.name.clone(),
            verdict: Verdict::Skipped,
            native: String::new(),
            checked: String::new(),
            seconds: [0.0; 2],
            missing: Vec::new(),
            extra: Vec::new(),
            output: String::new(),
        };
        if case.devices > self.devices || self.is_late() {
            return Ok(result);
        }
        let program = self.kit.root.join("cases").join(&case.name).join("program");
        let job = Job::of(case, &program);
        let directory = self.work.join(&case.name);
        let native = self.kit.run(&job, None, &directory.join("native"))?;
        let checked_in = directory.join("checked");
        let checked = self.kit.run(&job, Some(&case.options), &checked_in)?;
        result.native = ended(&native);
        result.checked = ended(&checked);
        result.seconds = [native.time.as_secs_f64(), checked.time.as_secs_f64()];
        let ranks = if case.mpi { case.ranks } else { 1 };
        result.verdict = match Report::read(&checked_in.join("run/report.json")) {
            Err(problem) => {
                result.output = problem + "\n";
                Verdict::Unchecked
            }
            Ok(report) => {
                let found: BTreeSet<Seen> = report.sites(&case.file).into_keys().collect();
                let shown = |seen: &Seen| {
                    format!("{} {} {}:{}", seen.code, seen.role, seen.file, seen.line)
                };
                result.missing = case.expected.difference(&found).map(shown).collect();
                // Findings may also be those of simulated devices that report what kernels access.
                let known: BTreeSet<_> = case.expected.union(&case.simulated).cloned().collect();
                // A program that ends in an error here without commsan, too, is reported with that
                // error.
                let is_own = |seen: &&Seen| {
                    result.native != "0"
                        && matches!(
                            seen.code,
                            Code::CallFailed | Code::CallCrashed | Code::ProgramCrashed
                        )
                };
                result.extra =
                    found.difference(&known).filter(|seen| !is_own(seen)).map(shown).collect();
                let complete = report.ranks() >= u64::from(ranks);
                match (result.extra.is_empty(), result.missing.is_empty()) {
                    (false, _) => Verdict::More,
                    (true, true) if complete => Verdict::Same,
                    _ if result.native != "0" => Verdict::Native,
                    (true, true) => Verdict::Unchecked,
                    (true, false) => Verdict::Fewer,
                }
            }
        };
        let is_passing = case.name.starts_with("pass/");
        if result.verdict != Verdict::Same || (is_passing && result.native != result.checked) {
            result.output += &format!(
                "native: {}\nchecked: {}",
                tail(&native.output, OUTPUT_KEPT / 3),
                tail(&checked.output, OUTPUT_KEPT)
            );
        }
        let _ = std::fs::remove_dir_all(&directory);
        Ok(result)
    }

    fn program(&self, program: &Program) -> Result<ProgramResult, String> {
        let name = program.name.clone();
        if program.devices > self.devices || self.is_late() {
            return Ok(ProgramResult { name, ended: "skipped".to_owned(), output: String::new() });
        }
        let path = self.kit.root.join("programs").join(&name);
        let job = Job {
            program: &path,
            args: &[],
            ranks: None,
            device_messages: false,
            devices: program.devices,
        };
        let run = self.kit.run(&job, None, &self.work.join("programs").join(&name))?;
        let ended = ended(&run);
        let output = if ended == "0" { String::new() } else { tail(&run.output, OUTPUT_KEPT) };
        Ok(ProgramResult { name, ended, output })
    }

    fn time(&self, timing: &Timing) -> Result<TimingResult, String> {
        let path = self.kit.root.join("timings").join(&timing.program);
        let job = Job {
            program: &path,
            args: &timing.args,
            ranks: Some(timing.ranks),
            device_messages: timing.device_messages,
            devices: 1,
        };
        let directory = self.work.join("timings").join(&timing.program);
        let mut result = TimingResult {
            name: timing.name.clone(),
            native: Vec::new(),
            checked: Vec::new(),
            output: String::new(),
        };
        for _ in 0..REPETITIONS {
            for checked in [None, Some(&[][..])] {
                let run = self.kit.run(&job, checked, &directory)?;
                match measured(&run.output) {
                    Some(seconds) if checked.is_none() => result.native.push(seconds),
                    Some(seconds) => result.checked.push(seconds),
                    None => {
                        result.output =
                            format!("{}: {}", ended(&run), tail(&run.output, OUTPUT_KEPT))
                    }
                }
            }
            if !result.output.is_empty() {
                break;
            }
        }
        Ok(result)
    }
}

/// Seconds that a program prints as measured: `measured 1.5e-6 s`, or `1.25 s` at the end of a
/// line.
fn measured(output: &str) -> Option<f64> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    output.lines().rev().find_map(|line| {
        let words = words(line);
        let at = words.iter().rposition(|word| word.trim_end_matches([',', '.', ';']) == "s")?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    })
}
