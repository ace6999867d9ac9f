//! Static variables as symmetric memory: which pages of them are watched.
//!
//! All are at first, so that what a program does before it first passes one to a call is known. Few
//! of its variables are symmetric objects that it uses, and loads of all others would cost more
//! than need be: after some operations, only pages are watched that one of them has accessed, here
//! or at another PE, and others from then on.

use super::races::{DATA, name};
use crate::ids::Group;
use crate::rma::message::Announced;
use crate::tracker::Tracker;
use commsan_callsite::Site;
use commsan_shadow::PAGE_SHIFT;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Bytes of static variables that are watched from the beginning.
const MAX_DATA: usize = 1 << 26;
/// Operations of this PE and others until only pages are watched that they access.
const ALL_WATCHED: u32 = 512;

/// Which pages of static variables are watched.
#[derive(Default)]
pub struct Variables {
    /// Where they are.
    pub bytes: Range<usize>,
    /// Pages that operations have accessed.
    used: FxHashSet<usize>,
    /// The page that was used last: nearly always the one that is next.
    last: usize,
    operations: u32,
}

fn page(at: usize) -> usize {
    at >> PAGE_SHIFT
}

fn bytes_of(page: usize) -> Range<usize> {
    page << PAGE_SHIFT..(page << PAGE_SHIFT) + 1
}

impl Variables {
    /// Those in these bytes.
    pub fn new(bytes: Range<usize>) -> Variables {
        Variables { bytes, ..Variables::default() }
    }

    fn are_all_watched(&self) -> bool {
        self.bytes.len() <= MAX_DATA && self.operations < ALL_WATCHED
    }
}

impl Tracker {
    /// Static variables are symmetric from now on.
    pub(super) fn follow_data(&mut self, group: Group, site: Site) {
        let variables = &self.symmetric.variables;
        let bytes = variables.bytes.clone();
        if variables.are_all_watched()
            && let Some(exposed) = &mut self.rma.exposed
        {
            self.rma.incomplete |= !exposed.add(&bytes);
        }
        self.follow_symmetric(DATA, bytes.start, group, site);
    }

    /// An operation, of this PE or another one, has been started.
    pub(super) fn count_operation(&mut self) {
        let variables = &mut self.symmetric.variables;
        if !variables.are_all_watched() {
            return;
        }
        variables.operations += 1;
        if !variables.are_all_watched()
            && let Some(exposed) = &mut self.rma.exposed
        {
            let pages = page(variables.bytes.start)..page(variables.bytes.end + 0xfff);
            let unused = pages.filter(|page| !variables.used.contains(page));
            unused.for_each(|page| exposed.remove(&bytes_of(page)));
        }
    }

    /// A call uses these bytes here, or another PE does.
    #[inline]
    pub(super) fn use_variables(&mut self, bytes: &Range<usize>) {
        let variables = &self.symmetric.variables;
        let is_last = page(bytes.start) == variables.last && page(bytes.end) == variables.last;
        if !is_last && variables.bytes.contains(&bytes.start) {
            self.watch_variables(bytes);
        }
    }

    #[cold]
    fn watch_variables(&mut self, bytes: &Range<usize>) {
        let variables = &mut self.symmetric.variables;
        let all = variables.are_all_watched();
        for page in page(bytes.start)..page(bytes.end.saturating_sub(1)) + 1 {
            variables.last = page;
            if variables.used.insert(page)
                && !all
                && let Some(exposed) = &mut self.rma.exposed
            {
                self.rma.incomplete |= !exposed.add(&bytes_of(page));
            }
        }
    }

    /// An operation of another PE has arrived.
    #[inline]
    pub(in crate::tracker) fn symmetric_arrived(&mut self, op: &Announced, base: usize) {
        self.count_operation();
        if op.window == name(DATA) {
            for run in &op.runs.0 {
                let start = base.wrapping_add(run.start as usize);
                let distance = (run.count as usize).saturating_sub(1) * run.stride as usize;
                let end = start.wrapping_add(distance).wrapping_add(run.size as usize);
                self.use_variables(&(start.min(end)..end.max(start)));
            }
        }
    }
}
