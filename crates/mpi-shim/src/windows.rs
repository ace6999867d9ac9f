//! Windows and one-sided operations: from handles and arguments to what they mean.

use crate::datatypes;
use crate::groups;
use crate::handles::{handle_at, win_from_fortran};
use crate::library::{Mpi, info_value, is_separate, op_number, shared_part, type_number};
use crate::outcome::After;
use crate::rank::Rank;
use crate::sys;
use commsan_mpi::buffers::{Accesses, contiguous, resolve};
use commsan_mpi::collective::entry::Asserted;
use commsan_mpi::rma::{Atomic, MAX_ELEMENT, Made, Part, Rules};
use commsan_mpi::{Args, Library, Simple, Synchronisation, TargetAccess, combine};
use commsan_mpi_calls::{Effect, Extent, Rule};
use commsan_shadow::{Access, Footprint, Mode};
use commsan_threads::Here;
use std::ffi::c_int;
use std::ops::Range;

/// A window is about to be made.
pub(crate) fn before_made(rank: &dyn Rank, args: &Args, here: &Here) {
    let comm = args.call.at.comm.map_or(0, |index| args.words[index]);
    let (group, part) = (groups::of_comm(comm), part(args));
    rank.with(here.thread, &mut |tracker, _| tracker.before_window_made(&group, part));
}

/// A window is about to be freed.
pub(crate) fn before_freed(rank: &dyn Rank, args: &Args, window: usize, here: &Here) {
    rank.with(here.thread, &mut |tracker, out| {
        tracker.before_window_free(args, window, here, out);
    });
}

/// A window is about to be synchronised.
pub(crate) fn before_sync(rank: &dyn Rank, args: &Args, here: &Here) -> Synchronisation {
    let sync = synchronisation(args);
    rank.with(here.thread, &mut |tracker, out| tracker.before_sync(args, &sync, here, out));
    sync
}

/// What a fence asserts that all must.
#[inline]
pub(crate) fn asserted(args: &Args) -> Asserted {
    if args.call.effect != Effect::Fence {
        return Asserted::default();
    }
    let all = args.call.at.assert.map_or(0, |index| args.int(index));
    Asserted {
        none_precede: all & sys::MPI_MODE_NOPRECEDE as c_int != 0,
        none_succeed: all & sys::MPI_MODE_NOSUCCEED as c_int != 0,
    }
}

fn synchronisation(args: &Args) -> Synchronisation {
    let at = &args.call.at;
    let int = |index: Option<usize>| index.map(|index| args.int(index));
    let asserts = |what: c_int| int(at.assert).is_some_and(|assert| assert & what != 0);
    let group = at.group.map(|index| groups::of_group(args.words[index]));
    Synchronisation {
        ranks: group.unwrap_or_default(),
        // Without a check (`MPI_MODE_NOCHECK`), the lock excludes no other rank.
        exclusive: int(at.lock_type) == Some(sys::MPI_LOCK_EXCLUSIVE as c_int)
            && !asserts(sys::MPI_MODE_NOCHECK as c_int),
        first: asserts(sys::MPI_MODE_NOPRECEDE as c_int),
        last: asserts(sys::MPI_MODE_NOSUCCEED as c_int),
        no_store: asserts(sys::MPI_MODE_NOSTORE as c_int),
        no_put: asserts(sys::MPI_MODE_NOPUT as c_int),
        info: Vec::new(),
    }
}

/// A one-sided operation is about to start; returns whether it continues the one before.
#[inline]
pub(crate) fn goes_on(rank: &dyn Rank, args: &Args, here: &Here) -> bool {
    let Some(next) = simple(args) else { return false };
    let mut goes_on = false;
    rank.with(here.thread, &mut |tracker, out| {
        goes_on = tracker.goes_on(args, &next, here, out);
    });
    goes_on
}

/// The operation as a put or a get of contiguous memory, if it is one.
#[inline]
fn simple(args: &Args) -> Option<Simple> {
    let at = &args.call.at;
    let (win, target, displacement) = (at.win?, at.peer?, at.displacement?);
    let (count, datatype) = (at.target_count?, at.target_datatype?);
    if at.op.is_some() || at.request.is_some() || at.notification.is_some() {
        return None;
    }
    let bytes = contiguous(args, &Mpi).filter(|bytes| !bytes.is_empty())?;
    let size = datatypes::dense(args.words[datatype])? * args.count(count);
    // What is sent may be less than what there is room for.
    let size = size.min(bytes.len());
    Some(Simple {
        window: args.words[win],
        target: args.int(target),
        displacement: args.words[displacement] as i64,
        size: size as u64,
        mode: args.call.accesses[0].mode,
        bytes,
    })
}

