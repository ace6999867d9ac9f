//! Arrays of numbers with an element that is wrong.

use super::{Fault, array_times, blocks, null_pointer};
use crate::groups;
use crate::handles::handle;
use crate::library::Mpi;
use crate::objects;
use crate::sys;
use commsan_findings::Problem;
use commsan_mpi::{Args, Library};
use commsan_mpi_calls::Object;
use std::ffi::c_int;
use std::ops::Range;

/// What is wrong with counts of which each is for another rank.
pub(super) fn counts_problem(args: &Args, index: usize) -> Option<Fault> {
    let (array, times) = (args.words[index], array_times(args, index)?);
    let mut elements = 0..blocks(args, times);
    if array == 0 {
        return (!elements.is_empty()).then(null_pointer);
    }
    let at = elements.find(|at| Mpi.int_at(array, *at, args.call.large) < 0)?;
    let count = Mpi.int_at(array, at, args.call.large);
    Some((Problem::Negative, format!("has a negative element, {count} for rank {at}")))
}

/// What is wrong with the extents of a grid.
pub(super) fn dims_problem(args: &Args, index: usize) -> Option<String> {
    let (at, size) = elements(args, index, "ndims", false)?.find(|(_, size)| *size <= 0)?;
    Some(format!("has element {at} = {size}, but a dimension has at least 1 process"))
}

/// What is wrong with the datatypes that one is made of (MPI 4.1 §5.1.2).
pub(super) fn types_problem(args: &Args, index: usize) -> Option<Fault> {
    let width = if args.fortran { size_of::<c_int>() } else { size_of::<sys::MPI_Datatype>() };
    let lengths = elements(args, args.call.named("blocklengths")?, "count", args.call.large)?;
    let array = args.words[index];
    lengths.filter(|(_, length)| *length > 0 && array != 0).find_map(|(at, _)| {
        let datatype = objects::at(Object::Datatype, array + at * width, args.fortran);
        let (kind, problem) = match () {
            () if datatype == sys::MPI_DATATYPE_NULL() => {
                (Problem::NullHandle, "is MPI_DATATYPE_NULL")
            }
            () if objects::look_up(Object::Datatype, datatype).is_some() => {
                (Problem::Freed, "has been freed")
            }
            () => return None,
        };
        Some((kind, format!("has element {at}, which {problem}")))
    })
}

/// What is wrong with where the edges of a graph's nodes end (MPI 4.1 §8.5.3).
pub(super) fn ends_problem(args: &Args, index: usize) -> Option<String> {
    let mut last = 0;
    let (at, end) = elements(args, index, "nnodes", false)?.find(|(_, end)| {
        let falls = *end < last;
        last = *end;
        falls
    })?;
    Some(format!("has element {at} = {end}, but the numbers of edges up to each node only grow"))
}

/// What is wrong with the edges of a graph (MPI 4.1 §8.5.3).
pub(super) fn edges_problem(args: &Args, index: usize) -> Option<String> {
    let (_, all) = elements(args, args.call.named("index_in")?, "nnodes", false)?.last()?;
    let (array, nodes) = (args.words[index], args.int(args.call.named("nnodes")?));
    let edges = 0..usize::try_from(all).ok().filter(|_| array != 0)?;
    let mut edges = edges.map(|at| (at, Mpi.int_at(array, at, false)));
    let (at, node) = edges.find(|(_, node)| !(0..i64::from(nodes)).contains(node))?;
    Some(format!("has element {at} = {node}, but the graph's nodes are 0 to {}", nodes - 1))
}

/// What is wrong with how many edges each node has (MPI 4.1 §8.5.4).
pub(super) fn degrees_problem(args: &Args, index: usize) -> Option<String> {
    let (at, degree) = elements(args, index, "n", false)?.find(|(_, degree)| *degree < 0)?;
    Some(format!("has element {at} = {degree}, but numbers of edges are not negative"))
}

