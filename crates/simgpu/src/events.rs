//! Events: what was in a stream when they were last recorded.

use crate::error::{Error, Result};
use crate::ipc::Slot;
use crate::order::OpId;
use crate::streams::Joined;
use rustc_hash::FxHashMap;

/// `cudaEventDisableTiming` and `cudaEventInterprocess`.
pub const DISABLE_TIMING: u32 = 2;
/// `cudaEventInterprocess`.
pub const INTERPROCESS: u32 = 4;
/// Flags that `cudaEventCreateWithFlags` knows.
pub const FLAGS: u32 = 7;

/// What an event stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// It was never recorded: waiting for it is waiting for nothing.
    #[default]
    Never,
    /// An operation, which may be complete.
    Op(OpId),
    /// A place in a capture.
    Captured(Joined),
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// The device it is of.
    pub device: usize,
    /// Flags it was made with.
    pub flags: u32,
    /// What it stands for.
    pub record: Record,
    /// When that completed, if it has, in virtual time.
    pub time: Option<u64>,
    /// Where other processes see it.
    pub slot: Option<Slot>,
}

/// All events, by their handles.
#[derive(Debug, Default)]
pub struct Events {
    events: FxHashMap<usize, Event>,
    /// Events that stand for an operation that has not completed.
    awaited: FxHashMap<OpId, usize>,
}

impl Events {
    /// A new event.
    pub(crate) fn insert(&mut self, handle: usize, event: Event) {
        self.events.insert(handle, event);
    }

    /// The program destroys an event. What waits for it goes on waiting.
    pub(crate) fn remove(&mut self, handle: usize) -> Result {
        self.events.remove(&handle).map(drop).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// Events of a device are gone.
    pub(crate) fn remove_of(&mut self, device: usize) {
        self.events.retain(|_, event| event.device != device);
    }

    /// An event.
    pub fn get(&self, handle: usize) -> Result<&Event> {
        self.events.get(&handle).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// An event is recorded.
    pub(crate) fn record(&mut self, handle: usize, record: Record) -> Result {
        if let Record::Op(op) = record {
            self.awaited.insert(op, handle);
        }
        let event = self.events.get_mut(&handle).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        event.record = record;
        event.time = None;
        Ok(())
    }

    /// An operation has completed.
    pub(crate) fn complete(&mut self, op: OpId, time: u64) {
        if let Some(handle) = self.awaited.remove(&op)
            && let Some(event) = self.events.get_mut(&handle)
            && event.record == Record::Op(op)
        {
            event.time = Some(time);
        }
    }

    /// A capture has ended: what was recorded in it can be waited for no more.
    pub(crate) fn end_capture(&mut self, capture: u64) {
        for event in self.events.values_mut() {
            if matches!(&event.record, Record::Captured(joined) if joined.capture == capture) {
                event.record = Record::Never;
            }
        }
    }
}
