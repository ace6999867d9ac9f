//! Inter-process communication: memory and events of other processes of the node.

use crate::abi::IpcHandle;
use crate::api::entry::Out;
use crate::error::Error;
use crate::events::{DISABLE_TIMING, Event, INTERPROCESS, Record};
use crate::ipc::{MemoryHandle, Slot};
use crate::memory::Kind;
use std::ffi::c_uint;
use std::io;

/// `cudaIpcMemLazyEnablePeerAccess`.
const LAZY_PEER_ACCESS: c_uint = 1;

calls! {
    fn cudaIpcGetMemHandle in (session)(handle: Out<IpcHandle>, pointer: usize) {
        session.current()?;
        let shared = session.memory.shared(pointer).ok_or(Error::INVALID_VALUE)?;
        session.exported = true;
        let process = std::process::id();
        handle.put(IpcHandle { reserved: MemoryHandle { process, shared }.to_bytes() })
    }

    fn cudaIpcOpenMemHandle in (session)(pointer: Out<usize>, handle: IpcHandle, flags: c_uint) {
        let device = session.current()?;
        let handle = MemoryHandle::from_bytes(&handle.reserved).ok_or(Error::INVALID_VALUE)?;
        if flags & !LAZY_PEER_ACCESS != 0 || pointer.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // CUDA refuses to open a process's own handle.
        if handle.process == std::process::id() {
            return Err(Error::DEVICE_UNINITIALIZED);
        }
        let (mapping, skip) = handle.map().map_err(refused)?;
        session.exported = true;
        pointer.put(session.memory.open(mapping, skip, &handle.shared, device))
    }

    fn cudaIpcCloseMemHandle in (session)(pointer: usize) {
        let device = session.current()?;
        match session.memory.at(pointer) {
            Some(found) if found.kind == Kind::Opened => {
                session.wait_for_device(device)?;
                session.memory.release(pointer);
                Ok(())
            }
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cudaIpcGetEventHandle in (session)(handle: Out<IpcHandle>, event: usize) {
        session.current()?;
        let slot = session.events.get(event)?.slot.clone().ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        session.exported = true;
        handle.put(IpcHandle { reserved: slot.to_bytes() })
    }

    fn cudaIpcOpenEventHandle in (session)(event: Out<usize>, handle: IpcHandle) {
        let device = session.current()?;
        let slot = Slot::from_bytes(&handle.reserved).ok_or(Error::INVALID_VALUE)?;
        let slot = Some(slot.map_err(refused)?);
        session.exported = true;
        let handle = session.new_handle();
        let flags = DISABLE_TIMING | INTERPROCESS;
        let record = Record::Never;
        session.events.insert(handle, Event { device, flags, record, time: None, slot });
        event.put(handle)
    }
}

/// The error if the owner has exited, or its memory cannot be opened.
fn refused(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::INVALID_RESOURCE_HANDLE,
        io::ErrorKind::OutOfMemory => Error::MEMORY_ALLOCATION,
        _ => Error::MAP_BUFFER_OBJECT_FAILED,
    }
}
