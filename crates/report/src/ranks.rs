//! Compact notation for sets of ranks.

/// Names ascending ranks in runs: `rank 3`, `ranks 0-3, 6`.
pub fn named(ranks: &[u32]) -> String {
    let plural = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{plural} {}", compressed(ranks))
}

/// Ascending ranks in runs: `0-3, 6`.
pub fn compressed(ranks: &[u32]) -> String {
    let runs = ranks.chunk_by(|&a, &b| a.checked_add(1) == Some(b));
    let shown = runs.map(|run| match run {
        [one] => one.to_string(),
        [first, second] => format!("{first}, {second}"),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_neighbours_make_a_run() {
        assert_eq!(named(&[0, 1, 2, 3, 6]), "ranks 0-3, 6");
        assert_eq!(named(&[0, 1, 4, 5, 6, u32::MAX]), "ranks 0, 1, 4-6, 4294967295");
        assert_eq!(named(&[7]), "rank 7");
    }
}
