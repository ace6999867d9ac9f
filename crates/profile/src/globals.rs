//! Global variables by address, from symbol tables.

use commsan_report::names::{demangled, readable};
use object::{Object, ObjectSymbol, SymbolKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::path::Path;

/// Variables of modules.
#[derive(Default)]
pub struct Globals {
    modules: FxHashMap<String, Vec<Variable>>,
}

/// A variable of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// From where the module is loaded.
    pub start: u64,
    /// In bytes; 0 if the symbol table does not say.
    pub size: u64,
    /// As the program names it.
    pub name: String,
}

impl Globals {
    /// The variable at `offset` from where `module` is loaded.
    pub fn at(&mut self, module: &str, offset: u64) -> Option<&Variable> {
        if !self.modules.contains_key(module) {
            // Without its file, its variables have no names.
            let variables = read(Path::new(module)).unwrap_or_default();
            self.modules.insert(module.to_owned(), variables);
        }
        let variables = &self.modules[module];
        let after = variables.partition_point(|variable| variable.start <= offset);
        let variable = &variables[after.checked_sub(1)?];
        (offset - variable.start < variable.size.max(1)).then_some(variable)
    }
}

fn read(path: &Path) -> Option<Vec<Variable>> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let data = symbols.filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.is_definition());
    let variable = |symbol: object::Symbol<'_, '_>| {
        let name = plain(symbol.name().ok()?);
        Some(Variable { start: symbol.address(), size: symbol.size(), name })
    };
    let mut variables: Vec<_> = data.filter_map(variable).collect();
    variables.sort_by_key(|variable| variable.start);
    variables.dedup_by_key(|variable| variable.start);
    Some(variables)
}

/// The name that the program gives: without what compilers add to static variables, and to
/// Fortran's.
fn plain(symbol: &str) -> String {
    if let Cow::Owned(name) = demangled(symbol) {
        return name;
    }
    let name = readable(symbol, None);
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('.') {
        Some((variable, rest)) if number(rest) => variable.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name) in [
            ("grid", "grid"),
            ("buffer.0", "buffer"),
            ("__halo_MOD_columns", "halo::columns"),
            ("_ZN4halo4gridE", "halo::grid"),
        ] {
            assert_eq!(plain(symbol), name);
        }
    }

    #[test]
    fn an_address_within_a_variable_is_the_variables() {
        static COMMSAN_TEST_TABLE: [u64; 16] = [7; 16];
        let path = std::env::current_exe().unwrap();
        let variables = read(&path).unwrap();
        // It must not be optimised away.
        assert_eq!(std::hint::black_box(&COMMSAN_TEST_TABLE)[3], 7);
        let table = variables.iter().find(|v| v.name.contains("COMMSAN_TEST_TABLE")).unwrap();
        let mut globals = Globals::default();
        let path = path.to_str().unwrap();
        assert_eq!(globals.at(path, table.start + 127), Some(table));
        assert_ne!(globals.at(path, table.start + 128), Some(table));
        assert_eq!(globals.at("/nowhere", 5), None);
    }
}
