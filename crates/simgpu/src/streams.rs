//! Streams, and what their handles mean to a thread.

use crate::error::{Error, Result};
use crate::order::{Kind, Order, StreamId};
use rustc_hash::FxHashMap;

/// `cudaStreamLegacy` and `cudaStreamPerThread`.
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;

/// `cudaStreamNonBlocking`.
pub const NON_BLOCKING: u32 = 1;

/// A handle as a call has it: what 0 means depends on how the program was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    handle: usize,
    per_thread: bool,
}

impl Which {
    /// In a call whose default stream is the legacy one.
    pub fn legacy(handle: usize) -> Which {
        Which { handle, per_thread: false }
    }

    /// In a call whose default stream is the thread's (`_ptsz`, `_ptds`).
    pub fn per_thread(handle: usize) -> Which {
        Which { handle, per_thread: true }
    }

    /// Whether it is the legacy default stream.
    pub fn is_legacy(self) -> bool {
        self.handle == LEGACY || self.handle == 0 && !self.per_thread
    }
}

/// A stream as the program made it.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its handle; those of default streams are not handles that programs have.
    pub handle: usize,
    /// The device it is of.
    pub device: usize,
    /// How it is ordered with the legacy stream.
    pub kind: Kind,
    /// Its priority.
    pub priority: i32,
    /// Its number, `cudaStreamGetId`.
    pub number: u64,
    /// The capture it takes part in, if any.
    pub capture: Option<Joined>,
}

/// How a stream takes part in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The capture's number.
    pub capture: u64,
    /// Nodes that what comes next depends on.
    pub after: Vec<usize>,
}

impl Stream {
    /// The flags it was made with.
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
    /// The legacy default stream of the next device.
    pub(crate) fn add_legacy(&mut self, order: &mut Order, device: usize) -> StreamId {
        let id = self.add(order, LEGACY, device, Kind::Legacy, 0);
        self.legacy.push(id);
        id
    }

    /// A stream that the program makes.
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

    /// The program destroys a stream; its work goes on.
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

    /// Handles of the streams that the program made on a device.
    pub(crate) fn handles_of(&self, device: usize) -> Vec<usize> {
        let made = self.by_handle.iter().filter(|(_, id)| self.streams[id].device == device);
        made.map(|(&handle, _)| handle).collect()
    }

    /// The stream that a handle means to a thread with this current device.
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

    /// A stream that is there.
    pub fn get(&self, id: StreamId) -> &Stream {
        &self.streams[&id]
    }

    /// A stream that is there.
    pub(crate) fn get_mut(&mut self, id: StreamId) -> Result<&mut Stream> {
        self.streams.get_mut(&id).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// All streams.
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
