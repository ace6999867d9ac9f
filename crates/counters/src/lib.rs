//! Counts what a process moves: transfers by place, kind, call path and object.
//!
//! Counting is adding up: what has everything in common but time is one row with a count, bytes, time bins
//! and the bytes of its objects. So memory grows with the places in the program and the ranks they name,
//! never with what moves, and what is written ([`commsan_rundir::traffic`]) is as small.
//!
//! **What it can miss.** Counts and bytes are exact, always. Details give way where a program has too many
//! of them: tags of a place beyond [`TAGS`], objects beyond 65,536, rows beyond [`ROWS`] lose tag, object or
//! place; scattered extents are rounded outwards (`extents.rs`).

mod clock;
mod extents;
mod objects;
mod order;
mod repeats;
mod rows;
mod snapshot;
mod strings;
mod time;

pub use clock::{now, ticks};
pub use extents::Extents;
pub use objects::{Identity, Object, Objects};
pub use order::User;
pub use repeats::{STEPS, Same, Step, Steps, WORDS};
pub use rows::{Key, ROWS, TAGS};
pub use snapshot::{Origin, write};
pub use strings::Strings;

use clock::Clock;
use commsan_callsite::{Place as Here, StackId, Stacks};
use commsan_process::{heap, modules};
use commsan_rundir::traffic::{Bin, Frame, Link, Memory, Place};
use commsan_shadow::Footprint;
use order::Channels;
use repeats::Repeats;
use rows::Rows;
use rustc_hash::FxHashMap;
use time::Bins;

/// This process's own memory: which rank that is, is not known before MPI is initialised.
pub const HOST: Place = Place::Unknown;

/// Variables of modules that are told apart at most.
const GLOBALS: usize = 4096;

/// Which bytes of an object are concerned: where its block begins, and what is touched.
pub type Part<'a> = (usize, &'a Footprint);

/// How much was moved.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// How many transfers.
    pub count: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// How often each byte that is concerned was moved.
    pub times: u64,
}

impl Amount {
    /// One transfer.
    pub fn one(bytes: u64) -> Amount {
        Amount { count: 1, bytes, times: 1 }
    }
}

/// Time in calls at one place.
#[derive(Debug)]
struct Calls {
    call: u32,
    stack: StackId,
    count: u64,
    time: u64,
    longest: u64,
    bins: Vec<Bin>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Details of one transfer in so many; at least 1.
    pub sample: u32,
    /// Of smaller allocations, only the first of each place are told apart.
    pub objects_from: usize,
    /// When bin 0 begins, in nanoseconds since 1970; now if `None`.
    pub epoch: Option<u64>,
    /// Regions that alone are counted; all if empty.
    pub regions: Vec<String>,
    /// Objects that alone are of interest, by the names that they will have; all if empty.
    pub objects: Vec<String>,
    /// Kernels that alone are watched, by parts of their names; all if empty.
    pub kernels: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        let (regions, objects, kernels) = Default::default();
        Settings { sample: 1, objects_from: 1024, epoch: None, regions, objects, kernels }
    }
}

/// All that a process has counted.
#[derive(Debug)]
pub struct Traffic {
    settings: Settings,
    began: u64,
    clock: Clock,
    bins: Bins,
    /// Call paths.
    pub stacks: Stacks,
    /// Names.
    pub strings: Strings,
    /// Memory.
    pub objects: Objects,
    globals: usize,
    groups: Vec<Vec<Place>>,
    links: Vec<Link>,
    /// What all ranks call them.
    names: Vec<u64>,
    group_names: FxHashMap<u64, u32>,
    handles: FxHashMap<usize, u32>,
    lines: Vec<Frame>,
    line_numbers: FxHashMap<Frame, u32>,
    rows: Rows,
    channels: Channels,
    calls: Vec<Calls>,
    call_numbers: FxHashMap<(u32, StackId), u32>,
    repeats: Repeats,
    regions: Vec<u32>,
    /// This process's number as a processing element of NVSHMEM, and its device.
    pub pe: Option<(u32, u32)>,
    notes: Vec<String>,
}

impl Traffic {
    /// Nothing has moved yet.
    pub fn new(settings: Settings) -> Traffic {
        let began = now();
        let epoch = settings.epoch.filter(|epoch| *epoch <= began).unwrap_or(began);
        Traffic {
            settings,
            began,
            clock: Clock::new(),
            bins: Bins::new(epoch),
            stacks: Stacks::new(),
            strings: Strings::default(),
            objects: Objects::default(),
            globals: 0,
            groups: Vec::new(),
            links: Vec::new(),
            names: Vec::new(),
            group_names: FxHashMap::default(),
            handles: FxHashMap::default(),
            lines: Vec::new(),
            line_numbers: FxHashMap::default(),
            rows: Rows::default(),
            channels: Channels::default(),
            calls: Vec::new(),
            call_numbers: FxHashMap::default(),
            repeats: Repeats::new(),
            regions: Vec::new(),
            pe: None,
            notes: Vec::new(),
        }
    }

