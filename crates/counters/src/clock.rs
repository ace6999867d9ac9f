//! Cheap timestamps from the processor's time-stamp counter, calibrated against the system
//! clock: reading the time twice per call must cost less than the call.
//!
//! The system clock is read at most once per time bin; between two readings the counter measures
//! the elapsed time.

pub use commsan_process::machine::ticks;
use std::time::{SystemTime, UNIX_EPOCH};

/// The system's real-time clock, in nanoseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Attempts at reading both clocks at the same moment.
const ATTEMPTS: usize = 8;

/// A moment in ticks and in nanoseconds since 1970, and the nanoseconds by which they may differ:
/// of several readings, the one that took least.
pub fn moment() -> (u64, u64, u64) {
    let mut best = (0, 0, u64::MAX);
    for _ in 0..ATTEMPTS {
        let (first, begin) = (now(), ticks());
        let last = now();
        let took = last.saturating_sub(first).max(1);
        if took < best.2 {
            // `begin` is between both readings of the time.
            best = (begin, first + took / 2, took);
        }
    }
    best
}

/// Converts ticks of the processor's counter to times of the system clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The last calibration point, in ticks and in nanoseconds since 1970.
    ticks: u64,
    time: u64,
    /// Nanoseconds of a tick, as a fixed-point number with 32 fractional bits.
    rate: u64,
}

/// Length of the first calibration, in nanoseconds.
const CALIBRATION: u64 = 200_000;

impl Clock {
    /// A clock calibrated now; takes 200 µs.
    pub fn new() -> Clock {
        let (ticks, time, _) = moment();
        let mut clock = Clock { ticks, time, rate: 1 << 32 };
        while now() < clock.time + CALIBRATION {
            std::hint::spin_loop();
        }
        clock.set();
        clock
    }

    /// The time of a timestamp, in nanoseconds since 1970.
    #[inline]
    pub fn at(&self, ticks: u64) -> u64 {
        let since = ticks.wrapping_sub(self.ticks) as i64;
        let nanoseconds = (i128::from(since) * i128::from(self.rate)) >> 32;
        self.time.saturating_add_signed(nanoseconds as i64)
    }

    /// The time between two timestamps, in nanoseconds.
    #[inline]
    pub fn between(&self, begin: u64, end: u64) -> u64 {
        ((u128::from(end.saturating_sub(begin)) * u128::from(self.rate)) >> 32) as u64
    }

    /// The number of ticks in `nanoseconds`.
    pub fn ticks_in(&self, nanoseconds: u64) -> u64 {
        ((u128::from(nanoseconds) << 32) / u128::from(self.rate.max(1))) as u64
    }

    /// Recalibrates: reads the system clock and updates the length of a tick.
    #[cold]
    pub fn set(&mut self) {
        let (ticks, time, _) = moment();
        let passed = (ticks.saturating_sub(self.ticks), time.saturating_sub(self.time));
        if passed.0 > 0 && passed.1 >= CALIBRATION / 2 {
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
        let (computed, is) = (clock.at(ticks()), now());
        assert!(computed.abs_diff(is) < 5_000_000, "{computed} {is}");
        clock.set();
        let begin = ticks();
        let before = now();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let (passed, computed) = (now() - before, clock.between(begin, ticks()));
        assert!(computed.abs_diff(passed) < passed / 2, "{computed} {passed}");
    }
}
