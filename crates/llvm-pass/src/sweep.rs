//! Loop-invariant access ranges, noted once per chunk of iterations.
//!
//! Where others may access them, that is to be noted. A loop that calls nothing synchronises with
//! nobody, so all of it happens at one time, and is noted at once, to the byte and by the line,
//! before the iterations run without checks.

use crate::access::{Access, Lanes, Part};
use crate::builder::Builder;
use crate::hooks::SWEEP;
use crate::ir::{Block, Module, Value};
use crate::place::Place;
use std::collections::HashMap;

/// Maximum number of calls before a loop; more cost more than the checks of a short loop.
pub const MAX_CALLS: usize = 16;

/// Bytes around an address that moves by `step`, accessed by one line.
pub struct Sweep {
    /// One of the accesses.
    at: Value,
    place: Place,
    size: i64,
    step: i64,
    write: bool,
}

impl Sweep {
    /// What an access does whenever it is executed; `None` if it may leave bytes out.
    pub fn of(access: &Access, place: &Place, step: i64) -> Option<Vec<Sweep>> {
        let part = |from: u64, size: u64| {
            let (at, write) = (access.at, access.write);
            let place = Place { distance: place.distance + from as i64, ..place.clone() };
            Sweep { at, place, size: size as i64, step, write }
        };
        match access.part {
            Part::All => Some(vec![part(0, access.size)]),
            Part::Lanes(element, Lanes::Known(lanes)) => {
                let on = (0..u64::BITS).filter(|lane| lanes >> lane & 1 != 0);
                Some(on.map(|lane| part(element * u64::from(lane), element)).collect())
            }
            Part::Lanes(..) | Part::Scattered(..) => None,
        }
    }

    /// Adds one to others; neighbours of one line become one.
    pub fn add_to(self, sweeps: &mut Vec<Sweep>) {
        match sweeps.iter_mut().find(|sweep| sweep.is_neighbour(&self)) {
            Some(sweep) => {
                let end = sweep.end().max(self.end());
                sweep.place.distance = sweep.place.distance.min(self.place.distance);
                sweep.size = end - sweep.place.distance;
            }
            None => sweeps.push(self),
        }
    }

    fn end(&self) -> i64 {
        self.place.distance + self.size
    }

    fn is_neighbour(&self, other: &Sweep) -> bool {
        self.write == other.write
            && self.step == other.step
            && self.place.terms == other.place.terms
            && self.place.distance <= other.end()
            && other.place.distance <= self.end()
            && self.at.is_on_line_of(other.at)
    }

    /// Notes so many iterations, from the one on in which `now` gives the values of the loop,
    /// at the end of a block.
    pub fn note(&self, module: Module, block: Block, now: &HashMap<Value, Value>, times: Value) {
        let builder = Builder::at_end(module, block, self.at);
        let first = self.place.value(&builder, now);
        let [step, size] = [self.step, self.size].map(|number| builder.constant(number as u64));
        builder.call(&SWEEP[usize::from(self.write)], &[first, times, step, size]);
    }
}
