//! Interned object sets and their alias queries.
//!
//! Sets of objects that addresses may point into, each with a number, and which of them have
//! something in common. There are few different ones, but they are large where all memory comes
//! from one function.

use super::pool::SetId;
use super::{Object, PointsTo};
use commsan_ir::{FunctionId, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The number of a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectsId(u32);

/// All sets that were asked for.
#[derive(Debug, Default)]
pub struct Sets {
    sets: Vec<Rc<[Object]>>,
    numbers: FxHashMap<Rc<[Object]>, ObjectsId>,
    of: FxHashMap<SetId, ObjectsId>,
    /// By two of them, the smaller number first.
    meet: FxHashMap<(ObjectsId, ObjectsId), bool>,
}

impl PointsTo {
    /// The objects that a value may point into; none if it is no pointer.
    pub fn objects(&self, function: FunctionId, value: Value) -> ObjectsId {
        let held = self.set(function, value);
        let known = held.and_then(|held| self.sets.borrow().of.get(&held).copied());
        if let Some(known) = known {
            return known;
        }
        let targets = self.targets(function, value);
        let set = self.objects_of(targets.into_iter().map(|target| target.object));
        if let Some(held) = held {
            self.sets.borrow_mut().of.insert(held, set);
        }
        set
    }

    /// The set of these objects.
    pub fn objects_of(&self, objects: impl IntoIterator<Item = Object>) -> ObjectsId {
        let mut objects: Vec<_> = objects.into_iter().collect();
        objects.sort_unstable();
        objects.dedup();
        let mut sets = self.sets.borrow_mut();
        if let Some(number) = sets.numbers.get(&*objects) {
            return *number;
        }
        let number = ObjectsId(sets.sets.len() as u32);
        let objects = Rc::<[_]>::from(objects);
        sets.sets.push(Rc::clone(&objects));
        sets.numbers.insert(objects, number);
        number
    }

    /// What is in either of two sets.
    pub fn objects_together(&self, one: ObjectsId, other: ObjectsId) -> ObjectsId {
        if one == other {
            return one;
        }
        let [one, other] = [self.in_set(one), self.in_set(other)];
        self.objects_of(one.iter().chain(&*other).copied())
    }

    /// What is in a set, in order.
    pub fn in_set(&self, set: ObjectsId) -> Rc<[Object]> {
        Rc::clone(&self.sets.borrow().sets[set.0 as usize])
    }

    /// Whether others may write to any object of a set.
    pub fn any_escapes(&self, set: ObjectsId) -> bool {
        self.in_set(set).iter().any(|object| self.escapes(*object))
    }

    /// Whether addresses into two sets may be one.
    pub fn may_meet(&self, one: ObjectsId, other: ObjectsId) -> bool {
        let pair = (one.min(other), one.max(other));
        if let Some(known) = self.sets.borrow().meet.get(&pair) {
            return *known;
        }
        let [few, many] = [one, other].map(|set| self.in_set(set));
        let (few, many) = if few.len() <= many.len() { (few, many) } else { (many, few) };
        let outside = |set: &[Object]| set.binary_search(&Object::Outside).is_ok();
        let escapes = |set: &[Object]| set.iter().any(|object| self.escapes(*object));
        let meet = outside(&few) && escapes(&many)
            || outside(&many) && escapes(&few)
            || few.iter().any(|object| many.binary_search(object).is_ok());
        self.sets.borrow_mut().meet.insert(pair, meet);
        meet
    }
}
