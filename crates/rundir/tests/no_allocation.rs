//! Ranks append records inside MPI calls and signal handlers, where allocating can deadlock.

use commsan_findings::{Code, Role};
use commsan_rundir::Record;
use commsan_rundir::record::{RawAccess, RawFinding, RawOperation, RawSite};
use std::alloc::{GlobalAlloc, Layout, System};
use std::borrow::Cow;
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as for this function.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn appending_allocates_nothing() {
    let sites = [RawSite {
        role: Role::Access,
        call: None,
        thread: 0,
        frames: Cow::Borrowed(&[(0, 0x1234), (1, u64::MAX)]),
        rank: Some(3),
        reference: Some(u32::MAX),
    }];
    let record = Record::Finding(RawFinding {
        id: 1,
        code: Code::SendBufferWritten,
        access: Some(RawAccess {
            by: "store \"\n".into(),
            write: true,
            addr: 1,
            size: 8,
            peer: None,
        }),
        operation: RawOperation {
            call: "MPI_Isend".into(),
            write: false,
            addr: 1,
            size: 8,
            bytes: 8,
            peer: Some(-1),
            tag: Some(7),
            window: Some(0),
            base: Some(1),
        },
        sites: Cow::Borrowed(&sites),
        threads: true,
        collective: None,
        level: None,
        argument: None,
        work: None,
        time: Some(u64::MAX),
    });
    let mut file = std::fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
    let mut buffer = [0; 4096];
    let before = ALLOCATIONS.with(Cell::get);
    let written = commsan_rundir::writer::append(&mut file, &record, &mut buffer);
    let refused = commsan_rundir::writer::append(&mut file, &record, &mut buffer[..10]);
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
    assert!(written.is_ok() && refused.is_err());
}
