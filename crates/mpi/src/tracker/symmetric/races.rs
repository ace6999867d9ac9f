//! What PEs do to symmetric memory, and in which order: each operation is announced to the PE whose
//! memory it accesses, like one on a window ([`crate::rma`]), and compared there with what that PE
//! does itself.
//!
//! There are two windows: one of the heap, and one of the program's static variables. A put, or an
//! atomic that returns nothing, may access its target until this PE has waited for it: by
//! `shmem_quiet` on its context, a barrier, `shmem_clear_lock`, or a call that allocates or frees
//! (OpenSHMEM 1.4 §9.10.2). After `shmem_fence` it precedes at the target whatever this PE starts
//! there in the same context (§9.10.1): whoever learns of the latter finds the former complete.
//! Nothing but a barrier says that operations are complete to PEs that meet in a collective.
//!
//! What is stored at a PE may be a signal: before a put or an atomic is made, what this PE has done
//! is released to the words that it writes. A PE that waits for such a word of its own
//! (`shmem_wait_until`, `shmem_test`), or fetches it atomically, acquires that; so does one that
//! gets a lock from one that has cleared it.
//!
//! **Soundness.** Reported are two accesses to a common byte, one of which writes and not both
//! atomic, that nothing of this orders, nor a call of MPI. More order than there is comes from
//! - words whose cells coincide, and earlier stores to a word that another one has replaced;
//! - a fence, after which something else was started at the same PE: it counts as seen by whoever
//!   comes after that, and not only by who has looked at what was stored;
//! - `shmem_ptr`: once it has returned another PE's memory, nothing is reported, since loads and
//!   stores by that address may order anything.
//!
//! Missed is besides that puts of a PE to itself may not be complete when they return; repetitions
//! of a put by one call, whose order nothing ensures, and puts of one element with equal values;
//! variables of libraries, and variables that are first used late
//! ([`super::variables`]); and what an operation on a static variable meets that was accessed
//! before `shmem_init`.

use super::Symmetric;
use super::call::{Call, Elements};
use crate::ids::{Group, mixed};
use crate::rma::accumulate::{Atomic, Combine, Rules};
use crate::rma::cells::Cells;
use crate::rma::knowledge::Event;
use crate::rma::message::{AccessEpoch, Announced, RmaMessage, Symmetric as Meant, Which};
use crate::rma::outbox::{Next, Unsent};
use crate::rma::windows::{Made, Part};
use crate::tracker::{OneSided, Tracker};
use commsan_callsite::{Findings, Place, Site};
use commsan_mpi_calls::shmem::Kind;
use commsan_shadow::{Epoch, Mode, Pattern, Runs};
use std::ops::Range;

/// The windows, by handles that no library has.
const HEAP: usize = 2;
pub(super) const DATA: usize = 3;

/// What this PE has started at another one in a context.
#[derive(Default)]
pub struct Issued {
    /// In the heap, and in static variables: whether something may not be complete.
    open: [bool; 2],
    /// The number of the operation before which a fence was called.
    fenced: Option<u32>,
}

/// The name that a window has on all PEs.
pub(super) fn name(handle: usize) -> u64 {
    mixed(0x5e77, handle as u64)
}

/// The cell of a lock.
fn lock(handle: usize, offset: i64) -> u64 {
    mixed(name(handle) ^ 0x10c4, offset as u64)
}

/// Under this key PEs say that they access others' memory by loads and stores.
const SHARED: u64 = 0x5e77_5a7e_d000_0001;

/// The number of a context.
fn number(ctx: usize) -> u32 {
    if ctx == 0 { 0 } else { (mixed(ctx as u64, 1) as u32) >> 4 | 1 }
}

/// How an atomic call accesses its element.
fn atomic(call: &Call) -> Option<Atomic> {
    let size = call.bytes() as u8;
    let op = if call.kind == Kind::AtomicRead { Combine::Nothing } else { Combine::Swap };
    call.kind.is_atomic().then(|| Atomic { datatype: 0, size, op, rules: Rules::default() })
}

