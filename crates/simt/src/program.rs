//! Programs: modules, with their kernels in executable form.

use crate::code::{Passed, Routine};
use crate::lower;
use crate::rows::{Bank, LANES, Rows, Slot, Storage, storage};
use crate::special::{RESERVED_SHARED, function_address, is_reserved_shared};
use commsan_ptx::words::Space;
use commsan_ptx::{Base, Function, Module, Operand, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex};

/// The addresses of a module's variables on a device.
pub trait Symbols {
    /// The address of a variable in global or constant memory.
    fn address(&self, name: &str) -> Option<u64>;
}

impl<F: Fn(&str) -> Option<u64>> Symbols for F {
    fn address(&self, name: &str) -> Option<u64> {
        self(name)
    }
}

/// A module whose kernels can be launched; each kernel is lowered when it is first requested.
pub struct Program {
    module: Arc<Module>,
    kernels: Mutex<FxHashMap<u32, Arc<Kernel>>>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("functions", &self.module.functions.len()).finish()
    }
}

impl Program {
    /// The program of a module.
    pub fn new(module: Arc<Module>) -> Program {
        Program { module, kernels: Mutex::default() }
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// A kernel by name; `None` if the module does not define it.
    pub fn kernel(&self, name: &str) -> Option<Arc<Kernel>> {
        let (index, function) = self.module.function(name)?;
        if !function.entry || function.body.is_none() {
            return None;
        }
        let mut kernels = self.kernels.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let lowered = || Arc::new(Kernel::lower(self.module.clone(), index));
        Some(kernels.entry(index).or_insert_with(lowered).clone())
    }

    /// Writes a variable's initial value to `bytes`, which are zero.
    pub fn initialise(&self, variable: &Variable, symbols: &dyn Symbols, bytes: &mut [u8]) {
        let Some(initial) = &variable.initial else { return };
        let len = initial.bytes.len().min(bytes.len());
        bytes[..len].copy_from_slice(&initial.bytes[..len]);
        for relocation in &initial.relocations {
            let address = match relocation.symbol {
                Base::Function(at) => Some(function_address(at)),
                Base::Variable(at) => symbols.address(&self.module.variables[at as usize].name),
                _ => None,
            };
            let address = address.unwrap_or(0).wrapping_add(relocation.addend as u64);
            let (at, from) = (relocation.at as usize, relocation.byte as usize);
            let address = address.to_le_bytes();
            let source = address.iter().skip(from).take(relocation.width as usize);
            bytes.iter_mut().skip(at).zip(source).for_each(|(to, byte)| *to = *byte);
        }
    }
}

/// A kernel in executable form, with all functions that it may call.
pub struct Kernel {
    module: Arc<Module>,
    entry: u32,
    /// The lowered functions, by index in the module.
    routines: Vec<Option<Routine>>,
    constants: Constants,
    reserved_shared: u32,
    static_shared: u64,
    /// The arrays in shared memory: where they begin, their sizes and names.
    shared: Vec<(u64, u64, String)>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).finish()
    }
}

impl Kernel {
    fn lower(module: Arc<Module>, entry: u32) -> Kernel {
        let reached = reached(&module, entry);
        let layout = Layout::new(&module, &reached);
        let mut constants = Constants::default();
        let mut routines: Vec<Option<Routine>> = Vec::new();
        routines.resize_with(module.functions.len(), || None);
        for function in reached {
            let routine = lower::routine(&module, &layout, &mut constants, function);
            routines[function as usize] = routine.ok();
        }
        let shared = layout.shared_arrays(&module);
        let Layout { reserved_shared, static_shared, .. } = layout;
        Kernel { module, entry, routines, constants, reserved_shared, static_shared, shared }
    }

    /// The module that the kernel belongs to.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The kernel's declaration in PTX.
    pub fn function(&self) -> &Function {
        &self.module.functions[self.entry as usize]
    }

    /// The mangled name.
    pub fn name(&self) -> &str {
        &self.function().name
    }

    /// Size of static shared memory, in bytes.
    pub fn static_shared(&self) -> u64 {
        self.static_shared
    }

    /// Size of the shared memory reserved for the system, in bytes, before the kernel's own.
    pub fn reserved_shared(&self) -> u32 {
        self.reserved_shared
    }

    /// The array that lies at an offset in a block's shared memory, by its mangled name, and the
    /// offset in it; `None` for dynamic shared memory, with the offset in that.
    pub fn shared_array(&self, offset: u64) -> (Option<&str>, u64) {
        let holds = |(start, size, _): &&(u64, u64, String)| offset.wrapping_sub(*start) < *size;
        match self.shared.iter().find(holds) {
            Some((start, _, name)) => (Some(name), offset - start),
            None => {
                (None, offset.saturating_sub(u64::from(self.reserved_shared) + self.static_shared))
            }
        }
    }

