//! Buffer bounds: whether the memory that a call is given has as many bytes as the call uses, and
//! is written only once.
//!
//! So are statuses, arrays of requests and other results, which are memory of the program like any
//! buffer (§2.5, §3.2.5). For a string there must be room for the longest that the library has
//! (§7.8, §9.1, §9.4, §10, §11.9); in Fortran strings bring their lengths. Of indices, of which
//! only as many are stored as operations complete, one is measured if there are requests, and of
//! the statuses beside them none.
//!
//! The size of blocks that the program has allocated is known at once, those of devices included.
//! That of variables is in debug information: their uses are written to the log, each once, and
//! checked after the run. So are uses of blocks, whose types debug information has, once for each
//! call, allocation site and datatype.
//!
//! **Soundness.** What is reported uses bytes behind the end of the object that its first byte lies
//! in: a message consists of the values in count consecutive entries (MPI 4.1 §3.2.2), a receive
//! buffer is storage for so many (§3.2.4), and likewise in collectives, one-sided operations
//! (§12.3) and windows (§12.2.1). A receive for more than is sent does no harm in this run; the
//! storage that it claims is missing all the same. Parts that a datatype or an array of
//! displacements places individually are checked one by one, since they may lie in several objects.
//! Missed is what ends within the same object (members of a structure, columns of a matrix), memory
//! that was mapped or allocated in unobserved ways (`heap.rs`), and variables without a location in
//! debug information.
//!
//! Elements that overlap where a call writes are erroneous even if no message is long enough to
//! reach them (§5.1.11; §6.5 for displacements, §12.3 for targets). Types of very many irregular
//! parts that interleave count as valid.

use crate::datatypes;
use crate::fortran::Ignored;
use crate::library::Mpi;
use crate::rank::Rank;
use crate::sys;
use crate::windows;
use commsan_callsite::{Place, Variable};
use commsan_findings::record::{RawBasics, RawDatatype};
use commsan_mpi::buffers::{contiguous, resolve};
use commsan_mpi::{Args, Datatype, Library, Purpose, Used, Wrong};
use commsan_mpi_calls::{Effect, Element, Extent, Longest, Pointee, Role, Rule};
use commsan_process::{heap, modules};
use commsan_shadow::{Footprint, Mode, Pattern};
use commsan_threads::Here;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// Parts of a buffer that are checked from either end.
const PARTS: usize = 32;

/// Checks the memory of a call that is about to be made. Returns whether the result will be the
/// same if the call is made again.
#[inline]
pub(crate) fn look(rank: &dyn Rank, args: &Args, here: &Here) -> bool {
    results(rank, args, here);
    if args.call.accesses.is_empty() {
        let lent = match args.call.effect {
            Effect::Window | Effect::Attach => ("base", "size"),
            Effect::BufferAttach => ("buffer", "bsize"),
            _ => return true,
        };
        whole(rank, args, lent, here);
        return false;
    }
    if let Some(target) = args.call.at.target_datatype.filter(|_| args.call.effect == Effect::Rma)
        && datatypes::dense(args.words[target]).is_none()
    {
        at_target(rank, args, target, here);
    }
    let (Some(bytes), [rule]) = (contiguous(args, &Mpi), &*args.call.accesses) else {
        parts(rank, args, here);
        return false;
    };
    look_at(rank, args, rule.buffer, rule.mode, Some(rule), bytes, here)
}

/// Checks the memory for strings that a call stores, of which nothing else is checked.
#[inline]
pub(crate) fn strings(rank: &dyn Rank, args: &Args, here: &Here) {
    if !args.call.pointees.is_empty() {
        results(rank, args, here);
    }
}

/// Checks the memory for statuses, requests, flags, indices and strings.
#[inline]
fn results(rank: &dyn Rank, args: &Args, here: &Here) {
    for Pointee { param, element, count, is_whole } in &args.call.pointees {
        let start = args.words[*param];
        if start == 0 || start == sys::MPI_STATUS_IGNORE as usize {
            continue;
        }
        let all = count.map_or(1, |count| args.count(count));
        let count = if *is_whole { all } else { all.min(1) };
        let bytes =
            start..start.saturating_add(count.saturating_mul(size_of_element(args, *element)));
        if !bytes.is_empty() && is_new(here.pc(), &bytes) {
            let parameter = args.call.params[*param].shown();
            let purpose = match element {
                Element::Text(_) | Element::Character => Purpose::Text,
                Element::Int | Element::Status | Element::Request => Purpose::Result,
            };
            result(rank, args, &Used { parameter, purpose, mode: Mode::Write, bytes }, here);
        }
    }
}

