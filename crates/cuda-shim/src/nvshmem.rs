//! What calls of NVSHMEM's host library move between processing elements (PEs): puts and gets as they are asked
//! for, collectives in their logical shape, as those of MPI. What the library itself does for that is not looked
//! at, nor are its functions for kernels, which are no calls of the host.

use crate::call::{Call, DefaultStream};
use crate::process::{process, quietly};
use crate::real::{SUCCESS, real};
use crate::traffic::one_sided::{self, Moved};
use crate::{ask, memory};
use commsan_cuda::{Allocation, MemoryKind, Release};
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_shadow::{Footprint, Pattern};
use commsan_threads::Here;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock};

/// Elements in memory.
#[derive(Clone, Copy)]
pub(crate) struct Elements {
    at: usize,
    size: usize,
    count: usize,
    /// From one to the next, in elements.
    step: isize,
}

impl Elements {
    pub fn new(at: usize, size: usize, count: usize) -> Elements {
        Elements { at, size, count, step: 1 }
    }

    pub fn every(self, step: isize) -> Elements {
        Elements { step, ..self }
    }

    fn bytes(self) -> u64 {
        (self.size as u64).saturating_mul(self.count as u64)
    }

    fn times(self, factor: usize) -> Elements {
        Elements { count: self.count.saturating_mul(factor), ..self }
    }

    fn footprint(self) -> Footprint {
        let Elements { at, size, count, step } = self;
        match step {
            1 => Footprint::Dense(at..at.saturating_add(size.saturating_mul(count))),
            _ => {
                let element = Pattern::dense(0, size as isize);
                Footprint::new(at, element.repeat(count, step.saturating_mul(size as isize)))
            }
        }
    }
}

/// The shapes of collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// From a root, by its number in the team, to each other.
    FromRoot(c_int),
    /// The same from each to each other.
    Gather,
    /// To each other another part.
    AllToAll,
    /// Each has the part of all that it gets.
    Scatter,
    /// All from each to each other.
    Reduce,
}

/// What a call asks for.
#[derive(Clone, Copy)]
pub(crate) enum Asks {
    /// To a PE; `from` is nowhere for a value.
    Put { to: Elements, from: Option<Elements>, pe: c_int },
    /// To a PE, then a signal.
    PutSignal { to: Elements, from: Elements, signal: usize, pe: c_int },
    /// From a PE.
    Get { from: Elements, to: Option<Elements>, pe: c_int },
    /// Both at once.
    FetchAndChange { at: Elements, pe: c_int },
    /// A collective of a team.
    Collective { team: c_int, shape: Shape, to: Elements, from: Elements },
}

/// Counts what the library is about to do, unless it asks for that itself. It does so as long as what this returns is
/// there.
pub(crate) fn counted(name: &'static str, caller: Caller, asks: Asks) -> Option<Inside> {
    let process = process()?;
    let inside = Inside::enter()?;
    if process.counts() {
        quietly(|| {
            let call = Call::of(process, Here::new(caller, &inside), name, DefaultStream::Legacy);
            for moved in asks.moved(name) {
                one_sided::moved(&call, &moved);
            }
        });
    }
    Some(inside)
}

macro_rules! ask {
    ($name:literal($($argument:expr),*) as fn($($ty:ty),*)) => {
        // SAFETY: the library's function of this name; it reads its numbers and has no other effect.
        real!($name, fn($($ty),*) -> c_int).map(|function| unsafe { function($($argument),*) })
    };
}

fn my_pe() -> Option<u32> {
    u32::try_from(ask!(c"nvshmem_my_pe"() as fn())?).ok()
}

/// PEs of teams, in the order of their numbers there.
static TEAMS: LazyLock<Mutex<FxHashMap<c_int, Arc<[u32]>>>> = LazyLock::new(Mutex::default);

fn team(team: c_int) -> Option<Arc<[u32]>> {
    const WORLD: c_int = 0;
    if let Some(known) = TEAMS.lock().get(&team) {
        return Some(Arc::clone(known));
    }
    let size = ask!(c"nvshmem_team_n_pes"(team) as fn(c_int))?;
    let of_world = |pe: c_int| {
        let pe = ask!(c"nvshmem_team_translate_pe"(team, pe, WORLD) as fn(c_int, c_int, c_int))?;
        u32::try_from(pe).ok()
    };
    let members: Arc<[u32]> = (0..size).map(of_world).collect::<Option<_>>()?;
    TEAMS.lock().insert(team, Arc::clone(&members));
    Some(members)
}

