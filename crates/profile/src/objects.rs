//! What was allocated where, as objects of all ranks, and their names.

use crate::api::Frame;
use crate::globals::Globals;
use crate::merge::{Lying, Merged, RawObject};
use crate::model::{Instance, Object};
use crate::places::Places;
use crate::sources::Sources;
use crate::stacks::Stacks;
use commsan_report::assigned::{self, Allocation};
use commsan_report::names::is_fortran;
use commsan_rundir::traffic::Memory;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeSet;

/// Objects of a run.
pub struct Objects {
    /// All of them, in the order of their first mention.
    pub objects: Vec<Object>,
    /// At their places.
    pub instances: Vec<Instance>,
    /// By position in [`Merged::instances`].
    pub of_raw: Vec<u32>,
    /// Where in the object the parts of a variable begin: ranks know variables by the addresses
    /// that were used.
    pub offsets: Vec<u64>,
}

/// Where in its variable an address of a module is.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    offset: u64,
    /// Bytes of the whole variable; 0 if they are not known.
    of: u64,
}

impl Part {
    /// The variable, if a rank has recorded this part of it.
    fn whole(self, lying: Lying) -> Lying {
        let address = lying.address.saturating_sub(self.offset);
        Lying { bytes: self.of, address, ..lying }
    }
}

/// What makes two allocations one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Identity {
    memory: Memory,
    stack: u32,
    name: Option<u32>,
    /// Which of those on its line, and how many there are.
    nth: Option<(usize, usize)>,
    /// Of members that a constructor's line begins with: which column of it.
    member: Option<u32>,
}

impl Objects {
    /// The objects that `merged` mentions.
    pub fn of(merged: &Merged, places: &Places, stacks: &Stacks, sources: &Sources) -> Objects {
        let mut globals = Globals::default();
        let mut known: IndexMap<Identity, RawObject, FxBuildHasher> = IndexMap::default();
        let parts: Vec<Option<Part>> =
            merged.objects.iter().map(|raw| part(raw, merged, &mut globals)).collect();
        let mut named: FxHashMap<Memory, u32> = FxHashMap::default();
        for (raw, part) in merged.objects.iter().zip(&parts).filter(|(_, part)| part.is_some()) {
            if let Some(name) = raw.name {
                named.entry(memory(raw, *part)).or_insert(name);
            }
        }
        let functions = functions(merged, stacks);
        let mut names = Names { merged, stacks, sources, globals, texts: FxHashMap::default() };
        let of_object: Vec<u32> = (merged.objects.iter().zip(&parts).zip(0..))
            .map(|((raw, part), number)| {
                let memory = memory(raw, *part);
                // One name given to any part of a variable is that of all of it.
                let name = raw.name.or_else(|| named.get(&memory).copied());
                let stack = stacks.of_raw[raw.stack as usize];
                let stack = functions.get(&stack).copied().unwrap_or(stack);
                let nth = stacks.nth.get(&number).copied();
                let nth = nth.filter(|nth| names.one_of(stack, *nth).is_some());
                let column = stacks.columns[raw.stack as usize].filter(|_| nth.is_none());
                let member = column.filter(|column| {
                    is_allocated(raw.memory) && names.member(stack, *column).is_some()
                });
                let entry = known.entry(Identity { memory, stack, name, nth, member });
                let object = entry.index() as u32;
                entry.or_insert(RawObject { name, ..*raw });
                object
            })
            .collect();
        let mut objects: Vec<Object> = (known.iter())
            .map(|(identity, raw)| Object {
                name: names.of(raw, identity),
                memory: identity.memory,
                stack: identity.stack,
                origin: stacks.line_of_allocation(identity.stack),
                bytes: 0,
                allocations: 0,
                places: 0,
            })
            .collect();
        let mut joined: IndexMap<(u32, u32), Lying, FxBuildHasher> = IndexMap::default();
        let (mut of_raw, mut offsets) = (vec![], vec![]);
        for ((object, place), lying) in &merged.instances {
            let part = parts[*object as usize];
            offsets.push(part.map_or(0, |part| part.offset));
            let place = merged.windows.get(&(*object, *place)).copied().flatten().unwrap_or(*place);
            let key = (of_object[*object as usize], places.of_raw[place as usize]);
            let entry = joined.entry(key);
            of_raw.push(entry.index() as u32);
            entry.or_default().join(part.map_or(*lying, |part| part.whole(*lying)));
        }
        let instances = joined.into_iter().map(|((object, place), mut lying)| {
            let of = &mut objects[object as usize];
            if matches!(of.memory, Memory::Global(..)) {
                lying.count = 1;
            }
            of.bytes = of.bytes.max(lying.bytes);
            of.allocations = of.allocations.saturating_add(lying.count);
            of.places += 1;
            let Lying { bytes, count, address } = lying;
            Instance { object, place, bytes, count, address }
        });
        Objects { instances: instances.collect(), objects, of_raw, offsets }
    }
}

/// Variables on the stack are their function's, wherever in it they are used: of call paths that
/// differ in nothing but that line, the one with the first.
fn functions(merged: &Merged, stacks: &Stacks) -> FxHashMap<u32, u32> {
    let on_stack = merged.objects.iter().filter(|raw| raw.memory == Memory::Stack);
    let used: BTreeSet<u32> = on_stack.map(|raw| stacks.of_raw[raw.stack as usize]).collect();
    let mut alike: FxHashMap<_, Vec<(Option<u32>, u32)>> = FxHashMap::default();
    for stack in used {
        let Some((frame, callers)) = stacks.stacks[stack as usize].split_first() else { continue };
        let path = (&frame.function, frame.file, callers);
        alike.entry(path).or_default().push((frame.line, stack));
    }
    let each = alike.into_values().flat_map(|of_one| {
        let known = |(line, stack): &&(Option<u32>, u32)| (line.is_none(), *line, *stack);
        let first = of_one.iter().min_by_key(known).map_or(0, |(_, stack)| *stack);
        of_one.into_iter().map(move |(_, stack)| (stack, first))
    });
    each.collect()
}

