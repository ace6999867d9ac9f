//! Operations that their targets are still to be told of.
//!
//! Nobody can learn of an operation before its origin tells anybody anything, so until then it can
//! stay here, and what repeats it or goes on where it ended costs nothing more. Loops that only
//! communicate tell little that way.
//!
//! Those that are not complete never conflict with each other: who announces one that would, tells
//! of all the others first. So the order in which those that are left are told is of no importance,
//! but for one thing: what is complete comes before what is not.

use crate::rma::notice::{Announced, Comb};
use commsan_engine::Mode;
use commsan_place::StackId;
use std::ops::Range;

/// An operation that is to be told of, one run of bytes at the target.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Rank in the job of its target.
    pub to: u32,
    /// The window's handle.
    pub handle: usize,
    /// Where it was started.
    pub stack: StackId,
    pub operation: Announced,
    /// Of one that is complete: how many of its first bytes were touched again since, by operations
    /// that are not.
    pub again: u64,
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

/// How an operation relates to a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It goes on where the draft ends.
    On,
    /// It does again what a part of the draft did.
    Again,
}

/// Operations told of at once at most.
const MOST: usize = 8;
/// Completions after which they are told of at the latest.
const PATIENCE: u32 = 64;

/// All of them, oldest first.
#[derive(Default)]
pub struct Drafts {
    all: Vec<Draft>,
    /// Completions since others were told anything.
    completions: u32,
}

impl Drafts {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether an operation can be added without telling of the others.
    pub fn has_room(&self, draft: &Draft) -> bool {
        self.all.len() < MOST && !self.conflict(draft.to, draft.operation.mode, draft.run(), None)
    }

    pub fn push(&mut self, draft: Draft) {
        self.all.push(draft);
    }

    /// The draft that an operation on a rank's part goes on with or repeats.
    #[inline]
    pub fn find(&self, to: u32, next: &Next) -> Option<(usize, Step)> {
        let (at, step) = self.all.iter().enumerate().rev().find_map(|(at, draft)| {
            let same = (draft.to, draft.handle, draft.operation.call, draft.stack)
                == (to, next.handle, next.call, next.stack);
            Some((at, draft.step(next).filter(|_| same)?))
        })?;
        let bytes = next.start..next.start + next.size as i64;
        let alone = self.all.len() == 1;
        let mode = self.all[at].operation.mode;
        (alone || !self.conflict(to, mode, bytes, Some(at))).then_some((at, step))
    }

    /// Adds an operation to a draft.
    #[inline]
    pub fn add(&mut self, at: usize, step: Step, size: u64) {
        let draft = &mut self.all[at];
        match step {
            Step::On => draft.operation.take_in(size),
            Step::Again => draft.again += size,
        }
        if step == Step::Again && draft.again == draft.operation.run().size {
            (draft.again, draft.operation.complete) = (0, false);
        }
    }

    /// Operations on a rank's part of a window are complete. Returns whether it is time to tell.
    pub fn complete(&mut self, to: u32, window: u64) -> bool {
        for draft in self.all.iter_mut().filter(|d| (d.to, d.operation.window) == (to, window)) {
            (draft.again, draft.operation.complete) = (0, true);
        }
        self.completions += 1;
        self.completions >= PATIENCE
    }

    /// Whether bytes at a target conflict with an operation that is not complete, but for one.
    fn conflict(&self, to: u32, mode: Mode, bytes: Range<i64>, but: Option<usize>) -> bool {
        self.all.iter().enumerate().any(|(at, draft)| {
            let open = draft.open();
            Some(at) != but
                && draft.to == to
                && (mode, draft.operation.mode) != (Mode::Read, Mode::Read)
                && open.start < bytes.end
                && bytes.start < open.end
        })
    }

    /// Takes all, each with its target: what is complete, then the rest.
    pub fn take(&mut self) -> impl Iterator<Item = (u32, Announced)> + use<> {
        self.completions = 0;
        let all = std::mem::take(&mut self.all);
        let open: Vec<_> = all.iter().filter_map(|draft| Some((draft.to, draft.rest()?))).collect();
        let complete = all.into_iter().filter(|draft| draft.operation.complete);
        complete.map(|draft| (draft.to, draft.operation)).chain(open)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}

impl Draft {
    fn run(&self) -> Range<i64> {
        let run = self.operation.run();
        run.start..run.start + run.size as i64
    }

    /// The bytes that an operation uses which is not complete.
    fn open(&self) -> Range<i64> {
        match self.operation.complete {
            true => self.run().start..self.run().start + self.again as i64,
            false => self.run(),
        }
    }

