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

use super::{Tracker, Wrong};
use crate::buffers::{Accesses, Args};
use crate::collective::entry::{Asserted, Root};
use crate::ids::{Group, On, mixed};
use crate::tracker::collectives::Entering;
use crate::tracker::operation::Operation;
use commsan_callsite::{Findings, Place, Site, StackId};
use commsan_findings::{Code, Problem};
use commsan_mpi_calls::reduction;
use commsan_mpi_calls::shmem::Kind;
use commsan_shadow::{Access, Footprint, Mode, OpId, Pattern};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Blocks that are remembered after they were freed.
const MAX_FREED: usize = 256;

/// Blocks of one place that are left at the end, from which on that is a leak, if the program frees
/// others: it may leave its blocks to `shmem_finalize`, which frees them.
const LEAK: usize = 2;

/// Symmetric memory, and what this PE has started.
#[derive(Default)]
pub struct Symmetric {
    /// This PE.
    me: i32,
    /// Number of PEs; 0 while OpenSHMEM is not initialised.
    pes: i32,
    /// The handle of the default context.
    default_ctx: usize,
    /// Blocks by address.
    blocks: BTreeMap<usize, Block>,
    /// The latest blocks that were freed.
    freed: VecDeque<(Range<usize>, Site)>,
    /// Whether some were freed.
    frees: bool,
    /// Number of blocks that were allocated.
    made: u32,
    /// Nonblocking operations that this PE has not waited for.
    pending: Vec<Pending>,
    /// Pages of static variables that all PEs have, as the library says.
    pages: FxHashSet<usize>,
}

/// Memory that a call has allocated on all PEs.
#[derive(Clone, Copy, Debug)]
struct Block {
    size: usize,
    /// Equal on all PEs, counted from 1.
    number: u32,
    site: Site,
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

/// Something that is wrong with a call, unless the library knows better.
#[derive(Debug)]
pub struct Doubt {
    /// What is wrong.
    pub wrong: Wrong,
    /// It is not if the library says that the other PE has this address.
    pub unless: Option<(usize, i32)>,
}

/// What a call does to elements: address, distance, number, and their size.
#[derive(Clone, Copy, Debug)]
struct Elements {
    at: usize,
    stride: isize,
    count: usize,
    bytes: usize,
}

impl Elements {
    fn span(self) -> Option<Range<usize>> {
        let last = (self.count.checked_sub(1)? as isize).checked_mul(self.stride)?;
        let distance = last.checked_mul(self.bytes as isize)?;
        let end = self.at.checked_add_signed(distance)?.checked_add(self.bytes)?;
        (self.stride >= 1 && end > self.at).then_some(self.at..end)
    }

    fn footprint(self) -> Option<Footprint> {
        let span = self.span()?;
        if self.stride == 1 {
            return Some(Footprint::Dense(span));
        }
        let element = Pattern::dense(0, self.bytes as isize);
        let distance = self.stride.checked_mul(self.bytes as isize)?;
        Some(Footprint::elements(self.at, &element, self.count, distance))
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
struct Call<'a> {
    args: &'a Args<'a>,
    kind: Kind,
    of: &'static commsan_mpi_calls::shmem::Call,
}

impl<'a> Call<'a> {
    fn of(args: &'a Args<'a>) -> Option<Call<'a>> {
        let of = args.call.symmetric?;
        Some(Call { args, kind: of.kind, of })
    }

    fn word(&self, name: &str) -> Option<usize> {
        self.of.at(name).map(|at| self.args.words[at])
    }

    fn int(&self, name: &str) -> Option<i32> {
        self.of.at(name).map(|at| self.args.int(at))
    }

    fn bytes(&self) -> usize {
        self.of.element.map_or(8, |element| element.bytes)
    }

    /// Whether `dest` is at the other PE, and not `source`.
    fn writes_there(&self) -> bool {
        self.of.at("dest").is_some() && !matches!(self.kind, Kind::Get | Kind::GetNbi)
    }

    /// Elements at an address, with the stride of this parameter.
    fn elements(&self, name: &str, stride: &str) -> Option<Elements> {
        Some(Elements {
            at: self.word(name)?,
            stride: self.word(stride).map_or(1, |stride| stride as isize),
            count: self.word("nelems").unwrap_or(1),
            bytes: self.bytes(),
        })
    }

