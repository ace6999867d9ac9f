//! Asynchronous work of this process other than MPI's operations, such as that of device streams.
//!
//! MPI orders nothing that a stream does, and a stream nothing that MPI does: who knows such work
//! implements [`OtherWork`], and the [`Tracker`](crate::Tracker) reports to it what may conflict
//! with it. Programs without such work pay for none of it: what is asked at each call is kept in a
//! [`Status`].

use commsan_callsite::{Findings, MetWork, Need, Place, Site, Stacks};
use commsan_job_shm::{RankTime, Rendezvous};
use commsan_shadow::{Access, Actor, Footprint, Mode, OpId};
use std::any::Any;
use std::ops::Range;

/// What is asked of other work at each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Marks in the page filter; hooks skip accesses while nobody has any.
    pub marked: usize,
    /// Ranges on stacks in use; hooks skip the ends of functions while nobody has any.
    pub on_stack: usize,
    /// Whether other processes use memory of this one, or it theirs.
    pub shares_memory: bool,
    /// Whether an access can meet something.
    pub is_busy: bool,
}

/// What knows of other work. By default there is none.
#[allow(unused_variables, reason = "there is no work")]
pub trait OtherWork: Any + Send {
    /// What there is to know without asking again.
    fn status(&self) -> Status {
        Status::default()
    }

    /// Whether there is work that the host has not waited for.
    fn has_work(&self) -> bool {
        false
    }

    /// The thread that acts from now on; `alone` where there is one only.
    fn act_as(&mut self, actor: Option<&Actor>, alone: bool) {}

    /// The time among ranks as of now; `None` where ranks do not exchange clocks.
    fn set_time(&mut self, time: Option<RankTime<&[u32]>>) {}

    /// A call of MPI, or the program itself, accesses memory.
    fn accessed(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        access: &Access,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
    }

    /// The program is about to give memory back.
    fn released(
        &mut self,
        by: &str,
        bytes: &Range<usize>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
    }

    /// The function with this frame is about to return.
    fn left(&mut self, frame: usize, place: &dyn Place, out: &mut dyn Findings) {}

    /// An operation of MPI has started that may use memory which other processes have open.
    fn operation_started(
        &mut self,
        id: OpId,
        accesses: &[Access],
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
    }

    /// Such an operation is over.
    fn operation_ended(&mut self, id: OpId, accesses: &[Access], call: &'static str) {}

    /// Work in flight that an access of another rank meets, with places in `stacks`.
    fn met_by(&mut self, access: &Access, stacks: &mut Stacks) -> Vec<MetWork> {
        Vec::new()
    }

    /// Work that ends from now on is kept until [`take_ended`](Self::take_ended).
    fn keep_ended(&mut self) {}

    /// Hands over what work certainly accessed that has ended since, with the address of its call.
    fn take_ended(&mut self, each: &mut dyn FnMut(usize, Mode, &Footprint)) {}

    /// The block of device memory that an address lies in.
    fn block_around(&self, address: usize) -> Option<Range<usize>> {
        None
    }

    /// Where the host waits for such work, and what this needs of other ranks of a job, with places
    /// in `stacks`; `None` if the host does not wait for it, or that is not known.
    fn needs(&self, job: (Rendezvous, u32), stacks: &mut Stacks) -> Option<(Site, Vec<Need>)> {
        None
    }

    /// Calls of other communication than MPI's that other ranks may need, by names and numbers as
    /// in a [`Need`]; `None` if they are not all known, or such work may call more by itself.
    fn entered(&self) -> Option<Vec<(u64, u32)>> {
        Some(Vec::new())
    }
}

/// No other work.
struct Nothing;

impl OtherWork for Nothing {}

/// Other work with its status.
pub(crate) struct Others {
    work: Box<dyn OtherWork>,
    status: Status,
    /// Whether it is used.
    is_used: bool,
}

impl Default for Others {
    fn default() -> Others {
        Others::new(Box::new(Nothing))
    }
}

impl Others {
    pub fn new(work: Box<dyn OtherWork>) -> Others {
        Others { work, status: Status::default(), is_used: false }
    }

    #[inline]
    pub fn status(&self) -> Status {
        self.status
    }

    #[inline]
    pub fn is_used(&self) -> bool {
        self.is_used
    }

    /// Without a look at the status afterwards, for what does not change it.
    pub fn work(&mut self) -> &mut dyn OtherWork {
        &mut *self.work
    }

    pub fn block_around(&self, address: usize) -> Option<Range<usize>> {
        self.work.block_around(address)
    }

    /// There is other work from now on, whose thread is `actor`.
    pub fn use_by(&mut self, actor: Option<&Actor>) -> &mut dyn OtherWork {
        if !self.is_used {
            self.is_used = true;
            self.work.act_as(actor, false);
        }
        &mut *self.work
    }

    /// Takes over what may have changed.
    pub fn refresh(&mut self) {
        self.status = self.work.status();
    }

    #[inline]
    pub fn accessed(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.status.is_busy {
            self.work.accessed(by, call, access, place, out);
            self.refresh();
        }
    }

    #[inline]
    pub fn released(
        &mut self,
        by: &str,
        bytes: &Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.status.is_busy {
            self.work.released(by, bytes, place, out);
            self.refresh();
        }
    }

    #[inline]
    pub fn left(&mut self, frame: usize, place: &impl Place, out: &mut dyn Findings) {
        if self.status.on_stack != 0 {
            self.work.left(frame, place, out);
            self.refresh();
        }
    }

    #[inline]
    pub fn act_as(&mut self, actor: Option<&Actor>, alone: bool) {
        if self.is_used {
            self.work.act_as(actor, alone);
        }
    }
}
