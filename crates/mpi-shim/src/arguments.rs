//! Wrong arguments, reported before the library aborts the program because of them.
//!
//! **Soundness.** What is reported is erroneous by the standard, whether the library notices or
//! not: null handles (MPI 4.1 §2.5.1), ranks that are not in the group (§3.2.2, §6.2.2, §12.3),
//! tags outside 0 to `MPI_TAG_UB` (§3.2.2, §9.1.2), negative counts (§3.2.2), datatypes that are
//! not committed (§5.1.9), memory at address 0 (§2.5.6; `MPI_BOTTOM` is valid for absolute
//! addresses alone), displacement units of 0 or less (§12.2.1), communicators without the topology
//! that is asked about (§8.5, §8.6), MPI_REPLACE and MPI_NO_OP elsewhere than in accumulates, and
//! user-defined reductions there (§12.3.4), negative colors (§7.4.2), grids without processes in a
//! dimension (§8.5.1), dimensions that a grid does not have (§8.5.6), neighbours and members of
//! groups that do not exist, or are named twice (§8.5.4, §7.3.2), groups of other ranks than the
//! communicator's (§7.4.2), graphs with inconsistent lists (§8.5.3, §8.5.4), arrays that are
//! shorter than a grid has dimensions (§8.5.5), datatypes made of freed ones (§5.1.2), buffered
//! sends without buffer space (§3.6, `buffered.rs`), subarrays that are empty or exceed their array
//! (§5.1.3), negative offsets in files, modes in which no file can be opened, access that the
//! file's mode excludes, and views that do not fit (§14, `files.rs`), calls about the remote group
//! of an intracommunicator (§7.6.1), invalid attribute keys (§7.7, `keyvals.rs`), what `fit.rs`
//! says, null addresses for results, requests included (§2.6.2), and `MPI_IN_PLACE` elsewhere than
//! where a collective on an intracommunicator takes it (§6). Not checked is what does not
//! matter: at `MPI_PROC_NULL`, in place, on other ranks than the root, and the datatype of empty
//! data. Missed are requests that were freed, the datatypes of `MPI_Alltoallw` and the like, and
//! calls that are not in the table.

pub(crate) mod buffered;
mod files;
pub(crate) mod fit;
pub(crate) mod keyvals;
mod lists;

use crate::datatypes;
use crate::handles::handle;
use crate::library::{Mpi, comm_self, comm_world, largest_tag, reduction};
use crate::objects;
use crate::phase;
use crate::rank::Rank;
use crate::sys;
use crate::word::{Word, from_fortran_layer};
use commsan_callsite::Site;
use commsan_findings::Problem;
use commsan_mpi::buffers::{resolve, takes_place};
use commsan_mpi::{Args, Library, Wrong};
use commsan_mpi_calls::reduction::{NO_OP, OTHER, REPLACE};
use commsan_mpi_calls::{Demand, Extent, Flow, Object, On, Role, Rule, Times, Topology};
use commsan_shadow::{Access, Mode};
use commsan_threads::Here;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// What is wrong with a value: the kind of mistake, and the rest of a sentence that begins with the
/// parameter.
type Fault = (Problem, String);

/// A fault of the general kind.
fn value(problem: impl Into<String>) -> Fault {
    (Problem::Value, problem.into())
}

fn null_pointer() -> Fault {
    (Problem::NullPointer, "is a null pointer".to_owned())
}

/// The fault of a null handle with this name.
fn null_handle(name: &str) -> Fault {
    (Problem::NullHandle, format!("is {name}"))
}

fn negative(value: isize) -> Fault {
    (Problem::Negative, format!("is negative, {value}"))
}

/// Constants of the job.
struct Job {
    world: usize,
    size: usize,
    largest_tag: usize,
}

static JOB: OnceLock<Job> = OnceLock::new();

/// Another communicator, and how many ranks it has: what its handle stood for when it was last
/// looked up. A call that is valid by these is not looked at again, so that a reused handle can
/// cost a finding, and cannot make one.
static LATEST: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

/// MPI has been initialised.
pub(crate) fn begin(size: u32) {
    let world = comm_world().word();
    let _ = JOB.set(Job { world, size: size as usize, largest_tag: largest_tag().max(0) as usize });
}

