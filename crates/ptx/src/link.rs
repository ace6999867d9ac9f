//! The device linker (`nvcc -rdc=true`): links several modules into one program by resolving
//! symbols.
//!
//! Operands keep naming symbols of their own module, and [`Program`] says where each of these is
//! defined; or operands are rewritten to the symbols of one merged module ([`Program::merged`],
//! [`Module::linked`]). Symbols without linkage are private to their module. Of several weak
//! definitions the first is taken, unless there is a strong one; of common ones the largest (PTX
//! ISA §11.6). A symbol that no module defines stays undefined: `vprintf` and others belong to the
//! device. `extern` arrays in shared memory are the launch's dynamic shared memory and are defined
//! nowhere.

mod merge;

use crate::module::{Function, Linkage, Module, Variable};
use rustc_hash::FxHashMap;
use std::fmt;

/// A linked program.
#[derive(Clone, Debug)]
pub struct Program {
    modules: Vec<Module>,
    functions: FxHashMap<String, Id>,
    variables: FxHashMap<String, Id>,
}

/// A symbol of a program: its module, and its index among that module's functions or variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id {
    /// Index of the module.
    pub module: u32,
    /// Index within the module.
    pub index: u32,
}

/// Two modules define the same symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    /// The name of the symbol.
    pub name: String,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is defined by two modules of device code", self.name)
    }
}

impl std::error::Error for LinkError {}

impl Program {
    /// Links one or more modules.
    pub fn link(modules: Vec<Module>) -> Result<Program, LinkError> {
        let (mut functions, mut variables) = (Definitions::default(), Definitions::default());
        for (module, at) in modules.iter().zip(0..) {
            for (function, index) in module.functions.iter().zip(0..) {
                let strength = strength(function.linkage, 0).filter(|_| function.body.is_some());
                functions.add(&function.name, strength, Id { module: at, index })?;
            }
            for (variable, index) in module.variables.iter().zip(0..) {
                let strength = strength(variable.linkage, variable.size);
                variables.add(&variable.name, strength, Id { module: at, index })?;
            }
        }
        let (functions, variables) = (functions.finish(), variables.finish());
        Ok(Program { modules, functions, variables })
    }

    /// The modules, in the order given.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The function with an id.
    pub fn function(&self, id: Id) -> &Function {
        &self.modules[id.module as usize].functions[id.index as usize]
    }

    /// The variable with an id.
    pub fn variable(&self, id: Id) -> &Variable {
        &self.modules[id.module as usize].variables[id.index as usize]
    }

    /// The definition, in the whole program, of a function that a module names.
    pub fn resolve_function(&self, id: Id) -> Id {
        let function = self.function(id);
        resolve(&self.functions, &function.name, function.linkage, function.body.is_some(), id)
    }

    /// The definition, in the whole program, of a variable that a module names.
    pub fn resolve_variable(&self, id: Id) -> Id {
        let variable = self.variable(id);
        resolve(&self.variables, &variable.name, variable.linkage, true, id)
    }

    /// The kernel of that name, even if it is private to its module.
    pub fn entry(&self, name: &str) -> Option<Id> {
        let own = || {
            self.modules.iter().zip(0..).find_map(|(module, at)| {
                let (index, function) = module.function(name)?;
                function.body.as_ref().map(|_| Id { module: at, index })
            })
        };
        let found = self.functions.get(name).copied().or_else(own)?;
        self.function(found).entry.then_some(found)
    }

    /// The variable of that name, even if it is private to its module.
    pub fn variable_named(&self, name: &str) -> Option<Id> {
        let own = || {
            self.modules.iter().zip(0..).find_map(|(module, at)| {
                module.variable(name).map(|(index, _)| Id { module: at, index })
            })
        };
        self.variables.get(name).copied().or_else(own)
    }
}

