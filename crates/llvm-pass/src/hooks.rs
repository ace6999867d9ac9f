//! The functions of the hooks archive that instrumented code calls on unlikely paths.

use crate::ir::{Module, Type, Value};
use std::ffi::CStr;

/// A function of the hooks archive.
pub struct Hook {
    pub name: &'static CStr,
    /// Whether the call preserves all registers (`inline.c`).
    keeps_registers: bool,
    /// Whether it returns a number.
    answers: bool,
}

const fn quiet(name: &'static CStr) -> Hook {
    Hook { name, keeps_registers: true, answers: false }
}

const fn ordinary(name: &'static CStr) -> Hook {
    Hook { name, keeps_registers: false, answers: false }
}

// For reads and for writes.
pub const ACCESS: [Hook; 2] = [quiet(c"__commsan_read"), quiet(c"__commsan_write")];
pub const LANES: [Hook; 2] = [quiet(c"__commsan_read_lanes"), quiet(c"__commsan_write_lanes")];
pub const SCATTERED: [Hook; 2] =
    [quiet(c"__commsan_read_scattered"), quiet(c"__commsan_write_scattered")];
pub const RANGE: [Hook; 2] = [ordinary(c"__tsan_read_range"), ordinary(c"__tsan_write_range")];

/// Queries whether nothing is pending from the first byte to the last.
pub const RANGE_CLEAR: Hook =
    Hook { name: c"__commsan_range_clear", keeps_registers: false, answers: true };

/// Records that a loop is about to access a number of bytes in each of many iterations.
pub const SWEEP: [Hook; 2] =
    [ordinary(c"__commsan_read_sweep"), ordinary(c"__commsan_write_sweep")];

/// Marks pages that threads access, so that accesses to them are recorded.
pub const SHARE: Hook = quiet(c"__commsan_share");
/// Reports that threads synchronise by memory at an address.
pub const SYNCHRONISE: Hook = ordinary(c"__commsan_synchronise");

pub const ENTER: Hook = ordinary(c"__tsan_func_entry");
pub const LEAVE: Hook = ordinary(c"__tsan_func_exit");
pub const MEMCPY: Hook = ordinary(c"__tsan_memcpy");
pub const MEMMOVE: Hook = ordinary(c"__tsan_memmove");
pub const MEMSET: Hook = ordinary(c"__tsan_memset");

impl Hook {
    /// Declares the function in a module; returns it and its type.
    pub fn declare(&self, module: Module, parameters: &[Type]) -> (Value, Type) {
        let (function, ty) = module.function(self.name, parameters, self.answers);
        function.add_attribute(module, "nounwind", 0);
        if self.keeps_registers {
            function.add_text_attribute(module, "no_caller_saved_registers", "");
        }
        (function, ty)
    }
}
