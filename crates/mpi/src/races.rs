//! Message races: receives from any rank that may take a message for which a later receive of that
//! sender waits.
//!
//! Receives are considered in the order in which they were posted, in which they match messages of
//! one sender (MPI 4.1 §3.5). A wildcard receive that got a message of one sender could also have
//! got the next one of another sender, if that could already be on its way. If a later receive got
//! that message and names its sender, this one would have needed the message after it, and so on.
//! Where no wildcard receive gives a message back in exchange, one of them waits forever.
//!
//! **Soundness.** That holds if what the rank does next does not depend on which message it got: as
//! soon as the program reads what a wildcard receive has received, or its status, that receive is
//! no longer considered. A message could be on its way if the rank has informed no other rank since
//! the receive was complete, so that no sender can have waited for it. Other orders between senders
//! are not known here: MPI orders messages of different senders only where sends are synchronous,
//! which the report considers. Missed are races of messages that could only be sent later, which
//! need other ranks' knowledge.

mod last;

pub(crate) use last::{Content, KEPT, Replacing, Seen};

use commsan_callsite::Site;
use commsan_shadow::{Access, Footprint, Live, Mode, OpId, Pages};
use last::{Lasts, Message};
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};

/// Wildcard receives, and races, that are remembered at most.
const MAX_WILDCARDS: usize = 16;
/// Communicators that are remembered as no longer followed, at most.
const MAX_GIVEN_UP: usize = 256;
/// How often memory on watched pages may be accessed before watching stops: each time is slow.
const MAX_TOUCHES: u32 = 10_000;

/// The messages that a receive matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The communicator's name.
    pub comm: u64,
    /// The tag; `None` for any.
    pub tag: Option<i32>,
}

/// A receive from any rank.
struct Wildcard {
    position: u64,
    wanted: Wanted,
    by: Site,
    /// Its request's handle, until it is complete.
    request: Option<usize>,
    /// The receive buffer.
    buffer: Option<Access>,
    /// The sender of its message, once it is complete.
    received: Option<u32>,
    /// The buffer and status, while the program has not read them.
    watch: Option<OpId>,
    /// The first bytes of the message.
    content: Option<Content>,
    /// Messages that later receives with a named source have got, or will get.
    later: SmallVec<[Later; 2]>,
    /// Senders whose next message this receive cannot have taken: a wildcard receive after this one
    /// got a message of theirs, and either it could not have taken the next one instead, or the
    /// program would have continued differently.
    settled: SmallVec<[u32; 2]>,
}

#[derive(Clone, Copy)]
struct Later {
    position: u64,
    /// Position of the wildcard receive that may take its message.
    taker: u64,
    sender: u32,
    /// What it waits for, restricted to what the wildcard receive may take.
    wanted: Wanted,
    by: Site,
}

impl Later {
    /// Whether it need not wait if the wildcard receive at `position`, which wanted this and has
    /// got a message of the same sender with this tag, takes another one.
    fn is_spared(&self, position: u64, wanted: Wanted, tag: i32) -> bool {
        let has_given = self.position < position && self.wanted.tag.is_none_or(|own| own == tag);
        let between = self.taker < position && position < self.position;
        self.wanted.comm == wanted.comm && (has_given || between && self.wanted != wanted)
    }
}

/// A receive that may wait forever.
#[derive(Clone)]
pub(crate) struct Race {
    later: Later,
    /// The wildcard receive that may take its message.
    pub taker: Site,
    /// The sender of the message that the wildcard receive has got.
    pub instead_of: u32,
}

impl Race {
    pub fn comm(&self) -> u64 {
        self.later.wanted.comm
    }

    /// The site of the receive that may wait forever.
    pub fn left(&self) -> Site {
        self.later.by
    }

    /// The source of the receive that may wait forever.
    pub fn sender(&self) -> u32 {
        self.later.sender
    }
}

