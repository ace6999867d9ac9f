//! What PEs enter together: all of them, or those of an active set.

use super::Symmetric;
use super::call::Call;
use crate::buffers::Args;
use crate::collective::entry::{Asserted, Root};
use crate::ids::{Group, On, mixed};
use crate::tracker::Tracker;
use crate::tracker::collectives::Entering;
use commsan_callsite::{Findings, Place};
use crate::rma::order::Collective;
use commsan_mpi_calls::shmem::{Kind, Passed};
use commsan_mpi_calls::{Flow, reduction};
use commsan_shadow::{Access, Mode};

/// A collective that this PE is in.
pub struct Entered {
    of: Collective,
    /// The segment that ended when it was entered.
    segment: u32,
}

impl Symmetric {
    /// The members of an active set, and the key under which its collectives are counted.
    pub(super) fn members(&self, set: Option<[i32; 3]>) -> (usize, Vec<u32>) {
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
    pub(super) fn is_root(&self, call: &Call) -> Option<bool> {
        let root = call.int("PE_root")?;
        let (_, members) = self.members(call.set());
        Some(members.get(usize::try_from(root).ok()?).is_some_and(|pe| *pe as i32 == self.me))
    }

    /// What PEs enter together by a call.
    pub fn on(&self, args: &Args) -> Option<On> {
        let call = Call::of(args).filter(|call| call.kind.is_collective() && self.is_begun())?;
        Some(On::Pes(self.members(call.set()).0))
    }
}

impl Tracker {
    /// PEs enter a call together.
    pub(super) fn shmem_enters(
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
            self.together.on.add_pes(key, &Group::new(members.clone()));
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
                    call.params[*at].passed == Passed::Int
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
        self.shmem_releases_to(call, (key, &members), root, place.thread());
    }

    /// Releases to the members of a set what happens before a collective of theirs.
    fn shmem_releases_to(&mut self, call: &Call, (set, members): (usize, &[u32]), root: Root, thread: u32) {
        let group = Group::new(members.to_vec());
        let is_empty = [call.word("nelems"), call.int("nreduce").map(|count| count as usize)]
            .iter()
            .flatten()
            .any(|count| *count == 0);
        let flow = match call.kind {
            _ if is_empty => Flow::None,
            Kind::Broadcast => Flow::FromRoot,
            _ => Flow::All,
        };
        if matches!(call.kind, Kind::BarrierAll | Kind::Barrier) {
            self.shmem_completes(Some(0));
        }
        let count = self.symmetric.entered.entry(set).or_default();
        *count += 1;
        let key = mixed(mixed(group.name ^ 0x5e0c, set as u64), *count);
        let segment = self.end_segment();
        if let Some(clock) = &self.rma.clock {
            clock.shm().enter(key, segment);
        }
        let root = match root {
            Root::Rank(root) => Some(root),
            _ => None,
        };
        let of = Collective { key, group, flow, root, sources: Vec::new(), blocks: true };
        self.symmetric.inside.insert(thread, Entered { of, segment });
    }

    /// PEs leave a call together.
    pub(super) fn shmem_leaves(
        &mut self,
        call: &Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(Entered { of, .. }) = self.symmetric.inside.remove(&place.thread()) else {
            return;
        };
        self.drain(place, out);
        let from = of.acquires_from(self.symmetric.me as u32);
        let everyone_waits = of.flow == Flow::All;
        self.acquire_from_collective(of.key, &of.group, &from, everyone_waits, place, out);
        let root = self.symmetric.is_root(call);
        for (_, mode, elements) in call.collective() {
            if mode == Mode::Write
                && root != Some(true)
                && let Some(footprint) = elements.footprint()
            {
                self.note(&Access { mode, footprint }, call.args.call, place.pc(), None);
            }
        }
    }
}
