//! Call paths as the user knows them: functions, files and lines.

use crate::api::Frame;
use crate::merge::{Merged, Table};
use crate::model::SourceLine;
use commsan_findings::Frame as Found;
use commsan_report::stack::{is_interpreter, users};
use commsan_report::symbols::Symbols;
use commsan_rundir::traffic;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::Path;

/// Directories of headers that allocate on their caller's behalf.
const LIBRARY_HEADERS: &[&str] = &["/include/c++/", "/include/thrust/", "/include/cuda/std/"];

/// Directories of the system's libraries.
const SYSTEM: &[&str] = &["/usr/lib", "/lib", "[vdso]"];

/// Call paths of a run.
pub struct Stacks {
    /// The user's frames, innermost first; the first is empty.
    pub stacks: Vec<Vec<Frame>>,
    /// By position in [`Merged::stacks`].
    pub of_raw: Vec<u32>,
    /// Paths of source files, ascending.
    pub files: Vec<String>,
    /// Lines, each once.
    pub lines: Vec<SourceLine>,
    /// Line of each call path: the innermost that is known.
    pub line_of: Vec<Option<u32>>,
    /// Column of the frame that identifies an allocation, by position in [`Merged::stacks`].
    pub columns: Vec<Option<u32>>,
    /// Of allocations on lines that have several, by position in [`Merged::objects`]: which of how
    /// many.
    pub nth: FxHashMap<u32, (usize, usize)>,
    /// What to do about modules without lines.
    pub advice: Vec<String>,
}

impl Stacks {
    /// Looks up all call paths. `more_files` get a number, too.
    pub fn of(merged: &Merged, more_files: &BTreeSet<String>) -> Stacks {
        let codes = merged.stacks.iter().flatten().filter_map(|frame| match *frame {
            traffic::Frame::Code(module, offset) => {
                Some((Path::new(&merged.modules[module as usize]), offset))
            }
            traffic::Frame::Line(..) => None,
        });
        let beside = merged.beside.iter().flat_map(|(object, offsets)| {
            let module = first(merged, *object).map(|(module, _)| Path::new(module));
            module.into_iter().flat_map(|module| offsets.iter().map(move |at| (module, *at)))
        });
        let symbols = Symbols::of_places(codes.chain(beside));
        let raw = merged.stacks.iter();
        let found: Vec<Vec<Found>> = raw.map(|stack| frames(stack, merged, &symbols)).collect();
        let files = found.iter().flatten().filter_map(|frame| frame.file.as_ref());
        let files: BTreeSet<&String> = files.chain(more_files).collect();
        let files: Vec<String> = files.into_iter().cloned().collect();
        let mut stacks: Table<Vec<Frame>> = std::iter::once(vec![]).collect();
        let named = |stack: &Vec<Found>| stack.iter().map(|frame| named(frame, &files)).collect();
        let of_raw = found.iter().map(|stack| stacks.insert_full(named(stack)).0 as u32).collect();
        let mut lines: Table<SourceLine> = Table::default();
        let mut line = |stack: &Vec<Frame>| {
            let line = stack.iter().find_map(source_line)?;
            Some(lines.insert_full(line).0 as u32)
        };
        let line_of = stacks.iter().map(&mut line).collect();
        let own = |stack: &Vec<Found>| {
            stack.iter().find(|frame| !is_header(frame.file.as_deref()))?.column
        };
        Stacks {
            columns: found.iter().map(own).collect(),
            line_of,
            of_raw,
            stacks: stacks.into_iter().collect(),
            lines: lines.into_iter().collect(),
            files,
            nth: merged
                .beside
                .keys()
                .filter_map(|at| Some((*at, nth(merged, *at, &symbols)?)))
                .collect(),
            advice: advice(&found, &symbols),
        }
    }

    /// The frames that identify an allocation, from the innermost that is no library's header; else
    /// the outermost, which says more than what allocates within the library. With how many are
    /// skipped.
    pub fn of_allocation(&self, stack: u32) -> (&[Frame], usize) {
        let stack = &self.stacks[stack as usize];
        let own = stack.iter().position(|frame| !frame.library);
        let at = own.unwrap_or(stack.len().saturating_sub(1));
        (&stack[at..], at)
    }

