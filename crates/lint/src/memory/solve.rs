//! The sets and the rules by which they grow.
//!
//! Pointers are numbered, and sets hand on what is new in them only (difference propagation, Pearce et al.
//! 2003). What is computed from the same set in the same way is the same set (value numbering, after
//! Hardekopf and Lin 2007), so that all callers of a function share what it returns. Sets that hand on to each other in a
//! circle become one, where they are seen to have become the same (lazy cycle detection, Hardekopf and Lin, PLDI 2007).

use super::pool::{EMPTY, Pool, SetId};
use super::set::Set;
use super::{FIELDS, Object, Pointer};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::collections::VecDeque;

/// Places of one object that one set tells apart: who steps through it has none.
const PLACES: usize = 64;

/// A set of pointers: those that a value, or a field of an object, may hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(u32);

impl Node {
    /// Its number, among all that there are.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Bytes to go on; none if not known.
pub type Step = Option<i64>;

/// What a set brings about elsewhere, besides that others have what it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Edge {
    /// The other set has these, so many bytes on.
    Shift(Node, Step),
    /// The other set has what is stored where these point.
    Load(Node),
    /// Where these point, the other's are stored.
    Store(Node),
}

#[derive(Debug, Default)]
struct Holder {
    pointers: SetId,
    /// What comes to it, and is not in it yet.
    arriving: Vec<SetId>,
    /// What is in it, but was not handed on to all.
    new: SetId,
    /// Sets that have all of these, too.
    copies: Vec<Node>,
    edges: Vec<Edge>,
    /// How often its steps were followed.
    followed: u32,
}

/// What a set is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Computed {
    Pointing(Pointer),
    Shifted(Node, Step),
    Loaded(Node),
}

/// Sets that are looked at for a circle.
const LONGEST: usize = 1_000;

/// How often a step is followed before a circle is looked for around it: if it lies on one, pointers walk through
/// their objects (positive weight cycles, Pearce et al. 2007).
const LOOKS: [u32; 3] = [4, 64, 1_024];

/// Sets that are put together one by one; what more of them become is hardly met again.
const FEW: usize = 3;

/// Pairs of objects that are copied field by field.
const PAIRS: usize = 64;

/// Grows all sets until nothing changes.
#[derive(Debug, Default)]
pub struct Solver {
    pointers: Vec<Pointer>,
    numbers: FxHashMap<Pointer, u32>,
    /// By pointer: the one to the same object without a place.
    wholes: Vec<u32>,
    /// By pointer without a place: those with one.
    places: Vec<Vec<u32>>,
    pool: Pool,
    /// What sets have become, and what of it was new to them: by what they had, and what was added.
    added: FxHashMap<(SetId, SetId), (SetId, SetId)>,
    /// What pointers are so many bytes on.
    moved: FxHashMap<(SetId, Step), SetId>,
    holders: Vec<Holder>,
    /// By set: the one that it is part of now; itself if there is none.
    parts: Vec<Cell<Node>>,
    /// Copies behind which a circle was looked for: from, to.
    looked: FxHashSet<(Node, Node)>,
    computed: FxHashMap<Computed, Node>,
    /// Sets of fields; the offset is none for a place that is not known.
    fields: FxHashMap<Pointer, Node>,
    /// By object: offsets that have a set.
    offsets: FxHashMap<Object, FxHashSet<i64>>,
    /// By object that is read where the offset is not known: what is in all of its fields.
    whole: FxHashMap<Object, Node>,
    /// From, to.
    copies: FxHashSet<(Node, Node)>,
    edges: FxHashSet<(Node, Edge)>,
    /// Copies of memory without regard to fields: to, from.
    wide: FxHashSet<(Node, Node)>,
    open: VecDeque<Node>,
    /// What is known outside.
    outside: Option<Node>,
}

/// Stands for everything that is known outside: its own set has it all, others have this.
const ANYTHING: Pointer = Pointer { object: Object::Outside, at: None };

impl Solver {
    /// The set of what is known outside: its content is known there, too, and others may have stored
    /// anything in it.
    pub fn outside(&mut self) -> Node {
        let outside = self.field(ANYTHING);
        self.outside = Some(outside);
        self.add(outside, ANYTHING);
        self.load(outside, outside);
        self.store(outside, outside);
        outside
    }

