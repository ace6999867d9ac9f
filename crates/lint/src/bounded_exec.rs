//! Bounded execution of the program by a few ranks: one interpreter per rank, with unknown values,
//! whose MPI calls are matched with each other.
//!
//! Each rank executes the program's code (`interpreter.rs`) on memory of its own (`store.rs`),
//! whose values are known or unknown. Messages carry values from rank to rank, so that most small
//! programs, and the beginnings of larger ones, execute completely. A region under an unknown
//! condition is skipped if it makes no MPI call; what it may write becomes unknown (`havoc.rs`).
//! Otherwise the rank stops, and so does everything that depends on what it does later.
//!
//! The program is executed under two buffering models, to find out whether it relies on buffered
//! sends: in one, sends complete at once; in the other, sends complete when they are received, and
//! collectives when all ranks have entered.
//!
//! **Never misreported**, as far as the program has no input: a finding needs a defect with every
//! number of ranks that the program supports and that reaches the call. What depends on the choice
//! of a wildcard receive among several messages, or on a test that found a request incomplete, is a
//! warning.
//!
//! **Missed**: defects that need more ranks, that depend on arguments or files, in threads, or
//! after loops of more iterations than the bound.

mod arithmetic;
mod asked;
mod buffer_bounds;
mod calls;
mod collective_matching;
mod comms;
mod counted;
mod defects;
mod havoc;
mod in_place;
mod interpreter;
mod messages;
mod operations;
mod outside;
mod store;
mod text;
mod types;

use crate::Calls;
use crate::environment::Environment;
use asked::{Asked, Place};
use collective_matching::Collective;
use commsan_findings::Finding;
use commsan_ir::{FORTRAN_PROGRAM, Program};
use commsan_mpi_calls::abi::Constants;
pub use counted::add;
use defects::Defect;
use interpreter::{Interpreter, Stop};
use messages::{Awaited, Open, Request};
use rustc_hash::FxHashSet;
use store::Datum;
use text::Text;
use types::Type;

/// Maximum number of instructions that one rank executes.
const MAX_STEPS: u32 = 60_000;
/// Maximum number of completion tests (`MPI_Test` and the like) of a rank that find nothing
/// complete.
const MAX_FAILED_TESTS: u32 = 100;

/// Findings of bounded executions, one for each of the numbers of ranks.
pub fn findings(
    program: &Program,
    calls: &Calls,
    environment: &Environment,
    sizes: &[usize],
) -> Vec<Finding> {
    let main = program.function(FORTRAN_PROGRAM).or_else(|| program.function("main"));
    let Some(main) = main.filter(|main| program[*main].body.is_some()) else { return Vec::new() };
    let text = Text::of(program, calls);
    let mut outcomes = Vec::new();
    for &size in sizes {
        for strict in [false, true] {
            let mut job = Job::new(&text, environment, size, strict);
            job.ranks =
                (0..size).map(|_| Rank::new(Interpreter::new(&text, main, MAX_STEPS))).collect();
            job.run();
            outcomes.push(job.outcome());
        }
    }
    counted::findings(program, &outcomes)
}

/// A communicator.
#[derive(Clone, Debug)]
pub struct Comm {
    /// Ranks of the job, in their order in it.
    pub members: Vec<usize>,
    /// How many collectives each of them has entered.
    pub entered: Vec<usize>,
    pub collectives: Vec<Collective>,
    /// Dimensions and periods.
    pub grid: Option<(Vec<i64>, Vec<i64>)>,
}

/// How many of its requests a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    All,
    Any,
}

/// What is to be stored when a rank has waited.
#[derive(Clone, Copy, Debug)]
pub enum After {
    Nothing,
    Status(Datum),
    Statuses(Datum),
    /// Status and index.
    Index(Datum, Datum),
}

/// What a rank does.
pub enum State<'p> {
    Running,
    /// It has asked in vain, and asks again when others have gone on.
    Asking,
    /// It waits for requests in a call.
    Waiting(Asked<'p>, Vec<usize>, Need, After),
    /// It probes for a message.
    Looking(Place, Awaited),
    /// It has ended, with success or without.
    Ended(bool),
    Lost,
}

/// A rank of a job.
pub struct Rank<'t, 'p> {
    pub interpreter: Interpreter<'t, 'p>,
    pub state: State<'p>,
    pub requests: Vec<Request>,
    /// Variables whose requests are null when the call has returned: the parameter, the index, the
    /// request.
    pub emptied: Vec<(&'static str, i64, usize)>,
    pub asks_again: u32,
    pub initialized: Option<Place>,
    pub finalized: Option<Place>,
}

impl<'t, 'p> Rank<'t, 'p> {
    fn new(interpreter: Interpreter<'t, 'p>) -> Self {
        Rank {
            interpreter,
            state: State::Running,
            requests: Vec::new(),
            emptied: Vec::new(),
            asks_again: 0,
            initialized: None,
            finalized: None,
        }
    }
}

/// One bounded execution.
pub struct Job<'t, 'p> {
    pub text: &'t Text<'p>,
    pub environment: &'t Environment,
    pub constants: &'static Constants,
    /// Whether sends wait for receives.
    pub strict: bool,
    pub ranks: Vec<Rank<'t, 'p>>,
    /// The first one of all, then one of each rank alone.
    pub comms: Vec<Comm>,
    pub groups: Vec<Vec<usize>>,
    pub types: Vec<Option<Type>>,
    pub sends: Vec<Open>,
    pub receives: Vec<Open>,
    /// Whether what happens depends on who was first.
    pub by_chance: bool,
    /// Whether the program is not made for so many ranks.
    pub unfit: bool,
    pub defects: Vec<Defect>,
    /// Calls that were come to.
    pub seen: FxHashSet<Place>,
}

/// The result of one execution.
pub struct Outcome {
    pub defects: Vec<Defect>,
    pub seen: FxHashSet<Place>,
    pub unfit: bool,
    /// Whether all ranks came to their end.
    pub complete: bool,
    pub strict: bool,
    /// How many ranks there were.
    pub ranks: usize,
}

impl<'t, 'p> Job<'t, 'p> {
    fn new(text: &'t Text<'p>, environment: &'t Environment, size: usize, strict: bool) -> Self {
        let comm = |members: Vec<usize>| Comm {
            entered: vec![0; members.len()],
            members,
            collectives: Vec::new(),
            grid: None,
        };
        let world = comm((0..size).collect());
        let alone = (0..size).map(|rank| comm(vec![rank]));
        let (ranks, groups, types, sends, receives, defects, seen) = Default::default();
        Job {
            text,
            environment,
            constants: environment.constants(),
            strict,
            ranks,
            comms: std::iter::once(world).chain(alone).collect(),
            groups,
            types,
            sends,
            receives,
            by_chance: false,
            unfit: false,
            defects,
            seen,
        }
    }