/// What a call stores that stores one element and is not atomic, as a number; 0 if that is not
/// known.
fn stored(call: &Call) -> u64 {
    let bytes = call.bytes();
    let value = match (call.word("value"), call.word("source")) {
        (Some(value), _) => value as u64,
        // SAFETY: the call is about to read these bytes.
        (None, Some(at)) if at != 0 && bytes <= 8 && call.word("nelems") == Some(1) => unsafe {
            let mut value = 0_u64;
            std::ptr::copy_nonoverlapping(at as *const u8, (&raw mut value).cast(), bytes);
            value
        },
        _ => return 0,
    };
    let is_put = matches!(call.kind, Kind::Put | Kind::PutNbi);
    if is_put { mixed(value, bytes as u64) | 1 } else { 0 }
}

impl Elements {
    /// The bytes, relative to the first element.
    fn pattern(self) -> Pattern {
        let bytes = self.bytes as isize;
        Pattern::dense(0, bytes).repeat(self.count, self.stride.saturating_mul(bytes))
    }
}

impl Symmetric {
    /// The window that an address belongs to.
    fn window(&self, at: usize) -> Option<usize> {
        if self.heap.block(at).is_some() {
            return Some(HEAP);
        }
        self.variables.bytes.contains(&at).then_some(DATA)
    }
}

impl Tracker {
    /// Memory with this base is a window from now on.
    pub(super) fn follow_symmetric(
        &mut self,
        handle: usize,
        base: usize,
        group: Group,
        site: Site,
    ) {
        if self.rma.clock.is_none() || self.rma.windows.get(handle).is_some() {
            return;
        }
        let own = Some(self.symmetric.me as usize);
        let part = Part { size: u64::MAX, unit: 1 };
        let made = Made {
            handle,
            group,
            own,
            base,
            allocated: false,
            part,
            parts: Vec::new(),
            dynamic: false,
            rules: Rules::default(),
            separate: false,
            views: Vec::new(),
        };
        let since = self.end_segment();
        self.rma.windows.add_named(name(handle), made, site, since);
    }

    /// A block has been allocated. The first one is where offsets begin, on all PEs.
    pub(super) fn follow_block(&mut self, bytes: Range<usize>, site: Site) {
        let group = Group::new((0..self.symmetric.pes as u32).collect());
        self.follow_symmetric(HEAP, bytes.start, group, site);
        self.rma.blocks.insert(bytes.start, bytes.end);
        if let Some(exposed) = &mut self.rma.exposed {
            self.rma.incomplete |= !exposed.add(&bytes);
        }
    }

    /// A block is no more.
    pub(super) fn unfollow_block(&mut self, bytes: &Range<usize>) {
        self.rma.blocks.remove(&bytes.start);
        if let Some(exposed) = &mut self.rma.exposed {
            exposed.forget_bytes(bytes);
            exposed.remove(bytes);
        }
    }

    /// OpenSHMEM is about to be finalised.
    pub(super) fn leave_symmetric_memory(&mut self) {
        for handle in [HEAP, DATA] {
            if self.rma.windows.remove(handle).is_some() {
                self.rma.remotes.close(name(handle));
            }
        }
    }

    /// A PE may load from and store to another one's memory from now on.
    pub(super) fn shmem_is_shared(&mut self) {
        if let Some(clock) = &self.rma.clock
            && !self.rma.is_symmetric_memory_shared()
        {
            clock.shm().publish_part(SHARED, 1, 1);
        }
    }

    /// What accesses an element of this window's memory: in which context, at which PE.
    fn issued(&mut self, pe: u32, ctx: usize) -> &mut Issued {
        self.symmetric.issued.entry((pe, number(ctx))).or_default()
    }

    /// A fence is called.
    pub(super) fn shmem_fences(&mut self, ctx: usize) {
        let (ctx, next) = (number(ctx), self.rma.announced);
        for ((_, of), issued) in &mut self.symmetric.issued {
            if *of == ctx && issued.open.contains(&true) {
                issued.fenced = Some(next);
            }
        }
    }

    /// Something is about to be started at a PE: what a fence precedes is there before.
    fn shmem_after_fence(&mut self, pe: u32, ctx: usize) {
        let issued = self.issued(pe, ctx);
        let Some(before) = issued.fenced.take() else { return };
        let open = issued.open;
        self.shmem_says_complete(pe, open, Meant { ctx: number(ctx), before, reads: false });
    }

