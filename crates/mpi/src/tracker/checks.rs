//! Checks the buffers of an MPI call against pending operations and against each other.

use super::{Reporter, Tracker};
use crate::buffers::{Accesses, Args};
use commsan_callsite::{Findings, Place, Report};
use commsan_findings::record::RawAccess;
use commsan_findings::{Code, Role};
use commsan_shadow::{Access, Mode};

impl Tracker {
    /// Checks the buffers of an MPI call, or of the operation that it starts, against pending
    /// operations and, unless that was done before the call, against each other.
    pub fn check(
        &mut self,
        args: &Args,
        accesses: &Accesses,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.check_all(args, accesses.iter().flatten(), place, out);
        if !args.are_apart {
            self.reporter.check_itself(args, accesses, place, out);
        }
    }

    /// Records what a call has done to window memory.
    pub fn touched(&self, args: &Args, accesses: &Accesses, place: &impl Place) {
        // When others receive the data, it has been read: the read belongs to the segment before.
        let sends = args.call.at.dest.is_some() || args.call.collective;
        let before = self.rma.clock.as_ref().filter(|_| sends).map(|clock| clock.segment() - 1);
        for access in accesses.iter().flatten() {
            let when = before.filter(|_| access.mode == Mode::Read);
            self.note(access, args.call, place.pc(), when);
        }
    }

    pub(super) fn check_all<'a>(
        &mut self,
        args: &Args,
        accesses: impl Iterator<Item = &'a Access>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        for access in accesses {
            let conflicts = self.conflicts(access);
            if conflicts.is_some() {
                if access.mode == Mode::Read {
                    let call = Some(args.call.name.as_str());
                    let stacks = &mut self.reporter.stacks;
                    if self.accounts.races.race_for(stacks, access, call, place, out) {
                        self.looked(call, place, out);
                    }
                }
                let name: &'static str = &args.call.name;
                self.meets_remotes(name, Some(name), access, place, out);
                if self.others.status().shares_memory {
                    self.publish_time(Some(args.call));
                }
                self.others.accessed(name, Some(name), access, place, out);
            }
            for conflict in conflicts.into_iter().flatten().flatten() {
                let by = RawAccess::new(&args.call.name, access.mode.is_write(), &conflict.bytes);
                let code = Code::OperationsOverlap;
                self.report(code, Role::Access, by, Some(&args.call.name), &conflict, place, out);
            }
            self.meets_threads(args, access, place, out);
        }
    }
}

impl Reporter {
    /// Checks the buffers of an MPI call against each other.
    pub fn check_itself(
        &mut self,
        args: &Args,
        accesses: &Accesses,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        for (i, a) in accesses.iter().enumerate().filter_map(|(i, a)| Some((i, a.as_ref()?))) {
            for b in accesses[i + 1..].iter().flatten() {
                self.check_pair(args, a, b, place, out);
            }
        }
    }

    fn check_pair(
        &mut self,
        args: &Args,
        a: &Access,
        b: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        // A call that replaces its buffer reads and writes the same bytes by design.
        let replaces = match &*args.call.accesses {
            [read, write] if read.in_place == Some(write.buffer) => {
                // `MPI_IN_PLACE`: the input lies where the result goes, though the argument
                // differs.
                args.words[read.buffer] != args.words[write.buffer]
                    && a.footprint.span().start == b.footprint.span().start
            }
            [read, write] => read.buffer == write.buffer,
            _ => false,
        };
        if replaces || a.mode == Mode::Read && b.mode == Mode::Read {
            return;
        }
        let Some(bytes) = a.footprint.meets(&b.footprint) else { return };
        let (pc, code) = (place.pc(), Code::OperationsOverlap);
        if out.again(code, pc, pc) {
            return;
        }
        let operation = self.operation(args, place);
        let site = operation.site;
        let sites = [(Role::Access, site), (Role::Operation, site)];
        let report = Report {
            access: Some(RawAccess::new(&args.call.name, b.mode.is_write(), &bytes)),
            ..Report::new(code, operation.described_with(a), sites)
        };
        self.report(report, &site, out);
    }
}