    /// Lets ranks go on until none can.
    fn run(&mut self) {
        loop {
            let mut moved = false;
            for rank in 0..self.ranks.len() {
                while self.advance(rank) {
                    moved = true;
                }
            }
            let asking = self.ranks.iter().any(|rank| matches!(rank.state, State::Asking));
            for rank in &mut self.ranks {
                if matches!(rank.state, State::Asking) {
                    rank.state = State::Running;
                }
            }
            if !moved && !asking || self.unfit {
                break;
            }
        }
        if !self.unfit {
            self.look_back();
        }
    }

    /// Lets a rank go on; says whether it has.
    fn advance(&mut self, rank: usize) -> bool {
        match &self.ranks[rank].state {
            State::Running => {}
            State::Waiting(_, requests, need, _) => {
                let own = &self.ranks[rank].requests;
                let mut done = requests.iter().map(|request| own[*request].done);
                let over = match need {
                    Need::All => done.all(|done| done),
                    Need::Any => requests.is_empty() || done.any(|done| done),
                };
                if over {
                    self.waited(rank);
                }
                return over;
            }
            State::Looking(..) => {
                // Asks once more.
                self.ranks[rank].state = State::Running;
                self.call(rank);
                return !matches!(self.ranks[rank].state, State::Looking(..));
            }
            _ => return false,
        }
        let stop = self.ranks[rank].interpreter.run();
        self.touched(rank);
        match stop {
            Stop::Mpi => self.call(rank),
            Stop::Lost => self.ranks[rank].state = State::Lost,
            Stop::Ended(status) => self.ended(rank, status),
        }
        true
    }

    fn ended(&mut self, rank: usize, status: Datum) {
        let fails = matches!(status, Datum::Int(status) if status != 0);
        self.unfit |= fails && self.ranks[rank].finalized.is_none();
        self.ranks[rank].state = match status {
            Datum::Int(_) | Datum::Unknown => State::Ended(!fails),
            _ => State::Lost,
        };
    }

    /// Waits in a call for requests.
    fn wait(&mut self, asked: &Asked<'p>, requests: Vec<usize>, need: Need, after: After) {
        self.ranks[asked.rank].state = State::Waiting(*asked, requests, need, after);
    }

    /// Stores what a call that has waited returns, and goes on.
    fn waited(&mut self, rank: usize) {
        let state = std::mem::replace(&mut self.ranks[rank].state, State::Running);
        let State::Waiting(asked, requests, need, after) = state else { return };
        let emptied = std::mem::take(&mut self.ranks[rank].emptied);
        let done: Vec<_> = match need {
            Need::All => requests,
            Need::Any => {
                let own = &self.ranks[rank].requests;
                let done = requests.iter().copied().filter(|request| own[*request].done);
                let done: Vec<_> = done.collect();
                self.by_chance |= requests.len() > 1;
                done.into_iter().take(1).collect()
            }
        };
        let got = |job: &Self, request: usize| job.ranks[rank].requests[request].got;
        match after {
            After::Nothing => {}
            After::Status(status) => {
                // Of a sendrecv what was received.
                let got = done.iter().filter_map(|request| got(self, *request)).next_back();
                self.fill_status(rank, status, got.unwrap_or_default());
            }
            After::Statuses(status) => {
                if let Datum::Address(object, _) = status {
                    self.ranks[rank].interpreter.store.forget(object);
                }
            }
            After::Index(status, index) => {
                let chosen = emptied.iter().find(|(_, _, request)| done.contains(request));
                let number = chosen.map_or(self.constants.undefined, |(_, index, _)| *index);
                let number = number + i64::from(asked.mpi.by_reference && number >= 0);
                let _ = self.ranks[rank].interpreter.put(index, 4, Datum::Int(number));
                let got = done.first().and_then(|request| got(self, *request));
                self.fill_status(rank, status, got.unwrap_or_default());
            }
        }
        for request in &done {
            self.complete(rank, *request);
        }
        self.empty(&asked, &emptied, &done);
        self.go_on(&asked);
    }

    /// Makes the variables of complete requests null.
    fn empty(&mut self, asked: &Asked, emptied: &[(&'static str, i64, usize)], done: &[usize]) {
        let (null, size) = (self.null_request(asked), self.handle_size(asked));
        for (name, index, request) in emptied {
            let own = &self.ranks[asked.rank].requests[*request];
            if own.template.is_some() || !done.contains(request) {
                continue;
            }
            if let Datum::Address(object, at) = asked.raw(self, name) {
                let store = &mut self.ranks[asked.rank].interpreter.store;
                store.store((object, at + index * size), size, null);
            }
        }
    }
}
