//! Writes the counters as the profile file that the report and the viewer read.

use crate::{Calls, HOST, Object, Settings, Traffic, now};
use commsan_callsite::{StackId, Stacks};
use commsan_process::modules::Modules;
use commsan_process::python;
use commsan_rundir::traffic::{self as file, Frame, Memory, Place, Snapshot, Transfer};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// The process that counted.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Its rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The size of `MPI_COMM_WORLD`.
    pub size: u32,
    /// An identifier shared by the processes of this job only.
    pub job: String,
    /// The host name.
    pub host: String,
    /// The MPI library.
    pub mpi: String,
    /// The path of the executable.
    pub program: String,
}

/// Replaces the profile file by the counts up to now. Readers see the old or the new file, never a
/// part.
///
/// # Errors
/// If the file cannot be written.
pub fn write(traffic: &Traffic, origin: &Origin, complete: bool, path: &Path) -> io::Result<()> {
    let bytes = snapshot(traffic, origin, complete).encode();
    let new = path.with_extension("traffic.new");
    fs::write(&new, bytes).and_then(|()| fs::rename(&new, path)).inspect_err(|_| {
        // A partly written file is useless.
        let _ = fs::remove_file(&new);
    })
}

fn snapshot(traffic: &Traffic, origin: &Origin, complete: bool) -> Snapshot {
    let mut tables = Tables::new(traffic);
    let used = used(traffic);
    let beside = Neighbours::of(traffic);
    let objects = used.iter().map(|number| &traffic.objects.all()[*number as usize]);
    let objects = objects.map(|object| file::Object {
        memory: tables.memory(object.identity.memory),
        place: own(object.identity.place, origin.rank),
        stack: tables.stack(None, object.identity.stack),
        call: object.identity.call.map(|call| tables.string(call)),
        name: object.identity.name,
        bytes: object.bytes,
        count: object.count,
        address: object.address,
        beside: beside.offsets(&mut tables, object),
    });
    let objects = objects.collect();
    // `used` ascends, so an object's position in it is its number in the file.
    let number = |object: u32| used.binary_search(&object).ok().map(|number| number as u32);
    let sums = traffic.channels.sums();
    let transfers = traffic.rows.all().iter().map(|row| Transfer {
        key: file::Key {
            object: row.key.object.and_then(number),
            other: row.key.other.and_then(number),
            ..row.key.with_path(tables.stack(row.key.path.line, row.key.path.stack))
        },
        count: row.count,
        bytes: row.bytes,
        bins: row.bins.clone(),
        extents: row.extents.list(),
        other_extents: row.others.list(),
        order: sums.of(&row.key, row.order, row.count),
    });
    let transfers = transfers.collect();
    let mut calls = calls(traffic, &mut tables, Vec::clone);
    calls.sort_by_key(|calls| (calls.call, calls.stack, calls.group, calls.peer));
    Snapshot {
        rank: origin.rank,
        size: origin.size,
        job: origin.job.clone(),
        pid: std::process::id(),
        host: origin.host.clone(),
        pe: traffic.pe,
        mpi: origin.mpi.clone(),
        program: origin.program.clone(),
        began: traffic.began,
        until: now(),
        complete,
        bin: traffic.bins.width(),
        epoch: traffic.bins.epoch(),
        sample: traffic.settings.sample,
        only: traffic.settings.objects.clone(),
        only_regions: traffic.settings.regions.clone(),
        only_kernels: traffic.settings.kernels.clone(),
        strings: tables.strings,
        modules: tables.modules,
        stacks: tables.stacks,
        objects,
        links: traffic.links.clone(),
        groups: traffic.groups.clone(),
        transfers,
        calls,
        notes: what_is_left_out(traffic.settings()).chain(traffic.notes.iter().cloned()).collect(),
    }
}

