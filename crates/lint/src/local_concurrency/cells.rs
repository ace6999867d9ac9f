//! Scalar promotion of memory cells (mem2reg for known addresses).
//!
//! Memory at known places becomes values: what a load reads is what was stored there last, or,
//! after a write that is not known exactly, one new value for all loads up to the next write.
//!
//! So two loads of a variable whose address MPI was given are the same value if nothing in between
//! may have written it, and values can be compared that lie in memory: ranks, pointers, windows.

use super::effects::{View, Writes};
use super::linear::{Known, Linear};
use commsan_ir::graph::{Flow, dominators, frontiers};
use commsan_ir::{BlockId, Inst, InstId, Op, Place, Value};
use commsan_points_to::objects::ObjectsId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of memory cells that are promoted to values.
const MAX_CELLS: usize = 1500;

/// Maximum number of pairs of a cell and an instruction.
const MAX_CELL_VISITS: usize = 10_000_000;

/// Maximum number of rounds that settle what is certain.
const MAX_SETTLING: usize = 16;

/// Maximum number of pairs of a cell and an instruction in each of them.
const MAX_SETTLING_VISITS: usize = 1_000_000;

/// A place: its address and bytes.
type Cell = (Linear, u32);

/// Uses values instead of what is loaded. The loads stay: they are accesses.
pub fn follow(view: &mut View) {
    let mut done = FxHashSet::default();
    settle(view, &mut done);
    // Pointers that became values show where other loads read.
    for _ in 0..3 {
        let cells = cells(view, &done);
        if cells.is_empty() {
            return;
        }
        Follower::new(view, cells).follow(&mut done);
    }
}

/// Settles loads of what is certain first, as long as this shows where calls write: of requests
/// that are started at `request[pending++]`, each round settles one, and then the next no longer
/// seems to write over whatever is beside the requests.
fn settle(view: &mut View, done: &mut FxHashSet<InstId>) {
    for _ in 0..MAX_SETTLING {
        let cells = cells(view, done);
        let visits = cells.len() * view.flat.body.code.len();
        let is_done = cells.is_empty() || visits > MAX_SETTLING_VISITS;
        if is_done || !Follower::new(view, cells).settle(done) {
            return;
        }
    }
}

/// Places that are loaded from, and those that these are copied from.
fn cells(view: &View, done: &FxHashSet<InstId>) -> Vec<Cell> {
    let limit = MAX_CELLS.min(MAX_CELL_VISITS / (view.flat.body.code.len() + 1));
    let body = &view.flat.body;
    let known = Known::default();
    let mut found: Vec<Cell> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut add = |cell: Cell, found: &mut Vec<Cell>| {
        if found.len() < limit && cell.0.base().is_some() && seen.insert(cell.clone()) {
            found.push(cell);
        }
    };
    let mut copies = Vec::new();
    for block in body.block_ids() {
        for (id, inst) in body.instructions(block) {
            if let Op::Load(size @ ..=8) = inst.op
                && !done.contains(&id)
                && let Some(address) = Linear::of(body, &known, inst.args[0])
            {
                add((address, size), &mut found);
            }
            copies.extend(copy(view, id));
        }
    }
    let mut at = 0;
    while at < found.len() {
        for copy in &copies {
            if let Some(source) = copy.source(&found[at]) {
                add(source, &mut found);
            }
        }
        at += 1;
    }
    found
}

/// Memory that is copied.
struct Copy {
    to: Linear,
    from: Linear,
    length: i64,
}

impl Copy {
    /// Where what is then in a cell is copied from.
    fn source(&self, (address, size): &Cell) -> Option<Cell> {
        let at = address.behind(&self.to)?;
        let within = at >= 0 && at + i64::from(*size) <= self.length;
        within.then(|| (self.from.clone().plus(&Linear::constant(at), 1), *size))
    }
}

fn copy(view: &View, id: InstId) -> Option<Copy> {
    let body = &view.flat.body;
    let of = |value| Linear::of(body, &Known::default(), value);
    let inst = &body[id];
    match inst.op {
        Op::Copy => Some(Copy {
            to: of(inst.args[0])?,
            from: of(inst.args[1])?,
            length: of(inst.args[2])?.number()?,
        }),
        // A structure as a whole.
        Op::Store(size @ 9..) => {
            let Value::Inst(loaded) = inst.args[0] else { return None };
            if !matches!(body[loaded].op, Op::Load(_)) {
                return None;
            }
            let (to, from) = (of(inst.args[1])?, of(body[loaded].args[0])?);
            Some(Copy { to, from, length: i64::from(size) })
        }
        _ => None,
    }
}

/// What is in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    /// This.
    Value(Value),
    /// What was there at the begin of the function, or where its base was computed.
    Initial,
    /// What this instruction may have written.
    After(InstId),
}

