//! Loop-invariant access ranges, recorded once per chunk of iterations.
//!
//! Accesses to memory that other ranks or threads may access must be recorded. A loop without calls
//! does not synchronise, so all its accesses happen in one segment of time. They are recorded at
//! once, to the byte and by line, before the iterations run without checks.

use crate::access::{Access, Lanes, Part};
use crate::builder::Builder;
use crate::hooks::SWEEP;
use crate::ir::{Block, Module, Value};
use crate::place::Place;
use std::collections::HashMap;

/// Maximum number of calls in front of a loop; more would cost more than a short loop's checks.
pub const MAX_CALLS: usize = 16;

/// Bytes around an address that moves by `step`, accessed by one source line.
pub struct Sweep {
    /// A representative of the accesses.
    at: Value,
    place: Place,
    size: i64,
    step: i64,
    write: bool,
}

impl Sweep {
    /// What an access touches in every execution; `None` if it may omit bytes.
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

    /// Adds this sweep to others; merges neighbours of one line.
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

    /// Records a number of iterations, beginning with the one in which `now` gives the values of
    /// the loop, at the end of a block.
    pub fn note(&self, module: Module, block: Block, now: &HashMap<Value, Value>, times: Value) {
        let builder = Builder::at_end(module, block, self.at);
        let first = self.place.value(&builder, now);
        let [step, size] = [self.step, self.size].map(|number| builder.constant(number as u64));
        builder.call(&SWEEP[usize::from(self.write)], &[first, times, step, size]);
    }
}
