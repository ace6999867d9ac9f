//! Messages that `MPI_Mprobe` and `MPI_Improbe` have found, and which only one call can receive from then on (MPI 4.1
//! §3.8.2).

use super::{Accounts, Tracker};
use crate::buffers::{Args, Library};
use crate::ids::On;
use crate::ledger::Key;
use commsan_callsite::{Findings, Party, Place, Report, Stacks};
use commsan_findings::{Code, Role};
use rustc_hash::FxHashMap;

/// What found each message that is not received yet, by its handle.
#[derive(Default)]
pub(super) struct Matched(FxHashMap<usize, Party>);

impl Matched {
    /// Reports those that nothing has received.
    pub(super) fn report_left(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        let mut left: Vec<Party> = self.0.drain().map(|(_, party)| party).collect();
        left.sort_unstable_by_key(|party| party.site.pc);
        for party in left {
            let site = party.site;
            if out.again(Code::MessageLost, 0, site.pc) {
                continue;
            }
            let report = Report {
                code: Code::MessageLost,
                access: None,
                operation: party,
                concerned: None,
                sites: &[(Role::Operation, site)],
                threads: false,
                about: None,
            };
            out.report(&report, stacks);
        }
    }
}

impl Tracker {
    /// A call has found the message with this handle: for all others it is received.
    pub fn found_message<L: Library>(
        &mut self,
        args: &Args,
        message: usize,
        place: &impl Place,
        library: &L,
    ) {
        let (Some(comm), Some(source)) = (args.call.at.comm, args.call.at.source) else { return };
        let (comm, peer) = (args.words[comm], args.int(source));
        // How it is received is known only when it is.
        let key = Key {
            pc: place.pc(),
            comm,
            datatype: 0,
            peer,
            row: args.call.row,
            sends: false,
            empty: true,
        };
        self.count(args, key, place, library);
        let party = self.reporter.operation(args, place).party();
        self.accounts.matched.0.insert(message, party);
    }

    /// What receives from any rank get on this communicator may depend on a probe.
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
