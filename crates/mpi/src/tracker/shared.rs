//! Windows whose memory several ranks load from and store to: publishing, comparing and reporting;
//! the data is in [`crate::rma::shared`].

use super::OneSided;
use super::remote_ops::{CALL, REMOTE, row};
use super::{Tracker, other_work};
use crate::ids::Key;
use crate::rma::clock::RankClock;
use crate::rma::shared::{FENCES, Met, Published, Shared, variable_key};
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_findings::record::{RawAccess, RawOperation, Record};
use commsan_findings::{Code, Role};
use commsan_job_shm::shm_segments::{SegmentName, ShmSegments};
use commsan_mpi_calls::CALLS;
use commsan_shadow::{Epoch, Mode, Past};
use std::collections::VecDeque;
use std::ops::Range;

/// State of all shared-memory windows.
#[derive(Default)]
pub(super) struct SharedMemory {
    /// Number of windows that are shared.
    windows: u32,
    segments: ShmSegments,
    /// Sites that others may refer to, by number, and races: both not written to the log yet.
    unreported: Vec<(u32, Past)>,
    races: Vec<Race>,
    /// Freed windows: others may still read what this process has published.
    gone: VecDeque<Box<Shared>>,
}

/// Two concurrent accesses of different ranks.
struct Race {
    /// The handle of the window.
    window: usize,
    mine: Past,
    /// The other rank in the job; `theirs.pc` is the number of its site.
    other: u32,
    theirs: Past,
    /// The member whose part it is, and the bytes at this process's addresses.
    owner: usize,
    bytes: Range<usize>,
}

/// How an atomic access synchronises.
#[derive(Clone, Copy, Debug)]
pub enum Atomic {
    /// An acquire, a release, or both.
    Use {
        /// Whether it is an acquire.
        acquires: bool,
        /// Whether it is a release.
        releases: bool,
    },
    /// A write to a volatile variable, for which others may poll.
    Volatile,
}

/// Freed windows whose published shadows are kept.
const MAX_GONE: usize = 4;
/// Races that wait to be reported at most.
const MAX_RACES: usize = 64;
/// Stands for the call where no MPI call made an access.
const PLAIN: u32 = u32::MAX;

impl OneSided {
    /// Number of windows that other ranks load from and store to.
    pub fn shared_windows(&self) -> u32 {
        self.shared.windows
    }

    /// The window that was just created is shared; `views` are the members' parts.
    pub(super) fn share_window(&mut self, handle: usize, views: Vec<Range<usize>>) {
        let (Some(clock), Some(exposed)) = (&self.clock, &mut self.exposed) else { return };
        let Some(window) = self.windows.get_mut(handle) else { return };
        let published = clock.segment().saturating_sub(1);
        let Some(shared) = Shared::new(window.name, views, published, &mut self.shared.segments)
        else {
            self.incomplete = true;
            return;
        };
        for view in shared.views() {
            self.incomplete |= !exposed.add(view);
        }
        let words = shared.words() as u64;
        clock.shm().publish_part(
            Key::PublishedShadow.of(window.name),
            shared.name.to_bits(),
            words,
        );
        window.shared = Some(Box::new(shared));
        self.shared.windows += 1;
    }

    /// A shared window was freed.
    pub(super) fn unshare_window(&mut self, shared: Box<Shared>) {
        if let Some(exposed) = &mut self.exposed {
            shared.views().iter().for_each(|view| exposed.remove(view));
        }
        let all = &mut self.shared;
        all.windows -= 1;
        all.gone.push_back(shared);
        if all.gone.len() > MAX_GONE
            && let Some(shared) = all.gone.pop_front()
        {
            shared.retire();
            all.segments.release(shared.name);
        }
    }
}

impl OneSided {
    /// Before other ranks can acquire the segment that ends: publishes its accesses to shared
    /// memory, and compares them with what others have published.
    #[inline]
    pub(super) fn publish_shared(&mut self, stacks: &mut Stacks) {
        if self.shared.windows != 0 {
            self.publish_and_compare(stacks);
        }
    }

