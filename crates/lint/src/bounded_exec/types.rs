//! Type signatures of datatypes, for the comparison of messages.

use super::Job;
use super::asked::Asked;
use super::store::{Datum, Kind};
use crate::datatypes::{size, size_of_number};
use crate::environment::predefined;
use commsan_mpi_calls::abi::HandleKind;

/// Basic elements in a row: which, how often.
pub type Elements = Vec<(String, i64)>;

/// Maximum number of runs of equal elements kept of one datatype.
const MAX_TYPE_RUNS: usize = 512;

/// A datatype.
#[derive(Clone, Debug)]
pub struct Type {
    pub size: i64,
    pub extent: i64,
    /// What it consists of, if that is known.
    pub elements: Option<Elements>,
    /// Where its bytes are: offset and length of each piece.
    pub pieces: Vec<(i64, i64)>,
    pub committed: bool,
}

impl Type {
    fn basic(name: &str, size: i64) -> Type {
        let elements = match name {
            "2INT" | "2INTEGER" => vec![("32-bit integer".to_owned(), 2)],
            _ => vec![(class(name, size), 1)],
        };
        let elements = Some(elements);
        Type { size, extent: size, elements, pieces: vec![(0, size)], committed: true }
    }

    /// Whether its elements lie one after the other.
    pub fn is_dense(&self) -> bool {
        self.pieces.len() == 1 && self.pieces[0] == (0, self.size) && self.extent == self.size
    }

    /// So many of it, so many bytes apart.
    fn repeat(&self, count: i64, stride: i64) -> Option<Type> {
        self.blocks((0..count).map(|n| n.checked_mul(stride)))
    }

    /// One at each of these places.
    fn blocks(&self, places: impl Iterator<Item = Option<i64>>) -> Option<Type> {
        let parts = places.map(|place| Some((place?, self)));
        let mut all = Vec::new();
        for part in parts {
            all.push(part?);
            if all.len() > 8 * MAX_TYPE_RUNS {
                return None;
            }
        }
        Type::of_parts(&all)
    }

    /// Of parts at places.
    pub fn of_parts(parts: &[(i64, &Type)]) -> Option<Type> {
        let (mut pieces, mut elements, mut size) =
            (Vec::<(i64, i64)>::new(), Some(Elements::new()), 0);
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for (at, part) in parts {
            size = part.size.saturating_add(size);
            (low, high) = (low.min(*at), high.max(at.saturating_add(part.extent)));
            for (begin, length) in &part.pieces {
                match pieces.last_mut() {
                    Some((from, so_far))
                        if from.saturating_add(*so_far) == at.saturating_add(*begin) =>
                    {
                        *so_far += length
                    }
                    _ => pieces.push((at.saturating_add(*begin), *length)),
                }
            }
            elements = elements.zip(part.elements.as_ref()).map(|(sum, more)| join(sum, more));
            if pieces.len() > MAX_TYPE_RUNS
                || elements.as_ref().is_some_and(|all| all.len() > MAX_TYPE_RUNS)
            {
                return None;
            }
        }
        let extent = if parts.is_empty() { 0 } else { high.saturating_sub(low.min(0)) };
        Some(Type { size, extent, elements, pieces, committed: false })
    }

    /// So many elements of it, as they are sent.
    pub fn amount(&self, count: i64) -> Option<Elements> {
        let elements = self.elements.as_ref()?;
        match &elements[..] {
            [(name, each)] => Some(vec![(name.clone(), each.saturating_mul(count))]),
            _ if count <= 64 => {
                let sum = (0..count).fold(Elements::new(), |sum, _| join(sum, elements));
                (sum.len() <= MAX_TYPE_RUNS).then_some(sum)
            }
            _ => None,
        }
    }
}

fn join(mut sum: Elements, more: &Elements) -> Elements {
    for (name, count) in more {
        match sum.last_mut() {
            Some((last, so_far)) if last == name => *so_far += count,
            _ => sum.push((name.clone(), *count)),
        }
    }
    sum
}

/// What elements of a datatype are the same as: names that differ between languages only are one.
fn class(name: &str, size: i64) -> String {
    let bits = size * 8;
    match name {
        "BYTE" | "PACKED" => "byte".to_owned(),
        "CHAR" | "CHARACTER" => "character".to_owned(),
        _ if name.starts_with("UNSIGNED") || name.starts_with("UINT") => {
            format!("{bits}-bit unsigned integer")
        }
        "FLOAT" | "DOUBLE" | "LONG_DOUBLE" | "REAL" | "DOUBLE_PRECISION" | "REAL4" | "REAL8"
        | "REAL16" => format!("{bits}-bit real number"),
        "SIGNED_CHAR" | "SHORT" | "INT" | "LONG" | "LONG_LONG" | "LONG_LONG_INT" | "INTEGER"
        | "INTEGER1" | "INTEGER2" | "INTEGER4" | "INTEGER8" | "INT8_T" | "INT16_T" | "INT32_T"
        | "INT64_T" | "AINT" | "OFFSET" | "COUNT" => {
            format!("{bits}-bit integer")
        }
        "C_BOOL" | "CXX_BOOL" => "c_bool".to_owned(),
        _ if name.contains("COMPLEX") && !name.starts_with('2') => {
            format!("{bits}-bit complex number")
        }
        _ => name.to_lowercase(),
    }
}

