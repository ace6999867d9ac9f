//! Operations that are not announced to their targets yet.
//!
//! No rank can acquire an operation before its origin releases anything, so until then it can wait
//! here. What repeats it, or continues where it ended, costs nothing more; what does the same
//! elsewhere is merged with it into one message. Loops that only communicate send few messages that
//! way.
//!
//! Incomplete operations in the outbox never conflict with each other: before one that would is
//! added, all others are sent. So the order in which they are sent does not matter, except that
//! complete operations come before incomplete ones.

use crate::rma::message::Announced;
use commsan_callsite::StackId;
use commsan_shadow::{Comb, Mode};
use std::ops::Range;

/// An operation that is to be announced, or several from one place.
#[derive(Clone, Debug)]
pub struct Unsent {
    /// The target's rank in the job.
    pub to: u32,
    /// The window's handle.
    pub handle: usize,
    /// Where it was started.
    pub stack: StackId,
    pub operation: Announced,
    /// If it is complete: how many of its first bytes were accessed again since, by operations that
    /// are not.
    pub again: u64,
    /// The call that starts it returns when it is complete: it is when this is sent, which a later
    /// call does.
    pub returns_complete: bool,
}

/// Another operation from the same place.
#[derive(Clone, Debug)]
pub struct Next {
    /// The window's handle.
    pub handle: usize,
    /// The call's row in the table.
    pub call: u32,
    pub stack: StackId,
    /// Bytes, relative to the target's base.
    pub start: i64,
    pub size: u64,
}

/// How an operation relates to one in the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It continues where that one ends.
    On,
    /// It repeats a part of that one.
    Again,
    /// It does the same to other bytes.
    Beside,
}

/// Announcements that wait at most.
const MAX_UNSENT: usize = 8;
/// Runs of bytes of one announcement at most: each operation that is merged is compared with all.
const MAX_RUNS: usize = 32;
/// Completions after which announcements are sent at the latest.
const MAX_COMPLETIONS: u32 = 64;

/// All announcements that wait, oldest first.
#[derive(Default)]
pub struct Outbox {
    all: Vec<Unsent>,
    /// Completions since anything was sent.
    completions: u32,
}

impl Outbox {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether an announcement can be added without sending the others.
    pub fn has_room(&self, unsent: &Unsent) -> bool {
        let Comb { start, size, .. } = unsent.operation.run();
        let bytes = start..start + size as i64;
        self.all.len() < MAX_UNSENT && !self.conflict(unsent.to, unsent.operation.mode, bytes, None)
    }

    pub fn push(&mut self, unsent: Unsent) {
        self.all.push(unsent);
    }

    /// The announcement that an operation on a rank's part continues, repeats, or resembles.
    #[inline]
    pub fn find(&self, to: u32, next: &Next) -> Option<(usize, Step)> {
        let (at, step) = self.all.iter().enumerate().rev().find_map(|(at, unsent)| {
            let same = (unsent.to, unsent.handle, unsent.operation.call, unsent.stack)
                == (to, next.handle, next.call, next.stack);
            Some((at, unsent.step(next).filter(|_| same)?))
        })?;
        let bytes = next.start..next.start + next.size as i64;
        let Announced { mode, runs, .. } = &self.all[at].operation;
        let apart = step != Step::Beside && runs.0.len() == 1;
        let alone = apart && self.all.len() == 1;
        let but = apart.then_some(at);
        (alone || !self.conflict(to, *mode, bytes, but)).then_some((at, step))
    }

    /// Whether an announcement says already that the same call has accessed these bytes of a rank's
    /// part, and returned.
    pub fn says(&self, to: u32, next: &Next) -> bool {
        self.all.iter().any(|unsent| {
            let same = (unsent.to, unsent.handle, unsent.operation.call, unsent.stack)
                == (to, next.handle, next.call, next.stack);
            let bytes = next.start..next.start + next.size as i64;
            let mut runs = unsent.operation.runs.0.iter();
            same && unsent.returns_complete
                && runs.any(|run| {
                    run.count == 1
                        && run.start <= bytes.start
                        && bytes.end <= run.start + run.size as i64
                })
        })
    }

    /// Merges an operation into an announcement.
    #[inline]
    pub fn add(&mut self, at: usize, step: Step, next: &Next) {
        let unsent = &mut self.all[at];
        match step {
            Step::On => unsent.operation.take_in(next.size),
            Step::Again => unsent.again += next.size,
            Step::Beside => unsent.operation.take_in_at(next.start, next.size),
        }
        if step == Step::Again && unsent.again == unsent.operation.run().size {
            (unsent.again, unsent.operation.complete) = (0, false);
        }
    }

