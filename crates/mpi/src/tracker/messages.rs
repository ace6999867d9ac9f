//! Messages between two ranks, counted on both sides; `report/messages.rs` compares the counts.
//!
//! **Soundness.** A message is counted when the call has succeeded. Each message is received once,
//! so that by the end a communicator's sends and receives must match. Communicators on which
//! messages may end otherwise are not compared: after cancelled or freed requests, and calls that
//! fail. A message that a matching probe has found counts as received. Nothing at all is compared
//! after a call with wrong arguments, which the library may have performed. Partitioned messages
//! are not counted.

use super::{Accounts, Reporter, Together, Tracker};
use crate::buffers::{Args, Library};
use commsan_callsite::{Findings, Place};
use commsan_findings::Role;
use commsan_findings::record::{RawMessages, Record};
use commsan_job_shm::SentMessage;
use commsan_mpi_calls::{Call, Message};
use std::borrow::Cow;

use crate::ids::{On, Token};
use crate::ledger::{Entry, Key, Repeated, Sort};
use crate::requests::State;

impl Together {
    /// What each start of a persistent request will count.
    pub(super) fn repeated<L: Library>(&self, args: &Args, library: &L) -> Repeated {
        let keys = [sent::<L>(args, 0), received::<L>(args, 0)].into_iter().flatten();
        keys.filter_map(|key| {
            let on = self.words_for(On::Comm(key.comm));
            Some((self.sort(&key, library)?, on, tag(args, key.sends)))
        })
        .collect()
    }

    /// `None` for messages on communicators whose members are not known.
    fn sort(&self, key: &Key, library: &impl Library) -> Option<Sort> {
        let known = self.on.find(On::Comm(key.comm)).filter(|known| known.name != 0)?;
        let peer = match usize::try_from(key.peer) {
            Ok(peer) => Some(*known.members.get(peer)?),
            Err(_) => None,
        };
        let element =
            (!key.empty).then(|| library.lasting_signature(key.datatype).element()).flatten();
        let Key { sends, row, pc, .. } = *key;
        Some(Sort { name: known.name, sends, peer, element, row, pc })
    }
}

impl Tracker {
    /// Counts the messages that a call has sent, received, or started to.
    #[inline]
    pub fn messages<L: Library>(
        &mut self,
        args: &Args,
        place: &impl Place,
        library: &L,
        out: &mut dyn Findings,
    ) {
        let at = &args.call.at;
        if at.dest.is_none() && at.source.is_none() {
            return;
        }
        if let Some(key) = sent::<L>(args, place.pc()) {
            let elements = args.call.sent.map_or(0, |message| args.count(message.count));
            if self.count(args, key, elements, place, library) {
                self.publish_longest(args, &key, elements, (place, library), out);
            }
        }
        if let Some(key) = received::<L>(args, place.pc()) {
            self.count(args, key, 0, place, library);
        }
    }

    /// Counts a message; returns whether its key is new, or it is the longest so far.
    #[inline(always)]
    pub(super) fn count<L: Library>(
        &mut self,
        args: &Args,
        key: Key,
        elements: usize,
        place: &impl Place,
        library: &L,
    ) -> bool {
        let (together, reporter) = (&self.together, &mut self.reporter);
        self.accounts.count(args, (key, elements), (place, library), together, reporter)
    }

    /// The longest message so far of a key is sent: its receiver may have no room for it.
    #[cold]
    fn publish_longest<L: Library>(
        &mut self,
        args: &Args,
        key: &Key,
        elements: usize,
        (place, library): (&impl Place, &L),
        out: &mut dyn Findings,
    ) {
        let Some((rendezvous, me)) = self.together.rendezvous.filter(|_| elements > 0) else {
            return;
        };
        let known = self.together.on.find(On::Comm(key.comm)).filter(|known| known.name != 0);
        let to = known.and_then(|known| {
            Some((known.name, *known.members.get(usize::try_from(key.peer).ok()?)?))
        });
        let (Some((comm, to)), Some(size)) = (to, library.dense(key.datatype)) else { return };
        let place = self.rma.place_of(&mut self.reporter.stacks, args.call, place, out);
        let (tag, bytes) = (tag(args, true).unwrap_or(-1), elements as u64 * size as u64);
        rendezvous.has_sent(me, &SentMessage { comm, to, tag, bytes, place });
    }

