//! OpenSHMEM.

use super::Wording;
use crate::facts::Case;
use commsan_findings::Code;

/// What is wrong with an argument.
const fn of_argument(
    code: Code,
    offence: &'static str,
    why: &'static str,
    help: &'static str,
) -> Wording {
    Wording {
        code,
        case: Case::Usual,
        message: "{argument} of {operation} {problem}",
        offence,
        operation: "{argument} {problem}",
        why,
        help,
        fortran: "",
    }
}

/// What is wrong with an argument of NVSHMEM.
const fn of_nvshmem(
    code: Code,
    offence: &'static str,
    why: &'static str,
    help: &'static str,
) -> Wording {
    Wording { case: Case::Nvshmem, ..of_argument(code, offence, why, help) }
}

/// What is wrong with what a kernel accesses at other PEs.
const fn in_kernel(
    code: Code,
    operation: &'static str,
    why: &'static str,
    help: &'static str,
) -> Wording {
    Wording {
        code,
        case: Case::NvshmemInKernel,
        message: "{mywork} {problem}",
        offence: "{mywork} is launched",
        operation,
        why,
        help,
        fortran: "",
    }
}

/// The rows for kernels that call NVSHMEM.
pub(super) const IN_KERNELS: &[Wording] = &[
    in_kernel(
        Code::NotSymmetric,
        "{starter} is called for the memory",
        "other PEs find their object by this address: it must lie in memory that nvshmem_malloc has returned on all PEs; \
         variables, and memory of cudaMalloc, are not symmetric",
        "pass the kernel memory of nvshmem_malloc for the dest of puts, the source of gets, signals and atomics, and free \
         it after the kernel is done; only the source of a put and the dest of a get may be other memory",
    ),
    in_kernel(
        Code::BeyondSymmetric,
        "the memory is allocated here",
        "what lies behind an allocation is another one, or memory of the library, which other PEs lose without notice",
        "match the index and the count to the allocation: counts are in elements of the call's type, sizes of \
         nvshmem_malloc in bytes",
    ),
    in_kernel(
        Code::NoSuchPe,
        "",
        "PEs are numbered from 0 to nvshmem_n_pes() - 1",
        "check how the number of the PE is computed; wrap around or leave the call out where there is no neighbour, since \
         NVSHMEM has no null PE",
    ),
];

/// The rows for NVSHMEM, where it has other words.
pub(super) const NVSHMEM: &[Wording] = &[
    of_nvshmem(
        Code::NotSymmetric,
        "the memory is freed here",
        "other PEs find their object by this address: it must lie in memory that nvshmem_malloc has returned on all PEs; \
         variables, and memory of cudaMalloc and malloc, are not symmetric",
        "allocate it with nvshmem_malloc on all PEs and free it after its last use; only the source of a put and the \
         dest of a get may be other memory",
    ),
    of_nvshmem(
        Code::BeyondSymmetric,
        "the memory is allocated here",
        "what lies behind an allocation is another one, or memory of the library, which other PEs lose without notice",
        "match the count to the allocation: counts are in elements of the call's type, sizes of nvshmem_malloc in bytes; \
         fcollect and alltoall need a block for each PE of the team",
    ),
    of_nvshmem(
        Code::NoSuchPe,
        "",
        "PEs are numbered from 0 to nvshmem_n_pes() - 1, roots within the team, and only the PEs of a team call its \
         collectives",
        "check how {argument} is computed; wrap around or leave the call out where there is no neighbour, since NVSHMEM \
         has no null PE",
    ),
    of_nvshmem(
        Code::SymmetricFreedWrongly,
        "the block comes from here",
        "a block is freed once, by the pointer that nvshmem_malloc has returned; NVSHMEM ends the program else, or \
         corrupts the symmetric heap",
        "free each block once and set the pointer to NULL then; memory of cudaMalloc is freed by cudaFree",
    ),
    Wording {
        code: Code::SymmetricNeverFreed,
        case: Case::Nvshmem,
        message: "no call frees what {operation} allocates: {problem} at nvshmem_finalize",
        offence: "",
        operation: "{problem}",
        why: "the symmetric heap lies in the device's memory and is limited, and a place that allocates again and again \
              uses it up",
        help: "free each block with nvshmem_free on all PEs, or allocate it once before the loop",
        fortran: "",
    },
    Wording {
        code: Code::OutsideShmem,
        case: Case::Nvshmem,
        message: "{operation} is called {problem}",
        offence: "",
        operation: "{starter} is called {problem}",
        why: "NVSHMEM may be called between nvshmem_init and nvshmem_finalize, and ends the program, or fails, else",
        help: "move the call; keep the PE's number in a variable if it is needed after nvshmem_finalize",
        fortran: "",
    },
];

