//! The detector of one launch: an observer of its accesses and of what orders them.

use crate::order::{Block, Flag, Flags, Known, Numbering, join, lanes_of};
use crate::race::{Race, Reason, Side, Where};
use crate::shadow::{Cell, Memory};
use crate::site::{Info, Part, Scope, Sites};
use crate::stamp::{Level, MAX_CLOCK, MAX_THREADS, Stamp};
use commsan_ptx::Site as Place;
use commsan_simt::{Access, At, Event, Kernel, Kind, Mbarrier, Observer};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Pages of global memory that are followed: 128 MiB. What is beyond counts as ordered.
const MAX_PAGES: usize = 1 << 15;
/// Maximum number of pairs of instructions that are reported of a launch.
const MAX_RACES: usize = 256;
/// Maximum number of flags that are remembered only because nothing was released by them.
const MAX_HINTS: usize = 1 << 12;

/// Why a flag that a thread has read told it nothing.
#[derive(Clone, Copy, Debug)]
enum Hint {
    /// Its writer has released nothing: no fence before it.
    NoRelease(u16),
    /// One of the two is for the block only, by its instruction.
    Narrow(u16),
}

/// Detects the races of a launch.
#[derive(Debug)]
pub struct Detector {
    kernel: Arc<Kernel>,
    grid: [u32; 3],
    shape: [u32; 3],
    numbering: Numbering,
    sites: Sites,
    /// The blocks that are running.
    blocks: Vec<Block>,
    at: FxHashMap<u64, usize>,
    last: (u64, usize),
    /// Shadows of the shared memory of blocks that are done, for reuse.
    spare: Vec<Memory>,
    global: Memory,
    /// Flags in global memory.
    flags: Flags,
    /// Everything that was released for other blocks so far.
    published: Known,
    /// Whether other kernels may pass on what this one has released.
    pub company: bool,
    hints: FxHashMap<(u32, u32), Hint>,
    told: FxHashSet<(u16, u16, bool)>,
    races: Vec<Race>,
    /// Stores of the same value, until it is known that the two never store different ones.
    same: Vec<(Race, (u16, u16))>,
}

/// The accessing lane.
#[derive(Clone, Copy)]
struct Me {
    thread: u32,
    clock: u32,
    /// Whether more lanes do the same to the same bytes.
    several: bool,
    site: u16,
    warp: u32,
    lane: usize,
}

impl Detector {
    /// The detector of a launch; `None` if it has more threads than can be told apart.
    pub fn new(kernel: Arc<Kernel>, grid: [u32; 3], block: [u32; 3]) -> Option<Detector> {
        let threads = block.iter().product::<u32>().div_ceil(32) * 32;
        let numbering = Numbering { bits: threads.next_power_of_two().trailing_zeros() };
        let blocks: u64 = grid.iter().map(|extent| u64::from(*extent)).product();
        if blocks << numbering.bits > MAX_THREADS {
            return None;
        }
        Some(Detector {
            kernel,
            grid,
            shape: block,
            numbering,
            sites: Sites::default(),
            blocks: Vec::new(),
            at: FxHashMap::default(),
            last: (u64::MAX, 0),
            spare: Vec::new(),
            global: Memory::default(),
            flags: FxHashMap::default(),
            published: None,
            company: false,
            hints: FxHashMap::default(),
            told: FxHashSet::default(),
            races: Vec::new(),
            same: Vec::new(),
        })
    }

    /// The races that were found since the last call; `done` says that there will be no more.
    pub fn take(&mut self, done: bool) -> Vec<Race> {
        let mut races = std::mem::take(&mut self.races);
        if done {
            let told = &self.told;
            let same = std::mem::take(&mut self.same).into_iter();
            let only = same.filter(|(_, (a, b))| !told.contains(&(*a, *b, false)));
            races.extend(only.map(|(race, _)| race));
        }
        races
    }

    /// Where a block's state is.
    #[inline(always)]
    fn block(&mut self, number: u64) -> usize {
        match self.last {
            (last, at) if last == number => at,
            _ => self.find(number),
        }
    }

    fn find(&mut self, number: u64) -> usize {
        let threads = self.shape.iter().product();
        let at = *self.at.entry(number).or_insert_with(|| {
            let shared = self.spare.pop().unwrap_or_default();
            self.blocks.push(Block::new(number as u32, self.numbering, threads, shared));
            self.blocks.len() - 1
        });
        self.last = (number, at);
        at
    }

