//! Which sanitizer a process has that excludes the runtime: it needs addresses that commsan uses,
//! or interposes the same functions from before the first constructor on.
//!
//! UBSan does neither.

use commsan_machine::weak_address;

macro_rules! functions {
    ($($symbol:literal $name:literal),* $(,)?) => {
        /// Name of the sanitizer whose runtime is in this process.
        pub fn loaded() -> Option<&'static str> {
            $(if weak_address!($symbol) != 0 {
                return Some($name);
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
