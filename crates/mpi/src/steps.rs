//! The first steps of this process for which other ranks may wait: messages, collectives, and
//! completions. When the job is over, `commsan_report` executes the steps of all ranks as if no
//! message were buffered and every collective waited for all, to find potential deadlocks; and it
//! orders them by happens-before, to find messages that receives from any rank may have taken.
//!
//! **Soundness.** The first of them, which are *sure*, are those of a program in which timing
//! decides nothing: they end before the first call whose result may depend on timing, as far as MPI
//! shows (a receive from any rank, a test, a wait for any of several requests). Those that follow
//! say what has happened in this run. All end before whatever is not followed here (windows,
//! partitioned messages, persistent collectives, messages that are cancelled or matched by a probe,
//! communicators without a name). Collectives on files and intercommunicators and among neighbours
//! are left out; as they may order ranks, the log says how many steps come before them. There are
//! no steps where several threads call, and they end where several might: one of them may do what
//! another waits for.

use commsan_findings::{Message, Step, Wanted};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Steps that are kept at most.
const MAX_STEPS: usize = 2048;

/// A communicator that steps name.
#[derive(Debug)]
pub(crate) struct Comm {
    pub name: u64,
    /// The communicator in words.
    pub on: String,
    /// Its ranks in the job.
    pub members: Arc<[u32]>,
}

/// The steps that a call begins: at most one send and one receive.
pub(crate) type Begun = SmallVec<[Step; 2]>;

/// The first steps.
#[derive(Debug)]
pub struct Steps {
    all: Vec<Step>,
    comms: Vec<Comm>,
    /// What requests stand for, by handle.
    started: FxHashMap<usize, Started>,
    state: State,
    /// How many there are before timing may decide something.
    sure: Option<u32>,
    /// How many there are before something that may order ranks and is no step.
    ordered: Option<u32>,
    /// Receives from any rank that are not complete.
    open_wildcards: u32,
}

/// The requests of one handle, and their steps. Some libraries use one handle for all sends that
/// are already complete.
#[derive(Debug)]
struct Started {
    requests: usize,
    /// Indices of steps; `None` if some of them, it is not known which, have been completed.
    steps: Option<SmallVec<[u32; 2]>>,
}

