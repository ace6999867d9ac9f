//! Communication counters of one process: transfers by call site, kind, call path and object.
//!
//! Transfers that agree in everything but time share one row with a count, bytes, time bins and the
//! bytes of its objects. Memory therefore grows with the call sites of the program and the ranks
//! they address, never with the volume, and the file written ([`commsan_rundir::traffic`]) is as
//! small.
//!
//! **What it can miss.** Counts and bytes are always exact. Details are dropped where a program has
//! too many: beyond [`MAX_TAGS`] tags of a call site, 65,536 objects or [`MAX_ROWS`] rows, a row
//! loses its tag, object or call site; scattered extents are rounded outwards (`extents.rs`).

mod call_cache;
mod clock;
mod events;
mod extents;
mod objects;
mod order;
mod rows;
mod snapshot;
mod strings;
mod time;

pub use call_cache::{CallSignature, MAX_STEPS, Step, Steps, WORDS};
pub use clock::{now, ticks};
pub use events::{EventOf, Meeting, write_events};
pub use extents::Extents;
pub use objects::{Identity, Object, Objects};
pub use order::User;
pub use rows::{Key, MAX_ROWS, MAX_TAGS, Path};
pub use snapshot::{Origin, write};
pub use strings::Strings;

use call_cache::CallCache;
use clock::Clock;
use commsan_callsite::{Place as Here, StackId, Stacks};
use commsan_process::{heap, modules};
use commsan_rundir::events::{Part, Shape, What};
use commsan_rundir::traffic::{Bin, Frame, Link, Memory, Place};
use commsan_shadow::Footprint;
use events::Events;
use order::Channels;
use rows::Rows;
use rustc_hash::FxHashMap;
use time::Bins;

/// This process's own memory: its rank is unknown before MPI is initialised.
pub const HOST: Place = Place::Unknown;

/// Number of call sites and partners beyond which partners are not told apart.
const MAX_CALLS: usize = 1 << 14;

/// Bytes for events, unless the user says otherwise.
const DEFAULT_EVENTS: u64 = 64 << 20;

/// Maximum number of distinguished variables of modules.
const MAX_GLOBALS: usize = 4096;

/// The bytes of an object concerned: the first address of its block, and the footprint.
pub type Touched<'a> = (usize, &'a Footprint);

/// An amount of data transferred.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Number of transfers.
    pub count: u64,
    /// Bytes of all transfers together.
    pub bytes: u64,
    /// How often each byte concerned was transferred.
    pub times: u64,
}

impl Amount {
    /// A single transfer of `bytes` bytes.
    pub fn one(bytes: u64) -> Amount {
        Amount { count: 1, bytes, times: 1 }
    }
}

/// Time spent in calls at one call site.
#[derive(Debug)]
struct Calls {
    call: u32,
    stack: StackId,
    partner: Partner,
    count: u64,
    time: u64,
    longest: u64,
    bins: Vec<Bin>,
}

/// With whom a call communicates, as far as its arguments say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Partner {
    /// The communicator's group.
    pub group: Option<u32>,
    /// The only other end.
    pub peer: Option<Place>,
}

/// What the user asked to be counted.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Record details of one transfer in `sample`; at least 1.
    pub sample: u32,
    /// In bytes: of smaller allocations, only the first of each call site are tracked one by one.
    pub objects_from: usize,
    /// Beginning of bin 0, in nanoseconds since 1970; `None` means now.
    pub epoch: Option<u64>,
    /// Count in these regions only; in all if empty.
    pub regions: Vec<String>,
    /// Restrict the profile to objects with these names; no restriction if empty.
    pub objects: Vec<String>,
    /// Bytes for events; none are recorded if 0.
    pub events: u64,
    /// Watch only kernels whose names contain one of these strings; all if empty.
    pub kernels: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        let (regions, objects, kernels) = Default::default();
        let (events, epoch) = (DEFAULT_EVENTS, None);
        Settings { sample: 1, objects_from: 1024, epoch, regions, objects, events, kernels }
    }
}

