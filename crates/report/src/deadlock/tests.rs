use super::*;
use commsan_findings::Role;
use commsan_rundir::Stuck as Seen;
use commsan_rundir::record::{RawSite, Start};
use std::fmt::Write;

const WORLD: u64 = 7;

fn need(kind: NeedKind, call: &'static str, ranks: &[u32], tag: Option<i32>) -> RawNeed<'static> {
    RawNeed {
        kind,
        call: call.into(),
        site: None,
        ranks: ranks.to_vec().into(),
        tag,
        on: "MPI_COMM_WORLD".into(),
        name: WORLD,
        number: 1,
    }
}

fn send(to: u32, tag: i32) -> RawNeed<'static> {
    need(NeedKind::Send, "MPI_Send", &[to], Some(tag))
}

fn receive(from: &[u32], tag: i32) -> RawNeed<'static> {
    need(NeedKind::Receive, "MPI_Recv", from, Some(tag))
}

fn barrier(others: &[u32]) -> RawNeed<'static> {
    need(NeedKind::Collective, "MPI_Barrier", others, None)
}

fn site(role: Role, call: &'static str) -> RawSite<'static> {
    let frames = vec![].into();
    RawSite { role, call: Some(call.into()), thread: 0, frames, rank: None, reference: None }
}

/// Of a request.
fn of_request(call: &'static str, need: RawNeed<'static>) -> RawNeed<'static> {
    RawNeed { call: call.into(), site: Some(site(Role::Operation, call)), ..need }
}

fn waits(call: &'static str, needs: &[RawNeed<'static>]) -> RawWaiting<'static> {
    let is_in = needs.iter().any(|need| need.kind == NeedKind::Collective);
    RawWaiting {
        moves: 9,
        site: site(Role::Wait, call),
        again: false,
        beside: 0,
        any: false,
        needs: needs.to_vec().into(),
        pending: vec![].into(),
        entered: vec![(WORLD, u32::from(is_in))].into(),
        roll_call: 0,
    }
}