    fn end(&mut self, number: u64) {
        let Some(at) = self.at.remove(&number) else { return };
        self.last = (u64::MAX, 0);
        let block = self.blocks.swap_remove(at);
        if let Some(moved) = self.blocks.get(at) {
            self.at.insert(moved.number.into(), at);
        }
        self.spare.push(block.shared);
    }

    /// An access of a warp, to global memory or to shared memory.
    fn follow(&mut self, access: &Access<'_>, is_shared: bool) {
        let place = Place { function: access.function, instruction: access.instruction };
        let part = match access.kind {
            Kind::Load => Part::Read,
            Kind::Store => Part::Write,
            Kind::Atomic => Part::Both,
        };
        let module = self.kernel.module();
        let Some(site) = self.sites.number(module, place, part, access.width) else { return };
        let info = *self.sites.get(site);
        let at = self.block(access.block);
        let block = &self.blocks[at];
        if info.object || block.lost {
            return;
        }
        let both = [info.reads, info.writes];
        if !info.strong {
            self.compare(access, at, site, &info, is_shared);
        } else if !info.acquires {
            self.compare(access, at, site, &info, is_shared);
            self.synchronise(access, at, site, &info, is_shared, both);
        } else {
            // What an access has acquired is before the access itself; and each lane may acquire
            // what the one before has released.
            for lane in lanes_of(access.lanes) {
                let access = &Access { lanes: 1 << lane, ..*access };
                self.synchronise(access, at, site, &info, is_shared, [info.reads, false]);
                self.compare(access, at, site, &info, is_shared);
                self.synchronise(access, at, site, &info, is_shared, [false, info.writes]);
            }
        }
    }

