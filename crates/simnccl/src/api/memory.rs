//! Memory that programs allocate through the library, or register with it.

use super::entry::Out;
use crate::cuda;
use crate::error::Failure;
use crate::registry;

calls! {
    fn ncclMemAlloc | pncclMemAlloc (pointer: Out<u64>, size: usize) {
        if size == 0 {
            return Err(Failure::argument("size is 0"));
        }
        pointer.required("ptr")?.put(cuda::allocate(size)?);
        Ok(())
    }

    fn ncclMemFree | pncclMemFree (pointer: u64) {
        if pointer == 0 { Ok(()) } else { cuda::free(pointer) }
    }

    fn ncclCommRegister | pncclCommRegister (comm: usize, buffer: u64, size: usize, handle: Out<usize>) {
        let comm = registry::get(comm)?;
        let handle = handle.required("handle")?;
        if buffer == 0 || size == 0 {
            return Err(Failure::argument("there is nothing to register"));
        }
        handle.put(comm.add_buffer());
        Ok(())
    }

    fn ncclCommDeregister | pncclCommDeregister (comm: usize, handle: usize) {
        let comm = registry::get(comm)?;
        if handle == 0 { Ok(()) } else { comm.remove_buffer(handle) }
    }

    // Where symmetric memory is unsupported, there is no window, which is not an error.
    fn ncclCommWindowRegister | pncclCommWindowRegister (
        comm: usize, _buffer: u64, _size: usize, window: Out<usize>, _flags: i32,
    ) {
        registry::get(comm)?;
        window.required("win")?.put(0);
        Ok(())
    }

    fn ncclCommWindowDeregister | pncclCommWindowDeregister (comm: usize, window: usize) {
        registry::get(comm)?;
        if window == 0 { Ok(()) } else { Err(Failure::argument("no such window")) }
    }
}
