//! The request table: the requests of a process, by handle.
//!
//! Handles are not unique: a library may return one shared handle for every operation that is
//! complete at once (MPICH's lightweight requests, Open MPI's for `MPI_PROC_NULL`). Among pending
//! operations with one handle the address of the request variable decides. Of several that were
//! stored in one variable the last is there. When the program has moved handles, the address does
//! not decide, and a completion then counts for all of them: that may miss a finding and never
//! makes one. Variables with shared handles are watched for that, as buffers are, where the
//! program's stores are seen; where they are not, a program that has overwritten one of them is
//! taken to have moved handles.

mod detached;

use crate::ids::{Of, Token};
use crate::ledger::Repeated;
use commsan_callsite::Site;
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Mode, OpId, Pages};
use detached::Detached;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// A request the program holds.
pub(crate) struct Request {
    pub key: usize,
    /// Where the call stored the handle.
    pub variable: usize,
    /// The call that made the request.
    pub call: &'static Call,
    pub state: State,
    /// What each start touches; `None` for requests that complete once.
    pub persistent: Option<Box<Persistent>>,
    pub cancelled: bool,
    /// The site of an operation on a window, which the end of its epoch may complete before the
    /// request is.
    pub began: Option<Box<Site>>,
    /// The call that stored another request into the variable while this one was pending.
    pub overwritten: Option<Box<Site>>,
    pub sequence: u64,
    /// The slot of the next older request with the same handle.
    older: u32,
    /// Whether stores to the variable are watched.
    watched: bool,
    /// The program has stored something to the variable.
    moved: bool,
}

/// Size in bytes of the smallest handle.
const HANDLE: usize = 4;

/// What a persistent request does at each start.
pub(crate) struct Persistent {
    pub accesses: Vec<Access>,
    /// Whether each access is a partition, which is an operation of its own.
    pub partitioned: bool,
    pub peer: Option<i32>,
    pub tag: Option<i32>,
    pub of: Of,
    /// Where it was made.
    pub made: Site,
    pub messages: Repeated,
    /// The operation that reads the collective's arrays until the request is freed.
    pub arrays: Option<OpId>,
}

pub(crate) enum State {
    /// A persistent request that is not started.
    Inactive,
    /// The operation is pending.
    Active(OpId),
    /// The operation of each partition that is pending.
    Partitions(Box<[Option<OpId>]>),
    /// `MPI_Request_get_status` said that the operation is complete.
    Complete,
}

impl Request {
    pub fn new(key: usize, variable: usize, call: &'static Call, state: State) -> Request {
        Request {
            key,
            variable,
            call,
            state,
            persistent: None,
            cancelled: false,
            began: None,
            overwritten: None,
            sequence: 0,
            older: NONE,
            watched: false,
            moved: false,
        }
    }

    /// The bytes of its variable that every handle fills.
    fn held(&self) -> Range<usize> {
        self.variable..self.variable.saturating_add(HANDLE)
    }

    pub fn is_active(&self) -> bool {
        matches!(self.state, State::Active(_) | State::Partitions(_))
    }
}

/// Which requests a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// The null request, or one commsan does not know.
    Unknown,
    /// The request in this slot.
    One(u32),
    /// Some of those with this handle.
    Some,
}

pub(crate) struct Requests {
    slots: Vec<Option<Request>>,
    free: Vec<u32>,
    /// The youngest request of each handle. Libraries reuse handles, so entries stay.
    by_key: FxHashMap<usize, u32>,
    /// The last request stored in a variable, by a hash of its address. A collision loses the
    /// older entry, and with it the explanation of a lost request, not the finding.
    by_variable: Box<[(usize, u32, u64)]>,
    /// Sequence number of the next request.
    next: u64,
    pages: Pages,
    /// Number of watched variables.
    watched: usize,
    /// The program's stores are seen.
    stores_are_seen: bool,
    detached: Detached,
}

/// What becomes of operations whose request is freed.
#[derive(Default)]
pub(crate) struct Freed {
    /// Of each request that must not be freed while it is active, its operations.
    pub faulty: Vec<Vec<OpId>>,
    /// Operations that may be complete.
    pub complete: Vec<OpId>,
    /// Operations that read the arrays of a persistent collective.
    pub arrays: Vec<OpId>,
}

const NONE: u32 = u32::MAX;
const VARIABLES: usize = 1024;

impl Requests {
    pub fn new(pages: Pages) -> Requests {
        Requests {
            slots: Vec::new(),
            free: Vec::new(),
            by_key: FxHashMap::default(),
            by_variable: vec![(0, NONE, 0); VARIABLES].into(),
            next: 1,
            pages,
            watched: 0,
            stores_are_seen: false,
            detached: Detached::default(),
        }
    }