    fn publish_and_compare(&mut self, stacks: &mut Stacks) {
        let rma = &mut *self;
        let (Some(clock), Some(exposed)) = (&rma.clock, &rma.exposed) else { return };
        let (me, segment) = (clock.me(), clock.segment());
        // Of all windows, since those that share a block of pages are published together.
        let mut pages = Vec::new();
        for window in rma.windows.iter().filter_map(|window| window.shared.as_ref()) {
            window.views().iter().for_each(|view| exposed.shadow().take_changed(view, &mut pages));
        }
        pages.sort_unstable();
        for window in rma.windows.iter_mut() {
            let (name, handle, group) = (window.name, window.made.handle, &window.made.group);
            let (Some(own), Some(shared)) = (window.made.own, &mut window.shared) else { continue };
            let missing: Vec<usize> = shared.unknown(own).collect();
            for member in missing {
                let part = clock
                    .shm()
                    .part_here(group.members[member] as usize, Key::PublishedShadow.of(name));
                if let Some((segment, _)) =
                    part.filter(|(_, words)| *words == shared.words() as u64)
                {
                    shared.found(member, SegmentName::from_bits(segment), &mut rma.shared.segments);
                }
            }
            let mut published = shared.take(exposed, &pages, segment);
            published.retain(|published| !other_work::is_work(&published.past));
            for one in &published {
                let call = row(one.past.by).map(|row| row as u32);
                let far = if is_remote(&one.past) { REMOTE } else { 0 };
                let stack = stacks.intern(&[one.past.pc]);
                let new = rma.sites.len() as u32;
                let site =
                    *rma.sites.entry((stack, call.unwrap_or(PLAIN), 0)).or_insert_with(|| {
                        rma.shared.unreported.push((new, one.past));
                        new
                    });
                shared.publish(one, site as usize, call.unwrap_or(PLAIN) as usize + far);
            }
            shared.fence();
            // The clock of this process in the segment of the access; by now it may have acquired
            // more.
            let (mut of, mut row) = (0, RankClock::new(vec![0; clock.ranks()]));
            let mut theirs = row.clone();
            let first = group.members[0] as usize;
            let mut is_race = |published: &Published, met: &Met| {
                let (mine, other) = (published.past.when.segment, met.past.when.segment);
                let rank = group.members[met.member] as usize;
                if of != mine {
                    row.reset(clock.ranks());
                    clock.shm().join(me as usize, mine, row.components_mut());
                    of = mine;
                }
                let (owner, _) = shared.place(&met.bytes);
                // The owner is notified of one-sided operations by messages.
                let is_known = match (is_remote(&published.past), met.past.by & REMOTE != 0) {
                    (true, true) => true,
                    (true, false) => owner == met.member,
                    (false, true) => owner == own,
                    (false, false) => false,
                };
                let (mine, other) =
                    (Epoch { agent: me, time: mine }, Epoch { agent: rank as u32, time: other });
                if is_known || other.happens_before(&row) {
                    return false;
                }
                clock.shm().acquire(first, Key::Volatile.of(name), row.components_mut());
                theirs.reset(clock.ranks());
                clock.shm().join(rank, other.time, theirs.components_mut());
                let is_ordered = other.happens_before(&row) || mine.happens_before(&theirs);
                !is_ordered && !shared.is_flag(published, met, own)
            };
            for one in &published {
                shared.meet(one, |met| {
                    let races = &mut rma.shared.races;
                    let known = |race: &Race| {
                        (race.mine.pc, race.other, race.theirs.pc)
                            == (one.past.pc, group.members[met.member], met.past.pc)
                    };
                    if races.iter().any(known) || !is_race(one, &met) {
                        return true;
                    }
                    let (owner, bytes) = shared.place(&met.bytes);
                    races.push(Race {
                        window: handle,
                        mine: one.past,
                        other: group.members[met.member],
                        theirs: met.past,
                        owner,
                        bytes,
                    });
                    races.len() < MAX_RACES
                });
            }
        }
    }

    /// Publishes all that is left of windows that still exist.
    pub(super) fn reveal_shared(&mut self, stacks: &mut Stacks) {
        let windows = self.windows.iter_mut();
        windows.filter_map(|window| window.shared.as_mut()).for_each(|shared| shared.reveal());
        self.publish_shared(stacks);
    }
}

impl Tracker {
    /// Reports races that were found when there was no log to write them to.
    #[inline]
    pub(super) fn report_shared(&mut self, place: &impl Place, out: &mut dyn Findings) {
        if self.rma.shared.windows != 0 {
            self.report_all_shared(place, out);
        }
    }

    fn report_all_shared(&mut self, place: &impl Place, out: &mut dyn Findings) {
        for (number, past) in std::mem::take(&mut self.rma.shared.unreported) {
            let (site, _) = self.reporter.past(&past, place);
            out.emit(
                Record::Site { id: number, site: (Role::Operation, site) },
                &self.reporter.stacks,
            );
        }
        for race in std::mem::take(&mut self.rma.shared.races) {
            self.report_shared_race(&race, place, out);
        }
    }

