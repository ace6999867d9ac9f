//! Variables from DWARF debug information and symbol tables: which one an address lies in, its size
//! and its type.
//!
//! **Soundness.** Only what is certain is reported. A local variable is known by its distance from
//! the frame pointer, where the unwind table says that the function keeps one at the call; a static
//! one by its symbol. A local variable that is declared behind the call does not count: a temporary
//! may have its memory until then. Where several may be meant (compilers let variables share memory
//! that are not used at the same time, and Fortran's `EQUIVALENCE` and `COMMON` name it twice), all
//! are returned, and only what is true of each is certain. Missed are variables that are not in
//! memory as a whole at the call, those whose length is known only at run time, and modules without
//! debug information or symbols.

mod scope;
mod shapes;

pub(crate) use scope::{Function, Kind, Type};

use crate::debug_files;
use crate::shape::Shape;
use gimli::{
    AttributeValue, BaseAddresses, CfaRule, DebuggingInformationEntry, Dwarf, EhFrame, EndianSlice,
    Expression, LittleEndian, Operation, Register, Unit, UnitOffset, UnwindContext, UnwindSection,
    constants as dw,
};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// Memory of a variable from an address in it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its name in the source.
    pub name: Option<String>,
    /// Bytes from the address to the variable's end.
    pub available: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its layout, if its type is known.
    pub shape: Option<Shape>,
}

/// The frame pointer.
const FRAME: Register = Register(commsan_machine::FRAME_REGISTER);
/// From the frame pointer to the canonical frame address: its own saved value and the return
/// address.
const TO_CFA: i64 = 16;
/// Bytes of variables that may be in registers now and then.
const IN_REGISTERS: u64 = 16;

type Slice<'d> = EndianSlice<'d, LittleEndian>;
type Entry<'d> = DebuggingInformationEntry<Slice<'d>>;

/// The debug information and symbols of one executable or library.
pub(crate) struct Variables {
    sections: gimli::DwarfSections<Vec<u8>>,
    frames: Option<(Vec<u8>, u64)>,
    text: u64,
    /// Address, size and name, by address.
    symbols: Vec<(u64, u64, String)>,
}

/// Variables of one executable or library by address, from [`Variables::lookup`].
pub(crate) struct Lookup<'d> {
    of: &'d Variables,
    dwarf: Dwarf<Slice<'d>>,
    units: Vec<Unit<Slice<'d>>>,
    /// Static variables: unit, type and name, by address.
    statics: HashMap<u64, Vec<(usize, UnitOffset, String)>>,
    /// Of units that names were looked up in: what types and functions are declared in.
    parents: RefCell<HashMap<usize, Rc<Parents>>>,
}

type Parents = HashMap<UnitOffset, UnitOffset>;

impl Variables {
    /// Reads the file at `path`; `None` if it cannot be read.
    pub fn open(path: &Path) -> Option<Variables> {
        let data = std::fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let apart = debug_files::of(path).and_then(|path| std::fs::read(path).ok());
        let apart = apart.as_deref().and_then(|data| object::File::parse(data).ok());
        // What that says of sections which it leaves out are their headers only.
        let debug = apart.as_ref().unwrap_or(&file);
        let section = |name: &str| -> Vec<u8> {
            let section = debug.section_by_name(name);
            section
                .and_then(|section| section.uncompressed_data().ok())
                .unwrap_or_default()
                .into_owned()
        };
        let sections =
            gimli::DwarfSections::load(|id| Ok::<_, gimli::Error>(section(id.name()))).ok()?;
        let frames = file
            .section_by_name(".eh_frame")
            .and_then(|section| Some((section.data().ok()?.to_vec(), section.address())));
        let mut symbols: Vec<_> = debug
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0)
            .filter(|symbol| symbol.address().checked_add(symbol.size()).is_some())
            .map(|symbol| {
                (symbol.address(), symbol.size(), symbol.name().unwrap_or_default().to_owned())
            })
            .collect();
        symbols.sort();
        let text = file.section_by_name(".text").map_or(0, |section| section.address());
        Some(Variables { sections, frames, text, symbols })
    }

    /// The index of these variables by address.
    pub fn lookup(&self) -> Lookup<'_> {
        let dwarf = self.sections.borrow(|data| EndianSlice::new(data, LittleEndian));
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            units.extend(dwarf.unit(header));
        }
        let mut lookup =
            Lookup { of: self, dwarf, units, statics: HashMap::new(), parents: RefCell::default() };
        lookup.statics = lookup.find_statics();
        lookup
    }

    /// Whether the function at an address keeps its frame pointer as usual.
    fn has_frame(&self, address: u64) -> Option<()> {
        let (data, start) = self.frames.as_ref()?;
        let table = EhFrame::new(data, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(*start).set_text(self.text);
        let mut context = UnwindContext::new();
        let from = EhFrame::cie_from_offset;
        let row = table.unwind_info_for_address(&bases, &mut context, address, from).ok()?;
        match row.cfa() {
            CfaRule::RegisterAndOffset { register: FRAME, offset: TO_CFA } => Some(()),
            _ => None,
        }
    }
}