/// Where an address of a module is, if `raw` is one.
fn part(raw: &RawObject, merged: &Merged, globals: &mut Globals) -> Option<Part> {
    let Memory::Global(module, offset) = raw.memory else { return None };
    let variable = globals.at(&merged.modules[module as usize], offset);
    Some(variable.map_or_else(Part::default, |variable| Part {
        offset: offset - variable.start,
        of: variable.size,
    }))
}

/// What kind of memory, with the whole of a variable for its parts.
fn memory(raw: &RawObject, part: Option<Part>) -> Memory {
    match (raw.memory, part) {
        (Memory::Global(module, offset), Some(part)) => {
            Memory::Global(module, offset - part.offset)
        }
        (memory, _) => memory,
    }
}

struct Names<'m> {
    merged: &'m Merged,
    stacks: &'m Stacks,
    sources: &'m Sources,
    globals: Globals,
    texts: FxHashMap<usize, Option<String>>,
}

impl Names<'_> {
    /// The name that the program gave, the variable's, or where it was allocated; nothing is
    /// invented.
    fn of(&mut self, raw: &RawObject, identity: &Identity) -> String {
        if let Some(name) = raw.name {
            return self.merged.strings[name as usize].clone();
        }
        if let Memory::Global(module, offset) = raw.memory {
            let module = &self.merged.modules[module as usize];
            let unnamed = || format!("{}+{offset:#x}", module.rsplit('/').next().unwrap_or(module));
            return self
                .globals
                .at(module, offset)
                .map_or_else(unnamed, |variable| variable.name.clone());
        }
        let stacks = self.stacks;
        let (frames, skipped) = stacks.of_allocation(identity.stack);
        let Some(frame) = frames.first() else { return String::new() };
        if raw.memory == Memory::Stack {
            return format!("stack of {}", frame.function);
        }
        if frame.file.is_none() || frame.line.is_none() {
            return frame.function.clone();
        }
        if frame.library {
            // Variables of a library are not the program's.
            return format!("{}:{}", frame.function, frame.line.unwrap_or_default());
        }
        let by_library = skipped > 0;
        (identity.nth.and_then(|nth| self.one_of(identity.stack, nth)))
            .or_else(|| self.member(identity.stack, identity.member?))
            .or_else(|| self.variable(frames, by_library))
            .unwrap_or_else(|| format!("{}:{}", frame.function, frame.line.unwrap_or_default()))
    }

    /// The variable that the innermost of `frames` assigns its allocation to, or the one who called
    /// it, where that only returns it. `by_library`: what allocates there is a library's function.
    fn variable(&mut self, frames: &[Frame], by_library: bool) -> Option<String> {
        let stacks = self.stacks;
        let mut returned: Option<String> = None;
        for frame in frames {
            let (file, line) = (frame.file?, frame.line?);
            let fortran = is_fortran(&stacks.files[file]);
            let text = self.line(file, line)?;
            let allocation = Allocation { fortran, by_library, function: &frame.function };
            let (name, returns) = match &returned {
                None => (assigned::assigned(text, &allocation), assigned::returns(text, fortran)),
                Some(called) => assigned::assigned_by(text, called),
            };
            if name.is_some() || !returns {
                return name;
            }
            returned = Some(assigned::base(&frame.function));
        }
        None
    }

    /// The variable that one of several allocations of a line is for.
    fn one_of(&mut self, stack: u32, nth: (usize, usize)) -> Option<String> {
        let stacks = self.stacks;
        let frame = stacks.stacks[stack as usize].first()?;
        let (file, line) = (frame.file?, frame.line?);
        let fortran = is_fortran(&stacks.files[file]);
        let text = self.line(file, line)?;
        assigned::one_of(text, &Allocation { fortran, ..Allocation::default() }, nth)
    }

    /// The member that a constructor allocates at a column of its line.
    fn member(&mut self, stack: u32, column: u32) -> Option<String> {
        let stacks = self.stacks;
        let frame = stacks.of_allocation(stack).0.first()?;
        let (file, line) = (frame.file?, frame.line?);
        assigned::member_at(self.line(file, line)?, column, &frame.function)
    }

    /// A line of a file that has not changed since the run.
    fn line(&mut self, file: usize, line: u32) -> Option<&str> {
        let (path, sources) = (&self.stacks.files[file], self.sources);
        let text = self.texts.entry(file).or_insert_with(|| {
            let state = sources.state(path);
            sources.text(path).ok().filter(|_| !state.changed)
        });
        text.as_deref()?.lines().nth((line as usize).checked_sub(1)?)
    }
}

/// Whether somebody allocates such memory.
fn is_allocated(memory: Memory) -> bool {
    !matches!(memory, Memory::Global(..) | Memory::Stack | Memory::Unknown)
}

/// The name of a kind of memory.
pub fn memory_name(memory: Memory) -> &'static str {
    match memory {
        Memory::Heap => "heap",
        Memory::Global(..) => "global",
        Memory::Stack => "stack",
        Memory::Device => "device",
        Memory::Managed => "managed",
        Memory::Pinned => "pinned",
        Memory::Window => "window",
        Memory::Unknown => "unknown",
    }
}
