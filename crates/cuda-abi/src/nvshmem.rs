//! The functions of NVSHMEM's host library that move data: some 1,400, a few for each of many types
//! (`host/*.h` and `nvshmem_common.cuh` of NVSHMEM 3).

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