    /// Compares an access with those before.
    fn compare(&mut self, access: &Access<'_>, at: usize, site: u16, info: &Info, is_shared: bool) {
        let info = *info;
        let mut own = std::mem::take(&mut self.blocks[at].shared);
        let (block, sites) = (&self.blocks[at], &self.sites);
        let (memory, most) =
            if is_shared { (&mut own, usize::MAX) } else { (&mut self.global, MAX_PAGES) };
        let scene = Scene { block, sites, numbering: self.numbering, is_shared };
        let (time, apart) = block.time(access.warp);
        let mut rest = access.lanes;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let address = access.addresses[lane];
            // Lanes that read, or update atomically, the same bytes are one access.
            let mut several = false;
            if (!info.writes || info.strong) && !apart {
                while rest != 0 {
                    let next = rest.trailing_zeros() as usize;
                    if access.addresses[next] != address {
                        break;
                    }
                    (rest, several) = (rest & (rest - 1), true);
                }
            }
            let clock = if apart { block.time_of(access.warp, lane) } else { time };
            let thread = block.thread(access.warp, lane);
            let me = Me { thread, clock, several, site, warp: access.warp, lane };
            let (mut element, mut offset, mut found) = (0, 0, None);
            while offset < access.size {
                let cells = memory.cells(address + offset, access.width, most);
                for cell in cells.into_iter().flatten() {
                    if let Some(other) = scene.touch(cell, &me, &info) {
                        found = found.or(Some((element, other)));
                    }
                }
                offset += access.width;
                element += 1;
            }
            if let Some((element, other)) = found {
                let same = is_same(&scene, access, &info, &me, element, other);
                let key = (other.site(), site, same);
                if self.told.len() < MAX_RACES && !self.told.contains(&key) {
                    let reason = reason(&scene, &self.hints, &me, &info, other);
                    let bytes = access.addresses[me.lane] + element as u64 * access.width;
                    let memory = match is_shared {
                        true => {
                            let (array, offset) = self.kernel.shared_array(bytes);
                            Where::Shared(array.map(ToOwned::to_owned), offset)
                        }
                        false => Where::Global(bytes, access.width),
                    };
                    let side = |stamp: Stamp, several| {
                        side(
                            &self.kernel,
                            sites,
                            self.numbering,
                            (self.grid, self.shape),
                            stamp,
                            several,
                        )
                    };
                    let first = side(other, matches!(other.level(), Level::Warp | Level::Block));
                    let second = side(Stamp::new(me.thread, Level::Thread, site, me.clock), false);
                    let race = Race { first, second, memory, reason, same };
                    self.told.insert(key);
                    self.told.insert((site, other.site(), same));
                    match same {
                        true => self.same.push((race, (other.site(), site))),
                        false => self.races.push(race),
                    }
                }
            }
        }
        self.blocks[at].shared = own;
        if info.copies && is_shared {
            for lane in lanes_of(access.lanes) {
                let start = access.addresses[lane];
                self.blocks[at].copies(access.warp, lane, start..start + access.size);
            }
        }
    }

    /// What a strong access acquires, as far as it reads, and releases, as far as it writes.
    fn synchronise(
        &mut self,
        access: &Access<'_>,
        at: usize,
        site: u16,
        info: &Info,
        is_shared: bool,
        [reads, writes]: [bool; 2],
    ) {
        let number = self.blocks[at].number;
        let mut flags = match is_shared {
            true => std::mem::take(&mut self.blocks[at].flags),
            false => std::mem::take(&mut self.flags),
        };
        for lane in lanes_of(access.lanes) {
            let key = access.addresses[lane];
            let thread = self.blocks[at].thread(access.warp, lane);
            if reads {
                self.acquire((access.warp, lane), at, flags.get(&key), site, info);
            }
            if writes {
                let scope = info.scope;
                let released = self.blocks[at].released(access.warp, lane, scope, info.releases);
                join(&mut self.published, &released[1]);
                let releases = released[0].is_some();
                let known = flags.contains_key(&key);
                // A flag that tells nothing is remembered for what the finding says.
                if !releases && !known && (info.atomic || flags.len() > MAX_HINTS) {
                    continue;
                }
                let flag = flags.entry(key).or_default();
                if !info.atomic {
                    *flag = Flag::default();
                }
                let [own, device] = released;
                join(&mut flag.device, &device);
                match flag.blocks.iter_mut().find(|(block, _)| *block == number) {
                    Some((_, known)) => join(known, &own),
                    None => flag.blocks.push((number, own)),
                }
                (flag.writer, flag.releases) = ((thread, site), flag.releases | releases);
            }
        }
        match is_shared {
            true => self.blocks[at].flags = flags,
            false => self.flags = flags,
        }
    }

    fn acquire(
        &mut self,
        (warp, lane): (u32, usize),
        at: usize,
        flag: Option<&Flag>,
        site: u16,
        info: &Info,
    ) {
        let number = self.blocks[at].number;
        if self.company && info.scope == Scope::Device && self.published.is_some() {
            // Another kernel may have passed on what this one has released.
            self.blocks[at].acquire(warp, lane, [&None, &self.published], info.acquires, site);
        }
        let Some(flag) = flag else { return };
        let of_block = flag.blocks.iter().find(|(block, _)| *block == number);
        let of_block = of_block.map_or(&None, |(_, known)| known);
        let of_device = if info.scope == Scope::Device { &flag.device } else { &None };
        self.blocks[at].acquire(warp, lane, [of_block, of_device], info.acquires, site);
        let (writer, by) = flag.writer;
        let from = self.numbering.block(writer);
        if writer != self.blocks[at].thread(warp, lane) {
            let hint = match from == number {
                _ if !flag.releases => Some(Hint::NoRelease(by)),
                true => None,
                false if info.scope == Scope::Block => Some(Hint::Narrow(site)),
                false if flag.device.is_none() => Some(Hint::Narrow(by)),
                false => None,
            };
            if let Some(hint) = hint
                && self.hints.len() < MAX_HINTS
            {
                self.hints.insert((from, number), hint);
            }
        }
    }

    fn restamp(&mut self, at: usize, warp: u32, lane: usize, but: Option<u32>, level: Level) {
        let block = &mut self.blocks[at];
        let (thread, clock) = (block.thread(warp, lane), block.time_of(warp, lane));
        for bytes in block.completed(warp, lane, but) {
            block.shared.each(bytes, |cell| {
                let write = cell.write;
                if write.level() == Level::Copy && write.thread() == thread {
                    cell.write = Stamp::new(thread, level, write.site(), clock);
                }
            });
        }
    }
}

impl Observer for Detector {
    const ORDERED: bool = true;

    fn access(&mut self, access: &Access<'_>) {
        self.follow(access, false);
    }

    fn shared(&mut self, access: &Access<'_>) {
        self.follow(access, true);
    }

