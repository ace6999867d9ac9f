//! The interpreter loop of a warp: executes groups of converged lanes step by step (SIMT).

use crate::access::{Memories, Region, Trap, offset_in_shared};
use crate::barrier::{Arrival, Barriers};
use crate::code::{
    Action, Barrier, Call, Callee, Code, Collective, CollectiveOp, Copies, Dynamic, Mbarrier,
    MbarrierOp, Provided,
};
use crate::exchange::Exchange;
use crate::fault::Cause;
use crate::mbarrier;
use crate::memory::Global;
use crate::observe::{At, Event, Observer};
use crate::program::Kernel;
use crate::provided::Services;
use crate::rows::{Mask, Rows, Slot, Storage, alike, lanes};
use crate::special::function_at;
use crate::warp::{Group, Outcome, Rounds, State, Warp, first, give, store_reduction, take, trap};
use commsan_ptx::Site;
use std::sync::atomic::{Ordering, fence};

/// The environment of a warp: its block, its grid, and the machine.
pub struct Context<'a, 'g, O> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The kernel's constants, with this device's addresses.
    pub constants: &'a Storage,
    /// The launch's arguments.
    pub arguments: Region,
    /// The block's shared memory.
    pub shared: Region,
    /// The block's barriers.
    pub barriers: &'a mut Barriers,
    /// The host's memory.
    pub global: &'a mut Global<'g>,
    /// Observes accesses to global memory.
    pub observer: &'a mut O,
    /// The services of the device.
    pub services: &'a Services,
    /// Virtual time in nanoseconds: each step of a warp takes one.
    pub now: u64,
    /// Number of thread instructions executed.
    pub executed: u64,
}

/// How a step ends.
enum Flow {
    /// Execution continues with the next step.
    Next,
    /// Groups have changed: the one to run must be selected again.
    Regroup,
}

/// The state of the running group.
struct Current {
    at: usize,
    pc: u32,
    mask: Mask,
    meeting: u32,
    rounds: Rounds,
}

impl Current {
    fn of(warp: &Warp, at: usize) -> Current {
        let Group { pc, mask, rounds, .. } = warp.groups[at];
        Current { at, pc, mask, meeting: warp.meeting(at), rounds }
    }

    fn store(&self, warp: &mut Warp) {
        let group = &mut warp.groups[self.at];
        (group.pc, group.rounds) = (self.pc, self.rounds);
    }
}

/// Executes a warp for some steps, or until it waits.
pub fn run<O: Observer>(
    warp: &mut Warp,
    context: &mut Context<'_, '_, O>,
    mut steps: u32,
) -> Result<Outcome, Place> {
    loop {
        warp.wake(context);
        let Some(at) = warp.next() else { return Ok(warp.waits_for()) };
        if steps == 0 {
            return Ok(Outcome::Running);
        }
        let mut current = Current::of(warp, at);
        let gave_way = run_group(warp, context, &mut current, &mut steps)?;
        if gave_way {
            warp.groups[at].yielded += 1;
            let others = warp
                .groups
                .iter()
                .any(|g| g.state == State::Ready && g.yielded < warp.groups[at].yielded);
            if !others {
                warp.groups.iter_mut().for_each(|group| group.yielded = 0);
                return Ok(Outcome::Spinning);
            }
        }
    }
}

/// A fault and its location.
pub struct Place {
    /// The fault.
    pub trap: Trap,
    /// The function, by index.
    pub routine: u32,
    /// The instruction, by index.
    pub origin: u32,
}

