//! A roll call of ranks that cannot be asked: of a job that was started without commsan, what its
//! processes' call stacks tell.
//!
//! Who is missing follows from the calls that ranks stand in. Which communicator these are on is
//! known only where the caller's code tells; what is not known is left out.

use super::rows::grouped;
use super::{Context, Need, Place, RollCall, Row, State, is_zero};
use crate::stack::{fold, is_infrastructure, is_interpreter, is_of_user, users, with_lines};
use commsan_findings::{Doing, Frame, NeedKind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The communicator whose ranks are the numbers of processes.
const WORLD: &str = "MPI_COMM_WORLD";

/// What is known of a job by looking at it from outside only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// Ranks that are not on this machine, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<u32>,
    /// The collectives that ranks are in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Together>,
    /// What else is to be said, in words: what cannot be known, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Ranks that are in the same collective call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// The call.
    pub call: String,
    /// Its communicator, in words, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The ranks, ascending.
    pub ranks: Vec<u32>,
    /// Number of lines that they call it at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub places: u32,
    /// Ranks on this machine that are elsewhere in the program; of a communicator that is not
    /// known, they need not have part in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<u32>,
}

/// A rank that was looked at.
#[derive(Clone, Debug, Default)]
pub struct SeenRank {
    /// Its number.
    pub rank: u32,
    /// Its threads, the first one first; empty if it has ended.
    pub threads: Vec<SeenThread>,
}

/// A thread of such a rank.
#[derive(Clone, Debug)]
pub struct SeenThread {
    /// What it does.
    pub doing: Doing,
    /// The file that it reads, writes or locks.
    pub file: Option<String>,
    /// Its stack, innermost first.
    pub stack: Vec<Frame>,
    /// Lines of a script that it executes, innermost first.
    pub lines: Vec<Frame>,
    /// The call that it is in.
    pub within: Option<Within>,
}

/// A call of a library for communication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// Its name.
    pub call: String,
    /// How many frames of the stack are in it.
    pub depth: usize,
    /// Whether it never waits.
    pub asks: bool,
    /// Whether all ranks of its communicator make it.
    pub is_collective: bool,
    /// Whether no rank can leave it before all have come.
    pub synchronizes: bool,
    /// The rank that all others need, of a call that passes something from one to all.
    pub root: Option<u32>,
    /// Its communicator, if it is known.
    pub on: Option<String>,
    /// What it needs, of a message between two ranks.
    pub need: Option<Need>,
}

impl RollCall {
    /// What is seen of a job's ranks from outside; `size` is the number of all of them.
    pub fn seen(
        program: Option<String>,
        size: u32,
        seen: &[SeenRank],
        context: &Context,
        outside: Outside,
    ) -> RollCall {
        let mut rows: Vec<Row> = seen.iter().flat_map(|rank| rows_of(rank, context)).collect();
        let together = together(seen, &rows);
        for row in rows.iter_mut().filter(|row| row.state == State::Waits) {
            let rank = seen.iter().find(|one| row.ranks == [one.rank]);
            let mut calls = rank.into_iter().flat_map(|rank| &rank.threads);
            let within = calls.find_map(|thread| {
                thread.within.as_ref().filter(|within| Some(&within.call) == row.call.as_ref())
            });
            if row.need.is_none()
                && let Some(within) = within
            {
                row.need = missing(within, &together);
            }
        }
        let waiting: BTreeSet<u32> = ranks_in(&rows, State::Waits);
        let needed: BTreeSet<u32> = rows
            .iter()
            .filter_map(|row| row.need.as_ref())
            .filter(|need| !need.any)
            .flat_map(|need| need.ranks.iter().copied())
            .filter(|rank| !outside.elsewhere.contains(rank))
            .collect();
        let answered = seen.iter().filter(|rank| !rank.threads.is_empty()).count() as u32;
        RollCall {
            program,
            ranks: size,
            answered,
            rows: grouped(rows, size),
            awaited: needed.difference(&waiting).copied().collect(),
            outside: Some(Outside { together, ..outside }),
            ..RollCall::default()
        }
    }
}

/// The ranks that a collective of all ranks needs, and that have not come to it.
fn missing(within: &Within, together: &[Together]) -> Option<Need> {
    let is_it = |one: &&Together| one.call == within.call && one.on == within.on;
    let one = together.iter().find(is_it).filter(|one| is_of_all(one.on.as_deref()))?;
    let ranks: Vec<u32> = match within.root {
        Some(root) => one.absent.iter().copied().filter(|rank| *rank == root).collect(),
        None if within.synchronizes => one.absent.clone(),
        None => return None,
    };
    let (kind, call) = (NeedKind::Collective, within.call.clone());
    let need = Need { kind, ranks, offset: None, any: false, tag: None, call, more: 0 };
    (!need.ranks.is_empty()).then_some(need)
}

