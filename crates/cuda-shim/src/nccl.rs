//! What operations of NCCL mean (NCCL user guide, "Operations", "Group calls"): work in a stream
//! that reads what is sent and writes what is received. In a group they are in their streams when
//! it ends.

use crate::call::Call;
use crate::real::{SUCCESS, real};
use crate::traffic;
use commsan_cuda::{Bytes, KernelAccess, StreamName, Strength, Wait, Work};
use commsan_shadow::{Footprint, Mode};
use std::cell::RefCell;
use std::ffi::{c_char, c_int};

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct UniqueId([c_char; 128]);

/// Elements from an address on.
#[derive(Clone, Copy)]
pub(crate) struct Part(pub usize, pub usize);

impl Part {
    /// None.
    pub const NONE: Part = Part(0, 0);

    /// On one rank of a communicator alone.
    pub fn on(self, root: c_int, comm: usize) -> Part {
        if ask_rank(comm) == Some(root) { self } else { Part::NONE }
    }

    /// On the others.
    pub fn not_on(self, root: c_int, comm: usize) -> Part {
        if ask_rank(comm) == Some(root) { Part::NONE } else { self }
    }

    /// As often as there are ranks.
    pub fn for_all(self, comm: usize) -> Part {
        Part(self.0, self.1 * ask_count(comm).unwrap_or(1).max(1) as usize)
    }

    fn kernel_access(self, mode: Mode, size: usize) -> Option<KernelAccess> {
        let Part(start, count) = self;
        let bytes = Bytes::Exactly(Footprint::Dense(start..start + count * size));
        let access =
            KernelAccess { mode, strength: Strength::Weak, bytes, certain: true, line: None };
        (start != 0 && count > 0).then_some(access)
    }
}

/// An operation.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub comm: usize,
    pub stream: usize,
    pub datatype: c_int,
    pub send: Part,
    pub receive: Part,
}

/// Bytes of `ncclDataType_t`, in its order; what is not in it counts as a byte.
fn size_of(datatype: c_int) -> usize {
    const SIZES: [usize; 12] = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1];
    usize::try_from(datatype).ok().and_then(|index| SIZES.get(index)).copied().unwrap_or(1)
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

impl Operation {
    fn work(&self, call: &Call) -> Work {
        let size = size_of(self.datatype);
        let accesses = [
            self.send.kernel_access(Mode::Read, size),
            self.receive.kernel_access(Mode::Write, size),
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

/// Operations of the groups that this thread has begun.
#[derive(Default)]
struct Group {
    depth: u32,
    works: Vec<Work>,
}

thread_local! {
    static GROUP: RefCell<Group> = const { RefCell::new(Group { depth: 0, works: Vec::new() }) };
}

/// A group begins.
pub(crate) fn begin_group() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

/// A group is about to end. With the outermost, these are put into their streams.
pub(crate) fn leave_group() -> Vec<Work> {
    GROUP.with_borrow_mut(|group| {
        group.depth = group.depth.saturating_sub(1);
        if group.depth == 0 { std::mem::take(&mut group.works) } else { Vec::new() }
    })
}

/// A group has ended. Its streams wait for each other before and after it (NCCL user guide, "CUDA
/// Stream Semantics").
pub(crate) fn group_ended(call: &Call, works: &[Work]) {
    let mut streams: Vec<StreamName> = Vec::new();
    for work in works {
        if !streams.contains(&work.stream) {
            streams.push(work.stream);
        }
    }
    join(call, &streams);
    for work in works {
        call.with(|streams, place, out| streams.enqueue(work, place, out));
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

/// An operation was asked for: it is in its stream, or will be when the group ends.
pub(crate) fn operation(call: &Call, operation: &Operation) {
    let work = operation.work(call);
    let now = GROUP.with_borrow_mut(|group| match group.depth {
        0 => Some(work),
        _ => {
            group.works.push(work);
            None
        }
    });
    if let Some(work) = now {
        call.with(|streams, place, out| streams.enqueue(&work, place, out));
    }
}

/// The library is about to launch kernels for this call.
pub(crate) fn launching(call: Option<&Call>) {
    if let Some(call) = call.filter(|call| call.counts()) {
        traffic::accesses::launches_from(call, Some(call.name));
    }
}
