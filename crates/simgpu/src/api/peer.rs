//! Peer access: every device can access every other device's memory.

use crate::api::entry::Out;
use crate::error::Error;
use std::ffi::{c_int, c_uint};

calls! {
    fn cudaDeviceCanAccessPeer in (session)(can: Out<c_int>, device: c_int, peer: c_int) {
        let (device, peer) = (session.device_number(device)?, session.device_number(peer)?);
        can.put(c_int::from(device != peer))
    }

    fn cudaDeviceEnablePeerAccess in (session)(peer: c_int, flags: c_uint) {
        let device = session.current()?;
        let peer = session.device_number(peer)?;
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        if peer == device {
            return Err(Error::INVALID_DEVICE);
        }
        let new = session.devices[device].peers.insert(peer);
        if new { Ok(()) } else { Err(Error::PEER_ACCESS_ALREADY_ENABLED) }
    }

    fn cudaDeviceDisablePeerAccess in (session)(peer: c_int) {
        let device = session.current()?;
        let peer = session.device_number(peer)?;
        let was = session.devices[device].peers.remove(&peer);
        if was { Ok(()) } else { Err(Error::PEER_ACCESS_NOT_ENABLED) }
    }

    fn cudaDeviceGetP2PAttribute in (session)(
        value: Out<c_int>,
        attribute: c_int,
        device: c_int,
        peer: c_int,
    ) {
        if session.device_number(device)? == session.device_number(peer)? {
            return Err(Error::INVALID_DEVICE);
        }
        match attribute {
            // Performance rank: all are equal.
            1 => value.put(0),
            // Access, and atomics, are supported.
            2 | 3 => value.put(1),
            4 | 5 => value.put(0),
            _ => Err(Error::INVALID_VALUE),
        }
    }
}
