//! The `main` of tests that share something which takes a while to start, and mostly wait.

use super::built::{MPIS, Mpi};
use libtest_mimic::{Arguments, Trial};
use std::sync::Arc;

/// A test by its name.
pub type Test<S> = (&'static str, fn(&S, Mpi));

/// Runs each test with each MPI, on what `start` makes; where that is impossible, every test says
/// why and passes. At last `end` looks at what they have left.
pub fn run<S: Send + Sync + 'static>(
    start: fn() -> Result<S, String>,
    tests: &[Test<S>],
    end: fn(&S) -> Result<(), String>,
) {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(4);
    let shared = Arc::new(if arguments.list { Err(String::new()) } else { start() });
    let all = MPIS.iter().flat_map(|&mpi| tests.iter().map(move |test| (mpi, *test)));
    let trials = all.map(|(mpi, (name, test))| {
        let shared = Arc::clone(&shared);
        let run = move || {
            match &*shared {
                Ok(shared) => test(shared, mpi),
                Err(why) => eprintln!("skipped: {why}"),
            }
            Ok(())
        };
        Trial::test(format!("{name}::{}", mpi.key()), run)
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    let ended = shared.as_ref().as_ref().map_or(Ok(()), end);
    drop(shared);
    if let Err(why) = ended {
        eprintln!("{why}");
        std::process::exit(1);
    }
    conclusion.exit();
}
