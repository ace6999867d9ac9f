//! OpenSHMEM: symmetric memory, operations that this PE has not waited for, and what all PEs call
//! together.
//!
//! **Soundness.** A PE's number is its rank in the job. Memory counts as symmetric if it belongs to
//! a block that some call of the table has returned; of any other address the library is asked
//! (`shmem_addr_accessible`) before something is reported, so that static variables need not be
//! known here. That a range leaves its block is certain: blocks are exactly what was asked for
//! (OpenSHMEM 1.4 §9.3.1). A nonblocking operation uses its local buffer until `shmem_quiet` on its
//! context (§9.5.9, §9.10.2), or a call that implies that: `shmem_barrier_all`, `shmem_barrier` and
//! the calls that allocate and free (for operations without a context), `shmem_ctx_destroy` (of
//! one), `shmem_finalize` (all).
//!
//! Collectives of one set of PEs are counted, whichever call they are, and compared like those of a
//! communicator ([`crate::collective`]). `shmem_barrier_all` and an active set of all PEs are one
//! set. **Missed** is what leaves a static variable, and memory of blocks that calls outside of the
//! table return.

mod blocks;
mod call;
mod checks;
mod collectives;
mod races;
#[cfg(test)]
mod tests;
mod variables;

pub use call::{Moved, moved};
pub use checks::Doubt;

use super::Tracker;
use crate::buffers::{Accesses, Args};
use crate::ids::Group;
use crate::tracker::operation::Operation;
use call::Call;
use collectives::{Entered, LastUse};
use commsan_callsite::{Findings, Place};
use commsan_mpi_calls::shmem::Kind;
use commsan_shadow::{Access, Mode, OpId};
use commsan_symmetric::Heap;
use races::Issued;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use variables::Variables;

/// Symmetric memory, and what this PE has started.
#[derive(Default)]
pub struct Symmetric {
    /// This PE.
    me: i32,
    /// Number of PEs; 0 while OpenSHMEM is not initialised.
    pes: i32,
    /// The handle of the default context.
    default_ctx: usize,
    heap: Heap,
    /// Nonblocking operations that this PE has not waited for.
    pending: Vec<Pending>,
    /// Pages of static variables that all PEs have, as the library says.
    pages: FxHashSet<usize>,
    /// The program's static variables.
    variables: Variables,
    /// What may not be complete at other PEs, by PE and context.
    issued: FxHashMap<(u32, u32), Issued>,
    /// How many collectives were entered, by the key of the set.
    entered: FxHashMap<usize, u64>,
    /// What has used each work array last, by address.
    work_arrays: FxHashMap<usize, LastUse>,
    /// The collectives that threads are in.
    inside: FxHashMap<u32, Entered>,
}

/// A nonblocking operation.
#[derive(Clone, Debug)]
struct Pending {
    /// The context, 0 for none.
    ctx: usize,
    id: OpId,
    /// What it accesses at the other PE, as an address of this one.
    there: Range<usize>,
}

impl Symmetric {
    /// Whether OpenSHMEM is initialised.
    pub fn is_begun(&self) -> bool {
        self.pes != 0
    }

    fn ctx(&self, call: &Call) -> usize {
        call.word("ctx").filter(|ctx| *ctx != self.default_ctx).unwrap_or(0)
    }
}

impl Tracker {
    /// OpenSHMEM is initialised: this PE, how many there are, the handle of the default context,
    /// and where the program's static variables are.
    pub fn shmem_begins(
        &mut self,
        (me, pes): (u32, u32),
        default_ctx: usize,
        data: Range<usize>,
        args: &Args,
        place: &impl Place,
    ) {
        let variables = Variables::new(data);
        let (me, group) = (me as i32, Group::new((0..pes).collect()));
        self.symmetric =
            Symmetric { me, pes: pes as i32, default_ctx, variables, ..Symmetric::default() };
        self.together.on.add_pes(0, &group);
        let site = self.reporter.site(args.call, place);
        self.follow_data(group, site);
    }

