//! What the threads of a block know of other threads: happens-before, by clocks that are shared as
//! far as threads synchronise together.
//!
//! A block has one clock, and whatever synchronises draws a new time from it. A barrier of the
//! whole block costs one number: all accesses before this *floor* are known to all threads of the
//! block. A warp has a floor of its own, for `__syncwarp` with all its lanes. What goes beyond
//! floors is in sparse vector clocks ([`Clocks`]), which threads share where they know the same.

use crate::barriers::Barriers;
use crate::shadow::Memory;
use crate::site::Scope;
use crate::stamp::{MAX_CLOCK, Stamp};
use commsan_simt::Mbarrier;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The numbers of threads: a block's are consecutive, and aligned to a power of two.
#[derive(Clone, Copy, Debug)]
pub struct Numbering {
    /// How many bits number the threads of a block.
    pub bits: u32,
}

impl Numbering {
    /// The block of a thread.
    #[inline(always)]
    pub fn block(self, thread: u32) -> u32 {
        thread >> self.bits
    }
}

/// Who a time of a vector clock is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A thread.
    Thread(u32),
    /// All threads of a warp, by the number of the thread divided by 32.
    Warp(u32),
    /// All threads of a block.
    Block(u32),
}

/// A sparse vector clock: accesses before these times have happened before.
#[derive(Clone, Debug, Default)]
pub struct Clocks(FxHashMap<Who, u32>);

impl Clocks {
    fn raise(&mut self, who: Who, time: u32) {
        if time > 0 {
            let known = self.0.entry(who).or_default();
            *known = time.max(*known);
        }
    }

    fn get(&self, who: Who) -> u32 {
        self.0.get(&who).copied().unwrap_or(0)
    }

    /// Whether an access of a thread is known.
    fn holds(&self, thread: u32, time: u32, numbering: Numbering) -> bool {
        time < self.get(Who::Block(numbering.block(thread)))
            || time < self.get(Who::Warp(thread >> 5))
            || time < self.get(Who::Thread(thread))
    }

    /// Whether anything is known of only a part of a block.
    fn knows_parts(&self, block: u32, numbering: Numbering) -> bool {
        self.0.keys().any(|who| match who {
            Who::Thread(thread) => numbering.block(*thread) == block,
            Who::Warp(warp) => numbering.block(*warp << 5) == block,
            Who::Block(_) => false,
        })
    }
}

/// A vector clock that many may share; `None` knows nothing.
pub type Known = Option<Arc<Clocks>>;

/// Adds what another clock knows.
pub fn join(known: &mut Known, other: &Known) {
    let Some(other) = other else { return };
    match known {
        None => *known = Some(Arc::clone(other)),
        Some(known) if Arc::ptr_eq(known, other) => {}
        Some(known) => {
            // What is known of one's own side often knows all of the other.
            if other.0.iter().any(|(who, time)| known.get(*who) < *time) {
                let known = Arc::make_mut(known);
                other.0.iter().for_each(|(who, time)| known.raise(*who, *time));
            }
        }
    }
}

/// Whether an access of a thread is known.
pub fn holds(known: &Known, thread: u32, time: u32, numbering: Numbering) -> bool {
    known.as_ref().is_some_and(|known| known.holds(thread, time, numbering))
}

/// What a thread, or each thread of a warp, knew at a fence.
#[derive(Clone, Debug)]
struct Snapshot {
    time: u32,
    block_floor: u32,
    warp_floor: u32,
    known: [Known; 2],
}

/// The lanes of a warp that do not all know the same.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// The time of its last synchronisation by itself.
    own: u32,
    /// What it knows beyond floors and what its warp knows.
    known: Known,
    /// Its last fence, by scope.
    fences: [Option<Snapshot>; 2],
    /// What others had passed a fence with, before they synchronised with this lane.
    fenced: [Known; 2],
    /// What it gets to know by its next fence, by the fence's scope.
    pending: [Known; 2],
    /// The instruction that has read last what `pending` comes from.
    pub read_by: u16,
    /// Copies since the last group.
    open: Vec<Range<u64>>,
    /// Groups of copies that are not known to be complete.
    groups: VecDeque<Vec<Range<u64>>>,
}

