use super::*;
use commsan_rundir::record::{RawRace, RawSite};
use proptest::prelude::*;

const WORLD: u64 = 7;

fn messages(
    sends: bool,
    peer: Option<u32>,
    element: Option<&'static str>,
    count: u64,
) -> RawMessages<'static> {
    let call = if sends { "MPI_Send" } else { "MPI_Recv" };
    RawMessages {
        name: WORLD,
        on: "MPI_COMM_WORLD".into(),
        sends,
        peer,
        element: element.map(Into::into),
        call: call.into(),
        tag: Some(3),
        site: RawSite {
            role: Role::Operation,
            call: Some(call.into()),
            thread: 0,
            frames: vec![].into(),
            rank: None,
            reference: None,
        },
        count,
    }
}

const INTEGERS: Option<&str> = Some("integers of 4 bytes");
const REALS: Option<&str> = Some("reals of 8 bytes");

fn send(to: u32, element: Option<&'static str>, count: u64) -> RawMessages<'static> {
    messages(true, Some(to), element, count)
}

fn receive(from: Option<u32>, element: Option<&'static str>, count: u64) -> RawMessages<'static> {
    messages(false, from, element, count)
}

fn logs(ranks: Vec<Vec<RawMessages<'static>>>) -> Vec<RankLog> {
    let log = |(rank, counted)| {
        let names = [WORLD].into();
        let messages = Messages { names, counted, ..Messages::default() };
        RankLog {
            rank: rank as u32,
            messages: [(Job::default(), messages)].into(),
            ..RankLog::default()
        }
    };
    ranks.into_iter().enumerate().map(log).collect()
}

fn told(ranks: Vec<Vec<RawMessages<'static>>>) -> Vec<String> {
    told_of(&logs(ranks))
}

fn told_of(logs: &[RankLog]) -> Vec<String> {
    let found = findings(logs, &Symbols::default());
    let told = |finding: &Finding| {
        let labels: Vec<_> =
            finding.sites.iter().map(|s| format!("rank {}: {}", s.rank, s.label)).collect();
        format!(
            "{} x{}: {} | {} | {}",
            finding.code,
            finding.count,
            finding.message,
            labels.join("; "),
            finding.why
        )
    };
    found.iter().map(told).collect()
}

#[test]
fn messages_that_nobody_receives_are_told() {
    let all = [
        told(vec![vec![send(1, REALS, 3)], vec![receive(Some(0), REALS, 2)]]),
        told(vec![vec![send(1, REALS, 1)], vec![]]),
        told(vec![
            vec![send(2, REALS, 2)],
            vec![send(2, REALS, 2)],
            vec![receive(Some(1), REALS, 2), receive(None, REALS, 1)],
        ]),
        told(vec![
            vec![send(1, REALS, 2)],
            vec![receive(Some(0), INTEGERS, 1), receive(Some(0), REALS, 1)],
        ]),
    ];
    insta::assert_snapshot!(all.concat().join("\n"));
}

/// With another name of the call.
fn by(call: &'static str, messages: RawMessages<'static>) -> RawMessages<'static> {
    let site = RawSite { call: Some(call.into()), ..messages.site };
    RawMessages { call: call.into(), site, ..messages }
}

/// Rank 2 has got a message of rank 0 from anybody, and waits for one of rank 1.
fn race(used: bool) -> RawRace<RawSite<'static>> {
    let site = receive(None, REALS, 1).site;
    let used = used.then(|| (0, RawSite { role: Role::Access, call: None, ..site.clone() }));
    let left = RawSite { role: Role::Access, ..site.clone() };
    RawRace { name: WORLD, taker: site, instead_of: 0, left, used, sender: 1 }
}