    fn shmem_says_complete(&mut self, pe: u32, open: [bool; 2], which: Meant) {
        self.begin_own_segment();
        let Some(clock) = &mut self.rma.clock else { return };
        // Whichever thread has started them.
        let stamp = Epoch::default();
        let event = Event { rank: clock.me(), segment: clock.segment(), stamp };
        for (handle, is_open) in [HEAP, DATA].into_iter().zip(open) {
            if is_open {
                let (window, which) = (name(handle), Which::Symmetric(which));
                clock.send(pe, &RmaMessage::Complete { window, event, which });
            }
        }
    }

    /// What this PE has started in a context, or in all, will be complete when the call returns.
    pub(super) fn shmem_completes(&mut self, ctx: Option<usize>) {
        if self.symmetric.issued.is_empty() {
            return;
        }
        let before = self.rma.announced;
        let is_meant = |of: u32| ctx.is_none_or(|ctx| number(ctx) == of);
        let done: Vec<_> = self.symmetric.issued.extract_if(|(_, of), _| is_meant(*of)).collect();
        for ((pe, ctx), Issued { open, .. }) in done {
            self.shmem_says_complete(pe, open, Meant { ctx, before, reads: true });
        }
    }

    /// An operation on another PE's memory is about to be started.
    pub(super) fn shmem_announces(
        &mut self,
        call: &Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some((_, there)) = call.there().filter(|(_, there)| there.count > 0) else { return };
        let (Some(pe), true) = (call.int("pe"), self.rma.clock.is_some()) else { return };
        let Some(handle) = self.symmetric.window(there.at) else { return };
        let Some(base) = self.rma.windows.get(handle).map(|window| window.made.base) else {
            return;
        };
        let reads = matches!(call.kind, Kind::Get | Kind::GetNbi | Kind::AtomicRead);
        let mode = if reads { Mode::Read } else { Mode::Write };
        let atomic = atomic(call);
        let (ctx, pe) = (self.symmetric.ctx(call), pe as u32);
        self.count_operation();
        if let Some(span) = there.span() {
            self.use_variables(&span);
        }
        self.take_messages(place, out);
        self.shmem_after_fence(pe, ctx);
        let site = self.reporter.site(call.args.call, place);
        let offset = there.at.wrapping_sub(base) as i64;
        let row = call.args.call.row;
        if mode == Mode::Read {
            let size = there.span().map_or(0, |span| span.len() as u64);
            let next = Next { handle, call: row, stack: site.stack, start: offset, size };
            if self.shmem_goes_on(pe, call, &next) {
                return;
            }
        }
        let pattern = there.pattern();
        if mode == Mode::Write {
            let cells = Cells::of(name(handle), offset, &pattern);
            self.begin_own_segment();
            if let Some(clock) = &mut self.rma.clock {
                cells.signalled().for_each(|cell| clock.add(pe, cell));
            }
            self.end_segment();
        }
        self.begin_own_segment();
        let site_number = self.rma.number_of(&self.reporter.stacks, &site, call.args.call, out);
        let is_own = pe as i32 == self.symmetric.me;
        let returns_complete =
            is_own || matches!(call.kind, Kind::Get | Kind::AtomicRead | Kind::AtomicUpdate);
        let Some(clock) = &mut self.rma.clock else { return };
        let operation = Announced {
            window: name(handle),
            origin: clock.me(),
            segment: clock.segment(),
            call: row,
            site: site_number,
            number: self.rma.announced,
            mode,
            atomic,
            epoch: AccessEpoch::Symmetric(number(ctx)),
            each: None,
            complete: false,
            stored: stored(call),
            runs: Runs::of(&pattern, offset),
        };
        self.rma.announced = self.rma.announced.wrapping_add(1);
        if mode == Mode::Read && (atomic.is_some() || operation.is_simple()) {
            let stack = site.stack;
            clock.announce(Unsent { to: pe, handle, stack, operation, again: 0, returns_complete });
        } else {
            let complete = returns_complete;
            clock.announce_now(pe, Announced { complete, ..operation });
        }
        if !returns_complete {
            self.issued(pe, ctx).open[handle - HEAP] = true;
        }
        if is_own {
            self.drain(place, out);
        }
    }

