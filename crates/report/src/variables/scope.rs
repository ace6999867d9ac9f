//! Variables, members and functions by name, as the source that is compiled at an address sees
//! them.
//!
//! **Soundness.** A name may be declared several times in a function, and where blocks begin and
//! end is blurred by optimisation: all that it may mean are returned, and only what is true of each
//! is certain. Functions that a compiler has made out of parts of others (lambda expressions,
//! OpenMP's regions) may use variables of these that they do not declare: a name that such a
//! function does not declare means nothing.

use super::{Entry, Lookup, Parents, Slice, has, is_fortran};
use crate::shape::Shape;
use gimli::{AttributeValue, Unit, UnitOffset, constants as dw};
use std::rc::Rc;

/// Levels of classes that others are derived from.
const BASES: usize = 8;

/// A type: its unit, and where it is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    unit: usize,
    at: UnitOffset,
}

/// What a type leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A pointer; to a type, or to anything.
    Pointer(Option<Type>),
    /// A reference.
    Reference(Type),
    /// An array of elements, and whether a descriptor says where they are.
    Array(Type, bool),
    /// A structure or class.
    Structure,
    /// Any other type.
    Other,
}

/// A function that an address lies in, inlined or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    unit: usize,
    /// Its code.
    at: UnitOffset,
    /// What that is an instance of.
    origin: UnitOffset,
}

