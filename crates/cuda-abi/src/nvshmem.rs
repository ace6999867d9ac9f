//! NVSHMEM's host library: its functions that move data, some 1,400, a few for each of many types
//! (`host/*.h` and `nvshmem_common.cuh` of NVSHMEM 3), what PEs call together, and the structures
//! that initialise a PE.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::LazyLock;

/// Calls a macro for each function with its operation, who performs it (`host` if the host waits,
/// `stream` if it is enqueued), the parts of its name, the type of the values in the signature, and
/// the type used for the arithmetic.
///
/// The operations: `p`, `g`, `put`, `get`, `iput`, `iget` and `put_signal` as in OpenSHMEM;
/// `change` and `fetch_change` with an operation, `fetch`, `compare_swap`; `broadcast`, `fcollect`,
/// `alltoall`; `reduce` and `reducescatter` with an operation.
#[macro_export]
macro_rules! nvshmem_functions {
    ($each:ident) => {
        $crate::nvshmem_types!(rma, typed $each);
        $crate::nvshmem_functions!(typed "8", u8, u8 $each sized);
        $crate::nvshmem_functions!(typed "16", u16, u16 $each sized);
        $crate::nvshmem_functions!(typed "32", u32, u32 $each sized);
        $crate::nvshmem_functions!(typed "64", u64, u64 $each sized);
        $crate::nvshmem_functions!(typed "128", u128, u128 $each sized);
        $crate::nvshmem_functions!(transfers $each ["putmem"] ["getmem"] u8 u8);
        $crate::nvshmem_functions!(both $each broadcast ["broadcastmem"] u8 u8);
        $crate::nvshmem_functions!(both $each fcollect ["fcollectmem"] u8 u8);
        $crate::nvshmem_functions!(both $each alltoall ["alltoallmem"] u8 u8);
        $crate::nvshmem_types!(reduce, ordered $each);
        $crate::nvshmem_types!(bitwise, bitwise $each);
        $crate::nvshmem_types!(amo, amo $each);
        $crate::nvshmem_types!(extended, extended $each);
        $crate::nvshmem_types!(bits, bits $each);
    };
    // Both variants of a function: the host's and a stream's.
    (both $each:ident $what:ident [$($name:literal)*] $t:ident $r:ident $($op:ident)?) => {
        $each!($what host ["nvshmem_" $($name)*] $t $r $($op)?);
        $each!($what stream ["nvshmemx_" $($name)* "_on_stream"] $t $r $($op)?);
    };
    (transfers $each:ident [$($put:literal)*] [$($get:literal)*] $t:ident $r:ident) => {
        $crate::nvshmem_functions!(both $each put [$($put)*] $t $r);
        $crate::nvshmem_functions!(both $each put [$($put)* "_nbi"] $t $r);
        $crate::nvshmem_functions!(both $each get [$($get)*] $t $r);
        $crate::nvshmem_functions!(both $each get [$($get)* "_nbi"] $t $r);
        $each!(put_signal stream ["nvshmemx_" $($put)* "_signal_on_stream"] $t $r);
        $each!(put_signal stream ["nvshmemx_" $($put)* "_signal_nbi_on_stream"] $t $r);
    };
    (typed $n:literal, $t:ident, $r:ident $each:ident sized) => {
        $crate::nvshmem_functions!(transfers $each ["put" $n] ["get" $n] $t $r);
        $crate::nvshmem_functions!(both $each iput ["iput" $n] $t $r);
        $crate::nvshmem_functions!(both $each iget ["iget" $n] $t $r);
    };
    (typed $n:literal, $t:ident, $r:ident $each:ident) => {
        $crate::nvshmem_functions!(transfers $each [$n "_put"] [$n "_get"] $t $r);
        $crate::nvshmem_functions!(both $each iput [$n "_iput"] $t $r);
        $crate::nvshmem_functions!(both $each iget [$n "_iget"] $t $r);
        $crate::nvshmem_functions!(both $each p [$n "_p"] $t $r);
        $crate::nvshmem_functions!(both $each g [$n "_g"] $t $r);
        $crate::nvshmem_functions!(both $each broadcast [$n "_broadcast"] $t $r);
        $crate::nvshmem_functions!(both $each fcollect [$n "_fcollect"] $t $r);
        $crate::nvshmem_functions!(both $each alltoall [$n "_alltoall"] $t $r);
    };
    (ordered $n:literal, $t:ident, $r:ident $each:ident) => {
        $crate::nvshmem_functions!(reduce $each $n $t $r "_sum" sum "_prod" prod "_min" least "_max" most);
    };
    (bitwise $n:literal, $t:ident, $r:ident $each:ident) => {
        $crate::nvshmem_functions!(reduce $each $n $t $r "_and" and "_or" or "_xor" xor);
    };
    (reduce $each:ident $n:literal $t:ident $r:ident $($name:literal $op:ident)*) => {$(
        $crate::nvshmem_functions!(both $each reduce [$n $name "_reduce"] $t $r $op);
        $crate::nvshmem_functions!(both $each reducescatter [$n $name "_reducescatter"] $t $r $op);
    )*};
    (amo $n:literal, $t:ident, $r:ident $each:ident) => {
        $each!(increment host ["nvshmem_" $n "_atomic_inc"] $t $r);
        $each!(fetch_increment host ["nvshmem_" $n "_atomic_fetch_inc"] $t $r);
        $each!(compare_swap host ["nvshmem_" $n "_atomic_compare_swap"] $t $r);
        $each!(change host ["nvshmem_" $n "_atomic_add"] $t $r sum);
        $each!(fetch_change host ["nvshmem_" $n "_atomic_fetch_add"] $t $r sum);
    };
    (extended $n:literal, $t:ident, $r:ident $each:ident) => {
        $each!(g host ["nvshmem_" $n "_atomic_fetch"] $t $r);
        $each!(change host ["nvshmem_" $n "_atomic_set"] $t $r set);
        $each!(fetch_change host ["nvshmem_" $n "_atomic_swap"] $t $r set);
    };
    (bits $n:literal, $t:ident, $r:ident $each:ident) => {
        $each!(change host ["nvshmem_" $n "_atomic_and"] $t $r and);
        $each!(change host ["nvshmem_" $n "_atomic_or"] $t $r or);
        $each!(change host ["nvshmem_" $n "_atomic_xor"] $t $r xor);
        $each!(fetch_change host ["nvshmem_" $n "_atomic_fetch_and"] $t $r and);
        $each!(fetch_change host ["nvshmem_" $n "_atomic_fetch_or"] $t $r or);
        $each!(fetch_change host ["nvshmem_" $n "_atomic_fetch_xor"] $t $r xor);
    };
}

