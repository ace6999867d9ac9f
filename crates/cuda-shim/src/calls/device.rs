//! Devices.

use crate::entry::{SUCCESS, device_changes, device_is};
use crate::{Event, streams, symbols};
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

    fn cudaDeviceSynchronize() waits(call) {
        call.device_synchronized();
    }

    fn cudaThreadSynchronize() waits(call) {
        call.device_synchronized();
    }

    fn cudaDeviceReset() before(call) {
        call.tell(Event::DeviceReset { device: call.device() });
        streams::reset();
        symbols::reset();
    }

    fn cudaThreadExit() before(call) {
        call.tell(Event::DeviceReset { device: call.device() });
        streams::reset();
        symbols::reset();
    }
}
