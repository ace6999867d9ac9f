//! What processes do with device memory that several of them use, as words that each writes in its
//! own segment, and the others read.

use super::Words;
use crate::clock::{Clock, Epoch};
use commsan_callsite::Doing;
use commsan_shadow::{Comb, Footprint, Mode, Runs};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

/// Memory that a process can share.
const MEMORIES: usize = 64;
/// Other processes that can have it open.
const OPENERS: usize = 16;
/// Words of a memory: of each who has it open the segment, and where it was opened.
const MEMORY: usize = 2 * OPENERS;
/// Uses that a process's segment has room for.
const USES: usize = 256;
/// Rows of runs of bytes that a use can have.
const ROWS: usize = 4;
/// Words of its text.
const TEXT: usize = 40;
/// Words of a use.
const USE: usize = HEAD + 4 * ROWS + TEXT;
/// Words in all: whether kernels may signal each other, the uses written so far, and these.
pub(super) const WORDS: usize = 2 + MEMORIES * MEMORY + USES * USE;
/// Looks at a use that is being written.
const TRIES: usize = 100;

/// The first words of a use: a version, odd while it is written; the segment up to which its host
/// has waited for it, 0 before that; the memory's segment of shared memory; its number, how many
/// rows, whether it writes; the work; the place; and the length of the text, with a line of device
/// code. The rows and the text follow.
const HEAD: usize = 7;
const VERSION: usize = 0;
const DONE: usize = 1;

/// Device memory of some process that others may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMemory {
    /// The process's segment of shared memory.
    pub segment: u64,
    /// Which of its memories.
    pub number: u64,
}

/// A place in a rank's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub rank: u32,
    pub site: u32,
}

impl Spot {
    fn to_bits(self) -> u64 {
        u64::from(self.rank) << 32 | u64::from(self.site)
    }

    fn from_bits(bits: u64) -> Spot {
        Spot { rank: (bits >> 32) as u32, site: bits as u32 }
    }
}

/// What a process does with bytes of such memory.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub memory: SharedMemory,
    pub mode: Mode,
    /// Bytes, counted from where the memory begins.
    pub runs: Runs,
    /// The work of a stream; `None` for a call that the host makes.
    pub epoch: Option<Epoch>,
    pub spot: Spot,
    /// The call.
    pub call: Arc<str>,
    /// What a stream does.
    pub doing: Option<Doing>,
}

impl Use {
    /// The bytes of an access to memory that begins at an address, unless they are too scattered.
    pub fn runs_of(footprint: &Footprint, start: usize) -> Option<Runs> {
        match footprint {
            Footprint::Dense(bytes) => Some(Runs(SmallVec::from_buf([Comb {
                start: bytes.start as i64 - start as i64,
                size: bytes.len() as u64,
                stride: 0,
                count: 1,
            }]))),
            Footprint::Sparse(at) => {
                let (base, pattern) = &**at;
                Runs::at_most(ROWS, pattern, *base as i64 - start as i64)
            }
        }
    }

    /// The bytes where the memory begins at an address.
    pub fn footprint(&self, start: usize) -> Footprint {
        Footprint::new(start, self.runs.pattern())
    }

    /// Whether whoever comes after another use of the process comes after this one, and both are of
    /// the same bytes.
    fn is_replaced_by(&self, other: &Use) -> bool {
        let slot = |it: &Use| it.epoch.map(|epoch| epoch.agent);
        slot(self) == slot(other)
            && (self.memory, self.mode, self.spot) == (other.memory, other.mode, other.spot)
            && self.runs == other.runs
    }

    fn text(&self) -> String {
        let none: Arc<str> = "".into();
        let doing = self.doing.as_ref();
        let file = doing.and_then(|doing| doing.file.as_ref());
        let kernel = doing.and_then(|doing| doing.kernel.as_ref());
        let parts = [Some(&self.call), doing.map(|doing| &doing.stream), file, kernel];
        let parts = parts.map(|part| &**part.unwrap_or(&none));
        // What does not fit is the end of the kernel's name.
        let mut text = parts.join("\0");
        let fits = (0..=8 * TEXT).rev().find(|length| text.is_char_boundary(*length));
        text.truncate(fits.unwrap_or(0));
        text
    }

