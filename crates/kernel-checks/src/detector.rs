//! The detector of one launch: an observer of its accesses and of what orders them.

use crate::barriers::{Arrived, Wrong, left_out};
use crate::explain::{Hint, Names, is_same, reason};
use crate::mistake::Mistake;
use crate::order::{Block, Flag, Flags, Known, Numbering, join, lanes_of};
use crate::race::Race;
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
/// Maximum number of other mistakes that are reported of a launch.
const MAX_OTHERS: usize = 64;
/// What memory of devices holds until it is written, from each address that is a multiple of four.
/// As numbers of floating point it is none.
pub const FRESH: [u8; 4] = [0xc3, 0xe7, 0xf5, 0xff];
/// Bytes of a warp's access that must all be [`FRESH`] if those of a lane are too few to tell.
const ENOUGH: u64 = 16;
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
    /// Instructions, and what else is wrong with them, that were told.
    told_others: FxHashSet<(Place, Place)>,
    found: Vec<Mistake>,
    /// Reads of what nobody has written, by their instructions, until it is known that they do not
    /// race with who writes it.
    unwritten: Vec<(Mistake, u16)>,
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
            told_others: FxHashSet::default(),
            found: Vec::new(),
            unwritten: Vec::new(),
            same: Vec::new(),
        })
    }

    /// What was found since the last call; `done` says that there will be no more.
    pub fn take(&mut self, done: bool) -> Vec<Mistake> {
        let mut found = std::mem::take(&mut self.found);
        if done {
            let told = &self.told;
            let same = std::mem::take(&mut self.same).into_iter();
            let only = same.filter(|(_, (a, b))| !told.contains(&(*a, *b, false)));
            found.extend(only.map(|(race, _)| Mistake::Race(race)));
            let races = |site| told.iter().any(|(a, b, _)| [a, b].contains(&&site));
            let unwritten = std::mem::take(&mut self.unwritten).into_iter();
            found.extend(unwritten.filter(|(_, site)| !races(*site)).map(|(mistake, _)| mistake));
        }
        found
    }

    fn names(&self) -> Names<'_> {
        let Detector { kernel, numbering, grid, shape, .. } = self;
        Names { kernel, numbering: *numbering, grid: *grid, shape: *shape }
    }

    /// Whether a mistake between two instructions, or of one, is still to be told.
    fn is_new(&mut self, one: Place, other: Place) -> bool {
        self.told_others.len() < MAX_OTHERS && self.told_others.insert((one, other))
    }

    /// A barrier is used wrongly.
    fn misused(&mut self, block: u32, me: Arrived, (wrong, other): (Wrong, Option<Arrived>)) {
        if !self.is_new(me.by, other.map_or(me.by, |other| other.by)) {
            return;
        }
        let names = self.names();
        let spot = |it: Arrived| {
            names.spot(it.by, (block << self.numbering.bits) + it.warp * 32 + it.lane as u32)
        };
        let (at, other) = (spot(me), other.map(spot));
        self.found.push(Mistake::Synchronisation { wrong, at, other });
    }

    /// A thread reads what nobody has written.
    fn reads_uninitialised(&mut self, site: u16, thread: u32, (is_shared, bytes): (bool, u64)) {
        let info = *self.sites.get(site);
        if !self.is_new(info.place, Place { function: u32::MAX, instruction: u32::from(is_shared) })
        {
            return;
        }
        let names = self.names();
        let by = names.side(&info, thread, false);
        let memory = names.memory(is_shared, bytes, info.width.into());
        self.unwritten.push((Mistake::Uninitialised { by, memory }, site));
    }

    /// Looks for lanes that read global memory which was not written since it was allocated.
    fn look_at_contents(&mut self, access: &Access<'_>, at: usize, site: u16) {
        let reads = self.sites.get(site).reads;
        let Some(repeats) = access.repeats.filter(|_| reads) else { return };
        let fresh = repeats(FRESH);
        if fresh == 0 {
            return;
        }
        let lane = fresh.trailing_zeros() as usize;
        let is_enough = access.size >= FRESH.len() as u64 || {
            let (mut lowest, mut highest) = (u64::MAX, 0);
            for lane in lanes_of(access.lanes) {
                lowest = lowest.min(access.addresses[lane]);
                highest = highest.max(access.addresses[lane]);
            }
            fresh == access.lanes && highest - lowest >= ENOUGH
        };
        if is_enough {
            let thread = self.blocks[at].thread(access.warp, lane);
            self.reads_uninitialised(site, thread, (false, access.addresses[lane]));
        }
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
        let site = self.sites.number(module, place, part, access.width);
        let at = self.block(access.block);
        let block = &mut self.blocks[at];
        let Some(site) = site.filter(|_| !block.lost) else {
            block.missed |= is_shared;
            return;
        };
        let info = *self.sites.get(site);
        if info.object {
            block.missed |= is_shared && info.writes && !info.reads;
            return;
        }
        if !is_shared {
            self.look_at_contents(access, at, site);
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
        let reserved = u64::from(self.kernel.reserved_shared());
        let looks = is_shared && info.reads && !block.missed;
        let mut unwritten = None;
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
                if looks
                    && address + offset >= reserved
                    && cells
                        .as_deref()
                        .is_some_and(|all| all.iter().all(|it| scene.is_unwritten(it)))
                {
                    unwritten = unwritten.or(Some((thread, address + offset)));
                }
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
                    let names = Names {
                        kernel: &self.kernel,
                        numbering: self.numbering,
                        grid: self.grid,
                        shape: self.shape,
                    };
                    let memory = names.memory(is_shared, bytes, access.width);
                    let several = matches!(other.level(), Level::Warp | Level::Block);
                    let first = names.side(sites.get(other.site()), other.thread(), several);
                    let second = names.side(&info, me.thread, false);
                    let race = Race { first, second, memory, reason, same };
                    self.told.insert(key);
                    self.told.insert((site, other.site(), same));
                    match same {
                        true => self.same.push((race, (other.site(), site))),
                        false => self.found.push(Mistake::Race(race)),
                    }
                }
            }
        }
        self.blocks[at].shared = own;
        if let Some((thread, bytes)) = unwritten {
            self.reads_uninitialised(site, thread, (true, bytes));
        }
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
            Event::Arrive { barrier, generation, whole, waits, count, aligned, by } => {
                let block = &mut self.blocks[at];
                block.arrive(warp, lanes, (barrier, generation), whole && waits);
                let me = Arrived { by, warp, lane: lanes.trailing_zeros() as usize };
                let (id, count) = ((barrier, generation), count.filter(|_| !whole));
                if let Some(wrong) = block.barriers.arrive(me, lanes, id, count, aligned) {
                    self.misused(number as u32, me, wrong);
                }
            }
            Event::Exchange { members, by } => {
                if let Some(lane) = left_out(members, lanes) {
                    let wrong = (Wrong::NotAMember(members), None);
                    self.misused(number as u32, Arrived { by, warp, lane }, wrong);
                }
            }
            Event::Pass { barrier, generation } => {
                self.blocks[at].pass(warp, lanes, (barrier, generation));
            }
            Event::Converge => self.blocks[at].converge(warp, lanes),
            Event::Mbarrier { address, does, completes, excess, by } => {
                for lane in lanes_of(lanes) {
                    let me = Arrived { by, warp, lane };
                    let wrong = self.blocks[at].barriers.use_object(me, address, does, excess);
                    if let Some(wrong) = wrong {
                        self.misused(number as u32, me, wrong);
                    }
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