    /// How far [`ticks`] counts in so many nanoseconds.
    pub fn ticks_in(&self, nanoseconds: u64) -> u64 {
        self.clock.ticks_in(nanoseconds)
    }

    /// The time of a moment, in nanoseconds since 1970.
    pub fn time_of(&self, ticks: u64) -> u64 {
        self.clock.at(ticks)
    }

    /// What is asked for.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Something for the user to know, once.
    pub fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
        }
    }

    /// The number of the group that has this name; `members` are asked for once.
    pub fn group(&mut self, name: u64, members: impl FnOnce() -> Vec<Place>) -> u32 {
        let next = self.groups.len() as u32;
        *self.group_names.entry(name).or_insert_with(|| {
            self.groups.push(members());
            self.names.push(name);
            next
        })
    }

    /// Another job is known now, as the next of them.
    pub fn add_link(&mut self, link: Link) {
        self.links.push(link);
    }

    /// The members of a group.
    pub fn members(&self, group: u32) -> &[Place] {
        &self.groups[group as usize]
    }

    /// The group of a communicator, by its handle.
    #[inline]
    pub fn group_of(&self, handle: usize) -> Option<u32> {
        self.handles.get(&handle).copied()
    }

    /// From now on a handle means this group; no group, once it is freed.
    pub fn set_group_of(&mut self, handle: usize, group: Option<u32>) {
        self.channels.set_freed(handle, group.is_none());
        match group {
            Some(group) => self.handles.insert(handle, group),
            None => self.handles.remove(&handle),
        };
        self.repeats.forget();
    }

    /// How control came here.
    #[inline]
    pub fn path(&mut self, here: &impl Here) -> StackId {
        here.stack(&mut self.stacks)
    }

    /// The number of a line in a kernel.
    pub fn line(&mut self, function: &str, file: &str, line: u32) -> u32 {
        let frame = Frame::Line(self.strings.number(function), self.strings.number(file), line);
        let next = self.lines.len() as u32;
        *self.line_numbers.entry(frame).or_insert_with(|| {
            self.lines.push(frame);
            next
        })
    }

    /// A part of the program begins that is counted on its own.
    pub fn begin_region(&mut self, name: &str) {
        let name = self.strings.number(name);
        self.regions.push(name);
    }

    /// The region that began last ends.
    pub fn end_region(&mut self) {
        self.regions.pop();
    }

    /// The region that the program is in.
    pub fn region(&self) -> Option<u32> {
        self.regions.last().copied()
    }

    /// The object at an address, and where its block begins: what was allocated, a variable on this
    /// thread's stack, or one of a module.
    pub fn object_at(&mut self, address: usize, here: &dyn Here) -> Option<(u32, usize)> {
        if let Some(found) = self.objects.at(address) {
            return Some(found);
        }
        if let Some(object) = self.objects.on_stack(here, address, &mut self.stacks) {
            return Some((object, address));
        }
        self.global_at(address)
    }

    /// The variable of a module. How long it is, the module's symbol table will tell; until then each
    /// address that is used is one of its own.
    #[cold]
    fn global_at(&mut self, address: usize) -> Option<(u32, usize)> {
        if self.globals >= GLOBALS {
            return None;
        }
        let (path, offset) = modules::data_at(address)?;
        self.globals += 1;
        let module = self.strings.number(&path.to_string_lossy());
        let memory = Memory::Global(module, offset);
        let identity =
            Identity { memory, place: HOST, stack: Stacks::EMPTY, call: None, name: None };
        self.objects.allocated(address..address + 1, identity);
        self.objects.at(address)
    }

    /// A block of the heap that nobody was told of when it was allocated, since many small ones were there before.
    fn small_at(&mut self, address: usize) -> bool {
        let Some(block) = heap::block_of(address) else { return false };
        heap::tell(block.start);
        let (memory, stack) = (Memory::Heap, Stacks::EMPTY);
        let identity = Identity { memory, place: HOST, stack, call: None, name: None };
        self.objects.allocated(block, identity);
        true
    }

    /// The program has given the block or variable that holds an address a name.
    pub fn named(&mut self, address: usize, name: &str) {
        if self.objects.at(address).is_none() && !self.small_at(address) {
            self.global_at(address);
        }
        let name = self.strings.number(name);
        self.objects.named(address, name);
    }

    /// Counts transfers to each target, at a moment. Returns the number of the row, if that is counted.
    #[inline]
    pub fn moved(
        &mut self,
        ticks: u64,
        key: Key,
        amount: Amount,
        part: Option<Part>,
        other: Option<Part>,
    ) -> Option<u32> {
        if !self.is_wanted() {
            return None;
        }
        let bin = self.bin(ticks);
        let known = self.rows.all().len();
        let number = self.rows.of(key);
        if self.rows.all().len() > known {
            [key.object, key.other]
                .into_iter()
                .flatten()
                .for_each(|object| self.objects.moves(object));
        }
        let row = self.rows.row(number);
        if self.settings.sample == 1 || row.count.is_multiple_of(u64::from(self.settings.sample)) {
            if let Some((base, footprint)) = part {
                row.extents.add(base as u64, footprint, amount.times);
            }
            if let Some((base, footprint)) = other {
                row.others.add(base as u64, footprint, amount.times);
            }
        }
        row.add(bin, amount.count, amount.bytes);
        Some(number)
    }

    /// The channel of a message that is about to be counted, if its place among others is known.
    #[inline]
    pub fn channel(&mut self, key: &Key, user: User) -> Option<u32> {
        let name = *self.names.get(key.group? as usize)?;
        self.channels.of(key, name, user)
    }

    /// A message that was counted in `row`, if that counts, is the next one of its channel.
    #[inline]
    pub fn next_in(&mut self, channel: u32, row: Option<u32>, user: User) {
        let number = self.channels.next(channel, user);
        if let Some(row) = row {
            self.rows.row(row).order.add(number);
        }
    }

    /// A message has come out of its order.
    pub fn out_of_order(&mut self, channel: u32) {
        self.channels.lose(channel);
    }

    /// Something has come out of the order of what is received on communicators of a group; nothing is in order any more,
    /// without one.
    pub fn without_order(&mut self, group: Option<u32>) {
        self.channels.lose_received(group);
    }

    /// Counts a call that has been remembered, from one moment to another; false if it is not known.
    #[inline]
    pub fn repeated(&mut self, same: &Same, thread: u32, begin: u64, end: u64) -> bool {
        let Some(Steps { calls, steps }) = self.repeats.find(same) else { return false };
        let is_there = |step: &Step| self.objects.at(step.memory.0) == step.memory.1;
        if !steps.iter().flatten().all(is_there) {
            return false;
        }
        let bin = self.bin(end);
        let sample = u64::from(self.settings.sample);
        for step in steps.iter().flatten() {
            let row = self.rows.row(step.row);
            if let (start, Some((_, base))) = step.memory
                && (sample == 1 || row.count.is_multiple_of(sample))
            {
                row.extents.add_run((start - base) as u64, step.size, 1);
            }
            row.add(bin, 1, step.bytes);
            if let Some((channel, comm)) = step.channel {
                row.order.add(self.channels.next(channel, User { comm, thread, time: begin }));
            }
        }
        self.add_time(calls, bin, begin, end);
        true
    }

    /// The same call will add to this again.
    pub fn remember(&mut self, same: Same, steps: Steps) {
        self.repeats.remember(same, steps);
    }

    /// What handles mean has changed.
    pub fn forget_calls(&mut self) {
        self.repeats.forget();
    }

    /// Whether the region was asked for.
    #[inline]
    fn is_wanted(&self) -> bool {
        self.settings.regions.is_empty() || self.is_in_wanted_region()
    }

    #[cold]
    fn is_in_wanted_region(&self) -> bool {
        let wanted = &self.settings.regions;
        self.regions
            .iter()
            .any(|region| wanted.iter().any(|name| name == self.strings.get(*region)))
    }

    /// Counts a call from one moment to another. Returns its number among places of calls.
    #[inline]
    pub fn called(&mut self, call: u32, stack: StackId, begin: u64, end: u64) -> u32 {
        let next = self.calls.len() as u32;
        let number = *self.call_numbers.entry((call, stack)).or_insert_with(|| {
            let (count, time, longest, bins) = Default::default();
            self.calls.push(Calls { call, stack, count, time, longest, bins });
            next
        });
        let bin = self.bin(end);
        self.add_time(number, bin, begin, end);
        number
    }

    #[inline]
    fn add_time(&mut self, calls: u32, bin: u32, begin: u64, end: u64) {
        let time = self.clock.between(begin, end);
        let calls = &mut self.calls[calls as usize];
        calls.count += 1;
        calls.time += time;
        calls.longest = calls.longest.max(time);
        time::add(&mut calls.bins, bin, 1, time);
    }

    #[inline]
    fn bin(&mut self, ticks: u64) -> u32 {
        let Traffic { bins, rows, calls, .. } = self;
        let mut time = self.clock.at(ticks);
        if !bins.is_current(time) {
            self.clock.set();
            time = self.clock.at(ticks);
        }
        bins.at(time, || {
            rows.coarsen();
            calls.iter_mut().for_each(|calls| time::coarsen(&mut calls.bins));
        })
    }
}