    fn write(&self, to: Words) {
        let doing = self.doing.as_ref();
        let line = doing.and_then(|doing| doing.line).unwrap_or(0);
        let text = self.text();
        let epoch =
            self.epoch.map_or(u64::MAX, |at| u64::from(at.agent) << 32 | u64::from(at.time));
        let rows = self.runs.0.len() as u64;
        let head = [
            self.memory.segment,
            self.memory.number << 32 | rows << 8 | u64::from(self.mode == Mode::Write),
            epoch,
            self.spot.to_bits(),
            (text.len() as u64) << 32 | u64::from(line),
        ];
        let rows = self.runs.0.iter();
        let rows = rows.flat_map(|row| [row.start as u64, row.size, row.stride as u64, row.count]);
        let empty = std::iter::repeat_n(0, 4 * (ROWS - self.runs.0.len()));
        let text = text.as_bytes().chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let words = head.into_iter().chain(rows).chain(empty).chain(text);
        to[DONE + 1..].iter().zip(words).for_each(|(to, word)| to.store(word, Relaxed));
    }

    /// What was written, by whatever process: nothing if that makes no sense.
    fn read(words: &[u64]) -> Option<Use> {
        let [_, _, segment, what, epoch, spot, text, rest @ ..] = words else { return None };
        let (rows, texts) = rest.split_at_checked(4 * ROWS)?;
        let row = |row: &[u64]| Comb {
            start: row[0] as i64,
            size: row[1],
            stride: row[2] as i64,
            count: row[3],
        };
        let count = (what >> 8 & 0xff) as usize;
        let runs = Runs(rows.chunks_exact(4).take(count).map(row).collect());
        let (length, line) = ((text >> 32) as usize, *text as u32);
        let bytes: Vec<u8> = texts.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text = str::from_utf8(bytes.get(..length)?).ok()?;
        let mut parts = text.splitn(4, '\0');
        let mut part = || parts.next().filter(|part| !part.is_empty()).map(Arc::<str>::from);
        let (call, stream, file, kernel) = (part()?, part(), part(), part());
        let line = file.is_some().then_some(line);
        let doing = |stream| Doing { kernel, stream, file, line };
        Some(Use {
            memory: SharedMemory { segment: *segment, number: what >> 32 },
            mode: mode_of(*what),
            runs,
            epoch: epoch_of(*epoch),
            spot: Spot::from_bits(*spot),
            call,
            doing: stream.map(doing),
        })
    }
}

/// The part of a segment that is about this.
#[derive(Clone, Copy)]
pub(super) struct Ledger(pub Words);

impl Ledger {
    fn memory(self, number: u64) -> Option<Words> {
        let number = usize::try_from(number).ok().filter(|number| *number < MEMORIES)?;
        Some(&self.0[2 + number * MEMORY..][..MEMORY])
    }

    fn used(self, number: usize) -> Words {
        &self.0[2 + MEMORIES * MEMORY + number * USE..][..USE]
    }

    /// Whether there is room for one more memory after so many.
    pub fn has_room(memories: u64) -> bool {
        memories < MEMORIES as u64
    }

    /// Kernels of this process, or what they use, may signal those of others.
    pub fn signal(self) {
        self.0[0].store(1, Relaxed);
    }

    /// Whether they may.
    pub fn signals(self) -> bool {
        self.0[0].load(Relaxed) != 0
    }

    /// A process with this segment has opened the memory, at a place; it takes its own former
    /// entry.
    pub fn open(self, number: u64, segment: u64, at: Spot) {
        let openers = self.memory(number).into_iter().flat_map(|memory| memory.chunks_exact(2));
        for opener in openers {
            let is_closed = opener[0].load(Relaxed) == segment && opener[1].load(Relaxed) == 0;
            if is_closed || opener[0].compare_exchange(0, segment, SeqCst, Relaxed).is_ok() {
                return opener[1].store(at.to_bits() + 1, Release);
            }
        }
    }

    /// It has closed it. Others still look at what it has done with it.
    pub fn close(self, number: u64, segment: u64) {
        let mut openers = self.memory(number).into_iter().flat_map(|memory| memory.chunks_exact(2));
        let is_open = |opener: &&[AtomicU64]| {
            opener[0].load(Relaxed) == segment && opener[1].load(Relaxed) != 0
        };
        if let Some(opener) = openers.find(is_open) {
            opener[1].store(0, Release);
        }
    }

    /// The segments of those who have opened a memory, and where each that has it open has done so.
    pub fn openers(self, number: u64) -> impl Iterator<Item = (u64, Option<Spot>)> {
        let openers = self.memory(number).into_iter().flat_map(|memory| memory.chunks_exact(2));
        openers.filter_map(|opener| {
            let segment = opener[0].load(Acquire);
            let at = opener[1].load(Acquire).checked_sub(1).map(Spot::from_bits);
            (segment != 0).then_some((segment, at))
        })
    }

