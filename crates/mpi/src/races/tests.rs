use super::*;
use commsan_callsite::Stacks;
use proptest::prelude::*;

const COMM: u64 = 3;

fn races() -> Races {
    Races::watching(None)
}

fn by(pc: usize) -> Site {
    Site { call: None, thread: 0, stack: Stacks::EMPTY, pc, afar: None }
}

fn wanted(tag: Option<i32>) -> Wanted {
    Wanted { comm: COMM, tag }
}

/// One receive of a program.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// `None` for anybody.
    from: Option<u32>,
    tag: Option<i32>,
    /// What it got.
    got: (u32, i32),
    /// Whether it is complete only at the end.
    late: bool,
}

fn call() -> impl Strategy<Value = Call> {
    (0..3_u32, 0..2_i32, any::<bool>(), 0..4, any::<bool>()).prop_map(
        |(sender, tag, names, tags, late)| Call {
            from: names.then_some(sender),
            tag: (tags > 0).then_some(tag),
            got: (sender, tag),
            late,
        },
    )
}

/// Messages that each sender has sent, in this order.
fn sent(calls: &[Call]) -> [Vec<i32>; 3] {
    let mut sent = [vec![], vec![], vec![]];
    calls.iter().for_each(|call| sent[call.got.0 as usize].push(call.got.1));
    sent
}

/// Whether some order of arrival leaves a receive without a message: all are tried.
fn may_starve(calls: &[Call], left: &[Vec<i32>; 3]) -> bool {
    let Some((call, rest)) = calls.split_first() else { return false };
    let mut messages =
        (0..3_u32).filter(|s| call.from.is_none_or(|from| from == *s)).filter_map(|s| {
            let at = left[s as usize].iter().position(|tag| call.tag.is_none_or(|t| t == *tag))?;
            let mut left = left.clone();
            left[s as usize].remove(at);
            Some(left)
        });
    match messages.next() {
        None => true,
        Some(first) => may_starve(rest, &first) || messages.any(|left| may_starve(rest, &left)),
    }
}

fn found(calls: &[Call], late: impl Fn(&Call) -> bool) -> usize {
    let (mut races, mut open) = (races(), Vec::new());
    for (pc, call) in calls.iter().enumerate() {
        match call.from {
            Some(sender) => races.receive(sender, wanted(call.tag), || by(pc)),
            None => {
                let position = races.post(wanted(call.tag), by(pc), None, None).unwrap();
                match late(call) {
                    true => open.push((position, call.got)),
                    false => races.complete(position, Some(call.got), None, None),
                }
            }
        }
    }
    // In no order in particular.
    open.reverse();
    open.into_iter().for_each(|(position, got)| races.complete(position, Some(got), None, None));
    races.finish().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Where a race is found, some order of arrival leaves a receive without a message.
    #[test]
    fn no_race_without_a_receive_that_starves(calls in prop::collection::vec(call(), 2..9)) {
        let starves = may_starve(&calls, &sent(&calls));
        prop_assert!(found(&calls, |call| call.late) == 0 || starves);
        prop_assert!(found(&calls, |_| false) == 0 || starves);
    }

    /// Where all messages have one tag, and those from anybody come first, none is missed.
    #[test]
    fn what_starves_for_messages_of_one_tag_is_found(
        mut calls in prop::collection::vec(call(), 2..9)
    ) {
        for call in &mut calls {
            (call.tag, call.got.1) = (Some(0), 0);
        }
        calls.sort_by_key(|call| call.from.is_some());
        let starves = may_starve(&calls, &sent(&calls));
        prop_assert_eq!(found(&calls, |_| false) > 0, starves);
        prop_assert_eq!(found(&calls, |call| call.late) > 0, starves);
    }
}

#[test]
fn what_the_program_knows_is_no_race() {
    let race = |between: &dyn Fn(&mut Races)| {
        let mut races = races();
        let buffer = Access { mode: Mode::Write, footprint: Footprint::Dense(100..108) };
        let position = races.post(wanted(None), by(1), Some(7), Some(buffer)).unwrap();
        races.complete(position, Some((1, 0)), Some(200..204), None);
        between(&mut races);
        races.receive(2, wanted(Some(0)), || by(2));
        races.finish().len()
    };
    let see = |races: &mut Races, bytes| {
        races.touched(&Access { mode: Mode::Read, footprint: Footprint::Dense(bytes) }, 0);
    };
    assert_eq!(race(&|_| ()), 1);
    assert_eq!(race(&|races| see(races, 100..101)), 0);
    assert_eq!(race(&|races| see(races, 203..300)), 0);
    assert_eq!(race(&|races| see(races, 108..200)), 1);
    assert_eq!(race(&|races| races.inform_others()), 0);
    assert_eq!(race(&|races| races.give_up(COMM)), 0);
    assert_eq!(race(&|races| races.give_up(COMM + 1)), 1);
    assert_eq!(race(&|races| races.forget(7)), 1); // that is complete
    let patient = |races: &mut Races| {
        for _ in 0..MAX_TOUCHES {
            see(races, 0..1);
        }
    };
    assert_eq!(race(&patient), 0);
}

#[test]
fn what_is_not_complete_is_known_to_nobody() {
    let race = |request: usize| {
        let mut races = races();
        let position = races.post(wanted(None), by(1), Some(7), None).unwrap();
        races.inform_others();
        races.receive(2, wanted(Some(0)), || by(2));
        races.forget(request);
        races.complete(position, Some((1, 0)), None, None);
        races.finish().len()
    };
    assert_eq!((race(8), race(7)), (1, 0));
}

/// The second receive from anybody would have got another message, and the program looks at it.
#[test]
fn what_was_seen_may_have_led_elsewhere() {
    let race = |sees: bool| {
        let mut races = races();
        for (sender, at) in [(1, 100), (2, 200)] {
            let position = races.post(wanted(None), by(at), None, None).unwrap();
            races.complete(position, Some((sender, 0)), Some(at..at + 4), None);
        }
        if sees {
            races.touched(&Access { mode: Mode::Read, footprint: Footprint::Dense(200..204) }, 0);
        }
        races.receive(2, wanted(Some(0)), || by(2));
        races.finish().len()
    };
    assert_eq!((race(false), race(true)), (1, 0));
}

/// A receive from anybody that waits all the time costs no memory.
#[test]
fn what_waits_for_long_is_bounded() {
    let mut races = races();
    races.post(wanted(Some(1)), by(1), Some(7), None).unwrap();
    for sender in 0..1000 {
        let position = races.post(wanted(Some(0)), by(2), None, None).unwrap();
        races.complete(position, Some((sender, 0)), None, None);
        races.inform_others();
        races.receive(sender, wanted(Some(1)), || by(3));
        races.give_up(COMM + 1 + u64::from(sender) % 100);
    }
    assert!(
        races.wildcards[0].settled.len() <= MAX_WILDCARDS
            && races.wildcards[0].later.len() <= MAX_WILDCARDS
    );
    assert_eq!((races.wildcards.len(), races.given_up.len()), (1, 100));
}