    /// What an operation accesses at the other PE, and the name of the parameter.
    fn there(&self) -> Option<(&'static str, Elements)> {
        if !self.kind.is_remote() {
            return None;
        }
        Some(match self.writes_there() {
            true => ("dest", self.elements("dest", "dst")?),
            false => ("source", self.elements("source", "sst")?),
        })
    }

    /// What an operation accesses in this process.
    fn here(&self) -> Option<Access> {
        let (mode, elements) = match self.kind {
            Kind::Put | Kind::PutNbi => (Mode::Read, self.elements("source", "sst")?),
            Kind::Get | Kind::GetNbi => (Mode::Write, self.elements("dest", "dst")?),
            _ => return None,
        };
        Some(Access { mode, footprint: elements.footprint()? })
    }

    /// The PEs of the active set: first, logarithm of the distance, number.
    fn set(&self) -> Option<[i32; 3]> {
        Some([self.int("PE_start")?, self.int("logPE_stride")?, self.int("PE_size")?])
    }

    /// What a collective accesses, by parameter. All of it is symmetric, though the standard demands
    /// that of every argument only where other PEs access it.
    fn collective(&self) -> SmallVec<[(&'static str, Mode, Elements); 2]> {
        let mut all = SmallVec::new();
        let size = self.int("PE_size").unwrap_or(1).max(0) as usize;
        let count = match self.int("nreduce") {
            Some(count) => count.max(0) as usize,
            None => self.word("nelems").unwrap_or(0),
        };
        let (sent, received) = match self.kind {
            Kind::Broadcast | Kind::Reduce => (count, count),
            // How much the others have is theirs to say.
            Kind::Collect => (count, 0),
            Kind::Fcollect => (count, count.saturating_mul(size)),
            Kind::Alltoall => (count.saturating_mul(size), count.saturating_mul(size)),
            _ => return all,
        };
        let bytes = self.bytes();
        let mut add = |name, mode, count, stride: &str| {
            let stride = self.word(stride).map_or(1, |stride| stride as isize);
            if let Some(at) = self.word(name).filter(|_| count > 0) {
                all.push((name, mode, Elements { at, stride, count, bytes }));
            }
        };
        add("source", Mode::Read, sent, "sst");
        add("dest", Mode::Write, received, "dst");
        all
    }
}

impl Symmetric {
    /// Whether OpenSHMEM is initialised.
    pub fn is_begun(&self) -> bool {
        self.pes != 0
    }

    /// The block that an address belongs to.
    fn block(&self, at: usize) -> Option<(usize, &Block)> {
        let (start, block) = self.blocks.range(..=at).next_back()?;
        (at < start + block.size).then_some((*start, block))
    }

    /// Where memory at an address was freed, if nothing has it now.
    fn freed_at(&self, at: usize) -> Option<Site> {
        let freed = self.freed.iter().rev().find(|(bytes, _)| bytes.contains(&at))?;
        self.block(at).is_none().then_some(freed.1)
    }

    fn ctx(&self, call: &Call) -> usize {
        call.word("ctx").filter(|ctx| *ctx != self.default_ctx).unwrap_or(0)
    }

    /// The members of an active set, and the key under which its collectives are counted.
    fn members(&self, set: Option<[i32; 3]>) -> (usize, Vec<u32>) {
        let all = || (0, (0..self.pes as u32).collect());
        let Some([start, log, size]) = set else { return all() };
        let stride = 1_i64 << log.clamp(0, 31);
        let members = (0..i64::from(size)).map(|n| (i64::from(start) + n * stride) as u32);
        if size == self.pes && start == 0 && (log == 0 || size == 1) {
            return all();
        }
        let key = mixed(mixed(start as u64, log as u64), size as u64) | 1;
        (key as usize, members.collect())
    }

    /// Whether this PE is the root of a call that has one.
    fn is_root(&self, call: &Call) -> Option<bool> {
        let root = call.int("PE_root")?;
        let (_, members) = self.members(call.set());
        Some(members.get(usize::try_from(root).ok()?).is_some_and(|pe| *pe as i32 == self.me))
    }

