//! The parameter of a kernel: phases and their steps, with addresses.
//!
//! ```text
//! scalar  address of the scalar, or 0  values of a slot  bytes of a slot
//! address of the word that ends it     where the steps begin
//! phases: first step, steps, pieces, next phase or 0      (32 bits each)
//! steps:  source, target, values, link from, link to, flags
//! ```
//! A block begins with the phase of its number. All but the phases' fields are 64-bit words.

use crate::region::Layout;
use crate::schedule::{Phase, Source, Step};

/// Size of the parameter in bytes: enough for a communicator of 64 ranks, and cheap to copy.
pub const PARAMETER_BYTES: usize = 16 << 10;

/// Maximum number of steps if each is a phase of its own.
pub const MAX_OPERATIONS: usize = (PARAMETER_BYTES - field::PHASES) / (field::PHASE + field::STEP);

/// Offsets of the parameter's fields, in bytes.
pub mod field {
    /// The scalar by which values are first multiplied, or sums finally divided.
    pub const SCALAR: usize = 0;
    /// The address of the scalar, if it is in memory.
    pub const SCALAR_ADDRESS: usize = 8;
    /// Number of values that fit into a slot.
    pub const PIECE: usize = 16;
    /// Size of a slot, in bytes.
    pub const SLOT: usize = 24;
    /// Address of the word that ends kernels.
    pub const END: usize = 32;
    /// Offset of the steps in the parameter.
    pub const STEPS: usize = 40;
    /// Offset of the phases.
    pub const PHASES: usize = 48;
    /// Size of a phase, in bytes.
    pub const PHASE: usize = 16;
    /// Size of a step, in bytes.
    pub const STEP: usize = 48;
}

/// Flags of a step.
pub mod flag {
    /// This rank's own values enter a reduction.
    pub const ENTERS: u64 = 1;
    /// The step completes a reduction.
    pub const COMPLETES: u64 = 2;
}

/// The scalar of a reduction, see [`field::SCALAR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A value, in the datatype's representation.
    Value(u64),
    /// The address of a value that is read when the kernel runs.
    At(u64),
}

/// The buffers that a schedule refers to.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// Address of the input.
    pub input: u64,
    /// Address of the output.
    pub output: u64,
    /// Size of a value, in bytes.
    pub size: usize,
}

/// A builder of a kernel's parameter.
#[derive(Debug)]
pub struct Work {
    layout: Layout,
    base: u64,
    piece: u64,
    scalar: Scalar,
    phases: Vec<[u32; 4]>,
    steps: Vec<[u64; 6]>,
    /// The last phase of each block.
    last: Vec<usize>,
}

impl Work {
    /// Empty work of the rank whose region is at `base`; values have `size` bytes.
    pub fn new(layout: Layout, base: u64, size: usize, scalar: Scalar) -> Work {
        let piece = layout.slot / size as u64;
        let (phases, steps, last) = (Vec::new(), Vec::new(), Vec::new());
        Work { layout, base, piece, scalar, phases, steps, last }
    }

    /// Number of blocks that the kernel needs.
    pub fn blocks(&self) -> u32 {
        self.last.len() as u32
    }

    /// Adds blocks, each of which begins with a phase of its own.
    ///
    /// A block has the number of its first phase, so all blocks must be added before further
    /// phases.
    pub fn add_blocks(&mut self, first: &[Phase], buffers: &[Buffers]) {
        for (phase, buffers) in first.iter().zip(buffers) {
            self.last.push(self.phases.len());
            self.add(phase, *buffers);
        }
    }

    /// Adds a phase after the last one of a block.
    pub fn follow(&mut self, block: usize, phase: &Phase, buffers: Buffers) {
        let number = self.phases.len();
        self.add(phase, buffers);
        let before = std::mem::replace(&mut self.last[block], number);
        self.phases[before][3] = number as u32;
    }

    fn add(&mut self, phase: &Phase, buffers: Buffers) {
        let longest = phase.iter().map(|step| step.length).max().unwrap_or(0);
        let pieces = (longest as u64).div_ceil(self.piece);
        let first = self.steps.len() as u32;
        self.phases.push([first, phase.len() as u32, pieces as u32, 0]);
        let steps = phase.iter().map(|step| self.step(step, buffers));
        let steps: Vec<_> = steps.collect();
        self.steps.extend(steps);
    }

    fn step(&self, step: &Step, buffers: Buffers) -> [u64; 6] {
        let at = |base: u64, value: usize| base + (value * buffers.size) as u64;
        let link = |rank: Option<usize>| rank.map_or(0, |rank| self.base + self.layout.link(rank));
        let source = step.source.map_or(0, |source| match source {
            Source::Input(value) => at(buffers.input, value),
            Source::Output(value) => at(buffers.output, value),
        });
        let target = step.target.map_or(0, |value| at(buffers.output, value));
        let flag = |is_so: bool, flag: u64| if is_so { flag } else { 0 };
        let enters = matches!(step.source, Some(Source::Input(_)));
        let flags = flag(enters, flag::ENTERS) | flag(step.completes, flag::COMPLETES);
        [source, target, step.length as u64, link(step.from), link(step.to), flags]
    }

    /// The parameter as the kernel reads it.
    pub fn bytes(&self) -> Vec<u8> {
        let (scalar, address) = match self.scalar {
            Scalar::Value(value) => (value, 0),
            Scalar::At(address) => (0, address),
        };
        let steps = (field::PHASES + self.phases.len() * field::PHASE) as u64;
        let head = [scalar, address, self.piece, self.layout.slot, self.base, steps];
        let mut bytes = Vec::with_capacity(PARAMETER_BYTES);
        head.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        self.phases.iter().flatten().for_each(|word| bytes.extend(word.to_le_bytes()));
        self.steps.iter().flatten().for_each(|word| bytes.extend(word.to_le_bytes()));
        debug_assert!(bytes.len() <= PARAMETER_BYTES, "who adds asks for room");
        bytes.resize(PARAMETER_BYTES, 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Place, all_reduce_ring, all_reduce_tree};

    const LAYOUT: Layout = Layout { ranks: 64, slot: 1 << 16 };
    const BUFFERS: Buffers = Buffers { input: 0x1000, output: 0x2000, size: 4 };

    #[test]
    fn the_largest_communicator_fits() {
        let mut work = Work::new(LAYOUT, 0, 4, Scalar::Value(0));
        let place = Place { rank: 5, ranks: 64 };
        work.add_blocks(&all_reduce_ring(place, 1 << 20, 4), &[BUFFERS]);
        assert_eq!(work.bytes().len(), PARAMETER_BYTES);
    }

    #[test]
    fn phases_of_a_block_follow_each_other() {
        let mut work = Work::new(LAYOUT, 0x10_0000, 4, Scalar::At(0x77));
        let phases = all_reduce_tree(Place { rank: 0, ranks: 64 }, 40_000);
        work.add_blocks(&phases[..1], &[BUFFERS]);
        work.follow(0, &phases[1], BUFFERS);
        assert_eq!(work.phases, [[0, 1, 3, 1], [1, 1, 3, 0]]);
        let link = 0x10_0000 + LAYOUT.link(1);
        assert_eq!(work.steps[0], [0x1000, 0x2000, 40_000, link, 0, 3]);
        assert_eq!(work.steps[1], [0x2000, 0, 40_000, 0, link, 0]);
        let bytes = work.bytes();
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("a word"));
        assert_eq!(word(field::SCALAR_ADDRESS), 0x77);
        let steps = word(field::STEPS) as usize;
        assert_eq!(word(steps + field::STEP), 0x2000);
    }
}
