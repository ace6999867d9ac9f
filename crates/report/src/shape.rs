//! What memory of a type holds, and whether a typemap describes that (MPI 4.1 §3.3.1, §5.1).
//!
//! **Soundness.** Reported is a basic type of the datatype, of more than a byte, that certainly
//! does not describe what lies there: it is of another class or size, or begins within it. Classes
//! count as equal where values stay what they are: complex numbers are two reals, logicals and
//! enumerations integers of their size, and pointers integers that hold an address. Of any type are
//! characters and all other integers of a byte, unions, bit-fields, padding, and members whose type
//! is not known. That a signed integer is passed as an unsigned one is told apart from the rest.
//! Missed is what begins within an element of its own class and size in an array of these: where a
//! call writes, such elements mostly overlap (CS-ARG-04).

use commsan_rundir::record::{RawBasics, RawDatatype};
use std::sync::Arc;

/// A class of basic types, as [`RawBasics`] has them, or `pointer` or `enumeration`.
pub(crate) type Class = &'static str;

/// The layout of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A basic type.
    Basic {
        /// Its class.
        class: Class,
        /// Its size.
        bytes: u64,
    },
    /// Bytes of any type.
    Any {
        /// How many.
        bytes: u64,
    },
    /// Elements of one type.
    Array {
        /// The type of each.
        of: Arc<Shape>,
        /// How many.
        count: u64,
    },
    /// Members, by their places.
    Struct {
        /// The type's name.
        name: Option<String>,
        /// Its size.
        bytes: u64,
        /// What it consists of.
        members: Arc<[Member]>,
    },
}

/// A member of a structure, or a class that it is derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name; a base class has none.
    pub name: Option<String>,
    /// Where it begins.
    pub at: u64,
    /// Its type, if that is known.
    pub shape: Option<Shape>,
}

/// What lies at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Its class.
    pub class: Class,
    /// Its size.
    pub bytes: u64,
    /// How many bytes of it lie before the place.
    within: u64,
    /// The innermost member that it is part of, with its structure's name.
    pub member: Option<(String, Option<String>)>,
}

impl Shape {
    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Shape::Basic { bytes, .. } | Shape::Any { bytes } | Shape::Struct { bytes, .. } => {
                *bytes
            }
            Shape::Array { of, count } => of.bytes().saturating_mul(*count),
        }
    }

    /// Whether it ends with an array whose length is the allocation's: `double data[]`, or `[1]`.
    pub fn may_grow(&self) -> bool {
        let Shape::Struct { members, .. } = self else { return false };
        let last = members.iter().max_by_key(|member| member.at);
        last.is_some_and(|member| match &member.shape {
            None => true,
            Some(Shape::Array { count, .. }) => *count <= 1,
            Some(last) => last.may_grow(),
        })
    }

    /// Whether two types lie in memory alike, whatever they and their members are called.
    pub fn is_like(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Array { of, count }, Shape::Array { of: other, count: others }) => {
                count == others && of.is_like(other)
            }
            (
                Shape::Struct { bytes, members, .. },
                Shape::Struct { bytes: other, members: others, .. },
            ) => {
                let alike = |(one, other): (&Member, &Member)| {
                    one.at == other.at
                        && match (&one.shape, &other.shape) {
                            (Some(one), Some(other)) => one.is_like(other),
                            (one, other) => one.is_none() && other.is_none(),
                        }
                };
                bytes == other
                    && members.len() == others.len()
                    && members.iter().zip(&**others).all(alike)
            }
            (one, other) => one == other,
        }
    }

    /// What lies at `offset`; `None` for what is of any type, and behind the end.
    fn at(&self, offset: u64) -> Option<Leaf> {
        match self {
            Shape::Any { .. } => None,
            Shape::Basic { class, bytes } => (offset < *bytes).then_some(Leaf {
                class,
                bytes: *bytes,
                within: offset,
                member: None,
            }),
            Shape::Array { of, count } => {
                let size = of.bytes();
                (offset.checked_div(size)? < *count).then(|| of.at(offset % size))?
            }
            Shape::Struct { name, members, .. } => {
                let mut holding = members.iter().filter(|member| member.may_hold(offset));
                let (Some(member), None) = (holding.next(), holding.next()) else { return None };
                let leaf = member.shape.as_ref()?.at(offset - member.at)?;
                let own = member.name.clone().map(|member| (member, name.clone()));
                Some(Leaf { member: leaf.member.or(own), ..leaf })
            }
        }
    }

    /// The one class and size of all that it holds, if there is no other.
    pub fn uniform(&self) -> Option<(Class, u64)> {
        match self {
            Shape::Basic { class, bytes } => Some((class, *bytes)),
            Shape::Array { of, .. } => of.uniform(),
            Shape::Any { .. } | Shape::Struct { .. } => None,
        }
    }

    /// The structure that it is, or an array of it.
    fn structure(&self) -> Option<(Option<&str>, u64)> {
        match self {
            Shape::Struct { name, bytes, .. } => Some((name.as_deref(), *bytes)),
            Shape::Array { of, .. } => of.structure(),
            Shape::Basic { .. } | Shape::Any { .. } => None,
        }
    }
}

