//! Calls of the OpenMP runtime, as clang and flang make them (LLVM's `kmp.h`), and of POSIX threads.

use commsan_ir::{Body, Callee, FunctionId, Inst, Op, Program, Value};

/// What a call does to the threads of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Forks a team that runs this function.
    Fork(Option<FunctionId>),
    /// The number of threads of the next team.
    NumThreads(Value),
    /// A region that a thread enters if the result is not zero.
    Enter(Scope),
    /// The end of such a region.
    Leave(Scope),
    /// A region that every thread enters when no other is in it.
    Lock(Value),
    /// Its end.
    Unlock(Value),
    /// All threads of the team wait for each other.
    Barrier,
    /// The iterations of a loop, or sections, are divided among the threads.
    Share {
        /// Whether these are sections.
        sections: bool,
    },
    /// The thread has done its part.
    Shared,
    /// A loop whose iterations are handed out while it runs; not zero if there are more.
    Next,
    /// Makes a task of this function.
    NewTask(Option<FunctionId>),
    /// Hands a task over to the team; whether it names what it depends on.
    Task {
        /// The task.
        task: Value,
        /// Whether it has `depend` clauses.
        ordered: bool,
    },
    /// Hands over many tasks.
    TaskLoop(Value),
    /// The thread waits for its tasks.
    TaskWait,
    /// The number of the thread in its team.
    ThreadNumber,
    /// Starts a thread that runs this function.
    Create(Option<FunctionId>),
    /// Waits for the end of a thread.
    Join,
}

/// Regions that the runtime lets one thread into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `single`: whichever comes first.
    Single,
    /// `master`, `masked`: the first thread of the team.
    Master,
}

/// What a call means, if it is one of these.
pub fn runtime(program: &Program, inst: &Inst) -> Option<Runtime> {
    let Op::Call(Callee::Direct(callee)) = inst.op else { return None };
    let name = &*program[callee].name;
    let arg = |n: usize| inst.args.get(n).copied().unwrap_or(Value::Opaque);
    let function = |n: usize| match arg(n) {
        Value::Function(id) => Some(id),
        _ => None,
    };
    if let Some(name) = name.strip_prefix("__kmpc_") {
        return Some(match name {
            "fork_call" | "fork_call_if" | "fork_teams" => Runtime::Fork(function(2)),
            "push_num_threads" => Runtime::NumThreads(arg(2)),
            "single" => Runtime::Enter(Scope::Single),
            "end_single" => Runtime::Leave(Scope::Single),
            // Another filter than the first thread's makes it some thread's.
            "masked" if arg(2) != Value::Int(0) => Runtime::Enter(Scope::Single),
            "master" | "masked" => Runtime::Enter(Scope::Master),
            "end_master" | "end_masked" => Runtime::Leave(Scope::Master),
            "critical" | "critical_with_hint" => Runtime::Lock(arg(2)),
            "end_critical" => Runtime::Unlock(arg(2)),
            // One lock for each loop; iterations take turns.
            "ordered" => Runtime::Lock(Value::Opaque),
            "end_ordered" => Runtime::Unlock(Value::Opaque),
            "barrier" | "cancel_barrier" => Runtime::Barrier,
            "omp_task_alloc" => Runtime::NewTask(function(5)),
            "omp_task" => Runtime::Task { task: arg(2), ordered: false },
            "omp_task_with_deps" => Runtime::Task { task: arg(2), ordered: true },
            "taskloop" | "taskloop_5" => Runtime::TaskLoop(arg(2)),
            "omp_taskwait" | "omp_wait_deps" | "omp_taskwait_deps_51" | "end_taskgroup" => {
                Runtime::TaskWait
            }
            "for_static_fini" | "dispatch_deinit" => Runtime::Shared,
            _ if name.starts_with("for_static_init") => {
                Runtime::Share { sections: flags(program, arg(0)) & SECTIONS != 0 }
            }
            _ if name.starts_with("dispatch_next") => Runtime::Next,
            _ => return None,
        });
    }
    Some(match name {
        "omp_set_lock" | "omp_set_nest_lock" | "pthread_mutex_lock" | "pthread_spin_lock" => {
            Runtime::Lock(arg(0))
        }
        "omp_unset_lock"
        | "omp_unset_nest_lock"
        | "pthread_mutex_unlock"
        | "pthread_spin_unlock" => Runtime::Unlock(arg(0)),
        "omp_set_lock_" => Runtime::Lock(arg(0)),
        "omp_unset_lock_" => Runtime::Unlock(arg(0)),
        "omp_get_thread_num" | "omp_get_thread_num_" => Runtime::ThreadNumber,
        "pthread_create" => Runtime::Create(function(2)),
        "pthread_join" => Runtime::Join,
        _ => return None,
    })
}

/// Of the `ident_t` that describes a place in the source: what kind of worksharing it is for.
const SECTIONS: i64 = 0x400;

fn flags(program: &Program, ident: Value) -> i64 {
    const FLAGS: u64 = 4;
    let Value::Global(id, 0) = ident else { return 0 };
    match program[id].initial.iter().find(|(at, _)| *at == FLAGS) {
        Some((_, Value::Int(flags))) => *flags,
        _ => 0,
    }
}

/// The call whose result a task handed over is.
pub fn task_entry(program: &Program, body: &Body, task: Value) -> Option<FunctionId> {
    let Value::Inst(id) = task else { return None };
    match runtime(program, &body[id])? {
        Runtime::NewTask(entry) => entry,
        _ => None,
    }
}
