//! Calls that are made again and again with the same arguments: what they mean is remembered.

use commsan_callsite::StackId;

/// Calls that are remembered; a power of two.
const SLOTS: usize = 512;

/// Words of arguments that tell calls apart.
pub const WORDS: usize = 8;

/// What makes two calls the same, as long as nothing they name is freed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Same {
    /// The call, as the number of a string.
    pub call: u32,
    /// How control came there.
    pub stack: StackId,
    /// The region.
    pub region: Option<u32>,
    /// Its arguments; the rest is zero.
    pub words: [usize; WORDS],
}

/// What one of its transfers adds to.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The row.
    pub row: u32,
    /// Bytes.
    pub bytes: u64,
    /// The memory concerned: where it begins, its object and where that begins.
    pub memory: (usize, Option<(u32, usize)>),
    /// How many bytes of it.
    pub size: u64,
    /// The channel of messages whose order is known, and the communicator.
    pub channel: Option<(u32, usize)>,
}

/// Transfers of a call that is remembered, at most.
pub const STEPS: usize = 2;

/// What a call adds to.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The time in the call.
    pub calls: u32,
    /// Its transfers.
    pub steps: [Option<Step>; STEPS],
}

/// The calls that were made last, each at its place in a table.
#[derive(Debug)]
pub struct Repeats {
    slots: Box<[Option<(Same, Steps)>]>,
}

impl Repeats {
    /// None yet.
    pub fn new() -> Repeats {
        Repeats { slots: vec![None; SLOTS].into() }
    }

    /// What the same call has added to.
    #[inline]
    pub fn find(&self, same: &Same) -> Option<Steps> {
        let (known, steps) = self.slots[slot(same)].as_ref()?;
        (known == same).then_some(*steps)
    }

    /// Remembers a call.
    pub fn remember(&mut self, same: Same, steps: Steps) {
        self.slots[slot(&same)] = Some((same, steps));
    }

    /// What arguments mean may be something else now.
    pub fn forget(&mut self) {
        self.slots.fill(None);
    }
}

#[inline]
fn slot(same: &Same) -> usize {
    let words = same.words.iter().fold(same.stack.to_bits() as usize, |hash, word| {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    words >> 7 & (SLOTS - 1)
}
