//! Symbolization: from (module, offset) to functions and source lines, by blazesym.
//!
//! Runs after the program, never in it. What a module lacks (debug information, symbols, the
//! file itself) costs detail, never the finding; [`Symbols::advice`] says how to get it.

use crate::debug_files;
use crate::names;
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized, Symbolizer};
use commsan_findings::Frame;
use commsan_rundir::RankLog;
use commsan_rundir::record::{RawSite, RawVariable};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

/// Every place of a run, looked up once.
#[derive(Default)]
pub struct Symbols {
    frames: HashMap<PathBuf, HashMap<u64, Vec<Frame>>>,
    unreadable: BTreeMap<PathBuf, String>,
    /// Directories of code that is not the user's, besides those of the system.
    libraries: Vec<PathBuf>,
}

impl Symbols {
    /// Looks up all places in `logs`, and more of them, module by module.
    pub(crate) fn of<'l>(
        logs: &'l [RankLog],
        more: impl Iterator<Item = (&'l RankLog, &'l RawSite<'static>)>,
    ) -> Symbols {
        let code_of = |log: &'l RankLog, frames: &mut dyn Iterator<Item = &'l (u32, u64)>| {
            let code = frames.filter(|(module, _)| function(log, *module).is_none());
            let code = code.map(|(module, offset)| (module_path(log, *module), *offset));
            code.collect::<Vec<_>>()
        };
        let sites = logs.iter().flat_map(|log| {
            let sites = log
                .findings
                .iter()
                .flat_map(|observed| observed.finding.sites.iter().chain(&observed.completed));
            let waits = log.waits.iter().flat_map(|(_, waiting)| {
                let operations = waiting.needs.iter().chain(&*waiting.pending);
                let started = operations.filter_map(|need| need.site.as_ref());
                std::iter::once(&waiting.site).chain(started)
            });
            let uses = log.uses.iter().flat_map(|used| &*used.finding.sites);
            let messages = log.messages.values().flat_map(|messages| messages.sites());
            let frames =
                sites.chain(waits).chain(messages).chain(uses).flat_map(|site| &*site.frames);
            let locals = log.uses.iter().filter_map(|used| match &used.variable {
                RawVariable::Local { at, .. } | RawVariable::Block { at, .. } => Some(at),
                RawVariable::Static { .. } => None,
            });
            code_of(log, &mut frames.chain(locals))
        });
        let more = more.flat_map(|(log, site)| code_of(log, &mut site.frames.iter()));
        Symbols::of_places(sites.chain(more))
    }