/// Whether what is sent fits what is received, element by element; bytes fit everything.
pub fn fits(sent: &Elements, received: &Elements) -> bool {
    let raw = |all: &Elements| all.iter().any(|(name, _)| name == "byte");
    if raw(sent) || raw(received) {
        return true;
    }
    let (mut left, mut right) = (sent.iter().cloned(), received.iter().cloned());
    let (mut one, mut other) = (left.next(), right.next());
    while let (Some((name, count)), Some((as_name, as_count))) = (&one, &other) {
        if name != as_name {
            return false;
        }
        let both = *count.min(as_count);
        let rest = |name: &String, count: i64| (count > both).then(|| (name.clone(), count - both));
        let (next, as_next) = (rest(name, *count), rest(as_name, *as_count));
        one = next.or_else(|| left.next());
        other = as_next.or_else(|| right.next());
    }
    true
}

impl Job<'_, '_> {
    /// The datatype of a handle.
    pub fn datatype(&self, rank: usize, handle: Datum) -> Option<Type> {
        let (name, size) = match handle {
            Datum::Handle(Kind::Datatype, id) => {
                return self.types.get(id as usize)?.clone();
            }
            Datum::Int(number) => {
                let handle = self.environment.handle(HandleKind::Datatype, number)?;
                (handle.bare_name(), size_of_number(self.environment, number)?)
            }
            Datum::Address(..) => {
                let handle = predefined(self.named(rank, handle)?)?;
                (handle.bare_name(), size(handle)?)
            }
            _ => return None,
        };
        Some(Type::basic(name, size as i64))
    }

    /// A call that makes a datatype; one that is not known where it cannot be worked out.
    pub fn make_type(&mut self, asked: &Asked) {
        let new = self.new_type(asked);
        self.types.push(new);
        let handle = Datum::Handle(Kind::Datatype, self.types.len() as u32 - 1);
        self.answer(asked, "type_out", handle);
    }

    fn new_type(&mut self, asked: &Asked) -> Option<Type> {
        let old = asked.datum(self, "oldtype");
        let old = |job: &Self| job.datatype(asked.rank, old);
        let count = asked.number(self, "count");
        match asked.call.bare_name().trim_end_matches("_c") {
            "Type_contiguous" => {
                let old = old(self)?;
                old.repeat(count?, old.extent)
            }
            "Type_vector" | "Type_create_hvector" | "Type_hvector" => {
                let old = old(self)?;
                let block = old.repeat(asked.number(self, "blocklength")?, old.extent)?;
                let bytes = asked.number(self, "byte_stride");
                let stride = match bytes {
                    Some(bytes) => bytes,
                    None => asked.number(self, "stride")?.saturating_mul(old.extent),
                };
                block.repeat(count?, stride)
            }
            name @ ("Type_indexed"
            | "Type_create_hindexed"
            | "Type_create_indexed_block"
            | "Type_create_hindexed_block") => {
                let old = old(self)?;
                let wide = name.contains("hindexed");
                let scale = if wide { 1 } else { old.extent };
                let size = if wide { 8 } else { 4 };
                let each = asked.number(self, "blocklength");
                let mut parts = Vec::new();
                for n in 0..count?.min(MAX_TYPE_RUNS as i64) {
                    let length = match each {
                        Some(each) => each,
                        None => asked.element(self, "blocklengths", n, 4)?,
                    };
                    let at = asked.element(self, "displacements", n, size)?.saturating_mul(scale);
                    parts.push((at, old.repeat(length, old.extent)?));
                }
                Type::of_parts(&parts.iter().map(|(at, part)| (*at, part)).collect::<Vec<_>>())
            }
            "Type_create_struct" | "Type_struct" => {
                let mut parts = Vec::new();
                for n in 0..count?.min(MAX_TYPE_RUNS as i64) {
                    let length = asked.element(self, "blocklengths", n, 4)?;
                    let at = asked.element(self, "displacements", n, 8)?;
                    let handle = asked.element_datum(self, "types", n, self.handle_size(asked));
                    let of = self.datatype(asked.rank, handle)?;
                    parts.push((at, of.repeat(length, of.extent)?));
                }
                Type::of_parts(&parts.iter().map(|(at, part)| (*at, part)).collect::<Vec<_>>())
            }
            "Type_create_resized" => {
                let mut new = old(self)?;
                let _ = asked.number(self, "lb").filter(|low| *low == 0)?;
                new.extent = asked.number(self, "extent")?;
                new.committed = false;
                Some(new)
            }
            "Type_dup" => old(self),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_fit_in_order() {
        let int = Type::basic("INT", 4);
        let double = Type::basic("DOUBLE", 8);
        let pair = Type::of_parts(&[(0, &int), (8, &double)]).expect("is short");
        assert_eq!((pair.size, pair.extent, pair.is_dense()), (12, 16, false));
        let two = pair.amount(2).expect("is short");
        let ints = int.amount(3).expect("is short");
        assert!(fits(&pair.amount(1).expect("is short"), &two));
        assert!(!fits(&two, &ints));
        assert!(fits(&ints, &Type::basic("INTEGER", 4).amount(5).expect("is short")));
        assert!(fits(&ints, &Type::basic("BYTE", 1).amount(12).expect("is short")));
        assert!(!fits(&ints, &Type::basic("UNSIGNED", 4).amount(3).expect("is short")));
        let row = int.repeat(3, 8).expect("is short");
        assert_eq!((row.size, row.extent, row.pieces.len()), (12, 20, 3));
    }
}
