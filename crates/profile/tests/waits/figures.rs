//! Lanes, slices, bins and events one by one, compared with what ranks have recorded.

use super::simulation::{Action, CALLS, World, action, read, simulated};
use commsan_profile::Profile;
use commsan_profile::api::{EventRow, Events, EventsQuery};
use commsan_rundir::events::{Record, Shape, What};
use proptest::prelude::*;

/// A call that a rank has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    begin: u64,
    end: u64,
    name: &'static str,
}

fn calls(world: &World, rank: usize) -> Vec<Call> {
    let of = &world.ranks[rank];
    let call = |(record, _): &(Record, _)| {
        let What::Call(call) = of.shapes[record.shape as usize].what else { unreachable!() };
        Call { begin: record.begin, end: record.end, name: CALLS[call as usize] }
    };
    let mut calls: Vec<Call> = of.records.iter().map(call).collect();
    calls.sort_unstable();
    calls
}

fn slices(events: &Events, row: &EventRow) -> Vec<Call> {
    let slice = |(begin, end, _, name, ..): &commsan_profile::api::Slice| {
        let name = CALLS.iter().find(|call| **call == events.names[*name]).unwrap();
        Call { begin: *begin, end: *end, name }
    };
    let mut calls: Vec<Call> = row.slices.iter().map(slice).collect();
    calls.sort_unstable();
    calls
}

/// Time of a row within bins, and within slices.
fn time(events: &Events, row: &EventRow) -> (f64, f64) {
    let bin = (events.to - events.from) as f64 / f64::from(events.bins);
    let lanes = (row.lanes[1] - row.lanes[0] + 1) as f64;
    let coarse = row.coarse.iter().map(|of| f64::from(of.1) * f64::from(of.3) / 1e3 * bin * lanes);
    let within = |of: &commsan_profile::api::Slice| {
        of.1.min(events.to).saturating_sub(of.0.max(events.from)) as f64
    };
    (coarse.sum(), row.slices.iter().map(within).sum())
}

