//! Warp-level primitives: shuffles, votes, matches and reductions between the lanes of a warp (PTX
//! ISA §9.7.9.6 to §9.7.9.9, §9.7.13.8 and following).

use crate::code::{CollectiveOp, ReduceOp};
use crate::rows::{LANES, Mask, Row, lanes};

/// The operands and results of one exchange.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The participating lanes.
    pub lanes: Mask,
    /// The value that each lane contributes; 0 or 1 for votes.
    pub a: Row<u64>,
    /// A shuffle's lane, delta or mask.
    pub b: Row<u32>,
    /// A shuffle's clamp and segment mask.
    pub c: Row<u32>,
    /// The result of each lane.
    pub d: Row<u64>,
    /// The lanes whose second result, a predicate, is true.
    pub p: Mask,
}

impl Exchange {
    /// An exchange without participants.
    pub fn new() -> Exchange {
        let (none, zero) = ([0; LANES], [0; LANES]);
        Exchange { lanes: 0, a: none, b: zero, c: zero, d: none, p: 0 }
    }

    /// Computes the results.
    pub fn run(&mut self, op: CollectiveOp) {
        use CollectiveOp::*;
        match op {
            Barrier => {}
            ShuffleUp | ShuffleDown | ShuffleButterfly | ShuffleIndex => self.shuffle(op),
            VoteAll => self.everybody(0, self.votes() == self.lanes),
            VoteAny => self.everybody(0, self.votes() != 0),
            VoteUniform => {
                self.everybody(0, self.votes() == 0 || self.votes() == self.lanes);
            }
            VoteBallot => self.everybody(self.votes(), false),
            MatchAny(_) => {
                for lane in lanes(self.lanes) {
                    self.d[lane] = self.equal_to(lane).into();
                }
            }
            MatchAll(_) => {
                let first = self.lanes.trailing_zeros() as usize % LANES;
                let all = self.equal_to(first) == self.lanes;
                self.everybody(if all { self.lanes } else { 0 }, all);
            }
            Reduce(op) => {
                let values = lanes(self.lanes).map(|lane| self.a[lane] as u32);
                let value = values.reduce(|a, b| combine(op, a, b)).unwrap_or(0);
                self.everybody(value, false);
            }
            Elect => {
                let leader = self.lanes.trailing_zeros();
                self.everybody(leader, false);
                self.p = 1u32.checked_shl(leader).unwrap_or(0);
            }
        }
    }

    fn everybody(&mut self, value: u32, held: bool) {
        self.d = [value.into(); LANES];
        self.p = if held { self.lanes } else { 0 };
    }

    fn votes(&self) -> Mask {
        lanes(self.lanes).fold(0, |all, lane| all | (self.a[lane] as Mask & 1) << lane)
    }

    fn equal_to(&self, lane: usize) -> Mask {
        let equal = |other: &usize| self.a[*other] == self.a[lane];
        lanes(self.lanes).filter(equal).fold(0, |all, lane| all | 1 << lane)
    }

    /// `shfl.sync` (PTX ISA §9.7.9.6): `c` holds the clamp in bits 0 to 4 and the segment mask in
    /// bits 8 to 12.
    fn shuffle(&mut self, op: CollectiveOp) {
        for lane in lanes(self.lanes) {
            let (i, b) = (lane as i32, (self.b[lane] & 31) as i32);
            let (clamp, segment) = ((self.c[lane] & 31) as i32, (self.c[lane] >> 8 & 31) as i32);
            let most = i & segment | clamp & !segment;
            let least = i & segment;
            let (from, within) = match op {
                CollectiveOp::ShuffleUp => (i - b, i - b >= most),
                CollectiveOp::ShuffleDown => (i + b, i + b <= most),
                CollectiveOp::ShuffleButterfly => (i ^ b, i ^ b <= most),
                _ => (least | b & !segment, least | b & !segment <= most),
            };
            let from = if within { from as usize % LANES } else { lane };
            // The value of a lane that does not participate is undefined.
            let from = if self.lanes >> from & 1 == 1 { from } else { lane };
            self.d[lane] = self.a[from];
            self.p |= Mask::from(within) << lane;
        }
    }
}

fn combine(op: ReduceOp, a: u32, b: u32) -> u32 {
    match op {
        ReduceOp::And => a & b,
        ReduceOp::Or => a | b,
        ReduceOp::Xor => a ^ b,
        ReduceOp::Add => a.wrapping_add(b),
        ReduceOp::MinUnsigned => a.min(b),
        ReduceOp::MaxUnsigned => a.max(b),
        ReduceOp::MinSigned => (a as i32).min(b as i32) as u32,
        ReduceOp::MaxSigned => (a as i32).max(b as i32) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::ALL;

    fn numbered(lanes: Mask) -> Exchange {
        Exchange { lanes, a: std::array::from_fn(|lane| lane as u64), ..Exchange::new() }
    }

    #[test]
    fn shuffles_stay_in_their_segment() {
        // `__shfl_down_sync(all, v, 3, 8)`
        let mut down = Exchange { b: [3; 32], c: [0x181f; 32], ..numbered(ALL) };
        down.run(CollectiveOp::ShuffleDown);
        assert_eq!(down.d[..9], [3, 4, 5, 6, 7, 5, 6, 7, 11]);
        assert_eq!(down.p & 0x1ff, 0b1_0001_1111);
        // `__shfl_up_sync(all, v, 2, 8)`
        let mut up = Exchange { b: [2; 32], c: [0x1800; 32], ..numbered(ALL) };
        up.run(CollectiveOp::ShuffleUp);
        assert_eq!(up.d[..10], [0, 1, 0, 1, 2, 3, 4, 5, 8, 9]);
        // `__shfl_sync(all, v, 5, 8)`
        let mut index = Exchange { b: [5; 32], c: [0x181f; 32], ..numbered(ALL) };
        index.run(CollectiveOp::ShuffleIndex);
        assert_eq!((index.d[0], index.d[31]), (5, 29));
    }

    #[test]
    fn votes_and_reductions_ask_only_members() {
        let mut ballot = numbered(0xff);
        ballot.run(CollectiveOp::VoteBallot);
        assert_eq!(ballot.d[0], 0b1010_1010);
        let mut sum = numbered(0xf0);
        sum.run(CollectiveOp::Reduce(ReduceOp::Add));
        assert_eq!(sum.d[4], 22);
        let mut all = Exchange { a: [9; 32], ..numbered(0x3) };
        all.run(CollectiveOp::MatchAll(4));
        assert_eq!((all.d[0], all.p), (3, 3));
    }
}
