//! Pieces of worksharing constructs: sections, and chunks of loops whose schedule only the runtime
//! knows. Two of them are unordered whichever threads run them, so that each is an agent of its
//! own.
//!
//! The pieces that one thread takes know of each other by their vector clocks, since they share
//! what the thread owns. Beside that clock each has a *logical* one: what happened before the
//! construct, and what the piece has acquired since. Where memory is no thread's own
//! ([`ownership`](super::ownership)), it decides ([`is_by_mapping`]).
//!
//! A piece becomes an agent when the thread is asked who it is: pieces that neither call MPI nor
//! synchronise cost a few instructions. Of many pieces the first [`FIRST`] of each thread are
//! distinguished, then groups whose size doubles.
//!
//! **Soundness.** What counts as ordered though it is not: pieces of one group; pieces of two
//! constructs, and a piece and what its thread does besides; what a piece learns of earlier ones of
//! its thread by a lock that a later one has released; the pieces of a region that is opened within
//! a piece; and, in a process with [`AGENTS`] agents, all pieces.

use super::*;
use commsan_process::abi;

/// Pieces of each thread that are distinguished from their neighbours.
const FIRST: u32 = 16;

/// What happened before an agent's work whichever thread runs it, for agents with a
/// [construct](CONSTRUCTS).
static LOGICAL: [Row; AGENTS] = [const { [const { AtomicU32::new(0) }; AGENTS] }; AGENTS];
/// The construct that an agent works on, or has opened; 0 for none. One construct has a number for
/// each thread.
static CONSTRUCTS: Row = [const { AtomicU32::new(0) }; AGENTS];
/// The first epoch of the last agent with this number.
static BEGAN: Row = [const { AtomicU32::new(0) }; AGENTS];

/// The worksharing construct that this thread works on, and what it knows about itself.
#[derive(Clone, Copy)]
pub struct Work {
    /// Whether the thread is in a construct whose pieces are distinguished.
    is_open: bool,
    /// Whether the thread may differ from others of its team, in memory that only it uses: since it
    /// was told its number, or took a lock.
    is_told_apart: bool,
    /// The lowest address of its stack that lies outside of the parallel region.
    outside: usize,
    /// Number of pieces that it has taken.
    taken: u32,
    /// The construct's number for this thread; 0 while no piece has become an agent.
    number: u32,
    /// The agent that the thread was before the first piece.
    before: usize,
    /// The present piece, if it has become an agent.
    piece: usize,
}

/// No construct, in no region.
pub const NOTHING: Work = Work {
    is_open: false,
    is_told_apart: false,
    outside: usize::MAX,
    taken: 0,
    number: 0,
    before: NONE,
    piece: NONE,
};

impl Default for Work {
    fn default() -> Work {
        NOTHING
    }
}

thread_local! {
    static WORK: Local<Work> = const { Local::new(NOTHING) };
}

/// This thread works in a region that it has opened, with frames below an address of its stack;
/// returns what it works on outside. Within a piece of another construct, that piece is what
/// counts.
pub fn enter(outside: usize) -> Work {
    let outer = WORK.get();
    WORK.set(match outer.is_open {
        true => Work { is_told_apart: outer.is_told_apart, outside: outer.outside, ..NOTHING },
        false => Work { outside, ..NOTHING },
    });
    outer
}

/// This thread works in a region that another one has opened; returns what it works on besides.
pub fn join() -> Work {
    WORK.replace(NOTHING)
}

/// This thread has left a region, and works on what it did before.
pub fn leave(outer: Work) {
    let is_told_apart = outer.is_told_apart || outer.is_open && is_told_apart();
    WORK.set(Work { is_told_apart, ..outer });
}

/// This thread, of a team with several, begins to take pieces of a construct.
pub fn open() {
    close();
    WORK.set(Work { is_open: true, ..WORK.get() });
}

/// Whether this thread is in a construct whose pieces are distinguished.
pub fn is_open() -> bool {
    WORK.get().is_open
}

/// This thread has taken another piece.
pub fn take() {
    let work = WORK.get();
    if !work.is_open {
        return;
    }
    let taken = work.taken.saturating_add(1);
    WORK.set(Work { taken, ..work });
    if taken <= FIRST || taken.is_power_of_two() {
        end_piece();
        THIS.with(|this| this.takes_piece.set(true));
        // Hooks note accesses without asking who this is.
        if abi::notes_accesses() {
            current();
        }
    }
}

