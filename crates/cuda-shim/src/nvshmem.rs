//! NVSHMEM's host library: what its calls use, move and mean (NVSHMEM documentation, "Using
//! NVSHMEM", "NVSHMEM API").
//!
//! A call of a stream is work there, which reads what is put and writes what is got; a nonblocking
//! one goes on beside the streams until somebody waits for it. Whether PEs call the same together
//! is for [`commsan_cuda::nvshmem`] to say. For profiles, puts and gets move what they are asked
//! for, and collectives what their logical shape says, as those of MPI. What the library itself
//! does is not looked at. Its functions for kernels are loads and stores there, which the simulated
//! device reports as those of any kernel.

mod life;

pub(crate) use life::{allocate, asks, destroy_team, end, free, init, split};

use crate::call::{Call, DefaultStream};
use crate::process::{process, quietly};
use crate::real::real;
use crate::traffic::one_sided::{self, Moved};
use commsan_cuda::nvshmem::operation::Operation;
use commsan_cuda::nvshmem::{Act, Uses, WORLD, Wrong};
use commsan_cuda::waiting::Meeting;
use commsan_cuda::{Bytes, KernelAccess, Strength, Wait, Work};
use commsan_cuda_abi::nvshmem::Kind;
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_shadow::{Footprint, Mode, Pattern};
use commsan_threads::Here;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
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
    /// Equal parts from each to each other.
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
    /// The PEs of a team wait for each other.
    Meet { team: c_int },
    /// All that this PE has put is complete.
    Quiet,
    /// A stream waits until this PE's memory has some value.
    Await { at: Elements },
}

macro_rules! ask {
    ($name:literal($($argument:expr),*) as fn($($ty:ty),*)) => {
        // SAFETY: the library's function of this name; it reads its numbers and has no other
        // effect.
        real!($name, fn($($ty),*) -> c_int).map(|function| unsafe { function($($argument),*) })
    };
}

fn my_pe() -> Option<u32> {
    u32::try_from(ask!(c"nvshmem_my_pe"() as fn())?).ok()
}

/// PEs of teams, in the order of their numbers there.
static TEAMS: LazyLock<Mutex<FxHashMap<c_int, Arc<[u32]>>>> = LazyLock::new(Mutex::default);