    /// Size of a thread's local memory in bytes, without callees.
    pub fn local(&self) -> u64 {
        self.routine(self.entry).map_or(0, |routine| routine.frame)
    }

    /// The index of the kernel's function in the module.
    pub(crate) fn entry(&self) -> u32 {
        self.entry
    }

    /// A function that the kernel may call, by index.
    pub(crate) fn routine(&self, function: u32) -> Option<&Routine> {
        self.routines.get(function as usize)?.as_ref()
    }

    /// The constants of its instructions, with the addresses of variables on a device; the error is
    /// the name of a variable without an address.
    pub(crate) fn place(&self, symbols: &dyn Symbols) -> Result<Storage, String> {
        self.constants.place(&self.module, symbols)
    }
}

/// The functions that a kernel may call, including itself: called by name, or with their address
/// taken in code or data that it can reach.
fn reached(module: &Module, entry: u32) -> Vec<u32> {
    let mut seen = FxHashSet::from_iter([entry]);
    let mut todo = vec![entry];
    let pointed = module.variables.iter().filter_map(|v| v.initial.as_ref());
    let pointed = pointed.flat_map(|initial| &initial.relocations).map(|r| r.symbol);
    let mut found: Vec<u32> = pointed.filter_map(function).collect();
    let mut all = Vec::new();
    loop {
        for function in found.drain(..) {
            if seen.insert(function) {
                todo.push(function);
            }
        }
        let Some(next) = todo.pop() else { break };
        let Some(body) = module.functions.get(next as usize).and_then(|f| f.body.as_ref()) else {
            continue;
        };
        all.push(next);
        let operands = body.operands.iter().chain(&body.elements);
        found.extend(operands.filter_map(|operand| match operand {
            Operand::Address(base, _) | Operand::Memory(base, _) => function(*base),
            _ => None,
        }));
    }
    all
}

fn function(base: Base) -> Option<u32> {
    match base {
        Base::Function(at) => Some(at),
        _ => None,
    }
}

/// Alignment of frames in bytes, and so the maximum alignment of a variable.
pub const FRAME_ALIGNMENT: u64 = 64;

/// Offsets of a function's variables in its frame of local memory, and in shared memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameLayout {
    /// Offset of the parameters, unless it is a kernel.
    pub parameters: u64,
    /// Offset of the returned values.
    pub returns: u64,
    /// Offset of the arguments of calls.
    pub arguments: u64,
    /// Offset of the local variables.
    pub locals: u64,
    /// Size of the frame, in bytes.
    pub size: u64,
    /// Offset of its shared variables in the block's shared memory.
    pub shared: u64,
}

impl FrameLayout {
    fn new(function: &Function) -> FrameLayout {
        let body = function.body.as_ref();
        let size_of = |space| body.map_or(0, |body| body.frame(space).0);
        let end_of = |variables: &[Variable]| variables.last().map_or(0, |v| v.offset + v.size);
        let round = |end: u64| end.next_multiple_of(FRAME_ALIGNMENT);
        let parameters = if function.entry { 0 } else { end_of(&function.parameters) };
        let returns = round(parameters);
        let arguments = round(returns + end_of(&function.returns));
        let locals = round(arguments + size_of(Space::Param));
        let size = round(locals + size_of(Space::Local));
        FrameLayout { parameters: 0, returns, arguments, locals, size, shared: 0 }
    }

    /// Offsets and sizes of parameters or returned values.
    pub fn passed(&self, variables: &[Variable], from: u64) -> Vec<Passed> {
        variables.iter().map(|v| Passed { at: from + v.offset, size: v.size }).collect()
    }
}

/// The memory layout of a kernel.
#[derive(Debug, Default)]
pub struct Layout {
    /// The frames of functions, by index.
    pub frames: FxHashMap<u32, FrameLayout>,
    /// Offsets of the module's shared variables by index, without those of dynamic size.
    pub shared: FxHashMap<u32, u64>,
    /// Size of the shared memory reserved for the system, in bytes, which comes first.
    pub reserved_shared: u32,
    /// Size of static shared memory, in bytes.
    pub static_shared: u64,
}

