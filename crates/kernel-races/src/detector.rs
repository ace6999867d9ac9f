//! The detector of one launch: an observer of its accesses and of what orders them.

use crate::explain::{Hint, is_same, reason, side};
use crate::order::{Block, Flag, Flags, Known, Numbering, join, lanes_of};
use crate::race::{Race, Where};
use crate::scene::{Me, Scene};
use crate::shadow::{Cell, Memory};
use crate::site::{Info, Part, Scope, Sites};
use crate::stamp::{Level, MAX_THREADS, Stamp};
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