    fn event(&mut self, at: &At, event: Event) {
        let At { block: number, warp, lanes } = *at;
        if event == Event::End {
            return self.end(number);
        }
        let at = self.block(number);
        match event {
            Event::Fence { function, instruction } => {
                let place = Place { function, instruction };
                let module = self.kernel.module();
                let Some(site) = self.sites.number(module, place, Part::Read, 0) else { return };
                let info = *self.sites.get(site);
                // Accesses that acquire or release do so by themselves.
                if info.fence {
                    let (acquires, releases) = (info.acquires, info.releases);
                    self.blocks[at].fence(warp, lanes, info.scope, acquires, releases);
                }
            }
            Event::Arrive { barrier, generation, whole, waits } => {
                self.blocks[at].arrive(warp, lanes, (barrier, generation), whole && waits);
            }
            Event::Pass { barrier, generation } => {
                self.blocks[at].pass(warp, lanes, (barrier, generation));
            }
            Event::Converge => self.blocks[at].converge(warp, lanes),
            Event::Mbarrier { address, does, completes } => {
                for lane in lanes_of(lanes) {
                    if does == Mbarrier::ArriveCopies {
                        self.restamp(at, warp, lane, None, Level::Copy);
                    }
                    self.blocks[at].use_object(warp, lane, address, does, completes);
                }
            }
            Event::CopiesCommitted => self.blocks[at].commit(warp, lanes),
            Event::CopiesAwaited { but } => {
                for lane in lanes_of(lanes) {
                    self.restamp(at, warp, lane, but, Level::Thread);
                }
            }
            Event::Allocate { start, size } => {
                self.global.each(start..start + size, |cell| *cell = Cell::default());
            }
            Event::End => {}
        }
    }
}

/// What an access is compared with.
struct Scene<'a> {
    block: &'a Block,
    sites: &'a Sites,
    numbering: Numbering,
    is_shared: bool,
}

