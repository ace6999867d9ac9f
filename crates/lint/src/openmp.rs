//! Calls of the OpenMP runtime, as clang and flang make them (LLVM's `kmp.h`), and of threads of
//! POSIX and C.

use commsan_ir::{Body, Callee, Compare, FunctionId, Inst, Op, Program, Value};
use commsan_points_to::calls::{CREATED_BY, START_OF_CXX};
use smallvec::SmallVec;

/// What a call does to the threads of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Forks a team that runs this function.
    Fork(Option<FunctionId>),
    /// The number of threads of the next team.
    NumThreads(Value),
    /// The number of threads of teams from now on.
    DefaultThreads(Value),
    /// A region that a thread enters if the result is not zero.
    Enter(Scope),
    /// The end of such a region.
    Leave(Scope),
    /// A region that every thread enters when no other is in it.
    Critical(Value),
    /// Its end.
    EndCritical,
    /// Takes a lock.
    Lock(Value),
    /// Takes a lock if it is free.
    TryLock {
        /// What is locked.
        lock: Value,
        /// What the call returns then: zero, or anything else.
        zero: bool,
    },
    /// Gives a lock back.
    Unlock(Value),
    /// All threads of the team wait for each other.
    Barrier,
    /// The thread waits for another, in a way that nothing more is known of.
    Wait,
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
    /// The thread waits for the tasks of a group and all their descendants.
    GroupWait,
    /// The number of the thread in its team.
    ThreadNumber,
    /// The number of threads in the team.
    TeamSize,
    /// Not zero in a parallel region.
    InParallel,
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
    /// `masked filter(…)`: the thread of this number.
    Numbered(Value),
}

/// What a call means, if it is one of these.
pub fn runtime(program: &Program, inst: &Inst) -> Option<Runtime> {
    let Op::Call(Callee::Direct(callee)) = inst.op else { return None };
    let called = &program[callee];
    // What the program defines itself is its own.
    if called.body.is_some() {
        return None;
    }
    let call = Call { program, args: &inst.args };
    if let Some(name) = called.name.strip_prefix("__kmpc_") {
        return call.of_compiler(name);
    }
    // Fortran's names end in an underscore.
    let openmp = called.name.strip_prefix("omp_").map(|name| name.trim_end_matches('_'));
    openmp.map_or_else(|| call.of_threads(&called.name), |name| call.of_program(name))
}

struct Call<'c> {
    program: &'c Program,
    args: &'c [Value],
}

