//! Stamps of accesses: who has accessed memory, when, and by which instruction, in eight bytes.

const CLOCK_BITS: u32 = 22;
const SITE_BITS: u32 = 12;
const LEVEL_BITS: u32 = 2;
const THREAD_BITS: u32 = 28;

/// The largest clock; that of a copy which is not known to be complete.
pub const MAX_CLOCK: u32 = (1 << CLOCK_BITS) - 1;
/// How many instructions can be told apart.
pub const MAX_SITES: usize = 1 << SITE_BITS;
/// How many threads can be told apart.
pub const MAX_THREADS: u64 = 1 << THREAD_BITS;

/// For whom a stamp stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The thread.
    Thread,
    /// The thread and others of its warp, at this clock or before.
    Warp,
    /// The thread and others of its block, at this clock or before.
    Block,
    /// An asynchronous copy that the thread has issued.
    Copy,
}

/// An access, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// No access.
    pub const NONE: Stamp = Stamp(0);

    /// An access; the clock is at least 1.
    #[inline(always)]
    pub fn new(thread: u32, level: Level, site: u16, clock: u32) -> Stamp {
        let upper = u64::from(thread) << LEVEL_BITS | level as u64;
        Stamp((upper << SITE_BITS | u64::from(site)) << CLOCK_BITS | u64::from(clock))
    }

    /// Whether it is none.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The thread, by its number in the grid.
    #[inline(always)]
    pub fn thread(self) -> u32 {
        (self.0 >> (CLOCK_BITS + SITE_BITS + LEVEL_BITS)) as u32
    }

    /// For whom it stands.
    #[inline(always)]
    pub fn level(self) -> Level {
        match self.0 >> (CLOCK_BITS + SITE_BITS) & 3 {
            0 => Level::Thread,
            1 => Level::Warp,
            2 => Level::Block,
            _ => Level::Copy,
        }
    }

    /// The instruction, by its number.
    #[inline(always)]
    pub fn site(self) -> u16 {
        (self.0 >> CLOCK_BITS) as u16 & (MAX_SITES - 1) as u16
    }

    /// The clock of the thread.
    #[inline(always)]
    pub fn clock(self) -> u32 {
        self.0 as u32 & MAX_CLOCK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_comes_out() {
        for level in [Level::Thread, Level::Warp, Level::Block, Level::Copy] {
            let stamp = Stamp::new(0xfff_fffe, level, 4094, MAX_CLOCK);
            assert_eq!((stamp.thread(), stamp.level()), (0xfff_fffe, level));
            assert_eq!((stamp.site(), stamp.clock()), (4094, MAX_CLOCK));
        }
        assert!(Stamp::NONE.is_none() && !Stamp::new(0, Level::Thread, 0, 1).is_none());
    }
}
