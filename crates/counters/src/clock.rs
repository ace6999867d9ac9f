//! What time it is, cheaply: two look-ups a call must not cost more than the call.
//!
//! Between two looks at the system's clock, at most a time bin apart, the processor's own counter tells how
//! much time has passed.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// A moment, as the processor counts; only differences mean something.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    now()
}

/// From moments to times.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// When it was set: as the processor and as the system count.
    ticks: u64,
    time: u64,
    /// Nanoseconds of a tick, as a fraction of 2^32.
    rate: u64,
}

/// How long the counter is compared with the clock at first, in nanoseconds.
const TRIAL: u64 = 200_000;

impl Clock {
    /// A clock that is right now.
    pub fn new() -> Clock {
        let mut clock = Clock { ticks: ticks(), time: now(), rate: 1 << 32 };
        while now() < clock.time + TRIAL {
            std::hint::spin_loop();
        }
        clock.set();
        clock
    }

    /// The time of a moment.
    #[inline]
    pub fn at(&self, ticks: u64) -> u64 {
        let since = ticks.wrapping_sub(self.ticks) as i64;
        let nanoseconds = (i128::from(since) * i128::from(self.rate)) >> 32;
        self.time.saturating_add_signed(nanoseconds as i64)
    }

    /// The time between two moments.
    #[inline]
    pub fn between(&self, begin: u64, end: u64) -> u64 {
        ((u128::from(end.saturating_sub(begin)) * u128::from(self.rate)) >> 32) as u64
    }

    /// How far the processor counts in so many nanoseconds.
    pub fn ticks_in(&self, nanoseconds: u64) -> u64 {
        ((u128::from(nanoseconds) << 32) / u128::from(self.rate.max(1))) as u64
    }

    /// Looks at the system's clock, and learns how fast the counter is.
    #[cold]
    pub fn set(&mut self) {
        let (ticks, time) = (ticks(), now());
        let passed = (ticks.saturating_sub(self.ticks), time.saturating_sub(self.time));
        if passed.0 > 0 && passed.1 >= TRIAL / 2 {
            self.rate = ((u128::from(passed.1) << 32) / u128::from(passed.0)) as u64;
        }
        (self.ticks, self.time) = (ticks, time);
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_agrees_with_the_clock() {
        let mut clock = Clock::new();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (told, is) = (clock.at(ticks()), now());
        assert!(told.abs_diff(is) < 5_000_000, "{told} {is}");
        clock.set();
        let begin = ticks();
        let before = now();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let (passed, told) = (now() - before, clock.between(begin, ticks()));
        assert!(told.abs_diff(passed) < passed / 2, "{told} {passed}");
    }
}
