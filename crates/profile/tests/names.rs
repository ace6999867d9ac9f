//! What the search is given: functions with their first lines, lines with their calls.

use commsan_profile::Profile;
use commsan_profile::api::names::{NamedFunction, Names};
use commsan_rundir::RunInfo;
use commsan_rundir::traffic::{End, Frame, Key, Kind, Place, Side, Snapshot, Transfer};

/// Strings of the run: two calls, two functions, two files.
const STRINGS: [&str; 6] = ["MPI_Send", "MPI_Isend", "exchange", "main", "a.c", "b.c"];

fn names(transfers: &[(u32, u32)], stacks: &[Vec<Frame>]) -> Names {
    let ends = (End::At(Place::Rank(0)), End::At(Place::Rank(1)));
    let transfer = |(call, stack): &(u32, u32)| {
        let key = Key::new(Kind::PointToPoint, *call, *stack, Side::Source, ends);
        Transfer::new(Key { tag: Some(0), ..key }, 1, 8)
    };
    let snapshot = Snapshot {
        rank: 0,
        size: 2,
        host: "h".to_owned(),
        complete: true,
        strings: STRINGS.map(str::to_owned).to_vec(),
        stacks: stacks.to_vec(),
        transfers: transfers.iter().map(transfer).collect(),
        ..Snapshot::default()
    };
    Profile::of_snapshots([&snapshot], RunInfo::default()).unwrap().names()
}

#[test]
fn functions_lines_and_calls_are_named_once() {
    let main = |line| Frame::Line(3, 5, line);
    let stacks = [
        vec![Frame::Line(2, 4, 12), main(7)],
        vec![Frame::Line(2, 4, 9), main(7)],
        vec![Frame::Line(2, 4, 12), main(3)],
        vec![main(20)],
    ];
    // Both calls are made at line 12 of a.c, one of them by two paths.
    let names = names(&[(0, 0), (1, 0), (0, 2), (0, 1), (1, 3)], &stacks);
    assert_eq!(names.calls, ["MPI_Isend", "MPI_Send"]);
    let function = |name: &str, file, line| NamedFunction { name: name.to_owned(), file, line };
    assert_eq!(names.functions, [function("exchange", 0, 9), function("main", 1, 3)]);
    let expected =
        [(0, 9, Some(0), vec![1]), (0, 12, Some(0), vec![0, 1]), (1, 20, Some(1), vec![0])];
    assert_eq!(names.lines, expected);
    assert_eq!(names.more_lines, 0);
}

#[test]
fn calls_without_lines_are_named_too() {
    let names = names(&[(0, 0)], &[vec![]]);
    assert_eq!((&*names.calls, names.lines.len()), (&["MPI_Send".to_owned()][..], 0));
}
