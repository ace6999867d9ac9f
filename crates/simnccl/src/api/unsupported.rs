//! What the header has and the simulation has not: each says so.

use crate::error::Failure;

macro_rules! unsupported {
    ($($name:ident | $twin:ident,)*) => {
        // The arguments of a C function may be ignored.
        calls! { $(fn $name | $twin () { Err(Failure::usage("this is not simulated")) })* }
    };
}

unsupported! {
    ncclCommGetUniqueId | pncclCommGetUniqueId,
    ncclCommGrow | pncclCommGrow,
    ncclCommMemStats | pncclCommMemStats,
    ncclCommResume | pncclCommResume,
    ncclCommSuspend | pncclCommSuspend,
    ncclParamBind | pncclParamBind,
    ncclParamGet | pncclParamGet,
    ncclParamGetAllParameterKeys | pncclParamGetAllParameterKeys,
    ncclParamGetI16 | pncclParamGetI16,
    ncclParamGetI32 | pncclParamGetI32,
    ncclParamGetI64 | pncclParamGetI64,
    ncclParamGetI8 | pncclParamGetI8,
    ncclParamGetParameter | pncclParamGetParameter,
    ncclParamGetStr | pncclParamGetStr,
    ncclParamGetU16 | pncclParamGetU16,
    ncclParamGetU32 | pncclParamGetU32,
    ncclParamGetU64 | pncclParamGetU64,
    ncclParamGetU8 | pncclParamGetU8,
    ncclPutSignal | pncclPutSignal,
    ncclSetEncryption | pncclSetEncryption,
    ncclSignal | pncclSignal,
    ncclWaitSignal | pncclWaitSignal,
    ncclWinGetUserPtr | pncclWinGetUserPtr,
}

/// Parameters are not simulated, and there is nothing to reload.
macro_rules! nothing {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name() {}
    )* };
}

nothing! { ncclParamDumpAll pncclParamDumpAll ncclResetDebugInit pncclResetDebugInit }
