//! The rendezvous of one node: the first rank that comes to a collective leaves an entry, and later
//! ranks compare theirs with it.
//!
//! A slot holds the entry of one key. Its first word is a version, odd while a rank writes (a
//! seqlock): a reader that does not find the same even version before and after has read nothing. A
//! key belongs to a set of slots, of which it takes the one that has been written least. So an
//! entry may be gone when others of the set have come; it is never mistaken for another.
//!
//! Besides the slots and the messages that ranks have sent ([`crate::sent`]), each rank has a word
//! that shows whether it waits within a call, and there is one counter of mismatches. The launcher
//! reads both from outside, and may ask the ranks what they wait for, the edges of the wait-for
//! graph: a thread of each sleeps until then.

use crate::sent::{self, SentMessage, SentMessages};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::fence;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Words of an entry.
pub const ENTRY: usize = 15;
/// Words of a slot: the version, the key and the entry.
const SLOT: usize = 2 + ENTRY;
const SLOTS: usize = 1024;
/// Slots of a set.
const WAYS: usize = 4;
/// Attempts on a slot that another rank is writing, which takes some nanoseconds.
const TRIES: usize = 100;
/// A cache line for each rank, and one for all.
const LINE: usize = 8;
/// Words shared by all ranks: number of mismatches, how often ranks have been asked, and how many
/// of these questions were roll calls.
const MISMATCHES: usize = 0;
const ASKED: usize = 1;
const ROLL_CALLS: usize = 2;
/// Words of a rank: its moves, its process, its moves when it last answered, that answer, and the
/// latest roll call that it has answered. Moves are incremented whenever the rank starts or stops
/// waiting.
const MOVES: usize = 0;
const PROCESS: usize = 1;
const ANSWERED: usize = 2;
const ANSWER: usize = 3;
const REPLIED: usize = 4;
/// Words of a rank that observers write: the moves that they saw last, and since when, in
/// milliseconds of this machine's clock; 0 while nobody has looked.
const SEEN: usize = 5;
const SINCE: usize = 6;

/// Words of a rendezvous for so many ranks.
pub(crate) fn words(ranks: usize) -> usize {
    (SLOTS * SLOT + LINE * (ranks + 1) + sent::WORDS * ranks).next_multiple_of(512)
}

/// One rank's view of the rendezvous of its node.
#[derive(Clone, Copy)]
pub struct NodeRendezvous {
    slots: &'static [AtomicU64],
    all: &'static [AtomicU64],
    ranks: &'static [AtomicU64],
    sent: &'static [AtomicU64],
}

/// A rank's answer to the question what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// For something that other ranks' calls alone cannot end, or that is not known.
    Unsure,
    /// For other ranks' calls, while so many bytes of its operations may still be in transit.
    Others(u64),
}

impl Answer {
    const UNSURE: u64 = u64::MAX;

    /// The answer of a rank whose threads give these answers.
    pub fn and(self, other: Answer) -> Answer {
        match (self, other) {
            (Answer::Others(bytes), Answer::Others(more)) => Answer::Others(bytes.max(more)),
            _ => Answer::Unsure,
        }
    }

    pub(crate) fn to_word(self) -> u64 {
        match self {
            Answer::Unsure => Answer::UNSURE,
            Answer::Others(bytes) => bytes.min(Answer::UNSURE - 1),
        }
    }

    fn from_word(word: u64) -> Answer {
        if word == Answer::UNSURE { Answer::Unsure } else { Answer::Others(word) }
    }
}

/// The result of an attempt to leave an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The entry is the first of its key.
    First,
    /// Another entry of the key was first.
    After([u64; ENTRY]),
    /// Another rank was writing the slot all the time; it may have been interrupted.
    Busy,
}

impl NodeRendezvous {
    pub(crate) fn new(words: &'static [AtomicU64], ranks: usize) -> NodeRendezvous {
        let (slots, rest) = words.split_at(SLOTS * SLOT);
        let (lines, rest) = rest.split_at(LINE * (ranks + 1));
        let sent = &rest[..sent::WORDS * ranks];
        NodeRendezvous { slots, all: &lines[..LINE], ranks: &lines[LINE..], sent }
    }

    /// A rank has sent a message that is longer than all before from the same place.
    pub fn has_sent(&self, rank: u32, message: &SentMessage) {
        self.sent_by(rank).inspect(|sent| sent.enter(message));
    }

    /// The longest messages that a rank of this node has sent, as far as they are known.
    pub fn longest_of(&self, rank: u32) -> impl Iterator<Item = SentMessage> {
        self.sent_by(rank).into_iter().flat_map(SentMessages::all)
    }

