//! Where something is, in words.

use commsan_findings::Frame;

pub(super) fn known_place(frame: Option<&Frame>) -> String {
    frame.map_or_else(|| "an unknown place".to_owned(), place)
}

/// Where the innermost frame is, in words: ` at solve.c:7`; nothing if that is not known.
pub(crate) fn at(stack: &[Frame]) -> String {
    stack.first().map_or_else(String::new, |frame| format!(" at {}", place(frame)))
}

/// `heat.c:40`, or what is known instead.
pub fn place(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{}:{line}", file_name(file)),
        _ => match &frame.function {
            Some(function) => format!("`{function}` in {}", file_name(&frame.module)),
            None => address(frame),
        },
    }
}

/// `` `pack` ``, or the address if it has no name.
pub(super) fn function(frame: &Frame) -> String {
    match &frame.function {
        // Not a name of the source.
        Some(function) if function.contains(' ') && !function.contains('(') => {
            format!("the {function}")
        }
        Some(function) => format!("`{function}`"),
        None => format!("code at {}", address(frame)),
    }
}

/// `app+0x1234`.
pub fn address(frame: &Frame) -> String {
    format!("{}+{:#x}", file_name(&frame.module), frame.offset)
}

/// The last component of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
