//! The variable that a source line assigns an allocation to.
//!
//! A line says so if there is one allocation on it and what it is assigned to, or handed the address of,
//! has a name: `double *u = malloc(n)`, `cudaMalloc((void **)&d->u, n)`, `allocate(u(n, m))`. Lines with
//! more than one allocation, or none, say nothing: no name is better than a wrong one.

/// Functions, and what gives their result a name.
const ALLOCATORS: &[(&str, Gives)] = &[
    ("malloc", Gives::Result),
    ("calloc", Gives::Result),
    ("realloc", Gives::Result),
    ("reallocarray", Gives::Result),
    ("aligned_alloc", Gives::Result),
    ("memalign", Gives::Result),
    ("valloc", Gives::Result),
    ("mmap", Gives::Result),
    ("new", Gives::Result),
    ("make_unique", Gives::Result),
    ("make_shared", Gives::Result),
    ("nvshmem_malloc", Gives::Result),
    ("nvshmem_align", Gives::Result),
    ("nvshmem_calloc", Gives::Result),
    ("posix_memalign", Gives::Argument(0)),
    ("cudaMalloc", Gives::Argument(0)),
    ("cudaMallocAsync", Gives::Argument(0)),
    ("cudaMallocFromPoolAsync", Gives::Argument(0)),
    ("cudaMallocHost", Gives::Argument(0)),
    ("cudaMallocManaged", Gives::Argument(0)),
    ("cudaMallocPitch", Gives::Argument(0)),
    ("cudaHostAlloc", Gives::Argument(0)),
    ("MPI_Alloc_mem", Gives::Argument(2)),
    ("MPI_Win_allocate", Gives::Argument(4)),
    ("MPI_Win_allocate_shared", Gives::Argument(4)),
    ("ncclMemAlloc", Gives::Argument(0)),
    ("allocate", Gives::Shape),
    ("resize", Gives::Owner),
    ("reserve", Gives::Owner),
    ("assign", Gives::Owner),
    ("push_back", Gives::Owner),
];

/// Where the name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// On the left of `=`.
    Result,
    /// In this argument.
    Argument(usize),
    /// First in Fortran's `allocate(u(n))`.
    Shape,
    /// Before the dot.
    Owner,
}

/// What `line` allocates, if it says so. `fortran`: its language has `!` for comments and no case.
pub fn assigned(line: &str, fortran: bool) -> Option<String> {
    let code = without_comments(line, fortran);
    let mut known = calls(&code).filter_map(|(at, name)| {
        let same =
            |word: &str| if fortran { word.eq_ignore_ascii_case(name) } else { word == name };
        let (_, gives) = ALLOCATORS.iter().find(|(word, _)| same(word))?;
        Some((at, name.len(), *gives))
    });
    match (known.next(), known.next()) {
        (Some((at, length, gives)), None) => match gives {
            Gives::Result => left_of(&code[..at]),
            Gives::Owner => path_before(code[..at].strip_suffix(['.', '>'])?.trim_end_matches('-')),
            Gives::Argument(number) => {
                path(without_casts(arguments(&code[at + length..])?.get(number)?))
            }
            Gives::Shape => shaped(&arguments(&code[at + length..])?),
        },
        (None, _) if is_one_statement(&code) => {
            only_assignment(&code).or_else(|| constructed(&code))
        }
        _ => None,
    }
}

/// Names that are called, with where they begin; `new` needs no parenthesis, templates may come between.
fn calls(code: &str) -> impl Iterator<Item = (usize, &str)> {
    words(code).filter(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        *word == "new" || rest.starts_with('(') || (rest.starts_with('<') && rest.contains(">("))
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(|word| {
        let at = word.as_ptr() as usize - code.as_ptr() as usize;
        (at, word)
    })
}

/// The name before the `=` that `before` ends with, casts and qualifiers taken off.
fn left_of(before: &str) -> Option<String> {
    let mut before = before.trim_end();
    loop {
        let shorter = before.strip_suffix("std::").unwrap_or(before);
        let shorter = match shorter.strip_suffix(')') {
            // A cast, if what it encloses is a type.
            Some(cast) => &cast[..cast.rfind('(')?],
            None => shorter,
        };
        if shorter.len() == before.len() {
            break;
        }
        before = shorter.trim_end();
    }
    // Pointers are assigned by `=>` in Fortran; all others with two characters compare or add.
    let before = before.strip_suffix('=')?;
    if before.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '|', '&', '^', '%']) {
        return None;
    }
    path_before(before)
}

