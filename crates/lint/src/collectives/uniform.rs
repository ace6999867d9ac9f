//! Which values differ between ranks.
//!
//! A value carries labels of what makes it differ: the rank in a communicator, received data, the
//! clock. Labels follow data through variables, memory and calls, and control: what is stored on one side
//! of a condition that differs, differs. A collective that gives all the same takes them away.
//!
//! Forward over each function, memory by place (flow-sensitive), for each combination of labels that a
//! function is called with. Of a function with many such combinations they are joined.
//!
//! A function is looked at when it is called, with the memory that it has to do with (`footprint.rs`). Who
//! called it before keeps what it did then: that was enough for what he came with. Only what followed from
//! calls within themselves is looked at again.

mod mpi;

use super::assigned;
use super::comm::{Comms, Labels, OTHER};
use super::footprint::{Footprints, Targets, digested};
use super::reach;
use super::sources::{DIFFERS, tells_of_file};
use super::stored::Stored;
use crate::callgraph;
use crate::library::Library;
use crate::memory::Pointer;
use crate::openmp::{Runtime, runtime};
use commsan_ir::graph::{Flow, post_dominators};
use commsan_ir::{BlockId, Body, Callee, FunctionId, Inst, InstId, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Combinations of labels that one function is looked at with.
const CONTEXTS: usize = 8;
/// How often one combination is looked at again.
const ROUNDS: usize = 40;
/// Calls within calls that are looked at before who calls goes on.
const DEEPEST: usize = 100;

/// What differs between ranks, for a whole program.
#[derive(Debug, Default)]
pub struct Differing {
    /// Of conditions, by their branches, and of pointers that are called, by the calls.
    pub conditions: FxHashMap<(FunctionId, InstId), Labels>,
    /// Of those, what other conditions on the way there depend on: not all ranks may get there.
    pub guarded: FxHashSet<(FunctionId, InstId)>,
    /// Of the root and the reduction that a collective names, by argument.
    pub given: FxHashMap<(FunctionId, InstId, usize), Labels>,
    /// Where `MPI_Comm_rank` has stored a rank.
    pub ranks: FxHashSet<Pointer>,
    /// Calls that all ranks make, with the argument that is `MPI_COMM_NULL` on some.
    pub absent: BTreeSet<(FunctionId, InstId, usize)>,
}

/// A function with the labels of what it is called with.
#[derive(Default)]
struct Context {
    function: Option<FunctionId>,
    /// Of the conditions that decide whether it is called.
    control: Labels,
    params: Vec<Labels>,
    entry: Stored,
    /// The last that was added to it.
    entered: Stored,
    exit: Stored,
    /// Objects whose labels it changes.
    touched: FxHashSet<u32>,
    result: Labels,
    /// Its calls on communicators that some ranks do not have.
    absent: FxHashSet<(InstId, usize)>,
    callers: BTreeSet<usize>,
    rounds: usize,
    /// Whether it is being looked at.
    busy: bool,
    /// Whether it has gone by results of others that were not final.
    preliminary: bool,
}

/// What is the same for all contexts of a function.
struct Shape {
    flow: Flow,
    /// By block: the blocks whose conditions decide whether it runs.
    controllers: Vec<SmallVec<[BlockId; 2]>>,
    /// Whether it has loops.
    loops: bool,
    /// Of copies and fills, as far as they are known.
    lengths: FxHashMap<InstId, u64>,
}

struct Analysis<'a, 'p> {
    comms: &'a mut Comms<'p>,
    contexts: Vec<Context>,
    known: FxHashMap<(FunctionId, Labels, Vec<Labels>), usize>,
    of_function: FxHashMap<FunctionId, Vec<usize>>,
    shapes: FxHashMap<FunctionId, Rc<Shape>>,
    /// Contexts to look at, called functions first.
    open: BTreeSet<(u32, usize)>,
    /// By function: its place among those that are called before those that call them.
    order: Vec<u32>,
    /// Functions in which anything can differ.
    relevant: FxHashSet<FunctionId>,
    footprints: Footprints,
    /// Contexts being looked at, each called by the one before.
    path: Vec<usize>,
    found: Differing,
}

/// Looks at everything that is reached from `roots`.
pub fn differing(comms: &mut Comms, roots: &[FunctionId]) -> Differing {
    let (contexts, known, of_function, shapes, open, path, found) = Default::default();
    let reached = reach::look(comms);
    let relevant = reached.functions.clone();
    let footprints = Footprints::of(comms, reached);
    let order = callees_first(comms, roots);
    let mut analysis = Analysis {
        comms,
        contexts,
        known,
        of_function,
        shapes,
        open,
        order,
        relevant,
        footprints,
        path,
        found,
    };
    for root in roots {
        let params = vec![0; analysis.comms.program[*root].params as usize];
        analysis.context(*root, 0, params);
    }
    while let Some((_, number)) = analysis.open.pop_first() {
        analysis.look(number);
    }
    for context in &analysis.contexts {
        let calls = context.absent.iter().map(|(id, place)| (*id, *place));
        let calls =
            context.function.into_iter().flat_map(|f| calls.clone().map(move |c| (f, c.0, c.1)));
        analysis.found.absent.extend(calls);
    }
    analysis.found
}

/// By function: its place in an order in which, but for recursion, called functions come first.
fn callees_first(comms: &Comms, roots: &[FunctionId]) -> Vec<u32> {
    let program = comms.program;
    let callees = |function: FunctionId| {
        let mut callees = Vec::new();
        if let Some(body) = &program[function].body {
            for inst in &body.code {
                callees.extend(callgraph::called(program, comms.memory, function, body, inst));
            }
        }
        callees
    };
    let mut order = vec![u32::MAX; program.functions.len()];
    let mut seen = vec![false; program.functions.len()];
    let mut next = 0;
    for root in roots {
        let mut path = vec![(*root, callees(*root))];
        seen[root.0 as usize] = true;
        while let Some((function, open)) = path.last_mut() {
            match open.pop() {
                Some(callee) if !std::mem::replace(&mut seen[callee.0 as usize], true) => {
                    path.push((callee, callees(callee)));
                }
                Some(_) => {}
                None => {
                    order[function.0 as usize] = next;
                    next += 1;
                    path.pop();
                }
            }
        }
    }
    order
}

impl Analysis<'_, '_> {
    /// The context of these labels; a new one is looked at soon.
    fn context(&mut self, function: FunctionId, control: Labels, params: Vec<Labels>) -> usize {
        let key = (function, control, params);
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        let ours = self.of_function.entry(function).or_default();
        if ours.len() >= CONTEXTS {
            // The last one stands for all others.
            let number = ours[CONTEXTS - 1];
            let context = &mut self.contexts[number];
            let mut changed = control & !context.control != 0;
            context.control |= control;
            for (known, new) in context.params.iter_mut().zip(&key.2) {
                changed |= new & !*known != 0;
                *known |= new;
            }
            self.known.insert(key, number);
            if changed {
                self.queue(number);
            }
            return number;
        }
        let number = self.contexts.len();
        ours.push(number);
        let params = key.2.clone();
        let function = Some(function);
        self.contexts.push(Context { function, control, params, ..Context::default() });
        self.known.insert(key, number);
        self.queue(number);
        number
    }

    fn queue(&mut self, number: usize) {
        self.open.insert(self.entry(number));
    }

    /// Where a context is queued.
    fn entry(&self, number: usize) -> (u32, usize) {
        let function = self.contexts[number].function;
        (function.map_or(u32::MAX, |function| self.order[function.0 as usize]), number)
    }

    /// Looks at a context right away, so that who calls it goes on with what it does. Others wait if
    /// it is being looked at already, or too deep in calls.
    fn settle(&mut self, number: usize) {
        let entry = self.entry(number);
        if !self.open.contains(&entry) {
            return;
        }
        if !self.contexts[number].busy && self.path.len() < DEEPEST {
            self.open.remove(&entry);
            return self.look(number);
        }
        let from = self.path.iter().position(|other| *other == number).unwrap_or(0);
        for waiting in self.path[from..].iter().chain([&number]) {
            self.contexts[*waiting].preliminary = true;
        }
    }

    fn targets(&mut self, function: FunctionId, value: Value) -> Rc<Targets> {
        self.footprints.targets(self.comms, function, value)
    }

    fn shape(&mut self, function: FunctionId, body: &Body) -> Rc<Shape> {
        let shape = self.shapes.entry(function).or_insert_with(|| Rc::new(Shape::of(body)));
        Rc::clone(shape)
    }

    fn look(&mut self, number: usize) {
        self.contexts[number].rounds += 1;
        let Some(function) = self.contexts[number].function else { return };
        if self.contexts[number].rounds > ROUNDS {
            return;
        }
        let program = self.comms.program;
        let Some(body) = program[function].body.as_ref() else { return };
        self.contexts[number].busy = true;
        self.path.push(number);
        let shape = self.shape(function, body);
        let mut pass = Pass {
            number,
            function,
            body,
            shape: &shape,
            values: vec![0; body.code.len()],
            control: vec![0; body.blocks.len()],
            result: 0,
            absent: FxHashSet::default(),
            touched: FxHashSet::default(),
            exit: Stored::default(),
        };
        let mut states: Vec<Option<Stored>> = vec![None; body.blocks.len()];
        states[0] = Some(self.contexts[number].entry.clone());
        let mut changed = true;
        let mut rounds = 0;
        // Without loops, all that a block depends on comes before it.
        while std::mem::replace(&mut changed, false) && (shape.loops || rounds == 0) {
            rounds += 1;
            for block in &shape.flow.order {
                let Some(mut memory) = states[block.0 as usize].clone() else { continue };
                changed |= self.block(&mut pass, *block, &mut memory);
                for next in &body[*block].next {
                    match &mut states[next.0 as usize] {
                        Some(known) => changed |= known.join(&memory),
                        unseen => *unseen = Some(memory.clone()),
                    }
                }
            }
        }
        self.path.pop();
        self.contexts[number].busy = false;
        self.finish(pass);
    }

    fn finish(&mut self, pass: Pass) {
        let Pass { number, function, body, shape, values, result, absent, touched, exit, .. } =
            pass;
        for block in body.block_ids() {
            let others = shape.controllers[block.0 as usize].iter().filter(|by| **by != block);
            let mut guards = others.map(|by| {
                let condition = body.end(*by).and_then(|end| end.args.first());
                let params = &self.contexts[number].params;
                condition.map_or(0, |condition| value(*condition, &values, params))
            });
            let is_guarded = self.contexts[number].control != 0 || guards.any(|labels| labels != 0);
            for (id, inst) in body.instructions(block) {
                let decides = match inst.op {
                    Op::Branch | Op::Switch(_) => inst.args.first(),
                    Op::Call(Callee::Indirect) => inst.args.last(),
                    _ => None,
                };
                let labels = decides
                    .map_or(0, |decides| value(*decides, &values, &self.contexts[number].params));
                if labels != 0 {
                    *self.found.conditions.entry((function, id)).or_default() |= labels;
                    if is_guarded {
                        self.found.guarded.insert((function, id));
                    }
                }
            }
        }
        let context = &mut self.contexts[number];
        context.absent = absent;
        if context.result != result || context.touched != touched || context.exit != exit {
            (context.result, context.touched, context.exit) = (result, touched, exit);
            // What others have gone on with was enough for what they came with, if it was final.
            if context.preliminary {
                for caller in context.callers.clone() {
                    self.queue(caller);
                }
            }
        }
    }

    /// Goes through a block; says whether a value has got new labels.
    fn block(&mut self, pass: &mut Pass, block: BlockId, memory: &mut Stored) -> bool {
        let params = self.contexts[pass.number].params.clone();
        let mut control = self.contexts[pass.number].control;
        for controller in &pass.shape.controllers[block.0 as usize] {
            let condition = pass.body.end(*controller).and_then(|end| end.args.first());
            let decides = condition.map_or(0, |condition| value(*condition, &pass.values, &params));
            control |= decides | pass.control[controller.0 as usize];
        }
        let mut changed =
            std::mem::replace(&mut pass.control[block.0 as usize], control) != control;
        for (id, inst) in pass.body.instructions(block) {
            let labels = self.instruction(pass, block, id, inst, control, &params, memory);
            let known = &mut pass.values[id.0 as usize];
            changed |= labels & !*known != 0;
            *known |= labels;
        }
        changed
    }

    #[expect(clippy::too_many_arguments, reason = "all of them change from call to call")]
    fn instruction(
        &mut self,
        pass: &mut Pass,
        block: BlockId,
        id: InstId,
        inst: &Inst,
        control: Labels,
        params: &[Labels],
        memory: &mut Stored,
    ) -> Labels {
        let of = |arg: &Value, pass: &Pass| value(*arg, &pass.values, params);
        let all = |pass: &Pass| inst.args.iter().fold(0, |labels, arg| labels | of(arg, pass));
        match &inst.op {
            Op::Load(_) => {
                let targets = self.targets(pass.function, inst.args[0]);
                of(&inst.args[0], pass) | memory.read(&targets.places)
            }
            Op::Store(_) => {
                let labels = all(pass) | control;
                let targets = self.targets(pass.function, inst.args[1]);
                pass.write(memory, &targets, labels);
                0
            }
            Op::Copy => {
                let from = self.targets(pass.function, inst.args[1]);
                let labels = all(pass) | control | memory.read(&from.places);
                let to = self.targets(pass.function, inst.args[0]);
                self.overwrite(pass, memory, &to, id);
                pass.write(memory, &to, labels);
                0
            }
            Op::Fill | Op::Atomic(_) => {
                let labels = all(pass) | control;
                let to = self.targets(pass.function, inst.args[0]);
                let before = memory.read(&to.places);
                self.overwrite(pass, memory, &to, id);
                pass.write(memory, &to, labels);
                labels | before
            }
            Op::Phi(from) => {
                let mut labels = all(pass);
                let differ = inst.args.windows(2).any(|pair| pair[0] != pair[1]);
                if differ {
                    // Which of the values it is depends on the way taken.
                    let ways = from.iter().map(|from| pass.decided(*from, block, params));
                    labels |= ways.fold(0, |a, b| a | b) & !pass.control[block.0 as usize];
                }
                labels
            }
            Op::Call(_) => self.call(pass, id, inst, control, params, memory),
            Op::Return => {
                let labels = all(pass);
                pass.result |= labels;
                pass.exit.join(memory);
                0
            }
            // Nothing is left of what a call before had in it.
            Op::Alloca(_) => {
                let targets = self.targets(pass.function, Value::Inst(id));
                pass.clear(memory, &targets, None);
                0
            }
            Op::Nop | Op::Goto | Op::Branch | Op::Switch(_) | Op::Unreachable => 0,
            Op::Offset(..) | Op::Select | Op::Binary(_) | Op::Compare(_) | Op::Cast | Op::Mix => {
                all(pass)
            }
        }
    }

    /// What a copy or fill is certain to write, as a whole, was there before.
    fn overwrite(&self, pass: &mut Pass, memory: &mut Stored, to: &Targets, id: InstId) {
        let Some(length) = pass.shape.lengths.get(&id).filter(|_| to.is_certain) else { return };
        for place in &to.places {
            let whole = place.at == Some(0) && self.footprints.size(place.object) == Some(*length);
            if memory.overwrite(*place, *length, whole) {
                pass.touched.insert(place.object);
            }
        }
    }

    fn call(
        &mut self,
        pass: &mut Pass,
        id: InstId,
        inst: &Inst,
        control: Labels,
        params: &[Labels],
        memory: &mut Stored,
    ) -> Labels {
        let labels: Vec<_> =
            inst.args.iter().map(|arg| value(*arg, &pass.values, params)).collect();
        let calls = self.comms.calls;
        if let Some(mpi) = calls.at(inst) {
            return self.mpi(pass, id, inst, mpi, &labels, control, memory);
        }
        let together = labels.iter().fold(0, |a, b| a | b);
        let (callees, labels) = match runtime(self.comms.program, inst) {
            // The thread's numbers come first; they are the same on all ranks.
            Some(Runtime::Fork(Some(callee))) => {
                let passed = labels.iter().skip(3).copied();
                (vec![callee], [0, 0].into_iter().chain(passed).collect())
            }
            Some(_) => return 0,
            None => match self.comms.memory.callees(pass.function, inst) {
                Some(callees) => (callees, labels),
                None => (Vec::new(), labels),
            },
        };
        let program = self.comms.program;
        let mut defined = callees;
        defined.retain(|callee| program[*callee].body.is_some());
        let known = !defined.is_empty();
        // Where nothing differs, nothing changes.
        defined.retain(|callee| self.relevant.contains(callee));
        if known && defined.is_empty() {
            return 0;
        }
        if defined.is_empty() {
            // Somebody else's: what it returns follows from what it is given; what it stores is taken
            // not to, but to be stored on some ranks only.
            let name = match inst.op {
                Op::Call(Callee::Direct(callee)) => &*program[callee].name,
                _ => "",
            };
            if control != 0 {
                for arg in Library::of(name).written(&inst.args) {
                    let targets = self.targets(pass.function, *arg);
                    pass.add(memory, &targets, control);
                }
            }
            let mut content = 0;
            for array in digested(program, inst) {
                content |= memory.read(&self.footprints.arrays(self.comms, pass.function, *array));
            }
            if tells_of_file(name) {
                return 0;
            }
            return together | content | if DIFFERS.contains(&name) { OTHER } else { 0 };
        }
        let mut result = 0;
        let before = memory.clone();
        for (place, callee) in defined.iter().enumerate() {
            let mut passed = labels.clone();
            passed.resize(program[*callee].params as usize, 0);
            let number = self.context(*callee, control, passed);
            let context = &mut self.contexts[number];
            context.callers.insert(pass.number);
            if !context.entered.is(&before) {
                context.entered = before.clone();
                let footprint = self.footprints.get(*callee);
                if context.entry.join(&before.within(&footprint)) {
                    self.queue(number);
                }
            }
            self.settle(number);
            let context = &self.contexts[number];
            result |= context.result;
            for object in &context.touched {
                pass.touched.insert(*object);
                if place == 0 {
                    memory.take(*object, &context.exit);
                } else {
                    memory.take_also(*object, &context.exit);
                }
            }
        }
        result
    }
}

/// A look at one context.
struct Pass<'b> {
    number: usize,
    function: FunctionId,
    body: &'b Body,
    shape: &'b Shape,
    values: Vec<Labels>,
    /// By block: labels of the conditions that decide whether it runs.
    control: Vec<Labels>,
    result: Labels,
    absent: FxHashSet<(InstId, usize)>,
    touched: FxHashSet<u32>,
    exit: Stored,
}

