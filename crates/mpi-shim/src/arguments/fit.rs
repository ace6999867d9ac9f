//! Arguments that each are right, and do not fit each other. Libraries carry out many such calls, so that they are looked
//! at like any other.
//!
//! **Soundness.** Reported are predefined reductions that are not defined for the predefined datatype that they are
//! given, or that all of an accumulate is of (MPI 4.1 §6.9.2, §12.3.4), `MPI_Compare_and_swap` of other types than
//! integers, logicals and bytes (§12.3.4), accumulates of data of several basic types, and of derived datatypes where
//! one element is fetched (§12.3.4), one-sided operations of which one side has no room for the data of the other, or
//! room for data of another type (§12.3.1), and data that does not fit into a packed buffer (§5.2). Missed are
//! reductions of derived datatypes, and datatypes that the program has renamed.

use super::{has_peer, matters};
use crate::datatypes;
use crate::library::{Mpi, reduction};
use crate::rank::Rank;
use commsan_findings::Problem;
use commsan_mpi::collective::signature::Signature;
use commsan_mpi::{Args, Library, Wrong};
use commsan_mpi_calls::reduction::{self as reductions, OTHER};
use commsan_mpi_calls::{Effect, Extent, Rule};
use commsan_shadow::Mode;
use commsan_threads::Here;
use std::ffi::c_int;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The reduction and datatype that were found to fit last. If their handles mean something else by now, that can cost
/// a finding, and cannot make one.
static LATEST: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

/// Looks at a call that is about to be made; returns whether something was wrong.
#[inline]
pub(crate) fn look(rank: &dyn Rank, args: &Args, here: &Here) -> bool {
    let at = &args.call.at;
    let is_doubtful = match at.op {
        Some(op) => reduction(args.words[op]) != OTHER && !is_latest(args, args.words[op]),
        None => at.compared.is_some() && !is_latest(args, SWAP) || at.position.is_some(),
    };
    (is_doubtful || differ(args)) && look_again(rank, args, here)
}

/// What stands for the reduction of `MPI_Compare_and_swap`.
const SWAP: usize = usize::MAX;

fn is_latest(args: &Args, op: usize) -> bool {
    let datatype = args.call.at.target_datatype.map_or(0, |index| args.words[index]);
    LATEST.0.load(Relaxed) == op && LATEST.1.load(Relaxed) == datatype
}

fn remember(op: usize, datatype: usize) {
    LATEST.0.store(0, Relaxed);
    LATEST.1.store(datatype, Relaxed);
    LATEST.0.store(op, Relaxed);
}

/// Whether the sides of a one-sided operation are described in different words.
#[inline]
fn differ(args: &Args) -> bool {
    let (Effect::Rma, Some(count), Some(datatype)) =
        (args.call.effect, args.call.at.target_count, args.call.at.target_datatype)
    else {
        return false;
    };
    let mut origins = args.call.accesses.iter();
    origins.any(|rule| {
        let Extent::Blocks { count: own, .. } = rule.extent else { return false };
        args.words[own] != args.words[count] || args.words[rule.datatype] != args.words[datatype]
    })
}

#[cold]
fn look_again(rank: &dyn Rank, args: &Args, here: &Here) -> bool {
    let found = reduction_problem(args).or_else(|| swap_problem(args)).or_else(|| sides(args));
    let Some(wrong) = found.or_else(|| pack_problem(args)) else { return false };
    rank.with(here.thread, &mut |tracker, out| {
        tracker.reporter.wrong_argument(args, &wrong, here, out)
    });
    true
}

/// A predefined reduction of a datatype that it is not defined for.
fn reduction_problem(args: &Args) -> Option<Wrong> {
    let (op, datatype) = (args.call.at.op?, args.call.at.target_datatype?);
    let number = reduction(args.words[op]);
    if number == OTHER || !has_peer(args) || !matters(args, datatype) {
        return None;
    }
    let word = args.words[datatype];
    // Only accumulates may be of derived datatypes; in reductions these are for the program's own functions.
    let is_accumulate = args.call.at.win.is_some();
    if let Some(wrong) = elements_problem(args, datatype).filter(|_| is_accumulate) {
        return Some(wrong);
    }
    let of = if is_accumulate { datatypes::leaf(word)? } else { word };
    let name = datatypes::name(of)?;
    if reductions::is_defined(number, &name) != Some(false) {
        remember(args.words[op], word);
        return None;
    }
    let op_name = reductions::name(number).unwrap_or_default();
    let problem = format!("is {op_name}, which is not defined for {name}");
    Some(Wrong::of(Problem::UndefinedForType, "op", problem))
}