/// Checks a call that is about to be made; returns whether the library must refuse it.
#[inline]
pub(crate) fn are_wrong(rank: &dyn Rank, args: &Args, here: &Here) -> bool {
    let Some(job) = JOB.get() else { return false };
    let suspicious = |(index, demand): &(usize, Demand)| is_suspicious(job, args, *index, *demand);
    if !args.call.demands.iter().any(suspicious) && !has_no_buffer(args) {
        return false;
    }
    look_again(rank, job, args, here)
}

/// Whether the call asks about a communicator that is null or freed.
#[inline]
pub(crate) fn has_no_comm(args: &Args) -> bool {
    let comm = args.words[0];
    let is_missing = comm == sys::MPI_COMM_NULL() || phase::are_alone() && is_of_world(comm);
    is_missing || objects::is_freed(Object::Comm, comm)
}

/// A quick check: what passes needs no other.
#[inline]
fn is_suspicious(job: &Job, args: &Args, index: usize, demand: Demand) -> bool {
    // As unsigned words, negative numbers are large.
    let word = args.words[index];
    if demand.object().is_some_and(|object| objects::is_freed(object, word)) {
        return true;
    }
    match demand {
        Demand::Comm => word == sys::MPI_COMM_NULL() || phase::are_alone() && is_of_world(word),
        Demand::Topology(_) | Demand::Inter | Demand::Freeable(_) => true,
        Demand::Dims | Demand::Parts | Demand::Starts | Demand::Members | Demand::Neighbours(_) => {
            true
        }
        Demand::Counts | Demand::Direction | Demand::Types | Demand::Subgroup => true,
        Demand::Degrees | Demand::Room => true,
        Demand::Base => word == 0,
        Demand::Ends | Demand::Edges | Demand::Buffered | Demand::Unattached => true,
        Demand::Keyval | Demand::FreeableKeyval => true,
        Demand::AccessMode | Demand::Opened | Demand::Whence | Demand::Filetype => true,
        Demand::Win => word == sys::MPI_WIN_NULL(),
        Demand::Group => word == sys::MPI_GROUP_NULL(),
        Demand::Info => word == sys::MPI_INFO_NULL(),
        Demand::File => word == sys::MPI_FILE_NULL(),
        Demand::Op => {
            let in_accumulate = args.call.at.win.is_some();
            let number = reduction(word);
            word == sys::MPI_OP_NULL()
                || matches!(number, REPLACE | NO_OP)
                || in_accumulate && number == OTHER
        }
        Demand::Datatype => datatypes::dense(word).is_none() && !datatypes::is_latest(word),
        Demand::Dest | Demand::Source | Demand::Root | Demand::Rank => {
            let comm = args.call.at.comm.map_or(0, |comm| args.words[comm]);
            let size = match () {
                () if comm == job.world => job.size,
                () if comm == LATEST.0.load(Relaxed) => LATEST.1.load(Relaxed),
                () => 0,
            };
            word >= size
        }
        Demand::Target => word >= job.size,
        Demand::Tag | Demand::ReceivedTag => word > job.largest_tag,
        Demand::Count | Demand::Color | Demand::Offset | Demand::Sought => (word as isize) < 0,
        Demand::Unit => word as isize <= 0,
        Demand::Place | Demand::Array => word == 0,
    }
}

/// Whether a communicator exists since `MPI_Init`.
fn is_of_world(comm: usize) -> bool {
    [comm_world().word(), comm_self().word()].contains(&comm)
}

/// Whether some buffer is at address 0, or `MPI_IN_PLACE`.
#[inline]
fn has_no_buffer(args: &Args) -> bool {
    let words = args.call.accesses.iter().map(|rule| args.words[rule.buffer]);
    words.into_iter().any(|word| word == 0 || word == Mpi::IN_PLACE)
}

#[cold]
fn look_again(rank: &dyn Rank, job: &Job, args: &Args, here: &Here) -> bool {
    let mut demands = args.call.demands.iter();
    let found = demands.find_map(|(index, demand)| wrong(job, args, *index, *demand));
    let found = found.or_else(|| null_buffer(args)).or_else(|| in_place(args));
    let Some(wrong) = found else { return false };
    rank.with(here.thread, &mut |tracker, out| {
        tracker.reporter.wrong_argument(args, &wrong, here, out)
    });
    true
}

