//! Threads of a team that act one at a time, in the order of a program's steps.

use commsan_shadow::Epoch;
use commsan_threads::agents;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Steps that a thread takes, each with the epochs of the uses before it.
pub type Steps<S> = Receiver<(S, Vec<Epoch>)>;

/// What a thread says after each step: of a use, its epoch, and whether each earlier use is ordered
/// before it.
pub type Answers = Sender<Option<(Epoch, Vec<bool>)>>;

/// Executes the steps of a program, each by the thread of a new team that it names. Every thread
/// runs `work` with the team's number. Returns for each use which earlier ones are ordered before
/// it.
pub fn execute<S: Copy + Send>(
    threads: usize,
    program: &[(usize, S)],
    work: fn(u64, &Steps<S>, &Answers),
) -> Vec<Vec<bool>> {
    let id = agents::new_id();
    agents::enter_parallel();
    agents::expect(threads as i64);
    agents::release(agents::cell(agents::Kind::Begin, id));
    let (mut uses, mut found) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let ((steps, taken), (answers, made)) = (channel(), channel());
                scope.spawn(move || work(id, &taken, &answers));
                (steps, made)
            })
            .collect();
        for (thread, step) in program {
            let (steps, made) = &workers[*thread];
            steps.send((*step, uses.clone())).expect("the thread runs");
            if let Some((stamp, ordered)) = made.recv().expect("it answers") {
                uses.push(stamp);
                found.push(ordered);
            }
        }
    });
    agents::acquire(agents::cell(agents::Kind::End, id));
    agents::leave_parallel();
    found
}
