//! The documentation hangs together: tables of finding codes are those of the code table, every
//! page is in the index, relative links lead somewhere.
//!
//! With `BLESS=1` (`make bless`) tables are written instead of compared.

use commsan_findings::{Code, Severity};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README, ARCHITECTURE, CONTRIBUTING, and what lies in `docs`.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name));
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut pages: Vec<_> = top.into_iter().chain(docs).collect();
    pages.sort();
    pages
}

/// A table of the codes that begin with one of `prefixes`, or of all.
fn table(prefixes: &[&str]) -> String {
    let mut text = "| code | finding |\n|---|---|\n".to_owned();
    let wanted = |code: &&Code| {
        prefixes.is_empty() || prefixes.iter().any(|prefix| code.id().starts_with(prefix))
    };
    for code in Code::ALL.iter().filter(wanted) {
        let warning = match code.severity() {
            Severity::Warning => " (warning)",
            Severity::Error => "",
        };
        text += &format!("| {code} | {}{warning} |\n", code.title());
    }
    text
}

/// Between `<!-- findings CS-COL CS-MSG-01: generated -->` and `<!-- end of findings -->` stands
/// the table of the codes that begin so.
#[test]
fn tables_of_findings_are_those_of_the_code_table() {
    const BEGIN: &str = "<!-- findings";
    const END: &str = "<!-- end of findings -->";
    let mut has_all = false;
    for path in pages() {
        let old = fs::read_to_string(&path).unwrap();
        let mut new = String::new();
        let mut rest = old.as_str();
        while let Some((before, after)) = rest.split_once(BEGIN) {
            let (prefixes, after) = after.split_once(": generated -->\n").unwrap();
            let (_, after) = after.split_once(END).expect("the table's end is marked");
            let listed: Vec<_> = prefixes.split_whitespace().collect();
            has_all |= listed.is_empty();
            new += &format!("{before}{BEGIN}{prefixes}: generated -->\n{}{END}", table(&listed));
            rest = after;
        }
        new += rest;
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, new).unwrap();
        } else {
            assert!(old == new, "{} is out of date: run `make bless`", path.display());
        }
    }
    assert!(has_all, "no page lists all codes");
}

/// Between `<!-- counters: generated -->` and `<!-- end of counters -->` stands the table of what
/// `--stats` counts.
#[test]
fn the_table_of_counters_is_that_of_the_code() {
    let path = root().join("docs/statistics.md");
    let old = fs::read_to_string(&path).unwrap();
    let (before, after) = old.split_once("<!-- counters: generated -->\n").unwrap();
    let (_, after) = after.split_once("<!-- end of counters -->").unwrap();
    let table = commsan_report::stats::documentation();
    let new =
        format!("{before}<!-- counters: generated -->\n{table}<!-- end of counters -->{after}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, new).unwrap();
    } else {
        assert!(old == new, "{} is out of date: run `make bless`", path.display());
    }
}

/// What plugins of compilers know of MPI's Fortran procedures: how many arguments they have. Those
/// with strings, whose lengths come behind the others, are left out.
#[test]
fn fortran_calls_are_those_of_the_call_table() {
    let path = root().join("instrument/hooks/fortran_calls.h");
    let rows = commsan_mpi_calls::CALLS.iter().filter(|call| call.name.starts_with("MPI_"));
    let rows = rows.filter(|call| !call.params.is_empty() || call.name == "MPI_Finalize");
    let rows: BTreeSet<String> = rows
        .filter(|call| call.fortran_arguments().1 == 0)
        .map(|call| {
            let (arguments, _) = call.fortran_arguments();
            format!("      {{\"{}_\", {arguments}}},\n", call.name.to_ascii_lowercase())
        })
        .collect();
    let expected = format!("{FORTRAN_CALLS_BEGIN}{}{FORTRAN_CALLS_END}", String::from_iter(rows));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text == expected, "fortran_calls.h: `make bless` writes it anew");
}

const FORTRAN_CALLS_BEGIN: &str = r#"/* MPI's Fortran procedures and how many arguments they have, `ierror` included: for both compilers'
 * plugins. Generated from crates/mpi-calls/src/calls.txt by `make bless`. */
#ifndef COMMSAN_FORTRAN_CALLS_H
#define COMMSAN_FORTRAN_CALLS_H

#include <stdbool.h>
#include <string.h>

/* Whether a call passes one argument less than the procedure has. */
static inline bool commsan_lacks_ierror(const char *name, unsigned arguments) {
  static const struct {
    const char *name;
    unsigned arguments;
  } procedures[] = {
"#;

const FORTRAN_CALLS_END: &str = r#"  };
  if (strncmp(name, "mpi_", 4)) return false;
  for (unsigned i = 0; i < sizeof procedures / sizeof *procedures; i++)
    if (!strcmp(name, procedures[i].name)) return arguments + 1 == procedures[i].arguments;
  return false;
}

#endif
"#;

/// Targets of the Markdown links in `text`, code aside.
fn links(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let targets = prose.flat_map(|line| {
        let ends = line.split("](").skip(1);
        ends.filter_map(|after| after.split_once(')').map(|(target, _)| target))
    });
    targets.collect()
}

/// As GitHub names headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let names = headings.map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-")
    });
    names.collect()
}

#[test]
fn relative_links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let leads = target.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor));
            if !leads {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_index() {
    let docs = root().join("docs");
    let index = fs::read_to_string(docs.join("README.md")).unwrap();
    let linked: BTreeSet<_> = links(&index).into_iter().map(|link| docs.join(link)).collect();
    let mine = pages().into_iter().filter(|page| page.parent() == Some(&docs));
    let missing: Vec<_> =
        mine.filter(|page| !page.ends_with("README.md") && !linked.contains(page)).collect();
    assert!(missing.is_empty(), "not in docs/README.md: {missing:?}");
}
