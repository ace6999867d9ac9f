//! Texture fetches, and reads and writes of surfaces, by the lanes of a warp.

use crate::access::{Memories, Texel, Trap};
use crate::code::{Coordinates, Sample, SurfaceAccess};
use crate::fault::Cause;
use crate::memory::Wrong;
use crate::observe::{Kind, Observer};
use crate::rows::{LANES, Mask, Rows, alike, lanes};
use crate::texture::{Part, Texture};

/// The coordinates of a lane, one per dimension, and its layer.
fn of_lane(rows: &Rows, at: &Coordinates, lane: usize) -> ([u32; 3], Option<u32>) {
    let mut found = [0; 3];
    for (to, slot) in found.iter_mut().zip(&at.rows) {
        *to = rows.get(*slot, lane);
    }
    (found, at.layer.map(|slot| rows.get(slot, lane)))
}

fn parts(rows: &Rows, sample: &Sample, texture: &Texture, lane: usize) -> ([Part; 8], usize) {
    let (at, layer) = of_lane(rows, &sample.at, lane);
    let dimensions = sample.at.rows.len();
    match (sample.whole, sample.gathers) {
        (true, _) => texture.part_at(&at.map(|at| at as i32)[..dimensions], layer),
        (false, None) => texture.parts(&at.map(f32::from_bits)[..dimensions], layer),
        (false, Some(_)) => texture.around([at[0], at[1]].map(f32::from_bits), layer),
    }
}

impl<O: Observer> Memories<'_, '_, O> {
    /// Executes a texture fetch.
    pub fn sample(&mut self, rows: &Rows, sample: &Sample, mask: Mask) -> Result<(), Trap> {
        let mut rest = mask;
        while rest != 0 {
            let object = |lane| rows.get::<u64>(sample.object, lane);
            let same = alike(rest, object);
            rest &= !same;
            let lane = same.trailing_zeros() as usize;
            let handle = object(lane);
            let none = || Trap { cause: Cause::NoTexture(handle), lane };
            let texture = self.global.texture(handle).ok_or_else(none)?;
            self.sample_one(rows, sample, &texture, same)?;
        }
        if let Some(resident) = sample.resident {
            rows.set_predicate(resident, mask, Mask::MAX);
        }
        Ok(())
    }

    fn sample_one(
        &mut self,
        rows: &Rows,
        sample: &Sample,
        texture: &Texture,
        mask: Mask,
    ) -> Result<(), Trap> {
        let mut all = [[Part { at: None, weight: 0.0 }; 8]; LANES];
        let mut count = 0;
        for lane in lanes(mask) {
            (all[lane], count) = parts(rows, sample, texture, lane);
        }
        let mut results = [[0_u32; 4]; LANES];
        for which in 0..count {
            let is_read = |lane: &usize| {
                let Part { at, weight } = all[*lane][which];
                at.is_some() && (weight != 0.0 || sample.gathers.is_some())
            };
            let read = lanes(mask).filter(is_read).fold(0, |all, lane| all | 1 << lane);
            let mut addresses = [0; LANES];
            for lane in lanes(read) {
                addresses[lane] = all[lane][which].at.unwrap_or(0);
            }
            let texels = self.read_texels(&addresses, read, texture.texels.size())?;
            for lane in lanes(mask) {
                let Part { at, weight } = all[lane][which];
                let channel = |n| match at {
                    Some(_) => texture.channel(&texels[lane], n),
                    None => texture.border(n),
                };
                let result = &mut results[lane];
                match sample.gathers {
                    Some(n) => result[which] = channel(n),
                    None if count == 1 => *result = [0, 1, 2, 3].map(channel),
                    None => {
                        for (n, sum) in result.iter_mut().enumerate() {
                            let part = weight * f32::from_bits(channel(n));
                            // A texel without weight may be infinite.
                            let part = if weight == 0.0 { 0.0 } else { part };
                            *sum = (f32::from_bits(*sum) + part).to_bits();
                        }
                    }
                }
            }
        }
        for lane in lanes(mask) {
            for (slot, value) in sample.values.iter().zip(results[lane]) {
                rows.set(*slot, lane, value);
            }
        }
        Ok(())
    }

    /// Executes a read or a write of a surface, one lane after another.
    pub fn surface(&mut self, rows: &Rows, access: &SurfaceAccess, mask: Mask) -> Result<(), Trap> {
        let size = access.width * access.values.len() as u64;
        let kind = if access.writes { Kind::Store } else { Kind::Load };
        let (mut addresses, mut inside) = ([0; LANES], 0);
        for lane in lanes(mask) {
            let handle = rows.get::<u64>(access.object, lane);
            let none = || Trap { cause: Cause::NoSurface(handle), lane };
            let surface = self.global.surface(handle).ok_or_else(none)?;
            let (at, layer) = of_lane(rows, &access.at, lane);
            let mut at = at.map(|at| i64::from(at as i32));
            if let Some(layer) = layer {
                at[2] = i64::from(layer as i32);
            }
            match surface.address(at, size, access.outside) {
                Some(address) => {
                    addresses[lane] = address;
                    inside |= 1 << lane;
                }
                None if access.outside.is_some() => {}
                None => {
                    let address = surface.texels.address(at[0] as u64, at[1] as u64, at[2] as u64);
                    let (wrong, memory) = (Wrong::Outside, "surface");
                    let cause = Cause::Access { wrong, kind, memory, address, size };
                    return Err(Trap { cause, lane });
                }
            }
        }
        let width = access.width as usize;
        let elements = || access.values.iter().zip((0..).step_by(width));
        if access.writes {
            let mut texels = [[0; 16]; LANES];
            for lane in lanes(inside) {
                for (slot, at) in elements() {
                    let bytes = bits(rows, *slot, lane, width).to_le_bytes();
                    texels[lane][at..at + width].copy_from_slice(&bytes[..width]);
                }
            }
            return self.write_texels(&addresses, inside, size, &texels);
        }
        let texels: [Texel; LANES] = self.read_texels(&addresses, inside, size)?;
        for lane in lanes(mask) {
            for (slot, at) in elements() {
                let mut bytes = [0; 8];
                bytes[..width].copy_from_slice(&texels[lane][at..at + width]);
                let bits = u64::from_le_bytes(bytes);
                match width {
                    1 => rows.set(*slot, lane, bits as u8),
                    2 => rows.set(*slot, lane, bits as u16),
                    4 => rows.set(*slot, lane, bits as u32),
                    _ => rows.set(*slot, lane, bits),
                }
            }
        }
        Ok(())
    }
}

fn bits(rows: &Rows, slot: crate::rows::Slot, lane: usize, width: usize) -> u64 {
    match width {
        1 => rows.get::<u8>(slot, lane).into(),
        2 => rows.get::<u16>(slot, lane).into(),
        4 => rows.get::<u32>(slot, lane).into(),
        _ => rows.get(slot, lane),
    }
}
