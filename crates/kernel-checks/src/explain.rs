//! What a report says of a race: why nothing orders the two sides, and where they are.

use crate::mistake::Spot;
use crate::order::Numbering;
use crate::race::{Reason, Side, Where};
use crate::scene::{Me, Scene};
use crate::site::{Info, Scope};
use crate::stamp::{Level, MAX_CLOCK, Stamp};
use commsan_ptx::Site;
use commsan_simt::{Access, Kernel, name_of};
use rustc_hash::FxHashMap;

/// Why a flag that a thread has read told it nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hint {
    /// Its writer has released nothing: no fence before it.
    NoRelease(u16),
    /// One of the two is for the block only, by its instruction.
    Narrow(u16),
}

/// Whether two stores store the same.
pub(crate) fn is_same(
    scene: &Scene<'_>,
    access: &Access<'_>,
    info: &Info,
    me: &Me,
    element: usize,
    other: Stamp,
) -> bool {
    let theirs = scene.sites.get(other.site());
    let stores = |info: &Info| info.writes && !info.reads && !info.copies;
    let Some(stored) = access.stored.filter(|_| stores(info) && stores(theirs)) else {
        return false;
    };
    if theirs.width != info.width {
        return false;
    }
    let mine = stored(me.lane, element);
    let lane = (other.thread() & 31) as usize;
    let by_this = other.site() == me.site
        && other.thread() >> 5 == me.thread >> 5
        && lane < me.lane
        && access.lanes >> lane & 1 == 1
        && access.addresses[lane] == access.addresses[me.lane];
    match by_this {
        // Nothing is stored yet.
        true => stored(lane, element) == mine,
        false => access.before.is_some_and(|before| before(me.lane, element) == mine),
    }
}

pub(crate) fn reason(
    scene: &Scene<'_>,
    hints: &FxHashMap<(u32, u32), Hint>,
    me: &Me,
    info: &Info,
    other: Stamp,
) -> Reason {
    let theirs = scene.sites.get(other.site());
    let (from, own) = (scene.numbering.block(other.thread()), scene.block.number);
    let line = |site: u16| scene.sites.get(site).place;
    if other.level() == Level::Copy && other.clock() == MAX_CLOCK {
        return Reason::Copy;
    }
    if theirs.strong && info.strong {
        return match theirs.width != info.width {
            true => Reason::Width,
            false => Reason::Scope,
        };
    }
    if let Some(read) = scene.block.would_know(me.warp, me.lane, other, scene.numbering) {
        return match from == own || scene.sites.get(read).scope == Scope::Device {
            true => Reason::NoAcquire(line(read)),
            false => Reason::Narrow(line(read)),
        };
    }
    match hints.get(&(from, own)) {
        Some(Hint::NoRelease(site)) => return Reason::NoRelease(line(*site)),
        Some(Hint::Narrow(site)) => return Reason::Narrow(line(*site)),
        None => {}
    }
    match (from == own, other.thread() >> 5 == me.thread >> 5) {
        (false, _) => Reason::Blocks,
        (true, true) if other.site() == me.site && info.writes => Reason::SameInstruction,
        (true, true) => Reason::Warp,
        (true, false) => Reason::Barrier,
    }
}

/// What is said of places and threads of a launch.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub kernel: &'a Kernel,
    pub numbering: Numbering,
    pub grid: [u32; 3],
    pub shape: [u32; 3],
}

impl Names<'_> {
    /// An instruction, and the thread with this number.
    pub fn spot(&self, place: Site, thread: u32) -> Spot {
        let module = self.kernel.module();
        let index =
            |number: u32, [x, y, _]: [u32; 3]| [number % x, number / x % y, number / (x * y)];
        let block = self.numbering.block(thread);
        Spot {
            place,
            line: module.own_line(&[place]).map(|(file, line)| (file.to_owned(), line)),
            instruction: module.instruction(place).map(name_of).unwrap_or_default(),
            block: index(block, self.grid),
            thread: index(thread - (block << self.numbering.bits), self.shape),
        }
    }

    /// An access of the thread with this number.
    pub fn side(&self, info: &Info, thread: u32, several: bool) -> Side {
        Side { info: *info, spot: self.spot(info.place, thread), several }
    }

    /// An element of an access.
    pub fn memory(&self, is_shared: bool, bytes: u64, width: u64) -> Where {
        if !is_shared {
            return Where::Global(bytes, width);
        }
        let (array, offset) = self.kernel.shared_array(bytes);
        Where::Shared(array.map(ToOwned::to_owned), offset)
    }
}
