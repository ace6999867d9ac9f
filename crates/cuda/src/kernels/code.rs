//! The code of modules and kernels, and the arguments of launches.

use super::accesses::{self, Told};
use super::{Launched, Shape};
use crate::KernelAccess;
use commsan_ptx::{Inputs, Launch, Module, Summary, fatbin};
use cpp_demangle::{DemangleOptions, Symbol};
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// A module's PTX, if it could be read.
#[derive(Debug)]
pub(super) struct Code(Option<Module>);

impl Code {
    /// Reads what a wrapper leads to.
    ///
    /// # Safety
    /// `wrapper` is the address of what a compiler has made.
    pub(super) unsafe fn read(wrapper: usize, architecture: u32) -> Code {
        // SAFETY: as promised.
        let fatbins = unsafe { fatbin::embedded(std::ptr::with_exposed_provenance(wrapper)) };
        let parts = fatbins.unwrap_or_default();
        // What cannot be read is unknown where it is called.
        let modules = parts.iter().filter_map(|fatbin| module(fatbin, architecture)).collect();
        Code(Module::linked(modules).ok())
    }

    /// A kernel by its mangled name; `hosts` are what stands for variables on the host.
    pub(super) fn kernel(&self, name: &str, hosts: &FxHashMap<&str, usize>) -> Option<Known> {
        let module = self.0.as_ref()?;
        let is_it = |f: &&commsan_ptx::Function| f.entry && f.body.is_some() && f.name == name;
        let number = module.functions.iter().position(|f| is_it(&f))?;
        Known::of(module, number as u32, hosts)
    }
}

fn module(fatbin: &[u8], architecture: u32) -> Option<Module> {
    let images = fatbin::read(fatbin).ok()?;
    Module::parse(&fatbin::ptx_for(&images, architecture).ok()?).ok()
}

/// What is known of a kernel, and of its launches so far.
#[derive(Debug)]
pub(super) struct Known {
    /// Its name, demangled.
    pub(super) name: Arc<str>,
    /// Its parameters as they lie in its parameter space.
    parameters: Vec<Range<usize>>,
    summary: Summary,
    /// What findings say of each access.
    told: Vec<Told>,
    /// The bytes of arguments that accesses depend on.
    inputs: Vec<Range<usize>>,
    variables: Vec<Variable>,
    /// By shape, inputs and addresses of variables.
    pub(super) launches: FxHashMap<Box<[u8]>, Launched>,
}

/// A variable of the module that a kernel accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    /// Its index in the module.
    index: u32,
    /// What stands for it on the host, if that knows of it.
    host: Option<usize>,
    /// Bytes.
    size: u64,
}

/// No kernel has more bytes of arguments (CUDA programming guide, technical specifications).
const MAX_ARGUMENTS: u64 = 32764;

impl Known {
    fn of(module: &Module, number: u32, hosts: &FxHashMap<&str, usize>) -> Option<Known> {
        let function = &module.functions[number as usize];
        let parameters: Option<Vec<Range<usize>>> = (function.parameters.iter())
            .map(|p| {
                p.offset
                    .checked_add(p.size)
                    .filter(|end| *end <= MAX_ARGUMENTS)
                    .map(|end| p.offset as usize..end as usize)
            })
            .collect();
        let parameters = parameters?;
        let size = parameters.iter().map(|p| p.end).max().unwrap_or(0);
        let summary = Summary::of(module, number);
        let Inputs { arguments, variables } = summary.inputs();
        let within = |n: u64| (n as usize).min(size);
        let variables = variables.into_iter().map(|index| {
            let variable = &module.variables[index as usize];
            let host = hosts.get(&variable.name[..]).copied();
            Variable { index, host, size: variable.size }
        });
        Some(Known {
            name: demangled(&function.name).into(),
            parameters,
            told: summary.accesses().iter().map(|access| Told::of(module, access)).collect(),
            summary,
            inputs: arguments.iter().map(|r| within(r.start)..within(r.end)).collect(),
            variables: variables.collect(),
            launches: FxHashMap::default(),
        })
    }

    /// What stands on the host for the variables whose addresses accesses depend on.
    pub(super) fn variables(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.variables.iter().map(|variable| variable.host)
    }