/// Executes a group until it can reconverge with another, waits, or its steps are used up. Returns
/// whether it yielded.
fn run_group<O: Observer>(
    warp: &mut Warp,
    context: &mut Context<'_, '_, O>,
    current: &mut Current,
    steps: &mut u32,
) -> Result<bool, Place> {
    let frame = warp.groups[current.at].frame;
    let function = warp.frames.get(frame).routine;
    let kernel = context.kernel;
    let routine = kernel.routine(function).expect("lanes are only in functions that were lowered");
    let threads = u64::from(current.mask.count_ones());
    let (block, number) = (warp.place.number, warp.place.warp);
    let entered = warp.frames.get_mut(frame);
    let base = entered.base;
    let specials = warp.specials.as_ref().expect("made when the warp started");
    let rows = Rows::new(&mut entered.registers, context.constants, specials);
    let local = |warp: &mut Warp| {
        let ((base, stride), size) = (warp.local.base(), warp.local.size());
        Region { base, stride, size }
    };
    let mut memory_of_lanes = local(warp);
    loop {
        let code = &routine.codes[current.pc as usize];
        let active = current.mask & (rows.predicate(code.guard) ^ code.flip);
        *steps = steps.saturating_sub(1);
        context.now += 1;
        context.executed += if code.counted { threads } else { 0 };
        let place = |trap| Place { trap, routine: function, origin: code.origin };
        let doing = At { block, warp: number, lanes: active };
        macro_rules! memories {
            () => {
                Memories {
                    global: &mut *context.global,
                    shared: context.shared,
                    local: memory_of_lanes,
                    frame: base,
                    arguments: context.arguments,
                    observer: &mut *context.observer,
                    block,
                    warp: number,
                    function,
                    instruction: code.origin,
                }
            };
        }
        match &code.action {
            Action::Compute(compute) => {
                if active != 0 {
                    compute(&rows, &code.args, active);
                }
                current.pc += 1;
            }
            Action::Load(load) => {
                current.rounds.polled |= load.ordered;
                memories!().load(&rows, load, active).map_err(place)?;
                current.pc += 1;
            }
            Action::Store(store) => {
                memories!().store(&rows, store, active).map_err(place)?;
                current.pc += 1;
            }
            Action::Branch(target) if active == current.mask => {
                let back = *target <= current.pc;
                current.pc = *target;
                if back && current.rounds.count_iteration(warp.groups.len() > 1) {
                    current.store(warp);
                    return Ok(true);
                }
            }
            Action::Atomic(atomic) => {
                current.rounds.polled |= atomic.polls;
                memories!().atomic(&rows, atomic, active).map_err(place)?;
                current.pc += 1;
            }
            Action::CopyAsync(copy) => {
                memories!().copy(&rows, copy, active).map_err(place)?;
                current.pc += 1;
            }
            Action::CopyBulk(copy) => {
                memories!().copy_bulk(&rows, copy, active).map_err(place)?;
                current.pc += 1;
            }
            Action::Mbarrier(operation) => {
                current.rounds.polled = true;
                let changed = mbarrier_step(&mut memories!(), &rows, operation, &doing);
                changed.map_err(place)?;
                current.pc += 1;
            }
            Action::Sample(sample) => {
                memories!().sample(&rows, sample, active).map_err(place)?;
                current.pc += 1;
            }
            Action::Surface(access) => {
                memories!().surface(&rows, access, active).map_err(place)?;
                current.pc += 1;
            }
            _ if active == 0 => current.pc += 1,
            Action::Nothing => current.pc += 1,
            Action::Fence => {
                if O::ORDERED {
                    let event = Event::Fence { function, instruction: code.origin };
                    context.observer.event(&doing, event);
                }
                fence(Ordering::SeqCst);
                current.pc += 1;
            }
            Action::Copies(copies) => {
                if O::ORDERED {
                    let event = match copies {
                        Copies::Commit => Event::CopiesCommitted,
                        Copies::Wait(but) => Event::CopiesAwaited { but: *but },
                    };
                    context.observer.event(&doing, event);
                }
                current.pc += 1;
            }
            Action::Read(what, to) => {
                let value = match what {
                    Dynamic::Clock | Dynamic::Time => context.now,
                    Dynamic::Frame(offset) => base + offset,
                    Dynamic::ActiveMask => active.into(),
                    Dynamic::Stack => 0,
                };
                for lane in lanes(active) {
                    let stack = *what == Dynamic::Stack;
                    rows.set(*to, lane, if stack { warp.local.tops[lane] } else { value });
                }
                current.pc += 1;
            }
            Action::Alloca(to, size, align) => {
                for lane in lanes(active) {
                    let size: u64 = rows.get(*size, lane);
                    let taken = warp.local.take_in(lane, size, *align);
                    let overflow = || place(Trap { cause: Cause::StackOverflow, lane });
                    rows.set(*to, lane, taken.ok_or_else(overflow)?);
                }
                memory_of_lanes = local(warp);
                current.pc += 1;
            }
            Action::StackRestore(from) => {
                for lane in lanes(active) {
                    // Never below the frame, nor above the allocated memory.
                    let end = base + routine.frame;
                    let top = rows.get::<u64>(*from, lane).min(warp.local.tops[lane]).max(end);
                    warp.local.tops[lane] = top;
                }
                memory_of_lanes = local(warp);
                current.pc += 1;
            }
            Action::Collective(collective)
                if all_are_there(&rows, collective, active, warp.live) =>
            {
                for party in parties(&rows, collective, active, warp.live) {
                    if O::ORDERED {
                        let by = Site { function, instruction: code.origin };
                        let members = first(&rows, collective.members, party);
                        let event = Event::Exchange { members, by };
                        context.observer.event(&At { lanes: party, ..doing }, event);
                    }
                    let mut exchange = Exchange::new();
                    give(&mut exchange, collective, &rows, party);
                    exchange.run(collective.op);
                    take(&exchange, collective, &rows, party);
                    if O::ORDERED && collective.op == CollectiveOp::Barrier {
                        let event = Event::Converge;
                        context.observer.event(&At { lanes: party, ..doing }, event);
                    }
                }
                current.pc += 1;
            }
            _ => {
                let at = current.at;
                current.store(warp);
                warp.split(at, current.mask & !active, current.pc + 1);
                let by = Site { function, instruction: code.origin };
                match rare(warp, context, at, &rows, (code, by)).map_err(place)? {
                    Flow::Next => warp.groups[at].pc += 1,
                    Flow::Regroup => {}
                }
                return Ok(false);
            }
        }
        if current.pc >= current.meeting || *steps == 0 {
            current.store(warp);
            if current.pc == current.meeting {
                warp.merge(current.at);
            }
            return Ok(false);
        }
    }
}

