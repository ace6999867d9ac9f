//! Arrays of counts, displacements and datatypes, which collectives may read until they are
//! complete (MPI 4.1 §6.12), persistent ones until their request is freed (§2.4.1, §6.13).

use super::Tracker;
use crate::buffers::Args;
use crate::ids::Token;
use crate::requests::State;
use commsan_callsite::Place;
use commsan_findings::record::RawArgument;
use commsan_shadow::OpId;
use std::ops::Range;

/// The operation, start address and parameter name of each array.
#[derive(Default)]
pub(super) struct Arrays(Vec<(OpId, usize, &'static str)>);

impl Arrays {
    /// An operation reads the array that begins there, passed as this parameter.
    pub fn add(&mut self, id: OpId, start: usize, parameter: &'static str) {
        self.0.push((id, start, parameter));
    }

    /// The operation has ended.
    pub fn forget(&mut self, id: OpId) {
        if !self.0.is_empty() {
            self.0.retain(|(other, ..)| *other != id);
        }
    }

    /// What a finding says of the array of this operation that begins there.
    pub fn argument(&self, id: OpId, start: usize) -> Option<RawArgument<'static>> {
        let is_there = |known: &&(OpId, usize, &'static str)| (known.0, known.1) == (id, start);
        let (_, _, parameter) = self.0.iter().find(is_there)?;
        Some(RawArgument::new(parameter, "", None))
    }
}

impl Tracker {
    /// The operation that was started with this request also reads these arrays.
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

    /// The persistent collective of this new request reads these arrays as long as the request
    /// exists.
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