fn size_of_element(args: &Args, element: Element) -> usize {
    match element {
        Element::Int => size_of::<c_int>(),
        Element::Status => size_of::<sys::MPI_Status>(),
        Element::Request if args.fortran => size_of::<c_int>(),
        Element::Request => size_of::<sys::MPI_Request>(),
        Element::Text(_) | Element::Character if args.fortran => 0,
        Element::Text(longest) => match longest {
            Longest::ProcessorName => sys::MPI_MAX_PROCESSOR_NAME as usize,
            Longest::LibraryVersion => sys::MPI_MAX_LIBRARY_VERSION_STRING as usize,
            Longest::ErrorString => sys::MPI_MAX_ERROR_STRING as usize,
            Longest::ObjectName => sys::MPI_MAX_OBJECT_NAME as usize,
            Longest::PortName => sys::MPI_MAX_PORT_NAME as usize,
            Longest::InfoKey => sys::MPI_MAX_INFO_KEY as usize,
            Longest::DataRepresentation => sys::MPI_MAX_DATAREP_STRING as usize,
        },
        Element::Character => 1,
    }
}

#[cold]
fn result(rank: &dyn Rank, args: &Args, used: &Used, here: &Here) {
    let bounds = here.thread.stack_bounds();
    if bounds.contains(&used.bytes.start) && used.bytes.start < here.sp() {
        return; // commsan's own, in place of none
    }
    if let Some(ignored) = Ignored::of(used.bytes.start) {
        if let Some(wrong) = ignored_otherwise(used, ignored) {
            rank.with(here.thread, &mut |tracker, out| {
                tracker.reporter.wrong_argument(args, &wrong, here, out)
            });
        }
        return;
    }
    match heap::block_of(used.bytes.start) {
        Some(block) if used.bytes.end <= block.end => {}
        Some(block) => too_long(rank, args, used, &block, here),
        None => {
            variable(rank, args, used, None, here);
        }
    }
}

/// In Fortran, `MPI_STATUS_IGNORE` where an array of statuses is meant, or the other way round:
/// what the library does not know as the right one, it stores statuses in (MPI 4.1 §3.2.6).
fn ignored_otherwise(used: &Used, ignored: Ignored) -> Option<Wrong> {
    let (is, instead) = match (used.parameter, ignored) {
        ("statuses", Ignored::One) => ("MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE"),
        ("status", Ignored::Several) => ("MPI_STATUSES_IGNORE", "MPI_STATUS_IGNORE"),
        _ => return None,
    };
    let problem = format!("is {is}, but {instead} is for this call");
    Some(Wrong::value(used.parameter, problem))
}

fn parts(rank: &dyn Rank, args: &Args, here: &Here) {
    let accesses = resolve(args, &Mpi);
    for (rule, access) in args.call.accesses.iter().zip(&accesses) {
        let Some(access) = access else { continue };
        let one = (rule.in_place.is_none_or(|_| args.words[rule.buffer] != Mpi::IN_PLACE))
            .then_some(rule.buffer);
        let parameter = one.or(rule.in_place).unwrap_or(rule.buffer);
        if access.mode == Mode::Write
            && let Footprint::Sparse(at) = &access.footprint
        {
            let by = match rule.extent {
                Extent::Placed { displs, .. } => displs,
                _ => rule.datatype,
            };
            let moved = at.0.wrapping_sub(args.words[parameter]) as isize;
            written_once(rank, args, by, (moved, &at.1), here);
        }
        access.footprint.pieces(PARTS, &mut |piece| {
            look_at(rank, args, parameter, access.mode, Some(rule), piece, here);
        });
    }
}

/// What a one-sided operation writes at its target.
#[cold]
fn at_target(rank: &dyn Rank, args: &Args, datatype: usize, here: &Here) {
    let at_target = windows::at_target(args);
    if at_target.mode == Mode::Write {
        written_once(rank, args, datatype, (0, &at_target.pattern), here);
    }
}