/// The calls, in the order in which they were numbered, with those of their time bins that are
/// wanted.
pub(crate) fn calls(
    traffic: &Traffic,
    tables: &mut Tables,
    wanted: fn(&Vec<file::Bin>) -> Vec<file::Bin>,
) -> Vec<file::Calls> {
    let calls = traffic.calls.iter().map(|calls| {
        let Calls { call, stack, partner, count, time, longest, bins } = calls;
        file::Calls {
            call: *call,
            stack: tables.stack(None, *stack),
            group: partner.group,
            peer: partner.peer,
            count: *count,
            time: *time,
            longest: *longest,
            bins: wanted(bins),
        }
    });
    calls.collect()
}

/// Says what the user has chosen, so that totals are not taken for those of the program.
fn what_is_left_out(settings: &Settings) -> impl Iterator<Item = String> {
    let chosen = [
        ("objects", &settings.objects, "transfers of all others are left out"),
        ("regions", &settings.regions, "transfers outside of them are left out"),
        ("kernels", &settings.kernels, "what others load and store is left out"),
    ];
    let chosen = chosen.into_iter().filter(|(_, names, _)| !names.is_empty());
    chosen.map(|(what, names, left_out)| {
        format!("only these {what} were asked for (`--only`), {left_out}: {}", names.join(", "))
    })
}

/// The numbers of the objects to write, ascending: those with a transfer; windows and symmetric
/// NVSHMEM memory, because other ranks that access them do not know their sizes; and named
/// variables, because each address used in them is an object of its own until symbolization.
fn used(traffic: &Traffic) -> Vec<u32> {
    let keys = traffic.rows.all().iter().map(|row| row.key);
    let mut used: BTreeSet<u32> = keys.flat_map(|key| [key.object, key.other]).flatten().collect();
    let objects = traffic.objects.all().iter().zip(0..);
    let more = objects.filter(|(object, _)| match object.identity.memory {
        Memory::Window => object.count > 0,
        Memory::Global(..) => object.identity.name.is_some(),
        Memory::Device => object.count > 0 && object.identity.call.is_some_and(is_symmetric),
        _ => false,
    });
    used.extend(more.map(|(_, number)| number));
    used.into_iter().collect()
}

/// Whether a call allocates the same memory at all processing elements (NVSHMEM's symmetric heap).
fn is_symmetric(call: &str) -> bool {
    call.starts_with("nvshmem")
}

/// The location of an object of this process's own memory.
fn own(place: Place, rank: u32) -> Place {
    if place == HOST { Place::Rank(rank) } else { place }
}

/// Allocations within this many bytes of code may belong to one source line.
const LINE_BYTES: usize = 4096;
/// Maximum number of neighbouring allocation sites that are written.
const MAX_NEIGHBOURS: usize = 32;

/// Allocation sites of the heap: return addresses grouped by the rest of the call path, in the
/// order of their first use.
struct Neighbours<'a> {
    traffic: &'a Traffic,
    by_callers: FxHashMap<&'a [usize], Vec<usize>>,
}

impl<'a> Neighbours<'a> {
    fn of(traffic: &'a Traffic) -> Neighbours<'a> {
        let mut by_callers: FxHashMap<&[usize], Vec<usize>> = FxHashMap::default();
        for object in traffic.objects.all() {
            if let (Memory::Heap, Some((first, callers))) =
                (object.identity.memory, traffic.stacks.frames(object.identity.stack).split_first())
            {
                let known = by_callers.entry(callers).or_default();
                if !known.contains(first) && known.len() < 4 * MAX_NEIGHBOURS {
                    known.push(*first);
                }
            }
        }
        Neighbours { traffic, by_callers }
    }

    fn offsets(&self, tables: &mut Tables, object: &Object) -> Vec<u64> {
        let frames = self.traffic.stacks.frames(object.identity.stack);
        let Some((first, callers)) = frames.split_first() else { return Vec::new() };
        let near = |pc: &&usize| pc.abs_diff(*first) < LINE_BYTES;
        let of = self.by_callers.get(callers).filter(|_| object.identity.memory == Memory::Heap);
        let near: Vec<usize> = of.into_iter().flatten().filter(near).copied().collect();
        if !(2..=MAX_NEIGHBOURS).contains(&near.len()) {
            return Vec::new();
        }
        let mut offset = |pc: usize| match tables.code(pc) {
            Some(Frame::Code(_, offset)) => Some(offset),
            _ => None,
        };
        near.into_iter().map(&mut offset).collect::<Option<_>>().unwrap_or_default()
    }
}

/// The tables of a snapshot, filled while it is built.
pub(crate) struct Tables<'a> {
    traffic: &'a Traffic,
    known_modules: Modules,
    /// For each of `known_modules`, its number in `modules`.
    located: Vec<u32>,
    modules: Vec<String>,
    strings: Vec<String>,
    stacks: Vec<Vec<Frame>>,
    numbers: FxHashMap<(Option<u32>, StackId), u32>,
}