    /// Why an active set is none, or none that this PE may use.
    fn wrong_set(&self, [start, log, size]: [i32; 3]) -> Option<(&'static str, String)> {
        let last = self.pes - 1;
        if !(0..self.pes).contains(&start) {
            return Some(("PE_start", format!("is {start}, but PEs are 0 to {last}")));
        }
        if !(0..31).contains(&log) {
            return Some(("logPE_stride", format!("is {log}, and no logarithm of a stride")));
        }
        let end = i64::from(start) + (i64::from(size) - 1) * (1 << log);
        if size < 1 || end > i64::from(last) {
            let of = format!("of PEs from {start} in steps of {}", 1_i64 << log);
            return Some(("PE_size", format!("is {size} {of}, but PEs are 0 to {last}")));
        }
        let distance = self.me - start;
        let is_member = distance >= 0 && distance % (1 << log) == 0 && distance >> log < size;
        let without = || format!("and the other two describe a set without PE {}", self.me);
        (!is_member).then(|| ("PE_start", without()))
    }

    /// What is wrong with an address that other PEs access.
    fn address(&self, name: &'static str, at: &Elements, pe: i32) -> Option<Doubt> {
        let wrong = |code, problem: &str, freed| Wrong::symmetric(code, name, problem, freed);
        if at.at == 0 {
            let wrong = wrong(Code::NotSymmetric, "is a null pointer", None);
            return Some(Doubt { wrong, unless: None });
        }
        if let Some((start, block)) = self.block(at.at) {
            let span = at.span().filter(|span| span.end > start + block.size)?;
            let problem = format!(
                "leaves its allocation of {} bytes: the call accesses bytes {} to {}",
                block.size,
                span.start - start,
                span.end - start - 1
            );
            let wrong = wrong(Code::BeyondSymmetric, &problem, Some(block.site));
            return Some(Doubt { wrong, unless: None });
        }
        if let Some(site) = self.freed_at(at.at) {
            let wrong = wrong(Code::NotSymmetric, "points to memory that was freed", Some(site));
            return Some(Doubt { wrong, unless: None });
        }
        if self.pages.contains(&page(at.at)) {
            return None;
        }
        let problem = "points neither into memory of shmem_malloc nor to a static variable";
        let wrong = wrong(Code::NotSymmetric, problem, None);
        Some(Doubt { wrong, unless: Some((at.at, pe)) })
    }

    /// What is wrong with what a call passes.
    pub fn doubts(&self, args: &Args) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let Some(call) = Call::of(args).filter(|_| self.is_begun()) else { return doubts };
        let of = |code, name, problem: &str| Doubt {
            wrong: Wrong::symmetric(code, name, problem, None),
            unless: None,
        };
        let mut pe = self.me;
        if let Some(other) = call.int("pe").filter(|_| call.kind.is_remote()) {
            if !(0..self.pes).contains(&other) {
                let problem = format!("is {other}, but PEs are 0 to {}", self.pes - 1);
                doubts.push(of(Code::NoSuchPe, "pe", &problem));
                return doubts;
            }
            pe = other;
        }
        if let Some(set) = call.set() {
            if let Some((name, problem)) = self.wrong_set(set) {
                doubts.push(of(Code::NoSuchPe, name, &problem));
                return doubts;
            }
            let root = call.int("PE_root").filter(|root| !(0..set[2]).contains(root));
            if let Some(root) = root {
                let problem = format!("is {root}, but the active set has PEs 0 to {}", set[2] - 1);
                doubts.push(of(Code::NoSuchPe, "PE_root", &problem));
            }
        }
        if let Some((name, elements)) = call.there().filter(|(_, all)| all.count > 0) {
            doubts.extend(self.address(name, &elements, pe));
        }
        for (name, _, elements) in call.collective() {
            doubts.extend(self.address(name, &elements, pe));
        }
        for name in ["pWrk", "pSync", "lock"] {
            if let Some(at) = call.word(name) {
                let one = Elements { at, stride: 1, count: 1, bytes: call.bytes() };
                doubts.extend(self.address(name, &one, pe));
            }
        }
        if matches!(call.kind, Kind::Free | Kind::Realloc) {
            doubts.extend(self.no_block(&call));
        }
        doubts
    }

