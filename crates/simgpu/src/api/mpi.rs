//! Queries for CUDA-aware MPI: whether MPI accepts device memory.
//!
//! Any MPI does, as simulated device memory is memory of the process. These functions are
//! extensions of Open MPI and MPICH, which would answer for real devices.

use crate::settings::Settings;
use std::ffi::c_int;

/// `MPI_SUCCESS`.
const SUCCESS: c_int = 0;
/// `MPIX_GPU_SUPPORT_CUDA` (MPICH's `mpi.h`).
const CUDA: c_int = 0;

fn has_devices() -> c_int {
    c_int::from(Settings::from_environment().devices > 0)
}

/// Whether MPI accepts addresses of device memory.
#[unsafe(no_mangle)]
pub extern "C" fn MPIX_Query_cuda_support() -> c_int {
    has_devices()
}

/// Whether MPI accepts device addresses of the vendor `kind`; only CUDA's are accepted.
///
/// # Safety
/// `is_supported` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_GPU_query_support(kind: c_int, is_supported: *mut c_int) -> c_int {
    // SAFETY: by this function's contract.
    unsafe { *is_supported = if kind == CUDA { has_devices() } else { 0 } };
    SUCCESS
}
