//! Memory of one rank: objects, and the known values in them.

use commsan_ir::{FunctionId, GlobalId, InstId};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// A value, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datum {
    Unknown,
    Int(i64),
    /// So many bytes into an object.
    Address(ObjectId, i64),
    Function(FunctionId),
    /// What a call of MPI has made.
    Handle(Kind, u32),
}

/// Kinds of handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Comm,
    Group,
    Datatype,
    Request,
    /// A reduction of the program's own: the number is the function's.
    Operation,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    Global(GlobalId),
    /// A variable of a function, or memory that it has allocated.
    Made(FunctionId, InstId),
    /// What MPI or the system has put there.
    System,
}

/// What is in an object, in pieces: the offset of each, its length and content. A piece of more
/// than 8 bytes is all zeros or not known. Together they cover the object.
type Pieces = BTreeMap<i64, (i64, Datum)>;

#[derive(Clone, Debug)]
pub struct Object {
    pub origin: Origin,
    /// Bytes; memory of a size that is not known has the largest there is.
    pub size: i64,
    pieces: Pieces,
}

/// Size in bytes that stands for memory of unknown size.
pub const UNKNOWN_SIZE_BYTES: i64 = 1 << 40;

#[derive(Clone, Debug, Default)]
pub struct Store {
    objects: Vec<Object>,
}

impl Store {
    /// A new object, all of it zeros or not known.
    pub fn make(&mut self, origin: Origin, size: Option<i64>, content: Datum) -> ObjectId {
        let size = size
            .filter(|size| (0..UNKNOWN_SIZE_BYTES).contains(size))
            .unwrap_or(UNKNOWN_SIZE_BYTES);
        let pieces = [(0, (size, content))].into_iter().filter(|_| size > 0).collect();
        self.objects.push(Object { origin, size, pieces });
        ObjectId(self.objects.len() as u32 - 1)
    }

