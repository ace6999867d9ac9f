//! Inlining of callees.
//!
//! A function with everything it calls in place of the calls, so that what happens in callees is
//! seen in the order it happens, with the arguments it happens to.
//!
//! Recursion ends it, and so does [`MAX_INSTRUCTIONS`]; such calls stay calls.

use commsan_ir::promote::promote;
use commsan_ir::{BlockId, Body, Callee, Function, FunctionId, Inst, InstId, Op, Place};
use commsan_ir::{Program, Value};
use commsan_points_to::PointsTo;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximum number of instructions to which a function grows by inlining, but for a jump: a call
/// with whose callee it would exceed that stays a call. A function that is longer by itself is kept
/// whole, and nothing is inlined into it.
const MAX_INSTRUCTIONS: usize = 20_000;

/// Maximum depth of nested calls that are inlined.
const MAX_INLINE_DEPTH: usize = 24;

/// A call that was replaced by what is called, or the function itself.
#[derive(Debug)]
pub struct Frame {
    /// What is called.
    pub function: FunctionId,
    /// By whom and where.
    pub caller: Option<(usize, Place)>,
    /// Whether its variables are there after it has returned: those of a coroutine are on the heap.
    pub outlives: bool,
}

/// A function without calls of others, as far as possible.
#[derive(Debug)]
pub struct Flat {
    /// Its code, promoted.
    pub body: Body,
    /// Where instructions come from: frame, and the number in that function. Those made up have
    /// none.
    pub origins: Vec<(usize, InstId)>,
    /// The function itself first.
    pub frames: Vec<Frame>,
    /// Instructions at which a frame ends and its local variables are gone.
    pub ends: FxHashMap<InstId, usize>,
}

/// Whether a function is a coroutine that its compiler has not split yet.
fn is_coroutine(program: &Program, function: FunctionId) -> bool {
    let begins = |inst: &Inst| match inst.op {
        Op::Call(Callee::Direct(callee)) => program[callee].name == "llvm.coro.begin",
        _ => false,
    };
    program[function].body.as_ref().is_some_and(|body| body.code.iter().any(begins))
}

impl Flat {
    /// Of a function with a body.
    pub fn of(program: &Program, points_to: &PointsTo, root: FunctionId) -> Flat {
        let mut maker = Maker {
            program,
            points_to,
            flat: Flat {
                body: Body::default(),
                origins: Vec::new(),
                frames: vec![Frame {
                    function: root,
                    caller: None,
                    outlives: is_coroutine(program, root),
                }],
                ends: FxHashMap::default(),
            },
        };
        maker.insert(0, None, &[]);
        let mut function = Function {
            body: Some(maker.flat.body),
            name: String::new(),
            shown: String::new(),
            module: 0,
            at: Place::default(),
            params: program[root].params,
            param_names: FxHashMap::default(),
            address_taken: false,
        };
        promote(&mut function);
        Flat { body: function.body.unwrap_or_default(), ..maker.flat }
    }

    /// Where an instruction comes from.
    pub fn origin(&self, id: InstId) -> Option<(usize, InstId)> {
        self.origins.get(id.0 as usize).copied()
    }

    /// The function an instruction belongs to.
    pub fn function(&self, id: InstId) -> FunctionId {
        self.frames[self.origin(id).map_or(0, |(frame, _)| frame)].function
    }
}

struct Maker<'p> {
    program: &'p Program,
    points_to: &'p PointsTo,
    flat: Flat,
}

/// What a callee leaves: where it returns from, and with what.
type Exits = Vec<(BlockId, Option<Value>)>;

impl<'p> Maker<'p> {
    /// Adds the code of a frame's function. Its entry is the first block added.
    fn insert(&mut self, frame: usize, arguments: Option<&[Value]>, path: &[FunctionId]) -> Exits {
        let function = self.flat.frames[frame].function;
        let program = self.program;
        let Some(body) = &program[function].body else { return Exits::new() };
        let first = self.flat.body.code.len() as u32;
        let moved = |value: Value| match value {
            Value::Inst(id) => Value::Inst(InstId(first + id.0)),
            Value::Param(number) => match arguments {
                Some(arguments) => arguments.get(number as usize).copied().unwrap_or(Value::Opaque),
                None => value,
            },
            other => other,
        };
        for (number, inst) in body.code.iter().enumerate() {
            let args = inst.args.iter().map(|arg| moved(*arg)).collect();
            self.flat.body.code.push(Inst { op: inst.op.clone(), args, at: inst.at });
            self.flat.origins.push((frame, InstId(number as u32)));
        }
        for (id, name) in &body.names {
            self.flat.body.names.insert(InstId(first + id.0), name.clone());
        }
        let begins: Vec<BlockId> = body.block_ids().map(|_| self.block()).collect();
        let mut ends = begins.clone();
        let mut exits = Exits::new();
        let path: Vec<FunctionId> = path.iter().copied().chain([function]).collect();
        for block in body.block_ids() {
            let mut at = begins[block.0 as usize];
            for inst in &body[block].code {
                let id = InstId(first + inst.0);
                if let Some(callee) = self.replaced(function, &body[*inst], &path) {
                    at = self.replace(at, id, callee, frame, &path);
                } else if body[*inst].op == Op::Return && arguments.is_some() {
                    let value = self.flat.body[id].args.first().copied();
                    self.leave(id, frame);
                    self.flat.body.blocks[at.0 as usize].code.push(id);
                    exits.push((at, value));
                } else {
                    self.flat.body.blocks[at.0 as usize].code.push(id);
                }
            }
            let next = body[block].next.iter().map(|next| begins[next.0 as usize]).collect();
            self.flat.body.blocks[at.0 as usize].next = next;
            ends[block.0 as usize] = at;
        }
        for number in first..first + body.code.len() as u32 {
            let original = &body[InstId(number - first)].op;
            if let (Op::Phi(from), Op::Phi(_)) = (original, &self.flat.body[InstId(number)].op) {
                let from = from.iter().map(|from| ends[from.0 as usize]).collect();
                self.flat.body[InstId(number)].op = Op::Phi(from);
            }
        }
        exits
    }

