//! The windows of a process, and their access and exposure epochs (MPI 4.1 §12.5).

use crate::ids::{Group, mixed};
use crate::overlap::conflict;
use crate::rma::accumulate::Rules;
use crate::rma::cells::Cells;
use crate::rma::message::AccessEpoch;
use crate::rma::segments::Segments;
use crate::rma::shared::Shared;
use commsan_callsite::Site;
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Mode, OpId, Pattern};
use rustc_hash::FxHashMap;
use std::ops::{ControlFlow, Range};

/// What a process contributes to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Size in bytes; `u64::MAX` for dynamic windows.
    pub size: u64,
    /// The displacement unit, in bytes.
    pub unit: u64,
}

/// A window as it is created.
#[derive(Clone, Debug)]
pub struct Made {
    /// The handle.
    pub handle: usize,
    /// Processes that can access it.
    pub group: Group,
    /// This process's rank among them.
    pub own: Option<usize>,
    /// Where this process's part begins; 0 for dynamic windows, whose displacements are addresses.
    pub base: usize,
    /// Whether the call that made it has allocated its memory.
    pub allocated: bool,
    /// This process's part.
    pub part: Part,
    /// The parts of all members, where they are known.
    pub parts: Vec<Option<Part>>,
    /// Whether memory is attached later.
    pub dynamic: bool,
    /// Which accumulates may overlap.
    pub rules: Rules,
    /// Whether its memory model is the separate one (MPI 4.1 §12.4).
    pub separate: bool,
    /// The members' parts at this process's addresses, if it can load from and store to them.
    pub views: Vec<Range<usize>>,
}

/// A lock this process holds.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// Rank in the window's group; `None` for all ranks.
    pub target: Option<i32>,
    pub exclusive: bool,
    pub site: Site,
}

/// An access epoch of `MPI_Win_start`, or an exposure epoch of `MPI_Win_post`.
#[derive(Clone, Debug)]
pub struct Active {
    /// Ranks in the job.
    pub ranks: Box<[u32]>,
    pub site: Site,
}

/// An operation whose local buffers are in use.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Rank in the window's group.
    pub target: i32,
    pub id: OpId,
}

/// An operation whose one contiguous local buffer nothing conflicts with, in a form that costs next
/// to nothing.
#[derive(Clone, Debug)]
pub struct Young {
    /// Rank in the window's group.
    pub target: i32,
    pub call: &'static Call,
    pub site: Site,
    pub mode: Mode,
    pub bytes: Range<usize>,
    /// Size in bytes of each operation, if it stands for several with adjacent buffers.
    pub each: usize,
}

/// Segments in which this process held a lock on its own part.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub from: u32,
    pub to: u32,
    pub exclusive: bool,
}

/// A target with operations that are not known to be complete there.
#[derive(Clone, Copy, Debug)]
pub struct Unflushed {
    /// Rank in the window's group.
    pub target: i32,
    /// Whether some of them only read.
    pub reads: bool,
}

/// Exposure epochs granted to an origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Granted {
    pub count: u32,
    /// The segment in which the last one began.
    pub segment: u32,
}

/// One window.
pub struct Window {
    /// Equal in all members, and unique.
    pub name: u64,
    /// Number within this process, from 0.
    pub number: u32,
    pub made: Made,
    /// The site of its creation.
    pub site: Site,
    /// The segment of this process in which it was created.
    pub since: u32,
    /// Attached memory of a dynamic window, or the one part.
    pub memory: Vec<Range<usize>>,
    /// Memory of the window that was freed.
    pub released: Option<Released>,
    /// Memory that each rank in the job has attached, as far as is known.
    pub attached: Vec<(u32, Range<usize>)>,
    /// In the separate memory model, segments of this process up to which its stores were made
    /// public.
    pub published: Segments,
    /// Segments in which this process called fence.
    pub fences: Segments,
    /// The last fence, if it can begin an epoch.
    pub fence: Option<Site>,
    /// Whether operations were started since then.
    pub used: bool,
    pub access: Option<Active>,
    /// How often `MPI_Win_start` has named each rank in the job.
    pub starts: FxHashMap<u32, u32>,
    pub exposure: Option<Active>,
    /// By rank in the job.
    pub granted: FxHashMap<u32, Granted>,
    pub locks: Vec<Lock>,
    pub held: Vec<Held>,
    pub pending: Vec<Pending>,
    pub young: Vec<Young>,
    /// The segment that the synchronisation call in progress has ended.
    pub ended: Option<u32>,
    /// Targets with operations that are not known to be complete there.
    pub unflushed: Vec<Unflushed>,
    /// Atomic reads that are not known to have returned.
    pub fetches: Vec<Fetch>,
    /// The segment up to which this process had used the window when it last synchronised it.
    pub synchronised: u32,
    /// Calls that assert that no rank puts: the numbers of the last such fences, and 0 for the
    /// exposure epoch.
    pub no_put: Vec<(usize, Site)>,
    /// Set if members load from and store to each other's parts.
    pub shared: Option<Box<Shared>>,
}

