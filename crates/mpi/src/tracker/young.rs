//! The nursery's operations in the tracker: most end before more than their bytes is needed.

use super::guarded::ClosedFor;
use super::operation::non_negative;
use super::{Operation, Tracker};
use crate::buffers::Args;
use crate::ids::Token;
use crate::nursery::Young;
use crate::requests::{Request, State};
use commsan_callsite::{Place, Site};
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Footprint, Mode};
use std::ops::Range;

impl Tracker {
    /// Starts an operation on contiguous memory in the nursery, if it is simple and touches nothing
    /// pending.
    pub fn start_young(
        &mut self,
        args: &Args,
        bytes: &Range<usize>,
        (key, variable): (usize, usize),
        place: &impl Place,
    ) -> bool {
        let mode = args.call.accesses.first().map_or(Mode::Read, |rule| rule.mode);
        let guards = self.operations.guards.as_ref();
        if guards.is_some_and(|guards| guards.want(bytes, mode == Mode::Write, place.pc())) {
            return false;
        }
        let strange =
            !self.requests.is_empty() && (self.requests.hold(variable) || !self.requests.lack(key));
        let strange = strange || self.others.status().shares_memory;
        if self.threads.actor.is_some() || strange || !self.nursery.has_room(key, variable) {
            return false;
        }
        if !self.pages.claim(bytes, mode) {
            return false;
        }
        let (of, tag) =
            (self.together.of(args), args.call.at.tag.map_or(-1, |index| args.int(index)));
        let (stack, frame) = match bytes.is_empty() {
            true => (place.stack(&mut self.reporter.stacks), None),
            false => place.stack_around(bytes.start, &mut self.reporter.stacks),
        };
        let guards = self.operations.guards.as_mut();
        let sum = guards.and_then(|guards| guards.begin_small(bytes, mode == Mode::Write));
        self.nursery.push(Young {
            key,
            variable,
            sequence: self.requests.take_sequence(),
            call: args.call,
            tag,
            of,
            thread: place.thread(),
            stack,
            pc: place.pc(),
            mode,
            bytes: bytes.clone(),
            frame,
            sum,
        });
        true
    }

    /// Moves the operations of the nursery to the full structures.
    pub(super) fn settle(&mut self) {
        if self.nursery.is_empty() {
            return;
        }
        for young in self.nursery.leave() {
            let Young { call, of, thread, stack, pc, frame, sum, .. } = young;
            let peer = call.at.peer.and_then(|_| non_negative(of.peer));
            let tag = non_negative(young.tag);
            let site = Site { call: Some(&call.name), thread, stack, pc, remote: None };
            let on_stack = young.bytes.start;
            let operation =
                Operation { peer, tag, of, frame, on_stack, ..Operation::at(call, site) };
            let bytes = young.bytes;
            let footprint = Footprint::Dense(bytes.clone());
            let id = self
                .operations
                .live
                .begin(&mut [Some(Access { mode: young.mode, footprint })], operation);
            // `begin` has marked them again.
            self.pages.unmark(bytes.clone(), young.mode);
            self.operations.enter_frame(id);
            if let Some((guards, sum)) = self.operations.guards.as_mut().zip(sum) {
                guards.keep(ClosedFor::Operation(id), bytes, sum);
            }
            let request = Request::new(young.key, young.variable, young.call, State::Active(id));
            self.requests.insert_as(request, young.sequence);
        }
    }

    /// Moves the operations of the nursery to the full structures if the buffer of this one is not
    /// as it was when it started.
    pub(super) fn settle_if_altered(&mut self, token: Token) {
        let Some(guards) = &mut self.operations.guards else { return };
        let summed = self.nursery.summed(token);
        if summed.is_some_and(|(bytes, sum)| guards.is_changed(bytes, sum)) {
            self.settle();
        }
    }

    /// Moves the operations of the nursery, or the young ones of windows, to the full structures if
    /// an access conflicts with one of them.
    pub(super) fn settle_if_met(&mut self, access: &Access) {
        if self.nursery.meets(access) {
            self.settle();
        }
        if self.rma.windows.meet(access) {
            self.settle_rma();
        }
    }

    /// An operation of the nursery, or a young one of a window, is complete.
    #[inline]
    pub(super) fn end_young(
        &mut self,
        call: &'static Call,
        pc: usize,
        mode: Mode,
        bytes: Range<usize>,
    ) {
        self.pages.unmark(bytes.clone(), mode);
        if self.rma.exposed.is_some() {
            let access = Access { mode, footprint: Footprint::Dense(bytes) };
            self.note(&access, call, pc, self.rma.noted_as_of);
        }
    }
}
