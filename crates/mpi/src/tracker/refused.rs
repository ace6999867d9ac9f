//! Errors of calls that only a mistake of the program causes: a message that is longer than the
//! room for it, and communicators that are made and never freed until there is room for no more.
//! Both are traced to their other side: the sender's line, or that which has made most
//! communicators.
//!
//! **Soundness.** Errors that are returned are written to the log at once, as warnings, since a
//! program may inspect an error code without any call. They are taken back where the program asks
//! about any error, makes error handlers of its own, or ends by `MPI_Abort`. A sender is named
//! where it has announced a message for this receive ([`commsan_job_shm`]: of its communicator and
//! tag) that is longer than the room; missed are those of other nodes, and messages of derived
//! types. Of communicators, [`MANY`] or more that are not freed count as too many.

use super::Tracker;
use crate::buffers::{Args, Library};
use crate::ids::{On, Token};
use crate::requests::State;
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_findings::record::{RawArgument, Record};
use commsan_findings::{Code, Role};
use commsan_job_shm::SentMessage;
use commsan_mpi_calls::Object;
use rustc_hash::FxHashMap;

/// Errors that are remembered, to be taken back, at most.
const MAX_ERRORS: usize = 32;
/// Communicators from which on their number may be what a library has no room for: the least that
/// is known of any is 2,048.
const MANY: usize = 1_000;

/// The class of errors about messages that are too long.
const TRUNCATED: &str = "MPI_ERR_TRUNCATE";

/// Findings about errors that the program has not asked about.
#[derive(Default)]
pub struct Refused(Vec<u32>);

/// What is known of a call that has failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failure<'f> {
    /// The error's class, if its name is known.
    pub class: Option<&'static str>,
    /// The requests that the call was to complete.
    pub tokens: &'f [Token],
    /// Source and tag of the message, if the call has stored them, and its bytes.
    pub message: Option<(i32, i32)>,
    /// Bytes of the message, if the library says.
    pub bytes: Option<u64>,
}

/// A receive whose message may be too long.
struct Receiving {
    /// Where it was posted, unless by the call that has failed.
    posted: Option<Site>,
    call: &'static str,
    comm: usize,
    source: Option<i32>,
    tag: Option<i32>,
    room: u64,
}

impl Refused {
    /// The program asks what an error means, or handles errors otherwise.
    pub fn forget(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        for id in std::mem::take(&mut self.0) {
            out.emit(Record::Withdrawn { id }, stacks);
        }
    }
}

impl Tracker {
    /// A call has returned an error.
    pub fn refused<L: Library>(
        &mut self,
        args: &Args,
        failure: &Failure,
        place: &impl Place,
        library: &L,
        out: &mut dyn Findings,
    ) {
        let (problem, causes) = self.explain(args, failure, library);
        let matters = failure.class == Some(TRUNCATED) || !causes.is_empty();
        if matters
            && let Some(id) = self.fails(Code::ErrorIgnored, args, problem, causes, place, out)
            && self.refused.0.len() < MAX_ERRORS
        {
            self.refused.0.push(id);
        }
    }

    /// The library ends the program within a call.
    pub fn failed<L: Library>(
        &mut self,
        args: &Args,
        failure: &Failure,
        place: &impl Place,
        library: &L,
        out: &mut dyn Findings,
    ) {
        let (problem, causes) = self.explain(args, failure, library);
        self.fails(Code::CallFailed, args, problem, causes, place, out);
    }

    /// The program asks what an error means, or handles errors otherwise.
    pub fn handles_errors(&mut self, out: &mut dyn Findings) {
        self.refused.forget(&self.reporter.stacks, out);
    }