impl Pass<'_> {
    /// Labels of whether the way from a block to another is taken.
    fn decided(&self, from: BlockId, to: BlockId, params: &[Labels]) -> Labels {
        let mut labels = self.control[from.0 as usize];
        if let Some(end) = self.body.end(from)
            && matches!(end.op, Op::Branch | Op::Switch(_))
            && self.body[from].next.iter().any(|next| *next != to)
        {
            labels |= value(end.args[0], &self.values, params);
        }
        labels
    }

    /// What was there is gone if it is certain where it is written.
    fn write(&mut self, memory: &mut Stored, targets: &Targets, labels: Labels) {
        if !targets.is_certain {
            return self.add(memory, targets, labels);
        }
        for place in &targets.places {
            if memory.replace(*place, labels) {
                self.touched.insert(place.object);
            }
        }
    }

    fn add(&mut self, memory: &mut Stored, targets: &Targets, labels: Labels) {
        for target in targets.places.iter().filter(|_| labels != 0) {
            self.touched.insert(target.object);
            memory.add(*target, labels);
        }
    }

    /// All ranks have the same there, from that place of the object on, for so many bytes if that is known.
    fn clear(&mut self, memory: &mut Stored, targets: &Targets, bytes: Option<u64>) {
        for target in &targets.places {
            if memory.clear(*target, bytes) {
                self.touched.insert(target.object);
            }
        }
    }
}