impl<'d> Lookup<'d> {
    /// The local variables of the function at `address` that may be at this distance from its frame
    /// pointer, that which reaches furthest first. `lines` are those of the call in that function
    /// and, from there inwards, in functions that were inlined.
    pub fn local(&self, address: u64, distance: i64, lines: &[u32]) -> Vec<Variable> {
        let mut found = self.locals(address, distance, lines).unwrap_or_default();
        found.sort_by_key(|variable| std::cmp::Reverse(variable.available));
        found
    }

    fn locals(&self, address: u64, distance: i64, lines: &[u32]) -> Option<Vec<Variable>> {
        self.of.has_frame(address)?;
        let holds = |unit: &&Unit<Slice<'d>>| {
            self.dwarf.unit_ranges(unit).is_ok_and(|ranges| has(ranges, address))
        };
        let unit = self.units.iter().find(holds)?;
        let (mut entries, is_fortran) = (unit.entries(), is_fortran(unit));
        // Where a scope begins that the address is not in, and the function that it is in.
        let (mut outside, mut function) = (None, None);
        // Inlined functions around the entry at hand, by their depths.
        let mut inlined = Vec::new();
        let mut found = Vec::new();
        while let Ok(Some(entry)) = entries.next_dfs() {
            if outside.is_some_and(|depth| entry.depth() > depth) {
                continue;
            }
            outside = None;
            inlined.retain(|depth| entry.depth() > *depth);
            if let Some((depth, _)) = function
                && entry.depth() <= depth
            {
                break;
            }
            match entry.tag() {
                dw::DW_TAG_subprogram if self.is_in(unit, entry, address) == Some(true) => {
                    function = Some((entry.depth(), frame_base(unit, entry)?));
                }
                // Procedures may contain others, whose code is not theirs.
                dw::DW_TAG_subprogram if function.is_none() && is_fortran => {}
                dw::DW_TAG_lexical_block if self.is_in(unit, entry, address) != Some(false) => {}
                dw::DW_TAG_inlined_subroutine if self.is_in(unit, entry, address) == Some(true) => {
                    inlined.push(entry.depth());
                }
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => {
                    if let Some((_, base)) = function
                        && let Some(kind) = self.shape_of(unit, entry, None)
                        && let Some(start) = self.place(unit, entry, kind.bytes(), base, address)
                        && let Some(line) = lines.get(inlined.len())
                        && self
                            .line(unit, entry)
                            .is_some_and(|declared| declared <= u64::from(*line))
                        && let Ok(within) = u64::try_from(distance.saturating_sub(start))
                        && let Some(available) =
                            kind.bytes().checked_sub(within).filter(|available| *available > 0)
                    {
                        let (size, name) = (kind.bytes(), self.name(unit, entry));
                        found.push(Variable { name, available, size, shape: Some(kind) });
                    }
                }
                dw::DW_TAG_compile_unit
                | dw::DW_TAG_namespace
                | dw::DW_TAG_module
                | dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type => {}
                _ => outside = Some(entry.depth()),
            }
        }
        Some(found)
    }

    /// The static variables that `address` may be in: several only where they lie at one place.
    pub fn fixed(&self, address: u64) -> Vec<Variable> {
        // Few symbols lie within others.
        const BACK: usize = 32;
        let symbols = &self.of.symbols;
        let after = symbols.partition_point(|(start, ..)| *start <= address);
        let before = symbols[..after].iter().rev().take(BACK);
        let holds = before.filter(|(start, size, _)| address < start + size);
        let Some((start, size, symbol)) = holds.max_by_key(|(start, size, _)| start + size) else {
            return Vec::new();
        };
        let variable = |name, shape| Variable {
            name: Some(name),
            available: start + size - address,
            size: *size,
            shape,
        };
        let mut known: Vec<_> =
            self.statics.get(start).map_or(&[][..], |known| known).iter().collect();
        // The same one may be described in several files.
        known.sort_by(|one, other| one.2.cmp(&other.2));
        let known = known.into_iter().map(|(unit, kind, name)| {
            let kind = self.shape_at(&self.units[*unit], *kind, None);
            // Else it is a part of what the symbol covers, which may be of any type.
            variable(name.clone(), kind.filter(|kind| kind.bytes() == *size))
        });
        let mut found: Vec<_> = known.collect();
        found.dedup();
        if found.is_empty() {
            found.push(variable(crate::names::readable(symbol, None), None));
        }
        found
    }

    fn find_statics(&self) -> HashMap<u64, Vec<(usize, UnitOffset, String)>> {
        let mut statics = HashMap::<_, Vec<_>>::new();
        for (index, unit) in self.units.iter().enumerate() {
            let mut entries = unit.entries();
            while let Ok(Some(entry)) = entries.next_dfs() {
                if entry.tag() == dw::DW_TAG_variable
                    && let Some(address) = self.address(unit, entry)
                    && let Some(kind) = self.attribute(unit, entry, dw::DW_AT_type)
                    && let AttributeValue::UnitRef(kind) = kind
                    && let Some(name) = self.name(unit, entry)
                {
                    statics.entry(address).or_default().push((index, kind, name));
                }
            }
        }
        statics
    }

    /// The distance of a variable of this size to the frame pointer, at a call.
    fn place(
        &self,
        unit: &Unit<Slice<'d>>,
        entry: &Entry<'d>,
        size: u64,
        base: i64,
        address: u64,
    ) -> Option<i64> {
        let distance = |place| match place {
            Operation::FrameOffset { offset } => base.checked_add(offset),
            Operation::RegisterOffset { register: FRAME, offset, .. } => Some(offset),
            _ => None,
        };
        if let Some(place) = location(unit, entry) {
            return distance(place);
        }
        let lists = entry.attr_value(dw::DW_AT_location)?;
        let mut list = self.dwarf.attr_locations(unit, lists).ok()??;
        // Where the value of all of it is known (an array has just been set to 0), clang describes
        // that value instead of the place, which does not change.
        let (mut is_alive, mut all) = (false, None);
        while let Some(part) = list.next().ok()? {
            let place = only(unit, part.data).and_then(distance);
            if (part.range.begin..part.range.end).contains(&address) {
                is_alive = true;
                if place.is_some() || size <= IN_REGISTERS {
                    return place;
                }
            }
            match (all, place) {
                (Some(known), Some(place)) if known != place => return None,
                _ => all = all.or(place),
            }
        }
        all.filter(|_| is_alive)
    }

    /// The address of a static variable.
    fn address(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>) -> Option<u64> {
        match location(unit, entry)? {
            Operation::Address { address } => Some(address),
            Operation::AddressIndex { index } => self.dwarf.address(unit, index).ok(),
            _ => None,
        }
    }

    /// Whether the code of an entry holds `address`; `None` if it has none.
    fn is_in(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>, address: u64) -> Option<bool> {
        if entry.attr(dw::DW_AT_low_pc).is_none() && entry.attr(dw::DW_AT_ranges).is_none() {
            return None;
        }
        self.dwarf.die_ranges(unit, entry).ok().map(|ranges| has(ranges, address))
    }

    /// An attribute of an entry, or of the one that it is an instance of.
    fn attribute(
        &self,
        unit: &Unit<Slice<'d>>,
        entry: &Entry<'d>,
        name: gimli::DwAt,
    ) -> Option<AttributeValue<Slice<'d>>> {
        let of = |entry: &Entry<'d>| entry.attr_value(name);
        of(entry).or_else(|| {
            let links = [dw::DW_AT_abstract_origin, dw::DW_AT_specification];
            let link = links.iter().find_map(|link| entry.attr_value(*link))?;
            let AttributeValue::UnitRef(origin) = link else { return None };
            of(&unit.entry(origin).ok()?)
        })
    }

    fn name(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>) -> Option<String> {
        let name = self.attribute(unit, entry, dw::DW_AT_name)?;
        let name = self.dwarf.attr_string(unit, name).ok()?;
        Some(name.to_string_lossy().into_owned())
    }

    /// Where a variable is declared.
    fn line(&self, unit: &Unit<Slice<'d>>, entry: &Entry<'d>) -> Option<u64> {
        self.attribute(unit, entry, dw::DW_AT_decl_line)?.udata_value()
    }
}