    /// What is wrong with a block that is to be freed.
    fn no_block(&self, call: &Call) -> Option<Doubt> {
        let at = call.word("block").filter(|at| *at != 0 && !self.blocks.contains_key(at))?;
        let of = |problem: &str, site| {
            Wrong::symmetric(Code::SymmetricFreedWrongly, "block", problem, site)
        };
        if let Some((start, block)) = self.block(at) {
            let problem = format!("points to byte {} of an allocation", at - start);
            return Some(Doubt { wrong: of(&problem, Some(block.site)), unless: None });
        }
        let freed = self.freed_at(at);
        let (problem, unless) = match freed {
            Some(_) => ("was freed before", None),
            None => ("was not returned by shmem_malloc", Some((at, self.me))),
        };
        Some(Doubt { wrong: of(problem, freed), unless })
    }

    /// The library says that PEs have an object at this address, which is in no block.
    pub fn has(&mut self, at: usize) {
        self.pages.insert(page(at));
    }

    /// A block has been allocated.
    fn made(&mut self, at: usize, size: usize, site: Site) {
        self.made += 1;
        let number = self.made;
        self.freed.retain(|(bytes, _)| bytes.end <= at || at + size <= bytes.start);
        self.blocks.insert(at, Block { size, number, site });
    }

    fn freed(&mut self, at: usize, site: Site) {
        let Some(block) = self.blocks.remove(&at) else { return };
        self.freed.truncate(MAX_FREED - 1);
        self.freed.push_front((at..at + block.size, site));
    }

    /// Blocks that are left, of places that have left several, by a program that frees others: how
    /// many, and where one was made.
    fn left(&self) -> impl Iterator<Item = (usize, Site)> {
        let mut places: FxHashMap<StackId, (usize, Site)> = FxHashMap::default();
        for block in self.blocks.values().filter(|_| self.frees) {
            places.entry(block.site.stack).or_insert((0, block.site)).0 += 1;
        }
        let mut left: Vec<_> = places.into_values().filter(|(count, _)| *count >= LEAK).collect();
        left.sort_by_key(|(_, site)| site.pc);
        left.into_iter()
    }

