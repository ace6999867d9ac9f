//! Arrays of counts, displacements and datatypes, which collectives may read until they are complete (MPI 4.1 §6.12),
//! persistent ones until their request is freed (§2.4.1, §6.13).

use super::Tracker;
use crate::buffers::Args;
use crate::ids::Token;
use crate::requests::State;
use commsan_callsite::{About, Place};
use commsan_shadow::OpId;
use std::ops::Range;

/// Each with its operation, beginning, and the parameter that it is passed as.
#[derive(Default)]
pub(super) struct Arrays(Vec<(OpId, usize, &'static str)>);

impl Arrays {
    /// An operation reads the array that begins there, and was passed as this parameter.
    pub fn add(&mut self, id: OpId, start: usize, parameter: &'static str) {
        self.0.push((id, start, parameter));
    }

    /// The operation has ended.
    pub fn forget(&mut self, id: OpId) {
        if !self.0.is_empty() {
            self.0.retain(|(other, ..)| *other != id);
        }
    }

    /// What findings tell of an array of this operation that begins there.
    pub fn about(&self, id: OpId, start: usize) -> Option<About> {
        let is_there = |known: &&(OpId, usize, &'static str)| (known.0, known.1) == (id, start);
        let (_, _, parameter) = self.0.iter().find(is_there)?;
        Some(About::Argument { parameter, problem: String::new(), kind: None })
    }
}

impl Tracker {
    /// The operation that has been started with this request uses these besides its buffers.
    pub fn uses_arrays(
        &mut self,
        (key, variable): (usize, usize),
        arrays: &[(&'static str, Range<usize>)],
        place: &impl Place,
    ) {
        self.settle();
        let token = Token { key, variable, before: self.now() };
        let Some(State::Active(id)) = self.requests.one(token).map(|request| &request.state) else {
            return;
        };
        let id = *id;
        self.operations.use_arrays(id, arrays, place);
    }

    /// The persistent collective that this request has just been made for uses these as long as the request is there.
    pub fn keeps_arrays(
        &mut self,
        args: &Args,
        (key, variable): (usize, usize),
        arrays: &[(&'static str, Range<usize>)],
        place: &impl Place,
    ) {
        let token = Token { key, variable, before: self.now() };
        let operation = self.reporter.operation(args, place);
        let Some(request) = self.requests.one(token) else { return };
        let Some(persistent) = &mut request.persistent else { return };
        let id = self.operations.live.begin(&mut [], operation);
        persistent.arrays = Some(id);
        self.operations.use_arrays(id, arrays, place);
    }
}
