//! What an MPI call touches, against what is pending and against itself.

use super::{Reporter, Tracker};
use crate::buffers::{Accesses, Args};
use commsan_callsite::{Findings, Place, Report, Side};
use commsan_findings::{Code, Role};
use commsan_shadow::{Access, Mode};

impl Tracker {
    /// Checks what an MPI call touches, or will touch from now on, against pending operations
    /// and, unless that was due before the call, against itself.
    pub fn check(
        &mut self,
        args: &Args,
        accesses: &Accesses,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.check_all(args, accesses.iter().flatten(), place, out);
        if !args.is_aliased() {
            self.reporter.check_itself(args, accesses, place, out);
        }
    }

    /// Notes what a call has done to window memory.
    pub fn touched(&self, args: &Args, accesses: &Accesses, place: &impl Place) {
        // What others are sent has been read when they have got it.
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
                    self.accounts.races.race_for(
                        &mut self.reporter.stacks,
                        access,
                        Some(&args.call.name),
                        place,
                        out,
                    );
                }
                let name: &'static str = &args.call.name;
                self.meets_remotes(name, Some(name), access, place, out);
                if self.gpu.shares_memory() {
                    self.tell_time(Some(args.call));
                }
                self.gpu.meets(name, Some(name), access, place, out);
            }
            for conflict in conflicts.into_iter().flatten().flatten() {
                let by =
                    Side { by: &args.call.name, mode: access.mode, bytes: conflict.bytes.clone() };
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
        // A call that replaces its buffer reads and writes the same bytes by intention.
        let replaces = match &*args.call.accesses {
            [read, write] if read.in_place == Some(write.buffer) => {
                // MPI_IN_PLACE: the input is where the result goes, though the argument is not.
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
        let report = Report {
            code,
            access: Some(Side { by: &args.call.name, mode: b.mode, bytes }),
            operation: operation.party(),
            concerned: Some((a.mode, a.footprint.span(), a.footprint.bytes())),
            sites: &[(Role::Access, site), (Role::Operation, site)],
            threads: false,
            about: None,
        };
        self.report(&report, out);
    }
}