    #[inline]
    fn step(&self, next: &Next) -> Option<Step> {
        match self.operation.complete {
            false => self.operation.goes_on(next.start, next.size).then_some(Step::On),
            true => {
                let again = self.operation.run().start + self.again as i64 == next.start;
                (again && self.operation.size() == next.size).then_some(Step::Again)
            }
        }
    }

    /// The operation as far as it is not complete.
    fn rest(&self) -> Option<Announced> {
        let open = self.open();
        if open.is_empty() {
            return None;
        }
        let mut rest = Announced { complete: false, ..self.operation.clone() };
        let size = (open.end - open.start) as u64;
        rest.runs.0[0] = Comb { size, ..rest.run() };
        rest.each = rest.each.filter(|each| u64::from(each.get()) != size);
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rma::notice::{Epoch, Runs};
    use commsan_engine::Pattern;
    use commsan_place::Stacks;

    const TO: u32 = 1;
    const WINDOW: u64 = 7;

    fn draft(call: u32, mode: Mode, start: i64, size: isize) -> Draft {
        let operation = Announced {
            window: WINDOW,
            origin: 0,
            segment: 1,
            call,
            site: 0,
            number: 0,
            mode,
            atomic: None,
            epoch: Epoch::Shared,
            each: None,
            complete: false,
            runs: Runs::of(&Pattern::dense(0, size), start),
        };
        Draft { to: TO, handle: 5, stack: Stacks::EMPTY, operation, again: 0 }
    }

    fn step(drafts: &mut Drafts, call: u32, start: i64) -> Option<Step> {
        let next = Next { handle: 5, call, stack: Stacks::EMPTY, start, size: 8 };
        let (at, step) = drafts.find(TO, &next)?;
        drafts.add(at, step, next.size);
        Some(step)
    }

    fn taken(drafts: &mut Drafts) -> Vec<(i64, u64, bool)> {
        let all = drafts.take();
        all.map(|(_, op)| (op.run().start, op.run().size, op.complete)).collect()
    }

    #[test]
    fn operations_go_on_and_are_repeated() {
        let mut drafts = Drafts::default();
        drafts.push(draft(0, Mode::Write, 0, 8));
        assert_eq!(step(&mut drafts, 0, 8), Some(Step::On));
        assert_eq!(step(&mut drafts, 0, 24), None);
        assert_eq!(step(&mut drafts, 0, 0), None, "it is not complete");
        assert_eq!(step(&mut drafts, 1, 16), None, "another call");
        drafts.complete(TO, WINDOW);
        assert_eq!(step(&mut drafts, 0, 16), None, "it has ended");
        assert_eq!(step(&mut drafts, 0, 0), Some(Step::Again));
        assert_eq!(taken(&mut drafts), [(0, 16, true), (0, 8, false)]);
        assert!(drafts.is_empty());
    }

    #[test]
    fn what_is_repeated_as_a_whole_can_go_on() {
        let mut drafts = Drafts::default();
        drafts.push(draft(0, Mode::Write, 0, 8));
        drafts.complete(TO, WINDOW);
        assert_eq!(step(&mut drafts, 0, 0), Some(Step::Again));
        assert_eq!(step(&mut drafts, 0, 8), Some(Step::On));
        assert_eq!(taken(&mut drafts), [(0, 16, false)]);
    }

    #[test]
    fn what_conflicts_is_told_of() {
        let mut drafts = Drafts::default();
        drafts.push(draft(0, Mode::Write, 0, 8));
        assert!(!drafts.has_room(&draft(1, Mode::Read, 4, 8)));
        assert!(drafts.has_room(&draft(1, Mode::Read, 8, 8)));
        assert!(drafts.has_room(&Draft { to: 2, ..draft(1, Mode::Write, 0, 8) }));
        drafts.complete(TO, WINDOW);
        assert!(drafts.has_room(&draft(1, Mode::Read, 4, 8)));
        drafts.push(draft(1, Mode::Read, 0, 8));
        assert_eq!(step(&mut drafts, 0, 0), None, "it is being read");
        assert_eq!(taken(&mut drafts), [(0, 8, true), (0, 8, false)]);
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut drafts = Drafts::default();
        drafts.push(draft(0, Mode::Write, 0, 8));
        assert_eq!((1..).find(|_| drafts.complete(TO, WINDOW)), Some(PATIENCE));
        for start in 1..MOST as i64 {
            assert!(drafts.has_room(&draft(0, Mode::Write, 100 * start, 8)));
            drafts.push(draft(0, Mode::Write, 100 * start, 8));
        }
        assert!(!drafts.has_room(&draft(0, Mode::Write, 0, 8)));
    }
}
