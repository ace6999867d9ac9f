use super::*;
use commsan_findings::Role;
use commsan_rundir::Origin;
use commsan_rundir::record::Start;

const WORLD: u64 = 7;
const ROLL_CALL: u64 = 3;

/// Places are lines of scripts, which need no file to be looked up in: modules of a log are
/// functions.
const FUNCTIONS: [&str; 4] = ["main", "step", "refine", "exchange"];

fn site(call: Option<&'static str>, frames: &[(u32, u64)]) -> RawSite<'static> {
    let call = call.map(Into::into);
    let frames = frames.to_vec().into();
    RawSite { role: Role::Wait, call, thread: 0, frames, rank: None, reference: None }
}

fn need(kind: NeedKind, ranks: Vec<u32>, tag: Option<i32>, number: u32) -> RawNeed<'static> {
    RawNeed {
        kind,
        call: "MPI_Irecv".into(),
        site: None,
        ranks: ranks.into(),
        tag,
        on: "MPI_COMM_WORLD".into(),
        name: WORLD,
        number,
    }
}

fn waiting(moves: u64, call: &'static str, line: u64) -> RawWaiting<'static> {
    RawWaiting {
        moves,
        site: site(Some(call), &[(1, line), (0, 90)]),
        again: false,
        beside: 0,
        any: false,
        needs: vec![].into(),
        pending: vec![].into(),
        entered: vec![].into(),
        roll_call: ROLL_CALL,
    }
}

fn allreduce(ranks: u32, rank: u32) -> RawWaiting<'static> {
    let others = (0..ranks).filter(|other| *other != rank).collect();
    let needs = vec![need(NeedKind::Collective, others, None, 18)].into();
    RawWaiting { needs, entered: vec![(WORLD, 18)].into(), ..waiting(9, "MPI_Allreduce", 212) }
}

fn receive(from: u32) -> RawWaiting<'static> {
    let needs = vec![need(NeedKind::Receive, vec![from], Some(4), 0)].into();
    RawWaiting { needs, ..waiting(9, "MPI_Recv", 40) }
}

fn thread(rank: u32, doing: Doing, frames: &[(u32, u64)]) -> RawThread<'static> {
    let site = Some(site(None, frames));
    RawThread { roll_call: ROLL_CALL, id: 100 + rank as i32, doing, file: None, site }
}

/// A rank that waits, or has called something last, and has entered so many collectives.
fn log(rank: u32, waits: RawWaiting<'static>, entered: u32) -> RankLog {
    let start = Start {
        version: 1,
        rank,
        size: 2,
        pid: 100 + rank,
        host: "h".into(),
        mpi: "MPICH 4.0.2".into(),
        program: "/home/me/solve".into(),
        instrumented: true,
        job: "".into(),
        arguments: vec![],
        name: "".into(),
    };
    let modules = FUNCTIONS.map(|function| Origin {
        path: "/home/me/solve.py".into(),
        function: Some(function.to_owned()),
    });
    let progress = RawProgress {
        roll_call: ROLL_CALL,
        name: WORLD,
        on: "MPI_COMM_WORLD".into(),
        entered,
        site: Some(site(Some(if entered == 18 { "MPI_Allreduce" } else { "MPI_Barrier" }), &[])),
    };
    let library = Origin::from("/usr/lib/libmpich.so.12");
    RankLog {
        rank,
        start: Some(start),
        modules: modules.into_iter().chain([library]).collect(),
        waits: vec![(100 + rank, waits)],
        progress: vec![(100 + rank, progress)],
        ..RankLog::default()
    }
}

fn called(rank: u32) -> Called {
    Called {
        rank,
        process: 100 + rank,
        answered: Some(ROLL_CALL),
        state: Some('S'),
        seconds: Some(41),
    }
}

fn of(called: &[Called], logs: &[RankLog]) -> RollCall {
    let context = Context { directory: "/home/me".into(), libraries: vec![] };
    RollCall::of(called, logs, &context)
}

fn job(ranks: u32, log: impl Fn(u32) -> RankLog) -> RollCall {
    let logs: Vec<_> = (0..ranks).map(log).collect();
    of(&(0..ranks).map(called).collect::<Vec<_>>(), &logs)
}

fn computes(rank: u32) -> RankLog {
    let thread = thread(rank, Doing::Computes, &[(2, 17), (1, 91), (0, 5)]);
    let threads = vec![(100 + rank, thread)];
    RankLog { threads, ..log(rank, waiting(10, "MPI_Barrier", 80), 17) }
}