impl Shape {
    fn of(body: &Body) -> Shape {
        let flow = Flow::of(body);
        let post_dominators = post_dominators(body);
        let mut controllers = vec![SmallVec::<[BlockId; 2]>::new(); body.blocks.len()];
        for block in flow.order.iter().filter(|block| body[**block].next.len() > 1) {
            for next in &body[*block].next {
                let mut at = Some(*next);
                while let Some(dependent) =
                    at.filter(|at| Some(*at) != post_dominators[block.0 as usize])
                {
                    let ours = &mut controllers[dependent.0 as usize];
                    if !ours.contains(block) {
                        ours.push(*block);
                    }
                    at = post_dominators[dependent.0 as usize];
                }
            }
        }
        let ranks = flow.ranks();
        let rank = |block: BlockId| ranks[block.0 as usize];
        let again = |block: &BlockId| {
            flow.previous[block.0 as usize].iter().any(|from| rank(*from) >= rank(*block))
        };
        let loops = flow.order.iter().any(again);
        Shape { flow, controllers, loops, lengths: assigned::lengths(body) }
    }
}

fn value(value: Value, values: &[Labels], params: &[Labels]) -> Labels {
    match value {
        Value::Inst(id) => values[id.0 as usize],
        Value::Param(number) => params.get(number as usize).copied().unwrap_or(0),
        _ => 0,
    }
}
