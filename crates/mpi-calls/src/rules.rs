//! How calls touch buffers.

use commsan_shadow::Mode;

/// One access of a call or of the operation it starts. Numbers are indices of parameters.
#[derive(Debug)]
pub struct Rule {
    /// Read or write.
    pub mode: Mode,
    /// The buffer.
    pub buffer: usize,
    /// The buffer to use where the first is in place.
    pub in_place: Option<usize>,
    /// How many elements and where.
    pub extent: Extent,
    /// The element type, or the array of them.
    pub datatype: usize,
    /// No access where this rank is `MPI_PROC_NULL`.
    pub peer: Option<usize>,
    /// No access where this reduction is `MPI_NO_OP`.
    pub op: Option<usize>,
    /// Where it takes place.
    pub on: On,
}

/// How much of the buffer an access covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One run of elements for each of `times`.
    Blocks {
        /// Elements in each block.
        count: usize,
        /// How many blocks.
        times: Times,
    },
    /// Blocks of given sizes at given displacements.
    Placed {
        /// Elements in each block.
        counts: usize,
        /// Where each block begins.
        displs: usize,
        /// How many blocks.
        times: Times,
    },
    /// As many elements as all counts together.
    Sum(usize),
    /// As many elements as this rank's count.
    Own(usize),
    /// One element.
    One,
}

/// How often a block repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Once.
    Once,
    /// For each rank of the (remote) group.
    Size,
    /// For each rank of the own group.
    Local,
    /// For each source of the topology.
    In,
    /// For each destination of the topology.
    Out,
    /// As often as an integer parameter says.
    Param(usize),
}

/// On which ranks of a rooted collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// On all.
    All,
    /// On the root.
    Root,
    /// On all but the root.
    Other,
    /// On all but rank 0.
    Later,
}