    /// Calls `f` with what the process does with a memory, as far as that `concerns` who asks, and
    /// up to which of its segments its host has waited for it.
    pub fn read(
        self,
        memory: SharedMemory,
        concerns: impl Fn(&Glimpse) -> bool,
        mut f: impl FnMut(Use, u32),
    ) {
        let uses = self.0[1].load(Acquire).min(USES as u64) as usize;
        for number in 0..uses {
            let words = self.used(number);
            let is_wanted =
                |words: &[u64]| Glimpse::of(memory, words).is_some_and(|g| concerns(&g));
            let first: [u64; HEAD] = std::array::from_fn(|at| words[at].load(Acquire));
            if !is_wanted(&first) {
                continue;
            }
            let all = (0..TRIES).find_map(|_| read(words)).filter(|all| is_wanted(all));
            if let Some(all) = all
                && let Some(used) = Use::read(&all)
            {
                f(used, all[DONE] as u32);
            }
        }
    }
}

/// What decides whether a use is of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glimpse {
    pub mode: Mode,
    pub epoch: Option<Epoch>,
    pub spot: Spot,
    /// Up to which of its segments the host has waited for it; 0 before that.
    pub done: u32,
}

impl Glimpse {
    /// Of a use of this memory.
    fn of(memory: SharedMemory, words: &[u64]) -> Option<Glimpse> {
        let [_, done, segment, what, epoch, spot, ..] = *words else { return None };
        let is_it = (segment, what >> 32) == (memory.segment, memory.number);
        is_it.then(|| Glimpse {
            mode: mode_of(what),
            epoch: epoch_of(epoch),
            spot: Spot::from_bits(spot),
            done: done as u32,
        })
    }
}

fn mode_of(what: u64) -> Mode {
    if what & 1 == 1 { Mode::Write } else { Mode::Read }
}

fn epoch_of(word: u64) -> Option<Epoch> {
    (word != u64::MAX).then_some(Epoch { agent: (word >> 32) as u32, time: word as u32 })
}

/// Reads a use, unless it is being written.
fn read(words: Words) -> Option<[u64; USE]> {
    let version = words[VERSION].load(Acquire);
    let all = std::array::from_fn(|at| words[at].load(Relaxed));
    fence(Acquire);
    (version & 1 == 0 && words[VERSION].load(Relaxed) == version).then_some(all)
}

/// The uses in one's own ledger.
#[derive(Default)]
pub(super) struct Uses {
    all: Vec<(Use, bool)>,
    next: usize,
}

impl Uses {
    /// This process does something; its host has waited for it in a segment, unless that is 0. The
    /// others see it from now on.
    pub fn add(&mut self, used: Use, done: u32, ledger: Ledger) {
        let is_over = done != 0;
        let same = self.all.iter().position(|(known, _)| known.is_replaced_by(&used));
        let number = same.unwrap_or_else(|| self.free());
        let words = ledger.used(number);
        let version = words[VERSION].load(Relaxed);
        words[VERSION].store(version + 1, Relaxed);
        fence(Release);
        used.write(words);
        words[DONE].store(done.into(), Relaxed);
        words[VERSION].store(version + 2, Release);
        match self.all.get_mut(number) {
            Some(known) => *known = (used, is_over),
            None => self.all.push((used, is_over)),
        }
        ledger.0[1].store(self.all.len() as u64, Release);
        // Of two processes that do something at once, one at least sees what the other does.
        fence(SeqCst);
    }

    /// A place for one more, of something that is over if there is no room.
    fn free(&mut self) -> usize {
        if self.all.len() < USES {
            return self.all.len();
        }
        let numbers = (0..USES).map(|at| (self.next + at) % USES);
        let over = numbers.clone().find(|number| self.all[*number].1);
        let number = over.unwrap_or(self.next);
        self.next = (number + 1) % USES;
        number
    }

