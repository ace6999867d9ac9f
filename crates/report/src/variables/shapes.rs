//! Layouts of types, from DWARF.

use super::{Entry, Lookup, Slice, is_fortran};
use crate::shape::{Member, Shape};
use gimli::{AttributeValue, Unit, UnitOffset, constants as dw};
use std::sync::Arc;

/// Types within types that are followed.
const DEPTH: usize = 32;
/// Of a pointer, where debug information does not say it.
const POINTER: u64 = 8;

/// A type and those that it is a part of. In a damaged file, one may be a part of itself.
pub(super) struct Around<'a> {
    at: UnitOffset,
    outer: Option<&'a Around<'a>>,
}

impl<'a> Around<'a> {
    /// The type at `at`, unless it is a part of itself, or of too many.
    fn of(at: UnitOffset, outer: Option<&'a Around<'a>>) -> Option<Around<'a>> {
        let mut all = std::iter::successors(outer, |around| around.outer);
        let is_new = all.by_ref().take(DEPTH).all(|around| around.at != at);
        (is_new && all.next().is_none()).then_some(Around { at, outer })
    }
}

impl<'d> Lookup<'d> {
    /// The layout of a variable, or of a member of types.
    pub(super) fn shape_of(
        &self,
        unit: &Unit<Slice<'d>>,
        entry: &Entry<'d>,
        around: Option<&Around<'_>>,
    ) -> Option<Shape> {
        match self.attribute(unit, entry, dw::DW_AT_type)? {
            AttributeValue::UnitRef(kind) => self.shape_at(unit, kind, around),
            _ => None,
        }
    }

