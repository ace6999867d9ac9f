//! The layout of the shared mapping.

use crate::node_rendezvous::{self, NodeRendezvous};
use crate::shm_segments;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Clocks of segments that are kept, unless the job is large.
const ROWS: usize = 1024;
/// Collectives that are kept.
pub(crate) const ENTRIES: usize = 1024;
/// Windows whose parts are kept, for ranks that create a window together.
pub(crate) const WINDOWS: usize = 64;
/// Cells of locks and atomics, unless the job is large; keys that share a cell count as one.
const CELLS: usize = 256;
/// Words of what is kept of threads' clocks. A process with one thread touches none of them.
pub(crate) const THREADS: usize = 1 << 16;
/// Components of clocks of segments, and of cells, that a rank keeps at most.
const MAX_BYTES: [usize; 2] = [1 << 20, 1 << 18];
/// Words of a message ring.
pub(crate) const RING: usize = 1 << 19;
/// Words of payload that a message has at most.
pub const LONGEST: usize = RING / 8;

/// Words at the start of a region, a cache line for each that another rank writes.
pub(crate) const NEWEST: usize = 0;
pub(crate) const ENTERED: usize = 1;
pub(crate) const PRESENT: usize = 2;
pub(crate) const PARTS: usize = 3;
/// In the region of rank 0, for all ranks.
pub(crate) const STATE: usize = 4;
/// In the region of rank 0: whether some rank has published clocks of threads.
pub(crate) const HAS_THREADS: usize = 5;
pub(crate) const THREADS_END: usize = 6;
pub(crate) const HEAD: usize = 8;
pub(crate) const TAIL: usize = 16;
pub(crate) const LOSSES: usize = 17;
const HEADER: usize = 24;

/// Memory of all ranks of a node, mapped for as long as the process lives.
#[derive(Clone, Copy)]
pub struct Memory {
    words: &'static [AtomicU64],
    ranks: usize,
}

/// One rank's region.
pub(crate) struct Region {
    pub header: &'static [AtomicU64; HEADER],
    /// For each kept segment a stamp, then a clock.
    pub rows: &'static [AtomicU32],
    /// For each kept collective its key and segment.
    pub entries: &'static [AtomicU64],
    pub cells: &'static [AtomicU32],
    /// For each kept window its name, size and unit.
    pub parts: &'static [AtomicU64],
    /// For each rank the end of the ring when a message of it found no room.
    pub lost: &'static [AtomicU64],
    pub ring: &'static [AtomicU64; RING],
    /// For each kept segment, where its threads' clocks begin; then these, in a ring.
    pub threads_at: &'static [AtomicU64],
    pub threads: &'static [AtomicU64; THREADS],
}

impl Memory {
    /// Creates memory for a job of this size. Other processes of the user on this node can open it
    /// by the returned path as long as this one has not closed the file.
    pub fn create(ranks: usize) -> io::Result<(Memory, OwnedFd, String)> {
        // SAFETY: a system call; the name only shows in /proc.
        let raw = unsafe { libc::memfd_create(c"commsan".as_ptr(), libc::MFD_CLOEXEC) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        let file = File::from(fd);
        file.set_len(8 * words(ranks) as u64)?;
        let memory = Memory::map(&file, ranks)?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok((memory, file.into(), path))
    }

    /// Maps memory that another process has created for as many ranks.
    pub fn open(path: &str, ranks: usize) -> io::Result<Memory> {
        let file = shm_segments::open(path)?;
        if file.metadata()?.len() != 8 * words(ranks) as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "another job's memory"));
        }
        Memory::map(&file, ranks)
    }

    fn map(file: &File, ranks: usize) -> io::Result<Memory> {
        Ok(Memory { words: shm_segments::map(file, words(ranks))?, ranks })
    }

    pub(crate) fn ranks(self) -> usize {
        self.ranks
    }

    /// Whether the process of a rank is on this node, and attached.
    pub(crate) fn is_here(self, rank: usize) -> bool {
        self.node_rendezvous().process_of(rank) != 0
    }

    /// Whether a rank is on this node, and publishes its clocks.
    pub(crate) fn is_present(self, rank: usize) -> bool {
        self.words[rank * region_words(self.ranks) + PRESENT].load(Acquire) != 0
    }

    /// The rendezvous of this node, behind all regions.
    pub(crate) fn node_rendezvous(self) -> NodeRendezvous {
        NodeRendezvous::new(&self.words[region_words(self.ranks) * self.ranks..], self.ranks)
    }

    pub(crate) fn region(self, rank: usize) -> Region {
        let size = region_words(self.ranks);
        let (header, rest) = self.words[rank * size..][..size]
            .split_first_chunk()
            .expect("a region is longer than its header");
        let (rows, rest) = rest.split_at(row_words(self.ranks));
        let (entries, rest) = rest.split_at(2 * ENTRIES);
        let (cells, rest) = rest.split_at(cell_words(self.ranks));
        let (parts, rest) = rest.split_at(3 * WINDOWS);
        let (lost, rest) = rest.split_at(self.ranks);
        let (ring, rest) = rest.split_first_chunk().expect("a region has its ring");
        let (threads_at, rest) = rest.split_at(Kept::of(self.ranks).rows);
        let threads = rest.first_chunk().expect("a region ends with clocks of threads");
        let (rows, cells) = (halves(rows), halves(cells));
        Region { header, rows, entries, cells, parts, lost, ring, threads_at, threads }
    }
}

fn words(ranks: usize) -> usize {
    region_words(ranks) * ranks + node_rendezvous::words(ranks)
}

fn region_words(ranks: usize) -> usize {
    let clocks = row_words(ranks) + 2 * ENTRIES + cell_words(ranks);
    let words = HEADER + clocks + 3 * WINDOWS + ranks + RING + Kept::of(ranks).rows + THREADS;
    words.next_multiple_of(512) // pages of its own
}

/// How many clocks each rank keeps. In large jobs clocks are longer, so that fewer are kept: the
/// newest stands for older ones, which may miss races and bounds memory.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    /// Clocks of segments.
    pub rows: usize,
    /// Cells of locks and atomics.
    pub cells: usize,
}

impl Kept {
    /// The numbers for a job of this size.
    pub fn of(ranks: usize) -> Kept {
        let [rows, cells] = MAX_BYTES.map(|room| (room / ranks) & !1);
        Kept { rows: rows.clamp(64, ROWS), cells: cells.clamp(16, CELLS) }
    }
}

fn row_words(ranks: usize) -> usize {
    Kept::of(ranks).rows * (1 + ranks) / 2
}

fn cell_words(ranks: usize) -> usize {
    Kept::of(ranks).cells * ranks / 2
}

fn halves(words: &'static [AtomicU64]) -> &'static [AtomicU32] {
    // SAFETY: twice as many atomics of half the size, with less alignment; the words are never
    // accessed as a whole.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 2 * words.len()) }
}