/// Splits the lanes at one exchange into parties: lanes that name the same members take part in the
/// same exchange (PTX ISA §9.7.9.6 and §9.7.13, `membermask`).
fn parties(
    rows: &Rows,
    collective: &Collective,
    active: Mask,
    live: Mask,
) -> impl Iterator<Item = Mask> {
    let members = move |lane| rows.get::<u32>(collective.members, lane) & live;
    let mut rest = active;
    std::iter::from_fn(move || {
        let party = alike(rest, members);
        rest &= !party;
        (party != 0).then_some(party)
    })
}

/// Whether all live lanes that these exchanges wait for are active.
fn all_are_there(rows: &Rows, collective: &Collective, active: Mask, live: Mask) -> bool {
    parties(rows, collective, active, live)
        .all(|party| first(rows, collective.members, party) & live == party)
}

/// Steps that end a run of simple ones. The group consists of the lanes that execute the step.
fn rare<O: Observer>(
    warp: &mut Warp,
    context: &mut Context<'_, '_, O>,
    at: usize,
    rows: &Rows,
    (code, by): (&Code, Site),
) -> Result<Flow, Trap> {
    let (pc, mask) = (warp.groups[at].pc, warp.groups[at].mask);
    match &code.action {
        Action::Branch(target) => {
            warp.groups[at].pc = *target;
            warp.merge(at);
            Ok(Flow::Regroup)
        }
        Action::Switch(switch) => {
            let mut rest = mask;
            while rest != 0 {
                let index = first(rows, switch.index, rest);
                let same = alike(rest, |lane| rows.get::<u32>(switch.index, lane));
                let target = switch.targets.get(index as usize);
                // An index beyond the table is undefined behaviour; the last entry is taken.
                let target = target.or(switch.targets.last()).copied().unwrap_or(pc + 1);
                match same == rest {
                    true => warp.groups[at].pc = target,
                    false => warp.split(at, same, target),
                }
                rest &= !same;
            }
            Ok(Flow::Regroup)
        }
        Action::Call(call) => self::call(warp, context, at, rows, call),
        Action::Return => {
            match warp.ret(at, context.kernel) {
                true => warp.merge(at),
                false => exit(warp, context, at, mask),
            }
            Ok(Flow::Regroup)
        }
        Action::Exit => {
            exit(warp, context, at, mask);
            Ok(Flow::Regroup)
        }
        Action::Barrier(barrier) => arrive(warp, context, at, rows, (barrier, by)),
        Action::Collective(collective) => {
            if O::ORDERED
                && let Some(party) = parties(rows, collective, mask, warp.live).next()
            {
                let members = first(rows, collective.members, party);
                context.observer.event(&warp.at(party), Event::Exchange { members, by });
            }
            // Each party waits for its own members.
            for party in parties(rows, collective, mask, warp.live).skip(1) {
                warp.split(at, party, pc);
            }
            warp.groups[at].state = State::Exchange;
            warp.exchange(context.kernel, context.constants, context.observer);
            Ok(Flow::Regroup)
        }
        Action::Sleep(time) => {
            let longest = lanes(mask).map(|lane| rows.get::<u32>(*time, lane)).max().unwrap_or(0);
            warp.groups[at].state = State::Sleeping(context.now + u64::from(longest));
            Ok(Flow::Next)
        }
        Action::Trap => Err(trap(Cause::Trap, mask)),
        Action::Unsupported(why) => Err(trap(Cause::Unsupported(why.clone()), mask)),
        _ => Ok(Flow::Next),
    }
}

