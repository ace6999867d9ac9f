pub(crate) use super::concurrency::tests::observation as together;
pub(crate) use super::device::tests::observation as device;
pub(crate) use super::window::tests::observation as one_sided;
use super::*;
use commsan_rundir::record::{RawArgument, RawFinding};
use std::borrow::Cow;

/// A write at `heat.c:52` to what `heat.c:40` sends and `heat.c:57` completes.
pub(crate) fn observation() -> Observation {
    let site = |role, call: Option<&'static str>| RawSite {
        role,
        call: call.map(Cow::Borrowed),
        thread: 0,
        frames: Cow::Borrowed(&[]),
        rank: None,
        reference: None,
    };
    let frame = |function: &str, line| Frame {
        function: Some(function.to_owned()),
        file: Some("/src/heat.c".to_owned()),
        line: Some(line),
        column: Some(3),
        module: "/bin/heat".to_owned(),
        offset: u64::from(line),
        inlined: false,
        within: Vec::new(),
    };
    Observation {
        rank: 0,
        sequence: 0,
        count: 1,
        finding: RawFinding {
            id: 0,
            code: Code::SendBufferWritten,
            access: Some(RawAccess {
                by: "store".into(),
                write: true,
                addr: 4112,
                size: 8,
                peer: None,
            }),
            operation: RawOperation {
                call: "MPI_Isend".into(),
                write: false,
                addr: 4096,
                size: 8192,
                bytes: 8192,
                peer: Some(1),
                tag: Some(7),
                window: None,
                base: None,
            },
            sites: vec![site(Role::Access, None), site(Role::Operation, Some("MPI_Isend"))].into(),
            threads: false,
            collective: None,
            level: None,
            argument: Some(RawArgument {
                parameter: "dest".into(),
                problem: "is 5, but the communicator's ranks are 0 to 3".into(),
                kind: Some(Problem::NoSuchPeer),
            }),
            work: None,
            time: None,
        },
        stacks: vec![vec![frame("pack", 52)], vec![frame("exchange", 40)]],
        completed: Some((site(Role::Completion, Some("MPI_Waitall")), vec![frame("exchange", 57)])),
    }
}

#[test]
fn ranges_are_relative_to_the_buffer() {
    let range = |addr, size| {
        let mut observation = observation();
        observation.finding.access.as_mut().unwrap().addr = addr;
        observation.finding.access.as_mut().unwrap().size = size;
        Facts::of(&observation).range()
    };
    assert_eq!(range(4112, 8), "8 bytes at offset 16 of the 8192-byte buffer");
    assert_eq!(range(4000, 97), "1 byte at offset 0 of the 8192-byte buffer");
    assert_eq!(range(4096, 8192), "the 8192-byte buffer");
    assert_eq!(range(0, u64::MAX), "the 8192-byte buffer");
    assert_eq!(range(0, 8), "part of the 8192-byte buffer");
}

#[test]
fn the_missing_edge_is_named() {
    let mut observation = observation();
    assert_eq!(
        Facts::of(&observation).pending(),
        "the operation started at heat.c:40 and is complete only after MPI_Waitall at heat.c:57"
    );
    observation.completed = None;
    observation.stacks[1][0].line = None;
    assert_eq!(
        Facts::of(&observation).pending(),
        "the operation started at `exchange` in heat and no call had completed it yet"
    );
}
