//! Finding codes: one table with everything that is fixed about a kind of finding.
//!
//! A code never changes: suppressions, baselines and dashboards name it.

use serde::{Deserialize, Serialize};

/// How sure and how bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Legal, but wasteful or likely to become an error.
    Warning,
    /// The standard forbids it.
    Error,
}

macro_rules! codes {
    ($($variant:ident = $id:literal, $severity:ident, $title:literal, $file:literal;)*) => {
        /// The stable identifier of a kind of finding, written `CS-<AREA>-<NN>`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $title] #[serde(rename = $id)] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// The identifier, e.g. `CS-BUF-01`.
            pub const fn id(self) -> &'static str {
                match self { $(Code::$variant => $id),* }
            }

            /// The problem in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),* }
            }

            /// Whether the standard forbids it.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity),* }
            }

            /// What `commsan explain` prints: Markdown with meaning, example, fix and source.
            pub const fn explanation(self) -> &'static str {
                match self { $(Code::$variant => include_str!(concat!("explain/", $file))),* }
            }
        }
    };
}

codes! {
    SendBufferWritten = "CS-BUF-01", Error,
        "write to the buffer of a pending send", "CS-BUF-01.md";
    ReceiveBufferRead = "CS-BUF-02", Error,
        "read of the buffer of a pending receive", "CS-BUF-02.md";
    ReceiveBufferWritten = "CS-BUF-03", Error,
        "write to the buffer of a pending receive", "CS-BUF-03.md";
    OperationsOverlap = "CS-BUF-04", Error,
        "overlapping buffers of concurrent operations", "CS-BUF-04.md";
    PendingBufferFreed = "CS-BUF-05", Error,
        "buffer freed while an operation is pending", "CS-BUF-05.md";
    PendingStackBuffer = "CS-BUF-06", Error,
        "stack buffer out of scope while an operation is pending", "CS-BUF-06.md";
    BufferTooShort = "CS-BUF-07", Error,
        "buffer too small for the call", "CS-BUF-07.md";
    AttachedBufferUsed = "CS-BUF-08", Error,
        "attached buffer used before MPI_Buffer_detach", "CS-BUF-08.md";
    OperationOversteps = "CS-BUF-09", Error,
        "user-defined reduction beyond the elements that it was given", "CS-BUF-09.md";
    SendBufferChanged = "CS-BUF-10", Error,
        "buffer of a pending send changed", "CS-BUF-10.md";
    StringTooShort = "CS-BUF-11", Warning,
        "memory for a string shorter than the longest", "CS-BUF-11.md";
    RequestNeverCompleted = "CS-REQ-01", Error,
        "request leak: operation never completed", "CS-REQ-01.md";
    RequestOverwritten = "CS-REQ-02", Error,
        "active request overwritten", "CS-REQ-02.md";
    ActiveRequestFreed = "CS-REQ-03", Error,
        "active request freed", "CS-REQ-03.md";
    ActiveRequestStarted = "CS-REQ-04", Error,
        "persistent request started while active", "CS-REQ-04.md";
    InvalidArgument = "CS-ARG-01", Error,
        "invalid argument", "CS-ARG-01.md";
    TypeNotCommitted = "CS-ARG-02", Error,
        "uncommitted datatype", "CS-ARG-02.md";
    BufferOfOtherType = "CS-ARG-03", Error,
        "type mismatch between buffer and datatype", "CS-ARG-03.md";
    WrittenTwice = "CS-ARG-04", Error,
        "overlapping elements in a buffer that the call writes", "CS-ARG-04.md";
    BufferOfOtherSign = "CS-ARG-05", Warning,
        "signedness mismatch between buffer and datatype", "CS-ARG-05.md";
    OutsideMpi = "CS-INI-01", Error,
        "MPI call before MPI_Init or after MPI_Finalize", "CS-INI-01.md";
    NeverFinalized = "CS-INI-02", Error,
        "missing MPI_Finalize", "CS-INI-02.md";
    CallFailed = "CS-ERR-01", Error,
        "program aborted by MPI on an error", "CS-ERR-01.md";
    CallCrashed = "CS-ERR-02", Error,
        "crash inside an MPI call", "CS-ERR-02.md";
    ErrorIgnored = "CS-ERR-03", Warning,
        "ignored MPI error", "CS-ERR-03.md";
    ProgramCrashed = "CS-ERR-04", Error,
        "crash of the program", "CS-ERR-04.md";
    ObjectNotFreed = "CS-OBJ-01", Warning,
        "object leak: MPI object never freed", "CS-OBJ-01.md";
    FileNotClosed = "CS-OBJ-02", Error,
        "file leak: MPI file never closed", "CS-OBJ-02.md";
    FileClosedEarly = "CS-OBJ-03", Error,
        "file closed or communicator disconnected with pending operations", "CS-OBJ-03.md";
    OriginBufferWritten = "CS-RMA-01", Error,
        "write to the origin buffer of a pending RMA operation", "CS-RMA-01.md";
    ResultBufferUsed = "CS-RMA-02", Error,
        "use of the result buffer of a pending RMA operation", "CS-RMA-02.md";
    WindowAccessRace = "CS-RMA-03", Error,
        "data race between a local access and an RMA operation", "CS-RMA-03.md";
    TargetRace = "CS-RMA-04", Error,
        "data race between RMA operations", "CS-RMA-04.md";
    ViewsDiffer = "CS-RMA-05", Error,
        "conflicting window accesses under the separate memory model", "CS-RMA-05.md";
    SharedMemoryRace = "CS-RMA-06", Error,
        "data race in shared window memory", "CS-RMA-06.md";
    OutsideEpoch = "CS-WIN-01", Error,
        "RMA operation outside an access epoch", "CS-WIN-01.md";
    OutsideWindow = "CS-WIN-02", Error,
        "out-of-bounds RMA access to the target's window", "CS-WIN-02.md";
    EpochMismatch = "CS-WIN-03", Error,
        "synchronisation call that does not match the window's epoch", "CS-WIN-03.md";
    EpochNotClosed = "CS-WIN-04", Error,
        "epoch still open at MPI_Win_free or MPI_Finalize", "CS-WIN-04.md";
    WindowNotFreed = "CS-WIN-05", Error,
        "window leak: window never freed", "CS-WIN-05.md";
    WindowMemoryFreed = "CS-WIN-06", Error,
        "memory freed while exposed by a window", "CS-WIN-06.md";
    FalseAssertion = "CS-WIN-07", Error,
        "false assertion about a window", "CS-WIN-07.md";
    CollectivesDiffer = "CS-COL-01", Error,
        "collective mismatch: different calls", "CS-COL-01.md";
    RootsDiffer = "CS-COL-02", Error,
        "collective mismatch: different roots", "CS-COL-02.md";
    ReductionsDiffer = "CS-COL-03", Error,
        "collective mismatch: different reduction operations", "CS-COL-03.md";
    SignaturesDiffer = "CS-COL-04", Error,
        "collective mismatch: different counts or datatypes", "CS-COL-04.md";
    CollectivesCross = "CS-COL-05", Error,
        "collective mismatch: different order across communicators", "CS-COL-05.md";
    CollectiveNotEntered = "CS-COL-06", Error,
        "collective mismatch: a rank never enters the call", "CS-COL-06.md";
    AssertionsDiffer = "CS-COL-07", Error,
        "collective mismatch: different fence assertions", "CS-COL-07.md";
    ArgumentsDiffer = "CS-COL-08", Error,
        "collective mismatch: different arguments", "CS-COL-08.md";
    MessageTypesDiffer = "CS-MSG-01", Error,
        "type mismatch between send and receive", "CS-MSG-01.md";
    MessageLost = "CS-MSG-02", Error,
        "unmatched message: sent but never received", "CS-MSG-02.md";
    MessageRace = "CS-MSG-03", Error,
        "message race at a wildcard receive", "CS-MSG-03.md";
    ReadyTooEarly = "CS-MSG-04", Error,
        "ready send that may precede its receive", "CS-MSG-04.md";
    LastOfAny = "CS-MSG-05", Warning,
        "result depends on message arrival order", "CS-MSG-05.md";
    WildcardMatch = "CS-MSG-06", Warning,
        "wildcard may match a message that is not meant for it", "CS-MSG-06.md";
    Deadlock = "CS-DLK-01", Error,
        "deadlock between ranks", "CS-DLK-01.md";
    CollectiveMayWait = "CS-DLK-02", Error,
        "potential deadlock if collectives synchronise", "CS-DLK-02.md";
    SendMayWait = "CS-DLK-03", Warning,
        "potential deadlock if sends are not buffered", "CS-DLK-03.md";
    ThreadExcluded = "CS-THR-01", Error,
        "MPI call from a thread that the thread level forbids", "CS-THR-01.md";
    CallsConcurrent = "CS-THR-02", Error,
        "concurrent MPI calls with MPI_THREAD_SERIALIZED", "CS-THR-02.md";
    LevelNotProvided = "CS-THR-03", Error,
        "thread level not provided by MPI", "CS-THR-03.md";
    CollectivesConcurrent = "CS-THR-04", Error,
        "concurrent collectives on one communicator", "CS-THR-04.md";
    RequestShared = "CS-THR-05", Error,
        "concurrent completion of one request", "CS-THR-05.md";
    FinalizedElsewhere = "CS-THR-06", Warning,
        "MPI_Finalize not called by the main thread", "CS-THR-06.md";
    FreedWhileUsed = "CS-THR-07", Error,
        "object freed while another thread uses it", "CS-THR-07.md";
    ProbedTwice = "CS-THR-08", Warning,
        "race between probe and receive of several threads", "CS-THR-08.md";
    ForbiddenNesting = "CS-OMP-01", Error,
        "invalid nesting of OpenMP constructs", "CS-OMP-01.md";
    StreamsRace = "CS-GPU-01", Error,
        "data race between two CUDA streams", "CS-GPU-01.md";
    WorkMeetsHost = "CS-GPU-02", Error,
        "data race between the host and a CUDA stream", "CS-GPU-02.md";
    WorkMeetsCall = "CS-GPU-03", Error,
        "data race between a call of MPI or NVSHMEM and a CUDA stream", "CS-GPU-03.md";
    CallMeetsWork = "CS-GPU-04", Error,
        "data race between a CUDA stream and a pending MPI operation", "CS-GPU-04.md";
    WorkMeetsRemote = "CS-GPU-05", Error,
        "data race between a CUDA stream and an RMA operation", "CS-GPU-05.md";
    FreedDeviceMemory = "CS-GPU-06", Error,
        "device memory used before allocation or after free", "CS-GPU-06.md";
    WorkMemoryReleased = "CS-GPU-07", Error,
        "memory released while a CUDA stream uses it", "CS-GPU-07.md";
    DeviceMemoryOnHost = "CS-GPU-08", Error,
        "host access to device memory", "CS-GPU-08.md";
    KernelFailed = "CS-GPU-09", Error,
        "kernel failure", "CS-GPU-09.md";
    ProcessesRace = "CS-GPU-10", Error,
        "data race between processes on device memory", "CS-GPU-10.md";
    FreedWhileOpen = "CS-GPU-11", Error,
        "device memory freed while another process has it open", "CS-GPU-11.md";
    KernelRace = "CS-KRN-01", Error,
        "data race between threads of a kernel", "CS-KRN-01.md";
    KernelStoresSame = "CS-KRN-02", Warning,
        "concurrent stores of the same value by threads of a kernel", "CS-KRN-02.md";
    KernelSynchronisation = "CS-KRN-03", Error,
        "invalid synchronisation of threads of a kernel", "CS-KRN-03.md";
    KernelUninitialised = "CS-KRN-04", Warning,
        "read of uninitialised memory by a kernel", "CS-KRN-04.md";
    NcclCollectivesDiffer = "CS-NCC-01", Error,
        "mismatch of NCCL collectives", "CS-NCC-01.md";
    NcclMessagesDiffer = "CS-NCC-02", Error,
        "size or type mismatch between ncclSend and ncclRecv", "CS-NCC-02.md";
    NcclGroupUnbalanced = "CS-NCC-03", Error,
        "NCCL group without its begin or end", "CS-NCC-03.md";
    NcclDestroyedUsed = "CS-NCC-04", Error,
        "NCCL communicator used after it was destroyed", "CS-NCC-04.md";
    NcclIdReused = "CS-NCC-05", Error,
        "unique identifier of NCCL used twice", "CS-NCC-05.md";
    NcclNotDestroyed = "CS-NCC-06", Warning,
        "NCCL communicator never destroyed", "CS-NCC-06.md";
    NotSymmetric = "CS-SHM-01", Error,
        "address that is not symmetric", "CS-SHM-01.md";
    BeyondSymmetric = "CS-SHM-02", Error,
        "access beyond a symmetric allocation", "CS-SHM-02.md";
    NoSuchPe = "CS-SHM-03", Error,
        "PE, team or active set that does not exist", "CS-SHM-03.md";
    AllocationsDiffer = "CS-SHM-04", Error,
        "symmetric allocations that differ between PEs", "CS-SHM-04.md";
    SymmetricFreedWrongly = "CS-SHM-05", Error,
        "symmetric memory freed that is no allocation, or not any more", "CS-SHM-05.md";
    SymmetricFreedPending = "CS-SHM-06", Error,
        "symmetric memory freed while operations on it are pending", "CS-SHM-06.md";
    SymmetricNeverFreed = "CS-SHM-07", Warning,
        "symmetric memory allocated again and again and never freed", "CS-SHM-07.md";
    OutsideShmem = "CS-SHM-08", Error,
        "OpenSHMEM or NVSHMEM call before initialization or after finalization", "CS-SHM-08.md";
    WorkArrayReused = "CS-SHM-09", Error,
        "work array of a collective that other PEs may still be in", "CS-SHM-09.md";
    DestinationNotReady = "CS-SHM-10", Error,
        "use of a collective's destination that other PEs may write already", "CS-SHM-10.md";
    NvshmemCollectivesDiffer = "CS-SHM-11", Error,
        "mismatch of NVSHMEM collectives", "CS-SHM-11.md";
}