    /// Looks up places that are known as a module and an offset from its load address, module by
    /// module.
    pub fn of_places<'p>(places: impl IntoIterator<Item = (&'p Path, u64)>) -> Symbols {
        let mut wanted: BTreeMap<&Path, BTreeSet<u64>> = BTreeMap::new();
        for (module, offset) in places {
            wanted.entry(module).or_default().insert(offset);
        }
        let mut symbols = Symbols::default();
        // Names of C functions would be taken for mangled ones.
        let symbolizer = Symbolizer::builder().enable_demangling(false).build();
        for (module, offsets) in wanted {
            symbols.look_up(&symbolizer, module, &offsets.into_iter().collect::<Vec<_>>());
        }
        symbols
    }

    /// These are directories of code that is not the user's.
    pub(crate) fn with_libraries(self, libraries: &[PathBuf]) -> Symbols {
        Symbols { libraries: libraries.to_vec(), ..self }
    }

    /// What was found at `offset`, innermost first: inlined functions, then the one that holds
    /// them. Empty for places that were not looked up.
    pub fn frames(&self, module: &Path, offset: u64) -> &[Frame] {
        self.frames.get(module).and_then(|offsets| offsets.get(&offset)).map_or(&[], Vec::as_slice)
    }

    /// The call stack of a site of `log`, without frames that are not the user's.
    pub(crate) fn stack(&self, log: &RankLog, site: &RawSite<'_>) -> Vec<Frame> {
        let is_line = |(module, _): &&(u32, u64)| function(log, *module).is_some();
        let lines = site.frames.iter().take_while(is_line).map(|(module, line)| Frame {
            function: function(log, *module).map(ToOwned::to_owned),
            file: Some(module_path(log, *module).to_string_lossy().into_owned()),
            line: u32::try_from(*line).ok(),
            column: None,
            module: String::new(),
            offset: 0,
            inlined: false,
            within: Vec::new(),
        });
        let lines: Vec<_> = lines.collect();
        let code = site.frames[lines.len()..].iter().flat_map(|(module, offset)| {
            self.frames(module_path(log, *module), *offset).iter().cloned()
        });
        let stack = crate::stack::with_lines(lines, code.collect());
        crate::stack::fold(stack, &self.libraries)
    }

    /// What to do about `module` when its places have no source line.
    pub fn advice(&self, module: &str) -> String {
        match self.unreadable.get(Path::new(module)) {
            Some(error) => format!(
                "`{module}` cannot be read ({error}), so its places are shown as addresses: make \
                 the report where the program ran"
            ),
            None => format!(
                "`{module}` has no debug information, so its places have no source lines: compile \
                 it with `-g`, or install the debug symbols of its package"
            ),
        }
    }

    fn look_up(&mut self, symbolizer: &Symbolizer, module: &Path, offsets: &[u64]) {
        // Debug information of libc or MPI is large, and installed apart it is compressed.
        let has_lines = !crate::stack::acts_for_its_caller(&module.to_string_lossy());
        let apart = if has_lines { debug_files::of(module) } else { None };
        let symbols_in = |path: &Path| {
            let mut elf = Elf::new(path);
            elf.debug_syms = has_lines;
            symbolizer.symbolize(&Source::Elf(elf), Input::VirtOffset(offsets))
        };
        // What it cannot read of another file need not be missing here.
        let found = apart.and_then(|apart| symbols_in(&apart).ok());
        let symbols = match found.map_or_else(|| symbols_in(module), Ok) {
            Ok(symbols) => symbols,
            Err(error) => {
                self.unreadable.insert(module.to_owned(), error.to_string());
                vec![]
            }
        };
        let symbols = symbols.iter().map(Some).chain(std::iter::repeat(None));
        let frames = offsets.iter().zip(symbols).map(|(&offset, symbol)| {
            let module = module.to_string_lossy().into_owned();
            (offset, frames(symbol.and_then(Symbolized::as_sym), module, offset))
        });
        self.frames.insert(module.to_owned(), frames.collect());
    }
}

pub(crate) fn module_path(log: &RankLog, module: u32) -> &Path {
    // The reader gives every frame a valid index.
    log.modules.get(module as usize).map_or(Path::new(""), |origin| &origin.path)
}

/// The function that a module stands for, if it is one of a script.
fn function(log: &RankLog, module: u32) -> Option<&str> {
    log.modules.get(module as usize)?.function.as_deref()
}

/// The frames of one address, innermost first: inlined functions, then the one that holds them.
fn frames(symbol: Option<&Sym<'_>>, module: String, offset: u64) -> Vec<Frame> {
    let place = Frame {
        function: None,
        file: None,
        line: None,
        column: None,
        module,
        offset,
        inlined: false,
        within: Vec::new(),
    };
    let Some(symbol) = symbol else { return vec![place] };
    let inlined = symbol.inlined.iter().rev().map(|function| Frame {
        inlined: true,
        within: Vec::new(),
        ..located(&place, &function.name, function.code_info.as_ref())
    });
    let outer = located(&place, &symbol.name, symbol.code_info.as_deref());
    inlined.chain([outer]).collect()
}

fn located(place: &Frame, function: &str, code: Option<&CodeInfo<'_>>) -> Frame {
    let file = code.map(|code| tidied(&code.to_path()));
    Frame {
        function: Some(names::readable(&names::demangled(function), file.as_deref())),
        // Compilers write 0 for code that no line stands for.
        line: code.and_then(|code| code.line).filter(|&line| line > 0),
        column: code.and_then(|code| code.column).filter(|&column| column > 0).map(u32::from),
        file,
        ..place.clone()
    }
}

/// Takes `.` and, where that cannot cross a link, `..` out of a path.
fn tidied(path: &Path) -> String {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if tidy
                    .components()
                    .next_back()
                    .is_some_and(|c| matches!(c, Component::Normal(_)))
                    && !tidy.is_symlink() =>
            {
                tidy.pop();
            }
            component => tidy.push(component),
        }
    }
    tidy.to_string_lossy().into_owned()
}