    /// Reports a call that fails; returns the finding's number if it is new.
    fn fails(
        &mut self,
        code: Code,
        args: &Args,
        problem: String,
        causes: Vec<Site>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> Option<u32> {
        // A finding is known by its first site if it has several.
        let first = if causes.is_empty() { 0 } else { place.pc() };
        if out.again(code, first, place.pc()) {
            return None;
        }
        let operation = self.reporter.operation(args, place);
        let causes = causes.into_iter().map(|site| (Role::Cause, site));
        let sites: Vec<_> = [(Role::Operation, operation.site)].into_iter().chain(causes).collect();
        let argument = (!problem.is_empty()).then(|| RawArgument::new("", problem, None));
        let report = Report { argument, ..Report::new(code, operation.described(), sites) };
        Some(self.reporter.report(report, &operation.site, out))
    }

    /// What the error is about, in words that begin with its class, and the places that have caused
    /// it.
    fn explain<L: Library>(
        &mut self,
        args: &Args,
        failure: &Failure,
        library: &L,
    ) -> (String, Vec<Site>) {
        let class = failure.class.unwrap_or_default().to_owned();
        let is_truncated = failure.class.is_none_or(|class| class == TRUNCATED);
        if is_truncated && let Some((words, causes)) = self.truncated(args, failure, library) {
            return (format!("{TRUNCATED}: {words}"), causes);
        }
        let makes = args.call.makes.is_some_and(|(object, _)| object == Object::Comm);
        match makes.then(|| self.too_many()).flatten() {
            Some((words, site)) => {
                let colon = if class.is_empty() { "" } else { ": " };
                (format!("{class}{colon}{words}"), vec![site])
            }
            None => (class, Vec::new()),
        }
    }

    /// A message that is too long for one of the call's receives: what it is, and where it was
    /// posted and sent.
    fn truncated<L: Library>(
        &mut self,
        args: &Args,
        failure: &Failure,
        library: &L,
    ) -> Option<(String, Vec<Site>)> {
        let receives = self.pending_receives(args, failure.tokens, library);
        let is_one = receives.len() == 1;
        receives.into_iter().find_map(|receive| {
            let (source, tag) = match failure.message.filter(|_| is_one) {
                Some((source, tag)) => (Some(source), Some(tag)),
                None => (receive.source, receive.tag),
            };
            let sent = self.sent(&receive, source, tag);
            let is_certain = is_one && failure.class == Some(TRUNCATED);
            if sent.is_none() && !is_certain {
                return None;
            }
            let sender = sent.map(|(rank, _)| rank).or_else(|| self.member(receive.comm, source?));
            let length = failure.bytes.filter(|bytes| is_one && *bytes > receive.room);
            let length = length.or_else(|| Some(sent?.1.bytes));
            let whose = sender.map_or_else(|| "the".to_owned(), |rank| format!("rank {rank}'s"));
            let length = length.map_or_else(String::new, |bytes| format!(" of {bytes} bytes"));
            let tag = sent.map(|(_, sent)| sent.tag).or(tag);
            let tag =
                tag.filter(|tag| *tag >= 0).map_or_else(String::new, |tag| format!(" (tag {tag})"));
            let words = format!(
                "{whose} message{length}{tag} does not fit into the {} bytes that {} has room for",
                receive.room, receive.call
            );
            let their = sent.map(|(rank, sent)| Site::remote("", rank, sent.place));
            Some((words, receive.posted.into_iter().chain(their).collect()))
        })
    }

    /// The receives of a call: its own, or those that it was to complete.
    fn pending_receives<L: Library>(
        &mut self,
        args: &Args,
        tokens: &[Token],
        library: &L,
    ) -> Vec<Receiving> {
        let known = |value: i32| (value >= 0).then_some(value);
        let at = &args.call.at;
        if let (Some(comm), Some(source), Some(received)) = (at.comm, at.source, args.call.received)
        {
            let Some(size) = library.dense(args.words[received.datatype]) else {
                return Vec::new();
            };
            return vec![Receiving {
                posted: None,
                call: &args.call.name,
                comm: args.words[comm],
                source: known(args.int(source)),
                tag: at.received_tag.and_then(|tag| known(args.int(tag))),
                room: args.count(received.count) as u64 * size as u64,
            }];
        }
        self.settle();
        let mut receives = Vec::new();
        for token in tokens {
            let Some(request) = self.requests.one(*token) else { continue };
            let State::Active(id) = request.state else { continue };
            let Some(operation) = self.operations.live.get(id) else { continue };
            let (Some(On::Comm(comm)), true) =
                (operation.of.on, operation.call.at.source.is_some())
            else {
                continue;
            };
            let bytes = self.operations.live.accesses(id).iter();
            receives.push(Receiving {
                posted: Some(operation.site),
                call: &operation.call.name,
                comm,
                source: operation.peer,
                tag: operation.tag,
                room: bytes.map(|access| access.footprint.bytes() as u64).sum(),
            });
        }
        receives
    }

    /// A rank of a communicator, as rank of the job.
    fn member(&self, comm: usize, rank: i32) -> Option<u32> {
        let known = self.together.on.find(On::Comm(comm)).filter(|known| known.name != 0)?;
        known.members.get(usize::try_from(rank).ok()?).copied()
    }

    /// The message that does not fit, and its sender, where one is known that may be meant.
    fn sent(
        &self,
        receive: &Receiving,
        source: Option<i32>,
        tag: Option<i32>,
    ) -> Option<(u32, SentMessage)> {
        let (rendezvous, me) = self.together.rendezvous?;
        let known = self.together.on.find(On::Comm(receive.comm)).filter(|on| on.name != 0)?;
        let senders = match source {
            Some(source) => vec![self.member(receive.comm, source)?],
            None => known.members.to_vec(),
        };
        let is_meant = |sent: &SentMessage| {
            (sent.comm, sent.to) == (known.name, me)
                && sent.bytes > receive.room
                && tag.is_none_or(|tag| tag == sent.tag)
        };
        senders.into_iter().find_map(|sender| {
            let mut meant = rendezvous.longest_of(sender).filter(is_meant);
            let first = meant.next()?;
            // Of two places it is not known which is meant.
            meant.next().is_none().then_some((sender, first))
        })
    }

    /// What to say of the communicators that are not freed, and the place that has made most.
    fn too_many(&self) -> Option<(String, Site)> {
        let mut places: FxHashMap<usize, (usize, Site)> = FxHashMap::default();
        let mut all = 0;
        for site in self.objects.made_of(Object::Comm) {
            all += 1;
            places.entry(site.pc).or_insert((0, *site)).0 += 1;
        }
        let (most, site) = places.into_values().max_by_key(|(count, site)| (*count, site.pc))?;
        let here = if most == all { "all".to_owned() } else { format!("{most}") };
        let call = site.call.unwrap_or("one call");
        let words = format!(
            "the program has made {all} communicators that it has not freed, {here} of them by {call} in one place"
        );
        (all >= MANY).then_some((words, site))
    }
}
