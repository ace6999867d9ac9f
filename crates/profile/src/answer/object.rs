//! `/api/object/ID`: which bytes of an object are touched, where, and by whom.

use super::extents::{element, join, shapes};
use crate::Profile;
use crate::api::{Access, Amount, Direction, Error, ObjectAt, ObjectDetail};
use crate::model::{End, Row};
use crate::packed::List;
use commsan_rundir::traffic::{Extent, Side};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Accesses that an answer lists.
const MAX_ACCESSES: usize = 4096;

/// Extents of an access, unless the question says otherwise.
const DEFAULT_EXTENTS: usize = 256;

/// What accesses have in common that are listed as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    instance: u32,
    place: u32,
    kind: usize,
    site: u32,
    direction: Direction,
}

/// Accesses with the lists of what they touch.
type Accesses = IndexMap<Key, (Amount, Vec<List>), FxBuildHasher>;

impl Profile {
    /// An object in detail, each access with at most `most` extents.
    ///
    /// # Errors
    /// When there is no such object.
    pub fn object(&self, id: usize, most: Option<usize>) -> Result<ObjectDetail, Error> {
        let sums = self.sums_of_object(id)?;
        let most = most.unwrap_or(DEFAULT_EXTENTS);
        let mut accesses: Vec<_> = self.accesses(id).into_iter().collect();
        accesses.sort_by_key(|(key, (amount, _))| (std::cmp::Reverse(amount.bytes), key.instance));
        let more = accesses.len().saturating_sub(MAX_ACCESSES);
        accesses.truncate(MAX_ACCESSES);
        let extents: Vec<Vec<Extent>> =
            accesses.iter().map(|(_, (_, l))| self.extents(l)).collect();
        let size = self.model.objects[id].bytes;
        let lists = || extents.iter().map(Vec::as_slice);
        let element = element(lists(), size);
        let shapes = shapes(lists(), size, element);
        let instances = self.model.instances.iter().zip(0..);
        let instances = instances.filter(|(instance, _)| instance.object as usize == id);
        let mut places: Vec<(u32, ObjectAt)> = instances
            .map(|(instance, number)| {
                let (place, bytes, address) = (instance.place, instance.bytes, instance.address);
                (number, ObjectAt { place: place as usize, bytes, address, accessors: vec![] })
            })
            .collect();
        for ((key, (amount, _)), extents) in accesses.into_iter().zip(extents) {
            // Every access is to an instance of this object; these ascend.
            let Ok(at) = places.binary_search_by_key(&key.instance, |place| place.0) else {
                continue;
            };
            places[at].1.accessors.push(self.access(key, amount, &extents, most));
        }
        let mut places: Vec<ObjectAt> = places.into_iter().map(|(_, place)| place).collect();
        places.sort_by_key(|place| place.place);
        Ok(ObjectDetail { object: self.describe(id, &sums), places, more, element, shapes })
    }

    fn accesses(&self, object: usize) -> Accesses {
        let mut accesses = Accesses::default();
        for row in self.index.accesses.get(object) {
            let row = &self.model.rows[*row as usize];
            let ends = [(row.object, false, row.extents), (row.other, true, row.other_extents)];
            for (instance, is_other, list) in ends {
                let Some(instance) = instance else { continue };
                if self.model.object_of(instance) as usize != object {
                    continue;
                }
                let writes = is_other || row.side == Side::Target;
                let direction = if writes { Direction::Write } else { Direction::Read };
                let (place, kind) = (peer(row, writes), self.kind(row.kind));
                let key = Key { instance, place, kind, site: row.site, direction };
                let (amount, lists) = accesses.entry(key).or_default();
                amount.add(self.model.total(row));
                lists.push(list);
            }
        }
        accesses
    }

    fn extents(&self, lists: &[List]) -> Vec<Extent> {
        let all = lists.iter().flat_map(|list| self.model.packed.extents(*list));
        join(&all.collect::<Vec<_>>(), usize::MAX)
    }

    fn access(&self, key: Key, amount: Amount, extents: &[Extent], most: usize) -> Access {
        let line = self.model.line_of_site(key.site).map(|line| self.model.lines[line as usize]);
        let extents = join(extents, most);
        Access {
            place: key.place as usize,
            kind: key.kind,
            call: self.model.call_of_site(key.site).to_owned(),
            file: line.map(|line| line.file as usize),
            line: line.map(|line| line.line),
            direction: key.direction,
            count: amount.count,
            bytes: amount.bytes,
            extents: extents.iter().map(|e| (e.start, e.bytes, e.count)).collect(),
        }
    }
}

/// Where what is read goes to, or what is written comes from; the place itself, if that is a
/// pattern.
fn peer(row: &Row, writes: bool) -> u32 {
    let (own, other) = if writes { (row.target, row.source) } else { (row.source, row.target) };
    match (other, own) {
        (End::At(place), _) | (End::Of(..), End::At(place)) => place,
        // Merging lets none of these in.
        (End::Of(..), End::Of(..)) => 0,
    }
}
