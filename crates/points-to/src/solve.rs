//! Worklist solver of Andersen's inclusion constraints.
//!
//! Pointers are numbered, and only differences are propagated (difference propagation, Pearce et
//! al. 2003). Equal expressions over one set share a node (value numbering, after Hardekopf and Lin
//! 2007), so that all callers of a function share its result. Nodes on a cycle of inclusion edges
//! are merged when their sets have become equal (lazy cycle detection, Hardekopf and Lin, PLDI
//! 2007).

mod cycle_elimination;
mod grow;

use super::pool::{EMPTY, Pool, SetId};
use super::set::Set;
use super::{MAX_FIELDS, Object, Pointer};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::collections::VecDeque;

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

/// Maximum number of pairs of objects that are copied field by field.
const MAX_FIELD_COPY_PAIRS: usize = 64;

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
    /// The set of what is known outside: its content is known there, too, and others may have
    /// stored anything in it.
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
        if size(to) * size(from) > MAX_FIELD_COPY_PAIRS {
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

    /// Copies memory without field sensitivity.
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
            let mut cycle_elimination = Vec::new();
            for at in 0..copies {
                let to = self.root(self.holders[node.0 as usize].copies[at]);
                if self.held_by(to) != self.held_by(node) {
                    self.unite(to, new);
                } else if to != node {
                    cycle_elimination.push(to);
                }
            }
            self.widen_walks(node);
            for at in 0..edges {
                let edge = self.holders[node.0 as usize].edges[at];
                self.follow(edge, new);
            }
            for to in cycle_elimination {
                self.join_circle(node, to);
            }
            if self.pool.is_large() {
                self.forget_past();
            }
        }
    }

    /// The number of what a set holds; for those that hold the same it is the same.
    pub fn held_by(&self, node: Node) -> SetId {
        self.holders[self.root(node).0 as usize].pointers
    }

    fn size(&self, node: Node) -> usize {
        self.pool[self.held_by(node)].len()
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

    /// Outside, and where an object has too many fields, offsets are not distinguished.
    fn bounded(&self, pointer: Pointer) -> Pointer {
        let full = pointer.at.is_some_and(|at| {
            let known = self.offsets.get(&pointer.object);
            known.is_some_and(|known| known.len() >= MAX_FIELDS && !known.contains(&at))
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
mod tests;
