//! Pending operations, with what findings say of them.

use super::targets::There;
use crate::buffers::Args;
use crate::ids::Of;
use crate::threads::Retired;
use commsan_callsite::{Place, Site, Stacks, Subscribers};
use commsan_findings::Role;
use commsan_findings::record::RawOperation;
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Epoch};

/// An operation in flight.
#[derive(Debug)]
pub struct Operation {
    /// The call whose operation it is: `MPI_Isend`, `MPI_Send_init`.
    pub call: &'static Call,
    /// The other rank, if the call names one.
    pub peer: Option<i32>,
    /// The message tag, if the call names one.
    pub tag: Option<i32>,
    /// The communicator or file it belongs to, and which of its collectives it is.
    pub of: Of,
    /// Number of the window, of one-sided operations.
    pub window: Option<u32>,
    /// Where the window begins, if the finding is about its memory.
    pub base: Option<usize>,
    /// Where the operation was started.
    pub site: Site,
    /// Where its persistent request was made, if it is one of such a request.
    pub made: Option<Site>,
    /// When it was started on a window, if there were several threads.
    pub(super) since: Epoch,
    /// Its access at the target, if there were several threads.
    pub(super) there: Option<Box<There>>,
    /// Set when it is complete, while some thread may not come after that.
    pub(super) retired: Option<Retired>,
    /// Its completion will count as known to all threads.
    pub(super) known_to_all: bool,
    /// Whether a use of its buffers was found, and reported unless that was known.
    pub(super) is_reported: bool,
    /// It may be complete: its request had the handle of another one that was completed, and
    /// nothing shows where the program has stored the two.
    pub(super) may_be_complete: bool,
    /// Findings that are to receive the site of its completion.
    pub(super) findings: Subscribers,
    /// Frame pointer of the function on whose stack the buffer lies.
    pub(super) frame: Option<usize>,
    /// An address of the buffer on the stack.
    pub(super) on_stack: usize,
    /// Position among the operations of the same frame.
    pub(super) position: u32,
}

impl Operation {
    /// Whether it is one-sided: no other rank calls something for it.
    pub(super) fn is_one_sided(&self) -> bool {
        self.window.is_some() || self.call.symmetric.is_some()
    }

    /// The operation as findings describe it.
    pub(super) fn described(&self) -> RawOperation<'static> {
        RawOperation {
            peer: self.peer,
            tag: self.tag,
            window: self.window,
            base: self.base.map(|base| base as u64),
            ..RawOperation::of(&self.call.name)
        }
    }

    /// The places of a finding about it: another one first, if there is one, then where it was
    /// started, and where its request was made.
    pub(super) fn places(
        &self,
        other: Option<(Role, Site)>,
    ) -> impl Iterator<Item = (Role, Site)> + use<> {
        let made = self.made.map(|site| (Role::Cause, site));
        other.into_iter().chain([(Role::Operation, self.site)]).chain(made)
    }

    /// The operation as findings describe it, with the bytes that one of its accesses covers.
    pub(super) fn described_with(&self, access: &Access) -> RawOperation<'static> {
        let Access { mode, footprint } = access;
        self.described().with_access(mode.is_write(), &footprint.span(), footprint.bytes())
    }

    pub(super) fn new(args: &Args, place: &impl Place, stacks: &mut Stacks) -> Operation {
        let (peer, tag) = envelope(args);
        let site = place.site(Some(&args.call.name), stacks);
        Operation { peer, tag, ..Operation::at(args.call, site) }
    }

    /// An operation known by its place only.
    pub(super) fn at(call: &'static Call, site: Site) -> Operation {
        Operation {
            call,
            peer: None,
            tag: None,
            of: Of::default(),
            window: None,
            base: None,
            site,
            made: None,
            since: Epoch::default(),
            there: None,
            retired: None,
            known_to_all: false,
            is_reported: false,
            may_be_complete: false,
            findings: Subscribers::default(),
            frame: None,
            on_stack: 0,
            position: 0,
        }
    }

    pub(super) fn copy(&self) -> Operation {
        Operation {
            findings: Subscribers::default(),
            there: None,
            retired: None,
            known_to_all: false,
            is_reported: false,
            may_be_complete: false,
            ..*self
        }
    }
}

/// The peer and tag that a call names; `None` for wildcards.
pub(super) fn envelope(args: &Args) -> (Option<i32>, Option<i32>) {
    let value = |at: Option<usize>| at.map(|index| args.int(index)).and_then(non_negative);
    (value(args.call.at.peer), value(args.call.at.tag))
}

/// A peer or tag; `None` if it is negative, a wildcard.
pub(super) fn non_negative(value: i32) -> Option<i32> {
    (value >= 0).then_some(value)
}