impl Lane {
    fn copies(&self) -> bool {
        !self.open.is_empty() || !self.groups.is_empty()
    }
}

/// A warp of a block.
#[derive(Clone, Debug)]
pub struct Warp {
    floor: u32,
    /// The time of the last fence of all lanes.
    own: u32,
    known: Known,
    fences: [Option<Snapshot>; 2],
    fenced: [Known; 2],
    /// The lanes that there are.
    present: u32,
    lanes: Option<Box<[Lane; 32]>>,
}

/// An arrival of threads at a barrier.
#[derive(Clone, Debug, Default)]
struct Meeting {
    /// Who waits, as all threads of the block do so far.
    waiting: Vec<(u32, u32)>,
    /// Whether not all threads of the block take part, or not all wait.
    parts: bool,
    known: Known,
    fenced: [Known; 2],
    settled: bool,
}

/// Where a release can be read.
#[derive(Debug, Default)]
pub struct Flag {
    /// What it tells threads of other blocks.
    pub device: Known,
    /// What it tells threads of the writer's own block.
    pub blocks: Vec<(u32, Known)>,
    /// Who has written last, and by which instruction.
    pub writer: (u32, u16),
    /// Whether anything was released by it, to whomever.
    pub releases: bool,
}

/// Flags by their addresses.
pub type Flags = FxHashMap<u64, Flag>;

/// A barrier object.
#[derive(Clone, Debug, Default)]
struct Object {
    /// What those know that have arrived in this phase.
    now: Known,
    /// What those knew that have arrived in the last one.
    last: Known,
}

/// A block.
#[derive(Debug)]
pub struct Block {
    /// Its number in the grid.
    pub number: u32,
    /// The number of its first thread.
    pub first: u32,
    /// The last time that was drawn.
    now: u32,
    /// Accesses before this time are known to all threads of the block.
    pub floor: u32,
    warps: Vec<Warp>,
    meetings: FxHashMap<(u32, u32), Meeting>,
    objects: FxHashMap<u64, Object>,
    /// How its barriers are used.
    pub barriers: Barriers,
    /// Its shared memory.
    pub shared: Memory,
    /// Whether a store to it was not followed, so that nothing is known to be uninitialised.
    pub missed: bool,
    /// The flags in it.
    pub flags: Flags,
    /// Whether something is known beyond floors.
    fine: bool,
    /// Whether there are no more times to draw, so that nothing is known for certain any more.
    pub lost: bool,
}

impl Block {
    /// A block of `threads` threads that has just begun.
    pub fn new(number: u32, numbering: Numbering, threads: u32, shared: Memory) -> Block {
        let warp = |warp: u32| Warp {
            floor: 0,
            own: 0,
            known: None,
            fences: [None, None],
            fenced: [None, None],
            present: u32::MAX >> (32 - (threads - warp * 32).min(32)),
            lanes: None,
        };
        Block {
            number,
            first: number << numbering.bits,
            now: 1,
            floor: 1,
            warps: (0..threads.div_ceil(32)).map(warp).collect(),
            meetings: FxHashMap::default(),
            objects: FxHashMap::default(),
            barriers: Barriers::default(),
            shared,
            missed: false,
            flags: Flags::default(),
            fine: false,
            lost: false,
        }
    }

    fn draw(&mut self) -> u32 {
        self.now += 1;
        self.lost |= self.now >= MAX_CLOCK - 1;
        self.now.min(MAX_CLOCK - 1)
    }

    /// The number of a thread.
    #[inline(always)]
    pub fn thread(&self, warp: u32, lane: usize) -> u32 {
        self.first + warp * 32 + lane as u32
    }

