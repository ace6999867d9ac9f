//! Arguments of collectives that are compared between ranks.

use crate::datatypes;
use crate::groups;
use crate::handles::{comm_from_fortran, handle, handle_at};
use crate::levels;
use crate::library::{Mpi, reduction};
use crate::objects;
use crate::outcome::by_reference;
use crate::rank::{Rank, Shared};
use crate::sys;
use crate::windows::{self, New};
use commsan_mpi::buffers::takes_place;
use commsan_mpi::collective::alike;
use commsan_mpi::collective::communicators::On;
use commsan_mpi::collective::entry::Root;
use commsan_mpi::collective::signature::Signature;
use commsan_mpi::rma::Group;
use commsan_mpi::{Args, Entering, Library};
use commsan_mpi_calls::{Effect, Extent, Fit, Flow, Object, On as At, Role, Rule};
use commsan_threads::Here;
use commsan_threads::agents;
use smallvec::SmallVec;
use std::ffi::{CStr, c_char};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A collective that has been entered.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    on: On,
}

/// Whether collectives are made to wait for all ranks.
pub(crate) static ARE_STRICT: AtomicBool = AtomicBool::new(false);

/// Ranks that are not checked would not wait for those that are.
pub(crate) fn begin(shared: &Shared) {
    let is_complete = match shared {
        Shared::Job { shm, .. } if ARE_STRICT.load(Relaxed) => {
            shm.attend();
            shm.is_complete()
        }
        _ => false,
    };
    ARE_STRICT.store(is_complete, Relaxed);
}

/// The communicator whose ranks must all enter before this blocking call continues.
#[inline]
pub(crate) fn to_await(rank: &dyn Rank, args: &Args, here: &Here) -> Option<usize> {
    let one_way = matches!(args.call.flow, Flow::FromRoot | Flow::ToRoot | Flow::Upwards);
    if !one_way || !ARE_STRICT.load(Relaxed) {
        return None;
    }
    let On::Comm(comm) = subject(args)? else { return None };
    let mut is_known = false;
    rank.with(here.thread, &mut |tracker, _| {
        is_known = tracker.together.knows_members(On::Comm(comm))
    });
    is_known.then_some(comm)
}

/// Waits for all ranks of a communicator.
#[cold]
pub(crate) fn await_all(comm: usize) {
    // SAFETY: a communicator that the tracker knows; its other ranks do the same, by the same rule.
    // If it fails, so will the call itself.
    unsafe { sys::PMPI_Barrier(handle::<sys::MPI_Comm>(comm)) };
}

/// Before the call: leaves its entry at the rendezvous, and compares it with the first one.
#[inline(always)]
pub(crate) fn enter(rank: &dyn Rank, args: &Args, here: &Here) -> Option<Entered> {
    if args.call.enters { enter_on(rank, args, subject(args)?, here) } else { None }
}

fn enter_on(rank: &dyn Rank, args: &Args, on: On, here: &Here) -> Option<Entered> {
    // What another thread enters need not wait for this one.
    let parallel =
        agents::is_parallel() || levels::may_be_several() && commsan_threads::are_unseen();
    let blocking = args.call.blocks();
    let op = args.call.at.op.map_or(0, |index| reduction(args.words[index]));
    let data = data(args);
    let entering = Entering {
        call: args.call,
        on,
        blocking,
        parallel,
        root: root(args),
        op,
        data: data.first().copied(),
        received: data.get(1).copied(),
        asserted: windows::asserted(args),
        alike: alike(args),
    };
    rank.with(here.thread, &mut |tracker, out| tracker.enter(&entering, here, out));
    Some(Entered { on })
}

