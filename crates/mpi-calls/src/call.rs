//! One row of the table of calls, and facts that follow from it.

use crate::{
    Demand, Effect, Fit, Flow, Message, Object, On, Param, Pointee, Positions, Role, Rule,
};
use commsan_shadow::Mode;

/// One MPI call.
#[derive(Debug)]
pub struct Call {
    /// C name, `MPI_Isend`.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// What the call does to requests, objects and the library.
    pub effect: Effect,
    /// What it, or the operation it starts, does to buffers.
    pub accesses: Vec<Rule>,
    /// Whether counts are `MPI_Count` (the `_c` twin).
    pub large: bool,
    /// Whether it is a collective.
    pub collective: bool,
    /// The flow of data in a collective: from which ranks to which.
    pub flow: Flow,
    /// Whether it is a send that is complete only when the receive has started.
    pub synchronous: bool,
    /// Its number in the table.
    pub row: u32,
    /// The number of the twin without large counts: what it is, whatever its arguments' types.
    pub kind: u32,
    /// Whether ranks enter it together, in the order in which each calls such calls.
    pub enters: bool,
    /// Whether it may wait until other ranks call something, and for nothing else.
    pub waits: bool,
    /// What of its data is the same on all ranks.
    pub fit: Fit,
    /// Whether each pair of ranks has amounts of its own, which this call says.
    pub parts: bool,
    /// Positions of its parameters.
    pub at: Positions,
    /// Whether the only access is one run of elements, on every rank.
    pub simple: bool,
    /// The message that it sends.
    pub sent: Option<Message>,
    /// The message that it receives.
    pub received: Option<Message>,
    /// What it demands of single arguments.
    pub demands: Vec<(usize, Demand)>,
    /// What its other pointers lead to.
    pub pointees: Vec<Pointee>,
    /// Parameters that must have the same value on all ranks; at most as many as the rendezvous of
    /// collectives has room for.
    pub alike: Vec<usize>,
    /// What it makes, and the parameter where it stores the handle.
    pub makes: Option<(Object, usize)>,
    /// What it frees, of which it is given the variable of a handle first.
    pub frees: Option<Object>,
    /// Whether it calls functions of the program that may call MPI as they like: the copy and
    /// delete functions of attributes (MPI 4.1 §7.7).
    pub calls_back: bool,
    /// Whether counts, displacements or datatypes are arrays.
    pub has_arrays: bool,
    /// Whether it makes an error handler.
    pub makes_handler: bool,
    /// Whether it says by which handler errors are handled.
    pub sets_handler: bool,
    /// Whether it explains an error code.
    pub explains_errors: bool,
    /// The row of OpenSHMEM's table, of its calls.
    pub symmetric: Option<&'static commsan_shmem_calls::Call>,
}

impl Call {
    /// Its name without `MPI_`.
    pub fn bare_name(&self) -> &str {
        self.name.split_once('_').map_or(&*self.name, |(_, name)| name)
    }

    /// Whether it ends what the program has of MPI: of a session, if it is the last.
    pub fn ends(&self) -> bool {
        matches!(self.effect, Effect::Finalize | Effect::SessionEnd)
            || self.symmetric_kind() == Some(commsan_shmem_calls::Kind::Finalize)
    }

    /// How many arguments Fortran passes: one per parameter, `ierror`, and then the length of each
    /// string.
    pub fn fortran_arguments(&self) -> (usize, usize) {
        let count = |is: fn(&Param) -> bool| self.params.iter().filter(|param| is(param)).count();
        (count(Param::in_fortran) + 1, count(|param| param.role == Role::Text))
    }

    /// Whether its datatypes must be committed (MPI 4.1 §5.1.9), as those of a file's view.
    pub fn communicates(&self) -> bool {
        let moves = !matches!(self.effect, Effect::Pack | Effect::Unpack | Effect::Local);
        let file = self.at.file.is_some()
            && (!self.accesses.is_empty() || self.named("filetype").is_some());
        moves && (self.at.comm.is_some() || self.at.win.is_some() || file)
    }

    /// The ranks of an intracommunicator on which the buffer of an access may be `MPI_IN_PLACE`
    /// (MPI 4.1 chapter 6); `None` where it may be on no rank.
    pub fn in_place_on(&self, rule: &Rule) -> Option<On> {
        if matches!(self.flow, Flow::None | Flow::Neighbours) {
            return None;
        }
        let is_other = |other: &&Rule| other.mode != rule.mode && other.buffer != rule.buffer;
        let other = self.accesses.iter().find(is_other)?;
        match (rule.mode, rule.on, other.on) {
            (Mode::Read, On::All, On::Root) | (Mode::Write, On::All, On::Root) => Some(On::Root),
            (Mode::Read, On::All, _) => Some(On::All),
            _ => None,
        }
    }

    /// Whether it looks for a message and leaves it where it is.
    pub fn probes(&self) -> bool {
        self.accesses.is_empty() && self.at.source.is_some()
    }

    /// Whether it returns when it has received, and does nothing else with other ranks.
    pub fn only_receives(&self) -> bool {
        let receives = self.at.source.is_some() && !self.accesses.is_empty();
        self.effect == Effect::Block && receives && self.at.dest.is_none() && !self.enters
    }

    /// Whether those of a group make a communicator by it, without all others of the old one.
    pub fn is_by_group(&self) -> bool {
        self.effect == Effect::Block && self.makes.is_some() && !self.collective
    }

    /// Whether no other process takes part: it asks for what this one knows, or makes or frees what
    /// only this one has. Communicators are made with others.
    pub fn is_alone(&self) -> bool {
        let is_shared = self.makes.is_some_and(|(object, _)| object == Object::Comm);
        matches!(self.effect, Effect::Local | Effect::Ask) && !is_shared
    }

    /// Whether its active request may be freed: that of a send to one rank (MPI 4.1 §3.7.3), and of
    /// a request-based one-sided operation, on which the standard is not consistent (§12.3.5).
    pub fn may_be_freed(&self) -> bool {
        let reads_only = self.accesses.iter().all(|rule| rule.mode == Mode::Read);
        let whole = self.effect != Effect::InitPartitioned;
        let sends = self.at.dest.is_some() && reads_only && whole;
        !self.collective && (sends || self.at.win.is_some())
    }

    /// Whether it may wait until other ranks enter it, too. `MPI_Comm_free` is expected to return
    /// without (MPI 4.1 §7.4.3).
    pub fn blocks(&self) -> bool {
        let frees = self.effect == Effect::CommFree;
        self.enters && !frees && !matches!(self.effect, Effect::Start | Effect::Init)
    }

    /// Whether the checker needs the status that it returns.
    pub fn needs_status(&self) -> bool {
        let completes_one =
            matches!(self.effect, Effect::Wait | Effect::Test | Effect::WaitAny | Effect::TestAny);
        completes_one || matches!(self.effect, Effect::Block | Effect::SplitEnd)
    }

    /// Index of the parameter with this name; for calls that are rare.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }
}
