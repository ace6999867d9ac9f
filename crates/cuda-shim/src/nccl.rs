//! What operations of NCCL mean (NCCL user guide, "Operations", "Group calls"): work in a stream
//! that reads what is sent and writes what is received. In a group they are in their streams when
//! it ends. Whether ranks call the same is for [`commsan_cuda::nccl`] to say.

use crate::call::Call;
use crate::process::quietly;
use crate::real::{SUCCESS, real};
use crate::traffic;
use commsan_cuda::nccl::operation::{Operation, size_of};
use commsan_cuda::nccl::{Act, Making, Origin};
use commsan_cuda::waiting::Meeting;
use commsan_cuda::{Bytes, KernelAccess, StreamName, Strength, Wait, Work};
use commsan_shadow::{Footprint, Mode};
use std::cell::RefCell;
use std::ffi::c_int;

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UniqueId([u8; 128]);

impl UniqueId {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Ranks of a communicator that a buffer counts on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ranks {
    None,
    All,
    Root,
    Others,
}

/// What an operation uses from an address on.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    start: usize,
    ranks: Ranks,
    /// The count is that of each rank.
    for_all: bool,
}

impl Part {
    /// None.
    pub const NONE: Part = Part { start: 0, ranks: Ranks::None, for_all: false };

    /// As many elements as the call counts.
    pub fn of(start: usize) -> Part {
        Part { start, ranks: Ranks::All, for_all: false }
    }

    /// On the root alone.
    pub fn on_root(self) -> Part {
        Part { ranks: Ranks::Root, ..self }
    }

    /// On the others.
    pub fn on_others(self) -> Part {
        Part { ranks: Ranks::Others, ..self }
    }

    /// As often as there are ranks.
    pub fn for_all(self) -> Part {
        Part { for_all: true, ..self }
    }

    fn kernel_access(self, mode: Mode, asked: &Asked) -> Option<KernelAccess> {
        let is_used = match self.ranks {
            Ranks::None => false,
            Ranks::All => true,
            Ranks::Root => ask_rank(asked.comm) == asked.what.peer,
            Ranks::Others => ask_rank(asked.comm) != asked.what.peer,
        };
        let times =
            if self.for_all { ask_count(asked.comm).unwrap_or(1).max(1) as usize } else { 1 };
        let size = asked.what.count as usize * times * size_of(asked.what.datatype);
        let bytes = Bytes::Exactly(Footprint::Dense(self.start..self.start + size));
        let access =
            KernelAccess { mode, strength: Strength::Weak, bytes, certain: true, line: None };
        (is_used && self.start != 0 && size > 0).then_some(access)
    }
}

/// An operation.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub comm: usize,
    pub stream: usize,
    pub what: Operation,
    pub send: Part,
    pub receive: Part,
}

macro_rules! answer {
    ($name:literal, $comm:expr) => {{
        let mut answer: c_int = 0;
        let asked = real!($name, fn(usize, *mut c_int) -> c_int)
            // SAFETY: the function of this name, a communicator of the program, a place for its
            // answer.
            .is_some_and(|function| unsafe { function($comm, &mut answer) } == SUCCESS);
        asked.then_some(answer)
    }};
}

fn ask_rank(comm: usize) -> Option<c_int> {
    answer!(c"ncclCommUserRank", comm)
}

fn ask_count(comm: usize) -> Option<c_int> {
    answer!(c"ncclCommCount", comm)
}

/// `ncclInProgress`: a communicator that does not block has taken the call.
const IN_PROGRESS: c_int = 7;

/// Whether the library has taken a call.
fn is_taken(code: c_int) -> bool {
    matches!(code, SUCCESS | IN_PROGRESS)
}

impl Asked {
    fn work(&self, call: &Call) -> Work {
        let accesses = [
            self.send.kernel_access(Mode::Read, self),
            self.receive.kernel_access(Mode::Write, self),
        ];
        // A default stream is that of the communicator's device.
        let stream = match call.stream(self.stream) {
            StreamName::Legacy { device } => {
                let own = answer!(c"ncclCommCuDevice", self.comm);
                StreamName::Legacy { device: own.map_or(device, |own| own.max(0) as u32) }
            }
            stream => stream,
        };
        let accesses = accesses.into_iter().flatten().collect();
        Work { call: call.name, stream, kernel: None, accesses, wait: Wait::Nothing }
    }
}

