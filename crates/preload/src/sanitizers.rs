//! Which sanitizer a process has that excludes the runtime: it needs addresses that commsan uses,
//! or interposes the same functions from before the first constructor on.
//!
//! UBSan does neither.

use std::arch::asm;
use std::ffi::c_void;

/// Reads the addresses of functions that may be missing, as ld.so has resolved them. `dlsym` would
/// allocate.
macro_rules! functions {
    ($($symbol:literal $name:literal),* $(,)?) => {
        /// Name of the sanitizer whose runtime is in this process.
        pub fn loaded() -> Option<&'static str> {
            $({
                let address: *const c_void;
                // SAFETY: reads an entry of this library's global offset table.
                unsafe {
                    asm!(
                        concat!(".weak ", $symbol),
                        concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                        out(reg) address,
                        options(pure, readonly, nostack, preserves_flags),
                    );
                }
                if !address.is_null() {
                    return Some($name);
                }
            })*
            None
        }
    };
}

functions! {
    "__asan_init" "AddressSanitizer",
    "__hwasan_init" "HWAddressSanitizer",
    // Not `__tsan_init`, which commsan's hooks define, too.
    "__tsan_get_report_data" "ThreadSanitizer",
    "__msan_init" "MemorySanitizer",
    "__lsan_init" "LeakSanitizer",
}
