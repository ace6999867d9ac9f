//! Buffers, requests, arguments, errors and objects of one process.

use super::{MOVED_BY_COMPILER, Wording};
use crate::facts::Case;
use commsan_model::Code;

/// The rows, in the order of codes.
pub(super) const BUFFERS: &[Wording] = &[
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
];