    /// The time of a warp's accesses, unless its lanes have times of their own; and whether they
    /// have.
    #[inline(always)]
    pub fn time(&self, warp: u32) -> (u32, bool) {
        let warp = &self.warps[warp as usize];
        (self.floor.max(warp.floor).max(warp.own), warp.lanes.is_some())
    }

    /// The time of a lane's accesses.
    pub fn time_of(&self, warp: u32, lane: usize) -> u32 {
        let (time, _) = self.time(warp);
        let lanes = self.warps[warp as usize].lanes.as_ref();
        lanes.map_or(time, |lanes| time.max(lanes[lane].own))
    }

    /// Accesses of a warp before this time are known to all its lanes.
    #[inline(always)]
    pub fn warp_floor(&self, warp: u32) -> u32 {
        self.floor.max(self.warps[warp as usize].floor)
    }

    fn known(&self, warp: u32, lane: usize) -> [&Known; 2] {
        let warp = &self.warps[warp as usize];
        let lane = warp.lanes.as_ref().map_or(&None, |lanes| &lanes[lane].known);
        [&warp.known, lane]
    }

    /// Whether an access of another thread has happened before what a lane does now, beyond what
    /// floors say.
    pub fn knows(&self, warp: u32, lane: usize, stamp: Stamp, numbering: Numbering) -> bool {
        self.fine
            && self
                .known(warp, lane)
                .iter()
                .any(|known| holds(known, stamp.thread(), stamp.clock(), numbering))
    }

    /// Whether a lane knows something of only a part of a block.
    pub fn knows_parts(&self, warp: u32, lane: usize, block: u32, numbering: Numbering) -> bool {
        let parts = |known: &&Known| {
            known.as_ref().is_some_and(|known| known.knows_parts(block, numbering))
        };
        self.fine && self.known(warp, lane).iter().any(parts)
    }

    /// Whether a lane would know an access if a fence followed what it has read; then, the
    /// instruction that has read it.
    pub fn would_know(
        &self,
        warp: u32,
        lane: usize,
        stamp: Stamp,
        numbering: Numbering,
    ) -> Option<u16> {
        let lane = &self.warps[warp as usize].lanes.as_ref()?[lane];
        let holds = |known: &Known| holds(known, stamp.thread(), stamp.clock(), numbering);
        lane.pending.iter().any(holds).then_some(lane.read_by)
    }

    fn lanes(&mut self, warp: u32) -> &mut [Lane; 32] {
        self.fine = true;
        self.warps[warp as usize].lanes.get_or_insert_with(Default::default)
    }

    fn snapshot(&self, warp: u32, lane: Option<usize>, time: u32) -> Snapshot {
        let of = &self.warps[warp as usize];
        let known = match lane {
            Some(lane) => self.known(warp, lane).map(Clone::clone),
            None => [of.known.clone(), None],
        };
        Snapshot { time, block_floor: self.floor, warp_floor: of.floor, known }
    }

    /// Adds what a thread knew at a fence, and all that it had done before, to what others know.
    fn add(&self, to: &mut Known, snapshot: &Snapshot, warp: u32, who: Who) {
        snapshot.known.iter().for_each(|other| join(to, other));
        let clocks = Arc::make_mut(to.get_or_insert_default());
        clocks.raise(who, snapshot.time);
        clocks.raise(Who::Warp((self.first >> 5) + warp), snapshot.warp_floor);
        clocks.raise(Who::Block(self.number), snapshot.block_floor);
    }

    /// What a lane's fences have released, up to a scope.
    fn fenced(&self, warp: u32, lane: usize, scope: usize) -> Known {
        let (of, who) = (&self.warps[warp as usize], Who::Thread(self.thread(warp, lane)));
        let mut fenced = of.fenced[scope].clone();
        if let Some(snapshot) = &of.fences[scope] {
            self.add(&mut fenced, snapshot, warp, who);
        }
        if let Some(lane) = of.lanes.as_ref().map(|lanes| &lanes[lane]) {
            join(&mut fenced, &lane.fenced[scope]);
            if let Some(snapshot) = &lane.fences[scope] {
                self.add(&mut fenced, snapshot, warp, who);
            }
        }
        fenced
    }

