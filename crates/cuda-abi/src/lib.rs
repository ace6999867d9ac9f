//! The ABI of the CUDA runtime: types that programs pass to it, as its headers lay them out. The
//! tests of `commsan-simgpu` compare them with the toolkit's headers.
#![allow(non_snake_case, reason = "fields are named as in CUDA's headers")]
#![allow(missing_docs, reason = "CUDA's documentation of these types is theirs, too")]

pub mod nvshmem;
pub mod observe;

use std::ffi::{c_char, c_int, c_uint, c_void};

/// Defines C types, with a list of their sizes and of the offsets of their fields.
macro_rules! types {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name { $(pub $field: $ty,)* }

            impl $name {
                /// A value whose bytes are all zero, which is valid for each of these types.
                pub fn zero() -> $name {
                    // SAFETY: integers, floats, raw pointers and arrays of them may be zero.
                    unsafe { std::mem::zeroed() }
                }
            }
        )*
        /// Name and size of each type in bytes, with name and offset of each field.
        pub fn layout() -> Vec<(&'static str, usize, Vec<(&'static str, usize)>)> {
            vec![$((
                stringify!($name),
                size_of::<$name>(),
                vec![$((stringify!($field), std::mem::offset_of!($name, $field))),*],
            )),*]
        }
    };
}

impl ChannelFormatDesc {
    /// Number of channels (1, 2 or 4), and bytes of each (1, 2 or 4); `None` if the channels differ
    /// or have another size.
    pub fn channels(&self) -> Option<(usize, usize)> {
        let bits = [self.x, self.y, self.z, self.w];
        let count = bits.iter().take_while(|&&bits| bits == self.x).count();
        let fits = matches!(count, 1 | 2 | 4) && bits[count..].iter().all(|&bits| bits == 0);
        let width = match self.x {
            8 => 1,
            16 => 2,
            32 => 4,
            _ => return None,
        };
        fits.then_some((count, width))
    }
}

impl Memcpy3DPeerParms {
    /// The copy without the devices that take part; `kind` is a `cudaMemcpyKind`.
    pub fn copy(&self, kind: c_int) -> Memcpy3DParms {
        Memcpy3DParms {
            srcArray: self.srcArray,
            srcPos: self.srcPos,
            srcPtr: self.srcPtr,
            dstArray: self.dstArray,
            dstPos: self.dstPos,
            dstPtr: self.dstPtr,
            extent: self.extent,
            kind,
        }
    }
}

/// Whether an error (`cudaError_t`) leaves the device unusable: the fault of a kernel cannot be
/// undone, and "any further CUDA work will return the same error".
pub fn is_sticky(error: c_int) -> bool {
    matches!(error, 700 | 702 | 710 | 714..=719)
}