    fn report_shared_race(&mut self, race: &Race, place: &impl Place, out: &mut dyn Findings) {
        let Some(me) = self.rma.clock.as_ref().map(|clock| clock.me()) else { return };
        let (site, by) = self.reporter.past(&race.mine, place);
        let (called, theirs) = remote_access(&race.theirs, race.other);
        let mine = (by, race.mine.mode, site);
        let other = (called, race.theirs.mode, theirs);
        // A pair has the same order, and so is the same finding, in whichever rank reports it.
        let first = match (mine.1, other.1) {
            (Mode::Read, Mode::Write) => true,
            (Mode::Write, Mode::Read) => false,
            _ => me < race.other,
        };
        let (access, operation) = if first { (mine, other) } else { (other, mine) };
        if out.again(Code::SharedMemoryRace, access.2.pc, operation.2.pc) {
            return;
        }
        let Some(window) = self.rma.windows.get(race.window) else { return };
        let Some(view) = window.shared.as_ref().map(|shared| shared.views()[race.owner].start)
        else {
            return;
        };
        let described = RawOperation {
            peer: Some(race.owner as i32),
            window: Some(window.number),
            base: Some(view as u64),
            ..RawOperation::of(operation.0)
        };
        let is_write = operation.1.is_write();
        let described = described.with_access(is_write, &race.bytes, race.bytes.len());
        let sites = [(Role::Access, access.2), (Role::Operation, operation.2)];
        let report = Report {
            access: Some(RawAccess::new(access.0, access.1.is_write(), &race.bytes)),
            ..Report::new(Code::SharedMemoryRace, described, sites)
        };
        self.reporter.report(report, &operation.2, out);
    }

    /// The program accesses memory at an address atomically; 0 stands for a fence, which concerns
    /// all memory.
    pub fn used_atomically(
        &mut self,
        address: usize,
        how: Atomic,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let found = self.rma.windows.iter().find_map(|window| {
            let shared = window.shared.as_ref()?;
            let (member, at) = shared.find(address)?;
            Some((shared, window.name, member, at, &window.made.group.members))
        });
        let (rank, key) = match (found, how) {
            (Some((shared, name, member, at, members)), _) => {
                shared.mark_atomic(member, at);
                match how {
                    Atomic::Use { .. } => (members[member], variable_key(name, member, at)),
                    Atomic::Volatile => (members[0], Key::Volatile.of(name)),
                }
            }
            (None, Atomic::Use { .. }) if address == 0 => (0, FENCES),
            _ => return,
        };
        if matches!(how, Atomic::Volatile | Atomic::Use { releases: true, .. }) {
            self.release_all(rank, key);
        }
        if matches!(how, Atomic::Use { acquires: true, .. })
            && let Some(clock) = &mut self.rma.clock
            && clock.acquire(rank, key, self.threads.between_ranks())
        {
            self.acquired(place, out);
        }
        self.report_shared(place, out);
    }

    /// Releases what this process has done so far to those who acquire this cell.
    fn release_all(&mut self, rank: u32, key: u64) {
        self.end_segment();
        if let Some(clock) = &self.rma.clock {
            clock.release_past(rank, key);
        }
    }

    /// `MPI_Win_sync` on a shared window.
    pub(super) fn synchronise_shared(
        &mut self,
        handle: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get(handle), &rma.clock) else { return };
        let (name, rank) = (window.name, window.made.group.members[0]);
        let Some(shared) = &window.shared else { return };
        shared.note_barrier(clock.segment() + 1);
        self.release_all(rank, Key::Barrier.of(name));
        let rma = &mut self.rma;
        let polls = rma.windows.get(handle).and_then(|window| window.shared.as_ref());
        if polls.is_some_and(|shared| shared.polls())
            && let Some(clock) = &mut rma.clock
            && clock.acquire(rank, Key::Barrier.of(name), self.threads.between_ranks())
        {
            self.acquired(place, out);
            let rma = &self.rma;
            if let (Some(window), Some(clock)) = (rma.windows.get(handle), &rma.clock)
                && let Some(shared) = &window.shared
            {
                shared.note_barrier(clock.segment());
            }
        }
        self.report_shared(place, out);
    }
}

/// Whether an access is a one-sided operation at its target.
fn is_remote(past: &Past) -> bool {
    past.by >= CALL && past.by & REMOTE != 0
}

/// An access that another rank has published, and its site.
fn remote_access(past: &Past, rank: u32) -> (&'static str, Site) {
    let plain = if past.mode == Mode::Write { "store" } else { "load" };
    let called = CALLS.get(past.by % REMOTE).map_or(plain, |call| call.name.as_str());
    (called, Site::remote(called, rank, past.pc as u32))
}
