//! Builds the value graph and the accesses of a function.
//!
//! Values of registers are looked up backwards on demand, which gives static single assignment
//! without rewriting (Braun et al., *Simple and Efficient Construction of SSA Form*, CC 2013). A
//! loop-carried value is an induction variable if each iteration adds the same to it.

mod calls;
mod control;
mod joint;

use super::graph::{Graph, Iterations, Node, NodeId, Place};
use super::{Access, AccessKind, Site};
use crate::flow::Flow;
use crate::instruction::{Base, Instruction, Operand, Reg};
use crate::module::{Body, Function, Module};
use crate::opcodes::{Form, Op};
use crate::words::{Space, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximum depth to which a value is traced back before it counts as unknown.
const MAX_VALUE_DEPTH: u32 = 300;
/// The values passed to, or returned from, a call, by parameter and offset.
type Bindings = FxHashMap<(u32, i64), NodeId>;

/// A merge, its block, and the value from each predecessor.
type Merged = (NodeId, usize, Vec<(usize, NodeId)>);

/// When a block is reached from its immediate dominator.
#[derive(Clone, Copy)]
struct Reached {
    /// A necessary condition and its value.
    when: Option<(NodeId, bool)>,
    /// Whether the condition is sufficient.
    certain: bool,
}

/// The results that all functions of a kernel add to.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) graph: Graph,
    pub(super) accesses: Vec<Access>,
    activations: u32,
    /// Whether a called function may end the thread.
    ends_inside: bool,
}

/// The context of a call.
#[derive(Clone, Default)]
struct Context {
    calls: Vec<Site>,
    guards: Vec<(NodeId, bool)>,
    loops: Vec<u32>,
    certain: bool,
}

/// All accesses of a kernel.
pub(super) fn kernel(module: &Module, function: u32) -> Findings {
    let mut findings = Findings::default();
    let context = Context { certain: true, ..Context::default() };
    Walker::walk(module, function, None, context, &mut findings);
    let certain = !findings.ends_inside;
    findings.accesses.iter_mut().for_each(|access| access.certain &= certain);
    findings
}

/// The analysis of one activation of a function.
struct Walker<'w> {
    module: &'w Module,
    number: u32,
    function: &'w Function,
    body: &'w Body,
    flow: Flow,
    /// Instructions that write each register, in order.
    definitions: FxHashMap<Reg, Vec<usize>>,
    at_entry: FxHashMap<(usize, Reg), NodeId>,
    results: FxHashMap<(usize, Reg), NodeId>,
    calls: FxHashMap<usize, Bindings>,
    /// The values of the parameters; `None` for a kernel, whose parameters are the launch's.
    parameters: Option<Bindings>,
    returns: FxHashMap<(u32, i64), Vec<NodeId>>,
    /// When blocks are reached.
    reached: FxHashMap<usize, Reached>,
    /// Merges whose conditions are still to be found, with their blocks.
    merges: Vec<Merged>,
    /// Numbers, in the graph, of this function's loops.
    loops: Vec<u32>,
    context: Context,
    depth: u32,
    findings: &'w mut Findings,
}

impl<'w> Walker<'w> {
    /// Analyses a function; returns its returned values.
    fn walk(
        module: &'w Module,
        number: u32,
        parameters: Option<Bindings>,
        context: Context,
        findings: &'w mut Findings,
    ) -> Bindings {
        let function = &module.functions[number as usize];
        let Some(body) = &function.body else { return Bindings::default() };
        let flow = Flow::of(body);
        let first = findings.graph.loops.len() as u32;
        let loops: Vec<u32> = (first..).take(flow.loops.len()).collect();
        findings.graph.loops.extend(loops.iter().map(|_| Iterations::default()));
        let mut walker = Walker {
            module,
            number,
            function,
            body,
            flow,
            definitions: definitions(body),
            at_entry: FxHashMap::default(),
            results: FxHashMap::default(),
            calls: FxHashMap::default(),
            parameters,
            returns: FxHashMap::default(),
            reached: FxHashMap::default(),
            merges: Vec::new(),
            loops,
            context,
            depth: 0,
            findings,
        };
        walker.iterations();
        let first = walker.findings.accesses.len();
        walker.accesses();
        walker.joint_accesses(first);
        walker.ways();
        let returns = std::mem::take(&mut walker.returns).into_iter();
        returns.map(|(at, values)| (at, walker.findings.graph.add(Node::Merge(values)))).collect()
    }

    fn accesses(&mut self) {
        for at in 0..self.body.instructions.len() {
            if self.flow.is_reachable(self.flow.block_of[at]) {
                self.instruction(at);
            }
        }
    }