    /// The requests that a token stands for are complete; persistent ones stay. Returns their
    /// operations, in a list to be given to [`reuse`](Self::reuse), and whether these are certain.
    pub fn complete(&mut self, token: Token) -> (Vec<OpId>, bool) {
        let mut done = self.detached.take_list();
        let mut certain = true;
        self.each(token, |request| {
            // If it was stored in another variable, another operation of the same handle may be
            // meant.
            certain &= request.variable == token.variable;
            match std::mem::replace(&mut request.state, State::Inactive) {
                State::Active(id) => done.push(id),
                State::Partitions(ids) => done.extend(ids.into_iter().flatten()),
                State::Inactive | State::Complete => {}
            }
            request.persistent.is_none()
        });
        (done, certain)
    }

    /// Takes back a list of [`complete`](Self::complete), which is empty now.
    pub fn reuse(&mut self, list: Vec<OpId>) {
        self.detached.return_list(list);
    }

    /// Frees the requests that a token stands for. Operations that may go on without them are kept
    /// until this process [communicates](Self::communicated).
    pub fn free(&mut self, token: Token) -> Freed {
        let mut freed = Freed::default();
        // A shared handle may mean another operation than this one.
        let certain = matches!(self.meant(token), Meant::One(_));
        let mut detached = std::mem::take(&mut self.detached);
        self.each(token, |request| {
            let ids: Vec<OpId> = match &request.state {
                State::Active(id) => vec![*id],
                State::Partitions(ids) => ids.iter().flatten().copied().collect(),
                State::Inactive | State::Complete => Vec::new(),
            };
            freed.arrays.extend(request.persistent.as_ref().and_then(|p| p.arrays));
            let certain = certain && !request.cancelled;
            match certain && !request.call.may_be_freed() {
                true => freed.faulty.push(ids),
                false if detached.may_be_complete(request) => freed.complete.extend(ids),
                false => detached.extend(ids),
            }
            true
        });
        self.detached = detached;
        freed
    }

    /// This process communicates; [`pop_detached`](Self::pop_detached) has the operations that
    /// count as complete by that.
    pub fn communicated(&mut self) {
        self.detached.communicated(self.next);
    }

    /// Takes the last operation that goes on without its request.
    pub fn pop_detached(&mut self) -> Option<OpId> {
        self.detached.pop()
    }

    /// Sets whether the program's stores are seen.
    pub fn see_stores(&mut self, seen: bool) {
        self.stores_are_seen = seen;
    }

    /// Whether the program's stores are seen.
    pub fn stores_are_seen(&self) -> bool {
        self.stores_are_seen
    }

    /// The pending operations of requests that have the token's handle.
    pub fn active_with_handle(&self, token: Token) -> SmallVec<[OpId; 8]> {
        let active = |request: &Request| match &request.state {
            State::Active(id) => Some(*id),
            _ => None,
        };
        self.with_key(token).filter_map(|(_, request)| active(request)).collect()
    }

    /// Number of watched variables.
    pub fn watched(&self) -> usize {
        self.watched
    }

    /// Stops watching variables.
    pub fn unwatch(&mut self) {
        for request in self.slots.iter_mut().flatten() {
            if std::mem::take(&mut request.watched) {
                self.pages.unmark(request.held(), Mode::Read);
            }
        }
        self.watched = 0;
    }

    /// The program has accessed memory: it may have moved handles.
    pub fn accessed(&mut self, access: &Access) {
        if self.watched == 0 || access.mode == Mode::Read {
            return;
        }
        for request in self.slots.iter_mut().flatten().filter(|request| request.watched) {
            request.moved |= access.footprint.within(&request.held()).is_some();
        }
    }

