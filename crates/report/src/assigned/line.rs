//! Reads a line of source: names, calls, arguments, assignments.

/// Names that are called, with where they begin; `new` needs no parenthesis, templates may come
/// between.
pub(super) fn calls(code: &str) -> impl Iterator<Item = (usize, &str)> {
    words(code).filter(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        *word == "new" || rest.starts_with('(') || (rest.starts_with('<') && rest.contains(">("))
    })
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(|word| {
        let at = word.as_ptr() as usize - code.as_ptr() as usize;
        (at, word)
    })
}

/// `before` without the casts, qualifiers and namespaces that it ends with; nothing if a
/// parenthesis is left open.
pub(super) fn without_casts_at_end(before: &str) -> Option<&str> {
    const CASTS: [&str; 2] = ["static_cast", "reinterpret_cast"];
    let mut before = before.trim_end();
    loop {
        let mut shorter = before;
        if let Some(qualified) = before.strip_suffix("::") {
            shorter = qualified.trim_end_matches(is_word);
        }
        if let Some(cast) = shorter.strip_suffix(')') {
            // A cast, if what it encloses is a type.
            shorter = &cast[..cast.rfind('(')?];
        }
        let template = shorter.strip_suffix('(').and_then(|cast| cast.strip_suffix('>'));
        if let Some(cast) = template.and_then(|cast| cast.rsplit_once("_cast<"))
            && let Some(name) = CASTS
                .iter()
                .find(|name| name.strip_suffix("_cast").is_some_and(|name| cast.0.ends_with(name)))
        {
            shorter = &cast.0[..cast.0.len() + "_cast".len() - name.len()];
        }
        if shorter.len() == before.len() {
            return Some(before);
        }
        before = shorter.trim_end();
    }
}

/// The name before the `=` that `before` ends with, casts and qualifiers taken off.
pub(super) fn left_of(before: &str) -> Option<String> {
    let before = without_casts_at_end(before)?;
    // Pointers are assigned by `=>` in Fortran; all others with two characters compare or add.
    let before = before.strip_suffix('=')?;
    if before.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '|', '&', '^', '%']) {
        return None;
    }
    declared_array(before).or_else(|| path_before(before))
}

/// `u`, of the declaration `int (*u)[4]` at the end of `before`.
fn declared_array(before: &str) -> Option<String> {
    let declarator = before.trim_end().strip_suffix(']')?;
    let (declarator, _) = declarator.split_once(")[")?;
    let (kind, name) = declarator.rsplit_once("(*")?;
    let is_declared = kind.trim_end().ends_with(is_word);
    (is_declared && name.chars().all(is_word)).then(|| path(name))?
}

/// `u`, `s->u`, `a.b[i]`, `this%u` at the end of `before`.
pub(super) fn path_before(before: &str) -> Option<String> {
    let before = before.trim_end();
    let mut start = before.len();
    let mut depth = 0;
    for (at, c) in before.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' => depth -= 1,
            _ if depth > 0 => {}
            '>' if before[..at].ends_with('-') => {}
            '-' if before[at..].starts_with("->") => {}
            '.' | '%' | ':' => {}
            c if is_word(c) => {}
            _ => break,
        }
        start = at;
    }
    path(&before[start..])
}

/// `text`, if it is the name of a variable or of a part of one.
pub(super) fn path(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('&').trim();
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let fits = text.chars().all(|c| is_word(c) || "->.[]:%+* ".contains(c));
    // A space outside of brackets would make it two.
    let one = text.split(['[', ']']).step_by(2).all(|part| !part.contains([' ', '+', '*']));
    (begins && fits && one && !text.ends_with(':')).then(|| text.to_owned())
}

pub(super) fn without_casts(argument: &str) -> &str {
    let argument = argument.trim();
    if let Some(rest) = argument.strip_prefix("reinterpret_cast") {
        let inside = rest.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        return inside.unwrap_or(argument);
    }
    match argument.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, rest)) if !rest.is_empty() => without_casts(rest),
        Some((inside, _)) => inside.trim(),
        None => argument,
    }
}

/// The arguments of a call, from its parenthesis on; all, or none if the line ends before.
pub(super) fn arguments(rest: &str) -> Option<Vec<&str>> {
    let open = rest.find('(')?;
    let rest = &rest[open + 1..];
    let (mut depth, mut start, mut arguments) = (0, 0, vec![]);
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                arguments.push(&rest[start..at]);
                return Some(arguments);
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(&rest[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    // The name may stand on this line, the rest on the next.
    (!arguments.is_empty()).then_some(arguments)
}

/// The variables of Fortran's `allocate(u(n), v(m), stat=i)`.
pub(super) fn shaped(arguments: &[&str]) -> Vec<Option<String>> {
    let variables = arguments.iter().filter(|argument| {
        let before = argument.split('(').next().unwrap_or_default();
        !before.contains('=')
    });
    let name = |variable: &&str| {
        let name = variable.rsplit_once("::").map_or(*variable, |(_, name)| name);
        // `a%b(3)%c(n)`: what is allocated is the last part.
        let name = match name.rfind('(') {
            Some(open) => &name[..open],
            None => name,
        };
        path(name)
    };
    variables.map(name).collect()
}

/// Whether no other statement can be meant.
pub(super) fn is_one_statement(code: &str) -> bool {
    let code = code.trim();
    !code.strip_suffix(';').unwrap_or(code).contains(';')
}

/// `u = make(n)`: the only assignment of a line, if what is assigned is called, or copied by a
/// library.
pub(super) fn only_assignment(code: &str, by_library: bool) -> Option<String> {
    let plain = |(at, _): &(usize, &str)| {
        let (before, after) = (&code[..*at], &code[at + 1..]);
        !before.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '|', '&', '^', '%'])
            && !after.starts_with('=')
            // Named arguments stand within parentheses.
            && before.matches('(').count() == before.matches(')').count()
    };
    let mut found = code.match_indices('=').filter(plain);
    let (Some((at, _)), None) = (found.next(), found.next()) else { return None };
    let is_call = calls(&code[at..]).next().is_some();
    (is_call || by_library).then(|| path_before(&code[..at])).flatten()
}

/// `std::vector<double> u(n);`
pub(super) fn constructed(code: &str) -> Option<String> {
    let code = code.trim().strip_suffix(';')?;
    let (kind, rest) = (code.rsplit_once('>').filter(|(kind, _)| kind.contains('<')))?;
    let (name, _) = rest.split_once(['(', '{'])?;
    let is_one = closes_at_end(&rest[name.len()..]);
    let is_type = kind.starts_with(|c: char| c.is_alphabetic());
    (is_one && is_type).then(|| path(name)).flatten().filter(|name| !name.contains(['.', '-']))
}

/// Whether what `text` opens first is closed by its last character.
fn closes_at_end(text: &str) -> bool {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + c.len_utf8() == text.len();
        }
    }
    false
}

/// The line without comments, and with nothing in its texts.
pub(super) fn without_comments(line: &str, fortran: bool) -> String {
    let mut code = String::with_capacity(line.len());
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => continue,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if fortran && c == '!' => break,
            None if !fortran && c == '#' && !code.trim().is_empty() => break,
            None if !fortran && c == '/' => match rest.as_str().chars().next() {
                Some('/') => break,
                Some('*') => {
                    let comment = rest.as_str();
                    let end = comment.find("*/").map_or(comment.len(), |end| end + 2);
                    rest = comment[end..].chars();
                    continue;
                }
                _ => {}
            },
            None => {}
        }
        code.push(c);
    }
    code
}