/// After the call of a collective.
pub(crate) fn leave(rank: &dyn Rank, args: &Args, here: &Here, entered: Entered, ok: bool) {
    let parent = match entered.on {
        On::Comm(comm) => comm,
        On::Window(_) | On::File(_) | On::Pes(_) => 0,
    };
    if !ok {
        // Collectives on files may fail, and by default return an error (MPI 4.1 §14.7).
        if matches!(entered.on, On::File(_)) || args.call.effect == Effect::FileOpen {
            return;
        }
        rank.with(here.thread, &mut |tracker, _| tracker.together.not_entered(entered.on));
    } else if args.call.frees.is_some() {
        rank.with(here.thread, &mut |tracker, _| tracker.together.unmade(entered.on));
    } else if args.call.at.peer_comm.is_some() {
        let Some((child, group)) = made(args) else { return };
        rank.with(here.thread, &mut |tracker, _| tracker.together.joined(args, child, &group));
    } else if let Some((child, group)) = made(args) {
        rank.with(here.thread, &mut |tracker, _| tracker.together.made(parent, child, &group));
    }
}

/// A call is made that is not checked, and may be a collective that others enter.
#[cold]
pub(crate) fn not_looked_at(rank: &dyn Rank, args: &Args, here: &Here) {
    let by_reference =
        matches!(args.call.effect, Effect::CommFree | Effect::WindowFree | Effect::FileClose);
    let Some(on) = subject(args).filter(|_| !by_reference) else { return };
    rank.with(here.thread, &mut |tracker, _| tracker.together.not_entered(on));
}

/// What the collective is called on.
pub(crate) fn subject(args: &Args) -> Option<On> {
    if !args.call.enters {
        return None;
    }
    let (at, words) = (&args.call.at, args.words);
    Some(match args.call.effect {
        Effect::CommFree => On::Comm(by_reference(args)),
        Effect::WindowFree => On::Window(by_reference(args)),
        Effect::FileClose => On::File(by_reference(args)),
        Effect::Fence => On::Window(words[at.win?]),
        _ => match at.file {
            Some(file) => On::File(words[file]),
            None => On::Comm(words[at.comm?]),
        },
    })
}

/// The communicator, window or file that the call has made, and its members.
fn made(args: &Args) -> Option<(On, Group)> {
    if args.call.effect == Effect::Window {
        // SAFETY: the call has made a window.
        let New { handle, comm, .. } = unsafe { windows::new(args) };
        return Some((On::Window(handle), groups::of_comm(comm)));
    }
    if let Some((Object::File, at)) = args.call.makes {
        let (file, comm) =
            (objects::at(Object::File, args.words[at], args.fortran), args.call.at.comm?);
        return Some((On::File(file), groups::of_comm(args.words[comm])));
    }
    let comm = new_comm(args)?;
    // Of a copy that is not complete nothing can be asked.
    let asked = match args.call.effect {
        Effect::Start => args.words[args.call.at.comm?],
        _ => comm,
    };
    let group = groups::of_comm(asked);
    (!group.members.is_empty()).then_some((On::Comm(comm), group))
}

/// The communicator that the call has made.
fn new_comm(args: &Args) -> Option<usize> {
    let (_, at) = args.call.makes.filter(|(object, _)| *object == Object::Comm)?;
    // SAFETY: the call has stored a handle there.
    Some(unsafe { handle_at::<sys::MPI_Comm>(args.words[at], args.fortran, comm_from_fortran) })
}

/// A group is about to make a communicator, without the other ranks of the parent.
#[cold]
pub(crate) fn to_be_made_by_group(rank: &dyn Rank, args: &Args, here: &Here) {
    let Some(group) = args.call.at.group else { return };
    let group = Group::new(groups::of_group(args.words[group]).into());
    let (parent, tag) = origin(args);
    rank.with(here.thread, &mut |tracker, _| {
        tracker.together.makes_by_group(here.thread.number(), parent, tag, &group);
    });
}

/// The group has made its communicator, or failed to.
#[cold]
pub(crate) fn made_by_group(rank: &dyn Rank, args: &Args, here: &Here, ok: bool) {
    rank.with(here.thread, &mut |tracker, _| tracker.together.made_or_not(here.thread.number()));
    let Some(comm) = new_comm(args).filter(|_| ok) else { return };
    let group = groups::of_comm(comm);
    let (parent, tag) = origin(args);
    if !group.members.is_empty() {
        rank.with(here.thread, &mut |tracker, _| {
            tracker.together.made_by_group(parent, tag, On::Comm(comm), &group);
        });
    }
}