/// Calls `nvshmem_functions` with a family of functions for each type that has them.
#[doc(hidden)]
#[macro_export]
macro_rules! nvshmem_types {
    (rma, $family:ident $each:ident) => {
        $crate::nvshmem_types!(reduce, $family $each);
        $crate::nvshmem_types!(@ $family $each "ptrdiff" isize isize);
    };
    (reduce, $family:ident $each:ident) => {
        $crate::nvshmem_types!(bitwise, $family $each);
        $crate::nvshmem_types!(@ $family $each
            "bfloat16" u16 bf16 "half" u16 f16 "float" f32 f32 "double" f64 f64 "char" i8 i8
            "schar" i8 i8 "short" i16 i16 "int" i32 i32 "long" i64 i64 "longlong" i64 i64
        );
    };
    (bitwise, $family:ident $each:ident) => {
        $crate::nvshmem_types!(@ $family $each
            "uchar" u8 u8 "ushort" u16 u16 "uint" u32 u32 "ulong" u64 u64 "ulonglong" u64 u64
            "int8" i8 i8 "int16" i16 i16 "int32" i32 i32 "int64" i64 i64 "uint8" u8 u8
            "uint16" u16 u16 "uint32" u32 u32 "uint64" u64 u64 "size" usize usize
        );
    };
    (extended, $family:ident $each:ident) => {
        $crate::nvshmem_types!(amo, $family $each);
        $crate::nvshmem_types!(@ $family $each "float" f32 f32 "double" f64 f64);
    };
    (amo, $family:ident $each:ident) => {
        $crate::nvshmem_types!(bits, $family $each);
        $crate::nvshmem_types!(@ $family $each
            "int" i32 i32 "long" i64 i64 "longlong" i64 i64 "size" usize usize "ptrdiff" isize isize
        );
    };
    (bits, $family:ident $each:ident) => {
        $crate::nvshmem_types!(@ $family $each
            "uint" u32 u32 "ulong" u64 u64 "ulonglong" u64 u64 "int32" i32 i32 "uint32" u32 u32
            "int64" i64 i64 "uint64" u64 u64
        );
    };
    (@ $family:ident $each:ident $($name:literal $passed:ident $reckoned:ident)*) => {
        $($crate::nvshmem_functions!($family $name, $passed, $reckoned $each);)*
    };
}