fn wrong(job: &Job, args: &Args, index: usize, demand: Demand) -> Option<Wrong> {
    if !is_suspicious(job, args, index, demand) {
        return None;
    }
    let number = args.words[index] as isize;
    let peer = match demand {
        Demand::Tag => args.call.at.dest,
        Demand::ReceivedTag => args.call.at.source,
        _ => args.call.at.peer,
    };
    let is_nowhere = peer.is_some_and(|peer| args.int(peer) == Mpi::PROC_NULL);
    let is_used = || !is_nowhere && matters(args, index);
    if let Some(freed) =
        freed(args, index, demand).filter(|_| demand != Demand::Datatype || is_used())
    {
        return Some(Wrong::freed(args.call.params[index].shown(), Some(freed)));
    }
    let (kind, problem) = match demand {
        Demand::Freeable(object) => freeable_problem(args, index, object)?,
        Demand::Comm if args.words[index] == sys::MPI_COMM_NULL() => {
            (Problem::NullCommunicator, "is MPI_COMM_NULL".to_owned())
        }
        Demand::Comm => value(
            "does not exist before MPI_Init: sessions have communicators of their own, which \
             MPI_Comm_create_from_group makes",
        ),
        Demand::Topology(topology) => {
            (Problem::NoTopology, topology_problem(args.words[index], topology)?.to_owned())
        }
        Demand::Win => null_handle("MPI_WIN_NULL"),
        Demand::Group => null_handle("MPI_GROUP_NULL"),
        Demand::Info => null_handle("MPI_INFO_NULL"),
        Demand::File => null_handle("MPI_FILE_NULL"),
        Demand::Op => reduction_problem(args, index)?,
        Demand::Datatype if is_used() => return datatype(args, index),
        Demand::Dest | Demand::Source => (Problem::NoSuchPeer, rank_problem(args, index, demand)?),
        Demand::Root | Demand::Rank => value(rank_problem(args, index, demand)?),
        Demand::Target => (Problem::NoSuchPeer, target_problem(args, index)?),
        Demand::Tag | Demand::ReceivedTag => {
            let any = demand == Demand::ReceivedTag && number == sys::MPI_ANY_TAG as isize;
            if any || is_nowhere {
                return None;
            }
            let problem = format!("is {number}, but tags are from 0 to {}", job.largest_tag);
            (Problem::TagOutOfRange, problem)
        }
        Demand::Count if !is_nowhere && self::matters(args, index) => negative(number),
        Demand::Counts => lists::counts_problem(args, index)?,
        Demand::Inter if Mpi.is_inter(args.words[index]) => return None,
        Demand::Inter => value("is no intercommunicator: it has no other group"),
        Demand::Types => lists::types_problem(args, index)?,
        Demand::Ends => value(lists::ends_problem(args, index)?),
        Demand::Edges => value(lists::edges_problem(args, index)?),
        Demand::Subgroup => value(lists::subgroup_problem(args, index)?),
        Demand::Buffered => value(buffered::room_problem(args)?),
        Demand::Unattached => value(buffered::attached_problem(args)?),
        Demand::Parts => value(lists::parts_problem(args, index)?),
        Demand::Starts => value(lists::starts_problem(args, index)?),
        Demand::Members => value(lists::members_problem(args, index)?),
        Demand::Neighbours(count) => value(lists::neighbours_problem(args, index, count)?),
        Demand::Direction => value(direction_problem(args, index)?),
        Demand::Degrees => (Problem::Negative, lists::degrees_problem(args, index)?),
        Demand::Room => value(room_problem(args, index)?),
        Demand::Base if args.call.named("size").is_none_or(|size| args.words[size] == 0) => {
            return None;
        }
        Demand::Offset if number == sys::MPI_DISPLACEMENT_CURRENT as isize => return None,
        Demand::Offset if args.call.params[index].name == "size" => negative(number),
        Demand::Offset => value(format!("is {number}, but offsets are counted from 0")),
        Demand::Color if number == sys::MPI_UNDEFINED as isize => return None,
        Demand::Color => negative(number),
        Demand::AccessMode => value(files::mode_problem(args.int(index))?),
        Demand::Opened => value(files::access_problem(args, index)?),
        Demand::Keyval => keyvals::problem(args, index)?,
        Demand::FreeableKeyval => keyvals::free_problem(args)?,
        Demand::Whence => value(files::whence_problem(args.int(index))?),
        Demand::Sought => value(files::sought_problem(args, index)?),
        Demand::Filetype => value(files::filetype_problem(args, index)?),
        Demand::Dims => value(lists::dims_problem(args, index)?),
        Demand::Array if !is_array_used(args, index) => return None,
        Demand::Place | Demand::Array | Demand::Base => null_pointer(),
        Demand::Unit => value(format!("is {number}, but a displacement unit is at least 1")),
        Demand::Datatype | Demand::Count => return None,
    };
    Some(Wrong::of(kind, args.call.params[index].shown(), problem))
}

