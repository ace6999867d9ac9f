//! Communicators, windows and files, and how many collectives this rank has entered on each.
//!
//! A communicator has a name that its members can compute without communication: it was made by the
//! n-th collective of a communicator that has a name, and consists of these ranks; or these ranks
//! have made it as their n-th with one tag (`MPI_Comm_create_group`).

use super::entry::{MAX_PROGRESS, Progress};
pub use crate::ids::On;
use crate::ids::{Group, mixed};
use crate::threads::Calling;
use commsan_callsite::Site;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

const WORLD: u64 = 0x3057_0a1d;
const OF_WINDOWS: u64 = 0x77_1d05;
const OF_FILES: u64 = 0x0f_11e5;
const OF_GROUPS: u64 = 0x6_2009;
const OF_SESSIONS: u64 = 0x5e_5510;
const OF_PAIRS: u64 = 0x9a_1125;
const OF_PES: u64 = 0x7e_5e75;

/// A communicator, window or file, and what this rank has entered on it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Equal in all ranks, and unique; 0 if there is none.
    pub name: u64,
    /// Number of ranks.
    pub size: usize,
    /// Its ranks in the job; for an intercommunicator those of the remote group. Empty if not
    /// known.
    pub members: Arc<[u32]>,
    /// Whether it joins two groups: `members` are those of the other one.
    pub is_inter: bool,
    /// Number of collectives entered.
    pub entered: u32,
    /// The last blocking collective that was entered while the process had one thread: its number
    /// and site.
    pub blocking: Option<(u32, Site)>,
    /// The last collective, while there are several threads.
    pub(crate) by_thread: Option<Calling>,
}

impl Known {
    /// Of this name, on which nothing was entered yet.
    fn of(name: u64, group: &Group) -> Known {
        let (members, is_inter) = (group.members.clone(), group.is_remote);
        Known { name, size: members.len(), members, is_inter, ..Known::default() }
    }

    /// Whether it is `MPI_COMM_WORLD`.
    pub fn is_world(&self) -> bool {
        self.name == WORLD
    }

    fn progress(&self) -> Progress {
        let blocking = self.blocking.map_or(0, |(number, _)| number);
        Progress { name: self.name, entered: self.entered, blocking }
    }

    /// The rendezvous key of the collective of this number.
    pub fn key(&self, number: u32) -> u64 {
        mixed(self.name, number.into()) | 1
    }
}

/// All communicators, windows and files that this rank knows.
#[derive(Default)]
pub struct Communicators {
    all: FxHashMap<On, Known>,
    /// Handles with a name, most recently used or made first.
    recent: Vec<On>,
    /// All names that were given, and those that were withdrawn.
    given: Vec<u64>,
    distrusted: Vec<u64>,
    /// Number of communicators that groups have made: by name of the parent, tag and group.
    of_groups: FxHashMap<(u64, i32, u64), u64>,
    /// Names of handles that were freed lately, and the collectives entered on them: other ranks
    /// may still be in the call.
    gone: VecDeque<(u64, u32)>,
}

/// Names that are remembered after their communicator, window or file was freed.
const MAX_GONE: usize = 32;

impl Communicators {
    /// `MPI_COMM_WORLD` has this handle.
    pub fn add_world(&mut self, handle: usize, size: usize) {
        self.add(On::Comm(handle), WORLD, &Group::new((0..size as u32).collect()));
    }

    /// `MPI_COMM_SELF` has this handle. No other rank takes part in its collectives.
    pub fn add_self(&mut self, handle: usize, me: u32) {
        let known = Known { size: 1, members: [me].into(), ..Known::default() };
        self.all.insert(On::Comm(handle), known);
    }

    /// PEs of OpenSHMEM enter collectives, known by this key on all of them.
    pub fn add_pes(&mut self, key: usize, group: &Group) {
        self.add(On::Pes(key), mixed(OF_PES, key as u64) | 1, group);
    }

    /// The collective that this rank has entered last on `parent` has made something for a group.
    pub fn add_child(&mut self, parent: usize, child: On, group: &Group) {
        let parent = self.all.get(&On::Comm(parent)).filter(|parent| parent.name != 0);
        let Some(maker) = parent.map(|parent| parent.key(parent.entered)) else {
            return self.add_nameless(child, group);
        };
        let salt = match child {
            On::Comm(_) => 0,
            On::Window(_) => OF_WINDOWS,
            On::File(_) => OF_FILES,
            On::Pes(_) => OF_PES,
        };
        self.add(child, mixed(maker, group.name ^ salt) | 1, group);
    }

    /// A group has made a communicator, out of another one or out of none, as the n-th of this tag
    /// and group.
    pub fn add_of_group(&mut self, parent: Option<usize>, tag: i32, child: On, group: &Group) {
        let Some((parent, name)) = self.origin(parent).zip(self.name_of_group(parent, tag, group))
        else {
            return self.add_nameless(child, group);
        };
        *self.of_groups.entry((parent, tag, group.name)).or_default() += 1;
        self.add(child, name, group);
    }