/// What is wrong with a group of which a communicator is to be made (MPI 4.1 §7.4.2).
pub(super) fn subgroup_problem(args: &Args, index: usize) -> Option<&'static str> {
    let comm = args.words[args.call.at.comm?];
    if Mpi.is_inter(comm) {
        return None;
    }
    let all = groups::of_comm(comm);
    let is_other =
        groups::of_group(args.words[index]).iter().any(|rank| !all.members.contains(rank));
    is_other.then_some("has ranks that are not the communicator's")
}

/// What is wrong with how large a part of an array is (MPI 4.1 §5.1.3).
pub(super) fn parts_problem(args: &Args, index: usize) -> Option<String> {
    let (at, size) =
        elements(args, index, "ndims", args.call.large)?.find(|(_, size)| *size < 1)?;
    Some(format!("has element {at} = {size}, but a part has at least 1 element"))
}

/// What is wrong with where a part of an array begins (MPI 4.1 §5.1.3).
pub(super) fn starts_problem(args: &Args, index: usize) -> Option<String> {
    let of = |name: &str| elements(args, args.call.named(name)?, "ndims", args.call.large);
    let starts = elements(args, index, "ndims", args.call.large)?;
    let mut all = of("sizes")?.zip(of("subsizes")?).zip(starts);
    let is_outside = |(((_, size), (_, part)), (_, start)): &_| {
        let (size, part, start): (&i64, &i64, &i64) = (size, part, start);
        *start < 0 || start.saturating_add(*part) > *size
    };
    let (((at, size), (_, part)), (_, start)) = all.find(is_outside)?;
    Some(format!(
        "has element {at} = {start}, but {part} of {size} elements begin at 0 to {}",
        size - part
    ))
}

/// What is wrong with ranks of a group.
pub(super) fn members_problem(args: &Args, index: usize) -> Option<String> {
    let mut size = 0;
    // SAFETY: a group that has been looked at.
    unsafe {
        sys::PMPI_Group_size(handle::<sys::MPI_Group>(args.words[args.call.at.group?]), &mut size)
    };
    let translates = args.call.name == "MPI_Group_translate_ranks";
    let mut seen = vec![false; size.max(0) as usize];
    for (at, rank) in elements(args, index, "n", false)? {
        if translates && rank == i64::from(Mpi::PROC_NULL) {
            continue;
        }
        let member = usize::try_from(rank).ok().and_then(|rank| seen.get_mut(rank));
        let Some(member) = member else {
            return Some(ranks_are(at, rank, "the group's", 0..size.max(0) as usize));
        };
        if std::mem::replace(member, true) && !translates {
            return Some(format!("names rank {rank} twice"));
        }
    }
    None
}

/// What is wrong with neighbours in a graph (MPI 4.1 §8.5.4).
pub(super) fn neighbours_problem(args: &Args, index: usize, count: &str) -> Option<String> {
    let size = Mpi.size(args.words[args.call.at.comm?]);
    let is_outside = |(_, rank): &(usize, i64)| {
        *rank != i64::from(Mpi::PROC_NULL) && !(0..size as i64).contains(rank)
    };
    let (at, rank) = elements(args, index, count, false)?.find(is_outside)?;
    Some(ranks_are(at, rank, "the communicator's", 0..size))
}

fn ranks_are(at: usize, rank: i64, whose: &str, ranks: Range<usize>) -> String {
    format!("has element {at} = {rank}, but {whose} ranks are 0 to {}", ranks.end.saturating_sub(1))
}

/// The elements of an array, of which another argument says how many there are.
fn elements(
    args: &Args,
    index: usize,
    count: &str,
    large: bool,
) -> Option<impl Iterator<Item = (usize, i64)>> {
    let (array, count) = (args.words[index], args.int(args.call.named(count)?));
    let count = usize::try_from(count).ok().filter(|_| array != 0)?;
    Some((0..count).map(move |at| (at, Mpi.int_at(array, at, large))))
}