    /// Reads the arguments to where they lie in parameter space.
    ///
    /// # Safety
    /// `arguments` points to a pointer for each parameter.
    pub(super) unsafe fn gather(
        &self,
        arguments: *const *const c_void,
        bytes: &mut Vec<u8>,
    ) -> Option<()> {
        bytes.clear();
        for (at, parameter) in self.parameters.iter().enumerate() {
            if arguments.is_null() {
                return None;
            }
            // SAFETY: as promised; each points to as many bytes as the parameter has.
            let argument = unsafe {
                let argument = arguments.add(at).read();
                std::slice::from_raw_parts(argument.cast::<u8>(), parameter.len())
            };
            bytes.resize(parameter.start, 0);
            bytes.extend_from_slice(argument);
        }
        Some(())
    }

    /// What decides what a launch touches.
    pub(super) fn key(
        &self,
        shape: &Shape,
        arguments: &[u8],
        addresses: &[Option<u64>],
        key: &mut Vec<u8>,
    ) {
        key.clear();
        let sizes = shape.grid.iter().chain(&shape.block);
        sizes.for_each(|size| key.extend_from_slice(&size.to_ne_bytes()));
        self.inputs.iter().for_each(|input| key.extend_from_slice(&arguments[input.clone()]));
        let addresses = addresses.iter().map(|address| address.unwrap_or(0));
        addresses.for_each(|address| key.extend_from_slice(&address.to_ne_bytes()));
    }

    /// What a launch touches.
    pub(super) fn accesses(
        &self,
        shape: &Shape,
        arguments: &[u8],
        addresses: &[Option<u64>],
    ) -> Arc<[KernelAccess]> {
        let variable = |index: u32| {
            let at = self.variables.iter().position(|variable| variable.index == index)?;
            addresses.get(at).copied().flatten()
        };
        let &Shape { grid, block } = shape;
        let launch = Launch { grid, block, arguments, variable: &variable };
        let effects = self.summary.effects(&launch);
        let extent = |index: u32| {
            let known = self.variables.iter().find(|variable| variable.index == index)?;
            known.host.map(|_| Some(variable(index)?..variable(index)?.checked_add(known.size)?))
        };
        accesses::of(&effects, &self.told, arguments, &extent).into()
    }
}

/// A kernel's name as its programmer knows it, without parameters and result.
pub fn demangled(name: &str) -> String {
    let name = without_file(name).unwrap_or(name);
    // Asked for no parameters, it would end at those of a lambda among the template's arguments.
    let options = DemangleOptions::new().no_return_type();
    let symbol = Symbol::new(name).ok();
    let demangled = symbol.and_then(|s| s.demangle_with_options(&options).ok());
    demangled.map_or_else(|| name.to_owned(), |name| without_parameters(&name).to_owned())
}

/// The mangled name that nvcc, with `-rdc=true`, makes that of a kernel of only one file of:
/// `__nv_static_26__9455fab7_5_rb_cu_9d52f9b1__Z4fillPi`, where 26 characters name the file.
fn without_file(name: &str) -> Option<&str> {
    let (length, rest) = name.strip_prefix("__nv_static_")?.split_once('_')?;
    rest.get(length.parse().ok()?..)?.strip_prefix('_')
}

/// What stands before the last parentheses.
fn without_parameters(name: &str) -> &str {
    let mut depth = 0;
    let begin = name.rfind(|c| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        depth == 0
    });
    match begin {
        Some(begin) if name.ends_with(')') => &name[..begin],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::demangled;

    #[test]
    fn names_are_those_of_the_source() {
        for (mangled, name) in [
            ("_Z4fillPi", "fill"),
            ("fill", "fill"),
            (
                "_ZN35_GLOBAL__N__5baf6827_7_anon_cu_main2k2IiEEvPT_",
                "(anonymous namespace)::k2<int>",
            ),
            ("_ZN3lib2k5IZ4mainEUlPiE0_EEvS1_T_", "lib::k5<main::{lambda(int*)#2}>"),
            ("_Z5applyIPFvPiEEvT_", "apply<void (*)(int*)>"),
            ("__nv_static_26__9455fab7_5_rb_cu_9d52f9b1__Z4fillPi", "fill"),
            ("__nv_static_26__945", "__nv_static_26__945"),
        ] {
            assert_eq!(demangled(mangled), name);
        }
    }
}
