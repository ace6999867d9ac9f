//! Who waits for whom: the matrix, its lines and the tables, compared with what a simulation knows,
//! and with each other.

use crate::nanoseconds;
use crate::simulation::{Action, Pairs, action, read, simulated};
use commsan_profile::Profile;
use commsan_profile::api::WaitsQuery;
use commsan_profile::export::{Format, write_tables};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Row = BTreeMap<String, String>;

/// State, who waits, for whom.
type Key = (String, usize, usize);

/// How often, nanoseconds, the longest.
type Sums = Vec<(Key, (u64, u64, u64))>;

/// The rows of a table, as CSV has it.
fn table(profile: &Profile, name: &str) -> Vec<Row> {
    let parent = tempfile::tempdir().unwrap();
    write_tables(profile, parent.path(), Format::Csv).unwrap();
    let mut reader = csv::Reader::from_path(parent.path().join(format!("{name}.csv"))).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn rank(name: &str) -> usize {
    name.strip_prefix("rank ").unwrap().parse().unwrap()
}

/// Sums of the tables `waits` or `wait_pairs` by state and pair.
fn summed(rows: &[Row]) -> Sums {
    let mut sums: BTreeMap<_, (u64, u64, u64)> = BTreeMap::new();
    for row in rows {
        let key = (row["kind"].clone(), rank(&row["place"]), rank(&row["late_place"]));
        let time = |column: &str| nanoseconds(row[column].parse().unwrap());
        let sum = sums.entry(key).or_default();
        let count: u64 = row["count"].parse().unwrap();
        *sum = (sum.0 + count, sum.1 + time("seconds"), sum.2.max(time("longest_seconds")));
    }
    sums.into_iter().collect()
}

fn expected(pairs: &Pairs) -> Sums {
    pairs.iter().map(|((kind, at, by), sum)| (((*kind).to_owned(), *at, *by), *sum)).collect()
}

/// The cells of the whole matrix by state: how often, nanoseconds.
fn cells(profile: &Profile) -> BTreeMap<Key, (u64, u64)> {
    let states = profile.run().waiting.unwrap().states;
    let matrix = profile.wait_matrix(&WaitsQuery::default()).unwrap();
    let mut cells = BTreeMap::new();
    for (row, col, of) in &matrix.cells {
        let (at, by) = (rank(&matrix.rows[*row].label), rank(&matrix.cols[*col].label));
        for (state, count, seconds) in of {
            let key = (states[*state].name.clone(), at, by);
            assert!(cells.insert(key, (*count, nanoseconds(*seconds))).is_none());
        }
    }
    cells
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn matrix_lines_and_tables_are_what_happened(
        size in 2..6_usize,
        actions in prop::collection::vec(action(), 1..60),
    ) {
        let world = simulated(size, &actions);
        let profile = read(&world);
        let expected = expected(&world.pairs);
        for name in ["waits", "wait_pairs"] {
            prop_assert_eq!(&summed(&table(&profile, name)), &expected, "{}", name);
        }
        // A row for each state of a pair.
        prop_assert_eq!(table(&profile, "wait_pairs").len(), expected.len());
        let cells = cells(&profile);
        let wanted: BTreeMap<_, _> =
            expected.iter().map(|(key, sum)| (key.clone(), (sum.0, sum.1))).collect();
        prop_assert_eq!(cells, wanted);
        let all: u64 = expected.iter().map(|(_, sum)| sum.1).sum();
        let waiting = profile.run().waiting.unwrap();
        let told: u64 = waiting.states.iter().map(|of| nanoseconds(of.seconds)).sum();
        prop_assert_eq!(told, all);
        // Lines: of all, and of each pair, with its longest wait.
        let lines = profile.wait_lines(None, None).unwrap();
        let sum: u64 = lines.lines.iter().map(|of| nanoseconds(of.seconds)).sum();
        prop_assert_eq!((sum, lines.more), (all, 0));
        for at in 0..size {
            for by in 0..size {
                let lines = profile.wait_lines(Some((at, at)), Some((by, by))).unwrap().lines;
                let is_of = |(of, _): &&(Key, _)| (of.1, of.2) == (at, by);
                let own: Vec<_> = expected.iter().filter(is_of).collect();
                let time: u64 = lines.iter().map(|of| nanoseconds(of.seconds)).sum();
                prop_assert_eq!(time, own.iter().map(|(_, sum)| sum.1).sum::<u64>());
                let longest = lines.iter().map(|of| of.longest.end - of.longest.begin).max();
                prop_assert_eq!(longest, own.iter().map(|(_, sum)| sum.2).max());
                for of in &lines {
                    prop_assert_eq!((of.longest.place, of.longest.late, of.pairs), (at, by, 1));
                    let lane = of.longest.lane.map(|lane| profile.lanes().lanes[lane].place);
                    prop_assert_eq!(lane, Some(at));
                }
            }
        }
    }
}

/// Three ranks wait for the slow one, at lines that are told.
#[test]
fn parts_of_the_matrix_are_of_the_ranks_asked_for() {
    let slow = [Action::Compute(2, 40_000), Action::Collective(1, 0)];
    let profile = read(&simulated(4, &slow.repeat(3)));
    let query = WaitsQuery { rows: Some((0, 1)), cols: Some((2, 3)), ..WaitsQuery::default() };
    let matrix = profile.wait_matrix(&query).unwrap();
    let labels = |blocks: &[commsan_profile::api::Block]| -> Vec<String> {
        blocks.iter().map(|block| block.label.clone()).collect()
    };
    assert_eq!(labels(&matrix.rows), ["rank 0", "rank 1"]);
    assert_eq!(labels(&matrix.cols), ["rank 2", "rank 3"]);
    let found: Vec<_> = matrix.cells.iter().map(|(row, col, of)| (*row, *col, of[0].1)).collect();
    assert_eq!(found, [(0, 0, 3), (1, 0, 3)]);
    let lines = profile.wait_lines(None, None).unwrap().lines;
    let [line] = &*lines else { panic!("{lines:?}") };
    assert_eq!((&*line.call, &*line.late_call), ("MPI_Allreduce", "MPI_Allreduce"));
    assert_eq!((line.pairs, line.count, line.longest.late), (3, 9, 2));
    // Two ranks in a block.
    let matrix = profile.wait_matrix(&WaitsQuery { max: Some(2), ..Default::default() }).unwrap();
    assert_eq!(labels(&matrix.rows), ["ranks 0-1", "ranks 2-3"]);
    let found: Vec<_> = matrix.cells.iter().map(|(row, col, of)| (*row, *col, of[0].1)).collect();
    assert_eq!(found, [(0, 1, 6), (1, 1, 3)]);
    assert!(profile.wait_matrix(&WaitsQuery { rows: Some((3, 4)), ..query }).is_err());
    assert!(profile.wait_lines(Some((2, 1)), None).is_err());
}

#[test]
fn the_summary_names_who_waits_and_for_whom() {
    let slow = [Action::Compute(2, 40_000_000), Action::Collective(0, 0)];
    let text = commsan_profile::summary::render(&read(&simulated(4, &slow))).unwrap();
    assert!(text.contains("rank 0 and 2 more wait for rank 2  MPI_Barrier"), "{text}");
    let late = [
        Action::Compute(1, 40_000_000),
        Action::Message { from: 1, to: 1, tag: 0, synchronous: false },
    ];
    let text = commsan_profile::summary::render(&read(&simulated(2, &late))).unwrap();
    assert!(text.contains("rank 0 waits for rank 1  MPI_Send"), "{text}");
}
