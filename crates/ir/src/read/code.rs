//! Translates LLVM instructions.
//!
//! Structures that are put together and stored as a whole, as flang does with descriptors of
//! arrays, become a store for each field ([`parts`]).

mod parts;

use crate::{Binary, Block, BlockId, Body, Callee, Compare, Inst, InstId, Op, Value};
use commsan_llvm::{self as ir, Opcode, llvm};
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Reads one function.
pub struct Reader<'r, 'p> {
    module: &'r mut super::Reader<'p>,
    function: ir::Value,
    blocks: FxHashMap<ir::Block, BlockId>,
    instructions: FxHashMap<ir::Value, InstId>,
    parameters: FxHashMap<ir::Value, u32>,
    /// Instructions besides those of the function, which come after them in [`Body::code`].
    more: Vec<Inst>,
}

impl<'r, 'p> Reader<'r, 'p> {
    pub fn new(module: &'r mut super::Reader<'p>, function: ir::Value) -> Self {
        let parameters = function.parameters().zip(0..).collect();
        let blocks = function.blocks().zip((0..).map(BlockId)).collect();
        let instructions = function.blocks().flat_map(ir::Block::instructions);
        let instructions = instructions.zip((0..).map(InstId)).collect();
        Reader { module, function, blocks, instructions, parameters, more: Vec::new() }
    }

    pub fn read(mut self) -> Body {
        let mut body = Body::default();
        for block in self.function.blocks() {
            let mut read = Block::default();
            for instruction in block.instructions() {
                let id = InstId(body.code.len() as u32);
                let mut inst = self.instruction(instruction, &mut read, &mut body.names);
                if let Some(stores) = self.parts(instruction) {
                    inst.op = Op::Nop;
                    inst.args.clear();
                    read.code.extend(stores);
                }
                if inst.op != Op::Nop {
                    read.code.push(id);
                }
                body.code.push(inst);
            }
            body.blocks.push(read);
        }
        body.code.append(&mut self.more);
        body
    }

    fn instruction(
        &mut self,
        instruction: ir::Value,
        block: &mut Block,
        names: &mut FxHashMap<InstId, Box<str>>,
    ) -> Inst {
        let at = self.module.place(instruction);
        let opcode = instruction.opcode().unwrap_or(Opcode::LLVMUnreachable);
        let (op, args): (Op, SmallVec<[Value; 2]>) = match opcode {
            Opcode::LLVMAlloca => {
                let each = self.module.module.size(instruction.allocated_type());
                let count = instruction.operand(0).as_integer();
                (Op::Alloca(count.map(|count| each * count as u64)), SmallVec::new())
            }
            // What another thread may change meanwhile.
            Opcode::LLVMLoad if instruction.is_atomic() || instruction.is_volatile() => {
                (Op::Atomic(self.size(instruction.ty())), self.all(instruction))
            }
            Opcode::LLVMLoad => (Op::Load(self.size(instruction.ty())), self.all(instruction)),
            Opcode::LLVMStore => {
                (Op::Store(self.size(instruction.operand(0).ty())), self.all(instruction))
            }
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                (Op::Atomic(self.size(instruction.operand(1).ty())), self.all(instruction))
            }
            Opcode::LLVMGetElementPtr => self.address(instruction),
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => {
                if opcode == Opcode::LLVMInvoke {
                    let [normal, unwind] = instruction.destinations();
                    block.next.push(self.blocks[&normal]);
                    block.unwind = Some(self.blocks[&unwind]);
                } else if opcode == Opcode::LLVMCallBr {
                    self.lead_on(instruction, block);
                }
                self.call(instruction, names)
            }
            Opcode::LLVMPHI => {
                let (values, from): (SmallVec<_>, Vec<_>) = instruction
                    .all_incoming()
                    .map(|(v, b)| (self.value(v), self.blocks[&b]))
                    .unzip();
                (Op::Phi(from.into()), values)
            }
            Opcode::LLVMSelect => (Op::Select, self.all(instruction)),
            Opcode::LLVMICmp => (Op::Compare(comparison(instruction)), self.all(instruction)),
            Opcode::LLVMTrunc
            | Opcode::LLVMZExt
            | Opcode::LLVMSExt
            | Opcode::LLVMPtrToInt
            | Opcode::LLVMIntToPtr
            | Opcode::LLVMBitCast
            | Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMFreeze => (Op::Cast, self.all(instruction)),
            Opcode::LLVMBr => {
                self.lead_on(instruction, block);
                match instruction.condition() {
                    Some(condition) => (Op::Branch, [self.value(condition)].into_iter().collect()),
                    None => (Op::Goto, SmallVec::new()),
                }
            }
            Opcode::LLVMSwitch => {
                self.lead_on(instruction, block);
                let cases = instruction.cases().collect();
                let value = self.value(instruction.operand(0));
                (Op::Switch(cases), [value].into_iter().collect())
            }
            Opcode::LLVMIndirectBr => {
                self.lead_on(instruction, block);
                let value = self.value(instruction.operand(0));
                (Op::Switch(Box::default()), [value].into_iter().collect())
            }
            Opcode::LLVMRet => (Op::Return, self.all(instruction)),
            Opcode::LLVMUnreachable | Opcode::LLVMResume => (Op::Unreachable, SmallVec::new()),
            _ => match binary(opcode) {
                Some(op) => (Op::Binary(op), self.all(instruction)),
                None => (Op::Mix, self.all(instruction)),
            },
        };
        Inst { op, args, at }
    }

    fn size(&self, ty: ir::Type) -> u32 {
        u32::try_from(self.module.module.store_size(ty)).unwrap_or(u32::MAX)
    }

    fn lead_on(&mut self, terminator: ir::Value, block: &mut Block) {
        block.next.extend(terminator.successors().map(|next| self.blocks[&next]));
    }

    fn address(&mut self, instruction: ir::Value) -> (Op, SmallVec<[Value; 2]>) {
        let base = self.value(instruction.operand(0));
        let (bytes, scaled) = self.module.offset(instruction);
        let mut args: SmallVec<[Value; 2]> = [base].into_iter().collect();
        args.extend(scaled.iter().map(|(index, _)| self.value(*index)));
        (Op::Offset(bytes, scaled.iter().map(|(_, scale)| *scale).collect()), args)
    }

    fn call(
        &mut self,
        call: ir::Value,
        names: &mut FxHashMap<InstId, Box<str>>,
    ) -> (Op, SmallVec<[Value; 2]>) {
        let name = call.callee_name();
        if let Some(address) = declaration(name) {
            if let Some((address, name)) = self.module.declared(call, address)
                && let Some(id) = self.instructions.get(&ir::Value(address))
            {
                names.insert(*id, name.into());
            }
            return (Op::Nop, SmallVec::new());
        }
        // What the runtime of OpenMP is given to call is no function pointer of the program's.
        let own = !name.starts_with("__kmpc_");
        let arguments = call.operands().take(call.arguments() as usize);
        let arguments: Vec<_> = arguments.collect();
        let args = |reader: &mut Self, count: usize| {
            arguments.iter().take(count).map(|a| reader.argument(*a, own)).collect()
        };
        match intrinsic(name) {
            Some(Intrinsic::Nothing) => return (Op::Nop, SmallVec::new()),
            Some(Intrinsic::Copy) => return (Op::Copy, args(self, 3)),
            Some(Intrinsic::Fill) => return (Op::Fill, args(self, 3)),
            Some(Intrinsic::Same) => return (Op::Cast, args(self, 1)),
            None => {}
        }
        let mut args: SmallVec<[Value; 2]> = args(self, arguments.len());
        let callee = if let Some(function) = call.called() {
            Callee::Direct(self.module.function(function))
        } else if call.is_assembly() {
            Callee::Assembly
        } else {
            args.push(self.value(call.called_value()));
            Callee::Indirect
        };
        (Op::Call(callee), args)
    }

    fn argument(&mut self, value: ir::Value, own: bool) -> Value {
        if !own && value.is_function() {
            return Value::Function(self.module.function(value));
        }
        self.value(value)
    }

    fn all(&mut self, instruction: ir::Value) -> SmallVec<[Value; 2]> {
        instruction.operands().map(|operand| self.value(operand)).collect()
    }

    fn value(&mut self, value: ir::Value) -> Value {
        if let Some(id) = self.instructions.get(&value) {
            Value::Inst(*id)
        } else if let Some(number) = self.parameters.get(&value) {
            Value::Param(*number)
        } else {
            self.module.constant(value)
        }
    }
}