    fn instruction(&mut self, at: usize) {
        let body = self.body;
        let instruction = &body.instructions[at];
        let operands = body.operands_of(instruction);
        let size = instruction.modifiers.access_size();
        match (instruction.op, operands) {
            (Op::Ld | Op::Ldu | Op::MultimemLd, [_, memory, ..]) => {
                self.access(at, AccessKind::Read, *memory, size);
            }
            (Op::St, [Operand::Memory(Base::Return(result), offset), value, ..]) => {
                let elements = body.elements_of(value);
                for (element, n) in elements.iter().zip(0..) {
                    let step = instruction.modifiers.ty().size() as i64;
                    let node = self.value(at, element);
                    self.returns.entry((*result, offset + n * step)).or_default().push(node);
                }
            }
            (Op::St | Op::MultimemSt, [memory, ..]) => {
                self.access(at, AccessKind::Write, *memory, size);
            }
            (Op::Atom, [_, memory, ..]) | (Op::Red | Op::MultimemRed, [memory, ..]) => {
                self.access(at, AccessKind::Atomic, *memory, size);
            }
            (Op::CpAsync, [_, memory, Operand::Imm(size), ..]) => {
                let generic = Instruction { modifiers: Default::default(), ..*instruction };
                self.access_of(at, &generic, AccessKind::Read, *memory, *size);
            }
            (Op::CpAsyncBulk, [_, memory, Operand::Imm(size), ..]) => {
                self.access(at, AccessKind::Read, *memory, *size);
            }
            // Only the device knows which texels these touch.
            (Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 | Op::Suld, _) => {
                self.record(at, AccessKind::Read, None, 0);
            }
            (Op::Sust, _) => self.record(at, AccessKind::Write, None, 0),
            // Global memory is only read.
            (Op::CpAsyncBulk, _) => self.record(at, AccessKind::Read, None, 0),
            (Op::Call, _) => {
                self.call(at);
            }
            (Op::Unknown, _) => self.anything(at),
            (Op::Exit, _) => self.findings.ends_inside |= self.parameters.is_some(),
            _ => {}
        }
    }

    fn access(&mut self, at: usize, kind: AccessKind, memory: Operand, size: u64) {
        self.access_of(at, &self.body.instructions[at], kind, memory, size);
    }

    fn access_of(
        &mut self,
        at: usize,
        instruction: &Instruction,
        kind: AccessKind,
        memory: Operand,
        size: u64,
    ) {
        let Operand::Memory(base, offset) = memory else { return };
        // Constant memory is written by the host only, but is read.
        let spaces = [None, Some(Space::Global), Some(Space::Const)];
        let is_global = spaces.contains(&instruction.modifiers.space);
        if !is_global || matches!(base, Base::Param(_) | Base::Return(_) | Base::Local(_)) {
            return;
        }
        let address = self.address(at, base, offset);
        self.record(at, kind, Some(address), size);
    }

    /// Records an instruction that may access any memory.
    fn anything(&mut self, at: usize) {
        self.record(at, AccessKind::Write, None, 0);
    }

    fn record(&mut self, at: usize, kind: AccessKind, address: Option<NodeId>, size: u64) {
        let Context { calls, guards, loops, certain } = self.context_at(at);
        let site = Site { function: self.number, instruction: at as u32 };
        let also = Vec::new();
        let access = Access { kind, size, site, also, calls, address, guards, loops, certain };
        self.findings.accesses.push(access);
    }

    fn value(&mut self, at: usize, operand: &Operand) -> NodeId {
        match *operand {
            Operand::Reg(register) => self.register(at, register),
            Operand::Imm(bits) => self.findings.graph.add(Node::Const(bits)),
            Operand::Special(special, n) => self.findings.graph.add(Node::Special(special, n)),
            Operand::Address(base, offset) => self.address(at, base, offset),
            Operand::Not(register) => {
                let value = self.register(at, register);
                self.apply(Op::Not, Type::Pred, &[value])
            }
            _ => self.findings.graph.add(Node::Unknown),
        }
    }

    fn address(&mut self, at: usize, base: Base, offset: i64) -> NodeId {
        let start = match base {
            Base::Reg(register) => self.register(at, register),
            Base::Absolute => return self.findings.graph.add(Node::Const(offset as u64)),
            Base::Param(n) if self.parameters.is_none() => {
                let place = Place::Arguments(self.function.parameters[n as usize].offset);
                self.findings.graph.add(Node::Place(place))
            }
            // The parameters of a called function lie in private memory of the thread.
            Base::Param(_) | Base::Return(_) => self.findings.graph.add(Node::Place(Place::Own)),
            other => {
                let place = self.place(other);
                self.findings.graph.add(Node::Place(place))
            }
        };
        match offset {
            0 => start,
            _ => {
                let offset = self.findings.graph.add(Node::Const(offset as u64));
                self.apply(Op::Add, Type::S64, &[start, offset])
            }
        }
    }

