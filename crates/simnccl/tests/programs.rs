//! Programs in `tests/programs`, compiled by the toolkit's compilers and run on the simulated
//! devices.
//!
//! A program checks itself and exits with 0. Comments in it say how it is run:
//!
//! - `//# devices: 1 2` runs it with 1 device, and again with 2 (default 1);
//! - `//# with: NAME=VALUE …` runs it with these in the environment, once for each such line;
//! - `//# as: WORD` runs it with this argument, once for each such line, followed by the number of
//!   devices;
//! - `//# seeds: N` runs it with the simulation's seeds 0 to N-1 (1).
//!
//! `.cu` files are compiled by nvcc, `.cc` files by the host's compiler with the toolkit's headers.

#[path = "../../simgpu/tests/support/mod.rs"]
mod simulation;
mod support;

use commsan_test_cases::sample;
use libtest_mimic::{Arguments, Failed, Trial};
use simulation::{Toolkit, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};

/// A program, and how it is run.
struct Program {
    source: PathBuf,
    devices: Vec<u32>,
    environments: Vec<String>,
    ways: Vec<String>,
    seeds: u64,
    executable: OnceLock<Result<PathBuf, String>>,
    directory: tempfile::TempDir,
}

/// One way to run it.
#[derive(Clone)]
struct Run {
    devices: u32,
    environment: String,
    way: String,
    seed: u64,
}

impl Program {
    fn read(source: PathBuf) -> Program {
        let text = fs::read_to_string(&source).expect("a readable program");
        let values = |name: &str| -> Vec<String> {
            let start = format!("//# {name}: ");
            text.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect()
        };
        let numbers = |name: &str| -> Vec<u32> {
            let words = values(name).join(" ");
            words.split_whitespace().map(|word| word.parse().expect("a number")).collect()
        };
        let or = |values: Vec<String>| if values.is_empty() { vec![String::new()] } else { values };
        let devices = numbers("devices");
        Program {
            devices: if devices.is_empty() { vec![1] } else { devices },
            environments: or(values("with")),
            ways: or(values("as")),
            seeds: numbers("seeds").first().copied().unwrap_or(1).into(),
            executable: OnceLock::new(),
            directory: tempfile::tempdir().expect("a directory"),
            source,
        }
    }

    fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        for &devices in &self.devices {
            for environment in &self.environments {
                for way in &self.ways {
                    for seed in 0..self.seeds {
                        let (environment, way) = (environment.clone(), way.clone());
                        runs.push(Run { devices, environment, way, seed });
                    }
                }
            }
        }
        runs
    }

    fn executable(&self, toolkit: &Toolkit) -> Result<&Path, String> {
        let compile = || {
            let executable = self.directory.path().join("program");
            support::compile(toolkit, &self.source, &executable)?;
            Ok(executable)
        };
        self.executable.get_or_init(compile).as_deref().map_err(Clone::clone)
    }

    fn test(&self, how: &Run, toolkit: &Result<Toolkit, String>) -> Result<(), Failed> {
        let executable = self.executable(toolkit.as_ref()?)?;
        let mut command = Command::new("timeout");
        command.arg("120").arg(executable);
        if !how.way.is_empty() {
            command.arg(&how.way).arg(how.devices.to_string());
        }
        command.envs(how.environment.split_whitespace().filter_map(|pair| pair.split_once('=')));
        command
            .env("LD_LIBRARY_PATH", support::libraries()?)
            .env("COMMSAN_GPU", format!("sim:{}", how.devices))
            .env("COMMSAN_GPU_SEED", how.seed.to_string());
        run(&mut command)?;
        Ok(())
    }
}

impl Run {
    fn name(&self, program: &str) -> String {
        let mut words = vec![program.to_owned(), format!("{} devices", self.devices)];
        words.extend([&self.environment, &self.way].into_iter().filter(|w| !w.is_empty()).cloned());
        if self.seed > 0 {
            words.push(format!("seed {}", self.seed));
        }
        words.join(", ")
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let toolkit = Arc::new(Toolkit::find());
    let mut trials = Vec::new();
    for source in support::sources() {
        let name = source.file_name().expect("a file").to_string_lossy().into_owned();
        let program = Arc::new(Program::read(source));
        let runs = program.runs();
        let are_many = runs.len() > 3;
        for how in runs {
            let (name, program, toolkit) =
                (how.name(&name), Arc::clone(&program), Arc::clone(&toolkit));
            // In CI's limited time, half of what is much alike.
            if are_many && !sample::runs(&name) {
                continue;
            }
            trials.push(Trial::test(name, move || program.test(&how, &toolkit)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
