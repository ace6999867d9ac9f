//! The ABI of NCCL: types that programs pass to it, as in `nccl.h`.

use std::ffi::{c_char, c_int, c_uint};

/// The version of the interface, `NCCL_VERSION_CODE`.
pub const VERSION: c_int = 23203;

/// Defines an enumeration with its names in the header and their values.
macro_rules! enumeration {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $c:literal = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum $name { $($(#[$variant_doc])* $variant = $value,)* }

        impl $name {
            /// All variants, with their names in the header.
            pub const ALL: &[($name, &str)] = &[$(($name::$variant, $c),)*];

            /// The variant with that value.
            pub fn of(value: c_int) -> Option<$name> {
                Self::ALL.iter().map(|row| row.0).find(|one| *one as c_int == value)
            }
        }
    };
}

enumeration! {
    /// Result codes, `ncclResult_t`.
    Code {
        /// The call succeeded.
        Success "ncclSuccess" = 0,
        /// A call of the CUDA runtime has failed.
        UnhandledCuda "ncclUnhandledCudaError" = 1,
        /// A system call has failed.
        System "ncclSystemError" = 2,
        /// An internal error of NCCL.
        Internal "ncclInternalError" = 3,
        /// An argument is invalid.
        InvalidArgument "ncclInvalidArgument" = 4,
        /// The call is invalid now, or does not match those of other ranks.
        InvalidUsage "ncclInvalidUsage" = 5,
        /// Another rank has exited or failed.
        Remote "ncclRemoteError" = 6,
        /// The operation is not complete yet.
        InProgress "ncclInProgress" = 7,
        /// The operation did not complete in time.
        Timeout "ncclTimeout" = 8,
    }
}

enumeration! {
    /// Data types, `ncclDataType_t`.
    DataType {
        /// `signed char`
        I8 "ncclInt8" = 0,
        /// `unsigned char`
        U8 "ncclUint8" = 1,
        /// `int`
        I32 "ncclInt32" = 2,
        /// `unsigned`
        U32 "ncclUint32" = 3,
        /// `long long`
        I64 "ncclInt64" = 4,
        /// `unsigned long long`
        U64 "ncclUint64" = 5,
        /// `__half`
        F16 "ncclFloat16" = 6,
        /// `float`
        F32 "ncclFloat32" = 7,
        /// `double`
        F64 "ncclFloat64" = 8,
        /// `__nv_bfloat16`
        BF16 "ncclBfloat16" = 9,
        /// `__nv_fp8_e4m3`
        F8E4M3 "ncclFloat8e4m3" = 10,
        /// `__nv_fp8_e5m2`
        F8E5M2 "ncclFloat8e5m2" = 11,
    }
}

enumeration! {
    /// Built-in reduction operators, `ncclRedOp_t`.
    RedOp {
        /// Sum.
        Sum "ncclSum" = 0,
        /// Product.
        Prod "ncclProd" = 1,
        /// Maximum.
        Max "ncclMax" = 2,
        /// Minimum.
        Min "ncclMin" = 3,
        /// Sum divided by the number of ranks.
        Avg "ncclAvg" = 4,
    }
}

/// The first number of a user-defined operator, `ncclNumOps`.
pub const FIRST_OWN_OP: c_int = 5;

enumeration! {
    /// Where a scalar is read, `ncclScalarResidence_t`.
    Residence {
        /// From device memory, when the kernel runs.
        Device "ncclScalarDevice" = 0,
        /// From host memory, during the call.
        HostImmediate "ncclScalarHostImmediate" = 1,
    }
}

/// Size of a [`UniqueId`], in bytes.
pub const ID_BYTES: usize = 128;

/// `ncclUniqueId`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct UniqueId(pub [u8; ID_BYTES]);

/// An undefined field of a configuration, `NCCL_CONFIG_UNDEF_INT`.
pub const UNDEFINED: c_int = c_int::MIN;
/// `NCCL_SPLIT_NOCOLOR`
pub const NO_COLOR: c_int = -1;
/// The magic number that the initializer of a configuration stores, `NCCL_API_MAGIC`.
pub const MAGIC: c_uint = 0xcafe_beef;
/// The magic number that the initializer of `ncclSimInfo_t` stores.
pub const SIM_INFO_MAGIC: c_uint = 0x7468_5283;

/// The beginning of `ncclConfig_t`, common to all versions that have it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_snake_case, reason = "the fields are named by NCCL")]
pub struct Config {
    /// Size of the program's version of the structure, in bytes.
    pub size: usize,
    /// [`MAGIC`].
    pub magic: c_uint,
    /// Version of NCCL that the program was built with.
    pub version: c_uint,
    /// Whether calls wait until they are complete.
    pub blocking: c_int,
    /// Number of blocks of a cluster.
    pub cgaClusterSize: c_int,
    /// Minimum number of blocks of a kernel.
    pub minCTAs: c_int,
    /// Maximum number of blocks of a kernel.
    pub maxCTAs: c_int,
    /// The name of the network to use.
    pub netName: *const c_char,
    /// Whether communicators made by a split share resources.
    pub splitShare: c_int,
}

/// `ncclSimInfo_t`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_snake_case, reason = "the fields are named by NCCL")]
pub struct SimInfo {
    /// Size of the structure, in bytes.
    pub size: usize,
    /// [`SIM_INFO_MAGIC`].
    pub magic: c_uint,
    /// Version of NCCL that the program was built with.
    pub version: c_uint,
    /// Estimated duration of the group, in seconds.
    pub estimatedTime: f32,
}