    /// A call of OpenSHMEM is about to be made.
    pub fn shmem_calls(
        &mut self,
        args: &Args,
        parallel: bool,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(call) = Call::of(args).filter(|_| self.symmetric.is_begun()) else { return };
        self.settle();
        let ctx = self.symmetric.ctx(&call);
        if call.kind.is_collective() {
            self.shmem_enters(&call, parallel, place, out);
        }
        if call.kind.is_of_memory() {
            // They begin, or end, with a barrier.
            self.shmem_completed(Some(0), args, place, out);
        }
        if matches!(call.kind, Kind::Free | Kind::Realloc) {
            self.shmem_frees(&call, place, out);
        }
        let mut accesses: Accesses = [call.here(), None, None];
        let root = self.symmetric.is_root(&call);
        for (to, (_, mode, elements)) in accesses[1..].iter_mut().zip(call.collective()) {
            // A root only sends, and only a root does.
            if root.is_none_or(|is_root| is_root == (mode == Mode::Read)) {
                *to = elements.footprint().map(|footprint| Access { mode, footprint });
            }
        }
        // The two buffers of a collective may be the same.
        let looked_at = Args { are_apart: true, ..*args };
        self.check(&looked_at, &accesses, place, out);
        let is_nbi = matches!(call.kind, Kind::PutNbi | Kind::GetNbi);
        if !is_nbi {
            // What is read is read before others can know of the call.
            let now = accesses.iter().flatten();
            let now = now.filter(|access| !call.kind.is_collective() || access.mode == Mode::Read);
            now.for_each(|access| self.note(access, args.call, place.pc(), None));
        }
        match call.kind {
            Kind::Fence => self.shmem_fences(ctx),
            Kind::ClearLock => self.shmem_unlocks(&call, place, out),
            kind if kind.is_remote() => self.shmem_announces(&call, place, out),
            kind if kind.is_collective() => self.shmem_releases(&call, place, out),
            _ => {}
        }
        if is_nbi
            && let Some((_, there)) = call.there()
            && let Some(there) = there.span()
        {
            let peer = call.int("pe");
            let site = self.reporter.site(args.call, place);
            let operation = Operation { peer, ..Operation::at(args.call, site) };
            let id = self.operations.begin(&mut accesses, operation, place);
            self.operations.close(id);
            self.symmetric.pending.push(Pending { ctx, id, there });
        }
    }

    /// A call of OpenSHMEM has returned this.
    pub fn shmem_called(
        &mut self,
        args: &Args,
        result: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(call) = Call::of(args).filter(|_| self.symmetric.is_begun()) else { return };
        let ctx = self.symmetric.ctx(&call);
        match call.kind {
            Kind::Quiet | Kind::CtxDestroy => self.shmem_completed(Some(ctx), args, place, out),
            Kind::BarrierAll | Kind::Barrier => self.shmem_completed(Some(0), args, place, out),
            Kind::Malloc | Kind::Realloc if result != 0 => {
                self.shmem_allocates(&call, result, place);
            }
            Kind::Ptr if result != 0 && call.int("pe") != Some(self.symmetric.me) => {
                self.shmem_is_shared();
            }
            Kind::Test if result as i32 == 0 => {}
            Kind::Wait | Kind::Test => self.shmem_waited(&call, place, out),
            Kind::TestLock if result as i32 != 0 => {}
            Kind::SetLock | Kind::TestLock => self.shmem_locked(&call, place, out),
            Kind::AtomicRead | Kind::AtomicUpdate => self.shmem_fetched(&call, place, out),
            _ => {}
        }
        if call.kind.is_collective() {
            self.shmem_leaves(&call, place, out);
        }
    }

    /// `shmem_finalize` is about to be called.
    pub fn shmem_ends(&mut self, args: &Args, place: &impl Place, out: &mut dyn Findings) {
        self.settle();
        self.shmem_completed(None, args, place, out);
        for (count, site) in self.symmetric.heap.left().collect::<Vec<_>>() {
            let problem = format!("{count} allocations of this place are left");
            self.reporter.never_freed(site, &problem, out);
        }
        self.symmetric.pes = 0;
        self.leave_symmetric_memory();
    }

    /// The program exits without `shmem_finalize`: others are not compared with what it has not
    /// called.
    pub fn shmem_left(&mut self) {
        self.together.ignored = true;
        let pending = std::mem::take(&mut self.symmetric.pending);
        pending.into_iter().for_each(|pending| self.end(pending.id));
        self.symmetric.pes = 0;
        self.leave_symmetric_memory();
    }

    /// Operations on a context, or on all, are complete.
    pub(super) fn shmem_completed(
        &mut self,
        ctx: Option<usize>,
        args: &Args,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.shmem_completes(ctx);
        let is_meant = |pending: &Pending| ctx.is_none_or(|ctx| ctx == pending.ctx);
        let all = std::mem::take(&mut self.symmetric.pending);
        let (done, left): (Vec<_>, _) = all.into_iter().partition(is_meant);
        self.symmetric.pending = left;
        for Pending { id, .. } in done {
            self.look_for_changes(id, out);
            self.finish(id, Some(&args.call.name), place, out);
        }
    }
}