impl Started {
    fn nothing() -> Started {
        Started { requests: 0, steps: Some(SmallVec::new()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// More steps may follow.
    Open,
    /// The steps that follow are not known.
    Ended,
    /// No steps are known.
    Useless,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps {
            all: Vec::new(),
            comms: Vec::new(),
            started: FxHashMap::default(),
            state: State::Open,
            sure: None,
            ordered: None,
            open_wildcards: 0,
        }
    }
}

impl Steps {
    /// Whether more steps may follow.
    pub fn are_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether the steps are known.
    pub fn are_known(&self) -> bool {
        self.state != State::Useless
    }

    /// What follows is not known.
    pub fn end(&mut self) {
        if self.state == State::Open {
            self.state = State::Ended;
        }
        self.started = FxHashMap::default();
    }

    /// No steps are known any more.
    pub fn give_up(&mut self) {
        *self = Steps { state: State::Useless, ..Steps::default() };
    }

    /// What follows depends on timing.
    pub fn time_decides(&mut self) {
        if self.state == State::Open && self.sure.is_none() {
            self.sure = Some(self.all.len() as u32);
            self.end_if_useless();
        }
    }

    /// Something that may order ranks is no step.
    pub(crate) fn lose_order(&mut self) {
        if self.state == State::Open && self.ordered.is_none() {
            self.ordered = Some(self.all.len() as u32);
            self.end_if_useless();
        }
    }

    fn end_if_useless(&mut self) {
        if self.sure.is_some() && self.ordered.is_some() {
            self.end();
        }
    }

    /// Whether it must be known which message a receive gets when it is complete.
    pub fn have_open_wildcards(&self) -> bool {
        self.are_open() && self.open_wildcards > 0
    }

    /// Whether some step is on this communicator.
    pub fn names(&self, name: u64) -> bool {
        self.comms.iter().any(|comm| comm.name == name)
    }

    /// The index of a communicator among those of steps; adds it if it is new.
    pub(crate) fn comm(&mut self, name: u64, new: impl FnOnce() -> Comm) -> u32 {
        let known = self.comms.iter().position(|comm| comm.name == name);
        let position = known.unwrap_or_else(|| {
            self.comms.push(new());
            self.comms.len() - 1
        });
        position as u32
    }

    /// A call has begun these steps, and completed them unless a request stands for them; of a
    /// receive from any rank `got` is the message.
    pub fn begin(&mut self, begun: &[Step], request: Option<usize>, got: Option<(u32, i32)>) {
        let wildcards = begun.iter().filter(|step| matches!(step, Step::Any(_))).count();
        let Some(first) = self.room(2 * begun.len() + wildcards) else { return };
        self.all.extend(begun);
        let positions = first..first + begun.len() as u32;
        let mut wildcards = positions.clone().filter(|at| self.is_wildcard(*at));
        let wildcard = wildcards.next();
        if let Some(request) = request {
            self.open_wildcards += u32::from(wildcard.is_some());
            let started = self.started.entry(request).or_insert_with(Started::nothing);
            started.requests += 1;
            return started.steps.iter_mut().for_each(|steps| steps.extend(positions.clone()));
        }
        match (wildcard, got) {
            (Some(begun), Some((peer, tag))) => self.all.push(Step::Got { begun, peer, tag }),
            (Some(_), None) => return self.end(),
            (None, _) => {}
        }
        let finish = |(step, begun): (&Step, u32)| {
            let ends = !matches!(step, Step::Found { .. });
            ends.then_some(Step::Finish { begun, place: step.place()? })
        };
        self.all.extend(begun.iter().zip(positions).filter_map(finish));
    }

    fn is_wildcard(&self, at: u32) -> bool {
        matches!(self.all.get(at as usize), Some(Step::Any(_)))
    }

    /// Something is said of what has happened.
    pub(crate) fn note(&mut self, step: Step) {
        // Polling would fill all memory.
        if self.all.last() != Some(&step) && self.room(1).is_some() {
            self.all.push(step);
        }
    }

    /// The request of a receive from any rank is about to be complete, with a message of this rank
    /// of its communicator, and this tag.
    pub fn got(&mut self, request: usize, envelope: Option<(i32, i32)>) {
        let Some(started) = self.started.get(&request) else { return };
        let Some(steps) = &started.steps else { return self.end() };
        let Some(begun) = steps.iter().copied().find(|at| self.is_wildcard(*at)) else { return };
        let is_alone = steps.len() == 1 && started.requests == 1;
        let sender = envelope.filter(|_| is_alone).and_then(|(source, tag)| {
            let Step::Any(Wanted { comm, .. }) = self.all.get(begun as usize)? else { return None };
            let members = &self.comms.get(*comm as usize)?.members;
            Some((*members.get(usize::try_from(source).ok()?)?, tag))
        });
        match sender {
            Some((peer, tag)) if self.room(1).is_some() => {
                self.open_wildcards -= 1;
                self.all.push(Step::Got { begun, peer, tag });
            }
            _ => self.end(),
        }
    }

    /// The library has given a request another handle.
    pub fn rename(&mut self, old: usize, new: usize) {
        let Some(mut moved) = self.started.remove(&old) else { return };
        if moved.requests > 1 {
            // It is not known which of the steps belong to this request.
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

    /// Requests have been completed by a call at this place.
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

    /// The index of the next step, if so many more fit.
    fn room(&mut self, steps: usize) -> Option<u32> {
        if self.are_open() && self.all.len() + steps > MAX_STEPS {
            self.end();
        }
        self.are_open().then_some(self.all.len() as u32)
    }

    /// The steps, if they are known, and their communicators.
    pub(crate) fn known(&self) -> Option<(&[Step], &[Comm])> {
        self.are_known().then_some((&self.all, &self.comms))
    }

    /// How many steps come before timing may decide something, and before something that may order
    /// ranks and is no step; `None` if both are all.
    pub(crate) fn timing(&self) -> Option<(u32, u32)> {
        let all = self.all.len() as u32;
        let is_partial = self.sure.is_some() || self.ordered.is_some();
        is_partial.then(|| (self.sure.unwrap_or(all), self.ordered.unwrap_or(all)))
    }

    /// The last step.
    pub(crate) fn last(&self) -> Option<&Step> {
        self.all.last()
    }
}

/// The step of a send, by the call's name: some sends complete without their receive.
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

    const SENT: Message =
        Message { comm: 0, peer: 1, tag: Some(7), place: 3, bytes: None, synchronous: false };

    #[test]
    fn a_blocking_call_waits_for_what_it_begins() {
        let mut steps = Steps::default();
        steps.begin(&[Step::Send(SENT), Step::Receive(SENT)], None, None);
        let finish = |begun| Step::Finish { begun, place: 3 };
        let (all, _) = steps.known().unwrap();
        assert_eq!(all, [Step::Send(SENT), Step::Receive(SENT), finish(0), finish(1)]);
    }

    #[test]
    fn a_request_is_waited_for_once() {
        let mut steps = Steps::default();
        steps.begin(&[Step::Send(SENT)], Some(9), None);
        steps.finish([9].into_iter(), 4);
        steps.finish([9].into_iter(), 5);
        steps.finish([8].into_iter(), 6);
        let (all, _) = steps.known().unwrap();
        assert_eq!(all, [Step::Send(SENT), Step::Finish { begun: 0, place: 4 }]);
    }

    #[test]
    fn so_many_are_kept() {
        let mut steps = Steps::default();
        (0..MAX_STEPS).for_each(|_| steps.begin(&[Step::Send(SENT)], None, None));
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
        steps.begin(&[Step::Send(SENT)], Some(9), None);
        steps.begin(&[Step::Send(SENT)], Some(9), None);
        steps.finish([9, 8, 9].into_iter(), 4);
        assert_eq!(finished(&steps), 2);
        steps.begin(&[Step::Send(SENT)], Some(9), None);
        steps.begin(&[Step::Send(SENT)], Some(9), None);
        steps.finish([9].into_iter(), 5);
        steps.begin(&[Step::Send(SENT)], Some(9), None);
        steps.finish([9].into_iter(), 6);
        steps.finish([9].into_iter(), 7);
        assert_eq!(finished(&steps), 2);
        steps.begin(&[Step::Send(SENT)], Some(9), None);
        steps.finish([9].into_iter(), 8);
        assert_eq!(finished(&steps), 3);
    }

    #[test]
    fn useless_ones_stay_so() {
        let mut steps = Steps::default();
        steps.begin(&[Step::Send(SENT)], None, None);
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
