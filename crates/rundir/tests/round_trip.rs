//! What a rank writes is what a tool reads, up to the byte at which the rank was killed.

use commsan_findings::{Code, Role};
use commsan_rundir::reader::{Problem, Records};
use commsan_rundir::record::*;
use commsan_rundir::{RankLog, writer};
use proptest::prelude::*;
use std::borrow::Cow;

fn text() -> impl Strategy<Value = Cow<'static, str>> {
    any::<String>().prop_map(Cow::Owned)
}

fn site() -> impl Strategy<Value = RawSite<'static>> {
    let role = prop::sample::select(vec![
        Role::Access,
        Role::Operation,
        Role::Completion,
        Role::Release,
        Role::Return,
        Role::Overwrite,
    ]);
    let frames = prop::collection::vec(any::<(u32, u64)>(), 0..5);
    // Few numbers, so that some references are to sites that exist.
    let number = || prop::option::of(0..3_u32);
    (role, prop::option::of(text()), any::<u32>(), frames, (number(), number())).prop_map(
        |(role, call, thread, frames, (rank, reference))| RawSite {
            role,
            call,
            thread,
            frames: Cow::Owned(frames),
            rank,
            reference,
        },
    )
}

fn finding() -> impl Strategy<Value = RawFinding<'static>> {
    let access = (text(), any::<bool>(), any::<u64>(), any::<u64>(), any::<Option<i32>>())
        .prop_map(|(by, write, addr, size, peer)| RawAccess { by, write, addr, size, peer });
    let operation =
        (
            text(),
            any::<bool>(),
            any::<[u64; 3]>(),
            any::<[Option<i32>; 2]>(),
            any::<Option<u32>>(),
            any::<Option<u64>>(),
        )
            .prop_map(|(call, write, [addr, size, bytes], [peer, tag], window, base)| {
                RawOperation { call, write, addr, size, bytes, peer, tag, window, base }
            });
    (
        any::<u32>(),
        prop::sample::select(Code::ALL),
        prop::option::of(access),
        operation,
        prop::collection::vec(site(), 0..4),
        prop::option::of(collective()),
        prop::option::of((text(), text())),
        prop::option::of((prop::option::of(doing()), prop::option::of(doing()))),
    )
        .prop_map(|(id, code, access, operation, sites, collective, level, work)| RawFinding {
            id,
            code,
            access,
            operation,
            threads: id % 2 == 1,
            sites: Cow::Owned(sites),
            collective,
            argument: level.as_ref().map(|(one, other)| RawArgument {
                parameter: other.clone(),
                problem: one.clone(),
                kind: (id % 3 == 0).then_some(commsan_findings::Problem::Negative),
            }),
            level: level.map(|(required, provided)| RawLevel { required, provided }),
            work: work.map(|(access, operation)| RawWork { access, operation }),
            time: (id % 5 > 0).then_some(u64::from(id) << 31),
        })
}

fn doing() -> impl Strategy<Value = RawDoing> {
    let optional = || prop::option::of(text());
    (optional(), text(), optional(), any::<Option<u32>>())
        .prop_map(|(kernel, stream, file, line)| RawDoing { kernel, stream, file, line })
}

fn collective() -> impl Strategy<Value = RawCollective<'static>> {
    (text(), any::<u32>(), prop::option::of((text(), text()))).prop_map(|(on, number, passed)| {
        RawCollective {
            on,
            number,
            passed: passed.map(|(own, other)| [own, other]),
            between_groups: number % 2 == 1,
        }
    })
}

fn record() -> impl Strategy<Value = Record<'static>> {
    let ending = prop::sample::select(vec![
        Ending::Finalized,
        Ending::Aborted,
        Ending::Exited,
        Ending::Halted,
        Ending::Crashed,
    ]);
    prop_oneof![
        (
            any::<[u32; 4]>(),
            text(),
            text(),
            text(),
            any::<bool>(),
            [text(), text()],
            prop::collection::vec(text(), 0..3)
        )
            .prop_map(
                |(
                    [version, rank, size, pid],
                    host,
                    mpi,
                    program,
                    instrumented,
                    [job, name],
                    arguments,
                )| {
                    Record::Start(Start {
                        version,
                        rank,
                        size,
                        pid,
                        host,
                        mpi,
                        program,
                        instrumented,
                        job,
                        arguments,
                        name,
                    })
                }
            ),
        (any::<u32>(), text(), prop::option::of(text()))
            .prop_map(|(id, path, function)| Record::Module(Module { id, path, function })),
        finding().prop_map(Record::Finding),
        (any::<u32>(), any::<u64>()).prop_map(|(id, count)| Record::Again { id, count }),
        (any::<u32>(), site()).prop_map(|(id, site)| Record::Completed { id, site }),
        (0..3_u32, site()).prop_map(|(id, site)| Record::Site { id, site }),
        text().prop_map(|text| Record::Note { text }),
        any::<[u64; 6]>().prop_map(
            |[operations, closed, shared, elsewhere, over_budget, exposed]| {
                Record::Guarded(Guarded {
                    operations,
                    closed,
                    shared,
                    elsewhere,
                    over_budget,
                    exposed,
                    ..Guarded::default()
                })
            }
        ),
        (ending, any::<u64>()).prop_map(|(how, dropped)| Record::End(End { how, dropped })),
    ]
}

fn write(records: &[Record<'_>]) -> Vec<u8> {
    let mut log = Vec::new();
    for record in records {
        writer::append(&mut log, record, &mut vec![0; 1 << 16]).unwrap();
    }
    log
}

proptest! {
    #[test]
    fn records_read_back(records in prop::collection::vec(record(), 0..8)) {
        let read: Result<Vec<_>, _> = Records::new(&*write(&records)).collect();
        prop_assert_eq!(read, Ok(records));
    }

    #[test]
    fn truncation_costs_at_most_the_last_record(
        records in prop::collection::vec(record(), 1..4),
        at in any::<prop::sample::Index>(),
    ) {
        let log = write(&records);
        let length = at.index(log.len());
        let whole = log[..length].iter().filter(|&&byte| byte == b'\n').count();
        let read: Vec<_> = Records::new(&log[..length]).collect();
        prop_assert!(read.len() <= whole + 1);
        for (index, result) in read.iter().enumerate() {
            match result {
                // A line that lacks its newline only is whole, too.
                Ok(record) => prop_assert_eq!(record, &records[index]),
                Err(problem) => {
                    let line = whole as u64 + 1;
                    prop_assert_eq!((index, problem), (whole, &Problem::Truncated { line }));
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = RankLog::read(&*bytes, 0);
    }

    #[test]
    fn any_damage_is_survived(
        records in prop::collection::vec(record(), 0..8),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
    ) {
        let mut log = write(&records);
        for (at, byte) in damage {
            if !log.is_empty() {
                let at = at.index(log.len());
                log[at] = byte;
            }
        }
        let mut logs = [RankLog::read(&*log, 0), RankLog::read(&*log, 1)];
        commsan_rundir::resolve(&mut logs);
        for log in &logs {
            let sites = log.findings.iter().flat_map(|o| o.finding.sites.iter().chain(&o.completed));
            let mut modules = sites.flat_map(|site| &*site.frames).map(|frame| frame.0 as usize);
            prop_assert!(modules.all(|module| module < log.modules.len()));
        }
    }
}
