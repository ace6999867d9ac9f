//! Lowers branches, calls, barriers and fences (PTX ISA §9.7.12, §9.7.13).

use super::{Lowering, Refusal};
use crate::code::{Action, Barrier, Call, Callee, Code, Combined, Provided, Reduction, Switch};
use crate::rows::Slot;
use commsan_ptx::words::{Combine, Flag};
use commsan_ptx::{Base, Op, Operand, Targets};

/// Prefix of the functions by which kernels launch kernels (CUDA dynamic parallelism).
const OF_DEVICE_RUNTIME: &str = "__cudaCDP2";

/// Replaces indices of branch targets' instructions by those of their first steps.
pub(super) fn resolve_targets(codes: &mut [Code], starts: &[u32]) {
    let step = |target: &mut u32| *target = starts[(*target as usize).min(starts.len() - 1)];
    for code in codes {
        match &mut code.action {
            Action::Branch(target) => step(target),
            Action::Switch(switch) => switch.targets.iter_mut().for_each(step),
            _ => {}
        }
    }
}

impl Lowering<'_> {
    /// Lowers a control instruction; `None` for other opcodes.
    pub(super) fn control(&mut self) -> Option<Result<(), Refusal>> {
        let action = match self.instruction.op {
            Op::Bra => return Some(self.branch()),
            Op::BrxIdx => return Some(self.switch()),
            Op::Call => return Some(self.call()),
            Op::Nanosleep => return Some(self.sleep()),
            Op::BarSync | Op::BarrierSync => return Some(self.barrier(true)),
            Op::BarArrive | Op::BarrierArrive => return Some(self.barrier(false)),
            Op::BarRed | Op::BarrierRed => return Some(self.reducing_barrier()),
            Op::Ret => Action::Return,
            Op::Exit => Action::Exit,
            Op::Trap => Action::Trap,
            Op::Membar | Op::Fence | Op::FenceProxy | Op::FenceMbarrierInit => Action::Fence,
            // A block is its own cluster, and its warps advance together; a grid starts when those
            // that it depends on are done.
            Op::Brkpt | Op::ClusterArrive | Op::GridDepLaunch | Op::GridDepWait => Action::Nothing,
            Op::ClusterWait => return Some(self.block_barrier()),
            _ => return None,
        };
        self.emit(action);
        Some(Ok(()))
    }

    fn branch(&mut self) -> Result<(), Refusal> {
        let Operand::Target(target) = self.operand(0)? else {
            return Err("a branch to what is no label".to_owned());
        };
        self.emit(Action::Branch(target));
        Ok(())
    }

    fn switch(&mut self) -> Result<(), Refusal> {
        let Targets::Branch(targets) = self.targets(1)? else {
            return Err("a branch by a table of functions".to_owned());
        };
        let targets = targets.clone();
        let index = self.source(0, 4)?;
        self.emit(Action::Switch(Box::new(Switch { index, targets })));
        Ok(())
    }

    fn call(&mut self) -> Result<(), Refusal> {
        let place = |operand| self.passed_place(operand);
        let returns = self.passed(1)?.into_iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let arguments = self.passed(2)?.into_iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let callee = match self.operand(0)? {
            Operand::Address(Base::Function(at), 0) => self.callee(at)?,
            Operand::Reg(_) => Callee::Indirect(self.source(0, 8)?),
            _ => return Err("a call of what is no function".to_owned()),
        };
        self.emit(Action::Call(Box::new(Call { callee, arguments, returns })));
        Ok(())
    }

    fn callee(&self, at: u32) -> Result<Callee, Refusal> {
        let function = self.module.functions.get(at as usize).ok_or("no such function")?;
        match (&function.body, Provided::named(&function.name)) {
            (Some(_), _) => Ok(Callee::Direct(at)),
            (None, Some(provided)) => Ok(Callee::Provided(provided)),
            (None, None) if function.name.starts_with(OF_DEVICE_RUNTIME) => {
                Err("a kernel that launches kernels, which is not supported".to_owned())
            }
            (None, None) => Err(format!("`{}` is defined nowhere", function.name)),
        }
    }

    fn sleep(&mut self) -> Result<(), Refusal> {
        let time = self.source(0, 4)?;
        self.emit(Action::Sleep(time));
        Ok(())
    }

    fn barrier(&mut self, wait: bool) -> Result<(), Refusal> {
        let id = self.source(0, 4)?;
        let count = self.thread_count(1)?;
        let aligned = self.is_aligned();
        self.emit(Action::Barrier(Box::new(Barrier { id, count, wait, aligned, reduction: None })));
        Ok(())
    }

    /// The barrier of the whole block, without a number.
    fn block_barrier(&mut self) -> Result<(), Refusal> {
        let id = self.constants.value(4, crate::barrier::CLUSTER.into());
        self.emit(Action::Barrier(Box::new(Barrier {
            id,
            count: None,
            wait: true,
            aligned: self.is_aligned(),
            reduction: None,
        })));
        Ok(())
    }

    /// Whether all threads of a warp execute the barrier together: `bar` is `barrier.aligned` (PTX
    /// ISA §9.7.13.1).
    fn is_aligned(&self) -> bool {
        matches!(self.instruction.op, Op::BarSync | Op::BarArrive | Op::BarRed)
            || self.instruction.modifiers.has(Flag::Aligned)
    }

    fn thread_count(&mut self, n: usize) -> Result<Option<Slot>, Refusal> {
        match self.present(n) {
            true => self.source(n, 4).map(Some),
            false => Ok(None),
        }
    }

    fn reducing_barrier(&mut self) -> Result<(), Refusal> {
        let op = match self.instruction.modifiers.combine {
            Some(Combine::And) => Combined::And,
            Some(Combine::Or) => Combined::Or,
            Some(Combine::Popc) => Combined::Popc,
            _ => return Err("an operation that barriers lack".to_owned()),
        };
        let id = self.source(1, 4)?;
        let count = self.thread_count(2)?;
        let predicate = self.predicate(3)?;
        let d = match op {
            Combined::Popc => self.result(0, 4, false)?,
            _ => self.written_predicate(0)?,
        };
        let reduction = Some(Reduction { op, d, predicate });
        let aligned = self.is_aligned();
        self.emit(Action::Barrier(Box::new(Barrier { id, count, wait: true, aligned, reduction })));
        Ok(())
    }
}