/// The parent from which a group makes a communicator, and what distinguishes it: a tag or, for a
/// session, a hash of the string tag.
fn origin(args: &Args) -> (Option<usize>, i32) {
    let tag = match (args.call.at.tag, args.call.named("text")) {
        (Some(index), _) => args.int(index),
        (None, Some(index)) if !args.fortran => {
            // SAFETY: a string of the program.
            let text = unsafe { CStr::from_ptr(args.words[index] as *const c_char) };
            text.to_bytes()
                .iter()
                .fold(1, |sum: i32, byte| sum.wrapping_mul(31).wrapping_add(i32::from(*byte)))
        }
        _ => 0,
    };
    (args.call.at.comm.map(|index| args.words[index]), tag)
}

/// Who the root is.
fn root(args: &Args) -> Root {
    let (Some(root), Some(comm)) = (args.call.at.root, args.call.at.comm) else {
        return Root::Unknown;
    };
    let (root, comm) = (args.int(root), args.words[comm]);
    match root {
        // On an intercommunicator.
        Mpi::ROOT => Root::Itself,
        Mpi::PROC_NULL => Root::AnotherOfOwnGroup,
        _ => groups::of_comm(comm).member(root).map_or(Root::Unknown, Root::Rank),
    }
}

/// Arguments that every rank must pass alike; for a datatype its extent (MPI 4.1 §14.3).
fn alike(args: &Args) -> alike::Values {
    let mut values = alike::Values::default();
    for (value, at) in values.iter_mut().zip(&args.call.alike) {
        let (word, param) = (args.words[*at], &args.call.params[*at]);
        *value = match (param.role, &*param.name) {
            (Role::Datatype, _) => datatypes::describe(word).extent as u64,
            (_, "dims") if word == 0 => 0,
            (_, "dims") => {
                let count = args.call.named("ndims").map_or(0, |index| args.int(index));
                alike::array((0..count.max(0)).map(|at| Mpi.int_at(word, at as usize, false)))
            }
            (_, "atomic") => u64::from(args.int(*at) != 0),
            _ => word as u64,
        };
    }
    values
}

/// Signatures that every rank must match, of sent and of received data: in a rooted collective one
/// of the two, which at the root is that of the root's own argument.
fn data(args: &Args) -> SmallVec<[Signature; 2]> {
    let of = |rule: &Rule| match (args.call.fit, rule.extent) {
        (Fit::Block, Extent::Blocks { count, .. }) => {
            Some(elements(args.words[rule.datatype], args.count(count) as u64))
        }
        (Fit::List, Extent::Sum(counts) | Extent::Placed { counts, .. }) => {
            Some(list(args, counts, args.words[rule.datatype]))
        }
        _ => None,
    };
    if args.call.fit == Fit::Nothing {
        return SmallVec::new();
    }
    let is_root = args.call.at.root.is_some()
        && args
            .call
            .accesses
            .iter()
            .any(|rule| rule.on == At::Root && takes_place(args, rule, &Mpi));
    let counts = |rule: &&Rule| {
        let in_place = args.words[rule.buffer] == Mpi::IN_PLACE && rule.in_place.is_none();
        !in_place && (!is_root || rule.on == At::Root) && takes_place(args, rule, &Mpi)
    };
    args.call.accesses.iter().filter(counts).filter_map(of).collect()
}

fn elements(datatype: usize, count: u64) -> Signature {
    match count {
        0 => Signature::EMPTY, // of any type, MPI_DATATYPE_NULL included
        _ => datatypes::signature(datatype).repeat(count),
    }
}

/// The elements of all ranks, and how many each has.
fn list(args: &Args, counts: usize, datatype: usize) -> Signature {
    let size = Mpi.local_size(args.call.at.comm.map_or(0, |index| args.words[index]));
    let counts = (0..size).map(|rank| Mpi.int_at(args.words[counts], rank, args.call.large));
    let mut one = None;
    let items = counts.map(|count| match count {
        ..=0 => Signature::EMPTY.as_item(),
        _ => {
            let one = one.get_or_insert_with(|| datatypes::signature(datatype));
            one.repeat(count as u64).as_item()
        }
    });
    items.fold(Signature::EMPTY, Signature::then)
}
