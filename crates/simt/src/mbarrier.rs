//! Barrier objects in shared memory, `mbarrier` (PTX ISA §9.7.13.15): phases, pending arrivals,
//! pending bytes.
//!
//! The layout of the 64 bits is the simulator's own; the ISA leaves it open.

use crate::code::MbarrierOp;

const PENDING: u32 = 0;
const EXPECTED: u32 = 20;
const BYTES: u32 = 40;
const PHASE: u32 = 63;
const COUNT: u64 = (1 << 20) - 1;
/// Bias of the pending bytes, which may be negative temporarily.
const NO_BYTES: u64 = 1 << 21;
const BYTES_MASK: u64 = (1 << 22) - 1;

fn pack(phase: u64, bytes: u64, expected: u64, pending: u64) -> u64 {
    phase << PHASE
        | (bytes & BYTES_MASK) << BYTES
        | (expected & COUNT) << EXPECTED
        | (pending & COUNT) << PENDING
}

/// Number of pending arrivals of a state.
pub fn pending(state: u64) -> u32 {
    (state >> PENDING & COUNT) as u32
}

/// The parity of a state's phase: 0 or 1.
pub fn phase(state: u64) -> u64 {
    state >> PHASE
}

/// The state after an operation with a count.
pub fn changed(state: u64, op: MbarrierOp, count: u32) -> u64 {
    let count = u64::from(count);
    let (phase, expected) = (phase(state), state >> EXPECTED & COUNT);
    let (bytes, pending) = (state >> BYTES & BYTES_MASK, state >> PENDING & COUNT);
    let (bytes, expected, pending) = match op {
        MbarrierOp::Init => return pack(0, NO_BYTES, count, count),
        MbarrierOp::Invalidate => return 0,
        MbarrierOp::TestWait | MbarrierOp::TestParity => return state,
        MbarrierOp::ExpectTx => (bytes + count, expected, pending),
        MbarrierOp::CompleteTx => (bytes.wrapping_sub(count), expected, pending),
        MbarrierOp::Arrive { expect_tx: true, drop } => {
            (bytes + count, expected - u64::from(drop && expected > 0), pending.wrapping_sub(1))
        }
        MbarrierOp::Arrive { drop: true, .. } => {
            (bytes, expected.saturating_sub(count), pending.wrapping_sub(count))
        }
        MbarrierOp::Arrive { .. } => (bytes, expected, pending.wrapping_sub(count)),
        // Copies are complete already: only the arrival that was counted at the start is missing.
        MbarrierOp::ArriveCopies { counted: true } => (bytes, expected, pending.wrapping_sub(1)),
        MbarrierOp::ArriveCopies { counted: false } => return state,
    };
    match (pending & COUNT, bytes & BYTES_MASK) {
        (0, NO_BYTES) => pack(phase ^ 1, NO_BYTES, expected, expected),
        _ => pack(phase, bytes, expected, pending),
    }
}

/// How many arrivals an operation counts beyond those that the state's phase waits for.
pub fn excess(state: u64, op: MbarrierOp, count: u32) -> u32 {
    let arrivals = match op {
        MbarrierOp::Arrive { expect_tx: true, .. } | MbarrierOp::ArriveCopies { counted: true } => {
            1
        }
        MbarrierOp::Arrive { .. } => count,
        _ => 0,
    };
    arrivals.saturating_sub(pending(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRIVE: MbarrierOp = MbarrierOp::Arrive { expect_tx: false, drop: false };

    #[test]
    fn a_phase_ends_with_the_last_arrival() {
        let mut state = changed(7, MbarrierOp::Init, 3);
        for left in [2, 1] {
            state = changed(state, ARRIVE, 1);
            assert_eq!((phase(state), pending(state)), (0, left));
        }
        state = changed(state, ARRIVE, 1);
        assert_eq!((phase(state), pending(state)), (1, 3));
        let drop = MbarrierOp::Arrive { expect_tx: false, drop: true };
        state = changed(changed(state, drop, 1), ARRIVE, 2);
        assert_eq!((phase(state), pending(state)), (0, 2));
    }

    #[test]
    fn a_phase_waits_for_bytes() {
        let mut state = changed(0, MbarrierOp::Init, 1);
        state = changed(state, MbarrierOp::Arrive { expect_tx: true, drop: false }, 16);
        assert_eq!(phase(state), 0);
        state = changed(state, MbarrierOp::CompleteTx, 16);
        assert_eq!(phase(state), 1);
    }
}
