//! Dependences of tasks (OpenMP 5.2, §15.9.5): a task comes after those of its siblings before it that name what it
//! names, unless both only read it, or both are of one set.

use crate::agents::{Cell, Kind, acquire, cell, release};

/// How a dependence names its variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    In,
    /// `inoutset`: members of one set are not ordered.
    Set,
    /// `out`, `inout`, and `mutexinoutset`, whose tasks run one at a time.
    Out,
}

impl Way {
    const ALL: [Way; 3] = [Way::In, Way::Set, Way::Out];

    fn kind(self) -> Kind {
        match self {
            Way::In => Kind::DependIn,
            Way::Set => Kind::DependSet,
            Way::Out => Kind::DependOut,
        }
    }

    fn comes_after(self, other: Way) -> bool {
        self == Way::Out || self != other
    }
}

/// The dependences of one task.
#[derive(Clone, Copy, Default)]
pub struct Dependences {
    named: [Option<(usize, Way)>; MOST],
    /// There are some.
    any: bool,
    /// All variables are named, or more than there is room for: the task depends on every sibling.
    all: bool,
}

const MOST: usize = 8;

impl Dependences {
    /// Of a task that is known to have some, but not which.
    pub fn unknown() -> Dependences {
        Dependences { any: true, all: true, ..Dependences::default() }
    }

    /// Null stands for all variables.
    pub fn add(&mut self, variable: usize, way: Way) {
        self.any = true;
        match self.named.iter_mut().find(|place| place.is_none()) {
            Some(place) if variable != 0 => *place = Some((variable, way)),
            _ => self.all = true,
        }
    }

    fn named(&self) -> impl Iterator<Item = (usize, Way)> + '_ {
        self.named.iter().copied().flatten()
    }

    /// Who runs now comes after those that a task with these dependences waits for.
    pub fn wait(&self, parent: u64) {
        if !self.any {
            return;
        }
        acquire(cell(Kind::DependAll, parent));
        if self.all {
            acquire(cell(Kind::Depend, parent));
        }
        for (variable, way) in self.named() {
            let before = Way::ALL.into_iter().filter(|other| way.comes_after(*other));
            before.for_each(|other| acquire(of(variable, other, parent)));
        }
    }

    /// The task that runs now, which has these dependences, is done.
    pub fn tell(&self, parent: u64) {
        if !self.any {
            return;
        }
        release(cell(Kind::Depend, parent));
        if self.all {
            release(cell(Kind::DependAll, parent));
        }
        self.named().for_each(|(variable, way)| release(of(variable, way, parent)));
    }
}

/// Only siblings depend on each other.
fn of(variable: usize, way: Way, parent: u64) -> Cell {
    cell(way.kind(), (variable as u64).rotate_left(20) ^ parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_and_members_of_a_set_are_not_ordered() {
        for way in Way::ALL {
            assert!(Way::Out.comes_after(way) && way.comes_after(Way::Out));
        }
        assert!(!Way::In.comes_after(Way::In) && !Way::Set.comes_after(Way::Set));
        assert!(Way::In.comes_after(Way::Set) && Way::Set.comes_after(Way::In));
    }

    #[test]
    fn more_than_there_is_room_for_are_all() {
        let mut several = Dependences::default();
        (1..=MOST).for_each(|variable| several.add(variable * 8, Way::In));
        assert!(several.any && !several.all);
        several.add(4096, Way::In);
        assert!(several.all);
    }
}
