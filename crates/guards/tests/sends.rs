//! Guards by write protection. In a process of its own, since that is one for all.

use commsan_guards::{Allowed, Closes, Guards, Memory, PAGE, protection};
use std::ops::Range;

const NO_SUMS: Allowed = Allowed { site: 1, sums: false, closes_written: true };

fn guards() -> Guards<u8> {
    protection::begin();
    Guards::new(100, Closes::Sends, |run| (Memory::Own, run.end), |_, _| 0)
}

/// Pages of memory of its own, never freed.
fn pages(count: usize) -> Range<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new memory.
    let memory =
        unsafe { libc::mmap(std::ptr::null_mut(), count * PAGE, access, kind, -1, 0) } as usize;
    assert_ne!(memory, usize::MAX);
    memory..memory + count * PAGE
}

fn protected(pages: &Range<usize>) -> Vec<bool> {
    pages.clone().step_by(PAGE).map(protection::holds).collect()
}

#[test]
fn only_what_is_read_is_closed_until_something_writes_there() {
    let (mut guards, all) = (guards(), pages(4));
    let page = |n: usize| all.start + n * PAGE..all.start + (n + 1) * PAGE;
    assert!(guards.want(&all, false, 1));
    assert!(!guards.want(&all, true, 1), "nothing is closed that it could overlap");
    guards.begin(1, &[(all.clone(), false)], NO_SUMS);
    assert_eq!(protected(&all), [true; 4]);
    // A receive into a part of it, and a call that may write a few bytes.
    assert!(guards.want(&page(1), true, 1));
    guards.begin(2, &[(page(1), true)], NO_SUMS);
    guards.give_way(&(page(3).start + 5..page(3).start + 9));
    assert_eq!(protected(&all), [true, false, true, false]);
    let watched = guards.watched();
    assert_eq!((watched.closed, watched.unclosable), (4 * PAGE as u64, PAGE as u64));
    guards.end(1);
    assert_eq!(protected(&all), [false; 4]);
    for at in all.step_by(PAGE) {
        // SAFETY: memory of the test's own, which is open.
        unsafe { *(at as *mut u8) = 1 };
    }
}

#[test]
fn what_an_operation_writes_itself_is_not_closed() {
    let (mut guards, all) = (guards(), pages(2));
    let written = all.start + 10..all.start + 20;
    guards.begin(1, &[(all.clone(), false), (written, true)], NO_SUMS);
    assert_eq!(protected(&all), [false; 2]);
}