/// Whether the call has a peer other than `MPI_PROC_NULL`.
fn has_peer(args: &Args) -> bool {
    args.call.at.peer.is_none_or(|peer| args.int(peer) != Mpi::PROC_NULL)
}

/// What is wrong with a rank of a communicator.
fn rank_problem(args: &Args, index: usize, demand: Demand) -> Option<String> {
    let (comm, value) = (args.words[args.call.at.comm?], args.int(index));
    let allowed = match demand {
        Demand::Source => value == sys::MPI_ANY_SOURCE || value == Mpi::PROC_NULL,
        Demand::Rank => false,
        Demand::Root => Mpi.is_inter(comm) && [Mpi::ROOT, Mpi::PROC_NULL].contains(&value),
        _ => value == Mpi::PROC_NULL,
    };
    let size = Mpi.size(comm);
    LATEST.0.store(0, Relaxed);
    LATEST.1.store(size, Relaxed);
    LATEST.0.store(comm, Relaxed);
    if allowed || usize::try_from(value).is_ok_and(|value| value < size) {
        return None;
    }
    Some(format!("is {value}, but the communicator's ranks are 0 to {}", size.saturating_sub(1)))
}

/// How many dimensions the communicator's grid has.
fn dimensions(args: &Args) -> Option<c_int> {
    let (comm, mut dimensions) = (handle::<sys::MPI_Comm>(args.words[args.call.at.comm?]), 0);
    // SAFETY: a communicator with a grid.
    (unsafe { sys::PMPI_Cartdim_get(comm, &mut dimensions) } == 0).then_some(dimensions)
}

/// What is wrong with the length of an array for the dimensions of a grid (MPI 4.1 §8.5.5).
fn room_problem(args: &Args, index: usize) -> Option<String> {
    let (room, dimensions) = (args.int(index), dimensions(args)?);
    (room < dimensions).then(|| format!("is {room}, but the grid has {dimensions} dimensions"))
}

/// What is wrong with a direction of a grid.
fn direction_problem(args: &Args, index: usize) -> Option<String> {
    let (dimensions, value) = (dimensions(args)?, args.int(index));
    let problem = || format!("is {value}, but the grid's dimensions are 0 to {}", dimensions - 1);
    (!(0..dimensions).contains(&value)).then(problem)
}

/// What is wrong with a reduction.
fn reduction_problem(args: &Args, index: usize) -> Option<Fault> {
    if args.words[index] == sys::MPI_OP_NULL() {
        return Some(null_handle("MPI_OP_NULL"));
    }
    let fetches = || args.call.accesses.iter().any(|rule| rule.mode == Mode::Write);
    let problem = match (reduction(args.words[index]), args.call.at.win) {
        (REPLACE, None) => Some("is MPI_REPLACE, which is for accumulates alone"),
        (NO_OP, None) => Some("is MPI_NO_OP, which is for accumulates alone"),
        (NO_OP, Some(_)) if !fetches() => {
            Some("is MPI_NO_OP, which is for accumulates that fetch alone")
        }
        (OTHER, Some(_)) if objects::is_own(Object::Op, args.words[index]) => {
            Some("is made by MPI_Op_create: accumulates take predefined reductions alone")
        }
        _ => None,
    };
    problem.map(value)
}

/// What is wrong with a communicator that is asked for neighbours.
fn topology_problem(comm: usize, asked: Topology) -> Option<&'static str> {
    let mut known = sys::MPI_UNDEFINED;
    // SAFETY: a communicator that is not the null handle.
    if unsafe { sys::PMPI_Topo_test(handle::<sys::MPI_Comm>(comm), &mut known) } != 0 {
        return None;
    }
    let (is_right, problem) = match asked {
        Topology::Cartesian => (known == sys::MPI_CART, "has no Cartesian topology"),
        Topology::Graph => (known == sys::MPI_GRAPH, "has no graph topology"),
        Topology::DistributedGraph => {
            (known == sys::MPI_DIST_GRAPH, "has no distributed graph topology")
        }
        Topology::Any => (known != sys::MPI_UNDEFINED, "has no topology"),
    };
    (!is_right).then_some(problem)
}

