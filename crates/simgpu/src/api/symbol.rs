//! Device variables, identified by the host variables that stand for them.

use crate::api::copy::copy;
use crate::api::entry::Out;
use crate::copy::Copy;
use crate::error::{Error, Result};
use crate::host_sync::Call;
use crate::runtime::State;
use crate::thread;
use std::ffi::c_int;

calls! {
    fn cudaGetSymbolAddress in (session)(pointer: Out<usize>, symbol: usize) {
        session.current()?;
        pointer.put(address(session, symbol, 0, 0)?)
    }

    fn cudaGetSymbolSize in (session)(size: Out<usize>, symbol: usize) {
        session.current()?;
        size.put(session.modules.variable(symbol)?.size)
    }

    fn cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds in (session, which)(
        symbol: usize,
        from: usize,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let to = address(session, symbol, offset, bytes)?;
        copy(session, Call::Copy, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz in (session, which)(
        symbol: usize,
        from: usize,
        bytes: usize,
        offset: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let to = address(session, symbol, offset, bytes)?;
        copy(session, Call::CopyAsync, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds in (session, which)(
        to: usize,
        symbol: usize,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) {
        let stream = session.stream(which(0))?;
        let from = address(session, symbol, offset, bytes)?;
        copy(session, Call::Copy, stream, Copy::flat(to, from, bytes), kind)
    }

    fn cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz in (session, which)(
        to: usize,
        symbol: usize,
        bytes: usize,
        offset: usize,
        kind: c_int,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        let from = address(session, symbol, offset, bytes)?;
        copy(session, Call::CopyAsync, stream, Copy::flat(to, from, bytes), kind)
    }
}

/// The address of `bytes` bytes of a variable on the current device.
pub(crate) fn address(
    state: &mut State,
    symbol: usize,
    offset: usize,
    bytes: usize,
) -> Result<usize> {
    let size = state.modules.variable(symbol)?.size;
    if offset.checked_add(bytes).is_none_or(|end| end > size) {
        return Err(Error::INVALID_VALUE);
    }
    let start = state.modules.address(&mut state.memory, symbol, thread::device())?;
    Ok(start + offset)
}
