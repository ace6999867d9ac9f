//! The requests a process has, by handle.
//!
//! Handles are not unique: a library may return one shared handle for every operation that is
//! complete at once (MPICH's lightweight requests, Open MPI's for `MPI_PROC_NULL`). Among pending
//! operations with one handle the address of the request variable decides; when the program has
//! moved handles around, it does not, and a completion then counts for all of them. That may miss
//! a finding and never makes one.

use crate::calls::Call;
use crate::place::Site;
use commsan_engine::{Access, OpId};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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
    /// The call that stored another request into the variable while this one was pending.
    pub overwritten: Option<Site>,
    sequence: u64,
}

/// What a persistent request does at each start.
pub(crate) struct Persistent {
    pub accesses: Vec<Access>,
    /// Whether each access is a partition, an operation of its own.
    pub partitioned: bool,
    pub peer: Option<i32>,
    pub tag: Option<i32>,
}

pub(crate) enum State {
    /// A persistent request that is not started.
    Inactive,
    /// The operation is pending.
    Active(OpId),
    /// The operation is pending, partition by partition.
    Partitions(Vec<Option<OpId>>),
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
            overwritten: None,
            sequence: 0,
        }
    }

    pub fn is_active(&self) -> bool {
        matches!(self.state, State::Active(_) | State::Partitions(_))
    }
}

/// What a request argument referred to before the call that may complete it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// The null request, or one commsan does not know.
    Unknown,
    /// One request, by its sequence number.
    One(usize, u64),
    /// Some request of all that have this handle and were made before this sequence number.
    Shared(usize, u64),
}

#[derive(Default)]
pub(crate) struct Requests {
    by_key: HashMap<usize, Vec<Request>, BuildHasherDefault<HandleHasher>>,
    /// Pending requests by the variable that holds them.
    by_variable: HashMap<usize, (usize, u64), BuildHasherDefault<HandleHasher>>,
    sequence: u64,
}

impl Requests {
    /// Adds a request. If its variable held a pending one, that one is returned: it has just
    /// been overwritten.
    pub fn insert(&mut self, mut request: Request) -> Option<&mut Request> {
        self.sequence += 1;
        request.sequence = self.sequence;
        let entry = (request.key, request.sequence);
        let variable = request.variable;
        self.by_key.entry(request.key).or_default().push(request);
        let (key, sequence) = self.by_variable.insert(variable, entry)?;
        self.by_key.get_mut(&key)?.iter_mut().find(|r| r.sequence == sequence)
    }

    /// What the handle `key`, read from `variable`, refers to.
    pub fn token(&self, key: usize, variable: usize) -> Token {
        let Some(list) = self.by_key.get(&key) else { return Token::Unknown };
        match list.as_slice() {
            [] => Token::Unknown,
            [one] => Token::One(key, one.sequence),
            many => {
                let mut at_home = many.iter().filter(|r| r.variable == variable);
                let unmoved = many.iter().all(|r| r.overwritten.is_none());
                match (at_home.next(), at_home.next(), unmoved) {
                    (Some(one), None, true) => Token::One(key, one.sequence),
                    _ => Token::Shared(key, self.sequence + 1),
                }
            }
        }
    }

    /// The requests a token stands for.
    pub fn of(&mut self, token: Token) -> impl Iterator<Item = &mut Request> {
        let (key, low, high) = match token {
            Token::Unknown => (0, 1, 0),
            Token::One(key, sequence) => (key, sequence, sequence + 1),
            Token::Shared(key, before) => (key, 0, before),
        };
        let list = self.by_key.get_mut(&key).filter(|_| low < high);
        list.into_iter().flatten().filter(move |r| (low..high).contains(&r.sequence))
    }

    /// Forgets the requests a token stands for, calling `f` with each.
    pub fn remove(&mut self, token: Token, mut f: impl FnMut(&Request) -> bool) {
        let (key, low, high) = match token {
            Token::Unknown => return,
            Token::One(key, sequence) => (key, sequence, sequence + 1),
            Token::Shared(key, before) => (key, 0, before),
        };
        // Emptied lists stay in the map: libraries reuse handles, and so do we their lists.
        let Some(list) = self.by_key.get_mut(&key) else { return };
        list.retain(|request| {
            let gone = (low..high).contains(&request.sequence) && f(request);
            if gone
                && self.by_variable.get(&request.variable) == Some(&(key, request.sequence))
            {
                self.by_variable.remove(&request.variable);
            }
            !gone
        });
    }

    pub fn iter(&self) -> impl Iterator<Item = &Request> {
        self.by_key.values().flatten()
    }
}

/// Handles are addresses or small integers; multiplying spreads both well enough.
#[derive(Default)]
pub(crate) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(*byte as usize);
        }
    }

    fn write_usize(&mut self, n: usize) {
        self.0 = (self.0 ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}