    /// Lanes execute a fence.
    pub fn fence(&mut self, warp: u32, mask: u32, scope: Scope, acquires: bool, releases: bool) {
        let reached = scope as usize;
        if acquires && let Some(lanes) = &mut self.warps[warp as usize].lanes {
            for lane in lanes_of(mask) {
                let lane = &mut lanes[lane];
                for pending in &mut lane.pending[..=reached] {
                    join(&mut lane.known, &pending.take());
                }
            }
        }
        if !releases {
            return;
        }
        self.fine = true;
        let time = self.draw();
        let of = &mut self.warps[warp as usize];
        if mask == of.present && of.lanes.is_none() {
            of.own = time;
            let snapshot = self.snapshot(warp, None, time);
            let of = &mut self.warps[warp as usize];
            of.fences[..=reached].fill(Some(snapshot));
            return;
        }
        self.lanes(warp);
        for lane in lanes_of(mask) {
            let snapshot = self.snapshot(warp, Some(lane), time);
            let lane = &mut self.lanes(warp)[lane];
            lane.own = time;
            lane.fences[..=reached].fill(Some(snapshot));
        }
    }

    /// What a lane releases by a strong write of a scope: what threads of its block get to know,
    /// and what those of other blocks do.
    pub fn released(
        &mut self,
        warp: u32,
        lane: usize,
        scope: Scope,
        by_itself: bool,
    ) -> [Known; 2] {
        if !self.fine && !by_itself {
            return [None, None];
        }
        let mut released = [self.fenced(warp, lane, 0), None];
        if scope == Scope::Device {
            released[1] = self.fenced(warp, lane, 1);
        }
        if by_itself {
            let time = self.draw();
            self.lanes(warp)[lane].own = time;
            let snapshot = self.snapshot(warp, Some(lane), time);
            let who = Who::Thread(self.thread(warp, lane));
            self.add(&mut released[0], &snapshot, warp, who);
            if scope == Scope::Device {
                self.add(&mut released[1], &snapshot, warp, who);
            }
        }
        released
    }

    /// A lane has read what others have released: it knows that at once, or by its next fence whose
    /// scope is wide enough.
    pub fn acquire(&mut self, warp: u32, lane: usize, got: [&Known; 2], at_once: bool, site: u16) {
        if got.iter().all(|known| known.is_none()) {
            return;
        }
        let lane = &mut self.lanes(warp)[lane];
        if at_once {
            got.iter().for_each(|got| join(&mut lane.known, got));
        } else {
            lane.read_by = site;
            lane.pending.iter_mut().zip(got).for_each(|(pending, got)| join(pending, got));
        }
    }

    /// All that lanes know, and what they have passed fences with.
    fn gather(&self, warp: u32, mask: u32, who: impl Fn(usize) -> Who) -> (Known, [Known; 2]) {
        let of = &self.warps[warp as usize];
        let (mut known, mut fenced) = (of.known.clone(), of.fenced.clone());
        for lane in lanes_of(mask) {
            for (fenced, snapshot) in fenced.iter_mut().zip(&of.fences) {
                if let Some(snapshot) = snapshot {
                    self.add(fenced, snapshot, warp, who(lane));
                }
            }
            let Some(lanes) = &of.lanes else { continue };
            let of = &lanes[lane];
            join(&mut known, &of.known);
            of.pending.iter().for_each(|pending| join(&mut known, pending));
            for (to, (from, own)) in fenced.iter_mut().zip(of.fenced.iter().zip(&of.fences)) {
                join(to, from);
                if let Some(snapshot) = own {
                    let who = Who::Thread(self.thread(warp, lane));
                    self.add(to, snapshot, warp, who);
                }
            }
        }
        (known, fenced)
    }

