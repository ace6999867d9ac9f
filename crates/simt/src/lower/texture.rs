//! Lowers texture and surface instructions (PTX ISA §9.7.10, §9.7.11).

use super::{Lowering, Refusal};
use crate::code::{Action, Coordinates, Sample, SurfaceAccess};
use crate::texture::Outside;
use commsan_ptx::words::{Geometry, Mode, Type};
use commsan_ptx::{Op, Operand};

impl Lowering<'_> {
    /// Lowers a texture or surface instruction; `None` for other opcodes.
    pub(super) fn texture(&mut self) -> Option<Result<(), Refusal>> {
        Some(match self.instruction.op {
            // There is only one mipmap level, the first.
            Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4 => self.sample(),
            Op::Suld => self.surface(false),
            Op::Sust => self.surface(true),
            _ => return None,
        })
    }

    /// The rows of a list of coordinates, as many as the geometry has.
    fn coordinates(&mut self, n: usize) -> Result<Coordinates, Refusal> {
        let (layers, dimensions) = match self.instruction.modifiers.geometry {
            Some(Geometry::One) => (false, 1),
            Some(Geometry::Two) => (false, 2),
            Some(Geometry::Three) => (false, 3),
            Some(Geometry::LayersOfOne) => (true, 1),
            Some(Geometry::LayersOfTwo) => (true, 2),
            Some(other) => return Err(format!("a .{} texture is not simulated", other.word())),
            None => return Err("a texture of no dimensions".to_owned()),
        };
        let list = self.operand(n)?;
        let elements = self.body.elements_of(&list).to_vec();
        let rows = elements.into_iter().take(usize::from(layers) + dimensions);
        let mut rows = rows.map(|e| self.row(e, 4)).collect::<Result<Vec<_>, _>>()?;
        if rows.len() < usize::from(layers) + dimensions {
            return Err("too few coordinates".to_owned());
        }
        let layer = layers.then(|| rows.remove(0));
        Ok(Coordinates { rows, layer })
    }

    fn sample(&mut self) -> Result<(), Refusal> {
        let (result, coordinate) = (self.nth_type(0)?, self.nth_type(1)?);
        let fits = result.size() == 4 && matches!(coordinate, Type::F32 | Type::S32);
        let whole = coordinate == Type::S32;
        let gathers = match self.instruction.modifiers.mode {
            _ if self.instruction.op != Op::Tld4 => None,
            Some(Mode::Red) | None => Some(0),
            Some(Mode::Green) => Some(1),
            Some(Mode::Blue) => Some(2),
            Some(_) => Some(3),
        };
        let list = self.operand(0)?;
        let elements = self.body.elements_of(&list).to_vec();
        if !fits || elements.len() != 4 || (gathers.is_some() && whole) {
            return Err("a texture read of such a type".to_owned());
        }
        let object = self.source(2, 8)?;
        let at = self.coordinates(3)?;
        let values = elements.into_iter().map(|e| self.result_row(e, 4, result.is_signed()));
        let values = values.collect::<Result<_, _>>()?;
        let resident = match self.operand(1)? {
            Operand::Sink => None,
            _ => Some(self.written_predicate(1)?),
        };
        let sample = Sample { object, at, whole, gathers, values, resident };
        self.emit(Action::Sample(Box::new(sample)));
        Ok(())
    }

    fn surface(&mut self, writes: bool) -> Result<(), Refusal> {
        let width = self.ty()?.size();
        let (object, value) = if writes { (0, 2) } else { (1, 0) };
        let list = self.operand(value)?;
        let elements = self.body.elements_of(&list).to_vec();
        let expected = self.instruction.modifiers.vector.map_or(1, |v| v.len());
        if elements.len() as u64 != expected || width * expected > 16 {
            return Err("a list of another length than the vector".to_owned());
        }
        let values = elements.into_iter().map(|e| match writes {
            true => self.row(e, width),
            false => self.result_row(e, width, false),
        });
        let values = values.collect::<Result<_, _>>()?;
        let at = self.coordinates(object + 1)?;
        let object = self.source(object, 8)?;
        let outside = match self.instruction.modifiers.mode {
            Some(Mode::Clamp) => Some(Outside::Nearest),
            Some(Mode::OutsideIsZero) => Some(Outside::Border),
            _ => None,
        };
        let access = SurfaceAccess { object, at, values, width, writes, outside };
        self.emit(Action::Surface(Box::new(access)));
        Ok(())
    }
}
