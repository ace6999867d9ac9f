//! `/api/names`: functions, lines and calls, for the search.

use crate::Profile;
use crate::api::names::{MAX_LINES, NamedFunction, Names};
use std::collections::{BTreeMap, BTreeSet};

/// What is at a line: its function, and calls.
type At<'p> = (Option<usize>, BTreeSet<&'p str>);

impl Profile {
    /// Functions, lines and calls of the program.
    pub fn names(&self) -> Names {
        let model = &self.model;
        // By file and name, the first line.
        let mut first: BTreeMap<(&str, usize), u32> = BTreeMap::new();
        for frame in model.stacks.iter().flatten().filter(|frame| !frame.library) {
            if let (Some(file), Some(line)) = (frame.file, frame.line) {
                let known = first.entry((&frame.function, file)).or_insert(line);
                *known = line.min(*known);
            }
        }
        let numbers: BTreeMap<(&str, usize), usize> =
            first.keys().enumerate().map(|(number, key)| (*key, number)).collect();
        let mut calls: BTreeSet<&str> = BTreeSet::new();
        let mut lines: BTreeMap<(usize, u32), At> = BTreeMap::new();
        for (site, known) in (0..).zip(&model.sites) {
            let call = model.call_of_site(site);
            calls.insert(call);
            let Some(at) = model.line_of_site(site) else { continue };
            let at = model.lines[at as usize];
            let (file, line) = (at.file as usize, at.line);
            let is_there =
                |frame: &&crate::api::Frame| frame.file == Some(file) && frame.line == Some(line);
            let frame = model.stacks[known.stack as usize].iter().find(is_there);
            let function = frame.and_then(|frame| numbers.get(&(&*frame.function, file)).copied());
            let entry = lines.entry((file, line)).or_default();
            entry.0 = entry.0.or(function);
            entry.1.insert(call);
        }
        let calls: Vec<&str> = calls.into_iter().collect();
        let number_of = |call: &str| calls.partition_point(|known| *known < call);
        let more_lines = lines.len().saturating_sub(MAX_LINES);
        Names {
            lines: (lines.iter().take(MAX_LINES))
                .map(|((file, line), (function, of))| {
                    (*file, *line, *function, of.iter().map(|call| number_of(call)).collect())
                })
                .collect(),
            more_lines,
            functions: (first.into_iter())
                .map(|((name, file), line)| NamedFunction { name: name.to_owned(), file, line })
                .collect(),
            calls: calls.into_iter().map(str::to_owned).collect(),
        }
    }
}
