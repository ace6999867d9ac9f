//! Warps: SIMT divergence and reconvergence of lanes.
//!
//! Lanes at the same step of the same call form a group; a divergent branch splits it. The group at
//! the lowest step runs first, so that groups of structured code reconverge at the end of a branch.
//! A group that only spins yields to the others, as independent thread scheduling guarantees (CUDA
//! C++ Programming Guide, "SIMT Architecture").

use crate::access::Trap;
use crate::barrier::Barriers;
use crate::code::{Action, Barrier, Combined};
use crate::exchange::Exchange;
use crate::execute::Context;
use crate::fault::Cause;
use crate::observe::{At, Event, Observer};
use crate::program::Kernel;
use crate::rows::{Mask, Rows, Slot, Storage, lanes};
use crate::special::Place;
use crate::stack::{Frame, Frames, Local};

/// The state of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It can run.
    Ready,
    /// It sleeps until this time.
    Sleeping(u64),
    /// It waits for a generation of a barrier to complete.
    Barrier {
        /// The number of the barrier.
        id: u32,
        /// The generation.
        generation: u32,
    },
    /// It waits for the other lanes of an exchange; its step is the exchange.
    Exchange,
}

/// A group of converged lanes.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The frame of the call that they execute.
    pub frame: usize,
    /// The step that they are at.
    pub pc: u32,
    /// The lanes.
    pub mask: Mask,
    /// The state.
    pub state: State,
    /// How often the group has yielded.
    pub yielded: u32,
    /// The loop iterations since the last yield.
    pub rounds: Rounds,
}

/// Distinguishes a group that spins from one that works.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Whether the current iteration has polled memory that others change.
    pub polled: bool,
    /// Number of iterations that have polled.
    pub polls: u32,
    /// Number of all iterations.
    pub spins: u32,
}

/// Maximum number of polls of memory that others change before a group of lanes yields.
const MAX_POLLS: u32 = 4;
/// Maximum number of iterations of loops without polls before a group yields to other groups.
const MAX_SPINS: u32 = 4096;

impl Rounds {
    /// Counts a backward branch; returns whether the group should yield, given whether there are
    /// others.
    pub fn count_iteration(&mut self, others: bool) -> bool {
        self.spins += 1;
        self.polls += u32::from(std::mem::take(&mut self.polled));
        let enough = self.polls >= MAX_POLLS || others && self.spins >= MAX_SPINS;
        if enough {
            *self = Rounds::default();
        }
        enough
    }
}

/// The outcome of running a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is more to do.
    Running,
    /// It spins on memory that other warps change.
    Spinning,
    /// It waits at barriers.
    Waiting,
    /// It sleeps until a time.
    Sleeping(u64),
    /// All its lanes have exited.
    Done,
}

/// A warp in execution.
pub struct Warp {
    /// Its place in the grid.
    pub place: Place,
    /// Lanes that have not exited.
    pub live: Mask,
    /// The groups.
    pub groups: Vec<Group>,
    /// The call frames.
    pub frames: Frames,
    /// The local memory.
    pub local: Local,
    /// The special registers, once filled.
    pub specials: Option<Storage>,
}

impl Warp {
    /// A new warp, which reuses the memory of an old one.
    pub fn start(old: Option<Warp>, kernel: &Kernel, place: Place) -> Warp {
        let threads = place.block.iter().product::<u32>();
        let present = (threads - place.warp * 32).min(32);
        let live = Mask::MAX >> (32 - present);
        let (mut frames, mut local, mut specials) = match old {
            Some(old) => (old.frames, old.local, old.specials),
            None => Default::default(),
        };
        place.rows(&mut specials);
        let routine = kernel.routine(kernel.entry()).expect("a launch has checked its kernel");
        local.tops = [0; 32];
        let base = local.take(live, routine.frame).unwrap_or(0);
        let registers = frames.registers(kernel.entry(), routine.registers);
        let routine = kernel.entry();
        let frame = frames.push(Frame { routine, registers, caller: None, lanes: live, base });
        let group = Group {
            frame,
            pc: 0,
            mask: live,
            state: State::Ready,
            yielded: 0,
            rounds: Rounds::default(),
        };
        Warp { place, live, groups: vec![group], frames, local, specials }
    }