impl Member {
    /// Whether it may be what lies at an offset: where its size is not known, all behind it.
    fn may_hold(&self, offset: u64) -> bool {
        let end = self.shape.as_ref().map_or(u64::MAX, |shape| self.at + shape.bytes());
        (self.at..end).contains(&offset)
    }
}

/// A basic type of a datatype, and what it does not describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Class and size that the datatype says.
    pub passed: (String, u64),
    /// What is there.
    pub found: Leaf,
    /// Where, from the first byte that the call uses.
    pub at: u64,
    /// The structure whose elements lie further apart, or closer, than the datatype's, in bytes:
    /// the first element of both agrees.
    pub extents: Option<(Option<String>, u64)>,
    /// Whether only the sign is in doubt.
    pub is_sign: bool,
}

/// Places that are compared at most.
const MAX_PLACES: usize = 1 << 12;

/// Compares what a call uses, from `offset` on, with what is there.
pub(crate) fn compare(datatype: &RawDatatype<'_>, shape: &Shape, offset: u64) -> Option<Mismatch> {
    let mut sign = None;
    let mut places = 0;
    for element in 0..datatype.count {
        for run in &*datatype.basics {
            for number in 0..run.count {
                places += 1;
                if places > MAX_PLACES {
                    return sign;
                }
                let Some(at) = place(datatype.extent, element, run, number) else { break };
                let Some(found) = offset.checked_add(at).and_then(|place| shape.at(place)) else {
                    continue;
                };
                let passed = (&*run.class, run.bytes);
                let Some(is_sign) = differ(passed, &found) else { continue };
                let extents = shape.structure().filter(|(_, bytes)| {
                    element > 0 && datatype.derived && i64::try_from(*bytes) != Ok(datatype.extent)
                });
                let mismatch = Mismatch {
                    passed: (passed.0.to_owned(), passed.1),
                    found,
                    at,
                    extents: extents.map(|(name, bytes)| (name.map(str::to_owned), bytes)),
                    is_sign,
                };
                match is_sign {
                    true => sign = sign.or(Some(mismatch)),
                    false => return Some(mismatch),
                }
            }
        }
    }
    sign
}

/// Where the `number`-th of a run lies in an element, if that is not before the first byte.
fn place(extent: i64, element: u64, run: &RawBasics<'_>, number: u64) -> Option<u64> {
    let element = i64::try_from(element).ok()?.checked_mul(extent)?;
    let number = i64::try_from(number.checked_mul(run.bytes)?).ok()?;
    u64::try_from(element.checked_add(run.at)?.checked_add(number)?).ok()
}