fn polls(rank: u32, from: u32) -> RankLog {
    let pending = vec![need(NeedKind::Receive, vec![from], Some(5), 0)].into();
    let last = RawWaiting { again: true, pending, ..waiting(10, "MPI_Test", 88) };
    let threads = vec![(100 + rank, thread(rank, Doing::Computes, &[(1, 88), (0, 90)]))];
    RankLog { threads, ..log(rank, last, 17) }
}

/// It makes calls that may wait, each of which ends.
fn moves_on(rank: u32) -> RankLog {
    let last = RawWaiting { again: true, ..waiting(10, "MPI_Wait", 88) };
    let threads = vec![(100 + rank, thread(rank, Doing::Computes, &[(1, 88), (0, 90)]))];
    RankLog { threads, ..log(rank, last, 17) }
}

#[test]
fn who_asks_again_and_again_polls_and_who_waits_again_and_again_moves_on() {
    let table = job(2, |rank| if rank == 0 { moves_on(0) } else { polls(1, 0) }).table();
    assert!(table.contains("moves on, in MPI_Wait") && table.contains("polls MPI_Test"), "{table}");
}

#[test]
fn of_many_ranks_one_polls_and_one_computes() {
    let call = job(256, |rank| match rank {
        7 => polls(7, 3),
        255 => computes(255),
        _ => log(rank, allreduce(256, rank), 18),
    });
    insta::assert_snapshot!(call.table());
    assert_eq!(call.awaited, [7, 255]);
    let text = serde_json::to_string(&call).unwrap();
    assert_eq!(serde_json::from_str::<RollCall>(&text).unwrap(), call);
}

#[test]
fn a_ring_is_one_row() {
    insta::assert_snapshot!(job(64, |rank| log(rank, receive((rank + 63) % 64), 3)).table());
}

#[test]
fn a_thousand_ranks_at_as_many_lines_fit_on_a_screen() {
    let call = job(1000, |rank| match rank {
        0 => log(0, allreduce(1000, 0), 18),
        1..=400 => {
            let place = [(rank % 4, u64::from(rank)), (1, 91), (0, 5)];
            let threads = vec![(100 + rank, thread(rank, Doing::Computes, &place))];
            RankLog { threads, ..log(rank, waiting(10, "MPI_Barrier", rank.into()), 17) }
        }
        401..=700 => log(rank, receive(rank * 7 % 400), 17),
        _ => log(rank, RawWaiting { ..receive(rank * 3 % 11) }, rank % 13),
    });
    let table = call.table();
    assert!(table.lines().count() <= 40 && table.lines().all(|line| line.len() < 200), "{table}");
    insta::assert_snapshot!(table);
}

#[test]
fn who_does_not_answer_is_told_by_its_process() {
    let logs = [log(0, allreduce(7, 0), 18)];
    let silent = |rank: u32, state| Called { answered: None, state, ..called(rank) };
    let absent = Called { process: 0, seconds: None, ..silent(1, None) };
    let states = [None, Some('T'), Some('t'), Some('D'), Some('R')];
    let rest = (2..).zip(states).map(|(rank, state)| silent(rank, state));
    let all: Vec<_> = [called(0), absent].into_iter().chain(rest).collect();
    insta::assert_snapshot!(of(&all, &logs).table());
}

#[test]
fn threads_at_work_beside_one_that_waits_have_rows_of_their_own() {
    let call = job(2, |rank| {
        // The first thread is the one that waits, as its stack shows.
        let mut first = thread(rank, Doing::Computes, &[(1, 8)]);
        first.site.as_mut().unwrap().frames.to_mut().push((4, 1));
        let other = RawThread {
            id: 500,
            doing: Doing::Locks,
            ..thread(rank, Doing::Locks, &[(2, 30), (1, 31)])
        };
        let threads = vec![(100 + rank, first), (100 + rank, other)];
        let waits = RawWaiting { moves: 10, ..receive(1 - rank) };
        RankLog { threads, ..log(rank, waits, 17) }
    });
    insta::assert_snapshot!(call.table());
}

#[test]
fn answers_to_other_roll_calls_do_not_count() {
    let mut old = log(0, allreduce(2, 0), 18);
    old.waits[0].1.roll_call = ROLL_CALL - 1;
    let other_process = RankLog { waits: vec![(9, allreduce(2, 0))], ..log(0, receive(1), 2) };
    let call = of(&[called(0), called(1)], &[old, other_process]);
    assert!(!call.waits(), "{}", call.table());
    assert_eq!(call.rows[1].state, State::Silent);
}