/// A communicator that is made when the group ends.
struct Made {
    place: usize,
    /// The handle, if the library has chosen it before that.
    handle: Option<usize>,
    making: Making,
}

/// Operations of the groups that this thread has begun, and communicators that they make.
#[derive(Default)]
struct Group {
    depth: u32,
    works: Vec<(Work, Option<Meeting>)>,
    made: Vec<Made>,
}

thread_local! {
    static GROUP: RefCell<Group> =
        const { RefCell::new(Group { depth: 0, works: Vec::new(), made: Vec::new() }) };
}

/// What a call that names an identifier says: its rank and the number of ranks.
pub(crate) fn made_by_id(rank: c_int, ranks: c_int) -> [Option<u32>; 2] {
    [rank, ranks].map(|number| u32::try_from(number).ok())
}

/// An array that the program passes.
///
/// # Safety
///
/// If `first` is not null, so many are there.
pub(crate) unsafe fn listed<'a, T>(first: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: see above.
        Ok(count) if !first.is_null() => unsafe { std::slice::from_raw_parts(first, count) },
        _ => &[],
    }
}

fn act(call: &Call, act: Act) -> Option<Meeting> {
    call.with(|streams, place, out| streams.nccl(act, place, out)).flatten()
}

/// The library makes communicators in these places, or will when the group ends.
pub(crate) fn make(
    call: Option<&Call>,
    origin: Origin<'_>,
    [rank, ranks]: [Option<u32>; 2],
    places: &[*mut usize],
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(call) = call else { return real() };
    // SAFETY: the program passes a place for a handle, or none.
    let handle_in = |place: *mut usize| unsafe { place.as_ref() }.copied().unwrap_or(0);
    let making = quietly(|| {
        call.with(|streams, place, out| {
            streams.nccl_making(origin, [rank, ranks], call.name, place, out)
        })
    });
    let before: Vec<usize> = places.iter().map(|place| handle_in(*place)).collect();
    let code = real();
    let Some(making) = making.flatten().filter(|_| is_taken(code)) else { return code };
    quietly(|| {
        let each = places.iter().zip(before).enumerate().map(|(index, (place, before))| {
            // Older libraries choose it when the group ends; then the place must be there still.
            let handle = Some(handle_in(*place)).filter(|handle| *handle != before);
            let rank = making.rank.or((origin.is_clique()).then_some(index as u32));
            let mut made = Made { place: *place as usize, handle, making };
            made.making.rank = rank;
            made
        });
        let is_open = GROUP.with_borrow_mut(|group| {
            group.made.extend(each);
            group.depth > 0
        });
        if !is_open {
            take_made(call, code);
        }
    });
    code
}

/// Communicators have been made.
fn take_made(call: &Call, code: c_int) {
    for made in GROUP.with_borrow_mut(|group| std::mem::take(&mut group.made)) {
        // SAFETY: the library has just put a handle there, or has before.
        let later = || unsafe { *(made.place as *const usize) };
        let handle = made.handle.unwrap_or_else(later);
        if handle == 0 {
            continue;
        }
        let mut making = made.making;
        if code == SUCCESS {
            let number =
                |answer: Option<c_int>| answer.and_then(|number| u32::try_from(number).ok());
            making.rank = making.rank.or_else(|| number(ask_rank(handle)));
            making.ranks = making.ranks.or_else(|| number(ask_count(handle)));
        }
        act(call, Act::Made(handle, making));
    }
}

