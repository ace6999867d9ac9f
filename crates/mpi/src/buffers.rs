//! Buffers of a call: from its arguments to the footprints of its accesses.

use crate::collective::signature::Signature;
use crate::typemap::Datatype;
use commsan_mpi_calls::{Call, Extent, On, Role, Rule, Times};
use commsan_shadow::{Access, Footprint, Pattern};
use std::ops::Range;

/// The arguments of one call, as the C binding would get them.
///
/// Pointers and handles fill a word, integers are sign-extended. The Fortran entry points convert
/// to this form, except that what arrays and results point to stays as Fortran has it.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    /// The row of the table.
    pub call: &'static Call,
    /// One word for each parameter.
    pub words: &'a [usize],
    /// Whether arrays of handles, indices and logicals are Fortran's.
    pub fortran: bool,
    /// Whether its buffers have been checked against each other.
    pub are_apart: bool,
}

impl<'a> Args<'a> {
    /// The arguments of a call that is made.
    pub fn new(call: &'static Call, words: &'a [usize], fortran: bool) -> Args<'a> {
        Args { call, words, fortran, are_apart: false }
    }

    /// An `int` argument.
    pub fn int(&self, index: usize) -> i32 {
        self.words[index] as i32
    }

    /// A count argument.
    pub fn count(&self, index: usize) -> usize {
        match self.call.large && self.call.params[index].role == Role::Count {
            true => self.words[index] as isize as usize,
            false => self.int(index).max(0) as usize,
        }
    }
}

impl Args<'_> {
    /// Whether the call's two buffers begin at the same address, or may overlap. Some libraries
    /// abort then, so that it is reported before the call.
    #[inline]
    pub fn is_aliased<L: Library>(&self, library: &L) -> bool {
        let [a, b] = &*self.call.accesses else { return false };
        let (first, second) = (self.words[a.buffer], self.words[b.buffer]);
        a.buffer != b.buffer
            && (first == second
                || first < second && self.reaches(a, library) > second - first
                || second < first && self.reaches(b, library) > first - second)
    }

    /// How many bytes of its buffer an access uses, as far as that is known at once.
    fn reaches<L: Library>(&self, rule: &Rule, library: &L) -> usize {
        let Extent::Blocks { count, times } = rule.extent else { return 0 };
        let comm = || self.call.at.comm.map_or(0, |index| self.words[index]);
        let times = match times {
            Times::Once => 1,
            Times::Size => library.size(comm()),
            Times::Local => library.local_size(comm()),
            Times::Param(_) | Times::In | Times::Out => return 0,
        };
        let size = library.dense(self.words[rule.datatype]).unwrap_or(0);
        self.count(count).saturating_mul(size).saturating_mul(times)
    }
}

/// What the semantics need to know from the MPI library and the program's memory.
pub trait Library {
    /// `MPI_IN_PLACE`.
    const IN_PLACE: usize;
    /// `MPI_PROC_NULL`.
    const PROC_NULL: i32;
    /// `MPI_ROOT`.
    const ROOT: i32;

    /// The size in bytes of a datatype that is known to fill its extent from its lower bound 0;
    /// `None` if that is not known at once.
    fn dense(&self, handle: usize) -> Option<usize>;
    /// The layout of a datatype.
    fn datatype(&self, handle: usize) -> Datatype;
    /// This process's rank.
    fn rank(&self, comm: usize) -> i32;
    /// Size of the group that a collective exchanges data with: the remote one of an
    /// intercommunicator.
    fn size(&self, comm: usize) -> usize;
    /// Size of the process's own group.
    fn local_size(&self, comm: usize) -> usize;
    /// Whether a reduction is `MPI_NO_OP`.
    fn is_no_op(&self, op: usize) -> bool;
    /// Whether the communicator is an intercommunicator.
    fn is_inter(&self, comm: usize) -> bool;
    /// Sources and destinations of the communicator's topology.
    fn neighbours(&self, comm: usize) -> (Vec<i32>, Vec<i32>);
    /// Element of an array of `int` (`MPI_Count` if `large`).
    fn int_at(&self, array: usize, index: usize, large: bool) -> i64;
    /// Element of an array of datatype handles.
    fn handle_at(&self, array: usize, index: usize, fortran: bool) -> usize;
    /// The type signature of one element of a datatype, as it is now.
    fn signature(&self, handle: usize) -> Signature;
    /// The type signature of one element, valid until the program frees the handle; vague where the
    /// handle may come to stand for another type unseen.
    fn lasting_signature(&self, handle: usize) -> Signature;
}

/// The accesses of a call, at most three.
pub type Accesses = [Option<Access>; 3];

/// The accesses of the call, or of the operation that it starts.
pub fn resolve(args: &Args, library: &impl Library) -> Accesses {
    let mut accesses = [const { None }; 3];
    for (access, rule) in accesses.iter_mut().zip(&args.call.accesses) {
        *access = footprint(args, rule, library)
            .filter(|footprint| footprint.bytes() > 0)
            .map(|footprint| Access { mode: rule.mode, footprint });
    }
    accesses
}

/// The access of a call with at most one buffer, if it is contiguous: the usual case, without
/// building a footprint. The range is empty if the call accesses nothing.
#[inline(always)]
pub fn contiguous<L: Library>(args: &Args, library: &L) -> Option<Range<usize>> {
    let [rule] = &*args.call.accesses else { return args.call.accesses.is_empty().then_some(0..0) };
    let Extent::Blocks { count, .. } = rule.extent else { return None };
    if !args.call.simple {
        return None;
    }
    let (base, count) = (args.words[rule.buffer], args.count(count));
    let absent = rule.peer.is_some_and(|peer| args.int(peer) == L::PROC_NULL)
        || rule.op.is_some_and(|op| library.is_no_op(args.words[op]));
    if absent || count == 0 {
        return Some(0..0);
    }
    let size = library.dense(args.words[rule.datatype])?;
    (base != L::IN_PLACE).then_some(base..base + count * size)
}