/// Whether all ranks take part in what is called on that.
fn is_of_all(on: Option<&str>) -> bool {
    matches!(on, Some(WORLD | "all ranks"))
}

fn ranks_in(rows: &[Row], state: State) -> BTreeSet<u32> {
    let rows = rows.iter().filter(|row| row.state == state);
    rows.flat_map(|row| row.ranks.iter().copied()).collect()
}

/// The collectives that ranks are in.
fn together(seen: &[SeenRank], rows: &[Row]) -> Vec<Together> {
    let mut all: BTreeMap<(String, Option<String>), Vec<&Row>> = BTreeMap::new();
    for rank in seen {
        let calls = rank.threads.iter().filter_map(|thread| thread.within.as_ref());
        for within in calls.filter(|within| within.is_collective) {
            let is_it =
                |row: &&Row| row.ranks == [rank.rank] && row.call.as_ref() == Some(&within.call);
            let found = rows.iter().filter(|row| row.threads == 0).find(is_it);
            let key = (within.call.clone(), within.on.clone());
            all.entry(key).or_default().extend(found);
        }
    }
    let everybody: BTreeSet<u32> = seen.iter().map(|rank| rank.rank).collect();
    let found = all.into_iter().map(|((call, on), rows)| {
        let ranks: BTreeSet<u32> = rows.iter().flat_map(|row| row.ranks.iter().copied()).collect();
        let places: BTreeSet<Option<&Place>> = rows.iter().map(|row| row.place.as_ref()).collect();
        // Of a communicator that is another one it is not known who is in it.
        let may_be = on.is_none() || is_of_all(on.as_deref());
        let absent = everybody.difference(&ranks).copied().filter(|_| may_be).collect();
        let ranks = ranks.into_iter().collect();
        Together { call, on, ranks, places: places.len() as u32, absent }
    });
    let mut found: Vec<Together> = found.filter(|one| !one.ranks.is_empty()).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.ranks.len()));
    found
}

fn rows_of(seen: &SeenRank, context: &Context) -> Vec<Row> {
    let row = |state| Row { ranks: vec![seen.rank], ..Row::of(state) };
    let Some((first, others)) = seen.threads.split_first() else {
        return vec![row(State::Ended)];
    };
    let mut rows = vec![row_of(first, row(State::Outside), context)];
    for thread in others {
        let stack = users_of(thread, context);
        // What libraries do on threads of their own is nobody's concern.
        let is_users = stack.first().is_some_and(|frame| {
            !is_infrastructure(frame) && is_of_user(frame, &context.libraries)
        });
        if !is_users {
            continue;
        }
        let mut row = row_of(thread, row(State::Outside), context);
        row.threads = u32::from(thread.within.is_none());
        rows.push(row);
    }
    rows
}

/// The frames of a thread that are the user's.
fn users_of(thread: &SeenThread, context: &Context) -> Vec<Frame> {
    let depth = thread.within.as_ref().map_or(0, |within| within.depth);
    let code = thread.stack.get(depth..).unwrap_or_default().to_vec();
    let stack =
        if thread.lines.is_empty() { users(code) } else { with_lines(thread.lines.clone(), code) };
    fold(stack, &context.libraries)
}

