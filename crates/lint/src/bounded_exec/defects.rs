//! Defects found in one bounded execution.

use super::asked::{Asked, Place};
use super::collective_matching::Entry;
use super::interpreter::Access;
use super::messages::{Awaited, Open};
use super::{Job, Outcome, State};
use commsan_findings::{Code, Role};

/// Maximum number of sites of one finding.
const MAX_SITES: usize = 4;

/// A place where something is wrong: the rank, the place, its part in it, what it does there.
type Spot = (usize, Place, Role, String);

/// A rank, and how it enters a collective.
type Party<'a> = (usize, &'a Entry);

/// A rank that waits: where, for what, and how its site is labelled.
struct Stuck {
    rank: usize,
    place: Place,
    awaits: Awaited,
    label: String,
}

/// An argument that names no rank of the communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchRank {
    pub parameter: String,
    pub rank: i64,
    /// The rank that passes it.
    pub on: usize,
}

/// Something wrong.
#[derive(Clone, Debug)]
pub struct Defect {
    pub code: Code,
    /// The main one first.
    pub spots: Vec<Spot>,
    pub message: String,
    pub why: String,
    pub help: String,
    /// Whether it depends on who is first.
    pub possible: bool,
    /// The argument, if what is wrong is that it names no rank.
    pub no_such_rank: Option<NoSuchRank>,
}

