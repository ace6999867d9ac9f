//! From a call and its outcome to the semantics: one arm for each effect of the call table.

use crate::again;
use crate::arguments::{self, buffered, keyvals};
use crate::calling;
use crate::collectives;
use crate::datatypes;
use crate::ending;
use crate::groups;
use crate::library::{Mpi, envelope};
use crate::order;
use crate::outcome::{
    self, After, Tokens, arrived, by_reference, flag_of, push_tokens, request_at, tokens,
};
use crate::phase;
use crate::races;
use crate::rank::{Rank, mode};
use crate::refused;
use crate::sessions;
use crate::startup;
use crate::streams;
use crate::sys;
use crate::windows;
use commsan_mpi::buffers::{contiguous, resolve};
use commsan_mpi::collective::communicators::On;
use commsan_mpi::{Acquisition, Args, BufferOwner, Passed, Synchronisation, Token, Wrong};
use commsan_mpi_calls::Effect;
use commsan_shadow::{Access, Footprint, Mode};
use commsan_threads::{Here, agents};
use smallvec::SmallVec;
use std::ffi::c_int;
use std::ops::Range;

/// What must be known of the arguments before the library changes them. Filled in place: moving
/// what has just been written piece by piece stalls the processor.
#[derive(Default)]
pub(crate) struct Before {
    /// What the request arguments refer to.
    tokens: Tokens,
    /// Persistent requests that are about to be started.
    started: Tokens,
    /// A handle that is about to be freed, or the position of `MPI_Pack` or `MPI_Unpack`.
    word: usize,
    /// Requests that a stream is to wait for.
    enqueued: Vec<usize>,
    /// What a call that synchronises a window specifies.
    sync: Synchronisation,
}

impl Before {
    /// Records the arguments, and does what must be done before the call.
    pub fn look(&mut self, rank: &dyn Rank, args: &Args, here: &Here) {
        match args.call.effect {
            Effect::Wait
            | Effect::Test
            | Effect::WaitAll
            | Effect::TestAll
            | Effect::WaitAny
            | Effect::TestAny
            | Effect::Some
            | Effect::GetStatus
            | Effect::Cancel
            | Effect::Parrived
            | Effect::SplitEnd => push_tokens(args, rank.now(), &mut self.tokens),
            Effect::Go | Effect::GoAll => {
                push_tokens(args, rank.now(), &mut self.started);
                rank.with(here.thread, &mut |tracker, out| {
                    for token in &self.started {
                        tracker.go_order(*token);
                        tracker.go(args, *token, here, out);
                    }
                });
            }
            Effect::Free => rank.with(here.thread, &mut |tracker, out| {
                for token in tokens(args, tracker.now()) {
                    if tracker.free(token, &args.call.name, here, out) {
                        calling::reported(here.thread);
                    }
                }
            }),
            Effect::Pready | Effect::PreadyRange | Effect::PreadyList => {
                rank.with(here.thread, &mut |tracker, out| {
                    if mode().is_ordered() {
                        tracker.release_by_partitions();
                    }
                    for token in tokens(args, tracker.now()) {
                        let partitions = ready(args);
                        tracker.ready(args, token, partitions.into_iter(), here, out);
                    }
                });
            }
            Effect::MemFree => rank.with(here.thread, &mut |tracker, out| {
                // Fortran passes the memory itself, as C passes a pointer to it: both are the
                // address.
                let base = args.words[0];
                let bytes = base..base + tracker.library_memory.take_allocation(base);
                tracker.released(&args.call.name, Some(&args.call.name), bytes, here, out);
            }),
            Effect::TypeFree => self.word = by_reference(args),
            Effect::KeyvalFree => self.word = keyvals::to_be_freed(args),
            Effect::GrequestComplete => rank.with(here.thread, &mut |tracker, out| {
                for token in tokens(args, tracker.now()) {
                    if tracker.completes_own(args, token, here, out) {
                        calling::reported(here.thread);
                    }
                }
            }),
            Effect::CommFree => {
                self.word = by_reference(args);
                if args.call.name == "MPI_Comm_disconnect" {
                    rank.with(here.thread, &mut |tracker, out| {
                        tracker.closes(On::Comm(self.word), &args.call.name, here, out);
                    });
                }
            }
            Effect::Attach | Effect::Detach => windows::before_attached(rank, args, here),
            Effect::Window => {
                self.sync.info = windows::info(args);
                windows::before_made(rank, args, here);
            }
            Effect::WindowInfo => self.sync.info = windows::info(args),
            Effect::WindowFree => {
                self.word = by_reference(args);
                windows::before_freed(rank, args, self.word, here);
            }
            Effect::FileClose => {
                let file = by_reference(args);
                rank.with(here.thread, &mut |tracker, out| {
                    tracker.closes(On::File(file), &args.call.name, here, out);
                });
            }
            effect if synchronises(effect) => self.sync = windows::before_sync(rank, args, here),
            Effect::Pack | Effect::Unpack => {
                self.word = position(args);
            }
            Effect::Block if args.call.is_by_group() => {
                collectives::to_be_made_by_group(rank, args, here);
            }
            Effect::Enqueue => {
                self.enqueued = streams::requests(args);
                streams::before(rank, args, here);
            }
            Effect::Finalize => ending::before(rank, here),
            Effect::SessionEnd => {
                if sessions::ends_all(args) {
                    ending::before(rank, here);
                }
                sessions::ends(args);
            }
            Effect::Abort => {
                refused::aborts(rank, here);
                rank.abort(here.thread);
            }
            _ => {}
        }
    }