fn exit<O: Observer>(warp: &mut Warp, context: &mut Context<'_, '_, O>, at: usize, mask: Mask) {
    warp.exit(at, mask);
    context.barriers.exit(mask.count_ones());
    warp.exchange(context.kernel, context.constants, context.observer);
}

fn arrive<O: Observer>(
    warp: &mut Warp,
    context: &mut Context<'_, '_, O>,
    at: usize,
    rows: &Rows,
    (barrier, by): (&Barrier, Site),
) -> Result<Flow, Trap> {
    let mask = warp.groups[at].mask;
    let id = first(rows, barrier.id, mask);
    // Threads may name different barriers; each barrier is then handled separately.
    let same = alike(mask, |lane| rows.get::<u32>(barrier.id, lane));
    let pc = warp.groups[at].pc;
    warp.split(at, mask & !same, pc);
    let expected = barrier.count.map(|count| first(rows, count, same));
    let threads: u32 = warp.place.block.iter().product();
    if let Some(count) =
        expected.filter(|count| count % 32 != 0 || *count > threads.next_multiple_of(32))
    {
        return Err(trap(Cause::Barrier(count), same));
    }
    let held = |slot| (rows.predicate(slot) & same).count_ones();
    let held = barrier.reduction.as_ref().map(|reduction| held(reduction.predicate));
    // Named numbers of threads are those of whole warps, and so are arrivals (PTX ISA §9.7.13.1).
    let threads = match expected {
        Some(_) if same == warp.live => 32,
        _ => same.count_ones(),
    };
    let generation = context.barriers.arrive(id, Arrival { threads, expected, held });
    let generation = generation.ok_or_else(|| trap(Cause::Barrier(id), same))?;
    let at_barrier = warp.at(same);
    if O::ORDERED {
        let all: u32 = warp.place.block.iter().product();
        let whole = expected.is_none_or(|count| count >= all);
        let (count, aligned) = (expected, barrier.aligned);
        let waits = barrier.wait;
        let event = Event::Arrive { barrier: id, generation, whole, waits, count, aligned, by };
        context.observer.event(&at_barrier, event);
    }
    if !barrier.wait {
        return Ok(Flow::Next);
    }
    if context.barriers.passed(id, generation) {
        if O::ORDERED {
            context.observer.event(&at_barrier, Event::Pass { barrier: id, generation });
        }
        store_reduction(rows, barrier, same, id, context.barriers);
        return Ok(Flow::Next);
    }
    warp.groups[at].state = State::Barrier { id, generation };
    Ok(Flow::Regroup)
}