    fn place(&self, symbol: Base) -> Place {
        match symbol {
            Base::Variable(at) => match self.module.variables[at as usize].space {
                Space::Global | Space::Const => Place::Variable(at),
                _ => Place::Own,
            },
            _ => Place::Own,
        }
    }

    fn apply(&mut self, op: Op, ty: Type, args: &[NodeId]) -> NodeId {
        let modifiers =
            crate::Modifiers { types: [Some(ty), None, None], ..crate::Modifiers::default() };
        self.findings.graph.add(Node::Apply { op, modifiers, args: SmallVec::from_slice(args) })
    }

    /// The value of a register before an instruction.
    fn register(&mut self, at: usize, register: Reg) -> NodeId {
        let start = self.flow.blocks[self.flow.block_of[at]].instructions.start;
        self.register_within(start, at, register)
    }

    /// The definition of a register that reaches `at`, where `start` is the first instruction of
    /// the block.
    fn register_within(&mut self, start: usize, at: usize, register: Reg) -> NodeId {
        let all = self.definitions.get(&register).map_or(&[][..], Vec::as_slice);
        let before = all.partition_point(|d| *d < at);
        match (all, before.checked_sub(1).map(|n| all[n])) {
            (_, Some(definition)) if definition >= start => self.result(definition, register),
            // A single definition that dominates this block: no need to look in between.
            (&[only], _) if self.is_above(self.flow.block_of[only], self.flow.block_of[start]) => {
                self.result(only, register)
            }
            _ => self.entry(self.flow.block_of[start], register),
        }
    }

    fn is_above(&self, above: usize, block: usize) -> bool {
        above != block && self.flow.dominates(above, block)
    }

    /// The value of a register at the beginning of a block.
    fn entry(&mut self, block: usize, register: Reg) -> NodeId {
        // A loop-carried value is recognised at the header, which must be visited first.
        let header = |at: usize| self.flow.loops[at].header;
        let headers: SmallVec<[usize; 4]> = self.flow.loops_of(block).map(header).collect();
        for header in headers {
            if header != block && !self.at_entry.contains_key(&(header, register)) {
                self.entry(header, register);
            }
        }
        if let Some(known) = self.at_entry.get(&(block, register)) {
            return *known;
        }
        let id = self.findings.graph.add(Node::Unknown);
        if self.depth > MAX_VALUE_DEPTH {
            return id;
        }
        self.at_entry.insert((block, register), id);
        self.depth += 1;
        let predecessors: Vec<usize> = (self.flow.blocks[block].predecessors.iter().copied())
            .filter(|p| self.flow.is_reachable(*p))
            .collect();
        let mut values: Vec<(usize, NodeId)> = Vec::new();
        for predecessor in predecessors {
            let range = self.flow.blocks[predecessor].instructions.clone();
            let value = self.register_within(range.start, range.end, register);
            values.push((predecessor, self.findings.graph.same(value)));
        }
        self.depth -= 1;
        let node = self.merge(block, id, register, &values);
        self.findings.graph.set(id, node);
        id
    }