    /// The requests that the call was given to complete.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }
}

/// Whether the call begins, ends or completes something about a window.
fn synchronises(effect: Effect) -> bool {
    use Effect::*;
    matches!(
        effect,
        Fence
            | EpochBegin
            | EpochEnd
            | ExposureBegin
            | ExposureEnd
            | Lock
            | Unlock
            | Flush
            | FlushLocal
            | WindowSync
    )
}

/// Reports a call whose buffers overlap; returns whether that was looked at.
#[cold]
pub(crate) fn look_at_aliases(rank: &dyn Rank, args: &Args, here: &Here) -> bool {
    let is_use = matches!(args.call.effect, Effect::Block | Effect::Start | Effect::Rma);
    if is_use {
        let accesses = resolve(args, &Mpi);
        rank.with(here.thread, &mut |tracker, out| {
            tracker.reporter.check_itself(args, &accesses, here, out);
        });
    }
    is_use
}

impl After<'_> {
    /// Passes to the semantics what has happened.
    pub fn run(&self, before: &Before) {
        let tokens = &before.tokens;
        if self.args.call.is_by_group() {
            collectives::made_by_group(self.rank, self.args, self.here, self.ok);
        }
        match self.args.call.effect {
            Effect::Block if self.ok => self.block(),
            Effect::Enqueue if self.ok => self.enqueued(&before.enqueued),
            Effect::Stream if self.ok => streams::made(self.args),
            // Complete with or without an error: an error is the operation's own.
            Effect::Wait | Effect::SplitEnd => self.complete(tokens),
            Effect::WaitAll if self.ok => self.complete(tokens),
            Effect::Init | Effect::InitPartitioned if self.ok => {
                let mut accesses = resolve(self.args, &Mpi);
                let request = self.request();
                let templates = match mode().is_ordered() {
                    true => order::templates(self.args),
                    false => SmallVec::new(),
                };
                let arrays = self.arrays();
                self.with(|tracker, _| {
                    tracker.init(self.args, &mut accesses, &Mpi, request, self.here);
                    if !arrays.is_empty() {
                        tracker.keeps_arrays(self.args, request, &arrays, self.here);
                    }
                    tracker.rma.init_order(request.0, &templates);
                });
            }
            Effect::Go | Effect::GoAll => {
                let handles = outcome::tokens(self.args, 0);
                for (token, handle) in before.started.iter().zip(&handles) {
                    if token.key != handle.key {
                        self.with(|tracker, _| tracker.renamed(*token, handle.key));
                    }
                }
            }
            Effect::SplitBegin if self.ok => {
                let mut accesses = resolve(self.args, &Mpi);
                let file = self.args.call.at.file.map_or(0, |index| self.args.words[index]);
                self.with(|tracker, out| {
                    tracker.start(self.args, &mut accesses, (file, file), self.here, out);
                });
            }
            Effect::MemAlloc if self.ok => {
                // SAFETY: the call has stored an address there, in C and Fortran alike.
                let base = unsafe { *(self.args.words[2] as *const usize) };
                self.with(|tracker, _| tracker.library_memory.allocated(base, self.args.words[0]));
            }
            Effect::BufferAttach if self.ok => {
                let owner = buffered::owner(self.args);
                let memory = buffered::given(self.args);
                buffered::attached(owner, memory.clone());
                if let Some(memory) = memory {
                    self.with(|tracker, out| {
                        tracker.attach_buffer(self.args, owner, memory.clone(), self.here, out);
                    });
                }
            }
            Effect::BufferDetach if self.ok => self.buffer_gone(buffered::owner(self.args)),
            Effect::TypeFree if self.ok => {
                again::freed();
                datatypes::forget(before.word);
                self.with(|tracker, _| tracker.accounts.handle_gone(before.word));
            }
            Effect::KeyvalMake if self.ok => keyvals::made(self.args),
            Effect::KeyvalFree if self.ok => keyvals::freed(before.word),
            Effect::TypeCommit if self.ok => datatypes::committed(by_reference(self.args)),
            Effect::CommFree if self.ok => {
                again::freed();
                races::freed();
                groups::forget(before.word);
                streams::comm_freed(before.word);
                self.buffer_gone(BufferOwner::Comm(before.word));
                self.with(|tracker, _| {
                    tracker.rma.comm_freed(before.word);
                    tracker.accounts.handle_gone(before.word);
                });
            }
            Effect::Window if self.ok => self.window_made(&before.sync.info),
            Effect::WindowInfo if self.ok => self.window_told(&before.sync),
            Effect::WindowFree if self.ok => self.window_freed(before.word),
            Effect::Attach if self.ok => self.attached(),
            Effect::Detach if self.ok => self.detached(),
            Effect::ExposureEnd if !self.flag() => {}
            // An epoch that could not be closed is of no interest any more.
            effect if synchronises(effect) && (self.ok || effect == Effect::Unlock) => {
                self.synchronised(&before.sync);
            }
            Effect::Pack | Effect::Unpack if self.ok => self.packed(before.word),
            Effect::Finalize => ending::after(self.rank, self.here),
            Effect::Session if self.ok => sessions::follow(self.rank, self.args, self.here),
            Effect::Begin if self.ok && phase::are_alone() => {
                startup::join(self.rank, self.args, self.here);
            }
            _ if !tokens.is_empty() => self.completed(tokens),
            _ => {}
        }
    }

    /// An operation has started: everything that calls need which do nothing else.
    pub fn start(&self, acquisitions: &[Acquisition]) {
        let request = self.request();
        self.races(Some(request.0));
        self.steps(Some(request.0));
        if self.args.call.parts {
            self.pass_parts();
        }
        if !acquisitions.is_empty() {
            order::postpone(self.rank, request.0, self.here, acquisitions);
        }
        let bytes = contiguous(self.args, &Mpi);
        let counted = bytes.is_some();
        if let Some(bytes) = bytes {
            let mut started = false;
            self.with(|tracker, out| {
                tracker.messages(self.args, self.here, &Mpi, out);
                started = tracker.start_young(self.args, &bytes, request, self.here);
            });
            if started {
                return;
            }
        }
        let mut accesses = resolve(self.args, &Mpi);
        let arrays = self.arrays();
        self.with(|tracker, out| {
            if !counted {
                tracker.messages(self.args, self.here, &Mpi, out);
            }
            tracker.start(self.args, &mut accesses, request, self.here, out);
            if !arrays.is_empty() {
                tracker.uses_arrays(request, &arrays, self.here);
            }
        });
    }

    /// What a collective uses besides its buffers.
    fn arrays(&self) -> Vec<(&'static str, Range<usize>)> {
        match self.args.call.has_arrays {
            true => arguments::arrays(self.args),
            false => Vec::new(),
        }
    }

    fn pass_parts(&self) {
        let passed = Passed::of(self.args, &Mpi);
        self.with(|tracker, _| tracker.pass_parts(&passed, self.here, &Mpi));
    }

    /// A call that touched its buffers before it returned.
    fn block(&self) {
        let call = self.args.call;
        if call.parts {
            self.pass_parts();
        }
        self.races(None);
        let informs = call.collective || call.at.status.is_some();
        let receives = call.at.source.is_some() && !call.accesses.is_empty();
        let counts = call.at.dest.is_some() || receives;
        if call.at.message.is_some() {
            self.matched();
        }
        let alone = !agents::is_parallel();
        if alone && !self.rank.pending() && call.accesses.len() < 2 {
            if counts {
                self.with(|tracker, out| tracker.messages(self.args, self.here, &Mpi, out));
            }
            return;
        }
        let words = arrived(self.args);
        let args = Args { words: &words, ..*self.args };
        let mut accesses = resolve(&args, &Mpi);
        self.with(|tracker, out| {
            if counts {
                tracker.messages(self.args, self.here, &Mpi, out);
            }
            tracker.popped(&call.name, self.here, out);
            tracker.check(&args, &accesses, self.here, out);
            tracker.touched(&args, &accesses, self.here);
            if informs {
                tracker.communicated();
            }
            if !alone {
                tracker.has_used(&args, &mut accesses, order::releases(call), self.here);
            }
        });
    }

    /// `MPI_Pack`, `MPI_Unpack` and the like: the packed side lies between the positions.
    fn packed(&self, before: usize) {
        let pack = self.args.call.effect == Effect::Pack;
        let index = |name| self.args.call.named(name);
        let room = if pack { ["outsize", "outsize_wide"] } else { ["insize", "insize_wide"] };
        let after = position(self.args);
        // Not all libraries detect this (MPI 4.1 §5.2).
        if let Some(room) = room.into_iter().find_map(index)
            && after > self.args.words[room]
        {
            let (name, size) = (self.args.call.params[room].shown(), self.args.words[room]);
            let wrong =
                Wrong::value(name, format!("is {size}, but the packed data ends at byte {after}"));
            self.with(|tracker, out| {
                tracker.reporter.wrong_argument(self.args, &wrong, self.here, out)
            });
        }
        if !self.rank.pending() {
            return;
        }
        let buffer = index(if pack { "outbuf" } else { "inbuf" });
        let buffer = buffer.map_or(0, |index| self.args.words[index]);
        let packed = buffer + before..buffer + after;
        let mode = if pack { Mode::Write } else { Mode::Read };
        let mut accesses = resolve(self.args, &Mpi);
        accesses[1] =
            (!packed.is_empty()).then_some(Access { mode, footprint: Footprint::Dense(packed) });
        self.with(|tracker, out| {
            tracker.check(self.args, &accesses, self.here, out);
            tracker.touched(self.args, &accesses, self.here);
        });
    }

    /// The request that the call stored, and where.
    pub(crate) fn request(&self) -> (usize, usize) {
        let variable = self.args.call.at.request.map_or(0, |i| self.args.words[i]);
        // SAFETY: the call has succeeded and stored a handle there.
        (unsafe { request_at(variable, self.args.fortran) }, variable)
    }

    /// Source and tag of the message that the call is about, if it has a status.
    pub(crate) fn status(&self) -> Option<(i32, i32)> {
        let status = self.args.call.at.status.map(|index| self.args.words[index]);
        // SAFETY: the call has filled its status, if it has one.
        status.and_then(|status| unsafe { envelope(status) })
    }

    /// Whether the call says that something has happened; those without a flag do by returning.
    pub(crate) fn flag(&self) -> bool {
        flag_of(self.args)
    }

    /// A call that may have completed requests.
    fn completed(&self, tokens: &[Token]) {
        let call = self.args.call;
        let result = |at: Option<usize>| {
            let pointer = at.map(|i| self.args.words[i]);
            // SAFETY: a result of the call, which has set it.
            pointer.map_or(1, |p| unsafe { *(p as *const c_int) })
        };
        let flag = self.flag();
        // Fortran counts from 1. MPICH 4.0's mpi_f08 returns indices from 0, so there both readings
        // count: completing one too many can only lose a finding.
        let base = c_int::from(self.args.fortran);
        let at = |index: c_int| {
            let exact = tokens.get(index.wrapping_sub(base) as usize);
            let other = tokens.get(index as usize);
            exact.into_iter().chain(other.filter(|_| cfg!(feature = "mpich") && base == 1)).copied()
        };
        let mut done: Tokens = SmallVec::new();
        match call.effect {
            Effect::WaitAll | Effect::TestAll if !self.ok => done.extend(self.gone(tokens)),
            Effect::Test | Effect::TestAll if flag => done.extend(tokens.iter().copied()),
            Effect::WaitAny | Effect::TestAny if flag && self.ok => {
                done.extend(at(result(call.at.result)));
            }
            Effect::Some if self.ok => {
                let n = result(call.at.result);
                let indices = call.at.indices.map_or(0, |i| self.args.words[i]);
                if n != sys::MPI_UNDEFINED {
                    // SAFETY: as many indices as the call says.
                    let index = |i| unsafe { *(indices as *const c_int).add(i) };
                    done.extend((0..n.max(0) as usize).flat_map(|i| at(index(i))));
                }
            }
            Effect::WaitAny | Effect::TestAny | Effect::Some if !self.ok => {
                done.extend(self.gone(tokens));
            }
            Effect::GetStatus if flag && self.ok => {
                let n = result(call.at.result);
                let known: Tokens = match (call.at.requests, call.at.indices, call.at.result) {
                    (Some(_), Some(indices), _) if n != sys::MPI_UNDEFINED => {
                        let indices = self.args.words[indices];
                        // SAFETY: as many indices as the call says.
                        let index = |i| unsafe { *(indices as *const c_int).add(i) };
                        (0..n.max(0) as usize).flat_map(|i| at(index(i))).collect()
                    }
                    (Some(_), None, Some(_)) => at(n).collect(),
                    (Some(_), Some(_), _) => Tokens::new(),
                    _ => tokens.into(),
                };
                self.with(|tracker, out| {
                    for token in &known {
                        tracker.accounts.may_know(*token);
                        tracker.status_true(*token, &call.name, self.here, out);
                        tracker.acquire_from_request(*token, self.status(), self.here, out);
                    }
                });
            }
            Effect::Cancel if self.ok => {
                self.with(|tracker, _| tokens.iter().for_each(|token| tracker.cancel(*token)));
            }
            Effect::Parrived if flag && self.ok => {
                let partition = call.at.partition.map_or(0, |i| self.args.int(i));
                self.with(|tracker, out| {
                    for token in tokens {
                        let partition = partition.max(0) as usize;
                        tracker.arrived(*token, partition, &call.name, self.here, out);
                        tracker.acquire_from_partition(*token, self.here, out);
                    }
                });
            }
            _ => {}
        }
        if !done.is_empty() {
            self.complete(&done);
        }
    }

    /// A buffer has been detached, or what it was attached to is freed.
    fn buffer_gone(&self, owner: BufferOwner) {
        if buffered::detached(owner) {
            self.with(|tracker, out| {
                tracker.detach_buffer(owner, &self.args.call.name, self.here, out)
            });
        }
    }

    fn complete(&self, done: &[Token]) {
        if races::are_possible() {
            self.have_received(done);
        }
        self.steps_done(done);
        let call = &self.args.call.name;
        self.with(|tracker, out| {
            tracker.popped(call, self.here, out);
            for token in done {
                tracker.complete(*token, call, self.here, out);
            }
            tracker.doubt_others_of(done, out);
            if mode().is_ordered() {
                let status = self.status().filter(|_| done.len() == 1);
                done.iter()
                    .for_each(|token| tracker.acquire_from_request(*token, status, self.here, out));
            }
        });
    }

    /// After an error: the requests whose variables the library has set to null. They are
    /// complete, with or without an error of their own.
    fn gone(&self, tokens: &[Token]) -> Tokens {
        let mut gone = SmallVec::new();
        self.with(|tracker, _| {
            let now = outcome::tokens(self.args, tracker.now());
            let pairs = tokens.iter().zip(now);
            gone.extend(pairs.filter(|(_, now)| !tracker.knows(*now)).map(|(token, _)| *token));
        });
        gone
    }
}

/// Where in a packed buffer a call begins, or has ended.
fn position(args: &Args) -> usize {
    let is_wide = |name| args.call.named(name).is_some();
    let wide = args.call.large || is_wide("outsize_wide") || is_wide("insize_wide");
    let position = args.call.at.position.map_or(0, |index| args.words[index]);
    // SAFETY: the call's argument, a pointer to an integer of this size.
    let position = unsafe {
        match wide {
            true => *(position as *const i64),
            false => i64::from(*(position as *const c_int)),
        }
    };
    position.max(0) as usize
}

/// The partitions that a call marks as ready.
fn ready(args: &Args) -> Vec<usize> {
    let int = |name: &str| args.call.named(name).map_or(0, |i| args.int(i).max(0) as usize);
    match args.call.effect {
        Effect::PreadyRange => (int("partition_low")..=int("partition_high")).collect(),
        Effect::PreadyList => {
            let list = args.call.named("partitions_array").map_or(0, |i| args.words[i]);
            // SAFETY: the call's own array, as long as it says.
            let partition = |i| unsafe { *(list as *const c_int).add(i) };
            (0..int("length")).map(|i| partition(i).max(0) as usize).collect()
        }
        _ => vec![int("partition")],
    }
}
