//! Textures and surfaces, and the texels that a fetch combines (CUDA C++ Programming Guide,
//! "Texture Fetching").

use half::f16;

/// The type of a texel's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as CUDA calls them")]
pub enum Channel {
    Signed,
    Unsigned,
    Float,
}

/// Address modes: what is read at coordinates outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Clamp: the nearest texel.
    Nearest,
    /// Wrap: the texture repeats.
    Repeated,
    /// Mirror: the texture repeats, alternately reversed.
    Mirrored,
    /// Border: the colour of the border.
    Border,
}

/// The memory of texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texels {
    /// Address of the first texel.
    pub start: u64,
    /// Number of texels in each dimension, at least 1; layers are the last dimension.
    pub extent: [u64; 3],
    /// Distance between rows, in bytes.
    pub pitch: u64,
    /// Distance between slices or layers, in bytes.
    pub slice: u64,
    /// Number of channels: 1, 2 or 4.
    pub channels: u64,
    /// Size of a channel, in bytes.
    pub width: u64,
    /// Type of the channels.
    pub kind: Channel,
}

/// A texture object.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The texels.
    pub texels: Texels,
    /// The address mode of each dimension.
    pub outside: [Outside; 3],
    /// The border colour, by channel.
    pub border: [f32; 4],
    /// Whether texels are interpolated linearly.
    pub linear: bool,
    /// Whether integers are read as numbers from -1 or 0 to 1.
    pub normalised: bool,
    /// Whether coordinates are normalised to 0 to 1.
    pub relative: bool,
}

/// A surface object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The texels.
    pub texels: Texels,
}

/// One texel of a fetch, with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its address; `None` for the border.
    pub at: Option<u64>,
    /// Its weight, from 0 to 1.
    pub weight: f32,
}

impl Outside {
    /// The index within `count` that an index maps to; `None` for the border.
    fn index(self, index: i64, count: u64) -> Option<u64> {
        let count = count as i64;
        let index = match self {
            Outside::Nearest => index.clamp(0, count - 1),
            Outside::Repeated => index.rem_euclid(count),
            Outside::Mirrored => {
                let at = index.rem_euclid(2 * count);
                if at < count { at } else { 2 * count - 1 - at }
            }
            Outside::Border if (0..count).contains(&index) => index,
            Outside::Border => return None,
        };
        Some(index as u64)
    }
}

impl Texels {
    /// Size of a texel, in bytes.
    pub fn size(&self) -> u64 {
        self.channels * self.width
    }

    /// The address at x bytes in row y of slice z.
    pub fn address(&self, x: u64, y: u64, z: u64) -> u64 {
        let row = y.wrapping_mul(self.pitch).wrapping_add(z.wrapping_mul(self.slice));
        self.start.wrapping_add(row).wrapping_add(x)
    }

    /// The bits of a channel: integers unchanged, floating point in 32 bits.
    fn channel(&self, texel: &[u8; 16], n: usize) -> u32 {
        let width = self.width as usize;
        let Some(bytes) =
            texel.get(n * width..(n + 1) * width).filter(|_| n < self.channels as usize)
        else {
            return 0;
        };
        let low = |at: usize| u32::from(bytes.get(at).copied().unwrap_or(0)) << (8 * at);
        let bits = low(0) | low(1) | low(2) | low(3);
        match (self.kind, width) {
            (Channel::Float, 2) => f16::from_bits(bits as u16).to_f32().to_bits(),
            (Channel::Signed, 1) => bits as i8 as u32,
            (Channel::Signed, 2) => bits as i16 as u32,
            _ => bits,
        }
    }
}

