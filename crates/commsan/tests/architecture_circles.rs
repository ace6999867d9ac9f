//! Strongly connected components of module imports: which files of a crate can only be understood
//! together.
//!
//! A module imports what its `use` declarations and its paths that begin with `crate::` or
//! `super::` name. What a module and those inside of it import from each other does not count, nor
//! does what tests import.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files that may import each other in a circle, by crate.
const ALLOWED: &[(&str, usize)] =
    &[("mpi", 6), ("mpi-shim", 6), ("job-shm", 6), ("cuda-shim", 6), ("cuda", 6)];

/// For each module of a crate those that it imports.
type Imports = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

#[test]
fn no_large_circles_of_modules() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (name, allowed) in ALLOWED {
        let imports = imports(&crates.join(name).join("src"));
        assert!(imports.len() > 5, "modules of {name} are found");
        for circle in components(&imports).into_iter().filter(|circle| circle.len() > 1) {
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            let size = circle.len();
            assert!(size <= *allowed, "{name}: {size} modules import each other: {names:?}");
        }
    }
}

/// The modules below a source directory, and what they import.
fn imports(source: &Path) -> Imports {
    let modules: BTreeMap<Vec<String>, PathBuf> = files(source)
        .into_iter()
        .filter_map(|file| Some((module(file.strip_prefix(source).ok()?)?, file)))
        .collect();
    let of = |module: &Vec<String>, file: &PathBuf| {
        let text = code(&fs::read_to_string(file).unwrap());
        let mut found = BTreeSet::new();
        for path in paths(&text) {
            let absolute = absolute(module, &path);
            let longest = (1..=absolute.len()).rev().map(|length| absolute[..length].to_vec());
            let Some(imported) = longest.into_iter().find(|path| modules.contains_key(path)) else {
                continue;
            };
            if !imported.starts_with(module) && !module.starts_with(&imported) {
                found.insert(imported);
            }
        }
        found
    };
    modules.iter().map(|(module, file)| (module.clone(), of(module, file))).collect()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The path of a module by that of its file; `None` for the crate's root and for tests.
fn module(file: &Path) -> Option<Vec<String>> {
    let path = file.with_extension("");
    let mut parts: Vec<String> = path.iter().map(|part| part.to_str().unwrap().into()).collect();
    match parts.last()?.as_str() {
        "lib" | "main" | "tests" => None,
        "mod" => {
            parts.pop();
            Some(parts)
        }
        _ => Some(parts),
    }
}

/// A file without comments and without its tests.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(line));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned()
}

/// The paths that begin with `crate` or `super`, with those of groups written out.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in text.match_indices(root) {
            let before = text[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ':')) {
                let mut rest = &text[at..];
                expand(&mut rest, &[], &mut found);
            }
        }
    }
    found
}

/// Reads a path, or a group of them, that follows a prefix.
fn expand(rest: &mut &str, prefix: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = prefix.to_vec();
    loop {
        *rest = rest.trim_start();
        if let Some(inside) = rest.strip_prefix('{') {
            *rest = inside;
            while !rest.trim_start().starts_with('}') && !rest.trim_start().is_empty() {
                expand(rest, &path, found);
                *rest = rest.trim_start().trim_start_matches(',');
            }
            *rest = rest.trim_start().trim_start_matches('}');
            return;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if !name.is_empty() && name != "self" {
            path.push(name.to_owned());
        }
        *rest = after;
        match after.strip_prefix("::") {
            Some(more) => *rest = more,
            None => break,
        }
    }
    // Another name, a glob, or whatever else stands before the next of a group.
    if !prefix.is_empty() {
        *rest = &rest[rest.find([',', '}', ';']).unwrap_or(rest.len())..];
    }
    found.push(path);
}

/// A path from the crate's root.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    match ups {
        0 => path[1..].to_vec(),
        _ => [&module[..module.len().saturating_sub(ups)], &path[ups..]].concat(),
    }
}

/// The strongly connected components: modules of which each can be reached from each.
fn components(imports: &Imports) -> Vec<BTreeSet<Vec<String>>> {
    let reached: BTreeMap<_, _> =
        imports.keys().map(|module| (module, reachable(imports, module))).collect();
    let mut found: BTreeSet<BTreeSet<Vec<String>>> = BTreeSet::new();
    for (module, all) in &reached {
        let back = all.iter().filter(|other| reached[*other].contains(*module)).cloned();
        found.insert(back.chain([(*module).clone()]).collect());
    }
    found.into_iter().collect()
}

fn reachable(imports: &Imports, from: &Vec<String>) -> BTreeSet<Vec<String>> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for imported in &imports[module] {
            if found.insert(imported.clone()) {
                open.push(imported);
            }
        }
    }
    found
}

#[test]
fn groups_and_parents_are_imported() {
    let text =
        "use crate::a::{self, b::{c, d as e}, f};\nuse super::g::h; fn i() { crate::j::k(1) }";
    let found: BTreeSet<String> = paths(text).into_iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::a",
        "crate::a::b::c",
        "crate::a::b::d",
        "crate::a::f",
        "crate::j::k",
        "super::g::h",
    ];
    assert_eq!(found, expected.map(str::to_owned).into());
    let module = ["x".to_owned(), "y".to_owned()];
    let path = ["super".to_owned(), "g".to_owned()];
    assert_eq!(absolute(&module, &path), ["x", "g"]);
}
