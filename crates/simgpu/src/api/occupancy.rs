//! Occupancy: how many blocks fit on a multiprocessor.

use crate::api::entry::Out;
use crate::device::{limits, occupancy};
use crate::error::{Error, Result};
use crate::runtime::Session;
use std::ffi::{c_int, c_uint};

calls! {
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor in (session)(
        blocks: Out<c_int>,
        function: usize,
        threads: c_int,
        shared: usize,
    ) {
        blocks.put(active_blocks(session, function, threads, shared)?)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags in (session)(
        blocks: Out<c_int>,
        function: usize,
        threads: c_int,
        shared: usize,
        _flags: c_uint,
    ) {
        blocks.put(active_blocks(session, function, threads, shared)?)
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock in (session)(
        shared: Out<usize>,
        function: usize,
        blocks: c_int,
        threads: c_int,
    ) {
        let most = active_blocks(session, function, threads, 0)?;
        let blocks = u32::try_from(blocks).ok().filter(|blocks| (1..=most as u32).contains(blocks));
        let blocks = blocks.ok_or(Error::INVALID_VALUE)? as usize;
        let fixed = session.modules.describe(function)?.shared;
        let each = limits::SHARED_MULTIPROCESSOR / blocks - limits::SHARED_RESERVED;
        shared.put(each.min(limits::SHARED_OPTIN).saturating_sub(fixed))
    }
}

fn active_blocks(
    session: &mut Session,
    function: usize,
    threads: c_int,
    shared: usize,
) -> Result<c_int> {
    session.current()?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0);
    let threads = threads.ok_or(Error::INVALID_VALUE)?;
    let kernel = session.modules.describe(function)?;
    if threads > kernel.max_threads.unwrap_or(limits::BLOCK_THREADS) {
        return Ok(0);
    }
    Ok(occupancy(threads, kernel.shared + shared, kernel.registers) as c_int)
}
