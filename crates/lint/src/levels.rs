//! Thread-level checking with parallelism words (Saillard, Carribault, Barthou: MPI Thread-Level
//! Checking for MPI+OpenMP Applications, Euro-Par 2015; MPI 4.1 §11.6): which thread level the
//! program needs, which calls violate the one it requests, and which calls no level allows.
//!
//! **How.** Each function is analysed once: which constructs, locks and tests of the thread's
//! number enclose each place ([`shape`]), the last with the help of thread divergence
//! ([`thread_divergence`]). From `main` on, each function is then instantiated for every
//! parallelism word that it is called in ([`instances`]). A word says which threads reach a call,
//! and so which level it needs ([`word`]); a traversal from each call to the next barrier finds
//! which others may happen in parallel ([`concurrent`]).
//!
//! **What is found.** All OpenMP constructs that clang and flang lower to runtime calls, `critical`
//! and locks, also acquired and released by functions of the program, explicit tasks, tests of
//! `omp_get_thread_num`, `omp_in_parallel` and `MPI_Is_thread_main`, threads of POSIX and C;
//! through calls of functions of the program, in every calling context. Where a pointer may refer
//! to several functions, what follows from calling one of them is possible, not certain. Threads of
//! C++ are other threads than the first; which of their calls run concurrently is not known.
//!
//! **What it can miss.** Functions called through pointers from outside the program, threads of
//! other libraries, barriers that only some threads of a team reach, unless by a test of their
//! number. An `if` clause or a team size that is not constant counts as many threads.
//!
//! **What it never misreports.** Calls that two threads can only make one after the other, because
//! of a barrier on every path between them, a common lock, `depend` clauses, or because it is the
//! same thread. What is unknown counts as ordered: locks that cannot be distinguished, code after a
//! wait or after a read of an atomic or volatile variable, a thread selected by a number that is
//! not constant or by a private value. A level that the program compares with the provided one
//! counts as requested. Collectives of all threads at once are reported only on a communicator that
//! all threads name alike.

mod concurrent;
mod facts;
mod instances;
mod provided;
mod report;
mod shape;
mod thread_divergence;
mod word;

use crate::Calls;
use crate::environment::Environment;
use crate::{Analysis, Options};
use commsan_ir::{FunctionId, InstId, Program};
use commsan_mpi_calls::abi::Constants;
use commsan_points_to::PointsTo;
use instances::Instances;
use rustc_hash::FxHashSet;
use shape::Shapes;
use thread_divergence::ThreadDivergence;
use word::{Letter, Spot};

/// MPI's thread levels (MPI 4.1 §11.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// One thread only.
    Single,
    /// Only the thread that initialised MPI calls it.
    Funneled,
    /// One thread at a time calls it.
    Serialized,
    /// Any thread, any time.
    Multiple,
}

/// In which threads a function runs that nobody in the program calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Context {
    /// In the first thread, outside parallel regions.
    #[default]
    Main,
    /// In all threads of a parallel region.
    Parallel,
    /// In one thread of a parallel region, any of them.
    Single,
    /// In the first thread of a parallel region.
    Master,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Level::Single => "MPI_THREAD_SINGLE",
            Level::Funneled => "MPI_THREAD_FUNNELED",
            Level::Serialized => "MPI_THREAD_SERIALIZED",
            Level::Multiple => "MPI_THREAD_MULTIPLE",
        })
    }
}

impl Level {
    const ALL: [Level; 4] = [Level::Single, Level::Funneled, Level::Serialized, Level::Multiple];

    /// From the value of the constant in `mpi.h`.
    fn from_constant(constants: &Constants, value: i64) -> Option<Level> {
        Level::ALL.into_iter().find(|level| value == level.constant(constants))
    }

    fn constant(self, constants: &Constants) -> i64 {
        match self {
            Level::Single => constants.thread_single,
            Level::Funneled => constants.thread_funneled,
            Level::Serialized => constants.thread_serialized,
            Level::Multiple => constants.thread_multiple,
        }
    }

    /// The next higher one.
    fn next(self) -> Option<Level> {
        Level::ALL.into_iter().find(|level| *level > self)
    }
}

