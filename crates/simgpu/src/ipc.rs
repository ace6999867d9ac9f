//! CUDA IPC: device memory and events that processes of a node share.
//!
//! A handle names the file descriptor of the owner's memory in `/proc`, so that no server is
//! needed; as in CUDA, it is valid as long as the owner lives.

use crate::mapping::{Mapping, PAGE};
use crate::memory::Shared;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size of a handle of either kind in bytes, `CUDA_IPC_HANDLE_SIZE`.
pub const HANDLE: usize = 64;

/// Number of events of a process that others may open at a time.
const SLOTS: usize = PAGE / 16;

/// The first word of handles of memory and of events.
const MEMORY: u64 = 0x636f_6d6d_6d65_6d31;
const EVENT: u64 = 0x636f_6d6d_6576_7431;

/// Memory of another process, as its handle describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryHandle {
    /// The owning process.
    pub process: u32,
    /// The location of the memory in that process.
    pub shared: Shared,
}

impl MemoryHandle {
    /// Encodes the handle.
    pub fn to_bytes(self) -> [u8; HANDLE] {
        let shared = self.shared;
        words([
            MEMORY,
            u64::from(self.process) | (shared.device as u64) << 32,
            shared.file as u64,
            shared.offset as u64,
            shared.size as u64,
        ])
    }

    /// Decodes a memory handle; `None` if the bytes are no such handle.
    pub fn from_bytes(bytes: &[u8; HANDLE]) -> Option<MemoryHandle> {
        let [MEMORY, process, file, offset, size] = unwords(bytes) else { return None };
        let shared = Shared {
            file: file as i32,
            offset: usize::try_from(offset).ok()?,
            size: size as usize,
            device: (process >> 32) as usize,
        };
        Some(MemoryHandle { process: process as u32, shared })
    }

    /// Maps the pages that hold the memory; also returns its offset in the mapping.
    pub fn map(self) -> io::Result<(Mapping, usize)> {
        let skip = self.shared.offset % PAGE;
        let size = (skip + self.shared.size).next_multiple_of(PAGE);
        let offset = self.shared.offset - skip;
        Ok((Mapping::open(self.process, self.shared.file, offset, size)?, skip))
    }
}

/// The events of one process that others may open: for each, how often it was recorded, and which
/// of the records has completed.
#[derive(Debug)]
pub struct SharedEvents {
    memory: Mapping,
    process: u32,
    file: i32,
}

/// One of these events.
#[derive(Clone, Debug)]
pub struct Slot {
    board: Arc<SharedEvents>,
    index: usize,
}

/// One record of such an event.
#[derive(Clone, Debug)]
pub struct Mark {
    slot: Slot,
    number: u64,
}

impl SharedEvents {
    /// Creates the page of this process.
    pub fn create() -> io::Result<SharedEvents> {
        let memory = Mapping::shareable(PAGE)?;
        // A shareable mapping has a file.
        let file = memory.file().unwrap_or(-1);
        Ok(SharedEvents { memory, process: std::process::id(), file })
    }

    fn open(process: u32, file: i32) -> io::Result<SharedEvents> {
        Ok(SharedEvents { memory: Mapping::open(process, file, 0, PAGE)?, process, file })
    }

    fn cell(&self, index: usize) -> &AtomicU64 {
        let address = self.memory.range().start + 8 * index;
        // SAFETY: within the page, which is aligned, was zero at first, and is mapped as long as
        // `self`; all processes access it by atomics only.
        unsafe { &*(address as *const AtomicU64) }
    }
}

impl Slot {
    /// An event of a page. There are [`SLOTS`]; further events share slots, which only makes a wait
    /// for one wait for another.
    pub fn new(board: &Arc<SharedEvents>, number: usize) -> Slot {
        Slot { board: Arc::clone(board), index: number % SLOTS }
    }

    /// Encodes a handle of the event.
    pub fn to_bytes(&self) -> [u8; HANDLE] {
        let board = &self.board;
        words([EVENT, u64::from(board.process), board.file as u64, self.index as u64, 0])
    }

    /// Opens the event of a handle; `None` if the bytes are no such handle.
    pub fn from_bytes(bytes: &[u8; HANDLE]) -> Option<io::Result<Slot>> {
        let [EVENT, process, file, index, 0] = unwords(bytes) else { return None };
        let index = usize::try_from(index).ok().filter(|&index| index < SLOTS)?;
        let board = SharedEvents::open(u32::try_from(process).ok()?, file as i32);
        Some(board.map(|board| Slot { board: Arc::new(board), index }))
    }

    /// Records the event once more.
    pub fn record(&self) -> Mark {
        let number = self.recorded().fetch_add(1, Ordering::AcqRel) + 1;
        Mark { slot: self.clone(), number }
    }

    /// The event's last record.
    pub fn last(&self) -> Mark {
        Mark { slot: self.clone(), number: self.recorded().load(Ordering::Acquire) }
    }

    fn recorded(&self) -> &AtomicU64 {
        self.board.cell(2 * self.index)
    }

    fn happened(&self) -> &AtomicU64 {
        self.board.cell(2 * self.index + 1)
    }
}

impl Mark {
    /// Marks the record as completed.
    pub fn signal(&self) {
        self.slot.happened().fetch_max(self.number, Ordering::AcqRel);
    }

    /// Whether the record has completed.
    pub fn is_reached(&self) -> bool {
        self.slot.happened().load(Ordering::Acquire) >= self.number
    }
}

fn words(words: [u64; 5]) -> [u8; HANDLE] {
    let mut bytes = [0; HANDLE];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn unwords(bytes: &[u8; HANDLE]) -> [u64; 5] {
    std::array::from_fn(|at| {
        let word: [u8; 8] = std::array::from_fn(|byte| bytes[8 * at + byte]);
        u64::from_le_bytes(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_come_back_as_they_went() {
        let shared = Shared { file: 3, offset: 0x1_2345_6700, size: 99, device: 2 };
        let handle = MemoryHandle { process: 17, shared };
        assert_eq!(MemoryHandle::from_bytes(&handle.to_bytes()), Some(handle));
        assert_eq!(MemoryHandle::from_bytes(&[0; HANDLE]), None);
        assert!(Slot::from_bytes(&handle.to_bytes()).is_none());
    }

    #[test]
    fn an_event_is_seen_by_who_opens_it() {
        let board = Arc::new(SharedEvents::create().expect("a page"));
        let slot = Slot::new(&board, 5);
        let opened = Slot::from_bytes(&slot.to_bytes()).expect("a handle").expect("our own");
        assert!(opened.last().is_reached(), "never recorded");
        let mark = slot.record();
        assert!(!opened.last().is_reached());
        mark.signal();
        assert!(opened.last().is_reached());
    }
}
