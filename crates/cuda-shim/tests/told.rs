//! What programs do on the simulated device, as the entry points tell it; and that they do not notice.
//!
//! `examples/print.rs` is preloaded, and writes what is told. Programs check their own results.

#[path = "../../simgpu/tests/support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Library, Toolkit, run};

/// Compiles a program, runs it with the printer preloaded, and gives what it prints and what is told.
fn told(source: &Path, flags: &[String], environment: &[(&str, &str)]) -> (String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let (program, told) = (directory.path().join("program"), directory.path().join("told"));
    let toolkit = Toolkit::find().expect("a toolkit");
    toolkit.compile(source, &program, flags).expect("a program that compiles");
    let mut command = Command::new("timeout");
    command
        .arg("30")
        .arg(program)
        .env("LD_LIBRARY_PATH", Library::get().expect("the simulated runtime").directory())
        .env("LD_PRELOAD", printer())
        .env("COMMSAN_TOLD", &told)
        .envs(environment.iter().copied());
    let printed = run(&mut command).expect("it checks itself");
    (printed, fs::read_to_string(told).expect("the printer has written it"))
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

/// Addresses and handles by names: blocks of memory as they are allocated, whatever else as it is seen
/// first.
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

/// The bytes that a line tells to be allocated.
fn allocated(line: &str) -> Option<Range<usize>> {
    let bytes = line.strip_prefix("Allocated")?.split_once("bytes: ")?.1;
    let (start, end) = bytes.split_once(',')?.0.split_once("..")?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// What is told with names; after all others what other threads tell, host functions and kernels: when these run is for
/// the system to say.
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
    let source = programs("").join("everything.cu");
    let (printed, told) = told(&source, &[], &[("COMMSAN_GPU", "sim:2")]);
    assert_eq!(printed, "done\n");
    insta::assert_snapshot!(named(&told));
}

#[test]
fn default_streams_of_threads() {
    let source = programs("").join("per_thread.cu");
    let flags = ["--default-stream=per-thread".to_owned()];
    let (printed, told) = told(&source, &flags, &[("COMMSAN_GPU", "sim:1")]);
    assert_eq!(printed, "done\n");
    insta::assert_snapshot!(named(&told));
}

/// The simulated runtime's own programs notice nothing, whatever is run when.
#[test]
fn programs_do_not_notice() {
    let mut checked = 0;
    for entry in fs::read_dir(programs("../simgpu")).expect("programs") {
        let source = entry.expect("a readable directory").path();
        // Directories have parts of programs, headers what they share.
        if source.extension().is_none_or(|extension| extension == "h") {
            continue;
        }
        let text = fs::read_to_string(&source).expect("a readable program");
        let of = |name: &str| {
            let values = text.lines().filter_map(|line| line.strip_prefix("//# "));
            values.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).next()
        };
        // The device has one watcher; who is one itself is not to be watched.
        let watches = text.contains("commsan_simgpu_watch");
        // The toolkit's library, which programs are linked with here, does not answer for MPI.
        let asks = text.contains("MPIX_");
        if watches || asks {
            continue;
        }
        let flags: Vec<String> =
            of("nvcc").unwrap_or("").split_whitespace().map(str::to_owned).collect();
        let devices = format!("sim:{}", of("devices").unwrap_or("1"));
        for seed in ["0", "1"] {
            told(&source, &flags, &[("COMMSAN_GPU", &devices), ("COMMSAN_GPU_SEED", seed)]);
        }
        checked += 1;
    }
    assert!(checked > 10);
}
