//! Merges a linked program into a single module, for analyses that read one module.

use super::{Id, LinkError, Program};
use crate::instruction::{Base, Operand};
use crate::module::{Body, Function, Linkage, Module, Targets, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

impl Module {
    /// Links modules and merges them into one; a single module stays as it is.
    pub fn linked(modules: Vec<Module>) -> Result<Module, LinkError> {
        match <[Module; 1]>::try_from(modules) {
            Ok([module]) => Ok(module),
            Err(modules) => Ok(Program::link(modules)?.merged()),
        }
    }
}

impl Program {
    /// Merges all definitions into one module and rewrites operands accordingly. Private functions
    /// may share names; variables get unique names.
    pub fn merged(&self) -> Module {
        let numbers = Numbers::of(self);
        let mut merged = Module::default();
        if let Some(first) = self.modules.first() {
            (merged.target, merged.address_size) = (first.target.clone(), first.address_size);
        }
        for (module, at) in self.modules.iter().zip(0..) {
            let (files, names) = (merged.files.len() as u32, merged.names.len() as u32);
            merged.version = merged.version.max(module.version);
            merged.files.extend(module.files.iter().cloned());
            merged.names.extend(module.names.iter().cloned());
            let part = Part { program: self, numbers: &numbers, module: at, files, names };
            let functions = module.functions.iter().zip(0..);
            let own = functions.filter(|(_, index)| part.is_own_function(*index));
            merged.functions.extend(own.map(|(function, _)| part.function(function)));
            let variables = module.variables.iter().zip(0..);
            let own = variables.filter(|(_, index)| part.is_own_variable(*index));
            merged.variables.extend(own.map(|(variable, _)| part.variable(variable)));
        }
        make_names_unique(&mut merged.variables);
        for (file, number) in merged.files.iter_mut().zip(1..) {
            file.number = number;
        }
        merged
    }
}

/// Renames private variables, such as texts to print, so that names are unique.
fn make_names_unique(variables: &mut [Variable]) {
    let shared = variables.iter().filter(|variable| variable.linkage != Linkage::Internal);
    let mut seen: FxHashSet<String> = shared.map(|variable| variable.name.clone()).collect();
    let own = variables.iter_mut().filter(|variable| variable.linkage == Linkage::Internal);
    for (variable, number) in own.zip(0..) {
        if !seen.insert(variable.name.clone()) {
            // `#` is not part of any name in PTX.
            variable.name = format!("{}#{number}", variable.name);
        }
    }
}

/// The numbers of symbols in the merged module.
struct Numbers {
    functions: FxHashMap<Id, u32>,
    variables: FxHashMap<Id, u32>,
}

impl Numbers {
    fn of(program: &Program) -> Numbers {
        let count = |symbols: fn(&Module) -> usize, resolve: &dyn Fn(Id) -> Id| {
            let modules = program.modules.iter().zip(0..);
            let all = modules.flat_map(|(m, module)| {
                (0..symbols(m) as u32).map(move |index| Id { module, index })
            });
            all.filter(|id| resolve(*id) == *id).zip(0..).collect()
        };
        Numbers {
            functions: count(|m| m.functions.len(), &|id| program.resolve_function(id)),
            variables: count(|m| m.variables.len(), &|id| program.resolve_variable(id)),
        }
    }
}

/// One of the modules, while it is merged.
struct Part<'p> {
    program: &'p Program,
    numbers: &'p Numbers,
    module: u32,
    /// Number of files and names of the modules before it.
    files: u32,
    names: u32,
}

impl Part<'_> {
    fn id(&self, index: u32) -> Id {
        Id { module: self.module, index }
    }

    fn is_own_function(&self, index: u32) -> bool {
        self.numbers.functions.contains_key(&self.id(index))
    }

    fn is_own_variable(&self, index: u32) -> bool {
        self.numbers.variables.contains_key(&self.id(index))
    }

    fn renumbered_function(&self, index: u32) -> u32 {
        self.numbers.functions[&self.program.resolve_function(self.id(index))]
    }

    fn base(&self, base: &mut Base) {
        match base {
            Base::Function(index) => *index = self.renumbered_function(*index),
            Base::Variable(index) => {
                *index = self.numbers.variables[&self.program.resolve_variable(self.id(*index))];
            }
            _ => {}
        }
    }

    fn variable(&self, variable: &Variable) -> Variable {
        let mut variable = variable.clone();
        let initial = variable.initial.iter_mut();
        let relocations = initial.flat_map(|initial| &mut initial.relocations);
        relocations.for_each(|relocation| self.base(&mut relocation.symbol));
        variable
    }

    fn function(&self, function: &Function) -> Function {
        let mut function = function.clone();
        if let Some(body) = &mut function.body {
            self.body(body);
        }
        function
    }

    fn body(&self, body: &mut Body) {
        for operand in body.operands.iter_mut().chain(&mut body.elements) {
            if let Operand::Memory(base, _) | Operand::Address(base, _) = operand {
                self.base(base);
            }
        }
        for table in &mut body.tables {
            if let Targets::Call(functions) = &mut table.targets {
                functions.iter_mut().for_each(|f| *f = self.renumbered_function(*f));
            }
        }
        for location in &mut body.locations {
            location.file += self.files;
            if let Some(function) = location.inlined.as_mut().and_then(|i| i.function.as_mut()) {
                *function += self.names;
            }
        }
    }
}