    /// Wakes groups whose time has come or whose barrier is complete.
    pub fn wake<O: Observer>(&mut self, context: &mut Context<'_, '_, O>) {
        let mut passed = false;
        for at in 0..self.groups.len() {
            match self.groups[at].state {
                State::Sleeping(until) if until <= context.now => {
                    self.groups[at].state = State::Ready
                }
                State::Barrier { id, generation } if context.barriers.passed(id, generation) => {
                    if O::ORDERED {
                        let event = Event::Pass { barrier: id, generation };
                        context.observer.event(&self.at(self.groups[at].mask), event);
                    }
                    self.pass(at, id, context.kernel, context.constants, context.barriers);
                    passed = true;
                }
                _ => {}
            }
        }
        if passed {
            self.gather();
        }
    }

    /// Lanes that do something, for observers.
    pub fn at(&self, lanes: Mask) -> At {
        At { block: self.place.number, warp: self.place.warp, lanes }
    }

    /// A group passes a barrier, and gets the combined predicates.
    fn pass(
        &mut self,
        at: usize,
        id: u32,
        kernel: &Kernel,
        constants: &Storage,
        barriers: &Barriers,
    ) {
        let group = self.groups[at];
        let frame = self.frames.get_mut(group.frame);
        let code = &kernel.routine(frame.routine).expect("it runs").codes[group.pc as usize];
        if let Action::Barrier(barrier) = &code.action {
            let specials = self.specials.as_ref().expect("made when the warp started");
            let rows = Rows::new(&mut frame.registers, constants, specials);
            store_reduction(&rows, barrier, group.mask, id, barriers);
        }
        self.groups[at].pc += 1;
        self.groups[at].state = State::Ready;
    }

    /// Selects the group to run: of those that yielded least often, the one at the lowest step.
    pub fn next(&self) -> Option<usize> {
        let ready = (0..self.groups.len()).filter(|at| self.groups[*at].state == State::Ready);
        ready.min_by(|a, b| {
            let (a, b) = (&self.groups[*a], &self.groups[*b]);
            a.yielded.cmp(&b.yielded).then_with(|| self.behind(a, b))
        })
    }

    fn behind(&self, a: &Group, b: &Group) -> std::cmp::Ordering {
        match a.frame == b.frame {
            true => a.pc.cmp(&b.pc),
            false => self.frames.path(a.frame, a.pc).cmp(&self.frames.path(b.frame, b.pc)),
        }
    }

    /// The lowest step at which the group may reconverge with another.
    pub fn meeting(&self, at: usize) -> u32 {
        let group = &self.groups[at];
        let others = self.groups.iter().enumerate().filter(|(other, g)| {
            *other != at && g.state == State::Ready && g.frame == group.frame && g.pc > group.pc
        });
        others.map(|(_, g)| g.pc).min().unwrap_or(u32::MAX)
    }

    /// Merges a group with one at the same step, if there is one.
    pub fn merge(&mut self, at: usize) {
        let group = self.groups[at];
        let same =
            |g: &Group| g.state == State::Ready && g.frame == group.frame && g.pc == group.pc;
        let other = (0..self.groups.len()).find(|o| *o != at && same(&self.groups[*o]));
        if let Some(other) = other.filter(|_| group.state == State::Ready) {
            self.groups[other].mask |= group.mask;
            self.groups[other].yielded = group.yielded.min(self.groups[other].yielded);
            self.groups.swap_remove(at);
        }
    }

    /// Merges all groups that are at the same step.
    fn gather(&mut self) {
        // From the end, so that the group that replaces a merged one was already visited.
        (0..self.groups.len()).rev().for_each(|at| self.merge(at));
    }

    /// Splits lanes off a group, to continue at a step; nothing happens if there are none.
    pub fn split(&mut self, at: usize, mask: Mask, pc: u32) {
        if mask != 0 {
            let group = self.groups[at];
            self.groups[at].mask &= !mask;
            self.groups.push(Group { mask, pc, state: State::Ready, ..group });
        }
    }

