//! The mapping and how it is divided.

use crate::node_rendezvous::{self, NodeRendezvous};
use crate::shm_segments;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Segments whose clocks are kept, unless the job is large.
const ROWS: usize = 1024;
/// Collectives whose entries are kept.
pub(crate) const ENTRIES: usize = 1024;
/// Windows whose parts are kept, for those who make a window together.
pub(crate) const WINDOWS: usize = 64;
/// Clocks of locks and atomics, unless the job is large; those that share a cell are taken for one.
const CELLS: usize = 256;
/// Numbers in all clocks of segments, and of locks and atomics, that a rank keeps.
const MAX_BYTES: [usize; 2] = [1 << 20, 1 << 18];
/// Words of a ring of notices.
pub(crate) const RING: usize = 1 << 19;
/// Words of payload a notice can have.
pub const LONGEST: usize = RING / 8;

/// Words at the start of a region, a cache line for each that another rank writes.
pub(crate) const NEWEST: usize = 0;
pub(crate) const ENTERED: usize = 1;
pub(crate) const PRESENT: usize = 2;
pub(crate) const PARTS: usize = 3;
/// Of rank 0, for all.
pub(crate) const STATE: usize = 4;
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

/// One rank's part.
pub(crate) struct Region {
    pub header: &'static [AtomicU64; HEADER],
    /// A stamp, then a clock, for each segment kept.
    pub rows: &'static [AtomicU32],
    /// Key and segment of each collective kept.
    pub entries: &'static [AtomicU64],
    pub cells: &'static [AtomicU32],
    /// Name, size and unit of each window kept.
    pub parts: &'static [AtomicU64],
    /// For each rank the end of the ring when a notice of it found no room.
    pub lost: &'static [AtomicU64],
    pub ring: &'static [AtomicU64; RING],
}

impl Memory {
    /// Memory for a job of this size, and the path by which other processes of the user on this
    /// node can open it as long as this one has not closed the file.
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

    /// Maps what another process has created for as many ranks.
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

    /// Whether the process of a rank is on this node, and has come.
    pub(crate) fn is_here(self, rank: usize) -> bool {
        self.node_rendezvous().process_of(rank) != 0
    }

    /// Whether a rank of this node has come, which tells others of its order.
    pub(crate) fn is_present(self, rank: usize) -> bool {
        self.words[rank * region_words(self.ranks) + PRESENT].load(Acquire) != 0
    }

    /// The board of this node, behind all regions.
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
        let ring = rest.first_chunk().expect("a region ends with its ring");
        Region { header, rows: halves(rows), entries, cells: halves(cells), parts, lost, ring }
    }
}

fn words(ranks: usize) -> usize {
    region_words(ranks) * ranks + node_rendezvous::words(ranks)
}

fn region_words(ranks: usize) -> usize {
    let words =
        HEADER + row_words(ranks) + 2 * ENTRIES + cell_words(ranks) + 3 * WINDOWS + ranks + RING;
    words.next_multiple_of(512) // pages of its own
}

/// How many clocks each rank keeps. Where more ranks make them longer, there are fewer: older ones are taken for the
/// newest, and races missed rather than memory taken.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    /// Of segments.
    pub rows: usize,
    /// Of locks and atomics.
    pub cells: usize,
}

impl Kept {
    /// In a job of this size.
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
    // SAFETY: twice as many atomics of half the size, with less alignment; nobody uses the words
    // as a whole.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), 2 * words.len()) }
}
