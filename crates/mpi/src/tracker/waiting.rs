//! What a process waits for, as edges of the wait-for graph: determined on request, without
//! disturbing the thread that waits.
//!
//! **Soundness.** Only other ranks can end a wait if everything that it needs is known: messages
//! and collectives of communicators whose members are ranks of this job, and windows. That excludes
//! requests of files and of `MPI_Grequest_start`, intercommunicators to other jobs, reductions by
//! functions of the program, which MPI runs within the call, and messages beside device work that
//! has not been waited for, behind which MPI's own copies may queue. Of collectives it is known
//! whether all have come to them, in which case they may go on. A host that waits for device work
//! needs what that needs of other ranks ([`OtherWork::needs`](crate::OtherWork::needs)).
//!
//! One-sided operations are carried out while their target is in MPI: they wait for other ranks
//! only where a lock excludes them or their target has not exposed its part. A lock counts as held
//! from the call that asks for it, so that ranks which ask for excluding locks at once count as
//! waiting for each other.
//!
//! A need says what others must do, not whether they have done it: the operation of a request may
//! be complete without anyone having checked.

use super::OneSided;
use super::Together;
use super::Tracker;
use super::onesided::target;
use super::operation::Operation;
use super::operations::Operations;
use crate::buffers::Args;
use crate::ids::{Key, Of, On, Token};
use crate::requests::{Request, State};
use crate::rma::windows::{Active, Lock};
use commsan_callsite::{Findings, Need, Place, Site};
use commsan_findings::record::{RawProgress, RawThread, RawWaiting, Record};
use commsan_findings::{Doing, Held, NeedKind, Role};
use commsan_job_shm::Answer;
use commsan_mpi_calls::{Call, Effect, Extent, Times};
use commsan_shadow::Access;
use std::borrow::Cow;
use std::sync::Arc;

/// Needs that are written at most, and ranks that they name in all: what fits a line of the log.
const MAX_NEEDS: usize = 12;
const MAX_RANKS: usize = 1000;

/// Communicators whose number of entered collectives is written at most.
const MAX_ENTERED: usize = 100;

/// Assumed bytes of an element whose size is not known.
const UNKNOWN_SIZE: u64 = 1 << 20;

/// Bytes that could be moved in the time that any operation takes, whatever its size.
const BYTES_PER_OPERATION: u64 = 50_000;

/// `MPI_Finalize` is a collective of all ranks; its name, and what it is called on in words.
const FINALIZE: (u64, &str) = (1, "all ranks");

/// A waiting process that is asked for its needs.
pub struct Asked<'a> {
    /// Incremented whenever the process starts or stops waiting.
    pub moves: u64,
    /// The call in which it waits.
    pub args: &'a Args<'a>,
    /// Requests that the call waits for.
    pub tokens: &'a [Token],
    /// What it is called on, if it is a collective.
    pub on: Option<On>,
    /// Number of other threads of the process, which wait for each other or for threads in MPI.
    pub beside: u32,
    /// The roll call that asks; 0 for another question.
    pub roll_call: u64,
}

/// What a thread does outside of MPI.
pub struct Outside<'a> {
    /// The kernel's number of the thread.
    pub id: i32,
    /// What it does.
    pub doing: Doing,
    /// The file that it does that with.
    pub file: Option<&'a str>,
    /// Return addresses, innermost first.
    pub stack: &'a [usize],
}

/// What can be found out without calling MPI, which only the waiting thread may do.
pub struct Facts<'a> {
    /// Bytes of an element of a datatype.
    pub size_of: &'a dyn Fn(usize) -> Option<usize>,
    /// Whether a reduction is a function of the program.
    pub is_program_code: &'a dyn Fn(usize) -> bool,
    /// The n-th element of an array of counts; the flag says whether they are large.
    pub count_at: &'a dyn Fn(usize, usize, bool) -> i64,
    /// `MPI_PROC_NULL`.
    pub proc_null: i32,
}