    /// What PEs enter together by a call.
    pub fn on(&self, args: &Args) -> Option<On> {
        let call = Call::of(args).filter(|call| call.kind.is_collective() && self.is_begun())?;
        Some(On::Pes(self.members(call.set()).0))
    }
}

impl Tracker {
    /// OpenSHMEM is initialised: this PE, how many there are, and the handle of the default context.
    pub fn shmem_begins(&mut self, me: u32, pes: u32, default_ctx: usize) {
        let me = me as i32;
        self.symmetric = Symmetric { me, pes: pes as i32, default_ctx, ..Symmetric::default() };
        self.together.on.add_pes(0, &Group::new((0..pes).collect()));
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
        if matches!(call.kind, Kind::PutNbi | Kind::GetNbi)
            && let Some((_, there)) = call.there()
            && let Some(there) = there.span()
        {
            let peer = call.int("pe");
            let site = self.reporter.site(args.call, place);
            let operation = Operation { peer, ..Operation::at(args.call, site) };
            let id = self.operations.begin(&mut accesses, operation, place);
            self.operations.close(id);
            let ctx = self.symmetric.ctx(&call);
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
        match call.kind {
            Kind::Quiet => {
                let ctx = self.symmetric.ctx(&call);
                self.shmem_completed(Some(ctx), args, place, out);
            }
            Kind::BarrierAll | Kind::Barrier => {
                self.shmem_completed(Some(0), args, place, out);
            }
            Kind::CtxDestroy => {
                let ctx = self.symmetric.ctx(&call);
                self.shmem_completed(Some(ctx), args, place, out);
            }
            Kind::Malloc | Kind::Realloc if result != 0 => {
                let size = call.word("size").unwrap_or(0);
                let size = size.saturating_mul(call.word("count").unwrap_or(1));
                let site = self.reporter.site(args.call, place);
                if call.kind == Kind::Realloc
                    && let Some(at) = call.word("block")
                {
                    self.symmetric.freed(at, site);
                }
                self.symmetric.made(result, size, site);
            }
            _ => {}
        }
    }

    /// `shmem_finalize` is about to be called.
    pub fn shmem_ends(&mut self, args: &Args, place: &impl Place, out: &mut dyn Findings) {
        self.settle();
        self.shmem_completed(None, args, place, out);
        for (count, site) in self.symmetric.left().collect::<Vec<_>>() {
            let problem = format!("{count} allocations of this place are left");
            self.reporter.never_freed(site, &problem, out);
        }
        self.symmetric.pes = 0;
    }

    /// The program exits without `shmem_finalize`: others are not compared with what it has not
    /// called.
    pub fn shmem_left(&mut self) {
        self.together.ignored = true;
        let pending = std::mem::take(&mut self.symmetric.pending);
        pending.into_iter().for_each(|pending| self.end(pending.id));
        self.symmetric.pes = 0;
    }

    /// Operations on a context, or on all, are complete.
    fn shmem_completed(
        &mut self,
        ctx: Option<usize>,
        args: &Args,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let is_meant = |pending: &Pending| ctx.is_none_or(|ctx| ctx == pending.ctx);
        let all = std::mem::take(&mut self.symmetric.pending);
        let (done, left): (Vec<_>, _) = all.into_iter().partition(is_meant);
        self.symmetric.pending = left;
        for Pending { id, .. } in done {
            self.look_for_changes(id, out);
            self.finish(id, Some(&args.call.name), place, out);
        }
    }

    /// A block is about to be freed.
    fn shmem_frees(&mut self, call: &Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(at) = call.word("block") else { return };
        let Some(block) = self.symmetric.blocks.get(&at) else { return };
        let bytes = at..at + block.size;
        let name: &'static str = &call.args.call.name;
        let reaches =
            |pending: &&Pending| pending.there.start < bytes.end && bytes.start < pending.there.end;
        let reached: Vec<_> =
            self.symmetric.pending.iter().filter(reaches).map(|pending| pending.id).collect();
        for id in reached {
            let code = Code::SymmetricFreedPending;
            self.operations.misuse(code, id, (name, place), &mut self.reporter, out);
        }
        self.released(name, Some(name), bytes, place, out);
        if call.kind == Kind::Free {
            self.symmetric.frees = true;
            let site = self.reporter.site(call.args.call, place);
            self.symmetric.freed(at, site);
        }
    }

    /// PEs enter a call together.
    fn shmem_enters(
        &mut self,
        call: &Call,
        parallel: bool,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let set = call.set();
        if set.is_some_and(|set| self.symmetric.wrong_set(set).is_some()) {
            return;
        }
        let (key, members) = self.symmetric.members(set);
        let on = On::Pes(key);
        let root = call.int("PE_root").and_then(|root| members.get(usize::try_from(root).ok()?));
        let root = root.map_or(Root::Unknown, |root| Root::Rank(*root));
        if self.together.on.find(on).is_none() {
            self.together.on.add_pes(key, &Group::new(members));
        }
        let mut alike = [0; 3];
        for (value, at) in alike.iter_mut().zip(&call.args.call.alike) {
            *value = match &*call.args.call.params[*at].name {
                // Addresses may differ.
                "block" => {
                    let block = self.symmetric.blocks.get(&call.args.words[*at]);
                    block.map_or(0, |block| block.number.into())
                }
                _ if call.args.call.symmetric.is_some_and(|call| {
                    call.params[*at].passed == commsan_mpi_calls::shmem::Passed::Int
                }) =>
                {
                    call.args.int(*at) as i64 as u64
                }
                _ => call.args.words[*at] as u64,
            };
        }
        let entering = Entering {
            call: call.args.call,
            on,
            blocking: true,
            parallel,
            root,
            op: reduction::OTHER,
            data: None,
            received: None,
            asserted: Asserted::default(),
            alike,
        };
        self.enter(&entering, place, out);
    }
}

/// The page of an address: of static variables, whole pages are symmetric.
fn page(at: usize) -> usize {
    at >> 12
}

impl Wrong {
    /// Something that OpenSHMEM does not allow.
    fn symmetric(code: Code, name: &'static str, problem: &str, site: Option<Site>) -> Wrong {
        Wrong::of(Problem::Value, name, problem.to_owned()).of_code(code, site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_callsite::Stacks;
    use commsan_mpi_calls::named;

    fn pe(me: i32, pes: i32) -> Symmetric {
        Symmetric { me, pes, ..Symmetric::default() }
    }

    fn site() -> Site {
        Site { call: None, thread: 0, stack: Stacks::EMPTY, pc: 1, remote: None }
    }

    /// What is wrong with a call of these arguments.
    fn problems(of: &Symmetric, name: &str, words: &[usize]) -> Vec<String> {
        let args = Args::new(named(name).unwrap(), words, false);
        let doubts = of.doubts(&args).into_iter();
        // Nobody is asked, as if the library had no other objects.
        doubts.map(|doubt| format!("{:?}", doubt.wrong)).collect()
    }

    #[test]
    fn elements_end_where_the_last_one_does() {
        let elements = |stride, count| Elements { at: 1000, stride, count, bytes: 8 };
        assert_eq!(elements(1, 4).span(), Some(1000..1032));
        assert_eq!(elements(3, 4).span(), Some(1000..1080));
        assert_eq!(elements(1, 0).span(), None);
        assert_eq!(elements(0, 4).span(), None);
        assert_eq!(elements(isize::MAX, 4).span(), None);
        assert_eq!(elements(3, 4).footprint().unwrap().bytes(), 32);
    }

    #[test]
    fn active_sets_have_members_and_one_key() {
        let of = pe(2, 8);
        for (set, members) in
            [([0, 0, 8], (0..8).collect::<Vec<u32>>()), ([2, 1, 3], vec![2, 4, 6])]
        {
            assert_eq!(of.members(Some(set)).1, members);
            assert!(of.wrong_set(set).is_none());
        }
        assert_eq!(of.members(None).0, of.members(Some([0, 0, 8])).0);
        let keys = [[0, 0, 4], [0, 1, 4], [1, 0, 4]].map(|set| of.members(Some(set)).0);
        assert!(keys.iter().all(|key| *key != 0) && keys[0] != keys[1] && keys[1] != keys[2]);
        for (set, name) in [
            ([8, 0, 1], "PE_start"),
            ([0, -1, 2], "logPE_stride"),
            ([0, 0, 0], "PE_size"),
            ([0, 2, 3], "PE_size"),
            ([3, 0, 2], "PE_start"),
            ([1, 1, 3], "PE_start"),
        ] {
            assert_eq!(of.wrong_set(set).map(|(name, _)| name), Some(name), "{set:?}");
        }
    }

    #[test]
    fn what_leaves_a_block_is_found_and_nothing_else() {
        let mut of = pe(0, 2);
        of.made(4096, 96, site());
        let put = |at, count| problems(&of, "shmem_long_put", &[at, 8, count, 1]);
        assert!(put(4096, 12).is_empty() && put(4184, 1).is_empty() && put(4096, 0).is_empty());
        assert!(put(4096, 13)[0].contains("bytes 0 to 103"));
        let strided = |count| problems(&of, "shmem_long_iput", &[4096, 8, 11, 1, count, 1]);
        assert!(strided(2).is_empty() && strided(3).len() == 1);
        assert!(problems(&of, "shmem_long_p", &[4096, 0, 2])[0].contains("PEs are 0 to 1"));
        // A get reads there, and writes anywhere here.
        assert!(problems(&of, "shmem_long_get", &[16, 4096, 12, 1]).is_empty());
        assert_eq!(problems(&of, "shmem_long_get", &[4096, 16, 12, 1]).len(), 1);
    }

    #[test]
    fn blocks_are_freed_once() {
        let mut of = pe(0, 2);
        of.made(4096, 96, site());
        let free = |of: &Symmetric, at| problems(of, "shmem_free", &[at]);
        assert!(free(&of, 4096).is_empty() && free(&of, 0).is_empty());
        assert!(free(&of, 4104)[0].contains("byte 8"));
        of.freed(4096, site());
        assert!(free(&of, 4096)[0].contains("freed before"));
        assert!(problems(&of, "shmem_long_p", &[4100, 0, 1])[0].contains("was freed"));
        of.made(4096, 32, site());
        assert!(free(&of, 4096).is_empty());
        of.has(1 << 20);
        assert!(problems(&of, "shmem_long_p", &[(1 << 20) + 8, 0, 1]).is_empty());
        assert_eq!(problems(&of, "shmem_long_p", &[1 << 21, 0, 1]).len(), 1);
    }
}
