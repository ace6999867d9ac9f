//! What programs do on the simulated device, as the entry points hand it to the semantics; and that
//! they do not notice.
//!
//! `examples/print.rs` is preloaded, and writes a line for each call of the semantics. Programs
//! check their own results.

#[path = "../../simgpu/tests/support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use support::{Library, Toolkit, run};

/// The simulation.
struct Environment {
    devices: u32,
    seed: u32,
    /// Whether devices keep to themselves what kernels access, as hardware does.
    opaque: bool,
}

/// One device that reports what kernels access.
const ONE: Environment = Environment { devices: 1, seed: 0, opaque: false };

/// Compiles a program and runs it in each environment with the printer preloaded. Returns what the
/// program prints, and the reported events, for each.
fn told(source: &Path, flags: &[String], environments: &[Environment]) -> Vec<(String, String)> {
    let directory = tempfile::tempdir().expect("a directory");
    let (program, told) = (directory.path().join("program"), directory.path().join("told"));
    let toolkit = Toolkit::find().expect("a toolkit");
    toolkit.compile(source, &program, flags).expect("a program that compiles");
    let run = |environment: &Environment| {
        let mut command = Command::new("timeout");
        command
            .arg("30")
            .arg(&program)
            .env("LD_LIBRARY_PATH", Library::get().expect("the simulated runtime").directory())
            .env("LD_PRELOAD", printer())
            .env("COMMSAN_TOLD", &told)
            .env("COMMSAN_GPU", format!("sim:{}", environment.devices))
            .env("COMMSAN_GPU_SEED", environment.seed.to_string())
            .env("COMMSAN_GPU_OPAQUE", if environment.opaque { "1" } else { "0" });
        let printed = run(&mut command).expect("it checks itself");
        (printed, fs::read_to_string(&told).expect("the printer has written it"))
    };
    environments.iter().map(run).collect()
}

/// The events reported for a program in one environment, with names.
fn names_of(source: &str, flags: &[String], environment: Environment) -> String {
    let mut runs = told(&programs("").join(source), flags, &[environment]);
    let (printed, told) = runs.pop().expect("one run");
    assert_eq!(printed, "done\n");
    named(&told)
}

/// The library that cargo has made of the example, beside the tests.
fn printer() -> PathBuf {
    let tests = std::env::current_exe().expect("a path");
    let profile = tests.ancestors().nth(2).expect("target/debug/deps/test");
    profile.join("examples/libprint.so")
}

fn programs(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of).join("tests/programs")
}

/// Addresses and handles by names: blocks of memory as they are allocated, whatever else as it is
/// seen first.
#[derive(Default)]
struct Names {
    blocks: Vec<Range<usize>>,
    others: HashMap<usize, usize>,
}

impl Names {
    fn line(&mut self, line: &str) -> String {
        if let Some(block) = allocated(line) {
            self.blocks.push(block);
        }
        let mut named = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let digits = rest[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - at);
            let (before, number) = (&rest[..at], &rest[at..at + digits]);
            named += before;
            // Kernels' and calls' names have numbers, too.
            match number.parse::<usize>() {
                Ok(address) if address > 1 << 32 => {
                    let is_end = named.ends_with("..");
                    named += &self.name(address, is_end);
                }
                _ => named += number,
            }
            rest = &rest[at + digits..];
        }
        named + rest
    }

    fn name(&mut self, address: usize, is_end: bool) -> String {
        let inside = address - usize::from(is_end);
        let holds = |block: &Range<usize>| block.contains(&inside);
        if let Some(number) = self.blocks.iter().rposition(holds) {
            return format!("block{number}+{}", address - self.blocks[number].start);
        }
        let next = self.others.len();
        format!("#{}", self.others.entry(address).or_insert(next))
    }
}

/// The allocated bytes that a line reports.
fn allocated(line: &str) -> Option<Range<usize>> {
    let bytes = line.strip_prefix("Allocated")?.split_once("bytes: ")?.1;
    let (start, end) = bytes.split_once(',')?.0.split_once("..")?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// The events with names. Those of other threads, host functions and kernels, come last, since the
/// system determines when these run.
fn named(told: &str) -> String {
    let mut names = Names::default();
    let teller = |line: &str| match line {
        _ if line.starts_with("HostFunction") => 1,
        _ if line.starts_with("Touched") => 2,
        _ => 0,
    };
    let mut lines: Vec<_> = told.lines().collect();
    lines.sort_by_key(|line| teller(line));
    lines.into_iter().map(|line| names.line(line) + "\n").collect()
}

#[test]
fn every_family_of_calls() {
    insta::assert_snapshot!(names_of("everything.cu", &[], Environment { devices: 2, ..ONE }));
}

#[test]
fn default_streams_of_threads() {
    let flags = ["--default-stream=per-thread".to_owned()];
    insta::assert_snapshot!(names_of("per_thread.cu", &flags, ONE));
}

/// With `COMMSAN_GPU_OPAQUE=1` launches are reported, but neither what their kernels access, nor
/// that the device would say so.
#[test]
fn an_opaque_device_does_not_report_what_kernels_access() {
    let flags = ["--default-stream=per-thread".to_owned()];
    let environments = [ONE, Environment { opaque: true, ..ONE }];
    let runs = told(&programs("").join("per_thread.cu"), &flags, &environments);
    let [(printed, open), (opaque_printed, opaque)] = &runs[..] else { panic!("two runs") };
    assert_eq!((&**printed, &**opaque_printed), ("done\n", "done\n"));
    let count =
        |told: &str, event: &str| told.lines().filter(|line| line.starts_with(event)).count();
    assert!(count(open, "Touched") > 0 && count(open, "ObserveAccesses") == 1, "{open}");
    assert!(!opaque.contains("Touched ") && !opaque.contains("ObserveAccesses"), "{opaque}");
    assert_eq!(count(open, "Enqueued"), count(opaque, "Enqueued"));
}

/// The simulated runtime's own programs notice nothing, whatever is run when.
#[test]
fn programs_do_not_notice() {
    let entries = fs::read_dir(programs("../simgpu")).expect("programs");
    let sources = entries.map(|entry| entry.expect("a readable directory").path());
    let sources: Vec<_> = sources.filter(|source| is_watched(source)).collect();
    assert!(sources.len() > 10);
    // Most of it is the compiler's time.
    let cores = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for part in sources.chunks(sources.len().div_ceil(cores)) {
            scope.spawn(|| part.iter().for_each(|source| does_not_notice(source)));
        }
    });
}

/// Whether a program can be run with a watcher.
fn is_watched(source: &Path) -> bool {
    // Directories have parts of programs, headers what they share.
    if source.extension().is_none_or(|extension| extension == "h") {
        return false;
    }
    let text = fs::read_to_string(source).expect("a readable program");
    // The device has one watcher; who is one itself is not to be watched. And the toolkit's
    // library, which programs are linked with here, does not answer for MPI.
    !text.contains("commsan_simgpu_watch") && !text.contains("MPIX_")
}

fn does_not_notice(source: &Path) {
    let text = fs::read_to_string(source).expect("a readable program");
    let of = |name: &str| {
        let values = text.lines().filter_map(|line| line.strip_prefix("//# "));
        values.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).next()
    };
    let flags: Vec<_> = of("nvcc").unwrap_or("").split_whitespace().map(str::to_owned).collect();
    let devices = of("devices").map_or(1, |devices| devices.parse().expect("a number"));
    told(source, &flags, &[0, 1].map(|seed| Environment { devices, seed, ..ONE }));
}
