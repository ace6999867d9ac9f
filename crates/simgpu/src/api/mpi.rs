//! What programs ask MPI about CUDA: whether it moves the memory of devices.
//!
//! Any MPI does, as that memory is memory of the process. These functions are extensions of Open
//! MPI and MPICH, whose own answer is about real devices.

use crate::settings::Settings;
use std::ffi::c_int;

/// `MPI_SUCCESS`
const SUCCESS: c_int = 0;
/// `MPIX_GPU_SUPPORT_CUDA` (MPICH's `mpi.h`)
const CUDA: c_int = 0;

fn has_devices() -> c_int {
    c_int::from(Settings::from_environment().devices > 0)
}

/// Whether addresses in a device's memory can be given to MPI.
#[unsafe(no_mangle)]
pub extern "C" fn MPIX_Query_cuda_support() -> c_int {
    has_devices()
}

/// Whether device addresses of a vendor, `kind`, can be given to MPI; only CUDA's can.
///
/// # Safety
/// `is_supported` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_GPU_query_support(kind: c_int, is_supported: *mut c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *is_supported = if kind == CUDA { has_devices() } else { 0 } };
    SUCCESS
}
