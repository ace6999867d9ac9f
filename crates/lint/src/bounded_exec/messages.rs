//! Point-to-point matching: envelopes, message sizes and requests.

use super::asked::{Asked, Place};
use super::interpreter::Pending;
use super::store::{Datum, Kind};
use super::types::{Elements, fits};
use super::{After, Job, Need, State};
use commsan_mpi_calls::Effect;
use std::fmt;

/// Maximum number of bytes of a message whose contents are transferred.
const MAX_PAYLOAD_BYTES: i64 = 1 << 16;

/// A request of a rank.
#[derive(Clone, Debug)]
pub struct Request {
    pub done: bool,
    /// Whether an operation has begun that the program has not waited for.
    pub active: bool,
    pub place: Place,
    /// What it starts each time, if it is persistent.
    pub template: Option<Template>,
    /// The source, the tag and the bytes of what was received.
    pub got: Option<(Option<i64>, Option<i64>, Option<i64>)>,
    /// What completes it.
    pub awaits: Awaited,
}

/// The event that a request, or a probe, waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Nothing yet: the request is made by this call, and its operation has not begun.
    Start(String),
    /// That a rank, or any, receives its message; with the tag, where there is one.
    Receive(Option<i64>, Option<i64>),
    /// A message from a rank, or any; with the tag, where a receive names one.
    Message(Option<i64>, Option<i64>),
    /// That the other ranks of the communicator enter this collective.
    Collective(&'static str),
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |rank: &Option<i64>| match rank {
            Some(rank) => format!("rank {rank}"),
            None => "any rank".to_owned(),
        };
        let tag = |tag: &Option<i64>| tag.map_or_else(String::new, |tag| format!(" (tag {tag})"));
        match self {
            Awaited::Start(call) => f.write_str(call),
            Awaited::Receive(rank, with) => {
                write!(f, "{} to receive its message{}", name(rank), tag(with))
            }
            Awaited::Message(rank, with) => {
                write!(f, "a message from {}{}", name(rank), tag(with))
            }
            Awaited::Collective(call) => write!(f, "other ranks to call {call}"),
        }
    }
}

/// A message to be sent, or a receive.
#[derive(Clone, Debug)]
pub struct Template {
    pub sends: bool,
    /// Complete only when it is received.
    pub synchronous: bool,
    pub comm: usize,
    /// None: nobody knows, or any.
    pub peer: Option<i64>,
    pub any: bool,
    pub tag: Option<i64>,
    pub buffer: Datum,
    pub bytes: Option<i64>,
    pub elements: Option<Elements>,
    pub dense: bool,
    pub place: Place,
}

/// An operation of a rank that has not met its counterpart.
#[derive(Clone, Debug)]
pub struct Open {
    pub rank: usize,
    pub request: usize,
    pub what: Template,
    pub data: Option<Vec<(i64, i64, Datum)>>,
}

