//! What a report says of a race: why nothing orders the two sides, and where they are.

use crate::order::Numbering;
use crate::race::{Reason, Side};
use crate::scene::{Me, Scene};
use crate::site::{Info, Scope, Sites};
use crate::stamp::{Level, MAX_CLOCK, Stamp};
use commsan_simt::{Access, Kernel};
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

pub(crate) fn side(
    kernel: &Kernel,
    sites: &Sites,
    numbering: Numbering,
    (grid, shape): ([u32; 3], [u32; 3]),
    stamp: Stamp,
    several: bool,
) -> Side {
    let index = |number: u32, [x, y, _]: [u32; 3]| [number % x, number / x % y, number / (x * y)];
    let info = sites.get(stamp.site());
    let block = numbering.block(stamp.thread());
    Side {
        info: *info,
        line: kernel.module().own_line(&[info.place]).map(|(file, line)| (file.to_owned(), line)),
        instruction: crate::site::instruction_name(kernel.module(), info.place),
        block: index(block, grid),
        thread: index(stamp.thread() - (block << numbering.bits), shape),
        several,
    }
}