/// What is wrong with a variable whose object is to be freed.
fn freeable_problem(args: &Args, index: usize, object: Object) -> Option<Fault> {
    if args.words[index] == 0 {
        return Some(null_pointer());
    }
    let handle = objects::at(object, args.words[index], args.fortran);
    (objects::null(object) == Some(handle)).then(|| value("holds a null handle"))
}

/// Where the object was freed that an argument is the handle of, or the variable with it.
fn freed(args: &Args, index: usize, demand: Demand) -> Option<Site> {
    match demand {
        Demand::Freeable(_) if args.words[index] == 0 => None,
        Demand::Freeable(object) => {
            objects::look_up(object, objects::at(object, args.words[index], args.fortran))
        }
        _ => objects::look_up(demand.object()?, args.words[index]),
    }
}

/// The arrays of counts, displacements and datatypes that an operation may read until it is
/// complete (MPI 4.1 §6.12).
pub(crate) fn arrays(args: &Args) -> Vec<(&'static str, Range<usize>)> {
    // Those of MPICH's Fortran layer are the layer's own.
    let has_types = !from_fortran_layer();
    let width = |role| {
        Some(match role {
            Role::Counts | Role::Displs if args.call.large => size_of::<i64>(),
            Role::Counts | Role::Displs => size_of::<c_int>(),
            Role::ByteDispls => size_of::<i64>(),
            Role::Datatypes if args.fortran => size_of::<c_int>(),
            Role::Datatypes if has_types => size_of::<sys::MPI_Datatype>(),
            _ => return None,
        })
    };
    let array = |index: usize| {
        let (param, start) = (&args.call.params[index], args.words[index]);
        let bytes = width(param.role)? * blocks(args, array_times(args, index)?);
        (start != 0 && bytes > 0).then(|| (param.shown(), start..start + bytes))
    };
    (0..args.call.params.len()).filter_map(array).collect()
}

/// How many elements an array has that is about each rank, if the call uses it on this one.
fn array_times(args: &Args, index: usize) -> Option<Times> {
    let times = |rule: &Rule| match rule.extent {
        Extent::Placed { counts, displs, times } => {
            [counts, displs, rule.datatype].contains(&index).then_some(times)
        }
        Extent::Sum(counts) | Extent::Own(counts) => (counts == index).then_some(Times::Local),
        _ => None,
    };
    let mut rules = args.call.accesses.iter().filter(|rule| is_active(args, rule));
    rules.find_map(times)
}

/// Whether the call uses an array at all.
fn is_array_used(args: &Args, index: usize) -> bool {
    match args.call.params[index].role {
        Role::Requests => args.call.at.count.is_some_and(|count| args.words[count] != 0),
        _ => array_times(args, index).is_some_and(|times| blocks(args, times) > 0),
    }
}

/// What is wrong with a rank of a window.
fn target_problem(args: &Args, index: usize) -> Option<String> {
    let (win, value) = (args.words[args.call.at.win?], args.int(index));
    let mut size = 0;
    // SAFETY: a window that is not the null handle; its group is freed after use.
    unsafe {
        let mut group = std::mem::MaybeUninit::uninit();
        if sys::PMPI_Win_get_group(handle::<sys::MPI_Win>(win), group.as_mut_ptr()) != 0 {
            return None;
        }
        sys::PMPI_Group_size(group.assume_init(), &mut size);
        sys::PMPI_Group_free(group.as_mut_ptr());
    }
    if value == Mpi::PROC_NULL || (0..size).contains(&value) {
        return None;
    }
    Some(format!("is {value}, but the window's ranks are 0 to {}", size - 1))
}

/// What is wrong with a datatype.
fn datatype(args: &Args, index: usize) -> Option<Wrong> {
    let (word, parameter) = (args.words[index], args.call.params[index].shown());
    if word == sys::MPI_DATATYPE_NULL() {
        let (kind, problem) = null_handle("MPI_DATATYPE_NULL");
        return Some(Wrong::of(kind, parameter, problem));
    }
    (args.call.communicates() && !datatypes::is_committed(word))
        .then(|| Wrong::uncommitted(parameter))
}

