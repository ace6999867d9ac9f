//! Operations whose active request was freed, which MPI 4.1 §3.7.3 allows for sends.
//!
//! Such a send is complete when a message says so (Example 3.13 there). Which message does, this
//! process cannot know: any communication since its start, before or after the request was freed,
//! counts as that one.

use super::Request;
use commsan_shadow::OpId;

/// Freed requests whose operations may not be complete.
#[derive(Default)]
pub(super) struct Detached {
    /// Requests made before this number have since seen a message that may imply their completion.
    informed: u64,
    ids: Vec<OpId>,
}

impl Detached {
    /// Whether this process has communicated since the request was made.
    pub fn may_be_complete(&self, request: &Request) -> bool {
        request.sequence < self.informed
    }

    /// These operations go on without a request.
    pub fn extend(&mut self, ids: impl IntoIterator<Item = OpId>) {
        self.ids.extend(ids);
    }

    /// Takes the last operation.
    pub fn pop(&mut self) -> Option<OpId> {
        self.ids.pop()
    }

    /// This process communicates; `now` is the number of the next request.
    pub fn communicated(&mut self, now: u64) {
        self.informed = now;
    }

    /// Takes the list, which is empty once this process has communicated, to reuse its capacity.
    pub fn take_list(&mut self) -> Vec<OpId> {
        std::mem::take(&mut self.ids)
    }

    /// Returns the list, emptied.
    pub fn return_list(&mut self, list: Vec<OpId>) {
        self.ids = list;
    }
}