/// There are no more pieces for this thread.
pub fn close() {
    let work = WORK.get();
    if !work.is_open {
        return;
    }
    THIS.with(|this| this.takes_piece.set(false));
    end_piece();
    let (is_told_apart, outside) = (work.is_told_apart, work.outside);
    WORK.set(Work { is_told_apart, outside, ..NOTHING });
    if work.number != 0 {
        CONSTRUCTS[work.before].store(0, Release);
        // What the pieces have released covers this agent's epoch.
        CLOCKS[work.before][work.before].fetch_add(1, Relaxed);
        if THIS.with(|this| this.agent.get()) == work.before {
            set(work.before);
        }
    }
}

/// The piece that this thread has taken becomes an agent.
#[cold]
pub(super) fn begin_piece(this: &This) {
    this.takes_piece.set(false);
    let (before, mut work) = (this.agent.get(), WORK.get());
    if before == NONE || !work.is_open || work.number != 0 && work.before != before {
        return;
    }
    if work.number == 0 {
        // A piece of another construct keeps its own logical clock.
        if CONSTRUCTS[before].load(Relaxed) != 0 {
            return;
        }
        work = Work { number: new_id() as u32, before, ..work };
        copy(&LOGICAL[before], &CLOCKS[before]);
        CONSTRUCTS[before].store(work.number, Release);
    }
    WORK.set(work);
    let Some(piece) = allocate() else { return };
    let own = CLOCKS[piece][piece].load(Relaxed) + 1;
    THREADS[piece].store(THREADS[before].load(Relaxed), Relaxed);
    for (row, from) in [(&CLOCKS, &CLOCKS[before]), (&LOGICAL, &LOGICAL[before])] {
        copy(&row[piece], from);
        add(&row[piece], &RELEASED_TO_ALL);
        row[piece][piece].store(own, Relaxed);
    }
    BEGAN[piece].store(own, Relaxed);
    by_thread::begins(piece);
    CONSTRUCTS[piece].store(work.number, Release);
    RUNNING.insert(piece);
    WORK.set(Work { piece, ..work });
    set(piece);
}

fn end_piece() {
    let work = WORK.get();
    if work.piece == NONE {
        return;
    }
    WORK.set(Work { piece: NONE, ..work });
    add(&CLOCKS[work.before], &CLOCKS[work.piece]);
    by_thread::leaves(work.piece);
    free(work.piece);
    set(work.before);
}

fn copy(to: &Row, from: &Row) {
    to.iter().zip(from).for_each(|(to, from)| to.store(from.load(Relaxed), Relaxed));
}

/// An agent begins that is no piece.
pub(super) fn begins(agent: usize, epoch: u32) {
    CONSTRUCTS[agent].store(0, Relaxed);
    BEGAN[agent].store(epoch, Relaxed);
}

/// Whether an epoch belongs to the last agent that had this number.
pub(super) fn is_present(agent: usize, time: u32) -> bool {
    BEGAN[agent].load(Relaxed) <= time
}

/// An agent has acquired a clock.
pub(super) fn acquires(agent: usize, clock: &Row) {
    if CONSTRUCTS[agent].load(Relaxed) != 0 {
        add(&LOGICAL[agent], clock);
    }
}

/// What happens before whatever an agent, and pieces that it may take, do from now on.
pub(super) fn known_by(agent: usize) -> &'static Row {
    match CONSTRUCTS[agent].load(Acquire) {
        0 => &CLOCKS[agent],
        _ => &LOGICAL[agent],
    }
}

/// Whether an epoch is that of another piece of the construct that this thread works on, and
/// happened before the present piece only because this thread took both.
pub fn is_by_mapping(past: Epoch) -> bool {
    let Some(me) = current() else { return false };
    let other = past.agent as usize % AGENTS;
    let number = CONSTRUCTS[me].load(Relaxed);
    number != 0
        && other != me
        && CONSTRUCTS[other].load(Relaxed) == number
        && is_present(other, past.time)
        && LOGICAL[me][other].load(Relaxed) < past.time
}

/// The lowest address of this thread's stack that lies outside of the parallel region.
pub fn outside() -> usize {
    WORK.get().outside
}

/// Something has distinguished this thread from others of its team: what follows may be done to
/// memory that only this thread uses.
pub fn tell_apart() {
    WORK.set(Work { is_told_apart: true, ..WORK.get() });
}

/// This thread has synchronised with others. Outside of pieces that may have told it which part of
/// memory is its own: a counter read under a lock, a message.
pub fn learn() {
    if !WORK.get().is_open {
        tell_apart();
    }
}

/// Whether something has distinguished this thread from others of its team.
pub fn is_told_apart() -> bool {
    WORK.get().is_told_apart
}