/// It is not known what a call needs.
pub(super) struct Unsure;

impl Together {
    /// The communicator or file that the operation of a call belongs to.
    #[inline]
    pub(super) fn of(&self, args: &Args) -> Of {
        let at = &args.call.at;
        let comm = at.comm.map(|index| On::Comm(args.words[index]));
        let on = comm.or_else(|| Some(On::File(args.words[at.file?])));
        let entered = on.filter(|_| args.call.enters).and_then(|on| self.on.find(on));
        Of {
            on,
            number: entered.map_or(0, |known| known.entered),
            peer: at.peer.map_or(0, |index| args.int(index)),
        }
    }

    /// What an operation needs; `None` if its peer is `MPI_PROC_NULL` or it needs no other rank.
    fn need(&self, operation: &Operation, facts: &Facts) -> Result<Option<Need>, Unsure> {
        let (call, Of { on, number, peer }) = (operation.call, operation.of);
        if call.effect == Effect::Rma {
            return Ok(None); // it needs nobody's call, unless the library needs a call to go on
        }
        let (on, site) = (on.ok_or(Unsure)?, Some(operation.site));
        if call.enters {
            return self.together(call, on, number, site).map(Some);
        }
        let On::Comm(comm) = on else { return Err(Unsure) };
        let both = call.at.dest.is_some() && call.at.source.is_some();
        let kind = match call.at.dest {
            _ if both || call.effect == Effect::InitPartitioned => NeedKind::Other,
            Some(_) => NeedKind::Send,
            None => NeedKind::Receive,
        };
        let peer = if both { -1 } else { peer };
        self.message(call, kind, comm, peer, operation.tag, site, facts)
    }

    fn members(&self, on: On) -> Result<Arc<[u32]>, Unsure> {
        let known = self.on.find(on).filter(|known| !known.members.is_empty());
        known.map(|known| known.members.clone()).ok_or(Unsure)
    }

    fn others(&self, on: On) -> Result<Vec<u32>, Unsure> {
        let (_, me) = self.rendezvous.ok_or(Unsure)?;
        Ok(self.members(on)?.iter().copied().filter(|rank| *rank != me).collect())
    }

    /// The other members of a collective, to enter it.
    fn together(
        &self,
        call: &'static Call,
        on: On,
        number: u32,
        site: Option<Site>,
    ) -> Result<Need, Unsure> {
        let ranks = self.others(on)?;
        let name = self.on.find(on).map_or(0, |known| known.name);
        let on = self.words_for(on);
        Ok(Need {
            kind: NeedKind::Collective,
            call: Cow::Borrowed(&call.name),
            site: site.map(|site| (Role::Operation, site)),
            ranks: ranks.into(),
            tag: None,
            on: on.into(),
            name,
            number,
        })
    }

    /// One of the other PEs, to change a variable or to release a lock.
    fn need_of_any(&self, call: &'static Call) -> Result<Need, Unsure> {
        let on = On::Pes(0);
        Ok(Need {
            kind: NeedKind::Other,
            call: Cow::Borrowed(&call.name),
            site: None,
            ranks: self.others(on)?.into(),
            tag: None,
            on: self.words_for(on).into(),
            name: 0,
            number: 0,
        })
    }

    fn need_of_finalize(&self, call: &'static Call) -> Result<Need, Unsure> {
        let (rendezvous, me) = self.rendezvous.ok_or(Unsure)?;
        let ranks = (0..rendezvous.moves().count() as u32).filter(|rank| *rank != me).collect();
        let (name, on) = FINALIZE;
        Ok(Need {
            kind: NeedKind::Collective,
            call: Cow::Borrowed(&call.name),
            site: None,
            ranks,
            tag: None,
            on: on.into(),
            name,
            number: 1,
        })
    }

    fn window(&self, call: &'static Call, win: usize) -> Result<Need, Unsure> {
        let on = On::Window(win);
        Ok(Need {
            kind: NeedKind::Window,
            call: Cow::Borrowed(&call.name),
            site: None,
            ranks: self.others(on)?.into(),
            tag: None,
            on: self.words_for(on).into(),
            name: self.on.find(on).map_or(0, |known| known.name),
            number: 0,
        })
    }

