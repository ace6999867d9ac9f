//! Event management.

use crate::api::entry::Out;
use crate::error::{Error, Result};
use crate::events::{DISABLE_TIMING, Event, FLAGS, INTERPROCESS, Record};
use crate::runtime::Session;
use std::ffi::c_uint;

/// `cudaEventRecordExternal`.
const RECORD_EXTERNAL: c_uint = 1;

calls! {
    fn cudaEventCreate in (session)(event: Out<usize>) {
        create(session, event, 0)
    }

    fn cudaEventCreateWithFlags in (session)(event: Out<usize>, flags: c_uint) {
        create(session, event, flags)
    }

    fn cudaEventDestroy in (session)(event: usize) {
        session.current()?;
        session.events.remove(event)
    }

    fn cudaEventRecord, cudaEventRecord_ptsz in (session, which)(event: usize, stream: usize) {
        let stream = session.stream(which(stream))?;
        session.record(event, stream)
    }

    fn cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz in (session, which)(
        event: usize,
        stream: usize,
        flags: c_uint,
    ) {
        if flags & !RECORD_EXTERNAL != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let stream = session.stream(which(stream))?;
        session.record(event, stream)
    }

    fn cudaEventSynchronize in (session)(event: usize) {
        session.wait_for_event(event)
    }

    fn cudaEventQuery in (session)(event: usize) {
        session.query_event(event)
    }

    fn cudaEventElapsedTime in (session)(milliseconds: Out<f32>, start: usize, end: usize) {
        milliseconds.put(elapsed(session, start, end)?)
    }

    fn cudaEventElapsedTime_v2 in (session)(milliseconds: Out<f32>, start: usize, end: usize) {
        milliseconds.put(elapsed(session, start, end)?)
    }
}

fn create(session: &mut Session, event: Out<usize>, flags: c_uint) -> Result {
    let device = session.current()?;
    let untimed = flags & DISABLE_TIMING != 0;
    if event.is_null() || flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && !untimed) {
        return Err(Error::INVALID_VALUE);
    }
    let handle = session.new_handle();
    let slot = match flags & INTERPROCESS {
        0 => None,
        _ => Some(session.new_slot(handle / 16)?),
    };
    let record = Record::Never;
    session.events.insert(handle, Event { device, flags, record, time: None, slot });
    event.put(handle)
}

fn elapsed(session: &mut Session, start: usize, end: usize) -> Result<f32> {
    let time = |session: &Session, event| {
        let event = session.events.get(event)?;
        if event.flags & DISABLE_TIMING != 0 || event.record == Record::Never {
            return Err(Error::INVALID_RESOURCE_HANDLE);
        }
        event.time.ok_or(Error::NOT_READY)
    };
    let (from, to) = (time(session, start), time(session, end));
    // An invalid event takes precedence over one that is not complete.
    let (from, to) = match (from, to) {
        (Err(Error::NOT_READY), Err(error)) if error != Error::NOT_READY => return Err(error),
        (Err(Error::NOT_READY), _) => return Err(asked(session, start)),
        (Ok(_), Err(Error::NOT_READY)) => return Err(asked(session, end)),
        (from, to) => (from?, to?),
    };
    Ok((to as f64 - from as f64) as f32 / 1e6)
}

/// The answer for an event that is not complete; a polling loop makes progress by
/// [`Session::query_event`].
fn asked(session: &mut Session, event: usize) -> Error {
    session.query_event(event).err().unwrap_or(Error::NOT_READY)
}
