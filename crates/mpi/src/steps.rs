//! What this process does first that others may wait for: messages, collectives, and waiting for them. When the job is
//! over, `commsan_report` goes through the steps of all ranks as if no message were buffered and every collective waited
//! for all.
//!
//! **Soundness.** The steps are those of a program in which time decides nothing: they end before the first
//! call whose result may depend on that, as far as MPI tells (a receive from anybody, a test, a wait for any of several
//! requests), and before whatever is not followed here (windows, partitioned messages, persistent
//! collectives, communicators without a name). There are none where several threads call, and they end where several might:
//! what one waits for, another may do.

use commsan_findings::{Message, Step};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Steps that are kept.
const MAX_STEPS: usize = 2048;

/// A communicator that steps name.
#[derive(Debug)]
pub(crate) struct Comm {
    pub name: u64,
    /// In words.
    pub on: String,
    /// Ranks of the job.
    pub members: Arc<[u32]>,
}

/// What has been begun: a message is sent and another received by one call at most.
pub(crate) type Begun = SmallVec<[Step; 2]>;

/// The first steps.
#[derive(Debug)]
pub struct Steps {
    all: Vec<Step>,
    comms: Vec<Comm>,
    /// What requests stand for, by handle.
    started: FxHashMap<usize, Started>,
    state: State,
}

/// What the requests of one handle stand for. Some libraries give one handle to all sends that they have done with.
#[derive(Debug)]
struct Started {
    requests: usize,
    /// Positions of steps; `None` if some have been waited for, nobody knows which.
    steps: Option<SmallVec<[u32; 2]>>,
}

