//! What the threads of one launch do wrong, found while the SIMT interpreter executes it: data
//! races with each other, barriers that are used wrongly, reads of memory that nothing has written.
//!
//! A [`Detector`] observes the accesses of a grid and what orders them. It knows threads, scopes
//! and the memory model of PTX (PTX ISA chapter 8), and no API: what a kernel's memory is, and
//! where it was launched, is the caller's to say.
//!
//! **What a race is.** Two accesses to the same bytes, at least one of which writes, by two
//! threads, neither of which happens before the other, unless both are *strong* (atomic, volatile,
//! relaxed or stronger), of the same size, and their scopes include each other (§8.7.1).
//! Happens-before is the causality order of the launch (§8.9.5): program order; barriers of a
//! block, by number and with their participants; `__syncwarp` with its mask; barrier objects
//! (`mbarrier`); release and acquire, by fences and strong accesses of sufficient scope, through
//! atomics in between; and that what a strong read has observed is before what follows. It does not
//! depend on which warp happened to run first: lanes that execute one instruction together are not
//! ordered by that, and neither by reconverging, nor by `shfl.sync`, `vote.sync` and their like,
//! which order no memory accesses (CUDA C++ Programming Guide, "Warp Shuffle Functions").
//!
//! **What is uninitialised.** Bytes of shared memory that no thread of the block has written, by
//! the same shadow; and global memory that still holds [`FRESH`], which whoever allocates it puts
//! there, so that it does not matter who writes. Never misreported: memory that was written, unless
//! with that very pattern. A value that is read and not used is told, too, hence a warning; a read
//! that races with who writes there is a race only. How barriers are judged: [`barriers`].
//!
//! - [`stamp`]: an access in eight bytes. [`site`]: what instructions promise.
//! - [`order`]: what threads know of each other. [`shadow`]: the accesses to each granule.
//! - [`detector`]: compares. [`race`] and [`mistake`]: say it.
//!
//! **What is missed.** Whatever is not known for certain counts as ordered:
//! - An order that came about by which thread took a lock first, or read a flag, hides races that
//!   another order would show.
//! - Of the accesses to a granule that do not race with each other, two are remembered, or two
//!   groups of threads of a block each. Of a group whose threads the accessing one knows in part,
//!   by flags or partial barriers, none counts.
//! - A weak access is before or after an earlier strong write if a thread of its block has read
//!   that by a strong read. In random kernels on few threads, all this hides one race in fifty
//!   (`tests/oracle.rs`).
//! - A barrier of a block orders the threads that have exited, too.
//! - A strong read completes its acquire at a barrier, too, not only at a fence; a fence before a
//!   barrier releases for all threads behind it. Programs rely on both, though the model does not
//!   promise it. `fence.proxy` counts as a fence.
//! - Volatile accesses are strong: a warp that communicates by volatile shared memory, without
//!   `__syncwarp`, has no race.
//! - An asynchronous copy's reads count as made when it is issued, and its bytes that a barrier
//!   object counts as visible to all that wait for the phase.
//! - A weak store to a flag does not end what the flag released before.
//! - Where other kernels run at the same time, each strong read of device scope may have got
//!   everything that the launch has released so far.
//! - Accesses of other launches, the host and copies: the order of streams is not looked at here.
//! - Global memory beyond 128 MiB, instructions beyond 4,095 in a launch, launches of more than
//!   2^28 threads, blocks after four million synchronisations.
//! - Uninitialised memory behind an access whose other elements are written, such as the last
//!   number of a vector; single numbers of one or two bytes; blocks in which a store was not
//!   followed.
//! - Nothing is said of values: a race that changes nothing is one, but two stores of the same
//!   value are told apart.

mod barriers;
mod detector;
mod explain;
mod mistake;
mod order;
mod race;
mod scene;
mod shadow;
mod site;
mod stamp;

pub use barriers::Wrong;
pub use detector::{Detector, FRESH};
pub use mistake::{Mistake, Spot};
pub use race::{Race, Reason, Side, Where, plain_name};
pub use site::{Info, Scope};
