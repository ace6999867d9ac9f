//! Whether a source gives memory another type than that of the pointer that leads to it.
//!
//! In C, allocated memory is of what was stored there last, whatever pointer it is kept by
//! (C11 §6.5): a program may keep real numbers in memory that it has allocated for integers, and
//! send them as such.
//!
//! **Soundness.** What a source says of a name counts for all that are called so in that file: a
//! cast to a pointer, copies of bytes into it, input into it, and `c_loc` in Fortran. Not seen is
//! what another file does, or a function that gets the pointer as `void *`.

/// Functions that copy bytes to what their first argument points to.
const COPY: [&str; 4] = ["memcpy", "memmove", "mempcpy", "fread"];
/// Functions that do so with their second argument.
const READ: [&str; 3] = ["read", "pread", "recv"];
/// Functions of containers and pointers of C++ whose result leads to their memory.
const LEAD: [&str; 3] = ["data", "get", "begin"];

/// Whether these lines give what `designator` leads to another type: `grid->u`, `halo.data()`,
/// `u(:, 1)`.
pub(crate) fn is_retyped(lines: &[String], designator: &str) -> bool {
    let Some(name) = name(designator) else { return false };
    lines.iter().any(|line| {
        let places = line.match_indices(&name).map(|(at, _)| (&line[..at], &line[at..]));
        places
            .filter(|(before, after)| {
                !before.ends_with(is_of_name) && !after[name.len()..].starts_with(is_of_name)
            })
            .any(|(before, _)| is_cast(before) || is_filled(before))
    })
}

/// The variable or member that a designator leads to.
fn name(designator: &str) -> Option<String> {
    let mut depth = 0;
    let plain: String = designator
        .chars()
        .map(|c| {
            depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
            if depth > 0 || ")]".contains(c) { ' ' } else { c }
        })
        .collect();
    // Without what is added to it.
    let plain = plain.replace("->", ".");
    let plain = plain.split(['+', '-']).next()?;
    let mut names = plain.split(|c| !is_of_name(c)).filter(|name| !name.is_empty());
    let last = names.next_back()?;
    let is_leading = LEAD.contains(&last) && designator.contains(&format!("{last}()"));
    (if is_leading { names.next_back() } else { Some(last) }).map(str::to_owned)
}

/// Whether a cast to a pointer to a type stands in front of a designator.
fn is_cast(before: &str) -> bool {
    let is_typed = |cast: &str| cast.contains('*') && !cast.contains("void");
    if let Some((_, cast)) = before.rsplit_once("_cast<")
        && let Some((cast, between)) = cast.split_once('>')
    {
        return is_typed(cast) && between.trim_start().starts_with('(') && !between.contains(')');
    }
    let before = before.trim_end_matches(|c| is_of_name(c) || " .->&(".contains(c));
    let cast = before.strip_suffix(')').and_then(|before| before.rsplit_once('('));
    cast.is_some_and(|(_, cast)| is_typed(cast))
}

/// Whether a designator is where a function puts bytes, or what `c_loc` is asked about.
fn is_filled(before: &str) -> bool {
    let before = before.trim_end_matches(|c| is_of_name(c) || " .->&%:".contains(c));
    let called = |before: &str, functions: &[&str]| {
        let name = before.trim_end().rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
        functions.iter().any(|function| name.eq_ignore_ascii_case(function))
    };
    if let Some(before) = before.strip_suffix('(') {
        return called(before, &COPY) || called(before, &["c_loc"]);
    }
    let first = before.strip_suffix(',').and_then(|before| before.rsplit_once('('));
    first.is_some_and(|(before, first)| !first.contains(',') && called(before, &READ))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retyped(line: &str, designator: &str) -> bool {
        is_retyped(&[line.to_owned()], designator)
    }

    #[test]
    fn casts_copies_and_input_give_another_type() {
        for (line, designator) in [
            ("float *values = (float *)work;", "work"),
            ("use((const float*) &work[2]);", "work + 1"),
            ("float *f = (float *)(grid->u);", "grid->u"),
            ("auto f = reinterpret_cast<float *>(halo.data());", "halo.data()"),
            ("memcpy(work, data, sizeof data);", "work"),
            ("std::memcpy(halo.data(), bytes, n);", "halo.data()"),
            ("memmove(&grid->u[3], data, 8);", "grid->u"),
            ("count = read(file, work, n);", "work"),
            ("call fill(c_loc(grid%u))", "grid%u(:, 1)"),
        ] {
            assert!(retyped(line, designator), "{line}");
        }
    }

    #[test]
    fn other_uses_do_not() {
        for (line, designator) in [
            ("int *work = malloc(n * sizeof *work);", "work"),
            ("int *work = (int *)malloc(n * sizeof(int));", "work"),
            ("memset(work, 0, n);", "work"),
            ("memcpy(data, work, n);", "work"),
            ("use((void *)work);", "work"),
            ("free(static_cast<void *>(work));", "work"),
            ("float *f = (float *)other; work[0] = 1;", "work"),
            ("float *f = (float *)workspace;", "work"),
            ("y = (a * b) + work[0];", "work"),
            ("sum += f(a * b, work);", "work"),
        ] {
            assert!(!retyped(line, designator), "{line}");
        }
    }
}
