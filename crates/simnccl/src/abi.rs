//! Types that programs and NCCL share, as `nccl.h` has them.

use std::ffi::{c_char, c_int, c_uint};

/// The version whose interface this is, `NCCL_VERSION_CODE`.
pub const VERSION: c_int = 23203;

/// A table of an enumeration: names as in the header, and their values.
macro_rules! enumeration {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $c:literal = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum $name { $($(#[$variant_doc])* $variant = $value,)* }

        impl $name {
            /// All of them, with their names in the header.
            pub const ALL: &[($name, &str)] = &[$(($name::$variant, $c),)*];

            /// The one with that value.
            pub fn of(value: c_int) -> Option<$name> {
                Self::ALL.iter().map(|row| row.0).find(|one| *one as c_int == value)
            }
        }
    };
}

enumeration! {
    /// `ncclResult_t`
    Code {
        /// Done.
        Success "ncclSuccess" = 0,
        /// A call of CUDA has failed.
        UnhandledCuda "ncclUnhandledCudaError" = 1,
        /// A call of the system has failed.
        System "ncclSystemError" = 2,
        /// NCCL itself is wrong.
        Internal "ncclInternalError" = 3,
        /// An argument that cannot be.
        InvalidArgument "ncclInvalidArgument" = 4,
        /// A call that cannot be, now or with the others.
        InvalidUsage "ncclInvalidUsage" = 5,
        /// Another rank has ended or failed.
        Remote "ncclRemoteError" = 6,
        /// Not done yet.
        InProgress "ncclInProgress" = 7,
        /// Not done in time.
        Timeout "ncclTimeout" = 8,
    }
}

enumeration! {
    /// `ncclDataType_t`
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
    /// `ncclRedOp_t`, without those that programs make.
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

/// The first operator that a program may make, `ncclNumOps`.
pub const FIRST_OWN_OP: c_int = 5;

enumeration! {
    /// `ncclScalarResidence_t`
    Residence {
        /// Read when the kernel runs.
        Device "ncclScalarDevice" = 0,
        /// Read at once.
        HostImmediate "ncclScalarHostImmediate" = 1,
    }
}

/// Bytes of a [`UniqueId`].
pub const ID_BYTES: usize = 128;

/// `ncclUniqueId`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct UniqueId(pub [u8; ID_BYTES]);

/// What of a configuration is not decided, `NCCL_CONFIG_UNDEF_INT`.
pub const UNDEFINED: c_int = c_int::MIN;
/// `NCCL_SPLIT_NOCOLOR`
pub const NO_COLOR: c_int = -1;
/// What the initializer of a configuration puts into it, `NCCL_API_MAGIC`.
pub const MAGIC: c_uint = 0xcafe_beef;
/// What the initializer of `ncclSimInfo_t` puts into it.
pub const SIM_INFO_MAGIC: c_uint = 0x7468_5283;

/// What `ncclConfig_t` begins with in every version that has it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_snake_case, reason = "the fields are named by NCCL")]
pub struct Config {
    /// Bytes of the program's version of the structure.
    pub size: usize,
    /// [`MAGIC`].
    pub magic: c_uint,
    /// Version of NCCL that the program was built with.
    pub version: c_uint,
    /// Whether calls wait until they are done.
    pub blocking: c_int,
    /// Blocks of a cluster.
    pub cgaClusterSize: c_int,
    /// Fewest blocks of a kernel.
    pub minCTAs: c_int,
    /// Most blocks of a kernel.
    pub maxCTAs: c_int,
    /// The network to use.
    pub netName: *const c_char,
    /// Whether communicators that are split off share resources.
    pub splitShare: c_int,
}

/// `ncclSimInfo_t`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_snake_case, reason = "the fields are named by NCCL")]
pub struct SimInfo {
    /// Bytes of the structure.
    pub size: usize,
    /// [`SIM_INFO_MAGIC`].
    pub magic: c_uint,
    /// Version of NCCL that the program was built with.
    pub version: c_uint,
    /// Seconds that the group would take.
    pub estimatedTime: f32,
}