fn team(team: c_int) -> Option<Arc<[u32]>> {
    if let Some(known) = TEAMS.lock().get(&team) {
        return Some(Arc::clone(known));
    }
    let size = ask!(c"nvshmem_team_n_pes"(team) as fn(c_int)).filter(|size| *size > 0)?;
    let of_world = |pe: c_int| {
        let pe = ask!(c"nvshmem_team_translate_pe"(team, pe, WORLD) as fn(c_int, c_int, c_int))?;
        u32::try_from(pe).ok()
    };
    let members: Arc<[u32]> = (0..size).map(of_world).collect::<Option<_>>()?;
    TEAMS.lock().insert(team, Arc::clone(&members));
    Some(members)
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
            Asks::Meet { .. } | Asks::Quiet | Asks::Await { .. } => None,
        }
    }

    /// The call as PEs must agree on it, if they make it together.
    fn operation(self, call: &str) -> Option<Operation> {
        match self {
            Asks::Collective { shape: Shape::FromRoot(root), from, .. } => {
                Some(Operation::new(call, from.count as u64)?.from(root))
            }
            Asks::Collective { from, .. } => Operation::new(call, from.count as u64),
            _ => Operation::new(call, 0),
        }
    }

    /// What must be right about what it passes.
    fn uses(self) -> Vec<Uses> {
        let at = |name, elements: Elements| {
            let span = elements.footprint().span();
            (elements.count > 0).then_some(Uses::Symmetric(name, elements.at, span))
        };
        let signal = Elements::new(0, size_of::<u64>(), 1);
        let all = match self {
            Asks::Put { to, pe, .. } => [Some(Uses::Pe(pe)), at("dest", to), None],
            Asks::PutSignal { to, signal: word, pe, .. } => {
                let signal = Elements { at: word, ..signal };
                [Some(Uses::Pe(pe)), at("dest", to), at("sig_addr", signal)]
            }
            Asks::Get { from, pe, .. } => [Some(Uses::Pe(pe)), at("source", from), None],
            Asks::FetchAndChange { at: word, pe } => [Some(Uses::Pe(pe)), at("dest", word), None],
            Asks::Collective { team: of, shape, to, from } => {
                let Some(members) = team(of) else { return vec![Uses::NoTeam(of)] };
                let [from, to] = shape.spread([from, to], members.len());
                match shape {
                    // Of others it does not matter.
                    Shape::FromRoot(root) => {
                        let source = at("source", from).filter(|_| is_root(root, &members));
                        [Some(Uses::Root(root, members.len() as u32)), at("dest", to), source]
                    }
                    _ => [None, at("dest", to), at("source", from)],
                }
            }
            Asks::Meet { team: of } if team(of).is_none() => [Some(Uses::NoTeam(of)), None, None],
            Asks::Await { at: word } => [at("ivar", word), None, None],
            Asks::Meet { .. } | Asks::Quiet => [None, None, None],
        };
        all.into_iter().flatten().collect()
    }

    /// What it reads and writes of this process's memory. What a nonblocking call does at a PE,
    /// this one included, is left out, since `nvshmem_fence` orders it, too.
    fn accesses(self, is_nonblocking: bool) -> Vec<KernelAccess> {
        let access = |mode, elements: Elements| {
            let bytes = Bytes::Exactly(elements.footprint());
            let strength = Strength::Weak;
            let is_some = elements.at != 0 && elements.count > 0 && elements.size > 0;
            is_some.then_some(KernelAccess { mode, strength, bytes, certain: true, line: None })
        };
        let me = || my_pe().map(|me| me as c_int);
        let is_own = |pe| !is_nonblocking && me() == Some(pe);
        let (from, to) = match self {
            Asks::Put { to, from, pe } => (from, Some(to).filter(|_| is_own(pe))),
            Asks::PutSignal { to, from, pe, .. } => (Some(from), Some(to).filter(|_| is_own(pe))),
            Asks::Get { from, to, pe } => (Some(from).filter(|_| is_own(pe)), to),
            Asks::Collective { team: of, shape, to, from } => {
                let Some(members) = team(of) else { return Vec::new() };
                let [from, to] = shape.spread([from, to], members.len());
                match shape {
                    // What the root has afterwards is the same.
                    Shape::FromRoot(root) if is_root(root, &members) => (Some(from), None),
                    Shape::FromRoot(_) => (None, Some(to)),
                    _ => (Some(from), Some(to)),
                }
            }
            _ => (None, None),
        };
        let from = from.and_then(|from| access(Mode::Read, from));
        let to = to.and_then(|to| access(Mode::Write, to));
        from.into_iter().chain(to).collect()
    }
}

/// Whether this PE is the root, by its number in a team of these.
fn is_root(root: c_int, members: &[u32]) -> bool {
    let pe = usize::try_from(root).ok().and_then(|root| members.get(root));
    pe.is_some_and(|pe| my_pe() == Some(*pe))
}

