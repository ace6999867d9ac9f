//! Rank divergence: an interprocedural, flow- and context-sensitive dataflow analysis of which
//! values may differ between ranks, with control dependences (multi-valued expressions, Zhang and
//! Duesterwald, PPoPP 2007).
//!
//! A value carries labels of its sources of divergence: the rank in a communicator, received data,
//! the clock. Labels follow data through variables, memory and calls, and control: what is stored
//! on one side of a divergent condition diverges. A collective whose result is the same on all
//! ranks removes them.
//!
//! Each function is analysed forward, with memory by place (flow-sensitive), for each combination
//! of labels of its arguments and of what its parameters point to (`context.rs`). Many combinations
//! are joined.
//!
//! A function is analysed when it is called, with the memory that it may modify or reference
//! (`mod_ref.rs`). Earlier callers keep the result that they were given, which was sufficient for
//! their context. Only recursive calls are analysed again, up to a fixed point.

mod calls;
mod context;
mod mpi;
mod pass;
mod search;

use super::comm::{Comms, Labels};
use super::mod_ref::{ModRef, Targets};
use super::reach;
use super::stored::Stored;
use crate::callgraph;
use commsan_ir::graph::on_circles;
use commsan_ir::{BlockId, Body, Callee, FunctionId, Inst, InstId, Op, Value};
use commsan_points_to::{Object, Pointer};
use context::{Call, Context};
use pass::{Pass, Shape, value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum number of times that one context is analysed.
const MAX_CONTEXT_ITERATIONS: usize = 40;

/// What differs between ranks, for a whole program.
#[derive(Debug, Default)]
pub struct Divergent {
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

struct Analysis<'a, 'p> {
    comms: &'a mut Comms<'p>,
    contexts: Vec<Context>,
    known: FxHashMap<(FunctionId, Call), usize>,
    of_function: FxHashMap<FunctionId, Vec<usize>>,
    shapes: FxHashMap<FunctionId, Rc<Shape>>,
    /// Contexts to look at, called functions first.
    open: BTreeSet<(u32, usize)>,
    order: Order,
    /// Functions in which anything can differ.
    relevant: FxHashSet<FunctionId>,
    mod_ref: ModRef,
    /// Contexts being looked at, each called by the one before.
    path: Vec<usize>,
    found: Divergent,
}

/// Looks at everything that is reached from `roots`.
pub fn divergent(comms: &mut Comms, roots: &[FunctionId]) -> Divergent {
    let (contexts, known, of_function, shapes, open, path, found) = Default::default();
    let reached = reach::look(comms);
    let relevant = reached.functions.clone();
    let mod_ref = ModRef::of(comms, reached);
    let order = Order::of(comms, roots);
    let mut analysis = Analysis {
        comms,
        contexts,
        known,
        of_function,
        shapes,
        open,
        order,
        relevant,
        mod_ref,
        path,
        found,
    };
    for root in roots {
        let params = vec![0; analysis.comms.program[*root].params as usize];
        analysis.context(*root, Call { params, ..Call::default() });
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

/// Who calls whom, from some functions on.
struct Order {
    /// By function: its place in an order in which, but for recursion, called functions come first.
    places: Vec<u32>,
    /// By function: whether it may be called while it runs.
    recursive: Vec<bool>,
}

impl Order {
    fn of(comms: &Comms, roots: &[FunctionId]) -> Order {
        let program = comms.program;
        let mut calls = Vec::new();
        let mut callees = |function: FunctionId| {
            let mut callees = Vec::new();
            if let Some(body) = &program[function].body {
                for inst in &body.code {
                    callees.extend(callgraph::called(
                        program,
                        comms.points_to,
                        function,
                        body,
                        inst,
                    ));
                }
            }
            calls.extend(callees.iter().map(|callee| (function.0, callee.0)));
            callees
        };
        let mut places = vec![u32::MAX; program.functions.len()];
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
                        places[function.0 as usize] = next;
                        next += 1;
                        path.pop();
                    }
                }
            }
        }
        Order { places, recursive: on_circles(program.functions.len(), &calls) }
    }
}

