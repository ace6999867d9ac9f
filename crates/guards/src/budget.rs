//! What guards may cost: a share of the time that the process runs.

use crate::{Memory, PAGE};
use std::time::{Duration, Instant};

/// Time that guards may take at first, whatever the share: short programs are watched as a whole.
const AT_FIRST: Duration = Duration::from_millis(20);

/// What time in system calls counts for: afterwards the processor looks up again where the pages
/// are, and another process that copies from them may have waited.
const CONSEQUENCES: u32 = 2;

/// What opening pages to a thread and closing them costs, in nanoseconds: two writes of the
/// register, for which the processor waits.
const OPENING: u64 = 50;

/// What a checksum costs, whatever its size, in nanoseconds; and bytes that it takes in each.
const SUM_COSTS: u64 = 10;
const BYTES_PER_NANOSECOND: u64 = 8;

/// What the system takes to read a page that may be gone, in nanoseconds.
const CALL: u64 = 800;

/// Time to be spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    percent: u32,
    since: Instant,
    spent: Duration,
}

impl Budget {
    /// `percent` of the time from `now` on; 100 for any.
    pub fn new(percent: u32, now: Instant) -> Budget {
        Budget { percent, since: now, spent: Duration::ZERO }
    }

    /// Whether more may be spent at this time.
    pub fn allows(&self, now: Instant) -> bool {
        let earned = now.saturating_duration_since(self.since) * self.percent / 100;
        self.percent >= 100 || self.spent <= earned + AT_FIRST
    }

    /// So much has been spent in system calls.
    pub fn spend(&mut self, time: Duration) {
        self.spent += time * CONSEQUENCES;
    }

    /// All pages were opened to a thread so often, and closed again.
    pub fn spend_opened(&mut self, times: u64) {
        self.spent += Duration::from_nanos(times * OPENING);
    }

    /// A checksum of so many bytes was taken.
    pub fn spend_sum(&mut self, bytes: usize, memory: Memory) {
        let calls = match memory {
            Memory::Elsewhere => (bytes as u64).div_ceil(PAGE as u64),
            _ => 0,
        };
        let time = SUM_COSTS + calls * CALL + bytes as u64 / BYTES_PER_NANOSECOND;
        self.spent += Duration::from_nanos(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_time_may_be_spent() {
        let begun = Instant::now();
        let mut budget = Budget::new(5, begun);
        budget.spend(AT_FIRST / CONSEQUENCES);
        assert!(budget.allows(begun));
        budget.spend(Duration::from_millis(1) / CONSEQUENCES);
        assert!(!budget.allows(begun));
        assert!(!budget.allows(begun + Duration::from_millis(19)));
        assert!(budget.allows(begun + Duration::from_millis(21)));
        for _ in 0..1000 {
            budget.spend_sum(8000, Memory::Own);
        }
        assert!(!budget.allows(begun + Duration::from_millis(21)));
        let mut other = Budget::new(5, begun);
        other.spend_opened(1_000_000);
        assert!(!other.allows(begun + Duration::from_millis(100)));
        assert!(other.allows(begun + Duration::from_secs(1)));
        let mut any = Budget::new(100, begun);
        any.spend(Duration::from_secs(9));
        assert!(any.allows(begun));
    }
}