impl Context {
    fn word(self) -> Vec<Letter> {
        let team = Letter::Parallel(OUTSIDE, None);
        match self {
            Context::Main => vec![],
            Context::Parallel => vec![team],
            Context::Single => vec![team, Letter::Single(OUTSIDE)],
            Context::Master => vec![team, Letter::Master(OUTSIDE)],
        }
    }
}

/// What the program asks for when it initialises MPI.
#[derive(Clone, Copy, Debug)]
struct Asked {
    level: Level,
    /// The call, unless the user has said the level.
    at: Option<Spot>,
}

/// A place that is not in the program.
const OUTSIDE: Spot = Spot { function: FunctionId(u32::MAX), inst: InstId(u32::MAX) };

/// Finds violations and says which level the program needs.
pub fn check(
    program: &Program,
    calls: &Calls,
    points_to: &PointsTo,
    environment: &Environment,
    options: &Options,
    analysis: &mut Analysis,
) {
    let context = if is_program(program) { Context::Main } else { options.context };
    let enter = |root| (root, entered(program, root, context));
    let roots: Vec<_> = roots(program, points_to).into_iter().map(enter).collect();
    let relevant = instances::relevant(program, calls, points_to);
    let threads: Vec<_> = roots.iter().filter(|(_, word)| !word.is_empty()).map(|r| r.0).collect();
    let divergence = ThreadDivergence::of(program, calls, points_to, &relevant, &threads);
    let shapes = Shapes::of(program, calls, points_to, &divergence, &relevant);
    let instances = Instances::of(program, calls, points_to, &shapes, &roots, &context.word());
    if instances.events.is_empty() {
        return;
    }
    let asked = match options.level {
        Some(level) => Some(Asked { level, at: None }),
        None => asked(program, calls, environment.constants()),
    };
    let pairs = concurrent::pairs(&instances);
    report::Report::new(&instances, &pairs, asked).write(analysis);
}

/// `main`, in C and in Fortran.
pub(crate) const MAINS: [&str; 2] = ["main", commsan_ir::FORTRAN_PROGRAM];

fn is_program(program: &Program) -> bool {
    program.defined().any(|(_, function, _)| MAINS.contains(&&*function.name))
}

/// Functions that nobody in the program calls or names.
pub(crate) fn roots(program: &Program, points_to: &PointsTo) -> Vec<FunctionId> {
    let mut called = FxHashSet::default();
    for (id, _, body) in program.defined() {
        let mentioned = |inst| instances::mentioned(points_to, id, inst);
        for callee in body.code.iter().flat_map(mentioned) {
            if callee != id {
                called.insert(callee);
            }
        }
    }
    program.defined().map(|(id, ..)| id).filter(|id| !called.contains(id)).collect()
}

/// The word that a function is entered in that nobody calls.
fn entered(program: &Program, function: FunctionId, context: Context) -> Vec<Letter> {
    if is_thread_of_cxx(&program[function].name) {
        return vec![Letter::Thread(OUTSIDE, None)];
    }
    context.word()
}

/// What libstdc++ lets a `std::thread` run.
fn is_thread_of_cxx(name: &str) -> bool {
    name.starts_with("_ZNSt6thread11_State_impl") && name.ends_with("6_M_runEv")
}

/// The level named where MPI is initialised, or a higher one that the program finds provided; none
/// where it is not known, or where there are several.
fn asked(program: &Program, calls: &Calls, constants: &Constants) -> Option<Asked> {
    let asked = named(program, calls, constants)?;
    let level =
        provided::compared(program, calls, constants).map_or(asked.level, |l| l.max(asked.level));
    Some(Asked { level, ..asked })
}

/// The level named where MPI is initialised.
fn named(program: &Program, calls: &Calls, constants: &Constants) -> Option<Asked> {
    let mut found: Option<Asked> = None;
    for (function, _, body) in program.defined() {
        for (index, inst) in body.code.iter().enumerate() {
            let Some(mpi) = calls.at(inst) else { continue };
            let level = match &*mpi.name {
                "MPI_Init" => Level::Single,
                "MPI_Init_thread" => {
                    let index = if mpi.by_reference { 0 } else { 2 };
                    Level::from_constant(constants, mpi.integer(program, body, inst, index)?)?
                }
                _ => continue,
            };
            if found.is_some_and(|other| other.level != level) {
                return None;
            }
            let spot = Spot { function, inst: InstId(index as u32) };
            found.get_or_insert(Asked { level, at: Some(spot) });
        }
    }
    found
}
