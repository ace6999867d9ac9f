//! Which of many tests that are alike run in CI, whose time is limited.

/// Whether tests run in CI: of many that are alike, a half is enough there.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}

/// The half of all tests, 0 or 1, that one of this name belongs to: always the same.
pub fn half(name: &str) -> usize {
    name.bytes().map(usize::from).sum::<usize>() % 2
}