/// The operation that has just been begun has failed.
#[cold]
pub(crate) fn retract(rank: &dyn Rank, args: &Args, here: &Here) {
    let window = args.call.at.win.map_or(0, |index| args.words[index]);
    rank.with(here.thread, &mut |tracker, _| tracker.retract(window));
}

/// A one-sided operation is about to start; returns whether nothing else must be done for it,
/// unless it fails.
pub(crate) fn before_rma(
    rank: &dyn Rank,
    args: &Args,
    at_target: &TargetAccess,
    here: &Here,
) -> bool {
    let mut accesses = accesses(args);
    let mut begun = false;
    rank.with(here.thread, &mut |tracker, out| {
        begun = tracker.before_rma(args, &mut accesses, at_target, here, out);
    });
    begun
}

/// The local buffers of a one-sided operation.
fn accesses(args: &Args) -> Accesses {
    match contiguous(args, &Mpi) {
        Some(bytes) => {
            let mode = args.call.accesses[0].mode;
            let access = Access { mode, footprint: Footprint::Dense(bytes.clone()) };
            [(!bytes.is_empty()).then_some(access), None, None]
        }
        None => resolve(args, &Mpi),
    }
}

impl After<'_> {
    /// A one-sided operation has been started, or could not be.
    #[inline]
    pub(crate) fn started_rma(&self, at_target: &TargetAccess, begun: bool) {
        match (self.ok, begun) {
            (true, true) | (false, false) => {}
            (true, false) => self.begin_rma(at_target),
            (false, true) => retract(self.rank, self.args, self.here),
        }
    }

    fn begin_rma(&self, at_target: &TargetAccess) {
        let mut accesses = accesses(self.args);
        let request = self.args.call.at.request.map(|_| self.request());
        self.with(|tracker, out| {
            tracker.rma_started(self.args, &mut accesses, at_target, request, self.here, out);
        });
    }

    pub(crate) fn synchronised(&self, sync: &Synchronisation) {
        self.with(|tracker, out| tracker.after_sync(self.args, sync, self.here, out));
    }

    pub(crate) fn attached(&self) {
        let (window, base, size) = (self.args.words[0], self.args.words[1], self.args.words[2]);
        self.with(|tracker, _| tracker.rma.attach(window, base..base.saturating_add(size)));
    }

    pub(crate) fn detached(&self) {
        self.with(|tracker, _| tracker.rma.detach(self.args.words[0], self.args.words[1]));
    }

    /// The window that had this handle has been freed.
    pub(crate) fn window_freed(&self, window: usize) {
        self.with(|tracker, out| tracker.window_freed(window, self.here, out));
    }

    pub(crate) fn window_told(&self, sync: &Synchronisation) {
        self.with(|tracker, _| tracker.rma.set_window_info(self.args.words[0], &sync.info));
    }

    pub(crate) fn window_made(&self, info: &[(&str, String)]) {
        let args = self.args;
        // SAFETY: the call has made a window.
        let New { handle, comm, part, base, allocated } = unsafe { new(args) };
        let group = groups::of_comm(comm);
        let rank = Mpi.rank(comm);
        let mut rules = Rules::default();
        info.iter().for_each(|(key, value)| rules.set(key, value));
        let views = views(args, handle, group.members.len());
        let made = Made {
            handle,
            allocated,
            part,
            parts: Vec::new(),
            own: usize::try_from(rank).ok(),
            group,
            base,
            dynamic: args.call.named("size").is_none(),
            rules,
            separate: is_separate(handle),
            views,
        };
        self.with(|tracker, out| tracker.window_made(args, made.clone(), self.here, out));
    }
}

/// Memory is about to be attached to a window, or detached.
#[cold]
pub(crate) fn before_attached(rank: &dyn Rank, args: &Args, here: &Here) {
    rank.with(here.thread, &mut |tracker, out| tracker.before_attach(args, here, out));
}

/// A window that a call has made.
pub(crate) struct New {
    pub handle: usize,
    pub comm: usize,
    /// This process's part, and where it begins; zero if memory is attached later.
    pub part: Part,
    pub base: usize,
    /// The call has allocated it.
    pub allocated: bool,
}

