//! User-defined reduction operators.

use super::entry::{In, Out, datatype};
use crate::abi::{DataType, Residence};
use crate::error::Failure;
use crate::registry;
use crate::work::Scalar;
use std::ffi::c_int;

calls! {
    fn ncclRedOpCreatePreMulSum | pncclRedOpCreatePreMulSum (
        operator: Out<c_int>, scalar: In<u8>, of: c_int, residence: c_int, comm: usize,
    ) {
        let comm = registry::get(comm)?;
        let (operator, of) = (operator.required("op")?, datatype(of)?);
        let residence = Residence::of(residence);
        let residence = residence.ok_or_else(|| Failure::argument("invalid scalar residence"))?;
        let scalar = match residence {
            Residence::Device => scalar.address().map(Scalar::At),
            Residence::HostImmediate => value(scalar, of).map(Scalar::Value),
        };
        let scalar = scalar.ok_or_else(|| Failure::argument("scalar argument is NULL"))?;
        operator.put(comm.add_operator(of, scalar));
        Ok(())
    }

    fn ncclRedOpDestroy | pncclRedOpDestroy (operator: c_int, comm: usize) {
        registry::get(comm)?.remove_operator(operator)
    }
}

/// The bits of a scalar, in the lowest bytes.
fn value(scalar: In<u8>, of: DataType) -> Option<u64> {
    let bytes = scalar.all(of.size())?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}
