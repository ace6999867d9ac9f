//! Streams, and what their handles denote for a thread.

use crate::error::{Error, Result};
use crate::order::{Kind, Order, StreamId};
use rustc_hash::FxHashMap;

/// `cudaStreamLegacy` and `cudaStreamPerThread`.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

/// `cudaStreamNonBlocking`.
pub const NON_BLOCKING: u32 = 1;

/// A stream handle in a call: what 0 denotes depends on how the program was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    handle: usize,
    per_thread: bool,
}

impl Which {
    /// A handle in a call whose default stream is the legacy one.
    pub fn legacy(handle: usize) -> Which {
        Which { handle, per_thread: false }
    }

    /// A handle in a call whose default stream is the thread's (`_ptsz`, `_ptds`).
    pub fn per_thread(handle: usize) -> Which {
        Which { handle, per_thread: true }
    }

    /// Whether it denotes the legacy default stream.
    pub fn is_legacy(self) -> bool {
        self.handle == LEGACY || self.handle == 0 && !self.per_thread
    }
}

/// A stream of the program.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its handle; programs never see those of default streams.
    pub handle: usize,
    /// Its device.
    pub device: usize,
    /// How it is ordered with the legacy stream.
    pub kind: Kind,
    /// Its priority.
    pub priority: i32,
    /// Its number, `cudaStreamGetId`.
    pub number: u64,
    /// The capture that it takes part in, if any.
    pub capture: Option<Joined>,
}

/// A stream's part in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The number of the capture.
    pub capture: u64,
    /// Nodes that the next node depends on.
    pub after: Vec<usize>,
}

impl Stream {
    /// The flags it was created with.
    pub fn flags(&self) -> u32 {
        if self.kind == Kind::NonBlocking { NON_BLOCKING } else { 0 }
    }
}

/// All streams.
#[derive(Debug, Default)]
pub struct Streams {
    streams: FxHashMap<StreamId, Stream>,
    by_handle: FxHashMap<usize, StreamId>,
    legacy: Vec<StreamId>,
    /// Default streams by thread and device.
    of_threads: FxHashMap<(u64, usize), StreamId>,
    numbers: u64,
}

impl Streams {
    /// Adds the legacy default stream of the next device.
    pub(crate) fn add_legacy(&mut self, order: &mut Order, device: usize) -> StreamId {
        let id = self.add(order, LEGACY, device, Kind::Legacy, 0);
        self.legacy.push(id);
        id
    }

    /// Creates a stream.
    pub(crate) fn create(
        &mut self,
        order: &mut Order,
        handle: usize,
        device: usize,
        kind: Kind,
        priority: i32,
    ) {
        let id = self.add(order, handle, device, kind, priority);
        self.by_handle.insert(handle, id);
    }

    /// Destroys a stream; its work continues.
    pub(crate) fn destroy(
        &mut self,
        order: &mut Order,
        handle: usize,
    ) -> Result<(StreamId, Stream)> {
        let id = self.by_handle.remove(&handle).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        order.retire_stream(id);
        let stream = self.streams.remove(&id).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        Ok((id, stream))
    }

    /// Handles of the program's streams on a device.
    pub(crate) fn handles_of(&self, device: usize) -> Vec<usize> {
        let made = self.by_handle.iter().filter(|(_, id)| self.streams[id].device == device);
        made.map(|(&handle, _)| handle).collect()
    }

    /// The stream that a handle denotes for a thread with this current device.
    pub(crate) fn resolve(
        &mut self,
        order: &mut Order,
        which: Which,
        thread: u64,
        device: usize,
    ) -> Result<StreamId> {
        match which {
            Which { handle: 0, per_thread: false } | Which { handle: LEGACY, .. } => {
                self.legacy.get(device).copied().ok_or(Error::NO_DEVICE)
            }
            Which { handle: 0, per_thread: true } | Which { handle: PER_THREAD, .. } => {
                if let Some(&id) = self.of_threads.get(&(thread, device)) {
                    return Ok(id);
                }
                let id = self.add(order, PER_THREAD, device, Kind::Blocking, 0);
                self.of_threads.insert((thread, device), id);
                Ok(id)
            }
            Which { handle, .. } => {
                self.by_handle.get(&handle).copied().ok_or(Error::INVALID_RESOURCE_HANDLE)
            }
        }
    }

    /// The stream with an id, which must exist.
    pub fn get(&self, id: StreamId) -> &Stream {
        &self.streams[&id]
    }

    /// The stream with an id, mutably; an error if it was destroyed.
    pub(crate) fn get_mut(&mut self, id: StreamId) -> Result<&mut Stream> {
        self.streams.get_mut(&id).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// All streams, mutably.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (StreamId, &mut Stream)> {
        self.streams.iter_mut().map(|(&id, stream)| (id, stream))
    }

    /// All streams.
    pub fn iter(&self) -> impl Iterator<Item = (StreamId, &Stream)> {
        self.streams.iter().map(|(&id, stream)| (id, stream))
    }

    fn add(
        &mut self,
        order: &mut Order,
        handle: usize,
        device: usize,
        kind: Kind,
        priority: i32,
    ) -> StreamId {
        let id = order.add_stream(device, kind);
        self.numbers += 1;
        let number = self.numbers;
        let stream = Stream { handle, device, kind, priority, number, capture: None };
        self.streams.insert(id, stream);
        id
    }
}