/// What an instruction does to a cell.
enum Change {
    Stores(Value),
    Copies(usize),
    Clobbers,
}

/// What is known of where a cell lies.
struct Home {
    /// The variable it is in.
    variable: Option<Value>,
    /// The objects it may be in; none if nothing is known.
    objects: Option<ObjectsId>,
    /// Whether others may write it.
    shared: bool,
}

impl Home {
    fn of(view: &View, (address, _): &Cell) -> Home {
        let variable = address.variable(&view.flat.body);
        let objects = match (variable, address.base()) {
            (Some(variable), _) => view.object(variable).map(|o| view.points_to.objects_of([o])),
            (None, Some(base)) => view.objects(base),
            _ => None,
        };
        let shared = match (variable, objects) {
            (Some(Value::Global(id, _)), _) => !view.program[id].constant,
            (Some(_), Some(objects)) => view.points_to.any_escapes(objects),
            _ => true,
        };
        Home { variable, objects, shared }
    }
}

/// A place that an instruction may write.
struct Written {
    sum: Option<Linear>,
    most: Option<u64>,
    variable: Option<Value>,
    /// As of a cell.
    objects: Option<ObjectsId>,
}

struct Follower<'v, 'p> {
    view: &'v mut View<'p>,
    cells: Vec<Cell>,
    numbers: FxHashMap<Cell, usize>,
    /// By cell: where it lies.
    homes: Vec<Home>,
    /// By value: the cells whose address depends on it.
    based: FxHashMap<InstId, Vec<usize>>,
    /// By instruction: the cells it changes.
    changes: FxHashMap<InstId, Vec<(usize, Change)>>,
    phis: FxHashMap<(BlockId, usize), InstId>,
    /// Loads that were added for content that is not known.
    added: FxHashMap<(Begin, usize), InstId>,
    replaced: FxHashMap<InstId, Value>,
}

/// Since when content is what it is: from the begin, or after an instruction.
type Begin = Option<InstId>;

impl<'v, 'p> Follower<'v, 'p> {
    fn new(view: &'v mut View<'p>, cells: Vec<Cell>) -> Self {
        let numbers = cells.iter().cloned().zip(0..).collect();
        let homes = cells.iter().map(|cell| Home::of(view, cell)).collect();
        let mut based: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (number, cell) in cells.iter().enumerate() {
            if let Some(Value::Inst(id)) = cell.0.base() {
                based.entry(id).or_default().push(number);
            }
        }
        let (changes, phis, added, replaced) = Default::default();
        Follower { view, cells, numbers, homes, based, changes, phis, added, replaced }
    }

    fn follow(mut self, done: &mut FxHashSet<InstId>) {
        let flow = Flow::of(&self.view.flat.body);
        let dominators = dominators(&self.view.flat.body);
        self.find_changes(&flow);
        self.insert_phis(&flow, &dominators);
        self.rename(&flow, &dominators);
        done.extend(self.replaced.keys());
        self.finish();
    }

    /// As [`follow`](Self::follow), but only where what is loaded is known already, without phis or
    /// loads of what somebody may have written. Says whether there are such loads.
    fn settle(mut self, done: &mut FxHashSet<InstId>) -> bool {
        let first_new = InstId(self.view.flat.body.code.len() as u32);
        let flow = Flow::of(&self.view.flat.body);
        let dominators = dominators(&self.view.flat.body);
        self.find_changes(&flow);
        self.insert_phis(&flow, &dominators);
        self.rename(&flow, &dominators);
        self.replaced.retain(|_, value| !matches!(value, Value::Inst(id) if *id >= first_new));
        self.view.flat.body.code.truncate(first_new.0 as usize);
        done.extend(self.replaced.keys());
        self.replace();
        !self.replaced.is_empty()
    }

    fn find_changes(&mut self, flow: &Flow) {
        for block in &flow.order {
            for id in self.view.flat.body[*block].code.clone() {
                let writes = self.view.writes(id);
                let changes = self.changes_by(id, &writes);
                if !changes.is_empty() {
                    self.changes.insert(id, changes);
                }
            }
        }
    }

