//! Conflicts of accesses: two that have a byte in common, one of which writes.

use commsan_shadow::{Access, Mode};
use std::ops::Range;

/// Whether an access conflicts with another to contiguous memory.
pub(crate) fn conflict(access: &Access, mode: Mode, bytes: &Range<usize>) -> bool {
    (access.mode, mode) != (Mode::Read, Mode::Read) && access.footprint.within(bytes).is_some()
}
