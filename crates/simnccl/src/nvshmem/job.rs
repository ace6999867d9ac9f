//! Operations of NVSHMEM, performed by the host at once or by a stream when it reaches them.

use super::World;
use super::team::Team;
use super::values::change;
use crate::error::{Failure, Result};
use std::ffi::c_int;
use std::time::Duration;

/// `NVSHMEM_SIGNAL_ADD`.
const ADD: c_int = 10;

/// A signal: its address, the value, and the operation.
pub type Signal = (usize, u64, c_int);

/// The operand that values are compared with.
#[derive(Clone, Copy)]
pub enum Operand {
    /// The bits of one value, for all.
    Value(u128),
    /// Address of as many values.
    Values(usize),
}

/// An operation. Sizes are in bytes.
#[derive(Clone, Copy)]
pub enum Job {
    Nothing,
    Put {
        to: usize,
        from: usize,
        bytes: usize,
        pe: c_int,
    },
    PutSignal {
        to: usize,
        from: usize,
        bytes: usize,
        signal: Signal,
        pe: c_int,
    },
    Signal {
        signal: Signal,
        pe: c_int,
    },
    Value {
        to: usize,
        bits: u128,
        bytes: usize,
        pe: c_int,
    },
    Get {
        to: usize,
        from: usize,
        bytes: usize,
        pe: c_int,
    },
    /// Copies elements one by one, with strides in elements.
    Each {
        puts: bool,
        to: (usize, isize),
        from: (usize, isize),
        size: usize,
        count: usize,
        pe: c_int,
    },
    Meet {
        team: c_int,
    },
    Broadcast {
        team: c_int,
        to: usize,
        from: usize,
        bytes: usize,
        root: c_int,
    },
    /// Gathers from every PE: all of its data, or the part that is for this PE.
    FromAll {
        team: c_int,
        to: usize,
        from: usize,
        bytes: usize,
        parts: bool,
    },
    /// Gathers from every PE and combines the values.
    Reduce {
        team: c_int,
        to: usize,
        from: usize,
        bytes: usize,
        parts: bool,
        combine: unsafe fn(&mut [u8], usize),
    },
    /// Waits until comparisons hold, except for values with a nonzero status.
    Wait {
        at: usize,
        count: usize,
        status: usize,
        with: Operand,
        holds: unsafe fn(usize, usize, c_int, Operand) -> bool,
        how: c_int,
    },
}

/// The number of a PE; an invalid number if it is negative.
pub fn number(pe: c_int) -> usize {
    usize::try_from(pe).unwrap_or(usize::MAX)
}

/// # Safety
/// Both addresses are valid for this many bytes.
unsafe fn copy(to: usize, from: usize, bytes: usize) {
    // SAFETY: by this function's contract.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
}

impl Job {
    /// Performs the operation.
    pub fn run(&self, world: &World) -> Result {
        match *self {
            Job::Nothing => Ok(()),
            Job::Put { to, from, bytes, pe } => put(world, to, from, bytes, pe),
            Job::PutSignal { to, from, bytes, signal, pe } => {
                put(world, to, from, bytes, pe)?;
                set_signal(world, signal, pe)
            }
            Job::Signal { signal, pe } => set_signal(world, signal, pe),
            Job::Value { to, bits, bytes, pe } => {
                put(world, to, (&raw const bits) as usize, bytes, pe)
            }
            Job::Get { to, from, bytes, pe } => get(world, to, from, bytes, pe),
            Job::Each { puts, to, from, size, count, pe } => {
                let at = |(start, step): (usize, isize), number: usize| {
                    start.wrapping_add_signed(step * number as isize * size as isize)
                };
                let one = if puts { put } else { get };
                (0..count).try_for_each(|n| one(world, at(to, n), at(from, n), size, pe))
            }
            Job::Meet { team } => world.team(team)?.meet(),
            Job::Broadcast { team, to, from, bytes, root } => {
                let team = world.team(team)?;
                let root = team.members.get(number(root)).copied();
                let root = root.ok_or_else(|| Failure::argument("there is no such root"))?;
                team.together(|| get(world, to, from, bytes, root as c_int))
            }
            Job::FromAll { team, to, from, bytes, parts } => {
                let team = world.team(team)?;
                let from = part(&team, from, bytes, parts);
                team.together(|| {
                    let mut all = team.members.iter().enumerate();
                    all.try_for_each(|(at, &pe)| {
                        get(world, to + at * bytes, from, bytes, pe as c_int)
                    })
                })
            }
            Job::Reduce { team, to, from, bytes, parts, combine } => {
                let team = world.team(team)?;
                let from = part(&team, from, bytes, parts);
                let mut sum = vec![0; bytes];
                let own = sum.as_mut_ptr() as usize;
                team.together(|| {
                    let mut all = team.members.iter();
                    if let Some(&first) = all.next() {
                        get(world, own, from, bytes, first as c_int)?;
                    }
                    all.try_for_each(|&pe| {
                        let from = world.at(from, bytes, pe)?;
                        // SAFETY: the bytes lie in symmetric memory.
                        unsafe { combine(&mut sum, from) };
                        Ok(())
                    })
                })?;
                // The result may overwrite the operand, which no PE needs after this barrier.
                // SAFETY: the program provides this many bytes there.
                unsafe { copy(to, sum.as_ptr() as usize, bytes) };
                Ok(())
            }
            Job::Wait { at, count, status, with, holds, how } => {
                let status = status as *const c_int;
                for number in 0..count {
                    // SAFETY: the program provides as many entries.
                    let is_wanted = status.is_null() || unsafe { status.add(number).read() } == 0;
                    // SAFETY: the values lie in symmetric memory, the operands are the program's.
                    while is_wanted && !unsafe { holds(at, number, how, with) } {
                        std::thread::sleep(Duration::from_micros(50));
                    }
                }
                Ok(())
            }
        }
    }
}

/// The address of this PE's part of each PE's data.
fn part(team: &Team, from: usize, bytes: usize, parts: bool) -> usize {
    if parts { from + team.me * bytes } else { from }
}

fn put(world: &World, to: usize, from: usize, bytes: usize, pe: c_int) -> Result {
    let to = world.at(to, bytes, number(pe))?;
    // SAFETY: `to` is in symmetric memory, and the program provides as many bytes at `from`.
    unsafe { copy(to, from, bytes) };
    Ok(())
}

fn get(world: &World, to: usize, from: usize, bytes: usize, pe: c_int) -> Result {
    let from = world.at(from, bytes, number(pe))?;
    // SAFETY: `from` is in symmetric memory, and the program provides as many bytes at `to`.
    unsafe { copy(to, from, bytes) };
    Ok(())
}

fn set_signal(world: &World, (at, value, op): Signal, pe: c_int) -> Result {
    let at = world.at(at, size_of::<u64>(), number(pe))?;
    let new = |old: u64| if op == ADD { old.wrapping_add(value) } else { value };
    // SAFETY: an aligned signal in symmetric memory.
    unsafe { change(at, new) };
    Ok(())
}
