//! A direct-mapped cache of calls repeated with the same arguments: remembers the counters each
//! adds to.

use crate::events::EventOf;
use commsan_callsite::StackId;

/// Number of remembered calls; a power of two.
const SLOTS: usize = 512;

/// Words of arguments that distinguish calls.
pub const WORDS: usize = 8;

/// The signature of a call. Calls with equal signatures do the same, as long as nothing they name
/// is freed in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSignature {
    /// The MPI call, as the number of a string.
    pub call: u32,
    /// The call path.
    pub stack: StackId,
    /// The number of the calling thread.
    pub thread: u32,
    /// The user-defined region.
    pub region: Option<u32>,
    /// The call's arguments, padded with zeros.
    pub words: [usize; WORDS],
}

/// What one transfer of the call adds to.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The number of the row.
    pub row: u32,
    /// Bytes transferred.
    pub bytes: u64,
    /// The memory concerned: its first address, and its object with the first address of the block.
    pub memory: (usize, Option<(u32, usize)>),
    /// Size of that memory, in bytes.
    pub size: u64,
    /// The message channel, if the order is known, with the communicator's handle.
    pub channel: Option<(u32, usize)>,
}

/// Maximum number of transfers of a remembered call.
pub const MAX_STEPS: usize = 2;

/// Everything that a call adds to.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// The counter of the time spent in the call.
    pub calls: u32,
    /// What its events are, if there are any.
    pub event: Option<EventOf>,
    /// The call's transfers.
    pub steps: [Option<Step>; MAX_STEPS],
}

/// The calls made last, each in the slot that its hash selects.
#[derive(Debug)]
pub struct CallCache {
    slots: Box<[Option<(CallSignature, Steps)>]>,
}

impl CallCache {
    /// An empty cache.
    pub fn new() -> CallCache {
        CallCache { slots: vec![None; SLOTS].into() }
    }

    /// What the call with this signature adds to, if it is remembered.
    #[inline]
    pub fn find(&self, same: &CallSignature) -> Option<Steps> {
        let (known, steps) = self.slots[slot(same)].as_ref()?;
        (known == same).then_some(*steps)
    }

    /// Remembers a call, replacing the one in its slot.
    pub fn remember(&mut self, same: CallSignature, steps: Steps) {
        self.slots[slot(&same)] = Some((same, steps));
    }

    /// Empties the cache, because arguments may mean something else now.
    pub fn forget(&mut self) {
        self.slots.fill(None);
    }
}

#[inline]
fn slot(same: &CallSignature) -> usize {
    let words = same.words.iter().fold(same.stack.to_bits() as usize, |hash, word| {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    words >> 7 & (SLOTS - 1)
}
