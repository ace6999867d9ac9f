//! Where kernels are launched.
//!
//! `f<<<…>>>(…)` is three calls: one that notes the configuration, in the function that says so;
//! and from a stub that the compiler has made, one that takes it back and one that launches. The
//! place is that of the first.

use commsan_process::stack::Caller;
use std::cell::Cell;

/// Configurations noted at a time, of launches among the arguments of others. Where there are more,
/// the place is the stub's.
const DEPTH: usize = 4;

#[derive(Clone, Copy)]
struct Sites {
    noted: [Option<Caller>; DEPTH],
    depth: usize,
    /// Of the launch that is about to follow.
    taken: Option<Caller>,
}

thread_local! {
    static SITES: Cell<Sites> =
        const { Cell::new(Sites { noted: [None; DEPTH], depth: 0, taken: None }) };
}

fn change(f: impl FnOnce(&mut Sites)) {
    let mut sites = SITES.get();
    f(&mut sites);
    SITES.set(sites);
}

/// A configuration is noted.
pub(crate) fn note(caller: Caller) {
    change(|sites| {
        if let Some(slot) = sites.noted.get_mut(sites.depth) {
            *slot = Some(caller);
        }
        sites.depth += 1;
    });
}

/// The last one is taken back.
pub(crate) fn take_back() {
    change(|sites| {
        sites.depth = sites.depth.saturating_sub(1);
        sites.taken = sites.noted.get_mut(sites.depth).and_then(Option::take);
    });
}

/// Where the launch at hand is said, if it is one of those.
pub(crate) fn of_launch() -> Option<Caller> {
    let mut site = None;
    change(|sites| site = sites.taken.take());
    site
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pc: usize) -> Caller {
        Caller { pc, frame: 0, sp: 0 }
    }

    #[test]
    fn launches_among_arguments_have_their_own_places() {
        for pc in 1..=6 {
            note(at(pc));
        }
        let mut found = Vec::new();
        for _ in 0..6 {
            take_back();
            found.push(of_launch().map(|caller| caller.pc));
            assert!(of_launch().is_none(), "a launch that nobody has configured so");
        }
        assert_eq!(found, [None, None, Some(4), Some(3), Some(2), Some(1)]);
    }
}