    /// The line of the frames that identify an allocation.
    pub fn line_of_allocation(&self, stack: u32) -> Option<SourceLine> {
        let stack = &self.stacks[stack as usize];
        let own = stack.iter().filter(|frame| !frame.library).find_map(source_line);
        own.or_else(|| stack.iter().rev().find_map(source_line))
    }
}

fn is_header(file: Option<&str>) -> bool {
    LIBRARY_HEADERS.iter().any(|header| file.is_some_and(|file| file.contains(header)))
}

/// Where the call path of an object begins.
fn first(merged: &Merged, object: u32) -> Option<(&str, u64)> {
    let stack = merged.objects.get_index(object as usize)?.stack;
    match *merged.stacks.get_index(stack as usize)?.first()? {
        traffic::Frame::Code(module, offset) => Some((&merged.modules[module as usize], offset)),
        traffic::Frame::Line(..) => None,
    }
}

/// Which of those that its line has allocated an object was, and how many these are.
fn nth(merged: &Merged, object: u32, symbols: &Symbols) -> Option<(usize, usize)> {
    let (module, own) = first(merged, object)?;
    let line = |offset: u64| {
        let frame = symbols.frames(Path::new(module), offset).first()?;
        let file = frame.file.as_deref().filter(|file| !is_header(Some(file)))?;
        Some((file, frame.line?, frame.function.as_deref()))
    };
    let of_line = line(own)?;
    let on_it = |at: &&u64| line(**at).is_some_and(|line| line == of_line);
    let all: Vec<u64> = merged.beside[&object].iter().filter(on_it).copied().collect();
    let at = all.iter().position(|at| *at == own)?;
    (all.len() > 1).then_some((at, all.len()))
}

fn source_line(frame: &Frame) -> Option<SourceLine> {
    Some(SourceLine { file: frame.file? as u32, line: frame.line? })
}

/// The user's frames of a call path. What is known by its line, as frames of kernels and of Python,
/// stays.
fn frames(stack: &[traffic::Frame], merged: &Merged, symbols: &Symbols) -> Vec<Found> {
    let is_line = |frame: &&traffic::Frame| matches!(frame, traffic::Frame::Line(..));
    let leading = stack.iter().take_while(is_line).count();
    let found = |frame: &traffic::Frame| match *frame {
        traffic::Frame::Code(module, offset) => {
            symbols.frames(Path::new(&merged.modules[module as usize]), offset).to_vec()
        }
        traffic::Frame::Line(function, file, line) => vec![Found {
            function: Some(merged.strings[function as usize].clone()),
            file: Some(merged.strings[file as usize].clone()),
            line: Some(line),
            column: None,
            module: String::new(),
            offset: 0,
            inlined: false,
            within: Vec::new(),
        }],
    };
    let mut frames: Vec<Found> = stack[..leading].iter().flat_map(found).collect();
    // What the interpreter does is said by the lines.
    let below = stack[leading..].iter().flat_map(found);
    let below = below.take_while(|frame| leading == 0 || !is_interpreter(&frame.module));
    frames.extend(users(below.collect()));
    frames
}

fn named(frame: &Found, files: &[String]) -> Frame {
    let function = frame.function.clone().unwrap_or_else(|| {
        let module = frame.module.rsplit('/').next().unwrap_or_default();
        format!("{module}+{:#x}", frame.offset)
    });
    let file = frame.file.as_ref().and_then(|file| files.binary_search(file).ok());
    let library = is_header(frame.file.as_deref());
    Frame { function, file, line: frame.line, library }
}

/// What to do where call paths have no line at all.
fn advice(found: &[Vec<Found>], symbols: &Symbols) -> Vec<String> {
    let without = found.iter().filter(|stack| {
        !stack.is_empty() && stack.iter().all(|frame| frame.file.is_none() || frame.line.is_none())
    });
    // What Python has imported need have no lines: its callers' are those that count.
    let is_python = |frame: &Found| frame.file.as_ref().is_some_and(|file| file.ends_with(".py"));
    let imported = found.iter().filter(|stack| stack.first().is_some_and(is_python)).flatten();
    let imported: BTreeSet<&str> = imported.map(|frame| &*frame.module).collect();
    let modules: BTreeSet<&str> = without.map(|stack| &*stack[0].module).collect();
    // Nobody compiles the system's libraries.
    let own = |module: &&&str| !SYSTEM.iter().any(|directory| module.starts_with(directory));
    modules.difference(&imported).filter(own).map(|module| symbols.advice(module)).collect()
}