impl Call<'_> {
    fn arg(&self, n: usize) -> Value {
        self.args.get(n).copied().unwrap_or(Value::Opaque)
    }

    fn function(&self, n: usize) -> Option<FunctionId> {
        match self.arg(n) {
            Value::Function(id) => Some(id),
            _ => None,
        }
    }

    /// What compilers make of directives.
    fn of_compiler(&self, name: &str) -> Option<Runtime> {
        Some(match name {
            "fork_call" | "fork_teams" => Runtime::Fork(self.function(2)),
            "push_num_threads" | "push_num_threads_strict" | "push_num_teams" => {
                Runtime::NumThreads(self.arg(2))
            }
            // Lower and upper bound.
            "push_num_teams_51" => Runtime::NumThreads(self.arg(3)),
            "single" => Runtime::Enter(Scope::Single),
            "end_single" => Runtime::Leave(Scope::Single),
            "masked" if self.arg(2) != Value::Int(0) => {
                Runtime::Enter(Scope::Numbered(self.arg(2)))
            }
            "master" | "masked" => Runtime::Enter(Scope::Master),
            "end_master" | "end_masked" => Runtime::Leave(Scope::Master),
            "critical" | "critical_with_hint" => Runtime::Critical(self.arg(2)),
            // One lock for each loop; iterations take turns.
            "ordered" => Runtime::Critical(Value::Opaque),
            "end_critical" | "end_ordered" => Runtime::EndCritical,
            // The last two wait for all, too.
            "barrier" | "cancel_barrier" | "copyprivate" | "end_reduce" => Runtime::Barrier,
            "flush" | "doacross_wait" => Runtime::Wait,
            "omp_task_alloc" => Runtime::NewTask(self.function(5)),
            "omp_task" => Runtime::Task { task: self.arg(2), ordered: false },
            "omp_task_with_deps" => Runtime::Task { task: self.arg(2), ordered: true },
            "taskloop" | "taskloop_5" => Runtime::TaskLoop(self.arg(2)),
            "omp_taskwait" | "omp_wait_deps" | "omp_taskwait_deps_51" => Runtime::TaskWait,
            "end_taskgroup" => Runtime::GroupWait,
            "for_static_fini" | "dispatch_deinit" => Runtime::Shared,
            _ if name.starts_with("for_static_init")
                || name.starts_with("dist_for_static_init") =>
            {
                Runtime::Share { sections: flags(self.program, self.arg(0)) & SECTIONS != 0 }
            }
            _ if name.starts_with("dispatch_next") => Runtime::Next,
            _ => return None,
        })
    }

    /// What programs call themselves, without `omp_`.
    fn of_program(&self, name: &str) -> Option<Runtime> {
        Some(match name {
            "set_lock" | "set_nest_lock" => Runtime::Lock(self.arg(0)),
            "test_lock" | "test_nest_lock" => Runtime::TryLock { lock: self.arg(0), zero: false },
            "unset_lock" | "unset_nest_lock" => Runtime::Unlock(self.arg(0)),
            "get_thread_num" => Runtime::ThreadNumber,
            "get_num_threads" => Runtime::TeamSize,
            "set_num_threads" => Runtime::DefaultThreads(self.arg(0)),
            "in_parallel" | "get_level" | "get_active_level" => Runtime::InParallel,
            _ => return None,
        })
    }

    fn of_threads(&self, name: &str) -> Option<Runtime> {
        Some(match name {
            "pthread_mutex_lock"
            | "pthread_spin_lock"
            | "pthread_rwlock_wrlock"
            | "pthread_rwlock_rdlock"
            | "mtx_lock" => Runtime::Lock(self.arg(0)),
            "pthread_mutex_trylock"
            | "pthread_mutex_timedlock"
            | "pthread_mutex_clocklock"
            | "pthread_spin_trylock"
            | "pthread_rwlock_trywrlock"
            | "mtx_trylock"
            | "mtx_timedlock" => Runtime::TryLock { lock: self.arg(0), zero: true },
            "pthread_mutex_unlock"
            | "pthread_spin_unlock"
            | "pthread_rwlock_unlock"
            | "mtx_unlock" => Runtime::Unlock(self.arg(0)),
            "pthread_create" => Runtime::Create(self.function(2)),
            "thrd_create" => Runtime::Create(self.function(1)),
            // What it runs was found by `pointers::threads`.
            _ if name.starts_with(START_OF_CXX) => Runtime::Create(self.function(3)),
            "pthread_join" | "thrd_join" | "_ZNSt6thread4joinEv" => Runtime::Join,
            "pthread_cond_wait"
            | "pthread_cond_timedwait"
            | "pthread_cond_clockwait"
            | "pthread_barrier_wait"
            | "sem_wait"
            | "sem_timedwait"
            | "sem_trywait"
            | "cnd_wait"
            | "cnd_timedwait"
            | "read"
            | "poll"
            | "select"
            | "epoll_wait"
            | "sigwait"
            | "syscall"
            | "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE" => Runtime::Wait,
            _ => return None,
        })
    }
}

/// The functions one of which a call starts in a thread of its own. `pointers::threads` has put
/// them there where the program does not name one.
pub fn created(program: &Program, inst: &Inst) -> SmallVec<[FunctionId; 1]> {
    let Some(Runtime::Create(first)) = runtime(program, inst) else { return SmallVec::new() };
    let others = inst.args.iter().skip(CREATED_BY).filter_map(|arg| match arg {
        Value::Function(id) => Some(*id),
        _ => None,
    });
    first.into_iter().chain(others).collect()
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

/// A condition that asks the runtime.
pub struct Test {
    /// What is asked.
    pub what: Runtime,
    /// Whether the first way is taken if the answer is yes.
    pub when: bool,
}

/// What a branch's condition asks, if it compares an answer with a constant.
pub fn tested(program: &Program, body: &Body, condition: Value) -> Option<Test> {
    let Value::Inst(id) = condition else { return None };
    let inst = &body[id];
    let (comparison, number) = match (&inst.op, &*inst.args) {
        (Op::Compare(comparison), [_, Value::Int(number)]) => (*comparison, *number),
        // Fortran's logicals.
        (Op::Cast, [value]) => return tested(program, body, *value),
        _ => return None,
    };
    let equal = match comparison {
        Compare::Equal => true,
        Compare::NotEqual => false,
        _ => return None,
    };
    let mut asked = inst.args[0];
    while let Value::Inst(id) = asked {
        match (&body[id].op, &*body[id].args) {
            (Op::Cast, [value]) => asked = *value,
            _ => break,
        }
    }
    let Value::Inst(call) = asked else { return None };
    let what = runtime(program, &body[call])?;
    // Not zero is yes; some compilers ask for 1.
    let when = if what == Runtime::ThreadNumber { equal } else { equal == (number != 0) };
    Some(Test { what, when })
}