fn call<O: Observer>(
    warp: &mut Warp,
    context: &mut Context<'_, '_, O>,
    at: usize,
    rows: &Rows,
    call: &Call,
) -> Result<Flow, Trap> {
    let (pc, mask) = (warp.groups[at].pc, warp.groups[at].mask);
    match &call.callee {
        Callee::Direct(callee) => {
            let called = warp.call(at, context.kernel, *callee, &call.arguments);
            called.map_err(|cause| trap(cause, mask))?;
        }
        Callee::Indirect(slot) => {
            // Lanes that call the same function stay together; the others make their calls later.
            let target = |lane| rows.get::<u64>(*slot, lane);
            let address = target(mask.trailing_zeros() as usize % 32);
            let same = alike(mask, target);
            warp.split(at, mask & !same, pc);
            let callee = function_at(address).filter(|f| context.kernel.routine(*f).is_some());
            let callee = callee.ok_or_else(|| trap(Cause::NoFunction(address), same))?;
            let called = warp.call(at, context.kernel, callee, &call.arguments);
            called.map_err(|cause| trap(cause, same))?;
        }
        Callee::Provided(provided) => {
            let frame = warp.frames.get(warp.groups[at].frame).base;
            let services = context.services;
            for lane in lanes(mask) {
                let thread = warp.place.thread(warp.place.warp * 32 + lane as u32);
                let caller = crate::provided::Caller {
                    block: warp.place.index,
                    thread,
                    frame,
                    arguments: context.arguments,
                    constants: context.global,
                };
                let result = services
                    .call(*provided, call, warp.local.lane_mut(lane), caller)
                    .map_err(|cause| Trap { cause, lane })?;
                if O::ORDERED
                    && *provided == Provided::Malloc
                    && let Some(range) = services.allocation(result)
                {
                    let (start, size) = (range.start, range.end - range.start);
                    let event = Event::Allocate { start, size };
                    context.observer.event(&warp.at(1 << lane), event);
                }
            }
            return Ok(Flow::Next);
        }
    }
    Ok(Flow::Regroup)
}

fn mbarrier_step<O: Observer>(
    memories: &mut Memories<'_, '_, O>,
    rows: &Rows,
    operation: &Mbarrier,
    doing: &At,
) -> Result<(), Trap> {
    for lane in lanes(doing.lanes) {
        let count: u32 = rows.get(operation.count, lane);
        let change = |state| mbarrier::changed(state, operation.op, count);
        let old = memories.change(rows, &operation.address, lane, change)?;
        match operation.op {
            MbarrierOp::TestWait => {
                let waited: u64 = rows.get(operation.state, lane);
                set(rows, operation.d, lane, mbarrier::phase(old) != mbarrier::phase(waited));
            }
            MbarrierOp::TestParity => {
                set(rows, operation.d, lane, mbarrier::phase(old) != u64::from(count & 1));
            }
            MbarrierOp::Arrive { .. } => rows.set(operation.d, lane, old),
            _ => {}
        }
        if O::ORDERED {
            use crate::observe::Mbarrier::*;
            let passes = rows.predicate(operation.d) >> lane & 1 == 1;
            let does = match operation.op {
                MbarrierOp::Init => Init,
                MbarrierOp::Invalidate => Invalidate,
                MbarrierOp::Arrive { .. } | MbarrierOp::CompleteTx => Arrive,
                MbarrierOp::ArriveCopies { .. } => ArriveCopies,
                MbarrierOp::TestWait | MbarrierOp::TestParity if passes => Pass,
                MbarrierOp::ExpectTx | MbarrierOp::TestWait | MbarrierOp::TestParity => Look,
            };
            let completes = mbarrier::phase(change(old)) != mbarrier::phase(old);
            let address = offset_in_shared(rows, &operation.address, lane);
            let excess = mbarrier::excess(old, operation.op, count);
            let by = Site { function: memories.function, instruction: memories.instruction };
            let event = Event::Mbarrier { address, does, completes, excess, by };
            memories.observer.event(&At { lanes: 1 << lane, ..*doing }, event);
        }
    }
    Ok(())
}

fn set(rows: &Rows, slot: Slot, lane: usize, held: bool) {
    rows.set_predicate(slot, 1 << lane, if held { Mask::MAX } else { 0 });
}
