//! The separate memory model (MPI 4.1 §12.4, §12.7): loads and stores of the owner use its private
//! copy of a window, operations of others the public copy.
//!
//! A store becomes public with the owner's next `MPI_Win_fence`, `_post`, `_unlock` or `_sync`; an
//! update by others becomes visible to the owner with its next `MPI_Win_fence`, `_wait`, `_lock` or
//! `_sync`. Until then, whatever else orders the two, neither may be used by the other side; and a
//! store and an update must not happen between the same of these calls even where they touch
//! different bytes.
//!
//! Missed are updates through another window that overlaps, stores by operations that are not
//! complete when the owner synchronises, and results of RMA operations beside updates of other
//! bytes.

use super::Tracker;
use super::remote_ops::CALL;
use crate::rma::remote::{Meeting, Remote};
use commsan_callsite::{Findings, Place};
use commsan_findings::Code;
use commsan_mpi_calls::{CALLS, Effect};
use commsan_shadow::{Access, Mode, Past};
use std::ops::Range;

/// The memory model that windows are assumed to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryModel {
    /// The model that the attribute `MPI_WIN_MODEL` gives.
    #[default]
    AsIs,
    /// The separate model: the program should run wherever it is correct.
    Separate,
    /// The unified model.
    Unified,
}

impl MemoryModel {
    /// Whether a window has the separate model; `said` is what its attribute says.
    pub(super) fn is_separate(self, said: bool) -> bool {
        match self {
            MemoryModel::AsIs => said,
            MemoryModel::Separate => true,
            MemoryModel::Unified => false,
        }
    }
}

/// Different stores to a window that one synchronisation checks at most.
const MAX_STORES: usize = 64;

/// Whether an access stored the result of an RMA operation, which the standard does not call a
/// store in these rules.
fn is_result(past: &Past) -> bool {
    past.by.checked_sub(CALL).is_some_and(|row| CALLS[row].effect == Effect::Rma)
}

impl Tracker {
    /// `MPI_Win_sync` makes this process's stores public.
    pub(super) fn publish(&mut self, handle: usize) {
        if !self.rma.windows.get(handle).is_some_and(|window| window.made.separate) {
            return;
        }
        let segment = self.end_segment();
        if let Some(window) = self.rma.windows.get_mut(handle) {
            window.publish(segment);
        }
    }

    /// This process's private copy of a window includes from now on what others have done to it.
    pub(super) fn update_view(
        &mut self,
        handle: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get(handle).filter(|w| w.made.separate) else { return };
        let name = window.name;
        self.acquired(place, out);
        let updates = self.rma.remotes.view_updated(name);
        let stores =
            match updates.iter().filter_map(|(first, _)| first.separate).min_by_key(|s| s.public) {
                Some(oldest) => self.stores_since(handle, oldest.public),
                None => return,
            };
        for (first, access) in updates {
            self.meets_stores(&first, &access, &stores, place, out);
        }
    }

    /// Stores of this process to a window after a segment, one for each instruction.
    fn stores_since(&self, handle: usize, segment: u32) -> Vec<(Past, Range<usize>)> {
        let mut stores: Vec<(Past, Range<usize>)> = Vec::new();
        let (Some(window), Some(exposed)) = (self.rma.windows.get(handle), &self.rma.exposed)
        else {
            return stores;
        };
        for memory in &window.memory {
            // Only stores conflict with a read.
            exposed.shadow().conflicts(memory, Mode::Read, |past, bytes| {
                let known_place = stores.iter().any(|(other, _)| other == &past);
                if past.when.segment > segment && !known_place && !is_result(&past) {
                    stores.push((past, bytes));
                }
                stores.len() < MAX_STORES
            });
        }
        stores
    }

    /// Checks an update against stores to other bytes. Stores to its own bytes have been checked
    /// before.
    fn meets_stores(
        &mut self,
        first: &Remote,
        access: &Access,
        stores: &[(Past, Range<usize>)],
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(separate) = first.separate else { return };
        let shared: Vec<usize> = stores
            .iter()
            .filter(|(_, bytes)| access.footprint.within(bytes).is_some())
            .map(|(past, _)| past.pc)
            .collect();
        for (past, bytes) in stores {
            let kept_away = self.rma.windows.named(first.window).is_none_or(|window| {
                window.was_locked(past.when.segment, first.epoch, first.origin)
            });
            if past.when.segment <= separate.public || shared.contains(&past.pc) || kept_away {
                continue;
            }
            let (first, access) = (first.clone(), access.clone());
            let meeting = Meeting { first, access, bytes: bytes.clone(), missed_by: None };
            self.report_past_meeting(Code::ViewsDiffer, past, &meeting, place, out);
        }
    }
}
