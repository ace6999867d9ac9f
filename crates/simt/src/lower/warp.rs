//! Lowers warp-level instructions: shuffles, votes, matches, reductions (PTX ISA §9.7.9.6,
//! §9.7.13).

use super::{Lowering, Refusal};
use crate::code::{Action, Collective, CollectiveOp, Dynamic, ReduceOp};
use crate::rows::Slot;
use commsan_ptx::Op;
use commsan_ptx::words::{Combine, Mode, Type};

impl Lowering<'_> {
    /// Lowers a warp-level instruction; `None` for other opcodes.
    pub(super) fn warp(&mut self) -> Option<Result<(), Refusal>> {
        Some(match self.instruction.op {
            Op::BarWarpSync => self.warp_barrier(),
            Op::ShflSync => self.shuffle(),
            Op::VoteSync => self.vote(),
            Op::MatchAny | Op::MatchAll => self.match_values(),
            Op::ReduxSync => self.reduce(),
            Op::ElectSync => self.elect(),
            Op::ActiveMask => self.active_mask(),
            _ => return None,
        })
    }

    /// An exchange, with unused rows where it takes fewer operands.
    fn exchange(&mut self, op: CollectiveOp, members: Slot) -> Collective {
        let unused = self.unwanted;
        let nothing = self.constants.value(16, 0);
        Collective { op, members, a: nothing, b: nothing, c: nothing, d: unused, p: unused }
    }

    fn collective(&mut self, collective: Collective) -> Result<(), Refusal> {
        self.emit(Action::Collective(Box::new(collective)));
        Ok(())
    }

    fn warp_barrier(&mut self) -> Result<(), Refusal> {
        let members = self.source(0, 4)?;
        let barrier = self.exchange(CollectiveOp::Barrier, members);
        self.collective(barrier)
    }

    fn shuffle(&mut self) -> Result<(), Refusal> {
        let op = match self.instruction.modifiers.mode {
            Some(Mode::Up) => CollectiveOp::ShuffleUp,
            Some(Mode::Down) => CollectiveOp::ShuffleDown,
            Some(Mode::Butterfly) => CollectiveOp::ShuffleButterfly,
            Some(Mode::Index) => CollectiveOp::ShuffleIndex,
            _ => return Err("a shuffle without its mode".to_owned()),
        };
        let (a, b, c) = (self.source(2, 4)?, self.source(3, 4)?, self.source(4, 4)?);
        let members = self.source(5, 4)?;
        let (d, p) = (self.result(0, 4, false)?, self.written_predicate(1)?);
        let exchange = self.exchange(op, members);
        self.collective(Collective { a, b, c, d, p, ..exchange })
    }

    fn vote(&mut self) -> Result<(), Refusal> {
        let op = match self.instruction.modifiers.mode {
            Some(Mode::All) => CollectiveOp::VoteAll,
            Some(Mode::Any) => CollectiveOp::VoteAny,
            Some(Mode::Uniform) => CollectiveOp::VoteUniform,
            Some(Mode::Ballot) => CollectiveOp::VoteBallot,
            _ => return Err("a vote without its mode".to_owned()),
        };
        let (a, members) = (self.predicate(1)?, self.source(2, 4)?);
        let exchange = self.exchange(op, members);
        match op {
            CollectiveOp::VoteBallot => {
                let d = self.result(0, 4, false)?;
                self.collective(Collective { a, d, ..exchange })
            }
            _ => {
                let p = self.written_predicate(0)?;
                self.collective(Collective { a, p, ..exchange })
            }
        }
    }

    fn match_values(&mut self) -> Result<(), Refusal> {
        let width = self.ty()?.size();
        if !matches!(width, 4 | 8) {
            return self.allowed(None);
        }
        let any = self.instruction.op == Op::MatchAny;
        let first = if any { 1 } else { 2 };
        let (a, members) = (self.source(first, width)?, self.source(first + 1, 4)?);
        let d = self.result(0, 4, false)?;
        let p = if any { self.unwanted } else { self.written_predicate(1)? };
        let op = if any { CollectiveOp::MatchAny(width) } else { CollectiveOp::MatchAll(width) };
        let exchange = self.exchange(op, members);
        self.collective(Collective { a, d, p, ..exchange })
    }

    fn reduce(&mut self) -> Result<(), Refusal> {
        let (ty, combine) = (self.ty()?, self.instruction.modifiers.combine);
        let op = match (combine, ty) {
            (_, Type::F32) => return self.allowed(None),
            (Some(Combine::And), _) => ReduceOp::And,
            (Some(Combine::Or), _) => ReduceOp::Or,
            (Some(Combine::Xor), _) => ReduceOp::Xor,
            (Some(Combine::Add), _) => ReduceOp::Add,
            (Some(Combine::Min), Type::S32) => ReduceOp::MinSigned,
            (Some(Combine::Max), Type::S32) => ReduceOp::MaxSigned,
            (Some(Combine::Min), _) => ReduceOp::MinUnsigned,
            (Some(Combine::Max), _) => ReduceOp::MaxUnsigned,
            _ => return Err("a reduction without its operation".to_owned()),
        };
        let (a, members) = (self.source(1, 4)?, self.source(2, 4)?);
        let d = self.result(0, 4, false)?;
        let exchange = self.exchange(CollectiveOp::Reduce(op), members);
        self.collective(Collective { a, d, ..exchange })
    }

    fn elect(&mut self) -> Result<(), Refusal> {
        let members = self.source(2, 4)?;
        let (d, p) = (self.result(0, 4, false)?, self.written_predicate(1)?);
        let exchange = self.exchange(CollectiveOp::Elect, members);
        self.collective(Collective { d, p, ..exchange })
    }

    fn active_mask(&mut self) -> Result<(), Refusal> {
        let wide = self.temporary(8);
        self.emit(Action::Read(Dynamic::ActiveMask, wide));
        let d = self.result(0, 4, false)?;
        self.compute(super::convert::resize(8, 4, false), d, &[wide]);
        Ok(())
    }
}
