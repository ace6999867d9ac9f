//! MPICH's encoding of handles (`mpir_objects.h`): the kind of object, whether it is built in,
//! and the size of a basic datatype stand in the bits of the handle.
//!
//! Bits 31 and 30 are the class (0 null, 1 built-in, 2 direct, 3 indirect), bits 29 to 26 the kind
//! of object. In a built-in datatype, bits 15 to 8 are its size.

use crate::handles::HandleKind;

const fn kind_bits(kind: HandleKind) -> Option<u32> {
    Some(match kind {
        HandleKind::Comm => 1,
        HandleKind::Group => 2,
        HandleKind::Datatype => 3,
        HandleKind::Errhandler => 5,
        HandleKind::Op => 6,
        HandleKind::Info => 7,
        HandleKind::Win => 8,
        // Messages are requests.
        HandleKind::Request | HandleKind::Message => 11,
        HandleKind::Session => 14,
        // A pointer.
        HandleKind::File => return None,
    })
}

/// Whether a number is the built-in handle of an object of this kind, whichever it is.
pub const fn is_built_in(number: u32, kind: HandleKind) -> bool {
    match kind_bits(kind) {
        Some(bits) => number >> 24 == 0x40 | bits << 2,
        None => false,
    }
}

/// The null handle of a kind.
pub const fn null(kind: HandleKind) -> Option<u32> {
    match kind_bits(kind) {
        Some(bits) => Some(bits << 26),
        None => None,
    }
}

/// Bytes of a basic datatype, of C or Fortran; none of pairs such as `MPI_FLOAT_INT`.
pub const fn datatype_bytes(number: u32) -> Option<u64> {
    let bytes = (number >> 8 & 0xff) as u64;
    match number >> 16 == 0x4c00 && bytes > 0 {
        true => Some(bytes),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handles::HANDLES;

    #[test]
    fn the_table_of_handles_is_encoded_like_this() {
        for handle in &HANDLES {
            let Some(number) = handle.mpich else { continue };
            let is_null = handle.name.ends_with("_NULL");
            assert_eq!(null(handle.kind) == Some(number), is_null, "{}", handle.name);
            // Pairs are objects, the message of MPI_PROC_NULL is a request's.
            let is_pair = number >> 28 == 8;
            assert_eq!(is_built_in(number, handle.kind), !is_null && !is_pair, "{}", handle.name);
        }
        assert_eq!(datatype_bytes(0x4c00_100c), Some(16));
        assert_eq!(datatype_bytes(0x4c00_0010), None, "MPI_LB");
        assert_eq!(datatype_bytes(0x8c00_0000), None, "MPI_FLOAT_INT");
    }
}
