//! Lowers loads, stores, atomics, and address conversions (PTX ISA §9.7.9, §9.7.13).

use super::{Lowering, Refusal};
use crate::code::{
    Action, Address, Atomic, Base, Copies, CopyAsync, CopyBulk, Dynamic, Mbarrier, MbarrierOp,
    Transfer, Update, Where,
};
use crate::compute::{compare, logic, test, unary};
use crate::float::Real;
use crate::memory::{ARGUMENT_WINDOW, FUNCTION_WINDOW, LOCAL_WINDOW, SHARED_WINDOW, in_window};
use crate::rows::Slot;
use commsan_ptx::words::{Combine, Flag, Order, Space, Type};
use commsan_ptx::{Class, Op, Operand};

impl Lowering<'_> {
    /// Lowers a memory instruction; `None` for other opcodes.
    pub(super) fn memory(&mut self) -> Option<Result<(), Refusal>> {
        Some(match self.instruction.op {
            Op::Ld | Op::Ldu => self.load(),
            Op::St => self.store(),
            Op::Atom => self.atomic(true),
            Op::Red => self.atomic(false),
            Op::Cvta => self.generic_address(),
            Op::CvtaTo => self.specific_address(),
            Op::IsSpaceP => self.is_in_space(),
            Op::Prefetch | Op::Prefetchu => Ok(()),
            Op::CpAsync => self.copy_async(),
            Op::CpAsyncBulk => self.copy_bulk(),
            Op::CpAsyncCommit => self.copies(Copies::Commit),
            Op::CpAsyncWait => self.await_copies(),
            Op::CpAsyncWaitAll => self.copies(Copies::Wait(None)),
            Op::Alloca => self.alloca(),
            Op::StackSave => self.stack_save(),
            Op::StackRestore => self.stack_restore(),
            Op::Mapa => self.map_rank(),
            Op::CpAsyncArrive
            | Op::MbarInit
            | Op::MbarInval
            | Op::MbarExpectTx
            | Op::MbarCompleteTx
            | Op::MbarArrive
            | Op::MbarArriveDrop
            | Op::MbarTestWait
            | Op::MbarTestWaitParity
            | Op::MbarTryWait
            | Op::MbarTryWaitParity => self.mbarrier(),
            Op::MbarPending => self.pending_count(),
            _ => return None,
        })
    }

    fn space(&self, space: Option<Space>) -> Result<Where, Refusal> {
        Ok(match space {
            None => Where::Generic,
            Some(Space::Global | Space::Const) => Where::Global,
            Some(Space::Shared | Space::SharedCta | Space::SharedCluster) => Where::Shared,
            Some(Space::Local) => Where::Local,
            Some(Space::Param | Space::ParamEntry | Space::ParamFunc) => {
                match self.function.entry {
                    true => Where::Arguments,
                    false => Where::Local,
                }
            }
            Some(other) => return Err(format!(".{} memory is not simulated", other.word())),
        })
    }

    fn address(&mut self, n: usize) -> Result<Address, Refusal> {
        let place = self.space(self.instruction.modifiers.space)?;
        self.address_in(n, place)
    }

    fn address_in(&mut self, n: usize, place: Where) -> Result<Address, Refusal> {
        use commsan_ptx::Base as Ptx;
        let (base, offset) = match self.operand(n)? {
            Operand::Memory(base, offset) => (base, offset),
            Operand::Address(base, offset) => (base, offset),
            _ => return Err("a memory operand is needed".to_owned()),
        };
        match base {
            Ptx::Absolute => Ok(Address { place, base: None, offset }),
            Ptx::Reg(register) => {
                let slot = self.register(register)?;
                let base = match register.class() {
                    Class::B32 => Base::Narrow(slot),
                    Class::B64 => Base::Wide(slot),
                    _ => return Err("an address of neither 32 nor 64 bits".to_owned()),
                };
                Ok(Address { place, base: Some(base), offset })
            }
            Ptx::Param(_) | Ptx::Return(_) | Ptx::Local(_) => {
                let (place, at) = self.own_place(base)?;
                Ok(Address { place, base: None, offset: (at as i64).wrapping_add(offset) })
            }
            Ptx::Variable(_) | Ptx::Function(_) => {
                let base = Some(Base::Wide(self.symbol(base, 0)?));
                Ok(Address { place, base, offset })
            }
        }
    }

    /// The elements of a value, which may be a list.
    fn values(&self, n: usize) -> Result<Vec<Operand>, Refusal> {
        let value = self.operand(n)?;
        let elements = self.body.elements_of(&value).to_vec();
        let expected = self.instruction.modifiers.vector.map_or(1, |v| v.len());
        match elements.len() as u64 == expected {
            true => Ok(elements),
            false => Err("a list of another length than the vector".to_owned()),
        }
    }

    fn is_ordered(&self) -> bool {
        self.instruction.modifiers.order.is_some_and(|order| order != Order::Weak)
    }

    fn load(&mut self) -> Result<(), Refusal> {
        let (ty, ordered) = (self.ty()?, self.is_ordered());
        let address = self.address(1)?;
        let width = ty.size();
        let elements = self.values(0)?.into_iter();
        let values = elements.map(|e| self.result_row(e, width, ty.is_signed()));
        let values = values.collect::<Result<_, _>>()?;
        self.emit(Action::Load(Box::new(Transfer { address, values, width, ordered })));
        if self.instruction.modifiers.order == Some(Order::Acquire) {
            self.emit(Action::Fence);
        }
        Ok(())
    }

    fn store(&mut self) -> Result<(), Refusal> {
        let (width, ordered) = (self.ty()?.size(), self.is_ordered());
        let address = self.address(0)?;
        let values = self.values(1)?.into_iter().map(|e| self.row(e, width));
        let values = values.collect::<Result<_, _>>()?;
        if self.instruction.modifiers.order == Some(Order::Release) {
            self.emit(Action::Fence);
        }
        self.emit(Action::Store(Box::new(Transfer { address, values, width, ordered })));
        Ok(())
    }

    /// `atom`, which returns the old value, or `red`, which does not.
    fn atomic(&mut self, returns: bool) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let combine = self.instruction.modifiers.combine.ok_or("an operation is missing")?;
        let update = update(combine, ty)
            .ok_or_else(|| format!("atomic .{}.{} is not simulated", combine.word(), ty.word()))?;
        let width = ty.size();
        let address = self.address(usize::from(returns))?;
        let first = usize::from(returns) + 1;
        let operands = self.values(first)?;
        let swaps = combine == Combine::Cas;
        let mut rows = Vec::with_capacity(operands.len());
        for (n, operand) in operands.into_iter().enumerate() {
            let b = self.row(operand, width)?;
            let c = if swaps { self.source(first + 1, width)? } else { b };
            let old = match returns {
                true => {
                    let element = self.values(0)?[n];
                    self.result_row(element, width, ty.is_signed())?
                }
                false => self.temporary(width),
            };
            rows.push([old, b, c]);
        }
        let polls = matches!(combine, Combine::Cas | Combine::Exch);
        self.emit(Action::Atomic(Box::new(Atomic { address, rows, width, update, polls })));
        Ok(())
    }

    /// `cvta`: converts an address of a state space to a generic one.
    fn generic_address(&mut self) -> Result<(), Refusal> {
        let window = self.window()?;
        self.convert_address(move |a| a.wrapping_add(window))
    }

    /// `cvta.to`: converts a generic address to one of a state space.
    fn specific_address(&mut self) -> Result<(), Refusal> {
        let window = self.window()?;
        self.convert_address(move |a| a.wrapping_sub(window))
    }

    fn convert_address(
        &mut self,
        convert: impl Fn(u64) -> u64 + Copy + Send + Sync + 'static,
    ) -> Result<(), Refusal> {
        let ty = self.ty()?;
        self.mixed(unary(convert), Type::U64, &[Type::U64]).and_then(|()| match ty.size() {
            8 => Ok(()),
            _ => Err("addresses of 32 bits are not simulated".to_owned()),
        })
    }

    fn window(&self) -> Result<u64, Refusal> {
        let space = self.instruction.modifiers.space;
        Ok(match self.space(space)? {
            Where::Generic | Where::Global => 0,
            Where::Shared => SHARED_WINDOW,
            Where::Local | Where::Frame => LOCAL_WINDOW,
            Where::Arguments => ARGUMENT_WINDOW,
        })
    }

    fn is_in_space(&mut self) -> Result<(), Refusal> {
        let space = self.instruction.modifiers.space;
        let (a, d) = (self.source(1, 8)?, self.written_predicate(0)?);
        if space == Some(Space::Const) {
            let constant = self.is_constant(a);
            self.compute(logic(|held, _| held), d, &[constant, constant]);
            return Ok(());
        }
        let window = self.window()?;
        if window != 0 {
            self.compute(test(move |a: u64| in_window(a, window)), d, &[a]);
            return Ok(());
        }
        let outside = test(|a: u64| {
            let windows = [SHARED_WINDOW, LOCAL_WINDOW, ARGUMENT_WINDOW, FUNCTION_WINDOW];
            !windows.iter().any(|w| in_window(a, *w))
        });
        self.compute(outside, d, &[a]);
        let constant = self.is_constant(a);
        self.compute(logic(|held, not| held & !not), d, &[d, constant]);
        Ok(())
    }

    /// The predicate that an address lies in one of the module's constant variables: constant
    /// memory has no window.
    fn is_constant(&mut self, address: Slot) -> Slot {
        let (mut held, found) = (self.constants.predicate(false), self.temporary(4));
        let module = self.module;
        for (variable, at) in module.variables.iter().zip(0..) {
            if variable.space == Space::Const {
                let (start, size) = (self.constants.address(at, 0), variable.size);
                let inside = move |a: u64, start: u64| a.wrapping_sub(start) < size;
                let compute = compare(inside, |inside, before| inside | before);
                let unwanted = self.unwanted;
                self.compute(compute, found, &[address, start, held, unwanted]);
                held = found;
            }
        }
        held
    }

    fn copy_async(&mut self) -> Result<(), Refusal> {
        let to = self.address_in(0, Where::Shared)?;
        let from = self.address_in(1, Where::Global)?;
        let Operand::Imm(size) = self.operand(2)? else {
            return Err("a copy whose size is no constant".to_owned());
        };
        if !matches!(size, 4 | 8 | 16) {
            return Err(format!("a copy of {size} bytes"));
        }
        let source_size = match self.present(3) {
            true => Some(self.source(3, 4)?),
            false => None,
        };
        self.emit(Action::CopyAsync(Box::new(CopyAsync { to, from, size, source_size })));
        Ok(())
    }

    fn await_copies(&mut self) -> Result<(), Refusal> {
        let Operand::Imm(left) = self.operand(0)? else {
            return Err("a wait for a number of groups that is no constant".to_owned());
        };
        self.copies(Copies::Wait(Some(left as u32)))
    }

    fn copies(&mut self, copies: Copies) -> Result<(), Refusal> {
        self.emit(Action::Copies(copies));
        Ok(())
    }

    /// The copy completes at once, and is then counted by its barrier object.
    fn copy_bulk(&mut self) -> Result<(), Refusal> {
        let to = self.address_in(0, Where::Shared)?;
        let from = self.address_in(1, Where::Global)?;
        let (size, address) = (self.source(2, 4)?, self.address_in(3, Where::Shared)?);
        self.emit(Action::CopyBulk(Box::new(CopyBulk { to, from, size })));
        let (state, d) = (self.constants.value(8, 0), self.temporary(8));
        let told = Mbarrier { address, op: MbarrierOp::CompleteTx, count: size, state, d };
        self.emit(Action::Mbarrier(Box::new(told)));
        Ok(())
    }

    fn alloca(&mut self) -> Result<(), Refusal> {
        let size = self.source(1, 8)?;
        let align = match self.operand(2) {
            Ok(Operand::Imm(align)) if align.is_power_of_two() && align <= 4096 => align,
            _ => 8,
        };
        let d = self.result(0, 8, false)?;
        self.emit(Action::Alloca(d, size, align));
        Ok(())
    }

    fn stack_save(&mut self) -> Result<(), Refusal> {
        let d = self.result(0, 8, false)?;
        self.emit(Action::Read(Dynamic::Stack, d));
        Ok(())
    }

    fn stack_restore(&mut self) -> Result<(), Refusal> {
        let stack = self.source(0, 8)?;
        self.emit(Action::StackRestore(stack));
        Ok(())
    }

    /// `mapa`: a block is its own cluster, so an address in shared memory stays unchanged.
    fn map_rank(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let copy = self.allowed(Self::copy(ty.size()))?;
        self.mixed(copy, ty, &[ty])
    }

    fn mbarrier(&mut self) -> Result<(), Refusal> {
        let has = |flag| self.instruction.modifiers.has(flag);
        let arrive = |drop| MbarrierOp::Arrive { expect_tx: has(Flag::ExpectTx), drop };
        let (op, at) = match self.instruction.op {
            Op::CpAsyncArrive => (MbarrierOp::ArriveCopies { counted: has(Flag::NoInc) }, 0),
            Op::MbarInit => (MbarrierOp::Init, 0),
            Op::MbarInval => (MbarrierOp::Invalidate, 0),
            Op::MbarExpectTx => (MbarrierOp::ExpectTx, 0),
            Op::MbarCompleteTx => (MbarrierOp::CompleteTx, 0),
            Op::MbarArrive => (arrive(false), 1),
            Op::MbarArriveDrop => (arrive(true), 1),
            Op::MbarTestWait | Op::MbarTryWait => (MbarrierOp::TestWait, 1),
            _ => (MbarrierOp::TestParity, 1),
        };
        let address = self.address(at)?;
        let (mut state, mut count) = (self.constants.value(8, 0), self.constants.value(4, 1));
        match op {
            MbarrierOp::TestWait => state = self.source(at + 1, 8)?,
            _ if self.present(at + 1) => count = self.source(at + 1, 4)?,
            _ => {}
        }
        let d = match op {
            MbarrierOp::TestWait | MbarrierOp::TestParity => self.written_predicate(0)?,
            MbarrierOp::Arrive { .. } => self.result(0, 8, false)?,
            _ => self.temporary(8),
        };
        self.emit(Action::Mbarrier(Box::new(Mbarrier { address, op, d, state, count })));
        Ok(())
    }

    fn pending_count(&mut self) -> Result<(), Refusal> {
        let count = unary(crate::mbarrier::pending);
        self.mixed(count, Type::U32, &[Type::B64])
    }
}