    /// Two groups of this job have been joined, as the n-th time with this tag. `group` consists of
    /// the other group's members, and has the same name on both sides.
    pub fn add_joined(&mut self, tag: i32, child: On, group: &Group) {
        if group.members.is_empty() {
            return self.add_nameless(child, group);
        }
        let turn = self.of_groups.entry((OF_PAIRS, tag, group.name)).or_default();
        *turn += 1;
        let name = mixed(mixed(mixed(OF_PAIRS, tag as u64), *turn), group.name) | 1;
        self.add(child, name, group);
    }

    /// The name of the parent out of which a group makes a communicator.
    fn origin(&self, parent: Option<usize>) -> Option<u64> {
        let Some(parent) = parent else { return Some(OF_SESSIONS) };
        self.all.get(&On::Comm(parent)).map(|parent| parent.name).filter(|name| *name != 0)
    }

    /// The name of the next communicator that a group makes.
    pub fn name_of_group(&self, parent: Option<usize>, tag: i32, group: &Group) -> Option<u64> {
        let parent = self.origin(parent)?;
        let made = self.of_groups.get(&(parent, tag, group.name)).copied().unwrap_or(0);
        let maker = mixed(mixed(parent ^ OF_GROUPS, tag as u64), made + 1);
        Some(mixed(maker, group.name) | 1)
    }

    /// A communicator whose counterpart on other ranks is not known.
    pub fn add_nameless(&mut self, child: On, group: &Group) {
        self.forget(child);
        self.all.insert(child, Known::of(0, group));
    }

    fn add(&mut self, on: On, name: u64, group: &Group) {
        self.all.insert(on, Known::of(name, group));
        if matches!(on, On::Comm(_)) {
            self.given.push(name);
        }
        self.touch(on);
    }

    /// The handle may come to mean something else.
    pub fn forget(&mut self, on: On) {
        if let Some(known) = self.all.remove(&on).filter(|known| known.name != 0) {
            self.gone.truncate(MAX_GONE - 1);
            self.gone.push_front((known.name, known.entered));
        }
        self.recent.retain(|other| *other != on);
    }

    /// The communicator of this name is freed.
    pub fn leave(&mut self, name: u64) {
        self.gone.truncate(MAX_GONE - 1);
        self.gone.push_front((name, 0));
    }

    /// From now on the number of collectives that other ranks have entered is not known.
    pub fn distrust(&mut self, on: On) {
        if let Some(known) = self.all.get_mut(&on).filter(|known| known.name != 0) {
            self.distrusted.push(known.name);
            known.name = 0;
        }
        self.recent.retain(|other| *other != on);
    }

    /// Names that were given to communicators.
    pub fn given(&self) -> &[u64] {
        &self.given
    }

    /// Names that were withdrawn.
    pub fn distrusted(&self) -> &[u64] {
        &self.distrusted
    }

    /// Only one thread exists again.
    pub fn forget_threads(&mut self) {
        self.all.values_mut().for_each(|known| known.by_thread = None);
    }

    /// The last call of a thread, if the handle is known.
    pub(crate) fn by_thread(&mut self, on: On) -> Option<&mut Calling> {
        self.all.get_mut(&on)?.by_thread.as_mut()
    }

    /// What is known of a handle.
    pub fn get(&mut self, on: On) -> &mut Known {
        self.all.entry(on).or_default()
    }

    /// What is known of a handle, if anything.
    pub fn find(&self, on: On) -> Option<&Known> {
        self.all.get(&on)
    }

    /// Handles with a name.
    pub fn named(&self) -> impl Iterator<Item = (On, &Known)> {
        self.all.iter().filter(|(_, known)| known.name != 0).map(|(on, known)| (*on, known))
    }

    /// How many collectives this rank has entered on each name, including recently freed ones.
    pub fn entered(&self) -> impl Iterator<Item = (u64, u32)> {
        self.gone.iter().copied().chain(self.named().map(|(_, known)| (known.name, known.entered)))
    }

    /// The handle was used just now.
    pub fn touch(&mut self, on: On) {
        if self.recent.first() != Some(&on) {
            self.recent.retain(|other| *other != on);
            self.recent.insert(0, on);
            self.recent.truncate(MAX_PROGRESS + 1);
        }
    }

    /// The most recently used handles except one.
    pub fn others(&self, on: On) -> impl Iterator<Item = (On, &Known)> {
        let others = self.recent.iter().filter(move |other| **other != on).take(MAX_PROGRESS);
        others.filter_map(|other| Some((*other, self.all.get(other)?)))
    }

