//! Calls that are made again with the very same arguments, as in every time step: what was in order the first time
//! is not looked at again.
//!
//! **Soundness.** A call is recognised by a hash of 64 bits over its place, its row in the table and its arguments
//! as words. Only that it was in order is remembered, so that whatever is taken for another call, and an object
//! that has another one's handle, can cost a finding and cannot make one. What depends on memory that the program
//! may give back, and get again with another size, is not remembered.

use commsan_mpi::Args;
use commsan_threads::Here;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Calls that were in order, where their hashes say; the lowest bits say what was.
static KNOWN: [AtomicU64; 2048] = [const { AtomicU64::new(0) }; 2048];

/// The arguments were.
const ARGUMENTS: u64 = 1;
/// The memory, too.
const BOUNDS: u64 = 2;
const BOTH: u64 = ARGUMENTS | BOUNDS;

/// How often objects were freed, whose handles may mean other objects now.
static FREED: AtomicU64 = AtomicU64::new(0);

/// Calls with more arguments are not remembered.
const MAX_WORDS: usize = 16;

/// Odd numbers without a pattern (splitmix64), one for each argument, the place, the row, and what was freed.
const WEIGHTS: [u64; MAX_WORDS + 3] = {
    let (mut weights, mut state, mut at) = ([0; MAX_WORDS + 3], 0u64, 0);
    while at < weights.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        weights[at] = mixed ^ mixed >> 31 | 1;
        at += 1;
    }
    weights
};

/// Some object has been freed.
pub(crate) fn freed() {
    FREED.fetch_add(1, Relaxed);
}

/// What a call's arguments say of it.
#[derive(Clone, Copy)]
pub(crate) struct Sum(u64);

impl Sum {
    /// Of arguments that are best still in registers: sums of products need not wait for each other.
    #[inline(always)]
    pub fn of(words: &[usize]) -> Sum {
        let mut sum = 0u64;
        for (word, weight) in words.iter().zip(&WEIGHTS[..MAX_WORDS]) {
            sum = sum.wrapping_add((*word as u64).wrapping_mul(*weight));
        }
        Sum(sum)
    }
}

/// A call, as far as it is known.
pub(crate) struct Again {
    slot: &'static AtomicU64,
    hash: u64,
    known: u64,
}

impl Again {
    /// Looks a call up.
    #[inline]
    pub fn find(args: &Args, sum: Sum, here: &Here) -> Again {
        let others = [here.return_address() as u64, args.call.row.into(), FREED.load(Relaxed)];
        let mut hash = sum.0;
        for (word, weight) in others.iter().zip(&WEIGHTS[MAX_WORDS..]) {
            hash = hash.wrapping_add(word.wrapping_mul(*weight));
        }
        let slot = &KNOWN[(hash >> (u64::BITS - KNOWN.len().ilog2())) as usize];
        let (hash, found) = (hash & !BOTH, slot.load(Relaxed));
        let is_it = found & !BOTH == hash && args.words.len() <= MAX_WORDS;
        Again { slot, hash, known: if is_it { found & BOTH } else { 0 } }
    }

    /// Whether its arguments are in order.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        self.known & ARGUMENTS != 0
    }

    /// Whether its memory is.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.known & BOUNDS != 0
    }

    /// Its arguments are in order, and perhaps its memory for all time.
    #[inline]
    pub fn remember(&self, room: bool) {
        let known = ARGUMENTS | if room { BOUNDS } else { 0 };
        if self.known != known {
            self.slot.store(self.hash | known, Relaxed);
        }
    }
}
