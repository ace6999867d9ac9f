//! Source files of the places in a report, and which part of a line a place means.

use crate::{Report, names};
use commsan_findings::Site;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// A larger file is generated code or no source at all.
const MAX_FILE: u64 = 16 << 20;

/// Texts of source files, by the name that the debug information gives them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: BTreeMap<String, String>,
}

impl Sources {
    /// Reads the files that sites of `report` lie in. Those that cannot be read are left out.
    ///
    /// Relative names are looked up in the run's working directory.
    pub fn load(report: &Report) -> Sources {
        let sites = report.findings.iter().flat_map(|finding| &finding.sites);
        let mut texts = BTreeMap::new();
        for file in sites.filter_map(|site| site.file.as_ref()) {
            if !texts.contains_key(file) {
                texts.insert(file.clone(), read(&report.run.working_directory.join(file)));
            }
        }
        Sources { texts: texts.into_iter().filter_map(|(f, text)| Some((f, text?))).collect() }
    }

    /// Sources given as (name, text).
    pub fn from_texts(texts: impl IntoIterator<Item = (String, String)>) -> Sources {
        Sources { texts: texts.into_iter().collect() }
    }

    /// The text of `file`.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.texts.get(file).map(String::as_str)
    }

    /// The text of the site's file and the bytes in it that the site means; `None` when the file
    /// is unknown or too short to be the one that was compiled.
    pub fn locate(&self, site: &Site) -> Option<(&str, Range<usize>)> {
        let file = site.file.as_deref()?;
        let text = self.text(file)?;
        let index = usize::try_from(site.line?).ok()?.checked_sub(1)?;
        let line = text.split_inclusive('\n').nth(index)?;
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let line = line.trim_end_matches(['\n', '\r']);
        // gfortran's columns are those of the statement's end, or none.
        let column = site.column.filter(|_| !names::is_fortran(file));
        let span = column
            .and_then(|column| expression(line, usize::try_from(column).ok()?.checked_sub(1)?))
            .unwrap_or_else(|| statement(line));
        Some((text, start + span.start..start + span.end))
    }
}

fn read(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

/// The name at byte `column` with what it is applied to: `MPI_Send(buf, 1)`, `grid[i][j]`.
/// `None` when no name starts there: compilers point at operators, too, and an operator alone
/// says less than its statement.
fn expression(line: &str, column: usize) -> Option<Range<usize>> {
    let rest = line.get(column..)?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    if name == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut end = name;
    while let Some(length) = bracketed(&rest[end..]) {
        end += length;
    }
    Some(column..column + end)
}

/// Length of the brackets that `text` starts with; up to its end if they close on another line.
fn bracketed(text: &str) -> Option<usize> {
    if !text.starts_with(['(', '[']) {
        return None;
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    Some(text.trim_end().len())
}

/// The line without indentation and trailing comment.
fn statement(line: &str) -> Range<usize> {
    let start = line.len() - line.trim_start().len();
    let code = ["//", "/*", " !"].iter().filter_map(|comment| line.find(comment)).min();
    let end = line[..code.unwrap_or(line.len())].trim_end().len();
    if end > start { start..end } else { start..line.trim_end().len().max(start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(line: &str, column: usize) -> &str {
        let span = expression(line, column - 1).unwrap_or_else(|| statement(line));
        &line[span]
    }

    #[test]
    fn a_place_means_the_expression_it_starts() {
        assert_eq!(marked("  MPI_Isend(buf, f(1), &r); // c", 3), "MPI_Isend(buf, f(1), &r)");
        assert_eq!(marked("  MPI_Isend(buf, 1,", 3), "MPI_Isend(buf, 1,");
        assert_eq!(marked("  grid[i][j] = x;", 3), "grid[i][j]");
        assert_eq!(marked("  grid[i] = x; // why", 11), "grid[i] = x;");
        assert_eq!(marked("  x = 1", 99), "x = 1");
        assert_eq!(marked("  ä(ü", 3), "ä(ü");
        assert_eq!(marked("", 1), "");
        assert_eq!(marked("  // all", 1), "// all");
    }
}
