//! The variable that a source line assigns an allocation to.
//!
//! A line says so if there is one allocation on it and what it is assigned to, or handed the
//! address of, has a name: `double *u = malloc(n)`, `cudaMalloc((void **)&d->u, n)`, `allocate(u(n,
//! m))`. Of lines with more than one, as `allocate(u(n), v(m))`, it must be known which of all of
//! them it is. Else a line says nothing: no name is better than a wrong one. What a function
//! returns as it gets it has the name that its caller gives it.

mod line;

use line::{
    arguments, calls, constructed, is_one_statement, is_word, left_of, only_assignment, path,
    path_before, shaped, without_casts, without_casts_at_end, without_comments,
};
use std::ops::Range;

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
    ("cudaMallocArray", Gives::Argument(0)),
    ("cudaMalloc3DArray", Gives::Argument(0)),
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
    ("emplace_back", Gives::Owner),
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

/// Who allocates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocation<'a> {
    /// The language has `!` for comments and no case.
    pub fortran: bool,
    /// A function of C++'s library allocates for the line: of a container, or `make_unique` and
    /// such.
    pub by_library: bool,
    /// The function that the line is in.
    pub function: &'a str,
}

/// Whether C++'s library allocates for who calls this.
fn is_of_library(name: &str, gives: Gives) -> bool {
    gives == Gives::Owner || name.starts_with("make_")
}

/// The allocators that are called, with where and how they give their result a name.
fn allocators(code: &str, fortran: bool) -> impl Iterator<Item = (usize, &str, Gives)> {
    calls(code).filter_map(move |(at, name)| {
        let same =
            |word: &str| if fortran { word.eq_ignore_ascii_case(name) } else { word == name };
        let (_, gives) = ALLOCATORS.iter().find(|(word, _)| same(word))?;
        Some((at, name, *gives))
    })
}

/// What `line` allocates, if the line shows it.
pub fn assigned(line: &str, allocation: &Allocation) -> Option<String> {
    let code = without_comments(line, allocation.fortran);
    let mut known: Vec<(usize, &str, Gives)> = allocators(&code, allocation.fortran).collect();
    let fits = |(_, name, gives): &(usize, &str, Gives)| {
        is_of_library(name, *gives) == allocation.by_library
    };
    if is_constructor(allocation.function) {
        let members = members(&code);
        let holds = |member: &&Member| known.iter().any(|one| member.arguments.contains(&one.0));
        if !members.is_empty() && allocation.by_library {
            // Which of several are containers, their names do not say.
            let only = members.len() == 1 && known.iter().filter(|one| fits(one)).count() == 0;
            let made = members.len() == 1 && holds(&&members[0]) && known.len() == 1;
            return (only || made).then(|| members[0].name.to_owned());
        }
        let direct: Vec<_> = known.iter().filter(|one| fits(one)).collect();
        if let [one] = *direct
            && let Some(member) = members.iter().find(|member| member.arguments.contains(&one.0))
        {
            return Some(member.name.to_owned());
        }
    }
    if known.iter().any(fits) {
        known.retain(fits);
    }
    match *known {
        [one] => match *names(&code, one) {
            [ref name] => name.clone(),
            _ => None,
        },
        [] if is_one_statement(&code) => {
            only_assignment(&code, allocation.by_library).or_else(|| constructed(&code))
        }
        _ => None,
    }
}

/// What the `number`-th of `all` allocations of `line` is for, if it has as many, and no library's.
pub fn one_of(
    line: &str,
    allocation: &Allocation,
    (number, all): (usize, usize),
) -> Option<String> {
    let code = without_comments(line, allocation.fortran);
    let own = allocators(&code, allocation.fortran)
        .filter(|(_, name, gives)| !is_of_library(name, *gives));
    let names: Vec<Option<String>> = own.flat_map(|one| names(&code, one)).collect();
    // Of `a ? malloc(n) : malloc(m)`, only one is executed.
    (names.len() == all && !code.contains('?')).then(|| names.into_iter().nth(number).flatten())?
}

/// Whether a statement of C adds up the bytes that it allocates: they may be of several types.
pub(crate) fn adds_up(code: &str) -> bool {
    allocators(code, false).any(|(at, name, gives)| {
        let is_counted = name == "new" || is_of_library(name, gives);
        !is_counted
            && arguments(&code[at + name.len()..])
                .is_none_or(|all| all.iter().any(|one| is_sum(one)))
    })
}

