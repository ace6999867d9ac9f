//! CUDA arrays: allocation, and copies to and from them.

use crate::abi::{ChannelFormatDesc, Extent};
use crate::api::copy;
use crate::api::entry::{In, Out, unsupported};
use crate::copy::{self as boxes, Copy, Place};
use crate::error::{Error, Result};
use crate::host_sync::Call;
use crate::images::{Array, element};
use crate::memory::Kind;
use crate::runtime::Session;
use std::ffi::{c_int, c_uint};

/// `cudaArrayLayered`.
const LAYERED: c_uint = 1;
/// The supported flags: this one, `cudaArraySurfaceLoadStore` and `cudaArrayTextureGather`.
const FLAGS: c_uint = LAYERED | 2 | 8;

calls! {
    fn cudaMallocArray in (session)(
        array: Out<usize>,
        format: In<ChannelFormatDesc>,
        width: usize,
        height: usize,
        flags: c_uint,
    ) {
        if flags & LAYERED != 0 {
            return Err(Error::INVALID_VALUE);
        }
        allocate(session, array, format, Extent { width, height, depth: 0 }, flags)
    }

    fn cudaMalloc3DArray in (session)(
        array: Out<usize>,
        format: In<ChannelFormatDesc>,
        extent: Extent,
        flags: c_uint,
    ) {
        allocate(session, array, format, extent, flags)
    }

    fn cudaFreeArray in (session)(array: usize) {
        session.current()?;
        if array == 0 {
            return Ok(());
        }
        session.forbid_unsafe()?;
        let device = session.images.array(array)?.device;
        session.wait_for_device(device)?;
        if let Some(array) = session.images.remove_array(array) {
            session.memory.release(array.start);
        }
        Ok(())
    }

    fn cudaArrayGetInfo in (session)(
        format: Out<ChannelFormatDesc>,
        extent: Out<Extent>,
        flags: Out<c_uint>,
        array: usize,
    ) {
        session.current()?;
        let array = session.images.array(array)?;
        format.put_if_wanted(array.format);
        extent.put_if_wanted(array.extent);
        flags.put_if_wanted(array.flags);
        Ok(())
    }

    fn cudaGetChannelDesc in (session)(format: Out<ChannelFormatDesc>, array: usize) {
        session.current()?;
        format.put(session.images.array(array)?.format)
    }

    fn cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds in (session, which)(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let copied = to_rows(session, (to, x, y), (from, pitch), width, height)?;
        copy::copy(session, Call::Copy, stream, copied, kind)
    }

    fn cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz in (session, which)(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let copied = to_rows(session, (to, x, y), (from, pitch), width, height)?;
        copy::copy(session, Call::CopyAsync, stream, copied, kind)
    }

    fn cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds in (session, which)(
        to: usize,
        pitch: usize,
        from: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let copied = to_rows(session, (from, x, y), (to, pitch), width, height)?;
        copy::copy(session, Call::Copy, stream, turned(copied), kind)
    }

    fn cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz in (session, which)(
        to: usize,
        pitch: usize,
        from: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let copied = to_rows(session, (from, x, y), (to, pitch), width, height)?;
        copy::copy(session, Call::CopyAsync, stream, turned(copied), kind)
    }

    fn cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds in (session, which)(
        to: usize,
        to_x: usize,
        to_y: usize,
        from: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let extent = boxes::Extent { width, height, depth: 1 };
        let to = session.images.array(to)?.place([to_x, to_y, 0], extent)?;
        let from = session.images.array(from)?.place([x, y, 0], extent)?;
        copy::copy(session, Call::Copy, stream, Copy { to, from, extent }, kind)
    }

    fn cudaMemcpyToArray, cudaMemcpyToArray_ptds in (session, which)(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        bytes: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let to = run(session, (to, x, y), bytes)?;
        copy::copy(session, Call::Copy, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz in (session, which)(
        to: usize,
        x: usize,
        y: usize,
        from: usize,
        bytes: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let to = run(session, (to, x, y), bytes)?;
        copy::copy(session, Call::CopyAsync, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyFromArray, cudaMemcpyFromArray_ptds in (session, which)(
        to: usize,
        from: usize,
        x: usize,
        y: usize,
        bytes: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let from = run(session, (from, x, y), bytes)?;
        copy::copy(session, Call::Copy, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz in (session, which)(
        to: usize,
        from: usize,
        x: usize,
        y: usize,
        bytes: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let from = run(session, (from, x, y), bytes)?;
        copy::copy(session, Call::CopyAsync, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyArrayToArray, cudaMemcpyArrayToArray_ptds in (session, which)(
        to: usize,
        to_x: usize,
        to_y: usize,
        from: usize,
        x: usize,
        y: usize,
        bytes: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let to = run(session, (to, to_x, to_y), bytes)?;
        let from = run(session, (from, x, y), bytes)?;
        copy::copy(session, Call::Copy, stream, Copy::flat(to, from, bytes), kind)
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_int,
) -> ChannelFormatDesc {
    ChannelFormatDesc { x, y, z, w, f: kind }
}

fn allocate(
    session: &mut Session,
    to: Out<usize>,
    format: In<ChannelFormatDesc>,
    extent: Extent,
    flags: c_uint,
) -> Result {
    let device = session.current()?;
    let format = format.get()?;
    let Extent { width, height, depth } = extent;
    // Three dimensions exclude layers; one or two dimensions may have them.
    let fits = width != 0 && (flags & LAYERED != 0 || height != 0 || depth == 0);
    if to.is_null() || !fits {
        return Err(Error::INVALID_VALUE);
    }
    if flags & !FLAGS != 0 {
        unsupported("a CUDA array that is a cube map, sparse or for graphics");
        return Err(Error::NOT_SUPPORTED);
    }
    session.forbid_unsafe()?;
    let element = element(&format)?;
    let rows = height.max(1).checked_mul(depth.max(1));
    let size = rows.and_then(|rows| rows.checked_mul(width)?.checked_mul(element));
    let start = session.memory.allocate(Kind::Array, device, size.ok_or(Error::INVALID_VALUE)?)?;
    let handle = session.new_handle();
    session.images.add_array(handle, Array { start, device, format, extent, flags, element });
    to.put(handle)
}

/// A copy of rows to an array.
fn to_rows(
    session: &Session,
    (array, x, y): (usize, usize, usize),
    (from, pitch): (usize, usize),
    width: usize,
    height: usize,
) -> Result<Copy> {
    if width > pitch && height > 1 {
        return Err(Error::INVALID_PITCH_VALUE);
    }
    let extent = boxes::Extent { width, height, depth: 1 };
    let to = session.images.array(array)?.place([x, y, 0], extent)?;
    Ok(Copy { to, from: Place { start: from, pitch, slice: 0 }, extent })
}

fn turned(Copy { to, from, extent }: Copy) -> Copy {
    Copy { to: from, from: to, extent }
}

/// The address of `bytes` bytes of an array, which may continue in the next row.
fn run(session: &Session, (array, x, y): (usize, usize, usize), bytes: usize) -> Result<usize> {
    let array = session.images.array(array)?;
    let start = array.place([x, y, 0], boxes::Extent { width: 0, height: 1, depth: 1 })?.start;
    let end = array.start + array.slice();
    if bytes > end - start { Err(Error::INVALID_VALUE) } else { Ok(start) }
}

/// For the checker: the address of an array's texels; 0 if the handle is invalid.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_array(array: usize) -> usize {
    let mut start = 0;
    crate::api::entry::call(|session| {
        start = session.images.array(array).map_or(0, |array| array.start);
        Ok(())
    });
    start
}
