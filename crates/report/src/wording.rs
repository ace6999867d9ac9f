//! What a finding says: one table, a row for each code.
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
//! | `{threads}` | `MPI_Wait at heat.c:44 completes the operation in thread 0, but …` |
//! | `{starter}` | `MPI_Bcast`: the call at the operation's site |
//! | `{on}`, `{nth}` | `MPI_COMM_WORLD`, `3rd` |
//! | `{mine}`, `{theirs}` | `rank 1`, `MPI_SUM`, `64 reals of 8 bytes` |
//! | `{thread}`, `{partner}` | `1`, `0` |
//! | `{required}`, `{provided}` | `MPI_THREAD_FUNNELED` |
//! | `{argument}`, `{problem}` | `` `dest` ``, `is 5, but the communicator's ranks are 0 to 3` |
//! | `{mend}` | ``check how `dest` is computed on this rank; …`` |
//! | `{rule}` | `with MPI_THREAD_FUNNELED, only the thread that …` |
//! | `{mywork}`, `{work}` | ``kernel `pack` on stream 1 of device 0`` of either side |
//! | `{does}`, `{works}` | ``kernel `pack` on stream 1 of device 0 writes 64 bytes`` |
//! | `{waited}` | `the host waits for it only in cudaStreamSynchronize at heat.cu:57` |
//! | `{missing}` | the call that opens the epoch which `{by}` needs |

use crate::facts::{Case, Facts};
use commsan_model::Code;

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

const EPOCH_FOR_OPERATION: &str = "call the operation in an epoch to {target}: between two calls \
     of MPI_Win_fence, from MPI_Win_start to MPI_Win_complete, or from MPI_Win_lock or \
     MPI_Win_lock_all to its unlock";

const CLOSE_EPOCH: &str = "close the epoch by {closer}, also on early returns and in error paths; \
     MPI_Win_flush completes operations, but closes nothing";

const fn between_threads(code: Code) -> Wording {
    Wording {
        code,
        case: Case::Threads,
        message: "{who} {verb} {range} that {operation} {otherwise} in another thread",
        offence: "{access}",
        operation: "{starts}",
        why: "{threads}",
        help: "order the two threads between the operation and the other use: by a barrier, a \
               taskwait, a lock held until the operation is complete, or by waiting for the thread; \
               or give each thread a buffer of its own",
        fortran: "",
    }
}