/// Whether a basic type does not describe what is there, and if so, whether by its sign alone.
fn differ((class, bytes): (&str, u64), found: &Leaf) -> Option<bool> {
    const INTEGERS: [&str; 2] = ["integer", "unsigned integer"];
    if bytes <= 1 {
        return None;
    }
    if bytes != found.bytes {
        return Some(false);
    }
    if found.within != 0 {
        return (class != found.class || found.member.is_some()).then_some(false);
    }
    let is_integer = INTEGERS.contains(&class);
    match found.class {
        same if same == class => None,
        "enumeration" | "logical" | "pointer" if is_integer => None,
        "integer" | "enumeration" if class == "logical" => None,
        sign if is_integer && INTEGERS.contains(&sign) => Some(true),
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLE: Shape = Shape::Basic { class: "real", bytes: 8 };
    const INT: Shape = Shape::Basic { class: "integer", bytes: 4 };

    fn particles(count: u64) -> Shape {
        let member = |name: &str, at, shape| Member { name: Some(name.to_owned()), at, shape };
        let position = Shape::Array { of: Arc::new(DOUBLE), count: 3 };
        let members = [
            member("x", 0, Some(position)),
            member("cell", 24, Some(INT)),
            member("tag", 28, Some(Shape::Any { bytes: 2 })),
        ];
        let name = Some("Particle".to_owned());
        let of = Arc::new(Shape::Struct { name, bytes: 32, members: members.into() });
        Shape::Array { of, count }
    }

    fn datatype(
        count: u64,
        extent: i64,
        basics: &[(i64, &'static str, u64, u64)],
    ) -> RawDatatype<'static> {
        let run = |&(at, class, bytes, count): &(i64, &'static str, u64, u64)| RawBasics {
            at,
            class: class.into(),
            bytes,
            count,
        };
        let basics = basics.iter().map(run).collect();
        RawDatatype { count, extent, derived: true, basics }
    }

    #[test]
    fn extents_that_differ_show_in_the_second_element() {
        let positions = |count, extent| datatype(count, extent, &[(0, "real", 8, 3)]);
        assert_eq!(compare(&positions(16, 32), &particles(16), 0), None);
        assert_eq!(compare(&positions(1, 24), &particles(16), 0), None);
        let found = compare(&positions(16, 24), &particles(16), 0).unwrap();
        assert_eq!((found.at, found.found.class, found.found.bytes), (24, "integer", 4));
        let member = ("cell".to_owned(), Some("Particle".to_owned()));
        assert_eq!(found.found.member, Some(member));
        assert_eq!(found.extents, Some((Some("Particle".to_owned()), 32)));
        // From the second particle on.
        assert_eq!(compare(&positions(16, 24), &particles(16), 32).unwrap().at, 24);
        // What is passed ends where the array does.
        assert_eq!(compare(&positions(2, 24), &particles(1), 0).unwrap().at, 24);
    }

    #[test]
    fn members_are_compared_one_by_one() {
        let fields = |class, bytes| datatype(4, 32, &[(0, "real", 8, 3), (24, class, bytes, 1)]);
        assert_eq!(compare(&fields("integer", 4), &particles(4), 0), None);
        assert!(compare(&fields("real", 4), &particles(4), 0).is_some_and(|m| !m.is_sign));
        assert!(compare(&fields("integer", 8), &particles(4), 0).is_some_and(|m| !m.is_sign));
        let sign = compare(&fields("unsigned integer", 4), &particles(4), 0).unwrap();
        assert!(sign.is_sign && sign.extents.is_none());
        // Members of any type, and padding.
        let rest = datatype(4, 32, &[(28, "integer", 2, 2)]);
        assert_eq!(compare(&rest, &particles(4), 0), None);
        assert!(compare(&datatype(1, 8, &[(0, "real", 8, 1)]), &particles(1), 4).is_some());
    }

    #[test]
    fn classes_count_as_equal_where_values_stay() {
        let of = |passed, bytes, class, size| {
            let datatype = datatype(4, 8, &[(0, passed, bytes, 1)]);
            compare(&datatype, &Shape::Basic { class, bytes: size }, 0).map(|found| found.is_sign)
        };
        assert_eq!(of("integer", 8, "pointer", 8), None);
        assert_eq!(of("real", 8, "pointer", 8), Some(false));
        assert_eq!(of("integer", 4, "enumeration", 4), None);
        assert_eq!(of("unsigned integer", 4, "enumeration", 4), None);
        assert_eq!(of("real", 4, "enumeration", 4), Some(false));
        assert_eq!(of("integer", 4, "logical", 4), None);
        assert_eq!(of("logical", 4, "integer", 4), None);
        assert_eq!(of("real", 4, "logical", 4), Some(false));
        assert_eq!(of("integer", 4, "logical", 1), Some(false));
        assert_eq!(of("integer", 1, "real", 8), None);
        assert_eq!(of("unsigned integer", 4, "integer", 4), Some(true));
        assert_eq!(of("unsigned integer", 4, "integer", 8), Some(false));
    }

    #[test]
    fn structures_that_end_with_an_array_may_grow() {
        let ends_with = |shape| {
            let member = |at, shape| Member { name: None, at, shape };
            let members = [member(8, shape), member(0, Some(INT))];
            Shape::Struct { name: None, bytes: 16, members: members.into() }
        };
        let array = |count| Some(Shape::Array { of: Arc::new(DOUBLE), count });
        assert!(ends_with(None).may_grow() && ends_with(array(1)).may_grow());
        assert!(ends_with(Some(ends_with(array(0)))).may_grow());
        assert!(!ends_with(array(2)).may_grow() && !ends_with(Some(DOUBLE)).may_grow());
        assert!(!DOUBLE.may_grow());
    }

    #[test]
    fn what_overlaps_is_of_any_type() {
        let member = |at, shape| Member { name: None, at, shape };
        let of = |members: &[Member]| {
            let all = Shape::Struct { name: None, bytes: 16, members: members.into() };
            compare(&datatype(2, 8, &[(0, "real", 8, 1)]), &all, 0).map(|found| found.at)
        };
        assert_eq!(of(&[member(0, Some(INT)), member(0, Some(DOUBLE))]), None);
        assert_eq!(of(&[member(0, None), member(8, Some(INT))]), None);
        assert_eq!(of(&[member(0, Some(DOUBLE)), member(8, Some(INT))]), Some(8));
    }

    #[test]
    fn many_places_take_bounded_time() {
        let datatype = datatype(u64::MAX, 8, &[(0, "real", 8, u64::MAX)]);
        let all = Shape::Array { of: Arc::new(DOUBLE), count: u64::MAX / 8 };
        assert_eq!(compare(&datatype, &all, 0), None);
    }
}
