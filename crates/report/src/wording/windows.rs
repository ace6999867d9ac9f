//! One-sided communication and windows.

use super::{MOVED_BY_COMPILER, Wording};
use crate::facts::Case;
use commsan_findings::Code;

const EPOCH_FOR_OPERATION: &str = "call the operation in an epoch to {target}: between two calls \
     of MPI_Win_fence, from MPI_Win_start to MPI_Win_complete, or from MPI_Win_lock or \
     MPI_Win_lock_all to its unlock";

const CLOSE_EPOCH: &str = "close the epoch by {closer}, also on early returns and in error paths; \
     MPI_Win_flush completes operations, but closes nothing";

/// The rows, in the order of codes.
pub(super) const WINDOWS: &[Wording] = &[
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
        why: "{pending}; {by} at {here} {order}, so the result may be incomplete",
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
        help: "complete the operation at the target and synchronise with the owner: MPI_Win_fence does \
               both, as do MPI_Win_complete and MPI_Win_wait together; after MPI_Win_flush or \
               MPI_Win_unlock, a message or barrier must follow",
        fortran: MOVED_BY_COMPILER,
    },
    Wording {
        code: Code::WindowAccessRace,
        case: Case::OtherThread,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{bythread}",
        help: "order the two threads between the one's use and the other's synchronising call, by a \
               barrier of the threads, a lock, or by waiting for the thread; or let the thread itself \
               synchronise with the other rank",
        fortran: "",
    },
    Wording {
        code: Code::WindowAccessRace,
        case: Case::Symmetric,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{unordered}; shmem_fence, shmem_sync and collectives complete nothing, and shmem_quiet says nothing to the \
              other PE",
        help: "call shmem_barrier_all between the two; or let the origin call shmem_fence and then store a flag at this \
               PE, which waits for it by shmem_wait_until (if it learns of the operation in another way, shmem_quiet must \
               come first); where single elements are concerned, use atomics of one type on both sides",
        fortran: "",
    },
    Wording {
        code: Code::TargetRace,
        case: Case::Symmetric,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{unordered}; shmem_fence, shmem_sync and collectives complete nothing, and atomics are so only with atomics \
              of their type",
        help: "give each PE elements of its own, use atomics of one type on both sides, or take a lock; or let the origin \
               of the first call shmem_quiet, and the other's know of that, by a barrier or a flag, before it goes on",
        fortran: "",
    },
    Wording {
        code: Code::TargetRace,
        case: Case::SymmetricOrigin,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{unordered}; operations of one PE on another arrive in any order",
        help: "call shmem_fence between two puts, and shmem_quiet between a put and a get",
        fortran: "",
    },
    Wording {
        code: Code::TargetRace,
        case: Case::OtherThread,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "{bythread}",
        help: "order the two threads between the completion of the operation and the other's synchronising \
               call, by a barrier of the threads, a lock, or by waiting for the thread; or let the thread \
               itself synchronise with the other rank",
        fortran: "",
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
        why: "{unordered}; operations of one origin to one target are unordered",
        help: "give each operation bytes of its own, or complete the first, by MPI_Win_flush or the \
               end of its epoch, before the second starts",
        fortran: "",
    },
    Wording {
        code: Code::TargetRace,
        case: Case::Threads,
        message: "{who} {verb} {part}, which {other} in {elsewhere} {otherwise}",
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
              same operation or (unless the window's info says same_op) MPI_NO_OP, and not in part of an element",
        help: "use one predefined datatype and one operation on both sides, at displacements whole elements apart, or complete \
               one before the other starts",
        fortran: "",
    },
    Wording {
        code: Code::ViewsDiffer,
        case: Case::Usual,
        message: "{who} {verb} {part}, which conflicts with {other} in the separate memory model",
        offence: "{access}",
        operation: "{carries}",
        why: "loads and stores use the owner's private copy of a window, operations of others the \
              public one; these agree only when the owner has called MPI_Win_fence, MPI_Win_sync, or \
              MPI_Win_post and MPI_Win_wait, MPI_Win_unlock and MPI_Win_lock in between, and until \
              then no store is compatible with a put or accumulate, not even to other bytes",
        help: "let the owner call MPI_Win_sync between the two, or keep stores and operations in \
               epochs of their own; a program that only runs where MPI_WIN_MODEL is \
               MPI_WIN_UNIFIED is correct",
        fortran: "",
    },
    Wording {
        code: Code::SharedMemoryRace,
        case: Case::Usual,
        message: "{who} {verb} {part}, unordered with {other}, which {otherwise} them",
        offence: "{access}",
        operation: "{carries}",
        why: "no message, barrier, lock or atomic variable orders {by} at {here} and the other \
              access at {there}; MPI_Win_sync waits for no other rank",
        help: "synchronise the two ranks between the accesses: MPI_Win_fence, or MPI_Win_sync, \
               MPI_Barrier or a message, and MPI_Win_sync; flags that ranks spin on must be atomic",
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
        why: "operations with requests may be called only in passive target epochs, and the epoch that {opener} opened at \
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
        operation: "{other} creates the window",
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
        operation: "{other} creates the window",
        why: "a dynamic window has the memory that the target attached by MPI_Win_attach, found by \
              the addresses of MPI_Get_address there",
        help: "attach the memory before others access it, detach it after their operations are \
               complete, and check the address at {here}",
        fortran: "",
    },
    Wording {
        code: Code::EpochMismatch,
        case: Case::Usual,
        message: "{who} on {window} has no matching open epoch",
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
        message: "{who} asserts that it completes no operations, but some follow {opener} on {window}",
        offence: "{by} asserts that it completes no operations",
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
        message: "no call frees {window}, created by {other}",
        offence: "",
        operation: "{other} creates the window",
        why: "the window was created at {started}, and no MPI_Win_free came before the program ended",
        help: "call MPI_Win_free in every process of the window's group before MPI_Finalize",
        fortran: "",
    },
    Wording {
        code: Code::WindowMemoryFreed,
        case: Case::Usual,
        message: "{who} releases {size} of {window}, created by {other}, which is used afterwards",
        offence: "{by} releases memory of the window",
        operation: "{other} creates the window",
        why: "calls on the window created at {started} follow: until MPI_Win_free has returned, other ranks may access its \
              memory, even if it has been reused by then",
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
        help: "call {opener} without MPI_MODE_NOSTORE; 0 is always valid",
        fortran: "",
    },
    Wording {
        code: Code::FalseAssertion,
        case: Case::FromAfar,
        message: "{who} {verb} {part}, though {opener} asserts that no rank puts or accumulates there",
        offence: "{access}",
        operation: "{opener} has MPI_MODE_NOPUT",
        why: "{by} at {here} is in the epoch that {opener} at {there} opens",
        help: "call {opener} without MPI_MODE_NOPUT; 0 is always valid",
        fortran: "",
    },
];