    /// Operations on a rank's part of a window are complete. Returns whether the outbox must be
    /// sent now.
    pub fn complete(&mut self, to: u32, window: u64) -> bool {
        for unsent in self.all.iter_mut().filter(|d| (d.to, d.operation.window) == (to, window)) {
            (unsent.again, unsent.operation.complete) = (0, true);
        }
        self.completions += 1;
        self.completions >= MAX_COMPLETIONS
    }

    /// Whether bytes at a target conflict with an incomplete operation, except those of one
    /// announcement.
    fn conflict(&self, to: u32, mode: Mode, bytes: Range<i64>, but: Option<usize>) -> bool {
        self.all.iter().enumerate().any(|(at, unsent)| {
            Some(at) != but
                && unsent.to == to
                && (mode, unsent.operation.mode) != (Mode::Read, Mode::Read)
                && unsent.open().any(|open| open.start < bytes.end && bytes.start < open.end)
        })
    }

    /// Takes all announcements, each with its target: complete ones, then incomplete ones.
    pub fn take(&mut self) -> impl Iterator<Item = (u32, Announced)> + use<> {
        self.completions = 0;
        let mut all = std::mem::take(&mut self.all);
        for unsent in all.iter_mut().filter(|unsent| unsent.returns_complete) {
            unsent.operation.complete = true;
        }
        let open: Vec<_> =
            all.iter().filter_map(|unsent| Some((unsent.to, unsent.rest()?))).collect();
        let complete = all.into_iter().filter(|unsent| unsent.operation.complete);
        complete.map(|unsent| (unsent.to, unsent.operation)).chain(open)
    }

    /// Drops all announcements.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}

impl Unsent {
    /// The bytes that incomplete operations access.
    fn open(&self) -> impl Iterator<Item = Range<i64>> {
        let Announced { runs, complete, .. } = &self.operation;
        let open = move |run: &Comb| {
            let size = if *complete { self.again } else { run.size };
            run.start..run.start + size as i64
        };
        runs.0.iter().map(open).filter(|open| !open.is_empty())
    }

    #[inline]
    fn step(&self, next: &Next) -> Option<Step> {
        let Announced { runs, complete, .. } = &self.operation;
        if !self.operation.is_like(next.size) {
            return None;
        }
        let more = || (runs.0.len() < MAX_RUNS).then_some(Step::Beside);
        match complete {
            false if self.operation.ends_at(next.start) => Some(Step::On),
            false => more(),
            true => {
                let again = self.operation.run().start + self.again as i64 == next.start;
                (again && runs.0.len() == 1).then_some(Step::Again)
            }
        }
    }