    /// A merge of several values, or an induction variable.
    fn merge(
        &mut self,
        block: usize,
        id: NodeId,
        register: Reg,
        values: &[(usize, NodeId)],
    ) -> Node {
        let mut others: Vec<NodeId> = values.iter().map(|(_, v)| *v).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|v| *v != id);
        let header = self.flow.loops.iter().position(|l| l.header == block);
        match (header, &others[..]) {
            (_, []) => Node::Unknown,
            (_, [_]) => Node::Merge(others),
            (Some(at), _) => self.induction(at, id, register, values).unwrap_or_else(|| {
                // Other values are found as if all paths were one.
                Node::Merge(others)
            }),
            (None, _) => {
                self.merges.push((id, block, values.to_vec()));
                Node::Merge(others)
            }
        }
    }

    fn induction(
        &mut self,
        at: usize,
        id: NodeId,
        register: Reg,
        values: &[(usize, NodeId)],
    ) -> Option<Node> {
        let latches = &self.flow.loops[at].latches;
        let (back, outer): (Vec<_>, Vec<_>) = values.iter().partition(|(p, _)| latches.contains(p));
        let (&[(_, back)], &[(_, init)]) = (&back[..], &outer[..]) else { return None };
        let step = self.findings.graph.step(back, id, 64)?;
        let bits = 8 * register_bytes(register);
        Some(Node::Induction { of: self.loops[at], init, step, bits })
    }

    /// The value that an instruction writes to a register.
    fn result(&mut self, at: usize, register: Reg) -> NodeId {
        if let Some(known) = self.results.get(&(at, register)) {
            return *known;
        }
        if self.depth > MAX_VALUE_DEPTH {
            return self.findings.graph.add(Node::Unknown);
        }
        self.depth += 1;
        let mut value = self.computed(at, register);
        if let Some(guard) = self.body.instructions[at].guard {
            let old = self.register(at, register);
            let condition = self.register(at, guard.register);
            let (yes, no) = if guard.negated { (old, value) } else { (value, old) };
            value = self.apply(Op::Selp, Type::B64, &[yes, no, condition]);
        }
        self.depth -= 1;
        self.results.insert((at, register), value);
        value
    }

    fn computed(&mut self, at: usize, register: Reg) -> NodeId {
        let body = self.body;
        let Instruction { op, modifiers, .. } = body.instructions[at];
        let operands = body.operands_of(&body.instructions[at]);
        match (op, operands) {
            (Op::Mov | Op::Cvta | Op::CvtaTo, [Operand::Reg(_), source]) => self.value(at, source),
            (Op::Ld | Op::Ldu, [destination, Operand::Memory(base, offset), ..]) => {
                let elements = body.elements_of(destination);
                let n = elements.iter().position(|e| *e == Operand::Reg(register)).unwrap_or(0);
                let ty = modifiers.ty();
                self.loaded(at, *base, offset + n as i64 * ty.size() as i64, ty)
            }
            (_, [destination, sources @ ..]) if is_pure(op) => {
                // The second half of a pair is the complement.
                let second = *destination != Operand::Reg(register);
                let positions = &op.row().operands[1..];
                let sources = sources.iter().zip(positions).filter(|(_, f)| f.form != Form::Second);
                let args = sources.map(|(s, _)| self.value(at, s)).collect();
                let value = self.findings.graph.add(Node::Apply { op, modifiers, args });
                let value = self.findings.graph.narrowed_again(value);
                if second { self.apply(Op::Not, Type::Pred, &[value]) } else { value }
            }
            _ => self.findings.graph.add(Node::Unknown),
        }
    }

    fn loaded(&mut self, at: usize, base: Base, offset: i64, ty: Type) -> NodeId {
        let known = match (base, &self.parameters) {
            (Base::Param(n), None) => {
                let offset =
                    self.function.parameters[n as usize].offset.wrapping_add_signed(offset);
                Some(self.findings.graph.add(Node::Argument { offset, ty }))
            }
            (Base::Param(n), Some(parameters)) => parameters.get(&(n, offset)).copied(),
            (Base::Local(variable), _) => self.returned(at, variable, offset),
            (Base::Return(_), _) => None,
            _ => {
                let address = self.address(at, base, offset);
                Some(self.findings.graph.add(Node::Loaded { address, ty }))
            }
        };
        known.unwrap_or_else(|| self.findings.graph.add(Node::Unknown))
    }
}

/// Operations whose result follows from their operands by `values.rs`.
fn is_pure(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Add | Sub
            | Mul
            | Mad
            | Mul24
            | Mad24
            | Neg
            | Min
            | Max
            | Div
            | Rem
            | Abs
            | And
            | Or
            | Xor
            | Not
            | Shl
            | Shr
            | Bfe
            | Bfi
            | Selp
            | Setp
            | Cvt
    )
}

fn register_bytes(register: Reg) -> u32 {
    use crate::instruction::Class;
    match register.class() {
        Class::Pred | Class::B8 => 1,
        Class::B16 => 2,
        Class::B32 => 4,
        Class::B64 | Class::B128 => 8,
    }
}

/// The instructions that write each register.
fn definitions(body: &Body) -> FxHashMap<Reg, Vec<usize>> {
    let mut all: FxHashMap<Reg, Vec<usize>> = FxHashMap::default();
    for (at, instruction) in body.instructions.iter().enumerate() {
        let operands = body.operands_of(instruction);
        let positions = instruction.op.row().operands.iter().map(|p| p.written);
        // A call's returned values that are not parameters are in its second operand.
        let positions: Vec<bool> = match instruction.op {
            Op::Call => vec![false, true],
            _ => positions.collect(),
        };
        for (operand, _) in operands.iter().zip(positions).filter(|(_, written)| *written) {
            for element in body.elements_of(operand) {
                if let Operand::Reg(register) = element {
                    all.entry(*register).or_default().push(at);
                }
            }
        }
    }
    all
}
