//! Notes about functions that a program calls and defines, but for which there is no bitcode, and
//! about programs of a build.

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

/// The file of a program's `main`, as a person names it.
pub fn name(program: &Program) -> Option<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let path = Path::new(program.mains.first()?);
    Some(path.strip_prefix(&here).unwrap_or(path).display().to_string())
}

/// A note about the programs of a build, if there are several.
pub fn programs(programs: &[Program]) -> String {
    const MAX_NAMED: usize = 8;
    let names: Vec<_> = programs.iter().filter_map(name).map(|name| format!("`{name}`")).collect();
    let shown = names[..names.len().min(MAX_NAMED)].join(", ");
    let more = match names.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} programs were analysed, each with the files that its `main` needs: {shown}{more}",
        programs.len()
    )
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
