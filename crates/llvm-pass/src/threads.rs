//! Thread instrumentation: where MPI is called concurrently, and how threads synchronise.
//!
//! Only in a parallel region that calls MPI can an access by one thread be concurrent with an
//! operation of another. If a module has such a region, the accesses of its regions and tasks, and
//! of functions of the module that these call, are recorded: each access, or loop, marks its pages
//! for this (`__commsan_share`). Threads of POSIX, C11 and C++ run concurrently with whatever their
//! creator does: if a module creates such threads and calls MPI, all its accesses are recorded.
//! Other threads cost nothing.

use crate::builder::Builder;
use crate::hooks::SYNCHRONISE;
use crate::ir::{Module, Opcode, Ordering, Value};
use std::collections::{HashMap, HashSet};

unsafe extern "C" {
    safe static commsan_acquire: u64;
    safe static commsan_release: u64;
    safe static commsan_broadcast: u64;
    safe static commsan_atomic: u64;
    pub safe static commsan_parallel: u64;
}

/// Functions by which OpenMP's runtime gets outlined functions.
const STARTERS: &[&str] = &["__kmpc_fork_call", "__kmpc_fork_teams", "__kmpc_omp_task_alloc"];

/// Functions that create threads which only the program's own synchronisation joins; of
/// `std::thread`, the library's part.
const MAKERS: &[&str] = &["pthread_create", "thrd_create", "_ZNSt6thread15_M_start_thread"];

/// The functions whose accesses are recorded.
pub fn sharing(module: Module) -> HashSet<Value> {
    let functions: Vec<_> = module.functions().filter(|f| !f.is_declaration()).collect();
    let mut outlined = HashSet::new();
    let mut callers: Vec<(Value, Value)> = Vec::new();
    let mut reaching: HashSet<Value> = HashSet::new();
    let mut makes_threads = false;
    for function in &functions {
        for call in calls(*function) {
            let name = call.callee_name();
            if STARTERS.iter().any(|starter| name.starts_with(starter)) {
                outlined.extend(call.operands().filter(|operand| functions.contains(operand)));
            }
            makes_threads |= MAKERS.iter().any(|maker| name.starts_with(maker));
            if is_mpi(name) {
                reaching.insert(*function);
            }
            callers.extend(call.callee().map(|callee| (callee, *function)));
        }
    }
    if makes_threads && !reaching.is_empty() {
        return functions.into_iter().collect();
    }
    spread(&mut reaching, &callers);
    if outlined.is_disjoint(&reaching) {
        return HashSet::new();
    }
    let callees: Vec<_> = callers.into_iter().map(|(callee, caller)| (caller, callee)).collect();
    spread(&mut outlined, &callees);
    outlined
}

/// Adds everything that is reachable from a member of the set.
fn spread(set: &mut HashSet<Value>, leads: &[(Value, Value)]) {
    let mut next: HashMap<Value, Vec<Value>> = HashMap::new();
    leads.iter().for_each(|(from, to)| next.entry(*from).or_default().push(*to));
    let mut fresh: Vec<Value> = set.iter().copied().collect();
    while let Some(from) = fresh.pop() {
        let known = next.get(&from).into_iter().flatten();
        fresh.extend(known.filter(|to| set.insert(**to)));
    }
}

fn is_mpi(name: &str) -> bool {
    name.starts_with("MPI_") || name.starts_with("PMPI_") || name.starts_with("mpi_")
}

fn calls(function: Value) -> impl Iterator<Item = Value> {
    let is_call = |i: &Value| matches!(i.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke));
    function.blocks().flat_map(|block| block.instructions()).filter(is_call)
}

/// Inserts reports of atomic operations, fences and writes to volatile variables.
pub fn synchronise(module: Module, function: Value) {
    let all: Vec<_> = function.blocks().flat_map(|block| block.instructions()).collect();
    for instruction in all {
        let Some((address, acquires, releases)) = synchronisation(instruction) else { continue };
        let address = address.unwrap_or_else(|| crate::ir::Type::pointer(module).null());
        if releases != 0 {
            tell(module, instruction, address, releases);
        }
        if let Some(next) = instruction.next().filter(|_| acquires != 0) {
            tell(module, next, address, acquires);
        }
    }
}

fn tell(module: Module, before: Value, address: Value, kind: u64) {
    let mut builder = Builder::before(module, before);
    let parallel = builder.load(64, commsan_parallel, None);
    builder.enter_if(builder.is_not_zero(parallel));
    builder.call(&SYNCHRONISE, &[address, builder.constant(kind)]);
}

/// The memory of a synchronisation, its kinds to report after the instruction, and before it.
fn synchronisation(instruction: Value) -> Option<(Option<Value>, u64, u64)> {
    use Ordering::LLVMAtomicOrderingUnordered as Unordered;
    use Ordering::{LLVMAtomicOrderingAcquire as Acquire, LLVMAtomicOrderingRelease as Release};
    use Ordering::{LLVMAtomicOrderingMonotonic as Relaxed, LLVMAtomicOrderingNotAtomic as Plain};
    let opcode = instruction.opcode()?;
    let address = |index| Some(instruction.operand(index)).filter(|a| a.ty().is_flat_pointer());
    let order = match opcode {
        Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW => instruction.ordering(),
        Opcode::LLVMAtomicCmpXchg => instruction.success_ordering(),
        // All fences except relaxed ones are treated alike.
        Opcode::LLVMFence => return Some((None, 0, commsan_acquire | commsan_release)),
        _ => return None,
    };
    let relaxed = matches!(order, Unordered | Relaxed);
    match opcode {
        Opcode::LLVMStore if order == Plain && instruction.is_volatile() => {
            Some((Some(address(1)?), 0, commsan_broadcast))
        }
        _ if order == Plain => None,
        // A relaxed store orders nothing, but does not race either.
        Opcode::LLVMStore if relaxed => Some((Some(address(1)?), 0, commsan_atomic)),
        _ if relaxed => Some((Some(address(0)?), 0, commsan_atomic)),
        Opcode::LLVMLoad => Some((Some(address(0)?), commsan_acquire, 0)),
        Opcode::LLVMStore => Some((Some(address(1)?), 0, commsan_release)),
        _ => {
            let acquires = if order == Release { 0 } else { commsan_acquire };
            let releases = if order == Acquire { 0 } else { commsan_release };
            Some((Some(address(0)?), acquires, releases))
        }
    }
}
