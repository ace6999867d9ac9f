//! One table out of many: what ranks wrote, taken one at a time, so that no more than one is
//! unpacked.
//!
//! Nothing is named here yet. Places, call paths and objects are kept as the ranks record them,
//! each once.

mod events;

use crate::events::Log;
use crate::model::{CallRow, Clock, End, Pattern, Row, Site};
use crate::packed::{List, Packed};
use commsan_rundir::traffic::{self, Calls, Frame, Memory, Side, Snapshot, Transfer};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::Hash;

/// Things in the order of their first mention, each once; their numbers are positions.
pub type Table<T> = IndexSet<T, FxBuildHasher>;

/// A rank of one of the run's jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rank {
    /// The job, in the order in which they were met.
    pub job: u32,
    /// Its number there.
    pub rank: u32,
}

impl std::fmt::Display for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Rank { job, rank } = self;
        write!(f, "rank {rank}")?;
        if *job > 0 {
            write!(f, " of job {}", job + 1)?;
        }
        Ok(())
    }
}

/// A job of a run. There may be several: one after the other, or one that another has spawned.
#[derive(Clone, Debug)]
pub struct Job {
    /// The largest size that any of its processes has recorded.
    pub size: u32,
    /// Its size by those processes that MPI has given it.
    of_mpi: Option<u32>,
    /// Numbers of groups by how ranks record them, where all ranks mean the same by that.
    known_groups: FxHashMap<Vec<traffic::Place>, u32>,
}

/// Where a job has met another, as one of them records it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The job that records it.
    pub job: u32,
    /// What the other one is to it.
    pub tie: traffic::Tie,
    /// Ranks of this job, in order.
    pub own: Vec<u32>,
    /// How many there are of the other.
    pub others: u32,
    /// Of several that are alike, the how manieth.
    pub nth: u32,
}

/// A place as ranks record it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RawPlace {
    /// A rank.
    Rank(Rank),
    /// A device of a host (a string).
    Device(u32, u32),
    /// A device of a rank's host.
    DeviceOf(Rank, u32),
    /// The device of a processing element of NVSHMEM, of a job.
    Pe(u32, u32),
    /// A rank of another job, at the other end of a link: the link, rank there.
    Linked(u32, u32),
    /// A file (a string).
    File(u32),
    /// Not known.
    Unknown,
}

/// An object as ranks record it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RawObject {
    /// What kind of memory.
    pub memory: Memory,
    /// Call path of the allocation.
    pub stack: u32,
    /// Name that the program gave: a string.
    pub name: Option<u32>,
}

/// An object at a place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lying {
    /// Size of the largest.
    pub bytes: u64,
    /// How many there were.
    pub count: u64,
    /// Address of the first.
    pub address: u64,
}

impl Lying {
    /// Takes another rank's, or another call's, with it.
    pub fn join(&mut self, other: Lying) {
        self.bytes = self.bytes.max(other.bytes);
        self.count = self.count.saturating_add(other.count);
        if self.address == 0 {
            self.address = other.address;
        }
    }
}

/// A rank that has left a file.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// Its host: a string.
    pub host: u32,
    /// When it began and when it wrote this, in nanoseconds since 1970.
    pub span: (u64, u64),
    /// Whether it has ended in order.
    pub complete: bool,
}