/// Whether a `+` stands outside of brackets.
fn is_sum(argument: &str) -> bool {
    let mut depth = 0;
    argument.chars().any(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        c == '+' && depth == 0
    })
}

/// What all allocations of a statement are for, if it shows that of each.
pub(crate) fn all(code: &str, fortran: bool) -> Option<Vec<String>> {
    let own = allocators(code, fortran).filter(|(_, name, gives)| !is_of_library(name, *gives));
    own.flat_map(|one| names(code, one)).collect()
}

/// What all allocations of a statement are for that begins a constructor: members that it
/// initialises.
pub(crate) fn all_of_constructor(code: &str) -> Option<Vec<String>> {
    let members = members(code);
    let own = allocators(code, false).filter(|(_, name, gives)| !is_of_library(name, *gives));
    let member = |(at, ..): (usize, &str, Gives)| {
        let member = members.iter().find(|member| member.arguments.contains(&at))?;
        Some(member.name.to_owned())
    };
    own.map(member).collect()
}

/// An argument of the only call of a function in a statement.
pub(crate) fn argument<'c>(
    code: &'c str,
    function: &str,
    argument: usize,
    fortran: bool,
) -> Option<&'c str> {
    let same = |name: &str| match fortran {
        true => name.eq_ignore_ascii_case(function),
        false => name == function,
    };
    let mut called = calls(code).filter(|(_, name)| same(name));
    let (Some((at, name)), None) = (called.next(), called.next()) else { return None };
    let all = arguments(&code[at + name.len()..])?;
    // Commas of templates are no argument's end.
    let is_whole = |text: &&str| {
        let text = text.replace("->", "");
        text.matches('<').count() == text.matches('>').count()
    };
    all.iter().all(is_whole).then(|| all.get(argument).map(|text| text.trim()))?
}

/// Lines of a statement at most, before that of a call and from there on.
const LINES: (usize, usize) = (6, 16);

/// The statement that a line, from 1, is a part of, without comments; other statements may share
/// its lines.
pub(crate) fn statement(lines: &[String], line: u32, fortran: bool) -> Option<String> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let code = |index: usize| lines.get(index).map(|line| without_comments(line, fortran));
    code(index)?;
    let goes_on = |index: usize| {
        let Some(code) = code(index) else { return false };
        let code = code.trim();
        match fortran {
            true => code.ends_with('&') || code_is_continued(lines.get(index + 1)),
            false => {
                !(code.is_empty() || code.starts_with('#') || code.ends_with([';', '{', '}', ':']))
            }
        }
    };
    let first = (index.saturating_sub(LINES.0)..index).rev().take_while(|line| goes_on(*line));
    let first = first.last().unwrap_or(index);
    let last = (index..index + LINES.1).find(|line| !goes_on(*line))?;
    let joined = (first..=last).filter_map(code).map(|line| match fortran {
        true => line.trim().trim_matches('&').to_owned(),
        false => line,
    });
    Some(joined.collect::<Vec<_>>().join(" "))
}

/// Whether a line of Fortran's fixed form continues the one before: its sixth column says so.
fn code_is_continued(next: Option<&String>) -> bool {
    next.and_then(|next| next.strip_prefix("     "))
        .is_some_and(|next| next.starts_with(['&', '$', '+', '*', '>', '.', '|', '#']))
}

/// What an allocator's call is for: one for each block that it allocates.
fn names(code: &str, (at, name, gives): (usize, &str, Gives)) -> Vec<Option<String>> {
    let before = &code[..at];
    let arguments = || arguments(&code[at + name.len()..]);
    match gives {
        Gives::Result => vec![left_of(before)],
        Gives::Owner => {
            let owner = before.strip_suffix(['.', '>']);
            vec![owner.and_then(|owner| path_before(owner.trim_end_matches('-')))]
        }
        Gives::Argument(number) => vec![
            arguments()
                .and_then(|all| all.get(number).and_then(|argument| path(without_casts(argument)))),
        ],
        Gives::Shape => arguments().map_or_else(|| vec![None], |all| shaped(&all)),
    }
}

