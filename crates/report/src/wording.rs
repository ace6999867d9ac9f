//! What a finding says: a row for each code, in a table for each area.
//!
//! Texts hold placeholders in braces; [`Facts`] fills them from one observation.
//!
//! | placeholder | e.g. |
//! |---|---|
//! | `{who}` | `` `pack` ``, `` `memcpy` in `pack` ``, ``MPI_Irecv in `exchange` `` |
//! | `{by}` | `` `free` ``, `MPI_Irecv`, `the write` |
//! | `{function}` | `` `pack` `` |
//! | `{verb}` | `writes`, `reads` |
//! | `{access}` | `8-byte write`, `` `memcpy` writes 64 bytes `` |
//! | `{range}` | `8 bytes at offset 16 of the 8192-byte buffer` |
//! | `{buffer}` | `8192-byte buffer` |
//! | `{operation}` | `MPI_Isend (to rank 1, tag 7)` |
//! | `{starts}` | `MPI_Isend starts to read 8192 bytes` |
//! | `{using}` | `is still sending`, `is still receiving into` |
//! | `{use}` | `read`, `write` |
//! | `{there}` | the operation's place |
//! | `{otherwise}` | `reads`, `writes` |
//! | `{pending}` | `the operation started at heat.c:40 and …` |
//! | `{order}` | `comes before that`, `comes while it is pending` |
//! | `{here}`, `{started}` | `heat.c:52`, `heat.c:40 in rank 1` |
//! | `{complete}` | `complete the request (MPI_Wait, …)`, `complete the operation …` |
//! | `{other}` | `rank 0's MPI_Put` |
//! | `{part}` | `8 bytes at offset 16 of its window 0` |
//! | `{carries}` | `MPI_Put writes 64 bytes of the window` |
//! | `{unordered}` | `nothing orders the read at heat.c:52 before …` |
//! | `{window}`, `{target}` | `window 0`, `rank 1` |
//! | `{reach}`, `{size}` | `bytes 4096-4103`, `4096 bytes` |
//! | `{opener}`, `{closer}` | `MPI_Win_lock (rank 1)`, `MPI_Win_unlock` |
//! | `{bythread}` | `thread 2 of rank 0 made MPI_Put at heat.c:40, but MPI_Barrier at heat.c:44 was called by thread 1, …` |
//! | `{elsewhere}` | `another thread`; `another task, section or iteration` |
//! | `{both}` | nothing, or `; thread 1 happened to run both, but they are two tasks, …` |
//! | `{threads}` | `MPI_Wait at heat.c:44 completes the operation in thread 0, but …` |
//! | `{starter}` | `MPI_Bcast`: the call at the operation's site |
//! | `{on}`, `{nth}` | `MPI_COMM_WORLD`, `3rd` |
//! | `{mine}`, `{theirs}` | `rank 1`, `MPI_SUM`, `64 reals of 8 bytes` |
//! | `{thread}`, `{partner}` | `1`, `0` |
//! | `{required}`, `{provided}` | `MPI_THREAD_FUNNELED` |
//! | `{argument}`, `{problem}` | `` `dest` ``, `is 5, but the communicator's ranks are 0 to 3` |
//! | `{failure}`, `{class}` | `: MPI_ERR_TRUNCATE: rank 1's …`, `MPI_ERR_TRUNCATE`: the error that a call found |
//! | `{remedy}` | `give the receive room for …`: what to do about errors of the class |
//! | `{mend}` | ``check how `dest` is computed on this rank; …`` |
//! | `{longest}` | `MPI_MAX_PROCESSOR_NAME` |
//! | `{rule}` | `with MPI_THREAD_FUNNELED, only the thread that …` |
//! | `{mywork}`, `{work}` | ``kernel `pack` on stream 1 of device 0`` of either side |
//! | `{does}`, `{works}` | ``kernel `pack` on stream 1 of device 0 writes 64 bytes`` |
//! | `{waited}` | `the host waits for it only in cudaStreamSynchronize at heat.cu:57` |
//! | `{within}` | `no barrier of the block (__syncthreads) lies between the two` |
//! | `{free}` | `MPI_Type_free`: what frees the object that the operation's call has made |
//! | `{missing}` | the call that opens the epoch which `{by}` needs |