/// An atomic read.
#[derive(Clone, Debug)]
pub struct Fetch {
    pub target: i32,
    /// The bytes at the target.
    pub span: Range<i64>,
    /// The cells from which it acquires.
    pub cells: Cells,
    /// Number of the operation, as announced.
    pub number: u32,
    /// The operation of its request, if it has one.
    pub requested: Option<OpId>,
}

impl Window {
    fn new(
        name: u64,
        number: u32,
        made: Made,
        memory: Vec<Range<usize>>,
        site: Site,
        since: u32,
    ) -> Window {
        Window {
            name,
            number,
            made,
            site,
            since,
            memory,
            released: None,
            attached: Vec::new(),
            published: Segments::default(),
            fences: Segments::default(),
            fence: None,
            used: false,
            access: None,
            starts: FxHashMap::default(),
            exposure: None,
            granted: FxHashMap::default(),
            locks: Vec::new(),
            held: Vec::new(),
            pending: Vec::new(),
            young: Vec::new(),
            ended: None,
            unflushed: Vec::new(),
            fetches: Vec::new(),
            synchronised: since,
            no_put: Vec::new(),
            shared: None,
        }
    }

    /// Rank in the job of a rank in the group.
    pub fn world(&self, target: i32) -> Option<u32> {
        self.made.group.member(target)
    }

    /// This process makes its stores up to a segment public.
    pub fn publish(&mut self, segment: u32) {
        if self.made.separate {
            self.published.push(segment);
        }
    }

    /// The segment up to which this process's stores are visible to an operation that comes after
    /// segment `known`; `None` in the unified memory model, in which all are that happen before it.
    pub fn public_to(&self, known: u32) -> Option<u32> {
        self.made.separate.then(|| self.published.up_to(known).unwrap_or(0))
    }

    /// The part of a rank in the group, if it is known.
    pub fn part(&self, target: i32) -> Option<Part> {
        if usize::try_from(target).ok() == self.made.own {
            return Some(self.made.part);
        }
        *self.made.parts.get(usize::try_from(target).ok()?)?
    }

    /// The lock that covers a target.
    pub fn lock_on(&self, target: i32) -> Option<&Lock> {
        self.locks.iter().find(|lock| lock.target.is_none_or(|locked| locked == target))
    }

    /// The access epoch of an operation on a target.
    pub fn epoch(&self, target: i32) -> AccessEpoch {
        if let Some(lock) = self.lock_on(target) {
            return if lock.exclusive { AccessEpoch::Exclusive } else { AccessEpoch::Shared };
        }
        let rank = self.world(target).unwrap_or(u32::MAX);
        if self.access.as_ref().is_some_and(|access| access.ranks.contains(&rank)) {
            return AccessEpoch::Start(self.starts.get(&rank).copied().unwrap_or(0));
        }
        match self.fence {
            Some(_) => AccessEpoch::Fence(self.fences.count() as u32),
            None => AccessEpoch::None,
        }
    }

    /// The call that opened the access epoch to a target, if it is one of active target
    /// synchronisation.
    pub fn active(&self, target: i32) -> Option<Site> {
        match self.epoch(target) {
            AccessEpoch::Start(_) => self.access.as_ref().map(|access| access.site),
            AccessEpoch::Fence(_) => self.fence,
            _ => None,
        }
    }

    /// An operation on a target has started.
    pub fn must_flush(&mut self, target: i32, mode: Mode) {
        let reads = mode == Mode::Read;
        match self.unflushed.iter_mut().find(|known| known.target == target) {
            Some(known) => known.reads |= reads,
            None => self.unflushed.push(Unflushed { target, reads }),
        }
    }

    /// Whether a rank of the job has attached all bytes of a pattern.
    pub fn has_attached(&self, rank: u32, pattern: &Pattern, at: i64) -> bool {
        let at = at as isize;
        // One run may span several adjacent regions.
        let attached = |run: &Range<isize>| {
            let (mut at, end) = (run.start as usize, run.end as usize);
            let here = |at| {
                move |(owner, bytes): &&(u32, Range<usize>)| *owner == rank && bytes.contains(&at)
            };
            while at < end {
                let Some((_, bytes)) = self.attached.iter().find(here(at)) else { return false };
                at = bytes.end;
            }
            true
        };
        let span = at + pattern.span().start..at + pattern.span().end;
        let visited = pattern.visit(at, &span, &mut |run| match attached(&run) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        });
        visited.is_continue()
    }

    /// Whether bytes relative to the target's base exceed its part.
    pub fn is_beyond(&self, target: i32, bytes: &Range<i64>) -> bool {
        let part = self.part(target);
        let beyond = |part: Part| bytes.start < 0 || bytes.end as u64 > part.size;
        !self.made.dynamic && bytes.start < bytes.end && part.is_some_and(beyond)
    }
}

