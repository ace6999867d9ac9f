//! Mod/ref analysis: the memory that a function, with its callees, may read or write. Analysing a
//! function with that memory only is access-based localization (Oh, Brutschy, Yi, VMCAI 2011).
//!
//! Only objects count in which something may differ between ranks.

use super::comm::Comms;
use super::reach;
use super::sources::digests;
use commsan_ir::{Body, Callee, FunctionId, Inst, Op, Program, Value};
use commsan_points_to::pool::SetId;
use commsan_points_to::set::Set;
use commsan_points_to::{Object, Pointer, PointsTo};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A place in an object in which something may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number.
    pub object: u32,
    /// Bytes from its begin, if known.
    pub at: Option<i64>,
    /// Whether this is no element of an array.
    pub field: bool,
}

/// Where a value may point to.
#[derive(Debug, Default)]
pub struct Targets {
    /// In objects in which something may differ.
    pub places: Vec<Place>,
    /// Whether it points there and nowhere else.
    pub is_certain: bool,
    /// In any objects, if these are few.
    pub few: Option<Box<[Pointer]>>,
}

/// Maximum number of targets of a pointer that are tracked individually.
const MAX_DISTINCT_TARGETS: usize = 4;

/// What all functions have to do with.
#[derive(Debug, Default)]
pub struct ModRef {
    numbers: FxHashMap<Object, u32>,
    fields: FxHashSet<Pointer>,
    /// Bytes of variables.
    sizes: FxHashMap<u32, u64>,
    /// By object: the fields in it that the program distinguishes, by offset.
    places: FxHashMap<u32, BTreeMap<i64, Place>>,
    /// By set of pointers; those of constants, and of values that are no pointers, by themselves.
    targets: FxHashMap<SetId, Rc<Targets>>,
    constants: FxHashMap<Value, Rc<Targets>>,
    of: FxHashMap<FunctionId, Rc<Set>>,
}

impl ModRef {
    /// Of functions in which anything can differ.
    pub fn of(comms: &Comms, found: reach::Found) -> ModRef {
        let reach::Found { functions, fields, objects } = found;
        let numbers: FxHashMap<_, _> = objects.into_iter().zip(0..).collect();
        let size =
            |(object, number): (&Object, &u32)| Some((*number, size(comms.program, *object)?));
        let sizes = numbers.iter().filter_map(size).collect();
        let (places, targets, constants, of) = Default::default();
        let mut mod_ref = ModRef { numbers, fields, sizes, places, targets, constants, of };
        let mut sets = FxHashMap::default();
        for (function, _, body) in comms.program.defined() {
            if functions.contains(&function) {
                sets.insert(function, mod_ref.own(comms, function, body));
            }
        }
        with_callees(comms, &mut sets);
        mod_ref.of = sets.into_iter().map(|(function, set)| (function, Rc::new(set))).collect();
        mod_ref
    }

    /// Numbers of the objects that a function has to do with.
    pub fn get(&self, function: FunctionId) -> Rc<Set> {
        self.of.get(&function).cloned().unwrap_or_default()
    }

    /// The number of an object, if anything may differ in it.
    pub fn number(&self, object: Object) -> Option<u32> {
        self.numbers.get(&object).copied()
    }

    /// Bytes of the variable that an object is.
    pub fn size(&self, object: u32) -> Option<u64> {
        self.sizes.get(&object).copied()
    }

    /// Where a value of a function may point to.
    pub fn targets(&mut self, comms: &Comms, function: FunctionId, value: Value) -> Rc<Targets> {
        let set = comms.points_to.set(function, value);
        let known = match set {
            Some(set) => self.targets.get(&set),
            None => self.constants.get(&value),
        };
        if let Some(known) = known {
            return Rc::clone(known);
        }
        let targets = Rc::new(self.at(&comms.points_to.targets(function, value)));
        match set {
            Some(set) => self.targets.insert(set, Rc::clone(&targets)),
            None => self.constants.insert(value, Rc::clone(&targets)),
        };
        targets
    }

    /// Some places as those that a value may point to.
    pub fn at(&mut self, pointers: &[Pointer]) -> Targets {
        let is_certain = match pointers {
            [one] => one.at.is_some() && !matches!(one.object, Object::Made(..)),
            _ => false,
        };
        let place = |pointer: &Pointer| {
            let object = *self.numbers.get(&pointer.object)?;
            Some(Place { object, at: pointer.at, field: self.fields.contains(pointer) })
        };
        let places: Vec<_> = pointers.iter().filter_map(place).collect();
        for place in &places {
            if let Some(at) = place.at {
                self.places.entry(place.object).or_default().insert(at, *place);
            }
        }
        let few = (1..=MAX_DISTINCT_TARGETS).contains(&pointers.len()).then(|| pointers.into());
        Targets { places, is_certain, few }
    }