impl Scene<'_> {
    /// Compares an access with those to a granule, and remembers it. Returns one that it races with.
    #[inline(always)]
    fn touch(&self, cell: &mut Cell, me: &Me, info: &Info) -> Option<Stamp> {
        let level = match (info.copies, me.several) {
            (true, _) => Level::Copy,
            (false, true) => Level::Warp,
            (false, false) => Level::Thread,
        };
        let clock = if info.copies { MAX_CLOCK } else { me.clock };
        let stamp = Stamp::new(me.thread, level, me.site, clock);
        if !info.strong && level != Level::Copy {
            let first = cell.others[0];
            if !info.writes {
                let known = cell.write.is_none() || self.is_settled(cell.write, me);
                let kept = first.is_none() || self.is_settled(first, me);
                if known && kept && cell.others[1].is_none() && !self.is_strong(cell) {
                    cell.others[0] = stamp;
                    return None;
                }
            } else if (cell.write.is_none() || self.is_settled(cell.write, me))
                && (first.is_none() || self.is_settled(first, me))
                && cell.others[1].is_none()
            {
                *cell = Cell { write: stamp, others: [Stamp::NONE; 2] };
                return None;
            }
        }
        self.touch_slowly(cell, me, info, stamp)
    }

    /// Whether an access was made by the same thread, or before the last barrier of its block.
    #[inline(always)]
    fn is_settled(&self, stamp: Stamp, me: &Me) -> bool {
        stamp.thread() == me.thread && stamp.level() == Level::Thread
            || self.numbering.block(stamp.thread()) == self.block.number
                && stamp.clock() < self.block.floor
    }

    /// Whether the last access is one among strong ones, which do not race with each other.
    #[inline(always)]
    fn is_strong(&self, cell: &Cell) -> bool {
        !cell.write.is_none() && self.sites.get(cell.write.site()).strong
    }

    fn touch_slowly(&self, cell: &mut Cell, me: &Me, info: &Info, stamp: Stamp) -> Option<Stamp> {
        if self.is_shared {
            // Another block has left this, whose memory it was.
            let is_own = |stamp: Stamp| self.numbering.block(stamp.thread()) == self.block.number;
            if !is_own(cell.write) {
                cell.write = Stamp::NONE;
            }
            cell.others.iter_mut().filter(|other| !is_own(**other)).for_each(|other| {
                *other = Stamp::NONE;
            });
        }
        let all = [cell.write, cell.others[0], cell.others[1]];
        let mut candidates = all.into_iter().filter(|other| !other.is_none());
        let race = candidates.find(|other| self.races(cell, *other, me, info));
        if !info.writes {
            self.keep(cell, stamp, me, info);
        } else if !info.strong {
            *cell = Cell { write: stamp, others: [Stamp::NONE; 2] };
        } else {
            let before = *cell;
            let old = std::mem::replace(&mut cell.write, stamp);
            for other in &mut cell.others {
                if !other.is_none() && self.is_represented(&before, *other, me, info) {
                    *other = Stamp::NONE;
                }
            }
            if !old.is_none() && !self.is_represented(&before, old, me, info) {
                self.keep(cell, old, me, self.sites.get(old.site()));
            }
        }
        race
    }

    /// Whether whatever races with an earlier access races with this strong write, too. Strong reads
    /// count as such even if they are concurrent with it, so that those that are remembered have
    /// come after it (`was_observed`).
    fn is_represented(&self, cell: &Cell, other: Stamp, me: &Me, info: &Info) -> bool {
        let theirs = self.sites.get(other.site());
        theirs.strong
            && (!theirs.writes
                || self.was_observed(cell, other, theirs, me)
                || self.is_ordered(other, me)
                    && theirs.width == info.width
                    && theirs.scope >= info.scope)
    }

    /// Remembers an access beside the last write.
    fn keep(&self, cell: &mut Cell, stamp: Stamp, me: &Me, info: &Info) {
        let is_mine = stamp.thread() == me.thread;
        for other in &mut cell.others {
            let is_like = other.is_none() || self.sites.get(other.site()).is_like(info);
            if !is_like {
                continue;
            }
            if other.is_none() || is_mine && self.is_ordered(*other, me) {
                *other = stamp;
                return;
            }
            let block = self.numbering.block(other.thread());
            if block == self.numbering.block(stamp.thread()) && other.level() != Level::Copy {
                let same_warp = other.thread() >> 5 == stamp.thread() >> 5;
                let level = if same_warp { Level::Warp } else { Level::Block };
                let level = level.max(other.level()).max(stamp.level());
                let last = if stamp.clock() >= other.clock() { stamp } else { *other };
                *other = Stamp::new(last.thread(), level, last.site(), last.clock());
                return;
            }
        }
        // Writes are kept longer: more races with them.
        let second = &mut cell.others[1];
        if info.writes || !self.sites.get(second.site()).writes {
            *second = stamp;
        }
    }

    /// Whether an access has certainly happened before what the lane does, or may have.
    fn is_ordered(&self, other: Stamp, me: &Me) -> bool {
        let Scene { block, numbering, .. } = *self;
        let (thread, clock) = (other.thread(), other.clock());
        let same_block = numbering.block(thread) == block.number;
        if same_block && clock < block.floor {
            return true;
        }
        let same_warp = thread >> 5 == me.thread >> 5;
        let in_warp = same_warp && clock < block.warp_floor(me.warp);
        let knows = || block.knows(me.warp, me.lane, other, numbering);
        // Of a part of a block something may be known that does not show in its latest access.
        let of_parts = || block.knows_parts(me.warp, me.lane, numbering.block(thread), numbering);
        match other.level() {
            Level::Thread => thread == me.thread || in_warp || knows(),
            Level::Copy => clock != MAX_CLOCK && (in_warp || knows()),
            Level::Warp if thread == me.thread => in_warp || of_parts(),
            Level::Warp => in_warp || knows(),
            Level::Block if thread == me.thread => of_parts(),
            Level::Block => in_warp && of_parts() || knows(),
        }
    }

    fn races(&self, cell: &Cell, other: Stamp, me: &Me, info: &Info) -> bool {
        let theirs = self.sites.get(other.site());
        if !(theirs.writes || info.writes) || self.is_ordered(other, me) {
            return false;
        }
        let both = theirs.strong && info.strong && theirs.width == info.width;
        if both && !self.too_narrow(other, theirs, info) {
            return false;
        }
        !(theirs.strong && theirs.writes && self.was_observed(cell, other, theirs, me))
    }

    /// Whether the scope of either of two strong operations leaves out the other.
    fn too_narrow(&self, other: Stamp, theirs: &Info, info: &Info) -> bool {
        self.numbering.block(other.thread()) != self.block.number
            && theirs.scope.min(info.scope) == Scope::Block
    }

    /// Whether a strong read that has happened before has read what a strong write has written, or
    /// what came of it by atomics: the observation order is part of the causality order (PTX ISA
    /// §8.9.5).
    fn was_observed(&self, cell: &Cell, write: Stamp, theirs: &Info, me: &Me) -> bool {
        let observes = |by: Stamp| {
            // What a thread of this block has read, this thread may have read before: its own read is
            // forgotten if the other comes after it.
            let is_mine = self.numbering.block(by.thread()) == self.block.number;
            if by.is_none() || by == write || !is_mine && !self.is_ordered(by, me) {
                return false;
            }
            let info = self.sites.get(by.site());
            let same = self.numbering.block(by.thread()) == self.numbering.block(write.thread());
            let wide = same || theirs.scope.min(info.scope) == Scope::Device;
            info.strong && info.reads && wide && info.width == theirs.width
        };
        // Only atomics pass on what was written before them.
        let passes = || self.sites.get(cell.write.site()).atomic;
        let reads = |other: &Stamp| {
            !other.is_none() && !self.sites.get(other.site()).writes && observes(*other)
        };
        // Of two writes beside the last one, an atomic may have come later.
        let atomics = |other: &Stamp| {
            !other.is_none() && self.sites.get(other.site()).atomic && observes(*other)
        };
        (write == cell.write || passes()) && cell.others.iter().any(reads)
            || write != cell.write
                && (passes() && observes(cell.write) || cell.others.iter().any(atomics))
    }
}