    /// The host has waited for work, in a segment of its time.
    pub fn complete(&mut self, known: &Clock, segment: u32, ledger: Ledger) {
        for (number, (used, is_over)) in self.all.iter_mut().enumerate() {
            if !*is_over && used.epoch.is_some_and(|epoch| epoch.happens_before(known)) {
                *is_over = true;
                ledger.used(number)[DONE].store(segment.into(), Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MEMORY_3: SharedMemory = SharedMemory { segment: 7, number: 3 };

    fn empty() -> Ledger {
        Ledger(Vec::leak((0..WORDS).map(|_| AtomicU64::new(0)).collect()))
    }

    fn used(site: u32, slot: u32, number: u32, kernel: &str) -> Use {
        let footprint = Footprint::Dense(1000 + site as usize..1008 + site as usize);
        Use {
            memory: MEMORY_3,
            mode: Mode::Write,
            runs: Use::runs_of(&footprint, 1000).unwrap(),
            epoch: Some(Epoch { agent: slot, time: number }),
            spot: Spot { rank: 2, site },
            call: "cudaLaunchKernel".into(),
            doing: Some(Doing {
                kernel: Some(kernel.into()),
                stream: "stream 1 of device 0".into(),
                file: Some("/src/a.cu".into()),
                line: Some(12),
            }),
        }
    }

    fn all(ledger: Ledger) -> Vec<(u32, u32, u32)> {
        let mut all = Vec::new();
        let number = |used: &Use| used.epoch.map_or(0, |epoch| epoch.time);
        ledger.read(
            MEMORY_3,
            |_| true,
            |used, done| all.push((used.spot.site, number(&used), done)),
        );
        all
    }

    #[test]
    fn the_latest_of_each_place_is_read_and_what_is_over_makes_room() {
        let (ledger, mut uses) = (empty(), Uses::default());
        uses.add(used(1, 4, 1, "a"), 0, ledger);
        uses.add(used(2, 4, 2, "a"), 0, ledger);
        uses.add(used(1, 4, 3, "a"), 0, ledger);
        uses.add(used(1, 5, 1, "a"), 0, ledger);
        let mut known = Clock::default();
        known.acquire(Epoch { agent: 4, time: 2 });
        uses.complete(&known, 9, ledger);
        assert_eq!(all(ledger), [(1, 3, 0), (2, 2, 9), (1, 1, 0)]);
        (0..USES as u32).for_each(|site| uses.add(used(10 + site, 4, 10, "a"), 0, ledger));
        let now = all(ledger);
        assert_eq!(now.len(), USES);
        assert!(!now.contains(&(2, 2, 9)) && now.contains(&(10 + USES as u32 - 1, 10, 0)));
    }

    #[test]
    fn who_has_memory_open_is_known_until_it_is_closed() {
        let ledger = empty();
        let spot = |site| Spot { rank: 1, site };
        (0..OPENERS as u64 + 3)
            .for_each(|segment| ledger.open(5, 100 + segment, spot(segment as u32)));
        assert_eq!(ledger.openers(5).count(), OPENERS);
        ledger.close(5, 101);
        assert_eq!(ledger.openers(5).nth(1), Some((101, None)));
        ledger.open(5, 101, spot(7));
        assert_eq!(ledger.openers(5).nth(1), Some((101, Some(spot(7)))));
        assert_eq!(ledger.openers(5).count(), OPENERS);
        assert_eq!(ledger.openers(4).count() + ledger.openers(1 << 40).count(), 0);
    }

    proptest! {
        /// Whatever there is to read, what was written comes back, but for the end of a long name.
        #[test]
        fn a_use_comes_back(
            kernel in "\\PC{0,300}",
            (size, stride, count) in (1isize..9, 9isize..99, 1usize..9),
            from_stream in any::<bool>(),
        ) {
            let (ledger, mut uses) = (empty(), Uses::default());
            let pattern = commsan_shadow::Pattern::dense(3, 3 + size).repeat(count, stride);
            let footprint = Footprint::new(5000, pattern);
            let mut sent = Use {
                runs: Use::runs_of(&footprint, 4000).unwrap(),
                ..used(1, 2, 3, &kernel)
            };
            if !from_stream {
                (sent.epoch, sent.doing) = (None, None);
            }
            uses.add(sent.clone(), 4, ledger);
            let mut got = Vec::new();
            ledger.read(MEMORY_3, |_| true, |used, done| got.push((used, done)));
            let [(got, 4)] = &got[..] else { panic!("{got:?}") };
            prop_assert_eq!((got.memory, got.mode, got.epoch), (sent.memory, sent.mode, sent.epoch));
            prop_assert_eq!(got.footprint(4000).span(), footprint.span());
            prop_assert_eq!((&got.runs, &got.call, got.spot), (&sent.runs, &sent.call, sent.spot));
            let kernel_of = |used: &Use| used.doing.clone().and_then(|doing| doing.kernel);
            match kernel_of(got) {
                Some(got) => prop_assert!(kernel.starts_with(&*got) && (got.len() > 200 || *got == *kernel)),
                None => prop_assert!(!from_stream || kernel.is_empty()),
            }
        }

        #[test]
        fn any_words_can_be_read(words in prop::collection::vec(any::<u64>(), USE)) {
            Use::read(&words);
        }
    }
}
