//! Effects of calls on requests, objects and the library, beside accesses to buffers.

/// The effect of a call on requests, objects and the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Only accesses its buffers, before it returns.
    Block,
    /// No effect that matters here.
    Local,
    /// Starts an operation that ends when its request completes.
    Start,
    /// Makes an inactive persistent request.
    Init,
    /// Makes an inactive partitioned request, for sending or receiving.
    InitPartitioned,
    /// `MPI_Pready`: hands over one partition.
    Pready,
    /// `MPI_Pready_range`.
    PreadyRange,
    /// `MPI_Pready_list`.
    PreadyList,
    /// `MPI_Parrived`: may hand back one partition.
    Parrived,
    /// Starts a persistent request.
    Go,
    /// Starts several persistent requests.
    GoAll,
    /// Completes one request.
    Wait,
    /// Completes one request if it returns a true flag.
    Test,
    /// Completes all requests of an array.
    WaitAll,
    /// Completes all requests of an array, or none.
    TestAll,
    /// Completes the request at the index that it returns.
    WaitAny,
    /// Completes the request at the index that it returns, if it returns a true flag.
    TestAny,
    /// Completes the requests whose indices it returns (`MPI_Waitsome`, `MPI_Testsome`).
    Some,
    /// Returns whether an operation is complete, without completing its request.
    GetStatus,
    /// Frees a request.
    Free,
    /// Requests the cancellation of an operation.
    Cancel,
    /// `MPI_Pack`: writes the buffer between the two positions.
    Pack,
    /// `MPI_Unpack`: reads the buffer between the two positions.
    Unpack,
    /// Initialises the library.
    Begin,
    /// `MPI_Finalize`.
    Finalize,
    /// `MPI_Abort`.
    Abort,
    /// Commits a datatype.
    TypeCommit,
    /// `MPI_Type_free`.
    TypeFree,
    /// Hands out datatypes that may have been made, and freed, before (`MPI_Type_get_contents`), or
    /// that nobody frees.
    TypeContents,
    /// `MPI_Comm_free`, `MPI_Comm_disconnect`.
    CommFree,
    /// Starts a one-sided operation.
    Rma,
    /// Makes a window.
    Window,
    /// `MPI_Win_free`.
    WindowFree,
    /// `MPI_Win_attach`.
    Attach,
    /// `MPI_Win_detach`.
    Detach,
    /// `MPI_Win_set_info`.
    WindowInfo,
    /// `MPI_Win_fence`.
    Fence,
    /// `MPI_Win_start`: begins an access epoch.
    EpochBegin,
    /// `MPI_Win_complete`: ends an access epoch.
    EpochEnd,
    /// `MPI_Win_post`: begins an exposure epoch.
    ExposureBegin,
    /// `MPI_Win_wait`, or `MPI_Win_test` with a true flag: ends an exposure epoch.
    ExposureEnd,
    /// `MPI_Win_lock`, of all ranks where it names none.
    Lock,
    /// `MPI_Win_unlock`, of all ranks where it names none.
    Unlock,
    /// `MPI_Win_flush`, of all ranks where it names none.
    Flush,
    /// `MPI_Win_flush_local`, of all ranks where it names none.
    FlushLocal,
    /// `MPI_Win_sync`.
    WindowSync,
    /// `MPIX_Win_get_notify`: tells how many notified operations have reached this process.
    Notified,
    /// `MPIX_Stream_create`: makes a stream of MPI's, perhaps of one of a device.
    Stream,
    /// Puts an operation into the stream of its communicator, or what waits for operations there.
    Enqueue,
    /// `MPI_Alloc_mem`.
    MemAlloc,
    /// `MPI_Free_mem`.
    MemFree,
    /// `MPI_Session_init`.
    Session,
    /// `MPI_Session_finalize`.
    SessionEnd,
    /// Asks something that any thread may ask, as far as is known.
    Ask,
    /// Makes a key of attributes.
    KeyvalMake,
    /// Frees a key of attributes.
    KeyvalFree,
    /// `MPI_Grequest_complete`: the program says that its own operation is complete.
    GrequestComplete,
    /// Nothing is known of it, not even its parameters.
    Bare,
    /// `MPI_Buffer_attach`: lends memory to MPI.
    BufferAttach,
    /// `MPI_Buffer_detach`: takes the attached memory back.
    BufferDetach,
    /// Opens a file.
    FileOpen,
    /// `MPI_File_close`.
    FileClose,
    /// Begins a split collective: an operation that its file stands for.
    SplitBegin,
    /// Ends a split collective.
    SplitEnd,
    /// A call of OpenSHMEM: [`Call::symmetric`](crate::Call::symmetric) says which.
    Symmetric,
}