    /// Stores to the variable matter from now on, since its handle is also another request's.
    fn watch(&mut self, slot: u32) {
        let Some(request) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) else {
            return;
        };
        if !std::mem::replace(&mut request.watched, true) {
            self.pages.mark(request.held(), Mode::Read);
            self.watched += 1;
        }
    }

    /// The sequence number of the next request.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Counts a request that is kept elsewhere, and returns its sequence number.
    pub fn take_sequence(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Whether there is no request.
    pub fn is_empty(&self) -> bool {
        self.slots.len() == self.free.len()
    }

    /// Whether there is no request with this handle.
    pub fn lack(&self, key: usize) -> bool {
        self.is_empty() || self.by_key.get(&key).is_none_or(|s| *s == NONE)
    }

    /// Whether the variable holds a request of this table.
    pub fn hold(&self, variable: usize) -> bool {
        if self.is_empty() {
            return false;
        }
        let (at, slot, sequence) = self.by_variable[(variable >> 2) % VARIABLES];
        let request = self.slots.get(slot as usize).and_then(Option::as_ref);
        at == variable && request.is_some_and(|r| r.sequence == sequence)
    }

    /// Adds a request. If its variable held a pending one, that one is returned: it has just
    /// been overwritten.
    pub fn insert(&mut self, request: Request) -> Option<&mut Request> {
        let sequence = self.take_sequence();
        self.insert_as(request, sequence)
    }

    /// Adds a request that was counted before.
    pub fn insert_as(&mut self, mut request: Request, sequence: u64) -> Option<&mut Request> {
        let (key, variable) = (request.key, request.variable);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        request.sequence = sequence;
        request.older = self.by_key.insert(key, slot).unwrap_or(NONE);
        let older = request.older;
        self.slots[slot as usize] = Some(request);
        if older != NONE {
            self.watch(older);
            self.watch(slot);
        }
        let home = &mut self.by_variable[(variable >> 2) % VARIABLES];
        let (at, lost, lost_sequence) = std::mem::replace(home, (variable, slot, sequence));
        let lost = self.slots.get_mut(lost as usize)?.as_mut()?;
        (at == variable && lost.sequence == lost_sequence).then_some(lost)
    }

    /// Which requests a token stands for.
    pub fn meant(&self, token: Token) -> Meant {
        let mut all = self.with_key(token).peekable();
        let Some((first, _)) = all.peek().copied() else { return Meant::Unknown };
        let (mut at_home, mut count, mut others_moved) = (None, 0, false);
        for (slot, request) in all {
            count += 1;
            if request.variable != token.variable {
                others_moved |= request.moved || request.overwritten.is_some();
            } else if at_home.is_none() {
                // Of the requests that were stored here, this one is left.
                at_home = Some((slot, request.moved));
            }
        }
        match (count, at_home) {
            (1, _) => Meant::One(first),
            // A handle that was moved here from another variable was stored here by the program.
            (_, Some((slot, false))) if self.stores_are_seen || !others_moved => Meant::One(slot),
            _ => Meant::Some,
        }
    }

    /// Requests with the token's handle, youngest first.
    fn with_key(&self, token: Token) -> impl Iterator<Item = (u32, &Request)> {
        let mut next = self.by_key.get(&token.key).copied().unwrap_or(NONE);
        let chain = std::iter::from_fn(move || {
            let slot = next;
            let request = self.slots.get(slot as usize)?.as_ref()?;
            next = request.older;
            Some((slot, request))
        });
        chain.filter(move |(_, request)| request.sequence < token.before)
    }

    /// Calls `f` with each request that a token stands for, and forgets those for which it
    /// returns true.
    pub fn each(&mut self, token: Token, mut f: impl FnMut(&mut Request) -> bool) {
        match self.meant(token) {
            Meant::Unknown => {}
            Meant::One(slot) => {
                if self.slots[slot as usize].as_mut().is_some_and(&mut f) {
                    self.remove(slot);
                }
            }
            Meant::Some => {
                let slots: Vec<u32> = self.with_key(token).map(|(slot, _)| slot).collect();
                for slot in slots {
                    if self.slots[slot as usize].as_mut().is_some_and(&mut f) {
                        self.remove(slot);
                    }
                }
            }
        }
    }

    /// The request that a token stands for, if there is only one.
    pub fn one(&mut self, token: Token) -> Option<&mut Request> {
        match self.meant(token) {
            Meant::One(slot) => self.slots[slot as usize].as_mut(),
            Meant::Unknown | Meant::Some => None,
        }
    }

    /// The library has given the request that a token stands for another handle.
    pub fn rename(&mut self, token: Token, key: usize) {
        let Meant::One(slot) = self.meant(token) else { return };
        let Some(request) = &self.slots[slot as usize] else { return };
        self.unlink(request.key, slot, request.older);
        let older = self.by_key.insert(key, slot).unwrap_or(NONE);
        if let Some(request) = &mut self.slots[slot as usize] {
            (request.key, request.older) = (key, older);
        }
        if older != NONE {
            self.watch(older);
            self.watch(slot);
        }
    }

    fn remove(&mut self, slot: u32) {
        let Some(request) = self.slots[slot as usize].take() else { return };
        if request.watched {
            self.pages.unmark(request.held(), Mode::Read);
            self.watched -= 1;
        }
        self.free.push(slot);
        self.unlink(request.key, slot, request.older);
    }

    /// Removes a request from the list of its handle; `older` follows it there.
    fn unlink(&mut self, key: usize, slot: u32, older: u32) {
        let Some(youngest) = self.by_key.get_mut(&key) else { return };
        if *youngest == slot {
            *youngest = older;
            return;
        }
        let mut at = *youngest;
        while let Some(other) = self.slots.get_mut(at as usize).and_then(Option::as_mut) {
            if other.older == slot {
                other.older = older;
                return;
            }
            at = other.older;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Request> {
        self.slots.iter().flatten()
    }
}