    /// What a warp without a group to run waits for.
    pub fn waits_for(&self) -> Outcome {
        let times = self.groups.iter().filter_map(|group| match group.state {
            State::Sleeping(until) => Some(until),
            _ => None,
        });
        match (self.live, times.min()) {
            (0, _) => Outcome::Done,
            (_, Some(until)) => Outcome::Sleeping(until),
            (_, None) => Outcome::Waiting,
        }
    }

    /// Lanes of a group exit, and leave all calls that they are in.
    pub fn exit(&mut self, at: usize, mask: Mask) {
        let mut frame = Some(self.groups[at].frame);
        while let Some(number) = frame {
            frame = self.frames.get(number).caller.map(|caller| caller.frame);
            self.frames.leave(number, mask);
        }
        self.live &= !mask;
        self.groups[at].mask &= !mask;
        if self.groups[at].mask == 0 {
            self.groups.swap_remove(at);
        }
    }

    /// Calls a function in the lanes of a group, which continues there. The caller's `returns_to`
    /// is the step after the call.
    pub fn call(
        &mut self,
        at: usize,
        kernel: &Kernel,
        callee: u32,
        arguments: &[crate::code::Passed],
    ) -> Result<(), Cause> {
        let group = self.groups[at];
        let Some(routine) = kernel.routine(callee) else {
            return Err(Cause::Unsupported("a function without a body".to_owned()));
        };
        let caller_base = self.frames.get(group.frame).base;
        let base = self.local.take(group.mask, routine.frame).ok_or(Cause::StackOverflow)?;
        for (from, to) in arguments.iter().zip(&routine.parameters) {
            let size = from.size.min(to.size);
            for lane in lanes(group.mask) {
                self.local.copy(lane, caller_base + from.at, base + to.at, size);
            }
        }
        let registers = self.frames.registers(callee, routine.registers);
        let caller = crate::stack::Caller { frame: group.frame, pc: group.pc + 1, call: group.pc };
        let (caller, lanes) = (Some(caller), group.mask);
        let frame = self.frames.push(Frame { routine: callee, registers, caller, lanes, base });
        (self.groups[at].frame, self.groups[at].pc) = (frame, 0);
        Ok(())
    }

    /// The lanes of a group return to their caller. False if there is none: they exit.
    pub fn ret(&mut self, at: usize, kernel: &Kernel) -> bool {
        let group = self.groups[at];
        let frame = self.frames.get(group.frame);
        let Some(caller) = frame.caller else { return false };
        let (base, routine) = (frame.base, kernel.routine(frame.routine).expect("it runs"));
        let above = self.frames.get(caller.frame);
        let call = &kernel.routine(above.routine).expect("it runs").codes[caller.call as usize];
        if let Action::Call(call) = &call.action {
            for (from, to) in routine.returns.iter().zip(&call.returns) {
                for lane in lanes(group.mask) {
                    let size = from.size.min(to.size);
                    self.local.copy(lane, base + from.at, above.base + to.at, size);
                }
            }
        }
        self.local.give(group.mask, base);
        self.frames.leave(group.frame, group.mask);
        (self.groups[at].frame, self.groups[at].pc) = (caller.frame, caller.pc);
        true
    }

    /// Completes exchanges whose lanes have all arrived.
    pub fn exchange<O: Observer>(
        &mut self,
        kernel: &Kernel,
        constants: &Storage,
        observer: &mut O,
    ) {
        let (count, mut completed) = (self.groups.len(), false);
        let waits = |warp: &Warp, at: usize| warp.groups[at].state == State::Exchange;
        for first in 0..count {
            if !waits(self, first) {
                continue;
            }
            let wanted = self.exchange_of(first, kernel, constants);
            let mut together = Vec::new();
            for at in first..count {
                if waits(self, at) && self.exchange_of(at, kernel, constants) == wanted {
                    together.push(at);
                }
            }
            let there = together.iter().fold(0, |all, at| all | self.groups[*at].mask);
            if wanted.1 & !there == 0 {
                self.complete(&together, kernel, constants);
                if O::ORDERED && wanted.0 == crate::code::CollectiveOp::Barrier {
                    let event = Event::Converge;
                    observer.event(&self.at(there), event);
                }
                completed = true;
            }
        }
        if completed {
            self.gather();
        }
    }

