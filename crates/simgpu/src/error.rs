//! The runtime's error codes: number, name and description, as `cudaGetErrorName` and
//! `cudaGetErrorString` return them.

use std::ffi::{CStr, c_int};

/// A `cudaError_t` other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Error(c_int);

/// The result of a runtime function.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

impl Error {
    /// The number of the error.
    pub fn code(self) -> c_int {
        self.0
    }
}

/// `cudaSuccess`.
pub const SUCCESS: c_int = 0;

/// Name and description of a number.
pub fn describe(code: c_int) -> (&'static CStr, &'static CStr) {
    match TABLE.binary_search_by_key(&code, |row| row.0) {
        Ok(at) => (TABLE[at].1, TABLE[at].2),
        Err(_) => (c"unrecognized error code", c"unrecognized error code"),
    }
}

macro_rules! errors {
    ($($code:literal $constant:ident $name:literal $words:literal;)*) => {
        impl Error {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub const $constant: Error = Error($code);
            )*
        }
        static TABLE: &[(c_int, &CStr, &CStr)] =
            &[(SUCCESS, c"cudaSuccess", c"no error"), $(($code, $name, $words)),*];
    };
}

errors! {
    1 INVALID_VALUE c"cudaErrorInvalidValue" c"invalid argument";
    2 MEMORY_ALLOCATION c"cudaErrorMemoryAllocation" c"out of memory";
    3 INITIALIZATION_ERROR c"cudaErrorInitializationError" c"initialization error";
    4 CUDART_UNLOADING c"cudaErrorCudartUnloading" c"driver shutting down";
    5 PROFILER_DISABLED c"cudaErrorProfilerDisabled" c"profiler disabled while using external profiling tool";
    6 PROFILER_NOT_INITIALIZED c"cudaErrorProfilerNotInitialized" c"profiler not initialized: call cudaProfilerInitialize()";
    7 PROFILER_ALREADY_STARTED c"cudaErrorProfilerAlreadyStarted" c"profiler already started";
    8 PROFILER_ALREADY_STOPPED c"cudaErrorProfilerAlreadyStopped" c"profiler already stopped";
    9 INVALID_CONFIGURATION c"cudaErrorInvalidConfiguration" c"invalid configuration argument";
    10 VERSION_TRANSLATION c"cudaErrorVersionTranslation" c"Driver is newer than runtime and returned parameters the runtime cannot process";
    12 INVALID_PITCH_VALUE c"cudaErrorInvalidPitchValue" c"invalid pitch argument";
    13 INVALID_SYMBOL c"cudaErrorInvalidSymbol" c"invalid device symbol";
    16 INVALID_HOST_POINTER c"cudaErrorInvalidHostPointer" c"invalid host pointer";
    17 INVALID_DEVICE_POINTER c"cudaErrorInvalidDevicePointer" c"invalid device pointer";
    18 INVALID_TEXTURE c"cudaErrorInvalidTexture" c"invalid texture reference";
    19 INVALID_TEXTURE_BINDING c"cudaErrorInvalidTextureBinding" c"texture is not bound to a pointer";
    20 INVALID_CHANNEL_DESCRIPTOR c"cudaErrorInvalidChannelDescriptor" c"invalid channel descriptor";
    21 INVALID_MEMCPY_DIRECTION c"cudaErrorInvalidMemcpyDirection" c"invalid copy direction for memcpy";
    22 ADDRESS_OF_CONSTANT c"cudaErrorAddressOfConstant" c"invalid address of constant";
    23 TEXTURE_FETCH_FAILED c"cudaErrorTextureFetchFailed" c"fetch from texture failed";
    24 TEXTURE_NOT_BOUND c"cudaErrorTextureNotBound" c"cannot fetch from a texture that is not bound";
    25 SYNCHRONIZATION_ERROR c"cudaErrorSynchronizationError" c"incorrect use of __syncthreads()";
    26 INVALID_FILTER_SETTING c"cudaErrorInvalidFilterSetting" c"linear filtering not supported for non-float type";
    27 INVALID_NORM_SETTING c"cudaErrorInvalidNormSetting" c"read as normalized float not supported for data type";
    28 MIXED_DEVICE_EXECUTION c"cudaErrorMixedDeviceExecution" c"device emulation mode and device execution mode cannot be mixed";
    31 NOT_YET_IMPLEMENTED c"cudaErrorNotYetImplemented" c"feature not yet implemented";
    32 MEMORY_VALUE_TOO_LARGE c"cudaErrorMemoryValueTooLarge" c"memory size or pointer value too large to fit in 32 bit";
    34 STUB_LIBRARY c"cudaErrorStubLibrary" c"CUDA driver is a stub library";
    35 INSUFFICIENT_DRIVER c"cudaErrorInsufficientDriver" c"CUDA driver version is insufficient for CUDA runtime version";
    36 CALL_REQUIRES_NEWER_DRIVER c"cudaErrorCallRequiresNewerDriver" c"API call is not supported in the installed CUDA driver";
    37 INVALID_SURFACE c"cudaErrorInvalidSurface" c"invalid surface reference";
    43 DUPLICATE_VARIABLE_NAME c"cudaErrorDuplicateVariableName" c"duplicate global variable looked up by string name";
    44 DUPLICATE_TEXTURE_NAME c"cudaErrorDuplicateTextureName" c"duplicate texture looked up by string name";
    45 DUPLICATE_SURFACE_NAME c"cudaErrorDuplicateSurfaceName" c"duplicate surface looked up by string name";
    46 DEVICES_UNAVAILABLE c"cudaErrorDevicesUnavailable" c"CUDA-capable device(s) is/are busy or unavailable";
    49 INCOMPATIBLE_DRIVER_CONTEXT c"cudaErrorIncompatibleDriverContext" c"incompatible driver context";
    52 MISSING_CONFIGURATION c"cudaErrorMissingConfiguration" c"__global__ function call is not configured";
    53 PRIOR_LAUNCH_FAILURE c"cudaErrorPriorLaunchFailure" c"unspecified launch failure in prior launch";
    65 LAUNCH_MAX_DEPTH_EXCEEDED c"cudaErrorLaunchMaxDepthExceeded" c"launch would exceed maximum depth of nested launches";
    66 LAUNCH_FILE_SCOPED_TEX c"cudaErrorLaunchFileScopedTex" c"launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)";
    67 LAUNCH_FILE_SCOPED_SURF c"cudaErrorLaunchFileScopedSurf" c"launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)";
    68 SYNC_DEPTH_EXCEEDED c"cudaErrorSyncDepthExceeded" c"cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth";
    69 LAUNCH_PENDING_COUNT_EXCEEDED c"cudaErrorLaunchPendingCountExceeded" c"launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount";
    98 INVALID_DEVICE_FUNCTION c"cudaErrorInvalidDeviceFunction" c"invalid device function";
    100 NO_DEVICE c"cudaErrorNoDevice" c"no CUDA-capable device is detected";
    101 INVALID_DEVICE c"cudaErrorInvalidDevice" c"invalid device ordinal";
    102 DEVICE_NOT_LICENSED c"cudaErrorDeviceNotLicensed" c"device doesn't have valid Grid license";
    103 SOFTWARE_VALIDITY_NOT_ESTABLISHED c"cudaErrorSoftwareValidityNotEstablished" c"integrity checks failed";
    127 STARTUP_FAILURE c"cudaErrorStartupFailure" c"startup failure in cuda runtime";
    200 INVALID_KERNEL_IMAGE c"cudaErrorInvalidKernelImage" c"device kernel image is invalid";
    201 DEVICE_UNINITIALIZED c"cudaErrorDeviceUninitialized" c"invalid device context";
    205 MAP_BUFFER_OBJECT_FAILED c"cudaErrorMapBufferObjectFailed" c"mapping of buffer object failed";
    206 UNMAP_BUFFER_OBJECT_FAILED c"cudaErrorUnmapBufferObjectFailed" c"unmapping of buffer object failed";
    207 ARRAY_IS_MAPPED c"cudaErrorArrayIsMapped" c"array is mapped";
    208 ALREADY_MAPPED c"cudaErrorAlreadyMapped" c"resource already mapped";
    209 NO_KERNEL_IMAGE_FOR_DEVICE c"cudaErrorNoKernelImageForDevice" c"no kernel image is available for execution on the device";
    210 ALREADY_ACQUIRED c"cudaErrorAlreadyAcquired" c"resource already acquired";
    211 NOT_MAPPED c"cudaErrorNotMapped" c"resource not mapped";
    212 NOT_MAPPED_AS_ARRAY c"cudaErrorNotMappedAsArray" c"resource not mapped as array";
    213 NOT_MAPPED_AS_POINTER c"cudaErrorNotMappedAsPointer" c"resource not mapped as pointer";
    214 ECCUNCORRECTABLE c"cudaErrorECCUncorrectable" c"uncorrectable ECC error encountered";
    215 UNSUPPORTED_LIMIT c"cudaErrorUnsupportedLimit" c"limit is not supported on this architecture";
    216 DEVICE_ALREADY_IN_USE c"cudaErrorDeviceAlreadyInUse" c"exclusive-thread device already in use by a different thread";
    217 PEER_ACCESS_UNSUPPORTED c"cudaErrorPeerAccessUnsupported" c"peer access is not supported between these two devices";
    218 INVALID_PTX c"cudaErrorInvalidPtx" c"a PTX JIT compilation failed";
    219 INVALID_GRAPHICS_CONTEXT c"cudaErrorInvalidGraphicsContext" c"invalid OpenGL or DirectX context";
    220 NVLINK_UNCORRECTABLE c"cudaErrorNvlinkUncorrectable" c"uncorrectable NVLink error detected during the execution";
    221 JIT_COMPILER_NOT_FOUND c"cudaErrorJitCompilerNotFound" c"PTX JIT compiler library not found";
    222 UNSUPPORTED_PTX_VERSION c"cudaErrorUnsupportedPtxVersion" c"the provided PTX was compiled with an unsupported toolchain.";
    223 JIT_COMPILATION_DISABLED c"cudaErrorJitCompilationDisabled" c"PTX JIT compilation was disabled";
    224 UNSUPPORTED_EXEC_AFFINITY c"cudaErrorUnsupportedExecAffinity" c"the provided execution affinity is not supported";
    225 UNSUPPORTED_DEV_SIDE_SYNC c"cudaErrorUnsupportedDevSideSync" c"the provided PTX contains unsupported call to cudaDeviceSynchronize";
    226 CONTAINED c"cudaErrorContained" c"Invalid access of peer GPU memory over nvlink or a hardware error";
    227 INSUFFICIENT_LOADER_VERSION c"cudaErrorInsufficientLoaderVersion" c"Loader version is insufficient for fatbin";
    300 INVALID_SOURCE c"cudaErrorInvalidSource" c"device kernel image is invalid";
    301 FILE_NOT_FOUND c"cudaErrorFileNotFound" c"file not found";
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND c"cudaErrorSharedObjectSymbolNotFound" c"shared object symbol not found";
    303 SHARED_OBJECT_INIT_FAILED c"cudaErrorSharedObjectInitFailed" c"shared object initialization failed";
    304 OPERATING_SYSTEM c"cudaErrorOperatingSystem" c"OS call failed or operation not supported on this OS";
    400 INVALID_RESOURCE_HANDLE c"cudaErrorInvalidResourceHandle" c"invalid resource handle";
    401 ILLEGAL_STATE c"cudaErrorIllegalState" c"the operation cannot be performed in the present state";
    402 LOSSY_QUERY c"cudaErrorLossyQuery" c"attempted introspection would be semantically lossy";
    500 SYMBOL_NOT_FOUND c"cudaErrorSymbolNotFound" c"named symbol not found";
    600 NOT_READY c"cudaErrorNotReady" c"device not ready";
    700 ILLEGAL_ADDRESS c"cudaErrorIllegalAddress" c"an illegal memory access was encountered";
    701 LAUNCH_OUT_OF_RESOURCES c"cudaErrorLaunchOutOfResources" c"too many resources requested for launch";
    702 LAUNCH_TIMEOUT c"cudaErrorLaunchTimeout" c"the launch timed out and was terminated";
    703 LAUNCH_INCOMPATIBLE_TEXTURING c"cudaErrorLaunchIncompatibleTexturing" c"launch uses incompatible texturing mode";
    704 PEER_ACCESS_ALREADY_ENABLED c"cudaErrorPeerAccessAlreadyEnabled" c"peer access is already enabled";
    705 PEER_ACCESS_NOT_ENABLED c"cudaErrorPeerAccessNotEnabled" c"peer access has not been enabled";
    708 SET_ON_ACTIVE_PROCESS c"cudaErrorSetOnActiveProcess" c"cannot set while device is active in this process";
    709 CONTEXT_IS_DESTROYED c"cudaErrorContextIsDestroyed" c"context is destroyed";
    710 ASSERT c"cudaErrorAssert" c"device-side assert triggered";
    711 TOO_MANY_PEERS c"cudaErrorTooManyPeers" c"peer mapping resources exhausted";
    712 HOST_MEMORY_ALREADY_REGISTERED c"cudaErrorHostMemoryAlreadyRegistered" c"part or all of the requested memory range is already mapped";
    713 HOST_MEMORY_NOT_REGISTERED c"cudaErrorHostMemoryNotRegistered" c"pointer does not correspond to a registered memory region";
    714 HARDWARE_STACK_ERROR c"cudaErrorHardwareStackError" c"hardware stack error";
    715 ILLEGAL_INSTRUCTION c"cudaErrorIllegalInstruction" c"an illegal instruction was encountered";
    716 MISALIGNED_ADDRESS c"cudaErrorMisalignedAddress" c"misaligned address";
    717 INVALID_ADDRESS_SPACE c"cudaErrorInvalidAddressSpace" c"operation not supported on global/shared address space";
    718 INVALID_PC c"cudaErrorInvalidPc" c"invalid program counter";
    719 LAUNCH_FAILURE c"cudaErrorLaunchFailure" c"unspecified launch failure";
    720 COOPERATIVE_LAUNCH_TOO_LARGE c"cudaErrorCooperativeLaunchTooLarge" c"too many blocks in cooperative launch";
    721 TENSOR_MEMORY_LEAK c"cudaErrorTensorMemoryLeak" c"tensor memory not completely freed";
    800 NOT_PERMITTED c"cudaErrorNotPermitted" c"operation not permitted";
    801 NOT_SUPPORTED c"cudaErrorNotSupported" c"operation not supported";
    802 SYSTEM_NOT_READY c"cudaErrorSystemNotReady" c"system not yet initialized";
    803 SYSTEM_DRIVER_MISMATCH c"cudaErrorSystemDriverMismatch" c"system has unsupported display driver / cuda driver combination";
    804 COMPAT_NOT_SUPPORTED_ON_DEVICE c"cudaErrorCompatNotSupportedOnDevice" c"forward compatibility was attempted on non supported HW";
    805 MPS_CONNECTION_FAILED c"cudaErrorMpsConnectionFailed" c"MPS client failed to connect to the MPS control daemon or the MPS server";
    806 MPS_RPC_FAILURE c"cudaErrorMpsRpcFailure" c"the remote procedural call between the MPS server and the MPS client failed";
    807 MPS_SERVER_NOT_READY c"cudaErrorMpsServerNotReady" c"MPS server is not ready to accept new MPS client requests";
    808 MPS_MAX_CLIENTS_REACHED c"cudaErrorMpsMaxClientsReached" c"the hardware resources required to create MPS client have been exhausted";
    809 MPS_MAX_CONNECTIONS_REACHED c"cudaErrorMpsMaxConnectionsReached" c"the hardware resources required to support device connections have been exhausted";
    810 MPS_CLIENT_TERMINATED c"cudaErrorMpsClientTerminated" c"the MPS client has been terminated by the server";
    811 CDP_NOT_SUPPORTED c"cudaErrorCdpNotSupported" c"is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it";
    812 CDP_VERSION_MISMATCH c"cudaErrorCdpVersionMismatch" c"unsupported interaction between different versions of CUDA Dynamic Parallelism";
    900 STREAM_CAPTURE_UNSUPPORTED c"cudaErrorStreamCaptureUnsupported" c"operation not permitted when stream is capturing";
    901 STREAM_CAPTURE_INVALIDATED c"cudaErrorStreamCaptureInvalidated" c"operation failed due to a previous error during capture";
    902 STREAM_CAPTURE_MERGE c"cudaErrorStreamCaptureMerge" c"operation would result in a merge of separate capture sequences";
    903 STREAM_CAPTURE_UNMATCHED c"cudaErrorStreamCaptureUnmatched" c"capture was not ended in the same stream as it began";
    904 STREAM_CAPTURE_UNJOINED c"cudaErrorStreamCaptureUnjoined" c"capturing stream has unjoined work";
    905 STREAM_CAPTURE_ISOLATION c"cudaErrorStreamCaptureIsolation" c"dependency created on uncaptured work in another stream";
    906 STREAM_CAPTURE_IMPLICIT c"cudaErrorStreamCaptureImplicit" c"operation would make the legacy stream depend on a capturing blocking stream";
    907 CAPTURED_EVENT c"cudaErrorCapturedEvent" c"operation not permitted on an event last recorded in a capturing stream";
    908 STREAM_CAPTURE_WRONG_THREAD c"cudaErrorStreamCaptureWrongThread" c"attempt to terminate a thread-local capture sequence from another thread";
    909 TIMEOUT c"cudaErrorTimeout" c"wait operation timed out";
    910 GRAPH_EXEC_UPDATE_FAILURE c"cudaErrorGraphExecUpdateFailure" c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    911 EXTERNAL_DEVICE c"cudaErrorExternalDevice" c"an async error has occured in external entity outside of CUDA";
    912 INVALID_CLUSTER_SIZE c"cudaErrorInvalidClusterSize" c"a kernel launch error has occurred due to cluster misconfiguration";
    913 FUNCTION_NOT_LOADED c"cudaErrorFunctionNotLoaded" c"the function handle is not loaded when calling an API that requires a loaded function";
    914 INVALID_RESOURCE_TYPE c"cudaErrorInvalidResourceType" c"one or more resources passed in are not valid resource types for the operation";
    915 INVALID_RESOURCE_CONFIGURATION c"cudaErrorInvalidResourceConfiguration" c"one or more resources are insufficient or non-applicable for the operation";
    917 STREAM_DETACHED c"cudaErrorStreamDetached" c"API call not permitted since the green context associated with the stream has been destroyed";
    918 GRAPH_RECAPTURE_FAILURE c"cudaErrorGraphRecaptureFailure" c"recapturing to the source graph failed and had to be terminated";
    919 FABRIC_NOT_READY c"cudaErrorFabricNotReady" c"GPU fabric is not ready within the probe wait budget; application may retry (see CUDA_FABRIC_INIT_TIMEOUT_MS)";
    999 UNKNOWN c"cudaErrorUnknown" c"unknown error";
    10000 API_FAILURE_BASE c"cudaErrorApiFailureBase" c"api failure base";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_names_differ() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let mut names: Vec<_> = TABLE.iter().map(|row| row.1).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn what_is_not_in_the_table_is_unrecognized() {
        assert_eq!(describe(1), (c"cudaErrorInvalidValue", c"invalid argument"));
        assert_eq!(describe(11).0, c"unrecognized error code");
    }
}
