//! Which of many tests that are alike run in CI, whose time is limited.
//!
//! Which of them that is changes from commit to commit, so that after a few commits all have run;
//! of one commit it is always the same.

use std::process::Command;
use std::sync::LazyLock;

/// Turns until all tests have run with all MPI libraries.
const TURNS: usize = 4;

/// Whether tests run in CI: of many that are alike, a half is enough there.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// The half of all tests, 0 or 1, that one of this name belongs to: always the same.
pub fn half(name: &str) -> usize {
    name.bytes().map(usize::from).sum::<usize>() % 2
}

/// Whether the test of this name runs now: outside of CI always, there in every other turn.
pub fn runs(name: &str) -> bool {
    !in_ci() || half(name) == turn() % 2
}

/// Which of two ways is meant by 0, and which by 1, where each test runs in one of them: they
/// change when all tests have had their turn.
pub fn way(of: usize) -> usize {
    (of + turn() / 2) % 2
}

/// The turn of the commit that is tested, below [`TURNS`]; `COMMSAN_TEST_TURN` is another one.
fn turn() -> usize {
    static TURN: LazyLock<usize> = LazyLock::new(|| {
        let chosen = std::env::var("COMMSAN_TEST_TURN").ok().and_then(|turn| turn.parse().ok());
        chosen.unwrap_or_else(|| commit().bytes().map(usize::from).sum::<usize>()) % TURNS
    });
    *TURN
}

/// The commit's name, empty if that is not known.
fn commit() -> String {
    let directory = env!("CARGO_MANIFEST_DIR");
    let asked = Command::new("git").args(["-C", directory, "rev-parse", "HEAD"]).output();
    asked.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned()).unwrap_or_default()
}