impl Code {
    /// Whether both sites play the same part, so that which comes first is a matter of timing.
    pub const fn is_symmetric(self) -> bool {
        matches!(
            self,
            Code::TargetRace
                | Code::CollectivesDiffer
                | Code::RootsDiffer
                | Code::ReductionsDiffer
                | Code::SignaturesDiffer
                | Code::CollectivesCross
                | Code::AssertionsDiffer
                | Code::ArgumentsDiffer
                | Code::AllocationsDiffer
                | Code::Deadlock
                | Code::CollectiveMayWait
                | Code::SendMayWait
                | Code::CallsConcurrent
                | Code::CollectivesConcurrent
                | Code::RequestShared
                | Code::ProcessesRace
                | Code::NcclCollectivesDiffer
                | Code::NcclMessagesDiffer
                | Code::NvshmemCollectivesDiffer
        )
    }
}

impl Code {
    /// Whether ranks do not match, so that some may wait for others in vain.
    pub const fn is_between_ranks(self) -> bool {
        matches!(
            self,
            Code::CollectivesDiffer
                | Code::RootsDiffer
                | Code::ReductionsDiffer
                | Code::SignaturesDiffer
                | Code::CollectivesCross
                | Code::CollectiveNotEntered
                | Code::AssertionsDiffer
                | Code::ArgumentsDiffer
                | Code::AllocationsDiffer
                | Code::Deadlock
                | Code::NcclCollectivesDiffer
                | Code::NcclMessagesDiffer
                | Code::NvshmemCollectivesDiffer
        )
    }
}

