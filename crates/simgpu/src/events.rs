//! Events: snapshots of a stream's work at their last record.

use crate::error::{Error, Result};
use crate::ipc::Slot;
use crate::order::OpId;
use crate::streams::Joined;
use rustc_hash::FxHashMap;

/// `cudaEventDisableTiming`.
pub const DISABLE_TIMING: u32 = 2;
/// `cudaEventInterprocess`.
pub const INTERPROCESS: u32 = 4;
/// The valid flags of `cudaEventCreateWithFlags`.
pub const FLAGS: u32 = 7;

/// What an event was last recorded as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// Never recorded: a wait for it returns at once.
    #[default]
    Never,
    /// An operation, which may be complete.
    Op(OpId),
    /// A point in a capture.
    Captured(Joined),
}

/// The state of an event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its device.
    pub device: usize,
    /// The flags it was created with.
    pub flags: u32,
    /// Its last record.
    pub record: Record,
    /// Virtual time at which that completed; `None` if it has not.
    pub time: Option<u64>,
    /// The slot through which other processes see it.
    pub slot: Option<Slot>,
}

/// All events, by handle.
#[derive(Debug, Default)]
pub struct Events {
    events: FxHashMap<usize, Event>,
    /// Events whose recorded operation has not completed.
    awaited: FxHashMap<OpId, usize>,
}

impl Events {
    /// Adds an event.
    pub(crate) fn insert(&mut self, handle: usize, event: Event) {
        self.events.insert(handle, event);
    }

    /// Destroys an event. Waits for it stay in force.
    pub(crate) fn remove(&mut self, handle: usize) -> Result {
        self.events.remove(&handle).map(drop).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// Destroys the events of a device.
    pub(crate) fn remove_of(&mut self, device: usize) {
        self.events.retain(|_, event| event.device != device);
    }

    /// The event of a handle.
    pub fn get(&self, handle: usize) -> Result<&Event> {
        self.events.get(&handle).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// Records an event.
    pub(crate) fn record(&mut self, handle: usize, record: Record) -> Result {
        if let Record::Op(op) = record {
            self.awaited.insert(op, handle);
        }
        let event = self.events.get_mut(&handle).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        event.record = record;
        event.time = None;
        Ok(())
    }

    /// Notes that an operation has completed.
    pub(crate) fn complete(&mut self, op: OpId, time: u64) {
        if let Some(handle) = self.awaited.remove(&op)
            && let Some(event) = self.events.get_mut(&handle)
            && event.record == Record::Op(op)
        {
            event.time = Some(time);
        }
    }

    /// Ends a capture: a wait for an event recorded in it is an error from now on.
    pub(crate) fn end_capture(&mut self, capture: u64) {
        for event in self.events.values_mut() {
            if matches!(&event.record, Record::Captured(joined) if joined.capture == capture) {
                event.record = Record::Never;
            }
        }
    }
}
