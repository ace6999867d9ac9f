//! Memory pools.

use crate::abi::{MemAccessDesc, MemLocation, MemPoolProps};
use crate::api::entry::{In, Out};
use crate::error::{Error, Result};
use std::ffi::{c_int, c_uint, c_void};

/// `cudaMemAllocationTypePinned` and `cudaMemLocationTypeDevice`.
const PINNED: c_int = 1;
const ON_DEVICE: c_int = 1;
/// `cudaMemAccessFlagsProtReadWrite`.
const READ_WRITE: c_uint = 3;
/// Attributes from this number on have values of eight bytes.
const FIRST_WIDE: c_uint = 4;

calls! {
    fn cudaDeviceGetDefaultMemPool in (session)(pool: Out<usize>, device: c_int) {
        let device = session.device_number(device)?;
        pool.put(session.pools.default_of(device))
    }

    fn cudaDeviceGetMemPool in (session)(pool: Out<usize>, device: c_int) {
        let device = session.device_number(device)?;
        pool.put(session.devices[device].pool)
    }

    fn cudaDeviceSetMemPool in (session)(device: c_int, pool: usize) {
        let device = session.device_number(device)?;
        if session.pools.get(pool)?.device != device {
            return Err(Error::INVALID_VALUE);
        }
        session.devices[device].pool = pool;
        Ok(())
    }

    fn cudaMemPoolCreate in (session)(pool: Out<usize>, properties: In<MemPoolProps>) {
        let properties = properties.get()?;
        if properties.allocType != PINNED || properties.location.kind != ON_DEVICE {
            return Err(Error::INVALID_VALUE);
        }
        if properties.handleTypes != 0 {
            return Err(Error::NOT_SUPPORTED);
        }
        let device = session.device_number(properties.location.id)?;
        let handle = session.new_handle();
        session.pools.create(handle, device);
        pool.put(handle)
    }

    fn cudaMemPoolDestroy in (session)(pool: usize) {
        let device = session.pools.get(pool)?.device;
        session.pools.destroy(pool)?;
        if session.devices[device].pool == pool {
            session.devices[device].pool = session.pools.default_of(device);
        }
        Ok(())
    }

    fn cudaMemPoolTrimTo in (session)(pool: usize, _keep: usize) {
        // No memory is cached.
        session.pools.get(pool).map(drop)
    }

    fn cudaMemPoolGetAttribute in (session)(
        pool: usize,
        attribute: c_uint,
        value: Out<c_void>,
    ) {
        let found = session.pools.get(pool)?.attribute(attribute)?;
        match attribute {
            FIRST_WIDE.. => value.cast().put(found),
            _ => value.cast().put(found as c_int),
        }
    }

    fn cudaMemPoolSetAttribute in (session)(pool: usize, attribute: c_uint, value: In<c_void>) {
        let value = match attribute {
            FIRST_WIDE.. => value.cast::<u64>().get()?,
            _ => value.cast::<c_int>().get()? as u64,
        };
        session.pools.get_mut(pool)?.set_attribute(attribute, value)
    }

    fn cudaMemPoolSetAccess in (session)(pool: usize, access: In<MemAccessDesc>, count: usize) {
        for access in access.all(count)? {
            let device = on_device(access.location)?;
            session.device_number(device as c_int)?;
            session.pools.get_mut(pool)?.access.insert(device, access.flags);
        }
        Ok(())
    }

    fn cudaMemPoolGetAccess in (session)(
        flags: Out<c_uint>,
        pool: usize,
        location: In<MemLocation>,
    ) {
        let device = on_device(location.get()?)?;
        let pool = session.pools.get(pool)?;
        let granted = pool.access.get(&device).copied().unwrap_or(0);
        flags.put(if device == pool.device { READ_WRITE } else { granted })
    }
}

fn on_device(location: MemLocation) -> Result<usize> {
    let device = usize::try_from(location.id).ok().filter(|_| location.kind == ON_DEVICE);
    device.ok_or(Error::INVALID_VALUE)
}