    /// The layout of the type at `at`; `None` where its size is not known.
    pub(super) fn shape_at(
        &self,
        unit: &Unit<Slice<'d>>,
        at: UnitOffset,
        around: Option<&Around<'_>>,
    ) -> Option<Shape> {
        let around = Some(&Around::of(at, around)?);
        let entry = unit.entry(at).ok()?;
        let size = entry.attr(dw::DW_AT_byte_size).and_then(|size| size.udata_value());
        let inner = || match entry.attr_value(dw::DW_AT_type)? {
            AttributeValue::UnitRef(inner) => self.shape_at(unit, inner, around),
            _ => None,
        };
        let any = || size.map(|bytes| Shape::Any { bytes });
        match entry.tag() {
            dw::DW_TAG_typedef
            | dw::DW_TAG_const_type
            | dw::DW_TAG_volatile_type
            | dw::DW_TAG_restrict_type
            | dw::DW_TAG_atomic_type => inner(),
            dw::DW_TAG_base_type => {
                let AttributeValue::Encoding(encoding) = entry.attr_value(dw::DW_AT_encoding)?
                else {
                    return None;
                };
                Some(basic(encoding, size?))
            }
            dw::DW_TAG_array_type => {
                let dynamic =
                    [dw::DW_AT_data_location, dw::DW_AT_byte_stride, dw::DW_AT_bit_stride];
                if dynamic.iter().any(|name| entry.attr(*name).is_some()) {
                    return None;
                }
                Some(Shape::Array { of: Arc::new(inner()?), count: length(unit, at)? })
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => {
                let (name, bytes) = (self.name(unit, &entry), size?);
                Some(Shape::Struct { name, bytes, members: self.members(unit, at, around)? })
            }
            // `std::byte` is one of a byte.
            dw::DW_TAG_enumeration_type if size? > 1 => {
                size.map(|bytes| Shape::Basic { class: "enumeration", bytes })
            }
            dw::DW_TAG_enumeration_type | dw::DW_TAG_union_type | dw::DW_TAG_string_type => any(),
            // Fortran passes by reference what it does not call a pointer.
            dw::DW_TAG_pointer_type if is_fortran(unit) => any(),
            dw::DW_TAG_pointer_type => {
                Some(Shape::Basic { class: "pointer", bytes: size.unwrap_or(POINTER) })
            }
            _ => None,
        }
    }

    /// What a structure consists of, in memory.
    fn members(
        &self,
        unit: &Unit<Slice<'d>>,
        at: UnitOffset,
        around: Option<&Around<'_>>,
    ) -> Option<Arc<[Member]>> {
        let mut tree = unit.entries_tree(Some(at)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut members = Vec::new();
        while let Some(child) = children.next().ok()? {
            let entry = child.entry();
            let is_part = [dw::DW_TAG_member, dw::DW_TAG_inheritance].contains(&entry.tag());
            let of_class = [dw::DW_AT_external, dw::DW_AT_declaration];
            if !is_part || of_class.iter().any(|name| entry.attr(*name).is_some()) {
                continue;
            }
            let number = |name| entry.attr(name).and_then(|number| number.udata_value());
            let bits = number(dw::DW_AT_data_bit_offset);
            let at = match (bits, entry.attr(dw::DW_AT_data_member_location)) {
                (Some(bits), _) => bits / 8,
                // A virtual base class is wherever the object says.
                (None, Some(place)) => place.udata_value()?,
                (None, None) => 0,
            };
            let is_field = bits.is_some() || number(dw::DW_AT_bit_size).is_some();
            let shape = self.shape_of(unit, entry, around).map(|shape| match is_field {
                true => Shape::Any { bytes: shape.bytes() },
                false => shape,
            });
            if !matches!(&shape, Some(Shape::Struct { members, .. }) if members.is_empty()) {
                members.push(Member { name: self.name(unit, entry), at, shape });
            }
        }
        Some(members.into())
    }
}

/// The layout of a base type.
fn basic(encoding: gimli::DwAte, bytes: u64) -> Shape {
    let of = |class| Shape::Basic { class, bytes };
    match encoding {
        dw::DW_ATE_boolean => of("logical"),
        // Characters, and integers as small, are used for anything.
        _ if bytes <= 1 => Shape::Any { bytes },
        dw::DW_ATE_signed => of("integer"),
        dw::DW_ATE_unsigned => of("unsigned integer"),
        dw::DW_ATE_float => of("real"),
        // As in MPI, a complex number is two.
        dw::DW_ATE_complex_float => Shape::Array {
            of: Arc::new(Shape::Basic { class: "real", bytes: bytes / 2 }),
            count: 2,
        },
        _ => Shape::Any { bytes },
    }
}

/// The number of elements of an array type, if that is fixed.
fn length(unit: &Unit<Slice<'_>>, at: UnitOffset) -> Option<u64> {
    let mut tree = unit.entries_tree(Some(at)).ok()?;
    let mut dimensions = tree.root().ok()?.children();
    let mut length = 1u64;
    while let Some(dimension) = dimensions.next().ok()? {
        let entry = dimension.entry();
        if entry.tag() != dw::DW_TAG_subrange_type {
            continue;
        }
        // What has a sign says so (DWARF 5 §7.5.5); bounds are written in as few bytes as they
        // need.
        let number = |name| match entry.attr_value(name)? {
            AttributeValue::Data1(number) => Some(i64::from(number)),
            AttributeValue::Data2(number) => Some(i64::from(number)),
            AttributeValue::Data4(number) => Some(i64::from(number)),
            AttributeValue::Exprloc(_) | AttributeValue::UnitRef(_) => None,
            value => value.sdata_value(),
        };
        let lower = match entry.attr(dw::DW_AT_lower_bound) {
            Some(_) => number(dw::DW_AT_lower_bound)?,
            None => i64::from(is_fortran(unit)),
        };
        let count = match number(dw::DW_AT_count) {
            Some(count) => count,
            None => number(dw::DW_AT_upper_bound)?.checked_sub(lower)?.checked_add(1)?,
        };
        length = length.checked_mul(u64::try_from(count).ok()?)?;
    }
    Some(length)
}
