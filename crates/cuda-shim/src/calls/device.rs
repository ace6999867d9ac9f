//! Devices.

use crate::call::{Call, device_changes, device_is};
use crate::real::SUCCESS;
use crate::{streams, symbols};
use commsan_cuda::waiting::HostWait;
use std::ffi::c_int;

entries! {
    fn cudaSetDevice(device: c_int) instead(_, real) {
        // SAFETY: the program's arguments.
        let code = unsafe { real(device) };
        if code == SUCCESS {
            device_is(device);
        } else {
            device_changes();
        }
        code
    }

    fn cudaDeviceSynchronize() blocks(call, |call: &Call| HostWait::Device(call.device())) {
        call.device_synchronized();
    }

    fn cudaThreadSynchronize() blocks(call, |call: &Call| HostWait::Device(call.device())) {
        call.device_synchronized();
    }

    fn cudaDeviceReset() before(call) {
        resets(call);
    }

    fn cudaThreadExit() before(call) {
        resets(call);
    }
}

/// Everything of the current device is about to go.
fn resets(call: &Call) {
    let device = call.device();
    call.with(|streams, place, out| streams.device_reset(device, place, out));
    streams::reset();
    symbols::reset();
}
