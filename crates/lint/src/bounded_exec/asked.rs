//! The arguments that a rank passes to an MPI call.

use super::Job;
use super::store::Datum;
use crate::Mpi;
use commsan_ir::{FunctionId, Inst, InstId};
use commsan_mpi_calls::{Call, Role};

/// Where a call is.
pub type Place = (FunctionId, InstId);

/// A call of a rank.
#[derive(Clone, Copy)]
pub struct Asked<'p> {
    pub rank: usize,
    pub place: Place,
    pub mpi: &'p Mpi,
    pub call: &'static Call,
    pub inst: &'p Inst,
}

impl Asked<'_> {
    /// The argument that a parameter is passed as, and the parameter's role.
    fn position(&self, name: &str) -> Option<(usize, Role)> {
        let in_binding =
            |param: &&commsan_mpi_calls::Param| !self.mpi.by_reference || param.in_fortran();
        let params = self.call.params.iter().filter(in_binding);
        params.enumerate().find(|(_, param)| param.name == name).map(|(at, param)| (at, param.role))
    }

    pub fn has(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// The argument itself: of Fortran an address.
    pub fn raw(&self, job: &mut Job, name: &str) -> Datum {
        match self.position(name).and_then(|(at, _)| self.inst.args.get(at)) {
            Some(value) => job.ranks[self.rank].interpreter.value(*value),
            None => Datum::Unknown,
        }
    }

    /// What is passed by value.
    pub fn datum(&self, job: &mut Job, name: &str) -> Datum {
        let raw = self.raw(job, name);
        if !self.mpi.by_reference {
            return raw;
        }
        let wide = self.position(name).is_some_and(|(_, role)| {
            role == Role::Offset || role == Role::Count && self.call.large
        });
        job.ranks[self.rank].interpreter.load(raw, if wide { 8 } else { 4 })
    }

    pub fn number(&self, job: &mut Job, name: &str) -> Option<i64> {
        match self.datum(job, name) {
            Datum::Int(number) => Some(number),
            _ => None,
        }
    }

    /// An element of an array that is passed.
    pub fn element_datum(&self, job: &mut Job, name: &str, index: i64, size: i64) -> Datum {
        let address = match self.raw(job, name) {
            Datum::Address(object, at) => Datum::Address(object, at + index * size),
            _ => return Datum::Unknown,
        };
        job.ranks[self.rank].interpreter.load(address, size)
    }

    pub fn element(&self, job: &mut Job, name: &str, index: i64, size: i64) -> Option<i64> {
        match self.element_datum(job, name, index, size) {
            Datum::Int(number) => Some(number),
            _ => None,
        }
    }
}