/// The rows, in the order of codes.
pub(super) const SHMEM: &[Wording] = &[
    of_argument(
        Code::NotSymmetric,
        "the memory is freed here",
        "other PEs find their object by this address: it must be that of a static variable, or lie in memory that \
         shmem_malloc has returned on all PEs",
        "make the variable static, or allocate it with shmem_malloc on all PEs and free it after its last use",
    ),
    of_argument(
        Code::BeyondSymmetric,
        "the memory is allocated here",
        "what lies behind an allocation is another one, or memory of the library, which other PEs lose without notice",
        "match the count to the allocation: counts are in elements of the call's type, sizes of shmem_malloc in bytes; \
         shmem_fcollect and shmem_alltoall need a block for each PE",
    ),
    of_argument(
        Code::NoSuchPe,
        "",
        "PEs are numbered from 0; an active set is PE_size of them, from PE_start in steps of 2 to the power of \
         logPE_stride, and its PEs alone call its collectives",
        "check how {argument} is computed; wrap around or leave the call out where there is no neighbour, since OpenSHMEM \
         has no null PE",
    ),
    Wording {
        code: Code::AllocationsDiffer,
        case: Case::Usual,
        message: "{who} and {other} pass different values, but all PEs must make and free the same allocations",
        offence: "{mine}",
        operation: "{theirs}",
        why: "both are the {nth} collective on {on}; the symmetric heaps of PEs are alike only if all make and free the \
              same blocks in the same order",
        help: "compute sizes from values that are equal on all PEs, of amounts that differ the largest; free in the same \
               order on all PEs",
        fortran: "",
    },
    of_argument(
        Code::SymmetricFreedWrongly,
        "the block comes from here",
        "a block is freed once, by the pointer that shmem_malloc has returned; libraries abort else, or corrupt the \
         symmetric heap",
        "free each block once and set the pointer to NULL then; memory of malloc is freed by free",
    ),
    Wording {
        code: Code::SymmetricFreedPending,
        case: Case::Usual,
        message: "{who} frees symmetric memory that {operation} still accesses at another PE",
        offence: "{by} frees the memory",
        operation: "{starter} accesses it",
        why: "{pending}; the barrier of {by} completes only operations without a context",
        help: "call shmem_ctx_quiet, or shmem_ctx_destroy, before the memory is freed",
        fortran: "",
    },
    Wording {
        code: Code::SymmetricNeverFreed,
        case: Case::Usual,
        message: "no call frees what {operation} allocates: {problem} at shmem_finalize",
        offence: "",
        operation: "{problem}",
        why: "the symmetric heap has a fixed size, and a place that allocates again and again uses it up",
        help: "free each block with shmem_free on all PEs, or allocate it once before the loop",
        fortran: "",
    },
    Wording {
        code: Code::OutsideShmem,
        case: Case::Usual,
        message: "{operation} is called {problem}",
        offence: "",
        operation: "{starter} is called {problem}",
        why: "OpenSHMEM may be called between shmem_init and shmem_finalize, and most libraries crash else",
        help: "move the call; keep the PE's number in a variable if it is needed after shmem_finalize",
        fortran: "",
    },
    of_argument(
        Code::WorkArrayReused,
        "this collective used it before",
        "PEs synchronise through the array: whoever is still in the collective before gets wrong results from what this \
         one does to it, or waits for ever; only shmem_barrier and shmem_sync of the same active set may use theirs again \
         at once",
        "call shmem_barrier_all before the array is used again, or use several arrays in turn",
    ),
    Wording {
        code: Code::DestinationNotReady,
        case: Case::Usual,
        message: "{who} {verb} the destination of {operation}, which other PEs may be in already",
        offence: "{access}",
        operation: "this call writes it",
        why: "PEs write each other's destinations as soon as they are in the collective, whether the other one has \
              come to it or not, and nothing orders {by} at {here} before {problem} came to it",
        help: "call shmem_barrier_all between the last use of the destination and the collective, or receive in memory \
               that is used for nothing else",
        fortran: "",
    },
    Wording {
        code: Code::NvshmemCollectivesDiffer,
        case: Case::Usual,
        message: "{who} and {other} do not match, but both are the {nth} collective on {on}",
        offence: "{mine}",
        operation: "{theirs}",
        why: "NVSHMEM matches the collectives on {on} in the order of each PE's calls, in whatever streams, so {by} at \
              {here} matches {starter} at {started}; call, root, reduction, count and type must be equal on all PEs",
        help: "make the same calls with the same arguments and in the same order on all PEs of the team: look for a \
               branch, an early return or a loop exit that only some PEs take, and compute counts and roots from values \
               that are equal on all PEs",
        fortran: "",
    },
];
