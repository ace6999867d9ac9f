//! Facts about the program's code that all executed ranks share.

use crate::Calls;
use crate::library::Library;
use commsan_ir::graph::post_dominators;
use commsan_ir::{BlockId, Body, Callee, FunctionId, GlobalId, Inst, Op, Program, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// Code that a condition decides about, and where it ends.
#[derive(Debug)]
pub struct Region {
    pub blocks: Vec<BlockId>,
    pub end: BlockId,
}

/// By the block that ends with the condition.
type Regions = FxHashMap<(FunctionId, BlockId), Option<Rc<Region>>>;

/// A program.
pub struct Text<'p> {
    pub program: &'p Program,
    pub calls: &'p Calls,
    /// Functions that may call MPI, or nobody knows what they do.
    busy: FxHashSet<FunctionId>,
    /// Whether a function that is called when the program ends may call MPI.
    pub ends_later: bool,
    posts: RefCell<FxHashMap<FunctionId, Rc<Vec<Option<BlockId>>>>>,
    regions: RefCell<Regions>,
}

impl<'p> Text<'p> {
    pub fn of(program: &'p Program, calls: &'p Calls) -> Text<'p> {
        let (posts, regions) = Default::default();
        let busy = busy(program, calls);
        let ends_later = ends_later(program, &busy);
        Text { program, calls, busy, ends_later, posts, regions }
    }

    pub fn body(&self, function: FunctionId) -> &'p Body {
        self.program[function].body.as_ref().expect("is defined")
    }

    /// Whether the whole initial value of a variable is known, or zero.
    pub fn is_plain(&self, id: GlobalId) -> bool {
        let global = &self.program[id];
        global.initial.is_empty() && !global.constant || self.step_of(id).is_some() || {
            let mut at = global.initial.iter().map(|(at, _)| *at);
            at.next() == Some(0)
        }
    }

    /// The distance of numbers of which a variable is full.
    pub fn step_of(&self, id: GlobalId) -> Option<i64> {
        let global = &self.program[id];
        let [(0, _), rest @ ..] = &global.initial[..] else { return None };
        let count = rest.len() as u64 + 1;
        let step = global.size.checked_div(count)?;
        let regular = (1..).zip(rest).all(|(n, (at, _))| *at == n * step);
        (regular && step * count == global.size && step <= 8).then_some(step as i64)
    }

    /// Whether a function of a library runs others at the same time, or changes where the program
    /// goes on.
    pub fn starts_threads(&self, name: &str) -> bool {
        const BEGINS: [&str; 8] = [
            "pthread_",
            "thrd_",
            "_ZNSt6thread",
            "__kmpc_",
            "fork",
            "setjmp",
            "_setjmp",
            "longjmp",
        ];
        BEGINS.iter().any(|begin| name.starts_with(begin))
            && !name.starts_with("__kmpc_global_thread_num")
            && !name.starts_with("pthread_mutex")
    }

    /// Whether a function of the program changes no memory that others know of.
    pub fn is_idle(&self, function: FunctionId) -> bool {
        let Some(body) = &self.program[function].body else { return false };
        let is_own = |value: &Value| matches!(value, Value::Inst(id) if matches!(body[*id].op, Op::Alloca(_)));
        body.code.iter().all(|inst| match inst.op {
            Op::Store(_) => is_own(&inst.args[1]),
            Op::Atomic(_) => inst.args.len() < 2,
            Op::Copy | Op::Fill => is_own(&inst.args[0]),
            Op::Call(Callee::Direct(callee)) => {
                let called = &self.program[callee];
                called.body.is_none() && Library::of(&called.name) == Library::Nothing
            }
            Op::Call(_) => false,
            _ => true,
        })
    }

    /// What is between the end of a block and where all ways from it meet, ways that end the job
    /// left out; none if MPI may be called there.
    pub fn region(&self, function: FunctionId, block: BlockId) -> Option<Rc<Region>> {
        if let Some(known) = self.regions.borrow().get(&(function, block)) {
            return known.clone();
        }
        let found = self.find_region(function, block).map(Rc::new);
        self.regions.borrow_mut().insert((function, block), found.clone());
        found
    }

    fn find_region(&self, function: FunctionId, block: BlockId) -> Option<Region> {
        let body = self.body(function);
        let posts = self.posts(function);
        let end = posts[block.0 as usize]?;
        let mut blocks = Vec::new();
        let mut open: Vec<_> = body[block].next.to_vec();
        while let Some(next) = open.pop() {
            let over = next == end || blocks.contains(&next) || self.ends_job(body, next);
            if over {
                continue;
            }
            blocks.push(next);
            open.extend(body[next].next.iter().copied());
        }
        let quiet = |inst: &Inst| !self.may_call_mpi(inst);
        let all = blocks.iter().flat_map(|block| body.instructions(*block));
        all.map(|(_, inst)| inst).all(quiet).then_some(Region { blocks, end })
    }

    /// Whether a block ends the job: by `MPI_Abort`, or in what does not return.
    fn ends_job(&self, body: &Body, block: BlockId) -> bool {
        body.instructions(block).any(|(_, inst)| {
            inst.op == Op::Unreachable
                || self.calls.at(inst).is_some_and(|mpi| mpi.name == "MPI_Abort")
        })
    }

    fn may_call_mpi(&self, inst: &Inst) -> bool {
        match inst.op {
            Op::Call(Callee::Direct(callee)) => {
                self.calls.get(callee).is_some() || self.busy.contains(&callee)
            }
            Op::Call(_) => true,
            _ => false,
        }
    }

    fn posts(&self, function: FunctionId) -> Rc<Vec<Option<BlockId>>> {
        let mut posts = self.posts.borrow_mut();
        let found = posts.entry(function);
        Rc::clone(found.or_insert_with(|| Rc::new(post_dominators(self.body(function)))))
    }
}

/// Functions that may call MPI, or nobody knows what they do, by way of others too.
fn busy(program: &Program, calls: &Calls) -> FxHashSet<FunctionId> {
    let mut found = FxHashSet::default();
    let outside = (0..).map(FunctionId).zip(&program.functions).filter(|(id, function)| {
        let name = &*function.name;
        let ends = matches!(name, "exit" | "_exit" | "quick_exit" | "_FortranAStopStatement");
        let threads = ["pthread_create", "thrd_", "_ZNSt6thread", "__kmpc_", "fork"];
        function.body.is_none()
            && (calls.get(*id).is_some()
                || ends
                || threads.iter().any(|with| name.starts_with(with)))
    });
    found.extend(outside.map(|(id, _)| id));
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    for (id, _, body) in program.defined() {
        for inst in &body.code {
            match inst.op {
                Op::Call(Callee::Direct(callee)) => callers.entry(callee).or_default().push(id),
                Op::Call(_) => {
                    found.insert(id);
                }
                _ => {}
            }
        }
    }
    let mut open: Vec<_> = found.iter().copied().collect();
    while let Some(function) = open.pop() {
        for caller in callers.remove(&function).unwrap_or_default() {
            if found.insert(caller) {
                open.push(caller);
            }
        }
    }
    found
}

/// Whether a function that may call MPI is left to be called when the program ends.
fn ends_later(program: &Program, busy: &FxHashSet<FunctionId>) -> bool {
    let mut code = program.defined().flat_map(|(_, _, body)| &body.code);
    code.any(|inst| match inst.op {
        Op::Call(Callee::Direct(callee)) => {
            let is_busy = |arg: &Value| matches!(arg, Value::Function(f) if busy.contains(f));
            program[callee].name.contains("atexit") && inst.args.iter().any(is_busy)
        }
        _ => false,
    })
}
