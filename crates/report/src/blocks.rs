//! What allocated memory is of: the type of the elements of blocks that are passed to MPI.
//!
//! **Soundness.** Two independent witnesses must agree to the byte. The allocation: the pointer,
//! member or Fortran array that the line of the call assigns it to, or what C++'s library is given
//! as a template's argument. And the call: what the expression that the line passes points to, by
//! its declarations ([`crate::designator`]). So memory that is used as another type on purpose,
//! through a cast or another pointer, is of no certain type, nor is `void *`; nor is what the
//! sources of either statement give another type elsewhere ([`crate::retyped`]). Sources that are
//! newer than the program say nothing. Missed are functions that allocate for others and return
//! `void *`, statements that hide in macros, expressions that call functions, and buffers that a
//! function gets as `void *`.

use crate::assigned;
use crate::designator::{self, Place};
use crate::names::is_fortran;
use crate::retyped;
use crate::shape::Shape;
use crate::variables::{Function, Kind, Lookup, Type};
use commsan_findings::Frame;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A larger file is generated code or no source at all.
const MAX_FILE: u64 = 16 << 20;

/// Functions of C++'s library that allocate, and whether their class's template is given the type,
/// or their own.
const LIBRARY: [(&str, Option<&[&str]>); 3] = [
    ("allocate", Some(&["new_allocator<", "__new_allocator<", "allocator<"])),
    ("make_unique", None),
    ("make_unique_for_overwrite", None),
];

/// Of an allocation, what is certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// The type of its elements.
    pub shape: Shape,
    /// What it is assigned to: `u`, `grid%u`; nothing where a library allocates.
    pub name: Option<String>,
}

/// What witnesses have said: many ranks ask the same.
#[derive(Default)]
pub(crate) struct Blocks {
    /// Sources, by the names in debug information.
    sources: HashMap<String, Option<Vec<String>>>,
    /// By module and address.
    allocated: HashMap<(PathBuf, u64), Option<Allocation>>,
    /// By module, address and which argument of the call.
    passed: HashMap<(PathBuf, u64, usize), Option<Shape>>,
}

impl Blocks {
    /// What the call before `address` allocates memory for; `frames` are those of the address.
    pub fn allocated(
        &mut self,
        module: &Path,
        lookup: &Lookup<'_>,
        address: u64,
        frames: &[Frame],
    ) -> Option<Allocation> {
        let key = (module.to_owned(), address);
        if let Some(known) = self.allocated.get(&key) {
            return known.clone();
        }
        let found = self.find_allocated(module, lookup, address, frames);
        self.allocated.insert(key, found.clone());
        found
    }

    fn find_allocated(
        &mut self,
        module: &Path,
        lookup: &Lookup<'_>,
        address: u64,
        frames: &[Frame],
    ) -> Option<Allocation> {
        let function = *lookup.functions(address).first()?;
        if let Some(of) = by_library(lookup, function) {
            return Some(Allocation { shape: lookup.shape(of)?, name: None });
        }
        let frame = frames.first()?;
        let (file, line) = (frame.file.as_deref()?, frame.line?);
        let fortran = is_fortran(file);
        let code = self.statement(module, file, line, fortran)?;
        if !fortran && assigned::adds_up(&code) {
            return None;
        }
        if assigned::returns(&code, fortran) {
            let Kind::Pointer(to) = lookup.kind(lookup.returned(function)?)? else { return None };
            return Some(Allocation { shape: lookup.shape(to?)?, name: None });
        }
        let names = match is_constructor(lookup, function) {
            true => assigned::all_of_constructor(&code).or_else(|| assigned::all(&code, fortran)),
            false => assigned::all(&code, fortran),
        }?;
        if names.iter().any(|name| self.is_retyped(module, file, name)) {
            return None;
        }
        let place = Place { lookup, function, line };
        let mut shapes = names.iter().map(|name| lookup.shape(designator::memory(name, place)?));
        let shape = shapes.next()??;
        // Which of several on a line this one is, nobody says.
        let all_alike = shapes.all(|other| other.as_ref() == Some(&shape));
        let name = (names.len() == 1).then(|| names[0].clone());
        all_alike.then_some(Allocation { shape, name })
    }

    /// What the argument of an MPI call points to, by the call's expression for it.
    pub fn passed(
        &mut self,
        module: &Path,
        lookup: &Lookup<'_>,
        frame: &Frame,
        (call, argument): (&str, usize),
    ) -> Option<Shape> {
        let key = (module.to_owned(), frame.offset, argument);
        if let Some(known) = self.passed.get(&key) {
            return known.clone();
        }
        let found = self.find_passed(module, lookup, frame, (call, argument));
        self.passed.insert(key, found.clone());
        found
    }

    fn find_passed(
        &mut self,
        module: &Path,
        lookup: &Lookup<'_>,
        frame: &Frame,
        (call, argument): (&str, usize),
    ) -> Option<Shape> {
        let function = *lookup.functions(frame.offset).first()?;
        let (file, line) = (frame.file.as_deref()?, frame.line?);
        let fortran = is_fortran(file);
        let code = self.statement(module, file, line, fortran)?;
        let text = assigned::argument(&code, call, argument, fortran)?;
        if self.is_retyped(module, file, text) {
            return None;
        }
        lookup.shape(designator::memory(text, Place { lookup, function, line })?)
    }

    /// The statement that a line is part of, without comments.
    fn statement(&mut self, module: &Path, file: &str, line: u32, fortran: bool) -> Option<String> {
        assigned::statement(self.lines(module, file)?, line, fortran)
    }

    /// Whether a file gives what a designator leads to another type.
    fn is_retyped(&mut self, module: &Path, file: &str, designator: &str) -> bool {
        self.lines(module, file).is_some_and(|lines| retyped::is_retyped(lines, designator))
    }

    fn lines(&mut self, module: &Path, file: &str) -> Option<&[String]> {
        let read = || read(module, file);
        self.sources.entry(file.to_owned()).or_insert_with(read).as_deref()
    }
}

/// Whether a function has its class's name.
fn is_constructor(lookup: &Lookup<'_>, function: Function) -> bool {
    let class = lookup.class_of(function).and_then(|class| lookup.type_name(class));
    let name = |name: Option<String>| Some(name?.split('<').next()?.to_owned());
    class.is_some() && name(class) == name(lookup.function_name(function))
}

/// The type that a function of C++'s library allocates elements of.
fn by_library(lookup: &Lookup<'_>, function: Function) -> Option<Type> {
    let name = lookup.function_name(function)?;
    // Older compilers put what a template is given into the name.
    let name = name.split('<').next()?;
    let (_, classes) = LIBRARY.iter().find(|(known, _)| *known == name)?;
    let Some(classes) = classes else {
        let given = lookup.given_to(function)?;
        return match lookup.kind(given)? {
            Kind::Array(each, _) => Some(each),
            _ => Some(given),
        };
    };
    let class = lookup.class_of(function)?;
    let name = lookup.type_name(class)?;
    classes.iter().any(|known| name.starts_with(known)).then(|| lookup.given_to_class(class))?
}

/// The lines of a source that is no newer than what was compiled from it.
fn read(module: &Path, file: &str) -> Option<Vec<String>> {
    let path = Path::new(file);
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let written = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    if !path.is_absolute() || metadata.len() > MAX_FILE || written(path)? > written(module)? {
        return None;
    }
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    Some(text.lines().map(str::to_owned).collect())
}