/// Whether `line` returns what it allocates, and does nothing else.
pub fn returns(line: &str, fortran: bool) -> bool {
    let code = without_comments(line, fortran);
    let mut known = allocators(&code, fortran);
    let (Some((at, _, Gives::Result)), None) = (known.next(), known.next()) else { return false };
    is_one_statement(code.trim_end().trim_end_matches('}')) && is_return(&code[..at])
}

/// What `line` assigns the result of `function` to, and whether it returns it instead.
pub fn assigned_by(line: &str, function: &str) -> (Option<String>, bool) {
    let code = without_comments(line, false);
    let mut called = calls(&code).filter(|(_, name)| *name == function);
    let (Some((at, _)), None) = (called.next(), called.next()) else { return (None, false) };
    let before = &code[..at];
    let alone = is_one_statement(code.trim_end().trim_end_matches('}'));
    (left_of(before), alone && is_return(before))
}

/// Whether what follows `before` is returned as it is.
fn is_return(before: &str) -> bool {
    let before = without_casts_at_end(before);
    before.is_some_and(|before| before.trim() == "return" || before.ends_with("{ return"))
}

/// The name of a function without its namespace, its class, its parameters and what templates are
/// given.
pub fn base(function: &str) -> String {
    let name = qualified(function);
    name.rsplit([':', ' ', '*', '&']).next().unwrap_or_default().to_owned()
}

/// Whether a function has its class's name.
fn is_constructor(function: &str) -> bool {
    let name = qualified(function);
    let mut parts = name.rsplit("::");
    matches!((parts.next(), parts.next()), (Some(name), Some(class)) if name == class)
}

/// The name of a function without its parameters and what templates are given.
fn qualified(function: &str) -> String {
    let mut depth = 0;
    let mut name = String::with_capacity(function.len());
    for c in function.replace("(anonymous namespace)", "").chars() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth == 0 => break,
            _ if depth == 0 => name.push(c),
            _ => {}
        }
    }
    name.trim_end().to_owned()
}

/// The member that a constructor's allocation is for, by the column that debug information gives
/// it, counted from 1.
pub fn member_at(line: &str, column: u32, function: &str) -> Option<String> {
    let code = without_comments(line, false);
    let at = (column as usize).checked_sub(1)?;
    // A comment before it would move it.
    if !is_constructor(function) || code.get(..at)? != line.get(..at)? {
        return None;
    }
    let holds = |member: &Member| {
        let start = member.arguments.start - member.name.len();
        (start..=member.arguments.end).contains(&at)
    };
    members(&code).into_iter().find(holds).map(|member| member.name.to_owned())
}

/// A member that a constructor begins with.
struct Member<'c> {
    name: &'c str,
    /// Where what it gets stands.
    arguments: Range<usize>,
}

