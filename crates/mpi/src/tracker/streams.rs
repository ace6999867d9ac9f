//! Communicators whose operations streams of devices may carry out (MPICH's extension), and other
//! libraries that order ranks: what that means for accounts and for order between ranks.
//!
//! **Soundness.** When an operation is carried out, only its stream knows. Its message counts from
//! the call on, since it is sent and received some time. But in which order messages meet is not
//! known on such a communicator, so that receives from any rank are not followed there, nor
//! collectives once one was put into a stream. Of order between ranks too much is assumed: what is
//! put into a stream releases all that this process has done, and a member of such a communicator
//! has acquired, at each call of MPI and of streams, all that any rank has released.

use super::{Acquisition, Tracker};
use crate::buffers::Args;
use crate::ids::On;
use commsan_callsite::{Findings, Place};
use commsan_shadow::Access;

/// An operation for a stream, or what waits for operations there, as the streams need it.
pub struct Enqueued<'a> {
    /// The call.
    pub call: &'static str,
    /// The stream, by the handle that the program has passed to the library.
    pub stream: usize,
    /// The communicator of the operation.
    pub comm: Option<usize>,
    /// What the operation uses.
    pub accesses: Vec<Access>,
    /// What becomes of it.
    pub step: Step<'a>,
}

/// What becomes of operations in a stream.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// The stream carries one out.
    Whole {
        /// Whether the stream waits for other ranks in it.
        waits: bool,
    },
    /// The stream begins one, which is known by a request.
    Begins {
        /// The request.
        request: usize,
        /// Whether it waits for other ranks.
        waits: bool,
    },
    /// The stream waits for those of these requests.
    Ends(&'a [usize]),
}

impl Tracker {
    /// A communicator was made that has streams.
    #[cold]
    pub fn has_streams(&mut self, comm: usize) {
        if let Some(known) = self.together.on.find(On::Comm(comm)) {
            self.accounts.races.give_up(known.name);
        }
        self.steps.end();
        self.rma.by_streams = true;
    }

    /// An operation of a communicator is about to be put into a stream.
    #[cold]
    pub fn enqueues(&mut self, args: &Args) {
        self.is_ordered_elsewhere();
        let Some(comm) = args.call.at.comm.map(|index| args.words[index]) else { return };
        self.has_streams(comm);
        if args.call.at.peer.is_none() {
            self.together.not_entered(On::Comm(comm));
        }
    }

    /// Another library may order this process before others from now on, and after them.
    #[cold]
    pub fn is_ordered_elsewhere(&mut self) {
        self.end_segment();
        self.accounts.inform_others();
        self.steps.end();
        self.rma.by_streams = true;
    }

    /// Streams may have ordered this process after whatever others have done.
    #[inline]
    pub fn acquire_from_streams(&mut self, place: &impl Place, out: &mut dyn Findings) {
        if self.rma.by_streams {
            self.acquire(&Acquisition::All, None, place, out);
        }
    }
}