    /// Whether a read goes on where another one has ended that is not announced yet.
    fn shmem_goes_on(&mut self, pe: u32, call: &Call, next: &Next) -> bool {
        let is_simple = call.elements_are_adjacent();
        let Some(clock) = self.rma.clock.as_mut().filter(|clock| !clock.outbox.is_empty()) else {
            return false;
        };
        if !is_simple {
            return false;
        }
        if call.kind != Kind::GetNbi && clock.outbox.says(pe, next) {
            return true;
        }
        if call.kind.is_atomic() {
            return false;
        }
        let Some((at, step)) = clock.outbox.find(pe, next) else { return false };
        clock.outbox.add(at, step, next);
        true
    }

    /// This PE has seen what it waited for in memory of its own.
    pub(super) fn shmem_waited(&mut self, call: &Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(at) = call.word("ivar") else { return };
        self.use_variables(&(at..at + call.bytes()));
        self.shmem_acquires(self.symmetric.me as u32, at..at + call.bytes(), place, out);
    }

    /// An atomic has returned what it has read.
    pub(super) fn shmem_fetched(
        &mut self,
        call: &Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let (Some((_, there)), Some(pe)) = (call.there(), call.int("pe")) else { return };
        self.shmem_acquires(pe as u32, there.at..there.at + there.bytes, place, out);
    }

    /// Acquires what was released to a word at a PE.
    fn shmem_acquires(
        &mut self,
        pe: u32,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(handle) = self.symmetric.window(bytes.start) else { return };
        let Some(window) = self.rma.windows.get(handle) else { return };
        let offset = bytes.start.wrapping_sub(window.made.base) as i64;
        let pattern = Pattern::dense(0, bytes.len() as isize);
        let cells = Cells::of(name(handle), offset, &pattern);
        let is_own = pe as i32 == self.symmetric.me;
        if is_own {
            self.drain(place, out);
        }
        let actor = self.threads.between_ranks();
        let Some(clock) = &mut self.rma.clock else { return };
        let mut news = false;
        for cell in cells.acquired() {
            news |= clock.acquire(pe, cell, actor);
        }
        if is_own {
            let event = Event { rank: pe, segment: clock.segment(), stamp: Epoch::default() };
            self.rma.remotes.reached(&bytes, event);
        }
        if news {
            self.acquired(place, out);
        }
    }

    /// The cell of a call's lock.
    fn shmem_lock(&self, call: &Call) -> Option<u64> {
        let at = call.word("lock")?;
        let handle = self.symmetric.window(at)?;
        let base = self.rma.windows.get(handle)?.made.base;
        Some(lock(handle, at.wrapping_sub(base) as i64))
    }

    /// A lock is about to be cleared, when what this PE has started is complete.
    pub(super) fn shmem_unlocks(
        &mut self,
        call: &Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.shmem_completed(Some(0), call.args, place, out);
        let Some(cell) = self.shmem_lock(call) else { return };
        if let Some(clock) = &mut self.rma.clock {
            clock.add(0, cell);
        }
        self.end_segment();
    }

    /// This PE has got a lock.
    pub(super) fn shmem_locked(&mut self, call: &Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(cell) = self.shmem_lock(call) else { return };
        let actor = self.threads.between_ranks();
        if let Some(clock) = &mut self.rma.clock
            && clock.acquire(0, cell, actor)
        {
            self.acquired(place, out);
        }
    }
}

impl OneSided {
    /// Where the block begins that has this byte; `None` for static variables.
    pub(in crate::tracker) fn symmetric_object(&self, at: usize) -> Option<usize> {
        let (start, end) = self.blocks.range(..=at).next_back()?;
        (at < *end).then_some(*start)
    }

    /// Whether some PE loads from and stores to another one's memory.
    pub(in crate::tracker) fn is_symmetric_memory_shared(&self) -> bool {
        self.clock.as_ref().is_some_and(|clock| {
            (0..clock.ranks()).any(|rank| clock.shm().part_here(rank, SHARED).is_some())
        })
    }
}
