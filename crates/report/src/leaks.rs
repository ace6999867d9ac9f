//! Objects that libraries have made on their own and never freed: their user can do nothing about
//! them, so that one note counts them.
//!
//! **Soundness.** Set aside is what code of a library has made: its innermost frame outside MPI
//! lies in a module in a directory of libraries. An object that a library makes and hands to the
//! program, which is to free it through the library, is set aside as well; `--leaks=all` lists it.

use crate::notes::Notes;
use crate::stack;
use commsan_findings::{Code, Finding};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Takes away the leaks that are libraries', and counts them in a note.
pub(crate) fn set_aside(findings: &mut Vec<Finding>, libraries: &[PathBuf], notes: &mut Notes) {
    let mut leaked: BTreeMap<String, u64> = BTreeMap::new();
    findings.retain(|finding| {
        let Some(library) = library_of(finding, libraries) else { return true };
        *leaked.entry(library).or_default() += finding.count;
        false
    });
    if leaked.is_empty() {
        return;
    }
    let objects: u64 = leaked.values().sum();
    let were = if objects == 1 { "MPI object was" } else { "MPI objects were" };
    let libraries: Vec<_> =
        leaked.iter().map(|(library, objects)| format!("{library} ({objects})")).collect();
    let text = format!(
        "{objects} {were} made in libraries and never freed, counted over all ranks: {}; `commsan report --leaks=all` \
         lists them",
        libraries.join(", ")
    );
    notes.add(text, None);
}

/// The name of the library that has made what leaks.
fn library_of(finding: &Finding, libraries: &[PathBuf]) -> Option<String> {
    let made = finding.sites.first().filter(|_| finding.code == Code::ObjectNotFreed)?;
    let path = Path::new(stack::library_of(&made.stack, libraries)?);
    Some(path.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_findings::{Frame, Role, Site};

    fn frame(module: &str, within: Vec<Frame>) -> Frame {
        Frame {
            function: Some("f".to_owned()),
            file: None,
            line: None,
            column: None,
            module: module.to_owned(),
            offset: 0,
            inlined: false,
            within,
        }
    }

    fn leak(code: Code, count: u64, stack: Vec<Frame>) -> Finding {
        let site = Site {
            role: Role::Operation,
            label: String::new(),
            file: None,
            line: None,
            column: None,
            function: None,
            rank: 0,
            thread: 0,
            stack,
        };
        Finding {
            code,
            title: String::new(),
            message: String::new(),
            count,
            ranks: vec![0],
            possible: false,
            sites: vec![site],
            why: String::new(),
            help: String::new(),
            job: None,
            moments: vec![],
        }
    }

    #[test]
    fn what_libraries_leak_is_counted() {
        let scalapack = || frame("/usr/lib/x86_64-linux-gnu/libscalapack.so.2.2", vec![]);
        let own = |within| vec![frame("/home/me/app", within)];
        let mut findings = vec![
            leak(Code::ObjectNotFreed, 2, own(vec![])),
            leak(Code::ObjectNotFreed, 4, own(vec![scalapack()])),
            leak(Code::ObjectNotFreed, 1, vec![scalapack()]),
            leak(Code::ObjectNotFreed, 3, own(vec![frame("/opt/solver/libs.so", vec![])])),
            // The header's code is compiled into the program.
            leak(Code::ObjectNotFreed, 5, own(vec![frame("/home/me/app", vec![])])),
            leak(Code::WindowNotFreed, 6, own(vec![scalapack()])),
        ];
        let mut notes = Notes::default();
        set_aside(&mut findings, &[PathBuf::from("/opt/solver")], &mut notes);
        let left: Vec<_> = findings.iter().map(|finding| finding.count).collect();
        assert_eq!(left, [2, 5, 6]);
        let notes = notes.into_sorted();
        let [note] = &*notes else { panic!("{notes:?}") };
        assert!(note.text.starts_with("8 MPI objects were made in libraries"), "{}", note.text);
        assert!(note.text.contains("libs.so (3), libscalapack.so.2.2 (5)"), "{}", note.text);
    }

    #[test]
    fn no_note_without_leaks() {
        let mut notes = Notes::default();
        set_aside(&mut vec![], &[], &mut notes);
        assert!(notes.into_sorted().is_empty());
    }
}
