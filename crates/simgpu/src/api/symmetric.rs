//! commsan's own functions, by which a simulated NVSHMEM makes memory of processing elements (PEs)
//! known to kernels.
//!
//! Kernels find it in windows of addresses ([`commsan_simt::PEERS`]). Who knows where it is mapped
//! is called while a kernel runs, by the thread that executes it and under the runtime's lock, so
//! that it must not call the runtime.

use crate::api::entry::{In, Out, call};
use commsan_cuda_abi::nvshmem::FindPeerMemory;
use commsan_simt::PEERS;
use std::ffi::{c_char, c_int};

/// Registers who finds memory of PEs. Returns what kernels add to an address for that of PE 0.
#[unsafe(no_mangle)]
extern "C" fn commsan_simgpu_peers(find: Option<FindPeerMemory>) -> u64 {
    call(|session| {
        session.peers = find;
        Ok(())
    });
    PEERS
}

/// Stores address and size of a variable on the current device, of all that have this name the one
/// with a number; address 0 if there are no more.
///
/// # Safety
/// A text, and places for the results.
#[unsafe(no_mangle)]
unsafe extern "C" fn commsan_simgpu_variable(
    name: In<c_char>,
    number: usize,
    address: Out<usize>,
    size: Out<usize>,
) -> c_int {
    call(|session| {
        let device = session.current()?;
        let name = name.text()?;
        let state = &mut **session;
        let named = state.modules.named(&mut state.memory, &name, device);
        let (found, bytes) = named.get(number).copied().unwrap_or_default();
        address.put(found)?;
        size.put(bytes)
    })
}
