//! Receives from any rank, followed by [`crate::races`].
//!
//! **Soundness.** Nothing is said of a program that commsan has not compiled, since its accesses to
//! received data are not seen; nor of one with several threads in MPI, or with windows: there other
//! ranks may be informed by this one without a call.

use super::{Accounts, Tracker};
use crate::buffers::{Accesses, Args, Library};
use crate::ids::{On, Token};
use crate::races::{Content, KEPT, Races, Replacing, Wanted};
use commsan_callsite::{Findings, Place, Stacks};
use commsan_findings::Role;
use commsan_findings::record::{RawRace, Record};
use commsan_shadow::{Access, Mode};
use std::ops::Range;

/// What a receive has received.
#[derive(Clone, Debug)]
pub struct Got {
    /// Rank in the communicator.
    pub source: i32,
    /// The tag.
    pub tag: i32,
    /// The status from which the program may find that out, if it asked for one.
    pub status: Option<Range<usize>>,
}

/// What may still happen to receives from any rank.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// There is a receive from any rank that might have got another message.
    pub possible: bool,
    /// For some such receive that holds only while this process informs no other rank.
    pub secret: bool,
    /// Receives are no longer followed.
    pub useless: bool,
}

/// Reads memory as far as the program may read it; returns how many bytes it got.
pub type Read<'a> = &'a dyn Fn(usize, &mut [u8]) -> usize;

impl Races {
    fn received_from(
        &mut self,
        position: u64,
        sender: Option<(u32, i32)>,
        got: Option<Got>,
        read: Read,
    ) {
        let content = self.buffer(position).and_then(|buffer| {
            let mut bytes = [0; KEPT];
            let length = read(buffer.start, &mut bytes[..buffer.len().min(KEPT)]);
            (length > 0).then_some(Content { address: buffer.start, bytes, length })
        });
        self.complete(position, sender, got.and_then(|got| got.status), content);
    }

    /// The program, or an MPI call, accesses memory. Returns whether that is the status of the last
    /// probe for messages of any rank.
    pub(super) fn race_for(
        &mut self,
        stacks: &mut Stacks,
        access: &Access,
        call: Option<&'static str>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> bool {
        let seen = self.touched(access, place.pc());
        if let Some((number, Replacing { comm, first, last })) = seen.used {
            let race = RawRace {
                name: comm,
                taker: (Role::Operation, first.by),
                instead_of: first.sender,
                left: (Role::Operation, last.by),
                sender: last.sender,
                used: Some((number, (Role::Access, place.site(call, stacks)))),
            };
            out.emit(Record::Race(race), stacks);
        }
        if let Some(number) = seen.known {
            out.emit(Record::Known { used: number }, stacks);
        }
        seen.looked
    }

    /// Writes the receives that may wait for ever to the log.
    pub(super) fn write(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        for race in self.finish() {
            let race = RawRace {
                name: race.comm(),
                taker: (Role::Operation, race.taker),
                instead_of: race.instead_of,
                left: (Role::Access, race.left()),
                sender: race.sender(),
                used: None,
            };
            out.emit(Record::Race(race), stacks);
        }
    }
}

impl Tracker {
    /// A call has received a message (`Ok`), or is to receive it with a request (`Err`).
    pub fn receive<L: Library>(
        &mut self,
        args: &Args,
        accesses: Accesses,
        state: Result<Option<Got>, usize>,
        read: Read,
        place: &impl Place,
    ) {
        if !self.thread_calls.sees_all || self.threads.actor.is_some() || self.rma.windows.len() > 0
        {
            return self.accounts.races.give_up_all();
        }
        let at = &args.call.at;
        let (Some(comm), Some(source), Some(tag)) = (at.comm, at.source, at.received_tag) else {
            return;
        };
        let (comm, source, tag) = (args.words[comm], args.int(source), args.int(tag));
        let known = self.together.on.find(On::Comm(comm)).filter(|known| known.name != 0);
        let Some(known) = known else { return };
        let member = |source: i32| known.members.get(usize::try_from(source).ok()?).copied();
        let wanted = Wanted { comm: known.name, tag: (tag >= 0).then_some(tag) };
        if source == L::PROC_NULL {
            return;
        }
        let stacks = &mut self.reporter.stacks;
        let mut by = || place.site(Some(&args.call.name), stacks);
        if let Some(sender) = member(source) {
            return self.accounts.races.receive(sender, wanted, by);
        }
        let by = by();
        let buffer = accesses.into_iter().flatten().find(|access| access.mode == Mode::Write);
        let position = self.accounts.races.post(wanted, by, state.as_ref().err().copied(), buffer);
        if let (Some(position), Ok(got)) = (position, state) {
            let sender = got.as_ref().and_then(|got| Some((member(got.source)?, got.tag)));
            self.accounts.races.received_from(position, sender, got, read);
        }
    }

    /// A request is complete.
    pub fn has_received(&mut self, token: Token, got: Option<Got>, read: Read) {
        let Some((position, comm)) = self.accounts.races.of_request(token.key) else { return };
        let sender = got.as_ref().and_then(|got| {
            let (_, known) = self.together.on.named().find(|(_, known)| known.name == comm)?;
            Some((*known.members.get(usize::try_from(got.source).ok()?)?, got.tag))
        });
        self.accounts.races.received_from(position, sender, got, read);
    }

    /// A probe for any rank has found a message: what the program receives next may depend on that.
    pub fn probed_anybody(&mut self, comm: usize) {
        if let Some(known) = self.together.on.find(On::Comm(comm)) {
            self.accounts.races.give_up(known.name);
        }
    }
}

impl Accounts {
    /// What may still become of receives from any rank.
    pub fn races_stand(&self) -> Standing {
        Standing {
            possible: self.races.are_possible(),
            secret: self.races.are_secret(),
            useless: self.races.are_useless(),
        }
    }

    /// Whether it matters what the program finds out of a status.
    pub fn watches_a_status(&self) -> bool {
        self.races.watch_any_status()
    }

    /// The program may know what this request has received.
    pub fn may_know(&mut self, token: Token) {
        self.races.forget(token.key);
    }

    /// Other ranks may act upon what this process knows.
    pub fn inform_others(&mut self) {
        self.races.inform_others();
    }
}
