//! The word the user probably meant.

/// The candidate nearest to `word`, if any is near enough to be a slip of the finger.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = word.chars().count().div_ceil(3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance, letter case and `-` against `_` aside.
fn distance(one: &str, other: &str) -> usize {
    let fold = |c: char| if c == '-' { '_' } else { c.to_ascii_lowercase() };
    let other: Vec<char> = other.chars().map(fold).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().map(fold).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_nonsense_is_not() {
        let known = ["exit_code", "max_findings", "halt_on_error"];
        assert_eq!(nearest("exit-cod", known), Some("exit_code"));
        assert_eq!(nearest("max_finding", known), Some("max_findings"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