/// All files together. Numbers in `rows` are positions in the tables here.
#[derive(Default)]
pub struct Merged {
    /// Jobs, by what their processes have in common.
    pub jobs: IndexMap<String, Job, FxBuildHasher>,
    /// Ranks by number.
    pub ranks: FxHashMap<Rank, Present>,
    /// Devices of processing elements of NVSHMEM, by job and number: host (a string), number there.
    pub pes: FxHashMap<(u32, u32), (u32, u32)>,
    /// Names of hosts, functions, files, calls, variables.
    pub strings: Table<String>,
    /// Names of regions.
    pub regions: Table<String>,
    /// Paths of executables and libraries.
    pub modules: Table<String>,
    /// Call paths.
    pub stacks: Table<Vec<Frame>>,
    /// Places.
    pub places: Table<RawPlace>,
    /// Where jobs have met others.
    pub links: Table<Link>,
    /// When that was, in nanoseconds since 1970, by number of the link.
    pub spans: FxHashMap<u32, (u64, u64)>,
    /// Groups, of places.
    pub groups: Table<Vec<u32>>,
    /// Allocation sites and variables.
    pub objects: Table<RawObject>,
    /// What their `beside` says, of those that have some; empty where ranks do not agree.
    pub beside: FxHashMap<u32, Vec<u64>>,
    /// Objects at places, by both.
    pub instances: IndexMap<(u32, u32), Lying, FxBuildHasher>,
    /// Devices with the memory of windows, by the window and its rank's place; nothing where it is
    /// sometimes on one, sometimes not.
    pub windows: FxHashMap<(u32, u32), Option<u32>>,
    /// Calls at the end of call paths.
    pub sites: Table<Site>,
    /// What was moved.
    pub rows: Vec<Row>,
    /// Time in calls; `place` is the rank's.
    pub calls: Vec<CallRow>,
    /// Time bins and extents.
    pub packed: Packed,
    /// What the numbers of time bins mean.
    pub clocks: Table<Clock>,
    /// The last bin of each clock that occurs.
    pub last_bins: Vec<u32>,
    /// How many rows had a pattern at both ends, which means nothing.
    pub meaningless: u64,
    /// Names of the objects that alone are of interest; all if empty.
    pub only: Table<String>,
    /// Regions, the same.
    pub only_regions: Table<String>,
    /// Kernels, the same.
    pub only_kernels: Table<String>,
    /// Samples that details are of, where not all: one in so many.
    pub sample: u32,
    /// What ranks did when.
    pub log: Log,
    /// The ranks' notes, each with the first rank that has it and how many do.
    pub notes: IndexMap<String, (Rank, u32), FxBuildHasher>,
}

/// What the numbers of one file are in all.
struct Numbers {
    job: u32,
    host: u32,
    clock: u32,
    strings: Vec<u32>,
    modules: Vec<u32>,
    stacks: Vec<u32>,
    links: Vec<u32>,
    groups: Vec<u32>,
    instances: Vec<u32>,
}

fn number<T: Hash + Eq>(table: &mut Table<T>, item: T) -> u32 {
    table.insert_full(item).0 as u32
}

impl Merged {
    /// Takes what a rank has written.
    ///
    /// # Errors
    /// When another file was this rank's.
    pub fn add(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        let known = self.jobs.get_full(&snapshot.job);
        let job = known.as_ref().map_or(self.jobs.len(), |(job, ..)| *job) as u32;
        let rank = Rank { job, rank: snapshot.rank };
        if self.ranks.contains_key(&rank) {
            return Err(format!("it is of rank {}, which has another one", snapshot.rank));
        }
        let has_mpi = !matches!(&*snapshot.mpi, "" | "no MPI");
        if let Some(size) = known.and_then(|(.., job)| job.of_mpi)
            && has_mpi
            && snapshot.size != size
        {
            let other = snapshot.size;
            return Err(format!("it is of another job, of {other} ranks instead of {size}"));
        }
        let least = snapshot.size.max(snapshot.rank.saturating_add(1));
        let known = self.jobs.entry(snapshot.job.clone()).or_insert_with(|| Job {
            size: least,
            of_mpi: None,
            known_groups: FxHashMap::default(),
        });
        known.size = known.size.max(least);
        known.of_mpi = known.of_mpi.or(has_mpi.then_some(snapshot.size));
        let mut numbers = self.numbers(snapshot, job);
        self.ranks.insert(
            rank,
            Present {
                host: numbers.host,
                span: (snapshot.began, snapshot.until.max(snapshot.began)),
                complete: snapshot.complete,
            },
        );
        if let Some((pe, device)) = snapshot.pe {
            self.pes.entry((job, pe)).or_insert((numbers.host, device));
        }
        self.sample = self.sample.max(snapshot.sample);
        self.only.extend(snapshot.only.iter().cloned());
        self.only_regions.extend(snapshot.only_regions.iter().cloned());
        self.only_kernels.extend(snapshot.only_kernels.iter().cloned());
        self.groups(snapshot, &mut numbers);
        self.objects(snapshot, &mut numbers);
        for transfer in &snapshot.transfers {
            match self.row(transfer, snapshot, &numbers) {
                Some(row) => self.rows.push(row),
                None => self.meaningless += 1,
            }
        }
        for calls in &snapshot.calls {
            let row = self.calls_row(calls, snapshot, &numbers);
            self.calls.push(row);
        }
        for note in &snapshot.notes {
            self.notes.entry(note.clone()).or_insert((rank, 0)).1 += 1;
        }
        Ok(())
    }