/// The operation of an atomic on a type.
fn update(combine: Combine, ty: Type) -> Option<Update> {
    macro_rules! integer {
        ($t:ident) => {
            Some(match combine {
                Combine::And => Box::new(|a, b, _| a & b),
                Combine::Or => Box::new(|a, b, _| a | b),
                Combine::Xor => Box::new(|a, b, _| a ^ b),
                Combine::Exch => Box::new(|_, b, _| b),
                Combine::Cas => Box::new(|a, b, c| if a == b { c } else { a }),
                Combine::Add => Box::new(|a, b, _| (a as $t).wrapping_add(b as $t) as u64),
                Combine::Inc => Box::new(|a, b, _| if a >= b { 0 } else { a + 1 }),
                Combine::Dec => Box::new(|a, b, _| if a == 0 || a > b { b } else { a - 1 }),
                Combine::Min => Box::new(|a, b, _| (a as $t).min(b as $t) as u64),
                Combine::Max => Box::new(|a, b, _| (a as $t).max(b as $t) as u64),
                Combine::Popc => return None,
            })
        };
    }
    macro_rules! real {
        ($t:ident, $bits:ident) => {{
            let number = |bits: u64| $t::from_bits(bits as $bits);
            match combine {
                Combine::Add => {
                    Some(Box::new(move |a, b, _| Real::add(number(a), number(b)).to_bits().into()))
                }
                Combine::Min => Some(Box::new(move |a, b, _| {
                    Real::lesser(number(a), number(b)).to_bits().into()
                })),
                Combine::Max => Some(Box::new(move |a, b, _| {
                    Real::greater(number(a), number(b)).to_bits().into()
                })),
                Combine::Exch => Some(Box::new(|_, b, _| b)),
                _ => None,
            }
        }};
    }
    use half::{bf16, f16};
    match ty {
        Type::B16 | Type::U16 => integer!(u16),
        Type::S16 => integer!(i16),
        Type::B32 | Type::U32 => integer!(u32),
        Type::S32 => integer!(i32),
        Type::B64 | Type::U64 => integer!(u64),
        Type::S64 => integer!(i64),
        Type::F16 => real!(f16, u16),
        Type::BF16 => real!(bf16, u16),
        Type::F32 => real!(f32, u32),
        Type::F64 => real!(f64, u64),
        Type::F16x2 => halves(update(combine, Type::F16)?),
        Type::BF16x2 => halves(update(combine, Type::BF16)?),
        _ => None,
    }
}

/// Applies an update to both halves of 32 bits.
fn halves(update: Update) -> Option<Update> {
    Some(Box::new(move |a, b, c| {
        let half = |n: u32| {
            let [a, b, c] = [a, b, c].map(|v| v >> (16 * n) & 0xffff);
            (update(a, b, c) & 0xffff) << (16 * n)
        };
        half(0) | half(1)
    }))
}