    /// Everything in arrays that a value points to, or that a descriptor there points to.
    pub fn arrays(&self, comms: &Comms, function: FunctionId, value: Value) -> Vec<Place> {
        let objects = arrays(comms.points_to, function, value).into_iter();
        let number = |object| self.numbers.get(&object).copied();
        let place = |object| Place { object, at: None, field: false };
        objects.filter_map(number).map(place).collect()
    }

    /// All places within so many bytes from where a value may point to; from there itself if it is
    /// not known how many.
    pub fn extended(&self, targets: &Rc<Targets>, bytes: Option<u64>) -> Rc<Targets> {
        let Some(bytes) = bytes.and_then(|bytes| i64::try_from(bytes).ok()) else {
            return Rc::clone(targets);
        };
        let mut places = Vec::new();
        for target in &targets.places {
            match (target.at, self.places.get(&target.object)) {
                (Some(begin), Some(known)) => {
                    let within = begin..begin.saturating_add(bytes.max(1));
                    places.extend(known.range(within).map(|(_, place)| *place));
                }
                _ => places.push(*target),
            }
        }
        Rc::new(Targets { places, is_certain: targets.is_certain, few: None })
    }

    /// What a function's own code reads or writes.
    fn own(&mut self, comms: &Comms, function: FunctionId, body: &Body) -> Set {
        let mut set = Set::default();
        for inst in &body.code {
            for address in addresses(comms, function, inst) {
                for place in &self.targets(comms, function, *address).places {
                    set.insert(place.object);
                }
            }
            for array in digested(comms.program, inst) {
                for place in self.arrays(comms, function, *array) {
                    set.insert(place.object);
                }
            }
        }
        set
    }
}

fn size(program: &Program, object: Object) -> Option<u64> {
    match object {
        Object::Global(id) => Some(program[id].size),
        Object::Local(function, id) => match program[function].body.as_ref()?[id].op {
            Op::Alloca(bytes) => bytes,
            _ => None,
        },
        _ => None,
    }
}

/// Arrays that a call makes a number of.
pub fn digested<'i>(program: &Program, inst: &'i Inst) -> &'i [Value] {
    match inst.op {
        Op::Call(Callee::Direct(callee))
            if program[callee].body.is_none() && digests(&program[callee].name) =>
        {
            &inst.args
        }
        _ => &[],
    }
}

/// Objects that a value points to, and those that descriptors there point to.
pub fn arrays(points_to: &PointsTo, function: FunctionId, value: Value) -> Vec<Object> {
    let direct = points_to.targets(function, value);
    let described = direct.iter().flat_map(|at| points_to.content(Pointer { at: None, ..*at }));
    direct.iter().copied().chain(described).map(|at| at.object).collect()
}

/// The addresses that an instruction reads or writes at.
fn addresses<'i>(comms: &Comms, function: FunctionId, inst: &'i Inst) -> &'i [Value] {
    match inst.op {
        Op::Load(_) | Op::Fill | Op::Atomic(_) => &inst.args[..1],
        Op::Store(_) => &inst.args[1..2],
        Op::Copy => &inst.args[..2],
        Op::Call(_) => {
            let callees = comms.points_to.callees(function, inst).unwrap_or_default();
            let is_own = callees.iter().any(|callee| comms.program[*callee].body.is_some());
            if is_own && comms.calls.at(inst).is_none() { &[] } else { &inst.args }
        }
        _ => &[],
    }
}

/// Adds what is called to those who call.
fn with_callees(comms: &Comms, sets: &mut FxHashMap<FunctionId, Set>) {
    let mut open: BTreeSet<FunctionId> = sets.keys().copied().collect();
    while let Some(callee) = open.pop_last() {
        let Some(set) = sets.get(&callee).cloned() else { continue };
        for (caller, _) in comms.graph.callers(callee) {
            let Some(known) = sets.get_mut(caller) else { continue };
            let before = known.len();
            known.absorb(&set);
            if known.len() > before {
                open.insert(*caller);
            }
        }
    }
}
