//! Notes about functions that a program calls and defines, but for which there is no bitcode.

use crate::elf;
use commsan_ir::{Program, saved};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A note about functions without bitcode in files that the user has named.
pub fn note(program: &Program, files: &[PathBuf]) -> Option<String> {
    let unknown: BTreeSet<&str> = unread(program).collect();
    let mut missing = BTreeSet::new();
    for file in files {
        let Ok(bytes) = std::fs::read(file) else { continue };
        missing.extend(own(&bytes).into_iter().filter_map(|name| unknown.get(&*name).copied()));
    }
    let names = missing.iter().next()?;
    let what = match missing.len() {
        1 => format!("`{names}`, which the program calls, was not read"),
        2 => format!("`{names}` and another function that the program calls were not read"),
        more => format!("`{names}` and {} others that the program calls were not read", more - 1),
    };
    Some(format!("{what}: gcc keeps nothing to read; name the sources, or the build by `-p`"))
}

/// A note about programs of a build other than the first one.
pub fn programs(program: &Program) -> Option<String> {
    let [first, others @ ..] = &*program.mains else { return None };
    let here = std::env::current_dir().unwrap_or_default();
    let shown = |file: &str| {
        let path = Path::new(file);
        path.strip_prefix(&here).unwrap_or(path).display().to_string()
    };
    let (first, more) = (shown(first), shown(others.first()?));
    let what = match others.len() {
        1 => format!("`{more}`, which has a `main`, too, is"),
        count => format!("`{more}` and {} more files, which have a `main`, too, are", count - 1),
    };
    Some(format!(
        "the program is that of `{first}`; {what} not analysed from there on: name the sources of one program at a time"
    ))
}

/// A note about libraries built by commsan whose functions the program calls, and that the command
/// line does not name.
pub fn libraries(program: &Program, files: &[PathBuf]) -> Option<String> {
    let unknown: BTreeSet<&str> = unread(program).collect();
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let named: BTreeSet<PathBuf> = files.iter().map(|file| absolute(file)).collect();
    let mut found = BTreeSet::new();
    for file in files.iter().filter(|file| is_linked(file)) {
        for library in elf::libraries(file).unwrap_or_default().found {
            // Libraries of the system are not part of the program.
            let of_system = ["/lib", "/usr/lib"].iter().any(|with| library.starts_with(with));
            if of_system || named.contains(&absolute(&library)) {
                continue;
            }
            let Ok(bytes) = std::fs::read(&library) else { continue };
            let Ok(elf) = object::File::parse(&*bytes) else { continue };
            let kept = elf.sections().any(|section| section.name() == Ok(saved::SECTION));
            let mut names = elf.dynamic_symbols().filter(ObjectSymbol::is_definition);
            if kept && names.any(|symbol| symbol.name().is_ok_and(|name| unknown.contains(name))) {
                found.insert(library);
            }
        }
    }
    let mut names = found.iter().map(|path| format!("`{}`", path.display()));
    let first = names.next()?;
    let all = names.fold(first, |all, name| format!("{all}, {name}"));
    Some(format!(
        "the program calls functions of {all}: name the libraries, too, to have them analysed"
    ))
}

/// Whether a file can be an input of a link.
fn is_linked(file: &Path) -> bool {
    let Ok(bytes) = std::fs::read(file) else { return false };
    object::File::parse(&*bytes)
        .is_ok_and(|elf| elf.sections().any(|section| section.name() == Ok(".dynamic")))
}

/// Names of functions that are declared but not defined in the bitcode.
fn unread(program: &Program) -> impl Iterator<Item = &str> {
    let functions = program.functions.iter().filter(|function| function.body.is_none());
    functions.map(|function| &*function.name).filter(|name| !program.aliases.contains(*name))
}

/// Functions in a program or library that come from its own objects, not from static libraries.
fn own(bytes: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(bytes) else { return Vec::new() };
    let is_dynamic = file.sections().any(|section| section.name() == Ok(".dynamic"));
    if !is_dynamic {
        return Vec::new();
    }
    let functions = file.symbols().filter(|symbol| {
        symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text
    });
    let names = functions.filter_map(|symbol| symbol.name().ok());
    // Functions of compilers and of MPI, recognised by their prefixes.
    let foreign = |name: &str| ["__", "MPI_", "PMPI_"].iter().any(|with| name.starts_with(with));
    names.filter(|name| !foreign(name)).map(str::to_owned).collect()
}
