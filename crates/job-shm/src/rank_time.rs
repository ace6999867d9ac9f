//! The time of a rank among all.

/// The time of a rank when it does something. `K` holds its vector clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankTime<K = Vec<u32>> {
    /// The rank.
    pub rank: u32,
    /// Its segment.
    pub segment: u32,
    /// Its vector clock: up to which segment it comes after each rank.
    pub known: K,
    /// Whether it may just be acquiring a later clock.
    pub acquires: bool,
}

impl RankTime {
    /// Sets the time, in the memory of the former one.
    pub fn set(&mut self, now: RankTime<&[u32]>) {
        (self.rank, self.segment, self.acquires) = (now.rank, now.segment, now.acquires);
        self.known.clear();
        self.known.extend_from_slice(now.known);
    }
}
