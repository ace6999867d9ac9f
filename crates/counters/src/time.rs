//! Time bins: a histogram over time whose number of bins stays bounded however long the run is.

use commsan_rundir::traffic::Bin;

/// Maximum number of bins of a run; when it is reached, each pair of bins is merged.
const MAX_BINS: u64 = 512;

/// Initial width of a bin, in nanoseconds.
const FIRST_WIDTH: u64 = 1_000_000;

/// The current bin and width.
#[derive(Clone, Copy, Debug)]
pub struct Bins {
    epoch: u64,
    width: u64,
    current: u32,
    /// Range of the current bin, in nanoseconds since the epoch.
    begins: u64,
    ends: u64,
}

impl Bins {
    /// Bins from `epoch` on, in nanoseconds since 1970.
    pub fn new(epoch: u64) -> Bins {
        Bins { epoch, width: FIRST_WIDTH, current: 0, begins: 0, ends: FIRST_WIDTH }
    }

    /// Beginning of bin 0, in nanoseconds since 1970.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Width of a bin, in nanoseconds.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Whether a time, in nanoseconds since 1970, falls into the current bin.
    #[inline]
    pub fn is_current(&self, time: u64) -> bool {
        let since = time.saturating_sub(self.epoch);
        since >= self.begins && since < self.ends
    }

    /// The bin of a time, in nanoseconds since 1970. `coarsen` is called each time that bins 2n and
    /// 2n + 1 merge into bin n.
    #[inline]
    pub fn at(&mut self, time: u64, mut coarsen: impl FnMut()) -> u32 {
        let since = time.saturating_sub(self.epoch);
        if !self.is_current(time) {
            while since / self.width >= MAX_BINS {
                self.width *= 2;
                coarsen();
            }
            self.current = (since / self.width) as u32;
            self.begins = u64::from(self.current) * self.width;
            self.ends = self.begins + self.width;
        }
        self.current
    }
}

/// Adds to the entry of `bin`, the last one as a rule.
#[inline]
pub fn add(bins: &mut Vec<Bin>, bin: u32, count: u64, amount: u64) {
    match bins.last_mut() {
        Some(last) if last.bin == bin => {
            last.count += count;
            last.amount += amount;
        }
        Some(last) if last.bin > bin => add_earlier(bins, bin, count, amount),
        _ => bins.push(Bin { bin, count, amount }),
    }
}

/// Adds to an earlier bin: threads do not always count in the order of their timestamps.
#[cold]
fn add_earlier(bins: &mut Vec<Bin>, bin: u32, count: u64, amount: u64) {
    match bins.binary_search_by_key(&bin, |entry| entry.bin) {
        Ok(at) => {
            bins[at].count += count;
            bins[at].amount += amount;
        }
        Err(at) => bins.insert(at, Bin { bin, count, amount }),
    }
}

/// Merges bins 2n and 2n + 1 into bin n.
pub fn coarsen(bins: &mut Vec<Bin>) {
    for entry in bins.iter_mut() {
        entry.bin /= 2;
    }
    bins.dedup_by(|later, first| {
        let same = later.bin == first.bin;
        if same {
            first.count += later.count;
            first.amount += later.amount;
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bins_hold_all_that_was_added_where_it_was(
            times in prop::collection::vec(0u64..1 << 42, 1..60),
        ) {
            const EPOCH: u64 = 1_700_000_000_000_000_000;
            let (mut clock, mut series) = (Bins::new(EPOCH), Vec::new());
            for time in &times {
                let bin = clock.at(EPOCH + time, || coarsen(&mut series));
                add(&mut series, bin, 1, *time);
            }
            let mut expected = std::collections::BTreeMap::<u32, (u64, u64)>::new();
            for time in &times {
                let sums = expected.entry((time / clock.width()) as u32).or_default();
                *sums = (sums.0 + 1, sums.1 + time);
            }
            let found: Vec<_> = series.iter().map(|b| (b.bin, (b.count, b.amount))).collect();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            prop_assert!(series.iter().all(|entry| u64::from(entry.bin) < MAX_BINS));
        }
    }
}
