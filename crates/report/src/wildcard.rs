//! Patterns of suppressions: `*` stands for any text, `?` for any one character.
//!
//! Nothing else is special, so that `operator[]` and `std::vector<int>` can be written as they
//! are; the glob crates give brackets and braces a meaning.

/// Whether `pattern` describes all of `text`.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut position) = (0, 0);
    // Where to go on after a mismatch: behind the last `*`, which then takes one character more.
    let mut retry = None;
    while position < text.len() {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at, position));
                at += 1;
            }
            Some(&expected) if expected == '?' || expected == text[position] => {
                at += 1;
                position += 1;
            }
            _ => {
                let Some((star, taken)) = retry else { return false };
                retry = Some((star, taken + 1));
                (at, position) = (star + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|&rest| rest == '*')
}

/// Whether `pattern` describes `path` or its last components: `src/*.c` describes
/// `/home/me/app/src/halo.c`. A pattern that begins with `/` describes the whole path.
pub(crate) fn matches_path(pattern: &str, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(slash, _)| &path[slash + 1..]);
    matches(pattern, path)
        || (!pattern.starts_with('/') && { ends }.any(|end| matches(pattern, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stars_and_question_marks_are_special() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbcd", false),
            ("a*b*c", "a_b_b_c", true),
            ("h?lo", "halo", true),
            ("h?lo", "hlo", false),
            ("operator[]*", "operator[](int)", true),
            ("*::exchange", "halo::exchange", true),
            ("*aaab", "aaaaaaaaab", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn paths_match_from_any_component_on() {
        assert!(matches_path("halo.c", "/home/me/src/halo.c"));
        assert!(matches_path("src/*.c", "/home/me/src/halo.c"));
        assert!(!matches_path("alo.c", "/home/me/src/halo.c"));
        assert!(!matches_path("/src/halo.c", "/home/me/src/halo.c"));
        assert!(matches_path("/home/*/halo.c", "/home/me/src/halo.c"));
        assert!(matches_path("libhdf5.so*", "/usr/lib/libhdf5.so.103"));
    }
}
