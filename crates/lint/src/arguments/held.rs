//! What variables hold where a call is made, in the order of the code: constants, and handles of
//! what has been freed.
//!
//! Only variables of the function itself that others cannot change behind its back: those of whose
//! addresses nothing is made but arguments of calls. Where two ways meet, what both agree on is
//! left. A way on which a condition contradicts what a variable holds is not taken: `if (comm !=
//! MPI_COMM_NULL)` after `MPI_Comm_free(&comm)`. Functions that do nothing but free what is in the
//! variable whose address they are given count as the call they make. Of global variables only
//! handles of freed objects are followed, up to a call or a store that may change them.

mod sometimes;

use super::constant::Constant;
use crate::environment::Environment;
use crate::library::Library;
use crate::objects::makes_uncommitted;
use crate::{Calls, Mpi};
use commsan_ir::graph::Flow;
use commsan_ir::{
    BlockId, Body, Callee, Compare, FunctionId, GlobalId, Inst, InstId, Op, Program, Value,
};
use commsan_mpi_calls::{Call, Effect, Object, Role};
use commsan_shadow::Mode;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// This constant.
    Constant(Value),
    /// The null handle that a call has left which freed what it stood for.
    Freed(Object, InstId),
    /// A null handle that a call has left on one side of a condition only.
    Sometimes(Object, InstId),
    /// A datatype that this call has made, and nobody has committed.
    Uncommitted(InstId),
    /// How many ranks a communicator has.
    Size(Value),
}

/// A variable that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Variable {
    Local(InstId),
    Global(GlobalId),
}

/// What all variables hold whose content is known.
type State = FxHashMap<Variable, Content>;

/// Of one function.
#[derive(Debug, Default)]
pub struct Held {
    /// By block: whether it is reached.
    reached: Vec<bool>,
    /// By load of a variable.
    loads: FxHashMap<InstId, Content>,
    /// By call of MPI and argument, of variables whose addresses are passed.
    behind: FxHashMap<(InstId, usize), Content>,
}

impl Held {
    pub fn of(program: &Program, calls: &Calls, environment: &Environment, body: &Body) -> Held {
        let tracked = Tracked::of(program, calls, body);
        let flow = Flow::of(body);
        let mut states: Vec<Option<State>> = vec![None; body.blocks.len()];
        states[0] = Some(State::default());
        let mut held = Held::default();
        let mut changed = true;
        while std::mem::replace(&mut changed, false) {
            held.loads.clear();
            held.behind.clear();
            for block in &flow.order {
                let Some(mut state) = states[block.0 as usize].clone() else { continue };
                for (id, inst) in body.instructions(*block) {
                    held.instruction(&tracked, &mut state, id, inst);
                }
                for next in held.next(program, environment, body, *block) {
                    changed |= join(&mut states[next.0 as usize], &state);
                }
                if let Some(caught) = body[*block].unwind {
                    changed |= join(&mut states[caught.0 as usize], &State::default());
                }
            }
        }
        for used in sometimes::uses(&tracked) {
            match used.place {
                Some(place) => held.behind.entry((used.by, place)).or_insert(used.content),
                None => held.loads.entry(used.by).or_insert(used.content),
            };
        }
        held.reached = states.iter().map(Option::is_some).collect();
        held
    }

    /// Blocks that conditions on constants do not exclude.
    pub fn reached(&self) -> impl Iterator<Item = BlockId> {
        let blocks = (0..).map(BlockId).zip(&self.reached);
        blocks.filter_map(|(block, reached)| reached.then_some(block))
    }

    /// What an argument of a call of MPI is, or what is in the variable whose address is passed.
    pub fn argument(&self, body: &Body, id: InstId, place: usize) -> Option<Content> {
        let behind = self.behind.get(&(id, place)).copied();
        behind.or_else(|| self.value(body, *body[id].args.get(place)?))
    }

    fn value(&self, body: &Body, value: Value) -> Option<Content> {
        match value {
            Value::Int(_) | Value::Global(..) => Some(Content::Constant(value)),
            Value::Inst(id) => match body[id].op {
                Op::Load(_) => self.loads.get(&id).copied(),
                Op::Cast => self.value(body, *body[id].args.first()?),
                _ => None,
            },
            _ => None,
        }
    }