impl Layout {
    fn new(module: &Module, reached: &[u32]) -> Layout {
        let mut layout = Layout::default();
        let mut used = FxHashSet::default();
        for function in reached {
            let body = module.functions[*function as usize].body.as_ref();
            for operand in body.into_iter().flat_map(|b| b.operands.iter().chain(&b.elements)) {
                match operand {
                    Operand::Address(Base::Variable(at), _)
                    | Operand::Memory(Base::Variable(at), _) => {
                        used.insert(*at);
                    }
                    Operand::Special(register, _) if is_reserved_shared(*register) => {
                        layout.reserved_shared = RESERVED_SHARED;
                    }
                    _ => {}
                }
            }
        }
        let begin = u64::from(layout.reserved_shared);
        let mut end = begin;
        for (at, variable) in (0..).zip(&module.variables) {
            let shared = matches!(variable.space, Space::Shared | Space::SharedCta);
            if shared && variable.size > 0 && used.contains(&at) {
                let offset = end.next_multiple_of(variable.align.max(1));
                layout.shared.insert(at, offset);
                end = offset.saturating_add(variable.size);
            }
        }
        for at in reached {
            let function = &module.functions[*at as usize];
            let mut frame = FrameLayout::new(function);
            let (size, align) = function.body.as_ref().map_or((0, 1), |b| b.frame(Space::Shared));
            frame.shared = end.next_multiple_of(align.max(1));
            end = frame.shared.saturating_add(size);
            layout.frames.insert(*at, frame);
        }
        // Dynamic shared memory follows; it may hold vectors.
        layout.static_shared = end.next_multiple_of(16) - begin;
        layout
    }
}

impl Layout {
    /// Where the arrays in shared memory begin, with their sizes and names.
    fn shared_arrays(&self, module: &Module) -> Vec<(u64, u64, String)> {
        let of_module = self.shared.iter().filter_map(|(at, offset)| {
            let variable = module.variables.get(*at as usize)?;
            Some((*offset, variable.size, variable.name.clone()))
        });
        let of_functions = self.frames.iter().flat_map(|(at, frame)| {
            let body = module.functions[*at as usize].body.as_ref();
            let variables = body.into_iter().flat_map(|body| &body.variables);
            let shared = variables.filter(|v| matches!(v.space, Space::Shared | Space::SharedCta));
            shared.map(|v| (frame.shared + v.offset, v.size, v.name.clone()))
        });
        of_module.chain(of_functions).collect()
    }
}

/// The pool of constants of a kernel's instructions, each value once.
#[derive(Debug, Default)]
pub struct Constants {
    bytes: Vec<u8>,
    values: FxHashMap<(u64, u128), Slot>,
    addresses: FxHashMap<(u32, i64), Slot>,
}

impl Constants {
    fn add(&mut self, lane: &[u8]) -> Slot {
        let slot = Slot::new(Bank::Constants, self.bytes.len() as u32);
        (0..LANES).for_each(|_| self.bytes.extend_from_slice(lane));
        self.bytes.resize(self.bytes.len().next_multiple_of(64), 0);
        slot
    }

    /// The row of a value of 1, 2, 4, 8 or 16 bytes.
    pub fn value(&mut self, width: u64, value: u128) -> Slot {
        let value = value & (u128::MAX >> (128 - 8 * width));
        if let Some(slot) = self.values.get(&(width, value)) {
            return *slot;
        }
        let slot = self.add(&value.to_le_bytes()[..width as usize]);
        self.values.insert((width, value), slot);
        slot
    }

    /// The row of a predicate that is true in all lanes or in none.
    pub fn predicate(&mut self, held: bool) -> Slot {
        self.value(1, if held { 0xff } else { 0 })
    }

    /// The row of a variable's address, which differs between devices.
    pub fn address(&mut self, variable: u32, addend: i64) -> Slot {
        if let Some(slot) = self.addresses.get(&(variable, addend)) {
            return *slot;
        }
        let slot = self.add(&[0; 8]);
        self.addresses.insert((variable, addend), slot);
        slot
    }

    fn place(&self, module: &Module, symbols: &dyn Symbols) -> Result<Storage, String> {
        let mut placed = storage(self.bytes.len() as u32);
        let unused = storage(0);
        // Written like a frame, and read-only from then on.
        let rows = Rows::new(&mut placed, &unused, &unused);
        let at = |slot: Slot| Slot::new(Bank::Frame, slot.offset());
        for chunk in 0..self.bytes.len() / LANES {
            let row = std::array::from_fn(|lane| self.bytes[chunk * LANES + lane]);
            rows.write::<u8>(Slot::new(Bank::Frame, (chunk * LANES) as u32), row);
        }
        for ((variable, addend), slot) in &self.addresses {
            let name = &module.variables[*variable as usize].name;
            let address = symbols.address(name).ok_or_else(|| name.clone())?;
            rows.write(at(*slot), [address.wrapping_add(*addend as u64); LANES]);
        }
        Ok(placed)
    }
}