    /// The exchange that a waiting group takes part in, and the lanes that it waits for.
    fn exchange_of(
        &mut self,
        at: usize,
        kernel: &Kernel,
        constants: &Storage,
    ) -> (crate::code::CollectiveOp, Mask) {
        let (group, live) = (self.groups[at], self.live);
        self.with_collective(group, kernel, constants, |collective, rows| {
            (collective.op, first(rows, collective.members, group.mask) & live)
        })
    }

    fn with_collective<R>(
        &mut self,
        group: Group,
        kernel: &Kernel,
        constants: &Storage,
        act: impl FnOnce(&crate::code::Collective, &Rows) -> R,
    ) -> R {
        let frame = self.frames.get_mut(group.frame);
        let routine = kernel.routine(frame.routine).expect("it runs");
        let Action::Collective(collective) = &routine.codes[group.pc as usize].action else {
            unreachable!("a group that waits for an exchange is at one");
        };
        let specials = self.specials.as_ref().expect("made when the warp started");
        act(collective, &Rows::new(&mut frame.registers, constants, specials))
    }

    fn complete(&mut self, groups: &[usize], kernel: &Kernel, constants: &Storage) {
        let mut exchange = Exchange::new();
        for at in groups {
            let group = self.groups[*at];
            self.with_collective(group, kernel, constants, |collective, rows| {
                give(&mut exchange, collective, rows, group.mask);
            });
        }
        let (op, _) = self.exchange_of(groups[0], kernel, constants);
        exchange.run(op);
        for at in groups {
            let group = self.groups[*at];
            self.with_collective(group, kernel, constants, |collective, rows| {
                take(&exchange, collective, rows, group.mask);
            });
            self.groups[*at].pc += 1;
            self.groups[*at].state = State::Ready;
        }
    }
}

/// Contributes the values of lanes to an exchange.
pub fn give(
    exchange: &mut Exchange,
    collective: &crate::code::Collective,
    rows: &Rows,
    mask: Mask,
) {
    use crate::code::CollectiveOp::*;
    exchange.lanes |= mask;
    for lane in lanes(mask) {
        exchange.a[lane] = match collective.op {
            VoteAll | VoteAny | VoteUniform | VoteBallot => {
                (rows.predicate(collective.a) >> lane & 1).into()
            }
            MatchAny(8) | MatchAll(8) => rows.get(collective.a, lane),
            _ => rows.get::<u32>(collective.a, lane).into(),
        };
        exchange.b[lane] = rows.get(collective.b, lane);
        exchange.c[lane] = rows.get(collective.c, lane);
    }
}

/// Writes the results of an exchange to the lanes.
pub fn take(exchange: &Exchange, collective: &crate::code::Collective, rows: &Rows, mask: Mask) {
    use crate::code::CollectiveOp::*;
    rows.set_predicate(collective.p, mask, exchange.p);
    if !matches!(collective.op, Barrier | VoteAll | VoteAny | VoteUniform) {
        lanes(mask).for_each(|lane| rows.set(collective.d, lane, exchange.d[lane] as u32));
    }
}

/// Writes the combined predicates of a barrier.
pub fn store_reduction(rows: &Rows, barrier: &Barrier, mask: Mask, id: u32, barriers: &Barriers) {
    let Some(reduction) = &barrier.reduction else { return };
    let value = barriers.reduced(id, reduction.op);
    match reduction.op {
        Combined::Popc => lanes(mask).for_each(|lane| rows.set(reduction.d, lane, value)),
        _ => rows.set_predicate(reduction.d, mask, if value == 0 { 0 } else { Mask::MAX }),
    }
}

/// The value of the first lane of a set.
pub fn first(rows: &Rows, slot: Slot, mask: Mask) -> u32 {
    rows.get(slot, mask.trailing_zeros() as usize % 32)
}

/// A fault of the first lane of a set.
pub fn trap(cause: Cause, mask: Mask) -> Trap {
    Trap { cause, lane: mask.trailing_zeros() as usize % 32 }
}
