//! Communicators of NCCL.

use super::Wording;
use crate::facts::Case;
use commsan_findings::Code;

/// The rows, in the order of codes.
pub(super) const NCCL: &[Wording] = &[
    Wording {
        code: Code::NcclCollectivesDiffer,
        case: Case::Usual,
        message: "{who} and {other} do not match, but both are the {nth} collective on {on}",
        offence: "{mine}",
        operation: "{theirs}",
        why: "NCCL matches the collectives on {on} in the order of each rank's calls, so {by} at {here} matches \
              {starter} at {started}; call, root, reduction, count and datatype must be equal on all ranks",
        help: "make the same calls with the same arguments and in the same order on all ranks: look for a branch, an \
               early return or a loop exit that only some ranks take, and compute counts and roots from values that \
               are equal on all ranks",
        fortran: "",
    },
    Wording {
        code: Code::NcclMessagesDiffer,
        case: Case::Usual,
        message: "{who} and {other} are the two sides of a message of different size or datatype",
        offence: "{mine}",
        operation: "{theirs}",
        why: "on {on}, NCCL matches the {nth} ncclSend from one rank to another with the {nth} ncclRecv there, and both \
              must pass the same count and datatype; else the transfer hangs, fails, or stores the wrong data",
        help: "pass the same count and datatype on both sides, and let both call in the same order what they exchange \
               in several messages",
        fortran: "",
    },
    Wording {
        code: Code::NcclGroupUnbalanced,
        case: Case::Usual,
        message: "{other} has no counterpart on its thread",
        offence: "",
        operation: "{other} without its counterpart",
        why: "ncclGroupStart and ncclGroupEnd come in pairs on each thread: what is called in a group that does not end \
              never happens, and NCCL refuses an end without a begin",
        help: "call both in the same function, in that order, on all paths: look for an early return or an error check \
               in between",
        fortran: "",
    },
    Wording {
        code: Code::NcclDestroyedUsed,
        case: Case::Usual,
        message: "{who} uses a communicator that {other} has destroyed",
        offence: "{by} uses the communicator",
        operation: "{other} destroys it",
        why: "the communicator was destroyed at {started}: its memory is gone, and what {by} at {here} does then is \
              undefined",
        help: "destroy the communicator after its last use, once, and set the variable to NULL then",
        fortran: "",
    },
    Wording {
        code: Code::NcclIdReused,
        case: Case::Usual,
        message: "{who} uses a unique identifier for a rank that {other} has used it for",
        offence: "{by} uses the identifier again",
        operation: "{other} uses it first",
        why: "an identifier makes one communicator, in which each rank is once: its ranks meet by it once, and who \
              comes later waits for others in vain",
        help: "call ncclGetUniqueId for each communicator and distribute the identifier to its ranks, or make \
               communicators from another one by ncclCommSplit; pass a different rank in each call",
        fortran: "",
    },
    Wording {
        code: Code::NcclNotDestroyed,
        case: Case::Usual,
        message: "no call destroys the communicator that {other} makes",
        offence: "",
        operation: "{other} makes a communicator that is never destroyed",
        why: "it was made at {started}, and nothing had destroyed it when the process exited: its memory, threads and \
              connections stay until then, and work on it may not be complete",
        help: "synchronise its streams and call ncclCommDestroy on all ranks, for each of its devices, before the \
               process exits",
        fortran: "",
    },
];
