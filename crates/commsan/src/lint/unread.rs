//! Functions that a program calls and has, and of which nothing was kept to analyse.

use commsan_ir::Program;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A note about those in files that the user has named.
pub fn note(program: &Program, files: &[PathBuf]) -> Option<String> {
    let functions = program.functions.iter().filter(|function| function.body.is_none());
    let names = functions.map(|function| &*function.name);
    let unknown: BTreeSet<&str> = names.filter(|name| !program.aliases.contains(*name)).collect();
    let mut unread = BTreeSet::new();
    for file in files {
        let Ok(bytes) = std::fs::read(file) else { continue };
        unread.extend(own(&bytes).into_iter().filter_map(|name| unknown.get(&*name).copied()));
    }
    let names = unread.iter().next()?;
    let what = match unread.len() {
        1 => format!("`{names}`, which the program calls, was not read"),
        2 => format!("`{names}` and another function that the program calls were not read"),
        more => format!("`{names}` and {} others that the program calls were not read", more - 1),
    };
    Some(format!("{what}: gcc keeps nothing to read; name the sources, or the build by `-p`"))
}

/// Functions in a program or library that come from its own objects, not from libraries linked statically.
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
    // Those of compilers and of MPI have names of their own.
    let foreign = |name: &str| ["__", "MPI_", "PMPI_"].iter().any(|with| name.starts_with(with));
    names.filter(|name| !foreign(name)).map(str::to_owned).collect()
}