impl Texture {
    /// The texels of a fetch with their weights: one, or two per dimension if interpolated.
    pub fn parts(&self, at: &[f32], layer: Option<u32>) -> ([Part; 8], usize) {
        let mut ends = [[(None, 1.0); 2]; 3];
        for (n, &at) in at.iter().enumerate() {
            let (count, outside) = (self.texels.extent[n], self.outside[n]);
            let at = if self.relative { at * count as f32 } else { at };
            if self.linear {
                let first = (at - 0.5).floor();
                // Weights have eight fraction bits.
                let weight = ((at - 0.5 - first) * 256.0).round() / 256.0;
                let first = first as i64;
                ends[n][0] = (outside.index(first, count), 1.0 - weight);
                ends[n][1] = (outside.index(first.saturating_add(1), count), weight);
            } else {
                ends[n][0].0 = outside.index(at.floor() as i64, count);
            }
        }
        self.combine(ends, at.len(), layer, self.linear)
    }

    /// The texel at integer coordinates.
    pub fn part_at(&self, at: &[i32], layer: Option<u32>) -> ([Part; 8], usize) {
        let mut ends = [[(None, 1.0); 2]; 3];
        for (n, &at) in at.iter().enumerate() {
            ends[n][0].0 = self.outside[n].index(at.into(), self.texels.extent[n]);
        }
        self.combine(ends, at.len(), layer, false)
    }

    /// The four texels around a point, in the order of `tld4`: counter-clockwise from the lower
    /// left.
    pub fn around(&self, at: [f32; 2], layer: Option<u32>) -> ([Part; 8], usize) {
        let linear = Texture { linear: true, ..self.clone() };
        let (mut parts, _) = linear.parts(&at, layer);
        parts.swap(0, 2);
        parts.swap(1, 3);
        parts.swap(2, 3);
        (parts, 4)
    }

    fn combine(
        &self,
        ends: [[(Option<u64>, f32); 2]; 3],
        dimensions: usize,
        layer: Option<u32>,
        linear: bool,
    ) -> ([Part; 8], usize) {
        let count = if linear { 1 << dimensions } else { 1 };
        // "An unsigned integer index" (PTX ISA, `tex`): what is negative is the last layer, too.
        let layer = layer.map(|layer| Outside::Nearest.index(layer.into(), self.texels.extent[2]));
        let mut parts = [Part { at: None, weight: 0.0 }; 8];
        for (which, part) in parts.iter_mut().enumerate().take(count) {
            let (mut index, mut weight) = ([Some(0); 3], 1.0);
            for n in 0..dimensions {
                let end = ends[n][which >> n & 1];
                (index[n], weight) = (end.0, weight * end.1);
            }
            index[2] = layer.unwrap_or(index[2]);
            part.weight = weight;
            if let [Some(x), Some(y), Some(z)] = index {
                part.at = Some(self.texels.address(x * self.texels.size(), y, z));
            }
        }
        if count == 4 {
            // Their product has eight fraction bits as well, and the rest is as much as makes one
            // (measured on an H100).
            let [x, y] = [ends[0][1].1, ends[1][1].1];
            let both = (x * y * 256.0).round() / 256.0;
            let weights = [1.0 - x - y + both, x - both, y - both, both];
            parts.iter_mut().zip(weights).for_each(|(part, weight)| part.weight = weight);
        }
        (parts, count)
    }

    /// Whether a read gives floating-point numbers, not integers.
    fn gives_numbers(&self) -> bool {
        self.normalised || self.texels.kind == Channel::Float
    }

    /// The value of a texel's channel.
    pub fn channel(&self, texel: &[u8; 16], n: usize) -> u32 {
        let bits = self.texels.channel(texel, n);
        if !self.normalised || self.texels.kind == Channel::Float {
            return bits;
        }
        let number = match (self.texels.kind, self.texels.width) {
            (Channel::Signed, 1) => (bits as i32 as f32 / 127.0).max(-1.0),
            (Channel::Signed, _) => (bits as i32 as f32 / 32767.0).max(-1.0),
            (_, 1) => bits as f32 / 255.0,
            _ => bits as f32 / 65535.0,
        };
        number.to_bits()
    }

    /// The value of the border's channel.
    pub fn border(&self, n: usize) -> u32 {
        if n >= self.texels.channels as usize {
            return 0;
        }
        match (self.gives_numbers(), self.texels.kind) {
            (true, _) => self.border[n].to_bits(),
            (false, Channel::Signed) => self.border[n] as i32 as u32,
            (false, _) => self.border[n] as u32,
        }
    }
}