types! {
    Dim3 { x: c_uint, y: c_uint, z: c_uint, }
    Extent { width: usize, height: usize, depth: usize, }
    Pos { x: usize, y: usize, z: usize, }
    PitchedPtr { ptr: usize, pitch: usize, xsize: usize, ysize: usize, }
    Memcpy3DParms {
        srcArray: usize,
        srcPos: Pos,
        srcPtr: PitchedPtr,
        dstArray: usize,
        dstPos: Pos,
        dstPtr: PitchedPtr,
        extent: Extent,
        kind: c_int,
    }
    Memcpy3DPeerParms {
        srcArray: usize,
        srcPos: Pos,
        srcPtr: PitchedPtr,
        srcDevice: c_int,
        dstArray: usize,
        dstPos: Pos,
        dstPtr: PitchedPtr,
        dstDevice: c_int,
        extent: Extent,
    }
    MemsetParams {
        dst: usize,
        pitch: usize,
        value: c_uint,
        elementSize: c_uint,
        width: usize,
        height: usize,
    }
    HostNodeParams { func: usize, userData: usize, }
    KernelNodeParams {
        func: usize,
        gridDim: Dim3,
        blockDim: Dim3,
        sharedMemBytes: c_uint,
        kernelParams: *const *const c_void,
        extra: usize,
    }
    MemLocation { kind: c_int, id: c_int, }
    MemcpyAttributes {
        srcAccessOrder: c_int,
        srcLocHint: MemLocation,
        dstLocHint: MemLocation,
        flags: c_uint,
    }
    MemAccessDesc { location: MemLocation, flags: c_uint, }
    MemPoolProps {
        allocType: c_int,
        handleTypes: c_int,
        location: MemLocation,
        win32SecurityAttributes: usize,
        maxSize: usize,
        usage: u16,
        reserved: [u8; 54],
    }
    MemAllocNodeParams {
        poolProps: MemPoolProps,
        accessDescs: usize,
        accessDescCount: usize,
        bytesize: usize,
        dptr: usize,
    }
    /// `cudaLaunchAttribute`; the meaning of its value depends on `id`.
    LaunchAttribute { id: c_int, pad: [c_char; 4], val: [c_int; 16], }
    LaunchConfig {
        gridDim: Dim3,
        blockDim: Dim3,
        dynamicSmemBytes: usize,
        stream: usize,
        attrs: *const LaunchAttribute,
        numAttrs: c_uint,
    }
    FuncAttributes {
        sharedSizeBytes: usize,
        constSizeBytes: usize,
        localSizeBytes: usize,
        maxThreadsPerBlock: c_int,
        numRegs: c_int,
        ptxVersion: c_int,
        binaryVersion: c_int,
        cacheModeCA: c_int,
        maxDynamicSharedSizeBytes: c_int,
        preferredShmemCarveout: c_int,
        clusterDimMustBeSet: c_int,
        requiredClusterWidth: c_int,
        requiredClusterHeight: c_int,
        requiredClusterDepth: c_int,
        clusterSchedulingPolicyPreference: c_int,
        nonPortableClusterSizeAllowed: c_int,
        reserved: [c_int; 16],
    }
    ChannelFormatDesc { x: c_int, y: c_int, z: c_int, w: c_int, f: c_int, }
    /// `cudaResourceDesc` of CUDA 12, with which that of CUDA 13 begins; the contents of `res`
    /// depend on `resType`.
    ResourceDesc { resType: c_int, res: [usize; 7], }
    TextureDesc {
        addressMode: [c_int; 3],
        filterMode: c_int,
        readMode: c_int,
        sRGB: c_int,
        borderColor: [f32; 4],
        normalizedCoords: c_int,
        maxAnisotropy: c_uint,
        mipmapFilterMode: c_int,
        mipmapLevelBias: f32,
        minMipmapLevelClamp: f32,
        maxMipmapLevelClamp: f32,
        disableTrilinearOptimization: c_int,
        seamlessCubemap: c_int,
    }
    GraphInstantiateParams {
        flags: u64,
        uploadStream: usize,
        errNode_out: usize,
        result_out: c_int,
    }
    GraphExecUpdateResultInfo { result: c_int, errorNode: usize, errorFromNode: usize, }
    GraphEdgeData { from_port: u8, to_port: u8, kind: u8, reserved: [u8; 5], }
    IpcHandle { reserved: [u8; 64], }
    /// `cudaPointerAttributes` of CUDA 12.
    PointerAttributes12 {
        kind: c_int,
        device: c_int,
        devicePointer: usize,
        hostPointer: usize,
    }
    /// `cudaPointerAttributes` of CUDA 13.
    PointerAttributes13 {
        kind: c_int,
        device: c_int,
        devicePointer: usize,
        hostPointer: usize,
        unused: i64,
        reserved: [i64; 7],
    }
    /// `cudaDeviceProp` of CUDA 12.
    DeviceProp12 {
        name: [c_char; 256],
        uuid: [u8; 16],
        luid: [c_char; 8],
        luidDeviceNodeMask: c_uint,
        totalGlobalMem: usize,
        sharedMemPerBlock: usize,
        regsPerBlock: c_int,
        warpSize: c_int,
        memPitch: usize,
        maxThreadsPerBlock: c_int,
        maxThreadsDim: [c_int; 3],
        maxGridSize: [c_int; 3],
        clockRate: c_int,
        totalConstMem: usize,
        major: c_int,
        minor: c_int,
        textureAlignment: usize,
        texturePitchAlignment: usize,
        deviceOverlap: c_int,
        multiProcessorCount: c_int,
        kernelExecTimeoutEnabled: c_int,
        integrated: c_int,
        canMapHostMemory: c_int,
        computeMode: c_int,
        maxTexture1D: c_int,
        maxTexture1DMipmap: c_int,
        maxTexture1DLinear: c_int,
        maxTexture2D: [c_int; 2],
        maxTexture2DMipmap: [c_int; 2],
        maxTexture2DLinear: [c_int; 3],
        maxTexture2DGather: [c_int; 2],
        maxTexture3D: [c_int; 3],
        maxTexture3DAlt: [c_int; 3],
        maxTextureCubemap: c_int,
        maxTexture1DLayered: [c_int; 2],
        maxTexture2DLayered: [c_int; 3],
        maxTextureCubemapLayered: [c_int; 2],
        maxSurface1D: c_int,
        maxSurface2D: [c_int; 2],
        maxSurface3D: [c_int; 3],
        maxSurface1DLayered: [c_int; 2],
        maxSurface2DLayered: [c_int; 3],
        maxSurfaceCubemap: c_int,
        maxSurfaceCubemapLayered: [c_int; 2],
        surfaceAlignment: usize,
        concurrentKernels: c_int,
        ECCEnabled: c_int,
        pciBusID: c_int,
        pciDeviceID: c_int,
        pciDomainID: c_int,
        tccDriver: c_int,
        asyncEngineCount: c_int,
        unifiedAddressing: c_int,
        memoryClockRate: c_int,
        memoryBusWidth: c_int,
        l2CacheSize: c_int,
        persistingL2CacheMaxSize: c_int,
        maxThreadsPerMultiProcessor: c_int,
        streamPrioritiesSupported: c_int,
        globalL1CacheSupported: c_int,
        localL1CacheSupported: c_int,
        sharedMemPerMultiprocessor: usize,
        regsPerMultiprocessor: c_int,
        managedMemory: c_int,
        isMultiGpuBoard: c_int,
        multiGpuBoardGroupID: c_int,
        hostNativeAtomicSupported: c_int,
        singleToDoublePrecisionPerfRatio: c_int,
        pageableMemoryAccess: c_int,
        concurrentManagedAccess: c_int,
        computePreemptionSupported: c_int,
        canUseHostPointerForRegisteredMem: c_int,
        cooperativeLaunch: c_int,
        cooperativeMultiDeviceLaunch: c_int,
        sharedMemPerBlockOptin: usize,
        pageableMemoryAccessUsesHostPageTables: c_int,
        directManagedMemAccessFromHost: c_int,
        maxBlocksPerMultiProcessor: c_int,
        accessPolicyMaxWindowSize: c_int,
        reservedSharedMemPerBlock: usize,
        hostRegisterSupported: c_int,
        sparseCudaArraySupported: c_int,
        hostRegisterReadOnlySupported: c_int,
        timelineSemaphoreInteropSupported: c_int,
        memoryPoolsSupported: c_int,
        gpuDirectRDMASupported: c_int,
        gpuDirectRDMAFlushWritesOptions: c_uint,
        gpuDirectRDMAWritesOrdering: c_int,
        memoryPoolSupportedHandleTypes: c_uint,
        deferredMappingCudaArraySupported: c_int,
        ipcEventSupported: c_int,
        clusterLaunch: c_int,
        unifiedFunctionPointers: c_int,
        reserved: [c_int; 63],
    }
    /// `cudaDeviceProp` of CUDA 13.
    DeviceProp13 {
        name: [c_char; 256],
        uuid: [u8; 16],
        luid: [c_char; 8],
        luidDeviceNodeMask: c_uint,
        totalGlobalMem: usize,
        sharedMemPerBlock: usize,
        regsPerBlock: c_int,
        warpSize: c_int,
        memPitch: usize,
        maxThreadsPerBlock: c_int,
        maxThreadsDim: [c_int; 3],
        maxGridSize: [c_int; 3],
        totalConstMem: usize,
        major: c_int,
        minor: c_int,
        textureAlignment: usize,
        texturePitchAlignment: usize,
        multiProcessorCount: c_int,
        integrated: c_int,
        canMapHostMemory: c_int,
        maxTexture1D: c_int,
        maxTexture1DMipmap: c_int,
        maxTexture2D: [c_int; 2],
        maxTexture2DMipmap: [c_int; 2],
        maxTexture2DLinear: [c_int; 3],
        maxTexture2DGather: [c_int; 2],
        maxTexture3D: [c_int; 3],
        maxTexture3DAlt: [c_int; 3],
        maxTextureCubemap: c_int,
        maxTexture1DLayered: [c_int; 2],
        maxTexture2DLayered: [c_int; 3],
        maxTextureCubemapLayered: [c_int; 2],
        maxSurface1D: c_int,
        maxSurface2D: [c_int; 2],
        maxSurface3D: [c_int; 3],
        maxSurface1DLayered: [c_int; 2],
        maxSurface2DLayered: [c_int; 3],
        maxSurfaceCubemap: c_int,
        maxSurfaceCubemapLayered: [c_int; 2],
        surfaceAlignment: usize,
        concurrentKernels: c_int,
        ECCEnabled: c_int,
        pciBusID: c_int,
        pciDeviceID: c_int,
        pciDomainID: c_int,
        tccDriver: c_int,
        asyncEngineCount: c_int,
        unifiedAddressing: c_int,
        memoryBusWidth: c_int,
        l2CacheSize: c_int,
        persistingL2CacheMaxSize: c_int,
        maxThreadsPerMultiProcessor: c_int,
        streamPrioritiesSupported: c_int,
        globalL1CacheSupported: c_int,
        localL1CacheSupported: c_int,
        sharedMemPerMultiprocessor: usize,
        regsPerMultiprocessor: c_int,
        managedMemory: c_int,
        isMultiGpuBoard: c_int,
        multiGpuBoardGroupID: c_int,
        hostNativeAtomicSupported: c_int,
        pageableMemoryAccess: c_int,
        concurrentManagedAccess: c_int,
        computePreemptionSupported: c_int,
        canUseHostPointerForRegisteredMem: c_int,
        cooperativeLaunch: c_int,
        sharedMemPerBlockOptin: usize,
        pageableMemoryAccessUsesHostPageTables: c_int,
        directManagedMemAccessFromHost: c_int,
        maxBlocksPerMultiProcessor: c_int,
        accessPolicyMaxWindowSize: c_int,
        reservedSharedMemPerBlock: usize,
        hostRegisterSupported: c_int,
        sparseCudaArraySupported: c_int,
        hostRegisterReadOnlySupported: c_int,
        timelineSemaphoreInteropSupported: c_int,
        memoryPoolsSupported: c_int,
        gpuDirectRDMASupported: c_int,
        gpuDirectRDMAFlushWritesOptions: c_uint,
        gpuDirectRDMAWritesOrdering: c_int,
        memoryPoolSupportedHandleTypes: c_uint,
        deferredMappingCudaArraySupported: c_int,
        ipcEventSupported: c_int,
        clusterLaunch: c_int,
        unifiedFunctionPointers: c_int,
        deviceNumaConfig: c_int,
        deviceNumaId: c_int,
        mpsEnabled: c_int,
        hostNumaId: c_int,
        gpuPciDeviceID: c_uint,
        gpuPciSubsystemID: c_uint,
        hostNumaMultinodeIpcSupported: c_int,
        reserved: [c_int; 56],
    }
}
