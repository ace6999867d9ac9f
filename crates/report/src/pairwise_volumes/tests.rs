use super::*;
use commsan_rundir::record::RawSite;
use commsan_rundir::{Job, Messages};
use std::borrow::Cow;

const WORLD: u64 = 7;

fn parts(sends: bool, parts: &[(u32, u64, u64, bool)]) -> RawParts<'static> {
    RawParts {
        name: WORLD,
        on: "MPI_COMM_WORLD".into(),
        kind: 3,
        call: "MPI_Alltoallv".into(),
        sends,
        calls: 1,
        element: Some(("integer".into(), 4)),
        site: RawSite {
            role: Role::Operation,
            call: Some("MPI_Alltoallv".into()),
            thread: 0,
            frames: vec![].into(),
            rank: None,
            reference: None,
        },
        parts: Cow::Owned(parts.to_vec()),
    }
}

fn logs(ranks: Vec<Vec<RawParts<'static>>>) -> Vec<RankLog> {
    let log = |(rank, parts)| {
        let names = [WORLD].into();
        let messages = Messages { names, parts, ..Messages::default() };
        RankLog {
            rank: rank as u32,
            messages: [(Job::default(), messages)].into(),
            ..RankLog::default()
        }
    };
    ranks.into_iter().enumerate().map(log).collect()
}

fn told(logs: &[RankLog]) -> Vec<String> {
    findings(logs, &Symbols::default()).into_iter().map(|finding| finding.message).collect()
}

#[test]
fn what_one_passes_another_must_get() {
    let both = |sent, got| logs(vec![vec![parts(true, sent)], vec![parts(false, got)]]);
    assert!(told(&both(&[(1, 48, 5, false)], &[(0, 48, 5, false)])).is_empty());
    let less = "rank 0 passes 12 integers of 4 bytes to rank 1 in MPI_Alltoallv, which gets 1 integer of 4 bytes";
    assert_eq!(told(&both(&[(1, 48, 5, false)], &[(0, 4, 6, false)])), [less]);
    // As much in all, but not in each call, or of another type.
    assert_eq!(told(&both(&[(1, 48, 5, false)], &[(0, 48, 6, false)])).len(), 1);
    assert!(told(&both(&[(1, 48, 5, false)], &[(0, 48, 6, true)])).is_empty());
    let nothing =
        "rank 0 passes 12 integers of 4 bytes to rank 1 in MPI_Alltoallv, which gets nothing";
    assert_eq!(told(&both(&[(1, 48, 5, false)], &[(2, 4, 6, false)])), [nothing]);
    let nothing =
        "rank 0 passes nothing to rank 1 in MPI_Alltoallv, which gets 2 integers of 4 bytes";
    assert_eq!(told(&both(&[(2, 4, 6, false)], &[(0, 8, 5, false)])), [nothing]);
}

#[test]
fn places_of_one_rank_are_taken_together() {
    let (a, b) = (parts(true, &[(1, 8, 5, false)]), parts(true, &[(1, 4, 9, false)]));
    let got = parts(false, &[(0, 12, 14, false)]);
    assert!(told(&logs(vec![vec![a, b], vec![got]])).is_empty());
}

#[test]
fn who_has_not_told_all_is_not_compared() {
    let (sent, got) = (parts(true, &[(1, 8, 5, false)]), parts(false, &[(0, 4, 6, false)]));
    let mut all = logs(vec![vec![sent], vec![got]]);
    assert_eq!(told(&all).len(), 1);
    all[1].messages.values_mut().for_each(|messages| messages.unbalanced = [WORLD].into());
    assert!(told(&all).is_empty());
    all[1].messages.values_mut().for_each(|messages| *messages = Messages::default());
    assert!(told(&all).is_empty());
    assert!(told(&all[..1]).is_empty());
}