    /// A message to or from one rank of a communicator, or from any.
    #[expect(clippy::too_many_arguments, reason = "what an envelope consists of")]
    fn message(
        &self,
        call: &'static Call,
        kind: NeedKind,
        comm: usize,
        peer: i32,
        tag: Option<i32>,
        site: Option<Site>,
        facts: &Facts,
    ) -> Result<Option<Need>, Unsure> {
        if peer == facts.proc_null {
            return Ok(None);
        }
        let on = On::Comm(comm);
        let members = self.members(on)?;
        let ranks = match usize::try_from(peer) {
            Ok(peer) => vec![*members.get(peer).ok_or(Unsure)?],
            Err(_) => self.others(on)?,
        };
        let name = self.on.find(on).map_or(0, |known| known.name);
        let on = self.words_for(on);
        Ok(Some(Need {
            kind,
            call: Cow::Borrowed(&call.name),
            site: site.map(|site| (Role::Operation, site)),
            ranks: ranks.into(),
            tag,
            on: on.into(),
            name,
            number: 0,
        }))
    }

    /// An upper bound of the bytes that the call itself moves.
    fn bytes_of(&self, asked: &Asked, facts: &Facts) -> u64 {
        let args = asked.args;
        let comm = args.call.at.comm.map(|index| On::Comm(args.words[index]));
        let members = comm.and_then(|comm| self.members(comm).ok()).map_or(1, |all| all.len());
        let of = |rule: &commsan_mpi_calls::Rule| {
            let elements = match rule.extent {
                Extent::Blocks { count, times } => {
                    let times = match times {
                        Times::Once => 1,
                        Times::Param(index) => args.int(index).max(0) as usize,
                        Times::Size | Times::Local | Times::In | Times::Out => members,
                    };
                    args.count(count) as u64 * times as u64
                }
                Extent::Placed { counts, .. } | Extent::Sum(counts) | Extent::Own(counts)
                    if rule.on == commsan_mpi_calls::On::All && args.words[counts] != 0 =>
                {
                    let count = |n| (facts.count_at)(args.words[counts], n, args.call.large);
                    (0..members).map(|n| count(n).max(0) as u64).sum()
                }
                // What the root has for each rank, each rank has itself.
                Extent::Placed { .. } | Extent::Sum(_) | Extent::Own(_) => 0,
                Extent::One => 1,
            };
            let size =
                (facts.size_of)(args.words[rule.datatype]).map_or(UNKNOWN_SIZE, |size| size as u64);
            elements.saturating_mul(size)
        };
        args.call.accesses.iter().map(of).fold(0, u64::saturating_add)
    }
}

impl OneSided {
    /// Locks and exposed parts that others may wait for, or that let them continue.
    fn holds(&self) -> impl Iterator<Item = (u64, u32)> {
        self.windows.iter().flat_map(|window| {
            let locks = window.locks.iter();
            let locks = locks.map(|lock| (Key::Held.of(window.name), held(lock).number()));
            locks.chain(window.exposure.iter().map(|_| (Key::Exposed.of(window.name), 1)))
        })
    }
}

