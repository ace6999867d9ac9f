use super::*;
use crate::now;
use commsan_rundir::events::Records;

/// Intervals of 1 µs, every 2 µs from the start on, of three kinds in turn; each 1000th lasts long.
fn recorded(chunks: usize, number: u64) -> (Events, Clock, u64) {
    let clock = Clock::new();
    let mut events = Events::new((chunks * CHUNK) as u64, now());
    let shapes: Vec<u32> =
        (0..3).filter_map(|call| events.shape(Shape::new(What::Call(call), 0))).collect();
    let step = clock.ticks_in(2000);
    let from = events.clock[0].0;
    for nth in 0..number {
        let begin = from + nth * step;
        let lasts = if nth % 1000 == 7 { step * 3 / 4 } else { step / 2 };
        let part = Part { of: Of::Messages(1), number: nth + 1, completes: false, bytes: 8 };
        events.record(shapes[nth as usize % 3], (begin, begin + lasts), &[part], &clock);
    }
    (events, clock, step)
}

fn all(events: &mut Events) -> Vec<(Record, Vec<Part>)> {
    let mut found = vec![];
    for (base, bytes) in events.chunks() {
        let (mut records, mut parts) = (Records::new(bytes, base), vec![]);
        while let Some(record) = records.next(&mut parts).unwrap() {
            found.push((record, parts.clone()));
        }
    }
    found
}

fn totals(found: &[(Record, Vec<Part>)]) -> (u64, u64) {
    found.iter().fold((0, 0), |sum, (record, _)| {
        let (count, time) = record.folded.unwrap_or((1, record.end - record.begin));
        (sum.0 + count, sum.1 + time)
    })
}

#[test]
fn all_is_there_within_the_budget() {
    let (mut events, _, step) = recorded(64, 10_000);
    let found = all(&mut events);
    assert!(found.iter().all(|(record, _)| record.folded.is_none()));
    assert_eq!(events.tables().level, 0);
    for ((record, parts), nth) in found.iter().zip(0..) {
        assert_eq!(parts[0].number, nth + 1);
        assert_eq!(record.begin, found[0].0.begin + nth * step);
    }
    assert_eq!(found.len(), 10_000);
}

#[test]
fn beyond_the_budget_sums_first_last_and_longest_stay() {
    for number in [100_000, 400_000, 2_000_000] {
        let (mut events, _, step) = recorded(32, number);
        let mut expected = 0;
        for nth in 0..number {
            expected += if nth % 1000 == 7 { step * 3 / 4 } else { step / 2 };
        }
        let found = all(&mut events);
        assert_eq!(events.lost, (0, 0));
        assert_eq!(totals(&found), (number, expected), "{number}");
        let single: Vec<u64> = (found.iter())
            .filter(|(record, _)| record.folded.is_none())
            .map(|(_, parts)| parts[0].number)
            .collect();
        // Chunks hold some 1000 records each: the first two, and the last four, are whole.
        assert!((1..1000).all(|nth| single.contains(&nth)), "{number}");
        assert!((number - 1000..=number).all(|nth| single.contains(&nth)), "{number}");
        assert!(single.is_sorted_by_key(|nth| *nth) || single.len() < number as usize);
        let Recorded { level, window, .. } = events.tables();
        assert!(level > 0 && window > 0);
        // The longest of a folded stretch is itself there, with what it was part of.
        let folded = found.iter().filter(|(record, _)| record.folded.is_some()).count();
        let long = found.iter().filter(|(record, _)| {
            record.folded.is_none() && record.end - record.begin > step / 2 + 1
        });
        assert!(folded > 0 && long.count() > 0);
    }
}

#[test]
fn windows_that_stay_are_whole() {
    let (mut events, clock, _) = recorded(32, 400_000);
    let found = all(&mut events);
    let Recorded { level, window, .. } = events.tables();
    let epoch = events.folding.epoch;
    let number = |record: &Record| (clock.at(record.begin) - epoch) / window;
    // The first record's window began before it; the last may not be full.
    let (first, last) = (number(&found[0].0), number(&found.last().unwrap().0));
    let mut whole = 0;
    for of in (first + 1..last).filter(|of| of % (1 << level) == 0) {
        let within: Vec<u64> = (found.iter())
            .filter(|(record, _)| record.folded.is_none() && number(record) == of)
            .map(|(_, parts)| parts[0].number)
            .collect();
        let (Some(least), Some(most)) = (within.iter().min(), within.iter().max()) else {
            panic!()
        };
        assert_eq!(most - least + 1, within.len() as u64, "window {of}");
        whole += 1;
    }
    assert!(whole > 4, "{whole}");
}

#[test]
fn requests_and_collectives_are_numbered() {
    let mut events = Events::new(0, 0);
    let first = events.collectives(5, 0).unwrap();
    assert_eq!(events.collectives(5, 0), Some(first));
    let second = events.collectives(6, 0).unwrap();
    assert_eq!(events.collective(first, 8).number, 1);
    assert_eq!(events.collective(first, 8).number, 2);
    assert_eq!(events.collective(second, 8).number, 1);
    assert_eq!(events.collectives[second as usize].0, Collectives { group: 0, nth: 1 });
    events.forget(5);
    assert_ne!(events.collectives(5, 0), Some(first));
    let part = events.collective(first, 8);
    events.begun(77, part);
    assert_eq!(events.completed(77), Some(Part { completes: true, bytes: 0, ..part }));
    assert_eq!(events.completed(77), None);
}
