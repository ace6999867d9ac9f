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

    fn cudaDeviceSynchronize() after(call) {
        call.tell(Event::DeviceSynchronized { call: call.name, device: call.device() });
    }

    fn cudaThreadSynchronize() after(call) {
        call.tell(Event::DeviceSynchronized { call: call.name, device: call.device() });
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