    /// A new set.
    pub fn node(&mut self) -> Node {
        let node = Node(self.holders.len() as u32);
        self.holders.push(Holder::default());
        self.parts.push(Cell::new(node));
        node
    }

    /// The set that another is part of.
    fn root(&self, mut node: Node) -> Node {
        loop {
            let part = &self.parts[node.0 as usize];
            if part.get() == node {
                return node;
            }
            // The way is halved for whoever asks next (Tarjan and van Leeuwen 1984).
            part.set(self.parts[part.get().0 as usize].get());
            node = part.get();
        }
    }

    /// Puts a pointer into a set.
    pub fn add(&mut self, to: Node, pointer: Pointer) {
        let pointer = self.bounded(pointer);
        let number = self.number(pointer);
        let set = self.pool.id(Set::from_iter([number]));
        self.unite(to, set);
    }

    /// The set of just this pointer.
    pub fn pointing(&mut self, pointer: Pointer) -> Node {
        self.computed(Computed::Pointing(pointer), |solver, to| solver.add(to, pointer))
    }

    /// What is in `from` is in `to`.
    pub fn copy(&mut self, from: Node, to: Node) {
        let (from, to) = (self.root(from), self.root(to));
        if from == to || !self.copies.insert((from, to)) {
            return;
        }
        let holder = &mut self.holders[from.0 as usize];
        holder.copies.push(to);
        let pointers = holder.pointers;
        self.unite(to, pointers);
    }

    /// What is in `from` is in `to`, so many bytes on.
    pub fn shift(&mut self, from: Node, to: Node, by: Step) {
        match by {
            Some(0) => self.copy(from, to),
            by => self.edge(from, Edge::Shift(to, by)),
        }
    }

    /// The set of what is in another, so many bytes on.
    pub fn shifted(&mut self, from: Node, by: Step) -> Node {
        if by == Some(0) {
            return from;
        }
        let computed = Computed::Shifted(from, by);
        self.computed(computed, |solver, to| solver.shift(from, to, by))
    }

    /// What is stored where `address` points is in `to`.
    pub fn load(&mut self, address: Node, to: Node) {
        self.edge(address, Edge::Load(to));
    }

    /// The set of what is stored where `address` points.
    pub fn loaded(&mut self, address: Node) -> Node {
        self.computed(Computed::Loaded(address), |solver, to| solver.load(address, to))
    }

    fn computed(&mut self, computed: Computed, rule: impl Fn(&mut Solver, Node)) -> Node {
        if let Some(node) = self.computed.get(&computed) {
            return *node;
        }
        let node = self.node();
        self.computed.insert(computed, node);
        rule(self, node);
        node
    }

    /// What is in `value` is stored where `address` points.
    pub fn store(&mut self, address: Node, value: Node) {
        self.edge(address, Edge::Store(value));
    }

    /// What is stored where `from` points is also stored where `to` points, field by field. Says
    /// whether that is new; to be repeated until it is not.
    pub fn copy_objects(&mut self, to: Node, from: Node) -> bool {
        let size = |node: Node| self.size(node);
        if size(to) * size(from) > PAIRS {
            return self.copy_anywhere(to, from);
        }
        let before = self.copies.len();
        let (targets, sources) = (self.pointers(to), self.pointers(from));
        for target in targets {
            for source in &sources {
                for offset in self.offsets_of(source.object) {
                    let moved = match (source.at, target.at) {
                        (Some(begin), _) if offset < begin => continue,
                        (Some(begin), Some(at)) => Some(at + offset - begin),
                        _ => None,
                    };
                    let from = self.field(Pointer { object: source.object, at: Some(offset) });
                    let to = self.field(Pointer { object: target.object, at: moved });
                    self.copy(from, to);
                }
                let from = self.field(Pointer { object: source.object, at: None });
                let to = self.field(Pointer { object: target.object, at: None });
                self.copy(from, to);
            }
        }
        self.copies.len() > before
    }

    /// The same without regard to fields.
    fn copy_anywhere(&mut self, to: Node, from: Node) -> bool {
        if !self.wide.insert((to, from)) {
            return false;
        }
        let (source, target) = (self.shifted(from, None), self.shifted(to, None));
        let content = self.loaded(source);
        self.store(target, content);
        true
    }