impl Wildcard {
    /// This sender's next message cannot be taken by this receive, or would change what the program
    /// does.
    fn settle(&mut self, sender: u32) {
        if self.settled.len() < MAX_WILDCARDS && !self.settled.contains(&sender) {
            self.settled.push(sender);
        }
    }

    /// Whether this receive may take what a receive of this sender's messages has got, as far as is
    /// known. After many settled senders all count as settled.
    fn may_take(&self, sender: u32, wanted: Wanted) -> bool {
        let Wanted { comm, tag } = self.wanted;
        let is_free = self.settled.len() < MAX_WILDCARDS && !self.settled.contains(&sender);
        let is_other = self.received != Some(sender) && self.later.len() < MAX_WILDCARDS;
        comm == wanted.comm && (tag.is_none() || tag == wanted.tag) && is_free && is_other
    }
}

/// The wildcard receives of this process.
pub(crate) struct Races {
    watched: Live<u64>,
    /// In the order in which they were posted.
    wildcards: Vec<Wildcard>,
    found: Vec<Race>,
    lasts: Lasts,
    posted: u64,
    /// Names of communicators that are no longer followed.
    given_up: Vec<u64>,
    useless: bool,
    touches_left: u32,
    /// The status of the last probe for messages of any rank, until it is used.
    probed: Option<OpId>,
}

impl Races {
    pub fn new(pages: Pages) -> Races {
        Races::watching(Some(pages))
    }

    fn watching(pages: Option<Pages>) -> Races {
        Races {
            watched: pages.map_or_else(Live::unmarked, Live::new),
            lasts: Lasts::watching(pages),
            wildcards: Vec::new(),
            found: Vec::new(),
            posted: 0,
            given_up: Vec::new(),
            useless: false,
            touches_left: MAX_TOUCHES,
            probed: None,
        }
    }

    /// Reports from now on when the program looks at this status, and at no earlier one.
    pub fn watch_status(&mut self, status: Option<Range<usize>>) {
        if let Some(old) = self.probed.take() {
            self.watched.end(old);
        }
        self.probed = status.map(|bytes| {
            let access = Access { mode: Mode::Write, footprint: Footprint::Dense(bytes) };
            self.watched.begin(&mut [Some(access)], 0)
        });
    }

    /// Whether a status is watched.
    pub fn watch_any_status(&self) -> bool {
        self.probed.is_some()
    }

    /// Whether there is a wildcard receive that might have got another message.
    pub fn are_possible(&self) -> bool {
        !self.wildcards.is_empty()
    }

    /// Whether some of that holds only while this process informs no other rank.
    pub fn are_secret(&self) -> bool {
        self.wildcards.iter().any(|wildcard| wildcard.received.is_some())
    }

    /// Whether nothing is followed any more.
    pub fn are_useless(&self) -> bool {
        self.useless
    }

    /// Live ranges.
    pub fn ranges(&self) -> usize {
        self.watched.ranges() + self.lasts.ranges()
    }

    /// A wildcard receive is posted; returns its position.
    pub fn post(
        &mut self,
        wanted: Wanted,
        by: Site,
        request: Option<usize>,
        buffer: Option<Access>,
    ) -> Option<u64> {
        if self.useless || self.given_up.contains(&wanted.comm) {
            return None;
        }
        if self.wildcards.len() == MAX_WILDCARDS {
            self.drop_at(0);
        }
        self.posted += 1;
        let position = self.posted;
        self.wildcards.push(Wildcard {
            position,
            wanted,
            by,
            request,
            buffer,
            received: None,
            watch: None,
            content: None,
            later: SmallVec::new(),
            settled: SmallVec::new(),
        });
        Some(position)
    }

    /// The position and communicator of the wildcard receive with this request.
    pub fn of_request(&self, request: usize) -> Option<(u64, u64)> {
        let of = |wildcard: &&Wildcard| wildcard.request == Some(request);
        self.wildcards.iter().find(of).map(|wildcard| (wildcard.position, wildcard.wanted.comm))
    }

