//! Messages that `MPI_Mprobe` and `MPI_Improbe` have matched, which only one call can receive from
//! then on (MPI 4.1 §3.8.2).

use super::{Accounts, Tracker};
use crate::buffers::{Args, Library};
use crate::ids::On;
use crate::ledger::Key;
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_findings::record::RawOperation;
use commsan_findings::{Code, Role};
use rustc_hash::FxHashMap;

/// The matching probe of each message that is not received yet, by the message's handle.
#[derive(Default)]
pub(super) struct Matched(FxHashMap<usize, (RawOperation<'static>, Site)>);

impl Matched {
    /// Reports matched messages that were never received.
    pub(super) fn report_left(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        let mut left: Vec<_> = self.0.drain().map(|(_, probe)| probe).collect();
        left.sort_unstable_by_key(|(_, site)| site.pc);
        for (operation, site) in left {
            if out.again(Code::MessageLost, 0, site.pc) {
                continue;
            }
            let report = Report::new(Code::MessageLost, operation, [(Role::Operation, site)]);
            out.report(report, site.pc, stacks);
        }
    }
}

impl Tracker {
    /// A matching probe has found the message with this handle: for all other receives it is gone.
    pub fn found_message<L: Library>(
        &mut self,
        args: &Args,
        message: usize,
        place: &impl Place,
        library: &L,
    ) {
        let (Some(comm), Some(source)) = (args.call.at.comm, args.call.at.source) else { return };
        let (comm, peer) = (args.words[comm], args.int(source));
        // The datatype is known only when the message is received.
        let key = Key {
            pc: place.pc(),
            comm,
            datatype: 0,
            peer,
            row: args.call.row,
            sends: false,
            empty: true,
        };
        self.count(args, key, 0, place, library);
        let operation = self.reporter.operation(args, place);
        self.accounts.matched.0.insert(message, (operation.described(), operation.site));
    }

    /// Receives from any rank on this communicator may depend on a probe.
    pub fn looks_for_message(&mut self, comm: usize) {
        if let Some(known) = self.together.on.find(On::Comm(comm)) {
            self.accounts.races.give_up(known.name);
        }
    }
}

impl Accounts {
    /// A call is about to receive the message with this handle.
    pub fn receives_message(&mut self, message: usize) {
        self.matched.0.remove(&message);
    }
}