/// A communicator is about to be destroyed.
pub(crate) fn destroy(call: &Call, comm: usize, how: fn(usize, &'static str) -> Act) {
    if comm != 0 {
        act(call, how(comm, call.name));
    }
}

/// A group has begun.
pub(crate) fn start_group(call: &Call) {
    GROUP.with_borrow_mut(|group| group.depth += 1);
    act(call, Act::GroupBegins(call.name));
}

/// Ends a group. With the outermost, all that it has called is put into its streams.
pub(crate) fn end_group(call: Option<&Call>, real: impl FnOnce() -> c_int) -> c_int {
    launching(call);
    let Some(call) = call else { return real() };
    let works = quietly(|| {
        act(call, Act::GroupEnds(call.name));
        leave_group()
    });
    let code = real();
    quietly(|| match works.flatten() {
        Some(works) if is_taken(code) => {
            take_made(call, code);
            group_ended(call, &works);
        }
        Some(_) => GROUP.with_borrow_mut(|group| group.made.clear()),
        None => {}
    });
    code
}

/// Ends a group of which nothing happens.
pub(crate) fn simulate_group(call: Option<&Call>, real: impl FnOnce() -> c_int) -> c_int {
    if let Some(call) = call {
        quietly(|| {
            act(call, Act::GroupEnds(call.name));
            act(call, Act::Simulated);
            leave_group();
            GROUP.with_borrow_mut(|group| group.made.clear());
        });
    }
    real()
}

/// A group is about to end. With the outermost, these are put into their streams.
fn leave_group() -> Option<Vec<(Work, Option<Meeting>)>> {
    GROUP.with_borrow_mut(|group| {
        group.depth = group.depth.saturating_sub(1);
        (group.depth == 0).then(|| std::mem::take(&mut group.works))
    })
}

/// A group has ended. Its streams wait for each other before and after it (NCCL user guide, "CUDA
/// Stream Semantics").
fn group_ended(call: &Call, works: &[(Work, Option<Meeting>)]) {
    let mut streams: Vec<StreamName> = Vec::new();
    for (work, _) in works {
        if !streams.contains(&work.stream) {
            streams.push(work.stream);
        }
    }
    join(call, &streams);
    for (work, meeting) in works {
        enqueue(call, work, meeting.clone());
    }
    join(call, &streams);
}

/// What is put into any of these streams next comes after what is in all of them.
fn join(call: &Call, streams: &[StreamName]) {
    // No event of the program is there.
    static EVENT: u8 = 0;
    let event = &raw const EVENT as usize;
    for &stream in streams {
        call.with(|streams, place, _| streams.event_recorded(event, stream, false, place));
        for &other in streams.iter().filter(|other| **other != stream) {
            call.with(|streams, place, _| streams.event_awaited(other, event, false, place));
        }
    }
    call.with(|streams, _, _| streams.event_destroyed(event));
}

/// Asks the library for an operation, and compares it before that with what other ranks ask for.
/// It is in its stream then, or will be when the group ends.
pub(crate) fn operation(call: Option<&Call>, asked: &Asked, real: impl FnOnce() -> c_int) -> c_int {
    launching(call);
    let Some(call) = call else { return real() };
    let meeting = quietly(|| {
        let stream = call.stream(asked.stream);
        act(call, Act::Calls(asked.comm, asked.what, stream, call.name))
    });
    let code = real();
    quietly(|| match code {
        SUCCESS => in_stream(call, asked, meeting.flatten()),
        IN_PROGRESS => {}
        _ => {
            act(call, Act::Failed(asked.comm));
        }
    });
    code
}

fn in_stream(call: &Call, asked: &Asked, meeting: Option<Meeting>) {
    let work = asked.work(call);
    let now = GROUP.with_borrow_mut(|group| match group.depth {
        0 => Some((work, meeting)),
        _ => {
            group.works.push((work, meeting));
            None
        }
    });
    if let Some((work, meeting)) = now {
        enqueue(call, &work, meeting);
    }
}

fn enqueue(call: &Call, work: &Work, meeting: Option<Meeting>) {
    call.with(|streams, place, out| {
        let ticket = streams.enqueue(work, place, out);
        if let Some(meeting) = meeting {
            streams.meets_in_stream(ticket, meeting);
        }
    });
}

/// The library is about to launch kernels for this call.
fn launching(call: Option<&Call>) {
    if let Some(call) = call.filter(|call| call.counts()) {
        traffic::accesses::launches_from(call, Some(call.name));
    }
}