    /// Hands on what is new until nothing is.
    pub fn run(&mut self) {
        while let Some(node) = self.open.pop_front() {
            let node = self.root(node);
            let new = self.arrive(node);
            if new == EMPTY {
                continue;
            }
            let holder = &self.holders[node.0 as usize];
            // What is added meanwhile has taken all that is there.
            let (copies, edges) = (holder.copies.len(), holder.edges.len());
            let mut circles = Vec::new();
            for at in 0..copies {
                let to = self.root(self.holders[node.0 as usize].copies[at]);
                if self.held_by(to) != self.held_by(node) {
                    self.unite(to, new);
                } else if to != node {
                    circles.push(to);
                }
            }
            self.widen_walks(node);
            for at in 0..edges {
                let edge = self.holders[node.0 as usize].edges[at];
                self.follow(edge, new);
            }
            for to in circles {
                self.join_circle(node, to);
            }
            if self.pool.is_large() {
                self.forget_past();
            }
        }
    }

    /// Steps of a set that lead back to it can lead anywhere in the object.
    fn widen_walks(&mut self, node: Node) {
        let holder = &mut self.holders[node.0 as usize];
        holder.followed += 1;
        if !LOOKS.contains(&holder.followed) {
            return;
        }
        for at in 0..self.holders[node.0 as usize].edges.len() {
            let Edge::Shift(to, Some(_)) = self.holders[node.0 as usize].edges[at] else {
                continue;
            };
            if self.leads(to, node) {
                self.holders[node.0 as usize].edges[at] = Edge::Shift(to, None);
            }
        }
    }