/// The table.
pub const WORDINGS: &[Wording] = &[
    Wording {
        code: Code::SendBufferWritten,
        case: Case::Usual,
        message: "{who} writes {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before writing to the \
               buffer, or write to a second buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::ReceiveBufferRead,
        case: Case::Usual,
        message: "{who} reads {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, so it sees old data, new data or a mixture",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before reading the \
               buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::ReceiveBufferWritten,
        case: Case::Usual,
        message: "{who} writes {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, so either may overwrite the other",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before writing to the \
               buffer, or receive into a second buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::OperationsOverlap,
        case: Case::Usual,
        message: "{who} {verb} {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, and two operations may use the same bytes only \
              if both read them",
        help: "give each operation its own part of the buffer, or complete the first before the \
               second starts",
        fortran: "",
    },
    Wording {
        code: Code::OperationsOverlap,
        case: Case::WithinOneCall,
        message: "{who} {verb} {range} that it also {otherwise}",
        offence: "{access}",
        operation: "{starts}",
        why: "the two buffers belong to one call, at {here}, and nothing orders its reads and \
              writes",
        help: "give the call two buffers that share no byte, or use MPI_IN_PLACE or a variant \
               such as MPI_Sendrecv_replace where one buffer is meant to be both",
        fortran: "",
    },
    Wording {
        code: Code::PendingBufferFreed,
        case: Case::Usual,
        message: "{who} releases the {buffer} that {operation} {using}",
        offence: "{by} releases the buffer",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, so MPI goes on to {use} memory that may belong \
              to something else",
        help: "{complete} before releasing the buffer",
        fortran: "; if the buffer is an array section or expression, the compiler passed a \
                  temporary copy and released it when the call returned: pass a contiguous array \
                  or describe the section by a derived datatype",
    },
    Wording {
        code: Code::PendingStackBuffer,
        case: Case::Usual,
        message: "{function} returns while {operation} {using} the {buffer} on its stack",
        offence: "{function} returns here",
        operation: "{starts}",
        why: "{pending}; the return at {here} {order}, and the functions called next use the same \
              memory",
        help: "{complete} before the function returns, or use a buffer that lives longer: static, \
               on the heap, or the caller's",
        fortran: "; in Fortran, SAVE or ALLOCATABLE in a module makes a buffer live longer",
    },
    Wording {
        code: Code::PendingStackBuffer,
        case: Case::NoticedLater,
        message: "the function whose stack holds the {buffer} returned while {operation} {using} \
                  it",
        offence: "the function has returned before {by}",
        operation: "{starts}",
        why: "{pending}; the buffer's function returned before {by} at {here}, and the functions \
              called next use the same memory",
        help: "{complete} before the function returns, or use a buffer that lives longer: static, \
               on the heap, or the caller's",
        fortran: "; in Fortran, SAVE or ALLOCATABLE in a module makes a buffer live longer",
    },
    Wording {
        code: Code::BufferTooShort,
        case: Case::Usual,
        message: "{operation} uses {size} at {argument}, which {problem}",
        offence: "",
        operation: "{argument} {problem}",
        why: "an MPI call uses as many bytes as its count and datatype say, whatever memory there is: what lies behind \
              is sent to others, or overwritten",
        help: "make count and datatype fit the memory, or the memory fit them: counts are in elements of the datatype, \
               in collectives often of one rank's part, and only sizes of windows are in bytes",
        fortran: "",
    },
    Wording {
        code: Code::AttachedBufferUsed,
        case: Case::Usual,
        message: "{who} {verb} {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "from {starter} at {started} until MPI_Buffer_detach the memory holds messages of MPI_Bsend and its like \
              that are not delivered yet",
        help: "use the memory after MPI_Buffer_detach, which waits until it holds no message; attach memory that \
               nothing else uses",
        fortran: "",
    },
    Wording {
        code: Code::RequestNeverCompleted,
        case: Case::Usual,
        message: "no call completes the request of {operation}",
        offence: "",
        operation: "{starts}",
        why: "the operation started at {started}; it is complete only when MPI_Wait, MPI_Test or \
              a variant of them says so, and none did before the program ended",
        help: "keep the request and complete it before MPI_Finalize, e.g. by MPI_Wait or \
               MPI_Waitall",
        fortran: "",
    },
    Wording {
        code: Code::RequestNeverCompleted,
        case: Case::OnWindow,
        message: "no call completes the request of {operation}",
        offence: "",
        operation: "{starts}",
        why: "the operation started at {started}; the end of its epoch completes it, but only MPI_Wait, MPI_Test or \
              a variant of them frees its request, and none did before the program ended",
        help: "complete the request, e.g. by MPI_Wait or MPI_Waitall, or use the variant of the call without a request",
        fortran: "",
    },
    Wording {
        code: Code::RequestNeverCompleted,
        case: Case::Split,
        message: "no call ends {operation}",
        offence: "",
        operation: "{starts}",
        why: "{starter} at {started} is the first half of a collective on the file; it is complete only when the second \
              half returns, which has the same name with _end, and none did before the program ended",
        help: "call the second half on the same file and buffer, before the file is closed and before the next collective \
               access to it",
        fortran: "",
    },
    Wording {
        code: Code::RequestOverwritten,
        case: Case::Usual,
        message: "{who} overwrites the request of {operation}, which is still active",
        offence: "{by} stores its own request in the same variable",
        operation: "{starts}",
        why: "the request of the operation started at {started} was kept only in the variable \
              overwritten at {here}, so no call can complete it any more",
        help: "complete the request before its variable is used again, or keep each request in \
               its own element of an array and complete all by MPI_Waitall",
        fortran: "",
    },
    Wording {
        code: Code::ActiveRequestFreed,
        case: Case::Usual,
        message: "{who} frees the request of {operation}, which is still active",
        offence: "{by} frees the active request",
        operation: "{starts}",
        why: "without the request nothing tells when the operation started at {started} is \
              complete, so its buffer can never be used safely again; requests of nonblocking \
              collectives must not be freed at all",
        help: "complete the request by MPI_Wait or MPI_Test, which free it, too",
        fortran: "",
    },
    Wording {
        code: Code::ActiveRequestStarted,
        case: Case::Usual,
        message: "{who} starts the persistent request of {operation}, which is still active",
        offence: "{by} starts the active request again",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}",
        help: "complete the request (MPI_Wait, or MPI_Test returning true) before starting it \
               again",
        fortran: "",
    },
    Wording {
        code: Code::InvalidArgument,
        case: Case::Usual,
        message: "{argument} of {operation} {problem}",
        offence: "the object is freed here",
        operation: "{argument} {problem}",
        why: "the standard does not allow this argument, whatever the library makes of it: most end the program \
              over it",
        help: "{mend}",
        fortran: "",
    },
    Wording {
        code: Code::TypeNotCommitted,
        case: Case::Usual,
        message: "{argument} of {operation} {problem}",
        offence: "",
        operation: "{argument} {problem}",
        why: "a datatype must be committed before it is used in a communication",
        help: "call MPI_Type_commit when the type has been made",
        fortran: "",
    },
    Wording {
        code: Code::BufferOfOtherType,
        case: Case::Usual,
        message: "{operation} uses {argument} {problem}",
        offence: "",
        operation: "{argument} is used {problem}",
        why: "the datatype must be that of the variable: MPI neither knows nor converts what is in the buffer, so that \
              other values arrive, or more or fewer of them",
        help: "give the datatype of the variable's elements; data that is sent as bytes on purpose is MPI_BYTE on \
               both sides",
        fortran: "",
    },
    Wording {
        code: Code::WrittenTwice,
        case: Case::Usual,
        message: "{argument} of {operation} {problem}",
        offence: "",
        operation: "{argument} {problem}",
        why: "which of the values remains where elements overlap is a matter of chance, so the standard does not allow \
              it where a call writes",
        help: "compare strides, displacements and extents with the sizes of elements: those of hvector, hindexed, struct \
               and resized are in bytes",
        fortran: "",
    },
    Wording {
        code: Code::OutsideMpi,
        case: Case::Usual,
        message: "{operation} is called {problem}",
        offence: "",
        operation: "{starter} is called {problem}",
        why: "MPI is there from MPI_Init to MPI_Finalize, and as long as there is a session; libraries end the program \
              over other calls, as far as they notice",
        help: "move the call; objects that live longer than main must not call MPI when they are made or destroyed",
        fortran: "",
    },
    Wording {
        code: Code::NeverFinalized,
        case: Case::Usual,
        message: "the program ends without MPI_Finalize",
        offence: "",
        operation: "{starter} initialises MPI, which nothing ends",
        why: "messages may not have been delivered when a process is gone, and launchers take its end for a crash",
        help: "call MPI_Finalize on every way to the end of the program, or MPI_Abort to end the job over an error",
        fortran: "",
    },
    Wording {
        code: Code::NeverFinalized,
        case: Case::Session,
        message: "the program ends without MPI_Session_finalize",
        offence: "",
        operation: "{starter} begins a session, which nothing ends",
        why: "messages may not have been delivered when a process is gone, and launchers take its end for a crash",
        help: "call MPI_Session_finalize for each session on every way to the end of the program",
        fortran: "",
    },
    Wording {
        code: Code::CallFailed,
        case: Case::Usual,
        message: "MPI ended the program in {operation}",
        offence: "",
        operation: "{starter} found an error",
        why: "an error of an MPI call ends the program unless it asks for error codes; the library's own \
              message says which error it was",
        help: "read the library's message; of a truncated message, receive as much as is sent at most",
        fortran: "",
    },
    Wording {
        code: Code::CallCrashed,
        case: Case::Usual,
        message: "the program crashed in {operation}: {problem}",
        offence: "",
        operation: "{problem}",
        why: "the call has used memory that is not there, or that was damaged: of a buffer, by a count that goes beyond \
              it, or of an object that was freed or never made",
        help: "compare the arguments with what the call needs; if they are right, something has written over memory \
               before: AddressSanitizer (-fsanitize=address) tells what",
        fortran: "",
    },
    Wording {
        code: Code::ErrorIgnored,
        case: Case::Usual,
        message: "{operation} returned {problem}, and the program went on",
        offence: "",
        operation: "{starter} returned {problem}",
        why: "the call has not done all that it was to do, and until MPI_Finalize the program has not asked what any \
              error means",
        help: "correct what the error is about, and look at what calls return wherever MPI_ERRORS_RETURN is set: \
               MPI_Error_string tells what it means",
        fortran: "",
    },
    Wording {
        code: Code::ObjectNotFreed,
        case: Case::Usual,
        message: "no call frees what {other} makes",
        offence: "",
        operation: "{other} makes an object that is never freed",
        why: "it was made at {started}, and MPI_Finalize frees no objects: their memory is lost",
        help: "free it when it is not needed any more, by MPI_Comm_free, MPI_Type_free, MPI_Group_free, MPI_Op_free or \
               MPI_Request_free",
        fortran: "",
    },
    Wording {
        code: Code::FileNotClosed,
        case: Case::Usual,
        message: "no call closes the file that {other} opens",
        offence: "",
        operation: "{other} opens a file that is never closed",
        why: "it was opened at {started}, and MPI_Finalize closes no files: what is still to be written may be lost",
        help: "call MPI_File_close on all ranks that have opened the file, before MPI_Finalize",
        fortran: "",
    },
    Wording {
        code: Code::FileClosedEarly,
        case: Case::Usual,
        message: "{by} closes or disconnects what {operation} {using}",
        offence: "{by} comes before that is complete",
        operation: "{starts}",
        why: "{pending}; {by} comes before that",
        help: "{complete} before the file is closed, or the communicator disconnected",
        fortran: "",
    },
    Wording {
        code: Code::OriginBufferWritten,
        case: Case::Usual,
        message: "{who} writes {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}",
        help: "{complete} before writing to the buffer, or write to a second buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::ResultBufferUsed,
        case: Case::Usual,
        message: "{who} {verb} {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "{pending}; {by} at {here} {order}, so the result may be there, not yet, or in part",
        help: "{complete} before using its result",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::WindowAccessRace,
        case: Case::Usual,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{unordered}; MPI_Barrier completes no RMA operation",
        help: "complete the operation at the target and let the owner know: MPI_Win_fence does \
               both, so do MPI_Win_complete and MPI_Win_wait together; after MPI_Win_flush or \
               MPI_Win_unlock, a message or barrier must follow",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::TargetRace,
        case: Case::Usual,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{unordered}; MPI_Barrier completes no RMA operation",
        help: "give each operation bytes of its own, use accumulates of one datatype and operation \
               on both sides, or complete one operation at the target (MPI_Win_flush or the end of \
               its epoch) and let the other's origin know, by a message or barrier, before the \
               other starts",
        fortran: "",
    },
    Wording {
        code: Code::TargetRace,
        case: Case::SameOrigin,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{unordered}; operations of one process to one target are in no order of their own",
        help: "give each operation bytes of its own, or complete the first, by MPI_Win_flush or the \
               end of its epoch, before the second starts",
        fortran: "",
    },
    Wording {
        code: Code::TargetRace,
        case: Case::Threads,
        message: "{who} {verb} {part}, which {other} in another thread {otherwise}",
        offence: "{access}",
        operation: "{carries}",
        why: "{threads}",
        help: "give each thread's operations bytes of their own, or order the threads between the completion of the one and \
               the start of the other: by a barrier, a taskwait, a lock held until the operation is complete, or by \
               waiting for the thread",
        fortran: "",
    },
    Wording {
        code: Code::TargetRace,
        case: Case::Accumulates,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{unordered}; accumulates may overlap only with the same predefined datatype, and the \
              same operation or (unless the window's info says same_op) MPI_NO_OP",
        help: "use one predefined datatype and one operation on both sides, or complete one before \
               the other starts",
        fortran: "",
    },
    Wording {
        code: Code::ViewsDiffer,
        case: Case::Usual,
        message: "{who} {verb} {part}; in the separate memory model, that does not go with {other}",
        offence: "{access}",
        operation: "{carries}",
        why: "loads and stores use the owner's private copy of a window, operations of others the \
              public one; these agree only when the owner has called MPI_Win_fence, MPI_Win_sync, or \
              MPI_Win_post and MPI_Win_wait, MPI_Win_unlock and MPI_Win_lock in between, and until \
              then no store goes with a put or accumulate, not even to other bytes",
        help: "let the owner call MPI_Win_sync between the two, or keep stores and operations in \
               epochs of their own; a program that only runs where MPI_WIN_MODEL is \
               MPI_WIN_UNIFIED is right as it is",
        fortran: "",
    },
    Wording {
        code: Code::SharedMemoryRace,
        case: Case::Usual,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "no message, barrier, lock or atomic variable orders {by} at {here} and the other \
              access at {there}; MPI_Win_sync waits for nobody",
        help: "let one rank wait for the other between the two: MPI_Win_fence, or MPI_Win_sync, \
               MPI_Barrier or a message, and MPI_Win_sync; flags that ranks wait for must be atomic",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::OutsideEpoch,
        case: Case::Usual,
        message: "{who} accesses {target} through {window} outside an access epoch",
        offence: "{by} has no access epoch",
        operation: "",
        why: "no epoch in which {target} may be accessed is open at {here}",
        help: EPOCH_FOR_OPERATION,
        fortran: "",
    },
    Wording {
        code: Code::OutsideEpoch,
        case: Case::InEpoch,
        message: "{who} accesses {target} through {window} with a request, in an epoch of active target synchronisation",
        offence: "{by} needs a passive target epoch",
        operation: "{opener} opens an epoch of active target synchronisation",
        why: "operations with requests may be called in passive target epochs alone, and the epoch that {opener} opened at \
              {started} is none",
        help: "call the operation without a request, which the end of this epoch completes, or between MPI_Win_lock or \
               MPI_Win_lock_all and its unlock",
        fortran: "",
    },
    Wording {
        code: Code::OutsideWindow,
        case: Case::Usual,
        message: "{who} accesses {reach} of {window} in {target}, which has {size} there",
        offence: "{by} reaches beyond the window",
        operation: "{other} makes the window",
        why: "the bytes follow from the displacement and the target's displacement unit, the \
              datatype and the count, and must lie within the size given by the target",
        help: "check displacement, count and datatype at {here} against the size and displacement \
               unit that {target} gave to {other}",
        fortran: "; displacements count from 0",
    },
    Wording {
        code: Code::OutsideWindow,
        case: Case::Unattached,
        message: "{who} accesses memory of {target} that is not attached to {window}",
        offence: "{by} reaches beyond the attached memory",
        operation: "{other} makes the window",
        why: "a dynamic window has the memory that the target attached by MPI_Win_attach, found by \
              the addresses of MPI_Get_address there",
        help: "attach the memory before others access it, detach it after their operations are \
               complete, and check the address at {here}",
        fortran: "",
    },
    Wording {
        code: Code::EpochMismatch,
        case: Case::Usual,
        message: "{who} on {window} finds no epoch open that it belongs to",
        offence: "{by} has no epoch",
        operation: "",
        why: "at {here}, no epoch is open that {missing} opened",
        help: "pair each {by} with {missing}, also on early returns and in error paths",
        fortran: "",
    },
    Wording {
        code: Code::EpochMismatch,
        case: Case::InEpoch,
        message: "{who} does not fit the epoch that {opener} opened on {window}",
        offence: "{by} does not fit the open epoch",
        operation: "{opener} opens the epoch",
        why: "the epoch opened at {started} lasts until {closer}, and {by} at {here} comes before \
              that",
        help: "close the epoch by {closer} before {by}; a window is synchronised in one way at a \
               time",
        fortran: "",
    },
    Wording {
        code: Code::EpochMismatch,
        case: Case::SaysNone,
        message: "{who} is said to complete no operations, but some follow {opener} on {window}",
        offence: "{by} is said to complete no operations",
        operation: "operations follow {opener}",
        why: "operations were started after {started}, and {by} at {here} has MPI_MODE_NOPRECEDE, by \
              which it need not complete them",
        help: "call {by} without MPI_MODE_NOPRECEDE where operations precede it in any rank",
        fortran: "",
    },
    Wording {
        code: Code::EpochNotClosed,
        case: Case::Usual,
        message: "the epoch that {opener} opened on {window} is never closed",
        offence: "",
        operation: "{opener} opens the epoch",
        why: "the epoch was opened at {started}, and no {closer} came before the program ended",
        help: CLOSE_EPOCH,
        fortran: "",
    },
    Wording {
        code: Code::EpochNotClosed,
        case: Case::InEpoch,
        message: "{who} comes while the epoch that {opener} opened on {window} is open",
        offence: "{by} comes within the epoch",
        operation: "{opener} opens the epoch",
        why: "the epoch was opened at {started}, and no {closer} came before {by} at {here}",
        help: CLOSE_EPOCH,
        fortran: "",
    },
    Wording {
        code: Code::WindowNotFreed,
        case: Case::Usual,
        message: "no call frees {window}, made by {other}",
        offence: "",
        operation: "{other} makes the window",
        why: "the window was made at {started}, and no MPI_Win_free came before the program ended",
        help: "call MPI_Win_free in every process of the window's group before MPI_Finalize",
        fortran: "",
    },
    Wording {
        code: Code::WindowMemoryFreed,
        case: Case::Usual,
        message: "{who} releases {size} of {window}, made by {other}, which is used afterwards",
        offence: "{by} releases memory of the window",
        operation: "{other} makes the window",
        why: "calls on the window made at {started} follow: until MPI_Win_free has returned, other ranks may access its \
              memory, whatever that belongs to by then",
        help: "release the memory when MPI_Win_free, or MPI_Win_detach, has returned; destructors of containers \
               run after that if the window is freed in an inner scope",
        fortran: "",
    },
    Wording {
        code: Code::FalseAssertion,
        case: Case::Usual,
        message: "{who} {verb} {part}, though {opener} asserts that nothing was written there",
        offence: "{access}",
        operation: "{opener} has MPI_MODE_NOSTORE",
        why: "{by} at {here} comes after the window was last synchronised, and before {opener} at {there}",
        help: "call {opener} without MPI_MODE_NOSTORE; 0 is always right",
        fortran: "",
    },
    Wording {
        code: Code::FalseAssertion,
        case: Case::FromAfar,
        message: "{who} {verb} {part}, though {opener} asserts that nobody puts or accumulates there",
        offence: "{access}",
        operation: "{opener} has MPI_MODE_NOPUT",
        why: "{by} at {here} is in the epoch that {opener} at {there} opens",
        help: "call {opener} without MPI_MODE_NOPUT; 0 is always right",
        fortran: "",
    },
    Wording {
        code: Code::CollectivesDiffer,
        case: Case::Usual,
        message: "{who} and {other} are both the {nth} collective on {on}",
        offence: "{by} is the {nth} collective on {on}",
        operation: "{starter} is the {nth} collective on {on}",
        why: "a rank's collectives on {on} are matched with other ranks' in the order of its calls, so {by} at {here} meets {starter} at {started}; a nonblocking or persistent collective matches none of another mode",
        help: "let all ranks call the same collectives in the same order: look for a condition, an early return or the end of a loop that some ranks take and others do not",
        fortran: "",
    },
    Wording {
        code: Code::RootsDiffer,
        case: Case::Usual,
        message: "{who} names {mine} as root, and {other} names {theirs}",
        offence: "root is {mine}",
        operation: "root is {theirs}",
        why: "both are the {nth} collective on {on}, and all its ranks must name one root (ranks are those of the job)",
        help: "compute the root from values that are equal on all ranks; a root is a rank of the communicator that is passed, not of MPI_COMM_WORLD",
        fortran: "",
    },
    Wording {
        code: Code::ReductionsDiffer,
        case: Case::Usual,
        message: "{who} reduces by {mine}, and {other} by {theirs}",
        offence: "reduces by {mine}",
        operation: "reduces by {theirs}",
        why: "both are the {nth} collective on {on}, and all its ranks must pass one operation",
        help: "choose the operation by something that is equal on all ranks, or call one reduction for each",
        fortran: "",
    },
    Wording {
        code: Code::SignaturesDiffer,
        case: Case::Usual,
        message: "{who} passes {mine}, and {other} passes {theirs}",
        offence: "passes {mine}",
        operation: "passes {theirs}",
        why: "both are the {nth} collective on {on}, in which the data that one rank sends must be exactly what another is to receive",
        help: "pass the same count and datatype on all ranks; counts of MPI_Gather, MPI_Scatter, MPI_Allgather and MPI_Alltoall are per rank; where ranks have different amounts, use the variants with counts",
        fortran: "",
    },
    Wording {
        code: Code::SignaturesDiffer,
        case: Case::WithinOneCall,
        message: "{who} sends {theirs} to each rank, and is to receive {mine} from each",
        offence: "is to receive {mine} from each rank",
        operation: "sends {theirs} to each rank",
        why: "what one rank sends in the {nth} collective on {on} must be exactly what another, or \
              itself, is to receive",
        help: "pass the same count and datatype for both; recvcount is that of each rank, not of all \
               together",
        fortran: "",
    },
    Wording {
        code: Code::CollectivesCross,
        case: Case::Usual,
        message: "{who} on {mine} and {other} on {theirs} are entered in crossing order",
        offence: "{by} on {mine}",
        operation: "{starter} on {theirs}",
        why: "one rank enters {by} at {here} before the collective that {starter} at {started} is part of, another one enters them the other way round, or leaves one out; a collective may wait for all ranks, so each can wait for the other",
        help: "call the collectives of the two in one order on all ranks that they share, and let none leave one out; or start both as nonblocking collectives and wait for both together",
        fortran: "",
    },
    Wording {
        code: Code::CollectiveNotEntered,
        case: Case::Usual,
        message: "{who} comes before the {nth} collective on {on}, which {other} has entered",
        offence: "{by} without the {nth} collective on {on}",
        operation: "{starter} is the {nth} collective on {on}",
        why: "a rank that is in MPI_Finalize enters no collective any more, and {starter} at {started} needs all ranks",
        help: "let all ranks take the same way to MPI_Finalize; where one rank alone knows of an error, let it tell the others first or call MPI_Abort",
        fortran: "",
    },
    Wording {
        code: Code::AssertionsDiffer,
        case: Case::Usual,
        message: "{who} asserts {mine}, and {other} {theirs}",
        offence: "asserts {mine}",
        operation: "asserts {theirs}",
        why: "both are the {nth} collective on {on}, and either all its ranks must give an assertion about what precedes or succeeds, or none",
        help: "give the same assertions on all ranks; 0 is always right",
        fortran: "",
    },
    Wording {
        code: Code::ArgumentsDiffer,
        case: Case::Usual,
        message: "{who} passes {mine}, and {other} {theirs}",
        offence: "{by} with {mine}",
        operation: "{starter} with {theirs}",
        why: "both are the {nth} collective on {on}, and all its ranks must pass the same value here",
        help: "let one rank decide and tell the others before the call, or compute the value from what all ranks know alike",
        fortran: "",
    },
    // Most messages are told by `messages.rs`, which compares what ranks have counted.
    Wording {
        code: Code::MessageTypesDiffer,
        case: Case::Usual,
        message: "{who} does not fit {other}",
        offence: "{by} receives here",
        operation: "{starter} sends here",
        why: "the message was sent at {started}",
        help: "compare both sides",
        fortran: "",
    },
    Wording {
        code: Code::MessageLost,
        case: Case::Usual,
        message: "no call receives the message that {operation} has found",
        offence: "",
        operation: "{starter} finds the message",
        why: "no other receive can take a message that was found at {started}, and by MPI_Finalize neither MPI_Mrecv \
              nor MPI_Imrecv has",
        help: "receive each message that is found, by MPI_Mrecv or MPI_Imrecv; to look at messages only, call MPI_Probe \
               or MPI_Iprobe",
        fortran: "",
    },
    Wording {
        code: Code::MessageRace,
        case: Case::Usual,
        message: "{who} may miss the message that {operation} takes",
        offence: "{by} receives here",
        operation: "{starter} receives here",
        why: "the message may be received at {started}",
        help: "compare both receives",
        fortran: "",
    },
    Wording {
        code: Code::ReadyTooEarly,
        case: Case::Usual,
        message: "{who} need not be posted before {operation}",
        offence: "{by} receives here",
        operation: "{starter} sends here",
        why: "the message was sent at {started}",
        help: "compare both sides",
        fortran: "",
    },
    Wording {
        code: Code::LastOfAny,
        case: Case::Usual,
        message: "{who} uses what {operation} has got",
        offence: "{by} uses it here",
        operation: "{starter} receives here",
        why: "the message was received at {started}",
        help: "compare both receives",
        fortran: "",
    },
    // Deadlocks are told by `deadlock.rs` and `hidden.rs`; no rank alone reports one.
    Wording {
        code: Code::Deadlock,
        case: Case::Usual,
        message: "{who} waits for {other} for ever",
        offence: "{by} waits here",
        operation: "{starter} waits here",
        why: "{by} at {here} and {starter} at {started} wait for each other",
        help: "let the ranks do what they wait for in another order",
        fortran: "",
    },
    Wording {
        code: Code::CollectiveMayWait,
        case: Case::Usual,
        message: "{who} waits for {other} if collectives wait for all ranks",
        offence: "{by} waits here",
        operation: "{starter} comes later",
        why: "{by} at {here} waits for {starter} at {started}",
        help: "let the ranks come to the collective and the message in the same order",
        fortran: "",
    },
    Wording {
        code: Code::SendMayWait,
        case: Case::Usual,
        message: "{who} waits for {other} unless MPI buffers the messages",
        offence: "{by} waits here",
        operation: "{starter} comes later",
        why: "{by} at {here} waits for {starter} at {started}",
        help: "start the receives before the sends",
        fortran: "",
    },
    Wording {
        code: Code::ThreadExcluded,
        case: Case::Usual,
        message: "{who} is called in thread {thread}, which {provided} excludes",
        offence: "{by}",
        operation: "{starter} provides {provided}",
        why: "{rule}",
        help: "ask for the level that the program needs by MPI_Init_thread, and compare what is provided; or leave MPI calls to the main thread (omp master, not single)",
        fortran: "",
    },
    Wording {
        code: Code::ThreadExcluded,
        case: Case::MainThread,
        message: "{who} is called in a parallel region of several threads, which {provided} excludes",
        offence: "{by}",
        operation: "{starter} provides {provided}",
        why: "with MPI_THREAD_SINGLE, which MPI_Init asks for, there is to be no thread beside the one that calls MPI",
        help: "ask for MPI_THREAD_FUNNELED by MPI_Init_thread, and compare what is provided; or call MPI outside of the parallel region",
        fortran: "",
    },
    Wording {
        code: Code::CallsConcurrent,
        case: Case::Usual,
        message: "{who} in thread {thread} is not ordered after {starter} in thread {partner}",
        offence: "{by}",
        operation: "{starter}",
        why: "MPI provides {provided}: calls must not be made at once, and nothing orders {by} at {here} after the return from {starter} at {started}",
        help: "ask for MPI_THREAD_MULTIPLE, guard all MPI calls by one lock, or let one thread make them (single with its barrier, not single nowait)",
        fortran: "",
    },
    Wording {
        code: Code::LevelNotProvided,
        case: Case::Usual,
        message: "{who} in thread {thread} relies on {required}, but MPI provides {provided}",
        offence: "{by}",
        operation: "{starter} asks for {required} and gets {provided}",
        why: "{rule}",
        help: "compare provided with what is needed after MPI_Init_thread, and end the program or use fewer threads where it is lower; or use an MPI library that provides {required}",
        fortran: "",
    },
    Wording {
        code: Code::CollectivesConcurrent,
        case: Case::Usual,
        message: "{who} in thread {thread} and {starter} in thread {partner} are not ordered, both on {on}",
        offence: "{by}",
        operation: "{starter}",
        why: "collectives on {on} are matched by the order of this rank's calls, and nothing orders {by} at {here} after {starter} at {started}, or before it: ranks may take them in different orders",
        help: "give each thread a communicator of its own (MPI_Comm_dup), or order the threads' calls alike on all ranks",
        fortran: "",
    },
    Wording {
        code: Code::RequestShared,
        case: Case::Usual,
        message: "{who} in thread {thread} completes the request that {starter} completes in thread {partner}",
        offence: "{by}",
        operation: "{starter}",
        why: "a request is freed by the call that completes it, and nothing orders {by} at {here} after {starter} at {started}",
        help: "let one thread complete the request and the others wait for that thread, or give each thread requests of its own",
        fortran: "",
    },
    Wording {
        code: Code::FinalizedElsewhere,
        case: Case::Usual,
        message: "{who} is called in thread {thread}, but {starter} in thread {partner}",
        offence: "{by}",
        operation: "{starter} makes this the main thread",
        why: "the thread that has initialised MPI is its main thread, and is to end it, whatever the thread level",
        help: "call MPI_Finalize after the parallel region, or after the thread has been joined",
        fortran: "",
    },
    Wording {
        code: Code::FreedWhileUsed,
        case: Case::Usual,
        message: "{who} in thread {thread} frees {on} that {starter} uses in thread {partner}",
        offence: "{by} frees {on}",
        operation: "{starter} uses {on}",
        why: "nothing orders {by} at {here} after {starter} at {started}: the object may be gone when that call looks at it",
        help: "free it when all threads are done with it: behind a barrier, or after the parallel region",
        fortran: "",
    },
    Wording {
        code: Code::ProbedTwice,
        case: Case::Usual,
        message: "{who} in thread {thread} may take the message that {starter} has found in thread {partner}",
        offence: "{by} receives messages of the same source and tag",
        operation: "{starter} finds a message, which this thread receives afterwards",
        why: "nothing keeps {by} at {here} from coming between {starter} at {started} and the receive that follows it",
        help: "use MPI_Mprobe and MPI_Mrecv (MPI_Improbe and MPI_Imrecv), or one critical section for both calls",
        fortran: "",
    },
    // Found by lint alone, which has words of its own.
    Wording {
        code: Code::ForbiddenNesting,
        case: Case::Usual,
        message: "{who} is entered within a construct that must not contain it",
        offence: "{by}",
        operation: "{other}",
        why: "all threads of a team must come to it, and not all are let into the outer construct",
        help: "move the inner construct out, or start a parallel region of its own for it",
        fortran: "",
    },
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
    between_threads(Code::SendBufferWritten),
    between_threads(Code::ReceiveBufferRead),
    between_threads(Code::ReceiveBufferWritten),
    between_threads(Code::OperationsOverlap),
    between_threads(Code::OriginBufferWritten),
    between_threads(Code::ResultBufferUsed),
];

/// The row for an observation.
pub fn wording(code: Code, case: Case) -> &'static Wording {
    let row = |case| WORDINGS.iter().find(|wording| (wording.code, wording.case) == (code, case));
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
