//! The counter table: one row for all transfers that agree in everything but time and bytes.

use crate::extents::Extents;
use crate::order::Order;
use crate::time::{add, coarsen};
use commsan_callsite::{StackId, Stacks};
use commsan_rundir::traffic::{self, Bin, Kind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Distinct tags kept of one call site, whatever the number of rows.
pub const MAX_TAGS: usize = 16;

/// Maximum number of rows of one call site for further tags. Some programs use a tag per field and
/// direction, few for each neighbour; others use one per message.
const MAX_TAGGED_ROWS: u32 = 256;

/// Maximum number of rows before call sites are merged.
pub const MAX_ROWS: usize = 1 << 18;

/// The call path of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The call stack.
    pub stack: StackId,
    /// The source line in a kernel, which precedes the call stack: see
    /// [`Traffic::line`](crate::Traffic::line).
    pub line: Option<u32>,
}

impl From<StackId> for Path {
    fn from(stack: StackId) -> Path {
        Path { stack, line: None }
    }
}

/// The key of a row: everything but time and bytes that describes a transfer. Its object is at the
/// end that `side` names, and the other one at the other end, where this process sees both.
pub type Key = traffic::Key<Path>;

/// The key without the parts that multiply rows.
fn general(key: Key) -> Key {
    Key { tag: None, object: None, other: None, ..key.with_path(Stacks::EMPTY.into()) }
}

/// The counters of one key.
#[derive(Debug)]
pub struct Row {
    /// The key.
    pub key: Key,
    /// Number of transfers.
    pub count: u64,
    /// Bytes of all transfers together.
    pub bytes: u64,
    /// Transfers by time bin.
    pub bins: Vec<Bin>,
    /// The bytes of the object that were transferred.
    pub extents: Extents,
    /// The bytes of the object at the other end.
    pub others: Extents,
    /// The messages of the row, for matching.
    pub order: Order,
}

impl Row {
    /// Adds transfers in a time bin.
    #[inline]
    pub fn add(&mut self, bin: u32, count: u64, bytes: u64) {
        self.count += count;
        self.bytes += bytes;
        add(&mut self.bins, bin, count, bytes);
    }
}

/// All rows, found by key.
#[derive(Debug, Default)]
pub struct Rows {
    all: Vec<Row>,
    known: FxHashMap<Key, u32>,
    tags: FxHashMap<(StackId, Kind), Tags>,
}

/// The tags of one call site.
#[derive(Debug, Default)]
struct Tags {
    known: FxHashSet<i32>,
    /// Number of rows with any of these tags.
    rows: u32,
}

impl Rows {
    /// Every row, by number.
    pub fn all(&self) -> &[Row] {
        &self.all
    }

    /// The number of a key's row, added if new; of a more general key if there are too many rows.
    #[inline]
    pub fn of(&mut self, key: Key) -> u32 {
        match self.known.get(&key) {
            Some(number) => *number,
            None => self.find_or_add(key),
        }
    }

    /// The row with a number.
    #[inline]
    pub fn row(&mut self, number: u32) -> &mut Row {
        &mut self.all[number as usize]
    }

    fn find_or_add(&mut self, mut key: Key) -> u32 {
        if let Some(tag) = key.tag {
            let tags = self.tags.entry((key.path.stack, key.kind)).or_default();
            if tags.known.contains(&tag)
                || tags.known.len() < MAX_TAGS
                || tags.rows < MAX_TAGGED_ROWS
            {
                tags.known.insert(tag);
                tags.rows += 1;
            } else {
                key.tag = None;
            }
        }
        if self.all.len() >= MAX_ROWS && !self.known.contains_key(&key) {
            key = general(key);
        }
        let next = self.all.len() as u32;
        *self.known.entry(key).or_insert_with(|| {
            let (extents, others, order) = Default::default();
            self.all.push(Row {
                key,
                count: 0,
                bytes: 0,
                bins: Vec::new(),
                extents,
                others,
                order,
            });
            next
        })
    }

    /// Halves the resolution: time bins 2n and 2n + 1 become bin n.
    pub fn coarsen(&mut self) {
        self.all.iter_mut().for_each(|row| coarsen(&mut row.bins));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_rundir::traffic::{End, Place, Side};

    fn key(tag: i32) -> Key {
        let at = |rank| End::At(Place::Rank(rank));
        let path = Stacks::EMPTY.into();
        let key = Key::new(Kind::PointToPoint, 0, path, Side::Source, (at(0), at(1)));
        Key { tag: Some(tag), ..key }
    }

    #[test]
    fn tags_without_end_share_a_row_and_lose_nothing() {
        let mut rows = Rows::default();
        let mut add = |key, bytes| {
            let row = rows.of(key);
            rows.row(row).add(0, 1, bytes);
        };
        (0..1000).for_each(|tag| add(key(tag), 8));
        assert_eq!(rows.all().len(), MAX_TAGGED_ROWS as usize + 1);
        assert_eq!(rows.all().iter().map(|row| row.bytes).sum::<u64>(), 8000);
        assert_eq!(rows.all().last().unwrap().count, 1000 - u64::from(MAX_TAGGED_ROWS));
    }

    #[test]
    fn tags_to_many_ranks_are_few() {
        let mut rows = Rows::default();
        for tag in 0..100 {
            for rank in 0..100 {
                let target = End::At(Place::Rank(rank));
                rows.of(Key { target, ..key(tag) });
            }
        }
        assert_eq!(rows.all().len(), (MAX_TAGS + 1) * 100);
    }

    #[test]
    fn too_many_places_share_a_row_and_lose_nothing() {
        let mut rows = Rows::default();
        let many = MAX_ROWS as u32 + 500;
        for object in 0..many {
            let row = rows.of(Key { object: Some(object), ..key(0) });
            rows.row(row).add(0, 1, 1);
        }
        assert_eq!(rows.all().len(), MAX_ROWS + 1);
        assert_eq!(rows.all().iter().map(|row| row.count).sum::<u64>(), u64::from(many));
    }
}