    fn sent_by(&self, rank: u32) -> Option<SentMessages> {
        let first = rank as usize * sent::WORDS;
        self.sent.get(first..first + sent::WORDS).map(SentMessages)
    }

    /// Leaves an entry on this node, unless there is one of this key, which is not 0.
    pub fn post_here(&self, key: u64, entry: &[u64; ENTRY]) -> Posted {
        for _ in 0..TRIES {
            // If two ranks come with one key and find nothing, both choose the same slot, and one
            // gets it.
            let set = self.set(key);
            let versions = set.each_ref().map(|slot| slot[0].load(Acquire));
            let writing = versions.iter().any(|version| version & 1 != 0);
            let least = versions.into_iter().zip(set).min_by_key(|(version, _)| *version);
            if let Some(first) = self.find(key) {
                return Posted::After(first);
            }
            if let Some((version, slot)) = least.filter(|_| !writing)
                && slot[0].compare_exchange(version, version + 1, SeqCst, Relaxed).is_ok()
            {
                write(slot, version, key, entry);
                return Posted::First;
            }
            std::hint::spin_loop();
        }
        Posted::Busy
    }

    /// The first entry of a key on this node, if there is one.
    pub fn find(&self, key: u64) -> Option<[u64; ENTRY]> {
        self.set(key).into_iter().find_map(|slot| read(slot, key))
    }

    fn set(&self, key: u64) -> [&'static [AtomicU64]; WAYS] {
        let home = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % (SLOTS / WAYS);
        let first = home * WAYS * SLOT;
        std::array::from_fn(|way| &self.slots[first + way * SLOT..][..SLOT])
    }