impl<'p> Job<'_, 'p> {
    pub fn outcome(self) -> Outcome {
        let complete = self.ranks.iter().all(|rank| matches!(rank.state, State::Ended(_)));
        let Job { defects, seen, unfit, strict, ranks, .. } = self;
        let (complete, ranks) = (complete && !unfit, ranks.len());
        Outcome { defects, seen, unfit, complete, strict, ranks }
    }

    pub fn add(&mut self, code: Code, spots: Vec<Spot>, message: String, why: String, help: &str) {
        let possible = self.by_chance;
        let (help, no_such_rank) = (help.to_owned(), None);
        self.defects.push(Defect { code, spots, message, why, help, possible, no_such_rank });
    }

    pub fn with(&self) -> String {
        format!("when {} ranks run the program", self.ranks.len())
    }

    /// A rank that is none of the communicator.
    pub fn no_such_rank(&mut self, asked: &Asked, parameter: &str, rank: i64, size: i64) {
        let problem = format!("is {rank} on rank {}", asked.rank);
        let spots =
            vec![(asked.rank, asked.place, Role::Operation, format!("`{parameter}` {problem}"))];
        let message = format!("`{parameter}` of {} is no rank of the communicator", asked.mpi.name);
        let with = self.with();
        let why = format!(
            "`{parameter}` {problem} {with}, and the communicator has ranks from 0 to {}",
            size - 1
        );
        self.add(
            Code::InvalidArgument,
            spots,
            message,
            why,
            "check how the rank is computed at the borders",
        );
        if let Some(added) = self.defects.last_mut() {
            let parameter = parameter.to_owned();
            added.no_such_rank = Some(NoSuchRank { parameter, rank, on: asked.rank });
        }
        self.unfit = true;
    }

    /// Loads, stores and releases of buffers that are in use.
    pub fn touched(&mut self, rank: usize) {
        for touch in std::mem::take(&mut self.ranks[rank].interpreter.touches) {
            let own = &self.ranks[rank].requests[touch.pending.request];
            let (code, role, does) = match (touch.access, touch.pending.writes) {
                (Access::Release, _) => (
                    Code::PendingBufferFreed,
                    Role::Release,
                    "releases the buffer of a pending operation",
                ),
                (_, false) => {
                    (Code::SendBufferWritten, Role::Access, "write to the buffer of a pending send")
                }
                (Access::Load, true) => (
                    Code::ReceiveBufferRead,
                    Role::Access,
                    "read of the buffer of a pending receive",
                ),
                (Access::Store, true) => (
                    Code::ReceiveBufferWritten,
                    Role::Access,
                    "write to the buffer of a pending receive",
                ),
            };
            let started = (rank, own.place, Role::Operation, "starts to use the buffer".to_owned());
            let spots = vec![(rank, touch.place, role, does.to_owned()), started];
            let why = format!("no call has completed the operation here {}", self.with());
            self.add(
                code,
                spots,
                does.to_owned(),
                why,
                "complete the request before the buffer is used",
            );
        }
    }

    /// A count or a tag below zero.
    pub fn negative(&mut self, asked: &Asked, parameter: &str, number: i64) {
        let problem = format!("is {number} on rank {}", asked.rank);
        let spots =
            vec![(asked.rank, asked.place, Role::Operation, format!("`{parameter}` {problem}"))];
        let message = format!("`{parameter}` of {} is negative", asked.mpi.name);
        let why = format!("`{parameter}` {problem} {}", self.with());
        self.add(Code::InvalidArgument, spots, message, why, "check how it is computed");
    }

    /// Calls before `MPI_Init` or after `MPI_Finalize`.
    pub fn outside(&mut self, asked: &Asked) -> Option<()> {
        let rank = &self.ranks[asked.rank];
        let name = &*asked.call.name;
        let always = asked.mpi.is_free_of_levels()
            || ["MPI_Info", "MPI_Init", "MPI_Session", "MPI_Error_", "MPI_Add_error"]
                .iter()
                .any(|begin| name.starts_with(begin));
        if always || rank.initialized.is_some() && rank.finalized.is_none() {
            return Some(());
        }
        let (when, cause) = match rank.finalized {
            Some(place) => ("after MPI_Finalize", Some((place, "MPI is finalized here"))),
            None => ("before MPI_Init", None),
        };
        let mut spots =
            vec![(asked.rank, asked.place, Role::Access, format!("{name} is called {when}"))];
        spots.extend(
            cause.map(|(place, what)| (asked.rank, place, Role::Operation, what.to_owned())),
        );
        let why = "MPI calls are allowed only between MPI_Init and MPI_Finalize".to_owned();
        let message = format!("{name} {when}");
        self.add(
            Code::OutsideMpi,
            spots,
            message,
            why,
            "call it between MPI_Init and MPI_Finalize",
        );
        None
    }

    pub fn types_differ(&mut self, send: &Open, receive: &Open, sent: &str, received: &str) {
        let spots = vec![
            (
                receive.rank,
                receive.what.place,
                Role::Access,
                format!("rank {} receives {received}", receive.rank),
            ),
            (
                send.rank,
                send.what.place,
                Role::Operation,
                format!("rank {} sends {sent}", send.rank),
            ),
        ];
        let message = format!(
            "rank {} receives as {received} what rank {} sends as {sent}",
            receive.rank, send.rank
        );
        let why = "the datatypes of a message must be the same on both sides, element by element"
            .to_owned();
        self.add(
            Code::MessageTypesDiffer,
            spots,
            message,
            why,
            "name the same datatype on both sides",
        );
    }

    pub fn truncated(&mut self, send: &Open, receive: &Open, sent: i64, room: i64) {
        let spots = vec![
            (receive.rank, receive.what.place, Role::Access, format!("room for {room} bytes")),
            (
                send.rank,
                send.what.place,
                Role::Operation,
                format!("rank {} sends {sent} bytes", send.rank),
            ),
        ];
        let message =
            format!("the message of {sent} bytes is longer than its receive of {room} bytes");
        let why = "a message must not be longer than the receive that gets it: MPI_ERR_TRUNCATE"
            .to_owned();
        // Else the program may ask for it.
        if !self.environment.handles_errors {
            self.add(
                Code::CallFailed,
                spots,
                message,
                why,
                "receive with a count that is large enough",
            );
        }
    }

    pub fn kinds_differ(&mut self, one: Party, two: Party) {
        let message = format!(
            "rank {} enters {} while rank {} enters {}",
            one.0, one.1.name, two.0, two.1.name
        );
        let why = "all ranks of a communicator must call its collectives in the same order";
        let help = "let all ranks call the same collectives in the same order";
        self.disagree(Code::CollectivesDiffer, one, two, message, why, help);
    }

    pub fn roots_differ(&mut self, one: Party, two: Party) {
        let message =
            format!("ranks {} and {} name different roots in {}", one.0, two.0, one.1.name);
        let (why, help) = ("all ranks must name the same root", "let all ranks name the same root");
        self.disagree(Code::RootsDiffer, one, two, message, why, help);
    }

    pub fn ops_differ(&mut self, one: Party, two: Party) {
        let message =
            format!("ranks {} and {} name different operations in {}", one.0, two.0, one.1.name);
        let why = "all ranks must reduce by the same operation";
        let help = "let all ranks name the same operation";
        self.disagree(Code::ReductionsDiffer, one, two, message, why, help);
    }

    pub fn arguments_differ(&mut self, one: Party, two: Party, parameter: &str) {
        let message =
            format!("ranks {} and {} pass another `{parameter}` to {}", one.0, two.0, one.1.name);
        let (why, help) =
            ("all ranks must pass the same value", "let all ranks pass the same value");
        self.disagree(Code::ArgumentsDiffer, one, two, message, why, help);
    }

    pub fn amounts_differ(&mut self, one: Party, two: Party, first: &str, second: &str) {
        let message = format!(
            "in {} rank {} has {first}, and rank {} has {second}",
            one.1.name, one.0, two.0
        );
        let why = "what ranks pass to each other in a collective must be the same on both sides";
        let help = "let counts and datatypes match on all ranks";
        self.disagree(Code::SignaturesDiffer, one, two, message, why, help);
    }

    /// Two ranks that enter a collective differently.
    fn disagree(
        &mut self,
        code: Code,
        one: Party,
        two: Party,
        message: String,
        why: &str,
        help: &str,
    ) {
        let spot = |(rank, entry): Party, role| {
            (rank, entry.place, role, format!("rank {rank} calls {}", entry.name))
        };
        let spots = vec![spot(one, Role::Access), spot(two, Role::Operation)];
        self.add(code, spots, message, why.to_owned(), help);
    }

    /// When no rank can go on: who waits, and what is left.
    pub fn look_back(&mut self) {
        let lost = |job: &Self| {
            job.ranks
                .iter()
                .any(|rank| matches!(rank.state, State::Lost | State::Running | State::Asking))
        };
        if lost(self) || !self.defects.is_empty() && self.stuck().len() == self.ranks.len() {
            return;
        }
        let stuck = self.stuck();
        if !stuck.is_empty() {
            self.deadlock(&stuck);
            return;
        }
        for send in self.sends.clone() {
            let rank = send.rank;
            let tag = send.what.tag.map_or_else(String::new, |tag| format!(" (tag {tag})"));
            let to = send.what.peer.unwrap_or_default();
            let spots = vec![(
                rank,
                send.what.place,
                Role::Operation,
                format!("rank {rank} sends to rank {to}{tag}"),
            )];
            let message = format!("rank {to} does not receive all that rank {rank} sends it");
            let why = format!("no receive gets this message {}", self.with());
            self.add(Code::MessageLost, spots, message, why, "receive every message");
        }
        self.left_open();
    }

    /// Ranks that wait: where, and for what.
    fn stuck(&self) -> Vec<Stuck> {
        let waits = |(rank, own): (usize, &super::Rank)| match &own.state {
            State::Waiting(asked, requests, ..) => {
                let open =
                    requests.iter().map(|request| &own.requests[*request]).find(|r| !r.done)?;
                let label = format!("{} waits for {}", asked.mpi.name, open.awaits);
                Some(Stuck { rank, place: asked.place, awaits: open.awaits.clone(), label })
            }
            State::Looking(place, awaits) => {
                let label = format!("waits for {awaits}");
                Some(Stuck { rank, place: *place, awaits: awaits.clone(), label })
            }
            _ => None,
        };
        self.ranks.iter().enumerate().filter_map(waits).collect()
    }

    fn deadlock(&mut self, stuck: &[Stuck]) {
        let sends = stuck.iter().any(|own| matches!(own.awaits, Awaited::Receive(..)));
        let collective = stuck.iter().all(|own| matches!(own.awaits, Awaited::Collective(_)));
        let ended = stuck.len() < self.ranks.len();
        let code = match self.strict {
            true if sends => Code::SendMayWait,
            true => Code::CollectiveMayWait,
            false if collective && ended => Code::CollectiveNotEntered,
            false => Code::Deadlock,
        };
        let mut spots = Vec::<Spot>::new();
        for Stuck { rank, place, label, .. } in stuck {
            if spots.len() < MAX_SITES && spots.iter().all(|(_, known, ..)| known != place) {
                spots.push((*rank, *place, Role::Wait, format!("rank {rank}: {label}")));
            }
        }
        let ranks: Vec<_> = stuck.iter().map(|own| own.rank.to_string()).collect();
        let who = match &ranks[..] {
            [rank] => format!("rank {rank} waits forever"),
            ranks => format!("ranks {} wait forever", ranks.join(", ")),
        };
        let with = self.with();
        let (message, why) = match self.strict {
            true => (
                format!("{who} if nothing is buffered"),
                format!(
                    "{with}, no rank can proceed once messages are not buffered and collectives wait for all ranks"
                ),
            ),
            false if ended => (who, format!("{with}, the other ranks have ended")),
            false => (who, format!("{with}, all ranks wait for calls that none of them will make")),
        };
        self.add(
            code,
            spots,
            message,
            why,
            "let every send meet its receive, and all ranks call the same collectives in one order",
        );
    }

    /// What ranks leave behind that have come to their end.
    fn left_open(&mut self) {
        for rank in 0..self.ranks.len() {
            let own = &self.ranks[rank];
            let State::Ended(true) = own.state else { continue };
            let Some(begin) = own.initialized else { continue };
            if own.finalized.is_none() && self.text.ends_later {
                continue;
            }
            let Some(end) = own.finalized else {
                let spots =
                    vec![(rank, begin, Role::Operation, "MPI is initialized here".to_owned())];
                let message = format!("rank {rank} ends without MPI_Finalize");
                let why =
                    "every process that has called MPI_Init must call MPI_Finalize before it ends"
                        .to_owned();
                self.add(
                    Code::NeverFinalized,
                    spots,
                    message,
                    why,
                    "call MPI_Finalize on every way to the end of the program",
                );
                continue;
            };
            let open: Vec<_> =
                own.requests.iter().filter(|request| request.active).cloned().collect();
            for request in open {
                let spots = vec![
                    (rank, request.place, Role::Operation, "starts the operation".to_owned()),
                    (rank, end, Role::Cause, "MPI is finalized here".to_owned()),
                ];
                let message = "the request is never completed".to_owned();
                let why = "no call completes it before MPI_Finalize".to_owned();
                self.add(
                    Code::RequestNeverCompleted,
                    spots,
                    message,
                    why,
                    "complete it with MPI_Wait or the like",
                );
            }
        }
    }
}