/// The number of windows that are not counted.
pub const UNCOUNTED: u32 = u32::MAX;

/// All windows of a process.
#[derive(Default)]
pub struct Windows {
    all: Vec<Option<Window>>,
    by_handle: FxHashMap<usize, u32>,
    /// The handle and number that were used last: nearly always the ones that are looked up.
    recent: Option<(usize, u32)>,
    by_name: FxHashMap<u64, u32>,
    /// Windows that are counted.
    counted: u32,
    /// How many windows each group has made.
    made: FxHashMap<u64, u64>,
}

/// Window memory that the program has freed.
#[derive(Clone, Debug)]
pub struct Released {
    /// The function that freed it.
    pub by: Box<str>,
    pub bytes: Range<usize>,
    pub site: Site,
}

impl Windows {
    pub fn len(&self) -> usize {
        self.by_handle.len()
    }

    /// The name of the next window of a group.
    pub fn next_name(&self, group: &Group) -> u64 {
        mixed(group.name, self.made.get(&group.name).copied().unwrap_or(0) + 1)
    }

    /// Adds a window that was made in a segment.
    pub fn add(&mut self, made: Made, memory: Vec<Range<usize>>, site: Site, since: u32) {
        let name = self.next_name(&made.group);
        *self.made.entry(made.group.name).or_default() += 1;
        self.enter(name, made.handle);
        self.counted += 1;
        let number = self.counted - 1;
        self.all.push(Some(Window::new(name, number, made, memory, site, since)));
    }

    /// Adds a window that has this name on all ranks, beside those that are counted.
    pub fn add_named(&mut self, name: u64, made: Made, site: Site, since: u32) {
        self.enter(name, made.handle);
        self.all.push(Some(Window::new(name, UNCOUNTED, made, Vec::new(), site, since)));
    }

    /// The window that will be added last is found by its name and handle.
    fn enter(&mut self, name: u64, handle: usize) {
        let index = self.all.len() as u32;
        self.by_handle.insert(handle, index);
        self.recent = None;
        self.by_name.insert(name, index);
    }

    pub fn remove(&mut self, handle: usize) -> Option<Window> {
        let number = self.by_handle.remove(&handle)?;
        self.recent = None;
        let window = self.all[number as usize].take()?;
        self.by_name.remove(&window.name);
        Some(window)
    }

    #[inline]
    fn number(&self, handle: usize) -> Option<u32> {
        match self.recent {
            Some((recent, number)) if recent == handle => Some(number),
            _ => self.by_handle.get(&handle).copied(),
        }
    }

    #[inline]
    pub fn get(&self, handle: usize) -> Option<&Window> {
        self.all[self.number(handle)? as usize].as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, handle: usize) -> Option<&mut Window> {
        let number = self.number(handle)?;
        self.recent = Some((handle, number));
        self.all[number as usize].as_mut()
    }

    pub fn named(&self, name: u64) -> Option<&Window> {
        self.all[*self.by_name.get(&name)? as usize].as_ref()
    }

    /// A rank of the job has attached memory, or detached it.
    pub fn attached(&mut self, name: u64, owner: u32, bytes: Range<usize>, attached: bool) {
        let Some(number) = self.by_name.get(&name) else { return };
        let Some(window) = &mut self.all[*number as usize] else { return };
        match attached {
            true => window.attached.push((owner, bytes)),
            false => window.attached.retain(|known| *known != (owner, bytes.clone())),
        }
    }

    /// Whether an access conflicts with an operation's local buffer.
    pub fn meet(&self, access: &Access) -> bool {
        let mut young = self.iter().flat_map(|window| &window.young);
        young.any(|young| conflict(access, young.mode, &young.bytes))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.all.iter_mut().flatten()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Window> {
        self.all.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_callsite::Stacks;

    fn window(separate: bool) -> Window {
        let made = Made {
            handle: 1,
            allocated: false,
            group: Group::new(vec![0, 1]),
            own: Some(0),
            base: 4096,
            part: Part { size: 64, unit: 1 },
            parts: Vec::new(),
            dynamic: false,
            rules: Rules::default(),
            separate,
            views: Vec::new(),
        };
        let site = Site { call: None, thread: 0, stack: Stacks::EMPTY, pc: 0, remote: None };
        Window::new(1, 0, made, Vec::new(), site, 0)
    }

    #[test]
    fn stores_are_public_up_to_the_last_synchronisation_that_an_operation_knows() {
        let mut separate = window(true);
        [3, 7, 8].into_iter().for_each(|segment| separate.publish(segment));
        let expected = [(2, 0), (3, 3), (6, 3), (7, 7), (20, 8)];
        expected
            .iter()
            .for_each(|(known, public)| assert_eq!(separate.public_to(*known), Some(*public)));
        let mut unified = window(false);
        unified.publish(3);
        assert_eq!(unified.public_to(9), None);
    }
}
