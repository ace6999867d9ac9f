//! Partitioned communication (MPI 4.1 chapter 4).
//!
//! The program may still write a partition of a started send until it marks it with `MPI_Pready`;
//! it may read a partition of a started receive once `MPI_Parrived` returns true. So each partition
//! is an operation of its own.

use crate::buffers::{Args, Library};
use commsan_mpi_calls::{Extent, Times};
use commsan_shadow::{Access, Footprint};

/// What each partition of the request that this call makes touches.
pub(crate) fn partitions<L: Library>(args: &Args, library: &L) -> Vec<Access> {
    let Some(rule) = args.call.accesses.first() else { return Vec::new() };
    let Extent::Blocks { count, times: Times::Param(times) } = rule.extent else {
        return Vec::new();
    };
    let present = rule.peer.is_none_or(|peer| args.int(peer) != L::PROC_NULL);
    let element = library.datatype(args.words[rule.datatype]);
    let elements = if present { args.count(count) } else { 0 };
    let partition = |index: usize| {
        let offset = element.extent * (elements * index) as isize;
        let base = args.words[rule.buffer].wrapping_add_signed(offset);
        let footprint = Footprint::elements(base, &element.pattern, elements, element.extent);
        Access { mode: rule.mode, footprint }
    };
    (0..args.int(times).max(0) as usize).map(partition).collect()
}
