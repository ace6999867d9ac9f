//! ARCHITECTURE.md against the Cargo.tomls: its table has each crate once, its arrows are
//! dependencies, and a crate that never "knows MPI" depends on none that does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that know what MPI calls mean.
const KNOW_MPI: [&str; 4] = ["mpi", "mpi-abi", "mpi-calls", "mpi-shim"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The crates of this repository that each crate depends on, but for its tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates =
        crates.map(|entry| entry.unwrap()).filter(|entry| entry.path().join("Cargo.toml").exists());
    crates
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap();
            let manifest: toml::Table = manifest.parse().unwrap();
            let sections = ["dependencies", "build-dependencies"];
            let sections = sections.iter().filter_map(|section| manifest.get(*section)?.as_table());
            let names = sections.flat_map(|section| section.keys());
            let own = names.filter_map(|name| Some(name.strip_prefix("commsan-")?.to_owned()));
            (name, own.collect())
        })
        .collect()
}

/// The rows of the crate table: name, what it never does.
fn rows(text: &str) -> Vec<(String, String)> {
    let table = text.split("| crate | it is | it never |").nth(1).expect("the table of crates");
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines
        .map(|line| {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            let name = cells.next().unwrap().trim_matches('`').to_owned();
            (name, cells.next_back().unwrap().to_owned())
        })
        .collect()
}

/// The chains of the paragraph on dependencies: `a, b → c → d` says that a and b depend on c, and c
/// on d.
fn arrows(text: &str) -> Vec<(String, String)> {
    let from = text.split("Dependencies point one way:").nth(1).expect("the arrows");
    let paragraph = from.split("\n\n").next().unwrap();
    let chains = paragraph.split('`').skip(1).step_by(2).filter(|chain| chain.contains('→'));
    let mut arrows = Vec::new();
    for chain in chains {
        let links: Vec<Vec<&str>> =
            chain.split('→').map(|link| link.split(',').map(str::trim).collect()).collect();
        for pair in links.windows(2) {
            for one in &pair[0] {
                arrows.extend(pair[1].iter().map(|other| (one.to_string(), other.to_string())));
            }
        }
    }
    arrows
}

/// Everything that a crate depends on, however far.
fn reached<'a>(all: &'a BTreeMap<String, BTreeSet<String>>, name: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = all[name].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(all[next].iter().map(String::as_str));
        }
    }
    found
}

#[test]
fn the_table_has_each_crate_once() {
    let mut named: Vec<_> = rows(&text()).into_iter().map(|(name, _)| name).collect();
    named.sort();
    let crates: Vec<_> = dependencies().into_keys().collect();
    assert_eq!(named, crates);
}

#[test]
fn arrows_are_dependencies() {
    let all = dependencies();
    let arrows = arrows(&text());
    assert!(arrows.len() > 15, "{arrows:?}");
    let is_real =
        |(one, other): &&(String, String)| all.get(one).is_some_and(|own| own.contains(other));
    let wrong: Vec<_> = arrows.iter().filter(|arrow| !is_real(arrow)).collect();
    assert!(wrong.is_empty(), "no dependency: {wrong:?}");
}

#[test]
fn crates_that_do_not_know_mpi_depend_on_none_that_does() {
    let all = dependencies();
    let mut checked = 0;
    for (name, never) in rows(&text()).into_iter().filter(|(_, never)| never.contains("knows MPI"))
    {
        let known: Vec<_> =
            reached(&all, &name).into_iter().filter(|other| KNOW_MPI.contains(other)).collect();
        assert!(known.is_empty(), "{name} never {never}, and depends on {known:?}");
        checked += 1;
    }
    assert!(checked > 3, "few rows say so");
}
