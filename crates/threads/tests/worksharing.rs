//! Pieces of worksharing constructs against an oracle: random programs of two threads that take
//! pieces, and order them by locks. One test, since agents belong to the process.

mod team;

use commsan_process::abi;
use commsan_shadow::Epoch;
use commsan_threads::{Observer, agents};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use team::{Answers, Steps};

use agents::worksharing;

const THREADS: usize = 2;
const LOCKS: u64 = 2;

/// What a thread does at one step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Comes to a construct.
    Open,
    /// Takes another piece.
    Take,
    /// Has no pieces left.
    Close,
    /// Uses memory.
    Use,
    Acquire(u64),
    Release(u64),
}

fn programs() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        1 => Just(Step::Open),
        5 => Just(Step::Take),
        1 => Just(Step::Close),
        8 => Just(Step::Use),
        2 => (0..LOCKS).prop_map(Step::Acquire),
        2 => (0..LOCKS).prop_map(Step::Release),
    ];
    prop::collection::vec((0..THREADS, step), 1..60)
}

/// Runs a thread as a member of a team, step by step.
fn work(id: u64, steps: &Steps<Step>, answers: &Answers) {
    let suspended = agents::begin(agents::cell(agents::Kind::Begin, id));
    worksharing::join();
    let lock = |number| agents::cell(agents::Kind::Lock, id * LOCKS + number);
    for (step, earlier) in steps {
        let mut answer = None;
        match step {
            Step::Open => worksharing::open(),
            Step::Take => worksharing::take(),
            Step::Close => worksharing::close(),
            Step::Acquire(number) => agents::acquire(lock(number)),
            Step::Release(number) => agents::release(lock(number)),
            Step::Use => {
                let actor = agents::actor().expect("several agents");
                let ordered = |past: &Epoch| {
                    past.happens_before(&actor.clock) && !worksharing::is_by_mapping(*past)
                };
                answer = Some((actor.stamp, earlier.iter().map(ordered).collect()));
            }
        }
        answers.send(answer).expect("the test waits");
    }
    worksharing::close();
    agents::end(&[agents::cell(agents::Kind::End, id)], suspended);
}

/// For each use of the program, which earlier ones commsan orders before it.
fn by_clocks(program: &[(usize, Step)]) -> Vec<Vec<bool>> {
    team::execute(THREADS, program, work)
}

/// A logical task: a piece of a construct of a thread, or what the thread does besides.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Task {
    thread: usize,
    construct: usize,
    piece: usize,
}

/// The logical task of each step.
fn tasks(program: &[(usize, Step)]) -> Vec<Task> {
    let mut now: Vec<Task> =
        (0..THREADS).map(|thread| Task { thread, construct: 0, piece: 0 }).collect();
    let (mut constructs, mut open, mut taken) = (0, [false; THREADS], [0usize; THREADS]);
    let mut all = Vec::new();
    for (thread, step) in program {
        let task = &mut now[*thread];
        match step {
            Step::Open | Step::Close => {
                constructs += 1;
                (open[*thread], taken[*thread]) = (*step == Step::Open, 0);
                *task = Task { thread: *thread, construct: constructs, piece: 0 };
            }
            Step::Take if open[*thread] => {
                taken[*thread] += 1;
                // Of many pieces, later ones are groups.
                if taken[*thread] <= 16 || taken[*thread].is_power_of_two() {
                    task.piece = taken[*thread];
                }
            }
            _ => {}
        }
        all.push(*task);
    }
    all
}

/// Whether two tasks are pieces of one construct that one thread took.
fn are_apart(a: Task, b: Task) -> bool {
    (a.thread, a.construct) == (b.thread, b.construct)
        && a.piece != b.piece
        && a.piece != 0
        && b.piece != 0
}

/// For each use of the program, which earlier ones happen before it: for pieces of one construct
/// by the logical order of tasks, else by that of threads. `carried` says whether a release brings
/// a task the earlier pieces of the releasing thread as well.
fn by_definition(program: &[(usize, Step)], carried: bool) -> Vec<Vec<bool>> {
    const LOGICAL: usize = 0;
    const BY_THREAD: usize = 1;
    let tasks = tasks(program);
    let count = program.len();
    let mut before = vec![vec![[false; 2]; count]; count];
    for later in 0..count {
        for earlier in 0..later {
            let own = tasks[earlier].thread == tasks[later].thread;
            let logically = own && !are_apart(tasks[earlier], tasks[later]);
            let by_lock = matches!((program[earlier].1, program[later].1),
                (Step::Release(a), Step::Acquire(b)) if a == b);
            let brought = if carried { BY_THREAD } else { LOGICAL };
            for (order, comes, from) in [
                (BY_THREAD, own || by_lock, BY_THREAD),
                (LOGICAL, logically, LOGICAL),
                (LOGICAL, by_lock, brought),
            ] {
                before[earlier][later][order] |= comes;
                for first in &mut before[..earlier] {
                    first[later][order] |= comes && first[earlier][from];
                }
            }
        }
    }
    let uses: Vec<usize> = (0..count).filter(|i| program[*i].1 == Step::Use).collect();
    let is_before = |earlier: usize, later: usize| {
        let order = if are_apart(tasks[earlier], tasks[later]) { LOGICAL } else { BY_THREAD };
        before[earlier][later][order]
    };
    let known = |(index, later): (usize, &usize)| {
        uses[..index].iter().map(|earlier| is_before(*earlier, *later)).collect()
    };
    uses.iter().enumerate().map(known).collect()
}

#[test]
fn pieces_are_ordered_as_logical_tasks_are() {
    abi::map().expect("nothing else is at the address");
    commsan_threads::connect(Observer { popped: |_| {}, sequential: || {}, lock: |_, _| {} });
    agents::expect(1);
    let suspended = agents::begin(agents::cell(agents::Kind::Begin, agents::new_id()));
    let mut runner = TestRunner::new(Config { cases: 400, ..Config::default() });
    let result = runner.run(&programs(), |program| {
        let found = by_clocks(&program);
        prop_assert_eq!(&found, &by_definition(&program, true));
        let logical = by_definition(&program, false);
        for (found, logical) in found.iter().flatten().zip(logical.iter().flatten()) {
            prop_assert!(*found || !*logical, "what is ordered is never called unordered");
        }
        Ok(())
    });
    result.unwrap();
    let pieces = [Step::Open, Step::Take, Step::Use, Step::Take, Step::Use, Step::Close, Step::Use];
    let program: Vec<_> = pieces.into_iter().map(|step| (0, step)).collect();
    let found = by_clocks(&program);
    assert_eq!(found[1], [false], "pieces are not ordered");
    assert_eq!(found[2], [true, true], "the thread comes after its pieces");
    agents::end(&[], suspended);
}