mod buffers;
mod concurrency;
mod device;
mod nccl;
mod shmem;
mod windows;

use crate::facts::{Case, Facts};
use buffers::BUFFERS;
use commsan_findings::Code;
use concurrency::CONCURRENCY;
use device::{DEVICE, UNTIL_QUIET};
use nccl::NCCL;
use shmem::{IN_KERNELS, NVSHMEM, SHMEM};
use windows::WINDOWS;

/// The texts of one code.
pub struct Wording {
    /// The code.
    pub code: Code,
    /// The circumstances it is for.
    pub case: Case,
    /// One sentence about the occurrence.
    pub message: &'static str,
    /// Label of the first site, unless that is the operation.
    pub offence: &'static str,
    /// Label of the operation's site.
    pub operation: &'static str,
    /// Why the sites are not ordered.
    pub why: &'static str,
    /// How to fix it.
    pub help: &'static str,
    /// What else to know when the places are in Fortran, unless they are on one line.
    pub fortran: &'static str,
}

const MOVED_BY_COMPILER: &str = "; if the access stands after the completing call in the source, the compiler moved it: give \
     the buffer the ASYNCHRONOUS attribute";

const COPIED_BY_COMPILER: &str = "; if the call is given a section of an array, the compiler has passed a temporary \
     copy and copied it back when the call returned (MPI 4.1 §19.1.12): give it memory that is contiguous, or the first \
     element and a datatype for the rest";

const fn between_threads(code: Code) -> Wording {
    Wording {
        code,
        case: Case::Threads,
        message: "{who} {verb} {range} that {operation} {otherwise} in {elsewhere}",
        offence: "{access}",
        operation: "{starts}",
        why: "{threads}",
        help: "order the two threads between the operation and the other use: by a barrier, a \
               taskwait, a lock held until the operation is complete, or by waiting for the thread; \
               or give each thread a buffer of its own",
        fortran: "",
    }
}

/// Several threads.
const BETWEEN_THREADS: &[Wording] = &[
    between_threads(Code::SendBufferWritten),
    between_threads(Code::ReceiveBufferRead),
    between_threads(Code::ReceiveBufferWritten),
    between_threads(Code::OperationsOverlap),
    between_threads(Code::OriginBufferWritten),
    between_threads(Code::ResultBufferUsed),
];

/// All rows.
pub fn wordings() -> impl Iterator<Item = &'static Wording> {
    [
        BUFFERS,
        WINDOWS,
        CONCURRENCY,
        DEVICE,
        NCCL,
        SHMEM,
        NVSHMEM,
        IN_KERNELS,
        UNTIL_QUIET,
        BETWEEN_THREADS,
    ]
    .into_iter()
    .flatten()
}

/// The row for an observation.
pub fn wording(code: Code, case: Case) -> &'static Wording {
    let row = |case| wordings().find(|wording| (wording.code, wording.case) == (code, case));
    let row = row(case).or_else(|| row(Case::Usual));
    row.expect("a test checks that every code has a row")
}

impl Wording {
    /// What else to know when the places are in Fortran.
    pub fn fortran(&self, facts: &Facts<'_>) -> &'static str {
        match self.fortran == MOVED_BY_COMPILER && facts.is_on_line_of_operation() {
            true => COPIED_BY_COMPILER,
            false => self.fortran,
        }
    }
}

/// `template` with its placeholders replaced.
pub fn fill(template: &str, facts: &Facts<'_>) -> String {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        text.push_str(before);
        text.push_str(&facts.get(name).unwrap_or_default());
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests;