impl<'p> Job<'_, 'p> {
    /// Calls that send and receive messages.
    pub fn message(&mut self, asked: &Asked<'p>) -> Option<()> {
        let call = asked.call;
        let bare = call.bare_name().trim_end_matches("_c").trim_end_matches("_init");
        let name = bare.strip_prefix('I').unwrap_or(bare).to_lowercase();
        let comm = self.comm_of(asked, "comm")?;
        let mut templates = Vec::new();
        match &*name {
            "send" | "bsend" | "ssend" | "rsend" => {
                let mut template =
                    self.template(asked, comm, true, &["buf", "count", "datatype", "dest", "tag"])?;
                template.synchronous = name == "ssend" || self.strict && name != "bsend";
                templates.push(template);
            }
            "recv" => {
                templates.push(self.template(
                    asked,
                    comm,
                    false,
                    &["buf", "count", "datatype", "source", "tag"],
                )?);
            }
            "sendrecv" => {
                let names = ["sendbuf", "sendcount", "sendtype", "dest", "sendtag"];
                let mut send = self.template(asked, comm, true, &names)?;
                send.synchronous = self.strict;
                templates.push(send);
                let names = ["recvbuf", "recvcount", "recvtype", "source", "recvtag"];
                templates.push(self.template(asked, comm, false, &names)?);
            }
            "sendrecv_replace" => {
                let names = ["buf", "count", "datatype", "dest", "sendtag"];
                let mut send = self.template(asked, comm, true, &names)?;
                send.synchronous = self.strict;
                templates.push(send);
                let names = ["buf", "count", "datatype", "source", "recvtag"];
                templates.push(self.template(asked, comm, false, &names)?);
            }
            _ => return None,
        }
        if call.effect == Effect::Init {
            let template = templates.pop()?;
            let request = self.new_request(asked, Some(template));
            self.answer(asked, "request", Datum::Handle(Kind::Request, request as u32));
            self.go_on(asked);
            return Some(());
        }
        let mut requests = Vec::new();
        for template in templates {
            let request = self.new_request(asked, None);
            self.begin(asked.rank, request, template);
            requests.push(request);
        }
        if call.effect == Effect::Start {
            let [request] = requests[..] else { return None };
            self.answer(asked, "request", Datum::Handle(Kind::Request, request as u32));
            self.go_on(asked);
        } else {
            let status = asked.raw(self, "status");
            self.wait(asked, requests, Need::All, After::Status(status));
        }
        Some(())
    }

    /// What a call sends or receives.
    fn template(
        &mut self,
        asked: &Asked<'p>,
        comm: usize,
        sends: bool,
        names: &[&str; 5],
    ) -> Option<Template> {
        let [buffer, count, datatype, peer, tag] = *names;
        let buffer = asked.raw(self, buffer);
        let handle = asked.datum(self, datatype);
        let of = self.datatype(asked.rank, handle);
        let count = asked.number(self, count);
        // A message to nobody knows whom: nobody knows what comes of it.
        let peer = asked.number(self, peer)?;
        let tag = asked.number(self, tag)?;
        let any = !sends && peer == self.constants.any_source;
        let size = self.comms[comm].members.len() as i64;
        if !any && peer != self.constants.proc_null && !(0..size).contains(&peer) {
            self.no_such_rank(asked, names[3], peer, size);
            return None;
        }
        let negative = [
            (names[1], count),
            (names[4], Some(tag).filter(|_| sends || tag != self.constants.any_tag)),
        ];
        let nowhere = peer == self.constants.proc_null;
        for (parameter, number) in negative {
            if let Some(number) = number.filter(|number| *number < 0 && !nowhere) {
                self.negative(asked, parameter, number);
                return None;
            }
        }
        let known = count.filter(|count| *count >= 0).zip(of.as_ref());
        Some(Template {
            sends,
            synchronous: false,
            comm,
            peer: (!any).then_some(peer),
            any,
            tag: (sends || tag != self.constants.any_tag).then_some(tag),
            buffer,
            bytes: known.and_then(|(count, of)| count.checked_mul(of.size)),
            elements: known.and_then(|(count, of)| of.amount(count)),
            dense: of.is_some_and(|of| of.is_dense()),
            place: asked.place,
        })
    }

    pub fn new_request(&mut self, asked: &Asked<'p>, template: Option<Template>) -> usize {
        let requests = &mut self.ranks[asked.rank].requests;
        let awaits = Awaited::Start(asked.mpi.name.clone());
        let place = asked.place;
        requests.push(Request { done: false, active: false, place, template, got: None, awaits });
        requests.len() - 1
    }

    /// Starts an operation.
    pub fn begin(&mut self, rank: usize, request: usize, what: Template) {
        let comm = &self.comms[what.comm];
        let peer = what.peer.and_then(|peer| comm.members.get(usize::try_from(peer).ok()?));
        let peer = peer.map(|world| *world as i64);
        let awaits = match what.sends {
            true => Awaited::Receive(peer, what.tag),
            false => Awaited::Message(peer, what.tag),
        };
        let own = &mut self.ranks[rank].requests[request];
        (own.active, own.done, own.got, own.awaits) = (true, false, None, awaits);
        if what.peer == Some(self.constants.proc_null) {
            own.done = true;
            own.got = Some((what.peer, Some(self.constants.any_tag), Some(0)));
            return;
        }
        if let (Datum::Address(object, from), Some(bytes), true) =
            (what.buffer, what.bytes, what.dense)
        {
            let (to, writes) = (from.saturating_add(bytes), !what.sends);
            let interpreter = &mut self.ranks[rank].interpreter;
            interpreter.pending.push(Pending { object, from, to, request, writes });
        }
        let data = what.sends.then(|| self.data(rank, &what)).flatten();
        if what.sends && !what.synchronous {
            self.ranks[rank].requests[request].done = true;
        }
        let open = Open { rank, request, what, data };
        self.meet(open);
    }

    /// What a message carries.
    fn data(&self, rank: usize, what: &Template) -> Option<Vec<(i64, i64, Datum)>> {
        let bytes = what.bytes.filter(|bytes| *bytes <= MAX_PAYLOAD_BYTES && what.dense)?;
        match what.buffer {
            Datum::Address(object, at) => {
                Some(self.ranks[rank].interpreter.store.copy_of((object, at), bytes))
            }
            _ => None,
        }
    }

    /// Looks for the counterpart of an operation: the first that fits (MPI 4.1 §3.5).
    fn meet(&mut self, open: Open) {
        let others = if open.what.sends { &self.receives } else { &self.sends };
        let fits = |other: &Open| match open.what.sends {
            true => self.matches(&open, other),
            false => self.matches(other, &open),
        };
        let Some(found) = others.iter().position(fits) else {
            if open.what.sends {
                self.sends.push(open)
            } else {
                self.receives.push(open)
            }
            return;
        };
        if open.what.sends {
            let receive = self.receives.remove(found);
            self.deliver(open, receive);
        } else {
            let send = self.sends.remove(found);
            self.deliver(send, open);
        }
    }

    fn matches(&self, send: &Open, receive: &Open) -> bool {
        let comm = &self.comms[send.what.comm];
        let member = |peer: Option<i64>| comm.members.get(usize::try_from(peer?).ok()?).copied();
        send.what.comm == receive.what.comm
            && member(send.what.peer) == Some(receive.rank)
            && (receive.what.any || member(receive.what.peer) == Some(send.rank))
            && (receive.what.tag.is_none() || receive.what.tag == send.what.tag)
    }

    fn deliver(&mut self, send: Open, receive: Open) {
        if receive.what.any && self.comms[receive.what.comm].members.len() > 2 {
            self.by_chance = true;
        }
        self.compare(&send, &receive);
        let members = &self.comms[send.what.comm].members;
        let source = members.iter().position(|member| *member == send.rank);
        let known = !(receive.what.any && self.by_chance);
        let source = source.map(|source| source as i64).filter(|_| known);
        let tag = send.what.tag.filter(|_| known);
        let bytes = send.what.bytes.filter(|_| known);
        let interpreter = &mut self.ranks[receive.rank].interpreter;
        if let Datum::Address(object, at) = receive.what.buffer {
            match (send.what.bytes, send.data.filter(|_| known && receive.what.dense)) {
                (Some(bytes), Some(data)) => interpreter.store.paste((object, at), bytes, &data),
                _ => interpreter.store.forget(object),
            }
        }
        let own = &mut self.ranks[receive.rank].requests[receive.request];
        (own.done, own.got) = (true, Some((source, tag, bytes)));
        let other = &mut self.ranks[send.rank].requests[send.request];
        other.done = true;
    }

    /// Whether a message fits the receive that gets it (MPI 4.1 §3.3.1, §3.2.4).
    fn compare(&mut self, send: &Open, receive: &Open) {
        let elements = send.what.elements.as_ref().zip(receive.what.elements.as_ref());
        if let Some((sent, received)) = elements
            && !fits(sent, received)
        {
            let (sent, received) = (shown(sent), shown(received));
            self.types_differ(send, receive, &sent, &received);
        } else if let (Some(sent), Some(room)) = (send.what.bytes, receive.what.bytes)
            && sent > room
        {
            self.truncated(send, receive, sent, room);
        }
    }

    /// Calls that start and complete requests.
    pub fn request_call(&mut self, asked: &Asked<'p>) -> Option<()> {
        let rank = asked.rank;
        match asked.call.effect {
            Effect::Go => {
                let request = self.request_behind(asked, "request", 0)??;
                self.start(rank, request)?;
                self.go_on(asked);
            }
            Effect::GoAll => {
                for index in 0..asked.number(self, "count")? {
                    let request = self.request_behind(asked, "requests", index)??;
                    self.start(rank, request)?;
                }
                self.go_on(asked);
            }
            Effect::Wait => {
                let request = self.request_behind(asked, "request", 0)?;
                let status = asked.raw(self, "status");
                self.wait_for(asked, &[request], Need::All, After::Status(status), "request");
            }
            Effect::WaitAll | Effect::WaitAny | Effect::Some => {
                let test = asked.call.name.contains("Test");
                let count = if asked.has("incount") { "incount" } else { "count" };
                let count = asked.number(self, count)?;
                let mut requests = Vec::new();
                for index in 0..count {
                    requests.push(self.request_behind(asked, "requests", index)?);
                }
                if asked.call.effect == Effect::WaitAll {
                    let statuses = asked.raw(self, "statuses");
                    self.wait_for(
                        asked,
                        &requests,
                        Need::All,
                        After::Statuses(statuses),
                        "requests",
                    );
                } else if test || asked.call.effect == Effect::Some {
                    // Which are complete is a matter of time.
                    return None;
                } else {
                    let [status, index] = [asked.raw(self, "status"), asked.raw(self, "index")];
                    self.wait_for(
                        asked,
                        &requests,
                        Need::Any,
                        After::Index(status, index),
                        "requests",
                    );
                }
            }
            Effect::Test | Effect::TestAll => return self.test(asked),
            Effect::Cancel => {
                let request = self.request_behind(asked, "request", 0)??;
                self.cancel(rank, request);
                self.go_on(asked);
            }
            Effect::Free => {
                let request = self.request_behind(asked, "request", 0)?;
                if let Some(request) = request {
                    self.complete(rank, request);
                }
                let null = self.null_request(asked);
                self.answer(asked, "request", null);
                self.go_on(asked);
            }
            _ => return None,
        }
        Some(())
    }

    /// The program has its buffer back.
    pub fn complete(&mut self, rank: usize, request: usize) {
        self.ranks[rank].requests[request].active = false;
        self.ranks[rank].interpreter.pending.retain(|pending| pending.request != request);
    }

    /// A receive that has no message is cancelled; what is sent goes its way.
    fn cancel(&mut self, rank: usize, request: usize) {
        self.by_chance = true;
        let before = self.receives.len();
        self.receives.retain(|receive| (receive.rank, receive.request) != (rank, request));
        if self.receives.len() < before {
            self.ranks[rank].requests[request].done = true;
        }
    }

    fn start(&mut self, rank: usize, request: usize) -> Option<()> {
        let template = self.ranks[rank].requests[request].template.clone()?;
        self.begin(rank, request, template);
        Some(())
    }

    /// The request in a variable or an element of an array: none if it is null; nothing if nobody
    /// knows.
    fn request_behind(
        &mut self,
        asked: &Asked<'p>,
        name: &str,
        index: i64,
    ) -> Option<Option<usize>> {
        let size = self.handle_size(asked);
        let found = asked.element_datum(self, name, index, size);
        match found {
            Datum::Handle(Kind::Request, request) => Some(Some(request as usize)),
            Datum::Unknown | Datum::Handle(..) => None,
            null => (null == self.null_request(asked)).then_some(None),
        }
    }

    /// Waits for what was read in an array of requests, which are null afterwards unless they are
    /// persistent.
    fn wait_for(
        &mut self,
        asked: &Asked<'p>,
        requests: &[Option<usize>],
        need: Need,
        after: After,
        name: &'static str,
    ) {
        let active = |job: &Self, request: usize| job.ranks[asked.rank].requests[request].active;
        let wanted: Vec<_> =
            requests.iter().flatten().copied().filter(|r| active(self, *r)).collect();
        let places = (0..).zip(requests).filter_map(|(index, request)| Some((index, (*request)?)));
        self.ranks[asked.rank].emptied =
            places.map(|(index, request)| (name, index, request)).collect();
        self.wait(asked, wanted, need, after);
    }

    /// `MPI_Test`: waits, as a program that tests does so until the flag is true. Where it does
    /// not, nobody knows.
    fn test(&mut self, asked: &Asked<'p>) -> Option<()> {
        let mut requests = Vec::new();
        let name = if asked.call.effect == Effect::Test { "request" } else { "requests" };
        let count = if name == "request" { 1 } else { asked.number(self, "count")? };
        for index in 0..count {
            requests.push(self.request_behind(asked, name, index)?);
        }
        let rank = &mut self.ranks[asked.rank];
        let done =
            requests.iter().flatten().all(|r| rank.requests[*r].done || !rank.requests[*r].active);
        if !done {
            rank.asks_again += 1;
            self.by_chance = true;
            if self.ranks[asked.rank].asks_again > super::MAX_FAILED_TESTS {
                return None;
            }
            self.answer(asked, "flag", Datum::Int(0));
            self.go_on(asked);
            self.ranks[asked.rank].state = State::Asking;
            return Some(());
        }
        self.answer(asked, "flag", Datum::Int(1));
        let status = asked.raw(self, if name == "request" { "status" } else { "statuses" });
        let after = if name == "request" { After::Status(status) } else { After::Statuses(status) };
        self.wait_for(asked, &requests, Need::All, after, name);
        Some(())
    }

    /// `MPI_Probe`.
    pub fn probe(&mut self, asked: &Asked<'p>) -> Option<()> {
        if asked.call.bare_name() != "Probe" {
            return None;
        }
        let comm = self.comm_of(asked, "comm")?;
        let source = asked.number(self, "source")?;
        let tag = asked.number(self, "tag")?;
        let any = source == self.constants.any_source;
        let what = Template {
            sends: false,
            synchronous: false,
            comm,
            peer: (!any).then_some(source),
            any,
            tag: (tag != self.constants.any_tag).then_some(tag),
            buffer: Datum::Unknown,
            bytes: None,
            elements: None,
            dense: false,
            place: asked.place,
        };
        let receive = Open { rank: asked.rank, request: 0, what, data: None };
        let found = self.sends.iter().find(|send| self.matches(send, &receive)).cloned();
        let Some(send) = found else {
            let awaits = Awaited::Message((!any).then_some(source), None);
            self.ranks[asked.rank].state = State::Looking(asked.place, awaits);
            return Some(());
        };
        if any && self.comms[comm].members.len() > 2 {
            self.by_chance = true;
            return None;
        }
        let members = &self.comms[comm].members;
        let source = members.iter().position(|member| *member == send.rank).map(|at| at as i64);
        let status = asked.raw(self, "status");
        self.fill_status(asked.rank, status, (source, send.what.tag, send.what.bytes));
        self.go_on(asked);
        Some(())
    }

    /// Writes a status, unless it is to be ignored.
    pub fn fill_status(
        &mut self,
        rank: usize,
        status: Datum,
        (source, tag, bytes): (Option<i64>, Option<i64>, Option<i64>),
    ) {
        let Datum::Address(object, at) = status else { return };
        let store = &mut self.ranks[rank].interpreter.store;
        let value = |number: Option<i64>| number.map_or(Datum::Unknown, Datum::Int);
        store.store((object, at + self.constants.status_source), 4, value(source));
        store.store((object, at + self.constants.status_tag), 4, value(tag));
        store.store((object, at + self.constants.status_count), 4, value(bytes));
    }
}

/// Elements in words.
pub fn shown(elements: &Elements) -> String {
    match &elements[..] {
        [] => "nothing".to_owned(),
        [(name, count)] => format!("{count} × {name}"),
        [(name, count), ..] => format!("{count} × {name} and more"),
    }
}
