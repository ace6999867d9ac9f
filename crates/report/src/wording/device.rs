//! Work of CUDA streams.

use super::Wording;
use crate::facts::Case;
use commsan_model::Code;

/// The rows, in the order of codes.
pub(super) const DEVICE: &[Wording] = &[
    Wording {
        code: Code::StreamsRace,
        case: Case::Usual,
        message: "{mywork} {verb} {range} that {work} {otherwise}",
        offence: "{does}",
        operation: "{works}",
        why: "{work} was put into its stream at {started}, {mywork} at {here}; no event, no wait of \
              the host and no rule of default streams orders the two",
        help: "record an event behind the first and let the other's stream wait for it \
               (cudaEventRecord, cudaStreamWaitEvent), put both into one stream, or wait on the \
               host in between (cudaStreamSynchronize)",
        fortran: "",
    },
    Wording {
        code: Code::WorkMeetsHost,
        case: Case::Usual,
        message: "{who} {verb} {range} that {work} {otherwise}",
        offence: "{access}",
        operation: "{works}",
        why: "{work} was put into its stream at {started}, and {waited}; {by} at {here} {order}",
        help: "wait for the work before {by}: by cudaStreamSynchronize, cudaDeviceSynchronize, or \
               cudaEventSynchronize of an event recorded behind it",
        fortran: "",
    },
    Wording {
        code: Code::WorkMeetsCall,
        case: Case::Usual,
        message: "{who} {verb} {range} that {work} {otherwise}",
        offence: "{access}",
        operation: "{works}",
        why: "{work} was put into its stream at {started}, and {waited}; MPI does not wait for \
              streams",
        help: "wait for the work before {by}: by cudaStreamSynchronize, cudaDeviceSynchronize, or \
               cudaEventSynchronize of an event recorded behind it",
        fortran: "",
    },
    Wording {
        code: Code::CallMeetsWork,
        case: Case::Usual,
        message: "{mywork} {verb} {range} that {operation} {using}",
        offence: "{does}",
        operation: "{starts}",
        why: "{pending}; {mywork}, put into its stream at {here}, does not wait for it",
        help: "{complete} before putting the work into its stream, or give it another buffer",
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
               MPI_Win_flush and a message) before putting the work into its stream; wait for the \
               stream before the epoch in which others access the window",
        fortran: "",
    },
    Wording {
        code: Code::FreedDeviceMemory,
        case: Case::Usual,
        message: "{mywork} {verb} memory that {starter} at {started} has given back",
        offence: "{does}",
        operation: "{starter} gives it back",
        why: "the memory was given back at {started}, before {mywork} at {here}",
        help: "give the memory back behind its last use, or allocate it again",
        fortran: "",
    },
    Wording {
        code: Code::FreedDeviceMemory,
        case: Case::NotYet,
        message: "{mywork} {verb} memory that {starter} at {started} may not have allocated yet",
        offence: "{does}",
        operation: "{starter} allocates it in the order of its stream",
        why: "{starter} takes effect in the order of its stream, and nothing orders {mywork} at \
              {here} after that",
        help: "use the memory in the stream it was allocated in; let another stream wait for an event \
               recorded behind {starter}, and the host for the stream before it calls MPI",
        fortran: "",
    },
    Wording {
        code: Code::WorkMemoryReleased,
        case: Case::Usual,
        message: "{by} releases memory that {work} {otherwise}",
        offence: "{by} releases the memory",
        operation: "{works}",
        why: "{work} was put into its stream at {started}, and {waited}; {by} does not wait for it",
        help: "wait for the work before releasing the memory; cudaFreeAsync belongs into the stream \
               of the last use, or into one that waits for it",
        fortran: "",
    },
    Wording {
        code: Code::WorkMemoryReleased,
        case: Case::Returned,
        message: "{function} returns while {work} {otherwise} its variables",
        offence: "{function} returns here",
        operation: "{works}",
        why: "{work} was put into its stream at {started}, and {waited}; the functions called after the \
              return at {here} use the same memory",
        help: "wait for the work before the function returns, or use memory that lives longer: static, \
               on the heap, or the caller's",
        fortran: "",
    },
    Wording {
        code: Code::DeviceMemoryOnHost,
        case: Case::Usual,
        message: "{who} {verb} memory of a device, which {starter} at {started} has allocated",
        offence: "{access}",
        operation: "{starter} allocates {size} on the device",
        why: "memory from {starter} can be reached by devices and by CUDA-aware MPI, not by the host: \
              on hardware {by} at {here} ends the program",
        help: "copy the data (cudaMemcpy), or allocate with cudaMallocManaged or cudaMallocHost",
        fortran: "",
    },
    Wording {
        code: Code::KernelFailed,
        case: Case::Usual,
        message: "{mywork} failed: {problem}",
        offence: "{mywork} is launched",
        operation: "{starter} allocates {size}, the nearest memory",
        why: "what a kernel does wrong cannot be undone: its device does nothing any more, and every later call of \
              CUDA returns the error",
        help: "compare the index with the memory that there is, in the kernel or where it is launched; look at what \
               cudaGetLastError and the call that waits for the kernel return",
        fortran: "",
    },
    Wording {
        code: Code::ProcessesRace,
        case: Case::Usual,
        message: "{mywork} {verb} {range} that {work} {otherwise}",
        offence: "{does}",
        operation: "{works}",
        why: "the memory is open in both ranks; one is started at {started}, the other at {here}, and no event orders the \
              two, nor has the host of the first waited for it and then told the other",
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
        help: "close it by cudaIpcCloseMemHandle in the rank that has opened it, and let that one tell the owner, by a message or \
               a barrier, before the owner frees it",
        fortran: "",
    },
];