/// Everything that a process has counted.
#[derive(Debug)]
pub struct Traffic {
    settings: Settings,
    began: u64,
    clock: Clock,
    bins: Bins,
    /// The interned call paths.
    pub stacks: Stacks,
    /// The interned names.
    pub strings: Strings,
    /// The memory objects.
    pub objects: Objects,
    globals: usize,
    groups: Vec<Vec<Place>>,
    links: Vec<Link>,
    /// For each group, its name common to all ranks.
    names: Vec<u64>,
    group_names: FxHashMap<u64, u32>,
    handles: FxHashMap<usize, u32>,
    lines: Vec<Frame>,
    line_numbers: FxHashMap<Frame, u32>,
    rows: Rows,
    channels: Channels,
    calls: Vec<Calls>,
    call_numbers: FxHashMap<(u32, StackId, Partner), u32>,
    repeats: CallCache,
    /// Those that are open, and when each has begun, in ticks.
    regions: Vec<(u32, u64)>,
    events: Option<Events>,
    /// NVSHMEM: this process's number as a processing element, and its device.
    pub pe: Option<(u32, u32)>,
    notes: Vec<String>,
}

impl Traffic {
    /// Counters at zero.
    pub fn new(settings: Settings) -> Traffic {
        let began = now();
        let epoch = settings.epoch.filter(|epoch| *epoch <= began).unwrap_or(began);
        let events = (settings.events > 0).then(|| Events::new(settings.events, epoch));
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
            repeats: CallCache::new(),
            regions: Vec::new(),
            events,
            pe: None,
            notes: Vec::new(),
        }
    }

    /// The number of [`ticks`] in `nanoseconds`.
    pub fn ticks_in(&self, nanoseconds: u64) -> u64 {
        self.clock.ticks_in(nanoseconds)
    }

    /// The time of a timestamp, in nanoseconds since 1970.
    pub fn time_of(&self, ticks: u64) -> u64 {
        self.clock.at(ticks)
    }

    /// The settings that these counters follow.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Adds a note for the user; a repeated note is kept once.
    pub fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
        }
    }

    /// The number of the group with this name; `members` is called only for a new group.
    pub fn group(&mut self, name: u64, members: impl FnOnce() -> Vec<Place>) -> u32 {
        let next = self.groups.len() as u32;
        *self.group_names.entry(name).or_insert_with(|| {
            self.groups.push(members());
            self.names.push(name);
            next
        })
    }

    /// Adds the link to another job; links are numbered in this order.
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

    /// Binds a communicator handle to a group; `None` when the communicator is freed.
    pub fn set_group_of(&mut self, handle: usize, group: Option<u32>) {
        self.channels.set_freed(handle, group.is_none());
        match group {
            Some(group) => self.handles.insert(handle, group),
            None => {
                if let Some(events) = &mut self.events {
                    events.forget(handle);
                }
                self.handles.remove(&handle)
            }
        };
        self.repeats.forget();
    }

    /// The call path to the current call.
    #[inline]
    pub fn path(&mut self, here: &impl Here) -> StackId {
        here.stack(&mut self.stacks)
    }

    /// The number of a source line in a kernel.
    pub fn line(&mut self, function: &str, file: &str, line: u32) -> u32 {
        let frame = Frame::Line(self.strings.number(function), self.strings.number(file), line);
        let next = self.lines.len() as u32;
        *self.line_numbers.entry(frame).or_insert_with(|| {
            self.lines.push(frame);
            next
        })
    }

    /// Begins a user-defined region, which is counted separately.
    pub fn begin_region(&mut self, name: &str) {
        let name = self.strings.number(name);
        self.regions.push((name, ticks()));
    }

    /// Ends the innermost region, as thread number `thread`.
    pub fn end_region(&mut self, thread: u32) {
        let Some((name, begin)) = self.regions.pop() else { return };
        let Some(events) = &mut self.events else { return };
        if let Some(shape) = events.shape(Shape::new(What::Region(name), thread)) {
            events.record(shape, (begin, ticks()), &[], &self.clock);
        }
    }

    /// The innermost region that is open.
    pub fn region(&self) -> Option<u32> {
        self.regions.last().map(|(name, _)| *name)
    }

    /// The object at an address and the first address of its block: an allocation, a variable on
    /// this thread's stack, or a variable of a module.
    pub fn object_at(&mut self, address: usize, here: &dyn Here) -> Option<(u32, usize)> {
        if let Some(found) = self.objects.at(address) {
            return Some(found);
        }
        if let Some(object) = self.objects.on_stack(here, address, &mut self.stacks) {
            return Some((object, address));
        }
        self.global_at(address)
    }

    /// The module variable at an address. Its length is known only from the module's symbol table,
    /// after the run; until then each address used is a variable of its own.
    #[cold]
    fn global_at(&mut self, address: usize) -> Option<(u32, usize)> {
        if self.globals >= MAX_GLOBALS {
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

    /// Tracks a small heap block that was not reported when it was allocated, because its call site
    /// had allocated many small ones before.
    fn small_at(&mut self, address: usize) -> bool {
        let Some(block) = heap::block_of(address) else { return false };
        heap::mark_reported(block.start);
        let (memory, stack) = (Memory::Heap, Stacks::EMPTY);
        let identity = Identity { memory, place: HOST, stack, call: None, name: None };
        self.objects.allocated(block, identity);
        true
    }

    /// The program names the block or variable that holds an address.
    pub fn named(&mut self, address: usize, name: &str) {
        if self.objects.at(address).is_none() && !self.small_at(address) {
            self.global_at(address);
        }
        let name = self.strings.number(name);
        self.objects.named(address, name);
    }

    /// Counts transfers to each target, at the time `ticks`. Returns the number of the row, if the
    /// transfer is counted.
    #[inline]
    pub fn record_transfer(
        &mut self,
        ticks: u64,
        key: Key,
        amount: Amount,
        part: Option<Touched>,
        other: Option<Touched>,
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
                .for_each(|object| self.objects.mark_transferred(object));
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

    /// The channel of a message about to be counted, if its ordinal in the channel is known.
    #[inline]
    pub fn channel(&mut self, key: &Key, user: User) -> Option<u32> {
        let name = *self.names.get(key.group? as usize)?;
        self.channels.of(key, name, user)
    }

    /// The next message of a channel; it was counted in `row`, if it was counted at all.
    #[inline]
    pub fn record_message(&mut self, channel: u32, row: Option<u32>, user: User) {
        let number = self.channels.next(channel, user);
        if let Some(row) = row {
            self.rows.row(row).order.add(number);
        }
    }

    /// A message was matched out of order: the channel's ordinals are unknown from now on.
    pub fn lose_order(&mut self, channel: u32) {
        self.channels.lose(channel);
    }

    /// A receive on a communicator of `group` was matched out of order; `None` invalidates the
    /// order of every channel.
    pub fn lose_receive_order(&mut self, group: Option<u32>) {
        self.channels.lose_received(group);
    }

    /// Counts a remembered call that ran from `begin` to `end`, in ticks, and has begun what
    /// `request` stands for; false if it is not remembered.
    #[inline]
    pub fn record_repeated(
        &mut self,
        same: &CallSignature,
        thread: u32,
        (begin, end): (u64, u64),
        request: Option<usize>,
    ) -> bool {
        let Some(Steps { calls, event, steps }) = self.repeats.find(same) else { return false };
        let is_there = |step: &Step| self.objects.at(step.memory.0) == step.memory.1;
        if !steps.iter().flatten().all(is_there) {
            return false;
        }
        let bin = self.bin(end);
        let sample = u64::from(self.settings.sample);
        let mut parts = [Part::default(); MAX_STEPS];
        let mut number = 0;
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
            parts[number] = self.part_of(step.channel.map(|(channel, _)| channel), step.bytes);
            number += 1;
        }
        self.add_time(calls, bin, begin, end);
        if let Some(of) = event {
            self.record_event(of, (begin, end), &parts[..number]);
            if let Some(request) = request {
                self.begun(of, request, &parts[..number]);
            }
        }
        true
    }

    /// Remembers which rows and counters a call adds to.
    pub fn remember(&mut self, same: CallSignature, steps: Steps) {
        self.repeats.remember(same, steps);
    }

    /// Forgets all remembered calls, because the meaning of handles has changed.
    pub fn forget_calls(&mut self) {
        self.repeats.forget();
    }

    /// Whether the settings ask for the current region.
    #[inline]
    fn is_wanted(&self) -> bool {
        self.settings.regions.is_empty() || self.is_in_wanted_region()
    }

    #[cold]
    fn is_in_wanted_region(&self) -> bool {
        let wanted = &self.settings.regions;
        self.regions
            .iter()
            .any(|(region, _)| wanted.iter().any(|name| name == self.strings.get(*region)))
    }

    /// Counts a call that ran from `begin` to `end`, in ticks. Returns its number among call sites.
    #[inline]
    pub fn record_call(
        &mut self,
        call: u32,
        stack: StackId,
        partner: Partner,
        (begin, end): (u64, u64),
    ) -> u32 {
        let next = self.calls.len() as u32;
        let partner = if self.calls.len() < MAX_CALLS { partner } else { Partner::default() };
        let number = *self.call_numbers.entry((call, stack, partner)).or_insert_with(|| {
            let (count, time, longest, bins) = Default::default();
            self.calls.push(Calls { call, stack, partner, count, time, longest, bins });
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