/// Which operand of a call that says what a variable is called is the variable's address.
fn declaration(name: &str) -> Option<u32> {
    match name {
        "llvm.dbg.declare" => Some(0),
        // Instead, where the optimizer will run.
        "llvm.dbg.assign" => Some(4),
        _ => None,
    }
}

/// Intrinsics with a meaning of their own.
enum Intrinsic {
    Nothing,
    Copy,
    Fill,
    Same,
}

fn intrinsic(name: &str) -> Option<Intrinsic> {
    let name = name.strip_prefix("llvm.")?;
    let begins = |with: &[&str]| with.iter().any(|begin| name.starts_with(begin));
    if begins(&["dbg.", "lifetime.", "assume", "donothing", "experimental.noalias", "invariant."]) {
        Some(Intrinsic::Nothing)
    } else if begins(&["memcpy", "memmove"]) {
        Some(Intrinsic::Copy)
    } else if begins(&["memset"]) {
        Some(Intrinsic::Fill)
    } else if begins(&["expect", "launder", "strip.invariant", "ssa.copy", "ptr.annotation"]) {
        Some(Intrinsic::Same)
    } else {
        None
    }
}

fn comparison(instruction: ir::Value) -> Compare {
    use LLVMIntPredicate::*;
    match llvm!(LLVMGetICmpPredicate(instruction.0)) {
        LLVMIntEQ => Compare::Equal,
        LLVMIntNE => Compare::NotEqual,
        LLVMIntSLT | LLVMIntULT => Compare::Less,
        LLVMIntSLE | LLVMIntULE => Compare::LessOrEqual,
        LLVMIntSGT | LLVMIntUGT => Compare::Greater,
        LLVMIntSGE | LLVMIntUGE => Compare::GreaterOrEqual,
    }
}

fn binary(opcode: Opcode) -> Option<Binary> {
    Some(match opcode {
        Opcode::LLVMAdd => Binary::Add,
        Opcode::LLVMSub => Binary::Sub,
        Opcode::LLVMMul => Binary::Mul,
        Opcode::LLVMSDiv | Opcode::LLVMUDiv => Binary::Div,
        Opcode::LLVMSRem | Opcode::LLVMURem => Binary::Rem,
        Opcode::LLVMAnd => Binary::And,
        Opcode::LLVMOr => Binary::Or,
        Opcode::LLVMXor => Binary::Xor,
        Opcode::LLVMShl => Binary::ShiftLeft,
        Opcode::LLVMLShr | Opcode::LLVMAShr => Binary::ShiftRight,
        Opcode::LLVMFAdd
        | Opcode::LLVMFSub
        | Opcode::LLVMFMul
        | Opcode::LLVMFDiv
        | Opcode::LLVMFRem => Binary::Float,
        _ => return None,
    })
}
