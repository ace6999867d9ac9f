//! Task dependences (OpenMP 5.2, §15.9.5): a task is ordered after earlier siblings that depend on
//! the same variable, unless both only read it or both belong to one set.

use crate::agents::{Cell, Kind, acquire, cell, release};

/// The dependence type of a list item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DependenceType {
    In,
    /// `inoutset`: members of one set are not ordered.
    Set,
    /// `out`, `inout`, and `mutexinoutset`, whose tasks run one at a time.
    Out,
}

impl DependenceType {
    const ALL: [DependenceType; 3] = [DependenceType::In, DependenceType::Set, DependenceType::Out];

    fn kind(self) -> Kind {
        match self {
            DependenceType::In => Kind::DependIn,
            DependenceType::Set => Kind::DependSet,
            DependenceType::Out => Kind::DependOut,
        }
    }

    fn comes_after(self, other: DependenceType) -> bool {
        self == DependenceType::Out || self != other
    }
}

/// The dependences of one task.
#[derive(Clone, Copy, Default)]
pub struct Dependences {
    named: [Option<(usize, DependenceType)>; MAX_NAMED],
    /// Whether there are any.
    any: bool,
    /// Whether all variables count, by `omp_all_memory` or because there are too many: the task
    /// depends on every sibling.
    all: bool,
}

const MAX_NAMED: usize = 8;

impl Dependences {
    /// For a task that has dependences which are not known.
    pub fn unknown() -> Dependences {
        Dependences { any: true, all: true, ..Dependences::default() }
    }

    /// Adds a dependence; address 0 stands for `omp_all_memory`.
    pub fn add(&mut self, variable: usize, way: DependenceType) {
        self.any = true;
        match self.named.iter_mut().find(|place| place.is_none()) {
            Some(place) if variable != 0 => *place = Some((variable, way)),
            _ => self.all = true,
        }
    }

    fn named(&self) -> impl Iterator<Item = (usize, DependenceType)> + '_ {
        self.named.iter().copied().flatten()
    }

    /// Acquires from the siblings that a task with these dependences waits for.
    pub fn acquire(&self, parent: u64) {
        if !self.any {
            return;
        }
        acquire(cell(Kind::DependAll, parent));
        if self.all {
            acquire(cell(Kind::Depend, parent));
        }
        for (variable, way) in self.named() {
            let before = DependenceType::ALL.into_iter().filter(|other| way.comes_after(*other));
            before.for_each(|other| acquire(of(variable, other, parent)));
        }
    }

    /// Releases to later siblings, when the task with these dependences ends.
    pub fn release(&self, parent: u64) {
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

/// The cell of a variable among siblings, which alone depend on each other.
fn of(variable: usize, way: DependenceType, parent: u64) -> Cell {
    cell(way.kind(), (variable as u64).rotate_left(20) ^ parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_and_members_of_a_set_are_not_ordered() {
        for way in DependenceType::ALL {
            assert!(DependenceType::Out.comes_after(way) && way.comes_after(DependenceType::Out));
        }
        assert!(
            !DependenceType::In.comes_after(DependenceType::In)
                && !DependenceType::Set.comes_after(DependenceType::Set)
        );
        assert!(
            DependenceType::In.comes_after(DependenceType::Set)
                && DependenceType::Set.comes_after(DependenceType::In)
        );
    }

    #[test]
    fn more_than_there_is_room_for_are_all() {
        let mut several = Dependences::default();
        (1..=MAX_NAMED).for_each(|variable| several.add(variable * 8, DependenceType::In));
        assert!(several.any && !several.all);
        several.add(4096, DependenceType::In);
        assert!(several.all);
    }
}
