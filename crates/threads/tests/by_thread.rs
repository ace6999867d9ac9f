//! Tasks that threads execute in turns against an oracle: random programs of two threads. One test,
//! since agents belong to the process.

mod team;

use commsan_process::abi;
use commsan_shadow::Epoch;
use commsan_threads::agents::{self, Suspended, by_thread};
use commsan_threads::{Observer, agents::Kind};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use team::{Answers, Steps};

const THREADS: usize = 2;

/// What a thread does at one step.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Begins a task, on top of what it executes.
    Begin,
    /// Ends the task that it has begun last.
    End,
    /// Asks for its number.
    Ask,
    /// Uses memory.
    Use,
}

fn programs() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        2 => Just(Step::Begin),
        2 => Just(Step::End),
        2 => Just(Step::Ask),
        4 => Just(Step::Use),
    ];
    prop::collection::vec((0..THREADS, step), 1..50)
}

/// Whether an earlier use is ordered before what this thread does, in memory that may be its own.
fn is_ordered(past: Epoch) -> bool {
    let actor = agents::actor().expect("several agents");
    past.happens_before(&actor.clock)
        || by_thread::has_executed(past) && by_thread::both_have_asked(past)
}

/// Runs a thread of the team, step by step.
fn work(id: u64, steps: &Steps<Step>, answers: &Answers) {
    let cell = agents::cell(Kind::Begin, id);
    let first = agents::begin(cell);
    let mut begun: Vec<Suspended> = Vec::new();
    for (step, earlier) in steps {
        let mut answer = None;
        match step {
            Step::Begin => {
                agents::expect(1);
                begun.push(agents::begin(cell));
            }
            Step::End => _ = begun.pop().map(|task| agents::end(&[], task)),
            Step::Ask => by_thread::ask(),
            Step::Use => {
                let ordered = earlier.into_iter().map(is_ordered).collect();
                answer = Some((agents::stamp(), ordered));
            }
        }
        answers.send(answer).expect("the test waits");
    }
    begun.into_iter().rev().for_each(|task| agents::end(&[], task));
    agents::end(&[agents::cell(Kind::End, id)], first);
}

/// For each use of the program, which earlier ones are ordered before it: those of the same task,
/// and those of tasks of the same thread if both tasks have asked for its number.
fn by_definition(program: &[(usize, Step)]) -> Vec<Vec<bool>> {
    let mut begun: Vec<Vec<usize>> = (0..THREADS).map(|thread| vec![thread]).collect();
    let mut has_asked = vec![false; THREADS];
    let (mut uses, mut found): (Vec<(usize, usize)>, Vec<Vec<bool>>) = Default::default();
    for (thread, step) in program {
        let me = *begun[*thread].last().expect("its first task does not end");
        match step {
            Step::Begin => {
                begun[*thread].push(has_asked.len());
                has_asked.push(false);
            }
            Step::End if begun[*thread].len() > 1 => _ = begun[*thread].pop(),
            Step::End => {}
            Step::Ask => has_asked[me] = true,
            Step::Use => {
                let is_before = |(on, by): &(usize, usize)| {
                    *by == me || on == thread && has_asked[*by] && has_asked[me]
                };
                found.push(uses.iter().map(is_before).collect());
                uses.push((*thread, me));
            }
        }
    }
    found
}

#[test]
fn tasks_of_a_thread_take_turns_with_what_is_its_own() {
    abi::map().expect("nothing else is at the address");
    commsan_threads::connect(Observer { popped: |_| {}, sequential: || {}, lock: |_, _| {} });
    agents::expect(1);
    let suspended = agents::begin(agents::cell(Kind::Begin, agents::new_id()));
    let mut runner = TestRunner::new(Config { cases: 300, ..Config::default() });
    let result = runner.run(&programs(), |program| {
        prop_assert_eq!(team::execute(THREADS, &program, work), by_definition(&program));
        Ok(())
    });
    result.unwrap();
    agents::end(&[], suspended);
}
