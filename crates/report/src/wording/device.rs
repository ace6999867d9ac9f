//! Work of CUDA streams.

use super::Wording;
use crate::facts::Case;
use commsan_findings::Code;

const fn until_quiet(
    code: Code,
    message: &'static str,
    offence: &'static str,
    offender: &'static str,
) -> Wording {
    Wording {
        code,
        case: Case::UntilQuiet,
        message,
        offence,
        operation: "{works}",
        why: offender,
        help: "wait for the operation before the buffer is used again: nvshmem_quiet, or nvshmemx_quiet_on_stream in the \
               stream that uses it; or use the blocking variant",
        fortran: "",
    }
}

/// Nonblocking operations of NVSHMEM, and calls of it on the host.
pub(super) const UNTIL_QUIET: &[Wording] = &[
    until_quiet(
        Code::StreamsRace,
        "{mywork} {verb} {range} that {work} {otherwise}",
        "{does}",
        "{work} began at {started} and {mywork} was enqueued at {here}; the operation uses the buffer until \
         nvshmem_quiet, whatever stream it is in",
    ),
    until_quiet(
        Code::WorkMeetsHost,
        "{who} {verb} {range} that {work} {otherwise}",
        "{access}",
        "{work} began at {started} and uses the buffer until nvshmem_quiet; {waited}",
    ),
    until_quiet(
        Code::WorkMeetsCall,
        "{who} {verb} {range} that {work} {otherwise}",
        "{access}",
        "{work} began at {started} and uses the buffer until nvshmem_quiet; {waited}",
    ),
    Wording {
        code: Code::WorkMeetsCall,
        case: Case::Nvshmem,
        message: "{who} {verb} {range} that {work} {otherwise}",
        offence: "{access}",
        operation: "{works}",
        why: "{work} was enqueued at {started}, and {waited}; calls of NVSHMEM on the host do not synchronise with CUDA \
              streams",
        help: "synchronise with the work before {by} (cudaStreamSynchronize), or call its variant for the stream, as \
               nvshmemx_putmem_on_stream",
        fortran: "",
    },
];

