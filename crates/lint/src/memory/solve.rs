//! The sets and the rules by which they grow.

use super::{FIELDS, Object, Pointer};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Places of one object that one set tells apart: who steps through it has none.
const PLACES: usize = 64;

/// A set of pointers: those that a value, or a field of an object, may hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(u32);

/// What a set brings about elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Edge {
    /// The other set has these, too, so many bytes on.
    Copy(Node, Option<i64>),
    /// The other set has what is stored where these point.
    Load(Node),
    /// Where these point, the other's are stored.
    Store(Node),
}

#[derive(Debug, Default)]
struct Set {
    pointers: FxHashSet<Pointer>,
    /// How many offsets of an object there are.
    counts: FxHashMap<Object, usize>,
    /// Not yet handed on.
    new: Vec<Pointer>,
    edges: SmallVec<[Edge; 2]>,
}

/// Pairs of objects that are copied field by field.
const PAIRS: usize = 64;

/// Grows all sets until nothing changes.
#[derive(Debug, Default)]
pub struct Solver {
    sets: Vec<Set>,
    /// Sets of fields; the offset is none for a place that is not known.
    fields: FxHashMap<Pointer, Node>,
    /// By object: offsets that have a set.
    offsets: FxHashMap<Object, Vec<i64>>,
    /// Fields read at all offsets of an object, by whom.
    whole: FxHashMap<Object, Vec<Node>>,
    known: FxHashSet<(Node, Edge)>,
    /// Copies of memory without regard to fields: to, from.
    wide: FxHashSet<(Node, Node)>,
    open: Vec<Node>,
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
        self.sets.push(Set::default());
        Node(self.sets.len() as u32 - 1)
    }

    /// Puts a pointer into a set.
    pub fn add(&mut self, to: Node, pointer: Pointer) {
        let mut pointer = self.bounded(pointer);
        if self.outside == Some(to) {
            // Who knows a place knows the whole object.
            pointer.at = None;
        }
        let set = &mut self.sets[to.0 as usize];
        if set.pointers.contains(&Pointer { at: None, ..pointer }) || !set.pointers.insert(pointer)
        {
            return;
        }
        *set.counts.entry(pointer.object).or_default() += 1;
        if set.new.is_empty() {
            self.open.push(to);
        }
        set.new.push(pointer);
    }

    /// What is in `from` is in `to`.
    pub fn copy(&mut self, from: Node, to: Node) {
        self.edge(from, Edge::Copy(to, Some(0)));
    }

    /// What is in `from` is in `to`, so many bytes on.
    pub fn shift(&mut self, from: Node, to: Node, by: Option<i64>) {
        self.edge(from, Edge::Copy(to, by));
    }

    /// What is stored where `address` points is in `to`.
    pub fn load(&mut self, address: Node, to: Node) {
        self.edge(address, Edge::Load(to));
    }

    /// What is in `value` is stored where `address` points.
    pub fn store(&mut self, address: Node, value: Node) {
        self.edge(address, Edge::Store(value));
    }

    /// What is stored where `from` points is also stored where `to` points, field by field. Says
    /// whether that is new; to be repeated until it is not.
    pub fn copy_objects(&mut self, to: Node, from: Node) -> bool {
        let before = self.known.len();
        let (targets, sources) = (self.pointers(to), self.pointers(from));
        if targets.len() * sources.len() > PAIRS {
            return self.copy_anywhere(to, from);
        }
        for target in targets {
            for source in &sources {
                let offsets = self.offsets.get(&source.object).cloned().unwrap_or_default();
                for offset in offsets {
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
        self.known.len() > before
    }

    /// The same without regard to fields.
    fn copy_anywhere(&mut self, to: Node, from: Node) -> bool {
        if !self.wide.insert((to, from)) {
            return false;
        }
        let [source, target, content] = [(); 3].map(|()| self.node());
        self.shift(from, source, None);
        self.shift(to, target, None);
        self.load(source, content);
        self.store(target, content);
        true
    }

    /// Hands on what is new until nothing is.
    pub fn run(&mut self) {
        while let Some(node) = self.open.pop() {
            let set = &mut self.sets[node.0 as usize];
            let new = std::mem::take(&mut set.new);
            for edge in set.edges.clone() {
                self.follow(edge, &new);
            }
        }
    }

    /// Whether a set holds a pointer like this.
    pub fn any(&self, node: Node, like: impl FnMut(&Pointer) -> bool) -> bool {
        self.sets[node.0 as usize].pointers.iter().any(like)
    }

    /// What a set holds, in order.
    pub fn pointers(&self, node: Node) -> Vec<Pointer> {
        let mut pointers: Vec<_> = self.sets[node.0 as usize].pointers.iter().copied().collect();
        pointers.sort_unstable();
        pointers
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
        let mut found: Vec<_> =
            nodes.flat_map(|node| &self.sets[node.0 as usize].pointers).copied().collect();
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
            self.offsets.entry(place.object).or_default().push(at);
            for reader in self.whole.get(&place.object).cloned().unwrap_or_default() {
                self.copy(node, reader);
            }
        }
        node
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
        if edge == Edge::Copy(from, Some(0)) || !self.known.insert((from, edge)) {
            return;
        }
        let set = &mut self.sets[from.0 as usize];
        set.edges.push(edge);
        let pointers: Vec<_> = set.pointers.iter().copied().collect();
        self.follow(edge, &pointers);
    }

    fn follow(&mut self, edge: Edge, pointers: &[Pointer]) {
        for pointer in pointers {
            match edge {
                Edge::Copy(to, by) => {
                    let at = pointer.at.zip(by).map(|(at, by)| at.wrapping_add(by));
                    // Handles and functions have no fields.
                    let whole = matches!(pointer.object, Object::Function(_) | Object::Handle(_));
                    let at = if whole { pointer.at } else { at };
                    let at = self.reached(to, pointer.object, at);
                    self.add(to, Pointer { at, ..*pointer });
                }
                Edge::Load(to) if pointer.object == Object::Outside => self.add(to, ANYTHING),
                Edge::Load(to) => self.load_from(*pointer, to),
                Edge::Store(value) => {
                    let field = self.field(*pointer);
                    if self.outside == Some(value) {
                        self.add(field, ANYTHING);
                    } else {
                        self.copy(value, field);
                    }
                }
            }
        }
    }

    /// The offset, unless the set has so many of this object already that a loop must be at work.
    fn reached(&self, to: Node, object: Object, at: Option<i64>) -> Option<i64> {
        let counts = &self.sets[to.0 as usize].counts;
        let many = counts.get(&object).is_some_and(|count| *count >= PLACES);
        at.filter(|_| !many)
    }

    fn load_from(&mut self, pointer: Pointer, to: Node) {
        let any = self.field(Pointer { at: None, ..pointer });
        self.copy(any, to);
        if pointer.at.is_some() {
            let field = self.field(pointer);
            self.copy(field, to);
            return;
        }
        self.whole.entry(pointer.object).or_default().push(to);
        for at in self.offsets.get(&pointer.object).cloned().unwrap_or_default() {
            let field = self.field(Pointer { at: Some(at), ..pointer });
            self.copy(field, to);
        }
    }
}