fn alone(need: RawNeed<'static>) -> Option<RawWaiting<'static>> {
    let RawNeed { ref call, .. } = need;
    let std::borrow::Cow::Borrowed(call) = *call else { panic!() };
    Some(waits(call, &[need]))
}

fn log(rank: usize, waiting: Option<RawWaiting<'static>>) -> RankLog {
    let start = Start {
        version: 1,
        rank: rank as u32,
        size: 2,
        pid: 100 + rank as u32,
        host: "h".into(),
        mpi: "MPICH 4.0.2".into(),
        program: "/app".into(),
        instrumented: true,
        job: "".into(),
        arguments: vec![],
        name: "".into(),
    };
    let waits = waiting.into_iter().map(|waiting| (start.pid, waiting)).collect();
    RankLog { rank: rank as u32, start: Some(start), waits, ..RankLog::default() }
}

fn seen(logs: &[RankLog]) -> Vec<Seen> {
    let of = |log: &RankLog| Seen {
        rank: log.rank,
        process: 100 + log.rank,
        moves: log.waits.first().map(|(_, waiting)| waiting.moves),
        since: Some(1000 - u64::from(log.rank)),
    };
    logs.iter().map(of).collect()
}

/// The finding for a job whose ranks wait like this; ranks without a wait have ended.
fn told(ranks: Vec<Option<RawWaiting<'static>>>) -> String {
    let logs: Vec<_> = ranks.into_iter().enumerate().map(|(rank, w)| log(rank, w)).collect();
    let deadlock = Deadlock { ranks: seen(&logs), seconds: 10 };
    let [finding] = &*findings(&[deadlock], &logs, &Symbols::default()) else { panic!() };
    let mut text = format!("{}\n", finding.message);
    for site in &finding.sites {
        writeln!(text, "  rank {}: {}", site.rank, site.label).unwrap();
    }
    write!(text, "why: {}\nhelp: {}", finding.why, finding.help).unwrap();
    text
}

/// Of the ranks of the cycle, not of the one that waits for it.
#[test]
fn ranks_stand_still_since_they_were_seen_there_first() {
    let ranks = [1, 0, 0].map(|next| alone(receive(&[next], 0)));
    let logs: Vec<_> = ranks.into_iter().enumerate().map(|(rank, w)| log(rank, w)).collect();
    let moments = |ranks: Vec<Seen>| {
        let all = findings(&[Deadlock { ranks, seconds: 10 }], &logs, &Symbols::default());
        all[0].moments.iter().map(|of| (of.time, of.rank, of.thread)).collect::<Vec<_>>()
    };
    assert_eq!(moments(seen(&logs)), [(999, 1, 0), (1000, 0, 0)]);
    let older = seen(&logs).into_iter().map(|rank| Seen { since: None, ..rank }).collect();
    assert_eq!(moments(older), []);
}

#[test]
fn each_kind_of_deadlock_is_explained() {
    let irecv = |from: &[u32], tag| of_request("MPI_Irecv", receive(from, tag));
    let either =
        RawWaiting { any: true, ..waits("MPI_Waitany", &[irecv(&[1], 0), irecv(&[2], 0)]) };
    let finalize = |others: &[u32]| {
        Some(waits("MPI_Finalize", &[need(NeedKind::Collective, "MPI_Finalize", others, None)]))
    };
    let other_comm =
        RawNeed { name: 8, on: "a communicator of 2 ranks".into(), ..receive(&[0], 5) };
    let all = [
        ("receives", vec![alone(receive(&[1], 0)), alone(receive(&[0], 0))]),
        ("sends", vec![alone(send(1, 0)), alone(send(0, 0))]),
        ("tags", vec![alone(send(1, 6)), alone(receive(&[0], 5))]),
        ("communicators", vec![alone(send(1, 5)), alone(other_comm)]),
        ("a ring", (0..5).map(|rank| alone(send((rank + 1) % 5, 0))).collect()),
        (
            "barrier and message",
            vec![alone(barrier(&[1, 2])), alone(receive(&[0], 0)), alone(barrier(&[0, 1]))],
        ),
        ("finalize", vec![finalize(&[1]), alone(receive(&[0], 0))]),
        ("ended", vec![None, alone(receive(&[0], 0)), None]),
        ("itself", vec![alone(receive(&[0], 0))]),
        ("any", vec![Some(either), alone(barrier(&[0, 2])), alone(barrier(&[0, 1]))]),
        (
            "threads",
            vec![
                Some(RawWaiting { beside: 1, ..waits("MPI_Recv", &[receive(&[1], 4)]) }),
                Some(RawWaiting { beside: 2, ..waits("MPI_Recv", &[receive(&[0], 4)]) }),
            ],
        ),
        (
            "window",
            vec![
                Some(waits(
                    "MPI_Win_start",
                    &[need(NeedKind::Window, "MPI_Win_start", &[1], None)],
                )),
                alone(receive(&[0], 0)),
            ],
        ),
    ];
    let all = all.map(|(name, ranks)| format!("--- {name}\n{}\n", told(ranks)));
    insta::assert_snapshot!(all.concat());
}

/// Rank 0 waits for two messages of which one has come; rank 1 waits for one from rank 0.
#[test]
fn what_has_come_explains_nothing() {
    let come = of_request("MPI_Irecv", receive(&[2], 0));
    let first = waits("MPI_Waitall", &[come, of_request("MPI_Irecv", receive(&[1], 1))]);
    let sent = of_request("MPI_Isend", send(0, 0));
    let third = RawWaiting { pending: vec![sent].into(), ..waits("MPI_Recv", &[receive(&[0], 3)]) };
    let told = told(vec![Some(first), alone(receive(&[0], 2)), Some(third)]);
    assert!(told.starts_with("rank 0 in MPI_Waitall and rank 1 in MPI_Recv wait"), "{told}");
    assert!(told.contains("rank 0: MPI_Waitall waits for a message from rank 1 (tag 1)"), "{told}");
    assert!(told.contains("of the others, rank 2 is in MPI_Recv"), "{told}");
}

#[test]
fn collectives_that_all_have_come_to_take_their_time() {
    let all = |call: &'static str, others: [&[u32]; 2]| {
        let logs: Vec<_> = others
            .iter()
            .enumerate()
            .map(|(rank, others)| {
                log(rank, Some(waits(call, &[need(NeedKind::Collective, call, others, None)])))
            })
            .collect();
        let deadlock = Deadlock { ranks: seen(&logs), seconds: 10 };
        findings(&[deadlock], &logs, &Symbols::default())
    };
    assert!(all("MPI_Finalize", [&[1], &[0]]).is_empty());
    assert!(all("MPI_Barrier", [&[1], &[0]]).is_empty());
}

