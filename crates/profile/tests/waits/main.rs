//! Wait states, and figures of events, compared with what a simulation knows, which has one clock
//! for all ranks: on random programs, through the files that ranks write.

mod critical;
mod figures;
mod pairs;
mod simulation;

use commsan_profile::Profile;
use commsan_rundir::RunDirectory;
use proptest::prelude::*;
use simulation::{Action, action, read, simulated, write};
use std::collections::BTreeMap;

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn waits_are_what_happened(
        size in 2..6_usize,
        actions in prop::collection::vec(action(), 1..60),
    ) {
        let world = simulated(size, &actions);
        let waiting = read(&world).run().waiting.unwrap();
        let (late, by_rank) = &world.expected;
        let mut found: BTreeMap<(&str, usize), u64> = BTreeMap::new();
        for of in &waiting.late {
            *found.entry((&of.kind, of.place)).or_default() += nanoseconds(of.seconds);
        }
        prop_assert_eq!(&found, late);
        for (place, seconds) in waiting.by_rank {
            prop_assert_eq!(nanoseconds(seconds), by_rank[place], "rank {}", place);
        }
    }
}

#[test]
fn one_slow_rank_is_named_with_its_cost() {
    let mut actions = vec![];
    for _ in 0..3 {
        actions.push(Action::Compute(2, 40_000));
        actions.push(Action::Collective(1, 0));
    }
    let waiting = read(&simulated(4, &actions)).run().waiting.unwrap();
    let [late] = &*waiting.late else { panic!("{waiting:?}") };
    assert_eq!((&*late.kind, late.place, late.ranks, late.count), ("wait at NxN", 2, 3, 9));
    assert_eq!((&*late.call, &*late.waiting_call), ("MPI_Allreduce", "MPI_Allreduce"));
    assert!((360e-6 - late.seconds).abs() < 10e-6, "{late:?}");
    assert_eq!(waiting.compared, 3);
}

#[test]
fn what_is_unusual_is_said_and_nothing_else() {
    let slow = [Action::Compute(2, 40_000_000), Action::Collective(0, 0)];
    let run = read(&simulated(4, &slow.repeat(3))).run();
    let [unusual] = &*run.unusual else { panic!("{:?}", run.unusual) };
    assert_eq!(
        unusual.text,
        "rank 2 is up to 40.0 ms late at MPI_Barrier; 3 ranks wait 360.0 ms for it"
    );
    assert!(unusual.evidence.contains("wait at barrier, 9 times"), "{unusual:?}");
    assert!(unusual.advice.contains("barrier") && unusual.place == Some(2), "{unusual:?}");
    let picture = &unusual.picture;
    assert_eq!((&*picture.title, picture.marked), ("waiting for rank 2, by rank", Some(2)));
    let names: Vec<&str> = picture.bars.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["rank 0", "rank 1", "rank 2", "rank 3"]);
    let all: u64 = picture.bars.iter().map(|(_, time)| time).sum();
    assert_eq!((picture.bars[2].1, picture.mean), (0, all / 4));
    assert!(all.abs_diff(360_000_000) < 10_000, "{picture:?}");
    // A run in which all come at the same time, however often.
    let even: Vec<Action> = (0..4).map(|rank| Action::Compute(rank, 40_000_000)).collect();
    let even = [even, vec![Action::Collective(0, 0)]].concat().repeat(3);
    assert_eq!(read(&simulated(4, &even)).run().unusual, []);
}

#[test]
fn damaged_and_foreign_events_are_left_out_with_a_note() {
    let world = simulated(2, &[Action::Collective(0, 0)]);
    let parent = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create_at(&parent.path().join("run")).unwrap();
    write(&world, &directory);
    let path = directory.rank_traffic(1).with_extension("events");
    let bytes = std::fs::read(&path).unwrap();
    for (bytes, why) in [
        (&bytes[..bytes.len() - 5], "it is damaged: it ends within its events"),
        (&bytes[1..], "this is no file of events of commsan"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let run = Profile::read(&directory, &mut |_| ()).unwrap().run();
        let note = format!("`rank-1.events` was left out: {why}");
        assert!(run.notes.contains(&note), "{:?}", run.notes);
        assert_eq!(run.waiting.unwrap().compared, 0);
    }
}

#[test]
fn without_the_other_end_nothing_is_said() {
    let actions =
        [Action::Compute(0, 9000), Action::Message { from: 0, to: 0, tag: 0, synchronous: false }];
    let world = simulated(2, &actions);
    let mut alone = world;
    alone.ranks[0].records.clear();
    let waiting = read(&alone).run().waiting.unwrap();
    assert!(waiting.late.is_empty(), "{waiting:?}");
    assert_eq!(waiting.compared, 0);
}