impl Analysis<'_, '_> {
    fn shape(&mut self, function: FunctionId, body: &Body) -> Rc<Shape> {
        let calls = self.comms.calls;
        let shape = self.shapes.entry(function).or_insert_with(|| Rc::new(Shape::of(calls, body)));
        Rc::clone(shape)
    }

    fn look(&mut self, number: usize) {
        self.contexts[number].rounds += 1;
        let Some(function) = self.contexts[number].function else { return };
        if self.contexts[number].rounds > MAX_CONTEXT_ITERATIONS {
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
                let params = &self.contexts[number].call.params;
                condition.map_or(0, |condition| value(*condition, &values, params))
            });
            let is_guarded =
                self.contexts[number].call.control != 0 || guards.any(|labels| labels != 0);
            for (id, inst) in body.instructions(block) {
                let decides = match inst.op {
                    Op::Branch | Op::Switch(_) => inst.args.first(),
                    Op::Call(Callee::Indirect) => inst.args.last(),
                    _ => None,
                };
                let labels = decides.map_or(0, |decides| {
                    value(*decides, &values, &self.contexts[number].call.params)
                });
                if labels != 0 {
                    *self.found.conditions.entry((function, id)).or_default() |= labels;
                    if is_guarded {
                        self.found.guarded.insert((function, id));
                    }
                }
            }
        }
        let touched = self.outliving(function, body, touched);
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

    /// Without a function's own variables, of which nothing is left when it returns, unless it was
    /// called by itself.
    fn outliving(
        &self,
        function: FunctionId,
        body: &Body,
        mut touched: FxHashSet<u32>,
    ) -> FxHashSet<u32> {
        if !self.order.recursive[function.0 as usize] && !touched.is_empty() {
            for id in body.block_ids().flat_map(|block| &body[block].code) {
                if let Op::Alloca(_) = body[*id].op
                    && let Some(own) = self.mod_ref.number(Object::Local(function, *id))
                {
                    touched.remove(&own);
                }
            }
        }
        touched
    }

    /// Goes through a block; says whether a value has got new labels.
    fn block(&mut self, pass: &mut Pass, block: BlockId, memory: &mut Stored) -> bool {
        let params = self.contexts[pass.number].call.params.clone();
        let mut control = self.contexts[pass.number].call.control;
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
        let all = |pass: &Pass| {
            let begins = |place: usize| pass.shape.begins.contains(&(id, place));
            let args = inst.args.iter().enumerate().filter(|(place, _)| !begins(*place));
            args.fold(0, |labels, (_, arg)| labels | of(arg, pass))
        };
        match &inst.op {
            Op::Load(_) => {
                let targets = self.targets(pass.at(), inst.args[0]);
                of(&inst.args[0], pass) | memory.read(&targets.places)
            }
            Op::Store(_) => {
                let labels = all(pass) | control;
                let targets = self.targets(pass.at(), inst.args[1]);
                pass.write(memory, &targets, labels);
                0
            }
            Op::Copy => {
                let from = self.targets(pass.at(), inst.args[1]);
                let labels = all(pass) | control | memory.read(&from.places);
                let to = self.targets(pass.at(), inst.args[0]);
                self.overwrite(pass, memory, &to, id);
                pass.write(memory, &to, labels);
                0
            }
            Op::Fill | Op::Atomic(_) => {
                let labels = all(pass) | control;
                let to = self.targets(pass.at(), inst.args[0]);
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
                let targets = self.targets(pass.at(), Value::Inst(id));
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
            let whole = place.at == Some(0) && self.mod_ref.size(place.object) == Some(*length);
            if memory.overwrite(*place, *length, whole) {
                pass.touched.insert(place.object);
            }
        }
    }
}