    fn numbers(&mut self, snapshot: &Snapshot, job: u32) -> Numbers {
        let host = number(&mut self.strings, snapshot.host.clone());
        let clock = Clock { epoch: snapshot.epoch, width: snapshot.bin };
        let clock = number(&mut self.clocks, clock);
        self.last_bins.resize(self.clocks.len(), 0);
        let strings = snapshot.strings.iter();
        let strings: Vec<u32> = strings.map(|s| number(&mut self.strings, s.clone())).collect();
        let modules = snapshot.modules.iter();
        let modules: Vec<u32> = modules.map(|m| number(&mut self.modules, m.clone())).collect();
        let frame = |frame: &Frame| match *frame {
            Frame::Code(module, offset) => Frame::Code(modules[module as usize], offset),
            Frame::Line(function, file, line) => {
                Frame::Line(strings[function as usize], strings[file as usize], line)
            }
        };
        let stacks = snapshot.stacks.iter();
        let stacks = stacks
            .map(|stack| number(&mut self.stacks, stack.iter().map(frame).collect::<Vec<_>>()))
            .collect();
        let links = self.links(snapshot, job);
        let (groups, instances) = Default::default();
        Numbers { job, host, clock, strings, modules, stacks, links, groups, instances }
    }

    /// Links are the same for all ranks that have taken part, but for the time that it took each.
    fn links(&mut self, snapshot: &Snapshot, job: u32) -> Vec<u32> {
        let mut numbers: Vec<u32> = vec![];
        for of in &snapshot.links {
            let traffic::Link { tie, own, others, span } = of;
            let mut link = Link { job, tie: *tie, own: own.clone(), others: *others, nth: 0 };
            while let Some(known) = self.links.get_index_of(&link)
                && numbers.contains(&(known as u32))
            {
                link.nth += 1;
            }
            let number = number(&mut self.links, link);
            numbers.push(number);
            let known = self.spans.entry(number).or_insert(*span);
            *known = (known.0.min(span.0), known.1.max(span.1));
        }
        numbers
    }

    fn groups(&mut self, snapshot: &Snapshot, numbers: &mut Numbers) {
        for group in &snapshot.groups {
            if let Some(known) = self.jobs[numbers.job as usize].known_groups.get(group) {
                numbers.groups.push(*known);
                continue;
            }
            let places = group.iter().map(|place| self.place(*place, numbers)).collect();
            let new = number(&mut self.groups, places);
            numbers.groups.push(new);
            if group.iter().all(|place| matches!(place, traffic::Place::Rank(_))) {
                self.jobs[numbers.job as usize].known_groups.insert(group.clone(), new);
            }
        }
    }

    fn objects(&mut self, snapshot: &Snapshot, numbers: &mut Numbers) {
        for object in &snapshot.objects {
            let memory = match object.memory {
                Memory::Global(module, offset) => {
                    Memory::Global(numbers.modules[module as usize], offset)
                }
                memory => memory,
            };
            let raw = RawObject {
                memory,
                stack: numbers.stacks[object.stack as usize],
                name: object.name.map(|name| numbers.strings[name as usize]),
            };
            let place = self.place(object.place, numbers);
            let key = (number(&mut self.objects, raw), place);
            if !object.beside.is_empty() {
                let known = self.beside.entry(key.0).or_insert_with(|| object.beside.clone());
                if *known != object.beside {
                    known.clear();
                }
            }
            if object.memory == Memory::Window && object.count > 0 {
                self.window(key, snapshot.rank, numbers);
            }
            let entry = self.instances.entry(key);
            numbers.instances.push(entry.index() as u32);
            let (bytes, count, address) = (object.bytes, object.count, object.address);
            entry.or_default().join(Lying { bytes, count, address });
        }
    }

