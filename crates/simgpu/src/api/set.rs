//! Memory sets: `cudaMemset` and its variants.

use crate::abi::{self, PitchedPtr};
use crate::api::copy::check_box;
use crate::copy::{self, Extent, Set};
use crate::error::{Error, Result};
use crate::host_sync::Call;
use crate::memory::Place;
use crate::order::StreamId;
use crate::runtime::{Session, State};
use std::ffi::c_int;

calls! {
    fn cudaMemset, cudaMemset_ptds in (session, which)(to: usize, value: c_int, bytes: usize) {
        let stream = session.stream(which(0))?;
        set(session, Call::Set, stream, flat(to, value, bytes))
    }

    fn cudaMemsetAsync, cudaMemsetAsync_ptsz in (session, which)(
        to: usize,
        value: c_int,
        bytes: usize,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        set(session, Call::SetAsync, stream, flat(to, value, bytes))
    }

    fn cudaMemset2D, cudaMemset2D_ptds in (session, which)(
        to: usize,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
    ) {
        let stream = session.stream(which(0))?;
        set(session, Call::Set, stream, rows(to, pitch, value, width, height)?)
    }

    fn cudaMemset2DAsync, cudaMemset2DAsync_ptsz in (session, which)(
        to: usize,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        set(session, Call::SetAsync, stream, rows(to, pitch, value, width, height)?)
    }

    fn cudaMemset3D, cudaMemset3D_ptds in (session, which)(
        to: PitchedPtr,
        value: c_int,
        extent: abi::Extent,
    ) {
        let stream = session.stream(which(0))?;
        set(session, Call::Set, stream, slices(to, value, extent)?)
    }

    fn cudaMemset3DAsync, cudaMemset3DAsync_ptsz in (session, which)(
        to: PitchedPtr,
        value: c_int,
        extent: abi::Extent,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        set(session, Call::SetAsync, stream, slices(to, value, extent)?)
    }
}

fn set(session: &mut Session, call: Call, stream: StreamId, set: Set) -> Result {
    check(session, &set)?;
    session.set(call, stream, set)
}

/// Checks that the memory is valid and accessible to devices, and that elements fit.
pub(crate) fn check(state: &State, set: &Set) -> Result {
    if set.extent.is_empty() {
        return Ok(());
    }
    let fits = matches!(set.element, 1 | 2 | 4)
        && set.extent.width.is_multiple_of(set.element)
        && set.to.start.is_multiple_of(set.element);
    if !fits || check_box(state, set.to, set.extent)? == Place::Pageable {
        return Err(Error::INVALID_VALUE);
    }
    Ok(())
}

fn flat(to: usize, value: c_int, bytes: usize) -> Set {
    let value = value as u32;
    Set { to: copy::Place::flat(to), extent: Extent::flat(bytes), value, element: 1 }
}

fn rows(start: usize, pitch: usize, value: c_int, width: usize, height: usize) -> Result<Set> {
    let extent = Extent { width, height, depth: 1 };
    if height > 1 && width > pitch {
        return Err(Error::INVALID_VALUE);
    }
    let to = copy::Place { start, pitch, slice: 0 };
    Ok(Set { to, extent, value: value as u32, element: 1 })
}

fn slices(to: PitchedPtr, value: c_int, extent: abi::Extent) -> Result<Set> {
    let slice = to.pitch.checked_mul(to.ysize).ok_or(Error::INVALID_VALUE)?;
    let abi::Extent { width, height, depth } = extent;
    if width > to.pitch || (depth > 1 && height > to.ysize) {
        return Err(Error::INVALID_VALUE);
    }
    let to = copy::Place { start: to.ptr, pitch: to.pitch, slice };
    Ok(Set { to, extent: Extent { width, height, depth }, value: value as u32, element: 1 })
}