    /// The incomplete part of the operation.
    fn rest(&self) -> Option<Announced> {
        let all = &self.operation;
        if !all.complete {
            return Some(all.clone());
        }
        let size = self.again;
        let mut rest = Announced { complete: false, ..all.clone() };
        rest.runs.0[0] = Comb { size, ..all.run() };
        rest.each = rest.each.filter(|each| u64::from(each.get()) != size);
        (size > 0).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rma::message::AccessEpoch;
    use commsan_callsite::Stacks;
    use commsan_shadow::{Pattern, Runs};

    const TO: u32 = 1;
    const WINDOW: u64 = 7;

    fn unsent(call: u32, mode: Mode, start: i64, size: isize) -> Unsent {
        let operation = Announced {
            window: WINDOW,
            origin: 0,
            segment: 1,
            call,
            site: 0,
            number: 0,
            mode,
            atomic: None,
            epoch: AccessEpoch::Shared,
            each: None,
            complete: false,
            stored: 0,
            runs: Runs::of(&Pattern::dense(0, size), start),
        };
        Unsent {
            to: TO,
            handle: 5,
            stack: Stacks::EMPTY,
            operation,
            again: 0,
            returns_complete: false,
        }
    }

    fn step(outbox: &mut Outbox, call: u32, start: i64) -> Option<Step> {
        let next = Next { handle: 5, call, stack: Stacks::EMPTY, start, size: 8 };
        let (at, step) = outbox.find(TO, &next)?;
        outbox.add(at, step, &next);
        Some(step)
    }

    fn taken(outbox: &mut Outbox) -> Vec<(i64, u64, bool)> {
        let all = outbox.take();
        let runs = |(_, op): (u32, Announced)| {
            op.runs.0.iter().map(|run| (run.start, run.size, op.complete)).collect::<Vec<_>>()
        };
        all.flat_map(runs).collect()
    }

    #[test]
    fn operations_go_on_and_are_repeated() {
        let mut outbox = Outbox::default();
        outbox.push(unsent(0, Mode::Write, 0, 8));
        assert_eq!(step(&mut outbox, 0, 8), Some(Step::On));
        assert_eq!(step(&mut outbox, 0, 0), None, "it is not complete");
        assert_eq!(step(&mut outbox, 1, 16), None, "another call");
        outbox.complete(TO, WINDOW);
        assert_eq!(step(&mut outbox, 0, 16), None, "it has ended");
        assert_eq!(step(&mut outbox, 0, 0), Some(Step::Again));
        assert_eq!(taken(&mut outbox), [(0, 16, true), (0, 8, false)]);
        assert!(outbox.is_empty());
    }

    #[test]
    fn what_is_repeated_as_a_whole_can_go_on() {
        let mut outbox = Outbox::default();
        outbox.push(unsent(0, Mode::Write, 0, 8));
        outbox.complete(TO, WINDOW);
        assert_eq!(step(&mut outbox, 0, 0), Some(Step::Again));
        assert_eq!(step(&mut outbox, 0, 8), Some(Step::On));
        assert_eq!(taken(&mut outbox), [(0, 16, false)]);
    }

    #[test]
    fn what_does_the_same_elsewhere_joins() {
        let mut outbox = Outbox::default();
        outbox.push(unsent(0, Mode::Write, 0, 8));
        assert_eq!(step(&mut outbox, 0, 100), Some(Step::Beside));
        assert_eq!(step(&mut outbox, 0, 108), Some(Step::On));
        assert_eq!(step(&mut outbox, 0, 48), Some(Step::Beside));
        assert_eq!(step(&mut outbox, 0, 56), Some(Step::On));
        assert_eq!(step(&mut outbox, 0, 4), None, "it conflicts with the first");
        assert_eq!(step(&mut outbox, 0, 92), Some(Step::Beside));
        assert_eq!(step(&mut outbox, 0, 100), None, "the end of one is the begin of another");
        let next = Next { handle: 5, call: 0, stack: Stacks::EMPTY, start: 300, size: 4 };
        assert_eq!(outbox.find(TO, &next), None, "another size");
        let runs = [(0, 8, false), (100, 16, false), (48, 16, false), (92, 8, false)];
        assert_eq!(taken(&mut outbox), runs);

        outbox.push(unsent(0, Mode::Read, 0, 8));
        assert_eq!(step(&mut outbox, 0, 4), Some(Step::Beside), "two that read");
        let joined = (2..).take_while(|n| step(&mut outbox, 0, 20 * n).is_some()).count();
        assert_eq!(joined, MAX_RUNS - 2);
        outbox.complete(TO, WINDOW);
        assert_eq!(step(&mut outbox, 0, 8), None, "it has ended");
        assert!(taken(&mut outbox).iter().all(|(.., complete)| *complete));
    }

    #[test]
    fn what_conflicts_is_told_of() {
        let mut outbox = Outbox::default();
        outbox.push(unsent(0, Mode::Write, 0, 8));
        assert!(!outbox.has_room(&unsent(1, Mode::Read, 4, 8)));
        assert!(outbox.has_room(&unsent(1, Mode::Read, 8, 8)));
        assert!(outbox.has_room(&Unsent { to: 2, ..unsent(1, Mode::Write, 0, 8) }));
        outbox.complete(TO, WINDOW);
        assert!(outbox.has_room(&unsent(1, Mode::Read, 4, 8)));
        outbox.push(unsent(1, Mode::Read, 0, 8));
        assert_eq!(step(&mut outbox, 0, 0), None, "it is being read");
        assert_eq!(taken(&mut outbox), [(0, 8, true), (0, 8, false)]);
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut outbox = Outbox::default();
        outbox.push(unsent(0, Mode::Write, 0, 8));
        assert_eq!((1..).find(|_| outbox.complete(TO, WINDOW)), Some(MAX_COMPLETIONS));
        for start in 1..MAX_UNSENT as i64 {
            assert!(outbox.has_room(&unsent(0, Mode::Write, 100 * start, 8)));
            outbox.push(unsent(0, Mode::Write, 100 * start, 8));
        }
        assert!(!outbox.has_room(&unsent(0, Mode::Write, 0, 8)));
    }
}