fn figure(profile: &Profile, width: u32, rows: u32) -> Events {
    let query = EventsQuery { width: Some(width), rows: Some(rows), ..EventsQuery::default() };
    profile.events(&query).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_a_slice_or_in_bins(
        size in 2..6_usize,
        actions in prop::collection::vec(action(), 1..60),
        width in 1..2000_u32,
    ) {
        let world = simulated(size, &actions);
        let profile = read(&world);
        let events = figure(&profile, width, 100);
        let bin = (events.to - events.from).div_ceil(events.bins.into());
        prop_assert_eq!(profile.lanes().lanes.len(), events.rows.len());
        for (row, lane) in events.rows.iter().zip(profile.lanes().lanes) {
            let all = calls(&world, lane.place);
            let (long, short): (Vec<Call>, Vec<Call>) =
                all.into_iter().partition(|call| call.end - call.begin >= bin);
            prop_assert_eq!(slices(&events, row), long);
            // Counts are rounded bin by bin: blocks may be divided.
            let counted: u64 = row.coarse.iter().map(|of| of.6).sum();
            prop_assert!(counted.abs_diff(short.len() as u64) <= row.coarse.len() as u64);
            let expected: u64 = short.iter().map(|call| call.end - call.begin).sum();
            let rounding = events.bins as f64 * bin as f64 / 1000.0;
            let (found, _) = time(&events, row);
            prop_assert!((found - expected as f64).abs() <= rounding, "{} {}", found, expected);
        }
    }

    #[test]
    fn rows_of_several_lanes_have_their_sum(
        size in 3..9_usize,
        actions in prop::collection::vec(action(), 1..60),
        rows in 1..3_u32,
    ) {
        let world = simulated(size, &actions);
        let profile = read(&world);
        let events = figure(&profile, 64, rows);
        prop_assert!(events.rows.len() <= rows as usize);
        let recorded = (0..size).flat_map(|rank| calls(&world, rank));
        let expected: u64 = recorded.map(|call| call.end - call.begin).sum();
        let sums = events.rows.iter().map(|row| time(&events, row));
        let found: f64 = sums.map(|(coarse, slices)| coarse + slices).sum();
        let rounding = (events.to - events.from) as f64 / 1000.0 * size as f64;
        prop_assert!((found - expected as f64).abs() <= rounding, "{} {}", found, expected);
    }

    #[test]
    fn events_are_told_with_both_ends(
        size in 2..6_usize,
        actions in prop::collection::vec(action(), 1..60),
        from in 0..200_000_u64,
        length in 1..400_000_u64,
    ) {
        let world = simulated(size, &actions);
        let profile = read(&world);
        let until = profile.lanes().until;
        let (from, to) = (from.min(until), (from + length).min(until));
        let query = EventsQuery { from: Some(from), to: Some(to), ..EventsQuery::default() };
        let happened = profile.happened(&query).unwrap();
        prop_assert_eq!(happened.more, 0);
        let mut expected = vec![];
        for (lane, of) in profile.lanes().lanes.iter().enumerate() {
            let all = calls(&world, of.place).into_iter();
            let to = to.max(from + 1);
            let touches = |call: &Call| call.begin < to && (call.end > from || call.begin >= from);
            expected.extend(all.filter(touches).map(|call| (lane, call)));
        }
        let mut found: Vec<(usize, Call)> = happened.events.iter().map(|event| {
            let name = CALLS.iter().find(|call| **call == event.call).unwrap();
            (event.lane, Call { begin: event.begin, end: event.end, name })
        }).collect();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn waits_of_all_calls_are_those_of_the_run(
        size in 2..6_usize,
        actions in prop::collection::vec(action(), 1..60),
    ) {
        let world = simulated(size, &actions);
        let profile = read(&world);
        let happened = profile.happened(&EventsQuery::default()).unwrap();
        let mut waited = vec![0; size];
        for event in &happened.events {
            let place = profile.lanes().lanes[event.lane].place;
            waited[place] += event.wait.as_ref().map_or(0, |wait| wait.end - wait.begin);
        }
        prop_assert_eq!(&waited, &world.expected.1);
        // Where each call can be drawn, its wait is.
        let events = figure(&profile, 4096, 100);
        for (row, lane) in events.rows.iter().zip(profile.lanes().lanes) {
            let drawn: u64 = row.slices.iter().map(|slice| slice.4).sum();
            prop_assert!(drawn <= waited[lane.place]);
            if row.coarse.is_empty() {
                prop_assert_eq!(drawn, waited[lane.place]);
            }
        }
    }
}

/// Rank 1 sends late, then all meet.
fn late() -> World {
    simulated(
        3,
        &[
            Action::Compute(1, 40_000),
            Action::Message { from: 1, to: 1, tag: 2, synchronous: false },
            Action::Collective(1, 0),
        ],
    )
}

#[test]
fn a_message_and_a_collective_are_drawn_between_their_ends() {
    let world = late();
    let events = figure(&read(&world), 1000, 10);
    let [message] = &*events.messages else { panic!("{events:?}") };
    let send = world.ranks[1].records[0].0;
    let receive = world.ranks[message.target].records[0].0;
    assert_eq!((message.source, message.begin, message.end), (1, send.begin, receive.end));
    assert_eq!((message.bytes, events.more_messages), (8, 0));
    let [meeting] = &*events.meetings else { panic!("{events:?}") };
    let entered = world.ranks.iter().map(|rank| rank.records.last().unwrap().0);
    assert_eq!(meeting.rows, [[0, 2]]);
    assert_eq!(meeting.members, 3);
    assert_eq!(meeting.begin, entered.clone().map(|of| of.begin).min().unwrap());
    assert_eq!(meeting.met, entered.clone().map(|of| of.begin).max().unwrap());
    assert_eq!(meeting.end, entered.map(|of| of.end).max().unwrap());
    let [first, ..] = &*events.waits else { panic!("{events:?}") };
    assert!(first.end - first.begin >= 40_000 - 1000, "{first:?}");
}

#[test]
fn an_event_names_its_peer_its_wait_and_the_other_end() {
    let world = late();
    let profile = read(&world);
    let happened = profile.happened(&EventsQuery::default()).unwrap();
    let receive = happened.events.iter().find(|event| event.call == "MPI_Recv").unwrap();
    let [message] = &*receive.messages else { panic!("{receive:?}") };
    assert_eq!((message.peer, message.sent, message.tag), (1, false, 2));
    assert_eq!((message.bytes, message.other), (Some(8), Some(world.ranks[1].records[0].0.begin)));
    let wait = receive.wait.as_ref().unwrap();
    assert_eq!((&*wait.kind, wait.place, wait.begin), ("late sender", 1, receive.begin));
    let all = happened.events.iter().filter(|event| event.members == Some(3)).count();
    assert_eq!(all, 3);
}

#[test]
fn a_figure_is_bounded_whatever_is_asked() {
    let actions: Vec<Action> = (0..4000).map(|step| Action::Collective(0, step as u8)).collect();
    let profile = read(&simulated(4, &actions));
    let query = EventsQuery { width: Some(u32::MAX), rows: Some(u32::MAX), ..Default::default() };
    let events = profile.events(&query).unwrap();
    assert!(events.bins <= 4096);
    assert!(events.rows.iter().all(|row| row.slices.len() + row.coarse.len() <= 5 * 4096));
    let coarse = figure(&profile, 10, 10);
    let kept = coarse.messages.len() + coarse.meetings.len();
    assert_eq!(kept as u64 + coarse.more_meetings, 4000);
    assert!(coarse.rows.iter().all(|row| row.coarse.len() <= 10 && row.slices.is_empty()));
    let happened = profile.happened(&EventsQuery::default()).unwrap();
    assert_eq!((happened.events.len(), happened.more), (1000, 15_000));
}

#[test]
fn what_was_folded_says_so_and_regions_are_kept() {
    let mut world = late();
    let rank = &mut world.ranks[0];
    let end = rank.records.last().unwrap().0.end;
    rank.shapes.push(Shape::new(What::Region(1), 0));
    let (region, send) = (rank.shapes.len() as u32 - 1, rank.records[0].0.shape);
    let (begin, end) = (end + 5000, end + 15_000);
    let folded = Record { shape: send, begin, end, folded: Some((50, 4000)) };
    rank.records.push((folded, vec![]));
    let record = Record { shape: region, begin: 100, end, folded: None };
    rank.records.push((record, vec![]));
    let profile = read(&world);
    let events = figure(&profile, 500, 10);
    let row = &events.rows[0];
    assert!(row.slices.iter().all(|slice| slice.1 < end), "{row:?}");
    let coarse: Vec<_> = row.coarse.iter().filter(|of| of.7 > 0).collect();
    let bin = (events.to - events.from) as f64 / f64::from(events.bins);
    let sum: f64 = coarse.iter().map(|of| f64::from(of.1) * f64::from(of.3) / 1e3 * bin).sum();
    let counts: (u64, u64) = coarse.iter().fold((0, 0), |sum, of| (sum.0 + of.6, sum.1 + of.7));
    assert!(counts.0 == counts.1 && counts.0.abs_diff(50) <= coarse.len() as u64, "{coarse:?}");
    assert!((sum - 4000.0).abs() < 50.0, "{sum} of 4000 ns in {coarse:?}");
    assert_eq!(row.regions, [(100, end, row.regions[0].2)]);
    assert_eq!(events.names[row.regions[0].2], CALLS[1]);
    let happened = profile.happened(&EventsQuery::default()).unwrap();
    let told = happened.events.iter().find(|event| event.folded.is_some()).unwrap();
    assert_eq!((told.folded, told.time, told.lane), (Some(50), 4000, 0));
    assert_eq!(told.wait, None);
}

#[test]
fn what_is_not_there_is_refused() {
    let profile = read(&late());
    let lanes = |lanes| EventsQuery { lanes: Some(lanes), ..EventsQuery::default() };
    assert!(profile.events(&lanes((0, 9))).is_err());
    assert!(profile.events(&lanes((2, 1))).is_err());
    let backwards = EventsQuery { from: Some(9), to: Some(3), ..EventsQuery::default() };
    assert!(profile.events(&backwards).is_err() && profile.happened(&backwards).is_err());
}