/// Those that a line of a constructor initialises: `Grid(int n) : cells(n), n(n) {`, or a part of
/// that.
fn members(code: &str) -> Vec<Member<'_>> {
    let begin = code.len() - code.trim_start().len();
    let colon = code.match_indices(')').find_map(|(at, _)| {
        let rest = code[at + 1..].trim_start();
        let rest = rest.strip_prefix("noexcept").map_or(rest, str::trim_start);
        let list = rest.strip_prefix(':').filter(|list| !list.starts_with(':'))?;
        Some(code.len() - list.len())
    });
    let mut at = match (code[begin..].starts_with([':', ',']), colon) {
        (true, _) => begin + 1,
        (false, Some(colon)) => colon,
        (false, None) => return vec![],
    };
    let mut members = vec![];
    loop {
        let rest = &code[at..];
        let start = at + rest.len() - rest.trim_start().len();
        let name = code[start..].split(|c| !is_word(c)).next().unwrap_or_default();
        let open = start + name.len();
        if name.is_empty() || !code[open..].starts_with(['(', '{']) {
            return members;
        }
        let mut depth = 0;
        let close = code[open..].char_indices().find(|(_, c)| {
            match c {
                '(' | '{' | '[' => depth += 1,
                ')' | '}' | ']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = close.map_or(code.len(), |(length, _)| open + length);
        members.push(Member { name, arguments: open..end });
        let rest = code.get(end + 1..).unwrap_or_default().trim_start();
        let Some(rest) = rest.strip_prefix(',') else { return members };
        at = code.len() - rest.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_line(line: &str, fortran: bool) -> Option<String> {
        assigned(line, &Allocation { fortran, ..Allocation::default() })
    }

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
            ("float *p = static_cast<float *>(std::aligned_alloc(64, n));", "p"),
            ("auto p = reinterpret_cast<float*>(malloc(n));", "p"),
        ] {
            assert_eq!(of_line(line, false).as_deref(), Some(name), "{line}");
        }
        for (line, name) in [
            ("allocate(u(n, m), stat=ierr)", "u"),
            ("  ALLOCATE ( grid%u(0:n+1) ) ! halo", "grid%u"),
            ("allocate(real(8) :: v(n))", "v"),
            ("call MPI_Win_allocate(bytes, 8, info, comm, base, win, ierr)", "base"),
        ] {
            assert_eq!(of_line(line, true).as_deref(), Some(name), "{line}");
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
            assert_eq!(of_line(line, false), None, "{line}");
        }
        assert_eq!(of_line("allocate(u(n), v(n))", true), None);
        assert_eq!(of_line("! allocate(u(n))", true), None);
    }

    #[test]
    fn statements_span_lines() {
        let of = |text: &str, line, fortran| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let code = statement(&lines, line, fortran).unwrap_or_default();
            code.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let c = "int n;\ndouble *u = // field\n  malloc(n *\n  8);\nMPI_Send(u, 1,\n type);";
        for line in [2, 3, 4] {
            assert_eq!(of(c, line, false), "double *u = malloc(n * 8);");
        }
        assert_eq!(of(c, 6, false), "MPI_Send(u, 1, type);");
        assert_eq!(of(c, 7, false), "");
        let fortran = "n = 1\nallocate(u(n), & ! field\n  v(n))\nw = 1";
        assert_eq!(of(fortran, 2, true), "allocate(u(n), v(n))");
        assert_eq!(of(fortran, 3, true), "allocate(u(n), v(n))");
        assert_eq!(of("      call f(u,\n     &  v)", 1, true), "call f(u, v)");
    }

    #[test]
    fn arguments_are_those_of_the_one_call() {
        let of = |code, number| argument(code, "MPI_Send", number, false);
        assert_eq!(of("rc = MPI_Send(&u[f(1, 2)], n, MPI_INT);", 0), Some("&u[f(1, 2)]"));
        assert_eq!(of("rc = MPI_Send(&u[f(1, 2)], n, MPI_INT);", 2), Some("MPI_INT"));
        assert_eq!(of("MPI_Send(u, 1); MPI_Send(v, 1);", 0), None);
        assert_eq!(of("SEND(u, 1);", 0), None);
        assert_eq!(of("MPI_Send(p<a, b>(u), 1);", 1), None);
        assert_eq!(of("MPI_Send(p->u, 1);", 0), Some("p->u"));
        assert_eq!(argument("call mpi_send(u(:, 1), n)", "MPI_Send", 0, true), Some("u(:, 1)"));
        assert!(adds_up("u = malloc(sizeof *u + n);") && !adds_up("u = malloc((n + 1) * 8);"));
        assert!(!adds_up("u = new T[n + 1];"));
        let names = |code, fortran| all(code, fortran).map(|names| names.join(" "));
        assert_eq!(names("double *u = malloc(n), *v = malloc(n);", false).as_deref(), Some("u v"));
        assert_eq!(names("int (*u)[4] = malloc(n);", false).as_deref(), Some("u"));
        assert_eq!(names("(*u)[4] = malloc(n);", false), None);
        let members = "Grid(int n) : n(n), u(new T[n]), v{new T[n]} {}";
        assert_eq!(
            all_of_constructor(members).map(|names| names.join(" ")).as_deref(),
            Some("u v")
        );
        assert_eq!(all_of_constructor("Grid(int n) : n(n) { u = new T[n]; }"), None);
        assert_eq!(names("use(malloc(n)); u = malloc(n);", false), None);
        assert_eq!(names("allocate(u(n), g%v(n), stat=i)", true).as_deref(), Some("u g%v"));
    }

    #[test]
    fn each_of_several_has_its_name() {
        for (line, fortran, names) in [
            ("allocate(u(n), grid%v(0:n), stat=ierr)", true, &["u", "grid%v"][..]),
            ("double *u = malloc(n), *v = malloc(n);", false, &["u", "v"]),
            ("u = new double[n]; v = new double[n];", false, &["u", "v"]),
            ("cudaMallocHost(&u, n), cudaMallocHost(&v, n);", false, &["u", "v"]),
        ] {
            let allocation = Allocation { fortran, ..Allocation::default() };
            for (number, name) in names.iter().enumerate() {
                let one = |all| one_of(line, &allocation, (number, all));
                assert_eq!(one(names.len()).as_deref(), Some(*name), "{line}");
                assert_eq!(one(names.len() + 1), None, "{line}");
            }
        }
        let either = "u = a ? malloc(n) : 0, v = malloc(n);";
        assert_eq!(one_of(either, &Allocation::default(), (0, 2)), None);
    }

    #[test]
    fn members_have_names() {
        for (line, by_library, name) in [
            (": cells(new T[n]()), n(n)", false, Some("cells")),
            ("Grid(int n) : n(n), cells{new T[n]} {}", false, Some("cells")),
            ("explicit Grid(int n) noexcept : cells(n) {", true, Some("cells")),
            (", cells(std::make_unique<T[]>(n))", true, Some("cells")),
            // Which one of the two is a container?
            (": cells(n), n(n)", true, None),
            ("Grid(int n) : a(n) { b.resize(n); }", true, None),
            ("Grid(int n) : a(new T[n]), b(new T[n]) {}", false, None),
            // Two allocate, one by a library.
            ("u = new T[n], w.resize(n);", false, Some("u")),
            ("u = new T[n], w.resize(n);", true, Some("w")),
            ("copy = other;", true, Some("copy")),
            ("w.resize(f(n));", true, Some("w")),
        ] {
            let allocation =
                Allocation { fortran: false, by_library, function: "sim::Grid<double>::Grid(int)" };
            assert_eq!(assigned(line, &allocation).as_deref(), name, "{line}");
        }
        for (function, is) in [
            ("Grid::Grid(int)", true),
            ("(anonymous namespace)::Grid::Grid()", true),
            ("a::Grid<b::T>::Grid(c::D::D)", true),
            ("Grid::fill(Grid::Grid)", false),
            ("main", false),
        ] {
            assert_eq!(is_constructor(function), is, "{function}");
        }
    }

    #[test]
    fn columns_tell_members_apart() {
        let line = "  explicit Grid(int n) : u(n), v{f(n)} { w.resize(n); }";
        let at = |text: &str| line.find(text).unwrap() as u32 + 1;
        for (column, name) in [
            (at("u(n)"), Some("u")),
            (at("u(n)") + 3, Some("u")),
            (at("v{"), Some("v")),
            (at("f(n)"), Some("v")),
            (at("w.resize"), None),
            (at("explicit"), None),
            (0, None),
            (1000, None),
        ] {
            assert_eq!(member_at(line, column, "Grid::Grid(int)").as_deref(), name, "{column}");
        }
        assert_eq!(member_at(line, at("u(n)"), "Grid::fill(int)"), None);
        assert_eq!(member_at("/* */ Grid(int n) : u(n) {}", 21, "Grid::Grid(int)"), None);
    }

    #[test]
    fn what_is_returned_is_the_callers() {
        for (line, is) in [
            ("return malloc(n);", true),
            ("  return (double *)malloc(n * sizeof(double)); // field", true),
            ("static double *make(int n) { return new double[n]; }", true),
            ("return check(malloc(n));", false),
            ("return u = malloc(n);", false),
            ("return malloc(n) + 1, malloc(m);", false),
        ] {
            assert_eq!(returns(line, false), is, "{line}");
        }
        for (line, name, is) in [
            ("double *u = make(n);", Some("u"), false),
            ("s->u = (double *)sim::make(n);", Some("s->u"), false),
            ("return make(2 * n);", None, true),
            ("int rc = solve(n);", None, false),
            ("solve(make(n));", None, false),
            ("u = make(n), v = make(n);", None, false),
        ] {
            assert_eq!(assigned_by(line, "make"), (name.map(str::to_owned), is), "{line}");
        }
        for (function, name) in [
            ("make", "make"),
            ("make(int)", "make"),
            ("float* sim::alloc<float>(unsigned long)", "alloc"),
            ("Grid<double>::make(int)", "make"),
        ] {
            assert_eq!(base(function), name, "{function}");
        }
    }
}