    /// A return in a callee is where its variables end.
    fn leave(&mut self, id: InstId, frame: usize) {
        let inst = &mut self.flat.body[id];
        inst.op = Op::Goto;
        inst.args.clear();
        self.flat.ends.insert(id, frame);
    }

    fn block(&mut self) -> BlockId {
        self.flat.body.blocks.push(commsan_ir::Block::default());
        BlockId(self.flat.body.blocks.len() as u32 - 1)
    }

    /// The function whose code replaces a call.
    fn replaced(
        &self,
        function: FunctionId,
        inst: &Inst,
        path: &[FunctionId],
    ) -> Option<FunctionId> {
        if !matches!(inst.op, Op::Call(_)) {
            return None;
        }
        let callees = self.points_to.callees(function, inst)?;
        let [callee] = *callees else { return None };
        let callee = region(self.program, inst, callee).unwrap_or(callee);
        let body = self.program[callee].body.as_ref()?;
        let fits = self.flat.body.code.len() + body.code.len() <= MAX_INSTRUCTIONS
            && path.len() < MAX_INLINE_DEPTH;
        (fits && !path.contains(&callee)).then_some(callee)
    }

    /// Puts a callee in place of a call, and says where it goes on.
    fn replace(
        &mut self,
        at: BlockId,
        call: InstId,
        callee: FunctionId,
        frame: usize,
        path: &[FunctionId],
    ) -> BlockId {
        let inst = self.flat.body[call].clone();
        let is_region = match inst.op {
            Op::Call(Callee::Direct(called)) => called != callee,
            _ => false,
        };
        let arguments: Vec<Value> = if is_region {
            // Instead of the numbers of the thread.
            let shared = inst.args.iter().skip(REGION_ARGUMENTS).copied();
            [Value::Opaque, Value::Opaque].into_iter().chain(shared).collect()
        } else {
            inst.args.to_vec()
        };
        let outlives = is_coroutine(self.program, callee);
        self.flat.frames.push(Frame { function: callee, caller: Some((frame, inst.at)), outlives });
        let entered = self.flat.frames.len() - 1;
        let goto = self.flat.body.code.len() as u32;
        let enter = Inst { op: Op::Goto, args: SmallVec::new(), at: inst.at };
        self.flat.body.code.push(enter);
        self.flat.origins.push(self.flat.origins[call.0 as usize]);
        let entry = BlockId(self.flat.body.blocks.len() as u32);
        let from = &mut self.flat.body.blocks[at.0 as usize];
        from.code.push(InstId(goto));
        from.next = [entry].into_iter().collect();
        let exits = self.insert(entered, Some(&arguments), path);
        let after = self.block();
        for (exit, _) in &exits {
            self.flat.body.blocks[exit.0 as usize].next = [after].into_iter().collect();
        }
        let from: Box<[BlockId]> = exits.iter().map(|(exit, _)| *exit).collect();
        let result = &mut self.flat.body[call];
        result.args = exits.iter().map(|(_, value)| value.unwrap_or(Value::Opaque)).collect();
        result.op = Op::Phi(from);
        self.flat.body.blocks[after.0 as usize].code.push(call);
        after
    }
}

/// Arguments of `__kmpc_fork_call` before those of the region.
const REGION_ARGUMENTS: usize = 3;

/// The region that a call of the OpenMP runtime runs.
fn region(program: &Program, inst: &Inst, callee: FunctionId) -> Option<FunctionId> {
    if program[callee].name != "__kmpc_fork_call" {
        return None;
    }
    match inst.args.get(2) {
        Some(Value::Function(region)) => Some(*region),
        _ => None,
    }
}