/// Patterns that were recently found to be without overlap, by fingerprint.
static WITHOUT_OVERLAP: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// Checks that memory with a pattern, at some bytes from the buffer, is written only once; `by` is
/// the parameter that describes it.
fn written_once(
    rank: &dyn Rank,
    args: &Args,
    by: usize,
    (moved, pattern): (isize, &Pattern),
    here: &Here,
) {
    let fingerprint = pattern.fingerprint();
    let slot = &WITHOUT_OVERLAP[(fingerprint >> 58) as usize];
    if pattern.is_dense() || slot.load(Relaxed) == fingerprint {
        return;
    }
    let Some(run) = pattern.overlap() else { return slot.store(fingerprint, Relaxed) };
    let wrong = Wrong::overlapping(&args.call.params[by].name, run.start + moved..run.end + moved);
    rank.with(here.thread, &mut |tracker, out| {
        tracker.reporter.wrong_argument(args, &wrong, here, out)
    });
}

/// Checks memory that MPI uses as a whole: a window's part, an attached buffer.
fn whole(rank: &dyn Rank, args: &Args, (base, size): (&str, &str), here: &Here) {
    let (Some(base), Some(size)) = (args.call.named(base), args.call.named(size)) else {
        return;
    };
    let (start, size) = (args.words[base], args.words[size]);
    if let Some(end) = start.checked_add(size) {
        look_at(rank, args, base, Mode::Write, None, start..end, here);
    }
}

/// Checks one contiguous part; returns whether it is a variable, or unknown.
#[inline]
fn look_at(
    rank: &dyn Rank,
    args: &Args,
    parameter: usize,
    mode: Mode,
    rule: Option<&Rule>,
    bytes: Range<usize>,
    here: &Here,
) -> bool {
    if bytes.is_empty() || bytes.start == 0 {
        return true;
    }
    match heap::block_of(bytes.start) {
        Some(block) if bytes.end <= block.end => {
            if let Some(rule) = rule {
                in_block(rank, args, rule, (parameter, mode), &bytes, &block, here);
            }
            false
        }
        Some(block) => {
            too_long(rank, args, &buffer(args, parameter, mode, bytes), &block, here);
            false
        }
        None if is_new(here.pc(), &bytes) => {
            let used = buffer(args, parameter, mode, bytes);
            let rule = rule.map(|rule| (rule, parameter));
            !on_device(rank, args, &used, here) && variable(rank, args, &used, rule, here)
        }
        None => here.thread.stack_bounds().contains(&bytes.start),
    }
}

fn buffer(args: &Args, parameter: usize, mode: Mode, bytes: Range<usize>) -> Used {
    Used { parameter: &args.call.params[parameter].name, purpose: Purpose::Buffer, mode, bytes }
}

/// Compares what a block was allocated for with the datatype, once for each call, allocation site
/// and datatype: the use goes to the log, since debug information has the type.
#[inline]
fn in_block(
    rank: &dyn Rank,
    args: &Args,
    rule: &Rule,
    (parameter, mode): (usize, Mode),
    bytes: &Range<usize>,
    block: &Range<usize>,
    here: &Here,
) {
    let Some(site) = heap::site_of(block.start) else { return };
    // One element does not show the extent.
    let length = bytes.len().ilog2() as usize;
    let datatype = args.words[rule.datatype];
    if is_new(here.pc() ^ parameter, &(site..datatype.rotate_left(8) ^ length)) {
        let used = buffer(args, parameter, mode, bytes.clone());
        block_used(rank, args, (rule, parameter), &used, (site, block), here);
    }
}

#[cold]
fn block_used(
    rank: &dyn Rank,
    args: &Args,
    (rule, parameter): (&Rule, usize),
    used: &Used,
    (site, block): (usize, &Range<usize>),
    here: &Here,
) {
    let Some(datatype) = elements(args, (rule, parameter), &used.bytes) else { return };
    // A return address may belong to the next function; the byte before is in the call.
    let at = site.wrapping_sub(1);
    let variable = Variable::Block {
        at,
        offset: (used.bytes.start - block.start) as u64,
        size: block.len() as u64,
        argument: parameter as u32,
    };
    rank.with(here.thread, &mut |tracker, out| {
        tracker.reporter.uses(args, used, (variable, Some(datatype.clone())), here, out);
    });
}