impl Surface {
    /// The address for an access of `size` bytes at coordinates; `None` if it lies outside.
    pub fn address(&self, at: [i64; 3], size: u64, outside: Option<Outside>) -> Option<u64> {
        let Texels { extent, .. } = &self.texels;
        let room = extent[0] * self.texels.size();
        let last = [room.checked_sub(size)?, extent[1] - 1, extent[2] - 1];
        let mut index = [0; 3];
        for n in 0..3 {
            let inside = at[n].clamp(0, last[n] as i64);
            if inside != at[n] && outside != Some(Outside::Nearest) {
                return None;
            }
            index[n] = inside as u64;
        }
        Some(self.texels.address(index[0], index[1], index[2]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(outside: Outside, linear: bool, relative: bool) -> Texture {
        let texels = Texels {
            start: 0x1000,
            extent: [4, 2, 1],
            pitch: 16,
            slice: 32,
            channels: 1,
            width: 4,
            kind: Channel::Float,
        };
        let outside = [outside; 3];
        Texture { texels, outside, border: [0.0; 4], linear, normalised: false, relative }
    }

    fn nearest(texture: &Texture, x: f32) -> Option<u64> {
        let (parts, count) = texture.parts(&[x, 0.0], None);
        assert_eq!(count, 1);
        parts[0].at.map(|at| (at - 0x1000) / 4)
    }

    #[test]
    fn coordinates_outside_mean_what_the_mode_says() {
        let clamped = texture(Outside::Nearest, false, false);
        assert_eq!(
            [-3.0, 0.0, 3.9, 4.0, 9.0].map(|x| nearest(&clamped, x)),
            [0, 0, 3, 3, 3].map(Some)
        );
        let repeated = texture(Outside::Repeated, false, true);
        assert_eq!([-0.25, 0.0, 1.0, 1.3].map(|x| nearest(&repeated, x)), [3, 0, 0, 1].map(Some));
        let mirrored = texture(Outside::Mirrored, false, true);
        assert_eq!([-0.1, 0.9, 1.1, 2.1].map(|x| nearest(&mirrored, x)), [0, 3, 3, 0].map(Some));
        let border = texture(Outside::Border, false, false);
        assert_eq!([-0.1, 0.0, 4.0].map(|x| nearest(&border, x)), [None, Some(0), None]);
    }

    #[test]
    fn linear_reads_weigh_their_neighbours() {
        let linear = texture(Outside::Nearest, true, false);
        let (parts, count) = linear.parts(&[1.75, 1.0], None);
        assert_eq!(count, 4);
        let found: Vec<(u64, f32)> =
            parts[..4].iter().map(|p| ((p.at.unwrap() - 0x1000) / 4, p.weight)).collect();
        assert_eq!(found, [(1, 0.375), (2, 0.125), (5, 0.375), (6, 0.125)]);
        // 3/256 of 5/256 is none of 256 parts.
        let (parts, _) = linear.parts(&[1.5 + 3.0 / 256.0, 0.5 + 5.0 / 256.0], None);
        assert_eq!(parts.map(|part| part.weight * 256.0)[..4], [248.0, 3.0, 5.0, 0.0]);
        let gathered = linear.around([2.0, 1.0], None).0;
        assert_eq!(
            gathered.map(|p| p.at.map(|at| (at - 0x1000) / 4))[..4],
            [Some(5), Some(6), Some(2), Some(1)]
        );
    }

    #[test]
    fn surfaces_end_where_their_bytes_do() {
        let surface = Surface { texels: texture(Outside::Nearest, false, false).texels };
        assert_eq!(surface.address([12, 1, 0], 4, None), Some(0x101c));
        assert_eq!(surface.address([13, 0, 0], 4, None), None);
        assert_eq!(surface.address([-4, 9, 0], 4, Some(Outside::Nearest)), Some(0x1010));
        assert_eq!(surface.address([0, -1, 0], 4, Some(Outside::Border)), None);
        assert_eq!(surface.address([0, 0, 0], 32, Some(Outside::Nearest)), None);
    }
}