    fn changes_by(&self, id: InstId, writes: &Writes) -> Vec<(usize, Change)> {
        let mut changes = Vec::new();
        if writes.places.is_empty() && !writes.everything {
            return changes;
        }
        let body = &self.view.flat.body;
        let known = Known::default();
        let written = |(address, most): &(Value, Option<u64>)| {
            let sum = Linear::of(body, &known, *address);
            let variable = sum.as_ref().and_then(|sum| sum.variable(body));
            let objects = match variable {
                Some(variable) => {
                    self.view.object(variable).map(|o| self.view.points_to.objects_of([o]))
                }
                None => self.view.objects(*address),
            };
            Written { sum, most: *most, variable, objects }
        };
        let places: Vec<Written> = writes.places.iter().map(written).collect();
        let copy = copy(self.view, id);
        for (number, cell) in self.cells.iter().enumerate() {
            let inst = &body[id];
            if let Op::Store(size) = inst.op
                && size == cell.1
                && places[0].sum.as_ref() == Some(&cell.0)
            {
                changes.push((number, Change::Stores(inst.args[0])));
                continue;
            }
            let source = copy.as_ref().and_then(|copy| copy.source(cell));
            if let Some(from) = source.and_then(|source| self.numbers.get(&source)) {
                changes.push((number, Change::Copies(*from)));
                continue;
            }
            let home = &self.homes[number];
            let clobbers = writes.everything && home.shared
                || places.iter().any(|place| self.may_meet(place, cell, home));
            if clobbers {
                changes.push((number, Change::Clobbers));
            }
        }
        changes
    }

    /// Whether a write may change a cell.
    fn may_meet(&self, written: &Written, (cell, size): &Cell, home: &Home) -> bool {
        if let Some(sum) = &written.sum {
            if sum.terms.is_empty() {
                // A number is no address: null, or a sentinel of MPI.
                return false;
            }
            if let Some(behind) = sum.behind(cell) {
                let ends = written.most.is_some_and(|most| behind + most as i64 <= 0);
                return behind < i64::from(*size) && !ends;
            }
        }
        if let (Some(one), Some(other)) = (written.variable, home.variable) {
            return one == other;
        }
        match (written.objects, home.objects) {
            (Some(written), Some(own)) => self.view.points_to.may_meet(written, own),
            _ => true,
        }
    }

    fn insert_phis(&mut self, flow: &Flow, dominators: &[Option<BlockId>]) {
        let mut defined = vec![Vec::new(); self.cells.len()];
        let mut live = vec![false; self.cells.len()];
        for block in &flow.order {
            let mut changed = FxHashSet::default();
            for id in &self.view.flat.body[*block].code {
                if let Some(cell) = self.loaded(*id) {
                    live[cell] |= !changed.contains(&cell);
                }
                for (cell, change) in self.changes.get(id).into_iter().flatten() {
                    if let Change::Copies(from) = change {
                        live[*from] |= !changed.contains(from);
                    }
                    if changed.insert(*cell) {
                        defined[*cell].push(*block);
                    }
                }
                // A cell relative to a value is another one when that is computed anew.
                for cell in self.based(*id) {
                    if changed.insert(cell) {
                        defined[cell].push(*block);
                    }
                }
            }
        }
        let frontiers = frontiers(flow, dominators);
        for (cell, mut open) in defined.into_iter().enumerate().filter(|(cell, _)| live[*cell]) {
            while let Some(block) = open.pop() {
                for at in &frontiers[block.0 as usize] {
                    if self.phis.contains_key(&(*at, cell)) {
                        continue;
                    }
                    let from: Box<[_]> = flow.previous[at.0 as usize].iter().copied().collect();
                    let args = from.iter().map(|_| Value::Opaque).collect();
                    let id = self.new_inst(Inst { op: Op::Phi(from), args, at: Place::default() });
                    self.phis.insert((*at, cell), id);
                    open.push(*at);
                }
            }
        }
    }

    /// By block: the cells that have phis there, and these.
    fn phis_of(&self) -> Vec<Vec<(usize, InstId)>> {
        let mut phis_of = vec![Vec::new(); self.view.flat.body.blocks.len()];
        for ((block, cell), phi) in &self.phis {
            phis_of[block.0 as usize].push((*cell, *phi));
        }
        for phis in &mut phis_of {
            phis.sort_unstable();
        }
        phis_of
    }

    fn new_inst(&mut self, inst: Inst) -> InstId {
        self.view.flat.body.code.push(inst);
        InstId(self.view.flat.body.code.len() as u32 - 1)
    }

    /// The cell that an instruction loads.
    fn loaded(&self, id: InstId) -> Option<usize> {
        let body = &self.view.flat.body;
        let Op::Load(size @ ..=8) = body[id].op else { return None };
        let address = Linear::of(body, &Known::default(), body[id].args[0])?;
        self.numbers.get(&(address, size)).copied()
    }

    /// Cells whose base an instruction computes.
    fn based(&self, id: InstId) -> Vec<usize> {
        self.based.get(&id).cloned().unwrap_or_default()
    }

