//! Ranks at the same place in one row, in as few rows as fit a screen.

use super::{MAX_ROWS, Need, Open, Place, Row, State};
use commsan_findings::{Doing, NeedKind};
use std::collections::BTreeMap;

/// How much rows agree in that are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// In everything but time and ranks.
    All,
    /// In the line, not in its callers.
    Line,
    /// In the function.
    Function,
    /// In what they do.
    State,
}

impl Detail {
    const ALL: [Detail; 4] = [Detail::All, Detail::Line, Detail::Function, Detail::State];
}

/// What rows agree in.
type Key<'r> = (
    (State, bool, Option<Doing>, Option<&'r str>, Option<u32>, Option<&'r str>),
    (Option<&'r str>, Option<&'r str>, Option<u32>),
    (&'r [Place], Option<&'r Place>, Option<&'r str>),
    Option<(NeedKind, Option<i32>)>,
);

fn key(row: &Row, detail: Detail) -> Key<'_> {
    let is_inside = matches!(row.state, State::Waits | State::Polls);
    // The last call of a rank that computes says little, and may be any.
    let call = row.call.as_deref().filter(|_| is_inside || detail == Detail::All);
    let has = |least: Detail| detail <= least;
    let place = row.place.as_ref();
    // Where a rank that calls again and again was met by a look is chance.
    let doing = row.doing.filter(|_| row.state != State::Polls);
    (
        (row.state, row.threads > 0, doing, call, row.number, row.on.as_deref()),
        (
            place.and_then(|place| place.file.as_deref()).filter(|_| has(Detail::Function)),
            place.and_then(|place| place.function.as_deref()).filter(|_| has(Detail::Function)),
            place.and_then(|place| place.line).filter(|_| has(Detail::Line)),
        ),
        match detail {
            Detail::All => (&row.callers, row.after.as_ref(), row.file.as_deref()),
            _ => (&[], None, None),
        },
        row.need.as_ref().filter(|_| has(Detail::Line)).map(|need| (need.kind, need.tag)),
    )
}

/// Joins rows of single ranks.
pub(super) fn grouped(rows: Vec<Row>, ranks: u32) -> Vec<Row> {
    let groups = |detail: Detail| {
        let mut groups: BTreeMap<Key, Vec<&Row>> = BTreeMap::new();
        for row in &rows {
            groups.entry(key(row, detail)).or_default().push(row);
        }
        groups.into_values().map(|group| joined(&group, ranks)).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for detail in Detail::ALL {
        found = groups(detail);
        if found.len() <= MAX_ROWS {
            break;
        }
    }
    // Who waits for nobody comes last, next to the prompt.
    found.sort_by_key(|row| (row.state, std::cmp::Reverse(row.ranks.len()), row.ranks[0]));
    found
}

/// One row for ranks that agree in part.
fn joined(group: &[&Row], ranks: u32) -> Row {
    let first = group[0];
    let mut all: Vec<u32> = group.iter().flat_map(|row| row.ranks.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let places = group.iter().map(|row| row.place.clone());
    let place = places.reduce(|a, b| common_place(a?, &b?)).flatten();
    let is_same_place = group.iter().all(|row| row.place == first.place);
    let callers = match is_same_place {
        true => common_callers(group.iter().map(|row| &*row.callers)),
        // The places themselves are among what the ranks were called by.
        false => Vec::new(),
    };
    let needs: Vec<(u32, &Need)> =
        group.iter().filter_map(|row| Some((row.ranks[0], row.need.as_ref()?))).collect();
    Row {
        ranks: all,
        threads: group.iter().map(|row| row.threads).sum(),
        doing: same(group, |row| row.doing),
        file: same(group, |row| row.file.clone()),
        call: same(group, |row| row.call.clone()),
        after: same(group, |row| row.after.clone()),
        place,
        callers,
        seconds: group.iter().filter_map(|row| row.seconds).max(),
        need: common_need(&needs, ranks),
        ..first.clone()
    }
}

/// What all have alike.
fn same<T: PartialEq>(group: &[&Row], of: impl Fn(&Row) -> Option<T>) -> Option<T> {
    let first = of(group[0])?;
    group.iter().all(|row| of(row).as_ref() == Some(&first)).then_some(first)
}

/// What of two places agrees; none if that is nothing but the file.
fn common_place(a: Place, b: &Place) -> Option<Place> {
    if a == *b {
        return Some(a);
    }
    let is_same_function = a.function.is_some() && (&a.function, &a.file) == (&b.function, &b.file);
    is_same_function.then_some(Place { line: None, ..a })
}

/// The outermost callers that all have alike.
fn common_callers<'r>(mut all: impl Iterator<Item = &'r [Place]>) -> Vec<Place> {
    let mut common = all.next().unwrap_or_default();
    for callers in all {
        let alike = common.iter().rev().zip(callers.iter().rev()).take_while(|(a, b)| a == b);
        common = &common[common.len() - alike.count()..];
    }
    common.to_vec()
}

/// What ranks need, each of them in the same way.
fn common_need(needs: &[(u32, &Need)], ranks: u32) -> Option<Need> {
    let (_, first) = needs.first()?;
    let all_same = needs.iter().all(|(_, need)| need.ranks == first.ranks);
    let all = i64::from(ranks);
    let offset = |(rank, need): &(u32, &Need)| match &*need.ranks {
        [other] if all > 0 => {
            let ahead = (i64::from(*other) - i64::from(*rank)).rem_euclid(all);
            Some(if 2 * ahead > all { ahead - all } else { ahead })
        }
        _ => None,
    };
    let offset = match needs {
        [_, _, ..] if !all_same => {
            offset(&needs[0]).filter(|by| needs.iter().all(|need| offset(need) == Some(*by)))
        }
        _ => None,
    };
    let mut others: Vec<u32> =
        needs.iter().flat_map(|(_, need)| need.ranks.iter().copied()).collect();
    others.sort_unstable();
    others.dedup();
    let tag = first.tag.filter(|tag| needs.iter().all(|(_, need)| need.tag == Some(*tag)));
    Some(Need {
        ranks: others,
        offset,
        any: needs.iter().any(|(_, need)| need.any),
        tag,
        more: needs.iter().map(|(_, need)| need.more).max().unwrap_or(0),
        ..(*first).clone()
    })
}

/// Joins open operations of single ranks; those of most ranks first.
pub(super) fn grouped_open(open: Vec<Open>, ranks: u32) -> Vec<Open> {
    let mut groups: BTreeMap<_, Vec<&Open>> = BTreeMap::new();
    for one in &open {
        let key = (one.place.as_ref(), one.need.kind, &one.need.call, one.need.tag);
        groups.entry(key).or_default().push(one);
    }
    let joined = groups.into_values().filter_map(|group| {
        let needs: Vec<(u32, &Need)> = group.iter().map(|one| (one.ranks[0], &one.need)).collect();
        let all = group.iter().map(|one| one.ranks[0]).collect();
        let place = group[0].place.clone();
        Some(Open { ranks: all, place, need: common_need(&needs, ranks)? })
    });
    let mut found: Vec<Open> = joined.collect();
    found.sort_by_key(|open| (std::cmp::Reverse(open.ranks.len()), open.ranks[0]));
    found
}