    fn instruction(&mut self, tracked: &Tracked, state: &mut State, id: InstId, inst: &Inst) {
        let variable = |value: Option<&Value>| tracked.variable(value);
        match inst.op {
            Op::Load(_) => {
                if let Some(content) = variable(inst.args.first()).and_then(|at| state.get(&at)) {
                    self.loads.insert(id, *content);
                }
            }
            Op::Store(_) => match variable(inst.args.get(1)) {
                Some(at) => {
                    match self.value(tracked.body, inst.args[0]) {
                        Some(content) if matches!(at, Variable::Local(_)) => {
                            state.insert(at, content)
                        }
                        _ => state.remove(&at),
                    };
                }
                None if matches!(inst.args.get(1), Some(Value::Global(..))) => {}
                None => tracked.forget(state),
            },
            Op::Copy | Op::Fill | Op::Atomic(_) => tracked.forget(state),
            Op::Call(_) => {
                for (place, arg) in inst.args.iter().enumerate() {
                    let Some(at) = variable(Some(arg)) else { continue };
                    if let Some(content) = state.get(&at) {
                        self.behind.insert((id, place), *content);
                    }
                    if let Some(comm) = tracked.sized(inst, place) {
                        match self.value(tracked.body, comm) {
                            Some(Content::Constant(comm)) if matches!(at, Variable::Local(_)) => {
                                state.insert(at, Content::Size(comm))
                            }
                            _ => state.remove(&at),
                        };
                        continue;
                    }
                    match tracked.done(inst, place) {
                        Done::Nothing => {}
                        Done::Freed(object) => {
                            state.insert(at, Content::Freed(object, id));
                        }
                        Done::Made if matches!(at, Variable::Local(_)) => {
                            state.insert(at, Content::Uncommitted(id));
                        }
                        Done::Committed => {
                            let known = state.get(&at);
                            if matches!(known, Some(Content::Uncommitted(_))) {
                                state.remove(&at);
                            }
                        }
                        Done::Made => {
                            state.remove(&at);
                        }
                        Done::Written | Done::Kept => {
                            state.remove(&at);
                        }
                    }
                }
                if tracked.is_of_others(inst) {
                    tracked.forget(state);
                }
                for (global, object) in tracked.globals_freed(inst) {
                    state.insert(Variable::Global(global), Content::Freed(object, id));
                }
            }
            _ => {}
        }
    }

    /// Where the end of a block may lead to.
    fn next(
        &self,
        program: &Program,
        environment: &Environment,
        body: &Body,
        block: BlockId,
    ) -> Vec<BlockId> {
        let next = &body[block].next;
        let decided = body.end(block).and_then(|end| self.decided(program, environment, body, end));
        match decided {
            Some(holds) => next.get(usize::from(!holds)).copied().into_iter().collect(),
            None => next.to_vec(),
        }
    }

    /// Which way a branch takes, if its condition compares what is known.
    fn decided(
        &self,
        program: &Program,
        environment: &Environment,
        body: &Body,
        end: &Inst,
    ) -> Option<bool> {
        let condition = *end.args.first().filter(|_| end.op == Op::Branch)?;
        let id = match condition {
            Value::Int(number) => return Some(number != 0),
            Value::Inst(id) => id,
            _ => return None,
        };
        let (Op::Compare(how), [left, right]) = (&body[id].op, &*body[id].args) else {
            return None;
        };
        let equal = |equal: bool| match how {
            Compare::Equal => Some(equal),
            Compare::NotEqual => Some(!equal),
            _ => None,
        };
        use Content::{Constant as Is, Freed};
        match (self.value(body, *left)?, self.value(body, *right)?) {
            (Is(Value::Int(left)), Is(Value::Int(right))) => how.of(left, right),
            (Is(Value::Global(left, 0)), Is(Value::Global(right, 0))) => equal(left == right),
            (Freed(object, _), Is(with)) | (Is(with), Freed(object, _)) => {
                let with = Constant::of_value(program, environment, object.handle(), with);
                equal(with == Constant::null(object))
            }
            _ => None,
        }
    }
}

/// What is left where ways meet. Says whether that has changed.
fn join(known: &mut Option<State>, from: &State) -> bool {
    let Some(known) = known else {
        *known = Some(from.clone());
        return true;
    };
    let before = known.len();
    known.retain(|variable, content| from.get(variable) == Some(content));
    known.len() < before
}

