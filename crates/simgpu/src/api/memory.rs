//! Memory management: allocation, registration, attributes of pointers.

use crate::abi::{Extent, MemLocation, PitchedPtr, PointerAttributes12, PointerAttributes13};
use crate::api::entry::Out;
use crate::device::limits::PITCH_ALIGNMENT;
use crate::error::{Error, Result};
use crate::graphs::Body;
use crate::host_sync::{self, Call, Wait};
use crate::memory::{Kind, Life, Place};
use crate::order::StreamId;
use crate::runtime::Session;
use crate::task::Task;
use crate::thread;
use std::ffi::{c_int, c_uint};

/// The supported flags of `cudaHostAlloc` and of `cudaHostRegister`.
const HOST_ALLOC_FLAGS: c_uint = 7;
const HOST_REGISTER_FLAGS: c_uint = 15;
/// `cudaMemAttachGlobal` and `cudaMemAttachHost`.
const ATTACH_FLAGS: [c_uint; 2] = [1, 2];
/// `cudaCpuDeviceId` and `cudaInvalidDeviceId`.
const CPU: c_int = -1;
const NO_DEVICE: c_int = -2;
/// `cudaMemAdviseUnsetAccessedBy`, the last valid advice.
const LAST_ADVICE: c_int = 6;

calls! {
    fn cudaMalloc in (session)(pointer: Out<usize>, size: usize) {
        pointer.put(allocate(session, pointer, Kind::Device, size, 0)?)
    }

    fn cudaMallocManaged in (session)(pointer: Out<usize>, size: usize, flags: c_uint) {
        if !ATTACH_FLAGS.contains(&flags) || size == 0 {
            return Err(Error::INVALID_VALUE);
        }
        pointer.put(allocate(session, pointer, Kind::Managed, size, 0)?)
    }

    fn cudaMallocHost in (session)(pointer: Out<usize>, size: usize) {
        pointer.put(allocate(session, pointer, Kind::Pinned, size, 0)?)
    }

    fn cudaHostAlloc in (session)(pointer: Out<usize>, size: usize, flags: c_uint) {
        if flags & !HOST_ALLOC_FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        pointer.put(allocate(session, pointer, Kind::Pinned, size, flags)?)
    }

    fn cudaMallocPitch in (session)(
        pointer: Out<usize>,
        pitch: Out<usize>,
        width: usize,
        height: usize,
    ) {
        let row = pitch_of(width)?;
        let size = row.checked_mul(height).ok_or(Error::INVALID_VALUE)?;
        pitch.put(row)?;
        pointer.put(allocate(session, pointer, Kind::Device, size, 0)?)
    }

    fn cudaMalloc3D in (session)(pointer: Out<PitchedPtr>, extent: Extent) {
        let pitch = pitch_of(extent.width)?;
        let slice = pitch.checked_mul(extent.height);
        let size = slice.and_then(|slice| slice.checked_mul(extent.depth));
        let size = size.ok_or(Error::INVALID_VALUE)?;
        let ptr = allocate(session, pointer, Kind::Device, size, 0)?;
        pointer.put(PitchedPtr { ptr, pitch, xsize: extent.width, ysize: extent.height })
    }

    fn cudaFree in (session)(pointer: usize) {
        free(session, pointer, &[Kind::Device, Kind::Pool, Kind::Managed])
    }

    fn cudaFreeHost in (session)(pointer: usize) {
        free(session, pointer, &[Kind::Pinned])
    }

    fn cudaHostRegister in (session)(pointer: usize, size: usize, flags: c_uint) {
        let device = session.current()?;
        let end = pointer.checked_add(size).filter(|_| pointer != 0 && size != 0);
        if flags & !HOST_REGISTER_FLAGS != 0 || session.memory.device_of(pointer).is_some() {
            return Err(Error::INVALID_VALUE);
        }
        session.memory.register(pointer..end.ok_or(Error::INVALID_VALUE)?, device, flags)
    }

    fn cudaHostUnregister in (session)(pointer: usize) {
        session.current()?;
        match session.memory.at(pointer) {
            None if pointer == 0 => Err(Error::INVALID_VALUE),
            Some(found) if found.kind == Kind::Registered => {
                let device = found.device;
                session.wait_for_device(device)?;
                session.memory.release(pointer);
                Ok(())
            }
            _ => Err(Error::HOST_MEMORY_NOT_REGISTERED),
        }
    }

    fn cudaHostGetDevicePointer in (session)(device: Out<usize>, host: usize, flags: c_uint) {
        session.current()?;
        let known = session.memory.find(host).is_some_and(|found| found.place() == Place::Pinned);
        if !known || flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        device.put(host)
    }

    fn cudaHostGetFlags in (session)(flags: Out<c_uint>, host: usize) {
        session.current()?;
        /// `cudaHostAllocMapped`: with one address space, all host memory is mapped.
        const MAPPED: c_uint = 2;
        let found = session.memory.find(host).filter(|found| found.place() == Place::Pinned);
        flags.put(found.ok_or(Error::INVALID_VALUE)?.flags | MAPPED)
    }

    fn commsan_12_cudaPointerGetAttributes in (session)(
        attributes: Out<PointerAttributes12>,
        pointer: usize,
    ) {
        let (kind, device, device_pointer, host_pointer) = describe(session, pointer)?;
        attributes.put(PointerAttributes12 {
            kind,
            device,
            devicePointer: device_pointer,
            hostPointer: host_pointer,
        })
    }

    fn commsan_13_cudaPointerGetAttributes in (session)(
        attributes: Out<PointerAttributes13>,
        pointer: usize,
    ) {
        let (kind, device, device_pointer, host_pointer) = describe(session, pointer)?;
        attributes.put(PointerAttributes13 {
            kind,
            device,
            devicePointer: device_pointer,
            hostPointer: host_pointer,
            ..PointerAttributes13::zero()
        })
    }

    fn commsan_12_cudaMemAdvise in (session)(
        pointer: usize,
        size: usize,
        advice: c_int,
        device: c_int,
    ) {
        advise(session, pointer, size, advice, device)
    }

    fn cudaMemAdvise_v2 in (session)(
        pointer: usize,
        size: usize,
        advice: c_int,
        location: MemLocation,
    ) {
        advise(session, pointer, size, advice, device_at(location))
    }

    fn commsan_12_cudaMemPrefetchAsync, commsan_12_cudaMemPrefetchAsync_ptsz in (session, which)(
        pointer: usize,
        size: usize,
        device: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        prefetch(session, pointer, size, device, stream)
    }

    fn cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz in (session, which)(
        pointer: usize,
        size: usize,
        location: MemLocation,
        flags: c_uint,
        stream: usize,
    ) {
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let stream = session.stream(which(stream))?;
        prefetch(session, pointer, size, device_at(location), stream)
    }

    fn cudaMallocAsync, cudaMallocAsync_ptsz in (session, which)(
        pointer: Out<usize>,
        size: usize,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let pool = session.devices[session.streams.get(stream).device].pool;
        allocate_async(session, pointer, size, pool, stream)
    }

    fn cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz in (session, which)(
        pointer: Out<usize>,
        size: usize,
        pool: usize,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        allocate_async(session, pointer, size, pool, stream)
    }

    fn cudaFreeAsync, cudaFreeAsync_ptsz in (session, which)(pointer: usize, stream: usize) {
        let stream = session.stream(which(stream))?;
        if pointer == 0 {
            return Ok(());
        }
        let kind = session.memory.at(pointer).map(|found| found.kind);
        if kind == Some(Kind::Graph) {
            // A captured free keeps its address for the next launch.
            if !session.capture(stream, &Body::Free(pointer))? {
                session.submit(stream, Task::Mark)?;
            }
            return Ok(());
        }
        if session.joined(stream)?.is_some() {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        let found = session.memory.at(pointer).filter(|found| {
            matches!(found.kind, Kind::Pool | Kind::Device) && found.life == Life::Live
        });
        found.ok_or(Error::INVALID_VALUE)?.life = Life::Leaving;
        session.submit(stream, Task::Free(pointer)).map(drop)
    }
}

fn allocate<T>(
    session: &mut Session,
    to: Out<T>,
    kind: Kind,
    size: usize,
    flags: c_uint,
) -> Result<usize> {
    let device = session.current()?;
    if to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    session.forbid_unsafe()?;
    if size == 0 {
        return Ok(0);
    }
    let start = session.memory.allocate(kind, device, size)?;
    if let Some(made) = session.memory.at(start) {
        made.flags = flags;
    }
    Ok(start)
}

fn allocate_async(
    session: &mut Session,
    pointer: Out<usize>,
    size: usize,
    pool: usize,
    stream: StreamId,
) -> Result {
    if pointer.is_null() || size == 0 {
        return Err(Error::INVALID_VALUE);
    }
    let device = session.pools.get(pool)?.device;
    session.usable(device)?;
    if let Some(start) = session.capture_allocation(stream, device, size)? {
        return pointer.put(start);
    }
    let start = session.memory.allocate(Kind::Pool, device, size)?;
    if let Some(made) = session.memory.at(start) {
        made.pool = Some(pool as u64);
    }
    session.pools.get_mut(pool)?.note_allocation(size);
    // The address is returned at once; the allocation is ordered in the stream all the same.
    session.submit(stream, Task::Mark)?;
    pointer.put(start)
}

fn free(session: &mut Session, pointer: usize, kinds: &[Kind]) -> Result {
    session.current()?;
    if pointer == 0 {
        return Ok(());
    }
    session.forbid_unsafe()?;
    let found = session.memory.at(pointer);
    let found = found.filter(|found| kinds.contains(&found.kind) && found.life == Life::Live);
    let found = found.ok_or(Error::INVALID_VALUE)?;
    let (kind, device, place, pool) = (found.kind, found.device, found.place(), found.pool);
    if kind != Kind::Pool && host_sync::wait(Call::Free, place, place) == Wait::Device {
        session.wait_for_device(device)?;
    }
    if let (Some(freed), Some(pool)) = (session.memory.release(pointer), pool) {
        session.pools.note_free(pool, freed.range.len());
    }
    Ok(())
}

fn pitch_of(width: usize) -> Result<usize> {
    width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(Error::INVALID_VALUE)
}

/// Memory type (`cudaMemoryType`), device, address on devices and on the host.
fn describe(session: &Session, pointer: usize) -> Result<(c_int, c_int, usize, usize)> {
    session.device_number(thread::device() as c_int)?;
    let Some(found) = session.memory.find(pointer) else {
        return Ok((0, NO_DEVICE, 0, pointer));
    };
    let device = found.device as c_int;
    Ok(match found.place() {
        Place::Pageable => (0, NO_DEVICE, 0, pointer),
        Place::Pinned => (1, device, pointer, pointer),
        Place::Device => (2, device, pointer, 0),
        Place::Managed => (3, device, pointer, pointer),
    })
}

/// The device, or the host, that `cudaMemLocation` names; all NUMA nodes of the host are one.
fn device_at(location: MemLocation) -> c_int {
    match location.kind {
        1 => location.id,
        2..=4 => CPU,
        _ => NO_DEVICE,
    }
}

/// Checks that memory is managed and that the location is valid; where managed memory resides makes
/// no difference here.
fn check_managed(session: &Session, pointer: usize, size: usize, device: c_int) -> Result {
    let managed = session.memory.place(pointer) == Place::Managed;
    if !managed || size == 0 || !session.memory.is_whole(pointer, size) {
        return Err(Error::INVALID_VALUE);
    }
    if device != CPU {
        session.device_number(device)?;
    }
    Ok(())
}

fn advise(
    session: &mut Session,
    pointer: usize,
    size: usize,
    advice: c_int,
    device: c_int,
) -> Result {
    /// Advice without a location.
    const PLACELESS: [c_int; 3] = [1, 2, 4];
    session.current()?;
    if !(1..=LAST_ADVICE).contains(&advice) {
        return Err(Error::INVALID_VALUE);
    }
    check_managed(session, pointer, size, if PLACELESS.contains(&advice) { CPU } else { device })
}

fn prefetch(
    session: &mut Session,
    pointer: usize,
    size: usize,
    device: c_int,
    stream: StreamId,
) -> Result {
    check_managed(session, pointer, size, device)?;
    session.submit(stream, Task::Mark).map(drop)
}

calls! {
    fn cudaMemRangeGetAttribute in (session)(
        data: Out<c_int>,
        size: usize,
        attribute: c_int,
        pointer: usize,
        length: usize,
    ) {
        check_managed(session, pointer, length, CPU)?;
        match attribute {
            // No memory is read-mostly, has a preferred location, or was prefetched.
            1 if size == size_of::<c_int>() => data.put(0),
            2 | 4 if size == size_of::<c_int>() => data.put(NO_DEVICE),
            3 if size.is_multiple_of(size_of::<c_int>()) && size > 0 => {
                data.put_all(std::iter::repeat_n(NO_DEVICE, size / size_of::<c_int>()));
                Ok(())
            }
            _ => Err(Error::INVALID_VALUE),
        }
    }
}