    /// A request is about to be cancelled or freed: its message may be received by another receive.
    pub(super) fn unbalance_request(&mut self, token: Token, receives_only: bool) {
        let Some(request) = self.requests.one(token) else { return };
        let State::Active(id) = request.state else { return };
        let operation = self.operations.live.get(id).filter(|operation| {
            let receives = operation.call.at.source.is_some();
            !receives_only || receives
        });
        if let Some(On::Comm(comm)) = operation.and_then(|operation| operation.of.on) {
            self.unbalance(comm);
        }
    }

    /// From now on it is not known what happens to messages on this communicator.
    pub fn unbalance(&mut self, comm: usize) {
        if let Some(known) = self.together.on.find(On::Comm(comm)) {
            self.accounts.unbalance(known.name);
        }
    }
}

impl Accounts {
    /// Counts a message. The key is passed in registers: written to memory in parts and read as a
    /// whole, it would cost more than the rest.
    #[inline(always)]
    pub(super) fn count<L: Library>(
        &mut self,
        args: &Args,
        (key, elements): (Key, usize),
        (place, library): (&impl Place, &L),
        together: &Together,
        reporter: &mut Reporter,
    ) -> bool {
        let is_known = self.ledger.count(key, elements);
        if !is_known {
            self.count_new(args, (&key, elements), (place, library), together, reporter);
        }
        !is_known
    }

    #[cold]
    fn count_new(
        &mut self,
        args: &Args,
        (key, elements): (&Key, usize),
        (place, library): (&impl Place, &impl Library),
        together: &Together,
        reporter: &mut Reporter,
    ) {
        let site = reporter.site(args.call, place);
        let entry = together.sort(key, library).map(|sort| Entry {
            sort,
            call: &args.call.name,
            on: together.words_for(On::Comm(key.comm)),
            tag: tag(args, key.sends),
            site,
            count: 1,
        });
        self.ledger.count_new(key, elements, entry);
    }

    /// Counts the messages of a persistent request that is started.
    pub(super) fn count_repeated(
        &mut self,
        repeated: &Repeated,
        call: &'static Call,
        place: &impl Place,
        reporter: &mut Reporter,
    ) {
        for (sort, on, tag) in repeated {
            if !sort.sends && sort.peer.is_none() {
                self.races.give_up(sort.name);
            }
            let site = reporter.site(call, place);
            let sort = Sort { pc: place.pc(), ..*sort };
            let (call, on) = (call.name.as_str(), on.clone());
            self.ledger.add(Entry { sort, call, on, tag: *tag, site, count: 1 });
        }
    }

    /// Writes the messages that were counted to the log.
    pub(super) fn write_messages(
        &self,
        together: &Together,
        reporter: &Reporter,
        out: &mut dyn Findings,
    ) {
        let Some(entries) = self.ledger.entries() else { return };
        let left_out = self.volumes.left_out();
        let unbalanced = [self.ledger.unbalanced(), left_out, together.on.distrusted()].concat();
        let names = Cow::Borrowed(together.on.given());
        let balance = Record::Balance { names, unbalanced: unbalanced.into() };
        out.emit(balance, &reporter.stacks);
        for Entry { sort, call, on, tag, site, count } in entries {
            let element = sort.element.map(|element| element.describe_element());
            let messages = RawMessages {
                name: sort.name,
                on: Cow::Borrowed(on),
                sends: sort.sends,
                peer: sort.peer,
                element: element.map(Cow::Owned),
                call: Cow::Borrowed(call),
                tag: *tag,
                site: (Role::Operation, *site),
                count: *count,
            };
            out.emit(Record::Messages(messages), &reporter.stacks);
        }
    }
}

/// The message that a call sends.
#[inline(always)]
fn sent<L: Library>(args: &Args, pc: usize) -> Option<Key> {
    key::<L>(args, args.call.sent?, true, pc)
}

/// The message that a call receives.
#[inline(always)]
fn received<L: Library>(args: &Args, pc: usize) -> Option<Key> {
    key::<L>(args, args.call.received?, false, pc)
}

#[inline(always)]
fn key<L: Library>(args: &Args, message: Message, sends: bool, pc: usize) -> Option<Key> {
    let (peer, empty) = (args.int(message.peer), args.count(message.count) == 0);
    (peer != L::PROC_NULL).then_some(Key {
        pc,
        comm: args.words[message.comm],
        // The type of an empty message does not matter.
        datatype: if empty { 0 } else { args.words[message.datatype] },
        peer,
        row: args.call.row,
        sends,
        empty,
    })
}

/// The tag of a message that a call sends or receives.
fn tag(args: &Args, sends: bool) -> Option<i32> {
    let at = &args.call.at;
    let index = if sends { at.tag } else { at.received_tag };
    index.map(|index| args.int(index)).filter(|tag| *tag >= 0)
}
