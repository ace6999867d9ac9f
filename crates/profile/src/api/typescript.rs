//! The viewer's declarations of the answers, `viewer/src/api/types.ts`, are generated from the Rust
//! types. With `BLESS=1` (`make bless`) the test writes the file instead of comparing it.

use super::*;
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use ts_rs::{Config, TS, TypeVisitor};

const HEADER: &str = "\
/**
 * Answers of the profile's API. Generated from crates/profile/src/api/ by `make bless`: change
 * them there. Identifiers are positions in the arrays of `/api/run`; intervals of places and bins
 * include both ends.
 */

/** Traffic of one kind: position in `Run.kinds`, transfers, bytes. */
export type KindTotal = [kind: number, count: number, bytes: number];

/** Waits of one state: position in `Waiting.states`, how many, seconds. */
export type StateTotal = [state: number, count: number, seconds: number];

/** Bytes from an object's beginning that were touched equally often. */
export type Extent = [start: number, bytes: number, count: number];

/**
 * A call in a timeline: `names` and classes by number; it waits from its beginning: 1 for a
 * message, 2 in a collective.
 */
export type Slice = [begin: number, end: number, of: number, name: number, waits: number, wait: number];

/**
 * Bins of a timeline whose calls are too short to be shown: thousandths in calls and waiting,
 * calls, of these folded.
 */
export type Coarse = [
  bin: number,
  bins: number,
  of: number,
  busy: number,
  waiting: number,
  wait: number,
  count: number,
  folded: number,
];
";

/// Collects declarations, each type once, by name: ts-rs visits the types that a type uses in an
/// order that differs between builds.
struct Declarations<'c> {
    config: &'c Config,
    seen: BTreeSet<TypeId>,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        // Only types of ours have a file of their own.
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            let declaration = format!("{docs}export {}", T::decl(self.config));
            self.by_name.insert(T::ident(self.config), tidied(&declaration));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

/// Comments of one line on one line, members on lines of their own, indented.
fn tidied(declaration: &str) -> String {
    let text = declaration.replace("/**\n * ", "/** ").replace("\n */", " */");
    let text = text.replace("= { \n", "= {\n").replace(", };", ",\n};");
    let mut is_inside = false;
    let lines = text.lines().map(str::trim_end).map(|line| {
        is_inside &= line != "};";
        let indent = if is_inside { "  " } else { "" };
        is_inside |= line.ends_with("= {");
        format!("{indent}{line}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn declarations() -> String {
    let config = Config::new().with_large_int("number");
    let mut found =
        Declarations { config: &config, seen: BTreeSet::new(), by_name: BTreeMap::new() };
    found.visit::<Run>();
    found.visit::<Selection>();
    found.visit::<Matrix>();
    found.visit::<WaitMatrix>();
    found.visit::<WaitLines>();
    found.visit::<ObjectDetail>();
    found.visit::<FileDetail>();
    found.visit::<Line>();
    found.visit::<PlaceDetail>();
    found.visit::<Timeline>();
    found.visit::<Comparison>();
    found.visit::<Lanes>();
    found.visit::<Events>();
    found.visit::<Happened>();
    found.visit::<CriticalPath>();
    found.visit::<names::Names>();
    let declarations = found.by_name.values().map(|declaration| format!("\n{declaration}\n"));
    std::iter::once(HEADER.to_owned()).chain(declarations).collect()
}

#[test]
fn the_viewer_knows_these_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer/src/api/types.ts");
    let expected = declarations();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        let present = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(present == expected, "{} is out of date: run `make bless`", path.display());
    }
}