impl<'d> Lookup<'d> {
    /// The functions that `address` lies in, the innermost first.
    pub fn functions(&self, address: u64) -> Vec<Function> {
        let holds = |unit: &Unit<Slice<'d>>| {
            self.dwarf.unit_ranges(unit).is_ok_and(|ranges| has(ranges, address))
        };
        let Some(index) = self.units.iter().position(holds) else { return Vec::new() };
        let unit = &self.units[index];
        let (mut entries, mut outside, mut found) = (unit.entries(), None, Vec::new());
        while let Ok(Some(entry)) = entries.next_dfs() {
            if outside.is_some_and(|depth| entry.depth() > depth) {
                continue;
            }
            outside = None;
            match entry.tag() {
                dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine
                    if self.is_in(unit, entry, address) == Some(true) =>
                {
                    let (at, link) = (entry.offset(), entry.attr_value(dw::DW_AT_abstract_origin));
                    let origin = match link {
                        Some(AttributeValue::UnitRef(origin)) => origin,
                        _ => at,
                    };
                    found.push(Function { unit: index, at, origin });
                }
                // Procedures may contain others, whose code is not theirs.
                dw::DW_TAG_subprogram if is_fortran(unit) => {}
                dw::DW_TAG_compile_unit
                | dw::DW_TAG_namespace
                | dw::DW_TAG_module
                | dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type => {}
                dw::DW_TAG_lexical_block if !found.is_empty() => {}
                _ => outside = Some(entry.depth()),
            }
        }
        found.reverse();
        found
    }

    /// Whether a function is of Fortran.
    pub fn is_fortran(&self, function: Function) -> bool {
        is_fortran(&self.units[function.unit])
    }

    /// A function's name in the source.
    pub fn function_name(&self, function: Function) -> Option<String> {
        let unit = &self.units[function.unit];
        self.name(unit, &unit.entry(function.origin).ok()?)
    }

    /// What a function returns.
    pub fn returned(&self, function: Function) -> Option<Type> {
        let unit = &self.units[function.unit];
        self.type_of(function.unit, &unit.entry(function.origin).ok()?)
    }

    /// The class that a function is a member of.
    pub fn class_of(&self, function: Function) -> Option<Type> {
        let unit = &self.units[function.unit];
        let entry = unit.entry(function.origin).ok()?;
        let declared = match entry.attr_value(dw::DW_AT_specification) {
            Some(AttributeValue::UnitRef(declared)) => declared,
            _ => function.origin,
        };
        let at = *self.parents(function.unit).get(&declared)?;
        let is_class = [dw::DW_TAG_structure_type, dw::DW_TAG_class_type]
            .contains(&unit.entry(at).ok()?.tag());
        is_class.then_some(Type { unit: function.unit, at })
    }

    /// The first type that the template of a function was given.
    pub fn given_to(&self, function: Function) -> Option<Type> {
        self.given(function.unit, function.origin)
    }

    /// The first type that the template of a class was given.
    pub fn given_to_class(&self, class: Type) -> Option<Type> {
        self.given(class.unit, class.at)
    }

    fn given(&self, unit: usize, at: UnitOffset) -> Option<Type> {
        let is_type = |entry: &Entry<'d>| entry.tag() == dw::DW_TAG_template_type_parameter;
        self.children(unit, at, |entry| is_type(entry).then(|| self.type_of(unit, entry)))
            .into_iter()
            .next()?
    }

    /// The types of all variables that `name` may mean on a line of a function.
    pub fn named(&self, function: Function, name: &str, line: u32) -> Vec<Type> {
        let unit = function.unit;
        let fortran = self.is_fortran(function);
        let is_it = |entry: &Entry<'d>| {
            let found = self.name(&self.units[unit], entry);
            found.is_some_and(|found| match fortran {
                true => found.eq_ignore_ascii_case(name),
                false => found == name,
            })
        };
        let mut scope = Some(function.origin);
        let own = function.at;
        while let Some(at) = scope {
            let mut found = self.declared(unit, at, line, &is_it);
            if at == function.origin && own != at {
                found.extend(self.declared(unit, own, line, &is_it));
            }
            if !found.is_empty() {
                return found;
            }
            if at == function.origin && self.is_made_of_part(function) {
                return Vec::new();
            }
            scope = self.parents(unit).get(&at).copied();
        }
        if let Some(class) = self.class_of(function) {
            let found: Vec<_> = self.member(class, name).into_iter().collect();
            if !found.is_empty() {
                return found;
            }
        }
        self.of_file(unit, &is_it)
    }

    /// Whether a compiler has made the function out of a part of another.
    fn is_made_of_part(&self, function: Function) -> bool {
        let Some(name) = self.function_name(function) else { return true };
        let is_closure = || {
            let class = self.class_of(function).map(|class| self.type_name(class));
            class.is_some_and(|name| name.is_none_or(|name| name.contains("lambda")))
        };
        name.contains("omp") && name.contains('.') || name.contains(".omp") || is_closure()
    }

    /// Variables and parameters of a function, also of its blocks, that `is_it` accepts.
    fn declared(
        &self,
        unit: usize,
        at: UnitOffset,
        line: u32,
        is_it: &dyn Fn(&Entry<'d>) -> bool,
    ) -> Vec<Type> {
        let all = &self.units[unit];
        let Ok(mut entries) = all.entries_at_offset(at) else { return Vec::new() };
        let (mut found, mut outside, mut first) = (Vec::new(), None, true);
        while let Ok(Some(entry)) = entries.next_dfs() {
            if !first && entry.depth() <= 0 {
                break;
            }
            if outside.is_some_and(|depth| entry.depth() > depth) {
                continue;
            }
            outside = None;
            match entry.tag() {
                _ if first => {
                    // Of a module or a unit, only what is declared at its own level.
                    let tag = entry.tag();
                    if tag != dw::DW_TAG_subprogram
                        && tag != dw::DW_TAG_inlined_subroutine
                        && tag != dw::DW_TAG_module
                    {
                        return Vec::new();
                    }
                }
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => {
                    let is_before = self.line(all, entry).is_none_or(|at| at <= u64::from(line));
                    if is_before && is_it(entry) {
                        found.extend(self.type_of(unit, entry));
                    }
                }
                dw::DW_TAG_lexical_block => {}
                _ => outside = Some(entry.depth()),
            }
            first = false;
        }
        found
    }

    /// Variables of a file, of its namespaces and of modules that it uses.
    fn of_file(&self, unit: usize, is_it: &dyn Fn(&Entry<'d>) -> bool) -> Vec<Type> {
        let all = &self.units[unit];
        let (mut entries, mut outside, mut found) = (all.entries(), None, Vec::new());
        while let Ok(Some(entry)) = entries.next_dfs() {
            if outside.is_some_and(|depth| entry.depth() > depth) {
                continue;
            }
            outside = None;
            match entry.tag() {
                dw::DW_TAG_variable if is_it(entry) => found.extend(self.type_of(unit, entry)),
                dw::DW_TAG_compile_unit | dw::DW_TAG_namespace | dw::DW_TAG_module => {}
                _ => outside = Some(entry.depth()),
            }
        }
        found
    }

    /// The type of a member of a structure, or of one that it is derived from.
    pub fn member(&self, structure: Type, name: &str) -> Option<Type> {
        self.parts(structure, dw::DW_TAG_member, name, BASES).into_iter().next()
    }

    /// What the member functions of this name return, in a class or else in those that it is
    /// derived from.
    pub fn method(&self, class: Type, name: &str) -> Vec<Type> {
        self.parts(class, dw::DW_TAG_subprogram, name, BASES)
    }

    /// The types of parts of a structure with this name, or of those that it is derived from,
    /// `bases` levels up.
    fn parts(&self, structure: Type, tag: gimli::DwTag, name: &str, bases: usize) -> Vec<Type> {
        let unit = &self.units[structure.unit];
        let fortran = is_fortran(unit);
        let same = |found: String| match fortran {
            true => found.eq_ignore_ascii_case(name),
            false => found == name,
        };
        let own = self.children(structure.unit, structure.at, |entry| {
            let is_it = entry.tag() == tag && self.name(unit, entry).is_some_and(same);
            is_it.then(|| self.type_of(structure.unit, entry)).flatten()
        });
        if !own.is_empty() || bases == 0 {
            return own;
        }
        let all = self.children(structure.unit, structure.at, |entry| {
            let is_base = entry.tag() == dw::DW_TAG_inheritance;
            is_base.then(|| self.type_of(structure.unit, entry)).flatten()
        });
        let plain = all.into_iter().filter_map(|base| self.plain(base));
        plain.flat_map(|base| self.parts(base, tag, name, bases - 1)).collect()
    }

    /// What a type leads to, names and qualifiers taken off.
    pub fn kind(&self, of: Type) -> Option<Kind> {
        let of = self.plain(of)?;
        let entry = self.units[of.unit].entry(of.at).ok()?;
        let to = self.type_of(of.unit, &entry);
        Some(match entry.tag() {
            dw::DW_TAG_pointer_type => Kind::Pointer(to),
            dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => Kind::Reference(to?),
            dw::DW_TAG_array_type => {
                let described = [dw::DW_AT_data_location, dw::DW_AT_allocated];
                Kind::Array(to?, described.iter().any(|name| entry.attr(*name).is_some()))
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => Kind::Structure,
            _ => Kind::Other,
        })
    }

    /// A type without names that stand for it, and without qualifiers; `None` for what leads
    /// nowhere.
    pub fn plain(&self, mut of: Type) -> Option<Type> {
        // Such a chain is short, but a damaged file may have a circle.
        for _ in 0..64 {
            let entry = self.units[of.unit].entry(of.at).ok()?;
            match entry.tag() {
                dw::DW_TAG_typedef
                | dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type => of = self.type_of(of.unit, &entry)?,
                _ => return Some(of),
            }
        }
        None
    }

    /// The layout of a type.
    pub fn shape(&self, of: Type) -> Option<Shape> {
        self.shape_at(&self.units[of.unit], of.at, None)
    }

    /// The name of a type.
    pub fn type_name(&self, of: Type) -> Option<String> {
        let unit = &self.units[of.unit];
        self.name(unit, &unit.entry(of.at).ok()?)
    }

    fn type_of(&self, unit: usize, entry: &Entry<'d>) -> Option<Type> {
        match self.attribute(&self.units[unit], entry, dw::DW_AT_type)? {
            AttributeValue::UnitRef(at) => Some(Type { unit, at }),
            _ => None,
        }
    }

    /// What `f` makes of the children of an entry.
    fn children<T>(
        &self,
        unit: usize,
        at: UnitOffset,
        mut f: impl FnMut(&Entry<'d>) -> Option<T>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        let Ok(mut tree) = self.units[unit].entries_tree(Some(at)) else { return found };
        let Ok(root) = tree.root() else { return found };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            found.extend(f(child.entry()));
        }
        found
    }

    /// What classes and functions of a unit are declared in.
    fn parents(&self, unit: usize) -> Rc<Parents> {
        if let Some(known) = self.parents.borrow().get(&unit) {
            return Rc::clone(known);
        }
        let mut parents = Parents::new();
        let (mut entries, mut around) = (self.units[unit].entries(), Vec::new());
        while let Ok(Some(entry)) = entries.next_dfs() {
            around.retain(|(depth, _)| *depth < entry.depth());
            let is_scope = [
                dw::DW_TAG_subprogram,
                dw::DW_TAG_structure_type,
                dw::DW_TAG_class_type,
                dw::DW_TAG_module,
            ]
            .contains(&entry.tag());
            if is_scope {
                if let Some((_, parent)) = around.last() {
                    parents.insert(entry.offset(), *parent);
                }
                around.push((entry.depth(), entry.offset()));
            }
        }
        let parents = Rc::new(parents);
        self.parents.borrow_mut().insert(unit, Rc::clone(&parents));
        parents
    }
}