impl Started {
    fn nothing() -> Started {
        Started { requests: 0, steps: Some(SmallVec::new()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There may be more.
    Open,
    /// What follows is not known.
    Ended,
    /// Nothing is known.
    Useless,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps {
            all: Vec::new(),
            comms: Vec::new(),
            started: FxHashMap::default(),
            state: State::Open,
        }
    }
}

impl Steps {
    /// Whether there may be more.
    pub fn are_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether anything is known of them.
    pub fn are_known(&self) -> bool {
        self.state != State::Useless
    }

    /// Nothing is known of what follows.
    pub fn end(&mut self) {
        if self.state == State::Open {
            self.state = State::Ended;
        }
        self.started = FxHashMap::default();
    }

    /// Nothing is known.
    pub fn give_up(&mut self) {
        *self = Steps { state: State::Useless, ..Steps::default() };
    }

    /// Whether some step names this communicator.
    pub fn names(&self, name: u64) -> bool {
        self.comms.iter().any(|comm| comm.name == name)
    }

    /// The position of a communicator among those that steps name.
    pub(crate) fn comm(&mut self, name: u64, new: impl FnOnce() -> Comm) -> u32 {
        let known = self.comms.iter().position(|comm| comm.name == name);
        let position = known.unwrap_or_else(|| {
            self.comms.push(new());
            self.comms.len() - 1
        });
        position as u32
    }

    /// A call has begun these, and waited for them, unless a request stands for them.
    pub fn begin(&mut self, begun: &[Step], request: Option<usize>) {
        let Some(first) = self.room(2 * begun.len()) else { return };
        self.all.extend(begun);
        let positions = first..first + begun.len() as u32;
        if let Some(request) = request {
            let started = self.started.entry(request).or_insert_with(Started::nothing);
            started.requests += 1;
            return started.steps.iter_mut().for_each(|steps| steps.extend(positions.clone()));
        }
        let finish = |(step, begun): (&Step, u32)| Step::Finish { begun, place: step.place() };
        self.all.extend(begun.iter().zip(positions).map(finish));
    }

    /// The library has given a request another handle.
    pub fn rename(&mut self, old: usize, new: usize) {
        let Some(mut moved) = self.started.remove(&old) else { return };
        if moved.requests > 1 {
            // Which of the steps are this request's is not known.
            moved.steps = None;
            self.started.insert(old, Started { requests: moved.requests - 1, steps: None });
        }
        let started = self.started.entry(new).or_insert_with(Started::nothing);
        started.requests += 1;
        started.steps = started.steps.take().zip(moved.steps).map(|(mut steps, more)| {
            steps.extend(more);
            steps
        });
    }

    /// Requests have been waited for, at this place.
    pub fn finish(&mut self, requests: impl Iterator<Item = usize> + Clone, place: u32) {
        for request in requests.clone() {
            let Some(started) = self.started.get_mut(&request) else { continue };
            let waited_for = requests.clone().filter(|other| *other == request).count();
            if waited_for < started.requests {
                started.requests -= 1;
                started.steps = None;
                continue;
            }
            let steps = self.started.remove(&request).and_then(|started| started.steps);
            let steps = steps.unwrap_or_default();
            if self.room(steps.len()).is_some() {
                self.all.extend(steps.into_iter().map(|begun| Step::Finish { begun, place }));
            }
        }
    }

    /// The position of the next step, if there may be so many more.
    fn room(&mut self, steps: usize) -> Option<u32> {
        if self.are_open() && self.all.len() + steps > MAX_STEPS {
            self.end();
        }
        self.are_open().then_some(self.all.len() as u32)
    }

    /// All of them, if they are known, and the communicators that they name.
    pub(crate) fn known(&self) -> Option<(&[Step], &[Comm])> {
        self.are_known().then_some((&self.all, &self.comms))
    }
}

/// A message that a call sends: by name, those that are complete without their receive.
pub(crate) fn sends(call: &str, message: Message) -> Step {
    const KEPT: [&str; 4] = ["MPI_Bsend", "MPI_Ibsend", "MPI_Rsend", "MPI_Irsend"];
    match KEPT.iter().any(|kept| call.starts_with(kept)) {
        true => Step::Kept(message),
        false => Step::Send(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: Message = Message { comm: 0, peer: 1, tag: Some(7), place: 3 };

    #[test]
    fn a_blocking_call_waits_for_what_it_begins() {
        let mut steps = Steps::default();
        steps.begin(&[Step::Send(SENT), Step::Receive(SENT)], None);
        let finish = |begun| Step::Finish { begun, place: 3 };
        let (all, _) = steps.known().unwrap();
        assert_eq!(all, [Step::Send(SENT), Step::Receive(SENT), finish(0), finish(1)]);
    }

    #[test]
    fn a_request_is_waited_for_once() {
        let mut steps = Steps::default();
        steps.begin(&[Step::Send(SENT)], Some(9));
        steps.finish([9].into_iter(), 4);
        steps.finish([9].into_iter(), 5);
        steps.finish([8].into_iter(), 6);
        let (all, _) = steps.known().unwrap();
        assert_eq!(all, [Step::Send(SENT), Step::Finish { begun: 0, place: 4 }]);
    }

    #[test]
    fn so_many_are_kept() {
        let mut steps = Steps::default();
        (0..MAX_STEPS).for_each(|_| steps.begin(&[Step::Send(SENT)], None));
        assert!(!steps.are_open());
        let (all, _) = steps.known().unwrap();
        assert_eq!(all.len(), MAX_STEPS);
        assert!(matches!(all.last(), Some(Step::Finish { .. })));
    }

    #[test]
    fn requests_of_one_handle_are_waited_for_together_or_not_at_all() {
        let mut steps = Steps::default();
        let finished = |steps: &Steps| {
            let (all, _) = steps.known().unwrap();
            all.iter().filter(|step| matches!(step, Step::Finish { .. })).count()
        };
        steps.begin(&[Step::Send(SENT)], Some(9));
        steps.begin(&[Step::Send(SENT)], Some(9));
        steps.finish([9, 8, 9].into_iter(), 4);
        assert_eq!(finished(&steps), 2);
        steps.begin(&[Step::Send(SENT)], Some(9));
        steps.begin(&[Step::Send(SENT)], Some(9));
        steps.finish([9].into_iter(), 5);
        steps.begin(&[Step::Send(SENT)], Some(9));
        steps.finish([9].into_iter(), 6);
        steps.finish([9].into_iter(), 7);
        assert_eq!(finished(&steps), 2);
        steps.begin(&[Step::Send(SENT)], Some(9));
        steps.finish([9].into_iter(), 8);
        assert_eq!(finished(&steps), 3);
    }

    #[test]
    fn useless_ones_stay_so() {
        let mut steps = Steps::default();
        steps.begin(&[Step::Send(SENT)], None);
        assert!(steps.known().is_some());
        steps.give_up();
        steps.end();
        assert!(steps.known().is_none());
    }

    #[test]
    fn sends_that_do_not_wait_are_known_by_name() {
        assert_eq!(sends("MPI_Ibsend", SENT), Step::Kept(SENT));
        assert_eq!(sends("MPI_Rsend_c", SENT), Step::Kept(SENT));
        assert_eq!(sends("MPI_Issend", SENT), Step::Send(SENT));
        assert_eq!(sends("MPI_Sendrecv", SENT), Step::Send(SENT));
    }
}