impl Shape {
    /// What is sent and received by one of so many PEs, where a call counts the elements of one.
    fn spread(self, [from, to]: [Elements; 2], size: usize) -> [Elements; 2] {
        match self {
            Shape::FromRoot(_) | Shape::Reduce => [from, to],
            Shape::Gather => [from, to.times(size)],
            Shape::AllToAll => [from.times(size), to.times(size)],
            Shape::Scatter => [from.times(size), to],
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
    let bytes = from.bytes();
    let moved = |sends, peer: Option<u32>, own: Elements| {
        let (team, own) = (Some(Arc::clone(&members)), Some(own.footprint()));
        Moved { call, pe, sends, peer, team, bytes, own, theirs: None }
    };
    if let Shape::FromRoot(root) = shape {
        let root = *members.get(usize::try_from(root).ok()?)?;
        return Some(vec![match root == pe {
            true => moved(true, None, from),
            false => moved(false, Some(root), to),
        }]);
    }
    let [from, to] = shape.spread([from, to], members.len());
    Some(vec![moved(true, None, from), moved(false, None, to)])
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

/// Whether the library was initialised, as far as it was seen.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether it was finalized.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Who this PE is, and how many there are.
fn identity() -> Option<[u32; 2]> {
    let pes = u32::try_from(ask!(c"nvshmem_n_pes"() as fn())?).ok()?;
    Some([my_pe()?, pes])
}

/// Whether the library is initialised; if it is not, that is reported.
fn is_begun(call: &Call) -> bool {
    /// `NVSHMEM_STATUS_NOT_INITIALIZED`, and `NVSHMEM_STATUS_IS_INITIALIZED`, behind which the
    /// others say how far. In between PEs know each other, and a device comes later; so they do
    /// when the library is finalized.
    const NOT: c_int = 0;
    const INITIALISED: c_int = 2;
    if BEGUN.load(Relaxed) {
        return true;
    }
    match ask!(c"nvshmemx_init_status"() as fn()) {
        Some(status) if status == NOT || status < INITIALISED && ENDED.load(Relaxed) => {
            report(call, &[Uses::Outside]);
            return false;
        }
        Some(_) => {
            // By a call that nobody has seen.
            if let Some([pe, pes]) = identity() {
                BEGUN.store(true, Relaxed);
                act(call, Act::Begins { pe, pes, id: None, followed: false });
            }
        }
        None => {}
    }
    true
}

fn act(call: &Call, act: Act<'_>) -> Option<Meeting> {
    call.with(|streams, place, out| streams.nvshmem(act, place, out)).flatten()
}

/// Whether the library has symmetric memory at an address; also if it cannot be asked.
fn is_symmetric(at: usize) -> bool {
    let Some(me) = my_pe() else { return true };
    real!(c"nvshmem_ptr", fn(usize, c_int) -> usize)
        // SAFETY: the library's function of this name takes any address.
        .is_none_or(|function| unsafe { function(at, me as c_int) } != 0)
}

/// Reports what is wrong with what a call passes, as far as the library does not know better.
/// Returns whether something is.
fn report(call: &Call, uses: &[Uses]) -> bool {
    let all = call.with(|streams, _, _| streams.nvshmem_wrong(uses)).unwrap_or_default();
    let is_wrong = |wrong: &&Wrong| !wrong.unless.is_some_and(is_symmetric);
    let wrong: Vec<_> = all.iter().filter(is_wrong).collect();
    for wrong in &wrong {
        act(call, Act::Wrong(wrong, call.name));
    }
    !wrong.is_empty()
}

/// How a call is made.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub name: &'static str,
    /// The stream that carries it out, if it is not the host.
    pub stream: Option<usize>,
}

/// The call, if it is to be looked at, while the library is initialised.
fn checked<'a>(call: &'a Call<'a>) -> Option<&'a Call<'a>> {
    (call.checks() && quietly(|| is_begun(call)) == Some(true)).then_some(call)
}

/// Asks the library for something, which is counted, checked and compared with what other PEs ask
/// for.
#[inline]
pub(crate) fn asked<R>(how: How, caller: Caller, asks: Asks, real: impl FnOnce() -> R) -> R {
    through(real, |real| follow(how, caller, asks, real))
}

/// What the library's call gives, which `around` makes: more than a thousand entry points share
/// what they do around it.
#[inline]
fn through<R>(real: impl FnOnce() -> R, around: impl FnOnce(&mut dyn FnMut())) -> R {
    let (mut real, mut result) = (Some(real), None);
    around(&mut || {
        if let Some(real) = real.take() {
            result = Some(real());
        }
    });
    result.expect("the library is called")
}

fn follow(how: How, caller: Caller, asks: Asks, real: &mut dyn FnMut()) {
    let Some(process) = process() else { return real() };
    let Some(inside) = Inside::enter() else { return real() };
    let call = Call::of(process, Here::new(caller, &inside), how.name, DefaultStream::Legacy);
    if process.counts() {
        quietly(|| {
            for moved in asks.moved(how.name) {
                one_sided::moved(&call, &moved);
            }
        });
    }
    let Some(call) = checked(&call) else { return real() };
    let is_wrong = quietly(|| report(call, &asks.uses())) == Some(true);
    let accesses = if is_wrong { Vec::new() } else { asks.accesses(is_nonblocking(how.name)) };
    match (asks, how.stream) {
        (Asks::Collective { team, .. } | Asks::Meet { team }, stream) => {
            together(call, team, asks.operation(how.name), stream, accesses, real)
        }
        (Asks::Quiet, None) => {
            real();
            complete(call, None);
            returned(call);
        }
        (Asks::Quiet, Some(stream)) => {
            real();
            complete(call, Some(stream));
        }
        (Asks::Await { .. }, Some(stream)) => {
            real();
            quietly(|| {
                let work = work(call, stream, accesses);
                call.with(|streams, place, out| streams.nvshmem_awaits(&work, place, out));
            });
            // What it waits for may be a reply to what this PE has put, which is over then.
            complete(call, Some(stream));
        }
        (_, Some(stream)) if !is_nonblocking(how.name) => {
            real();
            quietly(|| {
                let work = work(call, stream, accesses);
                call.with(|streams, place, out| streams.enqueue(&work, place, out));
            });
        }
        (_, None) if !is_nonblocking(how.name) => {
            quietly(|| act(call, Act::Moves(&accesses, call.name)));
            real();
            returned(call);
        }
        (_, stream) => {
            real();
            quietly(|| {
                let name = stream.map(|stream| call.stream(stream));
                let work = work(call, stream.unwrap_or_default(), accesses);
                call.with(|streams, place, out| streams.nvshmem_begins(&work, name, place, out));
            });
        }
    }
}

/// Whether a call does not wait for what it asks for.
fn is_nonblocking(name: &str) -> bool {
    name.contains("_nbi")
}

/// The host is back, and may come after what other PEs have done meanwhile.
fn returned(call: &Call) {
    quietly(|| act(call, Act::Returned));
}

/// Somebody has waited for all nonblocking operations.
fn complete(call: &Call, stream: Option<usize>) {
    quietly(|| {
        let stream = stream.map(|stream| call.stream(stream));
        call.with(|streams, place, out| {
            streams.nvshmem_completes(stream, call.name, place, out);
        });
    });
}

fn work(call: &Call, stream: usize, accesses: Vec<KernelAccess>) -> Work {
    let stream = call.stream(stream);
    Work { call: call.name, stream, kernel: None, accesses: accesses.into(), wait: Wait::Nothing }
}

/// Makes a call that the PEs of a team make together.
fn together(
    call: &Call,
    of: c_int,
    operation: Option<Operation>,
    stream: Option<usize>,
    accesses: Vec<KernelAccess>,
    real: &mut dyn FnMut(),
) {
    let meeting = quietly(|| {
        if stream.is_none() {
            act(call, Act::Moves(&accesses, call.name));
        }
        let (members, operation) = (team(of)?, operation?);
        let stream = stream.map(|stream| call.stream(stream));
        act(call, Act::Together(of, &members, operation, stream, call.name))
    });
    let meeting = meeting.flatten();
    if let Some(stream) = stream {
        real();
        quietly(|| {
            let work = work(call, stream, accesses);
            call.with(|streams, place, out| {
                let ticket = streams.enqueue(&work, place, out);
                if let Some(meeting) = meeting {
                    streams.meets_in_stream(ticket, meeting);
                }
            });
            if operation.is_some_and(|operation| completes(operation.kind())) {
                complete(call, Some(stream));
            }
        });
        return;
    }
    waits(call, meeting, real);
    if operation.is_some_and(|operation| completes(operation.kind())) {
        complete(call, None);
    }
}

/// Whether a call waits for what this PE has put.
fn completes(kind: Kind) -> bool {
    use Kind::{Allocate, Barrier, Finalize, Free};
    matches!(kind, Barrier | Allocate | Free | Finalize)
}

/// Calls the library, which waits for other PEs.
fn waits(call: &Call, meeting: Option<Meeting>, real: &mut dyn FnMut()) {
    quietly(|| call.with(|streams, place, _| streams.host_calls(call.name, meeting, place)));
    call.process.waits(call.here.thread, real);
    quietly(|| call.with(|streams, _, _| streams.host_goes_on()));
    returned(call);
}