impl Code {
    /// Whether both sides are within one launch of a kernel, so that only their lines differ.
    pub const fn is_within_kernel(self) -> bool {
        matches!(
            self,
            Code::KernelRace
                | Code::KernelStoresSame
                | Code::KernelSynchronisation
                | Code::KernelUninitialised
        )
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

impl std::str::FromStr for Code {
    type Err = UnknownCode;

    fn from_str(s: &str) -> Result<Self, UnknownCode> {
        let known = Code::ALL.iter().find(|code| code.id().eq_ignore_ascii_case(s));
        known.copied().ok_or_else(|| UnknownCode(s.to_owned()))
    }
}

/// The text names no finding code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCode(pub String);

impl std::fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not a finding code; `commsan explain` lists them", self.0)
    }
}

impl std::error::Error for UnknownCode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_parse_back() {
        for code in Code::ALL {
            assert_eq!(code.id().to_lowercase().parse(), Ok(*code));
        }
        assert!("CS-NO-99".parse::<Code>().is_err());
    }

    #[test]
    fn every_explanation_has_the_sections_users_rely_on() {
        for code in Code::ALL {
            for section in ["## What it means", "## Example", "## How to fix it", "## Source"] {
                let text = code.explanation();
                assert!(text.contains(section), "{code} lacks `{section}`");
                assert!(text.starts_with(&format!("# {code}: {}", code.title())), "{code} title");
            }
        }
    }
}
