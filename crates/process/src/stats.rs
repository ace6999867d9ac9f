//! What this process counts of what is watched, for `commsan run --stats`.
//!
//! Counters are atomics in one table, which any part of the runtime adds to. Nothing is counted
//! unless that was asked for: accesses come through another function then
//! ([`abi::connect`](crate::abi::connect)), and calls leave their usual way before they are made.

use commsan_findings::stats::{ALL, Counter};
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

static ARE_WANTED: AtomicBool = AtomicBool::new(false);
static COUNTS: [AtomicU64; ALL.len()] = [const { AtomicU64::new(0) }; ALL.len()];

/// Begins to count.
pub fn begin() {
    ARE_WANTED.store(true, Relaxed);
}

/// Whether anything is counted.
#[inline]
pub fn are_wanted() -> bool {
    ARE_WANTED.load(Relaxed)
}

/// Adds to a counter.
#[inline]
pub fn add(counter: Counter, count: u64) {
    COUNTS[counter as usize].fetch_add(count, Relaxed);
}

/// Counts something that happens seldom, if anything is counted.
#[inline]
pub fn count(counter: Counter) {
    if are_wanted() {
        add(counter, 1);
    }
}

/// Raises a peak.
pub fn raise(counter: Counter, value: u64) {
    COUNTS[counter as usize].fetch_max(value, Relaxed);
}

/// Parts of the counters of accesses, so that threads do not contend for them.
const SHARDS: usize = 32;

/// What one thread, or a few, add to: accesses checked, their bytes, accesses noted, their bytes.
#[repr(align(128))]
struct Shard([AtomicU64; 4]);

static ACCESSES: [Shard; SHARDS] = [const { Shard([const { AtomicU64::new(0) }; 4]) }; SHARDS];
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SHARD: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Counts an access that hooks have reported: to be noted in shadow memory, else to be checked.
#[inline]
pub fn accessed(is_noted: bool, bytes: usize) {
    let shard = SHARD.get();
    let shard = if shard < SHARDS { shard } else { first_access() };
    let at = if is_noted { 2 } else { 0 };
    ACCESSES[shard].0[at].fetch_add(1, Relaxed);
    ACCESSES[shard].0[at + 1].fetch_add(bytes as u64, Relaxed);
}

#[cold]
fn first_access() -> usize {
    let shard = NEXT.fetch_add(1, Relaxed) % SHARDS;
    SHARD.set(shard);
    shard
}

/// All counters, with what they have come to.
pub fn counts() -> impl Iterator<Item = (Counter, u64)> {
    let accesses = [Counter::Checked, Counter::CheckedBytes, Counter::Noted, Counter::NotedBytes];
    let accesses = accesses.into_iter().enumerate().map(|(at, counter)| {
        (counter, ACCESSES.iter().map(|shard| shard.0[at].load(Relaxed)).sum::<u64>())
    });
    let others = ALL.iter().zip(&COUNTS).map(|(counter, count)| (*counter, count.load(Relaxed)));
    others.chain(accesses).filter(|(_, count)| *count != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_of_all_threads_are_summed_up() {
        let threads: Vec<_> = (0..2 * SHARDS)
            .map(|_| {
                std::thread::spawn(|| {
                    accessed(false, 8);
                    accessed(false, 4);
                    accessed(true, 100);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let found: Vec<_> =
            counts().filter(|(counter, _)| counter.row().key.starts_with("accesses")).collect();
        let n = 2 * SHARDS as u64;
        use Counter::{Checked, CheckedBytes, Noted, NotedBytes};
        let all = [(Checked, 2 * n), (CheckedBytes, 12 * n), (Noted, n), (NotedBytes, 100 * n)];
        assert_eq!(found, all);
    }

    #[test]
    fn a_peak_only_rises() {
        raise(Counter::LivePeak, 7);
        raise(Counter::LivePeak, 3);
        assert!(counts().any(|found| found == (Counter::LivePeak, 7)));
    }
}