    #[inline]
    fn of(&self, rank: usize, word: usize) -> &'static AtomicU64 {
        &self.ranks[LINE * rank + word]
    }

    fn of_each(&self, word: usize) -> impl Iterator<Item = u64> {
        self.ranks.iter().skip(word).step_by(LINE).map(|word| word.load(Acquire))
    }

    /// Enters the process of a rank.
    pub fn attend(&self, rank: usize, process: u32) {
        self.of(rank, PROCESS).store(process.into(), Release);
    }

    /// The process of a rank, or 0 if it has not attached yet.
    pub(crate) fn process_of(&self, rank: usize) -> u32 {
        self.of(rank, PROCESS).load(Acquire) as u32
    }

    /// For each rank its process, or 0 if it has not attached yet.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.of_each(PROCESS).map(|process| process as u32)
    }

    /// Copies what another node's rendezvous has of a rank: its process, moves, moves at its
    /// answer, answer, latest roll call, and for how many milliseconds it has been there.
    pub(crate) fn copy(&self, rank: usize, words: &[u64; 6]) {
        let [process, moves, answered, answer, replied, age] = words;
        self.of(rank, PROCESS).store(*process, Relaxed);
        self.of(rank, REPLIED).store(*replied, Relaxed);
        self.of(rank, SEEN).store(*moves, Relaxed);
        self.of(rank, SINCE).store(now().saturating_sub(*age).max(1), Relaxed);
        self.of(rank, ANSWER).store(*answer, Relaxed);
        self.of(rank, ANSWERED).store(*answered, Release);
        self.of(rank, MOVES).store(*moves, Release);
    }

    /// Sets the number of mismatches, as other nodes count them.
    pub(crate) fn set_mismatches(&self, count: u64) {
        self.all[MISMATCHES].store(count, Release);
    }

    /// A rank starts to wait within a call.
    #[inline]
    pub fn enter(&self, rank: usize) {
        let word = self.of(rank, MOVES);
        word.store(word.load(Relaxed) | 1, Release);
    }

    /// A rank's call has returned.
    #[inline]
    pub fn leave(&self, rank: usize) {
        let word = self.of(rank, MOVES);
        word.store((word.load(Relaxed) | 1) + 1, Release);
    }

    /// The word with the moves of a rank, for a process of several threads that maintain it
    /// together.
    pub fn word_of(&self, rank: usize) -> &'static AtomicU64 {
        self.of(rank, MOVES)
    }

    /// A number that changes whenever a rank starts or stops waiting, odd while it waits.
    pub fn moves_of(&self, rank: usize) -> u64 {
        self.of(rank, MOVES).load(Acquire)
    }

    /// The moves of each rank, odd while it waits.
    pub fn moves(&self) -> impl Iterator<Item = u64> {
        self.of_each(MOVES)
    }

    /// Counts a mismatch between ranks, which is in their logs, on this node.
    pub(crate) fn count_mismatch_here(&self) {
        self.all[MISMATCHES].fetch_add(1, Release);
    }

    /// The number of mismatches.
    pub fn mismatches(&self) -> u64 {
        self.all[MISMATCHES].load(Acquire)
    }

    /// Asks all ranks what they wait for.
    pub fn ask(&self) {
        self.question().fetch_add(1, Release);
        // SAFETY: a system call on a word that is mapped for as long as the process lives.
        unsafe { libc::syscall(libc::SYS_futex, self.question(), libc::FUTEX_WAKE, i32::MAX) };
    }

    /// How often ranks were asked.
    pub fn asked(&self) -> u32 {
        self.question().load(Acquire)
    }

    /// Sleeps until ranks are asked more often than `before`; returns how often.
    pub fn await_question(&self, before: u32) -> u32 {
        while self.asked() == before {
            let forever = std::ptr::null::<libc::timespec>();
            // SAFETY: as for `ask`; the kernel compares the word itself, so no question is missed.
            unsafe {
                let word = self.question();
                libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, before, forever)
            };
        }
        self.asked()
    }

    /// Calls the roll: asks all ranks where they are, and what their threads do. Returns the number
    /// of the roll call.
    pub fn call_roll(&self) -> u64 {
        // Counted first: who wakes up for the question finds it.
        let number = self.all[ROLL_CALLS].fetch_add(1, Release) + 1;
        self.ask();
        number
    }

    /// How often the roll was called.
    pub fn roll_calls(&self) -> u64 {
        self.all[ROLL_CALLS].load(Acquire)
    }

    /// A rank has answered a roll call.
    pub fn reply(&self, rank: usize, roll_call: u64) {
        self.of(rank, REPLIED).store(roll_call, Release);
    }

    /// The latest roll call that each rank has answered.
    pub fn replies(&self) -> impl Iterator<Item = u64> {
        self.of_each(REPLIED)
    }

    /// Notes which ranks have moved since somebody has looked last.
    pub fn observe(&self) {
        let now = now();
        for (rank, moves) in self.moves().enumerate() {
            let since = self.of(rank, SINCE);
            // Only what changes is written: the ranks use these cache lines.
            if self.of(rank, SEEN).load(Relaxed) != moves || since.load(Relaxed) == 0 {
                self.of(rank, SEEN).store(moves, Relaxed);
                since.store(now, Relaxed);
            }
        }
    }

    /// For how many milliseconds each rank has not moved, as far as somebody has looked.
    pub fn ages(&self) -> impl Iterator<Item = u64> {
        let now = now();
        self.of_each(SINCE).map(move |since| if since == 0 { 0 } else { now.saturating_sub(since) })
    }

    fn question(&self) -> &'static AtomicU32 {
        // SAFETY: an atomic of half the size at the same address; the word is never accessed as a
        // whole.
        unsafe { &*std::ptr::from_ref(&self.all[ASKED]).cast() }
    }

    /// A rank answers what it waited for when its moves were these.
    pub fn answer(&self, rank: usize, moves: u64, answer: Answer) {
        self.of(rank, ANSWER).store(answer.to_word(), Relaxed);
        self.of(rank, ANSWERED).store(moves, Release);
    }

    /// For each rank its moves at its latest answer, and the answer.
    pub fn answers(&self) -> impl Iterator<Item = (u64, Answer)> {
        let answers = self.of_each(ANSWERED).zip(self.of_each(ANSWER));
        answers.map(|(moves, answer)| (moves, Answer::from_word(answer)))
    }
}

/// Milliseconds of a clock that all processes of this machine share.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes a time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1000 + time.tv_nsec.cast_unsigned() / 1_000_000 + 1
}

/// Fills a slot whose version this rank has made odd.
fn write(slot: &[AtomicU64], version: u64, key: u64, entry: &[u64; ENTRY]) {
    fence(Release);
    slot[1].store(key, Relaxed);
    for (to, from) in slot[2..].iter().zip(entry) {
        to.store(*from, Relaxed);
    }
    slot[0].store(version + 2, Release);
    // Publish, then scan: of two ranks that each post an entry and look for the other's, at least
    // one finds it.
    fence(SeqCst);
}

