//! Memory copies: `cudaMemcpy` and its variants.

use crate::abi::{Memcpy3DParms, Memcpy3DPeerParms, MemcpyAttributes};
use crate::api::entry::{In, Out};
use crate::copy::{self, Copy, Extent};
use crate::error::{Error, Result};
use crate::host_sync::Call;
use crate::images::Array;
use crate::memory::Place;
use crate::order::StreamId;
use crate::runtime::{Session, State};
use crate::streams::Which;
use std::ffi::c_int;

/// Values of `cudaMemcpyKind`, which says which sides are device memory.
const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const DEFAULT: c_int = 4;

/// Values of `cudaMemcpySrcAccessOrder`.
const STREAM_ORDER: c_int = 1;
const DURING_CALL: c_int = 2;
const ANY_ORDER: c_int = 3;

calls! {
    fn cudaMemcpy, cudaMemcpy_ptds in (session, which)(
        to: usize,
        from: usize,
        bytes: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        copy(session, Call::Copy, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyAsync, cudaMemcpyAsync_ptsz in (session, which)(
        to: usize,
        from: usize,
        bytes: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        copy(session, Call::CopyAsync, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz in (session, which)(
        to: In<usize>,
        from: In<usize>,
        sizes: In<usize>,
        count: usize,
        attributes: In<MemcpyAttributes>,
        starts: In<usize>,
        attribute_count: usize,
        stream: usize,
    ) {
        let copies = flat(to, from, sizes, count)?;
        let orders = orders(attributes, starts, attribute_count, count)?;
        batch(session, which(stream), copies, orders)
    }

    // CUDA 12 has an extra parameter for the index of a failed copy.
    fn commsan_12_cudaMemcpyBatchAsync, commsan_12_cudaMemcpyBatchAsync_ptsz in (session, which)(
        to: In<usize>,
        from: In<usize>,
        sizes: In<usize>,
        count: usize,
        attributes: In<MemcpyAttributes>,
        starts: In<usize>,
        attribute_count: usize,
        failure: Out<usize>,
        stream: usize,
    ) {
        failure.put_if_wanted(usize::MAX);
        let copies = flat(to, from, sizes, count)?;
        let orders = orders(attributes, starts, attribute_count, count)?;
        batch(session, which(stream), copies, orders)
    }

    fn cudaMemcpyWithAttributesAsync, cudaMemcpyWithAttributesAsync_ptsz in (session, which)(
        to: usize,
        from: usize,
        bytes: usize,
        attributes: In<MemcpyAttributes>,
        stream: usize,
    ) {
        let call = in_order(attributes.get()?)?;
        batch(session, which(stream), vec![Copy::flat(to, from, bytes)], vec![call])
    }

    fn cudaMemcpy2D, cudaMemcpy2D_ptds in (session, which)(
        to: usize,
        to_pitch: usize,
        from: usize,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let copied = rows((to, to_pitch), (from, from_pitch), width, height)?;
        copy(session, Call::Copy, stream, copied, kind)
    }

    fn cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz in (session, which)(
        to: usize,
        to_pitch: usize,
        from: usize,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let copied = rows((to, to_pitch), (from, from_pitch), width, height)?;
        copy(session, Call::CopyAsync, stream, copied, kind)
    }

    fn cudaMemcpy3D, cudaMemcpy3D_ptds in (session, which)(parameters: In<Memcpy3DParms>) {
        let stream = session.stream(which(0))?;
        let parameters = parameters.get()?;
        let copied = from_parameters(session, &parameters)?;
        copy(session, Call::Copy, stream, copied, parameters.kind)
    }

    fn cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz in (session, which)(
        parameters: In<Memcpy3DParms>,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let parameters = parameters.get()?;
        let copied = from_parameters(session, &parameters)?;
        copy(session, Call::CopyAsync, stream, copied, parameters.kind)
    }

    fn cudaMemcpyPeer in (session)(
        to: usize,
        to_device: c_int,
        from: usize,
        from_device: c_int,
        bytes: usize,
    ) {
        let copied = Copy::flat(to, from, bytes);
        peer(session, None, copied, to_device, from_device)
    }

    fn cudaMemcpyPeerAsync in (session)(
        to: usize,
        to_device: c_int,
        from: usize,
        from_device: c_int,
        bytes: usize,
        stream: usize,
    ) {
        let stream = session.stream(crate::streams::Which::legacy(stream))?;
        let copied = Copy::flat(to, from, bytes);
        peer(session, Some(stream), copied, to_device, from_device)
    }

    fn cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds in (session, _which)(
        parameters: In<Memcpy3DPeerParms>,
    ) {
        let (copied, to, from) = from_peer_parameters(session, &parameters.get()?)?;
        peer(session, None, copied, to, from)
    }

    fn cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz in (session, which)(
        parameters: In<Memcpy3DPeerParms>,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let (copied, to, from) = from_peer_parameters(session, &parameters.get()?)?;
        peer(session, Some(stream), copied, to, from)
    }
}

/// Enqueues the copies of a batch into a stream, which must not be the legacy one.
fn batch(session: &mut Session, which: Which, copies: Vec<Copy>, calls: Vec<Call>) -> Result {
    if which.is_legacy() {
        return Err(Error::INVALID_VALUE);
    }
    let stream = session.stream(which)?;
    copies.iter().try_for_each(|copied| check(session, copied, DEFAULT))?;
    let mut copies = copies.into_iter().zip(calls);
    copies.try_for_each(|(copied, call)| session.copy(call, stream, copied))
}

fn flat(to: In<usize>, from: In<usize>, sizes: In<usize>, count: usize) -> Result<Vec<Copy>> {
    let sides = to.all(count)?.into_iter().zip(from.all(count)?);
    let copies = sides.zip(sizes.all(count)?);
    Ok(copies.map(|((to, from), bytes)| Copy::flat(to, from, bytes)).collect())
}

/// The synchronisation of each copy of a batch, from attributes that each apply from an index on.
fn orders(
    attributes: In<MemcpyAttributes>,
    starts: In<usize>,
    attribute_count: usize,
    count: usize,
) -> Result<Vec<Call>> {
    let starts = starts.all(attribute_count)?;
    let rising = starts.is_sorted_by(|one, next| one < next);
    if starts.first() != Some(&0) || !rising || starts.last().is_none_or(|last| *last >= count) {
        return Err(Error::INVALID_VALUE);
    }
    let calls = attributes.all(attribute_count)?.into_iter().map(in_order);
    let calls = calls.collect::<Result<Vec<Call>>>()?;
    let of = |copy: usize| calls[starts.partition_point(|start| *start <= copy) - 1];
    Ok((0..count).map(of).collect())
}

/// The synchronisation of a copy with a given source access order.
fn in_order(attributes: MemcpyAttributes) -> Result<Call> {
    match attributes.srcAccessOrder {
        STREAM_ORDER | ANY_ORDER => Ok(Call::CopyAsync),
        DURING_CALL => Ok(Call::CopyDuringCall),
        _ => Err(Error::INVALID_VALUE),
    }
}

/// Copies, after checking that both sides are valid memory of the kinds that `kind` names.
pub(crate) fn copy(
    session: &mut Session,
    call: Call,
    stream: StreamId,
    copied: Copy,
    kind: c_int,
) -> Result {
    check(session, &copied, kind)?;
    session.copy(call, stream, copied)
}

/// Checks that both sides are valid memory of the kinds that `kind` names.
pub(crate) fn check(state: &State, copied: &Copy, kind: c_int) -> Result {
    if !(HOST_TO_HOST..=DEFAULT).contains(&kind) {
        return Err(Error::INVALID_MEMCPY_DIRECTION);
    }
    if copied.extent.is_empty() {
        return Ok(());
    }
    let to = check_box(state, copied.to, copied.extent)?;
    let from = check_box(state, copied.from, copied.extent)?;
    // With one address space, page-locked host memory passes for device memory.
    let fits = match kind {
        HOST_TO_DEVICE => to != Place::Pageable,
        DEVICE_TO_HOST => from != Place::Pageable,
        DEVICE_TO_DEVICE => to != Place::Pageable && from != Place::Pageable,
        HOST_TO_HOST => to != Place::Device && from != Place::Device,
        _ => true,
    };
    if fits { Ok(()) } else { Err(Error::INVALID_VALUE) }
}

/// Checks that a box lies in one allocation, or in memory that is the program's own.
pub(crate) fn check_box(state: &State, place: copy::Place, extent: Extent) -> Result<Place> {
    let span = place.span(extent).filter(|_| place.start != 0).ok_or(Error::INVALID_VALUE)?;
    if !state.memory.is_whole(place.start, span) {
        return Err(Error::INVALID_VALUE);
    }
    Ok(state.memory.place(place.start))
}

/// A copy between devices: in a stream, or serialised with all work of both devices.
fn peer(
    session: &mut Session,
    stream: Option<StreamId>,
    copied: Copy,
    to: c_int,
    from: c_int,
) -> Result {
    session.current()?;
    let devices = [session.device_number(to)?, session.device_number(from)?];
    check(session, &copied, DEFAULT)?;
    if copied.extent.is_empty() {
        return Ok(());
    }
    match stream {
        Some(stream) => session.copy(Call::CopyAsync, stream, copied),
        None => session.copy_serial(copied, &devices),
    }
}

/// A copy of rows with a pitch on both sides.
fn rows(to: (usize, usize), from: (usize, usize), width: usize, height: usize) -> Result<Copy> {
    if width > to.1 || width > from.1 {
        return Err(Error::INVALID_PITCH_VALUE);
    }
    let extent = Extent { width, height, depth: 1 };
    let place = |(start, pitch)| copy::Place { start, pitch, slice: 0 };
    Ok(Copy { to: place(to), from: place(from), extent })
}

/// One side of a copy of slices, which starts at `offset` bytes.
fn side(
    pointer: crate::abi::PitchedPtr,
    position: crate::abi::Pos,
    extent: Extent,
) -> Result<copy::Place> {
    // A side without a pitch of its own is contiguous.
    let pitch = if pointer.pitch == 0 { extent.width } else { pointer.pitch };
    let height = if pointer.ysize == 0 { extent.height } else { pointer.ysize };
    let slice = pitch.checked_mul(height).ok_or(Error::INVALID_VALUE)?;
    if extent.width > pitch {
        return Err(Error::INVALID_PITCH_VALUE);
    }
    let rows = position.y.checked_mul(pitch);
    let slices = position.z.checked_mul(slice);
    let start = rows
        .zip(slices)
        .and_then(|(rows, slices)| rows.checked_add(slices)?.checked_add(position.x))
        .and_then(|offset| pointer.ptr.checked_add(offset));
    let start = start.filter(|_| pointer.ptr != 0).ok_or(Error::INVALID_VALUE)?;
    Ok(copy::Place { start, pitch, slice })
}

/// The copy that `cudaMemcpy3DParms` describes.
pub(crate) fn from_parameters(state: &State, parameters: &Memcpy3DParms) -> Result<Copy> {
    let array = |handle| match handle {
        0 => Ok(None),
        handle => state.images.array(handle).map(Some),
    };
    let (to, from) = (array(parameters.dstArray)?, array(parameters.srcArray)?);
    let both =
        parameters.dstPtr.ptr != 0 && to.is_some() || parameters.srcPtr.ptr != 0 && from.is_some();
    let elements = [to, from].map(|array| array.map(|array| array.element));
    let element = match elements {
        _ if both => return Err(Error::INVALID_VALUE),
        [Some(one), Some(other)] if one != other => return Err(Error::INVALID_VALUE),
        [one, other] => one.or(other).unwrap_or(1),
    };
    // If an array takes part, the extent is in its elements, and so is a position in an array.
    let bytes = |count: usize| count.checked_mul(element).ok_or(Error::INVALID_VALUE);
    let crate::abi::Extent { width, height, depth } = parameters.extent;
    let extent = Extent { width: bytes(width)?, height, depth };
    let place = |array: Option<&Array>, pointer, at: crate::abi::Pos| match array {
        Some(array) => array.place([bytes(at.x)?, at.y, at.z], extent),
        None => side(pointer, at, extent),
    };
    let to = place(to, parameters.dstPtr, parameters.dstPos)?;
    let from = place(from, parameters.srcPtr, parameters.srcPos)?;
    Ok(Copy { to, from, extent })
}

fn from_peer_parameters(
    state: &State,
    parameters: &Memcpy3DPeerParms,
) -> Result<(Copy, c_int, c_int)> {
    let copied = from_parameters(state, &parameters.copy(DEFAULT))?;
    Ok((copied, parameters.dstDevice, parameters.srcDevice))
}