impl Tables<'_> {
    pub(crate) fn new(traffic: &Traffic) -> Tables<'_> {
        Tables {
            traffic,
            known_modules: Modules::default(),
            located: Vec::new(),
            modules: Vec::new(),
            strings: traffic.strings.all().to_vec(),
            stacks: vec![Vec::new()],
            numbers: FxHashMap::from_iter([((None, Stacks::EMPTY), 0)]),
        }
    }

    /// Strings, modules and stacks.
    pub(crate) fn finish(self) -> (Vec<String>, Vec<String>, Vec<Vec<Frame>>) {
        (self.strings, self.modules, self.stacks)
    }

    fn string(&mut self, name: &str) -> u32 {
        match self.strings.iter().position(|string| string == name) {
            Some(number) => number as u32,
            None => {
                self.strings.push(name.to_owned());
                self.strings.len() as u32 - 1
            }
        }
    }

    fn module(&mut self, path: &str) -> u32 {
        match self.modules.iter().position(|module| module == path) {
            Some(number) => number as u32,
            None => {
                self.modules.push(path.to_owned());
                self.modules.len() as u32 - 1
            }
        }
    }

    /// Replaces the module name, which identifies a variable while counting, by the module's
    /// number.
    fn memory(&mut self, memory: Memory) -> Memory {
        let traffic = self.traffic;
        match memory {
            Memory::Global(path, offset) => {
                Memory::Global(self.module(traffic.strings.get(path)), offset)
            }
            memory => memory,
        }
    }

    /// The module and offset of a return address.
    fn code(&mut self, pc: usize) -> Option<Frame> {
        // The return address may belong to the next line; the byte before it is part of the call.
        let mut path = None;
        let found = self.known_modules.locate(pc.wrapping_sub(1), |_, new| {
            path = Some(new.to_string_lossy().into_owned());
        });
        if let Some(path) = path {
            let number = self.module(&path);
            self.located.push(number);
        }
        let (module, offset) = found?;
        Some(Frame::Code(self.located[module as usize], offset))
    }

    fn stack(&mut self, line: Option<u32>, stack: StackId) -> u32 {
        if let Some(number) = self.numbers.get(&(line, stack)) {
            return *number;
        }
        let traffic = self.traffic;
        let mut frames = Vec::new();
        frames.extend(line.map(|line| traffic.lines[line as usize]));
        let mut code = traffic.stacks.frames(stack);
        // Lines of Python come first.
        while let Some((line, rest)) =
            code.split_first().and_then(|(first, rest)| Some((python::line(*first)?, rest)))
        {
            let (function, file) = (self.string(&line.function), self.string(&line.file));
            frames.push(Frame::Line(function, file, line.line));
            code = rest;
        }
        frames.extend(code.iter().filter_map(|pc| self.code(*pc)));
        let number = self.stacks.len() as u32;
        self.stacks.push(frames);
        self.numbers.insert((line, stack), number);
        number
    }
}