/// What the PEs of a team do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Wait for each other, and for what they have put.
    Barrier,
    /// Wait for each other.
    Sync,
    /// Get what a root has.
    Broadcast,
    /// Get what each has.
    Collect,
    /// Get another part of what each has.
    AllToAll,
    /// Get the reduction of what all have.
    Reduce,
    /// Get another part of the reduction.
    ReduceScatter,
    /// Allocate symmetric memory.
    Allocate,
    /// Free symmetric memory.
    Free,
    /// Split a team by a triplet.
    SplitStrided,
    /// Split a team into rows and columns.
    SplitGrid,
    /// Destroy the team.
    DestroyTeam,
    /// Finalize NVSHMEM.
    Finalize,
}

/// A call that the PEs of a team make together.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    /// What it is called where users see it.
    pub name: &'static str,
    /// What it does.
    pub kind: Kind,
    /// Bytes of an element; 0 if it moves none.
    pub size: usize,
    /// The type of the values, as [`nvshmem_functions`] has it; bytes are of any type.
    pub values: &'static str,
    /// The reduction.
    pub op: &'static str,
}

fn rows() -> Vec<Collective> {
    let plain = |(name, kind)| Collective { name, kind, size: 0, values: "", op: "" };
    let mut all: Vec<Collective> = PLAIN.iter().copied().map(plain).collect();
    macro_rules! row {
        (broadcast $way:ident $name:tt $t:ident $r:ident) => { row!(@ Broadcast $name $t $r ""); };
        (fcollect $way:ident $name:tt $t:ident $r:ident) => { row!(@ Collect $name $t $r ""); };
        (alltoall $way:ident $name:tt $t:ident $r:ident) => { row!(@ AllToAll $name $t $r ""); };
        (reduce $way:ident $name:tt $t:ident $r:ident $op:ident) => {
            row!(@ Reduce $name $t $r stringify!($op));
        };
        (reducescatter $way:ident $name:tt $t:ident $r:ident $op:ident) => {
            row!(@ ReduceScatter $name $t $r stringify!($op));
        };
        (@ $kind:ident [$($name:literal)*] $t:ident $r:ident $op:expr) => {{
            let name = concat!($($name),*);
            let is_bytes = name.trim_start_matches("nvshmem").contains("mem");
            let values = if is_bytes { ANY } else { stringify!($r) };
            let size = size_of::<$t>();
            all.push(Collective { name, kind: Kind::$kind, size, values, op: $op });
        }};
        ($($other:tt)*) => {};
    }
    nvshmem_functions!(row);
    all
}

/// Values of any type.
pub const ANY: &str = "any";

/// Calls that move no elements.
const PLAIN: &[(&str, Kind)] = &[
    ("nvshmem_barrier_all", Kind::Barrier),
    ("nvshmem_barrier", Kind::Barrier),
    ("nvshmemx_barrier_all_on_stream", Kind::Barrier),
    ("nvshmemx_barrier_on_stream", Kind::Barrier),
    ("nvshmem_sync_all", Kind::Sync),
    ("nvshmem_team_sync", Kind::Sync),
    ("nvshmemx_sync_all_on_stream", Kind::Sync),
    ("nvshmemx_team_sync_on_stream", Kind::Sync),
    ("nvshmem_malloc", Kind::Allocate),
    ("nvshmem_calloc", Kind::Allocate),
    ("nvshmem_align", Kind::Allocate),
    ("nvshmem_free", Kind::Free),
    ("nvshmem_team_split_strided", Kind::SplitStrided),
    ("nvshmem_team_split_2d", Kind::SplitGrid),
    ("nvshmem_team_destroy", Kind::DestroyTeam),
    ("nvshmem_finalize", Kind::Finalize),
];