/// `u`, `s->u`, `a.b[i]`, `this%u` at the end of `before`.
fn path_before(before: &str) -> Option<String> {
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
fn path(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('&').trim();
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let fits = text.chars().all(|c| is_word(c) || "->.[]:%+* ".contains(c));
    // A space outside of brackets would make it two.
    let one = text.split(['[', ']']).step_by(2).all(|part| !part.contains([' ', '+', '*']));
    (begins && fits && one && !text.ends_with(':')).then(|| text.to_owned())
}

fn without_casts(argument: &str) -> &str {
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
fn arguments(rest: &str) -> Option<Vec<&str>> {
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

/// The only variable of Fortran's `allocate(u(n), stat=i)`.
fn shaped(arguments: &[&str]) -> Option<String> {
    let mut variables = arguments.iter().filter(|argument| {
        let before = argument.split('(').next().unwrap_or_default();
        !before.contains('=')
    });
    let (Some(variable), None) = (variables.next(), variables.next()) else { return None };
    let name = variable.rsplit_once("::").map_or(*variable, |(_, name)| name);
    // `a%b(3)%c(n)`: what is allocated is the last part.
    let name = match name.rfind('(') {
        Some(open) => &name[..open],
        None => name,
    };
    path(name)
}

/// Whether no other statement can be meant.
fn is_one_statement(code: &str) -> bool {
    let code = code.trim();
    !code.strip_suffix(';').unwrap_or(code).contains(';')
}

/// `u = make(n)`: the only assignment of a line, if what is assigned is called.
fn only_assignment(code: &str) -> Option<String> {
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
    is_call.then(|| path_before(&code[..at])).flatten()
}

/// `std::vector<double> u(n);`
fn constructed(code: &str) -> Option<String> {
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
fn without_comments(line: &str, fortran: bool) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_assigned_has_a_name() {
        for (line, name) in [
            ("u = malloc(n * sizeof *u);", "u"),
            ("  double *u = new double[n];", "u"),
            ("  double *restrict u = (double *)calloc(n, sizeof(double)); // field", "u"),
            ("if ((u = malloc(n)) == NULL) return 1;", "u"),
            ("s->u = (double *) malloc(n);", "s->u"),
            ("g.row[i] = malloc(n);", "g.row[i]"),
            ("g.row[i + 1] = malloc(n);", "g.row[i + 1]"),
            ("auto u = std::make_unique<double[]>(n);", "u"),
            ("cudaMalloc(&d_u, n);", "d_u"),
            ("CHECK(cudaMalloc((void **)&d->u, n * sizeof(float)));", "d->u"),
            ("cudaMalloc(reinterpret_cast<void **>(&d_u), n);", "d_u"),
            ("posix_memalign((void**)&buffer, 64, n);", "buffer"),
            ("MPI_Win_allocate(n * 8, 8, MPI_INFO_NULL, comm, &base, &win);", "base"),
            ("std::vector<double> halo(2 * n);", "halo"),
            ("std::vector<double> halo{f(n), g(n)};", "halo"),
            ("field.resize(n * m, 0.0);", "field"),
            ("u = np.zeros((n, m), dtype=float)  # field", "u"),
            ("self.u = cupy.empty(n)", "self.u"),
            ("int *p = xalloc(n);", "p"),
        ] {
            assert_eq!(assigned(line, false).as_deref(), Some(name), "{line}");
        }
        for (line, name) in [
            ("allocate(u(n, m), stat=ierr)", "u"),
            ("  ALLOCATE ( grid%u(0:n+1) ) ! halo", "grid%u"),
            ("allocate(real(8) :: v(n))", "v"),
            ("call MPI_Win_allocate(bytes, 8, info, comm, base, win, ierr)", "base"),
        ] {
            assert_eq!(assigned(line, true).as_deref(), Some(name), "{line}");
        }
    }

    #[test]
    fn what_is_not_certain_has_none() {
        for line in [
            "u = malloc(n), v = malloc(n);",
            "double *u = new double[n], *v = new double[n];",
            "return malloc(n);",
            "use(malloc(n));",
            "// u = malloc(n);",
            "const char *text = \"u = malloc(n)\";",
            "if (u == malloc(n))",
            "cudaMalloc(pointers + i, n);",
            "cudaMalloc(",
            "x = y;",
            "int t = thread(); std::vector<double> mine(n, t);",
            "std::vector<double> u(n), v(n);",
            "for (i = 0; i < f(n); j = g(i))",
            "",
        ] {
            assert_eq!(assigned(line, false), None, "{line}");
        }
        assert_eq!(assigned("allocate(u(n), v(n))", true), None);
        assert_eq!(assigned("! allocate(u(n))", true), None);
    }
}