    /// The receive buffer at a position, if it is contiguous.
    pub fn buffer(&self, position: u64) -> Option<Range<usize>> {
        match self.wildcards[self.at(position)?].buffer.as_ref()? {
            Access { footprint: Footprint::Dense(bytes), .. } => Some(bytes.clone()),
            _ => None,
        }
    }

    /// A wildcard receive is complete; `sender` is `None` if it is not known. The program may find
    /// out from `status`.
    pub fn complete(
        &mut self,
        position: u64,
        sender: Option<(u32, i32)>,
        status: Option<Range<usize>>,
        content: Option<Content>,
    ) {
        let Some(at) = self.at(position) else { return };
        let wanted = self.wildcards[at].wanted;
        let Some((sender, tag)) = sender else {
            // It may have got any message, and given back any.
            self.found.retain(|race| race.comm() != wanted.comm);
            self.withdraw(|later| later.wanted.comm == wanted.comm);
            return self.drop_at(at);
        };
        let is_spared =
            |later: &Later| later.sender == sender && later.is_spared(position, wanted, tag);
        self.found.retain(|race| !is_spared(&race.later));
        self.withdraw(is_spared);
        let others = self.wildcards[..at].iter_mut().filter(|earlier| earlier.wanted != wanted);
        others.for_each(|earlier| earlier.settle(sender));
        if let Some(content) = content
            && let Some(replacing) = self.replacing(at, (sender, tag), content)
        {
            self.lasts.push(replacing, status.clone());
        }
        let wildcard = &mut self.wildcards[at];
        (wildcard.received, wildcard.request, wildcard.content) = (Some(sender), None, content);
        match wildcard.later.iter().find(|later| later.sender != sender).copied() {
            Some(later) => self.race(at, sender, later),
            None => {
                wildcard.later.clear();
                let access =
                    |bytes| Access { mode: Mode::Write, footprint: Footprint::Dense(bytes) };
                let mut watched = [wildcard.buffer.take(), status.map(access)];
                wildcard.watch = Some(self.watched.begin(&mut watched, position));
            }
        }
    }

    /// The message of this receive, and the one that it has replaced, if the two might have arrived
    /// in the other order.
    fn replacing(
        &self,
        at: usize,
        (sender, tag): (u32, i32),
        content: Content,
    ) -> Option<Replacing> {
        let Wildcard { wanted, by, .. } = self.wildcards[at];
        let others = self.wildcards[..at].iter().rev().filter(|other| other.wanted == wanted);
        others.filter(|_| wanted.tag.is_none_or(|wanted| wanted == tag)).find_map(|other| {
            let (before, content_before) = (other.received?, other.content?);
            let is_replaced = content_before.address == content.address && before != sender;
            let first = Message { by: other.by, sender: before, content: content_before };
            let last = Message { by, sender, content };
            is_replaced.then_some(Replacing { comm: wanted.comm, first, last })
        })
    }

    /// A receive that names its source is posted; `by` returns its site if that is needed.
    pub fn receive(&mut self, sender: u32, wanted: Wanted, by: impl FnOnce() -> Site) {
        self.posted += 1;
        let position = self.posted;
        if wanted.tag.is_none() {
            // Among messages of one tag, it may make room for another.
            let loosens = |later: &Later| {
                let is_same = (later.sender, later.wanted.comm) == (sender, wanted.comm);
                is_same && later.wanted.tag.is_some()
            };
            self.found.retain(|race| !loosens(&race.later));
            self.withdraw(loosens);
        }
        let takes = |wildcard: &Wildcard| wildcard.may_take(sender, wanted);
        if !self.wildcards.iter().any(takes) {
            return;
        }
        let by = by();
        // It is not known which message a receive of any tag would take.
        let later = |taker: &Wildcard| Later {
            position,
            taker: taker.position,
            sender,
            wanted: taker.wanted,
            by,
        };
        for at in 0..self.wildcards.len() {
            let wildcard = &mut self.wildcards[at];
            if !takes(wildcard) {
                continue;
            }
            let later = later(wildcard);
            if let Some(received) = wildcard.received {
                return self.race(at, received, later);
            }
            wildcard.later.push(later);
        }
    }

