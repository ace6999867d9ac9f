//! Abstract memory of the rank-divergence analysis: labels by place.

use super::comm::Labels;
use super::mod_ref::Place;
use commsan_points_to::set::Set;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::{Rc, Weak};

/// Labels by offset, in order; none of them empty.
type Entries = SmallVec<[(Option<i64>, Labels); 2]>;

/// Labels of memory, by object. Most blocks change nothing: copies are one until one of them
/// changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored(Rc<FxHashMap<u32, Entries>>);

/// Knows a state again, but does not keep it.
#[derive(Debug, Default)]
pub struct Version(Weak<FxHashMap<u32, Entries>>);

impl Version {
    /// Whether it is that of this state, which has not changed since.
    pub fn is_of(&self, stored: &Stored) -> bool {
        std::ptr::eq(self.0.as_ptr(), Rc::as_ptr(&stored.0))
    }
}

impl Stored {
    /// To know this state again, as long as it does not change.
    pub fn version(&self) -> Version {
        Version(Rc::downgrade(&self.0))
    }

    /// Labels of what is at these places.
    pub fn read(&self, targets: &[Place]) -> Labels {
        let mut labels = 0;
        for target in targets {
            let Some(entries) = self.0.get(&target.object) else { continue };
            for (at, known) in entries {
                if at.is_none() && !target.field || target.at.is_none() || *at == target.at {
                    labels |= known;
                }
            }
        }
        labels
    }

    /// What was at a place is gone. Says whether any of it had labels, or has now.
    pub fn replace(&mut self, place: Place, labels: Labels) -> bool {
        let entries = self.0.get(&place.object);
        let known = entries.into_iter().flatten().filter(|(at, _)| *at == place.at);
        let known = known.fold(0, |all, (_, labels)| all | labels);
        if known != labels {
            let mut entries = entries.cloned().unwrap_or_default();
            entries.retain(|(at, _)| *at != place.at);
            add(&mut entries, place.at, labels);
            self.set(place.object, entries);
        }
        known | labels != 0
    }

    /// What is stored there may have these labels, too. Says whether that is new.
    pub fn add(&mut self, place: Place, labels: Labels) -> bool {
        let entries = self.0.get(&place.object);
        let mut known = entries.into_iter().flatten();
        let has = |(at, known): &(_, Labels)| *at == place.at && labels & !known == 0;
        if labels == 0 || known.any(has) {
            return false;
        }
        let map = Rc::make_mut(&mut self.0);
        add(map.entry(place.object).or_default(), place.at, labels);
        true
    }

    /// From a place of an object on, for so many bytes or to its end, or everywhere, there are no
    /// labels any more. Says whether the object is known.
    pub fn clear(&mut self, place: Place, bytes: Option<u64>) -> bool {
        let Some(entries) = self.0.get(&place.object) else { return false };
        let mut entries = entries.clone();
        let end = |begin: i64| Some(begin.saturating_add_unsigned(bytes?));
        let stays = |(at, begin): (i64, i64)| at < begin || end(begin).is_some_and(|end| at >= end);
        entries.retain(|(at, _)| at.zip(place.at).is_some_and(stays));
        self.set(place.object, entries);
        true
    }

    /// So many bytes from a place on are written anew; all of the object if they are the whole of
    /// it. Says whether the object is known.
    pub fn overwrite(&mut self, place: Place, bytes: u64, whole: bool) -> bool {
        let Some(entries) = self.0.get(&place.object) else { return false };
        let mut entries = entries.clone();
        let end = place.at.map(|begin| begin.saturating_add_unsigned(bytes));
        let within = |at: i64| place.at.is_some_and(|begin| at >= begin) && end > Some(at);
        entries.retain(|(at, _)| !whole && !at.is_some_and(within));
        self.set(place.object, entries);
        true
    }

    /// An object is as it is there.
    pub fn take(&mut self, object: u32, from: &Stored) {
        if self.0.get(&object) != from.0.get(&object) {
            self.set(object, from.0.get(&object).cloned().unwrap_or_default());
        }
    }