/// What a call does to a variable whose address it is given.
enum Done {
    Nothing,
    /// The handle in it is null now.
    Freed(Object),
    Written,
    /// A datatype is in it that is to be committed.
    Made,
    Committed,
    /// It may be written later.
    Kept,
}

/// The variables that are followed.
struct Tracked<'p> {
    program: &'p Program,
    calls: &'p Calls,
    body: &'p Body,
    variables: FxHashSet<InstId>,
    /// Those whose addresses functions know that are not looked into.
    shared: FxHashSet<InstId>,
    globals: FxHashSet<GlobalId>,
}

impl<'p> Tracked<'p> {
    fn of(program: &'p Program, calls: &'p Calls, body: &'p Body) -> Tracked<'p> {
        let (variables, shared, globals) = Default::default();
        let mut tracked = Tracked { program, calls, body, variables, shared, globals };
        let blocks = || body.block_ids().flat_map(|block| body.instructions(block));
        let is_variable = |inst: &Inst| matches!(inst.op, Op::Alloca(Some(..=8)));
        tracked.variables = blocks().filter(|(_, i)| is_variable(i)).map(|(id, _)| id).collect();
        let mut dropped = FxHashSet::default();
        for (_, inst) in blocks() {
            for (place, arg) in inst.args.iter().enumerate() {
                let Value::Inst(at) = arg else { continue };
                match inst.op {
                    Op::Load(..=8) => {}
                    Op::Store(..=8) if place == 1 => {}
                    Op::Call(_) if matches!(tracked.done(inst, place), Done::Kept) => {
                        if calls.at(inst).is_some() {
                            dropped.insert(*at);
                        } else {
                            tracked.shared.insert(*at);
                        }
                    }
                    Op::Call(_) => {}
                    _ => {
                        dropped.insert(*at);
                    }
                }
            }
        }
        tracked.variables.retain(|at| !dropped.contains(at));
        let named = |value: &Value| match value {
            Value::Global(id, 0) if program[*id].defined && program[*id].size <= 8 => Some(*id),
            _ => None,
        };
        tracked.globals = blocks().flat_map(|(_, inst)| &inst.args).filter_map(named).collect();
        tracked
    }

    /// The variable whose address a value is.
    fn variable(&self, value: Option<&Value>) -> Option<Variable> {
        match value {
            Some(Value::Inst(id)) if self.variables.contains(id) => Some(Variable::Local(*id)),
            Some(Value::Global(id, 0)) if self.globals.contains(id) => Some(Variable::Global(*id)),
            _ => None,
        }
    }

    /// What others know of may have changed.
    fn forget(&self, state: &mut State) {
        state.retain(|variable, _| match variable {
            Variable::Local(id) => !self.shared.contains(id),
            Variable::Global(_) => false,
        });
    }

    /// The global variables in which a function always frees what is in them, if it does nothing
    /// else with them.
    fn globals_freed(&self, inst: &Inst) -> Vec<(GlobalId, Object)> {
        let Op::Call(Callee::Direct(callee)) = inst.op else { return Vec::new() };
        let Some(body) = &self.program[callee].body else { return Vec::new() };
        let own = |inst: &Inst| match inst.op {
            Op::Call(Callee::Direct(callee)) => {
                let called = &self.program[callee];
                self.calls.at(inst).is_none()
                    && (called.body.is_some() || Library::of(&called.name) == Library::Anything)
            }
            Op::Call(_) => true,
            _ => false,
        };
        if body.code.iter().any(own) {
            return Vec::new();
        }
        let global = |global: &GlobalId| {
            let place = Value::Global(*global, 0);
            let mut uses = body.code.iter().filter(|inst| inst.args.contains(&place));
            let (Some(only), None) = (uses.next(), uses.next()) else { return None };
            Some((*global, self.always_frees(body, only, place)?))
        };
        self.globals.iter().filter_map(global).collect()
    }

    /// What an instruction frees that is at this address, if it is always reached.
    fn always_frees(&self, body: &Body, only: &Inst, place: Value) -> Option<Object> {
        let is_at_begin = body.instructions(BlockId(0)).any(|(_, inst)| std::ptr::eq(inst, only));
        let is_first = only.args.first() == Some(&place);
        let frees = self.calls.at(only).filter(|_| is_at_begin && is_first)?.call?.frees?;
        (frees != Object::Request).then_some(frees)
    }

    /// Whether a call may reach variables that somebody knows.
    fn is_of_others(&self, inst: &Inst) -> bool {
        match (inst.op.clone(), self.calls.at(inst)) {
            (_, Some(mpi)) => mpi.call.is_none_or(|call| call.calls_back),
            (Op::Call(Callee::Direct(callee)), None) => {
                let called = &self.program[callee];
                called.body.is_some() || Library::of(&called.name) == Library::Anything
            }
            _ => true,
        }
    }

    /// The communicator whose size a call stores through an argument.
    fn sized(&self, inst: &Inst, place: usize) -> Option<Value> {
        let mpi = self.calls.at(inst)?;
        let is_size = mpi.name == "MPI_Comm_size" && !mpi.by_reference && place == 1;
        is_size.then(|| inst.args[0])
    }

    fn done(&self, inst: &Inst, place: usize) -> Done {
        match self.calls.at(inst) {
            Some(mpi) => done_by_mpi(mpi, place),
            None => match inst.op {
                Op::Call(Callee::Direct(callee)) if self.program[callee].body.is_none() => {
                    match Library::of(&self.program[callee].name) {
                        Library::Nothing | Library::Releases | Library::Forks => Done::Nothing,
                        Library::Anything => Done::Kept,
                        _ => Done::Written,
                    }
                }
                Op::Call(Callee::Direct(callee)) => {
                    self.freed_by(callee, place).map_or(Done::Kept, Done::Freed)
                }
                _ => Done::Kept,
            },
        }
    }

    /// What a function always frees that is in the variable it is given the address of, if it does
    /// nothing else with that.
    fn freed_by(&self, function: FunctionId, place: usize) -> Option<Object> {
        let body = self.program[function].body.as_ref()?;
        let param = Value::Param(u32::try_from(place).ok()?);
        let uses = |inst: &&Inst| inst.args.contains(&param);
        let mut uses = body.code.iter().filter(uses);
        let (Some(only), None) = (uses.next(), uses.next()) else { return None };
        self.always_frees(body, only, param)
    }
}

fn done_by_mpi(mpi: &Mpi, place: usize) -> Done {
    let Some(call) = mpi.call else {
        return match KEEP_NOTHING.contains(&&*mpi.name) {
            true => Done::Written,
            false => Done::Kept,
        };
    };
    let is_param = |param: &&commsan_mpi_calls::Param| !mpi.by_reference || param.in_fortran();
    let Some(param) = call.params.iter().filter(is_param).nth(place) else {
        // The error code of Fortran.
        return Done::Written;
    };
    match (param.role, call.frees) {
        (_, Some(object)) if place == 0 && object != Object::Request => Done::Freed(object),
        (role, _) if mpi.by_reference && is_input(role) => Done::Nothing,
        (Role::Buffer, _) => buffer(call, place),
        (Role::Pointer, _) if call.makes.is_some_and(|(_, at)| at == place) => {
            if makes_uncommitted(call) { Done::Made } else { Done::Written }
        }
        (Role::Pointer, _) if param.name.ends_with("_inout") => match call.effect {
            Effect::TypeCommit => Done::Committed,
            _ => Done::Written,
        },
        // Calls that return information only.
        (Role::Pointer, _) if call.effect == Effect::Ask => Done::Written,
        (Role::Pointer, _) => Done::Kept,
        _ => Done::Written,
    }
}

/// Calls without a row that write what they are given and keep nothing.
const KEEP_NOTHING: [&str; 7] = [
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Get_count",
    "MPI_Type_size",
    "MPI_Group_size",
];

/// Whether Fortran's calls only read what is passed.
fn is_input(role: Role) -> bool {
    use Role::*;
    matches!(
        role,
        Int | Count
            | Offset
            | Datatype
            | Comm
            | PeerComm
            | Win
            | Group
            | Op
            | Info
            | File
            | RequestValue
    )
}

fn buffer(call: &Call, place: usize) -> Done {
    let mut rules = call.accesses.iter().filter(|rule| rule.buffer == place).peekable();
    let known = rules.peek().is_some();
    let reads = rules.all(|rule| rule.mode == Mode::Read);
    match call.effect {
        _ if known && reads => Done::Nothing,
        Effect::Block => Done::Written,
        _ => Done::Kept,
    }
}