/// Checks a device's memory; returns whether it is that, or managed.
#[cold]
fn on_device(rank: &dyn Rank, args: &Args, used: &Used, here: &Here) -> bool {
    let mut found = false;
    rank.with(here.thread, &mut |tracker, out| {
        if let Some(block) = tracker.device_block(used.bytes.start) {
            found = true;
            if used.bytes.end > block.end {
                tracker.reporter.overruns(args, used, &block, here, out);
            }
        }
    });
    found
}

#[cold]
fn too_long(rank: &dyn Rank, args: &Args, used: &Used, block: &Range<usize>, here: &Here) {
    rank.with(here.thread, &mut |tracker, out| {
        tracker.reporter.overruns(args, used, block, here, out)
    });
}

/// Uses of variables and blocks that were checked, by a hash: another one in the same slot is
/// checked again.
static LOOKED_AT: [AtomicUsize; 4096] = [const { AtomicUsize::new(0) }; 4096];

#[inline]
fn is_new(pc: usize, bytes: &Range<usize>) -> bool {
    const MIX: usize = 0x9e37_79b9_7f4a_7c15;
    let hash = [bytes.start, bytes.end]
        .iter()
        .fold(pc.wrapping_mul(MIX), |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(MIX));
    let slot = &LOOKED_AT[hash >> (usize::BITS - LOOKED_AT.len().ilog2())];
    slot.load(Relaxed) != hash && {
        slot.store(hash, Relaxed);
        true
    }
}

/// Records the use of a variable; returns whether it is one.
#[cold]
fn variable(
    rank: &dyn Rank,
    args: &Args,
    used: &Used,
    rule: Option<(&Rule, usize)>,
    here: &Here,
) -> bool {
    let Some(variable) = find(used.bytes.start, here) else { return false };
    let datatype = rule.and_then(|rule| elements(args, rule, &used.bytes));
    rank.with(here.thread, &mut |tracker, out| {
        tracker.reporter.uses(args, used, (variable, datatype.clone()), here, out);
    });
    true
}

/// The variable that an address is in.
fn find(address: usize, here: &Here) -> Option<Variable> {
    let Some(frame) = here.frame_of(address) else {
        return modules::data_at(address).map(|_| Variable::Static { at: address });
    };
    let mut frames = [0; commsan_callsite::DEPTH];
    let depth = here.frames(&mut frames);
    let pc = *frames[..depth].get(here.frame_index(address)?)?;
    // A return address may belong to the next function; the byte before is in the call.
    let (at, offset) = (pc.wrapping_sub(1), address.wrapping_sub(frame) as i64);
    (frame != 0).then_some(Variable::Local { at, offset })
}

/// The datatype of the elements that begin with these bytes; `None` where they are not the first,
/// which says nothing new, or where nothing is known of it.
fn elements(
    args: &Args,
    (rule, parameter): (&Rule, usize),
    bytes: &Range<usize>,
) -> Option<RawDatatype<'static>> {
    if args.call.params[rule.datatype].role != Role::Datatype {
        return None;
    }
    let word = args.words[rule.datatype];
    let Datatype { pattern, extent } = datatypes::describe(word);
    let first = if pattern.is_dense() && pattern.span() == (0..extent) {
        bytes.start // one piece of many is as good as all
    } else {
        args.words[parameter]
    };
    let lowest = first.wrapping_add_signed(pattern.span().start);
    let known = datatypes::basics(word);
    let count = match rule.extent {
        Extent::Blocks { count, .. } if first != bytes.start => args.count(count),
        Extent::One => 1,
        _ => bytes.len() / usize::try_from(extent).ok()?.max(1),
    };
    if lowest != bytes.start || known.runs().is_empty() {
        return None;
    }
    let moved = bytes.start.wrapping_sub(first) as isize;
    let basics = known.runs().iter().map(|run| RawBasics {
        at: (run.at - moved) as i64,
        class: run.class.into(),
        bytes: run.bytes as u64,
        count: run.count as u64,
    });
    Some(RawDatatype {
        count: count as u64,
        extent: extent as i64,
        derived: !datatypes::is_predefined(word),
        basics: basics.collect(),
    })
}