/// The strength of a definition; `None` for a declaration or a private symbol.
fn strength(linkage: Linkage, size: u64) -> Option<Strength> {
    match linkage {
        Linkage::Internal | Linkage::Extern => None,
        Linkage::Common => Some(Strength::Common(size)),
        Linkage::Weak => Some(Strength::Weak),
        Linkage::Visible => Some(Strength::Strong),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Common(u64),
    Weak,
    Strong,
}

#[derive(Default)]
struct Definitions(FxHashMap<String, (Strength, Id)>);

impl Definitions {
    fn add(&mut self, name: &str, strength: Option<Strength>, id: Id) -> Result<(), LinkError> {
        let Some(strength) = strength else { return Ok(()) };
        match self.0.get_mut(name) {
            None => {
                self.0.insert(name.to_owned(), (strength, id));
            }
            Some((Strength::Strong, _)) if strength == Strength::Strong => {
                return Err(LinkError { name: name.to_owned() });
            }
            Some(known) if strength > known.0 => *known = (strength, id),
            Some(_) => {}
        }
        Ok(())
    }

    fn finish(self) -> FxHashMap<String, Id> {
        self.0.into_iter().map(|(name, (_, id))| (name, id)).collect()
    }
}

fn resolve(all: &FxHashMap<String, Id>, name: &str, linkage: Linkage, defined: bool, id: Id) -> Id {
    match linkage {
        Linkage::Internal if defined => id,
        _ => all.get(name).copied().unwrap_or(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::{Base, Operand};

    fn program(texts: &[&str]) -> Result<Program, LinkError> {
        let module = |text: &&str| Module::parse(&format!(".version 9.0\n.target sm_90\n{text}"));
        Program::link(texts.iter().map(|t| module(t).expect("PTX")).collect())
    }

    fn id(module: u32, index: u32) -> Id {
        Id { module, index }
    }

    #[test]
    fn external_symbols_are_found_in_other_modules() {
        let program = program(&[
            ".extern .func f(); .extern .func vprintf(); .extern .global .u32 x;
             .visible .entry k() { call f, (); ret; }",
            ".visible .func f() { ret; } .visible .global .u32 x = 3;",
        ])
        .unwrap();
        assert_eq!(program.entry("k"), Some(id(0, 2)));
        assert_eq!(program.resolve_function(id(0, 0)), id(1, 0));
        assert_eq!(program.resolve_function(id(0, 1)), id(0, 1));
        assert_eq!(program.resolve_variable(id(0, 0)), id(1, 0));
        assert_eq!((program.entry("f"), program.variable_named("x")), (None, Some(id(1, 0))));
    }

    #[test]
    fn internal_symbols_stay_apart_and_strong_ones_win() {
        let program = program(&[
            ".func g() { ret; } .weak .func w() { ret; } .common .global .u32 c[2];",
            ".func g() { trap; } .visible .func w() { trap; } .common .global .u32 c[4];",
        ])
        .unwrap();
        assert_eq!(program.resolve_function(id(0, 0)), id(0, 0));
        assert_eq!(program.resolve_function(id(1, 0)), id(1, 0));
        assert_eq!(program.resolve_function(id(0, 1)), id(1, 1));
        assert_eq!(program.resolve_variable(id(0, 0)), id(1, 0));
    }

    #[test]
    fn merged_modules_name_each_others_symbols() {
        let program = program(&[
            ".extern .func f(); .extern .func vprintf(); .extern .global .u32 x; .global .u32 y;
             .visible .entry k() { call f, (); call vprintf, (); call g, (); ret; }
             .func g() { .reg .b32 %r; ld.global.u32 %r, [y]; ret; }",
            ".func g() { trap; }
             .visible .func f() { .reg .b32 %r; ld.global.u32 %r, [x]; call g, (); ret; }
             .global .u32 y; .visible .global .u32 x = 3; .visible .global .u64 p = x;",
        ]);
        let merged = program.unwrap().merged();
        let symbols = |name: &str| {
            let (_, function) = merged.function(name).expect(name);
            let operands = &function.body.as_ref().expect("a body").operands;
            let named = operands.iter().filter_map(|operand| match operand {
                Operand::Address(Base::Function(at), _) => {
                    Some(&merged.functions[*at as usize].name[..])
                }
                Operand::Memory(Base::Variable(at), _) => {
                    Some(&merged.variables[*at as usize].name[..])
                }
                _ => None,
            });
            named.collect::<Vec<_>>()
        };
        assert_eq!(merged.functions.len(), 5);
        assert_eq!(symbols("k"), ["f", "vprintf", "g"]);
        assert_eq!(symbols("f"), ["x", "g"]);
        assert_eq!(symbols("g"), ["y"]);
        assert_eq!(merged.variables.iter().filter(|v| v.name == "y").count(), 1);
        let initial = merged.variable("p").and_then(|(_, p)| p.initial.as_ref());
        let x = merged.variable("x").expect("a variable");
        assert_eq!(initial.expect("a value").relocations[0].symbol, Base::Variable(x.0));
        assert_eq!(x.1.linkage, Linkage::Visible);
    }

    #[test]
    fn two_strong_definitions_are_an_error() {
        let text = ".visible .func f() { ret; }";
        assert_eq!(program(&[text, text]).unwrap_err().name, "f");
    }
}