    /// Whether what is in `from` comes to `to`, by copies and steps.
    fn leads(&self, from: Node, to: Node) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![self.root(from)];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            if seen.len() == LONGEST || !seen.insert(node) {
                continue;
            }
            let holder = &self.holders[node.0 as usize];
            let stepped = holder.edges.iter().filter_map(|edge| match edge {
                Edge::Shift(to, _) => Some(to),
                _ => None,
            });
            open.extend(holder.copies.iter().chain(stepped).map(|next| self.root(*next)));
        }
        false
    }

    /// The number of what a set holds; for those that hold the same it is the same.
    pub fn held_by(&self, node: Node) -> SetId {
        self.holders[self.root(node).0 as usize].pointers
    }

    fn size(&self, node: Node) -> usize {
        self.pool[self.held_by(node)].len()
    }

    /// Sets that nobody holds any more make room.
    fn forget_past(&mut self) {
        let used = self.holders.iter().flat_map(|holder| {
            [holder.pointers, holder.new].into_iter().chain(holder.arriving.iter().copied())
        });
        let used: FxHashSet<_> = used.collect();
        self.pool.keep(&used);
        self.added.retain(|(had, other), (has, new)| {
            [*had, *other, *has, *new].iter().all(|id| *id == EMPTY || used.contains(id))
        });
        self.moved.retain(|(from, _), to| used.contains(from) && used.contains(to));
    }

    /// Makes one set of those on a way back from `to`, which has what `from` has.
    fn join_circle(&mut self, from: Node, to: Node) {
        let (from, to) = (self.root(from), self.root(to));
        let held = self.held_by(from);
        if from == to || held == EMPTY || !self.looked.insert((from, to)) {
            return;
        }
        let mut seen = FxHashSet::from_iter([to]);
        let mut way = vec![(to, 0)];
        while let Some((node, at)) = way.last_mut() {
            let Some(next) = self.holders[node.0 as usize].copies.get(*at) else {
                way.pop();
                continue;
            };
            *at += 1;
            let next = self.root(*next);
            if next == from {
                let circle: Vec<_> = way.iter().map(|(node, _)| *node).collect();
                circle.into_iter().for_each(|node| self.join(from, node));
                return;
            }
            let is_same = self.held_by(next) == held && self.outside != Some(next);
            if seen.len() < LONGEST && is_same && seen.insert(next) {
                way.push((next, 0));
            }
        }
    }

    /// A set becomes part of another.
    fn join(&mut self, into: Node, node: Node) {
        if into == node || [into, node].into_iter().any(|one| self.outside == Some(one)) {
            return;
        }
        let part = std::mem::take(&mut self.holders[node.0 as usize]);
        self.parts[node.0 as usize].set(into);
        let whole = &mut self.holders[into.0 as usize];
        // What either of them brings about has not seen all of the other's.
        whole.copies.extend(part.copies);
        whole.edges.extend(part.edges);
        whole.pointers = self.pool.union(whole.pointers, part.pointers);
        whole.arriving.extend(part.arriving);
        whole.new = whole.pointers;
        self.open.push_back(into);
    }

    /// Whether a set holds a pointer like this.
    pub fn any(&self, node: Node, like: impl FnMut(&Pointer) -> bool) -> bool {
        self.held(node).any(like)
    }

    /// What a set holds, in order.
    pub fn pointers(&self, node: Node) -> Vec<Pointer> {
        let mut pointers: Vec<_> = self.held(node).copied().collect();
        pointers.sort_unstable();
        pointers
    }

    fn held(&self, node: Node) -> impl Iterator<Item = &Pointer> {
        self.pool[self.held_by(node)].iter().map(|number| &self.pointers[number as usize])
    }

    /// What the sets of a place hold.
    pub fn content(&self, pointer: Pointer) -> Vec<Pointer> {
        let any = Pointer { at: None, ..pointer };
        let mut places = vec![any];
        match pointer.at {
            Some(_) => places.push(pointer),
            None => {
                let offsets = self.offsets.get(&pointer.object).into_iter().flatten();
                places.extend(offsets.map(|at| Pointer { at: Some(*at), ..pointer }));
            }
        }
        let nodes = places.iter().filter_map(|place| self.fields.get(place));
        let mut found: Vec<_> = nodes.flat_map(|node| self.held(*node)).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Objects that are known outside.
    pub fn escaped(&self) -> FxHashSet<Object> {
        let known = self.content(ANYTHING);
        known.iter().map(|pointer| pointer.object).chain([Object::Outside]).collect()
    }

    /// The set of a field.
    pub fn field(&mut self, place: Pointer) -> Node {
        let place = self.bounded(place);
        if let Some(node) = self.fields.get(&place) {
            return *node;
        }
        let node = self.node();
        self.fields.insert(place, node);
        if let Some(at) = place.at {
            self.offsets.entry(place.object).or_default().insert(at);
            if let Some(whole) = self.whole.get(&place.object) {
                self.copy(node, *whole);
            }
        }
        node
    }

    fn number(&mut self, pointer: Pointer) -> u32 {
        if let Some(number) = self.numbers.get(&pointer) {
            return *number;
        }
        let whole = pointer.at.map(|_| self.number(Pointer { at: None, ..pointer }));
        let number = self.pointers.len() as u32;
        self.pointers.push(pointer);
        self.numbers.insert(pointer, number);
        self.wholes.push(whole.unwrap_or(number));
        self.places.push(Vec::new());
        if let Some(whole) = whole {
            self.places[whole as usize].push(number);
        }
        number
    }

    fn offsets_of(&self, object: Object) -> Vec<i64> {
        self.offsets.get(&object).into_iter().flatten().copied().collect()
    }

    /// Outside, and where an object has too many fields, offsets are not told apart.
    fn bounded(&self, pointer: Pointer) -> Pointer {
        let full = pointer.at.is_some_and(|at| {
            let known = self.offsets.get(&pointer.object);
            known.is_some_and(|known| known.len() >= FIELDS && !known.contains(&at))
        });
        if full || pointer.object == Object::Outside {
            return Pointer { at: None, ..pointer };
        }
        pointer
    }

    fn edge(&mut self, from: Node, edge: Edge) {
        let from = self.root(from);
        if !self.edges.insert((from, edge)) {
            return;
        }
        let holder = &mut self.holders[from.0 as usize];
        holder.edges.push(edge);
        let pointers = holder.pointers;
        self.follow(edge, pointers);
    }

    /// Adds pointers to a set, and hands them on, later.
    fn unite(&mut self, to: Node, pointers: SetId) {
        let to = self.root(to);
        let holder = &mut self.holders[to.0 as usize];
        if pointers == EMPTY || pointers == holder.pointers {
            return;
        }
        if holder.arriving.is_empty() {
            self.open.push_back(to);
        }
        if holder.arriving.last() != Some(&pointers) {
            holder.arriving.push(pointers);
        }
    }

    /// What was added to a set comes into it, all at once: sets that grow step by step would be many. Returns what is
    /// to be handed on.
    fn arrive(&mut self, node: Node) -> SetId {
        let holder = &mut self.holders[node.0 as usize];
        let arriving = std::mem::take(&mut holder.arriving);
        let unseen = std::mem::take(&mut holder.new);
        let had = holder.pointers;
        let arriving = self.all_of(arriving);
        let (has, new) = self.together(had, arriving, self.outside == Some(node));
        self.holders[node.0 as usize].pointers = has;
        self.pool.union(unseen, new)
    }

    /// What is in any of these sets.
    fn all_of(&mut self, mut sets: Vec<SetId>) -> SetId {
        sets.sort_unstable();
        sets.dedup();
        if sets.len() <= FEW {
            return sets.into_iter().fold(EMPTY, |all, set| self.pool.union(all, set));
        }
        let mut all = Set::default();
        for set in sets {
            all.absorb(&self.pool[set]);
        }
        self.pool.id(all)
    }

    /// What a set becomes when others are added to what it had, and what of it is new.
    fn together(&mut self, had: SetId, others: SetId, is_outside: bool) -> (SetId, SetId) {
        if had == others || others == EMPTY {
            return (had, EMPTY);
        }
        let known = self.added.get(&(had, others));
        if let (Some(known), false) = (known, is_outside) {
            return *known;
        }
        let missing = self.pool[had].missing(&self.pool[others]);
        let mut counts = FxHashMap::default();
        let mut admit = |number| self.admitted(had, number, is_outside, &mut counts);
        let all_are = missing.iter().all(|number| admit(number) == Some(number));
        let new = match all_are {
            true => missing,
            false => {
                let mut counts = FxHashMap::default();
                let admit = |number| self.admitted(had, number, is_outside, &mut counts);
                self.pool[had].missing(&missing.iter().filter_map(admit).collect())
            }
        };
        let new = self.pool.id(new);
        let has = self.pool.with(had, new);
        if !is_outside {
            self.added.insert((had, others), (has, new));
        }
        (has, new)
    }

    /// What a set takes a pointer for: nothing where it has the whole object already, and the whole
    /// object where there are so many places that a loop must be at work. `counts` has how many places it tells
    /// apart, of objects with many.
    fn admitted(
        &self,
        had: SetId,
        number: u32,
        is_outside: bool,
        counts: &mut FxHashMap<u32, usize>,
    ) -> Option<u32> {
        let whole = self.wholes[number as usize];
        if whole == number {
            return Some(number);
        }
        let had = &self.pool[had];
        if had.contains(whole) {
            return None;
        }
        let places = &self.places[whole as usize];
        // Who knows a place outside knows the whole object.
        if is_outside || places.len() <= PLACES {
            return Some(if is_outside { whole } else { number });
        }
        let count = counts
            .entry(whole)
            .or_insert_with(|| places.iter().filter(|place| had.contains(**place)).count());
        *count += 1;
        Some(if *count > PLACES { whole } else { number })
    }

    fn follow(&mut self, edge: Edge, pointers: SetId) {
        let numbers = |solver: &Solver| solver.pool[pointers].iter().collect::<Vec<_>>();
        match edge {
            Edge::Shift(to, by) => {
                let moved = self.moved(by, pointers);
                self.unite(to, moved);
            }
            Edge::Load(to) => {
                for number in numbers(self) {
                    match self.pointers[number as usize] {
                        Pointer { object: Object::Outside, .. } => self.add(to, ANYTHING),
                        pointer => self.load_from(pointer, to),
                    }
                }
            }
            Edge::Store(value) => {
                for number in numbers(self) {
                    let field = self.field(self.pointers[number as usize]);
                    if self.outside == Some(value) {
                        self.add(field, ANYTHING);
                    } else {
                        self.copy(value, field);
                    }
                }
            }
        }
    }

    /// Pointers so many bytes on.
    fn moved(&mut self, by: Step, pointers: SetId) -> SetId {
        if let Some(moved) = self.moved.get(&(pointers, by)) {
            return *moved;
        }
        let mut moved: Vec<_> = self.pool[pointers].iter().collect();
        for number in &mut moved {
            let pointer = self.pointers[*number as usize];
            // Handles and functions have no fields.
            let at = match pointer.object {
                Object::Function(_) | Object::Handle(_) => pointer.at,
                _ => pointer.at.zip(by).map(|(at, by)| at.wrapping_add(by)),
            };
            let pointer = self.bounded(Pointer { at, ..pointer });
            *number = self.number(pointer);
        }
        let moved = Set::from_iter(moved);
        let moved = self.pool.id(moved);
        self.moved.insert((pointers, by), moved);
        moved
    }

    fn load_from(&mut self, pointer: Pointer, to: Node) {
        if pointer.at.is_some() {
            for at in [None, pointer.at] {
                let field = self.field(Pointer { at, ..pointer });
                self.copy(field, to);
            }
        } else {
            let whole = self.whole_of(pointer.object);
            self.copy(whole, to);
        }
    }

    /// The set of what is in any field of an object: one for all who read there.
    fn whole_of(&mut self, object: Object) -> Node {
        if let Some(whole) = self.whole.get(&object) {
            return *whole;
        }
        let whole = self.node();
        self.whole.insert(object, whole);
        let offsets = self.offsets_of(object).into_iter().map(Some);
        for at in offsets.chain([None]) {
            let field = self.field(Pointer { object, at });
            self.copy(field, whole);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_ir::GlobalId;

    fn object(number: u32) -> Object {
        Object::Global(GlobalId(number))
    }

    fn at(number: u32, at: i64) -> Pointer {
        Pointer { object: object(number), at: Some(at) }
    }

    #[test]
    fn fields_are_told_apart_and_a_variable_index_is_all_of_them() {
        let mut solver = Solver::default();
        let [structure, first, second, loaded, any, all] = [(); 6].map(|()| solver.node());
        solver.add(structure, at(0, 0));
        let field = solver.node();
        solver.shift(structure, field, Some(8));
        solver.add(first, at(1, 0));
        solver.add(second, at(2, 0));
        solver.store(structure, first);
        solver.store(field, second);
        solver.load(field, loaded);
        solver.shift(structure, any, None);
        solver.load(any, all);
        solver.run();
        assert_eq!(solver.pointers(loaded), [at(2, 0)]);
        assert_eq!(solver.pointers(all), [at(1, 0), at(2, 0)]);
    }

    #[test]
    fn a_pointer_that_walks_in_a_loop_ends() {
        let mut solver = Solver::default();
        let [walking, next] = [(); 2].map(|()| solver.node());
        solver.add(walking, at(0, 0));
        solver.shift(walking, next, Some(8));
        solver.copy(next, walking);
        solver.run();
        let found = solver.pointers(walking);
        assert!(found.len() <= FIELDS + 2, "{}", found.len());
        assert!(found.contains(&Pointer { object: object(0), at: None }));
    }

    #[test]
    fn pointers_that_walk_through_many_objects_are_few() {
        let mut solver = Solver::default();
        let [walking, next] = [(); 2].map(|()| solver.node());
        for number in 0..100 {
            solver.add(walking, at(number, 0));
        }
        solver.shift(walking, next, Some(8));
        solver.copy(next, walking);
        solver.run();
        let found = solver.pointers(walking);
        assert!(found.len() <= 100 * 8, "{}", found.len());
        assert!((0..100).all(|n| found.contains(&Pointer { object: object(n), at: None })));
    }

    #[test]
    fn places_from_many_sets_become_the_whole_object() {
        let mut solver = Solver::default();
        let [base, all] = [(); 2].map(|()| solver.node());
        solver.add(base, at(0, 0));
        for field in 1..300 {
            let stepped = solver.shifted(base, Some(8 * field));
            solver.copy(stepped, all);
        }
        solver.run();
        let found = solver.pointers(all);
        assert!(found.len() < 150, "{}", found.len());
        assert!(found.contains(&Pointer { object: object(0), at: None }));
    }

    #[test]
    fn copied_objects_bring_their_fields() {
        let mut solver = Solver::default();
        let [from, to, held, loaded] = [(); 4].map(|()| solver.node());
        solver.add(from, at(0, 0));
        solver.add(to, at(1, 16));
        solver.add(held, at(2, 4));
        let field = solver.node();
        solver.shift(from, field, Some(8));
        solver.store(field, held);
        solver.run();
        while solver.copy_objects(to, from) {
            solver.run();
        }
        let moved = solver.node();
        solver.shift(to, moved, Some(8));
        solver.load(moved, loaded);
        solver.run();
        assert_eq!(solver.pointers(loaded), [at(2, 4)]);
    }
}