fn row_of(thread: &SeenThread, row: Row, context: &Context) -> Row {
    let stack = users_of(thread, context);
    let is_script = !thread.lines.is_empty();
    let kept = stack.iter().filter(|frame| !(is_script && is_interpreter(&frame.module)));
    let mut places = kept.map(|frame| context.place(frame)).filter(|at| *at != Place::default());
    let (place, callers) = (places.next(), places.collect());
    let mut row =
        Row { doing: Some(thread.doing), file: thread.file.clone(), place, callers, ..row };
    let is_stopped = matches!(thread.doing, Doing::Stopped | Doing::Debugged);
    if let Some(within) = &thread.within {
        row.state = if within.asks { State::Polls } else { State::Waits };
        row.call = Some(within.call.clone());
        row.on.clone_from(&within.on);
        row.need.clone_from(&within.need);
        // How the library waits is its own affair.
        row.doing = row.doing.filter(|_| is_stopped);
        row.file = None;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, line: u32) -> Frame {
        Frame {
            function: Some(function.to_owned()),
            file: Some("/home/me/solve.c".to_owned()),
            line: Some(line),
            column: None,
            module: "/home/me/solve".to_owned(),
            offset: 0,
            inlined: false,
            within: vec![],
        }
    }

    fn thread(doing: Doing, stack: &[(&str, u32)], within: Option<Within>) -> SeenThread {
        let library = Frame { module: "/lib/libmpi.so.40".to_owned(), ..frame("PMPI_X", 1) };
        let inside = within.is_some().then_some(library);
        let own = stack.iter().map(|(function, line)| frame(function, *line));
        let stack = inside.into_iter().chain(own).collect();
        SeenThread { doing, file: None, stack, lines: vec![], within }
    }

    fn within(call: &str, on: Option<&str>) -> Within {
        Within {
            call: call.to_owned(),
            depth: 1,
            asks: false,
            is_collective: call != "MPI_Recv",
            synchronizes: call == "MPI_Allreduce",
            root: (call == "MPI_Bcast").then_some(2),
            on: on.map(str::to_owned),
            need: None,
        }
    }

    fn waits(call: &str, on: Option<&str>, line: u32) -> SeenThread {
        thread(Doing::Computes, &[("step", line), ("main", 9)], Some(within(call, on)))
    }

    fn seen(size: u32, of: impl Fn(u32) -> Vec<SeenThread>) -> RollCall {
        let ranks: Vec<_> = (0..size).map(|rank| SeenRank { rank, threads: of(rank) }).collect();
        let context = Context { directory: "/home/me".into(), libraries: vec![] };
        RollCall::seen(
            Some("/home/me/solve".to_owned()),
            size,
            &ranks,
            &context,
            Outside::default(),
        )
    }

    fn sleeps() -> Vec<SeenThread> {
        vec![thread(Doing::Sleeps, &[("naps", 3), ("main", 8)], None)]
    }

    #[test]
    fn who_is_missing_is_certain_only_on_a_known_communicator() {
        let call = |on: Option<&'static str>, call: &'static str| {
            seen(4, move |rank| match rank {
                2 => sleeps(),
                _ => vec![waits(call, on, 40)],
            })
        };
        let world = call(Some(WORLD), "MPI_Allreduce");
        assert_eq!((&*world.awaited, world.rows.len()), (&[2][..], 2));
        let text = world.table();
        assert!(text.contains("others wait for rank 2 (sleeps)"), "{text}");
        assert!(text.contains("0, 1, 3 (3)  without rank 2 (sleeps)"), "{text}");
        assert!(!text.lines().any(|line| line.ends_with("for")), "{text}");
        let unknown = call(None, "MPI_Allreduce");
        assert!(unknown.awaited.is_empty());
        let text = unknown.table();
        assert!(text.contains("if it is of all ranks, without rank 2 (sleeps)"), "{text}");
        let other = call(Some("not MPI_COMM_WORLD"), "MPI_Allreduce");
        assert!(other.awaited.is_empty() && !other.table().contains("without"));
        // All wait for the root of a broadcast; of a reduction nobody knows.
        assert_eq!(call(Some(WORLD), "MPI_Bcast").awaited, [2]);
        assert!(call(Some(WORLD), "MPI_Reduce").awaited.is_empty());
        let json = serde_json::to_string(&world).unwrap();
        assert_eq!(serde_json::from_str::<RollCall>(&json).unwrap(), world);
    }

    #[test]
    fn the_same_call_at_several_lines_need_not_be_the_same_collective() {
        let call = seen(4, |rank| vec![waits("MPI_Allreduce", Some(WORLD), 40 + rank % 2)]);
        assert!(call.awaited.is_empty());
        assert!(call.table().contains("0-3 (4)  at 2 lines"), "{}", call.table());
    }

    #[test]
    fn ranks_that_have_ended_are_missing_and_threads_have_rows() {
        let call = seen(3, |rank| match rank {
            1 => vec![],
            _ => {
                let worker = thread(Doing::Computes, &[("work", 20)], None);
                let progress = SeenThread { stack: vec![], ..worker.clone() };
                vec![waits("MPI_Allreduce", Some(WORLD), 40), worker, progress]
            }
        });
        let text = call.table();
        assert!(text.contains("others wait for rank 1 (has ended)"), "{text}");
        assert!(text.contains("2 threads of 0, 2"), "{text}");
        assert_eq!(call.answered, 2);
    }

    #[test]
    fn a_thousand_ranks_fit_on_a_screen() {
        let call = seen(1000, |rank| match rank {
            7 => sleeps(),
            8..300 => vec![thread(Doing::Computes, &[("refine", rank), ("main", 9)], None)],
            _ => vec![waits("MPI_Allreduce", None, 40 + rank % 60)],
        });
        let table = call.table();
        assert!(
            table.lines().count() <= 20 && table.lines().all(|line| line.len() < 200),
            "{table}"
        );
    }
}
