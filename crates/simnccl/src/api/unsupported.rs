//! Functions of the header that are not simulated: each returns an error.

use crate::error::Failure;

macro_rules! unsupported {
    ($($name:ident | $twin:ident,)*) => {
        // A C function may ignore its arguments.
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

/// Parameters are not simulated, so there is nothing to reload.
macro_rules! nothing {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name() {}
    )* };
}

nothing! { ncclParamDumpAll pncclParamDumpAll ncclResetDebugInit pncclResetDebugInit }
