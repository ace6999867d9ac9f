//! Findings and their source sites.

use commsan_findings::{Code, Finding, Frame, Role, Site};
use commsan_ir::{FORTRAN_PROGRAM, FunctionId, Place, Program};

/// A site at a place in a function.
pub fn at(program: &Program, function: FunctionId, at: Place, role: Role, label: String) -> Site {
    let frame = frame(program, function, at);
    Site {
        role,
        label,
        file: frame.file.clone(),
        line: frame.line,
        column: frame.column,
        function: frame.function.clone(),
        rank: 0,
        thread: 0,
        stack: vec![frame],
    }
}

/// A place in a function, as a frame of a call stack.
pub fn frame(program: &Program, function: FunctionId, at: Place) -> Frame {
    let known = |number: u32| at.file.and((number > 0).then_some(number));
    Frame {
        function: Some(program[function].shown.clone()),
        file: at.file.map(|file| program[file].clone()),
        line: known(at.line),
        column: known(at.column),
        module: program.modules[program[function].module as usize].clone(),
        offset: 0,
        inlined: false,
        within: Vec::new(),
    }
}

/// Directories of code that is not the user's.
const PACKAGED: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];

/// Whether a function is of a header of MPI, the language or a package.
pub fn is_packaged(program: &Program, function: FunctionId) -> bool {
    let file = program[function].at.file.map(|file| &*program[file]);
    file.is_some_and(|file| PACKAGED.iter().any(|with| file.starts_with(with)))
}

/// Whether a function is what flang has put around a Fortran program, which is no line of the
/// source.
pub fn is_around_program(program: &Program, function: FunctionId) -> bool {
    program[function].name == "main" && program.function(FORTRAN_PROGRAM).is_some()
}

/// `line 12`, or `halo.c:12` where another file was spoken of.
pub fn line(program: &Program, place: Place, spoken: Option<Place>) -> String {
    let Some(file) = place.file else { return "an unknown line".to_owned() };
    if spoken.is_some_and(|spoken| spoken.file == place.file) {
        return format!("line {}", place.line);
    }
    let path = &*program[file];
    let name = path.rsplit('/').next().unwrap_or(path);
    format!("{name}:{}", place.line)
}

/// A finding that is certain.
pub fn finding(
    code: Code,
    message: String,
    sites: Vec<Site>,
    why: String,
    help: String,
) -> Finding {
    Finding {
        job: None,
        moments: vec![],
        code,
        title: code.title().to_owned(),
        message,
        count: 0,
        ranks: Vec::new(),
        possible: false,
        sites,
        why,
        help,
    }
}

/// The name of a variable as the source has it: flang's `_QMmoduleEname`.
pub fn shown(name: &str) -> &str {
    let of_flang = name.strip_prefix("_Q").and_then(|rest| rest.rsplit_once('E'));
    of_flang.map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn variables_are_shown_as_the_source_names_them() {
        for (name, shown) in [("_QMstepsElast_one", "last_one"), ("_QFEi", "i"), ("limit", "limit")]
        {
            assert_eq!(super::shown(name), shown);
        }
    }
}
