//! What is seen of a job's ranks: their stacks with names, and the calls that they are in with what
//! was passed to them.

use crate::call_site::{arguments, called};
use crate::calls::{Known, known};
use crate::memory::Memory;
use crate::modules::{Images, Modules};
use crate::ranks::Job;
use crate::tracer::{Thread, look};
use crate::unwind::{Frame as Unwound, Unwinder};
use commsan_findings::{Frame, NeedKind};
use commsan_mpi_calls::Flow;
use commsan_mpi_calls::abi::{HandleKind, MpiFamily, handles};
use commsan_report::roll_call::{Need, SeenRank, SeenThread, Within};
use commsan_report::stack::is_of_library;
use commsan_report::symbols::Symbols;
use object::read::ReadCache;
use object::{Object, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Frames of a stack, at most.
const DEPTH: usize = 128;

/// Open MPI's variables whose addresses are communicators.
const COMMUNICATORS: [&str; 2] = ["ompi_mpi_comm_world", "ompi_mpi_comm_self"];

/// What was seen of a job.
#[derive(Debug, Default)]
pub struct Seen {
    /// Its ranks on this machine.
    pub ranks: Vec<SeenRank>,
    /// The program, as its first rank knows it, and its working directory.
    pub program: Option<String>,
    /// See `program`.
    pub directory: PathBuf,
    /// What kept threads from being stopped: errors of the system, and the ranks.
    pub refused: BTreeMap<i32, BTreeSet<u32>>,
    /// Ranks whose registers are those of 32 bits.
    pub narrow: BTreeSet<u32>,
    /// Modules without source lines that ranks are in: as they are named, and the ranks. Those of
    /// libraries do not count.
    pub bare: BTreeMap<String, BTreeSet<u32>>,
    /// Modules whose files were deleted or replaced since they were loaded.
    pub deleted: BTreeSet<String>,
    /// Whether some rank is an interpreter of Python's whose lines are not known.
    pub has_scripts: bool,
}

/// A thread whose stack has no names yet.
struct Walked {
    rank: u32,
    thread: Thread,
    memory: Memory,
    frames: Vec<Unwound>,
}

/// Looks at the ranks of a job on this machine.
pub fn see(job: &Job) -> Seen {
    let processes: Vec<libc::pid_t> = job.ranks.values().copied().collect();
    let rank_of: HashMap<libc::pid_t, u32> =
        job.ranks.iter().map(|(rank, process)| (*process, *rank)).collect();
    let threads = look(&processes);
    let mut seen = Seen::default();
    let mut modules: HashMap<libc::pid_t, Modules> =
        processes.iter().map(|process| (*process, Modules::of(*process))).collect();
    let mut images = Images::default();
    let mut walked = Vec::new();
    for mut thread in threads {
        let rank = rank_of[&thread.process];
        if let Some(error) = thread.refused {
            seen.refused.entry(error).or_default().insert(rank);
        }
        if thread.is_narrow {
            seen.narrow.insert(rank);
        }
        let memory = Memory::new(thread.process, std::mem::take(&mut thread.stack));
        let modules = modules.get_mut(&thread.process).expect("all processes have theirs");
        let mut unwinder = Unwinder { modules, memory: &memory, images: &mut images };
        let registers = thread.registers.filter(|_| !thread.is_narrow);
        let frames = registers
            .map(|registers| unwinder.frames(registers, thread.is_interrupted, DEPTH))
            .unwrap_or_default();
        walked.push(Walked { rank, thread, memory, frames });
    }
    let symbols = {
        let places = walked.iter().flat_map(|one| &one.frames).filter_map(place);
        let places: Vec<(PathBuf, u64)> = places.collect();
        Symbols::of_places(places.iter().map(|(file, offset)| (file.as_path(), *offset)))
    };
    let mut by_rank: BTreeMap<u32, Vec<SeenThread>> =
        job.ranks.keys().map(|rank| (*rank, vec![])).collect();
    let mut addresses = HashMap::new();
    for one in walked {
        let Walked { rank, thread, memory, frames } = one;
        let named: Vec<Vec<Frame>> = frames.iter().map(|frame| names(frame, &symbols)).collect();
        let modules = modules.get_mut(&thread.process).expect("all processes have theirs");
        let mut unwinder = Unwinder { modules, memory: &memory, images: &mut images };
        let by_name = call_of(&named);
        let found = by_name.or_else(|| jumped_from(&mut unwinder, &frames, &named));
        let within = found.map(|(at, call)| {
            let depth = named[..=at].iter().map(Vec::len).sum();
            let entry = called(&mut unwinder, &frames, at);
            // What jumps to another function is known by that call only.
            let is_it = |entry: &u64| {
                let own = frames[at].function.as_ref().map(|function| function.start);
                call.has_jumped || own == Some(*entry)
            };
            let values = entry
                .filter(is_it)
                .map(|entry| arguments(&mut unwinder, &frames, at, entry))
                .unwrap_or_default();
            let family = family(unwinder.modules);
            let mut passed = Passed { values, call: &call, family, unwinder };
            let on = passed.communicator(&mut addresses);
            let need = passed.need(on.as_deref(), job.size);
            Within {
                depth,
                asks: call.asks(),
                is_collective: call.is_collective(),
                synchronizes: call.synchronizes(),
                on: on.or_else(|| call.is_of_all().then(|| "all ranks".to_owned())),
                need,
                root: passed.root(),
                call: call.name,
            }
        });
        for frame in &frames {
            let Some(module) = &frame.module else { continue };
            if module.is_deleted && !module.path.starts_with("/dev/") {
                seen.deleted.insert(module.path.clone());
            }
        }
        let stack = of_program(named.concat());
        // Of the first frame of the user's, lines are missed.
        let first = stack.iter().find(|frame| !is_of_library(&frame.module));
        let is_first = thread.id == thread.process;
        if let Some(frame) = first.filter(|frame| is_first && frame.line.is_none()) {
            let is_script = commsan_report::stack::is_interpreter(&frame.module);
            seen.has_scripts |= is_script;
            if !is_script && !frame.module.is_empty() {
                seen.bare.entry(frame.module.clone()).or_default().insert(rank);
            }
        }
        by_rank.entry(rank).or_default().push(SeenThread {
            doing: thread.doing,
            file: thread.file,
            stack,
            lines: vec![],
            within,
        });
    }
    let first = job.ranks.values().next().copied().unwrap_or(0);
    let link = |what: &str| std::fs::read_link(format!("/proc/{first}/{what}")).ok();
    seen.program = link("exe").map(|path| {
        let path = path.to_string_lossy().into_owned();
        path.strip_suffix(" (deleted)").map(str::to_owned).unwrap_or(path)
    });
    seen.directory = link("cwd").unwrap_or_default();
    seen.ranks = by_rank.into_iter().map(|(rank, threads)| SeenRank { rank, threads }).collect();
    seen
}

/// A stack without what has called `main`.
fn of_program(mut stack: Vec<Frame>) -> Vec<Frame> {
    let is_start = |frame: &Frame| {
        frame.function.as_deref().is_some_and(|function| function.starts_with("__libc_start"))
    };
    if let Some(start) = stack.iter().position(is_start) {
        stack.truncate(start);
        // Where the C library has no symbols, its inner functions have no names.
        while stack.len() > 1
            && stack
                .last()
                .is_some_and(|frame| commsan_report::stack::acts_for_its_caller(&frame.module))
        {
            stack.pop();
        }
    }
    stack
}

/// Where a frame's module can be read, and the place in it.
fn place(frame: &Unwound) -> Option<(PathBuf, u64)> {
    let module = frame.module.as_ref()?;
    Some((module.file.clone()?, module.offset(frame.at())))
}

/// The frames of an address, inlined functions first.
fn names(frame: &Unwound, symbols: &Symbols) -> Vec<Frame> {
    let path = frame.module.as_ref().map_or("", |module| &module.path);
    let offset = frame.module.as_ref().map_or(frame.at(), |module| module.offset(frame.at()));
    let found = place(frame).map_or(&[][..], |(file, offset)| symbols.frames(&file, offset));
    let nothing = Frame {
        function: None,
        file: None,
        line: None,
        column: None,
        module: path.to_owned(),
        offset,
        inlined: false,
        within: vec![],
    };
    match found {
        [] => vec![unnamed(nothing)],
        found => found
            .iter()
            .map(|frame| unnamed(Frame { module: path.to_owned(), ..frame.clone() }))
            .collect(),
    }
}

/// A frame of a function that nobody has named is known by its place in the module.
fn unnamed(frame: Frame) -> Frame {
    let module = frame.module.rsplit('/').next().unwrap_or_default();
    let name = match module {
        "" => format!("{:#x}", frame.offset),
        module => format!("{module}+{:#x}", frame.offset),
    };
    Frame { function: frame.function.or(Some(name)), ..frame }
}

/// The call for communication that a thread is in, seen from the user's code, and which frame is
/// its first.
fn call_of(stack: &[Vec<Frame>]) -> Option<(usize, Known)> {
    let mut found = None;
    for (at, frames) in stack.iter().enumerate() {
        let outer = frames.last()?;
        match outer.function.as_deref().and_then(known) {
            Some(call) => found = Some((at, call)),
            None if is_of_library(&outer.module) && !is_between(&found, &outer.module) => {}
            None => break,
        }
    }
    // A program that MPI is linked into has its functions, too.
    let linked = || {
        let all = stack.iter().enumerate().rev();
        let mut calls = all.filter_map(|(at, frames)| {
            let function = frames.last()?.function.as_deref()?;
            Some((at, known(function).filter(|_| function.contains("MPI_"))?))
        });
        calls.next()
    };
    found.or_else(linked)
}

/// Likewise where that function has jumped to another one of its library, as its last act.
fn jumped_from(
    unwinder: &mut Unwinder<'_>,
    frames: &[Unwound],
    stack: &[Vec<Frame>],
) -> Option<(usize, Known)> {
    let is_of_mpi = |frames: &Vec<Frame>| {
        frames.last().is_some_and(|frame| commsan_report::stack::is_of_mpi(&frame.module))
    };
    let is_users =
        |frames: &Vec<Frame>| frames.last().is_some_and(|frame| !is_of_library(&frame.module));
    let at = stack.iter().position(is_users)?.checked_sub(1).filter(|at| is_of_mpi(&stack[*at]))?;
    let entry = called(unwinder, frames, at)?;
    let module = unwinder.modules.at(entry, unwinder.memory, unwinder.images)?;
    let (file, offset) = (module.file.clone()?, module.offset(entry));
    let symbols = Symbols::of_places([(file.as_path(), offset)]);
    let name = symbols.frames(&file, offset).last()?.function.clone()?;
    Some((at, Known { has_jumped: true, ..known(&name)? }))
}

/// Whether a module is of a library that has called what was found, and is called by the user.
fn is_between(found: &Option<(usize, Known)>, module: &str) -> bool {
    found.is_some() && !commsan_report::stack::acts_for_its_caller(module)
}

/// The family of the MPI library that a process has loaded.
fn family(modules: &Modules) -> Option<MpiFamily> {
    let names = modules.mappings.iter().filter_map(|mapping| mapping.path.rsplit('/').next());
    names.map(str::as_bytes).find_map(MpiFamily::of_library)
}

/// What was passed to a call.
struct Passed<'p, 'u> {
    values: [Option<u64>; crate::call_site::MOST],
    call: &'p Known,
    family: Option<MpiFamily>,
    unwinder: Unwinder<'u>,
}

impl Passed<'_, '_> {
    /// An argument of C's; in Fortran it is passed by its address.
    fn argument(&self, at: usize) -> Option<u64> {
        let value = *self.values.get(at)?;
        match self.call.is_fortran {
            true => self.unwinder.memory.array(value?).map(|four| u32::from_ne_bytes(four).into()),
            false => value,
        }
    }

    fn integer(&self, at: usize) -> Option<i64> {
        Some(i64::from(self.argument(at)? as i32))
    }

    /// The communicator in words.
    fn communicator(&mut self, addresses: &mut Addresses) -> Option<String> {
        let at = self.call.row?.at.comm?;
        let (value, family) = (self.argument(at)?, self.family?);
        let handle = match family {
            MpiFamily::OpenMpi if !self.call.is_fortran => {
                let name = communicators(&mut self.unwinder, addresses)
                    .into_iter()
                    .find_map(|(address, name)| (address == value).then_some(name));
                name.and_then(handles::of_variable)
            }
            MpiFamily::Standard if !self.call.is_fortran => {
                handles::of_standard_address(value as i64)
            }
            family => family.handle(HandleKind::Comm, i64::from(value as i32)),
        };
        let other = || "not MPI_COMM_WORLD".to_owned();
        Some(handle.map_or_else(other, |handle| handle.name.to_owned()))
    }

    /// The rank that all others need, of a call that passes something from one to all.
    fn root(&self) -> Option<u32> {
        let row = self.call.row.filter(|row| row.collective && row.flow == Flow::FromRoot)?;
        u32::try_from(self.integer(row.at.root?)?).ok()
    }

    /// What a call between two ranks needs, if these are numbered as processes are.
    fn need(&self, on: Option<&str>, size: Option<u32>) -> Option<Need> {
        let row = self.call.row.filter(|row| row.waits && on == Some("MPI_COMM_WORLD"))?;
        let constants = self.family?.constants();
        // A call that does both waits for either.
        let (kind, peer, tag) = match (row.at.source, row.at.dest) {
            (Some(source), None) => (NeedKind::Receive, source, row.at.received_tag),
            (None, Some(dest)) => (NeedKind::Send, dest, row.at.tag),
            _ => return None,
        };
        let peer = self.integer(peer)?;
        let any = kind == NeedKind::Receive && peer == constants.any_source;
        let ranks = match u32::try_from(peer) {
            _ if any => vec![],
            Ok(rank) if size.is_none_or(|size| rank < size) => vec![rank],
            _ => return None,
        };
        let tag = tag.and_then(|at| self.integer(at)).filter(|tag| *tag != constants.any_tag);
        Some(Need {
            kind,
            ranks,
            offset: None,
            any,
            tag: tag.and_then(|tag| i32::try_from(tag).ok()),
            call: self.call.name.clone(),
            more: 0,
        })
    }
}

/// Places of Open MPI's communicators in files of modules.
type Addresses = HashMap<PathBuf, Vec<(u64, &'static str)>>;

/// Open MPI's communicators by address. An executable may have a copy of them.
fn communicators(
    unwinder: &mut Unwinder<'_>,
    addresses: &mut Addresses,
) -> Vec<(u64, &'static str)> {
    let is_of_open_mpi = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        MpiFamily::of_library(name.as_bytes()) == Some(MpiFamily::OpenMpi)
    };
    let mappings = unwinder.modules.mappings.iter().enumerate();
    let wanted = mappings.filter(|(at, one)| *at == 0 || is_of_open_mpi(&one.path));
    let wanted: Vec<u64> = wanted.map(|(_, one)| one.range.start).collect();
    let mut found = Vec::new();
    for start in wanted {
        let Some(module) = unwinder.modules.at(start, unwinder.memory, unwinder.images) else {
            continue;
        };
        let Some(file) = module.file.clone() else { continue };
        let known = addresses.entry(file.clone()).or_insert_with(|| variables(&file));
        found.extend(known.iter().map(|(at, name)| (at.wrapping_add(module.bias), *name)));
    }
    found
}

fn variables(file: &Path) -> Vec<(u64, &'static str)> {
    let Ok(data) = File::open(file).map(ReadCache::new) else { return vec![] };
    let Ok(file) = object::File::parse(&data) else { return vec![] };
    let all = file.dynamic_symbols().chain(file.symbols()).filter(|symbol| symbol.is_definition());
    let found = all.filter_map(|symbol| {
        let name = symbol.name().ok()?;
        Some((symbol.address(), *COMMUNICATORS.iter().find(|known| **known == name)?))
    });
    found.collect()
}