/// A datatype whose elements an accumulate cannot be of: it takes derived ones of one basic type, and none where
/// it fetches a single element (MPI 4.1 §12.3.4).
fn elements_problem(args: &Args, datatype: usize) -> Option<Wrong> {
    let word = args.words[datatype];
    let problem = match args.call.at.target_count {
        None if !datatypes::is_predefined(word) => {
            "is a derived datatype, but the call takes predefined ones alone"
        }
        Some(_) if datatypes::signature(word).is_mixed() => {
            "is of several basic types, but an accumulate is of one"
        }
        _ => return None,
    };
    Some(Wrong::value(args.call.params[datatype].shown(), problem.to_owned()))
}

/// A comparison of what has no exact values.
fn swap_problem(args: &Args) -> Option<Wrong> {
    args.call.at.compared?;
    let datatype = args.call.at.target_datatype?;
    if let Some(wrong) = elements_problem(args, datatype).filter(|_| has_peer(args)) {
        return Some(wrong);
    }
    let name = datatypes::name(args.words[datatype])?;
    let problem =
        || format!("is {name}, but only integers, logicals and bytes are compared and swapped");
    if reductions::can_be_swapped(&name) != Some(false) {
        remember(SWAP, args.words[datatype]);
        return None;
    }
    has_peer(args).then(|| Wrong::of(Problem::UndefinedForType, "datatype", problem()))
}

/// A packed buffer that ends before what is packed, or is to be unpacked (MPI 4.1 §5.2).
fn pack_problem(args: &Args) -> Option<Wrong> {
    let pointer = args.words[args.call.at.position?];
    if args.call.large {
        return None;
    }
    // SAFETY: the call's argument, a pointer to an integer, or to a larger one of which this is the lower half.
    let position = i64::from(unsafe { *(pointer as *const c_int) });
    if position < 0 {
        return Some(Wrong::value(
            "position",
            format!("holds {position}, but bytes are counted from 0"),
        ));
    }
    let room = ["outsize", "insize"].into_iter().find_map(|name| args.call.named(name))?;
    let data = args.call.accesses.first()?;
    let Extent::Blocks { count, .. } = data.extent else { return None };
    let bytes = side(args, count, data.datatype).bytes as i64;
    let (size, name) = (args.int(room), args.call.params[room].shown());
    let problem =
        || format!("is {size}, but {bytes} bytes of data at position {position} end beyond it");
    (bytes > 0 && position + bytes > i64::from(size)).then(|| Wrong::value(name, problem()))
}

/// Two sides of a one-sided operation of which the one has no room for what the other sends (MPI 4.1 §12.3.1): less
/// than there is room for may be sent.
fn sides(args: &Args) -> Option<Wrong> {
    if args.call.effect != Effect::Rma {
        return None;
    }
    let (count, datatype) = (args.call.at.target_count?, args.call.at.target_datatype?);
    if !has_peer(args) {
        return None;
    }
    let target = side(args, count, datatype);
    let does_not_fit = |rule: &Rule| {
        let Extent::Blocks { count, .. } = rule.extent else { return None };
        if rule.op.is_some_and(|op| Mpi.is_no_op(args.words[op])) {
            return None;
        }
        let own = side(args, count, rule.datatype);
        let (sent, room) = match rule.mode {
            Mode::Read => (own, target),
            Mode::Write => (target, own),
        };
        (!sent.fits_into(room)).then_some(own)
    };
    let other = args.call.accesses.iter().find_map(does_not_fit)?;
    let (here, there) = (other.describe(), target.describe());
    let there = if here == there { format!("{there} of other types") } else { there };
    let problem = format!("and its count make it {there} at the target, but {here} at the origin");
    Some(Wrong::of(Problem::SidesDiffer, args.call.params[datatype].shown(), problem))
}

fn side(args: &Args, count: usize, datatype: usize) -> Signature {
    match args.count(count) {
        0 => Signature::EMPTY,
        count => datatypes::signature(args.words[datatype]).repeat(count as u64),
    }
}