fn told_of_race(used: bool, sends: [&'static str; 2], receives: u64) -> Vec<String> {
    let send = |call| vec![by(call, send(2, REALS, 1))];
    let receive = vec![receive(Some(1), REALS, 1), receive(None, REALS, receives)];
    let mut logs = logs(vec![send(sends[0]), send(sends[1]), receive]);
    logs[2].messages.get_mut(&Job::default()).unwrap().races.push(race(used));
    told_of(&logs)
}

#[test]
fn races_are_told_where_nobody_knows_of_a_receive() {
    let race = told_of_race(false, ["MPI_Send", "MPI_Isend"], 1);
    insta::assert_snapshot!(race.join("\n"));
    assert!(told_of_race(false, ["MPI_Ssend", "MPI_Send"], 1).is_empty());
    // What is left over may be for the receive that waits.
    assert!(told_of_race(false, ["MPI_Send", "MPI_Send"], 0).iter().all(|t| t.contains("MSG-02")));
    let last = told_of_race(true, ["MPI_Send", "MPI_Send"], 1);
    insta::assert_snapshot!(last.join("\n"));
    assert!(told_of_race(true, ["MPI_Send", "MPI_Issend_c"], 1).is_empty());
}

#[test]
fn ready_sends_need_receives_that_are_known_to_be_posted() {
    let ready = |posted: u64, late: u64, ready: u64, other: u64| {
        told(vec![
            vec![by("MPI_Rsend", send(1, REALS, ready)), send(1, REALS, other)],
            vec![
                by("MPI_Irecv", receive(Some(0), REALS, posted)),
                by("MPI_Recv", receive(Some(0), REALS, late)),
            ],
        ])
    };
    assert!(ready(2, 1, 2, 1).is_empty());
    let all = [ready(0, 1, 1, 0), ready(1, 2, 2, 1), ready(2, 3, 5, 0)];
    insta::assert_snapshot!(all.concat().join("\n"));
}

#[test]
fn what_fits_is_right() {
    for right in [
        vec![vec![send(1, REALS, 3)], vec![receive(Some(0), REALS, 3)]],
        // Of any type, of several, or empty.
        vec![vec![send(1, REALS, 3)], vec![receive(Some(0), None, 3)]],
        vec![vec![send(1, None, 3)], vec![receive(Some(0), REALS, 3)]],
        // A receive that got nothing.
        vec![
            vec![send(1, REALS, 1)],
            vec![receive(Some(0), REALS, 1), receive(Some(0), INTEGERS, 1)],
        ],
        vec![
            vec![send(2, REALS, 2)],
            vec![send(2, INTEGERS, 1)],
            vec![receive(None, REALS, 2), receive(Some(1), INTEGERS, 1)],
        ],
    ] {
        assert_eq!(told(right), Vec::<String>::new());
    }
}

#[test]
fn what_was_not_counted_is_not_compared() {
    let ranks = || vec![vec![send(1, REALS, 3)], vec![receive(Some(0), INTEGERS, 2)]];
    let mut without = logs(ranks());
    without[1].messages.clear();
    assert!(findings(&without, &Symbols::default()).is_empty(), "rank 1 was killed");
    let mut unbalanced = logs(ranks());
    unbalanced[0].messages.get_mut(&Job::default()).unwrap().unbalanced.insert(WORLD);
    assert!(findings(&unbalanced, &Symbols::default()).is_empty());
    let mut nameless = logs(ranks());
    nameless[1].messages.get_mut(&Job::default()).unwrap().names.clear();
    assert!(findings(&nameless, &Symbols::default()).is_empty());
}

proptest! {
    /// However messages are received that are sent, by exact receives and others: nothing is
    /// reported.
    #[test]
    fn whoever_receives_everything_is_right(
        sent in prop::collection::vec((0..3_u32, 0..3_u32, 0..3_usize, any::<bool>()), 0..30)
    ) {
        let elements = [INTEGERS, REALS, None];
        let mut ranks = vec![vec![]; 3];
        for (from, to, element, exact) in sent {
            ranks[from as usize].push(send(to, elements[element], 1));
            ranks[to as usize].push(receive(exact.then_some(from), elements[element], 1));
        }
        prop_assert!(findings(&logs(ranks), &Symbols::default()).is_empty());
    }

    /// One receive less, or of another type, is found, if all receives are exact and of one type.
    #[test]
    fn one_mistake_is_found(
        sent in prop::collection::vec((0..3_u32, 0..3_u32), 1..20),
        wrong in any::<prop::sample::Index>(),
        lost in any::<bool>(),
    ) {
        let mut ranks = vec![vec![]; 3];
        let wrong = wrong.index(sent.len());
        for (n, (from, to)) in sent.into_iter().enumerate() {
            ranks[from as usize].push(send(to, REALS, 1));
            match (n == wrong, lost) {
                (true, true) => {}
                (true, false) => ranks[to as usize].push(receive(Some(from), INTEGERS, 1)),
                (false, _) => ranks[to as usize].push(receive(Some(from), REALS, 1)),
            }
        }
        let found = findings(&logs(ranks), &Symbols::default());
        let code = if lost { Code::MessageLost } else { Code::MessageTypesDiffer };
        prop_assert_eq!(found.iter().map(|finding| finding.code).collect::<Vec<_>>(), [code]);
    }
}
