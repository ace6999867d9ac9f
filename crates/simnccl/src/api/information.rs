//! Queries: version, errors, properties of communicators.

use super::entry::Out;
use crate::abi::{Code, UniqueId, VERSION};
use crate::error;
use crate::registry;
use std::ffi::{c_char, c_int};

calls! {
    fn ncclGetVersion | pncclGetVersion (version: Out<c_int>) {
        version.required("version")?.put(VERSION);
        Ok(())
    }

    fn ncclGetUniqueId | pncclGetUniqueId (id: Out<UniqueId>) {
        id.required("uniqueId")?.put(UniqueId::new()?);
        Ok(())
    }

    fn ncclCommCount | pncclCommCount (comm: usize, count: Out<c_int>) {
        let comm = registry::get(comm)?;
        count.required("count")?.put(comm.ranks as c_int);
        Ok(())
    }

    fn ncclCommCuDevice | pncclCommCuDevice (comm: usize, device: Out<c_int>) {
        let comm = registry::get(comm)?;
        device.required("device")?.put(comm.device);
        Ok(())
    }

    fn ncclCommUserRank | pncclCommUserRank (comm: usize, rank: Out<c_int>) {
        let comm = registry::get(comm)?;
        rank.required("rank")?.put(comm.rank as c_int);
        Ok(())
    }

    fn ncclCommGetAsyncError | pncclCommGetAsyncError (comm: usize, code: Out<Code>) {
        let state = registry::state(comm)?;
        code.required("asyncError")?.put(state);
        Ok(())
    }
}

/// Defines functions that return no code, under both names.
macro_rules! texts {
    ($(fn $name:ident | $twin:ident ($arg:ident: $ty:ty) -> $result:ty $body:block)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name($arg: $ty) -> $result $body
        #[unsafe(no_mangle)]
        extern "C" fn $twin($arg: $ty) -> $result $body
    )* };
}

texts! {
    fn ncclGetErrorString | pncclGetErrorString (code: c_int) -> *const c_char {
        error::describe(code).as_ptr()
    }
    fn ncclGetLastError | pncclGetLastError (_comm: usize) -> *const c_char {
        error::last()
    }
}