    /// All lanes of a warp know the same from now on.
    fn level(&mut self, warp: u32, known: Known, fenced: [Known; 2]) {
        let of = &mut self.warps[warp as usize];
        (of.known, of.fenced, of.fences) = (known, fenced, [None, None]);
        if let Some(lanes) = &mut of.lanes {
            if !lanes.iter().any(Lane::copies) {
                of.lanes = None;
                return;
            }
            for lane in lanes.iter_mut() {
                let (open, groups) =
                    (std::mem::take(&mut lane.open), std::mem::take(&mut lane.groups));
                *lane = Lane { open, groups, ..Lane::default() };
            }
        }
    }

    /// Lanes of a warp have synchronised (`__syncwarp`).
    pub fn converge(&mut self, warp: u32, mask: u32) {
        let time = self.draw();
        if mask == self.warps[warp as usize].present {
            if self.fine {
                // A warp's time stands for all of its lanes.
                let all = Who::Warp((self.first >> 5) + warp);
                let present = self.warps[warp as usize].present;
                let (known, fenced) = self.gather(warp, present, |_| all);
                self.level(warp, known, fenced);
            }
            self.warps[warp as usize].floor = time;
            return;
        }
        let thread = |lane| Who::Thread(self.first + warp * 32 + lane as u32);
        let (mut known, fenced) = self.gather(warp, mask, thread);
        let floor = self.warps[warp as usize].floor;
        let clocks = Arc::make_mut(known.get_or_insert_default());
        lanes_of(mask).for_each(|lane| clocks.raise(thread(lane), time));
        clocks.raise(Who::Warp((self.first >> 5) + warp), floor);
        for lane in lanes_of(mask) {
            let lane = &mut self.lanes(warp)[lane];
            (lane.own, lane.known, lane.fenced) = (time, known.clone(), fenced.clone());
            (lane.fences, lane.pending) = ([None, None], [None, None]);
        }
    }

    /// Lanes arrive at a barrier.
    pub fn arrive(&mut self, warp: u32, mask: u32, id: (u32, u32), whole: bool) {
        let meeting = self.meetings.entry(id).or_default();
        if whole {
            // Usually all others do the same; then there is nothing to remember.
            meeting.waiting.push((warp, mask));
            return;
        }
        meeting.parts = true;
        let waiting = std::mem::take(&mut meeting.waiting);
        for (warp, mask) in waiting.into_iter().chain([(warp, mask)]) {
            self.arrive_apart(warp, mask, id);
        }
    }

    /// Lanes arrive at a barrier at which not all threads of the block wait.
    fn arrive_apart(&mut self, warp: u32, mask: u32, id: (u32, u32)) {
        self.fine = true;
        let time = self.draw();
        let thread = |lane| Who::Thread(self.first + warp * 32 + lane as u32);
        let (mut known, fenced) = self.gather(warp, mask, thread);
        let of = &self.warps[warp as usize];
        let clocks = Arc::make_mut(known.get_or_insert_default());
        clocks.raise(Who::Warp((self.first >> 5) + warp), of.floor);
        clocks.raise(Who::Block(self.number), self.floor);
        if mask == of.present {
            clocks.raise(Who::Warp((self.first >> 5) + warp), time);
        } else {
            lanes_of(mask).for_each(|lane| clocks.raise(thread(lane), time));
        }
        if mask == of.present && of.lanes.is_none() {
            self.warps[warp as usize].own = time;
        } else {
            let lanes = self.lanes(warp);
            lanes_of(mask).for_each(|lane| lanes[lane].own = time);
        }
        let meeting = self.meetings.entry(id).or_default();
        join(&mut meeting.known, &known);
        meeting.fenced.iter_mut().zip(&fenced).for_each(|(to, from)| join(to, from));
    }