/// All calls that PEs make together: the same in each process, so that a number names one.
pub fn collectives() -> &'static [Collective] {
    static ALL: LazyLock<Vec<Collective>> = LazyLock::new(rows);
    &ALL
}

/// The number of a call among [`collectives`].
pub fn number_of(name: &str) -> Option<u16> {
    static NUMBERS: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
        (0..).zip(collectives()).map(|(number, one)| (one.name, number)).collect()
    });
    NUMBERS.get(name).copied()
}

/// `nvshmemx_uniqueid_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Id {
    /// The version of the structure.
    pub version: c_int,
    /// The identifier.
    pub bytes: [u8; 124],
}

/// `nvshmemx_init_attr_t`.
#[repr(C)]
pub struct Attributes {
    version: c_int,
    /// A pointer to an `MPI_Comm`.
    pub comm: *const c_void,
    args_version: c_int,
    /// What PEs that meet by an identifier say.
    pub by_id: ById,
    padding: [u8; 96],
}

/// `nvshmemx_uniqueid_args_t`.
#[repr(C)]
pub struct ById {
    version: c_int,
    /// The identifier.
    pub id: *const Id,
    /// This PE.
    pub rank: c_int,
    /// The number of PEs.
    pub ranks: c_int,
}

/// `NVSHMEMX_INIT_WITH_MPI_COMM`
pub const WITH_MPI: c_uint = 2;
/// `NVSHMEMX_INIT_WITH_UNIQUEID`
pub const WITH_ID: c_uint = 8;

/// `nvshmemi_version_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Version {
    /// Of an interface that older programs do not have.
    pub major: c_int,
    /// Of an interface that has more.
    pub minor: c_int,
    /// Of the same interface.
    pub patch: c_int,
}

/// Where symmetric memory of a PE is mapped in this process.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PeerMemory {
    /// The first address by which PEs know it: that of the calling PE's own.
    pub known: u64,
    /// Its bytes.
    pub size: u64,
    /// Where it is mapped.
    pub start: u64,
}

/// Finds the symmetric memory of a PE that contains an address; returns [`FOUND`], [`NO_PE`] or
/// [`NO_MEMORY`].
pub type FindPeerMemory = extern "C" fn(pe: i32, address: u64, found: &mut PeerMemory) -> c_int;

/// There is such memory.
pub const FOUND: c_int = 0;
/// There is no such PE.
pub const NO_PE: c_int = 1;
/// The PE has no symmetric memory there.
pub const NO_MEMORY: c_int = 2;

/// Distance between the addresses at which kernels on simulated devices find the same object of
/// PE n and of PE n + 1. `commsan_simgpu_peers`, which registers a [`FindPeerMemory`], returns what
/// to add for PE 0.
pub const PEER_DISTANCE: u64 = 1 << 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_numbers_and_values() {
        let of = |name: &str| collectives()[usize::from(number_of(name).unwrap())];
        let reduce = of("nvshmemx_uint_max_reduce_on_stream");
        assert_eq!((reduce.kind, reduce.size), (Kind::Reduce, 4));
        assert_eq!((reduce.values, reduce.op), ("u32", "most"));
        let bytes = of("nvshmem_broadcastmem");
        assert_eq!((bytes.kind, bytes.size, bytes.values), (Kind::Broadcast, 1, ANY));
        assert_eq!(of("nvshmem_half_fcollect").values, "f16");
        assert_eq!(number_of("nvshmem_int_put"), None);
        let mut names: Vec<_> = collectives().iter().map(|one| one.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), collectives().len());
    }
}