/// The rows, in the order of codes.
pub(super) const DEVICE: &[Wording] = &[
    Wording {
        code: Code::StreamsRace,
        case: Case::Usual,
        message: "{mywork} {verb} {range} that {work} {otherwise}",
        offence: "{does}",
        operation: "{works}",
        why: "{work} was enqueued at {started} and {mywork} at {here}; no event, host \
              synchronisation or default-stream rule orders one before the other",
        help: "record an event after the first and make the other stream wait for it \
               (cudaEventRecord, cudaStreamWaitEvent), use one stream for both, or synchronise on \
               the host in between (cudaStreamSynchronize)",
        fortran: "",
    },
    Wording {
        code: Code::WorkMeetsHost,
        case: Case::Usual,
        message: "{who} {verb} {range} that {work} {otherwise}",
        offence: "{access}",
        operation: "{works}",
        why: "{work} was enqueued at {started}, and {waited}; {by} at {here} {order}",
        help: "synchronise with the work before {by}: cudaStreamSynchronize, cudaDeviceSynchronize, or \
               cudaEventSynchronize on an event recorded after it",
        fortran: "",
    },
    Wording {
        code: Code::WorkMeetsCall,
        case: Case::Usual,
        message: "{who} {verb} {range} that {work} {otherwise}",
        offence: "{access}",
        operation: "{works}",
        why: "{work} was enqueued at {started}, and {waited}; MPI does not \
              synchronise with CUDA streams",
        help: "synchronise with the work before {by}: cudaStreamSynchronize, cudaDeviceSynchronize, or \
               cudaEventSynchronize on an event recorded after it",
        fortran: "",
    },
    Wording {
        code: Code::CallMeetsWork,
        case: Case::Usual,
        message: "{mywork} {verb} {range} that {operation} {using}",
        offence: "{does}",
        operation: "{starts}",
        why: "{pending}; {mywork}, enqueued at {here}, does not wait for it",
        help: "{complete} before enqueueing the work, or use another buffer",
        fortran: "",
    },
    Wording {
        code: Code::WorkMeetsRemote,
        case: Case::Usual,
        message: "{mywork} {verb} {part} while {other} {otherwise} it",
        offence: "{does}",
        operation: "{carries}",
        why: "{unordered}",
        help: "complete the operation at its target and let this rank know (MPI_Win_fence, or \
               MPI_Win_flush and a message) before enqueueing the work; synchronise the \
               stream before the epoch in which others access the window",
        fortran: "",
    },
    Wording {
        code: Code::FreedDeviceMemory,
        case: Case::Usual,
        message: "{mywork} {verb} memory that {starter} at {started} has freed",
        offence: "{does}",
        operation: "{starter} frees it",
        why: "the memory was freed at {started}, before {mywork} at {here}",
        help: "free the memory after its last use, or allocate it again",
        fortran: "",
    },
    Wording {
        code: Code::FreedDeviceMemory,
        case: Case::NotYet,
        message: "{mywork} {verb} memory that {starter} at {started} may not have allocated yet",
        offence: "{does}",
        operation: "{starter} allocates it in stream order",
        why: "{starter} takes effect in stream order, and nothing orders {mywork} at \
              {here} after it",
        help: "use the memory in the stream that allocates it; make another stream wait for an event \
               recorded after {starter}, and synchronise the stream before calling MPI",
        fortran: "",
    },
    Wording {
        code: Code::WorkMemoryReleased,
        case: Case::Usual,
        message: "{by} releases memory that {work} {otherwise}",
        offence: "{by} releases the memory",
        operation: "{works}",
        why: "{work} was enqueued at {started}, and {waited}; {by} does not wait for it",
        help: "synchronise with the work before releasing the memory; call cudaFreeAsync on the stream \
               of the last use, or on one that waits for it",
        fortran: "",
    },
    Wording {
        code: Code::WorkMemoryReleased,
        case: Case::Returned,
        message: "{function} returns while {work} {otherwise} its variables",
        offence: "{function} returns here",
        operation: "{works}",
        why: "{work} was enqueued at {started}, and {waited}; the functions called after the \
              return at {here} use the same memory",
        help: "synchronise with the work before the function returns, or use memory with a longer lifetime: \
               static, on the heap, or the caller's",
        fortran: "",
    },
    Wording {
        code: Code::DeviceMemoryOnHost,
        case: Case::Usual,
        message: "{who} {verb} device memory that {starter} at {started} has allocated",
        offence: "{access}",
        operation: "{starter} allocates {size} on the device",
        why: "devices and CUDA-aware MPI can access memory from {starter}, the host cannot: on a real \
              GPU {by} at {here} crashes the program",
        help: "copy the data (cudaMemcpy), or allocate with cudaMallocManaged or cudaMallocHost",
        fortran: "",
    },
    Wording {
        code: Code::KernelFailed,
        case: Case::Usual,
        message: "{mywork} failed: {problem}",
        offence: "{mywork} is launched",
        operation: "{starter} allocates {size}, the nearest memory",
        why: "a kernel error is sticky: the device executes nothing any more, and every later CUDA call returns \
              the error",
        help: "check the index against the size of the allocation, in the kernel or at its launch; check the results \
               of cudaGetLastError and of the call that synchronises with the kernel",
        fortran: "",
    },
    Wording {
        code: Code::ProcessesRace,
        case: Case::Usual,
        message: "{mywork} {verb} {range} that {work} {otherwise}",
        offence: "{does}",
        operation: "{works}",
        why: "the memory is open in both ranks; one is started at {started}, the other at {here}, and no event orders the \
              two, nor has the host of the first waited for it and then notified the other",
        help: "wait for the first on its host (cudaStreamSynchronize) before the message or barrier after which the other \
               rank starts the second, or record an event that both have behind the first (cudaIpcGetEventHandle) and \
               let the other's stream wait for it (cudaStreamWaitEvent)",
        fortran: "",
    },
    Wording {
        code: Code::FreedWhileOpen,
        case: Case::Usual,
        message: "{who} frees device memory that is still open in another rank",
        offence: "{by} frees it",
        operation: "{starter} opens it",
        why: "opened at {started}, the memory was not closed before {by} at {here}, which waits for no other process",
        help: "close it by cudaIpcCloseMemHandle in the rank that has opened it, and let that rank notify the owner, by a message or \
               a barrier, before the owner frees it",
        fortran: "",
    },
    Wording {
        code: Code::KernelRace,
        case: Case::Usual,
        message: "threads of {mywork} race on {problem}",
        offence: "{mywork} is launched",
        operation: "{starter} allocates the memory",
        why: "{within}",
        help: "order the two: by __syncthreads within a block, by __syncwarp with the right mask within a warp, by a flag with \
               fences or grid.sync() between blocks; or use atomics in all places",
        fortran: "",
    },
    Wording {
        code: Code::KernelStoresSame,
        case: Case::Usual,
        message: "threads of {mywork} store the same value to {problem}",
        offence: "{mywork} is launched",
        operation: "{starter} allocates the memory",
        why: "{within}; both store the same value, so that it does no harm as long as that stays so",
        help: "let one thread store, or use an atomic; where it is meant, suppress the finding",
        fortran: "",
    },
    Wording {
        code: Code::KernelSynchronisation,
        case: Case::Usual,
        message: "threads of {mywork} synchronise in an undefined way: {problem}",
        offence: "{mywork} is launched",
        operation: "",
        why: "{within}",
        help: "let all threads of the block come to one __syncthreads, outside of conditions that differ between them; name in \
               masks the threads that come there; initialise a barrier object once, with the number of its arrivals",
        fortran: "",
    },
    Wording {
        code: Code::KernelUninitialised,
        case: Case::Usual,
        message: "{mywork} reads memory that nothing has written: {problem}",
        offence: "{mywork} is launched",
        operation: "{starter} allocates the memory",
        why: "{within}",
        help: "write it before: by a kernel, a copy or cudaMemset, and in shared memory by the threads of the block, with a \
               barrier behind; or let the kernel not read what it does not need",
        fortran: "",
    },
];
