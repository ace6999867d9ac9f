//! Group semantics: calls between `ncclGroupStart` and `ncclGroupEnd` start at the end.

use crate::abi::Code;
use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::error::{Failure, Result};
use crate::p2p::{self, Operation};
use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

/// An operation in a stream.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// A collective.
    Collective(Collective),
    /// A send or receive.
    Message(Operation),
}

/// The creation of a communicator, in which all its ranks must take part.
pub struct Job {
    /// The action, run on a thread of its own in a group.
    pub body: Box<dyn FnOnce() -> Result + Send>,
    /// Whether the caller waits until it is complete.
    pub blocking: bool,
}

#[derive(Default)]
struct Group {
    depth: usize,
    jobs: Vec<Job>,
    tasks: Vec<(Arc<Communicator>, usize, Task)>,
    failure: Option<Failure>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

/// Begins a group, perhaps within another.
pub fn start() {
    GROUP.with(|group| group.borrow_mut().depth += 1);
}

/// Ends a group; returns the outermost one.
fn close() -> Result<Option<Group>> {
    GROUP.with(|group| {
        let mut group = group.borrow_mut();
        match group.depth {
            0 => Err(Failure::usage("not in a group call")),
            1 => Ok(Some(std::mem::take(&mut *group))),
            _ => {
                group.depth -= 1;
                Ok(None)
            }
        }
    })
}

/// Ends a group without starting anything.
pub fn forget() -> Result {
    close().map(drop)
}

/// Ends a group; if it is the outermost, starts all requested operations, unless a call has failed.
pub fn end() -> Result {
    let Some(Group { jobs, tasks, failure, .. }) = close()? else { return Ok(()) };
    if let Some(failure) = failure {
        return Err(failure);
    }
    let made = make(jobs);
    run(&tasks)?;
    made
}

/// Whether the thread is in a group.
pub fn is_open() -> bool {
    GROUP.with(|group| group.borrow().depth > 0)
}

/// Notes that a call has failed: the group that it is in does nothing.
pub fn note(failure: &Failure) {
    GROUP.with(|group| {
        let mut group = group.borrow_mut();
        if group.depth > 0 {
            group.failure.get_or_insert_with(|| failure.clone());
        }
    });
}

/// Requests an operation in a stream, at once or at the end of the thread's group.
pub fn ask(of: Arc<Communicator>, stream: usize, task: Task) -> Result {
    if !is_open() {
        return run(&[(of, stream, task)]);
    }
    GROUP.with(|group| group.borrow_mut().tasks.push((of, stream, task)));
    Ok(())
}

/// Requests the creation of a communicator.
pub fn ask_for(job: Job) -> Result {
    if is_open() {
        GROUP.with(|group| group.borrow_mut().jobs.push(job));
        return Ok(());
    }
    if job.blocking { (job.body)() } else { make(vec![job]) }
}

/// Creates communicators, each on a thread, since they wait for each other.
fn make(jobs: Vec<Job>) -> Result {
    let (mut waited_for, mut others) = (Vec::new(), false);
    for Job { body, blocking } in jobs {
        let thread = thread::Builder::new().name("nccl-init".to_owned()).spawn(body);
        let thread = thread.map_err(|error| Failure::system("cannot start a thread", &error))?;
        if blocking {
            waited_for.push(thread);
        }
        others |= !blocking;
    }
    let lost = || Failure { code: Code::Internal, message: "a thread was lost".to_owned() };
    let outcomes: Vec<Result> = waited_for
        .into_iter()
        .map(|thread| thread.join().unwrap_or_else(|_| Err(lost())))
        .collect();
    outcomes.into_iter().collect::<Result>()?;
    let message = "communicators are still being made".to_owned();
    if others { Err(Failure { code: Code::InProgress, message }) } else { Ok(()) }
}

/// Submits operations to streams: for each communicator its collectives in order, then all its
/// messages together.
fn run(tasks: &[(Arc<Communicator>, usize, Task)]) -> Result {
    let mut seen: Vec<&Arc<Communicator>> = Vec::new();
    for (on, ..) in tasks {
        if !seen.iter().any(|known| Arc::ptr_eq(known, on)) {
            seen.push(on);
        }
    }
    for on in seen {
        let of_this = || tasks.iter().filter(|(of, ..)| Arc::ptr_eq(of, on));
        let mut launches = Vec::new();
        let mut messages = Vec::new();
        let mut streams = Vec::new();
        for (_, stream, task) in of_this() {
            match task {
                Task::Collective(collective) => launches.extend(collective.launch(on)?),
                Task::Message(message) => messages.push(*message),
            }
            if !streams.contains(stream) {
                streams.push(*stream);
            }
        }
        launches.extend(p2p::launches(on, &messages)?);
        if !launches.is_empty() {
            on.submit(&streams, &launches)?;
        }
    }
    Ok(())
}