    /// A rank has such a window, in memory of this place; others know it by its rank.
    fn window(&mut self, (object, place): (u32, u32), rank: u32, numbers: &Numbers) {
        let own = self.place(traffic::Place::Rank(rank), numbers);
        let known = self.windows.entry((object, own)).or_insert(Some(place));
        *known = known.filter(|known| *known == place);
    }

    fn place(&mut self, place: traffic::Place, numbers: &Numbers) -> u32 {
        let rank = |rank| Rank { job: numbers.job, rank };
        let raw = match place {
            traffic::Place::Rank(number) => RawPlace::Rank(rank(number)),
            traffic::Place::Device(device) => RawPlace::Device(numbers.host, device),
            traffic::Place::DeviceOf(number, device) => RawPlace::DeviceOf(rank(number), device),
            traffic::Place::Pe(pe) => RawPlace::Pe(numbers.job, pe),
            traffic::Place::Linked(link, rank) => {
                RawPlace::Linked(numbers.links[link as usize], rank)
            }
            traffic::Place::File(name) => RawPlace::File(numbers.strings[name as usize]),
            traffic::Place::Unknown => RawPlace::Unknown,
        };
        number(&mut self.places, raw)
    }

    fn end(&mut self, end: traffic::End, numbers: &Numbers) -> End {
        let of = |pattern, group: u32| End::Of(pattern, numbers.groups[group as usize]);
        match end {
            traffic::End::At(place) => End::At(self.place(place, numbers)),
            traffic::End::Others(group) => of(Pattern::Others, group),
            traffic::End::Above(group) => of(Pattern::Above, group),
            traffic::End::Below(group) => of(Pattern::Below, group),
        }
    }

    fn site(&mut self, call: u32, stack: u32, numbers: &Numbers) -> u32 {
        let (call, stack) = (numbers.strings[call as usize], numbers.stacks[stack as usize]);
        number(&mut self.sites, Site { call, stack })
    }

    /// Keeps time bins, if they mean anything.
    fn bins(&mut self, bins: &[traffic::Bin], snapshot: &Snapshot, numbers: &Numbers) -> List {
        let Some(last) = bins.last().filter(|_| snapshot.bin > 0) else { return List::default() };
        let known = &mut self.last_bins[numbers.clock as usize];
        *known = (*known).max(last.bin);
        self.packed.add_bins(bins)
    }

    fn row(&mut self, of: &Transfer, snapshot: &Snapshot, numbers: &Numbers) -> Option<Row> {
        let key = &of.key;
        let source = self.end(key.source, numbers);
        let target = self.end(key.target, numbers);
        if matches!((source, target), (End::Of(..), End::Of(..))) {
            return None;
        }
        let region = key.region.map(|region| snapshot.strings[region as usize].clone());
        let instance = |object: u32| numbers.instances[object as usize];
        Some(Row {
            kind: key.kind,
            side: key.side,
            counted: key.side != Side::Target,
            told_object: false,
            told_line: false,
            source,
            target,
            site: self.site(key.call, key.path, numbers),
            target_site: None,
            object: key.object.map(instance),
            other: key.other.map(instance),
            target_object: None,
            region: region.map(|region| number(&mut self.regions, region)),
            tag: key.tag,
            group: key.group.map(|group| numbers.groups[group as usize]),
            count: of.count,
            bytes: of.bytes,
            clock: numbers.clock,
            bins: self.bins(&of.bins, snapshot, numbers),
            extents: self.packed.add_extents(&of.extents),
            other_extents: self.packed.add_extents(&of.other_extents),
            order: of.order,
        })
    }

    fn calls_row(&mut self, of: &Calls, snapshot: &Snapshot, numbers: &Numbers) -> CallRow {
        CallRow {
            place: self.place(traffic::Place::Rank(snapshot.rank), numbers),
            peer: of.peer.map(|peer| self.place(peer, numbers)),
            group: of.group.map(|group| numbers.groups[group as usize]),
            site: self.site(of.call, of.stack, numbers),
            count: of.count,
            time: of.time,
            longest: of.longest,
            clock: numbers.clock,
            bins: self.bins(&of.bins, snapshot, numbers),
        }
    }
}
