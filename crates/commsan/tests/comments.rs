//! Comments keep CONTRIBUTING.md's rules that a program can check: lines of at most 100 columns,
//! and documentation that needs no neighbour.

use std::fs;
use std::path::{Path, PathBuf};

const MAX_COLUMNS: usize = 100;

/// Directories with sources.
const SOURCES: [&str; 9] = [
    "bench",
    "crates",
    "examples",
    "include",
    "instrument",
    "packaging",
    "scripts",
    "tests",
    "viewer",
];

/// Directories whose files are made from others or come from elsewhere.
const NOT_OURS: [&str; 5] = ["node_modules", "target", "dist", "snapshots", "__pycache__"];

/// How a line begins that is nothing but a comment, by the file's extension.
fn markers(path: &Path) -> &'static [&'static str] {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => &["//"],
        Some("c" | "h" | "cc" | "cpp" | "cu" | "cuh" | "ts" | "tsx" | "css") => &["//", "/*", "* "],
        Some("f90" | "F90") => &["!"],
        Some("py" | "sh" | "toml" | "yml" | "cmake") => &["#"],
        _ if path.file_name().is_some_and(|name| name == "Makefile") => &["#"],
        _ => &[],
    }
}

fn gather(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.map(|entry| entry.unwrap()) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() && !NOT_OURS.iter().any(|name| entry.file_name() == *name) {
            gather(&path, files);
        } else if kind.is_file() && !markers(&path).is_empty() {
            files.push(path);
        }
    }
}

/// Each line of the sources that is a comment, with where it is.
fn comments() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("Makefile"), root.join("Cargo.toml")];
    for directory in SOURCES {
        gather(&root.join(directory), &mut files);
    }
    let mut found = Vec::new();
    for file in files {
        let text = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&text);
        let name = file.strip_prefix(&root).unwrap().display();
        for (number, line) in text.lines().enumerate() {
            if markers(&file).iter().any(|marker| line.trim_start().starts_with(marker)) {
                found.push((format!("{name}:{}", number + 1), line.to_owned()));
            }
        }
    }
    assert!(found.len() > 10_000, "only {} lines of comments found", found.len());
    found
}

/// Marks of test programs (docs/test-cases.md), addresses and rows of tables have one line each.
fn must_be_one_line(line: &str) -> bool {
    ["//~", "//#", "://", "// |", "//! |"].iter().any(|mark| line.contains(mark))
}

#[test]
fn lines_fit_into_100_columns() {
    let long = |line: &str| line.chars().count() > MAX_COLUMNS && !must_be_one_line(line);
    let long: Vec<String> =
        comments().into_iter().filter(|(_, line)| long(line)).map(|(place, _)| place).collect();
    assert!(long.is_empty(), "longer than {MAX_COLUMNS} columns:\n{}", long.join("\n"));
}

#[test]
fn documentation_stands_alone() {
    let leans = |line: &str| {
        let text = line.trim_start().strip_prefix("///").unwrap_or_default().trim();
        text.starts_with("The same") && text.len() < 12 || text.starts_with("As above")
    };
    let leaning: Vec<String> = comments()
        .into_iter()
        .filter(|(_, line)| leans(line))
        .map(|(place, line)| format!("{place}: {line}"))
        .collect();
    assert!(leaning.is_empty(), "say what it is, not what it is like:\n{}", leaning.join("\n"));
}