    pub fn get(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    /// What so many bytes hold.
    pub fn load(&self, (object, at): (ObjectId, i64), size: i64) -> Datum {
        let pieces = &self.get(object).pieces;
        let Some((begin, (length, content))) = pieces.range(..=at).next_back() else {
            return Datum::Unknown;
        };
        if at + size > begin + length {
            return Datum::Unknown;
        }
        part(*content, at - begin, *length, size)
    }

    /// Stores a value of so many bytes.
    pub fn store(&mut self, (object, at): (ObjectId, i64), size: i64, value: Datum) {
        let value = match value {
            Datum::Int(number) if size < 8 => Datum::Int(signed(number, size)),
            value => value,
        };
        self.clear(object, at, size);
        self.put(object, at, size, value);
    }

    /// The pieces within so many bytes, by distance from the first.
    pub fn copy_of(&self, (object, at): (ObjectId, i64), size: i64) -> Vec<(i64, i64, Datum)> {
        let pieces = &self.get(object).pieces;
        let first = pieces.range(..=at).next_back().map_or(at, |(begin, _)| *begin);
        let within = pieces.range(first..at.saturating_add(size).max(first));
        let cut = |(begin, (length, content)): (&i64, &(i64, Datum))| {
            let (from, to) = ((*begin).max(at), (begin + length).min(at + size));
            let content = part(*content, from - begin, *length, to - from);
            (from < to).then_some((from - at, to - from, content))
        };
        within.filter_map(cut).collect()
    }

    /// Puts such pieces somewhere.
    pub fn paste(
        &mut self,
        (object, at): (ObjectId, i64),
        size: i64,
        pieces: &[(i64, i64, Datum)],
    ) {
        self.store((object, at), size, Datum::Unknown);
        for (begin, length, content) in pieces {
            self.store((object, at + begin), *length, *content);
        }
    }

    /// Forgets all that an object holds.
    pub fn forget(&mut self, object: ObjectId) {
        let size = self.get(object).size;
        self.clear(object, 0, size);
        self.put(object, 0, size, Datum::Unknown);
    }

    /// These objects and all that they have addresses of.
    pub fn reached(&self, from: impl IntoIterator<Item = ObjectId>) -> FxHashSet<ObjectId> {
        let mut open: Vec<_> = from.into_iter().collect();
        let mut found = FxHashSet::default();
        while let Some(object) = open.pop() {
            if found.insert(object) {
                open.extend(self.addresses(object));
            }
        }
        found
    }

    /// The objects that an object has addresses of.
    pub fn addresses(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> + '_ {
        self.get(object).pieces.values().filter_map(|(_, content)| match content {
            Datum::Address(object, _) => Some(*object),
            _ => None,
        })
    }

    /// Makes room, and cuts what is there in part.
    fn clear(&mut self, object: ObjectId, at: i64, size: i64) {
        let pieces = &mut self.objects[object.0 as usize].pieces;
        let first = pieces.range(..=at).next_back().map_or(at, |(begin, _)| *begin);
        let end = at.saturating_add(size);
        let met: Vec<_> = pieces.range(first..end.max(first)).map(|(b, p)| (*b, *p)).collect();
        for (begin, (length, content)) in met {
            if begin + length <= at {
                continue;
            }
            pieces.remove(&begin);
            if begin < at {
                pieces.insert(begin, (at - begin, part(content, 0, length, at - begin)));
            }
            if begin + length > end {
                let rest = begin + length - end;
                pieces.insert(end, (rest, part(content, end - begin, length, rest)));
            }
        }
    }

    fn put(&mut self, object: ObjectId, at: i64, size: i64, value: Datum) {
        let object = &mut self.objects[object.0 as usize];
        let whole = size <= 8 || matches!(value, Datum::Unknown | Datum::Int(0));
        let value = if whole { value } else { Datum::Unknown };
        // What lies beyond the object is nobody's.
        if at >= 0 && at < object.size && size > 0 {
            object.pieces.insert(at, (size, value));
        }
    }
}

/// So many bytes of a piece.
fn part(content: Datum, skip: i64, length: i64, size: i64) -> Datum {
    match content {
        _ if skip == 0 && size == length => content,
        Datum::Int(0) => Datum::Int(0),
        Datum::Int(number) if length <= 8 && size <= 8 && skip < 8 => {
            Datum::Int(signed(number >> (8 * skip), size))
        }
        _ => Datum::Unknown,
    }
}

/// What so many bytes of a number are, with their sign.
fn signed(number: i64, size: i64) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8);
    number << unused >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_where_they_are_stored_over() {
        let mut store = Store::default();
        let object = store.make(Origin::System, Some(16), Datum::Int(0));
        store.store((object, 4), 4, Datum::Int(-2));
        assert_eq!(store.load((object, 0), 4), Datum::Int(0));
        assert_eq!(store.load((object, 4), 4), Datum::Int(-2));
        assert_eq!(store.load((object, 4), 1), Datum::Int(-2));
        assert_eq!(store.load((object, 0), 8), Datum::Unknown);
        store.store((object, 6), 1, Datum::Int(0x17f));
        assert_eq!(store.load((object, 6), 1), Datum::Int(0x7f));
        assert_eq!(store.load((object, 7), 1), Datum::Int(-1));
        assert_eq!(store.load((object, 4), 2), Datum::Int(-2));
        assert_eq!(store.load((object, 12), 4), Datum::Int(0));
        let other = store.make(Origin::System, Some(8), Datum::Unknown);
        let copy = store.copy_of((object, 4), 8);
        store.paste((other, 0), 8, &copy);
        assert_eq!(store.load((other, 2), 1), Datum::Int(0x7f));
        assert_eq!(store.load((other, 4), 4), Datum::Int(0));
        store.forget(other);
        assert_eq!(store.load((other, 4), 4), Datum::Unknown);
    }
}