/// Memory at address 0 that the call would use. Neighbourhood collectives may have no neighbour to
/// send to.
fn null_buffer(args: &Args) -> Option<Wrong> {
    let accesses = resolve(args, &Mpi);
    let is_null = |(rule, access): &(&Rule, &Option<Access>)| {
        args.words[rule.buffer] == 0
            && access.is_some()
            && !(args.call.flow == Flow::Neighbours && rule.mode == Mode::Read)
            && args.call.params[rule.datatype].role == Role::Datatype
            && datatypes::is_predefined(args.words[rule.datatype])
    };
    let (rule, _) = args.call.accesses.iter().zip(&accesses).find(is_null)?;
    let (kind, problem) = null_pointer();
    Some(Wrong::of(kind, args.call.params[rule.buffer].shown(), problem))
}

/// `MPI_IN_PLACE` for a buffer with elements, where this rank may not pass it (MPI 4.1 chapter 6).
fn in_place(args: &Args) -> Option<Wrong> {
    let comm = args.call.at.comm.map_or(0, |comm| args.words[comm]);
    let problem = |rule: &'static Rule| {
        if args.words[rule.buffer] != Mpi::IN_PLACE
            || !is_performed(args, rule)
            || !is_of_something(args, rule)
        {
            return None;
        }
        let allowed = args.call.in_place_on(rule);
        Some((
            rule,
            match allowed {
                None => format!("is MPI_IN_PLACE, which {} does not take there", args.call.name),
                Some(_) if Mpi.is_inter(comm) => {
                    "is MPI_IN_PLACE, which no collective on an intercommunicator takes".to_owned()
                }
                Some(On::Root) if args.int(args.call.at.root?) != Mpi.rank(comm) => {
                    format!("is MPI_IN_PLACE, which {} takes at the root alone", args.call.name)
                }
                Some(_) => return None,
            },
        ))
    };
    let (rule, problem) = args.call.accesses.iter().find_map(problem)?;
    Some(Wrong::of(Problem::InPlace, args.call.params[rule.buffer].shown(), problem))
}

/// Whether a count or datatype matters: some access with elements is described by it.
fn matters(args: &Args, index: usize) -> bool {
    let counts =
        |rule: &Rule| matches!(rule.extent, Extent::Blocks { count, .. } if count == index);
    let mut rules = args.call.accesses.iter();
    if rules.clone().any(|rule| counts(rule) || rule.datatype == index) {
        let is_by = |rule: &Rule| rule.datatype == index && is_of_something(args, rule);
        return rules.any(|rule| is_active(args, rule) && (counts(rule) || is_by(rule)));
    }
    // Those at the target of a one-sided operation describe no local access.
    args.call.at.target_count.is_none_or(|count| index == count || args.words[count] != 0)
}

/// How many blocks an access has.
fn blocks(args: &Args, times: Times) -> usize {
    let comm = args.call.at.comm.map_or(0, |comm| args.words[comm]);
    match times {
        Times::Once | Times::Param(_) => 1,
        Times::Size => Mpi.size(comm),
        Times::Local => Mpi.local_size(comm),
        Times::In => Mpi.neighbours(comm).0.len(),
        Times::Out => Mpi.neighbours(comm).1.len(),
    }
}

/// Whether an access that takes place has elements.
fn is_of_something(args: &Args, rule: &Rule) -> bool {
    let any = |counts: usize, times| {
        let array = args.words[counts];
        array != 0 && (0..blocks(args, times)).any(|at| Mpi.int_at(array, at, args.call.large) != 0)
    };
    match rule.extent {
        Extent::Blocks { count, times } => args.words[count] != 0 && blocks(args, times) > 0,
        Extent::One => true,
        Extent::Sum(counts) | Extent::Own(counts) => any(counts, Times::Local),
        Extent::Placed { counts, times, .. } => any(counts, times),
    }
}

/// Whether an access takes place on this rank, and by the arguments that say so.
fn is_active(args: &Args, rule: &Rule) -> bool {
    args.words[rule.buffer] != Mpi::IN_PLACE && is_performed(args, rule)
}

/// Whether an access takes place on this rank, by the peer, the reduction and the root that the
/// call is given, whatever its buffer is.
fn is_performed(args: &Args, rule: &Rule) -> bool {
    rule.peer.is_none_or(|peer| args.int(peer) != Mpi::PROC_NULL)
        && rule.op.is_none_or(|op| !Mpi.is_no_op(args.words[op]))
        && takes_place::<Mpi>(args, rule, &Mpi)
}
