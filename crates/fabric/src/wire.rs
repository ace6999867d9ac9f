//! What ranks ask the memory of another node, and what its relay answers: frames of 64-bit words.
//!
//! A frame is a header, its kind and how many words follow, and these. An answer's kind is [`FINE`] or [`OVER`].
//! What does not have the form that its kind demands is answered by nobody: the connection is closed.

use crate::job::looked;
use crate::ring::LONGEST;
use crate::{Fabric, Posted};

/// The first frame of a connection: the token, and ranks of the job.
pub(crate) const HELLO: u32 = 1;
/// Which ranks are on the node.
pub(crate) const MEMBERS: u32 = 2;
/// A rank and its segment: the clock it had in that.
pub(crate) const JOIN: u32 = 3;
/// A rank: the clock it has now.
pub(crate) const NEWEST: u32 = 4;
/// The key of a collective, and ranks: when each entered, and all clocks they had then, joined.
pub(crate) const GATHER: u32 = 5;
/// The name of a window, and ranks: the part of each.
pub(crate) const PARTS: u32 = 6;
/// A rank, a cell, and a clock to add to it.
pub(crate) const RELEASE: u32 = 7;
/// A rank and a cell: what was added to it.
pub(crate) const ACQUIRE: u32 = 8;
/// Of which rank, to which rank, and a notice: whether there was room.
pub(crate) const POST: u32 = 9;
/// Nothing can be relied upon from now on.
pub(crate) const SWITCH_OFF: u32 = 10;
/// Which ranks of the node tell others of their order.
pub(crate) const PRESENT: u32 = 11;
/// A key and what somebody enters: what the first has entered, if another was.
pub(crate) const ENTER: u32 = 12;
/// What the ranks of the node are doing.
pub(crate) const LOOK: u32 = 13;
/// To ask them what they wait for.
pub(crate) const ASK: u32 = 14;

/// Some ranks, on other nodes too, do not match.
pub(crate) const MISMATCH: u32 = 15;

/// Words that tell of one rank what it is doing.
pub(crate) const LOOKED: usize = 7;

/// It was done.
pub(crate) const FINE: u32 = 0;
/// The node cannot be relied upon.
pub(crate) const OVER: u32 = 1;

/// Words that a frame may have beside its header: those of the longest notice, or clocks of a large job.
const MOST: usize = 2 * LONGEST;

/// Appends a frame.
pub(crate) fn put(out: &mut Vec<u8>, kind: u32, words: impl IntoIterator<Item = u64>) {
    let at = out.len();
    out.extend_from_slice(&[0; 8]);
    words.into_iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    let count = (out.len() - at) / 8 - 1;
    out[at..at + 8].copy_from_slice(&(u64::from(kind) << 32 | count as u64).to_le_bytes());
}

/// The kind of a frame, and how many words follow; `None` for more than any has.
pub(crate) fn header(bytes: [u8; 8]) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(bytes);
    let count = (word & 0xffff_ffff) as usize;
    (count <= MOST).then_some(((word >> 32) as u32, count))
}

/// The words in so many bytes.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// A clock, two ranks in a word.
pub(crate) fn pack(row: &[u32]) -> impl Iterator<Item = u64> {
    row.chunks(2)
        .map(|two| u64::from(two[0]) | u64::from(two.get(1).copied().unwrap_or_default()) << 32)
}

/// Joins a clock that was packed.
pub(crate) fn join(packed: &[u64], into: &mut [u32]) -> bool {
    let mut news = false;
    for (at, time) in into.iter_mut().enumerate() {
        let told = (packed.get(at / 2).copied().unwrap_or_default() >> (at % 2 * 32)) as u32;
        news |= told > *time;
        *time = told.max(*time);
    }
    news
}