/// Rank 1 flushes, or completes an epoch, while rank 0 is in a barrier.
#[test]
fn one_sided_operations_take_their_time_unless_somebody_is_in_their_way() {
    const WINDOW: u64 = 9;
    let held = |target, exclusive| Held { target, exclusive }.number();
    let of_window = |kind, call, number| {
        let all = need(kind, call, &[0], None);
        RawNeed { name: WINDOW, number, on: "a window of 2 ranks".into(), ..all }
    };
    let beside = |need: &RawNeed<'static>, holds: &[(u64, u32)]| {
        let first = alone(barrier(&[1])).map(|waiting| {
            let entered = waiting.entered.iter().chain(holds).copied().collect();
            RawWaiting { entered, ..waiting }
        });
        let logs = [log(0, first), log(1, alone(need.clone()))];
        let deadlock = Deadlock { ranks: seen(&logs), seconds: 10 };
        findings(&[deadlock], &logs, &Symbols::default())
    };
    let flush = of_window(NeedKind::Lock, "MPI_Win_flush", held(Some(0), false));
    assert!(beside(&flush, &[]).is_empty());
    assert!(beside(&flush, &[(WINDOW, held(None, false))]).is_empty());
    assert!(beside(&flush, &[(WINDOW, held(Some(1), true))]).is_empty());
    assert!(beside(&flush, &[(WINDOW + 1, held(Some(0), true))]).is_empty());
    let [finding] = &*beside(&flush, &[(WINDOW, held(Some(0), true))]) else { panic!() };
    let said =
        "rank 1 waits in MPI_Win_flush for rank 0 to release its lock of a window of 2 ranks";
    assert!(finding.why.contains(said), "{}", finding.why);

    let complete = of_window(NeedKind::Exposure, "MPI_Win_complete", 0);
    assert!(beside(&complete, &[(WINDOW, 1)]).is_empty());
    let [finding] = &*beside(&complete, &[]) else { panic!() };
    let said =
        "rank 1 waits in MPI_Win_complete for rank 0 to expose its part of a window of 2 ranks";
    assert!(finding.why.contains(said), "{}", finding.why);
}

/// Only records of this wait and of this process count.
#[test]
fn who_went_on_since_is_not_believed() {
    let logs = [log(0, alone(receive(&[1], 0))), log(1, alone(receive(&[0], 0)))];
    let mut ranks = seen(&logs);
    ranks[0].moves = Some(11);
    let deadlock = Deadlock { ranks, seconds: 10 };
    let [finding] = &*findings(&[deadlock], &logs, &Symbols::default()) else { panic!() };
    assert_eq!(finding.ranks, [1]);
    assert!(findings(&[Deadlock::default()], &logs, &Symbols::default()).is_empty());
}

#[test]
fn ranks_that_were_ended_say_where_they_waited() {
    let other = RawWaiting { moves: 5, ..waits("MPI_Recv", &[receive(&[0, 2], 4)]) };
    let polls = RawWaiting {
        moves: 6,
        again: true,
        pending: vec![receive(&[0], 3)].into(),
        ..waits("MPI_Test", &[])
    };
    let works = RawWaiting { moves: 8, ..waits("MPI_Bcast", &[]) };
    let logs = [
        log(0, None),
        log(1, Some(other)),
        log(2, alone(barrier(&[0, 1]))),
        log(3, Some(polls)),
        log(4, Some(works)),
    ];
    let told = last_seen(&seen(&logs), &logs, &Symbols::default());
    let told: Vec<_> = told.iter().map(|(rank, text)| (*rank, &**text)).collect();
    assert_eq!(
        told,
        [
            (0, "was not waiting for others when the job ended"),
            (1, "was waiting in MPI_Recv for a message from any rank (tag 4) when the job ended"),
            (
                2,
                "was waiting in MPI_Barrier for all other ranks to enter the same MPI_Barrier on MPI_COMM_WORLD when the job ended"
            ),
            (
                3,
                "was calling MPI_Test again and again when the job ended, with an operation open that needs a message from rank 0 (tag 3)"
            ),
            (4, "was not waiting for others, but at work after MPI_Bcast when the job ended"),
        ]
    );
}