fn read(slot: &[AtomicU64], key: u64) -> Option<[u64; ENTRY]> {
    let version = slot[0].load(Acquire);
    if version & 1 != 0 || slot[1].load(Relaxed) != key {
        return None;
    }
    let entry = std::array::from_fn(|index| slot[2 + index].load(Relaxed));
    fence(Acquire);
    (slot[0].load(Relaxed) == version).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    fn rendezvous(ranks: usize) -> NodeRendezvous {
        let (memory, _file, _) = Memory::create(ranks).unwrap();
        memory.node_rendezvous()
    }

    /// Keys of one set.
    fn rivals(rendezvous: &NodeRendezvous) -> impl Iterator<Item = u64> {
        let home = |key: u64| rendezvous.set(key)[0].as_ptr();
        (1..).filter(move |key| home(*key) == home(1))
    }

    #[test]
    fn the_first_entry_stays_until_its_slot_is_needed() {
        let rendezvous = rendezvous(2);
        let keys: Vec<u64> = rivals(&rendezvous).take(WAYS + 1).collect();
        assert_eq!(rendezvous.find(keys[0]), None);
        for key in &keys[..WAYS] {
            assert_eq!(rendezvous.post_here(*key, &[*key; ENTRY]), Posted::First);
            assert_eq!(rendezvous.post_here(*key, &[0; ENTRY]), Posted::After([*key; ENTRY]));
        }
        assert_eq!(rendezvous.find(keys[0]), Some([keys[0]; ENTRY]));
        assert_eq!(rendezvous.post_here(keys[WAYS], &[9; ENTRY]), Posted::First);
        assert_eq!(rendezvous.find(keys[WAYS]), Some([9; ENTRY]));
        let left = keys[..WAYS].iter().filter(|key| rendezvous.find(**key).is_some());
        assert_eq!(left.count(), WAYS - 1);
    }

    #[test]
    fn entries_are_read_whole_or_not_at_all() {
        let rendezvous = rendezvous(4);
        let same = |entry: [u64; ENTRY]| entry.iter().all(|word| *word == entry[0]);
        let keys: Vec<u64> = rivals(&rendezvous).take(WAYS + 3).collect();
        std::thread::scope(|scope| {
            for rank in 0..4_u64 {
                let keys = &keys;
                scope.spawn(move || {
                    for n in 0..20_000_u64 {
                        let key = keys[(n + rank) as usize % keys.len()];
                        match rendezvous.post_here(key, &[key << 32 | n << 2 | rank; ENTRY]) {
                            Posted::After(entry) => {
                                assert!(same(entry) && entry[0] >> 32 == key, "{entry:x?}");
                            }
                            Posted::First | Posted::Busy => {}
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn waiting_ranks_are_odd_and_moves_show() {
        let rendezvous = rendezvous(2);
        let moves = || rendezvous.moves().collect::<Vec<_>>();
        assert_eq!(moves(), [0, 0]);
        rendezvous.enter(1);
        assert_eq!(moves(), [0, 1]);
        rendezvous.leave(1);
        rendezvous.leave(0);
        assert_eq!(moves(), [2, 2]);
        rendezvous.enter(1);
        assert_eq!(moves(), [2, 3]);
        assert_eq!((rendezvous.moves_of(0), rendezvous.moves_of(1)), (2, 3));
    }

    #[test]
    fn who_is_asked_answers() {
        let rendezvous = rendezvous(3);
        let before = rendezvous.asked();
        let rank = std::thread::spawn(move || {
            rendezvous.attend(2, 77);
            rendezvous.enter(2);
            let asked = rendezvous.await_question(before);
            rendezvous.answer(2, rendezvous.moves_of(2), Answer::Others(u64::MAX));
            asked
        });
        while rendezvous.processes().nth(2) != Some(77) {
            std::thread::yield_now();
        }
        rendezvous.ask();
        assert_eq!(rank.join().unwrap(), before + 1);
        assert_eq!(rendezvous.answers().nth(2), Some((1, Answer::Others(u64::MAX - 1))));
        assert_eq!(rendezvous.roll_calls(), 0, "that was no roll call");
        rendezvous.answer(2, 1, Answer::Unsure);
        let answers: Vec<_> = rendezvous.answers().collect();
        assert_eq!(answers[2], (1, Answer::Unsure));
        assert_eq!(answers[1].0, 0, "who never answered has not moved");
    }

    #[test]
    fn a_roll_call_is_a_question_with_a_number_of_its_own() {
        let rendezvous = rendezvous(2);
        let before = rendezvous.asked();
        rendezvous.ask();
        assert_eq!(rendezvous.call_roll(), 1);
        assert_eq!((rendezvous.asked() - before, rendezvous.roll_calls()), (2, 1));
        rendezvous.reply(1, 1);
        assert_eq!(rendezvous.replies().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn who_does_not_move_ages() {
        let rendezvous = rendezvous(2);
        assert_eq!(rendezvous.ages().collect::<Vec<_>>(), [0, 0], "nobody has looked");
        rendezvous.observe();
        std::thread::sleep(std::time::Duration::from_millis(30));
        rendezvous.enter(1);
        rendezvous.observe();
        let ages: Vec<_> = rendezvous.ages().collect();
        assert!(ages[0] >= 30 && ages[1] < ages[0], "{ages:?}");
    }
}