/// Does what a frame asks for, on the memory of this node, and appends the answer. `None` if it has not the form of
/// its kind.
pub(crate) fn answer(fabric: &Fabric, kind: u32, asked: &[u64], out: &mut Vec<u8>) -> Option<()> {
    let rank = |word: &u64| usize::try_from(*word).ok().filter(|rank| *rank < fabric.ranks());
    let ranks = |words: &[u64]| words.iter().map(rank).collect::<Option<Vec<usize>>>();
    let all = |is: &dyn Fn(usize) -> bool| -> Vec<u64> {
        (0..fabric.ranks()).filter(|rank| is(*rank)).map(|rank| rank as u64).collect()
    };
    let mut row = vec![0; fabric.ranks()];
    match (kind, asked) {
        (MEMBERS, []) => put(out, FINE, all(&|rank| fabric.memory.is_here(rank))),
        (ENTER, [key, entry @ ..]) => {
            match fabric.board().post_here(*key, entry.try_into().ok()?) {
                Posted::After(first) => put(out, FINE, first),
                Posted::First | Posted::Busy => put(out, FINE, []),
            }
        }
        (LOOK, []) => put(out, FINE, looked(fabric.board())),
        (MISMATCH, []) => {
            fabric.board().count_mismatch_here();
            put(out, FINE, []);
        }
        (ASK, []) => {
            fabric.board().ask();
            put(out, FINE, []);
        }
        _ if fabric.is_off() => put(out, OVER, []),
        (PRESENT, []) => put(out, FINE, all(&|rank| fabric.memory.is_present(rank))),
        (JOIN, [of, segment]) => {
            fabric.join_here(rank(of)?, u32::try_from(*segment).ok()?, &mut row);
            put(out, FINE, pack(&row));
        }
        (NEWEST, [of]) => {
            fabric.join_newest_here(rank(of)?, &mut row);
            put(out, FINE, pack(&row));
        }
        (GATHER, [key, of @ ..]) => {
            let of = ranks(of)?;
            let entered: Vec<u64> =
                of.iter().map(|rank| fabric.gather_here(*rank, *key, &mut row).into()).collect();
            put(out, FINE, entered.into_iter().chain(pack(&row)));
        }
        (PARTS, [window, of @ ..]) => {
            let parts = ranks(of)?.into_iter().map(|rank| fabric.part_here(rank, *window));
            put(
                out,
                FINE,
                parts.flat_map(|part| match part {
                    Some((size, unit)) => [1, size, unit],
                    None => [0; 3],
                }),
            );
        }
        (RELEASE, [of, cell, clock @ ..]) if clock.len() == fabric.ranks().div_ceil(2) => {
            join(clock, &mut row);
            fabric.release_here(rank(of)?, *cell, &row);
            put(out, FINE, []);
        }
        (ACQUIRE, [of, cell]) => {
            fabric.acquire_here(rank(of)?, *cell, &mut row);
            put(out, FINE, pack(&row));
        }
        (POST, [from, to, notice @ ..]) if notice.len() <= LONGEST => {
            put(out, FINE, [fabric.post_here(rank(from)?, rank(to)?, notice).into()]);
        }
        (SWITCH_OFF, []) => {
            fabric.switch_off_here();
            put(out, FINE, []);
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ENTRY, Memory};

    fn fabric() -> Fabric {
        Fabric::new(Memory::create(3).unwrap().0, 1)
    }

    fn ask(fabric: &Fabric, kind: u32, asked: &[u64]) -> Option<(u32, Vec<u64>)> {
        let mut out = Vec::new();
        answer(fabric, kind, asked, &mut out)?;
        let (kind, count) = header(out[..8].try_into().unwrap())?;
        assert_eq!(out.len(), 8 + 8 * count);
        Some((kind, words(&out[8..]).collect()))
    }

    #[test]
    fn clocks_survive_packing() {
        for row in [&[][..], &[7], &[1, 2, 3], &[u32::MAX, 0, 5, 9]] {
            let packed: Vec<u64> = pack(row).collect();
            let mut back = vec![0; row.len()];
            assert_eq!(join(&packed, &mut back), row.iter().any(|time| *time > 0));
            assert_eq!(back, row);
            assert!(!join(&packed, &mut back));
        }
    }

    #[test]
    fn memory_answers() {
        let fabric = fabric();
        fabric.attend();
        fabric.publish(&[0, 1, 0]);
        fabric.enter(99, 1);
        fabric.publish(&[4, 2, 0]);
        let packed = |row: &[u32]| pack(row).collect::<Vec<_>>();
        fabric.board().attend(2, 7);
        assert_eq!(ask(&fabric, MEMBERS, &[]), Some((FINE, vec![2])));
        assert_eq!(ask(&fabric, PRESENT, &[]), Some((FINE, vec![1])));
        let entry = |word| [&[33][..], &[word; ENTRY]].concat();
        assert_eq!(ask(&fabric, ENTER, &entry(5)), Some((FINE, vec![])));
        assert_eq!(ask(&fabric, ENTER, &entry(6)), Some((FINE, vec![5; ENTRY])));
        let (kind, looked) = ask(&fabric, LOOK, &[]).unwrap();
        assert_eq!((kind, looked.len()), (FINE, 2 + LOOKED));
        assert_eq!(looked[1..5], [0, 2, 7, 0]);
        let before = fabric.board().asked();
        ask(&fabric, ASK, &[]);
        assert_eq!(fabric.board().asked(), before + 1);
        assert_eq!(ask(&fabric, JOIN, &[1, 1]), Some((FINE, packed(&[0, 1, 0]))));
        assert_eq!(ask(&fabric, NEWEST, &[1]), Some((FINE, packed(&[4, 2, 0]))));
        let gathered = [vec![1], packed(&[0, 1, 0])].concat();
        assert_eq!(ask(&fabric, GATHER, &[99, 1]), Some((FINE, gathered)));
        let newest = [vec![0], packed(&[4, 2, 0])].concat();
        assert_eq!(ask(&fabric, GATHER, &[98, 1]), Some((FINE, newest)));
        fabric.publish_part(5, 800, 8);
        assert_eq!(ask(&fabric, PARTS, &[5, 1, 2]), Some((FINE, vec![1, 800, 8, 0, 0, 0])));
        let release = [vec![1, 77], packed(&[1, 2, 3])].concat();
        assert_eq!(ask(&fabric, RELEASE, &release), Some((FINE, vec![])));
        assert_eq!(ask(&fabric, ACQUIRE, &[1, 77]), Some((FINE, packed(&[1, 2, 3]))));
        assert_eq!(ask(&fabric, POST, &[2, 1, 10, 11]), Some((FINE, vec![1])));
        let mut notice = Vec::new();
        assert!(fabric.take(&mut notice).is_some() && notice == [10, 11]);
        assert_eq!(ask(&fabric, SWITCH_OFF, &[]), Some((FINE, vec![])));
        assert!(fabric.is_off());
        assert_eq!(ask(&fabric, NEWEST, &[1]), Some((OVER, vec![])));
        assert!(
            ask(&fabric, LOOK, &[]).is_some_and(|(kind, _)| kind == FINE),
            "who waits is still told"
        );
    }

    #[test]
    fn whatever_is_asked_is_answered_or_refused() {
        let fabric = fabric();
        let (mut state, mut answered) = (1_u64, 0);
        let mut next = move |below: u64| {
            // xorshift64
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..50_000 {
            let kind = next(u64::from(MISMATCH) + 2) as u32;
            let most = [0, 4, 1 << 40, u64::MAX][next(4) as usize];
            let asked: Vec<u64> = (0..next(20)).map(|_| next(most.max(1))).collect();
            if kind != SWITCH_OFF {
                answered += u32::from(ask(&fabric, kind, &asked).is_some());
            }
        }
        assert!(answered > 1000, "{answered}");
    }

    #[test]
    fn what_has_no_form_is_refused() {
        let fabric = fabric();
        for (kind, asked) in [
            (0, &[][..]),
            (HELLO, &[1]),
            (MEMBERS, &[0]),
            (JOIN, &[3, 1]),
            (JOIN, &[1, u64::MAX]),
            (NEWEST, &[u64::MAX]),
            (GATHER, &[]),
            (GATHER, &[1, 3]),
            (PARTS, &[1, 4]),
            (RELEASE, &[1, 1, 1]),
            (ACQUIRE, &[3, 1]),
            (POST, &[0, 3]),
            (ENTER, &[1, 2]),
            (LOOK, &[1]),
            (99, &[]),
        ] {
            assert_eq!(ask(&fabric, kind, asked), None, "{kind} {asked:?}");
        }
        assert_eq!(header((1 << 32 | MOST as u64).to_le_bytes()), Some((1, MOST)));
        assert_eq!(header((1 << 32 | (MOST as u64 + 1)).to_le_bytes()), None);
    }
}