    /// An object may be as it is there.
    pub fn take_also(&mut self, object: u32, from: &Stored) {
        for (at, labels) in from.0.get(&object).into_iter().flatten() {
            self.add(Place { object, at: *at, field: false }, *labels);
        }
    }

    /// What is in these objects.
    pub fn within(&self, objects: &Set) -> Stored {
        let inside = self.0.iter().filter(|(object, _)| objects.contains(**object));
        Stored(Rc::new(inside.map(|(object, entries)| (*object, entries.clone())).collect()))
    }

    /// Whether this is a copy of the other, or the other way round, and neither has changed since.
    pub fn is(&self, other: &Stored) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Adds one state to another; says whether that has grown.
    pub fn join(&mut self, from: &Stored) -> bool {
        if self.is(from) {
            return false;
        }
        if self.0.is_empty() {
            self.0 = Rc::clone(&from.0);
            return !self.0.is_empty();
        }
        let mut grown = false;
        for (object, entries) in &*from.0 {
            for (at, labels) in entries {
                grown |= self.add(Place { object: *object, at: *at, field: false }, *labels);
            }
        }
        grown
    }

    fn set(&mut self, object: u32, entries: Entries) {
        let map = Rc::make_mut(&mut self.0);
        if entries.is_empty() {
            map.remove(&object);
        } else {
            map.insert(object, entries);
        }
    }
}

fn add(entries: &mut Entries, place: Option<i64>, labels: Labels) {
    match entries.binary_search_by_key(&place, |(at, _)| *at) {
        Ok(at) => entries[at].1 |= labels,
        Err(_) if labels == 0 => {}
        Err(at) => entries.insert(at, (place, labels)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(object: u32, at: Option<i64>) -> Place {
        Place { object, at, field: false }
    }

    #[test]
    fn a_copy_keeps_what_it_had() {
        let mut first = Stored::default();
        assert!(first.replace(place(0, Some(8)), 1));
        let mut copy = first.clone();
        assert!(copy.is(&first) && !copy.join(&first));
        assert!(copy.add(place(0, Some(8)), 2) && !copy.add(place(0, Some(8)), 2));
        let version = copy.version();
        assert!(version.is_of(&copy) && !version.is_of(&first));
        assert!(copy.add(place(0, Some(16)), 4) && !version.is_of(&copy));
        let read = |stored: &Stored, at| stored.read(&[place(0, at)]);
        assert_eq!((read(&first, Some(8)), read(&copy, Some(8))), (1, 3));
        assert!(first.join(&copy) && !first.join(&copy));
        assert_eq!(first, copy);
    }

    #[test]
    fn what_is_written_anew_is_gone_and_what_may_be_elsewhere_stays() {
        let mut stored = Stored::default();
        for (at, labels) in [(Some(0), 1), (Some(8), 2), (Some(12), 4), (None, 8)] {
            stored.add(place(0, at), labels);
        }
        assert!(!stored.overwrite(place(1, Some(0)), 4, true), "nothing was there");
        assert!(stored.overwrite(place(0, Some(8)), 4, false));
        assert_eq!(stored.read(&[place(0, None)]), 1 | 4 | 8);
        assert!(stored.overwrite(place(0, Some(0)), 16, true));
        assert_eq!(stored, Stored::default());
    }

    #[test]
    fn what_is_replaced_or_cleared_leaves_nothing() {
        let mut stored = Stored::default();
        stored.add(place(0, Some(0)), 1);
        stored.add(place(0, Some(8)), 2);
        stored.add(place(1, None), 4);
        assert!(stored.replace(place(0, Some(0)), 0));
        assert!(!stored.replace(place(0, Some(0)), 0), "nothing was there any more");
        assert!(stored.clear(place(0, Some(4)), Some(4)) && !stored.clear(place(2, None), None));
        assert_eq!(stored.read(&[place(0, Some(8))]), 2, "that lies behind");
        assert!(stored.clear(place(0, Some(4)), None));
        let mut other = Stored::default();
        other.add(place(1, None), 4);
        assert_eq!(stored, other);
    }
}
