//! Memory of dynamic windows (MPI 4.1 §12.2.4).
//!
//! **Soundness.** Regions may be attached to windows that `MPI_Win_create_dynamic` has made alone, must not overlap, and are
//! detached by the address that they were attached at. What is attached is known from the calls that have succeeded; of
//! windows that commsan does not know nothing is said.

use super::{Tracker, Wrong};
use crate::buffers::Args;
use commsan_callsite::{Findings, Place};
use commsan_findings::Problem;
use commsan_mpi_calls::Effect;
use std::ops::Range;

impl Tracker {
    /// Memory is about to be attached to a window, or detached.
    pub fn before_attach(&mut self, args: &Args, place: &impl Place, out: &mut dyn Findings) {
        let (handle, base) = (args.words[0], args.words[1]);
        let Some(window) = self.rma.windows.get(handle) else { return };
        let found = match args.call.effect {
            _ if !window.made.dynamic => {
                Some((Problem::Value, "win", "was not made by MPI_Win_create_dynamic".to_owned()))
            }
            Effect::Attach => attach_problem(&window.memory, base, args.words[2]),
            _ => detach_problem(&window.memory, base),
        };
        if let Some((kind, parameter, problem)) = found {
            self.reporter.wrong_argument(args, &Wrong::of(kind, parameter, problem), place, out);
        }
    }
}

fn attach_problem(
    attached: &[Range<usize>],
    base: usize,
    size: usize,
) -> Option<(Problem, &'static str, String)> {
    if (size as isize) < 0 {
        return Some((Problem::Negative, "size", format!("is negative, {}", size as isize)));
    }
    let end = base.saturating_add(size);
    let meets = |other: &&Range<usize>| base.max(other.start) < end.min(other.end);
    let other = attached.iter().find(meets)?;
    let problem = match base.checked_sub(other.start) {
        Some(0) => "is where memory begins that is attached already".to_owned(),
        Some(offset) => format!(
            "lies within memory that is attached already, {offset} bytes from its beginning"
        ),
        None => format!(
            "is followed, after {} of {size} bytes, by memory that is attached already",
            other.start - base
        ),
    };
    Some((Problem::Value, "base", problem))
}

fn detach_problem(
    attached: &[Range<usize>],
    base: usize,
) -> Option<(Problem, &'static str, String)> {
    if attached.iter().any(|region| region.start == base) {
        return None;
    }
    let problem = match attached.iter().find(|region| region.contains(&base)) {
        Some(region) => format!(
            "lies {} bytes within memory that is attached: it is detached by its beginning",
            base - region.start
        ),
        None => "is no beginning of memory that is attached".to_owned(),
    };
    Some((Problem::Value, "base", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_do_not_overlap_and_are_detached_by_their_beginnings() {
        let attached = [100..200, 300..300];
        let attach = |base, size| attach_problem(&attached, base, size).is_some();
        assert!(attach(100, 4) && attach(150, 100) && attach(90, 11) && attach(0, 1000));
        assert!(!attach(200, 4) && !attach(96, 4) && !attach(150, 0) && !attach(300, 0));
        assert!(attach(0, -8_isize as usize));
        let detach = |base| detach_problem(&attached, base).is_some();
        assert!(!detach(100) && !detach(300));
        assert!(detach(101) && detach(200) && detach(0));
    }
}
