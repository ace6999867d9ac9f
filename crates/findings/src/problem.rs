//! Kinds of invalid arguments, as far as advice depends on them.

use serde::{Deserialize, Serialize};

/// The kind of mistake in an argument. A sentence beside it says what the value was; advice is
/// chosen by the kind alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A pointer to memory or to a result is null.
    NullPointer,
    /// The handle of an object that has been freed.
    Freed,
    /// `MPI_COMM_NULL`.
    NullCommunicator,
    /// A null handle of any other kind of object.
    NullHandle,
    /// A communicator without the virtual topology that the call needs.
    NoTopology,
    /// A datatype that the reduction or the atomic operation is not defined for.
    UndefinedForType,
    /// Counts and datatypes of the two sides of a one-sided operation do not match.
    SidesDiffer,
    /// A count, size or color below zero.
    Negative,
    /// A destination, source or target that is no rank of the communicator or window, and might be
    /// `MPI_PROC_NULL`.
    NoSuchPeer,
    /// A tag below zero or above `MPI_TAG_UB`.
    TagOutOfRange,
    /// A variable for a status or another result that is too small for it.
    SmallResult,
    /// An argument that the call is not given.
    Missing,
    /// `MPI_IN_PLACE` for a buffer that the call needs on this rank.
    InPlace,
    /// A datatype whose extent is not the size of the buffer's elements.
    OtherExtent,
    /// Any other value that the call does not allow, and whatever newer versions distinguish.
    #[default]
    #[serde(other)]
    Value,
}
