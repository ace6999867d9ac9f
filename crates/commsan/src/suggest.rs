//! Suggests the word that a misspelt one was probably meant to be.

/// The candidate nearest to `word`, if the distance is small enough for a typing error.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = word.chars().count().div_ceil(3).max(1);
    let word = folded(word);
    candidates
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&word, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Ignores letter case, and the difference between `-` and `_`.
fn folded(word: &str) -> String {
    word.to_ascii_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_nonsense_is_not() {
        let known = ["exit_code", "max_findings", "halt_on_error"];
        assert_eq!(nearest("exit-cod", known), Some("exit_code"));
        assert_eq!(nearest("max_finding", known), Some("max_findings"));
        assert_eq!(nearest("MAX-FINDINGS", known), Some("max_findings"));
        assert_eq!(nearest("zzz", known), None);
    }
}