fn is_fortran(unit: &Unit<Slice<'_>>) -> bool {
    let Ok(root) = unit.entry(unit.header.root_offset()) else { return false };
    let Some(AttributeValue::Language(language)) = root.attr_value(dw::DW_AT_language) else {
        return false;
    };
    let all = [
        dw::DW_LANG_Fortran77,
        dw::DW_LANG_Fortran90,
        dw::DW_LANG_Fortran95,
        dw::DW_LANG_Fortran03,
        dw::DW_LANG_Fortran08,
        dw::DW_LANG_Fortran18,
    ];
    all.contains(&language)
}

/// The one operation of an expression that describes a location.
fn location<'d>(unit: &Unit<Slice<'d>>, entry: &Entry<'d>) -> Option<Operation<Slice<'d>>> {
    match entry.attr_value(dw::DW_AT_location)? {
        AttributeValue::Exprloc(expression) => only(unit, expression),
        _ => None,
    }
}

fn only<'d>(
    unit: &Unit<Slice<'d>>,
    expression: Expression<Slice<'d>>,
) -> Option<Operation<Slice<'d>>> {
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    operations.next().ok()?.is_none().then_some(first)
}

/// The distance of what a function's variables count from to its frame pointer.
fn frame_base<'d>(unit: &Unit<Slice<'d>>, entry: &Entry<'d>) -> Option<i64> {
    let AttributeValue::Exprloc(base) = entry.attr_value(dw::DW_AT_frame_base)? else {
        return None;
    };
    match only(unit, base)? {
        Operation::CallFrameCFA => Some(TO_CFA),
        Operation::Register { register: FRAME } => Some(0),
        _ => None,
    }
}

fn has<'d>(mut ranges: gimli::RangeIter<Slice<'d>>, address: u64) -> bool {
    while let Ok(Some(range)) = ranges.next() {
        if (range.begin..range.end).contains(&address) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