/// A team is about to go: its number may be another one's.
pub(crate) fn forget_team(team: c_int) {
    TEAMS.lock().remove(&team);
}

impl Asks {
    /// What moves here; nothing where it is not known who takes part.
    fn moved(self, call: &'static str) -> Vec<Moved> {
        self.known(call).unwrap_or_default()
    }

    fn known(self, call: &'static str) -> Option<Vec<Moved>> {
        let pe = my_pe()?;
        let one = |sends, peer: c_int, own: Option<Elements>, theirs: Elements| {
            let peer = u32::try_from(peer).ok()?;
            let (own, theirs) =
                (own.map(Elements::footprint), (theirs.bytes(), theirs.footprint()));
            let (bytes, theirs) = (theirs.0, Some(theirs.1));
            Some(Moved { call, pe, sends, peer: Some(peer), team: None, bytes, own, theirs })
        };
        match self {
            Asks::Put { to, from, pe } => Some(vec![one(true, pe, from, to)?]),
            Asks::PutSignal { to, from, signal, pe } => {
                let signal = Elements::new(signal, size_of::<u64>(), 1);
                Some(vec![one(true, pe, Some(from), to)?, one(true, pe, None, signal)?])
            }
            Asks::Get { from, to, pe } => Some(vec![one(false, pe, to, from)?]),
            Asks::FetchAndChange { at, pe } => {
                Some(vec![one(true, pe, None, at)?, one(false, pe, None, at)?])
            }
            Asks::Collective { team, shape, to, from } => {
                collective(call, pe, team, shape, to, from)
            }
        }
    }
}

fn collective(
    call: &'static str,
    pe: u32,
    of: c_int,
    shape: Shape,
    to: Elements,
    from: Elements,
) -> Option<Vec<Moved>> {
    let members = team(of)?;
    let size = members.len();
    let bytes = from.bytes();
    let moved = |sends, peer: Option<u32>, own: Elements| {
        let (team, own) = (Some(Arc::clone(&members)), Some(own.footprint()));
        Moved { call, pe, sends, peer, team, bytes, own, theirs: None }
    };
    let (from, to) = match shape {
        Shape::FromRoot(root) => {
            let root = *members.get(usize::try_from(root).ok()?)?;
            return Some(vec![match root == pe {
                true => moved(true, None, from),
                false => moved(false, Some(root), to),
            }]);
        }
        Shape::Gather => (from, to.times(size)),
        Shape::AllToAll => (from.times(size), to.times(size)),
        Shape::Scatter => (from.times(size), to),
        Shape::Reduce => (from, to),
    };
    Some(vec![moved(true, None, from), moved(false, None, to)])
}

/// Allocates symmetric memory: a call of all PEs, which waits for all.
pub(crate) fn allocate(
    name: &'static str,
    caller: Caller,
    size: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    let Some(process) = process() else { return real() };
    let Some(inside) = Inside::enter() else { return real() };
    let address = real();
    if address == 0 || size == 0 {
        return address;
    }
    quietly(|| {
        let call = Call::of(process, Here::new(caller, &inside), name, DefaultStream::Legacy);
        let device = ask::device_of(address);
        if let Some(pe) = my_pe() {
            one_sided::is_pe(&call, pe, device);
        }
        let (kind, bytes) = (MemoryKind::Device, address..address.saturating_add(size));
        let allocation = Allocation { kind, device, bytes, stream: None };
        memory::made(&call, name, allocation);
    });
    address
}

/// The program asks where a PE's memory is that is here at an address.
pub(crate) fn reached(
    caller: Caller,
    (address, pe): (usize, c_int),
    real: impl FnOnce() -> usize,
) -> usize {
    let Some(process) = process().filter(|process| process.counts()) else { return real() };
    let Some(inside) = Inside::enter() else { return real() };
    let there = real();
    if let Ok(pe) = u32::try_from(pe)
        && there != 0
    {
        quietly(|| {
            let here = Here::new(caller, &inside);
            let call = Call::of(process, here, "nvshmem_ptr", DefaultStream::Legacy);
            one_sided::reached(&call, address, pe, there);
        });
    }
    there
}

/// Gives it back.
pub(crate) fn free(caller: Caller, address: usize, real: impl FnOnce()) {
    let Some(process) = process() else { return real() };
    let Some(inside) = Inside::enter() else { return real() };
    let call = Call::of(process, Here::new(caller, &inside), "nvshmem_free", DefaultStream::Legacy);
    let real = || {
        real();
        SUCCESS
    };
    memory::free(Some(&call), address, |_| Release::Device, real);
}