/// The window that a call has made.
///
/// # Safety
/// The call makes windows, and has succeeded.
pub(crate) unsafe fn new(args: &Args) -> New {
    let word = |name| args.call.named(name).map(|index| args.words[index]);
    let pointer = word("baseptr").map(|pointer| pointer as *const usize);
    // SAFETY: the call has stored a handle, and an address if it allocates.
    let (handle, allocated) = unsafe {
        let at = word("win_out").unwrap_or(0);
        let handle = handle_at::<sys::MPI_Win>(at, args.fortran, win_from_fortran);
        (handle, pointer.map(|pointer| *pointer))
    };
    New {
        handle,
        comm: word("comm").unwrap_or(0),
        part: part(args),
        base: allocated.or(word("base")).unwrap_or(0),
        allocated: allocated.is_some(),
    }
}

/// The members' parts at this process's addresses of a window that a call has made, if they lie in
/// shared memory.
fn views(args: &Args, window: usize, members: usize) -> Vec<Range<usize>> {
    if args.call.name != "MPI_Win_allocate_shared" {
        return Vec::new();
    }
    let views = (0..members).map(|rank| shared_part(window, rank as c_int));
    views.collect::<Option<_>>().unwrap_or_default()
}

/// This process's part of the window that a call makes.
fn part(args: &Args) -> Part {
    let unit = args.call.named("disp_unit").map_or(1, |index| args.int(index).max(1) as u64);
    let size = args.call.named("size").map(|index| args.words[index] as u64);
    Part { size: size.unwrap_or(u64::MAX), unit }
}

/// What the info argument says that matters here: before the call, for MPICH 4.0 cuts lists in it.
pub(crate) fn info(args: &Args) -> Vec<(&'static str, String)> {
    let Some(info) = args.call.named("info").map(|index| args.words[index]) else {
        return Vec::new();
    };
    [c"accumulate_ops", c"accumulate_ordering"]
        .into_iter()
        .filter_map(|key| Some((key.to_str().ok()?, info_value(info, key)?)))
        .collect()
}

/// How many elements of the target's type are sent, which may be fewer than there is room for (MPI
/// 4.1 §12.3.2); `None` if the target sends, too.
fn sent(args: &Args, datatype: usize) -> Option<usize> {
    let [Rule { mode: Mode::Read, extent: Extent::Blocks { count, .. }, datatype: own, .. }] =
        &*args.call.accesses
    else {
        return None;
    };
    if args.words[*own] == datatype {
        return Some(args.count(*count));
    }
    let bytes = datatypes::signature(args.words[*own]).bytes * args.count(*count) as u64;
    let each = datatypes::signature(datatype).bytes;
    (each > 0).then(|| bytes.div_ceil(each) as usize)
}

/// Bytes of the predefined datatype that all elements have; 0 if that is not known.
fn element(datatype: usize) -> u8 {
    let size = datatypes::leaf(datatype).and_then(datatypes::dense).unwrap_or(0);
    u8::try_from(size).ok().filter(|size| *size <= MAX_ELEMENT).unwrap_or(0)
}

/// What a one-sided operation does at its target.
pub(crate) fn at_target(args: &Args) -> TargetAccess {
    let at = &args.call.at;
    let word = |index: Option<usize>| index.map_or(0, |index| args.words[index]);
    let count = at.target_count.map_or(1, |index| args.count(index));
    let datatype = word(at.target_datatype);
    let count = count.min(sent(args, datatype).unwrap_or(count));
    let pattern = match count {
        0 => commsan_shadow::Pattern::empty(),
        _ => {
            let element = datatypes::describe(datatype);
            element.pattern.repeat(count, element.extent)
        }
    };
    let plain = at.op.is_none() && at.compared.is_none();
    let no_op = at.op.is_some_and(|index| Mpi.is_no_op(args.words[index]));
    let reads = no_op || plain && args.call.accesses.iter().all(|rule| rule.mode == Mode::Write);
    let atomic = (!plain).then(|| Atomic {
        datatype: if count == 0 { 0 } else { type_number(datatype) },
        size: if count == 0 { 0 } else { element(datatype) },
        op: combine(args.call, no_op, at.op.map_or(0, |index| op_number(args.words[index]))),
        rules: Rules::default(),
    });
    TargetAccess {
        window: word(at.win),
        target: at.peer.map_or(-1, |index| args.int(index)),
        displacement: word(at.displacement) as i64,
        pattern,
        mode: if reads { Mode::Read } else { Mode::Write },
        atomic,
    }
}