    /// The wildcard receive at this index may take what a later one has got.
    fn race(&mut self, at: usize, instead_of: u32, later: Later) {
        let taker = self.wildcards[at].by;
        self.drop_at(at);
        self.withdraw(|other| other.position == later.position);
        let is_known = |race: &Race| (race.taker.pc, race.left().pc) == (taker.pc, later.by.pc);
        if self.found.len() < MAX_WILDCARDS && !self.found.iter().any(is_known) {
            self.found.push(Race { later, taker, instead_of });
        }
    }

    /// Other ranks may act upon what this process knows.
    pub fn inform_others(&mut self) {
        for at in (0..self.wildcards.len()).rev() {
            if self.wildcards[at].received.is_some() {
                self.drop_at(at);
            }
        }
    }

    /// The program, or a call for it, accesses memory at a place.
    pub fn touched(&mut self, access: &Access, pc: usize) -> Seen {
        if self.ranges() == 0 {
            return Seen::default();
        }
        let mut seen = SmallVec::<[OpId; 4]>::new();
        let _ = self.watched.conflicts::<()>(access.mode, &access.footprint, |id, _, _| {
            if !seen.contains(&id) {
                seen.push(id);
            }
            ControlFlow::Continue(())
        });
        for at in (0..self.wildcards.len()).rev() {
            let Wildcard { watch, received, .. } = self.wildcards[at];
            if watch.is_some_and(|id| seen.contains(&id)) {
                self.drop_at(at);
                for earlier in &mut self.wildcards[..at] {
                    received.into_iter().for_each(|sender| earlier.settle(sender));
                }
            }
        }
        let looked = self.probed.is_some_and(|id| seen.contains(&id));
        self.touches_left = if seen.is_empty() { self.touches_left - 1 } else { MAX_TOUCHES };
        if self.touches_left == 0 {
            self.touches_left = MAX_TOUCHES;
            self.forget_all();
        }
        Seen { looked, ..self.lasts.touched(access, pc) }
    }

    /// A receive with this request no longer matters, or the program may know what it will get.
    pub fn forget(&mut self, request: usize) {
        if let Some((position, _)) = self.of_request(request) {
            self.complete(position, None, None, None);
        }
    }

    /// Messages of this communicator may end in ways that are not followed.
    pub fn give_up(&mut self, comm: u64) {
        self.found.retain(|race| race.comm() != comm);
        self.withdraw(|later| later.wanted.comm == comm);
        for at in (0..self.wildcards.len()).rev() {
            if self.wildcards[at].wanted.comm == comm {
                self.drop_at(at);
            }
        }
        if self.given_up.len() == MAX_GIVEN_UP {
            self.give_up_all();
        } else if !self.given_up.contains(&comm) {
            self.given_up.push(comm);
        }
    }

    /// Messages of any communicator may end in ways that are not followed.
    pub fn give_up_all(&mut self) {
        (self.useless, self.found) = (true, Vec::new());
        self.forget_all();
    }

    fn forget_all(&mut self) {
        self.lasts.clear();
        while !self.wildcards.is_empty() {
            self.drop_at(0);
        }
    }

    /// The races that are left, which are certain since no more messages arrive.
    pub fn finish(&mut self) -> Vec<Race> {
        let found = std::mem::take(&mut self.found);
        self.give_up_all();
        found
    }

    fn at(&self, position: u64) -> Option<usize> {
        self.wildcards.iter().position(|wildcard| wildcard.position == position)
    }

    fn drop_at(&mut self, at: usize) {
        if let Some(id) = self.wildcards.remove(at).watch {
            self.watched.end(id);
        }
    }

    fn withdraw(&mut self, which: impl Fn(&Later) -> bool) {
        for wildcard in &mut self.wildcards {
            wildcard.later.retain(|later| !which(later));
        }
    }
}

#[cfg(test)]
mod tests;