    /// How far this rank has come on the most recently used handles except one.
    pub fn progress(&self, on: On) -> [Progress; MAX_PROGRESS] {
        let mut progress = [Progress::default(); MAX_PROGRESS];
        for (to, (_, known)) in progress.iter_mut().zip(self.others(on)) {
            *to = known.progress();
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: On = On::Comm(1);

    fn world() -> Communicators {
        let mut all = Communicators::default();
        all.add_world(1, 4);
        all
    }

    #[test]
    fn names_follow_from_how_something_was_made() {
        let make = |before: u32, members: Vec<u32>, child: On| {
            let mut all = world();
            all.get(PARENT).entered = before;
            all.add_child(1, child, &Group::new(members));
            all.get(child).name
        };
        // The handle is a rank's own.
        let first = make(1, vec![0, 1], On::Comm(2));
        assert_eq!(first, make(1, vec![0, 1], On::Comm(9)));
        let others = [
            make(2, vec![0, 1], On::Comm(2)),
            make(1, vec![2, 3], On::Comm(2)),
            make(1, vec![0, 1], On::Window(2)),
        ];
        assert!(others.iter().all(|name| *name != first && *name != 0), "{others:x?}");
    }

    #[test]
    fn what_groups_make_is_named_by_tag_group_and_turn() {
        let make = |before: u32, turns: usize, tag: i32, members: Vec<u32>| {
            let mut all = world();
            // Others of the old communicator do not take part.
            all.get(PARENT).entered = before;
            let group = Group::new(members);
            all.add_of_group(Some(1), 7, On::Comm(8), &Group::new(vec![0, 1]));
            (0..turns).for_each(|_| all.add_of_group(Some(1), tag, On::Comm(9), &group));
            all.get(On::Comm(9)).name
        };
        let first = make(1, 1, 3, vec![0, 2]);
        assert_eq!(first, make(5, 1, 3, vec![0, 2]));
        let others =
            [make(1, 2, 3, vec![0, 2]), make(1, 1, 4, vec![0, 2]), make(1, 1, 3, vec![0, 3])];
        assert!(others.iter().all(|name| *name != first && *name != 0), "{others:x?}");
        let mut all = world();
        all.distrust(PARENT);
        all.add_of_group(Some(1), 3, On::Comm(9), &Group::new(vec![0, 2]));
        assert_eq!(all.get(On::Comm(9)).name, 0);
        // Of sessions there is no old one.
        all.add_of_group(None, 3, On::Comm(10), &Group::new(vec![0, 2]));
        assert!(![0, first].contains(&all.get(On::Comm(10)).name));
    }

    #[test]
    fn joined_groups_have_one_name_on_both_sides() {
        let (mut one, mut other) = (Group::new(vec![0, 1]), Group::new(vec![2, 3]));
        let name = one.name ^ other.name;
        for group in [&mut one, &mut other] {
            (group.name, group.is_remote) = (name, true);
        }
        let join = |turns: usize, tag: i32, group: &Group| {
            let mut all = world();
            (0..turns).for_each(|_| all.add_joined(tag, On::Comm(9), group));
            let known = all.get(On::Comm(9));
            assert!(known.is_inter && known.members == group.members);
            known.name
        };
        let first = join(1, 3, &one);
        assert_eq!(first, join(1, 3, &other));
        assert!([join(2, 3, &one), join(1, 4, &one), 0].iter().all(|name| *name != first));
        // Groups of another job have no counterpart here.
        let mut all = world();
        all.add_joined(3, On::Comm(9), &Group { members: Arc::new([]), ..one });
        assert_eq!(all.get(On::Comm(9)).name, 0);
    }

    #[test]
    fn what_comes_from_elsewhere_has_no_name() {
        let mut all = world();
        all.add_child(5, On::Comm(6), &Group::new(vec![0, 1]));
        assert_eq!(all.get(On::Comm(6)).name, 0);
        all.distrust(PARENT);
        all.add_child(1, On::Comm(7), &Group::new(vec![0, 1]));
        assert_eq!(all.get(On::Comm(7)).name, 0);
        assert_eq!(all.named().count(), 0);
    }

    #[test]
    fn progress_is_told_of_what_was_used_last() {
        let mut all = world();
        for child in 2..8 {
            all.add_child(1, On::Comm(child), &Group::new(vec![0, 1]));
            all.get(On::Comm(child)).entered = child as u32;
        }
        all.touch(On::Comm(2));
        let entered = |on| all.progress(on).map(|progress| progress.entered);
        assert_eq!(entered(On::Comm(2)), [7, 6, 5]);
        assert_eq!(entered(PARENT), [2, 7, 6]);
        all.forget(On::Comm(7));
        assert_eq!(all.progress(On::Comm(2)).map(|progress| progress.entered), [6, 5, 0]);
    }
}
