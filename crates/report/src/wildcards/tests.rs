use super::*;
use commsan_rundir::Comm;
use proptest::prelude::*;

fn steps(all: Vec<Step>) -> Steps {
    let comm = Comm { name: 9, on: String::new(), members: vec![0, 1, 2] };
    Steps { comms: vec![comm], all, timing: None }
}

fn message(peer: u32, tag: i32, bytes: u64, synchronous: bool) -> Message {
    Message { comm: 0, peer, tag: Some(tag), place: 0, bytes: Some(bytes), synchronous }
}

fn send(peer: u32, tag: i32, bytes: u64) -> Step {
    Step::Kept(message(peer, tag, bytes, false))
}

fn any(tag: Option<i32>) -> Step {
    Step::Any(Wanted { comm: 0, tag, place: 1, bytes: Some(4) })
}

fn receive(peer: u32, tag: i32) -> Step {
    Step::Receive(message(peer, tag, 100, false))
}

fn finish(begun: u32) -> Step {
    Step::Finish { begun, place: 2 }
}

fn got(begun: u32, peer: u32, tag: i32) -> Step {
    Step::Got { begun, peer, tag }
}

/// The kinds of harm that receives and probes of rank 0 may come to.
fn harms(ranks: [Vec<Step>; 3]) -> Vec<Harm> {
    let all = ranks.map(steps);
    let known: Vec<Option<&Steps>> = all.iter().map(Some).collect();
    let ordered: Vec<&[Step]> = all.iter().map(|steps| steps.ordered()).collect();
    let matching = Matching::new(&known);
    let order = Order::new(&ordered, &matching).unwrap();
    let log = RankLog::default();
    let logs = all.iter().map(|steps| Some((&log, steps))).collect();
    let ranks = Ranks { job: Job::default(), logs, matching, order };
    let harm = |wildcard: Wildcard| {
        (0..3).find_map(|sender| {
            let sent = ranks.may_take(&wildcard, 9, sender)?;
            ranks.harm(&wildcard, 9, (sender, sent))
        })
    };
    ranks.wildcards(0).into_iter().filter_map(harm).collect()
}

#[test]
fn what_does_not_fit_is_found() {
    let receives = |first: u32, second: u32| {
        vec![any(Some(7)), got(0, first, 7), finish(0), receive(second, 7), finish(3)]
    };
    let (short, long) = (vec![send(0, 7, 4)], vec![send(0, 7, 40)]);
    let found = |first, second| harms([receives(first, second), short.clone(), long.clone()]);
    assert!(matches!(*found(1, 2), [Harm::TooLong(4)]));
    // The long one came first: then the call fails, and is reported as such.
    assert!(found(2, 1).is_empty());
    assert!(harms([receives(1, 2), short.clone(), short]).is_empty());
}

#[test]
fn what_is_sent_later_cannot_be_taken() {
    // Rank 0 tells rank 2 that it has got rank 1's message.
    let tells =
        vec![any(Some(7)), got(0, 1, 7), finish(0), send(2, 1, 0), receive(2, 7), finish(4)];
    let waits = vec![receive(0, 1), finish(0), send(0, 7, 40)];
    assert!(harms([tells.clone(), vec![send(0, 7, 4)], waits]).is_empty());
    // It does not wait for that.
    let hasty = vec![send(0, 7, 40), receive(0, 1), finish(1)];
    assert_eq!(harms([tells, vec![send(0, 7, 4)], hasty]).len(), 1);
}

/// What rank 2 has heard is not known: it may have heard of the receive.
#[test]
fn what_is_not_known_is_ordered() {
    let takes = vec![any(Some(7)), got(0, 1, 7), finish(0), receive(2, 7), finish(3)];
    let hears = vec![receive(1, 5), finish(0), send(0, 7, 40)];
    assert!(harms([takes, vec![send(0, 7, 4)], hears]).is_empty());
}

#[test]
fn who_sends_synchronously_knows_of_the_receive() {
    let takes = vec![any(Some(7)), got(0, 1, 7), finish(0), receive(2, 7), finish(3)];
    let knows = |synchronous| {
        let sent = Step::Send(message(0, 7, 4, synchronous));
        vec![sent, finish(0), send(2, 5, 0)]
    };
    let hears = || vec![receive(1, 5), finish(0), send(0, 7, 40)];
    assert!(harms([takes.clone(), knows(true), hears()]).is_empty());
    assert_eq!(harms([takes, knows(false), hears()]).len(), 1);
}

#[test]
fn another_tag_is_harm_if_the_status_is_passed_on() {
    let found = |tag: Option<i32>| Step::Found {
        wanted: Wanted { comm: 0, tag, place: 1, bytes: None },
        peer: 1,
        got: 7,
    };
    let small = |peer, tag| Step::Receive(Message { place: 5, ..message(peer, tag, 4, false) });
    let rank = |probe, looks: &[Step]| {
        let mut all = vec![probe];
        all.extend(looks);
        let begun = all.len() as u32;
        all.extend([small(1, 7), finish(begun), receive(2, 8), finish(begun + 2)]);
        all
    };
    let senders = || (vec![send(0, 7, 4)], vec![send(0, 8, 40)]);
    let count = |all| {
        let (one, two) = senders();
        harms([all, one, two]).len()
    };
    let look = [Step::Looked { place: 3 }];
    assert_eq!(count(rank(found(None), &look)), 1);
    assert_eq!(count(rank(found(None), &[])), 0);
    assert_eq!(count(rank(found(Some(7)), &look)), 0);
}

/// Rank 2 may leave the round while rank 0 still probes.
#[test]
fn the_next_round_is_another() {
    let sent = |peer, tag| Step::Send(message(peer, tag, 4, true));
    let enter = Step::Enter { comm: 0, place: 4 };
    let missed = Step::Missed(Wanted { comm: 0, tag: Some(7), place: 1, bytes: None });
    let probes = |more: &[Step], tag| {
        let mut all = vec![receive(1, 7), finish(0), enter, missed, finish(2)];
        all.extend(more);
        let begun = all.len() as u32;
        all.extend([receive(2, tag), finish(begun)]);
        all
    };
    let one = |more: &[Step]| [&[sent(0, 7), finish(0), enter, finish(2)][..], more].concat();
    let two = |more: &[Step], tag| [&[enter, finish(0)][..], more, &[sent(0, tag)][..]].concat();
    let round = |tag| harms([probes(&[], tag), one(&[]), two(&[], tag)]);
    assert!(matches!(*round(7), [Harm::NextRound(4)]));
    assert!(round(8).is_empty());
    let barrier = |at| [enter, finish(at)];
    let ordered = harms([probes(&barrier(5), 7), one(&barrier(4)), two(&barrier(2), 7)]);
    assert!(ordered.is_empty());
}

fn any_step() -> impl Strategy<Value = Step> {
    (0..9_u8, 0..3_u32, 0..2_i32, 0..6_u32).prop_map(|(kind, peer, tag, begun)| match kind {
        0 | 1 => send(peer, tag, 9),
        2 => receive(peer, tag),
        3 => any(Some(tag)),
        4 => got(begun, peer, tag),
        5 => Step::Enter { comm: 0, place: 0 },
        6 => Step::Missed(Wanted { comm: 0, tag: None, place: 0, bytes: None }),
        7 => Step::Send(message(peer, tag, 9, true)),
        _ => finish(begun),
    })
}

proptest! {
    /// Whatever logs say, and however much is missing.
    #[test]
    fn any_steps_are_looked_at(
        ranks in prop::array::uniform3(prop::collection::vec(any_step(), 0..12))
    ) {
        harms(ranks);
    }
}
