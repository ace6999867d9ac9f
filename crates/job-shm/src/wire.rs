//! Wire protocol between nodes: what ranks ask the memory of another node, and what its relay answers, in frames
//! of 64-bit words.
//!
//! A frame is a header, its kind and how many words follow, and these. The kind is a [`Question`], or a [`Reply`].
//! What does not have the form that its kind demands is answered by nobody: the connection is closed.

use crate::memory::LONGEST;

/// What a frame asks for, with the number that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Question {
    /// The first frame of a connection: the token, and ranks of the job.
    Hello = 1,
    /// Which ranks are on the node.
    Members = 2,
    /// A rank and its segment: the clock it had in that.
    Join = 3,
    /// A rank: the clock it has now.
    Newest = 4,
    /// The key of a collective, and ranks: when each entered, and all clocks they had then, joined.
    Gather = 5,
    /// The name of a window, and ranks: the part of each.
    Parts = 6,
    /// A rank, a cell, and a clock to add to it.
    Release = 7,
    /// A rank and a cell: what was added to it.
    Acquire = 8,
    /// Of which rank, to which rank, and a notice: whether there was room.
    Post = 9,
    /// Nothing can be relied upon from now on.
    SwitchOff = 10,
    /// Which ranks of the node tell others of their order.
    Present = 11,
    /// A key and what somebody enters: what the first has entered, if another was.
    Enter = 12,
    /// What the ranks of the node are doing.
    Look = 13,
    /// To ask them what they wait for.
    Ask = 14,
    /// Some ranks, on other nodes too, do not match.
    Mismatch = 15,
}

impl Question {
    /// All of them, by their numbers, from 1.
    const ALL: [Question; 15] = [
        Question::Hello,
        Question::Members,
        Question::Join,
        Question::Newest,
        Question::Gather,
        Question::Parts,
        Question::Release,
        Question::Acquire,
        Question::Post,
        Question::SwitchOff,
        Question::Present,
        Question::Enter,
        Question::Look,
        Question::Ask,
        Question::Mismatch,
    ];

    /// The question of a number, if there is one.
    pub(crate) fn of(number: u32) -> Option<Question> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Question::ALL.get(at).copied()
    }
}

impl From<Question> for u32 {
    fn from(question: Question) -> u32 {
        question as u32
    }
}

/// How a node answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Reply {
    /// It was done.
    Fine = 0,
    /// The node cannot be relied upon.
    Over = 1,
}

impl Reply {
    /// The reply of a number, if there is one.
    pub(crate) fn of(number: u32) -> Option<Reply> {
        match number {
            0 => Some(Reply::Fine),
            1 => Some(Reply::Over),
            _ => None,
        }
    }
}

impl From<Reply> for u32 {
    fn from(reply: Reply) -> u32 {
        reply as u32
    }
}

/// Words that tell of one rank what it is doing.
pub(crate) const LOOKED: usize = 7;

/// Words that a frame may have beside its header: those of the longest notice, or clocks of a large job.
const MAX_WORDS: usize = 2 * LONGEST;

/// Appends a frame.
pub(crate) fn put(out: &mut Vec<u8>, kind: impl Into<u32>, words: impl IntoIterator<Item = u64>) {
    let kind: u32 = kind.into();
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
    (count <= MAX_WORDS).then_some(((word >> 32) as u32, count))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_replies_have_their_numbers() {
        for number in 0..100 {
            assert!(Question::of(number).is_none_or(|question| u32::from(question) == number));
            assert!(Reply::of(number).is_none_or(|reply| u32::from(reply) == number));
        }
        assert_eq!(Question::of(Question::Mismatch.into()), Some(Question::Mismatch));
        assert_eq!(Question::of(0), None);
    }

    #[test]
    fn frames_have_a_longest_size() {
        assert_eq!(header((1 << 32 | MAX_WORDS as u64).to_le_bytes()), Some((1, MAX_WORDS)));
        assert_eq!(header((1 << 32 | (MAX_WORDS as u64 + 1)).to_le_bytes()), None);
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
}