/// Whether two stores store the same.
fn is_same(
    scene: &Scene<'_>,
    access: &Access<'_>,
    info: &Info,
    me: &Me,
    element: usize,
    other: Stamp,
) -> bool {
    let theirs = scene.sites.get(other.site());
    let stores = |info: &Info| info.writes && !info.reads && !info.copies;
    let Some(stored) = access.stored.filter(|_| stores(info) && stores(theirs)) else {
        return false;
    };
    if theirs.width != info.width {
        return false;
    }
    let mine = stored(me.lane, element);
    let lane = (other.thread() & 31) as usize;
    let by_this = other.site() == me.site
        && other.thread() >> 5 == me.thread >> 5
        && lane < me.lane
        && access.lanes >> lane & 1 == 1
        && access.addresses[lane] == access.addresses[me.lane];
    match by_this {
        // Nothing is stored yet.
        true => stored(lane, element) == mine,
        false => access.before.is_some_and(|before| before(me.lane, element) == mine),
    }
}

fn reason(
    scene: &Scene<'_>,
    hints: &FxHashMap<(u32, u32), Hint>,
    me: &Me,
    info: &Info,
    other: Stamp,
) -> Reason {
    let theirs = scene.sites.get(other.site());
    let (from, own) = (scene.numbering.block(other.thread()), scene.block.number);
    let line = |site: u16| scene.sites.get(site).place;
    if other.level() == Level::Copy && other.clock() == MAX_CLOCK {
        return Reason::Copy;
    }
    if theirs.strong && info.strong {
        return match theirs.width != info.width {
            true => Reason::Width,
            false => Reason::Scope,
        };
    }
    if let Some(read) = scene.block.would_know(me.warp, me.lane, other, scene.numbering) {
        return match from == own || scene.sites.get(read).scope == Scope::Device {
            true => Reason::NoAcquire(line(read)),
            false => Reason::Narrow(line(read)),
        };
    }
    match hints.get(&(from, own)) {
        Some(Hint::NoRelease(site)) => return Reason::NoRelease(line(*site)),
        Some(Hint::Narrow(site)) => return Reason::Narrow(line(*site)),
        None => {}
    }
    match (from == own, other.thread() >> 5 == me.thread >> 5) {
        (false, _) => Reason::Blocks,
        (true, true) if other.site() == me.site && info.writes => Reason::SameInstruction,
        (true, true) => Reason::Warp,
        (true, false) => Reason::Barrier,
    }
}

fn side(
    kernel: &Kernel,
    sites: &Sites,
    numbering: Numbering,
    (grid, shape): ([u32; 3], [u32; 3]),
    stamp: Stamp,
    several: bool,
) -> Side {
    let index = |number: u32, [x, y, _]: [u32; 3]| [number % x, number / x % y, number / (x * y)];
    let info = sites.get(stamp.site());
    let block = numbering.block(stamp.thread());
    Side {
        info: *info,
        line: kernel.module().own_line(&[info.place]).map(|(file, line)| (file.to_owned(), line)),
        instruction: crate::site::instruction_name(kernel.module(), info.place),
        block: index(block, grid),
        thread: index(stamp.thread() - (block << numbering.bits), shape),
        several,
    }
}
