//! Buffers, requests, arguments, errors and objects of one process.

use super::{MOVED_BY_COMPILER, Wording};
use crate::facts::Case;
use commsan_findings::Code;

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
        why: "{pending}; {by} at {here} {order}, so MPI continues to {use} memory that may be \
              reused",
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
        why: "an MPI call accesses as many bytes as its count and datatype say, whatever the buffer's size: memory \
              behind the buffer is sent, or overwritten",
        help: "match the count and datatype to the buffer's size: counts are in elements of the datatype, in many \
               collectives per rank, and only sizes of windows are in bytes",
        fortran: "",
    },
    Wording {
        code: Code::BufferTooShort,
        case: Case::Results,
        message: "{operation} stores {size} at {argument}, which {problem}",
        offence: "",
        operation: "{argument} {problem}",
        why: "the library stores whole statuses, requests and integers: what lies behind the variable is overwritten",
        help: "{mend}",
        fortran: "",
    },
    Wording {
        code: Code::AttachedBufferUsed,
        case: Case::Usual,
        message: "{who} {verb} {range} that {operation} {using}",
        offence: "{access}",
        operation: "{starts}",
        why: "from {starter} at {started} until MPI_Buffer_detach the memory holds buffered messages (MPI_Bsend) \
              that are not delivered yet",
        help: "use the memory after MPI_Buffer_detach, which waits until all its messages are delivered; attach memory \
               that nothing else uses",
        fortran: "",
    },
    Wording {
        code: Code::OperationOversteps,
        case: Case::Usual,
        message: "{who} {verb} {problem}",
        offence: "{access}",
        operation: "{starter} calls the operation",
        why: "{starter} at {started} calls the operation for a part of the vectors at a time, as many elements as its \
              `len` says; {by} at {here} is to what lies behind that part: another one, or memory of the library",
        help: "combine `*len` elements, no more; where elements depend on each other, make one datatype of all of them \
               (MPI_Type_contiguous) and reduce one element of it",
        fortran: "",
    },
    Wording {
        code: Code::SendBufferChanged,
        case: Case::Usual,
        message: "{range} changes while {operation} {using} it",
        offence: "",
        operation: "{starts}",
        why: "{pending}, and the bytes are not the same at these two places: the receiver may get the old ones, the \
              new ones or a mixture",
        help: "look between the two places for what writes to the buffer, in this thread and in others: `commsan cc` \
               finds the line, and so does `--isolate-buffers`, without recompiling, if the buffer is allocated memory. \
               Write to it after the completing call, or write to a second buffer",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::StringTooShort,
        case: Case::Usual,
        message: "{operation} may store {size} at {argument}, which {problem}",
        offence: "",
        operation: "{argument} {problem}",
        why: "the string may have fitted in this run; on another machine, or with another MPI library, it may be as \
              long as {longest}, and the call overwrites what lies behind",
        help: "give {argument} {longest} characters",
        fortran: "",
    },
    Wording {
        code: Code::RequestNeverCompleted,
        case: Case::Usual,
        message: "no call completes the request of {operation}",
        offence: "",
        operation: "{starts}",
        why: "the operation started at {started}; it is complete only when MPI_Wait, MPI_Test or \
              a variant of them reports it, and none did before the program ended",
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
        why: "without the request the program cannot know when the operation started at {started} is \
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
        why: "the standard does not allow this argument, whatever the library does: most abort the program",
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
        help: "call MPI_Type_commit after creating the type",
        fortran: "",
    },
    Wording {
        code: Code::BufferOfOtherType,
        case: Case::Usual,
        message: "{operation} uses {argument} {problem}",
        offence: "",
        operation: "{argument} is used {problem}",
        why: "the datatype must match the variable's type: MPI neither knows nor converts the buffer's contents, so wrong \
              values arrive, or more or fewer of them",
        help: "give the datatype of the variable's elements; data that is sent as bytes on purpose is MPI_BYTE on \
               both sides",
        fortran: "",
    },
    Wording {
        code: Code::BufferOfOtherType,
        case: Case::OtherExtent,
        message: "{operation} uses {argument} {problem}",
        offence: "",
        operation: "{argument} is used {problem}",
        why: "from one element of the datatype to the next, MPI proceeds by the datatype's extent, which ends with its \
              last member: what the structure holds behind that counts as the next element's beginning",
        help: "{mend}",
        fortran: "",
    },
    Wording {
        code: Code::WrittenTwice,
        case: Case::Usual,
        message: "{argument} of {operation} {problem}",
        offence: "",
        operation: "{argument} {problem}",
        why: "where elements overlap, the result depends on the order of the writes, so the standard forbids it where a \
              call writes",
        help: "compare strides, displacements and extents with the sizes of elements: those of hvector, hindexed, struct \
               and resized are in bytes",
        fortran: "",
    },
    Wording {
        code: Code::BufferOfOtherSign,
        case: Case::Usual,
        message: "{operation} uses {argument} {problem}",
        offence: "",
        operation: "{argument} is used {problem}",
        why: "the datatype must match the type of the elements: copies keep the bits of either, but MPI_MAX, MPI_MIN and \
              conversions between machines read large unsigned values as negative ones, or the other way round",
        help: "give the datatype with the elements' sign: MPI_UNSIGNED for `unsigned`, MPI_UINT64_T for `uint64_t`; \
               MPI has none for `size_t`, which has the size of `uintptr_t`",
        fortran: "",
    },
    Wording {
        code: Code::OutsideMpi,
        case: Case::Usual,
        message: "{operation} is called {problem}",
        offence: "",
        operation: "{starter} is called {problem}",
        why: "MPI may be called between MPI_Init and MPI_Finalize, and while a session exists; most libraries abort on \
              other calls",
        help: "move the call; constructors and destructors of objects with static storage duration must not call MPI",
        fortran: "",
    },
    Wording {
        code: Code::NeverFinalized,
        case: Case::Usual,
        message: "the program ends without MPI_Finalize",
        offence: "",
        operation: "{starter} initialises MPI, which is never finalised",
        why: "messages may be lost when the process exits, and launchers take the exit for a crash",
        help: "call MPI_Finalize on every path to the end of the program, or MPI_Abort to end the job after an error",
        fortran: "",
    },
    Wording {
        code: Code::NeverFinalized,
        case: Case::Session,
        message: "the program ends without MPI_Session_finalize",
        offence: "",
        operation: "{starter} begins a session, which is never finalised",
        why: "messages may be lost when the process exits, and launchers take the exit for a crash",
        help: "call MPI_Session_finalize for each session on every path to the end of the program",
        fortran: "",
    },
    Wording {
        code: Code::CallFailed,
        case: Case::Usual,
        message: "MPI aborted the program in {operation}{failure}",
        offence: "",
        operation: "{starter} found an error",
        why: "an MPI error aborts the program unless the error handler returns error codes; the library's own \
              message names the error",
        help: "{remedy}",
        fortran: "",
    },
    Wording {
        code: Code::CallCrashed,
        case: Case::Usual,
        message: "the program crashed in {operation}: {problem}",
        offence: "",
        operation: "{problem}",
        why: "the call accessed invalid or corrupted memory: a buffer that is shorter than its count, or an object that \
              was freed or never created",
        help: "check the arguments of the call; if they are right, memory was corrupted earlier: AddressSanitizer \
               (-fsanitize=address) finds where",
        fortran: "",
    },
    Wording {
        code: Code::ErrorIgnored,
        case: Case::Usual,
        message: "{operation} returned {problem}",
        offence: "",
        operation: "{starter} returned {class}",
        why: "the call did not complete its work, and the program has asked about no error since",
        help: "{remedy}; and check return codes wherever MPI_ERRORS_RETURN is set: MPI_Error_string describes them",
        fortran: "",
    },
    Wording {
        code: Code::ProgramCrashed,
        case: Case::Usual,
        message: "the program crashed in {function}: {problem}",
        offence: "{problem}",
        operation: "",
        why: "the signal came from an instruction of the program, or of a library that it called, outside of MPI calls",
        help: "see the other findings of this rank first: they may be the cause; else AddressSanitizer (-fsanitize=address) \
               or a debugger shows more",
        fortran: "",
    },
    Wording {
        code: Code::ObjectNotFreed,
        case: Case::Usual,
        message: "no call frees what {other} creates",
        offence: "",
        operation: "{other} creates an object that is never freed",
        why: "it was created at {started}, and MPI_Finalize frees no objects: their memory leaks",
        help: "free it after its last use, by {free}",
        fortran: "",
    },
    Wording {
        code: Code::FileNotClosed,
        case: Case::Usual,
        message: "no call closes the file that {other} opens",
        offence: "",
        operation: "{other} opens a file that is never closed",
        why: "it was opened at {started}, and MPI_Finalize closes no files: unwritten data may be lost",
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
