//! Wire protocol between nodes: what ranks ask of the memory of another node, and what its relay
//! answers, in frames of 64-bit words.
//!
//! A frame is a header, with its kind and the number of words that follow, and these words. The
//! kind is a [`Question`] or a [`Reply`]. A malformed frame is not answered: the connection is
//! closed.

use crate::memory::LONGEST;

/// What a frame asks for, with its number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Question {
    /// The first frame of a connection: the token, and the number of ranks of the job.
    Hello = 1,
    /// Which ranks are on the node.
    Members = 2,
    /// A rank and a segment: the rank's clock in it.
    Join = 3,
    /// A rank: its present clock.
    Newest = 4,
    /// The key of a collective, and ranks: the segments in which they entered it, and the join of
    /// their clocks then.
    Gather = 5,
    /// The name of a window, and ranks: their parts.
    Parts = 6,
    /// A rank, a cell, and a clock to release to it.
    Release = 7,
    /// A rank and a cell: the clock that was released to it.
    Acquire = 8,
    /// Sender, receiver and a message: whether there was room.
    Post = 9,
    /// The memory is unreliable from now on.
    SwitchOff = 10,
    /// Which ranks of the node publish their clocks.
    Present = 11,
    /// A key and an entry: the first entry of the key, if there was another.
    Enter = 12,
    /// What the ranks of the node are doing.
    Look = 13,
    /// Asks the ranks of the node what they wait for.
    Ask = 14,
    /// A mismatch between ranks, perhaps of other nodes.
    Mismatch = 15,
    /// Asks the ranks of the node where they are: the number of the roll call.
    RollCall = 16,
}

impl Question {
    /// All questions, by number from 1.
    const ALL: [Question; 16] = [
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
        Question::RollCall,
    ];

    /// The question of this number, if there is one.
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
    /// The request was performed.
    Fine = 0,
    /// The node's memory is unreliable.
    Over = 1,
}

impl Reply {
    /// The reply of this number, if there is one.
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

/// Words that describe the state of one rank.
pub(crate) const LOOKED: usize = 9;

/// Words that follow a header at most: those of the longest message, or the clocks of a large job.
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

/// The kind of a frame, and how many words follow; `None` for more than [`MAX_WORDS`].
pub(crate) fn header(bytes: [u8; 8]) -> Option<(u32, usize)> {
    let word = u64::from_le_bytes(bytes);
    let count = (word & 0xffff_ffff) as usize;
    (count <= MAX_WORDS).then_some(((word >> 32) as u32, count))
}

/// The words in these bytes.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// A clock with two ranks' components in a word.
pub(crate) fn pack(row: &[u32]) -> impl Iterator<Item = u64> {
    row.chunks(2)
        .map(|two| u64::from(two[0]) | u64::from(two.get(1).copied().unwrap_or_default()) << 32)
}

/// Joins a packed clock; returns whether it added anything.
pub(crate) fn join(packed: &[u64], into: &mut [u32]) -> bool {
    let mut news = false;
    for (at, time) in into.iter_mut().enumerate() {
        let theirs = (packed.get(at / 2).copied().unwrap_or_default() >> (at % 2 * 32)) as u32;
        news |= theirs > *time;
        *time = theirs.max(*time);
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
        assert_eq!(Question::of(Question::RollCall.into()), Some(Question::RollCall));
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