impl Tracker {
    /// Writes what this process waits for to the log; returns whether only other ranks can end
    /// that.
    pub fn waits(
        &mut self,
        asked: &Asked,
        facts: &Facts,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> Answer {
        self.settle();
        let call = asked.args.call;
        let needs = match call.effect {
            Effect::Wait | Effect::WaitAll | Effect::WaitAny | Effect::Some => {
                self.needs_of_requests(asked.tokens, facts)
            }
            _ => self.needs_of_call(asked, place.thread(), facts),
        };
        // That all have come to a collective, the report finds out: then it may go on.
        let by_work = self.others.work().entered();
        let has_work = self.others.work().has_work();
        let is_sure = needs.as_ref().is_ok_and(|needs| {
            let mut kinds = needs.iter().map(|need| need.kind);
            !needs.is_empty() && (!has_work || kinds.all(|kind| kind == NeedKind::Collective))
        });
        let is_sure = is_sure && by_work.is_some();
        let mut needs = needs.unwrap_or_default();
        let mut pending = self.pending(asked.tokens, facts);
        let bytes = self.operations.bytes_pending() + self.together.bytes_of(asked, facts);
        let mut room = MAX_RANKS;
        cut(&mut needs, &mut room);
        cut(&mut pending, &mut room);
        let mut entered: Vec<_> = self.entered().collect();
        entered.extend(self.together.name_between(asked.args).map(|name| (name, 0)));
        entered.extend(by_work.unwrap_or_default());
        if call.ends() {
            entered.push((FINALIZE.0, 1));
        }
        let site = self.reporter.site(call, place);
        let any = matches!(call.effect, Effect::WaitAny | Effect::Some);
        let Asked { moves, beside, roll_call, .. } = *asked;
        let waiting = RawWaiting {
            moves,
            site: (Role::Wait, site),
            again: false,
            beside,
            any,
            needs: needs.into(),
            pending: pending.into(),
            entered: entered.into(),
            roll_call,
        };
        out.emit(Record::Waiting(waiting), &self.reporter.stacks);
        if is_sure { Answer::Others(bytes) } else { Answer::Unsure }
    }

    /// What this process has called of MPI, and holds, that other ranks may need.
    fn entered(&self) -> impl Iterator<Item = (u64, u32)> {
        let on = self.together.on.entered().take(MAX_ENTERED);
        self.together.meetings().chain(on).chain(self.rma.holds().take(MAX_ENTERED))
    }

    /// Writes what this process waits for to the log if it waits for other work, beside so many
    /// other threads; returns whether only other ranks can end that.
    pub fn waits_for_work(
        &mut self,
        (moves, beside, roll_call): (u64, u32, u64),
        facts: &Facts,
        out: &mut dyn Findings,
    ) -> Answer {
        self.settle();
        let Some(job) = self.together.rendezvous else { return Answer::Unsure };
        let work = self.others.work();
        let needs = work.needs(job, &mut self.reporter.stacks);
        let needs = needs.filter(|(_, needs)| !needs.is_empty());
        let (Some((site, mut needs)), Some(mut entered)) = (needs, work.entered()) else {
            return Answer::Unsure;
        };
        let mut pending = self.pending(&[], facts);
        let bytes = self.operations.bytes_pending();
        let mut room = MAX_RANKS;
        cut(&mut needs, &mut room);
        cut(&mut pending, &mut room);
        entered.extend(self.entered());
        let waiting = RawWaiting {
            moves,
            site: (Role::Wait, site),
            again: false,
            beside,
            any: false,
            needs: needs.into(),
            pending: pending.into(),
            entered: entered.into(),
            roll_call,
        };
        out.emit(Record::Waiting(waiting), &self.reporter.stacks);
        Answer::Others(bytes)
    }

    /// Writes where a process that does not wait was last: its latest call, whether it repeats it,
    /// and what it has started.
    pub fn was_at(
        &mut self,
        (moves, roll_call): (u64, u64),
        (call, pc, again): (&'static Call, usize, bool),
        facts: &Facts,
        out: &mut dyn Findings,
    ) {
        self.settle();
        let stack = self.reporter.stacks.intern(&[pc]);
        let site = Site { call: Some(&call.name), thread: 0, stack, pc, remote: None };
        let mut pending = self.pending(&[], facts);
        cut(&mut pending, &mut MAX_RANKS.clone());
        // What others wait for that need this process: a roll call tells who has not come.
        let entered = match roll_call {
            0 => Vec::new(),
            _ => self.others.work().entered().unwrap_or_default(),
        };
        let waiting = RawWaiting {
            moves,
            site: (Role::Wait, site),
            again,
            beside: 0,
            any: false,
            needs: Cow::Borrowed(&[]),
            pending: pending.into(),
            entered: entered.into(),
            roll_call,
        };
        out.emit(Record::Waiting(waiting), &self.reporter.stacks);
    }

    /// Writes what threads do outside of MPI.
    pub fn threads_are(&mut self, roll_call: u64, threads: &[Outside], out: &mut dyn Findings) {
        for Outside { id, doing, file, stack } in threads {
            let site = stack.first().map(|pc| {
                let stack = self.reporter.stacks.intern(stack);
                (Role::Wait, Site { call: None, thread: 0, stack, pc: *pc, remote: None })
            });
            let file = file.map(Cow::Borrowed);
            let thread = RawThread { roll_call, id: *id, doing: *doing, file, site };
            out.emit(Record::Thread(thread), &self.reporter.stacks);
        }
    }

    /// Writes how far this process has come on each communicator, window and file.
    pub fn progress_is(&mut self, roll_call: u64, out: &mut dyn Findings) {
        let mut all: Vec<_> = self.together.on.named().collect();
        all.sort_unstable_by_key(|(_, known)| (!known.is_world(), known.name));
        for (on, known) in all.into_iter().take(MAX_ENTERED) {
            let last = known.blocking.filter(|(number, _)| *number == known.entered);
            let progress = RawProgress {
                roll_call,
                name: known.name,
                on: self.together.words_for(on).into(),
                entered: known.entered,
                site: last.map(|(_, site)| (Role::Operation, site)),
            };
            out.emit(Record::Progress(progress), &self.reporter.stacks);
        }
    }

    fn needs_of_requests(&mut self, tokens: &[Token], facts: &Facts) -> Result<Vec<Need>, Unsure> {
        let mut meant = Vec::new();
        for token in tokens {
            let Some(request) = self.requests.one(*token) else { continue };
            if request.is_active() {
                meant.push(request.sequence);
            }
        }
        let active = self.active().filter(|(request, _)| meant.contains(&request.sequence));
        let found: Vec<_> = active
            .map(|(_, operation)| self.together.need(operation, facts))
            .collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Needs of operations that were started before, and that the call does not wait for: the
    /// oldest first.
    fn pending(&self, tokens: &[Token], facts: &Facts) -> Vec<Need> {
        let mut others: Vec<_> = self
            .active()
            .filter(|(request, _)| tokens.iter().all(|token| token.key != request.key))
            .collect();
        others.sort_unstable_by_key(|(request, _)| request.sequence);
        let needs = others.into_iter();
        needs
            .filter_map(|(_, operation)| self.together.need(operation, facts).ok().flatten())
            .collect()
    }

    /// Requests that are active, with their operations.
    fn active(&self) -> impl Iterator<Item = (&Request, &Operation)> {
        self.requests.iter().filter_map(|request| {
            let id = match &request.state {
                State::Active(id) => *id,
                State::Partitions(ids) => ids.iter().flatten().next().copied()?,
                State::Inactive | State::Complete => return None,
            };
            Some((request, self.operations.live.get(id)?))
        })
    }

    fn needs_of_call(
        &self,
        asked: &Asked,
        thread: u32,
        facts: &Facts,
    ) -> Result<Vec<Need>, Unsure> {
        let Asked { args, on, .. } = asked;
        let (call, at) = (args.call, &args.call.at);
        if call.ends() {
            return self.together.need_of_finalize(call).map(|need| vec![need]);
        }
        if at.op.is_some_and(|index| (facts.is_program_code)(args.words[index])) {
            return Err(Unsure);
        }
        let on = on.or_else(|| self.symmetric.on(args));
        if on.is_none() && call.symmetric.is_some() {
            return self.together.need_of_any(call).map(|need| vec![need]);
        }
        if let Some(on) = on {
            let number = self.together.on.find(on).map_or(0, |known| known.entered);
            let mut needs = vec![self.together.together(call, on, number, None)?];
            if at.peer_comm.is_some() {
                needs.push(self.together.need_between(args)?);
            }
            return Ok(needs);
        }
        if call.is_by_group() {
            return Ok(vec![self.together.need_of_group(call, thread)?]);
        }
        if let Some(win) = at.win {
            return self.needs_of_window(args, args.words[win]);
        }
        // A matched message only needs time.
        let comm = at.comm.map(|index| args.words[index]).ok_or(Unsure)?;
        let int = |index: usize| args.int(index);
        let tag = |index: Option<usize>| index.map(int).filter(|tag| *tag >= 0);
        let mut needs = Vec::new();
        if let Some(dest) = at.dest.map(int) {
            needs.push(self.together.message(
                call,
                NeedKind::Send,
                comm,
                dest,
                tag(at.tag),
                None,
                facts,
            )?);
        }
        if let Some(source) = at.source.map(int) {
            let tag = tag(at.received_tag);
            needs.push(self.together.message(
                call,
                NeedKind::Receive,
                comm,
                source,
                tag,
                None,
                facts,
            )?);
        }
        Ok(needs.into_iter().flatten().collect())
    }

    /// What a call needs that synchronises a window or starts an operation on one. A started
    /// operation is carried out while its target is in any call of MPI (MPI 4.1 §12.7.3): it may
    /// take time, but waits for no other call once its lock is granted or the target's part
    /// exposed.
    fn needs_of_window(&self, args: &Args, handle: usize) -> Result<Vec<Need>, Unsure> {
        let call = args.call;
        let all = self.together.window(call, handle)?;
        let window = self.rma.windows.get(handle).ok_or(Unsure)?;
        let target = target(args);
        let is_meant =
            |lock: &&Lock| lock.target.is_none() || target.is_none() || lock.target == target;
        let locks = window.locks.iter().filter(is_meant).map(|lock| held(lock).number());
        let by_lock = locks.map(|number| Need {
            kind: NeedKind::Lock,
            name: Key::Held.of(window.name),
            number,
            ..all.clone()
        });
        let by_lock: Vec<_> = by_lock.collect();
        let of_access = |ranks: Vec<u32>| Need {
            kind: NeedKind::Exposure,
            name: Key::Exposed.of(window.name),
            ranks: ranks.into(),
            ..all.clone()
        };
        let others = |access: &Active| {
            access.ranks.iter().copied().filter(|rank| all.ranks.contains(rank)).collect()
        };
        match (call.effect, &window.access) {
            (
                Effect::Lock | Effect::Unlock | Effect::Flush | Effect::FlushLocal | Effect::Rma,
                _,
            ) if !by_lock.is_empty() => Ok(by_lock),
            (Effect::EpochEnd, Some(access)) => Ok(vec![of_access(others(access))]),
            (Effect::Rma, Some(_)) => {
                let target = target.and_then(|target| window.world(target)).ok_or(Unsure)?;
                Ok(vec![of_access(vec![target])])
            }
            // Between fences.
            (Effect::Rma, None) => Err(Unsure),
            _ => Ok(vec![all]),
        }
    }
}

impl Operations {
    /// Bytes of all operations that have been started, plus a constant for each.
    fn bytes_pending(&self) -> u64 {
        let bytes = |access: &Access| access.footprint.bytes() as u64;
        let of = |id| BYTES_PER_OPERATION + self.live.accesses(id).iter().map(bytes).sum::<u64>();
        self.live.iter().map(|(id, _)| of(id)).sum()
    }
}

fn held(lock: &Lock) -> Held {
    Held {
        target: lock.target.and_then(|target| target.try_into().ok()),
        exclusive: lock.exclusive,
    }
}

/// Drops what does not fit a line of the log.
fn cut(needs: &mut Vec<Need>, room: &mut usize) {
    needs.truncate(MAX_NEEDS);
    for need in needs {
        need.ranks.to_mut().truncate(*room);
        *room -= need.ranks.len();
    }
}
