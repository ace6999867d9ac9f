//! The counts: one row for all transfers that have everything in common but time and bytes.

use crate::extents::Extents;
use crate::order::Order;
use crate::time::{add, coarsen};
use commsan_callsite::{StackId, Stacks};
use commsan_rundir::traffic::{Bin, End, Kind, Side};
use rustc_hash::{FxHashMap, FxHashSet};

/// Distinct tags that are kept of one place, whatever number of rows that makes.
pub const TAGS: usize = 16;

/// Rows of one place that may be made for further tags: programs have tags for each field and direction, which are
/// few for each neighbour, and others one for each message.
const TAGGED: u32 = 256;

/// Rows at most before places are no longer told apart.
pub const ROWS: usize = 1 << 18;

/// What is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// What kind of transfer.
    pub kind: Kind,
    /// The call or instruction, as the number of a string.
    pub call: u32,
    /// How control came there.
    pub stack: StackId,
    /// The line in a kernel, in front of the call path: see [`Traffic::line`](crate::Traffic::line).
    pub line: Option<u32>,
    /// Who sees it.
    pub side: Side,
    /// From where.
    pub source: End,
    /// To where.
    pub target: End,
    /// The communicator's group.
    pub group: Option<u32>,
    /// The tag.
    pub tag: Option<i32>,
    /// The object at the end that `side` says.
    pub object: Option<u32>,
    /// That at the other end, where this process sees both.
    pub other: Option<u32>,
    /// The region of the program, as the number of a string.
    pub region: Option<u32>,
}

impl Key {
    /// Without what makes rows many.
    fn general(self) -> Key {
        Key { stack: Stacks::EMPTY, line: None, tag: None, object: None, other: None, ..self }
    }
}

/// What has been counted under a key.
#[derive(Debug)]
pub struct Row {
    /// Of what.
    pub key: Key,
    /// How many.
    pub count: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// By time.
    pub bins: Vec<Bin>,
    /// Which bytes of the object.
    pub extents: Extents,
    /// Which bytes of the other.
    pub others: Extents,
    /// Which messages they are.
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

/// All rows.
#[derive(Debug, Default)]
pub struct Rows {
    all: Vec<Row>,
    known: FxHashMap<Key, u32>,
    tags: FxHashMap<(StackId, Kind), Tags>,
}

/// Tags of one place.
#[derive(Debug, Default)]
struct Tags {
    known: FxHashSet<i32>,
    /// Rows with any of these.
    rows: u32,
}

impl Rows {
    /// Every row.
    pub fn all(&self) -> &[Row] {
        &self.all
    }

    /// The number of a key's row; of one of a more general key where there are too many.
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
            let tags = self.tags.entry((key.stack, key.kind)).or_default();
            if tags.known.contains(&tag) || tags.known.len() < TAGS || tags.rows < TAGGED {
                tags.known.insert(tag);
                tags.rows += 1;
            } else {
                key.tag = None;
            }
        }
        if self.all.len() >= ROWS && !self.known.contains_key(&key) {
            key = key.general();
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

    /// Time bins 2n and 2n + 1 become bin n.
    pub fn coarsen(&mut self) {
        self.all.iter_mut().for_each(|row| coarsen(&mut row.bins));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_rundir::traffic::Place;

    fn key(tag: i32) -> Key {
        let at = |rank| End::At(Place::Rank(rank));
        Key {
            kind: Kind::PointToPoint,
            call: 0,
            stack: Stacks::EMPTY,
            line: None,
            side: Side::Source,
            source: at(0),
            target: at(1),
            group: None,
            tag: Some(tag),
            object: None,
            other: None,
            region: None,
        }
    }

    #[test]
    fn tags_without_end_share_a_row_and_lose_nothing() {
        let mut rows = Rows::default();
        let mut add = |key, bytes| {
            let row = rows.of(key);
            rows.row(row).add(0, 1, bytes);
        };
        (0..1000).for_each(|tag| add(key(tag), 8));
        assert_eq!(rows.all().len(), TAGGED as usize + 1);
        assert_eq!(rows.all().iter().map(|row| row.bytes).sum::<u64>(), 8000);
        assert_eq!(rows.all().last().unwrap().count, 1000 - u64::from(TAGGED));
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
        assert_eq!(rows.all().len(), (TAGS + 1) * 100);
    }

    #[test]
    fn too_many_places_share_a_row_and_lose_nothing() {
        let mut rows = Rows::default();
        let many = ROWS as u32 + 500;
        for object in 0..many {
            let row = rows.of(Key { object: Some(object), ..key(0) });
            rows.row(row).add(0, 1, 1);
        }
        assert_eq!(rows.all().len(), ROWS + 1);
        assert_eq!(rows.all().iter().map(|row| row.count).sum::<u64>(), u64::from(many));
    }
}