    fn rename(&mut self, flow: &Flow, dominators: &[Option<BlockId>]) {
        let mut below = vec![Vec::new(); dominators.len()];
        for block in &flow.order {
            if let Some(dominator) = dominators[block.0 as usize] {
                below[dominator.0 as usize].push(*block);
            }
        }
        let phis_of = self.phis_of();
        let start = vec![Content::Initial; self.cells.len()];
        let mut open = vec![(BlockId(0), start)];
        while let Some((block, mut current)) = open.pop() {
            for (cell, phi) in &phis_of[block.0 as usize] {
                current[*cell] = Content::Value(Value::Inst(*phi));
            }
            for id in self.view.flat.body[block].code.clone() {
                self.step(id, &mut current);
            }
            for next in self.view.flat.body[block].next.clone() {
                for (cell, phi) in &phis_of[next.0 as usize] {
                    let value = self.value(&mut current, *cell);
                    let previous = &flow.previous[next.0 as usize];
                    for (at, _) in previous.iter().enumerate().filter(|(_, from)| **from == block) {
                        self.view.flat.body[*phi].args[at] = value;
                    }
                }
            }
            open.extend(below[block.0 as usize].iter().map(|next| (*next, current.clone())));
        }
    }

    fn step(&mut self, id: InstId, current: &mut [Content]) {
        if let Some(cell) = self.loaded(id) {
            let value = self.value(current, cell);
            if value != Value::Inst(id) {
                self.replaced.insert(id, value);
            }
            return;
        }
        for cell in self.based(id) {
            current[cell] = Content::After(id);
        }
        let changes = self.changes.remove(&id).unwrap_or_default();
        let before: Vec<_> = changes
            .iter()
            .map(|(_, change)| match change {
                Change::Stores(value) => Content::Value(self.resolved(*value)),
                Change::Copies(from) => Content::Value(self.value(current, *from)),
                Change::Clobbers => Content::After(id),
            })
            .collect();
        for ((cell, _), content) in changes.iter().zip(before) {
            current[*cell] = content;
        }
    }

    fn resolved(&self, value: Value) -> Value {
        match value {
            Value::Inst(id) => self.replaced.get(&id).copied().unwrap_or(value),
            other => other,
        }
    }

    /// The value in a cell, loaded where it appeared if it is not known otherwise.
    fn value(&mut self, current: &mut [Content], cell: usize) -> Value {
        let after = match current[cell] {
            Content::Value(value) => return value,
            Content::Initial => None,
            Content::After(id) => Some(id),
        };
        if let Some(value) = after.is_none().then(|| self.constant(cell)).flatten() {
            return value;
        }
        let id = match self.added.get(&(after, cell)) {
            Some(id) => *id,
            None => {
                let args = self.cells[cell].0.base().into_iter().collect();
                let id = self.new_inst(Inst { op: Op::Mix, args, at: Place::default() });
                self.added.insert((after, cell), id);
                id
            }
        };
        Value::Inst(id)
    }

    /// What a global variable holds that is never written.
    fn constant(&self, cell: usize) -> Option<Value> {
        let (address, _) = &self.cells[cell];
        let Some(Value::Global(id, _)) = address.base() else { return None };
        let global = &self.view.program[id];
        let initial = global.initial.iter().find(|(at, _)| *at as i64 == address.constant);
        initial.filter(|_| global.constant).map(|(_, value)| *value)
    }

    /// Puts new instructions in their places and values in those of loads.
    fn finish(mut self) {
        for ((at, cell), id) in &self.added {
            if let Some(at) = at {
                let address = self.cells[*cell].0.clone();
                self.view.after.insert((*at, address), Value::Inst(*id));
            }
        }
        let mut after: FxHashMap<Option<InstId>, Vec<InstId>> = FxHashMap::default();
        for ((at, _), id) in &self.added {
            after.entry(*at).or_default().push(*id);
        }
        let phis = self.phis_of();
        let body = &mut self.view.flat.body;
        for ((number, block), phis) in body.blocks.iter_mut().enumerate().zip(phis) {
            let mut code: Vec<InstId> = phis.into_iter().map(|(_, id)| id).collect();
            code.sort_unstable();
            if number == 0 {
                code.extend(after.remove(&None).unwrap_or_default());
            }
            for id in std::mem::take(&mut block.code) {
                code.push(id);
                code.extend(after.remove(&Some(id)).unwrap_or_default());
            }
            block.code = code;
        }
        self.replace();
    }

    /// Puts values in the places of loads.
    fn replace(&mut self) {
        let resolved = |value: Value| {
            let mut value = value;
            while let Value::Inst(id) = value
                && let Some(by) = self.replaced.get(&id)
            {
                value = *by;
            }
            value
        };
        for inst in &mut self.view.flat.body.code {
            for arg in &mut inst.args {
                *arg = resolved(*arg);
            }
        }
        for value in self.view.passed.values_mut() {
            *value = resolved(*value);
        }
    }
}
