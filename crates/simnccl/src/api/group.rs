//! Group calls.

use super::entry::Out;
use crate::abi::{SIM_INFO_MAGIC, SimInfo};
use crate::error::Failure;
use crate::group;

calls! {
    fn ncclGroupStart | pncclGroupStart () {
        group::start();
        Ok(())
    }

    fn ncclGroupEnd | pncclGroupEnd () {
        group::end()
    }

    // The estimated time is left undefined; the group is discarded.
    fn ncclGroupSimulateEnd | pncclGroupSimulateEnd (info: Out<SimInfo>) {
        let info = info.required("simInfo")?;
        if info.get().magic != SIM_INFO_MAGIC {
            return Err(Failure::argument("simInfo was not initialized"));
        }
        group::forget()?;
        info.put(SimInfo { estimatedTime: 0.0, ..info.get() });
        Ok(())
    }
}