    /// Lanes that have waited at a barrier go on.
    pub fn pass(&mut self, warp: u32, mask: u32, id: (u32, u32)) {
        self.meetings.retain(|known, _| known.0 != id.0 || id.1.wrapping_sub(known.1) < 2);
        let Some(meeting) = self.meetings.get_mut(&id) else { return };
        if meeting.parts {
            // The last to arrive may have waited.
            for (warp, mask) in std::mem::take(&mut meeting.waiting) {
                self.arrive_apart(warp, mask, id);
            }
            let Some(meeting) = self.meetings.get(&id) else { return };
            let (known, fenced) = (meeting.known.clone(), meeting.fenced.clone());
            let lanes = self.lanes(warp);
            for lane in lanes_of(mask) {
                let lane = &mut lanes[lane];
                join(&mut lane.known, &known);
                for (to, from) in lane.fenced.iter_mut().zip(&fenced) {
                    join(to, from);
                }
                for pending in &mut lane.pending {
                    join(&mut lane.known, &pending.take());
                }
            }
        } else if !std::mem::replace(&mut meeting.settled, true) {
            let time = self.draw();
            if self.fine {
                self.settle();
            }
            self.floor = time;
        }
    }

    /// All threads of the block get to know what any of them knows.
    fn settle(&mut self) {
        let (mut known, mut fenced) = (None, [None, None]);
        for warp in 0..self.warps.len() as u32 {
            let all = Who::Warp((self.first >> 5) + warp);
            let present = self.warps[warp as usize].present;
            let (of_warp, of_fences) = self.gather(warp, present, |_| all);
            join(&mut known, &of_warp);
            fenced.iter_mut().zip(&of_fences).for_each(|(to, from)| join(to, from));
        }
        for warp in 0..self.warps.len() as u32 {
            self.level(warp, known.clone(), fenced.clone());
        }
        self.fine = known.is_some()
            || fenced.iter().any(Option::is_some)
            || self.warps.iter().any(|warp| warp.lanes.is_some());
    }

    /// A lane uses a barrier object.
    pub fn use_object(&mut self, warp: u32, lane: usize, address: u64, does: Mbarrier, ends: bool) {
        match does {
            Mbarrier::Init | Mbarrier::Invalidate => {
                self.objects.insert(address, Object::default());
            }
            Mbarrier::Arrive | Mbarrier::ArriveCopies => {
                let [released, _] = self.released(warp, lane, Scope::Block, true);
                join(&mut self.objects.entry(address).or_default().now, &released);
            }
            Mbarrier::Pass => {
                let last = self.objects.get(&address).and_then(|object| object.last.clone());
                self.acquire(warp, lane, [&last, &None], true, 0);
            }
            Mbarrier::Look => {}
        }
        if ends {
            let object = self.objects.entry(address).or_default();
            object.last = object.now.take();
        }
    }

    /// A lane has issued an asynchronous copy to shared memory.
    pub fn copies(&mut self, warp: u32, lane: usize, bytes: Range<u64>) {
        self.lanes(warp)[lane].open.push(bytes);
    }

    /// Copies of lanes make groups.
    pub fn commit(&mut self, warp: u32, mask: u32) {
        let Some(lanes) = &mut self.warps[warp as usize].lanes else { return };
        for lane in lanes_of(mask) {
            let group = std::mem::take(&mut lanes[lane].open);
            lanes[lane].groups.push_back(group);
        }
    }

    /// The copies of a lane that are complete when all groups are but the last ones; all of them if
    /// that is not a number.
    pub fn completed(&mut self, warp: u32, lane: usize, but: Option<u32>) -> Vec<Range<u64>> {
        let Some(lanes) = &mut self.warps[warp as usize].lanes else { return Vec::new() };
        let lane = &mut lanes[lane];
        let count = lane.groups.len().saturating_sub(but.unwrap_or(0) as usize);
        let mut complete: Vec<_> = lane.groups.drain(..count).flatten().collect();
        if but.is_none() {
            complete.append(&mut lane.open);
        }
        complete
    }
}

/// The lanes of a mask.
pub fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}
