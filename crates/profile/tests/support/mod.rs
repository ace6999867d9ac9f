//! What tests of profiles have in common.

use commsan_rundir::traffic::{Memory, Object, Place};

/// An allocated block of 64 bytes, which has one of the names behind the first three strings.
pub fn object(rank: u32, number: u32) -> Object {
    Object {
        memory: Memory::Heap,
        place: Place::Rank(rank),
        stack: 0,
        call: None,
        name: Some(3 + number),
        bytes: 64,
        count: 1,
        address: 0,
        beside: vec![],
    }
}