fn footprint<L: Library>(args: &Args, rule: &Rule, library: &L) -> Option<Footprint> {
    if rule.peer.is_some_and(|peer| args.int(peer) == L::PROC_NULL)
        || rule.op.is_some_and(|op| library.is_no_op(args.words[op]))
        || !takes_place::<L>(args, rule, library)
    {
        return None;
    }
    let mut base = args.words[rule.buffer];
    if base == L::IN_PLACE {
        base = args.words[rule.in_place?];
    }
    let comm = || args.call.at.comm.map_or(0, |index| args.words[index]);
    let element = || library.datatype(args.words[rule.datatype]);
    match rule.extent {
        Extent::Blocks { count, times } => {
            let count = args.count(count);
            if count == 0 {
                // With a count of 0 the datatype may be anything, `MPI_DATATYPE_NULL` included.
                return None;
            }
            let element = element();
            let whole = |n: usize| {
                Some(Footprint::elements(base, &element.pattern, count * n, element.extent))
            };
            match times {
                Times::Once => whole(1),
                Times::Size => whole(library.size(comm())),
                Times::Local => whole(library.local_size(comm())),
                Times::Param(index) => whole(args.int(index).max(0) as usize),
                Times::In | Times::Out => {
                    let present = present::<L>(library, comm(), times);
                    if present.iter().all(|p| *p) {
                        return whole(present.len());
                    }
                    let block = element.pattern.repeat(count, element.extent);
                    let stride = count as isize * element.extent;
                    let blocks = present.iter().enumerate().filter(|(_, present)| **present);
                    let parts = blocks.map(|(i, _)| (i as isize * stride, block.clone()));
                    Some(Footprint::new(base, Pattern::parts(parts)))
                }
            }
        }
        Extent::Placed { counts, displs, times } => {
            let present = match times {
                Times::In | Times::Out => present::<L>(library, comm(), times),
                _ => vec![true; library.size(comm())],
            };
            Some(placed(args, rule, library, base, counts, displs, &present))
        }
        Extent::Sum(counts) => {
            let n = library.local_size(comm());
            let counts = (0..n).map(|i| library.int_at(args.words[counts], i, args.call.large));
            let (sum, element) = (counts.sum::<i64>().max(0) as usize, element());
            Some(Footprint::elements(base, &element.pattern, sum, element.extent))
        }
        Extent::One => {
            let element = element();
            Some(Footprint::elements(base, &element.pattern, 1, element.extent))
        }
        Extent::Own(counts) => {
            let rank = library.rank(comm()).max(0) as usize;
            let count = library.int_at(args.words[counts], rank, args.call.large).max(0) as usize;
            let element = element();
            Some(Footprint::elements(base, &element.pattern, count, element.extent))
        }
    }
}

/// Whether this process accesses the buffer of a rule in a rooted collective (MPI 4.1 §6.2.3), or
/// in an exclusive prefix sum, of which rank 0 receives nothing (§6.11.2).
pub fn takes_place<L: Library>(args: &Args, rule: &Rule, library: &L) -> bool {
    let Some(comm) = args.call.at.comm.map(|index| args.words[index]) else { return true };
    if rule.on == On::Later {
        return library.rank(comm) != 0;
    }
    let Some(root) = args.call.at.root.map(|index| args.int(index)) else { return true };
    if library.is_inter(comm) {
        // The root passes `MPI_ROOT`, other ranks of its group `MPI_PROC_NULL`, and the other group
        // the root's rank.
        return match root {
            _ if root == L::PROC_NULL => false,
            _ if root == L::ROOT => rule.on == On::Root,
            _ => rule.on != On::Root,
        };
    }
    match rule.on {
        On::All | On::Later => true,
        On::Root => library.rank(comm) == root,
        On::Other => library.rank(comm) != root,
    }
}

fn present<L: Library>(library: &L, comm: usize, times: Times) -> Vec<bool> {
    let (sources, destinations) = library.neighbours(comm);
    let ranks = if times == Times::In { sources } else { destinations };
    ranks.into_iter().map(|rank| rank != L::PROC_NULL).collect()
}

fn placed<L: Library>(
    args: &Args,
    rule: &Rule,
    library: &L,
    base: usize,
    counts: usize,
    displs: usize,
    present: &[bool],
) -> Footprint {
    let many_types = args.call.params[rule.datatype].role == Role::Datatypes;
    let wide_displs = args.call.large || args.call.params[displs].role == Role::ByteDispls;
    let one = (!many_types).then(|| library.datatype(args.words[rule.datatype]));
    let blocks = present.iter().enumerate().filter(|(_, present)| **present).map(|(i, _)| {
        let count = library.int_at(args.words[counts], i, args.call.large).max(0) as usize;
        let displacement = library.int_at(args.words[displs], i, wide_displs) as isize;
        match &one {
            Some(element) => {
                (displacement * element.extent, element.pattern.repeat(count, element.extent))
            }
            None if count == 0 => (0, Pattern::empty()),
            None => {
                let element = library.handle_at(args.words[rule.datatype], i, args.fortran);
                let element = library.datatype(element);
                (displacement, element.pattern.repeat(count, element.extent))
            }
        }
    });
    Footprint::new(base, Pattern::parts(blocks.collect::<Vec<_>>()))
}
