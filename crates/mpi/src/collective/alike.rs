//! Arguments that all ranks must pass alike, as words that other ranks can compare and describe
//! (MPI 4.1 §8.5, §14.2.1, §14.3, §14.4.4, §14.6.1).

use crate::ids::mixed;
use commsan_mpi_calls::{Call, Role};

/// Parameters of a call that are compared at most.
pub const MAX_VALUES: usize = 3;

/// Their values, in the order of the parameters.
pub type Values = [u64; MAX_VALUES];

/// Elements of an array that fit a word, and bits of each.
const ELEMENTS: usize = 3;
const BITS: u32 = 20;
/// Position of the bits that hold the array's length; all of them are set if it does not fit.
const LENGTH: u32 = BITS * ELEMENTS as u32;
const HASHED: u64 = 0xf << LENGTH;

/// An array of integers as a word.
pub fn array(elements: impl ExactSizeIterator<Item = i64> + Clone) -> u64 {
    let fits =
        elements.len() <= ELEMENTS && elements.clone().all(|one| (0..1 << BITS).contains(&one));
    if fits {
        let length = (elements.len() as u64) << LENGTH;
        return elements.fold(0, |word, one| word << BITS | one as u64) | length;
    }
    elements.fold(0, |word, one| mixed(word, one as u64)) | HASHED
}

/// The index of the first parameter in which two ranks differ.
pub fn differs(own: &Values, other: &Values) -> Option<usize> {
    own.iter().zip(other).position(|(own, other)| own != other)
}

/// One of the values in words: `` `size` = 4096 ``.
pub fn describe(call: &'static Call, values: &Values, at: usize) -> Option<String> {
    let (param, value) = (&call.params[*call.alike.get(at)?], values[at]);
    let name = param.shown();
    Some(match param.role {
        Role::Handle => format!("allocation {value} of the program's (counted from 1)"),
        Role::Datatype => format!("an `{name}` of {value} bytes"),
        Role::Pointer if value & HASHED == HASHED => format!("`{name}` of its own"),
        Role::Pointer => {
            let length = value >> LENGTH;
            let element = |at| value >> (BITS as u64 * (length - 1 - at)) & ((1 << BITS) - 1);
            let elements: Vec<_> = (0..length).map(|at| element(at).to_string()).collect();
            format!("`{name}` = {}", elements.join(", "))
        }
        _ => format!("`{name}` = {}", value as i64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_mpi_calls::{CALLS, named};

    #[test]
    fn no_call_has_more_of_them_than_there_is_room_for() {
        assert!(CALLS.iter().all(|call| call.alike.len() <= MAX_VALUES));
    }

    #[test]
    fn values_are_put_into_words() {
        let call = named("MPI_File_seek_shared").unwrap();
        let values = [4096, -1_i64 as u64, 0];
        assert_eq!(describe(call, &values, 0).unwrap(), "`offset` = 4096");
        assert_eq!(describe(call, &values, 1).unwrap(), "`whence` = -1");
        let call = named("MPI_Cart_create").unwrap();
        let values = |dims: &[i64]| [dims.len() as u64, array(dims.iter().copied()), 0];
        assert_eq!(describe(call, &values(&[4, 2]), 1).unwrap(), "`dims` = 4, 2");
        assert_eq!(describe(call, &values(&[1; 4]), 1).unwrap(), "`dims` of its own");
        assert_eq!(differs(&values(&[4, 2]), &values(&[2, 4])), Some(1));
        assert_eq!(differs(&values(&[4, 2]), &values(&[4, 2, 1])), Some(0));
        assert_eq!(differs(&values(&[0, 1, 2, 3]), &values(&[0, 1, 2, 3])), None);
        assert_eq!(differs(&values(&[1 << 20]), &values(&[1])), Some(1));
        let call = named("MPI_File_set_view").unwrap();
        assert_eq!(describe(call, &[8, 0, 0], 0).unwrap(), "an `etype` of 8 bytes");
    }
}
